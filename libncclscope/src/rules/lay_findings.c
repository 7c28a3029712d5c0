/* lay_findings.c - findings as the rows of columns.def. */
#include "probe/facts.h"
#include "rules/confirm.h"
#include "rules/expect.h"
#include "rules/rules.h"

#include <stdlib.h>

static const int64_t numbers[NSC_IDS] = {
#define NCCLSCOPE_ID(NAME, number, id) [NSC_ID_##NAME] = number,
#include "ncclscope/ids.def"
};

/* The words of columns.def are those of the rules' own numbers: one that moves does not compile. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME(NSC_CONTRADICTED, NCCLSCOPE_CONFIRMATION_CONTRADICTION);
SAME(NSC_FALLBACK, NCCLSCOPE_CONFIRMATION_FALLBACK);
SAME(NSC_SLOWER, NCCLSCOPE_CONFIRMATION_SLOWER);
SAME(NSC_STALE, NCCLSCOPE_CONFIRMATION_STALE);
SAME(NSC_CANNOT_TELL, NCCLSCOPE_CONFIRMATION_CANNOT_TELL);
SAME(NSC_AS_GOOD, NCCLSCOPE_CONFIRMATION_AS_GOOD);
SAME(NSC_AS_EXPECTED, NCCLSCOPE_JUDGEMENT_AS_EXPECTED);
SAME(NSC_CONFIGURED, NCCLSCOPE_JUDGEMENT_CONFIGURED);
SAME(NSC_BY_DESIGN, NCCLSCOPE_JUDGEMENT_BY_DESIGN);
SAME(NSC_FAULTY, NCCLSCOPE_JUDGEMENT_FAULTY);
SAME(NSC_REFUSED, NCCLSCOPE_JUDGEMENT_REFUSED);
SAME(NSC_NOT_KNOWABLE, NCCLSCOPE_JUDGEMENT_NOT_KNOWABLE);
SAME(NCCLSCOPE_KEPT, NCCLSCOPE_KEPT_KEPT);
SAME(NCCLSCOPE_BROKEN, NCCLSCOPE_KEPT_BROKEN);
SAME(NCCLSCOPE_CANNOT_TELL, NCCLSCOPE_KEPT_CANNOT_TELL);

static int64_t confidence_of(const char *word)
{
    int64_t n = NCCLSCOPE_CONFIDENCE_POSSIBLE;
    while (n < NCCLSCOPE_CONFIDENCE_CERTAIN && strcmp(ncclscope_word_of("confidence", n), word) != 0)
        n++;
    return n;
}

static void lay_lists(struct ncclscope_findings *f, const struct nsc_finding *x, int64_t row)
{
    for (size_t i = 0; i < x->why_rows; i++) {
        ncclscope_finding_cause *r = nsc_row_new(&f->rows, finding_cause);
        r->finding = row;
        r->cause = nsc_text_of(x->why_row[i]);
    }
    for (size_t i = 0; i < x->ranks.len; i++) {
        ncclscope_finding_rank *r = nsc_row_new(&f->rows, finding_rank);
        r->finding = row;
        r->rank = (int64_t)x->ranks.item[i];
    }
    for (size_t i = 0; i < x->pairs.len; i++) {
        ncclscope_finding_pair *r = nsc_row_new(&f->rows, finding_pair);
        r->finding = row;
        r->a = (int64_t)x->pairs.item[i].a;
        r->b = (int64_t)x->pairs.item[i].b;
    }
    for (size_t i = 0; i < x->evidences; i++) {
        ncclscope_evidence *r = nsc_row_new(&f->rows, evidence);
        r->finding = row;
        r->source = x->evidence[i].source;
        r->line = (int64_t)x->evidence[i].line;
        r->text = x->evidence[i].text;
    }
}

static int by_name(const void *a, const void *b, void *model)
{
    return nsc_compare(nsc_say(model, *(const nsc_str *)a), nsc_say(model, *(const nsc_str *)b));
}

static void lay_hosts(struct ncclscope_findings *f, const struct nsc_finding *x, int64_t row)
{
    nsc_str *names = nsc_alloc((x->hosts.len + 1) * sizeof *names);
    if (names && x->hosts.len) {
        memcpy(names, x->hosts.item, x->hosts.len * sizeof *names);
        qsort_r(names, x->hosts.len, sizeof *names, by_name, (void *)(uintptr_t)f->model);
    }
    for (size_t i = 0; names && i < x->hosts.len; i++) {
        if (!names[i] || (i && names[i] == names[i - 1]))
            continue;
        ncclscope_finding_host *r = nsc_row_new(&f->rows, finding_host);
        r->finding = row;
        r->host = nsc_say(f->model, names[i]);
    }
    nsc_free(names);
}

static void lay_finding(struct ncclscope_findings *f, const struct nsc_finding *x)
{
    int64_t row = nsc_row_next(&f->rows, finding);
    ncclscope_finding *r = nsc_row_new(&f->rows, finding);
    r->id = nsc_text_of(x->rule->id);
    r->number = numbers[x->rule->key];
    r->severity = x->severity;
    r->confidence = confidence_of(x->confidence);
    r->class_ = nsc_text_of(x->cls);
    r->caused_by = nsc_text_of(nsc_words_of_id(x->caused_by));
    r->title = nsc_text_of(x->title);
    r->detail = nsc_text_of(x->rule->why);
    r->comm = x->comm == NSC_NONE ? NCCLSCOPE_UNSAID : f->model->comms.item[x->comm].row;
    r->ranks_more = x->ranks_more;
    r->count = (int64_t)x->count;
    r->cause = nsc_text_of(x->cause);
    r->fix = nsc_text_of(x->fix);
    r->verify = nsc_text_of(x->rule->verify);
    r->cost = nsc_text_of(x->cost);
    r->doc = nsc_text_of(x->rule->doc);
    lay_lists(f, x, row);
    lay_hosts(f, x, row);
}

/* Of a pair of one node: what NCCL would choose there by its own rules, and how the log fits it. */
static void lay_expected(struct ncclscope_findings *f)
{
    const struct ncclscope_model *m = f->model;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        const struct nsc_judged *x = nsc_judged_of(f, l);
        char why[300];
        if (x->is == NSC_NOT_JUDGED)
            continue;
        struct nsc_expected own = nsc_expect(m, l, true);
        nsc_expected_words(m, &x->e, why, sizeof why);
        ncclscope_expected *r = nsc_row_new(&f->rows, expected);
        r->link = (int64_t)i;
        r->transport = x->e.family ? x->e.family : NCCLSCOPE_UNSAID;
        r->without_settings = own.family ? own.family : NCCLSCOPE_UNSAID;
        r->judgement = (int64_t)x->is;
        nsc_str words = nsc_intern(&f->strings, nsc_text_of(why));
        r->why = nsc_interned(&f->strings, words);
        f->no_memory = f->no_memory || !words;
    }
}

static int64_t index_of(const struct nsc_fact_gpu *g)
{
    return g && g->index.known ? g->index.v : NCCLSCOPE_UNSAID;
}

static void lay_confirmed(struct ncclscope_findings *f)
{
    for (size_t i = 0; i < f->confirmed.len; i++) {
        const struct nsc_confirmed *x = &f->confirmed.item[i];
        ncclscope_confirmed_pair *r = nsc_row_new(&f->rows, confirmed_pair);
        r->comm = x->comm == NSC_NONE ? NCCLSCOPE_UNSAID : f->model->comms.item[x->comm].row;
        r->a = (int64_t)x->a;
        r->b = (int64_t)x->b;
        r->verdict = (int64_t)x->is;
        r->confidence = x->confidence ? confidence_of(x->confidence) : NCCLSCOPE_UNSAID;
        r->why = nsc_text_of(x->why);
        r->gpu_a = index_of(x->gpu[0]);
        r->gpu_b = index_of(x->gpu[1]);
        r->path = (int64_t)x->path;
        r->via = nsc_say(f->model, x->link->via);
        r->offered = nsc_text_of(x->offered);
        r->p2p = x->p2p;
        r->configured = x->configured;
        r->cost = nsc_text_of(x->cost);
        r->p2p_mb_s = x->mb_s[0] ? x->mb_s[0] : NCCLSCOPE_UNSAID;
        r->host_mb_s = x->mb_s[1] ? x->mb_s[1] : NCCLSCOPE_UNSAID;
        r->source = x->link->where.source;
        r->line = (int64_t)x->link->where.line;
    }
}

void nsc_lay_expectation(struct ncclscope_findings *f, const struct nsc_expectation *e)
{
    ncclscope_expectation *r = nsc_row_new(&f->rows, expectation);
    r->expect = nsc_text_of(e->words);
    r->state = e->kept;
    r->why = nsc_text_of(e->why);
    if (e->pair.a != e->pair.b) {
        r->comm = e->comm == NSC_NONE ? NCCLSCOPE_UNSAID : f->model->comms.item[e->comm].row;
        r->a = (int64_t)e->pair.a;
        r->b = (int64_t)e->pair.b;
    }
    if (e->where.line) {
        r->source = e->where.source;
        r->line = (int64_t)e->where.line;
    }
    f->no_memory = f->no_memory || f->rows.no_memory;
}

void nsc_lay_findings(struct ncclscope_findings *f)
{
    ncclscope_outcome *all = nsc_row_new(&f->rows, outcome);
    all->verdict = f->verdict;
    for (size_t i = 0; i < f->list.len; i++)
        lay_finding(f, &f->list.item[i]);
    lay_expected(f);
    lay_confirmed(f);
    for (size_t i = 0; i < f->skipped.len; i++) {
        ncclscope_skipped_rule *r = nsc_row_new(&f->rows, skipped_rule);
        r->id = nsc_text_of(f->skipped.item[i].id);
        r->reason = nsc_text_of(f->skipped.item[i].reason);
    }
    f->no_memory = f->no_memory || f->rows.no_memory;
}

size_t ncclscope_findings_rows(const ncclscope_findings *f, int table, size_t first, size_t n, void *out, size_t stride)
{
    return !f ? 0 : nsc_rows_copy(&f->rows, table, first, n, out, stride);
}
