/* ncclscope.h - read the debug log of NCCL (NCCL_DEBUG=INFO): bytes in, typed records out.
 *
 *   ncclscope_grammar_new   the known messages, compiled on first use; share one between any number of readers
 *   ncclscope_reader_open   a file, or "-" for standard input; gzip is seen by its content
 *   ncclscope_reader_next   one record after the other until NCCLSCOPE_END
 *
 *     ncclscope_grammar *g; ncclscope_reader *r; const ncclscope_record *rec; ncclscope_error err;
 *     if (ncclscope_grammar_new(&g, &err) || ncclscope_reader_open(&r, g, "job.log", &err))
 *         return fprintf(stderr, "%s\n", err.text);
 *     while (ncclscope_reader_next(r, &rec, &err) == NCCLSCOPE_OK)
 *         if (ncclscope_record_kind(rec) == NCCLSCOPE_KIND_CONNECT)
 *             ... "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM": fields src 0, dst 1, via "P2P/CUMEM" ...
 *     ncclscope_reader_free(r), ncclscope_grammar_free(g);
 *
 * or push bytes from anywhere: ncclscope_reader_new, then feed / next until NCCLSCOPE_MORE, and at the end finish.
 * The records never depend on where the chunks end. docs/examples has programs for both.
 *
 * What the records add up to - hosts, communicators, links, verdict - is in ncclscope/model.h; keeping it is in ncclscope/store.h.
 *
 * Errors: 0 is fine, positive codes are outcomes to handle, negative ones are failures; after a failure an object may only be
 * freed unless its comment says otherwise. Wrong data is never a failure: any bytes are a valid log. NULL where something is wanted is
 * NCCLSCOPE_EINVAL, and nothing was done; a getter gives for it what stands for nothing.
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
 * jansson 2.14, libarchive 3.6.2"; the last only where it is in the build. Written to `out` (always terminated, cut at `size` bytes); returns `out`. Any thread. Since 0.1. */
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

/* What went wrong, as a sentence for people. The caller owns it, and need not clear it: a function writes it only where it fails, with
 * the code that it returns. Every function takes NULL if it is not wanted. `text` is always terminated, has no newline at its end, and may
 * hold names of files as they are: ncclscope_write_harmless makes them fit for a terminal. */
typedef struct ncclscope_error {
    int code;      /* enum ncclscope_code */
    int system;    /* errno, or 0 */
    uint64_t line; /* line of the input or pattern file, or 0 */
    char text[240];
} ncclscope_error;

/* A borrowed run of bytes, not terminated, and as hostile as the log that it is from: any byte may stand in it but a newline. Nothing was
 * there: len 0 and ptr NULL. How long it is borrowed says the function that gives it. */
typedef struct ncclscope_text {
    const char *ptr;
    size_t len;
} ncclscope_text;

/* Takes what the library writes (reports, saved models, facts), piece by piece and in order: `size` bytes, which are gone behind the
 * call. Called in the thread of the function that writes, with its `user`. Not 0 stops it, and that function returns NCCLSCOPE_EIO. */
typedef int ncclscope_write_fn(void *user, const char *bytes, size_t size);

/* What a line says, by number: NCCLSCOPE_KIND_CONNECT is "Channel ... via ...". The numbers never change; a newer library may give out some
 * that are not here, and a program passes over what it does not know. `ncclscope grammar` lists them with their templates. */
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

/* What a line holds, by number: NCCLSCOPE_FIELD_SRC is the sending rank. fields.def has their types, units and words. */
enum ncclscope_fields {
    NCCLSCOPE_FIELD_NONE = 0,
#define NCCLSCOPE_FIELD(number, NAME, name, type, unit, words) NCCLSCOPE_FIELD_##NAME = number,
#include "ncclscope/fields.def"
#undef NCCLSCOPE_FIELD
};
/* One of them, or from 1000 on a field that an added row brought. */
typedef int32_t ncclscope_field;

/* How loud NCCL said it: the word that stands before the message. */
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

/* What happened to a record on its way here. Torn and cut records are given out like others, with what is left of them. */
enum ncclscope_flag {
    NCCLSCOPE_FLAG_TORN = 1,   /* another writer cut into this record */
    NCCLSCOPE_FLAG_CUT = 2,    /* its end is not here: the line is longer than 64 KiB, and goes on in the next piece */
    NCCLSCOPE_FLAG_HEADER = 4, /* the header is whole: host, pid, tid are known */
    NCCLSCOPE_FLAG_JOINED = 8, /* put together from a torn record and its rest on a later line */
    NCCLSCOPE_FLAG_STRIPPED =
        16, /* somebody took the header away, or a part of it; no other writer did. Host and pid may be known */
    NCCLSCOPE_FLAG_QUOTED = 32 /* words of NCCL that another program's error message holds; its level is OTHER */
};

/* The known lines; what reads a log by them; one line of it. */
typedef struct ncclscope_grammar ncclscope_grammar;
typedef struct ncclscope_reader ncclscope_reader;
typedef struct ncclscope_record ncclscope_record;

/* The built-in rows: what NCCL 2.3 to 2.32, RCCL, their plugins and the programs around them print. *out is the caller's:
 * ncclscope_grammar_free, after the last reader that uses it, and after the models of its records are finished; NULL after a failure.
 * It takes about 1 ms and 0.4 MB, up to 5 MB when all rows are in use: they are compiled when a line first needs them, safely from
 * several threads.
 * NCCLSCOPE_OK or NCCLSCOPE_ENOMEM. Any thread. Since 0.1. */
NCCLSCOPE_API int ncclscope_grammar_new(ncclscope_grammar **out, ncclscope_error *err);
/* A row of your own, for lines that a private plugin prints through NCCL's logger:
 *
 *     ncclscope_grammar_add(g, "acme_lanes", "ACME: {lanes:u} lanes to {peer:w}", &err);
 *
 * takes "host:1:2 [0] NCCL INFO ACME: 4 lanes to node7". `name` is a-z, 0-9 and _; `template_` is in the language of messages.def, where a
 * field is one of fields.def or new. It takes records that no built-in row takes, and gives them a kind of its own: the first row that is
 * added 1000, the next 1001. New fields are numbered likewise. Both texts are copied. Before the first reader of `g` is made.
 * NCCLSCOPE_OK; NCCLSCOPE_EPATTERN (the template cannot be compiled) or NCCLSCOPE_EINVAL (a name that is none, or taken; a reader was made) with a sentence,
 * nothing was added and `g` is as it was; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_grammar_add(ncclscope_grammar *g, const char *name, const char *template_,
                                        ncclscope_error *err);
/* All rows of a file:
 *
 *     # what our plugin prints
 *     acme_lanes = ACME: {lanes:u} lanes to {peer:w}
 *     # example: ACME: 4 lanes to node7
 *
 * "name = template" on a line, "# example: TEXT" below it is held against it, other lines with # are comments. Codes as above, with
 * err->line; NCCLSCOPE_EIO if it cannot be read. Rows above the wrong one are added. Since 0.1. */
NCCLSCOPE_API int ncclscope_grammar_add_file(ncclscope_grammar *g, const char *path, ncclscope_error *err);
/* Compile all rows now, not when a line first needs one: some 0.1 s, and a grammar that takes no lock from then on. A process that
 * forks while a thread reads, and reads in the child with the same grammar, calls this before; also one whose first line must not wait.
 * Once no rows are added any more. NCCLSCOPE_OK or NCCLSCOPE_ENOMEM; EINVAL for NULL. Any thread. Since 0.1. */
NCCLSCOPE_API int ncclscope_grammar_prepare(ncclscope_grammar *g, ncclscope_error *err);
/* Which rows of your own took too long for some lines, and were given up there, as an expression does that backtracks without end: the
 * name of the i-th, borrowed from `g`, and for how many lines; NULL behind the last. After the readers have ended. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_grammar_slow(const ncclscope_grammar *g, size_t i, uint64_t *lines);
/* Gone, with its rows and the names of its kinds and fields. No reader may use it any more. NULL is fine, as for every free. Since 0.1. */
NCCLSCOPE_API void ncclscope_grammar_free(ncclscope_grammar *g);

/* Name of a built-in kind ("CONNECT"); NULL for a number that is none, and for an added row's, whose name its records tell
 * (ncclscope_record_kind_name). A constant; any thread. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_kind_name(ncclscope_kind kind);
/* Name of a built-in field ("src"), the same in templates, in JSON and in the columns of the store; NULL as above. A constant; any thread.
 * Since 0.1. */
NCCLSCOPE_API const char *ncclscope_field_name(ncclscope_field field);

/* Open `path` ("-" is standard input) for reading. gzip, also of several members, zstd, xz, bzip2, lz4, lzip, lzma and compress are unpacked,
 * UTF-16 is read as text: all by the content, whatever the name. Of an archive (tar, zip) each file is a log of its own, which
 * ncclscope_scan reads and a reader does not: NCCLSCOPE_EUNSUPPORTED, from the first ncclscope_reader_next. A FIFO or a terminal is waited for. Memory does not grow with the file. *out is the caller's: ncclscope_reader_free,
 * which closes the file; NULL after a failure. `g` must outlive the reader.
 * NCCLSCOPE_OK; NCCLSCOPE_EIO if it cannot be opened; NCCLSCOPE_EUNSUPPORTED for what is packed otherwise (7z, snappy; all but
 * gzip in a build without libarchive), said in `err` with what unpacks it; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_open(ncclscope_reader **out, ncclscope_grammar *g, const char *path,
                                        ncclscope_error *err);
/* Gives bytes: up to `size` of them to `to`, any number from 1 on. Returns how many, 0 at the end, -1 if it failed, which ends the reading
 * with NCCLSCOPE_EIO. Called in the thread of ncclscope_reader_next, and may wait there. */
typedef ptrdiff_t ncclscope_read_fn(void *user, void *to, size_t size);
/* As ncclscope_reader_open, of what a function gives: a socket, a decompressor, a piece of memory. `read` gets `user`, which must live as
 * long as the reader. Nothing is read before the first ncclscope_reader_next, and what the bytes are packed in shows only then: it may
 * return NCCLSCOPE_EUNSUPPORTED. NCCLSCOPE_OK; NCCLSCOPE_EINVAL for NULL; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_of(ncclscope_reader **out, ncclscope_grammar *g, ncclscope_read_fn *read, void *user,
                                      ncclscope_error *err);
/* The same of an open descriptor, from the place where it stands to its end: a pipe, a socket, a file from an offset on. It stays the
 * caller's and open, and is left where the reading ended, which may be behind the last record. Codes as above. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_of_fd(ncclscope_reader **out, ncclscope_grammar *g, int fd, ncclscope_error *err);
/* A reader that is fed by hand: for an event loop, or where the bytes come in calls of one's own.
 *
 *     while ((n = recv(s, bytes, sizeof bytes, 0)) > 0)
 *         for (ncclscope_reader_feed(r, bytes, n); ncclscope_reader_next(r, &rec, &err) == NCCLSCOPE_OK;)
 *             ...
 *     for (ncclscope_reader_finish(r); ncclscope_reader_next(r, &rec, &err) == NCCLSCOPE_OK;)
 *         ...
 *
 * *out is the caller's; NULL after a failure. `g` must outlive it. NCCLSCOPE_OK; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_new(ncclscope_reader **out, ncclscope_grammar *g, ncclscope_error *err);
/* In whatever state it is; closes a file that it opened. Records of it, and their texts, are gone. NULL is fine. Since 0.1. */
NCCLSCOPE_API void ncclscope_reader_free(ncclscope_reader *r);

/* Give a reader from ncclscope_reader_new more bytes: any number, cut anywhere; they are copied. gzip and UTF-16 are taken as they are.
 * Call ncclscope_reader_next until NCCLSCOPE_MORE between feeds to keep memory small.
 * NCCLSCOPE_OK; NCCLSCOPE_ENOMEM; NCCLSCOPE_EINVAL behind ncclscope_reader_finish, or for a reader that is not fed. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_feed(ncclscope_reader *r, const void *data, size_t size);
/* No more bytes will come; the last line needs no newline. What is left is given out by the calls of ncclscope_reader_next that follow,
 * until NCCLSCOPE_END. A second call does nothing. Since 0.1. */
NCCLSCOPE_API void ncclscope_reader_finish(ncclscope_reader *r);
/* Nothing has come for a while: a line that waits for what may belong to it, as a terminal wraps lines, is given out by the calls of
 * ncclscope_reader_next that follow. In a hang it can be the one that matters. If its rest comes after all it stands for itself.
 * A line without its newline still waits for it. Since 0.1. */
NCCLSCOPE_API void ncclscope_reader_flush(ncclscope_reader *r);

/* The next record, in the order of the log: every line of NCCL's and of RCCL's, whether a row knows it or not, and of other programs those
 * that other.def knows. All other lines are counted and passed over. *out, and all that is asked of it, is borrowed until the next call on
 * this reader.
 *   NCCLSCOPE_OK           *out is the record
 *   NCCLSCOPE_END          no more will come
 *   NCCLSCOPE_MORE         of a fed reader: nothing whole is left, feed it or finish it
 *   NCCLSCOPE_EDATA        once, for what is packed, and damaged or ends early, behind all records before the damage; then NCCLSCOPE_END
 *   NCCLSCOPE_EUNSUPPORTED once, for what is packed in a way that is not read; then NCCLSCOPE_END
 *   NCCLSCOPE_EIO          the system refused to read on; NCCLSCOPE_ENOMEM: behind either the reader may only be freed. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_next(ncclscope_reader *r, const ncclscope_record **out, ncclscope_error *err);

/* What a reader has seen so far. Fields are only ever added at the end; set size to sizeof(ncclscope_stats) before the call. */
typedef struct ncclscope_stats {
    uint32_t size;
    uint32_t
        format;     /* what the bytes are packed in: 0 plain, 1 gzip, 2 zstd ... as the words "format" of columns.def */
    uint64_t bytes; /* of the input as given, compressed if it was */
    uint64_t lines; /* physical lines of the text */
    uint64_t records;       /* NCCL records: markers, and version lines without a header */
    uint64_t unknown;       /* whole records that no table knows */
    uint64_t warnings;      /* records at level WARN */
    uint64_t torn_lines;    /* physical lines that another writer cut into */
    uint64_t cut_lines;     /* lines longer than 64 KiB without a place to part them: read in pieces, cut anywhere */
    uint32_t truncated;     /* 1 if what is packed ended early or was damaged */
    uint32_t binary;        /* 1 if more than a quarter of the lines hold NUL bytes: probably no log at all */
    uint64_t first_torn[4]; /* line numbers of the first torn lines, 0 for none */
    uint64_t recognised;    /* records whose text is known but has no meaning of its own */
    uint64_t unended;       /* 1 if the last line has no newline: the input may be cut there, or still grow */
    uint64_t stripped;      /* of torn_lines: those that lack but their header, which somebody took away */
} ncclscope_stats;
/* At any time, also behind the end. An older, shorter struct gets its beginning. NCCLSCOPE_OK; NCCLSCOPE_EABI if out->size is that of a
 * newer header with fields set there, or no size; NCCLSCOPE_EINVAL for NULL. Since 0.1. */
NCCLSCOPE_API int ncclscope_reader_stats(const ncclscope_reader *r, ncclscope_stats *out);

/* Getters of a record: what stands before the message, and the message. They cost nothing. Texts are borrowed until the next call of
 * ncclscope_reader_next on its reader; an absent text has len 0 and ptr NULL; an absent number is -1. Of the line
 *
 *   2026-11-20T10:00:00Z node-a:4711:4720 [3] transport/net_ib.cc:789 NCCL WARN NET/IB : Got async event : port error
 *
 * they give time, host node-a, pid 4711, tid 4720, dev 3, location, level WARN, and the message from "NET/IB" on. */

/* What it says: an enum ncclscope_kinds, or from 1000 on the number of a row that was added. Since 0.1. */
NCCLSCOPE_API ncclscope_kind ncclscope_record_kind(const ncclscope_record *rec);
/* Its name: "CONNECT", or the name of a row that was added. A constant, or as old as the grammar. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_record_kind_name(const ncclscope_record *rec);
/* How loud: enum ncclscope_level. Since 0.1. */
NCCLSCOPE_API int ncclscope_record_level(const ncclscope_record *rec);
/* What happened to it: enum ncclscope_flag, or-ed. Since 0.1. */
NCCLSCOPE_API int ncclscope_record_flags(const ncclscope_record *rec);
/* Where it stands in the unpacked text: its line, from 1, as `sed -n 12p` counts them; of one that was wrapped or torn, where it
 * begins. Since 0.1. */
NCCLSCOPE_API uint64_t ncclscope_record_line(const ncclscope_record *rec);
/* The place of the first byte of that line in the unpacked text, from 0. Since 0.1. */
NCCLSCOPE_API uint64_t ncclscope_record_offset(const ncclscope_record *rec);
/* Host, process and thread that printed it, as the header says. In a pod the host is the pod's name, and the pid often 1. Since 0.1. */
NCCLSCOPE_API ncclscope_text ncclscope_record_host(const ncclscope_record *rec);
NCCLSCOPE_API int64_t ncclscope_record_pid(const ncclscope_record *rec);
NCCLSCOPE_API int64_t ncclscope_record_tid(const ncclscope_record *rec);
/* The number in brackets: the CUDA device that the thread had then, counted as the process sees them. It is no rank, no NVML index, and
 * other threads of the process may say another. Since 0.1. */
NCCLSCOPE_API int64_t ncclscope_record_dev(const ncclscope_record *rec);
/* What stands behind the level, blanks at its end cut. Since 0.1. */
NCCLSCOPE_API ncclscope_text ncclscope_record_message(const ncclscope_record *rec);
/* Of a record of kind RECOGNISED: the part of NCCL that speaks, "ras"; a text that NCCL prints and that means nothing here. Since 0.1. */
NCCLSCOPE_API ncclscope_text ncclscope_record_family(const ncclscope_record *rec);
/* Of a WARN, TRACE or ATTN: the place in NCCL's source, "init.cc:421". Since 0.1. */
NCCLSCOPE_API ncclscope_text ncclscope_record_location(const ncclscope_record *rec);
/* The whole line with its prefixes, put together where a terminal had wrapped it. Since 0.1. */
NCCLSCOPE_API ncclscope_text ncclscope_record_physical(const ncclscope_record *rec);
/* What prefixes of launchers and collectors say: the pod and the container that it comes from, the rank as the launcher counts it
 * ("[1,3]<stdout>:", "rank3:"), which need not be NCCL's. Since 0.1. */
NCCLSCOPE_API ncclscope_text ncclscope_record_pod(const ncclscope_record *rec);
NCCLSCOPE_API ncclscope_text ncclscope_record_container(const ncclscope_record *rec);
NCCLSCOPE_API int64_t ncclscope_record_launcher_rank(const ncclscope_record *rec);
/* When, as printed, by NCCL or by a prefix: of no one form and no one time zone. Since 0.1. */
NCCLSCOPE_API ncclscope_text ncclscope_record_time(const ncclscope_record *rec);
/* How many more lines a launcher folded into this one: 6 of "[repeated 7x across cluster]", 0 for most. Since 0.1. */
NCCLSCOPE_API uint64_t ncclscope_record_repeated(const ncclscope_record *rec);

/* A field of the record, by its number: of the message "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM" NCCLSCOPE_FIELD_SRC is 0. Numbers are
 * read in the base that the row gives them: comm 0x7f01 and busId 1b000 are hexadecimal. What they count says fields.def (bytes, ms,
 * GB/s ...). *out is set only with NCCLSCOPE_OK; NCCLSCOPE_ENOTFOUND if this record has no such field; NCCLSCOPE_EINVAL if its text is no
 * such number (a word, too large, "inf"): the text can still be had. Since 0.1. */
NCCLSCOPE_API int ncclscope_record_u64(const ncclscope_record *rec, ncclscope_field f, uint64_t *out);
NCCLSCOPE_API int ncclscope_record_i64(const ncclscope_record *rec, ncclscope_field f, int64_t *out);
NCCLSCOPE_API int ncclscope_record_f64(const ncclscope_record *rec, ncclscope_field f, double *out);
/* The same as it stands in the line, of whatever type; borrowed as the record is. Since 0.1. */
NCCLSCOPE_API int ncclscope_record_text(const ncclscope_record *rec, ncclscope_field f, ncclscope_text *out);
/* The fields of a record in the order of its row, for who knows none of them by name: *field and *out of the i-th, from 0. Those of a
 * RECOGNISED or unknown record are none. NCCLSCOPE_OK; NCCLSCOPE_ENOTFOUND behind the last. Since 0.1. */
NCCLSCOPE_API int ncclscope_record_field(const ncclscope_record *rec, size_t i, ncclscope_field *field,
                                         ncclscope_text *out);
/* Name of a field of this record, also of one that an added row brought; *type, if not NULL: the letter of its type in templates
 * (u i x f t ...). NULL if there is none. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_record_field_name(const ncclscope_record *rec, ncclscope_field f, char *type);

#ifdef __cplusplus
}
#endif
#endif
