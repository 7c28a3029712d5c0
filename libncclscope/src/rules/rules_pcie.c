/* rules_pcie.c - GPUs whose way to the CPU is slower than that of others of their host, by NCCL's picture of the machine. */
#include "rules/ask.h"

#include <stdlib.h>

/* A slot of half the lanes, or of a generation before: PCI-SIG doubles the speed each time. */
static const double part_of_widest = 0.5;
/* Below that is what a virtual machine shows of a link whose width it does not know. */
static const double least_real_gb_s = 1.0;

/* The widest link first; by names then, so that the order of files does not matter. */
static int by_host(const void *a, const void *b, void *context)
{
    const struct ncclscope_model *m = ((const struct nsc_case *)context)->m;
    const struct nsc_gpu_node *x = *(const struct nsc_gpu_node *const *)a, *y = *(const struct nsc_gpu_node *const *)b;
    if (x->host != y->host)
        return nsc_compare(nsc_say(m, x->host), nsc_say(m, y->host));
    return x->to_cpu != y->to_cpu ? (x->to_cpu > y->to_cpu ? -1 : 1)
                                  : nsc_compare(nsc_say(m, x->bus_id), nsc_say(m, y->bus_id));
}

/* GPUs of one host, the widest link first: n of them, of which those from `narrow` on have half of the first's or less. */
static void tell_host(struct nsc_case *c, const struct nsc_gpu_node *const *gpus, size_t n, size_t narrow)
{
    enum { NAMED = 4 };
    const struct ncclscope_model *m = c->m;
    const struct nsc_gpu_node *widest = gpus[0], *least = gpus[n - 1];
    const char *names = "", *apart = gpus[narrow]->to_cpu > least->to_cpu ? " at most" : "";
    for (size_t i = narrow; i < n && i < narrow + NAMED; i++)
        names = nsc_words(c, "%s%s%s", names, i > narrow ? ", " : "", nsc_say(m, gpus[i]->bus_id).ptr);
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "unknown", "certain");
    f->count = n - narrow;
    f->title = nsc_words(c,
                         "%zu of %zu GPUs of %s (%s%s) %s%s %.1f GB/s to the CPU in NCCL's picture of the machine, "
                         "where the fastest has %.1f: a slower PCIe link",
                         n - narrow, n, nsc_say(m, widest->host).ptr, names, n - narrow > NAMED ? " ..." : "",
                         n - narrow == 1 ? "has" : "have", apart, gpus[narrow]->to_cpu, widest->to_cpu);
    nsc_explain_by(c, f, 0);
    nsc_name_host(c, f, widest->host);
    nsc_show(c, f, &gpus[narrow]->to_cpu_at);
    nsc_show(c, f, &widest->to_cpu_at);
}

void nsc_rule_pcie_link(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    size_t n = 0, end;
    const struct nsc_gpu_node **gpus = nsc_alloc((m->gpu_nodes.len + 1) * sizeof(struct nsc_gpu_node *));
    c->f->no_memory = c->f->no_memory || !gpus;
    for (size_t i = 0; gpus && i < m->gpu_nodes.len; i++)
        if (m->gpu_nodes.item[i].to_cpu >= least_real_gb_s)
            gpus[n++] = &m->gpu_nodes.item[i];
    if (n)
        qsort_r(gpus, n, sizeof *gpus, by_host, c);
    for (size_t i = 0; i < n; i = end) {
        size_t narrow = 0;
        for (end = i; end < n && gpus[end]->host == gpus[i]->host; end++)
            narrow = !narrow && gpus[end]->to_cpu <= part_of_widest * gpus[i]->to_cpu ? end - i : narrow;
        if (narrow)
            tell_host(c, gpus + i, end - i, narrow);
    }
    nsc_free(gpus);
}
