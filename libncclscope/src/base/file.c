/* file.c - a small file as a whole. */
#include "base/file.h"

#include "base/alloc.h"
#include "base/neutral.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Room for more than is there; false: no memory. */
static bool make_room(char **bytes, size_t len, size_t *size)
{
    enum { LEAST = 65536 };
    if (len + LEAST <= *size)
        return true;
    size_t more = *size ? *size * 2 : 4 * LEAST;
    char *bigger = nsc_realloc(*bytes, more);
    if (!bigger)
        return false;
    *bytes = bigger;
    *size = more;
    return true;
}

int nsc_read_whole(const char *path, size_t most, char **bytes, size_t *len, ncclscope_error *err)
{
    int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO, rc = NCCLSCOPE_OK;
    size_t size = 0;
    ssize_t n = 1;
    *bytes = NULL;
    *len = 0;
    if (fd < 0)
        return nsc_fail(err, NCCLSCOPE_EIO, errno, "cannot open: %s", nsc_strerror(errno));
    while (rc == NCCLSCOPE_OK && n) {
        if (!make_room(bytes, *len, &size))
            rc = nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
        else if ((n = read(fd, *bytes + *len, size - *len)) < 0 && errno != EINTR)
            rc = nsc_fail(err, NCCLSCOPE_EIO, errno, "cannot read: %s", nsc_strerror(errno));
        *len += n > 0 ? (size_t)n : 0;
        if (*len > most)
            rc = nsc_fail(err, NCCLSCOPE_EDATA, 0, "is too large (%zu MiB at most)", most >> 20);
    }
    if (fd != STDIN_FILENO)
        close(fd);
    return rc;
}
