/* fast.h - what results of nccl-tests tell of the links below them. */
#ifndef NSC_FAST_H
#define NSC_FAST_H

#include "model/model.h"

double nsc_bus_bandwidth(const struct nsc_test *t); /* GB/s: the better of out of place and in place */
/* Does the bus bandwidth of this collective tell what each link of a ring carries? That of all-to-all does not. */
bool nsc_runs_in_rings(const struct ncclscope_model *m, const struct nsc_test *t);
/* A result on one host, whose links are P2P alone, that is more than PCIe carries; NULL: none is. */
const struct nsc_where *nsc_more_than_pcie(const struct ncclscope_model *m);

#endif
