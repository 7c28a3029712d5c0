/* ncclscope.h - read the debug log of NCCL (NCCL_DEBUG=INFO): bytes in, typed records out.
 *
 *   ncclscope_grammar_new   the known messages, compiled on first use; share one between any number of readers
 *   ncclscope_reader_open   a file, or "-" for standard input; gzip is seen by its content
 *   ncclscope_reader_next   one record after the other until NCCLSCOPE_END
 *
 * or push bytes from anywhere: ncclscope_reader_new, then feed / next until NCCLSCOPE_MORE, and at the end finish.
 * The records never depend on where the chunks end.
 *
 * What the records add up to - hosts, communicators, links, verdict - is in ncclscope/model.h; keeping it is in ncclscope/store.h.
 *
 * Errors: 0 is fine, positive codes are outcomes to handle, negative ones are failures; after a failure an object may only be
 * freed unless its comment says otherwise. Wrong data is never a failure: any bytes are a valid log.
 * Threads: one object, one thread at a time; a grammar is immutable and may be shared. Nothing returned is passed to free().
 */
#ifndef NCCLSCOPE_H
#define NCCLSCOPE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NCCLSCOPE_API __attribute__((visibility("default")))
#else
#define NCCLSCOPE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that runs, as "0.1.0". A constant; any thread. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_version(void);

/* The same with the versions of what it stands on: "ncclscope 0.1.0, PCRE2 10.42 (JIT x86 64bit), SQLite 3.40.1, zlib 1.2.13,
 * jansson 2.14". Written to `out` (always terminated, cut at `size` bytes); returns `out`. Any thread. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_version_details(char *out, size_t size);

enum ncclscope_code {
    NCCLSCOPE_OK = 0,
    NCCLSCOPE_END = 1,           /* no more records */
    NCCLSCOPE_MORE = 2,          /* feed more bytes, or finish */
    NCCLSCOPE_ENOMEM = -1,       /* out of memory */
    NCCLSCOPE_EINVAL = -2,       /* an argument that cannot be meant */
    NCCLSCOPE_EIO = -3,          /* the system refused: error.system is errno */
    NCCLSCOPE_EDATA = -4,        /* a container (gzip, database) is damaged */
    NCCLSCOPE_EPATTERN = -5,     /* a template that cannot be compiled */
    NCCLSCOPE_ENOTFOUND = -6,    /* no such field, name or thing */
    NCCLSCOPE_EUNSUPPORTED = -7, /* not in this build, or made by a newer version */
    NCCLSCOPE_EABI = -8,         /* the caller was compiled against a newer header */
    NCCLSCOPE_ESTOPPED = -9      /* the caller wanted no more: what was done until then is there */
};

/* What went wrong, for a reader. The caller owns it; every function takes NULL if it is not wanted. */
typedef struct ncclscope_error {
    int code;      /* enum ncclscope_code */
    int system;    /* errno, or 0 */
    uint64_t line; /* line of the input or pattern file, or 0 */
    char text[240];
} ncclscope_error;

/* A borrowed run of bytes, not terminated. */
typedef struct ncclscope_text {
    const char *ptr;
    size_t len;
} ncclscope_text;

/* Takes what the library writes (reports, facts); not 0 stops it, and the function that writes returns NCCLSCOPE_EIO. */
typedef int ncclscope_write_fn(void *user, const char *bytes, size_t size);

enum ncclscope_kinds {
    NCCLSCOPE_KIND_UNKNOWN = 0, /* no table knows this message */
#define NCCLSCOPE_MSG(number, NAME, template_, example) NCCLSCOPE_KIND_##NAME = number,
#define NCCLSCOPE_ALSO(NAME, template_, example)
#include "ncclscope/messages.def"
#undef NCCLSCOPE_MSG
#undef NCCLSCOPE_ALSO
    /* lines of a job log that are not NCCL's own */
    NCCLSCOPE_KIND_TEST_ROW = 900,    /* a row of an nccl-tests result table */
    NCCLSCOPE_KIND_TEST_NAME = 901,   /* "# Collective test starting: all_reduce_perf" */
    NCCLSCOPE_KIND_MATRIX_HEAD = 902, /* first line of `nvidia-smi topo -m` */
    NCCLSCOPE_KIND_MATRIX_ROW = 903,  /* one GPU or NIC of it */
    NCCLSCOPE_KIND_RECOGNISED =
        904,                        /* a text that NCCL is known to print, of which nothing is drawn; it has a family */
    NCCLSCOPE_KIND_TEST_JSON = 905, /* a line of what nccl-tests writes with -J */
    NCCLSCOPE_KIND_RAS_JSON = 906,  /* a line of what the ncclras client writes with -f json */
#define NCCLSCOPE_OTHER(number, NAME, template_, example) NCCLSCOPE_KIND_##NAME = number,
#include "ncclscope/other.def"
#undef NCCLSCOPE_OTHER
};
/* One of them, or from 1000 on that of a row that was added: no enum, which in C++ could not hold it. */
typedef int32_t ncclscope_kind;

enum ncclscope_fields {
    NCCLSCOPE_FIELD_NONE = 0,
#define NCCLSCOPE_FIELD(number, NAME, name, type, unit, words) NCCLSCOPE_FIELD_##NAME = number,
#include "ncclscope/fields.def"
#undef NCCLSCOPE_FIELD
};
/* One of them, or from 1000 on a field that an added row brought. */
typedef int32_t ncclscope_field;

enum ncclscope_level {
    NCCLSCOPE_LEVEL_INFO = 1,
    NCCLSCOPE_LEVEL_WARN = 2,
    NCCLSCOPE_LEVEL_TRACE = 3,
    NCCLSCOPE_LEVEL_CALL = 4,
    NCCLSCOPE_LEVEL_VERSION = 5, /* "NCCL version 2.18.3+cuda12.2" printed without a header */
    NCCLSCOPE_LEVEL_OTHER = 6,   /* not NCCL's: a row of a benchmark's table, of a topology matrix */
    NCCLSCOPE_LEVEL_ATTN = 7,    /* from 2.32.3 on: between WARN and INFO, with the place of a WARN */
    NCCLSCOPE_LEVEL_DIAG =
        8 /* from 2.31.2 on: what NCCL finds of the machine when it is asked to; no thread prints it, but a process */
};

enum ncclscope_flag {
    NCCLSCOPE_FLAG_TORN = 1,   /* another writer cut into this record */
    NCCLSCOPE_FLAG_CUT = 2,    /* its end is not here: the line is longer than 64 KiB, and goes on in the next piece */
    NCCLSCOPE_FLAG_HEADER = 4, /* the header is whole: host, pid, tid are known */
    NCCLSCOPE_FLAG_JOINED = 8, /* put together from a torn record and its rest on a later line */
    NCCLSCOPE_FLAG_STRIPPED =
        16, /* somebody took the header away, or a part of it; no other writer did. Host and pid may be known */
    NCCLSCOPE_FLAG_QUOTED = 32 /* words of NCCL that another program's error message holds; its level is OTHER */
};

typedef struct ncclscope_grammar ncclscope_grammar;
typedef struct ncclscope_reader ncclscope_reader;
typedef struct ncclscope_record ncclscope_record;

/* The built-in rows. *out is the caller's: ncclscope_grammar_free, after the last reader that uses it.
 * NCCLSCOPE_OK or NCCLSCOPE_ENOMEM. Rows are compiled when a line first needs them, safely from several threads. Since 0.1. */
NCCLSCOPE_API int ncclscope_grammar_new(ncclscope_grammar **out, ncclscope_error *err);
/* A row of your own, for lines that a private plugin prints through NCCL's logger: `name` is a-z, 0-9 and _; `template_` is in the
 * language of messages.def, where a field is one of fields.def or new: {lanes:u}. It takes records that no built-in row takes, and
 * gives them a kind of its own from 1000 on. Both are copied. Before the first reader of `g` is made.
 * NCCLSCOPE_OK; NCCLSCOPE_EPATTERN, NCCLSCOPE_EINVAL with a sentence, nothing was added; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_grammar_add(ncclscope_grammar *g, const char *name, const char *template_,
                                        ncclscope_error *err);
/* All rows of a file: "name = template" on a line, "# example: TEXT" below it is held against it, other lines with # are comments.
 * As above, with err->line; NCCLSCOPE_EIO if it cannot be read. Rows above the wrong one are added. Since 0.1. */
NCCLSCOPE_API int ncclscope_grammar_add_file(ncclscope_grammar *g, const char *path, ncclscope_error *err);
/* Compile all rows now, not when a line first needs one: some 50 ms, and a grammar that takes no lock from then on. A process that
 * forks while a thread reads, and reads in the child with the same grammar, calls this before; also one whose first line must not wait.
 * Once no rows are added any more. NCCLSCOPE_OK or NCCLSCOPE_ENOMEM; EINVAL for NULL. Any thread. Since 0.1. */
NCCLSCOPE_API int ncclscope_grammar_prepare(ncclscope_grammar *g, ncclscope_error *err);
/* Which rows of your own took too long for some lines, and were given up there, as an expression does that backtracks without end: the
 * name of the i-th, borrowed from `g`, and for how many lines; NULL behind the last. After the readers have ended. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_grammar_slow(const ncclscope_grammar *g, size_t i, uint64_t *lines);
/* NULL is fine, as for every free. */
NCCLSCOPE_API void ncclscope_grammar_free(ncclscope_grammar *g);

/* Name of a kind ("CONNECT") or NULL; of a field ("src") or NULL. Constants; any thread. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_kind_name(ncclscope_kind kind);
NCCLSCOPE_API const char *ncclscope_field_name(ncclscope_field field);

/* Open `path` ("-" is standard input) for reading; gzip, also of several members, is unpacked. `g` must outlive the reader.
 * NCCLSCOPE_OK; NCCLSCOPE_EIO if it cannot be opened; NCCLSCOPE_EUNSUPPORTED for what is packed otherwise (zstd, xz, zip ...), said
 * in `err` with what unpacks it; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_open(ncclscope_reader **out, ncclscope_grammar *g, const char *path,
                                        ncclscope_error *err);
/* Gives bytes: up to `size` of them to `to`. Returns how many, 0 at the end, -1 if it failed. */
typedef ptrdiff_t ncclscope_read_fn(void *user, void *to, size_t size);
/* As ncclscope_reader_open, of what a function gives (a socket, a decompressor, a piece of memory), or of an open descriptor from the
 * place where it stands to its end; the descriptor stays the caller's and open. What the bytes are packed in shows with the first: the
 * first ncclscope_reader_next may return NCCLSCOPE_EUNSUPPORTED. NCCLSCOPE_OK; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_of(ncclscope_reader **out, ncclscope_grammar *g, ncclscope_read_fn *read, void *user,
                                      ncclscope_error *err);
NCCLSCOPE_API int ncclscope_reader_of_fd(ncclscope_reader **out, ncclscope_grammar *g, int fd, ncclscope_error *err);
/* A reader that is fed by hand. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_new(ncclscope_reader **out, ncclscope_grammar *g, ncclscope_error *err);
NCCLSCOPE_API void ncclscope_reader_free(ncclscope_reader *r);

/* Give a reader from ncclscope_reader_new more bytes: any number, cut anywhere; they are copied. gzip and UTF-16 are taken as they are.
 * Call ncclscope_reader_next until NCCLSCOPE_MORE between feeds to keep memory small.
 * NCCLSCOPE_OK; NCCLSCOPE_ENOMEM; NCCLSCOPE_EINVAL behind ncclscope_reader_finish, or for a reader that is not fed. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_feed(ncclscope_reader *r, const void *data, size_t size);
/* No more bytes will come; the last line needs no newline. Since 0.1. */
NCCLSCOPE_API void ncclscope_reader_finish(ncclscope_reader *r);
/* Nothing has come for a while: a line that waits for what may belong to it, as a terminal wraps lines, is given out by the calls of
 * ncclscope_reader_next that follow. In a hang it can be the one that matters. If its rest comes after all it stands for itself.
 * A line without its newline still waits for it. Since 0.1. */
NCCLSCOPE_API void ncclscope_reader_flush(ncclscope_reader *r);

/* The next record. *out is borrowed until the next call on this reader.
 * NCCLSCOPE_OK; NCCLSCOPE_END; NCCLSCOPE_MORE (fed readers only); NCCLSCOPE_EUNSUPPORTED once for what is packed in a way that is not
 * read; NCCLSCOPE_EDATA once for a truncated or damaged gzip, after
 * all records before the damage were returned (the next call returns NCCLSCOPE_END); NCCLSCOPE_EIO; NCCLSCOPE_ENOMEM.
 * Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_next(ncclscope_reader *r, const ncclscope_record **out, ncclscope_error *err);

/* What a reader has seen so far. Fields are only ever added at the end; set size to sizeof(ncclscope_stats) before the call. */
typedef struct ncclscope_stats {
    uint32_t size;
    uint32_t gzip;          /* 1 if the input was gzip */
    uint64_t bytes;         /* of the input as given, compressed if it was */
    uint64_t lines;         /* physical lines of the text */
    uint64_t records;       /* NCCL records: markers, and version lines without a header */
    uint64_t unknown;       /* whole records that no table knows */
    uint64_t warnings;      /* records at level WARN */
    uint64_t torn_lines;    /* physical lines that another writer cut into */
    uint64_t cut_lines;     /* lines longer than 64 KiB without a place to part them: read in pieces, cut anywhere */
    uint32_t truncated;     /* 1 if the gzip stream ended early or was damaged */
    uint32_t binary;        /* 1 if more than a quarter of the lines hold NUL bytes: probably no log at all */
    uint64_t first_torn[4]; /* line numbers of the first torn lines, 0 for none */
    uint64_t recognised;    /* records whose text is known but has no meaning of its own */
    uint64_t unended;       /* 1 if the last line has no newline: the input may be cut there, or still grow */
    uint64_t stripped;      /* of torn_lines: those that lack but their header, which somebody took away */
} ncclscope_stats;
/* NCCLSCOPE_OK, or NCCLSCOPE_EABI if out->size is that of a newer header with fields set there. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_stats(const ncclscope_reader *r, ncclscope_stats *out);

/* Getters of a record. Texts are borrowed until the next call of ncclscope_reader_next on its reader; an absent text has
 * len 0 and ptr NULL; an absent number is -1. Since 0.1. */
NCCLSCOPE_API ncclscope_kind ncclscope_record_kind(const ncclscope_record *rec);
/* Its name: "CONNECT", or the name of a row that was added. A constant, or as old as the grammar. */
NCCLSCOPE_API const char *ncclscope_record_kind_name(const ncclscope_record *rec);
NCCLSCOPE_API int ncclscope_record_level(const ncclscope_record *rec);     /* enum ncclscope_level */
NCCLSCOPE_API int ncclscope_record_flags(const ncclscope_record *rec);     /* enum ncclscope_flag, or-ed */
NCCLSCOPE_API uint64_t ncclscope_record_line(const ncclscope_record *rec); /* from 1, in the decompressed text */
NCCLSCOPE_API uint64_t
ncclscope_record_offset(const ncclscope_record *rec); /* of its line, in the decompressed text, bytes */
NCCLSCOPE_API ncclscope_text ncclscope_record_host(const ncclscope_record *rec);
NCCLSCOPE_API int64_t ncclscope_record_pid(const ncclscope_record *rec);
NCCLSCOPE_API int64_t ncclscope_record_tid(const ncclscope_record *rec);
NCCLSCOPE_API int64_t
ncclscope_record_dev(const ncclscope_record *rec); /* CUDA ordinal of the calling thread, not a rank */
NCCLSCOPE_API ncclscope_text
ncclscope_record_message(const ncclscope_record *rec); /* behind the level, blanks at the end cut */
NCCLSCOPE_API ncclscope_text
ncclscope_record_family(const ncclscope_record *rec); /* of a RECOGNISED record: the part of NCCL that speaks, "ras" */
NCCLSCOPE_API ncclscope_text ncclscope_record_location(const ncclscope_record *rec); /* of a WARN: "init.cc:421" */
NCCLSCOPE_API ncclscope_text
ncclscope_record_physical(const ncclscope_record *rec);                         /* the whole line, wrapping removed */
NCCLSCOPE_API ncclscope_text ncclscope_record_pod(const ncclscope_record *rec); /* from the launcher's prefix */
NCCLSCOPE_API ncclscope_text ncclscope_record_container(const ncclscope_record *rec);
NCCLSCOPE_API int64_t ncclscope_record_launcher_rank(const ncclscope_record *rec);
NCCLSCOPE_API ncclscope_text ncclscope_record_time(const ncclscope_record *rec); /* as printed */
NCCLSCOPE_API uint64_t
ncclscope_record_repeated(const ncclscope_record *rec); /* lines that the launcher folded into this one */

/* A field as the record's row names it. NCCLSCOPE_OK, NCCLSCOPE_ENOTFOUND if this record has no such field, NCCLSCOPE_EINVAL if
 * its text is no such number (too large, "inf"). Since 0.1. */
NCCLSCOPE_API int ncclscope_record_u64(const ncclscope_record *rec, ncclscope_field f, uint64_t *out);
NCCLSCOPE_API int ncclscope_record_i64(const ncclscope_record *rec, ncclscope_field f, int64_t *out);
NCCLSCOPE_API int ncclscope_record_f64(const ncclscope_record *rec, ncclscope_field f, double *out);
NCCLSCOPE_API int ncclscope_record_text(const ncclscope_record *rec, ncclscope_field f, ncclscope_text *out);
/* The fields of a record in order: *field and *out of the i-th, or NCCLSCOPE_ENOTFOUND behind the last. Since 0.1. */
NCCLSCOPE_API int ncclscope_record_field(const ncclscope_record *rec, size_t i, ncclscope_field *field,
                                         ncclscope_text *out);
/* Name of a field of this record, also of one that an added row brought; *type, if not NULL: the letter of its type in templates
 * (u i x f t ...). NULL if there is none. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_record_field_name(const ncclscope_record *rec, ncclscope_field f, char *type);

#ifdef __cplusplus
}
#endif
#endif
