/* schema.h - what a store has beside the tables of columns.def (store/tables.h). */
#ifndef NSC_SCHEMA_H
#define NSC_SCHEMA_H

#include "ncclscope/store.h"

#include <sqlite3.h>
#include <stdbool.h>

extern const char nsc_schema_tables[];  /* made with the file */
extern const char nsc_schema_saved[];   /* in an older one too: models as they were saved */
extern const char nsc_schema_model[];   /* and behind the tables of columns.def: what joins them */
extern const char nsc_schema_from_1[];  /* what version 1 lacks */
extern const char nsc_schema_from_2[];  /* of version 2: before the tables of columns.def are made ... */
extern const char nsc_schema_copy_2[];  /* ... and after */
extern const char nsc_schema_from_3[];  /* what version 3 lacks */
extern const char nsc_schema_indexes[]; /* made after the first load: loading is twice as fast without them */

/* The database of a store that is not in a scan; NULL: it is. */
sqlite3 *nsc_store_at_rest(ncclscope_store *s);
/* query.c: a store that is only read, and trusted as little as a log is: what does more than select is refused, and then *denied. */
int nsc_store_to_read(sqlite3 **db, const char *path, bool *denied, ncclscope_error *err);

#endif
