/* rules_confirm.c - findings of what confirm.c makes of each pair: one for each verdict and reason. */
#include "rules/confirm.h"

#include <stdio.h>

/* "GPUs 0 and 3": of the first pair. */
static void name(struct nsc_case *c, struct nsc_finding *f, const struct nsc_confirmed *x)
{
    if (!f->count)
        f->comm = x->comm;
    if (x->comm == f->comm) {
        nsc_name_pair(c, f, x->a, x->b);
        nsc_name_rank(c, f, x->a);
        nsc_name_rank(c, f, x->b);
    }
    if (x->link->proc != NSC_NONE)
        nsc_name_host(c, f, c->m->procs.item[x->link->proc].host);
    nsc_show(c, f, &x->link->where);
    if (x->line)
        nsc_show_first(c, f, x->line);
    f->count++;
}

static const struct {
    int severity;
    const char *cls;
} words[NSC_CONFIRMATIONS] = {
    [NSC_CONTRADICTED] = {NCCLSCOPE_SEVERITY_ERROR, "unknown"},
    [NSC_FALLBACK] = {NCCLSCOPE_SEVERITY_WARNING, "fault"},
    [NSC_SLOWER] = {NCCLSCOPE_SEVERITY_WARNING, "configuration"},
    [NSC_STALE] = {NCCLSCOPE_SEVERITY_WARNING, "unknown"},
    [NSC_AS_GOOD] = {NCCLSCOPE_SEVERITY_NOTE, "by-design"},
};

/* Do two host names of one machine have several ranks each, so that part of the way is not over the network? */
static bool joins_groups(const struct nsc_case *c, const struct nsc_confirmed *x)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_rank *a = nsc_member(m, x->comm, (int64_t)x->a), *b = nsc_member(m, x->comm, (int64_t)x->b);
    return a && b && a->on_host > 1 && m->procs.item[a->proc].host != m->procs.item[b->proc].host;
}

/* By what was measured on this machine: NCCL itself if it ran on both paths, else copies. NULL: nothing was. */
static const char *measured_cost(struct nsc_case *c, const struct nsc_confirmed *x)
{
    bool shm = x->link->family == NSC_SHM;
    if (x->run[0] && !joins_groups(c, x)) { /* all of such a run went over the network */
        double factor = (double)x->run[0]->mb_s.v / (double)x->run[1]->mb_s.v;
        return nsc_words(c,
                         "%.*fx in NCCL's own all-reduce of %lld MiB by %lld GPUs of this machine (%.1f against %.1f "
                         "GB/s bus bandwidth, %s)",
                         factor < 2    ? 2
                         : factor < 20 ? 1
                                       : 0,
                         factor, (long long)x->run[0]->bytes.v / (1024 * 1024), (long long)x->run[1]->ranks.v,
                         (double)x->run[1]->mb_s.v / 1000, (double)x->run[0]->mb_s.v / 1000, x->run[1]->arm);
    }
    if (!x->mb_s[0] || !x->mb_s[1] || x->is != NSC_FALLBACK)
        return NULL;
    return nsc_words(c, "%s%.1fx: copies measured on this machine have %.1f GB/s through host memory and %.1f by P2P%s",
                     shm ? "" : "more than ", (double)x->mb_s[0] / (double)x->mb_s[1], (double)x->mb_s[1] / 1000,
                     (double)x->mb_s[0] / 1000, shm ? "" : ", and the network is slower still");
}

/* No figure is recorded of RDMA inside one machine. */
static void set_cost(struct nsc_case *c, struct nsc_finding *f, const struct nsc_confirmed *x)
{
    const char *own = measured_cost(c, x);
    enum nsc_path_cost slow = x->link->family == NSC_SHM   ? NSC_COST_SHM
                              : x->link->family == NSC_P2P ? x->link->copy_engine ? NSC_COST_COPY_ENGINE : NSC_COST_READ
                              : joins_groups(c, x)         ? NSC_COST_SOCKET
                                                           : NSC_COST_LOOPBACK;
    if (x->link->family != NSC_NET || x->path == NSC_PATH_SOCKET)
        nsc_set_cost(c, f, slow, NSC_COST_P2P, x->link->proc);
    if (own)
        f->cost = f->cost ? nsc_words(c, "%s. Elsewhere: %s", own, f->cost) : own;
}

/* The finding that the log alone gives of the same connections. */
static enum nsc_id root_of(struct nsc_case *c, const struct nsc_confirmed *x)
{
    enum nsc_id id = x->link->family == NSC_SHM ? NSC_ID_TRANSPORT_SHM_WITHIN_NODE
                     : x->link->family == NSC_P2P
                         ? x->link->copy_engine ? NSC_ID_TRANSPORT_P2P_COPY_ENGINE : NSC_ID_TRANSPORT_P2P_READ
                     : nsc_is_pods_doing(c) ? NSC_ID_TRANSPORT_POD_PER_GPU
                                            : NSC_ID_TRANSPORT_NET_WITHIN_NODE;
    return nsc_raised(c, id) ? id : NSC_ID_NONE;
}

static struct nsc_finding *begin(struct nsc_case *c, const struct nsc_confirmed *x)
{
    struct nsc_finding *f =
        nsc_found(c, words[x->is].severity, x->is == NSC_FALLBACK && x->configured ? "configuration" : words[x->is].cls,
                  x->confidence);
    f->cause = x->why;
    if (x->is == NSC_FALLBACK || x->is == NSC_SLOWER) {
        set_cost(c, f, x);
        f->caused_by = root_of(c, x);
    }
    if (x->is == NSC_AS_GOOD)
        f->fix = "Nothing to mend.";
    return f;
}

static void tell(struct nsc_case *c, enum nsc_confirmation is)
{
    nsc_confirm(c);
    struct nsc_confirmed *list = c->f->confirmed.item;
    for (size_t i = 0; i < c->f->confirmed.len; i++) {
        bool first = list[i].is == is;
        for (size_t k = 0; k < i && first; k++)
            first = !nsc_is_alike(&list[k], &list[i]);
        if (!first)
            continue;
        struct nsc_finding *f = begin(c, &list[i]);
        for (size_t k = i; k < c->f->confirmed.len; k++) {
            if (!nsc_is_alike(&list[k], &list[i]))
                continue;
            name(c, f, &list[k]);
            list[k].cost = f->cost;
        }
        f->title = nsc_words(c, "%llu pair%s of GPUs: %s", (unsigned long long)f->count, f->count == 1 ? "" : "s",
                             nsc_confirmation_words(is));
    }
}

void nsc_rule_confirmed(struct nsc_case *c)
{
    tell(c, NSC_FALLBACK);
    tell(c, NSC_SLOWER);
    tell(c, NSC_AS_GOOD);
}

void nsc_rule_contradicts(struct nsc_case *c)
{
    tell(c, NSC_CONTRADICTED);
}

void nsc_rule_stale(struct nsc_case *c)
{
    tell(c, NSC_STALE);
}
