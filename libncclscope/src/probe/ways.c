/* ways.c - the methods: `copies` transfers from one GPU to the other, and how many milliseconds they took. */
#include "probe/bench.h"

static bool stop_clock(struct nsc_bench *b, struct nsc_bench_gpu *g, float *ms, int *failed)
{
    TRY(b->cuda.use(g->context));
    TRY(b->cuda.event_wait(g->ended));
    TRY(b->cuda.elapsed(ms, g->began, g->ended));
    return true;
}

static bool by_engine_of(struct nsc_bench *b, const struct nsc_bench_way *w, struct nsc_bench_gpu *who, int copies,
                         float *ms, int *failed)
{
    TRY(b->cuda.use(who->context));
    TRY(b->cuda.record(who->began, who->stream));
    for (int i = 0; i < copies; i++)
        TRY(b->cuda.copy(w->to->in, w->from->out, b->bytes, who->stream));
    TRY(b->cuda.record(who->ended, who->stream));
    return stop_clock(b, who, ms, failed);
}

static bool ce_write(struct nsc_bench *b, const struct nsc_bench_way *w, int copies, float *ms, int *failed)
{
    return by_engine_of(b, w, w->from, copies, ms, failed);
}

static bool ce_read(struct nsc_bench *b, const struct nsc_bench_way *w, int copies, float *ms, int *failed)
{
    return by_engine_of(b, w, w->to, copies, ms, failed);
}

static bool by_kernel_of(struct nsc_bench *b, const struct nsc_bench_way *w, struct nsc_bench_gpu *who, int copies,
                         float *ms, int *failed)
{
    unsigned long long to = w->to->in, from = w->from->out, count = b->bytes / 16;
    void *arguments[] = {&to, &from, &count};
    TRY(b->cuda.use(who->context));
    TRY(b->cuda.record(who->began, who->stream));
    for (int i = 0; i < copies; i++)
        if (!nsc_bench_launch(b, who, who->copy, who->sms * 2, THREADS, arguments, failed))
            return false;
    TRY(b->cuda.record(who->ended, who->stream));
    return stop_clock(b, who, ms, failed);
}

static bool sm_write(struct nsc_bench *b, const struct nsc_bench_way *w, int copies, float *ms, int *failed)
{
    return by_kernel_of(b, w, w->from, copies, ms, failed);
}

static bool sm_read(struct nsc_bench *b, const struct nsc_bench_way *w, int copies, float *ms, int *failed)
{
    return by_kernel_of(b, w, w->to, copies, ms, failed);
}

/* One chunk after the other through pinned host memory: as NCCL's shared memory goes, and what a program without P2P has. */
static bool through_host(struct nsc_bench *b, const struct nsc_bench_way *w, int copies, float *ms, int *failed)
{
    const struct nsc_cuda *c = &b->cuda;
    size_t chunks = b->bytes / CHUNK, n = 0;
    TRY(c->use(w->from->context));
    TRY(c->record(w->from->began, w->from->stream));
    for (int i = 0; i < copies; i++)
        for (size_t k = 0; k < chunks; k++, n++) {
            size_t s = n % SLOTS;
            unsigned long long slot = (unsigned long long)(uintptr_t)b->host + s * CHUNK;
            TRY(c->use(w->from->context));
            if (n >= SLOTS)
                TRY(c->stream_waits(w->from->stream, w->to->slot[s], 0)); /* it is empty again */
            TRY(c->copy(slot, w->from->out + k * CHUNK, CHUNK, w->from->stream));
            TRY(c->record(w->from->slot[s], w->from->stream));
            TRY(c->use(w->to->context));
            TRY(c->stream_waits(w->to->stream, w->from->slot[s], 0));
            TRY(c->copy(w->to->in + k * CHUNK, slot, CHUNK, w->to->stream));
            TRY(c->record(w->to->slot[s], w->to->stream));
        }
    TRY(c->use(w->from->context));
    TRY(c->stream_waits(w->from->stream, w->to->slot[(n - 1) % SLOTS], 0));
    TRY(c->record(w->from->ended, w->from->stream));
    return stop_clock(b, w->from, ms, failed);
}

/* Both directions at once: a chain of loads holds both streams until all copies are queued. */
static bool both_ways(struct nsc_bench *b, const struct nsc_bench_way *w, int copies, float ms[2], int *failed)
{
    const struct nsc_cuda *c = &b->cuda;
    struct nsc_bench_gpu *gpu[] = {w->from, w->to};
    unsigned long long chain = w->from->chain, word = w->from->word;
    uint32_t steps = 1000;
    void *arguments[] = {&chain, &steps, &word};
    TRY(c->use(w->from->context));
    if (!nsc_bench_launch(b, w->from, w->from->chase, 1, 1, arguments, failed))
        return false;
    TRY(c->record(w->from->slot[0], w->from->stream));
    for (int d = 0; d < 2; d++) {
        TRY(c->use(gpu[d]->context));
        TRY(c->stream_waits(gpu[d]->stream, w->from->slot[0], 0));
        TRY(c->record(gpu[d]->began, gpu[d]->stream));
        for (int i = 0; i < copies; i++)
            TRY(c->copy(gpu[!d]->in, gpu[d]->out, b->bytes, gpu[d]->stream));
        TRY(c->record(gpu[d]->ended, gpu[d]->stream));
    }
    return stop_clock(b, gpu[0], &ms[0], failed) && stop_clock(b, gpu[1], &ms[1], failed);
}

/* One load after the other by `to`, in the memory of `from`. */
static bool chase(struct nsc_bench *b, const struct nsc_bench_way *w, int copies, float *ms, int *failed)
{
    unsigned long long chain = w->from->chain, word = w->to->word;
    uint32_t steps = STEPS;
    void *arguments[] = {&chain, &steps, &word};
    (void)copies;
    TRY(b->cuda.use(w->to->context));
    TRY(b->cuda.record(w->to->began, w->to->stream));
    if (!nsc_bench_launch(b, w->to, w->to->chase, 1, 1, arguments, failed))
        return false;
    TRY(b->cuda.record(w->to->ended, w->to->stream));
    return stop_clock(b, w->to, ms, failed);
}

const struct nsc_bench_method nsc_bench_methods[NSC_BENCH_METHODS] = {
#define METHOD(name, words, function, peer, both, loads) {name, words, function, peer, both, loads},
#include "methods.def"
#undef METHOD
};
