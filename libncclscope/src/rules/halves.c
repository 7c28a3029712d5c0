/* halves.c - communicators of one size that wait for just each other's ranks: one that was meant, under two ids. */
#include "rules/halves.h"

#include "base/alloc.h"
#include "model/version.h"
#include "rules/rules.h"

static bool has_place(const struct ncclscope_model *m, const struct nsc_comm *k, int64_t rank)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (m->ranks.item[m->members.item[k->first + i]].rank == rank)
            return true;
    return false;
}

static bool may_be_half(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    return nsc_text_starts(nsc_say(m, k->id), "0x") && k->parent == NSC_NONE && k->count &&
           k->nranks < NSC_NAMED_ABSENT;
}

bool nsc_list_halves(const struct ncclscope_model *m, struct nsc_halves *h)
{
    bool fine = (h->next = nsc_alloc(m->comms.len * sizeof *h->next)) != NULL;
    for (uint32_t i = (uint32_t)m->comms.len; fine && i-- > 0;) {
        const struct nsc_comm *k = &m->comms.item[i];
        struct nsc_key key = {(uint64_t)k->nranks, (uint64_t)k->seen, 0};
        if (!may_be_half(m, k) || (k->state != NSC_INCOMPLETE && k->state != NSC_FAILED))
            continue;
        key.c = (uint64_t)m->ranks.item[m->members.item[k->first]].rank;
        h->next[i] = nsc_map_get(&h->first, key);
        fine = !nsc_map_put(&h->first, key, i);
    }
    return fine;
}

static int64_t lowest_missing(const struct ncclscope_model *m, const struct nsc_comm *k)
{
    int64_t rank = 0;
    for (uint32_t i = 0; i < k->count; i++)
        rank += m->ranks.item[m->members.item[k->first + i]].rank == rank;
    return rank;
}

uint32_t nsc_other_half(const struct ncclscope_model *m, const struct nsc_halves *h, uint32_t comm)
{
    const struct nsc_comm *k = &m->comms.item[comm];
    struct nsc_key key = {(uint64_t)k->nranks, (uint64_t)(k->nranks - k->seen), (uint64_t)lowest_missing(m, k)};
    for (uint32_t i = may_be_half(m, k) ? nsc_map_get(&h->first, key) : NSC_NONE; i != NSC_NONE; i = h->next[i]) {
        const struct nsc_comm *x = &m->comms.item[i];
        bool waits = i != comm;
        for (uint32_t n = 0; waits && n < x->count; n++)
            waits = !has_place(m, k, m->ranks.item[m->members.item[x->first + n]].rank);
        if (waits)
            return i;
    }
    return NSC_NONE;
}

void nsc_free_halves(struct nsc_halves *h)
{
    nsc_map_free(&h->first);
    nsc_free(h->next);
}

const struct nsc_rank *nsc_that_says_its_release(const struct ncclscope_model *m, uint32_t comm)
{
    const struct nsc_comm *k = &m->comms.item[comm];
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        if (nsc_version_of(m, r->proc).how == NSC_VERSION_SAID)
            return r;
    }
    return NULL;
}

static uint32_t source_of(const struct ncclscope_model *m, uint32_t comm)
{
    return m->procs.item[m->ranks.item[m->members.item[m->comms.item[comm].first]].proc].source;
}

bool nsc_halves_are_together(const struct ncclscope_model *m, uint32_t one, uint32_t other)
{
    uint32_t a = source_of(m, one), b = source_of(m, other);
    bool together = a == b;
    for (size_t i = 0; i < m->warnings.len && !together; i++)
        together = m->warnings.item[i].broke &&
                   (m->warnings.item[i].where.source == a || m->warnings.item[i].where.source == b);
    return together;
}

bool nsc_halves_are_apart(const struct ncclscope_model *m, uint32_t one, uint32_t other)
{
    const struct nsc_rank *a = nsc_that_says_its_release(m, one), *b = nsc_that_says_its_release(m, other);
    return a && b && nsc_halves_are_together(m, one, other) &&
           nsc_version_of(m, a->proc).low != nsc_version_of(m, b->proc).low;
}
