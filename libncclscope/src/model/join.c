/* join.c - what was read to what is told, once all sources are: communicators get members, a state and a name, and all its order. */
#include "read/changes.h"
#include "model/pairs.h"
#include "model/gpus.h"
#include "model/on_machine.h"
#include "model/version.h"
#include "model/path.h"
#include "model/topology.h"

#include <stdio.h>
#include <stdlib.h>

int nsc_by_host_and_pid(const void *a, const void *b, void *model)
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

/* Where connections are made in the initialisation a rank connects before it prints Init COMPLETE: connections do not show that it came that far. Where lines were
 * torn or cut off, COMPLETE may be among what is lost: then nothing is concluded from its absence. What makes a rank connect so early (no cuMem)
 * makes all ranks of its communicator do so. */
static void forget_early_use(struct ncclscope_model *m)
{
    bool *early = nsc_alloc(m->comms.len + 1);
    m->no_memory = m->no_memory || !early;
    for (size_t i = 0; early && i < m->ranks.len; i++)
        if (m->ranks.item[i].comm != NSC_NONE && nsc_connects_in_init(m, m->ranks.item[i].proc))
            early[m->ranks.item[i].comm] = true;
    for (size_t i = 0; early && i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        const struct nsc_source_info *s = &m->sources.item[m->procs.item[r->proc].source];
        bool is = r->comm != NSC_NONE ? early[r->comm] : nsc_connects_in_init(m, r->proc);
        if (is && !s->stats.torn_lines && !s->problem)
            r->used = false;
    }
    nsc_free(early);
}

/* Two members on one GPU, by host name and bus id, that came to be: NCCL refuses that, so several machines have that name. */
static bool names_are_shared(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    struct nsc_map seen = {0};
    bool shared = false;
    for (uint32_t i = 0; i < c->count && !shared; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        struct nsc_key key = {m->procs.item[r->proc].host, r->bus_id, 0};
        uint32_t other = r->bus_id ? nsc_map_get(&seen, key) : NSC_NONE;
        const struct nsc_rank *before = other == NSC_NONE ? NULL : &m->ranks.item[other];
        shared = before && before->rank != r->rank && nsc_is_done(r) && nsc_is_done(before) &&
                 !nsc_may_share_gpu(m, r, before);
        if (r->bus_id)
            nsc_map_put(&seen, key, m->members.item[c->first + i]);
    }
    nsc_map_free(&seen);
    return shared;
}

/* What calls that returned an error say of a process. */
struct broken {
    bool broke, in_init;
    uint32_t source;
    uint64_t line; /* of the last */
};

static struct broken *find_broken(const struct ncclscope_model *m)
{
    struct broken *of_proc = nsc_alloc(m->procs.len * sizeof *of_proc);
    for (size_t i = 0; of_proc && i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_BACKTRACE || e->proc == NSC_NONE)
            continue;
        struct broken *b = &of_proc[e->proc];
        bool later = !b->broke || b->source != e->where.source || e->where.line > b->line;
        b->broke = true;
        b->in_init = b->in_init || nsc_text_find(e->where.text, "init.cu:") >= 0;
        b->source = e->where.source;
        b->line = later ? e->where.line : b->line;
    }
    return of_proc;
}

/* Did its initialisation fail? "init.cu:568 -> 1" also where it has connections and printed no end: up to 2.21.5 they are a part of it. What
 * stands before the line by which it starts, its process went on from. */
static bool has_failed(const struct nsc_rank *r, const struct broken *b)
{
    bool ended = r->complete.line || r->called || r->split_off || r->destroyed.line;
    bool before = r->start.line && !r->bare_start && r->start.source == b->source && b->line < r->start.line;
    return !before && ((!nsc_is_done(r) && b->broke) || (!ended && b->in_init));
}

/* The distinct ranks seen decide what can be said. Where most ranks came to "Destroy COMPLETE", the line by which another ended its
 * initialisation was lost: several writers of one file tear such lines. */
static void judge_state(const struct ncclscope_model *m, struct nsc_comm *c, const struct broken *broken)
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
        failed = failed || has_failed(r, &broken[r->proc]);
    }
    c->state = aborted                             ? NSC_ABORTED
               : failed                            ? NSC_FAILED
               : open && destroyed * 2 <= c->count ? NSC_INCOMPLETE
               : c->seen == c->nranks              ? NSC_COMPLETE
                                                   : NSC_PARTIAL;
}

static struct nsc_key place_on_host(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    return (struct nsc_key){r->comm, m->procs.item[r->proc].host, 0};
}

static void count_on_hosts(struct ncclscope_model *m)
{
    struct nsc_map ranks = {0};
    for (size_t i = 0; i < m->members.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[i]];
        uint32_t before = nsc_map_get(&ranks, place_on_host(m, r));
        if (nsc_map_put(&ranks, place_on_host(m, r), before == NSC_NONE ? 1 : before + 1))
            m->no_memory = true;
    }
    for (size_t i = 0; i < m->members.len; i++) {
        struct nsc_rank *r = &m->ranks.item[m->members.item[i]];
        r->on_host = nsc_map_get(&ranks, place_on_host(m, r));
    }
    nsc_map_free(&ranks);
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
    count_on_hosts(m);
    struct broken *broken = find_broken(m);
    for (size_t i = 0; broken && i < m->comms.len; i++) {
        judge_state(m, &m->comms.item[i], broken);
        m->comms.item[i].shared_names = names_are_shared(m, &m->comms.item[i]);
    }
    m->no_memory = m->no_memory || !broken;
    nsc_free(broken);
}

/* "?0xab" to 0xab, or 0xab#1 if a communicator before it has that id. `times`: how often each was given. */
static void name_by_id(struct ncclscope_model *m, size_t index, struct nsc_map *times)
{
    nsc_text id = nsc_say(m, m->comms.item[index].id);
    bool marked = id.ptr[0] == '?';
    char name[320];
    id = nsc_text_from(id, marked);
    struct nsc_key key = {nsc_keep(m, id), 0, 0};
    uint32_t got = nsc_map_get(times, key), before = got == NSC_NONE ? 0 : got;
    if (nsc_map_put(times, key, before + 1))
        m->no_memory = true;
    if (!marked && !before)
        return;
    id = nsc_say(m, (nsc_str)key.a);
    snprintf(name, sizeof name, before ? "%.*s#%u" : "%.*s", (int)id.len, id.ptr, before);
    m->comms.item[index].id = nsc_keep(m, nsc_text_of(name));
}

/* A communicator that prints no id is called after its lowest rank: host:pid:pointer#reuse. */
static void name_comms(struct ncclscope_model *m)
{
    char name[320];
    struct nsc_map times = {0};
    for (size_t i = 0; i < m->comms.len; i++) {
        struct nsc_comm *c = &m->comms.item[i];
        nsc_text key = nsc_say(m, c->id);
        if (key.ptr[0] != '?' || nsc_text_starts(key, "?0x"))
            name_by_id(m, i, &times);
        if (nsc_say(m, c->id).ptr[0] != '?' || !c->count)
            continue;
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first]];
        nsc_text host = nsc_say(m, m->procs.item[r->proc].host);
        snprintf(name, sizeof name, "%.*s:%lld:0x%llx#%u", (int)(host.len < 240 ? host.len : 240), host.ptr,
                 (long long)m->procs.item[r->proc].pid, (unsigned long long)r->pointer, r->reuse);
        c->id = nsc_keep(m, nsc_text_of(name));
    }
    nsc_map_free(&times);
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

static void list_processes(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->procs.len; i++) {
        bool told = m->procs.item[i].merged_into == NSC_NONE && !m->procs.item[i].nameless;
        uint32_t *o = told ? nsc_vec_push(&m->proc_order) : NULL;
        if (o)
            *o = (uint32_t)i;
    }
    if (m->proc_order.len)
        qsort_r(m->proc_order.item, m->proc_order.len, sizeof(uint32_t), nsc_by_host_and_pid, m);
}

static void mark_parents(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].parent != NSC_NONE)
            m->ranks.item[m->ranks.item[i].parent].split_off = true;
}

static int by_their_line(const void *a, const void *b)
{
    const struct nsc_env *x = a, *y = b;
    return nsc_is_earlier(&x->where, &y->where) ? -1 : nsc_is_earlier(&y->where, &x->where);
}

/* Variables in the order of the logs, whatever the order in which streams came. */
static void order_variables(struct ncclscope_model *m)
{
    bool in_order = true;
    for (size_t i = 1; i < m->env.len && in_order; i++)
        in_order = !nsc_is_earlier(&m->env.item[i].where, &m->env.item[i - 1].where);
    if (in_order)
        return;
    qsort(m->env.item, m->env.len, sizeof *m->env.item, by_their_line);
    nsc_map_free(&m->env_by);
    for (size_t i = 0; i < m->env.len; i++)
        m->no_memory |=
            nsc_map_put(&m->env_by, (struct nsc_key){m->env.item[i].proc, m->env.item[i].name, 0}, (uint32_t)i) != 0;
}

/* Of a model that was given facts while it grew. */
static void place_by_facts(struct ncclscope_model *m)
{
    if (m->facts)
        nsc_place_ranks(m);
}

/* Does another line than this process's own know the network: of a connection, of a device, of another process? */
static bool is_known_network(const struct ncclscope_model *m, const struct nsc_map *known, nsc_str network)
{
    uint32_t times = nsc_map_get(known, (struct nsc_key){network, 0, 0});
    nsc_text name = nsc_say(m, network);
    return times == 2 || nsc_text_is(name, "IB") || nsc_text_is(name, "Socket");
}

static void count_network(struct nsc_map *known, nsc_str network, uint32_t times)
{
    struct nsc_key key = {network, 0, 0};
    if (network)
        nsc_map_put(known, key, nsc_map_get(known, key) == NSC_NONE ? times : 2);
}

/* "Using network PU 1 to f0000000", where the end of another line ("... for GPU 1 to f0000000") was written over that of this one: a name that
 * nothing else in a torn input knows, beside one that others know. */
static void forget_torn_networks(struct ncclscope_model *m)
{
    struct nsc_map known = {0};
    for (size_t i = 0; i < m->proc_order.len; i++)
        count_network(&known, m->procs.item[m->proc_order.item[i]].network, 1);
    for (size_t i = 0; i < m->links.len; i++)
        count_network(&known, m->links.item[i].network, 2);
    for (size_t i = 0; i < m->devices.len; i++)
        count_network(&known, m->devices.item[i].net, 2);
    bool others = false;
    for (size_t i = 0; i < m->proc_order.len && !others; i++) {
        nsc_str network = m->procs.item[m->proc_order.item[i]].network;
        others = network && is_known_network(m, &known, network);
    }
    for (size_t i = 0; others && i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        if (r->network && m->sources.item[m->procs.item[r->proc].source].stats.torn_lines &&
            !is_known_network(m, &known, r->network))
            r->network = 0;
    }
    for (size_t i = 0; others && i < m->procs.len; i++) {
        struct nsc_proc *p = &m->procs.item[i];
        if (p->network && m->sources.item[p->source].stats.torn_lines && !is_known_network(m, &known, p->network))
            p->network = 0;
    }
    nsc_map_free(&known);
}

/* Each builds on what those before it made: without memory for one of them there is nothing for the next to look at. */
void nsc_join(struct ncclscope_model *m)
{
    static void (*const steps[])(struct ncclscope_model *) = {
        order_variables,
        nsc_merge_sources,
        nsc_find_owners,
        nsc_adopt,
        list_processes,
        nsc_join_ranks,
        nsc_mark_guesses,
        nsc_version_settle,
        nsc_gpus_settle,
        nsc_take_commands,
        forget_early_use,
        excuse_the_oldest,
        order_comms,
        mark_parents,
        list_members,
        name_comms,
        nsc_attribute_rest,
        nsc_put_in_order,
        forget_torn_networks,
        nsc_take_diag_pairs,
        nsc_find_shared_gpus,
        nsc_take_bus_ids,
        nsc_find_proofs,
        nsc_find_machines,
        nsc_find_gpus_of_names,
        place_by_facts,
        nsc_find_paths,
        nsc_find_shapes,
        nsc_look_at_whole,
    };
    unsigned before = nsc_failed_allocations();
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !m->no_memory && nsc_failed_allocations() == before; i++)
        steps[i](m);
}
