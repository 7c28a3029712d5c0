/* rules_interfaces.c - the interfaces by which ranks meet and sockets carry data: one that is not there, one that reaches no other host. */
#include "model/machines.h"
#include "model/topology.h"
#include "rules/ask.h"
#include "rules/raised.h"

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
            f->confidence =
                env && env->by_pod ? "likely" : "certain"; /* that there is none; the cause has words of its own */
            nsc_show(c, f, env ? &env->where : NULL);
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
}

/* Interfaces that reach no other node: bridges of containers and of virtual machines, loopback. */
static bool is_suspect(nsc_text name)
{
    static const char *const begin[] = {"docker", "virbr", "br-",    "veth", "cni", "flannel",
                                        "cali",   "lxc",   "podman", "tun",  NULL};
    return nsc_text_starts_any(name, begin) || nsc_text_is(name, "lo");
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

/* The line by which this process tries in vain to connect. */
static const struct nsc_event *tries_in_vain(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_event *e = nsc_event_of(m, proc, NCCLSCOPE_KIND_CONNECT_RETRY);
    return e && nsc_text_find(e->where.text, "connect") >= 0 ? e : NULL;
}

/* The one interface of the host that may reach others; NULL: none, or several. */
static const struct nsc_net_device *only_good_one(const struct ncclscope_model *m, nsc_str host)
{
    const struct nsc_net_device *one = NULL;
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        if (d->host != host || !nsc_text_is(nsc_say(m, d->net), "Socket") || is_astray(m, d))
            continue;
        if (one && one->name != d->name)
            return NULL;
        one = d;
    }
    return one;
}

/* Data goes over an interface that reaches nobody, and NCCL tries to connect in vain. */
static bool tell_vain_bridge(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        const struct nsc_link *l = is_astray(m, d) ? nsc_link_over(m, d) : NULL;
        const struct nsc_event *vain = l ? tries_in_vain(m, l->proc) : NULL;
        if (!vain)
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "fault", "likely");
        f->count = 1;
        f->title =
            nsc_words(c, "Data between nodes goes over %s (NET/Socket/%lld), and attempts to connect over it fail",
                      nsc_say(m, d->name).ptr, (long long)d->index);
        nsc_explain_by(c, f, is_suspect(nsc_say(m, d->name)) ? NSC_INTERFACE_AMONG : NSC_INTERFACE_LINK_AMONG);
        f->severity = NCCLSCOPE_SEVERITY_ERROR;
        const struct nsc_net_device *other = only_good_one(m, d->host);
        if (other)
            f->fix = nsc_words(c, "%s Beside it, NCCL lists only %s.", f->fix, nsc_say(m, other->name).ptr);
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

/* Does a process of this host meet processes of others? */
static bool host_meets_others(const struct ncclscope_model *m, nsc_str host)
{
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        if (p->host == host && meets_others(m, p, m->proc_order.item[i]))
            return true;
    }
    return false;
}

/* "CUDA Dev 0[0], Socket NIC distance :  PHB SYS": of the interfaces that it lists 2.4 takes the nearest, and leaves this one aside. */
static const struct nsc_event *leaves_aside(const struct ncclscope_model *m, const struct nsc_net_device *d)
{
    static const char words[] = "Socket NIC distance :";
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        ptrdiff_t at = e->kind == NCCLSCOPE_KIND_TOPO_DISTANCE ? nsc_text_find(e->where.text, words) : -1;
        if (at < 0 || e->proc == NSC_NONE || m->procs.item[e->proc].host != d->host)
            continue;
        nsc_text rest = nsc_text_from(e->where.text, (size_t)at + sizeof words - 1);
        enum nsc_level own = NSC_LEVEL_UNKNOWN, nearest = NSC_LEVEL_UNKNOWN;
        for (int64_t k = 0; rest.len; k++) {
            enum nsc_level level = nsc_level_of(nsc_next_word(&rest));
            own = k == d->index ? level : own;
            nearest = level < nearest ? level : nearest;
        }
        if (own != NSC_LEVEL_UNKNOWN && own > nearest)
            return e;
    }
    return NULL;
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
    if (!bad || (!good && !bridge) ||
        !(sockets_cross(m) ||
          (loopback && (nsc_raised(c, NSC_ID_NET_SOCKET) || (!m->warnings.len && host_meets_others(m, bad->host))))))
        return;
    const struct nsc_link *over = nsc_link_over(m, bad);
    const struct nsc_event *aside = over || !good ? NULL : leaves_aside(m, bad);
    bool note = aside || nsc_success_of(m) || (!bridge && !stopped_at_start(m));
    int severity = note ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING;
    f = nsc_found(c, severity, "fault", bridge || (over && !note) ? "likely" : "possible");
    const char *name = nsc_say(m, bad->name).ptr;
    const char *what = loopback ? "that reaches no other host"
                       : bridge ? "that seldom reaches another host"
                                : "with a link-local address";
    f->title = over     ? nsc_words(c, "Data between nodes goes over %s (NET/Socket/%lld), an interface %s", name,
                                    (long long)bad->index, what)
               : others ? nsc_words(c, "NCCL's interfaces for data include %u that %s (%s and others)", others + 1,
                                    bridge ? "seldom reach another host" : "have a link-local address", name)
                        : nsc_words(c, "NCCL's interfaces for data include %s, one %s", name, what);
    if (aside)
        f->title = nsc_words(
            c,
            "NCCL's interfaces for data include %s, one %s; this release takes only the one nearest to the GPU, "
            "which is another one",
            name, what);
    if (!good)
        f->title = nsc_words(c, "NCCL's only interface for data between nodes is %s, which %s another host", name,
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
    nsc_show(c, f, over ? &over->where : aside ? &aside->where : &bad->where);
    const struct nsc_net_device *other = only_good_one(m, bad->host);
    if (other)
        f->fix = nsc_words(c, "%s Beside it, NCCL lists only %s.", f->fix, nsc_say(m, other->name).ptr);
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
            f->title = nsc_words(c, "NCCL uses %s to meet other hosts, with a link-local address",
                                 nsc_say(m, p->bootstrap_if).ptr);
            nsc_explain_by(c, f, NSC_INTERFACE_LINK_LOCAL);
        }
        f->count++;
        nsc_name_host(c, f, p->host);
        nsc_show(c, f, &p->bootstrap_at);
    }
}

/* "172.17.0.2": of the network that Docker gives its bridge on every machine, unless somebody chose another. */
static bool is_of_docker(const struct ncclscope_model *m, const struct nsc_proc *p)
{
    return p->bootstrap_addr && nsc_text_starts(nsc_say(m, p->bootstrap_addr), "172.17.0.");
}

/* Has every rank of one of its communicators begun, and none of it come through where the input ends? */
static bool waits_to_meet(const struct ncclscope_model *m, const struct nsc_proc *p)
{
    for (uint32_t i = p->last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        uint32_t comm = m->ranks.item[i].comm;
        const struct nsc_comm *k = comm == NSC_NONE ? NULL : &m->comms.item[comm];
        if (k && k->state == NSC_INCOMPLETE && k->nranks > 1 && nsc_is_all_begun(m, k))
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
        bool bridge = is_suspect(p->bootstrap_if ? nsc_say(m, p->bootstrap_if) : (nsc_text){"", 0}),
             docker = !bridge && is_of_docker(m, p);
        if (!p->bootstrap_if || !(local || bridge || docker) ||
            !(meets_others(m, p, m->proc_order.item[i]) || (local && fails_link_local(m, m->proc_order.item[i]))))
            continue;
        if (!f) {
            bool met = nsc_success_of(m) || ((local || docker) && sockets_cross(m));
            f = nsc_found(c, met ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
            bool waits = bridge && !met && waits_to_meet(m, p);
            f->severity = waits ? NCCLSCOPE_SEVERITY_ERROR : f->severity;
            f->title = local ? nsc_words(c, "NCCL meets the other hosts over %s by a link-local address",
                                         nsc_say(m, p->bootstrap_if).ptr)
                       : docker
                           ? nsc_words(c, "NCCL meets the other hosts over %s by %s, an address of Docker's own bridge",
                                       nsc_say(m, p->bootstrap_if).ptr, nsc_say(m, p->bootstrap_addr).ptr)
                           : nsc_words(c, "NCCL meets the other hosts over %s, an interface that seldom reaches any%s",
                                       nsc_say(m, p->bootstrap_if).ptr,
                                       waits ? "; its ranks started, but none got through" : "");
            nsc_explain_by(c, f,
                           local    ? NSC_INTERFACE_LINK_LOCAL
                           : docker ? NSC_INTERFACE_DOCKER
                                    : NSC_INTERFACE_ALONE);
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
