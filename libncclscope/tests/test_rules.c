/* test_rules.c - the words of every rule, and the order in which findings are told. */
#include "data.h"
#include "rules/rules.h"
#include "scene.h"

#include <ctype.h>

static int to_data(void *user, const char *bytes, size_t size)
{
    data_add(user, (nsc_text){bytes, size});
    return 0;
}

static bool is_slug(const char *id)
{
    size_t slashes = 0;
    for (const char *p = id; *p; p++) {
        slashes += *p == '/';
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '-' && *p != '/')
            return false;
    }
    return slashes == 1;
}

static void test_words(void)
{
    size_t n = 0;
    for (const struct nsc_rule *r = nsc_rules; r->id; r++, n++) {
        const char *words[] = {r->means, r->why, r->fix, r->verify, r->doc};
        if (!is_slug(r->id))
            printf("%s\n", r->id);
        CHECK(is_slug(r->id));
        CHECK(r->check != NULL);
        for (size_t i = 0; i < 5; i++) {
            if (!words[i] || !*words[i])
                printf("%s lacks words\n", r->id);
            CHECK(words[i] && *words[i]);
        }
        for (const struct nsc_rule *q = nsc_rules; q != r; q++)
            CHECK(strcmp(q->id, r->id) != 0);
    }
    CHECK(n >= 20);
}

static void test_explain(void)
{
    for (const struct nsc_rule *r = nsc_rules; r->id; r++) {
        struct data out = {0};
        CHECK_INT(ncclscope_explain(r->id, to_data, &out), 0);
        CHECK(nsc_text_find(data_text(&out), r->id) >= 0);
        CHECK(out.len > strlen(r->means) + strlen(r->fix));
        data_drop(&out);
    }
    struct data out = {0};
    CHECK_INT(ncclscope_explain("no/such-id", to_data, &out), NCCLSCOPE_ENOTFOUND);
    CHECK_INT(ncclscope_explain("", to_data, &out), NCCLSCOPE_ENOTFOUND);
    CHECK_INT(out.len, 0);
    data_drop(&out);
}

static struct scene scene;

static ncclscope_findings *judge(const char *log)
{
    struct data text = data_load(log);
    ncclscope_findings *f = NULL;
    const struct ncclscope_model *m = scene_of(&scene, text.ptr);
    CHECK_INT(ncclscope_analyse(&f, m, NULL), 0);
    data_drop(&text);
    return f;
}

static const char *const logs[] = {
    "logs/2.28.9/h200x8-p2p-disabled-shm.log", "logs/2.28.9/h200x8-two-nodes.log.gz",
    "logs/2.28.9/h200x8-small-devshm.log",     "logs/2.28.9/h200x8-rank-crash-two-nodes.log",
    "logs/2.28.9/h200x8-net-ib-forced.log",    "logs/2.27.3/h200x8-ofi-tcp-two-nodes.log.gz",
    "logs/seed/p4d-4pods-1gpu-efa.log",        "logs/2.28.9/h200x4-p2p-shm-disabled-socket.log",
    "logs/2.30.7/h200x4-two-nodes.log.gz",     "logs/2.28.9/h200x8-default.log.gz",
    "logs/seed/pods-shm-socket.log",
};

static size_t place_of(const ncclscope_findings *f, const char *id)
{
    size_t i = 0;
    while (i < f->list.len && strcmp(f->list.item[i].rule->id, id) != 0)
        i++;
    return i;
}

static bool is_one_of(const char *word, const char *words)
{
    const char *at = word ? strstr(words, word) : NULL;
    size_t n = word ? strlen(word) : 0;
    return at && (at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]);
}

/* Every finding is whole: known words, sorted ranks and pairs, evidence from this log, its root before it. */
static void test_findings(void)
{
    for (size_t l = 0; l < sizeof logs / sizeof logs[0]; l++) {
        ncclscope_findings *f = judge(logs[l]);
        CHECK_INT(ncclscope_findings_count(f), f->list.len);
        for (size_t i = 0; i < f->list.len; i++) {
            const struct nsc_finding *x = &f->list.item[i];
            CHECK(x->severity >= NCCLSCOPE_NOTE && x->severity <= NCCLSCOPE_ERROR);
            CHECK(is_one_of(x->cls, "fault configuration by-design error visibility unknown"));
            CHECK(is_one_of(x->confidence, "certain likely possible"));
            CHECK(x->title && *x->title && x->title[strlen(x->title) - 1] != '.');
            CHECK(x->evidences <= NSC_EVIDENCE);
            for (size_t e = 0; e < x->evidences; e++)
                CHECK(x->evidence[e].source < scene.model->sources.len && x->evidence[e].line > 0);
            for (size_t k = 1; k < x->ranks.len; k++)
                CHECK(x->ranks.item[k - 1] < x->ranks.item[k]);
            for (size_t k = 0; k < x->pairs.len; k++)
                CHECK(x->pairs.item[k].a <= x->pairs.item[k].b &&
                      (!k || x->pairs.item[k - 1].a < x->pairs.item[k].a ||
                       (x->pairs.item[k - 1].a == x->pairs.item[k].a && x->pairs.item[k - 1].b < x->pairs.item[k].b)));
            if (x->caused_by)
                CHECK(place_of(f, x->caused_by) < i);
            CHECK(!strcmp(ncclscope_finding_id(f, i), x->rule->id));
            CHECK_INT(ncclscope_finding_severity(f, i), x->severity);
        }
        CHECK(!strcmp(ncclscope_finding_id(f, f->list.len), ""));
        ncclscope_findings_free(f);
    }
}

/* Roots and what they cause apart, the worst comes first. */
static void test_worst_first(void)
{
    for (size_t l = 0; l < sizeof logs / sizeof logs[0]; l++) {
        ncclscope_findings *f = judge(logs[l]);
        int last = NCCLSCOPE_ERROR;
        for (size_t i = 0; i < f->list.len; i++) {
            const struct nsc_finding *x = &f->list.item[i];
            bool is_root = false;
            for (size_t k = 0; k < f->list.len; k++)
                is_root = is_root || (f->list.item[k].caused_by && !strcmp(f->list.item[k].caused_by, x->rule->id));
            if (x->caused_by || is_root)
                continue;
            CHECK(x->severity <= last);
            last = x->severity;
        }
        ncclscope_findings_free(f);
    }
}

/* A rule that cannot look says why; one that looked is not among those. */
static void test_skipped(void)
{
    ncclscope_findings *f = judge("logs/2.28.9/h200x8-debug-warn.log");
    CHECK_INT(f->verdict, NCCLSCOPE_NO_EVIDENCE);
    CHECK(f->skipped.len > 3);
    for (size_t i = 0; i < f->skipped.len; i++) {
        CHECK(f->skipped.item[i].reason && *f->skipped.item[i].reason);
        CHECK_INT(place_of(f, f->skipped.item[i].id), f->list.len);
    }
    ncclscope_findings_free(f);
    f = judge("logs/2.28.9/h200x8-default.log.gz");
    CHECK_INT(f->verdict, NCCLSCOPE_ALL_OK);
    CHECK_INT(f->skipped.len, 0);
    ncclscope_findings_free(f);
    scene_end(&scene);
    ncclscope_findings_free(NULL);
}

CHECKS(TEST(test_words), TEST(test_explain), TEST(test_findings), TEST(test_worst_first), TEST(test_skipped))
