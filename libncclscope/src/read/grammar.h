/* grammar.h - what the tables know: the rows of messages.def and, for what they do not take, the texts of texts.def. */
#ifndef NSC_GRAMMAR_H
#define NSC_GRAMMAR_H

#include "read/hints.h"
#include "read/index.h"
#include "read/user.h"

/* What a reader learns of the words that messages begin with: true of every input. */
struct nsc_words {
    struct nsc_first_words messages, texts; /* of messages.def and of texts.def */
    struct nsc_words *next;                 /* that no reader has */
};

struct ncclscope_grammar {
    struct nsc_index messages; /* messages.def */
    struct nsc_index others;   /* other.def */
    struct nsc_hints hints;
    struct nsc_user user;       /* what ncclscope_grammar_add brought */
    struct nsc_pattern *prefix; /* prefixes.def */
    size_t prefixes;
    _Atomic(struct nsc_texts *) texts; /* texts.def, NULL until a message needs it */
    struct nsc_words *words;           /* that no reader has */
    pthread_mutex_t lock;              /* held while a row is compiled, and for `words` */
    atomic_bool used;                  /* a reader was made: its rows stay as they are */
};

ncclscope_field nsc_field_by_name(nsc_text name);

/* What the last reader learned, or nothing yet, for one reader alone; NULL: no memory. To be given back. */
struct nsc_words *nsc_grammar_take_words(ncclscope_grammar *g);
void nsc_grammar_keep_words(ncclscope_grammar *g, struct nsc_words *w);

/* The first row of messages.def, in the order of the file, that takes all of `message`, or else the first of the user's; NULL if
 * none does. `w` only makes it faster; it may be NULL. `chars` as in nsc_index_match. */
const struct nsc_row *nsc_grammar_match(ncclscope_grammar *g, struct nsc_first_words *w, nsc_text message,
                                        nsc_chars chars, struct nsc_match *m);
/* Is `message`, which no row matched, certainly the beginning of one that a row would match? */
bool nsc_grammar_is_cut(ncclscope_grammar *g, nsc_text message, struct nsc_match *m);
/* Could `message`, which `row` matched, be but the beginning of what was printed: does it end with a field, or begin another row? */
bool nsc_grammar_goes_on(ncclscope_grammar *g, const struct nsc_row *row, nsc_text message, struct nsc_match *m);

#endif
