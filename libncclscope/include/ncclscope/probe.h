/* ncclscope/probe.h - what this machine's GPUs, links and container offer, live or as another machine saved it.
 *
 * Only the driver is needed: its libraries are opened when a probe runs, and what is missing is told, never required. Nothing is set,
 * reset or written. The keys of the JSON are those of docs/facts.md.
 *
 * What touches CUDA or NCCL runs in processes of its own (fork), which CUDA allows only where the calling process has not started CUDA
 * itself: there ncclscope_probe tells CUDA's part, ncclscope_measure and ncclscope_nccl all of theirs, as not asked.
 *
 * Threads: one ncclscope_facts, one thread at a time; one ncclscope_probe in a process at a time. */
#ifndef NCCLSCOPE_PROBE_H
#define NCCLSCOPE_PROBE_H

#include "ncclscope/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclscope_facts ncclscope_facts;

/* Ask this machine. The driver is asked in child processes, each with a limit of seconds: a driver that crashes or hangs costs its own
 * facts and no more. *out is the caller's, also when there is no GPU. NCCLSCOPE_OK; NCCLSCOPE_EUNSUPPORTED if no GPU was found (err says
 * why; *out holds the rest); NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_probe(ncclscope_facts **out, ncclscope_error *err);

/* What to measure. Set size; zero is the default of each field. Fields are only ever added at the end. */
typedef struct ncclscope_measure_options {
    uint32_t size;      /* sizeof(ncclscope_measure_options) */
    uint32_t seconds;   /* stop after this long; what is missing is told under `skipped`; 0: 90 */
    const char *pairs;  /* "0-1,2-3": NVML indices, each both ways; NULL: all */
    uint64_t gpu_bytes; /* memory taken on each GPU at most; 0: 512 MiB */
} ncclscope_measure_options;

/* Called some ten times a second while it measures: `done` of `total` figures are there. Not 0 stops it. */
typedef int ncclscope_progress_fn(void *user, int done, int total);

/* Measure pairs of GPUs of this machine, whose facts ncclscope_probe has just given: by copy engine and by kernel, read and written,
 * both ways at once, through host memory, and the latency of a load. Every sample is verified. It runs in a child process, which takes
 * GPU memory and gives it back, also when it is stopped; SIGINT does not reach it while `progress` is called. The figures are added to `f`. NCCLSCOPE_OK, also when
 * some could not be measured (told under `skipped`); NCCLSCOPE_EINVAL for pairs that are none; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_measure(ncclscope_facts *f, const ncclscope_measure_options *options,
                                    ncclscope_progress_fn *progress, void *user, ncclscope_error *err);

/* How to run NCCL itself. Set size; zero is the default of each field. Fields are only ever added at the end. */
typedef struct ncclscope_nccl_options {
    uint32_t size;         /* sizeof(ncclscope_nccl_options) */
    uint32_t seconds;      /* stop after this long; 0: 90 */
    const char *library;   /* path of libnccl; NULL: $NCCLSCOPE_NCCL, else libnccl.so.2 as the system finds it */
    const char *variables; /* "NCCL_P2P_DISABLE=1,NCCL_SHM_DISABLE=1", for this run alone; NULL: none */
    uint64_t gpu_bytes;    /* memory for buffers on each GPU at most; 0: 512 MiB */
    ncclscope_write_fn
        *keep; /* given what NCCL prints, piece by piece; its answer does not matter; NULL: nobody keeps it */
    void *keep_user;
} ncclscope_nccl_options;

/* Run the installed libnccl across all GPUs of this machine, whose facts ncclscope_probe has just given: a process for each, all-reduce
 * and a ring of send and receive over sizes, data verified. What it prints with NCCL_DEBUG=INFO is read as it comes; *log is the finished
 * model of it, the caller's, also when NCCL failed. The figures are added to `f` with the path that the log shows, what went wrong to
 * what is told as skipped. `g` must outlive the call. Without `f` the options are checked, and nothing else is done. NCCLSCOPE_OK; NCCLSCOPE_EUNSUPPORTED if there is no figure (err says why);
 * NCCLSCOPE_EINVAL for variables that are none; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_nccl(ncclscope_facts *f, ncclscope_model **log, ncclscope_grammar *g,
                                 const ncclscope_nccl_options *options, ncclscope_progress_fn *progress, void *user,
                                 ncclscope_error *err);

/* Read what ncclscope_facts_save wrote, here or elsewhere, in this release or another: what is not known is passed over, what is missing is
 * not said. *out is the caller's: ncclscope_facts_free; NULL after a failure. The file need not be trusted, and may have 64 MB. NCCLSCOPE_OK;
 * NCCLSCOPE_EIO if it cannot be read; NCCLSCOPE_EDATA, with the place in `err`, if it holds no facts; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_facts_load(ncclscope_facts **out, const char *path, ncclscope_error *err);

/* Write them as JSON, schema ncclscope.facts/1 (docs/facts.md), figures that were measured among them: what ncclscope_facts_load reads, here
 * or on another machine. The same facts give the same bytes. Serial numbers and UUIDs stand in it as the driver told them. The facts stay
 * as they are. NCCLSCOPE_OK; NCCLSCOPE_EIO if `write` returned anything but 0; NCCLSCOPE_EINVAL for NULL. Since 0.1. */
NCCLSCOPE_API int ncclscope_facts_save(const ncclscope_facts *f, ncclscope_write_fn *write, void *user);

/* How many GPUs they know; 0 for NULL. All else of them are rows of the model that they are given to (ncclscope/rows.h: fact_gpu,
 * fact_pair, fact_nic ...). Since 0.1. */
NCCLSCOPE_API size_t ncclscope_facts_gpus(const ncclscope_facts *f);

/* Give the model facts of the machine that its log is from, or of this one: rules then judge them too, and know NVLink from PCIe where the
 * log does not say. Ranks find their GPU by its bus id; those of other machines are left as they are. Of a model that grows or is finished,
 * before its findings are made. They are borrowed and must live as long as the model; NULL takes them away. A model without a log, as
 * ncclscope_scan makes it of no path, is judged by facts alone. Since 0.1. */
NCCLSCOPE_API void ncclscope_model_facts(ncclscope_model *m, const ncclscope_facts *f);

/* What the machine offers that the model was given facts of, and what of its findings is about that. `format` is "text" (the matrix as
 * `nvidia-smi topo -m` prints it, and what is wrong) or "json" (schema ncclscope.probe/1); the rest as for ncclscope_report.
 * OK, EIO, ENOTFOUND for an unknown format or a model without facts, ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_facts_report(const ncclscope_model *m, const ncclscope_findings *f, const char *format,
                                         int columns, int flags, ncclscope_write_fn *write, void *user);

/* The log of the model against the facts that it was given: a verdict for each pair of ranks that the log connects inside the machine.
 * `format` is "text" or "json" (schema ncclscope.confirm/1); the rest as for ncclscope_report. OK, EIO, ENOTFOUND for an unknown format
 * or a model without facts, ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_confirm_report(const ncclscope_model *m, const ncclscope_findings *f, const char *format,
                                           int columns, int flags, ncclscope_write_fn *write, void *user);

/* How many pairs of ranks have this verdict of ncclscope_confirm_report: "contradiction", "confirmed-fallback", "slower-mode", "stale-log", "cannot-tell",
 * "as-good-as-the-hardware-allows". 0 for any other word. Since 0.1. */
NCCLSCOPE_API size_t ncclscope_confirmed(const ncclscope_findings *f, const char *verdict);

/* Behind the models that they were given to. NULL is fine. Since 0.1. */
NCCLSCOPE_API void ncclscope_facts_free(ncclscope_facts *f);

#ifdef __cplusplus
}
#endif
#endif
