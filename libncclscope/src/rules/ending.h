/* ending.h - what one line tells of how one process ended. */
#ifndef NSC_ENDING_H
#define NSC_ENDING_H

#include "rules/ask.h"

/* Its code as torchrun gives it, below 0 a signal; 0: nothing, or a good end. *who: "rank 3 on node-a", for a title. torchrun's summary is not
 * among these lines. */
int64_t nsc_ending(struct nsc_case *c, const struct nsc_own_record *r, const char **who);
/* "Killed" and the like, as srun prints them, to that code; 0: none that is known. */
int64_t nsc_code_of_words(nsc_text words);
/* Is it a shell's line? It tells how its program ended, whatever led to it. */
bool nsc_is_of_shell(const struct nsc_own_record *r);
/* "Caught signal 11 (Segmentation fault: ...)" without a word of who it is: the process itself says so, by the handler of UCX or the like. */
bool nsc_is_own_handler(const struct nsc_own_record *r);
/* Is it a line of a shell, or of another that only watched: news only where nothing before says so? */
bool nsc_is_told_late(const struct nsc_own_record *r);
/* The one process of NCCL's in this input that has this pid; NULL: none has, or several. */
const struct nsc_proc *nsc_process_of_line(const struct ncclscope_model *m, const struct nsc_own_record *r,
                                           nsc_text pid);
/* In how many further lines the launcher says the same of other processes. */
uint64_t nsc_others_ended_so(struct nsc_case *c, const struct nsc_own_record *first, int64_t code);
/* How many further processes crashed with the same signal, by their own words. */
uint64_t nsc_others_crashed(const struct ncclscope_model *m, const struct nsc_own_record *first);

#endif
