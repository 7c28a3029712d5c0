/* traceback.h - Python's tracebacks, of which several may stand interleaved: ranks that fail at once write into one log.
 *
 *   [default2]:[rank2]: Traceback (most recent call last):
 *   [default2]:[rank2]:   File "/x.py", line 25, in <module>
 *   [default0]:step 1 loss 0.0126
 *   [default2]:[rank2]: ValueError: too many values to unpack
 *
 * Who writes is the word in front of the traceback's column, "[default2]:[rank2]:", "3:"; "": nothing that tells writers apart. */
#ifndef NSC_TRACEBACK_H
#define NSC_TRACEBACK_H

#include "base/text.h"

enum {
    NSC_TRACEBACKS = 16,
    NSC_TRACEBACK_WRITER = 48,
    NSC_TRACEBACK_LINES = 1000, /* of others, behind which one counts as cut off */
    NSC_IGNORED_LINES = 64      /* of one at most that Python itself ignores */
};

struct nsc_traceback {
    bool open;
    char writer[NSC_TRACEBACK_WRITER];
    size_t writer_len, gap, column; /* gap: blanks between the writer and the column */
    uint64_t line;                  /* of the input, its newest */
    bool framed;                    /* a frame of it came */
    uint64_t flat_at;               /* the line of a frame without indentation, whose code follows; 0: none yet */
};

struct nsc_tracebacks {
    struct nsc_traceback of[NSC_TRACEBACKS];
    size_t open;
    uint64_t ignored_at; /* the line that says that Python ignores an exception, whose traceback follows; 0: none yet */
    size_t ignored_column; /* where its words stand */
    uint64_t begun, ended; /* how many tracebacks began, and how many exceptions came */
    char raised[200]; /* the last exception as it stood in its line: where tracebacks are mixed up others stand alone */
    uint64_t raised_at; /* its line */
    size_t raised_len;  /* 0: none yet, or a longer one */
};

/* The traceback in which the line, without blanks at its end, may be the exception that ends it: *text is what stands in the column.
 * NULL: in none. Then nsc_traceback_ends: was it one? What else stands there goes on, or ends it without. */
struct nsc_traceback *nsc_traceback_at(struct nsc_tracebacks *all, nsc_text line, uint64_t number, bool hinted,
                                       nsc_text *text);
/* Is the traceback that begins in this line one that Python, or a library of it, only tells of? */
bool nsc_traceback_is_ignored(const struct nsc_tracebacks *all, uint64_t number);
/* May this line be of such a one? */
bool nsc_is_in_ignored(const struct nsc_tracebacks *all, uint64_t number);
void nsc_traceback_ends(struct nsc_tracebacks *all, struct nsc_traceback *t, bool raised, uint64_t number);

#endif
