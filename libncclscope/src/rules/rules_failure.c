/* rules_failure.c - what went wrong: shared memory too small, ranks lost, slow or of another release, warnings that no rule knows. */
#include "rules/ask.h"

#include <stdio.h>
#include <stdlib.h>

void nsc_rule_shm_too_small(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    int64_t bytes = -1;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        bool segment = e->kind == NCCLSCOPE_KIND_SHM_SEGMENT && !nsc_text_starts(nsc_say(m, e->text), "No such file") &&
                       nsc_text_find(e->where.text, "attaching to") < 0; /* one that is there */
        if (e->kind != NCCLSCOPE_KIND_SHM_EXTEND && !segment)
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_ERROR, "error", "certain");
        f->part = NSC_ROOT;
        f->began = f->began ? f->began : e;
        f->count += e->count;
        bytes = e->number > bytes ? e->number : bytes;
        nsc_name_host(c, f, e->proc == NSC_NONE ? 0 : m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    if (!f)
        return;
    struct nsc_ask ask = {.c = c, .m = m, .proc = NSC_NONE, .event = f->began, .distance = ""};
    nsc_explain(c, f, &ask);
    bool full = !strcmp(f->confidence, "certain");
    f->confidence = "certain"; /* that it failed; of the cause the words say how sure it is */
    if (bytes > 0)
        f->title = nsc_words(c, "%s shared memory segment of %lld bytes (%.1f MiB) could not be created",
                             full ? "/dev/shm is too small: a" : "A", (long long)bytes, (double)bytes / 1048576.0);
    else
        f->title =
            nsc_words(c, "%s shared memory segment could not be created", full ? "/dev/shm is too small: a" : "A");
    uint32_t pod = f->began && f->began->proc != NSC_NONE ? m->procs.item[f->began->proc].in_pod : NSC_NONE;
    const char *shm = pod == NSC_NONE ? NULL : nsc_shm_of_pod(c, &m->pods.item[pod]);
    f->cause =
        shm ? nsc_words(c, "%s. Segments left over from crashed jobs (/dev/shm/nccl-*) fill it too.", shm) : f->cause;
}

/* ---- ranks that vanished ---- */

static const char vanished_words[] = "Its process ended without closing NCCL: crash, kill, out of memory, or an "
                                     "exception of the program. Its own last words are "
                                     "outside NCCL: look at that process's standard error and at the kernel log.";

static bool closes_itself(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    return r->destroyed.line || r->aborted.line || m->procs.item[r->proc].closing_at.line;
}

static bool is_after(const struct nsc_where *a, const struct nsc_where *b)
{
    return a->line && b->line && a->source == b->source && a->line > b->line;
}

/* The n-th rank of a communicator on this host, counted as NCCL does: by rank. */
static const struct nsc_rank *nth_on_host(const struct ncclscope_model *m, const struct nsc_comm *k, nsc_str host,
                                          int64_t n)
{
    int64_t at = 0, last = -1;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        if (m->procs.item[r->proc].host != host || r->rank == last)
            continue;
        last = r->rank;
        if (at++ == n)
            return r;
    }
    return NULL;
}

/* The rank that the speaker's host calls localRank n, in the largest communicator of the job. Before 2.20.3 no line says it. */
static const struct nsc_rank *local_rank(const struct ncclscope_model *m, nsc_str host, int64_t n)
{
    const struct nsc_rank *best = NULL;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->local_rank == n && m->procs.item[r->proc].host == host && (!best || r->nranks > best->nranks))
            best = r;
    }
    const struct nsc_comm *largest = NULL;
    for (size_t i = 0; !best && i < m->comms.len; i++)
        if (!largest || m->comms.item[i].nranks > largest->nranks)
            largest = &m->comms.item[i];
    return best || !largest ? best : nth_on_host(m, largest, host, n);
}

/* Did others of the job end in good order, so that an end without it means something? Up to 2.28 a normal end prints nothing. */
static bool others_close(const struct ncclscope_model *m, const struct nsc_rank *lost)
{
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].proc != lost->proc && m->ranks.item[i].comm == lost->comm &&
            closes_itself(m, &m->ranks.item[i]))
            return true;
    return nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_REMOTE_CLOSED) ||
           nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_SOCKET_FAILED);
}

/* Local ranks, as bits, that this process saw close; of those beyond 63 none. */
static uint64_t seen_closing(const struct ncclscope_model *m, uint32_t proc)
{
    uint64_t seen = 0;
    for (size_t i = nsc_events_of(m, proc); i < m->event_order.len; i++) {
        const struct nsc_event *x = &m->events.item[m->event_order.item[i]];
        if (x->proc != proc)
            break;
        if (x->kind == NCCLSCOPE_KIND_PEER_CLOSED && x->number >= 0 && x->number < 64)
            seen |= UINT64_C(1) << x->number;
    }
    return seen;
}

/* What the processes of a host saw close: the first's local ranks, how many saw just these, and whether one saw others. */
struct host_closing {
    uint64_t seen;
    int64_t speakers;
    bool differ;
};

struct closings {
    struct nsc_map by_host; /* to its place in `of` */
    NSC_VEC(struct host_closing) of;
    bool by_design; /* somebody closes himself, or the program ended well */
};

static void gather_closings(struct nsc_case *c, struct closings *all)
{
    const struct ncclscope_model *m = c->m;
    all->by_design = nsc_success_of(m);
    for (size_t i = 0; i < m->procs.len && !all->by_design; i++) {
        const struct nsc_proc *p = &m->procs.item[i];
        struct nsc_key host = {p->host, 0, 0};
        uint64_t seen = seen_closing(m, (uint32_t)i);
        all->by_design = p->closing_at.line;
        uint32_t at = nsc_map_get(&all->by_host, host);
        if (!seen)
            continue;
        if (at == NSC_NONE &&
            (!nsc_vec_push(&all->of) || nsc_map_put(&all->by_host, host, (uint32_t)all->of.len - 1))) {
            c->f->no_memory = true;
            return;
        }
        struct host_closing *h = &all->of.item[at == NSC_NONE ? all->of.len - 1 : at];
        if (at == NSC_NONE)
            *h = (struct host_closing){.seen = seen};
        h->speakers++;
        h->differ = h->differ || seen != h->seen;
    }
}

static void free_closings(struct closings *all)
{
    nsc_map_free(&all->by_host);
    nsc_vec_free(&all->of);
}

/* Several processes of a host saw the same few local ranks close, no other one, and nobody closed anything himself: where all end, each
 * sees those that end before it, and they differ. */
static bool all_saw_the_same(const struct ncclscope_model *m, const struct closings *all, const struct nsc_event *e)
{
    uint32_t at =
        all->by_design ? NSC_NONE : nsc_map_get(&all->by_host, (struct nsc_key){m->procs.item[e->proc].host, 0, 0});
    const struct host_closing *h = at == NSC_NONE ? NULL : &all->of.item[at];
    return h && !h->differ && h->speakers > 1 && __builtin_popcountll(h->seen) <= h->speakers;
}

static bool is_lost(const struct ncclscope_model *m, const struct closings *all, const struct nsc_event *e,
                    const struct nsc_rank *r)
{
    const struct nsc_proc *speaker = &m->procs.item[e->proc], *gone = &m->procs.item[r->proc];
    if (is_after(&e->where, &speaker->closing_at) || closes_itself(m, r))
        return false;
    bool speaks_on = gone->source == e->where.source && gone->last_line > e->where.line;
    return !speaks_on && (others_close(m, r) || all_saw_the_same(m, all, e));
}

/* The same where no line says which rank has this place on its host. */
static void tell_nameless_loss(struct nsc_case *c, const struct closings *all)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    const struct nsc_event *first = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_PEER_CLOSED || m->procs.item[e->proc].nameless ||
            local_rank(m, m->procs.item[e->proc].host, e->number) || !all_saw_the_same(m, all, e) ||
            (first && m->procs.item[e->proc].host != m->procs.item[first->proc].host))
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_ERROR, "error", "likely");
        first = first ? first : e;
        f->part = NSC_WAKE;
        f->began = first;
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    if (!f)
        return;
    uint64_t gone = seen_closing(m, first->proc);
    struct nsc_finding locals = {.rule = c->rule};
    for (uint64_t n = 0; n < 64; n++)
        if (gone >> n & 1)
            nsc_name_rank(c, &locals, n);
    bool one = locals.ranks.len == 1;
    f->title = nsc_words(c, "Local %s of host %s vanished: %s neighbours saw %s connections close before any teardown",
                         nsc_list_ranks(c, &locals), nsc_say(m, m->procs.item[first->proc].host).ptr,
                         one ? "its" : "their", one ? "its" : "their");
    nsc_vec_free(&locals.ranks);
    nsc_map_free(&locals.named);
    f->cause = vanished_words;
}

static void tell_losses(struct nsc_case *c, const struct closings *all)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    const struct nsc_rank *first = NULL;
    for (size_t i = 0; i < m->events.len; i++) { /* in the order of the input: the first one lost is the root */
        const struct nsc_event *e = &m->events.item[i];
        const struct nsc_rank *r =
            e->kind == NCCLSCOPE_KIND_PEER_CLOSED ? local_rank(m, m->procs.item[e->proc].host, e->number) : NULL;
        if (!r || !is_lost(m, all, e, r) || (first && r->proc != first->proc))
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_ERROR, "error", "likely");
        f->part = NSC_WAKE;
        f->began = f->began ? f->began : e;
        first = r;
        f->count++;
        nsc_show(c, f, &e->where);
    }
    if (!f) {
        tell_nameless_loss(c, all);
        return;
    }
    f->comm = first->comm;
    nsc_name_rank(c, f, (uint64_t)first->rank);
    nsc_name_host(c, f, m->procs.item[first->proc].host);
    f->title = nsc_words(
        c, "Rank %lld vanished first (host %s, pid %lld): its peers saw its connections close before any teardown",
        (long long)first->rank, nsc_say(m, m->procs.item[first->proc].host).ptr,
        (long long)m->procs.item[first->proc].pid);
    f->cause = vanished_words;
}

void nsc_rule_ranks_lost(struct nsc_case *c)
{
    struct closings all = {0};
    gather_closings(c, &all);
    tell_losses(c, &all);
    free_closings(&all);
}

/* ---- warnings that no rule knows ---- */

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
    bool open = false;
    for (uint32_t i = p->last_rank; i != NSC_NONE; i = m->ranks.item[i].before)
        open = open || !nsc_is_done(&m->ranks.item[i]);
    return p->informs && p->source == w->where.source && p->last_line == w->where.line && open;
}

static const char *meaning_of_result(int64_t code)
{
    static const char *const words[] = {"a call of CUDA or HIP failed",
                                        "a call of the system or the network failed",
                                        "a check within NCCL failed",
                                        "an argument was not valid",
                                        "NCCL was called in a way that cannot be",
                                        "the other side was gone or not reached"};
    return code >= 1 && code <= 6 ? words[code - 1] : "something failed";
}

/* "transport/p2p.cc:352 -> 1", "transport.cc:197 -> 1", and no warning: only the way that an error took back is in this input. */
static void tell_trail(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_event *first = NULL;
    uint64_t n = 0;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_BACKTRACE || e->number < 1 || e->number > 6 ||
            nsc_lived_on(m, e->proc, &e->where) || (first && e->proc != first->proc))
            continue;
        first = first ? first : e;
        n += e->count;
    }
    if (n < 2 || nsc_success_of(m))
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_ERROR, "error", "likely");
    nsc_text words = nsc_message_of(&first->where);
    f->part = NSC_WAKE;
    f->began = first;
    f->count = n;
    f->title =
        nsc_words(c, "Calls of NCCL returned an error, first %.*s, and the warning that says why is not in this input",
                  (int)(words.len < 120 ? words.len : 120), words.ptr);
    f->cause = nsc_words(c, "Result %lld is: %s.", (long long)first->number, meaning_of_result(first->number));
    f->fix =
        "Give the lines before it: the WARN of the same thread names the cause. With NCCL_DEBUG=INFO it is printed.";
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
        if (x->rule->key == NSC_ID_FAILURE_INTERNAL && !x->began && !x->caused_by)
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

/* One finding for the first: what else is not known is listed with it. */
void nsc_rule_unjudged(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    bool failed = job_failed(c);
    const struct nsc_where *end = nsc_success_of(m);
    for (size_t i = 0; i < m->warnings.len; i++) {
        const struct nsc_warning *w = &m->warnings.item[i];
        bool open = !nsc_is_judged(w->kind) && !nsc_failure_is_known(w->kind);
        bool named = w->proc != NSC_NONE && !m->procs.item[w->proc].nameless;
        bool explained = !nsc_failure_is_known(w->kind) && explains_failure(c, w, failed);
        bool broke = w->quoted || (w->proc != NSC_NONE && w->broke) || (named && open && ends_its_process(m, w));
        bool behind_end = !open && end && end->source == w->where.source && end->line < w->where.line;
        if ((!broke && !explained) || behind_end || (!open && !explained && nsc_any_error(c)) ||
            (named && !explained && nsc_lived_on(m, w->proc, &w->where)))
            continue;
        nsc_text words = nsc_say(m, w->message);
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_ERROR, "error", "likely");
            f->part = NSC_ROOT;
            f->began = event_at(m, &w->where);
            words.len = words.len < 300 ? words.len : 300;
            words.len -= words.len && words.ptr[words.len - 1] == '.';
            struct nsc_ask ask = {.c = c, .m = m, .proc = NSC_NONE, .said = &w->where, .distance = ""};
            bool known = nsc_explain(c, f, &ask);
            f->title =
                nsc_words(c, known ? "NCCL failed: %.*s" : "NCCL failed with a warning that no rule here knows: %.*s",
                          (int)words.len, words.ptr);
            f->cause = known ? f->cause
                       : w->quoted
                           ? "A program quotes it as NCCL's last error; that is the last warning of its process, "
                             "which may be older than the failure."
                       : w->broke ? "Calls returned an error right behind it, and its process did not go on."
                                  : "It is the last line of its process, whose communicator never came up.";
        }
        f->count += w->lines;
        if (named)
            nsc_name_host(c, f, m->procs.item[w->proc].host);
        nsc_show(c, f, &w->where);
    }
    if (f)
        put_program_behind(c);
    if (!f && !m->warnings.len && !nsc_any_error(c))
        tell_trail(c);
}

/* ---- connections that are tried again and again ---- */

enum { TRIES = 3, LINES_BESIDE = 8 };

/* Are the tries the last that the process says, but for a few lines? */
static bool ends_in_tries(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_proc *p = &m->procs.item[e->proc];
    return !p->nameless && e->count >= TRIES && p->source == e->where.source && !nsc_lived_on(m, e->proc, &e->where) &&
           p->records <= e->nth + e->count + LINES_BESIDE;
}

/* "connect to 192.0.2.3<52333> returned Connection refused, retrying (21/34)", and no more: NCCL has not given up yet. */
void nsc_rule_connect_retries(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->events.len && !nsc_any_error(c); i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_CONNECT_RETRY || e->level != NCCLSCOPE_LEVEL_INFO || !ends_in_tries(m, e))
            continue;
        if (!f) {
            bool refused = nsc_text_find(e->where.text, "refused") >= 0;
            nsc_text peer = nsc_say(m, e->text);
            f = nsc_found(c, NCCLSCOPE_WARNING, "error", "likely");
            f->title =
                nsc_words(c, "A connection is tried again and again, and %s: %.*s",
                          refused ? "refused" : "not answered", (int)(peer.len < 120 ? peer.len : 120), peer.ptr);
            nsc_explain_by(c, f, refused ? NSC_RETRY_REFUSED : NSC_RETRY_UNANSWERED);
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
}

/* ---- ranks that were slow to start ---- */

enum { SLOW_FACTOR = 3, SLOW_SECONDS = 5 }; /* both: what varies from run to run is less */

static int by_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Half of the ranks took no longer than this; < 0: fewer than three said how long. */
static double median_init(const struct ncclscope_model *m, const struct nsc_comm *k, double *seconds)
{
    size_t n = 0;
    for (uint32_t i = 0; i < k->count; i++)
        if (m->ranks.item[m->members.item[k->first + i]].init_seconds >= 0)
            seconds[n++] = m->ranks.item[m->members.item[k->first + i]].init_seconds;
    if (n < 3)
        return -1;
    qsort(seconds, n, sizeof *seconds, by_seconds);
    return seconds[n / 2];
}

static void tell_slow(struct nsc_case *c, uint32_t comm, const struct nsc_rank *r, double median)
{
    bool late = r->init_seconds < median; /* the others waited for it */
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_NOTE, "unknown", "likely");
    f->comm = comm;
    f->count = 1;
    f->title = nsc_words(c, "Rank %lld (host %s, pid %lld) %s: its initialisation took %.1f s, the others' %.1f s",
                         (long long)r->rank, nsc_say(c->m, c->m->procs.item[r->proc].host).ptr,
                         (long long)c->m->procs.item[r->proc].pid,
                         late ? "came late, and the others waited" : "was slow to initialise", r->init_seconds, median);
    nsc_explain_by(c, f, late ? NSC_SLOW_LATE : NSC_SLOW_ITSELF);
    nsc_name_rank(c, f, (uint64_t)r->rank);
    nsc_name_host(c, f, c->m->procs.item[r->proc].host);
    nsc_show(c, f, &r->complete);
}

enum { KERNELS_SLOW = 20 }; /* seconds; a build that has code for the GPU takes about one */

/* NCCL itself says that loading its kernels took most of a long initialisation, on every rank alike. */
static void tell_slow_kernels(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_rank *slowest = NULL;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->kernel_seconds < KERNELS_SLOW || 2 * r->kernel_seconds < r->init_seconds)
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_NOTE, "visibility", "certain");
        slowest = slowest && slowest->init_seconds >= r->init_seconds ? slowest : r;
        f->count++;
        nsc_name_rank(c, f, (uint64_t)r->rank);
        nsc_show(c, f, r->complete.line ? &r->complete : &r->first);
    }
    if (!f)
        return;
    f->title = nsc_words(c, "Initialisation took %.0f s, of which NCCL spent %.0f s on loading its kernels",
                         slowest->init_seconds, slowest->kernel_seconds);
    nsc_explain_by(c, f, NSC_SLOW_KERNELS);
}

void nsc_rule_slow_init(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    tell_slow_kernels(c);
    double *seconds = nsc_alloc((m->ranks.len + 1) * sizeof *seconds);
    c->f->no_memory = c->f->no_memory || !seconds;
    for (size_t i = 0; seconds && i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        double median = k->parent == NSC_NONE ? median_init(m, k, seconds) : -1;
        const struct nsc_rank *odd = NULL;
        uint32_t odds = 0;
        for (uint32_t n = 0; median >= 0 && n < k->count; n++) {
            const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + n]];
            double low = r->init_seconds < median ? r->init_seconds : median,
                   high = r->init_seconds < median ? median : r->init_seconds;
            if (low >= 0 && high > SLOW_FACTOR * low && high - low > SLOW_SECONDS) {
                odd = r;
                odds++;
            }
        }
        if (odds == 1)
            tell_slow(c, (uint32_t)i, odd, median);
    }
    nsc_free(seconds);
}

/* ---- ranks on another version ---- */

/* The release that a member says itself; 0: it says none. */
static unsigned release_of(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    struct nsc_version v = nsc_version_of(m, r->proc);
    return v.how == NSC_VERSION_SAID ? v.low : 0;
}

/* NCCL's own warning names two ranks: they are what it is about, beside who printed it. */
static void name_mixed(struct nsc_case *c, struct nsc_finding *f)
{
    nsc_text rest = nsc_say(c->m, f->began->text);
    for (nsc_text word = nsc_next_word(&rest); word.len; word = nsc_next_word(&rest)) {
        uint64_t rank;
        if (nsc_text_is(word, "rank") && nsc_to_u64(nsc_next_word(&rest), &rank))
            nsc_name_rank(c, f, rank);
    }
}

/* Two members of one communicator that say different releases, where NCCL's own warning is not in the log. */
void nsc_rule_version_mismatch(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    if (nsc_raised(c, NSC_ID_RANKS_VERSION_MISMATCH)) {
        name_mixed(c, &c->f->list.item[c->f->list.len - 1]);
        return;
    }
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        const struct nsc_rank *one = NULL, *other = NULL;
        for (uint32_t n = 0; k->parent == NSC_NONE && !other && n < k->count; n++) {
            const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + n]];
            unsigned release = release_of(m, r);
            one = one || !release ? one : r;
            other = one && release && release != release_of(m, one) ? r : NULL;
        }
        if (!other)
            continue;
        bool works = k->state == NSC_COMPLETE;
        const struct nsc_rank *both[2] = {one, other};
        struct nsc_finding *f =
            nsc_found(c, works ? NCCLSCOPE_WARNING : NCCLSCOPE_ERROR, "error", works ? "likely" : "certain");
        f->comm = (uint32_t)i;
        f->count = 2;
        f->title = nsc_words(
            c,
            "Ranks of one communicator run different versions of NCCL: rank %lld (host %s) %s, rank %lld (host %s) %s",
            (long long)one->rank, nsc_say(m, m->procs.item[one->proc].host).ptr,
            nsc_say(m, m->procs.item[one->proc].version).ptr, (long long)other->rank,
            nsc_say(m, m->procs.item[other->proc].host).ptr, nsc_say(m, m->procs.item[other->proc].version).ptr);
        f->part = works ? f->part : NSC_ROOT; /* what never came up could not */
        f->cause = "Nodes or pods run different images, or one loads another libnccl (pip wheel, LD_PRELOAD, "
                   "LD_LIBRARY_PATH).";
        for (int n = 0; n < 2; n++) {
            nsc_name_rank(c, f, (uint64_t)both[n]->rank);
            nsc_name_host(c, f, m->procs.item[both[n]->proc].host);
            nsc_show(c, f, &m->procs.item[both[n]->proc].version_at);
        }
        return;
    }
}

/* ---- two ranks on one GPU ---- */

/* "rank 6 and rank 4 both on CUDA device 31000", several times: "ranks 4 and 6 on 31000, 5 and 7 on 4b000". */
static void list_shared(struct nsc_case *c, struct nsc_finding *f)
{
    const struct ncclscope_model *m = c->m;
    char words[400];
    size_t n = 0, pairs = 0;
    struct nsc_map seen = {0};
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        ptrdiff_t at = e->kind == NCCLSCOPE_KIND_DUPLICATE_GPU ? nsc_text_find(e->where.text, " : rank ") : -1;
        unsigned a, b;
        char device[17], line[120] = "";
        nsc_text said = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(e->where.text, (size_t)at);
        if (said.len)
            snprintf(line, sizeof line, "%.*s", (int)(said.len < 119 ? said.len : 119), said.ptr);
        if (sscanf(line, " : rank %u and rank %u both on CUDA device %16[0-9a-f]", &a, &b, device) != 3)
            continue;
        struct nsc_key key = {a < b ? a : b, a < b ? b : a, m->procs.item[e->proc].host};
        if (nsc_map_get(&seen, key) != NSC_NONE || nsc_map_put(&seen, key, 0))
            continue;
        pairs++;
        if (n + 80 < sizeof words)
            n += (size_t)snprintf(words + n, sizeof words - n, "%s%u and %u on %s", n ? ", " : "", a < b ? a : b,
                                  a < b ? b : a, device);
    }
    nsc_map_free(&seen);
    if (pairs > 1)
        f->title = nsc_words(c, "%zu pairs of ranks use the same GPU: ranks %s", pairs, words);
}

/* "Duplicate GPU" between processes of different hosts: NCCL was told that they are one. */
void nsc_rule_same_gpu(struct nsc_case *c)
{
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].rule == c->rule)
            list_shared(c, &c->f->list.item[i]);
    const struct nsc_env *id = nsc_env_of(c->m, NSC_NONE, "NCCL_HOSTID");
    bool several = false;
    for (size_t i = 1; i < c->m->hosts.len; i++)
        several = several || c->m->hosts.item[i].machine != c->m->hosts.item[0].machine;
    for (size_t i = 0; id && several && i < c->f->list.len; i++) {
        struct nsc_finding *f = &c->f->list.item[i];
        if (f->rule != c->rule)
            continue;
        f->caused_by = NSC_ID_ENV_HOSTID;
        f->cause = nsc_words(
            c,
            "NCCL_HOSTID=%s makes processes of different host names one node to NCCL; GPUs of equal bus id on two "
            "machines then look like one.",
            nsc_say(c->m, id->value).ptr);
        nsc_show_first(c, f, &id->where);
    }
}
