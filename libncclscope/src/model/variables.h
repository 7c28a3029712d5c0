/* variables.h - names that begin with NCCL_: who reads them, and values that NCCL does not take. */
#ifndef NSC_VARIABLES_H
#define NSC_VARIABLES_H

#include "base/text.h"

/* "nccl", "rccl, gcp" ...; NULL if no program that is known reads a variable of this name. */
const char *nsc_variable_reader(nsc_text name);
/* A known name that differs by one or two letters; NULL: none. */
const char *nsc_variable_like(nsc_text name);
/* What NCCL takes in place of this value, in words ("1 or 0"); NULL: it takes it, or nothing is known of it. */
const char *nsc_value_wanted(nsc_text name, nsc_text value);

#endif
