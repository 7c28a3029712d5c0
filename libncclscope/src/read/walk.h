/* walk.h - templates without expressions, walked from left to right: no field of them can end in two places, so that the first that a field
 * takes is what PCRE2 gives it. */
#ifndef NSC_WALK_H
#define NSC_WALK_H

#include "base/text.h"

/* A run of plain characters, or a field. */
struct nsc_step {
    const char *text; /* of the template; NULL: a field */
    size_t len;
    char type;  /* of the field: a letter of the template's language */
    bool named; /* its place is wanted */
};

struct nsc_walk {
    struct nsc_step *step;
    size_t steps;
};

/* False: it has an expression, or a field whose end depends on what follows: only PCRE2 knows; or there is no memory. */
bool nsc_walk_make(struct nsc_walk *w, const char *template_);
void nsc_walk_free(struct nsc_walk *w);
/* All of `text`? Of it the `head` plain characters that the template begins with, up to its first brace, are compared already. Then each named
 * field lies from span[2i] to span[2i + 1]. */
bool nsc_walk_match(const struct nsc_walk *w, nsc_text text, size_t head, size_t *span);

#endif
