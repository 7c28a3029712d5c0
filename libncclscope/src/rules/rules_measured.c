/* rules_measured.c - what is odd of what nccl-tests measured, by its table alone. */
#include "model/fast.h"
#include "rules/ask.h"
#include "rules/questions.h"

enum { LINES_APART = 8 }; /* other lines may stand between rows; where hundreds do, each row is of a run of its own */

/* Rows of one table follow each other: one collective, sizes that grow. */
static bool goes_on(const struct nsc_test *a, const struct nsc_test *b)
{
    return a->where.source == b->where.source && a->collective == b->collective && a->type == b->type &&
           b->bytes > a->bytes && b->where.line - a->where.line <= LINES_APART;
}

/* Where the table ends that begins at row i: one behind its last. */
static size_t end_of_table(const struct ncclscope_model *m, size_t i)
{
    size_t end = i + 1;
    while (end < m->tests.len && goes_on(&m->tests.item[end - 1], &m->tests.item[end]))
        end++;
    return end;
}

/* So many times longer than the next larger size; a single slow row may be chance ... */
static const double step_told = 2.0;
/* ... and is worth a note where it is so slow twice, out of place and in place. */
static const double peak_told = 3.0;

static bool is_peak(const struct nsc_test *b, const struct nsc_test *c)
{
    bool slow = b->sides == 2 && c->sides == 2;
    for (int i = 0; slow && i < 2; i++)
        slow = c->time_us[i] > 0 && b->time_us[i] >= peak_told * c->time_us[i];
    return slow;
}

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

enum { LARGE = 16 << 20 };           /* bytes: here starting costs nothing */
static const double fall_told = 0.7; /* of the best: tables that end well keep within some percent of it */
enum { FALL_ROWS = 3 };              /* so many in a row are no chance */

/* Where the bandwidth of a table falls at large sizes, and stays low to its end: the first such row; NULL: it does not. */
static const struct nsc_test *falls(const struct nsc_test *first, size_t n, const struct nsc_test **best, double *most)
{
    size_t low = 0;
    *best = first;
    *most = 0;
    for (size_t i = 0; i < n; i++)
        *best = nsc_bus_bandwidth(&first[i]) > nsc_bus_bandwidth(*best) ? &first[i] : *best;
    while (low < n && nsc_bus_bandwidth(&first[n - 1 - low]) < fall_told * nsc_bus_bandwidth(*best)) {
        *most = nsc_bus_bandwidth(&first[n - 1 - low]) > *most ? nsc_bus_bandwidth(&first[n - 1 - low]) : *most;
        low++;
    }
    const struct nsc_test *at = &first[n - low];
    return (*best)->bytes >= LARGE && low >= FALL_ROWS && at > *best ? at : NULL;
}

/* All tables: each is one piece. */
static void tell_falls(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0, end; i < m->tests.len; i = end) {
        end = end_of_table(m, i);
        double most;
        const struct nsc_test *best, *at = falls(&m->tests.item[i], end - i, &best, &most);
        if (!at)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "unknown",
                          "likely"); /* once measured: chance is not excluded */
            f->title = nsc_words(c,
                                 "nccl-tests: from %llu bytes on the bus bandwidth is at most %.2f GB/s, after %.2f at "
                                 "%llu bytes",
                                 (unsigned long long)at->bytes, most, nsc_bus_bandwidth(best),
                                 (unsigned long long)best->bytes);
            nsc_explain_by(c, f, NSC_MEASURED_FALL);
        }
        f->count++;
        nsc_show(c, f, &best->where);
        nsc_show(c, f, &at->where);
    }
}

static const double unsteady_told = 3.0;        /* times as long in one column as in the other */
static const double part_unsteady = 0.1;        /* of the rows: one of ten and more is no chance ... */
enum { UNSTEADY_ROWS = 3, UNSTEADY_SHOWN = 2 }; /* ... where it is so many */

/* How many times as long the slower of the two took; 0: not known. */
static double apart(const struct nsc_test *t)
{
    double a = t->time_us[0], b = t->time_us[1];
    return !t->bytes || t->sides != 2 || a <= 0 || b <= 0 ? 0 : a < b ? b / a : a / b;
}

/* One size is measured twice, out of place and in place: of how many of a table do the two differ so much that no choice by size explains
 * it? 0: too few. */
static size_t unsteady_rows(const struct nsc_test *first, size_t rows, const struct nsc_test **worst)
{
    size_t n = 0, in_place = 0; /* of them slower in place */
    for (const struct nsc_test *t = first; t < first + rows; t++) {
        bool far = apart(t) >= unsteady_told;
        *worst = apart(t) > apart(*worst) ? t : *worst;
        n += far;
        in_place += far && t->time_us[1] > t->time_us[0];
    }
    bool both =
        in_place && in_place < n; /* else one of the two is another thing: in place a single rank does nothing */
    return both && n >= UNSTEADY_ROWS && (double)n >= part_unsteady * (double)rows ? n : 0;
}

/* nccl-tests' lists of ranks, "#  Rank  1 Group  0 Pid 3038985 on node0 device  0 [0000:02:00] ...", in the order of the input. */
struct lists {
    const struct ncclscope_model *m;
    size_t next;                        /* record that was not looked at yet */
    const struct nsc_own_record *last;  /* line of a list that was looked at last */
    const struct nsc_own_record *twice; /* of its list a rank on the GPU of the one before it; NULL: none is */
};

static bool is_on_same_gpu(const struct ncclscope_model *m, const struct nsc_own_record *a,
                           const struct nsc_own_record *b)
{
    nsc_text gpu = nsc_said(m, b, "bus_id");
    return gpu.len && nsc_text_eq(gpu, nsc_said(m, a, "bus_id")) &&
           nsc_text_eq(nsc_said(m, a, "name"), nsc_said(m, b, "name")) &&
           !nsc_text_eq(nsc_said(m, a, "rank"), nsc_said(m, b, "rank"));
}

/* Of the list that stands before this row, in its input: a rank that shares the GPU of another. Asked row by row, as they come. */
static const struct nsc_own_record *shares_before(struct lists *l, const struct nsc_where *row)
{
    enum { NEXT_LINE = 3 };
    const struct ncclscope_model *m = l->m;
    for (; l->next < m->happened.len; l->next++) {
        const struct nsc_own_record *r = &m->happened.item[l->next];
        if (r->where.source > row->source || (r->where.source == row->source && r->where.line > row->line))
            break;
        if (r->number != NCCLSCOPE_KIND_TEST_RANK)
            continue;
        bool goes_on =
            l->last && l->last->where.source == r->where.source && r->where.line <= l->last->where.line + NEXT_LINE;
        l->twice = goes_on ? l->twice : NULL;
        if (goes_on && is_on_same_gpu(m, l->last, r))
            l->twice = r;
        l->last = r;
    }
    return l->last && l->last->where.source == row->source ? l->twice : NULL;
}

static bool tell_unsteady(struct nsc_case *c, const struct nsc_test *first, size_t rows)
{
    const struct nsc_test *worst = first;
    size_t n = unsteady_rows(first, rows, &worst);
    if (!n)
        return false;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "unknown", "certain");
    f->count = n;
    f->title =
        nsc_words(c,
                  "nccl-tests' times are unsteady: %zu of %zu rows differ by %g times and more between out of "
                  "place and in place (%llu bytes: %.8g and %.8g us)",
                  n, rows, unsteady_told, (unsigned long long)worst->bytes, worst->time_us[0], worst->time_us[1]);
    nsc_explain_by(c, f, NSC_MEASURED_UNSTEADY);
    for (const struct nsc_test *t = first; t < first + rows && f->evidences < UNSTEADY_SHOWN; t++)
        if (apart(t) >= unsteady_told)
            nsc_show(c, f, &t->where);
    return true;
}

/* Tables of ranks that take turns on one GPU, all together. */
struct shared {
    size_t unsteady, tables;
    const struct nsc_test *worst;
    const struct nsc_own_record *twice;
};

static void tell_shared(struct nsc_case *c, const struct shared *s)
{
    if (!s->unsteady)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "unknown", "certain");
    f->count = s->unsteady;
    f->title = nsc_words(c,
                         "nccl-tests runs more than one rank on one GPU, and its times are unsteady: %zu rows of %zu "
                         "table%s differ by %g times and more between out of place and in place",
                         s->unsteady, s->tables, s->tables == 1 ? "" : "s", unsteady_told);
    nsc_explain_by(c, f, NSC_MEASURED_ON_ONE_GPU);
    f->confidence = "certain"; /* that it is so; not that it is the reason */
    nsc_show(c, f, &s->twice->where);
    nsc_show(c, f, &s->worst->where);
}

/* Sizes of one table that take longer than the next larger one. *told: where the finding of all tables stands, once there is one. */
static void tell_steps(struct nsc_case *c, const struct nsc_test *first, size_t rows, size_t *told)
{
    struct nsc_finding *f = *told < c->f->list.len ? &c->f->list.item[*told] : NULL;
    for (const struct nsc_test *t = first + 1; t < first + rows; t++) {
        const struct nsc_test *slow = t - 1;
        bool step = slow > first && is_step(slow - 1, slow, t); /* two below it */
        if (!step && !is_peak(slow, t))
            continue;
        if (!f || (step && f->severity == NCCLSCOPE_SEVERITY_NOTE)) {
            f = nsc_found(c, step ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_NOTE, "unknown", "certain");
            f->title = nsc_words(c,
                                 "nccl-tests: %llu bytes take %g us, but %llu bytes only %g; smaller messages are "
                                 "slower than larger ones",
                                 (unsigned long long)slow->bytes, slow->time_us[0], (unsigned long long)t->bytes,
                                 t->time_us[0]);
            nsc_explain_by(c, f, NSC_MEASURED_STEP);
            *told = c->f->list.len - 1;
        }
        f->count++;
        nsc_show(c, f, &slow->where);
        nsc_show(c, f, &t->where);
    }
}

void nsc_rule_slow_sizes(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    size_t told = SIZE_MAX;
    struct lists lists = {.m = m};
    struct shared shared = {.worst = m->tests.item};
    tell_falls(c);
    for (size_t i = 0, end; i < m->tests.len; i = end) {
        const struct nsc_test *first = &m->tests.item[i];
        const struct nsc_own_record *twice = shares_before(&lists, &first->where);
        end = end_of_table(m, i);
        if (twice) { /* what comes and goes there is no choice of NCCL's */
            shared.twice = twice;
            shared.tables++;
            shared.unsteady += unsteady_rows(first, end - i, &shared.worst);
        } else if (!tell_unsteady(c, first, end - i)) { /* there one slow row says nothing of its size */
            tell_steps(c, first, end - i, &told);
        }
    }
    tell_shared(c, &shared);
}

static const double host_memory_gb_s = 2; /* a ninth of what is known of it: rules.def */

/* Do all pairs of one machine talk through its memory? The first such connection; NULL: no, or that is not known. */
static const struct nsc_link *only_host_memory(const struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->links.len; i++)
        if (m->links.item[i].family != NSC_SHM)
            return NULL;
    return m->links.len && nsc_ask_one_host(&(struct nsc_ask){.c = c, .m = m}) == NSC_YES ? &m->links.item[0] : NULL;
}

/* The best row of large messages; NULL: there is none. */
static const struct nsc_test *best_large(const struct ncclscope_model *m)
{
    const struct nsc_test *best = NULL;
    for (size_t i = 0; i < m->tests.len; i++) {
        const struct nsc_test *t = &m->tests.item[i];
        if (t->bytes >= LARGE && t->sides && (!best || nsc_bus_bandwidth(t) > nsc_bus_bandwidth(best)))
            best = t;
    }
    return best;
}

void nsc_rule_slow_host_memory(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_test *best = best_large(m);
    const struct nsc_link *l = best && nsc_bus_bandwidth(best) < host_memory_gb_s ? only_host_memory(c) : NULL;
    if (!l)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "unknown", "certain");
    f->title = nsc_words(c,
                         "nccl-tests reaches %.2f GB/s of bus bandwidth through host memory at 16 MiB and more: far "
                         "less than host memory carries",
                         nsc_bus_bandwidth(best));
    nsc_explain_by(c, f, 0);
    nsc_show(c, f, &best->where);
    nsc_show(c, f, &l->where);
}

/* ---- between nodes ---- */

static const double rdma_gb_s = 0.8; /* two thirds of the slowest link in use: rules.def */

/* The first connection between nodes that goes over RDMA; NULL: there is none. */
static const struct nsc_link *rdma_link(const struct ncclscope_model *m)
{
    bool certain;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->family == NSC_NET && nsc_network_kind(nsc_say(m, l->network)) == NSC_NETWORK_RDMA &&
            nsc_crosses_nodes(m, l, &certain))
            return l;
    }
    return NULL;
}

static const double part_of_speed = 0.2; /* of what the device carries: rules.def */

/* Has each host one process, with one GPU? Then what nccl-tests reaches is what the network device of one rank carries. */
static bool has_one_gpu_each(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->proc_order.len; i++) {
        uint64_t gpus = m->procs.item[m->proc_order.item[i]].devices;
        if (gpus & (gpus - 1))
            return false;
    }
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].nranks > 1 && m->ranks.item[i].local_ranks != 1)
            return false;
    return m->ranks.len && m->hosts.len > 1 && m->proc_order.len == m->hosts.len;
}

/* The process whose slowest device is the slowest of all that NCCL lists; NULL: none says how fast one is. */
static const struct nsc_proc *slowest_nic(const struct ncclscope_model *m)
{
    const struct nsc_proc *slowest = NULL;
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        if (p->nic_mbit && (!slowest || p->nic_mbit < slowest->nic_mbit))
            slowest = p;
    }
    return slowest;
}

/* What that carries one way, in GB/s, where ranks do not share it and the messages are large for each of them; else 0. */
static double nic_gb_s(const struct ncclscope_model *m, const struct nsc_test *best, const struct nsc_proc *slowest)
{
    bool large = best && best->bytes >= 2 * LARGE * (uint64_t)m->hosts.len;
    return slowest && large && has_one_gpu_each(m) ? (double)slowest->nic_mbit / 8000 : 0;
}

void nsc_rule_slow_rdma(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_test *best = best_large(m);
    const struct nsc_link *l = best ? rdma_link(m) : NULL;
    const struct nsc_proc *p = !l || l->proc == NSC_NONE ? NULL : &m->procs.item[l->proc];
    const struct nsc_proc *slowest = slowest_nic(m);
    double reached = best ? nsc_bus_bandwidth(best) : 0, device = nic_gb_s(m, best, slowest);
    if (!l || reached >= (rdma_gb_s > device * part_of_speed ? rdma_gb_s : device * part_of_speed))
        return;
    const struct nsc_where *core = p && p->one_core_at.line ? &p->one_core_at : NULL;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "unknown", "certain");
    f->title =
        device > 0
            ? nsc_words(c,
                        "nccl-tests reaches %.2f GB/s of bus bandwidth between nodes over RDMA at 16 MiB and more, and "
                        "the slowest network device carries %g GB/s by NCCL's own line",
                        reached, device)
            : nsc_words(c,
                        "nccl-tests reaches %.2f GB/s of bus bandwidth between nodes over RDMA at 16 MiB and more: "
                        "far less than such links carry",
                        reached);
    nsc_explain_by(c, f, core ? NSC_RDMA_ONE_CORE : NSC_RDMA_SLOW);
    nsc_show_first(c, f, device > 0 ? &slowest->nic_mbit_at : NULL);
    f->confidence = "certain"; /* that it is slow; of the cause its words say how sure it is */
    f->cause = nsc_words(c, "%s: %s", core ? "Likely" : "Perhaps", f->cause);
    nsc_show_first(c, f, core);
    nsc_show(c, f, &best->where);
    nsc_show(c, f, &l->where);
}
