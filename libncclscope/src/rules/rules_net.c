/* rules_net.c - between nodes: plugins, providers, devices, interfaces. */
#include "model/machines.h"
#include "rules/ask.h"

/* NCCL_NET_PLUGIN=none: no library has that name, up to 2.20 told as "libnccl-net-none.so"; nobody wants it found. */
static bool is_no_plugin(nsc_text name)
{
    return nsc_text_is(name, "none") || nsc_text_find(name, "-net-none.so") >= 0;
}

/* "TUNER/Plugin: Could not find: libnccl-tuner-acme.so": NCCL always looks for libnccl-tuner.so; another name was given by somebody. */
static void tell_other_plugins(struct nsc_case *c)
{
    static const struct {
        const char *kind, *named, *variable;
    } kinds[] = {{"tuner", "-tuner-", "NCCL_TUNER_PLUGIN"}, {"profiler", "-profiler-", "NCCL_PROFILER_PLUGIN"}};
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->plugins.len; i++) {
        const struct nsc_plugin *p = &m->plugins.item[i];
        nsc_text kind = nsc_say(m, p->kind), file = nsc_say(m, p->file);
        size_t k = nsc_text_is(kind, kinds[0].kind) ? 0 : 1;
        const struct nsc_env *env = nsc_env_of(m, p->last_proc, kinds[k].variable);
        if (!nsc_text_is(kind, kinds[k].kind) || !nsc_text_is(nsc_say(m, p->state), "missing") ||
            (!env && nsc_text_find(file, kinds[k].named) < 0) || (env && is_no_plugin(nsc_say(m, env->value))))
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "fault", "certain");
        f->title = nsc_words(c, "The %s plugin that was asked for (%.*s) was not found: NCCL goes on without it",
                             kinds[k].kind, (int)(file.len < 120 ? file.len : 120), file.ptr);
        nsc_explain_by(c, f, NSC_PLUGIN_ALONE);
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
        f->count = p->procs;
        nsc_name_host(c, f, m->procs.item[p->last_proc].host);
        nsc_show(c, f, &p->where);
    }
}

void nsc_rule_plugin_missing(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_PLUGIN_MISSING)
            continue;
        const struct nsc_event *named = nsc_event_of(m, e->proc, NCCLSCOPE_KIND_PLUGIN_NAMED);
        const struct nsc_env *env = nsc_env_of(m, e->proc, "NCCL_NET_PLUGIN");
        /* NCCL always looks for libnccl-net.so, RCCL for its own; another name was given by somebody, also where no line says by whom. */
        nsc_text file = nsc_say(m, e->text);
        bool other_name = nsc_text_find(file, ".so") >= 0 && !nsc_text_is(file, "libnccl-net.so") &&
                          !nsc_text_is(file, "librccl-net.so"); /* without .so the name was cut */
        bool none = (env && is_no_plugin(nsc_say(m, env->value))) || (named && is_no_plugin(nsc_say(m, named->text))) ||
                    is_no_plugin(file);
        if ((!named && !env && !other_name) || none)
            continue;
        if (nsc_event_of(m, e->proc, NCCLSCOPE_KIND_PLUGIN_LOADED)) /* another name of the list was found */
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "certain");
            f->title = nsc_words(c, "The network plugin that was asked for (%s) could not be loaded",
                                 named ? nsc_say(m, named->text).ptr
                                 : env ? nsc_say(m, env->value).ptr
                                       : file.ptr);
            nsc_explain_by(c, f,
                           nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_NET_NOT_FOUND) ? NSC_PLUGIN_AND_ITS_NET
                                                                                   : NSC_PLUGIN_ALONE);
            nsc_show(c, f, named ? &named->where : env ? &env->where : NULL);
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    tell_other_plugins(c);
}

/* "Failed to initialize NET plugin IB" (or IBext, which comes with images) is the normal end of the search for devices on a machine
 * that has none; where a network is missed, net/socket and net/no-rdma-device tell. */
static bool is_harmless_failure(const struct ncclscope_model *m, const struct nsc_event *e)
{
    nsc_text net = nsc_say(m, e->text);
    return nsc_text_starts(net, "IB") || nsc_text_is(net, "Socket");
}

/* Its interface is of another age than this NCCL. */
static bool is_unsupported(const struct nsc_event *e)
{
    return e->kind == NCCLSCOPE_KIND_PLUGIN_UNSUPPORTED && nsc_text_find(e->where.text, "network plugin") >= 0;
}

/* The process shows its start, and of InfiniBand it says neither that it found a device nor that it found none: nobody looked. */
static bool is_none_tried(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_proc *p = &m->procs.item[proc];
    if (p->nameless || !p->bootstrap_at.line)
        return false;
    for (size_t i = 0; i < m->devices.len; i++)
        if (m->devices.item[i].host == p->host)
            return false;
    return true;
}

static int failed_how(const struct ncclscope_model *m, const struct nsc_event *e)
{
    if (is_unsupported(e) || e->kind != NCCLSCOPE_KIND_NET_NONE)
        return is_unsupported(e) ? NSC_PLUGIN_UNSUPPORTED : NSC_PLUGIN_OWN_WORDS;
    return nsc_event_of(m, e->proc, NCCLSCOPE_KIND_IB_NONE) ? NSC_PLUGIN_ONLY_IB
           : is_none_tried(m, e->proc)                      ? NSC_PLUGIN_NONE_TRIED
                                                            : NSC_PLUGIN_OWN_WORDS;
}

/* The run went on without the plugin, and nobody misses a network: all ranks are on one host, or it reached its end. */
static bool is_harmless_here(const struct ncclscope_model *m, const struct nsc_event *e)
{
    bool went_on = nsc_lived_on(m, e->proc, &e->where) || nsc_success_of(m);
    return went_on && e->kind != NCCLSCOPE_KIND_NET_NONE && m->hosts.len <= 1 && !nsc_any_socket(m);
}

/* A warning of the plugin between several hosts, where no line tells what they talk over in its place. */
static bool is_all_that_is_said(const struct nsc_case *c, const struct nsc_event *e)
{
    return e->level == NCCLSCOPE_LEVEL_WARN && c->m->hosts.len > 1 && !c->m->link_order.len && !nsc_success_of(c->m);
}

/* It failed in one process of a host, and others there set it up: then their ranks are on different networks, and do not meet. */
static void tell_others_with_it(struct nsc_case *c, struct nsc_finding *f)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_event *e = f->began;
    const struct nsc_proc *own = &m->procs.item[e->proc], *other = NULL;
    for (size_t i = 0; i < m->proc_order.len && e->kind == NCCLSCOPE_KIND_OFI_FAILED && !other; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        other = p != own && p->host == own->host && !p->nameless && p->platform_at.line && !p->network ? p : NULL;
    }
    if (!other)
        return;
    f->title = nsc_words(c, "%s in process %lld%s of %s", f->title, (long long)own->pid,
                         e->dev < 0 ? "" : nsc_words(c, " [%lld]", (long long)e->dev), nsc_say(m, own->host).ptr);
    f->cause = nsc_words(c,
                         "%s Process %lld there sets it up (line %llu): where it comes up, ranks on its network and "
                         "those on sockets cannot connect.",
                         f->cause, (long long)other->pid, (unsigned long long)other->platform_at.line);
    nsc_show(c, f, &other->platform_at);
}

void nsc_rule_plugin_failed(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        bool failed = (e->kind == NCCLSCOPE_KIND_NET_FAILED && !is_harmless_failure(m, e)) ||
                      e->kind == NCCLSCOPE_KIND_OFI_FAILED || e->kind == NCCLSCOPE_KIND_NET_NONE ||
                      e->kind == NCCLSCOPE_KIND_NET_NOT_FOUND || is_unsupported(e) ||
                      (e->kind == NCCLSCOPE_KIND_OFI_NO_PROVIDER && (e->quoted || is_all_that_is_said(c, e)));
        if (!failed)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
            f->part = NSC_ROOT;
            f->began = e;
            f->title =
                is_unsupported(e)
                    ? nsc_words(c, "The network plugin %s does not fit this NCCL", nsc_say(m, e->text).ptr)
                : e->kind == NCCLSCOPE_KIND_NET_NONE
                    ? nsc_words(c, "No network could be started (%s): NCCL's initialisation fails there",
                                nsc_say(m, m->procs.item[e->proc].host).ptr)
                : e->kind == NCCLSCOPE_KIND_NET_NOT_FOUND
                    ? nsc_words(c, "There is no network %s here, which NCCL_NET or the program asks for",
                                nsc_say(m, e->text).ptr)
                : e->kind == NCCLSCOPE_KIND_OFI_FAILED || e->kind == NCCLSCOPE_KIND_OFI_NO_PROVIDER
                    ? "aws-ofi-nccl was found and could not start"
                    : nsc_words(c, "The network plugin %s was found and could not start", nsc_say(m, e->text).ptr);
            if (is_unsupported(e) && !nsc_any_socket(m))
                f->severity = NCCLSCOPE_SEVERITY_WARNING;
            struct nsc_ask ask = {.c = c,
                                  .m = m,
                                  .proc = m->procs.item[e->proc].nameless ? NSC_NONE : e->proc,
                                  .event = e,
                                  .reason = failed_how(m, e),
                                  .distance = ""};
            int severity = f->severity;
            nsc_explain(c, f, &ask);
            bool went_on = e->kind != NCCLSCOPE_KIND_NET_NONE &&
                           (m->procs.item[e->proc].network || nsc_lived_on(m, e->proc, &e->where));
            bool by_design = !strcmp(f->cls, "by-design");
            f->severity = by_design || is_harmless_here(m, e)               ? NCCLSCOPE_SEVERITY_NOTE
                          : went_on && severity == NCCLSCOPE_SEVERITY_ERROR ? NCCLSCOPE_SEVERITY_WARNING
                                                                            : severity;
            f->part = went_on ? NSC_NO_FAILURE : f->part;
            nsc_str network = m->procs.item[e->proc].network;
            if (network && f->severity > NCCLSCOPE_SEVERITY_NOTE)
                f->cause = nsc_words(c, "%s NCCL then chose the network %s.", f->cause, nsc_say(m, network).ptr);
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    if (f && f->severity > NCCLSCOPE_SEVERITY_NOTE)
        tell_others_with_it(c, f);
}

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
    else if (f)
        f->title = nsc_words(c, "%s (%zu hosts say so)", f->title, f->hosts.len);
}

/* Did a process of the input choose sockets, so that a device is not what it takes? */
static bool anyone_takes_sockets(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].network && nsc_text_is(nsc_say(m, m->procs.item[i].network), "Socket"))
            return true;
    return false;
}

void nsc_rule_no_rdma_device(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    bool fatal = nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_NET_NONE) && !anyone_takes_sockets(m);
    if (nsc_raised(c, c->rule->key) || !(fatal || nsc_any_socket(m)))
        return; /* on one host nobody misses it, nor where others do without */
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
    return nsc_first_heard(m, NCCLSCOPE_KIND_PROGRAM_STOPPED) || nsc_first_heard(m, NCCLSCOPE_KIND_KEYBOARD_STOP);
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
        if (astray && (!bad || (!is_suspect(nsc_say(m, bad->name)) && is_suspect(nsc_say(m, d->name)))))
            bad = d;
    }
    bool bridge = bad && is_suspect(nsc_say(m, bad->name));
    if (!bad || (!good && !bridge) || !sockets_cross(m))
        return;
    bool note = nsc_success_of(m) || (!bridge && !stopped_at_start(m));
    f = nsc_found(c, note ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING, "fault",
                  bridge ? "likely" : "possible");
    const char *name = nsc_say(m, bad->name).ptr;
    f->title = others ? nsc_words(c, "NCCL spreads its data over %u interfaces too that %s (%s and others)", others + 1,
                                  bridge ? "seldom reach another host" : "have a link-local address", name)
                      : nsc_words(c, "NCCL spreads its data over %s too, an interface %s", name,
                                  bridge ? "that seldom reaches another host" : "with a link-local address");
    if (!good)
        f->title = nsc_words(c, "NCCL has no interface for data between nodes but %s, which %s another host", name,
                             !strcmp(name, "lo") ? "does not reach" : "seldom reaches");
    nsc_explain_by(c, f, !good ? NSC_INTERFACE_ALONE : bridge ? NSC_INTERFACE_AMONG : NSC_INTERFACE_LINK_AMONG);
    f->severity = note ? NCCLSCOPE_SEVERITY_NOTE : f->severity;
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
    if (!f)
        tell_bridges_for_data(c);
}
