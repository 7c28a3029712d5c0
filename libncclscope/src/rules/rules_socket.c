/* rules_socket.c - TCP sockets where RDMA was to be expected, and why. */
#include "rules/rules.h"

static bool is_socket(const struct ncclscope_model *m, const struct nsc_link *l, bool *certain)
{
    return nsc_crosses_nodes(m, l, certain) && !l->gdrdma &&
           nsc_network_kind(nsc_say(m, l->network)) == NSC_NETWORK_TCP;
}

bool nsc_any_socket(const struct ncclscope_model *m)
{
    bool certain;
    for (size_t i = 0; i < m->link_order.len; i++)
        if (is_socket(m, &m->links.item[m->link_order.item[i]], &certain))
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

/* What the log says of why, the surest first. `f` is of links of this process. */
static void explain(struct nsc_case *c, struct nsc_finding *f, uint32_t proc)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_event *none = nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_IB_NONE),
                           *failed = nsc_event_of(m, proc, NCCLSCOPE_KIND_NET_FAILED);
    const struct nsc_event *library = nsc_missing_verbs(m, none ? none->proc : proc);
    if (nsc_raised(c, "net/efa-not-used")) {
        f->caused_by = "net/efa-not-used";
        f->cause = "The machine has EFA, and NCCL does not use it.";
    } else if (nsc_raised(c, "net/plugin-missing")) {
        f->caused_by = "net/plugin-missing";
        f->cause = "The network plugin that was asked for could not be loaded.";
    } else if (nsc_raised(c, "net/plugin-failed")) {
        f->caused_by = "net/plugin-failed";
        f->cause = "A network plugin was found and could not be used, and sockets are what is left.";
    } else if (none) {
        f->caused_by = "net/no-rdma-device";
        f->cause = library ? "NCCL could not load libibverbs, so it saw no InfiniBand or RoCE device, and no network "
                             "plugin took over."
                           : "NCCL saw no InfiniBand or RoCE device and no network plugin took over.";
        nsc_show_first(c, f, library ? &library->where : &none->where);
    } else if (library) {
        f->cause = "NCCL could not load libibverbs, so it saw no InfiniBand or RoCE device.";
        f->fix = "Install libibverbs and the provider of the device (rdma-core) in the image.";
        nsc_show_first(c, f, &library->where);
    } else if (has_rdma_device(m, proc)) {
        f->cause = "The host has InfiniBand or RoCE devices, and they are not used: NCCL_NET=Socket (most releases "
                   "print no line for it), or the network failed to start.";
    } else if (failed) {
        f->cause = nsc_words(c, "NCCL's network %s did not start, and sockets are what is left.",
                             nsc_say(m, failed->text).ptr);
        nsc_show_first(c, f, &failed->where);
    } else {
        f->cause = "The log does not say why: look for NET/IB, NET/Plugin and `Using network` lines of these ranks.";
    }
}

static void explain_variable(struct nsc_case *c, struct nsc_finding *f, const struct nsc_env *asked)
{
    const char *name = nsc_say(c->m, asked->name).ptr, *value = nsc_say(c->m, asked->value).ptr;
    f->title = nsc_words(c, "%s: %s=%s asks for it", f->title, name, value);
    f->fix = "Remove the variable (environment, /etc/nccl.conf, ~/.nccl.conf, image); then look for NET/IB or the "
             "cloud's plugin with /GDRDMA.";
    f->cls = "configuration";
    f->cause = nsc_words(c, "%s=%s asks for it", name, value);
    nsc_show_first(c, f, &asked->where);
}

/* Pods of one machine, for which sockets are only what is left; and nodes. */
enum { WITHIN_MACHINE, BETWEEN_MACHINES, PLACES };

void nsc_rule_socket(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    size_t at[PLACES];
    bool there[PLACES] = {false}, all_certain[PLACES] = {true, true};
    uint32_t procs[PLACES] = {NSC_NONE, NSC_NONE};
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        bool certain;
        if (!is_socket(m, l, &certain))
            continue;
        int k = nsc_is_within_machine(m, l) ? WITHIN_MACHINE : BETWEEN_MACHINES;
        if (!there[k]) {
            nsc_found(c, NCCLSCOPE_ERROR, "fault", "certain");
            if (c->f->no_memory)
                return;
            there[k] = true;
            at[k] = c->f->list.len - 1;
        }
        procs[k] = l->proc;
        all_certain[k] = all_certain[k] && certain;
        nsc_add_link(c, &c->f->list.item[at[k]], l);
    }
    for (int k = 0; k < PLACES; k++) {
        if (!there[k])
            continue;
        struct nsc_finding *f = &c->f->list.item[at[k]];
        const struct nsc_env *asked = procs[k] == NSC_NONE ? NULL : asked_for_sockets(m, procs[k]);
        bool pods = nsc_raised(c, "transport/pod-per-gpu");
        f->confidence = all_certain[k] ? "certain" : "likely";
        f->title = nsc_words(c, "%zu pair%s of ranks on different nodes talk over TCP sockets, not RDMA", f->pairs.len,
                             f->pairs.len == 1 ? "" : "s");
        if (k == BETWEEN_MACHINES) /* of one machine the root tells it */
            nsc_set_cost(c, f, NSC_COST_SOCKET, NSC_COST_RDMA, NSC_NONE);
        if (k == WITHIN_MACHINE && pods) {
            f->caused_by = "transport/pod-per-gpu";
            f->cause = "Pods are nodes to NCCL, so the GPUs of their machine meet only over the network.";
        } else if (asked) {
            explain_variable(c, f, asked);
        } else if (pods && !nsc_is_one_machine(c)) {
            f->caused_by = "transport/pod-per-gpu";
            f->cause = "If these pods share a machine, their GPUs need no network at all: pods are nodes to NCCL.";
        } else {
            explain(c, f, procs[k]);
        }
    }
}
