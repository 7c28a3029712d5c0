/* entries.c - a document of JSON on one line, walked once: strings that are lines of a log, each with the pod of the object around it. */
#include "read/entries.h"

#include "base/alloc.h"
#include "read/lines.h"
#include "read/wrap.h"

static const char *const text_keys[] = {"log", "message", "msg", "textPayload", "line", "MESSAGE", NULL};
static const char *const trace_keys[] = {"exc_info",  "exception",         "stack_trace", "stacktrace", "stackTrace",
                                         "traceback", "error.stack_trace", "stack",       "exc_text",   NULL};
static const char *const pod_keys[] = {
    "pod",          "pod_name",     "podName", "kubernetes_pod_name", "kubernetes.pod_name", "kubernetes.pod.name",
    "k8s_pod_name", "k8s.pod.name", NULL};
static const char *const time_keys[] = {"time", "@timestamp", "timestamp", NULL};

static bool is_one_of(nsc_text t, const char *const words[])
{
    size_t i = 0;
    while (words[i] && !nsc_text_is(t, words[i]))
        i++;
    return words[i];
}

static size_t skip_blanks(nsc_text doc, size_t at)
{
    while (at < doc.len && (doc.ptr[at] == ' ' || doc.ptr[at] == '\t' || doc.ptr[at] == '\r'))
        at++;
    return at;
}

/* The place of the quote that ends the string which begins behind the one at `at`; doc.len: none does. */
static size_t string_end(nsc_text doc, size_t at)
{
    for (at++; at < doc.len && doc.ptr[at] != '"'; at++)
        at += doc.ptr[at] == '\\';
    return at < doc.len ? at : doc.len;
}

/* Behind the value that begins at `at`. */
static size_t skip_value(nsc_text doc, size_t at)
{
    size_t depth = 0;
    for (; at < doc.len; at++) {
        char c = doc.ptr[at];
        if (c == '"')
            at = string_end(doc, at);
        else if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']' || c == ',') && !depth)
            return at;
        else if (c == '}' || c == ']')
            depth--;
        if (!depth && (c == '"' || c == '}' || c == ']'))
            return at + 1;
    }
    return doc.len;
}

/* What an object says of itself, in objects inside it too ("stream", "kubernetes", "resource"."labels"), but not in lists: those hold
 * others. `at` is behind its bracket, `parent` the key that it stands under. */
static void look_into(nsc_text doc, size_t at, nsc_text parent, int depth, struct nsc_container *l)
{
    enum { DEEPEST = 3 };
    while ((at = skip_blanks(doc, at)) < doc.len && doc.ptr[at] == '"') {
        size_t end = string_end(doc, at);
        nsc_text key = {doc.ptr + at + 1, end > at ? end - at - 1 : 0};
        at = skip_blanks(doc, end + 1 < doc.len ? end + 1 : doc.len);
        at = skip_blanks(doc, at + (at < doc.len && doc.ptr[at] == ':'));
        if (at < doc.len && doc.ptr[at] == '"') {
            nsc_text value = {doc.ptr + at + 1, string_end(doc, at) - at - 1};
            if (!l->pod.len && (is_one_of(key, pod_keys) || (nsc_text_is(parent, "pod") && nsc_text_is(key, "name"))))
                l->pod = value;
            if (!l->time.len && is_one_of(key, time_keys))
                l->time = value;
        } else if (at < doc.len && doc.ptr[at] == '{' && depth < DEEPEST)
            look_into(doc, at + 1, key, depth + 1, l);
        at = skip_blanks(doc, skip_value(doc, at));
        at += at < doc.len && doc.ptr[at] == ',';
    }
}

static struct nsc_container *top(struct nsc_entries *e)
{
    return e->depth && e->depth <= NSC_LEVELS ? &e->level[e->depth - 1] : NULL;
}

/* The pod and the time of the nearest object around the string that says them. */
static void take_surroundings(struct nsc_entries *e, struct nsc_entry *out)
{
    for (size_t i = e->depth < NSC_LEVELS ? e->depth : NSC_LEVELS; i > 0; i--) {
        struct nsc_container *l = &e->level[i - 1];
        if (!l->list && !l->known)
            look_into(e->doc, l->start + 1, i > 1 ? e->level[i - 2].key : (nsc_text){NULL, 0}, 0, l);
        l->known = true;
        out->pod = out->pod.len ? out->pod : l->pod;
        out->time = out->time.len ? out->time : l->time;
    }
}

static bool all_digits(nsc_text t)
{
    size_t i = 0;
    while (i < t.len && nsc_is_digit(t.ptr[i]))
        i++;
    return i && i == t.len;
}

/* Is a string at this place a line of a log, whatever it says? Under a name for that; behind a stamp in a list, as in Loki's values; in a
 * list that is all there is. */
static bool is_text(const struct nsc_entries *e, const struct nsc_container *l, nsc_text s)
{
    if (!l)
        return false;
    return !l->list     ? is_one_of(l->key, text_keys) || is_one_of(l->key, trace_keys)
           : l->stamped ? l->values == 1
                        : e->depth == 1 && !all_digits(s);
}

/* The innermost container that is an element of a list. */
static size_t unit_of(const struct nsc_entries *e)
{
    size_t i = e->depth < NSC_LEVELS ? e->depth : NSC_LEVELS;
    while (i > 1 && !e->level[i - 2].list)
        i--;
    return i ? e->level[i - 1].start : 0;
}

/* The string to `buf`. */
static bool unescape(struct nsc_entries *e, nsc_text s)
{
    char *p = nsc_grow(e->buf, &e->cap, s.len + 4, 1);
    e->len = e->given = 0;
    if (!p)
        return false;
    e->buf = p;
    for (size_t i = 0; i < s.len; i++) {
        size_t used = 0;
        if (s.ptr[i] != '\\' || i + 1 == s.len)
            p[e->len++] = s.ptr[i];
        else
            e->len += nsc_unescape(nsc_text_from(s, i + 1), &used, p + e->len);
        i += used;
    }
    return true;
}

/* A string that is a value. True: it is in `buf`, to be given out. */
static bool take_string(struct nsc_entries *e, struct nsc_container *l, nsc_text s)
{
    bool text = is_text(e, l, s);
    if (l && l->list && !l->values)
        l->stamped = all_digits(s);
    if ((!text && !nsc_holds_record(s)) || !unescape(e, s))
        return false;
    size_t unit = unit_of(e);
    uint64_t said = nsc_hash(e->buf, e->len);
    bool again = unit == e->unit && said == e->said && !(l && l->list);
    e->unit = unit;
    e->said = said;
    return !again;
}

/* The string at e->at. True: it is in `buf`. */
static bool read_string(struct nsc_entries *e)
{
    size_t end = string_end(e->doc, e->at), behind = skip_blanks(e->doc, end < e->doc.len ? end + 1 : end);
    struct nsc_container *l = top(e);
    nsc_text s = {e->doc.ptr + e->at + 1, end - e->at - 1};
    if (end == e->doc.len) {
        e->broken = true;
        return false;
    }
    e->at = behind;
    if (behind < e->doc.len && e->doc.ptr[behind] == ':') {
        e->at++;
        if (l)
            l->key = s;
        return false;
    }
    bool text = take_string(e, l, s);
    if (l)
        l->values++;
    return text;
}

static void open_level(struct nsc_entries *e, bool list)
{
    if (e->depth++ < NSC_LEVELS)
        e->level[e->depth - 1] = (struct nsc_container){.start = e->at, .list = list};
    e->at++;
}

/* true, false, null, a number: what no bracket, quote or comma is. */
static void skip_word(struct nsc_entries *e)
{
    size_t from = e->at;
    while (e->at < e->doc.len && (nsc_is_digit(e->doc.ptr[e->at]) ||
                                  ((e->doc.ptr[e->at] | 0x20) >= 'a' && (e->doc.ptr[e->at] | 0x20) <= 'z') ||
                                  e->doc.ptr[e->at] == '-' || e->doc.ptr[e->at] == '+' || e->doc.ptr[e->at] == '.'))
        e->at++;
    e->broken = e->at == from;
    struct nsc_container *l = top(e);
    if (l)
        l->values++;
}

/* On to the next string that is one of the log. */
static bool walk(struct nsc_entries *e)
{
    while (!e->broken && (e->at = skip_blanks(e->doc, e->at)) < e->doc.len) {
        char c = e->doc.ptr[e->at];
        if (c == '"') {
            if (read_string(e))
                return true;
        } else if (c == '{' || c == '[')
            open_level(e, c == '[');
        else if ((c == '}' || c == ']') && e->depth) {
            e->depth--;
            e->at++;
            if (top(e))
                top(e)->values++;
        } else if (c == ',')
            e->at++;
        else
            skip_word(e);
    }
    return false;
}

static void rewind_to(struct nsc_entries *e, nsc_text line)
{
    *e = (struct nsc_entries){.doc = line, .buf = e->buf, .cap = e->cap, .unit = SIZE_MAX};
}

bool nsc_entries_begin(struct nsc_entries *e, nsc_text line)
{
    static const char mark[] = "NCCL ";
    ptrdiff_t first = -1;
    bool many = line.len > NSC_LINE_LIMIT, list = line.len && line.ptr[0] == '[';
    if (!nsc_begins_document(line))
        return false;
    if (!many && !list)
        first = nsc_text_find(line, mark);
    bool raised = !many && !list && nsc_text_find(line, "Traceback (most recent call last)") >= 0;
    if (!many && !list && !raised &&
        (first < 0 || nsc_text_find(nsc_text_from(line, (size_t)first + sizeof mark - 1), mark) < 0))
        return false; /* most lines of collectors: one object, one line of log */
    rewind_to(e, line);
    size_t n = 0, unit = 0;
    for (; !many && n < 2 && walk(e); n++, unit = e->unit)
        many = list || (n && e->unit != unit) || memchr(e->buf, '\n', e->len ? e->len - 1 : 0);
    rewind_to(e, many ? line : (nsc_text){NULL, 0});
    return e->doc.len;
}

/* The rest of what is no JSON, as a long line is given out. */
static bool give_rest(struct nsc_entries *e, struct nsc_entry *out)
{
    nsc_text rest = nsc_text_from(e->doc, e->at);
    size_t next = rest.len;
    *out = (struct nsc_entry){.text = rest};
    if (rest.len > NSC_LINE_LIMIT)
        out->text.len = nsc_piece_of(rest, &next);
    out->cut = out->text.len == NSC_LINE_LIMIT;
    e->at += next;
    return rest.len;
}

static bool give_line(struct nsc_entries *e, struct nsc_entry *out)
{
    nsc_text rest = {e->buf + e->given, e->len - e->given};
    const char *nl = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
    size_t len = nl ? (size_t)(nl - rest.ptr) : rest.len;
    e->given += nl ? len + 1 : len;
    len -= len && rest.ptr[len - 1] == '\r';
    *out = (struct nsc_entry){.text = {rest.ptr, len}};
    take_surroundings(e, out);
    return true;
}

bool nsc_entries_next(struct nsc_entries *e, struct nsc_entry *out)
{
    if (!e->doc.len)
        return false;
    if (!e->broken && (e->given < e->len || walk(e)))
        return give_line(e, out);
    if (e->broken && give_rest(e, out))
        return true;
    rewind_to(e, (nsc_text){NULL, 0});
    return false;
}

void nsc_entries_free(struct nsc_entries *e)
{
    nsc_free(e->buf);
    *e = (struct nsc_entries){0};
}
