/* known_beside.h - what an input tells of paths and networks without its connections. */
#ifndef NSC_KNOWN_BESIDE_H
#define NSC_KNOWN_BESIDE_H

#include "rules/ask.h"

/* Sentences, each behind a blank, for a cause's {what}; "" where it tells nothing. Belongs to the findings. */
const char *nsc_known_beside(struct nsc_case *c);
/* "what failed was under way over TCP sockets (NET/Socket) (line 7)", by the file that its error names; "" where none does. Belongs to the
 * findings. */
const char *nsc_failed_network(struct nsc_case *c);

/* picture.c: how GPUs reach each other, and over what rings go, by NCCL's picture of the machine; "" without one. Belongs to the findings. */
const char *nsc_picture_of_machine(struct nsc_case *c);

#endif
