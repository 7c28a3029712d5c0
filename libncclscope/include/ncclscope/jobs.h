/* ncclscope/jobs.h - an archive of many jobs' logs: which files are of one job, and a model of each.
 *
 *     ncclscope_jobs *j; ncclscope_model *m;
 *     ncclscope_jobs_scan(&j, g, paths, n, "auto", NULL, &err);
 *     for (size_t i = 0; i < ncclscope_jobs_count(j); i++)
 *         if (!ncclscope_job_model(&m, j, i, &err)) {
 *             ... ncclscope_job_name(j, i), ncclscope_analyse(&f, m, &err) ...
 *             ncclscope_model_free(m);
 *         }
 *     ncclscope_jobs_free(j);
 *
 * Where ncclscope_scan takes all inputs for one job, here strangers are kept apart: no finding comes of putting them together. What is kept of a
 * file until its job is asked for are the bytes of ncclscope_model_save, some KB a file; a model is made of them when it is wanted.
 * Threads: one object, one thread at a time. */
#ifndef NCCLSCOPE_JOBS_H
#define NCCLSCOPE_JOBS_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclscope_jobs ncclscope_jobs;

/* Read all of `paths`, as ncclscope_scan does (files, directories, archives), each file once, and part them into jobs `by`:
 *   "auto"   files are of one job if they share the id of a communicator, or the number that a scheduler gave the job (in the name of the file
 *            or of a folder above it, "slurm-4711", "job_4711"; in a line of Slurm's). A file that tells neither goes with the one job that there
 *            is, in its folder or at all; else it is a job of its own
 *   "file"   each file is a job
 *   "dir"    the files of a folder are
 *   a regular expression (PCRE2, with a letter of punctuation in it): files in whose path it finds the same text are; that is the name of
 *            the job. Those in which it finds nothing are jobs of their own
 * Files without a line of NCCL's that could be read are of no job, and are counted; one that could not be read is a job, for its problem is
 * told. `options` as for ncclscope_scan. *out is the caller's: ncclscope_jobs_free; NULL after a failure. `g` must outlive it.
 * NCCLSCOPE_OK; NCCLSCOPE_ESTOPPED, with what was read until then; NCCLSCOPE_EPATTERN for an expression that cannot be compiled;
 * NCCLSCOPE_EABI; NCCLSCOPE_EINVAL for NULL; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_jobs_scan(ncclscope_jobs **out, ncclscope_grammar *g, const char *const *paths, size_t n,
                                      const char *by, const ncclscope_scan_options *options, ncclscope_error *err);
/* Gone. Models that were made of it stay. NULL is fine. Since 0.1. */
NCCLSCOPE_API void ncclscope_jobs_free(ncclscope_jobs *j);
/* How many jobs there are, in the order of their first files; and how many files are of none. 0 for NULL. Since 0.1. */
NCCLSCOPE_API size_t ncclscope_jobs_count(const ncclscope_jobs *j);
NCCLSCOPE_API size_t ncclscope_jobs_without_nccl(const ncclscope_jobs *j);
/* The name of the i-th job: that of its file, of the folder that has all of its files and no other job's, what the expression found, or its
 * first file with how many more there are, "a.log +3"; no two jobs have one name. NULL behind the last. Borrowed. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_job_name(const ncclscope_jobs *j, size_t i);
/* The k-th file of the i-th job, in the order of reading; NULL behind the last. Borrowed. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_job_file(const ncclscope_jobs *j, size_t i, size_t k);
/* The finished model of the i-th job, made anew with each call: what ncclscope_scan of its files alone gives. *out is the caller's; NULL after
 * a failure. NCCLSCOPE_OK; NCCLSCOPE_ENOTFOUND behind the last; NCCLSCOPE_EINVAL for NULL; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_job_model(ncclscope_model **out, const ncclscope_jobs *j, size_t i, ncclscope_error *err);

#ifdef __cplusplus
}
#endif
#endif
