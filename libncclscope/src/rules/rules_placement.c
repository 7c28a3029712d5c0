/* rules_placement.c - groups of ranks that cross nodes, and need not. */
#include "rules/ask.h"

/* By host: the most ranks that one communicator has there, so many GPUs at least. */
static void count_gpus(const struct ncclscope_model *m, struct nsc_map *most)
{
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        struct nsc_map here = {0};
        for (uint32_t n = 0; n < k->count; n++) {
            struct nsc_key key = {m->procs.item[m->ranks.item[m->members.item[k->first + n]].proc].host, 0, 0};
            uint32_t before = nsc_map_get(&here, key), all = nsc_map_get(most, key);
            uint32_t now = before == NSC_NONE ? 1 : before + 1;
            nsc_map_put(&here, key, now);
            if (all == NSC_NONE || now > all)
                nsc_map_put(most, key, now);
        }
        nsc_map_free(&here);
    }
}

/* Is this rank's GPU in another pair of neighbours too, with somebody else? So are the stages of a pipeline joined, each to the next. */
static bool is_in_other_pair(const struct ncclscope_model *m, const struct nsc_rank *r, uint32_t comm)
{
    const struct nsc_rank *mate = NULL;
    for (uint32_t n = 0; n < m->comms.item[comm].count; n++) {
        const struct nsc_rank *x = &m->ranks.item[m->members.item[m->comms.item[comm].first + n]];
        mate = x == r ? mate : x;
    }
    for (uint32_t i = m->procs.item[r->proc].last_rank; mate && i != NSC_NONE; i = m->ranks.item[i].before) {
        const struct nsc_rank *same = &m->ranks.item[i];
        const struct nsc_comm *k = same->comm == NSC_NONE ? NULL : &m->comms.item[same->comm];
        if (!k || same->comm == comm || same->cuda_dev != r->cuda_dev || k->shape != NSC_SHAPE_PAIR || k->stride != 1)
            continue;
        for (uint32_t n = 0; n < k->count; n++) {
            const struct nsc_rank *other = &m->ranks.item[m->members.item[k->first + n]];
            if (other != same && (other->proc != mate->proc || other->cuda_dev != mate->cuda_dev))
                return true;
        }
    }
    return false;
}

static bool is_of_pipeline(const struct ncclscope_model *m, uint32_t comm)
{
    const struct nsc_comm *k = &m->comms.item[comm];
    for (uint32_t n = 0; k->shape == NSC_SHAPE_PAIR && n < k->count; n++)
        if (is_in_other_pair(m, &m->ranks.item[m->members.item[k->first + n]], comm))
            return true;
    return false;
}

/* Neighbours, as tensor parallelism groups them, on more than one host, of which one has room for all of them. */
static bool could_stay(const struct ncclscope_model *m, const struct nsc_comm *k, const struct nsc_map *most)
{
    bool neighbours = (k->shape == NSC_SHAPE_CONSECUTIVE && k->tiles) || (k->shape == NSC_SHAPE_PAIR && k->stride == 1);
    nsc_str first = neighbours ? m->procs.item[m->ranks.item[m->members.item[k->first]].proc].host : 0;
    bool crosses = false, room = false;
    for (uint32_t n = 0; first && !k->shared_names && n < k->count; n++) {
        nsc_str host = m->procs.item[m->ranks.item[m->members.item[k->first + n]].proc].host;
        uint32_t gpus = nsc_map_get(most, (struct nsc_key){host, 0, 0});
        crosses = crosses || host != first;
        room = room || (gpus != NSC_NONE && gpus >= (uint64_t)k->nranks);
    }
    return crosses && room;
}

void nsc_rule_group_crosses_nodes(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map most = {0};
    struct nsc_finding *f = NULL;
    count_gpus(m, &most);
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        if (!could_stay(m, k, &most) || is_of_pipeline(m, (uint32_t)i))
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "configuration", "likely");
            f->comm = (uint32_t)i;
            nsc_explain_by(c, f, 0);
        }
        f->count++;
        for (uint32_t n = 0; n < k->count; n++) {
            const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + n]];
            nsc_name_host(c, f, m->procs.item[r->proc].host);
            if (f->count == 1)
                nsc_show(c, f, &r->first);
        }
        f->title = nsc_words(c,
                             "%llu communicator%s of neighbouring ranks (%lld in the first) cross%s hosts, though one "
                             "host has room for all of them",
                             (unsigned long long)f->count, f->count == 1 ? "" : "s",
                             (long long)m->comms.item[f->comm].nranks, f->count == 1 ? "es" : "");
    }
    nsc_map_free(&most);
}

/* "vm gpu 60": the GPUs that several ranks of a communicator run on. */
void nsc_rule_shared_gpu(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    struct nsc_map gpus = {0};
    const struct nsc_env *env = nsc_env_is(m, NSC_NONE, "NCCL_MULTI_RANK_GPU_ENABLE", "1");
    bool refused = nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_DUPLICATE_GPU) != NULL; /* a finding of its own */
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (!r->shares_gpu || refused || (f && f->comm != r->comm))
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "by-design", "certain");
            f->comm = r->comm;
        }
        nsc_map_put(&gpus, nsc_gpu_key(m, r), 0);
        nsc_name_rank(c, f, (uint64_t)r->rank);
        nsc_name_host(c, f, m->procs.item[r->proc].host);
        nsc_show(c, f, &r->first);
    }
    if (f) {
        f->count = f->ranks.len;
        f->title =
            nsc_words(c, "%zu ranks run on %llu GPU%s (%s): between ranks of one GPU there is no link", f->ranks.len,
                      (unsigned long long)gpus.used, gpus.used == 1 ? "" : "s", nsc_list_ranks(c, f));
        nsc_explain_by(c, f, env ? NSC_SHARED_ASKED : NSC_SHARED_SLICES);
        nsc_show_first(c, f, env ? &env->where : NULL);
    }
    nsc_map_free(&gpus);
}
