/* identity.c - which rank of its process a record is about: one that it told of before, or a new one that uses a pointer again. */
#include "model/apply.h"
#include "model/scratch.h"

/* A child's color and key may be any number: they are taken with the parent. */
static void take_parent(struct ncclscope_model *m, struct nsc_rank *r, const ncclscope_record *rec)
{
    nsc_text color = nsc_record_field(rec, NCCLSCOPE_FIELD_COLOR);
    uint64_t parent;
    if (!nsc_to_hex(nsc_record_field(rec, NCCLSCOPE_FIELD_PARENT), &parent) || !parent || parent == r->parent_pointer)
        return;
    r->parent_pointer = parent;
    r->parent = nsc_rank_of(m, r->proc, r->parent_pointer);
    r->split = nsc_number(rec, NCCLSCOPE_FIELD_SPLIT);
    r->has_color = nsc_to_i64(color, &r->color);
    nsc_to_i64(nsc_record_field(rec, NCCLSCOPE_FIELD_KEY), &r->key);
}

/* "0x1f7f1ad893cdf2" + "4 - Init COMPLETE": lines were cut within the id, and an end was put to another's beginning. So many digits
 * in common are no chance. */
static bool is_torn_spelling(nsc_text a, nsc_text b)
{
    enum { LEAST = 12 };
    size_t n = 0;
    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n])
        n++;
    return n >= LEAST;
}

/* By its process, pointer, id and number among the children: the last rank that told them. */
static struct nsc_key identity(uint32_t proc, uint64_t pointer, nsc_str id, int64_t split)
{
    return (struct nsc_key){proc, pointer, (uint64_t)id << 32 | (uint32_t)(split + 1)};
}

void nsc_take_identity(struct ncclscope_model *m, struct nsc_rank *r, const ncclscope_record *rec)
{
    nsc_set_if_said(&r->rank, nsc_int(rec, NCCLSCOPE_FIELD_RANK));
    nsc_set_if_said(&r->nranks, nsc_int(rec, NCCLSCOPE_FIELD_NRANKS));
    nsc_set_if_said(&r->cuda_dev, nsc_int(rec, NCCLSCOPE_FIELD_CUDA_DEV));
    nsc_set_if_said(&r->nvml_dev, nsc_int(rec, NCCLSCOPE_FIELD_NVML_DEV));
    if (nsc_record_field(rec, NCCLSCOPE_FIELD_BUS_ID).len)
        r->bus_id = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_BUS_ID));
    if (!r->made_by && nsc_record_field(rec, NCCLSCOPE_FIELD_FUNC).len)
        r->made_by = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_FUNC));
    nsc_text id = nsc_record_field(rec, NCCLSCOPE_FIELD_COMM_ID);
    if (id.len && !(r->comm_id && r->start.line && is_torn_spelling(id, nsc_say(m, r->comm_id))))
        r->comm_id = nsc_keep(m, id);
    if (!r->parent_pointer ||
        rec->kind == NCCLSCOPE_KIND_INIT_COMPLETE) /* of a torn START line the end may be another's */
        take_parent(m, r, rec);
    if (r->comm_id && nsc_map_put(&m->scratch->told_by, identity(r->proc, r->pointer, r->comm_id, r->split),
                                  (uint32_t)(r - m->ranks.item)))
        m->no_memory = true;
    if (r->comm_id && r->rank >= 0 && !r->parent_pointer &&
        nsc_map_put(&m->scratch->seat_by, nsc_seat_key(r, (uint64_t)r->rank), (uint32_t)(r - m->ranks.item)))
        m->no_memory = true;
}

/* "... rank 0 nranks 2 busId [time] vm:1907:1907 ... rank 1 nranks 2 busId 60 commId 0x25b0 ...": to the beginning of a START line
 * another's end was put. The line of the end that the same rank of as many prints under the same pointer is right. */
static bool may_have_strange_id(const struct nsc_rank *r, int64_t rank, int64_t nranks)
{
    return rank >= 0 && rank == r->rank && nranks == r->nranks && !r->called && !r->split_off && !r->destroyed.line;
}

/* Is the record about the communicator that its process last had under this pointer? Else the pointer is used again. */
static bool is_same(const struct ncclscope_model *m, const struct nsc_rank *r, const ncclscope_record *rec)
{
    nsc_text id = nsc_record_field(rec, NCCLSCOPE_FIELD_COMM_ID);
    int64_t rank = nsc_int(rec, NCCLSCOPE_FIELD_RANK), n = nsc_int(rec, NCCLSCOPE_FIELD_NRANKS);
    int64_t split = nsc_number(rec, NCCLSCOPE_FIELD_SPLIT), color;
    bool ends = rec->kind == NCCLSCOPE_KIND_INIT_COMPLETE && r->start.line && !r->complete.line;
    if (id.len && r->comm_id && !nsc_text_eq(id, nsc_say(m, r->comm_id)) &&
        !(ends && (is_torn_spelling(id, nsc_say(m, r->comm_id)) || may_have_strange_id(r, rank, n))))
        return false;
    if (split >= 0 && r->split >= 0 && split != r->split)
        return false;
    if (r->complete.line && r->has_color && nsc_to_i64(nsc_record_field(rec, NCCLSCOPE_FIELD_COLOR), &color) &&
        color != r->color)
        return false;
    return (rank < 0 || r->rank < 0 || rank == r->rank) && (n < 0 || r->nranks < 0 || n == r->nranks);
}

/* A second START under a pointer is another communicator, but where something tells that it is the same, in a log that was put
 * together twice: the id of one that is no child; a parent that counts its children, or was born again itself. */
static bool is_told_again(const struct ncclscope_model *m, const struct nsc_rank *r, const ncclscope_record *rec)
{
    if (!r->parent_pointer)
        return r->comm_id != 0;
    bool counted = r->split >= 0 && r->split == nsc_number(rec, NCCLSCOPE_FIELD_SPLIT);
    return counted || (r->parent != NSC_NONE && m->ranks.item[r->parent].births > r->parent_births);
}

/* A rank of the process that only its timings told of, and whose torn COMPLETE line, put together again, comes behind them. */
static uint32_t take_unnamed(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, uint64_t pointer)
{
    uint32_t i = m->procs.item[proc].last_rank;
    if (i == NSC_NONE || m->ranks.item[i].pointer || !is_same(m, &m->ranks.item[i], rec))
        return NSC_NONE;
    m->ranks.item[i].pointer = pointer;
    m->ranks.item[i].used_before = NSC_NONE;
    if (nsc_map_put(&m->scratch->rank_by, (struct nsc_key){proc, pointer, 0}, i) ||
        nsc_map_put(&m->scratch->use_by, (struct nsc_key){proc, pointer, 0}, i))
        m->no_memory = true;
    return i;
}

static bool is_retold(const struct ncclscope_model *m, uint32_t rank, uint64_t pointer, const ncclscope_record *rec)
{
    const struct nsc_rank *r = &m->ranks.item[rank];
    return r->pointer == pointer && is_same(m, r, rec) && is_told_again(m, r, rec);
}

/* Which of the earlier uses of the pointer the record is about: the latest that it fits, and beyond those that a pointer has in most jobs,
 * the one that it names. NSC_NONE: none. */
static uint32_t earlier_use(const struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                            uint64_t pointer)
{
    enum { USES = 64 };
    nsc_str id = nsc_intern_find(&m->strings, nsc_record_field(rec, NCCLSCOPE_FIELD_COMM_ID));
    uint32_t i = nsc_map_get(&m->scratch->use_by, (struct nsc_key){proc, pointer, 0});
    for (int n = 0; i != NSC_NONE && n < USES; n++, i = m->ranks.item[i].used_before)
        if (is_retold(m, i, pointer, rec))
            return i;
    if (i == NSC_NONE || !id)
        return NSC_NONE;
    i = nsc_map_get(&m->scratch->told_by, identity(proc, pointer, id, nsc_number(rec, NCCLSCOPE_FIELD_SPLIT)));
    return i != NSC_NONE && is_retold(m, i, pointer, rec) ? i : NSC_NONE;
}

uint32_t nsc_rank_for(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, bool starts)
{
    uint64_t pointer;
    if (!nsc_to_hex(nsc_record_field(rec, NCCLSCOPE_FIELD_COMM), &pointer))
        return NSC_NONE;
    uint32_t last = nsc_rank_of(m, proc, pointer);
    if (last == NSC_NONE && (last = take_unnamed(m, rec, proc, pointer)) != NSC_NONE)
        return last;
    if (last == NSC_NONE)
        return nsc_rank_new(m, proc, pointer, rec->tid, nsc_here(m, rec));
    const struct nsc_rank *r = &m->ranks.item[last];
    if (is_same(m, r, rec) && (!starts || !(r->complete.line || r->destroyed.line || r->aborted.line)))
        return last;
    uint32_t i = earlier_use(m, rec, proc, pointer);
    if (i == NSC_NONE)
        return nsc_rank_new(m, proc, pointer, rec->tid, nsc_here(m, rec));
    if (nsc_map_put(&m->scratch->rank_by, (struct nsc_key){proc, pointer, 0}, i))
        m->no_memory = true;
    return i;
}
