/* text.h - parts of the text report: wrapped and harmless text, marks, the picture of the paths. */
#ifndef NSC_REPORT_TEXT_H
#define NSC_REPORT_TEXT_H

#include "report/report.h"

enum nsc_mark { NSC_MARK_OK, NSC_MARK_BAD, NSC_MARK_NOTE, NSC_MARK_UNKNOWN };

void nsc_mark(const struct nsc_report *r, enum nsc_mark mark); /* " ✗ " */
int nsc_width(nsc_text text);                                  /* in columns of a terminal */
void nsc_indent(const struct nsc_report *r, int columns);
void nsc_wrap(const struct nsc_report *r, int indent, nsc_text text); /* from column `indent` on; ends the line */
void nsc_dim(const struct nsc_report *r, nsc_text label, int indent); /* indented, padded to 6 columns */
void nsc_part(const struct nsc_report *r, const char *name,
              nsc_text text); /* "why      ...", wrapped; nothing for "-" */
void nsc_bold(const struct nsc_report *r, nsc_text text);
void nsc_safe(const struct nsc_report *r, nsc_text text);         /* what is not harmless becomes '?' */
void nsc_safe_line(const struct nsc_report *r, const char *line); /* the same; a newline stays */
void nsc_csv_text(const struct nsc_report *r, nsc_text t);        /* a field of RFC 4180, harmless */
void nsc_line_of(const struct nsc_report *r, const char *where,
                 nsc_text line); /* a quoted line, cut to the width; ends the line */
/* A quoted line from column `at` on, and on the line below what has no room there; cut behind that. Ends the line. */
void nsc_quote(const struct nsc_report *r, int at, nsc_text line);
/* printf behind the n bytes of `buf`: how many it has then, or would have if there were room. */
size_t nsc_append(char *buf, size_t size, size_t n, const char *format, ...) __attribute__((format(printf, 4, 5)));

void nsc_text_paths(const struct nsc_report *r);
/* text_tests.c: tables of nccl-tests; and the part of what NCCL laid its rings out for that the best of them reached, -1: not known. */
void nsc_text_tests(const struct nsc_report *r);
bool nsc_lacks_results(const struct ncclscope_model *m); /* did nccl-tests begin, and print none? */
bool nsc_tests_failed(const struct ncclscope_model *m);  /* as it says, or its program */
bool nsc_lists_one_gpu_a_host(
    const struct ncclscope_model *m); /* does nccl-tests list ranks, each on a host of its own? */
double nsc_part_of_layout(const struct ncclscope_model *m);
void nsc_text_open_warnings(const struct nsc_report *r);     /* text_warnings.c: no rule judges them */
void nsc_text_harmless_warnings(const struct nsc_report *r); /* rules do, and nothing follows from them */
void nsc_text_findings(const struct nsc_report *r); /* report_text.c: those that are wrong in full, notes in a line */
void nsc_text_finding(const struct nsc_report *r, const struct nsc_finding *f); /* one, by its severity */
void nsc_text_verdict(const struct nsc_report *r,
                      const ncclscope_stats *totals); /* text_verdict.c, with the following */
bool nsc_is_folded(const struct nsc_report *r,
                   const struct nsc_finding *f);  /* is it a variable behind another finding, told with that? */
void nsc_text_ras(const struct nsc_report *r);    /* text_others.c: what ncclras saw */
void nsc_text_others(const struct nsc_report *r); /* that, variables of commands, a matrix without P2P */
const struct nsc_finding *nsc_headline(const struct nsc_report *r); /* that the verdict tells; NULL: none */
/* text_reservation.c: what stands behind the paths that are fine; `links`: how many lines each path has, by enum nsc_path. Is the whole a
 * question, not a tick? Could an input not be read to its end? */
const char *nsc_reservation(const struct nsc_report *r, const uint64_t *links);
bool nsc_lacks_inside(const struct nsc_report *r,
                      const uint64_t *links); /* nodes, and connections between them alone */
bool nsc_lacks_network(const struct nsc_report *r, const uint64_t *links); /* nodes, and no connection between them */
bool nsc_is_open_question(const struct nsc_report *r);
bool nsc_sends_and_receives(const struct ncclscope_model *m); /* is a connection in it that only such calls make? */
bool nsc_is_cut_as_it_connects(const struct nsc_report *r);   /* the input ends while ranks connect */
bool nsc_is_damaged(const struct nsc_report *r);
nsc_text nsc_text_of_warning(const struct nsc_where *w);        /* what it says, without who said it */
bool nsc_is_open(const struct nsc_warning *w);                  /* a warning of NCCL that no rule judges */
uint64_t nsc_count_named_gpus(const struct ncclscope_model *m); /* by lines of communicators; 0: none names one */
bool nsc_lacks_ranks(const struct ncclscope_model *m);          /* of a communicator some are not in the input */
uint64_t nsc_count_gpus(const struct ncclscope_model *m);

#endif
