/* scheduler.h - what schedulers and launchers tell of a whole job. Each makes findings of the rule in hand. */
#ifndef NSC_SCHEDULER_H
#define NSC_SCHEDULER_H

#include "rules/ask.h"

void nsc_tell_unreached(struct nsc_case *c);   /* the launcher did not come to a host */
void nsc_tell_refused(struct nsc_case *c);     /* it was never started */
bool nsc_tell_node_gone(struct nsc_case *c);   /* with a node of it; false: none of it is told, as below */
bool nsc_tell_limit(struct nsc_case *c);       /* Slurm ended it */
bool nsc_tell_other_limit(struct nsc_case *c); /* PBS, LSF, Grid Engine, Kubernetes or a cloud did */
bool nsc_tell_memory(struct nsc_case *c);      /* a process of it was killed for its memory */

#endif
