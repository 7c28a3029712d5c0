/* topology.h - classes of path inside a machine, and what a GRAPH dump says of its GPUs. */
#ifndef NSC_TOPOLOGY_H
#define NSC_TOPOLOGY_H

#include "model/model.h"

/* Classes of path from near to far, as NCCL 2.27.5 and later order them; earlier releases lack some. */
enum nsc_level {
    NSC_LEVEL_LOC,
    NSC_LEVEL_NVL,
    NSC_LEVEL_NVB,
    NSC_LEVEL_C2C,
    NSC_LEVEL_PIX,
    NSC_LEVEL_PXB,
    NSC_LEVEL_P2C,
    NSC_LEVEL_PXN,
    NSC_LEVEL_PHB,
    NSC_LEVEL_SYS,
    NSC_LEVEL_UNKNOWN
};
/* Of "NVL", "PHB" ...; a matrix's "NV18" is NVL, its "NODE" is PHB. */
enum nsc_level nsc_level_of(nsc_text type);

/* What the dump says of a rank's GPU; of the path between two ranks' GPUs; of that from a GPU to a network device. NULL: nothing. */
const struct nsc_gpu_node *nsc_gpu_node_of(const struct ncclscope_model *m, const struct nsc_rank *r);
const struct nsc_gpu_path *nsc_gpu_path_of(const struct ncclscope_model *m, const struct nsc_rank *a,
                                           const struct nsc_rank *b);
const struct nsc_gpu_path *nsc_nic_path_of(const struct ncclscope_model *m, const struct nsc_rank *r, int64_t dev);

#endif
