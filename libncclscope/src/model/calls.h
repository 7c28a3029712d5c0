/* calls.h - which collective each rank of a communicator calls as its n-th, where the log has COLL lines. */
#ifndef NSC_CALLS_H
#define NSC_CALLS_H

#include "model/apply.h"

/* A call of this rank (index into model.ranks), against what the first of its communicator called under the same number. */
void nsc_compare_call(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t rank);

#endif
