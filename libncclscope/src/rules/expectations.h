/* expectations.h - assertions for CI: their words in reports. */
#ifndef NSC_EXPECTATIONS_H
#define NSC_EXPECTATIONS_H

#include "rules/rules.h"

const char *nsc_kept_name(int kept); /* "kept", "broken", "unknown" */

#endif
