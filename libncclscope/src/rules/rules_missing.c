/* rules_missing.c - ranks that never came, or whose logs are elsewhere. */
#include "rules/ask.h"

enum { NAMED_MISSING = 65536 };

/* Ranks that no process of the input has: how many. The first NAMED_MISSING are named. */
static int64_t absent(struct nsc_case *c, const struct nsc_comm *k, struct nsc_finding *f)
{
    uint32_t at = 0;
    for (int64_t rank = 0; rank < k->nranks && rank < NAMED_MISSING; rank++) {
        while (at < k->count && c->m->ranks.item[c->m->members.item[k->first + at]].rank < rank)
            at++;
        if (at < k->count && c->m->ranks.item[c->m->members.item[k->first + at]].rank == rank)
            continue;
        uint64_t *r = nsc_vec_push(&f->ranks);
        if (r)
            *r = (uint64_t)rank;
        else
            c->f->no_memory = true;
    }
    return k->nranks - k->seen;
}

/* "ranks 8-15", "ranks 1-65535 and more" */
static const char *who_is_missing(struct nsc_case *c, const struct nsc_finding *f, int64_t missing)
{
    return nsc_words(c, "%s%s", nsc_list_ranks(c, f), (int64_t)f->ranks.len < missing ? " and more" : "");
}

/* Did a process that hangs in its initialisation find /dev/shm too small? */
static bool shm_failed(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        if (!nsc_is_done(r) && (nsc_event_of(m, r->proc, NCCLSCOPE_KIND_SHM_EXTEND) ||
                                nsc_event_of(m, r->proc, NCCLSCOPE_KIND_SHM_SEGMENT)))
            return true;
    }
    return false;
}

/* A child's ranks are all ranks of its parent: where the parent is not whole in this input, who is missing may be elsewhere. */
static bool has_whole_job(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    if (k->parent != NSC_NONE)
        return m->comms.item[k->parent].state == NSC_COMPLETE;
    for (uint32_t i = 0; i < k->count; i++)
        if (m->ranks.item[m->members.item[k->first + i]].parent_pointer)
            return false;
    return true;
}

/* One line in ten is torn, or more: what is not there may have been lost. */
static bool is_battered(const struct ncclscope_model *m)
{
    uint64_t lines = 0, torn = 0;
    for (size_t i = 0; i < m->sources.len; i++) {
        lines += m->sources.item[i].stats.records;
        torn += m->sources.item[i].stats.torn_lines;
    }
    return torn * 10 > lines;
}

enum { LINES_BEHIND = 40 };

/* The program went on for long behind the last line of these ranks, and nothing in the input says that it failed: the end of their
 * initialisation was lost, or never logged. */
static bool program_ran_on(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    if (m->happened.len && !nsc_success_of(m))
        return false;
    uint64_t last = 0, warnings = 0;
    uint32_t source = NSC_NONE;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_proc *p = &m->procs.item[m->ranks.item[m->members.item[k->first + i]].proc];
        if (source != NSC_NONE && source != p->source)
            return false;
        source = p->source;
        last = p->last_line > last ? p->last_line : last;
        warnings += m->sources.item[source].stats.warnings;
    }
    return source != NSC_NONE && !warnings && m->sources.item[source].stats.lines > last + LINES_BEHIND;
}

/* How sure it can be that ranks wait: a log that just ends may be a copy of the first part of a healthy one. */
static const char *sureness(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    uint64_t warnings = 0;
    bool unended = false;
    for (size_t i = 0; i < m->sources.len; i++) {
        warnings += m->sources.item[i].stats.warnings;
        unended = unended || m->sources.item[i].stats.unended;
    }
    bool failed = k->state == NSC_FAILED || warnings || m->happened.len;
    return is_battered(m) || ((unended || k->nranks == 1) && !failed) ? "possible" : failed ? "certain" : "likely";
}

/* Did a member print what NCCL knows only after all ranks have told each other what they are? */
static bool have_met(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (m->ranks.item[m->members.item[k->first + i]].nnodes > 0)
            return true;
    return false;
}

static void tell_missing(struct nsc_case *c, uint32_t comm)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_comm *k = &m->comms.item[comm];
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_ERROR, "error", "certain");
    int64_t waiting = 0, done = 0, never = absent(c, k, f);
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        done += nsc_is_done(r);
        waiting += !nsc_is_done(r);
        nsc_name_host(c, f, m->procs.item[r->proc].host);
        if (!nsc_is_done(r)) {
            nsc_show(c, f, r->start.line ? &r->start : &r->first);
            if (!never)
                nsc_name_rank(c, f, (uint64_t)r->rank);
        }
    }
    f->comm = comm;
    f->part = NSC_WAKE;
    const char *sure = sureness(m, k);

    f->caused_by = shm_failed(m, k) ? NSC_ID_SHM_TOO_SMALL : NSC_ID_NONE;
    f->count = (uint64_t)(never ? never : waiting);
    const char *who = never ? who_is_missing(c, f, never) : nsc_list_ranks(c, f);
    if (never && !has_whole_job(m, k)) {
        f->title = nsc_words(c, "A communicator of %lld ranks is not seen to become complete: %s %s not in this input",
                             (long long)k->nranks, who, never == 1 ? "is" : "are");
        f->confidence = "possible";
        f->cause =
            "Ranks of the communicator that it was split off are not in this input either: lines are left out, or "
            "the logs of other processes. Only with those can be told whether ranks really wait.";
    } else if (never && have_met(m, k) && strcmp(sure, "certain") != 0) {
        f->title = nsc_words(c, "The end of a communicator's initialisation is not in this input, nor are %s of %lld",
                             who, (long long)k->nranks);
        f->confidence = "possible";
        f->cause =
            "NCCL counted the nodes of this communicator: all of its ranks had found each other by then. The logs of "
            "the others, and the rest of this one, would tell how it ended.";
        f->fix = "Give the logs of all ranks, whole.";
        f->severity = NCCLSCOPE_NOTE;
        f->cls = "visibility";
        f->part = NSC_NO_FAILURE;
    } else if (never) {
        f->title = nsc_words(c, "A communicator of %lld ranks never became complete: %s never appear%s",
                             (long long)k->nranks, who, never == 1 ? "ed" : "");
        f->confidence = done && !strcmp(sure, "certain") ? "likely" : sure;
        f->cause = nsc_words(
            c,
            "%lld rank%s started and wait; of the missing one%s this input holds no line. Its process did not start, "
            "died before "
            "NCCL, was given other arguments, or cannot reach rank 0's address - or its log is not among the inputs, "
            "or "
            "this input ends before it came.",
            (long long)waiting, waiting == 1 ? "" : "s", never == 1 ? "" : "s");
    } else {
        f->confidence = sure;
        f->title = nsc_words(c, "A communicator of %lld rank%s never became complete: %s started and never finished",
                             (long long)k->nranks, k->nranks == 1 ? "" : "s", who);
        f->cause =
            !strcmp(sure, "certain")
                ? "All ranks appeared, but initialisation did not end for these: look at their last lines and at "
                  "warnings before them."
                : "All ranks appeared, but initialisation did not end for these - or this input ends before it "
                  "did: a copy of a log that still grew, or the first part of one.";
    }
    if (!strcmp(f->confidence, "possible") && f->severity == NCCLSCOPE_ERROR) /* what is only possible is no error */
        f->severity = NCCLSCOPE_WARNING;
}

/* One note for all communicators of which the log alone lacks the end of their initialisation. */
static void tell_lost_end(struct nsc_case *c, uint32_t comm)
{
    struct nsc_finding *f = c->f->list.len ? &c->f->list.item[c->f->list.len - 1] : NULL;
    const struct nsc_comm *k = &c->m->comms.item[comm];
    if (!f || f->rule != c->rule || f->severity != NCCLSCOPE_NOTE)
        f = nsc_found(c, NCCLSCOPE_NOTE, "visibility", "possible");
    f->count++;
    f->title = nsc_words(c, "The end of the initialisation of %llu communicator%s is not in the log",
                         (unsigned long long)f->count, f->count == 1 ? "" : "s");
    f->cause =
        "Lines were lost or not logged: the program went on for long behind these ranks' last lines, and nothing "
        "here says that it failed.";
    f->fix = "Nothing, if the job runs; else give the logs of all its ranks, whole.";
    nsc_show(c, f, &k->where);
}

void nsc_rule_ranks_missing(struct nsc_case *c)
{
    for (size_t i = 0; i < c->m->comms.len; i++) {
        int state = c->m->comms.item[i].state;
        if (state == NSC_INCOMPLETE && program_ran_on(c->m, &c->m->comms.item[i]))
            tell_lost_end(c, (uint32_t)i);
        else if (state == NSC_INCOMPLETE || state == NSC_FAILED)
            tell_missing(c, (uint32_t)i);
    }
}

/* ---- ranks that are elsewhere ---- */

void nsc_rule_partial(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        if (k->state != NSC_PARTIAL || k->parent != NSC_NONE)
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_NOTE, "visibility", "certain");
        int64_t missing = absent(c, k, f);
        f->comm = (uint32_t)i;
        f->count = (uint64_t)missing;
        bool unnamed = (int64_t)m->proc_order.len >= k->nranks; /* their lines may be here */
        f->title = nsc_words(c, "%lld of %lld ranks of a communicator %s: %s", (long long)missing, (long long)k->nranks,
                             unnamed && missing == 1 ? "is named by no line of this input"
                             : unnamed               ? "are named by no line of this input"
                             : missing == 1          ? "is not in this input"
                                                     : "are not in this input",
                             who_is_missing(c, f, missing));
        f->cause = "Each process prints only its own connections; what the others use, and on which machine they are, "
                   "is in their logs.";
        nsc_show(c, f, &k->where);
    }
}
