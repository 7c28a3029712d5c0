/* test_shape.c - what communicators look like in their job, and which host names are one machine. */
#include "model/machines.h"
#include "scene.h"

#include <stdarg.h>
#include <stdio.h>

static struct scene scene;
static char text[16384];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - n, format, args);
    va_end(args);
}

/* Ranks `job[0..n)` of the job make a communicator; `per` of them are on each host, of its own bus ids. */
static void group(unsigned id, const int *job, int n, int per, const char *more)
{
    for (int i = 0; i < n; i++)
        say("host%d:%d:%d [0] NCCL INFO ncclCommInitRank comm 0x%x rank %d nranks %d cudaDev 0 nvmlDev %d busId %x000 "
            "commId 0x%x%s - Init COMPLETE\n",
            job[i] / per, 100 + job[i], 100 + job[i], id * 256 + (unsigned)job[i], i, n, job[i] % per, 1 + job[i], id,
            more);
}

static int shape(const char *id)
{
    for (size_t i = 0; i < scene.model->comms.len; i++)
        if (nsc_text_is(nsc_say(scene.model, scene.model->comms.item[i].id), id))
            return scene.model->comms.item[i].shape;
    return -1;
}

static void test_shapes(void)
{
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    text[0] = 0;
    group(0xa, all, 8, 4, "");
    group(0xb, (int[]){4, 5, 6, 7}, 4, 4, "");
    group(0xc, (int[]){1, 3, 5, 7}, 4, 4, "");
    group(0xd, (int[]){2, 6}, 2, 4, "");
    group(0xe, (int[]){0, 1, 3}, 3, 4, "");
    group(0xf, (int[]){7, 6, 5}, 3, 4, ""); /* in another order */
    scene_of(&scene, text);
    CHECK_INT(shape("0xa"), NSC_SHAPE_ALL);
    CHECK_INT(shape("0xb"), NSC_SHAPE_CONSECUTIVE);
    CHECK_INT(shape("0xc"), NSC_SHAPE_STRIDED);
    CHECK_INT(shape("0xd"), NSC_SHAPE_PAIR);
    CHECK_INT(shape("0xe"), NSC_SHAPE_OTHER);
    CHECK_INT(shape("0xf"), NSC_SHAPE_CONSECUTIVE);
}

/* Without a communicator of all ranks nothing says where a group stands in the job. */
static void test_no_whole(void)
{
    text[0] = 0;
    group(0xa, (int[]){0, 1}, 2, 4, "");
    group(0xb, (int[]){1, 2}, 2, 4, "");
    scene_of(&scene, text);
    CHECK_INT(shape("0xa"), NSC_SHAPE_UNKNOWN);
    CHECK_INT(shape("0xb"), NSC_SHAPE_UNKNOWN);
}

/* Of a group only a part of whose ranks are in the input nothing can be told. */
static void test_part(void)
{
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    text[0] = 0;
    group(0xa, all, 8, 4, "");
    say("host0:100:100 [0] NCCL INFO ncclCommInitRank comm 0xff rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 1000 commId "
        "0xb - Init COMPLETE\n");
    scene_of(&scene, text);
    CHECK_INT(shape("0xb"), NSC_SHAPE_UNKNOWN);
}

static void bootstrap(int rank, int per, const char *address)
{
    say("host%d:%d:%d [0] NCCL INFO Bootstrap: Using eth0:%s<0>\n", rank / per, 100 + rank, 100 + rank, address);
}

static const struct nsc_machine *machine(size_t i)
{
    static const struct nsc_machine none;
    return i < scene.model->machines.len ? &scene.model->machines.item[i] : &none;
}

static void test_machines(void)
{
    static const int all[] = {0, 1, 2, 3};
    text[0] = 0; /* one address under two names */
    bootstrap(0, 2, "192.0.2.7");
    bootstrap(2, 2, "192.0.2.7");
    group(0xa, all, 4, 2, "");
    scene_of(&scene, text);
    CHECK_INT(scene.model->machines.len, 1);
    CHECK_INT(machine(0)->confidence, NSC_CERTAIN);
    CHECK_INT(machine(0)->hosts, 2);
    text[0] = 0; /* nothing joins them, and nothing tells them apart: their bus ids differ */
    bootstrap(0, 2, "192.0.2.7");
    bootstrap(2, 2, "192.0.2.8");
    group(0xa, all, 4, 2, "");
    scene_of(&scene, text);
    CHECK_INT(scene.model->machines.len, 2);
    CHECK_INT(machine(0)->confidence, NSC_POSSIBLE);
    text[0] = 0; /* loopback is no address of a machine */
    bootstrap(0, 2, "127.0.0.1");
    bootstrap(2, 2, "127.0.0.1");
    group(0xa, all, 4, 2, "");
    scene_of(&scene, text);
    CHECK_INT(scene.model->machines.len, 2);
    text[0] = 0; /* shared memory joins two names */
    group(0xa, all, 4, 2, "");
    say("host0:101:101 [0] NCCL INFO Channel 00/0 : 1[0] -> 2[0] via SHM/direct/direct\n");
    scene_of(&scene, text);
    CHECK_INT(scene.model->machines.len, 1);
}

static void test_machines_apart(void)
{
    text[0] = 0; /* one bus id under two names in one communicator: two machines */
    for (int i = 0; i < 2; i++)
        say("host%d:%d:%d [0] NCCL INFO ncclCommInitRank comm 0x%d rank %d nranks 2 cudaDev 0 nvmlDev 0 busId 60 "
            "commId 0xa - Init COMPLETE\n",
            i, 100 + i, 100 + i, 100 + i, i);
    scene_of(&scene, text);
    CHECK_INT(scene.model->machines.len, 2);
    CHECK_INT(machine(0)->confidence, NSC_LIKELY);
    CHECK_INT(machine(1)->confidence, NSC_LIKELY);
    text[0] = 0; /* and under one name: several machines of that name */
    for (int i = 0; i < 2; i++)
        say("host:%d:%d [0] NCCL INFO ncclCommInitRank comm 0x%d rank %d nranks 2 cudaDev 0 nvmlDev 0 busId 60 "
            "commId 0xa - Init COMPLETE\n",
            100 + i, 100 + i, 100 + i, i);
    scene_of(&scene, text);
    CHECK_INT(scene.model->machines.len, 1);
    CHECK(machine(0)->several);
    scene_end(&scene);
}

/* A small communicator of which every pair has NVLink proves it for the same GPUs in another, larger one. */
static void test_proof_by_another(void)
{
    static const char *const words[] = {"START", "COMPLETE"};
    text[0] = 0;
    for (int r = 0; r < 2; r++)
        say("host0:%d:%d [0] NCCL INFO NCCL version 2.28.9+cuda12.4\n", 100 + r, 100 + r);
    group(0xa, (int[]){0, 1, 4, 5}, 4, 4, "");
    for (int w = 0; w < 2; w++)
        for (int r = 0; r < 2; r++) {
            say("host0:%d:%d [0] NCCL INFO ncclCommInitRank comm 0xb%d rank %d nranks 2 cudaDev 0 nvmlDev %d busId "
                "%d000 "
                "commId 0xb - Init %s\n",
                100 + r, 100 + r, r, r, r, r + 1, words[w]);
            if (!w)
                say("host0:%d:%d [0] NCCL INFO P2P Chunksize set to 524288\n"
                    "host0:%d:%d [0] NCCL INFO comm 0xb%d rank %d nRanks 2 nNodes 1 localRanks 2 localRank %d MNNVL "
                    "0\n",
                    100 + r, 100 + r, 100 + r, 100 + r, r, r, r);
        }
    say("host0:100:100 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
        "host1:104:104 [0] NCCL INFO Channel 00/0 : 2[0] -> 3[1] via P2P/CUMEM\n");
    scene_of(&scene, text);
    int nvlink = 0, open = 0;
    for (size_t i = 0; i < scene.model->link_order.len; i++) {
        struct nsc_known_path p = scene.model->links.item[scene.model->link_order.item[i]].known;
        nvlink += p.path == NSC_PATH_NVLINK && p.proof == NSC_PROOF_INFERRED;
        open += p.path == NSC_PATH_P2P;
    }
    CHECK_INT(nvlink, 1);
    CHECK_INT(open, 1); /* the other host's GPUs are other ones */
}

CHECKS(TEST(test_shapes), TEST(test_no_whole), TEST(test_part), TEST(test_proof_by_another), TEST(test_machines),
       TEST(test_machines_apart))
