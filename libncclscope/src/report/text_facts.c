/* text_facts.c - what a machine offers, for a person: the answer, the machine, the matrix as nvidia-smi prints it, what is wrong. */
#include "base/neutral.h"
#include "probe/facts.h"
#include "probe/measured.h"
#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the answer ---- */

/* "every pair on 18 NVLinks", "pairs on NV18, SYS": what the matrix holds. */
static void say_pairs(const struct ncclscope_facts *x, char *buf, size_t size)
{
    const char *seen[16];
    size_t kinds = 0, n = 0;
    for (size_t i = 0; i < x->pairs.len; i++) {
        const char *path = x->pairs.item[i].path;
        size_t k = 0;
        while (k < kinds && path && strcmp(seen[k], path) != 0)
            k++;
        if (path && k == kinds && kinds < 16)
            seen[kinds++] = path;
    }
    buf[0] = 0;
    if (kinds == 1 && !strncmp(seen[0], "NV", 2))
        snprintf(buf, size, ", every pair on %s NVLinks", seen[0] + 2);
    for (size_t k = 0; k < kinds && kinds > 1 && n < size; k++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s", k ? ", " : ", pairs on ", seen[k]);
    if (kinds == 1 && strncmp(seen[0], "NV", 2) != 0)
        snprintf(buf, size, ", every pair on %s (PCIe)", seen[0]);
}

static void answer(const struct nsc_report *r, const struct ncclscope_facts *x)
{
    char line[500], pairs[200];
    const struct nsc_finding *f = NULL; /* the worst stands first */
    for (size_t i = 0; i < r->f->list.len && !f; i++)
        if (!strncmp(r->f->list.item[i].rule->id, r->about, strlen(r->about)))
            f = &r->f->list.item[i];
    if (f && f->severity >= NCCLSCOPE_SEVERITY_WARNING) {
        nsc_mark(r, NSC_MARK_BAD);
        snprintf(line, sizeof line, "%s.", f->title);
    } else if (x->skipped.len) {
        nsc_mark(r, NSC_MARK_UNKNOWN);
        snprintf(line, sizeof line, "Not everything could be queried (%s): %s.", x->skipped.item[0].probe,
                 x->skipped.item[0].reason);
    } else {
        say_pairs(x, pairs, sizeof pairs);
        nsc_mark(r, NSC_MARK_OK);
        snprintf(line, sizeof line, "%zu GPU%s%s; the driver reports nothing wrong%s.", x->gpus.len,
                 x->gpus.len == 1 ? "" : "s", pairs,
                 x->measured.len ? ", and all data measured arrived as it was sent" : "");
    }
    nsc_wrap(r, 3, nsc_text_of(line));
}

/* ---- the machine ---- */

enum { GIB = 1024 * 1024 * 1024, MEBIBYTE = 1024 * 1024 };

static void node(const struct nsc_report *r, const struct nsc_fact_node *n)
{
    char line[800];
    size_t len = 0;
    line[0] = 0;
    len = nsc_append(line, sizeof line, len, "%s", n->host_name ? n->host_name : "this machine");
    if (n->system)
        len = nsc_append(line, sizeof line, len, ", %s", n->system);
    if (n->virtual_machine.known && n->virtual_machine.v)
        len = nsc_append(line, sizeof line, len, ", a virtual machine");
    if (n->container)
        len = nsc_append(line, sizeof line, len, ", in a container (%s)", n->container);
    if (n->driver)
        len = nsc_append(line, sizeof line, len, "; driver %s", n->driver);
    if (n->cuda_driver.known)
        len = nsc_append(line, sizeof line, len, ", CUDA %lld.%lld", (long long)n->cuda_driver.v / 1000,
                         (long long)n->cuda_driver.v % 1000 / 10);
    nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
    len = nsc_append(line, sizeof line, 0, "/dev/shm ");
    len = n->shm_bytes.known ? nsc_append(line, sizeof line, len, "%.1f GiB", (double)n->shm_bytes.v / GIB)
                             : nsc_append(line, sizeof line, len, "not known");
    if (n->memlock_bytes.known)
        len = n->memlock_bytes.v < 0 ? nsc_append(line, sizeof line, len, ", no limit of locked memory")
                                     : nsc_append(line, sizeof line, len, ", at most %lld KiB of locked memory",
                                                  (long long)n->memlock_bytes.v / 1024);
    if (n->peermem.known)
        len = nsc_append(line, sizeof line, len, ", nvidia_peermem %s", n->peermem.v ? "loaded" : "not loaded");
    if (n->iommu.known)
        len = nsc_append(line, sizeof line, len, ", %s IOMMU", n->iommu.v ? "an" : "no");
    nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
}

/* Everything of one GPU but its number, so that GPUs alike are told once. */
static void describe(const struct nsc_fact_gpu *g, char *buf, size_t size)
{
    size_t n = nsc_append(buf, size, 0, "%s", g->name ? g->name : "a GPU that NVML could not be asked about");
    if (g->cc_major.known && g->cc_minor.known)
        n = nsc_append(buf, size, n, ", compute capability %lld.%lld", (long long)g->cc_major.v,
                       (long long)g->cc_minor.v);
    if (g->memory_bytes.known)
        n = nsc_append(buf, size, n, ", %.0f GiB", (double)g->memory_bytes.v / GIB);
    if (g->pcie_gen_max.known && g->pcie_width.known)
        n = nsc_append(buf, size, n, ", PCIe gen %lld x%lld", (long long)g->pcie_gen_max.v, (long long)g->pcie_width.v);
    if (g->nvlinks_max.known && g->nvlinks_max.v)
        n = nsc_append(buf, size, n, ", %lld of %lld NVLinks up", (long long)g->nvlinks_up.v,
                       (long long)g->nvlinks_max.v);
    if (g->nvlink_mb_s.known && g->nvlinks_up.v)
        n = nsc_append(buf, size, n, " (%.1f GB/s each%s%s)", (double)g->nvlink_mb_s.v / 1000,
                       g->nvlink_remote ? ", other end: " : "", g->nvlink_remote ? g->nvlink_remote : "");
    if (g->fabric_state && strcmp(g->fabric_state, "not-supported") != 0)
        n = nsc_append(buf, size, n, ", fabric %s", g->fabric_state);
    if (g->mig.known && g->mig.v)
        n = nsc_append(buf, size, n, ", MIG on");
    if (!g->cuda_index.known)
        n = nsc_append(buf, size, n, ", not visible to CUDA here");
}

static void gpus(const struct nsc_report *r, const struct ncclscope_facts *x)
{
    char own[600], next[600], line[700];
    for (size_t i = 0; i < x->gpus.len;) {
        size_t last = i;
        describe(&x->gpus.item[i], own, sizeof own);
        for (; last + 1 < x->gpus.len; last++) {
            describe(&x->gpus.item[last + 1], next, sizeof next);
            if (strcmp(own, next) != 0)
                break;
        }
        if (last > i)
            snprintf(line, sizeof line, "GPU %lld-%lld: %s", (long long)x->gpus.item[i].index.v,
                     (long long)x->gpus.item[last].index.v, own);
        else
            snprintf(line, sizeof line, "GPU %lld: %s", (long long)x->gpus.item[i].index.v, own);
        nsc_indent(r, 3);
        nsc_wrap(r, 3, nsc_text_of(line));
        i = last + 1;
    }
}

static void nics(const struct nsc_report *r, const struct ncclscope_facts *x)
{
    char line[800];
    for (size_t i = 0; i < x->nics.len; i++) {
        const struct nsc_fact_nic *nic = &x->nics.item[i];
        size_t n = nsc_append(line, sizeof line, 0, "%s: %s", nic->name ? nic->name : "a network device",
                              nic->kind ? nic->kind : "");
        if (nic->mb_s.known)
            n = nsc_append(line, sizeof line, n, ", %.1f GB/s", (double)nic->mb_s.v / 1000);
        if (nic->state)
            n = nsc_append(line, sizeof line, n, ", %s", nic->state);
        if (nic->near)
            n = nsc_append(line, sizeof line, n, "; GPUs by nearness: %s", nic->near);
        nsc_indent(r, 3);
        nsc_wrap(r, 3, nsc_text_of(line));
    }
}

/* ---- the matrix ---- */

static void matrix(const struct nsc_report *r, const struct ncclscope_facts *x)
{
    nsc_puts(r->out, "\n\t");
    for (size_t i = 0; i < x->gpus.len; i++)
        nsc_printf(r->out, "GPU%lld\t", (long long)x->gpus.item[i].index.v);
    nsc_puts(r->out, "CPU Affinity\tNUMA Affinity\tGPU NUMA ID\n");
    for (size_t i = 0; i < x->gpus.len; i++) {
        const struct nsc_fact_gpu *g = &x->gpus.item[i];
        nsc_printf(r->out, "GPU%lld\t", (long long)g->index.v);
        for (size_t k = 0; k < x->gpus.len; k++) {
            const struct nsc_fact_pair *p = k == i ? NULL : nsc_pair_at(x, g->index.v, x->gpus.item[k].index.v);
            nsc_safe(r, k == i ? NSC_TEXT(" X ") : p && p->path ? nsc_text_of(p->path) : NSC_TEXT("?"));
            nsc_puts(r->out, "\t");
        }
        nsc_safe(r, nsc_text_of(g->cpu_affinity ? g->cpu_affinity : "N/A"));
        nsc_puts(r->out, "\t");
        nsc_safe(r, nsc_text_of(g->numa_affinity ? g->numa_affinity : "N/A"));
        if (g->numa_id.known)
            nsc_printf(r->out, "\t\t%lld\n", (long long)g->numa_id.v);
        else
            nsc_puts(r->out, "\t\tN/A\n");
    }
}

/* ---- what was measured ---- */

static int64_t figure_of(const struct nsc_fact_measured *x)
{
    return x->ns.known ? x->ns.v : x->mb_s.v;
}

/* GB/s with one digit, nanoseconds without. */
static void say_figure(char *buf, size_t size, bool ns, int64_t v)
{
    if (ns)
        snprintf(buf, size, "%lld", (long long)v);
    else
        nsc_format(buf, size, "%.1f", (double)v / 1000);
}

static int by_figure(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool is_alike(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* The figures of one method over one kind of path: how many, the least, the middle one, the most. */
static void spread(const struct nsc_report *r, const struct ncclscope_facts *x, const struct nsc_way_to_measure *m,
                   const char *path)
{
    const struct nsc_expected_rate *e = NULL;
    bool ns = false;
    size_t n = 0;
    int64_t *all = nsc_alloc((x->measured.len + 1) * sizeof *all);
    for (size_t i = 0; all && i < x->measured.len; i++) {
        const struct nsc_fact_measured *o = &x->measured.item[i];
        if (strcmp(o->method, m->name) != 0 || !is_alike(nsc_pair_path(x, o->from.v, o->to.v), path))
            continue;
        all[n++] = figure_of(o);
        ns = o->ns.known;
        e = e ? e : nsc_expected_rate_of(x, o);
    }
    if (n) {
        char least[32], middle[32], most[32], from[32], to[32];
        qsort(all, n, sizeof *all, by_figure);
        say_figure(least, sizeof least, ns, all[0]);
        say_figure(middle, sizeof middle, ns, all[n / 2]);
        say_figure(most, sizeof most, ns, all[n - 1]);
        nsc_printf(r->out, "   %-25s %7s %7s %7s", m->words, least, middle, most);
        if (e) {
            say_figure(from, sizeof from, ns, e->least);
            say_figure(to, sizeof to, ns, e->most);
            int64_t near = all[n / 2] < e->least ? e->least : all[n / 2] > e->most ? e->most : all[n / 2];
            nsc_printf(r->out, "   %s-%s (%.0f %%)", from, to, 100.0 * (double)all[n / 2] / (double)near);
        } else {
            nsc_puts(r->out, "   no figure with a source");
        }
        nsc_puts(r->out, ns ? ", ns\n" : "\n");
    }
    nsc_free(all);
}

static void measured_matrix(const struct nsc_report *r, const struct ncclscope_facts *x,
                            const struct nsc_way_to_measure *m)
{
    char text[32];
    bool any = false;
    for (size_t i = 0; i < x->measured.len; i++)
        any = any || !strcmp(x->measured.item[i].method, m->name);
    if (!any)
        return;
    nsc_printf(r->out, "\n   %s: from (down), to (across)\n        ", m->words);
    for (size_t k = 0; k < x->gpus.len; k++)
        nsc_printf(r->out, " %7lld", (long long)x->gpus.item[k].index.v);
    nsc_puts(r->out, "\n");
    for (size_t i = 0; i < x->gpus.len; i++) {
        nsc_printf(r->out, "   %5lld", (long long)x->gpus.item[i].index.v);
        for (size_t k = 0; k < x->gpus.len; k++) {
            const struct nsc_fact_measured *o =
                nsc_measured_at(x, x->gpus.item[i].index.v, x->gpus.item[k].index.v, m->name);
            if (o)
                say_figure(text, sizeof text, o->ns.known, figure_of(o));
            nsc_printf(r->out, " %7s", o ? text : "-");
        }
        nsc_puts(r->out, "\n");
    }
}

/* For each kind of path: a line for each method. With -v also who has which. */
static void measured(const struct nsc_report *r, const struct ncclscope_facts *x)
{
    for (size_t i = 0; i < x->measured.len; i++) {
        const struct nsc_fact_measured *o = &x->measured.item[i];
        const char *path = nsc_pair_path(x, o->from.v, o->to.v);
        bool told = false;
        for (size_t k = 0; k < i && !told; k++)
            told = is_alike(path, nsc_pair_path(x, x->measured.item[k].from.v, x->measured.item[k].to.v));
        if (told)
            continue;
        nsc_puts(r->out, "\n   Over ");
        nsc_safe(r, nsc_text_of(path ? path : "a path that is not known"));
        nsc_puts(r->out, ", GB/s one way:        least  middle    most   expected\n");
        for (const struct nsc_way_to_measure *m = nsc_ways_to_measure; m->name; m++)
            spread(r, x, m, path);
    }
    for (const struct nsc_way_to_measure *m = nsc_ways_to_measure; r->flags & NCCLSCOPE_REPORT_VERBOSE && m->name; m++)
        measured_matrix(r, x, m);
}

/* ---- NCCL itself ---- */

static const struct nsc_fact_collective *same_in(const struct ncclscope_facts *x, const struct nsc_fact_collective *of,
                                                 const char *arm)
{
    for (size_t i = 0; i < x->collectives.len; i++) {
        const struct nsc_fact_collective *o = &x->collectives.item[i];
        if (!strcmp(o->arm, arm) && !strcmp(o->operation, of->operation) && o->bytes.v == of->bytes.v)
            return o;
    }
    return NULL;
}

/* A run: its path, then a line for each operation and size, beside the first run. */
static void own_run(const struct nsc_report *r, const struct ncclscope_facts *x, size_t first)
{
    const struct nsc_fact_collective *head = &x->collectives.item[first], *base = &x->collectives.item[0];
    char line[500];
    snprintf(line, sizeof line, "NCCL %s on %lld GPUs, %s: %s%s%s", head->version ? head->version : "?",
             (long long)head->ranks.v, head->arm, head->via ? head->via : "no connection seen", head->path ? ", " : "",
             head->path ? head->path : "");
    nsc_puts(r->out, "\n");
    nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
    nsc_puts(r->out, "   operation       size          time   bus bandwidth\n");
    for (size_t i = first; i < x->collectives.len; i++) {
        const struct nsc_fact_collective *o = &x->collectives.item[i];
        const struct nsc_fact_collective *other = strcmp(o->arm, base->arm) != 0 ? same_in(x, o, base->arm) : NULL;
        if (strcmp(o->arm, head->arm) != 0)
            continue;
        size_t n = nsc_append(line, sizeof line, 0, "   %-12.40s %4lld MiB %10lld us %10.1f GB/s", o->operation,
                              (long long)o->bytes.v / MEBIBYTE, (long long)o->us.v, (double)o->mb_s.v / 1000);
        if (other && other->us.v && o->us.v)
            n = nsc_append(line, sizeof line, n, "   %.2fx the time of %.80s", (double)o->us.v / (double)other->us.v,
                           base->arm);
        nsc_append(line, sizeof line, n, o->wrong_words.v ? "   WRONG DATA\n" : "\n");
        nsc_safe_line(r, line);
    }
}

static void own_runs(const struct nsc_report *r, const struct ncclscope_facts *x)
{
    for (size_t i = 0; i < x->collectives.len; i++)
        if (!i || strcmp(x->collectives.item[i].arm, x->collectives.item[i - 1].arm) != 0)
            own_run(r, x, i);
}

static void unprobed(const struct nsc_report *r, const struct ncclscope_facts *x)
{
    char line[600];
    for (size_t i = 0; i < x->skipped.len; i++) {
        nsc_mark(r, NSC_MARK_UNKNOWN);
        snprintf(line, sizeof line, "not asked: %s: %s", x->skipped.item[i].probe, x->skipped.item[i].reason);
        nsc_wrap(r, 3, nsc_text_of(line));
    }
}

void nsc_facts_text(const struct nsc_report *r)
{
    const struct ncclscope_facts *x = r->m->facts;
    answer(r, x);
    if (r->flags & NCCLSCOPE_REPORT_VERDICT)
        return;
    nsc_puts(r->out, "\n");
    node(r, &x->node);
    gpus(r, x);
    nics(r, x);
    matrix(r, x);
    measured(r, x);
    own_runs(r, x);
    if (x->skipped.len)
        nsc_puts(r->out, "\n");
    unprobed(r, x);
    nsc_text_findings(r);
}
