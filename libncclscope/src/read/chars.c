/* chars.c - the set of a text's characters: one look at each byte. */
#include "read/chars.h"

nsc_chars nsc_chars_of(nsc_text text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    nsc_chars a = 0, b = 0;
    size_t i = 0;
    for (; i + 8 <= text.len; i += 8) {
        a |= nsc_char_bits[p[i]] | nsc_char_bits[p[i + 1]] | nsc_char_bits[p[i + 2]] | nsc_char_bits[p[i + 3]];
        b |= nsc_char_bits[p[i + 4]] | nsc_char_bits[p[i + 5]] | nsc_char_bits[p[i + 6]] | nsc_char_bits[p[i + 7]];
    }
    for (; i < text.len; i++)
        a |= nsc_char_bits[p[i]];
    return a | b;
}
