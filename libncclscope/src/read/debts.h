/* debts.h - beginnings of records that another writer cut, until a later line pays the rest. */
#ifndef NSC_DEBTS_H
#define NSC_DEBTS_H

#include "read/grammar.h"
#include "read/header.h"
#include "read/transport.h"

enum {
    NSC_DEBTS = 64,
    NSC_DEBT_LINES = 400,
    /* so far behind its beginning the rest of a record may come */ NSC_DEBT_BYTES = 1200,
    NSC_LAST_BYTES = 320
};

struct nsc_debt {
    bool open;
    uint64_t line;
    int64_t pid, tid, dev;
    char host[64], begin[NSC_DEBT_BYTES]; /* begin: from the marker on */
    size_t host_len, begin_len;
};

struct nsc_debts {
    struct nsc_debt *debt; /* NSC_DEBTS of them, a ring; NULL until the first is needed */
    size_t next;
    uint64_t line, newest; /* of the input, kept up to date by the reader; where the newest debt was made */
    char *last;            /* one whole message per row: what the end of such a record looks like */
    uint16_t *last_len;
    char joined[NSC_DEBT_BYTES * 2 + 1]; /* with a blank between the two */
};

/* Remember what a whole record of `row` looks like. */
void nsc_debts_whole(struct nsc_debts *d, const ncclscope_grammar *g, const struct nsc_row *row, nsc_text message);
/* `begin` is cut: from its marker on. */
void nsc_debts_add(struct nsc_debts *d, const struct nsc_header *h, nsc_text begin);
/* `piece` was cut at both ends: every open debt may go on with it. */
void nsc_debts_extend(struct nsc_debts *d, nsc_text piece);
/* Is `rest`, a line without header, the end of a record that was cut? Then *message is the whole and the result its row;
 * *who says whose. NULL if no debt fits. */
const struct nsc_row *nsc_debts_pay(struct nsc_debts *d, ncclscope_grammar *g, struct nsc_via_cache *v, nsc_text rest,
                                    struct nsc_match *m, nsc_text *message, struct nsc_debt **who);
/* Can nobody but NCCL have written this end of a line? "[3] -> 4[4] via P2P/CUMEM", "... rest 0.01)", "- Init COMPLETE" */
bool nsc_is_residue(nsc_text line);
void nsc_debts_free(struct nsc_debts *d);

#endif
