/* test_pattern.c - templates: every type, braces, heads, cut texts, and templates that are none. */
#include "check.h"
#include "read/pattern.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nsc_match match;

/* Does the template take all of the text, and which texts do its fields hold, joined by '|'? "no" when it does not. */
static nsc_text taken(const char *template_, const char *text, bool open_end)
{
    static char out[600];
    struct nsc_pattern p;
    ncclscope_field field;
    nsc_text t;
    size_t n = 0;
    nsc_pattern_init(&p, template_, open_end);
    if (!match.data)
        nsc_match_new(&match, NULL);
    if (!nsc_pattern_match(&p, &lock, nsc_text_of(text), &match)) {
        nsc_pattern_free(&p);
        return NSC_TEXT("no");
    }
    for (size_t i = 0; nsc_match_field(&match, i, &field, &t); i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s", i ? "|" : "", (int)t.len, t.ptr);
    nsc_pattern_free(&p);
    return (nsc_text){out, n};
}

#define TAKES(template_, text, fields) CHECK_TEXT(taken(template_, text, false), fields)
#define REFUSES(template_, text) CHECK_TEXT(taken(template_, text, false), "no")

static void test_literal(void)
{
    TAKES("Connected all trees", "Connected all trees", "");
    REFUSES("Connected all trees", "Connected all trees.");
    REFUSES("Connected all trees", "Connected all tree");
    REFUSES("a.c", "abc"); /* no character of a template is special */
    TAKES("a.*+?()[]|^$\\c", "a.*+?()[]|^$\\c", "");
    TAKES("{size:u}.*+?()[]|^$\\#-/", "1.*+?()[]|^$\\#-/", "1");
}

/* Where a field ends hangs on what follows it. */
static void test_ends(void)
{
    TAKES("n {size:u}0 x", "n 120 x", "12");
    TAKES("n {size:i}5", "n -155", "-15");
    TAKES("n {size:x}f", "n aff", "af");
    TAKES("n {size:p}a", "n 0x1aa", "0x1a");
    TAKES("n {size:f}e", "n 1.5e", "1.5");
    TAKES("n {size:f}.", "n 1.", "1");
    TAKES("n {size:b}f x", "n c1:00.0f x", "c1:00.0");
    TAKES("n {size:w}: {text:t}", "n a:: b: c", "a:|b: c");
    TAKES("n {size:v}+x", "n 2.18.3+x", "2.18.3");
    TAKES("n {size:u}{text:t}", "n 12ab", "12|ab");
    TAKES("n {size:u}{text:t}b", "n 12ab", "12|a");
    TAKES("n {text:t} to {size:u}", "n a to b to 3", "a to b|3");
    TAKES("n {text:t} to {name:t} to {size:u}", "n a to b to c to 3", "a|b to c|3");
    TAKES("n {text:t} to {name:t} to {reason:t} to {size:u}", "n a to b to c to d to 3", "a|b|c to d|3");
    TAKES("{text:t}{size:u}", "a12", "a|12");
    REFUSES("n {text:t} to {size:u}", "n a to b to c");
    REFUSES("{{a", "");
    REFUSES("{{{size:u}", "3");
    TAKES("{{{size:u}", "{3", "3");
}

static void test_types(void)
{
    TAKES("n {size:u}", "n 0123", "0123");
    REFUSES("n {size:u}", "n -1");
    REFUSES("n {size:u}", "n ");
    REFUSES("n {size:u}", "n 1a");
    TAKES("n {size:i}", "n -12", "-12");
    REFUSES("n {size:i}", "n --12");
    TAKES("n {size:x}", "n 0aF", "0aF");
    REFUSES("n {size:x}", "n 0x1");
    TAKES("n {size:p}", "n 0x7f2a", "0x7f2a");
    TAKES("n {size:p}", "n (nil)", "(nil)");
    TAKES("n {size:p}", "n 7f2a74", "7f2a74");
    REFUSES("n {size:p}", "n 7f2a");
    TAKES("n {size:f}", "n -1.50", "-1.50");
    TAKES("n {size:f}", "n 3", "3");
    TAKES("n {size:f}", "n 1e-05", "1e-05");
    TAKES("n {size:f}", "n inf", "inf");
    TAKES("n {size:f}", "n -nan", "-nan");
    REFUSES("n {size:f}", "n 1.");
    TAKES("n {name:w} x", "n a:b/c x", "a:b/c");
    REFUSES("n {name:w} x", "n a b x");
    REFUSES("n {name:w}", "n ");
    TAKES("n {text:t} x", "n a b x", "a b");
    TAKES("n {text:t}", "n ", "");
    TAKES("n {text:t}, {reason:t}", "n a, b, c", "a|b, c"); /* as short as what follows allows */
    TAKES("n {bus_id:b}", "n 0000:07:00.0", "0000:07:00.0");
    REFUSES("n {bus_id:b}", "n 0000-07");
    TAKES("n {version:v}", "n 2.27.3+cuda12.9", "2.27.3+cuda12.9");
    REFUSES("n {version:v}", "n 2");
    TAKES("{size:u}", "5", "5");
}

static void test_nameless_and_expressions(void)
{
    TAKES("a {:u} b {size:u}", "a 1 b 2", "2");
    TAKES("{name:/ab?c+/}-", "acc-", "acc");
    TAKES("{:/x{2}/}{size:u}", "xx7", "7"); /* braces inside an expression are its own */
    TAKES("{name:/(?:a|b)c/}", "bc", "bc");
    TAKES("{name:/[Rr]/}ank", "rank", "r"); /* both cases of a letter are one caseless character to PCRE2 */
    TAKES("{name:/[Rr]/}ank", "Rank", "R");
    TAKES("{name:/ ?/}x", "x", "");
    TAKES("{name:/a*/}{size:u}", "5", "|5");
    REFUSES("{name:/a|b/}c", "a");
}

static void test_braces(void)
{
    TAKES("events={{{size:u},{value:u}}}", "events={1,2}", "1|2");
    TAKES("{{}}", "{}", "");
    TAKES("a{{b", "a{b", "");
}

static void test_bytes(void)
{
    TAKES("n {text:t} x", "n \xff\x80 x", "\xff\x80");
    TAKES("\xc3\xa4 {size:u}", "\xc3\xa4 1", "1");
    struct nsc_pattern p;
    nsc_pattern_init(&p, "n {text:t}x", false);
    CHECK(nsc_pattern_match(&p, &lock, NSC_TEXT("n a\0b\nc x"), &match)); /* NUL and newline are text */
    nsc_pattern_free(&p);
}

static void test_open_end(void)
{
    CHECK_TEXT(taken("[{rank:u}]:", "[3]:vm:1:2 [0]", true), "3");
    CHECK_INT(match.length, 4);
    CHECK_TEXT(taken("rank", "rank 5", true), "");
    CHECK_INT(match.length, 4);
    CHECK_TEXT(taken("[{rank:u}]:", "x[3]:", true), "no"); /* anchored at the start */
}

static void test_bad_templates(void)
{
    static const char *const bad[] = {"a {size",   "a {size}",  "a size:u}", "a }",         "{nosuchfield:u}",
                                      "{size:q}",  "{size:}",   "{:}",       "{size:/a(/}", "{size:/(a)/}",
                                      "{size:/a}", "{size:uu}", "{:u}{",     "}{"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct nsc_pattern p;
        ncclscope_error err = {0};
        nsc_pattern_init(&p, bad[i], false);
        int rc = nsc_pattern_check(&p, &lock, &err);
        if (rc != NCCLSCOPE_EPATTERN)
            printf("%s\n", bad[i]);
        CHECK_INT(rc, NCCLSCOPE_EPATTERN);
        CHECK_INT(err.code, NCCLSCOPE_EPATTERN);
        CHECK(strstr(err.text, bad[i]) != NULL);
        CHECK(!nsc_pattern_match(&p, &lock, nsc_text_of(bad[i]), &match)); /* it never matches, and does not crash */
        nsc_pattern_free(&p);
    }
    struct nsc_pattern p;
    nsc_pattern_init(&p, "fine {size:u}", false);
    CHECK_INT(nsc_pattern_check(&p, &lock, NULL), NCCLSCOPE_OK);
    nsc_pattern_free(&p);
}

static void test_too_much(void)
{
    char many[600] = "", text[200] = "";
    for (int i = 0; i < 15; i++) {
        strcat(many, "{size:u} ");
        strcat(text, "1 ");
    }
    struct nsc_pattern p;
    ncclscope_error err = {0};
    nsc_pattern_init(&p, many, false);
    CHECK_INT(nsc_pattern_check(&p, &lock, &err), NCCLSCOPE_EPATTERN);
    nsc_pattern_free(&p);
    static char longer[8000];
    memset(longer, '.', sizeof longer - 1);
    memcpy(longer, "{size:u}", 8);
    nsc_pattern_init(&p, longer, false);
    CHECK_INT(nsc_pattern_check(&p, &lock, &err), NCCLSCOPE_EPATTERN);
    nsc_pattern_free(&p);
}

static bool is_cut(const char *template_, const char *text)
{
    struct nsc_pattern p;
    nsc_pattern_init(&p, template_, false);
    bool cut = nsc_pattern_is_cut(&p, &lock, nsc_text_of(text), &match);
    nsc_pattern_free(&p);
    return cut;
}

/* Only what can be nothing else is called cut. */
static void test_cut(void)
{
    static const char init[] = "comm {comm:p} rank {rank:u} nranks {nranks:u} - Init COMPLETE";
    static const char text[] = "comm 0x7f2a rank 12 nranks 16 - Init COMPLETE";
    char part[80];
    for (size_t n = 1; n < sizeof text - 1; n++) {
        snprintf(part, sizeof part, "%.*s", (int)n, text);
        CHECK(is_cut(init, part) || !printf("%s\n", part));
    }
    CHECK(!is_cut(init, "comm 0x7f2a size 12"));
    CHECK(!is_cut(init, ""));
    CHECK(is_cut("Connected all trees", "Connected all t"));
    CHECK(!is_cut("Connected all trees", "Connected all trees"));
    CHECK(!is_cut("Using {text:t} device", "Using anything at all")); /* {text:t} takes just anything: no proof */
}

static void test_strict(void)
{
    struct nsc_pattern p;
    nsc_pattern_init(&p, "a {size:u}", false);
    CHECK(nsc_pattern_match(&p, &lock, NSC_TEXT("a 1"), &match));
    CHECK(nsc_pattern_is_strict(&p));
    nsc_pattern_free(&p);
    nsc_pattern_init(&p, "a {text:t}", false);
    CHECK(nsc_pattern_match(&p, &lock, NSC_TEXT("a 1"), &match));
    CHECK(!nsc_pattern_is_strict(&p));
    nsc_pattern_free(&p);
}

static void test_could_begin(void)
{
    struct nsc_pattern p;
    nsc_pattern_init(&p, "{func:/ncclComm[A-Za-z]+/} comm {comm:p}", false);
    CHECK(nsc_pattern_could_begin(&p, &lock, NSC_TEXT("ncclCommSplit co"), &match));
    CHECK(nsc_pattern_could_begin(&p, &lock, NSC_TEXT("ncclCommSplit comm 0x1"), &match));
    CHECK(!nsc_pattern_could_begin(&p, &lock, NSC_TEXT("Channel 0"), &match));
    CHECK(!nsc_pattern_could_begin(&p, &lock, NSC_TEXT("ncclCommSplit x"), &match));
    nsc_pattern_free(&p);
    nsc_pattern_init(&p, "Connected all rings", false);
    CHECK(nsc_pattern_could_begin(&p, &lock, NSC_TEXT("Connected a"), &match));
    CHECK(!nsc_pattern_could_begin(&p, &lock, NSC_TEXT("Connected b"), &match));
    nsc_pattern_free(&p);
}

/* Several threads need the same pattern first at once. */
static struct nsc_pattern shared;

static void *use_shared(void *right)
{
    struct nsc_match m;
    nsc_match_new(&m, NULL);
    for (int i = 0; i < 200; i++)
        *(bool *)right = nsc_pattern_match(&shared, &lock, NSC_TEXT("a 12 b"), &m) && *(bool *)right;
    nsc_match_free(&m);
    return NULL;
}

static void test_threads(void)
{
    pthread_t thread[8];
    bool right[8];
    for (int round = 0; round < 20; round++) {
        nsc_pattern_init(&shared, "a {size:u} b", false);
        for (int i = 0; i < 8; i++) {
            right[i] = true;
            CHECK_INT(pthread_create(&thread[i], NULL, use_shared, &right[i]), 0);
        }
        for (int i = 0; i < 8; i++) {
            pthread_join(thread[i], NULL);
            CHECK(right[i]);
        }
        nsc_pattern_free(&shared);
    }
    nsc_match_free(&match);
}

/* As people read it: fields by their names, those without by what they hold, doubled braces once; cut where there is no room. */
static void test_spelled(void)
{
    char out[80];
    nsc_template_spell("Channel {channel:u}/{:u} : {src:u}[{src_dev:w}] {{via}} {:/a|b/} {:t}", out, sizeof out);
    CHECK_TEXT(nsc_text_of(out), "Channel <channel>/<number> : <src>[<src_dev>] {via} <text> <text>");
    nsc_template_spell("ring {rank:u} of {nranks:u}", out, 12);
    CHECK_TEXT(nsc_text_of(out), "ring <rank>");
}

CHECKS(TEST(test_spelled), TEST(test_literal), TEST(test_types), TEST(test_ends), TEST(test_nameless_and_expressions),
       TEST(test_braces), TEST(test_bytes), TEST(test_open_end), TEST(test_bad_templates), TEST(test_too_much),
       TEST(test_cut), TEST(test_strict), TEST(test_could_begin), TEST(test_threads))
