/* carried.h - a growing model as bytes: what save.c writes and load.c reads.
 *
 *   "ncscope\2"   then, of four bytes each, lowest first: which members rows have (a hash of parts.def, and of the dictionary), how many
 *                 bytes come out of the rest, and their Adler-32. The rest is deflated, with what NCCL prints as its dictionary:
 *   texts         how many, then length and bytes of each; the first is the empty one
 *   lines         of logs, that rows point to, in their order: how many; of each its source, how far it is behind the one before of that
 *                 source, and its text
 *   totals        in the order of parts.def
 *   arrays        in that order: how many rows; unless none, how each column lies there, four a byte; then the columns, a member each
 *
 * A number takes seven bits a byte, lowest first, the sign below them; of a double its bytes are turned round, for the lowest are mostly 0; a
 * line is its place among the lines, from 1, or 0. */
#ifndef NSC_CARRIED_H
#define NSC_CARRIED_H

#include "model/parts.h"

enum { NSC_CARRIED_HEAD = 20, NSC_MOST_MEMBERS = 96 };

/* How a column lies there. One value may stand for all rows only of few, so that hostile bytes do not stand for any number of rows. */
enum nsc_lies { NSC_LIES_ZERO, NSC_LIES_SAME, NSC_LIES_VALUES, NSC_LIES_STEPS };
enum { NSC_FEW = 256 };

/* The bytes of a double the other way round, and back. */
uint64_t nsc_turned(uint64_t v);

/* The head of `len` bytes before they are packed. */
void nsc_carried_head(unsigned char head[NSC_CARRIED_HEAD], const unsigned char *from, size_t len);

/* How many bytes come out of them; EDATA, EABI: these bytes are no saved model, or one of another release. */
int nsc_carried_open(const unsigned char *bytes, size_t size, size_t *length, ncclscope_error *err);

/* Room for what `len` bytes are packed to, and packing: *size is that room, then what was taken of it. */
size_t nsc_carried_most(size_t len);
bool nsc_carried_pack(const unsigned char *from, size_t len, unsigned char *to, size_t *size);

/* What is behind the head, to just `len` bytes; OK, EDATA or ENOMEM. */
int nsc_carried_unpack(const unsigned char *bytes, size_t size, unsigned char *to, size_t len);

#endif
