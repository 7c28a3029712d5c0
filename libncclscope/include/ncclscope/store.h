/* ncclscope/store.h - keep records, model and findings in a SQLite file. Its tables and views are described in docs/schema.md.
 *
 * Threads: one store, one thread at a time. */
#ifndef NCCLSCOPE_STORE_H
#define NCCLSCOPE_STORE_H

#include "ncclscope/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclscope_store ncclscope_store;

/* Open the store in `path`, made if it is missing. *out is the caller's. NCCLSCOPE_OK; NCCLSCOPE_EIO if it cannot be opened or
 * written; NCCLSCOPE_EDATA if the file is no store; NCCLSCOPE_EUNSUPPORTED if a newer version made it; NCCLSCOPE_ENOMEM. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_open(ncclscope_store **out, const char *path, ncclscope_error *err);
/* NULL is fine. */
NCCLSCOPE_API void ncclscope_store_close(ncclscope_store *s);

/* As ncclscope_scan in one thread, and every record goes to the store on the way, standard input's too. What is written is kept only when
 * ncclscope_store_add follows; closing the store before that drops it. As there, and NCCLSCOPE_EINVAL where an earlier scan was not added.
 * Since 0.1. */
NCCLSCOPE_API int ncclscope_store_scan(ncclscope_store *s, ncclscope_model **out, ncclscope_grammar *g,
                                       const char *const *paths, size_t n, const ncclscope_scan_options *options,
                                       ncclscope_error *err);
/* The model and findings of the last ncclscope_store_scan; then everything of this scan is kept, or after a failure nothing. A scan
 * of the very bytes of an earlier one changes nothing; a source that an earlier scan holds is not stored again.
 * NCCLSCOPE_OK, NCCLSCOPE_EIO (disk full, locked), NCCLSCOPE_ENOMEM; NCCLSCOPE_EINVAL for another model, or findings of another. Since 0.1. */
NCCLSCOPE_API int ncclscope_store_add(ncclscope_store *s, const ncclscope_model *m, const ncclscope_findings *f,
                                      ncclscope_error *err);

#ifdef __cplusplus
}
#endif
#endif
