/* own_words.c - what ranks say of themselves in their program's words, and how a job ends by these, or by its script, where no line of NCCL's,
 * PyTorch's or a launcher's tells of it. */
#include "rules/own_words.h"

#include "rules/ask.h"

const struct nsc_own_record *nsc_last_words(const struct ncclscope_model *m, int64_t rank)
{
    uint32_t i = nsc_map_get(&m->whole.words, (struct nsc_key){(uint64_t)rank, 0, 0});
    return i == NSC_NONE ? NULL : &m->happened.item[i];
}

enum { WORDS_SHOWN = 120 };

const char *nsc_quote_rank(struct nsc_case *c, const struct nsc_own_record *r)
{
    nsc_text who = nsc_said(c->m, r, "rank"), words = nsc_text_trim(nsc_said(c->m, r, "text"));
    return nsc_words(c, "rank %.*s says: %.*s%s", (int)who.len, who.ptr,
                     (int)(words.len < WORDS_SHOWN ? words.len : WORDS_SHOWN), words.ptr,
                     words.len > WORDS_SHOWN ? " ..." : "");
}

/* Do the words say that a rank came to a bad end, and not only that a call or a check failed, which a program may well survive? */
static bool tells_of_an_end(nsc_text words)
{
    static const char *const ends[] = {"timed out", "abort", "giv", "gave up", "killed", "died", "crash", "unhandled"};
    char small[200];
    size_t n = words.len < sizeof small ? words.len : sizeof small;
    for (size_t i = 0; i < n; i++)
        small[i] = nsc_lower(words.ptr[i]);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (nsc_text_find((nsc_text){small, n}, ends[i]) >= 0)
            return true;
    return false;
}

/* Did a rank of that number go on in NCCL's lines behind it, or come to its end? */
static bool went_on(const struct ncclscope_model *m, const struct nsc_own_record *r, int64_t rank)
{
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *x = &m->ranks.item[i];
        bool same = x->rank == rank && m->procs.item[x->proc].source == r->where.source;
        if (same &&
            (x->destroyed.line || nsc_is_earlier(&r->where, &x->first) || nsc_is_earlier(&r->where, &x->complete)))
            return true;
    }
    return false;
}

/* "rank 0: timed out waiting for a collective". */
static void tell_words_of_ranks(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *first = NULL;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; !nsc_success_of(m) && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank;
        if (r->number != NCCLSCOPE_KIND_RANK_SAID || !nsc_number_said(m, r, "rank", &rank) || rank < 0 ||
            !tells_of_an_end(nsc_said(m, r, "text")) || went_on(m, r, rank))
            continue;
        first = first ? first : r;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "possible");
        f->count++;
        nsc_name_rank(c, f, (uint64_t)rank);
        nsc_show(c, f, &r->where);
    }
    if (!f)
        return;
    f->part = NSC_NO_FAILURE;
    f->title = nsc_words(c, "%s tell%s in the program's own words of an end that NCCL prints nothing of: %s",
                         nsc_list_ranks(c, f), f->ranks.len == 1 ? "s" : "", nsc_quote_rank(c, first));
    nsc_explain_by(c, f, NSC_EXIT_OWN_WORDS);
    f->severity = NCCLSCOPE_SEVERITY_NOTE;
}

enum { NEAR_THE_END = 20 };

/* The last such line, if the input ends soon behind it. */
static const struct nsc_own_record *at_the_end(const struct ncclscope_model *m, ncclscope_kind kind)
{
    for (size_t i = m->happened.len; i-- > 0;) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number == kind)
            return m->sources.item[r->where.source].stats.lines <= r->where.line + NEAR_THE_END ? r : NULL;
    }
    return NULL;
}

/* "Terminated", "++ exit 1": what a shell says of a process that it waited for, and the trace (set -x) of how its script ends. */
static bool tell_script(struct nsc_case *c)
{
    const struct nsc_own_record *ends = at_the_end(c->m, NCCLSCOPE_KIND_SHELL_EXITS),
                                *stopped = at_the_end(c->m, NCCLSCOPE_KIND_SHELL_STOPPED);
    if (!ends && !stopped)
        return false;
    struct nsc_finding *f = nsc_found(c, ends ? NCCLSCOPE_SEVERITY_ERROR : NCCLSCOPE_SEVERITY_NOTE, "error", "likely");
    nsc_text code = ends ? nsc_said(c->m, ends, "code") : (nsc_text){NULL, 0};
    f->count = 1;
    f->part = ends ? f->part : NSC_NO_FAILURE;
    f->title = ends && stopped
                   ? nsc_words(c,
                               "The job's script ends with exit code %.*s, by its trace; before it a process of it was "
                               "ended from outside (SIGTERM)",
                               (int)code.len, code.ptr)
               : ends ? nsc_words(c, "The job's script ends with exit code %.*s, by its trace", (int)code.len, code.ptr)
                      : "A shell says that a process of it was ended from outside (SIGTERM)";
    nsc_explain_by(c, f, stopped ? NSC_EXIT_SCRIPT_STOPPED : NSC_EXIT_SCRIPT);
    nsc_show(c, f, stopped ? &stopped->where : NULL);
    nsc_show(c, f, ends ? &ends->where : NULL);
    return true;
}

void nsc_tell_own_words(struct nsc_case *c)
{
    if (nsc_success_of(c->m) || !tell_script(c))
        tell_words_of_ranks(c);
}
