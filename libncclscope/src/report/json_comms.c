/* json_comms.c - processes, communicators and links as JSON. */
#include "report/json_report.h"

#include "report/json_rows.h"

void nsc_json_where(struct nsc_json *j, const char *key, const struct nsc_where *w)
{
    nsc_json_place(j, key, w->source, (int64_t)w->line);
}

/* What NCCL a process runs, and how that is known: "stated" by a line, "inferred" from its communicator or its texts. */
static void version(struct nsc_json *j, const ncclscope_process *p)
{
    nsc_json_open(j, "nccl_version", '{');
    nsc_json_string(j, "how", ncclscope_word_of("how", p->version_how));
    nsc_json_text(j, "value", p->version);
    nsc_json_text(j, "from", p->version_from);
    nsc_json_text(j, "to", p->version_to);
    nsc_json_close(j, '}');
}

void nsc_json_processes(struct nsc_json *j, const struct ncclscope_model *m)
{
    const struct nsc_rows *rows = &m->rows;
    const ncclscope_process_gpu *gpu;
    size_t gpus = 0;
    nsc_json_open(j, "processes", '[');
    for (int64_t i = 0; i < nsc_row_next(rows, process); i++) {
        const ncclscope_process *p = nsc_row_at(rows, process, (size_t)i);
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_process, p, "host", "pid");
        nsc_json_open(j, "gpus", '[');
        while ((gpu = nsc_child_of(rows, process_gpu, &gpus, i))) {
            nsc_json_open(j, NULL, '{');
            nsc_json_columns(j, NCCLSCOPE_TABLE_process_gpu, gpu, NULL, NULL);
            nsc_json_close(j, '}');
        }
        nsc_json_close(j, ']');
        version(j, p);
        nsc_json_columns(j, NCCLSCOPE_TABLE_process, p, "launcher_rank", NULL);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

/* How far the lists that belong to communicators are written. */
struct lists {
    size_t rank, missing, ring, ring_rank, tree, tree_down;
};

static void ranks(struct nsc_json *j, const struct nsc_rows *rows, int64_t comm, struct lists *at)
{
    const ncclscope_rank *r;
    nsc_json_open(j, "ranks", '[');
    while ((r = nsc_child_of(rows, rank, &at->rank, comm))) {
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_rank, r, NULL, "pid");
        nsc_json_text(j, "comm", r->pointer);
        nsc_json_columns(j, NCCLSCOPE_TABLE_rank, r, "cuda_dev", NULL);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void missing_ranks(struct nsc_json *j, const struct nsc_rows *rows, int64_t comm, struct lists *at)
{
    const ncclscope_missing_rank *r;
    nsc_json_open(j, "missing_ranks", '[');
    while ((r = nsc_child_of(rows, missing_rank, &at->missing, comm)))
        nsc_json_int(j, NULL, r->rank);
    nsc_json_close(j, ']');
}

static void rings(struct nsc_json *j, const struct nsc_rows *rows, int64_t comm, struct lists *at)
{
    const ncclscope_ring *r;
    const ncclscope_ring_rank *k;
    nsc_json_open(j, "rings", '[');
    while ((r = nsc_child_of(rows, ring, &at->ring, comm))) {
        nsc_json_open(j, NULL, '{');
        nsc_json_int(j, "channel", r->channel);
        nsc_json_open(j, "ranks", '[');
        while ((k = nsc_child_of(rows, ring_rank, &at->ring_rank, (int64_t)at->ring - 1)))
            nsc_json_int(j, NULL, k->rank);
        nsc_json_close(j, ']');
        nsc_json_columns(j, NCCLSCOPE_TABLE_ring, r, "truncated", NULL);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void trees(struct nsc_json *j, const struct nsc_rows *rows, int64_t comm, struct lists *at)
{
    const ncclscope_tree *t;
    const ncclscope_tree_down *d;
    nsc_json_open(j, "trees", '[');
    while ((t = nsc_child_of(rows, tree, &at->tree, comm))) {
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_tree, t, NULL, NULL);
        nsc_json_open(j, "down", '[');
        while ((d = nsc_child_of(rows, tree_down, &at->tree_down, (int64_t)at->tree - 1)))
            nsc_json_int(j, NULL, d->rank);
        nsc_json_close(j, ']');
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

void nsc_json_communicators(struct nsc_json *j, const struct ncclscope_model *m)
{
    const struct nsc_rows *rows = &m->rows;
    struct lists at = {0};
    nsc_json_open(j, "communicators", '[');
    for (int64_t i = 0; i < nsc_row_next(rows, comm); i++) {
        const ncclscope_comm *c = nsc_row_at(rows, comm, (size_t)i);
        nsc_json_open(j, NULL, '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_comm, c, NULL, "worst_path");
        ranks(j, rows, i, &at);
        missing_ranks(j, rows, i, &at);
        if (c->missing_ranks_more)
            nsc_json_int(j, "missing_ranks_more", c->missing_ranks_more);
        nsc_json_open(j, "channels", '{');
        nsc_json_columns(j, NCCLSCOPE_TABLE_comm, c, "coll", "p2p_per_peer");
        nsc_json_close(j, '}');
        rings(j, rows, i, &at);
        trees(j, rows, i, &at);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static nsc_text comm_id(const struct nsc_rows *rows, int64_t comm)
{
    return comm == NCCLSCOPE_UNSAID ? (nsc_text){NULL, 0} : nsc_row_at(rows, comm, (size_t)comm)->id;
}

static void expected(struct nsc_json *j, const ncclscope_expected *e)
{
    if (!e) {
        nsc_json_null(j, "expected");
        return;
    }
    nsc_json_open(j, "expected", '{');
    nsc_json_columns(j, NCCLSCOPE_TABLE_expected, e, NULL, NULL);
    nsc_json_close(j, '}');
}

void nsc_json_links(struct nsc_json *j, const struct ncclscope_findings *f)
{
    const struct nsc_rows *rows = &f->model->rows;
    const ncclscope_link_channel *channel;
    size_t channels = 0, judged = 0;
    nsc_json_open(j, "links", '[');
    for (int64_t i = 0; i < nsc_row_next(rows, link); i++) {
        const ncclscope_link *l = nsc_row_at(rows, link, (size_t)i);
        nsc_json_open(j, NULL, '{');
        nsc_json_text(j, "comm", comm_id(rows, l->comm));
        nsc_json_columns(j, NCCLSCOPE_TABLE_link, l, NULL, "attribution");
        if (l->other_comm != NCCLSCOPE_UNSAID) {
            nsc_json_open(j, "candidates", '[');
            nsc_json_text(j, NULL, comm_id(rows, l->comm));
            nsc_json_text(j, NULL, comm_id(rows, l->other_comm));
            nsc_json_close(j, ']');
        }
        nsc_json_columns(j, NCCLSCOPE_TABLE_link, l, "src", "gdrdma");
        nsc_json_open(j, "channels", '[');
        while ((channel = nsc_child_of(rows, link_channel, &channels, i)))
            nsc_json_int(j, NULL, channel->channel);
        nsc_json_close(j, ']');
        nsc_json_columns(j, NCCLSCOPE_TABLE_link, l, "lines", "proof");
        expected(j, nsc_child_of(&f->rows, expected, &judged, i));
        nsc_json_place(j, "where", l->source, l->line);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}
