/* open_traceback.c - a Python traceback whose last line, which names the exception, is not there: the input ends within it, or others wrote
 * over it, as ranks do that fail at once.
 *
 *   Traceback (most recent call last):
 *     File "/job/train.py", line 88, in main
 *       loss = model(x).sum()
 */
#include "rules/open_traceback.h"

#include "rules/ask.h"

/* Lines behind it in which the input has to end. */
enum { TO_THE_END = 100, CUT_WITHIN = 3 };

struct open_traceback {
    const struct nsc_own_record *head,
        *frame;    /* its first line; its last frame that is of the program itself, or NULL */
    uint64_t last; /* line of its newest frame */
};

static bool begins(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_PY_TRACEBACK || r->number == NCCLSCOPE_KIND_PY_THREAD_RAISED;
}

/* The first frame below the head is Python's own, which prints what it calls raises as the process exits. */
static bool goes_on_behind(const struct ncclscope_model *m, const struct nsc_own_record *head,
                           const struct nsc_own_record *frame)
{
    return frame->number == NCCLSCOPE_KIND_PY_FRAME && frame->torch_rank == head->torch_rank &&
           frame->where.line == head->where.line + 1 &&
           nsc_text_is(nsc_text_trim(nsc_said(m, frame, "name")), "_run_finalizers");
}

/* What goes on for longer outlived it. */
static bool is_at_the_end(const struct ncclscope_model *m, const struct open_traceback *t)
{
    return m->sources.item[t->head->where.source].stats.lines <= t->last + TO_THE_END;
}

/* The first at the end of an input that nothing behind it ends: no exception, and no word of anything else that went wrong. */
static struct open_traceback find_open(const struct ncclscope_model *m)
{
    struct open_traceback t = {NULL, NULL, 0};
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (t.head && r->where.source != t.head->where.source) {
            if (is_at_the_end(m, &t))
                return t;
            t.head = t.frame = NULL;
        }
        if (begins(r))
            t = t.head ? t : (struct open_traceback){r, NULL, r->where.line};
        else if (t.head && goes_on_behind(m, t.head, r))
            t.head = t.frame = NULL;
        else if (t.head && r->number == NCCLSCOPE_KIND_PY_FRAME)
            t.frame = r;
        else if (r->number == NCCLSCOPE_KIND_PY_INTERRUPTED || nsc_is_trouble(r->number))
            t.head = t.frame = NULL;
        if (t.head && (begins(r) || t.frame == r))
            t.last = r->where.line;
    }
    t.head = t.head && is_at_the_end(m, &t) ? t.head : NULL;
    return t;
}

/* A program's words of NCCL's, in the line that ends it: "XlaRuntimeError: INTERNAL: NCCL operation ncclGroupEnd() failed: ..." */
static bool is_quoted(const struct ncclscope_model *m, uint32_t source)
{
    for (size_t i = 0; i < m->events.len; i++)
        if (m->events.item[i].quoted && m->events.item[i].where.source == source)
            return true;
    return false;
}

void nsc_tell_open_traceback(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct open_traceback t = find_open(m);
    int64_t line;
    if (!t.head || nsc_success_of(m) || is_quoted(m, t.head->where.source))
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
    bool cut = m->sources.item[t.head->where.source].stats.lines <= t.last + CUT_WITHIN;
    f->count = 1;
    f->title =
        cut ? "The input ends within a Python traceback: the program raised an exception, whose name is cut off"
            : "The program raised an exception: a Python traceback stands near the end, but no readable line names "
              "the exception";
    nsc_explain_by(c, f, NSC_EXIT_TRACEBACK);
    nsc_show(c, f, &t.head->where);
    if (!t.frame || !nsc_number_said(m, t.frame, "line", &line))
        return;
    nsc_text file = nsc_base_name(nsc_said(m, t.frame, "file")), name = nsc_text_trim(nsc_said(m, t.frame, "name"));
    f->cause = nsc_words(c, "%s The last readable frame of the program itself is %.*s:%lld, in %.*s.", f->cause,
                         (int)(file.len < 80 ? file.len : 80), file.ptr, (long long)line,
                         (int)(name.len < 80 ? name.len : 80), name.len ? name.ptr : "");
    nsc_show(c, f, &t.frame->where);
}
