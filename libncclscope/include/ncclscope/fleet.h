/* ncclscope/fleet.h - what recurs over many jobs: which hosts, GPUs, releases and variables stand in findings more often than chance has it.
 *
 *     ncclscope_fleet *fleet;
 *     ncclscope_fleet_new(&fleet, &err);
 *     ... for each job: ncclscope_fleet_add(fleet, name, model, findings, &err) ...
 *     ncclscope_fleet_report(fleet, "text", 100, 0, write, user, &err);
 *     ncclscope_fleet_free(fleet);
 *
 * Threads: one object, one thread at a time. */
#ifndef NCCLSCOPE_FLEET_H
#define NCCLSCOPE_FLEET_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclscope_fleet ncclscope_fleet;

/* One that knows no job yet. *out is the caller's: ncclscope_fleet_free; NULL after a failure. NCCLSCOPE_OK; NCCLSCOPE_EINVAL for NULL;
 * NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_fleet_new(ncclscope_fleet **out, ncclscope_error *err);
/* Gone; NULL is fine. Since 0.1. */
NCCLSCOPE_API void ncclscope_fleet_free(ncclscope_fleet *fleet);
/* Count a job: its hosts, the GPUs of its ranks (host and bus id), releases of NCCL, variables with their values, and for each finding of
 * warning or error that follows from no other, which of these it is about: the hosts that it names, the GPUs of the ranks that it names, or, where
 * it names none, all of the job's. Model and findings may be freed behind this; `name` is copied. Some 100 bytes a host, GPU and finding are
 * kept, whatever the number of jobs. NCCLSCOPE_OK; NCCLSCOPE_EINVAL for NULL, or findings of another model; NCCLSCOPE_ENOMEM, behind which it
 * may only be freed. Since 0.1. */
NCCLSCOPE_API int ncclscope_fleet_add(ncclscope_fleet *fleet, const char *name, const ncclscope_model *m,
                                      const ncclscope_findings *f, ncclscope_error *err);
/* What was counted until now, as bytes for `write`: kept with a job, they are counted again without its logs. NCCLSCOPE_OK; NCCLSCOPE_EIO if
 * `write` returned other than 0; NCCLSCOPE_EINVAL for NULL; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_fleet_save(const ncclscope_fleet *fleet, ncclscope_write_fn *write, void *user);
/* Count what ncclscope_fleet_save gave, of other jobs than those that are counted already, as if each had been added: the bytes may be anybody's. NCCLSCOPE_OK;
 * NCCLSCOPE_EDATA for others, behind which it may only be freed; NCCLSCOPE_EINVAL for NULL; NCCLSCOPE_ENOMEM, likewise. Since 0.1. */
NCCLSCOPE_API int ncclscope_fleet_load(ncclscope_fleet *fleet, const char *bytes, size_t len, ncclscope_error *err);
/* What recurs: a thing and a finding that come together in three jobs at least, and so much more often than in the jobs without the thing that
 * chance would not do it once in a hundred such reports (Fisher's exact test, one-sided, times the number of pairs that were looked at). Of each: jobs
 * with both, jobs with the thing, jobs with the finding, and since when. `format` is "text", "csv", or "json" (an object of the schema
 * ncclscope.fleet/1); `columns` and `flags` as for ncclscope_report. NCCLSCOPE_OK; NCCLSCOPE_ENOTFOUND for an unknown format; NCCLSCOPE_EIO if
 * `write` returned other than 0; NCCLSCOPE_EINVAL for NULL; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_fleet_report(const ncclscope_fleet *fleet, const char *format, int columns, int flags,
                                         ncclscope_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
