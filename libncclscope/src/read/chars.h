/* chars.h - which characters a text holds, asked once: what is rare is looked for only where it can be, and of thousands of templates those are
 * compared whose plain characters are all there. */
#ifndef NSC_CHARS_H
#define NSC_CHARS_H

#include "base/text.h"

/* A bit for each letter (q, x and z share theirs with Q, X and Z) and for "->[](),':/=_"; NSC_ODD for what messages of NCCL hardly ever hold:
 * control characters, bytes above ASCII, and " # & \ ` |. Blanks, digits, dots and the rest are in nearly all messages, and have none. */
typedef uint64_t nsc_chars;
#define NSC_ODD ((nsc_chars)1 << 63)

extern const nsc_chars nsc_char_bits[256];

/* 0 of a text without any of them; a text that holds another one holds all of its characters. */
nsc_chars nsc_chars_of(nsc_text text);

/* Are all of these among them? */
static inline bool nsc_chars_have(nsc_chars chars, const char *all)
{
    nsc_chars want = 0;
    for (; *all; all++)
        want |= nsc_char_bits[(unsigned char)*all];
    return (chars & want) == want;
}

#endif
