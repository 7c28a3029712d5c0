/* ncclscope/rows.h - the facts of a finished model and of its findings as rows of flat tables: no text to parse, nothing to free.
 *
 *   ncclscope_link link[256];
 *   size_t n, first = 0;
 *   while ((n = ncclscope_model_links(m, first, 256, link, sizeof *link)) > 0)
 *       for (first += n; n-- > 0;)
 *           ... link[n].src, link[n].path == NCCLSCOPE_PATH_NVLINK ...
 *
 * ncclscope/columns.def lists the tables with their columns, types and units, and says what stands where the log says nothing; each table
 * `link` is a struct ncclscope_link here, and a function ncclscope_model_links or, of findings, ncclscope_findings_...
 *
 * Rows are made once: a model's when it is finished (and again when pods or facts are added), those of findings when they are analysed.
 * Texts in them are borrowed and live as long as the object that lent them.
 * Threads: reading rows changes nothing; a finished model and its findings may be read by several threads at once.
 */
#ifndef NCCLSCOPE_ROWS_H
#define NCCLSCOPE_ROWS_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a column holds, and so what stands in the struct of its table. Every member is eight bytes wide, but texts, which are two words. */
enum ncclscope_type {
    NCCLSCOPE_TYPE_I64,  /* int64_t; NCCLSCOPE_UNSAID: not said */
    NCCLSCOPE_TYPE_F64,  /* double; NaN: not said */
    NCCLSCOPE_TYPE_TEXT, /* ncclscope_text, UTF-8 or as hostile as the log; ptr NULL: not said */
    NCCLSCOPE_TYPE_ENUM, /* int64_t, one of a set of words (ncclscope_word_of); NCCLSCOPE_UNSAID: not said */
    NCCLSCOPE_TYPE_BOOL  /* int64_t: 1, 0; -1: not said */
};
typedef int64_t ncclscope_i64, ncclscope_enum, ncclscope_bool;
typedef double ncclscope_f64;
#define NCCLSCOPE_C_I64 ncclscope_i64
#define NCCLSCOPE_C_F64 ncclscope_f64
#define NCCLSCOPE_C_TEXT ncclscope_text
#define NCCLSCOPE_C_ENUM ncclscope_enum
#define NCCLSCOPE_C_BOOL ncclscope_bool

/* Not said, of a column I64 or ENUM; of F64 it is NaN, of BOOL -1, of TEXT ptr NULL. Never 0: a log that does not say how many channels
 * there are is not one without channels. */
#define NCCLSCOPE_UNSAID INT64_MIN

/* A struct for each table, with the columns of columns.def as members in their order:
 *
 *   typedef struct ncclscope_link { ncclscope_i64 comm, src, dst; ... ncclscope_enum path; ... ncclscope_text via; ... } ncclscope_link;
 *
 * Columns are only ever added at the end of a table: what is compiled against an older header goes on working. */
#define NCCLSCOPE_TABLE(table, rows, owner, words) typedef struct ncclscope_##table {
#define NCCLSCOPE_COLUMN(table, name, TYPE, unit, words) NCCLSCOPE_C_##TYPE name;
#define NCCLSCOPE_END(table) \
    } \
    ncclscope_##table;
#include "columns.def"

/* The number of each table: NCCLSCOPE_TABLE_link ... They are not those of the library that runs if that is another release: who knows a
 * table by its name alone finds it with ncclscope_table_get. */
enum ncclscope_table {
#define NCCLSCOPE_TABLE(table, rows, owner, words) NCCLSCOPE_TABLE_##table,
#include "columns.def"
    NCCLSCOPE_TABLES
};

/* The words of columns that are ENUM: NCCLSCOPE_PATH_NVLINK is "nvlink" of the set "path". A newer library may give out numbers that are
 * not here: ncclscope_word_of knows them, and a program that does not treats them as said, and unknown. */
enum ncclscope_word {
    NCCLSCOPE_NO_WORD = -1
#define NCCLSCOPE_WORD(set, NAME, number, word) , NCCLSCOPE_##NAME = number
#include "columns.def"
};

/* Copies rows of a table of the model, of enum ncclscope_table: from `first` on, at most `n`, to `out`, one every `stride` bytes.
 * A `stride` smaller than the library's row takes the beginning of each row, a larger one gets zeros behind it: a program and a library
 * of different releases understand each other. Texts are borrowed from the model; all else is the caller's.
 * The order of rows is that of the report, and the same for the same input; keys that point to rows of other tables (a link's comm) are
 * their numbers from 0 on.
 * Returns how many were copied; with `out` NULL, how many there are (first and n do not matter). 0 for a table that is none of the model's,
 * for a model that is not finished, and for NULL. Since 0.1. */
NCCLSCOPE_API size_t ncclscope_model_rows(const ncclscope_model *m, int table, size_t first, size_t n, void *out,
                                          size_t stride);
/* The same of the tables that findings lend: findings, their evidence, ranks, pairs and hosts, expectations, confirmed pairs. They come and
 * go with the findings. Since 0.1. */
NCCLSCOPE_API size_t ncclscope_findings_rows(const ncclscope_findings *f, int table, size_t first, size_t n, void *out,
                                             size_t stride);

/* The same by name, for each table, with the type of its rows:
 *
 *   size_t ncclscope_model_links(const ncclscope_model *m, size_t first, size_t n, ncclscope_link *out, size_t stride);
 *
 * These are no symbols of the library: a program that finds them by dlsym asks for the two above. */
#define NCCLSCOPE_TABLE(table, rows, owner, words) \
    static inline size_t ncclscope_##owner##_##rows(const ncclscope_##owner *x, size_t first, size_t n, \
                                                    ncclscope_##table *out, size_t stride) \
    { \
        return ncclscope_##owner##_rows(x, NCCLSCOPE_TABLE_##table, first, n, out, stride); \
    }
#include "columns.def"

/* A table, as a program sees it that was not compiled with this header: a binding of another language, a writer of CSV. With it and the
 * columns below every row can be read. Set size to that of the struct; texts are constants of the library. */
typedef struct ncclscope_table_info {
    size_t size;                     /* sizeof(ncclscope_table_info), set by the caller */
    const char *name, *rows, *words; /* "link", "links", what a row of it is */
    const char *owner;               /* "model" or "findings": who lends its rows */
    size_t row_size;                 /* bytes */
    int32_t columns;
} ncclscope_table_info;
typedef struct ncclscope_column_info {
    size_t size;                     /* sizeof(ncclscope_column_info), set by the caller */
    const char *name, *unit, *words; /* unit: as columns.def says; of an ENUM its set */
    int32_t type;                    /* enum ncclscope_type */
    size_t offset;                   /* in its row, bytes */
} ncclscope_column_info;

/* Describes a table: 0 is the first, and the last is told by what follows it. NCCLSCOPE_OK; NCCLSCOPE_ENOTFOUND behind the last.
 * An older, shorter struct gets its beginning; NCCLSCOPE_EABI for a newer one with members set that are not known here;
 * NCCLSCOPE_EINVAL for NULL. Any thread. Since 0.1. */
NCCLSCOPE_API int ncclscope_table_get(int table, ncclscope_table_info *out);
/* Describes a column of it, from 0 on, in the order of the struct's members. Codes as above. Any thread. Since 0.1. */
NCCLSCOPE_API int ncclscope_column_get(int table, int column, ncclscope_column_info *out);
/* The word of a number in a set ("path", 1: "nvlink"), as JSON and SQL have it; NULL if there is none. A constant. Any thread. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_word_of(const char *set, int64_t number);

#ifdef __cplusplus
}
#endif
#endif
