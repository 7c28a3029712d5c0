/* probe_cuda.c - what CUDA's driver library offers on each GPU and between two: attributes alone, no context and no memory. */
#include "probe/dl.h"
#include "probe/probes.h"

#include <stdio.h>

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
enum { FINE = 0, SYSTEM_NOT_READY = 802, MOST_GPUS = 256 };

static struct {
#define SYM(result, name, arguments, newest, older, need) result(*name) arguments;
#include "cuda.def"
#undef SYM
} cuda;

static bool open_library(char *why, size_t size)
{
    enum { OPTIONAL = 0, REQUIRED = 1 };
    const struct nsc_symbol symbols[] = {
#define SYM(result, name, arguments, newest, older, need) {(void **)&cuda.name, newest, older, need},
#include "cuda.def"
#undef SYM
    };
    return nsc_dl_open("NCCLSCOPE_CUDA", "libcuda.so.1", symbols, sizeof symbols / sizeof symbols[0], why, size);
}

static const char *words_of(int result)
{
    const char *words = NULL;
    return cuda.error_string && cuda.error_string(result, &words) == FINE && words ? words : "no words for it";
}

static void set(struct nsc_fact *f, int device, int attribute)
{
    int v;
    if (cuda.attribute(&v, attribute, device) == FINE)
        nsc_fact_int(f, v);
}

static void look_at_gpu(struct ncclscope_facts *f, struct nsc_gpu_facts *g, int device, int ordinal)
{
    unsigned domain, bus, slot;
    char text[64] = "";
    nsc_fact_int(&g->cuda_index, ordinal);
    if (cuda.bus_id(text, sizeof text, device) == FINE && sscanf(text, "%x:%x:%x", &domain, &bus, &slot) == 3)
        nsc_fact_printf(f, &g->bus_id, "%04x:%02x:%02x.0", domain, bus, slot);
    set(&g->cc_major, device, CC_MAJOR);
    set(&g->cc_minor, device, CC_MINOR);
    set(&g->vmm, device, VMM);
    set(&g->handle_fd, device, HANDLE_FD);
    set(&g->handle_fabric, device, HANDLE_FABRIC);
    set(&g->multicast, device, MULTICAST);
    set(&g->gpudirect_rdma, device, GPUDIRECT_RDMA);
    set(&g->dma_buf, device, DMA_BUF);
}

/* Pairs are named by NVML's index: CUDA counts what is visible, in an order of its own. Without NVML its ordinal has to do. */
static int64_t index_of(const struct ncclscope_facts *known, const struct nsc_gpu_facts *g)
{
    for (size_t i = 0; g->bus_id && i < known->gpus.len; i++)
        if (known->gpus.item[i].bus_id && !strcmp(known->gpus.item[i].bus_id, g->bus_id))
            return known->gpus.item[i].index.v;
    return g->cuda_index.v;
}

static void look_at_pair(struct nsc_pair_facts *p, int a, int b)
{
    int v;
    if (cuda.can_access(&v, a, b) == FINE)
        nsc_fact_int(&p->can_access, v);
    if (cuda.p2p_attribute && cuda.p2p_attribute(&v, P2P_RANK, a, b) == FINE)
        nsc_fact_int(&p->performance_rank, v);
    if (cuda.p2p_attribute && cuda.p2p_attribute(&v, P2P_ATOMICS, a, b) == FINE)
        nsc_fact_int(&p->native_atomics, v);
}

void nsc_probe_cuda(struct ncclscope_facts *f, const struct ncclscope_facts *known)
{
    int device[MOST_GPUS], count = 0, version, result;
    char why[300];
    if (!open_library(why, sizeof why)) {
        nsc_unprobed(f, "cuda", "%s", why);
        return;
    }
    result = cuda.init(0);
    if (result == SYSTEM_NOT_READY)
        nsc_unprobed(f, "cuda",
                     "CUDA says that the system is not ready (802): the fabric manager does not run, or is not of the "
                     "driver's version");
    else if (result != FINE || (result = cuda.count(&count)) != FINE)
        nsc_unprobed(f, "cuda", "CUDA answers: %s (%d)", words_of(result), result);
    if (result != FINE)
        return;
    if (cuda.driver_version && cuda.driver_version(&version) == FINE)
        nsc_fact_int(&f->node.cuda_driver, version);
    count = count < MOST_GPUS ? count : MOST_GPUS;
    for (int i = 0; i < count; i++) {
        struct nsc_gpu_facts *g = cuda.device(&device[i], i) == FINE ? nsc_vec_push(&f->gpus) : NULL;
        if (!g) {
            f->no_memory = true;
            return;
        }
        look_at_gpu(f, g, device[i], i);
        nsc_fact_int(&g->index, index_of(known, g));
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) {
            struct nsc_pair_facts *p = a == b ? NULL : nsc_vec_push(&f->pairs);
            if (!p)
                continue;
            nsc_fact_int(&p->from, f->gpus.item[a].index.v);
            nsc_fact_int(&p->to, f->gpus.item[b].index.v);
            look_at_pair(p, device[a], device[b]);
        }
}
