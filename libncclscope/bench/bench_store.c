/* bench_store.c - what storing costs, against bare inserts of the very same rows, and their indexes, in the same run, on one core: CPU seconds and records a second.
 *
 *   bench_store LOG...      reads them as one job, then with a store, then puts the rows of that store into a new file and nothing else */
#include "ncclscope/store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_COLUMNS = 20, MOST_TABLES = 400 };

struct cell {
    int type;
    sqlite3_int64 n;
    double d;
    char *text; /* and blobs; of n bytes */
};

/* All rows of a table, in the order of their first column. */
struct table {
    char name[80], create[2000];
    int columns;
    struct cell *cell;
    size_t rows, next;
    sqlite3_stmt *insert;
};

static struct table table[MOST_TABLES];
static size_t tables;
static char indexes[2000]; /* what makes those of the records */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "bench_store: %s\n", what);
        exit(1);
    }
}

static void exec(sqlite3 *db, const char *sql)
{
    must(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
}

static struct cell take(sqlite3_stmt *q, int i)
{
    struct cell c = {.type = sqlite3_column_type(q, i)};
    if (c.type == SQLITE_FLOAT)
        c.d = sqlite3_column_double(q, i);
    else if (c.type == SQLITE_INTEGER)
        c.n = sqlite3_column_int64(q, i);
    else if (c.type != SQLITE_NULL) {
        const void *from = c.type == SQLITE_TEXT ? (const void *)sqlite3_column_text(q, i) : sqlite3_column_blob(q, i);
        c.n = sqlite3_column_bytes(q, i);
        c.text = malloc((size_t)c.n + 1);
        must(c.text != NULL, "no memory");
        memcpy(c.text, from ? from : "", (size_t)c.n);
    }
    return c;
}

static void give(sqlite3_stmt *q, int i, const struct cell *c)
{
    switch (c->type) {
    case SQLITE_INTEGER: sqlite3_bind_int64(q, i, c->n); break;
    case SQLITE_FLOAT: sqlite3_bind_double(q, i, c->d); break;
    case SQLITE_TEXT: sqlite3_bind_text(q, i, c->text, (int)c->n, SQLITE_STATIC); break;
    case SQLITE_BLOB: sqlite3_bind_blob(q, i, c->text, (int)c->n, SQLITE_STATIC); break;
    default: sqlite3_bind_null(q, i);
    }
}

static void load(sqlite3 *db, struct table *t)
{
    char sql[2 * sizeof t->name];
    sqlite3_stmt *q = NULL;
    size_t cap = 0;
    snprintf(sql, sizeof sql, "SELECT * FROM \"%.80s\" ORDER BY 1", t->name);
    must(sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    t->columns = sqlite3_column_count(q);
    while (sqlite3_step(q) == SQLITE_ROW) {
        if (t->rows == cap) {
            cap = cap ? 2 * cap : 1024;
            t->cell = realloc(t->cell, cap * (size_t)t->columns * sizeof *t->cell);
            must(t->cell != NULL, "no memory");
        }
        for (int i = 0; i < t->columns; i++)
            t->cell[t->rows * (size_t)t->columns + (size_t)i] = take(q, i);
        t->rows++;
    }
    sqlite3_finalize(q);
}

/* The tables of records: the first is `record`, the others hold the fields of a kind each. */
static void load_all(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    must(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK, "cannot read the store");
    sqlite3_prepare_v2(db,
                       "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND (name = 'record' OR name GLOB "
                       "'m_*') ORDER BY name <> 'record'",
                       -1, &q, NULL);
    while (sqlite3_step(q) == SQLITE_ROW) {
        must(tables < MOST_TABLES, "more tables than this program has room for");
        struct table *t = &table[tables++];
        snprintf(t->name, sizeof t->name, "%s", (const char *)sqlite3_column_text(q, 0));
        snprintf(t->create, sizeof t->create, "%s", (const char *)sqlite3_column_text(q, 1));
    }
    sqlite3_finalize(q);
    sqlite3_prepare_v2(db,
                       "SELECT group_concat(sql, ';') FROM sqlite_master WHERE type = 'index' AND tbl_name = 'record'",
                       -1, &q, NULL);
    must(sqlite3_step(q) == SQLITE_ROW && sqlite3_column_text(q, 0), "the store has no indexes");
    snprintf(indexes, sizeof indexes, "%s", (const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    for (size_t i = 0; i < tables; i++)
        load(db, &table[i]);
    sqlite3_close(db);
}

static void prepare(sqlite3 *db, struct table *t)
{
    char sql[300];
    int n = snprintf(sql, sizeof sql, "INSERT INTO \"%.80s\" VALUES(?", t->name);
    for (int i = 1; i < t->columns; i++)
        n += snprintf(sql + n, sizeof sql - (size_t)n, ",?");
    snprintf(sql + n, sizeof sql - (size_t)n, ")");
    exec(db, t->create);
    must(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &t->insert, NULL) == SQLITE_OK, sqlite3_errmsg(db));
}

static sqlite3_int64 insert_next(struct table *t)
{
    const struct cell *row = t->cell + t->next++ * (size_t)t->columns;
    for (int i = 0; i < t->columns; i++)
        give(t->insert, i + 1, &row[i]);
    must(sqlite3_step(t->insert) == SQLITE_DONE, "cannot insert");
    sqlite3_reset(t->insert);
    return row[0].n;
}

/* Each record, and behind it its fields, as a store does it. */
static double insert_all(const char *path)
{
    sqlite3 *db = NULL;
    must(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) ==
             SQLITE_OK,
         "cannot make a file");
    exec(db, "PRAGMA journal_mode = WAL");
    double begin = seconds();
    exec(db, "BEGIN IMMEDIATE");
    for (size_t i = 0; i < tables; i++)
        prepare(db, &table[i]);
    while (table[0].next < table[0].rows) {
        sqlite3_int64 id = insert_next(&table[0]);
        for (size_t i = 1; i < tables; i++)
            if (table[i].next < table[i].rows && table[i].cell[table[i].next * (size_t)table[i].columns].n == id)
                insert_next(&table[i]);
    }
    exec(db, indexes);
    exec(db, "COMMIT");
    double took = seconds() - begin;
    for (size_t i = 0; i < tables; i++) {
        must(table[i].next == table[i].rows, "not all rows were inserted");
        sqlite3_finalize(table[i].insert);
    }
    sqlite3_close(db);
    return took;
}

static double scan(const char *path, const char *const *logs, size_t n)
{
    ncclscope_grammar *g = NULL;
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    ncclscope_store *s = NULL;
    ncclscope_error err;
    double begin = seconds();
    int rc = ncclscope_grammar_new(&g, &err);
    rc = rc || !path ? rc : ncclscope_store_open(&s, path, &err);
    rc = rc ? rc : s ? ncclscope_store_scan(s, &m, g, logs, n, NULL, &err) : ncclscope_scan(&m, g, logs, n, NULL, &err);
    rc = rc ? rc : ncclscope_analyse(&f, m, &err);
    rc = rc || !s ? rc : ncclscope_store_add(s, m, f, &err);
    must(!rc, err.text);
    ncclscope_store_close(s);
    double took = seconds() - begin;
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    ncclscope_grammar_free(g);
    return took;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/bench_store.XXXXXX", store[100], bare[100], clean[200];
    must(argc > 1 && mkdtemp(folder) != NULL, "logs, and a place under /tmp, are needed");
    snprintf(store, sizeof store, "%s/store.db", folder);
    snprintf(bare, sizeof bare, "%s/bare.db", folder);
    double plain = scan(NULL, (const char *const *)argv + 1, (size_t)argc - 1);
    double stored = scan(store, (const char *const *)argv + 1, (size_t)argc - 1);
    load_all(store);
    double inserts = insert_all(bare), records = (double)table[0].rows;
    printf("%.0f records: a scan %.3f s, with a store %.3f s, bare inserts of the same rows %.3f s\n", records, plain,
           stored, inserts);
    printf("stored %.0f records/s, reading and judging included; storing alone %.0f, bare inserts %.0f: %.2f of them\n",
           records / stored, records / (stored - plain), records / inserts, inserts / (stored - plain));
    snprintf(clean, sizeof clean, "rm -r %s", folder);
    return system(clean) ? 1 : 0;
}
