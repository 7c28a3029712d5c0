/* alloc.c - the only malloc of the library. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>

void *nsc_alloc(size_t size)
{
    return calloc(1, size ? size : 1);
}

void *nsc_realloc(void *old, size_t size)
{
    return realloc(old, size ? size : 1);
}

void *nsc_grow(void *old, size_t *cap, size_t need, size_t item)
{
    size_t n = *cap ? *cap : 8;
    if (need <= *cap && old)
        return old;
    while (n < need) {
        if (n > SIZE_MAX / 2 / item)
            return NULL;
        n *= 2;
    }
    void *p = realloc(old, n * item);
    if (p)
        *cap = n;
    return p;
}

void nsc_free(void *p)
{
    free(p);
}
