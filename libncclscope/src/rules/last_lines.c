/* last_lines.c - the rows of endings.def: a program's end in the words of a runtime, a tool, a kernel. */
#include "rules/last_lines.h"

#include "rules/ask.h"

enum order { LAST, FIRST };

static const char none[] = "This input shows no NCCL failure.";

static const struct ending {
    ncclscope_kind kind;
    enum order order;
    uint64_t near;
    int severity;
    const char *title, *why, *fix;
} endings[] = {
#define NONE none
#define ENDING(kind, order, near, severity, title, why, fix) \
    {NCCLSCOPE_KIND_##kind, order, near, NCCLSCOPE_SEVERITY_##severity, title, why, fix},
#include "endings.def"
#undef ENDING
#undef NONE
};

/* Of what is news so near to the end alone, nothing of NCCL may stand behind it. */
enum { RIGHT_AT_THE_END = 20 };

/* The first of its lines that stands near the end of its input, and behind which nothing tells of a good end; NULL: none. */
static const struct nsc_own_record *line_of(const struct ncclscope_model *m, const struct ending *x)
{
    const struct nsc_where *done = nsc_success_of(m);
    for (size_t i = 0; nsc_first_heard(m, x->kind) && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        const struct nsc_source_info *s = &m->sources.item[r->where.source];
        int64_t code;
        bool well = nsc_number_said(m, r, "code", &code) && !code; /* "exitcode  : 0 (pid: 555)" */
        if (r->number != x->kind || well || s->stats.lines > r->where.line + x->near)
            continue;
        bool outlived = (done && done->source == r->where.source && done->line > r->where.line) ||
                        (x->near < RIGHT_AT_THE_END && s->last_record > r->where.line) || nsc_outlives(m, r);
        if (!outlived)
            return r;
    }
    return NULL;
}

/* What the finding is called: with the line's own words, but for those of PyTorch's watchdog, which are long, and always the same. */
static const char *title_of(struct nsc_case *c, const struct ending *x, const struct nsc_own_record *r)
{
    enum { SHOWN = 180 };
    nsc_text text = nsc_text_trim(nsc_field_of(c->m, r, "text") ? nsc_said(c->m, r, "text") : r->where.text),
             name = nsc_said(c->m, r, "name"), code = nsc_said(c->m, r, "code");
    text.len -= text.len && text.ptr[text.len - 1] == '.';
    int len = (int)(text.len < SHOWN ? text.len : SHOWN);
    if (x->why != none)
        return r->torch_rank >= 0 ? nsc_words(c, "%s (rank %lld)", x->title, (long long)r->torch_rank) : x->title;
    if (r->number == NCCLSCOPE_KIND_KERNEL_XID)
        return nsc_words(c, "%s: Xid %.*s at %.*s: %.*s", x->title, (int)code.len, code.ptr, (int)name.len, name.ptr,
                         len, text.ptr);
    return nsc_words(c, "%s: %.*s%s", x->title, len, text.ptr, text.len > SHOWN ? " ..." : "");
}

bool nsc_tell_last_lines(struct nsc_case *c, bool why)
{
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const struct ending *x = &endings[i];
        const struct nsc_own_record *r = why == (x->order == FIRST) ? line_of(c->m, x) : NULL;
        if (!r)
            continue;
        struct nsc_finding *f = nsc_found(c, x->severity, "error", "certain");
        f->count = 1;
        f->part = x->why == none ? f->part : NSC_WAKE;
        f->title = title_of(c, x, r);
        f->cause = x->why;
        f->fix = x->fix;
        if (r->torch_rank >= 0)
            nsc_name_rank(c, f, (uint64_t)r->torch_rank);
        nsc_show(c, f, &r->where);
        return true;
    }
    return false;
}
