/* version.h - the version of NCCL in a process: said, shared with its communicator, or inferred from the texts that it prints. */
#ifndef NSC_VERSION_H
#define NSC_VERSION_H

#include "model/model.h"

enum nsc_version_how {
    NSC_VERSION_UNKNOWN,
    NSC_VERSION_INFERRED, /* from its texts: a range */
    NSC_VERSION_PEER,     /* another rank of its communicator said it */
    NSC_VERSION_SOURCE,   /* a line without a header in its input said it */
    NSC_VERSION_SAID      /* it said so itself */
};

/* 22703 is 2.27.3. */
struct nsc_version {
    enum nsc_version_how how;
    unsigned low, high; /* high NSC_VERSION_OPEN: that release or a later one */
    nsc_str text;       /* as printed; 0 when inferred */
};
enum { NSC_VERSION_OPEN = 1000000 };

/* Is the one the other without its "+cuda12.9" or "-HEAD:418cd5f", as PyTorch and nccl-tests say it? */
bool nsc_is_short_version(nsc_text said, nsc_text whole);
struct nsc_version nsc_version_of(const struct ncclscope_model *m, uint32_t proc);
/* A text that the process printed before it said its version. */
void nsc_version_keep(struct ncclscope_model *m, uint32_t proc, nsc_str text, int level);
/* A record of a process that has not said its version: one of each row is kept. */
void nsc_version_see(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc);
/* Ranks are joined: doubtful version lines are put aside, versions pass from those who said theirs to the others of their
 * communicators, and for the rest it is what their texts leave. */
void nsc_version_settle(struct ncclscope_model *m);
/* What stands in brackets behind the ranks of a connection line of this process. */
enum nsc_brackets { NSC_BRACKETS_UNKNOWN, NSC_BRACKETS_NVML, NSC_BRACKETS_CUDA, NSC_BRACKETS_BUS_ID };
enum nsc_brackets nsc_brackets_of(const struct ncclscope_model *m, const struct nsc_link *l);
/* "2.18.3", "2.18.3 to 2.20.5", "2.28.7 or later". */
void nsc_version_spell(const struct nsc_version *v, char *out, size_t size);
/* Two processes of different hosts whose texts are of no common release: the older one, and the newer. False: there are none. */
bool nsc_versions_are_apart(const struct ncclscope_model *m, uint32_t *older, uint32_t *newer);
/* "NCCL 2.27.3 to 2.28.9 on a, 2.29.2 or later on b" of such two; "" where there are none. */
void nsc_spell_versions_apart(const struct ncclscope_model *m, char *out, size_t size);

#endif
