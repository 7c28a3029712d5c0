/* reruns.c - a file that holds several runs of a job: what failed behind a later start does not follow from what failed before. And processes that
 * try again. */
#include "rules/reruns.h"

/* The number of ranks of the largest communicator of a source: of the job, not of a group within it. */
static int64_t size_of_job(const struct ncclscope_model *m, uint32_t source)
{
    int64_t n = 0;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (m->procs.item[r->proc].source == source && r->nranks > n)
            n = r->nranks;
    }
    return n;
}

/* Processes of one job start at about one time, and one may fail before another has printed a line: a start anew is a rank of the job
 * that another process of its host was before. */
uint64_t nsc_started_anew(const struct ncclscope_model *m, const struct nsc_where *failed)
{
    int64_t size = size_of_job(m, failed->source);
    struct nsc_map before = {0};
    uint64_t anew = UINT64_MAX;
    for (int later = 0; later < 2 && size > 1; later++)
        for (size_t i = 0; i < m->ranks.len; i++) {
            const struct nsc_rank *r = &m->ranks.item[i];
            const struct nsc_proc *p = &m->procs.item[r->proc];
            struct nsc_key key = {p->host, (uint64_t)r->rank, 0};
            if (p->source != failed->source || r->nranks != size)
                continue;
            if (!later && p->first.line < failed->line)
                nsc_map_put(&before, key, (uint32_t)i);
            if (later && p->first.line > failed->line && p->first.line < anew && nsc_map_get(&before, key) != NSC_NONE)
                anew = p->first.line;
        }
    nsc_map_free(&before);
    return anew;
}

struct nsc_came_up *nsc_list_came_up(const struct ncclscope_model *m)
{
    struct nsc_came_up *of = nsc_alloc((m->procs.len + 1) * sizeof *of);
    for (size_t i = 0; of && i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        struct nsc_came_up *x = &of[r->proc];
        if (!r->complete.line || r->nranks < x->nranks || r->complete.source != m->procs.item[r->proc].source)
            continue;
        x->line = r->nranks > x->nranks || r->complete.line > x->line ? r->complete.line : x->line;
        x->nranks = r->nranks;
    }
    return of;
}

bool nsc_is_made_anew(const struct ncclscope_model *m, const struct nsc_comm *k, const struct nsc_came_up *of)
{
    for (uint32_t n = 0; n < k->count; n++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + n]];
        if (of[r->proc].nranks < r->nranks || of[r->proc].line <= r->first.line ||
            r->first.source != m->procs.item[r->proc].source)
            return false;
    }
    return k->count > 0;
}

void nsc_tell_made_anew(struct nsc_case *c, uint32_t comm)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_comm *k = &m->comms.item[comm];
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
    f->comm = comm;
    f->count = 1;
    f->title = nsc_words(c, "A communicator of %lld ranks failed to come up; the same processes then made another one",
                         (long long)k->nranks);
    f->fix = "Nothing, if the program tried again on purpose; else look at that attempt's first failure.";
    nsc_show(c, f, &m->ranks.item[m->members.item[k->first]].first);
}
