/* source_utf16.c - UTF-16, as a Windows shell writes a redirected log, to UTF-8. */
#include "read/source.h"

/* One unit of two bytes; half of a pair waits for the other, a lone half becomes U+FFFD. */
static size_t take_unit(struct nsc_utf16 *u, uint32_t unit, unsigned char *to)
{
    size_t n = 0;
    bool high = unit >= 0xd800 && unit < 0xdc00, low = unit >= 0xdc00 && unit < 0xe000;
    if (u->high && low) {
        uint32_t c = 0x10000 + ((u->high - 0xd800) << 10) + (unit - 0xdc00);
        u->high = 0;
        return nsc_put_utf8((char *)to, c);
    }
    if (u->high)
        n = nsc_put_utf8((char *)to, 0xfffd);
    u->high = high ? unit : 0;
    if (high || unit == 0xfeff)
        return n;
    return n + nsc_put_utf8((char *)to + n, low ? 0xfffd : unit);
}

int nsc_utf16_read(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err)
{
    enum { RAW = 8192, MOST = 6 /* bytes that one unit may become */ };
    struct nsc_utf16 *u = &s->utf16;
    unsigned char raw[RAW];
    *got = 0;
    while (!*got) {
        size_t n = 0, want = size / MOST * 2 < RAW ? size / MOST * 2 : RAW;
        int rc = nsc_source_raw(s, raw, want ? want : 1, &n, err);
        if (rc != NCCLSCOPE_OK)
            return rc;
        for (size_t i = 0; i < n; i++) {
            if (!u->has_byte) {
                u->byte = raw[i];
                u->has_byte = true;
                continue;
            }
            u->has_byte = false;
            uint32_t unit = u->big_endian ? (uint32_t)u->byte << 8 | raw[i] : (uint32_t)raw[i] << 8 | u->byte;
            *got += take_unit(u, unit, (unsigned char *)to + *got);
        }
    }
    return NCCLSCOPE_OK;
}
