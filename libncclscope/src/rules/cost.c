/* cost.c - what a slower path costs, by measured figures: on these GPUs if somebody measured them, else on others, and said so. */
#include "rules/rules.h"

static const char *what_cost_leaves_open(struct nsc_case *c, const struct nsc_gpu *gpu, bool own, bool pcie)
{
    if (!gpu)
        return pcie ? "This log names no GPU model; without NVLink it is about 2x (A40, NVIDIA/nccl-tests#74, 2021-03)."
                    : "This log names no GPU model.";
    if (own)
        return NULL;
    if (!gpu->links)
        return nsc_words(c, "No figure for this path between %s with a source is known.", gpu->name);
    return nsc_words(c,
                     "No figure for this path between %s with a source is known; their NVLinks carry %g GB/s one way, "
                     "nominal (%s).",
                     gpu->name, gpu->gb_s, gpu->source);
}

static void set_cost(struct nsc_case *c, struct nsc_finding *f, enum nsc_path_cost slow, enum nsc_path_cost fast,
                     uint32_t proc, bool maybe_pcie)
{
    static const char *const methods[] = {"bus bandwidth", "copies by copy engine", "copies by kernels"};
    const struct nsc_carried *row[2];
    struct nsc_gpu_class k = nsc_gpu_of(c->m, proc);
    bool own = k.gpu && nsc_compare_paths(k.gpu, slow, fast, row);
    if (!own && !nsc_compare_paths(NULL, slow, fast, row)) {
        f->cost = f->cost_note = "No figure with a source is known for this.";
        return;
    }
    double factor = row[1]->gb_s / row[0]->gb_s;
    f->cost_note = proc == NSC_NONE ? NULL : what_cost_leaves_open(c, k.gpu, own, maybe_pcie && slow == NSC_COST_SHM);
    f->cost = nsc_words(c, "%.*fx on %s (%g against %g GB/s, %s); %s%s%s",
                        factor < 2    ? 2
                        : factor < 10 ? 1
                                      : 0,
                        factor, row[0]->machine, row[0]->gb_s, row[1]->gb_s, methods[row[0]->method], row[0]->source,
                        f->cost_note ? ". " : "", f->cost_note ? f->cost_note : "");
}

void nsc_set_cost(struct nsc_case *c, struct nsc_finding *f, enum nsc_path_cost slow, enum nsc_path_cost fast,
                  uint32_t proc)
{
    set_cost(c, f, slow, fast, proc, true);
}

/* GPUs that a line says to have no NVLink between them, of whatever model. */
static const struct nsc_gpu without_nvlink = {.name = "GPUs without NVLink"};

void nsc_set_cost_of_level(struct nsc_case *c, struct nsc_finding *f, enum nsc_path_cost slow, enum nsc_path_cost fast,
                           uint32_t proc, enum nsc_level level)
{
    bool amd = proc != NSC_NONE && c->m->procs.item[proc].rccl, chip = level == NSC_LEVEL_C2C || level == NSC_LEVEL_P2C;
    const struct nsc_carried *row[2];
    if (amd || chip) {
        f->cost = f->cost_note = amd ? "No figure with a source is known for AMD GPUs."
                                     : "No figure with a source is known for GPUs joined through the CPU (C2C).";
    } else if (level == NSC_LEVEL_SYS) {
        f->cost = f->cost_note = "No figure with a source is known across sockets, where P2P is not always the faster.";
    } else if (level <= NSC_LEVEL_NVB || level == NSC_LEVEL_UNKNOWN) {
        set_cost(c, f, slow, fast, proc, level == NSC_LEVEL_UNKNOWN);
    } else if (nsc_compare_paths(&without_nvlink, slow, fast, row)) {
        f->cost = nsc_words(c, "%.1fx on %s (%g against %g GB/s, copies by copy engine); %s",
                            row[1]->gb_s / row[0]->gb_s, row[0]->machine, row[0]->gb_s, row[1]->gb_s, row[0]->source);
    } else {
        f->cost = f->cost_note = "No figure with a source is known for GPUs without NVLink.";
    }
}
