/* grammar.h - all rows of messages.def, found by how a message begins. */
#ifndef NSC_GRAMMAR_H
#define NSC_GRAMMAR_H

#include "base/vec.h"
#include "read/pattern.h"

struct nsc_row {
    ncclscope_kind kind;
    struct nsc_pattern pattern;
    const char *example;
    uint64_t want, mask; /* bytes 8 to 15 of the head, to tell rows of one bucket apart at once */
};

/* Rows by the first eight bytes of the message: a row with a shorter head stands in every list that it could match. */
struct nsc_bucket {
    uint64_t key;
    uint16_t *row;
    size_t rows;
};

struct ncclscope_grammar {
    struct nsc_row *row;
    size_t rows;
    struct nsc_bucket *bucket; /* hash table by key; row == NULL is a free place */
    size_t buckets;
    struct nsc_bucket by_byte[256]; /* for beginnings that no long head has */
    uint16_t *lists;
    struct nsc_pattern *prefix; /* prefixes.def */
    size_t prefixes;
    pthread_mutex_t lock; /* held while a row is compiled */
};

enum { NSC_WORDS = 512, NSC_WORD_BYTES = 40, NSC_WORD_ROWS = 28 };

/* Which rows could match a message with this first word: most rows of a bucket that begin with a field could not, and each would
 * cost a call of PCRE2 for every line. One per reader. Learning a word costs as much as a hundred lines: where most are new, it ends. */
struct nsc_first_words {
    uint64_t known, learned;
    struct nsc_first_word {
        size_t len;
        char text[NSC_WORD_BYTES];
        size_t rows;
        uint16_t row[NSC_WORD_ROWS];
    } word[NSC_WORDS];
};

ncclscope_field nsc_field_by_name(nsc_text name);

/* The first row, in the order of the file, that matches all of `message`; NULL if none does. `w` only
 * makes it faster; it may be NULL. */
const struct nsc_row *nsc_grammar_match(ncclscope_grammar *g, struct nsc_first_words *w, nsc_text message,
                                        struct nsc_match *m);
/* Is `message`, which no row matched, certainly the beginning of one that a row would match? */
bool nsc_grammar_is_cut(ncclscope_grammar *g, nsc_text message, struct nsc_match *m);

#endif
