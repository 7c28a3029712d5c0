/* nccl.h - libnccl itself, run across the GPUs of this machine. */
#ifndef NSC_NCCL_H
#define NSC_NCCL_H

#include "probe/facts.h"

struct nsc_nccl_run {
    const char *library;   /* NULL: libnccl.so.2 as the system finds it */
    const char *variables; /* "NCCL_P2P_DISABLE=1,NCCL_SHM_DISABLE=1", set for its processes; NULL: none */
    uint32_t seconds;      /* then it is stopped */
    uint64_t gpu_bytes;    /* memory of each GPU for both buffers */
    void (*log)(void *user, const char *bytes, size_t size); /* what its processes print, as it comes */
    bool (*stops)(void *user, int done, int total);          /* some ten times a second */
    void *user;
};

/* One process for each GPU of `f` that CUDA sees; figures are added to f->collectives without path and via, what went wrong to f->skipped. */
void nsc_run_nccl(struct ncclscope_facts *f, const struct nsc_nccl_run *run);

/* Is it "NAME=VALUE", or several with commas between them? Which GPUs there are is not for them to change: CUDA_VISIBLE_DEVICES is none. */
bool nsc_are_variables(const char *text);

#endif
