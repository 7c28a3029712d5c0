/* grammar.h - all rows of messages.def, found by how a message begins. */
#ifndef NSC_GRAMMAR_H
#define NSC_GRAMMAR_H

#include "base/vec.h"
#include "read/pattern.h"

struct nsc_row {
    ncclscope_kind kind;
    struct nsc_pattern pattern;
    const char *example;
};

/* Rows by the first eight bytes of the message: a row with a shorter head stands in every list that it could match. */
struct nsc_bucket {
    uint64_t key;
    uint16_t *row;
    size_t rows;
};

struct ncclscope_grammar {
    struct nsc_row *row;
    size_t rows;
    struct nsc_bucket *bucket; /* hash table by key; row == NULL is a free place */
    size_t buckets;
    struct nsc_bucket by_byte[256]; /* for beginnings that no long head has */
    uint16_t *lists;
    struct nsc_pattern *prefix;     /* prefixes.def */
    size_t prefixes;
    pthread_mutex_t lock;           /* held while a row is compiled */
};

ncclscope_field nsc_field_by_name(nsc_text name);

/* The first row, in the order of the file, that matches all of `message`; NULL if none does. */
const struct nsc_row *nsc_grammar_match(ncclscope_grammar *g, nsc_text message, struct nsc_match *m);
/* Is `message`, which no row matched, certainly the beginning of one that a row would match? */
bool nsc_grammar_is_cut(ncclscope_grammar *g, nsc_text message, struct nsc_match *m);

#endif
