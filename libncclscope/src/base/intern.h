/* intern.h - equal strings to equal small numbers; 0 is "not said". */
#ifndef NSC_INTERN_H
#define NSC_INTERN_H

#include "base/arena.h"
#include "base/vec.h"

struct nsc_intern {
    struct nsc_arena arena;
    NSC_VEC(nsc_text) text; /* [0] is the empty text */
    uint32_t *slot;
    size_t slots;
};

uint32_t nsc_intern(struct nsc_intern *in, nsc_text text); /* 0 for the empty text, and when there is no memory */
uint32_t nsc_intern_find(const struct nsc_intern *in, nsc_text text); /* 0 if it was never interned */
nsc_text nsc_interned(const struct nsc_intern *in, uint32_t id);
void nsc_intern_free(struct nsc_intern *in);

#endif
