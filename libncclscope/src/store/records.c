/* records.c - records as rows; the table of a kind has a column for each field that its rows in messages.def name. */
#include "store/records.h"

#include "store/bind.h"

#include <stdio.h>

static const struct {
    ncclscope_kind kind;
    const char *template_;
} rows[] = {
#define NCCLSCOPE_MSG(number, NAME, template_, example) {NCCLSCOPE_KIND_##NAME, template_},
#define NCCLSCOPE_ALSO(NAME, template_, example) {NCCLSCOPE_KIND_##NAME, template_},
#include "ncclscope/messages.def"
#undef NCCLSCOPE_MSG
#undef NCCLSCOPE_ALSO
};

enum column_type { COLUMN_U64, COLUMN_I64, COLUMN_F64, COLUMN_HEX, COLUMN_TEXT };

static enum column_type type_of_letter(char letter)
{
    switch (letter) {
    case 'u': return COLUMN_U64;
    case 'i': return COLUMN_I64;
    case 'f': return COLUMN_F64;
    case 'x': return COLUMN_HEX;
    default: return COLUMN_TEXT;
    }
}

static enum column_type type_of(const ncclscope_record *rec, ncclscope_field field)
{
    char letter = 't';
    if ((int)field >= NSC_USER_FIRST && ncclscope_record_field_name(rec, field, &letter))
        return type_of_letter(letter);
    switch (field) {
#define NCCLSCOPE_FIELD(number, NAME, name, type, unit, words) \
    case NCCLSCOPE_FIELD_##NAME: \
        return COLUMN_##type;
#include "ncclscope/fields.def"
#undef NCCLSCOPE_FIELD
    case NCCLSCOPE_FIELD_NONE: break;
    }
    return COLUMN_TEXT;
}

static ncclscope_field field_named(nsc_text name)
{
#define NCCLSCOPE_FIELD(number, NAME, name_, type, unit, words) \
    if (nsc_text_is(name, name_)) \
        return NCCLSCOPE_FIELD_##NAME;
#include "ncclscope/fields.def"
#undef NCCLSCOPE_FIELD
    return NCCLSCOPE_FIELD_NONE;
}

/* The fields that the templates of a kind name, each once; ends with NCCLSCOPE_FIELD_NONE. */
static void columns_of_kind(ncclscope_kind kind, ncclscope_field out[16])
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].kind != kind)
            continue;
        for (const char *p = strchr(rows[i].template_, '{'); p; p = strchr(p + 1, '{')) {
            size_t len = strcspn(p + 1, ":{}/");
            ncclscope_field f = p[1 + len] == ':' ? field_named((nsc_text){p + 1, len}) : NCCLSCOPE_FIELD_NONE;
            bool known = f == NCCLSCOPE_FIELD_NONE;
            for (size_t k = 0; k < n; k++)
                known = known || out[k] == f;
            if (!known && n < 15)
                out[n++] = f;
        }
    }
    out[n] = NCCLSCOPE_FIELD_NONE;
}

/* A user's kind has one row: its fields are those of any of its records. */
static void columns_of_record(const ncclscope_record *rec, ncclscope_field out[16])
{
    size_t n = 0;
    ncclscope_field f;
    ncclscope_text text;
    for (size_t i = 0; n < 15 && ncclscope_record_field(rec, i, &f, &text) == NCCLSCOPE_OK; i++) {
        bool known = false;
        for (size_t k = 0; k < n; k++)
            known = known || out[k] == f;
        if (!known)
            out[n++] = f;
    }
    out[n] = NCCLSCOPE_FIELD_NONE;
}

/* m_connect of a row of messages.def, x_my_row of a user's. */
static void table_name(const ncclscope_record *rec, bool user, char *out, size_t size)
{
    snprintf(out, size, "%c_%s", user ? 'x' : 'm', ncclscope_record_kind_name(rec));
    for (char *p = out; *p; p++)
        *p = nsc_lower(*p);
}

static bool make_table(struct nsc_records *r, sqlite3 *db, const ncclscope_record *rec)
{
    static const char *const types[] = {"INTEGER", "INTEGER", "REAL", "TEXT", "TEXT"};
    char name[64], create[1500], insert[400];
    size_t c = 0, i = 0, kind = (size_t)rec->kind;
    bool user = kind >= NSC_USER_FIRST;
    if (user)
        columns_of_record(rec, r->column[kind]);
    else
        columns_of_kind(rec->kind, r->column[kind]);
    table_name(rec, user, name, sizeof name);
    c += (size_t)snprintf(create, sizeof create,
                          "CREATE TABLE IF NOT EXISTS \"%s\"(record INTEGER PRIMARY KEY REFERENCES record", name);
    i += (size_t)snprintf(insert, sizeof insert, "INSERT INTO \"%s\" VALUES(?", name);
    for (const ncclscope_field *f = r->column[kind]; *f; f++) {
        c += (size_t)snprintf(create + c, sizeof create - c, ", \"%s\" %s", ncclscope_record_field_name(rec, *f, NULL),
                              types[type_of(rec, *f)]);
        i += (size_t)snprintf(insert + i, sizeof insert - i, ",?");
    }
    snprintf(create + c, sizeof create - c, ") STRICT");
    snprintf(insert + i, sizeof insert - i, ")");
    return sqlite3_exec(db, create, NULL, NULL, NULL) == SQLITE_OK &&
           sqlite3_prepare_v3(db, insert, -1, SQLITE_PREPARE_PERSISTENT, &r->fields[kind], NULL) == SQLITE_OK;
}

static void bind_said(sqlite3_stmt *q, int i, int64_t v)
{
    if (v >= 0)
        sqlite3_bind_int64(q, i, v);
    else
        sqlite3_bind_null(q, i);
}

static bool bind_field(sqlite3_stmt *q, int i, const ncclscope_record *rec, ncclscope_field f)
{
    enum column_type type = type_of(rec, f);
    nsc_text t = nsc_record_field(rec, f);
    int64_t n;
    double d;
    if (type == COLUMN_HEX || type == COLUMN_TEXT)
        return nsc_bind_text(q, i, t);
    sqlite3_bind_null(q, i);
    if ((type == COLUMN_U64 || type == COLUMN_I64) && nsc_to_i64(nsc_text_trim(t), &n))
        sqlite3_bind_int64(q, i, n);
    else if (type == COLUMN_F64 && nsc_to_f64(t, &d))
        sqlite3_bind_double(q, i, d);
    return true;
}

/* host, time, message and location: as they may be shown, and behind the other columns as the log has them. */
static bool bind_texts(sqlite3_stmt *q, const ncclscope_record *rec)
{
    static const int column[] = {7, 11, 12, 13};
    const nsc_text text[] = {rec->host, rec->time, rec->message.ptr ? rec->message : (nsc_text){"", 0}, rec->location};
    bool bound = true;
    for (int i = 0; i < 4; i++)
        bound = nsc_bind_both(q, column[i], 14 + i, text[i]) && bound;
    return bound;
}

static bool run(sqlite3_stmt *q)
{
    bool ok = sqlite3_step(q) == SQLITE_DONE;
    return sqlite3_reset(q) == SQLITE_OK && ok;
}

int nsc_records_add(struct nsc_records *r, sqlite3 *db, const ncclscope_record *rec)
{
    static const char *const levels[] = {"", "INFO", "WARN", "TRACE", "CALL", "VERSION", "OTHER", "ATTN", "DIAG"};
    size_t kind = (size_t)rec->kind;
    if (!r->insert && sqlite3_prepare_v3(db, "INSERT INTO record VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", -1,
                                         SQLITE_PREPARE_PERSISTENT, &r->insert, NULL) != SQLITE_OK)
        return NCCLSCOPE_EIO;
    sqlite3_stmt *q = r->insert;
    sqlite3_bind_int64(q, 1, r->next);
    sqlite3_bind_int64(q, 2, r->source);
    sqlite3_bind_int64(q, 3, (int64_t)rec->line);
    sqlite3_bind_int64(q, 4, (int64_t)rec->offset);
    sqlite3_bind_text(q, 5, levels[rec->level], -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 6, ncclscope_record_kind_name(rec), -1, SQLITE_STATIC);
    bind_said(q, 8, rec->pid);
    bind_said(q, 9, rec->tid);
    bind_said(q, 10, rec->dev);
    if (!bind_texts(q, rec))
        return NCCLSCOPE_ENOMEM;
    if (!run(q))
        return NCCLSCOPE_EIO;
    int64_t id = r->next++;
    if ((!rec->match && kind < NSC_USER_FIRST) || kind >= NSC_KINDS || kind == NCCLSCOPE_KIND_RECOGNISED)
        return NCCLSCOPE_OK;
    if (!r->fields[kind] && !make_table(r, db, rec))
        return NCCLSCOPE_EIO;
    q = r->fields[kind];
    sqlite3_bind_int64(q, 1, id);
    for (int i = 0; r->column[kind][i]; i++)
        if (!bind_field(q, i + 2, rec, r->column[kind][i]))
            return NCCLSCOPE_ENOMEM;
    return run(q) ? NCCLSCOPE_OK : NCCLSCOPE_EIO;
}

void nsc_records_reset(struct nsc_records *r)
{
    sqlite3_finalize(r->insert);
    r->insert = NULL;
    for (size_t i = 0; i < NSC_KINDS; i++) {
        sqlite3_finalize(r->fields[i]);
        r->fields[i] = NULL;
    }
}

void nsc_records_free(struct nsc_records *r)
{
    nsc_records_reset(r);
}
