/* rules_net.c - between nodes: providers, devices, interfaces. */
#include "model/machines.h"
#include "rules/ask.h"
#include "rules/raised.h"

/* ---- libfabric ---- */

bool nsc_is_slow_provider(nsc_text p)
{
    return nsc_text_starts(p, "tcp") || nsc_text_starts(p, "sockets") || nsc_text_starts(p, "udp") ||
           nsc_text_is(p, "ofi_rxm");
}

static bool has_several_hosts(const struct ncclscope_model *m)
{
    for (size_t i = 1; i < m->proc_order.len; i++)
        if (m->procs.item[m->proc_order.item[i]].host != m->procs.item[m->proc_order.item[0]].host)
            return true;
    return false;
}

void nsc_rule_libfabric_provider(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    bool crosses = false, certain, open = has_several_hosts(m); /* and no connection is shown */
    for (size_t i = 0; i < m->link_order.len && !crosses; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        nsc_text net = nsc_say(m, l->network);
        open = open && l->family != NSC_NET;
        crosses =
            nsc_crosses_nodes(m, l, &certain) && (nsc_text_is(net, "Libfabric") || nsc_text_is(net, "AWS Libfabric"));
    }
    for (size_t i = 0; (crosses || open) && i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_OFI_PROVIDER || !nsc_is_slow_provider(nsc_say(m, e->text)))
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "fault", crosses ? "certain" : "likely");
            f->title = nsc_words(c, "aws-ofi-nccl runs over libfabric's %s provider: sockets in disguise",
                                 nsc_say(m, e->text).ptr);
            nsc_explain_by(c, f, 0);
            f->caused_by = nsc_is_pods_doing(c)                     ? NSC_ID_TRANSPORT_POD_PER_GPU
                           : nsc_raised(c, NSC_ID_NET_EFA_NOT_USED) ? NSC_ID_NET_EFA_NOT_USED
                                                                    : NSC_ID_NONE;
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
}

/* A machine type with EFA, and ranks of different nodes on sockets or on another provider. */
void nsc_rule_efa_not_used(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        bool certain;
        nsc_str type = l->proc == NSC_NONE ? 0 : m->procs.item[l->proc].platform;
        if (!type || !nsc_platform_of(nsc_say(m, type)) || !nsc_crosses_nodes(m, l, &certain))
            continue;
        const struct nsc_event *provider = nsc_event_of(m, l->proc, NCCLSCOPE_KIND_OFI_PROVIDER);
        nsc_text is = provider ? nsc_say(m, provider->text) : (nsc_text){NULL, 0};
        bool socket = nsc_text_is(nsc_say(m, l->network), "Socket");
        if (!socket && (!is.len || nsc_text_starts(is, "efa")))
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "fault", certain ? "certain" : "likely");
            f->caused_by = nsc_is_one_machine(c) ? NSC_ID_TRANSPORT_POD_PER_GPU : NSC_ID_NONE;
            f->title = nsc_words(c, "EFA is not used on %s: ranks of different nodes talk over %s",
                                 nsc_say(m, type).ptr, socket ? "sockets" : nsc_words(c, "libfabric's %s", is.ptr));
            uint32_t pod = m->procs.item[l->proc].in_pod;
            bool asks_none = pod != NSC_NONE && m->pods.item[pod].efa <= 0;
            nsc_explain_with(c, f,
                             asks_none ? NSC_EFA_POD
                             : socket  ? NSC_EFA_SOCKETS
                                       : NSC_EFA_OTHER_PROVIDER,
                             asks_none ? nsc_say(m, m->pods.item[pod].name).ptr : NULL, NULL);
            nsc_show(c, f, socket ? &m->procs.item[l->proc].platform_at : &provider->where);
        }
        nsc_add_link(c, f, l);
    }
}

/* Processes that may miss a device: of communicators with sockets between nodes, and those whose ranks are not known. Sets `misses`. */
static void find_missing(const struct ncclscope_model *m, bool *misses, bool *seen_comm)
{
    for (size_t i = 0; i < m->procs.len; i++)
        misses[i] = true;
    for (size_t i = 0; i < m->ranks.len; i++)
        misses[m->ranks.item[i].proc] = false;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        uint32_t comm = nsc_comm_of_link(m, l);
        bool certain;
        if (comm == NSC_NONE || seen_comm[comm] || !nsc_is_socket(m, l, &certain))
            continue;
        seen_comm[comm] = true;
        const struct nsc_comm *k = &m->comms.item[comm];
        for (uint32_t r = 0; r < k->count; r++)
            misses[m->ranks.item[m->members.item[k->first + r]].proc] = true;
    }
}

static void tell_no_device(struct nsc_case *c, const bool *misses)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    const struct nsc_event *fatal = nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_NET_NONE), *one = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_IB_NONE || !(fatal || e->proc == NSC_NONE || misses[e->proc]))
            continue;
        one = one ? one : e;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "certain");
            f->title = fatal ? "No InfiniBand or RoCE device was found, and no other network was tried"
                             : "No InfiniBand or RoCE device was found, though the job runs on more than one node";
            f->caused_by = fatal ? NSC_ID_NET_PLUGIN_FAILED : NSC_ID_NONE;
            if (!fatal && nsc_is_pods_doing(c))
                f->caused_by = NSC_ID_TRANSPORT_POD_PER_GPU;
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    if (f) {
        struct nsc_ask ask = {
            .c = c, .m = m, .proc = m->procs.item[one->proc].nameless ? NSC_NONE : one->proc, .distance = ""};
        nsc_explain(c, f, &ask);
        const struct nsc_env *list = f->why_rows == 1 ? nsc_env_of(m, ask.proc, "NCCL_IB_HCA") : NULL;
        if (list && (!strcmp(f->why_row[0], "DEVICE_FILTERED") || !strcmp(f->why_row[0], "DEVICE_IS_INTERFACE")))
            f->title =
                nsc_words(c, "NCCL_IB_HCA=%s leaves NCCL no InfiniBand or RoCE device", nsc_say(m, list->value).ptr);
    }
    if (f && f->why_rows && nsc_text_starts(nsc_text_of(f->why_row[0]), "DEVICE_SLINGSHOT"))
        f->title = "RDMA is not used on Slingshot: libfabric's plugin, which brings it there, was not loaded";
    if (f && f->hosts.len == 1)
        f->title = nsc_words(c, "%s (so says %s)", f->title, nsc_say(m, f->hosts.item[0]).ptr);
    else if (f && f->hosts.len)
        f->title = nsc_words(c, "%s (%zu hosts say so)", f->title, f->hosts.len);
}

/* Did a process of the input choose sockets, so that a device is not what it takes? Or, `others`, another network? */
static bool anyone_takes(const struct ncclscope_model *m, bool others)
{
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].network && nsc_text_is(nsc_say(m, m->procs.item[i].network), "Socket") != others)
            return true;
    return false;
}

/* A process that is given devices by name and finds none, in an input which shows no connection: nothing says that it needs none. */
static bool misses_named_devices(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->events.len && !m->link_order.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        const struct nsc_env *list = e->kind == NCCLSCOPE_KIND_IB_NONE ? nsc_env_of(m, e->proc, "NCCL_IB_HCA") : NULL;
        if (list && nsc_say(m, list->value).len && nsc_say(m, list->value).ptr[0] != '^')
            return true;
    }
    return false;
}

/* "ib0": an interface of IP over InfiniBand that a socket is bound to; "": none is. */
static nsc_text ipoib(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->procs.len; i++) {
        nsc_text name = nsc_say(m, m->procs.item[i].bootstrap_if);
        if (nsc_text_starts(name, "ib") && name.len > 2 && nsc_is_digit(name.ptr[2]))
            return name;
    }
    return (nsc_text){NULL, 0};
}

/* Several hosts, or one with InfiniBand, of which no line shows a network or a connection, and NCCL could not load what its own RDMA needs. */
static void tell_no_verbs(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    nsc_text ib = ipoib(m);
    bool several = m->hosts.len > 1;
    if (m->link_order.len || (!several && (!ib.len || m->comms.len)) || anyone_takes(m, true))
        return;
    for (size_t i = 0; i < m->procs.len; i++) {
        const struct nsc_event *e = m->procs.item[i].nameless ? NULL : nsc_missing_verbs(m, (uint32_t)i);
        if (!e)
            continue;
        if (!f) {
            f = nsc_found(c, ib.len ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_NOTE, "fault", "certain");
            struct nsc_ask ask = {.c = c, .m = m, .proc = (uint32_t)i, .event = e, .distance = ""};
            nsc_explain(c, f, &ask);
            f->severity = ib.len && !nsc_success_of(m) ? NCCLSCOPE_SEVERITY_WARNING : f->severity;
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[i].host);
        nsc_show(c, f, &e->where);
    }
    if (f && ib.len)
        f->title = nsc_words(c,
                             "libibverbs could not be loaded, and NCCL meets over %.*s, an interface of InfiniBand: %s "
                             "data goes over TCP there, not RDMA, unless a network plugin brings it",
                             (int)ib.len, ib.ptr, several ? "between hosts" : "if the job has several hosts,");
    else if (f)
        f->title = nsc_words(c,
                             "libibverbs could not be loaded (%zu host%s say%s so): between hosts NCCL has sockets, "
                             "unless a network plugin brings RDMA",
                             f->hosts.len, f->hosts.len == 1 ? "" : "s", f->hosts.len == 1 ? "s" : "");
}

void nsc_rule_no_rdma_device(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    bool fatal = nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_NET_NONE) && !anyone_takes(m, false);
    if (nsc_raised(c, c->rule->key))
        return;
    if (!(fatal || nsc_any_socket(m) || (misses_named_devices(m) && !nsc_success_of(m)))) {
        tell_no_verbs(c); /* a device nobody misses on one host, nor where others do without */
        return;
    }
    bool *misses = nsc_alloc(m->procs.len + 1), *seen_comm = nsc_alloc(m->comms.len + 1);
    if (misses && seen_comm) {
        find_missing(m, misses, seen_comm);
        tell_no_device(c, misses);
    } else {
        c->f->no_memory = true;
    }
    nsc_free(misses);
    nsc_free(seen_comm);
}

/* Variables that are set show, and none of them chooses interfaces. */
static bool is_free_to_choose(const struct ncclscope_model *m, uint32_t proc)
{
    return m->procs.item[proc].env_seen && !nsc_env_of(m, proc, "NCCL_SOCKET_FAMILY");
}

void nsc_rule_interface_missing(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_NO_INTERFACE)
            continue;
        if (!f) {
            const struct nsc_env *env = nsc_env_of(m, e->proc, "NCCL_SOCKET_IFNAME");
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
            f->part = NSC_ROOT;
            f->began = e;
            bool excludes = env && nsc_text_starts(nsc_say(m, env->value), "^");
            f->title = env ? nsc_words(c, "NCCL_SOCKET_IFNAME=%s %s", nsc_say(m, env->value).ptr,
                                       excludes ? "leaves no interface that is up on this host"
                                                : "names no interface that is up on this host")
                           : "NCCL found no network interface to use";
            nsc_explain_by(c, f,
                           excludes                        ? NSC_INTERFACE_EXCLUDED
                           : env                           ? NSC_INTERFACE_NAMED
                           : is_free_to_choose(m, e->proc) ? NSC_INTERFACE_NOT_SET
                                                           : NSC_INTERFACE_UNTOLD);
            f->confidence = "certain"; /* that there is none; of the cause its words say how sure it is */
            nsc_show(c, f, env ? &env->where : NULL);
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
}

/* ---- hosts that are not alike ---- */

/* One node on another network than the rest: its ranks meet the others over the slowest that both have, or not at all. */
void nsc_rule_mixed_networks(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        const struct nsc_rank *one = NULL, *other = NULL;
        for (uint32_t n = 0; k->parent == NSC_NONE && n < k->count; n++) {
            const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + n]];
            one = one || !r->network ? one : r;
            other = !other && one && r->network && r->network != one->network ? r : other;
        }
        if (!other)
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "fault", "certain");
        const struct nsc_rank *both[2] = {one, other};
        f->part = NSC_ROOT; /* two networks cannot talk to each other */
        f->comm = (uint32_t)i;
        f->count = 2;
        f->title = nsc_words(
            c, "Ranks of one communicator use different networks: rank %lld %s (host %s), rank %lld %s (host %s)",
            (long long)one->rank, nsc_say(m, one->network).ptr, nsc_say(m, m->procs.item[one->proc].host).ptr,
            (long long)other->rank, nsc_say(m, other->network).ptr, nsc_say(m, m->procs.item[other->proc].host).ptr);
        const struct nsc_env *no_ib = nsc_env_is(m, one->proc, "NCCL_IB_DISABLE", "1");
        no_ib = no_ib ? no_ib : nsc_env_is(m, other->proc, "NCCL_IB_DISABLE", "1");
        nsc_explain_by(c, f, no_ib ? NSC_NETWORKS_BY_VARIABLE : NSC_NETWORKS_UNSAID);
        f->caused_by = no_ib ? NSC_ID_ENV_IB_DISABLED : NSC_ID_NONE;
        for (int n = 0; n < 2; n++) {
            nsc_name_rank(c, f, (uint64_t)both[n]->rank);
            nsc_name_host(c, f, m->procs.item[both[n]->proc].host);
            nsc_show(c, f, &both[n]->first);
        }
    }
}

/* Interfaces that reach no other node: bridges of containers and of virtual machines, loopback. */
static bool is_suspect(nsc_text name)
{
    static const char *const begin[] = {"docker",  "virbr", "br-", "veth",   "cni",
                                        "flannel", "cali",  "lxc", "podman", "tun"};
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++)
        if (nsc_text_starts(name, begin[i]))
            return true;
    return nsc_text_is(name, "lo");
}

/* Two names that are proven to be one machine, or one name. */
static bool on_one_machine(const struct ncclscope_model *m, nsc_str a, nsc_str b)
{
    uint32_t machine = nsc_machine_of(m, a);
    return a == b || (machine != NSC_NONE && machine == nsc_machine_of(m, b) &&
                      m->machines.item[machine].confidence == NSC_CERTAIN);
}

/* Does the communicator, or without any the input, hold processes of another host than this one? */
static bool meets_others(const struct ncclscope_model *m, const struct nsc_proc *p, uint32_t proc)
{
    for (uint32_t i = p->last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        uint32_t comm = m->ranks.item[i].comm;
        const struct nsc_comm *k = comm == NSC_NONE ? NULL : &m->comms.item[comm];
        for (uint32_t n = 0; k && n < k->count && n < 4096; n++)
            if (!on_one_machine(m, m->procs.item[m->ranks.item[m->members.item[k->first + n]].proc].host, p->host))
                return true;
    }
    for (size_t i = 0; !m->comms.len && i < m->proc_order.len; i++)
        if (m->procs.item[m->proc_order.item[i]].host != m->procs.item[proc].host)
            return true;
    return false;
}

/* Do ranks of different nodes talk over NET/Socket? */
static bool sockets_cross(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        bool certain;
        if (nsc_text_is(nsc_say(m, l->network), "Socket") && nsc_crosses_nodes(m, l, &certain))
            return true;
    }
    return false;
}

static bool is_astray(const struct ncclscope_model *m, const struct nsc_net_device *d)
{
    return nsc_text_is(nsc_say(m, d->net), "Socket") && (d->link_local || is_suspect(nsc_say(m, d->name)));
}

/* Was the job stopped by hand before any communicator came up? Link-local addresses work between hosts of one link. */
static bool stopped_at_start(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].state == NSC_COMPLETE)
            return false;
    return nsc_stopped_by_hand(m);
}

/* The first connection that goes over this interface: "NET/Socket/1" is the second of those that its host lists. */
static const struct nsc_link *link_over(const struct ncclscope_model *m, const struct nsc_net_device *d)
{
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->family == NSC_NET && l->net_dev == d->index && l->proc != NSC_NONE && l->network == d->net &&
            m->procs.item[l->proc].host == d->host)
            return l;
    }
    return NULL;
}

/* The line by which this process tries in vain to connect. */
static const struct nsc_event *tries_in_vain(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_event *e = nsc_event_of(m, proc, NCCLSCOPE_KIND_CALL_RETRY);
    return e && nsc_text_find(e->where.text, "connect") >= 0 ? e : NULL;
}

/* Data goes over an interface that reaches nobody, and NCCL tries to connect in vain. */
static bool tell_vain_bridge(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        const struct nsc_link *l = is_astray(m, d) ? link_over(m, d) : NULL;
        const struct nsc_event *vain = l ? tries_in_vain(m, l->proc) : NULL;
        if (!vain)
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "fault", "likely");
        f->count = 1;
        f->title = nsc_words(c, "Data between nodes goes over %s (NET/Socket/%lld), and connecting over it is in vain",
                             nsc_say(m, d->name).ptr, (long long)d->index);
        nsc_explain_by(c, f, is_suspect(nsc_say(m, d->name)) ? NSC_INTERFACE_AMONG : NSC_INTERFACE_LINK_AMONG);
        f->severity = NCCLSCOPE_SEVERITY_ERROR;
        nsc_name_host(c, f, d->host);
        nsc_show(c, f, &l->where);
        nsc_show(c, f, &vain->where);
        return true;
    }
    return false;
}

static bool is_loopback(const struct ncclscope_model *m, const struct nsc_net_device *d)
{
    return nsc_text_is(nsc_say(m, d->name), "lo");
}

/* "NET/Socket : Using [0]ens5:192.0.2.4<0> [1]veth75fa783:fe80::14ad<0>": data is spread over all of them. */
static void tell_bridges_for_data(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    bool good = false;
    const struct nsc_net_device *bad = NULL;
    unsigned others = 0; /* such interfaces of its host */
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        bool socket = nsc_text_is(nsc_say(m, d->net), "Socket"), astray = is_astray(m, d);
        good = good || (socket && !astray);
        others += astray && bad && d->host == bad->host;
        if (astray && (!bad || (!is_suspect(nsc_say(m, bad->name)) && is_suspect(nsc_say(m, d->name))) ||
                       (!is_loopback(m, bad) && is_loopback(m, d))))
            bad = d;
    }
    bool bridge = bad && is_suspect(nsc_say(m, bad->name)), loopback = bad && is_loopback(m, bad);
    if (!bad || (!good && !bridge) || !(sockets_cross(m) || (loopback && nsc_raised(c, NSC_ID_NET_SOCKET))))
        return;
    bool note = nsc_success_of(m) || (!bridge && !stopped_at_start(m));
    const struct nsc_link *over = link_over(m, bad);
    int severity = note ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING;
    f = nsc_found(c, severity, "fault", bridge || (over && !note) ? "likely" : "possible");
    const char *name = nsc_say(m, bad->name).ptr;
    const char *what = loopback ? "that reaches no other host"
                       : bridge ? "that seldom reaches another host"
                                : "with a link-local address";
    f->title = over ? nsc_words(c, "Data between nodes goes over %s (NET/Socket/%lld), an interface %s", name,
                                (long long)bad->index, what)
               : others
                   ? nsc_words(c, "NCCL spreads its data over %u interfaces too that %s (%s and others)", others + 1,
                               bridge ? "seldom reach another host" : "have a link-local address", name)
                   : nsc_words(c, "NCCL spreads its data over %s too, an interface %s", name, what);
    if (!good)
        f->title = nsc_words(c, "NCCL has no interface for data between nodes but %s, which %s another host", name,
                             loopback ? "does not reach" : "seldom reaches");
    nsc_explain_by(c, f,
                   !good      ? NSC_INTERFACE_ALONE
                   : loopback ? NSC_INTERFACE_LO_AMONG
                   : bridge   ? NSC_INTERFACE_AMONG
                              : NSC_INTERFACE_LINK_AMONG);
    f->severity = severity;
    f->confidence = loopback && good && !note
                        ? "certain"
                        : f->confidence; /* that it is among them; the cause says how sure it is */
    nsc_show(c, f, over ? &over->where : NULL);
    for (size_t i = 0; i < m->devices.len; i++)
        if (is_astray(m, &m->devices.item[i])) {
            f->count++;
            nsc_name_host(c, f, m->devices.item[i].host);
        }
}

/* Did the process fail to connect to a link-local address that is not its own? */
static bool fails_link_local(const struct ncclscope_model *m, uint32_t proc)
{
    for (size_t i = nsc_events_of(m, proc); i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != proc)
            break;
        if (e->kind == NCCLSCOPE_KIND_CONNECT_FAILED && nsc_text_starts(nsc_say(m, e->text), "fe80:"))
            return true;
    }
    return false;
}

/* Of the start of a job, which tells of no communicator: where its processes mean to meet. */
static void tell_start_link_local(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        if (!p->bootstrap_if || !p->bootstrap_addr || !nsc_text_starts(nsc_say(m, p->bootstrap_addr), "fe80:"))
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "fault", "possible");
            f->title = nsc_words(c, "NCCL takes %s to meet other hosts, by a link-local address",
                                 nsc_say(m, p->bootstrap_if).ptr);
            nsc_explain_by(c, f, NSC_INTERFACE_LINK_LOCAL);
        }
        f->count++;
        nsc_name_host(c, f, p->host);
        nsc_show(c, f, &p->bootstrap_at);
    }
}

void nsc_rule_interface_suspect(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        bool local = p->bootstrap_addr && nsc_text_starts(nsc_say(m, p->bootstrap_addr), "fe80:");
        if (!p->bootstrap_if || !(local || is_suspect(nsc_say(m, p->bootstrap_if))) ||
            !(meets_others(m, p, m->proc_order.item[i]) || (local && fails_link_local(m, m->proc_order.item[i]))))
            continue;
        if (!f) {
            bool met = nsc_success_of(m) || (local && sockets_cross(m));
            f = nsc_found(c, met ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
            f->title = local ? nsc_words(c, "NCCL meets the other hosts over %s by a link-local address",
                                         nsc_say(m, p->bootstrap_if).ptr)
                             : nsc_words(c, "NCCL meets the other hosts over %s, an interface that seldom reaches any",
                                         nsc_say(m, p->bootstrap_if).ptr);
            nsc_explain_by(c, f, local ? NSC_INTERFACE_LINK_LOCAL : NSC_INTERFACE_ALONE);
        }
        f->count++;
        nsc_name_host(c, f, p->host);
        nsc_show(c, f, &p->bootstrap_at);
    }
    if (!f && !tell_vain_bridge(c))
        tell_bridges_for_data(c);
    if (!m->comms.len && !nsc_raised(c, NSC_ID_NET_INTERFACE_SUSPECT))
        tell_start_link_local(c);
}
