/* columns.h - what records of one kind say, as columns: laid out as Arrow lays them, so that they are lent as they lie. No Python here. */
#ifndef NCCLSCOPE_PY_COLUMNS_H
#define NCCLSCOPE_PY_COLUMNS_H

#include <ncclscope.h>

#include <stdatomic.h>
#include <stdbool.h>

/* Texts, each once, by number: the i-th is bytes[ends[i]] to bytes[ends[i + 1]], and ends[0] is 0. */
struct texts {
    char *bytes;
    int32_t *ends;
    uint32_t *slots; /* of a hash table: the number of a text and 1; 0: free */
    size_t len, cap, n, most, slot_count;
};

struct column {
    char *name;
    char type;     /* 'i', int64_t; 'u', uint64_t below 2^63; 'f', double; 't', int32_t, a number of `texts` */
    bool beyond;   /* of 'u': one is not below 2^63 */
    uint8_t *said; /* a bit a row */
    void *values;  /* 0 where nothing is said */
    struct texts texts;
    ncclscope_field field; /* 0: of the head of the line */
};

/* Shared by the table of Python and by arrays that were lent; once it is filled it does not change. */
struct columns {
    atomic_int holders;
    size_t rows, room;
    struct column *column;
    int n, most;
};

struct columns *columns_new(void); /* NULL: no memory */
void columns_hold(struct columns *c);
void columns_let_go(struct columns *c);

/* A row more: line, host, pid, tid and device of the record, and its fields; columns are in the order in which records bring them, and one
 * whose name is taken has a `_` behind it ("line_" of a BACKTRACE). A field that should be a number and is none is not said. False: no
 * memory, or more than 2 GiB of different texts in a column. */
bool columns_add(struct columns *c, const ncclscope_record *rec);
void columns_done(struct columns *c); /* no row will come: gives back what was kept for more */

size_t column_nulls(const struct column *c, size_t rows);

static inline bool column_says(const struct column *c, size_t row)
{
    return c->said[row / 8] >> (row % 8) & 1;
}

static inline ncclscope_text column_text(const struct texts *t, size_t i)
{
    return (ncclscope_text){t->bytes + t->ends[i], (size_t)(t->ends[i + 1] - t->ends[i])};
}

#endif
