/* report.h - a model and its findings, written for a reader. */
#ifndef NSC_REPORT_H
#define NSC_REPORT_H

#include "base/json.h"
#include "rules/rules.h"

struct nsc_report {
    const struct ncclscope_model *m;
    const struct ncclscope_findings *f;
    struct nsc_out *out;
    int columns, flags;
    const char *about; /* how the ids of the rules begin that it is about; "" for all */
    bool folds;        /* a finding that is no variable says what is configured: variables are told with it */
};

bool nsc_folds_variables(const struct ncclscope_findings *f); /* text_verdict.c */
void nsc_report_json(const struct nsc_report *r);
void nsc_report_text(const struct nsc_report *r);
void nsc_facts_text(const struct nsc_report *r); /* of r->m->facts */
void nsc_facts_json(const struct nsc_report *r);
void nsc_confirm_text(const struct nsc_report *r); /* of r->f->confirmed */
void nsc_confirm_json(const struct nsc_report *r);
/* Those findings that r->about names, as an array. */
void nsc_json_findings(const struct nsc_report *r, struct nsc_json *j);

/* Sums over all sources. */
void nsc_totals(const struct ncclscope_model *m, ncclscope_stats *out);
const char *nsc_verdict_name(int verdict);   /* "findings" ... as in the JSON report */
const char *nsc_severity_name(int severity); /* "error" ... */

#endif
