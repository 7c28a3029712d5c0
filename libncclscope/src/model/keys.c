/* keys.c - the containers of the model, and the keys that find things in them. */
#include "model/version.h"
#include "model/scratch.h"

#include <stdio.h>

int64_t nsc_number(const ncclscope_record *rec, ncclscope_field f)
{
    int64_t v;
    return nsc_to_i64(nsc_record_field(rec, f), &v) ? v : -1;
}

int64_t nsc_int(const ncclscope_record *rec, ncclscope_field f)
{
    int64_t v = nsc_number(rec, f);
    return v <= INT32_MAX ? v : -1;
}

void nsc_set_if_said(int64_t *to, int64_t v)
{
    if (v >= 0)
        *to = v;
}

struct nsc_key nsc_plugin_key(const struct nsc_plugin *p)
{
    return (struct nsc_key){(uint64_t)p->kind << 32 | p->state, p->name, p->named};
}

struct nsc_key nsc_device_key(const struct nsc_net_device *d)
{
    return (struct nsc_key){(uint64_t)d->host << 32 | d->net, (uint64_t)d->index, d->name};
}

struct nsc_key nsc_call_key(const struct nsc_rank *r, uint64_t op)
{
    return (struct nsc_key){r->comm_id, op, (uint64_t)r->nranks};
}

nsc_text nsc_say(const struct ncclscope_model *m, nsc_str s)
{
    return nsc_interned(&m->strings, s);
}

struct nsc_place nsc_place_of(const struct ncclscope_model *m, const struct nsc_where *w)
{
    enum { SHOWN = 100 };
    struct nsc_place p;
    nsc_text name = {NULL, 0};
    if (m->sources.len > 1 && w->source < m->sources.len)
        name = nsc_text_upto(nsc_base_name(nsc_say(m, m->sources.item[w->source].name)), SHOWN);
    snprintf(p.words, sizeof p.words, name.len ? "line %llu of %.*s" : "line %llu", (unsigned long long)w->line,
             (int)name.len, name.ptr);
    return p;
}

nsc_str nsc_keep(struct ncclscope_model *m, nsc_text text)
{
    nsc_str s = nsc_intern(&m->strings, text);
    m->no_memory = m->no_memory || (text.len && !s);
    return s;
}

const char *nsc_state_name(int state)
{
    return ncclscope_word_of("comm_state", state);
}

/* A line may hold several records (pasted without line ends), or much before one: then from its own header to its own end. */
static nsc_text own_part(const ncclscope_record *rec)
{
    nsc_text line = nsc_text_trim_end(rec->physical), message = rec->message;
    const char *end = message.ptr + message.len;
    bool within = message.ptr >= line.ptr && end <= line.ptr + line.len,
         header = rec->host.len && rec->host.ptr >= line.ptr && rec->host.ptr <= message.ptr;
    bool alone = within && nsc_text_find(nsc_text_from(line, (size_t)(end - line.ptr)), " NCCL ") < 0;
    if (!within || (alone && (size_t)(end - line.ptr) <= NSC_QUOTE))
        return rec->physical;
    const char *start = header ? rec->host.ptr : message.ptr;
    return alone ? nsc_text_from(line, (size_t)(start - line.ptr)) : (nsc_text){start, (size_t)(end - start)};
}

struct nsc_where nsc_at(const struct ncclscope_model *m, const ncclscope_record *rec)
{
    nsc_text text = rec->flags & NCCLSCOPE_FLAG_JOINED ? rec->message : own_part(rec);
    if (text.len > NSC_QUOTE)
        text.len = NSC_QUOTE;
    return (struct nsc_where){m->scratch->streams.item[m->scratch->at].source, rec->line, text};
}

struct nsc_where nsc_here(struct ncclscope_model *m, const ncclscope_record *rec)
{
    struct nsc_where w = nsc_at(m, rec);
    w.text = nsc_arena_copy(&m->arena, w.text);
    return w;
}

/* A process is a host, a pid, and the stream it was read from: pods may share host names, and hosts pids. join.c puts together
 * what two sources hold of one process. */
static uint32_t find_proc(struct ncclscope_model *m, const ncclscope_record *rec)
{
    uint32_t source = nsc_stream_of(m)->source;
    nsc_str host = nsc_keep(m, rec->host), pod = nsc_keep(m, rec->pod);
    struct nsc_key key = {(uint64_t)source << 32 | host, (uint64_t)rec->pid, pod};
    uint32_t i = nsc_map_get(&m->scratch->proc_by, key);
    if (i != NSC_NONE)
        return i;
    struct nsc_proc *p = nsc_vec_push(&m->procs);
    if (!p || nsc_map_put(&m->scratch->proc_by, key, (uint32_t)(m->procs.len - 1))) {
        m->no_memory = true;
        return NSC_NONE;
    }
    p->host = host;
    p->pod = pod;
    p->container = nsc_keep(m, rec->container);
    p->source = source;
    p->merged_into = p->last_thread = p->last_rank = p->first_rank = p->plugin = p->in_pod = NSC_NONE;
    p->last_text = NSC_NONE;
    p->version_high = NSC_VERSION_OPEN;
    p->pid = rec->pid;
    p->nameless = rec->pid < 0;
    p->launcher_rank = p->nameless ? -1 : rec->launcher_rank;
    p->first = nsc_here(m, rec);
    return (uint32_t)(m->procs.len - 1);
}

uint32_t nsc_proc_of(struct ncclscope_model *m, const ncclscope_record *rec)
{
    if (rec->flags & (NCCLSCOPE_FLAG_STRIPPED | NCCLSCOPE_FLAG_QUOTED))
        return find_proc(m, rec);
    if (!(rec->flags & NCCLSCOPE_FLAG_HEADER))
        return NSC_NONE;
    struct nsc_recent *x = &m->scratch->recent[(uint64_t)rec->pid % NSC_RECENT];
    bool is_it = x->len && x->pid == rec->pid && x->len == rec->host.len && x->source == nsc_stream_of(m)->source &&
                 !rec->pod.len;
    if (is_it && !memcmp(x->host, rec->host.ptr, x->len))
        return x->proc;
    uint32_t proc = find_proc(m, rec);
    if (proc != NSC_NONE && !rec->pod.len && rec->host.len <= NSC_RECENT_HOST) {
        *x = (struct nsc_recent){
            .pid = rec->pid, .proc = proc, .source = nsc_stream_of(m)->source, .len = rec->host.len};
        memcpy(x->host, rec->host.ptr, x->len);
    }
    return proc;
}

static void join_stream(struct ncclscope_model *m, uint32_t thread)
{
    struct nsc_stream *s = nsc_stream_of(m);
    *(s->last_thread == NSC_NONE ? &s->first_thread : &m->threads.item[s->last_thread].next_in_stream) = thread;
    s->last_thread = thread;
}

/* The one that stands for the rest has a key of its own. */
struct nsc_key nsc_thread_key(const struct nsc_thread *t)
{
    return (struct nsc_key){t->proc, t->stands_for_rest ? 0 : (uint64_t)t->tid, t->stands_for_rest};
}

struct nsc_thread *nsc_thread_of(struct ncclscope_model *m, uint32_t proc, int64_t tid)
{
    struct nsc_thread new = {.proc = proc, .tid = tid};
    uint32_t i = nsc_map_get(&m->thread_by, nsc_thread_key(&new));
    if (i == NSC_NONE && m->procs.item[proc].threads >= NSC_THREADS) {
        new.stands_for_rest = true;
        i = nsc_map_get(&m->thread_by, nsc_thread_key(&new));
    }
    if (i != NSC_NONE)
        return &m->threads.item[i];
    m->procs.item[proc].threads++;
    struct nsc_thread *t = nsc_vec_push(&m->threads);
    if (!t || nsc_map_put(&m->thread_by, nsc_thread_key(&new), (uint32_t)(m->threads.len - 1))) {
        m->no_memory = true;
        return NULL;
    }
    *t = new;
    t->before = m->procs.item[proc].last_thread;
    t->next_in_stream = NSC_NONE;
    m->procs.item[proc].last_thread = (uint32_t)(m->threads.len - 1);
    join_stream(m, (uint32_t)(m->threads.len - 1));
    t->rank = t->made = t->warned = t->warned_of = NSC_NONE;
    t->coll = t->collnet = t->nvls = t->p2p = t->per_peer = t->chunk = t->direct = t->in_tree = -1;
    return t;
}

uint32_t nsc_rank_of(struct ncclscope_model *m, uint32_t proc, uint64_t pointer)
{
    return nsc_map_get(&m->scratch->rank_by, (struct nsc_key){proc, pointer, 0});
}

void nsc_chain_rank(struct ncclscope_model *m, uint32_t rank)
{
    struct nsc_rank *r = &m->ranks.item[rank];
    struct nsc_proc *p = &m->procs.item[r->proc];
    struct nsc_key use = {r->proc, r->pointer, 0};
    r->before = p->last_rank;
    r->after = NSC_NONE;
    *(r->before == NSC_NONE ? &p->first_rank : &m->ranks.item[r->before].after) = rank;
    p->last_rank = rank;
    r->used_before = nsc_map_get(&m->scratch->use_by, use);
    if (nsc_map_put(&m->scratch->rank_by, use, rank) || nsc_map_put(&m->scratch->use_by, use, rank))
        m->no_memory = true;
}

uint32_t nsc_rank_new(struct ncclscope_model *m, uint32_t proc, uint64_t pointer, int64_t tid, struct nsc_where first)
{
    uint32_t before = nsc_rank_of(m, proc, pointer), i = (uint32_t)m->ranks.len;
    struct nsc_rank *r = nsc_vec_push(&m->ranks);
    if (!r) {
        m->no_memory = true;
        return NSC_NONE;
    }
    r->proc = proc;
    r->pointer = pointer;
    nsc_chain_rank(m, i);
    if (m->no_memory)
        return NSC_NONE;
    r->comm = r->parent = NSC_NONE;
    r->reuse = before == NSC_NONE ? 0 : m->ranks.item[before].reuse + 1;
    r->tid = tid;
    r->rank = r->nranks = r->cuda_dev = r->nvml_dev = r->split = r->key = -1;
    r->nnodes = r->local_ranks = r->local_rank = r->mnnvl = -1;
    r->coll = r->collnet = r->nvls = r->p2p = r->per_peer = r->chunk = r->direct = -1;
    r->init_seconds = r->kernel_seconds = -1;
    r->first = first;
    return i;
}

/* Without headers: somebody quotes a warning above the log, and leaves out the source file that the log's own line names. */
static bool is_told_better(const struct nsc_proc *p, const struct nsc_event *e, const ncclscope_record *rec)
{
    static const char *const ends[] = {".cc:", ".cu:", ".cuh:", ".h:", ".hpp:", ".cpp:", ".c:", NULL};
    return p->nameless && rec->location.len && !nsc_text_has_any(e->where.text, ends);
}

struct nsc_event *nsc_event_at(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, int64_t number,
                               nsc_text text)
{
    enum { MOST = 1024 }; /* a flood of WARNs that are all different is told by kind alone */
    bool flood = m->procs.item[proc].events >= MOST;
    nsc_str s = flood ? 0 : nsc_keep(m, text);
    number = flood ? -1 : number;
    struct nsc_key key = {(uint64_t)rec->kind << 32 | proc, (uint64_t)number, (uint64_t)s << 8 | (uint64_t)rec->level};
    uint32_t i = nsc_map_get(&m->scratch->event_by, key);
    uint64_t dev = rec->dev >= 0 && rec->dev < 64 ? (uint64_t)1 << rec->dev : 0;
    if (i != NSC_NONE) {
        m->events.item[i].count++;
        m->events.item[i].devs |= dev;
        m->events.item[i].quoted |= (rec->flags & NCCLSCOPE_FLAG_QUOTED) != 0;
        if (is_told_better(&m->procs.item[proc], &m->events.item[i], rec))
            m->events.item[i].where = nsc_here(m, rec);
        m->scratch->last_event = i;
        return &m->events.item[i];
    }
    struct nsc_event *e = nsc_vec_push(&m->events);
    if (!e || nsc_map_put(&m->scratch->event_by, key, (uint32_t)(m->events.len - 1))) {
        m->no_memory = true;
        return NULL;
    }
    *e = (struct nsc_event){
        .kind = rec->kind, .proc = proc, .number = number, .text = s, .count = 1, .level = rec->level};
    e->quoted = rec->flags & NCCLSCOPE_FLAG_QUOTED;
    e->dev = rec->dev;
    e->devs = dev;
    e->nth = m->procs.item[proc].records;
    e->where = nsc_here(m, rec);
    e->time = rec->time.len ? nsc_keep(m, rec->time) : 0;
    m->procs.item[proc].events++;
    m->scratch->last_event = (uint32_t)(m->events.len - 1);
    return e;
}

const struct nsc_env *nsc_env_of(const struct ncclscope_model *m, uint32_t proc, const char *name)
{
    nsc_str s = nsc_intern_find(&m->strings, nsc_text_of(name));
    if (proc != NSC_NONE) {
        uint32_t i = s ? nsc_map_get(&m->env_by, (struct nsc_key){proc, s, 0}) : NSC_NONE;
        return i == NSC_NONE ? NULL : &m->env.item[i];
    }
    for (size_t i = 0; s && i < m->env.len; i++)
        if (m->env.item[i].name == s)
            return &m->env.item[i];
    return NULL;
}

size_t nsc_links_of(const struct ncclscope_model *m, uint32_t comm)
{
    size_t low = 0, high = m->link_order.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (nsc_comm_of(m, &m->links.item[m->link_order.item[mid]]) < comm)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool nsc_any_unowned(const struct ncclscope_model *m)
{
    return nsc_links_of(m, NSC_NONE) < m->link_order.len;
}

size_t nsc_events_of(const struct ncclscope_model *m, uint32_t proc)
{
    size_t low = 0, high = m->event_order.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (m->events.item[m->event_order.item[mid]].proc < proc)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct nsc_rank *nsc_member(const struct ncclscope_model *m, uint32_t comm, int64_t rank)
{
    if (comm == NSC_NONE)
        return NULL;
    const struct nsc_comm *c = &m->comms.item[comm];
    uint32_t low = c->first, high = c->first + c->count;
    while (low < high) { /* members lie in rank order */
        uint32_t mid = low + (high - low) / 2;
        if (m->ranks.item[m->members.item[mid]].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    bool there = low < c->first + c->count && m->ranks.item[m->members.item[low]].rank == rank;
    return there ? &m->ranks.item[m->members.item[low]] : NULL;
}
