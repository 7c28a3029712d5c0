/* raised.h - a program that says that it failed by itself. */
#ifndef NSC_RAISED_H
#define NSC_RAISED_H

#include "rules/ask.h"

/* raised_titles.c: what a known exception means, in place of its own words; NULL: those must do. */
const char *nsc_title_of_raised(struct nsc_case *c, const struct nsc_finding *f, nsc_text name, nsc_text reason);

/* Lines behind an assertion of PyTorch's in which an error of CUDA's follows from it. */
enum { NSC_NEAR_ASSERT = 100 };

/* The first line of raised.def that is neither NCCL's nor CUDA's becomes a finding of the rule in hand, unless NCCL failed: then it
 * follows from that. A note where the program says behind it that it reached its end. NULL: there was none. */
const struct nsc_own_record *nsc_tell_raised(struct nsc_case *c, bool nccl_failed);
/* Ranks that are missing, or that others waited for in vain behind that line, are so by what it tells: a finding of `by`. */
void nsc_blame_for_waiting(struct nsc_case *c, const struct nsc_where *raised, enum nsc_id by);
/* The first line by which somebody stopped the job, or a tool did by SIGINT; NULL: none. */
const struct nsc_own_record *nsc_stopped_by_hand(const struct ncclscope_model *m);
/* Are closed connections and lost patience all that NCCL and its watchdog tell, which a process that ended leaves behind? */
bool nsc_only_missed(const struct ncclscope_model *m);
/* Is it an exception that only hands on a failure of NCCL's? */
bool nsc_is_of_nccl(const struct ncclscope_model *m, const struct nsc_own_record *r);
/* " (process 14 by its launcher's mark)", as mpirun puts "[1,14]<stdout>:" in front; "" where it has none, or PyTorch's own. */
const char *nsc_marked_by_launcher(struct nsc_case *c, const struct nsc_own_record *r);
/* Is it one by which the process aborts? */
bool nsc_dies_of(const struct nsc_own_record *raised);
/* The first line of this input (NSC_NONE: one of any) by which NCCL, or work that waits for it, failed; NULL: none. */
const struct nsc_where *nsc_first_failure(const struct ncclscope_model *m, uint32_t source);
/* Did a program say before that line that a call of NCCL failed ("RuntimeError: NCCL error: unhandled system error")? */
bool nsc_call_failed_before(const struct ncclscope_model *m, const struct nsc_where *end);

#endif
