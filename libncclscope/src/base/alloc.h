/* alloc.h - the only way to the heap. */
#ifndef NSC_ALLOC_H
#define NSC_ALLOC_H

#include <stddef.h>

void *nsc_alloc(size_t size);              /* zeroed; NULL when there is none */
void *nsc_realloc(void *old, size_t size); /* as realloc */
void *nsc_grow(void *old, size_t *cap, size_t need,
               size_t item); /* array of `item` bytes with room for `need`; NULL, old kept */
void nsc_free(void *p);

#endif
