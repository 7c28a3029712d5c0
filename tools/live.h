/* live.h - where the commands about a machine have its facts from. */
#ifndef LIVE_H
#define LIVE_H

#include "ncclscope/probe.h"

#include <stdbool.h>

enum { LIVE_RUNS = 2 }; /* of NCCL: by itself, and with variables */

struct live {
    const char *facts;                     /* a file instead of this machine; NULL */
    const char *seconds, *pairs, *memory;  /* of measuring, as given */
    const char *library, *variables, *log; /* of NCCL */
    bool measure, nccl;
};

/* What NCCL printed in each run; NULL: there was none. */
struct live_logs {
    ncclscope_grammar *grammar;
    ncclscope_model *run[LIVE_RUNS];
};

/* What is wrong with the options, in a sentence; NULL: nothing. */
const char *live_wrong(const struct live *w);
/* 0, or the exit code; told on stderr. *out is the caller's: also facts without a GPU, with EXIT_NO_PROBE, or NULL. `logs` is to be
 * freed, before the facts. */
int live_facts(const struct live *w, ncclscope_facts **out, struct live_logs *logs);
void live_logs_free(struct live_logs *logs);

#endif
