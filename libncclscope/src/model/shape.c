/* shape.c - what a communicator looks like in the whole job: all ranks, neighbours, every n-th, a pair; and its worst path. */
#include "model/path.h"

#include <stdlib.h>

/* Processes that communicators join, directly or through others, are of one job. */
struct jobs {
    uint32_t *to;    /* by process: another of its job; the first of them to itself */
    uint32_t *ranks; /* by the first process of a job: its GPUs, as the largest communicators and processes show */
    bool *doubtful;  /* by the same: another such set of processes is as large, and nothing joins the two */
};

static uint32_t job_of(const struct jobs *j, uint32_t proc)
{
    while (j->to[proc] != proc) {
        j->to[proc] = j->to[j->to[proc]];
        proc = j->to[proc];
    }
    return proc;
}

static void find_jobs(const struct ncclscope_model *m, const struct jobs *j)
{
    for (uint32_t i = 0; i < m->procs.len; i++)
        j->to[i] = i;
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *c = &m->comms.item[i];
        for (uint32_t k = 1; k < c->count; k++) {
            uint32_t a = job_of(j, m->ranks.item[m->members.item[c->first]].proc);
            uint32_t b = job_of(j, m->ranks.item[m->members.item[c->first + k]].proc);
            j->to[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (uint32_t i = 0; i < m->procs.len; i++)
        j->ranks[job_of(j, i)] += m->procs.item[i].last_rank != NSC_NONE;
    for (size_t i = 0; i < m->comms.len; i++) { /* a process may drive several GPUs; not all may be in the input */
        const struct nsc_comm *c = &m->comms.item[i];
        uint32_t *n = c->count ? &j->ranks[job_of(j, m->ranks.item[m->members.item[c->first]].proc)] : NULL;
        if (n && c->nranks > *n)
            *n = (uint32_t)c->nranks;
    }
}

/* Sets of processes of one size that nothing joins, each with one communicator alone: groups of one job, or jobs like each other. */
static void doubt_twins(const struct ncclscope_model *m, const struct jobs *j)
{
    struct nsc_map seen = {0},
                   smaller = {0}; /* by size: a first process; by first process: it has smaller communicators too */
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *c = &m->comms.item[i];
        uint32_t job = c->count ? job_of(j, m->ranks.item[m->members.item[c->first]].proc) : NSC_NONE;
        if (job != NSC_NONE && c->nranks > 1 && c->nranks < (int64_t)j->ranks[job])
            nsc_map_put(&smaller, (struct nsc_key){job, 0, 0}, 0);
    }
    for (uint32_t i = 0; i < m->procs.len; i++) {
        struct nsc_key key = {j->ranks[i], 0, 0};
        if (j->to[i] != i || m->procs.item[i].last_rank == NSC_NONE ||
            nsc_map_get(&smaller, (struct nsc_key){i, 0, 0}) != NSC_NONE)
            continue;
        uint32_t twin = nsc_map_get(&seen, key);
        if (twin == NSC_NONE) {
            nsc_map_put(&seen, key, i);
            continue;
        }
        j->doubtful[i] = j->doubtful[twin] = true;
    }
    nsc_map_free(&seen);
    nsc_map_free(&smaller);
}

/* Where the ranks of a communicator stand in the largest one of their job. */
struct places {
    struct nsc_map by; /* largest communicator, process and device to its rank */
    uint32_t *largest; /* by first process of a job: a communicator with all ranks; NSC_NONE */
};

static struct nsc_key place(uint32_t comm, const struct nsc_rank *r)
{
    return (struct nsc_key){comm, r->proc, (uint64_t)r->cuda_dev};
}

/* Was it made from a communicator that is not in the input? Then that one may be larger. */
static bool is_of_unseen(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    return c->parent == NSC_NONE && c->count && m->ranks.item[m->members.item[c->first]].parent_pointer;
}

static void find_places(struct ncclscope_model *m, const struct jobs *j, struct places *p)
{
    for (uint32_t i = 0; i < m->procs.len; i++)
        p->largest[i] = NSC_NONE;
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *c = &m->comms.item[i];
        uint32_t job = c->count ? job_of(j, m->ranks.item[m->members.item[c->first]].proc) : NSC_NONE;
        if (job == NSC_NONE || c->nranks < (int64_t)j->ranks[job] || p->largest[job] != NSC_NONE || is_of_unseen(m, c))
            continue;
        p->largest[job] = (uint32_t)i;
        for (uint32_t k = 0; k < c->count; k++) {
            const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + k]];
            if (nsc_map_put(&p->by, place((uint32_t)i, r), (uint32_t)r->rank))
                m->no_memory = true;
        }
    }
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Its ranks as those of the whole job, sorted; false if some are not known. */
static bool ranks_in_job(const struct ncclscope_model *m, const struct nsc_comm *c, uint32_t largest,
                         const struct places *p, int64_t *ranks)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        uint32_t at = largest == NSC_NONE ? NSC_NONE : nsc_map_get(&p->by, place(largest, r));
        ranks[i] = at != NSC_NONE ? (int64_t)at : largest == NSC_NONE ? m->procs.item[r->proc].launcher_rank : -1;
        if (ranks[i] < 0)
            return false;
    }
    qsort(ranks, c->count, sizeof *ranks, by_number);
    return true;
}

static void find_shape(struct ncclscope_model *m, struct nsc_comm *c, const struct jobs *j, const struct places *p,
                       int64_t *ranks)
{
    uint32_t job = c->count ? job_of(j, m->ranks.item[m->members.item[c->first]].proc) : NSC_NONE;
    if (job == NSC_NONE || c->guessed)
        return;
    if (c->nranks >= (int64_t)j->ranks[job]) {
        if (!j->doubtful[job]) {
            c->shape = is_of_unseen(m, c) || (m->repeated && c->seen < c->nranks) ? NSC_SHAPE_UNKNOWN : NSC_SHAPE_ALL;
            return;
        }
    }
    if (c->seen != c->nranks || c->count != c->nranks || c->nranks < 2 ||
        !ranks_in_job(m, c, j->doubtful[job] ? NSC_NONE : p->largest[job], p, ranks))
        return;
    c->stride = ranks[1] - ranks[0];
    bool even = c->stride > 0;
    for (uint32_t i = 2; i < c->count; i++)
        even = even && ranks[i] - ranks[i - 1] == c->stride;
    c->tiles = even && c->stride == 1 && ranks[0] % c->nranks == 0 && j->ranks[job] % (uint64_t)c->nranks == 0;
    c->shape = !even            ? NSC_SHAPE_OTHER
               : c->nranks == 2 ? NSC_SHAPE_PAIR
               : c->stride == 1 ? NSC_SHAPE_CONSECUTIVE
                                : NSC_SHAPE_STRIDED;
}

static void find_worst_paths(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        m->comms.item[i].worst_path = -1;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        uint32_t comm = nsc_comm_of(m, l);
        if (comm == NSC_NONE || l->family == NSC_COLLNET)
            continue;
        struct nsc_known_path p = l->known;
        if ((int)p.path > m->comms.item[comm].worst_path)
            m->comms.item[comm].worst_path = (int)p.path;
    }
}

void nsc_find_shapes(struct ncclscope_model *m)
{
    size_t n = m->procs.len + 1;
    struct jobs j = {nsc_alloc(n * sizeof *j.to), nsc_alloc(n * sizeof *j.ranks), nsc_alloc(n * sizeof *j.doubtful)};
    struct places p = {.largest = nsc_alloc(n * sizeof *p.largest)};
    int64_t *ranks = nsc_alloc((m->members.len + 1) * sizeof *ranks);
    bool fine = j.to && j.ranks && j.doubtful && p.largest && ranks;
    m->no_memory = m->no_memory || !fine;
    if (fine) {
        find_jobs(m, &j);
        doubt_twins(m, &j);
        find_places(m, &j, &p);
    }
    for (size_t i = 0; fine && i < m->comms.len; i++)
        find_shape(m, &m->comms.item[i], &j, &p, ranks);
    find_worst_paths(m);
    nsc_map_free(&p.by);
    nsc_free(p.largest);
    nsc_free(j.to);
    nsc_free(j.ranks);
    nsc_free(j.doubtful);
    nsc_free(ranks);
}
