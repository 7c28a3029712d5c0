/* test_prefix.c - what stands before a header: every row of prefixes.def, several in a row, and text that is none. */
#include "check.h"
#include "read/prefix.h"

static ncclscope_grammar *grammar;
static struct nsc_match match;

static const struct {
    const char *name, *example;
} rows[] = {
#define PREFIX(NAME, template_, example) {#NAME, example},
#include "prefixes.def"
#undef PREFIX
};

static struct nsc_prefix parse_with(struct nsc_prefix_memo *memo, const char *text)
{
    struct nsc_prefix p;
    if (!grammar) {
        CHECK_INT(ncclscope_grammar_new(&grammar, NULL), 0);
        CHECK_INT(nsc_match_new(&match, NULL), 0);
    }
    nsc_prefix_parse(grammar, nsc_text_of(text), memo, &match, &p);
    return p;
}

static struct nsc_prefix parse(const char *text)
{
    struct nsc_prefix_memo memo = {.rows = 0};
    return parse_with(&memo, text);
}

static void test_every_row(void)
{
    struct nsc_prefix_memo memo = {.rows = 0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nsc_prefix p = parse_with(&memo, rows[i].example);
        if (p.foreign)
            printf("%s: %s\n", rows[i].name, rows[i].example);
        CHECK(!p.foreign);
        CHECK_INT(p.known, strlen(rows[i].example));
        p = parse_with(&memo, rows[i].example); /* as the line before it */
        CHECK(!p.foreign);
    }
}

/* What each launcher says. */
static void test_fields(void)
{
    CHECK_INT(parse("[default3]:").rank, 3);
    CHECK_INT(parse("[rank12]:").rank, 12);
    CHECK_INT(parse("[1,3]<stdout>:").rank, 3);
    CHECK_INT(parse("[1,14]<stderr>: ").rank, 14);
    CHECK_INT(parse("3: ").rank, 3);
    CHECK_INT(parse("  7: ").rank, 7);
    CHECK_INT(parse("rank3: ").rank, 3);
    CHECK_INT(parse("").rank, -1);
    struct nsc_prefix p = parse("[pod/train-0/pytorch] ");
    CHECK_TEXT(p.pod, "train-0");
    CHECK_TEXT(p.container, "pytorch");
    p = parse("train-worker-0 pytorch ");
    CHECK_TEXT(p.pod, "train-worker-0");
    CHECK_TEXT(p.container, "pytorch");
    p = parse("2026-01-02T03:04:05.678901234Z stdout F ");
    CHECK_TEXT(p.time, "2026-01-02T03:04:05.678901234Z");
    p = parse("[2026-01-02 03:04:05] ");
    CHECK_TEXT(p.time, "2026-01-02 03:04:05");
    p = parse("(RayWorkerWrapper pid=927, ip=192.0.2.7) ");
    CHECK_INT(p.rank, -1);
    CHECK(!p.foreign);
}

/* Every row behind every other: both are taken, unless the first could take what the second begins with. */
static void test_pairs(void)
{
    char text[300];
    size_t n = sizeof rows / sizeof rows[0], foreign = 0;
    struct nsc_prefix_memo memo = {.rows = 0};
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            snprintf(text, sizeof text, "%s%s", rows[i].example, rows[k].example);
            struct nsc_prefix p = parse_with(&memo, text);
            foreign += p.foreign;
            if (p.foreign)
                printf("%s + %s: %s\n", rows[i].name, rows[k].name, text);
            CHECK(p.known <= strlen(text));
        }
    }
    CHECK_INT(foreign, 0);
}

static void test_three(void)
{
    struct nsc_prefix p = parse("[pod/train-0/pytorch] 2026-01-02T03:04:05.6Z [default3]:");
    CHECK(!p.foreign);
    CHECK_TEXT(p.pod, "train-0");
    CHECK_TEXT(p.time, "2026-01-02T03:04:05.6Z");
    CHECK_INT(p.rank, 3);
}

static void test_foreign(void)
{
    static const char *const texts[] = {"delay 0.00001) ",
                                        "xyz",
                                        "step 5/20 loss 3.2",
                                        "[1,3]<stdout>:half a line ",
                                        "1/-1->2->1 [6] ",
                                        "[default3]:Channel 00 : 0[0] -> ",
                                        "\x01\x02",
                                        "(x",
                                        "[",
                                        "]",
                                        "Epoch 1: 100%|####| "};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct nsc_prefix p = parse(texts[i]);
        if (!p.foreign)
            printf("'%s' is taken for a prefix\n", texts[i]);
        CHECK(p.foreign);
    }
    CHECK_INT(parse("[1,3]<stdout>:half a line ").known, 14);
    CHECK_INT(parse("[1,3]<stdout>:half a line ").rank, 3);
    CHECK(!parse("   ").foreign);
}

/* The memory of the last line's shape changes nothing but speed. */
static void test_memo(void)
{
    struct nsc_prefix_memo memo = {.rows = 0};
    CHECK_INT(parse_with(&memo, "[default3]:").rank, 3);
    CHECK_INT(parse_with(&memo, "[default7]:").rank, 7);
    CHECK_INT(parse_with(&memo, "[default12]:").rank, 12);
    CHECK(parse_with(&memo, "[defaultx]:").foreign);
    CHECK_INT(parse_with(&memo, "[default5]:").rank, 5);
    CHECK_INT(parse_with(&memo, "").rank, -1);
    CHECK_TEXT(parse_with(&memo, "[pod/train-0/pytorch] ").pod, "train-0");
    CHECK_TEXT(parse_with(&memo, "[pod/train-1/pytorch] ").pod, "train-1");
    CHECK_TEXT(parse_with(&memo, "[pod/other-2/sidecar] ").container, "sidecar");
}

static void test_stamp_at_end(void)
{
    CHECK_INT(nsc_prefix_stamp_at_end(grammar, NSC_TEXT("Using network [2026-01-02 03:04:05] "), &match), 22);
    CHECK_INT(nsc_prefix_stamp_at_end(grammar, NSC_TEXT("Using network [03:04:05] "), &match), 11);
    CHECK_INT(nsc_prefix_stamp_at_end(grammar, NSC_TEXT("Trees [0] "), &match), 0);
    CHECK_INT(nsc_prefix_stamp_at_end(grammar, NSC_TEXT("[2026-01-02 03:04:05]"), &match), 0);
    CHECK_INT(nsc_prefix_stamp_at_end(grammar, NSC_TEXT(""), &match), 0);
    nsc_match_free(&match);
    ncclscope_grammar_free(grammar);
}

CHECKS(TEST(test_every_row), TEST(test_fields), TEST(test_pairs), TEST(test_three), TEST(test_foreign), TEST(test_memo),
       TEST(test_stamp_at_end))
