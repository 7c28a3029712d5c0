/* variables.h - names that begin with NCCL_: who reads them, and values that NCCL does not take. */
#ifndef NSC_VARIABLES_H
#define NSC_VARIABLES_H

#include "model/model.h"

/* "nccl", "rccl, gcp" ...; NULL if no program that is known reads a variable of this name. */
const char *nsc_variable_reader(nsc_text name);
/* A known name that differs by one or two letters; NULL: none. */
const char *nsc_variable_like(nsc_text name);
/* Is the value one that NCCL takes? False of a word that is no distance, for a variable that wants one: NCCL ignores it. */
bool nsc_takes_level(nsc_text name, nsc_text value);
/* NCCL reads numbers as strtoll does, to the first letter: "true" is 0, "8M" is 8, "0x1" is 1. True, and *taken set, where that is another
 * number than the text shows. Source: src/misc/param.cc, 2.30.7. */
bool nsc_is_taken_as(nsc_text name, nsc_text value, int64_t *taken);
/* The words of a command or of a list of variables, none of those that set one cut off. */
nsc_text nsc_words_of_command(const struct ncclscope_model *m, const struct nsc_own_record *r);
/* The next variable that a command sets, "NCCL_NET='AWS Libfabric'" or "export 'NCCL_NET=AWS Libfabric'", without its quotes; *rest goes on
 * behind it. A quote before the name that opens a whole command (bash -c 'NCCL_DEBUG=INFO ./x') is none of the value. False: there is none. */
bool nsc_next_setting(nsc_text *rest, nsc_text *name, nsc_text *value);

#endif
