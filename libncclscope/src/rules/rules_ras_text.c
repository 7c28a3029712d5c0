/* rules_ras_text.c - what the ncclras client saw of a job at one moment, in its text. It tells of a communicator in sections, and in each of them of
 * groups of ranks, the largest first; the ranks of a small group are listed below it:
 *
 *   #0-0 (fa93daea854b060b) MISMATCH
 *     Communicator ranks have different AllGather operation counts
 *     30 ranks have launched up to operation 640
 *     2 ranks have launched up to operation 641
 *     Rank 12 -- GPU 4 managed by process 323032 on node 192.0.2.7 */
#include "rules/ask.h"

/* A section of happened, from its first line on. */
struct section {
    size_t from, to;
};

static const struct nsc_own_record *line_of(const struct nsc_case *c, size_t i)
{
    return &c->m->happened.item[i];
}

static bool begins_section(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_RAS_COMM || r->number == NCCLSCOPE_KIND_RAS_COUNTS ||
           r->number == NCCLSCOPE_KIND_RAS_STATES || r->number == NCCLSCOPE_KIND_RAS_ERRORS;
}

static bool counts(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_RAS_LAUNCHED || r->number == NCCLSCOPE_KIND_RAS_BEHIND ||
           r->number == NCCLSCOPE_KIND_RAS_NONE || r->number == NCCLSCOPE_KIND_RAS_RANK_NONE;
}

static bool says_state(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_RAS_STATE || r->number == NCCLSCOPE_KIND_RAS_RANK_STATE;
}

static bool says_error(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_RAS_ERROR || r->number == NCCLSCOPE_KIND_RAS_RANK_ERROR;
}

static bool begins_group(const struct nsc_own_record *r)
{
    return counts(r) || says_state(r) || says_error(r);
}

/* How many ranks a group has: one that is told with its rank has one. */
static int64_t size_of(const struct nsc_case *c, const struct nsc_own_record *r)
{
    int64_t n;
    return nsc_number_said(c->m, r, "count", &n) ? n : 1;
}

/* The operation that a group had come to; 0: it had launched none. */
static int64_t reached(const struct nsc_case *c, const struct nsc_own_record *r)
{
    int64_t n;
    return nsc_number_said(c->m, r, "seq", &n) ? n : 0;
}

/* Names the ranks of the group that begins at `at`, as far as they are listed. */
static void name_group(struct nsc_case *c, struct nsc_finding *f, size_t at, size_t to)
{
    int64_t rank;
    nsc_show(c, f, &line_of(c, at)->where);
    for (size_t i = at; i < to && (i == at || !begins_group(line_of(c, i))); i++) {
        const struct nsc_own_record *r = line_of(c, i);
        bool listed = i == at || r->number == NCCLSCOPE_KIND_RAS_RANK;
        if (!listed || !nsc_number_said(c->m, r, "rank", &rank))
            continue;
        nsc_name_rank(c, f, (uint64_t)rank);
        nsc_name_host(c, f, nsc_field_of(c->m, r, "name"));
        if (i != at)
            nsc_show(c, f, &r->where);
    }
}

/* "rank 3 (GPU 3, process 77 on 192.0.2.7)" where `r` tells of one, "ranks 3, 5", "6 ranks". */
static const char *who(struct nsc_case *c, const struct nsc_finding *f, const struct nsc_own_record *r, int64_t n)
{
    nsc_text gpu = nsc_said(c->m, r, "gpu"), pid = nsc_said(c->m, r, "pid"), node = nsc_said(c->m, r, "name");
    if (n > 1 || !gpu.len)
        return (int64_t)f->ranks.len == n ? nsc_list_ranks(c, f) : nsc_words(c, "%lld ranks", (long long)n);
    return nsc_words(c, "%s (GPU %.*s, process %.*s on %.*s)", nsc_list_ranks(c, f), (int)gpu.len, gpu.ptr,
                     (int)pid.len, pid.ptr, (int)node.len, node.ptr);
}

/* ---- how far they were ---- */

/* Of a section: the farthest, and whether ranks are listed that were not there. */
struct progress {
    int64_t most, least, ahead, behind; /* operations; ranks that were at the farthest, and that were not */
    bool named_behind;
    size_t first_behind, first_ahead;
};

static bool is_listed(const struct nsc_case *c, size_t at, size_t to)
{
    return size_of(c, line_of(c, at)) == 1 || (at + 1 < to && line_of(c, at + 1)->number == NCCLSCOPE_KIND_RAS_RANK);
}

static struct progress progress_of(const struct nsc_case *c, const struct section *s)
{
    struct progress p = {.least = INT64_MAX, .first_behind = SIZE_MAX, .first_ahead = SIZE_MAX};
    for (size_t i = s->from; i < s->to; i++)
        if (counts(line_of(c, i)))
            p.most = reached(c, line_of(c, i)) > p.most ? reached(c, line_of(c, i)) : p.most;
    for (size_t i = s->from; i < s->to; i++) {
        if (!counts(line_of(c, i)))
            continue;
        int64_t n = size_of(c, line_of(c, i)), here = reached(c, line_of(c, i));
        bool behind = here < p.most;
        p.ahead += behind ? 0 : n;
        p.behind += behind ? n : 0;
        p.least = here < p.least ? here : p.least;
        p.first_behind = behind && p.first_behind == SIZE_MAX ? i : p.first_behind;
        p.first_ahead = !behind && p.first_ahead == SIZE_MAX ? i : p.first_ahead;
        p.named_behind = p.named_behind || (behind && is_listed(c, i, s->to));
    }
    return p;
}

/* "at AllReduce operation 64", "at operation 64". */
static const char *place(struct nsc_case *c, const struct section *s, int64_t least, int64_t most)
{
    nsc_text op = nsc_said(c->m, line_of(c, s->from), "func");
    if (nsc_text_is(op, "collective"))
        op.len = 0;
    if (least < most)
        return nsc_words(c, "at %.*s%soperations %lld to %lld", (int)op.len, op.ptr ? op.ptr : "", op.len ? " " : "",
                         (long long)least, (long long)most);
    return nsc_words(c, "at %.*s%soperation %lld", (int)op.len, op.ptr ? op.ptr : "", op.len ? " " : "",
                     (long long)most);
}

/* Who is behind; where nobody of those is listed, who is ahead. */
static void tell_counts(struct nsc_case *c, const struct section *s)
{
    struct progress p = progress_of(c, s);
    if (p.first_behind == SIZE_MAX)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "error", "possible");
    bool ahead = !p.named_behind && is_listed(c, p.first_ahead, s->to);
    int64_t nearest = 0;
    for (size_t i = s->from; i < s->to; i++)
        if (counts(line_of(c, i)) && (reached(c, line_of(c, i)) == p.most) == ahead) {
            name_group(c, f, i, s->to);
            nearest = reached(c, line_of(c, i)) > nearest ? reached(c, line_of(c, i)) : nearest;
        }
    f->count = (uint64_t)(ahead ? p.ahead : p.behind);
    const char *them = who(c, f, line_of(c, ahead ? p.first_ahead : p.first_behind), ahead ? p.ahead : p.behind);
    const char *were = (ahead ? p.ahead : p.behind) > 1 ? "were" : "was", *far = place(c, s, p.most, p.most);
    if (ahead && p.least < p.most - 1)
        f->title = nsc_words(c, "ncclras: %s %s %s, ahead of %lld others", them, were, far, (long long)p.behind);
    else if (ahead)
        f->title = nsc_words(c, "ncclras: %s %s %s, ahead of %lld other%s at %lld", them, were, far,
                             (long long)p.behind, p.behind > 1 ? "s" : "", (long long)p.least);
    else if (!nearest)
        f->title = nsc_words(c, "ncclras: %s had launched no operation, others were %s", them, far);
    else
        f->title = nsc_words(c, "ncclras: %s %s %s, others at %lld", them, were, place(c, s, p.least, nearest),
                             (long long)p.most);
    nsc_explain_by(c, f, NSC_RAS_MOMENT);
}

/* ---- what state they were in, what error they held ---- */

static void tell_states(struct nsc_case *c, const struct section *s)
{
    const struct nsc_own_record *most = NULL; /* the largest group comes first */
    for (size_t i = s->from; i < s->to; i++) {
        const struct nsc_own_record *r = line_of(c, i);
        if (!says_state(r))
            continue;
        nsc_text state = nsc_said(c->m, r, "state"), others = most ? nsc_said(c->m, most, "state") : state;
        if (!most) {
            most = r;
            continue;
        }
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "error", "possible");
        name_group(c, f, i, s->to);
        nsc_show(c, f, &most->where);
        f->count = (uint64_t)size_of(c, r);
        f->title = nsc_words(c, "ncclras: %s in state %.*s, others %.*s", who(c, f, r, size_of(c, r)), (int)state.len,
                             state.ptr, (int)others.len, others.ptr);
        nsc_explain_by(c, f, NSC_RAS_STATES);
    }
}

static void tell_errors(struct nsc_case *c, const struct section *s)
{
    for (size_t i = s->from; i < s->to; i++) {
        const struct nsc_own_record *r = line_of(c, i);
        if (!says_error(r))
            continue;
        nsc_text error = nsc_said(c->m, r, "text");
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
        name_group(c, f, i, s->to);
        f->count = (uint64_t)size_of(c, r);
        f->title =
            nsc_words(c, "ncclras: %s reported \"%.*s\"", who(c, f, r, size_of(c, r)), (int)error.len, error.ptr);
        nsc_explain_by(c, f, NSC_RAS_REPORTED);
    }
}

/* ---- who does not answer ---- */

static void tell_lost(struct nsc_case *c)
{
    const struct nsc_own_record *unlisted = NULL; /* "2 job processes are considered dead ..." */
    for (size_t i = 0; i <= c->m->happened.len; i++) {
        const struct nsc_own_record *r = i < c->m->happened.len ? line_of(c, i) : NULL;
        bool lost = r && r->number == NCCLSCOPE_KIND_RAS_LOST;
        if (unlisted && !lost && nsc_text_find(unlisted->where.text, " process") >= 0) {
            struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
            f->count = (uint64_t)size_of(c, unlisted);
            f->title = nsc_words(c, "ncclras: %lld process%s not answer", (long long)size_of(c, unlisted),
                                 size_of(c, unlisted) > 1 ? "es do" : " does");
            nsc_explain_by(c, f, NSC_RAS_NO_ANSWER);
            nsc_show(c, f, &unlisted->where);
        }
        bool announces = r && (r->number == NCCLSCOPE_KIND_RAS_SILENT || r->number == NCCLSCOPE_KIND_RAS_UNREACHABLE);
        unlisted = announces ? r : NULL;
        if (!lost)
            continue;
        nsc_text node = nsc_said(c->m, r, "name"), gpu = nsc_said(c->m, r, "gpu"), pid = nsc_said(c->m, r, "pid");
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
        f->title = nsc_words(c, "ncclras: process %.*s on %.*s (GPU %.*s) does not answer", (int)pid.len, pid.ptr,
                             (int)node.len, node.ptr, (int)gpu.len, gpu.ptr);
        nsc_explain_by(c, f, NSC_RAS_NO_ANSWER);
        nsc_name_host(c, f, nsc_field_of(c->m, r, "name"));
        f->count = 1;
        nsc_show(c, f, &r->where);
    }
}

void nsc_tell_ras_text(struct nsc_case *c)
{
    tell_lost(c);
    for (struct section s = {0}; s.from < c->m->happened.len; s.from = s.to) {
        for (s.to = s.from + 1; s.to < c->m->happened.len && !begins_section(line_of(c, s.to)); s.to++)
            continue;
        tell_counts(c, &s);
        tell_states(c, &s);
        tell_errors(c, &s);
    }
}
