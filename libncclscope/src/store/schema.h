/* schema.h - the tables of a store. */
#ifndef NSC_SCHEMA_H
#define NSC_SCHEMA_H

enum { NSC_APPLICATION_ID = 0x4e43434c, NSC_SCHEMA_VERSION = 1 }; /* "NCCL" */

extern const char nsc_schema_tables[];  /* made with the file */
extern const char nsc_schema_indexes[]; /* made after the first load: loading is twice as fast without them */

#endif
