/* schema.h - what a store has beside the tables of columns.def (store/tables.h). */
#ifndef NSC_SCHEMA_H
#define NSC_SCHEMA_H

extern const char nsc_schema_tables[]; /* made with the file */
extern const char nsc_schema_saved[];  /* in an older one too: models as they were saved */
extern const char nsc_schema_model[];  /* and behind the tables of columns.def: what joins them */
extern const char nsc_schema_from_1[]; /* what version 1 lacks */
extern const char nsc_schema_from_2[]; /* of version 2: before the tables of columns.def are made ... */
extern const char nsc_schema_copy_2[]; /* ... and after */
extern const char nsc_schema_from_3[];
extern const char nsc_schema_indexes[]; /* made after the first load: loading is twice as fast without them */

#endif
