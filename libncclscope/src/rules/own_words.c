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

/* Does one of these stand in the words, in whatever case, and not in the midst of another word? */
static bool holds_any(nsc_text words, const char *const *any, size_t n)
{
    for (size_t i = 0; i < words.len; i++) {
        char before = i ? nsc_lower(words.ptr[i - 1]) : ' ';
        for (size_t k = 0; (before < 'a' || before > 'z') && k < n; k++)
            if (nsc_text_starts_as(nsc_text_from(words, i), any[k]))
                return true;
    }
    return false;
}
#define HOLDS(words, list) holds_any(words, list, sizeof(list) / sizeof(list)[0])

/* Words of a program that goes on all the same, or that only counts. */
static bool goes_on(nsc_text words)
{
    static const char *const on[] = {"retry",      "try again",   "trying again",  "once more", "going on",
                                     "continuing", "skipping",    "using default", "stale ",    "0 errors",
                                     "0 aborted",  "0 timed out", "0 crashed"};
    return HOLDS(words, on);
}

/* Do the words say that a rank came to a bad end, and not only that a call or a check failed, which a program may well survive? */
static bool tells_of_an_end(nsc_text words)
{
    static const char *const ends[] = {"timed out", "aborting",   "aborted", "giving up", "gave up",
                                       "died",      "was killed", "crashed", "unhandled"};
    return HOLDS(words, ends) && !goes_on(words);
}

/* Behind a failure of NCCL's, which it may be of, an error is enough. */
static bool tells_of_an_error(nsc_text words)
{
    static const char *const errors[] = {"error", "exited", "exception"};
    return tells_of_an_end(words) || (HOLDS(words, errors) && !goes_on(words));
}

/* The rank that this line is of, of so many (0: it is not known how many); -1: it is no such line, or names one that is none of them. */
static int64_t speaker_of(const struct ncclscope_model *m, const struct nsc_own_record *r, int64_t size)
{
    int64_t rank;
    bool is = r->number == NCCLSCOPE_KIND_RANK_SAID && nsc_number_said(m, r, "rank", &rank) && rank >= 0;
    return is && (!size || rank < size) ? rank : -1;
}

const struct nsc_own_record *nsc_word_of_end(const struct ncclscope_model *m, int64_t rank,
                                             const struct nsc_where *from, const struct nsc_where *before)
{
    const struct nsc_own_record *last = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        bool between = r->where.source == before->source && r->where.line < before->line &&
                       !(from->source == r->where.source && from->line > r->where.line);
        if (between && speaker_of(m, r, 0) == rank)
            last = r;
    }
    return last && tells_of_an_end(nsc_said(m, last, "text")) ? last : NULL;
}

/* The communicator that has most ranks: that of the job, by whose numbers a program calls them. */
static int64_t size_of_job(const struct ncclscope_model *m)
{
    int64_t size = 0;
    for (size_t i = 0; i < m->comms.len; i++)
        size = m->comms.item[i].nranks > size ? m->comms.item[i].nranks : size;
    return size;
}

/* How far NCCL's lines show each rank of the job. */
struct lives {
    struct nsc_map last;   /* rank and source to the rank (of the model) that began, or came up, last there */
    struct nsc_map closed; /* ranks that came to their end */
};

static uint64_t last_line_of(const struct nsc_rank *r, uint32_t source)
{
    uint64_t first = r->first.source == source ? r->first.line : 0,
             up = r->complete.source == source ? r->complete.line : 0;
    return first > up ? first : up;
}

static void list_lives(struct nsc_case *c, struct lives *all)
{
    const struct ncclscope_model *m = c->m;
    int64_t size = size_of_job(m);
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        uint32_t source = m->procs.item[r->proc].source;
        struct nsc_key key = {(uint64_t)r->rank, source, 0};
        if (r->nranks != size)
            continue;
        uint32_t had = nsc_map_get(&all->last, key);
        bool later = had == NSC_NONE || last_line_of(r, source) > last_line_of(&m->ranks.item[had], source);
        int failed = later ? nsc_map_put(&all->last, key, (uint32_t)i) : 0;
        failed |= r->destroyed.line ? nsc_map_put(&all->closed, (struct nsc_key){(uint64_t)r->rank, 0, 0}, 1) : 0;
        c->f->no_memory = c->f->no_memory || failed;
    }
}

/* Did the rank go on in NCCL's lines behind it, or come to its end? */
static bool went_on(const struct ncclscope_model *m, const struct lives *all, const struct nsc_own_record *r,
                    int64_t rank)
{
    uint32_t at = nsc_map_get(&all->last, (struct nsc_key){(uint64_t)rank, r->where.source, 0});
    return nsc_map_get(&all->closed, (struct nsc_key){(uint64_t)rank, 0, 0}) != NSC_NONE ||
           (at != NSC_NONE && last_line_of(&m->ranks.item[at], r->where.source) > r->where.line);
}

/* Names the rank of the line, and any that wrote into it: "timed out waiting for a collectiverank 0: timed out ...". */
static void name_speakers(struct nsc_case *c, struct nsc_finding *f, const struct nsc_own_record *r, int64_t size)
{
    nsc_text words = nsc_said(c->m, r, "text");
    nsc_name_rank(c, f, (uint64_t)speaker_of(c->m, r, size));
    for (ptrdiff_t at; (at = nsc_text_find(words, "rank ")) >= 0;) {
        bool glued = at > 0 && words.ptr[at - 1] != ' '; /* not "waiting for rank 3: ..." */
        words = nsc_text_from(words, (size_t)at + 5);
        size_t n = 0;
        uint64_t rank;
        while (n < words.len && nsc_is_digit(words.ptr[n]))
            n++;
        if (glued && n < words.len && words.ptr[n] == ':' && nsc_to_u64((nsc_text){words.ptr, n}, &rank) &&
            (!size || rank < (uint64_t)size))
            nsc_name_rank(c, f, rank);
    }
}

/* ", rank 3 does not": of the ranks of the job those that say nothing at all in the input, where they are few. */
static const char *who_is_silent(struct nsc_case *c)
{
    enum { FEW = 4, MOST = 100000 };
    const struct ncclscope_model *m = c->m;
    struct nsc_finding spoke = {.rule = c->rule}, silent = {.rule = c->rule};
    int64_t size = size_of_job(m);
    uint64_t lines = 0;
    for (size_t i = 0; size <= MOST && i < m->happened.len; i++) {
        if (speaker_of(m, &m->happened.item[i], size) < 0)
            continue;
        lines++;
        name_speakers(c, &spoke, &m->happened.item[i], size);
    }
    int64_t n = size - (int64_t)spoke.ranks.len;
    /* who speaks twice may be two, which the program numbers by host */
    bool clear = spoke.ranks.len && lines <= spoke.ranks.len && n >= 1 && n <= FEW && (n * 2 < size || size == 2);
    for (int64_t rank = 0; clear && rank < size; rank++) {
        size_t before = spoke.ranks.len;
        nsc_name_rank(c, &spoke, (uint64_t)rank);
        if (spoke.ranks.len > before)
            nsc_name_rank(c, &silent, (uint64_t)rank);
    }
    const char *words = clear ? nsc_words(c, ", %s do%s not", nsc_list_ranks(c, &silent), n == 1 ? "es" : "") : "";
    nsc_vec_free(&silent.ranks);
    nsc_map_free(&silent.named);
    nsc_vec_free(&spoke.ranks);
    nsc_map_free(&spoke.named);
    return words;
}

/* "rank 0: timed out waiting for a collective", in an input in which the program does not come to its end. */
static void tell_words_of_ranks(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_where *done = nsc_success_of(m);
    const struct nsc_own_record *first = NULL;
    struct nsc_finding *f = NULL;
    struct lives lives = {0};
    int64_t size = size_of_job(m);
    list_lives(c, &lives);
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank = speaker_of(m, r, size);
        if (rank < 0 || !tells_of_an_end(nsc_said(m, r, "text")) || went_on(m, &lives, r, rank) ||
            (done && done->source == r->where.source))
            continue;
        first = first ? first : r;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "possible");
        f->count++;
        name_speakers(c, f, r, size);
        nsc_show(c, f, &r->where);
    }
    nsc_map_free(&lives.last);
    nsc_map_free(&lives.closed);
    if (!f)
        return;
    f->part = NSC_NO_FAILURE;
    f->title =
        nsc_words(c, "%s report%s in the program's own words an end that NCCL does not mention%s: %s",
                  nsc_list_ranks(c, f), f->ranks.len == 1 ? "s" : "", who_is_silent(c), nsc_quote_rank(c, first));
    nsc_explain_by(c, f, NSC_EXIT_OWN_WORDS);
}

const char *nsc_silent_behind(struct nsc_case *c, const struct nsc_where *failed)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding some = {.rule = c->rule};
    int64_t size = size_of_job(m);
    for (size_t i = 0; size && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->where.source == failed->source && r->where.line > failed->line && speaker_of(m, r, size) >= 0 &&
            tells_of_an_error(nsc_said(m, r, "text")))
            name_speakers(c, &some, r, size);
    }
    const char *silent = some.ranks.len ? who_is_silent(c) : "";
    const char *words = *silent ? nsc_words(c, " After it, %s report%s an end in the program's own words%s.",
                                            nsc_list_ranks(c, &some), some.ranks.len == 1 ? "s" : "", silent)
                                : "";
    nsc_vec_free(&some.ranks);
    nsc_map_free(&some.named);
    return words;
}

/* "+ exit 1" as the last line of an input: the trace (set -x) of how its script ends. What stood behind it in the trace would show that it was
 * of a sub-shell. */
static bool is_last_exit(const struct ncclscope_model *m, const struct nsc_own_record *r, bool well)
{
    int64_t code = 0;
    return r->number == NCCLSCOPE_KIND_SHELL_EXITS && m->sources.item[r->where.source].stats.lines == r->where.line &&
           nsc_to_i64(nsc_said(m, r, "code"), &code) && !code == well;
}

/* Does the script, the program or a rank of that input come to a good end? Then what was ended from outside there had served its time. */
static bool ends_well(const struct ncclscope_model *m, uint32_t source)
{
    const struct nsc_where *done = nsc_success_of(m);
    bool well = done && done->source == source;
    for (size_t i = 0; !well && i < m->happened.len; i++)
        well = m->happened.item[i].where.source == source && is_last_exit(m, &m->happened.item[i], true);
    for (size_t i = 0; !well && i < m->ranks.len; i++)
        well = m->ranks.item[i].destroyed.line && m->ranks.item[i].destroyed.source == source;
    return well;
}

/* "Terminated", "++ exit 1": what a shell says of a process that it waited for, and how its script ends. */
static bool tell_script(struct nsc_case *c)
{
    enum { NEAR_THE_END = 20 };
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *ends = NULL, *stopped = NULL;
    for (size_t i = 0; i < m->happened.len && !ends; i++)
        ends = is_last_exit(m, &m->happened.item[i], false) ? &m->happened.item[i] : NULL;
    for (size_t i = 0; i < m->happened.len && !stopped; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        uint32_t source = r->where.source;
        bool near = r->number == NCCLSCOPE_KIND_SHELL_STOPPED &&
                    m->sources.item[source].stats.lines <= r->where.line + NEAR_THE_END;
        stopped = near && (ends ? source == ends->where.source : !ends_well(m, source)) ? r : NULL;
    }
    if (!ends && !stopped)
        return false;
    struct nsc_finding *f = nsc_found(c, ends ? NCCLSCOPE_SEVERITY_ERROR : NCCLSCOPE_SEVERITY_NOTE, "error", "likely");
    nsc_text code = ends ? nsc_said(m, ends, "code") : (nsc_text){NULL, 0};
    f->count = 1;
    f->part = ends ? f->part : NSC_NO_FAILURE;
    f->title = ends ? nsc_words(c, "The job's script ends with exit code %.*s, by its trace%s", (int)code.len, code.ptr,
                                stopped ? "; before that, SIGTERM ended one of its processes" : "")
                    : "A shell says that SIGTERM ended one of its processes";
    nsc_explain_by(c, f, stopped ? NSC_EXIT_SCRIPT_STOPPED : NSC_EXIT_SCRIPT);
    nsc_show(c, f, stopped ? &stopped->where : NULL);
    nsc_show(c, f, ends ? &ends->where : NULL);
    return true;
}

void nsc_tell_own_words(struct nsc_case *c)
{
    if (!tell_script(c))
        tell_words_of_ranks(c);
}
