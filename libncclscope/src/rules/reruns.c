/* reruns.c - a file that holds several runs of a job: what failed behind a later start does not follow from what failed before. */
#include "rules/raised.h"

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
