/* stacks.h - stacks.c: from where ranks had called what they gave up. */
#ifndef NSC_STACKS_H
#define NSC_STACKS_H

#include "rules/stuck.h"

/* "rank 0 is in all_reduce (train.py:60), rank 1 in barrier (train.py:61)", of the ranks that gave a work up; NULL: no line shows a stack of
 * theirs. *differ: not all had called the same. */
const char *nsc_tell_stacks(struct nsc_case *c, const struct nsc_stuck *stuck, bool *differ);

#endif
