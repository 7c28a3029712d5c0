/* expect.c - NCCL's own decision between P2P, shared memory and network for two GPUs of a node, and how the log fits it. */
#include "read/changes.h"
#include "rules/expect.h"

#include "rules/rules.h"

#include <stdio.h>

static const struct {
    unsigned first, last;
    int arch, vendor, model, gpus;
    enum nsc_level level;
} levels[] = {
#define LEVEL(first, last, arch, vendor, model, gpus, level) \
    {first, last, arch, vendor, model, gpus, NSC_LEVEL_##level},
#include "levels.def"
#undef LEVEL
};

struct range {
    enum nsc_level near, far; /* allowed for certain; not allowed beyond, for certain */
};

/* Levels that fit what is known of release, CPU and number of GPUs: one if all is known. */
static struct range own_level(const struct ncclscope_model *m, uint32_t proc, int64_t gpus)
{
    const struct nsc_proc *p = &m->procs.item[proc];
    struct nsc_version v = nsc_version_of(m, proc);
    struct range r = {NSC_LEVEL_UNKNOWN, NSC_LEVEL_LOC};
    unsigned settled = 0; /* rows of this first release need no further look: one fitted for certain */
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        unsigned last = levels[i].last ? levels[i].last : NSC_VERSION_OPEN;
        bool cpu = p->cpu_vendor || p->cpu_arch;
        if (v.high < levels[i].first || v.low > last || settled == levels[i].first)
            continue;
        if ((cpu && levels[i].arch && levels[i].arch != p->cpu_arch) ||
            (cpu && levels[i].vendor && levels[i].vendor != p->cpu_vendor) ||
            (cpu && levels[i].model && levels[i].model != p->cpu_model) || (levels[i].gpus && gpus > levels[i].gpus))
            continue;
        r.near = levels[i].level < r.near ? levels[i].level : r.near;
        r.far = levels[i].level > r.far ? levels[i].level : r.far;
        if (cpu && (!levels[i].gpus || gpus > 0))
            settled = levels[i].first;
    }
    if (v.low < levels[0].first || v.how == NSC_VERSION_UNKNOWN) /* numbers that mean something else */
        r.near = NSC_LEVEL_NVB, r.far = NSC_LEVEL_SYS;
    return r;
}

struct ends {
    const struct nsc_rank *a, *b, *own; /* own: the rank that printed it; each NULL if not known */
};

static struct ends ends_of(const struct ncclscope_model *m, const struct nsc_link *l)
{
    uint32_t comm = nsc_comm_of(m, l);
    return (struct ends){nsc_member(m, comm, (int64_t)l->src), nsc_member(m, comm, (int64_t)l->dst),
                         l->rank == NSC_NONE ? NULL : &m->ranks.item[l->rank]};
}

/* By its rank, else as its connection prints it: "0[1a000] -> 1[3d000]". */
static nsc_text bus_of(const struct ncclscope_model *m, const struct nsc_rank *r, nsc_str printed)
{
    nsc_text dev = nsc_say(m, printed);
    if (r && r->bus_id)
        return nsc_say(m, r->bus_id);
    return !r && dev.len >= 4 ? dev : (nsc_text){NULL, 0}; /* a shorter one is an index */
}

/* How a line that refuses names the GPUs. */
enum numbering { NO_REFUSAL, BY_BUS_ID, BY_NVML, BY_CUDA };

static enum numbering numbering_of(const struct nsc_event *e)
{
    switch (e->kind) {
    case NCCLSCOPE_KIND_P2P_REFUSED:
    case NCCLSCOPE_KIND_P2P_QUERY_FAILED: return BY_BUS_ID;
    case NCCLSCOPE_KIND_P2P_DRIVER_OFF:
    case NCCLSCOPE_KIND_P2P_NVLINK_OFF:
    case NCCLSCOPE_KIND_LEGACY_IPC_NO: return BY_NVML;
    case NCCLSCOPE_KIND_P2P_NO_ACCESS: return BY_CUDA;
    default: return NO_REFUSAL;
    }
}

/* "1a000 1b000" of the event against the two bus ids, or indices. */
static bool names_pair(const struct ncclscope_model *m, const struct nsc_event *e, const struct nsc_link *l,
                       const struct ends *x, enum numbering by)
{
    nsc_text rest = nsc_say(m, e->text), one = nsc_next_word(&rest), other = nsc_next_word(&rest);
    nsc_text a = bus_of(m, x->a, l->src_dev), b = bus_of(m, x->b, l->dst_dev);
    if (!other.len)
        return true; /* the line names no pair: it is of this process */
    if (by == BY_BUS_ID)
        return !a.len || !b.len || (nsc_text_eq(a, one) && nsc_text_eq(b, other)) ||
               (nsc_text_eq(a, other) && nsc_text_eq(b, one));
    if (!x->a || !x->b)
        return true; /* nor is it known who they are */
    int64_t i, k, from = by == BY_CUDA ? x->a->cuda_dev : x->a->nvml_dev,
                  to = by == BY_CUDA ? x->b->cuda_dev : x->b->nvml_dev;
    return !nsc_to_i64(one, &i) || !nsc_to_i64(other, &k) || from < 0 || to < 0 || (i == from && k == to) ||
           (k == from && i == to);
}

const struct nsc_event *nsc_refusal_of(const struct ncclscope_model *m, const struct nsc_link *l)
{
    struct ends x = ends_of(m, l);
    unsigned version = l->proc == NSC_NONE ? 0 : nsc_version_of(m, l->proc).high;
    for (size_t i = l->proc == NSC_NONE ? m->event_order.len : nsc_events_of(m, l->proc); i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != l->proc)
            return NULL;
        enum numbering by = numbering_of(e);
        /* Up to 2.18.6 NCCL says what NVML says, and goes on to use P2P. */
        bool only_told =
            e->kind == NCCLSCOPE_KIND_P2P_DRIVER_OFF && version < NSC_CHANGE_NVML_REFUSAL_HOLDS && l->family == NSC_P2P;
        if (by != NO_REFUSAL && !only_told && names_pair(m, e, l, &x, by))
            return e;
    }
    return NULL;
}

/* The farthest class that may use P2P by what is set or refused: beyond it NCCL diverts. */
static enum nsc_level allowed_level(const struct ncclscope_model *m, const struct nsc_link *l)
{
    const struct nsc_env *set = nsc_p2p_limited(m, l->proc);
    enum nsc_level level = set ? nsc_level_of(nsc_say(m, set->value)) : NSC_LEVEL_UNKNOWN;
    if (nsc_p2p_disabled(m, l->proc) || nsc_refusal_of(m, l) ||
        (set && level == NSC_LEVEL_UNKNOWN)) /* a number, or no level */
        return NSC_LEVEL_LOC;
    return level;
}

bool nsc_is_diverted(const struct ncclscope_model *m, const struct nsc_link *l)
{
    const struct nsc_where *line;
    nsc_str told = l->family == NSC_P2P ? 0 : nsc_told_class(m, l, true, &line);
    enum nsc_level level = told ? nsc_level_of(nsc_say(m, told)) : NSC_LEVEL_UNKNOWN;
    struct ends x = ends_of(m, l);
    bool known = false;
    if ((level != NSC_LEVEL_PHB && level != NSC_LEVEL_SYS) || l->proc == NSC_NONE || !x.a || !x.b)
        return false;
    bool joined = nsc_tree_joins(m, m->procs.item[x.a->proc].host, x.a->bus_id, x.b->bus_id, &known);
    if (known)
        return joined;
    enum nsc_level allowed =
        allowed_level(m, l); /* what lies between the two may be what joins them, and was left for the CPU */
    return allowed < (level == NSC_LEVEL_SYS ? NSC_LEVEL_PHB : NSC_LEVEL_PXB);
}

enum { MOST_CPUS = 2048 };

/* "0-23,48-71", or as a mask "ff,ffff0000": which CPUs. False: neither, or too many. */
static bool read_cpus(nsc_text text, uint8_t set[MOST_CPUS / 8])
{
    bool list = memchr(text.ptr, '-', text.len) != NULL;
    memset(set, 0, MOST_CPUS / 8);
    uint64_t from = 0, v = 0;
    size_t digits = 0;
    for (size_t i = 0; list && i <= text.len; i++) {
        char c = i < text.len ? text.ptr[i] : ',';
        if (nsc_is_digit(c)) {
            v = v * 10 + (uint64_t)(c - '0');
            digits++;
            continue;
        }
        if (!digits || v >= MOST_CPUS)
            return false;
        if (c == '-') {
            from = v + 1;
        } else {
            for (uint64_t k = from ? from - 1 : v; k <= v; k++)
                set[k / 8] |= (uint8_t)(1u << (k % 8));
            from = 0;
        }
        v = digits = 0;
    }
    size_t bit = 0;
    for (size_t i = text.len; !list && i > 0; i--) {
        char c = text.ptr[i - 1];
        if (c == ',')
            continue;
        int nibble = nsc_is_digit(c) ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (nibble < 0 || bit + 4 > MOST_CPUS)
            return false;
        set[bit / 8] |= (uint8_t)(nibble << (bit % 8));
        bit += 4;
    }
    return list || bit >= 32; /* "0,1" may be either */
}

/* The CPUs that this GPU is near to: by the thread that made the rank, else by all that its process says; 0: not said. */
static nsc_str cpus_of(const struct ncclscope_model *m, const struct nsc_rank *r, uint32_t proc,
                       const struct nsc_where **at)
{
    if (r && r->cpus) {
        *at = &r->cpus_at;
        return r->cpus;
    }
    const struct nsc_proc *p = proc == NSC_NONE ? NULL : &m->procs.item[proc];
    *at = p ? &p->cpus_at : NULL;
    return p && !p->cpus_differ ? p->cpus : 0;
}

/* Are the two GPUs near to CPUs of which none is the same? Then they are on different NUMA nodes. */
static const struct nsc_where *cpus_part(const struct ncclscope_model *m, const struct nsc_link *l,
                                         const struct ends *x)
{
    uint8_t a[MOST_CPUS / 8], b[MOST_CPUS / 8];
    uint32_t one = x->a ? x->a->proc : nsc_printer_of(m, l, l->src),
             other = x->b ? x->b->proc : nsc_printer_of(m, l, l->dst);
    const struct nsc_where *at, *there;
    nsc_str p = cpus_of(m, x->a, one, &at), q = cpus_of(m, x->b, other, &there);
    if (!p || !q || m->procs.item[one].host != m->procs.item[other].host || nsc_are_bound(m, m->procs.item[one].host) ||
        !read_cpus(nsc_say(m, p), a) || !read_cpus(nsc_say(m, q), b))
        return NULL;
    uint8_t any[3] = {0};
    for (size_t i = 0; i < MOST_CPUS / 8; i++) {
        any[0] |= a[i];
        any[1] |= b[i];
        any[2] |= a[i] & b[i];
    }
    return any[0] && any[1] && !any[2] ? at : NULL;
}

/* A line about the pair; else what the communicator proves; else the machine type, where all GPUs of one have NVLink. */
static void find_class(const struct ncclscope_model *m, const struct nsc_link *l, const struct ends *x,
                       struct nsc_expected *e)
{
    e->type = nsc_told_class(m, l, !nsc_is_diverted(m, l), &e->line);
    e->level = e->type ? nsc_level_of(nsc_say(m, e->type)) : NSC_LEVEL_UNKNOWN;
    if (!e->type && !x->own && (e->line = cpus_part(m, l, x))) { /* whose communicator it is of is not known */
        e->by_cpus = true;
        e->level = NSC_LEVEL_SYS;
    }
    if (e->type || !x->own)
        return;
    e->by_proof = nsc_nvlink_is_proven(m, l, &e->line);
    if (!e->by_proof && (e->type = nsc_offered_of_link(m, l))) {
        e->level = nsc_level_of(nsc_say(m, e->type));
        return;
    }
    const struct nsc_proc *p = &m->procs.item[x->own->proc];
    const struct nsc_platform *pf = p->platform && !e->by_proof ? nsc_platform_of(nsc_say(m, p->platform)) : NULL;
    if (pf && !strncmp(pf->link, "NVLink", 6)) {
        e->by_platform = true;
        e->line = &p->platform_at;
    }
    if (e->by_proof || e->by_platform) {
        e->level = NSC_LEVEL_NVL;
    } else if ((e->line = cpus_part(m, l, x))) {
        e->by_cpus = true;
        e->level = NSC_LEVEL_SYS;
    }
}

/* Both GPUs reach a NIC faster than each other (ncclTopoCheckNet, from 2.14.3 on). */
static bool nic_is_nearer(const struct ncclscope_model *m, const struct nsc_link *l, const struct ends *x)
{
    const struct nsc_gpu_path *path = x->a && x->b ? nsc_gpu_path_of(m, x->a, x->b) : NULL;
    const struct nsc_gpu_node *a = path ? nsc_gpu_node_of(m, x->a) : NULL, *b = path ? nsc_gpu_node_of(m, x->b) : NULL;
    return a && b && nsc_version_of(m, l->proc).low >= NSC_CHANGE_NIC_BEFORE_CPU && a->nic > path->bw &&
           b->nic > path->bw && !nsc_env_is(m, l->proc, "NCCL_NET_DISABLE_INTRA", "1");
}

/* GPUs of the node, at least: as NCCL counts them, or ranks that the log shows there; -1: not known. */
static int64_t gpus_of_node(const struct nsc_rank *own)
{
    if (!own || own->local_ranks >= 0 || own->comm == NSC_NONE)
        return own ? own->local_ranks : -1;
    return own->on_host > 2 ? 3 : -1; /* more than two is all that matters */
}

/* Sets what stands against P2P; NSC_BY_NEARNESS if nothing does. */
static void ask_for_p2p(const struct ncclscope_model *m, const struct nsc_link *l, const struct ends *x, bool free,
                        struct nsc_expected *e)
{
    const struct nsc_env *set = free ? NULL : nsc_env_of(m, l->proc, "NCCL_P2P_LEVEL");
    enum nsc_level allowed = set ? nsc_level_of(nsc_say(m, set->value)) : NSC_LEVEL_UNKNOWN;
    struct range own = own_level(m, l->proc, gpus_of_node(x->own));
    const struct nsc_event *refused = nsc_refusal_of(m, l);
    if (allowed != NSC_LEVEL_UNKNOWN)
        own = (struct range){allowed, allowed};
    else if (set && nsc_text_is(nsc_say(m, set->value), "5"))
        own = (struct range){NSC_LEVEL_SYS, NSC_LEVEL_SYS};
    bool known = e->level != NSC_LEVEL_UNKNOWN;
    if (!free && nsc_p2p_disabled(m, l->proc)) {
        e->because = NSC_BY_DISABLE;
        e->env = nsc_p2p_disabled(m, l->proc);
    } else if (known && e->level > own.near) {
        e->because = set ? NSC_BY_LEVEL : NSC_BY_DISTANCE;
        e->likely = e->level <= own.far || e->by_cpus;
        /* NVLink may join what sits at two CPUs */ /* some releases and CPUs allow it */
        e->env = set;
    } else if (refused) {
        e->because = NSC_BY_DRIVER;
        e->line = &refused->where;
    } else if (known) {
        e->because = NSC_BY_NEARNESS;
        e->env = set;
    } else if (!free && nsc_p2p_limited(m, l->proc)) {
        e->env = set;
    }
}

struct nsc_expected nsc_expect(const struct ncclscope_model *m, const struct nsc_link *l, bool free)
{
    struct nsc_expected e = {.level = NSC_LEVEL_UNKNOWN};
    struct ends x = ends_of(m, l);
    if (l->proc == NSC_NONE)
        return e;
    find_class(m, l, &x, &e);
    ask_for_p2p(m, l, &x, free, &e);
    if (e.because == NSC_BY_NOTHING_KNOWN)
        return e;
    bool nic = nic_is_nearer(m, l, &x);
    bool no_shm = !free && nsc_env_is(m, l->proc, "NCCL_SHM_DISABLE", "1");
    if (nic && (e.because == NSC_BY_NEARNESS || e.because == NSC_BY_DISTANCE))
        e.because = NSC_BY_NIC;
    e.family = e.because == NSC_BY_NEARNESS ? NSC_P2P : nic || no_shm ? NSC_NET : NSC_SHM;
    return e;
}

/* P2P is what NCCL asks for first. Where it would not use it by itself, a variable must have widened the level. */
static enum nsc_judgement judge_p2p(const struct nsc_expected *own, struct nsc_expected *out)
{
    bool far = own->because == NSC_BY_DISTANCE && !own->likely;
    if (far && out->because == NSC_BY_NEARNESS) {
        out->because = NSC_BY_WIDENING;
        return NSC_CONFIGURED;
    }
    if (far) {
        out->family = 0;
        out->because = NSC_BY_NOTHING_SEEN;
        return NSC_NOT_KNOWABLE;
    }
    if (out->because != NSC_BY_NEARNESS) {
        out->family = NSC_P2P;
        out->because = NSC_BY_CHOICE;
    }
    return NSC_AS_EXPECTED;
}

static enum nsc_judgement judge(const struct ncclscope_model *m, const struct nsc_link *l, struct nsc_expected *out)
{
    struct nsc_known_path p = l->known;
    *out = (struct nsc_expected){.level = NSC_LEVEL_UNKNOWN};
    if (p.scope != NSC_SCOPE_NODE || l->proc == NSC_NONE ||
        l->family == NSC_COLLNET) /* that one is a rank and the network */
        return NSC_NOT_JUDGED;
    if (m->procs.item[l->proc].rccl) { /* its distances are its own; that variable means the same */
        out->env = l->family == NSC_P2P ? NULL : nsc_p2p_disabled(m, l->proc);
        out->because = out->env ? NSC_BY_DISABLE : NSC_BY_NOTHING_KNOWN;
        out->family = out->env ? NSC_SHM : 0;
        return out->env ? NSC_CONFIGURED : NSC_NOT_JUDGED;
    }
    struct nsc_expected set = nsc_expect(m, l, false), own = nsc_expect(m, l, true);
    *out = set;
    if (l->family == NSC_P2P)
        return judge_p2p(&own, out);
    struct ends x = ends_of(m, l);
    bool one_gpu = x.a && x.b && x.a->bus_id && x.a->bus_id == x.b->bus_id;
    bool has_p2p = nsc_version_of(m, l->proc).low >= NSC_CHANGE_RANKS_SHARE_GPU; /* on one GPU, as between two */
    if (nsc_is_mig(m, l->proc) || (one_gpu && !has_p2p)) {
        out->because = NSC_BY_MIG;
        out->line = NULL;
        return NSC_BY_DESIGN;
    }
    if (set.because == NSC_BY_DISABLE || set.because == NSC_BY_LEVEL || set.because == NSC_BY_DISTANCE) {
        bool open = own.because == NSC_BY_DISTANCE && own.likely && set.env; /* some CPUs and releases would allow it */
        bool far = (own.because == NSC_BY_DISTANCE && !open) || own.because == NSC_BY_NIC;
        if (far && own.family == l->family)
            *out = own;
        else if (far && l->family == NSC_NET) /* host memory is what the hardware alone would give */
            out->env = nsc_env_is(m, l->proc, "NCCL_SHM_DISABLE", "1");
        return far && own.family == l->family ? NSC_BY_DESIGN : far && !out->env ? NSC_NOT_KNOWABLE : NSC_CONFIGURED;
    }
    if (set.because == NSC_BY_NIC && l->family == NSC_NET)
        return NSC_BY_DESIGN;
    if (set.because == NSC_BY_NEARNESS && set.level == NSC_LEVEL_SYS &&
        nsc_version_of(m, l->proc).high >= NSC_CHANGE_NVML_REFUSAL_HOLDS) {
        const struct nsc_event *refused = nsc_event_of(m, l->proc, NCCLSCOPE_KIND_P2P_DRIVER_OFF);
        out->because = refused ? NSC_BY_DRIVER : NSC_BY_SILENCE;
        out->line = refused ? &refused->where : out->line;
        return refused ? NSC_REFUSED : NSC_NOT_KNOWABLE;
    }
    if (set.because == NSC_BY_DRIVER)
        return NSC_REFUSED;
    if (set.because == NSC_BY_NEARNESS)
        return NSC_FAULTY;
    return set.env ? NSC_CONFIGURED : NSC_NOT_KNOWABLE;
}

bool nsc_judge_all(struct ncclscope_findings *f)
{
    const struct ncclscope_model *m = f->model;
    f->judged = nsc_alloc((m->links.len + 1) * sizeof *f->judged);
    for (size_t i = 0; f->judged && i < m->links.len; i++)
        f->judged[i].is = judge(m, &m->links.item[i], &f->judged[i].e);
    return f->judged != NULL;
}

const struct nsc_judged *nsc_judged_of(const struct ncclscope_findings *f, const struct nsc_link *l)
{
    return &f->judged[l - f->model->links.item];
}

void nsc_expected_words(const struct ncclscope_model *m, const struct nsc_expected *e, char *buf, size_t size)
{
    const char *type = e->type          ? nsc_say(m, e->type).ptr
                       : e->by_platform ? "NVLink, by the machine type"
                       : e->by_cpus     ? "SYS, by the CPUs that each is near to"
                       : e->by_proof    ? "NVLink, by what the communicator prints"
                                        : "";
    const char *name = e->env ? nsc_say(m, e->env->name).ptr : "", *value = e->env ? nsc_say(m, e->env->value).ptr : "";
    switch (e->because) {
    case NSC_BY_DISABLE:
        snprintf(buf, size,
                 strcmp(name, "NCCL_SHM_DISABLE") != 0
                     ? "%s=%s forbids P2P"
                     : "the GPUs are too far apart for P2P by NCCL's own rules, and %s=%s forbids host memory",
                 name, value);
        break;
    case NSC_BY_LEVEL: snprintf(buf, size, "%s=%s is nearer than these GPUs are (%s)", name, value, type); break;
    case NSC_BY_DISTANCE: snprintf(buf, size, "the GPUs are farther apart (%s) than NCCL uses P2P here", type); break;
    case NSC_BY_DRIVER: snprintf(buf, size, "the driver or CUDA refuses P2P between these GPUs"); break;
    case NSC_BY_MIG:
        snprintf(buf, size, "slices of a GPU (MIG), or ranks on one GPU before NCCL 2.30.3, have no P2P");
        break;
    case NSC_BY_NIC: snprintf(buf, size, "both GPUs reach a NIC faster than each other (%s)", type); break;
    case NSC_BY_WIDENING:
        snprintf(buf, size, "%s=%s allows P2P farther (%s) than NCCL would by itself", name, value, type);
        break;
    case NSC_BY_NOTHING_SEEN:
        snprintf(buf, size,
                 "farther apart (%s) than NCCL uses P2P here: a NCCL_P2P_LEVEL that this log does not show, or another "
                 "topology",
                 type);
        break;
    case NSC_BY_SILENCE:
        snprintf(buf, size, "near enough for P2P (%s), and NCCL does not print where the driver refuses it", type);
        break;
    case NSC_BY_CHOICE: snprintf(buf, size, "P2P is what NCCL asks for first, and it took it"); break;
    case NSC_BY_NEARNESS: snprintf(buf, size, "near enough for P2P (%s), and nothing forbids it", type); break;
    default:
        snprintf(buf, size,
                 e->env ? "%s=%s is set, and the log does not say how far apart these GPUs are"
                        : "the log does not say how far apart these GPUs are",
                 name, value);
    }
}
