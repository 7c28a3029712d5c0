/* rules_ended.c - processes that ended: by a signal, an exception, a launcher or a scheduler. */
#include "rules/ask.h"
#include "rules/open_traceback.h"
#include "rules/own_words.h"
#include "rules/raised.h"

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
    bool unprovoked =
        first.code == -15 && !nsc_first_failure(m, first.line->where.source) && !nsc_any_failure(c, c->rule->key);
    nsc_explain_by(c, f, unprovoked ? NSC_EXIT_TERMINATED_FIRST : reason_of_exit(first.code));
    if (alike)
        f->cause = nsc_words(c,
                             "%s %llu other launcher%s name%s another rank in the same second (each knows of its own "
                             "node alone): which was first cannot be told.",
                             f->cause, (unsigned long long)alike, alike == 1 ? "" : "s", alike == 1 ? "s" : "");
    else if (f->count > 1)
        f->cause = nsc_words(
            c, "%s The first is so by the clocks of the nodes, of which each has a launcher of its own.", f->cause);
    tell_root_and_wake(c, f, first.code, first.line);
    follow_exception(c, f, first.code);
    return true;
}

/* "Killed" and the like, as srun prints them, to the code that torchrun would give. */
static int64_t code_of_words(nsc_text words)
{
    static const struct {
        const char *begin;
        int64_t code;
    } known[] = {
        {"Killed", -9},      {"Out Of Memory", -9}, {"Segmentation fault", -11}, {"Bus error", -7},
        {"Terminated", -15}, {"Aborted", -6},       {"Illegal instruction", -4}, {"Floating point exception", -8}};
    int64_t code;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (nsc_text_starts(words, known[i].begin))
            return known[i].code;
    nsc_text exited = NSC_TEXT("Exited with exit code ");
    if (!nsc_text_starts(words, exited.ptr) || !nsc_to_i64(nsc_text_trim(nsc_text_from(words, exited.len)), &code))
        return 0;
    return code > 128 && code < 128 + 32 ? 128 - code : code; /* a shell's way to tell a signal */
}

/* A shell tells how its program ended, whatever led to it: news only where nothing before says so. */
static bool is_of_shell(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_SHELL_JOB_ENDED || r->number == NCCLSCOPE_KIND_SHELL_ENDED;
}

/* The one process of NCCL's in this input that has this pid; NULL: none has, or several. */
static const struct nsc_proc *process_of(const struct ncclscope_model *m, const struct nsc_own_record *r, nsc_text pid)
{
    const struct nsc_proc *one = NULL;
    int64_t number;
    for (size_t i = 0; nsc_to_i64(pid, &number) && i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        if (p->pid != number || p->source != r->where.source)
            continue;
        if (one)
            return NULL;
        one = p;
    }
    return one;
}

/* "process 233 of node-b, rank 1": what NCCL's lines tell of it. */
static const char *name_process(struct nsc_case *c, const struct nsc_own_record *r, nsc_text pid)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_proc *one = process_of(m, r, pid);
    const char *words = nsc_words(c, "process %.*s", (int)pid.len, pid.ptr);
    if (!one || !one->host)
        return words;
    const struct nsc_rank *rank = one->last_rank == NSC_NONE ? NULL : &m->ranks.item[one->last_rank];
    const char *as = rank && rank->before == NSC_NONE ? nsc_words(c, ", rank %lld", (long long)rank->rank) : "";
    return nsc_words(c, "%s of %s%s", words, nsc_say(m, one->host).ptr, as);
}

/* What a launcher other than torchrun's summary says of one process; 0: nothing, or a good end. */
static int64_t ending(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    const struct ncclscope_model *m = c->m;
    int64_t code = 0;
    if (r->number == NCCLSCOPE_KIND_SRUN_ENDED) {
        nsc_text tasks = nsc_said(m, r, "group"), host = nsc_said(m, r, "name");
        bool several = nsc_text_find(tasks, "-") >= 0 || nsc_text_find(tasks, ",") >= 0;
        *who =
            nsc_words(c, "task%s %.*s on %.*s", several ? "s" : "", (int)tasks.len, tasks.ptr, (int)host.len, host.ptr);
        return code_of_words(nsc_said(m, r, "reason"));
    }
    nsc_text name = nsc_said(m, r, "name"), reason = nsc_said(m, r, "reason"), pid = nsc_said(m, r, "pid");
    if (r->number == NCCLSCOPE_KIND_MPI_EXIT && nsc_number_said(m, r, "code", &code)) {
        const struct nsc_own_record *process = r > m->happened.item ? r - 1 : r;
        nsc_text rank =
            process->number == NCCLSCOPE_KIND_MPI_PROCESS ? nsc_said(m, process, "rank") : (nsc_text){"", 0};
        *who = nsc_words(c, "%s%.*s", rank.len ? "rank " : "a process", (int)rank.len, rank.ptr);
        return code > 128 && code < 128 + 32 ? 128 - code : code;
    }
    if (r->number == NCCLSCOPE_KIND_MPI_SIGNAL && nsc_number_said(m, r, "code", &code)) {
        nsc_text rank = nsc_said(m, r, "rank");
        *who = nsc_words(c, "rank %.*s on %.*s", (int)rank.len, rank.ptr, (int)name.len, name.ptr);
        return -code;
    }
    bool crash = r->number == NCCLSCOPE_KIND_SIGNAL_CAUGHT || r->number == NCCLSCOPE_KIND_SIGNAL_OF_MPI;
    if (crash && nsc_number_said(m, r, "code", &code)) {
        *who = nsc_words(c, "process %.*s on %.*s", (int)pid.len, pid.ptr, (int)name.len, name.ptr);
        return -code;
    }
    if (r->number == NCCLSCOPE_KIND_SIGNAL_GDB || r->number == NCCLSCOPE_KIND_SIGNAL_ABSL) {
        nsc_text text = r->where.text; /* with what the launcher put before it: "(RayWorkerWrapper pid=233, ip=...)" */
        ptrdiff_t at = r->number == NCCLSCOPE_KIND_SIGNAL_GDB ? -1 : nsc_text_find(text, "Wrapper pid=");
        nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(text, (size_t)at + 12);
        while (pid.len < rest.len && nsc_is_digit(rest.ptr[pid.len]))
            pid.ptr = rest.ptr, pid.len++;
        *who = r->number == NCCLSCOPE_KIND_SIGNAL_GDB ? "the one that the debugger watched"
               : r->torch_rank >= 0                   ? nsc_words(c, "rank %lld", (long long)r->torch_rank)
               : pid.len                              ? name_process(c, r, pid)
                                                      : "as its own handler says";
        return nsc_text_is(name, "SEGV") ? -11 : nsc_text_is(name, "BUS") ? -7 : nsc_text_is(name, "ABRT") ? -6 : -4;
    }
    if (is_of_shell(r)) {
        *who = pid.len ? name_process(c, r, pid) : "its shell says so";
        return code_of_words(reason);
    }
    if (r->number == NCCLSCOPE_KIND_SIGNAL_PYTHON) {
        *who = r->torch_rank >= 0 ? nsc_words(c, "rank %lld", (long long)r->torch_rank) : "a Python process";
        return nsc_text_starts(reason, "Bus") ? -7 : nsc_text_starts(reason, "Abort") ? -6 : -11;
    }
    if (r->number == NCCLSCOPE_KIND_ELASTIC_FAILED || r->number == NCCLSCOPE_KIND_LAUNCH_EXIT) {
        nsc_text local = nsc_said(m, r, "local_rank");
        *who = nsc_words(c, "a process%s%.*s", local.len ? " of local rank " : "", (int)local.len, local.ptr);
        nsc_number_said(m, r, "code", &code);
    }
    return code;
}

/* In how many further lines the launcher says the same of other processes. */
static uint64_t others_ended_so(struct nsc_case *c, const struct nsc_own_record *first, int64_t code)
{
    uint64_t n = 0;
    const char *who;
    for (size_t i = 0; first->number == NCCLSCOPE_KIND_SRUN_ENDED && i < c->m->happened.len; i++) {
        const struct nsc_own_record *r = &c->m->happened.item[i];
        n += r > first && r->number == first->number && ending(c, r, &who) == code;
    }
    return n;
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
    int64_t code = code_of_words(nsc_said(m, r, "reason"));
    bool from_outside =
        code && code != -6 && code != -15; /* it neither gave up itself, nor was it ended in good order */
    bool near = !failed || failed->line > r->where.line ||
                (failed->line + NSC_LINES_BUFFERED > r->where.line && nsc_only_missed(m) &&
                 !first_timeout_before(m, &r->where));
    const struct nsc_proc *p = is_of_shell(r) && from_outside && near ? process_of(m, r, nsc_said(m, r, "pid")) : NULL;
    return p && !failed_itself(m, p);
}

/* "ssh: connect to host node-b port 22: Connection refused": nothing ran that could fail. */
static void tell_unreached(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->happened.len && !m->comms.len && !nsc_success_of(m); i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_SSH_FAILED && r->number != NCCLSCOPE_KIND_DAEMON_LOST)
            continue;
        if (!f) {
            nsc_text said = nsc_text_trim(r->where.text);
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
            said.len = said.len < 160 ? said.len : 160;
            said.len -= said.len && said.ptr[said.len - 1] == '.';
            f->title = nsc_words(c, "The launcher did not come to a host of the job: %.*s", (int)said.len, said.ptr);
            nsc_explain_by(c, f, NSC_EXIT_UNREACHED);
        }
        f->count++;
        nsc_show(c, f, &r->where);
    }
}

/* Did a process of NCCL's begin behind that line of its input? */
static bool any_began_behind(const struct ncclscope_model *m, const struct nsc_where *line)
{
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_where *first = &m->procs.item[m->proc_order.item[i]].first;
        if (first->source == line->source && first->line > line->line)
            return true;
    }
    return false;
}

/* What mpirun says, short: its help texts are wrapped, and their first line ends anywhere. */
static const char *mpirun_says(struct nsc_case *c, nsc_text reason, bool *program)
{
    static const char *const none[] = {"could not access", "lacked permissions", "unable to find the specified exec"};
    *program = nsc_text_find(reason, "not enough slots") >= 0;
    if (*program)
        return "its hosts have not enough slots";
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        *program = *program || nsc_text_find(reason, none[i]) >= 0;
    return *program ? "it found no program on a node that it may run"
                    : nsc_words(c, "%.*s ...", (int)(reason.len < 120 ? reason.len : 120), reason.ptr);
}

/* "srun: error: Unable to allocate resources: Job violates accounting/QOS policy": nothing ran, or nothing more. Or mpirun says so. */
static void tell_refused(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *by_slurm = nsc_first_heard(m, NCCLSCOPE_KIND_SLURM_REFUSED),
                                *r = by_slurm ? by_slurm : nsc_first_heard(m, NCCLSCOPE_KIND_MPI_REFUSED);
    if (!r)
        return;
    nsc_text reason = nsc_said(m, r, "reason");
    const struct nsc_where *end = nsc_success_of(m);
    bool ended = end && end->source == r->where.source && end->line > r->where.line;
    bool ran = m->comms.len > 0 || ended || m->tests.len, program = false;
    const char *words = by_slurm ? nsc_words(c, "%.*s", (int)(reason.len < 160 ? reason.len : 160), reason.ptr)
                                 : mpirun_says(c, reason, &program);
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
    f->count = 1;
    f->title = nsc_words(c, "%s did not start %s: %s", by_slurm ? "Slurm" : "mpirun",
                         !ran       ? "the job's processes"
                         : by_slurm ? "a further step"
                                    : "one of the runs",
                         words);
    nsc_explain_by(c, f, by_slurm ? NSC_EXIT_REFUSED : program ? NSC_EXIT_NOT_LAUNCHED : NSC_EXIT_LAUNCH_FAILED);
    f->severity = ended || any_began_behind(m, &r->where) ? NCCLSCOPE_SEVERITY_NOTE
                  : ran                                   ? NCCLSCOPE_SEVERITY_WARNING
                                                          : f->severity;
    nsc_show(c, f, &r->where);
}

/* "srun: error: Node failure on node-b", "CANCELLED ... DUE TO NODE FAILURE" (which names the node of the batch script). */
static bool tells_node_gone(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_SLURM_NODE_GONE ||
           (r->number == NCCLSCOPE_KIND_SLURM_LIMIT && nsc_text_find(nsc_said(m, r, "reason"), "NODE FAIL") >= 0);
}

static bool tell_node_gone(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (!tells_node_gone(m, r))
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
            f->part = NSC_ROOT;
            nsc_explain_by(c, f, NSC_EXIT_NODE_GONE);
        }
        if (r->number == NCCLSCOPE_KIND_SLURM_NODE_GONE)
            nsc_name_host(c, f, nsc_field_of(m, r, "name"));
        f->count++;
        nsc_show(c, f, &r->where);
    }
    if (!f)
        return false;
    f->title = f->hosts.len == 1 ? nsc_words(c, "Slurm lost a node of this job: %s", nsc_say(m, f->hosts.item[0]).ptr)
               : f->hosts.len    ? nsc_words(c, "Slurm lost %zu nodes of this job, first %s", f->hosts.len,
                                             nsc_say(m, f->hosts.item[0]).ptr)
                                 : "Slurm ended the job as a node of it failed";
    return true;
}

/* "CANCELLED ... DUE TO TIME LIMIT": no failure of the job's, and often all that its owner wants to know. */
static bool tell_limit(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_SLURM_LIMIT || tells_node_gone(m, r))
            continue;
        if (!f) {
            nsc_text reason = nsc_said(m, r, "reason"), time = nsc_said(m, r, "time"), name = nsc_said(m, r, "name");
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
            static const char before[] = "DUE TO ";
            reason = nsc_text_from(reason, nsc_text_starts(reason, before) ? sizeof before - 1 : 0);
            f->title = nsc_words(c, "Slurm %s %.*s at %.*s%s%.*s", reason.len ? "ended" : "cancelled", (int)name.len,
                                 name.ptr, (int)time.len, time.ptr, reason.len ? ": " : "", (int)reason.len,
                                 reason.len ? reason.ptr : "");
            nsc_explain_by(c, f, reason.len ? NSC_EXIT_LIMIT : NSC_EXIT_CANCELLED);
        }
        f->count++;
        nsc_show(c, f, &r->where);
    }
    return f != NULL;
}

/* Further processes that crashed with the same signal, by their own words. */
static uint64_t others_crashed(const struct ncclscope_model *m, const struct nsc_own_record *first)
{
    int64_t code, one = 0;
    uint64_t n = 0;
    struct nsc_map seen = {0};
    nsc_number_said(m, first, "code", &one);
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t pid;
        if (r->number != first->number || !nsc_number_said(m, r, "code", &code) || code != one ||
            !nsc_number_said(m, r, "pid", &pid))
            continue;
        nsc_map_put(&seen, (struct nsc_key){nsc_field_of(m, r, "name"), (uint64_t)pid, 0}, 0);
    }
    n = seen.used;
    nsc_map_free(&seen);
    return n > 1 ? n - 1 : 0;
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
    f->title = nsc_words(c, "The launcher was told to end by signal %d (%s), and ended the job's processes", signal,
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
    bool typed = by_hand && r->number != NCCLSCOPE_KIND_PROGRAM_STOPPED; /* what served its time is stopped so, too */
    bool went_on = typed || (done && done->source == r->where.source);
    struct nsc_finding *f = nsc_found(c, went_on ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING, "error",
                                      by_hand ? "certain" : "likely");
    f->part = went_on ? NSC_NO_FAILURE : f->part;
    f->count = 1;
    if (by_hand) {
        f->title = "The job was stopped by hand (Ctrl-C, SIGINT), not by a failure that a line tells of";
    } else {
        nsc_text reason = nsc_said(m, r, "reason");
        f->title = nsc_words(c, "The launcher ended the job's processes: %.*s", (int)reason.len, reason.ptr);
    }
    nsc_explain_by(c, f, by_hand ? NSC_EXIT_BY_HAND : NSC_EXIT_STOPPED);
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

/* Somebody failed, by torchrun's word, and nothing else in the input tells of a failure. */
static void tell_unnamed(struct nsc_case *c)
{
    const struct nsc_own_record *r = nsc_first_heard(c->m, NCCLSCOPE_KIND_CHILD_FAILED);
    if (!r || nsc_success_of(c->m))
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
    f->count = 1;
    f->title = "torchrun says that a worker of the job failed";
    nsc_explain_by(c, f, NSC_EXIT_UNNAMED);
    nsc_show(c, f, &r->where);
}

enum { MOST_ASKED = 64 };

void nsc_rule_ranks_exited(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    bool failed = nsc_first_failure(m, NSC_NONE), gone = tell_node_gone(c), limited = tell_limit(c) || gone;
    tell_unreached(c);
    tell_refused(c);
    const struct nsc_own_record *raised = nsc_tell_raised(c, failed);
    const struct nsc_own_record *oom = nsc_first_heard(m, NCCLSCOPE_KIND_SLURM_OOM);
    oom = oom ? oom : nsc_first_heard(m, NCCLSCOPE_KIND_PBS_MEMORY);
    bool told = tell_root(c);
    int asked = 0; /* of how many lines of shells it was looked up whether their process fell first */
    for (size_t i = 0; !told && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        const char *who = "";
        bool late = is_of_shell(r) && (failed || raised || limited) &&
                    (raised || limited || asked++ >= MOST_ASKED || !is_first_to_fall(m, r));
        int64_t code = late ? 0 : ending(c, r, &who);
        if (!code)
            continue;
        if (code == -6 && nsc_dies_of(raised) && r->where.source == raised->where.source) {
            tell_abort_of(c, r, who);
            told = true;
            continue;
        }
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
        f->count = 1;
        bool own_words = (r->number >= NCCLSCOPE_KIND_SIGNAL_CAUGHT && r->number <= NCCLSCOPE_KIND_SIGNAL_PYTHON) ||
                         r->number == NCCLSCOPE_KIND_SIGNAL_GDB || r->number == NCCLSCOPE_KIND_SIGNAL_ABSL ||
                         is_of_shell(r);
        uint64_t more = own_words ? others_crashed(m, r) : 0;
        f->count += more;
        f->title = more                      ? nsc_words(c, "%llu processes crashed with signal %lld, first %s",
                                                         (unsigned long long)more + 1, (long long)-code, who)
                   : own_words && code == -9 ? nsc_words(c, "A process was killed (signal 9): %s", who)
                   : own_words ? nsc_words(c, "A process crashed with signal %lld: %s", (long long)-code, who)
                   : code < 0  ? nsc_words(c, "The launcher saw %s end by signal %lld", who, (long long)-code)
                               : nsc_words(c, "The launcher saw %s end with exit code %lld", who, (long long)code);
        uint64_t alike = others_ended_so(c, r, code);
        if (alike)
            f->title = nsc_words(c, "%s, and says so in %llu more line%s", f->title, (unsigned long long)alike,
                                 alike == 1 ? "" : "s");
        nsc_explain_by(c, f, code == -9 && oom ? NSC_EXIT_OUT_OF_MEMORY : reason_of_exit(code));
        nsc_show(c, f, &r->where);
        if (r->number == NCCLSCOPE_KIND_SRUN_ENDED)
            nsc_name_host(c, f, nsc_field_of(m, r, "name"));
        if (code == -9 && oom)
            nsc_show(c, f, &oom->where);
        tell_root_and_wake(c, f, code, r);
        follow_exception(c, f, code);
        told = true;
    }
    if (!told && !failed && !limited && !nsc_any_failure(c, NSC_ID_NONE)) {
        size_t before = c->f->list.len;
        tell_stop(c);
        if (c->f->list.len == before)
            tell_unnamed(c);
        if (c->f->list.len == before)
            nsc_tell_open_traceback(c);
        if (c->f->list.len == before)
            nsc_tell_own_words(c);
    }
}
