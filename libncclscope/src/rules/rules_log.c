/* rules_log.c - the log itself: what it does not hold, what is torn, what nobody knows. */
#include "rules/rules.h"

static uint64_t sum_records(const struct ncclscope_model *m, uint64_t *warnings, uint64_t *unknown, uint64_t *torn)
{
    uint64_t n = 0;
    *warnings = *unknown = *torn = 0;
    for (size_t i = 0; i < m->sources.len; i++) {
        const ncclscope_stats *s = &m->sources.item[i].stats;
        n += s->records;
        *warnings += s->warnings;
        *unknown += s->unknown;
        *torn += s->torn_lines;
    }
    return n;
}

void nsc_rule_no_channels(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    uint64_t warnings, unknown, torn, records = sum_records(m, &warnings, &unknown, &torn);
    if (!records || m->link_order.len)
        return;
    bool alone = true;
    for (size_t i = 0; i < c->f->list.len; i++)
        alone = alone && c->f->list.item[i].severity < NCCLSCOPE_WARNING;
    struct nsc_finding *f = nsc_found(c, alone ? NCCLSCOPE_WARNING : NCCLSCOPE_NOTE, "visibility", "certain");
    bool init = m->comms.len > 0, late = false, pairs = false;
    for (size_t i = 0; i < m->procs.len; i++)
        late = late || nsc_version_of(m, (uint32_t)i).high >= 22200;
    for (size_t i = 0; i < m->comms.len; i++)
        pairs = pairs || m->comms.item[i].nranks > 1;
    f->count = records;
    f->title = "This log holds no connection lines: which path the GPUs use cannot be told";
    f->cause = !m->procs.len ? "Only the version line was printed: NCCL_DEBUG is VERSION or WARN."
               : !init  ? "No communicator was initialised in what was logged: NCCL_DEBUG_SUBSYS without INIT, a log "
                          "that ends early, or a failure before it."
               : !pairs ? "Every communicator here has one rank: there is no pair of GPUs to connect."
               : !late
                   ? "Up to 2.21.5 connections are made, and printed, while a communicator is initialised; this log "
                     "ends before that, or NCCL_DEBUG_SUBSYS hides the lines."
                   : "From 2.22.3 on connections are made, and printed, at the first collective; this log ends "
                     "before one, or NCCL_DEBUG_SUBSYS hides "
                     "the lines.";
    for (size_t i = 0; i < m->comms.len; i++)
        nsc_show(c, f, &m->comms.item[i].where);
    if (init && !pairs)
        f->fix = "Nothing to do: give the log of a job with two GPUs or more.";
    for (size_t i = 0; i < m->sources.len; i++)
        nsc_show(c, f, m->sources.item[i].bare_version ? &m->sources.item[i].bare_version_at : NULL);
}

void nsc_rule_torn(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    uint64_t warnings, unknown, torn;
    sum_records(m, &warnings, &unknown, &torn);
    if (!torn)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_NOTE, "visibility", "certain");
    f->count = torn;
    f->title = nsc_words(c, "%llu line%s torn: several processes wrote into each other's lines",
                         (unsigned long long)torn, torn == 1 ? " is" : "s are");
    f->cause = "Processes share one pipe. What could be put together again was read; connections that were cut are not "
               "counted.";
    for (size_t i = 0; i < m->sources.len; i++)
        for (int k = 0; k < 4; k++) {
            struct nsc_where w = {(uint32_t)i, m->sources.item[i].stats.first_torn[k], {"", 0}};
            nsc_show(c, f, &w);
        }
}

void nsc_rule_unknown_lines(struct nsc_case *c)
{
    uint64_t warnings, unknown, torn, records = sum_records(c->m, &warnings, &unknown, &torn);
    if (unknown * 50 <= records)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_NOTE, "visibility", "certain");
    f->count = unknown;
    f->title = nsc_words(c, "%llu of %llu NCCL records are not known to this version of ncclscope",
                         (unsigned long long)unknown, (unsigned long long)records);
    f->cause = "A newer NCCL, a fork or a private plugin. What they say was not judged.";
}
