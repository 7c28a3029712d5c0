/* nccl.c - one process for each GPU, as training jobs have them: all-reduce and a ring of send and receive, over sizes, verified.
 *
 * The processes meet in shared memory: there rank 0 leaves the id that NCCL makes and how often each operation is to run, and all leave
 * their figures. What they print goes into one pipe. */
#include "probe/nccl.h"

#include "probe/apart.h"
#include "probe/cuda.h"
#include "probe/dl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct nsc_nccl_id {
    char internal[128];
};

struct nccl {
#define SYM(result, name, arguments, newest, older, need) result(*name) arguments;
#include "nccl.def"
#undef SYM
};

enum {
    MIB = 1024 * 1024,
    SUCCESS = 0,
    FLOAT = 7,
    SUM = 0,
    WARM_UP = 3,
    SAMPLES = 3,
    MOST_REPEATS = 50,
    SAMPLE_MS = 100,
    GRACE_MS = 5000
};
enum operation { ALL_REDUCE, SEND_RECV, OPERATIONS };
static const char *const operation_names[OPERATIONS] = {"all-reduce", "send-recv"};
static const size_t sizes[] = {MIB, 16 * MIB, 64 * MIB, 256 * MIB};
enum { SIZES = sizeof sizes / sizeof sizes[0], FIGURES = OPERATIONS * SIZES };

struct rank {
    char why[300]; /* it failed */
    int order;     /* of those that failed: from 1 on, the first is the cause of the others */
    float ms[FIGURES][SAMPLES];
    int64_t wrong[FIGURES];
    atomic_int done; /* figures */
};
struct meeting { /* in memory that all share */
    struct nsc_nccl_id id;
    atomic_int ready, repeats[FIGURES], version, failed;
    struct rank rank[NSC_CUDA_MOST_GPUS];
};

/* ---- one rank ---- */

struct player {
    struct nsc_cuda cuda;
    struct nccl nccl;
    struct meeting *all;
    struct rank *own;
    int rank, ranks;
    void *comm, *stream, *began, *ended;
    unsigned long long in, out;
};

#define CUDA(call) \
    do { \
        int result_ = (call); \
        if (result_ != NSC_CUDA_FINE) { \
            snprintf(p->own->why, sizeof p->own->why, "CUDA answers: %s (%d)", nsc_cuda_words(&p->cuda, result_), \
                     result_); \
            return false; \
        } \
    } while (0)
#define NCCL(call) \
    do { \
        int result_ = (call); \
        if (result_ != SUCCESS) { \
            snprintf(p->own->why, sizeof p->own->why, "NCCL answers: %s (%d)", p->nccl.error_string(result_), \
                     result_); \
            return false; \
        } \
    } while (0)

static bool open_nccl(struct player *p, const char *library)
{
    enum { OPTIONAL = 0, REQUIRED = 1 };
    const struct nsc_symbol symbols[] = {
#define SYM(result, name, arguments, newest, older, need) {(void **)&p->nccl.name, newest, older, need},
#include "nccl.def"
#undef SYM
    };
    return nsc_dl_open(library ? NULL : "NCCLSCOPE_NCCL", library ? library : "libnccl.so.2", symbols,
                       sizeof symbols / sizeof symbols[0], p->own->why, sizeof p->own->why);
}

static void wait_for(atomic_int *what)
{
    while (!atomic_load(what))
        usleep(200);
}

/* Would the buffers, and NCCL's own, be in the way of somebody who uses the GPU? */
static bool has_room(struct player *p, size_t bytes)
{
    const size_t own = (size_t)1 << 30;
    size_t left = 0, all = 0;
    if (p->cuda.memory_left(&left, &all) != NSC_CUDA_FINE || left > 4 * bytes + own)
        return true;
    snprintf(p->own->why, sizeof p->own->why, "it has only %zu MiB of memory left: something else uses it", left / MIB);
    return false;
}

static bool join(struct player *p, int cuda_index, size_t bytes)
{
    const struct nsc_cuda *c = &p->cuda;
    void *context;
    int device, version = 0;
    CUDA(c->device(&device, cuda_index));
    CUDA(c->retain(&context, device));
    CUDA(c->use(context));
    if (!has_room(p, bytes))
        return false;
    CUDA(c->stream(&p->stream, 1));
    CUDA(c->event(&p->began, 0));
    CUDA(c->event(&p->ended, 0));
    CUDA(c->alloc(&p->in, bytes));
    CUDA(c->alloc(&p->out, bytes));
    NCCL(p->nccl.version(&version));
    atomic_store(&p->all->version, version);
    if (p->rank == 0) {
        NCCL(p->nccl.get_id(&p->all->id));
        atomic_store(&p->all->ready, 1);
    }
    wait_for(&p->all->ready);
    NCCL(p->nccl.init_rank(&p->comm, p->ranks, p->all->id, p->rank));
    return true;
}

static void *address(unsigned long long at)
{
    return (void *)(uintptr_t)at;
}

static bool once(struct player *p, enum operation o, size_t bytes)
{
    if (o == ALL_REDUCE) {
        NCCL(p->nccl.all_reduce(address(p->in), address(p->out), bytes / 4, FLOAT, SUM, p->comm, p->stream));
        return true;
    }
    NCCL(p->nccl.group_start());
    NCCL(p->nccl.send(address(p->in), bytes / 4, FLOAT, (p->rank + 1) % p->ranks, p->comm, p->stream));
    NCCL(p->nccl.receive(address(p->out), bytes / 4, FLOAT, (p->rank + p->ranks - 1) % p->ranks, p->comm, p->stream));
    NCCL(p->nccl.group_end());
    return true;
}

static bool several(struct player *p, enum operation o, size_t bytes, int repeats, float *ms)
{
    CUDA(p->cuda.record(p->began, p->stream));
    for (int i = 0; i < repeats; i++)
        if (!once(p, o, bytes))
            return false;
    CUDA(p->cuda.record(p->ended, p->stream));
    CUDA(p->cuda.event_wait(p->ended));
    CUDA(p->cuda.elapsed(ms, p->began, p->ended));
    *ms /= (float)repeats;
    return true;
}

/* Rank 0 says how often, for all: an operation that one rank does not call hangs the others. */
static int agree(struct player *p, size_t figure, float ms)
{
    if (p->rank == 0) {
        double wanted = ms > 0 ? SAMPLE_MS / (double)ms : MOST_REPEATS;
        atomic_store(&p->all->repeats[figure], wanted < 1 ? 1 : wanted > MOST_REPEATS ? MOST_REPEATS : (int)wanted);
    }
    wait_for(&p->all->repeats[figure]);
    return atomic_load(&p->all->repeats[figure]);
}

/* Each rank sends its number and one, as a float: sums of whole numbers so small are exact in any order. */
static bool verify(struct player *p, enum operation o, size_t bytes, int64_t *wrong)
{
    int before = (p->rank + p->ranks - 1) % p->ranks;
    float should = o == ALL_REDUCE ? (float)(p->ranks * (p->ranks + 1) / 2) : (float)(before + 1);
    float *here = malloc(bytes);
    int result = here ? p->cuda.copy((unsigned long long)(uintptr_t)here, p->out, bytes, p->stream) : 2;
    if (result == NSC_CUDA_FINE)
        result = p->cuda.synchronize();
    for (size_t i = 0; result == NSC_CUDA_FINE && i < bytes / 4; i++)
        *wrong += here[i] < should || here[i] > should || here[i] != here[i];
    free(here);
    CUDA(result);
    return true;
}

static bool play(struct player *p, enum operation o, size_t size)
{
    size_t figure = (size_t)o * SIZES + size, bytes = sizes[size];
    float own = (float)(p->rank + 1), ms = 0;
    unsigned word;
    memcpy(&word, &own, sizeof word);
    CUDA(p->cuda.set_words(p->in, word, bytes / 4, p->stream));
    if (!several(p, o, bytes, WARM_UP, &ms) || !several(p, o, bytes, 1, &ms))
        return false;
    int repeats = agree(p, figure, ms);
    for (int i = 0; i < SAMPLES; i++) {
        if (!several(p, o, bytes, WARM_UP, &ms)) /* comparing took a while, in which the GPU fell asleep */
            return false;
        CUDA(p->cuda.set_words(p->out, UINT32_MAX, bytes / 4, p->stream)); /* no number: what is not written shows */
        if (!several(p, o, bytes, repeats, &p->own->ms[figure][i]) || !verify(p, o, bytes, &p->own->wrong[figure]))
            return false;
    }
    atomic_fetch_add(&p->own->done, 1);
    return true;
}

static bool take_part(struct player *p, const struct nsc_nccl_run *run, int cuda_index, size_t fitting)
{
    bool fine = nsc_cuda_open(&p->cuda, p->own->why, sizeof p->own->why) &&
                nsc_cuda_can_work(&p->cuda, p->own->why, sizeof p->own->why) && open_nccl(p, run->library) &&
                join(p, cuda_index, sizes[fitting - 1]);
    for (size_t o = 0; o < OPERATIONS && fine; o++)
        for (size_t s = 0; s < fitting && fine; s++)
            fine = play(p, (enum operation)o, s);
    if (fine)
        p->nccl.destroy(p->comm);
    return fine;
}

/* Where the next NAME=VALUE begins behind a comma; values may hold commas too. NULL: there is none. */
static const char *next_variable(const char *text)
{
    while ((text = strchr(text, ','))) {
        size_t n = strspn(++text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (n && text[n] == '=')
            return text;
    }
    return NULL;
}

bool nsc_are_variables(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return n && text[n] == '=' && !(text[0] >= '0' && text[0] <= '9') && !strstr(text, "CUDA_VISIBLE_DEVICES=");
}

static void set_variables(const char *text)
{
    while (text) {
        const char *next = next_variable(text), *is = strchr(text, '=');
        size_t whole = next ? (size_t)(next - text - 1) : strlen(text), name = (size_t)(is - text);
        char *copy = strndup(text, whole);
        if (copy) {
            copy[name] = 0;
            setenv(copy, copy + name + 1, 1);
        }
        free(copy);
        text = next;
    }
}

static void be_rank(struct meeting *all, const struct nsc_nccl_run *run, int rank, int ranks, int cuda_index,
                    size_t fitting, int out)
{
    struct player p = {.all = all, .own = &all->rank[rank], .rank = rank, .ranks = ranks};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); /* whoever waits hears it, and says when to stop */
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    setvbuf(stdout, NULL, _IOLBF, 0);
    set_variables(run->variables);
    setenv("NCCL_DEBUG", "INFO", 1); /* whatever the variables say: its log is what is read */
    setenv("NCCL_DEBUG_SUBSYS", "INIT,BOOTSTRAP,ENV,GRAPH,NET", 1);
    setenv("NCCL_DEBUG_FILE", "", 1); /* not unset: a configuration file of NCCL could name one then */
    setenv("NCCL_COMM_BLOCKING", "1", 1);
    unsetenv("NCCL_COMM_ID"); /* another job's */
    unsetenv("NCCL_TOPO_DUMP_FILE");
    unsetenv("NCCL_GRAPH_DUMP_FILE");
    bool fine = take_part(&p, run, cuda_index, fitting);
    if (!fine)
        p.own->order = atomic_fetch_add(&all->failed, 1) + 1;
    fflush(NULL);
    _exit(fine ? 0 : 1);
}

/* ---- all of them ---- */

struct party {
    pid_t pid[NSC_CUDA_MOST_GPUS];
    int64_t index[NSC_CUDA_MOST_GPUS];        /* NVML's */
    int ranks, left;                          /* left: processes that have not ended */
    bool failed, stopped, late, killed, held; /* held: by the driver, which lets no process end */
};

static void start(struct ncclscope_facts *f, const struct nsc_nccl_run *run, struct meeting *all, struct party *p,
                  size_t fitting, const int ends[2])
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
            be_rank(all, run, i, p->ranks, gpus[i], fitting, ends[1]);
        }
        p->left += p->pid[i] > 0;
        if (p->pid[i] < 0) {
            snprintf(all->rank[i].why, sizeof all->rank[i].why, "no process: %s", strerror(errno));
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
static void bury(struct party *p, struct meeting *all, size_t fitting)
{
    for (int i = 0; i < p->ranks; i++) {
        int status, done = (int)(fitting * OPERATIONS);
        struct rank *r = &all->rank[i];
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

static int figures_done(const struct party *p, struct meeting *all)
{
    int least = FIGURES;
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
static void attend(const struct nsc_nccl_run *run, struct meeting *all, struct party *p, size_t fitting, int fd)
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
        p->stopped = p->stopped || run->stops(run->user, figures_done(p, all), (int)(fitting * OPERATIONS));
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

static void keep(struct ncclscope_facts *f, const struct nsc_nccl_run *run, struct meeting *all, int ranks,
                 size_t figure)
{
    struct nsc_collective *x = nsc_vec_push(&f->collectives);
    float slowest[SAMPLES] = {0};
    int64_t wrong = 0;
    int version = atomic_load(&all->version);
    f->no_memory = f->no_memory || !x;
    if (!x)
        return;
    for (int r = 0; r < ranks; r++) {
        wrong += all->rank[r].wrong[figure];
        for (int i = 0; i < SAMPLES; i++)
            slowest[i] = all->rank[r].ms[figure][i] > slowest[i] ? all->rank[r].ms[figure][i] : slowest[i];
    }
    qsort(slowest, SAMPLES, sizeof slowest[0], by_size);
    double ms = slowest[SAMPLES / 2] > 0 ? (double)slowest[SAMPLES / 2] : 1e-6;
    size_t bytes = sizes[figure % SIZES];
    double share = figure / SIZES == ALL_REDUCE ? 2.0 * (ranks - 1) / ranks : 1;
    nsc_fact_text(f, &x->arm, nsc_text_of(run->variables ? run->variables : "default"));
    int scale = version >= 10000 ? 10000 : 1000; /* 2708, 22809 */
    nsc_fact_printf(f, &x->version, "%d.%d.%d", version / scale, version % scale / 100, version % 100);
    x->operation = operation_names[figure / SIZES];
    nsc_fact_int(&x->ranks, ranks);
    nsc_fact_int(&x->bytes, (int64_t)bytes);
    nsc_fact_int(&x->us, (int64_t)(ms * 1000 + 0.5));
    nsc_fact_int(&x->mb_s, (int64_t)((double)bytes / ms / 1000 * share + 0.5));
    nsc_fact_int(&x->repeats, SAMPLES);
    nsc_fact_int(&x->wrong_words, wrong);
}

static void collect(struct ncclscope_facts *f, const struct nsc_nccl_run *run, struct meeting *all,
                    const struct party *p, size_t fitting)
{
    for (size_t o = 0; o < OPERATIONS; o++)
        for (size_t s = 0; s < fitting; s++)
            if ((size_t)figures_done(p, all) > o * fitting + s)
                keep(f, run, all, p->ranks, o * SIZES + s);
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
    if (p->held)
        nsc_unprobed(f, "nccl", "a process cannot be ended: the driver holds it");
}

/* From the environment it is taken away; a file gives it back. */
static bool has_comm_id(const struct ncclscope_facts *f)
{
    for (size_t i = 0; i < f->variables.len; i++) {
        const struct nsc_named_value *v = &f->variables.item[i];
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
    while (fitting < SIZES && 2 * sizes[fitting] <= run->gpu_bytes)
        fitting++;
    fitting = fitting ? fitting : 1;
    if (has_comm_id(f)) {
        nsc_unprobed(f, "nccl",
                     "a configuration file of NCCL sets NCCL_COMM_ID, which would lead this run to another job");
        return;
    }
    struct meeting *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0) {
        f->no_memory = f->no_memory || all == MAP_FAILED;
        nsc_unprobed(f, "nccl", "no memory or no pipe: %s", strerror(errno));
        if (all != MAP_FAILED)
            munmap(all, sizeof *all);
        return;
    }
    fflush(NULL); /* what lies in buffers here shall not come out of the children too */
    start(f, run, all, &p, fitting, ends);
    close(ends[1]);
    attend(run, all, &p, fitting, ends[0]);
    close(ends[0]);
    collect(f, run, all, &p, fitting);
    munmap(all, sizeof *all);
}
