/* scan.h - what a scan was asked for, and what its parts share: one job (cmd_scan.c), or a table of many (many_jobs.c). */
#ifndef SCAN_H
#define SCAN_H

#include "output.h"

#include "ncclscope/store.h"

struct scan {
    bool json, verbose, quiet, unknown, no_progress;
    const char *output, *db, *fail_on, *color, *patterns, *expect, *pod, *facts, *jobs, *group_by, *job;
};

int report_flags(const struct scan *s);
/* ".json" of "reports/run.json"; "" of a name without one, and of NULL. */
const char *ending_of(const char *name);
/* Of one job; `damaged`: an input could not be read whole. */
int exit_code(const struct scan *s, const ncclscope_findings *f, bool damaged);

/* A line of each job, the worst first, or with --json an object of each: the exit code. */
int report_jobs(const struct scan *s, struct output *file, const ncclscope_jobs *j, ncclscope_store *db);

#endif
