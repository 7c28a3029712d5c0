/* wrap_json.c - records inside the strings of JSON and CSV, whatever their names. */
#include "read/wrap.h"

/* One escape of a JSON string, `s` behind the backslash; bytes written. */
size_t nsc_unescape(nsc_text s, size_t *used, char *to)
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

/* The string that begins behind its quote at `at`, its escapes undone and the newlines at its end cut, to the buffer from `n` on: where
 * it ends there. *end is the place of its closing quote. CSV doubles a quote within. */
static size_t unquote(struct nsc_wrap *w, nsc_text line, size_t at, size_t n, size_t *end)
{
    size_t i = at, from = n;
    for (; i < line.len; i++) {
        bool doubled = line.ptr[i] == '"' && i > at && i + 1 < line.len && line.ptr[i + 1] == '"';
        if (line.ptr[i] == '"' && !doubled)
            break;
        i += doubled;
        if (line.ptr[i] != '\\' || i + 1 == line.len) {
            w->buf[n++] = line.ptr[i];
            continue;
        }
        size_t used;
        n += nsc_unescape(nsc_text_from(line, i + 1), &used, w->buf + n);
        i += used;
    }
    while (n > from && (w->buf[n - 1] == '\n' || w->buf[n - 1] == '\r'))
        n--;
    *end = i;
    return n;
}

bool nsc_holds_record(nsc_text s)
{
    static const char *const marks[] = {"NCCL INFO ", "NCCL WARN ", "NCCL TRACE ",
                                        "NCCL CALL ", "NCCL ATTN ", "NCCL DIAG "};
    bool holds = nsc_text_starts(s, "NCCL version ");
    for (size_t i = 0; !holds && s.len && i < sizeof marks / sizeof marks[0]; i++)
        holds = nsc_text_find(s, marks[i]) >= 0;
    return holds;
}

/* All strings of the line that hold records, one behind the other; len 0: none. A collector may say one twice. */
static nsc_text unquote_records(struct nsc_wrap *w, nsc_text line)
{
    size_t n = 0, last = 0;
    if (!nsc_wrap_room(w, line.len * 3 / 2 + 4))
        return (nsc_text){w->buf, 0};
    for (size_t i = 0; i < line.len; i++) {
        const char *quote = memchr(line.ptr + i, '"', line.len - i);
        if (!quote)
            break;
        size_t from = n + (n > 0), to = unquote(w, line, (size_t)(quote - line.ptr) + 1, from, &i);
        nsc_text s = {w->buf + from, to - from};
        if (!nsc_holds_record(s) || (n && nsc_text_eq(s, (nsc_text){w->buf + last, n - last})))
            continue;
        if (n)
            w->buf[n] = '\r';
        last = from;
        n = to;
    }
    return (nsc_text){w->buf, n};
}

static ptrdiff_t first_of(nsc_text line, const char *const keys[], size_t n)
{
    ptrdiff_t at = -1;
    for (size_t k = 0; at < 0 && k < n; k++)
        at = string_at(line, keys[k]);
    return at;
}

/* The string under the first of these names, as it stands there; len 0: there is none. */
static nsc_text string_of(nsc_text line, const char *const keys[], size_t n)
{
    ptrdiff_t at = first_of(line, keys, n);
    if (at < 0)
        return (nsc_text){NULL, 0};
    nsc_text s = nsc_text_from(line, (size_t)at);
    const char *close = s.len ? memchr(s.ptr, '"', s.len) : NULL;
    s.len = close ? (size_t)(close - s.ptr) : 0;
    return s;
}

/* Digits under one of these names, {"timestamp":1764064800123}: an epoch, as it stands there; len 0: there is none. */
static nsc_text number_of(nsc_text line, const char *const keys[], size_t n)
{
    for (size_t k = 0; k < n; k++) {
        ptrdiff_t at = nsc_text_find(line, keys[k]);
        size_t i = at < 0 ? line.len : (size_t)at + strlen(keys[k]), from;
        i += i < line.len && line.ptr[i] == ':';
        i += i < line.len && line.ptr[i] == ' ';
        for (from = i; i < line.len && nsc_is_digit(line.ptr[i]);)
            i++;
        if (at >= 0 && i > from)
            return (nsc_text){line.ptr + from, i - from};
    }
    return (nsc_text){NULL, 0};
}

/* "pod":{"name":"train-3",...}, as Elastic's agents nest it; len 0: it is not there. */
static nsc_text name_within(nsc_text line, const char *key)
{
    static const char *const name[] = {"\"name\""};
    ptrdiff_t at = nsc_text_find(line, key);
    nsc_text rest = nsc_text_trim(at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(line, (size_t)at + strlen(key)));
    if (rest.len < 2 || rest.ptr[0] != ':')
        return (nsc_text){NULL, 0};
    rest = nsc_text_trim(nsc_text_from(rest, 1));
    const char *end = rest.len && rest.ptr[0] == '{' ? memchr(rest.ptr, '}', rest.len) : NULL;
    return end ? string_of((nsc_text){rest.ptr, (size_t)(end - rest.ptr)}, name, 1) : (nsc_text){NULL, 0};
}

/* "MESSAGE":[118,109,58,...]: journald writes a message with a control character in it, a colour, as its bytes. 0: it did not. */
static size_t from_bytes(struct nsc_wrap *w, nsc_text line)
{
    static const char key[] = "\"MESSAGE\"";
    ptrdiff_t at = nsc_text_find(line, key);
    size_t n = 0, i = at < 0 ? line.len : (size_t)at + sizeof key - 1;
    while (i < line.len && strchr(": ", line.ptr[i]))
        i++;
    if (i >= line.len || line.ptr[i] != '[')
        return 0;
    for (i++; i < line.len && line.ptr[i] != ']'; i++) {
        unsigned byte = 0;
        size_t from = i;
        for (; i < line.len && nsc_is_digit(line.ptr[i]) && i - from < 3; i++)
            byte = byte * 10 + (unsigned)(line.ptr[i] - '0');
        if (i > from && byte < 256 && byte != '\n')
            w->buf[n++] = (char)byte;
        i -= i > from;
    }
    return n;
}

/* One object in a line: {"log":"...\n","stream":"stdout","time":"2026-01-02T03:04:05.6Z"} of docker, and what other collectors
 * make of it. The text is the first string under one of these names, or whatever strings hold records. */
nsc_text nsc_unwrap_json(struct nsc_wrap *w, nsc_text line)
{
    static const char *const texts[] = {"\"log\"", "\"message\"", "\"msg\"", "\"textPayload\"", "\"line\""};
    static const char *const times[] = {"\"time\"", "\"@timestamp\"", "\"timestamp\"", "\"__REALTIME_TIMESTAMP\""};
    static const char *const pods[] = {"\"pod_name\"", "\"pod\"", "\"podName\"", "\"kubernetes.pod.name\""};
    static const char *const containers[] = {"\"container_name\"", "\"containerName\"", "\"container\"",
                                             "\"kubernetes.container.name\""};
    enum { TIMES = sizeof times / sizeof times[0], PODS = sizeof pods / sizeof pods[0] };
    ptrdiff_t at = first_of(line, texts, sizeof texts / sizeof texts[0]);
    size_t end = 0, n = 0;
    if (!nsc_wrap_room(w, line.len * 3 / 2 + 4))
        return line;
    if (at >= 0)
        n = unquote(w, line, (size_t)at, 0, &end);
    bool more = nsc_text_find(nsc_text_from(line, end), "NCCL ") >= 0;
    if ((at < 0 || more) && (more || nsc_text_find(line, "NCCL ") >= 0)) {
        nsc_text records = unquote_records(w, line);
        if (!records.len && at >= 0)
            records.len = unquote(w, line, (size_t)at, 0, &end);
        n = records.len;
    }
    n = n || at >= 0 ? n : from_bytes(w, line);
    if (!n && at < 0)
        return line;
    w->time = string_of(line, times, TIMES);
    w->time = w->time.len ? w->time : number_of(line, times, TIMES);
    w->pod = string_of(line, pods, PODS);
    w->pod = w->pod.len ? w->pod : name_within(line, "\"pod\"");
    w->container = string_of(line, containers, sizeof containers / sizeof containers[0]);
    w->container = w->container.len ? w->container : name_within(line, "\"container\"");
    return (nsc_text){w->buf, n};
}

/* A list of strings, one a line; one key of an object a line; an object behind a prefix; a quoted field of CSV. */
bool nsc_unquote_line(struct nsc_wrap *w, nsc_text line, size_t nccl, nsc_text *out)
{
    nsc_text before = {line.ptr, nccl};
    ptrdiff_t object = nsc_text_find(before, "{\"");
    if (object >= 0) {
        nsc_text inner = nsc_text_from(line, (size_t)object);
        *out = nsc_unwrap_json(w, inner);
        return out->ptr != inner.ptr;
    }
    if (nsc_text_find(before, "\"") < 0)
        return false;
    *out = unquote_records(w, line);
    return out->len;
}
