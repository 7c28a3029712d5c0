/* cuda.h - CUDA's driver library, as far as it is wanted: cuda.def. Its types are ours: a context, a stream, an event, a module is void *,
 * device memory is unsigned long long, enumerations are int. */
#ifndef NSC_CUDA_H
#define NSC_CUDA_H

#include <stdbool.h>
#include <stddef.h>

struct nsc_cuda {
#define SYM(result, name, arguments, newest, older, need) result(*name) arguments;
#include "cuda.def"
#undef SYM
};

enum { NSC_CUDA_FINE = 0, NSC_CUDA_SYSTEM_NOT_READY = 802, NSC_CUDA_MOST_GPUS = 256 };

/* Opens the library and starts it; false, with a sentence in `why`, if that cannot be. */
bool nsc_cuda_open(struct nsc_cuda *cuda, char *why, size_t size);
/* Has it all that memory, copies and kernels need? Attributes alone need less. */
bool nsc_cuda_can_work(const struct nsc_cuda *c, char *why, size_t size);
const char *nsc_cuda_words(const struct nsc_cuda *cuda, int result); /* of a result that is not fine */

#endif
