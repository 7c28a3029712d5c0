/* test_text.c - runs of bytes: compare, cut, numbers at their limits. */
#include "check.h"

#include "base/neutral.h"

#include <errno.h>
#include <locale.h>

static void test_compare(void)
{
    nsc_text empty = {NULL, 0};
    CHECK(nsc_text_eq(NSC_TEXT("abc"), NSC_TEXT("abc")));
    CHECK(!nsc_text_eq(NSC_TEXT("abc"), NSC_TEXT("abd")));
    CHECK(!nsc_text_eq(NSC_TEXT("abc"), NSC_TEXT("ab")));
    CHECK(nsc_text_eq(empty, NSC_TEXT("")));
    CHECK(nsc_text_eq(NSC_TEXT("a\0b"), NSC_TEXT("a\0b")));
    CHECK(!nsc_text_eq(NSC_TEXT("a\0b"), NSC_TEXT("a\0c")));
    CHECK(nsc_text_is(NSC_TEXT("x"), "x"));
    CHECK(nsc_text_starts(NSC_TEXT("NCCL INFO"), "NCCL"));
    CHECK(!nsc_text_starts(NSC_TEXT("NCC"), "NCCL"));
    CHECK(!nsc_text_starts(empty, "N"));
    CHECK(nsc_compare(NSC_TEXT("a"), NSC_TEXT("b")) < 0);
    CHECK(nsc_compare(NSC_TEXT("b"), NSC_TEXT("a")) > 0);
    CHECK(nsc_compare(NSC_TEXT("a"), NSC_TEXT("ab")) < 0);
    CHECK(nsc_compare(NSC_TEXT("\xff"), NSC_TEXT("a")) > 0);
    CHECK_INT(nsc_compare(NSC_TEXT("ab"), NSC_TEXT("ab")), 0);
    CHECK_INT(nsc_compare(empty, empty), 0);
}

static void test_find(void)
{
    CHECK_INT(nsc_text_find(NSC_TEXT("a via b"), "via "), 2);
    CHECK_INT(nsc_text_find(NSC_TEXT("a vi"), "via"), -1);
    CHECK_INT(nsc_text_find((nsc_text){NULL, 0}, "x"), -1);
    CHECK_INT(nsc_text_find(NSC_TEXT("\0x"), "x"), 1);
    CHECK_TEXT(nsc_text_from(NSC_TEXT("abc"), 1), "bc");
    CHECK_TEXT(nsc_text_from(NSC_TEXT("abc"), 3), "");
}

static void test_trim(void)
{
    CHECK_TEXT(nsc_text_trim(NSC_TEXT(" \t a b \t\r")), "a b");
    CHECK_TEXT(nsc_text_trim_end(NSC_TEXT(" a \r ")), " a");
    CHECK_TEXT(nsc_text_trim(NSC_TEXT("   ")), "");
    CHECK_TEXT(nsc_text_trim(NSC_TEXT("")), "");
}

static void test_words(void)
{
    nsc_text rest = NSC_TEXT("  GPU0\t X   NV18 ");
    CHECK_TEXT(nsc_next_word(&rest), "GPU0");
    CHECK_TEXT(nsc_next_word(&rest), "X");
    CHECK_TEXT(nsc_next_word(&rest), "NV18");
    CHECK_INT(nsc_next_word(&rest).len, 0);
    CHECK_INT(nsc_next_word(&rest).len, 0);
}

static void test_unsigned(void)
{
    uint64_t v = 7;
    CHECK(nsc_to_u64(NSC_TEXT("0"), &v) && v == 0);
    CHECK(nsc_to_u64(NSC_TEXT("00012"), &v) && v == 12);
    CHECK(nsc_to_u64(NSC_TEXT("18446744073709551615"), &v) && v == UINT64_MAX);
    CHECK(!nsc_to_u64(NSC_TEXT("18446744073709551616"), &v));
    CHECK(!nsc_to_u64(NSC_TEXT("28446744073709551615"), &v));
    CHECK(!nsc_to_u64(NSC_TEXT(""), &v));
    CHECK(!nsc_to_u64(NSC_TEXT("-1"), &v));
    CHECK(!nsc_to_u64(NSC_TEXT("1 "), &v));
    CHECK(!nsc_to_u64(NSC_TEXT("1:"), &v));
    CHECK(!nsc_to_u64(NSC_TEXT("1/"), &v));
}

static void test_signed(void)
{
    int64_t v = 7;
    CHECK(nsc_to_i64(NSC_TEXT("-1"), &v) && v == -1);
    CHECK(nsc_to_i64(NSC_TEXT("9223372036854775807"), &v) && v == INT64_MAX);
    CHECK(!nsc_to_i64(NSC_TEXT("9223372036854775808"), &v));
    CHECK(nsc_to_i64(NSC_TEXT("-9223372036854775807"), &v) && v == -INT64_MAX);
    CHECK(!nsc_to_i64(NSC_TEXT("-"), &v));
    CHECK(!nsc_to_i64(NSC_TEXT("--1"), &v));
    CHECK(!nsc_to_i64(NSC_TEXT(""), &v));
}

static void test_hex(void)
{
    uint64_t v = 7;
    CHECK(nsc_to_hex(NSC_TEXT("0xb079519ed44b724"), &v) && v == 0xb079519ed44b724u);
    CHECK(nsc_to_hex(NSC_TEXT("fFfFfFfFfFfFfFfF"), &v) && v == UINT64_MAX);
    CHECK(!nsc_to_hex(NSC_TEXT("10000000000000000"), &v));
    CHECK(!nsc_to_hex(NSC_TEXT("0x"), &v));
    CHECK(!nsc_to_hex(NSC_TEXT("12g"), &v));
    CHECK(!nsc_to_hex(NSC_TEXT(""), &v));
}

static void test_float(void)
{
    double v = 7;
    CHECK(nsc_to_f64(NSC_TEXT("8.31"), &v) && v > 8.3099 && v < 8.3101);
    CHECK(nsc_to_f64(NSC_TEXT("-2e3"), &v) && v == -2000);
    CHECK(!nsc_to_f64(NSC_TEXT("inf"), &v));
    CHECK(!nsc_to_f64(NSC_TEXT("-nan"), &v));
    CHECK(!nsc_to_f64(NSC_TEXT("1.5x"), &v));
    CHECK(!nsc_to_f64(NSC_TEXT(""), &v));
    CHECK(!nsc_to_f64(NSC_TEXT("1e400"), &v));
    CHECK(!nsc_to_f64(NSC_TEXT("1111111111111111111111111111111111111111111111111111111111111111111111"), &v));
}

/* What is short is divided, and is to the last bit what strtod gives. */
static void test_short_decimals(void)
{
    static const char *const before[] = {"", "0.", "", "12.", "", "3.0"}, *const behind[] = {"", "",   ".5",
                                                                                             "", ".0", ""};
    uint64_t seed = 1;
    for (int i = 0; i < 60000; i++) {
        char text[40], *end;
        double v = -1;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned long long digits = (unsigned long long)(seed >> (20 + seed % 40));
        int n = snprintf(text, sizeof text, "%s%llu%s", before[i % 6], digits, behind[i % 6]);
        CHECK(nsc_to_f64((nsc_text){text, (size_t)n}, &v) && v == nsc_strtod(text, &end));
    }
    double v = 0;
    CHECK(!nsc_to_f64(NSC_TEXT("1.2.3"), &v));
    CHECK(nsc_to_f64(NSC_TEXT(".5"), &v) && v == 0.5);
    CHECK(nsc_to_f64(NSC_TEXT("999999999999999"), &v) && v == 999999999999999.0);
}

/* "elsewhere" has a decimal comma, other words, and another order of letters. */
static void test_neutral(void)
{
    char text[40], *end;
    const char *point = localeconv()->decimal_point;
    struct dirent upper = {.d_name = "Z"}, lower = {.d_name = "a"};
    const struct dirent *a = &upper, *b = &lower;
    CHECK_INT(nsc_format(text, sizeof text, "%.1f %g %d", 0.25, 1e300, 1000), 15);
    CHECK_TEXT(nsc_text_of(text), "0.2 1e+300 1000");
    CHECK(nsc_strtod("2.5,", &end) == 2.5 && *end == ',');
    CHECK_TEXT(nsc_text_of(nsc_strerror(ENOENT)), "No such file or directory");
    CHECK(nsc_by_name(&a, &b) < 0 && nsc_by_name(&b, &a) > 0);
    CHECK_TEXT(nsc_text_of(localeconv()->decimal_point), point); /* the thread is back in its own */
}

static void test_hash(void)
{
    /* equal bytes hash alike wherever they lie; the length counts */
    char a[] = "xNCCL_P2P_DISABLE", b[] = "NCCL_P2P_DISABLE";
    CHECK(nsc_hash(a + 1, 16) == nsc_hash(b, 16));
    CHECK(nsc_hash(b, 16) != nsc_hash(b, 15));
    CHECK(nsc_hash("\0\0", 1) != nsc_hash("\0\0", 2));
}

/* nsc_same is memcmp, at every length and for a difference at every place. */
static void test_same(void)
{
    char a[40] = "host:12:13 [0] NCCL INFO Channel 00/0 :", b[40];
    for (size_t len = 0; len < sizeof a; len++) {
        memcpy(b, a, sizeof a);
        CHECK(nsc_same(a, b, len));
        for (size_t at = 0; at < sizeof a; at++) {
            b[at] ^= 1;
            CHECK(nsc_same(a, b, len) == (at >= len));
            b[at] ^= 1;
        }
    }
}

static void test_fail(void)
{
    ncclscope_error err;
    char longer[500];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    CHECK_INT(nsc_fail(NULL, NCCLSCOPE_EIO, 5, "no %s", "thing"), NCCLSCOPE_EIO);
    CHECK_INT(nsc_fail(&err, NCCLSCOPE_EDATA, 5, "%s", longer), NCCLSCOPE_EDATA);
    CHECK_INT(err.code, NCCLSCOPE_EDATA);
    CHECK_INT(err.system, 5);
    CHECK_INT(strlen(err.text), sizeof err.text - 1);
}

CHECKS(TEST(test_compare), TEST(test_find), TEST(test_trim), TEST(test_words), TEST(test_unsigned), TEST(test_signed),
       TEST(test_hex), TEST(test_float), TEST(test_short_decimals), TEST(test_neutral), TEST(test_hash),
       TEST(test_same), TEST(test_fail))
