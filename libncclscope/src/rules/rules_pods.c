/* rules_pods.c - host names that hold fewer GPUs than their machine. */
#include "model/machines.h"
#include "rules/ask.h"

struct pods {
    size_t hosts;               /* host names in the communicator, as far as seen */
    int64_t most_ranks;         /* on one host name */
    const struct nsc_rank *one; /* a rank of it */
    const struct nsc_proc *platform;
    const struct nsc_machine *shared; /* a machine that two of the host names are proven to be; NULL: none */
    bool uncounted;       /* a host name has more GPUs than those that have a log here, and nothing says how many */
    struct nsc_map names; /* machine to its host names in the communicator */
    size_t shared_machines, shared_hosts;
    int64_t shared_most;         /* GPUs of one of these host names */
    const struct nsc_rank *high; /* its NVML index says that the machine has more GPUs than its host name shows */
};

/* What the whole input shows of a host name: a communicator may be a group of the job. */
struct host_view {
    uint64_t nvml[4];      /* indices of GPUs */
    int64_t local_ranks;   /* the most that NCCL counts there */
    int64_t members, last; /* of the communicator in hand */
    int64_t unindexed;     /* of these, whose GPU's index no line tells */
    uint32_t comm;
    bool has_neighbours; /* connections within the node go to GPUs beside those that have a log here */
};

struct views {
    struct nsc_map by; /* host name to its view */
    struct host_view *view;
    bool silent; /* a process of the input tells no rank: it may be one of those that a communicator lacks */
};

static struct host_view *view_of(const struct views *v, nsc_str host)
{
    uint32_t i = nsc_map_get(&v->by, (struct nsc_key){host, 0, 0});
    return i == NSC_NONE ? NULL : &v->view[i];
}

static bool gather_views(const struct ncclscope_model *m, struct views *v)
{
    v->view = nsc_alloc((m->hosts.len + 1) * sizeof *v->view);
    bool fine = v->view;
    for (uint32_t i = 0; fine && i < m->hosts.len; i++) {
        v->view[i].comm = NSC_NONE;
        fine = !nsc_map_put(&v->by, (struct nsc_key){m->hosts.item[i].name, 0, 0}, i);
    }
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        v->silent = v->silent || (!p->nameless && p->last_rank == NSC_NONE);
    }
    for (size_t i = 0; fine && i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        struct host_view *h = view_of(v, m->procs.item[r->proc].host);
        if (!h)
            continue;
        h->local_ranks = r->local_ranks > h->local_ranks ? r->local_ranks : h->local_ranks;
        if (r->nvml_dev >= 0 && r->nvml_dev < 256)
            h->nvml[r->nvml_dev / 64] |= (uint64_t)1 << (r->nvml_dev % 64);
    }
    for (size_t i = 0; fine && i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        bool inside = l->family == NSC_SHM || (l->family == NSC_P2P && l->row != NSC_VIA_P2P_MNNVL);
        struct host_view *h = inside && l->proc != NSC_NONE ? view_of(v, m->procs.item[l->proc].host) : NULL;
        uint32_t comm = h ? nsc_comm_of_link(m, l) : NSC_NONE;
        if (comm != NSC_NONE && (!nsc_member(m, comm, (int64_t)l->src) || !nsc_member(m, comm, (int64_t)l->dst)))
            h->has_neighbours = true;
    }
    return fine;
}

static int64_t gpus_of(const struct host_view *h)
{
    int64_t n = 0;
    for (size_t i = 0; i < 4; i++)
        n += __builtin_popcountll(h->nvml[i]);
    n += n ? h->unindexed : 0;
    n = n > h->local_ranks ? n : h->local_ranks;
    return n ? n : h->members;
}

static struct pods look_at_pods(const struct ncclscope_model *m, uint32_t comm, const struct views *v)
{
    const struct nsc_comm *c = &m->comms.item[comm];
    struct pods p = {0};
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        const struct nsc_proc *proc = &m->procs.item[r->proc];
        struct host_view *h = view_of(v, proc->host);
        p.one = p.one ? p.one : r;
        p.platform = p.platform || !proc->platform ? p.platform : proc;
        if (h && h->comm != comm) {
            h->comm = comm;
            h->members = h->unindexed = 0;
            h->last = -1;
            p.hosts++;
        }
        if (h && r->rank != h->last) {
            h->members++;
            h->unindexed += r->nvml_dev < 0;
        }
        if (h)
            h->last = r->rank;
    }
    int64_t index = -1;
    bool one_index = true;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        const struct host_view *h = view_of(v, m->procs.item[r->proc].host);
        int64_t here = h ? gpus_of(h) : 0;
        p.most_ranks = here > p.most_ranks ? here : p.most_ranks;
        bool counted = h && (h->local_ranks > 0 || c->seen == c->nranks); /* not only as many as have a log here */
        p.high = p.high || !counted || r->nvml_dev < here ? p.high : r;
        p.uncounted = p.uncounted || (h && !counted && h->has_neighbours);
        one_index = one_index && (r->nvml_dev == index || index < 0);
        index = r->nvml_dev;
    }
    if (p.hosts > 1 && one_index)
        p.high = NULL; /* one GPU index under all names: as many machines */
    return p;
}

/* Is there a bus id that every host name has, with all ranks in the log: so each is a machine of its own? */
static bool are_machines(const struct ncclscope_model *m, const struct nsc_comm *k, const struct pods *p)
{
    struct nsc_map seen = {0}; /* bus id and host name; bus id, to its host names */
    bool all = false;
    for (uint32_t i = 0; k->seen == k->nranks && i < k->count && !all; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        struct nsc_key at = {r->bus_id, m->procs.item[r->proc].host, 0}, id = {r->bus_id, 0, 1};
        if (!r->bus_id || nsc_map_get(&seen, at) != NSC_NONE)
            continue;
        uint32_t before = nsc_map_get(&seen, id), now = before == NSC_NONE ? 1 : before + 1;
        nsc_map_put(&seen, at, 0);
        nsc_map_put(&seen, id, now);
        all = now == p->hosts;
    }
    nsc_map_free(&seen);
    return all;
}

/* Does Kubernetes put the pods of all these host names on nodes of their own? */
static bool have_own_nodes(const struct ncclscope_model *m, const struct nsc_comm *k, const struct pods *p)
{
    struct nsc_map seen = {0}; /* nodes */
    size_t nodes = 0;
    bool known = k->seen == k->nranks && p->hosts > 1;
    for (uint32_t i = 0; known && i < k->count; i++) {
        const struct nsc_proc *proc = &m->procs.item[m->ranks.item[m->members.item[k->first + i]].proc];
        nsc_str node = proc->in_pod == NSC_NONE ? 0 : m->pods.item[proc->in_pod].node;
        known = node != 0;
        nodes += nsc_map_get(&seen, (struct nsc_key){node, 0, 0}) == NSC_NONE;
        nsc_map_put(&seen, (struct nsc_key){node, 0, 0}, 0);
    }
    nsc_map_free(&seen);
    return known && nodes == (size_t)p->hosts;
}

/* Did Slurm give the job as many machines as it has host names? */
static bool are_slurms_nodes(const struct ncclscope_model *m, const struct pods *p)
{
    int64_t nodes;
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_SLURM_NODES &&
            nsc_number_said(m, &m->happened.item[i], "count", &nodes))
            return nodes >= (int64_t)p->hosts;
    static const ncclscope_kind of_slurm[] = {NCCLSCOPE_KIND_SRUN_ENDED, NCCLSCOPE_KIND_SLURM_OOM,
                                              NCCLSCOPE_KIND_SLURM_LIMIT, NCCLSCOPE_KIND_SLURM_NODE_GONE};
    for (size_t i = 0; i < sizeof of_slurm / sizeof of_slurm[0]; i++)
        if (nsc_first_heard(m, of_slurm[i])) /* a task has the name of its node, in a container too */
            return true;
    return false;
}

/* Interfaces as Linux and sites name those of a machine ("enp1s0", "hsn0", "bond0"); a pod's own is eth0 or net1. */
static bool is_machines_interface(nsc_text interface)
{
    static const char *const begins[] = {"en", "hsn", "bond", "team", "xgbe", NULL};
    return nsc_text_starts_any(interface, begins);
}

/* Does each host name have an address of its own on an interface of a machine? Pods that share a machine and its network have one address. */
static bool have_own_interfaces(const struct ncclscope_model *m, const struct nsc_comm *k, const struct pods *p)
{
    struct nsc_map seen = {0}; /* addresses, to the host name that has it; host names */
    size_t hosts = 0;
    bool own = k->seen == k->nranks;
    for (uint32_t i = 0; own && i < k->count; i++) {
        const struct nsc_proc *proc = &m->procs.item[m->ranks.item[m->members.item[k->first + i]].proc];
        struct nsc_key at = {proc->address, 0, 0}, name = {proc->host, 0, 1};
        uint32_t who = nsc_map_get(&seen, at);
        own = proc->address && is_machines_interface(nsc_say(m, proc->address_if)) &&
              (who == NSC_NONE || who == proc->host);
        hosts += nsc_map_get(&seen, name) == NSC_NONE;
        nsc_map_put(&seen, at, proc->host);
        nsc_map_put(&seen, name, 0);
    }
    nsc_map_free(&seen);
    return own && hosts == (size_t)p->hosts;
}

/* Is it one of several host names, in this communicator, of a machine? */
static bool is_on_shared(const struct ncclscope_model *m, const struct pods *p, nsc_str host)
{
    uint32_t machine = nsc_machine_of(m, host);
    uint32_t n = nsc_map_get(&p->names, (struct nsc_key){machine, 0, 0});
    return n != NSC_NONE && n > 1 && m->machines.item[machine].confidence != NSC_POSSIBLE;
}

/* Machines that host names of this communicator are proven to share. */
static void find_shared(const struct ncclscope_model *m, const struct nsc_comm *k, const struct views *v,
                        struct pods *p)
{
    struct nsc_map seen = {0}; /* host names; machines */
    for (uint32_t i = 0; i < k->count; i++) {
        nsc_str host = m->procs.item[m->ranks.item[m->members.item[k->first + i]].proc].host;
        struct nsc_key machine = {nsc_machine_of(m, host), 0, 0};
        if (nsc_map_get(&seen, (struct nsc_key){host, 0, 0}) != NSC_NONE)
            continue;
        uint32_t before = nsc_map_get(&p->names, machine);
        nsc_map_put(&seen, (struct nsc_key){host, 0, 0}, 0);
        nsc_map_put(&p->names, machine, before == NSC_NONE ? 1 : before + 1);
    }
    for (uint32_t i = 0; i < k->count; i++) {
        nsc_str host = m->procs.item[m->ranks.item[m->members.item[k->first + i]].proc].host;
        uint32_t machine = nsc_machine_of(m, host);
        if (!is_on_shared(m, p, host) || nsc_map_get(&seen, (struct nsc_key){host, 0, 1}) != NSC_NONE)
            continue;
        nsc_map_put(&seen, (struct nsc_key){host, 0, 1}, 0);
        p->shared_machines += nsc_map_get(&seen, (struct nsc_key){machine, 0, 2}) == NSC_NONE;
        nsc_map_put(&seen, (struct nsc_key){machine, 0, 2}, 0);
        if (!p->shared || p->shared->confidence == NSC_CERTAIN)
            p->shared = &m->machines.item[machine]; /* the least certain one */
        p->shared_hosts++;
        int64_t here = view_of(v, host) ? gpus_of(view_of(v, host)) : 0;
        p->shared_most = here > p->shared_most ? here : p->shared_most;
    }
    nsc_map_free(&seen);
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
    nsc_finding_free(&peers);
    return words;
}

static void tell_pods(struct nsc_case *c, struct nsc_finding *f, uint32_t comm, const struct pods *p,
                      const struct nsc_platform *pf)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_comm *k = &m->comms.item[comm];
    int64_t most = p->shared ? p->shared_most : p->most_ranks;
    const char *each = most == 1 ? "one GPU" : nsc_words(c, "%lld GPUs", (long long)most);
    f->comm = comm;
    f->count = p->shared ? p->shared_hosts : p->hosts;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        if (p->shared && !is_on_shared(m, p, m->procs.item[r->proc].host))
            continue;
        nsc_name_host(c, f, m->procs.item[r->proc].host);
        nsc_name_rank(c, f, (uint64_t)r->rank);
    }
    if (p->shared) {
        const char *where = p->shared_machines == 1 ? "one machine" : nsc_words(c, "%zu machines", p->shared_machines);
        f->title = m->gpus_are_shared
                       ? nsc_words(c, "%zu host names (pods) share %s and the GPUs there, and talk over the network",
                                   p->shared_hosts, where)
                       : nsc_words(c, "%zu host names (pods) with %s each share %s, and talk over the network",
                                   p->shared_hosts, each, where);
        nsc_explain_with(c, f, NSC_PODS_SHARE, where, p->shared->why);
    } else if (pf && k->count == 1 && p->most_ranks == 1) {
        f->title = nsc_words(c, "%s, one GPU per pod, on a %s that has %d %s joined by %s", reach(c, comm, p->one),
                             pf->name, pf->gpus, pf->model, pf->link);
    } else if (pf) {
        f->title = nsc_words(c, "Each host name (pod) has %s of a %s, which has %d %s joined by %s", each, pf->name,
                             pf->gpus, pf->model, pf->link);
    }
    if (!f->cause && pf) {
        nsc_explain_with(c, f, NSC_PODS_MAY_SHARE,
                         nsc_words(c, "%s (%g GB/s one way per GPU) lies idle behind a NIC of %g GB/s", pf->link,
                                   pf->link_gb_s, pf->nic_gb_s),
                         nsc_words(c, "%lld of %lld ranks %s", (long long)k->seen, (long long)k->nranks,
                                   k->seen == 1 ? "is" : "are"));
        if (!nsc_p2p_limited(m, p->one->proc)) /* else P2P would not be had by one pod alone */
            f->cost = nsc_words(c, "%gx: %g against %g GB/s per GPU one way, nominal (%s)",
                                pf->link_gb_s / pf->nic_gb_s, pf->nic_gb_s, pf->link_gb_s, pf->source);
    } else if (!f->cause) {
        const char *over = k->worst_path == NSC_PATH_SOCKET                                     ? "TCP sockets"
                           : k->worst_path == NSC_PATH_NET || k->worst_path == NSC_PATH_NET_GDR ? "RDMA"
                                                                                                : NULL;
        f->title = nsc_words(c, "%s host name (pod) uses %s, and the machine of rank %lld has more",
                             over ? nsc_words(c, "Ranks talk over %s, as between nodes; each", over) : "Each", each,
                             (long long)p->high->rank);
        nsc_explain_with(
            c, f, NSC_PODS_MORE_GPUS,
            nsc_words(c, "Rank %lld is on NVML device %lld", (long long)p->high->rank, (long long)p->high->nvml_dev),
            nsc_words(c, "%lld", (long long)p->most_ranks));
    }
    if (!f->cost && p->shared && k->worst_path == NSC_PATH_SOCKET)
        nsc_set_cost(c, f, p->most_ranks == 1 ? NSC_COST_LOOPBACK : NSC_COST_SOCKET, NSC_COST_P2P, p->one->proc);
}

bool nsc_is_pods_doing(const struct nsc_case *c)
{
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].rule->key == NSC_ID_TRANSPORT_POD_PER_GPU &&
            c->f->list.item[i].severity > NCCLSCOPE_SEVERITY_NOTE)
            return true;
    return false;
}

bool nsc_is_one_machine(const struct nsc_case *c)
{
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].rule->key == NSC_ID_TRANSPORT_POD_PER_GPU &&
            !strcmp(c->f->list.item[i].confidence, "certain"))
            return true;
    return false;
}

/* Raises it for this communicator, if it is one that NCCL spread over nodes. */
static bool tell_pods_of(struct nsc_case *c, uint32_t comm, const struct views *v)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_comm *k = &m->comms.item[comm];
    if (k->parent != NSC_NONE || (k->nnodes >= 0 && k->nnodes < 2))
        return false;
    struct pods p = look_at_pods(m, comm, v);
    if (!p.one || (k->nnodes < 0 && p.hosts < 2))
        return false;
    find_shared(m, k, v, &p);
    bool certain = p.shared && p.shared->confidence == NSC_CERTAIN;
    bool one_host =
        p.hosts == 1 && k->count > 1 && p.most_ranks < k->count; /* same name: /dev/shm or NCCL_HOSTID, not pods */
    const struct nsc_platform *pf = p.platform ? nsc_platform_of(nsc_say(m, p.platform->platform)) : NULL;
    bool unknown = v->silent && k->seen < k->nranks;
    bool few = pf && !p.uncounted && !unknown && p.most_ranks < pf->gpus;
    if (!p.shared && (one_host || (!few && !p.high) ||
                      (p.hosts > 1 && (are_machines(m, k, &p) || have_own_nodes(m, k, &p) || are_slurms_nodes(m, &p) ||
                                       have_own_interfaces(m, k, &p))))) {
        nsc_map_free(&p.names);
        return false;
    }
    bool well =
        !p.shared && !few && nsc_success_of(m); /* it ended well, and nothing shows that the pods share a machine */
    struct nsc_finding *f = nsc_found(c,
                                      certain ? NCCLSCOPE_SEVERITY_ERROR
                                      : well  ? NCCLSCOPE_SEVERITY_NOTE
                                              : NCCLSCOPE_SEVERITY_WARNING,
                                      "fault",
                                      certain ? "certain"
                                      : well  ? "possible"
                                              : "likely");
    tell_pods(c, f, comm, &p, few ? pf : NULL);
    for (uint32_t r = 0; p.shared && r < k->count; r++)
        nsc_show(c, f, &m->procs.item[m->ranks.item[m->members.item[k->first + r]].proc].address_at);
    nsc_show(c, f, few ? &p.platform->platform_at : NULL);
    nsc_show(c, f, p.high && !p.shared ? &p.high->first : NULL);
    nsc_show(c, f, &p.one->shape_at);
    nsc_map_free(&p.names);
    return true;
}

/* Host names are nodes to NCCL; here they hold fewer GPUs than their machine. Once: further communicators of the same processes say
 * the same. */
void nsc_rule_pod_per_gpu(struct nsc_case *c)
{
    struct views v = {0};
    bool fine = gather_views(c->m, &v), told = false;
    c->f->no_memory = c->f->no_memory || !fine;
    for (uint32_t i = 0; fine && !told && i < c->m->comms.len; i++)
        told = tell_pods_of(c, i, &v);
    nsc_map_free(&v.by);
    nsc_free(v.view);
}
