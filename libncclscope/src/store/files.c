/* files.c - files by path, as they were when they were read, and notes on what was found in them. */
#include "store/files.h"

#include "build.h"

#include <stdlib.h>
#include <time.h>

const char nsc_files_tables[] =
    "CREATE TABLE IF NOT EXISTS file(path BLOB PRIMARY KEY, device INTEGER NOT NULL, inode INTEGER NOT NULL, size "
    "INTEGER NOT NULL, mtime INTEGER NOT NULL, tool TEXT NOT NULL, source INTEGER NOT NULL REFERENCES source, "
    "digest TEXT NOT NULL, speaks INTEGER NOT NULL, shared BLOB NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS note(digest TEXT NOT NULL, about TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY "
    "KEY(digest, about)) STRICT, WITHOUT ROWID;";

static bool bind_path(sqlite3_stmt *q, int i, const char *path)
{
    return sqlite3_bind_blob(q, i, path, (int)strlen(path), SQLITE_STATIC) == SQLITE_OK;
}

/* The absolute path; the file is the same from whatever folder it is named. */
static char *absolute(const char *path)
{
    return realpath(path, NULL);
}

static bool take_row(struct nsc_file *f, sqlite3_stmt *q)
{
    const unsigned char *digest = sqlite3_column_text(q, 1);
    const void *keys = sqlite3_column_blob(q, 3);
    size_t bytes = (size_t)sqlite3_column_bytes(q, 3), n = bytes / sizeof(struct nsc_key);
    if (!digest || bytes % sizeof(struct nsc_key) || strlen((const char *)digest) >= sizeof f->digest ||
        !nsc_vec_reserve_((void **)&f->room.item, &f->room.cap, n + 1, sizeof *f->room.item))
        return false;
    if (bytes)
        memcpy(f->room.item, keys, bytes);
    strcpy(f->digest, (const char *)digest);
    f->source = sqlite3_column_int64(q, 0);
    f->shared = (struct nsc_shared){f->room.item, n, sqlite3_column_int64(q, 2) != 0};
    return true;
}

bool nsc_file_find(struct nsc_file *f, sqlite3 *db, const struct nsc_input *in)
{
    static const char sql[] =
        "SELECT f.source, s.digest, f.speaks, f.shared FROM file f JOIN source s ON s.id = f.source AND s.digest = "
        "f.digest WHERE f.path = ? AND f.device = ? AND f.inode = ? AND f.size = ? AND f.mtime = ? AND f.tool = ?";
    char *path = in->regular && !in->unread ? absolute(in->path) : NULL;
    bool bound = path && (f->find || sqlite3_prepare_v2(db, sql, -1, &f->find, NULL) == SQLITE_OK) &&
                 bind_path(f->find, 1, path) && sqlite3_bind_int64(f->find, 2, (int64_t)in->device) == SQLITE_OK &&
                 sqlite3_bind_int64(f->find, 3, (int64_t)in->inode) == SQLITE_OK &&
                 sqlite3_bind_int64(f->find, 4, (int64_t)in->size) == SQLITE_OK &&
                 sqlite3_bind_int64(f->find, 5, in->mtime) == SQLITE_OK &&
                 sqlite3_bind_text(f->find, 6, NSC_BUILD, -1, SQLITE_STATIC) == SQLITE_OK;
    bool found = bound && sqlite3_step(f->find) == SQLITE_ROW && take_row(f, f->find);
    if (f->find)
        sqlite3_reset(f->find);
    free(path);
    return found;
}

bool nsc_file_keep(sqlite3 *db, const struct nsc_input *in, int64_t source, const char *digest,
                   const struct nsc_shared *shared)
{
    enum { SETTLED_S = 2 }; /* the coarsest clock of a file system in use */
    struct timespec now;
    sqlite3_stmt *q = NULL;
    if (!in->regular || clock_gettime(CLOCK_REALTIME, &now) || in->mtime / 1000000000 > (int64_t)now.tv_sec - SETTLED_S)
        return true;
    char *path = absolute(in->path);
    if (!path)
        return true;
    int rc = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO file VALUES(?,?,?,?,?,?,?,?,?,?)", -1, &q, NULL);
    bool bound =
        rc == SQLITE_OK && bind_path(q, 1, path) && sqlite3_bind_int64(q, 2, (int64_t)in->device) == SQLITE_OK &&
        sqlite3_bind_int64(q, 3, (int64_t)in->inode) == SQLITE_OK &&
        sqlite3_bind_int64(q, 4, (int64_t)in->size) == SQLITE_OK && sqlite3_bind_int64(q, 5, in->mtime) == SQLITE_OK &&
        sqlite3_bind_text(q, 6, NSC_BUILD, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_int64(q, 7, source) == SQLITE_OK &&
        sqlite3_bind_text(q, 8, digest, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_int64(q, 9, shared->speaks) == SQLITE_OK &&
        sqlite3_bind_blob64(q, 10, shared->keys ? (const void *)shared->key : "", shared->keys * sizeof *shared->key,
                            SQLITE_STATIC) == SQLITE_OK;
    bool done = bound && sqlite3_step(q) == SQLITE_DONE;
    free(path);
    sqlite3_finalize(q);
    return done;
}

void nsc_file_free(struct nsc_file *f)
{
    sqlite3_finalize(f->find);
    nsc_vec_free(&f->room);
    *f = (struct nsc_file){0};
}

char *nsc_note_find(sqlite3 *db, const char *digest, const char *about, size_t *len)
{
    sqlite3_stmt *q = NULL;
    char *bytes = NULL;
    bool found = sqlite3_prepare_v2(db, "SELECT bytes FROM note WHERE digest = ? AND about = '" NSC_BUILD " ' || ?", -1,
                                    &q, NULL) == SQLITE_OK &&
                 sqlite3_bind_text(q, 1, digest, -1, SQLITE_STATIC) == SQLITE_OK &&
                 sqlite3_bind_text(q, 2, about, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW;
    if (found) {
        const void *blob = sqlite3_column_blob(q, 0);
        *len = (size_t)sqlite3_column_bytes(q, 0);
        bytes = nsc_alloc(*len + 1);
        if (bytes && *len)
            memcpy(bytes, blob, *len);
    }
    sqlite3_finalize(q);
    return bytes;
}

bool nsc_note_keep(sqlite3 *db, const char *digest, const char *about, const char *bytes, size_t len)
{
    sqlite3_stmt *q = NULL;
    bool bound = sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO note VALUES(?, '" NSC_BUILD " ' || ?, ?)", -1, &q,
                                    NULL) == SQLITE_OK &&
                 sqlite3_bind_text(q, 1, digest, -1, SQLITE_STATIC) == SQLITE_OK &&
                 sqlite3_bind_text(q, 2, about, -1, SQLITE_STATIC) == SQLITE_OK &&
                 sqlite3_bind_blob64(q, 3, bytes, len, SQLITE_STATIC) == SQLITE_OK;
    bool done = bound && sqlite3_step(q) == SQLITE_DONE;
    sqlite3_finalize(q);
    return done;
}
