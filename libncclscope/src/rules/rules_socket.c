/* rules_socket.c - TCP sockets where RDMA was to be expected, and why. */
#include "rules/rules.h"

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

static bool has_rdma_device(const struct ncclscope_model *m, uint32_t proc)
{
    for (size_t i = 0; proc != NSC_NONE && i < m->devices.len; i++)
        if (m->devices.item[i].host == m->procs.item[proc].host &&
            nsc_text_is(nsc_say(m, m->devices.item[i].net), "IB"))
            return true;
    return false;
}

/* In the order of what they prove; each its own finding. */
enum socket_cause {
    SOCKET_ASKED_IB,  /* NCCL_IB_DISABLE=1 */
    SOCKET_ASKED_NET, /* NCCL_NET=Socket */
    SOCKET_EFA,
    SOCKET_PLUGIN_MISSING,
    SOCKET_PLUGIN_FAILED,
    SOCKET_NO_DEVICE,
    SOCKET_NO_LIBRARY,
    SOCKET_NOT_USED,
    SOCKET_FAILED,
    SOCKET_UNSAID,
    SOCKET_PODS,
    SOCKET_CAUSES
};

struct socket_reason {
    enum socket_cause cause;
    bool known; /* looked for already */
    const struct nsc_env *env;
    const struct nsc_where *line;
    bool no_library;
    nsc_str failed;
};

/* Is it raised of this host? */
static bool raised_on(const struct nsc_case *c, const char *id, nsc_str host)
{
    for (size_t i = 0; i < c->f->list.len; i++) {
        const struct nsc_finding *f = &c->f->list.item[i];
        bool names = !f->hosts.len;
        for (size_t k = 0; !names && k < f->hosts.len; k++)
            names = f->hosts.item[k] == host;
        if (names && !strcmp(f->rule->id, id))
            return true;
    }
    return false;
}

/* What the log says of why in this process, the surest first. */
static struct socket_reason reason_of(const struct nsc_case *c, uint32_t proc)
{
    const struct ncclscope_model *m = c->m;
    struct socket_reason r = {.cause = SOCKET_UNSAID, .known = true, .env = asked_for_sockets(m, proc)};
    nsc_str host = m->procs.item[proc].host;
    const struct nsc_event *none = nsc_event_of(m, proc, NCCLSCOPE_KIND_IB_NONE),
                           *failed = nsc_event_of(m, proc, NCCLSCOPE_KIND_NET_FAILED),
                           *library = nsc_missing_verbs(m, proc);
    r.no_library = library;
    if (r.env) {
        r.cause = nsc_text_is(nsc_say(m, r.env->name), "NCCL_NET") ? SOCKET_ASKED_NET : SOCKET_ASKED_IB;
        r.line = &r.env->where;
    } else if (raised_on(c, "net/efa-not-used", host)) {
        r.cause = SOCKET_EFA;
    } else if (raised_on(c, "net/plugin-missing", host)) {
        r.cause = SOCKET_PLUGIN_MISSING;
    } else if (raised_on(c, "net/plugin-failed", host)) {
        r.cause = SOCKET_PLUGIN_FAILED;
    } else if (none) {
        r.cause = SOCKET_NO_DEVICE;
        r.line = library ? &library->where : &none->where;
    } else if (library) {
        r.cause = SOCKET_NO_LIBRARY;
        r.line = &library->where;
    } else if (has_rdma_device(m, proc)) {
        r.cause = SOCKET_NOT_USED;
    } else if (failed) {
        r.cause = SOCKET_FAILED;
        r.failed = failed->text;
        r.line = &failed->where;
    }
    return r;
}

/* One network is chosen for both ends, and for a whole communicator: what one of them shows explains it. */
struct reasons {
    struct socket_reason *of_proc, *of_comm;
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
    struct socket_reason r = {.cause = SOCKET_UNSAID};
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

static void find_reasons(const struct nsc_case *c, const struct reasons *by)
{
    const struct ncclscope_model *m = c->m;
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

static void explain(struct nsc_case *c, struct nsc_finding *f, const struct socket_reason *r)
{
    switch (r->cause) {
    case SOCKET_EFA:
        f->caused_by = "net/efa-not-used";
        f->cause = "The machine has EFA, and NCCL does not use it.";
        break;
    case SOCKET_PLUGIN_MISSING:
        f->caused_by = "net/plugin-missing";
        f->cause = "The network plugin that was asked for could not be loaded.";
        break;
    case SOCKET_PLUGIN_FAILED:
        f->caused_by = "net/plugin-failed";
        f->cause = "A network plugin was found and could not be used, and sockets are what is left.";
        break;
    case SOCKET_NO_DEVICE:
        f->caused_by = "net/no-rdma-device";
        f->cause = r->no_library ? "NCCL could not load libibverbs, so it saw no InfiniBand or RoCE device, and no "
                                   "network plugin took over."
                                 : "NCCL saw no InfiniBand or RoCE device and no network plugin took over.";
        break;
    case SOCKET_NO_LIBRARY:
        f->cause = "NCCL could not load libibverbs, so it saw no InfiniBand or RoCE device.";
        f->fix = "Install libibverbs and the provider of the device (rdma-core) in the image.";
        break;
    case SOCKET_NOT_USED:
        f->cause = "The host has InfiniBand or RoCE devices, and they are not used: NCCL_NET=Socket (most releases "
                   "print no line for it), or the network failed to start.";
        break;
    case SOCKET_FAILED:
        f->cause = nsc_words(c, "NCCL's network %s did not start, and sockets are what is left.",
                             nsc_say(c->m, r->failed).ptr);
        break;
    default:
        f->cause = "The log does not say why: look for NET/IB, NET/Plugin and `Using network` lines of these ranks.";
    }
    if (r->line)
        nsc_show_first(c, f, r->line);
}

static void explain_variable(struct nsc_case *c, struct nsc_finding *f, const struct nsc_env *asked)
{
    const char *name = nsc_say(c->m, asked->name).ptr, *value = nsc_say(c->m, asked->value).ptr;
    f->title = nsc_words(c, "%s: %s=%s asks for it", f->title, name, value);
    f->fix = "Remove the variable (environment, /etc/nccl.conf, ~/.nccl.conf, image); then look for NET/IB or the "
             "cloud's plugin with /GDRDMA.";
    f->cls = "configuration";
    f->caused_by = !strcmp(name, "NCCL_NET") ? "env/net-forced" : "env/ib-disabled";
    f->cause =
        nsc_words(c, "%s=%s asks for it%s%s", name, value, asked->by_pod ? "." : "", asked->by_pod ? NSC_BY_POD : "");
    f->confidence = asked->by_pod ? "likely" : f->confidence;
    nsc_show_first(c, f, &asked->where);
}

static void tell_group(struct nsc_case *c, struct nsc_finding *f, const struct socket_reason *r)
{
    bool pods = nsc_raised(c, "transport/pod-per-gpu");
    f->title = nsc_words(c, "%zu pair%s of ranks on different nodes talk over TCP sockets, not RDMA%s", f->pairs.len,
                         f->pairs.len == 1 ? "" : "s", nsc_elsewhere(c, f));
    if (r->cause != SOCKET_PODS && nsc_is_rccl(c->m))
        f->cost = f->cost_note = "No figure with a source is known for AMD GPUs.";
    else if (r->cause != SOCKET_PODS) /* of one machine the root tells it */
        nsc_set_cost(c, f, NSC_COST_SOCKET, NSC_COST_RDMA, NSC_NONE);
    if (r->cause == SOCKET_PODS) {
        f->caused_by = "transport/pod-per-gpu";
        f->cause = "Pods are nodes to NCCL, so the GPUs of their machine meet only over the network.";
    } else if (r->env) {
        explain_variable(c, f, r->env);
    } else if (pods && !nsc_is_one_machine(c)) {
        f->caused_by = "transport/pod-per-gpu";
        f->cause = "If these pods share a machine, their GPUs need no network at all: pods are nodes to NCCL.";
    } else {
        explain(c, f, r);
    }
}

/* Adds each link to the finding of its cause. */
static void gather(struct nsc_case *c, const struct reasons *by)
{
    const struct ncclscope_model *m = c->m;
    size_t at[SOCKET_CAUSES];
    bool there[SOCKET_CAUSES] = {false}, pods = nsc_raised(c, "transport/pod-per-gpu");
    struct socket_reason first[SOCKET_CAUSES];
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        uint32_t comm = nsc_comm_of_link(m, l);
        bool certain;
        if (!nsc_is_socket(m, l, &certain))
            continue;
        struct socket_reason r = reason_of_ends(c, by, l);
        if (comm != NSC_NONE && r.cause >= SOCKET_NOT_USED)
            r = surer(r, &by->of_comm[comm]);
        if (pods && nsc_is_within_machine(m, l))
            r = (struct socket_reason){.cause = SOCKET_PODS};
        if (!there[r.cause]) {
            nsc_found(c, NCCLSCOPE_ERROR, "fault", "certain");
            if (c->f->no_memory)
                return;
            there[r.cause] = true;
            first[r.cause] = r;
            at[r.cause] = c->f->list.len - 1;
        }
        struct nsc_finding *f = &c->f->list.item[at[r.cause]];
        f->confidence = certain ? f->confidence : "likely";
        nsc_add_link(c, f, l);
    }
    for (int k = 0; k < SOCKET_CAUSES; k++)
        if (there[k])
            tell_group(c, &c->f->list.item[at[k]], &first[k]);
}

void nsc_rule_socket(struct nsc_case *c)
{
    struct reasons by = {nsc_alloc((c->m->procs.len + 1) * sizeof *by.of_proc),
                         nsc_alloc((c->m->comms.len + 1) * sizeof *by.of_comm)};
    if (by.of_proc && by.of_comm) {
        find_reasons(c, &by);
        gather(c, &by);
    } else {
        c->f->no_memory = true;
    }
    nsc_free(by.of_proc);
    nsc_free(by.of_comm);
}
