/* rules_net.c - between nodes: providers, RDMA devices, hosts that are not alike. */
#include "model/machines.h"
#include "rules/ask.h"

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
        f->title = "RDMA is not used on Slingshot: libfabric's plugin, which provides it, was not loaded";
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
                             "libibverbs could not be loaded, and NCCL's ranks meet over InfiniBand interface %.*s: %s "
                             "data goes over TCP there, not RDMA, unless a network plugin provides RDMA",
                             (int)ib.len, ib.ptr, several ? "between hosts" : "if the job has several hosts,");
    else if (f)
        f->title = nsc_words(c,
                             "libibverbs could not be loaded (%zu host%s say%s so): between hosts NCCL has sockets, "
                             "unless a network plugin brings RDMA",
                             f->hosts.len, f->hosts.len == 1 ? "" : "s", f->hosts.len == 1 ? "s" : "");
}

/* "... for device /sys/class/infiniband/bnxt_re7": how many different ones. */
static size_t count_refused(const struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        nsc_text reason = r->number == NCCLSCOPE_KIND_VERBS_TROUBLE ? nsc_said(m, r, "reason") : (nsc_text){NULL, 0};
        if (nsc_text_find(reason, "does not support the kernel ABI") >= 0)
            nsc_map_put(&seen, (struct nsc_key){nsc_field_of(m, r, "reason"), 0, 0}, 0);
    }
    size_t n = seen.used;
    nsc_map_free(&seen);
    return n;
}

/* "libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 6 (supports 1 to 1) for device ...": a device is there, and no program of
 * this image can use it. Where nothing shows that it was missed. */
static void tell_no_provider(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->happened.len && !m->link_order.len && !anyone_takes(m, true); i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        nsc_text reason = r->number == NCCLSCOPE_KIND_VERBS_TROUBLE ? nsc_said(m, r, "reason") : (nsc_text){NULL, 0};
        if (nsc_text_find(reason, "does not support the kernel ABI") < 0)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "fault", "certain");
            f->title = nsc_words(
                c, "libibverbs cannot use an RDMA device of this machine, so NCCL would not use it between hosts: %.*s",
                (int)(reason.len < 160 ? reason.len : 160), reason.ptr);
            struct nsc_ask ask = {.c = c, .m = m, .proc = NSC_NONE, .distance = ""};
            nsc_explain(c, f, &ask);
            f->severity = NCCLSCOPE_SEVERITY_NOTE;
        }
        f->count++;
        nsc_show(c, f, &r->where);
    }
    size_t devices = f ? count_refused(m) : 0;
    if (devices > 1)
        f->title = nsc_words(c, "%s, and %zu more device%s", f->title, devices - 1, devices == 2 ? "" : "s");
}

/* "Unable to open device mlx5_1" of a process of which no line tells what else it found. */
static void tell_unopened_alone(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->events.len && !m->link_order.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        const struct nsc_proc *p = &m->procs.item[e->proc];
        if (e->kind != NCCLSCOPE_KIND_IB_NO_DEVICE || nsc_lists_device(m, e->proc) || p->network)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "fault", "certain"); /* others of its host may have been */
            nsc_text words = nsc_message_of(&e->where);
            f->title = nsc_words(c, "An RDMA device could not be opened: %.*s",
                                 (int)(words.len < 120 ? words.len : 120), words.ptr);
            struct nsc_ask ask = {.c = c, .m = m, .proc = p->nameless ? NSC_NONE : e->proc, .event = e, .distance = ""};
            nsc_explain(c, f, &ask);
            f->severity = NCCLSCOPE_SEVERITY_NOTE;
        }
        f->count += e->count;
        nsc_name_host(c, f, p->host);
        nsc_show(c, f, &e->where);
    }
}

void nsc_rule_no_rdma_device(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    bool fatal = nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_NET_NONE) && !anyone_takes(m, false);
    if (nsc_raised(c, c->rule->key))
        return;
    if (!(fatal || nsc_any_socket(m) || (misses_named_devices(m) && !nsc_success_of(m)))) {
        tell_no_verbs(c); /* a device nobody misses on one host, nor where others do without */
        if (!nsc_raised(c, c->rule->key))
            tell_no_provider(c);
        if (!nsc_raised(c, c->rule->key))
            tell_unopened_alone(c);
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

/* ---- hosts that are not alike ---- */

static bool is_other_network(const struct ncclscope_model *m, const struct nsc_rank *r, const struct nsc_rank *one)
{
    return r->network && r->network != one->network &&
           !nsc_may_be_torn(m, r->proc, r->network, one->proc, one->network);
}

/* Where no line names a communicator, two hosts of one input: likely of one job. */
static void tell_mixed_hosts(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_proc *one = NULL, *other = NULL;
    struct nsc_map first = {0}; /* of a source */
    for (size_t i = 0; i < m->proc_order.len && !other; i++) {
        uint32_t at = m->proc_order.item[i];
        const struct nsc_proc *p = &m->procs.item[at];
        uint32_t before = p->network ? nsc_map_get(&first, (struct nsc_key){p->source, 0, 0}) : NSC_NONE;
        if (p->network && before == NSC_NONE && nsc_map_put(&first, (struct nsc_key){p->source, 0, 0}, at))
            c->f->no_memory = true;
        one = before == NSC_NONE ? NULL : &m->procs.item[before];
        if (one && p->network != one->network && p->host != one->host &&
            !nsc_may_be_torn(m, at, p->network, before, one->network))
            other = p;
    }
    nsc_map_free(&first);
    if (!other || nsc_success_of(m) || m->link_order.len)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
    const struct nsc_proc *both[2] = {one, other};
    f->title = nsc_words(c,
                         "Hosts of this input chose different networks: %s %s, %s %s; ranks of one job on them cannot "
                         "talk to each other",
                         nsc_say(m, one->host).ptr, nsc_say(m, one->network).ptr, nsc_say(m, other->host).ptr,
                         nsc_say(m, other->network).ptr);
    nsc_explain_by(c, f, NSC_NETWORKS_OF_HOSTS);
    for (int n = 0; n < 2; n++) {
        nsc_name_host(c, f, both[n]->host);
        nsc_show(c, f, &both[n]->network_at);
    }
}

/* One node on another network than the rest: its ranks meet the others over the slowest that both have, or not at all. */
void nsc_rule_mixed_networks(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    if (!m->comms.len)
        tell_mixed_hosts(c);
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        const struct nsc_rank *one = NULL, *other = NULL;
        for (uint32_t n = 0; k->parent == NSC_NONE && n < k->count; n++) {
            const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + n]];
            one = one || !r->network ? one : r;
            other = !other && one && is_other_network(m, r, one) ? r : other;
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
