/* test_wrap.c - lines that docker, a terminal or a web page wrapped. */
#include "check.h"
#include "read/wrap.h"

static struct nsc_wrap wrap;

static nsc_text undo(const char *line)
{
    return nsc_unwrap(&wrap, nsc_text_of(line));
}

static void test_plain(void)
{
    static const char line[] = "vm:1:2 [0] NCCL INFO x";
    CHECK(undo(line).ptr == line); /* nothing is copied */
    CHECK_TEXT(undo(line), line);
    CHECK_TEXT(undo(""), "");
    CHECK_TEXT(undo("{not json"), "{not json");
    CHECK_TEXT(undo("{\"a\":1}"), "{\"a\":1}");
}

static void test_docker(void)
{
    CHECK_TEXT(
        undo("{\"log\":\"vm:1:2 [0] NCCL INFO x\\n\",\"stream\":\"stdout\",\"time\":\"2026-01-02T03:04:05.6Z\"}"),
        "vm:1:2 [0] NCCL INFO x");
    CHECK_TEXT(wrap.time, "2026-01-02T03:04:05.6Z");
    CHECK_TEXT(undo("{\"stream\":\"stdout\",\"time\":\"t\",\"log\":\"x\\r\\n\"}"), "x");
    CHECK_TEXT(undo("{\"log\":\"a\\tb \\\"c\\\" \\\\ \\/ \\u00e4 \\u2713\\n\"}"),
               "a\tb \"c\" \\ / \xc3\xa4 \xe2\x9c\x93");
    CHECK_TEXT(undo("{\"log\":\"0[0] -\\u003e 1[1] via P2P/IPC\\n\"}"), "0[0] -> 1[1] via P2P/IPC");
    CHECK_TEXT(undo("{\"log\":\"\\n\"}"), "");
    undo("plain again");
    CHECK_INT(wrap.time.len, 0);
}

/* What tells the pod, the container and the time under other collectors' names. */
static void test_collectors(void)
{
    undo("{\"message\":\"x\",\"nodeName\":\"n7\",\"podName\":\"train-3\",\"containerName\":\"pytorch\"}"); /* stern */
    CHECK_TEXT(wrap.pod, "train-3");
    CHECK_TEXT(wrap.container, "pytorch");
    undo(
        "{\"@timestamp\":\"2026-11-25\",\"message\":\"x\",\"kubernetes\":{\"pod\":{\"uid\":\"u\",\"name\":\"train-3\"},"
        "\"node\":{\"name\":\"n7\"},\"container\":{\"name\":\"pytorch\"}}}"); /* Elastic's */
    CHECK_TEXT(wrap.pod, "train-3");
    CHECK_TEXT(wrap.container, "pytorch");
    CHECK_TEXT(wrap.time, "2026-11-25");
    undo("{\"timestamp\": 1764064800123,\"message\":\"x\",\"pod\":{}}"); /* CloudWatch */
    CHECK_TEXT(wrap.time, "1764064800123");
    CHECK_INT(wrap.pod.len, 0);
    CHECK_TEXT(undo("{\"__REALTIME_TIMESTAMP\":\"17640648\",\"MESSAGE\":[118, 109,27,91,51,50,109,58,49,10,999]}"),
               "vm:1");
    CHECK_TEXT(wrap.time, "17640648"); /* journald */
    CHECK_TEXT(undo("{\"MESSAGE\":[118,10"), "v");
    CHECK_TEXT(undo("{\"MESSAGE\":[]}"), "{\"MESSAGE\":[]}");
    CHECK_TEXT(undo("{\"MESSAGE\":"), "{\"MESSAGE\":");
    undo("plain again");
    CHECK_INT(wrap.container.len, 0);
}

static void test_docker_cut(void)
{
    static const char line[] =
        "{\"log\":\"vm \\u00e4 \\\"x\\\"\\n\",\"stream\":\"stdout\",\"time\":\"2026-01-02T03:04:05.6Z\"}";
    for (size_t n = 0; n < sizeof line; n++) {
        char *copy = malloc(n + 1);
        memcpy(copy, line, n);
        nsc_text t = nsc_unwrap(&wrap, (nsc_text){copy, n}); /* the sanitizer sees a byte too far */
        CHECK(t.len <= n);
        free(copy);
    }
    CHECK_TEXT(undo("{\"log\":\"vm:1:2 [0] NCCL INFO Us"), "vm:1:2 [0] NCCL INFO Us");
}

static void test_colour(void)
{
    CHECK_TEXT(undo("\x1b[32mvm\x1b[0m:1:2 [0] NCCL\x1b[1;31m INFO\x1b[K x"), "vm:1:2 [0] NCCL INFO x");
    CHECK_TEXT(undo("\x1b[36m(RayWorker pid=1)\x1b[0m vm:1:2"), "(RayWorker pid=1) vm:1:2");
    CHECK_TEXT(undo("\x1b[?25lx"), "x");
    CHECK_TEXT(undo("x\x1b"), "x\x1b");
    CHECK_TEXT(undo("x\x1b["), "x");
    CHECK_TEXT(undo("x\x1b[31"), "x");
    CHECK_TEXT(undo("{\"log\":\"\\u001b[32mx\\u001b[0m\\n\"}"), "x");
}

static void test_entities(void)
{
    CHECK_TEXT(undo("NCCL INFO Channel 00 : 0[0] -&gt; 1[1] via P2P/IPC"),
               "NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/IPC");
    CHECK_TEXT(undo("NCCL &lt;a&gt; &quot;b&quot; &#39;c&#39; &amp;gt; &x; & &am"), "NCCL <a> \"b\" 'c' > &x; & &am");
    CHECK_TEXT(undo("NCCL&nbsp;a &#62;&#x3e; &#0; &#; &#xffffff;"), "NCCL a >> &#0; &#; &#xffffff;");
    CHECK_TEXT(undo("R&D &gt; all"), "R&D &gt; all"); /* not a line of NCCL */
    CHECK_TEXT(undo("NCCL &"), "NCCL &");
}

static void test_long(void)
{
    static char line[70000], should[70000];
    strcpy(line, "{\"log\":\"");
    size_t n = strlen(line);
    for (size_t i = 0; i < 10000; i++) {
        memcpy(line + n, "\\u20ac", 6); /* six bytes to three */
        memcpy(should + i * 3, "\xe2\x82\xac", 3);
        n += 6;
    }
    strcpy(line + n, "\\n\"}");
    CHECK_TEXT(undo(line), should);
    nsc_wrap_free(&wrap);
    nsc_wrap_free(&wrap);
}

static nsc_text more(const char *line)
{
    nsc_text out;
    return nsc_unwrap_more(&wrap, nsc_text_of(line), &out) ? out : (nsc_text){NULL, 0};
}

static void test_second_look(void)
{
    CHECK_TEXT(more("x {\"log\": \"a NCCL\\n\"} y"), "a NCCL");
    CHECK_TEXT(more("  \"message\": \"a NCCL INFO b\","), "a NCCL INFO b");
    CHECK_TEXT(more("\"a NCCL INFO \\\"b\\\"\","), "a NCCL INFO \"b\"");
    CHECK_TEXT(more("t,\"a NCCL INFO \"\"b\"\"\""), "a NCCL INFO \"b\"");
    CHECK_TEXT(more("[\"x\", \"NCCL INFO b\", \"NCCL INFO b\", \"NCCL WARN c\\n\"]"), "NCCL INFO b\rNCCL WARN c");
    CHECK_TEXT(more("[32mNCCL INFO a^[[0m\\033[1;31m"), "NCCL INFO a");
    CHECK_TEXT(more("a\tNCCL\xc2\xa0 b\\[0\\]"), "a NCCL  b[0]");
    CHECK(!more("a NCCL \"b\"").ptr && !more("{\"a\"} nothing\t").ptr && !more("").ptr);
}

static size_t tail(const char *line, size_t start)
{
    return strlen(line) - nsc_without_tail(nsc_text_of(line), start);
}

static void test_tails(void)
{
    CHECK_INT(tail("a NCCL INFO b<0>", 0), 0);
    CHECK_INT(tail("a NCCL INFO b<0> <br/>", 0), 6);
    CHECK_INT(tail("`a NCCL INFO b`", 1), 1);
    CHECK_INT(tail("a NCCL INFO b`", 0), 0);
    CHECK_INT(tail("| a NCCL INFO b |", 2), 2);
    CHECK_INT(tail("b'a NCCL INFO b\\n',", 2), 4);
    CHECK_INT(tail("a NCCL INFO 'b'", 0), 0);
    CHECK_INT(tail("[32ma NCCL INFO b[0m", 4), 3);
    CHECK_INT(tail("a", 0), 0);
    CHECK_INT(tail("", 0), 0);
    CHECK_INT(tail("a  \r\r \t", 3), 4);
}

static void test_messages(void)
{
    nsc_text out;
    CHECK(nsc_mend_message(&wrap, NSC_TEXT("0[0] \xe2\x86\x92 1[1]"), &out));
    CHECK_TEXT(out, "0[0] -> 1[1]");
    CHECK(nsc_mend_message(&wrap, NSC_TEXT("Using network IB\0garbage"), &out));
    CHECK_TEXT(out, "Using network IB");
    CHECK(!nsc_mend_message(&wrap, NSC_TEXT("Using network IB"), &out));
}

/* One line at a time: NULL where it is kept. */
static nsc_text piece(const char *line)
{
    nsc_text t = nsc_text_of(line);
    return nsc_join_pieces(&wrap, &t) ? t : (nsc_text){NULL, 0};
}

static void test_pieces(void)
{
    nsc_text left;
    CHECK_TEXT(piece("plain"), "plain");
    CHECK_TEXT(piece("2026-01-02T03:04:05.123456789Z stdout F whole"), "2026-01-02T03:04:05.123456789Z stdout F whole");
    CHECK(!piece("2026-01-02T03:04:05.123456789Z stdout P one ").ptr);
    CHECK(!piece("2026-01-02T03:04:05.123456789Z stderr P ONE ").ptr);
    CHECK(!piece("2026-01-02T03:04:06.123456789Z stdout P two ").ptr);
    CHECK_TEXT(piece("2026-01-02T03:04:07.123456789Z stdout F three"),
               "2026-01-02T03:04:05.123456789Z stdout P one two three");
    CHECK(nsc_left_pieces(&wrap, &left));
    CHECK_TEXT(left, "2026-01-02T03:04:05.123456789Z stderr P ONE ");
    CHECK(!nsc_left_pieces(&wrap, &left));
    nsc_wrap_free(&wrap);
}

CHECKS(TEST(test_plain), TEST(test_docker), TEST(test_collectors), TEST(test_docker_cut), TEST(test_colour),
       TEST(test_entities), TEST(test_long), TEST(test_second_look), TEST(test_tails), TEST(test_messages),
       TEST(test_pieces))
