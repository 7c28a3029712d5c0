/* rules_transport.c - paths between ranks of one node: P2P, shared memory, and the network where it should not be. */
#include "rules/expect.h"
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

/* One finding for each reason. */
enum shm_cause { SHM_DISABLED, SHM_LEVEL, SHM_FAULT, SHM_BY_DESIGN, SHM_REFUSED, SHM_UNKNOWN, SHM_CAUSES };

static enum shm_cause shm_cause(const struct ncclscope_model *m, const struct nsc_link *l, struct nsc_expected *e)
{
    switch (nsc_judge(m, l, e)) {
    case NSC_CONFIGURED: return e->because == NSC_BY_DISABLE ? SHM_DISABLED : SHM_LEVEL;
    case NSC_FAULTY: return SHM_FAULT;
    case NSC_BY_DESIGN: return SHM_BY_DESIGN;
    case NSC_REFUSED: return SHM_REFUSED;
    default: return SHM_UNKNOWN;
    }
}

static const struct {
    int severity;
    const char *cls, *confidence, *caused_by;
} shm_words[SHM_CAUSES] = {
    [SHM_DISABLED] = {NCCLSCOPE_WARNING, "configuration", "certain", "env/p2p-disabled"},
    [SHM_LEVEL] = {NCCLSCOPE_WARNING, "configuration", "likely", "env/p2p-level"},
    [SHM_FAULT] = {NCCLSCOPE_WARNING, "fault", "certain", NULL},
    [SHM_BY_DESIGN] = {NCCLSCOPE_NOTE, "by-design", "certain", NULL},
    [SHM_REFUSED] = {NCCLSCOPE_WARNING, "unknown", "likely", "transport/p2p-disabled-by-driver"},
    [SHM_UNKNOWN] = {NCCLSCOPE_WARNING, "unknown", "certain", NULL},
};

/* NCCL prints NCCL_P2P_DISABLE and NCCL_P2P_LEVEL at INFO whatever the subsystems, before a communicator is complete: where its beginning
 * is in the log, so would they be. */
static bool shows_p2p_variables(const struct ncclscope_model *m, uint32_t proc)
{
    if (proc == NSC_NONE || nsc_version_of(m, proc).low < 20703)
        return false;
    for (uint32_t i = m->procs.item[proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before)
        if (m->ranks.item[i].start.line && m->ranks.item[i].complete.line && m->ranks.item[i].local_ranks > 1)
            return true;
    return false;
}

/* One NCCL node of two ranks whose chunk is small: the pair has no NVLink, or none that may be used for P2P. */
static bool lacks_nvlink(const struct ncclscope_model *m, uint32_t proc)
{
    for (uint32_t i = proc == NSC_NONE ? NSC_NONE : m->procs.item[proc].last_rank; i != NSC_NONE;
         i = m->ranks.item[i].before) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->nnodes == 1 && r->nranks == 2 && r->chunk > 0 && r->chunk < 524288 && !m->procs.item[proc].rccl &&
            nsc_version_of(m, proc).low >= 21602)
            return true;
    }
    return false;
}

static void explain_shm(struct nsc_case *c, struct nsc_finding *f, enum shm_cause why, const struct nsc_expected *e,
                        uint32_t proc)
{
    const struct ncclscope_model *m = c->m;
    const char *type = e->type ? nsc_say(m, e->type).ptr : "", *value = e->env ? nsc_say(m, e->env->value).ptr : "";
    nsc_show_first(c, f, e->env ? &e->env->where : e->line);
    switch (why) {
    case SHM_DISABLED:
        f->cause = nsc_words(c, "%s=%s is set: NCCL may not use P2P at all.%s", nsc_say(m, e->env->name).ptr, value,
                             e->env->by_pod ? NSC_BY_POD : "");
        f->confidence = e->env->by_pod ? "likely" : f->confidence;
        f->fix = "Remove the variable (environment, /etc/nccl.conf, ~/.nccl.conf, image); then look for P2P/CUMEM or "
                 "P2P/IPC.";
        break;
    case SHM_LEVEL:
        f->cause = nsc_words(
            c, "NCCL_P2P_LEVEL=%s allows P2P only up to that distance; farther pairs go through host memory%s%s%s",
            value, *type ? " (these are " : "", type, *type ? " apart)" : "");
        f->confidence = *type ? "certain" : f->confidence;
        f->fix = "Unset NCCL_P2P_LEVEL and compare; NCCL's own default fits most machines.";
        break;
    case SHM_FAULT:
        f->cause =
            e->by_platform ? "On this machine type all GPUs of a node have NVLink, and nothing in the log forbids P2P."
            : e->by_proof
                ? "Lines of these GPUs' communicators prove NVLink between them, and nothing in the log forbids "
                  "P2P."
                : nsc_words(c,
                            "The topology in this input shows %s%s%s between these GPUs, near enough for P2P, and "
                            "nothing in the log forbids it.",
                            nsc_class_is_nvlink(nsc_say(m, e->type)) ? "NVLink (" : "", type,
                            nsc_class_is_nvlink(nsc_say(m, e->type)) ? ")" : "");
        f->confidence = e->type && nsc_class_is_nvlink(nsc_say(m, e->type)) ? "certain" : "likely";
        f->fix = "Check `nvidia-smi topo -p2p r` and `-p2p w`, the fabric manager (NVSwitch machines) and the "
                 "container's access to all GPUs.";
        break;
    case SHM_BY_DESIGN:
        f->fix = "Nothing to mend on this machine.";
        if (e->because == NSC_BY_MIG) {
            f->title = nsc_words(c, "%s: right for slices of a GPU (MIG) or ranks on one GPU", f->title);
            f->cause = "Slices of a GPU (MIG), or several ranks on one, have no P2P: host memory is what NCCL chooses.";
            break;
        }
        f->cause = nsc_words(c,
                             "These GPUs meet only at the CPU (%s): host memory is what NCCL chooses there by its "
                             "own rules%s.",
                             type, e->likely ? ", on most machines" : "");
        f->title = nsc_words(c, "%s: right on this hardware, they meet only at the CPU (%s)", f->title, type);
        f->confidence = e->likely ? "likely" : "certain";
        break;
    case SHM_REFUSED:
        f->cause = "The driver or CUDA refuses P2P between these GPUs. Right for GPUs without P2P; a fault where "
                   "IOMMU, ACS or a hypervisor hides it.";
        f->fix = "Compare `nvidia-smi topo -p2p r` (CNS: chipset or VM, GNS: GPU model, TNS: topology).";
        break;
    default:
        if (e->because == NSC_BY_SILENCE) {
            f->cause =
                "By its own rules NCCL takes P2P across sockets (SYS) here. That the driver refuses it, as on many "
                "such machines and GPU models, NCCL does not print for these pairs.";
            f->fix = "Compare `nvidia-smi topo -p2p r` and `-p2p w` on the node: CNS or GNS explains it.";
            break;
        }
        f->cause =
            shows_p2p_variables(m, proc)
                ? "The log does not say why; no variable on P2P is set, or it would show. In order of likelihood: "
                  "GPUs that meet only at the CPU, GPUs or a VM without P2P, a container that sees only its own GPU."
                : "The log does not say why. In order of likelihood: P2P switched off by a variable that this log "
                  "does not show, GPUs that meet only at the CPU, GPUs or a VM without P2P, a container that sees "
                  "only its own GPU.";
        f->fix = "Run once with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH, and look at `nvidia-smi topo -m` and "
                 "`-p2p r` on the node.";
    }
}

void nsc_rule_shm_within_node(struct nsc_case *c)
{
    struct nsc_finding *f[SHM_CAUSES] = {NULL};
    size_t at[SHM_CAUSES];
    struct nsc_expected first[SHM_CAUSES], e;
    uint32_t procs[SHM_CAUSES];
    for (size_t i = 0; i < c->m->link_order.len; i++) {
        const struct nsc_link *l = &c->m->links.item[c->m->link_order.item[i]];
        if (l->family != NSC_SHM)
            continue;
        enum shm_cause why = shm_cause(c->m, l, &e);
        if (!f[why]) {
            nsc_found(c, shm_words[why].severity, shm_words[why].cls, shm_words[why].confidence);
            if (c->f->no_memory)
                return;
            at[why] = c->f->list.len - 1;
            first[why] = e;
            procs[why] = l->proc;
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
        explain_shm(c, f[why], (enum shm_cause)why, &first[why], procs[why]);
        if (why == SHM_UNKNOWN && lacks_nvlink(c->m, procs[why]))
            first[why].level = NSC_LEVEL_PHB;
        if (why != SHM_BY_DESIGN)
            nsc_set_cost_of_level(c, f[why], NSC_COST_SHM, NSC_COST_P2P, procs[why], first[why].level);
    }
}

/* ---- the network inside a node ---- */

enum { NET_ODD, NET_BY_DESIGN, NET_CAUSES };

/* Another process of this one's host says another NCCL_HOSTID; NULL: none does. */
static const struct nsc_env *other_host_id(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_env *own = nsc_env_of(m, proc, "NCCL_HOSTID");
    for (size_t i = 0; own && i < m->env.len; i++) {
        const struct nsc_env *e = &m->env.item[i];
        if (e->name == own->name && e->value != own->value && m->procs.item[e->proc].host == m->procs.item[proc].host)
            return own;
    }
    return NULL;
}

static void explain_net(struct nsc_case *c, struct nsc_finding *f, uint32_t proc, bool socket)
{
    const struct nsc_env *no_shm = nsc_env_is(c->m, proc, "NCCL_SHM_DISABLE", "1");
    const struct nsc_env *no_p2p = nsc_p2p_disabled(c->m, proc);
    const struct nsc_env *id = proc == NSC_NONE ? NULL : other_host_id(c->m, proc);
    if (!no_shm && id) {
        f->cls = "configuration";
        f->caused_by = "env/hostid";
        f->cause =
            nsc_words(c,
                      "NCCL_HOSTID differs between processes of one host (%s is one of its values): to NCCL they "
                      "are on different nodes, and P2P and shared memory are not tried.",
                      nsc_say(c->m, id->value).ptr);
        f->fix = "One value for all processes of a machine, or none.";
        nsc_show_first(c, f, &id->where);
        return;
    }
    if (!no_shm) {
        bool hidden = proc == NSC_NONE || !nsc_env_is_visible(c->m, proc);
        f->confidence = socket && !hidden ? f->confidence : "likely"; /* a fast NIC may be nearer than the other GPU */
        f->cause = nsc_words(
            c,
            "NCCL refused P2P and shared memory between processes of one host name: they see different /dev/shm "
            "devices (containers without shared IPC), NCCL_HOSTID differs, %sboth NICs are nearer to the GPUs "
            "than the GPUs to each other%s.",
            hidden ? "" : "or ",
            hidden ? ", or NCCL_P2P_DISABLE and NCCL_SHM_DISABLE are set, which this log would not show" : "");
        return;
    }
    f->cls = "configuration";
    f->caused_by = "env/shm-disabled";
    f->cause = nsc_words(c, "%s: only the network is left.%s",
                         no_p2p ? "P2P and shared memory are both switched off"
                                : "NCCL_SHM_DISABLE=1, and P2P is not possible between these GPUs",
                         no_shm->by_pod ? NSC_BY_POD : "");
    f->confidence = no_shm->by_pod ? "likely" : f->confidence;
    f->fix = "Remove NCCL_SHM_DISABLE, and NCCL_P2P_DISABLE if it is set.";
    nsc_show_first(c, f, &no_shm->where);
    nsc_show_first(c, f, no_p2p ? &no_p2p->where : NULL);
}

static void explain_near_nic(struct nsc_case *c, struct nsc_finding *f, const struct nsc_expected *e)
{
    f->severity = NCCLSCOPE_NOTE;
    f->cls = "by-design";
    f->cause = nsc_words(c,
                         "Both GPUs reach a NIC faster than each other (%s): NCCL then takes the network inside a "
                         "node too, by its own rules.",
                         nsc_say(c->m, e->type).ptr);
    f->fix = "Nothing to mend; NCCL_NET_DISABLE_INTRA=1 to compare.";
    nsc_show_first(c, f, e->line);
}

void nsc_rule_net_within_node(struct nsc_case *c)
{
    bool there[NET_CAUSES] = {false}, socket[NET_CAUSES] = {false};
    size_t at[NET_CAUSES];
    uint32_t procs[NET_CAUSES];
    struct nsc_expected first[NET_CAUSES], e;
    for (size_t i = 0; i < c->m->link_order.len; i++) {
        const struct nsc_link *l = &c->m->links.item[c->m->link_order.item[i]];
        struct nsc_known_path p;
        nsc_path_of(c->m, l, &p);
        if (l->family != NSC_NET || p.scope != NSC_SCOPE_NODE)
            continue;
        int why = nsc_judge(c->m, l, &e) == NSC_BY_DESIGN && e.because == NSC_BY_NIC ? NET_BY_DESIGN : NET_ODD;
        if (!there[why]) {
            nsc_found(c, NCCLSCOPE_WARNING, "fault", "certain");
            if (c->f->no_memory)
                return;
            at[why] = c->f->list.len - 1;
            procs[why] = l->proc;
            first[why] = e;
            there[why] = true;
        }
        socket[why] = socket[why] || p.path == NSC_PATH_SOCKET;
        nsc_add_link(c, &c->f->list.item[at[why]], l);
    }
    for (int why = 0; why < NET_CAUSES; why++) {
        if (!there[why])
            continue;
        struct nsc_finding *f = &c->f->list.item[at[why]];
        f->title = nsc_words(c, "%s talk%s over the network, though each is on one host%s", who(c, f, "ranks"),
                             f->pairs.len == 1 ? "s" : "", socket[why] ? " (TCP sockets inside the machine)" : "");
        if (why == NET_BY_DESIGN)
            explain_near_nic(c, f, &first[why]);
        else
            explain_net(c, f, procs[why], socket[why]);
        if (socket[why] && why != NET_BY_DESIGN)
            nsc_set_cost_of_level(c, f, NSC_COST_LOOPBACK, NSC_COST_P2P, procs[why], first[why].level);
    }
}
