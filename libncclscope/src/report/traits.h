/* traits.h - what a run is, apart from where it ran: one line for each thing that two runs can be compared by. */
#ifndef NSC_TRAITS_H
#define NSC_TRAITS_H

#include "base/arena.h"
#include "report/report.h"

enum nsc_section {
    NSC_TRAIT_VERSIONS,
    NSC_TRAIT_JOB,
    NSC_TRAIT_ENVIRONMENT,
    NSC_TRAIT_PATHS,
    NSC_TRAIT_CHANNELS,
    NSC_TRAIT_NETWORKS,
    NSC_TRAIT_FINDINGS,
    NSC_TRAIT_WARNINGS,
    NSC_TRAIT_SECTIONS
};

struct nsc_trait {
    enum nsc_section section;
    nsc_text key, value;
    uint64_t n, of; /* n of so many processes, communicators ... have this value; of 0: a number that says nothing */
};

struct nsc_traits {
    struct nsc_arena arena;
    NSC_VEC(struct nsc_trait) list; /* sorted by section and key, each key once */
    bool no_memory;
};

/* Host names, pids, addresses and the order of lines are no traits. */
void nsc_find_traits(struct nsc_traits *t, const struct ncclscope_model *m, const struct ncclscope_findings *f);
void nsc_traits_free(struct nsc_traits *t);
int nsc_compare_traits(const struct nsc_trait *a, const struct nsc_trait *b); /* by section and key */
const char *nsc_section_name(enum nsc_section s);

#endif
