/* carried.h - a growing model as bytes: what save.c writes and load.c reads.
 *
 *   "ncscope\1"   then, of eight bytes each, lowest first: which members rows have (a hash of parts.def, and of the dictionary), and how
 *                 many bytes come out of the rest, which zlib packed with what NCCL prints as its dictionary:
 *   texts         how many, then length and bytes of each; the first is the empty one
 *   lines         of logs, that rows point to, in their order: how many; of each its source, how far it is behind the one before of that
 *                 source, and its text
 *   totals        in the order of parts.def
 *   arrays        in that order: how many rows, then all their values of one member, of the next ... A number takes seven bits a byte,
 *                 lowest first, the sign below them; a double eight bytes; a line its place among the lines, from 1 */
#ifndef NSC_CARRIED_H
#define NSC_CARRIED_H

#include "model/parts.h"

enum { NSC_CARRIED_HEAD = 24 };

void nsc_carried_head(unsigned char head[NSC_CARRIED_HEAD], uint64_t length);

/* How many bytes come out of what follows the head; EDATA, EABI: these bytes are no saved model, or one of another release. */
int nsc_carried_open(const unsigned char *bytes, size_t size, uint64_t *length, ncclscope_error *err);

/* Room for what `len` bytes are packed to, and packing: *size is that room, then what was taken of it. */
size_t nsc_carried_most(size_t len);
bool nsc_carried_pack(const unsigned char *from, size_t len, unsigned char *to, size_t *size);

/* To just `size` bytes; OK, EDATA or ENOMEM. */
int nsc_carried_unpack(const unsigned char *from, size_t len, unsigned char *to, size_t size);

#endif
