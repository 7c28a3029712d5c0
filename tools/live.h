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

/* Rows of an option table: how this machine is asked, into a struct live. */
/* clang-format off */
#define LIVE_OPTIONS(w) \
    {"--measure", 0, NULL, "measure pairs of GPUs too: takes some memory on each, verifies the data, frees it", &(w).measure, NULL}, \
    {"--nccl", 0, NULL, "run the installed libnccl too, a process for each GPU: which path it takes, and its bandwidth", &(w).nccl, NULL}, \
    {"--libnccl", 0, "FILE", "with --nccl: that library", NULL, &(w).library}, \
    {"--env", 0, "NAME=VALUE,...", "with --nccl: a second run with these variables, to compare", NULL, &(w).variables}, \
    {"--log", 0, "FILE", "with --nccl: keep what NCCL printed", NULL, &(w).log}, \
    {"--seconds", 0, "N", "stop each of them after so long (90)", NULL, &(w).seconds}, \
    {"--pairs", 0, "A-B,...", "with --measure: these alone, both ways, GPUs as nvidia-smi counts them", NULL, &(w).pairs}, \
    {"--memory", 0, "MIB", "take at most this much of each GPU (512)", NULL, &(w).memory}
/* clang-format on */

/* What is wrong with the options, in a sentence; NULL: nothing. */
const char *live_wrong(const struct live *w);
/* 0, or the exit code; told on stderr. *out is the caller's: also facts without a GPU, with EXIT_NO_PROBE, or NULL. `logs` is to be
 * freed, before the facts. */
int live_facts(const struct live *w, ncclscope_facts **out, struct live_logs *logs);
void live_logs_free(struct live_logs *logs);

#endif
