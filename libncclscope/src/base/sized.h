/* sized.h - structs that the caller of a public function gives with their size: those of an older header are shorter, and what they
 * lack is 0; those of a newer one are longer, and are taken where what is behind is 0. Without a size they are not taken: somebody forgot it. */
#ifndef NSC_SIZED_H
#define NSC_SIZED_H

#include <stdbool.h>
#include <stddef.h>

/* The caller's options to our own, which are zeroed; false: it asks for what is not known here. */
bool nsc_take_sized(void *own, size_t own_size, const void *given, size_t size);
/* Our result to the caller's; false, and nothing written: it has members that are not known here, and not 0. */
bool nsc_give_sized(void *given, size_t size, const void *own, size_t own_size);

#endif
