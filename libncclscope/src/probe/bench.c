/* bench.c - GPUs made ready to be measured, and the kernels that fill, and compare. */
#include "probe/bench.h"

#include "probe/kernels.h"

#include <stdio.h>

enum { SM_COUNT = 16, PORTABLE = 1 }; /* CUdevice_attribute; of cuMemHostAlloc: for all contexts */

/* ---- getting ready ---- */

static bool make_chain(struct nsc_bench *b, struct nsc_bench_gpu *g, int *failed)
{
    enum { WORDS = CHAIN / 8, STRIDE = 100003 }; /* odd, so that the chain visits every word of a power of two */
    uint64_t *next = b->host;
    for (uint64_t i = 0; i < WORDS; i++)
        next[i] = g->chain + (i + STRIDE) % WORDS * 8;
    TRY(b->cuda.copy(g->chain, (unsigned long long)(uintptr_t)next, CHAIN, g->stream));
    TRY(b->cuda.synchronize());
    return true;
}

/* Would the buffers be in the way of somebody who uses the GPU? */
static bool has_room(struct nsc_bench *b, struct nsc_bench_gpu *g)
{
    size_t left = 0, all = 0;
    if (b->cuda.memory_left(&left, &all) != NSC_CUDA_FINE || left > 4 * b->bytes)
        return true;
    nsc_unprobed(b->f, "measure", "GPU %lld has only %zu MiB of memory left: something else uses it",
                 (long long)g->facts->index.v, left / MIB);
    return false;
}

static bool open_gpu(struct nsc_bench *b, struct nsc_bench_gpu *g, int *failed)
{
    const struct nsc_cuda *c = &b->cuda;
    int sms = 0;
    TRY(c->device(&g->device, (int)g->facts->cuda_index.v));
    TRY(c->retain(&g->context, g->device));
    TRY(c->use(g->context));
    if (!has_room(b, g))
        return false;
    TRY(c->attribute(&sms, SM_COUNT, g->device));
    g->sms = (unsigned)sms;
    TRY(c->stream(&g->stream, 1)); /* not blocking on the default stream */
    TRY(c->event(&g->began, 0));
    TRY(c->event(&g->ended, 0));
    for (int i = 0; i < SLOTS; i++)
        TRY(c->event(&g->slot[i], 2)); /* without times */
    TRY(c->module(&g->module, nsc_kernels));
    TRY(c->function(&g->copy, g->module, "nsc_copy"));
    TRY(c->function(&g->fill, g->module, "nsc_fill"));
    TRY(c->function(&g->check, g->module, "nsc_check"));
    TRY(c->function(&g->chase, g->module, "nsc_chase"));
    if (!b->host)
        TRY(c->alloc_host(&b->host, (size_t)SLOTS * CHUNK, PORTABLE));
    TRY(c->alloc(&g->out, b->bytes));
    TRY(c->alloc(&g->in, b->bytes));
    TRY(c->alloc(&g->chain, CHAIN));
    TRY(c->alloc(&g->word, 16));
    return make_chain(b, g, failed);
}

static void close_gpu(struct nsc_bench *b, struct nsc_bench_gpu *g)
{
    const struct nsc_cuda *c = &b->cuda;
    const unsigned long long memory[] = {g->out, g->in, g->chain, g->word};
    if (!g->context || c->use(g->context) != NSC_CUDA_FINE)
        return;
    if (b->host)
        c->free_host(b->host); /* the first that is closed: it is of all contexts */
    b->host = NULL;
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        if (memory[i])
            c->free(memory[i]);
    c->release(g->device); /* with all else of the context: nobody else in this process uses it */
}

bool nsc_bench_wants(const char *pairs, int64_t a, int64_t b)
{
    for (const char *p = pairs; p; p = strchr(p, ',')) {
        long x, y;
        p += *p == ',';
        if (sscanf(p, "%ld-%ld", &x, &y) == 2 && ((x == a && y == b) || (x == b && y == a)))
            return true;
    }
    return !pairs;
}

/* Is it of a pair that is wanted, and whose other GPU CUDA sees too? What nobody measures takes no memory. */
static bool is_needed(const struct nsc_bench *b, const struct ncclscope_facts *known, int64_t index)
{
    for (size_t i = 0; i < known->gpus.len; i++) {
        const struct nsc_fact_gpu *other = &known->gpus.item[i];
        if (other->cuda_index.known && other->index.v != index &&
            nsc_bench_wants(b->options->pairs, index, other->index.v))
            return true;
    }
    return false;
}

void nsc_bench_open(struct nsc_bench *b, const struct ncclscope_facts *known)
{
    for (size_t i = 0; i < known->gpus.len && b->gpus < NSC_CUDA_MOST_GPUS; i++) {
        struct nsc_bench_gpu *g = &b->gpu[b->gpus++];
        int failed = 0;
        g->facts = &known->gpus.item[i];
        if (!is_needed(b, known, g->facts->index.v))
            continue;
        if (!g->facts->cuda_index.known)
            nsc_unprobed(b->f, "measure", "GPU %lld is not visible to CUDA here", (long long)g->facts->index.v);
        else if (!(g->usable = open_gpu(b, g, &failed)) && failed)
            nsc_unprobed(b->f, "measure", "GPU %lld: %s (%d)", (long long)g->facts->index.v,
                         nsc_cuda_words(&b->cuda, failed), failed);
    }
}

void nsc_bench_close(struct nsc_bench *b)
{
    for (size_t i = 0; i < b->gpus; i++)
        close_gpu(b, &b->gpu[i]);
}

/* ---- kernels ---- */

bool nsc_bench_launch(struct nsc_bench *b, struct nsc_bench_gpu *g, void *kernel, unsigned blocks, unsigned threads,
                      void **arguments, int *failed)
{
    TRY(b->cuda.launch(kernel, blocks, 1, 1, threads, 1, 1, 0, g->stream, arguments, NULL));
    return true;
}

bool nsc_bench_fill(struct nsc_bench *b, struct nsc_bench_gpu *g, int *failed)
{
    unsigned long long at = g->out, count = b->bytes / 4;
    void *arguments[] = {&at, &count, &b->seed};
    TRY(b->cuda.use(g->context));
    if (!nsc_bench_launch(b, g, g->fill, g->sms * 4, THREADS, arguments, failed))
        return false;
    TRY(b->cuda.synchronize());
    return true;
}

bool nsc_bench_clear(struct nsc_bench *b, struct nsc_bench_gpu *g, int *failed)
{
    TRY(b->cuda.use(g->context));
    TRY(b->cuda.set_words(g->in, ~b->seed, b->bytes / 4, g->stream));
    TRY(b->cuda.synchronize());
    return true;
}

bool nsc_bench_check(struct nsc_bench *b, struct nsc_bench_gpu *g, int64_t *wrong, int *failed)
{
    unsigned long long at = g->in, count = b->bytes / 4, word = g->word;
    uint32_t *found = b->host;
    void *arguments[] = {&at, &count, &b->seed, &word};
    TRY(b->cuda.use(g->context));
    TRY(b->cuda.set_words(g->word, 0, 1, g->stream));
    if (!nsc_bench_launch(b, g, g->check, g->sms * 4, THREADS, arguments, failed))
        return false;
    TRY(b->cuda.copy((unsigned long long)(uintptr_t)found, g->word, 4, g->stream));
    TRY(b->cuda.synchronize());
    *wrong += *found;
    return true;
}
