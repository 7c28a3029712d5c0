/* open_traceback.h - a Python traceback whose last line is not there. */
#ifndef NSC_OPEN_TRACEBACK_H
#define NSC_OPEN_TRACEBACK_H

#include "rules/rules.h"

/* One at the end of an input, and nothing else that tells how the program failed: a finding of the rule in hand. */
void nsc_tell_open_traceback(struct nsc_case *c);

#endif
