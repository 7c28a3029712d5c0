/* owners.c - whose connections, once all sources are read: what one source leaves open another may tell, and a communicator whose ranks
 * sit on other GPUs than the line prints is not the one. */
#include "model/scratch.h"
#include "model/version.h"

/* Connections of one source, the communicator named only in another: a log that was rotated. */
static void find_owner(struct ncclscope_model *m, struct nsc_link *l)
{
    uint32_t i = m->procs.item[l->proc].first_rank;
    for (; i != NSC_NONE && l->other == NSC_NONE; i = m->ranks.item[i].after) {
        if (!nsc_could_be_of(&m->ranks.item[i], l) || !nsc_prints_of(m, &m->ranks.item[i], l))
            continue;
        if (l->rank == NSC_NONE)
            l->rank = i;
        else
            l->other = i;
    }
    if (l->rank == NSC_NONE)
        return;
    l->attribution = l->other == NSC_NONE ? NSC_INFERRED : NSC_AMBIGUOUS;
    m->ranks.item[l->rank].used = true;
}

void nsc_find_owners(struct ncclscope_model *m)
{
    for (size_t i = 0; m->sources.len > 1 && i < m->links.len; i++)
        if (m->links.item[i].rank == NSC_NONE && m->links.item[i].proc != NSC_NONE)
            find_owner(m, &m->links.item[i]);
}

/* What the peers' processes say of themselves decides: a communicator whose rank `dst` sits on another device than the line prints is
 * not the one. */
static bool contradicts(const struct ncclscope_model *m, uint32_t rank, const struct nsc_link *l)
{
    uint32_t comm = m->ranks.item[rank].comm;
    return nsc_sits_elsewhere(m, nsc_member(m, comm, (int64_t)l->src), l->src_dev) ||
           nsc_sits_elsewhere(m, nsc_member(m, comm, (int64_t)l->dst), l->dst_dev);
}

/* Where ranks sit by the connections whose communicator is known: of many a rank the line that made it is not in the input. */
static struct nsc_key place_of(const struct ncclscope_model *m, uint32_t rank, uint64_t number, enum nsc_brackets in)
{
    return (struct nsc_key){m->ranks.item[rank].comm, number, (uint64_t)in};
}

static void learn_place(struct ncclscope_model *m, struct nsc_map *places, struct nsc_key key, nsc_str dev)
{
    uint32_t before = nsc_map_get(places, key);
    if (dev && nsc_map_put(places, key, before == NSC_NONE || before == dev ? dev : 0)) /* 0: they disagree */
        m->no_memory = true;
}

static void learn_places(struct ncclscope_model *m, struct nsc_map *places)
{
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        enum nsc_brackets in = l->attribution >= NSC_INFERRED ? nsc_brackets_of(m, l) : NSC_BRACKETS_UNKNOWN;
        if (in == NSC_BRACKETS_UNKNOWN)
            continue;
        learn_place(m, places, place_of(m, l->rank, l->src, in), l->src_dev);
        learn_place(m, places, place_of(m, l->rank, l->dst, in), l->dst_dev);
    }
}

static bool is_placed_elsewhere(const struct nsc_map *places, struct nsc_key key, nsc_str dev)
{
    uint32_t known = nsc_map_get(places, key);
    return dev && known && known != NSC_NONE && known != dev;
}

static bool others_contradict(const struct ncclscope_model *m, const struct nsc_map *places, uint32_t rank,
                              const struct nsc_link *l)
{
    enum nsc_brackets in = nsc_brackets_of(m, l);
    return in != NSC_BRACKETS_UNKNOWN && (is_placed_elsewhere(places, place_of(m, rank, l->src, in), l->src_dev) ||
                                          is_placed_elsewhere(places, place_of(m, rank, l->dst, in), l->dst_dev));
}

/* The two that it was given to are not the ones: of those that its process made behind the older, which may be? A process that makes
 * communicators for hours is not looked through for each. */
static void look_further(const struct ncclscope_model *m, struct nsc_link *l)
{
    enum { MOST = 64 };
    uint32_t i = m->ranks.item[l->rank].after;
    l->rank = l->other = NSC_NONE;
    for (int n = 0; i != NSC_NONE && l->other == NSC_NONE && n < MOST; n++, i = m->ranks.item[i].after) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (!nsc_could_be_of(r, l) || !nsc_prints_of(m, r, l) || contradicts(m, i, l))
            continue;
        if (l->rank == NSC_NONE)
            l->rank = i;
        else
            l->other = i;
    }
    l->attribution = l->rank == NSC_NONE    ? NSC_UNKNOWN_COMM /* what made it is not in the input */
                     : l->other == NSC_NONE ? NSC_INFERRED
                                            : NSC_AMBIGUOUS;
}

/* One of two is left, or none. */
static void settle(const struct ncclscope_model *m, struct nsc_link *l, bool no, bool other_no)
{
    if (no && other_no) {
        look_further(m, l);
    } else if (l->other != NSC_NONE && no != other_no) {
        l->rank = no ? l->other : l->rank;
        l->other = NSC_NONE;
        l->attribution = NSC_INFERRED;
    }
}

static bool is_open(const struct nsc_link *l)
{
    return l->attribution == NSC_AMBIGUOUS && l->other != NSC_NONE;
}

void nsc_attribute_rest(struct ncclscope_model *m)
{
    struct nsc_map places = {0};
    for (size_t i = 0; i < m->links.len; i++) {
        struct nsc_link *l = &m->links.item[i];
        if (is_open(l) || l->attribution == NSC_INFERRED)
            settle(m, l, contradicts(m, l->rank, l), !is_open(l) || contradicts(m, l->other, l));
    }
    learn_places(m, &places);
    for (size_t i = 0; i < m->links.len; i++) {
        struct nsc_link *l = &m->links.item[i];
        if (is_open(l))
            settle(m, l, others_contradict(m, &places, l->rank, l), others_contradict(m, &places, l->other, l));
    }
    nsc_map_free(&places);
}
