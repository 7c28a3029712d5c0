/* cost.c - what a slower path costs: measured figures of the very GPUs that the log names, else the order of magnitude where the log
 * proves what joins them, else nothing. */
#include "rules/rules.h"

enum nsc_method { NSC_METHOD_COLLECTIVE, NSC_METHOD_CE, NSC_METHOD_SM };

struct carried {
    int nvlink, links;
    enum nsc_path_cost path;
    enum nsc_method method;
    double gb_s;
    const char *machine, *source;
};

static const struct carried rows[] = {
#define LINK(nvlink, links, path, method, gb_s, machine, source) \
    {nvlink, links, NSC_COST_##path, NSC_METHOD_##method, gb_s, machine, source},
#include "links.def"
#undef LINK
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Two rows of links.def of one machine and method; `gpu` NULL: of any. False: nobody measured both. */
static bool compare_paths(const struct nsc_gpu *gpu, enum nsc_path_cost slow, enum nsc_path_cost fast,
                          const struct carried *out[2])
{
    for (size_t i = 0; i < ROWS; i++) {
        const struct carried *a = &rows[i];
        if (a->path != slow || (gpu && (a->nvlink != gpu->nvlink || a->links != gpu->links)))
            continue;
        for (size_t k = 0; k < ROWS; k++)
            if (rows[k].path == fast && rows[k].method == a->method && !strcmp(rows[k].machine, a->machine)) {
                out[0] = a;
                out[1] = &rows[k];
                return true;
            }
    }
    return false;
}

/* Figures of these GPUs; false if nobody measured both paths on them. */
static bool measured(struct nsc_case *c, struct nsc_finding *f, enum nsc_path_cost slow, enum nsc_path_cost fast,
                     uint32_t proc)
{
    static const char *const methods[] = {"bus bandwidth", "copies by copy engine", "copies by kernels"};
    const struct carried *row[2];
    struct nsc_gpu_class k = nsc_gpu_of(c->m, proc);
    bool named = k.how > NSC_GPU_BY_LINKS; /* by its links alone it is one of several models that are joined alike */
    if (!k.gpu || !compare_paths(k.gpu, slow, fast, row) || (named && !strstr(row[0]->machine, k.gpu->name)))
        return false;
    double factor = row[1]->gb_s / row[0]->gb_s;
    int digits = factor < 2 ? 2 : factor < 10 ? 1 : 0;
    f->cost = nsc_words(c, "%.*fx on %s (%g against %g GB/s, %s); %s", digits, factor, row[0]->machine, row[0]->gb_s,
                        row[1]->gb_s, methods[row[0]->method], row[0]->source);
    return true;
}

void nsc_set_cost(struct nsc_case *c, struct nsc_finding *f, enum nsc_path_cost slow, enum nsc_path_cost fast,
                  uint32_t proc)
{
    measured(c, f, slow, fast, proc);
}

void nsc_set_cost_of_level(struct nsc_case *c, struct nsc_finding *f, enum nsc_path_cost slow, enum nsc_path_cost fast,
                           uint32_t proc, enum nsc_level level)
{
    struct nsc_gpu_class k = nsc_gpu_of(c->m, proc);
    bool nvlink = level != NSC_LEVEL_LOC && level <= NSC_LEVEL_NVB,
         pcie = level == NSC_LEVEL_PIX || level == NSC_LEVEL_PXB || level == NSC_LEVEL_PHB;
    bool amd = proc != NSC_NONE && c->m->procs.item[proc].rccl;
    if (amd || level == NSC_LEVEL_SYS || (!pcie && measured(c, f, slow, fast, proc)))
        return;
    if (nvlink && k.gpu && k.gpu->links)
        f->cost = nsc_words(c,
                            "about 10x or more: the NVLinks of %s carry %g GB/s one way, nominal, host memory what "
                            "PCIe lets through; %s",
                            k.gpu->name, k.gpu->gb_s, k.gpu->source);
    else if (nvlink)
        f->cost = "about 10x or more: NVLink carries hundreds of GB/s, host memory what PCIe lets through";
    else if (pcie && slow == NSC_COST_SHM)
        f->cost = "about 2x at most: through host memory each byte crosses PCIe twice, not once";
}
