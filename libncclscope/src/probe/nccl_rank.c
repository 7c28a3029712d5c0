/* nccl_rank.c - all-reduce and a ring of send and receive by one rank, timed and verified. */
#include "probe/nccl_rank.h"

#include "probe/apart.h"
#include "probe/dl.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct nccl {
#define SYM(result, name, arguments, newest, older, need) result(*name) arguments;
#include "nccl.def"
#undef SYM
};

enum { MIB = 1024 * 1024, SUCCESS = 0, FLOAT = 7, SUM = 0, WARM_UP = 3, MOST_REPEATS = 50, SAMPLE_MS = 100 };
const size_t nsc_nccl_sizes[NSC_NCCL_SIZES] = {MIB, 16 * MIB, 64 * MIB, 256 * MIB};

struct player {
    struct nsc_cuda cuda;
    struct nccl nccl;
    struct nsc_nccl_meeting *all;
    struct nsc_nccl_rank *own;
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

static bool once(struct player *p, enum nsc_nccl_operation o, size_t bytes)
{
    if (o == NSC_NCCL_ALL_REDUCE) {
        NCCL(p->nccl.all_reduce(address(p->in), address(p->out), bytes / 4, FLOAT, SUM, p->comm, p->stream));
        return true;
    }
    NCCL(p->nccl.group_start());
    NCCL(p->nccl.send(address(p->in), bytes / 4, FLOAT, (p->rank + 1) % p->ranks, p->comm, p->stream));
    NCCL(p->nccl.receive(address(p->out), bytes / 4, FLOAT, (p->rank + p->ranks - 1) % p->ranks, p->comm, p->stream));
    NCCL(p->nccl.group_end());
    return true;
}

static bool several(struct player *p, enum nsc_nccl_operation o, size_t bytes, int repeats, float *ms)
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
static bool verify(struct player *p, enum nsc_nccl_operation o, size_t bytes, int64_t *wrong)
{
    int before = (p->rank + p->ranks - 1) % p->ranks;
    float should = o == NSC_NCCL_ALL_REDUCE ? (float)(p->ranks * (p->ranks + 1) / 2) : (float)(before + 1);
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

static bool play(struct player *p, enum nsc_nccl_operation o, size_t size)
{
    size_t figure = (size_t)o * NSC_NCCL_SIZES + size, bytes = nsc_nccl_sizes[size];
    float own = (float)(p->rank + 1), ms = 0;
    unsigned word;
    memcpy(&word, &own, sizeof word);
    CUDA(p->cuda.set_words(p->in, word, bytes / 4, p->stream));
    if (!several(p, o, bytes, WARM_UP, &ms) || !several(p, o, bytes, 1, &ms))
        return false;
    int repeats = agree(p, figure, ms);
    for (int i = 0; i < NSC_NCCL_SAMPLES; i++) {
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
                join(p, cuda_index, nsc_nccl_sizes[fitting - 1]);
    for (size_t o = 0; o < NSC_NCCL_OPERATIONS && fine; o++)
        for (size_t s = 0; s < fitting && fine; s++)
            fine = play(p, (enum nsc_nccl_operation)o, s);
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

void nsc_be_rank(struct nsc_nccl_meeting *all, const struct nsc_nccl_run *run, int rank, int ranks, int cuda_index,
                 size_t fitting, int out)
{
    struct player p = {.all = all, .own = &all->rank[rank], .rank = rank, .ranks = ranks};
    nsc_begin_child();
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
    fflush(stdout);
    _exit(fine ? 0 : 1);
}
