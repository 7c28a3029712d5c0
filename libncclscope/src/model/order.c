/* order.c - the order in which a report lists what the model holds: by communicator, rank and name, wherever the lines stood. */
#include "model/pairs.h"

#include <stdlib.h>

/* Of no communicator that is known: ranks 0 and 1 of two, each of two GPUs, are two pairs. */
static int compare_gpus(const struct ncclscope_model *m, const struct nsc_link *l, const struct nsc_link *k)
{
    for (int dst = 0; dst < 2; dst++) {
        nsc_str a = nsc_bus_at_end(m, l, dst), b = nsc_bus_at_end(m, k, dst);
        if (a && b && a != b)
            return nsc_compare(nsc_say(m, a), nsc_say(m, b));
    }
    return 0;
}

static int compare_links(const struct ncclscope_model *m, const struct nsc_link *l, const struct nsc_link *k)
{
    uint32_t c = nsc_comm_of(m, l), d = nsc_comm_of(m, k);
    if (c != d)
        return c < d ? -1 : 1;
    if (l->src != k->src)
        return l->src < k->src ? -1 : 1;
    if (l->dst != k->dst)
        return l->dst < k->dst ? -1 : 1;
    int gpus = c == NSC_NONE ? compare_gpus(m, l, k) : 0;
    if (gpus)
        return gpus;
    if (l->direction != k->direction)
        return l->direction - k->direction;
    return nsc_compare(nsc_say(m, l->via), nsc_say(m, k->via));
}

static int by_link(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int c = compare_links(m, &m->links.item[i], &m->links.item[k]);
    if (c)
        return c;
    const struct nsc_where *p = &m->links.item[i].where, *q = &m->links.item[k].where;
    return nsc_is_earlier(p, q) ? -1 : nsc_is_earlier(q, p);
}

/* Which sources have connections with their headers: one without, and indented, is somebody's quotation there. */
static struct nsc_map headed_sources(struct ncclscope_model *m)
{
    struct nsc_map headed = {0};
    for (size_t i = 0; i < m->links.len; i++)
        if (m->links.item[i].proc != NSC_NONE &&
            nsc_map_put(&headed, (struct nsc_key){m->links.item[i].where.source, 0, 0}, 0))
            m->no_memory = true;
    return headed;
}

/* Sorted; one link per communicator, ranks, direction and text: what two processes or sources hold of one is added up. */
static void order_links(struct ncclscope_model *m)
{
    struct nsc_map headed = headed_sources(m);
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        bool indented = l->where.text.len && (l->where.text.ptr[0] == ' ' || l->where.text.ptr[0] == '\t');
        if (l->proc == NSC_NONE && indented &&
            nsc_map_get(&headed, (struct nsc_key){l->where.source, 0, 0}) != NSC_NONE)
            continue;
        uint32_t *o = nsc_vec_push(&m->link_order);
        if (o)
            *o = (uint32_t)i;
    }
    nsc_map_free(&headed);
    if (m->link_order.len)
        qsort_r(m->link_order.item, m->link_order.len, sizeof(uint32_t), by_link, m);
    size_t n = 0;
    for (size_t i = 0; i < m->link_order.len; i++) {
        struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_link *before = n ? &m->links.item[m->link_order.item[n - 1]] : NULL;
        if (!before || compare_links(m, before, l) != 0) {
            m->link_order.item[n++] = m->link_order.item[i];
            continue;
        }
        before->lines += l->lines;
        for (int c = 0; c < 2; c++)
            for (size_t w = 0; w < NSC_CHANNEL_WORDS; w++)
                before->channels[c][w] |= l->channels[c][w];
        before->attribution = l->attribution < before->attribution ? l->attribution : before->attribution;
    }
    m->link_order.len = n;
}

/* By communicator, rank and channel, wherever the lines stood. */
static int compare_places(const struct ncclscope_model *m, uint32_t a, uint32_t b, uint64_t channel, uint64_t other)
{
    int64_t r = a == NSC_NONE ? -1 : m->ranks.item[a].rank, s = b == NSC_NONE ? -1 : m->ranks.item[b].rank;
    uint32_t c = a == NSC_NONE ? NSC_NONE : m->ranks.item[a].comm, d = b == NSC_NONE ? NSC_NONE : m->ranks.item[b].comm;
    if (c != d)
        return c < d ? -1 : 1;
    if (r != s)
        return r < s ? -1 : 1;
    return channel < other ? -1 : channel > other;
}

static int by_ring(const void *a, const void *b, void *model)
{
    const struct nsc_ring *r = a, *s = b;
    return compare_places(model, r->rank, s->rank, r->channel, s->channel);
}

static int by_tree(const void *a, const void *b, void *model)
{
    const struct nsc_tree *r = a, *s = b;
    return compare_places(model, r->rank, s->rank, r->channel, s->channel);
}

static int by_device(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    const struct nsc_net_device *d = a, *e = b;
    int c = nsc_compare(nsc_say(m, d->host), nsc_say(m, e->host));
    c = c ? c : nsc_compare(nsc_say(m, d->net), nsc_say(m, e->net));
    if (c || d->index != e->index)
        return c ? c : d->index < e->index ? -1 : 1;
    return nsc_compare(nsc_say(m, d->name), nsc_say(m, e->name));
}

static int by_shape(const void *a, const void *b, void *model)
{
    const struct nsc_warning *w = a, *x = b;
    return nsc_compare(nsc_say(model, w->shape), nsc_say(model, x->shape));
}

static int by_proc(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    uint32_t p = m->events.item[i].proc, q = m->events.item[k].proc;
    return p != q ? (p < q ? -1 : 1) : i < k ? -1 : i > k;
}

static void order_events(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->events.len; i++) {
        uint32_t *o = nsc_vec_push(&m->event_order);
        if (o)
            *o = (uint32_t)i;
        else
            m->no_memory = true;
    }
    if (m->event_order.len)
        qsort_r(m->event_order.item, m->event_order.len, sizeof(uint32_t), by_proc, m);
}

void nsc_put_in_order(struct ncclscope_model *m)
{
    order_links(m);
    order_events(m);
    if (m->rings.len)
        qsort_r(m->rings.item, m->rings.len, sizeof *m->rings.item, by_ring, m);
    if (m->trees.len)
        qsort_r(m->trees.item, m->trees.len, sizeof *m->trees.item, by_tree, m);
    if (m->devices.len)
        qsort_r(m->devices.item, m->devices.len, sizeof *m->devices.item, by_device, m);
    if (m->warnings.len && m->sources.len > 1) /* of one input as they came, of several by their words */
        qsort_r(m->warnings.item, m->warnings.len, sizeof *m->warnings.item, by_shape, m);
}
