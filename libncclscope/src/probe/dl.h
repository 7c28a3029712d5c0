/* dl.h - a vendor's library, opened when it is needed, and the functions wanted from it: by a table, newest name first. */
#ifndef NSC_DL_H
#define NSC_DL_H

#include <stdbool.h>
#include <stddef.h>

struct nsc_symbol {
    void **at;          /* where the address goes; NULL if it is missing */
    const char *newest; /* "nvmlInit_v2" */
    const char *older;  /* "nvmlInit", or "" */
    bool required;
};

/* Opens the library that the variable (or NULL) names, else `name`; false, with a sentence in `why`, if it cannot be opened or a required symbol
 * is missing. It is never closed: drivers do not survive that. */
bool nsc_dl_open(const char *variable, const char *name, const struct nsc_symbol *symbols, size_t count, char *why,
                 size_t size);

#endif
