/* test_model.c - records to hosts, processes, communicators and links: who is who, and whose is what. */
#include "data.h"
#include "job_lines.h"

static struct scene scene;

/* One line of a log stands in one line. */
/* clang-format off */
static void test_two_ranks(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        START(A, "0x1", "0", "2", "0xab")
        START(B, "0x2", "1", "2", "0xab")
        COMPLETE(A, "0x1", "0", "2", "0xab")
        COMPLETE(B, "0x2", "1", "2", "0xab")
        VIA(A, "00", "0", "1", "P2P/CUMEM")
        VIA(A, "01", "0", "1", "P2P/CUMEM")
        VIA(B, "00", "1", "0", "SHM/direct/direct"));
    CHECK_INT(m->comms.len, 1);
    const struct nsc_comm *c = comm_of_id(m, "0xab");
    CHECK_INT(c->nranks, 2);
    CHECK_INT(c->count, 2);
    CHECK_INT(c->state, NSC_COMPLETE);
    CHECK_INT(m->proc_order.len, 2);
    CHECK_INT(m->link_order.len, 2);
    const struct nsc_link *l = link_at(m, 0);
    CHECK_INT(l->src, 0);
    CHECK_INT(l->dst, 1);
    CHECK_INT(l->lines, 2);
    CHECK_INT(l->attribution, NSC_INFERRED);
    CHECK_TEXT(comm_of_link(m, l), "0xab");
    CHECK_INT(l->where.line, 5);
    CHECK_INT(l->channels[0][0], 3);
    struct nsc_known_path p = l->known;
    CHECK_INT(p.path, NSC_PATH_P2P); /* nothing tells NVLink from PCIe */
    CHECK_INT(p.proof, NSC_PROOF_NONE);
    CHECK_INT(p.scope, NSC_SCOPE_NODE);
    p = link_at(m, 1)->known;
    CHECK_INT(p.path, NSC_PATH_SHM);
}

static void test_states(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        START(A, "0x1", "0", "2", "0xab")
        COMPLETE(A, "0x1", "0", "2", "0xab"));
    CHECK_INT(comm_of_id(m, "0xab")->state, NSC_PARTIAL);
    m = scene_of(&scene,
        START(A, "0x1", "0", "2", "0xab")
        COMPLETE(A, "0x1", "0", "2", "0xab")
        START(B, "0x2", "1", "2", "0xab"));
    CHECK_INT(comm_of_id(m, "0xab")->state, NSC_INCOMPLETE);
    m = scene_of(&scene,
        COMPLETE(A, "0x1", "0", "2", "0xab")
        COMPLETE(B, "0x2", "1", "2", "0xab")
        A " NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 60 - Abort COMPLETE\n");
    CHECK_INT(comm_of_id(m, "0xab")->state, NSC_ABORTED);
    m = scene_of(&scene,
        START(A, "0x1", "0", "2", "0xab")
        A " NCCL INFO init.cc:421 -> 5\n");
    CHECK_INT(comm_of_id(m, "0xab")->state, NSC_FAILED);
    m = scene_of(&scene, "");
    CHECK_INT(m->comms.len + m->procs.len + m->links.len, 0);
}

/* A child prints no id: it joins by its parent, its number among the children, and its color. */
static void test_children(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        COMPLETE(A, "0x1", "0", "2", "0xab")
        COMPLETE(B, "0x2", "1", "2", "0xab")
        SPLIT(A, "0x3", "0", "1", "0x1", "1", "0", BORN)
        SPLIT(B, "0x4", "0", "1", "0x2", "1", "1", BORN)
        SPLIT(A, "0x3", "0", "1", "0x1", "1", "0", DONE)
        SPLIT(B, "0x4", "0", "1", "0x2", "1", "1", DONE)
        SPLIT(A, "0x3", "0", "2", "0x1", "2", "0", BORN)
        SPLIT(B, "0x4", "1", "2", "0x2", "2", "0", BORN)
        SPLIT(A, "0x3", "0", "2", "0x1", "2", "0", DONE)
        SPLIT(B, "0x4", "1", "2", "0x2", "2", "0", DONE)
        VIA(A, "00", "0", "1", "P2P/CUMEM")
        VIA(B, "00", "1", "0", "P2P/CUMEM"));
    CHECK_INT(m->comms.len, 4);
    CHECK_INT(comm_of_id(m, "0xab/1.0")->count, 1);
    CHECK_INT(comm_of_id(m, "0xab/1.1")->count, 1);
    const struct nsc_comm *c = comm_of_id(m, "0xab/2.0");
    CHECK_INT(c->count, 2);
    CHECK_INT(c->state, NSC_COMPLETE);
    CHECK(c->parent != NSC_NONE && nsc_text_is(nsc_say(m, m->comms.item[c->parent].id), "0xab"));
    CHECK_TEXT(comm_of_link(m, link_at(m, 0)), "0xab/2.0"); /* not the parent, which has the same ranks */
    CHECK_TEXT(comm_of_link(m, link_at(m, 1)), "0xab/2.0");
}

#define GONE(host_pid, ptr, rank) \
    host_pid " NCCL INFO comm " ptr " rank " rank " nranks 2 cudaDev " rank " busId 60 - Destroy COMPLETE\n"
#define LIVED(one, two) \
    START(A, one, "0", "2", "0xab") START(B, two, "1", "2", "0xab") COMPLETE(A, one, "0", "2", "0xab") \
    COMPLETE(B, two, "1", "2", "0xab") GONE(A, one, "0") GONE(B, two, "1")

/* One id used again and again: each communicator has a name of its own. */
static void test_id_again(void)
{
    const struct ncclscope_model *m = scene_of(&scene, LIVED("0x1", "0x2") LIVED("0x3", "0x4") LIVED("0x5", "0x6"));
    CHECK_INT(m->comms.len, 3);
    CHECK_INT(comm_of_id(m, "0xab")->count, 2);
    CHECK_INT(comm_of_id(m, "0xab#1")->count, 2);
    CHECK_INT(comm_of_id(m, "0xab#2")->count, 2);
}

/* One pointer used again, without a line that says that the first was destroyed. */
static void test_pointer_again(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        COMPLETE(A, "0x1", "0", "2", "0xab")
        COMPLETE(B, "0x2", "1", "2", "0xab")
        SPLIT(A, "0x3", "0", "2", "0x1", "1", "0", BORN)
        SPLIT(B, "0x4", "1", "2", "0x2", "1", "0", BORN)
        SPLIT(A, "0x3", "0", "2", "0x1", "1", "0", DONE)
        SPLIT(B, "0x4", "1", "2", "0x2", "1", "0", DONE)
        VIA(A, "00", "0", "1", "P2P/CUMEM")
        VIA(B, "00", "1", "0", "P2P/CUMEM")
        SPLIT(A, "0x3", "0", "2", "0x1", "2", "0", BORN)
        SPLIT(B, "0x4", "1", "2", "0x2", "2", "0", BORN)
        SPLIT(A, "0x3", "0", "2", "0x1", "2", "0", DONE)
        SPLIT(B, "0x4", "1", "2", "0x2", "2", "0", DONE)
        VIA(A, "00", "0", "1", "P2P/CUMEM")
        VIA(B, "00", "1", "0", "P2P/CUMEM"));
    CHECK_INT(m->comms.len, 3);
    CHECK_INT(comm_of_id(m, "0xab/1.0")->state, NSC_COMPLETE);
    CHECK_INT(comm_of_id(m, "0xab/2.0")->state, NSC_COMPLETE);
    CHECK_INT(m->link_order.len, 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(link_at(m, i)->lines, 1);
}

/* Up to 2.22 children of one color have one commId, whoever is in them. */
static void test_one_id_for_two(void)
{
#define CHILD(who, ptr, rank, parent, what) \
    who " NCCL INFO ncclCommSplit comm " ptr " rank " rank " nranks 2 cudaDev 0 nvmlDev 0 busId 60 parent " parent \
        " color 0 key 0 commId 0xcd" what "\n"
    const struct ncclscope_model *m = scene_of(&scene,
        COMPLETE(A, "0x1", "0", "3", "0xab")
        COMPLETE(B, "0x2", "1", "3", "0xab")
        COMPLETE("vm:12:12 [2]", "0x3", "2", "3", "0xab")
        CHILD(A, "0x4", "0", "0x1", DONE)
        CHILD(B, "0x5", "1", "0x2", DONE)
        CHILD(A, "0x4", "0", "0x1", " - Init START")
        CHILD("vm:12:12 [2]", "0x6", "1", "0x3", " - Init START")
        CHILD(A, "0x4", "0", "0x1", DONE)
        CHILD("vm:12:12 [2]", "0x6", "1", "0x3", DONE));
#undef CHILD
    size_t twos = 0;
    for (size_t i = 0; i < m->comms.len; i++)
        twos += m->comms.item[i].nranks == 2 && m->comms.item[i].count == 2;
    /* The third process took no part in the first split: its first child is the others' second.
     * Nobody else fits there. */
    CHECK_INT(twos, 2);
    CHECK_INT(comm_of_id(m, "0xab")->count, 3);
    for (size_t i = 0; i < m->comms.len; i++)
        CHECK(m->comms.item[i].count <= (uint64_t)m->comms.item[i].nranks);
}

/* ---- several sources ---- */

static const struct ncclscope_model *two_sources(const char *first, const char *second)
{
    ncclscope_model_free(scene.model);
    scene.model = NULL;
    scene_add(&scene, "first", nsc_text_of(first));
    scene_add(&scene, "second", nsc_text_of(second));
    CHECK_INT(ncclscope_model_finish(scene.model, NULL), 0);
    return scene.model;
}

/* Pods may share a host name and a pid: two logs that each tell a start are two processes. */
static void test_one_name_two_pods(void)
{
    const struct ncclscope_model *m = two_sources(
        "train:1:1 [0] NCCL INFO NCCL version 2.27.3+cuda12.9\n"
        START("train:1:1 [0]", "0x1", "0", "2", "0xab")
        COMPLETE("train:1:1 [0]", "0x1", "0", "2", "0xab"),
        "train:1:1 [0] NCCL INFO NCCL version 2.27.3+cuda12.9\n"
        START("train:1:1 [0]", "0x1", "1", "2", "0xab")
        COMPLETE("train:1:1 [0]", "0x1", "1", "2", "0xab"));
    CHECK_INT(m->proc_order.len, 2);
    CHECK_INT(comm_of_id(m, "0xab")->count, 2);
    CHECK_INT(comm_of_id(m, "0xab")->state, NSC_COMPLETE);
}

/* PyTorch says which NCCL it calls, where no banner does; what was glued to it is none of it. */
static void test_version_of_pytorch(void)
{
    static const char *const said[] = {"2.27.3", "2.27.3.", "2.27.3[rank13]: ncclSystemError: System call failed."};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        char line[300];
        snprintf(line, sizeof line,
                 "[rank13]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3780, unhandled "
                 "system error, NCCL version %s\n",
                 said[i]);
        const struct ncclscope_model *m = scene_of(&scene, line);
        CHECK_TEXT(nsc_say(m, m->sources.item[0].bare_version), "2.27.3");
    }
}

/* One process whose log was cut in two (rotation) is one process, with one rank. */
static void test_one_process_two_files(void)
{
    const struct ncclscope_model *m = two_sources(
        A " NCCL INFO NCCL version 2.27.3+cuda12.9\n"
        START(A, "0x1", "0", "1", "0xab"),
        COMPLETE(A, "0x1", "0", "1", "0xab")
        A " NCCL INFO Connected all rings\n");
    CHECK_INT(m->proc_order.len, 1);
    CHECK_INT(m->comms.len, 1);
    CHECK_INT(comm_of_id(m, "0xab")->state, NSC_COMPLETE);
}

/* Ranks of a process, walked from its last one: how many there are, and that each is its own. */
static size_t walk_ranks(const struct ncclscope_model *m, uint32_t proc)
{
    size_t n = 0;
    for (uint32_t i = m->procs.item[proc].last_rank; i != NSC_NONE && n <= m->ranks.len; i = m->ranks.item[i].before) {
        CHECK(i < m->ranks.len);
        if (i >= m->ranks.len)
            return SIZE_MAX;
        CHECK_INT(m->ranks.item[i].proc, proc);
        n++;
    }
    return n;
}

/* Two processes that became one have one chain of ranks, and ranks of others keep theirs. */
static void test_ranks_after_merge(void)
{
    const struct ncclscope_model *m = two_sources(
        A " NCCL INFO NCCL version 2.27.3+cuda12.9\n"
        START(A, "0x1", "0", "2", "0xab"),
        COMPLETE(A, "0x1", "0", "2", "0xab")
        START(B, "0x2", "1", "2", "0xab")
        COMPLETE(B, "0x2", "1", "2", "0xab")
        START(A, "0x3", "0", "2", "0xcd")
        START(B, "0x4", "1", "2", "0xcd"));
    CHECK_INT(m->proc_order.len, 2);
    for (size_t i = 0; i < m->proc_order.len; i++)
        CHECK_INT(walk_ranks(m, m->proc_order.item[i]), 2);
}

/* One host name in several files with other pids: NCCL_DEBUG_FILE=%h.%p. */
static void test_one_host_many_files(void)
{
    const struct ncclscope_model *m = two_sources(
        START(A, "0x1", "0", "2", "0xab")
        COMPLETE(A, "0x1", "0", "2", "0xab")
        VIA(A, "00", "0", "1", "P2P/CUMEM"),
        START(B, "0x2", "1", "2", "0xab")
        COMPLETE(B, "0x2", "1", "2", "0xab")
        VIA(B, "00", "1", "0", "P2P/CUMEM"));
    CHECK_INT(m->proc_order.len, 2);
    CHECK_INT(comm_of_id(m, "0xab")->state, NSC_COMPLETE);
    CHECK_INT(m->link_order.len, 2);
    CHECK_INT(link_at(m, 1)->where.source, 1);
    struct nsc_known_path p = link_at(m, 0)->known;
    CHECK_INT(p.scope, NSC_SCOPE_NODE);
}

/* The same log given twice is no second job. */
static void test_same_twice(void)
{
    static const char log[] =
        START(A, "0x1", "0", "2", "0xab")
        START(B, "0x2", "1", "2", "0xab")
        COMPLETE(A, "0x1", "0", "2", "0xab")
        COMPLETE(B, "0x2", "1", "2", "0xab");
    const struct ncclscope_model *m = two_sources(log, log);
    CHECK_INT(m->proc_order.len, 2);
    CHECK_INT(m->comms.len, 1);
    CHECK_INT(comm_of_id(m, "0xab")->state, NSC_COMPLETE);
}

/* ---- single facts ---- */

static const struct nsc_env *env(const struct ncclscope_model *m, const char *name)
{
    const struct nsc_env *e = nsc_env_of(m, NSC_NONE, name);
    static const struct nsc_env none;
    CHECK(e != NULL);
    return e ? e : &none;
}

static void test_env(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        A " NCCL INFO NCCL_BUFFSIZE set by environment to 8388608.\n"
        B " NCCL INFO NCCL_BUFFSIZE set by environment to 8388608.\n"
        A " NCCL INFO NCCL_SOCKET_IFNAME set by environment to ^docker0,lo\n"
        A " NCCL INFO NCCL_BUFFSIZE set by environment to 8388608.\n");
    CHECK_INT(m->env.len, 3); /* once per process and variable */
    CHECK_TEXT(nsc_say(m, env(m, "NCCL_BUFFSIZE")->value), "8388608");
    CHECK_TEXT(nsc_say(m, env(m, "NCCL_SOCKET_IFNAME")->value), "^docker0,lo");
    CHECK(nsc_env_of(m, NSC_NONE, "NCCL_PROTO") == NULL);
}

/* Processes are counted, and not how often each tells it. */
static void test_plugins(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        A " NCCL INFO TUNER/Plugin: Using tuner plugin acme\n"
        B " NCCL INFO TUNER/Plugin: Using tuner plugin acme\n"
        A " NCCL INFO TUNER/Plugin: Using tuner plugin acme\n"
        B " NCCL INFO TUNER/Plugin: Using tuner plugin other\n");
    CHECK_INT(m->plugins.len, 2);
    CHECK_TEXT(nsc_say(m, m->plugins.item[0].name), "acme");
    CHECK_INT(m->plugins.item[0].procs, 2);
    CHECK_INT(m->plugins.item[1].procs, 1);
}

static void test_warnings_by_shape(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        A " misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-Bo3obh to 34210180 bytes, error: No space left "
          "on device (28)\n"
        B " misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-ZMKALW to 33030532 bytes, error: No space left "
          "on device (28)\n"
        B " misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer a<1>\n");
    CHECK_INT(m->warnings.len, 2);
    CHECK_INT(m->warnings.item[0].lines, 2);
    CHECK_INT(m->warnings.item[0].where.line, 1);
    CHECK_INT(m->warnings.item[1].lines, 1);
}

static void test_versions(void)
{
    CHECK_INT(nsc_version_number(NSC_TEXT("2.27.3+cuda12.9")), 22703);
    CHECK_INT(nsc_version_number(NSC_TEXT("2.8.3-nightly")), 20803);
    CHECK_INT(nsc_version_number(NSC_TEXT("2.30.7")), 23007);
    CHECK_INT(nsc_version_number(NSC_TEXT("2.123.4")), 0); /* not 3.23.4 */
    CHECK_INT(nsc_version_number(NSC_TEXT("2.4294967299.1")), 0);
    CHECK_INT(nsc_version_number(NSC_TEXT("")), 0);
    CHECK_INT(nsc_version_number(NSC_TEXT("x")), 0);
}

/* Of the link between the two ranks of one node, with these lines before it. */
#define path_with(lines) path_of_first(scene_of(&scene, \
        START(A, "0x1", "0", "2", "0xab") \
        A " NCCL INFO comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\n" \
        A " NCCL INFO NCCL version 2.27.3+cuda12.9\n" \
        lines \
        COMPLETE(A, "0x1", "0", "2", "0xab") \
        VIA(A, "00", "0", "1", "P2P/CUMEM")))
static struct nsc_known_path path_of_first(const struct ncclscope_model *m)
{
    struct nsc_known_path p = link_at(m, 0)->known;
    return p;
}

static void test_graph_proves(void)
{
    const struct ncclscope_model *m = scene_of(&scene,
        START(A, "0x1", "0", "2", "0xab")
        START(B, "0x2", "1", "2", "0xab")
        A " NCCL INFO comm 0x1 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\n"
        B " NCCL INFO comm 0x2 rank 1 nRanks 2 nNodes 1 localRanks 2 localRank 1 MNNVL 0\n"
        A " NCCL INFO NCCL version 2.27.3+cuda12.9\n"
        A " NCCL INFO P2P Chunksize set to 524288\n"
        B " NCCL INFO P2P Chunksize set to 524288\n"
        COMPLETE(A, "0x1", "0", "2", "0xab")
        COMPLETE(B, "0x2", "1", "2", "0xab")
        VIA(A, "00", "0", "1", "P2P/CUMEM"));
    struct nsc_known_path p = link_at(m, 0)->known;
    CHECK_INT(p.path, NSC_PATH_NVLINK); /* 2.25.1 and later, one node, nothing about chunks in the environment */
    CHECK_INT(p.proof, NSC_PROOF_INFERRED);
    CHECK(p.because && p.because->line > 0);
    /* a variable made it so: it proves nothing */
    CHECK_INT(path_with(A " NCCL INFO NCCL_P2P_NVL_CHUNKSIZE set by environment to 524288.\n"
                        A " NCCL INFO P2P Chunksize set to 524288\n").path, NSC_PATH_P2P);
    /* NVLink would have given the two of them 512 KiB */
    p = path_with(A " NCCL INFO P2P Chunksize set to 131072\n");
    CHECK_INT(p.path, NSC_PATH_PCIE);
    CHECK_INT(p.proof, NSC_PROOF_INFERRED);
    CHECK_INT(path_with(A " NCCL INFO NCCL_BUFFSIZE set by environment to 1048576.\n"
                        A " NCCL INFO P2P Chunksize set to 131072\n").path, NSC_PATH_P2P);
}

static void test_read_proves(void)
{
    static const char log[] =
        COMPLETE(A, "0x1", "0", "2", "0xab")
        A " NCCL INFO NCCL_IB_HCA set by environment to mlx5\n"
        VIA(A, "00", "0", "1", "P2P/CUMEM/read");
    static const char forced[] =
        COMPLETE(A, "0x1", "0", "2", "0xab")
        A " NCCL INFO NCCL_P2P_READ_ENABLE set by environment to 1\n"
        VIA(A, "00", "0", "1", "P2P/CUMEM/read");
    const struct ncclscope_model *m = scene_of(&scene, log);
    struct nsc_known_path p = link_at(m, 0)->known;
    CHECK_INT(p.path, NSC_PATH_NVLINK);
    CHECK_INT(p.proof, NSC_PROOF_INFERRED);
    m = scene_of(&scene, forced);
    p = link_at(m, 0)->known;
    CHECK_INT(p.path, NSC_PATH_P2P);
}

static void test_matrix(void)
{
    const struct ncclscope_model *m = scene_of(&scene, "        GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity\n"
                                                       "GPU0     X      NV18    PHB     0-63    0\n"
                                                       "GPU1    NV18     X      PHB     0-63    0\n"
                                                       "NIC0    PHB     PHB      X\n");
    CHECK_INT(m->matrices.len, 1);
    CHECK_INT(m->matrices.item[0].gpus, 2);
    CHECK_INT(m->matrices.item[0].where.line, 1);
}

static void test_problem_and_stats(void)
{
    ncclscope_model *m = NULL;
    ncclscope_stats s = {.size = sizeof s};
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    CHECK_INT(ncclscope_model_source(m, "gone.log"), 0);
    CHECK_INT(ncclscope_model_source_end(m, NULL, "cannot open: No such file or directory"), 0);
    CHECK_INT(ncclscope_model_finish(m, NULL), 0);
    CHECK_INT(ncclscope_model_sources(m, 0, 0, NULL, 0), 1);
    CHECK(!strcmp(ncclscope_model_source_name(m, 0), "gone.log"));
    CHECK(!strcmp(ncclscope_model_problem(m, 0), "cannot open: No such file or directory"));
    CHECK_INT(ncclscope_model_stats(m, 0, &s), 0);
    CHECK_INT(s.lines, 0);
    CHECK_INT(ncclscope_model_stats(m, 1, &s), NCCLSCOPE_ENOTFOUND);
    CHECK(ncclscope_model_source_name(m, 1) == NULL);
    ncclscope_model_free(m);
    ncclscope_model_free(NULL);
    scene_end(&scene);
}

/* clang-format on */
static int take(void *user, const char *bytes, size_t size)
{
    data_add(user, (nsc_text){bytes, size});
    return 0;
}

static struct data json_of(ncclscope_model *m)
{
    ncclscope_findings *f = NULL;
    struct data out = {0};
    CHECK_INT(ncclscope_model_finish(m, NULL), 0);
    CHECK_INT(ncclscope_analyse(&f, m, NULL), 0);
    CHECK_INT(ncclscope_report(m, f, "json", 0, 0, take, &out), 0);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    return out;
}

enum { PODS = 4 };

/* What each of four processes printed: the lines that name its device. */
static void part(nsc_text left, struct data pod[PODS])
{
    while (left.len) {
        const char *nl = memchr(left.ptr, '\n', left.len);
        size_t n = nl ? (size_t)(nl - left.ptr) + 1 : left.len;
        ptrdiff_t at = nsc_text_find((nsc_text){left.ptr, n}, "] NCCL ");
        if (at > 0)
            data_add(&pod[(left.ptr[at - 1] - '0') % PODS], (nsc_text){left.ptr, n});
        left = nsc_text_from(left, n);
    }
}

/* Feeds at most `size` bytes of what is left, and adds the records. */
static void go_on(ncclscope_model *m, uint32_t id, ncclscope_reader *r, nsc_text *left, size_t size)
{
    const ncclscope_record *rec;
    size_t n = left->len < size ? left->len : size;
    CHECK_INT(ncclscope_reader_feed(r, left->ptr, n), 0);
    *left = nsc_text_from(*left, n);
    if (!left->len)
        ncclscope_reader_finish(r);
    while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK)
        CHECK_INT(ncclscope_model_stream_add(m, id, rec), 0);
}

/* Logs of several pods as they come, some bytes of each in turn, are the same job as one behind the other. */
static void test_streams(void)
{
    ncclscope_grammar *g = NULL;
    ncclscope_model *m[2] = {NULL, NULL};
    struct data log = data_load("logs/2.28.9/h200x4-default.log.gz"), pod[PODS] = {{0}};
    part(data_text(&log), pod);
    CHECK_INT(ncclscope_grammar_new(&g, NULL), 0);
    for (int way = 0; way < 2; way++) {
        ncclscope_reader *r[PODS];
        nsc_text left[PODS];
        uint32_t id[PODS], none;
        size_t open = PODS, size = way ? 500 : SIZE_MAX;
        CHECK_INT(ncclscope_model_new(&m[way], NULL), 0);
        for (int i = 0; i < PODS; i++) {
            char name[2] = {(char)('a' + i), 0};
            left[i] = data_text(&pod[i]);
            CHECK_INT(ncclscope_reader_new(&r[i], g, NULL), 0);
            CHECK_INT(ncclscope_model_stream(m[way], name, &id[i]), 0);
        }
        while (open) {
            for (int i = 0; i < PODS; i++) {
                if (!left[i].len)
                    continue;
                go_on(m[way], id[i], r[i], &left[i], size);
                if (left[i].len)
                    continue;
                CHECK_INT(ncclscope_model_stream_end(m[way], id[i], r[i], NULL), 0);
                CHECK_INT(ncclscope_model_stream_end(m[way], id[i], r[i], NULL), NCCLSCOPE_EINVAL);
                open--;
            }
        }
        CHECK_INT(ncclscope_model_finish(m[way], NULL), 0);
        CHECK_INT(ncclscope_model_sources(m[way], 0, 0, NULL, 0), PODS);
        CHECK_INT(ncclscope_model_processes(m[way], 0, 0, NULL, 0), PODS);
        CHECK_INT(ncclscope_model_stream(m[way], "late", &none), NCCLSCOPE_EINVAL);
        for (int i = 0; i < PODS; i++)
            ncclscope_reader_free(r[i]);
    }
    struct data behind = json_of(m[0]), among = json_of(m[1]);
    CHECK(behind.len > 1000 && behind.len == among.len && !memcmp(behind.ptr, among.ptr, behind.len));
    ncclscope_grammar_free(g);
    data_drop(&behind);
    data_drop(&among);
    for (int i = 0; i < PODS; i++)
        data_drop(&pod[i]);
    data_drop(&log);
}

/* At any line of a log a snapshot is the model of what came so far, and leaves no trace in the one it was taken of. */
static void test_snapshot(void)
{
    ncclscope_grammar *g = NULL;
    ncclscope_model *m = NULL, *seen = NULL;
    ncclscope_reader *r = NULL;
    struct data log = data_load("logs/2.28.9/h200x2-p2p-disabled-shm.log");
    nsc_text left = data_text(&log);
    size_t links = 0;
    uint32_t id;
    CHECK_INT(ncclscope_grammar_new(&g, NULL), 0);
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    CHECK_INT(ncclscope_reader_new(&r, g, NULL), 0);
    CHECK_INT(ncclscope_model_stream(m, "log", &id), 0);
    while (left.len) {
        go_on(m, id, r, &left, 700);
        CHECK_INT(ncclscope_model_stream_counts(m, id, r), 0);
        CHECK_INT(ncclscope_model_snapshot(&seen, m, NULL), 0);
        size_t n = ncclscope_model_links(seen, 0, 0, NULL, 0);
        CHECK(n >= links);
        links = n;
        if (left.len)
            ncclscope_model_free(seen);
    }
    CHECK_INT(links, 2);
    CHECK_INT(ncclscope_model_stream_end(m, id, r, NULL), 0);
    struct data snapshot = json_of(seen), whole;
    CHECK_INT(ncclscope_model_finish(m, NULL), 0);
    CHECK_INT(ncclscope_model_snapshot(&seen, m, NULL), NCCLSCOPE_EINVAL);
    whole = json_of(m);
    CHECK(snapshot.len == whole.len && !memcmp(snapshot.ptr, whole.ptr, whole.len));
    ncclscope_reader_free(r);
    ncclscope_grammar_free(g);
    data_drop(&snapshot);
    data_drop(&whole);
    data_drop(&log);
}

static void test_misuse(void)
{
    ncclscope_model *m = NULL;
    uint32_t id;
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    CHECK_INT(ncclscope_model_add(m, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_stream_add(m, 7, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_source_end(m, NULL, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_stream(m, NULL, &id), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_source(NULL, "a"), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_source(m, "a"), 0);
    CHECK_INT(ncclscope_model_source(m, "b"), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_add(m, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_finish(m, NULL), 0); /* which ends "a" */
    CHECK_INT(ncclscope_model_source_end(m, NULL, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_finish(NULL, NULL), NCCLSCOPE_EINVAL);
    ncclscope_model_free(m);
    ncclscope_model_free(NULL);
}

CHECKS(TEST(test_streams), TEST(test_snapshot), TEST(test_misuse), TEST(test_two_ranks), TEST(test_states),
       TEST(test_children), TEST(test_id_again), TEST(test_pointer_again), TEST(test_one_id_for_two),
       TEST(test_one_name_two_pods), TEST(test_one_process_two_files), TEST(test_version_of_pytorch),
       TEST(test_ranks_after_merge), TEST(test_one_host_many_files), TEST(test_same_twice), TEST(test_env),
       TEST(test_plugins), TEST(test_warnings_by_shape), TEST(test_versions), TEST(test_graph_proves),
       TEST(test_read_proves), TEST(test_matrix), TEST(test_problem_and_stats))
