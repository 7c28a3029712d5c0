/* harmless.c - bytes to characters, and which of them may be shown. */
#include "base/harmless.h"

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

uint32_t nsc_code_point(nsc_text s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    size_t n = nsc_utf8(s);
    uint32_t c = n < 2 ? p[0] : p[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

static bool may_be_shown(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } harmful[] = {
        {0, 0x1f},        /* C0: an escape moves a terminal, a carriage return writes over the line */
        {0x7f, 0x9f},     /* DEL, C1: U+009B begins a sequence on some terminals */
        {0x61c, 0x61c},   /* marks, embeddings, overrides and isolates of writing from right to left ... */
        {0x200e, 0x200f}, /* ... */
        {0x2028, 0x202e}, /* ... behind the ends of a line and of a paragraph */
        {0x2066, 0x206f}, /* isolates; what used to change shapes and digits */
        {0xfdd0, 0xfdef}, /* noncharacters, as the last two of each plane */
    };
    if ((c & 0xfffe) == 0xfffe)
        return false;
    for (size_t i = 0; i < sizeof harmful / sizeof harmful[0]; i++)
        if (c >= harmful[i].first && c <= harmful[i].last)
            return false;
    return true;
}

size_t nsc_character(nsc_text s, bool *harmless)
{
    size_t n = nsc_utf8(s);
    *harmless = n && may_be_shown(nsc_code_point(s));
    return n ? n : 1;
}

/* How many bytes from 0x20 to 0x7e it begins with, first in steps of eight: nearly every text is nothing else. */
static size_t printable(nsc_text s)
{
    enum { STEP = 8 };
    const uint64_t each = 0x0101010101010101u, high = each * 0x80;
    size_t n = 0;
    for (uint64_t w; n + STEP <= s.len; n += STEP) {
        memcpy(&w, s.ptr + n, STEP);
        uint64_t del = w ^ each * 0x7f; /* where a byte is 0x7f, it is 0 here */
        if ((w | (w - each * 0x20) | (del - each)) & high)
            break;
    }
    while (n < s.len && (unsigned char)(s.ptr[n] - 0x20) < 0x5f)
        n++;
    return n;
}

bool nsc_is_harmless(nsc_text s)
{
    bool harmless = true;
    s = nsc_text_from(s, printable(s));
    while (s.len && harmless)
        s = nsc_text_from(s, nsc_character(s, &harmless));
    return harmless;
}
