/* parts.h - the rows of a growing model, member by member (parts.def): models of parts of one job are put together row by row. */
#ifndef NSC_PARTS_H
#define NSC_PARTS_H

#include "model/model.h"

enum nsc_member_kind {
    NSC_MEMBER_STR,   /* a text of the model */
    NSC_MEMBER_WHERE, /* a line of a source, or none */
    NSC_MEMBER_REAL,  /* a double */
    NSC_MEMBER_FLAG,
    NSC_MEMBER_INT,   /* of any width, signed or not */
    NSC_MEMBER_INT32, /* an int64_t from -1 to INT32_MAX */
    NSC_MEMBER_LIST,  /* such of eight bytes, side by side */
    /* an index into the array of that name */
    NSC_MEMBER_SOURCE,
    NSC_MEMBER_PROC,
    NSC_MEMBER_RANK,
    NSC_MEMBER_THREAD,
    NSC_MEMBER_CALL,
    /* the first of some there, which may be none; how many stands in the member behind it */
    NSC_MEMBER_FIELD,
    NSC_MEMBER_COUNT,
    NSC_MEMBER_CELL,
    /* an index, or NSC_NONE */
    NSC_MEMBER_PLUGIN,
    NSC_MEMBER_WARNING,
    NSC_MEMBER_EVENT,
    NSC_MEMBER_ANY_PROC,
    NSC_MEMBER_ANY_RANK,
    NSC_MEMBER_INDICES, /* how many kinds stand above */
    /* one of an enum, or a row of a table */
    NSC_MEMBER_KIND,
    NSC_MEMBER_LEVEL,
    NSC_MEMBER_DIRECTION,
    NSC_MEMBER_TRANSPORT,
    NSC_MEMBER_FAMILY,
    NSC_MEMBER_ATTRIBUTION,
    NSC_MEMBER_SIDES
};

struct nsc_member {
    const char *type, *name;
    enum nsc_member_kind kind;
    uint32_t at, size; /* in the row, bytes */
};
extern const struct nsc_member nsc_members[]; /* those of a type are in one piece; ends with type NULL */

enum nsc_part_id {
#define ROW(array, type) NSC_PART_##array,
#define MEMBER(type, kind, name)
#define FOUND(type, name)
#define TOTAL(kind, name)
#include "model/parts.def"
#undef ROW
#undef MEMBER
#undef FOUND
#undef TOTAL
    NSC_PARTS
};
/* An array of the model: where it lies there, and how large a row is. */
struct nsc_part_array {
    const char *type;
    size_t at, size;
};
extern const struct nsc_part_array nsc_parts[NSC_PARTS];
/* A number of a row, of `size` bytes, its sign kept. */
uint64_t nsc_number_at(const char *at, size_t size);
const struct nsc_member *nsc_members_of(const struct nsc_part_array *p, size_t *n);

/* Any of the arrays. */
struct nsc_array {
    char *item;
    size_t len;
};
struct nsc_array nsc_array_of(const struct ncclscope_model *m, enum nsc_part_id id);
char *nsc_push_row(struct ncclscope_model *m, enum nsc_part_id id); /* a zeroed one at its end; NULL without memory */
/* Which array the indices of this kind lead into; NSC_PARTS: it is no index. */
enum nsc_part_id nsc_target_of(enum nsc_member_kind kind);

enum nsc_total_kind { NSC_TOTAL_SUM, NSC_TOTAL_MOST, NSC_TOTAL_ANY, NSC_TOTAL_FIRST };
struct nsc_total {
    enum nsc_total_kind kind; /* uint64_t, bool, struct nsc_where */
    size_t at;
};
extern const struct nsc_total nsc_counted[];
extern const size_t nsc_counted_things;

/* Is a source of it still being read? Such a model is no part yet. */
bool nsc_is_being_read(const struct ncclscope_model *m);
/* All rows of `from` behind those of `into`, as if its sources had been read there. Without memory, into->no_memory. */
void nsc_put_together(struct ncclscope_model *into, const struct ncclscope_model *from);

#endif
