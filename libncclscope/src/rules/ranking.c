/* ranking.c - findings in the order in which they are told: by urgency, a root before what it causes. */
#include "rules/rules.h"

#include <stdlib.h>

enum { MOST_RULES = 128, DEEPEST_CAUSE = 4 };

/* Place of a rule in the table; MOST_RULES if there is none of that id. */
static size_t rule_at(const char *id)
{
    size_t i = 0;
    while (id && i < MOST_RULES && nsc_rules[i].id && strcmp(nsc_rules[i].id, id) != 0)
        i++;
    return id && i < MOST_RULES && nsc_rules[i].id ? i : MOST_RULES;
}

/* The worst severity among a finding and everything it causes: a root is as urgent as its wake. */
static void find_urgency(struct ncclscope_findings *f)
{
    int by_rule[MOST_RULES + 1] = {0}; /* of what it causes */
    for (size_t i = 0; i < f->list.len; i++)
        f->list.item[i].urgency = f->list.item[i].severity;
    for (int depth = 0; depth < DEEPEST_CAUSE; depth++) {
        for (size_t i = 0; i < f->list.len; i++) {
            size_t root = rule_at(f->list.item[i].caused_by);
            if (f->list.item[i].urgency > by_rule[root])
                by_rule[root] = f->list.item[i].urgency;
        }
        for (size_t i = 0; i < f->list.len; i++) {
            struct nsc_finding *x = &f->list.item[i];
            size_t own = (size_t)(x->rule - nsc_rules);
            if (own < MOST_RULES && by_rule[own] > x->urgency)
                x->urgency = by_rule[own];
        }
    }
}

/* What broke by itself before what others saw of it, and that before what only slows. */
static int breaks(const struct nsc_finding *f)
{
    return f->severity < NCCLSCOPE_ERROR ? 0 : f->part == NSC_ROOT ? 2 : f->part == NSC_WAKE ? 1 : 0;
}

static int sureness(const struct nsc_finding *f)
{
    return !strcmp(f->confidence, "certain") ? 2 : !strcmp(f->confidence, "likely");
}

static int by_urgency(const void *a, const void *b)
{
    const struct nsc_finding *x = a, *y = b;
    const struct nsc_where *p = &x->evidence[0], *q = &y->evidence[0];
    int c = strcmp(x->rule->id, y->rule->id);
    if (x->urgency != y->urgency)
        return x->urgency > y->urgency ? -1 : 1;
    if (x->severity != y->severity)
        return x->severity > y->severity ? -1 : 1;
    if (breaks(x) != breaks(y))
        return breaks(x) > breaks(y) ? -1 : 1;
    if (sureness(x) != sureness(y))
        return sureness(x) > sureness(y) ? -1 : 1;
    bool dated = x->began && y->began && x->began->where.source == y->began->where.source;
    if (dated && x->began->where.line != y->began->where.line)
        return x->began->where.line < y->began->where.line ? -1 : 1;
    if (x->cost && !y->cost) /* an effect that somebody measured */
        return -1;
    if (!x->cost && y->cost)
        return 1;
    if (c || p->source != q->source)
        return c ? c : p->source < q->source ? -1 : 1;
    return p->line != q->line ? (p->line < q->line ? -1 : 1) : x->found < y->found ? -1 : x->found > y->found;
}

/* The worst first, but a root before what it causes: an effect waits until its root is told. */
static void put_in_order(struct ncclscope_findings *f)
{
    size_t n = f->list.len, open[MOST_RULES + 1] = {0}; /* by rule: findings not told yet */
    struct nsc_finding *told = nsc_alloc((n + 1) * sizeof *told);
    bool *done = nsc_alloc(n + 1);
    f->no_memory = f->no_memory || !told || !done;
    find_urgency(f);
    for (size_t i = 0; i < n; i++) {
        size_t own = (size_t)(f->list.item[i].rule - nsc_rules);
        f->list.item[i].found = i;
        open[own < MOST_RULES ? own : MOST_RULES]++;
    }
    if (n)
        qsort(f->list.item, n, sizeof *f->list.item, by_urgency);
    for (size_t k = 0, from = 0; told && done && k < n; k++) {
        size_t best = n;
        while (from < n && done[from])
            from++;
        for (size_t i = from; i < n && best == n; i++) {
            const struct nsc_finding *x = &f->list.item[i];
            size_t root = rule_at(x->caused_by);
            bool itself = x->rule == &nsc_rules[root < MOST_RULES ? root : 0] && root < MOST_RULES;
            best = !done[i] && (root == MOST_RULES || open[root] <= (size_t)itself) ? i : n;
        }
        best = best < n ? best : from; /* causes in a circle */
        size_t own = (size_t)(f->list.item[best].rule - nsc_rules);
        open[own < MOST_RULES ? own : MOST_RULES]--;
        done[best] = true;
        told[k] = f->list.item[best];
    }
    if (told && done && n)
        memcpy(f->list.item, told, n * sizeof *told);
    nsc_free(told);
    nsc_free(done);
}

/* Two findings that name each other as root would both be told nowhere: the first stands on its own. */
static void break_circles(struct ncclscope_findings *f)
{
    for (size_t i = 0; i < f->list.len; i++) {
        const char *id = f->list.item[i].caused_by;
        for (int depth = 0; id && depth < DEEPEST_CAUSE; depth++) {
            if (!strcmp(id, f->list.item[i].rule->id)) {
                f->list.item[i].caused_by = depth ? NULL : id; /* a finding may follow from another of its id */
                break;
            }
            size_t k = 0;
            while (k < f->list.len && strcmp(f->list.item[k].rule->id, id) != 0)
                k++;
            id = k < f->list.len ? f->list.item[k].caused_by : NULL;
        }
    }
}

void nsc_put_findings_in_order(struct ncclscope_findings *f)
{
    break_circles(f);
    put_in_order(f);
}
