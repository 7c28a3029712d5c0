/* merge.c - what another store holds into this one: texts that it has not with their records, then scans that it has not with all that
 * belongs to them. The other is only read, and trusted as little as a log is. */
#include "ncclscope/store.h"

#include "base/map.h"
#include "base/vec.h"
#include "read/source.h"
#include "store/schema.h"
#include "store/tables.h"

#include <sqlite3.h>

/* A row of the other store and the number that it has here. Of a text: its records, which lie one behind the other. */
struct moved {
    int64_t old, new, first, last, shift;
    bool known; /* it was here before */
};

struct merging {
    sqlite3 *from, *to;
    struct moves {
        NSC_VEC(struct moved) of;
    } sources, scans;
    struct nsc_map source_by; /* number there to index of sources */
};

/* A column that gets another value than it has there: this one, or its own and so much more. */
struct change {
    const char *column;
    int64_t value;
    bool adds;
};

/* All rows of one table, for one range of its key after the other. */
struct copying {
    sqlite3_stmt *select, *insert;
    int columns;
};

static bool run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool prepare(sqlite3 *db, sqlite3_stmt **q, sqlite3_str *sql)
{
    char *text = sqlite3_str_finish(sql);
    bool fine = text && sqlite3_prepare_v2(db, text, -1, q, NULL) == SQLITE_OK;
    sqlite3_free(text);
    return fine;
}

static void end_copying(struct copying *c)
{
    sqlite3_finalize(c->select);
    sqlite3_finalize(c->insert);
}

static bool begin_copying(struct merging *g, struct copying *c, const char *table, const char *key)
{
    sqlite3_str *sql = sqlite3_str_new(g->from);
    sqlite3_str_appendf(sql, "SELECT * FROM \"%w\" WHERE \"%w\" BETWEEN ? AND ? ORDER BY \"%w\"", table, key, key);
    *c = (struct copying){0};
    if (!prepare(g->from, &c->select, sql))
        return false;
    c->columns = sqlite3_column_count(c->select);
    sql = sqlite3_str_new(g->to);
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\"(", table);
    for (int i = 0; i < c->columns; i++)
        sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : "", sqlite3_column_name(c->select, i));
    sqlite3_str_appendall(sql, ") VALUES(");
    for (int i = 0; i < c->columns; i++)
        sqlite3_str_appendall(sql, i ? ", ?" : "?");
    sqlite3_str_appendall(sql, ")");
    return prepare(g->to, &c->insert, sql);
}

static bool put_column(const struct copying *c, int i, const struct change *changes, size_t n)
{
    const char *name = sqlite3_column_name(c->select, i);
    for (size_t k = 0; name && k < n; k++)
        if (!strcmp(changes[k].column, name)) {
            int64_t value = changes[k].value + (changes[k].adds ? sqlite3_column_int64(c->select, i) : 0);
            return sqlite3_bind_int64(c->insert, i + 1, value) == SQLITE_OK;
        }
    return sqlite3_bind_value(c->insert, i + 1, sqlite3_column_value(c->select, i)) == SQLITE_OK;
}

static bool copy(const struct copying *c, int64_t low, int64_t high, const struct change *changes, size_t n)
{
    int rc = SQLITE_ERROR;
    bool fine =
        sqlite3_bind_int64(c->select, 1, low) == SQLITE_OK && sqlite3_bind_int64(c->select, 2, high) == SQLITE_OK;
    while (fine && (rc = sqlite3_step(c->select)) == SQLITE_ROW) {
        for (int i = 0; i < c->columns && fine; i++)
            fine = put_column(c, i, changes, n);
        fine = fine && sqlite3_step(c->insert) == SQLITE_DONE;
        fine = sqlite3_reset(c->insert) == SQLITE_OK && fine;
    }
    return fine && rc == SQLITE_DONE && sqlite3_reset(c->select) == SQLITE_OK;
}

/* The number of the row under this digest; 0: there is none; -1: it could not be asked. */
static int64_t find(sqlite3_stmt *q, const char *digest)
{
    int64_t id = -1;
    if (sqlite3_bind_text(q, 1, digest, -1, SQLITE_TRANSIENT) == SQLITE_OK) {
        int rc = sqlite3_step(q);
        id = rc == SQLITE_ROW ? sqlite3_column_int64(q, 0) : rc == SQLITE_DONE ? 0 : -1;
    }
    sqlite3_reset(q);
    return id;
}

/* Which rows of "source" or "scan" there are new here, by their digests, and under which numbers. `list`: old number, digest, first and last record. */
static bool find_new(struct merging *g, struct moves *moves, const char *list, const char *known, const char *last)
{
    sqlite3_stmt *there = NULL, *here = NULL;
    int64_t next = nsc_one_number(g->to, last);
    int rc = SQLITE_ERROR;
    bool fine = next > 0 && sqlite3_prepare_v2(g->from, list, -1, &there, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(g->to, known, -1, &here, NULL) == SQLITE_OK;
    while (fine && (rc = sqlite3_step(there)) == SQLITE_ROW) {
        const char *digest = (const char *)sqlite3_column_text(there, 1);
        int64_t id = digest ? find(here, digest) : -1;
        struct moved *x = id < 0 ? NULL : nsc_vec_push(&moves->of);
        fine = x != NULL;
        if (fine)
            *x = (struct moved){.old = sqlite3_column_int64(there, 0),
                                .new = id ? id : next++,
                                .first = sqlite3_column_int64(there, 2),
                                .last = sqlite3_column_int64(there, 3),
                                .known = id > 0};
    }
    sqlite3_finalize(there);
    sqlite3_finalize(here);
    return fine && rc == SQLITE_DONE;
}

/* ---- texts and their records ---- */

static bool make_table(struct merging *g, const char *name, const struct copying *like)
{
    sqlite3_str *sql = sqlite3_str_new(g->to);
    sqlite3_str_appendf(sql, "CREATE TABLE IF NOT EXISTS \"%w\"(record INTEGER PRIMARY KEY REFERENCES record", name);
    for (int i = 1; i < like->columns; i++) {
        const char *type = sqlite3_column_decltype(like->select, i);
        bool is_number = type && (!strcmp(type, "INTEGER") || !strcmp(type, "REAL"));
        sqlite3_str_appendf(sql, ", \"%w\" %s", sqlite3_column_name(like->select, i), is_number ? type : "TEXT");
    }
    sqlite3_str_appendall(sql, ") STRICT");
    char *text = sqlite3_str_finish(sql);
    bool made = text && run(g->to, text);
    sqlite3_free(text);
    return made;
}

static bool copy_records(struct merging *g, const char *table, const char *key)
{
    struct copying c;
    bool is_record = !strcmp(table, "record"), fine = begin_copying(g, &c, table, key);
    if (!fine && !is_record && c.select) { /* a kind that this store has not met */
        end_copying(&c);
        fine = begin_copying(g, &c, table, key) || (c.select && make_table(g, table, &c));
        end_copying(&c);
        fine = fine && begin_copying(g, &c, table, key);
    }
    for (size_t i = 0; i < g->sources.of.len && fine; i++) {
        const struct moved *x = &g->sources.of.item[i];
        const struct change changes[] = {{is_record ? "id" : "record", x->shift, true}, {"source", x->new, false}};
        if (!x->known && x->last >= x->first)
            fine = copy(&c, x->first, x->last, changes, is_record ? 2 : 1);
    }
    end_copying(&c);
    return fine;
}

/* Of each kind of record there its table. */
static bool copy_kinds(struct merging *g)
{
    static const char sql[] =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND (name GLOB 'm_*' OR name GLOB 'x_*') ORDER BY name";
    sqlite3_stmt *q = NULL;
    int rc = SQLITE_ERROR;
    bool fine = sqlite3_prepare_v2(g->from, sql, -1, &q, NULL) == SQLITE_OK;
    while (fine && (rc = sqlite3_step(q)) == SQLITE_ROW)
        fine = copy_records(g, (const char *)sqlite3_column_text(q, 0), "record");
    sqlite3_finalize(q);
    return fine && rc == SQLITE_DONE;
}

static bool copy_sources(struct merging *g)
{
    struct copying c;
    int64_t next = nsc_one_number(g->to, "SELECT coalesce(max(id), 0) + 1 FROM record");
    bool fine = begin_copying(g, &c, "source", "id") && next > 0;
    for (size_t i = 0; i < g->sources.of.len && fine; i++) {
        struct moved *x = &g->sources.of.item[i];
        fine = nsc_map_put(&g->source_by, (struct nsc_key){(uint64_t)x->old, 0, 0}, (uint32_t)i) == 0;
        if (!fine || x->known)
            continue;
        x->shift = next - x->first;
        next += x->last >= x->first ? x->last - x->first + 1 : 0;
        fine = copy(&c, x->old, x->old, &(struct change){"id", x->new, false}, 1);
    }
    end_copying(&c);
    return fine && copy_records(g, "record", "id") && copy_kinds(g);
}

/* ---- scans ---- */

static bool copy_of_scans(struct merging *g, const char *table, const char *key)
{
    struct copying c;
    bool fine = begin_copying(g, &c, table, key);
    for (size_t i = 0; i < g->scans.of.len && fine; i++) {
        const struct moved *x = &g->scans.of.item[i];
        if (!x->known)
            fine = copy(&c, x->old, x->old, &(struct change){key, x->new, false}, 1);
    }
    end_copying(&c);
    return fine;
}

/* Which texts the inputs of a scan are: they have other numbers here. */
static bool copy_contents(struct merging *g)
{
    sqlite3_stmt *there = NULL, *here = NULL;
    bool fine = sqlite3_prepare_v2(g->from, "SELECT \"row\", source FROM scan_content WHERE scan = ?", -1, &there,
                                   NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(g->to, "INSERT INTO scan_content VALUES(?, ?, ?)", -1, &here, NULL) == SQLITE_OK;
    for (size_t i = 0; i < g->scans.of.len && fine; i++) {
        const struct moved *x = &g->scans.of.item[i];
        int rc = SQLITE_DONE;
        fine = sqlite3_bind_int64(there, 1, x->old) == SQLITE_OK;
        while (fine && !x->known && (rc = sqlite3_step(there)) == SQLITE_ROW) {
            uint32_t k = nsc_map_get(&g->source_by, (struct nsc_key){(uint64_t)sqlite3_column_int64(there, 1), 0, 0});
            fine = k != NSC_NONE && sqlite3_bind_int64(here, 1, x->new) == SQLITE_OK &&
                   sqlite3_bind_int64(here, 2, sqlite3_column_int64(there, 0)) == SQLITE_OK &&
                   sqlite3_bind_int64(here, 3, g->sources.of.item[k].new) == SQLITE_OK &&
                   sqlite3_step(here) == SQLITE_DONE;
            fine = sqlite3_reset(here) == SQLITE_OK && fine;
        }
        fine = fine && rc == SQLITE_DONE && sqlite3_reset(there) == SQLITE_OK;
    }
    sqlite3_finalize(there);
    sqlite3_finalize(here);
    return fine;
}

static bool copy_scans(struct merging *g)
{
    bool fine = copy_of_scans(g, "scan", "id") && copy_contents(g) && copy_of_scans(g, "saved_model", "scan");
    for (int i = 0; i < NCCLSCOPE_TABLES && fine; i++)
        fine = copy_of_scans(g, nsc_table_name(i), "scan");
    return fine;
}

/* Are the records of each text one behind the other, and of no other text? */
static bool is_in_order(sqlite3 *from)
{
    return nsc_one_number(
               from,
               "SELECT NOT EXISTS(SELECT 1 FROM record GROUP BY source HAVING max(id) - min(id) + 1 <> count(*))") == 1;
}

static bool merge(struct merging *g)
{
    return run(g->to, "BEGIN IMMEDIATE") &&
           find_new(g, &g->sources,
                    "SELECT s.id, s.digest, coalesce(min(r.id), 1), coalesce(max(r.id), 0) FROM source s LEFT JOIN "
                    "record r ON r.source = s.id "
                    "GROUP BY s.id ORDER BY s.id",
                    "SELECT id FROM source WHERE digest = ?", "SELECT coalesce(max(id), 0) + 1 FROM source") &&
           find_new(g, &g->scans, "SELECT id, digest, 0, 0 FROM scan ORDER BY id",
                    "SELECT id FROM scan WHERE digest = ?", "SELECT coalesce(max(id), 0) + 1 FROM scan") &&
           copy_sources(g) && copy_scans(g) && run(g->to, nsc_schema_indexes) && run(g->to, "COMMIT");
}

static int fail(const struct merging *g, ncclscope_error *err)
{
    int here = sqlite3_errcode(g->to), there = sqlite3_errcode(g->from);
    bool fine_here = here == SQLITE_OK || here == SQLITE_DONE || here == SQLITE_ROW,
         fine_there = there == SQLITE_OK || there == SQLITE_DONE || there == SQLITE_ROW;
    if (fine_here && fine_there)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "is damaged: what its rows name is not there");
    int code = fine_here ? there : here;
    return nsc_fail(err,
                    code == SQLITE_NOMEM ? NCCLSCOPE_ENOMEM
                    : fine_here          ? NCCLSCOPE_EDATA
                                         : NCCLSCOPE_EIO,
                    0, "%s", sqlite3_errmsg(fine_here ? g->from : g->to));
}

int ncclscope_store_merge(ncclscope_store *s, const char *path, ncclscope_error *err)
{
    struct merging g = {0};
    if (!s || !path || !(g.to = nsc_store_at_rest(s)))
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "a store takes in another while it does not scan");
    unsigned before = nsc_failed_allocations();
    bool denied = false;
    int rc = nsc_store_to_read(&g.from, path, &denied, err);
    int64_t version = rc ? 0 : nsc_one_number(g.from, "SELECT value FROM meta WHERE name = 'schema'");
    if (!rc && version != NSC_STORE_VERSION)
        rc = nsc_fail(err, NCCLSCOPE_EUNSUPPORTED, 0,
                      version < NSC_STORE_VERSION
                          ? "is of an older version: add a scan to it first (--db), which brings it up to date"
                          : "was made by a newer version of ncclscope");
    if (!rc && !is_in_order(g.from))
        rc = nsc_fail(err, NCCLSCOPE_EDATA, 0, "is damaged: records of two texts lie among each other");
    if (!rc && !merge(&g)) {
        rc = nsc_failed_allocations() != before ? nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory") : fail(&g, err);
        run(g.to, "ROLLBACK");
    }
    nsc_vec_free(&g.sources.of);
    nsc_vec_free(&g.scans.of);
    nsc_map_free(&g.source_by);
    sqlite3_close(g.from);
    return rc;
}
