/* attribute.c - whose connections: a "Channel ... via ..." line names ranks, but not the communicator.
 *
 * Lines that one thread prints together (up to "Connected ...", an init line, or a repetition) are of one communicator: a batch.
 * A batch belongs to a communicator of its process in which the printing rank has that number, that is large enough, was there at
 * the time, and does not yet have these very connections. One such: inferred. Several: ambiguous. None: unknown. RCCL says it. */
#include "model/path.h"
#include "model/scratch.h"

#include <stdlib.h>

enum { CHANNELS = NSC_CHANNEL_WORDS * 64 }; /* NCCL has 64 at most, RCCL 128: a number beyond was not printed by them */

static bool has_channel(const struct nsc_link *l, int conn, uint64_t channel)
{
    return channel < CHANNELS && l->channels[conn][channel / 64] >> (channel % 64) & 1;
}

static void add_channel(struct nsc_link *l, int conn, uint64_t channel)
{
    if (channel < CHANNELS)
        l->channels[conn][channel / 64] |= (uint64_t)1 << (channel % 64);
}

static bool shares_channels(const struct nsc_link *a, const struct nsc_link *b)
{
    for (int c = 0; c < 2; c++)
        for (size_t w = 0; w < NSC_CHANNEL_WORDS; w++)
            if (a->channels[c][w] & b->channels[c][w])
                return true;
    return false;
}

/* Where the final link stands: by its rank, or, unknown whose, by its process. */
static struct nsc_key link_key(const struct nsc_link *l)
{
    uint64_t owner = l->rank != NSC_NONE ? l->rank : (uint64_t)1 << 40 | l->proc;
    nsc_str peer = l->printer == (int64_t)l->src ? l->dst_dev : l->src_dev;
    return (struct nsc_key){owner << 2 | (uint64_t)l->direction, l->src << 32 | (l->dst & UINT32_MAX),
                            (uint64_t)peer << 32 | l->via};
}

static void add_link(struct ncclscope_model *m, const struct nsc_link *l)
{
    struct nsc_key key = link_key(l);
    uint32_t i = nsc_map_get(&m->scratch->link_by, key);
    if (l->rank != NSC_NONE && l->family != NSC_COLLNET) /* that is set up while the communicator is made */
        m->ranks.item[l->rank].used = true;
    if (i == NSC_NONE) {
        struct nsc_link *new = nsc_vec_push(&m->links);
        if (!new || nsc_map_put(&m->scratch->link_by, key, (uint32_t)(m->links.len - 1)))
            m->no_memory = true;
        else
            *new = *l;
        if (new)
            new->where.text = nsc_arena_copy(&m->arena, l->where.text);
        return;
    }
    struct nsc_link *old = &m->links.item[i];
    for (int c = 0; c < 2; c++)
        for (size_t w = 0; w < NSC_CHANNEL_WORDS; w++)
            old->channels[c][w] |= l->channels[c][w];
    old->lines += l->lines;
    if (l->attribution < old->attribution) {
        old->attribution = l->attribution;
        old->other = l->other;
    }
}

bool nsc_could_be_of(const struct nsc_rank *r, const struct nsc_link *l)
{
    uint64_t most = l->src > l->dst ? l->src : l->dst;
    bool born = r->start.line; /* else its beginning is lost, and it may be older than its first line */
    bool before = born && r->first.source == l->where.source && r->first.line > l->where.line;
    bool after = r->destroyed.line && r->destroyed.source == l->where.source && r->destroyed.line < l->where.line;
    return r->rank == l->printer && r->nranks >= 0 && most < (uint64_t)r->nranks && !before && !after;
}

bool nsc_sits_elsewhere(const struct ncclscope_model *m, const struct nsc_rank *r, nsc_str dev)
{
    uint64_t printed, bus;
    int64_t index = -1;
    if (!r || !dev || r->nvml_dev < 0 || !nsc_to_hex(nsc_say(m, dev), &printed) ||
        !nsc_to_hex(nsc_say(m, r->bus_id), &bus))
        return false;
    nsc_to_i64(nsc_say(m, dev), &index);
    return printed != bus && index != r->nvml_dev && index != r->cuda_dev && (int64_t)printed != r->cuda_dev;
}

bool nsc_prints_of(const struct ncclscope_model *m, const struct nsc_rank *r, const struct nsc_link *l)
{
    return !nsc_sits_elsewhere(m, r, l->printer == (int64_t)l->src ? l->src_dev : l->dst_dev);
}

/* A process with several GPUs tells of its peers, too, where they sit: is the peer of `l` another one than that of the communicator of `r`? */
static bool peer_sits_elsewhere(const struct ncclscope_model *m, const struct nsc_rank *r, const struct nsc_link *l)
{
    bool sends = l->printer == (int64_t)l->src;
    uint64_t devices = m->procs.item[r->proc].devices;
    if (!r->comm_id || r->parent_pointer || !(devices & (devices - 1)))
        return false;
    uint32_t peer = nsc_map_get(&m->scratch->seat_by, nsc_seat_key(r, sends ? l->dst : l->src));
    return peer != NSC_NONE && nsc_sits_elsewhere(m, &m->ranks.item[peer], sends ? l->dst_dev : l->src_dev);
}

static bool already_has(const struct ncclscope_model *m, uint32_t rank, const struct nsc_link *l)
{
    struct nsc_link probe = *l;
    probe.rank = rank;
    uint32_t i = nsc_map_get(&m->scratch->link_by, link_key(&probe));
    return i != NSC_NONE && shares_channels(&m->links.item[i], l);
}

struct choice {
    uint32_t best, other; /* NSC_NONE: there is none */
    bool sure;
};

/* Has it a channel of collectives that a communicator with "2 coll channels, 2 collnet channels, 0 nvls channels" has not? */
static bool goes_beyond(const struct nsc_rank *r, const struct nsc_link *l)
{
    int64_t most = r->coll > r->nvls ? r->coll : r->nvls;
    if (r->coll < 0 || l->family == NSC_COLLNET)
        return false;
    most = r->collnet > most ? r->collnet : most;
    for (uint64_t c = (uint64_t)most; c < CHANNELS; c++)
        if (has_channel(l, 0, c))
            return true;
    return false;
}

/* How well a rank fits a batch, worst first: it said before that it is connected in this way, or has fewer channels; it has, or may
 * have, just these connections, or is still being made; it fits. */
enum fit { FIT_NOT, FIT_SPENT, FIT_STALE, FIT_WELL, FITS };

static enum fit fit(const struct ncclscope_model *m, uint32_t rank, const struct nsc_link *batch, size_t n,
                    enum nsc_structure what)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    bool has = r->start.line && !r->complete.line && !r->used, spent = r->done & (unsigned)what;
    if (n && !nsc_prints_of(m, r, &batch[0])) /* all of them have one end in common */
        return FIT_NOT;
    for (size_t k = 0; k < n; k++) {
        if (!nsc_could_be_of(r, &batch[k]) || peer_sits_elsewhere(m, r, &batch[k]))
            return FIT_NOT;
        has = has || already_has(m, rank, &batch[k]);
        spent = spent || goes_beyond(r, &batch[k]);
    }
    if (spent)
        return FIT_SPENT;
    return has || (r->done_maybe & (unsigned)what) ? FIT_STALE : FIT_WELL;
}

/* Ranks of one fit, from the oldest on: whose the batch is, and who else might be. */
struct fitting {
    uint32_t rank[2];
    size_t count;
};

/* Was it destroyed before anything that any thread of the process has yet to give away? */
static bool is_over(const struct ncclscope_model *m, const struct nsc_rank *r, const struct nsc_link *batch)
{
    return m->procs.item[r->proc].batches == 1 && r->destroyed.line && r->destroyed.source == batch->where.source &&
           r->destroyed.line < batch->where.line;
}

/* From which rank of the process on one may not be over, nor have said that it is connected in this way; NSC_NONE: all are, or have.
 * `sure`: and that could be told of whom they said it. */
static uint32_t first_open(struct ncclscope_model *m, const struct nsc_link *batch, enum nsc_structure what, bool sure)
{
    struct nsc_key key = {batch->proc, (uint64_t)what, sure};
    uint32_t passed = nsc_map_get(&m->scratch->passed_by, key), at = passed;
    uint32_t i = passed == NSC_NONE ? m->procs.item[batch->proc].first_rank : m->ranks.item[passed].after;
    for (; i != NSC_NONE; at = i, i = m->ranks.item[i].after) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (!((r->done | (sure ? 0 : r->done_maybe)) & (unsigned)what) && !is_over(m, r, batch))
            break;
    }
    if (at != passed && nsc_map_put(&m->scratch->passed_by, key, at))
        m->no_memory = true;
    return i;
}

/* The two oldest that fit so, of those from `from` on. */
static struct fitting find_fitting(const struct ncclscope_model *m, uint32_t from, enum fit how,
                                   const struct nsc_link *batch, size_t n, enum nsc_structure what)
{
    struct fitting x = {{NSC_NONE, NSC_NONE}, 0};
    size_t most = how == FIT_SPENT ? 1 : 2; /* of those that are connected no second is asked for */
    for (uint32_t i = from; i != NSC_NONE && x.count < most; i = m->ranks.item[i].after)
        if (fit(m, i, batch, n, what) == how)
            x.rank[x.count++] = i;
    return x;
}

static void consider(struct choice *c, const struct fitting *x, enum fit how)
{
    for (size_t k = 0; k < x->count; k++) {
        if (c->best == NSC_NONE)
            c->best = x->rank[k];
        else if (c->best != x->rank[k] && c->other == NSC_NONE && how > FIT_SPENT)
            c->other = x->rank[k];
    }
}

/* Of all ranks of the process, the one that fits best. Sure if no other fits, but such as said before that they are connected. */
static struct choice choose(struct ncclscope_model *m, const struct nsc_link *batch, size_t n, enum nsc_structure what,
                            uint32_t just_made)
{
    struct choice c = {NSC_NONE, NSC_NONE, false};
    uint32_t unsaid = first_open(m, batch, what, false), unsure = first_open(m, batch, what, true);
    if (just_made != NSC_NONE && !m->ranks.item[just_made].used && fit(m, just_made, batch, n, what) == FIT_WELL)
        c.best = just_made; /* what the thread made last and nothing used yet is the likeliest */
    struct fitting x = find_fitting(m, unsaid, FIT_WELL, batch, n, what);
    consider(&c, &x, FIT_WELL);
    if (c.other == NSC_NONE) {
        x = find_fitting(m, unsure, FIT_STALE, batch, n, what);
        consider(&c, &x, FIT_STALE);
    }
    if (c.best == NSC_NONE) {
        x = find_fitting(m, first_open(m, batch, NSC_NO_STRUCTURE, true), FIT_SPENT, batch, n, what);
        consider(&c, &x, FIT_SPENT);
    }
    c.sure = c.best != NSC_NONE && c.other == NSC_NONE;
    return c;
}

static void give(struct ncclscope_model *m, struct nsc_link *links, size_t n, uint32_t rank, uint32_t other,
                 int attribution)
{
    for (size_t i = 0; i < n; i++) {
        links[i].rank = rank;
        links[i].other = other;
        if (links[i].attribution != NSC_STATED)
            links[i].attribution = attribution;
        add_link(m, &links[i]);
    }
}

static void end_batch(struct ncclscope_model *m, struct nsc_thread *t)
{
    m->procs.item[t->proc].batches -= t->waiting.len != 0;
    t->waiting.len = 0;
    nsc_map_free(&t->waiting_by);
    nsc_arena_free(&t->quotes);
    t->hit = 0;
}

static void now_connected(struct ncclscope_model *m, uint32_t rank, enum nsc_structure what, bool sure)
{
    if (rank != NSC_NONE && sure)
        m->ranks.item[rank].done |= (unsigned)what;
    else if (rank != NSC_NONE)
        m->ranks.item[rank].done_maybe |= (unsigned)what;
}

/* Up to 2.18.1 no line begins a communicator, and it is named only behind its connections: a thread that made none yet may be making
 * one, also where what it printed before them was lost. */
static bool may_be_in_init(const struct ncclscope_model *m, const struct nsc_thread *t)
{
    uint32_t first = m->procs.item[t->proc].first_rank;
    return t->in_init || (t->made == NSC_NONE && first != NSC_NONE && !m->ranks.item[first].start.line);
}

static void renumber_batch(struct ncclscope_model *m, struct nsc_thread *t);

static int by_printer(const void *a, const void *b)
{
    const struct nsc_link *x = a, *y = b;
    if (x->printer != y->printer)
        return x->printer < y->printer ? -1 : 1;
    return x->where.line < y->where.line ? -1 : x->where.line > y->where.line;
}

/* How many of them, from the first on, are older than the communicator that the thread named: up to the last that names a rank which that has
 * not. What its thread printed of another one before is not told from them where the lines between were lost. */
static size_t older_than(const struct nsc_rank *r, const struct nsc_link *links, size_t n)
{
    while (n && r->nranks >= 0 && links[n - 1].src < (uint64_t)r->nranks && links[n - 1].dst < (uint64_t)r->nranks)
        n--;
    return r->nranks < 0 ? 0 : n;
}

static void give_to_fitting(struct ncclscope_model *m, struct nsc_link *links, size_t n, struct choice c)
{
    give(m, links, n, c.best, c.other, c.best == NSC_NONE ? NSC_UNKNOWN_COMM : c.sure ? NSC_INFERRED : NSC_AMBIGUOUS);
}

/* Whose are these, of one printing rank? False: it may be named yet. */
static bool give_to_owner(struct ncclscope_model *m, struct nsc_thread *t, struct nsc_link *links, size_t n,
                          uint32_t rank, enum nsc_structure what, bool last)
{
    if (rank != NSC_NONE && m->ranks.item[rank].rank == links[0].printer) {
        size_t older = older_than(&m->ranks.item[rank], links, n);
        if (older)
            give_to_fitting(m, links, older, choose(m, links, older, NSC_NO_STRUCTURE, NSC_NONE));
        give(m, links + older, n - older, rank, NSC_NONE, NSC_INFERRED);
        now_connected(m, rank, what, true);
        return true;
    }
    struct choice c = choose(m, links, n, what, t->made);
    if (c.best == NSC_NONE && !last)
        return false;
    give_to_fitting(m, links, n, c);
    now_connected(m, c.best, what, c.sure);
    return true;
}

static size_t end_of_printer(const struct nsc_link *links, size_t n, size_t from)
{
    size_t end = from + 1;
    while (end < n && links[end].printer == links[from].printer)
        end++;
    return end;
}

/* Of links of several printing ranks: is it known of each whose they are? */
static bool are_all_known(struct ncclscope_model *m, const struct nsc_thread *t, const struct nsc_link *links, size_t n,
                          uint32_t rank, enum nsc_structure what)
{
    bool known = true;
    for (size_t i = 0, end; known && i < n; i = end) {
        end = end_of_printer(links, n, i);
        bool named = rank != NSC_NONE && m->ranks.item[rank].rank == links[i].printer;
        known = named || choose(m, links + i, end - i, what, t->made).best != NSC_NONE;
    }
    return known;
}

/* The batch of the thread is whole. `rank`: the communicator that the thread has just named, or NSC_NONE. `last`: nothing more
 * will be known of this source. One thread may make the ranks of several GPUs: then it prints for each of them, and what is not known of
 * one of them is waited for with all. */
static void close_batch(struct ncclscope_model *m, struct nsc_thread *t, uint32_t rank, enum nsc_structure what,
                        bool last)
{
    if (!t->waiting.len || (rank == NSC_NONE && t->rank == NSC_NONE && !last && may_be_in_init(m, t)))
        return;
    struct nsc_link *links = t->waiting.item;
    size_t n = t->waiting.len;
    bool one = end_of_printer(links, n, 0) == n;
    if (!one)
        qsort(links, n, sizeof *links, by_printer);
    bool known = last || one || are_all_known(m, t, links, n, rank, what);
    for (size_t i = 0, end; known && i < n; i = end) { /* the first of several may change what is known of the next */
        end = end_of_printer(links, n, i);
        known = give_to_owner(m, t, links + i, end - i, rank, what, last || !one);
    }
    if (known)
        end_batch(m, t);
    else if (!one)
        renumber_batch(m, t);
}

void nsc_close_batches(struct ncclscope_model *m, struct nsc_thread *t, uint32_t rank, enum nsc_structure what)
{
    close_batch(m, t, rank, what, false);
}

/* The communicator that the thread is making, where the log breaks off within its first connections; or NSC_NONE. */
static uint32_t broken_off(const struct ncclscope_model *m, const struct nsc_thread *t)
{
    const struct nsc_rank *r = t->rank == NSC_NONE || !t->waiting.len ? NULL : &m->ranks.item[t->rank];
    const struct nsc_where *first = r ? &t->waiting.item[0].where : NULL;
    bool begun = r && r->start.line && r->start.source == first->source && r->start.line < first->line;
    return begun && !r->complete.line && !r->used && t->in_init ? t->rank : NSC_NONE;
}

void nsc_end_source(struct ncclscope_model *m)
{
    for (uint32_t i = nsc_stream_of(m)->first_thread; i != NSC_NONE; i = m->threads.item[i].next_in_stream) {
        struct nsc_thread *t = &m->threads.item[i];
        close_batch(m, t, broken_off(m, t), NSC_NO_STRUCTURE, true);
        nsc_vec_free(&m->threads.item[i].waiting);
    }
}

struct nsc_count *nsc_count_of(struct ncclscope_model *m, nsc_str text, int family, bool gdrdma)
{
    while (m->scratch->count_at.len <= text)
        if (!nsc_vec_push(&m->scratch->count_at)) {
            m->no_memory = true;
            return NULL;
        }
    uint32_t *at = &m->scratch->count_at.item[text];
    if (!*at) {
        struct nsc_count *c = nsc_vec_push(&m->connections);
        if (!c) {
            m->no_memory = true;
            return NULL;
        }
        *c = (struct nsc_count){.text = text, .family = family, .gdrdma = gdrdma};
        *at = (uint32_t)m->connections.len;
    }
    return &m->connections.item[*at - 1];
}

static void count(struct ncclscope_model *m, const struct nsc_via *via, nsc_str text, uint64_t repeated)
{
    struct nsc_count *c = nsc_count_of(m, text, via->family, via->gdrdma);
    if (!c)
        return;
    c->lines++;
    c->repeated += repeated;
}

static struct nsc_key place_in_batch(const struct nsc_link *l)
{
    return (struct nsc_key){l->src, l->dst, (uint64_t)l->via << 2 | (unsigned)l->direction};
}

enum { FEW = 32 }; /* so many are looked through as fast */

/* Index of the thread's link of this place, or NSC_NONE. */
static uint32_t find_in_batch(struct nsc_thread *t, const struct nsc_link *l)
{
    for (size_t k = 0; t->waiting.len <= FEW && k < t->waiting.len; k++) {
        size_t i = (t->hit + k) % t->waiting.len;
        const struct nsc_link *x = &t->waiting.item[i];
        if (x->src == l->src && x->dst == l->dst && x->direction == l->direction && x->via == l->via)
            return (uint32_t)i;
    }
    return t->waiting.len <= FEW ? NSC_NONE : nsc_map_get(&t->waiting_by, place_in_batch(l));
}

/* Behind the first few links of a batch each is found by its place: those from this one on. */
static int index_batch(struct nsc_thread *t, size_t from)
{
    int rc = NCCLSCOPE_OK;
    for (size_t i = from; t->waiting.len > FEW && i < t->waiting.len; i++)
        rc = rc ? rc : nsc_map_put(&t->waiting_by, place_in_batch(&t->waiting.item[i]), (uint32_t)i);
    return rc;
}

/* Its links stand in another order now. */
static void renumber_batch(struct ncclscope_model *m, struct nsc_thread *t)
{
    t->hit = 0;
    nsc_map_free(&t->waiting_by);
    m->no_memory |= index_batch(t, 0) != 0;
}

/* The link of the thread's batch that this line adds to, or a new one; NULL when there is no memory. `begins`: the line repeats
 * what the batch already has, so it is of another communicator. */
static struct nsc_link *in_batch(struct nsc_thread *t, const struct nsc_link *l, int conn, uint64_t channel,
                                 bool *begins)
{
    uint32_t i = find_in_batch(t, l);
    *begins = i != NSC_NONE && has_channel(&t->waiting.item[i], conn, channel);
    t->hit = i == NSC_NONE ? t->hit : i;
    return i == NSC_NONE ? NULL : &t->waiting.item[i];
}

static bool read_line(const ncclscope_record *rec, struct nsc_link *l, uint64_t *channel, uint64_t *conn)
{
    uint64_t rank;
    nsc_text direction = nsc_record_field(rec, NCCLSCOPE_FIELD_DIRECTION);
    *conn = 0;
    nsc_to_u64(nsc_record_field(rec, NCCLSCOPE_FIELD_CONN), conn);
    l->direction = nsc_text_is(direction, "send") ? 1 : nsc_text_is(direction, "receive") ? 2 : 0;
    nsc_text number = nsc_record_field(rec, NCCLSCOPE_FIELD_CHANNEL);
    *channel = UINT64_MAX; /* up to 2.2 none is printed: of no channel that is known */
    if (number.len && !nsc_to_u64(number, channel))
        return false;
    if (rec->kind == NCCLSCOPE_KIND_CONNECT_COLLNET) { /* one rank and the network */
        if (!nsc_to_u64(nsc_record_field(rec, NCCLSCOPE_FIELD_RANK), &rank))
            return false;
        l->src = l->dst = rank;
    } else if (!nsc_to_u64(nsc_record_field(rec, NCCLSCOPE_FIELD_SRC), &l->src) ||
               !nsc_to_u64(nsc_record_field(rec, NCCLSCOPE_FIELD_DST), &l->dst)) {
        return false;
    }
    if (l->src > INT32_MAX || l->dst > INT32_MAX)
        return false;
    /* NET prints at both ends, 2.3 at the receiver alone; P2P and SHM at the sender */
    bool receiver = l->direction == 2 || (l->direction == 0 && l->family == NSC_NET);
    l->printer = (int64_t)(receiver ? l->dst : l->src);
    return true;
}

/* What only the first line of a link has to say. */
static void take_first_line(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_link *l)
{
    l->where = nsc_at(m, rec);
    l->network = nsc_keep(m, rec->via->network);
    l->src_dev = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_SRC_DEV));
    l->dst_dev = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_DST_DEV));
}

/* RCCL: the line itself names the communicator, "... via P2P/IPC comm 0x56099 nRanks 32". Who prints it is of it, also where no other line
 * says so. */
static uint32_t named_rank(struct ncclscope_model *m, const ncclscope_record *rec, const struct nsc_link *l)
{
    const struct nsc_via *via = rec->via;
    uint64_t pointer;
    if (!via->comm.len || l->proc == NSC_NONE || !nsc_to_hex(via->comm, &pointer))
        return NSC_NONE;
    uint32_t i = nsc_rank_of(m, l->proc, pointer);
    bool fits = (int64_t)l->src < via->nranks && (int64_t)l->dst < via->nranks && !(rec->flags & NCCLSCOPE_FLAG_TORN);
    if (i != NSC_NONE || !fits)
        return i;
    i = nsc_rank_new(m, l->proc, pointer, rec->tid, nsc_here(m, rec));
    if (i == NSC_NONE)
        return i;
    m->ranks.item[i].rank = l->printer;
    m->ranks.item[i].nranks = via->nranks;
    return i;
}

void nsc_apply_connect(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc)
{
    const struct nsc_via *via = rec->via;
    uint64_t channel, conn;
    if (!via->row || rec->flags & NCCLSCOPE_FLAG_JOINED)
        return;
    struct nsc_link l = {.proc = proc,
                         .rank = NSC_NONE,
                         .other = NSC_NONE,
                         .via = nsc_keep(m, via->text),
                         .row = via->row,
                         .family = via->family,
                         .read = via->read,
                         .copy_engine = via->copy_engine,
                         .gdrdma = via->gdrdma,
                         .net_dev = via->net_dev,
                         .proxy_rank = via->proxy_rank,
                         .lines = 1,
                         .dev = rec->dev};
    count(m, via, l.via, rec->repeated);
    if (!read_line(rec, &l, &channel, &conn))
        return;
    struct nsc_thread *t = proc == NSC_NONE ? NULL : nsc_thread_of(m, proc, rec->tid);
    bool begins = false;
    uint32_t named = named_rank(m, rec, &l);
    add_channel(&l, conn > 0, channel);
    if (!t || named != NSC_NONE) {
        take_first_line(m, rec, &l);
        l.rank = named;
        l.attribution = named == NSC_NONE ? NSC_UNKNOWN_COMM : NSC_STATED;
        add_link(m, &l);
        return;
    }
    struct nsc_link *same = in_batch(t, &l, conn > 0, channel, &begins);
    if (begins) {
        close_batch(m, t, t->rank, NSC_NO_STRUCTURE, false);
        same = t->waiting.len ? same : NULL;
    }
    if (same) {
        add_channel(same, conn > 0, channel);
        same->lines++;
        return;
    }
    struct nsc_link *new = nsc_vec_push(&t->waiting);
    if (!new) {
        m->no_memory = true;
        return;
    }
    m->procs.item[proc].batches += t->waiting.len == 1;
    *new = l;
    take_first_line(m, rec, new);
    new->where.text = nsc_arena_copy(&t->quotes, new->where.text);
    t->hit = t->waiting.len - 1;
    m->no_memory = m->no_memory || index_batch(t, t->waiting.len == FEW + 1 ? 0 : t->waiting.len - 1);
}
