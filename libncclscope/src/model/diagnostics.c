/* diagnostics.c - what NCCL says of the machine when it is asked to (NCCL_RUN_DIAGNOSTICS, NCCL_RUN_RAS_DIAGNOSTICS): its checks, and
 * between which ranks it tried P2P. */
#include "model/apply.h"
#include "model/path.h"
#include "model/topology.h"

void nsc_apply_diag(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_diag *d = nsc_vec_push(&m->diags);
    (void)t;
    if (!d) {
        m->no_memory = true;
        return;
    }
    *d = (struct nsc_diag){.proc = proc,
                           .status = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_MODE)),
                           .check = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_NAME)),
                           .text = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_TEXT)),
                           .where = nsc_here(m, rec)};
}

void nsc_apply_diag_p2p(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_diag_pair *d = nsc_vec_push(&m->diag_pairs);
    (void)t;
    if (!d) {
        m->no_memory = true;
        return;
    }
    *d = (struct nsc_diag_pair){.proc = proc,
                                .src = nsc_number(rec, NCCLSCOPE_FIELD_SRC),
                                .dst = nsc_number(rec, NCCLSCOPE_FIELD_DST),
                                .link = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_LINK)),
                                .where = nsc_here(m, rec)};
}

/* "srcRank=0 ... dstRank=1 ... path=NVL": the class of the path between two GPUs, as the GRAPH dump has it. */
void nsc_take_diag_pairs(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->diag_pairs.len; i++) {
        const struct nsc_diag_pair *d = &m->diag_pairs.item[i];
        uint32_t r = m->procs.item[d->proc].last_rank;
        while (r != NSC_NONE && (m->ranks.item[r].rank != d->src || m->ranks.item[r].comm == NSC_NONE))
            r = m->ranks.item[r].before;
        const struct nsc_rank *a = r == NSC_NONE ? NULL : &m->ranks.item[r],
                              *b = a ? nsc_member(m, a->comm, d->dst) : NULL;
        if (b && a->bus_id && b->bus_id && a->bus_id != b->bus_id &&
            m->procs.item[a->proc].host == m->procs.item[b->proc].host)
            nsc_add_gpu_path(m, m->procs.item[a->proc].host, a->bus_id, b->bus_id, d->link, &d->where);
    }
}
