/* raised.h - a program that says that it failed by itself. */
#ifndef NSC_RAISED_H
#define NSC_RAISED_H

#include "rules/ask.h"

/* The first line of raised.def that is neither NCCL's nor CUDA's becomes a finding of the rule in hand, unless NCCL failed: then it
 * follows from that. A note where the program says behind it that it reached its end. True: there was one. */
bool nsc_tell_raised(struct nsc_case *c, bool nccl_failed);

#endif
