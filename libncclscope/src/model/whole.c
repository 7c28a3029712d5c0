/* whole.c - what rules ask of a whole input for each thing that they find, looked for once. */
#include "model/model.h"

bool nsc_exits_well(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_JOB_DONE && nsc_text_find(nsc_said(m, r, "text"), "exits successfully") >= 0;
}

static bool tells_success(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    int64_t wrong;
    return r->number == NCCLSCOPE_KIND_TEST_AVERAGE || r->number == NCCLSCOPE_KIND_PROGRAM_DONE ||
           r->number == NCCLSCOPE_KIND_TRAINER_DONE || r->number == NCCLSCOPE_KIND_ELASTIC_DONE ||
           r->number == NCCLSCOPE_KIND_HOROVOD_TOTAL ||
           (r->number == NCCLSCOPE_KIND_JOB_DONE && !(m->troubles && nsc_exits_well(m, r))) ||
           (r->number == NCCLSCOPE_KIND_TEST_BOUNDS && nsc_number_said(m, r, "count", &wrong) && !wrong);
}

/* "***** train metrics *****" and, further down, "***** eval metrics *****": the last of them is the end. A trainer that
 * stopped may be one stage of several: the program's own word for its end says more. */
static bool goes_on(const struct ncclscope_model *m, const struct nsc_own_record *before,
                    const struct nsc_own_record *r)
{
    bool of_whole = before->number == NCCLSCOPE_KIND_TRAINER_DONE && r->number == NCCLSCOPE_KIND_PROGRAM_DONE;
    return (before->number == r->number || of_whole) && before->where.source == r->where.source && !m->troubles &&
           (r->number == NCCLSCOPE_KIND_PROGRAM_DONE || r->number == NCCLSCOPE_KIND_TRAINER_DONE ||
            r->number == NCCLSCOPE_KIND_JOB_DONE);
}

static void keep_first(struct ncclscope_model *m, struct nsc_map *first, ncclscope_kind kind, size_t i)
{
    struct nsc_key key = {(uint64_t)kind, 0, 0};
    if (nsc_map_get(first, key) == NSC_NONE && nsc_map_put(first, key, (uint32_t)i))
        m->no_memory = true;
}

static void look_at_others(struct ncclscope_model *m, struct nsc_whole *w)
{
    int64_t rank;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        keep_first(m, &w->heard, r->number, i);
        w->listed += r->number == NCCLSCOPE_KIND_TEST_RANK;
        bool ends =
            r->torch_rank >= 0 && (r->number == NCCLSCOPE_KIND_PY_RAISED || r->number == NCCLSCOPE_KIND_TORCH_OOM ||
                                   r->number == NCCLSCOPE_KIND_PROGRAM_CUDA);
        struct nsc_key of_rank = {(uint64_t)r->torch_rank, 0, 0};
        if (ends && nsc_map_get(&w->raised, of_rank) == NSC_NONE && nsc_map_put(&w->raised, of_rank, (uint32_t)i))
            m->no_memory = true;
        if (tells_success(m, r) && (w->done == NSC_NONE || goes_on(m, &m->happened.item[w->done], r)))
            w->done = (uint32_t)i;
        if (r->number == NCCLSCOPE_KIND_RANK_SAID && nsc_number_said(m, r, "rank", &rank) &&
            nsc_map_put(&w->words, (struct nsc_key){(uint64_t)rank, 0, 0}, (uint32_t)i))
            m->no_memory = true;
    }
    if (nsc_first_heard(m, NCCLSCOPE_KIND_JOB_FAILED)) /* others' agents report success of their own node */
        w->done = NSC_NONE;
    if (m->tests_begun > m->tests_ended && m->tests_ended) /* of several runs one did not come to its end */
        w->done = NSC_NONE;
}

/* Of the lines of a source by which its program counts on. */
enum nsc_step {
    BEFORE_TROUBLE, /* the last before the last that tells of trouble */
    BEHIND_TROUBLE, /* the first behind that */
    NEWEST
};

static uint32_t step_of(const struct nsc_whole *w, uint32_t source, enum nsc_step which)
{
    return nsc_map_get(&w->steps, (struct nsc_key){source, which, 0});
}

static void keep_step(struct ncclscope_model *m, uint32_t source, enum nsc_step which, uint32_t i)
{
    if (nsc_map_put(&m->whole.steps, (struct nsc_key){source, which, 0}, i))
        m->no_memory = true;
}

static void look_at_steps(struct ncclscope_model *m, struct nsc_whole *w)
{
    for (uint32_t i = 0; nsc_first_heard(m, NCCLSCOPE_KIND_PROGRAM_GOES_ON) && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        uint32_t source = r->where.source;
        if (r->number == NCCLSCOPE_KIND_PROGRAM_GOES_ON) {
            if (step_of(w, source, BEHIND_TROUBLE) == NSC_NONE)
                keep_step(m, source, BEHIND_TROUBLE, i);
            keep_step(m, source, NEWEST, i);
        } else if (nsc_is_trouble(r->number) && step_of(w, source, BEHIND_TROUBLE) != NSC_NONE) {
            keep_step(m, source, BEFORE_TROUBLE, step_of(w, source, NEWEST));
            keep_step(m, source, BEHIND_TROUBLE, NSC_NONE);
        }
    }
}

const struct nsc_own_record *nsc_outlives(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    uint32_t source = r->where.source, at = (uint32_t)(r - m->happened.item),
             before = step_of(&m->whole, source, BEFORE_TROUBLE), behind = step_of(&m->whole, source, BEHIND_TROUBLE),
             newest = step_of(&m->whole, source, NEWEST);
    if (r->torch_rank >= 0 || behind == NSC_NONE || newest < at || (before != NSC_NONE && before > at))
        return NULL;
    return &m->happened.item[behind > at ? behind : newest];
}

/* Does a warning tell no more than what this machine lacks: an RDMA library, GDRCopy? It has nothing to do with a failure. */
static bool is_of_machine(const struct ncclscope_model *m, const struct nsc_warning *x)
{
    return x->kind == NCCLSCOPE_KIND_VERBS_NOT_LOADED || x->kind == NCCLSCOPE_KIND_RMA_NO_GDRCOPY ||
           x->kind == NCCLSCOPE_KIND_RCCL_NUMA || x->kind == NCCLSCOPE_KIND_RCCL_MISSING ||
           (x->kind == NCCLSCOPE_KIND_RCCL_OPTION && !x->broke) ||
           (x->kind == NCCLSCOPE_KIND_LIBRARY_MISSING && !x->broke &&
            nsc_text_find(nsc_say(m, x->message), "ibverbs") >= 0);
}

/* A process that failed before it said its rank, or is quoted by its program alone, is a stranger. */
static void look_at_events(struct ncclscope_model *m, struct nsc_whole *w)
{
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        keep_first(m, &w->event, e->kind, i);
        w->no_collnet = w->no_collnet || nsc_refuses_collnet(e);
        w->broke = w->broke || e->broke;
        if (e->kind == NCCLSCOPE_KIND_IB_EVENT && nsc_text_find(e->where.text, "port active") >= 0 &&
            nsc_map_put(&w->back, (struct nsc_key){e->proc, 0, 0}, (uint32_t)i))
            m->no_memory = true;
        w->stranger_failed =
            w->stranger_failed || ((e->quoted || e->broke) && m->procs.item[e->proc].last_rank == NSC_NONE);
    }
    for (size_t i = 0; i < m->warnings.len; i++)
        w->warned += !is_of_machine(m, &m->warnings.item[i]);
}

static void look_at_sources(const struct ncclscope_model *m, struct nsc_whole *w)
{
    uint64_t lines = 0, torn = 0;
    for (size_t i = 0; i < m->sources.len; i++) {
        lines += m->sources.item[i].stats.records;
        torn += m->sources.item[i].stats.torn_lines;
        w->unended = w->unended || m->sources.item[i].stats.unended;
        w->breaks_off = w->breaks_off || nsc_breaks_off(&m->sources.item[i]);
    }
    w->battered = torn * 10 > lines;
}

enum mask_count { TELLING, DIFFERENT, ONE_OF_THEM };

static uint32_t masks_of(const struct nsc_whole *w, nsc_str host, enum mask_count which)
{
    uint32_t n = nsc_map_get(&w->masks, (struct nsc_key){host, 0, which});
    return n == NSC_NONE ? 0 : n;
}

static void count_mask(struct ncclscope_model *m, struct nsc_whole *w, nsc_str host, nsc_str cpus)
{
    struct nsc_key one = {host, cpus, ONE_OF_THEM};
    bool first = nsc_map_get(&w->masks, one) == NSC_NONE;
    if (nsc_map_put(&w->masks, one, 1) ||
        nsc_map_put(&w->masks, (struct nsc_key){host, 0, TELLING}, masks_of(w, host, TELLING) + 1) ||
        nsc_map_put(&w->masks, (struct nsc_key){host, 0, DIFFERENT}, masks_of(w, host, DIFFERENT) + first))
        m->no_memory = true;
}

static void look_at_cpus(struct ncclscope_model *m, struct nsc_whole *w)
{
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].cpus && !m->procs.item[i].cpus_differ)
            count_mask(m, w, m->procs.item[i].host, m->procs.item[i].cpus);
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].cpus && m->procs.item[m->ranks.item[i].proc].cpus_differ)
            count_mask(m, w, m->procs.item[m->ranks.item[i].proc].host, m->ranks.item[i].cpus);
}

bool nsc_are_bound(const struct ncclscope_model *m, nsc_str host)
{
    enum { FEW = 3 };
    uint32_t n = masks_of(&m->whole, host, TELLING);
    return n >= FEW && masks_of(&m->whole, host, DIFFERENT) == n;
}

/* They may be those that no line names. The device that a header shows is the one which its thread has selected: main threads that abort
 * show 0 for all. */
static int64_t count_unnamed_gpus(const struct ncclscope_model *m)
{
    int64_t n = 0;
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        uint64_t open = p->devices;
        int ranks = 0;
        for (uint32_t k = p->last_rank; k != NSC_NONE; k = m->ranks.item[k].before, ranks++)
            if (m->ranks.item[k].cuda_dev >= 0 && m->ranks.item[k].cuda_dev < 64)
                open &= ~((uint64_t)1 << m->ranks.item[k].cuda_dev);
            else
                open = 0;
        n += ranks >= __builtin_popcountll(p->devices) ? 0 : __builtin_popcountll(open);
    }
    return n;
}

void nsc_look_at_whole(struct ncclscope_model *m)
{
    struct nsc_whole *w = &m->whole;
    w->done = NSC_NONE;
    for (size_t i = 0; i < m->comms.len; i++)
        w->most_ranks = m->comms.item[i].nranks > w->most_ranks ? m->comms.item[i].nranks : w->most_ranks;
    look_at_others(m, w);
    look_at_steps(m, w);
    look_at_events(m, w);
    look_at_sources(m, w);
    look_at_cpus(m, w);
    w->unnamed_gpus = count_unnamed_gpus(m);
}

const struct nsc_where *nsc_success_of(const struct ncclscope_model *m)
{
    return m->whole.done == NSC_NONE ? NULL : &m->happened.item[m->whole.done].where;
}

const struct nsc_own_record *nsc_first_heard(const struct ncclscope_model *m, ncclscope_kind kind)
{
    uint32_t i = nsc_map_get(&m->whole.heard, (struct nsc_key){(uint64_t)kind, 0, 0});
    return i == NSC_NONE ? NULL : &m->happened.item[i];
}
