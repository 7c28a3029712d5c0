/* store.c - records as they are read, then model and findings, into one SQLite file and one transaction. */
#include "ncclscope/store.h"

#include "model/scan.h"
#include "read/source.h"
#include "report/report.h"
#include "store/bind.h"
#include "store/files.h"
#include "store/records.h"
#include "store/schema.h"
#include "store/tables.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* What an input of the scan holds: its row in source (-1: it could not be opened), and its digest. */
struct content {
    int64_t source;
    char digest[48];
};
struct contents {
    NSC_VEC(struct content) of; /* in the order of reading */
};

struct ncclscope_store {
    sqlite3 *db;
    struct nsc_records records;
    struct contents inputs;        /* of the scan */
    const struct nsc_input *input; /* of a scan of jobs: the one in hand, and its first place in `inputs` */
    size_t first_of_input;
    struct nsc_file known;          /* what was last looked up */
    char *note;                     /* what was last asked for */
    NSC_VEC(char) model;            /* of the scan, saved before it was finished */
    const ncclscope_model *scanned; /* the model of the scan that waits to be added */
    const ncclscope_jobs *jobs;     /* of the scan, each added as a scan of its own; NULL: it is one */
    size_t job;                     /* whose model waits */
    size_t uncommitted;             /* jobs that were added since the last commit */
    bool in_scan, noted;            /* noted: under `id`, as one that this process has open */
    struct nsc_file_id id;
    ncclscope_error failure;
};

static int db_fail(ncclscope_store *s, ncclscope_error *err)
{
    int code = sqlite3_errcode(s->db);
    if (code == SQLITE_OK) /* it was no call of SQLite's that failed */
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    int mine = code == SQLITE_NOMEM                              ? NCCLSCOPE_ENOMEM
               : code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? NCCLSCOPE_EDATA
                                                                 : NCCLSCOPE_EIO;
    return nsc_fail(err, mine, 0, "%s", sqlite3_errmsg(s->db));
}

/* The number that is asked for; INT64_MIN: it could not be. */
static int64_t pragma(ncclscope_store *s, const char *sql)
{
    sqlite3_stmt *q = NULL;
    int64_t v = INT64_MIN;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
        v = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return v;
}

/* The first column of the row under this digest: *v, 0 if there is none. False: it could not be asked. */
static bool find_digest(ncclscope_store *s, const char *sql, const char *digest, int64_t *v)
{
    sqlite3_stmt *q = NULL;
    *v = 0;
    bool asked = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK &&
                 sqlite3_bind_text(q, 1, digest, -1, SQLITE_STATIC) == SQLITE_OK;
    int rc = asked ? sqlite3_step(q) : SQLITE_ERROR;
    if (rc == SQLITE_ROW)
        *v = sqlite3_column_int64(q, 0);
    return sqlite3_finalize(q) == SQLITE_OK && (rc == SQLITE_ROW || rc == SQLITE_DONE);
}

static bool insert_source(ncclscope_store *s, const char *digest)
{
    sqlite3_stmt *q = NULL;
    bool bound = sqlite3_prepare_v2(s->db, "INSERT INTO source(id, digest) VALUES(?, ?)", -1, &q, NULL) == SQLITE_OK &&
                 sqlite3_bind_int64(q, 1, s->records.source) == SQLITE_OK &&
                 sqlite3_bind_text(q, 2, digest, -1, SQLITE_STATIC) == SQLITE_OK;
    bool done = bound && sqlite3_step(q) == SQLITE_DONE;
    return sqlite3_finalize(q) == SQLITE_OK && done;
}

static bool run(ncclscope_store *s, const char *sql)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool make_model(ncclscope_store *s)
{
    return nsc_tables_make(s->db) && run(s, nsc_schema_model);
}

/* An older store gets what it lacks, unless another process was faster. */
static int renew(ncclscope_store *s, ncclscope_error *err)
{
    static const char done[] = "UPDATE meta SET value = '4' WHERE name = 'schema'; PRAGMA user_version = 4";
    bool fine = run(s, "BEGIN IMMEDIATE");
    int64_t version = fine ? pragma(s, "PRAGMA user_version") : INT64_MIN;
    if (version == 1)
        fine = run(s, nsc_schema_from_1);
    if (version == 1 || version == 2)
        fine = fine && run(s, nsc_schema_from_2) && make_model(s) && run(s, nsc_schema_copy_2);
    if (version > 0 && version < NSC_STORE_VERSION)
        fine = fine && run(s, nsc_schema_from_3) && run(s, done);
    fine = fine && run(s, "COMMIT");
    return fine ? NCCLSCOPE_OK : db_fail(s, err);
}

enum { PATIENCE_MS = 10000, PAUSE_MS = 10 };

/* Readers go on while one writes. SQLite does not wait here as it does elsewhere: to change the mode it has to be alone for a moment. */
static bool let_read(ncclscope_store *s)
{
    bool done = false;
    for (int waited = 0; waited < PATIENCE_MS; waited += PAUSE_MS) {
        done = run(s, "PRAGMA journal_mode = WAL");
        if (done || sqlite3_errcode(s->db) != SQLITE_BUSY)
            break;
        sqlite3_sleep(PAUSE_MS);
    }
    return done;
}

/* A new file gets its tables, unless another process was faster: several may meet on one that is not there yet. */
static int make(ncclscope_store *s, ncclscope_error *err)
{
    char mark[100];
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d", NSC_APPLICATION_ID,
             NSC_STORE_VERSION);
    bool fine = run(s, "BEGIN IMMEDIATE");
    if (fine && pragma(s, "SELECT count(*) FROM sqlite_master") == 0)
        fine = run(s, mark) && run(s, nsc_schema_tables) && run(s, nsc_schema_saved) && run(s, nsc_files_tables) &&
               make_model(s) && run(s, "INSERT INTO meta VALUES('schema', '4'), ('tool', 'ncclscope " NSC_VERSION "')");
    fine = fine && run(s, "COMMIT");
    return fine ? NCCLSCOPE_OK : db_fail(s, err);
}

/* Whatever the file is, it is a store of this version afterwards, or the error says what it is. */
static int prepare(ncclscope_store *s, ncclscope_error *err)
{
    sqlite3_busy_timeout(s->db, PATIENCE_MS);
    int64_t tables = pragma(s, "SELECT count(*) FROM sqlite_master");
    int rc = tables == 0 ? make(s, err) : NCCLSCOPE_OK;
    if (tables < 0 || rc)
        return rc ? rc : db_fail(s, err);
    int64_t application = pragma(s, "PRAGMA application_id");
    int64_t version = application == INT64_MIN ? application : pragma(s, "PRAGMA user_version");
    if (version == INT64_MIN)
        return db_fail(s, err);
    if (application != NSC_APPLICATION_ID)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "is a database, but no store of ncclscope");
    if (version > NSC_STORE_VERSION)
        return nsc_fail(err, NCCLSCOPE_EUNSUPPORTED, 0, "was made by a newer version of ncclscope");
    if (version < NSC_STORE_VERSION && (rc = renew(s, err)))
        return rc;
    return run(s, nsc_schema_saved) && run(s, nsc_files_tables) && nsc_tables_make(s->db) && let_read(s)
               ? NCCLSCOPE_OK
               : db_fail(s, err);
}

/* SQLite would open a device too, and lay its journal beside it. */
static int must_be_file(const char *path, ncclscope_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return nsc_fail(err, NCCLSCOPE_EIO, 0, "is no regular file, and cannot be a store");
    return NCCLSCOPE_OK;
}

int ncclscope_store_open(ncclscope_store **out, const char *path, ncclscope_error *err)
{
    if (out)
        *out = NULL;
    if (!out || !path)
        return nsc_null(err);
    if (must_be_file(path, err))
        return NCCLSCOPE_EIO;
    ncclscope_store *s = nsc_alloc(sizeof *s);
    if (!s)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                SQLITE_OPEN_NOMUTEX; /* one thread at a time: SQLite need not lock */
    int rc = sqlite3_open_v2(path, &s->db, flags, NULL) ? db_fail(s, err) : NCCLSCOPE_OK;
    s->noted = !rc && nsc_store_opened(path, &s->id);
    if (!rc)
        rc = s->noted ? prepare(s, err) : nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    if (rc) {
        ncclscope_store_close(s);
        return rc;
    }
    *out = s;
    return NCCLSCOPE_OK;
}

sqlite3 *nsc_store_at_rest(ncclscope_store *s)
{
    return s->in_scan ? NULL : s->db;
}

void ncclscope_store_close(ncclscope_store *s)
{
    if (!s)
        return;
    nsc_records_free(&s->records);
    nsc_file_free(&s->known);
    nsc_free(s->note);
    if (s->in_scan)
        run(s, s->uncommitted ? "COMMIT" : "ROLLBACK");
    sqlite3_close(s->db);
    if (s->noted)
        nsc_store_closed(&s->id);
    nsc_vec_free(&s->inputs.of);
    nsc_vec_free(&s->model);
    nsc_free(s);
}

/* ---- records, while they are read ---- */

static int on_record(void *user, const ncclscope_record *rec)
{
    ncclscope_store *s = user;
    int rc = nsc_records_add(&s->records, s->db, rec);
    if (rc == NCCLSCOPE_OK)
        return NCCLSCOPE_OK;
    if (rc == NCCLSCOPE_ENOMEM)
        nsc_fail(&s->failure, rc, 0, "out of memory");
    else
        db_fail(s, &s->failure);
    return NSC_TAP_FAILED;
}

/* The digest is known only now: a source that the store already holds is taken back. */
static int on_source_end(void *user, const ncclscope_reader *r, const char *name)
{
    ncclscope_store *s = user;
    struct content *x = nsc_vec_push(&s->inputs.of);
    (void)name;
    if (!x)
        return NCCLSCOPE_ENOMEM;
    if (!r) { /* it could not be opened: a name and a problem, no content */
        x->source = -1;
        snprintf(x->digest, sizeof x->digest, "unread");
        return NCCLSCOPE_OK;
    }
    nsc_digest_print(nsc_reader_digest_of(r), x->digest, sizeof x->digest);
    int64_t old = 0;
    bool ok = find_digest(s, "SELECT id FROM source WHERE digest = ?", x->digest, &old) &&
              (old || insert_source(s, x->digest));
    x->source = old ? old : s->records.source;
    s->records.source += !old;
    nsc_records_reset(&s->records);
    const char *sql = old ? "ROLLBACK TO one_source; RELEASE one_source; SAVEPOINT one_source"
                          : "RELEASE one_source; SAVEPOINT one_source";
    if (ok && run(s, sql))
        return NCCLSCOPE_OK;
    db_fail(s, &s->failure);
    return NSC_TAP_FAILED;
}

/* ---- files that need not be read again ---- */

static bool on_input(void *user, const struct nsc_input *in, struct nsc_shared *out)
{
    ncclscope_store *s = user;
    s->input = in;
    s->first_of_input = s->inputs.of.len;
    struct content *x = nsc_file_find(&s->known, s->db, in) ? nsc_vec_push(&s->inputs.of) : NULL;
    if (!x)
        return false;
    x->source = s->known.source;
    snprintf(x->digest, sizeof x->digest, "%s", s->known.digest);
    *out = s->known.shared;
    return true;
}

/* An archive has many texts, and a file that could not be read to its end is read again. */
static int on_part(void *user, const struct ncclscope_model *m, const struct nsc_shared *shared)
{
    ncclscope_store *s = user;
    if (s->inputs.of.len != s->first_of_input + 1 || m->sources.len != 1 || m->sources.item[0].problem)
        return NCCLSCOPE_OK;
    const struct content *x = &s->inputs.of.item[s->first_of_input];
    if (x->source < 0 || (nsc_file_keep(s->db, s->input, x->source, x->digest, shared) &&
                          run(s, "RELEASE one_source; SAVEPOINT one_source")))
        return NCCLSCOPE_OK;
    db_fail(s, &s->failure);
    return NSC_TAP_FAILED;
}

static int keep_bytes(void *user, const char *bytes, size_t size)
{
    ncclscope_store *s = user;
    if (!nsc_vec_reserve_((void **)&s->model.item, &s->model.cap, s->model.len + size, 1))
        return -1;
    memcpy(s->model.item + s->model.len, bytes, size);
    s->model.len += size;
    return 0;
}

/* What a later scan of this store is to find again, exactly. */
static int on_whole(void *user, const ncclscope_model *m)
{
    ncclscope_store *s = user;
    s->model.len = 0;
    return ncclscope_model_save(m, keep_bytes, s, NULL) ? NCCLSCOPE_ENOMEM : NCCLSCOPE_OK;
}

/* Both kinds of scan begin so. */
static int begin(ncclscope_store *s, bool fit, ncclscope_error *err)
{
    if (!s || !fit || s->in_scan)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "a store scans once, and adds that, before it scans again");
    s->inputs.of.len = 0;
    s->jobs = NULL;
    s->scanned = NULL;
    s->uncommitted = 0;
    if (sqlite3_exec(s->db, "BEGIN IMMEDIATE; SAVEPOINT one_source", NULL, NULL, NULL))
        return db_fail(s, err);
    s->in_scan = true;
    s->records.source = pragma(s, "SELECT coalesce(max(id), 0) + 1 FROM source");
    s->records.next = s->records.source < 0 ? -1 : pragma(s, "SELECT coalesce(max(id), 0) + 1 FROM record");
    return s->records.next < 0 ? db_fail(s, err) : NCCLSCOPE_OK;
}

static int end_of_reading(ncclscope_store *s, int rc, ncclscope_error *err)
{
    if (rc != NSC_TAP_FAILED)
        return rc;
    if (err)
        *err = s->failure;
    return s->failure.code;
}

int ncclscope_store_scan(ncclscope_store *s, ncclscope_model **out, ncclscope_grammar *g, const char *const *paths,
                         size_t n, const ncclscope_scan_options *options, ncclscope_error *err)
{
    struct nsc_tap tap = {.user = s, .record = on_record, .source_end = on_source_end, .whole = on_whole};
    if (out)
        *out = NULL;
    int rc = begin(s, out != NULL, err);
    if (rc)
        return rc;
    rc = end_of_reading(s, nsc_scan(out, g, paths, n, options, &tap, err), err);
    s->scanned = *out;
    return rc;
}

int ncclscope_store_jobs(ncclscope_store *s, ncclscope_jobs **out, ncclscope_grammar *g, const char *const *paths,
                         size_t n, const char *by, const ncclscope_scan_options *options, ncclscope_error *err)
{
    struct nsc_tap tap = {.user = s, .record = on_record, .source_end = on_source_end};
    if (out)
        *out = NULL;
    int rc = begin(s, out != NULL, err);
    if (rc)
        return rc;
    tap.known = on_input;
    tap.part = on_part;
    rc = end_of_reading(s, nsc_jobs_scan(out, g, paths, n, by, options, &tap, err), err);
    s->jobs = *out;
    return rc;
}

int ncclscope_store_job(ncclscope_store *s, ncclscope_model **out, size_t i, ncclscope_error *err)
{
    struct nsc_tap tap = {.user = s, .whole = on_whole};
    if (out)
        *out = NULL;
    if (!s || !out || !s->in_scan || !s->jobs)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "only a job of this store's own scan has a model here");
    int rc = nsc_job_model(out, s->jobs, i, &tap, err);
    s->scanned = *out;
    s->job = i;
    return rc;
}

/* ---- model and findings ---- */

/* One row: `sql` with a parameter per letter of `types`: n int64, s const char *, NULL is what is not said. */
static bool insert(ncclscope_store *s, const char *sql, const char *types, ...)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL))
        return false;
    va_list args;
    bool bound = true;
    va_start(args, types);
    for (int i = 0; types[i] && bound; i++)
        bound = types[i] == 'n' ? sqlite3_bind_int64(q, i + 1, va_arg(args, int64_t)) == SQLITE_OK
                                : nsc_bind_text(q, i + 1, nsc_text_of(va_arg(args, const char *)));
    va_end(args);
    int rc = bound ? sqlite3_step(q) : SQLITE_NOMEM;
    sqlite3_finalize(q);
    return rc == SQLITE_DONE;
}

static bool add_model(ncclscope_store *s, int64_t scan)
{
    sqlite3_stmt *q = NULL;
    bool bound = sqlite3_prepare_v2(s->db, "INSERT INTO saved_model VALUES(?, ?)", -1, &q, NULL) == SQLITE_OK &&
                 sqlite3_bind_int64(q, 1, scan) == SQLITE_OK &&
                 sqlite3_bind_blob64(q, 2, s->model.item, s->model.len, SQLITE_STATIC) == SQLITE_OK;
    bool done = bound && sqlite3_step(q) == SQLITE_DONE;
    return sqlite3_finalize(q) == SQLITE_OK && done;
}

/* The inputs of this job, of all that were read. */
static bool choose_inputs(const ncclscope_store *s, size_t job, struct contents *chosen)
{
    size_t n = s->inputs.of.len;
    const uint32_t *at = s->jobs ? nsc_job_inputs(s->jobs, job, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        size_t k = at ? at[i] : i;
        struct content *x = k < s->inputs.of.len ? nsc_vec_push(&chosen->of) : NULL;
        if (!x)
            return false;
        *x = s->inputs.of.item[k];
    }
    return true;
}

/* Which content each input of the scan is; one that could not be opened has none. */
static bool add_contents(ncclscope_store *s, int64_t scan, const ncclscope_model *m, const struct contents *inputs)
{
    bool ok = true;
    for (size_t i = 0, k = 0; i < m->sources.len && ok; i++) {
        if (!m->sources.item[i].stats.size || k == inputs->of.len)
            continue;
        int64_t source = inputs->of.item[k++].source;
        ok = source < 0 || insert(s, "INSERT INTO scan_content VALUES(?,?,?)", "nnn", scan, (int64_t)i, source);
    }
    return ok;
}

static int by_digest(const void *a, const void *b)
{
    return strcmp(((const struct content *)a)->digest, ((const struct content *)b)->digest);
}

/* The digest of a scan: those of its inputs, whatever their order. */
static const char *scan_digest(const struct contents *inputs, struct nsc_arena *a)
{
    size_t n = 0, len = inputs->of.len;
    struct content *sorted = nsc_arena_alloc(a, (len + 1) * sizeof *sorted);
    char *all = nsc_arena_alloc(a, len * sizeof sorted->digest + 1);
    if (!sorted || !all)
        return NULL;
    if (len)
        memcpy(sorted, inputs->of.item, len * sizeof *sorted);
    qsort(sorted, len, sizeof *sorted, by_digest);
    *all = 0;
    for (size_t i = 0; i < len; i++)
        n += (size_t)sprintf(all + n, "%s%s", n ? " " : "", sorted[i].digest);
    return all;
}

/* The row of the scan, and all that belongs to it; nothing where it is known. */
static bool add_scan(ncclscope_store *s, const ncclscope_model *m, const ncclscope_findings *f, int64_t *known)
{
    struct contents inputs = {0};
    struct nsc_arena a = {0};
    const char *digest = choose_inputs(s, s->job, &inputs) ? scan_digest(&inputs, &a) : NULL;
    bool ok = digest && find_digest(s, "SELECT 1 FROM scan WHERE digest = ?", digest, known);
    if (ok && !*known) {
        int64_t scan = pragma(s, "SELECT coalesce(max(id), 0) + 1 FROM scan");
        ok = scan > 0 &&
             insert(s, "INSERT INTO scan VALUES(?,?,?,?,?)", "nssss", scan, digest, "ncclscope " NSC_VERSION,
                    nsc_verdict_name(f->verdict), s->jobs ? ncclscope_job_name(s->jobs, s->job) : NULL) &&
             add_contents(s, scan, m, &inputs) && add_model(s, scan) && nsc_tables_fill(s->db, scan, &m->rows) &&
             nsc_tables_fill(s->db, scan, &f->rows) && run(s, nsc_schema_indexes);
    }
    nsc_vec_free(&inputs.of);
    nsc_arena_free(&a);
    return ok;
}

enum { COMMITTED_AT_ONCE = 64 }; /* jobs: the disk is waited for once for so many */

/* A job is there as a whole or not at all; those before it stay where it fails. */
static int add_job(ncclscope_store *s, const ncclscope_model *m, const ncclscope_findings *f, ncclscope_error *err)
{
    unsigned before = nsc_failed_allocations();
    int64_t known = 0;
    bool ok = run(s, "SAVEPOINT one_job") && add_scan(s, m, f, &known) && nsc_failed_allocations() == before;
    s->scanned = NULL;
    if (!ok) {
        int rc = db_fail(s, err);
        run(s, "ROLLBACK TO one_job; RELEASE one_job");
        return rc;
    }
    ok = run(s, "RELEASE one_job") && (++s->uncommitted < COMMITTED_AT_ONCE || run(s, "COMMIT; BEGIN IMMEDIATE"));
    s->uncommitted %= COMMITTED_AT_ONCE;
    return ok ? NCCLSCOPE_OK : db_fail(s, err);
}

int ncclscope_store_add(ncclscope_store *s, const ncclscope_model *m, const ncclscope_findings *f, ncclscope_error *err)
{
    if (!s || !m || !f || !s->in_scan || m != s->scanned || f->model != m)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0,
                        "only the model of this store's own scan, and its findings, are added");
    unsigned before = nsc_failed_allocations();
    int64_t known = 0;
    nsc_records_free(&s->records);
    if (s->jobs)
        return add_job(s, m, f, err);
    bool ok = add_scan(s, m, f, &known) && nsc_failed_allocations() == before;
    if (!ok || !run(s, known ? "ROLLBACK" : "COMMIT"))
        return db_fail(s, err);
    s->in_scan = false;
    return NCCLSCOPE_OK;
}

/* ---- notes ---- */

static int note_of(ncclscope_store *s, size_t i, const char *about, ncclscope_error *err)
{
    if (!s || !about || !s->in_scan || !s->jobs || i >= ncclscope_jobs_count(s->jobs))
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "notes are of the jobs of this store's own scan");
    return NCCLSCOPE_OK;
}

int ncclscope_store_note(ncclscope_store *s, size_t i, const char *about, const char *bytes, size_t len,
                         ncclscope_error *err)
{
    int rc = note_of(s, i, about, err);
    struct contents inputs = {0};
    struct nsc_arena a = {0};
    if (rc || !bytes)
        return rc ? rc : nsc_null(err);
    const char *digest = choose_inputs(s, i, &inputs) ? scan_digest(&inputs, &a) : NULL;
    if (!digest || !nsc_note_keep(s->db, digest, about, bytes, len))
        rc = db_fail(s, err);
    nsc_vec_free(&inputs.of);
    nsc_arena_free(&a);
    return rc;
}

int ncclscope_store_noted(ncclscope_store *s, size_t i, const char *about, const char **bytes, size_t *len,
                          ncclscope_error *err)
{
    int rc = note_of(s, i, about, err);
    struct contents inputs = {0};
    struct nsc_arena a = {0};
    if (rc || !bytes || !len)
        return rc ? rc : nsc_null(err);
    const char *digest =
        nsc_job_is_unread(s->jobs, i) && choose_inputs(s, i, &inputs) ? scan_digest(&inputs, &a) : NULL;
    nsc_free(s->note);
    *bytes = s->note = digest ? nsc_note_find(s->db, digest, about, len) : NULL;
    nsc_vec_free(&inputs.of);
    nsc_arena_free(&a);
    return s->note ? NCCLSCOPE_OK : nsc_fail(err, NCCLSCOPE_ENOTFOUND, 0, "nothing is noted of this job as it is now");
}
