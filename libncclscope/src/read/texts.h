/* texts.h - texts.def: which text is this, at which level, in which versions; read when the first message needs it. */
#ifndef NSC_TEXTS_H
#define NSC_TEXTS_H

#include "read/grammar.h"

/* What texts.def says of one text. Strings are constants of the library. */
struct nsc_known_text {
    const char *family, *level, *subsystems, *first, *last, *template_;
};

struct nsc_texts {
    struct nsc_index index;
    struct nsc_known_text *known; /* one per row */
    const char **sorted;          /* their templates */
};

/* All texts, NULL if memory ran out. */
struct nsc_texts *nsc_texts_of(ncclscope_grammar *g);
/* The first text that takes all of `message`; NULL if none does. `w` only makes it faster; `chars` as in nsc_index_match; *strict: every field of it says what it
 * takes. */
const struct nsc_known_text *nsc_texts_match(ncclscope_grammar *g, struct nsc_first_words *w, nsc_text message,
                                             nsc_chars chars, struct nsc_match *m, bool *strict);
/* All texts that take `message`, `most` at most: how many. */
size_t nsc_texts_all(ncclscope_grammar *g, nsc_text message, struct nsc_match *m, const struct nsc_known_text **out,
                     size_t most);
/* The next one behind `after` (NULL: the first). Tries all: for one message, not for a log. */
const struct nsc_known_text *nsc_texts_next(ncclscope_grammar *g, const struct nsc_known_text *after, nsc_text message,
                                            struct nsc_match *m);
/* Is it the beginning of a text, broken off within its plain words? */
bool nsc_texts_is_cut(ncclscope_grammar *g, nsc_text message);
/* Is there a release, of those whose texts are known, from `from` on and before `below`? */
bool nsc_texts_know_between(ncclscope_grammar *g, unsigned from, unsigned below);
void nsc_texts_free(struct nsc_texts *t);

#endif
