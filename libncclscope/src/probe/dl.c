/* dl.c - dlopen, and a table of symbols. */
#include "probe/dl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

bool nsc_dl_open(const char *variable, const char *name, const struct nsc_symbol *symbols, size_t count, char *why,
                 size_t size)
{
    const char *given = variable ? getenv(variable) : NULL;
    void *library = dlopen(given && *given ? given : name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, size, "%s", dlerror());
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
