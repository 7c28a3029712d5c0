/* file.c - a small file as a whole. */
#include "base/file.h"

#include "base/alloc.h"
#include "base/neutral.h"

#include <errno.h>
#include <stdio.h>

int nsc_read_whole(const char *path, size_t most, char **bytes, size_t *len, ncclscope_error *err)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "rbe") : stdin;
    size_t size = 0;
    int rc = NCCLSCOPE_OK;
    *bytes = NULL;
    *len = 0;
    if (!f)
        return nsc_fail(err, NCCLSCOPE_EIO, errno, "cannot open: %s", nsc_strerror(errno));
    do {
        if (*len + 65536 > size) {
            size = size ? size * 2 : 262144;
            char *bigger = nsc_realloc(*bytes, size);
            if (!bigger) {
                rc = nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
                break;
            }
            *bytes = bigger;
        }
        *len += fread(*bytes + *len, 1, size - *len, f);
        if (*len > most)
            rc = nsc_fail(err, NCCLSCOPE_EDATA, 0, "is too large (%zu MiB at most)", most >> 20);
    } while (rc == NCCLSCOPE_OK && !feof(f) && !ferror(f));
    if (rc == NCCLSCOPE_OK && ferror(f))
        rc = nsc_fail(err, NCCLSCOPE_EIO, errno, "cannot read: %s", nsc_strerror(errno));
    if (f != stdin)
        fclose(f);
    return rc;
}
