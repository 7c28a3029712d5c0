/* nvlink.c - the lines that prove or exclude NVLink between GPUs. */
#include "model/pairs.h"
#include "model/path.h"
#include "model/topology.h"
#include "read/changes.h"

static bool env_is_there(const struct ncclscope_model *m, uint32_t proc, const char *name)
{
    return nsc_env_of(m, proc, name) != NULL;
}

bool nsc_read_proves(const struct ncclscope_model *m, const struct nsc_link *l)
{
    return l->read && (l->proc == NSC_NONE ? m->readers_choose : nsc_reads_by_itself(m, l->proc));
}

/* One NCCL node with a chunk size of 512 KiB: from 2.25.1 every pair is better than one PCIe switch; before that at least one pair,
 * which with two ranks is this one. Only NCCL_P2P_NVL_CHUNKSIZE and the PCI one change the numbers. */
static const struct nsc_where *chunk_proves(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    unsigned version = nsc_version_of(m, r->proc).low;
    if (r->chunk != 524288 || r->nranks < 2 || r->nnodes != 1)
        return NULL;
    if (version < NSC_CHANGE_CHUNK_SIZES || (version < NSC_CHANGE_CHUNK_OF_ALL_PAIRS && r->nranks != 2) ||
        m->procs.item[r->proc].rccl)
        return NULL;
    if (env_is_there(m, r->proc, "NCCL_P2P_NVL_CHUNKSIZE") || env_is_there(m, r->proc, "NCCL_P2P_PCI_CHUNKSIZE"))
        return NULL;
    return &r->chunk_at;
}

const struct nsc_where *nsc_chunk_excludes_nvlink(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    struct nsc_version version = nsc_version_of(m, r->proc);
    bool of_this_pair = r->nranks == 2 || version.high < NSC_CHANGE_CHUNK_OF_ALL_PAIRS;
    if (r->chunk != 131072 || r->nranks < 2 || r->nnodes != 1 || r->parent_pointer)
        return NULL;
    if (version.low < NSC_CHANGE_CHUNK_SIZES || !of_this_pair || m->procs.item[r->proc].rccl)
        return NULL;
    static const char *const changed_by[] = {"NCCL_P2P_NVL_CHUNKSIZE", "NCCL_P2P_PCI_CHUNKSIZE", "NCCL_BUFFSIZE"};
    for (size_t i = 0; i < sizeof changed_by / sizeof changed_by[0]; i++)
        if (env_is_there(m, r->proc, changed_by[i]))
            return NULL;
    return &r->chunk_at;
}

/* A child shares its parent's GPUs, and its chunk size is capped to the parent's: what holds for the parent holds for it. */
static const struct nsc_where *rank_proves(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    for (int depth = 0; depth < 8; depth++) {
        const struct nsc_where *w = chunk_proves(m, r);
        if (w)
            return w;
        if (r->ring_type && nsc_class_is_nvlink(nsc_say(m, r->ring_type)))
            return &r->ring_type_at; /* "Pattern 4 ... type NVL/..": the worst edge of the ring */
        if (r->parent == NSC_NONE)
            return NULL;
        r = &m->ranks.item[r->parent];
    }
    return NULL;
}

static struct nsc_key gpu_pair(const struct ncclscope_model *m, const struct nsc_rank *a, const struct nsc_rank *b)
{
    bool swap = a->bus_id > b->bus_id;
    return (struct nsc_key){m->procs.item[a->proc].host, swap ? b->bus_id : a->bus_id, swap ? a->bus_id : b->bus_id};
}

/* Do two ranks sit on two GPUs of one host that can be named? */
static bool are_gpus_of_host(const struct ncclscope_model *m, const struct nsc_rank *a, const struct nsc_rank *b)
{
    return a && b && a->bus_id && b->bus_id && a->bus_id != b->bus_id &&
           m->procs.item[a->proc].host == m->procs.item[b->proc].host;
}

/* Does the rank show itself that it is elsewhere: another machine of this name, or P2P with a smaller chunk than NVLink gives a node?
 * Without P2P the chunk is small whatever the machine has. */
static bool contradicts(const struct ncclscope_model *m, const struct nsc_link *l, const struct nsc_rank *own,
                        const struct nsc_rank *proof)
{
    nsc_str here = m->procs.item[own->proc].bootstrap_addr, there = m->procs.item[proof->proc].bootstrap_addr;
    bool small = l->family == NSC_P2P && own->chunk > 0 && own->chunk < 524288 && own->nnodes == 1 &&
                 own->parent == NSC_NONE && nsc_version_of(m, own->proc).low >= NSC_CHANGE_CHUNK_OF_ALL_PAIRS;
    return (here && there && here != there) || small;
}

/* Another communicator of the same two GPUs proves it, or that one of them sends through the NIC of the other (PXN) or through its
 * memory. */
static const struct nsc_where *pair_proves(const struct ncclscope_model *m, const struct nsc_link *l)
{
    uint32_t comm = nsc_comm_of(m, l);
    const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst);
    if (!are_gpus_of_host(m, a, b) || m->comms.item[comm].shared_names)
        return NULL;
    uint32_t leg = m->legs_by.used ? nsc_map_get(&m->legs_by, gpu_pair(m, a, b)) : NSC_NONE;
    if (leg != NSC_NONE)
        return &m->links.item[leg].where;
    if (!m->nvlink_by.used)
        return NULL;
    uint32_t r = nsc_map_get(&m->nvlink_by, gpu_pair(m, a, b));
    if (r == NSC_NONE || contradicts(m, l, a, &m->ranks.item[r]) || contradicts(m, l, b, &m->ranks.item[r]))
        return NULL;
    return rank_proves(m, &m->ranks.item[r]);
}

/* "3[3] -> 4[0] [send] via NET/IB/0(0)/GDRDMA": rank 3 sends through rank 0 of its node, which NCCL does over NVLink alone. */
static void find_pxn(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        uint32_t comm = l->proxy_rank < 0 || l->direction != 1 ? NSC_NONE : nsc_comm_of(m, l);
        const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, l->proxy_rank);
        if (are_gpus_of_host(m, a, b) && nsc_map_put(&m->legs_by, gpu_pair(m, a, b), (uint32_t)i))
            m->no_memory = true;
    }
}

/* "0[170] -> 5[1c0] via P2P/indirect/1[180]": through rank 1, to which and from which there is NVLink. */
static void find_legs(struct ncclscope_model *m)
{
    static const char before[] = "indirect/";
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        nsc_text via = l->row == NSC_VIA_P2P_INDIRECT ? nsc_say(m, l->via) : (nsc_text){NULL, 0};
        ptrdiff_t at = nsc_text_find(via, before);
        nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(via, (size_t)at + sizeof before - 1);
        ptrdiff_t open = nsc_text_find(rest, "[");
        int64_t middle;
        if (open <= 0 || !nsc_to_i64((nsc_text){rest.ptr, (size_t)open}, &middle))
            continue;
        uint32_t comm = nsc_comm_of(m, l);
        const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst),
                              *k = nsc_member(m, comm, middle);
        bool failed = (are_gpus_of_host(m, a, k) && nsc_map_put(&m->legs_by, gpu_pair(m, a, k), (uint32_t)i)) ||
                      (are_gpus_of_host(m, k, b) && nsc_map_put(&m->legs_by, gpu_pair(m, k, b), (uint32_t)i));
        m->no_memory = m->no_memory || failed;
    }
}

/* What a process says of its rings and channels where no line of it names a communicator: "Pattern 4 ... type NVL/PHB", "16 nvls channels". */
static void find_loose_proofs(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->threads.len; i++) {
        const struct nsc_thread *t = &m->threads.item[i];
        struct nsc_proc *p = &m->procs.item[t->proc];
        bool ring = t->ring_type && nsc_class_is_nvlink(nsc_say(m, t->ring_type));
        if (p->last_rank == NSC_NONE && !p->nameless && !p->rccl && !p->nvlink_at.line && (ring || t->nvls > 0))
            p->nvlink_at = ring ? t->ring_type_at : t->channels_at;
    }
}

enum { DENIED = NSC_NONE - 1 };

/* Keeps for a host what says that its GPUs have NVLink, unless something denies it. */
static void note_host(struct ncclscope_model *m, struct nsc_map *by, nsc_str host, uint32_t at, bool denies)
{
    struct nsc_key key = {host, 0, 0};
    if ((denies || nsc_map_get(by, key) == NSC_NONE) && nsc_map_put(by, key, denies ? (uint32_t)DENIED : at))
        m->no_memory = true;
}

/* Keeps for a host the nearest path between two of its GPUs, unless one is nearer than a CPU, or the path was led through the CPU though the
 * tree of the dump shows something nearer: that P2P was not allowed then says nothing of how far apart they are. */
static void note_far(struct ncclscope_model *m, const struct nsc_gpu_path *p, uint32_t at)
{
    struct nsc_key key = {p->host, 0, 0};
    enum nsc_level level = nsc_level_of(nsc_say(m, p->type));
    uint32_t before = nsc_map_get(&m->far_by, key);
    bool known,
        far = (level == NSC_LEVEL_PHB || level == NSC_LEVEL_SYS) && !nsc_tree_joins(m, p->host, p->a, p->b, &known);
    bool nearer = before < m->gpu_paths.len && level < nsc_level_of(nsc_say(m, m->gpu_paths.item[before].type));
    if ((!far || before == NSC_NONE || nearer) && before != (uint32_t)DENIED &&
        nsc_map_put(&m->far_by, key, far ? at : (uint32_t)DENIED))
        m->no_memory = true;
}

/* NVLink came with Pascal, compute capability 6: "Min Comp Cap 3" is said by one process, of the GPUs of all of its communicator. */
static bool is_before_nvlink(const struct nsc_event *e)
{
    return (e->kind == NCCLSCOPE_KIND_MIN_COMP_CAP || e->kind == NCCLSCOPE_KIND_THREADS) && e->number < 6;
}

/* "NVLS multicast support is available on dev 0", of one process: the GPUs of its host hang on NVSwitches, which none of them denies. Or
 * every path between two GPUs of the host that a dump of the machine shows is NVLink. */
static void find_linked_hosts(struct ncclscope_model *m)
{
    struct nsc_map events = {0}, paths = {0}, old = {0}; /* host to event, to path, to event */
    uint32_t any_old = NSC_NONE;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        const struct nsc_proc *p = &m->procs.item[e->proc];
        if (!p->nameless && !p->rccl && is_before_nvlink(e)) {
            note_host(m, &old, p->host, (uint32_t)i, false);
            any_old = any_old == NSC_NONE ? (uint32_t)i : any_old;
        }
        if (!p->nameless && !p->rccl && (e->kind == NCCLSCOPE_KIND_NVLS_YES || e->kind == NCCLSCOPE_KIND_NVLS_NO))
            note_host(m, &events, p->host, (uint32_t)i, e->kind == NCCLSCOPE_KIND_NVLS_NO);
    }
    for (size_t i = 0; i < m->gpu_paths.len; i++) {
        const struct nsc_gpu_path *p = &m->gpu_paths.item[i];
        uint64_t bus;
        if (!p->host || p->a == p->b || !nsc_to_hex(nsc_say(m, p->b), &bus)) /* it leads to a NIC */
            continue;
        note_host(m, &paths, p->host, (uint32_t)i, !nsc_class_is_nvlink(nsc_say(m, p->type)));
        note_far(m, p, (uint32_t)i);
    }
    for (size_t i = 0; i < m->procs.len; i++) {
        struct nsc_proc *p = &m->procs.item[i];
        struct nsc_key key = {p->host, 0, 0};
        uint32_t event = nsc_map_get(&events, key), path = nsc_map_get(&paths, key), is_old = nsc_map_get(&old, key);
        if (is_old == NSC_NONE && m->hosts_are_joined)
            is_old = any_old;
        if (!p->nameless && is_old < m->events.len)
            p->old_at = m->events.item[is_old].where;
        if (p->nameless || p->nvlink_at.line)
            continue;
        if (event < m->events.len && path != (uint32_t)DENIED)
            p->nvlink_at = m->events.item[event].where;
        else if (path < m->gpu_paths.len)
            p->nvlink_at = m->gpu_paths.item[path].where;
    }
    nsc_map_free(&events);
    nsc_map_free(&paths);
    nsc_map_free(&old);
}

/* Are all hosts of the input of one job, so that what is known of one machine is known of its like? */
static void find_if_joined(struct ncclscope_model *m)
{
    struct nsc_map hosts = {0};
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].host && nsc_map_put(&hosts, (struct nsc_key){m->procs.item[i].host, 0, 0}, 0))
            m->no_memory = true;
    size_t all = hosts.used;
    nsc_map_free(&hosts);
    m->hosts_are_joined = all < 2;
    for (size_t i = 0; i < m->comms.len && !m->hosts_are_joined; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        for (uint32_t n = 0; k->count >= all && n < k->count; n++) {
            struct nsc_key host = {m->procs.item[m->ranks.item[m->members.item[k->first + n]].proc].host, 0, 0};
            if (host.a && nsc_map_put(&hosts, host, 0))
                m->no_memory = true;
        }
        m->hosts_are_joined = hosts.used >= all;
        nsc_map_free(&hosts);
    }
}

void nsc_find_proofs(struct ncclscope_model *m)
{
    find_if_joined(m);
    find_loose_proofs(m);
    find_linked_hosts(m);
    nsc_find_readers(m);
    find_pxn(m);
    find_legs(m);
    nsc_find_printers(m);
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *c = &m->comms.item[i];
        uint32_t first = c->count ? m->members.item[c->first] : NSC_NONE;
        bool late =
            first != NSC_NONE && nsc_version_of(m, m->ranks.item[first].proc).low >= NSC_CHANGE_CHUNK_OF_ALL_PAIRS;
        bool all = first != NSC_NONE && !c->shared_names && (late || m->ranks.item[first].nranks == 2) &&
                   chunk_proves(m, &m->ranks.item[first]); /* of every pair */
        for (uint32_t x = 0; all && x < c->count; x++)
            for (uint32_t y = x + 1; y < c->count; y++) {
                const struct nsc_rank *a = &m->ranks.item[m->members.item[c->first + x]],
                                      *b = &m->ranks.item[m->members.item[c->first + y]];
                if (are_gpus_of_host(m, a, b) && nsc_map_put(&m->nvlink_by, gpu_pair(m, a, b), first))
                    m->no_memory = true;
            }
    }
}

/* The dump of the machine hangs both GPUs of the link on NVSwitches. */
static const struct nsc_where *switch_proves(const struct ncclscope_model *m, const struct nsc_link *l)
{
    uint32_t comm = nsc_comm_of(m, l);
    const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst);
    const struct nsc_gpu_node *x = are_gpus_of_host(m, a, b) ? nsc_gpu_node_of(m, a) : NULL,
                              *y = x ? nsc_gpu_node_of(m, b) : NULL;
    return y && x->switched && y->switched && x->nvlink > 0 && y->nvlink > 0 ? &x->where : NULL;
}

static bool is_within_node(const struct ncclscope_model *m, const struct nsc_link *l)
{
    return (l->family == NSC_P2P && l->row != NSC_VIA_P2P_MNNVL) || nsc_scope_of_link(m, l) == NSC_SCOPE_NODE;
}

/* NVLink SHARP works through NVSwitches alone: who has channels for it, or says that its GPU supports multicast, hangs on one, and
 * so does every GPU of its node. On one node and on many. */
static const struct nsc_where *nvls_proves(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    if (m->procs.item[r->proc].rccl)
        return NULL;
    if (r->nvls > 0)
        return r->channels_at.line ? &r->channels_at : &r->first;
    for (size_t i = nsc_events_of(m, r->proc); i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != r->proc)
            return NULL;
        if (e->kind == NCCLSCOPE_KIND_NVLS_YES)
            return &e->where;
    }
    return NULL;
}

static const struct nsc_where *xml_says(const struct ncclscope_model *m, const struct nsc_link *l, bool *nvlink)
{
    uint32_t comm = nsc_comm_of(m, l);
    const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst);
    return a && b ? nsc_xml_of_pair(m, a, b, nvlink) : NULL;
}

const struct nsc_where *nsc_xml_excludes_nvlink(const struct ncclscope_model *m, const struct nsc_link *l)
{
    bool nvlink;
    const struct nsc_where *line = xml_says(m, l, &nvlink);
    return line && !nvlink ? line : NULL;
}

/* The GPUs of both ends are up on a fabric of NVSwitches of their node, by what NVML told NCCL. Of a rank that is not in the input it is taken
 * to be as with its neighbour: such boards hold no other GPUs. */
static const struct nsc_where *fabric_proves(const struct ncclscope_model *m, const struct nsc_link *l)
{
    uint32_t comm = nsc_comm_of(m, l);
    const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst);
    const struct nsc_where *here = a ? &m->procs.item[a->proc].fabric_at : NULL,
                           *there = b ? &m->procs.item[b->proc].fabric_at : NULL;
    bool both = (!here || here->line) && (!there || there->line) && (here || there);
    return both ? here ? here : there : NULL;
}

/* Does no line tell the GPU of one of the two ranks, as where it was torn? Else lines about the pair itself decide. */
static bool lacks_a_gpu(const struct ncclscope_model *m, const struct nsc_link *l)
{
    return !(nsc_gpu_at_end(m, l, false) & nsc_gpu_at_end(m, l, true) & NSC_GPU_NAMED_EVERYWHERE);
}

bool nsc_nvlink_is_proven(const struct ncclscope_model *m, const struct nsc_link *l, const struct nsc_where **because)
{
    *because = NULL;
    if (l->rank == NSC_NONE) {
        const struct nsc_where *loose = l->proc == NSC_NONE ? NULL : &m->procs.item[l->proc].nvlink_at;
        *because = loose && loose->line && is_within_node(m, l) ? loose : NULL;
        return *because;
    }
    const struct nsc_rank *r = &m->ranks.item[l->rank];
    *because = rank_proves(m, r);
    if (!*because && is_within_node(m, l))
        *because = nvls_proves(m, r);
    if (!*because)
        *because = pair_proves(m, l);
    if (!*because)
        *because = switch_proves(m, l);
    bool nvlink = false;
    bool denied = l->rank != NSC_NONE && nsc_chunk_excludes_nvlink(m, &m->ranks.item[l->rank]);
    const struct nsc_where *dump = *because || denied || !is_within_node(m, l) ? NULL : xml_says(m, l, &nvlink);
    if (dump && nvlink)
        *because = dump;
    if (!*because && l->family == NSC_P2P) /* which way P2P goes; not that it would be allowed, where it is not used */
        *because = fabric_proves(m, l);
    if (!*because && is_within_node(m, l) && lacks_a_gpu(m, l) && m->procs.item[r->proc].nvlink_at.line)
        *because = &m->procs.item[r->proc].nvlink_at;
    return *because;
}
