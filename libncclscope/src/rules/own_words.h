/* own_words.h - what ranks, and the script that ran them, say of themselves in words that are their program's. */
#ifndef NSC_OWN_WORDS_H
#define NSC_OWN_WORDS_H

#include "rules/rules.h"

/* The last line in which this rank tells of itself in words of its own ("rank 3: ..."); NULL: there is none. */
const struct nsc_own_record *nsc_last_words(const struct ncclscope_model *m, int64_t rank);
/* The last line between the two in which it does, if that tells of an end ("timed out", "giving up"); NULL: it is none, or tells of another thing. */
const struct nsc_own_record *nsc_word_of_end(const struct ncclscope_model *m, int64_t rank,
                                             const struct nsc_where *from, const struct nsc_where *before);
/* "rank 3 says: NaN loss, giving up", for a title. */
const char *nsc_quote_rank(struct nsc_case *c, const struct nsc_own_record *r);
/* " Behind it ranks 0-2 tell of an end in the program's own words, rank 3 does not.": "" where not all but a few do. */
const char *nsc_silent_behind(struct nsc_case *c, const struct nsc_where *failed);
/* How the job ends in the words of its program or script, where nothing else tells of it: a finding of the rule in hand. */
void nsc_tell_own_words(struct nsc_case *c);

#endif
