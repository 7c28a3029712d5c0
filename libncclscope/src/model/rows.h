/* rows.h - tables of columns.def, row by row, while they are filled and lent. */
#ifndef NSC_ROWS_H
#define NSC_ROWS_H

#include "base/alloc.h"
#include "base/text.h"
#include "ncclscope/rows.h"

struct nsc_rows {
    struct nsc_table {
        char *item;
        size_t len, cap;
    } of[NCCLSCOPE_TABLES];
    bool no_memory;
};

/* A row at the end, with nothing said in it. Never NULL: without memory one that nobody sees. */
#define nsc_row_new(rows, table) \
    ((ncclscope_##table *)nsc_row_new_(rows, NCCLSCOPE_TABLE_##table, &(ncclscope_##table){0}))
void *nsc_row_new_(struct nsc_rows *rows, int table, void *spare);
/* The place that the next row of a table will have. */
#define nsc_row_next(rows, table) ((int64_t)(rows)->of[NCCLSCOPE_TABLE_##table].len)
#define nsc_row_at(rows, table, i) ((const ncclscope_##table *)nsc_row_at_(rows, NCCLSCOPE_TABLE_##table, i))
const void *nsc_row_at_(const struct nsc_rows *rows, int table, size_t i);
void nsc_rows_free(struct nsc_rows *rows); /* the rows, not what they lie in */
size_t nsc_rows_copy(const struct nsc_rows *rows, int table, size_t first, size_t n, void *out, size_t stride);

/* A number that is not said below 0. */
static inline int64_t nsc_if_said(int64_t v)
{
    return v < 0 ? NCCLSCOPE_UNSAID : v;
}

struct nsc_column {
    const char *name, *unit, *words;
    int type; /* enum ncclscope_type */
    size_t offset;
};
/* The columns of a table; the last has no name. */
const struct nsc_column *nsc_columns_of(int table);

#endif
