/* probe_cuda.c - what CUDA's driver library offers on each GPU and between two: attributes alone, no context and no memory. */
#include "probe/cuda.h"
#include "probe/probes.h"

#include <stdio.h>
#include <stdlib.h>

/* Numbers of CUdevice_attribute and CUdevice_P2PAttribute, CUDA 13.0. */
enum {
    CC_MAJOR = 75,
    CC_MINOR = 76,
    VMM = 102,
    HANDLE_FD = 103,
    GPUDIRECT_RDMA = 116,
    DMA_BUF = 124,
    HANDLE_FABRIC = 128,
    MULTICAST = 132,
    P2P_RANK = 1,
    P2P_ATOMICS = 3
};
static void set(const struct nsc_cuda *cuda, struct nsc_fact *f, int device, int attribute)
{
    int v;
    if (cuda->attribute(&v, attribute, device) == NSC_CUDA_FINE)
        nsc_fact_int(f, v);
}

static void look_at_gpu(const struct nsc_cuda *cuda, struct ncclscope_facts *f, struct nsc_fact_gpu *g, int device,
                        int ordinal)
{
    unsigned domain, bus, slot;
    char text[64] = "";
    nsc_fact_int(&g->cuda_index, ordinal);
    if (cuda->bus_id(text, sizeof text, device) == NSC_CUDA_FINE && sscanf(text, "%x:%x:%x", &domain, &bus, &slot) == 3)
        nsc_fact_printf(f, &g->bus_id, "%04x:%02x:%02x.0", domain, bus, slot);
    set(cuda, &g->cc_major, device, CC_MAJOR);
    set(cuda, &g->cc_minor, device, CC_MINOR);
    set(cuda, &g->vmm, device, VMM);
    set(cuda, &g->handle_fd, device, HANDLE_FD);
    set(cuda, &g->handle_fabric, device, HANDLE_FABRIC);
    set(cuda, &g->multicast, device, MULTICAST);
    set(cuda, &g->gpudirect_rdma, device, GPUDIRECT_RDMA);
    set(cuda, &g->dma_buf, device, DMA_BUF);
}

/* Pairs are named by NVML's index: CUDA counts what is visible, in an order of its own. Without NVML its ordinal has to do. */
static int64_t index_of(const struct ncclscope_facts *known, const struct nsc_fact_gpu *g)
{
    for (size_t i = 0; g->bus_id && i < known->gpus.len; i++)
        if (known->gpus.item[i].bus_id && !strcmp(known->gpus.item[i].bus_id, g->bus_id))
            return known->gpus.item[i].index.v;
    return g->cuda_index.v;
}

static void look_at_pair(const struct nsc_cuda *cuda, struct nsc_fact_pair *p, int a, int b)
{
    int v;
    if (cuda->can_access(&v, a, b) == NSC_CUDA_FINE)
        nsc_fact_int(&p->can_access, v);
    if (cuda->p2p_attribute && cuda->p2p_attribute(&v, P2P_RANK, a, b) == NSC_CUDA_FINE)
        nsc_fact_int(&p->performance_rank, v);
    if (cuda->p2p_attribute && cuda->p2p_attribute(&v, P2P_ATOMICS, a, b) == NSC_CUDA_FINE)
        nsc_fact_int(&p->native_atomics, v);
}

void nsc_probe_cuda(struct ncclscope_facts *f, const struct ncclscope_facts *known)
{
    struct nsc_cuda library, *cuda = &library;
    int device[NSC_CUDA_MOST_GPUS], count = 0, version, result;
    char why[300];
    if (!nsc_cuda_open(cuda, why, sizeof why)) {
        nsc_unprobed(f, "cuda", "%s", why);
        return;
    }
    result = cuda->count(&count);
    if (result != NSC_CUDA_FINE) {
        const char *visible = getenv("CUDA_VISIBLE_DEVICES");
        nsc_unprobed(f, "cuda", "CUDA answers: %s (%d)%s%.100s", nsc_cuda_words(cuda, result), result,
                     visible ? "; CUDA_VISIBLE_DEVICES=" : "", visible ? visible : "");
        return;
    }
    if (cuda->driver_version && cuda->driver_version(&version) == NSC_CUDA_FINE)
        nsc_fact_int(&f->node.cuda_driver, version);
    count = count < NSC_CUDA_MOST_GPUS ? count : NSC_CUDA_MOST_GPUS;
    for (int i = 0; i < count; i++) {
        if ((result = cuda->device(&device[i], i)) != NSC_CUDA_FINE) {
            nsc_unprobed(f, "cuda", "device %d: %s (%d)", i, nsc_cuda_words(cuda, result), result);
            return;
        }
        struct nsc_fact_gpu *g = nsc_vec_push(&f->gpus);
        f->no_memory = f->no_memory || !g;
        if (!g)
            return;
        look_at_gpu(cuda, f, g, device[i], i);
        nsc_fact_int(&g->index, index_of(known, g));
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) {
            struct nsc_fact_pair *p = a == b ? NULL : nsc_vec_push(&f->pairs);
            if (!p)
                continue;
            nsc_fact_int(&p->from, f->gpus.item[a].index.v);
            nsc_fact_int(&p->to, f->gpus.item[b].index.v);
            look_at_pair(cuda, p, device[a], device[b]);
        }
}
