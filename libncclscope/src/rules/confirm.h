/* confirm.h - what the log says of two GPUs, against what facts of their machine offer. */
#ifndef NSC_CONFIRM_H
#define NSC_CONFIRM_H

#include "model/on_machine.h"
#include "model/path.h"
#include "rules/rules.h"

/* From the worst to the best for who reads it. */
enum nsc_confirmation { NSC_CONTRADICTED, NSC_FALLBACK, NSC_SLOWER, NSC_STALE, NSC_CANNOT_TELL, NSC_AS_GOOD };
enum { NSC_CONFIRMATIONS = NSC_AS_GOOD + 1 };

/* What NCCL's own diagnostics (NCCL DIAG) found when it wrote and read through P2P between two ranks. */
enum nsc_diagnosed { NSC_NOT_DIAGNOSED, NSC_DIAGNOSED_GOOD, NSC_DIAGNOSED_BAD };

/* Two ranks of one communicator that are connected inside the machine. */
struct nsc_confirmed {
    uint32_t comm;                     /* NSC_NONE: no line tells it */
    uint64_t a, b;                     /* ranks, a < b */
    const struct nsc_fact_gpu *gpu[2]; /* theirs; NULL: not among those of the facts */
    const struct nsc_link *link;       /* of all between them the one on the worst path */
    enum nsc_path path;
    const char *offered; /* "NV18"; NULL: not known */
    int p2p;             /* does the machine offer P2P: 1, 0, -1 not known */
    enum nsc_confirmation is;
    const char *why, *confidence; /* confidence: NULL where nothing is claimed */
    const struct nsc_where *line; /* that the verdict rests on, beside the connection's; NULL: none */
    enum nsc_diagnosed diagnosed;
    const struct nsc_where *diagnosed_at;     /* the line that says so */
    nsc_str diagnosed_path;                   /* "NVL": the class of the path that they name; 0: none */
    const char *cost;                         /* what it costs, once findings were made of it; NULL */
    bool configured;                          /* a variable makes it so */
    int64_t mb_s[2];                          /* measured: by P2P; through host memory; 0: not */
    const struct nsc_fact_collective *run[2]; /* of NCCL itself: by itself; on the path of the log; NULL: not run */
};

/* Told together: one verdict, for one reason, of one path on one kind of hardware. */
bool nsc_is_alike(const struct nsc_confirmed *a, const struct nsc_confirmed *b);

/* Fills in c->f->confirmed, once. */
void nsc_confirm(struct nsc_case *c);
const char *nsc_confirmation_name(enum nsc_confirmation is);  /* "confirmed-fallback": as in JSON */
const char *nsc_confirmation_words(enum nsc_confirmation is); /* "confirmed fallback" */

#endif
