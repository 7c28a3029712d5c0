/* fast.c - a bus bandwidth of nccl-tests that no PCIe link carries: then what joins the GPUs is NVLink. */
#include "model/fast.h"

/* PCIe 5.0 x16, nominal, one way (PCI-SIG). GPUs of PCIe 6.0 are sold on boards with NVSwitches. */
static const double most_of_pcie = 63.0;
enum { LARGE = 64 << 20 }; /* bytes: here NCCL takes rings on one host, which carry the bus bandwidth over each edge */

static int count_of(const uint64_t *set)
{
    int n = 0;
    for (size_t i = 0; i < NSC_CHANNEL_WORDS; i++)
        n += __builtin_popcountll(set[i]);
    return n;
}

/* The part of the channels that the pair with the fewest has; 0: there are other paths or algorithms,
 * or it is not one communicator on one host. */
static double least_share(const struct ncclscope_model *m)
{
    uint64_t all[NSC_CHANNEL_WORDS] = {0};
    int least = 0;
    if (m->comms.len > 1 || m->hosts.len != 1)
        return 0;
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        int own = count_of(l->channels[0]);
        if (l->family != NSC_P2P || l->one_gpu || (l->proc != NSC_NONE && nsc_env_of(m, l->proc, "NCCL_ALGO")))
            return 0;
        for (size_t k = 0; k < NSC_CHANNEL_WORDS; k++)
            all[k] |= l->channels[0][k];
        least = own && (!least || own < least) ? own : least;
    }
    return least ? (double)least / count_of(all) : 0;
}

double nsc_bus_bandwidth(const struct nsc_test *t)
{
    return t->sides > 1 && t->busbw[1] > t->busbw[0] ? t->busbw[1] : t->busbw[0];
}

bool nsc_runs_in_rings(const struct ncclscope_model *m, const struct nsc_test *t)
{
    static const char *const names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce_perf", NULL};
    nsc_text name = nsc_say(m, t->collective), op = nsc_say(m, t->redop);
    if (nsc_text_has_any(name, names))
        return true;
    return !name.len && op.len && !nsc_text_is(op, "none");
}

const struct nsc_where *nsc_more_than_pcie(const struct ncclscope_model *m)
{
    const struct nsc_test *best = NULL;
    double most = most_of_pcie;
    for (size_t i = 0; i < m->tests.len; i++) {
        const struct nsc_test *t = &m->tests.item[i];
        double own = t->sides ? nsc_bus_bandwidth(t) : 0;
        if (own > most && t->bytes >= LARGE && nsc_runs_in_rings(m, t)) {
            best = t;
            most = own;
        }
    }
    return best && !m->whole.rccl && most * least_share(m) > most_of_pcie ? &best->where : NULL;
}
