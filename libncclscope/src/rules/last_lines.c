/* last_lines.c - the rows of endings.def: a program's end in the words of a runtime, a tool, a kernel. */
#include "rules/last_lines.h"

#include "rules/ask.h"

enum order { LAST, FIRST };

static const struct ending {
    ncclscope_kind kind;
    enum order order;
    uint64_t near;
    int severity;
    const char *title, *fix;
} endings[] = {
#define ENDING(kind, order, near, severity, title, fix) \
    {NCCLSCOPE_KIND_##kind, order, near, NCCLSCOPE_SEVERITY_##severity, title, fix},
#include "endings.def"
#undef ENDING
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
        if (r->number != x->kind || s->stats.lines > r->where.line + x->near)
            continue;
        bool outlived = (done && done->source == r->where.source && done->line > r->where.line) ||
                        (x->near < RIGHT_AT_THE_END && s->last_record > r->where.line) || nsc_outlives(m, r);
        if (!outlived)
            return r;
    }
    return NULL;
}

bool nsc_tell_last_lines(struct nsc_case *c, bool why)
{
    enum { SHOWN = 180 };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const struct nsc_own_record *r = why == (endings[i].order == FIRST) ? line_of(c->m, &endings[i]) : NULL;
        if (!r)
            continue;
        nsc_text text = nsc_text_trim(nsc_field_of(c->m, r, "text") ? nsc_said(c->m, r, "text") : r->where.text),
                 name = nsc_said(c->m, r, "name"), code = nsc_said(c->m, r, "code");
        text.len -= text.len && text.ptr[text.len - 1] == '.';
        struct nsc_finding *f = nsc_found(c, endings[i].severity, "error", "certain");
        f->count = 1;
        f->title = code.len ? nsc_words(c, "%s: Xid %.*s at %.*s: %.*s", endings[i].title, (int)code.len, code.ptr,
                                        (int)name.len, name.ptr, (int)(text.len < SHOWN ? text.len : SHOWN), text.ptr)
                            : nsc_words(c, "%s: %.*s%s", endings[i].title, (int)(text.len < SHOWN ? text.len : SHOWN),
                                        text.ptr, text.len > SHOWN ? " ..." : "");
        f->cause = "This input shows no NCCL failure.";
        f->fix = endings[i].fix;
        nsc_show(c, f, &r->where);
        return true;
    }
    return false;
}
