/* ranking.c - findings in the order in which they are told: by urgency, a root before what it causes. */
#include "rules/rules.h"

#include <stdlib.h>

enum { DEEPEST_CAUSE = 4 };

/* The worst severity among a finding and everything it causes: a root is as urgent as its wake. */
static void find_urgency(struct ncclscope_findings *f)
{
    int wake[NSC_IDS] = {0}; /* of what an id causes */
    for (size_t i = 0; i < f->list.len; i++)
        f->list.item[i].urgency = f->list.item[i].severity;
    for (int depth = 0; depth < DEEPEST_CAUSE; depth++) {
        for (size_t i = 0; i < f->list.len; i++) {
            int *of_root = &wake[f->list.item[i].caused_by];
            if (f->list.item[i].urgency > *of_root)
                *of_root = f->list.item[i].urgency;
        }
        for (size_t i = 0; i < f->list.len; i++) {
            struct nsc_finding *x = &f->list.item[i];
            if (wake[x->rule->key] > x->urgency)
                x->urgency = wake[x->rule->key];
        }
    }
}

/* What broke by itself before what others saw of it, and any failure before what only slows; so does a hang, where the log may
 * also be cut. */
static int breaks(const struct nsc_finding *f)
{
    bool failure = f->part == NSC_WAKE || !strcmp(f->cls, "error"), is_error = f->severity >= NCCLSCOPE_SEVERITY_ERROR;
    bool may_hang = f->severity == NCCLSCOPE_SEVERITY_WARNING && f->rule->key == NSC_ID_RANKS_HUNG;
    return is_error && f->part == NSC_ROOT ? 2 : (is_error && failure) || may_hang;
}

static int sureness(const struct nsc_finding *f)
{
    return !strcmp(f->confidence, "certain") ? 2 : !strcmp(f->confidence, "likely");
}

/* That a process crashed or was killed is certain, however sure the reason is. */
static int sureness_in_order(const struct nsc_finding *f)
{
    bool fell = f->rule->key == NSC_ID_RANKS_EXITED && f->part == NSC_ROOT && f->severity == NCCLSCOPE_SEVERITY_ERROR;
    return fell ? 2 : sureness(f);
}

/* "[E228 09:08:53.551535723 ProcessGroupNCCL.cpp:629]": seconds of the day; -1: no time is in the beginning of the line. */
static double clock_of(nsc_text line)
{
    enum { BEGINNING = 100, CLOCK = 8 }; /* "09:08:53" */
    for (size_t i = 0; i + CLOCK <= line.len && i < BEGINNING; i++) {
        const char *s = line.ptr + i;
        size_t end = CLOCK;
        double h, m, seconds;
        if (s[2] != ':' || s[5] != ':' || !nsc_is_digit(s[0]) || (i && nsc_is_digit(s[-1])))
            continue;
        while (i + end < line.len && end < CLOCK + 10 && (s[end] == '.' || nsc_is_digit(s[end])))
            end++;
        if (nsc_to_f64((nsc_text){s, 2}, &h) && nsc_to_f64((nsc_text){s + 3, 2}, &m) &&
            nsc_to_f64((nsc_text){s + 6, end - 6}, &seconds))
            return h * 3600 + m * 60 + seconds;
    }
    return -1;
}

/* When the first that it shows gave up a collective: by its line's time, or by the line. */
static double gave_up(const struct nsc_finding *f, bool by_time)
{
    double first = -1;
    for (size_t i = 0; i < f->evidences; i++) {
        const struct nsc_where *w = &f->evidence[i];
        double at = by_time ? clock_of(w->text) : (double)w->line;
        bool tells = nsc_text_find(w->text, "Watchdog caught") >= 0 || nsc_text_find(w->text, "imeout") >= 0;
        first = tells && at >= 0 && (first < 0 || at < first) ? at : first;
    }
    return first;
}

/* Of several hangs that which began first may be what the others wait for, however sure its own cause is. */
static void rank_hangs(struct ncclscope_findings *f)
{
    int sure = 0;
    bool timed = true;
    for (size_t i = 0; i < f->list.len; i++) {
        struct nsc_finding *x = &f->list.item[i];
        x->sure = sureness_in_order(x);
        x->waited = 0;
        if (x->rule->key != NSC_ID_RANKS_HUNG)
            continue;
        sure = x->sure > sure ? x->sure : sure;
        timed = timed && gave_up(x, true) >= 0;
    }
    for (size_t i = 0; i < f->list.len; i++) {
        struct nsc_finding *x = &f->list.item[i];
        if (x->rule->key != NSC_ID_RANKS_HUNG)
            continue;
        x->sure = sure;
        x->waited = gave_up(x, timed);
    }
}

/* The first line that it shows, in whichever input. */
static uint64_t first_line_of(const struct nsc_finding *f)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < f->evidences; i++)
        first = f->evidence[i].line < first ? f->evidence[i].line : first;
    return first;
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
    if (x->sure != y->sure)
        return x->sure > y->sure ? -1 : 1;
    bool dated = x->began && y->began && x->began->where.source == y->began->where.source;
    if (dated && x->began->where.line != y->began->where.line)
        return x->began->where.line < y->began->where.line ? -1 : 1;
    if (c && breaks(x) && x->shown_first != y->shown_first)
        return x->shown_first < y->shown_first ? -1 : 1; /* of failures what came first in its input */
    if (x->cost && !y->cost)                             /* an effect that somebody measured */
        return -1;
    if (!x->cost && y->cost)
        return 1;
    if (!c && x->waited != y->waited)
        return x->waited < y->waited ? -1 : 1;
    if (c || p->source != q->source)
        return c ? c : p->source < q->source ? -1 : 1;
    return p->line != q->line ? (p->line < q->line ? -1 : 1) : x->found < y->found ? -1 : x->found > y->found;
}

/* The worst first, but a root before what it causes: an effect waits until its root is told. */
static void put_in_order(struct ncclscope_findings *f)
{
    size_t n = f->list.len, open[NSC_IDS] = {0}; /* by id: findings not told yet */
    struct nsc_finding *told = nsc_alloc((n + 1) * sizeof *told);
    bool *done = nsc_alloc(n + 1);
    f->no_memory = f->no_memory || !told || !done;
    find_urgency(f);
    rank_hangs(f);
    for (size_t i = 0; i < n; i++) {
        f->list.item[i].found = i;
        f->list.item[i].shown_first = first_line_of(&f->list.item[i]);
        open[f->list.item[i].rule->key]++;
    }
    if (n)
        qsort(f->list.item, n, sizeof *f->list.item, by_urgency);
    for (size_t k = 0, from = 0; told && done && k < n; k++) {
        size_t best = n;
        while (from < n && done[from])
            from++;
        for (size_t i = from; i < n && best == n; i++) {
            const struct nsc_finding *x = &f->list.item[i];
            bool itself = x->rule->key == x->caused_by;
            best = !done[i] && (!x->caused_by || open[x->caused_by] <= (size_t)itself) ? i : n;
        }
        best = best < n ? best : from; /* causes in a circle */
        open[f->list.item[best].rule->key]--;
        done[best] = true;
        told[k] = f->list.item[best];
    }
    if (told && done && n)
        memcpy(f->list.item, told, n * sizeof *told);
    nsc_free(told);
    nsc_free(done);
}

/* Two findings that name each other as root would both be told nowhere: the first stands on its own. */
/* Does another finding of its id have no root? */
static bool follows_from_another(const struct ncclscope_findings *f, const struct nsc_finding *x)
{
    for (size_t i = 0; i < f->list.len; i++) {
        const struct nsc_finding *y = &f->list.item[i];
        if (y != x && y->rule == x->rule && !y->caused_by && y->severity >= x->severity)
            return true;
    }
    return false;
}

static void break_circles(struct ncclscope_findings *f)
{
    size_t first[NSC_IDS]; /* of each id, or as many as there are findings */
    for (size_t i = 0; i < NSC_IDS; i++)
        first[i] = f->list.len;
    for (size_t i = f->list.len; i-- > 0;)
        first[f->list.item[i].rule->key] = i;
    for (size_t i = 0; i < f->list.len; i++) {
        enum nsc_id id = f->list.item[i].caused_by;
        for (int depth = 0; id && depth < DEEPEST_CAUSE; depth++) {
            if (id == f->list.item[i].rule->key) {
                struct nsc_finding *x = &f->list.item[i]; /* it may follow from another of its id */
                x->caused_by = !depth || follows_from_another(f, x) ? id : NSC_ID_NONE;
                break;
            }
            size_t k = first[id];
            id = k < f->list.len ? f->list.item[k].caused_by : NSC_ID_NONE;
        }
    }
}

void nsc_put_findings_in_order(struct ncclscope_findings *f)
{
    break_circles(f);
    put_in_order(f);
}
