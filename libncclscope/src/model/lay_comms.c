/* lay_comms.c - communicators, their ranks, rings and trees, and the connections, as rows. */
#include "model/lay.h"

#include <stdio.h>

/* The words of columns.def are those of the model's own numbers: one that moves does not compile. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME(NSC_P2P, NCCLSCOPE_TRANSPORT_P2P);
SAME(NSC_SHM, NCCLSCOPE_TRANSPORT_SHM);
SAME(NSC_NET, NCCLSCOPE_TRANSPORT_NET);
SAME(NSC_COLLNET, NCCLSCOPE_TRANSPORT_COLLNET);
SAME(NSC_PATH_SAME_GPU, NCCLSCOPE_PATH_SAME_GPU);
SAME(NSC_PATH_NVLINK, NCCLSCOPE_PATH_NVLINK);
SAME(NSC_PATH_P2P, NCCLSCOPE_PATH_P2P);
SAME(NSC_PATH_PCIE, NCCLSCOPE_PATH_PCIE);
SAME(NSC_PATH_SHM, NCCLSCOPE_PATH_SHM);
SAME(NSC_PATH_NET_GDR, NCCLSCOPE_PATH_NET_GDR);
SAME(NSC_PATH_NET, NCCLSCOPE_PATH_NET);
SAME(NSC_PATH_SOCKET, NCCLSCOPE_PATH_SOCKET);
SAME(NSC_PATH_COLLNET, NCCLSCOPE_PATH_COLLNET);
SAME(NSC_PATH_UNKNOWN, NCCLSCOPE_PATH_UNKNOWN);
SAME(NSC_PROOF_NONE, NCCLSCOPE_PROOF_NONE);
SAME(NSC_PROOF_INFERRED, NCCLSCOPE_PROOF_INFERRED);
SAME(NSC_PROOF_STATED, NCCLSCOPE_PROOF_STATED);
SAME(NSC_SCOPE_NODE, NCCLSCOPE_SCOPE_NODE);
SAME(NSC_SCOPE_CLUSTER, NCCLSCOPE_SCOPE_CLUSTER);
SAME(NSC_UNKNOWN_COMM, NCCLSCOPE_ATTRIBUTION_UNKNOWN);
SAME(NSC_AMBIGUOUS, NCCLSCOPE_ATTRIBUTION_AMBIGUOUS);
SAME(NSC_INFERRED, NCCLSCOPE_ATTRIBUTION_INFERRED);
SAME(NSC_STATED, NCCLSCOPE_ATTRIBUTION_STATED);
SAME(NSC_POSSIBLE, NCCLSCOPE_CONFIDENCE_POSSIBLE);
SAME(NSC_LIKELY, NCCLSCOPE_CONFIDENCE_LIKELY);
SAME(NSC_CERTAIN, NCCLSCOPE_CONFIDENCE_CERTAIN);
SAME(NSC_COMPLETE, NCCLSCOPE_COMM_STATE_COMPLETE);
SAME(NSC_PARTIAL, NCCLSCOPE_COMM_STATE_PARTIAL);
SAME(NSC_INCOMPLETE, NCCLSCOPE_COMM_STATE_INCOMPLETE);
SAME(NSC_FAILED, NCCLSCOPE_COMM_STATE_FAILED);
SAME(NSC_ABORTED, NCCLSCOPE_COMM_STATE_ABORTED);
SAME(NSC_SHAPE_ALL, NCCLSCOPE_SHAPE_ALL);
SAME(NSC_SHAPE_CONSECUTIVE, NCCLSCOPE_SHAPE_CONSECUTIVE);
SAME(NSC_SHAPE_STRIDED, NCCLSCOPE_SHAPE_STRIDED);
SAME(NSC_SHAPE_PAIR, NCCLSCOPE_SHAPE_PAIR);
SAME(NSC_SHAPE_OTHER, NCCLSCOPE_SHAPE_OTHER);

/* ---- communicators ---- */

static const struct nsc_rank *member(const struct nsc_laying *l, const struct nsc_comm *c, uint32_t i)
{
    return &l->m->ranks.item[l->m->members.item[c->first + i]];
}

static int64_t crosses_hosts(const struct nsc_laying *l, const struct nsc_comm *c)
{
    for (uint32_t i = 1; i < c->count; i++)
        if (l->m->procs.item[member(l, c, i)->proc].host != l->m->procs.item[member(l, c, 0)->proc].host)
            return 1;
    return c->seen == c->nranks && !c->shared_names ? 0 : -1;
}

/* By number, the first LISTED of them; returns how many more there are. */
static int64_t lay_missing(struct nsc_laying *l, const struct nsc_comm *c, int64_t row)
{
    enum { LISTED = 65536 };
    uint32_t i = 0;
    int64_t more = c->nranks > LISTED ? c->nranks - LISTED : 0, last = LISTED - 1;
    for (int64_t rank = 0; rank < c->nranks && rank < LISTED; rank++) {
        while (i < c->count && member(l, c, i)->rank < rank)
            i++;
        if (i < c->count && member(l, c, i)->rank == rank)
            continue;
        ncclscope_missing_rank *r = nsc_row_new(l->to, missing_rank);
        r->comm = row;
        r->rank = rank;
    }
    for (; more && i < c->count; i++) {
        int64_t rank = member(l, c, i)->rank;
        more -= rank > last && rank < c->nranks;
        last = rank > last ? rank : last;
    }
    return more;
}

static void lay_rank(struct nsc_laying *l, const struct nsc_rank *x, int64_t comm)
{
    const struct nsc_proc *p = &l->m->procs.item[x->proc];
    char pointer[24];
    ncclscope_rank *r = nsc_row_new(l->to, rank);
    snprintf(pointer, sizeof pointer, "0x%llx", (unsigned long long)x->pointer);
    r->comm = comm;
    r->rank = x->rank;
    r->process = l->process[x->proc];
    r->host = nsc_say(l->m, p->host);
    r->pid = p->pid;
    r->pointer = x->pointer ? nsc_lay_kept(l, pointer) : (nsc_text){NULL, 0};
    r->cuda_dev = nsc_if_said(x->cuda_dev);
    r->nvml_dev = nsc_if_said(x->nvml_dev);
    r->bus_id = nsc_lay_text(l, x->bus_id);
    r->local_rank = nsc_if_said(x->local_rank);
    r->local_ranks = nsc_if_said(x->local_ranks);
    if (x->init_seconds >= 0)
        r->init_seconds = x->init_seconds;
    r->state = x->aborted.line  ? NCCLSCOPE_RANK_STATE_ABORTED
               : nsc_is_done(x) ? NCCLSCOPE_RANK_STATE_COMPLETE
                                : NCCLSCOPE_RANK_STATE_INCOMPLETE;
}

static void lay_comm(struct nsc_laying *l, const struct nsc_comm *c)
{
    const struct nsc_rank *first = member(l, c, 0);
    int64_t row = nsc_row_next(l->to, comm);
    ncclscope_comm *r = nsc_row_new(l->to, comm);
    r->id = nsc_say(l->m, c->id);
    r->members = c->seen;
    r->nranks = c->nranks;
    r->nnodes = nsc_if_said(c->nnodes);
    r->parent = c->parent == NSC_NONE ? (nsc_text){NULL, 0} : nsc_say(l->m, l->m->comms.item[c->parent].id);
    r->state = c->state;
    r->made_by = nsc_lay_text(l, first->made_by);
    r->shape = c->shape ? c->shape : NCCLSCOPE_UNSAID;
    r->shape_by = c->shape ? NCCLSCOPE_HOW_INFERRED : NCCLSCOPE_UNSAID;
    r->stride = c->stride > 0 ? c->stride : NCCLSCOPE_UNSAID;
    r->crosses_hosts = crosses_hosts(l, c);
    r->worst_path = nsc_if_said(c->worst_path);
    r->coll = nsc_if_said(first->coll);
    r->collnet = nsc_if_said(first->collnet);
    r->nvls = nsc_if_said(first->nvls);
    r->p2p = nsc_if_said(first->p2p);
    r->p2p_per_peer = nsc_if_said(first->per_peer);
    r->missing_ranks_more = lay_missing(l, c, row);
    for (uint32_t i = 0; i < c->count; i++)
        lay_rank(l, member(l, c, i), row);
}

void nsc_lay_comms(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->comms.len; i++) {
        l->m->comms.item[i].row = l->m->comms.item[i].count ? nsc_row_next(l->to, comm) : NCCLSCOPE_UNSAID;
        if (l->m->comms.item[i].count)
            lay_comm(l, &l->m->comms.item[i]);
    }
}

static int64_t comm_row(const struct nsc_laying *l, uint32_t rank)
{
    uint32_t comm = rank == NSC_NONE ? NSC_NONE : l->m->ranks.item[rank].comm;
    return comm == NSC_NONE ? NCCLSCOPE_UNSAID : l->m->comms.item[comm].row;
}

/* Rings and trees of the model lie by communicator. */
void nsc_lay_rings(struct nsc_laying *l)
{
    const struct ncclscope_model *m = l->m;
    for (size_t i = 0; i < m->rings.len; i++) {
        const struct nsc_ring *x = &m->rings.item[i];
        int64_t comm = comm_row(l, x->rank), row = nsc_row_next(l->to, ring), n = 0, rank;
        if (comm == NCCLSCOPE_UNSAID)
            continue;
        ncclscope_ring *r = nsc_row_new(l->to, ring);
        nsc_text text = nsc_say(m, x->ranks), word;
        r->comm = comm;
        r->channel = (int64_t)x->channel;
        while ((word = nsc_next_word(&text)).len && nsc_to_i64(word, &rank)) { /* "...": NCCL cut the list */
            ncclscope_ring_rank *k = nsc_row_new(l->to, ring_rank);
            k->ring = row;
            k->rank = rank;
            n++;
        }
        r->truncated = word.len || n < m->comms.item[m->ranks.item[x->rank].comm].nranks;
    }
}

void nsc_lay_trees(struct nsc_laying *l)
{
    const struct ncclscope_model *m = l->m;
    for (size_t i = 0; i < m->trees.len; i++) {
        const struct nsc_tree *x = &m->trees.item[i];
        int64_t comm = comm_row(l, x->rank), row = nsc_row_next(l->to, tree), rank;
        if (comm == NCCLSCOPE_UNSAID)
            continue;
        ncclscope_tree *r = nsc_row_new(l->to, tree);
        r->comm = comm;
        r->channel = (int64_t)x->channel;
        r->rank = m->ranks.item[x->rank].rank;
        r->up = nsc_if_said(x->up);
        for (nsc_text down = nsc_say(m, x->down); down.len;) {
            const char *slash = memchr(down.ptr, '/', down.len);
            nsc_text one = {down.ptr, slash ? (size_t)(slash - down.ptr) : down.len};
            if (nsc_to_i64(one, &rank) && rank >= 0) {
                ncclscope_tree_down *d = nsc_row_new(l->to, tree_down);
                d->tree = row;
                d->rank = rank;
            }
            down = nsc_text_from(down, one.len + (slash ? 1 : 0));
        }
    }
}

/* ---- connections ---- */

static int64_t mode_of(const struct nsc_link *x)
{
    if (x->family != NSC_P2P && !(x->family == NSC_SHM && x->copy_engine))
        return NCCLSCOPE_UNSAID;
    return x->copy_engine ? NCCLSCOPE_MODE_COPY_ENGINE : x->read ? NCCLSCOPE_MODE_READ : NCCLSCOPE_MODE_WRITE;
}

static void lay_channels(struct nsc_laying *l, const struct nsc_link *x, int64_t link)
{
    for (unsigned c = 0; c < NSC_CHANNEL_WORDS * 64; c++) {
        if (!(((x->channels[0][c / 64] | x->channels[1][c / 64]) >> (c % 64)) & 1))
            continue;
        ncclscope_link_channel *r = nsc_row_new(l->to, link_channel);
        r->link = link;
        r->channel = c;
    }
}

void nsc_lay_links(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->link_order.len; i++) {
        const struct nsc_link *x = &l->m->links.item[l->m->link_order.item[i]];
        struct nsc_known_path p = x->known;
        lay_channels(l, x, nsc_row_next(l->to, link));
        ncclscope_link *r = nsc_row_new(l->to, link);
        r->comm = comm_row(l, x->rank);
        r->attribution = x->attribution;
        if (x->attribution == NSC_AMBIGUOUS)
            r->other_comm = comm_row(l, x->other);
        r->src = (int64_t)x->src;
        r->dst = (int64_t)x->dst;
        r->direction = x->direction ? x->direction : NCCLSCOPE_UNSAID;
        r->via = nsc_say(l->m, x->via);
        r->transport = x->family;
        r->mode = mode_of(x);
        r->network = nsc_lay_text(l, x->network);
        r->net_dev = nsc_if_said(x->net_dev);
        r->proxy_rank = nsc_if_said(x->proxy_rank);
        r->gdrdma = x->gdrdma;
        r->lines = (int64_t)x->lines;
        r->scope = (int64_t)p.scope;
        r->path = (int64_t)p.path;
        r->proof = (int64_t)p.proof;
        r->source = x->where.source;
        r->line = (int64_t)x->where.line;
    }
}
