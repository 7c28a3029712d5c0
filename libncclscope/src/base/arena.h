/* arena.h - memory that is given out piece by piece and freed at once. */
#ifndef NSC_ARENA_H
#define NSC_ARENA_H

#include "base/text.h"

struct nsc_arena {
    struct nsc_arena_block *last;
    size_t used, total; /* of the last; of all */
};

void *nsc_arena_alloc(struct nsc_arena *a, size_t size);     /* zeroed, aligned; NULL when there is none */
nsc_text nsc_arena_copy(struct nsc_arena *a, nsc_text text); /* terminated copy; {NULL, 0} when there is no memory */
void nsc_arena_free(struct nsc_arena *a);

#endif
