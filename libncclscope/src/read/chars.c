/* chars.c - the set of a text's characters: one look at each byte. */
#include "read/chars.h"

#define BIT(n) ((nsc_chars)1 << (n))
#define ODD8 NSC_ODD, NSC_ODD, NSC_ODD, NSC_ODD, NSC_ODD, NSC_ODD, NSC_ODD, NSC_ODD
#define ODD32 ODD8, ODD8, ODD8, ODD8

/* Row by row as ASCII has them; 0: tells nothing. */
const nsc_chars nsc_char_bits[256] = {
    ODD32, /* control characters */
    0,       0,       NSC_ODD, NSC_ODD, 0,       0,       NSC_ODD, BIT(56), BIT(53), BIT(54), 0,       0,       BIT(55),
    BIT(49), 0,       BIT(58), 0,       0,       0,       0,       0,       0,       0,       0,       0,       0,
    BIT(57), 0,       0,       BIT(59), BIT(50), 0,       0,       BIT(26), BIT(27), BIT(28), BIT(29), BIT(30), BIT(31),
    BIT(32), BIT(33), BIT(34), BIT(35), BIT(36), BIT(37), BIT(38), BIT(39), BIT(40), BIT(41), BIT(16), BIT(42), BIT(43),
    BIT(44), BIT(45), BIT(46), BIT(47), BIT(23), BIT(48), BIT(25), BIT(51), NSC_ODD, BIT(52), 0,       BIT(60), NSC_ODD,
    BIT(0),  BIT(1),  BIT(2),  BIT(3),  BIT(4),  BIT(5),  BIT(6),  BIT(7),  BIT(8),  BIT(9),  BIT(10), BIT(11), BIT(12),
    BIT(13), BIT(14), BIT(15), BIT(16), BIT(17), BIT(18), BIT(19), BIT(20), BIT(21), BIT(22), BIT(23), BIT(24), BIT(25),
    0,       NSC_ODD, 0,       0,       NSC_ODD, ODD32,   ODD32,   ODD32,   ODD32, /* of UTF-8, or of nothing */
};

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
