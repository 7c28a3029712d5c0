/* wrap.h - lines that something wrapped: a collector's JSON, terminal colours, HTML entities. */
#ifndef NSC_WRAP_H
#define NSC_WRAP_H

#include "base/text.h"

struct nsc_wrap {
    char *buf; /* the line with its wrapping removed */
    size_t cap;
    nsc_text time; /* a collector's; borrowed from the line as given */
};

/* The text inside: `line` itself where nothing is wrapped. */
nsc_text nsc_unwrap(struct nsc_wrap *w, nsc_text line);
void nsc_wrap_free(struct nsc_wrap *w);

#endif
