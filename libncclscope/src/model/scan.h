/* scan.h - paths to one model, with somebody else listening to the records; in turn, or side by side. */
#ifndef NSC_SCAN_H
#define NSC_SCAN_H

#include "model/model.h"
#include "ncclscope/jobs.h"
#include "read/reader.h"

enum { NSC_TAP_FAILED = -100 }; /* what a tap returns to end the scan; it keeps the reason */

struct nsc_input {
    const char *path;
    const char *unread; /* why it is not read; NULL: it is */
    uint64_t size;      /* of a regular file; else 0 */
    bool regular;
    uint64_t device, inode;
    int64_t mtime; /* ns */
};

/* What parts an input from the jobs of others: of a source that was read, or of a file that need not be read again. */
struct nsc_shared {
    const struct nsc_key *key;
    size_t keys;
    bool speaks; /* holds a line of NCCL's */
};

struct nsc_tap {
    void *user;
    int (*record)(void *user, const ncclscope_record *rec);
    int (*source_end)(void *user, const ncclscope_reader *r, const char *name);
    int (*whole)(void *user, const struct ncclscope_model *m); /* before it is finished; NULL: nobody asks */
    /* Of jobs; each NULL: nobody asks. Of an input: what is known of it, so that it need not be read? False: nothing is. And of each
     * source of one that was read. */
    bool (*known)(void *user, const struct nsc_input *in, struct nsc_shared *out);
    int (*part)(void *user, const struct ncclscope_model *m, const struct nsc_shared *shared);
};

/* Models that grew from an input. */
struct nsc_models {
    NSC_VEC(struct ncclscope_model *) list;
};

/* A scan, in the thread that was asked for it. */
struct nsc_scan {
    struct ncclscope_model *m;
    ncclscope_grammar *g;
    const struct nsc_tap *tap; /* NULL: nobody else listens */
    ncclscope_scan_options options;
    NSC_VEC(struct nsc_input) inputs; /* in the order in which they are read */
    struct nsc_arena paths;
    struct nsc_map seen; /* device and inode of what is listed */
    ncclscope_scan_progress progress;
    uint64_t bytes_before; /* of the inputs before the one in hand */
    int64_t told;          /* when progress was told last, ms */
    bool stopped, full;    /* full: the limit of memory was reached */
    int (*each)(void *user,
                struct ncclscope_model *m); /* takes the model of each source, in their order; NULL: all are one, `m` */
    int (*each_known)(void *user, const char *path, const struct nsc_shared *shared); /* takes one that is not read */
    void *each_user;
};

/* Who is asked while an input is read, in whatever thread. */
struct nsc_reading {
    int (*stop)(void *user);
    bool (*is_full)(void *user,
                    uint64_t bytes); /* told how many bytes of it were read: does the model take too much memory? */
    void *user;
    bool ahead; /* a core is free: its records may be read in one thread and taken in another */
};

int nsc_scan(ncclscope_model **out, ncclscope_grammar *g, const char *const *paths, size_t n,
             const ncclscope_scan_options *options, const struct nsc_tap *tap, ncclscope_error *err);
/* Does nobody want more? Tells how far it is, too. For the thread of the scan. */
bool nsc_scan_is_over(struct nsc_scan *s);
/* What is to be read: files, and what directories hold. */
void nsc_scan_list(struct nsc_scan *s, const char *path);
/* All inputs, into `m` or, source by source, to `each`; not finished. */
int nsc_scan_read(struct nsc_scan *s);
void nsc_scan_free(struct nsc_scan *s); /* but not `m` */
/* One input as a source of the last model of `to`; with `each` as models of their own. OK also where it could not be read; ENOMEM, or what
 * the tap says. */
int nsc_scan_input(struct nsc_scan *s, struct nsc_models *to, const struct nsc_input *in,
                   const struct nsc_reading *how);
/* Hands them to `each`, which takes them; those that it does not want any more are freed. */
int nsc_models_give(struct nsc_scan *s, struct nsc_models *from, int rc);
/* jobs.c: as ncclscope_jobs_scan, with somebody else listening; the model of a job, of which tap->whole is told before it is finished. */
int nsc_jobs_scan(ncclscope_jobs **out, ncclscope_grammar *g, const char *const *paths, size_t n, const char *by,
                  const ncclscope_scan_options *options, const struct nsc_tap *tap, ncclscope_error *err);
int nsc_job_model(ncclscope_model **out, const ncclscope_jobs *j, size_t i, const struct nsc_tap *tap,
                  ncclscope_error *err);
/* Are its files all known, so that none was read? */
bool nsc_job_is_unread(const ncclscope_jobs *j, size_t i);
/* Which of all inputs of the scan, in the order of reading, are of the job. */
const uint32_t *nsc_job_inputs(const ncclscope_jobs *j, size_t i, size_t *n);
int nsc_scan_side_by_side(struct nsc_scan *s); /* side_by_side.c: all inputs, options.jobs at a time */

#endif
