/* scan.h - paths to one model, with somebody else listening to the records. */
#ifndef NSC_SCAN_H
#define NSC_SCAN_H

#include "model/model.h"
#include "ncclscope/model.h"
#include "read/reader.h"

enum { NSC_TAP_FAILED = -100 }; /* what a tap returns to end the scan; it keeps the reason */

struct nsc_tap {
    void *user;
    int (*record)(void *user, const ncclscope_record *rec);
    int (*source_end)(void *user, const ncclscope_reader *r, const char *name);
};

int nsc_scan(ncclscope_model **out, ncclscope_grammar *g, const char *const *paths, size_t n,
             const ncclscope_scan_options *options, const struct nsc_tap *tap, ncclscope_error *err);

#endif
