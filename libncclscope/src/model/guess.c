/* guess.c - communicators whose ranks could have been put together otherwise. */
#include "model/model.h"

/* Its members by rank and GPU, of communicators that print no id. */
static struct nsc_key role_of(const struct nsc_rank *r)
{
    return (struct nsc_key){(uint64_t)r->nranks, (uint64_t)r->rank, r->bus_id};
}

/* 60 pairs of one process each on two hosts, all at once, and all say "0[1a000] -> 1[1a000]": which are two of a pair no line tells. */
void nsc_mark_guesses(struct ncclscope_model *m)
{
    enum { MANY = NSC_NONE - 1 };
    struct nsc_map holder = {0}; /* of a role: its process, or MANY */
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->comm == NSC_NONE || r->comm_id || r->nranks < 2 || nsc_say(m, m->comms.item[r->comm].id).ptr[0] != '?')
            continue;
        uint32_t proc = nsc_map_get(&holder, role_of(r));
        if (nsc_map_put(&holder, role_of(r), proc == NSC_NONE || proc == r->proc ? r->proc : MANY))
            m->no_memory = true;
    }
    for (size_t i = 0; i < m->comms.len; i++) {
        bool many = false, apart = false;
        nsc_str host = 0;
        for (uint32_t k = m->comms.item[i].last_member; k != NSC_NONE; k = m->ranks.item[k].next_member) {
            nsc_str its = m->procs.item[m->ranks.item[k].proc].host;
            many = many || nsc_map_get(&holder, role_of(&m->ranks.item[k])) == MANY;
            apart = apart || (host && its != host);
            host = its;
        }
        m->comms.item[i].guessed = many && apart;
    }
    nsc_map_free(&holder);
}
