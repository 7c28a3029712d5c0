/* job_parts.h - the files of an archive as the parts of jobs: what is kept of each, and which are of one. */
#ifndef NSC_JOB_PARTS_H
#define NSC_JOB_PARTS_H

#include "ncclscope/jobs.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "read/grammar.h"
#include "read/pattern.h"

struct part {
    const char *name;
    ncclscope_model *model; /* of one of the first few; else NULL */
    char *bytes;            /* as saved; NULL too: it was not read, and is when its job is asked for */
    size_t len, room;
    uint32_t parent; /* another part of its job, or itself: the root stands for the job */
    uint32_t job;    /* of a root: which; NSC_NONE: not yet one */
    bool tells;      /* has an id or a number of its own, by which others may be known */
    bool speaks;     /* holds a line of NCCL's, or could not be read */
    bool unread;     /* what it shares was known */
};

struct job {
    uint32_t first;      /* its first part */
    size_t begin, files; /* its parts, in `order` */
    nsc_text folder;     /* that all of them are below */
    const char *name;
};

struct ncclscope_jobs {
    ncclscope_grammar *g;
    NSC_VEC(struct part) parts;
    NSC_VEC(struct job) jobs;
    uint32_t *order;
    struct nsc_map keys;            /* hash of what is shared to the first part that has it */
    NSC_VEC(struct nsc_key) shared; /* by the part in hand */
    const struct nsc_tap *tap;
    struct nsc_arena texts;
    enum { BY_WHAT_IS_SHARED, BY_FILE, BY_FOLDER, BY_EXPRESSION } by;
    struct nsc_pattern expression;
    struct nsc_match match;
    size_t without_nccl;
    bool no_memory;
};

/* The two parts, and all that are of one job with either, are of one. */
void nsc_join_parts(struct ncclscope_jobs *j, uint32_t a, uint32_t b);

/* "a/b" of "a/b/c.log"; empty where it has none. */
nsc_text nsc_folder_of(const char *path);

/* Those that tell nothing go with the one job of their folder, or with the only one; where nobody tells anything all are one. */
void nsc_place_the_silent(struct ncclscope_jobs *j);

/* The jobs that the parts make, each with its name and its parts as they were read; j->no_memory says whether there was none. */
void nsc_make_jobs(struct ncclscope_jobs *j);

#endif
