/* rewrap.h - puts lines together that a terminal, an editor or a logger with columns wrapped at its width. */
#ifndef NSC_REWRAP_H
#define NSC_REWRAP_H

#include "read/lines.h"

enum { NSC_PIECES = 32, NSC_WRAP_NARROWEST = 60, NSC_LOT = 32, NSC_VAIN = 8, NSC_HANG = 8 };

/* What a line is worth, for the choice between it alone and it with what follows. */
enum nsc_worth {
    NSC_WORTH_NOTHING, /* no record begins here */
    NSC_WORTH_OTHER,   /* nor goes one on: another program's line */
    NSC_WORTH_CUT,     /* one begins, and no table takes it */
    NSC_WORTH_LOOSE,   /* a table takes it, and would take more */
    NSC_WORTH_KNOWN,   /* the same, and NCCL is known to print just this */
    NSC_WORTH_WHOLE    /* a table takes it as it is */
};
/* `roughly`: whatever is not NSC_WORTH_NOTHING may be told as NSC_WORTH_CUT, where that is all that is asked. */
typedef enum nsc_worth nsc_worth_fn(void *user, nsc_text line, bool roughly);

struct nsc_rewrap {
    size_t longest,
        before;   /* of the last lines, in two lots of NSC_LOT: where lines are wrapped none is longer than the width */
    unsigned lot; /* lines in the newer one */
    size_t width; /* of the line in hand */
    unsigned joins; /* lines put together at this width */
    unsigned vain;  /* lines of this width in a row with nothing behind them that could belong to them */
    size_t indent;  /* of the pieces in hand, if they stand in a column of a logger; else 0 */
    bool hangs;     /* the piece in hand ends where a message should begin: it may stand below, indented */
    bool spaced;    /* a blank was put behind the piece in hand, as if it had been broken between words */
    unsigned hung;  /* lines put together in such a column */
    char *flat;     /* such pieces as one line */
    size_t flat_cap;
    char *held; /* the pieces in hand, one behind the other */
    size_t cap, len, pieces, given;
    struct nsc_line piece[NSC_PIECES]; /* their texts lie in `held` */
    struct nsc_line next;              /* came behind them and belongs to none; a copy */
    char *next_text;
    size_t next_cap;
    bool has_next, flush; /* flush: what is held shall not wait */
};

/* The next line, like nsc_lines_next; borrowed until the next call. A line as long as any lately, in which a record begins, waits
 * for what follows: lines without a header that complete its record are put behind it. So does one that stands in a column, behind
 * NSC_HANG blanks or more; what goes on in just that column is put behind it, with a blank between. And one that ends where its
 * message should begin. */
bool nsc_rewrap_next(struct nsc_rewrap *w, struct nsc_lines *lines, nsc_worth_fn *worth, void *user,
                     struct nsc_line *out);
void nsc_rewrap_free(struct nsc_rewrap *w);

#endif
