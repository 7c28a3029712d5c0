/* shared.c - what several rules ask of a model. */
#include "rules/rules.h"

#include "model/machines.h"
#include "probe/facts.h"

const char *nsc_needs_links(const struct ncclscope_model *m)
{
    return m->link_order.len ? NULL : "no connection lines (\"Channel ... via ...\") in this log";
}

const char *nsc_needs_links_or_network(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].network)
            return NULL;
    return nsc_needs_links(m);
}

const char *nsc_needs_links_or_nic(const struct ncclscope_model *m)
{
    return nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_GDR_NIC) ? NULL : nsc_needs_links(m);
}

const char *nsc_needs_facts(const struct ncclscope_model *m)
{
    return m->facts ? NULL : "no facts of the machine are given (ncclscope probe)";
}

const char *nsc_needs_facts_and_links(const struct ncclscope_model *m)
{
    const char *facts = nsc_needs_facts(m);
    return facts ? facts : nsc_needs_links(m);
}

const char *nsc_needs_measured(const struct ncclscope_model *m)
{
    return m->facts && m->facts->measured.len + m->facts->collectives.len
               ? NULL
               : "nothing was measured (ncclscope probe --measure)";
}

const char *nsc_needs_comms(const struct ncclscope_model *m)
{
    return m->comms.len ? NULL : "no line of this log names a communicator (Init START, Init COMPLETE)";
}

const struct nsc_event *nsc_event_of(const struct ncclscope_model *m, uint32_t proc, ncclscope_kind kind)
{
    uint32_t first = proc == NSC_NONE ? nsc_map_get(&m->whole.event, (struct nsc_key){(uint64_t)kind, 0, 0}) : NSC_NONE;
    if (first != NSC_NONE)
        return &m->events.item[first];
    for (size_t i = proc == NSC_NONE ? m->event_order.len : nsc_events_of(m, proc); i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != proc)
            return NULL;
        if (e->kind == kind)
            return e;
    }
    return NULL;
}

const struct nsc_env *nsc_env_is(const struct ncclscope_model *m, uint32_t proc, const char *name, const char *value)
{
    if (proc != NSC_NONE) {
        const struct nsc_env *e = nsc_env_of(m, proc, name);
        return e && nsc_text_is(nsc_say(m, e->value), value) ? e : NULL;
    }
    for (size_t i = 0; i < m->env.len; i++) {
        const struct nsc_env *e = &m->env.item[i];
        if (nsc_text_is(nsc_say(m, e->name), name) && nsc_text_is(nsc_say(m, e->value), value))
            return e;
    }
    return NULL;
}

const struct nsc_env *nsc_p2p_disabled(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_env *e = nsc_env_is(m, proc, "NCCL_P2P_DISABLE", "1");
    return e ? e : nsc_env_is(m, proc, "NCCL_P2P_LEVEL", "LOC");
}

const struct nsc_env *nsc_p2p_limited(const struct ncclscope_model *m, uint32_t proc)
{
    return nsc_env_is(m, proc, "NCCL_P2P_LEVEL", "SYS") || nsc_env_is(m, proc, "NCCL_P2P_LEVEL", "5")
               ? NULL
               : nsc_env_of(m, proc, "NCCL_P2P_LEVEL");
}

const struct nsc_link *nsc_link_over(const struct ncclscope_model *m, const struct nsc_net_device *d)
{
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->family == NSC_NET && l->net_dev == d->index && l->proc != NSC_NONE && l->network == d->net &&
            m->procs.item[l->proc].host == d->host)
            return l;
    }
    return NULL;
}

bool nsc_may_be_within_node(const struct ncclscope_model *m, const struct nsc_link *l)
{
    if (l->family != NSC_NET || l->proc == NSC_NONE || !nsc_env_is(m, l->proc, "NCCL_SHM_DISABLE", "1"))
        return false;
    struct nsc_known_path p = l->known;
    return p.scope == NSC_SCOPE_UNKNOWN;
}

/* A link of NET to a rank whose own log is not here: NCCL takes the network only to other nodes, or where P2P and SHM are both
 * refused; so another node is likely, not certain. */
bool nsc_crosses_nodes(const struct ncclscope_model *m, const struct nsc_link *l, bool *certain)
{
    if (l->family != NSC_NET)
        return false;
    struct nsc_known_path p = l->known;
    *certain = p.scope == NSC_SCOPE_CLUSTER;
    return p.scope != NSC_SCOPE_NODE && !nsc_may_be_within_node(m, l);
}

static bool all_are_seen(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].seen < m->comms.item[i].nranks)
            return false;
    return m->comms.len > 0;
}

bool nsc_is_within_machine(const struct ncclscope_model *m, const struct nsc_link *l)
{
    struct nsc_known_path p = l->known;
    const struct nsc_rank *a = nsc_member(m, nsc_comm_of_link(m, l), (int64_t)l->src),
                          *b = nsc_member(m, nsc_comm_of_link(m, l), (int64_t)l->dst);
    if (p.scope == NSC_SCOPE_NODE)
        return true;
    if (!a || !b) /* whose it is is not known: but if all that there is is one machine ... */
        return m->machines.len == 1 && m->machines.item[0].confidence == NSC_CERTAIN && !m->machines.item[0].several &&
               all_are_seen(m);
    if (p.scope == NSC_SCOPE_UNKNOWN)
        return false;
    uint32_t x = nsc_machine_of(m, m->procs.item[a->proc].host), y = nsc_machine_of(m, m->procs.item[b->proc].host);
    return x == y && x != NSC_NONE && m->machines.item[x].confidence == NSC_CERTAIN && !m->machines.item[x].several;
}

uint64_t nsc_count_devices(const struct ncclscope_model *m, nsc_str host)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->devices.len; i++)
        n += m->devices.item[i].host == host && nsc_text_is(nsc_say(m, m->devices.item[i].net), "IB");
    return n;
}

bool nsc_lists_device(const struct ncclscope_model *m, uint32_t proc)
{
    return proc != NSC_NONE && nsc_count_devices(m, m->procs.item[proc].host) > 0;
}

bool nsc_built_for(const struct ncclscope_model *m, uint32_t proc, int64_t *major, int64_t *minor)
{
    static const char before[] = "+cuda";
    nsc_text text = nsc_say(m, nsc_version_of(m, proc).text);
    ptrdiff_t at = nsc_text_find(text, before);
    nsc_text cuda = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(text, (size_t)at + sizeof before - 1);
    const char *dot = cuda.len ? memchr(cuda.ptr, '.', cuda.len) : NULL;
    return dot && nsc_to_i64((nsc_text){cuda.ptr, (size_t)(dot - cuda.ptr)}, major) &&
           nsc_to_i64(nsc_text_from(cuda, (size_t)(dot - cuda.ptr) + 1), minor);
}

bool nsc_may_be_torn(const struct ncclscope_model *m, uint32_t proc, nsc_str text, uint32_t other_proc, nsc_str other)
{
    nsc_text a = nsc_say(m, text), b = nsc_say(m, other);
    bool shorter = a.len < b.len;
    uint32_t source = m->procs.item[shorter ? proc : other_proc].source;
    return m->sources.item[source].stats.torn_lines && nsc_text_starts(shorter ? b : a, shorter ? a.ptr : b.ptr);
}
