/* pairs.h - how many pairs of GPUs connections join, over all communicators. */
#ifndef NSC_PAIRS_H
#define NSC_PAIRS_H

#include "model/model.h"

struct nsc_pairs {
    struct nsc_map seen;
    uint64_t known; /* both GPUs have a name that holds in all communicators: host and bus id */
    uint64_t open;  /* those beside them that are certain to be others */
    bool at_least;  /* there may be more: of several communicators, or like some that are known */
    bool no_memory;
};

/* Ranks of which no line tells the GPU, as where it was torn, get the bus id that connections print for them. */
void nsc_take_bus_ids(struct ncclscope_model *m);

/* The GPU at an end of a connection. With NSC_GPU_NAMED_EVERYWHERE its name holds in all communicators, and its lower half is the bus id, a
 * string of the model; else it is a rank of one whose GPU no line tells. */
#define NSC_GPU_NAMED_EVERYWHERE ((uint64_t)1 << 63)
uint64_t nsc_gpu_at_end(const struct ncclscope_model *m, const struct nsc_link *l, bool dst);

/* Of a connection within a host that prints bus ids, "3[57000] -> 4[ce000]": that of this end; 0: it prints none. */
nsc_str nsc_bus_at_end(const struct ncclscope_model *m, const struct nsc_link *l, bool dst);

void nsc_pairs_add(struct nsc_pairs *p, const struct ncclscope_model *m, const struct nsc_link *l);
uint64_t nsc_pairs_total(const struct nsc_pairs *p);
void nsc_pairs_free(struct nsc_pairs *p);

#endif
