/* pairs.c - a pair of GPUs counts once, however many communicators join it and however they number it. */
#include "model/pairs.h"

#include "model/path.h"
#include "model/version.h"

enum { TRIED = 16 }; /* communicators that are looked through for one that numbers its ranks alike */

/* Of the same size, and one process has the same rank in both: then a rank that prints nothing is the same in both. */
static bool are_numbered_alike(const struct ncclscope_model *m, uint32_t a, uint32_t b)
{
    const struct nsc_comm *k = &m->comms.item[a];
    const struct nsc_rank *one = k->count ? &m->ranks.item[m->members.item[k->first]] : NULL;
    const struct nsc_rank *r = one && m->comms.item[b].nranks == k->nranks ? nsc_member(m, b, one->rank) : NULL;
    return r && r->proc == one->proc;
}

/* The first communicator that numbers its ranks alike. */
static uint32_t numbered_alike(const struct ncclscope_model *m, uint32_t comm)
{
    for (uint32_t i = 0; i < comm && i < TRIED; i++)
        if (are_numbered_alike(m, comm, i))
            return i;
    return comm;
}

/* Is what a connection prints in brackets the GPU of this rank: "1[1b000]", "1[1]"? */
static bool is_its_gpu(const struct ncclscope_model *m, const struct nsc_rank *r, nsc_str dev)
{
    int64_t number;
    return !dev || dev == r->bus_id ||
           (nsc_to_i64(nsc_say(m, dev), &number) && (number == r->cuda_dev || number == r->nvml_dev));
}

/* The rank as one of those communicators names its GPU, the one that the connection prints; NULL: none does. */
static const struct nsc_rank *named_elsewhere(const struct ncclscope_model *m, uint32_t comm, int64_t rank, nsc_str dev)
{
    for (uint32_t i = 0; i < m->comms.len && i < TRIED; i++) {
        const struct nsc_rank *r = i == comm ? NULL : nsc_member(m, i, rank);
        if (r && r->bus_id && is_its_gpu(m, r, dev) && are_numbered_alike(m, comm, i))
            return r;
    }
    return NULL;
}

nsc_str nsc_bus_at_end(const struct ncclscope_model *m, const struct nsc_link *l, bool dst)
{
    bool local = (l->family == NSC_P2P && l->row != NSC_VIA_P2P_MNNVL) || l->family == NSC_SHM;
    if (!local || l->one_gpu || l->proc == NSC_NONE || nsc_brackets_of(m, l) != NSC_BRACKETS_BUS_ID)
        return 0;
    return dst ? l->dst_dev : l->src_dev;
}

static void take_bus_id(struct ncclscope_model *m, const struct nsc_link *l, bool dst)
{
    const struct nsc_rank *r = nsc_member(m, nsc_comm_of(m, l), (int64_t)(dst ? l->dst : l->src));
    nsc_str bus = r && !r->bus_id && !m->comms.item[r->comm].guessed ? nsc_bus_at_end(m, l, dst) : 0;
    if (bus && m->procs.item[r->proc].host == m->procs.item[l->proc].host)
        m->ranks.item[r - m->ranks.item].bus_id = bus;
}

void nsc_take_bus_ids(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->links.len; i++) {
        take_bus_id(m, &m->links.item[i], false);
        take_bus_id(m, &m->links.item[i], true);
    }
}

uint64_t nsc_gpu_at_end(const struct ncclscope_model *m, const struct nsc_link *l, bool dst)
{
    uint32_t comm = nsc_comm_of(m, l);
    uint64_t rank = dst ? l->dst : l->src;
    if (comm == NSC_NONE && m->comms.len == 1 && m->comms.item[0].nranks > (int64_t)rank)
        comm = 0; /* a torn line names none: most likely the one that there is, and then it is no pair more */
    const struct nsc_rank *r = nsc_member(m, comm, (int64_t)rank);
    r = r || comm == NSC_NONE ? r : named_elsewhere(m, comm, (int64_t)rank, dst ? l->dst_dev : l->src_dev);
    if (r && r->bus_id && !r->shares_gpu && !(comm != NSC_NONE && m->comms.item[comm].guessed))
        return NSC_GPU_NAMED_EVERYWHERE | (uint64_t)m->procs.item[r->proc].host << 32 | r->bus_id;
    nsc_str bus = r && r->shares_gpu ? 0 : nsc_bus_at_end(m, l, dst);
    if (bus)
        return NSC_GPU_NAMED_EVERYWHERE | (uint64_t)m->procs.item[l->proc].host << 32 | bus;
    return (uint64_t)(comm == NSC_NONE ? 0 : numbered_alike(m, comm) + 1) << 32 | (uint32_t)rank;
}

enum { PAIR, GROUP, OPEN, KNOWN }; /* what a key of `seen` counts */

static uint32_t counted(const struct nsc_pairs *p, struct nsc_key key)
{
    uint32_t n = nsc_map_get(&p->seen, key);
    return n == NSC_NONE ? 0 : n;
}

static uint64_t beyond(const struct nsc_pairs *p, uint64_t devices)
{
    uint32_t open = counted(p, (struct nsc_key){devices, 0, OPEN}),
             known = counted(p, (struct nsc_key){devices, 0, KNOWN});
    return open > known ? open - known : 0;
}

/* What a connection prints of its two GPUs, "0[2] -> 1[2]": where that differs, so do the GPUs. */
static uint64_t devices_of(const struct nsc_link *l)
{
    uint64_t a = l->src_dev, b = l->dst_dev;
    return a < b ? a << 32 | b : b << 32 | a;
}

/* In an input of one communicator its ranks name their GPUs, whatever else is known of these. */
static bool is_of_one_communicator(const struct ncclscope_model *m, const struct nsc_link *l)
{
    return m->comms.len == 1 && nsc_comm_of(m, l) == 0 && !m->comms.item[0].guessed;
}

/* Pairs of which one end has no name are told apart within a communicator, and by the devices that they print; several communicators may
 * have the same ones, and of those that print the same devices as pairs that are known, so many may be those. */
void nsc_pairs_add(struct nsc_pairs *p, const struct ncclscope_model *m, const struct nsc_link *l)
{
    uint64_t a = nsc_gpu_at_end(m, l, false), b = nsc_gpu_at_end(m, l, true), devices = devices_of(l);
    struct nsc_key pair = {a < b ? a : b, a < b ? b : a, PAIR}, group = {pair.a >> 32, devices, GROUP},
                   open = {devices, 0, OPEN}, known = {devices, 0, KNOWN};
    bool named = (pair.a & NSC_GPU_NAMED_EVERYWHERE) || is_of_one_communicator(m, l);
    if (!named) /* ranks of no communicator have one number on several devices */
        pair.c = PAIR | devices << 2;
    if (nsc_map_get(&p->seen, pair) != NSC_NONE)
        return;
    p->no_memory = nsc_map_put(&p->seen, pair, 0) || p->no_memory;
    p->open -= beyond(p, devices);
    if (named) {
        p->known++;
        p->no_memory = nsc_map_put(&p->seen, known, counted(p, known) + 1) || p->no_memory;
    } else {
        uint32_t n = counted(p, group) + 1, most = counted(p, open);
        p->at_least = p->at_least || (n == 1 && (most || counted(p, known)));
        p->no_memory =
            nsc_map_put(&p->seen, group, n) || nsc_map_put(&p->seen, open, n > most ? n : most) || p->no_memory;
    }
    p->open += beyond(p, devices);
}

uint64_t nsc_pairs_total(const struct nsc_pairs *p)
{
    return p->known + p->open;
}

void nsc_pairs_free(struct nsc_pairs *p)
{
    nsc_map_free(&p->seen);
}
