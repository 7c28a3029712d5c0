/* prefix.h - what stands before a header: launcher prefixes by prefixes.def, or another writer's text. */
#ifndef NSC_PREFIX_H
#define NSC_PREFIX_H

#include "read/grammar.h"

enum { NSC_PREFIX_SHAPE = 96, NSC_PREFIX_STACK = 8 };

struct nsc_prefix {
    nsc_text pod, container, time;
    int64_t rank; /* -1: not said */
    bool foreign; /* some of it matched no row */
    size_t known; /* bytes from the start that rows took */
};

/* Which rows took the last prefix of this shape (digits made alike): the next line is nearly always like the last. */
struct nsc_prefix_memo {
    char shape[NSC_PREFIX_SHAPE];
    size_t len, rows;
    uint8_t row[NSC_PREFIX_STACK];
};

void nsc_prefix_parse(ncclscope_grammar *g, nsc_text text, struct nsc_prefix_memo *memo, struct nsc_match *m,
                      struct nsc_prefix *out);
/* How much of the end of `text` is a boxed time stamp that belongs to the record behind it. */
size_t nsc_prefix_stamp_at_end(ncclscope_grammar *g, nsc_text text, struct nsc_match *m);

#endif
