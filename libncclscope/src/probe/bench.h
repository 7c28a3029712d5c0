/* bench.h - what measuring works with: the GPUs that take part, a way between two of them, the methods. */
#ifndef NSC_BENCH_H
#define NSC_BENCH_H

#include "probe/cuda.h"
#include "probe/facts.h"

#include <stdatomic.h>

enum {
    MIB = 1024 * 1024,
    SLOTS = 8, /* host memory between two GPUs: chunks on their way */
    CHUNK = 4 * MIB,
    CHAIN = 2 * MIB, /* that a latency is measured in: as nvbandwidth has it */
    STEPS = 10000,   /* loads */
    THREADS = 512
};

/* Shared with whoever waits: also what there is when the process that measures ends before it can tell. */
struct nsc_progress {
    atomic_int done, total, stop, opened; /* opened: GPUs are ready */
    atomic_int at, from, to;              /* which method it is at, on which GPUs */
    atomic_int figures;
    struct nsc_fact_measured figure[]; /* texts are constants, at the same place in both */
};

struct nsc_bench_gpu {
    const struct nsc_fact_gpu *facts;
    void *context, *stream, *module, *copy, *fill, *check, *chase;
    void *began, *ended, *slot[SLOTS];       /* events */
    unsigned long long out, in, chain, word; /* device memory; word: one number that kernels count in */
    unsigned sms;
    int device;
    bool usable;
};

struct nsc_bench {
    struct nsc_cuda cuda;
    struct ncclscope_facts *f;
    struct nsc_bench_gpu gpu[NSC_CUDA_MOST_GPUS];
    size_t gpus, bytes;
    void *host; /* pinned: SLOTS chunks */
    const ncclscope_measure_options *options;
    struct nsc_progress *progress;
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

struct nsc_bench_way {
    struct nsc_bench_gpu *from, *to;
};

/* A row of methods.def. `transfer` makes so many copies, and says how many milliseconds they took: in ms[0], and in ms[1] the way back where
 * it goes both ways. */
struct nsc_bench_method {
    const char *name, *words;
    bool (*transfer)(struct nsc_bench *b, const struct nsc_bench_way *w, int copies, float *ms, int *failed);
    bool peer, both, loads;
};
enum {
    NSC_BENCH_METHODS = 0
#define METHOD(name, words, function, peer, both, loads) +1
#include "methods.def"
#undef METHOD
};
extern const struct nsc_bench_method nsc_bench_methods[NSC_BENCH_METHODS]; /* ways.c */

/* Takes what is needed on the GPUs of pairs that are wanted; what cannot be had is told. */
void nsc_bench_open(struct nsc_bench *b, const struct ncclscope_facts *known);
void nsc_bench_close(struct nsc_bench *b); /* gives it back */
/* "0-1,2-3": is this pair among them? All are where none is named. */
bool nsc_bench_wants(const char *pairs, int64_t a, int64_t c);

/* Each is false, with the result in `failed`, if CUDA refuses. */
bool nsc_bench_launch(struct nsc_bench *b, struct nsc_bench_gpu *g, void *kernel, unsigned blocks, unsigned threads,
                      void **arguments, int *failed);
bool nsc_bench_fill(struct nsc_bench *b, struct nsc_bench_gpu *g, int *failed);  /* out, with a pattern */
bool nsc_bench_clear(struct nsc_bench *b, struct nsc_bench_gpu *g, int *failed); /* in */
/* Adds the words of `in` that are not those of the pattern. */
bool nsc_bench_check(struct nsc_bench *b, struct nsc_bench_gpu *g, int64_t *wrong, int *failed);

#endif
