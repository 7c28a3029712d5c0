/* watchdog.c - what lines of PyTorch's process group say: of which rank and group, and whether it waits. */
#include "rules/watchdog.h"

static nsc_text group_said(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    return nsc_text_trim(nsc_said(m, r, "group"));
}

/* "25: [rank25]:..." is no line of the task that a launcher marks with "5: ", nor one of another group. */
static bool may_be_one_teller(const struct ncclscope_model *m, const struct nsc_own_record *a,
                              const struct nsc_own_record *b)
{
    nsc_text x = group_said(m, a), y = group_said(m, b);
    return (a->launcher_rank < 0 || b->launcher_rank < 0 || a->launcher_rank == b->launcher_rank) &&
           (!x.len || !y.len || nsc_text_eq(x, y));
}

/* Of "what():  [PG ID 1 PG GUID 1 Rank 1] ...", which repeats "[rank4]:[E ...] [PG ID 1 PG GUID 1 Rank 1] ..." above it without its front. */
static int64_t rank_told_above(const struct ncclscope_model *m, const struct nsc_own_record *r, int64_t in_group)
{
    enum { NEAR = 64 };
    bool repeats = nsc_text_find_by(r->where.text, "what():", 0) >= 0;
    size_t at = (size_t)(r - m->happened.item), until = at > NEAR ? at - NEAR : 0;
    for (size_t i = at; repeats && i-- > until;) {
        const struct nsc_own_record *near = &m->happened.item[i];
        int64_t said;
        if (near->torch_rank >= 0 && near->where.source == r->where.source && nsc_number_said(m, near, "rank", &said) &&
            said == in_group && may_be_one_teller(m, near, r))
            return near->torch_rank;
    }
    return in_group;
}

/* By its number in the whole job if the line says it; in brackets PyTorch prints the one in the group. */
bool nsc_torch_rank_of(const struct ncclscope_model *m, const struct nsc_own_record *r, int64_t *rank)
{
    *rank = r->torch_rank;
    if (*rank >= 0)
        return true;
    if (!nsc_number_said(m, r, "rank", rank))
        return false;
    *rank = rank_told_above(m, r, *rank);
    return true;
}

/* A line that says that the rank gave a work up, after the time-out or an error; not one by whose own account it had ended. */
bool nsc_gave_up(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    int64_t seq, completed;
    return r->number == NCCLSCOPE_KIND_TORCH_GAVE_UP && nsc_number_said(m, r, "seq", &seq) &&
           nsc_number_said(m, r, "completed", &completed) && completed < seq;
}

/* "PG ID 3 PG GUID 14(mesh_tp)". The line of a time-out names no group: a line near it that gives up the same work does, the rank's
 * own first. Len 0: none does, as in older releases. */
nsc_text nsc_group_of(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    enum { NEAR = 256 };
    size_t at = (size_t)(r - m->happened.item), from = at > NEAR ? at - NEAR : 0;
    nsc_text group = group_said(m, r);
    int64_t seq, same, rank, other;
    if (group.len || !nsc_timed_out(r) || !nsc_number_said(m, r, "seq", &seq) || !nsc_torch_rank_of(m, r, &rank))
        return group;
    for (size_t i = from; i < m->happened.len && i <= at + NEAR; i++) {
        const struct nsc_own_record *near = &m->happened.item[i];
        if ((!nsc_gave_up(m, near) && !(nsc_timed_out(near) && group_said(m, near).len)) ||
            !nsc_number_said(m, near, "seq", &same) || same != seq)
            continue;
        group = group_said(m, near);
        if (nsc_torch_rank_of(m, near, &other) && other == rank)
            break;
    }
    return group;
}

bool nsc_is_name_of_several(const struct ncclscope_model *m, nsc_text group)
{
    struct nsc_map of_rank = {0}; /* in the group to that of the job */
    bool several = false;
    for (size_t i = 0; group.len && i < m->happened.len && !several; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank;
        if (r->torch_rank < 0 || !nsc_text_eq(group_said(m, r), group) || !nsc_number_said(m, r, "rank", &rank))
            continue;
        struct nsc_key key = {(uint64_t)rank, 0, 0};
        uint32_t before = nsc_map_get(&of_rank, key);
        several = before != NSC_NONE && before != (uint32_t)r->torch_rank;
        nsc_map_put(&of_rank, key, (uint32_t)r->torch_rank);
    }
    nsc_map_free(&of_rank);
    return several;
}

bool nsc_has_all_up_to(const struct ncclscope_model *m, nsc_text group, int64_t last)
{
    bool has = false;
    for (size_t i = 0; group.len && last > 0 && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank;
        if (r->torch_rank < 0 || !nsc_text_eq(group_said(m, r), group) || !nsc_number_said(m, r, "rank", &rank))
            continue;
        if (rank != r->torch_rank) /* several groups of this name, or one that leaves ranks out */
            return false;
        has = has || rank == last;
    }
    return has;
}

/* "[Rank 1] Some NCCL operations have failed or timed out": of whichever group, the rank is heard of. */
bool nsc_is_of_any_group(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_TORCH_ABORTS || r->number == NCCLSCOPE_KIND_TORCH_DOWN;
}

bool nsc_is_of_group(const struct ncclscope_model *m, const struct nsc_own_record *r, nsc_text group)
{
    return !group.len || nsc_is_of_any_group(r) || nsc_text_eq(nsc_group_of(m, r), group);
}

/* A line that says what work the rank had enqueued. */
bool nsc_tells_work(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    (void)m;
    return r->number == NCCLSCOPE_KIND_TORCH_WORK || r->number == NCCLSCOPE_KIND_TORCH_DUMP ||
           r->number == NCCLSCOPE_KIND_TORCH_GAVE_UP;
}

bool nsc_timed_out(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_TORCH_TIMEOUT;
}

/* A line that says that the rank waits, or waited, as the others do: in that it is not silent. */
bool nsc_tells_waiting(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    return nsc_timed_out(r) || nsc_gave_up(m, r) || nsc_is_of_any_group(r);
}

int64_t nsc_size_of_job(const struct ncclscope_model *m)
{
    int64_t most = 0, n;
    for (size_t i = 0; i < m->happened.len; i++)
        if ((m->happened.item[i].number == NCCLSCOPE_KIND_TORCH_OPTIONS ||
             m->happened.item[i].number == NCCLSCOPE_KIND_WORLD_SIZE) &&
            nsc_number_said(m, &m->happened.item[i], "nranks", &n))
            most = n > most ? n : most;
    for (size_t i = 0; i < m->comms.len; i++)
        most = m->comms.item[i].nranks > most ? m->comms.item[i].nranks : most;
    return most;
}
