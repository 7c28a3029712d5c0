/* harmless.h - what of a text may be shown: the one place that decides. A log may hold anything, and what is shown moves terminals, changes
 * the order of what stands beside it, or is no text at all. */
#ifndef NSC_HARMLESS_H
#define NSC_HARMLESS_H

#include "base/text.h"

/* Length of the valid UTF-8 sequence at the start of `s`, 0 if there is none. */
size_t nsc_utf8(nsc_text s);

/* Length of the character at the start of `s`, which is not empty: 1 for a byte that is of none. *harmless: valid UTF-8 and neither a
 * control (C0, DEL, C1), one that changes direction or ends a line (U+202E, U+2028), nor a noncharacter. */
size_t nsc_character(nsc_text s, bool *harmless);
bool nsc_is_harmless(nsc_text s); /* all of it */

/* The code point at the start of `s`, which is valid UTF-8. */
uint32_t nsc_code_point(nsc_text s);

#endif
