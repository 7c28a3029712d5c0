/* nccl.c - one process for each GPU, as training jobs have them, started, listened to, and buried. What they print goes into one pipe. */
#include "probe/nccl_rank.h"

#include "base/neutral.h"
#include "probe/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 5000 };
static const char *const operation_names[NSC_NCCL_OPERATIONS] = {"all-reduce", "send-recv"};

struct party {
    pid_t pid[NSC_CUDA_MOST_GPUS];
    int64_t index[NSC_CUDA_MOST_GPUS];        /* NVML's */
    int ranks, left;                          /* left: processes that have not ended */
    bool failed, stopped, late, killed, held; /* held: one of them does not end, though it was killed */
};

static void start(struct ncclscope_facts *f, const struct nsc_nccl_run *run, struct nsc_nccl_meeting *all,
                  struct party *p, size_t fitting, const int ends[2])
{
    int gpus[NSC_CUDA_MOST_GPUS];
    for (size_t i = 0; i < f->gpus.len && p->ranks < NSC_CUDA_MOST_GPUS; i++)
        if (f->gpus.item[i].cuda_index.known) {
            p->index[p->ranks] = f->gpus.item[i].index.v;
            gpus[p->ranks++] = (int)f->gpus.item[i].cuda_index.v;
        }
    for (int i = 0; i < p->ranks; i++) {
        p->pid[i] = fork();
        if (p->pid[i] == 0) {
            close(ends[0]);
            nsc_be_rank(all, run, i, p->ranks, gpus[i], fitting, ends[1]);
        }
        p->left += p->pid[i] > 0;
        if (p->pid[i] < 0) {
            snprintf(all->rank[i].why, sizeof all->rank[i].why, "no process: %s", nsc_strerror(errno));
            p->failed = true;
        }
    }
}

static void kill_all(struct party *p)
{
    for (int i = 0; i < p->ranks; i++)
        if (p->pid[i] > 0)
            kill(p->pid[i], SIGKILL);
}

/* Those that have ended. One that was not well takes the others with it, when they had time to say what they saw. */
static void bury(struct party *p, struct nsc_nccl_meeting *all, size_t fitting)
{
    for (int i = 0; i < p->ranks; i++) {
        int status, done = (int)(fitting * NSC_NCCL_OPERATIONS);
        struct nsc_nccl_rank *r = &all->rank[i];
        if (p->pid[i] <= 0 || !nsc_bury(p->pid[i], &status, 0))
            continue;
        p->pid[i] = 0;
        p->left--;
        if (atomic_load(&r->done) == done && !r->why[0])
            continue;
        p->failed = true;
        bool crashed = WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL;
        if (!r->order) {
            r->order =
                crashed ? 0 : atomic_fetch_add(&all->failed, 1) + 1; /* a crash comes before what others make of it */
            if (crashed)
                snprintf(r->why, sizeof r->why, "it crashed (signal %d)", WTERMSIG(status));
            else if (!r->why[0] && !p->killed)
                snprintf(r->why, sizeof r->why, "its process ended early");
        }
    }
}

static int figures_done(const struct party *p, struct nsc_nccl_meeting *all)
{
    int least = NSC_NCCL_FIGURES;
    for (int i = 0; i < p->ranks; i++)
        least = atomic_load(&all->rank[i].done) < least ? atomic_load(&all->rank[i].done) : least;
    return least;
}

/* What is there already, of a pipe that may be held open by whoever they left behind. */
static void read_rest(const struct nsc_nccl_run *run, int fd)
{
    enum { AT_MOST = 64 };
    char bytes[65536];
    struct pollfd one = {.fd = fd, .events = POLLIN};
    for (int i = 0; i < AT_MOST && poll(&one, 1, 0) > 0; i++) {
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n <= 0)
            return;
        run->log(run->user, bytes, (size_t)n);
    }
}

/* Reads what they print until all have ended. */
static void attend(const struct nsc_nccl_run *run, struct nsc_nccl_meeting *all, struct party *p, size_t fitting,
                   int fd)
{
    int64_t end = nsc_now_ms() + run->seconds * INT64_C(1000), grace = 0, last = 0;
    char bytes[65536];
    bool open = true;
    while (p->left && !p->held) {
        struct pollfd one = {.fd = open ? fd : -1, .events = POLLIN};
        int64_t now = nsc_now_ms();
        if (poll(&one, 1, open ? 100 : 20) > 0) {
            ssize_t n = read(fd, bytes, sizeof bytes);
            open = n > 0 || (n < 0 && errno == EINTR);
            if (n > 0)
                run->log(run->user, bytes, (size_t)n);
        }
        bury(p, all, fitting);
        p->stopped = p->stopped || run->stops(run->user, figures_done(p, all), (int)(fitting * NSC_NCCL_OPERATIONS));
        p->late = p->late || now >= end;
        grace = p->failed && !grace ? now + GRACE_MS : grace;
        if (!p->killed && (p->stopped || p->late || (grace && now >= grace))) {
            kill_all(p);
            p->killed = true;
            last = now + GRACE_MS;
        }
        p->held = last && now >= last;
    }
    read_rest(run, fd);
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void keep(struct ncclscope_facts *f, const struct nsc_nccl_run *run, struct nsc_nccl_meeting *all, int ranks,
                 size_t figure)
{
    struct nsc_fact_collective *x = nsc_vec_push(&f->collectives);
    float slowest[NSC_NCCL_SAMPLES] = {0};
    int64_t wrong = 0;
    int version = atomic_load(&all->version);
    f->no_memory = f->no_memory || !x;
    if (!x)
        return;
    for (int r = 0; r < ranks; r++) {
        wrong += all->rank[r].wrong[figure];
        for (int i = 0; i < NSC_NCCL_SAMPLES; i++)
            slowest[i] = all->rank[r].ms[figure][i] > slowest[i] ? all->rank[r].ms[figure][i] : slowest[i];
    }
    qsort(slowest, NSC_NCCL_SAMPLES, sizeof slowest[0], by_size);
    double ms = slowest[NSC_NCCL_SAMPLES / 2] > 0 ? (double)slowest[NSC_NCCL_SAMPLES / 2] : 1e-6;
    size_t bytes = nsc_nccl_sizes[figure % NSC_NCCL_SIZES];
    double share = figure / NSC_NCCL_SIZES == NSC_NCCL_ALL_REDUCE ? 2.0 * (ranks - 1) / ranks : 1;
    nsc_fact_text(f, &x->arm, nsc_text_of(run->variables ? run->variables : "default"));
    int scale = version >= 10000 ? 10000 : 1000; /* 2708, 22809 */
    nsc_fact_printf(f, &x->version, "%d.%d.%d", version / scale, version % scale / 100, version % 100);
    x->operation = operation_names[figure / NSC_NCCL_SIZES];
    nsc_fact_int(&x->ranks, ranks);
    nsc_fact_int(&x->bytes, (int64_t)bytes);
    nsc_fact_int(&x->us, (int64_t)(ms * 1000 + 0.5));
    nsc_fact_int(&x->mb_s, (int64_t)((double)bytes / ms / 1000 * share + 0.5));
    nsc_fact_int(&x->repeats, NSC_NCCL_SAMPLES);
    nsc_fact_int(&x->wrong_words, wrong);
}

static void collect(struct ncclscope_facts *f, const struct nsc_nccl_run *run, struct nsc_nccl_meeting *all,
                    const struct party *p, size_t fitting)
{
    for (size_t o = 0; o < NSC_NCCL_OPERATIONS; o++)
        for (size_t s = 0; s < fitting; s++)
            if ((size_t)figures_done(p, all) > o * fitting + s)
                keep(f, run, all, p->ranks, o * NSC_NCCL_SIZES + s);
    int first = -1;
    for (int i = 0; i < p->ranks; i++)
        if (all->rank[i].why[0] && (first < 0 || all->rank[i].order < all->rank[first].order))
            first = i;
    if (first >= 0) /* the others say what came of it */
        nsc_unprobed(f, "nccl", "rank %d (GPU %lld): %s", first, (long long)p->index[first], all->rank[first].why);
    if (p->stopped || p->late)
        nsc_unprobed(f, "nccl", p->stopped ? "stopped" : "NCCL did not end within %u seconds", run->seconds);
    else if (p->failed && first < 0)
        nsc_unprobed(f, "nccl", "a process that ran NCCL ended early");
    for (int i = 0; p->held && i < p->ranks; i++)
        if (p->pid[i] > 0) {
            nsc_unprobed(f, "nccl", "process %d cannot be ended: %s", (int)p->pid[i], nsc_held_by(p->pid[i]));
            break;
        }
}

/* From the environment it is taken away; a file gives it back. */
static bool has_comm_id(const struct ncclscope_facts *f)
{
    for (size_t i = 0; i < f->variables.len; i++) {
        const struct nsc_fact_variable *v = &f->variables.item[i];
        if (!strcmp(v->name, "NCCL_COMM_ID") && v->from && strcmp(v->from, "environment") != 0)
            return true;
    }
    return false;
}

static size_t count_gpus(const struct ncclscope_facts *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->gpus.len; i++)
        n += f->gpus.item[i].cuda_index.known;
    return n;
}

void nsc_run_nccl(struct ncclscope_facts *f, const struct nsc_nccl_run *run)
{
    struct party p = {0};
    int ends[2];
    size_t fitting = 0;
    if (count_gpus(f) < 2) {
        nsc_unprobed(f, "nccl", "CUDA sees fewer than two GPUs here: there is no path to run over");
        return;
    }
    while (fitting < NSC_NCCL_SIZES && 2 * nsc_nccl_sizes[fitting] <= run->gpu_bytes)
        fitting++;
    fitting = fitting ? fitting : 1;
    if (has_comm_id(f)) {
        nsc_unprobed(f, "nccl",
                     "a configuration file of NCCL sets NCCL_COMM_ID, which would lead this run to another job");
        return;
    }
    struct nsc_nccl_meeting *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0) {
        f->no_memory = f->no_memory || all == MAP_FAILED;
        nsc_unprobed(f, "nccl", "no memory or no pipe: %s", nsc_strerror(errno));
        if (all != MAP_FAILED)
            munmap(all, sizeof *all);
        return;
    }
    start(f, run, all, &p, fitting, ends);
    close(ends[1]);
    attend(run, all, &p, fitting, ends[0]);
    close(ends[0]);
    collect(f, run, all, &p, fitting);
    munmap(all, sizeof *all);
}
