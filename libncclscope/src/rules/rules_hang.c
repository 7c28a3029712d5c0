/* rules_hang.c - what other programs say of a job that stopped or failed: PyTorch, nccl-tests, launchers. */
#include "rules/ask.h"
#include "rules/raised.h"
#include "rules/watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 65536 };

/* Does the group have all ranks of the job? Only there can silent ones be named. */
static bool is_whole_job(nsc_text group)
{
    return !group.len || nsc_text_find(group, "default") >= 0 || nsc_text_is(group, "PG 0") ||
           nsc_text_is(group, "PG ID 0 PG GUID 0");
}

/* The first work that each rank of the group gave up; len 0: the line does not say which collective. */
struct stuck {
    const struct nsc_own_record *line; /* NULL: it gave none up */
    int64_t seq;
    nsc_text op;
    const struct nsc_own_record *work,
        *waits; /* its last line on what it had enqueued; that says that it waits; or NULL */
};

/* Its name, as far as a damaged line may make it long. */
static nsc_text op_of(const struct stuck *s)
{
    nsc_text op = s->op.len ? s->op : NSC_TEXT("a collective");
    op.len = op.len < 30 ? op.len : 30;
    return op;
}

static void find_stuck(const struct ncclscope_model *m, nsc_text group, struct stuck *of_rank)
{
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        bool works = nsc_tells_work(m, r), waits = nsc_tells_waiting(m, r);
        int64_t rank, seq;
        if ((!works && !waits) || !nsc_is_of_group(m, r, group) || !nsc_torch_rank_of(m, r, &rank) || rank < 0 ||
            rank >= MOST_RANKS)
            continue;
        struct stuck *s = &of_rank[rank];
        s->work = works ? r : s->work;
        s->waits = waits ? r : s->waits;
        if ((!nsc_timed_out(r) && !nsc_gave_up(m, r)) || !nsc_number_said(m, r, "seq", &seq))
            continue;
        if (s->line && (s->seq < seq || (s->seq == seq && (s->op.len || nsc_gave_up(m, r)))))
            continue;
        s->line = r;
        s->seq = seq;
        s->op = nsc_said(m, r, "collective");
    }
}

/* Who waits in the stuck work, and who has not even called it. */
static void sort_ranks(struct nsc_case *c, struct nsc_finding *f, nsc_text group, const struct stuck *of_rank,
                       int64_t seq, int64_t *waiting, int64_t *highest)
{
    const struct ncclscope_model *m = c->m;
    bool *seen = nsc_alloc(MOST_RANKS);
    *waiting = 0;
    *highest = -1;
    for (size_t i = 0; seen && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank, enqueued;
        if ((!nsc_tells_waiting(m, r) && !nsc_tells_work(m, r)) || !nsc_is_of_group(m, r, group) ||
            !nsc_torch_rank_of(m, r, &rank) || rank < 0 || rank >= MOST_RANKS)
            continue;
        *highest = rank > *highest ? rank : *highest;
        if (nsc_tells_waiting(m, r) && !seen[rank]) {
            seen[rank] = true;
            ++*waiting;
            nsc_show(c, f, &r->where);
        }
        if (r == of_rank[rank].work && nsc_number_said(m, r, "enqueued", &enqueued) && enqueued < seq &&
            !of_rank[rank].waits) {
            nsc_name_rank(c, f, (uint64_t)rank);
            nsc_show_first(c, f, &r->where);
        }
    }
    nsc_free(seen);
}

/* Without a line of its own a rank is silent: name those below the job's size. */
static void name_silent(struct nsc_case *c, struct nsc_finding *f, const struct stuck *of_rank, int64_t size)
{
    for (int64_t rank = 0; rank < size && rank < MOST_RANKS; rank++)
        if (!of_rank[rank].waits)
            nsc_name_rank(c, f, (uint64_t)rank);
}

static bool is_same_work(const struct stuck *a, const struct stuck *b)
{
    return a->seq == b->seq && (!a->op.len || !b->op.len || nsc_text_eq(a->op, b->op));
}

/* The work that most ranks are in; of two that are as many the later. */
static const struct stuck *most_common(const struct stuck *of_rank, int64_t *count)
{
    enum { TRIED = 256 }; /* damaged numbers must not cost time */
    const struct stuck *best = NULL;
    int tried = 0;
    *count = 0;
    for (int64_t i = 0; i < MOST_RANKS && tried < TRIED; i++) {
        int64_t n = 0;
        if (!of_rank[i].line || (best && is_same_work(best, &of_rank[i])))
            continue;
        tried++;
        for (int64_t k = 0; k < MOST_RANKS; k++)
            n += of_rank[k].line && is_same_work(&of_rank[i], &of_rank[k]);
        if (n > *count || (n == *count && of_rank[i].seq > best->seq))
            best = &of_rank[i], *count = n;
    }
    for (int64_t i = 0; best && !best->op.len && i < MOST_RANKS; i++)
        if (of_rank[i].op.len && is_same_work(best, &of_rank[i]))
            best = &of_rank[i];
    return best;
}

/* Are all that are elsewhere in the same work? */
static bool all_alike(const struct stuck *of_rank, const struct stuck *most, const struct stuck *odd)
{
    for (int64_t i = 0; i < MOST_RANKS; i++)
        if (of_rank[i].line && !is_same_work(most, &of_rank[i]) && !is_same_work(odd, &of_rank[i]))
            return false;
    return true;
}

enum { EACH_TOLD = 6 };

/* "rank 1 is in BROADCAST, work 7; rank 4 in ALLREDUCE, work 1145; furthest behind is rank 1": each with its own place. */
static const char *tell_each(struct nsc_case *c, const struct stuck *of_rank, const struct stuck *most)
{
    char words[700];
    size_t n = 0, told = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < MOST_RANKS; i++) {
        const struct stuck *s = &of_rank[i];
        if (!s->line)
            continue;
        last = last < 0 || s->seq < of_rank[last].seq ? i : last;
        if (is_same_work(most, s) || told++ >= EACH_TOLD || n + 80 > sizeof words)
            continue;
        n += (size_t)snprintf(words + n, sizeof words - n, "%srank %lld in %.*s, work %lld", n ? ", " : "",
                              (long long)i, (int)op_of(s).len, op_of(s).ptr, (long long)s->seq);
    }
    return nsc_words(c, "%s%s; furthest behind is rank %lld (work %lld)", words,
                     told > EACH_TOLD ? " and others elsewhere" : "", (long long)last,
                     last < 0 ? -1LL : (long long)of_rank[last].seq);
}

/* Ranks that are in other work than most: named, the first described; NULL if there is none. Who is behind can be told within one
 * group alone. */
static const char *tell_odd(struct nsc_case *c, struct nsc_finding *f, const struct stuck *of_rank,
                            const struct stuck *most, bool one_group)
{
    const struct stuck *odd = NULL;
    for (int64_t i = 0; i < MOST_RANKS; i++) {
        if (!of_rank[i].line || is_same_work(most, &of_rank[i]))
            continue;
        odd = odd ? odd : &of_rank[i];
        nsc_name_rank(c, f, (uint64_t)i);
    }
    if (!odd)
        return NULL;
    nsc_show_first(c, f, &odd->line->where);
    const char *who = nsc_list_ranks(c, f), *be = f->ranks.len == 1 ? "is" : "are";
    if (!one_group)
        return nsc_words(c, "%s waited too, the first in %.*s, work %lld", who, (int)op_of(odd).len, op_of(odd).ptr,
                         (long long)odd->seq);
    if (!all_alike(of_rank, most, odd))
        return tell_each(c, of_rank, most);
    if (odd->seq == most->seq)
        return nsc_words(c, "%s called %.*s instead", who, (int)odd->op.len, odd->op.ptr);
    return nsc_words(c, "%s %s %s in %.*s, work %lld", who, be, odd->seq < most->seq ? "still" : "already",
                     (int)op_of(odd).len, op_of(odd).ptr, (long long)odd->seq);
}

enum { RANKS_NAMED = 8 };

/* "Rank 6", "Ranks 3, 5", "12 ranks": who is in this work. */
static const char *who_waits(struct nsc_case *c, const struct stuck *of_rank, const struct stuck *s, int64_t ranks)
{
    struct nsc_finding some = {.rule = c->rule};
    for (int64_t i = 0; i < MOST_RANKS && ranks <= RANKS_NAMED; i++)
        if (of_rank[i].line && is_same_work(s, &of_rank[i]))
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
static const char *tell_where(struct nsc_case *c, nsc_text group, const struct stuck *of_rank, const struct stuck *s,
                              int64_t ranks)
{
    const char *who = who_waits(c, of_rank, s, ranks);
    int64_t ran = 0;
    nsc_number_said(c->m, s->line, "ran_ms", &ran);
    const char *time = ran ? nsc_words(c, " %lld s", (long long)(ran / 1000)) : "";
    return nsc_words(c, "%s waited%s in %.*s, work %lld%s%.*s", who, time, (int)op_of(s).len, op_of(s).ptr,
                     (long long)s->seq, is_whole_job(group) ? "" : " of ", is_whole_job(group) ? 0 : (int)group.len,
                     group.len ? group.ptr : "");
}

/* "OpType=_ALLGATHER_BASE, NumelIn=1034240, NumelOut=8273920": what is gathered is as many times larger as the group has ranks. 0: not so. */
static int64_t size_by_elements(const struct ncclscope_model *m, const struct stuck *s)
{
    static const char in_words[] = "NumelIn=", out_words[] = "NumelOut=";
    nsc_text parts = nsc_said(m, s->line, "parts");
    ptrdiff_t in_at = nsc_text_find(parts, in_words), out_at = nsc_text_find(parts, out_words);
    bool gathers = nsc_text_find(s->op, "ALLGATHER_BASE") >= 0,
         scatters = nsc_text_find(s->op, "REDUCE_SCATTER_BASE") >= 0;
    int64_t in, out;
    if (in_at < 0 || out_at < 0 || (!gathers && !scatters))
        return 0;
    nsc_text a = nsc_text_from(parts, (size_t)in_at + sizeof in_words - 1),
             b = nsc_text_from(parts, (size_t)out_at + sizeof out_words - 1);
    a = nsc_next_word(&a), b = nsc_next_word(&b);
    a.len -= a.len && a.ptr[a.len - 1] == ',';
    b.len -= b.len && b.ptr[b.len - 1] == ',';
    if (!nsc_to_i64(a, &in) || !nsc_to_i64(b, &out) || in <= 0 || out <= 0)
        return 0;
    int64_t low = gathers ? in : out, high = gathers ? out : in;
    return high % low ? 0 : high / low;
}

/* "NumelIn=1048576, NumelOut=1048576"; len 0: not said. */
static nsc_text sizes_of(const struct ncclscope_model *m, const struct stuck *s)
{
    nsc_text parts = nsc_said(m, s->line, "parts");
    ptrdiff_t at = nsc_text_find(parts, "NumelIn="), end = nsc_text_find(parts, ", Timeout(");
    parts.len = end > at ? (size_t)end : parts.len;
    parts = nsc_text_trim(parts);
    parts.len -= parts.len && parts.ptr[parts.len - 1] == ',';
    return at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(parts, (size_t)at);
}

/* A collective that all ranks must call with the same sizes. */
static bool has_one_size(nsc_text op)
{
    static const char *const alike[] = {"ALLREDUCE", "BROADCAST", "REDUCE", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE"};
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++)
        if (nsc_text_is(op, alike[i]))
            return true;
    return false;
}

/* Of the ranks in the most common work the first that gave it another size than *one; NULL: none, or not all say theirs (*one NULL). */
static const struct stuck *find_other_size(const struct ncclscope_model *m, const struct stuck *of_rank,
                                           const struct stuck *most, const struct stuck **one)
{
    const struct stuck *odd = NULL;
    *one = NULL;
    for (int64_t i = 0; i < MOST_RANKS; i++) {
        const struct stuck *s = &of_rank[i];
        if (!s->line || !is_same_work(most, s))
            continue;
        if (!sizes_of(m, s).len) {
            *one = NULL;
            return NULL;
        }
        *one = *one ? *one : s;
        odd = odd || nsc_text_eq(sizes_of(m, *one), sizes_of(m, s)) ? odd : s;
    }
    return odd;
}

/* "...with different sizes: rank 0 NumelIn=64, NumelOut=64, rank 1 NumelIn=72, NumelOut=72" */
static const char *tell_sizes(struct nsc_case *c, const char *where, const struct stuck *of_rank,
                              const struct stuck *one, const struct stuck *odd)
{
    nsc_text a = sizes_of(c->m, one), b = sizes_of(c->m, odd);
    return nsc_words(c, "%s, with different sizes: rank %lld %.*s, rank %lld %.*s", where, (long long)(one - of_rank),
                     (int)a.len, a.ptr, (long long)(odd - of_rank), (int)b.len, b.ptr);
}

/* The ranks that the log shows are in one work: do their sizes say more than `why`? Two that differ tell enough, whatever the rest does. */
static enum nsc_hang_reason compare_sizes(struct nsc_case *c, struct nsc_finding *f, const struct stuck *of_rank,
                                          const struct stuck *most, enum nsc_hang_reason why)
{
    const struct stuck *one, *odd = find_other_size(c->m, of_rank, most, &one);
    if (odd && has_one_size(most->op)) {
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

/* BROADCAST, REDUCE: data goes from rank to rank one way, and a rank that has passed it on is done. */
static bool is_rooted(nsc_text op)
{
    return nsc_text_find(op, "BROADCAST") >= 0 || nsc_text_is(op, "REDUCE") || nsc_text_is(op, "_REDUCE_OOP");
}

static bool are_all_rooted(const struct stuck *of_rank)
{
    for (int64_t i = 0; i < MOST_RANKS; i++)
        if (of_rank[i].line && !is_rooted(of_rank[i].op))
            return false;
    return true;
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
static bool find_unstuck(const struct ncclscope_model *m, const struct nsc_comm *k, const struct stuck *of_rank,
                         struct nsc_map *unstuck)
{
    bool fine = true;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        struct nsc_key host = {m->procs.item[r->proc].host, 0, 0};
        if (r->rank >= 0 && r->rank < MOST_RANKS && !of_rank[r->rank].line)
            fine = !nsc_map_put(unstuck, host, 0) && fine;
    }
    return fine;
}

/* "; all ranks of node1 wait": of a job on several hosts, those of which every rank does, where not all hosts are so. */
static const char *tell_hosts(struct nsc_case *c, const struct stuck *of_rank, int64_t size)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map unstuck = {0};
    nsc_str stuck = 0;
    bool several = false;
    size_t i = 0;
    while (i < m->comms.len && (m->comms.item[i].nranks != size || m->comms.item[i].seen != size))
        i++;
    if (i == m->comms.len || size > MOST_RANKS)
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
               ? nsc_words(c, " All ranks of %.60s wait, and not all of the others.", nsc_say(m, stuck).ptr)
               : "";
}

/* The first in its input of those that gave a work up; NULL: they are of several inputs. */
static const struct stuck *earliest(const struct stuck *of_rank)
{
    const struct stuck *first = NULL;
    for (int64_t i = 0; i < MOST_RANKS; i++) {
        const struct stuck *s = &of_rank[i];
        if (!s->line)
            continue;
        if (first && first->line->where.source != s->line->where.source)
            return NULL;
        first = !first || s->line->where.line < first->line->where.line ? s : first;
    }
    return first;
}

/* A rank that said behind the first time-out that it had not come to that work, and that waits in a later one afterwards: it came
 * late. NULL: none did. */
static const struct nsc_own_record *came_late(const struct ncclscope_model *m, nsc_text group,
                                              const struct stuck *of_rank, const struct stuck *first)
{
    for (size_t i = 0; first && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank, enqueued;
        if (!nsc_tells_work(m, r) || r->where.source != first->line->where.source ||
            r->where.line < first->line->where.line || !nsc_is_of_group(m, r, group) ||
            !nsc_torch_rank_of(m, r, &rank) || rank < 0 || rank >= MOST_RANKS ||
            !nsc_number_said(m, r, "enqueued", &enqueued) || enqueued >= first->seq)
            continue;
        const struct stuck *own = &of_rank[rank];
        if (own->line && own->seq > first->seq && own->line->where.line > r->where.line)
            return r;
    }
    return NULL;
}

static void tell_late(struct nsc_case *c, nsc_text group, const struct stuck *of_rank, const struct stuck *first,
                      const struct nsc_own_record *late)
{
    int64_t waiting = 0, rank = -1, enqueued = -1;
    nsc_torch_rank_of(c->m, late, &rank);
    nsc_number_said(c->m, late, "enqueued", &enqueued);
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
    for (int64_t i = 0; i < MOST_RANKS; i++)
        waiting += of_rank[i].line && is_same_work(first, &of_rank[i]);
    f->count = (uint64_t)waiting;
    nsc_name_rank(c, f, (uint64_t)rank);
    nsc_explain_by(c, f, NSC_HUNG_LATE);
    f->title = nsc_words(c, "%s; rank %lld had come no further than work %lld, and went on later",
                         tell_where(c, group, of_rank, first, waiting), (long long)rank, (long long)enqueued);
    nsc_show(c, f, &first->line->where);
    nsc_show(c, f, &late->where);
    nsc_show(c, f, &of_rank[rank].line->where);
}

/* Of ranks that no time-out is of: those that had ended their communicator before. Shows where. */
static bool had_left(struct nsc_case *c, struct nsc_finding *f, const struct stuck *most, int64_t size)
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

static void tell_watchdog_of(struct nsc_case *c, nsc_text group, const struct stuck *of_rank)
{
    const struct ncclscope_model *m = c->m;
    int64_t count, waiting, highest, size = is_whole_job(group) ? nsc_size_of_job(m) : 0;
    const struct stuck *most = most_common(of_rank, &count);
    if (!most) /* ranks beyond all reason */
        return;
    const struct stuck *first = earliest(of_rank);
    const struct nsc_own_record *late = came_late(m, group, of_rank, first);
    if (late) {
        tell_late(c, group, of_rank, first, late);
        return;
    }
    int64_t members = size_by_elements(m, most); /* of this group */
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
    sort_ranks(c, f, group, of_rank, most->seq, &waiting, &highest);
    f->count = (uint64_t)waiting;
    const char *who = f->ranks.len ? nsc_list_ranks(c, f) : NULL;
    const char *odd = who ? NULL : tell_odd(c, f, of_rank, most, group.len > 0);
    const char *where = tell_where(c, group, of_rank, most, who ? waiting : count);
    enum nsc_hang_reason why = who                                ? NSC_HUNG_NOT_CALLED
                               : odd && !group.len                ? NSC_HUNG_UNGROUPED
                               : odd                              ? NSC_HUNG_ELSEWHERE
                               : size > waiting && highest < size ? NSC_HUNG_SILENT
                               : size && size == count            ? NSC_HUNG_ALIKE
                               : size && size == waiting          ? NSC_HUNG_GIVEN_UP
                               : members > count                  ? NSC_HUNG_REST
                               : members && members == count      ? NSC_HUNG_ALIKE
                                                                  : NSC_HUNG_UNCOUNTED;
    f->title = where;
    why = who || odd ? why : compare_sizes(c, f, of_rank, most, why);
    if (why == NSC_HUNG_SILENT) {
        name_silent(c, f, of_rank, size);
        f->confidence = "possible";
        f->title = nsc_words(c, "%s; of %s no time-out is in this input", where, nsc_list_ranks(c, f));
        if (had_left(c, f, most, size)) {
            why = NSC_HUNG_LEFT;
            f->confidence = "likely";
            f->title = nsc_words(c, "%s; %s had ended its communicator before", where, nsc_list_ranks(c, f));
        }
    } else if (why == NSC_HUNG_REST) {
        f->confidence = "possible";
        f->title = nsc_words(c, "%s; of the other %lld of its group no time-out is in this input", where,
                             (long long)(members - count));
    } else if (who || odd) {
        f->title = nsc_words(c, "%s; %s%s", where, who ? who : odd, who ? " had not called it" : "");
    }
    bool whole = size && are_all_here(m, size), rooted = are_all_rooted(of_rank);
    if (why == NSC_HUNG_SILENT && (rooted || whole))
        why = rooted ? NSC_HUNG_ROOTED_SILENT : NSC_HUNG_SILENT_HERE;
    else if (odd && rooted)
        why = NSC_HUNG_ROOTED_APART;
    bool open = why == NSC_HUNG_UNGROUPED || why == NSC_HUNG_ROOTED_APART;
    f->confidence = open ? "possible" : f->confidence;
    f->caused_by = ran_out_before(m, &most->line->where) ? NSC_ID_FAILURE_MEMORY : NSC_ID_NONE;
    nsc_explain_by(c, f, (int)why);
    if (why == NSC_HUNG_ROOTED_SILENT && whole)
        f->cause = nsc_words(c, "%s%s", f->cause, tell_hosts(c, of_rank, size));
}

static void tell_watchdog(struct nsc_case *c, nsc_text group)
{
    struct stuck *of_rank = nsc_alloc(MOST_RANKS * sizeof *of_rank);
    c->f->no_memory = c->f->no_memory || !of_rank;
    if (of_rank) {
        find_stuck(c->m, group, of_rank);
        tell_watchdog_of(c, group, of_rank);
    }
    nsc_free(of_rank);
}

/* A time-out, by the watchdog's line or by the one that follows it; "failure detected by watchdog" may be an error of NCCL. */
static bool tells_timeout(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    return nsc_timed_out(r) || (nsc_gave_up(m, r) && nsc_text_find(nsc_said(m, r, "reason"), "Timeout at") >= 0);
}

/* Works are numbered in each process group on its own: each has its finding. */
static void tell_watchdogs(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    enum { GROUPS = 8 };
    nsc_text told[GROUPS];
    size_t n = 0;
    for (size_t i = 0; i < m->happened.len && n < GROUPS; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t seq;
        if (!tells_timeout(m, r) || !nsc_number_said(m, r, "seq", &seq))
            continue;
        nsc_text group = nsc_group_of(m, r);
        size_t k = 0;
        while (k < n && !nsc_text_eq(told[k], group))
            k++;
        if (k < n)
            continue;
        told[n++] = group;
        tell_watchdog(c, group);
    }
}

/* Where nccl-tests printed the columns of its table; NULL: it did not, or a result or an end of it is there. */
static const struct nsc_where *begins_to_measure(const struct ncclscope_model *m)
{
    bool ended = m->tests.len || nsc_success_of(m);
    for (size_t i = 0; i < m->happened.len && !ended; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_TEST_COLUMNS)
            return &m->happened.item[i].where;
    return NULL;
}

/* All ranks came up and print collectives (COLL) behind the head of the table, and no result follows. Without COLL lines the input may be
 * cut while the first of them connects. */
static void tell_no_result(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_where *begun = begins_to_measure(m), *behind = NULL;
    bool up = m->comms.len && !m->troubles;
    for (size_t i = 0; i < m->comms.len && up; i++)
        up = m->comms.item[i].state == NSC_COMPLETE;
    for (size_t i = 0; i < m->warnings.len && up; i++)
        up = !m->warnings.item[i].broke;
    for (size_t i = 0; i < m->ranks.len && up; i++)
        up = m->ranks.item[i].called;
    for (size_t i = 0; begun && i < m->procs.len && !behind; i++)
        if (m->procs.item[i].source == begun->source && m->procs.item[i].last_line > begun->line)
            behind = begun;
    if (!up || !behind)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "unknown", "possible");
    f->count = 1;
    f->title = "nccl-tests began to measure and no result follows: its first collective hangs, or this input is cut";
    nsc_explain_by(c, f, NSC_HUNG_NO_RESULT);
    nsc_show(c, f, begun);
}

/* The ranks that a line names: two processes may have written into it. */
static void name_ranks_of(struct nsc_case *c, struct nsc_finding *f, nsc_text line)
{
    ptrdiff_t at;
    while ((at = nsc_text_find(line, "ank ")) >= 0) {
        line = nsc_text_from(line, (size_t)at + 4);
        nsc_text word = {line.ptr, 0};
        while (word.len < line.len && nsc_is_digit(word.ptr[word.len]))
            word.len++;
        int64_t rank;
        if (word.len && nsc_to_i64(word, &rank))
            nsc_name_rank(c, f, (uint64_t)rank);
    }
}

/* "pod-3 [rank 1] all-reduce did not finish within 8 s[rank 0] all-reduce ...": of two that wrote into one line the first, without rank
 * and prefix. */
static nsc_text own_words(nsc_text line)
{
    ptrdiff_t at = nsc_text_find(line, "[rank");
    nsc_text rest = nsc_text_from(line, at < 0 ? 0 : (size_t)at);
    const char *end = at < 0 ? NULL : memchr(rest.ptr, ']', rest.len);
    if (!end)
        return line;
    rest = nsc_text_from(rest, (size_t)(end - rest.ptr) + 1);
    ptrdiff_t next = nsc_text_find(rest, "[rank");
    rest.len = next > 0 ? (size_t)next : rest.len;
    return nsc_text_trim(rest);
}

/* Of the ranks that do not wait: what they say themselves, and which of them say nothing. Extends the title. */
static enum nsc_hang_reason tell_others(struct nsc_case *c, struct nsc_finding *f, int64_t size)
{
    struct nsc_finding mute = {.rule = c->rule};
    struct nsc_map waits = {0};
    int64_t told = 0;
    for (size_t i = 0; i < f->ranks.len; i++)
        nsc_map_put(&waits, (struct nsc_key){f->ranks.item[i], 0, 0}, 0);
    for (int64_t rank = 0; rank < size && rank < MOST_RANKS; rank++) {
        if (nsc_map_get(&waits, (struct nsc_key){(uint64_t)rank, 0, 0}) != NSC_NONE)
            continue;
        const struct nsc_own_record *r = nsc_last_words(c->m, rank);
        if (!r) {
            nsc_name_rank(c, &mute, (uint64_t)rank);
            continue;
        }
        nsc_show_first(c, f, &r->where);
        if (told++ < 2)
            f->title = nsc_words(c, "%s; %s", f->title, nsc_quote_rank(c, r));
    }
    if (mute.ranks.len)
        f->title = nsc_words(c, "%s; %s say%s nothing of it", f->title, nsc_list_ranks(c, &mute),
                             mute.ranks.len == 1 ? "s" : "");
    bool some_mute = mute.ranks.len > 0;
    nsc_finding_free(&mute);
    nsc_map_free(&waits);
    return told && !some_mute ? NSC_HUNG_OTHERS_SPEAK : NSC_HUNG_SOME_SILENT;
}

/* "[rank 1] all-reduce (#2) did not finish within 8 s": the program's own watch, where neither PyTorch's nor NCCL tells of it. */
static void tell_stalled(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    nsc_text first = {NULL, 0};
    int64_t rank;
    for (size_t i = 0; i < m->happened.len && !nsc_success_of(m); i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_PROGRAM_STALLED || !nsc_number_said(m, r, "rank", &rank))
            continue;
        first = f ? first : nsc_text_trim(r->where.text);
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
        f->count++;
        nsc_name_rank(c, f, (uint64_t)rank);
        name_ranks_of(c, f, r->where.text);
        nsc_show(c, f, &r->where);
    }
    if (!f)
        return;
    int64_t size = m->comms.len == 1 ? m->comms.item[0].nranks : 0, silent = size - (int64_t)f->ranks.len;
    f->part = NSC_WAKE;
    first = own_words(first);
    f->title = nsc_words(c, "The program waited in vain, by its own word on %s: %.*s", nsc_list_ranks(c, f),
                         (int)(first.len < 120 ? first.len : 120), first.ptr);
    nsc_explain_by(c, f, silent > 0 ? tell_others(c, f, size) : size ? NSC_HUNG_ALL_WAIT : NSC_HUNG_SOME_WAIT);
}

/* The first call in which ranks of a communicator differ; NULL: in none. */
static const struct nsc_odd_call *first_difference(const struct ncclscope_model *m)
{
    const struct nsc_odd_call *first = NULL;
    for (size_t i = 0; i < m->odd_calls.len; i++) {
        const struct nsc_odd_call *x = &m->odd_calls.item[i];
        const struct nsc_rank *r = &m->ranks.item[x->rank], *of = &m->ranks.item[m->calls.item[x->first].rank];
        if (r->sends || of->sends || r->rank < 0 || of->rank < 0)
            continue;
        if (!first || m->calls.item[x->first].op < m->calls.item[first->first].op)
            first = x;
    }
    return first;
}

/* "AllReduce: opCount 1 ..." of most ranks and "Broadcast: opCount 1 ..." of one: nobody comes to the end of either. Is it told? */
static bool tell_order(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_odd_call *odd = nsc_success_of(m) ? NULL : first_difference(m);
    if (!odd)
        return false;
    const struct nsc_call *call = &m->calls.item[odd->first];
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
    for (size_t i = 0; i < m->odd_calls.len; i++) {
        const struct nsc_odd_call *x = &m->odd_calls.item[i];
        if (x->first != odd->first || x->name != odd->name || x->count != odd->count)
            continue;
        nsc_name_rank(c, f, (uint64_t)m->ranks.item[x->rank].rank);
        nsc_show(c, f, &x->where);
    }
    bool other_name = odd->name != call->name;
    const char *one = nsc_say(m, odd->name).ptr, *most = nsc_say(m, call->name).ptr, *who = nsc_list_ranks(c, f);
    f->count = f->ranks.len;
    f->comm = m->ranks.item[odd->rank].comm;
    f->title =
        other_name
            ? nsc_words(
                  c, "Ranks call different collectives: operation %llu is %s on %s, %s on %u other%s (first rank %lld)",
                  (unsigned long long)call->op, one, who, most, call->alike, call->alike == 1 ? "" : "s",
                  (long long)m->ranks.item[call->rank].rank)
            : nsc_words(c,
                        "Ranks call %s with different sizes: operation %llu has %lld elements on %s, %lld on %u "
                        "other%s (first rank %lld)",
                        one, (unsigned long long)call->op, (long long)odd->count, who, (long long)call->count,
                        call->alike, call->alike == 1 ? "" : "s", (long long)m->ranks.item[call->rank].rank);
    nsc_explain_by(c, f, other_name ? NSC_HUNG_ORDER : NSC_HUNG_CALL_SIZES);
    return true;
}

void nsc_rule_ranks_hung(struct nsc_case *c)
{
    if (!tell_order(c))
        tell_stalled(c);
    tell_no_result(c);
    tell_watchdogs(c);
    nsc_tell_ras(c);
}
