/* test_json.c - the JSON writer: commas, escapes, bytes that are no text, writes that fail. */
#include "base/document.h"
#include "base/harmless.h"
#include "base/json.h"
#include "check.h"

struct sink {
    char text[65536];
    size_t len, limit;
};

static int take(void *user, const char *bytes, size_t size)
{
    struct sink *s = user;
    if (s->len + size > s->limit)
        return -1;
    memcpy(s->text + s->len, bytes, size);
    s->len += size;
    return 0;
}

static struct sink sink;

static struct nsc_out *begin(struct nsc_out *o, struct nsc_json *j)
{
    sink.len = 0;
    sink.limit = sizeof sink.text;
    memset(o, 0, sizeof *o);
    o->write = take;
    o->user = &sink;
    *j = (struct nsc_json){o, true};
    return o;
}

static nsc_text written(struct nsc_out *o)
{
    CHECK(nsc_flush(o));
    return (nsc_text){sink.text, sink.len};
}

static void test_shapes(void)
{
    static struct nsc_out o;
    struct nsc_json j;
    begin(&o, &j);
    nsc_json_open(&j, NULL, '{');
    nsc_json_open(&j, "empty", '[');
    nsc_json_close(&j, ']');
    nsc_json_open(&j, "list", '[');
    nsc_json_int(&j, NULL, -5);
    nsc_json_int(&j, NULL, INT64_MAX);
    nsc_json_open(&j, NULL, '{');
    nsc_json_bool(&j, "yes", true);
    nsc_json_bool(&j, "no", false);
    nsc_json_close(&j, '}');
    nsc_json_close(&j, ']');
    nsc_json_null(&j, "nothing");
    nsc_json_said(&j, "said", 0);
    nsc_json_said(&j, "unsaid", -1);
    nsc_json_string(&j, "s", "x");
    nsc_json_string(&j, "none", NULL);
    nsc_json_text(&j, "empty", (nsc_text){"", 0});
    nsc_json_close(&j, '}');
    CHECK_TEXT(
        written(&o),
        "{\"empty\":[],\"list\":[-5,9223372036854775807,{\"yes\":true,\"no\":false}],\"nothing\":null,\"said\":0,"
        "\"unsaid\":null,\"s\":\"x\",\"none\":null,\"empty\":\"\"}");
}

static void test_floats(void)
{
    static struct nsc_out o;
    struct nsc_json j;
    begin(&o, &j);
    nsc_json_open(&j, NULL, '[');
    nsc_json_float(&j, NULL, 8.31);
    nsc_json_float(&j, NULL, 0);
    nsc_json_float(&j, NULL, 324.4);
    nsc_json_float(&j, NULL, 0.000044);
    nsc_json_float(&j, NULL, 1234567);
    nsc_json_float(&j, NULL, 1.5e-7);
    nsc_json_float(&j, NULL, 1e22);
    nsc_json_close(&j, ']');
    CHECK_TEXT(written(&o), "[8.31,0.0,324.4,0.000044,1234567.0,1.500000e-07,10000000000000000000000.0]");
}

static nsc_text quoted(nsc_text t)
{
    static struct nsc_out o;
    struct nsc_json j;
    begin(&o, &j);
    nsc_json_text(&j, NULL, t);
    return written(&o);
}

static void test_escapes(void)
{
    CHECK_TEXT(quoted(NSC_TEXT("a\"b\\c/d")), "\"a\\\"b\\\\c/d\"");
    CHECK_TEXT(quoted(NSC_TEXT("\n\t\r\0\x1b[0m\x7f")), "\"\\n\\t\\u000d\\u0000\\u001b[0m\\u007f\"");
    CHECK_TEXT(quoted(NSC_TEXT("\xc3\xa4 \xe2\x9c\x93 \xf0\x9f\x9a\x80")),
               "\"\xc3\xa4 \xe2\x9c\x93 \xf0\x9f\x9a\x80\"");
}

/* Every byte sequence that is no UTF-8 becomes U+FFFD, and what is good behind it stays. */
static void test_hostile_bytes(void)
{
    CHECK_TEXT(quoted(NSC_TEXT("\xff")), "\"\\ufffd\"");
    CHECK_TEXT(quoted(NSC_TEXT("\x80x")), "\"\\ufffdx\"");
    CHECK_TEXT(quoted(NSC_TEXT("\xc3")), "\"\\ufffd\"");
    CHECK_TEXT(quoted(NSC_TEXT("\xc3x")), "\"\\ufffdx\"");
    CHECK_TEXT(quoted(NSC_TEXT("\xc0\xaf")), "\"\\ufffd\\ufffd\"");                       /* overlong */
    CHECK_TEXT(quoted(NSC_TEXT("\xe0\x80\xaf")), "\"\\ufffd\\ufffd\\ufffd\"");            /* overlong */
    CHECK_TEXT(quoted(NSC_TEXT("\xed\xa0\x80")), "\"\\ufffd\\ufffd\\ufffd\"");            /* surrogate */
    CHECK_TEXT(quoted(NSC_TEXT("\xf4\x90\x80\x80")), "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* beyond U+10FFFF */
    CHECK_TEXT(quoted(NSC_TEXT("\xf0\x9f\x9a")), "\"\\ufffd\\ufffd\\ufffd\"");            /* cut */
}

/* What is good UTF-8 and yet no text to show: escaped, so that a terminal shows it. */
static void test_harmful_characters(void)
{
    CHECK_TEXT(quoted(NSC_TEXT("a\xe2\x80\xaez\xe2\x81\xa6\xd8\x9c")), "\"a\\u202ez\\u2066\\u061c\"");
    CHECK_TEXT(quoted(NSC_TEXT("\xc2\x9b\xc2\x80\xe2\x80\xa8")), "\"\\u009b\\u0080\\u2028\"");
    CHECK_TEXT(quoted(NSC_TEXT("\xf0\x9f\xbf\xbe\xef\xb7\x90")), "\"\\ud83f\\udffe\\ufdd0\""); /* U+1FFFE */
    CHECK(
        nsc_is_harmless(NSC_TEXT("node-1 \xc3\xa4\xe2\x9c\x93\xf0\x9f\x9a\x80 \xd8\xa7"))); /* letters of any writing */
    CHECK(nsc_is_harmless((nsc_text){NULL, 0}));
    CHECK(!nsc_is_harmless(NSC_TEXT("a\tb")));
    CHECK(!nsc_is_harmless(NSC_TEXT("a\x9b")));
    CHECK(!nsc_is_harmless(NSC_TEXT("a\xe2\x80\x8f")));
    CHECK_INT(nsc_code_point(NSC_TEXT("\xf4\x8f\xbf\xbf")), 0x10ffff);
}

static void test_utf8_lengths(void)
{
    CHECK_INT(nsc_utf8(NSC_TEXT("a")), 1);
    CHECK_INT(nsc_utf8(NSC_TEXT("\xc2\x80")), 2);
    CHECK_INT(nsc_utf8(NSC_TEXT("\xe2\x9c\x93")), 3);
    CHECK_INT(nsc_utf8(NSC_TEXT("\xf4\x8f\xbf\xbf")), 4);
    CHECK_INT(nsc_utf8(NSC_TEXT("\xc1\xbf")), 0);
    CHECK_INT(nsc_utf8(NSC_TEXT("\xf5\x80\x80\x80")), 0);
    CHECK_INT(nsc_utf8((nsc_text){NULL, 0}), 0);
}

/* No pair of bytes, whatever it is, gives a quote, a control character or broken UTF-8 inside the string. */
static void test_every_pair(void)
{
    bool clean = true;
    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            char in[2] = {(char)a, (char)b};
            nsc_text out = quoted((nsc_text){in, 2});
            out = (nsc_text){out.ptr + 1, out.len - 2};
            while (out.len) {
                size_t n = nsc_utf8(out);
                unsigned char c = (unsigned char)out.ptr[0];
                clean = clean && n && c >= 0x20 && c != 0x7f && c != '"';
                n += c == '\\';
                out = nsc_text_from(out, n && n <= out.len ? n : out.len);
            }
        }
    }
    CHECK(clean);
}

static void test_long_and_failing(void)
{
    static struct nsc_out o;
    struct nsc_json j;
    static char text[20000];
    memset(text, 'x', sizeof text);
    begin(&o, &j);
    nsc_put(&o, (nsc_text){text, sizeof text});
    nsc_put(&o, (nsc_text){text, sizeof text});
    CHECK_INT(written(&o).len, 40000);
    begin(&o, &j);
    sink.limit = 10000;
    nsc_put(&o, (nsc_text){text, sizeof text});
    nsc_puts(&o, "more");
    CHECK(!nsc_flush(&o));
    CHECK(o.failed);
    CHECK(sink.len <= 10000);
}

/* Whole numbers, however they are spelled; all else is none, and changes nothing. */
static void test_integers(void)
{
    static const struct {
        const char *text;
        bool is;
        int64_t value;
    } said[] = {{"[8]", true, 8},
                {"[-3]", true, -3},
                {"[8.0]", true, 8},
                {"[1.5]", false, 7},
                {"[1e300]", false, 7},
                {"[true]", false, 7},
                {"[null]", false, 7},
                {"[\"8\"]", false, 7},
                {"[{}]", false, 7},
                {"[9007199254740993.0]", false, 7},
                {"[9223372036854775807]", true, INT64_MAX}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        json_t *j = json_loads(said[i].text, 0, NULL);
        int64_t got = 7;
        CHECK(j && nsc_int_of_json(json_array_get(j, 0), &got) == said[i].is);
        CHECK_INT(got, said[i].value);
        json_decref(j);
    }
}

CHECKS(TEST(test_integers), TEST(test_shapes), TEST(test_floats), TEST(test_escapes), TEST(test_hostile_bytes),
       TEST(test_harmful_characters), TEST(test_utf8_lengths), TEST(test_every_pair), TEST(test_long_and_failing))
