/* test_row.h - the result rows of nccl-tests, whole or in pieces. */
#ifndef NSC_TEST_ROW_H
#define NSC_TEST_ROW_H

#include "base/text.h"

/* How many columns of a row stand before the first time: size, count, type; then redop, root, or none of these in older releases;
 * 0: it is no such row. */
size_t nsc_test_columns(nsc_text row);

/* nccl-tests prints a row in three pieces, before, between and behind its measurements; what NCCL logs meanwhile stands on the same
 * lines: "    64   16   float   sumvm:7:9 [0] NCCL INFO AllReduce: ...", "   86.8   0.00   0.00   0vm:7:9 [0] NCCL INFO ...", and the rest. */
struct nsc_test_row {
    char text[160]; /* the pieces so far */
    size_t len;
};

/* Does the text begin a row, or go on the one that began? Then it is put behind what is there. */
bool nsc_test_row_piece(struct nsc_test_row *row, nsc_text piece);
/* The row if it is whole with this text, else nothing; it is given once. */
nsc_text nsc_test_row_whole(struct nsc_test_row *row, nsc_text piece);

#endif
