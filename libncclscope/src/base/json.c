/* json.c - a buffered writer, and JSON over it. */
#include "base/json.h"

#include "base/neutral.h"

#include <stdarg.h>
#include <stdio.h>

bool nsc_flush(struct nsc_out *o)
{
    if (o->len && !o->failed)
        o->failed = o->write(o->user, o->buf, o->len) != 0;
    o->len = 0;
    return !o->failed;
}

void nsc_put(struct nsc_out *o, nsc_text text)
{
    while (text.len) {
        size_t n = sizeof o->buf - o->len;
        if (n > text.len)
            n = text.len;
        memcpy(o->buf + o->len, text.ptr, n);
        o->len += n;
        text = nsc_text_from(text, n);
        if (o->len == sizeof o->buf)
            nsc_flush(o);
    }
}

void nsc_puts(struct nsc_out *o, const char *s)
{
    nsc_put(o, nsc_text_of(s));
}

void nsc_printf(struct nsc_out *o, const char *format, ...)
{
    char buf[2048];
    va_list args;
    va_start(args, format);
    int n = nsc_vformat(buf, sizeof buf, format, args);
    va_end(args);
    if (n > 0)
        nsc_put(o, (nsc_text){buf, (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1});
}

size_t nsc_utf8(nsc_text s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    if (!s.len)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t n = p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    if (!n || s.len < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool beyond = (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf4 && p[1] >= 0x90);
    return overlong || beyond ? 0 : n;
}

static void put_escaped(struct nsc_out *o, nsc_text t)
{
    nsc_puts(o, "\"");
    while (t.len) {
        unsigned char c = (unsigned char)t.ptr[0];
        size_t n = nsc_utf8(t);
        if (!n)
            nsc_puts(o, "\\ufffd");
        else if (c == '"' || c == '\\')
            nsc_printf(o, "\\%c", c);
        else if (c == '\n')
            nsc_puts(o, "\\n");
        else if (c == '\t')
            nsc_puts(o, "\\t");
        else if (c < 0x20 || c == 0x7f)
            nsc_printf(o, "\\u%04x", c);
        else if (c == 0xc2 &&
                 (unsigned char)t.ptr[1] < 0xa0) /* C1 controls: U+009B begins a sequence on some terminals */
            nsc_printf(o, "\\u%04x", (unsigned char)t.ptr[1]);
        else
            nsc_put(o, (nsc_text){t.ptr, n});
        t = nsc_text_from(t, n ? n : 1);
    }
    nsc_puts(o, "\"");
}

void nsc_json_key(struct nsc_json *j, const char *key)
{
    if (!j->first)
        nsc_puts(j->out, ",");
    j->first = false;
    if (key) {
        put_escaped(j->out, nsc_text_of(key));
        nsc_puts(j->out, ":");
    }
}

void nsc_json_open(struct nsc_json *j, const char *key, char bracket)
{
    nsc_json_key(j, key);
    nsc_put(j->out, (nsc_text){&bracket, 1});
    j->first = true;
}

void nsc_json_close(struct nsc_json *j, char bracket)
{
    nsc_put(j->out, (nsc_text){&bracket, 1});
    j->first = false;
}

void nsc_json_text(struct nsc_json *j, const char *key, nsc_text text)
{
    nsc_json_key(j, key);
    if (text.ptr)
        put_escaped(j->out, text);
    else
        nsc_puts(j->out, "null");
}

void nsc_json_string(struct nsc_json *j, const char *key, const char *s)
{
    nsc_json_text(j, key, nsc_text_of(s));
}

void nsc_json_int(struct nsc_json *j, const char *key, int64_t v)
{
    nsc_json_key(j, key);
    nsc_printf(j->out, "%lld", (long long)v);
}

void nsc_json_count(struct nsc_json *j, const char *key, uint64_t v)
{
    nsc_json_key(j, key);
    nsc_printf(j->out, "%llu", (unsigned long long)v);
}

void nsc_json_said(struct nsc_json *j, const char *key, int64_t v)
{
    if (v < 0)
        nsc_json_null(j, key);
    else
        nsc_json_int(j, key, v);
}

static const double SMALLEST = 0.000001;

void nsc_json_float(struct nsc_json *j, const char *key, double v)
{
    char buf[400]; /* 1e308 has 309 digits in front of its point */
    bool tiny = v > -SMALLEST && v < SMALLEST && v != 0;
    nsc_format(buf, sizeof buf, tiny ? "%.6e" : "%.6f", v);
    size_t n = strlen(buf);
    while (!tiny && n > 1 && buf[n - 1] == '0' && buf[n - 2] != '.')
        n--;
    nsc_json_key(j, key);
    nsc_put(j->out, (nsc_text){buf, n});
}

void nsc_json_bool(struct nsc_json *j, const char *key, bool v)
{
    nsc_json_key(j, key);
    nsc_puts(j->out, v ? "true" : "false");
}

void nsc_json_null(struct nsc_json *j, const char *key)
{
    nsc_json_key(j, key);
    nsc_puts(j->out, "null");
}
