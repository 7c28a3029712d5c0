/* cuda.c - a libcuda.so.1 that plays recorded facts: the GPUs that CUDA saw, in its order. */
#include "fake.h"

enum { NOT_SUPPORTED = 801, INVALID_DEVICE = 101 };

static const struct nsc_fact_gpu *gpu(int ordinal)
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
    const struct nsc_fact_gpu *g = gpu(device);
    switch (attribute) {
    case 75: GIVE("cuDeviceGetAttribute", g->cc_major, out);
    case 76: GIVE("cuDeviceGetAttribute", g->cc_minor, out);
    case 102: GIVE("cuDeviceGetAttribute", g->vmm, out);
    case 103: GIVE("cuDeviceGetAttribute", g->handle_fd, out);
    case 116: GIVE("cuDeviceGetAttribute", g->gpudirect_rdma, out);
    case 124: GIVE("cuDeviceGetAttribute", g->dma_buf, out);
    case 128: GIVE("cuDeviceGetAttribute", g->handle_fabric, out);
    case 132: GIVE("cuDeviceGetAttribute", g->multicast, out);
    case 16: *out = 132; return 0; /* multiprocessors */
    default: return 1;
    }
}

static const struct nsc_fact_pair *pair(int a, int b)
{
    static const struct nsc_fact_pair none;
    const struct nsc_fact_pair *p = nsc_pair_at(facts(), gpu(a)->index.v, gpu(b)->index.v);
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

/* ---- memory and work: memory is of the host, kernels run here, and each stream has a clock that a copy moves on by what the facts
 * say that it takes ---- */

struct context {
    int ordinal; /* -1: none */
};
struct stream {
    struct context *context;
    double ms;
};
struct event {
    double ms;
};
struct block {
    char *at;
    size_t size;
    int ordinal; /* -1: the host's */
};

enum { NOT_FOUND = 500, INVALID_VALUE = 1, BLOCKS = 256 };
static struct context contexts[64];
static struct context *current;
static struct block blocks[BLOCKS];

PLAYED int cuDevicePrimaryCtxRetain(void **out, int device);
PLAYED int cuDevicePrimaryCtxRetain(void **out, int device)
{
    contexts[device].ordinal = device;
    *out = &contexts[device];
    return trouble("cuDevicePrimaryCtxRetain");
}

PLAYED int cuDevicePrimaryCtxRelease_v2(int device);
PLAYED int cuDevicePrimaryCtxRelease_v2(int device)
{
    return gpu(device) ? 0 : INVALID_DEVICE;
}

PLAYED int cuCtxSetCurrent(void *context);
PLAYED int cuCtxSetCurrent(void *context)
{
    current = context;
    return 0;
}

PLAYED int cuCtxEnablePeerAccess(void *context, unsigned flags);
PLAYED int cuCtxEnablePeerAccess(void *context, unsigned flags)
{
    (void)flags;
    return context == current ? INVALID_VALUE : trouble("cuCtxEnablePeerAccess");
}

static double latest, now; /* what any clock shows; what all show since work was last waited for */

static void move_on(struct stream *s, double ms)
{
    s->ms = (s->ms > now ? s->ms : now) + ms;
    latest = latest > s->ms ? latest : s->ms;
}

PLAYED int cuCtxDisablePeerAccess(void *context);
PLAYED int cuCtxDisablePeerAccess(void *context)
{
    return context == current ? INVALID_VALUE : 0;
}

PLAYED int cuCtxSynchronize(void);
PLAYED int cuCtxSynchronize(void)
{
    now = latest;
    return trouble("cuCtxSynchronize");
}

PLAYED int cuMemGetInfo_v2(size_t *left, size_t *all);
PLAYED int cuMemGetInfo_v2(size_t *left, size_t *all)
{
    const struct nsc_fact_gpu *g = gpu(current->ordinal);
    *all = (size_t)g->memory_bytes.v;
    *left = *all - (size_t)g->memory_used_bytes.v;
    return 0;
}

static int take(char **out, size_t size, int ordinal)
{
    size_t i = 0;
    while (i < BLOCKS && blocks[i].at)
        i++;
    if (i == BLOCKS || !(blocks[i].at = malloc(size)))
        return 2;
    blocks[i].size = size;
    blocks[i].ordinal = ordinal;
    *out = blocks[i].at;
    return 0;
}

static struct block *block_of(const char *at)
{
    for (size_t i = 0; i < BLOCKS; i++)
        if (blocks[i].at && at >= blocks[i].at && at < blocks[i].at + blocks[i].size)
            return &blocks[i];
    return NULL;
}

PLAYED int cuMemAlloc_v2(unsigned long long *out, size_t size);
PLAYED int cuMemAlloc_v2(unsigned long long *out, size_t size)
{
    char *at = NULL;
    int t = trouble("cuMemAlloc");
    t = t ? t : take(&at, size, current->ordinal);
    *out = (unsigned long long)(uintptr_t)at;
    return t;
}

static int give_back(char *at)
{
    struct block *b = block_of(at);
    if (!b || b->at != at)
        return INVALID_VALUE;
    free(b->at);
    b->at = NULL;
    return 0;
}

PLAYED int cuMemFree_v2(unsigned long long at);
PLAYED int cuMemFree_v2(unsigned long long at)
{
    return give_back((char *)(uintptr_t)at);
}

PLAYED int cuMemHostAlloc(void **out, size_t size, unsigned flags);
PLAYED int cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    (void)flags;
    return take((char **)out, size, -1);
}

PLAYED int cuMemFreeHost(void *at);
PLAYED int cuMemFreeHost(void *at)
{
    return give_back(at);
}

static const struct nsc_fact_measured *recorded(int from, int to, const char *method)
{
    for (size_t i = 0; i < facts()->measured.len; i++) {
        const struct nsc_fact_measured *x = &facts()->measured.item[i];
        bool any = from < 0 || to < 0; /* through the host: whatever pair it is for */
        if (!strcmp(x->method, method) && (any || (x->from.v == gpu(from)->index.v && x->to.v == gpu(to)->index.v)))
            return x;
    }
    return NULL;
}

/* As the machine did it: after so long, with so many words wrong. */
static int carry(char *to, const char *from, size_t size, struct stream *s, bool kernel)
{
    const struct block *target = block_of(to), *source = block_of(from);
    if (!target && source) { /* memory that is not pinned */
        memcpy(to, from, size);
        return 0;
    }
    if (!target || !source || to + size > target->at + target->size || from + size > source->at + source->size)
        return 700;
    bool host = target->ordinal < 0 || source->ordinal < 0, writes = s->context->ordinal == source->ordinal;
    const char *method = host ? "shm" : kernel ? (writes ? "sm-write" : "sm-read") : writes ? "ce-write" : "ce-read";
    const struct nsc_fact_measured *x = recorded(source->ordinal, target->ordinal, method);
    memcpy(to, from, size);
    move_on(s, x ? (double)size / (double)x->mb_s.v / 1000 : 0.001);
    for (int64_t i = 0; x && !host && i < x->wrong_words.v && (size_t)i < size / 4; i++)
        to[i * 4] = (char)~to[i * 4];
    return 0;
}

PLAYED int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t size, void *stream);
PLAYED int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t size, void *stream)
{
    int t = trouble("cuMemcpyAsync");
    return t ? t : carry((char *)(uintptr_t)to, (char *)(uintptr_t)from, size, stream, false);
}

PLAYED int cuMemsetD32Async(unsigned long long to, unsigned word, size_t count, void *stream);
PLAYED int cuMemsetD32Async(unsigned long long to, unsigned word, size_t count, void *stream)
{
    unsigned *at = (unsigned *)(uintptr_t)to;
    (void)stream;
    for (size_t i = 0; i < count; i++)
        at[i] = word;
    return 0;
}

static int make(void **out, size_t size)
{
    *out = calloc(1, size);
    return *out ? 0 : 2;
}

PLAYED int cuStreamCreate(void **out, unsigned flags);
PLAYED int cuStreamCreate(void **out, unsigned flags)
{
    int result = make(out, sizeof(struct stream));
    (void)flags;
    if (!result)
        ((struct stream *)*out)->context = current;
    return result;
}

PLAYED int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
PLAYED int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    struct stream *s = stream;
    double ms = ((struct event *)event)->ms;
    (void)flags;
    move_on(s, 0);
    move_on(s, s->ms < ms ? ms - s->ms : 0);
    return 0;
}

PLAYED int cuEventCreate(void **out, unsigned flags);
PLAYED int cuEventCreate(void **out, unsigned flags)
{
    (void)flags;
    return make(out, sizeof(struct event));
}

PLAYED int cuEventRecord(void *event, void *stream);
PLAYED int cuEventRecord(void *event, void *stream)
{
    move_on(stream, 0);
    ((struct event *)event)->ms = ((struct stream *)stream)->ms;
    return 0;
}

PLAYED int cuEventSynchronize(void *event);
PLAYED int cuEventSynchronize(void *event)
{
    (void)event;
    return trouble("cuEventSynchronize");
}

PLAYED int cuEventElapsedTime(float *out, void *began, void *ended);
PLAYED int cuEventElapsedTime(float *out, void *began, void *ended)
{
    *out = (float)(((struct event *)ended)->ms - ((struct event *)began)->ms);
    return 0;
}

PLAYED int cuModuleLoadData(void **out, const void *image);
PLAYED int cuModuleLoadData(void **out, const void *image)
{
    *out = (void *)(uintptr_t)image;
    return strncmp(image, ".version", 8) ? INVALID_VALUE : trouble("cuModuleLoadData");
}

enum { FILL = 1, CHECK, COPY, CHASE };

PLAYED int cuModuleGetFunction(void **out, void *module, const char *name);
PLAYED int cuModuleGetFunction(void **out, void *module, const char *name)
{
    static const char *const names[] = {"nsc_fill", "nsc_check", "nsc_copy", "nsc_chase"};
    int i = word_index(name, names, 4);
    char entry[64];
    snprintf(entry, sizeof entry, ".entry %s(", i < 0 ? "" : names[i]);
    *out = (void *)(uintptr_t)(i + 1);
    return i < 0 || !strstr(module, entry) ? NOT_FOUND : 0;
}

static unsigned pattern(unsigned long long i, unsigned seed)
{
    return (unsigned)i * 0x9E3779B1u ^ seed;
}

static void follow(struct stream *s, unsigned long long at, unsigned steps, unsigned long long *out)
{
    const struct block *b = block_of((char *)(uintptr_t)at);
    const struct nsc_fact_measured *x =
        b && b->ordinal != s->context->ordinal ? recorded(b->ordinal, s->context->ordinal, "latency") : NULL;
    for (unsigned i = 0; i < steps; i++)
        at = *(unsigned long long *)(uintptr_t)at;
    *out = at;
    move_on(s, (x ? (double)x->ns.v : 600) * steps / 1e6);
}

/* Arguments as the kernels have them: the product's kernels.c. */
PLAYED int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c,
                          unsigned shared, void *stream, void **arguments, void **extra);
PLAYED int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c,
                          unsigned shared, void *stream, void **arguments, void **extra)
{
    unsigned long long at = *(unsigned long long *)arguments[0];
    unsigned long long second = function == (void *)CHASE ? 0 : *(unsigned long long *)arguments[1];
    unsigned *words = (unsigned *)(uintptr_t)at;
    (void)y, (void)z, (void)b, (void)c, (void)shared, (void)extra;
    if (!x || !a)
        return INVALID_VALUE;
    switch ((int)(uintptr_t)function) {
    case FILL:
        for (unsigned long long i = 0; i < second; i++)
            words[i] = pattern(i, *(unsigned *)arguments[2]);
        break;
    case CHECK:
        for (unsigned long long i = 0; i < second; i++)
            if (words[i] != pattern(i, *(unsigned *)arguments[2]))
                ++*(unsigned *)(uintptr_t) * (unsigned long long *)arguments[3];
        break;
    case COPY:
        return carry((char *)words, (char *)(uintptr_t)second, *(unsigned long long *)arguments[2] * 16, stream, true);
    case CHASE:
        follow(stream, at, *(unsigned *)arguments[1],
               (unsigned long long *)(uintptr_t) * (unsigned long long *)arguments[2]);
        break;
    default: return INVALID_VALUE;
    }
    return trouble("cuLaunchKernel");
}

/* For the NCCL that is played: its operations take time on a stream too. */
PLAYED void fake_move_on(void *stream, double ms);
PLAYED void fake_move_on(void *stream, double ms)
{
    move_on(stream, ms);
}
