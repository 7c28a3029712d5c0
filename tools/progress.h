/* progress.h - how far a long reading is, on a line of the terminal that is gone when it ends. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "ncclscope/model.h"

#include <stdbool.h>

struct progress {
    double began; /* seconds of a clock that only goes on */
    bool shown;
};

/* Let the reading tell how far it is; only where standard error is a terminal. `p` must outlive the reading. */
void progress_follow(struct progress *p, ncclscope_scan_options *o);
/* Before anything else is printed. */
void progress_end(struct progress *p);

#endif
