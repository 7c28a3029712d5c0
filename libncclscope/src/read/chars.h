/* chars.h - which characters a text holds, asked once: what is rare is looked for only where it can be, and of thousands of templates those are
 * compared whose plain characters are all there. */
#ifndef NSC_CHARS_H
#define NSC_CHARS_H

#include "base/text.h"

/* A bit for each letter (q, x and z share theirs with Q, X and Z) and for "->[](),':/=_"; NSC_ODD for what messages of NCCL hardly ever hold:
 * control characters, bytes above ASCII, and " # & \ ` |. Blanks, digits, dots and the rest are in nearly all messages, and have none. */
typedef uint64_t nsc_chars;
#define NSC_ODD ((nsc_chars)1 << 63)

#define NSC_BIT(n) ((nsc_chars)1 << (n))
#define NSC_ODD8 NSC_ODD, NSC_ODD, NSC_ODD, NSC_ODD, NSC_ODD, NSC_ODD, NSC_ODD, NSC_ODD
#define NSC_ODD32 NSC_ODD8, NSC_ODD8, NSC_ODD8, NSC_ODD8

/* Row by row as ASCII has them; 0: tells nothing. */
static const nsc_chars nsc_char_bits[256] = {
    NSC_ODD32, /* control characters */
    0,           0,           NSC_ODD,     NSC_ODD,     0,           0,           NSC_ODD,     NSC_BIT(56), NSC_BIT(53),
    NSC_BIT(54), 0,           0,           NSC_BIT(55), NSC_BIT(49), 0,           NSC_BIT(58), 0,           0,
    0,           0,           0,           0,           0,           0,           0,           0,           NSC_BIT(57),
    0,           0,           NSC_BIT(59), NSC_BIT(50), 0,           0,           NSC_BIT(26), NSC_BIT(27), NSC_BIT(28),
    NSC_BIT(29), NSC_BIT(30), NSC_BIT(31), NSC_BIT(32), NSC_BIT(33), NSC_BIT(34), NSC_BIT(35), NSC_BIT(36), NSC_BIT(37),
    NSC_BIT(38), NSC_BIT(39), NSC_BIT(40), NSC_BIT(41), NSC_BIT(16), NSC_BIT(42), NSC_BIT(43), NSC_BIT(44), NSC_BIT(45),
    NSC_BIT(46), NSC_BIT(47), NSC_BIT(23), NSC_BIT(48), NSC_BIT(25), NSC_BIT(51), NSC_ODD,     NSC_BIT(52), 0,
    NSC_BIT(60), NSC_ODD,     NSC_BIT(0),  NSC_BIT(1),  NSC_BIT(2),  NSC_BIT(3),  NSC_BIT(4),  NSC_BIT(5),  NSC_BIT(6),
    NSC_BIT(7),  NSC_BIT(8),  NSC_BIT(9),  NSC_BIT(10), NSC_BIT(11), NSC_BIT(12), NSC_BIT(13), NSC_BIT(14), NSC_BIT(15),
    NSC_BIT(16), NSC_BIT(17), NSC_BIT(18), NSC_BIT(19), NSC_BIT(20), NSC_BIT(21), NSC_BIT(22), NSC_BIT(23), NSC_BIT(24),
    NSC_BIT(25), 0,           NSC_ODD,     0,           0,           NSC_ODD,     NSC_ODD32,   NSC_ODD32,   NSC_ODD32,
    NSC_ODD32, /* of UTF-8, or of nothing */
};
#undef NSC_BIT
#undef NSC_ODD8
#undef NSC_ODD32

/* 0 of a text without any of them; a text that holds another one holds all of its characters. */
nsc_chars nsc_chars_of(nsc_text text);

static inline bool nsc_chars_hold(nsc_chars chars, nsc_chars all)
{
    return (chars & all) == all;
}

/* Are all characters of these words among them? Of words that stand in the code, 16 characters at most: what is asked for is a constant. */
#define nsc_chars_have(chars, words) \
    nsc_chars_hold(chars, NSC_CHARS4(words, 0) | NSC_CHARS4(words, 4) | NSC_CHARS4(words, 8) | NSC_CHARS4(words, 12))
#define NSC_CHARS4(words, i) \
    (NSC_CHAR(words, i) | NSC_CHAR(words, i + 1) | NSC_CHAR(words, i + 2) | NSC_CHAR(words, i + 3))
#define NSC_CHAR(words, i) \
    (nsc_char_bits[(i) < sizeof(words) - 1 ? (unsigned char)(words)[(i) < sizeof(words) ? (i) : 0] : ' '])

#endif
