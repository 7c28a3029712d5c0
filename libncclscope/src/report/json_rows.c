/* json_rows.c - any row as JSON, by its columns. */
#include "report/json_rows.h"

#include <string.h>

static void member(struct nsc_json *j, const struct nsc_column *c, const char *at)
{
    int64_t number = 0;
    double real = 0;
    ncclscope_text text = {0};
    if (c->type == NCCLSCOPE_TYPE_TEXT)
        memcpy(&text, at, sizeof text);
    else if (c->type == NCCLSCOPE_TYPE_F64)
        memcpy(&real, at, sizeof real);
    else
        memcpy(&number, at, sizeof number);
    if (c->type == NCCLSCOPE_TYPE_TEXT)
        nsc_json_text(j, c->name, text);
    else if (c->type == NCCLSCOPE_TYPE_F64 ? real != real
                                           : number == (c->type == NCCLSCOPE_TYPE_BOOL ? -1 : NCCLSCOPE_UNSAID))
        nsc_json_null(j, c->name);
    else if (c->type == NCCLSCOPE_TYPE_F64)
        nsc_json_float(j, c->name, real);
    else if (c->type == NCCLSCOPE_TYPE_ENUM)
        nsc_json_string(j, c->name, ncclscope_word_of(c->unit, number));
    else if (c->type == NCCLSCOPE_TYPE_BOOL)
        nsc_json_bool(j, c->name, number != 0);
    else
        nsc_json_int(j, c->name, number);
}

void nsc_json_columns(struct nsc_json *j, int table, const void *row, const char *from, const char *to)
{
    bool in = !from;
    for (const struct nsc_column *c = nsc_columns_of(table); c->name; c++) {
        in = in || !strcmp(c->name, from);
        if (in && strncmp(c->unit, "row_", 4) != 0 && strcmp(c->unit, "line") != 0)
            member(j, c, (const char *)row + c->offset);
        if (in && to && !strcmp(c->name, to))
            return;
    }
}

void nsc_json_place(struct nsc_json *j, const char *key, int64_t source, int64_t line)
{
    if (line == NCCLSCOPE_UNSAID) {
        nsc_json_null(j, key);
        return;
    }
    nsc_json_open(j, key, '{');
    nsc_json_int(j, "source", source);
    nsc_json_int(j, "line", line);
    nsc_json_close(j, '}');
}

const void *nsc_next_child(const struct nsc_rows *rows, int table, size_t *at, int64_t parent)
{
    const int64_t *row = *at < rows->of[table].len ? nsc_row_at_(rows, table, *at) : NULL;
    if (!row || *row != parent)
        return NULL;
    ++*at;
    return row;
}
