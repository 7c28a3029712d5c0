/* seams.c - host memory only where two groups of GPUs meet, each of which has P2P among its own: the two halves of a machine. */
#include "model/path.h"
#include "model/pairs.h"
#include "rules/ask.h"
#include "rules/questions.h"

struct grouped {
    uint32_t host, of, size; /* of: another of its group, itself for the one that stands for all; size of the group */
    uint64_t low, high;      /* bus ids of the group */
};

/* GPUs, joined to groups by their P2P. */
struct groups {
    struct nsc_map by; /* GPU to its place in `gpus` */
    NSC_VEC(struct grouped) gpus;
    bool unknown; /* a GPU has no name, or there is no memory */
};

static uint32_t stands_for(const struct groups *g, uint32_t i)
{
    while (g->gpus.item[i].of != i)
        i = g->gpus.item[i].of;
    return i;
}

/* The GPU at an end of a connection; NSC_NONE: nothing names it. */
static uint32_t place_of(struct groups *g, const struct ncclscope_model *m, const struct nsc_link *l, bool dst)
{
    uint64_t key = nsc_gpu_at_end(m, l, dst), bus = 0;
    if (!(key & NSC_GPU_NAMED_EVERYWHERE) || !nsc_to_hex(nsc_say(m, (nsc_str)key), &bus))
        return NSC_NONE;
    uint32_t at = nsc_map_get(&g->by, (struct nsc_key){key, 0, 0});
    if (at != NSC_NONE)
        return at;
    at = (uint32_t)g->gpus.len;
    struct grouped *new = nsc_vec_push(&g->gpus);
    if (!new || nsc_map_put(&g->by, (struct nsc_key){key, 0, 0}, at))
        return NSC_NONE;
    *new = (struct grouped){(uint32_t)(key >> 32), at, 1, bus, bus};
    return at;
}

static void join(struct groups *g, uint32_t a, uint32_t b)
{
    struct grouped *x = &g->gpus.item[stands_for(g, a)], *y = &g->gpus.item[stands_for(g, b)];
    if (x == y)
        return;
    if (x->size < y->size) {
        struct grouped *z = x;
        x = y;
        y = z;
    }
    y->of = x->of;
    x->size += y->size;
    x->low = y->low < x->low ? y->low : x->low;
    x->high = y->high > x->high ? y->high : x->high;
}

static bool is_kind(const struct nsc_link *l, int family)
{
    return l->family == family && l->row != NSC_VIA_P2P_MNNVL && !l->one_gpu;
}

static void gather(struct groups *g, const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->link_order.len && !g->unknown; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (!is_kind(l, NSC_P2P) && !is_kind(l, NSC_SHM))
            continue;
        uint32_t a = place_of(g, m, l, false), b = place_of(g, m, l, true);
        g->unknown = a == NSC_NONE || b == NSC_NONE;
        if (!g->unknown && l->family == NSC_P2P)
            join(g, a, b);
    }
}

/* Does every such connection join two groups that lie apart by their bus ids, at least one of them two groups of several GPUs? */
static bool meet_at_seams(struct groups *g, const struct ncclscope_model *m)
{
    bool any = false;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (!is_kind(l, NSC_SHM))
            continue;
        const struct grouped *a = &g->gpus.item[stands_for(g, place_of(g, m, l, false))];
        const struct grouped *b = &g->gpus.item[stands_for(g, place_of(g, m, l, true))];
        if (a == b || a->host != b->host || (a->high >= b->low && b->high >= a->low) || (a->size < 2 && b->size < 2))
            return false;
        any = any || (a->size > 1 && b->size > 1);
    }
    return any;
}

enum nsc_answer nsc_ask_seams(struct nsc_ask *q)
{
    struct groups g = {0};
    gather(&g, q->m);
    enum nsc_answer a = g.unknown ? NSC_UNSAID : meet_at_seams(&g, q->m) ? NSC_YES : NSC_NO;
    nsc_map_free(&g.by);
    nsc_vec_free(&g.gpus);
    return a;
}

/* ---- two GPUs alone ---- */

/* "1[89000]": up to 2.18 a connection line has the bus id, later an index; then its rank may have told it. */
static bool bus_at(const struct ncclscope_model *m, const struct nsc_link *l, bool dst, uint64_t *bus)
{
    const struct nsc_rank *r = nsc_member(m, nsc_comm_of(m, l), (int64_t)(dst ? l->dst : l->src));
    if (r && r->bus_id)
        return nsc_to_hex(nsc_say(m, r->bus_id), bus);
    return nsc_to_hex(nsc_say(m, dst ? l->dst_dev : l->src_dev), bus) && *bus > 0xfff;
}

/* Sockets of a machine number their buses from 00 and from 80, or from quarters of 100, on; 12 bits stand below the bus. */
static const uint64_t far_apart = (uint64_t)0x40 << 12;

enum nsc_answer nsc_ask_pair_apart(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    struct nsc_gpu_class k = nsc_gpu_of(m, q->proc);
    uint64_t low = 0, high = 0, a, b;
    if ((k.gpu && k.gpu->nvlink) || nsc_is_rccl(m))
        return NSC_NO;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (is_kind(l, NSC_P2P))
            return NSC_NO;
        if (!is_kind(l, NSC_SHM))
            continue;
        if (!bus_at(m, l, false, &a) || !bus_at(m, l, true, &b))
            return NSC_NO;
        if (high && (low != (a < b ? a : b) || high != (a < b ? b : a)))
            return NSC_NO;
        low = a < b ? a : b;
        high = a < b ? b : a;
    }
    return high - low >= far_apart ? NSC_YES : NSC_NO;
}
