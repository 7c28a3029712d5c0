/* bind.h - texts to columns: a store holds characters, whatever bytes a log does. */
#ifndef NSC_BIND_H
#define NSC_BIND_H

#include "base/text.h"

#include <sqlite3.h>

/* TEXT, as it may be shown: a tab is a blank, what is not harmless U+FFFD; ptr NULL: NULL. False: no memory. */
bool nsc_bind_text(sqlite3_stmt *q, int i, nsc_text t);
/* BLOB, its bytes where nsc_bind_text has others, else NULL. */
bool nsc_bind_raw(sqlite3_stmt *q, int i, nsc_text t);

#endif
