/* adopt.c - ranks whose birth is not in the input, but whose connections, trees or warnings are.
 *
 * A slice holds the Init lines of ranks 1 and 2 of 16, and connections that ranks 4 to 7 print. Where the source tells of one
 * communicator alone, they are of it: a rank that speaks is not "missing". Not where Ray left lines out: whose they are it does not tell. */
#include "model/model.h"

struct job {
    int64_t nranks; /* 0: the source names no communicator; -1: several, or children */
    nsc_str id;
    uint64_t begins; /* the first line on which a rank of it starts; 0: none does */
};

static void add_to_job(struct job *j, const struct nsc_rank *r)
{
    bool other = (j->nranks && j->nranks != r->nranks) || (j->id && r->comm_id && j->id != r->comm_id);
    j->nranks = other || r->parent_pointer || j->nranks < 0 ? -1 : r->nranks;
    j->id = r->comm_id ? r->comm_id : j->id;
    if (r->start.line && (!j->begins || r->start.line < j->begins))
        j->begins = r->start.line;
}

/* Of each source the one communicator that it tells of; ranks that it tells of twice made several. */
static void find_jobs(struct ncclscope_model *m, struct job *jobs, struct nsc_map *place)
{
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        uint32_t source = m->procs.item[r->proc].source;
        if (r->rank < 0 || r->nranks < 0)
            continue;
        struct nsc_key key = {source, (uint64_t)r->rank, 0};
        add_to_job(&jobs[source], r);
        if (nsc_map_get(place, key) != NSC_NONE)
            jobs[source].nranks = -1;
        if (nsc_map_put(place, key, (uint32_t)i))
            m->no_memory = true;
    }
}

/* "comm 0x3a0f rank 1 sync deviceStream error 1": the rank is named, the size is not. */
static void adopt_named(struct ncclscope_model *m, const struct job *jobs, struct nsc_map *place)
{
    for (size_t i = 0; i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        uint32_t source = m->procs.item[r->proc].source;
        struct nsc_key key = {source, (uint64_t)r->rank, 0};
        if (r->rank < 0 || r->nranks >= 0 || r->rank >= jobs[source].nranks || nsc_map_get(place, key) != NSC_NONE)
            continue;
        r->nranks = jobs[source].nranks;
        if (nsc_map_put(place, key, (uint32_t)i))
            m->no_memory = true;
    }
}

/* Is the place of who printed the connection free, and does the process sit nowhere else on that device? */
static bool may_adopt(const struct ncclscope_model *m, const struct nsc_link *l)
{
    for (uint32_t i = m->procs.item[l->proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before)
        if (m->ranks.item[i].cuda_dev == l->dev || m->ranks.item[i].cuda_dev < 0)
            return false;
    return true;
}

static struct nsc_rank *adopt(struct ncclscope_model *m, struct nsc_map *place, uint32_t proc, int64_t rank,
                              int64_t nranks, struct nsc_where where)
{
    uint32_t i = nsc_rank_new(m, proc, 0, 0, where);
    struct nsc_key key = {m->procs.item[proc].source, (uint64_t)rank, 0};
    if (i == NSC_NONE || nsc_map_put(place, key, i)) {
        m->no_memory = true;
        return NULL;
    }
    struct nsc_rank *r = &m->ranks.item[i];
    r->rank = rank;
    r->nranks = nranks;
    return r;
}

static void adopt_printer(struct ncclscope_model *m, struct nsc_map *place, const struct nsc_link *l, int64_t nranks)
{
    nsc_str dev = l->printer == (int64_t)l->src ? l->src_dev : l->dst_dev;
    struct nsc_rank *r = adopt(m, place, l->proc, l->printer, nranks, l->where);
    if (!r)
        return;
    r->cuda_dev = l->dev;
    r->used = true;
    if (nsc_say(m, dev).len >= 4) /* a shorter one is an index */
        r->bus_id = dev;
}

/* "Trees [0] 22->23->-1": the rank that prints stands in the middle. */
static void adopt_in_trees(struct ncclscope_model *m, const struct job *jobs, struct nsc_map *place)
{
    for (size_t i = 0; i < m->threads.len; i++) {
        const struct nsc_thread *t = &m->threads.item[i];
        uint32_t source = m->procs.item[t->proc].source;
        struct nsc_key key = {source, (uint64_t)t->in_tree, 0};
        if (t->in_tree < 0 || t->in_tree >= jobs[source].nranks || m->procs.item[t->proc].last_rank != NSC_NONE ||
            t->in_tree_at.line < jobs[source].begins || nsc_map_get(place, key) != NSC_NONE)
            continue;
        struct nsc_rank *r = adopt(m, place, t->proc, t->in_tree, jobs[source].nranks, t->in_tree_at);
        if (r)
            r->cuda_dev = t->dev;
    }
}

static void adopt_links(struct ncclscope_model *m, const struct job *jobs, struct nsc_map *place)
{
    for (size_t i = 0; i < m->links.len; i++) {
        struct nsc_link *l = &m->links.item[i];
        if (l->rank != NSC_NONE || l->proc == NSC_NONE)
            continue;
        uint32_t source = m->procs.item[l->proc].source;
        int64_t n = jobs[source].nranks;
        struct nsc_key key = {source, (uint64_t)l->printer, 0};
        uint32_t rank = nsc_map_get(place, key);
        if ((int64_t)l->src >= n || (int64_t)l->dst >= n || l->where.line < jobs[source].begins)
            continue; /* of another communicator, that was there before */
        if (rank == NSC_NONE && may_adopt(m, l)) {
            adopt_printer(m, place, l, n);
            rank = nsc_map_get(place, key);
        }
        if (rank == NSC_NONE || m->ranks.item[rank].proc != l->proc || m->ranks.item[rank].pointer)
            continue; /* one that names itself was asked when its connections were given away */
        l->rank = rank;
        l->attribution = NSC_INFERRED;
    }
}

void nsc_adopt(struct ncclscope_model *m)
{
    struct job *jobs = nsc_alloc((m->sources.len + 1) * sizeof *jobs);
    struct nsc_map place = {0};
    if (!jobs)
        m->no_memory = true;
    if (jobs && !m->repeated) {
        find_jobs(m, jobs, &place);
        adopt_named(m, jobs, &place);
        adopt_in_trees(m, jobs, &place);
        adopt_links(m, jobs, &place);
    }
    nsc_map_free(&place);
    nsc_free(jobs);
}
