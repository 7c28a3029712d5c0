/* dl.c - dlopen, and a table of symbols. */
#include "probe/dl.h"

#include "base/neutral.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Packagers and `readelf -p .note.dlopen` find here what no DT_NEEDED names: systemd.io, dlopen() metadata for ELF files. */
#define OPENED \
    "[{\"feature\":\"probe\",\"description\":\"GPUs, NVLinks, P2P of this machine\",\"priority\":\"suggested\"," \
    "\"soname\":[\"libnvidia-ml.so.1\"]}," \
    "{\"feature\":\"measure\",\"description\":\"what CUDA offers, and copies between " \
    "GPUs\",\"priority\":\"suggested\"," \
    "\"soname\":[\"libcuda.so.1\"]}," \
    "{\"feature\":\"nccl\",\"description\":\"runs of NCCL " \
    "itself\",\"priority\":\"suggested\",\"soname\":[\"libnccl.so.2\"]}]"

__attribute__((used, section(".note.dlopen"))) _Alignas(uint32_t) static const struct {
    uint32_t name_size, size, type;
    char name[4];
    _Alignas(uint32_t) char words[sizeof OPENED];
} note = {4, sizeof OPENED, UINT32_C(0x407c0c0a), "FDO", OPENED};

bool nsc_dl_open(const char *variable, const char *name, const struct nsc_symbol *symbols, size_t count, char *why,
                 size_t size)
{
    const char *given = variable ? secure_getenv(variable) : NULL;
    void *library = dlopen(given && *given ? given : name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, size, "%s", nsc_dlerror());
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct nsc_symbol *s = &symbols[i];
        *s->at = dlsym(library, s->newest);
        if (!*s->at && *s->older)
            *s->at = dlsym(library, s->older);
        if (!*s->at && s->required) {
            snprintf(why, size, "%s has no %s: it is too old, or not the driver's", name, s->newest);
            return false;
        }
    }
    return true;
}
