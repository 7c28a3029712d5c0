/* rules_lost.c - ranks that vanished, by what the other processes of their host say: "[Service thread] Connection closed by localRank 3". A
 * rank has a local rank in each of its communicators, and the line does not name one. */
#include "rules/ask.h"
#include "rules/own_words.h"

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

/* Which of its communicator's ranks on its host it is, counted so; -1: it is none of them. */
static int64_t place_on_host(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    const struct nsc_comm *k = &m->comms.item[r->comm];
    int64_t at = -1, last = -1;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *x = &m->ranks.item[m->members.item[k->first + i]];
        if (m->procs.item[x->proc].host != m->procs.item[r->proc].host || x->rank == last)
            continue;
        last = x->rank;
        at++;
        if (x == r)
            return at;
    }
    return -1;
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

/* "[Service thread] Connection closed by localRank 0", and behind it "comm 0x1 rank 0 ... - Abort COMPLETE" of the same process, which is
 * local rank 0 there: its own threads hang up as it ends. Where they do, they do so for each communicator that it gives up. */
bool nsc_closes_own(const struct ncclscope_model *m, const struct nsc_event *e)
{
    enum { NEAR = 200 };
    const struct nsc_proc *p = &m->procs.item[e->proc];
    uint64_t seen = seen_closing(m, e->proc);
    bool own = false;
    for (uint32_t i = p->last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        const struct nsc_rank *r = &m->ranks.item[i];
        const struct nsc_where *end = r->aborted.line ? &r->aborted : &r->destroyed;
        if (r->comm == NSC_NONE || !is_after(end, &e->where) || end->line - e->where.line > NEAR)
            continue;
        int64_t n = r->local_rank >= 0 ? r->local_rank : place_on_host(m, r);
        if (n < 0 || n > 63 || !(seen >> n & 1))
            return false;
        own = own || n == e->number;
    }
    return own;
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
    bool by_design;        /* somebody closes himself, or the program ended well */
    uint32_t one_gone;     /* the one process that several others surely saw close, and no other was; or NSC_NONE */
    struct nsc_map local;  /* communicator, host and local rank to a rank */
    struct nsc_map closed; /* process and local rank to the rank that it may mean; that and 1: surely */
    struct nsc_map spoken; /* source and rank to the last line that PyTorch marks with it, index into model.happened */
    struct nsc_map waited; /* source to the last line by which a rank lost its patience, the same */
    struct nsc_map well;   /* pid to how many processes, as launchers say, exit successfully */
    struct nsc_map alike;  /* pid to how many processes have it */
};

/* Every rank by its communicator, its host and its place there, as lines say it, else counted by rank. */
static void index_places(struct nsc_case *c, struct closings *all)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map next = {0};
    for (uint32_t comm = 0; comm < m->comms.len; comm++) {
        const struct nsc_comm *k = &m->comms.item[comm];
        for (uint32_t i = 0; i < k->count; i++) {
            uint32_t at = m->members.item[k->first + i];
            const struct nsc_rank *r = &m->ranks.item[at];
            struct nsc_key host = {comm, m->procs.item[r->proc].host, 0};
            uint32_t n = nsc_map_get(&next, host);
            n = n == NSC_NONE ? 0 : n;
            struct nsc_key place = {comm, host.b, r->local_rank >= 0 ? (uint64_t)r->local_rank : n};
            bool failed = nsc_map_put(&next, host, n + 1) ||
                          (nsc_map_get(&all->local, place) == NSC_NONE && nsc_map_put(&all->local, place, at));
            c->f->no_memory = c->f->no_memory || failed;
        }
    }
    nsc_map_free(&next);
}

/* Whom the speaker calls localRank n: in each of its communicators that may be another. The one of the largest; *sure: of all the same, and not
 * the speaker itself. */
static const struct nsc_rank *closed_rank(struct nsc_case *c, struct closings *all, const struct nsc_event *e,
                                          bool *sure)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_proc *p = &m->procs.item[e->proc];
    struct nsc_key key = {e->proc, (uint64_t)e->number, 0}, surely = {e->proc, (uint64_t)e->number, 1};
    uint32_t best = nsc_map_get(&all->closed, key);
    *sure = true;
    if (p->last_rank == NSC_NONE)
        return local_rank(m, p->host, e->number);
    if (best != NSC_NONE) {
        *sure = nsc_map_get(&all->closed, surely) != NSC_NONE;
        return best == m->ranks.len ? NULL : &m->ranks.item[best];
    }
    const struct nsc_rank *most = NULL, *one = NULL;
    for (uint32_t i = p->last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        const struct nsc_rank *own = &m->ranks.item[i];
        struct nsc_key place = {own->comm, p->host, (uint64_t)e->number};
        uint32_t at = own->comm == NSC_NONE ? NSC_NONE : nsc_map_get(&all->local, place);
        const struct nsc_rank *r = at == NSC_NONE ? NULL : &m->ranks.item[at];
        if (!r)
            continue;
        *sure = *sure && (!one || one->proc == r->proc);
        one = r;
        most = !most || r->nranks > most->nranks ? r : most;
    }
    *sure = *sure && most && most->proc != e->proc;
    bool failed = nsc_map_put(&all->closed, key, most ? (uint32_t)(most - m->ranks.item) : (uint32_t)m->ranks.len) ||
                  (*sure && nsc_map_put(&all->closed, surely, 1));
    c->f->no_memory = c->f->no_memory || failed;
    return most;
}

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
    nsc_map_free(&all->local);
    nsc_map_free(&all->closed);
    nsc_map_free(&all->spoken);
    nsc_map_free(&all->waited);
    nsc_map_free(&all->well);
    nsc_map_free(&all->alike);
    nsc_vec_free(&all->of);
}

/* Where all end each sees those that end before it: that would be more than one. */
static void find_one_gone(struct nsc_case *c, struct closings *all)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map speakers = {0};
    bool several = all->by_design;
    for (size_t i = 0; i < m->events.len && !several; i++) {
        const struct nsc_event *e = &m->events.item[i];
        bool sure = false;
        const struct nsc_rank *r = e->kind == NCCLSCOPE_KIND_PEER_CLOSED ? closed_rank(c, all, e, &sure) : NULL;
        if (!r || !sure)
            continue;
        several = all->one_gone != NSC_NONE && all->one_gone != r->proc;
        all->one_gone = r->proc;
        if (nsc_map_put(&speakers, (struct nsc_key){e->proc, 0, 0}, 0))
            c->f->no_memory = true;
    }
    if (several || speakers.used < 2)
        all->one_gone = NSC_NONE;
    nsc_map_free(&speakers);
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

/* Had a rank of its communicator given up already? Then the job was coming down. */
static bool aborted_before(const struct ncclscope_model *m, const struct nsc_rank *r, const struct nsc_where *w)
{
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *x = &m->ranks.item[i];
        if (x->comm == r->comm && x->aborted.line && x->aborted.source == w->source && x->aborted.line < w->line)
            return true;
    }
    return false;
}

/* Do all others of its communicator close what they have? */
static bool is_only_one_open(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    const struct nsc_comm *k = r->comm == NSC_NONE ? NULL : &m->comms.item[r->comm];
    bool all = k && k->count > 1;
    for (uint32_t i = 0; all && i < k->count; i++) {
        const struct nsc_rank *x = &m->ranks.item[m->members.item[k->first + i]];
        all = x == r || closes_itself(m, x);
    }
    return all;
}

static void list_torch_lines(struct nsc_case *c, struct closings *all)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->torch_rank < 0)
            continue;
        struct nsc_key speaker = {r->where.source, (uint64_t)r->torch_rank, 0}, source = {r->where.source, 0, 0};
        bool failed = nsc_map_put(&all->spoken, speaker, (uint32_t)i) ||
                      (nsc_timed_out(r) && nsc_map_put(&all->waited, source, (uint32_t)i));
        c->f->no_memory = c->f->no_memory || failed;
    }
}

static void count_one(struct nsc_case *c, struct nsc_map *of, uint64_t pid)
{
    struct nsc_key key = {pid, 0, 0};
    uint32_t n = nsc_map_get(of, key);
    if (nsc_map_put(of, key, n == NSC_NONE ? 1 : n + 1))
        c->f->no_memory = true;
}

/* Processes of several hosts may have one pid. */
static void count_good_exits(struct nsc_case *c, struct closings *all)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        uint64_t pid;
        if (nsc_exits_well(m, r) && nsc_to_u64(nsc_word_behind(nsc_said(m, r, "text"), "Process "), &pid))
            count_one(c, &all->well, pid);
    }
    for (size_t i = 0; i < m->proc_order.len && all->well.used; i++)
        count_one(c, &all->alike, (uint64_t)m->procs.item[m->proc_order.item[i]].pid);
}

static bool exited_well(const struct closings *all, const struct nsc_proc *p)
{
    struct nsc_key pid = {(uint64_t)p->pid, 0, 0};
    uint32_t well = nsc_map_get(&all->well, pid);
    return well != NSC_NONE && well >= nsc_map_get(&all->alike, pid);
}

/* Did a rank lose its patience behind that line, by PyTorch's watchdog, while the one whose connection had closed said nothing more? PyTorch's
 * numbers are those of the job. */
static bool is_waited_for(const struct ncclscope_model *m, const struct closings *all, const struct nsc_where *closed,
                          const struct nsc_rank *gone)
{
    uint32_t waited = nsc_map_get(&all->waited, (struct nsc_key){closed->source, 0, 0}),
             spoken = nsc_map_get(&all->spoken, (struct nsc_key){closed->source, (uint64_t)gone->rank, 0});
    return gone->nranks == m->whole.most_ranks && waited != NSC_NONE &&
           m->happened.item[waited].where.line > closed->line &&
           (spoken == NSC_NONE || m->happened.item[spoken].where.line < closed->line);
}

/* Its own lines behind that speak against it: unless `ordered` is false, where they may be of another run, or out of their order. */
static bool is_lost(const struct ncclscope_model *m, const struct closings *all, const struct nsc_event *e,
                    const struct nsc_rank *r, bool ordered)
{
    const struct nsc_proc *speaker = &m->procs.item[e->proc], *gone = &m->procs.item[r->proc];
    if (speaker == gone || is_after(&e->where, &speaker->closing_at) || closes_itself(m, r) || nsc_closes_own(m, e))
        return false; /* who tells of its own connections is there */
    if (exited_well(all, gone))
        return false;
    bool speaks_on = gone->source == e->where.source && gone->last_line > e->where.line;
    bool seen = all_saw_the_same(m, all, e) || all->one_gone == r->proc;
    return (ordered ? !speaks_on && (others_close(m, r) || seen || is_waited_for(m, all, &e->where, r))
                    : (seen || is_only_one_open(m, r)) && !nsc_success_of(m)) &&
           !aborted_before(m, r, &e->where);
}

/* The same where no line says which rank has this place on its host. */
static void tell_nameless_loss(struct nsc_case *c, struct closings *all)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    const struct nsc_event *first = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        bool sure;
        if (e->kind != NCCLSCOPE_KIND_PEER_CLOSED || m->procs.item[e->proc].nameless || closed_rank(c, all, e, &sure) ||
            !all_saw_the_same(m, all, e) || (first && m->procs.item[e->proc].host != m->procs.item[first->proc].host))
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
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
    nsc_explain_by(c, f, 0);
}

/* "rank 3: timed out waiting for a collective" before the first connection of that rank closes: it left of its own accord. */
static bool tell_own_word(struct nsc_case *c, struct nsc_finding *f, const struct nsc_rank *first)
{
    const struct nsc_own_record *r = nsc_word_of_end(c->m, first->rank, &first->first, &f->began->where);
    if (!r)
        return false;
    f->title = nsc_words(c, "%s; before that %s", f->title, nsc_quote_rank(c, r));
    nsc_show_first(c, f, &r->where);
    nsc_explain_by(c, f, NSC_LOST_BY_ITS_WORD);
    return true;
}

/* "<NO_OTHER_FAILURES>", and below "Root Cause" another rank, by the launcher of the one host that there is: what it watched of this rank was a
 * good end. NULL: no line says so. */
static const struct nsc_own_record *listed_as_well(const struct ncclscope_model *m, const struct nsc_rank *lost,
                                                   const struct nsc_where *closed)
{
    enum { NEAR = 12 };
    const struct nsc_own_record *alone = nsc_first_heard(m, NCCLSCOPE_KIND_RUN_ALONE),
                                *end = m->happened.item + m->happened.len;
    while (alone && alone < end &&
           (alone->number != NCCLSCOPE_KIND_RUN_ALONE || alone->where.source != closed->source ||
            alone->where.line < closed->line))
        alone++;
    alone = alone == end ? NULL : alone;
    int64_t rank;
    for (const struct nsc_own_record *r = alone; r && m->hosts.len == 1 && r < end; r++) {
        if (r->where.source != alone->where.source || r->where.line > alone->where.line + NEAR)
            break;
        if (r->number == NCCLSCOPE_KIND_RUN_RANK && nsc_number_said(m, r, "rank", &rank))
            return rank == lost->rank || lost->nranks != m->whole.most_ranks ? NULL : alone;
    }
    return NULL;
}

/* False: there is none. */
static bool tell_losses(struct nsc_case *c, struct closings *all, bool ordered, bool surely)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    const struct nsc_rank *first = NULL;
    bool before = false;                         /* had another's connections closed by then? */
    for (size_t i = 0; i < m->events.len; i++) { /* in the order of the input: the first one lost is the root */
        const struct nsc_event *e = &m->events.item[i];
        bool sure = false;
        const struct nsc_rank *r = e->kind == NCCLSCOPE_KIND_PEER_CLOSED ? closed_rank(c, all, e, &sure) : NULL;
        r = surely && !sure ? NULL : r;
        bool lost = r && is_lost(m, all, e, r, ordered) && (!first || r->proc == first->proc);
        before = before || (r && !lost && !first);
        if (!lost)
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
        f->part = NSC_WAKE;
        f->began = f->began ? f->began : e;
        first = r;
        f->count++;
        nsc_show(c, f, &e->where);
    }
    if (!f)
        return false;
    f->comm = first->comm;
    nsc_name_rank(c, f, (uint64_t)first->rank);
    nsc_name_host(c, f, m->procs.item[first->proc].host);
    f->title = nsc_words(
        c, "Rank %lld vanished%s (host %s, pid %lld): its peers saw its connections close before any teardown",
        (long long)first->rank, before || !ordered ? "" : " first", nsc_say(m, m->procs.item[first->proc].host).ptr,
        (long long)m->procs.item[first->proc].pid);
    const struct nsc_own_record *well = listed_as_well(m, first, &f->began->where);
    nsc_show(c, f, well ? &well->where : NULL);
    if (!tell_own_word(c, f, first))
        nsc_explain_by(c, f, well ? NSC_LOST_AND_NO_FAILURE : 0);
    if (!ordered) {
        f->severity = NCCLSCOPE_SEVERITY_WARNING;
        f->confidence = "possible";
        f->title = nsc_words(c, "%s; but lines of this rank follow here, from another run or out of order", f->title);
    }
    return true;
}

void nsc_rule_ranks_lost(struct nsc_case *c)
{
    struct closings all = {.one_gone = NSC_NONE};
    gather_closings(c, &all);
    if (nsc_event_of(c->m, NSC_NONE, NCCLSCOPE_KIND_PEER_CLOSED)) {
        index_places(c, &all);
        count_good_exits(c, &all);
        list_torch_lines(c, &all);
        find_one_gone(c, &all);
        bool one = all.one_gone != NSC_NONE;
        if (!(one && tell_losses(c, &all, true, true)) && !tell_losses(c, &all, true, false) &&
            !tell_losses(c, &all, false, false))
            tell_nameless_loss(c, &all);
    }
    free_closings(&all);
}
