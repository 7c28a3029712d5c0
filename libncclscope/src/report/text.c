/* text.c - words on a terminal: wrapped to the width, coloured if asked, never a raw byte from a log. */
#include "report/text.h"

#include "base/harmless.h"
#include "base/neutral.h"

#include <stdarg.h>

static bool is_ascii_only(const struct nsc_report *r)
{
    return r->flags & NCCLSCOPE_REPORT_ASCII;
}

static void colour(const struct nsc_report *r, const char *code)
{
    if (r->flags & NCCLSCOPE_REPORT_COLOR)
        nsc_printf(r->out, "\033[%sm", code);
}

void nsc_mark(const struct nsc_report *r, enum nsc_mark mark)
{
    static const char *const utf8[] = {"\xe2\x9c\x93", "\xe2\x9c\x97", "\xc2\xb7", "?"}, *const ascii[] = {"+", "x",
                                                                                                           "-", "?"};
    static const char *const colours[] = {"32", "31", "2", "33"};
    nsc_puts(r->out, " ");
    colour(r, colours[mark]);
    nsc_puts(r->out, is_ascii_only(r) ? ascii[mark] : utf8[mark]);
    colour(r, "0");
    nsc_puts(r->out, " ");
}

void nsc_indent(const struct nsc_report *r, int columns)
{
    for (int i = 0; i < columns; i++)
        nsc_puts(r->out, " ");
}

void nsc_safe(const struct nsc_report *r, nsc_text text)
{
    while (text.len) {
        bool harmless;
        size_t n = nsc_character(text, &harmless);
        if (!harmless || ((unsigned char)text.ptr[0] >= 0x80 && is_ascii_only(r)))
            nsc_puts(r->out, text.ptr[0] == '\t' ? " " : "?");
        else
            nsc_put(r->out, (nsc_text){text.ptr, n});
        text = nsc_text_from(text, n);
    }
}

int ncclscope_write_harmless(const char *text, int flags, ncclscope_write_fn *write, void *user)
{
    if (!text || !write)
        return NCCLSCOPE_EINVAL;
    struct nsc_out out = {.write = write, .user = user};
    nsc_safe(&(struct nsc_report){.out = &out, .flags = flags}, nsc_text_of(text));
    return nsc_flush(&out) ? NCCLSCOPE_OK : NCCLSCOPE_EIO;
}

void nsc_csv_text(const struct nsc_report *r, nsc_text t)
{
    bool quoted = false;
    for (size_t i = 0; i < t.len; i++)
        quoted = quoted || strchr(",\"\r\n", t.ptr[i]);
    nsc_puts(r->out, quoted ? "\"" : "");
    for (size_t i = 0, from = 0; i < t.len; i++)
        if (t.ptr[i] == '"' || i + 1 == t.len) { /* a quote stands twice */
            nsc_safe(r, (nsc_text){t.ptr + from, i + 1 - from});
            nsc_puts(r->out, t.ptr[i] == '"' ? "\"" : "");
            from = i + 1;
        }
    nsc_puts(r->out, quoted ? "\"" : "");
}

void nsc_safe_line(const struct nsc_report *r, const char *line)
{
    nsc_text t = nsc_text_of(line);
    bool newline = t.len && t.ptr[t.len - 1] == '\n';
    nsc_safe(r, (nsc_text){t.ptr, t.len - newline});
    nsc_puts(r->out, newline ? "\n" : "");
}

/* Columns that a text takes, one for each character. */
int nsc_width(nsc_text text)
{
    int n = 0;
    while (text.len) {
        size_t k = nsc_utf8(text);
        text = nsc_text_from(text, k ? k : 1);
        n++;
    }
    return n;
}

void nsc_wrap(const struct nsc_report *r, int indent, nsc_text text)
{
    int at = indent;
    for (nsc_text word = nsc_next_word(&text); word.len; word = nsc_next_word(&text)) {
        int w = nsc_width(word);
        if (at > indent && at + 1 + w > r->columns) {
            nsc_puts(r->out, "\n");
            nsc_indent(r, indent);
            at = indent;
        }
        if (at > indent) {
            nsc_puts(r->out, " ");
            at++;
        }
        nsc_safe(r, word);
        at += w;
    }
    nsc_puts(r->out, "\n");
}

void nsc_dim(const struct nsc_report *r, nsc_text label, int indent)
{
    nsc_indent(r, indent);
    colour(r, "2");
    nsc_put(r->out, label);
    colour(r, "0");
    nsc_indent(r, 6 - (int)label.len);
}

void nsc_bold(const struct nsc_report *r, nsc_text text)
{
    colour(r, "1");
    nsc_safe(r, text);
    colour(r, "0");
}

/* "nvls.cc:254 " of "transport/nvls.cc:254 NCCL WARN ...": what one searches for. `at`: where the marker stands. */
static ptrdiff_t begin_of_place(nsc_text line, ptrdiff_t at)
{
    ptrdiff_t from = at - 1;
    while (from > 0 && line.ptr[from - 1] != ' ' && line.ptr[from - 1] != '/')
        from--;
    nsc_text word = {line.ptr + (from > 0 ? from : 0), (size_t)(from > 0 ? at - 1 - from : 0)};
    bool place = nsc_text_find(word, ".cc:") > 0 || nsc_text_find(word, ".h:") > 0 || nsc_text_find(word, ".cpp:") > 0;
    return place && nsc_is_digit(word.ptr[word.len - 1]) ? from : at;
}

/* Where what was said begins, behind who said it: "NCCL WARN ...", with its place in the source where all of it has room, or of another
 * library "UCX ERROR ..."; or -1. */
static ptrdiff_t begin_of_words(nsc_text line, int room)
{
    static const char *const markers[] = {"NCCL INFO ", "NCCL WARN ", " ERROR ", " Error ", " WARN "};
    ptrdiff_t at = -1;
    for (size_t i = 0; at < 0 && i < sizeof markers / sizeof markers[0]; i++)
        at = nsc_text_find(line, markers[i]) + (markers[i][0] == ' ' && nsc_text_find(line, markers[i]) >= 0);
    ptrdiff_t place = at > 0 ? begin_of_place(line, at) : at;
    return place > 0 && nsc_width(nsc_text_from(line, (size_t)place)) <= room - 3 ? place : at;
}

/* What of a quoted line is shown where it has no room: from its words on, or from its beginning. True: something is left out before them. */
static bool from_its_words(const struct nsc_report *r, nsc_text *line, int room)
{
    bool whole = r->flags & NCCLSCOPE_REPORT_VERBOSE || nsc_width(*line) <= room;
    ptrdiff_t marker = whole ? -1 : begin_of_words(*line, room);
    if (marker <= 0)
        return false;
    *line = nsc_text_from(*line, (size_t)marker); /* who said it is in the log; what was said, here */
    static const char info[] = "NCCL INFO ";
    size_t skip = nsc_text_starts(*line, info) ? sizeof info - 1 : 0;
    if (nsc_width(*line) > room - 3 && nsc_width(nsc_text_from(*line, skip)) <= room - 3)
        *line = nsc_text_from(*line, skip);
    return true;
}

/* The beginning of the text that is not wider than `room`. */
static nsc_text within(nsc_text text, int room)
{
    nsc_text rest = text;
    for (int i = 0; i < room && rest.len; i++) {
        size_t k = nsc_utf8(rest);
        rest = nsc_text_from(rest, k ? k : 1);
    }
    text.len -= rest.len;
    return text;
}

void nsc_line_of(const struct nsc_report *r, const char *where, nsc_text line)
{
    int room = r->columns - 12 - (int)strlen(where);
    nsc_text cut = nsc_text_trim(line);
    nsc_puts(r->out, where);
    if (from_its_words(r, &cut, room)) {
        nsc_puts(r->out, "...");
        room -= 3;
    }
    bool fits = r->flags & NCCLSCOPE_REPORT_VERBOSE || nsc_width(cut) <= room || room <= 8;
    nsc_safe(r, fits ? cut : within(cut, room - 3));
    nsc_puts(r->out, fits ? "\n" : "...\n");
}

void nsc_quote(const struct nsc_report *r, int at, nsc_text line)
{
    enum { INDENT = 13, SHORTEST = 20 };
    int room = r->columns - at, below = r->columns - INDENT;
    nsc_text text = nsc_text_trim(line);
    if (from_its_words(r, &text, room)) {
        nsc_puts(r->out, "...");
        room -= 3;
    }
    if (r->flags & NCCLSCOPE_REPORT_VERBOSE || nsc_width(text) <= room) {
        nsc_safe(r, text);
        nsc_puts(r->out, "\n");
        return;
    }
    nsc_text first = within(text, room > 0 ? room + 1 : 0);
    const char *blank = first.len ? memrchr(first.ptr, ' ', first.len) : NULL;
    if (room < SHORTEST)
        first.len = 0;
    else
        first = blank && blank - first.ptr > SHORTEST ? (nsc_text){first.ptr, (size_t)(blank - first.ptr)}
                                                      : within(text, room);
    nsc_safe(r, first);
    nsc_puts(r->out, "\n");
    nsc_indent(r, INDENT);
    text = nsc_text_trim(nsc_text_from(text, first.len));
    bool fits = nsc_width(text) <= below;
    nsc_safe(r, fits ? text : within(text, below - 3));
    nsc_puts(r->out, fits ? "\n" : "...\n");
}

size_t nsc_append(char *buf, size_t size, size_t n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = n < size ? nsc_vformat(buf + n, size - n, format, args) : 0;
    va_end(args);
    return more > 0 ? n + (size_t)more : n;
}

void nsc_part(const struct nsc_report *r, const char *name, nsc_text text)
{
    if (!text.len || nsc_text_is(text, "-"))
        return;
    nsc_printf(r->out, "%-8s ", name);
    nsc_wrap(r, 9, text);
}
