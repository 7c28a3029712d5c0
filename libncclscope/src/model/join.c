/* join.c - ranks to communicators across processes.
 *
 * Communicators join by commId; children without one by their parent's id, how many children it had made, and the colour; older
 * logs, which say none of this, by size and by how many of that size the process had made before. */
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>

static int by_host_and_pid(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    const struct nsc_proc *p = &m->procs.item[*(const uint32_t *)a], *q = &m->procs.item[*(const uint32_t *)b];
    int c = nsc_compare(nsc_say(m, p->host), nsc_say(m, q->host));
    if (c)
        return c;
    if (p->pid != q->pid)
        return p->pid < q->pid ? -1 : 1;
    c = nsc_compare(nsc_say(m, p->pod), nsc_say(m, q->pod));
    return c ? c : p->source < q->source ? -1 : p->source > q->source;
}

/* ---- communicators ---- */

static void number_equals(struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    for (size_t i = 0; i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        struct nsc_key key = {r->proc, (uint64_t)r->cuda_dev, (uint64_t)r->nranks};
        uint32_t n = nsc_map_get(&seen, key);
        r->nth = n == NSC_NONE ? 0 : n + 1;
        if (nsc_map_put(&seen, key, r->nth))
            m->no_memory = true;
    }
    nsc_map_free(&seen);
}

/* What ranks of one communicator have in common. */
static nsc_str join_key(struct ncclscope_model *m, struct nsc_rank *r)
{
    char key[320];
    nsc_text id = nsc_say(m, r->comm_id);
    if (r->comm_id) {
        r->has_id = true;
        /* Children of one parent and colour have one commId up to 2.22, however often the parent was split. */
        int n = snprintf(key, sizeof key, "0x%.*s", (int)(id.len < 64 ? id.len : 64), id.ptr);
        if (r->parent_pointer)
            snprintf(key + n, sizeof key - (size_t)n, "\001%u", r->nth_child);
    } else if (r->parent != NSC_NONE && m->ranks.item[r->parent].comm != NSC_NONE && r->has_color) {
        id = nsc_say(m, m->comms.item[m->ranks.item[r->parent].comm].id);
        r->has_id = m->ranks.item[r->parent].has_id;
        if (r->split >= 0)
            snprintf(key, sizeof key, "%.*s/%lld.%lld", (int)(id.len < 240 ? id.len : 240), id.ptr, (long long)r->split,
                     (long long)r->color);
        else
            snprintf(key, sizeof key, "%.*s/%lld", (int)(id.len < 240 ? id.len : 240), id.ptr, (long long)r->color);
    } else if (r->parent_pointer && r->has_color) {
        snprintf(key, sizeof key, "?/%lld.%lld/%lld", (long long)r->split, (long long)r->color, (long long)r->nranks);
    } else {
        snprintf(key, sizeof key, "?%lld/%u", (long long)r->nranks, r->nth);
    }
    return nsc_keep(m, nsc_text_of(key));
}

/* The communicator of this key in which no other process has the rank; `n` counts those that were full. */
static uint32_t comm_for(struct ncclscope_model *m, struct nsc_map *by_key, struct nsc_map *taken, nsc_str key,
                         const struct nsc_rank *r)
{
    for (uint32_t n = 0;; n++) {
        uint32_t c = nsc_map_get(by_key, (struct nsc_key){key, n, 0});
        if (c == NSC_NONE) {
            c = (uint32_t)m->comms.len;
            struct nsc_comm *comm = nsc_vec_push(&m->comms);
            if (!comm || nsc_map_put(by_key, (struct nsc_key){key, n, 0}, c)) {
                m->no_memory = true;
                return NSC_NONE;
            }
            *comm =
                (struct nsc_comm){.id = key, .nranks = r->nranks, .nnodes = -1, .parent = NSC_NONE, .where = r->first};
        }
        struct nsc_key place = {c, (uint64_t)r->rank, 0};
        uint32_t who = nsc_map_get(taken, place);
        if (who == NSC_NONE && nsc_map_put(taken, place, r->proc))
            m->no_memory = true;
        bool sure = r->has_id && !r->parent_pointer; /* up to 2.22 an id may serve several children */
        if (who == NSC_NONE || sure || who == r->proc)
            return c;
    }
}

static int by_comm_and_rank(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct nsc_rank *r = &m->ranks.item[i], *s = &m->ranks.item[k];
    if (r->comm != s->comm)
        return r->comm < s->comm ? -1 : 1;
    if (r->rank != s->rank)
        return r->rank < s->rank ? -1 : 1;
    return i < k ? -1 : i > k;
}

static bool earlier(const struct nsc_where *a, const struct nsc_where *b)
{
    return a->source != b->source ? a->source < b->source : a->line < b->line;
}

static int by_first_line(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    const struct nsc_where *p = &m->comms.item[*(const uint32_t *)a].where,
                           *q = &m->comms.item[*(const uint32_t *)b].where;
    return earlier(p, q) ? -1 : earlier(q, p);
}

/* Communicators in the order in which the input first names them. */
static void order_comms(struct ncclscope_model *m)
{
    size_t n = m->comms.len;
    uint32_t *order = nsc_alloc(n * sizeof *order), *place = nsc_alloc(n * sizeof *place);
    struct nsc_comm *sorted = nsc_alloc(n * sizeof *sorted);
    if (!order || !place || !sorted) {
        m->no_memory = true;
    } else {
        for (size_t i = 0; i < n; i++)
            order[i] = (uint32_t)i;
        qsort_r(order, n, sizeof *order, by_first_line, m);
        for (size_t i = 0; i < n; i++) {
            sorted[i] = m->comms.item[order[i]];
            place[order[i]] = (uint32_t)i;
        }
        if (n)
            memcpy(m->comms.item, sorted, n * sizeof *sorted);
        for (size_t i = 0; i < m->ranks.len; i++)
            if (m->ranks.item[i].comm != NSC_NONE)
                m->ranks.item[i].comm = place[m->ranks.item[i].comm];
    }
    nsc_free(order);
    nsc_free(place);
    nsc_free(sorted);
}

static bool has_event(const struct ncclscope_model *m, uint32_t proc, ncclscope_kind kind)
{
    for (size_t i = 0; i < m->events.len; i++)
        if (m->events.item[i].proc == proc && m->events.item[i].kind == kind)
            return true;
    return false;
}

/* The distinct ranks seen decide what can be said. */
static void judge_state(const struct ncclscope_model *m, struct nsc_comm *c)
{
    int64_t seen = 0, last = -1;
    bool open = false, aborted = false, failed = false;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        seen += r->rank != last;
        last = r->rank;
        aborted = aborted || r->aborted.line;
        open = open || !nsc_is_done(r);
        failed = failed || (!nsc_is_done(r) && has_event(m, r->proc, NCCLSCOPE_KIND_BACKTRACE));
    }
    c->state = aborted             ? NSC_ABORTED
               : failed            ? NSC_FAILED
               : open              ? NSC_INCOMPLETE
               : seen == c->nranks ? NSC_COMPLETE
                                   : NSC_PARTIAL;
}

static void list_members(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->ranks.len; i++) {
        uint32_t *member = m->ranks.item[i].comm == NSC_NONE ? NULL : nsc_vec_push(&m->members);
        if (member)
            *member = (uint32_t)i;
    }
    if (m->members.len)
        qsort_r(m->members.item, m->members.len, sizeof(uint32_t), by_comm_and_rank, m);
    for (size_t i = 0; i < m->members.len; i++) {
        struct nsc_rank *r = &m->ranks.item[m->members.item[i]];
        struct nsc_comm *c = &m->comms.item[r->comm];
        if (!c->count++)
            c->first = (uint32_t)i;
        c->nnodes = r->nnodes > c->nnodes ? r->nnodes : c->nnodes;
        if (r->parent != NSC_NONE)
            c->parent = m->ranks.item[r->parent].comm;
    }
    for (size_t i = 0; i < m->comms.len; i++)
        judge_state(m, &m->comms.item[i]);
}

/* "0xab\0011" to 0xab, or 0xab#1 if a communicator before it has that id. */
static void name_child(struct ncclscope_model *m, size_t index)
{
    nsc_text key = nsc_say(m, m->comms.item[index].id);
    const char *cut = key.len ? memchr(key.ptr, 1, key.len) : NULL;
    char name[320];
    unsigned before = 0;
    nsc_text id = {key.ptr, cut ? (size_t)(cut - key.ptr) : key.len};
    for (size_t i = 0; i < index; i++) {
        nsc_text other = nsc_say(m, m->comms.item[i].id);
        bool same = other.len >= id.len && !memcmp(other.ptr, id.ptr, id.len);
        before += same && (other.len == id.len || other.ptr[id.len] == '#');
    }
    if (!cut && !before)
        return;
    snprintf(name, sizeof name, before ? "%.*s#%u" : "%.*s", (int)id.len, id.ptr, before);
    m->comms.item[index].id = nsc_keep(m, nsc_text_of(name));
}

/* A communicator that prints no id is called after its lowest rank: host:pid:pointer#reuse. */
static void name_comms(struct ncclscope_model *m)
{
    char name[320];
    for (size_t i = 0; i < m->comms.len; i++) {
        struct nsc_comm *c = &m->comms.item[i];
        if (nsc_say(m, c->id).ptr[0] != '?')
            name_child(m, i);
        if (nsc_say(m, c->id).ptr[0] != '?' || !c->count)
            continue;
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first]];
        nsc_text host = nsc_say(m, m->procs.item[r->proc].host);
        snprintf(name, sizeof name, "%.*s:%lld:0x%llx#%u", (int)(host.len < 240 ? host.len : 240), host.ptr,
                 (long long)m->procs.item[r->proc].pid, (unsigned long long)r->pointer, r->reuse);
        c->id = nsc_keep(m, nsc_text_of(name));
    }
}

static void join_ranks(struct ncclscope_model *m)
{
    struct nsc_map by_key = {0}, taken = {0};
    number_equals(m);
    for (size_t i = 0; i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        if (r->rank < 0 || r->nranks < 0)
            continue;
        nsc_str key = join_key(m, r);
        uint32_t c = comm_for(m, &by_key, &taken, key, r);
        m->ranks.item[i].comm = c;
        if (c != NSC_NONE && earlier(&r->first, &m->comms.item[c].where))
            m->comms.item[c].where = r->first;
    }
    nsc_map_free(&by_key);
    nsc_map_free(&taken);
}

/* ---- links ---- */

static uint32_t comm_of(const struct ncclscope_model *m, const struct nsc_link *l)
{
    return l->rank == NSC_NONE ? NSC_NONE : m->ranks.item[l->rank].comm;
}

static int compare_links(const struct ncclscope_model *m, const struct nsc_link *l, const struct nsc_link *k)
{
    uint32_t c = comm_of(m, l), d = comm_of(m, k);
    if (c != d)
        return c < d ? -1 : 1;
    if (l->src != k->src)
        return l->src < k->src ? -1 : 1;
    if (l->dst != k->dst)
        return l->dst < k->dst ? -1 : 1;
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
    return earlier(p, q) ? -1 : earlier(q, p);
}

/* Sorted; one link per communicator, ranks, direction and text: what two processes or sources hold of one is added up. */
static void order_links(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->links.len; i++) {
        uint32_t *o = nsc_vec_push(&m->link_order);
        if (o)
            *o = (uint32_t)i;
    }
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

void nsc_join(struct ncclscope_model *m)
{
    nsc_merge_sources(m);
    nsc_find_owners(m);
    for (size_t i = 0; i < m->procs.len; i++) {
        uint32_t *o = m->procs.item[i].merged_into == NSC_NONE ? nsc_vec_push(&m->proc_order) : NULL;
        if (o)
            *o = (uint32_t)i;
    }
    if (m->proc_order.len)
        qsort_r(m->proc_order.item, m->proc_order.len, sizeof(uint32_t), by_host_and_pid, m);
    join_ranks(m);
    order_comms(m);
    list_members(m);
    name_comms(m);
    nsc_attribute_rest(m);
    order_links(m);
}
