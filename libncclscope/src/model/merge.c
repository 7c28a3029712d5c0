/* merge.c - what several sources hold of one process to one: rotated logs, one file for each stream, the same log given twice. */
#include "model/version.h"
#include "read/hosts.h"

static bool same_rank(const struct nsc_rank *a, const struct nsc_rank *b)
{
    bool same_id = a->comm_id == b->comm_id || !a->comm_id || !b->comm_id;
    return a->pointer == b->pointer && a->rank == b->rank && a->nranks == b->nranks && same_id;
}

struct sighting {
    uint32_t rank, next; /* next: index of the one behind it, or NSC_NONE */
};

/* Ranks of one key, in the order in which they were put there. */
struct sightings {
    struct nsc_map first, last;
    NSC_VEC(struct sighting) list;
};

static void sight(struct ncclscope_model *m, struct sightings *s, struct nsc_key key, uint32_t rank)
{
    uint32_t before = nsc_map_get(&s->last, key), i = (uint32_t)s->list.len;
    struct sighting *x = nsc_vec_push(&s->list);
    if (!x || nsc_map_put(&s->last, key, i) || (before == NSC_NONE && nsc_map_put(&s->first, key, i))) {
        m->no_memory = true;
        return;
    }
    *x = (struct sighting){rank, NSC_NONE};
    if (before != NSC_NONE)
        s->list.item[before].next = i;
}

static void forget(struct sightings *s)
{
    nsc_map_free(&s->first);
    nsc_map_free(&s->last);
    nsc_vec_free(&s->list);
}

enum { ANY_ID = UINT32_MAX };

/* What same_rank compares, of the ranks that are put under one number. */
static struct nsc_key role_of(const struct nsc_rank *r, uint32_t of, nsc_str id)
{
    return (struct nsc_key){(uint64_t)of << 32 | id, r->pointer, (uint64_t)r->rank << 32 ^ (uint64_t)r->nranks};
}

static void sight_rank(struct ncclscope_model *m, struct sightings *s, uint32_t of, uint32_t rank)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    sight(m, s, role_of(r, of, r->comm_id), rank);
    sight(m, s, role_of(r, of, ANY_ID), rank);
}

/* Where those begin that same_rank may hold for: of its id, and of none; or of any. */
static void look_up(const struct sightings *s, const struct nsc_rank *r, uint32_t of, uint32_t at[2])
{
    at[0] = nsc_map_get(&s->first, role_of(r, of, r->comm_id ? r->comm_id : (nsc_str)ANY_ID));
    at[1] = r->comm_id ? nsc_map_get(&s->first, role_of(r, of, 0)) : NSC_NONE;
}

/* Of processes under one name, while they are put together: those that stand for themselves. */
struct namesakes {
    struct nsc_map by_name; /* host and pid: the first process of that name, which stands for the name */
    struct sightings ranks; /* under the name */
    struct nsc_map place;   /* process, communicator and device: its rank there, or SEVERAL */
    struct chain {          /* by process: the first and last of its name, and the next behind it, or NSC_NONE */
        uint32_t first, last, next;
    } * all, *unbegun; /* unbegun: that did not print what a process prints at its start */
};

enum { SEVERAL = NSC_NONE - 1 };

static void find_places(struct ncclscope_model *m, struct namesakes *x)
{
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        struct nsc_key key = {(uint64_t)r->proc << 32 | r->comm_id, (uint64_t)r->cuda_dev, 0};
        uint32_t before = nsc_map_get(&x->place, key);
        bool other = before != NSC_NONE && before != (uint32_t)r->rank;
        if (r->comm_id && nsc_map_put(&x->place, key, other ? SEVERAL : (uint32_t)r->rank))
            m->no_memory = true;
    }
}

/* Do they contradict each other: two ranks of one communicator on the one device? */
static bool contradict(const struct ncclscope_model *m, const struct namesakes *x, uint32_t a, uint32_t b)
{
    for (uint32_t i = m->procs.item[b].last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        const struct nsc_rank *r = &m->ranks.item[i];
        struct nsc_key key = {(uint64_t)a << 32 | r->comm_id, (uint64_t)r->cuda_dev, 0};
        uint32_t other = r->comm_id ? nsc_map_get(&x->place, key) : NSC_NONE;
        if (other != NSC_NONE && other != (uint32_t)r->rank)
            return true;
    }
    return false;
}

/* Two sources name one host and pid: as far as sources and pods tell. */
static bool may_be_one(const struct nsc_proc *p, const struct nsc_proc *q)
{
    return p->source != q->source && !(p->pod && q->pod && p->pod != q->pod);
}

/* The first of its name that has the very same communicator: the same log was given twice. NSC_NONE: none has. */
static uint32_t with_same_rank(const struct ncclscope_model *m, const struct namesakes *x, uint32_t name, uint32_t proc)
{
    uint32_t best = NSC_NONE, at[2];
    for (uint32_t i = m->procs.item[proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        const struct nsc_rank *r = &m->ranks.item[i];
        look_up(&x->ranks, r, name, at);
        for (int n = 0; n < 2; n++)
            for (uint32_t k = at[n]; k != NSC_NONE; k = x->ranks.list.item[k].next) {
                const struct nsc_rank *old = &m->ranks.item[x->ranks.list.item[k].rank];
                if (!same_rank(old, r) || !may_be_one(&m->procs.item[old->proc], &m->procs.item[proc]))
                    continue;
                best = old->proc < best ? old->proc : best;
                break;
            }
    }
    return best;
}

/* Pods may share host and pid: what each process prints once at its start, printed twice, makes two. */
static bool is_one_process(const struct ncclscope_model *m, const struct namesakes *x, uint32_t a, uint32_t b)
{
    const struct nsc_proc *p = &m->procs.item[a], *q = &m->procs.item[b];
    bool other_address = p->bootstrap_addr && q->bootstrap_addr && p->bootstrap_addr != q->bootstrap_addr;
    return may_be_one(p, q) && !other_address && !(p->starts & q->starts) && !contradict(m, x, a, b);
}

/* The first of its name before `end` whose start leaves room for that of `proc`; `end`: none has. */
static uint32_t with_room(const struct ncclscope_model *m, struct namesakes *x, uint32_t name, uint32_t proc,
                          uint32_t end)
{
    struct chain *chain = m->procs.item[proc].starts ? x->unbegun : x->all;
    uint32_t *at = &chain[name].first;
    while (*at < end) {
        uint32_t i = *at;
        if (is_one_process(m, x, i, proc))
            return i;
        if (chain == x->unbegun && m->procs.item[i].starts && chain[i].next != NSC_NONE)
            *at = chain[i].next; /* it has no room any more */
        else
            at = &chain[i].next;
    }
    return end;
}

static void append(struct chain *chain, uint32_t name, uint32_t proc)
{
    if (chain[name].first == NSC_NONE)
        chain[name].first = proc;
    else
        chain[chain[name].last].next = proc;
    chain[name].last = proc;
}

static void keep_first_line(struct nsc_where *to, const struct nsc_where *from)
{
    if (!to->line)
        *to = *from;
}

/* What it says of the machine that it runs on. */
static void absorb_machine(struct nsc_proc *p, const struct nsc_proc *q)
{
    keep_first_line(&p->fabric_at, &q->fabric_at);
    keep_first_line(&p->gdr_pair_at, &q->gdr_pair_at);
    keep_first_line(&p->gdr_at_limit, &q->gdr_at_limit);
    keep_first_line(&p->flat_at, &q->flat_at);
    p->flat_pci = p->flat_pci || q->flat_pci;
    if (!p->cpu_vendor) {
        p->cpu_arch = q->cpu_arch;
        p->cpu_vendor = q->cpu_vendor;
        p->cpu_model = q->cpu_model;
    }
    if (q->nic_mbit && (!p->nic_mbit || q->nic_mbit < p->nic_mbit))
        p->nic_mbit = q->nic_mbit, p->nic_mbit_at = q->nic_mbit_at;
    p->cpus_differ = p->cpus_differ || q->cpus_differ || (p->cpus && q->cpus && p->cpus != q->cpus);
    if (!p->cpus)
        p->cpus = q->cpus, p->cpus_at = q->cpus_at;
}

static void absorb(struct ncclscope_model *m, uint32_t to, uint32_t from)
{
    struct nsc_proc *p = &m->procs.item[to], *q = &m->procs.item[from];
    q->merged_into = to;
    if (!p->version)
        p->version = q->version, p->version_at = q->version_at;
    for (uint32_t i = q->last_text; i != NSC_NONE; i = m->printed.item[i].before)
        nsc_version_keep(m, to, m->printed.item[i].text, m->printed.item[i].level);
    if (!p->bootstrap_addr)
        p->bootstrap_if = q->bootstrap_if, p->bootstrap_addr = q->bootstrap_addr, p->bootstrap_at = q->bootstrap_at;
    if (!p->address)
        p->address = q->address, p->address_if = q->address_if, p->address_at = q->address_at;
    if (!p->platform)
        p->platform = q->platform, p->platform_at = q->platform_at;
    if (!p->network)
        p->network = q->network, p->network_at = q->network_at;
    keep_first_line(&p->closing_at, &q->closing_at);
    absorb_machine(p, q);
    p->driver = p->driver ? p->driver : q->driver;
    p->launcher_rank = p->launcher_rank >= 0 ? p->launcher_rank : q->launcher_rank;
    p->starts |= q->starts;
    p->devices |= q->devices;
    p->informs = p->informs || q->informs;
    p->env_seen = p->env_seen || q->env_seen;
    p->graph_seen = p->graph_seen || q->graph_seen;
    p->no_cumem = p->no_cumem || q->no_cumem;
    p->no_verbs = p->no_verbs || q->no_verbs;
    p->stamps_warnings = p->stamps_warnings || q->stamps_warnings;
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
    for (uint32_t i = m->procs.item[proc].last_thread; i != NSC_NONE; i = m->threads.item[i].before) {
        const struct nsc_thread *t = &m->threads.item[i];
        if (t->tid == m->procs.item[proc].pid ||
            nsc_map_get(&m->thread_by, (struct nsc_key){of, (uint64_t)t->tid, 0}) == NSC_NONE)
            return false;
        any = true;
    }
    return any;
}

enum { SELDOM = 10 }; /* a writer's mistake is one line in so many, or less */

/* Is `i`, of a name that few lines show, process `of` with a torn name? Where both speak often, two hosts share a pid. */
static bool is_torn_name_of(const struct ncclscope_model *m, uint32_t i, uint32_t of)
{
    const struct nsc_proc *p = &m->procs.item[i], *whole = &m->procs.item[of];
    bool elided = nsc_is_elided(nsc_say(m, p->host));
    if (p->pod != whole->pod || whole->merged_into != NSC_NONE ||
        (!elided && p->records * 3 > whole->records && p->records > 1))
        return false;
    return elided || is_mangled(nsc_say(m, p->host), nsc_say(m, whole->host)) ||
           (p->records * SELDOM < whole->records && shares_threads(m, i, of));
}

/* Processes of a source and a pid, those with most lines first. */
enum { SAME_PID = 4 };
struct same_pid {
    uint32_t of[SAME_PID];
};

static void enter_by_records(const struct ncclscope_model *m, struct same_pid *s, uint32_t proc)
{
    for (size_t k = 0; k < SAME_PID; k++) {
        uint32_t there = s->of[k];
        if (there != NSC_NONE && m->procs.item[there].records >= m->procs.item[proc].records)
            continue;
        s->of[k] = proc;
        proc = there;
        if (proc == NSC_NONE)
            return;
    }
}

static size_t place_of_pid(struct ncclscope_model *m, struct nsc_map *by_pid, const struct nsc_proc *p)
{
    struct nsc_key key = {p->source, (uint64_t)p->pid, 0};
    uint32_t at = nsc_map_get(by_pid, key);
    if (at == NSC_NONE && nsc_map_put(by_pid, key, at = (uint32_t)by_pid->used))
        m->no_memory = true;
    return at;
}

/* A pid that one line or two show under a torn name stays with the host that all its other lines name. */
static bool mend_torn_names(struct ncclscope_model *m)
{
    bool any = false;
    struct nsc_map by_pid = {0};
    struct same_pid *pids = nsc_alloc((m->procs.len + 1) * sizeof *pids);
    m->no_memory = m->no_memory || !pids;
    for (size_t i = 0; pids && i < m->procs.len; i++) {
        const struct nsc_proc *p = &m->procs.item[i];
        size_t before = by_pid.used, at = p->nameless ? 0 : place_of_pid(m, &by_pid, p);
        if (p->nameless || m->no_memory)
            continue;
        if (by_pid.used > before)
            memset(&pids[at], 0xff, sizeof pids[at]);
        if (!nsc_is_elided(nsc_say(m, p->host)))
            enter_by_records(m, &pids[at], (uint32_t)i);
    }
    for (uint32_t i = 0; pids && !m->no_memory && i < m->procs.len; i++) {
        const struct nsc_proc *p = &m->procs.item[i];
        bool open = !p->nameless && p->merged_into == NSC_NONE;
        const struct same_pid *s = &pids[open ? place_of_pid(m, &by_pid, p) : 0];
        for (size_t k = 0; open && k < SAME_PID && s->of[k] != NSC_NONE && s->of[k] != i; k++)
            if (is_torn_name_of(m, i, s->of[k])) {
                absorb(m, s->of[k], i);
                any = true;
                break;
            }
    }
    nsc_free(pids);
    nsc_map_free(&by_pid);
    return any;
}

/* The process stands for itself: others of its name may be it. */
static void keep_apart(struct ncclscope_model *m, struct namesakes *x, uint32_t name, uint32_t proc)
{
    append(x->all, name, proc);
    if (!m->procs.item[proc].starts)
        append(x->unbegun, name, proc);
    for (uint32_t i = m->procs.item[proc].first_rank; i != NSC_NONE; i = m->ranks.item[i].after)
        sight_rank(m, &x->ranks, name, i);
}

static bool merge_by_name(struct ncclscope_model *m, struct namesakes *x)
{
    bool any = false;
    find_places(m, x);
    for (uint32_t i = 0; i < m->procs.len; i++) {
        x->all[i] = x->unbegun[i] = (struct chain){NSC_NONE, NSC_NONE, NSC_NONE};
        if (m->procs.item[i].nameless)
            continue;
        struct nsc_key key = {m->procs.item[i].host, (uint64_t)m->procs.item[i].pid, 0};
        uint32_t name = nsc_map_get(&x->by_name, key);
        if (name == NSC_NONE && nsc_map_put(&x->by_name, key, i))
            m->no_memory = true;
        uint32_t to = name == NSC_NONE ? NSC_NONE : with_room(m, x, name, i, with_same_rank(m, x, name, i));
        if (to != NSC_NONE)
            absorb(m, to, i);
        else if (m->procs.item[i].merged_into == NSC_NONE)
            keep_apart(m, x, name == NSC_NONE ? i : name, i);
        any = any || to != NSC_NONE;
    }
    return any;
}

static bool merge_processes(struct ncclscope_model *m)
{
    struct namesakes x = {.all = nsc_alloc(m->procs.len * sizeof *x.all),
                          .unbegun = nsc_alloc(m->procs.len * sizeof *x.unbegun)};
    bool fine = x.all && x.unbegun, any = fine && merge_by_name(m, &x);
    m->no_memory = m->no_memory || !fine;
    nsc_map_free(&x.by_name);
    nsc_map_free(&x.place);
    forget(&x.ranks);
    nsc_free(x.all);
    nsc_free(x.unbegun);
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
    to->met = to->met || from->met;
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

/* The first rank of its process that it is one with, or NSC_NONE. */
static uint32_t twin_of(const struct ncclscope_model *m, const struct sightings *s, uint32_t rank)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    uint32_t best = NSC_NONE, at[2];
    look_up(s, r, r->proc, at);
    for (int n = 0; n < 2; n++)
        for (uint32_t k = at[n]; k != NSC_NONE && s->list.item[k].rank < best; k = s->list.item[k].next)
            if (is_one_rank(&m->ranks.item[s->list.item[k].rank], r))
                best = s->list.item[k].rank;
    return best;
}

/* The index of each rank after merging; NULL when there is no memory. */
static uint32_t *merge_ranks(struct ncclscope_model *m)
{
    uint32_t *now = nsc_alloc(m->ranks.len * sizeof *now);
    struct sightings seen = {0};
    for (uint32_t i = 0; now && i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        uint32_t twin = r->rank < 0 ? NSC_NONE : twin_of(m, &seen, i);
        now[i] = twin == NSC_NONE ? i : twin;
        if (twin == NSC_NONE) {
            sight_rank(m, &seen, r->proc, i);
            continue;
        }
        struct nsc_rank *old = &m->ranks.item[twin];
        bool named = !old->comm_id && r->comm_id;
        absorb_rank(old, r);
        r->rank = r->nranks = -1; /* joins no communicator any more */
        if (named)
            sight(m, &seen, role_of(old, old->proc, old->comm_id), twin);
    }
    forget(&seen);
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
