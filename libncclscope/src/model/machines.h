/* machines.h - host names are not machines: pods have names of their own, and machines may share one. */
#ifndef NSC_MACHINES_H
#define NSC_MACHINES_H

#include "model/model.h"

/* Index into model.machines of a host name; NSC_NONE if the name is not in the model. */
uint32_t nsc_machine_of(const struct ncclscope_model *m, nsc_str host);
const char *nsc_confidence_name(enum nsc_confidence c); /* "certain" ... */

#endif
