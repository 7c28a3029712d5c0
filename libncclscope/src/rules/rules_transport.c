/* rules_transport.c - paths between ranks of one node: P2P, shared memory, and the network where it should not be. */
#include "read/changes.h"
#include "rules/expect.h"
#include "rules/ask.h"
#include "rules/questions.h"

#include <stdio.h>

enum { PAIRS_BY_NAME = 3 };

/* "ranks 0 and 1, 2 and 3" of a few pairs, whose ranks alone would not tell them; else "ranks 0-7". */
static const char *name_pairs(struct nsc_case *c, const struct nsc_finding *f)
{
    bool apart = f->ranks.len > f->pairs.len + 1; /* no chain of neighbours, as "ranks 0-3" of three pairs is read */
    if (!apart || f->pairs.len > PAIRS_BY_NAME || f->all_pairs > f->pairs.len)
        return nsc_list_ranks(c, f);
    const char *all = "ranks";
    for (size_t i = 0; i < f->pairs.len; i++)
        all = nsc_words(c, "%s%s %llu and %llu", all, i ? "," : "", (unsigned long long)f->pairs.item[i].a,
                        (unsigned long long)f->pairs.item[i].b);
    return all;
}

/* "8 pairs of GPUs of vm (ranks 0-7)": who a finding is about. */
static const char *who(struct nsc_case *c, const struct nsc_finding *f, const char *things)
{
    const char *hosts = f->hosts.len == 1  ? nsc_words(c, " of %s", nsc_say(c->m, f->hosts.item[0]).ptr)
                        : f->hosts.len > 1 ? nsc_words(c, " of %zu hosts", f->hosts.len)
                                           : "";
    long long size = f->comm == NSC_NONE ? 0 : (long long)c->m->comms.item[f->comm].nranks;
    return nsc_words(c, "%s%s (%s%s)", nsc_count_pairs(c, f, things), hosts, name_pairs(c, f),
                     f->all_pairs > f->pairs.len && size ? nsc_words(c, " of a communicator of %lld, and others", size)
                                                         : "");
}

/* ---- shared memory inside a node ---- */

/* NCCL prints NCCL_P2P_DISABLE and NCCL_P2P_LEVEL at INFO whatever the subsystems, before a communicator is complete: where its beginning
 * is in the log, so would they be. */
static bool shows_p2p_variables(const struct ncclscope_model *m, uint32_t proc)
{
    if (proc == NSC_NONE || nsc_version_of(m, proc).low < NSC_CHANGE_P2P_VARIABLES_TOLD)
        return false;
    /* older releases tell not how many ranks are on the node, and up to 2.18.1 not that one starts: here two of it talk by SHM */
    bool untold = nsc_version_of(m, proc).high < NSC_CHANGE_COMM_SHAPE, begins = untold && m->procs.item[proc].starts;
    for (uint32_t i = m->procs.item[proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->complete.line && (r->start.line || begins) && (untold ? r->nranks > 1 : r->local_ranks > 1))
            return true;
    }
    return false;
}

/* Did the process make a communicator of one such pair: without NVLink, or with none that may be used for P2P? */
static bool lacks_nvlink(const struct ncclscope_model *m, uint32_t proc)
{
    for (uint32_t i = proc == NSC_NONE ? NSC_NONE : m->procs.item[proc].last_rank; i != NSC_NONE;
         i = m->ranks.item[i].before) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->nranks == 2 && nsc_chunk_excludes_nvlink(m, r))
            return true;
    }
    return false;
}

/* One finding for each reason. */
static enum nsc_shm_reason shm_reason(const struct nsc_case *c, const struct nsc_link *l, struct nsc_expected *e)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_judged *x = nsc_judged_of(c->f, l);
    bool nvlink;
    *e = x->e;
    switch (x->is) {
    case NSC_CONFIGURED: return e->because == NSC_BY_DISABLE ? NSC_SHM_BY_DISABLE : NSC_SHM_BY_LEVEL;
    case NSC_FAULTY:
        nvlink = e->by_proof || (e->type && nsc_class_is_nvlink(nsc_say(m, e->type)));
        return e->by_platform ? NSC_SHM_BY_PLATFORM : nvlink ? NSC_SHM_NVLINK : NSC_SHM_NEAR;
    case NSC_BY_DESIGN: return e->because == NSC_BY_MIG ? NSC_SHM_SLICES : e->by_cpus ? NSC_SHM_PARTED : NSC_SHM_FAR;
    case NSC_REFUSED:
        return e->type && e->level == NSC_LEVEL_SYS && nsc_refusal_of(m, l) ? NSC_SHM_REFUSED_FAR : NSC_SHM_REFUSED;
    default:
        return e->because == NSC_BY_SILENCE      ? NSC_SHM_SILENT
               : shows_p2p_variables(m, l->proc) ? NSC_SHM_UNSAID_VISIBLE
                                                 : NSC_SHM_UNSAID;
    }
}

static enum nsc_id shm_root(enum nsc_shm_reason why)
{
    return why == NSC_SHM_BY_DISABLE                              ? NSC_ID_ENV_P2P_DISABLED
           : why == NSC_SHM_BY_LEVEL                              ? NSC_ID_ENV_P2P_LEVEL
           : why == NSC_SHM_REFUSED || why == NSC_SHM_REFUSED_FAR ? NSC_ID_TRANSPORT_P2P_DISABLED_BY_DRIVER
                                                                  : NSC_ID_NONE;
}

/* Was this found, and is it a note? */
static bool is_noted(const struct nsc_case *c, enum nsc_id key)
{
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].rule->key == key)
            return c->f->list.item[i].severity == NCCLSCOPE_SEVERITY_NOTE && !strcmp(c->f->list.item[i].cls, "unknown");
    return false;
}

static void explain_shm(struct nsc_case *c, struct nsc_finding *f, enum nsc_shm_reason why,
                        const struct nsc_expected *e, const struct nsc_link *l)
{
    const struct ncclscope_model *m = c->m;
    const char *type = e->type ? nsc_say(m, e->type).ptr : "";
    struct nsc_ask ask = {
        .c = c, .m = m, .proc = l->proc, .link = l, .reason = (int)why, .distance = type, .env = e->env};
    bool open = why == NSC_SHM_UNSAID || why == NSC_SHM_UNSAID_VISIBLE || why == NSC_SHM_SILENT;
    f->caused_by = shm_root(why);
    f->cls = open || why == NSC_SHM_REFUSED ? "unknown" : f->cls;
    nsc_show_first(c, f, e->env ? &e->env->where : e->line);
    nsc_explain(c, f, &ask);
    if (why == NSC_SHM_REFUSED && is_noted(c, f->caused_by)) { /* what makes it so is a property of the hardware */
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
        f->title = nsc_words(c, "%s: the driver or CUDA refuses P2P; this log cannot tell whether they should have it",
                             f->title);
        return;
    }
    if (open && !strcmp(f->cls, "configuration")) /* how the job was started, or NCCL built, shows why */
        return;
    if (open && f->severity > NCCLSCOPE_SEVERITY_NOTE)
        f->confidence = "certain"; /* that it is host memory; why is open */
    if ((why == NSC_SHM_UNSAID_VISIBLE || why == NSC_SHM_UNSAID) &&
        f->severity > NCCLSCOPE_SEVERITY_NOTE) { /* no line says why: it may be right */
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
        f->title = nsc_words(c, "%s; this log cannot tell whether they could", f->title);
        return;
    }
    if (why == NSC_SHM_BY_LEVEL && *type)
        f->confidence = "certain";
    if (why == NSC_SHM_NVLINK && !*type) /* inferred, and no line about the pair */
        f->confidence = "likely";
    if (why == NSC_SHM_FAR && e->likely)
        f->confidence = "likely";
    if (e->env && e->env->proc != l->proc) /* another process's variable */
        f->confidence = "likely";
    if (e->env && e->env->by_pod) {
        f->confidence = "likely";
        f->cause = nsc_words(c, "%s%s", f->cause, nsc_env_source(e->env));
    }
    if (f->severity == NCCLSCOPE_SEVERITY_NOTE)
        f->title =
            nsc_words(c, "%s: right on this hardware%s%s%s", f->title, *type || why == NSC_SHM_SLICES ? " (" : "",
                      why == NSC_SHM_SLICES ? "MIG slices, or ranks that share one GPU" : type,
                      *type || why == NSC_SHM_SLICES ? ")" : "");
}

static bool uses_p2p(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->link_order.len; i++)
        if (m->links.item[m->link_order.item[i]].family == NSC_P2P)
            return true;
    return false;
}

static nsc_str host_of(const struct ncclscope_model *m, uint32_t proc)
{
    return proc == NSC_NONE ? 0 : m->procs.item[proc].host;
}

/* Where no pair of the whole input has P2P, a process whose own lines show no variable that forbids it has that of another process of its
 * host, or that of lines that lost their header. Host 0: that of any process. Fills of_host with indices into model.env. */
static bool forbidden_by_host(const struct ncclscope_model *m, struct nsc_map *of_host)
{
    bool failed = false;
    if (!nsc_p2p_disabled(m, NSC_NONE) || uses_p2p(m))
        return true;
    for (size_t i = 0; i < m->env.len; i++) {
        const struct nsc_env *e = &m->env.item[i];
        if (nsc_p2p_disabled(m, e->proc) != e)
            continue;
        struct nsc_key host = {host_of(m, e->proc), 0, 0}, any = {0, 1, 0};
        failed |= nsc_map_get(of_host, host) == NSC_NONE && nsc_map_put(of_host, host, (uint32_t)i);
        failed |= nsc_map_get(of_host, any) == NSC_NONE && nsc_map_put(of_host, any, (uint32_t)i);
    }
    return !failed;
}

static const struct nsc_env *forbidden_at(const struct ncclscope_model *m, const struct nsc_map *of_host, uint32_t proc)
{
    nsc_str host = host_of(m, proc);
    uint32_t at = nsc_map_get(of_host, (struct nsc_key){host, !host, 0});
    if (at == NSC_NONE)
        at = nsc_map_get(of_host, (struct nsc_key){0, 0, 0});
    return at == NSC_NONE ? NULL : &m->env.item[at];
}

void nsc_rule_shm_within_node(struct nsc_case *c)
{
    struct nsc_map forbidden = {0};
    c->f->no_memory |= !forbidden_by_host(c->m, &forbidden);
    bool there[NSC_SHM_REASONS] = {false};
    size_t at[NSC_SHM_REASONS];
    struct nsc_expected first[NSC_SHM_REASONS], e;
    const struct nsc_link *link[NSC_SHM_REASONS];
    for (size_t i = 0; i < c->m->link_order.len; i++) {
        const struct nsc_link *l = &c->m->links.item[c->m->link_order.item[i]];
        if (l->family != NSC_SHM)
            continue;
        enum nsc_shm_reason why = shm_reason(c, l, &e);
        const struct nsc_env *elsewhere = forbidden_at(c->m, &forbidden, l->proc);
        if (elsewhere && (why == NSC_SHM_UNSAID || why == NSC_SHM_UNSAID_VISIBLE)) {
            why = NSC_SHM_BY_DISABLE;
            e.env = elsewhere;
        }
        if (!there[why]) {
            nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "certain");
            if (c->f->no_memory)
                break;
            at[why] = c->f->list.len - 1;
            there[why] = true;
            first[why] = e;
            link[why] = l;
        }
        nsc_add_link(c, &c->f->list.item[at[why]], l);
    }
    nsc_map_free(&forbidden);
    for (int why = 0; why < NSC_SHM_REASONS && !c->f->no_memory; why++) {
        if (!there[why])
            continue;
        struct nsc_finding *f = &c->f->list.item[at[why]];
        f->title = nsc_words(c, "%s talk%s through host memory (SHM), not directly", who(c, f, "GPUs"),
                             f->all_pairs == 1 ? "s" : "");
        explain_shm(c, f, (enum nsc_shm_reason)why, &first[why], link[why]);
        if (f->severity == NCCLSCOPE_SEVERITY_NOTE)
            continue;
        bool open =
            why == NSC_SHM_UNSAID || why == NSC_SHM_UNSAID_VISIBLE; /* else the chunk is small by the same variable */
        if (open && lacks_nvlink(c->m, link[why]->proc) && first[why].level == NSC_LEVEL_UNKNOWN)
            first[why].level = NSC_LEVEL_PHB;
        nsc_set_cost_of_level(c, f, NSC_COST_SHM, NSC_COST_P2P, link[why]->proc, first[why].level);
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

static bool has_p2p(const struct ncclscope_model *m, uint32_t comm, uint64_t rank)
{
    for (size_t i = nsc_links_of(m, comm); i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (nsc_comm_of_link(m, l) != comm)
            return false;
        if (l->family == NSC_P2P && (l->src == rank || l->dst == rank))
            return true;
    }
    return false;
}

/* GPUs that both have P2P, to others of their host, and reach each other through NICs with GPUDirect: the halves of a machine, each with
 * its own NICs. */
static bool joins_halves(const struct ncclscope_model *m, const struct nsc_link *l)
{
    uint32_t comm = nsc_comm_of_link(m, l);
    return l->gdrdma && l->proc != NSC_NONE && comm != NSC_NONE &&
           nsc_version_of(m, l->proc).low >= NSC_CHANGE_NIC_BEFORE_CPU && has_p2p(m, comm, l->src) &&
           has_p2p(m, comm, l->dst);
}

static void explain_net(struct nsc_case *c, struct nsc_finding *f, const struct nsc_link *l, bool socket)
{
    uint32_t proc = l->proc;
    const struct nsc_env *no_shm = nsc_env_is(c->m, proc, "NCCL_SHM_DISABLE", "1");
    const struct nsc_env *no_p2p = nsc_p2p_disabled(c->m, proc);
    const struct nsc_env *id = proc == NSC_NONE ? NULL : other_host_id(c->m, proc);
    if (no_shm) {
        f->caused_by = NSC_ID_ENV_SHM_DISABLED;
        nsc_explain_with(c, f, no_p2p ? NSC_INSIDE_BOTH_OFF : NSC_INSIDE_NO_SHM, nsc_env_source(no_shm), NULL);
        f->confidence = no_shm->by_pod ? "likely" : f->confidence;
        nsc_show_first(c, f, &no_shm->where);
        nsc_show_first(c, f, no_p2p ? &no_p2p->where : NULL);
    } else if (id) {
        f->caused_by = NSC_ID_ENV_HOSTID;
        nsc_explain_with(c, f, NSC_INSIDE_HOSTID, nsc_say(c->m, id->value).ptr, NULL);
        nsc_show_first(c, f, &id->where);
    } else if (no_p2p && !joins_halves(c->m, l)) {
        f->caused_by = NSC_ID_ENV_P2P_DISABLED;
        f->confidence = "likely";
        nsc_explain_with(c, f, NSC_INSIDE_P2P_OFF,
                         nsc_is_within_process(c->m, l) ? "" : ", /dev/shm that its processes do not share", NULL);
        nsc_show_first(c, f, &no_p2p->where);
    } else {
        bool hidden = proc == NSC_NONE || !nsc_env_is_visible(c->m, proc), one = nsc_is_within_process(c->m, l);
        f->confidence = socket && !hidden ? f->confidence : "likely"; /* a fast NIC may be nearer than the other GPU */
        nsc_explain_by(c, f,
                       joins_halves(c->m, l) ? NSC_INSIDE_HALVES
                       : hidden              ? (one ? NSC_INSIDE_ONE_PROCESS_HIDDEN : NSC_INSIDE_PROCESSES_HIDDEN)
                       : one                 ? NSC_INSIDE_ONE_PROCESS
                                             : NSC_INSIDE_PROCESSES);
    }
}

static void explain_near_nic(struct nsc_case *c, struct nsc_finding *f, const struct nsc_expected *e)
{
    nsc_explain_with(c, f, NSC_INSIDE_NEAR_NIC, nsc_say(c->m, e->type).ptr, NULL);
    nsc_show_first(c, f, e->line);
}

void nsc_rule_net_within_node(struct nsc_case *c)
{
    bool there[NET_CAUSES] = {false}, socket[NET_CAUSES] = {false}, unsure = false;
    size_t at[NET_CAUSES];
    const struct nsc_link *links[NET_CAUSES];
    struct nsc_expected first[NET_CAUSES], e;
    for (size_t i = 0; i < c->m->link_order.len; i++) {
        const struct nsc_link *l = &c->m->links.item[c->m->link_order.item[i]];
        struct nsc_known_path p = l->known;
        bool perhaps = nsc_may_be_within_node(c->m, l);
        if (l->family != NSC_NET || (p.scope != NSC_SCOPE_NODE && !perhaps))
            continue;
        unsure = unsure || perhaps;
        e = nsc_judged_of(c->f, l)->e;
        int why = nsc_judged_of(c->f, l)->is == NSC_BY_DESIGN && e.because == NSC_BY_NIC ? NET_BY_DESIGN : NET_ODD;
        if (!there[why]) {
            nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "certain");
            if (c->f->no_memory)
                return;
            at[why] = c->f->list.len - 1;
            links[why] = l;
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
        const char *over = !socket[why] ? "" : unsure ? " (TCP sockets)" : " (TCP sockets inside the machine)";
        f->title = nsc_words(c, "%s talk%s over the network, %s%s", who(c, f, "ranks"), f->all_pairs == 1 ? "s" : "",
                             unsure              ? "perhaps inside one machine"
                             : f->all_pairs == 1 ? "though both are on one host"
                                                 : "though each pair is on one host",
                             over);
        if (why == NET_BY_DESIGN)
            explain_near_nic(c, f, &first[why]);
        else
            explain_net(c, f, links[why], socket[why]);
        if (unsure) {
            f->confidence = "likely";
            f->cause = nsc_words(
                c, "%s NCCL then treats each GPU as its own node, and its node count says nothing about machines.",
                f->cause);
        }
        if (socket[why] && why != NET_BY_DESIGN)
            nsc_set_cost_of_level(c, f, NSC_COST_LOOPBACK, NSC_COST_P2P, links[why]->proc, first[why].level);
    }
}
