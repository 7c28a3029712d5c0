/* report_json.c - the report as one JSON object, schema ncclscope.report/1. */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXT(m, s) ((s) ? nsc_say(m, s) : (nsc_text){NULL, 0})

static void where(struct nsc_json *j, const char *key, const struct nsc_where *w)
{
    nsc_json_open(j, key, '{');
    nsc_json_int(j, "source", w->source);
    nsc_json_int(j, "line", (int64_t)w->line);
    nsc_json_close(j, '}');
}

static void sources(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "sources", '[');
    for (size_t i = 0; i < m->sources.len; i++) {
        const struct nsc_source_info *s = &m->sources.item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "name", nsc_say(m, s->name));
        nsc_json_string(j, "format", s->stats.gzip ? "gzip" : "plain");
        nsc_json_int(j, "bytes", (int64_t)s->stats.bytes);
        nsc_json_int(j, "lines", (int64_t)s->stats.lines);
        nsc_json_int(j, "nccl_lines", (int64_t)s->stats.records);
        nsc_json_int(j, "unknown_lines", (int64_t)s->stats.unknown);
        nsc_json_int(j, "torn_lines", (int64_t)s->stats.torn_lines);
        nsc_json_int(j, "cut_lines", (int64_t)s->stats.cut_lines);
        nsc_json_bool(j, "truncated", s->stats.truncated);
        nsc_json_text(j, "first_time", TEXT(m, s->first_time));
        nsc_json_text(j, "last_time", TEXT(m, s->last_time));
        if (s->problem)
            nsc_json_text(j, "problem", nsc_say(m, s->problem));
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

struct named {
    nsc_text name;
    uint64_t n;
};

static int by_name(const void *a, const void *b)
{
    return nsc_compare(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void totals(struct nsc_json *j, const struct ncclscope_model *m)
{
    ncclscope_stats t;
    uint64_t by_family[NSC_COLLNET + 1] = {0}, gdrdma = 0, repeated = 0;
    nsc_totals(m, &t);
    nsc_json_open(j, "totals", '{');
    nsc_json_int(j, "lines", (int64_t)t.lines);
    nsc_json_int(j, "nccl_lines", (int64_t)t.records);
    nsc_json_int(j, "unknown_lines", (int64_t)t.unknown);
    nsc_json_int(j, "warn_lines", (int64_t)t.warnings);
    nsc_json_int(j, "torn_lines", (int64_t)t.torn_lines);
    nsc_json_int(j, "cut_lines", (int64_t)t.cut_lines);
    nsc_json_open(j, "connections", '{');
    struct named *list = nsc_alloc(m->connections.len * sizeof *list);
    for (size_t i = 0; i < m->connections.len; i++) {
        const struct nsc_count *c = &m->connections.item[i];
        by_family[c->family] += c->lines;
        gdrdma += c->gdrdma ? c->lines : 0;
        repeated += c->repeated;
        if (list)
            list[i] = (struct named){nsc_say(m, c->text), c->lines};
    }
    if (list && m->connections.len)
        qsort(list, m->connections.len, sizeof *list, by_name);
    for (size_t i = 0; list && i < m->connections.len; i++)
        nsc_json_int(j, list[i].name.ptr, (int64_t)list[i].n);
    nsc_free(list);
    nsc_json_close(j, '}');
    nsc_json_open(j, "transports", '{');
    for (int f = NSC_P2P; f <= NSC_COLLNET; f++)
        if (by_family[f])
            nsc_json_int(j, nsc_family_name(f), (int64_t)by_family[f]);
    nsc_json_close(j, '}');
    nsc_json_int(j, "gdrdma", (int64_t)gdrdma);
    if (repeated)
        nsc_json_int(j, "repeated", (int64_t)repeated);
    nsc_json_close(j, '}');
}

/* A list of distinct texts, sorted. */
static void distinct(struct nsc_json *j, const char *key, const struct ncclscope_model *m, const nsc_str *s, size_t n)
{
    struct named *list = nsc_alloc((n + 1) * sizeof *list);
    size_t k = 0;
    for (size_t i = 0; list && i < n; i++)
        if (s[i])
            list[k++].name = nsc_say(m, s[i]);
    if (k)
        qsort(list, k, sizeof *list, by_name);
    nsc_json_open(j, key, '[');
    for (size_t i = 0; i < k; i++)
        if (!i || !nsc_text_eq(list[i].name, list[i - 1].name))
            nsc_json_text(j, NULL, list[i].name);
    nsc_json_close(j, ']');
    nsc_free(list);
}

static void versions(struct nsc_json *j, const struct ncclscope_model *m)
{
    size_t n = m->procs.len + m->sources.len, k = 0;
    nsc_str *v = nsc_alloc((n + 1) * sizeof *v), *p = nsc_alloc((n + 1) * sizeof *p);
    uint64_t last = 0;
    bool rccl = false;
    for (size_t i = 0; v && i < m->procs.len; i++) {
        v[k++] = m->procs.item[i].version;
        rccl = rccl || m->procs.item[i].rccl;
    }
    for (size_t i = 0; v && i < m->sources.len; i++)
        v[k++] = m->sources.item[i].bare_version;
    for (size_t i = 0; p && i < m->procs.len; i++)
        p[i] = m->procs.item[i].platform;
    distinct(j, "nccl_versions", m, v, v ? k : 0);
    nsc_json_string(j, "flavor", rccl ? "RCCL" : "NCCL");
    nsc_json_open(j, "cuda_drivers", '[');
    for (;;) {
        uint64_t next = UINT64_MAX;
        for (size_t i = 0; i < m->procs.len; i++)
            if (m->procs.item[i].driver > last && m->procs.item[i].driver < next)
                next = m->procs.item[i].driver;
        if (next == UINT64_MAX)
            break;
        nsc_json_int(j, NULL, (int64_t)next);
        last = next;
    }
    nsc_json_close(j, ']');
    distinct(j, "platforms", m, p, p ? m->procs.len : 0);
    nsc_free(v);
    nsc_free(p);
}

static void hosts(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "hosts", '[');
    for (size_t i = 0; i < m->proc_order.len;) {
        nsc_str host = m->procs.item[m->proc_order.item[i]].host;
        size_t n = 0;
        while (i < m->proc_order.len && m->procs.item[m->proc_order.item[i]].host == host)
            i++, n++;
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "name", nsc_say(m, host));
        nsc_json_int(j, "processes", (int64_t)n);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void gpus(struct nsc_json *j, const struct ncclscope_model *m, uint32_t proc)
{
    nsc_json_open(j, "gpus", '[');
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        bool known = r->proc != proc || (r->cuda_dev < 0 && !r->bus_id);
        for (size_t k = 0; !known && k < i; k++)
            known = m->ranks.item[k].proc == proc && m->ranks.item[k].cuda_dev == r->cuda_dev &&
                    m->ranks.item[k].bus_id == r->bus_id;
        if (known)
            continue;
        nsc_json_open(j, NULL, '{');
        nsc_json_said(j, "cuda_dev", r->cuda_dev);
        nsc_json_said(j, "nvml_dev", r->nvml_dev);
        nsc_json_text(j, "bus_id", TEXT(m, r->bus_id));
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void processes(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "processes", '[');
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "host", nsc_say(m, p->host));
        nsc_json_int(j, "pid", p->pid);
        gpus(j, m, m->proc_order.item[i]);
        nsc_json_said(j, "launcher_rank", p->launcher_rank);
        nsc_json_text(j, "pod", TEXT(m, p->pod));
        if (p->container)
            nsc_json_text(j, "container", nsc_say(m, p->container));
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
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
    nsc_json_string(j, "comm", pointer);
    nsc_json_said(j, "cuda_dev", r->cuda_dev);
    nsc_json_said(j, "nvml_dev", r->nvml_dev);
    nsc_json_text(j, "bus_id", TEXT(m, r->bus_id));
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

static void rings(struct nsc_json *j, const struct ncclscope_model *m, uint32_t comm)
{
    nsc_json_open(j, "rings", '[');
    for (size_t i = 0; i < m->rings.len; i++) {
        const struct nsc_ring *r = &m->rings.item[i];
        bool truncated;
        if (r->rank == NSC_NONE || m->ranks.item[r->rank].comm != comm)
            continue;
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
    nsc_json_open(j, "trees", '[');
    for (size_t i = 0; i < m->trees.len; i++) {
        const struct nsc_tree *t = &m->trees.item[i];
        if (t->rank == NSC_NONE || m->ranks.item[t->rank].comm != comm)
            continue;
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

static void worst_path(struct nsc_json *j, const struct ncclscope_model *m, uint32_t comm)
{
    int worst = -1;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p;
        if (nsc_comm_of_link(m, l) != comm || l->family == NSC_COLLNET)
            continue;
        nsc_path_of(m, l, &p);
        worst = (int)p.path > worst ? (int)p.path : worst;
    }
    nsc_json_text(j, "worst_path", worst < 0 ? (nsc_text){NULL, 0} : nsc_text_of(nsc_path_name((enum nsc_path)worst)));
}

static void missing_ranks(struct nsc_json *j, const struct ncclscope_model *m, const struct nsc_comm *c)
{
    uint32_t i = 0;
    nsc_json_open(j, "missing_ranks", '[');
    for (int64_t rank_ = 0; rank_ < c->nranks && rank_ < 65536; rank_++) {
        while (i < c->count && m->ranks.item[m->members.item[c->first + i]].rank < rank_)
            i++;
        if (i == c->count || m->ranks.item[m->members.item[c->first + i]].rank != rank_)
            nsc_json_int(j, NULL, rank_);
    }
    nsc_json_close(j, ']');
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

static void communicator(struct nsc_json *j, const struct ncclscope_model *m, uint32_t index)
{
    static const char *const states[] = {"complete", "partial", "incomplete", "failed", "aborted", "destroyed"};
    const struct nsc_comm *c = &m->comms.item[index];
    int64_t members = 0, last = -1;
    for (uint32_t i = 0; i < c->count; i++) {
        int64_t n = m->ranks.item[m->members.item[c->first + i]].rank;
        members += n != last;
        last = n;
    }
    nsc_json_open(j, NULL, '{');
    nsc_json_text(j, "id", nsc_say(m, c->id));
    nsc_json_int(j, "members", members);
    nsc_json_int(j, "nranks", c->nranks);
    nsc_json_said(j, "nnodes", c->nnodes);
    nsc_json_text(j, "parent", c->parent == NSC_NONE ? (nsc_text){NULL, 0} : nsc_say(m, m->comms.item[c->parent].id));
    nsc_json_string(j, "state", states[c->state]);
    nsc_json_null(j, "shape");
    worst_path(j, m, index);
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

static void link(struct nsc_json *j, const struct ncclscope_model *m, const struct nsc_link *l)
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
    nsc_json_text(j, "network", TEXT(m, l->network));
    nsc_json_said(j, "net_dev", l->net_dev);
    nsc_json_said(j, "proxy_rank", l->proxy_rank);
    nsc_json_bool(j, "gdrdma", l->gdrdma);
    link_channels(j, l);
    nsc_json_int(j, "lines", (int64_t)l->lines);
    nsc_json_string(j, "scope", scopes[p.scope]);
    nsc_json_string(j, "path", nsc_path_name(p.path));
    nsc_json_string(j, "proof", proofs[p.proof]);
    where(j, "where", &l->where);
    nsc_json_close(j, '}');
}

/* Networks that a process says it uses, or that a connection names; each with its processes. */
static void networks(struct nsc_json *j, const struct ncclscope_model *m)
{
    size_t n = m->procs.len + m->links.len + m->ranks.len, k = 0;
    struct named *list = nsc_alloc((n + 1) * sizeof *list);
    for (size_t i = 0; list && i < m->proc_order.len; i++)
        if (m->procs.item[m->proc_order.item[i]].network)
            list[k++] = (struct named){nsc_say(m, m->procs.item[m->proc_order.item[i]].network), m->proc_order.item[i]};
    for (size_t i = 0; list && i < m->links.len; i++)
        if (m->links.item[i].network && m->links.item[i].proc != NSC_NONE)
            list[k++] = (struct named){nsc_say(m, m->links.item[i].network), m->links.item[i].proc};
    if (k)
        qsort(list, k, sizeof *list, by_name);
    nsc_json_open(j, "networks", '[');
    for (size_t i = 0; i < k;) {
        size_t end = i, procs = 0;
        for (; end < k && nsc_text_eq(list[end].name, list[i].name); end++) {
            bool seen = false;
            for (size_t x = i; x < end && !seen; x++)
                seen = list[x].n == list[end].n;
            procs += !seen;
        }
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "name", list[i].name);
        nsc_json_int(j, "processes", (int64_t)procs);
        nsc_json_close(j, '}');
        i = end;
    }
    nsc_json_close(j, ']');
    nsc_free(list);
}

static void devices(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "net_devices", '[');
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "host", nsc_say(m, d->host));
        nsc_json_text(j, "net", nsc_say(m, d->net));
        nsc_json_int(j, "index", d->index);
        nsc_json_text(j, "name", nsc_say(m, d->name));
        nsc_json_said(j, "port", d->port);
        nsc_json_text(j, "kind", TEXT(m, d->kind));
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void plugins(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "plugins", '[');
    for (size_t i = 0; i < m->plugins.len; i++) {
        const struct nsc_plugin *p = &m->plugins.item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "kind", nsc_say(m, p->kind));
        nsc_json_text(j, "name", TEXT(m, p->name));
        nsc_json_text(j, "file", TEXT(m, p->file));
        nsc_json_text(j, "version", TEXT(m, p->version));
        nsc_json_text(j, "state", nsc_say(m, p->state));
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static int by_env(const void *a, const void *b, void *model)
{
    const struct ncclscope_model *m = model;
    const struct nsc_env *x = &m->env.item[*(const uint32_t *)a], *y = &m->env.item[*(const uint32_t *)b];
    int c = nsc_compare(nsc_say(m, x->name), nsc_say(m, y->name));
    if (!c)
        c = nsc_compare(nsc_say(m, x->value), nsc_say(m, y->value));
    return c ? c : x->proc < y->proc ? -1 : x->proc > y->proc;
}

/* One variable: entries order[from, to), sorted by value. The value of most processes stands for it. */
static void variable(struct nsc_json *j, const struct ncclscope_model *m, const uint32_t *order, size_t from, size_t to)
{
    size_t best = from, most = 0;
    bool by_plugin = false;
    for (size_t i = from; i < to;) {
        size_t end = i;
        for (; end < to && m->env.item[order[end]].value == m->env.item[order[i]].value; end++)
            by_plugin = by_plugin || m->env.item[order[end]].by_plugin;
        if (end - i > most)
            most = end - i, best = i;
        i = end;
    }
    nsc_json_open(j, NULL, '{');
    nsc_json_text(j, "name", nsc_say(m, m->env.item[order[from]].name));
    nsc_json_text(j, "value", nsc_say(m, m->env.item[order[best]].value));
    nsc_json_string(j, "by", by_plugin ? "plugin" : "unknown");
    nsc_json_int(j, "processes", (int64_t)(to - from));
    nsc_json_open(j, "values", '{');
    for (size_t i = from; i < to;) {
        size_t end = i;
        while (end < to && m->env.item[order[end]].value == m->env.item[order[i]].value)
            end++;
        nsc_json_int(j, nsc_say(m, m->env.item[order[i]].value).ptr, (int64_t)(end - i));
        i = end;
    }
    nsc_json_close(j, '}');
    nsc_json_close(j, '}');
}

static void env(struct nsc_json *j, const struct ncclscope_model *m)
{
    uint32_t *order = nsc_alloc((m->env.len + 1) * sizeof *order);
    nsc_json_open(j, "env", '[');
    for (size_t i = 0; order && i < m->env.len; i++)
        order[i] = (uint32_t)i;
    if (order && m->env.len)
        qsort_r(order, m->env.len, sizeof *order, by_env, (void *)(uintptr_t)m);
    for (size_t i = 0; order && i < m->env.len;) {
        size_t end = i;
        while (end < m->env.len && m->env.item[order[end]].name == m->env.item[order[i]].name)
            end++;
        variable(j, m, order, i, end);
        i = end;
    }
    nsc_json_close(j, ']');
    nsc_free(order);
}

static void warnings(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "warnings", '[');
    for (size_t i = 0; i < m->warnings.len; i++) {
        const struct nsc_warning *w = &m->warnings.item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "text", nsc_say(m, w->shape));
        nsc_json_int(j, "lines", (int64_t)w->lines);
        where(j, "first", &w->where);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void finding(struct nsc_json *j, const struct ncclscope_model *m, const struct nsc_finding *f)
{
    nsc_json_open(j, NULL, '{');
    nsc_json_string(j, "id", f->rule->id);
    nsc_json_string(j, "severity", nsc_severity_name(f->severity));
    nsc_json_string(j, "confidence", f->confidence);
    nsc_json_string(j, "class", f->cls);
    nsc_json_string(j, "caused_by", f->caused_by);
    nsc_json_string(j, "title", f->title);
    nsc_json_string(j, "detail", f->rule->why);
    nsc_json_text(j, "comm", f->comm == NSC_NONE ? (nsc_text){NULL, 0} : nsc_say(m, m->comms.item[f->comm].id));
    nsc_json_open(j, "ranks", '[');
    for (size_t i = 0; i < f->ranks.len; i++)
        nsc_json_int(j, NULL, (int64_t)f->ranks.item[i]);
    nsc_json_close(j, ']');
    nsc_json_open(j, "pairs", '[');
    for (size_t i = 0; i < f->pairs.len; i++) {
        nsc_json_open(j, NULL, '[');
        nsc_json_int(j, NULL, (int64_t)f->pairs.item[i].a);
        nsc_json_int(j, NULL, (int64_t)f->pairs.item[i].b);
        nsc_json_close(j, ']');
    }
    nsc_json_close(j, ']');
    distinct(j, "hosts", m, f->hosts.item, f->hosts.len);
    nsc_json_int(j, "count", (int64_t)f->count);
    nsc_json_string(j, "cause", f->cause);
    nsc_json_string(j, "fix", f->fix);
    nsc_json_string(j, "cost", f->cost);
    nsc_json_string(j, "doc", f->rule->doc);
    nsc_json_open(j, "evidence", '[');
    for (size_t i = 0; i < f->evidences; i++) {
        nsc_json_open(j, NULL, '{');
        nsc_json_int(j, "source", f->evidence[i].source);
        nsc_json_int(j, "line", (int64_t)f->evidence[i].line);
        nsc_json_text(j, "text", f->evidence[i].text);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
    nsc_json_close(j, '}');
}

static void test_side(struct nsc_json *j, const char *key, const struct nsc_test *t, int i)
{
    nsc_json_open(j, key, '{');
    nsc_json_float(j, "time_us", t->time_us[i]);
    nsc_json_float(j, "algbw", t->algbw[i]);
    nsc_json_float(j, "busbw", t->busbw[i]);
    nsc_json_said(j, "wrong", t->wrong[i]);
    nsc_json_close(j, '}');
}

static void tests(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "collective_tests", '[');
    for (size_t i = 0; i < m->tests.len; i++) {
        const struct nsc_test *t = &m->tests.item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_int(j, "source", t->where.source);
        nsc_json_int(j, "line", (int64_t)t->where.line);
        nsc_json_text(j, "collective", TEXT(m, t->collective));
        nsc_json_int(j, "bytes", (int64_t)t->bytes);
        if (t->sides > 0)
            test_side(j, "out_of_place", t, 0);
        if (t->sides > 1)
            test_side(j, "in_place", t, 1);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void matrices(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "topologies", '[');
    for (size_t i = 0; i < m->matrices.len; i++) {
        const struct nsc_matrix *x = &m->matrices.item[i];
        if (!x->gpus || x->cells != x->gpus * x->gpus)
            continue;
        nsc_json_open(j, NULL, '{');
        nsc_json_int(j, "source", x->where.source);
        nsc_json_int(j, "line", (int64_t)x->where.line);
        nsc_json_string(j, "kind", "nvidia-smi topo -m");
        nsc_json_int(j, "gpus", x->gpus);
        nsc_json_open(j, "matrix", '[');
        for (uint32_t row = 0; row < x->gpus; row++) {
            nsc_json_open(j, NULL, '[');
            for (uint32_t c = 0; c < x->gpus; c++)
                nsc_json_text(j, NULL, nsc_say(m, m->cells.item[x->first + row * x->gpus + c]));
            nsc_json_close(j, ']');
        }
        nsc_json_close(j, ']');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

void nsc_report_json(const struct nsc_report *r)
{
    const struct ncclscope_model *m = r->m;
    struct nsc_json json = {r->out, true}, *j = &json;
    nsc_json_open(j, NULL, '{');
    nsc_json_string(j, "schema", "ncclscope.report/1");
    nsc_json_string(j, "tool", "ncclscope " NSC_VERSION);
    nsc_json_string(j, "verdict", nsc_verdict_name(r->f->verdict));
    sources(j, m);
    totals(j, m);
    versions(j, m);
    hosts(j, m);
    processes(j, m);
    nsc_json_open(j, "communicators", '[');
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].count)
            communicator(j, m, (uint32_t)i);
    nsc_json_close(j, ']');
    nsc_json_open(j, "links", '[');
    for (size_t i = 0; i < m->link_order.len; i++)
        link(j, m, &m->links.item[m->link_order.item[i]]);
    nsc_json_close(j, ']');
    networks(j, m);
    devices(j, m);
    plugins(j, m);
    env(j, m);
    warnings(j, m);
    nsc_json_open(j, "findings", '[');
    for (size_t i = 0; i < r->f->list.len; i++)
        finding(j, m, &r->f->list.item[i]);
    nsc_json_close(j, ']');
    nsc_json_open(j, "skipped_rules", '[');
    for (size_t i = 0; i < r->f->skipped.len; i++) {
        nsc_json_open(j, NULL, '{');
        nsc_json_string(j, "id", r->f->skipped.item[i].id);
        nsc_json_string(j, "reason", r->f->skipped.item[i].reason);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
    tests(j, m);
    matrices(j, m);
    nsc_json_close(j, '}');
    nsc_puts(r->out, "\n");
}
