/* reruns.h - several runs of a job in one file, and processes that try again. */
#ifndef NSC_RERUNS_H
#define NSC_RERUNS_H

#include "rules/ask.h"

/* The line of its input with which the job of this failure was started anew behind it; UINT64_MAX: it was not. */
uint64_t nsc_started_anew(const struct ncclscope_model *m, const struct nsc_where *failed);

/* Of each process the largest communicator that came up, and the last line by which one of that size did. */
struct nsc_came_up {
    int64_t nranks;
    uint64_t line;
};
struct nsc_came_up *nsc_list_came_up(const struct ncclscope_model *m); /* by process, to be freed; NULL: no memory */
/* Did every process of a communicator that failed make another of that size, or a larger one, that came up later? Then a note is told. */
bool nsc_is_made_anew(const struct ncclscope_model *m, const struct nsc_comm *k, const struct nsc_came_up *of);
void nsc_tell_made_anew(struct nsc_case *c, uint32_t comm);

#endif
