/* wrap.c - undoes what a collector or a terminal did to a line. */
#include "read/wrap.h"

#include "base/alloc.h"

char *nsc_wrap_room(struct nsc_wrap *w, size_t need)
{
    char *p = nsc_grow(w->buf, &w->cap, need + 1, 1);
    if (p)
        w->buf = p;
    return p;
}

/* Without ESC [ ... letter, and ESC ] ... BEL or ESC \\ (titles, links). In place when `text` already lies in the buffer. */
static nsc_text strip_colour(struct nsc_wrap *w, nsc_text text)
{
    size_t n = 0;
    if (text.ptr != w->buf && !nsc_wrap_room(w, text.len))
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

/* "&gt;" "&#62;" "&#x3e;" at the beginning of `s`: its character to `to`, how many bytes it took; 0 if it is none. */
static size_t entity(nsc_text s, char *to, size_t *put)
{
    static const struct {
        char name[7], is;
    } known[] = {{"&gt;", '>'}, {"&lt;", '<'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&nbsp;", ' '}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (nsc_text_starts(s, known[k].name)) {
            *to = known[k].is;
            *put = 1;
            return strlen(known[k].name);
        }
    const char *end = s.len > 3 && s.ptr[1] == '#' ? memchr(s.ptr, ';', s.len < 10 ? s.len : 10) : NULL;
    uint64_t code = 0;
    if (!end)
        return 0;
    bool hex = s.ptr[2] == 'x' || s.ptr[2] == 'X';
    nsc_text digits = {s.ptr + 2 + hex, (size_t)(end - s.ptr) - 2 - hex};
    if (!(hex ? nsc_to_hex(digits, &code) : nsc_to_u64(digits, &code)) || !code || code > 0xffff)
        return 0;
    *put = code == 0xa0 ? 1 : nsc_put_utf8(to, (uint32_t)code);
    *to = code == 0xa0 ? ' ' : *to;
    return (size_t)(end - s.ptr) + 1;
}

static nsc_text undo_entities(struct nsc_wrap *w, nsc_text text)
{
    size_t n = 0;
    if (text.ptr != w->buf && !nsc_wrap_room(w, text.len))
        return text;
    for (size_t i = 0; i < text.len; i++) {
        size_t put = 0, used = text.ptr[i] == '&' ? entity(nsc_text_from(text, i), w->buf + n, &put) : 0;
        if (!used)
            w->buf[n++] = text.ptr[i];
        n += put;
        i += used ? used - 1 : 0;
    }
    return (nsc_text){w->buf, n};
}

/* Where the first "](http" of a Markdown link stands, of what was made of a file's name or an address; NULL: there is none. */
static const char *link_in(nsc_text s)
{
    for (const char *p = s.ptr, *end = s.ptr + s.len; p && p < end && (p = memchr(p, '(', (size_t)(end - p))); p++)
        if (p > s.ptr && p[-1] == ']' && end - p > 5 && !memcmp(p, "(http", 5))
            return p - 1;
    return NULL;
}

/* "transport/[net_ib.cc:101](http://net_ib.cc:101/) NCCL WARN ..." to "transport/net_ib.cc:101 NCCL WARN ...": each link to its text. */
static nsc_text undo_links(struct nsc_wrap *w, nsc_text text)
{
    size_t n = 0;
    if (text.ptr != w->buf && !nsc_wrap_room(w, text.len))
        return text;
    for (const char *at; (at = link_in(text));) {
        size_t words = (size_t)(at - text.ptr), open = words;
        while (open && text.ptr[open - 1] != '[' && text.ptr[open - 1] != ']')
            open--;
        const char *close = memchr(at, ')', (size_t)(text.ptr + text.len - at));
        if (!open || text.ptr[open - 1] != '[' || !close)
            break;
        memmove(w->buf + n, text.ptr, open - 1);
        memmove(w->buf + n + open - 1, text.ptr + open, words - open);
        n += words - 1;
        text = nsc_text_from(text, (size_t)(close + 1 - text.ptr));
    }
    memmove(w->buf + n, text.ptr, text.len);
    return (nsc_text){w->buf, n + text.len};
}

/* The length of a printer's quotation mark that begins here; 0: none does. */
static size_t quotation_mark(const char *p, size_t n)
{
    static const char *const marks[] = {"\u201c", "\u201d", "\u201e", "\u2018", "\u2019",
                                        "\u00ab", "\u00bb", "\u300c", "\u300d"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (n >= strlen(marks[i]) && !memcmp(p, marks[i], strlen(marks[i])))
            return strlen(marks[i]);
    return 0;
}

/* A line that somebody put between such marks, and no word around it. */
static nsc_text undo_quotation(nsc_text line)
{
    size_t open = (unsigned char)line.ptr[0] < 0x80 ? 0 : quotation_mark(line.ptr, line.len), close = 0;
    for (size_t n = 2; open && !close && n <= 3 && open + n < line.len; n++)
        close = quotation_mark(line.ptr + line.len - n, n);
    return close ? (nsc_text){line.ptr + open, line.len - open - close} : line;
}

void nsc_unwrap_nothing(struct nsc_wrap *w)
{
    w->time = w->pod = w->container = (nsc_text){NULL, 0};
}

nsc_text nsc_unwrap(struct nsc_wrap *w, nsc_text line)
{
    nsc_unwrap_nothing(w);
    while (line.len && !line.ptr[0]) /* a file that was cut to nothing while it was written to begins with a hole */
        line = nsc_text_from(line, 1);
    while (line.len && !line.ptr[line.len - 1])
        line.len--;
    if (line.len && line.ptr[0] == '{')
        line = nsc_unwrap_json(w, line);
    if (line.len && memchr(line.ptr, 0x1b, line.len))
        line = strip_colour(w, line);
    for (int times = 0; times < 2 && line.len && memchr(line.ptr, '&', line.len); times++) { /* twice: "&amp;gt;" */
        if (!memmem(line.ptr, line.len, "NCCL", 4))
            break;
        line = undo_entities(w, line);
    }
    if (line.len && link_in(line) && memmem(line.ptr, line.len, "NCCL", 4))
        line = undo_links(w, line);
    return line.len ? undo_quotation(line) : line;
}

/* ---- a second look ---- */

static char *grown(char **buf, size_t *cap, size_t need)
{
    char *p = nsc_grow(*buf, cap, need + 1, 1);
    if (p)
        *buf = p;
    return p;
}

/* "[32m", "^[[0m", "\033[1;31m": colours whose escape was lost or spelt out; their length, 0 if `s` begins with none. */
static size_t spelt_colour(nsc_text s)
{
    static const char *const escapes[] = {"^[", "\\033", "\\x1b", "\\e", "\\u001b", ""};
    size_t k = 0;
    while (!nsc_text_starts(s, escapes[k]))
        k++;
    size_t i = strlen(escapes[k]);
    if (i + 2 >= s.len || s.ptr[i] != '[')
        return 0;
    size_t digits = ++i;
    while (i < s.len && (nsc_is_digit(s.ptr[i]) || s.ptr[i] == ';'))
        i++;
    return i > digits && i < s.len && s.ptr[i] == 'm' ? i + 1 : 0;
}

/* Tabs and unbreakable blanks to blanks, "\[0\]" to "[0]", no bold type of Markdown, no NUL bytes, no colours that are spelt out. False if
 * nothing of that is there. */
static bool undo_marks(struct nsc_wrap *w, nsc_text line, nsc_text *out)
{
    size_t n = 0;
    bool any = false;
    if (!grown(&w->other, &w->other_cap, line.len))
        return false;
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.ptr[i], next = i + 1 < line.len ? (unsigned char)line.ptr[i + 1] : 0;
        size_t colour = c && strchr("[^\\", c) ? spelt_colour(nsc_text_from(line, i)) : 0;
        if (colour) {
            any = true;
            i += colour - 1;
            continue;
        }
        bool blank = c == 0xc2 && next == 0xa0, escape = c == '\\' && next && strchr("[]_*<>#-", next);
        bool bold = c == '*' && next == '*'; /* "**NCCL WARN Call to ...**" */
        any = any || c == '\t' || !c || blank || escape || bold;
        i += bold;
        if (!c || escape || bold)
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
    bool quoted = nsc_unquote_line(w, line, (size_t)nccl, &unquoted);
    bool marks = undo_marks(w, quoted ? unquoted : line, &mended);
    if (quoted || marks)
        *out = marks ? mended : unquoted;
    return quoted || marks;
}

static bool cut_end(nsc_text *line, const char *end)
{
    size_t n = strlen(end);
    if (line->len < n || memcmp(line->ptr + line->len - n, end, n) != 0)
        return false;
    line->len -= n;
    return true;
}

static bool cut_any_end(nsc_text *line, const char *const ends[])
{
    size_t k = 0;
    while (ends[k] && !cut_end(line, ends[k]))
        k++;
    return ends[k];
}

/* 'vm:1:1 [0] ...' b'vm:1:1 [0] ...\n' "vm:1:1 [0] ...", */
static bool cut_quote(nsc_text *line, char before)
{
    nsc_text s = *line;
    s.len -= s.ptr[s.len - 1] == ',' && s.len > 1;
    if (s.ptr[s.len - 1] != before)
        return false;
    s.len--;
    cut_end(&s, "\\n");
    *line = s;
    return true;
}

/* "The point is **vm:1:1 [0] NCCL WARN ...**, as one sees": where the end of what is set apart stands, or the end of the line. */
static size_t end_of_emphasis(nsc_text line, size_t start)
{
    bool bold = nsc_text_ends((nsc_text){line.ptr, start}, "**");
    const char *end = bold ? memmem(line.ptr + start, line.len - start, "**", 2) : NULL;
    return end ? (size_t)(end - line.ptr) : line.len;
}

size_t nsc_without_tail(nsc_text line, size_t start)
{
    static const char *const tags[] = {"<br>",    "<br/>",  "<br />", "</p>",  "</pre>", "</code>",
                                       "</span>", "</div>", "</td>",  "</li>", NULL};
    static const char *const colours[] = {"\\u001b[0m", "\\033[0m", "\\x1b[0m", "\\e[0m", "^[[0m", "[0m", "[m", NULL};
    static const char *const frames[] = {"\xe2\x94\x82", "\xe2\x94\x83", "\xe2\x95\x91",
                                         NULL}; /* thin, thick, double */
    char before = start ? line.ptr[start - 1] : 0;
    line.len = end_of_emphasis(line, start);
    for (bool cut = true; cut && line.len > start + 1;) {
        switch (line.ptr[line.len - 1]) {
        case ' ':
        case '\t': line = nsc_text_trim_end(line); break;
        case '>': cut = cut_any_end(&line, tags); break;
        case 'n': cut = cut_end(&line, "\\n"); break;
        case 'm': cut = cut_any_end(&line, colours); break;
        case '`': cut = start && memchr(line.ptr, '`', start) && cut_end(&line, "`"); break;
        case '\x82':
        case '\x83':
        case '\x91': cut = start && cut_any_end(&line, frames); break;
        case '|': /* of a table in Markdown, of which a page may have left the end alone */
            cut = cut_end(&line, " | |") || cut_end(&line, " |  |") ||
                  (start && memchr(line.ptr, '|', start) && cut_end(&line, "|"));
            break;
        case ',':
        case '"':
        case '\'': cut = (before == '"' || before == '\'') && cut_quote(&line, before); break;
        default: cut = false;
        }
    }
    return line.len < start ? start : line.len;
}

/* How many bytes at the beginning of `s` are an arrow, or the dash of one, that an editor drew. */
static size_t drawn_arrow(nsc_text s)
{
    bool dash = nsc_text_starts(s, "\xe2\x80\x93>") || nsc_text_starts(s, "\xe2\x80\x94>");
    return dash ? 4 : nsc_text_starts(s, "\xe2\x86\x92") ? 3 : 0;
}

bool nsc_mend_message(struct nsc_wrap *w, nsc_text message, nsc_text *out)
{
    const char *nul = message.len ? memchr(message.ptr, 0, message.len) : NULL;
    if (nul)
        message.len = (size_t)(nul - message.ptr); /* what lay behind it in NCCL's buffer */
    bool drawn = message.len && memchr(message.ptr, 0xe2, message.len);
    /* "0[0] -> 1[0] [send]    via NET/IB/0": somebody set the lines of both ends below each other */
    bool wide = nsc_text_find_by(message, "[send]  ", 0) >= 0 || nsc_text_find_by(message, "[receive]  ", 0) >= 0;
    if ((!nul && !drawn && !wide) || !grown(&w->message, &w->message_cap, message.len))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < message.len; i++) {
        size_t arrow = drawn_arrow(nsc_text_from(message, i));
        if (arrow) {
            w->message[n++] = '-';
            w->message[n++] = '>';
            i += arrow - 1;
        } else if (!wide || message.ptr[i] != ' ' || !n || w->message[n - 1] != ' ') {
            w->message[n++] = message.ptr[i];
        }
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
    uint64_t times;
    if (nsc_to_u64(n, &times) && times && times <= INT32_MAX)
        *more = times - 1;
    *message = nsc_text_trim_end((nsc_text){m.ptr, start});
}
