/* alloc.c - the only malloc of the library. */
#include "base/alloc.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>

static _Thread_local unsigned failed;

static void *counted(void *p)
{
    failed += !p;
    return p;
}

unsigned nsc_failed_allocations(void)
{
    return failed;
}

void nsc_note_no_memory(void)
{
    failed++;
}

int nsc_settle(int code, unsigned before, ncclscope_error *err)
{
    return failed == before ? code : nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
}

void *nsc_alloc(size_t size)
{
    return counted(calloc(1, size ? size : 1));
}

void *nsc_realloc(void *old, size_t size)
{
    return counted(realloc(old, size ? size : 1));
}

void *nsc_grow(void *old, size_t *cap, size_t need, size_t item)
{
    size_t n = *cap ? *cap : 8;
    if (need <= *cap && old)
        return old;
    while (n < need) {
        if (n > SIZE_MAX / 2 / item)
            return counted(NULL);
        n *= 2;
    }
    void *p = nsc_realloc(old, n * item);
    if (p)
        *cap = n;
    return p;
}

void nsc_free(void *p)
{
    free(p);
}
