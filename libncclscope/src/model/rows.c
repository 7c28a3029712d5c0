/* rows.c - columns.def as code: what each table holds, and rows of any of them. */
#include "model/rows.h"

#include "base/sized.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define NSC_UNSAID_I64 NCCLSCOPE_UNSAID
#define NSC_UNSAID_F64 (double)NAN
#define NSC_UNSAID_TEXT \
    { \
        NULL, 0 \
    }
#define NSC_UNSAID_ENUM NCCLSCOPE_UNSAID
#define NSC_UNSAID_BOOL -1

#define NCCLSCOPE_TABLE(table, rows, owner, words) static const ncclscope_##table unsaid_##table = {
#define NCCLSCOPE_COLUMN(table, name, TYPE, unit, words) .name = NSC_UNSAID_##TYPE,
#define NCCLSCOPE_END(table) \
    } \
    ;
#include "ncclscope/columns.def"

/* `class_` is "class" to everybody but a compiler of C++. */
#define NCCLSCOPE_TABLE(table, rows, owner, words) static const struct nsc_column columns_##table[] = {
#define NCCLSCOPE_COLUMN(table, name, TYPE, unit, words) \
    {sizeof #name > 6 && !__builtin_strcmp(#name, "class_") ? "class" : #name, #unit, words, NCCLSCOPE_TYPE_##TYPE, \
     offsetof(ncclscope_##table, name)},
#define NCCLSCOPE_END(table) \
    { \
        0 \
    } \
    } \
    ;
#include "ncclscope/columns.def"

static const struct {
    const char *name, *rows, *owner, *words;
    const void *unsaid;
    const struct nsc_column *columns;
    size_t row_size;
} tables[] = {
#define NCCLSCOPE_TABLE(table, rows, owner, words) \
    {#table, #rows, #owner, words, &unsaid_##table, columns_##table, sizeof(ncclscope_##table)},
#include "ncclscope/columns.def"
};

static const struct {
    const char *set;
    int64_t number;
    const char *word;
} words[] = {
#define NCCLSCOPE_WORD(set, NAME, number, word) {#set, number, word},
#include "ncclscope/columns.def"
};

const struct nsc_column *nsc_columns_of(int table)
{
    return tables[table].columns;
}

void *nsc_row_new_(struct nsc_rows *rows, int table, void *spare)
{
    struct nsc_table *t = &rows->of[table];
    size_t size = tables[table].row_size;
    char *grown = nsc_grow(t->item, &t->cap, t->len + 1, size);
    rows->no_memory = rows->no_memory || !grown;
    t->item = grown ? grown : t->item;
    void *row = grown ? t->item + size * t->len++ : spare;
    memcpy(row, tables[table].unsaid, size);
    return row;
}

const void *nsc_row_at_(const struct nsc_rows *rows, int table, size_t i)
{
    return rows->of[table].item + i * tables[table].row_size;
}

void nsc_rows_free(struct nsc_rows *rows)
{
    for (int i = 0; i < NCCLSCOPE_TABLES; i++)
        nsc_free(rows->of[i].item);
    *rows = (struct nsc_rows){0};
}

size_t nsc_rows_copy(const struct nsc_rows *rows, int table, size_t first, size_t n, void *out, size_t stride)
{
    if (table < 0 || table >= NCCLSCOPE_TABLES)
        return 0;
    size_t size = tables[table].row_size, len = rows->of[table].len, both = size < stride ? size : stride;
    if (!out)
        return len;
    n = first >= len ? 0 : n < len - first ? n : len - first;
    for (size_t i = 0; i < n; i++) {
        char *to = (char *)out + i * stride;
        memcpy(to, rows->of[table].item + (first + i) * size, both);
        memset(to + both, 0, stride - both);
    }
    return n;
}

int ncclscope_table_get(int table, ncclscope_table_info *out)
{
    if (!out)
        return NCCLSCOPE_EINVAL;
    ncclscope_table_info info = {.size = sizeof info};
    if (table < 0 || table >= NCCLSCOPE_TABLES)
        return NCCLSCOPE_ENOTFOUND;
    info.name = tables[table].name;
    info.rows = tables[table].rows;
    info.words = tables[table].words;
    info.owner = tables[table].owner;
    info.row_size = tables[table].row_size;
    while (tables[table].columns[info.columns].name)
        info.columns++;
    info.size = out->size;
    return nsc_give_sized(out, out->size, &info, sizeof info) ? NCCLSCOPE_OK : NCCLSCOPE_EABI;
}

int ncclscope_column_get(int table, int column, ncclscope_column_info *out)
{
    if (!out)
        return NCCLSCOPE_EINVAL;
    ncclscope_table_info t = {.size = sizeof t};
    int rc = ncclscope_table_get(table, &t);
    if (rc)
        return rc;
    if (column < 0 || column >= t.columns)
        return NCCLSCOPE_ENOTFOUND;
    const struct nsc_column *c = &tables[table].columns[column];
    ncclscope_column_info info = {sizeof info, c->name, c->unit, c->words, c->type, c->offset};
    info.size = out->size;
    return nsc_give_sized(out, out->size, &info, sizeof info) ? NCCLSCOPE_OK : NCCLSCOPE_EABI;
}

const char *ncclscope_word_of(const char *set, int64_t number)
{
    for (size_t i = 0; set && i < sizeof words / sizeof words[0]; i++)
        if (words[i].number == number && !strcmp(words[i].set, set))
            return words[i].word;
    return NULL;
}
