/* rules_program.c - failures that programs and libraries beside NCCL tell in their own words. */
#include "rules/ask.h"
#include "rules/raised.h"
#include "rules/watchdog.h"

/* "common.cu:1030 'invalid device ordinal'": what stands in quotes, or all of it. */
static nsc_text bare_reason(nsc_text reason)
{
    ptrdiff_t first = nsc_text_find(reason, "'");
    nsc_text rest = first < 0 ? reason : nsc_text_from(reason, (size_t)first + 1);
    ptrdiff_t last = nsc_text_find(rest, "'");
    rest.len = first >= 0 && last > 0 ? (size_t)last : rest.len;
    return rest;
}

/* "../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1191, unhandled system error, ...": what failed, and the file behind it. */
static nsc_text with_file_last(struct nsc_case *c, nsc_text reason)
{
    ptrdiff_t colon = nsc_text_find(reason, ".cpp:"), end = colon < 0 ? -1 : nsc_text_find(reason, ", ");
    if (end <= colon || memchr(reason.ptr, ' ', (size_t)colon))
        return reason;
    nsc_text file = nsc_base_name(nsc_text_upto(reason, (size_t)end)), rest = nsc_text_from(reason, (size_t)end + 2);
    return nsc_text_of(nsc_words(c, "%.*s (%.*s)", (int)rest.len, rest.ptr, (int)file.len, file.ptr));
}

/* What fits into a title: whole sentences where they are short enough, without the full stop. */
static nsc_text whole_sentences(nsc_text reason)
{
    enum { MOST = 300 };
    ptrdiff_t advice =
        nsc_text_find(reason, ") If reserved memory is"); /* PyTorch's own, without a full stop before it */
    if (advice > 0)
        reason.len = (size_t)advice + 1;
    size_t n = reason.len < MOST ? reason.len : MOST;
    for (size_t i = n; reason.len > MOST && i > MOST / 4; i--)
        if (reason.ptr[i - 1] == '.' && reason.ptr[i] == ' ') {
            n = i;
            break;
        }
    n -= n && reason.ptr[n - 1] == '.';
    return (nsc_text){reason.ptr, n};
}

/* "126.77 GiB": in MiB; 0: it is no size. */
static double mib_of(nsc_text size)
{
    static const struct {
        const char *unit;
        double mib;
    } units[] = {{"GiB", 1024}, {"MiB", 1}, {"KiB", 1.0 / 1024}, {"bytes", 1.0 / 1048576}};
    double value = 0;
    if (!nsc_to_f64(nsc_next_word(&size), &value))
        return 0;
    size = nsc_text_trim(size);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (nsc_text_starts(size, units[i].unit))
            return value * units[i].mib;
    return 0;
}

/* " of which 126.77 GiB is free": the size behind the words. */
static double mib_behind(nsc_text line, const char *words)
{
    ptrdiff_t at = nsc_text_find(line, words);
    return at < 0 ? 0 : mib_of(nsc_text_from(line, (size_t)at + strlen(words)));
}

/* "2.80 GiB" of "... memory in use. 2.80 GiB allowed; Of the allocated memory ..."; len 0: the line says nothing of a share. */
static nsc_text share_of(nsc_text line)
{
    ptrdiff_t end = nsc_text_find(line, " allowed;");
    size_t from = end > 0 ? (size_t)end : 0, blanks = 0;
    while (from && (line.ptr[from - 1] != ' ' || blanks++ < 1)) /* the size and its unit */
        from--;
    return end > 0 ? (nsc_text){line.ptr + from, (size_t)end - from} : (nsc_text){NULL, 0};
}

/* "Tried to allocate 1024.00 MiB. GPU 1 has a total capacity of 139.80 GiB of which 126.77 GiB is free. ... 2.80 GiB allowed; ...": what of it
 * was too small. */
static int why_no_room(nsc_text line)
{
    double tried = mib_behind(line, "Tried to allocate "), all = mib_behind(line, "total capacity of "),
           spare = mib_behind(line, "of which ");
    if (tried > 0 && all > 0 && tried > all)
        return NSC_PROGRAM_TOO_LARGE;
    double used = mib_behind(line, "Of the allocated memory ") + mib_behind(line, " allocated by PyTorch, and "),
           share = mib_of(share_of(line)); /* of what PyTorch itself takes */
    if (share > 0 && tried > 0 && spare > tried && used + tried > share)
        return NSC_PROGRAM_SHARE;
    return NSC_PROGRAM_MEMORY;
}

/* Of an allocator's account what says why: not which other processes hold memory. */
static nsc_text first_sentences(nsc_text reason)
{
    ptrdiff_t others = nsc_text_find(reason, ". Process "), own = nsc_text_find(reason, ". Including non-PyTorch");
    ptrdiff_t end = others < 0 || (own >= 0 && own < others) ? own : others;
    reason.len = end > 0 ? (size_t)end : reason.len;
    return reason;
}

/* "unhandled system error. More details below:": the result, and what somebody who posts it goes on to say. */
static nsc_text without_prose(nsc_text reason)
{
    static const char *const results[] = {"unhandled system error", "unhandled cuda error", "internal error",
                                          "invalid usage", "invalid argument"};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        size_t n = strlen(results[i]);
        if (nsc_text_starts(reason, results[i]) && nsc_text_starts(nsc_text_from(reason, n), ". ") &&
            reason.ptr[reason.len - 1] == ':')
            reason.len = n;
    }
    return reason;
}

/* Did NCCL's own warnings make this finding already? Not where the program said something else before them. */
static bool is_told(struct nsc_case *c, const struct nsc_own_record *r, nsc_text reason)
{
    const char *words = nsc_words(c, "%.*s", (int)(reason.len < 200 ? reason.len : 200), reason.len ? reason.ptr : "");
    for (size_t i = 0; i < c->f->list.len; i++) {
        const struct nsc_finding *f = &c->f->list.item[i];
        if (f->rule->key != c->rule->key)
            continue;
        const struct nsc_where *w = f->began ? &f->began->where : NULL;
        bool other =
            w && w->source == r->where.source && r->where.line < w->line && reason.len && !strstr(f->title, words);
        if (!other)
            return true;
    }
    return false;
}

/* The rank that nccl-tests lists with this process of this host; -1: none. */
static int64_t listed_rank(const struct ncclscope_model *m, nsc_text host, int64_t pid)
{
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t own, rank;
        if (r->number == NCCLSCOPE_KIND_TEST_RANK && nsc_number_said(m, r, "pid", &own) && own == pid &&
            nsc_text_eq(nsc_said(m, r, "name"), host) && nsc_number_said(m, r, "rank", &rank))
            return rank;
    }
    return -1;
}

/* " (rank 3)", by PyTorch's mark; " (rank 0, process 62767 of node0)", by the line behind it in which nccl-tests hands the failure on; "". */
static const char *who_failed(struct nsc_case *c, const struct nsc_own_record *r)
{
    enum { NEAR = 3 };
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *end = m->happened.item + m->happened.len;
    int64_t pid;
    if (r->torch_rank >= 0)
        return nsc_words(c, " (rank %lld)", (long long)r->torch_rank);
    for (const struct nsc_own_record *x = r + 1; x < end && x->where.source == r->where.source; x++) {
        if (x->where.line > r->where.line + NEAR)
            break;
        if (x->number != NCCLSCOPE_KIND_TEST_TRACE || !nsc_number_said(m, x, "pid", &pid))
            continue;
        nsc_text host = nsc_said(m, x, "name");
        int64_t rank = listed_rank(m, host, pid);
        return nsc_words(c, " (%sprocess %lld of %.*s)", rank < 0 ? "" : nsc_words(c, "rank %lld, ", (long long)rank),
                         (long long)pid, (int)host.len, host.ptr);
    }
    return nsc_marked_by_launcher(c, r);
}

/* Where nccl-tests says whose processes failed: a host that it lists and that none of these is of. `spoke`: one that some are of. */
static nsc_text silent_host(const struct ncclscope_model *m, nsc_text *spoke)
{
    nsc_text silent = {NULL, 0};
    *spoke = silent;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        nsc_text name = r->number == NCCLSCOPE_KIND_TEST_TRACE ? nsc_said(m, r, "name") : (nsc_text){NULL, 0};
        if (name.len && spoke->len && !nsc_text_eq(name, *spoke))
            return (nsc_text){NULL, 0};
        *spoke = name.len ? name : *spoke;
    }
    for (size_t i = 0; spoke->len && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        nsc_text name = r->number == NCCLSCOPE_KIND_TEST_RANK ? nsc_said(m, r, "name") : (nsc_text){NULL, 0};
        if (!name.len || nsc_text_eq(name, *spoke) || nsc_text_eq(name, silent))
            continue;
        if (silent.len)
            return (nsc_text){NULL, 0};
        silent = name;
    }
    return silent;
}

/* A process that got no GPU at its start does not come to where the others wait. */
static bool lacks_gpu(nsc_text reason)
{
    return nsc_text_find(reason, "invalid device ordinal") >= 0 || nsc_text_find(reason, "no CUDA-capable device") >= 0;
}

/* "[rank1]: torch.OutOfMemoryError: CUDA out of memory": by PyTorch's mark nothing caught it, so its process ended there. It broke by itself
 * where no rank had lost patience before it, and no call of NCCL's had failed so long before that the two cannot be out of order. */
static bool ended_process(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    const struct nsc_where *first = NULL;
    for (size_t i = 0; i < m->warnings.len; i++) {
        const struct nsc_where *w = &m->warnings.item[i].where;
        if (m->warnings.item[i].broke && w->source == r->where.source && (!first || w->line < first->line))
            first = w;
    }
    const struct nsc_own_record *lost_patience = r;
    while (lost_patience > m->happened.item && !nsc_timed_out(lost_patience))
        lost_patience--;
    bool waited = nsc_timed_out(lost_patience) && lost_patience->where.source == r->where.source;
    return r->torch_rank >= 0 && !waited && (!first || first->line + NSC_LINES_ASTRAY > r->where.line);
}

/* PyTorch's watchdog takes a process down for an error of CUDA's, or for another reason. */
static bool is_of_cuda(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    return r->number != NCCLSCOPE_KIND_TORCH_DOWN || nsc_text_starts(nsc_said(m, r, "reason"), "CUDA error: ");
}

/* The first line of one of two sorts: a finding of the rule in hand, unless NCCL's own warnings made it already. */
/* "[rank3]: ... [PG ID 2 PG GUID 3 Rank 3] Process group watchdog thread terminated with exception: CUDA error: ...", of the same error. */
static void tell_watchdogs(struct nsc_case *c, struct nsc_finding *f, nsc_text reason)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_where *first = NULL;
    const char *words = nsc_words(c, "%.*s", (int)(reason.len < 200 ? reason.len : 200), reason.len ? reason.ptr : "");
    for (size_t i = 0; words[0] && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank;
        if (r->number != NCCLSCOPE_KIND_TORCH_DOWN || nsc_text_find(nsc_said(m, r, "reason"), words) < 0 ||
            !nsc_number_said(m, r, "rank", &rank) || rank < 0)
            continue;
        f->count++;
        nsc_name_rank(c, f, (uint64_t)rank);
        first = first ? first : &r->where;
    }
    if (!first)
        return;
    f->cause = nsc_words(c, "%s PyTorch's watchdog reports it on %s (first in %s).", f->cause, nsc_list_ranks(c, f),
                         nsc_line_in(c, first));
    nsc_show(c, f, first);
}

/* "ncclInvalidUsage", "NCCL Error 5: invalid usage", ", invalid usage, NCCL version", "'invalid usage (run with NCCL_DEBUG=WARN ...": what a
 * process did itself, no peer. */
static bool is_own_fault(const struct nsc_own_record *r)
{
    static const char *const words[] = {"ncclInvalidUsage",
                                        "ncclInvalidArgument",
                                        "rror 5: invalid usage",
                                        "rror 4: invalid argument",
                                        ", invalid usage, NCCL version",
                                        ", invalid argument, NCCL version",
                                        "invalid usage (run with NCCL_DEBUG",
                                        "invalid argument (run with NCCL_DEBUG",
                                        NULL};
    return nsc_text_has_any(r->where.text, words);
}

/* Did others see its process go, behind that line? */
static bool went_for_others(const struct nsc_case *c, const struct nsc_own_record *r)
{
    if (!is_own_fault(r))
        return false;
    for (size_t i = 0; i < c->f->list.len; i++) {
        const struct nsc_finding *f = &c->f->list.item[i];
        if (f->rule->key == NSC_ID_FAILURE_PEER_CLOSED && f->part == NSC_WAKE && f->began &&
            f->began->where.source == r->where.source && f->began->where.line > r->where.line)
            return true;
    }
    return false;
}

static void tell_program(struct nsc_case *c, int number, int other, const char *title, int why)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    nsc_text first = {NULL, 0};
    bool alike = true;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (((int)r->number != number && (int)r->number != other) || !is_of_cuda(m, r))
            continue;
        if (f) {
            alike = alike && (why == NSC_PROGRAM_MEMORY || nsc_text_eq(nsc_said(m, r, "reason"), first));
            f->count++;
            nsc_show(c, f, &r->where);
            continue;
        }
        nsc_text reason = nsc_text_trim(nsc_said(m, r, "reason"));
        first = nsc_said(m, r, "reason");
        while (reason.len && (reason.ptr[0] == ':' || reason.ptr[0] == ' '))
            reason = nsc_text_from(reason, 1);
        if (is_told(c, r, bare_reason(reason)))
            return;
        f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
        f->count = 1;
        bool memory = why == NSC_PROGRAM_MEMORY;
        bool refused = why == NSC_PROGRAM_NCCL && went_for_others(c, r);
        int reasons = memory ? why_no_room(reason) : refused ? (int)NSC_PROGRAM_REFUSED : why;
        nsc_text part = share_of(reason);
        const char *share = reasons == NSC_PROGRAM_SHARE
                                ? nsc_words(c, ", and %.*s allowed to this process", (int)part.len, part.ptr)
                                : "";
        reason = whole_sentences(memory ? first_sentences(reason) : reason);
        reason = why == NSC_PROGRAM_NCCL ? with_file_last(c, without_prose(reason)) : reason;
        f->title = nsc_words(c, "%s%s: %.*s%s%s", title, memory ? who_failed(c, r) : "", (int)reason.len,
                             reason.len ? reason.ptr : "", share, memory ? "" : who_failed(c, r));
        struct nsc_ask ask = {.c = c, .m = m, .proc = NSC_NONE, .said = &r->where, .reason = reasons, .distance = ""};
        nsc_explain(c, f, &ask);
        f->confidence = "certain";
        nsc_show(c, f, &r->where);
        if (r->torch_rank >= 0)
            nsc_name_rank(c, f, (uint64_t)r->torch_rank);
        f->part = refused || ended_process(m, r) ? NSC_ROOT : f->part;
        if (why == NSC_PROGRAM_CUDA && lacks_gpu(reason))
            nsc_blame_for_waiting(c, &r->where, c->rule->key);
    }
    if (!f)
        return;
    if (why == NSC_PROGRAM_CUDA && f->cause)
        tell_watchdogs(c, f, nsc_text_trim(first));
    nsc_text spoke, silent = silent_host(m, &spoke);
    if (f->count > 1)
        f->title = nsc_words(c, "%s (first of %llu %s%s%.*s)", f->title, (unsigned long long)f->count,
                             alike ? "such lines" : "lines that report a failure", silent.len ? ", all of " : "",
                             (int)(silent.len ? spoke.len : 0), spoke.ptr);
    if (silent.len)
        f->cause = nsc_words(
            c, "%s nccl-tests also lists processes of %.*s; none reports a failure here: what became of them?",
            f->cause, (int)silent.len, silent.ptr);
}

void nsc_rule_program_cuda(struct nsc_case *c)
{
    bool first_hand =
        nsc_first_heard(c->m, NCCLSCOPE_KIND_PROGRAM_CUDA) || nsc_first_heard(c->m, NCCLSCOPE_KIND_PROGRAM_CUDA_AT);
    tell_program(c, first_hand ? NCCLSCOPE_KIND_PROGRAM_CUDA : NCCLSCOPE_KIND_TORCH_DOWN,
                 NCCLSCOPE_KIND_PROGRAM_CUDA_AT, "The program reports a CUDA error", NSC_PROGRAM_CUDA);
}

/* PyTorch's own allocator found no room. */
void nsc_rule_program_memory(struct nsc_case *c)
{
    tell_program(c, NCCLSCOPE_KIND_TORCH_OOM, -1, "The program ran out of GPU memory", NSC_PROGRAM_MEMORY);
}

/* "A worker died or was killed while executing a task ... Worker PID: 626895 Worker exit type: SYSTEM_ERROR" */
static void tell_worker(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    static const char before[] = "Worker PID: ";
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_RAY_WORKER_DIED)
            continue;
        nsc_text text = nsc_said(m, r, "text");
        ptrdiff_t at = nsc_text_find(text, before);
        nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(text, (size_t)at + sizeof before - 1);
        nsc_text pid = nsc_next_word(&rest);
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
        f->count = 1;
        f->title = nsc_words(c, "Ray saw a worker die unexpectedly%s%.*s", pid.len ? ": process " : "", (int)pid.len,
                             pid.len ? pid.ptr : "");
        struct nsc_ask ask = {.c = c, .m = m, .proc = NSC_NONE, .said = &r->where, .distance = ""};
        nsc_explain(c, f, &ask);
        f->confidence = "certain"; /* that it died; of the cause the words say how sure it is */
        nsc_show(c, f, &r->where);
        return;
    }
}

/* UCX may go on by another way: where nothing else failed, it is not known what became of it. */
static void tell_ucx(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    nsc_text reason = {NULL, 0};
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_UCX_ERROR)
            continue;
        reason = f ? reason : nsc_text_trim(nsc_said(m, r, "reason"));
        f = f ? f
              : nsc_found(c, nsc_success_of(m) ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING, "unknown",
                          "certain");
        f->count++;
        nsc_show(c, f, &r->where);
    }
    if (!f)
        return;
    f->title = nsc_words(c, "UCX reports %llu error%s%s: %.*s", (unsigned long long)f->count, f->count == 1 ? "" : "s",
                         f->count == 1 ? "" : ", first", (int)reason.len, reason.len ? reason.ptr : "");
    nsc_explain_by(c, f, NSC_INTERNAL_UCX);
    f->confidence = "certain"; /* that UCX said so */
}

/* The first row of nccl-tests' table with values that came out wrong, in this input (NSC_NONE: in any); NULL: no row says so. */
static const struct nsc_where *first_wrong(const struct ncclscope_model *m, uint32_t source)
{
    for (size_t i = 0; i < m->tests.len; i++) {
        const struct nsc_test *t = &m->tests.item[i];
        if ((source == NSC_NONE || t->where.source == source) && (t->wrong[0] > 0 || t->wrong[1] > 0))
            return &t->where;
    }
    return NULL;
}

/* Far beyond what rounding gives: nccl-tests allows 1e-5 of a float, 1e-2 of a half. */
static bool is_off(const struct ncclscope_model *m, const struct nsc_test *t, int side)
{
    nsc_text type = nsc_say(m, t->type);
    bool coarse = nsc_text_is(type, "half") || nsc_text_is(type, "bfloat16") || nsc_text_starts(type, "fp8");
    return side < t->sides && t->error[side] > (coarse ? 0.1 : 0.01);
}

/* " (out of place in all 22 rows, in place in none)", by a column "error"; "": it does not tell, or there is none. */
static const char *where_off(struct nsc_case *c, uint32_t source)
{
    const struct ncclscope_model *m = c->m;
    size_t rows = 0, off[2] = {0, 0};
    for (size_t i = 0; i < m->tests.len; i++) {
        const struct nsc_test *t = &m->tests.item[i];
        bool both = t->where.source == source && t->sides == 2 && t->error[0] >= 0 && t->error[1] >= 0;
        rows += both;
        for (int side = 0; both && side < 2; side++)
            off[side] += is_off(m, t, side);
    }
    if (!off[0] && !off[1])
        return "";
    const char *words[2];
    for (int side = 0; side < 2; side++)
        words[side] = off[side] == rows ? nsc_words(c, rows == 1 ? "in its one row" : "in all %zu rows", rows)
                      : off[side]       ? nsc_words(c, "in %zu of %zu rows", off[side], rows)
                                        : "in none";
    return nsc_words(c, " (out of place %s, in place %s)", words[0], words[1]);
}

/* "2912 wrong values at 33554432 bytes", ", and at 2 more sizes"; what the last line counts, where no row says so. */
static const char *wrong_results(struct nsc_case *c, uint32_t source, int64_t count)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_test *first = NULL;
    int64_t wrong = 0;
    size_t sizes = 0;
    for (size_t i = 0; i < m->tests.len; i++) {
        const struct nsc_test *t = &m->tests.item[i];
        int64_t here = (t->wrong[0] > 0 ? t->wrong[0] : 0) + (t->wrong[1] > 0 ? t->wrong[1] : 0);
        if (t->where.source != source || !here)
            continue;
        first = first ? first : t;
        wrong += t->bytes == first->bytes ? here : 0;
        sizes += t == first || t->bytes != first->bytes;
    }
    if (!first)
        return nsc_words(c, "nccl-tests found wrong results: out of bounds values %lld%s", (long long)count,
                         where_off(c, source));
    const char *more =
        sizes > 1 ? nsc_words(c, ", and more at %zu other size%s", sizes - 1, sizes == 2 ? "" : "s") : "";
    return nsc_words(c, "nccl-tests found wrong results: %lld wrong value%s at %llu bytes%s", (long long)wrong,
                     wrong == 1 ? "" : "s", (unsigned long long)first->bytes, more);
}

/* Did something fail, beyond that the launcher saw it end? */
static bool any_reason(const struct nsc_case *c)
{
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].severity == NCCLSCOPE_SEVERITY_ERROR &&
            c->f->list.item[i].rule->key != NSC_ID_RANKS_EXITED)
            return true;
    return false;
}

static bool warned_before(const struct ncclscope_model *m, const struct nsc_where *w)
{
    for (size_t i = 0; i < m->warnings.len; i++)
        if (m->warnings.item[i].where.source == w->source && m->warnings.item[i].where.line < w->line)
            return true;
    return false;
}

/* " .. node1 pid 4711: Test failure common.cu:519", and nothing before it says what failed. */
static void tell_test(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t pid;
        if (r->number != NCCLSCOPE_KIND_TEST_TRACE || !nsc_number_said(m, r, "pid", &pid))
            continue;
        if (!f && warned_before(m, &r->where))
            return;
        if (!f) {
            nsc_text host = nsc_said(m, r, "name"), file = nsc_said(m, r, "file");
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
            f->title = nsc_words(
                c,
                "nccl-tests failed (%.*s, process %lld of %.*s); the line that names the failure is not in this input",
                (int)file.len, file.ptr, (long long)pid, (int)host.len, host.ptr);
            nsc_explain_by(c, f, NSC_PROGRAM_TEST);
        }
        f->count++;
        nsc_show(c, f, &r->where);
    }
}

/* By the line that counts them at the end, or by the rows of a table whose end is not here. */
static void tell_wrong_results(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_where *end = NULL;
    int64_t count = 0;
    for (size_t i = 0; i < m->happened.len && !end; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number == NCCLSCOPE_KIND_TEST_BOUNDS && nsc_number_said(m, r, "count", &count) && count)
            end = &r->where;
    }
    const struct nsc_where *row = first_wrong(m, end ? end->source : NSC_NONE);
    if (!end && !row)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
    f->count = 1;
    f->part = NSC_ROOT; /* that data came out wrong follows from no failed call */
    f->title = wrong_results(c, end ? end->source : row->source, count);
    nsc_explain_by(c, f, NSC_TEST_BOUNDS);
    nsc_show(c, f, row);
    nsc_show(c, f, end);
}

/* Does nothing here say why a call of NCCL failed that this kind of line tells of? That processes ended behind it does not; nor does it say
 * why a call was refused that others saw this one go. */
static bool is_news(const struct nsc_case *c, ncclscope_kind kind)
{
    const struct nsc_own_record *r = nsc_first_heard(c->m, kind);
    bool echo = r && (nsc_text_find(r->where.text, "remote process exited") >= 0 || /* another one fell first */
                      nsc_text_find(r->where.text, "ncclRemoteError") >= 0);
    for (size_t i = 0; r && i < c->f->list.len; i++) {
        const struct nsc_finding *f = &c->f->list.item[i];
        bool fell = f->rule->key == NSC_ID_RANKS_EXITED && f->evidences && !echo &&
                    (nsc_is_explained_by(f, "EXIT_ABORTED") || nsc_is_explained_by(f, "EXIT_SEGV"));
        bool behind = fell && f->evidence[0].source == r->where.source && f->evidence[0].line > r->where.line;
        bool of_others = f->rule->key == NSC_ID_FAILURE_PEER_CLOSED && went_for_others(c, r);
        if (f->severity == NCCLSCOPE_SEVERITY_ERROR && !behind && !of_others)
            return false;
    }
    return r != NULL;
}

/* Words of a plugin's, say, that PyTorch got from NCCL as its last error, and that no row knows. */
static void quote_last_error(struct nsc_case *c)
{
    enum { SHOWN = 160 };
    const struct nsc_own_record *last = nsc_first_heard(c->m, NCCLSCOPE_KIND_LAST_ERROR);
    for (size_t i = 0; last && i < c->f->list.len; i++) {
        struct nsc_finding *f = &c->f->list.item[i];
        nsc_text words = nsc_text_upto(nsc_text_trim(nsc_said(c->m, last, "reason")), SHOWN);
        if (f->rule->key != c->rule->key || f->severity != NCCLSCOPE_SEVERITY_ERROR || !f->cause)
            continue;
        f->cause = nsc_words(c, "%s What it last warned of reads \"%.*s\" (%s).", f->cause, (int)words.len, words.ptr,
                             nsc_line_in(c, &last->where));
        nsc_show(c, f, &last->where);
        return;
    }
}

/* A process that gives up itself behind it does so over that. */
static void blame_for_aborts(struct nsc_case *c)
{
    const struct nsc_where *told = NULL;
    for (size_t i = 0; i < c->f->list.len && !told; i++) {
        const struct nsc_finding *f = &c->f->list.item[i];
        bool is = f->rule->key == c->rule->key && f->severity == NCCLSCOPE_SEVERITY_ERROR && !f->began && f->evidences;
        told = is ? &f->evidence[0] : NULL;
    }
    for (size_t i = 0; told && i < c->f->list.len; i++) {
        struct nsc_finding *f = &c->f->list.item[i];
        if (f->rule->key == NSC_ID_RANKS_EXITED && !f->caused_by && nsc_is_explained_by(f, "EXIT_ABORTED") &&
            f->evidence[0].source == told->source && f->evidence[0].line > told->line)
            f->caused_by = c->rule->key;
    }
}

/* What others saw go is the process whose call was refused. */
static void blame_for_closing(struct nsc_case *c)
{
    bool refused = false;
    for (size_t i = 0; i < c->f->list.len; i++)
        refused = refused || nsc_is_explained_by(&c->f->list.item[i], "PROGRAM_NCCL_REFUSED");
    for (size_t i = 0; refused && i < c->f->list.len; i++)
        if (c->f->list.item[i].rule->key == NSC_ID_FAILURE_PEER_CLOSED)
            c->f->list.item[i].caused_by = c->rule->key;
}

/* That a call of NCCL failed is news only where nothing here says why; wrong results always are. */
void nsc_rule_program_failed(struct nsc_case *c)
{
    tell_program(c, NCCLSCOPE_KIND_NVSHMEM_FAILED, -1, "NVSHMEM, which the program uses beside NCCL, reports a failure",
                 NSC_PROGRAM_NVSHMEM);
    tell_program(c, NCCLSCOPE_KIND_ENGINE_FAILED, NCCLSCOPE_KIND_ENGINE_NO_ENDPOINT,
                 "Mooncake's transfer engine, which the program uses beside NCCL, reports a failure",
                 NSC_PROGRAM_ENGINE);
    if (!nsc_any_error(c))
        tell_worker(c);
    if (!nsc_any_error(c))
        tell_ucx(c);
    bool closed = nsc_raised(c, NSC_ID_FAILURE_ASYNC) || nsc_raised(c, NSC_ID_RANKS_TEARDOWN_NOISE);
    if (nsc_success_of(c->m) && closed && !nsc_any_error(c))
        return; /* what a watchdog met when the others had closed already, behind the program's end */
    if (is_news(c, NCCLSCOPE_KIND_PROGRAM_NCCL) || is_news(c, NCCLSCOPE_KIND_PROGRAM_NCCL_AT))
        tell_program(c, NCCLSCOPE_KIND_PROGRAM_NCCL, NCCLSCOPE_KIND_PROGRAM_NCCL_AT,
                     "The program reports that a call of NCCL failed", NSC_PROGRAM_NCCL);
    if (is_news(c, NCCLSCOPE_KIND_NCCL_RESULT))
        tell_program(c, NCCLSCOPE_KIND_NCCL_RESULT, -1, "The program reports that a call of NCCL failed",
                     NSC_PROGRAM_NCCL);
    quote_last_error(c);
    blame_for_closing(c);
    blame_for_aborts(c);
    if (!any_reason(c))
        tell_test(c);
    tell_wrong_results(c);
}
