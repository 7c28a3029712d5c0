/* readers.c - which processes read from GPUs, and whether NCCL chose that or a variable. */
#include "model/path.h"

/* The variable would make all of them read, or none. */
bool nsc_reads_some(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_proc *p = &m->procs.item[proc];
    return p->p2p_reads && p->p2p_writes && !p->rccl;
}

/* The variables of the processes of a host: some are shown, and none is NCCL_P2P_READ_ENABLE. They were started alike. */
static void find_unforced(struct ncclscope_model *m)
{
    enum { SHOWN, FORCED };
    struct nsc_map hosts = {0};
    for (uint32_t i = 0; i < m->procs.len; i++) {
        struct nsc_key shown = {m->procs.item[i].host, SHOWN, 0}, forced = {m->procs.item[i].host, FORCED, 0};
        bool failed = (nsc_env_is_visible(m, i) && nsc_map_put(&hosts, shown, 0)) ||
                      (nsc_env_of(m, i, "NCCL_P2P_READ_ENABLE") && nsc_map_put(&hosts, forced, 0));
        m->no_memory = m->no_memory || failed;
    }
    for (size_t i = 0; i < m->procs.len; i++)
        m->procs.item[i].read_unforced =
            nsc_map_get(&hosts, (struct nsc_key){m->procs.item[i].host, SHOWN, 0}) != NSC_NONE &&
            nsc_map_get(&hosts, (struct nsc_key){m->procs.item[i].host, FORCED, 0}) == NSC_NONE;
    nsc_map_free(&hosts);
}

bool nsc_reads_by_itself(const struct ncclscope_model *m, uint32_t proc)
{
    return nsc_reads_some(m, proc) || m->procs.item[proc].read_unforced;
}

/* A line that lost its process: of one of those that read, each of which does so by itself, as nothing tells of one that was told to. */
static void find_if_all_read(struct ncclscope_model *m)
{
    bool some = false, all = true;
    for (size_t i = 0; i < m->env.len && all; i++)
        all = !nsc_text_is(nsc_say(m, m->env.item[i].name), "NCCL_P2P_READ_ENABLE");
    for (uint32_t i = 0; i < m->procs.len; i++) {
        if (!m->procs.item[i].p2p_reads)
            continue;
        some = true;
        all = all && nsc_reads_by_itself(m, i);
    }
    m->readers_choose = some && all;
}

void nsc_find_readers(struct ncclscope_model *m)
{
    find_unforced(m);
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        if (l->family != NSC_P2P || l->proc == NSC_NONE || l->copy_engine || l->row == NSC_VIA_P2P_INDIRECT)
            continue;
        *(l->read ? &m->procs.item[l->proc].p2p_reads : &m->procs.item[l->proc].p2p_writes) = true;
    }
    struct nsc_map hosts = {0}; /* with a process that has both: the others there were started alike */
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].p2p_reads && m->procs.item[i].p2p_writes &&
            nsc_map_put(&hosts, (struct nsc_key){m->procs.item[i].host, 0, 0}, 0))
            m->no_memory = true;
    for (size_t i = 0; hosts.used && i < m->procs.len; i++)
        if (nsc_map_get(&hosts, (struct nsc_key){m->procs.item[i].host, 0, 0}) != NSC_NONE)
            m->procs.item[i].p2p_reads = m->procs.item[i].p2p_writes = true;
    nsc_map_free(&hosts);
    find_if_all_read(m);
}
