/* records.h - records as rows: one in `record`, and its fields in the table of its kind. */
#ifndef NSC_RECORDS_H
#define NSC_RECORDS_H

#include "read/record.h"
#include "read/user.h"

#include <sqlite3.h>

enum { NSC_KINDS = NSC_USER_FIRST + NSC_USER_MOST };

struct nsc_records {
    int64_t source, next;            /* row of the source that is read; next row of record */
    sqlite3_stmt *insert;            /* into record */
    sqlite3_stmt *fields[NSC_KINDS]; /* into m_<kind> or x_<row>, NULL until its first record */
    ncclscope_field column[NSC_KINDS][16];
};

int nsc_records_add(struct nsc_records *r, sqlite3 *db,
                    const ncclscope_record *rec); /* OK; ENOMEM; EIO: ask sqlite3_errcode */
void nsc_records_reset(struct nsc_records *r);    /* statements end, tables may be rolled back */
void nsc_records_free(struct nsc_records *r);

#endif
