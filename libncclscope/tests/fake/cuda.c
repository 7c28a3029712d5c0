/* cuda.c - a libcuda.so.1 that plays recorded facts: the GPUs that CUDA saw, in its order. */
#include "fake.h"

enum { NOT_SUPPORTED = 801, INVALID_DEVICE = 101 };

static const struct nsc_gpu_facts *gpu(int ordinal)
{
    for (size_t i = 0; i < facts()->gpus.len; i++)
        if (facts()->gpus.item[i].cuda_index.known && facts()->gpus.item[i].cuda_index.v == ordinal)
            return &facts()->gpus.item[i];
    return NULL;
}

PLAYED int cuInit(unsigned flags);
PLAYED int cuInit(unsigned flags)
{
    (void)flags;
    return trouble("cuInit");
}

PLAYED int cuGetErrorString(int result, const char **out);
PLAYED int cuGetErrorString(int result, const char **out)
{
    *out = result == 100 ? "no CUDA-capable device is detected" : "unknown error";
    return 0;
}

PLAYED int cuDriverGetVersion(int *out);
PLAYED int cuDriverGetVersion(int *out)
{
    GIVE("cuDriverGetVersion", facts()->node.cuda_driver, out);
}

PLAYED int cuDeviceGetCount(int *out);
PLAYED int cuDeviceGetCount(int *out)
{
    *out = 0;
    while (gpu(*out))
        ++*out;
    return *out ? trouble("cuDeviceGetCount") : 100;
}

PLAYED int cuDeviceGet(int *out, int ordinal);
PLAYED int cuDeviceGet(int *out, int ordinal)
{
    *out = ordinal;
    return gpu(ordinal) ? trouble("cuDeviceGet") : INVALID_DEVICE;
}

PLAYED int cuDeviceGetPCIBusId(char *out, int size, int device);
PLAYED int cuDeviceGetPCIBusId(char *out, int size, int device)
{
    return give_text("cuDeviceGetPCIBusId", gpu(device)->bus_id, out, (unsigned)size, NOT_SUPPORTED);
}

PLAYED int cuDeviceGetAttribute(int *out, int attribute, int device);
PLAYED int cuDeviceGetAttribute(int *out, int attribute, int device)
{
    const struct nsc_gpu_facts *g = gpu(device);
    switch (attribute) {
    case 75: GIVE("cuDeviceGetAttribute", g->cc_major, out);
    case 76: GIVE("cuDeviceGetAttribute", g->cc_minor, out);
    case 102: GIVE("cuDeviceGetAttribute", g->vmm, out);
    case 103: GIVE("cuDeviceGetAttribute", g->handle_fd, out);
    case 116: GIVE("cuDeviceGetAttribute", g->gpudirect_rdma, out);
    case 124: GIVE("cuDeviceGetAttribute", g->dma_buf, out);
    case 128: GIVE("cuDeviceGetAttribute", g->handle_fabric, out);
    case 132: GIVE("cuDeviceGetAttribute", g->multicast, out);
    default: return 1;
    }
}

static const struct nsc_pair_facts *pair(int a, int b)
{
    static const struct nsc_pair_facts none;
    const struct nsc_pair_facts *p = nsc_pair_at(facts(), gpu(a)->index.v, gpu(b)->index.v);
    return p ? p : &none;
}

PLAYED int cuDeviceCanAccessPeer(int *out, int a, int b);
PLAYED int cuDeviceCanAccessPeer(int *out, int a, int b)
{
    GIVE("cuDeviceCanAccessPeer", pair(a, b)->can_access, out);
}

PLAYED int cuDeviceGetP2PAttribute(int *out, int attribute, int a, int b);
PLAYED int cuDeviceGetP2PAttribute(int *out, int attribute, int a, int b)
{
    if (attribute == 1)
        GIVE("cuDeviceGetP2PAttribute", pair(a, b)->performance_rank, out);
    GIVE("cuDeviceGetP2PAttribute", pair(a, b)->native_atomics, out);
}
