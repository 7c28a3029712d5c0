/* wrap.c - undoes what a collector or a terminal did to a line. */
#include "read/wrap.h"

#include "base/alloc.h"

static char *room(struct nsc_wrap *w, size_t need)
{
    char *p = nsc_grow(w->buf, &w->cap, need + 1, 1);
    if (p)
        w->buf = p;
    return p;
}

static size_t put_utf8(char *to, unsigned c)
{
    if (c < 0x80)
        return to[0] = (char)c, 1;
    if (c < 0x800)
        return to[0] = (char)(0xc0 | c >> 6), to[1] = (char)(0x80 | (c & 63)), 2;
    return to[0] = (char)(0xe0 | c >> 12), to[1] = (char)(0x80 | (c >> 6 & 63)), to[2] = (char)(0x80 | (c & 63)), 3;
}

/* One escape of a JSON string, `s` behind the backslash; bytes written. */
static size_t unescape(nsc_text s, size_t *used, char *to)
{
    static const char from[] = "ntrbf", into[] = "\n\t\r\b\f";
    uint64_t code;
    *used = 1;
    const char *known = strchr(from, s.ptr[0]);
    if (s.ptr[0] == 'u' && s.len >= 5 && nsc_to_hex((nsc_text){s.ptr + 1, 4}, &code)) {
        *used = 5;
        return put_utf8(to, (unsigned)code);
    }
    to[0] = known && s.ptr[0] ? into[known - from] : s.ptr[0];
    return 1;
}

/* Behind `"key" : "` in a line of JSON, -1 if it is not there. Blanks may stand on both sides of the colon. */
static ptrdiff_t string_at(nsc_text line, const char *key)
{
    for (ptrdiff_t at = 0; (size_t)at < line.len;) {
        ptrdiff_t found = nsc_text_find(nsc_text_from(line, (size_t)at), key);
        if (found < 0)
            return -1;
        size_t i = (size_t)(at + found) + strlen(key);
        while (i < line.len && line.ptr[i] == ' ')
            i++;
        bool colon = i < line.len && line.ptr[i] == ':';
        for (i += colon; i < line.len && line.ptr[i] == ' ';)
            i++;
        if (colon && i < line.len && line.ptr[i] == '"')
            return (ptrdiff_t)i + 1;
        at = (ptrdiff_t)i;
    }
    return -1;
}

/* One object in a line: {"log":"...\n","stream":"stdout","time":"2026-01-02T03:04:05.6Z"} of docker, and what other collectors
 * make of it. The text is the first string under one of these names; its newline goes. */
static nsc_text unwrap_json(struct nsc_wrap *w, nsc_text line)
{
    static const char *const texts[] = {"\"log\"", "\"message\"", "\"msg\"", "\"textPayload\"", "\"line\""};
    static const char *const times[] = {"\"time\"", "\"@timestamp\"", "\"timestamp\""};
    ptrdiff_t at = -1, time = -1;
    for (size_t k = 0; at < 0 && k < sizeof texts / sizeof texts[0]; k++)
        at = string_at(line, texts[k]);
    if (at < 0 || !room(w, line.len * 3 / 2 + 4))
        return line;
    for (size_t k = 0; time < 0 && k < sizeof times / sizeof times[0]; k++)
        time = string_at(line, times[k]);
    if (time >= 0) {
        w->time = nsc_text_from(line, (size_t)time);
        const char *end = memchr(w->time.ptr, '"', w->time.len);
        w->time.len = end ? (size_t)(end - w->time.ptr) : 0;
    }
    size_t i = (size_t)at, n = 0;
    for (; i < line.len && line.ptr[i] != '"'; i++) {
        if (line.ptr[i] != '\\' || i + 1 == line.len) {
            w->buf[n++] = line.ptr[i];
            continue;
        }
        size_t used;
        n += unescape(nsc_text_from(line, i + 1), &used, w->buf + n);
        i += used;
    }
    while (n && (w->buf[n - 1] == '\n' || w->buf[n - 1] == '\r'))
        n--;
    return (nsc_text){w->buf, n};
}

/* Without ESC [ ... letter. In place when `text` already lies in the buffer. */
static nsc_text strip_colour(struct nsc_wrap *w, nsc_text text)
{
    size_t n = 0;
    if (text.ptr != w->buf && !room(w, text.len))
        return text;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != 0x1b || i + 1 == text.len || text.ptr[i + 1] != '[') {
            w->buf[n++] = text.ptr[i];
            continue;
        }
        i += 2;
        while (i < text.len && (nsc_is_digit(text.ptr[i]) || text.ptr[i] == ';' || text.ptr[i] == '?'))
            i++;
    }
    return (nsc_text){w->buf, n};
}

static nsc_text undo_entities(struct nsc_wrap *w, nsc_text text)
{
    static const struct {
        char name[7], is;
    } entity[] = {{"&gt;", '>'}, {"&lt;", '<'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}};
    size_t n = 0;
    if (text.ptr != w->buf && !room(w, text.len))
        return text;
    for (size_t i = 0; i < text.len; i++) {
        size_t k = 0, kinds = sizeof entity / sizeof entity[0];
        if (text.ptr[i] == '&')
            while (k < kinds && !nsc_text_starts(nsc_text_from(text, i), entity[k].name))
                k++;
        bool found = text.ptr[i] == '&' && k < kinds;
        char c = found ? entity[k].is : text.ptr[i];
        i += found ? strlen(entity[k].name) - 1 : 0;
        w->buf[n++] = c;
    }
    return (nsc_text){w->buf, n};
}

nsc_text nsc_unwrap(struct nsc_wrap *w, nsc_text line)
{
    w->time = (nsc_text){NULL, 0};
    if (line.len && line.ptr[0] == '{')
        line = unwrap_json(w, line);
    if (line.len && memchr(line.ptr, 0x1b, line.len))
        line = strip_colour(w, line);
    if (line.len && memchr(line.ptr, '&', line.len) && memmem(line.ptr, line.len, "NCCL", 4))
        line = undo_entities(w, line);
    return line;
}

void nsc_wrap_free(struct nsc_wrap *w)
{
    nsc_free(w->buf);
    *w = (struct nsc_wrap){0};
}
