/* text_tests.c - what nccl-tests measured, where its tables stand in the input: one line for each table, without a judgement. */
#include "report/text.h"
#include "base/neutral.h"
#include "model/fast.h"
#include "rules/ask.h"

#include <stdio.h>

/* Rows of one table: one collective, sizes that grow. */
struct table {
    size_t first, count;
    const struct nsc_test *best, *last; /* by bus bandwidth; the largest size */
    int64_t wrong;
};

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
        if (t->sides && (!x.best || nsc_bus_bandwidth(t) > nsc_bus_bandwidth(x.best)))
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
    uint64_t n = bytes;
    while (n && n % 1024 == 0 && unit + 1 < sizeof units / sizeof units[0])
        n /= 1024, unit++;
    if (n >= 10240) /* "209048576": nobody would know its row by "204149 KiB" */
        n = bytes, unit = 0;
    snprintf(buf, size, "%llu %s", (unsigned long long)n, units[unit]);
    return buf;
}

/* The rank that says what the rings of the largest communicator were laid out for; NULL: none does. *gb_s: that. */
static const struct nsc_rank *laid_out(const struct ncclscope_model *m, double *gb_s)
{
    const struct nsc_rank *best = NULL;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->ring_gb_s[0] > 0 && r->comm != NSC_NONE && (!best || r->nranks > best->nranks))
            best = r;
    }
    bool across = best && (best->nnodes > 1 || (best->nnodes < 0 && m->hosts.len > 1));
    *gb_s = best ? best->ring_gb_s[across] : 0;
    return best;
}

enum { LARGE = 256 << 20 }; /* smaller sizes do not fill the links */

/* ", 45 % of the 24 GB/s that NCCL laid out its rings for (line 37)" */
static void compare(const struct nsc_report *r, const struct table *x, char *out, size_t size)
{
    double gb_s;
    const struct nsc_rank *rank = laid_out(r->m, &gb_s);
    *out = 0;
    bool fits = rank && gb_s > 0 && nsc_bus_bandwidth(x->best) <= gb_s; /* trees and NVLS may carry more */
    if (fits && x->last->bytes >= LARGE && nsc_runs_in_rings(r->m, x->best))
        nsc_format(out, size, ", %.0f %% of the %g GB/s that NCCL planned its rings for (%s)",
                   100 * nsc_bus_bandwidth(x->best) / gb_s, gb_s, nsc_place_of(r->m, &rank->ring_type_at).words);
}

double nsc_part_of_layout(const struct ncclscope_model *m)
{
    double gb_s, most = 0;
    if (!laid_out(m, &gb_s) || gb_s <= 0)
        return -1;
    for (size_t i = 0; i < m->tests.len;) {
        struct table x = table_from(m, i);
        i += x.count;
        if (x.best && x.last->bytes >= LARGE && nsc_runs_in_rings(m, x.best) && nsc_bus_bandwidth(x.best) > most)
            most = nsc_bus_bandwidth(x.best);
    }
    return most > 0 ? most / gb_s : -1;
}

static const double drop_told = 0.8; /* the largest size carries less than this part of the best */

/* nccl-tests' own average of a table, which its rows can only surround: where it is above all that could be read, the best row was torn.
 * NULL: it is not. */
static const struct nsc_own_record *average_above(const struct ncclscope_model *m, const struct table *x, double *gb_s)
{
    size_t next = x->first + x->count;
    const struct nsc_where *last = &x->last->where, *end = next < m->tests.len ? &m->tests.item[next].where : NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *a = &m->happened.item[i];
        if (a->number == NCCLSCOPE_KIND_TEST_AVERAGE && a->where.source == last->source && a->where.line > last->line &&
            (!end || end->source != last->source || a->where.line < end->line))
            return nsc_to_f64(nsc_said(m, a, "bw"), gb_s) && *gb_s > nsc_bus_bandwidth(x->best) ? a : NULL;
    }
    return NULL;
}

static const char broken_up[] = "; the rows of its table are broken up";

/* Neither head nor rows: another program may say its average in these words, behind a table of its own. */
static const char no_table[] = "; no row in the form of nccl-tests' table is in this input";

static void only_average(const struct nsc_report *r, const struct nsc_own_record *a, double gb_s, const char *rows)
{
    char line[300];
    nsc_format(line, sizeof line, "%s average bus bandwidth %.2f GB/s (%s)%s",
               rows == no_table ? "in nccl-tests' words:" : "nccl-tests:", gb_s, nsc_place_of(r->m, &a->where).words,
               rows);
    nsc_wrap(r, 3, nsc_text_of(line));
}

/* Do sizes fall within a few lines, again and again? Then tests that ran at the same time wrote into one table: one that begins has its
 * heading in front. */
static bool are_mixed(const struct ncclscope_model *m)
{
    enum { NEAR = 3, CHANCE = 2 };
    size_t falls = 0;
    for (size_t i = 1; i < m->tests.len; i++) {
        const struct nsc_test *a = &m->tests.item[i - 1], *b = &m->tests.item[i];
        bool alike =
            a->type == b->type && a->redop == b->redop && a->root == b->root; /* "-d all" begins anew for each */
        falls +=
            alike && a->where.source == b->where.source && a->where.line + NEAR >= b->where.line && b->bytes < a->bytes;
    }
    return falls > CHANCE;
}

/* Not one row could be read, for what the program printed between its columns, or none can be told from those of others: the first of what
 * nccl-tests says at its ends. */
static void averages_alone(const struct nsc_report *r, bool mixed)
{
    enum { SHOWN = 3 };
    size_t told = 0;
    bool headed = nsc_first_heard(r->m, NCCLSCOPE_KIND_TEST_COLUMNS);
    if (mixed)
        nsc_wrap(r, 3,
                 NSC_TEXT("nccl-tests: rows of tests that ran at the same time are mixed up; which row is whose cannot "
                          "be told"));
    for (size_t i = 0; (mixed || !r->m->tests.len) && told < SHOWN && i < r->m->happened.len; i++) {
        const struct nsc_own_record *a = &r->m->happened.item[i];
        double gb_s;
        if (a->number != NCCLSCOPE_KIND_TEST_AVERAGE || !nsc_to_f64(nsc_said(r->m, a, "bw"), &gb_s) || gb_s <= 0)
            continue;
        only_average(r, a, gb_s, mixed ? "" : headed ? broken_up : no_table);
        told++;
    }
}

/* Was the best row of a table that one of another before it? Somebody's extract behind a run repeats it, to the hundredth of a microsecond. */
static bool is_repeated(struct nsc_map *seen, const struct nsc_test *row)
{
    struct nsc_key key = {row->bytes, 0, 0};
    key.a ^= (uint64_t)row->type << 48 ^ (uint64_t)row->redop << 40 ^ (uint64_t)row->collective << 32;
    memcpy(&key.b, &row->time_us[0], sizeof key.b);
    memcpy(&key.c, &row->time_us[1], sizeof key.c);
    bool copy = nsc_map_get(seen, key) != NSC_NONE;
    if (!copy)
        nsc_map_put(seen, key, 0); /* without memory a copy is told as another */
    return copy;
}

static void one_table(const struct nsc_report *r, const struct table *x)
{
    char line[800], size[40], part[260];
    double average = 0;
    const struct nsc_own_record *above = average_above(r->m, x, &average);
    if (above) {
        only_average(r, above, average, broken_up);
        return;
    }
    nsc_text name = nsc_say(r->m, x->best->collective);
    name.len = name.len < 40 ? name.len : 40;
    compare(r, x, part, sizeof part);
    size_t n =
        nsc_append(line, sizeof line, 0, "nccl-tests%s%.*s: best bus bandwidth %.2f GB/s, at %s (%s%s)%s",
                   name.len ? ", " : "", (int)name.len, name.len ? name.ptr : "", nsc_bus_bandwidth(x->best),
                   size_words(x->best->bytes, size, sizeof size), x->best->in_pieces ? "in the row that ends in " : "",
                   nsc_place_of(r->m, &x->best->where).words, part);
    if (nsc_bus_bandwidth(x->last) < drop_told * nsc_bus_bandwidth(x->best) && x->last->sides)
        n = nsc_append(line, sizeof line, n, "; %.2f GB/s at %s", nsc_bus_bandwidth(x->last),
                       size_words(x->last->bytes, size, sizeof size));
    if (x->wrong)
        nsc_append(line, sizeof line, n, "; %lld wrong values", (long long)x->wrong);
    nsc_wrap(r, 3, nsc_text_of(line));
}

static bool lists_ranks(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_TEST_RANK &&
            nsc_said(m, &m->happened.item[i], "bus_id").len) /* else somebody shortened it, and maybe its table */
            return true;
    return false;
}

/* "Test NCCL failure common.cu:1119 'unhandled system error'" */
bool nsc_tests_failed(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_PROGRAM_NCCL ||
            m->happened.item[i].number == NCCLSCOPE_KIND_PROGRAM_CUDA)
            return true;
    return false;
}

bool nsc_lacks_results(const struct ncclscope_model *m)
{
    return !m->tests.len && lists_ranks(m) && !nsc_success_of(m);
}

struct listed {
    size_t hosts, processes, runs; /* runs: processes that are rank 0 of one */
    bool ranks;                    /* of more than rank 0 */
};

/* What nccl-tests lists: hosts and processes, of which some may have no line of NCCL's here. */
static struct listed look_at_list(const struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    struct listed l = {0};
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        nsc_text name = r->number == NCCLSCOPE_KIND_TEST_RANK ? nsc_said(m, r, "name") : (nsc_text){NULL, 0};
        int64_t pid = -1, rank;
        if (!name.len || !nsc_number_said(m, r, "pid", &pid))
            continue;
        bool numbered = nsc_number_said(m, r, "rank", &rank);
        l.ranks = l.ranks || !numbered || rank > 0;
        struct nsc_key host = {nsc_intern_find(&m->strings, name), 0, 0}, process = {host.a, (uint64_t)pid, 1};
        if (nsc_map_get(&seen, host) == NSC_NONE)
            l.hosts += !nsc_map_put(&seen, host, 0);
        if (nsc_map_get(&seen, process) == NSC_NONE) {
            l.processes += !nsc_map_put(&seen, process, 0);
            l.runs += numbered && !rank;
        }
    }
    nsc_map_free(&seen);
    return l;
}

bool nsc_lists_one_gpu_a_host(const struct ncclscope_model *m)
{
    size_t rows = 0;
    for (size_t i = 0; i < m->happened.len; i++)
        rows += m->happened.item[i].number == NCCLSCOPE_KIND_TEST_RANK;
    return rows && look_at_list(m).hosts == rows;
}

/* "32 processes of 2 hosts, in 2 runs" */
static void spell_listed(const struct listed *l, char *out, size_t size)
{
    int n = snprintf(out, size, "%zu process%s of %zu host%s", l->processes, l->processes == 1 ? "" : "es", l->hosts,
                     l->hosts == 1 ? "" : "s");
    if (l->ranks && l->runs > 1)
        snprintf(out + n, size - (size_t)n, ", in %zu runs", l->runs);
}

void nsc_text_tests(const struct nsc_report *r)
{
    enum { SHOWN = 3 };
    size_t told = 0;
    char all[100];
    struct listed listed = look_at_list(r->m);
    bool more = listed.hosts > r->m->hosts.len || listed.processes > r->m->proc_order.len;
    spell_listed(&listed, all, sizeof all);
    if (r->m->proc_order.len && !nsc_lacks_results(r->m) && more)
        nsc_printf(r->out, "nccl-tests lists %s: some have no NCCL line here\n", all);
    bool alone = listed.processes && !listed.ranks && r->m->tests.len;
    for (size_t i = 0; i < r->m->comms.len; i++)
        alone = alone && r->m->comms.item[i].nranks <= 1;
    if (alone)
        nsc_wrap(r, 3,
                 NSC_TEXT("nccl-tests lists only rank 0: one GPU sends no data to another, so its "
                          "bandwidths mean nothing"));
    struct nsc_map seen = {0};
    bool mixed = !alone && are_mixed(r->m);
    for (size_t i = 0; i < r->m->tests.len && !alone && !mixed;) {
        struct table x = table_from(r->m, i);
        i += x.count;
        if (!x.best || is_repeated(&seen, x.best) ||
            nsc_bus_bandwidth(x.best) < 0.005) /* too small to be printed: tables that broke off at a few bytes */
            continue;
        if (++told <= SHOWN || r->flags & NCCLSCOPE_REPORT_VERBOSE)
            one_table(r, &x);
    }
    nsc_map_free(&seen);
    averages_alone(r, mixed);
    bool told_as_hang = nsc_explained_by(r->f, "HUNG_NO_RESULT") != NULL;
    if (nsc_lacks_results(r->m) && !told_as_hang) {
        char line[240];
        snprintf(line, sizeof line, "nccl-tests lists %s%s", more ? all : "its ranks",
                 nsc_tests_failed(r->m) ? ", and reports a failure instead of results"
                                        : " and prints no result: this input is cut there, or the test failed or hung");
        nsc_wrap(r, 3, nsc_text_of(line));
    }
    if (told > SHOWN && !(r->flags & NCCLSCOPE_REPORT_VERBOSE))
        nsc_printf(r->out, "and %zu more tables of nccl-tests (-v lists them)\n", told - SHOWN);
}
