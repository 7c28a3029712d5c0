/* merge.c - what several sources hold of one process to one: rotated logs, one file for each stream, the same log given twice. */
#include "model/model.h"
#include "read/hosts.h"

static bool same_rank(const struct nsc_rank *a, const struct nsc_rank *b)
{
    bool same_id = a->comm_id == b->comm_id || !a->comm_id || !b->comm_id;
    return a->pointer == b->pointer && a->rank == b->rank && a->nranks == b->nranks && same_id;
}

/* Have the two a rank in common; or do they contradict each other: two ranks of one communicator on the one device? */
static void compare_ranks(const struct ncclscope_model *m, uint32_t a, uint32_t b, bool *common, bool *conflict)
{
    *common = *conflict = false;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *x = &m->ranks.item[i];
        for (size_t k = 0; x->proc == a && k < m->ranks.len; k++) {
            const struct nsc_rank *y = &m->ranks.item[k];
            if (y->proc != b)
                continue;
            *common = *common || same_rank(x, y);
            *conflict = *conflict ||
                        (x->comm_id && x->comm_id == y->comm_id && x->rank != y->rank && x->cuda_dev == y->cuda_dev);
        }
    }
}

/* Two sources name one host and pid. Pods may share both: what each process prints once at its start, printed twice, makes two,
 * unless the very same communicator was seen (the same log given twice). */
static bool is_one_process(const struct ncclscope_model *m, uint32_t a, uint32_t b)
{
    const struct nsc_proc *p = &m->procs.item[a], *q = &m->procs.item[b];
    bool common, conflict;
    if (p->host != q->host || p->pid != q->pid || (p->pod && q->pod && p->pod != q->pod))
        return false;
    compare_ranks(m, a, b, &common, &conflict);
    if (common)
        return true;
    bool other_address = p->bootstrap_addr && q->bootstrap_addr && p->bootstrap_addr != q->bootstrap_addr;
    return !conflict && !other_address && !(p->starts & q->starts);
}

static void absorb(struct ncclscope_model *m, uint32_t to, uint32_t from)
{
    struct nsc_proc *p = &m->procs.item[to], *q = &m->procs.item[from];
    q->merged_into = to;
    if (!p->version)
        p->version = q->version, p->version_at = q->version_at;
    for (size_t i = 0; i < q->texts.len; i++) {
        struct nsc_printed *t = nsc_vec_push(&p->texts);
        if (t)
            *t = q->texts.item[i];
    }
    if (!p->bootstrap_addr)
        p->bootstrap_if = q->bootstrap_if, p->bootstrap_addr = q->bootstrap_addr, p->bootstrap_at = q->bootstrap_at;
    if (!p->address)
        p->address = q->address, p->address_if = q->address_if, p->address_at = q->address_at;
    if (!p->platform)
        p->platform = q->platform, p->platform_at = q->platform_at;
    if (!p->closing_at.line)
        p->closing_at = q->closing_at;
    p->network = p->network ? p->network : q->network;
    p->driver = p->driver ? p->driver : q->driver;
    p->launcher_rank = p->launcher_rank >= 0 ? p->launcher_rank : q->launcher_rank;
    p->starts |= q->starts;
    p->env_seen = p->env_seen || q->env_seen;
    p->graph_seen = p->graph_seen || q->graph_seen;
    if (!p->cpu_vendor) {
        p->cpu_arch = q->cpu_arch;
        p->cpu_vendor = q->cpu_vendor;
        p->cpu_model = q->cpu_model;
    }
    p->pod = p->pod ? p->pod : q->pod;
}

static uint32_t root_of(const struct ncclscope_model *m, uint32_t proc)
{
    while (proc != NSC_NONE && m->procs.item[proc].merged_into != NSC_NONE)
        proc = m->procs.item[proc].merged_into;
    return proc;
}

/* "x3006c0sn0" of "x3006c0s1b0n0", "s1vm" of "vm": a name that lost bytes to another writer, or got some. */
static bool is_mangled(nsc_text name, nsc_text of)
{
    size_t at = 0;
    for (size_t i = 0; i < of.len && at < name.len; i++)
        at += of.ptr[i] == name.ptr[at];
    bool tail = name.len < of.len && !memcmp(of.ptr + of.len - name.len, name.ptr, name.len);
    bool lacks = at == name.len && name.len < of.len && (name.len * 2 >= of.len || tail);
    return lacks || (name.len > of.len && !memcmp(name.ptr + name.len - of.len, of.ptr, of.len));
}

/* "node-b1n0:3049296:3049525", once, where node-b0n0 has that process with that thread: the beginning is that of another writer's line. */
static bool shares_threads(const struct ncclscope_model *m, uint32_t proc, uint32_t of)
{
    bool any = false;
    for (size_t i = 0; i < m->threads.len; i++) {
        const struct nsc_thread *t = &m->threads.item[i];
        if (t->proc != proc)
            continue;
        if (t->tid == m->procs.item[proc].pid ||
            nsc_map_get(&m->thread_by, (struct nsc_key){of, (uint64_t)t->tid, 0}) == NSC_NONE)
            return false;
        any = true;
    }
    return any;
}

enum { SELDOM = 10 }; /* a writer's mistake is one line in so many, or less */

/* A pid that one line or two show under a torn name stays with the host that all its other lines name. */
static bool mend_torn_names(struct ncclscope_model *m)
{
    bool any = false;
    struct nsc_map by_pid = {0}; /* source and pid: its process with most lines */
    for (size_t i = 0; i < m->procs.len; i++) {
        const struct nsc_proc *p = &m->procs.item[i];
        struct nsc_key key = {p->source, (uint64_t)p->pid, 0};
        uint32_t before = p->nameless ? NSC_NONE : nsc_map_get(&by_pid, key);
        bool more = before == NSC_NONE || p->records > m->procs.item[before].records;
        if (nsc_is_elided(nsc_say(m, p->host)))
            continue;
        if (!p->nameless && more && nsc_map_put(&by_pid, key, (uint32_t)i))
            m->no_memory = true;
    }
    for (size_t i = 0; i < m->procs.len; i++) {
        const struct nsc_proc *p = &m->procs.item[i];
        uint32_t whole =
            p->nameless ? NSC_NONE : nsc_map_get(&by_pid, (struct nsc_key){p->source, (uint64_t)p->pid, 0});
        bool elided = !p->nameless && nsc_is_elided(nsc_say(m, p->host));
        if (whole == i ||
            (whole != NSC_NONE && !elided && p->records * 3 > m->procs.item[whole].records && p->records > 1))
            continue; /* both speak often: two hosts that share a pid */
        if (whole == NSC_NONE || p->merged_into != NSC_NONE || p->pod != m->procs.item[whole].pod)
            continue;
        bool spliced = p->records * SELDOM < m->procs.item[whole].records && shares_threads(m, (uint32_t)i, whole);
        if (!elided && !spliced && !is_mangled(nsc_say(m, p->host), nsc_say(m, m->procs.item[whole].host)))
            continue;
        absorb(m, whole, (uint32_t)i);
        any = true;
    }
    nsc_map_free(&by_pid);
    return any;
}

static bool merge_processes(struct ncclscope_model *m)
{
    bool any = false;
    struct nsc_map first = {0}; /* by host and pid: the first process of that name, from which on others may follow */
    for (size_t i = 0; i < m->procs.len; i++) {
        if (m->procs.item[i].nameless)
            continue;
        struct nsc_key key = {m->procs.item[i].host, (uint64_t)m->procs.item[i].pid, 0};
        uint32_t from = nsc_map_get(&first, key);
        if (from == NSC_NONE && nsc_map_put(&first, key, (uint32_t)i))
            m->no_memory = true;
        for (size_t k = from; from != NSC_NONE && k < i; k++) {
            if (m->procs.item[k].merged_into != NSC_NONE || m->procs.item[k].source == m->procs.item[i].source ||
                !is_one_process(m, (uint32_t)k, (uint32_t)i))
                continue;
            absorb(m, (uint32_t)k, (uint32_t)i);
            any = true;
            break;
        }
    }
    nsc_map_free(&first);
    return any;
}

/* ---- ranks of one process ---- */

static void take_where(struct nsc_where *to, const struct nsc_where *from)
{
    if (!to->line)
        *to = *from;
}

static void take_number(int64_t *to, int64_t from)
{
    if (*to < 0)
        *to = from;
}

/* What the one source says of a rank and the other does not. */
static void absorb_rank(struct nsc_rank *to, const struct nsc_rank *from)
{
    take_where(&to->start, &from->start);
    take_where(&to->complete, &from->complete);
    take_where(&to->destroyed, &from->destroyed);
    take_where(&to->aborted, &from->aborted);
    take_where(&to->chunk_at, &from->chunk_at);
    take_where(&to->ring_type_at, &from->ring_type_at);
    take_where(&to->direct_at, &from->direct_at);
    take_where(&to->shape_at, &from->shape_at);
    take_where(&to->channels_at, &from->channels_at);
    const int64_t *in[] = {&from->cuda_dev, &from->nvml_dev, &from->nnodes,  &from->local_ranks, &from->local_rank,
                           &from->mnnvl,    &from->coll,     &from->collnet, &from->nvls,        &from->p2p,
                           &from->per_peer, &from->chunk,    &from->direct};
    int64_t *out[] = {&to->cuda_dev, &to->nvml_dev, &to->nnodes,  &to->local_ranks, &to->local_rank,
                      &to->mnnvl,    &to->coll,     &to->collnet, &to->nvls,        &to->p2p,
                      &to->per_peer, &to->chunk,    &to->direct};
    for (size_t i = 0; i < sizeof in / sizeof in[0]; i++)
        take_number(out[i], *in[i]);
    to->bus_id = to->bus_id ? to->bus_id : from->bus_id;
    to->comm_id = to->comm_id ? to->comm_id : from->comm_id;
    to->network = to->network ? to->network : from->network;
    if (!to->cpus)
        to->cpus = from->cpus, to->cpus_at = from->cpus_at;
    for (int i = 0; i < 2; i++)
        to->ring_gb_s[i] = to->ring_gb_s[i] > 0 ? to->ring_gb_s[i] : from->ring_gb_s[i];
    to->ring_type = to->ring_type ? to->ring_type : from->ring_type;
    to->init_seconds = to->init_seconds < 0 ? from->init_seconds : to->init_seconds;
    to->used = to->used || from->used;
    to->called = to->called || from->called;
    to->done |= from->done;
    to->done_maybe |= from->done_maybe;
    if (!to->parent_pointer && from->parent_pointer) {
        to->parent_pointer = from->parent_pointer;
        to->parent = from->parent;
        to->split = from->split;
        to->has_color = from->has_color;
        to->color = from->color;
        to->key = from->key;
    }
}

/* Are the two, of one process but of two sources or two spellings of its host, one? (Of one spelling each use of a pointer has a number
 * of its own.) Not when each was born: then the pointer was used again, unless an id tells. */
static bool is_one_rank(const struct nsc_rank *a, const struct nsc_rank *b)
{
    bool both_born = a->start.line && b->start.line;
    bool told = a->comm_id && a->comm_id == b->comm_id && !a->parent_pointer;
    bool apart = a->first.source != b->first.source || a->reuse == b->reuse;
    return same_rank(a, b) && apart && (!both_born || told);
}

/* The index of each rank after merging; NULL when there is no memory. */
static uint32_t *merge_ranks(struct ncclscope_model *m)
{
    uint32_t *now = nsc_alloc(m->ranks.len * sizeof *now);
    for (size_t i = 0; now && i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        now[i] = (uint32_t)i;
        for (size_t k = 0; k < i && r->rank >= 0; k++) {
            struct nsc_rank *old = &m->ranks.item[k];
            if (now[k] != k || old->proc != r->proc || !is_one_rank(old, r))
                continue;
            absorb_rank(old, r);
            now[i] = (uint32_t)k;
            r->rank = r->nranks = -1; /* joins no communicator any more */
            break;
        }
    }
    return now;
}

/* A variable once for each process. */
static void merge_env(struct ncclscope_model *m)
{
    size_t n = 0;
    struct nsc_map seen = {0};
    for (size_t i = 0; i < m->env.len; i++) {
        struct nsc_key key = {m->env.item[i].proc, m->env.item[i].name, 0};
        if (nsc_map_get(&seen, key) != NSC_NONE)
            continue;
        if (nsc_map_put(&seen, key, (uint32_t)n))
            m->no_memory = true;
        m->env.item[n++] = m->env.item[i];
    }
    m->env.len = n;
    nsc_map_free(&m->env_by);
    m->env_by = seen;
}

static void follow(uint32_t *rank, const uint32_t *now)
{
    if (*rank != NSC_NONE)
        *rank = now[*rank];
}

static void renumber(struct ncclscope_model *m, const uint32_t *now)
{
    for (size_t i = 0; i < m->ranks.len; i++)
        follow(&m->ranks.item[i].parent, now);
    for (size_t i = 0; i < m->links.len; i++) {
        follow(&m->links.item[i].rank, now);
        follow(&m->links.item[i].other, now);
    }
    for (size_t i = 0; i < m->rings.len; i++)
        follow(&m->rings.item[i].rank, now);
    for (size_t i = 0; i < m->trees.len; i++)
        follow(&m->trees.item[i].rank, now);
}

/* Each process's ranks, chained from its last one. Two processes that became one have one chain; an absorbed rank is in none. */
static void chain_ranks(struct ncclscope_model *m, const uint32_t *now)
{
    for (size_t i = 0; i < m->procs.len; i++)
        m->procs.item[i].last_rank = m->procs.item[i].first_rank = NSC_NONE;
    for (size_t i = 0; i < m->ranks.len; i++) {
        struct nsc_proc *p = &m->procs.item[m->ranks.item[i].proc];
        if (now[i] != i)
            continue;
        m->ranks.item[i].before = p->last_rank;
        m->ranks.item[i].after = NSC_NONE;
        *(p->last_rank == NSC_NONE ? &p->first_rank : &m->ranks.item[p->last_rank].after) = (uint32_t)i;
        p->last_rank = (uint32_t)i;
    }
}

void nsc_merge_sources(struct ncclscope_model *m)
{
    bool mended = mend_torn_names(m), merged = m->sources.len > 1 && merge_processes(m);
    if (!mended && !merged)
        return;
    for (size_t i = 0; i < m->ranks.len; i++)
        m->ranks.item[i].proc = root_of(m, m->ranks.item[i].proc);
    for (size_t i = 0; i < m->links.len; i++)
        m->links.item[i].proc = root_of(m, m->links.item[i].proc);
    for (size_t i = 0; i < m->env.len; i++)
        m->env.item[i].proc = root_of(m, m->env.item[i].proc);
    for (size_t i = 0; i < m->events.len; i++)
        m->events.item[i].proc = root_of(m, m->events.item[i].proc);
    merge_env(m);
    uint32_t *now = merge_ranks(m);
    if (now) {
        renumber(m, now);
        chain_ranks(m, now);
    }
    m->no_memory = m->no_memory || !now;
    nsc_free(now);
}
