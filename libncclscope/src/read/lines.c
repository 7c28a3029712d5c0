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

static bool is_colon_token(nsc_text t)
{
    const char *first = t.len ? memchr(t.ptr, ':', t.len) : NULL;
    return first && memchr(first + 1, ':', (size_t)(t.ptr + t.len - first - 1));
}

/* The last "host:pid:tid [dev] file.cc:1 NCCL WARN ..." of a text: where it begins; 0 if there is none. */
static size_t last_header(nsc_text t)
{
    enum { WORDS = 4 };
    size_t at = t.len;
    do {
        const char *n = memrchr(t.ptr, 'N', at);
        if (!n)
            return 0;
        at = (size_t)(n - t.ptr);
    } while (!nsc_text_starts(nsc_text_from(t, at), "NCCL "));
    size_t start = at;
    for (int word = 0; word < WORDS && start > 0; word++) {
        size_t end = start;
        while (end > 0 && t.ptr[end - 1] == ' ')
            end--;
        for (start = end; start > 0 && t.ptr[start - 1] != ' ';)
            start--;
        if (is_colon_token((nsc_text){t.ptr + start, end - start}))
            return start;
    }
    return at;
}

size_t nsc_piece_of(nsc_text line, size_t *next)
{
    const char *cr = memrchr(line.ptr, '\r', NSC_LINE_LIMIT + 1);
    *next = cr > line.ptr ? (size_t)(cr - line.ptr) + 1 : 0;
    if (*next)
        return *next - 1;
    *next = last_header((nsc_text){line.ptr, NSC_LINE_LIMIT});
    if (!*next)
        *next = NSC_LINE_LIMIT;
    return *next;
}

bool nsc_begins_document(nsc_text line)
{
    size_t i = 1;
    if (nsc_text_starts(line, "\xef\xbb\xbf")) /* a byte order mark */
        line = nsc_text_from(line, 3);
    if (!line.len || (line.ptr[0] != '{' && line.ptr[0] != '['))
        return false;
    bool list = line.ptr[0] == '[';
    while (i < line.len && (line.ptr[i] == ' ' || (list && line.ptr[i] == '[')))
        i++;
    return i < line.len && (line.ptr[i] == '"' || (list && line.ptr[i] == '{'));
}

static size_t limit_of(const struct nsc_lines *l)
{
    nsc_text line = {l->buf + l->start, l->end - l->start};
    return !l->inside && nsc_begins_document(line) ? NSC_DOCUMENT_LIMIT : NSC_LINE_LIMIT;
}

/* `len` bytes as a line, or as a piece of one; `behind`: bytes between it and what comes next. */
static void give(struct nsc_lines *l, struct nsc_line *out, size_t len, size_t behind)
{
    const char *p = l->buf + l->start;
    l->number += !l->inside;
    *out = (struct nsc_line){.text = {p, len}, .number = l->number, .lines = !l->inside, .offset = l->offset};
    l->offset += len + behind;
    l->start += len + behind;
    l->scanned = l->scanned > l->start ? l->scanned : l->start;
}

static void give_line(struct nsc_lines *l, struct nsc_line *out, size_t len, size_t newline)
{
    give(l, out, len, newline);
    out->unended = !newline;
    out->text.len -= len && out->text.ptr[len - 1] == '\r';
    l->inside = false;
}

static void give_piece(struct nsc_lines *l, struct nsc_line *out)
{
    size_t next, len = nsc_piece_of((nsc_text){l->buf + l->start, l->end - l->start}, &next);
    give(l, out, len, next - len);
    out->cut = len == NSC_LINE_LIMIT && next == len;
    l->inside = true;
}

bool nsc_lines_next(struct nsc_lines *l, struct nsc_line *out)
{
    size_t left = l->end - l->scanned;
    char *nl = left ? memchr(l->buf + l->scanned, '\n', left) : NULL;
    l->scanned = nl ? (size_t)(nl - l->buf) : l->end;
    size_t len = l->scanned - l->start;
    if (len > NSC_LINE_LIMIT && len > limit_of(l)) {
        give_piece(l, out);
        return true;
    }
    if (!nl && (!l->finished || !len))
        return false;
    give_line(l, out, len, nl != NULL);
    return true;
}

void nsc_lines_free(struct nsc_lines *l)
{
    nsc_free(l->buf);
    *l = (struct nsc_lines){0};
}
