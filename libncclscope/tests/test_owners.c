/* test_owners.c - whose connections: the lines name ranks, not communicators. */
#include "job_lines.h"

static struct scene scene;

/* One line of a log stands in one line. */
/* clang-format off */
/* Connections of a communicator that no line names. */
static void test_nameless(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        VIA(A, "00", "0", "1", "NET/Socket/0")
        VIA(B, "00", "1", "0", "SHM/direct/direct"));
    CHECK_INT(m->comms.len, 0);
    CHECK_INT(m->link_order.len, 2);
    CHECK_INT(link_at(m, 0)->attribution, NSC_UNKNOWN_COMM);
    CHECK_INT(link_at(m, 0)->rank, NSC_NONE);
}

/* Two communicators of one size and ranks, made before any connection: nothing tells them apart, and that is said. */
static void test_ambiguous(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        COMPLETE(A, "0x1", "0", "2", "0xab")
        COMPLETE(A, "0x3", "0", "2", "0xcd")
        COMPLETE(B, "0x2", "1", "2", "0xab")
        COMPLETE(B, "0x4", "1", "2", "0xcd")
        "vm:10:99 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n");
    CHECK_INT(m->link_order.len, 1);
    CHECK_INT(link_at(m, 0)->attribution, NSC_AMBIGUOUS);
    CHECK(link_at(m, 0)->other != NSC_NONE);
}

/* One thread makes the ranks of two GPUs, and prints the connections of both before it names either: each goes to the rank that prints it. */
static void test_thread_of_two_ranks(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        "vm:10:33 [1] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 1 nvmlDev 1\n"
        "vm:10:33 [0] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 0 nvmlDev 0\n"
        "vm:10:33 [1] NCCL INFO Ring 00 : 0[1] -> 1[0] via P2P/direct pointer\n"
        "vm:10:33 [0] NCCL INFO Ring 00 : 1[0] -> 0[1] via P2P/direct pointer\n");
    CHECK_INT(m->link_order.len, 2);
    for (size_t i = 0; i < m->link_order.len; i++) {
        CHECK_INT(link_at(m, i)->attribution, NSC_INFERRED);
        CHECK_INT(m->ranks.item[link_at(m, i)->rank].rank, (int64_t)link_at(m, i)->src);
    }
}

/* Up to 2.18.1 a communicator is named behind its connections: what begins it is lost here, and they are not of the older one. */
static void test_named_behind(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        "vm:10:20 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n"
        "vm:10:21 [0] NCCL INFO Channel 00 : 0[1000] -> 1[2000] via P2P/IPC/read\n"
        "vm:10:21 [0] NCCL INFO Connected all rings\n"
        "vm:10:21 [0] NCCL INFO comm 0x2 rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n");
    CHECK_INT(m->link_order.len, 1);
    CHECK(link_at(m, 0)->rank != NSC_NONE && m->ranks.item[link_at(m, 0)->rank].pointer == 2);
}

/* Nothing stands between what two communicators connect, but a connection that the first has already begins the second's; and what a thread
 * printed as rank 0 is not of the communicator that it names behind it, in which it is rank 1. */
static void test_batches(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        COMPLETE(A, "0x1", "0", "2", "0xab")
        COMPLETE(A, "0x3", "0", "2", "0xcd")
        VIA(A, "00", "0", "1", "P2P/CUMEM")
        VIA(A, "01", "0", "1", "P2P/CUMEM")
        VIA(A, "00", "0", "1", "P2P/CUMEM")
        VIA(A, "01", "0", "1", "P2P/CUMEM"));
    CHECK_INT(m->link_order.len, 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(link_at(m, i)->lines, 2);
        CHECK_INT(link_at(m, i)->channels[0][0], 3);
    }
    CHECK(link_at(m, 0)->rank != link_at(m, 1)->rank);
    m = scene_of(&scene,
        COMPLETE(A, "0x1", "0", "2", "0xab")
        COMPLETE(A, "0x3", "1", "2", "0xcd")
        VIA(A, "00", "0", "1", "P2P/CUMEM")
        COMPLETE(A, "0x3", "1", "2", "0xcd"));
    CHECK_INT(m->link_order.len, 1);
    CHECK_TEXT(comm_of_link(m, link_at(m, 0)), "0xab");
}

/* The same of more peers than are looked through one by one. */
static void test_wide_batches(void)
{
    enum { PEERS = 40 };
    char text[16384];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", COMPLETE(A, "0x1", "0", "41", "0xab") COMPLETE(A, "0x3", "0", "41", "0xcd"));
    for (int i = 0; i < 2 * PEERS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s NCCL INFO Channel 00/1 : 0[0] -> %d[0] via P2P/CUMEM\n", A, 1 + i % PEERS);
    CHECK(n < sizeof text);
    const struct ncclscope_model *m = scene_of(&scene, text);
    CHECK_INT(m->link_order.len, 2 * PEERS);
    for (size_t i = 0; i < m->link_order.len; i++)
        CHECK_INT(link_at(m, i)->lines, 1);
}

static void test_rccl_states_it(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        COMPLETE(A, "0x1", "0", "2", "0xab")
        COMPLETE(A, "0x3", "0", "2", "0xcd")
        A " NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC comm 0x1 nRanks 02\n");
    CHECK_INT(link_at(m, 0)->attribution, NSC_STATED);
    CHECK_TEXT(comm_of_link(m, link_at(m, 0)), "0xab");
    CHECK_TEXT(nsc_say(m, link_at(m, 0)->via), "P2P/IPC");
}

/* A communicator of 2 channels has no channel 2, one of 12 has: the older one's, though both are of the thread's rank and large enough. */
static void test_beyond_channels(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        A " NCCL INFO 2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer\n"
        COMPLETE(A, "0x1", "0", "4", "0xab")
        A " NCCL INFO 12 coll channels, 12 collnet channels, 0 nvls channels, 16 p2p channels, 16 p2p channels per peer\n"
        COMPLETE(A, "0x3", "0", "2", "0xcd")
        "vm:10:99 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
        "vm:10:99 [0] NCCL INFO Channel 02/0 : 0[0] -> 1[1] via P2P/CUMEM\n");
    CHECK_INT(m->link_order.len, 1);
    CHECK_INT(link_at(m, 0)->attribution, NSC_INFERRED);
    CHECK_TEXT(comm_of_link(m, link_at(m, 0)), "0xcd");
    m = scene_of(&scene, /* send and receive have channels of their own */
        A " NCCL INFO 2 coll channels, 2 collnet channels, 0 nvls channels, 4 p2p channels, 4 p2p channels per peer\n"
        COMPLETE(A, "0x1", "0", "2", "0xab")
        A " NCCL INFO Channel 03/1 : 0[0] -> 1[1] via P2P/CUMEM\n");
    CHECK_TEXT(comm_of_link(m, link_at(m, 0)), "0xab");
}

/* No line of rank 1 is here. The first connection of "0xab" has it on GPU 1: one to rank 1 on GPU 0 is of the other communicator. */
#define PEER_OF_BOTH(dev) \
    A " NCCL INFO NCCL version 2.27.3+cuda12.9\n" \
    COMPLETE(A, "0x1", "0", "8", "0xab") \
    VIA(A, "00", "0", "1", "P2P/CUMEM") \
    A " NCCL INFO Connected all rings\n" \
    COMPLETE(A, "0x3", "0", "2", "0xcd") \
    "vm:10:99 [0] NCCL INFO Channel 00/1 : 0[0] -> 1[" dev "] [send] via NET/IB/0/GDRDMA\n"
static void test_peer_on_another_gpu(void)
{
    const struct ncclscope_model *m = scene_of(&scene, PEER_OF_BOTH("0"));
    CHECK_INT(m->link_order.len, 2);
    CHECK_INT(link_at(m, 1)->attribution, NSC_INFERRED);
    CHECK_TEXT(comm_of_link(m, link_at(m, 1)), "0xcd");
    m = scene_of(&scene, PEER_OF_BOTH("1"));
    CHECK_INT(link_at(m, 1)->attribution, NSC_AMBIGUOUS);
}

/* One process with many GPUs: of two communicators in which it has rank 1, the one whose rank 1 sits on the GPU that the line prints. */
static void test_own_gpu(void)
{
#define ON(dev, comm, rank, id) \
    "vm:10:10 [" dev "] NCCL INFO ncclCommInitRank comm " comm " rank " rank " nranks 3 cudaDev " dev " nvmlDev " dev " busId " dev "000 commId " id " - Init COMPLETE\n"
    const struct ncclscope_model *m = scene_of(&scene,
        "vm:10:10 [0] NCCL INFO NCCL version 2.27.3+cuda12.9\n"
        ON("2", "0x1", "1", "0xab")
        ON("4", "0x2", "1", "0xcd")
        ON("6", "0x3", "1", "0xef")
        "vm:10:91 [6] NCCL INFO Channel 00/1 : 1[6] -> 0[3] [send] via NET/Socket/0/Shared\n"
        "vm:10:92 [4] NCCL INFO Channel 00/1 : 1[4] -> 0[2] [send] via NET/Socket/0/Shared\n");
    CHECK_INT(m->link_order.len, 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(link_at(m, i)->attribution, NSC_INFERRED);
        CHECK_TEXT(comm_of_link(m, link_at(m, i)), link_at(m, i)->dev == 6 ? "0xef" : "0xcd");
    }
}

/* One process with many GPUs tells where its peers sit, too: 0 to 3 is of "0xcd", whose rank 3 is on GPU 6, and not of the older "0xab"; in one
 * batch as in the next, and between ranks of one number each its own. */
static void test_peer_in_same_process(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        "vm:10:10 [0] NCCL INFO NCCL version 2.27.3+cuda12.9\n"
        ON("0", "0x1", "0", "0xab")
        ON("4", "0x2", "2", "0xab")
        ON("0", "0x3", "0", "0xcd")
        ON("6", "0x4", "2", "0xcd")
        "vm:10:91 [0] NCCL INFO Channel 00/1 : 0[0] -> 2[6] via P2P/direct pointer\n"
        "vm:10:92 [0] NCCL INFO Channel 00/1 : 0[0] -> 2[4] via P2P/direct pointer\n");
    CHECK_INT(m->link_order.len, 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(link_at(m, i)->attribution, NSC_INFERRED);
        CHECK_TEXT(comm_of_link(m, link_at(m, i)), nsc_text_is(nsc_say(m, link_at(m, i)->dst_dev), "6") ? "0xcd" : "0xab");
    }
}

/* Three communicators with a rank 0 on GPU 0; what the peers' own processes say, behind the connection, excludes the two older ones. */
static void test_youngest_of_three(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        "vm:10:10 [0] NCCL INFO NCCL version 2.27.3+cuda12.9\n"
        ON("0", "0x1", "0", "0xab")
        ON("0", "0x2", "0", "0xcd")
        ON("0", "0x3", "0", "0xef")
        "vm:10:91 [0] NCCL INFO Channel 00/1 : 0[0] -> 1[5] via P2P/IPC\n"
        "vm:11:11 [1] NCCL INFO ncclCommInitRank comm 0x4 rank 1 nranks 3 cudaDev 1 nvmlDev 1 busId 1000 commId 0xab - Init COMPLETE\n"
        "vm:12:12 [2] NCCL INFO ncclCommInitRank comm 0x4 rank 1 nranks 3 cudaDev 2 nvmlDev 2 busId 2000 commId 0xcd - Init COMPLETE\n"
        "vm:15:15 [5] NCCL INFO ncclCommInitRank comm 0x4 rank 1 nranks 3 cudaDev 5 nvmlDev 5 busId 5000 commId 0xef - Init COMPLETE\n");
    CHECK_INT(m->link_order.len, 1);
    CHECK_INT(link_at(m, 0)->attribution, NSC_INFERRED);
    CHECK_TEXT(comm_of_link(m, link_at(m, 0)), "0xef");
}

/* A rank whose birth is not here is of the one communicator that its source tells of, and of none where that tells of two. */
static void test_adopted(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        COMPLETE(A, "0x1", "0", "8", "0xab")
        COMPLETE(B, "0x2", "1", "8", "0xab")
        VIA("vm:15:15 [5]", "00", "5", "6", "P2P/CUMEM"));
    CHECK_TEXT(comm_of_link(m, link_at(m, 0)), "0xab");
    CHECK_INT(comm_of_id(m, "0xab")->count, 3);
    m = scene_of(&scene,
        COMPLETE(A, "0x1", "0", "8", "0xab")
        COMPLETE(B, "0x2", "1", "8", "0xcd")
        VIA("vm:15:15 [5]", "00", "5", "6", "P2P/CUMEM"));
    CHECK_INT(link_at(m, 0)->attribution, NSC_UNKNOWN_COMM);
    CHECK_INT(comm_of_id(m, "0xab")->count, 1);
}

CHECKS(TEST(test_nameless), TEST(test_ambiguous), TEST(test_thread_of_two_ranks), TEST(test_named_behind), TEST(test_batches),
       TEST(test_wide_batches), TEST(test_rccl_states_it), TEST(test_beyond_channels), TEST(test_peer_on_another_gpu),
       TEST(test_own_gpu), TEST(test_peer_in_same_process), TEST(test_youngest_of_three), TEST(test_adopted))
