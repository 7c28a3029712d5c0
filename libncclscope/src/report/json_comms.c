/* json_comms.c - processes, communicators and links as JSON. */
#include "report/json_report.h"

#include "rules/expect.h"

#include <stdio.h>
#include <stdlib.h>

void nsc_json_where(struct nsc_json *j, const char *key, const struct nsc_where *w)
{
    nsc_json_open(j, key, '{');
    nsc_json_int(j, "source", w->source);
    nsc_json_int(j, "line", (int64_t)w->line);
    nsc_json_close(j, '}');
}

/* Without a line of its initialisation a process's GPUs are those that its connections name behind its ranks. */
static void gpus_of_links(struct nsc_json *j, const struct ncclscope_model *m, uint32_t proc)
{
    nsc_str told[64];
    size_t n = 0;
    for (size_t i = 0; i < m->link_order.len && n < 64; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        enum nsc_brackets brackets = l->proc == proc ? nsc_brackets_of(m, l) : NSC_BRACKETS_UNKNOWN;
        nsc_str dev = l->direction == 2 ? l->dst_dev : l->src_dev;
        bool known = brackets == NSC_BRACKETS_UNKNOWN;
        int64_t index = -1;
        for (size_t k = 0; k < n; k++)
            known = known || told[k] == dev;
        if (known || (brackets != NSC_BRACKETS_BUS_ID && !nsc_to_i64(nsc_say(m, dev), &index)))
            continue;
        told[n++] = dev;
        nsc_json_open(j, NULL, '{');
        nsc_json_said(j, "cuda_dev", brackets == NSC_BRACKETS_CUDA ? index : -1);
        nsc_json_said(j, "nvml_dev", brackets == NSC_BRACKETS_NVML ? index : -1);
        nsc_json_text(j, "bus_id", brackets == NSC_BRACKETS_BUS_ID ? nsc_say(m, dev) : (nsc_text){NULL, 0});
        nsc_json_close(j, '}');
    }
}

static int by_proc(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    uint32_t p = m->ranks.item[i].proc, q = m->ranks.item[k].proc;
    return p != q ? (p < q ? -1 : 1) : i < k ? -1 : i > k;
}

/* Ranks by process, each process's as they came; NULL when there is no memory. */
static uint32_t *ranks_by_process(const struct ncclscope_model *m)
{
    uint32_t *order = nsc_alloc((m->ranks.len + 1) * sizeof *order);
    for (size_t i = 0; order && i < m->ranks.len; i++)
        order[i] = (uint32_t)i;
    if (order && m->ranks.len)
        qsort_r(order, m->ranks.len, sizeof *order, by_proc, (void *)(uintptr_t)m);
    return order;
}

/* The GPUs of the process whose ranks are order[from, to). */
static void gpus(struct nsc_json *j, const struct ncclscope_model *m, uint32_t proc, const uint32_t *order, size_t from,
                 size_t to)
{
    bool any = false; /* said by a rank */
    nsc_json_open(j, "gpus", '[');
    for (size_t i = from; i < to; i++) {
        const struct nsc_rank *r = &m->ranks.item[order[i]];
        bool known = r->cuda_dev < 0 && !r->bus_id;
        for (size_t k = from; !known && k < i; k++)
            known = m->ranks.item[order[k]].cuda_dev == r->cuda_dev && m->ranks.item[order[k]].bus_id == r->bus_id;
        if (known)
            continue;
        any = true;
        nsc_json_open(j, NULL, '{');
        nsc_json_said(j, "cuda_dev", r->cuda_dev);
        nsc_json_said(j, "nvml_dev", r->nvml_dev);
        nsc_json_text(j, "bus_id", NSC_JSON_TEXT(m, r->bus_id));
        nsc_json_close(j, '}');
    }
    if (!any)
        gpus_of_links(j, m, proc);
    nsc_json_close(j, ']');
}

/* What NCCL a process runs, and how that is known: "stated" by a line, "inferred" from its communicator or its texts. */
static void version(struct nsc_json *j, const struct ncclscope_model *m, uint32_t proc)
{
    static const char *const how[] = {"unknown", "inferred", "inferred", "stated", "stated"};
    struct nsc_version v = nsc_version_of(m, proc);
    char low[60], high[60];
    struct nsc_version a = {.low = v.low, .high = v.low}, b = {.low = v.high, .high = v.high};
    nsc_version_spell(&a, low, sizeof low);
    nsc_version_spell(&b, high, sizeof high);
    nsc_json_open(j, "nccl_version", '{');
    nsc_json_string(j, "how", how[v.how]);
    nsc_json_text(j, "value", NSC_JSON_TEXT(m, v.text));
    nsc_json_text(j, "from", v.how && v.low ? nsc_text_of(low) : (nsc_text){NULL, 0});
    nsc_json_text(j, "to", v.how && v.high < NSC_VERSION_OPEN ? nsc_text_of(high) : (nsc_text){NULL, 0});
    nsc_json_close(j, '}');
}

void nsc_json_processes(struct nsc_json *j, const struct ncclscope_model *m)
{
    uint32_t *order = ranks_by_process(m);
    nsc_json_open(j, "processes", '[');
    for (size_t i = 0; order && i < m->proc_order.len; i++) {
        uint32_t proc = m->proc_order.item[i];
        const struct nsc_proc *p = &m->procs.item[proc];
        size_t from = 0, to = m->ranks.len;
        while (from < to) { /* the first rank of it */
            size_t mid = from + (to - from) / 2;
            if (m->ranks.item[order[mid]].proc < proc)
                from = mid + 1;
            else
                to = mid;
        }
        while (to < m->ranks.len && m->ranks.item[order[to]].proc == proc)
            to++;
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "host", nsc_say(m, p->host));
        nsc_json_int(j, "pid", p->pid);
        gpus(j, m, proc, order, from, to);
        version(j, m, m->proc_order.item[i]);
        nsc_json_said(j, "launcher_rank", p->launcher_rank);
        nsc_json_text(j, "pod", NSC_JSON_TEXT(m, p->pod));
        if (p->container)
            nsc_json_text(j, "container", nsc_say(m, p->container));
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
    nsc_free(order);
}

static void rank(struct nsc_json *j, const struct ncclscope_model *m, const struct nsc_rank *r)
{
    const struct nsc_proc *p = &m->procs.item[r->proc];
    char pointer[24];
    snprintf(pointer, sizeof pointer, "0x%llx", (unsigned long long)r->pointer);
    nsc_json_open(j, NULL, '{');
    nsc_json_int(j, "rank", r->rank);
    nsc_json_text(j, "host", nsc_say(m, p->host));
    nsc_json_int(j, "pid", p->pid);
    nsc_json_string(j, "comm", r->pointer ? pointer : NULL);
    nsc_json_said(j, "cuda_dev", r->cuda_dev);
    nsc_json_said(j, "nvml_dev", r->nvml_dev);
    nsc_json_text(j, "bus_id", NSC_JSON_TEXT(m, r->bus_id));
    nsc_json_said(j, "local_rank", r->local_rank);
    nsc_json_said(j, "local_ranks", r->local_ranks);
    if (r->init_seconds >= 0)
        nsc_json_float(j, "init_seconds", r->init_seconds);
    else
        nsc_json_null(j, "init_seconds");
    nsc_json_string(j, "state", r->aborted.line ? "aborted" : nsc_is_done(r) ? "complete" : "incomplete");
    nsc_json_close(j, '}');
}

static void ring_ranks(struct nsc_json *j, nsc_text text, bool *truncated)
{
    nsc_text word;
    int64_t n;
    *truncated = false;
    nsc_json_open(j, "ranks", '[');
    while ((word = nsc_next_word(&text)).len) {
        if (!nsc_to_i64(word, &n)) { /* "...": NCCL cut the list */
            *truncated = true;
            break;
        }
        nsc_json_int(j, NULL, n);
    }
    nsc_json_close(j, ']');
}

static int64_t count_words(nsc_text text)
{
    int64_t n = 0;
    while (nsc_next_word(&text).len)
        n++;
    return n;
}

static uint32_t comm_of_rank(const struct ncclscope_model *m, uint32_t rank_)
{
    return rank_ == NSC_NONE ? NSC_NONE : m->ranks.item[rank_].comm;
}

/* Rings and trees lie by communicator. */
static void rings(struct nsc_json *j, const struct ncclscope_model *m, uint32_t comm)
{
    size_t low = 0, high = m->rings.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (comm_of_rank(m, m->rings.item[mid].rank) < comm)
            low = mid + 1;
        else
            high = mid;
    }
    nsc_json_open(j, "rings", '[');
    for (size_t i = low; i < m->rings.len && comm_of_rank(m, m->rings.item[i].rank) == comm; i++) {
        const struct nsc_ring *r = &m->rings.item[i];
        bool truncated;
        nsc_json_open(j, NULL, '{');
        nsc_json_int(j, "channel", (int64_t)r->channel);
        ring_ranks(j, nsc_say(m, r->ranks), &truncated);
        nsc_json_bool(j, "truncated", truncated || count_words(nsc_say(m, r->ranks)) < m->comms.item[comm].nranks);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void trees(struct nsc_json *j, const struct ncclscope_model *m, uint32_t comm)
{
    size_t low = 0, high = m->trees.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (comm_of_rank(m, m->trees.item[mid].rank) < comm)
            low = mid + 1;
        else
            high = mid;
    }
    nsc_json_open(j, "trees", '[');
    for (size_t i = low; i < m->trees.len && comm_of_rank(m, m->trees.item[i].rank) == comm; i++) {
        const struct nsc_tree *t = &m->trees.item[i];
        nsc_text down = nsc_say(m, t->down);
        nsc_json_open(j, NULL, '{');
        nsc_json_int(j, "channel", (int64_t)t->channel);
        nsc_json_int(j, "rank", m->ranks.item[t->rank].rank);
        nsc_json_said(j, "up", t->up);
        nsc_json_open(j, "down", '[');
        while (down.len) {
            const char *slash = memchr(down.ptr, '/', down.len);
            nsc_text one = {down.ptr, slash ? (size_t)(slash - down.ptr) : down.len};
            int64_t n;
            if (nsc_to_i64(one, &n) && n >= 0)
                nsc_json_int(j, NULL, n);
            down = nsc_text_from(down, one.len + (slash ? 1 : 0));
        }
        nsc_json_close(j, ']');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

/* What it is in the whole job, and whether it leaves a host. */
static void shape(struct nsc_json *j, const struct ncclscope_model *m, const struct nsc_comm *c)
{
    static const char *const names[] = {NULL, "all", "consecutive", "strided", "pair", "other"};
    bool crosses = false;
    for (uint32_t i = 1; i < c->count; i++)
        crosses = crosses || m->procs.item[m->ranks.item[m->members.item[c->first + i]].proc].host !=
                                 m->procs.item[m->ranks.item[m->members.item[c->first]].proc].host;
    nsc_str made_by = c->count ? m->ranks.item[m->members.item[c->first]].made_by : 0;
    nsc_json_text(j, "made_by", made_by ? nsc_say(m, made_by) : (nsc_text){NULL, 0});
    nsc_json_string(j, "shape", names[c->shape]);
    nsc_json_string(j, "shape_by", c->shape ? "inferred" : NULL);
    nsc_json_said(j, "stride", c->stride > 0 ? c->stride : -1);
    if (crosses || (c->seen == c->nranks && !c->shared_names))
        nsc_json_bool(j, "crosses_hosts", crosses);
    else
        nsc_json_null(j, "crosses_hosts");
    nsc_json_string(j, "worst_path", c->worst_path < 0 ? NULL : nsc_path_name((enum nsc_path)c->worst_path));
}

/* By number, the first LISTED of them, and how many more. */
static void missing_ranks(struct nsc_json *j, const struct ncclscope_model *m, const struct nsc_comm *c)
{
    enum { LISTED = 65536 };
    uint32_t i = 0;
    int64_t more = c->nranks > LISTED ? c->nranks - LISTED : 0, last = LISTED - 1;
    nsc_json_open(j, "missing_ranks", '[');
    for (int64_t rank_ = 0; rank_ < c->nranks && rank_ < LISTED; rank_++) {
        while (i < c->count && m->ranks.item[m->members.item[c->first + i]].rank < rank_)
            i++;
        if (i == c->count || m->ranks.item[m->members.item[c->first + i]].rank != rank_)
            nsc_json_int(j, NULL, rank_);
    }
    nsc_json_close(j, ']');
    for (; more && i < c->count; i++) {
        int64_t rank_ = m->ranks.item[m->members.item[c->first + i]].rank;
        more -= rank_ > last && rank_ < c->nranks;
        last = rank_ > last ? rank_ : last;
    }
    if (more)
        nsc_json_int(j, "missing_ranks_more", more);
}

static void channels(struct nsc_json *j, const struct nsc_rank *r)
{
    nsc_json_open(j, "channels", '{');
    nsc_json_said(j, "coll", r->coll);
    nsc_json_said(j, "collnet", r->collnet);
    nsc_json_said(j, "nvls", r->nvls);
    nsc_json_said(j, "p2p", r->p2p);
    nsc_json_said(j, "p2p_per_peer", r->per_peer);
    nsc_json_close(j, '}');
}

void nsc_json_communicator(struct nsc_json *j, const struct ncclscope_model *m, uint32_t index)
{
    const struct nsc_comm *c = &m->comms.item[index];
    nsc_json_open(j, NULL, '{');
    nsc_json_text(j, "id", nsc_say(m, c->id));
    nsc_json_int(j, "members", c->seen);
    nsc_json_int(j, "nranks", c->nranks);
    nsc_json_said(j, "nnodes", c->nnodes);
    nsc_json_text(j, "parent", c->parent == NSC_NONE ? (nsc_text){NULL, 0} : nsc_say(m, m->comms.item[c->parent].id));
    nsc_json_string(j, "state", nsc_state_name(c->state));
    shape(j, m, c);
    nsc_json_open(j, "ranks", '[');
    for (uint32_t i = 0; i < c->count; i++)
        rank(j, m, &m->ranks.item[m->members.item[c->first + i]]);
    nsc_json_close(j, ']');
    missing_ranks(j, m, c);
    channels(j, &m->ranks.item[m->members.item[c->first]]);
    rings(j, m, index);
    trees(j, m, index);
    nsc_json_close(j, '}');
}

static void link_channels(struct nsc_json *j, const struct nsc_link *l)
{
    nsc_json_open(j, "channels", '[');
    for (unsigned c = 0; c < NSC_CHANNEL_WORDS * 64; c++)
        if (((l->channels[0][c / 64] | l->channels[1][c / 64]) >> (c % 64)) & 1)
            nsc_json_int(j, NULL, c);
    nsc_json_close(j, ']');
}

static const char *mode_of(const struct nsc_link *l)
{
    if (l->family != NSC_P2P && !(l->family == NSC_SHM && l->copy_engine))
        return NULL;
    return l->copy_engine ? "copy-engine" : l->read ? "read" : "write";
}

static void comm_id(struct nsc_json *j, const char *key, const struct ncclscope_model *m, uint32_t rank_)
{
    uint32_t comm = rank_ == NSC_NONE ? NSC_NONE : m->ranks.item[rank_].comm;
    nsc_json_text(j, key, comm == NSC_NONE ? (nsc_text){NULL, 0} : nsc_say(m, m->comms.item[comm].id));
}

/* Of a pair of one node: what NCCL would choose there by its own rules, and how the log fits it. */
static void expected(struct nsc_json *j, const struct ncclscope_model *m, const struct nsc_link *l)
{
    struct nsc_expected e;
    char why[300];
    enum nsc_judgement judgement = nsc_judge(m, l, &e);
    if (judgement == NSC_NOT_JUDGED) {
        nsc_json_null(j, "expected");
        return;
    }
    struct nsc_expected own = nsc_expect(m, l, true);
    nsc_expected_words(m, &e, why, sizeof why);
    nsc_json_open(j, "expected", '{');
    nsc_json_string(j, "transport", e.family ? nsc_family_name(e.family) : NULL);
    nsc_json_string(j, "without_settings", own.family ? nsc_family_name(own.family) : NULL);
    nsc_json_string(j, "judgement", nsc_judgement_name(judgement));
    nsc_json_string(j, "why", why);
    nsc_json_close(j, '}');
}

void nsc_json_link(struct nsc_json *j, const struct ncclscope_model *m, const struct nsc_link *l)
{
    static const char *const attributions[] = {"unknown", "ambiguous", "inferred", "stated"};
    static const char *const scopes[] = {"unknown", "node", "cluster"}, *const proofs[] = {"none", "inferred",
                                                                                           "stated"};
    struct nsc_known_path p;
    nsc_path_of(m, l, &p);
    nsc_json_open(j, NULL, '{');
    comm_id(j, "comm", m, l->rank);
    nsc_json_string(j, "attribution", attributions[l->attribution]);
    if (l->attribution == NSC_AMBIGUOUS && l->other != NSC_NONE) {
        nsc_json_open(j, "candidates", '[');
        comm_id(j, NULL, m, l->rank);
        comm_id(j, NULL, m, l->other);
        nsc_json_close(j, ']');
    }
    nsc_json_int(j, "src", (int64_t)l->src);
    nsc_json_int(j, "dst", (int64_t)l->dst);
    nsc_json_string(j, "direction", l->direction == 1 ? "send" : l->direction == 2 ? "receive" : NULL);
    nsc_json_text(j, "via", nsc_say(m, l->via));
    nsc_json_string(j, "transport", nsc_family_name(l->family));
    nsc_json_string(j, "mode", mode_of(l));
    nsc_json_text(j, "network", NSC_JSON_TEXT(m, l->network));
    nsc_json_said(j, "net_dev", l->net_dev);
    nsc_json_said(j, "proxy_rank", l->proxy_rank);
    nsc_json_bool(j, "gdrdma", l->gdrdma);
    link_channels(j, l);
    nsc_json_int(j, "lines", (int64_t)l->lines);
    nsc_json_string(j, "scope", scopes[p.scope]);
    nsc_json_string(j, "path", nsc_path_name(p.path));
    nsc_json_string(j, "proof", proofs[p.proof]);
    expected(j, m, l);
    nsc_json_where(j, "where", &l->where);
    nsc_json_close(j, '}');
}
