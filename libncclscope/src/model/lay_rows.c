/* lay_rows.c - a finished model as the rows of columns.def. Each function fills one table, or one and the lists that belong to it. */
#include "model/lay.h"
#include "model/machines.h"
#include "model/path.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what was read ---- */

static void lay_sources(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->sources.len; i++) {
        const struct nsc_source_info *s = &l->m->sources.item[i];
        ncclscope_source *r = nsc_row_new(l->to, source);
        r->name = nsc_say(l->m, s->name);
        r->format = s->stats.format;
        r->bytes = (int64_t)s->stats.bytes;
        r->lines = (int64_t)s->stats.lines;
        r->nccl_lines = (int64_t)s->stats.records;
        r->unknown_lines = (int64_t)s->stats.unknown;
        r->torn_lines = (int64_t)s->stats.torn_lines;
        r->cut_lines = (int64_t)s->stats.cut_lines;
        r->truncated = s->stats.truncated != 0;
        r->first_time = nsc_lay_text(l, s->first_time);
        r->last_time = nsc_lay_text(l, s->last_time);
        r->problem = nsc_lay_text(l, s->problem);
    }
}

static int by_via(const void *a, const void *b, void *model)
{
    const struct nsc_count *x = *(const struct nsc_count *const *)a, *y = *(const struct nsc_count *const *)b;
    return nsc_compare(nsc_say(model, x->text), nsc_say(model, y->text));
}

static void lay_connections(struct nsc_laying *l)
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

static void lay_totals(struct nsc_laying *l)
{
    const struct ncclscope_model *m = l->m;
    ncclscope_stats t = {.size = sizeof t};
    int64_t gdrdma = 0, repeated = 0;
    for (size_t i = 0; i < m->sources.len; i++) {
        const ncclscope_stats *s = &m->sources.item[i].stats;
        t.lines += s->lines;
        t.records += s->records;
        t.unknown += s->unknown;
        t.warnings += s->warnings;
        t.torn_lines += s->torn_lines;
        t.cut_lines += s->cut_lines;
    }
    for (size_t i = 0; i < m->connections.len; i++) {
        gdrdma += m->connections.item[i].gdrdma ? (int64_t)m->connections.item[i].lines : 0;
        repeated += (int64_t)m->connections.item[i].repeated;
    }
    ncclscope_total *r = nsc_row_new(l->to, total);
    r->lines = (int64_t)t.lines;
    r->nccl_lines = (int64_t)t.records;
    r->unknown_lines = (int64_t)t.unknown;
    r->warn_lines = (int64_t)t.warnings;
    r->torn_lines = (int64_t)t.torn_lines;
    r->cut_lines = (int64_t)t.cut_lines;
    r->gdrdma = gdrdma;
    r->repeated = repeated ? repeated : NCCLSCOPE_UNSAID;
    r->pattern_records_more = m->own_more ? (int64_t)m->own_more : NCCLSCOPE_UNSAID;
    r->flavor = nsc_is_rccl(m) ? NCCLSCOPE_FLAVOR_RCCL : NCCLSCOPE_FLAVOR_NCCL;
}

static int by_words(const void *a, const void *b)
{
    return nsc_compare(*(const nsc_text *)a, *(const nsc_text *)b);
}

/* Those that are said, each once, in order; of[] is gone behind this. */
static void lay_named(struct nsc_laying *l, int64_t what, nsc_text *of, size_t n)
{
    if (n)
        qsort(of, n, sizeof *of, by_words);
    for (size_t i = 0; i < n; i++) {
        if (!of[i].len || (i && nsc_text_eq(of[i], of[i - 1])))
            continue;
        ncclscope_release *r = nsc_row_new(l->to, release);
        r->of = what;
        r->name = of[i];
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void lay_drivers(struct nsc_laying *l)
{
    size_t n = l->m->procs.len;
    uint64_t *of = nsc_alloc((n + 1) * sizeof *of);
    for (size_t i = 0; of && i < n; i++)
        of[i] = l->m->procs.item[i].driver;
    if (of && n)
        qsort(of, n, sizeof *of, by_number);
    for (size_t i = 0; of && i < n; i++) {
        if (!of[i] || (i && of[i] == of[i - 1]))
            continue;
        char words[24];
        snprintf(words, sizeof words, "%llu", (unsigned long long)of[i]);
        ncclscope_release *r = nsc_row_new(l->to, release);
        r->of = NCCLSCOPE_RELEASE_OF_CUDA_DRIVER;
        r->name = nsc_lay_kept(l, words);
        r->number = (int64_t)of[i];
    }
    nsc_free(of);
}

static void lay_releases(struct nsc_laying *l)
{
    const struct ncclscope_model *m = l->m;
    size_t n = 0;
    nsc_text *of = nsc_alloc((m->procs.len + 2 * m->sources.len + 1) * sizeof *of);
    for (size_t i = 0; of && i < m->procs.len; i++)
        of[n++] = nsc_say(m, m->procs.item[i].version);
    for (size_t i = 0; of && i < m->sources.len; i++) {
        of[n++] = nsc_say(m, m->sources.item[i].bare_version);
        of[n++] = nsc_say(m, m->sources.item[i].bare_other);
    }
    lay_named(l, NCCLSCOPE_RELEASE_OF_NCCL, of, n);
    lay_drivers(l);
    n = 0;
    for (size_t i = 0; of && i < m->procs.len; i++)
        of[n++] = nsc_say(m, m->procs.item[i].platform);
    lay_named(l, NCCLSCOPE_RELEASE_OF_PLATFORM, of, n);
    nsc_free(of);
}

static void lay_machines(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->machines.len; i++) {
        const struct nsc_machine *x = &l->m->machines.item[i];
        ncclscope_machine *r = nsc_row_new(l->to, machine);
        r->several = x->several;
        r->confidence = (int64_t)x->confidence;
        r->why = nsc_text_of(x->why);
        nsc_lay_where(&r->source, &r->line, &x->where);
    }
}

static void lay_hosts(struct nsc_laying *l)
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
static void lay_gpus_of_links(struct nsc_laying *l, uint32_t proc, const uint32_t *links, size_t from, size_t to)
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
static bool lay_gpus_of_ranks(struct nsc_laying *l, uint32_t proc, const uint32_t *ranks, size_t from, size_t to)
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
        r->bus_id = nsc_lay_text(l, x->bus_id);
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

static void lay_version(struct nsc_laying *l, ncclscope_process *r, uint32_t proc)
{
    static const int64_t how[] = {NCCLSCOPE_HOW_UNKNOWN, NCCLSCOPE_HOW_INFERRED, NCCLSCOPE_HOW_INFERRED,
                                  NCCLSCOPE_HOW_STATED, NCCLSCOPE_HOW_STATED};
    struct nsc_version v = nsc_version_of(l->m, proc);
    struct nsc_version a = {.low = v.low, .high = v.low}, b = {.low = v.high, .high = v.high};
    char text[60];
    bool of_others = v.how == NSC_VERSION_SOURCE && l->m->sources.len == 1 && l->m->hosts.len > 1;
    r->version_how =
        of_others ? NCCLSCOPE_HOW_INFERRED : how[v.how]; /* one process printed it, and no line says on which host */
    r->version = nsc_lay_text(l, v.text);
    nsc_version_spell(&a, text, sizeof text);
    if (v.how && v.low)
        r->version_from = nsc_say(l->m, nsc_keep(l->m, nsc_text_of(text)));
    nsc_version_spell(&b, text, sizeof text);
    if (v.how && v.high < NSC_VERSION_OPEN)
        r->version_to = nsc_say(l->m, nsc_keep(l->m, nsc_text_of(text)));
}

static void lay_processes(struct nsc_laying *l)
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
        r->pod = nsc_lay_text(l, p->pod);
        r->container = nsc_lay_text(l, p->container);
        r->cuda_driver = p->driver ? (int64_t)p->driver : NCCLSCOPE_UNSAID;
        r->network = nsc_lay_text(l, p->network);
        r->platform = nsc_lay_text(l, p->platform);
        if (!lay_gpus_of_ranks(l, proc, ranks.item, ranks.start[proc], ranks.start[proc + 1]))
            lay_gpus_of_links(l, proc, links.item, links.start[proc], links.start[proc + 1]);
    }
    nsc_free(ranks.item);
    nsc_free(ranks.start);
    nsc_free(links.item);
    nsc_free(links.start);
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
static void lay_networks(struct nsc_laying *l)
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

static void lay_devices(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->devices.len; i++) {
        const struct nsc_net_device *x = &l->m->devices.item[i];
        ncclscope_net_device *r = nsc_row_new(l->to, net_device);
        r->host = nsc_lay_text(l, x->host); /* none: its line had lost its header */
        r->net = nsc_say(l->m, x->net);
        r->index = x->index;
        r->name = nsc_say(l->m, x->name);
        r->port = nsc_if_said(x->port);
        r->kind = nsc_lay_text(l, x->kind);
    }
}

static int by_first_line(const void *a, const void *b)
{
    const struct nsc_plugin *x = *(const struct nsc_plugin *const *)a, *y = *(const struct nsc_plugin *const *)b;
    return nsc_is_earlier(&x->where, &y->where) ? -1 : nsc_is_earlier(&y->where, &x->where);
}

/* In the order of the log, whatever the order in which streams came. */
static void lay_plugins(struct nsc_laying *l)
{
    size_t n = l->m->plugins.len;
    const struct nsc_plugin **list = nsc_alloc((n + 1) * sizeof *list);
    for (size_t i = 0; list && i < n; i++)
        list[i] = &l->m->plugins.item[i];
    if (list && n)
        qsort(list, n, sizeof *list, by_first_line);
    for (size_t i = 0; list && i < n; i++) {
        const struct nsc_plugin *x = list[i];
        ncclscope_plugin *r = nsc_row_new(l->to, plugin);
        r->kind = nsc_say(l->m, x->kind);
        r->name = nsc_lay_text(l, x->name);
        r->file = nsc_lay_text(l, x->file);
        r->version = nsc_lay_text(l, x->version);
        r->state = nsc_say(l->m, x->state);
    }
    nsc_free(list);
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

static int64_t set_by(bool plugin, bool pod)
{
    return plugin ? NCCLSCOPE_SET_BY_PLUGIN : pod ? NCCLSCOPE_SET_BY_ENVIRONMENT : NCCLSCOPE_SET_BY_UNKNOWN;
}

/* One variable: entries order[from, to), sorted by value. The value of most processes stands for it. */
static void lay_variable(struct nsc_laying *l, const uint32_t *order, size_t from, size_t to)
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
    r->by = set_by(by_plugin, by_pod);
}

static void lay_process_envs(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->env.len; i++) {
        const struct nsc_env *e = &l->m->env.item[i];
        ncclscope_process_env *r = nsc_row_new(l->to, process_env);
        r->process = l->process[e->proc];
        r->name = nsc_say(l->m, e->name);
        r->value = nsc_say(l->m, e->value);
        r->by = set_by(e->by_plugin, e->by_pod);
        nsc_lay_where(&r->source, &r->line, &e->where);
    }
}

static void lay_environment(struct nsc_laying *l)
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

/* Only where specs of pods were given. */
static void lay_pods(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->pods.len; i++) {
        const struct nsc_pod *p = &l->m->pods.item[i];
        ncclscope_pod *r = nsc_row_new(l->to, pod);
        r->name = nsc_lay_text(l, p->name);
        r->node = nsc_lay_text(l, p->node);
        r->instance_type = nsc_lay_text(l, p->instance);
        r->gpus = nsc_if_said(p->gpus);
        r->mig = p->mig;
        r->efa = nsc_if_said(p->efa);
        r->host_ipc = p->host_ipc;
        r->host_network = p->host_network;
        r->share_process_namespace = p->share_processes;
        r->shm_volume = p->shm_volume;
        r->shm_medium = nsc_lay_text(l, p->shm_medium);
        r->shm_bytes = nsc_if_said(p->shm_size);
        r->ipc_lock = p->ipc_lock || p->privileged;
        r->env_from_elsewhere = p->env_from;
        r->processes = p->processes;
    }
    for (size_t i = 0; i < l->m->pod_env.len; i++) {
        const struct nsc_pod_env *e = &l->m->pod_env.item[i];
        ncclscope_pod_env *r = nsc_row_new(l->to, pod_env);
        r->pod = e->pod;
        r->container = nsc_lay_text(l, e->container);
        r->name = nsc_say(l->m, e->name);
        r->value = nsc_lay_text(l, e->value);
    }
}

static void lay_warnings(struct nsc_laying *l)
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

void nsc_lay_rows(struct ncclscope_model *m)
{
    static void (*const steps[])(struct nsc_laying *) = {
        lay_sources,     lay_connections,  lay_totals,    lay_releases,  lay_machines,   lay_hosts,     lay_processes,
        nsc_lay_comms,   nsc_lay_rings,    nsc_lay_trees, nsc_lay_links, lay_networks,   lay_devices,   lay_plugins,
        lay_environment, lay_process_envs, lay_pods,      lay_warnings,  nsc_lay_others, nsc_lay_facts,
    };
    struct nsc_laying l = {m, &m->rows, nsc_alloc((m->procs.len + 1) * sizeof *l.process)};
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
