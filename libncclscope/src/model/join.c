/* join.c - ranks to communicators across processes.
 *
 * Communicators join by commId; children without one by their parent's id, how many children it had made, and the colour; older
 * logs, which say none of this, by size and by how many of that size the process had made before. */
#include "read/changes.h"
#include "model/pairs.h"
#include "model/gpus.h"
#include "model/version.h"
#include "model/path.h"
#include "model/topology.h"

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

/* What ranks of one communicator have in common. A key that does not name it alone begins with '?': then its places decide too. */
static nsc_str join_key(struct ncclscope_model *m, struct nsc_rank *r)
{
    char key[320];
    nsc_text id = nsc_say(m, r->comm_id);
    if (r->comm_id) {
        /* Children of one parent and colour have one commId up to 2.22, however often the parent was split. */
        r->has_id = !r->parent_pointer;
        snprintf(key, sizeof key, "%s0x%.*s", r->has_id ? "" : "?", (int)(id.len < 64 ? id.len : 64), id.ptr);
    } else if (r->parent != NSC_NONE && m->ranks.item[r->parent].comm != NSC_NONE && r->has_color) {
        id = nsc_say(m, m->comms.item[m->ranks.item[r->parent].comm].id);
        r->has_id = m->ranks.item[r->parent].has_id && r->split >= 0;
        if (r->split >= 0)
            snprintf(key, sizeof key, "%.*s/%lld.%lld", (int)(id.len < 240 ? id.len : 240), id.ptr, (long long)r->split,
                     (long long)r->color);
        else
            snprintf(key, sizeof key, "%.*s/%lld", (int)(id.len < 240 ? id.len : 240), id.ptr, (long long)r->color);
    } else if (r->parent_pointer && r->has_color) {
        snprintf(key, sizeof key, "?/%lld.%lld/%lld", (long long)r->split, (long long)r->color, (long long)r->nranks);
    } else {
        snprintf(key, sizeof key, "?%lld", (long long)r->nranks);
    }
    return nsc_keep(m, nsc_text_of(key));
}

/* ---- older logs: who belongs together ---- */

/* What a rank's own connection lines say of a peer: its bus id, in brackets from 2.5.6 to 2.18.1, and that it is on the same node. */
struct claim {
    uint32_t rank, next; /* next claim of the same rank, or NSC_NONE */
    uint64_t peer;
    nsc_str bus; /* 0: not said */
    bool inside; /* by P2P or shared memory */
};

struct joining {
    struct nsc_map by_key, place, present; /* (key, n) to communicator; (comm, rank) to rank; (comm, proc, device) */
    uint32_t *claims;                      /* of each rank: index into claim, or NSC_NONE */
    NSC_VEC(struct claim) claim;
};

static void gather_claims(const struct ncclscope_model *m, struct joining *j)
{
    for (size_t i = 0; i < m->ranks.len; i++)
        j->claims[i] = NSC_NONE;
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        bool sends = l->printer == (int64_t)l->src;
        nsc_str dev = sends ? l->dst_dev : l->src_dev;
        bool has_bus = nsc_say(m, dev).len >= 4; /* an index is no bus id */
        bool inside = l->family == NSC_SHM || (l->family == NSC_P2P && l->row != NSC_VIA_P2P_MNNVL);
        inside = inside && l->proc != NSC_NONE && !nsc_env_of(m, l->proc, "NCCL_HOSTID");
        if (l->rank == NSC_NONE || l->attribution < NSC_INFERRED || (!has_bus && !inside))
            continue;
        struct claim *c = nsc_vec_push(&j->claim);
        if (!c)
            return;
        *c = (struct claim){l->rank, j->claims[l->rank], sends ? l->dst : l->src, has_bus ? dev : 0, inside};
        j->claims[l->rank] = (uint32_t)(j->claim.len - 1);
    }
}

/* Does what `a` says of its peers leave room for `b` in the same communicator? 1 it says so, 0 nothing, -1 no. */
static int says_of(const struct ncclscope_model *m, const struct joining *j, uint32_t a, uint32_t b)
{
    const struct nsc_rank *r = &m->ranks.item[b];
    int said = 0;
    for (uint32_t i = j->claims[a]; i != NSC_NONE; i = j->claim.item[i].next) {
        const struct claim *x = &j->claim.item[i];
        bool tells_bus = x->bus && r->bus_id;
        if ((int64_t)x->peer != r->rank || (!tells_bus && !x->inside))
            continue;
        if ((tells_bus && x->bus != r->bus_id) ||
            (x->inside && m->procs.item[m->ranks.item[a].proc].host != m->procs.item[r->proc].host))
            return -1;
        said = 1;
    }
    return said;
}

/* Could the rank be of this communicator: its place is free, its process is not in it, and no member contradicts? 2 if one agrees. */
static int suits(const struct ncclscope_model *m, const struct joining *j, uint32_t comm, uint32_t rank)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    bool taken = nsc_map_get(&j->place, (struct nsc_key){comm, (uint64_t)r->rank, 0}) != NSC_NONE;
    int suits_well = 1;
    if (taken || nsc_map_get(&j->present, (struct nsc_key){comm, r->proc, (uint64_t)r->cuda_dev}) != NSC_NONE)
        return 0;
    for (uint32_t i = m->comms.item[comm].last_member; i != NSC_NONE; i = m->ranks.item[i].next_member) {
        int a = says_of(m, j, i, rank), b = says_of(m, j, rank, i);
        if (a < 0 || b < 0)
            return 0;
        suits_well = a || b ? 2 : suits_well;
    }
    return suits_well;
}

static uint32_t comm_new(struct ncclscope_model *m, struct joining *j, nsc_str key, uint32_t n,
                         const struct nsc_rank *r)
{
    uint32_t c = (uint32_t)m->comms.len;
    struct nsc_comm *comm = nsc_vec_push(&m->comms);
    if (!comm || nsc_map_put(&j->by_key, (struct nsc_key){key, n, 0}, c)) {
        m->no_memory = true;
        return NSC_NONE;
    }
    *comm = (struct nsc_comm){
        .id = key, .nranks = r->nranks, .nnodes = -1, .parent = NSC_NONE, .last_member = NSC_NONE, .where = r->first};
    return c;
}

/* Had this process's communicator of that id come up, or ended, before the rank started? Then the id is used again, and this is another. */
static bool had_its_turn(const struct ncclscope_model *m, const struct joining *j, uint32_t comm,
                         const struct nsc_rank *r)
{
    uint32_t i = nsc_map_get(&j->place, (struct nsc_key){comm, (uint64_t)r->rank, 0});
    const struct nsc_rank *old = i == NSC_NONE ? NULL : &m->ranks.item[i];
    if (!old || old->proc != r->proc || !r->start.line || !(old->complete.line || old->destroyed.line))
        return false;
    const struct nsc_where *end = old->complete.line ? &old->complete : &old->destroyed;
    return end->source == r->start.source && end->line < r->start.line;
}

/* The communicator of this key that the rank belongs to. Where the key does not say it alone: the first of those of that key that
 * a connection line agrees with, else the first that nothing speaks against. */
static uint32_t comm_for(struct ncclscope_model *m, struct joining *j, nsc_str key, uint32_t rank)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    uint32_t best = NSC_NONE, n = 0, c;
    for (; (c = nsc_map_get(&j->by_key, (struct nsc_key){key, n, 0})) != NSC_NONE; n++) {
        if (r->has_id && had_its_turn(m, j, c, r))
            continue;
        if (r->has_id)
            return c;
        int s = suits(m, j, c, rank);
        if (s == 2)
            return c;
        best = s && best == NSC_NONE ? c : best;
    }
    return best != NSC_NONE ? best : comm_new(m, j, key, n, r);
}

/* The line that says a rank's commId is lost or torn: the one communicator of an id that has just this place free; NSC_NONE if there
 * is none, or there are several. */
static uint32_t only_gap(const struct ncclscope_model *m, const struct joining *j, uint32_t rank)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    uint32_t only = NSC_NONE;
    if (r->comm_id || r->parent_pointer)
        return NSC_NONE;
    for (uint32_t c = 0; c < m->comms.len; c++) {
        const struct nsc_comm *k = &m->comms.item[c];
        if (k->nranks != r->nranks || !nsc_text_starts(nsc_say(m, k->id), "0x") || !suits(m, j, c, rank))
            continue;
        if (only != NSC_NONE)
            return NSC_NONE;
        only = c;
    }
    return only;
}

static void join_rank(struct ncclscope_model *m, struct joining *j, uint32_t rank)
{
    struct nsc_rank *r = &m->ranks.item[rank];
    nsc_str key = join_key(m, r);
    uint32_t gap = only_gap(m, j, rank), c = gap != NSC_NONE ? gap : comm_for(m, j, key, rank);
    r = &m->ranks.item[rank];
    r->comm = c;
    if (c == NSC_NONE)
        return;
    if (nsc_map_put(&j->place, (struct nsc_key){c, (uint64_t)r->rank, 0}, rank) ||
        nsc_map_put(&j->present, (struct nsc_key){c, r->proc, (uint64_t)r->cuda_dev}, rank))
        m->no_memory = true;
    r->next_member = m->comms.item[c].last_member;
    m->comms.item[c].last_member = rank;
    if (nsc_is_earlier(&r->first, &m->comms.item[c].where))
        m->comms.item[c].where = r->first;
}

static int depth_of(const struct ncclscope_model *m, uint32_t rank)
{
    int depth = 0;
    for (; depth < 64 && m->ranks.item[rank].parent != NSC_NONE; depth++)
        rank = m->ranks.item[rank].parent;
    return depth;
}

/* Parents before children, the n-th of a size with the n-th of others, processes by name: the order of files does not matter. */
static int by_birth(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct nsc_rank *r = &m->ranks.item[i], *s = &m->ranks.item[k];
    int d = depth_of(m, i), e = depth_of(m, k);
    if (d != e)
        return d - e;
    if (!r->comm_id != !s->comm_id) /* those that say which communicator they are of first */
        return r->comm_id ? -1 : 1;
    if (r->nth != s->nth)
        return r->nth < s->nth ? -1 : 1;
    int c = r->proc == s->proc ? 0 : by_host_and_pid(&r->proc, &s->proc, model);
    return c ? c : i < k ? -1 : i > k;
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

static int by_first_line(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    const struct nsc_where *p = &m->comms.item[*(const uint32_t *)a].where,
                           *q = &m->comms.item[*(const uint32_t *)b].where;
    return nsc_is_earlier(p, q) ? -1 : nsc_is_earlier(q, p);
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

/* Up to 2.21.5 a rank connects before it prints Init COMPLETE: connections do not show that it came that far. Where lines were
 * torn or cut off, COMPLETE may be among what is lost: then nothing is concluded from its absence. */
static void forget_early_use(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        const struct nsc_source_info *s = &m->sources.item[m->procs.item[r->proc].source];
        if (nsc_version_of(m, r->proc).high < NSC_CHANGE_RUNTIME_CONNECT && !s->stats.torn_lines && !s->problem)
            r->used = false;
    }
}

/* Two members on one GPU, by host name and bus id: NCCL refuses that, so several machines have that name. */
static bool names_are_shared(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    struct nsc_map seen = {0};
    bool shared = false;
    for (uint32_t i = 0; i < c->count && !shared; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        struct nsc_key key = {m->procs.item[r->proc].host, r->bus_id, 0};
        uint32_t other = r->bus_id ? nsc_map_get(&seen, key) : NSC_NONE;
        const struct nsc_rank *before = other == NSC_NONE ? NULL : &m->ranks.item[other];
        shared = before && before->rank != r->rank && !nsc_may_share_gpu(m, r, before);
        if (r->bus_id)
            nsc_map_put(&seen, key, m->members.item[c->first + i]);
    }
    nsc_map_free(&seen);
    return shared;
}

/* "init.cu:568 -> 1" of a process that printed no end of its initialisation: up to 2.21.5 connections are a part of it. */
static bool gave_up(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    bool ended = r->complete.line || r->called || r->split_off || r->destroyed.line;
    for (size_t i = ended ? m->events.len : 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->proc == r->proc && e->kind == NCCLSCOPE_KIND_BACKTRACE && nsc_text_find(e->where.text, "init.cu:") >= 0)
            return true;
    }
    return false;
}

/* The distinct ranks seen decide what can be said. Where most ranks came to "Destroy COMPLETE", the line by which another ended its
 * initialisation was lost: several writers of one file tear such lines. */
static void judge_state(const struct ncclscope_model *m, struct nsc_comm *c)
{
    int64_t last = -1;
    uint32_t destroyed = 0;
    bool open = false, aborted = false, failed = false;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        c->seen += r->rank != last;
        last = r->rank;
        aborted = aborted || r->aborted.line;
        open = open || !nsc_is_done(r);
        destroyed += r->destroyed.line != 0;
        failed = failed || (!nsc_is_done(r) && has_event(m, r->proc, NCCLSCOPE_KIND_BACKTRACE)) || gave_up(m, r);
    }
    c->state = aborted                             ? NSC_ABORTED
               : failed                            ? NSC_FAILED
               : open && destroyed * 2 <= c->count ? NSC_INCOMPLETE
               : c->seen == c->nranks              ? NSC_COMPLETE
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
    for (size_t i = 0; i < m->comms.len; i++) {
        judge_state(m, &m->comms.item[i]);
        m->comms.item[i].shared_names = names_are_shared(m, &m->comms.item[i]);
    }
}

/* "?0xab" to 0xab, or 0xab#1 if a communicator before it has that id. */
static void name_by_id(struct ncclscope_model *m, size_t index)
{
    nsc_text id = nsc_say(m, m->comms.item[index].id);
    bool marked = id.ptr[0] == '?';
    char name[320];
    unsigned before = 0;
    id = nsc_text_from(id, marked);
    for (size_t i = 0; i < index; i++) {
        nsc_text other = nsc_say(m, m->comms.item[i].id);
        bool same = other.len >= id.len && !memcmp(other.ptr, id.ptr, id.len);
        before += same && (other.len == id.len || other.ptr[id.len] == '#');
    }
    if (!marked && !before)
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
        nsc_text key = nsc_say(m, c->id);
        if (key.ptr[0] != '?' || nsc_text_starts(key, "?0x"))
            name_by_id(m, i);
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
    struct joining j = {.claims = nsc_alloc(m->ranks.len * sizeof(uint32_t))};
    uint32_t *order = nsc_alloc(m->ranks.len * sizeof *order);
    if (!j.claims || !order) {
        m->no_memory = true;
    } else {
        number_equals(m);
        gather_claims(m, &j);
        for (size_t i = 0; i < m->ranks.len; i++)
            order[i] = (uint32_t)i;
        if (m->ranks.len)
            qsort_r(order, m->ranks.len, sizeof *order, by_birth, m);
        for (size_t i = 0; i < m->ranks.len; i++)
            if (m->ranks.item[order[i]].rank >= 0 && m->ranks.item[order[i]].nranks >= 0)
                join_rank(m, &j, order[i]);
        nsc_mark_guesses(m);
    }
    nsc_map_free(&j.by_key);
    nsc_map_free(&j.place);
    nsc_map_free(&j.present);
    nsc_vec_free(&j.claim);
    nsc_free(j.claims);
    nsc_free(order);
}

/* 2.3.5 prints no end of an initialisation: where nobody does, connections are the sign of it. */
static void excuse_the_oldest(struct ncclscope_model *m)
{
    bool *connects = nsc_alloc(m->procs.len + 1);
    bool ends = !connects;
    for (size_t i = 0; i < m->ranks.len; i++)
        ends = ends || m->ranks.item[i].complete.line;
    for (size_t i = 0; !ends && i < m->links.len; i++)
        if (m->links.item[i].proc != NSC_NONE)
            connects[m->links.item[i].proc] = true;
    for (size_t i = 0; !ends && i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        r->used = r->used ||
                  (r->bare_start && connects[r->proc] && nsc_version_of(m, r->proc).low < NSC_CHANGE_INIT_COMPLETE);
    }
    m->no_memory = m->no_memory || !connects;
    nsc_free(connects);
}

void nsc_join(struct ncclscope_model *m)
{
    nsc_merge_sources(m);
    nsc_find_owners(m);
    nsc_adopt(m);
    for (size_t i = 0; i < m->procs.len; i++) {
        bool told = m->procs.item[i].merged_into == NSC_NONE && !m->procs.item[i].nameless;
        uint32_t *o = told ? nsc_vec_push(&m->proc_order) : NULL;
        if (o)
            *o = (uint32_t)i;
    }
    if (m->proc_order.len)
        qsort_r(m->proc_order.item, m->proc_order.len, sizeof(uint32_t), by_host_and_pid, m);
    join_ranks(m);
    nsc_version_settle(m);
    nsc_gpus_settle(m);
    nsc_take_commands(m);
    forget_early_use(m);
    excuse_the_oldest(m);
    order_comms(m);
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].parent != NSC_NONE)
            m->ranks.item[m->ranks.item[i].parent].split_off = true;
    list_members(m);
    name_comms(m);
    nsc_attribute_rest(m);
    nsc_put_in_order(m);
    nsc_take_diag_pairs(m);
    nsc_find_shared_gpus(m);
    nsc_take_bus_ids(m);
    nsc_find_proofs(m);
    nsc_find_machines(m);
    nsc_find_gpus_of_names(m);
    nsc_find_shapes(m);
}
