/* json_others.c - what the input holds beside NCCL's lines, as JSON: benchmarks, matrices, watchdogs, rows of the user. */
#include "report/json_report.h"
#include "report/json_rows.h"

static void source_and_line(struct nsc_json *j, int64_t source, int64_t line)
{
    nsc_json_int(j, "source", source);
    nsc_json_int(j, "line", line);
}

static void tests(struct nsc_json *j, const struct nsc_rows *rows)
{
    const ncclscope_collective_time *t;
    size_t at = 0;
    nsc_json_open(j, "collective_tests", '[');
    for (int64_t i = 0; i < nsc_row_next(rows, collective_test); i++) {
        const ncclscope_collective_test *x = nsc_row_at(rows, collective_test, (size_t)i);
        nsc_json_open(j, NULL, '{');
        source_and_line(j, x->source, x->line);
        nsc_json_columns(j, NCCLSCOPE_TABLE_collective_test, x, NULL, NULL);
        while ((t = nsc_child_of(rows, collective_time, &at, i))) {
            nsc_json_open(j, t->in_place ? "in_place" : "out_of_place", '{');
            nsc_json_columns(j, NCCLSCOPE_TABLE_collective_time, t, "time_us", NULL);
            nsc_json_close(j, '}');
        }
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void field(struct nsc_json *j, const ncclscope_event_field *f)
{
    uint64_t size;
    int64_t whole;
    double number;
    if (f->type == NCCLSCOPE_VALUE_TYPE_COUNT && nsc_to_u64(f->value, &size))
        nsc_json_count(j, f->name.ptr, size);
    else if ((f->type == NCCLSCOPE_VALUE_TYPE_COUNT || f->type == NCCLSCOPE_VALUE_TYPE_INTEGER) &&
             nsc_to_i64(f->value, &whole))
        nsc_json_int(j, f->name.ptr, whole);
    else if (f->type == NCCLSCOPE_VALUE_TYPE_NUMBER && nsc_to_f64(f->value, &number))
        nsc_json_float(j, f->name.ptr, number);
    else
        nsc_json_text(j, f->name.ptr, f->value.ptr ? f->value : (nsc_text){"", 0});
}

/* Events from *i on, as long as they are of this kind; none, no list. *at: how far their fields are written. */
static void events(struct nsc_json *j, const char *key, const struct nsc_rows *rows, int64_t pattern, int64_t *i,
                   size_t *at)
{
    int64_t n = nsc_row_next(rows, event);
    if (*i == n || nsc_row_at(rows, event, (size_t)*i)->pattern != pattern)
        return;
    nsc_json_open(j, key, '[');
    for (; *i < n && nsc_row_at(rows, event, (size_t)*i)->pattern == pattern; ++*i) {
        const ncclscope_event *e = nsc_row_at(rows, event, (size_t)*i);
        const ncclscope_event_field *f;
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_event, e, NULL, "kind");
        source_and_line(j, e->source, e->line);
        nsc_json_columns(j, NCCLSCOPE_TABLE_event, e, "time", "pid");
        nsc_json_open(j, "fields", '{');
        while ((f = nsc_child_of(rows, event_field, at, *i)))
            field(j, f);
        nsc_json_close(j, '}');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void ras_rank(struct nsc_json *j, const struct nsc_rows *rows, const ncclscope_ras_rank *r, int64_t row,
                     size_t *call)
{
    const ncclscope_ras_call *c;
    nsc_json_columns(j, NCCLSCOPE_TABLE_ras_rank, r, "rank", "nvml_dev");
    nsc_json_int(j, "line", r->line);
    if (r->missing) {
        nsc_json_columns(j, NCCLSCOPE_TABLE_ras_rank, r, "missing", "considered_dead");
        return;
    }
    nsc_json_columns(j, NCCLSCOPE_TABLE_ras_rank, r, "missing", "missing");
    nsc_json_columns(j, NCCLSCOPE_TABLE_ras_rank, r, "init_state", NULL);
    nsc_json_open(j, "collective_counts", '{');
    while ((c = nsc_child_of(rows, ras_call, call, row)))
        nsc_json_int(j, c->collective.ptr, c->calls);
    nsc_json_close(j, '}');
}

/* Reports of ncclras: one entry for each communicator in each, in order; only where there are any. */
static void ras(struct nsc_json *j, const struct nsc_rows *rows)
{
    const ncclscope_ras_rank *r;
    size_t rank = 0, call = 0;
    if (!nsc_row_next(rows, ras_comm))
        return;
    nsc_json_open(j, "ras", '[');
    for (int64_t i = 0; i < nsc_row_next(rows, ras_comm); i++) {
        const ncclscope_ras_comm *c = nsc_row_at(rows, ras_comm, (size_t)i);
        nsc_json_open(j, NULL, '{');
        nsc_json_int(j, "source", c->source);
        nsc_json_columns(j, NCCLSCOPE_TABLE_ras_comm, c, NULL, NULL);
        nsc_json_open(j, "ranks", '[');
        while ((r = nsc_child_of(rows, ras_rank, &rank, i))) {
            nsc_json_open(j, NULL, '{');
            ras_rank(j, rows, r, (int64_t)rank - 1, &call);
            nsc_json_close(j, '}');
        }
        nsc_json_close(j, ']');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

/* NCCL's own diagnostics, in the order in which it printed them; only where there are any. */
static void diagnostics(struct nsc_json *j, const struct nsc_rows *rows)
{
    if (!nsc_row_next(rows, diagnostic))
        return;
    nsc_json_open(j, "diagnostics", '[');
    for (int64_t i = 0; i < nsc_row_next(rows, diagnostic); i++) {
        const ncclscope_diagnostic *d = nsc_row_at(rows, diagnostic, (size_t)i);
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_diagnostic, d, NULL, NULL);
        nsc_json_place(j, "where", d->source, d->line);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void topologies(struct nsc_json *j, const struct nsc_rows *rows)
{
    const ncclscope_topology_cell *c;
    size_t at = 0;
    nsc_json_open(j, "topologies", '[');
    for (int64_t i = 0; i < nsc_row_next(rows, topology); i++) {
        const ncclscope_topology *t = nsc_row_at(rows, topology, (size_t)i);
        nsc_json_open(j, NULL, '{');
        source_and_line(j, t->source, t->line);
        nsc_json_columns(j, NCCLSCOPE_TABLE_topology, t, NULL, NULL);
        nsc_json_open(j, "matrix", '[');
        while ((c = nsc_child_of(rows, topology_cell, &at, i))) {
            if (!c->to)
                nsc_json_open(j, NULL, '[');
            nsc_json_text(j, NULL, c->path);
            if (c->to == t->gpus - 1)
                nsc_json_close(j, ']');
        }
        nsc_json_close(j, ']');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

void nsc_json_others(struct nsc_json *j, const struct ncclscope_model *m)
{
    int64_t event = 0;
    size_t field = 0;
    tests(j, &m->rows);
    events(j, "events", &m->rows, 0, &event, &field);
    diagnostics(j, &m->rows);
    ras(j, &m->rows);
    events(j, "pattern_records", &m->rows, 1, &event, &field);
    const ncclscope_total *t = nsc_row_at(&m->rows, total, 0);
    if (t->pattern_records_more != NCCLSCOPE_UNSAID)
        nsc_json_int(j, "pattern_records_more", t->pattern_records_more);
    topologies(j, &m->rows);
}
