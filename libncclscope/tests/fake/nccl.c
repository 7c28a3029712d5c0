/* nccl.c - a libnccl.so.2 that plays recorded facts: each rank prints what that rank's process printed in a recorded log (NCCLSCOPE_FAKE_LOG),
 * operations take as long as the facts say, and give the sums that they must, as every rank sends its number and one. */
#include "fake.h"

#include <dlfcn.h>

struct id {
    char internal[128];
};
struct comm {
    int rank, ranks;
};
static struct comm own;

/* What fails in one rank leaves the others waiting. */
static int trouble_of_rank(const char *function)
{
    int result = trouble(function);
    if (result)
        let_time_pass();
    return result;
}

static void move_on(void *stream, double ms)
{
    void *cuda = dlopen(getenv("NCCLSCOPE_CUDA"), RTLD_NOW | RTLD_NOLOAD);
    void (*move)(void *, double) = NULL;
    *(void **)&move = cuda ? dlsym(cuda, "fake_move_on") : NULL;
    if (move)
        move(stream, ms);
}

/* As it was measured with these variables. */
static const struct nsc_fact_collective *recorded(const char *operation, size_t bytes)
{
    const char *arm = getenv("NCCL_P2P_DISABLE") ? "NCCL_P2P_DISABLE=1" : "default";
    for (size_t i = 0; i < facts()->collectives.len; i++) {
        const struct nsc_fact_collective *x = &facts()->collectives.item[i];
        if (!strcmp(x->operation, operation) && x->bytes.v == (int64_t)bytes && !strcmp(x->arm, arm))
            return x;
    }
    return NULL;
}

/* A library that forgets its work after a while: NCCLSCOPE_FAKE_LAZY. */
static void work(const char *operation, size_t count, float *out, float value, void *stream)
{
    static int calls;
    if (getenv("NCCLSCOPE_FAKE_LAZY") && ++calls > 3)
        return;
    const struct nsc_fact_collective *x = recorded(operation, count * 4);
    for (size_t i = 0; i < count; i++)
        out[i] = x && (int64_t)i < x->wrong_words.v ? value + 1 : value;
    move_on(stream, x ? (double)x->us.v / 1000 : 1);
}

/* "vm:823:823 [2] NCCL INFO ...": what the process of GPU 2 said. */
static void print_log(int rank)
{
    const char *path = getenv(getenv("NCCL_P2P_DISABLE") ? "NCCLSCOPE_FAKE_LOG_2" : "NCCLSCOPE_FAKE_LOG");
    FILE *log = path ? fopen(path, "re") : NULL;
    char line[4096], mark[32];
    snprintf(mark, sizeof mark, "[%d] NCCL ", rank);
    while (log && fgets(line, sizeof line, log))
        if (strstr(line, mark))
            fputs(line, stdout);
    if (log)
        fclose(log);
}

PLAYED int ncclGetVersion(int *out);
PLAYED int ncclGetVersion(int *out)
{
    *out = 22809;
    return 0;
}

PLAYED const char *ncclGetErrorString(int result);
PLAYED const char *ncclGetErrorString(int result)
{
    return result == 2 ? "unhandled system error (run with NCCL_DEBUG=INFO for details)" : "unknown result code";
}

PLAYED int ncclGetUniqueId(struct id *out);
PLAYED int ncclGetUniqueId(struct id *out)
{
    memset(out, 7, sizeof *out);
    return trouble_of_rank("ncclGetUniqueId");
}

PLAYED int ncclCommInitRank(void **out, int ranks, struct id id, int rank);
PLAYED int ncclCommInitRank(void **out, int ranks, struct id id, int rank)
{
    if (id.internal[127] != 7)
        return 4;
    own = (struct comm){rank, ranks};
    *out = &own;
    print_log(rank);
    return rank == 1 || !getenv("NCCLSCOPE_FAKE_TROUBLE") ? trouble_of_rank("ncclCommInitRank") : 0;
}

PLAYED int ncclCommDestroy(void *comm);
PLAYED int ncclCommDestroy(void *comm)
{
    return comm == &own ? 0 : 4;
}

PLAYED int ncclAllReduce(const void *in, void *out, size_t count, int type, int op, void *comm, void *stream);
PLAYED int ncclAllReduce(const void *in, void *out, size_t count, int type, int op, void *comm, void *stream)
{
    if (type != 7 || op != 0 || comm != &own)
        return 4;
    float rest = (float)(own.ranks * (own.ranks + 1) / 2 - own.rank - 1);
    work("all-reduce", count, out, *(const float *)in + rest, stream);
    return trouble_of_rank("ncclAllReduce");
}

PLAYED int ncclSend(const void *in, size_t count, int type, int peer, void *comm, void *stream);
PLAYED int ncclSend(const void *in, size_t count, int type, int peer, void *comm, void *stream)
{
    (void)in, (void)count, (void)stream;
    return type == 7 && comm == &own && peer == (own.rank + 1) % own.ranks ? 0 : 4;
}

PLAYED int ncclRecv(void *out, size_t count, int type, int peer, void *comm, void *stream);
PLAYED int ncclRecv(void *out, size_t count, int type, int peer, void *comm, void *stream)
{
    if (type != 7 || comm != &own)
        return 4;
    work("send-recv", count, out, (float)(peer + 1), stream);
    return 0;
}

PLAYED int ncclGroupStart(void);
PLAYED int ncclGroupStart(void)
{
    return 0;
}

PLAYED int ncclGroupEnd(void);
PLAYED int ncclGroupEnd(void)
{
    return 0;
}
