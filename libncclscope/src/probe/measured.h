/* measured.h - figures of pairs of GPUs: what they are called, and what is to be expected of them. */
#ifndef NSC_MEASURED_H
#define NSC_MEASURED_H

#include "probe/facts.h"

struct nsc_way_to_measure {
    const char *name, *words;
};
extern const struct nsc_way_to_measure
    nsc_ways_to_measure[];                      /* in the order in which people read them; ends with name NULL */
const char *nsc_method_words(const char *name); /* NULL for one that is not known */

/* The one figure; NULL if there is none. */
const struct nsc_fact_measured *nsc_measured_at(const struct ncclscope_facts *f, int64_t from, int64_t to,
                                                const char *method);
/* "NV18": how the two are joined; NULL if that is not known. */
const char *nsc_pair_path(const struct ncclscope_facts *f, int64_t from, int64_t to);

/* A row of expected.def. */
struct nsc_expected_rate {
    const char *words, *path, *method;
    int64_t least, most; /* MB/s; of latency ns */
    const char *source;
};
/* NULL: no figure with a source is known. */
const struct nsc_expected_rate *nsc_expected_rate_of(const struct ncclscope_facts *f,
                                                     const struct nsc_fact_measured *x);

#endif
