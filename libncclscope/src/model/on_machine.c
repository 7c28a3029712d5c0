/* on_machine.c - ranks to GPUs of the machine that facts are of: by bus id, then by host and device. */
#include "model/on_machine.h"

#include "model/machines.h"
#include "model/topology.h"

#include <stdio.h>

const char *nsc_fit_words(enum nsc_fit fit)
{
    static const char *const words[] = {
        "it cannot be told which ranks of the log ran on this machine",
        "a host of the log has this machine's name",
        "a host of the log has this machine's name, but some of its GPUs are not here: hidden, or another machine",
        "the log is of one machine, and its GPUs are all here",
        "of the log's machines only one has GPUs that are all here",
        "the log's hosts may be containers of this machine: their GPUs are all here, and no two have the same",
        "some of the log's GPUs are here and others are not: a probe that sees fewer GPUs, or another machine",
        "none of the log's GPUs is here"};
    return words[fit];
}

/* "60" of a line (NCCL prints domain, bus, device and function without what stands between them). */
static bool bus_of_log(nsc_text t, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < t.len; i++) {
        const char *digits = "0123456789abcdef", *d = strchr(digits, t.ptr[i] | 0x20);
        if (!t.ptr[i] || !d)
            return false;
        *out = *out << 4 | (uint64_t)(d - digits);
    }
    return t.len > 0 && t.len <= 16;
}

/* "0000:00:06.0" */
static bool bus_of_facts(const char *text, uint64_t *out)
{
    unsigned domain, bus, device, function;
    if (!text || sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
        return false;
    *out = (uint64_t)domain << 20 | bus << 12 | device << 4 | function;
    return true;
}

static uint32_t gpu_at_bus(const struct ncclscope_facts *x, nsc_text text)
{
    uint64_t want, have;
    for (uint32_t i = 0; bus_of_log(text, &want) && i < x->gpus.len; i++)
        if (bus_of_facts(x->gpus.item[i].bus_id, &have) && have == want)
            return i;
    return NSC_NONE;
}

static uint32_t machine_of_rank(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    return nsc_machine_of(m, m->procs.item[r->proc].host);
}

/* NCCL cuts a host name at its first dot. */
static bool is_same_name(nsc_text log, const char *name)
{
    size_t n = name ? strcspn(name, ".") : 0, k = 0;
    while (k < log.len && log.ptr[k] != '.')
        k++;
    return n && n == k && !memcmp(log.ptr, name, n);
}

/* The machine of this name, as its processes or, by what Kubernetes says, its pods have it. */
static uint32_t machine_named(const struct ncclscope_model *m, const char *name)
{
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        nsc_str node = p->in_pod == NSC_NONE ? 0 : m->pods.item[p->in_pod].node;
        if (node && is_same_name(nsc_say(m, node), name))
            return nsc_machine_of(m, p->host);
    }
    for (size_t i = 0; i < m->hosts.len; i++) {
        const struct nsc_host *h = &m->hosts.item[i];
        if (is_same_name(nsc_say(m, h->name), name) && !m->machines.item[h->machine].several)
            return h->machine;
    }
    return NSC_NONE;
}

struct fitting {
    size_t known, here; /* ranks of a machine whose bus id is known; those whose GPU is here */
};

static bool knows_buses(const struct ncclscope_facts *x)
{
    uint64_t bus;
    for (size_t i = 0; i < x->gpus.len; i++)
        if (bus_of_facts(x->gpus.item[i].bus_id, &bus))
            return true;
    return false;
}

static bool fits(const struct fitting *f)
{
    return f->known && f->here == f->known;
}

/* Do ranks of two machines claim one GPU? */
static bool is_shared(const struct ncclscope_model *m)
{
    uint32_t owner[256];
    memset(owner, 0xff, sizeof owner);
    for (size_t i = 0; i < m->ranks.len; i++) {
        uint32_t gpu = m->gpu_of.item[i], machine = machine_of_rank(m, &m->ranks.item[i]);
        if (gpu == NSC_NONE || gpu >= 256)
            continue;
        if (owner[gpu] != NSC_NONE && owner[gpu] != machine)
            return true;
        owner[gpu] = machine;
    }
    return false;
}

/* Sets which of the log's machines is this one, in `here`. */
static enum nsc_fit find_machine(const struct ncclscope_model *m, const struct fitting *fit, bool *here)
{
    uint32_t named = machine_named(m, m->facts->node.host_name);
    size_t fitting = 0, with_gpus = 0, last = 0, only = 0, seen = 0;
    for (size_t i = 0; i < m->machines.len; i++) {
        with_gpus += fit[i].known > 0;
        only = fit[i].known ? i : only;
        seen += fit[i].here;
        fitting += fits(&fit[i]);
        last = fits(&fit[i]) ? i : last;
    }
    if (named != NSC_NONE) {
        here[named] = true;
        return !fit[named].known || fits(&fit[named]) ? NSC_FIT_NAME
               : fit[named].here                      ? NSC_FIT_NAMED_PART
                                                      : NSC_FIT_FOREIGN;
    }
    bool several = m->machines.len && m->machines.item[last].several;
    if (fitting == 1 && !several) {
        here[last] = true;
        return with_gpus == 1 ? NSC_FIT_ONLY : NSC_FIT_CHOSEN;
    }
    if (fitting > 1 && fitting == with_gpus && !is_shared(m)) {
        for (size_t i = 0; i < m->machines.len; i++)
            here[i] = fits(&fit[i]);
        return NSC_FIT_DISTINCT;
    }
    if (with_gpus != 1)
        return with_gpus && !seen ? NSC_FIT_FOREIGN : NSC_FIT_NONE;
    here[only] = fit[only].here > 0 && !m->machines.item[only].several;
    return here[only] ? NSC_FIT_PART : fit[only].here ? NSC_FIT_NONE : NSC_FIT_FOREIGN;
}

static uint32_t gpu_by_index(const struct ncclscope_facts *x, int64_t index)
{
    for (uint32_t i = 0; index >= 0 && i < x->gpus.len; i++)
        if (x->gpus.item[i].index.v == index)
            return i;
    return NSC_NONE;
}

/* The matrix of the facts in strings of the model. */
static void keep_offered(struct ncclscope_model *m)
{
    size_t n = m->facts->gpus.len;
    m->offered.len = 0;
    for (size_t i = 0; i < n * n; i++) {
        nsc_str *s = nsc_vec_push(&m->offered);
        m->no_memory = m->no_memory || !s;
        if (!s)
            return;
        *s = 0;
    }
    for (size_t i = 0; i < m->facts->pairs.len; i++) {
        const struct nsc_fact_pair *p = &m->facts->pairs.item[i];
        uint32_t a = gpu_by_index(m->facts, p->from.v), b = gpu_by_index(m->facts, p->to.v);
        bool known = p->path && nsc_level_of(nsc_text_of(p->path)) != NSC_LEVEL_UNKNOWN;
        if (known && a != NSC_NONE && b != NSC_NONE)
            m->offered.item[a * n + b] = nsc_keep(m, nsc_text_of(p->path));
    }
}

void nsc_place_ranks(struct ncclscope_model *m)
{
    struct fitting *fit = nsc_alloc((m->machines.len + 1) * sizeof *fit);
    bool *here = nsc_alloc(m->machines.len + 1), buses = knows_buses(m->facts);
    m->gpu_of.len = m->is_here.len = 0;
    m->fit = NSC_FIT_NONE;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        uint32_t *gpu = nsc_vec_push(&m->gpu_of), machine = machine_of_rank(m, r);
        m->no_memory = m->no_memory || !gpu;
        if (m->no_memory || !fit || !here)
            break;
        *gpu = r->bus_id && buses ? gpu_at_bus(m->facts, nsc_say(m, r->bus_id)) : NSC_NONE;
        if (machine == NSC_NONE)
            continue;
        fit[machine].known += r->bus_id && buses;
        fit[machine].here += *gpu != NSC_NONE;
    }
    if (fit && here && !m->no_memory)
        m->fit = (int)find_machine(m, fit, here);
    for (size_t i = 0; fit && here && i < m->gpu_of.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        uint32_t machine = machine_of_rank(m, r);
        if (machine == NSC_NONE || !here[machine])
            m->gpu_of.item[i] = NSC_NONE;
        else if (m->fit == NSC_FIT_NAME && !(r->bus_id && buses))
            m->gpu_of.item[i] = gpu_by_index(m->facts, r->nvml_dev);
    }
    for (size_t i = 0; here && i < m->machines.len; i++) {
        bool *is_here = nsc_vec_push(&m->is_here);
        m->no_memory = m->no_memory || !is_here;
        if (is_here)
            *is_here = here[i];
    }
    m->no_memory = m->no_memory || !fit || !here;
    nsc_free(fit);
    nsc_free(here);
    keep_offered(m);
}

static uint32_t place_of(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    size_t i = (size_t)(r - m->ranks.item);
    return m->facts && i < m->gpu_of.len ? m->gpu_of.item[i] : NSC_NONE;
}

const struct nsc_fact_gpu *nsc_gpu_facts_of(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    uint32_t i = place_of(m, r);
    return i == NSC_NONE ? NULL : &m->facts->gpus.item[i];
}

bool nsc_is_elsewhere(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    uint32_t machine = machine_of_rank(m, r);
    bool found = m->fit != NSC_FIT_NONE && m->fit != NSC_FIT_FOREIGN;
    return found && machine < m->is_here.len && !m->is_here.item[machine];
}

bool nsc_has_other_driver(const struct ncclscope_model *m, uint32_t proc)
{
    uint64_t log = proc == NSC_NONE ? 0 : m->procs.item[proc].driver;
    const struct nsc_fact *here = &m->facts->node.cuda_driver;
    return log && here->known && (uint64_t)here->v != log;
}

nsc_str nsc_offered_class(const struct ncclscope_model *m, const struct nsc_rank *a, const struct nsc_rank *b)
{
    if (!m->facts || nsc_has_other_driver(m, a->proc))
        return 0;
    uint32_t i = place_of(m, a), k = place_of(m, b);
    size_t at = (size_t)i * (m->facts ? m->facts->gpus.len : 0) + k;
    return i == NSC_NONE || k == NSC_NONE || i == k || at >= m->offered.len ? 0 : m->offered.item[at];
}
