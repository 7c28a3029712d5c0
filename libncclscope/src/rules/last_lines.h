/* last_lines.h - what something beside NCCL and Python says of a program's end. */
#ifndef NSC_LAST_LINES_H
#define NSC_LAST_LINES_H

#include "rules/rules.h"

/* The first row of endings.def whose line stands near the end of an input, of those that tell why, or of the others: a finding of the rule in
 * hand. False: there is none. */
bool nsc_tell_last_lines(struct nsc_case *c, bool why);

#endif
