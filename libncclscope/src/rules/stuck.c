/* stuck.c - the works that ranks gave up, as PyTorch's watchdog tells them: which rank is in which, and with what sizes. */
#include "rules/stuck.h"

#include "rules/watchdog.h"

bool nsc_is_whole_job(nsc_text group)
{
    return !group.len || nsc_text_find(group, "default") >= 0 || nsc_text_is(group, "PG 0") ||
           nsc_text_is(group, "PG ID 0 PG GUID 0");
}

nsc_text nsc_op_of(const struct nsc_stuck *s)
{
    nsc_text op = s->op.len ? s->op : NSC_TEXT("a collective");
    op.len = op.len < 30 ? op.len : 30;
    return op;
}

void nsc_find_stuck(const struct ncclscope_model *m, nsc_text group, struct nsc_stuck *of_rank)
{
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        bool works = nsc_tells_work(m, r), waits = nsc_tells_waiting(m, r);
        int64_t rank, seq;
        if ((!works && !waits) || !nsc_is_of_group(m, r, group) || !nsc_torch_rank_of(m, r, &rank) || rank < 0 ||
            rank >= NSC_MOST_STUCK)
            continue;
        struct nsc_stuck *s = &of_rank[rank];
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

bool nsc_is_same_work(const struct nsc_stuck *a, const struct nsc_stuck *b)
{
    return a->seq == b->seq && (!a->op.len || !b->op.len || nsc_text_eq(a->op, b->op));
}

const struct nsc_stuck *nsc_most_common(const struct nsc_stuck *of_rank, int64_t *count)
{
    enum { TRIED = 256 }; /* damaged numbers must not cost time */
    const struct nsc_stuck *best = NULL;
    int tried = 0;
    *count = 0;
    for (int64_t i = 0; i < NSC_MOST_STUCK && tried < TRIED; i++) {
        int64_t n = 0;
        if (!of_rank[i].line || (best && nsc_is_same_work(best, &of_rank[i])))
            continue;
        tried++;
        for (int64_t k = 0; k < NSC_MOST_STUCK; k++)
            n += of_rank[k].line && nsc_is_same_work(&of_rank[i], &of_rank[k]);
        if (n > *count || (n == *count && of_rank[i].seq > best->seq))
            best = &of_rank[i], *count = n;
    }
    for (int64_t i = 0; best && !best->op.len && i < NSC_MOST_STUCK; i++)
        if (of_rank[i].op.len && nsc_is_same_work(best, &of_rank[i]))
            best = &of_rank[i];
    return best;
}

bool nsc_all_alike(const struct nsc_stuck *of_rank, const struct nsc_stuck *most, const struct nsc_stuck *odd)
{
    for (int64_t i = 0; i < NSC_MOST_STUCK; i++)
        if (of_rank[i].line && !nsc_is_same_work(most, &of_rank[i]) && !nsc_is_same_work(odd, &of_rank[i]))
            return false;
    return true;
}

int64_t nsc_size_by_elements(const struct ncclscope_model *m, const struct nsc_stuck *s)
{
    static const char in_words[] = "NumelIn=", out_words[] = "NumelOut=";
    nsc_text parts = nsc_said(m, s->line, "parts");
    ptrdiff_t in_at = nsc_text_find(parts, in_words), out_at = nsc_text_find(parts, out_words);
    bool gathers = nsc_text_is(s->op, "_ALLGATHER_BASE") || nsc_text_is(s->op, "ALLGATHER"),
         scatters = nsc_text_is(s->op, "_REDUCE_SCATTER_BASE") || nsc_text_is(s->op, "REDUCE_SCATTER");
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

nsc_text nsc_sizes_of(const struct ncclscope_model *m, const struct nsc_stuck *s)
{
    nsc_text parts = nsc_said(m, s->line, "parts");
    ptrdiff_t at = nsc_text_find(parts, "NumelIn="), end = nsc_text_find(parts, ", Timeout(");
    parts.len = end > at ? (size_t)end : parts.len;
    parts = nsc_text_trim(parts);
    parts.len -= parts.len && parts.ptr[parts.len - 1] == ',';
    return at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(parts, (size_t)at);
}

bool nsc_has_one_size(nsc_text op)
{
    static const char *const alike[] = {
        "ALLREDUCE", "BROADCAST", "REDUCE", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE", "ALLGATHER", "REDUCE_SCATTER"};
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++)
        if (nsc_text_is(op, alike[i]))
            return true;
    return false;
}

const struct nsc_stuck *nsc_find_other_size(const struct ncclscope_model *m, const struct nsc_stuck *of_rank,
                                            const struct nsc_stuck *most, const struct nsc_stuck **one)
{
    const struct nsc_stuck *odd = NULL;
    *one = NULL;
    for (int64_t i = 0; i < NSC_MOST_STUCK; i++) {
        const struct nsc_stuck *s = &of_rank[i];
        if (!s->line || !nsc_is_same_work(most, s))
            continue;
        if (!nsc_sizes_of(m, s).len) {
            *one = NULL;
            return NULL;
        }
        *one = *one ? *one : s;
        odd = odd || nsc_text_eq(nsc_sizes_of(m, *one), nsc_sizes_of(m, s)) ? odd : s;
    }
    return odd;
}

/* BROADCAST, REDUCE: data goes from rank to rank one way, and a rank that has passed it on is done. */
static bool is_rooted(nsc_text op)
{
    return nsc_text_find(op, "BROADCAST") >= 0 || nsc_text_is(op, "REDUCE") || nsc_text_is(op, "_REDUCE_OOP");
}

bool nsc_are_all_rooted(const struct nsc_stuck *of_rank)
{
    for (int64_t i = 0; i < NSC_MOST_STUCK; i++)
        if (of_rank[i].line && !is_rooted(of_rank[i].op))
            return false;
    return true;
}

const struct nsc_stuck *nsc_earliest(const struct nsc_stuck *of_rank)
{
    const struct nsc_stuck *first = NULL;
    for (int64_t i = 0; i < NSC_MOST_STUCK; i++) {
        const struct nsc_stuck *s = &of_rank[i];
        if (!s->line)
            continue;
        if (first && first->line->where.source != s->line->where.source)
            return NULL;
        first = !first || s->line->where.line < first->line->where.line ? s : first;
    }
    return first;
}
