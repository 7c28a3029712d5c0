/* source_store.c - a store, as `--db` makes it, to the text of one of its scans again: each record on the line where it stood. */
#include "base/alloc.h"
#include "base/vec.h"
#include "read/source.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BLANK_LINES = 10000000, PATIENCE_MS = 10000 }; /* whoever closes the file last holds it for a moment */

struct nsc_stored {
    sqlite3 *db;
    sqlite3_stmt *rows, *model;
    struct nsc_file_id id;
    bool noted;
    int64_t scan;
    int64_t source, line; /* of the record before */
    int64_t blank;        /* lines skipped so far, to keep the numbers of lines */
    char *text;           /* what is not yet given, from `at` to `len` */
    size_t at, len, size;
};

struct parked {
    struct nsc_file_id id;
    int fd;
};

static struct {
    pthread_mutex_t lock;
    NSC_VEC(struct nsc_file_id) files; /* one that is open twice stands here twice */
    NSC_VEC(struct parked) parked;     /* descriptors that close with the last of these */
    _Atomic(size_t) count;             /* of files: who reads while there is none needs no lock */
} open_stores = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A child of fork must not find the lock held by a thread that it does not have. */
static void lock_stores(void)
{
    pthread_mutex_lock(&open_stores.lock);
}

static void unlock_stores(void)
{
    pthread_mutex_unlock(&open_stores.lock);
}

static void hold_at_fork(void)
{
    pthread_atfork(lock_stores, unlock_stores, unlock_stores);
}

static void take_stores(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, hold_at_fork);
    lock_stores();
}

static bool id_of(const char *path, struct nsc_file_id *id)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    *id = (struct nsc_file_id){(uint64_t)st.st_dev, (uint64_t)st.st_ino};
    return true;
}

/* Its place, with the lock held; the number of them: it is not there. */
static size_t place_of(const struct nsc_file_id *id)
{
    size_t i = 0;
    while (i < open_stores.files.len &&
           (open_stores.files.item[i].dev != id->dev || open_stores.files.item[i].ino != id->ino))
        i++;
    return i;
}

bool nsc_store_opened(const char *path, struct nsc_file_id *id)
{
    if (!id_of(path, id))
        return false;
    take_stores();
    struct nsc_file_id *x = nsc_vec_push(&open_stores.files);
    if (x)
        *x = *id;
    atomic_store(&open_stores.count, open_stores.files.len);
    unlock_stores();
    return x != NULL;
}

/* With the lock held, of a file that is not open any more. */
static void close_parked(const struct nsc_file_id *id)
{
    for (size_t i = open_stores.parked.len; i-- > 0;) {
        struct parked *p = &open_stores.parked.item[i];
        if (p->id.dev != id->dev || p->id.ino != id->ino)
            continue;
        close(p->fd);
        *p = open_stores.parked.item[--open_stores.parked.len];
    }
    if (!open_stores.parked.len)
        nsc_vec_free(&open_stores.parked);
}

void nsc_store_closed(const struct nsc_file_id *id)
{
    take_stores();
    size_t i = place_of(id);
    if (i < open_stores.files.len)
        open_stores.files.item[i] = open_stores.files.item[--open_stores.files.len];
    atomic_store(&open_stores.count, open_stores.files.len);
    if (place_of(id) == open_stores.files.len)
        close_parked(id);
    if (!open_stores.files.len)
        nsc_vec_free(&open_stores.files);
    unlock_stores();
}

void nsc_let_go(int fd)
{
    struct stat st;
    struct nsc_file_id id = {0, 0};
    if (fstat(fd, &st) == 0)
        id = (struct nsc_file_id){(uint64_t)st.st_dev, (uint64_t)st.st_ino};
    take_stores();
    bool open = place_of(&id) < open_stores.files.len;
    struct parked *p = open ? nsc_vec_push(&open_stores.parked) : NULL;
    if (p)
        *p = (struct parked){id, fd};
    else if (!open)
        close(fd);
    unlock_stores();
}

bool nsc_is_open_store(const char *path)
{
    struct nsc_file_id id;
    if (!atomic_load(&open_stores.count) || !id_of(path, &id))
        return false;
    take_stores();
    bool open = place_of(&id) < open_stores.files.len;
    unlock_stores();
    return open;
}

/* The header of SQLite's file format: the magic, and at byte 68 the id of the program whose file it is. */
bool nsc_is_store(const unsigned char *head, size_t len)
{
    static const unsigned char magic[16] = "SQLite format 3";
    if (len < 72 || memcmp(head, magic, sizeof magic) != 0)
        return false;
    uint32_t id = (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 | head[71];
    return id == NSC_APPLICATION_ID;
}

/* One that this process has open is not opened a second time. */
static bool is_store_file(const char *path)
{
    unsigned char head[72];
    if (nsc_is_open_store(path))
        return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0)
        nsc_let_go(fd);
    return got == sizeof head && nsc_is_store(head, sizeof head);
}

static int refuse(struct nsc_stored *t, ncclscope_error *err)
{
    int rc =
        nsc_fail(err, NCCLSCOPE_EDATA, 0, "cannot read the store: %s", t->db ? sqlite3_errmsg(t->db) : "out of memory");
    nsc_stored_free(t);
    return rc;
}

int64_t nsc_one_number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q = NULL;
    int64_t n = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
        n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return n;
}

/* Texts as the log has them; version 1 keeps no others. */
#define ROWS(place, contents, host, time, message, location) \
    "SELECT " host ", r.pid, r.tid, r.dev, r.level, " time ", " message ", r.line, ss." place ", " location \
    " FROM " contents " ss JOIN record r ON r.source = ss.source WHERE ss.scan = ?1" \
    " ORDER BY ss." place ", r.line, r.id"
#define RAW_ROWS(place, contents) \
    ROWS(place, contents, "coalesce(r.raw_host, r.host)", "coalesce(r.raw_time, r.time)", \
         "coalesce(r.raw_message, r.message)", "coalesce(r.raw_location, r.location)")
static const char *const rows_by_version[NSC_STORE_VERSION + 1] = {
    [1] = ROWS("position", "scan_source", "r.host", "r.time", "r.message", "r.location"),
    [2] = RAW_ROWS("position", "scan_source"),
    [3] = RAW_ROWS("\"row\"", "scan_content"),
    [4] = RAW_ROWS("\"row\"", "scan_content"),
};

static bool has_scan(sqlite3 *db, int64_t scan)
{
    sqlite3_stmt *q = NULL;
    bool has = sqlite3_prepare_v2(db, "SELECT 1 FROM scan WHERE id = ?", -1, &q, NULL) == SQLITE_OK &&
               sqlite3_bind_int64(q, 1, scan) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW;
    sqlite3_finalize(q);
    return has;
}

bool nsc_names_stored_scan(const char *path, char **file, int64_t *scan)
{
    const char *colon = strrchr(path, ':');
    struct stat st;
    if (!colon || !nsc_to_i64(nsc_text_of(colon + 1), scan) || *scan < 1 || stat(path, &st) == 0 ||
        asprintf(file, "%.*s", (int)(colon - path), path) < 0)
        return false;
    if (is_store_file(*file))
        return true;
    free(*file);
    *file = NULL;
    return false;
}

size_t nsc_stored_scans(const char *path, int64_t **scans)
{
    struct nsc_stored *t = NULL;
    sqlite3_stmt *q = NULL;
    size_t n = 0, room = 0;
    *scans = NULL;
    if (!is_store_file(path) || nsc_stored_new(&t, path, 0, NULL))
        return 0;
    if (sqlite3_prepare_v2(t->db, "SELECT id FROM scan ORDER BY id", -1, &q, NULL) == SQLITE_OK)
        while (sqlite3_step(q) == SQLITE_ROW) {
            int64_t *grown = nsc_grow(*scans, &room, n + 1, sizeof **scans);
            if (!grown)
                break;
            *scans = grown;
            grown[n++] = sqlite3_column_int64(q, 0);
        }
    sqlite3_finalize(q);
    nsc_stored_free(t);
    return n;
}

int nsc_stored_new(struct nsc_stored **out, const char *path, int64_t scan, ncclscope_error *err)
{
    struct nsc_stored *t = nsc_alloc(sizeof *t);
    *out = NULL;
    if (!t)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    t->source = -1;
    int64_t version = -1;
    if (sqlite3_open_v2(path, &t->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return refuse(t, err);
    t->noted = nsc_store_opened(path, &t->id);
    if (!t->noted) {
        nsc_stored_free(t);
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    if (sqlite3_busy_timeout(t->db, PATIENCE_MS) != SQLITE_OK ||
        sqlite3_exec(t->db, "PRAGMA trusted_schema = OFF", NULL, NULL, NULL) != SQLITE_OK ||
        (version = nsc_one_number(t->db, "PRAGMA user_version")) < 0)
        return refuse(t, err);
    if (version > NSC_STORE_VERSION) {
        nsc_stored_free(t);
        return nsc_fail(err, NCCLSCOPE_EUNSUPPORTED, 0, "the store was made by a newer version");
    }
    if (nsc_one_number(
            t->db,
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('record', 'scan', 'scan_source')") !=
        3) {
        nsc_stored_free(t);
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "the store lacks its tables");
    }
    int64_t last = nsc_one_number(t->db, "SELECT coalesce(max(id), 0) FROM scan");
    t->scan = scan ? scan : last;
    if (last < 0 ||
        sqlite3_prepare_v2(t->db, rows_by_version[version > 0 ? version : 1], -1, &t->rows, NULL) != SQLITE_OK ||
        sqlite3_bind_int64(t->rows, 1, t->scan) != SQLITE_OK)
        return refuse(t, err);
    if (scan && !has_scan(t->db, scan)) {
        nsc_stored_free(t);
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "the store has no scan of that number: its last is %lld",
                        (long long)last);
    }
    *out = t;
    return NCCLSCOPE_OK;
}

void nsc_stored_free(struct nsc_stored *t)
{
    if (!t)
        return;
    sqlite3_finalize(t->rows);
    sqlite3_finalize(t->model);
    sqlite3_close(t->db);
    if (t->noted)
        nsc_store_closed(&t->id);
    nsc_free(t->text);
    nsc_free(t);
}

bool nsc_stored_model(struct nsc_stored *t, struct nsc_bytes *out)
{
    static const char sql[] = "SELECT bytes FROM saved_model WHERE scan = ?";
    sqlite3_finalize(t->model);
    t->model = NULL;
    bool there = sqlite3_prepare_v2(t->db, sql, -1, &t->model, NULL) == SQLITE_OK &&
                 sqlite3_bind_int64(t->model, 1, t->scan) == SQLITE_OK && sqlite3_step(t->model) == SQLITE_ROW;
    if (there)
        *out = (struct nsc_bytes){sqlite3_column_blob(t->model, 0), (size_t)sqlite3_column_bytes(t->model, 0)};
    return there && out->item;
}

static bool add(struct nsc_stored *t, const char *bytes, size_t n)
{
    if (t->len + n > t->size) {
        size_t size = (t->len + n) * 2;
        char *bigger = nsc_realloc(t->text, size);
        if (!bigger)
            return false;
        t->text = bigger;
        t->size = size;
    }
    memcpy(t->text + t->len, bytes, n);
    t->len += n;
    return true;
}

static bool add_column(struct nsc_stored *t, int column)
{
    const void *bytes = sqlite3_column_text(t->rows, column);
    return !bytes || add(t, bytes, (size_t)sqlite3_column_bytes(t->rows, column));
}

/* "2026-01-02T03:04:05Z host:10:11 [0] NCCL INFO message"; warnings say where in NCCL's source they are from */
static bool add_header(struct nsc_stored *t)
{
    char ids[80];
    bool dev = sqlite3_column_type(t->rows, 3) != SQLITE_NULL;
    int n = snprintf(ids, sizeof ids, ":%lld:%lld ", (long long)sqlite3_column_int64(t->rows, 1),
                     (long long)sqlite3_column_int64(t->rows, 2));
    n += dev ? snprintf(ids + n, sizeof ids - (size_t)n, "[%lld] ", (long long)sqlite3_column_int64(t->rows, 3)) : 0;
    const char *time = (const char *)sqlite3_column_text(t->rows, 5);
    bool located = sqlite3_column_type(t->rows, 9) != SQLITE_NULL;
    bool iso = time && strlen(time) > 18 && time[10] == 'T';
    return (!iso || (add_column(t, 5) && add(t, " ", 1))) && add_column(t, 0) && add(t, ids, (size_t)n) &&
           (!located || (add_column(t, 9) && add(t, " ", 1))) && add(t, "NCCL ", 5) && add_column(t, 4) &&
           add(t, " ", 1);
}

static bool add_blank_lines(struct nsc_stored *t)
{
    int64_t source = sqlite3_column_int64(t->rows, 8), line = sqlite3_column_int64(t->rows, 7);
    line = line < 1 ? 1 : line;
    int64_t missing = source == t->source ? line - t->line - 1 : line - 1;
    bool fine = true;
    for (; fine && missing > 0 && t->blank < MOST_BLANK_LINES; missing--, t->blank++)
        fine = add(t, "\n", 1);
    t->source = source;
    t->line = line;
    return fine;
}

static bool add_row(struct nsc_stored *t)
{
    bool header = sqlite3_column_type(t->rows, 0) != SQLITE_NULL && sqlite3_column_type(t->rows, 1) != SQLITE_NULL;
    return add_blank_lines(t) && (!header || add_header(t)) && add_column(t, 6) && add(t, "\n", 1);
}

int nsc_stored_read(struct nsc_stored *t, void *to, size_t size, size_t *got, ncclscope_error *err)
{
    *got = 0;
    if (t->at == t->len) {
        t->at = t->len = 0;
        int step = sqlite3_step(t->rows);
        if (step == SQLITE_DONE)
            return NCCLSCOPE_END;
        if (step != SQLITE_ROW)
            return nsc_fail(err, NCCLSCOPE_EDATA, 0, "cannot read the store: %s", sqlite3_errmsg(t->db));
        if (!add_row(t))
            return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    *got = t->len - t->at < size ? t->len - t->at : size;
    memcpy(to, t->text + t->at, *got);
    t->at += *got;
    return NCCLSCOPE_OK;
}
