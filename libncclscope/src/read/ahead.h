/* ahead.h - the records of a reader, read in a thread of its own ahead of who takes them: one large input keeps two cores busy. The records, their
 * order and what comes behind the last are those of ncclscope_reader_next. */
#ifndef NSC_AHEAD_H
#define NSC_AHEAD_H

#include "read/reader.h"

struct nsc_ahead;

/* From now on the reader is the thread's. `stop` is asked in the thread that calls nsc_ahead_next, instead of the reader's own watch in the
 * reader's: while it waits, and each few hundred records. NULL: no thread is to be had, or no memory. */
struct nsc_ahead *nsc_ahead_start(ncclscope_reader *r, int (*stop)(void *user), void *user);
/* As ncclscope_reader_next; the record is borrowed until the next call. */
int nsc_ahead_next(struct nsc_ahead *a, const ncclscope_record **out, ncclscope_error *err);
/* Bytes that were read of the input for the records that were given out so far. */
uint64_t nsc_ahead_bytes(const struct nsc_ahead *a);
/* The reader is the caller's again, and counts what was given out, also where that was not all. */
void nsc_ahead_end(struct nsc_ahead *a);

#endif
