/* abi.h - structs of the public headers that begin with their size, and may be of an older or a newer release than the library. */
#ifndef NSC_ABI_H
#define NSC_ABI_H

#include <stddef.h>
#include <string.h>

/* What the library tells, into a caller's struct whose size stands in it: an older one gets the beginning, a newer one zeros behind. */
static inline int nsc_give_struct(void *out, const void *own, size_t size)
{
    size_t given;
    memcpy(&given, out, sizeof given);
    memcpy(out, own, given < size ? given : size);
    if (given > size)
        memset((char *)out + size, 0, given - size);
    memcpy(out, &given, sizeof given);
    return 0;
}

#endif
