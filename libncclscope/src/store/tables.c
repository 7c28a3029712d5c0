/* tables.c - columns.def as SQL: its tables, and rows of a model or of findings in them. */
#include "store/tables.h"

#include "store/bind.h"

#include <math.h>
#include <stdio.h>

/* `source` holds the contents of a store, which scans share. */
static const char *table_name(const ncclscope_table_info *t)
{
    return strcmp(t->name, "source") ? t->name : "scan_source";
}

const char *nsc_table_name(int table)
{
    ncclscope_table_info t = {.size = sizeof t};
    ncclscope_table_get(table, &t);
    return table_name(&t);
}

static const char *type_name(int type)
{
    switch (type) {
    case NCCLSCOPE_TYPE_F64: return "REAL";
    case NCCLSCOPE_TYPE_TEXT:
    case NCCLSCOPE_TYPE_ENUM: return "TEXT";
    default: return "INTEGER";
    }
}

/* Names are quoted: `index` and `by` are words of SQL. */
static bool make(sqlite3 *db, int table)
{
    ncclscope_table_info t = {.size = sizeof t};
    ncclscope_table_get(table, &t);
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(
        sql, "CREATE TABLE IF NOT EXISTS \"%w\"(scan INTEGER NOT NULL REFERENCES scan, \"row\" INTEGER NOT NULL",
        table_name(&t));
    for (const struct nsc_column *c = nsc_columns_of(table); c->name; c++)
        sqlite3_str_appendf(sql, ", \"%w\" %s", c->name, type_name(c->type));
    sqlite3_str_appendall(sql, ", PRIMARY KEY(scan, \"row\")) STRICT, WITHOUT ROWID");
    char *text = sqlite3_str_finish(sql);
    bool made = text && sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(text);
    return made;
}

bool nsc_tables_make(sqlite3 *db)
{
    bool fine = true;
    for (int i = 0; i < NCCLSCOPE_TABLES && fine; i++)
        fine = make(db, i);
    return fine;
}

/* What is not said stays NULL. */
static bool bind_value(sqlite3_stmt *q, int i, const struct nsc_column *c, const char *at)
{
    if (c->type == NCCLSCOPE_TYPE_TEXT)
        return nsc_bind_text(q, i, *(const ncclscope_text *)(const void *)at);
    if (c->type == NCCLSCOPE_TYPE_F64) {
        double v = *(const double *)(const void *)at;
        return isnan(v) || sqlite3_bind_double(q, i, v) == SQLITE_OK;
    }
    int64_t v = *(const int64_t *)(const void *)at;
    if (v == NCCLSCOPE_UNSAID || (c->type == NCCLSCOPE_TYPE_BOOL && v < 0))
        return true;
    if (c->type == NCCLSCOPE_TYPE_ENUM)
        return sqlite3_bind_text(q, i, ncclscope_word_of(c->unit, v), -1, SQLITE_STATIC) == SQLITE_OK;
    return sqlite3_bind_int64(q, i, v) == SQLITE_OK;
}

static sqlite3_stmt *insertion(sqlite3 *db, int table)
{
    ncclscope_table_info t = {.size = sizeof t};
    ncclscope_table_get(table, &t);
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\" VALUES(?, ?", table_name(&t));
    for (int i = 0; i < t.columns; i++)
        sqlite3_str_appendall(sql, ", ?");
    sqlite3_str_appendall(sql, ")");
    char *text = sqlite3_str_finish(sql);
    sqlite3_stmt *q = NULL;
    if (text)
        sqlite3_prepare_v2(db, text, -1, &q, NULL);
    sqlite3_free(text);
    return q;
}

static bool fill(sqlite3 *db, int table, int64_t scan, const struct nsc_rows *rows)
{
    sqlite3_stmt *q = insertion(db, table);
    bool fine = q != NULL;
    for (size_t i = 0; i < rows->of[table].len && fine; i++) {
        const char *row = nsc_row_at_(rows, table, i);
        int at = 3;
        fine = sqlite3_bind_int64(q, 1, scan) == SQLITE_OK && sqlite3_bind_int64(q, 2, (int64_t)i) == SQLITE_OK;
        for (const struct nsc_column *c = nsc_columns_of(table); c->name && fine; c++)
            fine = bind_value(q, at++, c, row + c->offset);
        fine = fine && sqlite3_step(q) == SQLITE_DONE;
        sqlite3_clear_bindings(q);
        fine = sqlite3_reset(q) == SQLITE_OK && fine;
    }
    return sqlite3_finalize(q) == SQLITE_OK && fine;
}

bool nsc_tables_fill(sqlite3 *db, int64_t scan, const struct nsc_rows *rows)
{
    bool fine = true;
    for (int i = 0; i < NCCLSCOPE_TABLES && fine; i++)
        fine = !rows->of[i].len || fill(db, i, scan, rows);
    return fine;
}
