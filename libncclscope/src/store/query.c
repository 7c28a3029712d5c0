/* query.c - a question to a store, in SQL or by its name in questions.def, and the answer as a table, CSV or JSON. The file is only read,
 * and is trusted as little as a log is: a question may select, and nothing else. */
#include "ncclscope/store.h"

#include "base/arena.h"
#include "base/neutral.h"
#include "base/vec.h"
#include "read/source.h"
#include "report/text.h"
#include "store/schema.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>

static const struct question {
    const char *name, *words, *sql;
} questions[] = {
#define QUESTION(name, words, sql) {name, words, sql},
#include "questions.def"
#undef QUESTION
};
enum { QUESTIONS = sizeof questions / sizeof questions[0], PATIENCE_MS = 10000 };

const char *ncclscope_store_question(size_t i, const char **words)
{
    if (words)
        *words = i < QUESTIONS ? questions[i].words : NULL;
    return i < QUESTIONS ? questions[i].name : NULL;
}

static const char *sql_of(const char *question)
{
    for (size_t i = 0; i < QUESTIONS; i++)
        if (!strcmp(questions[i].name, question))
            return questions[i].sql;
    return strpbrk(question, " \t\n(") ? question : NULL; /* a word alone is no SQL that answers anything */
}

/* Only what reads: no other file, no setting, nothing that makes or changes a table. `user`: was there anything else? */
static int allow(void *user, int action, const char *a, const char *b, const char *c, const char *d)
{
    bool *denied = user;
    (void)a, (void)c, (void)d;
    bool fine = action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
                (action == SQLITE_FUNCTION && sqlite3_stricmp(b, "load_extension") != 0);
    *denied = *denied || !fine;
    return fine ? SQLITE_OK : SQLITE_DENY;
}

/* ---- the answer ---- */

enum form { TABLE, CSV, JSON };

struct answer {
    sqlite3_stmt *q;
    int columns;
    struct nsc_report r; /* where it goes */
    enum form form;
};

/* A cell as text; a blob in hexadecimal; NULL has ptr NULL. */
static nsc_text cell(const struct answer *a, int column, struct nsc_arena *texts)
{
    static const char digits[] = "0123456789abcdef";
    if (sqlite3_column_type(a->q, column) == SQLITE_NULL)
        return (nsc_text){NULL, 0};
    if (sqlite3_column_type(a->q, column) != SQLITE_BLOB) {
        const unsigned char *t = sqlite3_column_text(a->q, column);
        return t ? (nsc_text){(const char *)t, (size_t)sqlite3_column_bytes(a->q, column)} : NSC_TEXT("");
    }
    const unsigned char *bytes = sqlite3_column_blob(a->q, column);
    size_t n = (size_t)sqlite3_column_bytes(a->q, column);
    char *hex = nsc_arena_alloc(texts, 2 * n + 1);
    for (size_t i = 0; hex && i < n; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    return hex ? (nsc_text){hex, 2 * n} : NSC_TEXT("");
}

static void put_csv(const struct answer *a, nsc_text t, bool last)
{
    nsc_csv_text(&a->r, t);
    nsc_puts(a->r.out, last ? "\n" : ",");
}

static void put_json(const struct answer *a, struct nsc_arena *texts)
{
    struct nsc_json j = {a->r.out, true};
    nsc_json_open(&j, NULL, '{');
    for (int i = 0; i < a->columns; i++) {
        const char *name = sqlite3_column_name(a->q, i);
        int type = sqlite3_column_type(a->q, i);
        if (type == SQLITE_INTEGER)
            nsc_json_int(&j, name ? name : "", sqlite3_column_int64(a->q, i));
        else if (type == SQLITE_FLOAT)
            nsc_json_float(&j, name ? name : "", sqlite3_column_double(a->q, i));
        else
            nsc_json_text(&j, name ? name : "", cell(a, i, texts));
    }
    nsc_json_close(&j, '}');
    nsc_puts(a->r.out, "\n");
}

/* Rows one after the other, as they come: OK, or a code of SQLite's. */
static int put_rows(const struct answer *a)
{
    int rc;
    while ((rc = sqlite3_step(a->q)) == SQLITE_ROW && !a->r.out->failed) {
        struct nsc_arena texts = {0};
        for (int i = 0; i < a->columns && a->form == CSV; i++)
            put_csv(a, cell(a, i, &texts), i + 1 == a->columns);
        if (a->form == JSON)
            put_json(a, &texts);
        nsc_arena_free(&texts);
    }
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- as a table: the first rows say how wide columns are ---- */

struct page {
    NSC_VEC(nsc_text) cells; /* row by row, the names of the columns first */
    struct nsc_arena texts;
    size_t *width; /* of each column */
};

enum { LOOKED_AT = 1000, WIDEST = 100 };

static bool add_cell(struct page *p, size_t column, nsc_text t)
{
    nsc_text kept = t.len ? nsc_arena_copy(&p->texts, t) : t, *to = nsc_vec_push(&p->cells);
    if (!to || (t.len && !kept.ptr))
        return false;
    *to = kept;
    size_t letters = 0;
    for (size_t i = 0; i < kept.len; i++)
        letters += ((unsigned char)kept.ptr[i] & 0xc0) != 0x80;
    letters = letters < WIDEST ? letters : WIDEST;
    p->width[column] = letters > p->width[column] ? letters : p->width[column];
    return true;
}

static void put_padded(const struct answer *a, nsc_text t, size_t width, bool last)
{
    size_t letters = 0;
    for (size_t i = 0; i < t.len; i++)
        letters += ((unsigned char)t.ptr[i] & 0xc0) != 0x80;
    nsc_safe(&a->r, t);
    for (; !last && letters < width + 2; letters++)
        nsc_puts(a->r.out, " ");
    nsc_puts(a->r.out, last ? "\n" : letters > width + 1 ? "" : "  ");
}

static void put_page(const struct answer *a, const struct page *p)
{
    for (size_t i = 0; i < p->cells.len; i++)
        put_padded(a, p->cells.item[i], p->width[i % (size_t)a->columns], (i + 1) % (size_t)a->columns == 0);
}

static int put_table(const struct answer *a)
{
    struct page p = {.width = nsc_alloc(((size_t)a->columns + 1) * sizeof *p.width)};
    bool fine = p.width;
    int rc = SQLITE_ROW;
    for (int i = 0; i < a->columns && fine; i++)
        fine = add_cell(&p, (size_t)i, nsc_text_of(sqlite3_column_name(a->q, i)));
    while (fine && rc == SQLITE_ROW && !a->r.out->failed) {
        for (size_t n = 0; n < LOOKED_AT && fine && (rc = sqlite3_step(a->q)) == SQLITE_ROW; n++)
            for (int i = 0; i < a->columns && fine; i++)
                fine = add_cell(&p, (size_t)i, cell(a, i, &p.texts));
        put_page(a, &p);
        nsc_arena_free(&p.texts);
        p.texts = (struct nsc_arena){0};
        p.cells.len = 0;
    }
    nsc_arena_free(&p.texts);
    nsc_vec_free(&p.cells);
    nsc_free(p.width);
    return !fine ? SQLITE_NOMEM : rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- asking ---- */

static int fail(sqlite3 *db, int rc, ncclscope_error *err)
{
    int mine = rc == SQLITE_NOMEM                            ? NCCLSCOPE_ENOMEM
               : rc == SQLITE_ERROR                          ? NCCLSCOPE_EINVAL
               : rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT ? NCCLSCOPE_EDATA
                                                             : NCCLSCOPE_EIO;
    return nsc_fail(err, mine, 0, "%s", sqlite3_errmsg(db));
}

static int refuse(ncclscope_error *err)
{
    return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "a store is only asked: SELECT ...");
}

int nsc_store_to_read(sqlite3 **db, const char *path, bool *denied, ncclscope_error *err)
{
    struct stat st;
    int on;
    if (stat(path, &st) != 0)
        return nsc_fail(err, NCCLSCOPE_EIO, errno, "cannot open: %s", nsc_strerror(errno));
    if (!S_ISREG(st.st_mode))
        return nsc_fail(err, NCCLSCOPE_EIO, 0, "is no regular file, and cannot be a store");
    int rc = sqlite3_open_v2(path, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_stmt *q = NULL;
    rc = rc ? rc : sqlite3_busy_timeout(*db, PATIENCE_MS);
    rc = rc ? rc : sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, &on);
    rc = rc ? rc : sqlite3_exec(*db, "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    rc = rc ? rc : sqlite3_prepare_v2(*db, "PRAGMA application_id", -1, &q, NULL);
    rc = rc ? rc : sqlite3_step(q) == SQLITE_ROW ? SQLITE_OK : sqlite3_errcode(*db);
    bool ours = !rc && sqlite3_column_int64(q, 0) == NSC_APPLICATION_ID;
    sqlite3_finalize(q);
    if (rc)
        return rc == SQLITE_NOTADB ? nsc_fail(err, NCCLSCOPE_EDATA, 0, "is no store of ncclscope") : fail(*db, rc, err);
    sqlite3_set_authorizer(*db, allow, denied);
    return ours ? NCCLSCOPE_OK : nsc_fail(err, NCCLSCOPE_EDATA, 0, "is a database, but no store of ncclscope");
}

static int put_answer(struct answer *a, sqlite3 *db, ncclscope_error *err)
{
    a->columns = sqlite3_column_count(a->q);
    if (!a->columns)
        return refuse(err);
    for (int i = 0; i < a->columns && a->form == CSV; i++)
        put_csv(a, nsc_text_of(sqlite3_column_name(a->q, i)), i + 1 == a->columns);
    int rc = a->form == TABLE ? put_table(a) : put_rows(a);
    return rc && !a->r.out->failed ? fail(db, rc, err) : NCCLSCOPE_OK;
}

int ncclscope_store_query(const char *path, const char *question, const char *format, int flags,
                          ncclscope_write_fn *write, void *user, ncclscope_error *err)
{
    static const char *const forms[] = {"text", "csv", "json"};
    struct answer a = {.form = TABLE};
    if (!path || !question || !format || !write)
        return nsc_null(err);
    while (a.form <= JSON && strcmp(format, forms[a.form]) != 0)
        a.form++;
    const char *sql = sql_of(question), *rest = "";
    if (a.form > JSON || !sql)
        return nsc_fail(err, NCCLSCOPE_ENOTFOUND, 0, sql ? "no answer has the form %s" : "no question is called %s",
                        sql ? format : question);
    sqlite3 *db = NULL;
    bool denied = false;
    int rc = nsc_store_to_read(&db, path, &denied, err);
    if (!rc && (rc = sqlite3_prepare_v2(db, sql, -1, &a.q, &rest)))
        rc = denied ? refuse(err) : fail(db, rc, err);
    else if (!rc && rest[strspn(rest, " \t\r\n;")])
        rc = nsc_fail(err, NCCLSCOPE_EINVAL, 0, "one question at a time: more stands behind the first");
    a.r = (struct nsc_report){.out = rc ? NULL : nsc_out_new(write, user), .flags = flags};
    if (!rc && !a.r.out)
        rc = nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    rc = rc ? rc : put_answer(&a, db, err);
    int ended = a.r.out ? nsc_out_end(a.r.out) : NCCLSCOPE_OK;
    sqlite3_finalize(a.q);
    sqlite3_close(db);
    if (!rc && ended)
        return nsc_fail(err, ended, 0, ended == NCCLSCOPE_ENOMEM ? "out of memory" : "the answer could not be written");
    return rc;
}
