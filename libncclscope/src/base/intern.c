/* intern.c - equal strings to equal small numbers: open addressing over an arena. */
#include "base/intern.h"

static bool rehash(struct nsc_intern *in)
{
    size_t n = in->slots ? in->slots * 2 : 256;
    uint32_t *slot = nsc_alloc(n * sizeof *slot);
    if (!slot)
        return false;
    for (size_t i = 1; i < in->text.len; i++) {
        size_t k = nsc_hash(in->text.item[i].ptr, in->text.item[i].len) & (n - 1);
        while (slot[k])
            k = (k + 1) & (n - 1);
        slot[k] = (uint32_t)i;
    }
    nsc_free(in->slot);
    in->slot = slot;
    in->slots = n;
    return true;
}

uint32_t nsc_intern(struct nsc_intern *in, nsc_text text)
{
    if (!text.len)
        return 0;
    if (!in->text.len && !nsc_vec_push(&in->text))
        return 0;
    if (in->text.len * 2 >= in->slots && !rehash(in))
        return 0;
    size_t k = nsc_hash(text.ptr, text.len) & (in->slots - 1);
    for (; in->slot[k]; k = (k + 1) & (in->slots - 1))
        if (nsc_text_eq(in->text.item[in->slot[k]], text))
            return in->slot[k];
    nsc_text copy = nsc_arena_copy(&in->arena, text);
    nsc_text *t = copy.ptr ? nsc_vec_push(&in->text) : NULL;
    if (!t)
        return 0;
    *t = copy;
    return in->slot[k] = (uint32_t)(in->text.len - 1);
}

uint32_t nsc_intern_find(const struct nsc_intern *in, nsc_text text)
{
    if (!text.len || !in->slots)
        return 0;
    size_t k = nsc_hash(text.ptr, text.len) & (in->slots - 1);
    while (in->slot[k] && !nsc_text_eq(in->text.item[in->slot[k]], text))
        k = (k + 1) & (in->slots - 1);
    return in->slot[k];
}

nsc_text nsc_interned(const struct nsc_intern *in, uint32_t id)
{
    return id && id < in->text.len ? in->text.item[id] : (nsc_text){"", 0};
}

void nsc_intern_free(struct nsc_intern *in)
{
    nsc_vec_free(&in->text);
    nsc_arena_free(&in->arena);
    nsc_free(in->slot);
    in->slot = NULL;
    in->slots = 0;
}
