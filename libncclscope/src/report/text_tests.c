/* text_tests.c - what nccl-tests measured, where its tables stand in the input: one line for each table, without a judgement. */
#include "report/text.h"
#include "rules/ask.h"

#include <stdio.h>

/* Rows of one table: one collective, sizes that grow. */
struct table {
    size_t first, count;
    const struct nsc_test *best, *last; /* by bus bandwidth; the largest size */
    int64_t wrong;
};

static double busbw(const struct nsc_test *t)
{
    return t->sides > 1 && t->busbw[1] > t->busbw[0] ? t->busbw[1] : t->busbw[0];
}

static struct table table_from(const struct ncclscope_model *m, size_t first)
{
    struct table x = {first, 0, NULL, NULL, 0};
    for (size_t i = first; i < m->tests.len; i++) {
        const struct nsc_test *t = &m->tests.item[i];
        if (x.last && (t->where.source != x.last->where.source || t->collective != x.last->collective ||
                       t->bytes <= x.last->bytes))
            break;
        x.count++;
        x.last = t;
        if (t->sides && (!x.best || busbw(t) > busbw(x.best)))
            x.best = t;
        for (int side = 0; side < t->sides; side++)
            x.wrong += t->wrong[side] > 0 ? t->wrong[side] : 0;
    }
    return x;
}

/* "16 GiB", "32 MiB", "1000 bytes" */
static const char *size_words(uint64_t bytes, char *buf, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes && bytes % 1024 == 0 && unit + 1 < sizeof units / sizeof units[0])
        bytes /= 1024, unit++;
    snprintf(buf, size, "%llu %s", (unsigned long long)bytes, units[unit]);
    return buf;
}

static const double drop_told = 0.8; /* the largest size carries less than this part of the best */

static void one_table(const struct nsc_report *r, const struct table *x)
{
    char line[400], size[40];
    nsc_text name = nsc_say(r->m, x->best->collective);
    name.len = name.len < 40 ? name.len : 40;
    size_t n = (size_t)snprintf(
        line, sizeof line, "nccl-tests%s%.*s: best bus bandwidth %.2f GB/s, at %s (%sline %llu)", name.len ? ", " : "",
        (int)name.len, name.len ? name.ptr : "", busbw(x->best), size_words(x->best->bytes, size, sizeof size),
        x->best->in_pieces ? "in the row that ends in " : "", (unsigned long long)x->best->where.line);
    if (busbw(x->last) < drop_told * busbw(x->best) && x->last->sides)
        n += (size_t)snprintf(line + n, sizeof line - n, "; %.2f GB/s at %s", busbw(x->last),
                              size_words(x->last->bytes, size, sizeof size));
    if (x->wrong)
        snprintf(line + n, sizeof line - n, "; %lld wrong values", (long long)x->wrong);
    nsc_wrap(r, 3, nsc_text_of(line));
}

static bool lists_ranks(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_TEST_RANK)
            return true;
    return false;
}

/* "Test NCCL failure common.cu:1119 'unhandled system error'" */
static bool reports_failure(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_PROGRAM_NCCL ||
            m->happened.item[i].number == NCCLSCOPE_KIND_PROGRAM_CUDA)
            return true;
    return false;
}

void nsc_text_tests(const struct nsc_report *r)
{
    enum { SHOWN = 3 };
    size_t told = 0;
    for (size_t i = 0; i < r->m->tests.len;) {
        struct table x = table_from(r->m, i);
        i += x.count;
        if (!x.best || busbw(x.best) < 0.005) /* too small to be printed: tables that broke off at a few bytes */
            continue;
        if (++told <= SHOWN || r->flags & NCCLSCOPE_REPORT_VERBOSE)
            one_table(r, &x);
    }
    if (!r->m->tests.len && lists_ranks(r->m) && !nsc_success_of(r->m))
        nsc_wrap(
            r, 3,
            reports_failure(r->m)
                ? NSC_TEXT("nccl-tests lists its ranks, and reports a failure in place of results")
                : NSC_TEXT("nccl-tests lists its ranks and prints no result: it failed or hung, or this input is cut"));
    if (told > SHOWN && !(r->flags & NCCLSCOPE_REPORT_VERBOSE))
        nsc_printf(r->out, "and %zu more tables of nccl-tests (-v lists them)\n", told - SHOWN);
}
