/* lay_rows.c - a finished model as the rows of columns.def. Each function fills one table, or one and the lists that belong to it. */
#include "model/machines.h"
#include "model/path.h"
#include "model/rows.h"

#include <stdio.h>
#include <stdlib.h>

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

/* What the functions below look up in each other's rows. */
struct laying {
    struct ncclscope_model *m;
    struct nsc_rows *to;
    int64_t *process; /* by place in the model: the row, or NCCLSCOPE_UNSAID */
};

static nsc_text say(const struct laying *l, nsc_str s)
{
    return s ? nsc_say(l->m, s) : (nsc_text){NULL, 0};
}

static nsc_text keep(const struct laying *l, const char *text)
{
    return nsc_arena_copy(&l->m->arena, nsc_text_of(text));
}

static void lay_where(int64_t *source, int64_t *line, const struct nsc_where *w)
{
    if (!w->line)
        return;
    *source = w->source;
    *line = (int64_t)w->line;
}

/* ---- what was read ---- */

static void lay_sources(struct laying *l)
{
    for (size_t i = 0; i < l->m->sources.len; i++) {
        const struct nsc_source_info *s = &l->m->sources.item[i];
        ncclscope_source *r = nsc_row_new(l->to, source);
        r->name = nsc_say(l->m, s->name);
        r->format = s->stats.gzip ? NCCLSCOPE_FORMAT_GZIP : NCCLSCOPE_FORMAT_PLAIN;
        r->bytes = (int64_t)s->stats.bytes;
        r->lines = (int64_t)s->stats.lines;
        r->nccl_lines = (int64_t)s->stats.records;
        r->unknown_lines = (int64_t)s->stats.unknown;
        r->torn_lines = (int64_t)s->stats.torn_lines;
        r->cut_lines = (int64_t)s->stats.cut_lines;
        r->truncated = s->stats.truncated != 0;
        r->first_time = say(l, s->first_time);
        r->last_time = say(l, s->last_time);
        r->problem = say(l, s->problem);
    }
}

static int by_via(const void *a, const void *b, void *model)
{
    const struct nsc_count *x = *(const struct nsc_count *const *)a, *y = *(const struct nsc_count *const *)b;
    return nsc_compare(nsc_say(model, x->text), nsc_say(model, y->text));
}

static void lay_connections(struct laying *l)
{
    size_t n = l->m->connections.len;
    const struct nsc_count **list = nsc_alloc((n + 1) * sizeof *list);
    for (size_t i = 0; list && i < n; i++)
        list[i] = &l->m->connections.item[i];
    if (list && n)
        qsort_r(list, n, sizeof *list, by_via, l->m);
    for (size_t i = 0; list && i < n; i++) {
        ncclscope_connection *r = nsc_row_new(l->to, connection);
        r->via = nsc_say(l->m, list[i]->text);
        r->transport = list[i]->family;
        r->gdrdma = list[i]->gdrdma;
        r->lines = (int64_t)list[i]->lines;
        r->repeated = (int64_t)list[i]->repeated;
    }
    nsc_free(list);
}

static void lay_machines(struct laying *l)
{
    for (size_t i = 0; i < l->m->machines.len; i++) {
        const struct nsc_machine *x = &l->m->machines.item[i];
        ncclscope_machine *r = nsc_row_new(l->to, machine);
        r->several = x->several;
        r->confidence = (int64_t)x->confidence;
        r->why = nsc_text_of(x->why);
        lay_where(&r->source, &r->line, &x->where);
    }
}

static void lay_hosts(struct laying *l)
{
    const struct ncclscope_model *m = l->m;
    for (size_t i = 0; i < m->proc_order.len;) {
        nsc_str host = m->procs.item[m->proc_order.item[i]].host;
        ncclscope_host *r = nsc_row_new(l->to, host);
        r->name = nsc_say(m, host);
        uint32_t machine = nsc_machine_of(m, host);
        if (machine != NSC_NONE)
            r->machine = machine;
        for (r->processes = 0; i < m->proc_order.len && m->procs.item[m->proc_order.item[i]].host == host; i++)
            r->processes++;
    }
}

/* ---- processes ---- */

/* Without a line of its initialisation a process's GPUs are those that its connections name behind its ranks. */
static void lay_gpus_of_links(struct laying *l, uint32_t proc, const uint32_t *links, size_t from, size_t to)
{
    enum { MOST = 64 };
    const struct ncclscope_model *m = l->m;
    nsc_str told[MOST];
    size_t n = 0;
    for (size_t i = from; i < to && n < MOST; i++) {
        const struct nsc_link *x = &m->links.item[links[i]];
        enum nsc_brackets brackets = nsc_brackets_of(m, x);
        nsc_str dev = x->direction == 2 ? x->dst_dev : x->src_dev;
        bool known = brackets == NSC_BRACKETS_UNKNOWN;
        int64_t index = -1;
        for (size_t k = 0; k < n; k++)
            known = known || told[k] == dev;
        if (known || (brackets != NSC_BRACKETS_BUS_ID && !nsc_to_i64(nsc_say(m, dev), &index)))
            continue;
        told[n++] = dev;
        ncclscope_process_gpu *r = nsc_row_new(l->to, process_gpu);
        r->process = l->process[proc];
        r->cuda_dev = nsc_if_said(brackets == NSC_BRACKETS_CUDA ? index : -1);
        r->nvml_dev = nsc_if_said(brackets == NSC_BRACKETS_NVML ? index : -1);
        r->bus_id = brackets == NSC_BRACKETS_BUS_ID ? nsc_say(m, dev) : (nsc_text){NULL, 0};
    }
}

/* True: a rank of the process says one. */
static bool lay_gpus_of_ranks(struct laying *l, uint32_t proc, const uint32_t *ranks, size_t from, size_t to)
{
    const struct ncclscope_model *m = l->m;
    bool any = false;
    for (size_t i = from; i < to; i++) {
        const struct nsc_rank *x = &m->ranks.item[ranks[i]];
        bool known = x->cuda_dev < 0 && !x->bus_id;
        for (size_t k = from; !known && k < i; k++)
            known = m->ranks.item[ranks[k]].cuda_dev == x->cuda_dev && m->ranks.item[ranks[k]].bus_id == x->bus_id;
        if (known)
            continue;
        any = true;
        ncclscope_process_gpu *r = nsc_row_new(l->to, process_gpu);
        r->process = l->process[proc];
        r->cuda_dev = nsc_if_said(x->cuda_dev);
        r->nvml_dev = nsc_if_said(x->nvml_dev);
        r->bus_id = say(l, x->bus_id);
    }
    return any;
}

/* Indices of things by their process, each process's in one piece from start[proc] to start[proc + 1], as they came. */
struct by_process {
    uint32_t *item;
    size_t *start;
};

static struct by_process group(const struct ncclscope_model *m, size_t n,
                               uint32_t (*at)(const void *, size_t, uint32_t *))
{
    struct by_process g = {nsc_alloc((n + 1) * sizeof *g.item), nsc_alloc((m->procs.len + 2) * sizeof *g.start)};
    uint32_t index;
    for (size_t i = 0; g.start && i < n; i++) {
        uint32_t proc = at(m, i, &index);
        if (proc != NSC_NONE)
            g.start[proc + 2]++;
    }
    for (size_t i = 2; g.start && i < m->procs.len + 2; i++)
        g.start[i] += g.start[i - 1];
    for (size_t i = 0; g.item && g.start && i < n; i++) {
        uint32_t proc = at(m, i, &index);
        if (proc != NSC_NONE)
            g.item[g.start[proc + 1]++] = index;
    }
    return g;
}

static uint32_t rank_at(const void *model, size_t i, uint32_t *index)
{
    *index = (uint32_t)i;
    return ((const struct ncclscope_model *)model)->ranks.item[i].proc;
}

static uint32_t link_at(const void *model, size_t i, uint32_t *index)
{
    const struct ncclscope_model *m = model;
    *index = m->link_order.item[i];
    return m->links.item[*index].proc;
}

static void lay_version(struct laying *l, ncclscope_process *r, uint32_t proc)
{
    static const int64_t how[] = {NCCLSCOPE_HOW_UNKNOWN, NCCLSCOPE_HOW_INFERRED, NCCLSCOPE_HOW_INFERRED,
                                  NCCLSCOPE_HOW_STATED, NCCLSCOPE_HOW_STATED};
    struct nsc_version v = nsc_version_of(l->m, proc);
    struct nsc_version a = {.low = v.low, .high = v.low}, b = {.low = v.high, .high = v.high};
    char text[60];
    r->version_how = how[v.how];
    r->version = say(l, v.text);
    nsc_version_spell(&a, text, sizeof text);
    if (v.how && v.low)
        r->version_from = nsc_say(l->m, nsc_keep(l->m, nsc_text_of(text)));
    nsc_version_spell(&b, text, sizeof text);
    if (v.how && v.high < NSC_VERSION_OPEN)
        r->version_to = nsc_say(l->m, nsc_keep(l->m, nsc_text_of(text)));
}

static void lay_processes(struct laying *l)
{
    const struct ncclscope_model *m = l->m;
    struct by_process ranks = group(m, m->ranks.len, rank_at), links = group(m, m->link_order.len, link_at);
    bool fine = ranks.item && ranks.start && links.item && links.start;
    l->to->no_memory = l->to->no_memory || !fine;
    for (size_t i = 0; fine && i < m->proc_order.len; i++) {
        uint32_t proc = m->proc_order.item[i];
        const struct nsc_proc *p = &m->procs.item[proc];
        l->process[proc] = nsc_row_next(l->to, process);
        ncclscope_process *r = nsc_row_new(l->to, process);
        r->host = nsc_say(m, p->host);
        r->pid = p->pid;
        lay_version(l, r, proc);
        r->launcher_rank = nsc_if_said(p->launcher_rank);
        r->pod = say(l, p->pod);
        r->container = say(l, p->container);
        r->cuda_driver = p->driver ? (int64_t)p->driver : NCCLSCOPE_UNSAID;
        r->network = say(l, p->network);
        r->platform = say(l, p->platform);
        if (!lay_gpus_of_ranks(l, proc, ranks.item, ranks.start[proc], ranks.start[proc + 1]))
            lay_gpus_of_links(l, proc, links.item, links.start[proc], links.start[proc + 1]);
    }
    nsc_free(ranks.item);
    nsc_free(ranks.start);
    nsc_free(links.item);
    nsc_free(links.start);
}

/* ---- communicators ---- */

static const struct nsc_rank *member(const struct laying *l, const struct nsc_comm *c, uint32_t i)
{
    return &l->m->ranks.item[l->m->members.item[c->first + i]];
}

static int64_t crosses_hosts(const struct laying *l, const struct nsc_comm *c)
{
    for (uint32_t i = 1; i < c->count; i++)
        if (l->m->procs.item[member(l, c, i)->proc].host != l->m->procs.item[member(l, c, 0)->proc].host)
            return 1;
    return c->seen == c->nranks && !c->shared_names ? 0 : -1;
}

/* By number, the first LISTED of them; returns how many more there are. */
static int64_t lay_missing(struct laying *l, const struct nsc_comm *c, int64_t row)
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

static void lay_rank(struct laying *l, const struct nsc_rank *x, int64_t comm)
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
    r->pointer = x->pointer ? keep(l, pointer) : (nsc_text){NULL, 0};
    r->cuda_dev = nsc_if_said(x->cuda_dev);
    r->nvml_dev = nsc_if_said(x->nvml_dev);
    r->bus_id = say(l, x->bus_id);
    r->local_rank = nsc_if_said(x->local_rank);
    r->local_ranks = nsc_if_said(x->local_ranks);
    if (x->init_seconds >= 0)
        r->init_seconds = x->init_seconds;
    r->state = x->aborted.line  ? NCCLSCOPE_RANK_STATE_ABORTED
               : nsc_is_done(x) ? NCCLSCOPE_RANK_STATE_COMPLETE
                                : NCCLSCOPE_RANK_STATE_INCOMPLETE;
}

static void lay_comm(struct laying *l, const struct nsc_comm *c)
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
    r->made_by = say(l, first->made_by);
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

static void lay_comms(struct laying *l)
{
    for (size_t i = 0; i < l->m->comms.len; i++) {
        l->m->comms.item[i].row = l->m->comms.item[i].count ? nsc_row_next(l->to, comm) : NCCLSCOPE_UNSAID;
        if (l->m->comms.item[i].count)
            lay_comm(l, &l->m->comms.item[i]);
    }
}

static int64_t comm_row(const struct laying *l, uint32_t rank)
{
    uint32_t comm = rank == NSC_NONE ? NSC_NONE : l->m->ranks.item[rank].comm;
    return comm == NSC_NONE ? NCCLSCOPE_UNSAID : l->m->comms.item[comm].row;
}

/* Rings and trees of the model lie by communicator. */
static void lay_rings(struct laying *l)
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

static void lay_trees(struct laying *l)
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

static void lay_channels(struct laying *l, const struct nsc_link *x, int64_t link)
{
    for (unsigned c = 0; c < NSC_CHANNEL_WORDS * 64; c++) {
        if (!(((x->channels[0][c / 64] | x->channels[1][c / 64]) >> (c % 64)) & 1))
            continue;
        ncclscope_link_channel *r = nsc_row_new(l->to, link_channel);
        r->link = link;
        r->channel = c;
    }
}

static void lay_links(struct laying *l)
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
        r->network = say(l, x->network);
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

/* ---- what the processes run with ---- */

struct use {
    nsc_text name;
    uint32_t proc;
};

static int by_name_and_proc(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    int c = nsc_compare(x->name, y->name);
    return c ? c : x->proc < y->proc ? -1 : x->proc > y->proc;
}

/* Networks that a process says it uses, or that a connection names; each with its processes. */
static void lay_networks(struct laying *l)
{
    const struct ncclscope_model *m = l->m;
    struct use *list = nsc_alloc((m->proc_order.len + m->links.len + 1) * sizeof *list);
    size_t n = 0;
    for (size_t i = 0; list && i < m->proc_order.len; i++)
        if (m->procs.item[m->proc_order.item[i]].network)
            list[n++] = (struct use){nsc_say(m, m->procs.item[m->proc_order.item[i]].network), m->proc_order.item[i]};
    for (size_t i = 0; list && i < m->links.len; i++)
        if (m->links.item[i].network && m->links.item[i].proc != NSC_NONE)
            list[n++] = (struct use){nsc_say(m, m->links.item[i].network), m->links.item[i].proc};
    if (n)
        qsort(list, n, sizeof *list, by_name_and_proc);
    for (size_t i = 0, first; i < n;) {
        ncclscope_network *r = nsc_row_new(l->to, network);
        r->name = list[i].name;
        r->processes = 0;
        for (first = i; i < n && nsc_text_eq(list[i].name, r->name); i++)
            r->processes += i == first || list[i].proc != list[i - 1].proc;
    }
    nsc_free(list);
}

static void lay_devices(struct laying *l)
{
    for (size_t i = 0; i < l->m->devices.len; i++) {
        const struct nsc_net_device *x = &l->m->devices.item[i];
        ncclscope_net_device *r = nsc_row_new(l->to, net_device);
        r->host = nsc_say(l->m, x->host);
        r->net = nsc_say(l->m, x->net);
        r->index = x->index;
        r->name = nsc_say(l->m, x->name);
        r->port = nsc_if_said(x->port);
        r->kind = say(l, x->kind);
    }
}

static void lay_plugins(struct laying *l)
{
    for (size_t i = 0; i < l->m->plugins.len; i++) {
        const struct nsc_plugin *x = &l->m->plugins.item[i];
        ncclscope_plugin *r = nsc_row_new(l->to, plugin);
        r->kind = nsc_say(l->m, x->kind);
        r->name = say(l, x->name);
        r->file = say(l, x->file);
        r->version = say(l, x->version);
        r->state = nsc_say(l->m, x->state);
    }
}

static int by_variable(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    const struct nsc_env *x = &m->env.item[*(const uint32_t *)a], *y = &m->env.item[*(const uint32_t *)b];
    int c = nsc_compare(nsc_say(m, x->name), nsc_say(m, y->name));
    if (!c)
        c = nsc_compare(nsc_say(m, x->value), nsc_say(m, y->value));
    return c ? c : x->proc < y->proc ? -1 : x->proc > y->proc;
}

/* One variable: entries order[from, to), sorted by value. The value of most processes stands for it. */
static void lay_variable(struct laying *l, const uint32_t *order, size_t from, size_t to)
{
    const struct ncclscope_model *m = l->m;
    bool by_plugin = false, by_pod = false;
    int64_t row = nsc_row_next(l->to, env), most = 0;
    ncclscope_env *r = nsc_row_new(l->to, env);
    r->name = nsc_say(m, m->env.item[order[from]].name);
    r->processes = (int64_t)(to - from);
    for (size_t i = from; i < to;) {
        const struct nsc_env *first = &m->env.item[order[i]];
        ncclscope_env_value *v = nsc_row_new(l->to, env_value);
        v->env = row;
        v->value = nsc_say(m, first->value);
        for (v->processes = 0; i < to && m->env.item[order[i]].value == first->value; i++) {
            by_plugin = by_plugin || m->env.item[order[i]].by_plugin;
            by_pod = by_pod || m->env.item[order[i]].by_pod;
            v->processes++;
        }
        if (v->processes > most) {
            most = v->processes;
            r->value = v->value;
        }
    }
    r->by = by_plugin ? NCCLSCOPE_SET_BY_PLUGIN : by_pod ? NCCLSCOPE_SET_BY_ENVIRONMENT : NCCLSCOPE_SET_BY_UNKNOWN;
}

static void lay_environment(struct laying *l)
{
    const struct ncclscope_model *m = l->m;
    uint32_t *order = nsc_alloc((m->env.len + 1) * sizeof *order);
    for (size_t i = 0; order && i < m->env.len; i++)
        order[i] = (uint32_t)i;
    if (order && m->env.len)
        qsort_r(order, m->env.len, sizeof *order, by_variable, l->m);
    for (size_t i = 0, end; order && i < m->env.len; i = end) {
        for (end = i; end < m->env.len && m->env.item[order[end]].name == m->env.item[order[i]].name;)
            end++;
        lay_variable(l, order, i, end);
    }
    nsc_free(order);
}

static void lay_warnings(struct laying *l)
{
    for (size_t i = 0; i < l->m->warnings.len; i++) {
        const struct nsc_warning *x = &l->m->warnings.item[i];
        ncclscope_warning *r = nsc_row_new(l->to, warning);
        r->text = nsc_say(l->m, x->shape);
        r->lines = (int64_t)x->lines;
        r->source = x->where.source;
        r->line = (int64_t)x->where.line;
    }
}

static void lay_tests(struct laying *l)
{
    for (size_t i = 0; i < l->m->tests.len; i++) {
        const struct nsc_test *x = &l->m->tests.item[i];
        int64_t row = nsc_row_next(l->to, collective_test);
        ncclscope_collective_test *r = nsc_row_new(l->to, collective_test);
        r->source = x->where.source;
        r->line = (int64_t)x->where.line;
        r->collective = say(l, x->collective);
        r->bytes = (int64_t)x->bytes;
        r->count = (int64_t)x->count;
        r->type = say(l, x->type);
        r->redop = say(l, x->redop);
        r->root = say(l, x->root);
        for (int side = 0; side < x->sides; side++) {
            ncclscope_collective_time *t = nsc_row_new(l->to, collective_time);
            t->collective_test = row;
            t->in_place = side;
            t->time_us = x->time_us[side];
            t->algbw = x->algbw[side];
            t->busbw = x->busbw[side];
            t->wrong = nsc_if_said(x->wrong[side]);
        }
    }
}

static void lay_events(struct laying *l)
{
    for (size_t i = 0; i < l->m->happened.len; i++) {
        const struct nsc_own_record *x = &l->m->happened.item[i];
        int64_t row = nsc_row_next(l->to, event);
        ncclscope_event *r = nsc_row_new(l->to, event);
        r->kind = say(l, x->kind);
        r->source = x->where.source;
        r->line = (int64_t)x->where.line;
        r->time = say(l, x->time);
        r->host = say(l, x->host);
        r->pid = nsc_if_said(x->pid);
        for (uint32_t k = 0; k < x->fields; k++) {
            const struct nsc_own_field *field = &l->m->own_fields.item[x->first + k];
            ncclscope_event_field *f = nsc_row_new(l->to, event_field);
            f->event = row;
            f->name = nsc_say(l->m, field->name);
            f->value = nsc_say(l->m, field->text);
        }
    }
}

void nsc_lay_rows(struct ncclscope_model *m)
{
    static void (*const steps[])(struct laying *) = {
        lay_sources, lay_connections, lay_machines, lay_hosts,   lay_processes,   lay_comms,    lay_rings, lay_trees,
        lay_links,   lay_networks,    lay_devices,  lay_plugins, lay_environment, lay_warnings, lay_tests, lay_events,
    };
    struct laying l = {m, &m->rows, nsc_alloc((m->procs.len + 1) * sizeof *l.process)};
    nsc_rows_free(&m->rows);
    for (size_t i = 0; l.process && i < m->procs.len; i++)
        l.process[i] = NCCLSCOPE_UNSAID;
    for (size_t i = 0; l.process && i < sizeof steps / sizeof steps[0]; i++)
        steps[i](&l);
    m->no_memory = m->no_memory || m->rows.no_memory || !l.process;
    nsc_free(l.process);
}

size_t ncclscope_model_rows(const ncclscope_model *m, int table, size_t first, size_t n, void *out, size_t stride)
{
    return !m ? 0 : nsc_rows_copy(&m->rows, table, first, n, out, stride);
}
