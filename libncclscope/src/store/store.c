/* store.c - records as they are read, then model and findings, into one SQLite file and one transaction. */
#include "ncclscope/store.h"

#include "model/path.h"
#include "model/scan.h"
#include "read/source.h"
#include "report/report.h"
#include "store/bind.h"
#include "store/records.h"
#include "store/schema.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct ncclscope_store {
    sqlite3 *db;
    struct nsc_records records;
    NSC_VEC(int64_t) sources; /* row in source of each input of the scan, in order; 0: none */
    NSC_VEC(struct digest { char text[48]; }) digests;
    bool in_scan;
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

static int64_t pragma(ncclscope_store *s, const char *sql)
{
    sqlite3_stmt *q = NULL;
    int64_t v = -1;
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

/* A store of version 1 gets the columns that it lacks, unless another process was faster. */
static int renew(ncclscope_store *s, ncclscope_error *err)
{
    static const char done[] = "UPDATE meta SET value = '2' WHERE name = 'schema'; PRAGMA user_version = 2";
    bool fine = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    if (fine && pragma(s, "PRAGMA user_version") < NSC_STORE_VERSION)
        fine = sqlite3_exec(s->db, nsc_schema_from_1, NULL, NULL, NULL) == SQLITE_OK &&
               sqlite3_exec(s->db, done, NULL, NULL, NULL) == SQLITE_OK;
    fine = fine && sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    return fine ? NCCLSCOPE_OK : db_fail(s, err);
}

/* A new file gets its tables; an old one must be a store that this version can read. */
static int prepare(ncclscope_store *s, ncclscope_error *err)
{
    char sql[200];
    sqlite3_busy_timeout(s->db, 10000);
    int64_t tables = pragma(s, "SELECT count(*) FROM sqlite_master");
    if (tables < 0)
        return db_fail(s, err);
    if (tables > 0 && pragma(s, "PRAGMA application_id") != NSC_APPLICATION_ID)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "is a database, but no store of ncclscope");
    if (tables > 0 && pragma(s, "PRAGMA user_version") > NSC_STORE_VERSION)
        return nsc_fail(err, NCCLSCOPE_EUNSUPPORTED, 0, "was made by a newer version of ncclscope");
    if (tables > 0)
        return pragma(s, "PRAGMA user_version") < NSC_STORE_VERSION ? renew(s, err) : NCCLSCOPE_OK;
    snprintf(sql, sizeof sql, "PRAGMA journal_mode = WAL; BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d;",
             NSC_APPLICATION_ID, NSC_STORE_VERSION);
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) || sqlite3_exec(s->db, nsc_schema_tables, NULL, NULL, NULL) ||
        sqlite3_exec(s->db, "INSERT INTO meta VALUES('schema', '2'), ('tool', 'ncclscope " NSC_VERSION "'); COMMIT",
                     NULL, NULL, NULL))
        return db_fail(s, err);
    return NCCLSCOPE_OK;
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
    *out = NULL;
    if (must_be_file(path, err))
        return NCCLSCOPE_EIO;
    ncclscope_store *s = nsc_alloc(sizeof *s);
    if (!s)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    int rc = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ? db_fail(s, err)
                                                                                             : prepare(s, err);
    if (rc) {
        ncclscope_store_close(s);
        return rc;
    }
    *out = s;
    return NCCLSCOPE_OK;
}

void ncclscope_store_close(ncclscope_store *s)
{
    if (!s)
        return;
    nsc_records_free(&s->records);
    if (s->in_scan)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(s->db);
    nsc_vec_free(&s->sources);
    nsc_vec_free(&s->digests);
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
    struct digest *d = nsc_vec_push(&s->digests);
    int64_t *row = nsc_vec_push(&s->sources);
    (void)name;
    if (!d || !row)
        return NCCLSCOPE_ENOMEM;
    if (!r) { /* it could not be opened: a name and a problem, no content */
        *row = -1;
        snprintf(d->text, sizeof d->text, "unread");
        return NCCLSCOPE_OK;
    }
    nsc_digest_print(nsc_reader_digest_of(r), d->text, sizeof d->text);
    int64_t old = 0;
    bool ok =
        find_digest(s, "SELECT id FROM source WHERE digest = ?", d->text, &old) && (old || insert_source(s, d->text));
    *row = old ? old : s->records.source;
    s->records.source += !old;
    nsc_records_reset(&s->records);
    const char *sql = old ? "ROLLBACK TO one_source; RELEASE one_source; SAVEPOINT one_source"
                          : "RELEASE one_source; SAVEPOINT one_source";
    if (ok && sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return NCCLSCOPE_OK;
    db_fail(s, &s->failure);
    return NSC_TAP_FAILED;
}

int ncclscope_store_scan(ncclscope_store *s, ncclscope_model **out, ncclscope_grammar *g, const char *const *paths,
                         size_t n, const ncclscope_scan_options *options, ncclscope_error *err)
{
    struct nsc_tap tap = {s, on_record, on_source_end};
    *out = NULL;
    s->sources.len = s->digests.len = 0;
    if (sqlite3_exec(s->db, "BEGIN IMMEDIATE; SAVEPOINT one_source", NULL, NULL, NULL))
        return db_fail(s, err);
    s->in_scan = true;
    s->records.source = pragma(s, "SELECT coalesce(max(id), 0) + 1 FROM source");
    s->records.next = s->records.source < 0 ? -1 : pragma(s, "SELECT coalesce(max(id), 0) + 1 FROM record");
    if (s->records.next < 0)
        return db_fail(s, err);
    int rc = nsc_scan(out, g, paths, n, options, &tap, err);
    if (rc == NSC_TAP_FAILED) {
        if (err)
            *err = s->failure;
        rc = s->failure.code;
    }
    return rc;
}

/* ---- model and findings ---- */

/* One row: `sql` with a parameter per letter of `types`: i int64 (below 0: NULL), n int64 as it is, d double (below 0: NULL),
 * t nsc_text (ptr NULL: NULL), s const char * (NULL: NULL). */
static bool insert(ncclscope_store *s, const char *sql, const char *types, ...)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &q, NULL))
        return false;
    va_list args;
    bool bound = true;
    va_start(args, types);
    for (int i = 0; types[i]; i++) {
        if (types[i] == 'i' || types[i] == 'n') {
            int64_t v = va_arg(args, int64_t);
            if (v >= 0 || types[i] == 'n')
                sqlite3_bind_int64(q, i + 1, v);
        } else if (types[i] == 'd') {
            double v = va_arg(args, double);
            if (v >= 0)
                sqlite3_bind_double(q, i + 1, v);
        } else if (types[i] == 't') {
            nsc_text t = va_arg(args, nsc_text);
            bound = (!t.len || nsc_bind_text(q, i + 1, t)) && bound;
        } else {
            bound = nsc_bind_text(q, i + 1, nsc_text_of(va_arg(args, const char *))) && bound;
        }
    }
    va_end(args);
    int rc = bound ? sqlite3_step(q) : SQLITE_NOMEM;
    sqlite3_finalize(q);
    return rc == SQLITE_DONE;
}

static bool add_sources(ncclscope_store *s, int64_t scan, const ncclscope_model *m)
{
    bool ok = true;
    for (size_t i = 0, k = 0; i < m->sources.len; i++) {
        const struct nsc_source_info *x = &m->sources.item[i];
        bool read = x->stats.size && k < s->sources.len;
        ok = ok && insert(s, "INSERT INTO scan_source VALUES(?,?,?,?,?,?,?,?,?,?)", "niitiiiiit", scan, (int64_t)i,
                          read ? s->sources.item[k] : -1, nsc_say(m, x->name), (int64_t)x->stats.bytes,
                          (int64_t)x->stats.lines, (int64_t)x->stats.records, (int64_t)x->stats.unknown,
                          (int64_t)x->stats.torn_lines, nsc_say(m, x->problem));
        k += read;
    }
    return ok;
}

static nsc_text comm_name(const ncclscope_model *m, uint32_t comm)
{
    return comm == NSC_NONE ? (nsc_text){NULL, 0} : nsc_say(m, m->comms.item[comm].id);
}

static bool add_comms(ncclscope_store *s, int64_t scan, const ncclscope_model *m)
{
    bool ok = true;
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        ok = ok && insert(s, "INSERT INTO proc VALUES(?,?,?,?,?,?,?,?,?,?)", "nntntititt", scan,
                          (int64_t)m->proc_order.item[i], nsc_say(m, p->host), p->pid, nsc_say(m, p->pod),
                          p->launcher_rank, nsc_say(m, p->version), p->driver ? (int64_t)p->driver : (int64_t)-1,
                          nsc_say(m, p->network), nsc_say(m, p->platform));
    }
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *c = &m->comms.item[i];
        ok = ok && insert(s, "INSERT INTO comm VALUES(?,?,?,?,?,?,?)", "ntnnits", scan, nsc_say(m, c->id), c->nranks,
                          c->seen, c->nnodes, comm_name(m, c->parent), nsc_state_name(c->state));
    }
    for (size_t i = 0; i < m->members.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[i]];
        ok = ok && insert(s, "INSERT INTO rank VALUES(?,?,?,?,?,?,?,?,?,?)", "ntnniitiid", scan, comm_name(m, r->comm),
                          r->rank, (int64_t)r->proc, r->cuda_dev, r->nvml_dev, nsc_say(m, r->bus_id), r->local_rank,
                          r->local_ranks, r->init_seconds);
    }
    return ok;
}

static bool add_links(ncclscope_store *s, int64_t scan, const ncclscope_model *m)
{
    static const char *const attributions[] = {"unknown", "ambiguous", "inferred", "stated"};
    bool ok = true;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p = l->known;
        ok = ok && insert(s, "INSERT INTO link VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", "ntnnststnssnnn", scan,
                          comm_name(m, nsc_comm_of_link(m, l)), (int64_t)l->src, (int64_t)l->dst,
                          l->direction == 1   ? "send"
                          : l->direction == 2 ? "receive"
                                              : NULL,
                          nsc_say(m, l->via), ncclscope_word_of("transport", l->family), nsc_say(m, l->network), (int64_t)l->gdrdma,
                          nsc_path_name(p.path), attributions[l->attribution], (int64_t)l->lines,
                          (int64_t)l->where.source, (int64_t)l->where.line);
    }
    for (size_t i = 0; i < m->env.len; i++) {
        const struct nsc_env *e = &m->env.item[i];
        nsc_text value = nsc_say(m, e->value);
        ok = ok && insert(s, "INSERT INTO env VALUES(?,?,?,?,?,?)", "nntsnn", scan, (int64_t)e->proc,
                          nsc_say(m, e->name), value.ptr, (int64_t)e->where.source, (int64_t)e->where.line);
    }
    for (size_t i = 0; i < m->warnings.len; i++) {
        const struct nsc_warning *w = &m->warnings.item[i];
        ok = ok && insert(s, "INSERT INTO warning VALUES(?,?,?,?,?)", "nsnnn", scan, nsc_say(m, w->shape).ptr,
                          (int64_t)w->lines, (int64_t)w->where.source, (int64_t)w->where.line);
    }
    return ok;
}

static bool add_findings(ncclscope_store *s, int64_t scan, const ncclscope_findings *f)
{
    bool ok = true;
    for (size_t i = 0; i < f->list.len; i++) {
        const struct nsc_finding *x = &f->list.item[i];
        ok = ok && insert(s, "INSERT INTO finding VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", "nnsssssssssn", scan, (int64_t)i,
                          x->rule->id, nsc_severity_name(x->severity), x->cls, x->confidence,
                          nsc_words_of_id(x->caused_by), x->title, x->cause, x->fix, x->cost, (int64_t)x->count);
        for (size_t k = 0; k < x->evidences; k++)
            ok = ok && insert(s, "INSERT INTO evidence VALUES(?,?,?,?,?)", "nnnnt", scan, (int64_t)i,
                              (int64_t)x->evidence[k].source, (int64_t)x->evidence[k].line, x->evidence[k].text);
    }
    return ok;
}

static int by_digest(const void *a, const void *b)
{
    return strcmp(((const struct digest *)a)->text, ((const struct digest *)b)->text);
}

/* The digest of a scan: those of its sources, whatever their order. */
static nsc_str scan_digest(ncclscope_store *s, struct nsc_intern *strings)
{
    struct nsc_arena a = {0};
    size_t n = 0;
    char *all = nsc_arena_alloc(&a, s->digests.len * sizeof(struct digest) + 1);
    if (all && s->digests.len)
        qsort(s->digests.item, s->digests.len, sizeof(struct digest), by_digest);
    for (size_t i = 0; all && i < s->digests.len; i++)
        n += (size_t)sprintf(all + n, "%s%s", n ? " " : "", s->digests.item[i].text);
    nsc_str id = all ? nsc_intern(strings, (nsc_text){all, n}) : 0;
    nsc_arena_free(&a);
    return id;
}

int ncclscope_store_add(ncclscope_store *s, const ncclscope_model *m, const ncclscope_findings *f, ncclscope_error *err)
{
    unsigned before = nsc_failed_allocations();
    struct nsc_intern strings = {0};
    int64_t known = 0;
    const char *digest = nsc_interned(&strings, scan_digest(s, &strings)).ptr;
    bool ok = digest && find_digest(s, "SELECT 1 FROM scan WHERE digest = ?", digest, &known);
    nsc_records_free(&s->records);
    if (ok && !known) {
        int64_t scan = pragma(s, "SELECT coalesce(max(id), 0) + 1 FROM scan");
        ok = scan > 0 &&
             insert(s, "INSERT INTO scan VALUES(?,?,?,?)", "nsss", scan, digest, "ncclscope " NSC_VERSION,
                    nsc_verdict_name(f->verdict)) &&
             add_sources(s, scan, m) && add_comms(s, scan, m) && add_links(s, scan, m) && add_findings(s, scan, f) &&
             sqlite3_exec(s->db, nsc_schema_indexes, NULL, NULL, NULL) == SQLITE_OK;
    }
    nsc_intern_free(&strings);
    ok = ok && nsc_failed_allocations() == before;
    if (!ok || sqlite3_exec(s->db, known ? "ROLLBACK" : "COMMIT", NULL, NULL, NULL))
        return db_fail(s, err);
    s->in_scan = false;
    return NCCLSCOPE_OK;
}
