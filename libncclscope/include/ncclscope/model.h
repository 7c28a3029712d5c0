/* ncclscope/model.h - what the records add up to, what is wrong with it, and reports of both.
 *
 *   ncclscope_scan      files to a model          (or ncclscope_model_new, _source, _add ..., _source_end, _finish by hand)
 *   ncclscope_analyse   model to findings
 *   ncclscope_report    both to text or JSON      (or row by row: ncclscope/rows.h)
 *
 *     ncclscope_grammar *g; ncclscope_model *m; ncclscope_findings *f; ncclscope_error err;
 *     if (ncclscope_grammar_new(&g, &err) || ncclscope_scan(&m, g, paths, n, NULL, &err) || ncclscope_analyse(&f, m, &err))
 *         return fprintf(stderr, "%s\n", err.text);
 *     for (size_t i = 0; i < ncclscope_findings_count(f); i++)
 *         puts(ncclscope_finding_title(f, i));
 *     ncclscope_findings_free(f), ncclscope_model_free(m), ncclscope_grammar_free(g);
 *
 * The life of a model: it grows (sources begin, give records, end; other models are merged into it), it is finished, and then it is only
 * read. What asks for a finished model does not take a growing one, and the other way round: NCCLSCOPE_EINVAL, and nothing has changed.
 * What a log does not say is not there: no number stands for it but the one that its getter names.
 *
 * Threads: one object, one thread at a time; a finished model and its findings are immutable and may be shared by any number of threads.
 * Different models may grow in different threads with one grammar.
 * Errors: after NCCLSCOPE_ENOMEM an object may only be freed; after every other code it is as it was before the call.
 */
#ifndef NCCLSCOPE_MODEL_H
#define NCCLSCOPE_MODEL_H

#include "ncclscope.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclscope_model ncclscope_model;
typedef struct ncclscope_findings ncclscope_findings;

/* An empty model that grows, for records from any reader. A source, or a stream, is begun before the first record is added. *out is the
 * caller's, who frees it; NULL after a failure. NCCLSCOPE_OK or NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_new(ncclscope_model **out, ncclscope_error *err);
/* In whatever state it is; NULL is fine. Findings and rows of it, and snapshots taken of it, are gone before: they borrow its texts.
 * Since 0.1. */
NCCLSCOPE_API void ncclscope_model_free(ncclscope_model *m);

/* A source whose records come among those of others: a pod's log that goes on, one of several. `name`, which reports show, is copied; two
 * sources may have one name. *id is the number of the stream until it ends, and may then be another's. Sources keep the order in which they
 * begin, whatever order their records come in. What a process prints in two sources is put together when the model is finished.
 * NCCLSCOPE_OK; NCCLSCOPE_EINVAL for a finished model, or NULL; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_stream(ncclscope_model *m, const char *name, uint32_t *id);
/* One record of the stream, in the order of its lines; nothing of it is borrowed, so that the reader may go on. Records of all levels and
 * kinds are taken; what means nothing to a model costs next to nothing. The grammar that read it lives until the model is finished: of all
 * records of a model it is one. NCCLSCOPE_OK; NCCLSCOPE_EINVAL for a number that is not in use, a finished model, or NULL; NCCLSCOPE_ENOMEM.
 * Since 0.1. */
NCCLSCOPE_API int ncclscope_model_stream_add(ncclscope_model *m, uint32_t id, const ncclscope_record *rec);
/* The stream has ended. Its counts (lines, records, bytes) are taken from `reader`, which may be freed behind this (NULL: they stay 0);
 * `problem` says in words why it could not be read whole, and is copied, or is NULL. The verdict of such a model is that of what was
 * read; that it is no all-clear say ncclscope_model_problem and the text of the report. NCCLSCOPE_OK; NCCLSCOPE_EINVAL as above;
 * NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_stream_end(ncclscope_model *m, uint32_t id, const ncclscope_reader *reader,
                                             const char *problem);
/* What the stream's reader has counted so far: told before a snapshot, so that it has lines, records and torn lines as well. The stream
 * goes on. NCCLSCOPE_OK; NCCLSCOPE_EINVAL as above. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_stream_counts(ncclscope_model *m, uint32_t id, const ncclscope_reader *reader);
/* The same three where sources come one after the other: the records that follow are of this source, until its end. They may stand beside
 * streams. Codes as of those; NCCLSCOPE_EINVAL also where a source is open already (_source), or none is (_add, _source_end). Since 0.1. */
NCCLSCOPE_API int ncclscope_model_source(ncclscope_model *m, const char *name);
NCCLSCOPE_API int ncclscope_model_add(ncclscope_model *m, const ncclscope_record *rec);
NCCLSCOPE_API int ncclscope_model_source_end(ncclscope_model *m, const ncclscope_reader *reader, const char *problem);
/* No more sources: what several sources hold of one process is put together, ranks join to communicators, connections find theirs, the
 * path of each is told. After it the model is only read, and its rows can be asked for. Sources that are open end. The grammar of its
 * records is asked a last time: it may be freed behind this. Work grows with the model, not with the length of its logs. A second call does
 * nothing. NCCLSCOPE_OK; NCCLSCOPE_EINVAL for NULL; NCCLSCOPE_ENOMEM, behind which it may only be freed. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_finish(ncclscope_model *m, ncclscope_error *err);

/* A finished model of what a model knows that still grows, to judge and report while a job runs: its streams stay open, in the copy they
 * end. It costs as much as the model is large, however long the log was. *out is the caller's, and is freed before `m`, whose texts it
 * borrows; it may be read in another thread while `m` goes on. What a reader holds back (ncclscope_reader_flush) and has counted
 * (ncclscope_model_stream_counts) is told before, or is not in it. NCCLSCOPE_OK; NCCLSCOPE_EINVAL for a finished model; NCCLSCOPE_ENOMEM,
 * which leaves `m` as it was. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_snapshot(ncclscope_model **out, const ncclscope_model *m, ncclscope_error *err);

/* Add all that `from` knows, whose sources have ended, to `into`, as if its sources had been read there: parts of one job that were read
 * in several threads, processes or on several machines give what one scan of them all gives, in the order in which they are merged; sources
 * of `into` may be open. Neither is finished; `from` stays as it is, and may be freed. Both are of grammars with the same added rows.
 * Only where ranks of different parts disagree on a collective, of each part the first is named and the others are counted.
 * NCCLSCOPE_OK; NCCLSCOPE_EINVAL if one is finished, a source of `from` is open, or both are one; NCCLSCOPE_ENOMEM, behind which `into`
 * may only be freed. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_merge(ncclscope_model *into, const ncclscope_model *from, ncclscope_error *err);
/* Write what a model knows, whose sources have ended and which is not finished, as bytes: for ncclscope_model_load in another process
 * or on another machine, of any architecture, with the same release. They are compressed: 70 to 900 bytes a rank, of half of the
 * recorded logs below 550; together a quarter of what gzip makes of those logs, though of one of a few KB it may be more than that. The model stays as it
 * is. NCCLSCOPE_OK; NCCLSCOPE_EINVAL as above; NCCLSCOPE_EIO if `write` returned other than 0; NCCLSCOPE_ENOMEM, which leaves the model as
 * it was. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_save(const ncclscope_model *m, ncclscope_write_fn *write, void *user,
                                       ncclscope_error *err);
/* A model of such bytes, as it was saved: it may grow on, be merged, or be finished; then `g` is asked, as the grammar of a model's records
 * is, and lives until that. `bytes` may be freed behind this; they need not be trusted. *out is the caller's; NULL after a failure.
 * NCCLSCOPE_OK; NCCLSCOPE_EDATA for bytes that are no saved model, or are damaged; NCCLSCOPE_EABI for those of another release, whose logs
 * are to be read again; NCCLSCOPE_EINVAL without a grammar; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_load(ncclscope_model **out, ncclscope_grammar *g, const void *bytes, size_t size,
                                       ncclscope_error *err);

/* How far a scan is: bytes read so far, of what the regular files among the inputs hold, as they lie there (packed); inputs read, of all. */
typedef struct ncclscope_scan_progress {
    uint64_t bytes, bytes_all;
    uint64_t inputs, inputs_all;
} ncclscope_scan_progress;

/* Not 0: no more is wanted. Asked a few times a second, while an input is silent too, and when a signal interrupts the wait for one. */
typedef int ncclscope_stop_fn(void *user);
/* Told a few times a second. */
typedef void ncclscope_scan_progress_fn(void *user, const ncclscope_scan_progress *p);
/* How to read; NULL where it is taken: all of it, in this thread. Set size to sizeof(ncclscope_scan_options); the rest may stay 0. Both
 * functions are called in the thread that scans, with `user`. Where a limit ends the reading, the source in hand has a problem that says so. */
typedef struct ncclscope_scan_options {
    size_t size;
    ncclscope_stop_fn *stop;
    void *user;
    ncclscope_scan_progress_fn *progress;
    uint64_t most_memory;   /* bytes that the model may take; 0: any */
    uint64_t most_unpacked; /* bytes of text that one source may hold, where it is packed; 0: any */
    uint32_t jobs;          /* inputs read at a time, each in a thread, a large one in two; 0 or 1: one. Same model */
    uint32_t reserved;      /* 0 */
} ncclscope_scan_options;

/* Read all of `paths` to one finished model: "-" is standard input, a directory stands for the files in and below it, in the order of their
 * names; a tar or zip archive for the files in it, "logs.tar/node-1/rank-0.log"; a store (ncclscope/store.h) for the scan that was added to
 * it last. Files may be packed (gzip, zstd, xz, bzip2, lz4 ...) or UTF-16, by their content. A file that is reached twice is read once. A path that cannot be read, or only in part, is no failure: what could be read is in the model, the rest in
 * ncclscope_model_problem. *out is the caller's; NULL after a failure; the grammar may be freed behind this. One log of 100 MB takes about a
 * second and some MB; the model grows with ranks and connections, not with lines.
 * NCCLSCOPE_OK; NCCLSCOPE_ESTOPPED: `stop` ended it, and *out is a finished model of what was read until then, which may be nothing;
 * NCCLSCOPE_EABI for options of a newer header, or without a size; NCCLSCOPE_EINVAL for NULL; NCCLSCOPE_ENOMEM. A device without an end
 * (/dev/zero) is read until `stop` wants no more. Since 0.1. */
NCCLSCOPE_API int ncclscope_scan(ncclscope_model **out, ncclscope_grammar *g, const char *const *paths, size_t n,
                                 const ncclscope_scan_options *options, ncclscope_error *err);

/* The same into a model that grows, and stays so: to be saved where it was read, merged with what others read, or finished. A file that is
 * reached twice is read once within one call. Where `options` limit memory it is that of the whole model; with more than one of `jobs`, of
 * what this call reads. `g` is the grammar of the model's records.
 * Codes as of ncclscope_scan; NCCLSCOPE_EINVAL also for a finished model, or where a source is open (ncclscope_model_source). Since 0.1. */
NCCLSCOPE_API int ncclscope_model_read(ncclscope_model *m, ncclscope_grammar *g, const char *const *paths, size_t n,
                                       const ncclscope_scan_options *options, ncclscope_error *err);

/* Add what Kubernetes says of the job's pods: `path` is a file of `kubectl get pod -o json`, one pod or a List. For a finished model of
 * which there are no findings yet, for its rows are made anew; processes find their pod by its name or host name. May be called for
 * several files, whose pods it knows one behind the other.
 * NCCLSCOPE_OK; NCCLSCOPE_EIO; NCCLSCOPE_EDATA if it is no such JSON, or holds no pod; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_pods(ncclscope_model *m, const char *path, ncclscope_error *err);

/* The i-th source of a model, in the order of reading: its name, NULL behind the last; what was wrong with reading it, "" when nothing
 * was. Borrowed. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_model_source_name(const ncclscope_model *m, size_t i);
NCCLSCOPE_API const char *ncclscope_model_problem(const ncclscope_model *m, size_t i);
/* What was read of the i-th source: bytes, lines, records, torn lines; of the whole input, where it ended early what there was. Set out->size to
 * sizeof(ncclscope_stats) before the call; an older, shorter struct gets its beginning. NCCLSCOPE_OK; NCCLSCOPE_ENOTFOUND behind the last
 * source; NCCLSCOPE_EABI without a size, or for that of a newer header; NCCLSCOPE_EINVAL for NULL. Since 0.1. */
NCCLSCOPE_API int ncclscope_model_stats(const ncclscope_model *m, size_t i, ncclscope_stats *out);

enum ncclscope_verdict { NCCLSCOPE_NO_NCCL_LINES, NCCLSCOPE_NO_EVIDENCE, NCCLSCOPE_FINDINGS, NCCLSCOPE_ALL_OK };

/* Run every rule over a finished model, which must outlive the findings. Findings are in the order in which they matter: what failed first,
 * and made the rest, comes first. The same model gives the same findings. *out is the caller's; NULL after a failure. NCCLSCOPE_OK or
 * NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_analyse(ncclscope_findings **out, const ncclscope_model *m, ncclscope_error *err);
/* NULL is fine; before the model that they are of. Since 0.1. */
NCCLSCOPE_API void ncclscope_findings_free(ncclscope_findings *f);
/* enum ncclscope_verdict: no line of NCCL's; lines that prove no path; findings of warning or error; or NCCLSCOPE_ALL_OK, which stands only
 * where nothing failed, nothing is missing and every source was read whole. Since 0.1. */
NCCLSCOPE_API int ncclscope_findings_verdict(const ncclscope_findings *f);
/* How many there are, notes among them. Since 0.1. */
NCCLSCOPE_API size_t ncclscope_findings_count(const ncclscope_findings *f);
/* Of the i-th finding, from 0: its id ("transport/shm-within-node", never renamed), its severity (NCCLSCOPE_SEVERITY_NOTE, _WARNING, _ERROR)
 * and its title, a sentence without a full stop. "", or 0, behind the last. Texts are borrowed from the findings. All else of a finding
 * (cause, fix, cost, evidence, ranks, pairs) is in its row: ncclscope/rows.h. Since 0.1. */
NCCLSCOPE_API const char *ncclscope_finding_id(const ncclscope_findings *f, size_t i);
NCCLSCOPE_API int ncclscope_finding_severity(const ncclscope_findings *f, size_t i);
NCCLSCOPE_API const char *ncclscope_finding_title(const ncclscope_findings *f, size_t i);

enum ncclscope_kept { NCCLSCOPE_KEPT, NCCLSCOPE_BROKEN, NCCLSCOPE_CANNOT_TELL };
/* Hold expectations against the findings' model: a list like "nvlink,no-shm,gdr,net=IB,nccl>=2.27,ranks=16" (docs/contract.md has the
 * words). What becomes of each goes into the reports of `f`; call it before `f` is shared. With `f` NULL the list is only checked.
 * NCCLSCOPE_OK; NCCLSCOPE_EINVAL for a word that is none, said in err; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_expect(ncclscope_findings *f, const char *list, ncclscope_error *err);
/* How many of them came out so; `kept` of enum ncclscope_kept. Since 0.1. */
NCCLSCOPE_API size_t ncclscope_expectations(const ncclscope_findings *f, int kept);

enum ncclscope_report_flag {
    NCCLSCOPE_REPORT_COLOR = 1,
    NCCLSCOPE_REPORT_ASCII = 2,   /* no other characters than ASCII from the tool itself */
    NCCLSCOPE_REPORT_VERBOSE = 4, /* notes, pairs and ranks in full */
    NCCLSCOPE_REPORT_VERDICT = 8  /* the verdict alone */
};
/* Write a report of a finished model and its findings, as the command prints it. `format` is
 *   "text"   for people: the verdict, who talks to whom, what is wrong, why, and how to mend it; `columns` wide, 0 for 80
 *   "json"   for programs: one line, an object of the schema ncclscope.report/1 (docs/contract.md), which only grows; columns do not matter
 * `flags` are of enum ncclscope_report_flag, or-ed; without NCCLSCOPE_REPORT_COLOR there is no escape sequence in it. Nothing of the log
 * reaches `write` raw: what could move a terminal is '?' in text and escaped in JSON, which is always valid UTF-8. The same model gives the
 * same bytes, in every locale. `write` is called many times, with `user`; nothing is kept behind the call, and the model and the findings
 * stay as they are, also after a failure: it may be called again.
 * NCCLSCOPE_OK; NCCLSCOPE_EIO if `write` returned other than 0, which got a part; NCCLSCOPE_ENOTFOUND for an unknown format, and nothing was
 * written; NCCLSCOPE_EINVAL for NULL, a model that grows, or findings of another; NCCLSCOPE_ENOMEM. Any number of threads. Since 0.1. */
NCCLSCOPE_API int ncclscope_report(const ncclscope_model *m, const ncclscope_findings *f, const char *format,
                                   int columns, int flags, ncclscope_write_fn *write, void *user);

/* `text` - a name of a file, a part of a log, an error - as reports write it: what could move a terminal or change the order of what stands
 * beside it, and what is no UTF-8, is '?': "a\033[2Jb" becomes "a?[2Jb"; with NCCLSCOPE_REPORT_ASCII whatever is not ASCII too. For
 * programs that print what the getters lend, which is as hostile as the log. NCCLSCOPE_OK; NCCLSCOPE_EIO if `write` returned other than 0;
 * NCCLSCOPE_EINVAL for NULL. Any thread. Since 0.1. */
NCCLSCOPE_API int ncclscope_write_harmless(const char *text, int flags, ncclscope_write_fn *write, void *user);

/* What is not the same in two runs: versions, environment, paths, channels, networks, findings. Host names, pids, addresses and the order
 * of lines are no difference. `a` is the run before, `b` the one
 * after: the text reads "P2P/CUMEM -> SHM". `format`, `columns`, `flags` as for ncclscope_report (JSON: schema ncclscope.diff/1);
 * *differences is set to how many there are, 0: the runs are alike. Both models and their findings are finished, of any grammars, and stay
 * as they are. NCCLSCOPE_OK, also where they differ; NCCLSCOPE_EIO if `write` returned other than 0; NCCLSCOPE_ENOTFOUND for an unknown
 * format; NCCLSCOPE_EINVAL for NULL; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_diff(const ncclscope_model *a, const ncclscope_findings *fa, const ncclscope_model *b,
                                 const ncclscope_findings *fb, const char *format, int columns, int flags,
                                 ncclscope_write_fn *write, void *user, size_t *differences);

/* How much of a log the tables explain: each kind and each known text with its number of records, and what nobody knows by its
 * shape. */
typedef struct ncclscope_coverage ncclscope_coverage;
/* Read all of `paths`, as ncclscope_scan does, in one thread, and count what the tables know of each record. *out is the caller's:
 * ncclscope_coverage_free; NULL after a failure. `g` may be freed behind this. Codes as of ncclscope_scan: NCCLSCOPE_OK; NCCLSCOPE_ESTOPPED,
 * with what was read until then; NCCLSCOPE_EABI; NCCLSCOPE_EINVAL; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_coverage_new(ncclscope_coverage **out, ncclscope_grammar *g, const char *const *paths,
                                         size_t n, const ncclscope_scan_options *options, ncclscope_error *err);
/* Gone, and its model with it. NULL is fine. Since 0.1. */
NCCLSCOPE_API void ncclscope_coverage_free(ncclscope_coverage *c);
/* The finished model of the same records, to ask it for sources, problems and stats, or to analyse it. Borrowed: it lives as long as the
 * coverage, and is not freed by itself. NULL for NULL. Since 0.1. */
NCCLSCOPE_API const ncclscope_model *ncclscope_coverage_model(const ncclscope_coverage *c);
/* How many records NCCL printed, in all sources: what the shares of the report are parts of. Since 0.1. */
NCCLSCOPE_API uint64_t ncclscope_coverage_records(const ncclscope_coverage *c);
/* `format` is "text" (each kind with its number of records, the commonest first; what share is understood, only recognised, unknown),
 * "json" (the same: counts, and an object for each shape), or "unknown": as text, only the shapes that nobody knows, numbers in them as N, with a line of each - what
 * a report of a missing row is made of. `columns` and `flags` as for ncclscope_report. NCCLSCOPE_OK; NCCLSCOPE_EIO if `write` returned other
 * than 0; NCCLSCOPE_ENOTFOUND for an unknown format; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_coverage_report(const ncclscope_coverage *c, const char *format, int columns, int flags,
                                            ncclscope_write_fn *write, void *user);

/* The lines that a grammar knows: "CONNECT  Channel {channel:u}/{conn:u} : ...". `format` is "text" or "json": each kind with its number and
 * templates, the rows that were added among them; with NCCLSCOPE_REPORT_VERBOSE in `flags` also the texts without a meaning of their own,
 * with family, level, subsystems and the releases of NCCL that print them. Some 200 KB. NCCLSCOPE_OK; NCCLSCOPE_EIO if `write` returned
 * other than 0; NCCLSCOPE_ENOTFOUND for an unknown format; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_grammar_report(ncclscope_grammar *g, const char *format, int flags,
                                           ncclscope_write_fn *write, void *user);

/* What a finding's id means ("net/gdr-off"), written as text: when it is raised, every cause that it knows with what to do and where the
 * knowledge is from, also those that a log ruled out. It asks no log: of a finding at hand ncclscope_finding rows (ncclscope/rows.h) have
 * the cause that holds. NCCLSCOPE_OK; NCCLSCOPE_ENOTFOUND if there is no such id, and nothing was written; NCCLSCOPE_EIO if `write`
 * returned other than 0; NCCLSCOPE_EINVAL for NULL. Any thread. Since 0.1. */
NCCLSCOPE_API int ncclscope_explain(const char *id, ncclscope_write_fn *write, void *user);

/* What one line of a log says, as text: kind, fields, the releases that print it, what it proves about a path and what not, source.
 * `line` is with or without its header, as it was copied from a terminal or a ticket; several records in it are explained one after the
 * other. `columns` and `flags` as for ncclscope_report. NCCLSCOPE_OK; NCCLSCOPE_ENOTFOUND, with nothing written, if no table knows it;
 * NCCLSCOPE_EIO if `write` returned other than 0; NCCLSCOPE_EINVAL for NULL; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_explain_line(ncclscope_grammar *g, const char *line, int columns, int flags,
                                         ncclscope_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
