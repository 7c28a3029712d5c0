/* apply.c - what each kind of record does to the model: a table of small functions. */
#include "model/model.h"

typedef void effect(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t);

static nsc_text get(const ncclscope_record *rec, ncclscope_field f)
{
    return nsc_record_field(rec, f);
}

/* A number that a field holds, or -1. */
static int64_t number(const ncclscope_record *rec, ncclscope_field f)
{
    int64_t v;
    return nsc_to_i64(get(rec, f), &v) ? v : -1;
}

static void set_if_said(int64_t *to, int64_t v)
{
    if (v >= 0)
        *to = v;
}

/* ---- communicators ---- */

/* A child's color and key may be any number: they are taken with the parent. */
static void take_parent(struct ncclscope_model *m, struct nsc_rank *r, const ncclscope_record *rec)
{
    nsc_text color = get(rec, NCCLSCOPE_FIELD_COLOR);
    uint64_t parent;
    if (!nsc_to_hex(get(rec, NCCLSCOPE_FIELD_PARENT), &parent) || !parent || parent == r->parent_pointer)
        return;
    r->parent_pointer = parent;
    r->nth_child = 0;
    r->parent = nsc_rank_of(m, r->proc, r->parent_pointer);
    for (uint32_t i = r->before; i != NSC_NONE; i = m->ranks.item[i].before)
        r->nth_child += m->ranks.item[i].parent_pointer == r->parent_pointer;
    r->split = number(rec, NCCLSCOPE_FIELD_SPLIT);
    r->has_color = nsc_to_i64(color, &r->color);
    nsc_to_i64(get(rec, NCCLSCOPE_FIELD_KEY), &r->key);
}

static void take_identity(struct ncclscope_model *m, struct nsc_rank *r, const ncclscope_record *rec)
{
    set_if_said(&r->rank, number(rec, NCCLSCOPE_FIELD_RANK));
    set_if_said(&r->nranks, number(rec, NCCLSCOPE_FIELD_NRANKS));
    set_if_said(&r->cuda_dev, number(rec, NCCLSCOPE_FIELD_CUDA_DEV));
    set_if_said(&r->nvml_dev, number(rec, NCCLSCOPE_FIELD_NVML_DEV));
    if (get(rec, NCCLSCOPE_FIELD_BUS_ID).len)
        r->bus_id = nsc_keep(m, get(rec, NCCLSCOPE_FIELD_BUS_ID));
    if (get(rec, NCCLSCOPE_FIELD_COMM_ID).len)
        r->comm_id = nsc_keep(m, get(rec, NCCLSCOPE_FIELD_COMM_ID));
    if (!r->parent_pointer ||
        rec->kind == NCCLSCOPE_KIND_INIT_COMPLETE) /* of a torn START line the end may be another's */
        take_parent(m, r, rec);
}

/* Is the record about the communicator that its process last had under this pointer? Else the pointer is used again. */
static bool is_same(const struct ncclscope_model *m, const struct nsc_rank *r, const ncclscope_record *rec)
{
    nsc_text id = get(rec, NCCLSCOPE_FIELD_COMM_ID);
    int64_t rank = number(rec, NCCLSCOPE_FIELD_RANK), n = number(rec, NCCLSCOPE_FIELD_NRANKS);
    int64_t split = number(rec, NCCLSCOPE_FIELD_SPLIT), color;
    if (id.len && r->comm_id && !nsc_text_eq(id, nsc_say(m, r->comm_id)))
        return false;
    if (split >= 0 && r->split >= 0 && split != r->split)
        return false;
    if (r->complete.line && r->has_color && nsc_to_i64(get(rec, NCCLSCOPE_FIELD_COLOR), &color) && color != r->color)
        return false;
    return (rank < 0 || r->rank < 0 || rank == r->rank) && (n < 0 || r->nranks < 0 || n == r->nranks);
}

/* A second START under a pointer is another communicator, but where something tells that it is the same, in a log that was put
 * together twice: the id of one that is no child; a parent that counts its children, or was born again itself. */
static bool is_told_again(const struct ncclscope_model *m, const struct nsc_rank *r, const ncclscope_record *rec)
{
    if (!r->parent_pointer)
        return r->comm_id != 0;
    bool counted = r->split >= 0 && r->split == number(rec, NCCLSCOPE_FIELD_SPLIT);
    return counted || (r->parent != NSC_NONE && m->ranks.item[r->parent].births > r->parent_births);
}

static uint32_t rank_for(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, bool starts)
{
    uint64_t pointer;
    if (!nsc_to_hex(get(rec, NCCLSCOPE_FIELD_COMM), &pointer))
        return NSC_NONE;
    uint32_t last = nsc_rank_of(m, proc, pointer);
    if (last == NSC_NONE)
        return nsc_rank_new(m, proc, pointer, rec);
    const struct nsc_rank *r = &m->ranks.item[last];
    if (is_same(m, r, rec) && (!starts || !(r->complete.line || r->destroyed.line || r->aborted.line)))
        return last;
    for (uint32_t i = m->procs.item[proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        r = &m->ranks.item[i];
        if (r->pointer != pointer || !is_same(m, r, rec) || !is_told_again(m, r, rec))
            continue;
        if (nsc_map_put(&m->rank_by, (struct nsc_key){proc, pointer, 0}, i))
            m->no_memory = true;
        return i;
    }
    return nsc_rank_new(m, proc, pointer, rec);
}

/* What the thread said before it named the communicator belongs to the one it names now. */
static void claim(struct ncclscope_model *m, struct nsc_thread *t, uint32_t rank)
{
    struct nsc_rank *r = &m->ranks.item[rank];
    uint32_t self = (uint32_t)(t - m->threads.item);
    set_if_said(&r->coll, t->coll);
    set_if_said(&r->collnet, t->collnet);
    set_if_said(&r->nvls, t->nvls);
    set_if_said(&r->p2p, t->p2p);
    set_if_said(&r->per_peer, t->per_peer);
    set_if_said(&r->chunk, t->chunk);
    set_if_said(&r->direct, t->direct);
    if (t->chunk >= 0)
        r->chunk_at = t->chunk_at;
    if (t->direct >= 0)
        r->direct_at = t->direct_at;
    if (t->ring_type)
        r->ring_type = t->ring_type, r->ring_type_at = t->ring_type_at;
    if (t->network)
        r->network = t->network;
    t->coll = t->collnet = t->nvls = t->p2p = t->per_peer = t->chunk = t->direct = -1;
    t->ring_type = t->network = 0;
    for (size_t i = m->rings.len; i > 0 && t->rings; i--)
        if (m->rings.item[i - 1].rank == NSC_NONE && m->rings.item[i - 1].thread == self)
            m->rings.item[i - 1].rank = rank, t->rings--;
    for (size_t i = m->trees.len; i > 0 && t->trees; i--)
        if (m->trees.item[i - 1].rank == NSC_NONE && m->trees.item[i - 1].thread == self)
            m->trees.item[i - 1].rank = rank, t->trees--;
}

static void init_start(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_close_batches(m, t, NSC_NONE, NSC_NO_STRUCTURE);
    uint32_t i = rank_for(m, rec, proc, true);
    if (i == NSC_NONE)
        return;
    struct nsc_rank *r = &m->ranks.item[i];
    take_identity(m, r, rec);
    if (!r->start.line)
        r->start = nsc_here(m, rec);
    r->births++;
    if (r->parent != NSC_NONE)
        r->parent_births = m->ranks.item[r->parent].births;
    t->rank = i;
    claim(m, t, i);
}

static void init_complete(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    uint32_t i = rank_for(m, rec, proc, false);
    if (i == NSC_NONE)
        return;
    take_identity(m, &m->ranks.item[i], rec);
    if (!m->ranks.item[i].complete.line)
        m->ranks.item[i].complete = nsc_here(m, rec);
    claim(m, t, i);
    nsc_close_batches(m, t, i, NSC_NO_STRUCTURE);
    t->rank = NSC_NONE;
    t->made = i;
}

static void comm_shape(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    uint32_t i = rank_for(m, rec, proc, false);
    if (i == NSC_NONE)
        return;
    struct nsc_rank *r = &m->ranks.item[i];
    take_identity(m, r, rec);
    r->nnodes = number(rec, NCCLSCOPE_FIELD_NNODES);
    r->local_ranks = number(rec, NCCLSCOPE_FIELD_LOCAL_RANKS);
    r->local_rank = number(rec, NCCLSCOPE_FIELD_LOCAL_RANK);
    r->mnnvl = number(rec, NCCLSCOPE_FIELD_MNNVL);
    if (!r->shape_at.line)
        r->shape_at = nsc_here(m, rec);
    if (t->rank == NSC_NONE && !r->complete.line)
        t->rank = i;
    claim(m, t, i);
}

static void ended(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)t;
    uint32_t i = rank_for(m, rec, proc, false);
    if (i == NSC_NONE)
        return;
    struct nsc_rank *r = &m->ranks.item[i];
    take_identity(m, r, rec);
    struct nsc_where *at = rec->kind == NCCLSCOPE_KIND_DESTROYED ? &r->destroyed : &r->aborted;
    if (!at->line)
        *at = nsc_here(m, rec);
    if (!m->procs.item[proc].closing_at.line)
        m->procs.item[proc].closing_at = *at;
}

static void init_timings(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    double s;
    int64_t rank = number(rec, NCCLSCOPE_FIELD_RANK), n = number(rec, NCCLSCOPE_FIELD_NRANKS);
    if (!nsc_to_f64(get(rec, NCCLSCOPE_FIELD_TOTAL_S), &s))
        return;
    for (uint32_t i = m->procs.item[proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        struct nsc_rank *r = &m->ranks.item[i]; /* it follows its COMPLETE line closely: the last one fits */
        if (r->tid != t->tid || r->rank != rank || r->nranks != n)
            continue;
        if (r->init_seconds < 0)
            r->init_seconds = s;
        return;
    }
}

/* The rank whose initialisation the thread is in, or NULL: then the thread keeps it. */
static struct nsc_rank *making(struct ncclscope_model *m, const struct nsc_thread *t)
{
    return t->rank == NSC_NONE ? NULL : &m->ranks.item[t->rank];
}

static void channel_counts(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)proc;
    t->coll = number(rec, NCCLSCOPE_FIELD_COLL);
    t->collnet = number(rec, NCCLSCOPE_FIELD_COLLNET);
    t->nvls = number(rec, NCCLSCOPE_FIELD_NVLS);
    t->p2p = number(rec, NCCLSCOPE_FIELD_P2P);
    t->per_peer = number(rec, NCCLSCOPE_FIELD_PER_PEER);
    if (making(m, t))
        claim(m, t, t->rank);
}

static void chunk_size(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    const struct nsc_rank *r = making(m, t);
    (void)proc;
    t->chunk = number(rec, NCCLSCOPE_FIELD_SIZE);
    if (!r || !r->chunk_at.line)
        t->chunk_at = nsc_here(m, rec);
    else
        t->chunk_at = r->chunk_at;
    if (r)
        claim(m, t, t->rank);
}

static void p2p_type(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    const struct nsc_rank *r = making(m, t);
    (void)proc;
    t->direct = number(rec, NCCLSCOPE_FIELD_DIRECT);
    t->direct_at = r && r->direct_at.line ? r->direct_at : nsc_here(m, rec);
    if (r)
        claim(m, t, t->rank);
}

static void graph_pattern(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    const struct nsc_rank *r = making(m, t);
    m->procs.item[proc].graph_seen = true;
    if (number(rec, NCCLSCOPE_FIELD_PATTERN) != 4)
        return;
    t->ring_type = nsc_keep(m, get(rec, NCCLSCOPE_FIELD_INTRA));
    t->ring_type_at = r && r->ring_type_at.line ? r->ring_type_at : nsc_here(m, rec);
    if (r)
        claim(m, t, t->rank);
}

static void ring(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    int64_t channel = number(rec, NCCLSCOPE_FIELD_CHANNEL);
    uint32_t self = (uint32_t)(t - m->threads.item);
    (void)proc;
    if (channel < 0)
        return;
    struct nsc_key key = {t->rank, (uint64_t)channel, self};
    if (t->rank != NSC_NONE && nsc_map_get(&m->ring_by, key) != NSC_NONE)
        return;
    struct nsc_ring *r = nsc_vec_push(&m->rings);
    if (!r || (t->rank != NSC_NONE && nsc_map_put(&m->ring_by, key, 0))) {
        m->no_memory = true;
        return;
    }
    *r = (struct nsc_ring){.rank = t->rank,
                           .thread = self,
                           .channel = (uint64_t)channel,
                           .ranks = nsc_keep(m, get(rec, NCCLSCOPE_FIELD_RANKS))};
    r->where = nsc_here(m, rec);
    t->rings += t->rank == NSC_NONE;
}

/* Three parts joined by arrows: children->rank->parent; up to 2.4 parent->rank->children. */
static bool tree_parts(nsc_text body, nsc_text *down, int64_t *up)
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
    return nsc_to_i64(parent_first ? left : right, up);
}

/* "[0] 2/-1/-1->0->-1", from 2.5 to 2.7 "[0] 2/-1/-1->0->-1|-1->0->2/-1/-1": one channel. False at the end, or where the text was cut. */
static bool next_tree(nsc_text *rest, int64_t *channel, nsc_text *down, int64_t *up)
{
    nsc_text head = nsc_next_word(rest), body = nsc_next_word(rest);
    const char *bar = body.len ? memchr(body.ptr, '|', body.len) : NULL;
    if (head.len < 3 || head.ptr[0] != '[' || head.ptr[head.len - 1] != ']')
        return false;
    if (bar)
        body.len = (size_t)(bar - body.ptr);
    return nsc_to_i64((nsc_text){head.ptr + 1, head.len - 2}, channel) && tree_parts(body, down, up);
}

static void trees(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text rest = get(rec, NCCLSCOPE_FIELD_TREES), down;
    uint32_t self = (uint32_t)(t - m->threads.item);
    int64_t channel, up;
    (void)proc;
    while (next_tree(&rest, &channel, &down, &up)) {
        struct nsc_key key = {t->rank, (uint64_t)channel, self};
        if (t->rank != NSC_NONE && nsc_map_get(&m->tree_by, key) != NSC_NONE)
            continue;
        struct nsc_tree *tree = nsc_vec_push(&m->trees);
        if (!tree || (t->rank != NSC_NONE && nsc_map_put(&m->tree_by, key, 0))) {
            m->no_memory = true;
            return;
        }
        *tree = (struct nsc_tree){
            .rank = t->rank, .thread = self, .channel = (uint64_t)channel, .up = up, .down = nsc_keep(m, down)};
        t->trees += t->rank == NSC_NONE;
    }
}

static void connected(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)proc;
    enum nsc_structure what = rec->kind == NCCLSCOPE_KIND_CONNECTED_RINGS      ? NSC_RINGS
                              : rec->kind == NCCLSCOPE_KIND_CONNECTED_TREES    ? NSC_TREES
                              : rec->kind == NCCLSCOPE_KIND_CONNECTED_BINOMIAL ? NSC_BINOMIAL
                              : rec->kind == NCCLSCOPE_KIND_CONNECTED_NVLS     ? NSC_NVLS_TREE
                                                                               : NSC_COLLNET_CHAIN;
    nsc_close_batches(m, t, t->rank, what);
}

/* ---- versions, environment ---- */

static void version(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_proc *p = &m->procs.item[proc];
    (void)t;
    p->starts = true;
    p->rccl = rec->kind == NCCLSCOPE_KIND_RCCL_VERSION;
    if (p->version)
        return;
    p->version = nsc_keep(m, get(rec, NCCLSCOPE_FIELD_VERSION));
    p->version_at = nsc_here(m, rec);
}

static void driver(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_proc *p = &m->procs.item[proc];
    int64_t v = number(rec, NCCLSCOPE_FIELD_DRIVER);
    (void)t;
    p->starts = true;
    if (v > 0)
        p->driver = (uint64_t)v;
}

static void set_env(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, bool by_plugin)
{
    nsc_text value = get(rec, NCCLSCOPE_FIELD_VALUE);
    nsc_str name = nsc_keep(m, get(rec, NCCLSCOPE_FIELD_NAME));
    struct nsc_key key = {proc, name, 0};
    uint32_t i = nsc_map_get(&m->env_by, key);
    if (i != NSC_NONE) {
        m->env.item[i].by_plugin = m->env.item[i].by_plugin || by_plugin;
        return;
    }
    if (value.len && value.ptr[value.len - 1] == '.') /* NCCL ends the line of a number with a full stop */
        value.len--;
    struct nsc_env *e = nsc_vec_push(&m->env);
    if (!e || nsc_map_put(&m->env_by, key, (uint32_t)(m->env.len - 1))) {
        m->no_memory = true;
        return;
    }
    *e = (struct nsc_env){.proc = proc, .name = name, .value = nsc_keep(m, value), .by_plugin = by_plugin};
    e->where = nsc_here(m, rec);
}

static void env_set(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)t;
    m->procs.item[proc].env_seen = true;
    set_env(m, rec, proc, false);
}

static void env_by_plugin(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)t;
    set_env(m, rec, proc, true);
}

/* ---- networks, plugins ---- */

static void network(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_str net = nsc_keep(m, get(rec, NCCLSCOPE_FIELD_NET));
    m->procs.item[proc].network = net;
    t->network = net;
    if (making(m, t))
        claim(m, t, t->rank);
}

static void add_device(struct ncclscope_model *m, uint32_t proc, const char *net, int64_t index, nsc_text name,
                       nsc_text port, nsc_text kind)
{
    nsc_str host = m->procs.item[proc].host, network_ = nsc_keep(m, nsc_text_of(net)), device = nsc_keep(m, name);
    struct nsc_key key = {(uint64_t)host << 32 | network_, (uint64_t)index, device};
    if (nsc_map_get(&m->device_by, key) != NSC_NONE)
        return;
    struct nsc_net_device *d = nsc_vec_push(&m->devices);
    if (!d || nsc_map_put(&m->device_by, key, 0)) {
        m->no_memory = true;
        return;
    }
    *d = (struct nsc_net_device){
        .host = host, .net = network_, .name = device, .kind = nsc_keep(m, kind), .index = index, .port = -1};
    nsc_to_i64(port, &d->port);
}

/* "[0]mlx5_0:1/IB" or "[0]eth0:192.0.2.2<0>" to its parts. */
static void one_device(struct ncclscope_model *m, uint32_t proc, const char *net, nsc_text word)
{
    int64_t index;
    const char *close = word.len ? memchr(word.ptr, ']', word.len) : NULL;
    if (!close || word.ptr[0] != '[' || !nsc_to_i64((nsc_text){word.ptr + 1, (size_t)(close - word.ptr) - 1}, &index))
        return;
    nsc_text rest = nsc_text_from(word, (size_t)(close - word.ptr) + 1), port = {NULL, 0}, kind = {NULL, 0},
             name = rest;
    const char *colon = rest.len ? memchr(rest.ptr, ':', rest.len) : NULL;
    if (!colon)
        return;
    name.len = (size_t)(colon - rest.ptr);
    rest = nsc_text_from(rest, name.len + 1);
    const char *slash = rest.len ? memrchr(rest.ptr, '/', rest.len) : NULL;
    if (slash) {
        kind = nsc_text_from(rest, (size_t)(slash - rest.ptr) + 1);
        port = (nsc_text){rest.ptr, (size_t)(slash - rest.ptr)};
        const char *rail = memchr(port.ptr, ':', port.len);
        port.len = rail ? (size_t)(rail - port.ptr) : port.len;
    }
    add_device(m, proc, net, index, name, port, kind);
}

static void devices(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text rest = get(rec, NCCLSCOPE_FIELD_DEVICES), word;
    (void)t;
    while ((word = nsc_next_word(&rest)).len)
        one_device(m, proc, rec->kind == NCCLSCOPE_KIND_IB_USING ? "IB" : "Socket", word);
}

static struct nsc_plugin *plugin(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                                 const char *kind, nsc_text name, nsc_text file, const char *state)
{
    nsc_str k = nsc_keep(m, nsc_text_of(kind)), s = nsc_keep(m, nsc_text_of(state)), n = nsc_keep(m, name),
            f = nsc_keep(m, file);
    struct nsc_key key = {(uint64_t)k << 32 | s, n, f};
    uint32_t i = nsc_map_get(&m->plugin_by, key);
    if (i == NSC_NONE) {
        struct nsc_plugin *p = nsc_vec_push(&m->plugins);
        i = (uint32_t)(m->plugins.len - 1);
        if (!p || nsc_map_put(&m->plugin_by, key, i)) {
            m->no_memory = true;
            return NULL;
        }
        *p = (struct nsc_plugin){.kind = k, .name = n, .file = f, .state = s, .last_proc = NSC_NONE};
        p->where = nsc_here(m, rec);
    }
    struct nsc_plugin *p = &m->plugins.item[i];
    p->procs += p->last_proc != proc;
    p->last_proc = proc;
    return p;
}

/* "libnccl-tuner.so libnccl-net.so. Using internal tuner plugin.": the names alone. */
static nsc_text file_names(nsc_text text)
{
    ptrdiff_t end = nsc_text_find(text, ". ");
    if (end >= 0)
        text.len = (size_t)end;
    while (text.len && (text.ptr[text.len - 1] == '.' || text.ptr[text.len - 1] == ' '))
        text.len--;
    return nsc_text_trim(text);
}

static void plugin_missing(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text file = file_names(get(rec, NCCLSCOPE_FIELD_FILE)), none = {NULL, 0};
    (void)t;
    plugin(m, rec, proc, "net", none, file.len ? file : NSC_TEXT("libnccl-net.so"), "missing");
    nsc_event_at(m, rec, proc, 0, file);
}

static void other_plugin_missing(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                                 struct nsc_thread *t)
{
    static const struct {
        const char *head, *kind;
    } kinds[] = {{"TUNER", "tuner"}, {"PROFILER", "profiler"}, {"ENV", "env"}, {"GIN", "gin"}, {"RMA", "rma"}};
    nsc_text none = {NULL, 0};
    (void)t;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (nsc_text_starts(rec->message, kinds[i].head))
            plugin(m, rec, proc, kinds[i].kind, none, file_names(get(rec, NCCLSCOPE_FIELD_FILE)), "missing");
}

static void plugin_loaded(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text none = {NULL, 0};
    (void)t;
    plugin(m, rec, proc, "net", get(rec, NCCLSCOPE_FIELD_NET), none, "loaded");
    nsc_event_at(m, rec, proc, 0, get(rec, NCCLSCOPE_FIELD_NET));
}

static void plugin_opened(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text none = {NULL, 0};
    (void)t;
    plugin(m, rec, proc, "net", none, get(rec, NCCLSCOPE_FIELD_FILE), "loaded");
}

static void tuner(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text none = {NULL, 0};
    (void)t;
    plugin(m, rec, proc, "tuner", get(rec, NCCLSCOPE_FIELD_NAME), none, "loaded");
}

static void ofi_version(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text none = {NULL, 0};
    char version_[120] = "aws-ofi-nccl ";
    nsc_text v = get(rec, NCCLSCOPE_FIELD_VERSION);
    (void)t;
    struct nsc_plugin *p = plugin(m, rec, proc, "net", NSC_TEXT("aws-ofi-nccl"), none, "loaded");
    if (!p || !v.ptr || v.len > 100)
        return;
    memcpy(version_ + 13, v.ptr, v.len);
    p->version = nsc_keep(m, (nsc_text){version_, 13 + v.len});
}

static void ofi_platform(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_proc *p = &m->procs.item[proc];
    (void)t;
    p->platform = nsc_keep(m, get(rec, NCCLSCOPE_FIELD_PLATFORM));
    if (!p->platform_at.line)
        p->platform_at = nsc_here(m, rec);
}

static void bootstrap(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_proc *p = &m->procs.item[proc];
    nsc_text addr = get(rec, NCCLSCOPE_FIELD_ADDR);
    const char *end = addr.len ? memchr(addr.ptr, '<', addr.len) : NULL;
    (void)t;
    p->starts = true;
    if (p->bootstrap_if)
        return;
    if (end)
        addr.len = (size_t)(end - addr.ptr);
    p->bootstrap_if = nsc_keep(m, get(rec, NCCLSCOPE_FIELD_IFNAME));
    p->bootstrap_addr = nsc_keep(m, addr);
    p->bootstrap_at = nsc_here(m, rec);
}

/* ---- topology ---- */

static nsc_str path_end(struct ncclscope_model *m, nsc_text id)
{
    char low[32];
    const char *dash = id.len ? memchr(id.ptr, '-', id.len) : NULL;
    if (dash)
        id = nsc_text_from(id, (size_t)(dash - id.ptr) + 1);
    if (id.len >= sizeof low)
        return 0;
    for (size_t i = 0; i < id.len; i++)
        low[i] = (char)(id.ptr[i] >= 'A' && id.ptr[i] <= 'F' ? id.ptr[i] + 32 : id.ptr[i]);
    return nsc_keep(m, (nsc_text){low, id.len});
}

static void add_path(struct ncclscope_model *m, const ncclscope_record *rec, nsc_str host, nsc_str a, nsc_str b,
                     nsc_text type)
{
    struct nsc_key key = {host, a, b};
    if (!a || !b || nsc_map_get(&m->path_by, key) != NSC_NONE)
        return;
    struct nsc_gpu_path *p = nsc_vec_push(&m->gpu_paths);
    if (!p || nsc_map_put(&m->path_by, key, (uint32_t)(m->gpu_paths.len - 1))) {
        m->no_memory = true;
        return;
    }
    *p = (struct nsc_gpu_path){.host = host, .a = a, .b = b, .type = nsc_keep(m, type)};
    p->where = nsc_here(m, rec);
}

/* GPU/0-60 :GPU/0-60 (0/5000.0/LOC) GPU/0-70 (2/370.8/NVL) ... */
static void topo_paths(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text node = get(rec, NCCLSCOPE_FIELD_NODE), rest = get(rec, NCCLSCOPE_FIELD_PATHS);
    (void)t;
    m->procs.item[proc].graph_seen = true;
    if (!nsc_text_starts(node, "GPU/"))
        return;
    nsc_str a = path_end(m, nsc_text_from(node, 4)), host = m->procs.item[proc].host;
    for (;;) {
        nsc_text to = nsc_next_word(&rest), path = nsc_next_word(&rest);
        const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
        if (!slash || path.ptr[path.len - 1] != ')')
            return;
        nsc_text type = {slash + 1, (size_t)(path.ptr + path.len - slash) - 2};
        if (nsc_text_starts(to, "GPU/"))
            add_path(m, rec, host, a, path_end(m, nsc_text_from(to, 4)), type);
    }
}

static void graph_seen(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)rec;
    (void)t;
    m->procs.item[proc].graph_seen = true;
}

/* ---- statements that rules look for ---- */

static void event_of(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    static const ncclscope_field texts[] = {NCCLSCOPE_FIELD_NET,  NCCLSCOPE_FIELD_PEER,    NCCLSCOPE_FIELD_PROVIDER,
                                            NCCLSCOPE_FIELD_FILE, NCCLSCOPE_FIELD_SRC_DEV, NCCLSCOPE_FIELD_REASON};
    static const ncclscope_field numbers[] = {NCCLSCOPE_FIELD_LOCAL_RANK, NCCLSCOPE_FIELD_SIZE, NCCLSCOPE_FIELD_NICS,
                                              NCCLSCOPE_FIELD_RESULT};
    nsc_text text = {NULL, 0};
    int64_t n = -1;
    (void)t;
    for (size_t i = 0; !text.len && i < sizeof texts / sizeof texts[0]; i++)
        text = get(rec, texts[i]);
    for (size_t i = 0; n < 0 && i < sizeof numbers / sizeof numbers[0]; i++)
        n = number(rec, numbers[i]);
    nsc_event_at(m, rec, proc, n, text);
}

static void closing(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)t;
    if (!m->procs.item[proc].closing_at.line)
        m->procs.item[proc].closing_at = nsc_here(m, rec);
}

static effect *const effects[] = {
    [NCCLSCOPE_KIND_INIT_START] = init_start,
    [NCCLSCOPE_KIND_INIT_COMPLETE] = init_complete,
    [NCCLSCOPE_KIND_COMM_SHAPE] = comm_shape,
    [NCCLSCOPE_KIND_DESTROYED] = ended,
    [NCCLSCOPE_KIND_ABORTED] = ended,
    [NCCLSCOPE_KIND_INIT_TIMINGS] = init_timings,
    [NCCLSCOPE_KIND_CHANNEL_COUNTS] = channel_counts,
    [NCCLSCOPE_KIND_P2P_CHUNKSIZE] = chunk_size,
    [NCCLSCOPE_KIND_P2P_TYPE] = p2p_type,
    [NCCLSCOPE_KIND_GRAPH_PATTERN] = graph_pattern,
    [NCCLSCOPE_KIND_RING] = ring,
    [NCCLSCOPE_KIND_TREES] = trees,
    [NCCLSCOPE_KIND_CONNECTED_RINGS] = connected,
    [NCCLSCOPE_KIND_CONNECTED_TREES] = connected,
    [NCCLSCOPE_KIND_CONNECTED_BINOMIAL] = connected,
    [NCCLSCOPE_KIND_CONNECTED_NVLS] = connected,
    [NCCLSCOPE_KIND_CONNECTED_COLLNET] = connected,
    [NCCLSCOPE_KIND_NCCL_VERSION] = version,
    [NCCLSCOPE_KIND_RCCL_VERSION] = version,
    [NCCLSCOPE_KIND_CUDA_DRIVER] = driver,
    [NCCLSCOPE_KIND_ENV_SET] = env_set,
    [NCCLSCOPE_KIND_ENV_SET_TO] = env_set,
    [NCCLSCOPE_KIND_CONFIG_RESET] = env_set,
    [NCCLSCOPE_KIND_OFI_ENV] = env_by_plugin,
    [NCCLSCOPE_KIND_NET_USING] = network,
    [NCCLSCOPE_KIND_IB_USING] = devices,
    [NCCLSCOPE_KIND_SOCKET_USING] = devices,
    [NCCLSCOPE_KIND_PLUGIN_MISSING] = plugin_missing,
    [NCCLSCOPE_KIND_OTHER_PLUGIN_MISSING] = other_plugin_missing,
    [NCCLSCOPE_KIND_PLUGIN_LOADED] = plugin_loaded,
    [NCCLSCOPE_KIND_PLUGIN_OPENED] = plugin_opened,
    [NCCLSCOPE_KIND_PLUGIN_PATH] = plugin_opened,
    [NCCLSCOPE_KIND_PLUGIN_P2P] = plugin_loaded,
    [NCCLSCOPE_KIND_TUNER_USING] = tuner,
    [NCCLSCOPE_KIND_OFI_VERSION] = ofi_version,
    [NCCLSCOPE_KIND_OFI_PLATFORM] = ofi_platform,
    [NCCLSCOPE_KIND_BOOTSTRAP_USING] = bootstrap,
    [NCCLSCOPE_KIND_TOPO_PATHS] = topo_paths,
    [NCCLSCOPE_KIND_SYSTEM] = graph_seen,
    [NCCLSCOPE_KIND_ENV_CLOSING] = closing,
    [NCCLSCOPE_KIND_NET_INITIALIZED] = event_of,
    [NCCLSCOPE_KIND_NET_FAILED] = event_of,
    [NCCLSCOPE_KIND_NET_NONE] = event_of,
    [NCCLSCOPE_KIND_NET_NOT_FOUND] = event_of,
    [NCCLSCOPE_KIND_PLUGIN_NAMED] = event_of,
    [NCCLSCOPE_KIND_PLUGIN_LOAD_ERROR] = event_of,
    [NCCLSCOPE_KIND_IB_NONE] = event_of,
    [NCCLSCOPE_KIND_OFI_PROVIDER] = event_of,
    [NCCLSCOPE_KIND_OFI_NO_PROVIDER] = event_of,
    [NCCLSCOPE_KIND_OFI_FAILED] = event_of,
    [NCCLSCOPE_KIND_NVLS_YES] = event_of,
    [NCCLSCOPE_KIND_MNNVL_ON] = event_of,
    [NCCLSCOPE_KIND_P2P_REFUSED] = event_of,
    [NCCLSCOPE_KIND_P2P_QUERY_FAILED] = event_of,
    [NCCLSCOPE_KIND_P2P_DRIVER_OFF] = event_of,
    [NCCLSCOPE_KIND_P2P_NVLINK_OFF] = event_of,
    [NCCLSCOPE_KIND_LEGACY_IPC_NO] = event_of,
    [NCCLSCOPE_KIND_SHM_SEGMENT] = event_of,
    [NCCLSCOPE_KIND_SHM_EXTEND] = event_of,
    [NCCLSCOPE_KIND_PEER_CLOSED] = event_of,
    [NCCLSCOPE_KIND_REMOTE_CLOSED] = event_of,
    [NCCLSCOPE_KIND_SOCKET_FAILED] = event_of,
    [NCCLSCOPE_KIND_CONNECT_FAILED] = event_of,
    [NCCLSCOPE_KIND_NO_INTERFACE] = event_of,
    [NCCLSCOPE_KIND_BACKTRACE] = event_of,
};

/* A WARN's text with its numbers, addresses and paths made alike. */
static void warning(struct ncclscope_model *m, const ncclscope_record *rec)
{
    char shape[200];
    size_t n = 0;
    nsc_text t = rec->message;
    for (size_t i = 0; i < t.len && n + 8 < sizeof shape; i++) {
        bool word_begins =
            !i || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", t.ptr[i - 1]);
        if (t.ptr[i] == '/' && (!i || t.ptr[i - 1] == ' ')) {
            memcpy(shape + n, "{path}", 6);
            n += 6;
            while (i + 1 < t.len && t.ptr[i + 1] != ' ' && t.ptr[i + 1] != ',')
                i++;
        } else if (nsc_is_digit(t.ptr[i]) && word_begins) {
            memcpy(shape + n, "{n}", 3);
            n += 3;
            while (i + 1 < t.len && (nsc_is_digit(t.ptr[i + 1]) || (t.ptr[i + 1] && strchr("abcdefx.:", t.ptr[i + 1]))))
                i++;
        } else {
            shape[n++] = t.ptr[i];
        }
    }
    nsc_str s = nsc_keep(m, (nsc_text){shape, n});
    struct nsc_key key = {s, 0, 0};
    uint32_t i = nsc_map_get(&m->warning_by, key);
    if (i != NSC_NONE) {
        m->warnings.item[i].lines++;
        return;
    }
    struct nsc_warning *w = nsc_vec_push(&m->warnings);
    if (!w || nsc_map_put(&m->warning_by, key, (uint32_t)(m->warnings.len - 1))) {
        m->no_memory = true;
        return;
    }
    *w = (struct nsc_warning){.shape = s, .lines = 1, .where = nsc_here(m, rec)};
}

void nsc_apply(struct ncclscope_model *m, const ncclscope_record *rec)
{
    if (rec->level == NCCLSCOPE_LEVEL_OTHER) {
        nsc_apply_other(m, rec);
        return;
    }
    uint32_t proc = nsc_proc_of(m, rec);
    if (rec->level == NCCLSCOPE_LEVEL_WARN &&
        (rec->kind != NCCLSCOPE_KIND_UNKNOWN || !(rec->flags & NCCLSCOPE_FLAG_TORN)))
        warning(m, rec);
    if (proc != NSC_NONE)
        m->procs.item[proc].last_line = rec->line;
    if (rec->via) {
        nsc_apply_connect(m, rec, proc);
        return;
    }
    if (rec->level == NCCLSCOPE_LEVEL_VERSION)
        nsc_bare_version(m, rec);
    size_t k = (size_t)rec->kind;
    if (proc == NSC_NONE || k >= sizeof effects / sizeof effects[0] || !effects[k])
        return;
    struct nsc_thread *t = nsc_thread_of(m, proc, rec->tid);
    if (t)
        effects[k](m, rec, proc, t);
}
