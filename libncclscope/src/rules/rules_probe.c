/* rules_probe.c - what a machine's own facts say is wrong with it, whatever any log says. */
#include "rules/ask.h"

#include "probe/facts.h"
#include "probe/measured.h"

#include <stdlib.h>

enum { MIB = 1024 * 1024, DOCKER_SHM = 64 * MIB };

static const char *gpu_name(struct nsc_case *c, const struct nsc_fact_gpu *g)
{
    return nsc_words(c, "GPU %lld (%s)", (long long)g->index.v, g->bus_id ? g->bus_id : "bus id not known");
}

/* ---- NVLink ---- */

/* The most links that are up on a GPU of this model. */
static int64_t most_links(const struct ncclscope_facts *x, const struct nsc_fact_gpu *g)
{
    int64_t most = 0;
    for (size_t i = 0; i < x->gpus.len; i++) {
        const struct nsc_fact_gpu *o = &x->gpus.item[i];
        if (g->name && o->name && !strcmp(g->name, o->name) && o->nvlinks_up.known && o->nvlinks_up.v > most)
            most = o->nvlinks_up.v;
    }
    return most;
}

static void tell_links(struct nsc_case *c, bool fewer)
{
    const struct ncclscope_facts *x = c->m->facts;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < x->gpus.len; i++) {
        const struct nsc_fact_gpu *g = &x->gpus.item[i];
        int64_t most = most_links(x, g);
        if (!g->nvlinks_up.known || !g->nvlinks_max.known || g->nvlinks_up.v >= g->nvlinks_max.v || !most ||
            (g->nvlinks_up.v < most) != fewer)
            continue;
        if (!f) {
            f = fewer ? nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "fault", "certain")
                      : nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "unknown", "possible");
            f->title = nsc_words(c, "%s has %lld of its %lld NVLinks up%s", gpu_name(c, g), (long long)g->nvlinks_up.v,
                                 (long long)g->nvlinks_max.v,
                                 fewer ? nsc_words(c, "; others of its model have %lld", (long long)most) : "");
            nsc_explain_by(c, f, fewer ? NSC_PROBE_FEWER_LINKS : NSC_PROBE_ALL_FEWER);
        }
        f->count++;
    }
}

/* Fewer than others of the same model is a fault. Where all are alike, it may be how they are bridged. */
void nsc_rule_nvlink_down(struct nsc_case *c)
{
    tell_links(c, true);
    tell_links(c, false);
}

void nsc_rule_fabric_not_ready(struct nsc_case *c)
{
    const struct ncclscope_facts *x = c->m->facts;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < x->gpus.len; i++) {
        const struct nsc_fact_gpu *g = &x->gpus.item[i];
        bool done = g->fabric_state && !strcmp(g->fabric_state, "completed");
        bool failed = done && g->fabric_status.known && g->fabric_status.v != 0;
        bool waits = g->fabric_state && !done && strcmp(g->fabric_state, "not-supported") != 0;
        if (!failed && !waits)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "fault", "certain");
            f->title = failed
                           ? nsc_words(c, "The NVLink fabric of %s was set up with an error (NVML %lld)",
                                       gpu_name(c, g), (long long)g->fabric_status.v)
                           : nsc_words(c, "The NVLink fabric of %s is not ready: %s", gpu_name(c, g), g->fabric_state);
            nsc_explain_by(c, f, 0);
        }
        f->count++;
    }
}

/* ---- P2P ---- */

/* What the status of a pair means, the worse of reading and writing: a word of `nvidia-smi topo -p2p`; NULL if nothing is refused. */
static const char *refusal(const struct nsc_fact_pair *p)
{
    if (nsc_is_refusal(p->p2p_read))
        return p->p2p_read;
    if (nsc_is_refusal(p->p2p_write))
        return p->p2p_write;
    return p->can_access.known && !p->can_access.v ? "CUDA" : NULL;
}

static const struct {
    const char *word;
    int severity;
    const char *cls, *confidence, *title;
    int reason;
} refusals[] = {
    {"GNS", NCCLSCOPE_SEVERITY_NOTE, "by-design", "certain", "these GPUs have no P2P (GNS)", NSC_PROBE_GNS},
    {"TNS", NCCLSCOPE_SEVERITY_NOTE, "by-design", "likely", "no P2P over this topology (TNS)", NSC_PROBE_TNS},
    {"CNS", NCCLSCOPE_SEVERITY_WARNING, "fault", "likely", "the chipset or the virtual machine allows no P2P (CNS)",
     NSC_PROBE_CNS},
    {"DR", NCCLSCOPE_SEVERITY_WARNING, "configuration", "certain", "P2P is disabled in the driver's settings",
     NSC_PROBE_DR},
    {"CUDA", NCCLSCOPE_SEVERITY_WARNING, "unknown", "likely", "CUDA says no to P2P, though NVML does not",
     NSC_PROBE_CUDA_NO},
    {NULL, NCCLSCOPE_SEVERITY_WARNING, "unknown", "likely", "the driver does not support P2P there", NSC_PROBE_NO_WORD},
};

void nsc_rule_probe_p2p(struct nsc_case *c)
{
    const struct ncclscope_facts *x = c->m->facts;
    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; k++) {
        struct nsc_finding *f = NULL;
        for (size_t i = 0; i < x->pairs.len; i++) {
            const struct nsc_fact_pair *p = &x->pairs.item[i];
            const char *word = refusal(p);
            size_t row = 0;
            while (word && refusals[row].word && strcmp(refusals[row].word, word) != 0)
                row++;
            if (!word || row != k)
                continue;
            const struct nsc_fact_gpu *g = nsc_gpu_at(x, p->from.v);
            bool mig = g && g->mig.known && g->mig.v;
            if (!f) {
                f = nsc_found(c, mig ? NCCLSCOPE_SEVERITY_NOTE : refusals[k].severity,
                              mig ? "by-design" : refusals[k].cls, refusals[k].confidence);
                nsc_explain_by(c, f, mig ? NSC_PROBE_MIG : refusals[k].reason);
            }
            nsc_name_pair(c, f, (uint64_t)p->from.v, (uint64_t)p->to.v);
            f->count++;
        }
        if (f)
            f->title =
                nsc_words(c, "%zu pair%s of GPUs: %s", f->pairs.len, f->pairs.len == 1 ? "" : "s", refusals[k].title);
    }
}

/* ---- PCIe, and what stands on it ---- */

void nsc_rule_pcie_degraded(struct nsc_case *c)
{
    const struct ncclscope_facts *x = c->m->facts;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < x->gpus.len; i++) {
        const struct nsc_fact_gpu *g = &x->gpus.item[i];
        if (!g->pcie_width.known || !g->pcie_width_max.known || g->pcie_width.v <= 0 ||
            g->pcie_width.v >= g->pcie_width_max.v)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
            f->title = nsc_words(c, "%s has %lld of %lld PCIe lanes", gpu_name(c, g), (long long)g->pcie_width.v,
                                 (long long)g->pcie_width_max.v);
            nsc_explain_by(c, f, 0);
        }
        f->count++;
    }
}

static bool has_rdma_nic(const struct ncclscope_facts *x)
{
    for (size_t i = 0; i < x->nics.len; i++)
        if (x->nics.item[i].kind && strcmp(x->nics.item[i].kind, "ethernet") != 0)
            return true;
    return false;
}

/* Is every pair on NVLink, so that nothing between PCI devices is in the way of P2P? */
static bool is_all_nvlink(const struct ncclscope_facts *x)
{
    for (size_t i = 0; i < x->pairs.len; i++)
        if (!x->pairs.item[i].nvlinks.known || !x->pairs.item[i].nvlinks.v)
            return false;
    return true;
}

/* In a virtual machine the IOMMU of the host does not show, and is needed there. */
void nsc_rule_probe_iommu(struct nsc_case *c)
{
    const struct nsc_fact_node *n = &c->m->facts->node;
    bool translates = n->iommu.known && n->iommu.v && !(n->iommu_mode && !strcmp(n->iommu_mode, "pt"));
    bool acs = n->acs_bridges.known && n->acs_bridges.v > 0, nvlink = is_all_nvlink(c->m->facts);
    bool virtual = n->virtual_machine.known && n->virtual_machine.v;
    if (virtual || (!translates && !acs) || (nvlink && !has_rdma_nic(c->m->facts)))
        return;
    struct nsc_finding *f =
        nsc_found(c, acs ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_NOTE, "fault", acs ? "likely" : "possible");
    f->title = acs ? nsc_words(c, "%lld PCI bridges redirect P2P through the CPU (ACS)", (long long)n->acs_bridges.v)
                   : "An IOMMU translates on this machine, which is no virtual one";
    nsc_explain_by(c, f, acs ? NSC_PROBE_ACS : NSC_PROBE_TRANSLATES);
    f->count++;
}

/* ---- what was measured ---- */

static const char *method_words(const struct nsc_fact_measured *x)
{
    const char *words = nsc_method_words(x->method);
    return words ? words : "by a method that is not known here";
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* What is usual of one method: for each kind of path. Looked up once for each. */
struct usual {
    const char *method, *path[16];
    int64_t mb_s[16];
    size_t paths;
};

/* Half of the figures of this method over this kind of path are above it; 0 if there are too few to say what is usual. */
static int64_t middle_of(struct nsc_case *c, const char *method, const char *path)
{
    enum { FEWEST = 4 };
    const struct ncclscope_facts *x = c->m->facts;
    int64_t *all = nsc_alloc(x->measured.len * sizeof *all), middle = 0;
    size_t n = 0;
    c->f->no_memory = c->f->no_memory || !all;
    for (size_t i = 0; all && i < x->measured.len; i++) {
        const struct nsc_fact_measured *o = &x->measured.item[i];
        const char *other = strcmp(o->method, method) ? NULL : nsc_pair_path(x, o->from.v, o->to.v);
        if (other && o->mb_s.known && !strcmp(path, other))
            all[n++] = o->mb_s.v;
    }
    if (n >= FEWEST) {
        qsort(all, n, sizeof *all, by_size);
        middle = all[n / 2];
    }
    nsc_free(all);
    return middle;
}

static int64_t usual(struct nsc_case *c, struct usual *u, const struct nsc_fact_measured *of)
{
    const char *path = nsc_pair_path(c->m->facts, of->from.v, of->to.v);
    size_t i = 0;
    while (i < u->paths && path && strcmp(u->path[i], path) != 0)
        i++;
    if (!path || i == sizeof u->path / sizeof u->path[0])
        return 0;
    if (i == u->paths) {
        u->path[u->paths] = path;
        u->mb_s[u->paths++] = middle_of(c, u->method, path);
    }
    return u->mb_s[i];
}

/* Does something else use one of the two? What the driver takes for itself is below this. */
static bool is_in_use(const struct ncclscope_facts *x, const struct nsc_fact_measured *of)
{
    const int64_t drivers_own = INT64_C(2) << 30;
    const struct nsc_fact_gpu *a = nsc_gpu_at(x, of->from.v), *b = nsc_gpu_at(x, of->to.v);
    return (a && a->memory_used_bytes.v > drivers_own) || (b && b->memory_used_bytes.v > drivers_own);
}

/* Below 0.85 of what is usual: measured values of healthy links lie within 2 % of each other (expected.def). Host memory is left out, as
 * where it lies differs from pair to pair; so are both ways at once, which the single ways tell already. */
void nsc_rule_slow_pair(struct nsc_case *c)
{
    static const char *const judged[] = {"ce-write", "ce-read", "sm-write", "sm-read"};
    const struct ncclscope_facts *x = c->m->facts;
    for (size_t k = 0; k < sizeof judged / sizeof judged[0]; k++) {
        struct nsc_finding *f = NULL;
        struct usual u = {.method = judged[k]};
        for (size_t i = 0; i < x->measured.len; i++) {
            const struct nsc_fact_measured *o = &x->measured.item[i];
            if (strcmp(o->method, judged[k]) != 0 || !o->mb_s.known)
                continue;
            const struct nsc_expected_rate *e = nsc_expected_rate_of(x, o);
            bool large = o->bytes.v >= 64 * MIB; /* as in expected.def; of small ones starting them is a part */
            int64_t peers = usual(c, &u, o), least = e && large ? e->least : 0, best = peers > least ? peers : least;
            if ((double)o->mb_s.v >= 0.85 * (double)best)
                continue;
            if (!f) {
                bool busy = is_in_use(x, o);
                f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", busy ? "possible" : "likely");
                f->title = nsc_words(c, "GPU %lld to GPU %lld: %.1f GB/s (%s), where %s %.1f", (long long)o->from.v,
                                     (long long)o->to.v, (double)o->mb_s.v / 1000, method_words(o),
                                     best == peers ? "others joined alike have" : "such GPUs were measured to have",
                                     (double)best / 1000);
                nsc_explain_with(c, f, busy ? NSC_PROBE_BUSY : NSC_PROBE_SLOW,
                                 best != peers ? nsc_words(c, " Expected: %s.", e->source) : NULL, NULL);
            }
            nsc_name_pair(c, f, (uint64_t)o->from.v, (uint64_t)o->to.v);
            f->count++;
        }
    }
}

void nsc_rule_data_mismatch(struct nsc_case *c)
{
    const struct ncclscope_facts *x = c->m->facts;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < x->measured.len; i++) {
        const struct nsc_fact_measured *o = &x->measured.item[i];
        if (o->wrong_words.v <= 0)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "fault", "certain");
            f->title =
                nsc_words(c, "%lld words that GPU %lld sent to GPU %lld arrived changed (%s)",
                          (long long)o->wrong_words.v, (long long)o->from.v, (long long)o->to.v, method_words(o));
            nsc_explain_by(c, f, NSC_PROBE_COPY_WRONG);
        }
        nsc_name_pair(c, f, (uint64_t)o->from.v, (uint64_t)o->to.v);
        f->count++;
    }
    for (size_t i = 0; i < x->collectives.len; i++) {
        const struct nsc_fact_collective *o = &x->collectives.item[i];
        if (o->wrong_words.v <= 0)
            continue;
        f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "fault", "certain");
        f->title = nsc_words(c, "NCCL's %s of %lld bytes gave %lld wrong words (%s)", o->operation,
                             (long long)o->bytes.v, (long long)o->wrong_words.v, o->via ? o->via : "path not known");
        nsc_explain_by(c, f, NSC_PROBE_COLLECTIVE_WRONG);
        f->count++;
        return;
    }
}

/* ---- the container ---- */

void nsc_rule_shm_small(struct nsc_case *c)
{
    const struct nsc_fact_node *n = &c->m->facts->node;
    bool small = n->shm_bytes.known && n->shm_bytes.v <= DOCKER_SHM,
         full = n->shm_free_bytes.known && n->shm_free_bytes.v < DOCKER_SHM;
    if (!small && !full)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
    f->title = nsc_words(c, small ? "/dev/shm has %lld MiB" : "/dev/shm has %lld MiB left",
                         (long long)(small ? n->shm_bytes.v : n->shm_free_bytes.v) / MIB);
    nsc_explain_by(c, f, small ? NSC_PROBE_SHM_DEFAULT : NSC_PROBE_SHM_FULL);
    f->count++;
}

void nsc_rule_memlock(struct nsc_case *c)
{
    const struct nsc_fact_node *n = &c->m->facts->node;
    if (!n->memlock_bytes.known || n->memlock_bytes.v < 0 || n->memlock_bytes.v > (int64_t)1024 * MIB ||
        !has_rdma_nic(c->m->facts))
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
    f->title = nsc_words(c, "Only %lld KiB of memory may be locked, and this machine has RDMA devices",
                         (long long)n->memlock_bytes.v / 1024);
    nsc_explain_by(c, f, 0);
    f->count++;
}
