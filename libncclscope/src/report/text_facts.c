/* text_facts.c - what a machine offers, for a person: the answer, the machine, the matrix as nvidia-smi prints it, what is wrong. */
#include "probe/facts.h"
#include "report/text.h"

#include <stdarg.h>
#include <stdio.h>

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
    const struct nsc_finding *f = r->f->list.len ? &r->f->list.item[0] : NULL; /* the worst stands first */
    if (f && f->severity >= NCCLSCOPE_WARNING) {
        nsc_mark(r, NSC_MARK_BAD);
        snprintf(line, sizeof line, "%s.", f->title);
    } else if (x->skipped.len) {
        nsc_mark(r, NSC_MARK_UNKNOWN);
        snprintf(line, sizeof line, "Not everything could be asked: %s: %s.", x->skipped.item[0].probe,
                 x->skipped.item[0].reason);
    } else {
        say_pairs(x, pairs, sizeof pairs);
        nsc_mark(r, NSC_MARK_OK);
        snprintf(line, sizeof line, "%zu GPU%s%s; the driver reports nothing wrong.", x->gpus.len,
                 x->gpus.len == 1 ? "" : "s", pairs);
    }
    nsc_wrap(r, 3, nsc_text_of(line));
}

/* ---- the machine ---- */

static size_t add(char *buf, size_t size, size_t n, const char *format, ...) __attribute__((format(printf, 4, 5)));
static size_t add(char *buf, size_t size, size_t n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = n < size ? vsnprintf(buf + n, size - n, format, args) : 0;
    va_end(args);
    return more > 0 ? n + (size_t)more : n;
}

enum { GIB = 1024 * 1024 * 1024 };

static void node(const struct nsc_report *r, const struct nsc_node_facts *n)
{
    char line[800];
    size_t len = 0;
    line[0] = 0;
    len = add(line, sizeof line, len, "%s", n->host_name ? n->host_name : "this machine");
    if (n->system)
        len = add(line, sizeof line, len, ", %s", n->system);
    if (n->virtual_machine.known && n->virtual_machine.v)
        len = add(line, sizeof line, len, ", a virtual machine");
    if (n->container)
        len = add(line, sizeof line, len, ", in a container (%s)", n->container);
    if (n->driver)
        len = add(line, sizeof line, len, "; driver %s", n->driver);
    if (n->cuda_driver.known)
        len = add(line, sizeof line, len, ", CUDA %lld.%lld", (long long)n->cuda_driver.v / 1000,
                  (long long)n->cuda_driver.v % 1000 / 10);
    nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
    len = add(line, sizeof line, 0, "/dev/shm ");
    len = n->shm_bytes.known ? add(line, sizeof line, len, "%.1f GiB", (double)n->shm_bytes.v / GIB)
                             : add(line, sizeof line, len, "not known");
    if (n->memlock_bytes.known)
        len = n->memlock_bytes.v < 0 ? add(line, sizeof line, len, ", no limit of locked memory")
                                     : add(line, sizeof line, len, ", at most %lld KiB of locked memory",
                                           (long long)n->memlock_bytes.v / 1024);
    if (n->peermem.known)
        len = add(line, sizeof line, len, ", nvidia_peermem %s", n->peermem.v ? "loaded" : "not loaded");
    if (n->iommu.known)
        len = add(line, sizeof line, len, ", %s IOMMU", n->iommu.v ? "an" : "no");
    nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
}

/* Everything of one GPU but its number, so that GPUs alike are told once. */
static void describe(const struct nsc_gpu_facts *g, char *buf, size_t size)
{
    size_t n = add(buf, size, 0, "%s", g->name ? g->name : "a GPU that NVML could not be asked about");
    if (g->cc_major.known && g->cc_minor.known)
        n = add(buf, size, n, ", compute capability %lld.%lld", (long long)g->cc_major.v, (long long)g->cc_minor.v);
    if (g->memory_bytes.known)
        n = add(buf, size, n, ", %.0f GiB", (double)g->memory_bytes.v / GIB);
    if (g->pcie_gen_max.known && g->pcie_width.known)
        n = add(buf, size, n, ", PCIe gen %lld x%lld", (long long)g->pcie_gen_max.v, (long long)g->pcie_width.v);
    if (g->nvlinks_max.known && g->nvlinks_max.v)
        n = add(buf, size, n, ", %lld of %lld NVLinks up", (long long)g->nvlinks_up.v, (long long)g->nvlinks_max.v);
    if (g->nvlink_mb_s.known && g->nvlinks_up.v)
        n = add(buf, size, n, " (%.1f GB/s each%s%s)", (double)g->nvlink_mb_s.v / 1000,
                g->nvlink_remote ? ", other end: " : "", g->nvlink_remote ? g->nvlink_remote : "");
    if (g->fabric_state && strcmp(g->fabric_state, "not-supported") != 0)
        n = add(buf, size, n, ", fabric %s", g->fabric_state);
    if (g->mig.known && g->mig.v)
        n = add(buf, size, n, ", MIG on");
    if (!g->cuda_index.known)
        n = add(buf, size, n, ", not visible to CUDA here");
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
        const struct nsc_nic_facts *nic = &x->nics.item[i];
        size_t n =
            add(line, sizeof line, 0, "%s: %s", nic->name ? nic->name : "a network device", nic->kind ? nic->kind : "");
        if (nic->mb_s.known)
            n = add(line, sizeof line, n, ", %.1f GB/s", (double)nic->mb_s.v / 1000);
        if (nic->state)
            n = add(line, sizeof line, n, ", %s", nic->state);
        if (nic->near)
            n = add(line, sizeof line, n, "; GPUs by nearness: %s", nic->near);
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
        const struct nsc_gpu_facts *g = &x->gpus.item[i];
        nsc_printf(r->out, "GPU%lld\t", (long long)g->index.v);
        for (size_t k = 0; k < x->gpus.len; k++) {
            const struct nsc_pair_facts *p = k == i ? NULL : nsc_pair_at(x, g->index.v, x->gpus.item[k].index.v);
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
    if (x->skipped.len)
        nsc_puts(r->out, "\n");
    unprobed(r, x);
    nsc_text_findings(r);
}
