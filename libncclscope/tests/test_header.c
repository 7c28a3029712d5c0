/* test_header.c - every shape of a header, what is none, and headers that another writer damaged. */
#include "check.h"
#include "data.h"
#include "read/header.h"

struct shape {
    const char *line, *before, *host, *location, *message;
    int level;
    int64_t pid, tid, dev;
};

/* Reference 1.1: INFO, WARN with and without time, ({func}), a C++ signature, CALL without a device, TRACE. */
static const struct shape shapes[] = {
    {"vm:1428:1429 [3] NCCL INFO Using network Socket", "", "vm", "", "Using network Socket", NCCLSCOPE_LEVEL_INFO,
     1428, 1429, 3},
    {"node-0_a:1:2 [0] NCCL INFO ", "", "node-0_a", "", "", NCCLSCOPE_LEVEL_INFO, 1, 2, 0},
    {"vm:1:2 [0] NCCL INFO", "", "vm", "", "", NCCLSCOPE_LEVEL_INFO, 1, 2, 0},
    {"vm:1:2 [-1] NCCL INFO x", "", "vm", "", "x", NCCLSCOPE_LEVEL_INFO, 1, 2, -1},
    {"vm:1:2 [0] NCCL INFO  Channel 00", "", "vm", "", " Channel 00", NCCLSCOPE_LEVEL_INFO, 1, 2, 0},
    {"[2025-01-02 03:04:05] vm:1:2 [0] NCCL INFO x", "[2025-01-02 03:04:05] ", "vm", "", "x", NCCLSCOPE_LEVEL_INFO, 1,
     2, 0},
    {"[1,3]<stdout>:vm:1:2 [0] NCCL INFO x", "[1,3]<stdout>:", "vm", "", "x", NCCLSCOPE_LEVEL_INFO, 1, 2, 0},
    {"vm:1:2 [0] init.cc:421 NCCL WARN x", "", "vm", "init.cc:421", "x", NCCLSCOPE_LEVEL_WARN, 1, 2, 0},
    {"[2025-01-02 03:04:05] vm:1:2 [0] misc/socket.cc:50 NCCL WARN x y", "[2025-01-02 03:04:05] ", "vm",
     "misc/socket.cc:50", "x y", NCCLSCOPE_LEVEL_WARN, 1, 2, 0},
    {"vm:1:2 [0] init.cc:421 (commAlloc) NCCL WARN x", "", "vm", "init.cc:421 (commAlloc)", "x", NCCLSCOPE_LEVEL_WARN,
     1, 2, 0},
    {"vm:1:2 [0] int nccl_net_ofi_create_plugin(nccl_net_ofi_plugin_t**):353 NCCL WARN NET/OFI x", "", "vm",
     "int nccl_net_ofi_create_plugin(nccl_net_ofi_plugin_t**):353", "NET/OFI x", NCCLSCOPE_LEVEL_WARN, 1, 2, 0},
    {"vm:1:2 [0] static int a::b<int, c>::get(x *, size_t):77 NCCL WARN y", "", "vm",
     "static int a::b<int, c>::get(x *, size_t):77", "y", NCCLSCOPE_LEVEL_WARN, 1, 2, 0},
    {"vm:1:2 [0] /build/src/init.cc:1 NCCL WARN x", "", "vm", "/build/src/init.cc:1", "x", NCCLSCOPE_LEVEL_WARN, 1, 2,
     0},
    {"vm:1:2 [0] <unknown> NCCL WARN x", "", "vm", "<unknown>", "x", NCCLSCOPE_LEVEL_WARN, 1, 2, 0},
    {"vm:1:2 [1] transport/net_ib/[p2p.cc:783](https://p2p.cc:783/) NCCL WARN x", "", "vm",
     "transport/net_ib/[p2p.cc:783](https://p2p.cc:783/)", "x", NCCLSCOPE_LEVEL_WARN, 1, 2, 1},
    {"vm:1:2 NCCL CALL ncclGroupStart()", "", "vm", "", "ncclGroupStart()", NCCLSCOPE_LEVEL_CALL, 1, 2, -1},
    {"vm:1:2 [5] 12.345678 ncclInit:90 NCCL TRACE x", "", "vm", "12.345678 ncclInit:90", "x", NCCLSCOPE_LEVEL_TRACE, 1,
     2, 5},
    {"vm:1:2 [0] ncclIbPtrSupport(), transport/net_ib.cc:211 NCCL INFO x", "", "vm",
     "ncclIbPtrSupport(), transport/net_ib.cc:211", "x", NCCLSCOPE_LEVEL_INFO, 1, 2, 0},
    {"  8  2  float  none      -1node0:1:2 [3] NCCL INFO x", "  8  2  float  none      -1", "node0", "", "x",
     NCCLSCOPE_LEVEL_INFO, 1, 2, 3},
    {"10.0.0.1:1:2 [0] NCCL INFO x", "", "10.0.0.1", "", "x", NCCLSCOPE_LEVEL_INFO, 1, 2, 0},
    {"node.example:1:2 [0] NCCL INFO x", "", "node.example", "", "x", NCCLSCOPE_LEVEL_INFO, 1, 2, 0},
};

static void test_shapes(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct shape *s = &shapes[i];
        nsc_text line = nsc_text_of(s->line);
        struct nsc_header h;
        CHECK(nsc_header_find(line, 0, &h));
        CHECK(h.whole);
        CHECK_TEXT(((nsc_text){line.ptr, h.start}), s->before);
        CHECK_TEXT(h.host, s->host);
        CHECK_TEXT(h.location, s->location);
        CHECK_TEXT(nsc_text_from(line, h.message), s->message);
        CHECK_INT(h.level, s->level);
        CHECK_INT(h.pid, s->pid);
        CHECK_INT(h.tid, s->tid);
        CHECK_INT(h.dev, s->dev);
        struct nsc_header more;
        CHECK(!nsc_header_find(line, h.message, &more));
    }
}

/* Markers in prose, patterns and settings. */
static void test_no_markers(void)
{
    static const char *const lines[] = {
        "",
        "NCCL",
        "NCCL ",
        "NCCL INF",
        "NCCL INFORMATION",
        "NCCL INFO:",
        "NCCL INFO,",
        "NCCL_DEBUG=INFO",
        "grep 'NCCL INFO' log",
        "grep \"NCCL INFO\" log",
        "run with `NCCL INFO` set",
        "a|NCCL INFO|b",
        "xNCCL INFO y",
        "0NCCL INFO y",
        "_NCCL INFO y",
        "NCCL version 2.18.3",
        "nccl info",
        "NCCL  INFO x",
        "NCCL error: INFO",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct nsc_header h;
        bool found = nsc_header_find(nsc_text_of(lines[i]), 0, &h);
        if (found)
            printf("%s\n", lines[i]);
        CHECK(!found);
    }
}

/* A marker with a header that is damaged or missing counts, but nobody is named. */
static void test_damaged(void)
{
    static const char *const lines[] = {
        "NCCL INFO x",
        " NCCL INFO x",
        "NCCL INFO",
        "vm NCCL INFO x",
        "1:2 [0] NCCL INFO x",
        "vm:1:2 [] NCCL INFO x",
        "vm:1:2[0] NCCL INFO x",
        "vm:1:2 [0]NCCL INFO x",
        "vm:1:2 [0]  NCCL INFO x",
        "vm:1: [0] NCCL INFO x",
        "vm:a:2 [0] NCCL INFO x",
        "vm:1:2 [0] some text NCCL INFO x",
        "vm:1:2 [0] no location NCCL WARN x",
        "vm:1:2 [a] NCCL INFO x",
        "vm:11111111111111111111:2 [0] NCCL INFO x",
        "delay 0.0001 NCCL INFO x",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct nsc_header h;
        bool found = nsc_header_find(nsc_text_of(lines[i]), 0, &h);
        if (!found || h.whole)
            printf("%s\n", lines[i]);
        CHECK(found && !h.whole);
        CHECK_INT(h.host.len, 0);
        CHECK_INT(h.pid, -1);
    }
}

/* The device alone was taken away. */
static void test_without_device(void)
{
    static const struct {
        const char *line, *location;
    } rows[] = {{"vm:1:2 NCCL INFO x", ""}, {"vm:1:2 misc/socket.cc:50 NCCL WARN x", "misc/socket.cc:50"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nsc_header h;
        CHECK(nsc_header_find(nsc_text_of(rows[i].line), 0, &h) && h.whole);
        CHECK_TEXT(h.host, "vm");
        CHECK_INT(h.pid, 1);
        CHECK_INT(h.tid, 2);
        CHECK_INT(h.dev, -1);
        CHECK_TEXT(h.location, rows[i].location);
    }
}

/* A name that was taken away: the process is known all the same. */
static void test_unnamed(void)
{
    static const char *const lines[] = {":1:2 [0] NCCL INFO x", "::1:2 [0] NCCL INFO x", "9 >> :1:2 [0] NCCL INFO x"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct nsc_header h;
        CHECK(nsc_header_find(nsc_text_of(lines[i]), 0, &h) && h.whole);
        CHECK(nsc_text_is(h.host, "(unnamed)"));
        CHECK_INT(h.pid, 1);
        CHECK_INT(h.tid, 2);
    }
}

/* What archives leave of a header. */
static void test_stripped(void)
{
    static const struct {
        const char *line, *host, *location;
        int64_t pid, dev;
    } lines[] = {
        {"[1] NCCL WARN x", "", "", -1, 1},
        {"NCCL WARN x", "", "", -1, -1},
        {"node [1] enqueue.cc:12 NCCL WARN x", "", "enqueue.cc:12", -1, 1},
        {"gpu1:4321 [0] init.cc:738 NCCL WARN x", "gpu1", "init.cc:738", 4321, 0},
        {"4321:77 [0] NCCL INFO x", "", "", -1, 0},
        {"/build/src/misc/wrap.cc:148 NCCL WARN x", "", "/build/src/misc/wrap.cc:148", -1, -1},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct nsc_header h;
        CHECK(nsc_header_find(nsc_text_of(lines[i].line), 0, &h));
        CHECK(!h.whole && h.stripped);
        CHECK_TEXT(h.host, lines[i].host);
        CHECK_TEXT(h.location, lines[i].location);
        CHECK_INT(h.pid, lines[i].pid);
        CHECK_INT(h.dev, lines[i].dev);
    }
}

static void test_two_in_a_line(void)
{
    nsc_text line = NSC_TEXT("vm:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] vivm:3:4 [1] NCCL INFO Trees");
    struct nsc_header h;
    CHECK(nsc_header_find(line, 0, &h) && h.whole);
    CHECK_INT(h.pid, 1);
    CHECK(nsc_header_find(line, h.message, &h) && h.whole);
    CHECK_TEXT(h.host, "vivm"); /* what is glued to it, only the reader can tell */
    CHECK_INT(h.pid, 3);
    CHECK_TEXT(nsc_text_from(line, h.message), "Trees");
    CHECK(!nsc_header_find(line, h.message, &h));
    /* the header of the first record is not taken for the second one's */
    line = NSC_TEXT("vm:1:2 [0] NCCL INFO NCCL INFO x");
    CHECK(nsc_header_find(line, 0, &h) && h.whole);
    CHECK(nsc_header_find(line, h.message, &h) && !h.whole);
}

static void test_bare(void)
{
    struct nsc_header h;
    CHECK(nsc_header_bare(NSC_TEXT("vm:1:2 [3]"), 0, &h));
    CHECK_INT(h.pid, 1);
    CHECK_INT(h.dev, 3);
    CHECK_TEXT(h.host, "vm");
    CHECK(nsc_header_bare(NSC_TEXT("vm:1:2 [3] NCCL IN"), 0, &h));
    CHECK(nsc_header_bare(NSC_TEXT("[default0]:vm:1:2 [3] NCC"), 0, &h));
    CHECK(!nsc_header_bare(NSC_TEXT("13:22:23 [1] step 5"), 0, &h));
    CHECK(!nsc_header_bare(NSC_TEXT("step 3 [1] loss 2.5"), 0, &h));
    CHECK(!nsc_header_bare(NSC_TEXT("a[3] = b:1:2"), 0, &h));
    CHECK(!nsc_header_bare(NSC_TEXT(""), 0, &h));
    CHECK(!nsc_header_bare(NSC_TEXT("]]]]"), 0, &h));
}

static void test_version_lines(void)
{
    static const char *const yes[] = {"NCCL version 2.18.3+cuda12.2",
                                      "NCCL version 2.4.8",
                                      "NCCL version 2.27.3+cuda12.9  ",
                                      "RCCL version 2.18.3+hip6.0 HEAD:9c1e0f2",
                                      "RCCL version : 2.22.3-HEAD:1",
                                      "NCCL version 2.20.5+cuda12.4        [50/1900]",
                                      "NCCL version 2.19.3+cudaCUDA_MAJOR.CUDA_MINOR",
                                      "NCCL version 2.8.3-nightly+cuda11.0"};
    static const char *const no[] = {"NCCL version",
                                     "NCCL version ",
                                     "NCCL version x",
                                     "NCCL version 2",
                                     "NCCL version 2.18.1 unhandled system error",
                                     "ncclInternalError: NCCL version 2.18.1",
                                     "NCCL versions 2.18.1",
                                     "NCCL version [1/2]",
                                     "NCCL version 2.18.1 [1/]",
                                     "NCCL version 2.18.1 [a/b]",
                                     "NCCL version: see 2.18"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        CHECK(nsc_is_version_line(nsc_text_of(yes[i])) || !printf("%s\n", yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        CHECK(!nsc_is_version_line(nsc_text_of(no[i])) || !printf("%s\n", no[i]));
}

/* No line makes it look outside its bytes: every start and end of a line with everything in it. */
static void test_every_cut(void)
{
    static const char line[] =
        "[1,3]<stdout>:vm:1:2 [0] int f(a::b*):7 (g) NCCL WARN x vm:3:4 [-1] NCCL INFO y vm:5:6 NCCL CALL z";
    size_t found = 0;
    for (size_t from = 0; from < sizeof line; from++) {
        for (size_t end = from; end < sizeof line; end++) {
            char *copy = malloc(end - from + 1); /* exact: the sanitizer sees every byte too far */
            memcpy(copy, line + from, end - from);
            struct nsc_header h;
            nsc_text t = {copy, end - from};
            for (size_t at = 0; nsc_header_find(t, at, &h); at = h.message, found++)
                CHECK(h.message <= t.len && h.start <= h.marker && h.marker < h.message);
            nsc_header_bare(t, 0, &h);
            free(copy);
        }
    }
    CHECK(found > 1000);
}

/* What was found before is found again, in logs of many threads, torn ones, and lines that begin alike and go on otherwise. */
static void test_again(void)
{
    static const char *const logs[] = {"logs/2.28.9/h200x8-rank-crash.log", "logs/2.30.7/h200x4-p2p-disabled-shm.log",
                                       "logs/seed/p4d-4pods-1gpu-efa.log"};
    struct nsc_header_memo memo = {0};
    size_t remembered = 0;
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        struct data log = data_load(logs[i]);
        for (nsc_text rest = data_text(&log), line; rest.len;
             rest = nsc_text_from(rest, line.len + (line.len < rest.len))) {
            const char *end = memchr(rest.ptr, '\n', rest.len);
            line = (nsc_text){rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len};
            for (size_t cut = line.len; cut + 3 > line.len && cut; cut--) {
                struct nsc_header a, b;
                nsc_text t = {line.ptr, cut};
                remembered += nsc_header_known(&memo, t, 0, &b);
                bool found = nsc_header_find(t, 0, &a), again = nsc_header_find_again(&memo, t, &b);
                CHECK(found == again);
                CHECK(!found ||
                      (a.start == b.start && a.marker == b.marker && a.message == b.message && a.level == b.level));
                CHECK(!found || (a.whole == b.whole && a.stripped == b.stripped && a.pid == b.pid && a.tid == b.tid &&
                                 a.dev == b.dev));
                CHECK(!found ||
                      (a.host.ptr == b.host.ptr && a.host.len == b.host.len && nsc_text_eq(a.location, b.location)));
            }
        }
        data_drop(&log);
    }
    CHECK(remembered > 300);
}

/* What 2.1 printed is found anew each time: a later marker of the same line outweighs it. */
static void test_old_again(void)
{
    struct nsc_header_memo memo = {0};
    struct nsc_header h;
    nsc_text old = NSC_TEXT("vm:10:12 [0] INFO NET/Socket : x"),
             now = NSC_TEXT("vm:10:12 [0] NCCL INFO Using network Socket");
    CHECK(nsc_header_find_again(&memo, old, &h) && h.whole);
    CHECK(!nsc_header_known(&memo, old, 0, &h));
    CHECK(nsc_header_find_again(&memo, now, &h) && nsc_header_known(&memo, now, 0, &h));
}

CHECKS(TEST(test_again), TEST(test_old_again), TEST(test_shapes), TEST(test_no_markers), TEST(test_damaged),
       TEST(test_without_device), TEST(test_unnamed), TEST(test_stripped), TEST(test_two_in_a_line), TEST(test_bare),
       TEST(test_version_lines), TEST(test_every_cut))
