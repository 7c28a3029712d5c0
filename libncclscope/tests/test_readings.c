/* test_readings.c - one log is read alike however it comes: byte by byte or whole, and by the shorter way of lines that look usual or the longer one. */
#include "check.h"
#include "data.h"
#include "read/record.h"

static ncclscope_grammar *grammar;

/* A line that says all of a record, so that two readings can be compared; `more`: bytes that each line of this reading ends with beside those of
 * the other. */
static void describe(struct data *out, const ncclscope_record *rec, size_t more)
{
    char line[300];
    ncclscope_field f;
    ncclscope_text t;
    snprintf(line, sizeof line, "%d %d %d %llu %llu %lld %lld %lld %lld ", (int)ncclscope_record_kind(rec),
             ncclscope_record_level(rec), ncclscope_record_flags(rec), (unsigned long long)ncclscope_record_line(rec),
             (unsigned long long)(ncclscope_record_offset(rec) - more * (ncclscope_record_line(rec) - 1)),
             (long long)ncclscope_record_pid(rec), (long long)ncclscope_record_tid(rec),
             (long long)ncclscope_record_dev(rec), (long long)ncclscope_record_launcher_rank(rec));
    data_add(out, nsc_text_of(line));
    data_add(out, ncclscope_record_host(rec));
    data_add(out, NSC_TEXT(" "));
    data_add(out, ncclscope_record_message(rec));
    for (size_t i = 0; ncclscope_record_field(rec, i, &f, &t) == NCCLSCOPE_OK; i++) {
        data_add(out, NSC_TEXT("|"));
        data_add(out, nsc_text_of(ncclscope_field_name(f)));
        data_add(out, NSC_TEXT("="));
        data_add(out, t);
    }
    data_add(out, NSC_TEXT("\n"));
}

static void drain(ncclscope_reader *r, struct data *out, size_t more)
{
    const ncclscope_record *rec;
    while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK)
        describe(out, rec, more);
}

static struct data in_chunks(nsc_text text, size_t chunk, size_t more)
{
    struct data out = {0};
    ncclscope_reader *r = NULL;
    CHECK_INT(ncclscope_reader_new(&r, grammar, NULL), 0);
    for (size_t at = 0; at < text.len; at += chunk) {
        CHECK_INT(ncclscope_reader_feed(r, text.ptr + at, text.len - at < chunk ? text.len - at : chunk), 0);
        drain(r, &out, more);
    }
    ncclscope_reader_finish(r);
    drain(r, &out, more);
    ncclscope_reader_free(r);
    return out;
}

/* Byte by byte, and in chunks of every length up to 40, as whole: torn, wrapped and unended lines among them. */
static void test_chunks(void)
{
    static const char *const logs[] = {"logs/seed/p4d-4pods-1gpu-efa.log", "logs/2.30.7/h200x4-p2p-disabled-shm.log",
                                       "logs/2.28.9/h200x8-torchrun-tee.log.gz"};
    for (size_t i = 0; i < 3; i++) {
        struct data log = data_load(logs[i]);
        struct data whole = in_chunks(data_text(&log), log.len, 0);
        CHECK(whole.len > 10000);
        for (size_t chunk = 1; chunk < 40; chunk += i == 2 ? 19 : 1) {
            struct data part = in_chunks(data_text(&log), chunk, 0);
            CHECK(nsc_text_eq(data_text(&part), data_text(&whole)));
            data_drop(&part);
        }
        data_drop(&whole);
        data_drop(&log);
    }
}

/* What launchers and collectors put before line `n`. */
static void add_prefix(struct data *out, unsigned which, unsigned n)
{
    char text[60];
    switch (which) {
    case 1: snprintf(text, sizeof text, "[1,%u]<stdout>:", n % 16); break;
    case 2: snprintf(text, sizeof text, "2026-01-02T03:04:%02u.%09uZ ", n % 60, n); break;
    case 3: snprintf(text, sizeof text, "%2u: [default%u]:", n % 16, n % 8); break;
    case 4: snprintf(text, sizeof text, "2026-01-02T03:04:05.%09uZ stdout F ", n); break;
    default: return;
    }
    data_add(out, nsc_text_of(text));
}

/* Lines of `log`, some of them cut, glued, or with what collectors, terminals and people put into them. */
static struct data damaged(nsc_text log, unsigned seed)
{
    static const char *const odd[] = {"#",
                                      "`",
                                      "\x1b[31m",
                                      "(Worker_TP0 pid=11) ",
                                      "[rank3]:[E a.cpp:1] ",
                                      "&gt;",
                                      "](http://a/)",
                                      "\\n",
                                      "|",
                                      "\t",
                                      "\xe2\x86\x92",
                                      "[send]   via",
                                      " [repeated 3x across cluster]",
                                      "  # words",
                                      "NCCL INFO ",
                                      " via P2P/CUMEM",
                                      "vm:12:13 [0] NCCL INFO "};
    struct data out = {0};
    unsigned prefix = seed, n = 0;
    for (nsc_text rest = log, line; rest.len; rest = nsc_text_from(rest, line.len + (line.len < rest.len))) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        line = (nsc_text){rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len};
        add_prefix(&out, prefix, n++);
        seed = seed * 1103515245u + 12345u;
        size_t at = (seed >> 8) % (line.len + 1);
        const char *into = (seed >> 4) % 8 ? "" : odd[(seed >> 16) % (sizeof odd / sizeof odd[0])];
        bool glued = !*into && (seed >> 5) % 16 == 0, cut = !*into && (seed >> 5) % 16 == 1;
        data_add(&out, (nsc_text){line.ptr, at});
        data_add(&out, nsc_text_of(into));
        data_add(&out, cut ? NSC_TEXT("") : nsc_text_from(line, at));
        data_add(&out, glued ? NSC_TEXT("") : NSC_TEXT("\n"));
    }
    return out;
}

/* The same with a NUL byte at the end of each line, which no reader keeps, and for which no line is taken as it is. */
static struct data with_nuls(nsc_text log)
{
    struct data out = {0};
    for (nsc_text rest = log, line; rest.len; rest = nsc_text_from(rest, line.len + (line.len < rest.len))) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        line = (nsc_text){rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len};
        data_add(&out, line);
        data_add(&out, NSC_TEXT("\0\n"));
    }
    return out;
}

/* Lines that look as nearly all do are taken on a shorter way: what it gives is what the long one gives. */
static void test_usual(void)
{
    static const char *const logs[] = {"logs/2.28.9/h200x8-rank-crash.log", "logs/2.30.7/h200x4-p2p-disabled-shm.log",
                                       "logs/seed/p4d-4pods-1gpu-efa.log", "logs/2.28.9/h200x8-torchrun-tee.log.gz"};
    for (size_t i = 0; i < 4; i++) {
        struct data log = data_load(logs[i]);
        for (unsigned seed = 0; seed < 7; seed++) {
            struct data text = damaged(data_text(&log), seed), nuls = with_nuls(data_text(&text));
            struct data a = in_chunks(data_text(&text), text.len, 0), b = in_chunks(data_text(&nuls), nuls.len, 1);
            CHECK(a.len > 10000);
            CHECK(nsc_text_eq(data_text(&a), data_text(&b)));
            data_drop(&a);
            data_drop(&b);
            data_drop(&text);
            data_drop(&nuls);
        }
        data_drop(&log);
    }
}

static void test_begin(void)
{
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), 0);
}

static void test_end(void)
{
    ncclscope_grammar_free(grammar);
}

CHECKS(TEST(test_begin), TEST(test_chunks), TEST(test_usual), TEST(test_end))
