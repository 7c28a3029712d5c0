/* lay_others.c - what the input holds beside NCCL's lines, as rows: benchmarks, watchdogs, ncclras, matrices, rows of the user. */
#include "model/lay.h"

#include <stdio.h>

/* No buffer has so many bytes, and no row so large a number: what damage made of one is not said. */
static int64_t count_of(uint64_t v)
{
    return v > INT64_MAX ? NCCLSCOPE_UNSAID : (int64_t)v;
}

static void lay_tests(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->tests.len; i++) {
        const struct nsc_test *x = &l->m->tests.item[i];
        int64_t row = nsc_row_next(l->to, collective_test);
        ncclscope_collective_test *r = nsc_row_new(l->to, collective_test);
        r->source = x->where.source;
        r->line = (int64_t)x->where.line;
        r->collective = nsc_lay_text(l, x->collective);
        r->bytes = count_of(x->bytes);
        r->count = count_of(x->count);
        r->type = nsc_lay_text(l, x->type);
        r->redop = nsc_lay_text(l, x->redop);
        r->root = nsc_lay_text(l, x->root);
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

static int64_t type_of(char letter)
{
    return letter == 'u'   ? NCCLSCOPE_VALUE_TYPE_COUNT
           : letter == 'i' ? NCCLSCOPE_VALUE_TYPE_INTEGER
           : letter == 'f' ? NCCLSCOPE_VALUE_TYPE_NUMBER
                           : NCCLSCOPE_VALUE_TYPE_TEXT;
}

static void lay_record(struct nsc_laying *l, const struct nsc_own_record *x, bool pattern)
{
    int64_t row = nsc_row_next(l->to, event);
    ncclscope_event *r = nsc_row_new(l->to, event);
    r->kind = nsc_lay_text(l, x->kind);
    r->source = x->where.source;
    r->line = (int64_t)x->where.line;
    r->time = nsc_lay_text(l, x->time);
    r->host = nsc_lay_text(l, x->host);
    r->pid = nsc_if_said(x->pid);
    r->pattern = pattern;
    for (uint32_t k = 0; k < x->fields; k++) {
        const struct nsc_own_field *own = &l->m->own_fields.item[x->first + k];
        ncclscope_event_field *f = nsc_row_new(l->to, event_field);
        f->event = row;
        f->name = nsc_say(l->m, own->name);
        f->value = nsc_say(l->m, own->text);
        f->type = type_of(own->type);
    }
}

static void lay_records(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->happened.len; i++)
        lay_record(l, &l->m->happened.item[i], false);
    for (size_t i = 0; i < l->m->own_records.len; i++)
        lay_record(l, &l->m->own_records.item[i], true);
}

static void lay_diagnostics(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->diags.len; i++) {
        const struct nsc_diag *d = &l->m->diags.item[i];
        ncclscope_diagnostic *r = nsc_row_new(l->to, diagnostic);
        r->host = nsc_lay_text(l, l->m->procs.item[d->proc].host);
        r->pid = nsc_if_said(l->m->procs.item[d->proc].pid);
        r->status = nsc_lay_text(l, d->status);
        r->check = nsc_lay_text(l, d->check);
        r->text = nsc_lay_text(l, d->text);
        nsc_lay_where(&r->source, &r->line, &d->where);
    }
}

static void lay_ras_rank(struct nsc_laying *l, const struct nsc_ras_rank *x, int64_t comm)
{
    int64_t row = nsc_row_next(l->to, ras_rank);
    ncclscope_ras_rank *r = nsc_row_new(l->to, ras_rank);
    r->ras_comm = comm;
    r->rank = x->rank;
    r->host = nsc_lay_text(l, x->host);
    r->pid = nsc_if_said(x->pid);
    r->cuda_dev = nsc_if_said(x->cuda_dev);
    r->nvml_dev = nsc_if_said(x->nvml_dev);
    r->line = (int64_t)x->where.line;
    r->missing = x->missing;
    if (x->missing) {
        r->unresponsive = x->unresponsive;
        r->considered_dead = x->dead;
        return;
    }
    r->init_state = nsc_if_said(x->init_state);
    r->async_error = nsc_if_said(x->async_error);
    r->finalize_called = x->finalized;
    r->destroy_flag = x->destroyed;
    r->abort_flag = x->aborted;
    for (uint32_t i = 0; i < x->counts; i++) {
        const struct nsc_ras_count *count = &l->m->ras_counts.item[x->first + i];
        ncclscope_ras_call *c = nsc_row_new(l->to, ras_call);
        c->ras_rank = row;
        c->collective = nsc_say(l->m, count->collective);
        c->calls = (int64_t)count->calls;
    }
}

/* Reports of ncclras: one row for each communicator in each, in order. */
static void lay_ras(struct nsc_laying *l)
{
    int64_t row = 0;
    for (size_t i = 0; i < l->m->ras.len; i++) {
        const struct nsc_ras_rank *x = &l->m->ras.item[i];
        if (!i || x->group != x[-1].group) {
            row = nsc_row_next(l->to, ras_comm);
            ncclscope_ras_comm *r = nsc_row_new(l->to, ras_comm);
            r->source = x->where.source;
            r->time = nsc_lay_text(l, x->time);
            r->communicator = nsc_lay_text(l, x->comm);
            r->nranks = nsc_if_said(x->size);
        }
        lay_ras_rank(l, x, row);
    }
}

/* Of matrices that are whole. */
static void lay_topologies(struct nsc_laying *l)
{
    for (size_t i = 0; i < l->m->matrices.len; i++) {
        const struct nsc_matrix *x = &l->m->matrices.item[i];
        if (!x->gpus || x->cells != x->gpus * x->gpus)
            continue;
        int64_t row = nsc_row_next(l->to, topology);
        ncclscope_topology *r = nsc_row_new(l->to, topology);
        nsc_lay_where(&r->source, &r->line, &x->where);
        r->kind = nsc_text_of(nsc_is_p2p_matrix(l->m, x) ? "nvidia-smi topo -p2p" : "nvidia-smi topo -m");
        r->gpus = x->gpus;
        for (uint32_t k = 0; k < x->cells; k++) {
            ncclscope_topology_cell *c = nsc_row_new(l->to, topology_cell);
            c->topology = row;
            c->from = k / x->gpus;
            c->to = k % x->gpus;
            c->path = nsc_say(l->m, l->m->cells.item[x->first + k].text);
        }
    }
}

void nsc_lay_others(struct nsc_laying *l)
{
    lay_tests(l);
    lay_records(l);
    lay_diagnostics(l);
    lay_ras(l);
    lay_topologies(l);
}
