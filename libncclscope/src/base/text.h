/* text.h - runs of bytes {ptr, len}: compare, search, convert, hash. */
#ifndef NSC_TEXT_H
#define NSC_TEXT_H

#include "ncclscope.h"

#include <stdbool.h>
#include <string.h>

typedef ncclscope_text nsc_text;

#define NSC_TEXT(literal) ((nsc_text){literal, sizeof(literal) - 1})

static inline nsc_text nsc_text_of(const char *s)
{
    return (nsc_text){s, s ? strlen(s) : 0};
}

/* memcmp(a, b, len) == 0 of a few bytes, whose call would cost more than the comparison. */
static inline bool nsc_same(const char *a, const char *b, size_t len)
{
    uint64_t x, y;
    uint32_t u, v;
    if (len >= 8) {
        for (; len > 8; len -= 8, a += 8, b += 8) {
            memcpy(&x, a, 8);
            memcpy(&y, b, 8);
            if (x != y)
                return false;
        }
        memcpy(&x, a + len - 8, 8); /* reaches back into what was compared */
        memcpy(&y, b + len - 8, 8);
        return x == y;
    }
    if (len >= 4) {
        memcpy(&u, a, 4);
        memcpy(&v, b, 4);
        if (u != v)
            return false;
        memcpy(&u, a + len - 4, 4);
        memcpy(&v, b + len - 4, 4);
        return u == v;
    }
    while (len && a[len - 1] == b[len - 1])
        len--;
    return !len;
}

static inline bool nsc_text_eq(nsc_text a, nsc_text b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Are the bytes of `part` bytes of `whole`, not copies of them? */
static inline bool nsc_text_lies_in(nsc_text part, nsc_text whole)
{
    return part.ptr && part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len;
}

static inline bool nsc_text_is(nsc_text a, const char *s)
{
    return nsc_text_eq(a, nsc_text_of(s));
}

static inline bool nsc_text_starts(nsc_text a, const char *s)
{
    size_t n = strlen(s);
    return a.ptr && a.len >= n && memcmp(a.ptr, s, n) == 0;
}

static inline bool nsc_text_ends(nsc_text a, const char *s)
{
    size_t n = strlen(s);
    return a.ptr && a.len >= n && memcmp(a.ptr + a.len - n, s, n) == 0;
}

static inline nsc_text nsc_text_from(nsc_text a, size_t at)
{
    return (nsc_text){a.ptr ? a.ptr + at : a.ptr, a.len - at};
}

static inline bool nsc_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char nsc_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* memset(to, 0, size), of what is cleared for each line: of a size that it knows GCC 12 writes `rep stos`, which was a twentieth of a line's time. */
void nsc_clear(void *to, size_t size);

/* Offset of `s` in `a`, or -1, by the letter s[at], which few lines hold: faster than nsc_text_find, which is memmem. */
ptrdiff_t nsc_text_find_by(nsc_text a, const char *s, size_t at);

/* Does one of these stand in it? The last of them is NULL. */
bool nsc_text_has_any(nsc_text a, const char *const *words);

/* Does it begin with one of these? The last of them is NULL. */
bool nsc_text_starts_any(nsc_text a, const char *const *begins);

/* Does it begin with these words, which are in small letters, in whatever case? */
static inline bool nsc_text_starts_as(nsc_text a, const char *words)
{
    size_t i = 0;
    while (words[i] && i < a.len && nsc_lower(a.ptr[i]) == words[i])
        i++;
    return !words[i];
}

/* Offset of `s` in `a`, or -1. */
static inline ptrdiff_t nsc_text_find(nsc_text a, const char *s)
{
    const char *p = a.ptr ? memmem(a.ptr, a.len, s, strlen(s)) : NULL;
    return p ? p - a.ptr : -1;
}

static inline nsc_text nsc_text_trim_end(nsc_text a)
{
    while (a.len && (a.ptr[a.len - 1] == ' ' || a.ptr[a.len - 1] == '\t' || a.ptr[a.len - 1] == '\r'))
        a.len--;
    return a;
}

static inline nsc_text nsc_text_trim(nsc_text a)
{
    while (a.len && (a.ptr[0] == ' ' || a.ptr[0] == '\t'))
        a.ptr++, a.len--;
    return nsc_text_trim_end(a);
}

int nsc_compare(nsc_text a, nsc_text b); /* as memcmp, shorter first */
uint64_t nsc_hash(const void *bytes, size_t len);

/* All of `a` as a number: false when it is none or does not fit. */
bool nsc_to_u64(nsc_text a, uint64_t *out);
bool nsc_to_hex(nsc_text a, uint64_t *out); /* with or without 0x */
bool nsc_to_i64(nsc_text a, int64_t *out);
bool nsc_to_f64(nsc_text a, double *out);

/* 2.27.3 as 22703; 0 when it is none, or a part is over 99. */
unsigned nsc_version_number(nsc_text version);

/* The next word of *rest between blanks, moved past; len 0 at the end. */
nsc_text nsc_next_word(nsc_text *rest);

/* What stands behind the last '/', or all of it. */
nsc_text nsc_base_name(nsc_text path);
nsc_text nsc_text_upto(nsc_text a,
                       size_t most); /* its beginning, of so many bytes or fewer: no letter of UTF-8 is cut */

/* A code point as UTF-8: writes and returns 1 to 4 bytes. */
size_t nsc_put_utf8(char *to, uint32_t c);

/* For a program that passes NULL where the header wants something. */
int nsc_null(ncclscope_error *err);
int nsc_fail(ncclscope_error *err, int code, int system, const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
