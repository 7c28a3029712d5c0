/* failures.c - NCCL's warnings to findings, by failures.def; and of everything that failed, what was the root and what its wake. */
#include "rules/ask.h"

enum { NOTE = NCCLSCOPE_NOTE, WARNING = NCCLSCOPE_WARNING, ERROR = NCCLSCOPE_ERROR };
enum { ROOT = NSC_ROOT, WAKE = NSC_WAKE, STATE = NSC_NO_FAILURE, ECHO = NSC_ECHO };

struct failure {
    ncclscope_kind kind;
    int64_t number;
    const char *words;
    enum nsc_id key;
    int severity;
    const char *cls;
    enum nsc_failure_part part;
    const char *title, *cause;
};

static const struct failure failures[] = {
#define FAILURE(KIND, number, words, id, severity, cls, part, title, cause) \
    {NCCLSCOPE_KIND_##KIND, number, words, NSC_ID_##id, severity, cls, (enum nsc_failure_part)part, title, cause},
#include "failures.def"
#undef FAILURE
};
enum { FAILURES = sizeof failures / sizeof failures[0] };

/* NCCL says it as a warning, or goes on without NVLink SHARP and says so at INFO (2.27.3 to 2.28.9). */
static bool is_warning(const struct nsc_event *e)
{
    return e->level == NCCLSCOPE_LEVEL_WARN || e->kind == NCCLSCOPE_KIND_NVLS_BIND_FAILED;
}

static const struct failure *failure_of(const struct nsc_event *e)
{
    for (size_t i = 0; is_warning(e) && i < FAILURES; i++) {
        const struct failure *f = &failures[i];
        if (f->kind == e->kind && (f->number < 0 || f->number == e->number) &&
            (!f->words[0] || nsc_text_find(e->where.text, f->words) >= 0))
            return f;
    }
    return NULL;
}

bool nsc_failure_is_known(ncclscope_kind kind)
{
    for (size_t i = 0; i < FAILURES; i++)
        if (failures[i].kind == kind)
            return true;
    return false;
}

/* ---- what came first ---- */

/* Two times as printed: comparable if they differ in digits alone. */
static int compare_times(nsc_text a, nsc_text b, bool *comparable)
{
    size_t n = a.len < b.len ? a.len : b.len;
    for (size_t i = 0; i < n && *comparable; i++)
        *comparable = a.ptr[i] == b.ptr[i] || (nsc_is_digit(a.ptr[i]) && nsc_is_digit(b.ptr[i]));
    *comparable = *comparable && n >= 8;
    return *comparable ? memcmp(a.ptr, b.ptr, n) : 0;
}

/* Is it known that `a` was printed before `b`? By the clocks of their hosts, or by their place in one file. */
static bool is_before(const struct ncclscope_model *m, const struct nsc_event *a, const struct nsc_event *b)
{
    bool comparable = a->time && b->time;
    int c = comparable ? compare_times(nsc_say(m, a->time), nsc_say(m, b->time), &comparable) : 0;
    if (comparable && c)
        return c < 0;
    return a->where.source == b->where.source && a->where.line < b->where.line;
}

/* Where nothing tells which came first the order of inputs shall not: by host and process. */
static bool is_named_before(const struct ncclscope_model *m, const struct nsc_event *a, const struct nsc_event *b)
{
    const struct nsc_proc *p = &m->procs.item[a->proc], *q = &m->procs.item[b->proc];
    int c = nsc_compare(nsc_say(m, p->host), nsc_say(m, q->host));
    return c ? c < 0 : p->pid < q->pid;
}

static const char *who(struct nsc_case *c, const struct nsc_event *e)
{
    const struct nsc_proc *p = &c->m->procs.item[e->proc];
    int64_t rank = p->nameless ? -1 : nsc_rank_of_event(c->m, e);
    if (p->nameless)
        return "";
    const char *where = nsc_words(c, "host %s, pid %lld", nsc_say(c->m, p->host).ptr, (long long)p->pid);
    return rank < 0 ? where : nsc_words(c, "rank %lld, %s", (long long)rank, where);
}

/* ---- one finding for each id ---- */

/* Processes that said what this row of the table is about, and of them those that said it in the words of `said`. */
static uint64_t count_processes(const struct ncclscope_model *m, const struct failure *row,
                                const struct nsc_event *said, uint64_t *same)
{
    uint64_t n = 0;
    uint32_t counted = NSC_NONE, alike = NSC_NONE; /* events lie by process in their order */
    *same = 0;
    for (size_t i = 0; i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if ((e->proc == counted && (e->proc == alike || e->text != said->text)) || failure_of(e) != row ||
            (e->quoted && !said->quoted)) /* a program's words of its own NCCL */
            continue;
        n += e->proc != counted;
        counted = e->proc;
        *same += e->proc != alike && e->text == said->text;
        alike = e->text == said->text ? e->proc : alike;
    }
    return n;
}

/* The words of a row, with what the warning says put in: {call}, the function behind "Call to"; {said}, all of it. */
static const char *fill(struct nsc_case *c, const char *words, const struct nsc_event *e)
{
    const char *brace = strchr(words, '{');
    if (!brace)
        return words;
    ptrdiff_t call = nsc_text_find(e->where.text, "Call to ");
    nsc_text put = nsc_message_of(&e->where);
    if (!strncmp(brace, "{call}", 6)) {
        nsc_text rest = call < 0 ? NSC_TEXT("a call") : nsc_text_from(e->where.text, (size_t)call + 8);
        put = call < 0 ? rest : nsc_next_word(&rest);
    }
    put.len = put.len < 200 ? put.len : 200;
    put.len -= put.len && put.ptr[put.len - 1] == '.'; /* the sentence has one of its own */
    return nsc_words(c, "%.*s%.*s%s", (int)(brace - words), words, (int)put.len, put.ptr, brace + 6);
}

/* A program quotes the last warning without its place in the source: NCCL's own line of the same words, where there is one, has it. */
static const struct nsc_event *first_hand(const struct ncclscope_model *m, const struct nsc_event *e)
{
    for (size_t i = 0; e->quoted && i < m->events.len; i++) {
        const struct nsc_event *x = &m->events.item[i];
        if (!x->quoted && x->kind == e->kind && x->text == e->text)
            return x;
    }
    return e;
}

static void tell(struct nsc_case *c, struct nsc_finding *f, const struct failure *first, bool tied)
{
    uint64_t same, processes = count_processes(c->m, first, f->began, &same);
    nsc_text text = nsc_say(c->m, f->began->text);
    int64_t number;
    if (nsc_to_i64(text, &number)) /* a rank or a device: the line itself says whose */
        text.len = 0;
    while (text.len && (text.ptr[0] == ':' || text.ptr[0] == ' '))
        text = nsc_text_from(text, 1);
    text.len -= text.len && text.ptr[text.len - 1] == '.';
    if (strstr(first->title, "{said}"))
        text.len = 0;
    const char *others = processes > 1 ? nsc_words(c, "; %llu processes say %s", (unsigned long long)processes,
                                                   same < processes ? "the like" : "so")
                                       : "";
    f->part = first->part == NSC_ECHO ? NSC_WAKE : first->part;
    const char *whose = who(c, f->began);
    f->title = nsc_words(c, "%s%s%.*s", fill(c, first->title, f->began), text.len ? ": " : "", (int)text.len,
                         text.len ? text.ptr : "");
    if (*whose)
        f->title = nsc_words(c, "%s (%s%s%s%s)", f->title, processes > 1 && !tied ? "first " : "",
                             text.len && memchr(text.ptr, '<', text.len) ? "told by " : "", whose, others);
    f->cause = fill(c, first->cause, f->began);
    struct nsc_ask ask = {
        .c = c, .m = c->m, .proc = f->began->proc, .event = first_hand(c->m, f->began), .distance = ""};
    if (c->m->procs.item[ask.proc].nameless)
        ask.proc = NSC_NONE;
    int severity = f->severity;
    if (nsc_explain(c, f, &ask) &&
        strcmp(f->confidence, "certain") != 0) /* of the cause; that it failed the line says */
        f->cause = nsc_words(c, "%s: %s", !strcmp(f->confidence, "likely") ? "Likely" : "Perhaps", f->cause);
    f->confidence = "certain";
    f->severity = f->severity == NCCLSCOPE_NOTE ? f->severity : severity;
    nsc_show_first(c, f, &f->began->where);
}

/* A network that was not there, on one host. */
static bool missed_by_nobody(const struct nsc_finding *f)
{
    return !strncmp(f->rule->id, "net/", 4);
}

enum { WENT_ON = 20 };

/* Did the process print much more behind the warning, come to an end that no error tells, and did nobody else fail? */
static bool went_on(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_proc *p = &m->procs.item[e->proc];
    for (size_t i = nsc_events_of(m, e->proc); i < m->event_order.len; i++)
        if (m->events.item[m->event_order.item[i]].proc == e->proc &&
            m->events.item[m->event_order.item[i]].kind == NCCLSCOPE_KIND_BACKTRACE)
            return false;
    bool lives = p->source == e->where.source && p->informs && p->last_line > e->where.line + WENT_ON;
    return !p->nameless && nsc_lived_on(m, e->proc, &e->where) && lives && (!m->happened.len || nsc_success_of(m));
}

/* A library that NCCL did not find and did without: the process then chose its network, or made connections. */
static bool did_without(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_proc *p = &m->procs.item[e->proc];
    bool library = e->kind == NCCLSCOPE_KIND_CUDA_LIBRARY || e->kind == NCCLSCOPE_KIND_LIBRARY_MISSING;
    bool later = p->source == e->where.source &&
                 (p->last_connect >= e->where.line || (p->network && p->network_at.line >= e->where.line));
    return library && !p->nameless && later;
}

void nsc_tell_failures(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    const struct failure *first = NULL;
    bool tied = false;     /* which came first is not known */
    bool weathered = true; /* all processes that said it went on for long */
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        const struct failure *row = failure_of(e);
        if (!row || row->key != c->rule->key)
            continue;
        int severity = did_without(m, e) ? NCCLSCOPE_NOTE : row->severity;
        if (f && e->quoted && f->began && f->began->kind == e->kind) { /* the log has it first hand */
            f->severity = row->cls[0] == 'b' ? f->severity : NCCLSCOPE_ERROR;
            nsc_show(c, f, &e->where);
            continue;
        }
        if (!f)
            f = nsc_found(c, severity, row->cls, "certain");
        if (severity > f->severity) { /* what failed is told, not what was only noise beside it */
            f->severity = severity;
            f->cls = row->cls;
            f->began = NULL;
            f->evidences = 0;
            tied = false;
        }
        f->count += e->count;
        int64_t rank = nsc_rank_of_event(m, e);
        if (rank >= 0)
            nsc_name_rank(c, f, (uint64_t)rank);
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
        bool fatal = e->quoted || (e->broke && row->part == NSC_ROOT && !nsc_lived_on(m, e->proc, &e->where));
        if (severity < f->severity)
            continue;
        fatal = fatal && severity > NCCLSCOPE_NOTE;
        f->severity = fatal ? NCCLSCOPE_ERROR : f->severity;
        weathered = weathered && !fatal && !e->broke && row->part == NSC_ROOT && went_on(m, e);
        if (f->began && row->part == NSC_ECHO && first->part != NSC_ECHO)
            continue;
        if (f->began && first->part == NSC_ECHO && row->part != NSC_ECHO)
            f->began = NULL;
        bool after = f->began && is_before(m, f->began, e), before = f->began && is_before(m, e, f->began);
        tied = before ? false : tied || (f->began && !after && e->proc != f->began->proc);
        if (!f->began || before || (!after && e->proc != f->began->proc && is_named_before(m, e, f->began))) {
            f->began = e;
            first = row;
        }
    }
    if (f && f->rule->key == NSC_ID_NET_NO_RDMA_DEVICE && f->began && nsc_lists_device(m, f->began->proc))
        f->severity = NCCLSCOPE_NOTE; /* net/fewer-nics tells of those that were not */
    if (f && weathered && f->severity == NCCLSCOPE_ERROR && first->part == NSC_ROOT)
        f->severity = NCCLSCOPE_WARNING;
    else if (f && f->severity == NCCLSCOPE_WARNING && m->hosts.len <= 1 && (weathered || nsc_success_of(m)) &&
             (missed_by_nobody(f) || first->part == NSC_NO_FAILURE))
        f->severity = NCCLSCOPE_NOTE;
    if (f)
        tell(c, f, first, tied);
}

/* ---- root and wake ---- */

/* Did the process that the finding begins in belong to the communicator that another finding is about? */
static bool is_member(const struct ncclscope_model *m, uint32_t proc, uint32_t comm)
{
    const struct nsc_comm *k = &m->comms.item[comm];
    for (uint32_t i = 0; i < k->count; i++)
        if (m->ranks.item[m->members.item[k->first + i]].proc == proc)
            return true;
    return false;
}

enum { LINES_BUFFERED = 500 };

/* Two processes write into one file through buffers of their own: without clocks their order there, some lines apart, tells nothing. */
static bool is_order_unknown(const struct ncclscope_model *m, const struct nsc_event *a, const struct nsc_event *b)
{
    bool timed = a->time && b->time;
    uint64_t x = a->where.line, y = b->where.line;
    if (timed)
        compare_times(nsc_say(m, a->time), nsc_say(m, b->time), &timed);
    return !timed && a->proc != b->proc && a->where.source == b->where.source &&
           (x > y ? x - y : y - x) < LINES_BUFFERED;
}

static bool is_of_proxy(const struct nsc_finding *f)
{
    return f->rule->key == NSC_ID_FAILURE_ASYNC;
}

static bool could_cause(const struct ncclscope_model *m, const struct nsc_finding *root, const struct nsc_finding *f)
{
    if (!root->began || root->severity < NCCLSCOPE_WARNING || root->part == NSC_NO_FAILURE || root == f ||
        root->rule == f->rule || root->caused_by)
        return false;
    if (f->began && root->began->proc == f->began->proc && root->part == NSC_WAKE && f->part == NSC_WAKE &&
        (is_of_proxy(root) || is_of_proxy(f)) && root->rule != f->rule)
        return is_of_proxy(f); /* a proxy tells of what it was told, by a socket that broke */
    if (f->began && is_order_unknown(m, root->began, f->began) && root->part != f->part)
        return root->part == NSC_ROOT; /* what breaks by itself is not what others see when something broke */
    if (f->began)
        return is_before(m, root->began, f->began) ||
               (root->part == NSC_ROOT && f->part == NSC_WAKE && !is_before(m, f->began, root->began));
    bool waits = f->rule->key == NSC_ID_RANKS_MISSING;                      /* for one that failed */
    bool stranger = m->procs.item[root->began->proc].last_rank == NSC_NONE; /* it may be the one that is missing */
    return f->part == NSC_WAKE &&
           (!waits || f->comm == NSC_NONE || stranger || is_member(m, root->began->proc, f->comm));
}

/* Peers of a process that vanished see closed connections, and what follows from them. */
static enum nsc_id vanished(const struct ncclscope_findings *all, const struct nsc_finding *f)
{
    for (size_t i = 0; f->began && i < all->list.len; i++)
        if (all->list.item[i].rule->key == NSC_ID_RANKS_LOST && &all->list.item[i] != f)
            return NSC_ID_RANKS_LOST;
    return NSC_ID_NONE;
}

/* The launcher saw a process killed from outside or crash: what its peers see follows from that, whatever they printed first. */
static enum nsc_id killed(const struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++)
        if (all->list.item[i].rule->key == NSC_ID_RANKS_EXITED && all->list.item[i].part == NSC_ROOT)
            return NSC_ID_RANKS_EXITED;
    return NSC_ID_NONE;
}

/* Of those that could have caused it the first in time, what breaks by itself before what only follows; where time is not known,
 * the first in the order of the rules. That a process vanished follows from no peer's closed connection. */
static const struct nsc_finding *cause_of(const struct ncclscope_findings *all, const struct nsc_finding *f)
{
    const struct nsc_finding *best = NULL;
    bool lost = f->rule->key == NSC_ID_RANKS_LOST;
    for (size_t i = 0; i < all->list.len; i++) {
        const struct nsc_finding *x = &all->list.item[i];
        if (!could_cause(all->model, x, f) || (best && best->part == NSC_ROOT && x->part == NSC_WAKE) ||
            (lost && x->part == NSC_WAKE))
            continue;
        if (!best || best->part != x->part || is_before(all->model, x->began, best->began))
            best = x;
    }
    return best;
}

/* Does it follow from a communicator that could not work from the start? */
static bool follows_from(const struct ncclscope_model *m, const struct nsc_finding *f, uint32_t comm)
{
    if (!f->began)
        return f->rule->key == NSC_ID_RANKS_MISSING && f->comm == comm;
    bool broken_talk = f->part == NSC_WAKE || f->began->kind == NCCLSCOPE_KIND_MESSAGE_TRUNCATED;
    return broken_talk && is_member(m, f->began->proc, comm);
}

/* Roots that no line tells: how the ranks of a communicator were put together. */
static void blame_communicators(struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++) {
        const struct nsc_finding *root = &all->list.item[i];
        bool is = root->part == NSC_ROOT && !root->began && root->comm != NSC_NONE;
        for (size_t k = 0; is && k < all->list.len; k++) {
            struct nsc_finding *f = &all->list.item[k];
            if (!f->caused_by && f->rule != root->rule && follows_from(all->model, f, root->comm))
                f->caused_by = root->rule->key;
        }
    }
}

/* The first time-out that PyTorch's watchdog tells, in this source; 0: none. */
static uint64_t first_timeout(const struct ncclscope_model *m, uint32_t source)
{
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_TORCH_TIMEOUT && m->happened.item[i].where.source == source)
            return m->happened.item[i].where.line;
    return 0;
}

/* What failed before a watchdog lost its patience is why ranks waited; what fails behind it is how the job was torn down. */
static void relate_to_watchdog(struct ncclscope_findings *all)
{
    struct nsc_finding *hung = NULL;
    for (size_t i = 0; i < all->list.len && !hung; i++)
        hung = all->list.item[i].rule->key == NSC_ID_RANKS_HUNG ? &all->list.item[i] : NULL;
    for (size_t i = 0; hung && i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        uint64_t line = f->began && f->part != NSC_NO_FAILURE ? first_timeout(all->model, f->began->where.source) : 0;
        if (!line || f->caused_by)
            continue;
        if (f->began->where.line < line && !hung->caused_by && f->severity == NCCLSCOPE_ERROR)
            hung->caused_by = f->rule->key;
        else if (f->began->where.line > line && f->part == NSC_WAKE)
            f->caused_by = NSC_ID_RANKS_HUNG;
    }
}

/* A connection that could not be made, from a host that meets the others over an interface that seldom reaches any. */
static void blame_interface(struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++) {
        const struct nsc_finding *root = &all->list.item[i];
        for (size_t k = 0; root->rule->key == NSC_ID_NET_INTERFACE_SUSPECT && k < all->list.len; k++) {
            struct nsc_finding *f = &all->list.item[k];
            nsc_str host = f->began ? all->model->procs.item[f->began->proc].host : 0;
            bool shares = false;
            for (size_t h = 0; h < root->hosts.len; h++)
                shares = shares || root->hosts.item[h] == host;
            if (shares && !f->caused_by && f->rule->key == NSC_ID_NET_TIMEOUT)
                f->caused_by = root->rule->key;
        }
    }
}

/* The line that a failure began with, of NCCL's or of a program; NULL: it is none. */
static const struct nsc_where *beginning(const struct nsc_finding *f)
{
    if (f->severity != NCCLSCOPE_ERROR)
        return NULL;
    if (f->began)
        return &f->began->where;
    bool is = !strncmp(f->rule->id, "failure/", 8) || f->part == NSC_ROOT;
    return is && f->evidences ? &f->evidence[0] : NULL;
}

/* The launcher tells the end of a process in one line, behind what made it end: the first failure before that line. Of a rank that its
 * peers miss, what a program said before they missed it. */
static void explain_exit(struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        bool lost = f->rule->key == NSC_ID_RANKS_LOST && f->began;
        bool exited = f->rule->key == NSC_ID_RANKS_EXITED && f->part == NSC_NO_FAILURE && f->evidences;
        if (f->caused_by || !(lost || exited))
            continue;
        const struct nsc_where *end = lost ? &f->began->where : &f->evidence[0];
        const struct nsc_finding *root = NULL;
        for (size_t k = 0; k < all->list.len; k++) {
            const struct nsc_finding *x = &all->list.item[k];
            const struct nsc_where *began = x->caused_by || x->rule == f->rule ? NULL : beginning(x);
            bool before = began && began->source == end->source && began->line < end->line && !(lost && x->began);
            if (before && (!root || began->line < beginning(root)->line))
                root = x;
        }
        f->caused_by = root ? root->rule->key : NSC_ID_NONE;
    }
}

/* Where a job failed, a path that is slower than it might be, for reasons that no line tells, is not what its owner looks for. */
static void lower_open_paths(struct ncclscope_findings *all)
{
    bool failed = false;
    for (size_t i = 0; i < all->list.len; i++)
        failed = failed || (all->list.item[i].severity == NCCLSCOPE_ERROR && !strcmp(all->list.item[i].cls, "error"));
    for (size_t i = 0; failed && i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        if (f->open && f->severity == NCCLSCOPE_WARNING)
            f->severity = NCCLSCOPE_NOTE;
    }
}

/* Where libfabric's plugin was meant to bring the network and could not, that there is no InfiniBand device besides is no news. */
static void blame_plugin(struct ncclscope_findings *all)
{
    const struct nsc_event *e = nsc_event_of(all->model, NSC_NONE, NCCLSCOPE_KIND_OFI_NO_PROVIDER);
    bool plugin = false;
    for (size_t i = 0; e && i < all->list.len; i++)
        plugin = plugin || (all->list.item[i].rule->key == NSC_ID_NET_PLUGIN_FAILED &&
                            all->list.item[i].severity > NCCLSCOPE_NOTE);
    for (size_t i = 0; plugin && i < all->list.len; i++)
        if (all->list.item[i].rule->key == NSC_ID_NET_NO_RDMA_DEVICE)
            all->list.item[i].caused_by = NSC_ID_NET_PLUGIN_FAILED;
    bool missing = false; /* "Could not find: libnccl-net-ofi.so" before "network AWS Libfabric not found" */
    for (size_t i = 0; i < all->list.len; i++)
        missing = missing || (all->list.item[i].rule->key == NSC_ID_NET_PLUGIN_MISSING &&
                              all->list.item[i].severity > NCCLSCOPE_NOTE);
    for (size_t i = 0; missing && i < all->list.len; i++)
        if (all->list.item[i].rule->key == NSC_ID_NET_PLUGIN_FAILED && all->list.item[i].began &&
            all->list.item[i].began->kind == NCCLSCOPE_KIND_NET_NOT_FOUND)
            all->list.item[i].caused_by = NSC_ID_NET_PLUGIN_MISSING;
}

void nsc_settle_failures(struct ncclscope_findings *all)
{
    blame_plugin(all);
    lower_open_paths(all);
    blame_interface(all);
    blame_communicators(all);
    for (int wake = 0; wake < 2; wake++) /* roots among themselves before what they leave behind them */
        for (size_t i = 0; i < all->list.len; i++) {
            struct nsc_finding *f = &all->list.item[i];
            if (f->caused_by || f->part == NSC_NO_FAILURE || (f->part == NSC_WAKE) != wake)
                continue;
            const struct nsc_finding *root = cause_of(all, f);
            bool by_itself = !wake || (root && root->part == NSC_ROOT);
            enum nsc_id gone = by_itself ? NSC_ID_NONE : vanished(all, f), end = by_itself ? NSC_ID_NONE : killed(all);
            f->caused_by = end ? end : gone ? gone : root ? root->rule->key : NSC_ID_NONE;
        }
    relate_to_watchdog(all);
    explain_exit(all);
}
