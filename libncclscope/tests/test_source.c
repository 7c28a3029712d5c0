/* test_source.c - bytes from files: plain, gzip of one and several members, cut and damaged gzip, zero padding. */
#include "check.h"
#include "data.h"
#include "read/source.h"

#include <errno.h>

/* Everything that a file of these bytes gives, in reads of `step`; the code of the last read. */
static const struct nsc_watch nobody = {NULL, NULL, 0};

static int read_all(nsc_text bytes, size_t step, struct data *out, struct nsc_source *left)
{
    char path[64], *buf = malloc(step);
    ncclscope_error err = {0};
    size_t got;
    data_file(path, bytes);
    data_drop(out);
    data_add(out, NSC_TEXT(""));
    int rc = nsc_source_open(left, path, &nobody, &err);
    CHECK_INT(rc, NCCLSCOPE_OK);
    while ((rc = nsc_source_read(left, buf, step, &got, &err)) == NCCLSCOPE_OK) {
        CHECK(got > 0 && got <= step);
        data_add(out, (nsc_text){buf, got});
    }
    CHECK(rc == NCCLSCOPE_END || err.text[0]);
    free(buf);
    unlink(path);
    return rc;
}

static int read_bytes(nsc_text bytes, size_t step, struct data *out)
{
    struct nsc_source s;
    int rc = read_all(bytes, step, out, &s);
    CHECK_INT(s.bytes, bytes.len);
    CHECK_INT(s.truncated, rc == NCCLSCOPE_EDATA);
    nsc_source_close(&s);
    return rc;
}

static struct data some_text(void)
{
    struct data d = {0};
    char line[80];
    for (int i = 0; i < 6000; i++) {
        snprintf(line, sizeof line, "node%d:%d:%d [%d] NCCL INFO line %d of a log\n", i % 7, i * 31, i * 17, i % 8, i);
        data_add(&d, nsc_text_of(line));
    }
    return d;
}

static const size_t steps[] = {1, 7, 4096, 1 << 18};

static void test_plain(void)
{
    struct data text = some_text(), out = {0};
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(read_bytes(data_text(&text), steps[i], &out), NCCLSCOPE_END);
        CHECK(nsc_text_eq(data_text(&out), data_text(&text)));
    }
    CHECK_INT(read_bytes(NSC_TEXT(""), 10, &out), NCCLSCOPE_END);
    CHECK_INT(out.len, 0);
    CHECK_INT(read_bytes(NSC_TEXT("\x1f"), 10, &out), NCCLSCOPE_END);
    CHECK_TEXT(data_text(&out), "\x1f");
    CHECK_INT(read_bytes(NSC_TEXT("\x1f\x8c no gzip"), 10, &out), NCCLSCOPE_END);
    CHECK_INT(out.len, 10);
    data_drop(&text);
    data_drop(&out);
}

static void test_gzip(void)
{
    struct data text = some_text(), packed = {0}, out = {0};
    data_pack(&packed, data_text(&text));
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(read_bytes(data_text(&packed), steps[i], &out), NCCLSCOPE_END);
        CHECK(nsc_text_eq(data_text(&out), data_text(&text)));
    }
    struct data nothing = {0};
    data_pack(&nothing, NSC_TEXT(""));
    CHECK_INT(read_bytes(data_text(&nothing), 10, &out), NCCLSCOPE_END);
    CHECK_INT(out.len, 0);
    data_drop(&nothing);
    data_drop(&text);
    data_drop(&packed);
    data_drop(&out);
}

static void test_members(void)
{
    struct data text = some_text(), packed = {0}, out = {0};
    size_t part = text.len / 3;
    data_pack(&packed, (nsc_text){text.ptr, part});
    data_pack(&packed, NSC_TEXT(""));
    data_add(&packed, NSC_TEXT("\0\0\0"));
    data_pack(&packed, (nsc_text){text.ptr + part, text.len - part});
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(read_bytes(data_text(&packed), steps[i], &out), NCCLSCOPE_END);
        CHECK(nsc_text_eq(data_text(&out), data_text(&text)));
    }
    data_drop(&text);
    data_drop(&packed);
    data_drop(&out);
}

static void test_padding(void)
{
    struct data text = some_text(), packed = {0}, out = {0};
    static const char zeros[200000];
    data_pack(&packed, data_text(&text));
    data_add(&packed, (nsc_text){zeros, sizeof zeros});
    CHECK_INT(read_bytes(data_text(&packed), 4096, &out), NCCLSCOPE_END);
    CHECK(nsc_text_eq(data_text(&out), data_text(&text)));
    data_drop(&text);
    data_drop(&packed);
    data_drop(&out);
}

/* Cut anywhere: what came before the cut is given, then the damage is told. */
static void test_cut(void)
{
    struct data text = some_text(), packed = {0}, out = {0};
    data_pack(&packed, data_text(&text));
    size_t before = 0;
    for (size_t len = 2; len < packed.len; len += len < 40 || len + 12 >= packed.len ? 1
                                                  : len + 1500 < packed.len          ? 1500
                                                                                     : packed.len - 12 - len) {
        CHECK_INT(read_bytes((nsc_text){packed.ptr, len}, 1000, &out), NCCLSCOPE_EDATA);
        CHECK(out.len <= text.len && memcmp(out.ptr, text.ptr, out.len) == 0);
        CHECK(out.len >= before);
        before = out.len;
    }
    CHECK_INT(before, text.len); /* only the checksum was missing */
    data_drop(&text);
    data_drop(&packed);
    data_drop(&out);
}

static void test_damaged(void)
{
    struct data text = some_text(), packed = {0}, out = {0};
    data_pack(&packed, data_text(&text));
    memset(packed.ptr + packed.len / 2, 0xff, 16);
    CHECK_INT(read_bytes(data_text(&packed), 1000, &out), NCCLSCOPE_EDATA);
    CHECK(out.len > 0 && out.len < text.len);
    data_drop(&packed);
    data_pack(&packed, data_text(&text));
    packed.ptr[packed.len - 6] ^= 1; /* the checksum */
    CHECK_INT(read_bytes(data_text(&packed), 1000, &out), NCCLSCOPE_EDATA);
    CHECK(nsc_text_eq(data_text(&out), data_text(&text)));
    data_drop(&packed);
    data_pack(&packed, data_text(&text));
    data_add(&packed, NSC_TEXT("plain text behind it"));
    CHECK_INT(read_bytes(data_text(&packed), 1000, &out), NCCLSCOPE_EDATA);
    CHECK(nsc_text_eq(data_text(&out), data_text(&text)));
    data_drop(&text);
    data_drop(&packed);
    data_drop(&out);
}

static void test_after_the_end(void)
{
    struct data out = {0};
    struct nsc_source s;
    char c;
    size_t got = 9;
    CHECK_INT(read_all(NSC_TEXT("\x1f\x8b"), 10, &out, &s), NCCLSCOPE_EDATA);
    CHECK_INT(nsc_source_read(&s, &c, 1, &got, NULL), NCCLSCOPE_END);
    CHECK_INT(got, 0);
    nsc_source_close(&s);
    data_drop(&out);
}

static void test_not_there(void)
{
    struct nsc_source s;
    ncclscope_error err = {0};
    CHECK_INT(nsc_source_open(&s, "/no/such/file", &nobody, &err), NCCLSCOPE_EIO);
    CHECK_INT(err.system, ENOENT);
    CHECK(strstr(err.text, "No such file") != NULL);
    CHECK_INT(nsc_source_open(&s, "/", &nobody, &err), NCCLSCOPE_EIO);
    CHECK_INT(err.system, EISDIR);
}

/* What units of UTF-16 become: the ends of each length of UTF-8, of the halves of pairs and of the pairs; a lone half is U+FFFD. */
static void test_utf16(void)
{
    static const struct {
        unsigned unit[3];
        const char *text;
    } rows[] = {
        {{0x41}, "A"},
        {{0x7f}, "\x7f"},
        {{0x80}, "\xc2\x80"},
        {{0x7ff}, "\xdf\xbf"},
        {{0x800}, "\xe0\xa0\x80"},
        {{0xd7ff}, "\xed\x9f\xbf"},
        {{0xe000}, "\xee\x80\x80"},
        {{0xffff}, "\xef\xbf\xbf"},
        {{0xd800, 0xdc00}, "\xf0\x90\x80\x80"},
        {{0xdbff, 0xdfff}, "\xf4\x8f\xbf\xbf"},
        {{0xd83d, 0xde00}, "\xf0\x9f\x98\x80"},
        {{0xd800, 0x41},
         "\xef\xbf\xbd"
         "A"},
        {{0xdbff, 0xe000}, "\xef\xbf\xbd\xee\x80\x80"},
        {{0xdc00, 0x41},
         "\xef\xbf\xbd"
         "A"},
        {{0xdc00, 0xdc00}, "\xef\xbf\xbd\xef\xbf\xbd"},
        {{0xdfff, 0x41},
         "\xef\xbf\xbd"
         "A"},
        {{0xd800, 0xd800, 0xdc00}, "\xef\xbf\xbd\xf0\x90\x80\x80"},
    };
    struct data out = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int big = 0; big < 2; big++) {
            char bytes[8];
            size_t n = 0;
            for (int k = -1; k < 3 && (k < 0 || rows[i].unit[k]); k++) {
                unsigned unit = k < 0 ? 0xfeff : rows[i].unit[k];
                bytes[n++] = (char)(big ? unit >> 8 : unit & 255);
                bytes[n++] = (char)(big ? unit & 255 : unit >> 8);
            }
            CHECK_INT(read_bytes((nsc_text){bytes, n}, 64, &out), NCCLSCOPE_END);
            CHECK_TEXT(data_text(&out), rows[i].text);
        }
    CHECK_INT(read_bytes(NSC_TEXT("\xff"
                                  "A"),
                         64, &out),
              NCCLSCOPE_END); /* half a mark is none */
    CHECK_TEXT(data_text(&out), "\xff"
                                "A");
    CHECK_INT(read_bytes(NSC_TEXT("A\xfe"
                                  "B"),
                         64, &out),
              NCCLSCOPE_END);
    CHECK_TEXT(data_text(&out), "A\xfe"
                                "B");
    CHECK_INT(read_bytes(NSC_TEXT("A\xff"
                                  "B"),
                         64, &out),
              NCCLSCOPE_END);
    CHECK_TEXT(data_text(&out), "A\xff"
                                "B");
    data_drop(&out);
}

/* A program that has closed its standard input opens its first file as descriptor 0. */
static void test_first_descriptor(void)
{
    struct data out = {0};
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    CHECK_INT(read_bytes(NSC_TEXT("a log"), 64, &out), NCCLSCOPE_END);
    CHECK_TEXT(data_text(&out), "a log");
    dup2(kept, STDIN_FILENO);
    close(kept);
    data_drop(&out);
}

CHECKS(TEST(test_plain), TEST(test_utf16), TEST(test_first_descriptor), TEST(test_gzip), TEST(test_members),
       TEST(test_padding), TEST(test_cut), TEST(test_damaged), TEST(test_after_the_end), TEST(test_not_there))
