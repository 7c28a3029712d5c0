/* prefix.h - what stands before a header: launcher prefixes by prefixes.def, or another writer's text. */
#ifndef NSC_PREFIX_H
#define NSC_PREFIX_H

#include "read/chars.h"
#include "read/grammar.h"

enum { NSC_PREFIX_SHAPE = 96, NSC_PREFIX_STACK = 8 };

struct nsc_prefix {
    nsc_text pod, container, time;
    int64_t rank; /* -1: not said */
    bool foreign; /* some of it matched no row */
    size_t known; /* bytes from the start that rows took */
};

/* Which rows took the last prefix of this shape (digits made alike): the next line is nearly always like the last. */
struct nsc_prefix_memo {
    char shape[NSC_PREFIX_SHAPE];
    size_t len, rows;
    bool indented; /* the rows begin behind blanks that none of them takes */
    bool
        plain; /* nothing in it that is taken apart or away before headers are looked for, and a header may begin behind it */
    uint8_t row[NSC_PREFIX_STACK];
};

enum { NSC_PREFIX_SEEN = 8, NSC_PREFIX_AGAIN = 4 };

/* What no row takes, and stands before header after header: a launcher's all the same. */
struct nsc_prefix_seen {
    struct {
        char shape[NSC_PREFIX_SHAPE]; /* runs of digits made one 0 */
        size_t len;
        uint64_t lines,
            charged[NSC_PREFIX_AGAIN]; /* of the first lines: the number of each that was called torn for it, or 0 */
    } of[NSC_PREFIX_SEEN];
    size_t shapes;
    uint64_t headers; /* lines with a whole header, so far */
};

void nsc_prefix_parse(ncclscope_grammar *g, nsc_text text, struct nsc_prefix_memo *memo, struct nsc_match *m,
                      struct nsc_prefix *out);
/* How much of the beginning of `line` has the shape of the last prefix, where that is plain; 0: none. */
size_t nsc_prefix_again(const struct nsc_prefix_memo *memo, nsc_text line);
/* One more line has this before a whole header. True: it is a prefix by now; if *since lines were called torn for it, they were not. */
bool nsc_prefix_known_by_now(struct nsc_prefix_seen *seen, nsc_text text, uint64_t line, const uint64_t **since);
/* How much of the end of `text` is a boxed time stamp that belongs to the record behind it. */
size_t nsc_prefix_stamp_at_end(ncclscope_grammar *g, nsc_text text, struct nsc_match *m);
/* How much of the end of `text` is what a launcher put before the record behind it: as `lead`, but for its numbers ("[1,0]<stdout>:",
 * "[1,13]<stdout>:"). */
size_t nsc_prefix_lead_at_end(nsc_text text, nsc_text lead);

#endif
