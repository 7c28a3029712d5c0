/* bind.h - texts to columns: a store holds characters, whatever bytes a log does. */
#ifndef NSC_BIND_H
#define NSC_BIND_H

#include "base/text.h"

#include <sqlite3.h>

/* TEXT, as it may be shown: a tab is a blank, what is not harmless U+FFFD; ptr NULL: NULL. Lent: it stays where it is until the statement
 * has run. False: no memory. */
bool nsc_bind_text(sqlite3_stmt *q, int i, nsc_text t);
/* The same, and as `raw` its bytes (a BLOB) where those are others, else NULL. */
bool nsc_bind_both(sqlite3_stmt *q, int i, int raw, nsc_text t);

#endif
