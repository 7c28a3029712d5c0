/* foreign.h - lines of other programs that a job log holds and that say something of the machine, or of what happened. */
#ifndef NSC_FOREIGN_H
#define NSC_FOREIGN_H

#include "read/grammar.h"

/* MATRIX_HEAD, MATRIX_ROW (`nvidia-smi topo -m` and -p2p), TEST_NAME, TEST_ROW (nccl-tests), or UNKNOWN. */
ncclscope_kind nsc_foreign_kind(nsc_text line);
/* TEST_JSON, RAS_JSON: the line holds a part of what nccl-tests writes with -J, or ncclras with -f json; or UNKNOWN. *ras: a report
 * of ncclras has begun and not ended. */
ncclscope_kind nsc_json_kind(nsc_text line, bool *ras);
/* PY_RAISED where a traceback ends, PROGRAM_GOES_ON behind that, PANIC_REASON behind a panic; NULL if the text does not read so. */
const struct nsc_row *nsc_foreign_placed(ncclscope_grammar *g, ncclscope_kind kind, nsc_text text, struct nsc_match *m);
/* The row of other.def that takes this line wherever it stands, or NULL. */
const struct nsc_row *nsc_foreign_row(ncclscope_grammar *g, nsc_text line, bool hinted, struct nsc_match *m);

/* "[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607]": level, month, day and time as Google's logger prints them: "321 02:07:08.408271257". */
nsc_text nsc_glog_time(nsc_text line);

#endif
