/* gpus.c - gpus.def, nvlinks.def, platforms.def: from what a log says to the GPU. */
#include "model/gpus.h"

#include "model/on_machine.h"
#include "model/topology.h"
#include "model/version.h"
static const struct nsc_gpu gpus[] = {
#define GPU(words, name, cc, nvlink, links, gb_s, p2p, source) {words, name, cc, nvlink, links, gb_s, p2p, source},
#include "gpus.def"
#undef GPU
};
enum { GPUS = sizeof gpus / sizeof gpus[0] };

static const struct nsc_platform platforms[] = {
#define PLATFORM(name, gpus, nics, model, link, link_gb_s, nic_gb_s, source) \
    {name, gpus, nics, model, link, link_gb_s, nic_gb_s, source},
#include "platforms.def"
#undef PLATFORM
};

const struct nsc_platform *nsc_platform_of(nsc_text name)
{
    for (size_t i = 0; i < sizeof platforms / sizeof platforms[0]; i++)
        if (nsc_text_is(name, platforms[i].name))
            return &platforms[i];
    return NULL;
}

static const struct {
    int cc;
    unsigned first, last;
    double gb_s;
} nvlinks[] = {
#define NVLINK(cc, first, last, gb_s) {cc, first, last, gb_s},
#include "nvlinks.def"
#undef NVLINK
};

static const struct nsc_gpu *gpu_named(nsc_text text)
{
    for (size_t i = 0; i < GPUS; i++)
        if (nsc_text_find(text, gpus[i].words) >= 0)
            return &gpus[i];
    return NULL;
}

enum { MOST_NVLINKS = 1000 }; /* of one GPU: a bandwidth beyond is none that NCCL printed */

int nsc_count_nvlinks(unsigned version, int cc, double gb_s)
{
    for (size_t i = 0; i < sizeof nvlinks / sizeof nvlinks[0]; i++) {
        if (nvlinks[i].cc != cc || version < nvlinks[i].first || (nvlinks[i].last && version > nvlinks[i].last))
            continue;
        if (!(gb_s >= 0 && gb_s < MOST_NVLINKS * nvlinks[i].gb_s))
            return 0;
        int n = (int)(gb_s / nvlinks[i].gb_s + 0.5);
        double rest = gb_s - n * nvlinks[i].gb_s;
        return rest < 0.06 && rest > -0.06 ? n : 0; /* printed with one decimal */
    }
    return 0;
}

/* The first of those that have just so many links; NULL also if GPUs of another generation fit as well. */
static const struct nsc_gpu *gpu_by_links(unsigned version, double gb_s)
{
    const struct nsc_gpu *found = NULL;
    for (size_t i = 0; i < GPUS; i++) {
        if (!gpus[i].links || nsc_count_nvlinks(version, gpus[i].cc, gb_s) != gpus[i].links)
            continue;
        if (found && found->nvlink != gpus[i].nvlink)
            return NULL;
        found = found ? found : &gpus[i];
    }
    return found;
}

/* "GPU 0: NVIDIA A10G (UUID: ...)", "|   0  NVIDIA GB10   On | ...": pasted, of the whole input where all are of one model. */
static bool is_pasted(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_GPU_LISTED || r->number == NCCLSCOPE_KIND_GPU_IN_TABLE ||
           r->number == NCCLSCOPE_KIND_GPU_OF_TF;
}

/* vLLM's "Device capability 12.0 not supported" names a generation: where nothing names the model. */
static bool is_generation(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_DEVICE_CAPABILITY;
}

/* The name in all lines of this sort; len 0: there is none, or there are several. */
static nsc_text only_name(const struct ncclscope_model *m, bool (*sort)(const struct nsc_own_record *),
                          const struct nsc_where **line)
{
    nsc_text name = {NULL, 0};
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (!sort(r))
            continue;
        nsc_text one = nsc_said(m, r, "text");
        if (name.len && !nsc_text_eq(one, name))
            return (nsc_text){NULL, 0};
        name = one;
        *line = &r->where;
    }
    return name;
}

static nsc_text name_of_input(const struct ncclscope_model *m, const struct nsc_where **line)
{
    nsc_text name = only_name(m, is_pasted, line);
    return name.len ? name : only_name(m, is_generation, line);
}

static bool is_instance(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_INSTANCE_TYPE;
}

/* A process that does not say its machine type has that of the job, where the input names one alone. */
static void settle_platforms(struct ncclscope_model *m)
{
    const struct nsc_where *line = NULL;
    nsc_text type = only_name(m, is_instance, &line);
    nsc_str kept = type.len ? nsc_keep(m, type) : 0;
    for (size_t i = 0; kept && i < m->procs.len; i++)
        if (!m->procs.item[i].platform) {
            m->procs.item[i].platform = kept;
            m->procs.item[i].platform_at = *line;
        }
}

void nsc_gpus_settle(struct ncclscope_model *m)
{
    settle_platforms(m);
    const struct nsc_where *line = NULL;
    nsc_text pasted = name_of_input(m, &line);
    struct nsc_map of_pid = {0}; /* the first line of nccl-tests that names it */
    for (size_t i = 0; i < m->happened.len; i++) {
        int64_t pid;
        if (m->happened.item[i].number == NCCLSCOPE_KIND_TEST_RANK &&
            nsc_number_said(m, &m->happened.item[i], "pid", &pid) &&
            nsc_map_get(&of_pid, (struct nsc_key){(uint64_t)pid, 0, 0}) == NSC_NONE &&
            nsc_map_put(&of_pid, (struct nsc_key){(uint64_t)pid, 0, 0}, (uint32_t)i))
            m->no_memory = true;
    }
    for (size_t i = 0; i < m->procs.len; i++) {
        struct nsc_proc *p = &m->procs.item[i];
        uint32_t at = nsc_map_get(&of_pid, (struct nsc_key){(uint64_t)p->pid, 0, 0});
        const struct nsc_own_record *r = at == NSC_NONE ? NULL : &m->happened.item[at];
        nsc_text name = r ? nsc_said(m, r, "text") : pasted;
        if (!name.len)
            continue;
        p->gpu_name = nsc_keep(m, name);
        p->gpu_at = r ? r->where : *line;
    }
    nsc_map_free(&of_pid);
}

nsc_text nsc_gpu_name(const struct ncclscope_model *m, uint32_t proc, const struct nsc_where **line)
{
    if (proc != NSC_NONE) {
        *line = &m->procs.item[proc].gpu_at;
        return m->procs.item[proc].gpu_name ? nsc_say(m, m->procs.item[proc].gpu_name) : (nsc_text){NULL, 0};
    }
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_TEST_RANK) {
            *line = &m->happened.item[i].where;
            return nsc_said(m, &m->happened.item[i], "text");
        }
    return name_of_input(m, line);
}

bool nsc_is_mig(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_where *line;
    uint32_t pod = proc == NSC_NONE ? NSC_NONE : m->procs.item[proc].in_pod;
    return (pod != NSC_NONE && m->pods.item[pod].mig) ||
           (proc != NSC_NONE && nsc_text_find(nsc_gpu_name(m, proc, &line), " MIG ") >= 0);
}

struct nsc_gpu_class nsc_gpu_of(const struct ncclscope_model *m, uint32_t proc)
{
    struct nsc_gpu_class k = {NSC_GPU_UNKNOWN, NULL, NULL};
    if (proc == NSC_NONE)
        return k;
    const struct nsc_proc *p = &m->procs.item[proc];
    const struct nsc_platform *pf = p->platform ? nsc_platform_of(nsc_say(m, p->platform)) : NULL;
    struct nsc_version v = nsc_version_of(m, proc);
    const struct nsc_rank *r = p->last_rank == NSC_NONE ? NULL : &m->ranks.item[p->last_rank];
    const struct nsc_gpu_node *g = r ? nsc_gpu_node_of(m, r) : NULL;
    const struct nsc_fact_gpu *x = r ? nsc_gpu_facts_of(m, r) : NULL;
    nsc_text name = nsc_gpu_name(m, proc, &k.line);
    name = name.len || !x || !x->name ? name : nsc_text_of(x->name);
    k.gpu = name.len ? gpu_named(name) : NULL;
    if (k.gpu) {
        k.how = NSC_GPU_NAMED;
        return k;
    }
    for (size_t i = 0; pf && i < GPUS; i++)
        if (!strcmp(gpus[i].name, pf->model))
            return (struct nsc_gpu_class){NSC_GPU_BY_PLATFORM, &gpus[i], &p->platform_at};
    const struct nsc_gpu *by_links =
        g && g->switched && v.how >= NSC_VERSION_PEER ? gpu_by_links(v.low, g->nvlink) : NULL;
    return by_links ? (struct nsc_gpu_class){NSC_GPU_BY_LINKS, by_links, &g->where} : (struct nsc_gpu_class){0};
}

int nsc_cc_of(const struct ncclscope_model *m, uint32_t proc)
{
    uint32_t last = proc == NSC_NONE ? NSC_NONE : m->procs.item[proc].last_rank;
    const struct nsc_fact_gpu *x = last == NSC_NONE ? NULL : nsc_gpu_facts_of(m, &m->ranks.item[last]);
    if (x && x->cc_major.known && x->cc_minor.known && x->cc_major.v < 1000 && x->cc_minor.v < 10)
        return (int)(x->cc_major.v * 10 + x->cc_minor.v);
    struct nsc_gpu_class k = nsc_gpu_of(m, proc);
    return k.gpu ? k.gpu->cc : 0;
}
