/* json_others.c - what the input holds beside NCCL's lines, as JSON: benchmarks, matrices, watchdogs, rows of the user. */
#include "report/json_report.h"

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
        nsc_json_text(j, "collective", NSC_JSON_TEXT(m, t->collective));
        nsc_json_count(j, "bytes", t->bytes);
        nsc_json_count(j, "count", t->count);
        nsc_json_text(j, "type", NSC_JSON_TEXT(m, t->type));
        nsc_json_text(j, "redop", NSC_JSON_TEXT(m, t->redop));
        nsc_json_text(j, "root", NSC_JSON_TEXT(m, t->root));
        if (t->sides > 0)
            test_side(j, "out_of_place", t, 0);
        if (t->sides > 1)
            test_side(j, "in_place", t, 1);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void own_field(struct nsc_json *j, const struct ncclscope_model *m, const struct nsc_own_field *f)
{
    const char *key = nsc_say(m, f->name).ptr;
    nsc_text text = nsc_say(m, f->text);
    uint64_t size;
    int64_t whole;
    double number;
    if (f->type == 'u' && nsc_to_u64(text, &size))
        nsc_json_count(j, key, size);
    else if ((f->type == 'u' || f->type == 'i') && nsc_to_i64(text, &whole))
        nsc_json_int(j, key, whole);
    else if (f->type == 'f' && nsc_to_f64(text, &number))
        nsc_json_float(j, key, number);
    else
        nsc_json_text(j, key, text.ptr ? text : (nsc_text){"", 0});
}

static void kept_records(struct nsc_json *j, const char *key, const struct ncclscope_model *m,
                         const struct nsc_own_record *list, size_t n)
{
    nsc_json_open(j, key, '[');
    for (size_t i = 0; i < n; i++) {
        const struct nsc_own_record *r = &list[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "kind", NSC_JSON_TEXT(m, r->kind));
        nsc_json_int(j, "source", r->where.source);
        nsc_json_int(j, "line", (int64_t)r->where.line);
        nsc_json_text(j, "time", NSC_JSON_TEXT(m, r->time));
        nsc_json_text(j, "host", NSC_JSON_TEXT(m, r->host));
        nsc_json_said(j, "pid", r->pid);
        nsc_json_open(j, "fields", '{');
        for (uint32_t k = 0; k < r->fields; k++)
            own_field(j, m, &m->own_fields.item[r->first + k]);
        nsc_json_close(j, '}');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void ras_rank(struct nsc_json *j, const struct ncclscope_model *m, const struct nsc_ras_rank *r)
{
    nsc_json_open(j, NULL, '{');
    nsc_json_int(j, "rank", r->rank);
    nsc_json_text(j, "host", NSC_JSON_TEXT(m, r->host));
    nsc_json_said(j, "pid", r->pid);
    nsc_json_said(j, "cuda_dev", r->cuda_dev);
    nsc_json_said(j, "nvml_dev", r->nvml_dev);
    nsc_json_int(j, "line", (int64_t)r->where.line);
    nsc_json_bool(j, "missing", r->missing);
    if (r->missing) {
        nsc_json_bool(j, "unresponsive", r->unresponsive);
        nsc_json_bool(j, "considered_dead", r->dead);
    } else {
        nsc_json_said(j, "init_state", r->init_state);
        nsc_json_said(j, "async_error", r->async_error);
        nsc_json_bool(j, "finalize_called", r->finalized);
        nsc_json_bool(j, "destroy_flag", r->destroyed);
        nsc_json_bool(j, "abort_flag", r->aborted);
        nsc_json_open(j, "collective_counts", '{');
        for (uint32_t i = 0; i < r->counts; i++)
            nsc_json_int(j, nsc_say(m, m->ras_counts.item[r->first + i].collective).ptr,
                         (int64_t)m->ras_counts.item[r->first + i].calls);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, '}');
}

/* Reports of ncclras: one entry for each communicator in each, in order. */
static void ras(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "ras", '[');
    for (size_t i = 0; i < m->ras.len;) {
        const struct nsc_ras_rank *r = &m->ras.item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_int(j, "source", r->where.source);
        nsc_json_text(j, "time", NSC_JSON_TEXT(m, r->time));
        nsc_json_text(j, "communicator", NSC_JSON_TEXT(m, r->comm));
        nsc_json_said(j, "nranks", r->size);
        nsc_json_open(j, "ranks", '[');
        for (uint32_t group = r->group; i < m->ras.len && m->ras.item[i].group == group; i++)
            ras_rank(j, m, &m->ras.item[i]);
        nsc_json_close(j, ']');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

/* NCCL's own diagnostics, in the order in which it printed them. */
static void diagnostics(struct nsc_json *j, const struct ncclscope_model *m)
{
    nsc_json_open(j, "diagnostics", '[');
    for (size_t i = 0; i < m->diags.len; i++) {
        const struct nsc_diag *d = &m->diags.item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "host", NSC_JSON_TEXT(m, m->procs.item[d->proc].host));
        nsc_json_said(j, "pid", m->procs.item[d->proc].pid);
        nsc_json_text(j, "status", NSC_JSON_TEXT(m, d->status));
        nsc_json_text(j, "check", NSC_JSON_TEXT(m, d->check));
        nsc_json_text(j, "text", NSC_JSON_TEXT(m, d->text));
        nsc_json_where(j, "where", &d->where);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

/* Records of rows that the user added, and lines that other programs wrote: only where there are any. */
static void own_records(struct nsc_json *j, const struct ncclscope_model *m)
{
    if (m->happened.len)
        kept_records(j, "events", m, m->happened.item, m->happened.len);
    if (m->diags.len)
        diagnostics(j, m);
    if (m->ras.len)
        ras(j, m);
    if (m->own_records.len)
        kept_records(j, "pattern_records", m, m->own_records.item, m->own_records.len);
    if (m->own_more)
        nsc_json_int(j, "pattern_records_more", (int64_t)m->own_more);
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
        nsc_json_string(j, "kind", nsc_is_p2p_matrix(m, x) ? "nvidia-smi topo -p2p" : "nvidia-smi topo -m");
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

void nsc_json_others(struct nsc_json *j, const struct ncclscope_model *m)
{
    tests(j, m);
    own_records(j, m);
    matrices(j, m);
}
