/* source.h - where bytes come from: a file, a descriptor, a function, or whoever feeds them; plain, packed or UTF-16; a store, an archive. */
#ifndef NSC_SOURCE_H
#define NSC_SOURCE_H

#include "base/text.h"
#include "ncclscope.h"

struct nsc_gunzip;
struct nsc_packed;
struct nsc_source;
struct nsc_stored;

enum { NSC_APPLICATION_ID = 0x4e43434c, NSC_STORE_VERSION = 4 }; /* "NCCL": SQLite files of ours, and their schema */

struct nsc_utf16 {
    bool on, big_endian, has_byte;
    unsigned char byte; /* the first of a unit whose second has not come */
    uint32_t high;      /* the first half of a pair, or 0 */
};

/* Bytes that were given and not yet taken. */
struct nsc_fed {
    char *bytes;
    size_t cap, len, at;
    bool on, whole; /* on: this is where bytes come from; whole: no more will */
};

/* Which file it is, whatever it is called. */
struct nsc_file_id {
    uint64_t dev, ino;
};

/* Where bytes that are packed come from: nsc_source_raw, or what unpacks an outer layer. */
typedef int nsc_lower_fn(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err);

/* A row of formats.def. */
struct nsc_format {
    const char *words, *magic, *command, *method;
    size_t at, len;  /* of the magic */
    unsigned number; /* of the words "format" of columns.def; 0: none */
    bool files;
};

/* Unpacked bytes that were read to see whether they are an archive. */
struct nsc_head {
    size_t len, at;
    unsigned char bytes[512];
};

/* Who may end the reading. */
struct nsc_watch {
    int (*stop)(void *user); /* asked before each piece, and a few times a second while there is none; NULL: nobody */
    void *user;
    uint64_t most; /* bytes of text that one source may hold where it is packed; 0: any */
};

struct nsc_source {
    int fd;
    struct nsc_fed fed;
    ncclscope_read_fn *pull; /* NULL: of fd, or fed */
    void *pull_user;
    bool own_fd, at_end, truncated, stopped; /* stopped: by whoever was asked */
    bool known;                              /* what the bytes are packed in */
    struct nsc_watch watch;
    uint64_t bytes;            /* read from the outside so far */
    uint64_t given;            /* bytes of text so far */
    bool waits;                /* fd is no regular file: it may be silent for long */
    struct nsc_gunzip *gz;     /* NULL for plain input */
    struct nsc_packed *stream; /* NULL where libarchive unpacks nothing */
    struct nsc_packed *files;  /* NULL for what is no archive */
    struct nsc_source *outer;  /* NULL for what is no file of an archive */
    struct nsc_head *head;
    const struct nsc_format *format, *inside; /* of stream, of files, or NULL */
    struct nsc_stored *stored;                /* NULL for what is no store */
    int64_t scan;                             /* of a store: which; 0 is the last */
    struct nsc_utf16 utf16;
    unsigned char *peeked; /* raw bytes read while the format was found out */
    size_t peek_len, peek_at;
};

int nsc_source_open(struct nsc_source *s, const char *path, const struct nsc_watch *watch, ncclscope_error *err);
/* A source of a function, of a descriptor at the place where it is, or of what nsc_source_feed gives it. */
void nsc_source_of(struct nsc_source *s, ncclscope_read_fn *pull, void *user);
void nsc_source_of_fd(struct nsc_source *s, int fd);
void nsc_source_of_fed(struct nsc_source *s);
int nsc_source_feed(struct nsc_source *s, const void *data, size_t size); /* copied: OK, ENOMEM */
/* Up to `size` bytes of text. OK with *got > 0; END; MORE where it is fed and hungry; EUNSUPPORTED, for an archive too; EDATA when what is packed ends early or is damaged (s->truncated); EIO. */
int nsc_source_read(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err);
void nsc_source_close(struct nsc_source *s);

/* A source of the file of an archive that nsc_source_member gave; it reads from `outer`, which goes on when it is closed. */
void nsc_source_of_member(struct nsc_source *s, struct nsc_source *outer);
/* The next file of an archive (s->files), by its name there, borrowed until the next call: OK, END, EDATA, EUNSUPPORTED, EIO, ENOMEM. */
int nsc_source_member(struct nsc_source *s, const char **name, ncclscope_error *err);

/* What its bytes are packed in: a number of the words "format" of columns.def. */
unsigned nsc_source_format(const struct nsc_source *s);

/* Raw bytes, for the wrappers: OK with *got > 0, END, MORE, EIO. */
int nsc_source_raw(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err);

/* The same as UTF-8, of an input in UTF-16. */
int nsc_utf16_read(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err);
int nsc_gunzip_new(struct nsc_gunzip **out, ncclscope_error *err);
int nsc_gunzip_read(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err);
void nsc_gunzip_free(struct nsc_gunzip *gz);

/* What libarchive unpacks. EUNSUPPORTED, without a sentence: not in this build. */
int nsc_packed_new(struct nsc_packed **out, struct nsc_source *from, nsc_lower_fn *read, const struct nsc_format *f,
                   ncclscope_error *err);
int nsc_packed_read(struct nsc_packed *p, void *to, size_t size, size_t *got,
                    ncclscope_error *err); /* OK, END, or why not */
int nsc_packed_next(struct nsc_packed *p, const char **name, ncclscope_error *err);
void nsc_packed_free(struct nsc_packed *p);
const char *nsc_packed_version(void); /* "3.6.2"; NULL: it is not in this build */

/* Stores that this process has open, to write or to read, in all threads: whoever closes any descriptor of such a file drops SQLite's
 * locks on it, so none is opened, and one that was opened in the same moment is let go of: it closes when the last of them does.
 * nsc_store_opened comes before the first lock; false: no memory, or the file is not there. */
bool nsc_store_opened(const char *path, struct nsc_file_id *id);
void nsc_store_closed(const struct nsc_file_id *id);
void nsc_let_go(int fd);
bool nsc_is_open_store(const char *path);
/* Does a file begin so that is a store of ours? Its records as text again. */
bool nsc_is_store(const unsigned char *head, size_t len);
/* "runs.db:3" is the third scan of the store runs.db, where no file has that name: its file, allocated, and the number. False: it is no such name. */
bool nsc_names_stored_scan(const char *path, char **file, int64_t *scan);
/* The numbers of its scans, allocated, in their order; 0 where the file is no store, or has none. */
size_t nsc_stored_scans(const char *path, int64_t **scans);
/* `scan`: 0 is the last. */
int nsc_stored_new(struct nsc_stored **out, const char *path, int64_t scan, ncclscope_error *err);
struct nsc_bytes {
    const void *item;
    size_t len;
};
/* The model of the scan as it was saved; borrowed from the store. False: there is none. */
bool nsc_stored_model(struct nsc_stored *t, struct nsc_bytes *out);
/* What a question to a database answers, a number; -1: it cannot be asked, or has no answer. */
struct sqlite3;
int64_t nsc_one_number(struct sqlite3 *db, const char *sql);
int nsc_stored_read(struct nsc_stored *t, void *to, size_t size, size_t *got, ncclscope_error *err);
void nsc_stored_free(struct nsc_stored *t);

#endif
