/* index.h - a table of templates, and the first row of it that takes a message: found by how the message begins. */
#ifndef NSC_INDEX_H
#define NSC_INDEX_H

#include "read/chars.h"
#include "read/pattern.h"

struct nsc_row {
    ncclscope_kind kind;
    struct nsc_pattern pattern;
    const char *example;
    uint64_t want, mask; /* bytes 8 to 15 of the head, to tell rows of one bucket apart at once */
    nsc_chars chars;     /* that its plain characters are: a message that lacks one of them is none */
};

/* Rows by the first eight bytes of the message: a row with a shorter head stands in every list that it could match. */
struct nsc_bucket {
    uint64_t key;
    uint16_t *row;
    size_t rows;
    bool used;
};

struct nsc_index {
    struct nsc_row *row;
    size_t rows;
    struct nsc_bucket *bucket; /* hash table by key */
    size_t buckets;
    struct nsc_bucket by_byte[256]; /* for beginnings that no long head has */
    uint16_t *lists;
};

enum {
    NSC_WORDS = 512,
    NSC_WORDS_AGAIN = 128,
    NSC_WORD_BYTES = 40,
    NSC_WORD_ROWS = 28,
    NSC_TOO_MANY = NSC_WORD_ROWS + 1
};

/* Which rows could match a message with this first word: most rows of a bucket that begin with a field could not, and each would
 * cost a call of PCRE2 for every line. One per reader and index, which the next reader takes over. Learning a word costs as much as a hundred lines: where most are
 * new, it ends. */
struct nsc_first_words {
    uint64_t known, learned;
    struct nsc_first_word {
        size_t len;
        char text[NSC_WORD_BYTES];
        size_t rows; /* NSC_TOO_MANY: this word narrows nothing */
        uint16_t row[NSC_WORD_ROWS];
    } word[NSC_WORDS];
    struct nsc_first_word *again[NSC_WORDS_AGAIN]; /* those that came last, by the message's first bytes */
};

/* Room for `rows` rows, at most 65535; false: out of memory. Then set each, then build. */
bool nsc_index_new(struct nsc_index *x, size_t rows);
void nsc_index_set(struct nsc_index *x, size_t i, ncclscope_kind kind, const char *template_, const char *example);
bool nsc_index_build(struct nsc_index *x);
void nsc_index_free(struct nsc_index *x);

/* The first row, in the order they were set, that takes all of `message`; NULL if none does. `w` only makes it faster; it may be
 * NULL. `chars` are those of `message` or of what it stands in; 0: not looked at yet. `lock` is held while a row is compiled. */
const struct nsc_row *nsc_index_match(struct nsc_index *x, pthread_mutex_t *lock, struct nsc_first_words *w,
                                      nsc_text message, nsc_chars chars, struct nsc_match *m);
/* All rows that take `message`, in order, `most` at most: how many. */
size_t nsc_index_all(struct nsc_index *x, pthread_mutex_t *lock, nsc_text message, struct nsc_match *m,
                     const struct nsc_row **out, size_t most);
/* The next row behind `after` (NULL: the first) that takes all of `message`. */
const struct nsc_row *nsc_index_next(struct nsc_index *x, pthread_mutex_t *lock, const struct nsc_row *after,
                                     nsc_text message, struct nsc_match *m);

#endif
