/* printers.c - of links whose communicator no line names: which process prints for which rank; of ranks that print nothing: on which host
 * they are. */
#include "model/path.h"

enum { SEVERAL = UINT32_MAX - 1 };

static void note_printer(struct ncclscope_model *m, const struct nsc_link *l)
{
    struct nsc_key key = {m->procs.item[l->proc].source, (uint64_t)l->printer, 0};
    uint32_t seen = nsc_map_get(&m->printed_on, key);
    if (nsc_map_put(&m->printed_on, key, seen == NSC_NONE || seen == l->proc ? l->proc : SEVERAL))
        m->no_memory = true;
}

/* Does the launcher number processes as the communicator numbers ranks: two that print connections at least, and none otherwise? */
static bool launcher_numbers_ranks(const struct ncclscope_model *m)
{
    uint64_t alike = 0, other = 0;
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        int64_t said = l->rank == NSC_NONE && l->proc != NSC_NONE ? m->procs.item[l->proc].launcher_rank : -1;
        alike += said >= 0 && said == l->printer && l->printer > 0;
        other += said >= 0 && said != l->printer;
    }
    return alike > 1 && !other;
}

/* "[1,7]<stdout>:node2:...": where the ranks are that print no connection. */
static void note_launched(struct ncclscope_model *m)
{
    bool numbered = launcher_numbers_ranks(m);
    for (size_t i = 0; numbered && i < m->procs.len; i++) {
        const struct nsc_proc *p = &m->procs.item[i];
        struct nsc_key key = {p->source, (uint64_t)p->launcher_rank, 0};
        if (p->launcher_rank >= 0 && !p->nameless && nsc_map_get(&m->printed_on, key) == NSC_NONE &&
            nsc_map_put(&m->printed_on, key, (uint32_t)i))
            m->no_memory = true;
    }
}

/* P2P and host memory stay within a host: so a rank is on that of its peer. */
static void note_peer(struct ncclscope_model *m, const struct nsc_link *l, uint64_t rank)
{
    uint32_t comm = nsc_comm_of(m, l);
    uint64_t of_source = comm == NSC_NONE ? 1 + (uint64_t)m->procs.item[l->proc].source : 0;
    if ((comm == NSC_NONE || !nsc_member(m, comm, (int64_t)rank)) &&
        nsc_map_put(&m->placed_on, (struct nsc_key){comm, rank, of_source}, l->proc))
        m->no_memory = true;
}

/* Lines that were picked out of one host's, without one of a communicator: as many processes as ranks are named, so each is one of them. On
 * a host of that name elsewhere the bus ids, or indices, would meet: whoever asks looks at them. */
static void note_all_of_host(struct ncclscope_model *m)
{
    uint64_t highest = 0;
    uint32_t n = 0, one = NSC_NONE;
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        if (l->rank != NSC_NONE || l->proc == NSC_NONE)
            return;
        highest = l->src > highest ? l->src : highest;
        highest = l->dst > highest ? l->dst : highest;
    }
    for (size_t i = 0; i < m->procs.len; i++) {
        const struct nsc_proc *p = &m->procs.item[i];
        if (p->nameless || p->merged_into != NSC_NONE || !p->records)
            continue;
        if (one != NSC_NONE && m->procs.item[one].host != p->host)
            return;
        one = (uint32_t)i;
        n++;
    }
    m->one_host_of_all = m->links.len && n > 1 && n == highest + 1;
}

/* Under which GPU a process prints the lines of a rank, and on which host, where no line tells of communicators. */
void nsc_find_printers(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        bool bare = l->rank == NSC_NONE && l->proc != NSC_NONE && l->printer >= 0 && l->dev <= INT32_MAX;
        if (bare)
            note_printer(m, l);
        if (bare && l->dev >= 0 &&
            nsc_map_put(&m->printed_by, (struct nsc_key){l->proc, (uint64_t)l->printer, 0}, (uint32_t)l->dev))
            m->no_memory = true;
        if (l->proc != NSC_NONE && (l->family == NSC_SHM || (l->family == NSC_P2P && l->row != NSC_VIA_P2P_MNNVL))) {
            note_peer(m, l, l->src);
            note_peer(m, l, l->dst);
        }
    }
    note_launched(m);
    note_all_of_host(m);
}

/* Lines that were picked out, without one of a communicator: does one process print both ends of the link, under two of its GPUs? */
bool nsc_is_within_process(const struct ncclscope_model *m, const struct nsc_link *l)
{
    if (l->rank != NSC_NONE || l->proc == NSC_NONE || !m->printed_by.used)
        return false;
    uint32_t src = nsc_map_get(&m->printed_by, (struct nsc_key){l->proc, l->src, 0}),
             dst = nsc_map_get(&m->printed_by, (struct nsc_key){l->proc, l->dst, 0});
    return src != NSC_NONE && dst != NSC_NONE && src != dst;
}

uint32_t nsc_printer_of(const struct ncclscope_model *m, const struct nsc_link *l, uint64_t rank)
{
    struct nsc_key key = {l->proc == NSC_NONE ? 0 : m->procs.item[l->proc].source, rank, 0};
    uint32_t proc = l->rank != NSC_NONE || l->proc == NSC_NONE ? NSC_NONE : nsc_map_get(&m->printed_on, key);
    return proc < m->procs.len ? proc : NSC_NONE;
}
