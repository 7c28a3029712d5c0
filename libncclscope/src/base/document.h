/* document.h - a JSON document where SQLite's JSON functions find it: doc(j), one row. */
#ifndef NSC_DOCUMENT_H
#define NSC_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

struct sqlite3;

/* `json` is not copied: it must live as long as the database is asked. False, with the reason in the database, if it cannot be made. */
bool nsc_load_document(struct sqlite3 *db, const char *json, size_t len);

#endif
