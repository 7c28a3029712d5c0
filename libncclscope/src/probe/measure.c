/* measure.c - pairs of GPUs, one after the other, by each method: verified, warmed up, the median of the repeats.
 *
 * Each GPU has two buffers of `bytes`: out, which others read or which is sent, and in, where data arrives. A figure is
 *     fill out of the source; then, first to warm up and five times to count: clear in of the target, transfer, compare in with the pattern. */
#include "probe/apart.h"
#include "probe/cuda.h"
#include "probe/kernels.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    MIB = 1024 * 1024,
    SECONDS = 90,
    GPU_BYTES = 512 * MIB,
    REPEATS = 5,
    MOST_COPIES = 16,
    SAMPLE_MS = 10, /* copies of one sample, together: long against what starting them takes */
    SLOTS = 8,      /* host memory between two GPUs: chunks on their way */
    CHUNK = 4 * MIB,
    CHAIN = 2 * MIB, /* that a latency is measured in: as nvbandwidth has it */
    STEPS = 10000,   /* loads */
    FAILURES = 3,    /* then no more is tried: a context that failed once fails always */
    THREADS = 512,
    SM_COUNT = 16, /* CUdevice_attribute */
    PORTABLE = 1,  /* cuMemHostAlloc: for all contexts */
    PEER_ON_ALREADY = 704
};

/* Shared with whoever waits: also what there is when the process that measures ends before it can tell. */
struct progress {
    atomic_int done, total, stop, opened; /* opened: GPUs are ready */
    atomic_int at, from, to;              /* which method it is at, on which GPUs */
    atomic_int figures;
    struct nsc_measured figure[]; /* texts are constants, at the same place in both */
};

struct gpu {
    const struct nsc_gpu_facts *facts;
    void *context, *stream, *module, *copy, *fill, *check, *chase;
    void *began, *ended, *slot[SLOTS];       /* events */
    unsigned long long out, in, chain, word; /* device memory; word: one number that kernels count in */
    unsigned sms;
    int device;
    bool usable;
};

struct bench {
    struct nsc_cuda cuda;
    struct ncclscope_facts *f;
    struct gpu gpu[NSC_CUDA_MOST_GPUS];
    size_t gpus, bytes;
    void *host; /* pinned: SLOTS chunks */
    const ncclscope_measure_options *options;
    struct progress *progress;
    int64_t end;
    int failures;
    uint32_t seed;
};

/* A result that is not fine ends the function: false, `failed` set. */
#define TRY(call) \
    do { \
        int result_ = (call); \
        if (result_ != NSC_CUDA_FINE) { \
            *failed = result_; \
            return false; \
        } \
    } while (0)

/* ---- getting ready ---- */

static bool make_chain(struct bench *b, struct gpu *g, int *failed)
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
static bool has_room(struct bench *b, struct gpu *g)
{
    size_t left = 0, all = 0;
    if (b->cuda.memory_left(&left, &all) != NSC_CUDA_FINE || left > 4 * b->bytes)
        return true;
    nsc_unprobed(b->f, "measure", "GPU %lld has only %zu MiB of memory left: something else uses it",
                 (long long)g->facts->index.v, left / MIB);
    return false;
}

static bool open_gpu(struct bench *b, struct gpu *g, int *failed)
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

static void close_gpu(struct bench *b, struct gpu *g)
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

/* "0-1,2-3": is this pair among them? All are where none is named. */
static bool is_wanted(const char *pairs, int64_t a, int64_t b)
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
static bool is_needed(const struct bench *b, const struct ncclscope_facts *known, int64_t index)
{
    for (size_t i = 0; i < known->gpus.len; i++) {
        const struct nsc_gpu_facts *other = &known->gpus.item[i];
        if (other->cuda_index.known && other->index.v != index && is_wanted(b->options->pairs, index, other->index.v))
            return true;
    }
    return false;
}

static void open_gpus(struct bench *b, const struct ncclscope_facts *known)
{
    for (size_t i = 0; i < known->gpus.len && b->gpus < NSC_CUDA_MOST_GPUS; i++) {
        struct gpu *g = &b->gpu[b->gpus++];
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

/* ---- kernels ---- */

static bool launch(struct bench *b, struct gpu *g, void *kernel, unsigned blocks, unsigned threads, void **arguments,
                   int *failed)
{
    TRY(b->cuda.launch(kernel, blocks, 1, 1, threads, 1, 1, 0, g->stream, arguments, NULL));
    return true;
}

static bool fill(struct bench *b, struct gpu *g, int *failed)
{
    unsigned long long at = g->out, count = b->bytes / 4;
    void *arguments[] = {&at, &count, &b->seed};
    TRY(b->cuda.use(g->context));
    if (!launch(b, g, g->fill, g->sms * 4, THREADS, arguments, failed))
        return false;
    TRY(b->cuda.synchronize());
    return true;
}

static bool clear(struct bench *b, struct gpu *g, int *failed)
{
    TRY(b->cuda.use(g->context));
    TRY(b->cuda.set_words(g->in, ~b->seed, b->bytes / 4, g->stream));
    TRY(b->cuda.synchronize());
    return true;
}

/* Adds the words of `in` that are not those of the pattern. */
static bool check(struct bench *b, struct gpu *g, int64_t *wrong, int *failed)
{
    unsigned long long at = g->in, count = b->bytes / 4, word = g->word;
    uint32_t *found = b->host;
    void *arguments[] = {&at, &count, &b->seed, &word};
    TRY(b->cuda.use(g->context));
    TRY(b->cuda.set_words(g->word, 0, 1, g->stream));
    if (!launch(b, g, g->check, g->sms * 4, THREADS, arguments, failed))
        return false;
    TRY(b->cuda.copy((unsigned long long)(uintptr_t)found, g->word, 4, g->stream));
    TRY(b->cuda.synchronize());
    *wrong += *found;
    return true;
}

/* ---- methods: `copies` transfers from one GPU to the other, and how many milliseconds they took ---- */

struct way {
    struct gpu *from, *to;
};

static bool stop_clock(struct bench *b, struct gpu *g, float *ms, int *failed)
{
    TRY(b->cuda.use(g->context));
    TRY(b->cuda.event_wait(g->ended));
    TRY(b->cuda.elapsed(ms, g->began, g->ended));
    return true;
}

static bool by_engine_of(struct bench *b, const struct way *w, struct gpu *who, int copies, float *ms, int *failed)
{
    TRY(b->cuda.use(who->context));
    TRY(b->cuda.record(who->began, who->stream));
    for (int i = 0; i < copies; i++)
        TRY(b->cuda.copy(w->to->in, w->from->out, b->bytes, who->stream));
    TRY(b->cuda.record(who->ended, who->stream));
    return stop_clock(b, who, ms, failed);
}

static bool ce_write(struct bench *b, const struct way *w, int copies, float *ms, int *failed)
{
    return by_engine_of(b, w, w->from, copies, ms, failed);
}

static bool ce_read(struct bench *b, const struct way *w, int copies, float *ms, int *failed)
{
    return by_engine_of(b, w, w->to, copies, ms, failed);
}

static bool by_kernel_of(struct bench *b, const struct way *w, struct gpu *who, int copies, float *ms, int *failed)
{
    unsigned long long to = w->to->in, from = w->from->out, count = b->bytes / 16;
    void *arguments[] = {&to, &from, &count};
    TRY(b->cuda.use(who->context));
    TRY(b->cuda.record(who->began, who->stream));
    for (int i = 0; i < copies; i++)
        if (!launch(b, who, who->copy, who->sms * 2, THREADS, arguments, failed))
            return false;
    TRY(b->cuda.record(who->ended, who->stream));
    return stop_clock(b, who, ms, failed);
}

static bool sm_write(struct bench *b, const struct way *w, int copies, float *ms, int *failed)
{
    return by_kernel_of(b, w, w->from, copies, ms, failed);
}

static bool sm_read(struct bench *b, const struct way *w, int copies, float *ms, int *failed)
{
    return by_kernel_of(b, w, w->to, copies, ms, failed);
}

/* One chunk after the other through pinned host memory: as NCCL's shared memory goes, and what a program without P2P has. */
static bool through_host(struct bench *b, const struct way *w, int copies, float *ms, int *failed)
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
static bool both_ways(struct bench *b, const struct way *w, int copies, float ms[2], int *failed)
{
    const struct nsc_cuda *c = &b->cuda;
    struct gpu *gpu[] = {w->from, w->to};
    unsigned long long chain = w->from->chain, word = w->from->word;
    uint32_t steps = 1000;
    void *arguments[] = {&chain, &steps, &word};
    TRY(c->use(w->from->context));
    if (!launch(b, w->from, w->from->chase, 1, 1, arguments, failed))
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
static bool chase(struct bench *b, const struct way *w, int copies, float *ms, int *failed)
{
    unsigned long long chain = w->from->chain, word = w->to->word;
    uint32_t steps = STEPS;
    void *arguments[] = {&chain, &steps, &word};
    (void)copies;
    TRY(b->cuda.use(w->to->context));
    TRY(b->cuda.record(w->to->began, w->to->stream));
    if (!launch(b, w->to, w->to->chase, 1, 1, arguments, failed))
        return false;
    TRY(b->cuda.record(w->to->ended, w->to->stream));
    return stop_clock(b, w->to, ms, failed);
}

static const struct method {
    const char *name, *words;
    bool (*transfer)(struct bench *b, const struct way *w, int copies, float *ms, int *failed);
    bool peer, both, loads;
} methods[] = {
#define METHOD(name, words, function, peer, both, loads) {name, words, function, peer, both, loads},
#include "methods.def"
#undef METHOD
};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* ---- one figure ---- */

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static bool once(struct bench *b, const struct method *m, const struct way *w, int copies, float ms[2],
                 int64_t wrong[2], int *failed)
{
    if (m->loads)
        return m->transfer(b, w, copies, ms, failed);
    return clear(b, w->to, failed) && (!m->both || clear(b, w->from, failed)) &&
           m->transfer(b, w, copies, ms, failed) && check(b, w->to, &wrong[0], failed) &&
           (!m->both || check(b, w->from, &wrong[1], failed));
}

static void keep(struct bench *b, const struct method *m, const struct way *w, int copies, float *samples,
                 int64_t wrong)
{
    int n = atomic_load(&b->progress->figures);
    struct nsc_measured *x = &b->progress->figure[n];
    qsort(samples, REPEATS, sizeof *samples, by_size);
    double ms = samples[REPEATS / 2] > 0 ? (double)samples[REPEATS / 2] : 1e-6;
    x->method = m->name;
    nsc_fact_int(&x->from, w->from->facts->index.v);
    nsc_fact_int(&x->to, w->to->facts->index.v);
    nsc_fact_int(&x->repeats, REPEATS);
    if (m->loads) {
        nsc_fact_int(&x->ns, (int64_t)(ms * 1e6 / STEPS + 0.5));
    } else {
        nsc_fact_int(&x->mb_s, (int64_t)((double)b->bytes * copies / ms / 1000 + 0.5));
        nsc_fact_int(&x->bytes, (int64_t)b->bytes);
        nsc_fact_int(&x->wrong_words, wrong);
    }
    atomic_store(&b->progress->figures, n + 1);
}

static bool measure(struct bench *b, const struct method *m, const struct way *w, int *failed)
{
    float ms[2] = {0}, samples[2][REPEATS];
    int64_t wrong[2] = {0};
    b->seed = b->seed * 747796405u + 2891336453u;
    if (!m->loads && (!fill(b, w->from, failed) || (m->both && !fill(b, w->to, failed))))
        return false;
    if (!once(b, m, w, 1, ms, wrong, failed))
        return false;
    int copies = ms[0] > 0 && ms[0] * MOST_COPIES > SAMPLE_MS ? (int)(SAMPLE_MS / ms[0]) : MOST_COPIES;
    copies = copies > 1 ? copies : 1;
    for (int i = 0; i < REPEATS; i++) {
        if (!once(b, m, w, copies, ms, wrong, failed))
            return false;
        samples[0][i] = ms[0];
        samples[1][i] = ms[1];
    }
    keep(b, m, w, copies, samples[0], wrong[0]);
    if (m->both)
        keep(b, m, &(struct way){w->to, w->from}, copies, samples[1], wrong[1]);
    return true;
}

/* ---- all of them ---- */

static bool can_reach(struct bench *b, const struct gpu *x, const struct gpu *y)
{
    int can = 0;
    return b->cuda.can_access(&can, x->device, y->device) == NSC_CUDA_FINE && can;
}

/* Both ways; only while the pair is measured, as a GPU without NVSwitches has eight peers at most. */
static bool join_peers(struct bench *b, const struct way *w, int *failed)
{
    struct gpu *gpu[] = {w->from, w->to};
    for (int i = 0; i < 2; i++) {
        TRY(b->cuda.use(gpu[i]->context));
        int result = b->cuda.enable_peer(gpu[!i]->context, 0);
        if (result != PEER_ON_ALREADY)
            TRY(result);
    }
    return true;
}

static void part_peers(struct bench *b, const struct way *w)
{
    struct gpu *gpu[] = {w->from, w->to};
    for (int i = 0; i < 2; i++)
        if (b->cuda.use(gpu[i]->context) == NSC_CUDA_FINE)
            b->cuda.disable_peer(gpu[!i]->context);
}

/* Calls `each` with the pairs that the method can measure and that are wanted. */
static int for_pairs(struct bench *b, const struct method *m,
                     void (*each)(struct bench *, const struct method *, const struct way *))
{
    int n = 0;
    for (size_t i = 0; i < b->gpus; i++)
        for (size_t k = 0; k < b->gpus; k++) {
            struct way w = {&b->gpu[i], &b->gpu[k]};
            if (i == k || (m->both && k < i) || !w.from->usable || !w.to->usable ||
                !is_wanted(b->options->pairs, w.from->facts->index.v, w.to->facts->index.v) ||
                (m->peer && !(can_reach(b, w.from, w.to) && can_reach(b, w.to, w.from))))
                continue;
            n++;
            if (each)
                each(b, m, &w);
        }
    return n;
}

static bool is_over(struct bench *b)
{
    return atomic_load(&b->progress->stop) || nsc_now_ms() >= b->end || b->failures >= FAILURES;
}

static void measure_pair(struct bench *b, const struct method *m, const struct way *w)
{
    int failed = 0;
    if (is_over(b))
        return;
    atomic_store(&b->progress->at, (int)(m - methods));
    atomic_store(&b->progress->from, (int)w->from->facts->index.v);
    atomic_store(&b->progress->to, (int)w->to->facts->index.v);
    if ((m->peer && !join_peers(b, w, &failed)) || !measure(b, m, w, &failed)) {
        nsc_unprobed(b->f, "measure", "%s from GPU %lld to GPU %lld: %s (%d)", m->words,
                     (long long)w->from->facts->index.v, (long long)w->to->facts->index.v,
                     nsc_cuda_words(&b->cuda, failed), failed);
        b->failures++;
    }
    if (m->peer)
        part_peers(b, w);
    atomic_fetch_add(&b->progress->done, 1);
}

static void measure_all(struct bench *b)
{
    int total = 0;
    for (size_t i = 0; i < METHODS; i++)
        total += for_pairs(b, &methods[i], NULL);
    atomic_store(&b->progress->total, total);
    for (size_t i = 0; i < METHODS; i++)
        for_pairs(b, &methods[i], measure_pair);
    int done = atomic_load(&b->progress->done);
    if (!total)
        nsc_unprobed(b->f, "measure", "there are no two GPUs here that could be measured");
    if (done < total)
        nsc_unprobed(b->f, "measure", "%s: %d of %d measurements were made",
                     atomic_load(&b->progress->stop) ? "stopped"
                     : b->failures >= FAILURES       ? "given up after it failed"
                                                     : "the time was over",
                     done, total);
}

struct errand {
    const ncclscope_measure_options *options;
    struct progress *progress;
    int64_t end; /* of the time that was given */
    ncclscope_progress_fn *tell;
    void *user;
};

static void measure_here(struct ncclscope_facts *f, const struct ncclscope_facts *known, void *user)
{
    const struct errand *e = user;
    struct bench *b = nsc_alloc(sizeof *b);
    char why[300];
    f->no_memory = f->no_memory || !b;
    if (!b)
        return;
    b->f = f;
    b->options = e->options;
    b->progress = e->progress;
    b->end = nsc_now_ms() + e->options->seconds * INT64_C(1000);
    b->bytes = (size_t)(e->options->gpu_bytes - 2 * CHAIN) / 2 / CHUNK * CHUNK;
    setenv("CUDA_CACHE_DISABLE", "1", 1); /* the driver's compiler shall leave nothing in anybody's home */
    if (!nsc_cuda_open(&b->cuda, why, sizeof why) || !nsc_cuda_can_work(&b->cuda, why, sizeof why))
        nsc_unprobed(f, "measure", "%s", why);
    else {
        open_gpus(b, known);
        atomic_store(&b->progress->opened, 1);
        measure_all(b);
        for (size_t i = 0; i < b->gpus; i++)
            close_gpu(b, &b->gpu[i]);
    }
    nsc_free(b);
}

static bool tell_progress(void *user)
{
    const struct errand *e = user;
    struct progress *p = e->progress;
    if (e->tell && e->tell(e->user, atomic_load(&p->done), atomic_load(&p->total)))
        atomic_store(&p->stop, 1);
    return atomic_load(&p->stop) || (atomic_load(&p->opened) && nsc_now_ms() >= e->end);
}

/* What was measured, also by a process that did not live to tell; then where it was. */
static void collect(struct ncclscope_facts *f, struct progress *p, bool died)
{
    int n = atomic_load(&p->figures);
    for (int i = 0; i < n; i++) {
        struct nsc_measured *x = nsc_vec_push(&f->measured);
        f->no_memory = f->no_memory || !x;
        if (x)
            *x = p->figure[i];
    }
    if (died && atomic_load(&p->opened) && atomic_load(&p->total))
        nsc_unprobed(f, "measure", "that was at: %s, from GPU %d to GPU %d; %d of %d measurements were made",
                     methods[atomic_load(&p->at)].words, atomic_load(&p->from), atomic_load(&p->to),
                     atomic_load(&p->done), atomic_load(&p->total));
}

static int check_pairs(const struct ncclscope_facts *f, const char *pairs, ncclscope_error *err)
{
    for (const char *p = pairs; p; p = strchr(p, ',')) {
        long a, b;
        int n = 0;
        p += *p == ',';
        if (sscanf(p, "%ld-%ld%n", &a, &b, &n) != 2 || (p[n] && p[n] != ',') || a == b || !nsc_gpu_at(f, a) ||
            !nsc_gpu_at(f, b))
            return nsc_fail(err, NCCLSCOPE_EINVAL, 0,
                            "pairs are two GPUs as nvidia-smi counts them, \"0-1,2-3\"; this is none: %.40s", p);
    }
    return NCCLSCOPE_OK;
}

int ncclscope_measure(ncclscope_facts *f, const ncclscope_measure_options *options, ncclscope_progress_fn *progress,
                      void *user, ncclscope_error *err)
{
    ncclscope_measure_options o = {.size = sizeof o};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    o.seconds = o.seconds ? o.seconds : SECONDS;
    o.gpu_bytes = o.gpu_bytes ? o.gpu_bytes : GPU_BYTES;
    if (o.gpu_bytes < 2 * CHAIN + 2 * CHUNK)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "at least %d MiB of each GPU are needed",
                        (2 * CHAIN + 2 * CHUNK) / MIB);
    int rc = check_pairs(f, o.pairs, err);
    if (rc)
        return rc;
    o.seconds = o.seconds < 1000000 ? o.seconds : 1000000;
    size_t most = METHODS * f->gpus.len * f->gpus.len,
           size = sizeof(struct progress) + most * sizeof(struct nsc_measured);
    struct progress *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    struct errand e = {&o, shared, nsc_now_ms() + o.seconds * INT64_C(1000), progress, user};
    bool died =
        !nsc_ask_apart(f, &(struct nsc_errand){.name = "measure",
                                               .run = measure_here,
                                               .waiting = tell_progress,
                                               .user = &e,
                                               .seconds = (int)o.seconds + 60}); /* contexts, and the compiler */
    collect(f, shared, died);
    munmap(shared, size);
    return f->no_memory ? nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory") : NCCLSCOPE_OK;
}
