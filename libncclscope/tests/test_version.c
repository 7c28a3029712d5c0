/* test_version.c - which release a process runs: stated, inferred from its texts, or not to be told. */
#include "model/version.h"
#include "scene.h"

static struct scene scene;

static struct nsc_version version_of(const char *log, const char *pid)
{
    const struct ncclscope_model *m = scene_of(&scene, log);
    int64_t want;
    nsc_to_i64(nsc_text_of(pid), &want);
    for (uint32_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].pid == want)
            return nsc_version_of(m, i);
    return nsc_version_of(m, NSC_NONE);
}

#define RINGS(pid) \
    "vm:" pid ":" pid " [0] NCCL INFO Channel 00/02 :    0   1\nvm:" pid ":" pid \
    " [0] NCCL INFO Channel 00 : 0[1000] -> 1[2000] via P2P/IPC\n"

static void test_stated(void)
{
    struct nsc_version v = version_of("NCCL version 2.10.3+cuda11.3\n" RINGS("10"), "10");
    CHECK_INT(v.how, NSC_VERSION_SOURCE);
    CHECK_INT(v.low, 21003);
    v = version_of("vm:10:10 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n", "10");
    CHECK_INT(v.how, NSC_VERSION_SAID);
    CHECK_INT(v.high, 22809);
}

#define NET_LINE "vm:10:10 [0] NCCL INFO Using network Socket\n"
#define WARN_LINE "vm:10:10 [0] NCCL WARN Cuda failure 'operation not supported'\n"

/* From 2.26.2 on a warning begins with the time, and nothing else does: where other lines do, a launcher may have put it there. */
static void test_stamped_warning(void)
{
    struct nsc_version v = version_of("[2026-01-02 03:04:05] " WARN_LINE NET_LINE, "10");
    CHECK_INT(v.how, NSC_VERSION_INFERRED);
    CHECK_INT(v.low, 22602);
    CHECK(version_of("[2026-01-02 03:04:05] " WARN_LINE "[2026-01-02 03:04:05] " NET_LINE, "10").low < 22602);
    CHECK(version_of("[2026-01-02 03:04:05] " WARN_LINE, "10").low < 22602);
    CHECK(version_of("2026-01-02 03:04:05 " WARN_LINE NET_LINE, "10").low < 22602);
    CHECK(version_of(WARN_LINE NET_LINE, "10").low < 22602);
}

/* Rings are listed in the same words from 2.5.6 on. */
static void test_inferred(void)
{
    struct nsc_version v = version_of(RINGS("10"), "10");
    CHECK_INT(v.how, NSC_VERSION_INFERRED);
    CHECK(v.low <= 21003 && v.high >= 21003);
    CHECK(v.high < 22200); /* "Channel 00 : 0[1000]" without a connection index */
}

/* A version line without a header is of one process: of which, where two jobs lie in one file? */
static void test_two_jobs(void)
{
    static const char two[] = "NCCL version 2.10.3+cuda11.3\n" RINGS("10") "NCCL version 2.21.5+cuda12.4\n" RINGS("11");
    struct nsc_version v = version_of(two, "11");
    CHECK(v.how != NSC_VERSION_SOURCE);
    CHECK_INT(version_of("NCCL version 2.10.3+cuda11.3\nNCCL version 2.10.3+cuda11.3\n" RINGS("10"), "10").how,
              NSC_VERSION_SOURCE);
}

/* What a process prints speaks against the only version line. */
static void test_contradiction(void)
{
    struct nsc_version v = version_of("NCCL version 2.10.3+cuda11.3\n"
                                      "vm:10:10 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n"
                                      "vm:10:10 [0] NCCL INFO 24 coll channels, 24 collnet channels, 0 nvls channels, "
                                      "32 p2p channels, 32 p2p channels per peer\n",
                                      "10");
    CHECK_INT(v.how, NSC_VERSION_INFERRED);
    CHECK(v.low > 21003);
}

/* AMD's library counts releases of its own. */
static void test_rccl(void)
{
    struct nsc_version v =
        version_of("vm:10:10 [0] a.cc:7 NCCL WARN Missing \"iommu=pt\" from kernel command line which can lead to "
                   "system instablity or hang!\n" RINGS("10"),
                   "10");
    CHECK_INT(v.how, NSC_VERSION_UNKNOWN);
    scene_end(&scene);
}

CHECKS(TEST(test_stated), TEST(test_stamped_warning), TEST(test_inferred), TEST(test_two_jobs),
       TEST(test_contradiction), TEST(test_rccl))
