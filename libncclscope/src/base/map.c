/* map.c - open addressing over exact keys: equal hashes never mix two things. */
#include "base/map.h"

#include "base/alloc.h"

#include <stdbool.h>

static uint64_t mixed(uint64_t h, uint64_t part)
{
    h = (h ^ part) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

static bool is_same(const struct nsc_key *a, const struct nsc_key *b)
{
    return a->a == b->a && a->b == b->b && a->c == b->c;
}

static struct nsc_slot *find(const struct nsc_map *m, struct nsc_key key)
{
    size_t i = (size_t)mixed(mixed(mixed(0x9e3779b97f4a7c15u, key.a), key.b), key.c) & (m->slots - 1);
    while (m->slot[i].value && !is_same(&m->slot[i].key, &key))
        i = (i + 1) & (m->slots - 1);
    return &m->slot[i];
}

uint32_t nsc_map_get(const struct nsc_map *m, struct nsc_key key)
{
    return m->slots ? find(m, key)->value - 1 : NSC_NONE; /* a free place: 0 - 1 is NSC_NONE */
}

static int grow(struct nsc_map *m)
{
    struct nsc_map bigger = {.slots = m->slots ? m->slots * 2 : 64, .used = m->used};
    bigger.slot = nsc_alloc(bigger.slots * sizeof *bigger.slot);
    if (!bigger.slot)
        return NCCLSCOPE_ENOMEM;
    for (size_t i = 0; i < m->slots; i++)
        if (m->slot[i].value)
            *find(&bigger, m->slot[i].key) = m->slot[i];
    nsc_free(m->slot);
    *m = bigger;
    return NCCLSCOPE_OK;
}

int nsc_map_put(struct nsc_map *m, struct nsc_key key, uint32_t value)
{
    if (m->used * 2 >= m->slots && grow(m))
        return NCCLSCOPE_ENOMEM;
    struct nsc_slot *s = find(m, key);
    m->used += !s->value;
    s->key = key;
    s->value = value + 1;
    return NCCLSCOPE_OK;
}

void nsc_map_free(struct nsc_map *m)
{
    nsc_free(m->slot);
    *m = (struct nsc_map){0};
}
