/* rules_ras.c - what the ncclras client saw of a job at one moment, in its JSON: ranks that are behind, processes that do not answer. */
#include "rules/ask.h"

enum { SUCCESS = 0, IN_PROGRESS = 7 }; /* ncclResult_t */

static bool is_gone(const struct nsc_ras_rank *r)
{
    return r->missing && (r->dead || r->unresponsive);
}

static bool has_left(const struct nsc_ras_rank *r)
{
    return r->missing && !is_gone(r);
}

static bool has_error(const struct nsc_ras_rank *r)
{
    return !r->missing && ((r->init_state != SUCCESS && r->init_state != IN_PROGRESS) ||
                           (r->async_error != SUCCESS && r->async_error != IN_PROGRESS));
}

/* "rank 3 (GPU 3, process 77 on 192.0.2.7)", or "ranks 3, 5". */
static const char *who(struct nsc_case *c, struct nsc_finding *f, const struct nsc_ras_rank *r)
{
    nsc_text host = r->host ? nsc_say(c->m, r->host) : (nsc_text){"?", 1};
    if (f->ranks.len > 1)
        return nsc_list_ranks(c, f);
    return nsc_words(c, "rank %lld (GPU %lld, process %lld on %.*s)", (long long)r->rank, (long long)r->cuda_dev,
                     (long long)r->pid, (int)host.len, host.ptr);
}

static void name(struct nsc_case *c, struct nsc_finding *f, const struct nsc_ras_rank *r)
{
    nsc_name_rank(c, f, (uint64_t)r->rank);
    nsc_name_host(c, f, r->host);
    nsc_show(c, f, &r->where);
    f->count++;
}

struct sort { /* one thing that may be wrong with ranks of a communicator */
    bool (*is)(const struct nsc_ras_rank *r);
    int severity;
    const char *confidence, *one, *many;
    int reason;
};

static const struct sort sorts[] = {
    {is_gone, NCCLSCOPE_SEVERITY_ERROR, "likely", "does not answer", "do not answer", NSC_RAS_GONE},
    {has_error, NCCLSCOPE_SEVERITY_ERROR, "likely", "has an error of NCCL", "have an error of NCCL", NSC_RAS_ERROR},
    {has_left, NCCLSCOPE_SEVERITY_WARNING, "possible", "answers and does not hold this communicator",
     "answer and do not hold this communicator", NSC_RAS_LEFT},
};

static void tell_sort(struct nsc_case *c, const struct sort *s, const struct nsc_ras_rank *r, size_t n)
{
    struct nsc_finding *f = NULL;
    const struct nsc_ras_rank *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!s->is(&r[i]))
            continue;
        first = first ? first : &r[i];
        f = f ? f : nsc_found(c, s->severity, "error", s->confidence);
        name(c, f, &r[i]);
    }
    if (!f)
        return;
    bool code = s->is == has_error && f->ranks.len == 1;
    f->title = nsc_words(c, "ncclras: %s %s", who(c, f, first), f->ranks.len > 1 ? s->many : s->one);
    if (code)
        f->title = nsc_words(c, "%s: init_state %lld, async_error %lld", f->title, (long long)first->init_state,
                             (long long)first->async_error);
    nsc_explain_by(c, f, s->reason);
}

/* How often a rank had called this collective; false if it does not say. */
static bool calls_of(const struct ncclscope_model *m, const struct nsc_ras_rank *r, nsc_str collective, uint64_t *out)
{
    for (uint32_t i = 0; i < r->counts; i++)
        if (m->ras_counts.item[r->first + i].collective == collective) {
            *out = m->ras_counts.item[r->first + i].calls;
            return true;
        }
    return false;
}

/* Of one collective: ranks with fewer calls than others. */
static void tell_behind(struct nsc_case *c, nsc_str collective, const struct nsc_ras_rank *r, size_t n)
{
    uint64_t most = 0, least = UINT64_MAX, calls;
    for (size_t i = 0; i < n; i++)
        if (calls_of(c->m, &r[i], collective, &calls)) {
            most = calls > most ? calls : most;
            least = calls < least ? calls : least;
        }
    if (least >= most)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "error", "possible");
    const struct nsc_ras_rank *first = NULL;
    for (size_t i = 0; i < n; i++)
        if (calls_of(c->m, &r[i], collective, &calls) && calls < most) {
            first = first ? first : &r[i];
            name(c, f, &r[i]);
        }
    nsc_text op = nsc_say(c->m, collective), comm = nsc_say(c->m, first->comm);
    f->title = nsc_words(c, "ncclras: %s had called %.*s %s%llu times, others %llu%s%.*s%s", who(c, f, first),
                         (int)op.len, op.ptr, f->ranks.len > 1 ? "as few as " : "", (unsigned long long)least,
                         (unsigned long long)most, first->comm ? " (communicator " : "",
                         first->comm ? (int)comm.len : 0, first->comm ? comm.ptr : "", first->comm ? ")" : "");
    nsc_explain_by(c, f, NSC_RAS_MOMENT);
}

static void tell_ras_json(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t at = 0, end; at < m->ras.len; at = end) {
        const struct nsc_ras_rank *r = &m->ras.item[at];
        for (end = at; end < m->ras.len && m->ras.item[end].group == r->group; end++)
            continue;
        for (size_t i = 0; i < sizeof sorts / sizeof sorts[0]; i++)
            tell_sort(c, &sorts[i], r, end - at);
        const struct nsc_ras_rank *counted = r; /* all name the same collectives */
        while (counted < r + (end - at) - 1 && !counted->counts)
            counted++;
        for (uint32_t i = 0; i < counted->counts; i++)
            tell_behind(c, m->ras_counts.item[counted->first + i].collective, r, end - at);
    }
}

void nsc_tell_ras(struct nsc_case *c)
{
    nsc_tell_ras_text(c);
    tell_ras_json(c);
}
