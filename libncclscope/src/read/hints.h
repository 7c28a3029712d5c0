/* hints.h - the words of hints.def, looked for all at once: of most lines of a job log one pass tells that no row of other.def reads them. */
#ifndef NSC_HINTS_H
#define NSC_HINTS_H

#include "base/text.h"

enum { NSC_HINTS_MOST = 320, NSC_HINT_CHAINS = 1024 };

/* What a line may be by its words: of no row, a program's error by its level alone, or of any row. */
enum nsc_hint { NSC_HINT_NONE, NSC_HINT_OF_ERROR, NSC_HINT_OF_ROW };

/* Each word is found by two letters of it that few lines hold: those are marked in `pairs`, and lead to the words that have them. */
struct nsc_hints {
    uint64_t pairs[65536 / 64];
    uint16_t first[NSC_HINT_CHAINS], next[NSC_HINTS_MOST]; /* one more than the index of a word; 0: none */
    uint8_t at[NSC_HINTS_MOST];                            /* where in the word the two letters stand */
};

void nsc_hints_prepare(struct nsc_hints *h);
enum nsc_hint nsc_hints_find(const struct nsc_hints *h, nsc_text line);

#endif
