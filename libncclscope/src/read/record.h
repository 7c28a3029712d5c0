/* record.h - one line understood; a view into its reader, valid until the next one. */
#ifndef NSC_RECORD_H
#define NSC_RECORD_H

#include "read/chars.h"
#include "read/pattern.h"

#include <stdint.h>

struct ncclscope_record {
    ncclscope_kind kind;
    int level, flags;
    uint64_t line, offset, repeated;
    nsc_text physical, message, host, location, pod, container, time;
    nsc_chars chars; /* that its message may hold: all where nobody looked */
    int64_t pid, tid, dev, launcher_rank;
    size_t row;                        /* of messages.def; SIZE_MAX if none took it */
    const struct nsc_match *match;     /* NULL: no fields */
    const struct nsc_known_text *text; /* of a RECOGNISED record */
    ncclscope_grammar *grammar;        /* that took it: whose kinds and fields from 1000 on are meant */
    const struct nsc_via *via;         /* path of a CONNECT record; NULL for other kinds */
};

/* NCCL writes a line, from its host on, to a buffer of 1024 bytes: what would not fit is missing at the end. */
enum { NSC_NCCL_LINE = 1023 };
/* Bytes of the record from its host to the end of its message; 0 if its host is not known or was mended. */
size_t nsc_record_span(const struct ncclscope_record *rec);

/* The text of a field, or {NULL, 0}. */
nsc_text nsc_record_field(const struct ncclscope_record *rec, ncclscope_field f);

#endif
