/* report_json.c - the report as one JSON object, schema ncclscope.report/1. */
#include "report/json_report.h"

#include "model/machines.h"
#include "probe/facts.h"
#include "rules/expectations.h"

#include <stdio.h>
#include <stdlib.h>

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
        nsc_json_text(j, "first_time", NSC_JSON_TEXT(m, s->first_time));
        nsc_json_text(j, "last_time", NSC_JSON_TEXT(m, s->last_time));
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
    size_t n = m->procs.len + 2 * m->sources.len, k = 0;
    nsc_str *v = nsc_alloc((n + 1) * sizeof *v), *p = nsc_alloc((n + 1) * sizeof *p);
    uint64_t last = 0;
    bool rccl = nsc_is_rccl(m);
    for (size_t i = 0; v && i < m->procs.len; i++) {
        v[k++] = m->procs.item[i].version;
    }
    for (size_t i = 0; v && i < m->sources.len; i++)
        v[k++] = m->sources.item[i].bare_version, v[k++] = m->sources.item[i].bare_other;
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

static void machines(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "machines", '[');
    for (uint32_t i = 0; i < m->machines.len; i++) {
        const struct nsc_machine *x = &m->machines.item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_open(j, "hosts", '[');
        for (uint32_t k = x->first_host; k != NSC_NONE; k = m->hosts.item[k].next)
            nsc_json_text(j, NULL, nsc_say(m, m->hosts.item[k].name));
        nsc_json_close(j, ']');
        nsc_json_bool(j, "several", x->several);
        nsc_json_string(j, "confidence", nsc_confidence_name(x->confidence));
        nsc_json_string(j, "why", x->why);
        if (x->where.line)
            nsc_json_where(j, "where", &x->where);
        else
            nsc_json_null(j, "where");
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

/* Only where --pod gave some. */
static void pods(struct nsc_json *j, const struct ncclscope_model *m)
{
    if (!m->pods.len)
        return;
    size_t env = 0;
    nsc_json_open(j, "pods", '[');
    for (uint32_t i = 0; i < m->pods.len; i++) {
        const struct nsc_pod *p = &m->pods.item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "name", NSC_JSON_TEXT(m, p->name));
        nsc_json_text(j, "node", NSC_JSON_TEXT(m, p->node));
        nsc_json_text(j, "instance_type", NSC_JSON_TEXT(m, p->instance));
        nsc_json_said(j, "gpus", p->gpus);
        nsc_json_bool(j, "mig", p->mig);
        nsc_json_said(j, "efa", p->efa);
        nsc_json_bool(j, "host_ipc", p->host_ipc);
        nsc_json_bool(j, "host_network", p->host_network);
        nsc_json_bool(j, "share_process_namespace", p->share_processes);
        nsc_json_bool(j, "shm_volume", p->shm_volume);
        nsc_json_text(j, "shm_medium", NSC_JSON_TEXT(m, p->shm_medium));
        nsc_json_said(j, "shm_bytes", p->shm_size);
        nsc_json_bool(j, "ipc_lock", p->ipc_lock || p->privileged);
        nsc_json_bool(j, "env_from_elsewhere", p->env_from);
        nsc_json_int(j, "processes", p->processes);
        nsc_json_open(j, "env", '[');
        for (; env < m->pod_env.len && m->pod_env.item[env].pod == i; env++) { /* they lie by pod */
            const struct nsc_pod_env *e = &m->pod_env.item[env];
            nsc_json_open(j, NULL, '{');
            nsc_json_text(j, "container", NSC_JSON_TEXT(m, e->container));
            nsc_json_text(j, "name", nsc_say(m, e->name));
            nsc_json_text(j, "value", NSC_JSON_TEXT(m, e->value));
            nsc_json_close(j, '}');
        }
        nsc_json_close(j, ']');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static int by_name_and_number(const void *a, const void *b)
{
    const struct named *p = a, *q = b;
    int c = nsc_compare(p->name, q->name);
    return c ? c : p->n < q->n ? -1 : p->n > q->n;
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
        qsort(list, k, sizeof *list, by_name_and_number);
    nsc_json_open(j, "networks", '[');
    for (size_t i = 0; i < k;) {
        size_t end = i, procs = 0;
        for (; end < k && nsc_text_eq(list[end].name, list[i].name); end++)
            procs += end == i || list[end].n != list[end - 1].n;
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
        nsc_json_text(j, "kind", NSC_JSON_TEXT(m, d->kind));
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
        nsc_json_text(j, "name", NSC_JSON_TEXT(m, p->name));
        nsc_json_text(j, "file", NSC_JSON_TEXT(m, p->file));
        nsc_json_text(j, "version", NSC_JSON_TEXT(m, p->version));
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
    bool by_plugin = false, by_pod = false;
    for (size_t i = from; i < to;) {
        size_t end = i;
        for (; end < to && m->env.item[order[end]].value == m->env.item[order[i]].value; end++)
            by_plugin = by_plugin || m->env.item[order[end]].by_plugin,
            by_pod = by_pod || m->env.item[order[end]].by_pod;
        if (end - i > most)
            most = end - i, best = i;
        i = end;
    }
    nsc_json_open(j, NULL, '{');
    nsc_json_text(j, "name", nsc_say(m, m->env.item[order[from]].name));
    nsc_json_text(j, "value", nsc_say(m, m->env.item[order[best]].value));
    nsc_json_string(j, "by", by_plugin ? "plugin" : by_pod ? "environment" : "unknown");
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
        nsc_json_where(j, "first", &w->where);
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
    nsc_json_string(j, "caused_by", nsc_words_of_id(f->caused_by));
    nsc_json_open(j, "cause_ids", '[');
    for (size_t i = 0; i < f->why_rows; i++)
        nsc_json_string(j, NULL, f->why_row[i]);
    nsc_json_close(j, ']');
    nsc_json_string(j, "title", f->title);
    nsc_json_string(j, "detail", f->rule->why);
    nsc_json_text(j, "comm", f->comm == NSC_NONE ? (nsc_text){NULL, 0} : nsc_say(m, m->comms.item[f->comm].id));
    nsc_json_open(j, "ranks", '[');
    for (size_t i = 0; i < f->ranks.len; i++)
        nsc_json_int(j, NULL, (int64_t)f->ranks.item[i]);
    nsc_json_close(j, ']');
    if (f->ranks_more)
        nsc_json_int(j, "ranks_more", f->ranks_more);
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

void nsc_json_findings(const struct nsc_report *r, struct nsc_json *j)
{
    nsc_json_open(j, "findings", '[');
    for (size_t i = 0; i < r->f->list.len; i++)
        if (!strncmp(r->f->list.item[i].rule->id, r->about, strlen(r->about)))
            finding(j, r->m, &r->f->list.item[i]);
    nsc_json_close(j, ']');
}

/* Only where something was expected. */
static void expectations(const struct nsc_report *r, struct nsc_json *j)
{
    if (!r->f->expected.len)
        return;
    nsc_json_open(j, "expectations", '[');
    for (size_t i = 0; i < r->f->expected.len; i++) {
        const struct nsc_expectation *e = &r->f->expected.item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_string(j, "expect", e->words);
        nsc_json_string(j, "state", nsc_kept_name(e->kept));
        nsc_json_string(j, "why", e->why);
        nsc_json_open(j, "pairs", '[');
        if (e->pair.a != e->pair.b) {
            nsc_json_open(j, NULL, '[');
            nsc_json_int(j, NULL, (int64_t)e->pair.a);
            nsc_json_int(j, NULL, (int64_t)e->pair.b);
            nsc_json_close(j, ']');
        }
        nsc_json_close(j, ']');
        if (e->where.line)
            nsc_json_where(j, "where", &e->where);
        else
            nsc_json_null(j, "where");
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
    machines(j, m);
    pods(j, m);
    nsc_json_processes(j, m);
    nsc_json_open(j, "communicators", '[');
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].count)
            nsc_json_communicator(j, m, (uint32_t)i);
    nsc_json_close(j, ']');
    nsc_json_open(j, "links", '[');
    for (size_t i = 0; i < m->link_order.len; i++)
        nsc_json_link(j, m, &m->links.item[m->link_order.item[i]]);
    nsc_json_close(j, ']');
    networks(j, m);
    devices(j, m);
    plugins(j, m);
    env(j, m);
    warnings(j, m);
    nsc_json_findings(r, j);
    expectations(r, j);
    nsc_json_open(j, "skipped_rules", '[');
    for (size_t i = 0; i < r->f->skipped.len; i++) {
        nsc_json_open(j, NULL, '{');
        nsc_json_string(j, "id", r->f->skipped.item[i].id);
        nsc_json_string(j, "reason", r->f->skipped.item[i].reason);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
    nsc_json_others(j, m);
    nsc_json_close(j, '}');
    nsc_puts(r->out, "\n");
}

void nsc_facts_json(const struct nsc_report *r)
{
    struct nsc_json json = {r->out, true}, *j = &json;
    nsc_json_open(j, NULL, '{');
    nsc_json_string(j, "schema", "ncclscope.probe/1");
    nsc_json_string(j, "tool", "ncclscope " NSC_VERSION);
    nsc_json_open(j, "facts", '{');
    nsc_facts_members(r->m->facts, j);
    nsc_json_close(j, '}');
    nsc_json_findings(r, j);
    nsc_json_close(j, '}');
    nsc_puts(r->out, "\n");
}
