/* alloc.h - the only way to the heap. */
#ifndef NSC_ALLOC_H
#define NSC_ALLOC_H

#include "ncclscope.h"

#include <stddef.h>

void *nsc_alloc(size_t size);              /* zeroed; NULL when there is none */
void *nsc_realloc(void *old, size_t size); /* as realloc */
void *nsc_grow(void *old, size_t *cap, size_t need,
               size_t item); /* array of `item` bytes with room for `need`; NULL, old kept */
void nsc_free(void *p);

/* How many allocations of this thread have failed. What a function worked out while that grew is no answer, whoever inside it looked: a
 * public function takes the number when it begins, and gives its code through nsc_settle when it ends. */
unsigned nsc_failed_allocations(void);
/* `code`, or NCCLSCOPE_ENOMEM with its sentence where more have failed than `before`. */
int nsc_settle(int code, unsigned before, ncclscope_error *err);
/* Somebody else's allocator failed (SQLite's, the C library's): counted as one of ours. */
void nsc_note_no_memory(void);

#endif
