/* test_texts.c - texts.def: every template compiles, and the index finds what trying all in order finds. */
#include "check.h"
#include "read/texts.h"

static ncclscope_grammar *grammar;
static struct nsc_match match;
static struct nsc_first_words words;

static void test_table(void)
{
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), NCCLSCOPE_OK);
    CHECK_INT(nsc_match_new(&match, NULL), NCCLSCOPE_OK);
    CHECK(atomic_load(&grammar->texts) == NULL); /* nothing is read before it is needed */
    struct nsc_texts *t = nsc_texts_of(grammar);
    CHECK(t && t == nsc_texts_of(grammar));
    CHECK(t->index.rows > 4000);
    for (size_t i = 0; i < t->index.rows; i++) {
        ncclscope_error err = {0};
        if (nsc_pattern_check(&t->index.row[i].pattern, &grammar->lock, &err))
            printf("%s\n", err.text);
        CHECK_INT(err.code, 0);
        CHECK(t->known[i].family[0] && t->known[i].level[0] && t->known[i].first[0]);
    }
}

static void same_either_way(nsc_text t)
{
    bool strict;
    const struct nsc_known_text *slow = nsc_texts_next(grammar, NULL, t, &match);
    CHECK(nsc_texts_match(grammar, NULL, t, 0, &match, &strict) == slow);
    CHECK(nsc_texts_match(grammar, &words, t, 0, &match, &strict) == slow);
    CHECK(nsc_texts_match(grammar, &words, t, 0, &match, &strict) == slow);
}

/* Examples of messages.def, whole, cut and with other numbers: the index and the words lose none and add none. */
static void test_index_is_only_faster(void)
{
    char text[1200];
    for (size_t i = 0; i < grammar->messages.rows; i++) {
        snprintf(text, sizeof text, "%s", grammar->messages.row[i].example);
        same_either_way(nsc_text_of(text));
        same_either_way((nsc_text){text, strlen(text) / 2});
        for (char *p = text; *p; p++)
            if (*p >= '0' && *p <= '8' && i % 2)
                ++*p;
        same_either_way(nsc_text_of(text));
    }
}

static void test_what_it_says(void)
{
    bool strict = true;
    const struct nsc_known_text *k =
        nsc_texts_match(grammar, NULL, NSC_TEXT("Connected all rings, use ring PXN 0 GDR 1"), 0, &match, &strict);
    CHECK(k && !strcmp(k->family, "connected") && !strcmp(k->first, "2.24.3") && !*k->last && strict);
    k = nsc_texts_match(grammar, NULL, NSC_TEXT("NET/OFI Couldn't create fabric. RC: -5, ERROR: no"), 0, &match,
                        &strict);
    CHECK(k && !strcmp(k->family, "ofi") && !strcmp(k->level, "WARN") && !strict);
    CHECK(!nsc_texts_match(grammar, NULL, NSC_TEXT("loss 3.21 at step 7"), 0, &match, &strict));
    nsc_match_free(&match);
    ncclscope_grammar_free(grammar);
}

CHECKS(TEST(test_table), TEST(test_index_is_only_faster), TEST(test_what_it_says))
