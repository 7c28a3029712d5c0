/* foreign.h - lines of other programs that a job log holds and that say something of the machine. */
#ifndef NSC_FOREIGN_H
#define NSC_FOREIGN_H

#include "base/text.h"
#include "ncclscope.h"

/* MATRIX_HEAD, MATRIX_ROW (`nvidia-smi topo -m`), TEST_NAME, TEST_ROW (nccl-tests), or UNKNOWN. */
ncclscope_kind nsc_foreign_kind(nsc_text line);

#endif
