/* rules_missing.c - communicators that did not become complete: ranks that never came, or never finished. */
#include "read/changes.h"
#include "model/machines.h"
#include "rules/ask.h"
#include "rules/halves.h"
#include "rules/own_words.h"
#include "rules/raised.h"
#include "rules/reruns.h"

/* Does a process of it end in connections that time out? */
static bool is_unanswered(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    for (uint32_t x = 0; x < k->count; x++) {
        uint32_t proc = m->ranks.item[m->members.item[k->first + x]].proc;
        for (size_t i = nsc_events_of(m, proc); i < m->event_order.len; i++) {
            const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
            if (e->proc != proc)
                break;
            if (nsc_ends_in_tries(m, e) && nsc_text_find(e->where.text, "timed out") >= 0)
                return true;
        }
    }
    return false;
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

enum { LINES_BEHIND = 40 };

/* "[rank0]:[W...] [c10d] sendBytes failed on SocketImpl(...): Broken pipe": a rank that still waits says that PyTorch's store has gone, behind the
 * line by which it started. NULL: none does. */
static const struct nsc_own_record *store_gone(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    enum { TRIED = 64 }; /* a launcher may say so too, before the first rank does */
    const struct nsc_own_record *gone = nsc_first_heard(m, NCCLSCOPE_KIND_TORCH_STORE_GONE),
                                *end = m->happened.item + m->happened.len;
    for (int n = 0; gone && k->nranks == m->whole.most_ranks && gone < end && n < TRIED; gone++, n++)
        for (uint32_t i = 0; gone->number == NCCLSCOPE_KIND_TORCH_STORE_GONE && i < k->count && i < TRIED; i++) {
            const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
            uint64_t last = m->procs.item[r->proc].last_line; /* where others write behind that, the job goes on */
            if (!nsc_is_done(r) && r->rank == gone->torch_rank && m->procs.item[r->proc].source == gone->where.source &&
                last < gone->where.line && gone->where.line <= last + LINES_BEHIND)
                return gone;
        }
    return NULL;
}

/* The program went on for long behind the last line of the ranks that are not done, and nothing in the input says that it failed: the end of their
 * initialisation was lost, or never logged. */
static bool program_ran_on(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    const struct nsc_where *end = nsc_success_of(m);
    if ((m->troubles || store_gone(m, k)) && !end)
        return false;
    uint64_t last = 0, warnings = 0;
    uint32_t source = NSC_NONE;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        const struct nsc_proc *p = &m->procs.item[r->proc];
        if (nsc_is_done(r))
            continue;
        if (source != NSC_NONE && source != p->source)
            return false;
        source = p->source;
        last = p->last_line > last ? p->last_line : last;
        warnings += m->sources.item[source].stats.warnings;
    }
    return source != NSC_NONE && !warnings &&
           ((end && end->source == source && end->line > last) ||
            m->sources.item[source].stats.lines > last + LINES_BEHIND);
}

/* How sure it can be that ranks wait: a log that just ends may be a copy of the first part of a healthy one. */
static const char *sureness(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    bool failed = k->state == NSC_FAILED || m->whole.warned || m->troubles || is_unanswered(m, k);
    return m->whole.battered || ((m->whole.unended || k->nranks == 1) && !failed) ? "possible"
           : failed                                                               ? "certain"
                                                                                  : "likely";
}

/* Does a release print the line that this rank starts when all have found each other? */
static bool starts_behind_meeting(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    return r->start.line && !r->bare_start && nsc_version_of(m, r->proc).high < NSC_CHANGE_START_BEFORE_MEETING;
}

/* Did a member print what NCCL knows, or says, only after all ranks have told each other what they are? */
static bool have_met(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        if (r->met || r->nnodes > 0 || r->chunk > 0 || r->coll >= 0 || r->complete.line || starts_behind_meeting(m, r))
            return true;
    }
    return false;
}

static const char *ranks_of(struct nsc_case *c, uint32_t comm)
{
    const struct nsc_comm *k = &c->m->comms.item[comm];
    struct nsc_finding some = {.rule = c->rule};
    for (uint32_t i = 0; i < k->count; i++)
        nsc_name_rank(c, &some, (uint64_t)c->m->ranks.item[c->m->members.item[k->first + i]].rank);
    const char *words = nsc_list_ranks(c, &some);
    nsc_vec_free(&some.ranks);
    nsc_map_free(&some.named);
    return words;
}

/* Is it called 0xab#1: was there one of this id before? */
static bool is_again(const struct ncclscope_model *m, uint32_t comm)
{
    nsc_text id = nsc_say(m, m->comms.item[comm].id);
    return id.len && memchr(id.ptr, '#', id.len);
}

static int length_of_id(nsc_text id)
{
    const char *again = id.len ? memchr(id.ptr, '#', id.len) : NULL;
    return (int)(again ? again - id.ptr : (ptrdiff_t)id.len);
}

/* The ranks were given different ids: each half waits for the other, for ever. Told once, with the first of the two. */
static void tell_two_ids(struct nsc_case *c, uint32_t one, uint32_t other)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_comm *k = &m->comms.item[one], *x = &m->comms.item[other];
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
    nsc_text id = nsc_say(m, k->id), id2 = nsc_say(m, x->id);
    f->comm = one;
    bool apart = nsc_halves_are_apart(m, one, other);
    f->part = apart ? f->part : NSC_ROOT;
    f->count = (uint64_t)k->nranks;
    for (int64_t rank = 0; rank < k->nranks; rank++)
        nsc_name_rank(c, f, (uint64_t)rank);
    f->title =
        nsc_words(c, "Ranks of one communicator were given different ids and never meet: %s (0x%.*s), %s (0x%.*s)",
                  ranks_of(c, one), length_of_id(nsc_text_from(id, 2)), id.ptr + 2, ranks_of(c, other),
                  length_of_id(nsc_text_from(id2, 2)), id2.ptr + 2);
    f->caused_by = apart ? NSC_ID_RANKS_VERSION_MISMATCH : f->caused_by;
    nsc_explain_by(c, f,
                   apart                                    ? NSC_MISSING_OTHER_RELEASE
                   : is_again(m, one) || is_again(m, other) ? NSC_MISSING_OLD_ID
                                                            : NSC_MISSING_OTHER_ID);
    if (!nsc_halves_are_together(m, one, other)) {
        f->title = nsc_words(c, "%s; or they belong to two jobs, since they come from different inputs", f->title);
        f->severity = NCCLSCOPE_SEVERITY_WARNING;
        f->confidence = "possible";
    }
    for (uint32_t i = 0; i < k->count; i++)
        nsc_show(c, f, &m->ranks.item[m->members.item[k->first + i]].first);
    for (uint32_t i = 0; i < x->count; i++)
        nsc_show(c, f, &m->ranks.item[m->members.item[x->first + i]].first);
}

bool nsc_is_all_begun(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        if (r->complete.line || r->used || r->called || r->split_off || r->destroyed.line || r->init_seconds >= 0)
            return false;
    }
    return true;
}

/* Did a rule before this one find a failure? A warning alone is none. */
static bool another_failed(const struct nsc_case *c)
{
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].severity == NCCLSCOPE_SEVERITY_ERROR && c->f->list.item[i].rule != c->rule)
            return true;
    return false;
}

/* Nothing failed as far as the lines tell: some of them are elsewhere. */
static void make_note(struct nsc_case *c, struct nsc_finding *f, int reason)
{
    f->confidence = "possible";
    nsc_explain_by(c, f, reason);
    f->severity = NCCLSCOPE_SEVERITY_NOTE;
    f->cls = "visibility";
    f->part = NSC_NO_FAILURE;
}

/* Is a connection of it in the input? */
static bool is_connected(const struct ncclscope_model *m, uint32_t comm)
{
    size_t at = nsc_links_of(m, comm);
    return at < m->link_order.len && nsc_comm_of(m, &m->links.item[m->link_order.item[at]]) == comm;
}

/* Of one rank, which waits for nobody, and its process tells of no failure. */
static bool is_alone_and_well(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    const struct nsc_rank *r = k->nranks == 1 && k->count ? &m->ranks.item[m->members.item[k->first]] : NULL;
    uint32_t proc = r ? r->proc : NSC_NONE;
    for (size_t i = proc == NSC_NONE ? 0 : nsc_events_of(m, proc); proc != NSC_NONE && i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != proc)
            break;
        bool behind = e->where.source != r->first.source || e->where.line > r->first.line; /* else it went on from it */
        if (behind && (e->kind == NCCLSCOPE_KIND_BACKTRACE || e->level == NCCLSCOPE_LEVEL_WARN))
            return false;
    }
    return proc != NSC_NONE;
}

/* What one of the missing ranks says of itself, in its program's words; NULL: none does. */
static const struct nsc_own_record *last_words_of(const struct ncclscope_model *m, const struct nsc_finding *f)
{
    const struct nsc_own_record *r = NULL;
    for (size_t i = 0; i < f->ranks.len && !r; i++)
        r = nsc_last_words(m, (int64_t)f->ranks.item[i]);
    return r;
}

/* Did a launcher tell of a failure between the two, in their input? Then they are of two runs. */
static bool is_of_run_before(const struct ncclscope_model *m, const struct nsc_own_record *raised,
                             const struct nsc_where *began)
{
    enum { TRIED = 500 };
    const struct nsc_own_record *end = m->happened.item + m->happened.len;
    end = end - raised > TRIED ? raised + TRIED : end;
    for (const struct nsc_own_record *r = raised + 1;
         r < end && r->where.source == began->source && r->where.line < began->line; r++)
        if (r->number == NCCLSCOPE_KIND_ELASTIC_FAILED || r->number == NCCLSCOPE_KIND_CHILD_FAILED ||
            r->number == NCCLSCOPE_KIND_LAUNCHER_STOPS || r->number == NCCLSCOPE_KIND_LAUNCH_EXIT)
            return true;
    return false;
}

/* Of one of the missing ranks the exception that ended its program, where PyTorch's numbers are the communicator's; NULL: no line tells of it. */
static const struct nsc_own_record *ended_by_itself(const struct ncclscope_model *m, const struct nsc_comm *k,
                                                    const struct nsc_finding *f)
{
    enum { TRIED = 64 };
    for (size_t i = 0; k->nranks == m->whole.most_ranks && i < f->ranks.len && i < TRIED; i++) {
        uint32_t at = nsc_map_get(&m->whole.raised, (struct nsc_key){f->ranks.item[i], 0, 0});
        const struct nsc_own_record *r = at == NSC_NONE ? NULL : &m->happened.item[at];
        if (r && !nsc_is_of_nccl(m, r) && !is_of_run_before(m, r, &k->where))
            return r;
    }
    return NULL;
}

/* A communicator that is not complete, and what is said of it. */
struct absence {
    struct nsc_case *c;
    uint32_t comm;
    const struct nsc_comm *k;
    struct nsc_finding *f;
    int64_t never, done;    /* ranks of which no line is in the input; that finished */
    const char *sure, *who; /* the confidence; "ranks 3 and 5" */
    const struct nsc_own_record *spoke;
    const struct nsc_own_record *raised; /* by which the program of one of these ended; NULL: no line tells of it */
};

/* Names the ranks that never appeared; where all did, those that did not finish. */
static struct absence look_at(struct nsc_case *c, uint32_t comm)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_comm *k = &m->comms.item[comm];
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
    struct absence a = {
        .c = c, .comm = comm, .k = k, .f = f, .sure = sureness(m, k), .never = nsc_name_absent(c, k, f)};
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        nsc_name_host(c, f, m->procs.item[r->proc].host);
        if (nsc_is_done(r)) {
            a.done++;
            continue;
        }
        nsc_show(c, f, r->start.line ? &r->start : &r->first);
        if (!a.never)
            nsc_name_rank(c, f, (uint64_t)r->rank);
    }
    f->comm = comm;
    f->part = NSC_WAKE;
    f->caused_by = shm_failed(m, k) ? NSC_ID_SHM_TOO_SMALL : NSC_ID_NONE;
    f->count = (uint64_t)(a.never ? a.never : (int64_t)k->count - a.done);
    a.who = nsc_list_ranks(c, f);
    a.spoke = a.never ? last_words_of(m, f) : NULL;
    a.raised = a.never ? ended_by_itself(m, k, f) : NULL;
    return a;
}

static bool is_certain(const struct absence *a)
{
    return !strcmp(a->sure, "certain");
}

/* Those that are here met the rest, or began to connect to them: the rest was there. */
static bool have_met_all(const struct absence *a)
{
    const struct ncclscope_model *m = a->c->m;
    return !m->repeated && (have_met(m, a->k) || is_connected(m, a->comm)) &&
           ((a->done && !nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_BACKTRACE)) || !is_certain(a) ||
            a->k->state == NSC_FAILED || another_failed(a->c));
}

/* Lines without a rank are enough for those that are missing. */
static bool is_unnamed(const struct absence *a)
{
    const struct ncclscope_model *m = a->c->m;
    return !a->spoke && a->k->state != NSC_FAILED && !another_failed(a->c) && !m->whole.stranger_failed &&
           m->whole.unnamed_gpus >= a->never;
}

/* Did one call make all ranks of it, in one process? */
static bool has_all_in_one(const struct absence *a)
{
    const struct ncclscope_model *m = a->c->m;
    const struct nsc_rank *first = a->k->count ? &m->ranks.item[m->members.item[a->k->first]] : NULL;
    return first && nsc_text_starts(nsc_say(m, first->made_by), "ncclCommInitAll");
}

static bool is_cut_short(const struct absence *a)
{
    const struct nsc_comm *k = a->k;
    return !a->spoke && k->seen * 2 <= k->nranks && k->state == NSC_INCOMPLETE && !is_certain(a) &&
           nsc_is_all_begun(a->c->m, k) && !is_connected(a->c->m, a->comm);
}

/* "; nccl-tests lists them on node-b": the hosts of its list of which no line of NCCL's is here. */
static const char *silent_hosts(struct nsc_case *c, const char *them)
{
    enum { MOST = 3 };
    const struct ncclscope_model *m = c->m;
    nsc_text named[MOST];
    size_t n = 0;
    const char *names = "";
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        nsc_text host = r->number == NCCLSCOPE_KIND_TEST_RANK ? nsc_said(m, r, "name") : (nsc_text){NULL, 0};
        size_t k = 0;
        while (k < n && !nsc_text_eq(named[k], host))
            k++;
        if (!host.len || k < n || nsc_machine_of(m, nsc_intern_find(&m->strings, host)) != NSC_NONE)
            continue;
        if (n == MOST)
            return nsc_words(c, "; nccl-tests lists %s on %s and others", them, names);
        names = nsc_words(c, "%s%s%.*s", names, n ? ", " : "", (int)host.len, host.ptr);
        named[n++] = host;
    }
    return n ? nsc_words(c, "; nccl-tests lists %s on %s", them, names) : "";
}

static void tell_absent_for_sure(const struct absence *a)
{
    const struct ncclscope_model *m = a->c->m;
    const struct nsc_comm *k = a->k;
    bool listed = m->whole.listed == (uint64_t)k->nranks;
    unsigned long long n = listed ? 0 : (unsigned long long)m->whole.unnamed_gpus;
    const char *gone = listed ? "never joined it" : a->never == 1 ? "never appeared" : "never appear";
    a->f->title =
        is_unanswered(m, k) /* it goes on trying: of the others nothing is known */
            ? nsc_words(a->c,
                        "A communicator of %lld ranks is not complete when this input ends: a connection "
                        "gets no answer, and the input has no NCCL line of %s",
                        (long long)k->nranks, a->who)
            : n /* some of them may be among these */
                  ? nsc_words(a->c,
                              "A communicator of %lld ranks never became complete: no %sInit line names %s, and "
                              "no line tells the rank of %llu GPU%s that speak%s here",
                              (long long)k->nranks, m->cut_inits ? "whole " : "", a->who, n, n == 1 ? "" : "s",
                              n == 1 ? "s" : "")
                  : nsc_words(a->c, "A communicator of %lld ranks never became complete: %s %s", (long long)k->nranks,
                              a->who, gone);
    if (listed)
        a->f->title = nsc_words(a->c, "%s%s", a->f->title, silent_hosts(a->c, a->never == 1 ? "it" : "them"));
    if (a->spoke) {
        a->f->title = nsc_words(a->c, "%s; %s", a->f->title, nsc_quote_rank(a->c, a->spoke));
        nsc_show_first(a->c, a->f, &a->spoke->where);
    }
    bool few = k->seen * 2 < k->nranks && !strcmp(a->sure, "likely"); /* more likely a part of a log than of a job */
    a->f->confidence = few ? "possible" : a->done && is_certain(a) ? "likely" : a->sure;
    nsc_explain_by(a->c, a->f,
                   a->spoke                   ? NSC_MISSING_SPOKE
                   : m->whole.stranger_failed ? NSC_MISSING_FAILED
                   : is_unanswered(m, k)      ? NSC_MISSING_UNANSWERED
                   : listed                   ? NSC_MISSING_LISTED
                                              : NSC_MISSING_RANKS);
}

/* "rank 2's": of those that are here, where others came to the end. */
static const char *whose_end(const struct absence *a)
{
    struct nsc_finding open = {.rule = a->c->rule};
    for (uint32_t i = 0; i < a->k->count && a->done; i++) {
        const struct nsc_rank *r = &a->c->m->ranks.item[a->c->m->members.item[a->k->first + i]];
        if (!nsc_is_done(r))
            nsc_name_rank(a->c, &open, (uint64_t)r->rank);
    }
    const char *words = open.ranks.len == 1 ? nsc_words(a->c, "%s's", nsc_list_ranks(a->c, &open))
                        : open.ranks.len    ? nsc_words(a->c, "%s'", nsc_list_ranks(a->c, &open))
                                            : "a communicator's";
    nsc_vec_free(&open.ranks);
    nsc_map_free(&open.named);
    return words;
}

/* Ranks of it are in no line. */
static void tell_absent(const struct absence *a)
{
    struct nsc_case *c = a->c;
    long long of = (long long)a->k->nranks;
    const char *are = a->never == 1 ? "is" : "are";
    if (!has_whole_job(c->m, a->k)) {
        a->f->title =
            nsc_words(c, "This input does not show that a communicator of %lld ranks became complete: %s %s not in it",
                      of, a->who, are);
        make_note(c, a->f, NSC_MISSING_PARENT);
    } else if (a->raised) {
        const char *failed = nsc_words(c, "failed in its own program (%s)", nsc_line_in(c, &a->raised->where));
        a->f->title =
            a->never == 1
                ? nsc_words(c, "A communicator of %lld ranks never became complete: %s did not join; it had %s", of,
                            a->who, failed)
                : nsc_words(c,
                            "A communicator of %lld ranks never became complete: no Init line here names %s; "
                            "rank %lld of them had %s",
                            of, a->who, (long long)a->raised->torch_rank, failed);
        nsc_show_first(c, a->f, &a->raised->where);
        nsc_explain_by(c, a->f, NSC_MISSING_RAISED);
        a->f->caused_by = a->raised->number == NCCLSCOPE_KIND_TORCH_OOM      ? NSC_ID_FAILURE_MEMORY
                          : a->raised->number == NCCLSCOPE_KIND_PROGRAM_CUDA ? NSC_ID_FAILURE_CUDA
                                                                             : NSC_ID_RANKS_EXITED;
    } else if (have_met_all(a) && a->k->state == NSC_FAILED) {
        a->f->title = nsc_words(c, "The initialisation of a communicator failed; %s of its %lld %s not in this input",
                                a->who, of, are);
        if (another_failed(c) || c->m->whole.warned)
            make_note(c, a->f, NSC_MISSING_MET_FAILED);
        else /* no other finding tells of it */
            nsc_explain_by(c, a->f, NSC_MISSING_MET_FAILED);
    } else if (have_met_all(a)) {
        a->f->title = nsc_words(c, "The end of %s initialisation is not in this input, nor %s %s of %lld", whose_end(a),
                                are, a->who, of);
        make_note(c, a->f, NSC_MISSING_MET);
    } else if (is_unnamed(a) && has_all_in_one(a)) {
        a->f->title = nsc_words(c,
                                "No line of this input shows the initialisation of %s of %lld in the same process "
                                "(ncclCommInitAll)",
                                a->who, of);
        make_note(c, a->f, NSC_MISSING_UNNAMED);
    } else if (is_unnamed(a)) {
        a->f->title = nsc_words(
            c, "No Init line of this input says which process runs %s of %lld of a communicator that initialises",
            a->who, of);
        make_note(c, a->f, NSC_MISSING_UNNAMED);
    } else if (c->m->repeated) {
        a->f->title =
            nsc_words(c, "Ray left lines out of this log: it shows no initialisation of %lld of %lld ranks (%s)",
                      (long long)a->never, of, a->who);
        make_note(c, a->f, NSC_MISSING_DEDUPLICATED);
    } else if (is_cut_short(a) && !store_gone(c->m, a->k)) {
        a->f->title = nsc_words(
            c, "The input ends while a communicator of %lld ranks initialises, and %s of %s", of,
            c->m->whole.unnamed_gpus > 0 ? "no Init line of it says which process runs any" : "holds no line", a->who);
        make_note(c, a->f, NSC_MISSING_CUT_SHORT);
    } else {
        tell_absent_for_sure(a);
    }
}

/* All of its ranks are there, and some never finished. */
static void tell_unfinished(const struct absence *a)
{
    const struct ncclscope_model *m = a->c->m;
    const struct nsc_comm *k = a->k;
    long long of = (long long)k->nranks;
    bool all_began = nsc_is_all_begun(m, k), alone = is_alone_and_well(m, k) || (of > 1 && !is_certain(a));
    if (k->state == NSC_INCOMPLETE && all_began && (m->whole.breaks_off || !is_connected(m, a->comm)) && alone) {
        a->f->title = of == 1 ? "The input ends while a communicator of one rank initialises"
                              : nsc_words(a->c, "The input ends while the %lld ranks of a communicator initialise", of);
        make_note(a->c, a->f, NSC_MISSING_CUT);
        return;
    }
    a->f->confidence = all_began && !is_certain(a) ? "possible" : a->sure;
    a->f->title =
        a->f->ranks.len /* none: each got far enough for that it had finished, were it not for the error */
            ? nsc_words(a->c, "A communicator of %lld rank%s never became complete: %s started and never finished", of,
                        of == 1 ? "" : "s", a->who)
            : nsc_words(a->c, "A communicator of %lld rank%s never became complete: its initialisation failed", of,
                        of == 1 ? "" : "s");
    nsc_explain_by(a->c, a->f, is_certain(a) ? NSC_MISSING_UNFINISHED : NSC_MISSING_END);
}

static void tell_missing(struct nsc_case *c, const struct nsc_halves *h, uint32_t comm)
{
    uint32_t other = nsc_other_half(c->m, h, comm);
    if (other != NSC_NONE) {
        if (comm < other)
            tell_two_ids(c, comm, other);
        return;
    }
    struct absence a = look_at(c, comm);
    if (a.never)
        tell_absent(&a);
    else
        tell_unfinished(&a);
    const struct nsc_own_record *gone = store_gone(c->m, &c->m->comms.item[comm]);
    if (gone && a.f->severity == NCCLSCOPE_SEVERITY_ERROR) {
        a.f->confidence = !strcmp(a.f->confidence, "possible") ? "likely" : a.f->confidence; /* it lives, and waits */
        a.f->cause = nsc_words(c,
                               "%s Meanwhile the server of PyTorch's store (the process of rank 0 or the launcher) "
                               "went away: rank %lld reports it from %s on.",
                               a.f->cause, (long long)gone->torch_rank, nsc_line_in(c, &gone->where));
        nsc_show(c, a.f, &gone->where);
    }
    if (!strcmp(a.f->confidence, "possible") &&
        a.f->severity == NCCLSCOPE_SEVERITY_ERROR) /* what is only possible is no error */
        a.f->severity = NCCLSCOPE_SEVERITY_WARNING;
}

/* One note for all communicators of which the log alone lacks the end of their initialisation. */
static void tell_lost_end(struct nsc_case *c, uint32_t comm)
{
    struct nsc_finding *f = c->f->list.len ? &c->f->list.item[c->f->list.len - 1] : NULL;
    const struct nsc_comm *k = &c->m->comms.item[comm];
    if (!f || f->rule != c->rule || f->severity != NCCLSCOPE_SEVERITY_NOTE)
        f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "possible");
    f->count++;
    f->title = nsc_words(c, "The log lacks the end of the initialisation of ranks of %llu communicator%s",
                         (unsigned long long)f->count, f->count == 1 ? "" : "s");
    nsc_explain_by(c, f, NSC_MISSING_LOST_END);
    nsc_show(c, f, &k->where);
}

static bool shows_starts(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].start.line && !m->ranks.item[i].bare_start)
            return true;
    return false;
}

/* Did the process make or use a communicator behind that line? Where the next line comes at once, and much stands behind, that line is lost. */
static bool went_on(const struct ncclscope_model *m, const struct nsc_proc *p, uint64_t line, bool at_once)
{
    return (at_once && m->sources.item[p->source].stats.lines > line + LINES_BEHIND) || p->last_connect > line ||
           p->closing_at.line > line || (p->last_rank != NSC_NONE && m->ranks.item[p->last_rank].first.line > line);
}

enum { LAST_WORDS = 1 };

bool nsc_ends_with_nccl(const struct ncclscope_model *m, uint32_t source)
{
    const struct nsc_source_info *s = &m->sources.item[source];
    return m->troubles || s->stats.lines <= s->last_record + LAST_WORDS;
}

static bool is_behind(const struct nsc_event *e, const struct nsc_where *line)
{
    return e && e->where.source == line->source && e->where.line > line->line;
}

/* "Using network IB" of a thread that prints no Init START, where that line is seen of others, or this release prints it: it begins a
 * communicator that no line names. */
static bool is_unmet(const struct ncclscope_model *m, const struct nsc_thread *t, bool shown)
{
    const struct nsc_proc *p = &m->procs.item[t->proc];
    if (!t->chose.line || p->nameless || p->merged_into != NSC_NONE || p->graph_seen ||
        nsc_event_of(m, t->proc, NCCLSCOPE_KIND_TOPO_SIMPLE_ORDER) || /* rings are sought when all have met */
        is_behind(nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_P2P_REFUSED), &t->chose)) /* and P2P with whom one has met */
        return false;
    struct nsc_version v = nsc_version_of(m, t->proc);
    bool at_once = v.low >= NSC_CHANGE_START_BEFORE_MEETING;
    bool waits = !shown && v.low >= NSC_CHANGE_INIT_START && v.high < NSC_CHANGE_START_BEFORE_MEETING &&
                 nsc_ends_with_nccl(m, p->source);
    return (shown || waits) && !went_on(m, p, t->chose.line, at_once);
}

bool nsc_any_unmet(const struct ncclscope_model *m)
{
    bool shown = shows_starts(m), any = false;
    for (size_t i = 0; i < m->threads.len && !any; i++)
        any = is_unmet(m, &m->threads.item[i], shown);
    return any && !nsc_success_of(m) && !m->whole.battered;
}

static void tell_unmet(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    bool shown = shows_starts(m), before = false;
    for (size_t i = nsc_any_unmet(m) ? 0 : m->threads.len; i < m->threads.len; i++) {
        const struct nsc_thread *t = &m->threads.item[i];
        if (!is_unmet(m, t, shown))
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "possible");
        f->count++;
        nsc_name_host(c, f, m->procs.item[t->proc].host);
        nsc_show(c, f, &t->chose);
        before = before || nsc_version_of(m, t->proc).low >= NSC_CHANGE_START_BEFORE_MEETING;
    }
    if (!f)
        return;
    f->title = nsc_words(c, "The input ends while %llu rank%s of %zu host%s begin%s a communicator that no line names",
                         (unsigned long long)f->count, f->count == 1 ? "" : "s", f->hosts.len,
                         f->hosts.len == 1 ? "" : "s", f->count == 1 ? "s" : "");
    make_note(c, f, before ? NSC_MISSING_UNSTARTED : NSC_MISSING_UNMET);
}

void nsc_rule_ranks_missing(struct nsc_case *c)
{
    struct nsc_halves halves = {0};
    bool refused = nsc_event_of(c->m, NSC_NONE, NCCLSCOPE_KIND_DUPLICATE_GPU);
    struct nsc_came_up *came_up = nsc_list_came_up(c->m);
    bool fine = nsc_list_halves(c->m, &halves) && came_up;
    c->f->no_memory = c->f->no_memory || !fine;
    tell_unmet(c);
    for (size_t i = 0; fine && i < c->m->comms.len; i++) {
        int state = c->m->comms.item[i].state;
        if (state == NSC_INCOMPLETE && program_ran_on(c->m, &c->m->comms.item[i]))
            tell_lost_end(c, (uint32_t)i);
        else if ((state == NSC_FAILED || (state == NSC_INCOMPLETE && refused)) &&
                 nsc_is_made_anew(c->m, &c->m->comms.item[i], came_up))
            nsc_tell_made_anew(c, (uint32_t)i);
        else if (state == NSC_INCOMPLETE || state == NSC_FAILED)
            tell_missing(c, &halves, (uint32_t)i);
    }
    nsc_free_halves(&halves);
    nsc_free(came_up);
}
