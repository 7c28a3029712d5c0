/* lines.c - bytes in chunks to whole lines: one memchr per line, and one partial line carried over. */
#include "read/lines.h"

#include "base/alloc.h"

char *nsc_lines_room(struct nsc_lines *l, size_t size)
{
    if (l->start && l->cap - l->end < size) {
        memmove(l->buf, l->buf + l->start, l->end - l->start);
        l->end -= l->start;
        l->scanned -= l->start;
        l->start = 0;
    }
    if (!l->buf || l->cap - l->end < size) {
        char *p = nsc_grow(l->buf, &l->cap, l->end + size, 1);
        if (!p)
            return NULL;
        l->buf = p;
    }
    return l->buf + l->end;
}

void nsc_lines_filled(struct nsc_lines *l, size_t size)
{
    l->end += size;
}

/* Over the limit, and no newline yet: keep the first NSC_LINE_LIMIT bytes of the line. */
static void drop(struct nsc_lines *l)
{
    size_t keep = l->start + NSC_LINE_LIMIT;
    l->dropped += l->end - keep;
    l->end = l->scanned = keep;
    l->dropping = true;
}

static void give(struct nsc_lines *l, struct nsc_line *out, size_t len, size_t newline)
{
    const char *p = l->buf + l->start;
    out->cut = l->dropping || len > NSC_LINE_LIMIT;
    out->unended = !newline;
    out->number = ++l->number;
    out->lines = 1;
    out->offset = l->offset;
    l->offset += len + l->dropped + newline;
    if (len > NSC_LINE_LIMIT)
        out->text = (nsc_text){p, NSC_LINE_LIMIT};
    else
        out->text = (nsc_text){p, !out->cut && len && p[len - 1] == '\r' ? len - 1 : len};
    l->start += len + newline;
    l->scanned = l->start;
    l->dropping = false;
    l->dropped = 0;
}

bool nsc_lines_next(struct nsc_lines *l, struct nsc_line *out)
{
    size_t left = l->end - l->scanned;
    char *nl = left ? memchr(l->buf + l->scanned, '\n', left) : NULL;
    if (nl) {
        give(l, out, (size_t)(nl - (l->buf + l->start)), 1);
        return true;
    }
    l->scanned = l->end;
    if (l->end - l->start > NSC_LINE_LIMIT)
        drop(l);
    if (!l->finished || l->start == l->end)
        return false;
    give(l, out, l->end - l->start, 0);
    return true;
}

void nsc_lines_free(struct nsc_lines *l)
{
    nsc_free(l->buf);
    *l = (struct nsc_lines){0};
}
