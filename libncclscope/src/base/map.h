/* map.h - three words to a small number: the index of every container of the model. */
#ifndef NSC_MAP_H
#define NSC_MAP_H

#include <stddef.h>
#include <stdint.h>

struct nsc_key {
    uint64_t a, b, c;
};

struct nsc_map {
    struct nsc_slot {
        struct nsc_key key;
        uint32_t value; /* one more than what was put in; 0 is a free place */
    } * slot;
    size_t slots, used;
};

enum { NSC_NONE = UINT32_MAX };

uint32_t nsc_map_get(const struct nsc_map *m, struct nsc_key key);      /* NSC_NONE if it is not there */
int nsc_map_put(struct nsc_map *m, struct nsc_key key, uint32_t value); /* OK or ENOMEM; replaces */
void nsc_map_free(struct nsc_map *m);

#endif
