/* test_report.c - the text report: its width, its characters, its flags; and writers that refuse. */
#include "base/harmless.h"
#include "base/json.h"
#include "data.h"
#include "scene.h"

static struct scene scene;

static const char *const logs[] = {
    "logs/2.28.9/h200x8-p2p-disabled-shm.log",
    "logs/2.28.9/h200x8-two-nodes.log.gz",
    "logs/2.28.9/h200x8-rank-crash.log",
    "logs/2.28.9/h200x8-small-devshm.log",
    "logs/2.28.9/h200x8-debug-warn.log",
    "logs/2.27.3/h200x8-ofi-tcp-two-nodes.log.gz",
    "logs/seed/p4d-4pods-1gpu-efa.log",
    "logs/seed/pods-shm-socket.log",
    "logs/2.28.9/h200x8-default.log.gz",
    "logs/2.28.9/h200x8-rank-missing.log",
    "topo/h200x8-topo-m.txt",
};

static int to_data(void *user, const char *bytes, size_t size)
{
    data_add(user, (nsc_text){bytes, size});
    return 0;
}

static struct data report(const char *format, int columns, int flags)
{
    struct data out = {0};
    ncclscope_findings *f = NULL;
    CHECK_INT(ncclscope_analyse(&f, scene.model, NULL), 0);
    CHECK_INT(ncclscope_report(scene.model, f, format, columns, flags, to_data, &out), 0);
    ncclscope_findings_free(f);
    return out;
}

static void load(const char *name)
{
    struct data text = data_load(name);
    scene_of(&scene, text.ptr);
    data_drop(&text);
}

/* Columns of the widest line, but for quoted lines of the log, which -v gives whole; a character is one column here. */
static size_t widest(nsc_text t, nsc_text *line)
{
    size_t most = 0;
    while (t.len) {
        const char *end = memchr(t.ptr, '\n', t.len);
        nsc_text one = {t.ptr, end ? (size_t)(end - t.ptr) : t.len};
        t = nsc_text_from(t, one.len + (end != NULL));
        size_t width = 0;
        for (size_t i = 0; i < one.len; i++)
            width += ((unsigned char)one.ptr[i] & 0xc0) != 0x80;
        if (width > most && nsc_text_find(one, " NCCL ") < 0) {
            most = width;
            *line = one;
        }
    }
    return most;
}

static void test_width(void)
{
    static const int columns[] = {80, 100, 120};
    for (size_t l = 0; l < sizeof logs / sizeof logs[0]; l++) {
        load(logs[l]);
        for (size_t i = 0; i < 3; i++) {
            nsc_text line = {NULL, 0};
            for (int flags = 0; flags <= NCCLSCOPE_REPORT_VERBOSE; flags += NCCLSCOPE_REPORT_VERBOSE) {
                struct data out = report("text", columns[i], flags);
                size_t width = widest(data_text(&out), &line);
                if (width > (size_t)columns[i])
                    printf("%s at %d: %zu: %.*s\n", logs[l], columns[i], width, (int)line.len, line.ptr);
                CHECK(width <= (size_t)columns[i]);
                CHECK(out.len && out.ptr[out.len - 1] == '\n');
                data_drop(&out);
            }
        }
    }
}

static void test_characters(void)
{
    for (size_t l = 0; l < sizeof logs / sizeof logs[0]; l++) {
        load(logs[l]);
        struct data out = report("text", 80, NCCLSCOPE_REPORT_ASCII | NCCLSCOPE_REPORT_VERBOSE);
        bool ascii = true, valid = true, blank = false;
        for (size_t i = 0; i < out.len; i++) {
            ascii = ascii && (out.ptr[i] == '\n' || (out.ptr[i] >= ' ' && out.ptr[i] < 0x7f));
            blank = blank || (out.ptr[i] == '\n' && i && out.ptr[i - 1] == ' ');
        }
        CHECK(ascii);
        if (blank)
            printf("%s: blanks at the end of a line\n", logs[l]);
        CHECK(!blank);
        data_drop(&out);
        out = report("text", 80, NCCLSCOPE_REPORT_VERBOSE);
        for (nsc_text t = data_text(&out); t.len && valid;) {
            size_t n = nsc_utf8(t);
            valid = n > 0;
            t = nsc_text_from(t, n);
        }
        CHECK(valid);
        data_drop(&out);
    }
}

/* Colour is only ever added: without it the same text stands there. */
static void test_colour(void)
{
    for (size_t l = 0; l < sizeof logs / sizeof logs[0]; l++) {
        load(logs[l]);
        struct data plain = report("text", 80, 0), coloured = report("text", 80, NCCLSCOPE_REPORT_COLOR), bare = {0};
        for (size_t i = 0; i < coloured.len; i++) {
            if (coloured.ptr[i] == '\x1b')
                while (coloured.ptr[i] != 'm')
                    i++;
            else
                data_add(&bare, (nsc_text){coloured.ptr + i, 1});
        }
        CHECK(coloured.len > plain.len);
        CHECK(nsc_text_eq(data_text(&bare), data_text(&plain)));
        CHECK(!memchr(plain.ptr, 0x1b, plain.len));
        data_drop(&plain);
        data_drop(&coloured);
        data_drop(&bare);
    }
}

/* The verdict alone is how the whole report begins. */
static void test_verdict(void)
{
    for (size_t l = 0; l < sizeof logs / sizeof logs[0]; l++) {
        load(logs[l]);
        struct data all = report("text", 80, 0), verdict = report("text", 80, NCCLSCOPE_REPORT_VERDICT),
                    more = report("text", 80, NCCLSCOPE_REPORT_VERBOSE);
        CHECK(verdict.len > 20 && verdict.len <= all.len);
        CHECK(!memcmp(verdict.ptr, all.ptr, strcspn(verdict.ptr, "\n")));
        CHECK(!memcmp(verdict.ptr, more.ptr, strcspn(verdict.ptr, "\n")));
        data_drop(&all);
        data_drop(&verdict);
        data_drop(&more);
    }
}

struct limit {
    size_t left;
};

static int until_full(void *user, const char *bytes, size_t size)
{
    struct limit *l = user;
    (void)bytes;
    if (size > l->left)
        return -1;
    l->left -= size;
    return 0;
}

static void test_refusing_writer(void)
{
    ncclscope_findings *f = NULL;
    load(logs[0]);
    CHECK_INT(ncclscope_analyse(&f, scene.model, NULL), 0);
    struct data all = report("json", 0, 0);
    for (size_t room = 0; room < all.len; room += 1000) {
        struct limit l = {room};
        CHECK_INT(ncclscope_report(scene.model, f, "json", 0, 0, until_full, &l), NCCLSCOPE_EIO);
    }
    struct limit l = {all.len};
    CHECK_INT(ncclscope_report(scene.model, f, "json", 0, 0, until_full, &l), NCCLSCOPE_OK);
    data_drop(&all);
    l.left = 100;
    CHECK_INT(ncclscope_report(scene.model, f, "text", 80, 0, until_full, &l), NCCLSCOPE_EIO);
    CHECK_INT(ncclscope_report(scene.model, f, "nosuch", 80, 0, until_full, &l), NCCLSCOPE_ENOTFOUND);
    ncclscope_findings_free(f);
    scene_end(&scene);
}

#define VM(pid, rank, nranks, cuda) \
    "vm:" pid ":" pid " [0] NCCL INFO ncclCommInitRank comm 0x" pid " rank " rank " nranks " nranks " cudaDev " cuda \
    " nvmlDev 0 busId " pid " commId 0xab - Init START\n"

static bool json_has(const char *log, const char *words)
{
    scene_of(&scene, log);
    struct data out = report("json", 80, 0);
    bool has = nsc_text_find(data_text(&out), words) >= 0;
    if (!has)
        printf("no %s in %.*s\n", words, (int)out.len, out.ptr);
    data_drop(&out);
    return has;
}

/* A number is what was printed, or it is not there: none comes out smaller than it went in. */
static void test_values(void)
{
    static const char channel[] = VM("10", "0", "2", "0")
        VM("11", "1", "2", "1") "vm:10:10 [0] NCCL INFO Channel 1000/0 : 0[0] -> 1[1] via P2P/CUMEM\n";
    CHECK(json_has(channel, "\"channels\":[],\"lines\":1"));
    CHECK(json_has(VM("10", "0", "70000", "0") VM("11", "65537", "70000", "1"), ",65535],\"missing_ranks_more\":4463"));
    CHECK(json_has(VM("10", "0", "70000", "0") VM("11", "65537", "70000", "1"), ",65535],\"ranks_more\":4463"));
    CHECK(json_has(VM("10", "4294967297", "8589934594", "0"), "\"communicators\":[]"));
    CHECK(json_has(VM("10", "0", "1", "4294967297"), "\"cuda_dev\":null"));
}

/* So is one of Kubernetes. */
static void test_values_of_pods(void)
{
    static const char pods[] =
        "{\"items\":[{\"metadata\":{\"name\":\"a\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\","
        "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"99999999999\",\"vpc.amazonaws.com/efa\":\"4\"}}}]}}]}";
    char path[64];
    scene_of(&scene, VM("10", "0", "1", "0"));
    data_file(path, nsc_text_of(pods));
    CHECK_INT(ncclscope_model_pods(scene.model, path, NULL), 0);
    unlink(path);
    struct data out = report("json", 80, 0);
    CHECK(nsc_text_find(data_text(&out), "\"gpus\":null,\"mig\":false,\"efa\":4") >= 0);
    data_drop(&out);
}

/* A list of ranks that stops says how many it leaves out. */
static void test_long_lists(void)
{
    struct data log = {0};
    for (int rank = 0; rank < 400; rank += 2) {
        char line[200];
        snprintf(
            line, sizeof line,
            "vm:%d:%d [0] NCCL INFO ncclCommInitRank comm 0x%d rank %d nranks 400 cudaDev 0 nvmlDev 0 busId %d commId"
            " 0xab - Init START\n",
            1000 + rank, 1000 + rank, 1000 + rank, rank, 1000 + rank);
        data_add(&log, nsc_text_of(line));
    }
    CHECK(json_has(log.ptr, "ranks 1, 3, 5, 7"));
    CHECK(json_has(log.ptr, "119, 121 and 139 more"));
    data_drop(&log);
}

/* Figures of nccl-tests, as large and as small as a double has them; the text report has a line for them all the same. */
static void test_figures(void)
{
    static const char rows[] = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
                               "18446744073709551615 1 float sum -1 1e-07 2.5 1e300 0 1.5 2 1e300 0\n"
                               "   536870912 134217728 float sum -1 1.5 1 1e200 0 1.5 1 1e200 7\n";
    CHECK(json_has(rows, "\"bytes\":null,"));
    CHECK(json_has(rows, "\"time_us\":1.000000e-07,\"algbw\":2.5,\"busbw\":10000000000000000525"));
    struct data out = report("text", 80, 0);
    CHECK(nsc_text_find(data_text(&out), "10000000000000000525") >= 0);
    data_drop(&out);
    scene_end(&scene);
}

CHECKS(TEST(test_width), TEST(test_characters), TEST(test_colour), TEST(test_verdict), TEST(test_refusing_writer),
       TEST(test_values), TEST(test_values_of_pods), TEST(test_long_lists), TEST(test_figures))
