/* gpus.h - which GPU a log tells of. */
#ifndef NSC_GPUS_H
#define NSC_GPUS_H

#include "model/model.h"

struct nsc_gpu {
    const char *words, *name;
    int cc, nvlink, links;
    double gb_s;
    bool p2p; /* over PCIe */
    const char *source;
};

/* A machine type, as the cloud names it. */
struct nsc_platform {
    const char *name;
    int gpus, nics;
    const char *model, *link;
    double link_gb_s, nic_gb_s;
    const char *source;
};
const struct nsc_platform *nsc_platform_of(nsc_text name);

/* How the model is known. */
enum nsc_gpu_how { NSC_GPU_UNKNOWN, NSC_GPU_BY_LINKS, NSC_GPU_BY_PLATFORM, NSC_GPU_NAMED };

struct nsc_gpu_class {
    enum nsc_gpu_how how;
    const struct nsc_gpu *gpu; /* with BY_LINKS: one of those that have just these links */
    const struct nsc_where *line;
};

/* Each process gets the name of its GPU, as far as other programs print one. When ranks are joined. */
void nsc_gpus_settle(struct ncclscope_model *m);

/* The GPU of this process: named by nccl-tests or by facts, by its machine type, or by its NVLinks in a GRAPH dump. */
struct nsc_gpu_class nsc_gpu_of(const struct ncclscope_model *m, uint32_t proc);

/* Its name as a program prints it: nccl-tests of the process, or nvidia-smi of the only model in the input; len 0: none does. */
nsc_text nsc_gpu_name(const struct ncclscope_model *m, uint32_t proc, const struct nsc_where **line);

/* Its compute capability times ten, by facts or the model; 0: not known. */
int nsc_cc_of(const struct ncclscope_model *m, uint32_t proc);

/* Slices of a GPU (MIG), by the pod's limits or the name that nccl-tests prints. */
bool nsc_is_mig(const struct ncclscope_model *m, uint32_t proc);

/* NCCL_MULTI_RANK_GPU_ENABLE=1 of the rank's process. */
bool nsc_shares_by_request(const struct ncclscope_model *m, const struct nsc_rank *r);

/* May two ranks of one host name and bus id be on one GPU? Else they are on machines that share a name. */
bool nsc_may_share_gpu(const struct ncclscope_model *m, const struct nsc_rank *a, const struct nsc_rank *b);

/* Ranks that share a GPU under several names of one machine, where NCCL_MULTI_RANK_GPU_ENABLE asks for that. Once machines are found. */
void nsc_find_gpus_of_names(struct ncclscope_model *m);

/* What tells the GPU of a rank with a bus id from another: machine, where it is shared, or host name; and the id. */
struct nsc_key nsc_gpu_key(const struct ncclscope_model *m, const struct nsc_rank *r);

/* How many NVLinks are behind this sum in a GRAPH dump, for a GPU of this capability; 0: it is no whole number of them. */
int nsc_count_nvlinks(unsigned version, int cc, double gb_s);

#endif
