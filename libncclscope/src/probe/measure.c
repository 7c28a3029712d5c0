/* measure.c - pairs of GPUs, one after the other, by each method: verified, warmed up, the median of the repeats.
 *
 * Each GPU has two buffers of `bytes`: out, which others read or which is sent, and in, where data arrives. A figure is
 *     fill out of the source; then, first to warm up and five times to count: clear in of the target, transfer, compare in with the pattern. */
#include "base/sized.h"
#include "probe/apart.h"
#include "probe/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    SECONDS = 90,
    GPU_BYTES = 512 * MIB,
    REPEATS = 5,
    MOST_COPIES = 16,
    SAMPLE_MS = 10, /* copies of one sample, together: long against what starting them takes */
    FAILURES = 3,   /* then no more is tried: a context that failed once fails always */
    PEER_ON_ALREADY = 704
};

/* ---- one figure ---- */

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static bool once(struct nsc_bench *b, const struct nsc_bench_method *m, const struct nsc_bench_way *w, int copies,
                 float ms[2], int64_t wrong[2], int *failed)
{
    if (m->loads)
        return m->transfer(b, w, copies, ms, failed);
    return nsc_bench_clear(b, w->to, failed) && (!m->both || nsc_bench_clear(b, w->from, failed)) &&
           m->transfer(b, w, copies, ms, failed) && nsc_bench_check(b, w->to, &wrong[0], failed) &&
           (!m->both || nsc_bench_check(b, w->from, &wrong[1], failed));
}

static void keep(struct nsc_bench *b, const struct nsc_bench_method *m, const struct nsc_bench_way *w, int copies,
                 float *samples, int64_t wrong)
{
    int n = atomic_load(&b->progress->figures);
    struct nsc_fact_measured *x = &b->progress->figure[n];
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

static bool measure(struct nsc_bench *b, const struct nsc_bench_method *m, const struct nsc_bench_way *w, int *failed)
{
    float ms[2] = {0}, samples[2][REPEATS];
    int64_t wrong[2] = {0};
    b->seed = b->seed * 747796405u + 2891336453u;
    if (!m->loads && (!nsc_bench_fill(b, w->from, failed) || (m->both && !nsc_bench_fill(b, w->to, failed))))
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
        keep(b, m, &(struct nsc_bench_way){w->to, w->from}, copies, samples[1], wrong[1]);
    return true;
}

/* ---- all of them ---- */

static bool can_reach(struct nsc_bench *b, const struct nsc_bench_gpu *x, const struct nsc_bench_gpu *y)
{
    int can = 0;
    return b->cuda.can_access(&can, x->device, y->device) == NSC_CUDA_FINE && can;
}

/* Both ways; only while the pair is measured, as a GPU without NVSwitches has eight peers at most. */
static bool join_peers(struct nsc_bench *b, const struct nsc_bench_way *w, int *failed)
{
    struct nsc_bench_gpu *gpu[] = {w->from, w->to};
    for (int i = 0; i < 2; i++) {
        TRY(b->cuda.use(gpu[i]->context));
        int result = b->cuda.enable_peer(gpu[!i]->context, 0);
        if (result != PEER_ON_ALREADY)
            TRY(result);
    }
    return true;
}

static void part_peers(struct nsc_bench *b, const struct nsc_bench_way *w)
{
    struct nsc_bench_gpu *gpu[] = {w->from, w->to};
    for (int i = 0; i < 2; i++)
        if (b->cuda.use(gpu[i]->context) == NSC_CUDA_FINE)
            b->cuda.disable_peer(gpu[!i]->context);
}

/* Calls `each` with the pairs that the method can measure and that are wanted. */
static int for_pairs(struct nsc_bench *b, const struct nsc_bench_method *m,
                     void (*each)(struct nsc_bench *, const struct nsc_bench_method *, const struct nsc_bench_way *))
{
    int n = 0;
    for (size_t i = 0; i < b->gpus; i++)
        for (size_t k = 0; k < b->gpus; k++) {
            struct nsc_bench_way w = {&b->gpu[i], &b->gpu[k]};
            if (i == k || (m->both && k < i) || !w.from->usable || !w.to->usable ||
                !nsc_bench_wants(b->options->pairs, w.from->facts->index.v, w.to->facts->index.v) ||
                (m->peer && !(can_reach(b, w.from, w.to) && can_reach(b, w.to, w.from))))
                continue;
            n++;
            if (each)
                each(b, m, &w);
        }
    return n;
}

static bool is_over(struct nsc_bench *b)
{
    return atomic_load(&b->progress->stop) || nsc_now_ms() >= b->end || b->failures >= FAILURES;
}

static void measure_pair(struct nsc_bench *b, const struct nsc_bench_method *m, const struct nsc_bench_way *w)
{
    int failed = 0;
    if (is_over(b))
        return;
    atomic_store(&b->progress->at, (int)(m - nsc_bench_methods));
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

static void measure_all(struct nsc_bench *b)
{
    int total = 0;
    for (size_t i = 0; i < NSC_BENCH_METHODS; i++)
        total += for_pairs(b, &nsc_bench_methods[i], NULL);
    atomic_store(&b->progress->total, total);
    for (size_t i = 0; i < NSC_BENCH_METHODS; i++)
        for_pairs(b, &nsc_bench_methods[i], measure_pair);
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
    struct nsc_progress *progress;
    int64_t end; /* of the time that was given */
    ncclscope_progress_fn *tell;
    void *user;
};

static void measure_here(struct ncclscope_facts *f, const struct ncclscope_facts *known, void *user)
{
    const struct errand *e = user;
    struct nsc_bench *b = nsc_alloc(sizeof *b);
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
        nsc_bench_open(b, known);
        atomic_store(&b->progress->opened, 1);
        measure_all(b);
        nsc_bench_close(b);
    }
    nsc_free(b);
}

static bool tell_progress(void *user)
{
    const struct errand *e = user;
    struct nsc_progress *p = e->progress;
    if (e->tell && e->tell(e->user, atomic_load(&p->done), atomic_load(&p->total)))
        atomic_store(&p->stop, 1);
    return atomic_load(&p->stop) || (atomic_load(&p->opened) && nsc_now_ms() >= e->end);
}

/* What was measured, also by a process that did not live to tell; then where it was. */
static void collect(struct ncclscope_facts *f, struct nsc_progress *p, bool died)
{
    int n = atomic_load(&p->figures);
    for (int i = 0; i < n; i++) {
        struct nsc_fact_measured *x = nsc_vec_push(&f->measured);
        f->no_memory = f->no_memory || !x;
        if (x)
            *x = p->figure[i];
    }
    if (died && atomic_load(&p->opened) && atomic_load(&p->total))
        nsc_unprobed(f, "measure", "that was at: %s, from GPU %d to GPU %d; %d of %d measurements were made",
                     nsc_bench_methods[atomic_load(&p->at)].words, atomic_load(&p->from), atomic_load(&p->to),
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
    if (!f)
        return nsc_null(err);
    ncclscope_measure_options o = {.size = sizeof o};
    if (options && !nsc_take_sized(&o, sizeof o, options, options->size))
        return nsc_fail(err, NCCLSCOPE_EABI, 0, "the options are those of a newer header, or their size is not set");
    o.seconds = o.seconds ? o.seconds : SECONDS;
    o.gpu_bytes = o.gpu_bytes ? o.gpu_bytes : GPU_BYTES;
    if (o.gpu_bytes < 2 * CHAIN + 2 * CHUNK)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "at least %d MiB of each GPU are needed",
                        (2 * CHAIN + 2 * CHUNK) / MIB);
    int rc = check_pairs(f, o.pairs, err);
    if (rc)
        return rc;
    o.seconds = o.seconds < 1000000 ? o.seconds : 1000000;
    size_t most = NSC_BENCH_METHODS * f->gpus.len * f->gpus.len,
           size = sizeof(struct nsc_progress) + most * sizeof(struct nsc_fact_measured);
    struct nsc_progress *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
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
