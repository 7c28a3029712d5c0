/* reader.h - source, lines, header, match in a row: bytes to records. */
#ifndef NSC_READER_H
#define NSC_READER_H

#include "read/chars.h"
#include "read/debts.h"
#include "read/digest.h"
#include "read/entries.h"
#include "read/header.h"
#include "read/hosts.h"
#include "read/lines.h"
#include "read/prefix.h"
#include "read/record.h"
#include "read/rewrap.h"
#include "read/said.h"
#include "read/source.h"
#include "read/test_row.h"
#include "read/progress.h"
#include "read/traceback.h"
#include "read/transport.h"
#include "read/wrap.h"

struct ncclscope_reader {
    ncclscope_grammar *grammar;
    struct nsc_source source;
    int failed; /* of the source: told once, behind the last record */
    ncclscope_error failure;
    struct nsc_lines lines;
    struct nsc_rewrap rewrap;
    struct nsc_wrap wrap;
    struct nsc_entries entries; /* of the line in hand, where it is a document of many */
    struct nsc_entry entry;     /* the one in hand; len 0 else */
    struct nsc_match match;
    struct nsc_via_cache via_cache;
    struct nsc_words *words;
    struct nsc_header_memo headers;
    struct nsc_prefix_memo memo;
    struct nsc_prefix_seen seen;
    struct nsc_debts debts;
    struct nsc_hosts hosts;
    struct nsc_test_row test_row;
    ncclscope_stats stats;
    uint64_t nul_lines, cut_at; /* the line that was counted as cut last */
    uint64_t glued,
        alone;      /* records with another one right behind them on their line; and those that end with their line */
    bool long_shm;  /* this input's NCCL prints SHM/direct/direct, by a record or by its version */
    bool connected; /* a connection with a whole header came */
    bool ras_json;  /* within a report of ncclras */
    bool hinted;    /* the line in hand, which has no marker of NCCL's, holds one of the words of hints.def */
    bool of_error;  /* or one by which it may report an error, and no other */
    struct nsc_tracebacks tracebacks;
    struct nsc_progress progress;
    uint64_t panic_at;      /* the line of a panic whose reason is the next line; 0: none yet */
    uint64_t awaited_at;    /* the line of a result's meaning, behind which NCCL's text may stand at once; 0: none */
    uint64_t last_error_at; /* the line of "Last error:" that ends there; 0: none yet */
    bool of_last_error;     /* the text that the line in hand quotes stands behind such words */
    bool quotes;            /* "Last error:" was the last line: the next is NCCL's, in another program's message */
    size_t quote_at;        /* where that stood in its line, behind what a launcher put before both */
    char before
        [400]; /* the unmarked line before this one: where the newest stands first, NCCL's text stands above "Last error:" */
    size_t before_len;
    struct nsc_said said;
    bool digests; /* for stores: is this the very text that was read before? */
    struct nsc_digest digest;

    /* the line in hand */
    struct nsc_line physical;
    nsc_text raw, line; /* as it came, its pieces joined; and unwrapped */
    bool usual; /* it begins with a header that lines began with before, and nothing is wrapped around or into it */
    nsc_chars chars; /* of the line from the message of the record in hand on; 0: not looked at */
    struct nsc_prefix prefix;
    struct nsc_header next; /* the record to give out next */
    size_t lead;            /* what stands before its first record */
    nsc_text banner;        /* a version line that stands before the record in hand, on its line */
    nsc_text behind;        /* what another program printed into the record given out last: before `next` */
    bool in_line, has_next, torn;
    bool many; /* it holds so many records that their line ends were lost, not that writers met */
    struct ncclscope_record record;
};

void nsc_mark_torn(ncclscope_reader *r);                  /* the line in hand */
void nsc_unmark_torn(ncclscope_reader *r, uint64_t line); /* it was not; 0: no line */
/* The message of the record in hand to its row. `cut`: something other than the line's end ended it. */
void nsc_understand(ncclscope_reader *r, const struct nsc_header *h, bool cut);
/* An empty record at the line in hand; and what a header says put into it. */
void nsc_new_record(ncclscope_reader *r);
void nsc_set_who(struct ncclscope_record *rec, const struct nsc_header *h);
/* unmarked.c: the line in hand, without a header of NCCL's; true: it gave r->record. */
bool nsc_take_unmarked(ncclscope_reader *r);
enum nsc_worth nsc_worth_of_unmarked(ncclscope_reader *r,
                                     nsc_text line); /* of a line of PyTorch's process group, else nothing */
bool nsc_take_behind(ncclscope_reader *r);           /* the same of r->behind */
/* quoted.c: the text of NCCL that the line in hand quotes, len 0: none; the row of the exception that it ends a traceback with; that of
 * a panic's reason. */
nsc_text nsc_quoted_text(ncclscope_reader *r);
void nsc_await_quoted(ncclscope_reader *r); /* the line in hand says what a result of NCCL's means */
const struct nsc_row *nsc_exception_row(ncclscope_reader *r, nsc_text *text);
const struct nsc_row *nsc_panic_row(ncclscope_reader *r, nsc_text body);
/* Is this all of a message that NCCL prints? */
enum nsc_worth nsc_worth_of_message(ncclscope_reader *r, nsc_text message);

/* ncclscope_reader_open with somebody who is asked whether to go on. */
int nsc_reader_open(ncclscope_reader **out, ncclscope_grammar *g, const char *path, const struct nsc_watch *watch,
                    ncclscope_error *err);
/* Take a digest of the text while it is read; and what it is. */
void nsc_reader_digest(ncclscope_reader *r);
const struct nsc_digest *nsc_reader_digest_of(const ncclscope_reader *r);

#endif
