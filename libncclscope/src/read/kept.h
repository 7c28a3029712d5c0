/* kept.h - a record with all that it points to, for who takes it later than the next line. */
#ifndef NSC_KEPT_H
#define NSC_KEPT_H

#include "base/arena.h"
#include "read/record.h"

/* A copy that lives as long as the arena. NULL: no memory. */
const struct ncclscope_record *nsc_record_keep(struct nsc_arena *a, const struct ncclscope_record *rec);

#endif
