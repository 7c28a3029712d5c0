/* progress.h - does a program go on behind an exception, or behind words of a crash? By the steps or epochs that it counts.
 *
 *   ModuleNotFoundError: No module named 'apex'
 *   step 100 loss 9.1123
 *   step 200 loss 8.0041
 */
#ifndef NSC_PROGRESS_H
#define NSC_PROGRESS_H

#include "base/text.h"

struct nsc_progress {
    uint64_t since; /* the line of the exception; 0: none is open */
    uint64_t step;  /* the last that was counted behind it */
    int counted;    /* how often it rose, the first time with it */
};

void nsc_progress_begin(struct nsc_progress *p, uint64_t number);
/* The same, unless one is open: of what a program may report again and again as it counts. */
void nsc_progress_begin_once(struct nsc_progress *p, uint64_t number);
/* Is this line the one that shows it: the second step in rising order? Once for each exception. */
bool nsc_progress_shows(struct nsc_progress *p, nsc_text line, uint64_t number);

#endif
