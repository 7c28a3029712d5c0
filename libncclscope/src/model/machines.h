/* machines.h - host names are not machines: pods have names of their own, and machines may share one. */
#ifndef NSC_MACHINES_H
#define NSC_MACHINES_H

#include "model/model.h"

/* Index into model.machines of a host name; NSC_NONE if the name is not in the model. */
uint32_t nsc_machine_of(const struct ncclscope_model *m, nsc_str host);
/* Does the bootstrap address of the process name one machine? What people put in its place does not ("xx.xx.xx.xx", "10.0.0.*",
 * "127.0.0.1" for eth0); that of lo does: over it, ranks of two machines never come to be. */
bool nsc_is_one_address(const struct ncclscope_model *m, const struct nsc_proc *p);
/* Are two processes reached at one address? In a communicator that came to be they are on one machine. */
bool nsc_have_one_address(const struct ncclscope_model *m, uint32_t a, uint32_t b);

#endif
