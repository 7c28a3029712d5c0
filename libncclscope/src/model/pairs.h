/* pairs.h - how many pairs of GPUs connections join, over all communicators. */
#ifndef NSC_PAIRS_H
#define NSC_PAIRS_H

#include "model/model.h"

struct nsc_pairs {
    struct nsc_map seen;
    uint64_t known; /* both GPUs have a name that holds in all communicators: host and bus id */
    uint64_t open;  /* the most that one communicator has beside them */
    bool at_least;  /* others have such pairs too, which may be the same ones */
    bool no_memory;
};

void nsc_pairs_add(struct nsc_pairs *p, const struct ncclscope_model *m, const struct nsc_link *l);
uint64_t nsc_pairs_total(const struct nsc_pairs *p);
void nsc_pairs_free(struct nsc_pairs *p);

#endif
