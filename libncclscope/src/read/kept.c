/* kept.c - copies a record: its line once, and what of it does not lie in the line. */
#include "read/kept.h"

#include "read/transport.h"

/* The line that is copied, and where to. */
struct move {
    nsc_text line;
    char *to;
    struct nsc_arena *arena;
    bool failed;
};

static nsc_text moved(struct move *m, nsc_text t)
{
    if (!t.ptr)
        return t;
    if (nsc_text_lies_in(t, m->line))
        return (nsc_text){m->to + (t.ptr - m->line.ptr), t.len};
    t = nsc_arena_copy(m->arena, t);
    m->failed = m->failed || !t.ptr;
    return t;
}

static const struct nsc_match *keep_match(struct move *m, const struct nsc_match *match)
{
    struct nsc_match *kept = match ? nsc_arena_alloc(m->arena, nsc_match_size(match)) : NULL;
    m->failed = m->failed || (match && !kept);
    if (kept)
        nsc_match_copy(kept, match, moved(m, match->subject));
    return kept;
}

/* Its texts lie in the reader's own copy of the text, which another line may take. */
static const struct nsc_via *keep_via(struct move *m, const struct nsc_via *via)
{
    struct nsc_via *kept = via ? nsc_arena_alloc(m->arena, sizeof *kept) : NULL;
    m->failed = m->failed || (via && !kept);
    if (!kept)
        return NULL;
    *kept = *via;
    kept->text = moved(m, via->text);
    kept->network = moved(m, via->network);
    kept->comm = moved(m, via->comm);
    return kept;
}

const struct ncclscope_record *nsc_record_keep(struct nsc_arena *a, const struct ncclscope_record *rec)
{
    struct move m = {.line = rec->physical, .arena = a};
    struct ncclscope_record *kept = nsc_arena_alloc(a, sizeof *kept);
    m.to = kept ? nsc_arena_alloc(a, rec->physical.len + 1) : NULL;
    if (!m.to)
        return NULL;
    memcpy(m.to, rec->physical.ptr, rec->physical.len);
    *kept = *rec;
    kept->physical.ptr = m.to;
    for (nsc_text *
             t[] = {&kept->message, &kept->host, &kept->location, &kept->pod, &kept->container, &kept->time, NULL},
            **i = t;
         *i; i++)
        **i = moved(&m, **i);
    kept->match = keep_match(&m, rec->match);
    kept->via = keep_via(&m, rec->via);
    return m.failed ? NULL : kept;
}
