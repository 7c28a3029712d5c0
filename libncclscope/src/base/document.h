/* document.h - JSON documents that are read whole or not at all, by jansson: facts of a machine, pods of Kubernetes. Lines of logs that hold
 * JSON, and may be damaged, have readers of their own (model/json_lines.c, read/wrap_json.c). */
#ifndef NSC_DOCUMENT_H
#define NSC_DOCUMENT_H

#include "base/text.h"
#include "ncclscope.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The document, for json_decref. OK; EDATA, with where and why in `why` (not yet a sentence); ENOMEM. */
int nsc_document(json_t **out, const char *json, size_t len, json_error_t *why);
/* What lies at "metadata.name" below an object; NULL: nothing does. */
const json_t *nsc_member_at(const json_t *j, const char *path);
/* A number that an integer holds, to *out; else false. */
bool nsc_int_of_json(const json_t *j, int64_t *out);
/* A string; {NULL, 0}: it is none. Borrowed. */
nsc_text nsc_text_of_json(const json_t *j);

#endif
