/* overcome.h - of what failed, what the log shows to have been got over: NCCL did without it, tried another way, or went on. */
#ifndef NSC_OVERCOME_H
#define NSC_OVERCOME_H

#include "rules/ask.h"

/* Did the process print much more behind the warning, come to an end that no error tells, and did nobody else fail? */
bool nsc_went_on(const struct ncclscope_model *m, const struct nsc_event *e);
/* A library that NCCL did not find and did without: the process then chose its network, or made connections. */
bool nsc_did_without(const struct ncclscope_model *m, const struct nsc_event *e);
/* A call of libfabric that failed, and the process then chose a network that is not its plugin's: it goes on. */
bool nsc_chose_another(const struct ncclscope_model *m, const struct nsc_event *e);
/* aws-ofi-nccl asks libfabric for what its RDMA protocol needs first, and then for what SENDRECV does: a provider is selected behind that. */
bool nsc_is_first_try(const struct ncclscope_model *m, const struct nsc_event *e);
/* "MSCCL: Parsing algorithm FILE", and that is too large for the parser of NCCL's topology files, which reads it: the file is ignored, and
 * env/msccl-off tells of it. */
bool nsc_is_of_algorithm(const struct ncclscope_model *m, const struct nsc_event *e);
/* The driver's library that NCCL could not use: it goes on without (NCCL 2.14.3 to 2.30.7, src/init.cc, ignores what ncclCudaLibraryInit
 * returns). A process that says so chooses the interface of its bootstrap behind it; or says more, and nothing in the input fails. */
bool nsc_does_without_driver(const struct ncclscope_model *m);
/* NVML's error that no call returned, where it would be told ("init.cc:100 -> 2", at INFO), and behind which the process says more. */
bool nsc_returns_no_error(const struct ncclscope_model *m, const struct nsc_event *e);
/* "Got async event : port error", and "port active" of the same process behind it: the link came back, and no call of NCCL's failed. */
bool nsc_came_back(const struct ncclscope_model *m, const struct nsc_event *e);
/* Did some processes take the algorithm file that this one ignores? Then ranks do not do the same. */
bool nsc_is_taken_elsewhere(const struct ncclscope_model *m, const struct nsc_event *e);

#endif
