/* rules_log.c - the log itself: what it does not hold, what is torn, what nobody knows. */
#include "rules/ask.h"

static uint64_t sum_records(const struct ncclscope_model *m, uint64_t *warnings, uint64_t *unknown, uint64_t *torn)
{
    uint64_t n = 0;
    *warnings = *unknown = *torn = 0;
    for (size_t i = 0; i < m->sources.len; i++) {
        const ncclscope_stats *s = &m->sources.item[i].stats;
        n += s->records;
        *warnings += s->warnings;
        *unknown += s->unknown;
        *torn += s->torn_lines;
    }
    return n;
}

/* How many lines lack but their header; of few among many whole ones another writer took it. */
static uint64_t count_stripped(const struct ncclscope_model *m)
{
    uint64_t stripped = 0, records = 0;
    for (size_t i = 0; i < m->sources.len; i++) {
        const ncclscope_stats *s = &m->sources.item[i].stats;
        stripped += s->stripped;
        records += s->records;
    }
    return stripped * 2 >= records ? stripped : 0;
}

/* Do several processes speak in one input? */
static bool is_shared(const struct ncclscope_model *m)
{
    for (size_t i = 1; i < m->procs.len; i++)
        if (m->procs.item[i].source == m->procs.item[i - 1].source && !m->procs.item[i].nameless &&
            !m->procs.item[i - 1].nameless)
            return true;
    return false;
}

enum { TORN_ALL_OVER = 20 }; /* one record in so many: what is told of the rest may lack something */

void nsc_rule_torn(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    uint64_t warnings, unknown, torn;
    uint64_t records = sum_records(m, &warnings, &unknown, &torn);
    torn -= count_stripped(m);
    if (!torn)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
    bool shared = is_shared(m);
    f->count = torn;
    f->title =
        nsc_words(c,
                  shared ? "%llu line%s torn: another process or other output is mixed into %s, or a part is missing"
                         : "%llu line%s torn: other output is mixed into %s, or a part is missing",
                  (unsigned long long)torn, torn == 1 ? " is" : "s are", torn == 1 ? "it" : "them");
    if (shared && torn * TORN_ALL_OVER >= records)
        f->title = nsc_words(c,
                             "%s. Connections that were cut are not counted. NCCL_DEBUG_FILE=/path/%%h.%%p.log gives "
                             "each process a file of its own",
                             f->title);
    nsc_explain_by(c, f, shared ? NSC_TORN_SHARED : NSC_TORN_BY_ITSELF);
    for (size_t i = 0; i < m->sources.len; i++)
        for (int k = 0; k < 4; k++) {
            struct nsc_where w = {(uint32_t)i, m->sources.item[i].stats.first_torn[k], {"", 0}};
            nsc_show(c, f, &w);
        }
}

void nsc_rule_headers_removed(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    uint64_t warnings, unknown, torn, records = sum_records(m, &warnings, &unknown, &torn), n = count_stripped(m);
    if (!n)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
    f->count = n;
    f->title = nsc_words(c, "%llu of %llu lines known as NCCL's %s header (host:pid:tid [device]), or part of it",
                         (unsigned long long)n, (unsigned long long)records, n == 1 ? "lacks its" : "lack their");
    nsc_explain_by(c, f, 0);
    for (size_t i = 0; i < m->sources.len; i++) {
        struct nsc_where w = {(uint32_t)i, m->sources.item[i].stats.first_torn[0], {"", 0}};
        nsc_show(c, f, &w);
    }
}

void nsc_rule_thread_flood(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->threads.len; i++) {
        const struct nsc_thread *t = &m->threads.item[i];
        if (!t->stands_for_rest)
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
        f->count++;
        nsc_name_host(c, f, m->procs.item[t->proc].host);
        nsc_show(c, f, &m->procs.item[t->proc].first);
    }
    if (!f)
        return;
    f->title = nsc_words(c, "Too many thread ids: %llu process%s under more than %d, and the rest are treated as one",
                         (unsigned long long)f->count, f->count == 1 ? " prints" : "es print", NSC_THREADS);
    nsc_explain_by(c, f, 0);
}

static const struct nsc_where *first_unknown(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->sources.len; i++)
        if (m->sources.item[i].unknown_at.line)
            return &m->sources.item[i].unknown_at;
    return NULL;
}

void nsc_rule_unknown_lines(struct nsc_case *c)
{
    enum { SHOWN = 100 };
    uint64_t warnings, unknown, torn, records = sum_records(c->m, &warnings, &unknown, &torn);
    if (unknown * 50 <= records)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
    f->count = unknown;
    const struct nsc_where *first = first_unknown(c->m);
    nsc_text words = first ? nsc_message_of(first) : (nsc_text){NULL, 0};
    bool last = unknown == 1 && first && c->m->sources.len == 1 && first->line == c->m->sources.item[0].stats.lines;
    f->title = last ? nsc_words(c, "The last line of this input is cut, or this version of ncclscope does not know it")
                    : nsc_words(c, "%llu of %llu NCCL records %s cut, or not known to this version of ncclscope",
                                (unsigned long long)unknown, (unsigned long long)records, unknown == 1 ? "is" : "are");
    if (words.len)
        f->title = nsc_words(c, "%s%s (%s): %.*s%s", f->title, last ? "" : "; the first", nsc_line_in(c, first),
                             (int)(words.len < SHOWN ? words.len : SHOWN), words.ptr, words.len > SHOWN ? " ..." : "");
    const struct nsc_event *git = nsc_event_of(c->m, NSC_NONE, NCCLSCOPE_KIND_GIT_VERSION);
    if (git && nsc_text_find(git->where.text, "-dirty") >= 0) /* "NCCL git version main 6881d13-dirty" */
        f->title = nsc_words(c, "%s. NCCL says it was built from changed sources (%s): these lines may be its own",
                             f->title, nsc_line_in(c, &git->where));
    nsc_show(c, f, first);
    nsc_explain_by(c, f, 0);
}
