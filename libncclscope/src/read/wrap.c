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

/* One escape of a JSON string, `s` behind the backslash; bytes written. */
static size_t unescape(nsc_text s, size_t *used, char *to)
{
    static const char from[] = "ntrbf", into[] = "\n\t\r\b\f";
    uint64_t code;
    *used = 1;
    const char *known = strchr(from, s.ptr[0]);
    if (s.ptr[0] == 'u' && s.len >= 5 && nsc_to_hex((nsc_text){s.ptr + 1, 4}, &code)) {
        *used = 5;
        return nsc_put_utf8(to, (uint32_t)code);
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

/* The JSON string that begins behind its quote at `at`, its escapes undone and the newlines at its end cut. */
static nsc_text unquote(struct nsc_wrap *w, nsc_text line, size_t at)
{
    size_t n = 0;
    for (size_t i = at; i < line.len && line.ptr[i] != '"'; i++) {
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
    return unquote(w, line, (size_t)at);
}

/* Without ESC [ ... letter, and ESC ] ... BEL or ESC \\ (titles, links). In place when `text` already lies in the buffer. */
static nsc_text strip_colour(struct nsc_wrap *w, nsc_text text)
{
    size_t n = 0;
    if (text.ptr != w->buf && !room(w, text.len))
        return text;
    for (size_t i = 0; i < text.len; i++) {
        bool title = text.ptr[i] == 0x1b && i + 1 < text.len && text.ptr[i + 1] == ']';
        if (title) {
            for (i += 2; i < text.len && text.ptr[i] != 7 && text.ptr[i] != 0x1b;)
                i++;
            i += i + 1 < text.len && text.ptr[i] == 0x1b;
            continue;
        }
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

/* ---- a second look ---- */

/* A list of strings, one a line; one key of an object a line; an object behind a prefix; a quoted field of CSV. */
static bool unquote_line(struct nsc_wrap *w, nsc_text line, size_t nccl, nsc_text *out)
{
    nsc_text trimmed = nsc_text_trim(line), before = {line.ptr, nccl};
    ptrdiff_t object = nsc_text_find(before, "{\""), field = nsc_text_find(before, ",\"");
    if (object >= 0) {
        nsc_text inner = nsc_text_from(line, (size_t)object);
        *out = unwrap_json(w, inner);
        return out->ptr != inner.ptr;
    }
    if (trimmed.len && trimmed.ptr[0] == '"' && room(w, line.len * 3 / 2 + 4)) {
        ptrdiff_t key = string_at(trimmed, "\"");
        *out = unquote(w, trimmed, key >= 0 && (size_t)key < nccl ? (size_t)key : 1);
        return true;
    }
    if (field < 0 || trimmed.ptr[trimmed.len - 1] != '"' || !room(w, line.len))
        return false;
    size_t n = 0, end = (size_t)(trimmed.ptr + trimmed.len - 1 - line.ptr);
    for (size_t i = (size_t)field + 2; i < end; i++) {
        w->buf[n++] = line.ptr[i];
        i += line.ptr[i] == '"' && i + 1 < end && line.ptr[i + 1] == '"';
    }
    *out = (nsc_text){w->buf, n};
    return true;
}

static char *grown(char **buf, size_t *cap, size_t need)
{
    char *p = nsc_grow(*buf, cap, need + 1, 1);
    if (p)
        *buf = p;
    return p;
}

/* Tabs and unbreakable blanks to blanks, "\[0\]" to "[0]", no NUL bytes. False if nothing of that is there. */
static bool undo_marks(struct nsc_wrap *w, nsc_text line, nsc_text *out)
{
    size_t n = 0;
    bool any = false;
    if (!grown(&w->other, &w->other_cap, line.len))
        return false;
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.ptr[i], next = i + 1 < line.len ? (unsigned char)line.ptr[i + 1] : 0;
        bool blank = c == 0xc2 && next == 0xa0, escape = c == '\\' && next && strchr("[]_*<>#-", next);
        any = any || c == '\t' || !c || blank || escape;
        if (!c || escape)
            continue;
        w->other[n++] = c == '\t' || blank ? ' ' : (char)c;
        i += blank;
    }
    *out = (nsc_text){w->other, n};
    return any;
}

bool nsc_unwrap_more(struct nsc_wrap *w, nsc_text line, nsc_text *out)
{
    const char *found = line.len ? line.ptr : NULL, *end = line.ptr + line.len;
    while (found && (found = memchr(found, 'N', (size_t)(end - found))) &&
           (end - found < 4 || memcmp(found, "NCCL", 4) != 0))
        found = found + 1 < end ? found + 1 : NULL; /* nearly every line ends here: memchr is faster than memmem */
    ptrdiff_t nccl = found ? found - line.ptr : -1;
    if (nccl < 0)
        return false;
    if (line.ptr == w->buf) { /* which will be written to */
        if (!grown(&w->other, &w->other_cap, line.len * 3 / 2 + 4))
            return false;
        memcpy(w->other, line.ptr, line.len);
        line.ptr = w->other;
    }
    nsc_text unquoted, mended;
    bool quoted = unquote_line(w, line, (size_t)nccl, &unquoted);
    bool marks = undo_marks(w, quoted ? unquoted : line, &mended);
    if (quoted || marks)
        *out = marks ? mended : unquoted;
    return quoted || marks;
}

bool nsc_mend_message(struct nsc_wrap *w, nsc_text message, nsc_text *out)
{
    static const char arrow[] = "\xe2\x86\x92";
    const char *nul = message.len ? memchr(message.ptr, 0, message.len) : NULL;
    if (nul)
        message.len = (size_t)(nul - message.ptr);
    bool drawn = message.len && memchr(message.ptr, arrow[0], message.len) && nsc_text_find(message, arrow) >= 0;
    if ((!nul && !drawn) || !grown(&w->message, &w->message_cap, message.len))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < message.len; i++) {
        if (!nsc_text_starts(nsc_text_from(message, i), arrow)) {
            w->message[n++] = message.ptr[i];
            continue;
        }
        w->message[n++] = '-';
        w->message[n++] = '>';
        i += 2;
    }
    *out = nsc_text_trim_end((nsc_text){w->message, n});
    return true;
}

/* ---- pieces of a container runtime ---- */

enum { PIECES = 64 * 1024 };

/* Where the text begins behind "2026-01-02T03:04:05.678901234Z stdout P ", 0 if the line is none of these. */
static size_t piece_text(nsc_text line, int *stream, bool *more)
{
    static const char *const streams[] = {" stdout ", " stderr "};
    if (line.len < 30 || line.ptr[4] != '-' || line.ptr[10] != 'T' || !nsc_is_digit(line.ptr[0]))
        return 0;
    const char *blank = memchr(line.ptr, ' ', line.len < 48 ? line.len : 48);
    size_t at = blank ? (size_t)(blank - line.ptr) : 0;
    for (*stream = 0; *stream < 2; ++*stream)
        if (at && nsc_text_starts(nsc_text_from(line, at), streams[*stream]))
            break;
    at += 8;
    if (*stream == 2 || at + 2 > line.len || (line.ptr[at] != 'P' && line.ptr[at] != 'F') || line.ptr[at + 1] != ' ')
        return 0;
    *more = line.ptr[at] == 'P';
    return at + 2;
}

static bool keep_piece(struct nsc_part *p, nsc_text piece)
{
    char *to = p->len + piece.len > PIECES ? NULL : nsc_grow(p->text, &p->cap, p->len + piece.len + 1, 1);
    if (!to)
        return false;
    p->text = to;
    memcpy(to + p->len, piece.ptr, piece.len);
    p->len += piece.len;
    return true;
}

bool nsc_join_pieces(struct nsc_wrap *w, nsc_text *line)
{
    int stream;
    bool more;
    size_t at = piece_text(*line, &stream, &more);
    if (!at || (!more && !w->part[stream].len))
        return true;
    struct nsc_part *p = &w->part[stream];
    if (!keep_piece(p,
                    p->len ? nsc_text_from(*line, at) : *line)) /* too long: what is there is one line, this the next */
        return true;
    if (more)
        return false;
    *line = (nsc_text){p->text, p->len};
    p->len = 0;
    return true;
}

bool nsc_left_pieces(struct nsc_wrap *w, nsc_text *line)
{
    for (int i = 0; i < 2; i++) {
        if (!w->part[i].len)
            continue;
        *line = (nsc_text){w->part[i].text, w->part[i].len};
        w->part[i].len = 0;
        return true;
    }
    return false;
}

void nsc_wrap_free(struct nsc_wrap *w)
{
    nsc_free(w->buf);
    nsc_free(w->other);
    nsc_free(w->message);
    nsc_free(w->part[0].text);
    nsc_free(w->part[1].text);
    *w = (struct nsc_wrap){0};
}

void nsc_take_repeated(nsc_text *message, uint64_t *more)
{
    static const char open[] = " [repeated ", close[] = "x across cluster]";
    nsc_text m = *message;
    size_t tail = sizeof close - 1;
    if (m.len < tail || m.ptr[m.len - 1] != ']' || memcmp(m.ptr + m.len - tail, close, tail) != 0)
        return;
    const char *at = memrchr(m.ptr, '[', m.len);
    size_t start = at ? (size_t)(at - m.ptr) : 0;
    if (start < 1 || !nsc_text_starts(nsc_text_from(m, start - 1), open))
        return;
    nsc_text n = {m.ptr + start + sizeof open - 2, m.len - tail - start - sizeof open + 2};
    if (nsc_to_u64(n, more) && *more)
        --*more;
    *message = nsc_text_trim_end((nsc_text){m.ptr, start});
}
