/* json.c - a buffered writer, and JSON over it. */
#include "base/json.h"

#include "base/alloc.h"

#include "base/harmless.h"
#include "base/neutral.h"

#include <stdarg.h>
#include <stdio.h>

struct nsc_out *nsc_out_new(nsc_write_fn *write, void *user)
{
    unsigned before = nsc_failed_allocations();
    struct nsc_out *o = nsc_alloc(sizeof *o);
    if (!o)
        return NULL;
    o->write = write;
    o->user = user;
    o->before = before;
    return o;
}

int nsc_out_end(struct nsc_out *o)
{
    if (!o)
        return NCCLSCOPE_ENOMEM;
    int rc = nsc_settle(nsc_flush(o) ? NCCLSCOPE_OK : NCCLSCOPE_EIO, o->before, NULL);
    nsc_free(o);
    return rc;
}

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

/* What JSON itself asks for, and what is not harmless: who reads it as text is not to be moved by it. */
static void put_escape(struct nsc_out *o, uint32_t c)
{
    if (c == '"' || c == '\\')
        nsc_printf(o, "\\%c", (char)c);
    else if (c == '\n' || c == '\t')
        nsc_puts(o, c == '\n' ? "\\n" : "\\t");
    else if (c > 0xffff)
        nsc_printf(o, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
    else
        nsc_printf(o, "\\u%04x", c);
}

/* What needs no look: nearly all of nearly every text. */
static size_t plain_run(nsc_text t)
{
    size_t n = 0;
    while (n < t.len && t.ptr[n] >= 0x20 && t.ptr[n] < 0x7f && t.ptr[n] != '"' && t.ptr[n] != '\\')
        n++;
    return n;
}

static void put_escaped(struct nsc_out *o, nsc_text t)
{
    nsc_puts(o, "\"");
    while (t.len) {
        size_t plain = plain_run(t);
        nsc_put(o, (nsc_text){t.ptr, plain});
        t = nsc_text_from(t, plain);
        if (!t.len)
            break;
        bool harmless;
        size_t n = nsc_character(t, &harmless);
        if (!nsc_utf8(t))
            nsc_puts(o, "\\ufffd");
        else if (!harmless || t.ptr[0] == '"' || t.ptr[0] == '\\')
            put_escape(o, nsc_code_point(t));
        else
            nsc_put(o, (nsc_text){t.ptr, n});
        t = nsc_text_from(t, n);
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
