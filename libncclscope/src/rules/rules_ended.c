/* rules_ended.c - processes that ended: by a signal, an exception, a launcher or a scheduler. */
#include "rules/ask.h"
#include "rules/ending.h"
#include "rules/last_lines.h"
#include "rules/open_traceback.h"
#include "rules/own_words.h"
#include "rules/raised.h"
#include "rules/scheduler.h"

/* Of an exit code as torchrun gives it: below 0 a signal. */
static int reason_of_exit(int64_t code)
{
    switch (code) {
    case -9: return NSC_EXIT_KILLED;
    case -6: return NSC_EXIT_ABORTED;
    case -11: return NSC_EXIT_SEGV;
    case -7: return NSC_EXIT_BUS;
    case -15: return NSC_EXIT_TERMINATED;
    case 1: return NSC_EXIT_ONE;
    case 127: return NSC_EXIT_NOT_FOUND;
    default: return NSC_EXIT_OTHER;
    }
}

/* A process that aborts itself does so because it waited; one that was killed is what the others wait for. */
/* Did the process abort before anything of NCCL's failed, and while nobody had lost patience? Then it did so for a reason of its own. */
static bool aborts_first(struct nsc_case *c, const struct nsc_own_record *r)
{
    const struct ncclscope_model *m = c->m;
    bool own = r->number == NCCLSCOPE_KIND_SIGNAL_CAUGHT || r->number == NCCLSCOPE_KIND_SIGNAL_OF_MPI;
    for (size_t i = 0; own && i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if ((e->broke || e->quoted) && (e->where.source != r->where.source || e->where.line < r->where.line))
            return false;
    }
    return own && !nsc_raised(c, NSC_ID_RANKS_HUNG) && !nsc_raised(c, NSC_ID_RANKS_MISSING);
}

bool nsc_call_failed_before(const struct ncclscope_model *m, const struct nsc_where *end)
{
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->where.source == end->source && r->where.line < end->line && r->number == NCCLSCOPE_KIND_PROGRAM_NCCL)
            return true;
    }
    return false;
}

/* Did a call of NCCL's fail on this host before the launcher saw the crash? Then the program fell over what it got back. */
static bool follows_own_failure(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    nsc_str host = nsc_field_of(m, r, "name");
    for (size_t i = 0; r->number == NCCLSCOPE_KIND_SRUN_ENDED && i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->broke && e->where.source == r->where.source && e->where.line < r->where.line &&
            m->procs.item[e->proc].host == host)
            return true;
    }
    return false;
}

/* Did the process that ended wait at a barrier for another, which the barrier names? Then it ended as that did not come. */
static bool waited_at_barrier(struct nsc_case *c, const struct nsc_finding *ended)
{
    for (size_t i = 0; ended->ranks.len && i < c->f->list.len; i++) {
        const struct nsc_finding *f = &c->f->list.item[i];
        if (f->rule->key != NSC_ID_RANKS_HUNG || !nsc_is_explained_by(f, "HUNG_BARRIER"))
            continue;
        for (size_t k = 0; k < f->ranks.len; k++)
            if (f->ranks.item[k] == ended->ranks.item[0])
                return false;
        return true;
    }
    return false;
}

static void tell_root_and_wake(struct nsc_case *c, struct nsc_finding *f, int64_t code, const struct nsc_own_record *r)
{
    if (code == -6 && aborts_first(c, r)) {
        f->part = NSC_ROOT;
        return;
    }
    if (code == -6 || code == -15) {
        f->caused_by = nsc_raised(c, NSC_ID_RANKS_HUNG)      ? NSC_ID_RANKS_HUNG
                       : nsc_raised(c, NSC_ID_RANKS_MISSING) ? NSC_ID_RANKS_MISSING
                                                             : NSC_ID_NONE;
        return;
    }
    if (code == 1 && waited_at_barrier(c, f)) {
        f->caused_by = NSC_ID_RANKS_HUNG;
        return;
    }
    if (code == -11 && (follows_own_failure(c->m, r) || nsc_call_failed_before(c->m, &r->where)))
        return;
    if (code == -9 || code == -11 || code == -7) /* not an exit that NCCL's own error may have led to */
        f->part = NSC_ROOT;
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].rule->key == NSC_ID_RANKS_HUNG)
            c->f->list.item[i].caused_by = NSC_ID_RANKS_EXITED;
}

/* torchrun's summary on one node: the lines below "Root Cause (first observed failure):". */
struct root {
    const struct nsc_own_record *line; /* NULL: none */
    int64_t rank, code, pid;
    nsc_text time;
    nsc_str host;
};

static struct root read_root(const struct ncclscope_model *m, size_t at)
{
    const struct nsc_own_record *line = &m->happened.item[at];
    struct root x = {.line = line, .rank = -1, .pid = -1};
    for (size_t i = at + 1; i < m->happened.len && m->happened.item[i].where.source == line->where.source &&
                            m->happened.item[i].where.line <= line->where.line + 8 &&
                            m->happened.item[i].number != NCCLSCOPE_KIND_RUN_ROOT;
         i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number == NCCLSCOPE_KIND_RUN_RANK)
            nsc_number_said(m, r, "rank", &x.rank);
        else if (r->number == NCCLSCOPE_KIND_RUN_EXIT && nsc_number_said(m, r, "code", &x.code))
            nsc_number_said(m, r, "pid", &x.pid);
        else if (r->number == NCCLSCOPE_KIND_RUN_HOST)
            x.host = nsc_field_of(m, r, "name");
        else if (r->number == NCCLSCOPE_KIND_RUN_TIME)
            x.time = nsc_said(m, r, "time");
    }
    return x;
}

/* Ranks that the summary lists above its root with the same signal, as where what all load makes each crash by itself; "": none. */
static const char *list_alike(struct nsc_case *c, struct nsc_finding *f, const struct root *x)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding others = {.rule = c->rule};
    int64_t code = 0, rank;
    size_t at_once = 0;
    for (const struct nsc_own_record *r = x->line; x->code < 0 && x->code != -9 && x->code != -15;) { /* upwards */
        if (r == m->happened.item || (--r)->number == NCCLSCOPE_KIND_RUN_ROOT ||
            r->where.source != x->line->where.source)
            break;
        if (r->number == NCCLSCOPE_KIND_RUN_EXIT && !nsc_number_said(m, r, "code", &code))
            code = 0;
        else if (r->number == NCCLSCOPE_KIND_RUN_RANK && code == x->code && nsc_number_said(m, r, "rank", &rank))
            nsc_name_rank(c, &others, (uint64_t)rank);
        else if (r->number == NCCLSCOPE_KIND_RUN_TIME && code == x->code)
            at_once += x->time.len && nsc_text_eq(nsc_said(m, r, "time"), x->time);
    }
    for (size_t i = 0; i < others.ranks.len; i++)
        nsc_name_rank(c, f, others.ranks.item[i]);
    const char *said = !others.ranks.len ? ""
                                         : nsc_words(c, "; %s ended by the same signal%s", nsc_list_ranks(c, &others),
                                                     at_once == others.ranks.len ? " in the same second" : "");
    nsc_finding_free(&others);
    return said;
}

/* "2026-01-02_03:04:05": as text in order. Without one the line that comes first is. */
static bool is_earlier(const struct root *a, const struct root *b)
{
    size_t n = a->time.len < b->time.len ? a->time.len : b->time.len;
    return n && memcmp(a->time.ptr, b->time.ptr, n) < 0;
}

/* Exit code 1 behind an exception that the rule in hand has told: that is what the process ended with. */
static void follow_exception(struct nsc_case *c, struct nsc_finding *f, int64_t code)
{
    for (size_t i = 0; code == 1 && i < c->f->list.len; i++) {
        const struct nsc_finding *x = &c->f->list.item[i];
        if (x != f && x->rule == c->rule && x->severity == NCCLSCOPE_SEVERITY_ERROR)
            f->severity = NCCLSCOPE_SEVERITY_NOTE;
    }
}

/* Each node has a torchrun, which knows of its own processes alone: the earliest of what they saw. */
static bool tell_root(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct root first = {.line = NULL};
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        struct root x = m->happened.item[i].number == NCCLSCOPE_KIND_RUN_ROOT ? read_root(m, i) : first;
        if (x.line == first.line || x.rank < 0)
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
        nsc_name_rank(c, f, (uint64_t)x.rank);
        nsc_name_host(c, f, x.host);
        f->count++;
        bool leads = !first.line || is_earlier(&x, &first);
        first = leads ? x : first;
        (leads ? nsc_show_first : nsc_show)(c, f, &x.line->where);
    }
    if (!f)
        return false;
    uint64_t alike = 0; /* that another launcher saw fail in the same second */
    for (size_t i = 0; i < m->happened.len && f->count > 1; i++) {
        struct root x = m->happened.item[i].number == NCCLSCOPE_KIND_RUN_ROOT ? read_root(m, i) : first;
        alike += x.line != first.line && x.rank >= 0 && x.time.len && nsc_text_eq(x.time, first.time);
    }
    nsc_text host = first.host ? nsc_say(m, first.host) : (nsc_text){NULL, 0};
    f->title = nsc_words(c, "The launcher%s saw rank %lld fail%s: process %lld%s%.*s, exit code %lld%s%.*s",
                         f->count > 1 ? "s" : "", (long long)first.rank, alike ? " among the first" : " first",
                         (long long)first.pid, host.len ? " on " : "", (int)host.len, host.len ? host.ptr : "",
                         (long long)first.code, first.time.len ? ", " : "", (int)first.time.len,
                         first.time.len ? first.time.ptr : "");
    f->title = nsc_words(c, "%s%s", f->title, list_alike(c, f, &first));
    bool unprovoked =
        first.code == -15 && !nsc_first_failure(m, first.line->where.source) && !nsc_any_failure(c, c->rule->key);
    nsc_explain_by(c, f, unprovoked ? NSC_EXIT_TERMINATED_FIRST : reason_of_exit(first.code));
    if (alike)
        f->cause = nsc_words(c,
                             "%s %llu other launcher%s name%s another rank in the same second (each sees only its own "
                             "node): which was first cannot be told.",
                             f->cause, (unsigned long long)alike, alike == 1 ? "" : "s", alike == 1 ? "s" : "");
    else if (f->count > 1)
        f->cause =
            nsc_words(c, "%s This order rests on the clocks of the nodes; each node has its own launcher.", f->cause);
    tell_root_and_wake(c, f, first.code, first.line);
    follow_exception(c, f, first.code);
    return true;
}

static const struct nsc_where *earlier(const struct nsc_where *a, const struct nsc_where *b, uint32_t source)
{
    return (b->source == source || source == NSC_NONE) && (!a || b->line < a->line) ? b : a;
}

static bool first_timeout_before(const struct ncclscope_model *m, const struct nsc_where *line)
{
    for (size_t i = 0; i < m->happened.len; i++)
        if (nsc_timed_out(&m->happened.item[i]) && m->happened.item[i].where.source == line->source)
            return m->happened.item[i].where.line < line->line;
    return false;
}

/* NCCL warned of something, or PyTorch's watchdog of a wait. */
const struct nsc_where *nsc_first_failure(const struct ncclscope_model *m, uint32_t source)
{
    const struct nsc_where *first = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (nsc_timed_out(r) || r->number == NCCLSCOPE_KIND_TORCH_OOM || r->number == NCCLSCOPE_KIND_PROGRAM_NCCL)
            first = earlier(first, &r->where, source);
    }
    for (size_t i = 0; i < m->warnings.len; i++)
        if (m->warnings.item[i].broke)
            first = earlier(first, &m->warnings.item[i].where, source);
    return first;
}

/* Did NCCL or PyTorch's watchdog tell of a failure of this process itself? */
static bool failed_itself(const struct ncclscope_model *m, const struct nsc_proc *p)
{
    for (size_t i = 0; i < m->warnings.len; i++)
        if (m->warnings.item[i].broke && &m->procs.item[m->warnings.item[i].proc] == p)
            return true;
    for (size_t i = 0; p->last_rank != NSC_NONE && i < m->happened.len; i++)
        if (nsc_timed_out(&m->happened.item[i]) && m->happened.item[i].torch_rank == m->ranks.item[p->last_rank].rank)
            return true;
    return false;
}

/* "bash: line 1:  2700 Killed                  python3 train.py", of a process of NCCL's that had not failed: what others tell of failures
 * follows from that. They see its connections close at once, and its shell tells it some lines later; but who was killed behind a time-out
 * may have been killed as the job hung. */
static bool is_first_to_fall(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    const struct nsc_where *failed = nsc_first_failure(m, r->where.source);
    int64_t code = nsc_code_of_words(nsc_said(m, r, "reason"));
    bool from_outside =
        code && code != -6 && code != -15; /* it neither gave up itself, nor was it ended in good order */
    bool near = !failed || failed->line > r->where.line ||
                (failed->line + NSC_LINES_BUFFERED > r->where.line && nsc_only_missed(m) &&
                 !first_timeout_before(m, &r->where));
    const struct nsc_proc *p =
        nsc_is_of_shell(r) && from_outside && near ? nsc_process_of_line(m, r, nsc_said(m, r, "pid")) : NULL;
    return p && !failed_itself(m, p);
}

/* "15", "Signals.SIGTERM": which signal torchrun got; 0: none that is known. */
static int signal_of(nsc_text word)
{
    static const struct {
        const char *name;
        int number;
    } known[] = {{"SIGHUP", 1}, {"SIGINT", 2}, {"SIGQUIT", 3}, {"SIGTERM", 15}};
    int64_t number = 0;
    if (nsc_text_starts(word, "Signals."))
        word = nsc_text_from(word, 8);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (nsc_text_is(word, known[i].name))
            return known[i].number;
    return nsc_to_i64(word, &number) && number > 0 && number < 65 ? (int)number : 0;
}

/* torchrun got a signal from outside, and ended its processes: nothing of the job's failed by that line. */
static bool tell_told(struct nsc_case *c)
{
    const struct nsc_own_record *r = nsc_first_heard(c->m, NCCLSCOPE_KIND_LAUNCHER_TOLD);
    int signal = r ? signal_of(nsc_said(c->m, r, "reason")) : 0;
    if (!signal || signal == 2)
        return false;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "error", "certain");
    f->count = 1;
    f->title = nsc_words(c, "Signal %d (%s) told the launcher to end, and it ended the job's processes", signal,
                         signal == 1    ? "SIGHUP"
                         : signal == 3  ? "SIGQUIT"
                         : signal == 15 ? "SIGTERM"
                                        : "from outside");
    nsc_explain_by(c, f, signal == 1 ? NSC_EXIT_HANGUP : NSC_EXIT_TOLD);
    nsc_show(c, f, &r->where);
    return true;
}

/* Launchers end the other processes when one has failed, or when somebody tells them to: news only where nothing else here tells of a
 * failure. */
static void tell_stop(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    if (tell_told(c))
        return;
    const struct nsc_own_record *ends = nsc_first_heard(m, NCCLSCOPE_KIND_LAUNCHER_STOPS),
                                *by_hand = nsc_stopped_by_hand(m);
    const struct nsc_own_record *r = by_hand ? by_hand : ends;
    if (!r)
        return;
    const struct nsc_where *done = nsc_success_of(m);
    bool typed =
        by_hand &&
        (r->number != NCCLSCOPE_KIND_PROGRAM_STOPPED || /* what served its time is stopped so, too */
         nsc_first_heard(m, NCCLSCOPE_KIND_KEYBOARD_STOP) || nsc_first_heard(m, NCCLSCOPE_KIND_PY_INTERRUPTED));
    bool went_on = typed || (done && done->source == r->where.source);
    struct nsc_finding *f = nsc_found(c, went_on ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING, "error",
                                      by_hand ? "certain" : "likely");
    f->part = went_on ? NSC_NO_FAILURE : f->part;
    f->count = 1;
    bool handled = by_hand && by_hand->number == NCCLSCOPE_KIND_PY_INTERRUPTED &&
                   nsc_text_starts(nsc_text_trim(nsc_said(m, by_hand, "text")), ":");
    if (handled) { /* "KeyboardInterrupt: MQLLMEngine terminated": Python's own of Ctrl-C says no more than its name */
        f->title = "The program ended itself on a signal, not over a failure that a line reports";
    } else if (by_hand) {
        f->title = "The job was stopped by hand (Ctrl-C, SIGINT), not by a failure that a line reports";
    } else {
        nsc_text reason = nsc_said(m, r, "reason");
        f->title = nsc_words(c, "The launcher ended the job's processes: %.*s", (int)reason.len, reason.ptr);
    }
    nsc_explain_by(c, f, handled ? NSC_EXIT_BY_HANDLER : by_hand ? NSC_EXIT_BY_HAND : NSC_EXIT_STOPPED);
    nsc_show(c, f, &r->where);
    nsc_show(c, f, by_hand && ends ? &ends->where : NULL);
}

/* The signal by which the process ended that had said why: one finding, with the name of the process. */
static void tell_abort_of(struct nsc_case *c, const struct nsc_own_record *r, const char *who)
{
    for (size_t i = c->f->list.len; i-- > 0;) {
        struct nsc_finding *f = &c->f->list.item[i];
        if (f->rule != c->rule || f->severity != NCCLSCOPE_SEVERITY_ERROR)
            continue;
        f->title = nsc_words(c, "%s (%s aborted)", f->title, who);
        nsc_show(c, f, &r->where);
        return;
    }
}

/* Somebody failed, by torchrun's word or by that of a process which aborts, and nothing else in the input tells of a failure. */
static void tell_unnamed(struct nsc_case *c)
{
    const struct nsc_own_record *r = nsc_first_heard(c->m, NCCLSCOPE_KIND_CHILD_FAILED),
                                *thrown = nsc_first_heard(c->m, NCCLSCOPE_KIND_CPP_TERMINATE);
    if (nsc_first_heard(c->m, NCCLSCOPE_KIND_CPP_WHAT) || nsc_first_heard(c->m, NCCLSCOPE_KIND_TORCH_DOWN))
        thrown = NULL; /* its words are here, and are told elsewhere */
    if ((!r && !thrown) || nsc_success_of(c->m))
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
    nsc_text name = r ? (nsc_text){NULL, 0} : nsc_text_trim(nsc_said(c->m, thrown, "name"));
    r = r ? r : thrown;
    f->count = 1;
    f->title = r != thrown
                   ? "torchrun says that a worker of the job failed"
                   : nsc_words(c, "A process aborted on an uncaught C++ exception: %.*s; its message is not here",
                               (int)name.len, name.len ? name.ptr : "");
    nsc_explain_by(c, f, NSC_EXIT_UNNAMED);
    nsc_show(c, f, &r->where);
}

/* "Detected 1 oom_kill event in StepId=1.0": a process of the step was killed, and no line says which. */
static void tell_step_memory(struct nsc_case *c, const struct nsc_own_record *oom)
{
    if (!oom || oom->number == NCCLSCOPE_KIND_KERNEL_KILLED)
        return;
    nsc_text where = nsc_text_trim(nsc_said(c->m, oom, oom->number == NCCLSCOPE_KIND_SLURM_OOM ? "text" : "name"));
    ptrdiff_t end = nsc_text_find(where, ". "),
              cgroup = nsc_text_find(where, " cgroup"); /* "step 123.0 cgroup. Some ..." */
    end = cgroup > 0 && (end < 0 || cgroup < end) ? cgroup : end;
    where = nsc_text_upto(where, end > 0 ? (size_t)end : 60);
    struct nsc_finding *f =
        nsc_found(c, nsc_success_of(c->m) ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
    f->count = 1;
    f->title = nsc_words(c, "A process of the job was killed because of its memory use (%.*s)", (int)where.len,
                         where.len ? where.ptr : "");
    nsc_explain_by(c, f, NSC_EXIT_OUT_OF_MEMORY);
    nsc_show(c, f, &oom->where);
}

/* What ends before NCCL's first word is a step of the job that prepares it, or looks at the machine. */
static bool is_before_nccl(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    bool any = false;
    for (size_t i = 0; i < m->procs.len; i++) {
        const struct nsc_where *first = &m->procs.item[i].first;
        any = any || first->source == r->where.source;
        if (first->source == r->where.source && first->line < r->where.line)
            return false;
    }
    const struct nsc_source_info *s = &m->sources.item[r->where.source];
    return (any || s->bare_version) && (!s->bare_version || s->bare_version_at.line > r->where.line);
}

enum { MOST_ASKED = 64 };

void nsc_rule_ranks_exited(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    bool failed = nsc_first_failure(m, NSC_NONE), gone = nsc_tell_node_gone(c), in_time = nsc_tell_other_limit(c),
         limited = nsc_tell_limit(c) || in_time || gone;
    nsc_tell_unreached(c);
    nsc_tell_refused(c);
    const struct nsc_own_record *raised = nsc_tell_raised(c, failed);
    const struct nsc_own_record *oom = nsc_first_heard(m, NCCLSCOPE_KIND_SLURM_OOM);
    oom = oom ? oom : nsc_first_heard(m, NCCLSCOPE_KIND_PBS_MEMORY);
    oom = oom ? oom : nsc_first_heard(m, NCCLSCOPE_KIND_KERNEL_KILLED);
    bool told = nsc_tell_memory(c) || tell_root(c);
    bool why = raised || (!told && !failed && !limited && nsc_tell_last_lines(c, true));
    int asked = 0; /* of how many lines of shells it was looked up whether their process fell first */
    for (size_t i = 0; !told && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        const char *who = "";
        bool late = nsc_is_told_late(r) && (failed || why || limited) &&
                    (why || limited || asked++ >= MOST_ASKED || !is_first_to_fall(m, r));
        late = late || (nsc_is_of_shell(r) && nsc_outlives(m, r));
        int64_t code = late ? 0 : nsc_ending(c, r, &who);
        if (!code || (in_time && (code == -9 || code == -15))) /* a limit ends processes so */
            continue;
        if (code == -6 && nsc_dies_of(raised) && r->where.source == raised->where.source) {
            tell_abort_of(c, r, who);
            told = true;
            continue;
        }
        const struct nsc_where *done = nsc_success_of(m);
        bool mended = done && done->source == r->where.source && done->line > r->where.line; /* it was started anew */
        bool prepares = code > 0 && r->number == NCCLSCOPE_KIND_SRUN_ENDED && !raised && is_before_nccl(m, r);
        struct nsc_finding *f = nsc_found(c,
                                          !mended    ? NCCLSCOPE_SEVERITY_ERROR
                                          : prepares ? NCCLSCOPE_SEVERITY_NOTE
                                                     : NCCLSCOPE_SEVERITY_WARNING,
                                          "error", "likely");
        f->count = 1;
        bool own_words = (r->number >= NCCLSCOPE_KIND_SIGNAL_CAUGHT && r->number <= NCCLSCOPE_KIND_SIGNAL_PYTHON) ||
                         r->number == NCCLSCOPE_KIND_SIGNAL_GDB || r->number == NCCLSCOPE_KIND_SIGNAL_ABSL ||
                         nsc_is_of_shell(r) || nsc_is_own_handler(r);
        uint64_t more = own_words ? nsc_others_crashed(m, r) : 0;
        f->count += more;
        bool watched = nsc_is_told_late(r) && !nsc_is_of_shell(r);
        f->title = r->number == NCCLSCOPE_KIND_KERNEL_KILLED ? nsc_words(c, "The kernel killed %s: out of memory", who)
                   : watched && code < 0 ? nsc_words(c, "A process ended by signal %lld: %s", (long long)-code, who)
                   : watched             ? nsc_words(c, "A process ended with exit code %lld: %s", (long long)code, who)
                   : more                ? nsc_words(c, "%llu processes crashed with signal %lld, first %s",
                                                     (unsigned long long)more + 1, (long long)-code, who)
                   : own_words && code == -9 ? nsc_words(c, "A process was killed (signal 9): %s", who)
                   : own_words ? nsc_words(c, "A process crashed with signal %lld: %s", (long long)-code, who)
                   : code < 0  ? nsc_words(c, "The launcher saw %s end by signal %lld", who, (long long)-code)
                               : nsc_words(c, "The launcher saw %s end with exit code %lld", who, (long long)code);
        uint64_t alike = nsc_others_ended_so(c, r, code);
        if (alike)
            f->title = nsc_words(c, "%s; the same in %llu more line%s", f->title, (unsigned long long)alike,
                                 alike == 1 ? "" : "s");
        nsc_explain_by(c, f, code == -9 && oom ? NSC_EXIT_OUT_OF_MEMORY : reason_of_exit(code));
        nsc_show(c, f, &r->where);
        if (r->number == NCCLSCOPE_KIND_SRUN_ENDED)
            nsc_name_host(c, f, nsc_field_of(m, r, "name"));
        else if (r->host)
            nsc_name_host(c, f, r->host);
        if (code == -9 && oom)
            nsc_show(c, f, &oom->where);
        tell_root_and_wake(c, f, code, r);
        follow_exception(c, f, code);
        told = true;
    }
    if (!told && !failed && !limited && !nsc_any_failure(c, NSC_ID_NONE)) {
        size_t before = c->f->list.len;
        tell_step_memory(c, oom);
        if (c->f->list.len == before)
            tell_stop(c);
        if (c->f->list.len == before)
            tell_unnamed(c);
        if (c->f->list.len == before)
            nsc_tell_open_traceback(c);
        if (c->f->list.len == before)
            nsc_tell_last_lines(c, false);
        if (c->f->list.len == before)
            nsc_tell_own_words(c);
    }
}
