/* rules_socket.c - TCP sockets where RDMA was to be expected, and why. */
#include "rules/ask.h"

bool nsc_is_socket(const struct ncclscope_model *m, const struct nsc_link *l, bool *certain)
{
    return nsc_crosses_nodes(m, l, certain) && !l->gdrdma &&
           nsc_network_kind(nsc_say(m, l->network)) == NSC_NETWORK_TCP;
}

bool nsc_any_socket(const struct ncclscope_model *m)
{
    bool certain;
    for (size_t i = 0; i < m->link_order.len; i++)
        if (nsc_is_socket(m, &m->links.item[m->link_order.item[i]], &certain))
            return true;
    return false;
}

/* A variable that asks for sockets. */
static const struct nsc_env *asked_for_sockets(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_env *e = nsc_env_is(m, proc, "NCCL_IB_DISABLE", "1");
    return e ? e : nsc_env_is(m, proc, "NCCL_NET", "Socket");
}

/* The line by which libibverbs could not be opened in this process. */
const struct nsc_event *nsc_missing_verbs(const struct ncclscope_model *m, uint32_t proc)
{
    for (size_t i = proc == NSC_NONE ? m->event_order.len : nsc_events_of(m, proc); i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != proc)
            break;
        if (e->kind == NCCLSCOPE_KIND_LIBRARY_MISSING && nsc_text_find(e->where.text, "libibverbs") >= 0)
            return e;
    }
    return NULL;
}

struct socket_reason {
    enum nsc_socket_reason cause;
    bool known;    /* looked for already */
    uint32_t proc; /* that says so */
    const struct nsc_env *env;
    const struct nsc_where *line;
    bool no_library;
    nsc_str failed;
};

/* Is it raised of this host? */
static bool raised_on(const struct nsc_case *c, enum nsc_id key, nsc_str host)
{
    for (size_t i = 0; i < c->f->list.len; i++) {
        const struct nsc_finding *f = &c->f->list.item[i];
        bool names = !f->hosts.len;
        for (size_t k = 0; !names && k < f->hosts.len; k++)
            names = f->hosts.item[k] == host;
        if (names && f->rule->key == key)
            return true;
    }
    return false;
}

/* What the log says of why in this process, the surest first. */
static struct socket_reason reason_of(const struct nsc_case *c, uint32_t proc)
{
    const struct ncclscope_model *m = c->m;
    struct socket_reason r = {
        .cause = NSC_SOCKET_UNSAID, .known = true, .proc = proc, .env = asked_for_sockets(m, proc)};
    nsc_str host = m->procs.item[proc].host;
    const struct nsc_event *none = nsc_event_of(m, proc, NCCLSCOPE_KIND_IB_NONE),
                           *failed = nsc_event_of(m, proc, NCCLSCOPE_KIND_NET_FAILED),
                           *library = nsc_missing_verbs(m, proc);
    r.no_library = library;
    if (r.env) {
        r.cause = nsc_text_is(nsc_say(m, r.env->name), "NCCL_NET") ? NSC_SOCKET_ASKED_NET : NSC_SOCKET_ASKED_IB;
        r.line = &r.env->where;
    } else if (raised_on(c, NSC_ID_NET_EFA_NOT_USED, host)) {
        r.cause = NSC_SOCKET_EFA;
    } else if (raised_on(c, NSC_ID_NET_PLUGIN_MISSING, host)) {
        r.cause = NSC_SOCKET_PLUGIN_MISSING;
    } else if (raised_on(c, NSC_ID_NET_PLUGIN_FAILED, host)) {
        r.cause = NSC_SOCKET_PLUGIN_FAILED;
    } else if (none) {
        r.cause = NSC_SOCKET_NO_DEVICE;
        r.line = library ? &library->where : &none->where;
    } else if (library) {
        r.cause = NSC_SOCKET_NO_LIBRARY;
        r.line = &library->where;
    } else if (nsc_lists_device(m, proc)) {
        r.cause = NSC_SOCKET_NOT_USED;
    } else if (failed) {
        r.cause = NSC_SOCKET_FAILED;
        r.failed = failed->text;
        r.line = &failed->where;
    }
    return r;
}

/* One network is chosen for both ends, and for a whole communicator: what one of them shows explains it. */
struct reasons {
    struct socket_reason *of_proc, *of_comm;
    struct socket_reason of_job; /* what some processes say, for those that say nothing */
};

static struct socket_reason surer(struct socket_reason a, const struct socket_reason *b)
{
    return b->known && (!a.known || b->cause < a.cause) ? *b : a;
}

static struct socket_reason reason_of_ends(const struct nsc_case *c, const struct reasons *by, const struct nsc_link *l)
{
    const struct ncclscope_model *m = c->m;
    uint32_t comm = nsc_comm_of_link(m, l);
    const struct nsc_rank *ends[] = {nsc_member(m, comm, (int64_t)l->src), nsc_member(m, comm, (int64_t)l->dst)};
    uint32_t procs[] = {l->proc, ends[0] ? ends[0]->proc : NSC_NONE, ends[1] ? ends[1]->proc : NSC_NONE};
    struct socket_reason r = {.cause = NSC_SOCKET_UNSAID};
    for (int i = 0; i < 3; i++) {
        if (procs[i] == NSC_NONE)
            continue;
        if (!by->of_proc[procs[i]].known)
            by->of_proc[procs[i]] = reason_of(c, procs[i]);
        r = surer(r, &by->of_proc[procs[i]]);
    }
    r.known = true;
    return r;
}

/* Processes whose lines were left out (Ray: "[repeated 14x across cluster]", a slice) chose for the same reason as those that tell it,
 * unless one of the job has a device. A variable of some explains the network of all of one communicator. */
static struct socket_reason reason_of_job(const struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct socket_reason best = {.cause = NSC_SOCKET_UNSAID};
    for (size_t i = 0; i < m->procs.len; i++) {
        if (m->procs.item[i].merged_into != NSC_NONE)
            continue;
        struct socket_reason r = reason_of(c, (uint32_t)i);
        if (r.cause == NSC_SOCKET_NOT_USED)
            return (struct socket_reason){.cause = NSC_SOCKET_UNSAID};
        if (r.cause >= (m->comms.len > 1 ? NSC_SOCKET_EFA : NSC_SOCKET_ASKED_IB) && r.cause <= NSC_SOCKET_NO_LIBRARY)
            best = surer(best, &r);
    }
    return best;
}

static void find_reasons(const struct nsc_case *c, struct reasons *by)
{
    const struct ncclscope_model *m = c->m;
    by->of_job = reason_of_job(c);
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        uint32_t comm = nsc_comm_of_link(m, l);
        bool certain;
        if (comm == NSC_NONE || !nsc_is_socket(m, l, &certain))
            continue;
        struct socket_reason r = reason_of_ends(c, by, l);
        by->of_comm[comm] = surer(by->of_comm[comm], &r);
    }
}

/* Findings of this log that explain it. */
static enum nsc_id root_of(enum nsc_socket_reason reason)
{
    switch (reason) {
    case NSC_SOCKET_ASKED_IB: return NSC_ID_ENV_IB_DISABLED;
    case NSC_SOCKET_ASKED_NET: return NSC_ID_ENV_NET_FORCED;
    case NSC_SOCKET_EFA: return NSC_ID_NET_EFA_NOT_USED;
    case NSC_SOCKET_PLUGIN_MISSING: return NSC_ID_NET_PLUGIN_MISSING;
    case NSC_SOCKET_PLUGIN_FAILED: return NSC_ID_NET_PLUGIN_FAILED;
    case NSC_SOCKET_NO_DEVICE: return NSC_ID_NET_NO_RDMA_DEVICE;
    default: return NSC_ID_NONE;
    }
}

/* Has every host of the input one rank: machines with one GPU seldom have an RDMA network. */
static bool has_one_gpu_hosts(const struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    bool one = m->comms.len == 1;
    for (size_t i = 0; one && i < m->ranks.len; i++) {
        nsc_str host = m->procs.item[m->ranks.item[i].proc].host;
        one = nsc_map_get(&seen, (struct nsc_key){host, 0, 0}) == NSC_NONE && m->ranks.item[i].nvml_dev <= 0;
        nsc_map_put(&seen, (struct nsc_key){host, 0, 0}, 0);
    }
    nsc_map_free(&seen);
    return one;
}

static void explain(struct nsc_case *c, struct nsc_finding *f, const struct socket_reason *r, uint32_t proc,
                    const struct nsc_link *l)
{
    proc = r->known && r->cause != NSC_SOCKET_UNSAID ? r->proc : proc;
    struct nsc_ask ask = {
        .c = c, .m = c->m, .proc = proc, .link = l, .reason = (int)r->cause, .distance = "", .env = r->env};
    const char *sure = f->confidence;
    f->caused_by = root_of(r->cause);
    if (r->line)
        nsc_show_first(c, f, r->line);
    nsc_explain(c, f, &ask);
    f->confidence = f->severity > NCCLSCOPE_SEVERITY_NOTE
                        ? sure
                        : f->confidence; /* that they are sockets the lines say, whatever the reason */
    bool perhaps_all = r->cause == NSC_SOCKET_NO_DEVICE || r->cause == NSC_SOCKET_NO_LIBRARY || f->open;
    if (f->severity == NCCLSCOPE_SEVERITY_ERROR && perhaps_all &&
        (nsc_success_of(c->m) || (f->open && has_one_gpu_hosts(c->m))))
        f->severity = NCCLSCOPE_SEVERITY_WARNING; /* the job ran on what may be all that its nodes have */
    if (r->env) {
        f->title = nsc_words(c, "%s: %s=%s asks for it", f->title, nsc_say(c->m, r->env->name).ptr,
                             nsc_say(c->m, r->env->value).ptr);
        f->cause = r->env->by_pod ? nsc_words(c, "%s%s", f->cause, nsc_env_source(r->env)) : f->cause;
        f->confidence = r->env->by_pod ? "likely" : f->confidence;
    }
    bool asked = r->env || !strcmp(f->cls, "configuration");
    if (asked && f->severity == NCCLSCOPE_SEVERITY_ERROR && !nsc_lists_device(c->m, proc))
        f->severity = NCCLSCOPE_SEVERITY_WARNING;
}

static void tell_group(struct nsc_case *c, struct nsc_finding *f, const struct socket_reason *r,
                       const struct nsc_link *l)
{
    bool pods = nsc_is_pods_doing(c);
    f->title = nsc_words(c, "%s talk%s over TCP sockets, not RDMA", nsc_count_pairs(c, f, "ranks on different nodes"),
                         f->all_pairs == 1 ? "s" : "");
    if (r->cause == NSC_SOCKET_PODS) {
        f->caused_by = NSC_ID_TRANSPORT_POD_PER_GPU;
        nsc_explain_by(c, f, NSC_SOCKET_PODS);
    } else if (pods && !r->env && !nsc_is_one_machine(c)) {
        f->caused_by = NSC_ID_TRANSPORT_POD_PER_GPU;
        nsc_explain_by(c, f, NSC_SOCKET_PERHAPS_PODS);
    } else {
        explain(c, f, r, l->proc, l);
    }
}

/* Adds each link to the finding of its cause. */
static void gather(struct nsc_case *c, const struct reasons *by)
{
    const struct ncclscope_model *m = c->m;
    size_t at[NSC_SOCKET_REASONS];
    bool there[NSC_SOCKET_REASONS] = {false}, pods = nsc_is_pods_doing(c);
    struct socket_reason first[NSC_SOCKET_REASONS];
    const struct nsc_link *link[NSC_SOCKET_REASONS];
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        uint32_t comm = nsc_comm_of_link(m, l);
        bool certain;
        if (!nsc_is_socket(m, l, &certain))
            continue;
        struct socket_reason r = reason_of_ends(c, by, l);
        if (comm != NSC_NONE && r.cause >= NSC_SOCKET_NOT_USED)
            r = surer(r, &by->of_comm[comm]);
        r = r.cause == NSC_SOCKET_UNSAID ? surer(r, &by->of_job) : r;
        if (pods && nsc_is_within_machine(m, l))
            r = (struct socket_reason){.cause = NSC_SOCKET_PODS};
        if (!there[r.cause]) {
            nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "fault", "certain");
            if (c->f->no_memory)
                return;
            there[r.cause] = true;
            first[r.cause] = r;
            link[r.cause] = l;
            at[r.cause] = c->f->list.len - 1;
        }
        struct nsc_finding *f = &c->f->list.item[at[r.cause]];
        f->confidence = certain ? f->confidence : "likely";
        nsc_add_link(c, f, l);
    }
    for (int k = 0; k < NSC_SOCKET_REASONS; k++)
        if (there[k])
            tell_group(c, &c->f->list.item[at[k]], &first[k], link[k]);
}

/* ---- where no connection between nodes was printed ---- */

/* Ranks of several nodes: by their hosts, by NCCL's own count, or because two hosts are in the input and no communicator is. */
static bool spans_nodes(const struct ncclscope_model *m, const struct nsc_rank **one, bool *certain)
{
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        const struct nsc_rank *first = k->count ? &m->ranks.item[m->members.item[k->first]] : NULL;
        if (first && first->nnodes == 1) /* one NCCL_HOSTID for several host names */
            continue;
        for (uint32_t n = 0; first && n < k->count; n++) {
            const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + n]];
            bool elsewhere =
                k->seen < k->nranks && (r->nnodes > 1 || r->heads > 1) &&
                !nsc_env_is(m, r->proc, "NCCL_SHM_DISABLE", "1"); /* without it each GPU is a node to NCCL */
            *certain = m->procs.item[r->proc].host != m->procs.item[first->proc].host;
            if (*certain || elsewhere) {
                *one = r;
                return true;
            }
        }
    }
    *certain = false;
    return !m->comms.len && m->hosts.len > 1;
}

/* Did no communicator come up? Then nothing went over the network yet, and what keeps them from it matters more. */
static bool none_came_up(const struct ncclscope_model *m)
{
    bool none = m->comms.len > 0;
    for (size_t i = 0; none && i < m->comms.len; i++)
        none = m->comms.item[i].state == NSC_INCOMPLETE || m->comms.item[i].state == NSC_FAILED;
    return none;
}

/* `Using network Socket` of ranks on several nodes tells it too: from 2.22.3 on connections are printed at the first collective. */
static void tell_chosen(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_rank *one = NULL;
    const struct nsc_proc *p = NULL;
    bool certain;
    for (size_t i = 0; i < m->link_order.len; i++)
        if (m->links.item[m->link_order.item[i]].family == NSC_NET)
            return;
    if (!spans_nodes(m, &one, &certain))
        return;
    uint32_t proc = NSC_NONE;
    for (size_t i = 0; i < m->procs.len; i++) {
        nsc_str net = m->procs.item[i].network;
        if (net && nsc_network_kind(nsc_say(m, net)) != NSC_NETWORK_TCP)
            return;
        proc = net && proc == NSC_NONE ? (uint32_t)i : proc;
    }
    if (proc == NSC_NONE)
        return;
    p = &m->procs.item[proc];
    int severity = none_came_up(m) ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_ERROR;
    struct nsc_finding *f = nsc_found(c, severity, "fault", certain ? "certain" : "likely");
    struct socket_reason r = reason_of(c, proc), job = reason_of_job(c);
    r = r.cause == NSC_SOCKET_UNSAID ? surer(r, &job) : r;
    f->count = 1;
    f->title =
        nsc_words(c, "NCCL chose TCP sockets (network %s), and %s, so data between nodes goes over TCP, not RDMA",
                  nsc_say(m, p->network).ptr, one ? "the ranks are on several nodes" : "the input holds several hosts");
    for (size_t i = 0; i < m->hosts.len; i++)
        nsc_name_host(c, f, m->hosts.item[i].name);
    explain(c, f, &r, proc, NULL);
    nsc_show(c, f, &p->network_at);
}

void nsc_rule_socket(struct nsc_case *c)
{
    tell_chosen(c);
    struct reasons by = {.of_proc = nsc_alloc((c->m->procs.len + 1) * sizeof *by.of_proc),
                         .of_comm = nsc_alloc((c->m->comms.len + 1) * sizeof *by.of_comm)};
    if (by.of_proc && by.of_comm) {
        find_reasons(c, &by);
        gather(c, &by);
    } else {
        c->f->no_memory = true;
    }
    nsc_free(by.of_proc);
    nsc_free(by.of_comm);
}
