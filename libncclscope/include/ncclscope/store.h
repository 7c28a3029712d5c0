/* ncclscope/store.h - keep records, model and findings in a SQLite file. Its tables and views are described in docs/schema.md: any program
 * that knows SQLite may read it, also while a scan writes.
 *
 *     ncclscope_store *s; ncclscope_model *m; ncclscope_findings *f;
 *     ncclscope_store_open(&s, "runs.db", &err);
 *     ncclscope_store_scan(s, &m, g, paths, n, NULL, &err);      as ncclscope_scan, and its records go to the store
 *     ncclscope_analyse(&f, m, &err);
 *     ncclscope_store_add(s, m, f, &err);                         now all of it is kept
 *
 * An archive of many jobs, each kept as a scan of its own:
 *     ncclscope_store_jobs(s, &j, g, paths, n, "auto", NULL, &err);
 *     for (size_t i = 0; i < ncclscope_jobs_count(j); i++)
 *         ncclscope_store_job(s, &m, i, &err), ncclscope_analyse(&f, m, &err), ncclscope_store_add(s, m, f, &err) ...
 *
 * A store is an input like any other: ncclscope_scan of its path gives the model of the scan that was added to it last.
 * Threads: one store, one thread at a time. Several processes may write to one file: they wait for each other, ten seconds at most.
 * After a failure a store may only be closed; the file is as it was before the scan, or holds the jobs of it that were added before. */
#ifndef NCCLSCOPE_STORE_H
#define NCCLSCOPE_STORE_H

#include "ncclscope/jobs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclscope_store ncclscope_store;

/* Open the store in `path`, made if it is missing, brought up to date if an older release made it. *out is the caller's; NULL after a
 * failure. The file is a regular one on a disk of this machine. NCCLSCOPE_OK; NCCLSCOPE_EIO if it cannot be opened or written, is locked,
 * or is a device; NCCLSCOPE_EDATA if the file is no store; NCCLSCOPE_EUNSUPPORTED if a newer release made it; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_open(ncclscope_store **out, const char *path, ncclscope_error *err);
/* What a scan wrote and ncclscope_store_add did not keep is dropped. Models and findings are the caller's still. NULL is fine. Since 0.1. */
NCCLSCOPE_API void ncclscope_store_close(ncclscope_store *s);

/* As ncclscope_scan, one input at a time, and every record goes to the store on the way, in the calling thread, standard input's too; a source whose very bytes the store
 * holds is not stored again. What is written is kept only when ncclscope_store_add follows. Others who would write wait from here on until
 * then. *out is the caller's; it does not need the store. Codes as of ncclscope_scan, NCCLSCOPE_ESTOPPED among them, behind which the scan
 * may be added; NCCLSCOPE_EINVAL where an earlier scan was not added; NCCLSCOPE_EIO for a full disk or a locked file. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_scan(ncclscope_store *s, ncclscope_model **out, ncclscope_grammar *g,
                                       const char *const *paths, size_t n, const ncclscope_scan_options *options,
                                       ncclscope_error *err);
/* As ncclscope_jobs_scan, one input at a time, and every record goes to the store on the way. A file that the store has read, and that was not changed
 * since, is not read, unless its job is asked for. *out is the caller's, and must outlive what is added of it;
 * NULL after a failure. Others who would write wait from here until the store is closed, or dozens of jobs were added, which are kept together; ncclscope_store_close keeps the rest. Codes as of ncclscope_jobs_scan and
 * ncclscope_store_scan. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_jobs(ncclscope_store *s, ncclscope_jobs **out, ncclscope_grammar *g,
                                       const char *const *paths, size_t n, const char *by,
                                       const ncclscope_scan_options *options, ncclscope_error *err);
/* As ncclscope_job_model of the i-th job that ncclscope_store_jobs read: ncclscope_store_add keeps it, with its findings, as a scan under the name
 * of the job. In any order; a job that is not asked for is not kept, only the records of its files. Codes as of ncclscope_job_model; NCCLSCOPE_EINVAL
 * where the store has read no jobs. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_job(ncclscope_store *s, ncclscope_model **out, size_t i, ncclscope_error *err);
/* Keep what the caller made of the i-th job that ncclscope_store_jobs read, `len` bytes, under `about`: all that it depends upon beside the logs, as
 * options and a version. A later scan of the same files, unchanged, by the same build of this library, gives it back (ncclscope_store_noted), and
 * reads none of them: a file is unchanged if its device, inode, size and time of change are as they were, and that time was two seconds past when it was read. It goes with the
 * next commit, as the job does. NCCLSCOPE_OK; NCCLSCOPE_EINVAL where the store has read no such job, or for NULL; NCCLSCOPE_EIO; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_note(ncclscope_store *s, size_t i, const char *about, const char *bytes, size_t len,
                                       ncclscope_error *err);
/* What was noted of the very texts of the i-th job, by whoever wrote to the store: trust it as little. Only where no file of the job had to be read;
 * else, and where nothing is noted, NCCLSCOPE_ENOTFOUND, and the job is asked for as ever. *bytes is the store's, until the next such
 * call. NCCLSCOPE_OK; NCCLSCOPE_EINVAL as above. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_noted(ncclscope_store *s, size_t i, const char *about, const char **bytes,
                                        size_t *len, ncclscope_error *err);
/* Keep the last ncclscope_store_scan or ncclscope_store_job with its model, to which pods and facts may have been added, and its findings: all tables of both, and
 * the model itself, for who reads the store. After a failure nothing of the scan is kept. A scan of the very bytes of an earlier one
 * changes nothing. NCCLSCOPE_OK; NCCLSCOPE_EIO (disk full, locked); NCCLSCOPE_EINVAL for another model, or findings of another;
 * NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_add(ncclscope_store *s, const ncclscope_model *m, const ncclscope_findings *f,
                                      ncclscope_error *err);

/* Take in what another store holds, the file `path`: all scans that `s` has not, with their records. Scans of the very same bytes are one scan, so
 * the order of stores makes no difference to what is there, only to the numbers of scans; as one store that all of it was scanned into. The other
 * file is only read, and need not be trusted. Not while `s` is in a scan. After a failure `s` is as it was. NCCLSCOPE_OK; NCCLSCOPE_EINVAL in a scan or
 * for NULL; NCCLSCOPE_EDATA for a file that is no store, or a damaged one; NCCLSCOPE_EUNSUPPORTED for a store of another version of the schema;
 * NCCLSCOPE_EIO (cannot be read, disk full, locked); NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_merge(ncclscope_store *s, const char *path, ncclscope_error *err);

/* A question to the store in `path`: `question` is SQL, one SELECT over the tables of docs/schema.md, or the name of a question that is known
 * ("findings", "bad-hosts"). The answer is written in `format`:
 *   "text"   a table, columns padded, the first line their names
 *   "csv"    RFC 4180, the first line the names
 *   "json"   an object a row, a line each; what is not said is null, bytes are hexadecimal text
 * `flags` of enum ncclscope_report_flag matter for text. The file is only read, and need not be trusted; who writes to it is not held up.
 * NCCLSCOPE_OK, also of no rows; NCCLSCOPE_EINVAL for SQL that is wrong, or does more than select, in SQLite's words; NCCLSCOPE_ENOTFOUND for a
 * word that is the name of none, or an unknown format; NCCLSCOPE_EDATA for a file that is no store; NCCLSCOPE_EIO if it cannot be read, or
 * `write` returned other than 0; NCCLSCOPE_ENOMEM. Any thread. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_query(const char *path, const char *question, const char *format, int flags,
                                        ncclscope_write_fn *write, void *user, ncclscope_error *err);
/* The i-th question that has a name, from 0: "findings", and in *words, if it is not NULL, what a row of its answer is. NULL behind the last.
 * Constants; any thread. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_store_question(size_t i, const char **words);

#ifdef __cplusplus
}
#endif
#endif
