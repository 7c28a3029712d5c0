/* schema.h - the tables of a store. */
#ifndef NSC_SCHEMA_H
#define NSC_SCHEMA_H

extern const char nsc_schema_tables[];  /* made with the file */
extern const char nsc_schema_from_1[];  /* what version 1 lacks */
extern const char nsc_schema_indexes[]; /* made after the first load: loading is twice as fast without them */

#endif
