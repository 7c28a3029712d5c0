/* document.c - a JSON document where SQLite's JSON functions find it. */
#include "base/document.h"

#include <sqlite3.h>

bool nsc_load_document(sqlite3 *db, const char *json, size_t len)
{
    sqlite3_stmt *q = NULL;
    bool fine = sqlite3_exec(db, "CREATE TABLE doc(j TEXT)", NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(db, "INSERT INTO doc VALUES(?1)", -1, &q, NULL) == SQLITE_OK &&
                sqlite3_bind_text(q, 1, json, (int)len, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(q) == SQLITE_DONE;
    sqlite3_finalize(q);
    return fine;
}
