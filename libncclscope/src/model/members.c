/* members.c - ranks to communicators across processes.
 *
 * Communicators join by commId; children without one by their parent's id, how many children it had made, and the colour; older
 * logs, which say none of this, by size and by how many of that size the process had made before. */
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>

/* Which of a process's ranks of one size it is: by its GPU, or where no line says that by the thread that makes it, one for each GPU. */
static uint64_t seat_of(const struct nsc_rank *r)
{
    return r->cuda_dev >= 0 ? (uint64_t)r->cuda_dev : (uint64_t)1 << 40 | (uint64_t)(r->tid < 0 ? 0 : r->tid);
}

static void number_equals(struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    for (size_t i = 0; i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        struct nsc_key key = {r->proc, seat_of(r), (uint64_t)r->nranks};
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
    uint32_t alike;      /* once its rank has joined: another member's claim on the same place, or NSC_NONE */
    uint64_t peer;
    nsc_str bus; /* 0: not said */
    bool inside; /* by P2P or shared memory */
};

enum { OF_KEY, OF_SIZE };

struct joining {
    struct nsc_map by_key, place,
        present;            /* (key, n) or (size, n) to communicator; (comm, rank) to rank; (comm, proc, device) */
    struct nsc_map about;   /* (comm, rank) to what members claim of that place */
    struct nsc_map next;    /* (key or size, n, rank): which n may have the place free; those between have not */
    struct nsc_map of_size; /* how many communicators that print an id have that size */
    struct nsc_map turns;   /* (id, process, rank): up to which n all had their turn, and before which rank's start */
    uint32_t *claims;       /* of each rank: index into claim, or NSC_NONE */
    uint32_t *beside;       /* of each rank: one that joined its place before it, or NSC_NONE */
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
        *c = (struct claim){.rank = l->rank,
                            .next = j->claims[l->rank],
                            .alike = NSC_NONE,
                            .peer = sends ? l->dst : l->src,
                            .bus = has_bus ? dev : 0,
                            .inside = inside};
        j->claims[l->rank] = (uint32_t)(j->claim.len - 1);
    }
}

/* Does the claim leave room for `rank` as its peer? 1 it says so, 0 nothing, -1 no. */
static int says_of(const struct ncclscope_model *m, const struct claim *x, uint32_t rank)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    bool tells_bus = x->bus && r->bus_id;
    if (!tells_bus && !x->inside)
        return 0;
    bool elsewhere = m->procs.item[m->ranks.item[x->rank].proc].host != m->procs.item[r->proc].host;
    return (tells_bus && x->bus != r->bus_id) || (x->inside && elsewhere) ? -1 : 1;
}

static struct nsc_key place_of(uint32_t comm, uint64_t rank)
{
    return (struct nsc_key){comm, rank, 0};
}

/* Could the rank be of this communicator: its place is free, its process is not in it, and no member contradicts? 2 if one agrees. */
static int suits(const struct ncclscope_model *m, const struct joining *j, uint32_t comm, uint32_t rank)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    bool taken = nsc_map_get(&j->place, place_of(comm, (uint64_t)r->rank)) != NSC_NONE;
    int suits_well = 1, said;
    if (taken || nsc_map_get(&j->present, (struct nsc_key){comm, r->proc, seat_of(r)}) != NSC_NONE)
        return 0;
    for (uint32_t i = j->claims[rank]; i != NSC_NONE; i = j->claim.item[i].next) {
        uint32_t member = nsc_map_get(&j->place, place_of(comm, j->claim.item[i].peer));
        for (; member != NSC_NONE; member = j->beside[member]) {
            if ((said = says_of(m, &j->claim.item[i], member)) < 0)
                return 0;
            suits_well = said ? 2 : suits_well;
        }
    }
    uint32_t i = nsc_map_get(&j->about, place_of(comm, (uint64_t)r->rank));
    for (; i != NSC_NONE; i = j->claim.item[i].alike) {
        if ((said = says_of(m, &j->claim.item[i], rank)) < 0)
            return 0;
        suits_well = said ? 2 : suits_well;
    }
    return suits_well;
}

/* The first communicator from the n-th on of this key, or size, whose place for the rank is free; NSC_NONE: none is. *n is told which it
 * is. A place that is taken stays so: what was passed once is not looked at again. */
static uint32_t next_open(struct ncclscope_model *m, struct joining *j, struct nsc_key list, int64_t rank, uint32_t *n)
{
    uint32_t begin = *n, c;
    for (;;) {
        list.b = *n;
        c = nsc_map_get(&j->by_key, list);
        if (c == NSC_NONE || nsc_map_get(&j->place, place_of(c, (uint64_t)rank)) == NSC_NONE)
            break;
        uint32_t next = nsc_map_get(&j->next, (struct nsc_key){list.a << 1 | list.c, *n, (uint64_t)rank});
        *n = next == NSC_NONE ? *n + 1 : next;
    }
    for (uint32_t at = begin; at < *n;) {
        struct nsc_key key = {list.a << 1 | list.c, at, (uint64_t)rank};
        uint32_t next = nsc_map_get(&j->next, key);
        if (nsc_map_put(&j->next, key, *n))
            m->no_memory = true;
        at = next == NSC_NONE ? at + 1 : next;
    }
    return c;
}

/* Communicators that print an id are found by their size too. */
static int list_by_size(struct ncclscope_model *m, struct joining *j, nsc_str key, int64_t nranks, uint32_t comm)
{
    struct nsc_key size = {(uint64_t)nranks, 0, 0};
    if (!nsc_text_starts(nsc_say(m, key), "0x"))
        return NCCLSCOPE_OK;
    uint32_t before = nsc_map_get(&j->of_size, size), n = before == NSC_NONE ? 0 : before;
    int rc = nsc_map_put(&j->by_key, (struct nsc_key){(uint64_t)nranks, n, OF_SIZE}, comm);
    return rc ? rc : nsc_map_put(&j->of_size, size, n + 1);
}

static uint32_t comm_new(struct ncclscope_model *m, struct joining *j, nsc_str key, uint32_t n,
                         const struct nsc_rank *r)
{
    uint32_t c = (uint32_t)m->comms.len;
    struct nsc_comm *comm = nsc_vec_push(&m->comms);
    if (!comm || nsc_map_put(&j->by_key, (struct nsc_key){key, n, OF_KEY}, c) ||
        list_by_size(m, j, key, r->nranks, c)) {
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
    uint32_t i = nsc_map_get(&j->place, place_of(comm, (uint64_t)r->rank));
    const struct nsc_rank *old = i == NSC_NONE ? NULL : &m->ranks.item[i];
    if (!old || old->proc != r->proc || !r->start.line || !(old->complete.line || old->destroyed.line))
        return false;
    const struct nsc_where *end = old->complete.line ? &old->complete : &old->destroyed;
    return end->source == r->start.source && end->line < r->start.line;
}

/* Of an id: the first communicator of it that had not its turn. NSC_NONE: none; *n is told how many there are. Those that had it before
 * an earlier start of this place in the process had it. */
static uint32_t comm_of_id(struct ncclscope_model *m, struct joining *j, nsc_str key, uint32_t rank, uint32_t *n)
{
    enum { FROM, OF };
    const struct nsc_rank *r = &m->ranks.item[rank];
    struct nsc_key turn = {(uint64_t)key << 32 | r->proc, (uint64_t)r->rank, OF};
    uint32_t last = nsc_map_get(&j->turns, turn), c;
    const struct nsc_where *start = last == NSC_NONE ? NULL : &m->ranks.item[last].start;
    bool later = start && start->source == r->start.source && start->line < r->start.line;
    turn.c = FROM;
    *n = later ? nsc_map_get(&j->turns, turn) : 0;
    while ((c = nsc_map_get(&j->by_key, (struct nsc_key){key, *n, OF_KEY})) != NSC_NONE && had_its_turn(m, j, c, r))
        ++*n;
    bool kept = !nsc_map_put(&j->turns, turn, *n);
    turn.c = OF;
    m->no_memory = m->no_memory || !kept || nsc_map_put(&j->turns, turn, rank);
    return c;
}

/* The communicator of this key that the rank belongs to. Where the key does not say it alone: the first of those of that key that
 * a connection line agrees with, else the first that nothing speaks against. */
static uint32_t comm_for(struct ncclscope_model *m, struct joining *j, nsc_str key, uint32_t rank)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    uint32_t best = NSC_NONE, n = 0, c;
    if (r->has_id) {
        c = comm_of_id(m, j, key, rank, &n);
        return c != NSC_NONE ? c : comm_new(m, j, key, n, r);
    }
    for (; (c = next_open(m, j, (struct nsc_key){key, 0, OF_KEY}, r->rank, &n)) != NSC_NONE; n++) {
        int s = suits(m, j, c, rank);
        if (s == 2)
            return c;
        best = s && best == NSC_NONE ? c : best;
    }
    return best != NSC_NONE ? best : comm_new(m, j, key, n, r);
}

/* The line that says a rank's commId is lost or torn: the one communicator of an id that has just this place free; NSC_NONE if there
 * is none, or there are several. */
static uint32_t only_gap(struct ncclscope_model *m, struct joining *j, uint32_t rank)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    struct nsc_key list = {(uint64_t)r->nranks, 0, OF_SIZE};
    uint32_t only = NSC_NONE, n = 0, c;
    if (r->comm_id || r->parent_pointer)
        return NSC_NONE;
    for (; (c = next_open(m, j, list, r->rank, &n)) != NSC_NONE; n++) {
        if (!suits(m, j, c, rank))
            continue;
        if (only != NSC_NONE)
            return NSC_NONE;
        only = c;
    }
    return only;
}

/* What the rank says of its peers is what a member says from now on. */
static int take_claims(struct joining *j, uint32_t comm, uint32_t rank)
{
    int rc = NCCLSCOPE_OK;
    for (uint32_t i = j->claims[rank]; i != NSC_NONE && !rc; i = j->claim.item[i].next) {
        struct nsc_key place = place_of(comm, j->claim.item[i].peer);
        j->claim.item[i].alike = nsc_map_get(&j->about, place);
        rc = nsc_map_put(&j->about, place, i);
    }
    return rc;
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
    j->beside[rank] = nsc_map_get(&j->place, place_of(c, (uint64_t)r->rank));
    if (nsc_map_put(&j->place, place_of(c, (uint64_t)r->rank), rank) || take_claims(j, c, rank) ||
        nsc_map_put(&j->present, (struct nsc_key){c, r->proc, seat_of(r)}, rank))
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
    int c = r->proc == s->proc ? 0 : nsc_by_host_and_pid(&r->proc, &s->proc, model);
    return c ? c : i < k ? -1 : i > k;
}

void nsc_join_ranks(struct ncclscope_model *m)
{
    struct joining j = {.claims = nsc_alloc(m->ranks.len * sizeof(uint32_t)),
                        .beside = nsc_alloc(m->ranks.len * sizeof(uint32_t))};
    uint32_t *order = nsc_alloc(m->ranks.len * sizeof *order);
    if (!j.claims || !j.beside || !order) {
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
    }
    struct nsc_map *maps[] = {&j.by_key, &j.place, &j.present, &j.about, &j.next, &j.of_size, &j.turns};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        nsc_map_free(maps[i]);
    nsc_vec_free(&j.claim);
    nsc_free(j.claims);
    nsc_free(j.beside);
    nsc_free(order);
}
