/* watchdog.h - what lines of PyTorch's process group say: of which rank and group, and whether it waits. */
#ifndef NSC_WATCHDOG_H
#define NSC_WATCHDOG_H

#include "rules/ask.h"

/* The rank that printed the line, by its number in the whole job where the line says that. */
bool nsc_torch_rank_of(const struct ncclscope_model *m, const struct nsc_own_record *r, int64_t *rank);
/* A line that says that the rank gave a work up, after the time-out or an error. */
bool nsc_gave_up(const struct ncclscope_model *m, const struct nsc_own_record *r);
/* Do two ranks of the job say that they are the same rank of a group with this name? PyTorch numbers "PG 5" in each process by itself. */
bool nsc_is_name_of_several(const struct ncclscope_model *m, nsc_text group);
/* "[rank15]: ... [PG 1 Rank 15]": the ranks of a group are numbered in the order of the job's, so that this group has ranks 0-15. */
bool nsc_has_all_up_to(const struct ncclscope_model *m, nsc_text group, int64_t last);
/* "PG ID 3 PG GUID 14(mesh_tp)"; len 0: neither the line nor one near it names the group. */
nsc_text nsc_group_of(const struct ncclscope_model *m, const struct nsc_own_record *r);
/* A line that tells of the rank, and not of which group. */
bool nsc_is_of_any_group(const struct nsc_own_record *r);
bool nsc_is_of_group(const struct ncclscope_model *m, const struct nsc_own_record *r, nsc_text group);
/* A line that says what work the rank had enqueued; one that says that it waits, or waited. */
bool nsc_tells_work(const struct ncclscope_model *m, const struct nsc_own_record *r);
bool nsc_tells_waiting(const struct ncclscope_model *m, const struct nsc_own_record *r);
/* How many ranks the job has, as far as any line says; 0: none does. */
int64_t nsc_size_of_job(const struct ncclscope_model *m);

#endif
