/* live.h - where the commands about a machine have its facts from. */
#ifndef LIVE_H
#define LIVE_H

#include "ncclscope/probe.h"

#include <stdbool.h>

struct live {
    const char *facts;                    /* a file instead of this machine; NULL */
    const char *seconds, *pairs, *memory; /* of measuring, as given */
    bool measure;
};

/* What is wrong with the options, in a sentence; NULL: nothing. */
const char *live_wrong(const struct live *w);
/* 0, or the exit code; told on stderr. *out is the caller's: also facts without a GPU, with EXIT_NO_PROBE, or NULL. */
int live_facts(const struct live *w, ncclscope_facts **out);

#endif
