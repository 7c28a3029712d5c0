/* shared_gpus.c - ranks that run on one GPU: NCCL 2.30 allows it, and always has on slices of one (MIG). Between them is no link at all. */
#include "read/changes.h"
#include "model/gpus.h"
#include "model/machines.h"
#include "model/path.h"

/* "localRanks 4" counts them on one machine; before an initialisation comes to that line, one address does. */
static bool is_one_node(const struct ncclscope_model *m, const struct nsc_rank *a, const struct nsc_rank *b)
{
    return a->local_ranks > 1 || (a->local_ranks <= 0 && nsc_have_one_address(m, a->proc, b->proc));
}

/* Where releases or slices let ranks share a GPU at all: people replace bus ids before they show a log. Ranks of two machines that have
 * one host name show equal ones too, and NCCL counts those as nodes of their own. */
bool nsc_may_share_gpu(const struct ncclscope_model *m, const struct nsc_rank *a, const struct nsc_rank *b)
{
    bool can = nsc_version_of(m, a->proc).low >= NSC_CHANGE_RANKS_SHARE_GPU || nsc_is_mig(m, a->proc);
    return nsc_shares_by_request(m, a) || (can && is_one_node(m, a, b));
}

/* "0[0] -> 1[0] via P2P/CUMEM": the same NVML index at both ends, from the release on that lets ranks share a GPU. */
static bool is_one_index(const struct ncclscope_model *m, const struct nsc_link *l)
{
    return l->family == NSC_P2P && l->row != NSC_VIA_P2P_MNNVL && l->proc != NSC_NONE && l->src_dev &&
           l->src_dev == l->dst_dev && nsc_version_of(m, l->proc).low >= NSC_CHANGE_RANKS_SHARE_GPU;
}

static void find_ranks(struct ncclscope_model *m, const struct nsc_comm *c, struct nsc_map *first)
{
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t at = m->members.item[c->first + i];
        struct nsc_rank *r = &m->ranks.item[at];
        struct nsc_key key = {m->procs.item[r->proc].host, r->bus_id, (uint64_t)(c - m->comms.item)};
        uint32_t other = r->bus_id ? nsc_map_get(first, key) : NSC_NONE;
        if (other != NSC_NONE && m->ranks.item[other].rank != r->rank && nsc_may_share_gpu(m, r, &m->ranks.item[other]))
            r->shares_gpu = m->ranks.item[other].shares_gpu = m->gpus_are_shared = true;
        else if (r->bus_id && other == NSC_NONE && nsc_map_put(first, key, at))
            m->no_memory = true;
    }
}

void nsc_find_shared_gpus(struct ncclscope_model *m)
{
    struct nsc_map first = {0};
    for (size_t i = 0; i < m->comms.len; i++)
        find_ranks(m, &m->comms.item[i], &first);
    nsc_map_free(&first);
    for (size_t i = 0; i < m->links.len; i++) {
        struct nsc_link *l = &m->links.item[i];
        uint32_t comm = nsc_comm_of(m, l);
        const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst);
        l->one_gpu = a && b ? a->shares_gpu && b->shares_gpu && a->bus_id == b->bus_id &&
                                  m->procs.item[a->proc].host == m->procs.item[b->proc].host
                            : is_one_index(m, l);
    }
}

void nsc_find_gpus_of_names(struct ncclscope_model *m)
{
    struct nsc_map first = {0};
    for (size_t i = 0; i < m->ranks.len; i++) {
        struct nsc_rank *r = &m->ranks.item[i];
        uint32_t machine = nsc_machine_of(m, m->procs.item[r->proc].host);
        if (!r->bus_id || r->comm == NSC_NONE || machine == NSC_NONE || m->machines.item[machine].several ||
            m->machines.item[machine].confidence == NSC_POSSIBLE || !nsc_shares_by_request(m, r))
            continue;
        struct nsc_key key = {machine, r->bus_id, r->comm};
        uint32_t other = nsc_map_get(&first, key);
        if (other == NSC_NONE && nsc_map_put(&first, key, (uint32_t)i))
            m->no_memory = true;
        else if (other != NSC_NONE && m->ranks.item[other].rank != r->rank)
            r->shares_gpu = m->ranks.item[other].shares_gpu = m->gpus_are_shared = true;
    }
    nsc_map_free(&first);
}

struct nsc_key nsc_gpu_key(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    nsc_str host = m->procs.item[r->proc].host;
    uint32_t machine = m->gpus_are_shared ? nsc_machine_of(m, host) : NSC_NONE;
    bool one = machine != NSC_NONE && !m->machines.item[machine].several &&
               m->machines.item[machine].confidence != NSC_POSSIBLE;
    return (struct nsc_key){one ? machine : host, r->bus_id, one ? 2 : 0};
}
