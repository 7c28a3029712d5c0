/* rules_unseen.c - connections that no line of the input shows: why. */
#include "read/changes.h"
#include "rules/known_beside.h"

/* Two processes or more, each with a communicator of one rank. */
static bool alone_together(const struct ncclscope_model *m)
{
    uint32_t first = NSC_NONE;
    for (size_t i = 0; i < m->ranks.len; i++) {
        if (m->ranks.item[i].nranks != 1 || m->ranks.item[i].parent_pointer)
            continue;
        if (first != NSC_NONE && m->ranks.item[i].proc != first)
            return true;
        first = m->ranks.item[i].proc;
    }
    return false;
}

/* Do collectives, results of a benchmark or the program's own end stand behind the initialisation? Then connections were made. */
static bool behind_init(const struct ncclscope_model *m)
{
    bool called = m->tests.len || nsc_success_of(m);
    for (size_t i = 0; i < m->ranks.len; i++)
        called = called || m->ranks.item[i].called || m->ranks.item[i].destroyed.line;
    return called;
}

static bool any_complete(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].complete.line)
            return true;
    return false;
}

/* Lines that NCCL prints when it has made a communicator, without one that names it: the end of an initialisation. */
static bool shows_end_of_init(const struct ncclscope_model *m, bool *nvls)
{
    bool end = false;
    *nvls = false;
    for (size_t i = 0; i < m->threads.len; i++) {
        end = end || m->threads.item[i].coll >= 0;
        *nvls = *nvls || m->threads.item[i].nvls > 0;
    }
    for (size_t i = 0; i < m->ranks.len; i++) {
        end = end || m->ranks.item[i].coll >= 0;
        *nvls = *nvls || m->ranks.item[i].nvls > 0;
    }
    return end;
}

/* Is there a communicator that no rank is seen to have finished? */
static bool has_unfinished(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].state == NSC_INCOMPLETE && nsc_is_all_begun(m, &m->comms.item[i]))
            return true;
    return false;
}

/* Does the input begin when communicators were at work: one is aborted or destroyed whose beginning is not here? */
static bool begins_late(const struct ncclscope_model *m)
{
    bool late = false;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->start.line || r->complete.line)
            return false;
        late = late || r->aborted.line || r->destroyed.line;
    }
    return late;
}

/* Did no communicator come to be, and one fail while it was made? */
static bool init_failed(const struct ncclscope_model *m)
{
    bool failed = false;
    for (size_t i = 0; i < m->comms.len; i++) {
        failed = failed || m->comms.item[i].state == NSC_FAILED;
        if (m->comms.item[i].state != NSC_FAILED && m->comms.item[i].state != NSC_INCOMPLETE)
            return false;
    }
    return failed;
}

/* What decides why there is no connection line. */
struct unseen {
    uint64_t records, warnings, banners;
    bool init, pairs, starts; /* a communicator, one of several ranks, the start of NCCL is in the input */
    bool off;                 /* its release would connect late, and a variable or the lack of cuMem makes it early */
    bool early, late;         /* connections are made while a communicator is, or at the first collective */
};

static struct unseen look_around(const struct ncclscope_model *m)
{
    struct unseen s = {.init = m->comms.len > 0};
    bool late = false, early = false;
    for (size_t i = 0; i < m->procs.len; i++) { /* a job has one release: what one process lets know is true of all */
        bool new = nsc_version_of(m, (uint32_t)i).low >= NSC_CHANGE_RUNTIME_CONNECT;
        s.off = s.off || (new &&nsc_connects_in_init(m, (uint32_t)i));
        late = late || (new && !nsc_connects_in_init(m, (uint32_t)i));
        early = early || nsc_connects_in_init(m, (uint32_t)i);
        s.starts = s.starts || m->procs.item[i].starts || m->procs.item[i].network;
    }
    for (size_t i = 0; i < m->sources.len; i++) {
        unsigned version = nsc_version_number(nsc_say(m, m->sources.item[i].bare_version));
        late = late || version >= NSC_CHANGE_RUNTIME_CONNECT;
        early = early || (version && version < NSC_CHANGE_RUNTIME_CONNECT);
        s.banners += m->sources.item[i].banners;
        s.records += m->sources.item[i].stats.records;
        s.warnings += m->sources.item[i].stats.warnings;
    }
    for (size_t i = 0; i < m->comms.len; i++)
        s.pairs = s.pairs || m->comms.item[i].nranks > 1;
    s.late = late && !early;
    s.early = early && (!late || s.off); /* cuMem is used by all ranks of a communicator, or by none */
    return s;
}

static bool failed_at_start(struct nsc_case *c, const struct unseen *s)
{
    return !s->init && s->starts && !c->m->builds && nsc_any_failure(c, NSC_ID_NONE);
}

/* "init.cc:771 -> 3": did an error take its way back through the initialisation? */
static bool fails_in_init(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->events.len && !m->proxy_failed; i++)
        if (m->events.item[i].kind == NCCLSCOPE_KIND_BACKTRACE && m->events.item[i].number != 7 &&
            nsc_text_find(m->events.item[i].where.text, "init.cc") >= 0)
            return true;
    return false;
}

/* "Channel 02/32 :    0": a ring with nobody else in it; and no other is in the input. */
static bool rings_have_one_member(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->rings.len; i++) {
        nsc_text rest = nsc_say(m, m->rings.item[i].ranks);
        nsc_text first = nsc_next_word(&rest);
        if (!first.len || nsc_next_word(&rest).len)
            return false;
    }
    return m->rings.len > 0;
}

/* The picture of the machine is printed when the ranks of a communicator have met. */
static bool draws_machine(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].graph_seen)
            return true;
    return nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_TOPO_SIMPLE_ORDER); /* of the search that follows it */
}

/* Does no input go on behind NCCL's lines? */
static bool ends_at_start(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->sources.len; i++)
        if (!nsc_ends_with_nccl(m, (uint32_t)i))
            return false;
    return true;
}

/* Without a line that names a communicator. */
static enum nsc_unseen_reason why_without_init(struct nsc_case *c, const struct unseen *s)
{
    const struct ncclscope_model *m = c->m;
    bool nvls;
    if (failed_at_start(c, s))
        return NSC_UNSEEN_FAILED_AT_START;
    if (fails_in_init(m) && nsc_any_error(c))
        return NSC_UNSEEN_FAILED;
    if (m->cut_inits && !m->builds)
        return NSC_UNSEEN_CUT;
    if (m->begun && !m->builds)
        return NSC_UNSEEN_BEGUN;
    if (m->at_work)
        return NSC_UNSEEN_LEFT_OUT;
    bool makes = m->builds || draws_machine(m);
    if (s->starts && !makes)
        return nsc_success_of(m)  ? NSC_UNSEEN_START_AND_END
               : nsc_any_unmet(m) ? NSC_UNSEEN_UNMET
               : ends_at_start(m) ? NSC_UNSEEN_START_ENDS
                                  : NSC_UNSEEN_START;
    if (rings_have_one_member(m))
        return NSC_UNSEEN_RING_OF_ONE;
    if (shows_end_of_init(m, &nvls))
        return nvls ? NSC_UNSEEN_END_NVLS : NSC_UNSEEN_END;
    return makes ? NSC_UNSEEN_MADE : NSC_UNSEEN_NO_INIT;
}

/* With one, that came to be as far as the lines tell: by when its release connects. */
static enum nsc_unseen_reason why_by_release(const struct ncclscope_model *m, const struct unseen *s)
{
    bool nvls;
    if (s->early && !s->starts && shows_end_of_init(m, &nvls)) /* "Connected all trees", and nothing of its beginning */
        return NSC_UNSEEN_END;                                 /* of NVLink SHARP the ranks' own channels tell */
    if (s->early && s->off)
        return any_complete(m) ? NSC_UNSEEN_LATE_OFF_COMPLETE : NSC_UNSEEN_LATE_OFF;
    if (s->early)
        return any_complete(m) ? NSC_UNSEEN_EARLY_COMPLETE : NSC_UNSEEN_EARLY;
    return !s->late ? NSC_UNSEEN_EITHER : m->calls_seen ? NSC_UNSEEN_IN_FIRST_CALL : NSC_UNSEEN_AT_FIRST_CALL;
}

static enum nsc_unseen_reason why_unseen(struct nsc_case *c, const struct unseen *s)
{
    const struct ncclscope_model *m = c->m;
    if (s->banners == s->records)
        return NSC_UNSEEN_BANNERS;
    if (s->warnings + s->banners == s->records)
        return NSC_UNSEEN_WARNINGS;
    if (!s->init && m->bare_comms)
        return NSC_UNSEEN_BARE;
    if (init_failed(m))
        return NSC_UNSEEN_FAILED;
    if (has_unfinished(m))
        return NSC_UNSEEN_UNFINISHED;
    if (!s->init)
        return why_without_init(c, s);
    if (!s->pairs && alone_together(m))
        return NSC_UNSEEN_ALONE;
    bool late = begins_late(m), made = s->starts && m->builds; /* its start is here, and how it made communicators */
    bool used = m->tests.len || nsc_success_of(m); /* else who is in its first collective may not be through */
    if (any_complete(m) && behind_init(m) && (s->early || used))
        return NSC_UNSEEN_BETWEEN;
    if ((behind_init(m) && !(s->late && any_complete(m))) || (late && made))
        return NSC_UNSEEN_LEFT_OUT;
    if (late)
        return NSC_UNSEEN_LATE;
    return why_by_release(m, s);
}

/* Where ranks came up and NCCL warns of nothing, whoever looks for a hang need not look there: "" else. */
static const char *came_up(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_comm *largest = NULL;
    const struct nsc_where *last = NULL;
    double slowest = -1;
    size_t up = 0;
    for (size_t i = 0; i < m->comms.len; i++)
        if (!largest || m->comms.item[i].nranks > largest->nranks)
            largest = &m->comms.item[i];
    if (!largest || largest->nranks < 2 || m->warnings.len || has_unfinished(m) || nsc_success_of(m))
        return "";
    for (uint32_t n = 0; n < largest->count; n++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[largest->first + n]];
        const struct nsc_where *w = &r->complete;
        if (r->start.line && !nsc_is_done(r))
            return "";
        up += w->line > 0 || r->init_seconds >= 0; /* "Init timings" is printed at its end */
        last = w->line && (!last || w->line > last->line) ? w : last;
        slowest = r->init_seconds > slowest ? r->init_seconds : slowest;
    }
    const char *where =
        m->sources.len == 1 && last ? nsc_words(c, " (%s%s)", up > 1 ? "the last in " : "", nsc_line_in(c, last)) : "";
    return !up ? ""
               : nsc_words(c,
                           "NCCL came up: %s of %zu of %lld ranks%s%s, and it gave no warning. If these ranks hang or "
                           "fail, it is after that. ",
                           last ? "Init COMPLETE" : "the end of the initialisation", up, (long long)largest->nranks,
                           where, slowest >= 0 ? nsc_words(c, ", in %.2f s at most", slowest) : "");
}

/* How far they came whose lines have lost their header. */
static const char *bare_progress(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    if (!m->bare_starts && !m->bare_ends)
        return "";
    if (!m->bare_starts)
        return nsc_words(c, " %llu of them say%s Init COMPLETE.", (unsigned long long)m->bare_ends,
                         m->bare_ends == 1 ? "s" : "");
    return nsc_words(c, " %llu of them say%s Init START and %llu Init COMPLETE%s.", (unsigned long long)m->bare_starts,
                     m->bare_starts == 1 ? "s" : "", (unsigned long long)m->bare_ends,
                     m->bare_ends ? "" : ": the log is cut there, lines were left out, or the ranks hang");
}

void nsc_rule_no_channels(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct unseen s = look_around(m);
    if (!s.records || m->link_order.len || m->nvls_calls) /* collectives by NVLink SHARP make no connection lines */
        return;
    bool alone = true;
    for (size_t i = 0; i < c->f->list.len; i++)
        alone = alone && c->f->list.item[i].severity < NCCLSCOPE_SEVERITY_WARNING;
    bool no_pair = s.init && !s.pairs && !alone_together(m); /* then there is nothing to see */
    struct nsc_finding *f =
        nsc_found(c, alone && !no_pair ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
    f->count = s.records;
    f->title = no_pair              ? "Every communicator in this log has one rank: there is no pair of GPUs to connect"
               : s.init && !s.pairs ? "Each process made a communicator of one rank alone: none is connected to another"
                                    : "This log holds no connection lines: it cannot tell which path the GPUs use";
    const struct nsc_where *end = no_pair || !alone || m->tests_begun > 1 ? NULL : nsc_success_of(m);
    if (end)
        f->title = nsc_words(c, "The program says that it reached its end (%s). %s", nsc_line_in(c, end), f->title);
    const char *network = no_pair ? "" : nsc_failed_network(c);
    if (*network)
        f->title = nsc_words(
            c, "This log holds no connection lines: it cannot tell which path each pair of GPUs uses; %s", network);
    int why = no_pair ? NSC_UNSEEN_NO_PAIR : why_unseen(c, &s);
    const char *beside = nsc_known_beside(c);
    nsc_explain_with(c, f, why, why == NSC_UNSEEN_BARE ? nsc_words(c, "%s%s", bare_progress(c), beside) : beside, NULL);
    bool waits = why == NSC_UNSEEN_UNMET || nsc_is_explained_by(f, "UNSEEN_START_UNMET");
    if (!alone && waits) /* of a note the text shows no more */
        f->title = nsc_words(c, "%s; no line names a communicator either: ranks may wait for a rank that has not come",
                             f->title);
    const char *up = alone && !no_pair ? came_up(c) : "";
    if (*up)
        f->cause = nsc_words(c, "%s%s", up, f->cause);
    for (size_t i = 0; i < m->comms.len; i++)
        nsc_show(c, f, &m->comms.item[i].where);
    if (s.init && !s.pairs && !alone_together(m))
        f->fix = "If one GPU was intended, nothing is missing. If several were, the launcher or the program did not "
                 "join them into one job: check how many processes were started, and with which ranks.";
    else if (init_failed(m) || failed_at_start(c, &s))
        f->fix = "Fix the failure; then the connections show.";
    else if (m->repeated)
        f->fix = "Run again with RAY_DEDUP_LOGS=0, as Ray left lines out of this log, and with NCCL_DEBUG=INFO "
                 "NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,NET, and give the whole log.";
    else if ((s.early || why == NSC_UNSEEN_BETWEEN) && !alone_together(m) && !(nsc_any_unmet(m) && !s.init) &&
             !nsc_is_explained_by(f, "UNSEEN_START_UNMET"))
        f->fix = "Run again with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,NET, and give the whole log.";
    for (size_t i = 0; i < m->sources.len; i++)
        nsc_show(c, f, m->sources.item[i].bare_version ? &m->sources.item[i].bare_version_at : NULL);
}
