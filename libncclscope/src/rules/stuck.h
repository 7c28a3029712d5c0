/* stuck.h - stuck.c: the works that ranks gave up. */
#ifndef NSC_STUCK_H
#define NSC_STUCK_H

#include "rules/ask.h"

enum { NSC_MOST_STUCK = 65536 }; /* ranks that are looked at: damaged numbers are higher */

/* The first work that each rank of the group gave up; len 0: the line does not say which collective. */
struct nsc_stuck {
    const struct nsc_own_record *line; /* NULL: it gave none up */
    int64_t seq;
    nsc_text op;
    const struct nsc_own_record *work,
        *waits; /* its last line on what it had enqueued; that says that it waits; or NULL */
};

/* Does the group have all ranks of the job? Only there can silent ones be named. */
bool nsc_is_whole_job(nsc_text group);
/* Its name, as far as a damaged line may make it long. */
nsc_text nsc_op_of(const struct nsc_stuck *s);
/* Fills NSC_MOST_STUCK places, by rank. */
void nsc_find_stuck(const struct ncclscope_model *m, nsc_text group, struct nsc_stuck *of_rank);
bool nsc_is_same_work(const struct nsc_stuck *a, const struct nsc_stuck *b);
/* The work that most ranks are in; of two that are as many the later. */
const struct nsc_stuck *nsc_most_common(const struct nsc_stuck *of_rank, int64_t *count);
/* Are all that are elsewhere in the same work? */
bool nsc_all_alike(const struct nsc_stuck *of_rank, const struct nsc_stuck *most, const struct nsc_stuck *odd);
/* "OpType=_ALLGATHER_BASE, NumelIn=1034240, NumelOut=8273920": what is gathered is as many times larger as the group has ranks. 0: not so. */
int64_t nsc_size_by_elements(const struct ncclscope_model *m, const struct nsc_stuck *s);
/* "NumelIn=1048576, NumelOut=1048576"; len 0: not said. */
nsc_text nsc_sizes_of(const struct ncclscope_model *m, const struct nsc_stuck *s);
/* A collective that all ranks must call with the same sizes. */
bool nsc_has_one_size(nsc_text op);
/* Of the ranks in the most common work the first that gave it another size than *one; NULL: none, or not all say theirs (*one NULL). */
const struct nsc_stuck *nsc_find_other_size(const struct ncclscope_model *m, const struct nsc_stuck *of_rank,
                                            const struct nsc_stuck *most, const struct nsc_stuck **one);
/* Are all in a BROADCAST or REDUCE? There data goes from rank to rank one way, and a rank that has passed it on is done. */
bool nsc_are_all_rooted(const struct nsc_stuck *of_rank);
/* The first in its input of those that gave a work up; NULL: they are of several inputs. */
const struct nsc_stuck *nsc_earliest(const struct nsc_stuck *of_rank);

/* rules_stuck.c: a finding for each process group whose works the watchdog gave up */
void nsc_tell_watchdogs(struct nsc_case *c);

#endif
