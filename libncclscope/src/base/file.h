/* file.h - reads a small file as a whole. */
#ifndef NSC_FILE_H
#define NSC_FILE_H

#include "base/text.h"

/* All bytes of `path` ("-" is standard input); *bytes goes to nsc_free, also after a failure. NCCLSCOPE_EIO, NCCLSCOPE_EDATA if it holds
 * more than `most`, NCCLSCOPE_ENOMEM. */
int nsc_read_whole(const char *path, size_t most, char **bytes, size_t *len, ncclscope_error *err);

#endif
