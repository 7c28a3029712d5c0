/* test_rules.c - the words of every rule, and the order in which findings are told. */
#include "data.h"
#include "rules/rules.h"
#include "scene.h"

#include <ctype.h>

static int to_data(void *user, const char *bytes, size_t size)
{
    data_add(user, (nsc_text){bytes, size});
    return 0;
}

static bool is_slug(const char *id)
{
    size_t slashes = 0;
    for (const char *p = id; *p; p++) {
        slashes += *p == '/';
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '-' && *p != '/')
            return false;
    }
    return slashes == 1;
}

static void test_words(void)
{
    size_t n = 0;
    for (const struct nsc_rule *r = nsc_rules; r->id; r++, n++) {
        const char *words[] = {r->means, r->why, r->fix, r->verify, r->doc};
        if (!is_slug(r->id))
            printf("%s\n", r->id);
        CHECK(is_slug(r->id));
        CHECK(r->check != NULL);
        for (size_t i = 0; i < 5; i++) {
            if (!words[i] || !*words[i])
                printf("%s lacks words\n", r->id);
            CHECK(words[i] && *words[i]);
        }
        for (const struct nsc_rule *q = nsc_rules; q != r; q++)
            CHECK(strcmp(q->id, r->id) != 0);
    }
    CHECK(n >= 20);
}

static void test_explain(void)
{
    for (const struct nsc_rule *r = nsc_rules; r->id; r++) {
        struct data out = {0};
        CHECK_INT(ncclscope_explain(r->id, to_data, &out), 0);
        CHECK(nsc_text_find(data_text(&out), r->id) >= 0);
        CHECK(out.len > strlen(r->means) + strlen(r->fix));
        data_drop(&out);
    }
    struct data out = {0};
    CHECK_INT(ncclscope_explain("no/such-id", to_data, &out), NCCLSCOPE_ENOTFOUND);
    CHECK_INT(ncclscope_explain("", to_data, &out), NCCLSCOPE_ENOTFOUND);
    CHECK_INT(out.len, 0);
    data_drop(&out);
}

static struct scene scene;

static ncclscope_findings *judge(const char *log)
{
    struct data text = data_load(log);
    ncclscope_findings *f = NULL;
    const struct ncclscope_model *m = scene_of(&scene, text.ptr);
    CHECK_INT(ncclscope_analyse(&f, m, NULL), 0);
    data_drop(&text);
    return f;
}

static const char *const logs[] = {
    "logs/2.28.9/h200x8-p2p-disabled-shm.log", "logs/2.28.9/h200x8-two-nodes.log.gz",
    "logs/2.28.9/h200x8-small-devshm.log",     "logs/2.28.9/h200x8-rank-crash-two-nodes.log",
    "logs/2.28.9/h200x8-net-ib-forced.log",    "logs/2.27.3/h200x8-ofi-tcp-two-nodes.log.gz",
    "logs/seed/p4d-4pods-1gpu-efa.log",        "logs/2.28.9/h200x4-p2p-shm-disabled-socket.log",
    "logs/2.30.7/h200x4-two-nodes.log.gz",     "logs/2.28.9/h200x8-default.log.gz",
    "logs/seed/pods-shm-socket.log",
};

static size_t place_of(const ncclscope_findings *f, const char *id)
{
    size_t i = 0;
    while (i < f->list.len && strcmp(f->list.item[i].rule->id, id) != 0)
        i++;
    return i;
}

static bool is_one_of(const char *word, const char *words)
{
    const char *at = word ? strstr(words, word) : NULL;
    size_t n = word ? strlen(word) : 0;
    return at && (at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]);
}

/* Every finding is whole: known words, sorted ranks and pairs, evidence from this log, its root before it. */
static void test_findings(void)
{
    for (size_t l = 0; l < sizeof logs / sizeof logs[0]; l++) {
        ncclscope_findings *f = judge(logs[l]);
        CHECK_INT(ncclscope_findings_count(f), f->list.len);
        for (size_t i = 0; i < f->list.len; i++) {
            const struct nsc_finding *x = &f->list.item[i];
            CHECK(x->severity >= NCCLSCOPE_SEVERITY_NOTE && x->severity <= NCCLSCOPE_SEVERITY_ERROR);
            CHECK(is_one_of(x->cls, "fault configuration by-design error visibility unknown"));
            CHECK(is_one_of(x->confidence, "certain likely possible"));
            CHECK(x->title && *x->title && x->title[strlen(x->title) - 1] != '.');
            CHECK(x->evidences <= NSC_EVIDENCE);
            for (size_t e = 0; e < x->evidences; e++)
                CHECK(x->evidence[e].source < scene.model->sources.len && x->evidence[e].line > 0);
            for (size_t k = 1; k < x->ranks.len; k++)
                CHECK(x->ranks.item[k - 1] < x->ranks.item[k]);
            for (size_t k = 0; k < x->pairs.len; k++)
                CHECK(x->pairs.item[k].a <= x->pairs.item[k].b &&
                      (!k || x->pairs.item[k - 1].a < x->pairs.item[k].a ||
                       (x->pairs.item[k - 1].a == x->pairs.item[k].a && x->pairs.item[k - 1].b < x->pairs.item[k].b)));
            if (x->caused_by)
                CHECK(place_of(f, nsc_words_of_id(x->caused_by)) < i);
            CHECK(!strcmp(ncclscope_finding_id(f, i), x->rule->id));
            CHECK_INT(ncclscope_finding_severity(f, i), x->severity);
        }
        CHECK(!strcmp(ncclscope_finding_id(f, f->list.len), ""));
        ncclscope_findings_free(f);
    }
}

/* What is known of a release is a range, of which each end counts: all of it holds, some of it may, or none. */
static void expect_version(const struct ncclscope_model *m, const char *op, unsigned low, unsigned high,
                           unsigned wanted)
{
    bool first = false, last = false; /* does it hold for the lowest; for the highest? */
    switch (op[0] == '=' ? 0 : op[0] == '>' ? 1 + !op[1] : 3 + !op[1]) {
    case 0: first = low == wanted, last = high == wanted; break;
    case 1: first = low >= wanted, last = high >= wanted; break;
    case 2: first = low > wanted, last = high > wanted; break;
    case 3: first = low <= wanted, last = high <= wanted; break;
    default: first = low < wanted, last = high < wanted;
    }
    bool between = op[0] == '=' && low < wanted && wanted < high;
    int should = first && last ? NCCLSCOPE_KEPT : first || last || between ? NCCLSCOPE_CANNOT_TELL : NCCLSCOPE_BROKEN;
    char text[40];
    ncclscope_findings *f = NULL;
    snprintf(text, sizeof text, "nccl%s%u.%u.%u", op, wanted / 10000, wanted / 100 % 100, wanted % 100);
    CHECK_INT(ncclscope_analyse(&f, m, NULL), 0);
    CHECK_INT(ncclscope_expect(f, text, NULL), 0);
    CHECK_INT(ncclscope_expectations(f, should), 1);
    ncclscope_findings_free(f);
}

static void test_expected_versions(void)
{
    static const char *const texts[] = {"vm:1:1 [0] NCCL INFO NCCL version 2.28.9+cuda12.4\n",
                                        "vm:1:1 [0] NCCL INFO Ring 00 : 0[60] -> 1[70] via P2P/IPC\n"};
    static const char *const ops[] = {"=", ">=", ">", "<=", "<"};
    struct scene s = {0};
    for (int i = 0; i < 2; i++) {
        const struct ncclscope_model *m = scene_of(&s, texts[i]);
        CHECK_INT(m->proc_order.len, 1);
        struct nsc_version v = nsc_version_of(m, m->proc_order.item[0]);
        CHECK_INT(v.low < v.high, i);
        for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++)
            for (int step = -1; step <= 1; step++) {
                expect_version(m, ops[k], v.low, v.high, v.low + (unsigned)step);
                expect_version(m, ops[k], v.low, v.high, v.high + (unsigned)step);
            }
    }
    scene_end(&s);
}

/* Roots and what they cause apart, the worst comes first. */
static void test_worst_first(void)
{
    for (size_t l = 0; l < sizeof logs / sizeof logs[0]; l++) {
        ncclscope_findings *f = judge(logs[l]);
        int last = NCCLSCOPE_SEVERITY_ERROR;
        for (size_t i = 0; i < f->list.len; i++) {
            const struct nsc_finding *x = &f->list.item[i];
            bool is_root = false;
            for (size_t k = 0; k < f->list.len; k++)
                is_root = is_root || f->list.item[k].caused_by == x->rule->key;
            if (x->caused_by || is_root)
                continue;
            CHECK(x->severity <= last);
            last = x->severity;
        }
        ncclscope_findings_free(f);
    }
}

/* A rule that cannot look says why; one that looked is not among those. */
static void test_skipped(void)
{
    ncclscope_findings *f = judge("logs/2.28.9/h200x8-debug-warn.log");
    CHECK_INT(f->verdict, NCCLSCOPE_NO_EVIDENCE);
    CHECK(f->skipped.len > 3);
    for (size_t i = 0; i < f->skipped.len; i++) {
        CHECK(f->skipped.item[i].reason && *f->skipped.item[i].reason);
        CHECK_INT(place_of(f, f->skipped.item[i].id), f->list.len);
    }
    ncclscope_findings_free(f);
    f = judge("logs/2.28.9/h200x8-default.log.gz");
    CHECK_INT(f->verdict, NCCLSCOPE_ALL_OK);
    for (size_t i = 0; i < f->skipped.len; i++) /* of the log all was judged; of its machine nothing is known */
        CHECK(!strncmp(f->skipped.item[i].id, "probe/", 6));
    ncclscope_findings_free(f);
    scene_end(&scene);
    ncclscope_findings_free(NULL);
}

/* ---- small jobs: each with the line that decides, and without it ---- */

#define A "vm:10:10 [0] NCCL INFO "
#define B "vm:11:11 [1] NCCL INFO "
#define VERSION(v) A "NCCL version " v "\n" B "NCCL version " v "\n"
#define RANK(who, ptr, rank, n, bus, what) \
    who "ncclCommInitRank comm " ptr " rank " rank " nranks " n " cudaDev " rank " nvmlDev " rank " busId " bus \
        " commId 0xab - Init " what "\n"
#define BOTH(bus, what) RANK(A, "0x1", "0", "2", "7000", what) RANK(B, "0x2", "1", "2", bus, what)
#define PAIR(via) A "Channel 00/0 : 0[0] -> 1[1] via " via "\n" B "Channel 00/0 : 1[1] -> 0[0] via " via "\n"
#define NET \
    A "Channel 00/0 : 0[0] -> 1[1] [send] via NET/IB/0/GDRDMA\n" B \
      "Channel 00/0 : 0[0] -> 1[1] [receive] via NET/IB/0/GDRDMA\n"

/* What a log of these lines raises under this id; NULL if it does not. */
static const struct nsc_finding *raised(ncclscope_findings **f, const char *text, const char *id)
{
    ncclscope_findings_free(*f);
    *f = NULL;
    CHECK_INT(ncclscope_analyse(f, scene_of(&scene, text), NULL), 0);
    size_t at = place_of(*f, id);
    return at < (*f)->list.len ? &(*f)->list.item[at] : NULL;
}

/* Up to 2.21.5 ranks connect before Init COMPLETE, from 2.22.3 on behind it. */
static void test_hang_in_connect(void)
{
    ncclscope_findings *f = NULL;
    CHECK(raised(&f, VERSION("2.21.5+cuda12.4") BOTH("f000", "START") PAIR("P2P/CUMEM"), "ranks/missing") != NULL);
    CHECK_INT(f->verdict, NCCLSCOPE_FINDINGS);
    CHECK(!raised(&f, VERSION("2.21.5+cuda12.4") BOTH("f000", "START") PAIR("P2P/CUMEM") BOTH("f000", "COMPLETE"),
                  "ranks/missing"));
    CHECK(!raised(&f, VERSION("2.22.3+cuda12.5") BOTH("f000", "START") PAIR("P2P/CUMEM"), "ranks/missing"));
    /* a torn line may be the one that is missing */
    CHECK(!raised(&f,
                  VERSION("2.21.5+cuda12.4") BOTH("f000", "START") PAIR("P2P/CUMEM") "vm:10:10 [0] NCCL IN" A
                                                                                     "Connected all rings\n",
                  "ranks/missing"));
    ncclscope_findings_free(f);
    scene_end(&scene);
}

/* Two ranks on one GPU cannot be: one host name, two machines. */
static void test_machines_of_one_name(void)
{
    ncclscope_findings *f = NULL;
    CHECK(raised(&f, BOTH("f000", "COMPLETE") NET, "transport/net-within-node") != NULL);
    CHECK(!raised(&f, BOTH("7000", "COMPLETE") NET, "transport/net-within-node"));
    /* and then others of that name may be on two as well */
#define THIRD(bus) \
    RANK(A, "0x1", "0", "3", "7000", "COMPLETE") \
    RANK(B, "0x2", "1", "3", "f000", "COMPLETE") RANK("vm:12:12 [0] NCCL INFO ", "0x3", "2", "3", bus, "COMPLETE")
    CHECK(raised(&f, THIRD("a000") NET, "transport/net-within-node") != NULL);
    CHECK(!raised(&f, THIRD("7000") NET, "transport/net-within-node"));
    ncclscope_findings_free(f);
    scene_end(&scene);
}

/* Who is missing of a child may be in a log that is not here. */
static void test_missing_of_a_child(void)
{
    ncclscope_findings *f = NULL;
    const struct nsc_finding *x = raised(&f, RANK(A, "0x1", "0", "2", "7000", "START"), "ranks/missing");
    CHECK(x &&
          x->severity == NCCLSCOPE_SEVERITY_NOTE); /* no word of a failure, and half of it: the log may just end here */
    x = raised(&f,
               A
               "ncclCommSplit comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 7000 parent 0x9 splitCount 1 color 0 "
               "key 0- Init START\n",
               "ranks/missing");
    CHECK(x && !strcmp(x->confidence, "possible"));
    ncclscope_findings_free(f);
    scene_end(&scene);
}

static void test_missing_for_want_of_shm(void)
{
    ncclscope_findings *f = NULL;
    const struct nsc_finding *x = raised(
        &f,
        BOTH("f000", "START") "vm:10:10 [0] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-a to "
                              "9637892 bytes\n",
        "ranks/missing");
    CHECK(x && x->caused_by == NSC_ID_SHM_TOO_SMALL);
    CHECK_INT(place_of(f, "shm/too-small"), 0);
    x = raised(&f, BOTH("f000", "START"), "ranks/missing");
    CHECK(x && !x->caused_by);
    ncclscope_findings_free(f);
    scene_end(&scene);
}

/* SYS is the widest level: whatever keeps a pair from P2P, it is not that. */
static void test_level(void)
{
    ncclscope_findings *f = NULL;
    const struct nsc_finding *x =
        raised(&f, A "NCCL_P2P_LEVEL set by environment to PIX\n" BOTH("f000", "COMPLETE") PAIR("SHM/direct/direct"),
               "env/p2p-level");
    CHECK(x && x->severity == NCCLSCOPE_SEVERITY_WARNING);
    x = raised(&f, A "NCCL_P2P_LEVEL set by environment to SYS\n" BOTH("f000", "COMPLETE") PAIR("SHM/direct/direct"),
               "env/p2p-level");
    CHECK(x && x->severity == NCCLSCOPE_SEVERITY_NOTE);
    size_t shm = place_of(f, "transport/shm-within-node");
    CHECK(shm < f->list.len && !f->list.item[shm].caused_by);
    ncclscope_findings_free(f);
    scene_end(&scene);
}

/* How the report on a log of these lines begins. */
static bool begins(const char *text, const char *mark, const char *word)
{
    struct data out = {0};
    ncclscope_findings *f = NULL;
    CHECK_INT(ncclscope_analyse(&f, scene_of(&scene, text), NULL), 0);
    CHECK_INT(ncclscope_report(scene.model, f, "text", 80, 0, to_data, &out), 0);
    bool ok = nsc_text_starts(data_text(&out), mark) && nsc_text_find(data_text(&out), word) >= 0;
    ncclscope_findings_free(f);
    data_drop(&out);
    return ok;
}

/* No tick where NCCL warned of something that no rule knows; nor NVIDIA's words for AMD's GPUs. */
static void test_reservations(void)
{
#define GOOD BOTH("f000", "COMPLETE") PAIR("P2P/CUMEM")
    CHECK(begins(GOOD, " ✓ ", "NVLink or PCIe"));
    CHECK(begins(GOOD "vm:10:10 [0] a.cc:7 NCCL WARN The gronk of a later release is loose\n",
                 " ? 2 GPUs on P2P; but NCCL printed a warning", "The gronk of a later release"));
    CHECK(begins("RCCL version : 2.20.5-HEAD:0fd1e7b\n" GOOD, " ✓ ", "xGMI or PCIe"));
    scene_end(&scene);
}

CHECKS(TEST(test_words), TEST(test_explain), TEST(test_findings), TEST(test_expected_versions), TEST(test_worst_first),
       TEST(test_skipped), TEST(test_hang_in_connect), TEST(test_machines_of_one_name), TEST(test_missing_of_a_child),
       TEST(test_missing_for_want_of_shm), TEST(test_level), TEST(test_reservations))
