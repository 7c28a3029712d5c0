/* rules_measured.c - what is odd of what nccl-tests measured, by its table alone. */
#include "rules/ask.h"

enum { LINES_APART = 8 }; /* other lines may stand between rows; where hundreds do, each row is of a run of its own */

/* Rows of one table follow each other: one collective, sizes that grow. */
static bool goes_on(const struct nsc_test *a, const struct nsc_test *b)
{
    return a->where.source == b->where.source && a->collective == b->collective && a->type == b->type &&
           b->bytes > a->bytes && b->where.line - a->where.line <= LINES_APART;
}

static const double step_told = 2.0; /* so many times longer than the next larger size; a single slow row is chance */

/* Do the sizes of `b`, and of `a` below it, take longer than the larger one of `c`, out of place and in place? */
static bool is_step(const struct nsc_test *a, const struct nsc_test *b, const struct nsc_test *c)
{
    int sides = b->sides < c->sides ? b->sides : c->sides;
    sides = a->sides < sides ? a->sides : sides;
    for (int i = 0; i < sides; i++)
        if (c->time_us[i] <= 0 || b->time_us[i] < step_told * c->time_us[i] || a->time_us[i] <= c->time_us[i])
            return false;
    return sides > 0;
}

void nsc_rule_slow_sizes(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 2; i < m->tests.len; i++) { /* two below it */
        const struct nsc_test *t = &m->tests.item[i], *slow = t - 1;
        if (!goes_on(t - 2, slow) || !goes_on(slow, t) || !is_step(t - 2, slow, t))
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "unknown", "certain");
            f->title = nsc_words(c,
                                 "nccl-tests: %llu bytes take %g us, and %llu bytes only %g: smaller messages are "
                                 "slower than larger ones",
                                 (unsigned long long)slow->bytes, slow->time_us[0], (unsigned long long)t->bytes,
                                 t->time_us[0]);
            nsc_explain_by(c, f, NSC_MEASURED_STEP);
        }
        f->count++;
        nsc_show(c, f, &slow->where);
        nsc_show(c, f, &t->where);
    }
}
