/* vec.h - growing arrays: NSC_VEC(type) is {item, len, cap}. */
#ifndef NSC_VEC_H
#define NSC_VEC_H

#include "base/alloc.h"

#include <string.h>

#define NSC_VEC(type) \
    struct { \
        type *item; \
        size_t len, cap; \
    }

/* A new zeroed item at the end; NULL when there is no memory. */
#define nsc_vec_push(v) \
    (nsc_vec_reserve_((void **)&(v)->item, &(v)->cap, (v)->len + 1, sizeof *(v)->item) \
         ? (memset(&(v)->item[(v)->len], 0, sizeof *(v)->item), &(v)->item[(v)->len++]) \
         : NULL)

#define nsc_vec_free(v) (nsc_free((v)->item), (v)->item = NULL, (v)->len = (v)->cap = 0)

static inline int nsc_vec_reserve_(void **item, size_t *cap, size_t need, size_t size)
{
    void *p = nsc_grow(*item, cap, need, size);
    if (!p)
        return 0;
    *item = p;
    return 1;
}

#endif
