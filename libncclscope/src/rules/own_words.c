/* own_words.c - what ranks say of themselves in their program's words, and how a job ends by these, or by its script, where no line of NCCL's,
 * PyTorch's or a launcher's tells of it. */
#include "rules/own_words.h"

#include "base/alloc.h"
#include "base/map.h"
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

/* How far NCCL's lines show each rank of an input. */
struct lives {
    struct nsc_map at; /* rank and source to its place in `of` */
    struct life {
        uint64_t last; /* line: it began, or came up */
        bool closed;
    } * of; /* NULL: there is no memory */
};

static struct lives list_lives(const struct ncclscope_model *m)
{
    struct lives all = {.of = nsc_alloc((m->ranks.len + 1) * sizeof *all.of)};
    for (size_t i = 0; all.of && i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        uint32_t source = m->procs.item[r->proc].source;
        struct nsc_key key = {(uint64_t)r->rank, source, 0};
        uint32_t at = nsc_map_get(&all.at, key);
        if (at == NSC_NONE && nsc_map_put(&all.at, key, at = (uint32_t)i)) {
            nsc_free(all.of);
            all.of = NULL;
            break;
        }
        struct life *x = &all.of[at];
        x->last = r->first.source == source && r->first.line > x->last ? r->first.line : x->last;
        x->last = r->complete.source == source && r->complete.line > x->last ? r->complete.line : x->last;
        x->closed = x->closed || r->destroyed.line;
    }
    return all;
}

/* Did the rank go on in NCCL's lines behind it, or come to its end? */
static bool went_on(const struct lives *all, const struct nsc_own_record *r, int64_t rank)
{
    uint32_t at = nsc_map_get(&all->at, (struct nsc_key){(uint64_t)rank, r->where.source, 0});
    return at != NSC_NONE && (all->of[at].closed || all->of[at].last > r->where.line);
}

/* ", rank 3 does not": of the one communicator that has all of the job, those that say nothing, where they are few. */
static const char *who_is_silent(struct nsc_case *c, const struct nsc_finding *f)
{
    enum { FEW = 4, MOST = 100000 };
    const struct nsc_comm *all = NULL;
    for (size_t i = 0; i < c->m->comms.len; i++)
        if (!all || c->m->comms.item[i].nranks > all->nranks)
            all = &c->m->comms.item[i];
    int64_t n = all && all->nranks <= MOST ? all->nranks : 0, silent = n - (int64_t)f->ranks.len;
    if (silent < 1 || silent > FEW || silent * 2 > n)
        return "";
    struct nsc_finding none = {.rule = c->rule};
    struct nsc_map told = {0};
    for (size_t i = 0; i < f->ranks.len; i++)
        c->f->no_memory = nsc_map_put(&told, (struct nsc_key){f->ranks.item[i], 0, 0}, 1) || c->f->no_memory;
    for (int64_t rank = 0; rank < n; rank++)
        if (nsc_map_get(&told, (struct nsc_key){(uint64_t)rank, 0, 0}) == NSC_NONE)
            nsc_name_rank(c, &none, (uint64_t)rank);
    const char *words = (int64_t)none.ranks.len != silent /* the program counts otherwise */
                            ? ""
                            : nsc_words(c, ", %s do%s not", nsc_list_ranks(c, &none), silent == 1 ? "es" : "");
    nsc_map_free(&told);
    nsc_vec_free(&none.ranks);
    nsc_map_free(&none.named);
    return words;
}

/* "rank 0: timed out waiting for a collective". */
static void tell_words_of_ranks(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *first = NULL;
    struct nsc_finding *f = NULL;
    struct lives lives = list_lives(m);
    c->f->no_memory = c->f->no_memory || !lives.of;
    for (size_t i = 0; lives.of && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank;
        if (r->number != NCCLSCOPE_KIND_RANK_SAID || !nsc_number_said(m, r, "rank", &rank) || rank < 0 ||
            !tells_of_an_end(nsc_said(m, r, "text")) || went_on(&lives, r, rank))
            continue;
        first = first ? first : r;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "possible");
        f->count++;
        nsc_name_rank(c, f, (uint64_t)rank);
        nsc_show(c, f, &r->where);
    }
    nsc_map_free(&lives.at);
    nsc_free(lives.of);
    if (!f)
        return;
    f->part = NSC_NO_FAILURE;
    f->title =
        nsc_words(c, "%s tell%s in the program's own words of an end that NCCL prints nothing of%s: %s",
                  nsc_list_ranks(c, f), f->ranks.len == 1 ? "s" : "", who_is_silent(c, f), nsc_quote_rank(c, first));
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
    if (!nsc_success_of(c->m) && !tell_script(c))
        tell_words_of_ranks(c);
}
