/* halves.h - communicators of one size that wait for just each other's ranks: one that was meant, under two ids. */
#ifndef NSC_HALVES_H
#define NSC_HALVES_H

#include "base/map.h"
#include "model/model.h"

/* Communicators that wait and print their id, by size, how many of their ranks there are, and the lowest of these. */
struct nsc_halves {
    struct nsc_map first;
    uint32_t *next; /* by communicator: the next that is alike, or NSC_NONE */
};

bool nsc_list_halves(const struct ncclscope_model *m, struct nsc_halves *h); /* false: no memory */
void nsc_free_halves(struct nsc_halves *h);

/* Another communicator of that size which waits for just those ranks that wait in this one; NSC_NONE if there is none. */
uint32_t nsc_other_half(const struct ncclscope_model *m, const struct nsc_halves *h, uint32_t comm);

/* Are they surely of one job: in one input, or in one of which something fails? Else each may be a part of another. */
bool nsc_halves_are_together(const struct ncclscope_model *m, uint32_t one, uint32_t other);

/* The first member whose process says its release itself; NULL: none does. */
const struct nsc_rank *nsc_that_says_its_release(const struct ncclscope_model *m, uint32_t comm);

/* Do the processes of the two say different releases of NCCL? Each release makes the id that it prints in its own way. */
bool nsc_halves_are_apart(const struct ncclscope_model *m, uint32_t one, uint32_t other);

#endif
