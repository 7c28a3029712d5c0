/* raised.c - a program that says that it failed by itself: exceptions, assertions, panics, a server that did not come up. */
#include "rules/raised.h"

enum told { FIRST, LATER };

static const struct words {
    ncclscope_kind kind;
    enum told told;
    const char *field, *title, *fix;
} rows[] = {
#define RAISED(kind, field, told, title, fix) {NCCLSCOPE_KIND_##kind, told, field, title, fix},
#include "raised.def"
#undef RAISED
};

static const struct words *words_of(const struct nsc_own_record *r, enum told told)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].kind == r->number && rows[i].told == told)
            return &rows[i];
    return NULL;
}

/* The process could not use CUDA from its beginning: whatever NCCL says behind it follows. */
static bool is_before_cuda(nsc_text reason)
{
    return nsc_text_find(reason, "in forked subprocess") >= 0;
}

static bool is_of_nccl_or_cuda(nsc_text name, nsc_text reason)
{
    if (nsc_text_find(reason, "retrieving ncclUniqueId") >= 0 || /* PyTorch's store, before NCCL is called */
        is_before_cuda(reason))
        return false;
    return nsc_text_find(name, "DistBackendError") >= 0 || nsc_text_find(name, "ChildFailedError") >= 0 ||
           nsc_text_find(name, "CUDAError") >= 0 || nsc_text_find(reason, "NCCL") >= 0 ||
           nsc_text_find(reason, "CUDA") >= 0;
}

/* "terminate called after throwing ..." and "what(): ..." are two lines, of one process or of several at once. */
static nsc_text reason_of(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    const struct nsc_own_record *next = r + 1, *end = m->happened.item + m->happened.len;
    bool apart = r->number == NCCLSCOPE_KIND_CPP_TERMINATE && next < end && next->number == NCCLSCOPE_KIND_CPP_WHAT &&
                 next->where.source == r->where.source && next->where.line <= r->where.line + 2;
    return nsc_text_trim(nsc_said(m, apart ? next : r, "reason"));
}

enum { REASON_SHOWN = 180 };

static const char *title_of(struct nsc_case *c, const struct words *w, const struct nsc_own_record *r, nsc_text name,
                            nsc_text reason)
{
    reason.len -= reason.len && reason.ptr[reason.len - 1] == '.';
    const char *rank = r->torch_rank >= 0 ? nsc_words(c, " (rank %lld)", (long long)r->torch_rank) : "";
    return nsc_words(c, "%s%s%s%.*s%s%.*s%s", w->title, rank, name.len ? ": " : "", (int)name.len,
                     name.len ? name.ptr : "", reason.len ? ": " : "",
                     (int)(reason.len < REASON_SHOWN ? reason.len : REASON_SHOWN), reason.len ? reason.ptr : "",
                     reason.len > REASON_SHOWN ? " ..." : "");
}

static bool tell(struct nsc_case *c, bool nccl_failed, enum told told)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        const struct words *w = words_of(r, told);
        if (!w)
            continue;
        nsc_text name = *w->field ? nsc_text_trim(nsc_said(m, r, w->field)) : (nsc_text){NULL, 0};
        nsc_text reason = reason_of(m, r);
        if (is_of_nccl_or_cuda(name, reason) || (nccl_failed && !is_before_cuda(reason)))
            continue;
        const struct nsc_where *done = nsc_success_of(m); /* then it was caught, or hurt nothing that mattered */
        bool went_on = done && done->source == r->where.source && done->line > r->where.line;
        struct nsc_finding *f = nsc_found(c, went_on ? NCCLSCOPE_NOTE : NCCLSCOPE_ERROR, "error", "certain");
        f->part = went_on ? NSC_NO_FAILURE : f->part;
        f->count = 1;
        f->title = title_of(c, w, r, name, reason);
        f->cause = went_on
                       ? "The program says behind it that it reached its end."
                       : "No failure of NCCL stands before it in this input; what peers print of closed connections "
                         "follows from it.";
        f->fix = w->fix;
        struct nsc_ask ask = {.c = c, .m = m, .proc = NSC_NONE, .said = &r->where, .distance = ""};
        nsc_explain(c, f, &ask);
        f->confidence = "certain"; /* that it raised this; of the cause the words say how sure it is */
        nsc_show(c, f, &r->where);
        return true;
    }
    return false;
}

bool nsc_tell_raised(struct nsc_case *c, bool nccl_failed)
{
    return tell(c, nccl_failed, FIRST) || tell(c, nccl_failed, LATER);
}
