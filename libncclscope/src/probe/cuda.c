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

bool nsc_cuda_can_work(const struct nsc_cuda *c, char *why, size_t size)
{
    bool has = c->retain && c->release && c->use && c->enable_peer && c->disable_peer && c->synchronize &&
               c->memory_left && c->alloc && c->free && c->alloc_host && c->free_host && c->copy && c->set_words &&
               c->stream && c->stream_waits && c->event && c->record && c->event_wait && c->elapsed && c->module &&
               c->function && c->launch;
    if (!has)
        snprintf(why, size, "the driver is too old: it lacks functions that are needed");
    return has;
}
