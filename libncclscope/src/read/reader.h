/* reader.h - source, lines, header, match in a row: bytes to records. */
#ifndef NSC_READER_H
#define NSC_READER_H

#include "read/debts.h"
#include "read/header.h"
#include "read/lines.h"
#include "read/prefix.h"
#include "read/record.h"
#include "read/rewrap.h"
#include "read/source.h"
#include "read/transport.h"
#include "read/wrap.h"

/* Take a digest of the text while it is read; and what it is: two checksums and the length, printed. */
void nsc_reader_digest(ncclscope_reader *r);
void nsc_reader_digest_text(const ncclscope_reader *r, char *out, size_t size);

#endif
