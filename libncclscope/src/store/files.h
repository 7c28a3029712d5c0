/* files.h - what a store knows of files that it has read: a scan over the same ones again need not read them. */
#ifndef NSC_FILES_H
#define NSC_FILES_H

#include "model/scan.h"

#include <sqlite3.h>

extern const char nsc_files_tables[];

/* A file as it was when it was read; what it held, in the table source, and what it shares with files of its job. */
struct nsc_file {
    int64_t source;
    char digest[48];
    struct nsc_shared shared; /* keys: of `room` */
    NSC_VEC(struct nsc_key) room;
    sqlite3_stmt *find;
};

/* Is the file there as it was when this build read it? Device, inode, size and time of its last change are. False too where SQLite cannot say. */
bool nsc_file_find(struct nsc_file *f, sqlite3 *db, const struct nsc_input *in);
/* Keeps it, unless it was changed so shortly ago that another change might show the same time. False: SQLite says why. */
bool nsc_file_keep(sqlite3 *db, const struct nsc_input *in, int64_t source, const char *digest,
                   const struct nsc_shared *shared);
void nsc_file_free(struct nsc_file *f);

/* What the caller noted of inputs with this digest, with this build; a copy is the caller's. NULL: nothing, or no memory. */
char *nsc_note_find(sqlite3 *db, const char *digest, const char *about, size_t *len);
bool nsc_note_keep(sqlite3 *db, const char *digest, const char *about, const char *bytes, size_t len);

#endif
