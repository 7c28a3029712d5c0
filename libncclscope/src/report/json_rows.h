/* json_rows.h - rows of columns.def as members of JSON objects. */
#ifndef NSC_JSON_ROWS_H
#define NSC_JSON_ROWS_H

#include "base/json.h"
#include "model/rows.h"

/* Of a row the columns from the one called `from` up to the one called `to` (NULL: the first, the last), as members of the object that
 * is open. Places of other rows and of lines are left out: they become objects and lists. */
void nsc_json_columns(struct nsc_json *j, int table, const void *row, const char *from, const char *to);
/* "where": {"source": 0, "line": 71}; null where no line is said. */
void nsc_json_place(struct nsc_json *j, const char *key, int64_t source, int64_t line);

/* The next row of a list, as long as it belongs to `parent`, whose place is its first column; NULL behind the last of them. *at is the
 * place in the table, and moves on: lists lie in the order of what they belong to. */
const void *nsc_next_child(const struct nsc_rows *rows, int table, size_t *at, int64_t parent);
#define nsc_child_of(rows, table, at, parent) \
    ((const ncclscope_##table *)nsc_next_child(rows, NCCLSCOPE_TABLE_##table, at, parent))

#endif
