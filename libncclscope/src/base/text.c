/* text.c - runs of bytes to numbers and hashes; one-line errors. */
#include "base/text.h"

#include "base/neutral.h"

#include <errno.h>
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void nsc_clear(void *to, size_t size)
{
    memset(to, 0, size);
}

int nsc_compare(nsc_text a, nsc_text b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return c ? c : (a.len > b.len) - (a.len < b.len);
}

/* Multiply-fold hash over 8-byte words; only ever compared within one process. */
uint64_t nsc_hash(const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    uint64_t h = 0x9e3779b97f4a7c15u ^ len;
    while (len >= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
        p += 8;
        len -= 8;
    }
    uint64_t w = 0;
    if (len)
        memcpy(&w, p, len);
    h ^= w;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u; /* what differs in high bits is to differ in the low ones, too */
    return h ^ (h >> 29);
}

bool nsc_to_u64(nsc_text a, uint64_t *out)
{
    uint64_t v = 0;
    if (!a.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        unsigned d = (unsigned)(a.ptr[i] - '0');
        if (d > 9 || v > (UINT64_MAX - d) / 10)
            return false;
        v = v * 10 + d;
    }
    *out = v;
    return true;
}

bool nsc_to_hex(nsc_text a, uint64_t *out)
{
    uint64_t v = 0;
    if (nsc_text_starts(a, "0x"))
        a = nsc_text_from(a, 2);
    if (!a.len || a.len > 16)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        char c = a.ptr[i];
        unsigned d = nsc_is_digit(c)        ? (unsigned)(c - '0')
                     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                            : 16;
        if (d > 15)
            return false;
        v = v << 4 | d;
    }
    *out = v;
    return true;
}

bool nsc_to_i64(nsc_text a, int64_t *out)
{
    bool minus = a.len && a.ptr[0] == '-';
    uint64_t v;
    if (!nsc_to_u64(minus ? nsc_text_from(a, 1) : a, &v) || v > (uint64_t)INT64_MAX)
        return false;
    *out = minus ? -(int64_t)v : (int64_t)v;
    return true;
}

/* "370.8", "5000", of 15 digits at most: their whole number divided by a power of ten, both exact, so that it is what strtod rounds to; false:
 * another spelling, or a machine that rounds twice. */
static bool short_decimal(nsc_text a, double *out)
{
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint64_t digits = 0;
    size_t point = a.len;
    if (FLT_EVAL_METHOD != 0 || !a.len || a.len > 16)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (a.ptr[i] == '.' && point == a.len && i && i + 1 < a.len)
            point = i;
        else if (nsc_is_digit(a.ptr[i]))
            digits = digits * 10 + (uint64_t)(a.ptr[i] - '0');
        else
            return false;
    }
    size_t behind = point < a.len ? a.len - point - 1 : 0;
    if (a.len - (behind > 0) > 15)
        return false;
    *out = (double)digits / tens[behind];
    return true;
}

bool nsc_to_f64(nsc_text a, double *out)
{
    if (short_decimal(a, out))
        return true;
    char buf[64], *end;
    if (!a.len || a.len >= sizeof buf)
        return false;
    memcpy(buf, a.ptr, a.len);
    buf[a.len] = 0;
    *out = nsc_strtod(buf, &end);
    return end == buf + a.len && *out - *out == 0; /* not inf, not nan: no such thing in JSON */
}

nsc_text nsc_base_name(nsc_text path)
{
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    return slash && slash + 1 < path.ptr + path.len ? nsc_text_from(path, (size_t)(slash - path.ptr) + 1) : path;
}

nsc_text nsc_text_upto(nsc_text a, size_t most)
{
    size_t n = a.len < most ? a.len : most;
    while (n && n < a.len && (a.ptr[n] & 0xc0) == 0x80)
        n--;
    a.len = n;
    return a;
}

nsc_text nsc_next_word(nsc_text *rest)
{
    nsc_text r = *rest;
    while (r.len && (r.ptr[0] == ' ' || r.ptr[0] == '\t'))
        r.ptr++, r.len--;
    nsc_text word = {r.ptr, 0};
    while (word.len < r.len && r.ptr[word.len] != ' ' && r.ptr[word.len] != '\t')
        word.len++;
    *rest = nsc_text_from(r, word.len);
    return word;
}

int nsc_fail(ncclscope_error *err, int code, int system, const char *format, ...)
{
    if (!err)
        return code;
    va_list args;
    va_start(args, format);
    err->code = code;
    err->system = system;
    err->line = 0;
    nsc_vformat(err->text, sizeof err->text, format, args);
    va_end(args);
    return code;
}

int nsc_null(ncclscope_error *err)
{
    return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "an argument is NULL where something is wanted");
}

unsigned nsc_version_number(nsc_text v)
{
    unsigned part[3] = {0, 0, 0};
    size_t k = 0, digits = 0;
    for (size_t i = 0; i < v.len && k < 3; i++) {
        if (nsc_is_digit(v.ptr[i])) {
            part[k] = part[k] * 10 + (unsigned)(v.ptr[i] - '0');
            if (++digits && part[k] > 99)
                return 0;
        } else if (v.ptr[i] == '.' && digits) {
            k++;
            digits = 0;
        } else {
            break;
        }
    }
    return k || digits ? part[0] * 10000 + part[1] * 100 + part[2] : 0;
}

size_t nsc_put_utf8(char *to, uint32_t c)
{
    if (c < 0x80)
        return to[0] = (char)c, 1;
    if (c < 0x800)
        return to[0] = (char)(0xc0 | c >> 6), to[1] = (char)(0x80 | (c & 63)), 2;
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 63));
        return to[2] = (char)(0x80 | (c & 63)), 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63));
    return to[3] = (char)(0x80 | (c & 63)), 4;
}

bool nsc_text_has_any(nsc_text a, const char *const *words)
{
    for (; *words; words++)
        if (nsc_text_find(a, *words) >= 0)
            return true;
    return false;
}

bool nsc_text_starts_any(nsc_text a, const char *const *begins)
{
    for (; *begins; begins++)
        if (nsc_text_starts(a, *begins))
            return true;
    return false;
}

ptrdiff_t nsc_text_find_by(nsc_text a, const char *s, size_t at)
{
    size_t len = strlen(s);
    if (a.len < len)
        return -1;
    const char *p = a.ptr + at, *end = a.ptr + a.len - (len - 1 - at);
    while (p < end && (p = memchr(p, s[at], (size_t)(end - p)))) {
        if (!memcmp(p - at, s, len))
            return p - at - a.ptr;
        p++;
    }
    return -1;
}
