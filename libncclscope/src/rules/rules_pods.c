/* rules_pods.c - host names that hold fewer GPUs than their machine. */
#include "model/machines.h"
#include "rules/rules.h"

struct pods {
    size_t hosts;               /* host names in the communicator, as far as seen */
    int64_t most_ranks;         /* on one host name */
    const struct nsc_rank *one; /* a rank of it */
    const struct nsc_proc *platform;
    const struct nsc_machine *shared; /* the machine that two of the host names are proven to be */
    const struct nsc_rank *high;      /* its NVML index says that the machine has more GPUs than its host name shows */
};

static int64_t ranks_on_host(const struct ncclscope_model *m, const struct nsc_comm *c, nsc_str host)
{
    int64_t n = 0, last = -1;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        n += m->procs.item[r->proc].host == host && r->rank != last;
        last = r->rank;
    }
    return n;
}

/* GPUs that a host name shows in the whole input: not only in this communicator, which may be a group of the job. */
static int64_t gpus_on_host(const struct ncclscope_model *m, nsc_str host)
{
    uint64_t seen[4] = {0};
    int64_t most = 0, n = 0;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (m->procs.item[r->proc].host != host)
            continue;
        most = r->local_ranks > most ? r->local_ranks : most;
        if (r->nvml_dev >= 0 && r->nvml_dev < 256)
            seen[r->nvml_dev / 64] |= (uint64_t)1 << (r->nvml_dev % 64);
    }
    for (size_t i = 0; i < 4; i++)
        n += __builtin_popcountll(seen[i]);
    return n > most ? n : most;
}

static struct pods look_at_pods(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    struct pods p = {0};
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        const struct nsc_proc *proc = &m->procs.item[r->proc];
        bool new_host = true;
        for (uint32_t k = 0; k < i && new_host; k++)
            new_host = m->procs.item[m->ranks.item[m->members.item[c->first + k]].proc].host != proc->host;
        p.one = p.one ? p.one : r;
        p.platform = p.platform || !proc->platform ? p.platform : proc;
        if (!new_host)
            continue;
        int64_t here = gpus_on_host(m, proc->host);
        here = here ? here : ranks_on_host(m, c, proc->host);
        p.hosts++;
        p.most_ranks = here > p.most_ranks ? here : p.most_ranks;
        for (uint32_t k = i; k < c->count && !p.high; k++) {
            const struct nsc_rank *x = &m->ranks.item[m->members.item[c->first + k]];
            p.high = m->procs.item[x->proc].host == proc->host && x->nvml_dev >= here ? x : NULL;
        }
    }
    return p;
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
    const char *each = p->most_ranks == 1 ? "one GPU" : nsc_words(c, "%lld GPUs", (long long)p->most_ranks);
    f->comm = comm;
    f->count = p->hosts;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        nsc_name_host(c, f, m->procs.item[r->proc].host);
        nsc_name_rank(c, f, (uint64_t)r->rank);
    }
    if (!strcmp(f->confidence, "certain")) {
        f->title = nsc_words(c, "%zu host names (pods) with %s each share one machine, and talk over the network",
                             p->hosts, each);
        f->cause = nsc_words(c,
                             "They are one machine (%s). To NCCL another host name is another node, so P2P and shared "
                             "memory are not even tried.",
                             p->shared->why);
    } else if (pf && k->count == 1 && p->most_ranks == 1) {
        f->title = nsc_words(c, "%s, one GPU per pod, on a %s that has %d %s joined by %s", reach(c, comm, p->one),
                             pf->name, pf->gpus, pf->model, pf->link);
    } else if (pf) {
        f->title = nsc_words(c, "Each host name (pod) has %s of a %s, which has %d %s joined by %s", each, pf->name,
                             pf->gpus, pf->model, pf->link);
    }
    if (!f->cause && pf) {
        f->cause = nsc_words(c,
                             "If these pods share a machine, %s (%g GB/s one way per GPU) lies idle behind a NIC of %g "
                             "GB/s. The log cannot tell "
                             "whether they do: %lld of %lld ranks %s in this input.",
                             pf->link, pf->link_gb_s, pf->nic_gb_s, (long long)k->seen, (long long)k->nranks,
                             k->seen == 1 ? "is" : "are");
        f->cost = nsc_words(c, "%gx: %g against %g GB/s per GPU one way, nominal (%s)", pf->link_gb_s / pf->nic_gb_s,
                            pf->nic_gb_s, pf->link_gb_s, pf->source);
    } else if (!f->cause) {
        f->title = nsc_words(c, "Each host name (pod) has %s, but the machine has more", each);
        f->cause = nsc_words(c,
                             "Rank %lld is on NVML device %lld, and its host name shows %lld: the machine has more "
                             "GPUs than this pod uses. If the "
                             "job's other pods are on the same machine, their direct links lie idle.",
                             (long long)p->high->rank, (long long)p->high->nvml_dev, (long long)p->most_ranks);
    }
    if (!f->cost && !strcmp(f->confidence, "certain"))
        nsc_set_cost(c, f, p->most_ranks == 1 ? NSC_COST_LOOPBACK : NSC_COST_SOCKET, NSC_COST_P2P, p->one->proc);
}

/* The machine that two host names of this communicator are proven to share; NULL: none. */
static const struct nsc_machine *shared_machine(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    const struct nsc_machine *shared = NULL;
    struct nsc_map seen = {0}; /* by machine: a host name */
    for (uint32_t i = 0; i < k->count && !shared; i++) {
        nsc_str host = m->procs.item[m->ranks.item[m->members.item[k->first + i]].proc].host;
        uint32_t machine = nsc_machine_of(m, host), other = nsc_map_get(&seen, (struct nsc_key){machine, 0, 0});
        if (other == NSC_NONE)
            nsc_map_put(&seen, (struct nsc_key){machine, 0, 0}, host);
        else if (other != host && m->machines.item[machine].confidence == NSC_CERTAIN)
            shared = &m->machines.item[machine];
    }
    nsc_map_free(&seen);
    return shared;
}

bool nsc_is_one_machine(const struct nsc_case *c)
{
    for (size_t i = 0; i < c->f->list.len; i++)
        if (!strcmp(c->f->list.item[i].rule->id, "transport/pod-per-gpu") &&
            !strcmp(c->f->list.item[i].confidence, "certain"))
            return true;
    return false;
}

/* Host names are nodes to NCCL; here they hold fewer GPUs than their machine. Only communicators that NCCL spread over nodes. */
void nsc_rule_pod_per_gpu(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        struct pods p = look_at_pods(m, k);
        if (k->parent != NSC_NONE || !p.one || (k->nnodes >= 0 ? k->nnodes : (int64_t)p.hosts) < 2)
            continue;
        p.shared = p.one ? shared_machine(m, k) : NULL;
        bool certain = p.shared;
        bool one_host =
            p.hosts == 1 && k->count > 1 && p.most_ranks < k->count; /* same name: /dev/shm or NCCL_HOSTID, not pods */
        const struct nsc_platform *pf = p.platform ? nsc_platform_of(nsc_say(m, p.platform->platform)) : NULL;
        bool few = pf && p.most_ranks < pf->gpus;
        if (!certain && (one_host || (!few && !p.high)))
            continue;
        struct nsc_finding *f =
            nsc_found(c, certain ? NCCLSCOPE_ERROR : NCCLSCOPE_WARNING, "fault", certain ? "certain" : "likely");
        tell_pods(c, f, (uint32_t)i, &p, few ? pf : NULL);
        for (uint32_t r = 0; certain && r < k->count; r++)
            nsc_show(c, f, &m->procs.item[m->ranks.item[m->members.item[k->first + r]].proc].bootstrap_at);
        nsc_show(c, f, few ? &p.platform->platform_at : NULL);
        nsc_show(c, f, p.high && !certain ? &p.high->first : NULL);
        nsc_show(c, f, &p.one->shape_at);
        return; /* further communicators of the same processes say the same */
    }
}
