/* on_machine.h - which ranks of the log ran on the machine that facts are of, and on which of its GPUs. */
#ifndef NSC_ON_MACHINE_H
#define NSC_ON_MACHINE_H

#include "model/model.h"
#include "probe/facts.h"

/* How the log's machine was found to be that of the facts. */
enum nsc_fit {
    NSC_FIT_NONE,       /* it was not */
    NSC_FIT_NAME,       /* a host of the log has the name of the machine */
    NSC_FIT_NAMED_PART, /* the same, and some of its GPUs are not there */
    NSC_FIT_ONLY,       /* the log is of one machine, whose GPUs are all there */
    NSC_FIT_CHOSEN,     /* of the machines of the log only this one's GPUs are all there */
    NSC_FIT_DISTINCT, /* hosts (pods) that may be several machines; their GPUs are all there, and no two have the same */
    NSC_FIT_PART,     /* the log is of one machine, and some of its GPUs are there */
    NSC_FIT_FOREIGN   /* the log is of one machine, and none of its GPUs is there */
};

/* Once, when facts are given: fills in model.gpu_of, .is_here, .fit and .offered. */
void nsc_place_ranks(struct ncclscope_model *m);

/* The rank's GPU; NULL: it is not on the machine, or that is not known. */
const struct nsc_fact_gpu *nsc_gpu_facts_of(const struct ncclscope_model *m, const struct nsc_rank *r);
/* Is the rank on another machine of the log than the one that the facts are of? */
bool nsc_is_elsewhere(const struct ncclscope_model *m, const struct nsc_rank *r);
/* Was the process's log written under another CUDA driver than the facts were asked of? */
bool nsc_has_other_driver(const struct ncclscope_model *m, uint32_t proc);
/* "NV18": how the machine joins the GPUs of two ranks; 0: not known, or the facts are of another driver. */
nsc_str nsc_offered_class(const struct ncclscope_model *m, const struct nsc_rank *a, const struct nsc_rank *b);
const char *nsc_fit_words(enum nsc_fit fit);

#endif
