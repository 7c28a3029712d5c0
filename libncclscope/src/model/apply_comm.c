/* apply_comm.c - records that tell of communicators: birth, shape, rings and trees, end. */
#include "model/apply.h"
#include "model/calls.h"
#include "model/scratch.h"

void nsc_claim(struct ncclscope_model *m, struct nsc_thread *t, uint32_t rank)
{
    struct nsc_rank *r = &m->ranks.item[rank];
    uint32_t self = (uint32_t)(t - m->threads.item);
    nsc_set_if_said(&r->coll, t->coll);
    nsc_set_if_said(&r->collnet, t->collnet);
    nsc_set_if_said(&r->nvls, t->nvls);
    nsc_set_if_said(&r->p2p, t->p2p);
    nsc_set_if_said(&r->per_peer, t->per_peer);
    nsc_set_if_said(&r->chunk, t->chunk);
    nsc_set_if_said(&r->direct, t->direct);
    if (t->coll >= 0)
        r->channels_at = t->channels_at;
    if (t->chunk >= 0)
        r->chunk_at = t->chunk_at;
    if (t->direct >= 0)
        r->direct_at = t->direct_at;
    if (t->ring_type)
        r->ring_type = t->ring_type, r->ring_type_at = t->ring_type_at;
    for (int i = 0; i < 2 && t->ring_type; i++)
        r->ring_gb_s[i] = t->ring_gb_s[i];
    if (t->cpus)
        r->cpus = t->cpus, r->cpus_at = t->cpus_at;
    if (t->network)
        r->network = t->network;
    t->coll = t->collnet = t->nvls = t->p2p = t->per_peer = t->chunk = t->direct = -1;
    t->ring_type = t->network = t->cpus = 0;
    t->chose.line = 0;
    for (size_t i = m->rings.len; i > 0 && t->rings; i--)
        if (m->rings.item[i - 1].rank == NSC_NONE && m->rings.item[i - 1].thread == self)
            m->rings.item[i - 1].rank = rank, t->rings--;
    for (size_t i = m->trees.len; i > 0 && t->trees; i--)
        if (m->trees.item[i - 1].rank == NSC_NONE && m->trees.item[i - 1].thread == self)
            m->trees.item[i - 1].rank = rank, t->trees--;
}

void nsc_apply_init_start(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_close_batches(m, t, NSC_NONE, NSC_NO_STRUCTURE);
    uint32_t i = nsc_rank_for(m, rec, proc, true);
    m->begun += i == NSC_NONE;
    if (i == NSC_NONE)
        return;
    struct nsc_rank *r = &m->ranks.item[i];
    nsc_take_identity(m, r, rec);
    if (!r->start.line)
        r->start = nsc_here(m, rec);
    r->bare_start = r->cuda_dev < 0 && !r->bus_id;
    r->births++;
    if (r->parent != NSC_NONE)
        r->parent_births = m->ranks.item[r->parent].births;
    t->rank = i;
    nsc_claim(m, t, i);
}

void nsc_apply_init_complete(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                             struct nsc_thread *t)
{
    uint32_t i = nsc_rank_for(m, rec, proc, false);
    if (i == NSC_NONE)
        return;
    nsc_take_identity(m, &m->ranks.item[i], rec);
    if (!m->ranks.item[i].complete.line)
        m->ranks.item[i].complete = nsc_here(m, rec);
    nsc_claim(m, t, i);
    nsc_close_batches(m, t, i, NSC_NO_STRUCTURE);
    t->rank = NSC_NONE;
    t->in_init = false;
    t->made = i;
}

void nsc_apply_comm_shape(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    bool cut = nsc_int(rec, NCCLSCOPE_FIELD_LOCAL_RANKS) < 0; /* within the number of nodes, for what is known */
    uint32_t i = cut ? NSC_NONE : nsc_rank_for(m, rec, proc, false);
    if (i == NSC_NONE)
        return;
    struct nsc_rank *r = &m->ranks.item[i];
    nsc_take_identity(m, r, rec);
    r->nnodes = nsc_int(rec, NCCLSCOPE_FIELD_NNODES);
    r->local_ranks = nsc_int(rec, NCCLSCOPE_FIELD_LOCAL_RANKS);
    r->local_rank = nsc_int(rec, NCCLSCOPE_FIELD_LOCAL_RANK);
    r->mnnvl = nsc_int(rec, NCCLSCOPE_FIELD_MNNVL);
    if (!r->shape_at.line)
        r->shape_at = nsc_here(m, rec);
    if (t->rank == NSC_NONE && !r->complete.line)
        t->rank = i;
    nsc_claim(m, t, i);
}

void nsc_apply_ended(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)t;
    uint32_t i = nsc_rank_for(m, rec, proc, false);
    if (i == NSC_NONE)
        return;
    struct nsc_rank *r = &m->ranks.item[i];
    nsc_take_identity(m, r, rec);
    struct nsc_where *at = rec->kind == NCCLSCOPE_KIND_DESTROYED ? &r->destroyed : &r->aborted;
    if (!at->line)
        *at = nsc_here(m, rec);
    if (!m->procs.item[proc].closing_at.line)
        m->procs.item[proc].closing_at = *at;
}

/* "commReclaim: cleanup comm 0x3a0f rank 1 failed in destroy/abort, error 1": a failure, and a rank of the process. */
void nsc_apply_destroy_failed(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                              struct nsc_thread *t)
{
    uint32_t i = nsc_rank_for(m, rec, proc, false);
    if (i != NSC_NONE)
        nsc_take_identity(m, &m->ranks.item[i], rec);
    nsc_apply_event_of(m, rec, proc, t);
}

/* "AllReduce: opCount 1a ... comm 0xe533000 [nranks=8]": who calls a collective has a communicator, whatever line of its birth is lost. */
void nsc_apply_call(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    uint64_t pointer;
    (void)t;
    m->calls_seen++;
    if (!nsc_to_hex(nsc_record_field(rec, NCCLSCOPE_FIELD_COMM), &pointer))
        return;
    uint32_t i = nsc_rank_of(m, proc, pointer);
    if (i != NSC_NONE && (m->ranks.item[i].start.line || m->ranks.item[i].complete.line))
        m->ranks.item[i].called = true;
    if (i != NSC_NONE)
        nsc_compare_call(m, rec, i);
}

/* "kernels 0.31, alloc 1.15, bootstrap 0.15, ..."; -1: not said. */
static double kernel_seconds(nsc_text parts)
{
    static const char before[] = "kernels ";
    ptrdiff_t at = nsc_text_find(parts, before);
    nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(parts, (size_t)at + sizeof before - 1);
    nsc_text word = nsc_next_word(&rest);
    double s;
    word.len -= word.len && word.ptr[word.len - 1] == ',';
    return nsc_to_f64(word, &s) ? s : -1;
}

void nsc_apply_init_timings(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    double s;
    int64_t rank = nsc_int(rec, NCCLSCOPE_FIELD_RANK), n = nsc_int(rec, NCCLSCOPE_FIELD_NRANKS);
    if (!nsc_to_f64(nsc_record_field(rec, NCCLSCOPE_FIELD_TOTAL_S), &s))
        return;
    for (uint32_t i = m->procs.item[proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        struct nsc_rank *r = &m->ranks.item[i]; /* it follows its COMPLETE line closely: the last one fits */
        if (r->tid != t->tid || r->rank != rank || r->nranks != n)
            continue;
        if (r->init_seconds < 0) {
            r->init_seconds = s;
            r->kernel_seconds = kernel_seconds(nsc_record_field(rec, NCCLSCOPE_FIELD_PARTS));
        }
        return;
    }
    if (m->procs.item[proc].last_rank != NSC_NONE)
        return;
    uint32_t i = nsc_rank_new(m, proc, 0, t->tid, nsc_here(m, rec)); /* its COMPLETE line, right before, is lost */
    if (i == NSC_NONE)
        return;
    nsc_take_identity(m, &m->ranks.item[i], rec);
    m->ranks.item[i].init_seconds = s;
    m->ranks.item[i].kernel_seconds = kernel_seconds(nsc_record_field(rec, NCCLSCOPE_FIELD_PARTS));
}

struct nsc_rank *nsc_making(struct ncclscope_model *m, const struct nsc_thread *t)
{
    return t->rank == NSC_NONE ? NULL : &m->ranks.item[t->rank];
}

/* "Bootstrap timings total 0.63 (create ..., ring 0.000067, ...)": printed when the ring of all ranks is closed. */
void nsc_apply_bootstrap_timings(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                                 struct nsc_thread *t)
{
    struct nsc_rank *r = nsc_making(m, t);
    (void)rec;
    (void)proc;
    if (r)
        r->met = true;
}

void nsc_apply_channel_counts(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                              struct nsc_thread *t)
{
    (void)proc;
    t->coll = nsc_int(rec, NCCLSCOPE_FIELD_COLL);
    t->collnet = nsc_int(rec, NCCLSCOPE_FIELD_COLLNET);
    t->nvls = nsc_int(rec, NCCLSCOPE_FIELD_NVLS);
    t->p2p = nsc_int(rec, NCCLSCOPE_FIELD_P2P);
    t->per_peer = nsc_int(rec, NCCLSCOPE_FIELD_PER_PEER);
    const struct nsc_rank *r = nsc_making(m, t);
    t->channels_at = r && r->channels_at.line ? r->channels_at : nsc_here(m, rec);
    if (r)
        nsc_claim(m, t, t->rank);
}

void nsc_apply_chunk_size(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    const struct nsc_rank *r = nsc_making(m, t);
    (void)proc;
    t->chunk = nsc_number(rec, NCCLSCOPE_FIELD_SIZE);
    if (!r || !r->chunk_at.line)
        t->chunk_at = nsc_here(m, rec);
    else
        t->chunk_at = r->chunk_at;
    if (r)
        nsc_claim(m, t, t->rank);
}

void nsc_apply_p2p_type(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    const struct nsc_rank *r = nsc_making(m, t);
    (void)proc;
    t->direct = nsc_number(rec, NCCLSCOPE_FIELD_DIRECT);
    t->direct_at = r && r->direct_at.line ? r->direct_at : nsc_here(m, rec);
    if (r)
        nsc_claim(m, t, t->rank);
}

/* "NVLS Head  0:  0  8": of each node one rank leads. */
void nsc_apply_nvls_head(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text rest = nsc_record_field(rec, NCCLSCOPE_FIELD_RANKS);
    struct nsc_rank *r = nsc_making(m, t);
    int64_t n = 0;
    (void)proc;
    while (nsc_next_word(&rest).len)
        n++;
    if (r && n > r->heads)
        r->heads = n;
}

/* "nChannels 2, bw 48.000000/24.000000": of each channel, within a node and between nodes. */
static void take_ring_layout(const ncclscope_record *rec, double *gb_s)
{
    nsc_text both = nsc_record_field(rec, NCCLSCOPE_FIELD_BW);
    int64_t channels = nsc_int(rec, NCCLSCOPE_FIELD_CHANNELS);
    ptrdiff_t slash = nsc_text_find(both, "/");
    double inside, between;
    gb_s[0] = gb_s[1] = 0; /* not those of the communicator before */
    if (slash < 0 || channels < 1 || !nsc_to_f64((nsc_text){both.ptr, (size_t)slash}, &inside) ||
        !nsc_to_f64(nsc_text_from(both, (size_t)slash + 1), &between))
        return;
    gb_s[0] = inside * (double)channels;
    gb_s[1] = between * (double)channels;
}

void nsc_apply_graph_pattern(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                             struct nsc_thread *t)
{
    const struct nsc_rank *r = nsc_making(m, t);
    m->procs.item[proc].graph_seen = true;
    if (nsc_number(rec, NCCLSCOPE_FIELD_PATTERN) != 4)
        return;
    t->ring_type = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_INTRA));
    t->ring_type_at = r && r->ring_type_at.line ? r->ring_type_at : nsc_here(m, rec);
    take_ring_layout(rec, t->ring_gb_s);
    if (r)
        nsc_claim(m, t, t->rank);
}

/* A thread that lists rings or trees makes a communicator: connections that it printed before are of another one, and those that
 * follow are of the one that its COMPLETE line will name. */
static void enters_init(struct ncclscope_model *m, struct nsc_thread *t)
{
    if (!t->in_init && t->rank == NSC_NONE)
        nsc_close_batches(m, t, NSC_NONE, NSC_NO_STRUCTURE);
    t->in_init = true;
}

void nsc_apply_ring(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    int64_t channel = nsc_number(rec, NCCLSCOPE_FIELD_CHANNEL);
    uint32_t self = (uint32_t)(t - m->threads.item);
    (void)proc;
    if (channel < 0)
        return;
    enters_init(m, t);
    struct nsc_key key = {t->rank, (uint64_t)channel, self};
    if (t->rank != NSC_NONE && nsc_map_get(&m->scratch->ring_by, key) != NSC_NONE)
        return;
    struct nsc_ring *r = nsc_vec_push(&m->rings);
    if (!r || (t->rank != NSC_NONE && nsc_map_put(&m->scratch->ring_by, key, 0))) {
        m->no_memory = true;
        return;
    }
    *r = (struct nsc_ring){.rank = t->rank,
                           .thread = self,
                           .channel = (uint64_t)channel,
                           .ranks = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_RANKS))};
    r->where = nsc_here(m, rec);
    t->rings += t->rank == NSC_NONE;
}

/* Three parts joined by arrows: children->rank->parent; up to 2.4 parent->rank->children. */
static bool tree_parts(nsc_text body, nsc_text *down, int64_t *own, int64_t *up)
{
    ptrdiff_t first = nsc_text_find(body, "->");
    if (first < 0)
        return false;
    nsc_text left = {body.ptr, (size_t)first}, behind = nsc_text_from(body, (size_t)first + 2);
    ptrdiff_t second = nsc_text_find(behind, "->");
    if (second < 0)
        return false;
    nsc_text right = nsc_text_from(behind, (size_t)second + 2);
    bool parent_first = nsc_text_find(left, "/") < 0 && nsc_text_find(right, "/") >= 0;
    *down = parent_first ? right : left;
    return nsc_to_i64((nsc_text){behind.ptr, (size_t)second}, own) && nsc_to_i64(parent_first ? left : right, up);
}

/* "[0] 2/-1/-1->0->-1", from 2.5 to 2.7 "[0] 2/-1/-1->0->-1|-1->0->2/-1/-1": one channel. False at the end, or where the text was cut. */
static bool next_tree(nsc_text *rest, int64_t *channel, nsc_text *down, int64_t *own, int64_t *up)
{
    nsc_text head = nsc_next_word(rest), body = nsc_next_word(rest);
    const char *bar = body.len ? memchr(body.ptr, '|', body.len) : NULL;
    if (head.len < 3 || head.ptr[0] != '[' || head.ptr[head.len - 1] != ']')
        return false;
    if (bar)
        body.len = (size_t)(bar - body.ptr);
    return nsc_to_i64((nsc_text){head.ptr + 1, head.len - 2}, channel) && tree_parts(body, down, own, up);
}

/* RCCL: "Trees [0] 17/24/-1->16->0 comm 0x56099 nRanks 32 busId 17000". */
static void name_by_trees(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text rest = nsc_record_field(rec, NCCLSCOPE_FIELD_TREES), down;
    int64_t channel, own, up, n = nsc_int(rec, NCCLSCOPE_FIELD_NRANKS);
    if (t->rank != NSC_NONE || n <= 0 || !next_tree(&rest, &channel, &down, &own, &up) || own < 0 || own >= n)
        return;
    uint32_t i = nsc_rank_for(m, rec, proc, false);
    if (i == NSC_NONE || m->ranks.item[i].complete.line)
        return;
    nsc_take_identity(m, &m->ranks.item[i], rec);
    m->ranks.item[i].rank = m->ranks.item[i].rank < 0 ? own : m->ranks.item[i].rank;
    t->rank = i;
}

void nsc_apply_trees(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text rest = nsc_record_field(rec, NCCLSCOPE_FIELD_TREES), down;
    uint32_t self = (uint32_t)(t - m->threads.item);
    int64_t channel, own, up;
    enters_init(m, t);
    name_by_trees(m, rec, proc, t);
    bool cut = nsc_record_span(rec) >= NSC_NCCL_LINE;
    while (next_tree(&rest, &channel, &down, &own, &up) && !(cut && !rest.len)) { /* "->0->12" may have been 1234 */
        struct nsc_key key = {t->rank, (uint64_t)channel, self};
        if (t->rank != NSC_NONE && nsc_map_get(&m->scratch->tree_by, key) != NSC_NONE)
            continue;
        struct nsc_tree *tree = nsc_vec_push(&m->trees);
        if (!tree || (t->rank != NSC_NONE && nsc_map_put(&m->scratch->tree_by, key, 0))) {
            m->no_memory = true;
            return;
        }
        *tree = (struct nsc_tree){
            .rank = t->rank, .thread = self, .channel = (uint64_t)channel, .up = up, .down = nsc_keep(m, down)};
        t->trees += t->rank == NSC_NONE;
        if (t->rank == NSC_NONE && t->in_tree < 0) {
            t->in_tree = own;
            t->in_tree_at = nsc_here(m, rec);
            t->dev = rec->dev;
        }
    }
}

void nsc_apply_connected(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)proc;
    enum nsc_structure what = rec->kind == NCCLSCOPE_KIND_CONNECTED_RINGS      ? NSC_RINGS
                              : rec->kind == NCCLSCOPE_KIND_CONNECTED_TREES    ? NSC_TREES
                              : rec->kind == NCCLSCOPE_KIND_CONNECTED_BINOMIAL ? NSC_BINOMIAL
                              : rec->kind == NCCLSCOPE_KIND_CONNECTED_NVLS     ? NSC_NVLS_TREE
                                                                               : NSC_COLLNET_CHAIN;
    nsc_close_batches(m, t, t->rank, what);
}
