/* cuda.c - libcuda.so.1, opened and started. */
#include "probe/cuda.h"

#include "probe/dl.h"

#include <stdio.h>

const char *nsc_cuda_words(const struct nsc_cuda *cuda, int result)
{
    const char *words = NULL;
    return cuda->error_string && cuda->error_string(result, &words) == NSC_CUDA_FINE && words ? words
                                                                                              : "no words for it";
}

bool nsc_cuda_open(struct nsc_cuda *cuda, char *why, size_t size)
{
    enum { OPTIONAL = 0, REQUIRED = 1 };
    const struct nsc_symbol symbols[] = {
#define SYM(result, name, arguments, newest, older, need) {(void **)&cuda->name, newest, older, need},
#include "cuda.def"
#undef SYM
    };
    if (!nsc_dl_open("NCCLSCOPE_CUDA", "libcuda.so.1", symbols, sizeof symbols / sizeof symbols[0], why, size))
        return false;
    int result = cuda->init(0);
    if (result == NSC_CUDA_SYSTEM_NOT_READY)
        snprintf(why, size,
                 "CUDA says that the system is not ready (802): the fabric manager does not run, or is not of "
                 "the driver's version");
    else if (result != NSC_CUDA_FINE)
        snprintf(why, size, "CUDA answers: %s (%d)", nsc_cuda_words(cuda, result), result);
    return result == NSC_CUDA_FINE;
}
