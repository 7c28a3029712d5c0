/* rules_stuck.c - ranks that waited in a collective until PyTorch's watchdog gave up: who waits, and for whom. */
#include "rules/stacks.h"
#include "rules/watchdog.h"

#include <stdio.h>

/* Who waits in the stuck work, and, of one group, who has not even called it. */
static void sort_ranks(struct nsc_case *c, struct nsc_finding *f, nsc_text group, bool one_group,
                       const struct nsc_stuck *of_rank, int64_t seq, int64_t *waiting, int64_t *highest)
{
    const struct ncclscope_model *m = c->m;
    bool *seen = nsc_alloc(NSC_MOST_STUCK);
    *waiting = 0;
    *highest = -1;
    for (size_t i = 0; seen && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank, enqueued;
        if ((!nsc_tells_waiting(m, r) && !nsc_tells_work(m, r)) || !nsc_is_of_group(m, r, group) ||
            !nsc_torch_rank_of(m, r, &rank) || rank < 0 || rank >= NSC_MOST_STUCK)
            continue;
        *highest = rank > *highest ? rank : *highest;
        if (nsc_tells_waiting(m, r) && !seen[rank]) {
            seen[rank] = true;
            ++*waiting;
            const struct nsc_own_record *own = of_rank[rank].line; /* r may name no group */
            nsc_show(c, f, own ? &own->where : nsc_is_of_any_group(r) ? NULL : &r->where);
        }
        if (one_group && r == of_rank[rank].work && nsc_number_said(m, r, "enqueued", &enqueued) && enqueued < seq &&
            !of_rank[rank].waits) {
            nsc_name_rank(c, f, (uint64_t)rank);
            nsc_show_first(c, f, &r->where);
        }
    }
    nsc_free(seen);
}

/* Without a line of its own a rank is silent: name those below the job's size. */
static void name_silent(struct nsc_case *c, struct nsc_finding *f, const struct nsc_stuck *of_rank, int64_t size)
{
    for (int64_t rank = 0; rank < size && rank < NSC_MOST_STUCK; rank++)
        if (!of_rank[rank].waits)
            nsc_name_rank(c, f, (uint64_t)rank);
}

enum { EACH_TOLD = 6 };

/* "rank 1 is in BROADCAST, work 7; rank 4 in ALLREDUCE, work 1145; furthest behind is rank 1": each with its own place. */
static const char *tell_each(struct nsc_case *c, const struct nsc_stuck *of_rank, const struct nsc_stuck *most)
{
    char words[700];
    size_t n = 0, told = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < NSC_MOST_STUCK; i++) {
        const struct nsc_stuck *s = &of_rank[i];
        if (!s->line)
            continue;
        last = last < 0 || s->seq < of_rank[last].seq ? i : last;
        if (nsc_is_same_work(most, s) || told++ >= EACH_TOLD || n + 80 > sizeof words)
            continue;
        n += (size_t)snprintf(words + n, sizeof words - n, "%srank %lld in %.*s, work %lld", n ? ", " : "",
                              (long long)i, (int)nsc_op_of(s).len, nsc_op_of(s).ptr, (long long)s->seq);
    }
    return nsc_words(c, "%s%s; rank %lld is furthest behind (work %lld)", words,
                     told > EACH_TOLD ? " and others elsewhere" : "", (long long)last,
                     last < 0 ? -1LL : (long long)of_rank[last].seq);
}

/* Ranks that are in other work than most: named, the first described; NULL if there is none. Who is behind can be told within one
 * group alone. */
static const char *tell_odd(struct nsc_case *c, struct nsc_finding *f, const struct nsc_stuck *of_rank,
                            const struct nsc_stuck *most, bool one_group)
{
    const struct nsc_stuck *odd = NULL;
    for (int64_t i = 0; i < NSC_MOST_STUCK; i++) {
        if (!of_rank[i].line || nsc_is_same_work(most, &of_rank[i]))
            continue;
        odd = odd ? odd : &of_rank[i];
        nsc_name_rank(c, f, (uint64_t)i);
    }
    if (!odd)
        return NULL;
    nsc_show_first(c, f, &odd->line->where);
    const char *who = nsc_list_ranks(c, f), *be = f->ranks.len == 1 ? "is" : "are";
    if (!one_group)
        return nsc_words(c, "%s waited too, %sin %.*s, work %lld", who, f->ranks.len == 1 ? "" : "the first of them ",
                         (int)nsc_op_of(odd).len, nsc_op_of(odd).ptr, (long long)odd->seq);
    if (!nsc_all_alike(of_rank, most, odd))
        return tell_each(c, of_rank, most);
    if (odd->seq == most->seq)
        return nsc_words(c, "%s called %.*s instead", who, (int)odd->op.len, odd->op.ptr);
    return nsc_words(c, "%s %s %s in %.*s, work %lld", who, be, odd->seq < most->seq ? "still" : "already",
                     (int)nsc_op_of(odd).len, nsc_op_of(odd).ptr, (long long)odd->seq);
}

enum { RANKS_NAMED = 8 };

/* "Rank 6", "Ranks 3, 5", "12 ranks": who is in this work. */
static const char *who_waits(struct nsc_case *c, const struct nsc_stuck *of_rank, const struct nsc_stuck *s,
                             int64_t ranks)
{
    struct nsc_finding some = {.rule = c->rule};
    for (int64_t i = 0; i < NSC_MOST_STUCK && ranks <= RANKS_NAMED; i++)
        if (of_rank[i].line && nsc_is_same_work(s, &of_rank[i]))
            nsc_name_rank(c, &some, (uint64_t)i);
    const char *words = nsc_words(c, "%lld rank%s", (long long)ranks, ranks == 1 ? "" : "s");
    if ((int64_t)some.ranks.len == ranks) {
        const char *list = nsc_list_ranks(c, &some);
        words = nsc_words(c, "R%s", list + (*list == 'r'));
    }
    nsc_vec_free(&some.ranks);
    nsc_map_free(&some.named);
    return words;
}

/* "Ranks 3, 5 waited 120 s in BROADCAST, work 3 of PG ID 1 PG GUID 7(mesh_tp)", "Rank 6 waited ..." */
static const char *tell_where(struct nsc_case *c, nsc_text group, const struct nsc_stuck *of_rank,
                              const struct nsc_stuck *s, int64_t ranks)
{
    const char *who = who_waits(c, of_rank, s, ranks);
    int64_t ran = 0;
    nsc_number_said(c->m, s->line, "ran_ms", &ran);
    const char *time = ran ? nsc_words(c, "waited %lld s", (long long)(ran / 1000)) : "timed out";
    return nsc_words(c, "%s %s in %.*s, work %lld%s%.*s", who, time, (int)nsc_op_of(s).len, nsc_op_of(s).ptr,
                     (long long)s->seq, nsc_is_whole_job(group) ? "" : " of ",
                     nsc_is_whole_job(group) ? 0 : (int)group.len, group.len ? group.ptr : "");
}

/* "...with different sizes: rank 0 NumelIn=64, NumelOut=64, rank 1 NumelIn=72, NumelOut=72" */
static const char *tell_sizes(struct nsc_case *c, const char *where, const struct nsc_stuck *of_rank,
                              const struct nsc_stuck *one, const struct nsc_stuck *odd)
{
    nsc_text a = nsc_sizes_of(c->m, one), b = nsc_sizes_of(c->m, odd);
    return nsc_words(c, "%s, with different sizes: rank %lld %.*s, rank %lld %.*s", where, (long long)(one - of_rank),
                     (int)a.len, a.ptr, (long long)(odd - of_rank), (int)b.len, b.ptr);
}

/* The ranks that the log shows are in one work: do their sizes say more than `why`? Two that differ tell enough, whatever the rest does. */
static enum nsc_hang_reason compare_sizes(struct nsc_case *c, struct nsc_finding *f, const struct nsc_stuck *of_rank,
                                          const struct nsc_stuck *most, enum nsc_hang_reason why)
{
    const struct nsc_stuck *one, *odd = nsc_find_other_size(c->m, of_rank, most, &one);
    if (odd && nsc_has_one_size(most->op)) {
        f->title = tell_sizes(c, f->title, of_rank, one, odd);
        nsc_show_first(c, f, &odd->line->where);
        return why == NSC_HUNG_ALIKE ? NSC_HUNG_SIZES : NSC_HUNG_SIZES_OF_SOME;
    }
    return why == NSC_HUNG_ALIKE && (odd || !one) ? NSC_HUNG_SIZES_UNSAID : why;
}

/* Did the program run out of GPU memory somewhere before this? Who did so does not come to the collectives that others wait in. */
static bool ran_out_before(const struct ncclscope_model *m, const struct nsc_where *w)
{
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number == NCCLSCOPE_KIND_TORCH_OOM && r->where.source == w->source && r->where.line < w->line)
            return true;
    }
    return false;
}

/* Are NCCL's lines of as many ranks in the input? */
static bool are_all_here(const struct ncclscope_model *m, int64_t ranks)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].nranks == ranks && m->comms.item[i].seen == ranks)
            return true;
    return false;
}

/* Hosts of the communicator on which a rank does not wait. */
static bool find_unstuck(const struct ncclscope_model *m, const struct nsc_comm *k, const struct nsc_stuck *of_rank,
                         struct nsc_map *unstuck)
{
    bool fine = true;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        struct nsc_key host = {m->procs.item[r->proc].host, 0, 0};
        if (r->rank >= 0 && r->rank < NSC_MOST_STUCK && !of_rank[r->rank].line)
            fine = !nsc_map_put(unstuck, host, 0) && fine;
    }
    return fine;
}

/* "; all ranks of node1 wait": of a job on several hosts, those of which every rank does, where not all hosts are so. */
static const char *tell_hosts(struct nsc_case *c, const struct nsc_stuck *of_rank, int64_t size)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map unstuck = {0};
    nsc_str stuck = 0;
    bool several = false;
    size_t i = 0;
    while (i < m->comms.len && (m->comms.item[i].nranks != size || m->comms.item[i].seen != size))
        i++;
    if (i == m->comms.len || size > NSC_MOST_STUCK)
        return "";
    const struct nsc_comm *k = &m->comms.item[i];
    c->f->no_memory = !find_unstuck(m, k, of_rank, &unstuck) || c->f->no_memory;
    for (uint32_t n = 0; n < k->count; n++) {
        nsc_str host = m->procs.item[m->ranks.item[m->members.item[k->first + n]].proc].host;
        if (nsc_map_get(&unstuck, (struct nsc_key){host, 0, 0}) != NSC_NONE)
            continue;
        several = several || (stuck && stuck != host);
        stuck = host;
    }
    nsc_map_free(&unstuck);
    return stuck && !several
               ? nsc_words(c, " All ranks of %.60s wait, but not all other ranks do.", nsc_say(m, stuck).ptr)
               : "";
}

/* A rank that said behind the first time-out that it had not come to that work, and that waits in a later one afterwards: it came
 * late. NULL: none did. */
static const struct nsc_own_record *came_late(const struct ncclscope_model *m, nsc_text group,
                                              const struct nsc_stuck *of_rank, const struct nsc_stuck *first)
{
    for (size_t i = 0; first && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank, enqueued;
        if (!nsc_tells_work(m, r) || r->where.source != first->line->where.source ||
            r->where.line < first->line->where.line || !nsc_is_of_group(m, r, group) ||
            !nsc_torch_rank_of(m, r, &rank) || rank < 0 || rank >= NSC_MOST_STUCK ||
            !nsc_number_said(m, r, "enqueued", &enqueued) || enqueued >= first->seq)
            continue;
        const struct nsc_stuck *own = &of_rank[rank];
        if (own->line && own->seq > first->seq && own->line->where.line > r->where.line)
            return r;
    }
    return NULL;
}

static void tell_late(struct nsc_case *c, nsc_text group, const struct nsc_stuck *of_rank,
                      const struct nsc_stuck *first, const struct nsc_own_record *late)
{
    int64_t waiting = 0, rank = -1, enqueued = -1;
    nsc_torch_rank_of(c->m, late, &rank);
    nsc_number_said(c->m, late, "enqueued", &enqueued);
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
    for (int64_t i = 0; i < NSC_MOST_STUCK; i++)
        waiting += of_rank[i].line && nsc_is_same_work(first, &of_rank[i]);
    f->count = (uint64_t)waiting;
    nsc_name_rank(c, f, (uint64_t)rank);
    nsc_explain_by(c, f, NSC_HUNG_LATE);
    f->title = nsc_words(c, "%s; rank %lld had only reached work %lld by then, and went on later",
                         tell_where(c, group, of_rank, first, waiting), (long long)rank, (long long)enqueued);
    nsc_show(c, f, &first->line->where);
    nsc_show(c, f, &late->where);
    nsc_show(c, f, &of_rank[rank].line->where);
}

/* Of ranks that no time-out is of: those that had ended their communicator before. Shows where. */
static bool had_left(struct nsc_case *c, struct nsc_finding *f, const struct nsc_stuck *most, int64_t size)
{
    const struct ncclscope_model *m = c->m;
    size_t i = 0, left = 0;
    while (i < m->comms.len && (m->comms.item[i].nranks != size || m->comms.item[i].seen != size))
        i++;
    for (size_t k = 0; i < m->comms.len && k < f->ranks.len; k++) {
        const struct nsc_rank *r = nsc_member(m, (uint32_t)i, (int64_t)f->ranks.item[k]);
        const struct nsc_where *end = !r ? NULL : r->aborted.line ? &r->aborted : &r->destroyed;
        if (!end || !end->line || end->source != most->line->where.source || end->line > most->line->where.line)
            return false;
        nsc_show_first(c, f, end);
        left++;
    }
    return left > 0;
}

/* How many ranks of the job the group has, where that is all of them; 0: not so, or not known. */
static int64_t size_of_whole(const struct ncclscope_model *m, nsc_text group, bool several)
{
    int64_t size = nsc_size_of_job(m);
    for (size_t i = 0; i < m->happened.len && !nsc_is_whole_job(group); i++)
        if (m->happened.item[i].torch_rank >= size) /* the largest communicator that is here is not the job */
            return 0;
    return nsc_is_whole_job(group) || (!several && nsc_has_all_up_to(m, group, size - 1)) ? size : 0;
}

/* Did all ranks that are named end their communicator in good order behind the first time-out, after all? The first of them; NULL: not all. */
static const struct nsc_rank *ended_later(const struct ncclscope_model *m, const struct nsc_finding *f,
                                          const struct nsc_stuck *most, int64_t size)
{
    const struct nsc_rank *first = NULL;
    size_t i = 0;
    while (i < m->comms.len && (m->comms.item[i].nranks != size || m->comms.item[i].seen != size))
        i++;
    for (size_t k = 0; i < m->comms.len && k < f->ranks.len; k++) {
        const struct nsc_rank *r = nsc_member(m, (uint32_t)i, (int64_t)f->ranks.item[k]);
        if (!r || r->destroyed.line < most->line->where.line || r->destroyed.source != most->line->where.source ||
            r->aborted.line)
            return NULL;
        first = first ? first : r;
    }
    return first;
}

/* Does a rank that had not called the work answer behind the time-out? PyTorch's own thread does, in a process that lives. */
static bool answers(const struct nsc_finding *f, const struct nsc_stuck *of_rank, const struct nsc_stuck *most)
{
    for (size_t i = 0; i < f->ranks.len; i++) {
        const struct nsc_own_record *r = f->ranks.item[i] < NSC_MOST_STUCK ? of_rank[f->ranks.item[i]].work : NULL;
        if (!r || r->number != NCCLSCOPE_KIND_TORCH_DUMP || r->where.source != most->line->where.source ||
            r->where.line < most->line->where.line)
            return false;
    }
    return f->ranks.len > 0;
}

/* Where PyTorch's flight recorder runs already, what it wrote tells more than what could be switched on. */
static void point_at_dumps(struct nsc_case *c, struct nsc_finding *f)
{
    const struct nsc_own_record *dump = nsc_first_heard(c->m, NCCLSCOPE_KIND_TORCH_DUMP);
    static const char advice[] = "TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1 tell";
    bool off = nsc_first_heard(c->m, NCCLSCOPE_KIND_TORCH_NO_STACK);
    const char *at = dump && !off && f->fix ? strstr(f->fix, advice) : NULL;
    if (at)
        f->fix = nsc_words(c,
                           "%.*sPyTorch's flight recorder was told to dump (%s): where it ran, torchfrtrace "
                           "reads its files (comm_lib_trace_rank_* or nccl_trace_rank_*), which tell%s",
                           (int)(at - f->fix), f->fix, nsc_line_in(c, &dump->where), at + sizeof advice - 1);
}

/* "Received a dump signal due to a collective timeout from this local rank": of ranks whose line that names the work is not here. */
static const char *other_timeouts(struct nsc_case *c, const struct nsc_stuck *of_rank)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding others = {.rule = c->rule};
    int64_t rank;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number == NCCLSCOPE_KIND_TORCH_DUMP && nsc_text_find(r->where.text, "from this local rank") >= 0 &&
            nsc_torch_rank_of(m, r, &rank) && rank >= 0 && rank < NSC_MOST_STUCK && !of_rank[rank].line)
            nsc_name_rank(c, &others, (uint64_t)rank);
    }
    const char *who = others.ranks.len ? nsc_list_ranks(c, &others) : NULL;
    nsc_finding_free(&others);
    return who ? nsc_words(c, " A line about a dump says that %s timed out, too; of which work is not said.", who) : "";
}

/* "RuntimeError: [.../gloo/transport/tcp/pair.cc:534] Connection closed by peer [...]": what others raise over a rank whose watchdog ended it
 * is told with that. */
static const char *closed_by_gloo(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; nsc_first_heard(m, NCCLSCOPE_KIND_PY_RAISED) && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        nsc_text reason = nsc_said(m, r, "reason");
        if (r->number == NCCLSCOPE_KIND_PY_RAISED && nsc_text_find(reason, "gloo/") >= 0 &&
            nsc_text_find(reason, "Connection closed by peer") >= 0)
            return nsc_words(c,
                             " A process also raised that Gloo's connection was closed by its peer (%s), as happens "
                             "where the other has ended.",
                             nsc_line_in(c, &r->where));
    }
    return "";
}

/* Ranks of a group that is known, and that no time-out is of. Returns why. */
static enum nsc_hang_reason tell_silent(struct nsc_case *c, struct nsc_finding *f, const struct nsc_stuck *of_rank,
                                        const struct nsc_stuck *most, int64_t size, const char *where)
{
    name_silent(c, f, of_rank, size);
    bool left = had_left(c, f, most, size);
    f->confidence = left ? "likely" : "possible";
    f->title = left ? nsc_words(c, "%s; %s had ended its communicator before", where, nsc_list_ranks(c, f))
                    : nsc_words(c, "%s; this input has no time-out of %s", where, nsc_list_ranks(c, f));
    return left ? NSC_HUNG_LEFT : NSC_HUNG_SILENT;
}

/* Ranks of which the group's sizes tell alone. */
static void tell_rest(struct nsc_case *c, struct nsc_finding *f, int64_t others, const char *where)
{
    f->confidence = "possible";
    f->title = others == 1 ? nsc_words(c, "%s; this input has no time-out of the group's other rank", where)
                           : nsc_words(c, "%s; this input has no time-out of the group's other %lld ranks", where,
                                       (long long)others);
}

static void tell_watchdog_of(struct nsc_case *c, nsc_text group, const struct nsc_stuck *of_rank)
{
    const struct ncclscope_model *m = c->m;
    int64_t count, waiting, highest;
    const struct nsc_stuck *most = nsc_most_common(of_rank, &count);
    if (!most) /* ranks beyond all reason */
        return;
    bool several = nsc_is_name_of_several(m, group); /* who waits for whom can be told within one group alone */
    int64_t size = size_of_whole(m, group, several);
    const struct nsc_stuck *first = nsc_earliest(of_rank);
    const struct nsc_own_record *late = several ? NULL : came_late(m, group, of_rank, first);
    if (late) {
        tell_late(c, group, of_rank, first, late);
        return;
    }
    int64_t members = several ? 0 : nsc_size_by_elements(m, most); /* of this group */
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
    sort_ranks(c, f, group, !several, of_rank, most->seq, &waiting, &highest);
    f->count = (uint64_t)waiting;
    const char *who = f->ranks.len ? nsc_list_ranks(c, f) : NULL;
    const char *odd = who ? NULL : tell_odd(c, f, of_rank, most, group.len > 0 && !several);
    const char *where = tell_where(c, group, of_rank, most, who ? waiting : count);
    where = several ? nsc_words(c, "%s, a name that several groups share", where) : where;
    enum nsc_hang_reason why = who                                ? NSC_HUNG_NOT_CALLED
                               : odd && (!group.len || several)   ? NSC_HUNG_UNGROUPED
                               : odd                              ? NSC_HUNG_ELSEWHERE
                               : size > waiting && highest < size ? NSC_HUNG_SILENT
                               : size && size == count            ? NSC_HUNG_ALIKE
                               : size && size == waiting          ? NSC_HUNG_GIVEN_UP
                               : members > count                  ? NSC_HUNG_REST
                               : members && members == count      ? NSC_HUNG_ALIKE
                                                                  : NSC_HUNG_UNCOUNTED;
    f->title = where;
    why = who || odd ? why : compare_sizes(c, f, of_rank, most, why);
    bool sends = nsc_text_is(most->op, "SEND"), one_way = sends || nsc_text_is(most->op, "RECV");
    if (one_way && (why == NSC_HUNG_ALIKE || why == NSC_HUNG_SIZES_UNSAID)) {
        why = NSC_HUNG_ONE_WAY;
        f->title = nsc_words(c, "%s, and none of them %s", f->title, sends ? "receives" : "sends");
    }
    why = why == NSC_HUNG_ALIKE && most->seq == 1 ? NSC_HUNG_FIRST : why;
    if (why == NSC_HUNG_SILENT)
        why = tell_silent(c, f, of_rank, most, size, where);
    else if (why == NSC_HUNG_REST)
        tell_rest(c, f, members - count, where);
    else if (who || odd)
        f->title = nsc_words(c, "%s; %s%s", where, who ? who : odd, who ? " had not called it" : "");
    const struct nsc_rank *later =
        why == NSC_HUNG_SILENT || why == NSC_HUNG_NOT_CALLED ? ended_later(m, f, most, size) : NULL;
    if (later) {
        nsc_show_first(c, f, &later->destroyed);
        f->title = nsc_words(c, "%s; %s ended %s communicator normally after that (%s)", f->title, nsc_list_ranks(c, f),
                             f->ranks.len == 1 ? "its" : "their", nsc_line_in(c, &later->destroyed));
        f->confidence = "likely";
        why = why == NSC_HUNG_SILENT ? NSC_HUNG_LEFT_LATER : NSC_HUNG_CAME_AT_LAST;
    } else if (why == NSC_HUNG_NOT_CALLED && answers(f, of_rank, most)) {
        why = NSC_HUNG_NOT_CALLED_ALIVE;
    }
    bool differ, sizes = why == NSC_HUNG_SIZES || why == NSC_HUNG_SIZES_OF_SOME;
    const char *stacks = nsc_tell_stacks(c, of_rank, &differ);
    if (sizes && differ) { /* a barrier is an ALLREDUCE of one element */
        f->title = nsc_words(c, "%s, in different calls: %s", where, stacks);
        why = NSC_HUNG_ELSEWHERE;
    }
    bool whole = size && are_all_here(m, size), rooted = nsc_are_all_rooted(of_rank);
    if (why == NSC_HUNG_SILENT && (rooted || whole))
        why = rooted ? NSC_HUNG_ROOTED_SILENT : NSC_HUNG_SILENT_HERE;
    else if (odd && rooted)
        why = NSC_HUNG_ROOTED_APART;
    bool open = why == NSC_HUNG_UNGROUPED || why == NSC_HUNG_ROOTED_APART;
    f->confidence = open ? "possible" : f->confidence;
    f->caused_by = ran_out_before(m, &most->line->where) ? NSC_ID_FAILURE_MEMORY : NSC_ID_NONE;
    nsc_explain_by(c, f, (int)why);
    point_at_dumps(c, f);
    f->cause = nsc_words(c, "%s%s%s%s%s", f->cause,
                         stacks && !(sizes && differ) ? nsc_words(c, " PyTorch's stacks show that %s.", stacks) : "",
                         closed_by_gloo(c),
                         why == NSC_HUNG_REST || why == NSC_HUNG_UNCOUNTED ? other_timeouts(c, of_rank) : "",
                         why == NSC_HUNG_ROOTED_SILENT && whole ? tell_hosts(c, of_rank, size) : "");
}

static void tell_watchdog(struct nsc_case *c, nsc_text group)
{
    struct nsc_stuck *of_rank = nsc_alloc(NSC_MOST_STUCK * sizeof *of_rank);
    c->f->no_memory = c->f->no_memory || !of_rank;
    if (of_rank) {
        nsc_find_stuck(c->m, group, of_rank);
        tell_watchdog_of(c, group, of_rank);
    }
    nsc_free(of_rank);
}

/* A time-out, by the watchdog's line or by the one that follows it; "failure detected by watchdog" may be an error of NCCL. */
static bool tells_timeout(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    return nsc_timed_out(r) || (nsc_gave_up(m, r) && nsc_text_find(nsc_said(m, r, "reason"), "Timeout at") >= 0);
}

/* Beside the first that is told. */
static void tell_more_groups(struct nsc_case *c, size_t from, size_t more)
{
    struct nsc_finding *f = from < c->f->list.len ? &c->f->list.item[from] : NULL;
    if (f && f->title)
        f->title = nsc_words(c, "%s; ranks of %zu more groups waited in vain, too", f->title, more);
}

/* Works are numbered in each process group on its own: each has its finding, up to so many. */
void nsc_tell_watchdogs(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    enum { GROUPS = 64 };
    struct nsc_intern seen = {0};
    size_t groups = 0, from = c->f->list.len;
    bool unnamed = false; /* older releases do not say of which group a work is */
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t seq;
        if (!tells_timeout(m, r) || !nsc_number_said(m, r, "seq", &seq))
            continue;
        nsc_text group = nsc_group_of(m, r);
        if (group.len ? nsc_intern_find(&seen, group) != 0 : unnamed)
            continue;
        unnamed = unnamed || !group.len;
        c->f->no_memory = c->f->no_memory || (group.len && !nsc_intern(&seen, group));
        if (groups++ < GROUPS)
            tell_watchdog(c, group);
    }
    if (groups > GROUPS)
        tell_more_groups(c, from, groups - 1);
    nsc_intern_free(&seen);
}
