/* calls.c - which collective each rank of a communicator calls as its n-th: "AllReduce: opCount 1a ... count 1024 ... comm 0xe533000". */
#include "model/calls.h"
#include "model/scratch.h"

/* Ranks of a communicator call these alike and in one order; of Send and Recv each has its own, and they count too. */
static bool is_collective(nsc_text name)
{
    static const char *const alike[] = {"AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter"};
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++)
        if (nsc_text_is(name, alike[i]))
            return true;
    return false;
}

static void differ(struct ncclscope_model *m, const ncclscope_record *rec, const struct nsc_call *first, uint32_t rank,
                   nsc_str name, int64_t count)
{
    struct nsc_odd_call *odd = m->odd_calls.len < NSC_ODD_CALLS ? nsc_vec_push(&m->odd_calls) : NULL;
    if (odd)
        *odd = (struct nsc_odd_call){(uint32_t)(first - m->calls.item), rank, name, count, 1, nsc_here(m, rec)};
    else if (m->odd_calls.len < NSC_ODD_CALLS)
        m->no_memory = true;
}

void nsc_compare_call(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t rank)
{
    struct nsc_rank *r = &m->ranks.item[rank];
    nsc_text name = nsc_record_field(rec, NCCLSCOPE_FIELD_COLLECTIVE);
    uint64_t op;
    if (!name.len || !r->comm_id || !nsc_to_hex(nsc_record_field(rec, NCCLSCOPE_FIELD_OP_COUNT), &op))
        return;
    r->sends = r->sends || !is_collective(name);
    if (r->sends || (r->has_op && op == r->last_op)) /* those of one group have one number */
        return;
    r->has_op = true;
    r->last_op = op;
    int64_t count = nsc_number(rec, NCCLSCOPE_FIELD_COUNT);
    struct nsc_key key = nsc_call_key(r, op);
    uint32_t at = nsc_map_get(&m->scratch->call_by, key);
    nsc_str kept = nsc_keep(m, name);
    if (at != NSC_NONE) {
        struct nsc_call *first = &m->calls.item[at];
        bool same = first->name == kept && first->count == count;
        first->alike += same;
        if (!same)
            differ(m, rec, first, rank, kept, count);
        return;
    }
    struct nsc_call *call = m->calls.len < NSC_CALLS_COMPARED ? nsc_vec_push(&m->calls) : NULL;
    if (call) {
        *call = (struct nsc_call){op, rec->line, kept, count, rank, 1};
        m->no_memory = m->no_memory || nsc_map_put(&m->scratch->call_by, key, (uint32_t)m->calls.len - 1);
    }
}
