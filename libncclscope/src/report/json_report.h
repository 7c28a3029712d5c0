/* json_report.h - parts of the JSON report. */
#ifndef NSC_JSON_REPORT_H
#define NSC_JSON_REPORT_H

#include "report/report.h"

#define NSC_JSON_TEXT(m, s) ((s) ? nsc_say(m, s) : (nsc_text){NULL, 0}) /* null when it was not said */

void nsc_json_where(struct nsc_json *j, const char *key, const struct nsc_where *w);
void nsc_json_processes(struct nsc_json *j, const struct ncclscope_model *m);
void nsc_json_communicators(struct nsc_json *j, const struct ncclscope_model *m);
void nsc_json_links(struct nsc_json *j, const struct ncclscope_findings *f); /* with what was expected of them */
void nsc_json_others(struct nsc_json *j, const struct ncclscope_model *m);   /* what is not NCCL's */

#endif
