/* raised.c - a program that says that it failed by itself: exceptions, assertions, panics, a server that did not come up. */
#include "rules/raised.h"
#include "rules/reruns.h"

enum told { FIRST, DIES, THROWN, LATER };

static const struct words {
    ncclscope_kind kind;
    enum told told;
    int severity;
    const char *field, *title, *fix;
} rows[] = {
#define RAISED(kind, field, told, severity, title, fix) \
    {NCCLSCOPE_KIND_##kind, told, NCCLSCOPE_SEVERITY_##severity, field, title, fix},
#include "raised.def"
#undef RAISED
};

static const struct words *words_of(const struct nsc_own_record *r, enum told told)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].kind == r->number && (rows[i].told == LATER) == (told == LATER))
            return &rows[i];
    return NULL;
}

/* The process could not use CUDA from its beginning: whatever NCCL says behind it follows. */
static bool is_before_cuda(nsc_text reason)
{
    return nsc_text_find(reason, "in forked subprocess") >= 0;
}

/* "TypeError: Input tensor data type is not supported for NCCL process group: Short": Python's own, of what the program gave to a call. */
static bool is_of_arguments(nsc_text name)
{
    return nsc_text_is(name, "TypeError") || nsc_text_is(name, "AttributeError") || nsc_text_is(name, "NameError") ||
           nsc_text_is(name, "KeyError") || nsc_text_is(name, "IndexError");
}

/* Not one that only names CUDA, as among the backends that a function is registered for. */
static bool tells_of_cuda(nsc_text reason)
{
    static const char *const words[] = {"CUDA error",  "CUDA out of memory", "CUDA failure",
                                        "CUDA driver", "CUDA unknown",       NULL};
    return nsc_text_has_any(reason, words);
}

static bool is_of_nccl_or_cuda(nsc_text name, nsc_text reason)
{
    if (nsc_text_find(reason, "retrieving ncclUniqueId") >= 0 || /* PyTorch's store, before NCCL is called */
        is_before_cuda(reason) || is_of_arguments(name))
        return false;
    return nsc_text_find(name, "DistBackendError") >= 0 || nsc_text_find(name, "ChildFailedError") >= 0 ||
           nsc_text_find(name, "CUDAError") >= 0 || nsc_text_find(reason, "NCCL") >= 0 || tells_of_cuda(reason);
}

bool nsc_is_of_nccl(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    nsc_text name = nsc_said(m, r, "name"), reason = nsc_said(m, r, "reason");
    return r->number == NCCLSCOPE_KIND_PY_RAISED && is_of_nccl_or_cuda(nsc_text_trim(name), reason) &&
           !tells_of_cuda(reason);
}

/* "[rank4]: FileNotFoundError: ...": PyTorch puts the rank before an exception that nothing caught. */
static bool is_uncaught(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_PY_RAISED && r->torch_rank >= 0;
}

/* "terminate called after throwing ..." and "what(): ...", a panic and its reason, are two lines, of one process or of several at once. */
static nsc_text reason_of(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    const struct nsc_own_record *next = r + 1, *end = m->happened.item + m->happened.len;
    ncclscope_kind second = r->number == NCCLSCOPE_KIND_CPP_TERMINATE ? NCCLSCOPE_KIND_CPP_WHAT
                            : r->number == NCCLSCOPE_KIND_RUST_PANIC  ? NCCLSCOPE_KIND_PANIC_REASON
                                                                      : NCCLSCOPE_KIND_UNKNOWN;
    bool apart = second != NCCLSCOPE_KIND_UNKNOWN && next < end && next->number == second &&
                 next->where.source == r->where.source && next->where.line <= r->where.line + 2;
    return nsc_text_trim(nsc_said(m, apart ? next : r, "reason"));
}

enum { REASON_SHOWN = 180 };

static nsc_text name_of(const struct ncclscope_model *m, const struct words *w, const struct nsc_own_record *r)
{
    return *w->field ? nsc_text_trim(nsc_said(m, r, w->field)) : (nsc_text){NULL, 0};
}

/* "device 5 does not equal 0" and "device 12 does not equal 0": the same but for numbers. */
static bool differ_in_numbers_alone(nsc_text a, nsc_text b)
{
    size_t i = 0, k = 0;
    while (i < a.len && k < b.len && (a.ptr[i] == b.ptr[k] || (nsc_is_digit(a.ptr[i]) && nsc_is_digit(b.ptr[k])))) {
        bool number = nsc_is_digit(a.ptr[i]);
        i++, k++;
        while (number && i < a.len && nsc_is_digit(a.ptr[i]))
            i++;
        while (number && k < b.len && nsc_is_digit(b.ptr[k]))
            k++;
    }
    return i == a.len && k == b.len;
}

/* All ranks that say the same of themselves, where PyTorch puts their numbers before it; else how many lines are alike. */
static void name_ranks(struct nsc_case *c, struct nsc_finding *f, const struct words *w, const struct nsc_own_record *r)
{
    const struct ncclscope_model *m = c->m;
    uint64_t alike = 0;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *x = &m->happened.item[i];
        if (x->number != r->number || (x->torch_rank < 0) != (r->torch_rank < 0) ||
            !nsc_text_eq(name_of(m, w, x), name_of(m, w, r)) ||
            !differ_in_numbers_alone(reason_of(m, x), reason_of(m, r)))
            continue;
        alike++;
        if (x->torch_rank >= 0 && nsc_text_eq(reason_of(m, x), reason_of(m, r)))
            nsc_name_rank(c, f, (uint64_t)x->torch_rank);
    }
    f->count = f->ranks.len ? f->ranks.len : alike ? alike : 1;
}

/* "-- Process 1 terminated with the following error:" above the traceback: the number of the process; -1: no such line is there. */
static int64_t spawned(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    enum { NEAR = 100 };
    const struct nsc_where *at = &r->where;
    int64_t number;
    while (r > m->happened.item &&
           (r[-1].number == NCCLSCOPE_KIND_PY_FRAME || r[-1].number == NCCLSCOPE_KIND_PY_TRACEBACK))
        r--;
    if (r > m->happened.item && r[-1].number == NCCLSCOPE_KIND_SPAWN_RAISED && r[-1].where.source == at->source &&
        r[-1].where.line + NEAR > at->line && nsc_number_said(m, r - 1, "count", &number))
        return number;
    return -1;
}

static const char *title_of(struct nsc_case *c, const struct words *w, const struct nsc_finding *f, nsc_text name,
                            nsc_text reason)
{
    reason.len -= reason.len && (reason.ptr[reason.len - 1] == '.' || reason.ptr[reason.len - 1] == ':');
    const char *rank = f->ranks.len ? nsc_words(c, " (%s)", nsc_list_ranks(c, f)) : "";
    return nsc_words(c, "%s%s%s%.*s%s%.*s%s", w->title, rank, name.len ? ": " : "", (int)name.len,
                     name.len ? name.ptr : "", reason.len ? ": " : "",
                     (int)(reason.len < REASON_SHOWN ? reason.len : REASON_SHOWN), reason.len ? reason.ptr : "",
                     reason.len > REASON_SHOWN ? " ..." : "");
}

/* Of one input: where NCCL's first line stands, the last one by which a communicator came up, and the first by which NCCL or its work
 * failed; 0: there is none. */
struct span {
    uint32_t source;
    uint64_t first, up, failed;
};

/* The last line of the input by which a communicator came up before that line; 0: there is none. A file may hold a later run, too. */
static uint64_t up_before(const struct ncclscope_model *m, uint32_t source, uint64_t line)
{
    uint64_t up = 0;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_where *w = &m->ranks.item[i].complete;
        up = w->source == source && w->line > up && w->line < line ? w->line : up;
    }
    return up;
}

static void look_at(const struct ncclscope_model *m, uint32_t source, struct span *x)
{
    if (x->source == source)
        return;
    *x = (struct span){.source = source};
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_where *w = &m->procs.item[m->proc_order.item[i]].first;
        if (w->source == source && w->line && (!x->first || w->line < x->first))
            x->first = w->line;
    }
    x->up = up_before(m, source, UINT64_MAX);
    const struct nsc_where *failed = nsc_first_failure(m, source);
    x->failed = failed ? failed->line : 0;
}

/* Words of one who waited: for a rank that did not come, or for a job that was ended. */
static bool is_of_waiting(nsc_text name, nsc_text reason)
{
    static const char *const words[] = {"imeout",     "imed out", "aiting", "nterrupt",
                                        "SystemExit", "Signal",   "oin",    NULL};
    return nsc_text_has_any(name, words) || nsc_text_has_any(reason, words);
}

/* A program that fails by itself does not come to where the other ranks wait: to the start of a communicator, or, where they lost
 * patience behind it, to a collective. */
void nsc_blame_for_waiting(struct nsc_case *c, const struct nsc_where *raised, enum nsc_id by)
{
    for (size_t i = 0; i < c->f->list.len; i++) {
        struct nsc_finding *f = &c->f->list.item[i];
        const struct nsc_where *wait = f->evidences ? &f->evidence[0] : NULL;
        bool hung = f->rule->key == NSC_ID_RANKS_HUNG && wait && wait->source == raised->source &&
                    wait->line > raised->line,
             missing = f->rule->key == NSC_ID_RANKS_MISSING;
        if ((hung || missing) && f->severity == NCCLSCOPE_SEVERITY_ERROR && !f->caused_by)
            f->caused_by = by;
    }
}

/* What the input says of NCCL beside it, which did not fail. */
static const char *nccl_beside(struct nsc_case *c, const struct nsc_own_record *r)
{
    const struct ncclscope_model *m = c->m;
    struct span nccl = {.source = NSC_NONE};
    look_at(m, r->where.source, &nccl);
    uint64_t came_up = up_before(m, r->where.source, r->where.line);
    const char *up = nsc_call_failed_before(m, &r->where) ? "Before it the program says that a call of NCCL failed."
                     : nccl.failed                        ? "This input shows no NCCL failure before it."
                     : r->number == NCCLSCOPE_KIND_SANITIZER
                         ? "NCCL itself prints no failure here; the checked code may be NCCL's all the same."
                     : came_up ? nsc_words(c, "NCCL came up (line %llu), and this input shows no NCCL failure.",
                                           (unsigned long long)came_up)
                               : "This input shows no NCCL failure.";
    bool closed = nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_REMOTE_CLOSED);
    return closed ? nsc_words(c, "%s The closed connections that peers report follow from it.", up) : up;
}

/* "Engine core initialization failed. See root cause above.", "WorkerProc initialization failed due to an exception in a background process.
 * See stack trace for root cause.": vLLM's, of a process whose worker raised what ended it. */
static bool points_at_another(nsc_text reason)
{
    static const char *const words[] = {"root cause above", "for the root cause", "for root cause", NULL};
    return nsc_text_has_any(reason, words);
}

/* Logged as an error, as workers log what ends them: no failure that somebody expected. */
static bool is_logged_as_error(const struct nsc_own_record *r)
{
    return nsc_text_find(r->where.text, "ERROR ") >= 0;
}

/* The last exception of the input, where NCCL's first line stands between it and this one: the program went on behind this one, and that one
 * ended it. A rank that was raised for or lost patience may follow from this one. */
static const struct nsc_own_record *ended_by(const struct ncclscope_model *m, const struct nsc_own_record *r,
                                             const struct span *nccl)
{
    const struct nsc_own_record *pointer = NULL; /* at one above it */
    for (size_t i = m->happened.len; i-- && nccl->first > r->where.line;) {
        const struct nsc_own_record *x = &m->happened.item[i];
        if (x->number != NCCLSCOPE_KIND_PY_RAISED || x->where.source != r->where.source)
            continue;
        nsc_text name = name_of(m, words_of(x, FIRST), x), reason = reason_of(m, x);
        if (x != r && points_at_another(reason)) {
            pointer = pointer ? pointer : x;
            continue;
        }
        bool own = !is_of_nccl_or_cuda(name, reason) && !is_of_waiting(name, reason) && x->torch_rank < 0;
        if (own && x->where.line > nccl->first && !nsc_text_eq(reason, reason_of(m, r)))
            return x;
        return pointer && is_logged_as_error(r) ? NULL : pointer;
    }
    return NULL;
}

/* "Exception raised from SetDevice at /pytorch/c10/cuda/CUDAFunctions.cpp:245 (most recent call first):", shortly behind a C++ exception. */
static void say_where_raised(struct nsc_case *c, struct nsc_finding *f, const struct nsc_own_record *r)
{
    enum { NEAR = 12 };
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *end = m->happened.item + m->happened.len;
    bool of_torch = r->number == NCCLSCOPE_KIND_CPP_TERMINATE && nsc_text_starts(nsc_said(m, r, "name"), "c10");
    for (const struct nsc_own_record *x = r + 1; of_torch && x < end; x++) {
        if (x->where.source != r->where.source || x->where.line > r->where.line + NEAR)
            return;
        if (x->number != NCCLSCOPE_KIND_TORCH_RAISED_AT || x->torch_rank != r->torch_rank)
            continue;
        nsc_text name = nsc_said(m, x, "name"), file = nsc_said(m, x, "file");
        f->cause = nsc_words(c, "%s PyTorch raised it in %.*s (%.*s); the frames below %s show the callers.", f->cause,
                             (int)(name.len < 80 ? name.len : 80), name.ptr, (int)(file.len < 80 ? file.len : 80),
                             file.ptr, nsc_line_in(c, &x->where));
        nsc_show(c, f, &x->where);
        return;
    }
}

/* "  File "/job/train.py", line 44, in main" above the exception: the last frame that is of the program itself. Without PyTorch's mark of the
 * rank it counts right above the exception alone, as other ranks may write between the lines. */
static void say_last_frame(struct nsc_case *c, struct nsc_finding *f, const struct nsc_own_record *r)
{
    enum { FRAMES = 150, RIGHT_ABOVE = 4 };
    const struct ncclscope_model *m = c->m;
    int64_t line;
    for (const struct nsc_own_record *x = r; x-- > m->happened.item;) {
        if (x->where.source != r->where.source ||
            x->where.line + (r->torch_rank < 0 ? RIGHT_ABOVE : FRAMES) < r->where.line)
            return;
        if (x->torch_rank != r->torch_rank)
            continue;
        bool mixed =
            r->torch_rank < 0 && f->count > 1 && x->where.line + 1 == r->where.line; /* its code is elsewhere */
        if (x->number != NCCLSCOPE_KIND_PY_FRAME || mixed || !nsc_number_said(m, x, "line", &line))
            return;
        nsc_text file = nsc_base_name(nsc_said(m, x, "file")), name = nsc_text_trim(nsc_said(m, x, "name"));
        f->cause = nsc_words(c, "%s The last frame of the program itself is %.*s:%lld, in %.*s (%s).", f->cause,
                             (int)(file.len < 80 ? file.len : 80), file.ptr, (long long)line,
                             (int)(name.len < 80 ? name.len : 80), name.len ? name.ptr : "", nsc_line_in(c, &x->where));
        return;
    }
}

/* Behind a program that could not use CUDA: what a call of NCCL's came to. */
static void say_what_nccl_met(struct nsc_case *c, struct nsc_finding *f, const struct nsc_own_record *r)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *end = m->happened.item + m->happened.len;
    for (const struct nsc_own_record *x = r + 1; x < end; x++) {
        bool told = x->number == NCCLSCOPE_KIND_PROGRAM_NCCL || nsc_is_of_nccl(m, x);
        nsc_text reason = reason_of(m, x);
        if (x->where.source != r->where.source || !told || !reason.len)
            continue;
        reason = nsc_text_starts(reason, ": ") ? nsc_text_from(reason, 2) : reason; /* "NCCL error: invalid usage" */
        f->cause = nsc_words(c, "%s A call of NCCL's failed behind it (%s): %.*s", f->cause, nsc_line_in(c, &x->where),
                             (int)(reason.len < REASON_SHOWN ? reason.len : REASON_SHOWN), reason.ptr);
        nsc_show(c, f, &x->where);
        return;
    }
}

const char *nsc_marked_by_launcher(struct nsc_case *c, const struct nsc_own_record *r)
{
    return r->launcher_rank < 0 || r->torch_rank >= 0
               ? ""
               : nsc_words(c, " (process %lld by its launcher's mark)", (long long)r->launcher_rank);
}

static void tell_one(struct nsc_case *c, const struct words *w, const struct nsc_own_record *r, const char *lived_on,
                     const struct nsc_own_record *survived)
{
    nsc_text name = name_of(c->m, w, r);
    struct nsc_finding *f = nsc_found(c, lived_on ? NCCLSCOPE_SEVERITY_NOTE : w->severity, "error", "certain");
    name_ranks(c, f, w, r);
    nsc_text reason = reason_of(c->m, r);
    const char *known = nsc_title_of_raised(c, f, name, reason);
    int64_t process = f->ranks.len ? -1 : spawned(c->m, r);
    f->title = known ? known : title_of(c, w, f, name, reason);
    if (!known && !f->ranks.len && f->count > 1)
        f->title = nsc_words(c, "%s (first of %llu such lines)", f->title, (unsigned long long)f->count);
    f->title = process >= 0 ? nsc_words(c, "%s (process %lld of torch.multiprocessing)", f->title, (long long)process)
               : !f->ranks.len ? nsc_words(c, "%s%s", f->title, nsc_marked_by_launcher(c, r))
                               : f->title;
    f->cause = nccl_beside(c, r);
    f->fix = w->fix;
    const struct nsc_event *closed = nsc_event_of(c->m, NSC_NONE, NCCLSCOPE_KIND_PEER_CLOSED);
    closed = closed && nsc_closes_own(c->m, closed) ? NULL : closed;
    struct nsc_ask ask = {.c = c, .m = c->m, .proc = NSC_NONE, .said = &r->where, .distance = ""};
    ask.what = closed ? nsc_words(c, "%s", nsc_line_in(c, &closed->where)) : NULL;
    ask.other = closed ? nsc_words(c, "%lld", (long long)closed->number) : NULL;
    nsc_explain(c, f, &ask);
    if (nsc_is_explained_by(f, "EXIT_GLOO_LOCAL") || nsc_is_explained_by(f, "EXIT_GLOO_PEER"))
        f->title = nsc_words(c, "Another process of the job went first, by what Gloo tells%s%s",
                             f->ranks.len ? " " : "", f->ranks.len ? nsc_list_ranks(c, f) : "");
    if (nsc_is_explained_by(f, "EXIT_GLOO_LOCAL"))
        nsc_show(c, f, &closed->where);
    f->part = w->told == DIES || is_uncaught(r) || r->number == NCCLSCOPE_KIND_TORCH_ASSERT ? NSC_ROOT : f->part;
    f->confidence = "certain"; /* that it raised this; of the cause the words say how sure it is */
    if (lived_on) {
        f->part = NSC_NO_FAILURE;
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
        f->cause = lived_on;
    }
    nsc_show(c, f, &r->where);
    if (is_before_cuda(reason))
        say_what_nccl_met(c, f, r);
    say_where_raised(c, f, r);
    if (r->number == NCCLSCOPE_KIND_PY_RAISED && !lived_on)
        say_last_frame(c, f, r);
    if (survived) {
        nsc_text first = reason_of(c->m, survived);
        f->cause = nsc_words(
            c, "%s Another exception was raised earlier (%s): %.*s; NCCL began after it, so the program went on.",
            f->cause, nsc_line_in(c, &survived->where), (int)(first.len < REASON_SHOWN ? first.len : REASON_SHOWN),
            first.ptr);
        nsc_show(c, f, &survived->where);
    }
    if (!lived_on && !is_of_waiting(name, reason_of(c->m, r)))
        nsc_blame_for_waiting(c, &r->where, NSC_ID_RANKS_EXITED);
}

/* Another process listens where the launcher wants to: at the start of a run, so of a later one behind a failure. */
static bool is_taken(nsc_text reason)
{
    return nsc_text_find(reason, "EADDRINUSE") >= 0 || nsc_text_find(reason, "Address already in use") >= 0;
}

/* PyTorch's store could not listen, or be reached: without it NCCL does not begin. */
static bool is_of_store(nsc_text reason)
{
    return nsc_text_find(reason, "server socket") >= 0 || nsc_text_find(reason, "client socket") >= 0 ||
           is_taken(reason);
}

bool nsc_only_missed(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->warnings.len; i++) {
        ncclscope_kind k = m->warnings.item[i].kind;
        if (m->warnings.item[i].broke && k != NCCLSCOPE_KIND_REMOTE_CLOSED && k != NCCLSCOPE_KIND_SOCKET_FAILED &&
            k != NCCLSCOPE_KIND_SOCKET_ERROR)
            return false;
    }
    return !nsc_first_heard(m, NCCLSCOPE_KIND_TORCH_OOM);
}

/* Others may wait for a rank that failed so. An assertion within PyTorch takes it out of step also where the program catches that. */
static bool takes_rank_away(const struct nsc_own_record *r)
{
    return is_uncaught(r) || r->number == NCCLSCOPE_KIND_TORCH_ASSERT;
}

/* Does what NCCL said come before it, so that it follows from that? */
static bool is_wake(const struct ncclscope_model *m, const struct words *w, const struct nsc_own_record *r,
                    const struct span *nccl, bool nccl_failed)
{
    bool before = !nccl->failed || nccl->failed > r->where.line;
    if (r->number == NCCLSCOPE_KIND_TORCH_ASSERT && before && nccl->failed &&
        nccl->failed < r->where.line + NSC_NEAR_ASSERT)
        return false; /* what NCCL meets next is how the process goes down */
    return w->told == DIES || (takes_rank_away(r) && nccl->failed && nsc_only_missed(m)) ? !before : nccl_failed;
}

const struct nsc_own_record *nsc_stopped_by_hand(const struct ncclscope_model *m)
{
    static const ncclscope_kind words[] = {NCCLSCOPE_KIND_PROGRAM_STOPPED, NCCLSCOPE_KIND_KEYBOARD_STOP,
                                           NCCLSCOPE_KIND_PY_INTERRUPTED};
    const struct nsc_own_record *r = NULL, *told = nsc_first_heard(m, NCCLSCOPE_KIND_LAUNCHER_TOLD);
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !r; i++)
        r = nsc_first_heard(m, words[i]);
    nsc_text signal = told && !r ? nsc_said(m, told, "reason") : (nsc_text){NULL, 0};
    return nsc_text_is(signal, "2") || nsc_text_is(signal, "Signals.SIGINT") ? told : r;
}

/* Did an interrupt reach a Python process before it? What is raised behind that follows from it. */
static bool is_behind_interrupt(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    const struct nsc_own_record *stop = nsc_first_heard(m, NCCLSCOPE_KIND_PY_INTERRUPTED);
    return stop && r->number == NCCLSCOPE_KIND_PY_RAISED && stop->where.source == r->where.source &&
           stop->where.line < r->where.line;
}

/* "Rank 2 successfully reached monitoredBarrier, but received errors while waiting": where the line that names who did not is there. */
static bool is_of_barrier(const struct ncclscope_model *m, nsc_text reason)
{
    return nsc_text_find(reason, "monitoredBarrier") >= 0 && nsc_first_heard(m, NCCLSCOPE_KIND_BARRIER_MISSED);
}

/* "StopIteration" alone: often one that is caught, so it counts only where PyTorch marks that nothing caught it, or the input ends behind it
 * (but for "CancelledError": a server that is shut down says so of its requests); and where another with a message was raised while it was
 * handled, that one ended the rank. */
static bool is_bare_and_caught(const struct ncclscope_model *m, const struct nsc_own_record *r, nsc_text reason)
{
    enum { NEAR = 200, TO_THE_END = 100 };
    if (r->number != NCCLSCOPE_KIND_PY_RAISED || reason.len)
        return false;
    bool goes_on = m->sources.item[r->where.source].stats.lines > r->where.line + TO_THE_END;
    const struct nsc_own_record *end = m->happened.item + m->happened.len;
    for (const struct nsc_own_record *x = r + 1; r->torch_rank >= 0 && x < end; x++) {
        if (x->where.source != r->where.source || x->where.line > r->where.line + NEAR)
            break;
        if (x->number == NCCLSCOPE_KIND_PY_RAISED && x->torch_rank == r->torch_rank && reason_of(m, x).len)
            return true;
    }
    return r->torch_rank < 0 && (goes_on || nsc_text_find(nsc_said(m, r, "name"), "CancelledError") >= 0);
}

/* An exception in the first line of an input, of whose traceback nothing is here: it may be one that a program only tells of, as of a package
 * that is not there. It counts where a launcher tells behind it that a process failed. */
static bool is_only_told_of(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    static const ncclscope_kind ends[] = {NCCLSCOPE_KIND_ELASTIC_FAILED, NCCLSCOPE_KIND_CHILD_FAILED,
                                          NCCLSCOPE_KIND_RUN_EXIT,       NCCLSCOPE_KIND_SRUN_ENDED,
                                          NCCLSCOPE_KIND_MPI_EXIT,       NCCLSCOPE_KIND_LAUNCH_EXIT,
                                          NCCLSCOPE_KIND_LAUNCHER_STOPS};
    enum { NEAR = 60 };
    const struct nsc_own_record *end = m->happened.item + m->happened.len;
    if (r->where.line != 1 || r->torch_rank >= 0 || r->number != NCCLSCOPE_KIND_PY_RAISED)
        return false;
    for (const struct nsc_own_record *x = r + 1; x < end && x->where.source == r->where.source; x++)
        for (size_t k = 0; x->where.line <= NEAR && k < sizeof ends / sizeof ends[0]; k++)
            if (x->number == ends[k])
                return false;
    return true;
}

/* "ValueError: Caught ValueError in DataLoader worker process 0.": what it says itself stands below "Original Traceback", as PyTorch hands it
 * on from a worker; of that name, and of no other that was raised on the way. NULL: it is one of CUDA's or NCCL's, which is told elsewhere. */
static const struct nsc_own_record *original_of(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    enum { NEAR = 100 };
    const struct nsc_own_record *end = m->happened.item + m->happened.len;
    nsc_text rest = reason_of(m, r);
    if (r->number != NCCLSCOPE_KIND_PY_RAISED || !nsc_text_starts(rest, "Caught "))
        return r;
    nsc_next_word(&rest);
    nsc_text caught = nsc_next_word(&rest);
    for (const struct nsc_own_record *x = r + 1;
         x < end && x->where.source == r->where.source && x->where.line <= r->where.line + NEAR; x++) {
        if (x->number == NCCLSCOPE_KIND_PROGRAM_CUDA || x->number == NCCLSCOPE_KIND_PROGRAM_NCCL)
            return NULL;
        if (x->number == r->number && x->torch_rank == r->torch_rank &&
            nsc_text_eq(name_of(m, words_of(x, FIRST), x), caught))
            return is_of_nccl_or_cuda(caught, reason_of(m, x)) ? NULL : x;
    }
    return r;
}

static const struct nsc_own_record *tell(struct nsc_case *c, bool nccl_failed, enum told told)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *before = NULL,
                                *waits = NULL, /* raised by one that waited, where another file may tell for whom */
                                    *caught = NULL; /* the first that the program outlived */
    struct span nccl = {.source = NSC_NONE};
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        const struct words *w = words_of(r, told);
        if (!w)
            continue;
        nsc_text name = name_of(m, w, r), reason = reason_of(m, r);
        look_at(m, r->where.source, &nccl);
        if (is_of_nccl_or_cuda(name, reason) || is_behind_interrupt(m, r) || is_of_barrier(m, reason) ||
            is_bare_and_caught(m, r, reason) || is_only_told_of(m, r) ||
            (is_wake(m, w, r, &nccl, nccl_failed) && !is_before_cuda(reason)))
            continue;
        if (is_of_store(reason) && r->where.line < nccl.first && nccl.up) {
            before = before ? before : r;
            continue;
        }
        bool waited = m->sources.len > 1 && told == FIRST && is_of_waiting(name, reason);
        if (waited || (waits && waits->where.source == r->where.source)) {
            waits = waits ? waits : r;
            continue;
        }
        const struct nsc_where *done = nsc_success_of(m); /* then it was caught, or hurt nothing that mattered */
        bool went_on = done && done->source == r->where.source && done->line > r->where.line;
        const struct nsc_own_record *original = original_of(m, r);
        if (original && !went_on && nsc_outlives(m, r)) {
            caught = caught ? caught : original;
            continue;
        }
        const struct nsc_own_record *end = went_on || r->torch_rank >= 0 ? NULL : ended_by(m, r, &nccl);
        if (end) {
            tell_one(c, words_of(end, FIRST), end, NULL, r);
            return end;
        }
        if (!original)
            continue;
        r = original;
        tell_one(c, w, r, went_on ? "The program says later that it reached its end." : NULL, NULL);
        return r;
    }
    if (waits) {
        tell_one(c, words_of(waits, told), waits, NULL, NULL);
        return waits;
    }
    if (caught)
        tell_one(c, words_of(caught, told), caught,
                 nsc_words(c, "The program goes on after it (%s): it caught this.",
                           nsc_line_in(c, &nsc_outlives(m, caught)->where)),
                 NULL);
    if (before)
        tell_one(c, words_of(before, told), before,
                 "NCCL began later, and its communicators came up: this ended an earlier attempt, or another process.",
                 NULL);
    return NULL;
}

/* A file may hold several runs: exceptions that ended those behind the first that failed, each kind once. */
static void tell_later_runs(struct nsc_case *c, const struct nsc_where *failed, const struct nsc_own_record *told)
{
    enum { MOST = 3 };
    const struct ncclscope_model *m = c->m;
    nsc_text known[MOST + 1] = {told ? name_of(m, words_of(told, FIRST), told) : (nsc_text){NULL, 0}};
    uint64_t anew = nsc_started_anew(m, failed);
    size_t n = 1;
    for (size_t i = 0; i < m->happened.len && n <= MOST; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        const struct words *w =
            r->where.source == failed->source && r->where.line > failed->line ? words_of(r, FIRST) : NULL;
        if (!w || r == told)
            continue;
        nsc_text name = name_of(m, w, r), reason = reason_of(m, r);
        size_t k = 0;
        while (k < n && !nsc_text_eq(known[k], name))
            k++;
        if (k < n || !reason.len || is_of_nccl_or_cuda(name, reason) || is_of_waiting(name, reason) ||
            is_behind_interrupt(m, r) || !(is_taken(reason) || r->where.line > anew))
            continue;
        known[n++] = name;
        struct nsc_finding *f = nsc_found(c, w->severity, "error", "certain");
        f->later_run = true;
        f->count = 1;
        f->title = nsc_words(c, "A later run in this input ended: %.*s: %.*s%s", (int)name.len,
                             name.len ? name.ptr : "", (int)(reason.len < REASON_SHOWN ? reason.len : REASON_SHOWN),
                             reason.ptr, reason.len > REASON_SHOWN ? " ..." : "");
        bool taken = is_taken(reason); /* "Address already in use": what is left of the run that failed may hold it */
        f->fix = w->fix;
        if (taken)
            nsc_explain(c, f, &(struct nsc_ask){.c = c, .m = m, .proc = NSC_NONE, .said = &r->where, .distance = ""});
        f->confidence = "certain"; /* that it ended so */
        f->cause =
            nsc_words(c,
                      taken ? "It started after the failure of %s: a process of that run may still hold the port."
                            : "It started after the failure of %s, and does not follow from it.",
                      nsc_line_in(c, failed));
        nsc_show(c, f, &r->where);
    }
}

/* The earlier of two lines of one input; that of the first input, if they are of two. */
static const struct nsc_where *first_of(const struct nsc_where *a, const struct nsc_where *b)
{
    bool is_b = !a || (b && (b->source != a->source ? b->source < a->source : b->line < a->line));
    return is_b ? b : a;
}

const struct nsc_own_record *nsc_tell_raised(struct nsc_case *c, bool nccl_failed)
{
    const struct nsc_own_record *r = tell(c, nccl_failed, FIRST);
    const struct nsc_where *failed = first_of(nsc_first_failure(c->m, NSC_NONE), r ? &r->where : NULL);
    if (failed)
        tell_later_runs(c, failed, r);
    return r ? r : tell(c, nccl_failed, LATER);
}

bool nsc_dies_of(const struct nsc_own_record *raised)
{
    const struct words *w = raised ? words_of(raised, FIRST) : NULL;
    return w && w->told != FIRST;
}
