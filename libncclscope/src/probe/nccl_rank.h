/* nccl_rank.h - one process of a run of NCCL, and where all of them meet. */
#ifndef NSC_NCCL_RANK_H
#define NSC_NCCL_RANK_H

#include "probe/cuda.h"
#include "probe/nccl.h"

#include <stdatomic.h>

struct nsc_nccl_id {
    char internal[128];
};

enum nsc_nccl_operation { NSC_NCCL_ALL_REDUCE, NSC_NCCL_SEND_RECV, NSC_NCCL_OPERATIONS };
enum { NSC_NCCL_SIZES = 4, NSC_NCCL_FIGURES = NSC_NCCL_OPERATIONS * NSC_NCCL_SIZES, NSC_NCCL_SAMPLES = 3 };
extern const size_t nsc_nccl_sizes[NSC_NCCL_SIZES]; /* bytes, the smallest first */

struct nsc_nccl_rank {
    char why[300]; /* it failed */
    int order;     /* of those that failed: from 1 on, the first is the cause of the others */
    float ms[NSC_NCCL_FIGURES][NSC_NCCL_SAMPLES]; /* by operation, then size */
    int64_t wrong[NSC_NCCL_FIGURES];
    atomic_int done; /* figures */
};

/* In memory that all share: there rank 0 leaves the id that NCCL makes and how often each operation is to run, and all leave their figures. */
struct nsc_nccl_meeting {
    struct nsc_nccl_id id;
    atomic_int ready, repeats[NSC_NCCL_FIGURES], version, failed;
    struct nsc_nccl_rank rank[NSC_CUDA_MOST_GPUS];
};

/* In a process of its own: takes part with the first `fitting` sizes, prints to `out`, and ends the process. */
void nsc_be_rank(struct nsc_nccl_meeting *all, const struct nsc_nccl_run *run, int rank, int ranks, int cuda_index,
                 size_t fitting, int out);

#endif
