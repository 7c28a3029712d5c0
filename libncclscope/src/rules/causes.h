/* causes.h - causes.def as a table: for `explain`, and for the finding that wants one. */
#ifndef NSC_CAUSES_H
#define NSC_CAUSES_H

#include "rules/ask.h"

enum nsc_cause_kind { NSC_CAUSE_FAULT, NSC_CAUSE_SETTING, NSC_CAUSE_DESIGN, NSC_CAUSE_UNSURE, NSC_CAUSE_KNOWN };

struct nsc_cause {
    enum nsc_id key;
    const char *name; /* NULL: of a row that `explain` alone prints */
    enum nsc_cause_kind kind;
    int weight;
    const char *sure;
    enum nsc_answer (*when)(struct nsc_ask *q);
    const char *why, *fix, *seen, *source;
};
extern const struct nsc_cause nsc_causes[]; /* ends with NSC_ID_NONE */

#endif
