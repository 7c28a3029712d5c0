/* tables.h - tables.c: the tables of columns.def in a store. */
#ifndef NSC_TABLES_H
#define NSC_TABLES_H

#include "model/rows.h"

#include <sqlite3.h>

/* A table for each of columns.def: `scan`, `row` (its place among the rows of the scan, which columns of other tables name), its columns. */
bool nsc_tables_make(sqlite3 *db);
const char *nsc_table_name(int table); /* as it is called in a store */
/* Adds all rows of a model, or of findings, as those of this scan. False: SQLite says why, or there was no memory. */
bool nsc_tables_fill(sqlite3 *db, int64_t scan, const struct nsc_rows *rows);

#endif
