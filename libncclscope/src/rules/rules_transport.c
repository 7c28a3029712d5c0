/* rules_transport.c - paths between ranks of one node: P2P, shared memory, and the network where it should not be. */
#include "rules/rules.h"

#include <stdio.h>

/* "8 pairs of GPUs of vm (ranks 0-7)": who a finding is about. */
static const char *who(struct nsc_case *c, const struct nsc_finding *f, const char *things)
{
    const char *hosts = f->hosts.len == 1  ? nsc_words(c, " of %s", nsc_say(c->m, f->hosts.item[0]).ptr)
                        : f->hosts.len > 1 ? nsc_words(c, " of %zu hosts", f->hosts.len)
                                           : "";
    return nsc_words(c, "%zu pair%s of %s%s (%s)", f->pairs.len, f->pairs.len == 1 ? "" : "s", things, hosts,
                     nsc_list_ranks(c, f));
}

/* ---- shared memory inside a node ---- */

enum shm_cause { SHM_DISABLED, SHM_LEVEL, SHM_NVLINK, SHM_FAR, SHM_REFUSED, SHM_UNKNOWN, SHM_CAUSES };

/* The line by which the driver or CUDA refuses P2P; NULL if there is none. */
static const struct nsc_event *refusal(const struct ncclscope_model *m, uint32_t proc)
{
    static const ncclscope_kind kinds[] = {NCCLSCOPE_KIND_P2P_REFUSED, NCCLSCOPE_KIND_P2P_DRIVER_OFF,
                                           NCCLSCOPE_KIND_P2P_QUERY_FAILED, NCCLSCOPE_KIND_LEGACY_IPC_NO};
    const struct nsc_event *e = NULL;
    for (size_t i = 0; !e && i < sizeof kinds / sizeof kinds[0]; i++)
        e = nsc_event_of(m, proc, kinds[i]);
    return e;
}

/* Why this pair uses host memory, from what the same log says. */
static enum shm_cause shm_cause(const struct ncclscope_model *m, const struct nsc_link *l)
{
    const struct nsc_where *because;
    nsc_text type = nsc_say(m, nsc_stated_class(m, l, &because));
    if (l->proc != NSC_NONE && nsc_p2p_disabled(m, l->proc))
        return SHM_DISABLED;
    if (l->proc != NSC_NONE && nsc_p2p_limited(m, l->proc))
        return SHM_LEVEL;
    if (nsc_class_is_nvlink(type))
        return SHM_NVLINK;
    if (nsc_text_is(type, "PHB") || nsc_text_is(type, "SYS") || nsc_text_is(type, "NODE"))
        return SHM_FAR;
    return l->proc != NSC_NONE && refusal(m, l->proc) ? SHM_REFUSED : SHM_UNKNOWN;
}

static const struct {
    int severity;
    const char *cls, *confidence, *caused_by;
} shm_words[SHM_CAUSES] = {
    [SHM_DISABLED] = {NCCLSCOPE_WARNING, "configuration", "certain", "env/p2p-disabled"},
    [SHM_LEVEL] = {NCCLSCOPE_WARNING, "configuration", "likely", "env/p2p-level"},
    [SHM_NVLINK] = {NCCLSCOPE_WARNING, "fault", "certain", NULL},
    [SHM_FAR] = {NCCLSCOPE_NOTE, "by-design", "certain", NULL},
    [SHM_REFUSED] = {NCCLSCOPE_WARNING, "unknown", "likely", NULL},
    [SHM_UNKNOWN] = {NCCLSCOPE_WARNING, "unknown", "certain", NULL},
};

static void explain_shm(struct nsc_case *c, struct nsc_finding *f, enum shm_cause why, const struct nsc_link *l)
{
    const struct ncclscope_model *m = c->m;
    uint32_t proc = l->proc;
    const struct nsc_env *disabled = nsc_p2p_disabled(m, proc), *level = nsc_env_of(m, proc, "NCCL_P2P_LEVEL");
    const struct nsc_event *refused = refusal(m, proc);
    const struct nsc_where *because = NULL;
    nsc_str type = nsc_stated_class(m, l, &because);
    switch (why) {
    case SHM_DISABLED:
        f->cause = nsc_words(c, "%s=%s is set: NCCL may not use P2P at all", nsc_say(m, disabled->name).ptr,
                             nsc_say(m, disabled->value).ptr);
        f->fix = "Remove the variable (environment, /etc/nccl.conf, ~/.nccl.conf, image); then look for P2P/CUMEM or "
                 "P2P/IPC.";
        nsc_show_first(c, f, &disabled->where);
        break;
    case SHM_LEVEL:
        f->cause =
            nsc_words(c, "NCCL_P2P_LEVEL=%s allows P2P only up to that distance; farther pairs go through host memory",
                      nsc_say(m, level->value).ptr);
        f->fix = "Unset NCCL_P2P_LEVEL and compare; NCCL's own default fits most machines.";
        nsc_show_first(c, f, &level->where);
        break;
    case SHM_NVLINK:
        f->cause = nsc_words(
            c, "The topology in this input shows NVLink (%s) between these GPUs, and nothing in the log forbids P2P.",
            nsc_say(m, type).ptr);
        nsc_show_first(c, f, because);
        f->fix = "Check `nvidia-smi topo -p2p r` and `-p2p w`, the fabric manager (NVSwitch machines) and the "
                 "container's access to all GPUs.";
        break;
    case SHM_FAR:
        f->cause = "These GPUs meet only at the CPU (PHB, NODE or SYS): host memory is what NCCL chooses there by its "
                   "own rules.";
        f->title =
            nsc_words(c, "%s: right on this hardware, they meet only at the CPU (%s)", f->title, nsc_say(m, type).ptr);
        f->fix = "Nothing to mend on this machine.";
        nsc_show_first(c, f, because);
        break;
    case SHM_REFUSED:
        f->cause = "The driver or CUDA refuses P2P between these GPUs. Right for GPUs without P2P; a fault where "
                   "IOMMU, ACS or a hypervisor hides it.";
        f->fix = "Compare `nvidia-smi topo -p2p r` (CNS: chipset or VM, GNS: GPU model, TNS: topology).";
        nsc_show_first(c, f, refused ? &refused->where : NULL);
        break;
    default:
        f->cause = "The log does not say why. In order of likelihood: P2P switched off by a variable that this log "
                   "does not show, GPUs that "
                   "meet only at the CPU, GPUs or a VM without P2P, a container that sees only its own GPU.";
        f->fix = "Run once with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH, and look at `nvidia-smi topo -m` and "
                 "`-p2p r` on the node.";
    }
}

void nsc_rule_shm_within_node(struct nsc_case *c)
{
    struct nsc_finding *f[SHM_CAUSES] = {NULL};
    size_t at[SHM_CAUSES];
    const struct nsc_link *first[SHM_CAUSES];
    for (size_t i = 0; i < c->m->link_order.len; i++) {
        const struct nsc_link *l = &c->m->links.item[c->m->link_order.item[i]];
        if (l->family != NSC_SHM)
            continue;
        enum shm_cause why = shm_cause(c->m, l);
        if (!f[why]) {
            nsc_found(c, shm_words[why].severity, shm_words[why].cls, shm_words[why].confidence);
            at[why] = c->f->list.len - 1;
            first[why] = l;
        }
        f[why] = &c->f->list.item[at[why]];
        nsc_add_link(c, f[why], l);
    }
    for (int why = 0; why < SHM_CAUSES; why++) {
        if (!f[why])
            continue;
        f[why] = &c->f->list.item[at[why]];
        f[why]->caused_by = shm_words[why].caused_by;
        f[why]->title = nsc_words(c, "%s talk%s through host memory (SHM), not directly", who(c, f[why], "GPUs"),
                                  f[why]->pairs.len == 1 ? "s" : "");
        explain_shm(c, f[why], (enum shm_cause)why, first[why]);
        if (why != SHM_FAR)
            f[why]->cost = nsc_cost(c, NSC_COST_SHM);
    }
}

/* ---- the network inside a node ---- */

void nsc_rule_net_within_node(struct nsc_case *c)
{
    struct nsc_finding *f = NULL;
    uint32_t proc = NSC_NONE;
    bool socket = false;
    for (size_t i = 0; i < c->m->link_order.len; i++) {
        const struct nsc_link *l = &c->m->links.item[c->m->link_order.item[i]];
        struct nsc_known_path p;
        nsc_path_of(c->m, l, &p);
        if (l->family != NSC_NET || p.scope != NSC_SCOPE_NODE)
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_WARNING, "fault", "certain");
        proc = l->proc;
        socket = socket || p.path == NSC_PATH_SOCKET;
        nsc_add_link(c, f, l);
    }
    if (!f)
        return;
    const struct nsc_env *no_shm = nsc_env_is(c->m, proc, "NCCL_SHM_DISABLE", "1");
    f->title = nsc_words(c, "%s talk%s over the network, though each is on one host%s", who(c, f, "ranks"),
                         f->pairs.len == 1 ? "s" : "", socket ? " (TCP sockets inside the machine)" : "");
    if (no_shm) {
        f->cls = "configuration";
        f->caused_by = "env/shm-disabled";
        f->cause = nsc_p2p_disabled(c->m, proc)
                       ? "P2P and shared memory are both switched off: only the network is left."
                       : "NCCL_SHM_DISABLE=1, and P2P is not possible between these GPUs: only the network is left.";
        f->fix = "Remove NCCL_SHM_DISABLE, and NCCL_P2P_DISABLE if it is set.";
        nsc_show_first(c, f, &no_shm->where);
        const struct nsc_env *no_p2p = nsc_p2p_disabled(c->m, proc);
        nsc_show_first(c, f, no_p2p ? &no_p2p->where : NULL);
    } else {
        f->cause = "NCCL refused P2P and shared memory between processes of one host name: they see different /dev/shm "
                   "devices (containers without "
                   "shared IPC), NCCL_HOSTID differs, or both NICs are nearer to the GPUs than the GPUs to each other.";
    }
    if (socket)
        f->cost = nsc_cost(c, NSC_COST_LOOPBACK);
}

/* ---- one GPU per pod ---- */

struct pods {
    size_t hosts;               /* host names in the communicator, as far as seen */
    int64_t most_ranks;         /* on one host name */
    const struct nsc_rank *one; /* a rank of it */
    const struct nsc_proc *platform;
    const struct nsc_rank *high; /* its NVML index says that the machine has more GPUs than its host name shows */
};

static int64_t ranks_on_host(const struct ncclscope_model *m, const struct nsc_comm *c, nsc_str host)
{
    int64_t n = 0, last = -1;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        n += m->procs.item[r->proc].host == host && r->rank != last;
        last = r->rank;
    }
    return n;
}

/* GPUs that a host name shows in the whole input: not only in this communicator, which may be a group of the job. */
static int64_t gpus_on_host(const struct ncclscope_model *m, nsc_str host)
{
    uint64_t seen[4] = {0};
    int64_t most = 0, n = 0;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (m->procs.item[r->proc].host != host)
            continue;
        most = r->local_ranks > most ? r->local_ranks : most;
        if (r->nvml_dev >= 0 && r->nvml_dev < 256)
            seen[r->nvml_dev / 64] |= (uint64_t)1 << (r->nvml_dev % 64);
    }
    for (size_t i = 0; i < 4; i++)
        n += __builtin_popcountll(seen[i]);
    return n > most ? n : most;
}

static struct pods look_at_pods(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    struct pods p = {0};
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        const struct nsc_proc *proc = &m->procs.item[r->proc];
        bool new_host = true;
        for (uint32_t k = 0; k < i && new_host; k++)
            new_host = m->procs.item[m->ranks.item[m->members.item[c->first + k]].proc].host != proc->host;
        p.one = p.one ? p.one : r;
        p.platform = p.platform || !proc->platform ? p.platform : proc;
        if (!new_host)
            continue;
        int64_t here = gpus_on_host(m, proc->host);
        here = here ? here : ranks_on_host(m, c, proc->host);
        p.hosts++;
        p.most_ranks = here > p.most_ranks ? here : p.most_ranks;
        for (uint32_t k = i; k < c->count && !p.high; k++) {
            const struct nsc_rank *x = &m->ranks.item[m->members.item[c->first + k]];
            p.high = m->procs.item[x->proc].host == proc->host && x->nvml_dev >= here ? x : NULL;
        }
    }
    return p;
}

/* "Rank 0 reaches ranks 1-3 over EFA (Libfabric, GDRDMA)": what one rank's log tells of its connections. */
static const char *reach(struct nsc_case *c, uint32_t comm, const struct nsc_rank *one)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_event *provider = nsc_event_of(m, one->proc, NCCLSCOPE_KIND_OFI_PROVIDER);
    struct nsc_finding peers = {0};
    const struct nsc_link *some = NULL;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->family != NSC_NET || nsc_comm_of_link(m, l) != comm)
            continue;
        some = l;
        nsc_name_rank(c, &peers, (int64_t)l->src == one->rank ? l->dst : l->src);
    }
    if (!some)
        return nsc_words(c, "Rank %lld is alone on its host name", (long long)one->rank);
    bool efa = provider && nsc_text_starts(nsc_say(m, provider->text), "efa");
    const char *words = nsc_words(c, "Rank %lld reaches %s over %s%s%s%s", (long long)one->rank,
                                  nsc_list_ranks(c, &peers), efa ? "EFA (" : "", nsc_say(m, some->network).ptr,
                                  some->gdrdma ? efa ? ", GDRDMA" : " (GDRDMA)" : "", efa ? ")" : "");
    nsc_vec_free(&peers.ranks);
    return words;
}

static void tell_pods(struct nsc_case *c, struct nsc_finding *f, uint32_t comm, const struct pods *p,
                      const struct nsc_platform *pf)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_comm *k = &m->comms.item[comm];
    const char *each = p->most_ranks == 1 ? "one GPU" : nsc_words(c, "%lld GPUs", (long long)p->most_ranks);
    f->comm = comm;
    f->count = p->hosts;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        nsc_name_host(c, f, m->procs.item[r->proc].host);
        nsc_name_rank(c, f, (uint64_t)r->rank);
    }
    if (!strcmp(f->confidence, "certain")) {
        f->title = nsc_words(c, "%zu host names (pods) with %s each share one machine, and talk over the network",
                             p->hosts, each);
        f->cause = "Processes under different host names bootstrap from one and the same address: one machine. To NCCL "
                   "another host name is "
                   "another node, so P2P and shared memory are not even tried.";
    } else if (pf && k->count == 1 && p->most_ranks == 1) {
        f->title = nsc_words(c, "%s, one GPU per pod, on a %s that has %d %s joined by %s", reach(c, comm, p->one),
                             pf->name, pf->gpus, pf->model, pf->link);
    } else if (pf) {
        f->title = nsc_words(c, "Each host name (pod) has %s of a %s, which has %d %s joined by %s", each, pf->name,
                             pf->gpus, pf->model, pf->link);
    }
    if (!f->cause && pf) {
        f->cause = nsc_words(c,
                             "If these pods share a machine, %s (%g GB/s one way per GPU) lies idle behind a NIC of %g "
                             "GB/s. The log cannot tell "
                             "whether they do: %lld of %lld ranks %s in this input.",
                             pf->link, pf->link_gb_s, pf->nic_gb_s, (long long)k->seen, (long long)k->nranks,
                             k->seen == 1 ? "is" : "are");
        f->cost = nsc_words(c, "%gx: %g against %g GB/s per GPU one way, nominal (%s)", pf->link_gb_s / pf->nic_gb_s,
                            pf->nic_gb_s, pf->link_gb_s, pf->source);
    } else if (!f->cause) {
        f->title = nsc_words(c, "Each host name (pod) has %s, but the machine has more", each);
        f->cause = nsc_words(c,
                             "Rank %lld is on NVML device %lld, and its host name shows %lld: the machine has more "
                             "GPUs than this pod uses. If the "
                             "job's other pods are on the same machine, their direct links lie idle.",
                             (long long)p->high->rank, (long long)p->high->nvml_dev, (long long)p->most_ranks);
    }
    if (!f->cost && !strcmp(f->confidence, "certain"))
        f->cost = nsc_cost(c, p->most_ranks == 1 ? NSC_COST_LOOPBACK : NSC_COST_SOCKET);
}

/* Host names are nodes to NCCL; here they hold fewer GPUs than their machine. Only communicators that NCCL spread over nodes. */
void nsc_rule_pod_per_gpu(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        struct pods p = look_at_pods(m, k);
        if (k->parent != NSC_NONE || !p.one || (k->nnodes >= 0 ? k->nnodes : (int64_t)p.hosts) < 2)
            continue;
        bool certain = nsc_shares_address(m, (uint32_t)i);
        bool one_host =
            p.hosts == 1 && k->count > 1 && p.most_ranks < k->count; /* same name: /dev/shm or NCCL_HOSTID, not pods */
        const struct nsc_platform *pf = p.platform ? nsc_platform_of(nsc_say(m, p.platform->platform)) : NULL;
        bool few = pf && p.most_ranks < pf->gpus;
        if (!certain && (one_host || (!few && !p.high)))
            continue;
        struct nsc_finding *f =
            nsc_found(c, certain ? NCCLSCOPE_ERROR : NCCLSCOPE_WARNING, "fault", certain ? "certain" : "likely");
        tell_pods(c, f, (uint32_t)i, &p, few ? pf : NULL);
        for (uint32_t r = 0; certain && r < k->count; r++)
            nsc_show(c, f, &m->procs.item[m->ranks.item[m->members.item[k->first + r]].proc].bootstrap_at);
        nsc_show(c, f, few ? &p.platform->platform_at : NULL);
        nsc_show(c, f, p.high && !certain ? &p.high->first : NULL);
        nsc_show(c, f, &p.one->shape_at);
        return; /* further communicators of the same processes say the same */
    }
}

/* ---- P2P: how, and over what ---- */

/* All P2P links for which `is` holds, as one finding; NULL if there is none. */
static struct nsc_finding *
p2p_links(struct nsc_case *c, bool (*is)(const struct ncclscope_model *, const struct nsc_link *), uint32_t *proc)
{
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < c->m->link_order.len; i++) {
        const struct nsc_link *l = &c->m->links.item[c->m->link_order.item[i]];
        if (!is(c->m, l))
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_NOTE, "by-design", "certain");
        *proc = l->proc;
        nsc_add_link(c, f, l);
    }
    return f;
}

static bool is_read(const struct ncclscope_model *m, const struct nsc_link *l)
{
    (void)m;
    return l->family == NSC_P2P && l->read;
}

void nsc_rule_p2p_read(struct nsc_case *c)
{
    uint32_t proc = NSC_NONE;
    struct nsc_finding *f = p2p_links(c, is_read, &proc);
    if (!f)
        return;
    const struct nsc_env *forced = proc == NSC_NONE ? NULL : nsc_env_is(c->m, proc, "NCCL_P2P_READ_ENABLE", "1");
    bool env_visible = proc != NSC_NONE && nsc_env_is_visible(c->m, proc);
    if (forced) {
        f->severity = NCCLSCOPE_WARNING;
        f->cls = "configuration";
        f->title = "P2P links pull (read) instead of pushing (write): NCCL_P2P_READ_ENABLE=1 is set";
        f->cause = "NCCL_P2P_READ_ENABLE=1. NCCL itself chooses read only between NVLink-connected GPUs of compute "
                   "capability 8.0 (A100).";
        f->cost = nsc_cost(c, NSC_COST_READ);
        nsc_show_first(c, f, &forced->where);
        return;
    }
    f->title = env_visible ? "P2P links read: A100-class GPUs (compute capability 8.0) joined by NVLink"
                           : "P2P links read instead of write";
    f->confidence = env_visible ? "certain" : "possible";
    f->cause = env_visible
                   ? "NCCL's default there, and no sign of virtualisation or of a missing permission: nothing to mend."
                   : "NCCL's default on A100-class NVLink; but this log shows no environment lines, so "
                     "NCCL_P2P_READ_ENABLE=1 may force it.";
    f->fix = env_visible ? "Nothing to mend on this machine." : f->fix;
}

static bool is_copy_engine(const struct ncclscope_model *m, const struct nsc_link *l)
{
    (void)m;
    return (l->family == NSC_P2P || l->family == NSC_SHM) && l->copy_engine;
}

void nsc_rule_p2p_copy_engine(struct nsc_case *c)
{
    uint32_t proc = NSC_NONE;
    struct nsc_finding *f = p2p_links(c, is_copy_engine, &proc);
    if (!f)
        return;
    const struct nsc_env *e = proc == NSC_NONE ? NULL : nsc_env_of(c->m, proc, "NCCL_P2P_USE_CUDA_MEMCPY");
    e = e || proc == NSC_NONE ? e : nsc_env_of(c->m, proc, "NCCL_SHM_USE_CUDA_MEMCPY");
    bool p2p = false;
    for (size_t i = 0; i < c->m->links.len; i++)
        p2p = p2p || (c->m->links.item[i].family == NSC_P2P && c->m->links.item[i].copy_engine);
    f->severity = NCCLSCOPE_WARNING;
    f->cls = "configuration";
    f->title = nsc_words(c, "%zu pair%s of GPUs move data by copy engine (/CE), not by kernels", f->pairs.len,
                         f->pairs.len == 1 ? "" : "s");
    f->cause = e ? nsc_words(c, "%s=%s is set", nsc_say(c->m, e->name).ptr, nsc_say(c->m, e->value).ptr)
                 : "NCCL_P2P_USE_CUDA_MEMCPY or NCCL_SHM_USE_CUDA_MEMCPY; this log shows no line of either.";
    f->cost = p2p ? nsc_cost(c, NSC_COST_COPY_ENGINE) : NULL; /* measured for P2P; host memory has a cost of its own */
    nsc_show_first(c, f, e ? &e->where : NULL);
}

static bool is_indirect(const struct ncclscope_model *m, const struct nsc_link *l)
{
    (void)m;
    return l->row == NSC_VIA_P2P_INDIRECT;
}

void nsc_rule_p2p_indirect(struct nsc_case *c)
{
    uint32_t proc = NSC_NONE;
    struct nsc_finding *f = p2p_links(c, is_indirect, &proc);
    if (!f)
        return;
    f->severity = NCCLSCOPE_NOTE;
    f->cls = "by-design";
    f->title = nsc_words(c, "%zu pair%s of GPUs talk%s through the memory of a third GPU", f->pairs.len,
                         f->pairs.len == 1 ? "" : "s", f->pairs.len == 1 ? "s" : "");
    f->cause =
        "They have no NVLink of their own, but both have one to a third GPU: so machines with a cube mesh are built.";
}

static bool is_unproven(const struct ncclscope_model *m, const struct nsc_link *l)
{
    struct nsc_known_path p;
    if (l->family != NSC_P2P)
        return false;
    nsc_path_of(m, l, &p);
    return p.path == NSC_PATH_P2P;
}

void nsc_rule_p2p_link_unproven(struct nsc_case *c)
{
    uint32_t proc = NSC_NONE;
    struct nsc_finding *f = p2p_links(c, is_unproven, &proc);
    if (!f)
        return;
    f->cls = "visibility";
    f->title = nsc_words(c, "%zu pair%s of GPUs use P2P; %s or PCIe cannot be told from this log", f->pairs.len,
                         f->pairs.len == 1 ? "" : "s", nsc_is_rccl(c->m) ? "xGMI" : "NVLink");
    f->cause = "NCCL prints the same words for P2P over NVLink and over PCIe, and no line here tells them apart.";
}
