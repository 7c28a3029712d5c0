/* model.c - the containers of the model and the keys that find things in them. */
#include "model/version.h"

#include "ncclscope/model.h"

#include <assert.h>

nsc_text nsc_say(const struct ncclscope_model *m, nsc_str s)
{
    return nsc_interned(&m->strings, s);
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

struct nsc_where nsc_at(const struct ncclscope_model *m, const ncclscope_record *rec)
{
    nsc_text text = rec->flags & NCCLSCOPE_FLAG_JOINED ? rec->message : rec->physical;
    if (text.len > NSC_QUOTE)
        text.len = NSC_QUOTE;
    return (struct nsc_where){m->streams.item[m->at].source, rec->line, text};
}

struct nsc_where nsc_here(struct ncclscope_model *m, const ncclscope_record *rec)
{
    struct nsc_where w = nsc_at(m, rec);
    w.text = nsc_arena_copy(&m->arena, w.text);
    return w;
}

int ncclscope_model_new(ncclscope_model **out, ncclscope_error *err)
{
    *out = nsc_alloc(sizeof **out);
    if (!*out)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    (*out)->at = (*out)->alone = (*out)->whole.done = NSC_NONE;
    return NCCLSCOPE_OK;
}

void ncclscope_model_free(ncclscope_model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->threads.len; i++) {
        nsc_vec_free(&m->threads.item[i].waiting);
        nsc_map_free(&m->threads.item[i].waiting_by);
        nsc_arena_free(&m->threads.item[i].quotes);
    }
    for (size_t i = 0; i < m->procs.len; i++)
        nsc_vec_free(&m->procs.item[i].texts);
#define FREE(name) nsc_vec_free(&m->name);
    NSC_MODEL_VECTORS(FREE)
#undef FREE
#define FREE(name) nsc_map_free(&m->name);
    NSC_MODEL_MAPS(FREE)
#undef FREE
    nsc_rows_free(&m->rows);
    nsc_intern_free(&m->strings);
    nsc_arena_free(&m->arena);
    nsc_free(m);
}

/* A process is a host, a pid, and the stream it was read from: pods may share host names, and hosts pids. join.c puts together
 * what two sources hold of one process. */
static uint32_t find_proc(struct ncclscope_model *m, const ncclscope_record *rec)
{
    uint32_t source = nsc_stream_of(m)->source;
    nsc_str host = nsc_keep(m, rec->host), pod = nsc_keep(m, rec->pod);
    struct nsc_key key = {(uint64_t)source << 32 | host, (uint64_t)rec->pid, pod};
    uint32_t i = nsc_map_get(&m->proc_by, key);
    if (i != NSC_NONE)
        return i;
    struct nsc_proc *p = nsc_vec_push(&m->procs);
    if (!p || nsc_map_put(&m->proc_by, key, (uint32_t)(m->procs.len - 1))) {
        m->no_memory = true;
        return NSC_NONE;
    }
    p->host = host;
    p->pod = pod;
    p->container = nsc_keep(m, rec->container);
    p->source = source;
    p->merged_into = p->last_thread = p->last_rank = p->first_rank = p->plugin = p->in_pod = NSC_NONE;
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
    struct nsc_recent *x = &m->recent[(uint64_t)rec->pid % NSC_RECENT];
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

struct nsc_thread *nsc_thread_of(struct ncclscope_model *m, uint32_t proc, int64_t tid)
{
    struct nsc_key key = {proc, (uint64_t)tid, 0};
    uint32_t i = nsc_map_get(&m->thread_by, key);
    bool flood = i == NSC_NONE && m->procs.item[proc].threads >= NSC_THREADS;
    if (flood) {
        key = (struct nsc_key){proc, 0, 1};
        i = nsc_map_get(&m->thread_by, key);
    }
    if (i != NSC_NONE)
        return &m->threads.item[i];
    m->procs.item[proc].threads++;
    struct nsc_thread *t = nsc_vec_push(&m->threads);
    if (!t || nsc_map_put(&m->thread_by, key, (uint32_t)(m->threads.len - 1))) {
        m->no_memory = true;
        return NULL;
    }
    t->proc = proc;
    t->before = m->procs.item[proc].last_thread;
    t->next_in_stream = NSC_NONE;
    m->procs.item[proc].last_thread = (uint32_t)(m->threads.len - 1);
    join_stream(m, (uint32_t)(m->threads.len - 1));
    t->tid = tid;
    t->stands_for_rest = flood;
    t->rank = t->made = t->warned = t->warned_of = NSC_NONE;
    t->coll = t->collnet = t->nvls = t->p2p = t->per_peer = t->chunk = t->direct = t->in_tree = -1;
    return t;
}

uint32_t nsc_rank_of(struct ncclscope_model *m, uint32_t proc, uint64_t pointer)
{
    return nsc_map_get(&m->rank_by, (struct nsc_key){proc, pointer, 0});
}

uint32_t nsc_rank_new(struct ncclscope_model *m, uint32_t proc, uint64_t pointer, int64_t tid, struct nsc_where first)
{
    uint32_t before = nsc_rank_of(m, proc, pointer), i = (uint32_t)m->ranks.len;
    struct nsc_rank *r = nsc_vec_push(&m->ranks);
    struct nsc_key use = {proc, pointer, 0};
    uint32_t used_before = nsc_map_get(&m->use_by, use);
    if (!r || nsc_map_put(&m->rank_by, use, i) || nsc_map_put(&m->use_by, use, i)) {
        m->no_memory = true;
        return NSC_NONE;
    }
    r->proc = proc;
    r->before = m->procs.item[proc].last_rank;
    r->used_before = used_before;
    r->after = NSC_NONE;
    *(r->before == NSC_NONE ? &m->procs.item[proc].first_rank : &m->ranks.item[r->before].after) = i;
    m->procs.item[proc].last_rank = i;
    r->pointer = pointer;
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

struct nsc_event *nsc_event_at(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, int64_t number,
                               nsc_text text)
{
    enum { MOST = 1024 }; /* a flood of WARNs that are all different is told by kind alone */
    bool flood = m->procs.item[proc].events >= MOST;
    nsc_str s = flood ? 0 : nsc_keep(m, text);
    number = flood ? -1 : number;
    struct nsc_key key = {(uint64_t)rec->kind << 32 | proc, (uint64_t)number, (uint64_t)s << 8 | (uint64_t)rec->level};
    uint32_t i = nsc_map_get(&m->event_by, key);
    if (i != NSC_NONE) {
        m->events.item[i].count++;
        m->events.item[i].quoted |= (rec->flags & NCCLSCOPE_FLAG_QUOTED) != 0;
        m->last_event = i;
        return &m->events.item[i];
    }
    struct nsc_event *e = nsc_vec_push(&m->events);
    if (!e || nsc_map_put(&m->event_by, key, (uint32_t)(m->events.len - 1))) {
        m->no_memory = true;
        return NULL;
    }
    *e = (struct nsc_event){
        .kind = rec->kind, .proc = proc, .number = number, .text = s, .count = 1, .level = rec->level};
    e->quoted = rec->flags & NCCLSCOPE_FLAG_QUOTED;
    e->dev = rec->dev;
    e->nth = m->procs.item[proc].records;
    e->where = nsc_here(m, rec);
    e->time = rec->time.len ? nsc_keep(m, rec->time) : 0;
    m->procs.item[proc].events++;
    m->last_event = (uint32_t)(m->events.len - 1);
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

static nsc_str keep_time(struct ncclscope_model *m, nsc_text t)
{
    char iso[48];
    if (t.len < 8 || t.len >= sizeof iso)
        return nsc_keep(m, t);
    memcpy(iso, t.ptr, t.len);
    if (t.len > 10 && iso[4] == '-' && iso[10] == ' ')
        iso[10] = 'T';
    for (size_t i = 11; i < t.len; i++)
        if (iso[i] == ',')
            iso[i] = '.';
    return nsc_keep(m, (nsc_text){iso, t.len});
}

static int begin_stream(struct ncclscope_model *m, const char *name, uint32_t *id)
{
    struct nsc_source_info *s = nsc_vec_push(&m->sources);
    for (*id = 0; *id < m->streams.len && m->streams.item[*id].source != NSC_NONE;)
        ++*id;
    struct nsc_stream *t = *id < m->streams.len ? &m->streams.item[*id] : nsc_vec_push(&m->streams);
    if (!s || !t)
        return NCCLSCOPE_ENOMEM;
    *t = (struct nsc_stream){.source = (uint32_t)(m->sources.len - 1)};
    t->first_thread = t->last_thread = t->matrix_open = t->test_open = NSC_NONE;
    s->name = nsc_keep(m, nsc_text_of(name));
    return NCCLSCOPE_OK;
}

static bool is_open(const struct ncclscope_model *m, uint32_t id)
{
    return m && !m->finished && id < m->streams.len && m->streams.item[id].source != NSC_NONE;
}

int ncclscope_model_stream(ncclscope_model *m, const char *name, uint32_t *id)
{
    if (!m || !name || !id || m->finished)
        return NCCLSCOPE_EINVAL;
    unsigned before = nsc_failed_allocations();
    int rc = begin_stream(m, name, id);
    m->no_memory = m->no_memory || rc;
    return nsc_settle(rc, before, NULL);
}

int ncclscope_model_stream_counts(ncclscope_model *m, uint32_t id, const ncclscope_reader *reader)
{
    if (!is_open(m, id) || !reader)
        return NCCLSCOPE_EINVAL;
    ncclscope_stats *stats = &m->sources.item[m->streams.item[id].source].stats;
    stats->size = sizeof *stats;
    return ncclscope_reader_stats(reader, stats);
}

int ncclscope_model_stream_end(ncclscope_model *m, uint32_t id, const ncclscope_reader *reader, const char *problem)
{
    if (!is_open(m, id))
        return NCCLSCOPE_EINVAL;
    unsigned before = nsc_failed_allocations();
    m->at = id;
    struct nsc_stream *t = nsc_stream_of(m);
    struct nsc_source_info *s = nsc_source_of_stream(m);
    s->stats.size = sizeof s->stats;
    if (reader)
        ncclscope_model_stream_counts(m, id, reader);
    s->problem = nsc_keep(m, nsc_text_of(problem));
    s->last_time = keep_time(m, (nsc_text){t->last_time_text, t->last_time});
    nsc_end_source(m);
    t->source = NSC_NONE;
    return m->no_memory ? NCCLSCOPE_ENOMEM : nsc_settle(NCCLSCOPE_OK, before, NULL);
}

int ncclscope_model_stream_add(ncclscope_model *m, uint32_t id, const ncclscope_record *rec)
{
    if (!is_open(m, id) || !rec)
        return NCCLSCOPE_EINVAL;
    unsigned before = nsc_failed_allocations();
    m->at = id;
    struct nsc_stream *t = nsc_stream_of(m);
    struct nsc_source_info *s = nsc_source_of_stream(m);
    if (rec->time.len) {
        if (!s->first_time)
            s->first_time = keep_time(m, rec->time);
        t->last_time = rec->time.len < sizeof t->last_time_text ? rec->time.len : 0;
        memcpy(t->last_time_text, rec->time.ptr, t->last_time);
    }
    m->grammar = rec->grammar;
    nsc_apply(m, rec);
    return m->no_memory ? NCCLSCOPE_ENOMEM : nsc_settle(NCCLSCOPE_OK, before, NULL);
}

int ncclscope_model_source(ncclscope_model *m, const char *name)
{
    return m && m->alone == NSC_NONE ? ncclscope_model_stream(m, name, &m->alone) : NCCLSCOPE_EINVAL;
}

int ncclscope_model_add(ncclscope_model *m, const ncclscope_record *rec)
{
    return m ? ncclscope_model_stream_add(m, m->alone, rec) : NCCLSCOPE_EINVAL;
}

int ncclscope_model_source_end(ncclscope_model *m, const ncclscope_reader *reader, const char *problem)
{
    int rc = m ? ncclscope_model_stream_end(m, m->alone, reader, problem) : NCCLSCOPE_EINVAL;
    if (m)
        m->alone = NSC_NONE;
    return rc;
}

int ncclscope_model_finish(ncclscope_model *m, ncclscope_error *err)
{
    if (!m)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "there is no model");
    unsigned before = nsc_failed_allocations();
    for (uint32_t i = 0; !m->finished && i < m->streams.len; i++) /* whoever finishes has no more to add */
        if (m->streams.item[i].source != NSC_NONE)
            ncclscope_model_stream_end(m, i, NULL, NULL);
    if (!m->finished)
        nsc_join(m);
    if (!m->finished && !m->no_memory && nsc_failed_allocations() == before)
        nsc_lay_rows(m);
    m->finished = true;
    m->no_memory = m->no_memory || nsc_failed_allocations() != before;
    return m->no_memory ? nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory") : NCCLSCOPE_OK;
}
