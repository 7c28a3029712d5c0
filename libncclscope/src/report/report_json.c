/* report_json.c - the report as one JSON object, schema ncclscope.report/1. */
#include "report/json_report.h"
#include "report/json_rows.h"

#include "model/machines.h"
#include "probe/facts.h"

#include <stdio.h>
#include <stdlib.h>

/* A list of all rows of a table, each an object of its columns. */
static void table(struct nsc_json *j, const char *key, const struct nsc_rows *rows, int which)
{
    nsc_json_open(j, key, '[');
    for (size_t i = 0; i < rows->of[which].len; i++) {
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, which, nsc_row_at_(rows, which, i), NULL, NULL);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void totals(struct nsc_json *j, const struct nsc_rows *rows)
{
    const ncclscope_total *t = nsc_row_at(rows, total, 0);
    int64_t by_family[NSC_COLLNET + 1] = {0};
    nsc_json_open(j, "totals", '{');
    nsc_json_columns(j, NCCLSCOPE_TABLE_total, t, "lines", "cut_lines");
    nsc_json_open(j, "connections", '{');
    for (int64_t i = 0; i < nsc_row_next(rows, connection); i++) {
        const ncclscope_connection *c = nsc_row_at(rows, connection, (size_t)i);
        by_family[c->transport] += c->lines;
        nsc_json_int(j, c->via.ptr, c->lines);
    }
    nsc_json_close(j, '}');
    nsc_json_open(j, "transports", '{');
    for (int f = NSC_P2P; f <= NSC_COLLNET; f++)
        if (by_family[f])
            nsc_json_int(j, ncclscope_word_of("transport", f), by_family[f]);
    nsc_json_close(j, '}');
    nsc_json_columns(j, NCCLSCOPE_TABLE_total, t, "gdrdma", t->repeated == NCCLSCOPE_UNSAID ? "gdrdma" : "repeated");
    nsc_json_close(j, '}');
}

static void releases(struct nsc_json *j, const char *key, const struct nsc_rows *rows, int64_t of)
{
    nsc_json_open(j, key, '[');
    for (int64_t i = 0; i < nsc_row_next(rows, release); i++) {
        const ncclscope_release *r = nsc_row_at(rows, release, (size_t)i);
        if (r->of == of && r->number != NCCLSCOPE_UNSAID)
            nsc_json_int(j, NULL, r->number);
        else if (r->of == of)
            nsc_json_text(j, NULL, r->name);
    }
    nsc_json_close(j, ']');
}

static void versions(struct nsc_json *j, const struct nsc_rows *rows)
{
    releases(j, "nccl_versions", rows, NCCLSCOPE_RELEASE_OF_NCCL);
    nsc_json_columns(j, NCCLSCOPE_TABLE_total, nsc_row_at(rows, total, 0), "flavor", "flavor");
    releases(j, "cuda_drivers", rows, NCCLSCOPE_RELEASE_OF_CUDA_DRIVER);
    releases(j, "platforms", rows, NCCLSCOPE_RELEASE_OF_PLATFORM);
}

static int by_machine(const void *a, const void *b)
{
    const ncclscope_host *x = *(const ncclscope_host *const *)a, *y = *(const ncclscope_host *const *)b;
    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    return nsc_compare(x->name, y->name);
}

static void machines(struct nsc_json *j, const struct ncclscope_model *m)
{
    size_t n = (size_t)nsc_row_next(&m->rows, host), at = 0;
    const ncclscope_host **hosts = nsc_alloc((n + 1) * sizeof *hosts);
    for (size_t i = 0; hosts && i < n; i++)
        hosts[i] = nsc_row_at(&m->rows, host, i);
    if (hosts && n)
        qsort(hosts, n, sizeof *hosts, by_machine);
    while (hosts && at < n && hosts[at]->machine == NCCLSCOPE_UNSAID)
        at++;
    nsc_json_open(j, "machines", '[');
    for (int64_t i = 0; hosts && i < nsc_row_next(&m->rows, machine); i++) {
        const ncclscope_machine *x = nsc_row_at(&m->rows, machine, (size_t)i);
        nsc_json_open(j, NULL, '{');
        nsc_json_open(j, "hosts", '[');
        for (; at < n && hosts[at]->machine == i; at++)
            nsc_json_text(j, NULL, hosts[at]->name);
        nsc_json_close(j, ']');
        nsc_json_columns(j, NCCLSCOPE_TABLE_machine, x, NULL, NULL);
        nsc_json_place(j, "where", x->source, x->line);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
    nsc_free(hosts);
}

/* Only where --pod gave some. */
static void pods(struct nsc_json *j, const struct ncclscope_model *m)
{
    const ncclscope_pod_env *e;
    size_t at = 0;
    if (!nsc_row_next(&m->rows, pod))
        return;
    nsc_json_open(j, "pods", '[');
    for (int64_t i = 0; i < nsc_row_next(&m->rows, pod); i++) {
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_pod, nsc_row_at(&m->rows, pod, (size_t)i), NULL, NULL);
        nsc_json_open(j, "env", '[');
        while ((e = nsc_child_of(&m->rows, pod_env, &at, i))) {
            nsc_json_open(j, NULL, '{');
            nsc_json_columns(j, NCCLSCOPE_TABLE_pod_env, e, NULL, NULL);
            nsc_json_close(j, '}');
        }
        nsc_json_close(j, ']');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void env(struct nsc_json *j, const struct ncclscope_model *m)
{
    const ncclscope_env_value *v;
    size_t at = 0;
    nsc_json_open(j, "env", '[');
    for (int64_t i = 0; i < nsc_row_next(&m->rows, env); i++) {
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_env, nsc_row_at(&m->rows, env, (size_t)i), NULL, NULL);
        nsc_json_open(j, "values", '{');
        while ((v = nsc_child_of(&m->rows, env_value, &at, i)))
            nsc_json_int(j, v->value.ptr, v->processes);
        nsc_json_close(j, '}');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void warnings(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "warnings", '[');
    for (int64_t i = 0; i < nsc_row_next(&m->rows, warning); i++) {
        const ncclscope_warning *w = nsc_row_at(&m->rows, warning, (size_t)i);
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_warning, w, NULL, NULL);
        nsc_json_place(j, "first", w->source, w->line);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

/* How far the lists that belong to findings are written. */
struct lists {
    size_t cause, rank, pair, host, evidence;
};

static void evidence(struct nsc_json *j, const struct nsc_rows *rows, int64_t i, struct lists *at)
{
    const ncclscope_evidence *e;
    nsc_json_open(j, "evidence", '[');
    while ((e = nsc_child_of(rows, evidence, &at->evidence, i))) {
        nsc_json_open(j, NULL, '{');
        nsc_json_int(j, "source", e->source);
        nsc_json_int(j, "line", e->line);
        nsc_json_text(j, "text", e->text);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void about(struct nsc_json *j, const struct nsc_rows *rows, int64_t i, int64_t more, struct lists *at)
{
    const ncclscope_finding_rank *rank;
    const ncclscope_finding_pair *pair;
    const ncclscope_finding_host *host;
    nsc_json_open(j, "ranks", '[');
    while ((rank = nsc_child_of(rows, finding_rank, &at->rank, i)))
        nsc_json_int(j, NULL, rank->rank);
    nsc_json_close(j, ']');
    if (more)
        nsc_json_int(j, "ranks_more", more);
    nsc_json_open(j, "pairs", '[');
    while ((pair = nsc_child_of(rows, finding_pair, &at->pair, i))) {
        nsc_json_open(j, NULL, '[');
        nsc_json_int(j, NULL, pair->a);
        nsc_json_int(j, NULL, pair->b);
        nsc_json_close(j, ']');
    }
    nsc_json_close(j, ']');
    nsc_json_open(j, "hosts", '[');
    while ((host = nsc_child_of(rows, finding_host, &at->host, i)))
        nsc_json_text(j, NULL, host->host);
    nsc_json_close(j, ']');
}

static void finding(struct nsc_json *j, const struct ncclscope_findings *f, int64_t i, struct lists *at)
{
    const ncclscope_finding *x = nsc_row_at(&f->rows, finding, (size_t)i);
    const ncclscope_finding_cause *cause;
    nsc_json_columns(j, NCCLSCOPE_TABLE_finding, x, NULL, "caused_by");
    nsc_json_open(j, "cause_ids", '[');
    while ((cause = nsc_child_of(&f->rows, finding_cause, &at->cause, i)))
        nsc_json_text(j, NULL, cause->cause);
    nsc_json_close(j, ']');
    nsc_json_columns(j, NCCLSCOPE_TABLE_finding, x, "title", "detail");
    nsc_json_text(j, "comm",
                  x->comm == NCCLSCOPE_UNSAID ? (nsc_text){NULL, 0}
                                              : nsc_row_at(&f->model->rows, comm, (size_t)x->comm)->id);
    about(j, &f->rows, i, x->ranks_more, at);
    nsc_json_columns(j, NCCLSCOPE_TABLE_finding, x, "count", NULL);
    evidence(j, &f->rows, i, at);
}

/* The lists of findings that are left out are passed over. */
static void pass(const struct nsc_rows *rows, int64_t i, struct lists *at)
{
    while (nsc_child_of(rows, finding_cause, &at->cause, i) || nsc_child_of(rows, finding_rank, &at->rank, i) ||
           nsc_child_of(rows, finding_pair, &at->pair, i) || nsc_child_of(rows, finding_host, &at->host, i) ||
           nsc_child_of(rows, evidence, &at->evidence, i))
        ;
}

void nsc_json_findings(const struct nsc_report *r, struct nsc_json *j)
{
    struct lists at = {0};
    nsc_json_open(j, "findings", '[');
    for (int64_t i = 0; i < nsc_row_next(&r->f->rows, finding); i++) {
        if (!nsc_text_starts(nsc_row_at(&r->f->rows, finding, (size_t)i)->id, r->about)) {
            pass(&r->f->rows, i, &at);
            continue;
        }
        nsc_json_open(j, NULL, '{');
        finding(j, r->f, i, &at);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

/* Only where something was expected. */
static void expectations(const struct nsc_report *r, struct nsc_json *j)
{
    const struct nsc_rows *rows = &r->f->rows;
    if (!nsc_row_next(rows, expectation))
        return;
    nsc_json_open(j, "expectations", '[');
    for (int64_t i = 0; i < nsc_row_next(rows, expectation); i++) {
        const ncclscope_expectation *e = nsc_row_at(rows, expectation, (size_t)i);
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_expectation, e, NULL, "why");
        nsc_json_open(j, "pairs", '[');
        if (e->a != NCCLSCOPE_UNSAID) {
            nsc_json_open(j, NULL, '[');
            nsc_json_int(j, NULL, e->a);
            nsc_json_int(j, NULL, e->b);
            nsc_json_close(j, ']');
        }
        nsc_json_close(j, ']');
        nsc_json_place(j, "where", e->source, e->line);
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
    nsc_json_columns(j, NCCLSCOPE_TABLE_outcome, nsc_row_at(&r->f->rows, outcome, 0), NULL, NULL);
    table(j, "sources", &m->rows, NCCLSCOPE_TABLE_source);
    totals(j, &m->rows);
    versions(j, &m->rows);
    table(j, "hosts", &m->rows, NCCLSCOPE_TABLE_host);
    machines(j, m);
    pods(j, m);
    nsc_json_processes(j, m);
    nsc_json_communicators(j, m);
    nsc_json_links(j, r->f);
    table(j, "networks", &m->rows, NCCLSCOPE_TABLE_network);
    table(j, "net_devices", &m->rows, NCCLSCOPE_TABLE_net_device);
    table(j, "plugins", &m->rows, NCCLSCOPE_TABLE_plugin);
    env(j, m);
    warnings(j, m);
    nsc_json_findings(r, j);
    expectations(r, j);
    table(j, "skipped_rules", &r->f->rows, NCCLSCOPE_TABLE_skipped_rule);
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
