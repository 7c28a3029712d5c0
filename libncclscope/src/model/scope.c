/* scope.c - whether the two ends of a connection are on one node. */
#include "model/machines.h"
#include "model/path.h"

/* The process that prints for a rank of such a link, or, `beside`, one of its host: that of a peer by P2P or host memory. NSC_NONE: none is known. */
static uint32_t printer_of(const struct ncclscope_model *m, uint32_t source, uint64_t rank, bool beside)
{
    uint32_t proc = nsc_map_get(&m->printed_on, (struct nsc_key){source, rank, 0});
    if (proc == NSC_NONE && beside)
        proc = nsc_map_get(&m->placed_on, (struct nsc_key){NSC_NONE, rank, 1 + (uint64_t)source});
    return proc < m->procs.len ? proc : NSC_NONE;
}

/* Of a link whose communicator no line names: by the hosts on which the two ranks print connections. One GPU at both ends is two machines of one name. */
static enum nsc_scope scope_by_printers(const struct ncclscope_model *m, const struct nsc_link *l)
{
    if (l->rank != NSC_NONE || l->proc == NSC_NONE || l->family != NSC_NET)
        return NSC_SCOPE_UNKNOWN;
    uint32_t source = m->procs.item[l->proc].source;
    uint32_t src = printer_of(m, source, l->src, false), dst = printer_of(m, source, l->dst, false);
    if (m->one_host_of_all && l->src_dev != l->dst_dev)
        return NSC_SCOPE_NODE;
    if (src == NSC_NONE ||
        dst == NSC_NONE) { /* "3 -> 4 via NET/IB/0", and "2[2] -> 3[3] via P2P" of another process of the host */
        src = printer_of(m, source, l->src, true);
        dst = printer_of(m, source, l->dst, true);
        bool told = !(l->src_dev && l->src_dev == l->dst_dev) && src != NSC_NONE && dst != NSC_NONE &&
                    m->procs.item[src].host == m->procs.item[dst].host;
        uint64_t a = told ? m->procs.item[src].devices : 0, b = told ? m->procs.item[dst].devices : 0;
        return a && b && !(a & b) ? NSC_SCOPE_NODE : NSC_SCOPE_UNKNOWN;
    }
    if (src == dst) /* one process of two ranks: two communicators, perhaps */
        return NSC_SCOPE_UNKNOWN;
    bool one_name = m->procs.item[src].host == m->procs.item[dst].host;
    return !one_name ? NSC_SCOPE_CLUSTER : l->src_dev != l->dst_dev ? NSC_SCOPE_NODE : NSC_SCOPE_UNKNOWN;
}

/* Is the end that tells nothing of itself on the host of the other, by P2P or host memory between it and others of that host? */
static bool is_placed_beside(const struct ncclscope_model *m, uint32_t comm, const struct nsc_link *l,
                             const struct nsc_rank *a, const struct nsc_rank *b)
{
    if (!a == !b || m->comms.item[comm].shared_names)
        return false;
    uint32_t proc = nsc_map_get(&m->placed_on, (struct nsc_key){comm, a ? l->dst : l->src, 0});
    return proc != NSC_NONE && m->procs.item[proc].host == m->procs.item[(a ? a : b)->proc].host;
}

enum nsc_scope nsc_scope_of_link(const struct ncclscope_model *m, const struct nsc_link *l)
{
    enum nsc_scope printed = scope_by_printers(m, l);
    if (nsc_is_within_process(m, l))
        return NSC_SCOPE_NODE;
    if (printed != NSC_SCOPE_UNKNOWN)
        return printed;
    if (l->family == NSC_SHM || (l->family == NSC_P2P && l->row != NSC_VIA_P2P_MNNVL))
        return NSC_SCOPE_NODE;
    uint32_t comm = nsc_comm_of(m, l);
    const struct nsc_rank *own = l->rank == NSC_NONE ? NULL : &m->ranks.item[l->rank];
    const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst);
    /* Two ranks of one communicator are on two GPUs: one bus id under one host name is two machines of that name. */
    bool one_name = a && b && m->procs.item[a->proc].host == m->procs.item[b->proc].host;
    if (one_name && nsc_is_done(a) && nsc_is_done(b) && nsc_have_one_address(m, a->proc, b->proc))
        return NSC_SCOPE_NODE;
    if (one_name && a->proc != b->proc && a->bus_id && a->bus_id == b->bus_id)
        return a->local_ranks == 1 && b->local_ranks == 1 ? NSC_SCOPE_CLUSTER : NSC_SCOPE_UNKNOWN;
    /* NCCL counts them as nodes of one rank each, and they are reached at different addresses. */
    if (one_name && a->local_ranks == 1 && b->local_ranks == 1 && m->procs.item[a->proc].bootstrap_addr &&
        m->procs.item[b->proc].bootstrap_addr &&
        m->procs.item[a->proc].bootstrap_addr != m->procs.item[b->proc].bootstrap_addr)
        return NSC_SCOPE_UNKNOWN;
    if (a && b && a->proc != b->proc && comm != NSC_NONE && m->comms.item[comm].shared_names &&
        m->procs.item[a->proc].host == m->procs.item[b->proc].host)
        return NSC_SCOPE_UNKNOWN;
    if (a && b)
        return m->procs.item[a->proc].host == m->procs.item[b->proc].host ? NSC_SCOPE_NODE : NSC_SCOPE_CLUSTER;
    if (is_placed_beside(m, comm, l, a, b))
        return NSC_SCOPE_NODE;
    /* The peer's log is not here. NCCL takes the network to ranks of its own node only when P2P and SHM are refused. */
    bool alone = own && own->local_ranks == 1; /* without P2P and shared memory each GPU is a node of its own to NCCL */
    const struct nsc_env *no_shm = alone ? nsc_env_of(m, own->proc, "NCCL_SHM_DISABLE") : NULL;
    if (no_shm && nsc_text_is(nsc_say(m, no_shm->value), "1"))
        return NSC_SCOPE_UNKNOWN;
    if (own && own->local_ranks >= 0)
        return own->local_ranks == 1 ? NSC_SCOPE_CLUSTER : NSC_SCOPE_UNKNOWN;
    return NSC_SCOPE_UNKNOWN;
}
