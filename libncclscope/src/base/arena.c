/* arena.c - memory that is given out piece by piece and freed at once. */
#include "base/arena.h"

#include "base/alloc.h"

#include <stdalign.h>

enum { FIRST = 1024, BLOCK = 64 * 1024 }; /* blocks double up to the largest: many arenas hold next to nothing */

struct nsc_arena_block {
    struct nsc_arena_block *before;
    size_t size;
    alignas(16) char bytes[];
};

void *nsc_arena_alloc(struct nsc_arena *a, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (!a->last || a->last->size - a->used < size) {
        size_t next = !a->last ? FIRST : a->last->size < BLOCK / 2 ? a->last->size * 2 : BLOCK;
        size_t n = size > next / 4 ? size : next;
        struct nsc_arena_block *b = nsc_alloc(sizeof *b + n);
        if (!b)
            return NULL;
        b->before = a->last;
        b->size = n;
        a->last = b;
        a->used = 0;
        a->total += n;
    }
    void *p = a->last->bytes + a->used;
    a->used += size;
    return p;
}

nsc_text nsc_arena_copy(struct nsc_arena *a, nsc_text text)
{
    char *p = nsc_arena_alloc(a, text.len + 1);
    if (!p)
        return (nsc_text){NULL, 0};
    if (text.len)
        memcpy(p, text.ptr, text.len);
    return (nsc_text){p, text.len};
}

void nsc_arena_free(struct nsc_arena *a)
{
    while (a->last) {
        struct nsc_arena_block *b = a->last;
        a->last = b->before;
        nsc_free(b);
    }
    a->used = a->total = 0;
}
