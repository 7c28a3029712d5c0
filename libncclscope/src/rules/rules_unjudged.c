/* rules_unjudged.c - warnings of NCCL that no rule knows: those that a failure follows from are told in their own words. */
#include "rules/ask.h"
#include "rules/overcome.h"

#include <stdlib.h>

static const struct nsc_event *event_at(const struct ncclscope_model *m, const struct nsc_where *w)
{
    for (size_t i = 0; i < m->events.len; i++)
        if (m->events.item[i].where.line == w->line && m->events.item[i].where.source == w->source)
            return &m->events.item[i];
    return NULL;
}

/* Is it the last word of a process that says more than warnings, and did a communicator of it never come up? */
static bool ends_its_process(const struct ncclscope_model *m, const struct nsc_warning *w)
{
    const struct nsc_proc *p = &m->procs.item[w->proc];
    if (!p->informs || p->source != w->where.source || p->last_line != w->where.line)
        return false;
    for (uint32_t i = p->last_rank; i != NSC_NONE; i = m->ranks.item[i].before)
        if (!nsc_is_done(&m->ranks.item[i]))
            return true;
    return false;
}

/* "misc/socket.cc:47 -> 3": the way an error takes out of a socket, which a service thread takes too when a peer closes at the end. */
static bool is_of_socket(const struct nsc_event *e)
{
    return nsc_text_find(e->where.text, "socket.cc:") >= 0;
}

/* PyTorch aborts what a program leaves open as it ends: the destructor of its process group. */
static void tell_left_open(struct nsc_case *c, struct nsc_finding *f)
{
    const struct nsc_own_record *left = nsc_first_heard(c->m, NCCLSCOPE_KIND_TORCH_LEFT_OPEN);
    if (!left)
        return;
    f->severity = NCCLSCOPE_SEVERITY_NOTE;
    f->title = nsc_words(c,
                         "The program ended without destroy_process_group() (%s), and PyTorch aborts the communicators "
                         "that are left: NCCL calls that return an error after that follow from it",
                         nsc_line_in(c, &left->where));
    nsc_show_first(c, f, &left->where);
}

/* "/build/rccl/hipify/src/transport/p2p.cc:510 -> 3" without the folder that it was built in. */
static nsc_text without_folder(nsc_text words)
{
    static const char src[] = "/src/";
    bool whole = nsc_text_starts(words, "/");
    for (ptrdiff_t at; whole && (at = nsc_text_find(words, src)) >= 0;)
        words = nsc_text_from(words, (size_t)at + sizeof src - 1);
    return words;
}

/* A call that returned an error, and its process did not go on. */
static bool is_return(const struct ncclscope_model *m, const struct nsc_event *e)
{
    return e->kind == NCCLSCOPE_KIND_BACKTRACE && e->number >= 1 && e->number <= 6 &&
           !nsc_lived_on(m, e->proc, &e->where);
}

/* How many calls of the process returned an error, the first of them, and whether all are as an abort leaves them. */
static uint64_t count_returns(const struct ncclscope_model *m, uint32_t proc, const struct nsc_event **first,
                              bool *by_abort)
{
    uint64_t n = 0;
    *first = NULL;
    *by_abort = true;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->proc != proc || !is_return(m, e))
            continue;
        *first = *first ? *first : e;
        n += e->count;
        *by_abort = *by_abort && e->number == 3 && is_of_socket(e);
    }
    return n;
}

/* "transport/p2p.cc:352 -> 1", "transport.cc:197 -> 1", and no warning: only the way that an error took back is in this input. */
static void tell_trail(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_event *first = NULL;
    uint64_t n = 0;
    bool beyond = false, aborted = false, by_abort = false;
    const struct nsc_event *any = NULL, *inner = NULL;
    for (size_t i = 0; i < m->events.len && !inner; i++) {
        const struct nsc_event *e = &m->events.item[i];
        any = any || !is_return(m, e) ? any : e;
        inner = is_return(m, e) && !is_of_socket(e) ? e : NULL;
    }
    /* of a process that gives up more than a socket, or else of any */
    n = inner ? count_returns(m, inner->proc, &first, &by_abort) : 0;
    beyond = n > 1;
    n = n > 1 || !any ? n : count_returns(m, any->proc, &first, &by_abort);
    inner = beyond ? inner : first;
    if (n < 2 || nsc_success_of(m))
        return;
    struct nsc_finding *f = nsc_found(c, beyond ? NCCLSCOPE_SEVERITY_ERROR : NCCLSCOPE_SEVERITY_NOTE, "error",
                                      beyond ? "likely" : "possible");
    nsc_text words = without_folder(nsc_message_of(&first->where));
    f->part = NSC_WAKE;
    f->began = first;
    f->count = n;
    /* "-> 2 (Operation now in progress)": then NCCL may have warned of nothing */
    bool says_why = words.len && words.ptr[words.len - 1] == ')';
    f->title = nsc_words(c, "NCCL calls returned an error, first %.*s%s", (int)(words.len < 120 ? words.len : 120),
                         words.ptr, says_why ? "" : "; the warning that says why is not in this input");
    for (size_t i = 0; i < m->ranks.len; i++) { /* whatever they return behind an abort follows from it */
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->proc != first->proc || !r->aborted.line || r->aborted.source != first->where.source ||
            r->aborted.line > first->where.line)
            continue;
        f->title = nsc_words(c,
                             "Rank %lld's communicator was aborted (%s); this input does not say why; after it, "
                             "NCCL calls returned errors, first %.*s",
                             (long long)r->rank, nsc_line_in(c, &r->aborted), (int)(words.len < 120 ? words.len : 120),
                             words.ptr);
        nsc_show(c, f, &r->aborted);
        tell_left_open(c, f);
        aborted = true;
        break;
    }
    struct nsc_ask ask = {.c = c,
                          .m = m,
                          .proc = NSC_NONE,
                          .event = inner,
                          .reason = by_abort ? NSC_RESULT_OF_ABORT : NSC_RESULT_CUDA + (int)inner->number - 1,
                          .distance = ""};
    const char *sure = f->confidence;
    nsc_explain(c, f, &ask);
    if (by_abort && !aborted)
        f->title =
            nsc_words(c,
                      "NCCL calls returned an error from its sockets, first %.*s: as happens when a communicator "
                      "is aborted while its threads still talk",
                      (int)(words.len < 120 ? words.len : 120), words.ptr);
    f->confidence = sure;
    if (!m->procs.item[first->proc].nameless)
        nsc_name_host(c, f, m->procs.item[first->proc].host);
    nsc_show(c, f, &first->where);
}

/* Did something fail, of which a row of causes.def says that this warning is why? */
static bool explains_failure(struct nsc_case *c, const struct nsc_warning *w, bool failed)
{
    struct nsc_finding some = {.rule = c->rule, .cls = "error", .confidence = "likely"};
    struct nsc_ask ask = {.c = c, .m = c->m, .proc = NSC_NONE, .said = &w->where, .distance = ""};
    return failed && nsc_explain(c, &some, &ask);
}

/* That a call of NCCL failed, as the program says, follows from what NCCL warned of. */
static void put_program_behind(struct nsc_case *c)
{
    for (size_t i = 0; i < c->f->list.len; i++) {
        struct nsc_finding *x = &c->f->list.item[i];
        if (x->rule->key == NSC_ID_FAILURE_INTERNAL && !x->began && !x->caused_by && x->part != NSC_ROOT)
            x->caused_by = NSC_ID_FAILURE_UNJUDGED;
    }
}

/* Did a call of NCCL fail, by NCCL's own words or by the program's? */
static bool job_failed(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    bool said = false;
    for (size_t i = 0; i < m->happened.len; i++)
        said = said || m->happened.item[i].number == NCCLSCOPE_KIND_PROGRAM_NCCL ||
               m->happened.item[i].number == NCCLSCOPE_KIND_NCCL_RESULT;
    return said || nsc_any_error(c);
}

/* Of no kind that a rule judges; or of one whose others are no failures, and calls gave up behind this. */
static bool is_open(const struct nsc_warning *w)
{
    return (!nsc_is_judged(w->kind) && !nsc_failure_is_known(w->kind)) ||
           (w->broke && nsc_is_state_alone(w->kind, w->where.text));
}

static int by_words(const void *a, const void *b)
{
    return nsc_compare(*(const nsc_text *)a, *(const nsc_text *)b);
}

/* What warnings that are judged say, in order. */
struct judged {
    nsc_text *words; /* NULL: there is no memory */
    size_t n;
};

static struct judged list_judged(const struct ncclscope_model *m)
{
    struct judged all = {nsc_alloc(m->warnings.len * sizeof *all.words), 0};
    for (size_t i = 0; all.words && i < m->warnings.len; i++)
        if (!is_open(&m->warnings.item[i]))
            all.words[all.n++] = nsc_say(m, m->warnings.item[i].message);
    if (all.n)
        qsort(all.words, all.n, sizeof *all.words, by_words);
    return all;
}

static size_t common_beginning(nsc_text a, nsc_text b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n])
        n++;
    return n;
}

/* Is it the beginning of a warning that another process has whole, and that is judged? Its line was torn; another's may stand behind that. */
static bool is_cut_short(const struct ncclscope_model *m, const struct judged *all, const struct nsc_warning *w)
{
    enum { LEAST = 20, SURE = 40 };
    nsc_text words = nsc_say(m, w->message);
    size_t low = 0, high = all->n; /* what follows the words themselves begins with them, or nothing does */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (nsc_compare(all->words[mid], words) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    size_t behind = low < all->n ? common_beginning(all->words[low], words) : 0,
           before = low ? common_beginning(all->words[low - 1], words) : 0;
    return (behind >= LEAST && behind == words.len) || behind >= SURE || before >= SURE;
}

/* The call of a trail: "init.cc:1234 (ncclCommInitRankFunc) -> 2" by its function, "misc/socket.cc:47 -> 3" by its file. */
static nsc_text call_of(const struct nsc_event *e)
{
    nsc_text words = without_folder(nsc_message_of(&e->where));
    ptrdiff_t open = nsc_text_find(words, " ("), close = nsc_text_find(words, ") "), line = nsc_text_find(words, ":");
    if (open > 0 && close > open)
        return (nsc_text){words.ptr + open + 2, (size_t)(close - open - 2)};
    return (nsc_text){words.ptr, line > 0 ? (size_t)line : 0};
}

/* "(ncclGinGdakiCreateContext, ncclGinDevCommSetup, ...)": which calls gave up behind a warning, the innermost first: what NCCL was about.
 * "": none is kept. */
static const char *calls_behind(struct nsc_case *c, const struct nsc_warning *w)
{
    enum { MOST = 5 };
    const struct ncclscope_model *m = c->m;
    const char *list = "";
    nsc_text last = {NULL, 0};
    size_t n = 0;
    for (size_t i = w->proc == NSC_NONE ? m->event_order.len : nsc_events_of(m, w->proc); i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != w->proc)
            break;
        nsc_text call = call_of(e);
        if (e->kind != NCCLSCOPE_KIND_BACKTRACE || e->where.source != w->where.source ||
            e->where.line < w->where.line || !call.len || nsc_text_eq(call, last))
            continue;
        if (n++ < MOST)
            list = nsc_words(c, "%s%s%.*s", list, n == 1 ? " (" : ", ", (int)call.len, call.ptr);
        last = call;
    }
    return n ? nsc_words(c, "%s%s)", list, n > MOST ? " ..." : "") : "";
}

/* libibverbs was asked for by GIN or GPUDirect, which is not needed: the input goes on behind it, and nothing failed. */
static bool was_optional(const struct ncclscope_model *m, const struct nsc_warning *w, bool failed)
{
    enum { LINES_BEHIND = 3 };
    return w->kind == NCCLSCOPE_KIND_VERBS_NOT_LOADED && !failed &&
           m->sources.item[w->where.source].stats.lines >= w->where.line + LINES_BEHIND;
}

/* Does a finding that is more than a note begin with it? */
static bool is_begun_with(const struct nsc_case *c, const struct nsc_warning *w)
{
    for (size_t i = 0; i < c->f->list.len; i++) {
        const struct nsc_finding *f = &c->f->list.item[i];
        if (f->began && f->severity > NCCLSCOPE_SEVERITY_NOTE && f->began->where.line == w->where.line &&
            f->began->where.source == w->where.source)
            return true;
    }
    return false;
}

/* One finding for the first: what else is not known is listed with it. */
/* Is it the beginning of one that the input has whole, or of what NCCL says of libraries that a machine may do without? */
static bool is_known_to_end(const struct ncclscope_model *m, nsc_text line, nsc_text words)
{
    bool known = nsc_text_find(line, "ibvwrap.c") >= 0 || nsc_text_find(line, "gdrwrap.c") >= 0;
    for (size_t i = 0; i < m->warnings.len && !known; i++) {
        nsc_text whole = nsc_say(m, m->warnings.item[i].message);
        known = words.len <= whole.len && !memcmp(words.ptr, whole.ptr, words.len);
    }
    return known;
}

/* "transport/p2p.cc:238 NCCL WARN failed to ope", and the input ends there: what failed is not in it. */
static void tell_cut_warning(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->sources.len; i++) {
        const struct nsc_source_info *s = &m->sources.item[i];
        if (!s->cut_warning.line || s->cut_warning.line != s->stats.lines)
            continue;
        ptrdiff_t at = nsc_text_find(s->cut_warning.text, " WARN ");
        nsc_text words = nsc_text_trim(nsc_text_from(s->cut_warning.text, at < 0 ? 0 : (size_t)at + 6));
        if (!words.len || is_known_to_end(m, s->cut_warning.text, words))
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "unknown", "possible");
        f->count = 1;
        f->title = nsc_words(c, "The input ends within an NCCL warning that may report a failure: \"%.*s\"",
                             (int)(words.len < 160 ? words.len : 160), words.len ? words.ptr : "");
        nsc_explain_by(c, f, NSC_WARNING_CUT);
        nsc_show(c, f, &s->cut_warning);
        return;
    }
}

void nsc_rule_unjudged(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    bool failed = job_failed(c);
    const struct nsc_where *end = nsc_success_of(m);
    struct judged judged = list_judged(m);
    c->f->no_memory = c->f->no_memory || !judged.words;
    for (size_t i = 0; i < m->warnings.len; i++) {
        const struct nsc_warning *w = &m->warnings.item[i];
        bool open = is_open(w);
        const struct nsc_event *known =
            w->kind == NCCLSCOPE_KIND_REMOTE_CLOSED || w->kind == NCCLSCOPE_KIND_TOPO_XML_BAD
                ? event_at(m, &w->where)
                : NULL; /* few shapes are: it is a search */
        if ((open && is_cut_short(m, &judged, w)) ||
            (known && (nsc_stranger_of(m, known) || nsc_is_of_algorithm(m, known))))
            continue;
        bool named = w->proc != NSC_NONE && !m->procs.item[w->proc].nameless;
        bool explained = (open || !nsc_failure_is_known(w->kind)) && explains_failure(c, w, failed);
        bool broke = w->quoted || (w->proc != NSC_NONE && w->broke) || (named && open && ends_its_process(m, w));
        bool behind_end = !open && end && end->source == w->where.source && end->line < w->where.line;
        if ((!broke && !explained) || behind_end || (!open && !explained && is_begun_with(c, w)) ||
            (!open && !explained && nsc_any_failure(c, NSC_ID_RANKS_MISSING)) ||
            (named && !explained && nsc_lived_on(m, w->proc, &w->where)) || was_optional(m, w, failed))
            continue;
        nsc_text words = nsc_say(m, w->message);
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
            f->part = NSC_ROOT;
            f->began = event_at(m, &w->where);
            words.len = words.len < 300 ? words.len : 300;
            words.len -= words.len && words.ptr[words.len - 1] == '.';
            struct nsc_ask ask = {
                .c = c, .m = m, .proc = NSC_NONE, .said = &w->where, .distance = "", .other = calls_behind(c, w)};
            bool told = nsc_explain(c, f, &ask);
            f->open = !told;
            if (!told) {
                ask.reason = w->quoted ? NSC_WARNING_QUOTED : w->broke ? NSC_WARNING_BROKE : NSC_WARNING_LAST;
                nsc_explain(c, f, &ask);
            }
            f->title =
                nsc_words(c, told ? "NCCL failed: %.*s" : "NCCL failed with a warning that no rule here knows: %.*s",
                          (int)words.len, words.ptr);
        }
        f->count += w->lines;
        if (named)
            nsc_name_host(c, f, m->procs.item[w->proc].host);
        nsc_show(c, f, &w->where);
    }
    nsc_free(judged.words);
    if (f)
        put_program_behind(c);
    if (!f && !m->warnings.len && !nsc_any_failure(c, NSC_ID_RANKS_MISSING))
        tell_trail(c);
    if (!f && !nsc_any_failure(c, NSC_ID_NONE))
        tell_cut_warning(c);
}
