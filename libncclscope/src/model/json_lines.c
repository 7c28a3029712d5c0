/* json_lines.c - what other programs write as JSON, pair by pair: nccl-tests -J, ncclras -f json. */
#include "model/model.h"
#include "model/scratch.h"

/* The next "key": value of *rest; an opened object or list has no value. */
static bool next_pair(nsc_text *rest, nsc_text *key, nsc_text *value)
{
    const char *quote = rest->len ? memchr(rest->ptr, '"', rest->len) : NULL;
    if (!quote)
        return false;
    nsc_text t = nsc_text_from(*rest, (size_t)(quote + 1 - rest->ptr));
    const char *end = t.len ? memchr(t.ptr, '"', t.len) : NULL;
    if (!end)
        return false;
    *key = (nsc_text){t.ptr, (size_t)(end - t.ptr)};
    t = nsc_text_trim(nsc_text_from(t, key->len + 1));
    *rest = t;
    *value = (nsc_text){NULL, 0};
    if (!t.len || t.ptr[0] != ':')
        return true;
    t = nsc_text_trim(nsc_text_from(t, 1));
    bool string = t.len && t.ptr[0] == '"';
    t = nsc_text_from(t, string);
    size_t n = 0;
    while (n < t.len && (string ? t.ptr[n] != '"' : !strchr(",{}[]", t.ptr[n]) || !t.ptr[n]))
        n++;
    *value = nsc_text_trim((nsc_text){t.ptr, n});
    *rest = nsc_text_from(t, string && n < t.len ? n + 1 : n);
    return true;
}

/* ---- nccl-tests ---- */

static void take_test_pair(struct ncclscope_model *m, const ncclscope_record *rec, nsc_text key, nsc_text value)
{
    if (nsc_text_is(key, "size") && value.len) {
        struct nsc_test *t = nsc_vec_push(&m->tests);
        nsc_stream_of(m)->test_open = t ? (uint32_t)(m->tests.len - 1) : NSC_NONE;
        if (t) {
            t->error[0] = t->error[1] = -1;
            t->where = nsc_here(m, rec);
            t->collective = nsc_stream_of(m)->test_name;
            nsc_to_u64(value, &t->bytes);
        }
    }
    uint32_t open = nsc_stream_of(m)->test_open;
    struct nsc_test *t = open == NSC_NONE ? NULL : &m->tests.item[open];
    bool in_place = nsc_text_is(key, "in_place");
    if (!t)
        return;
    if (in_place || nsc_text_is(key, "out_of_place"))
        nsc_stream_of(m)->test_in_place = in_place;
    int side = nsc_stream_of(m)->test_in_place;
    if (nsc_text_is(key, "count"))
        nsc_to_u64(value, &t->count);
    else if (nsc_text_is(key, "type"))
        t->type = nsc_keep(m, value);
    else if (nsc_text_is(key, "redop"))
        t->redop = nsc_keep(m, value);
    else if (nsc_text_is(key, "root"))
        t->root = nsc_keep(m, nsc_text_trim(value));
    else if (nsc_text_is(key, "time"))
        nsc_to_f64(value, &t->time_us[side]), t->wrong[side] = -1;
    else if (nsc_text_is(key, "alg_bw"))
        nsc_to_f64(value, &t->algbw[side]);
    else if (nsc_text_is(key, "bus_bw") && nsc_to_f64(value, &t->busbw[side]))
        t->sides = t->sides > side ? t->sides : side + 1;
    else if (nsc_text_is(key, "nwrong"))
        nsc_to_i64(value, &t->wrong[side]);
}

/* ---- ncclras ---- */

/* A rank's keys in the order in which ncclras writes them (ras/client_support.cc). In any other order - somebody sorted them - nothing
 * tells which rank a value is of, and none is taken. */
enum { RANK = 1, STATUS = 6, MISSING_END = 8, COUNTS = 12 };
static const struct {
    const char *key;
    int step;
} rank_keys[] = {
    {"rank", RANK},
    {"host", 2},
    {"pid", 3},
    {"cuda_dev", 4},
    {"nvml_dev", 5},
    {"status", STATUS},
    {"init_state", 7},
    {"async_error", 8},
    {"finalize_called", 9},
    {"destroy_flag", 10},
    {"abort_flag", 11},
    {"unresponsive", 7},
    {"considered_dead", MISSING_END},
    {"collective_counts", COUNTS},
};

static int step_of(nsc_text key)
{
    for (size_t i = 0; i < sizeof rank_keys / sizeof rank_keys[0]; i++)
        if (nsc_text_is(key, rank_keys[i].key))
            return rank_keys[i].step;
    return 0;
}

static void take_number(struct nsc_ras_rank *r, nsc_text key, nsc_text value)
{
    int64_t *to = nsc_text_is(key, "rank")          ? &r->rank
                  : nsc_text_is(key, "pid")         ? &r->pid
                  : nsc_text_is(key, "cuda_dev")    ? &r->cuda_dev
                  : nsc_text_is(key, "nvml_dev")    ? &r->nvml_dev
                  : nsc_text_is(key, "init_state")  ? &r->init_state
                  : nsc_text_is(key, "async_error") ? &r->async_error
                                                    : NULL;
    if (to && !nsc_to_i64(value, to))
        *to = -1;
}

static void take_flag(struct nsc_ras_rank *r, nsc_text key, nsc_text value)
{
    bool *to = nsc_text_is(key, "unresponsive")      ? &r->unresponsive
               : nsc_text_is(key, "considered_dead") ? &r->dead
               : nsc_text_is(key, "finalize_called") ? &r->finalized
               : nsc_text_is(key, "destroy_flag")    ? &r->destroyed
               : nsc_text_is(key, "abort_flag")      ? &r->aborted
                                                     : NULL;
    if (to)
        *to = nsc_text_is(value, "true");
}

/* The rank is kept when its last part begins: of one that the input cuts before, nothing is. */
static void keep_rank(struct ncclscope_model *m)
{
    struct nsc_ras_rank *r = nsc_vec_push(&m->ras);
    nsc_stream_of(m)->ras_state.next.first = (uint32_t)m->ras_counts.len;
    if (r)
        *r = nsc_stream_of(m)->ras_state.next;
    m->no_memory = m->no_memory || !r;
}

static void begin_rank(struct ncclscope_model *m, const ncclscope_record *rec)
{
    struct nsc_ras_rank *r = &nsc_stream_of(m)->ras_state.next;
    *r = (struct nsc_ras_rank){.where = nsc_here(m, rec),
                               .group = r->group,
                               .time = r->time,
                               .comm = r->comm,
                               .size = r->size,
                               .missing = r->missing,
                               .rank = -1,
                               .pid = -1,
                               .cuda_dev = -1,
                               .nvml_dev = -1,
                               .init_state = -1,
                               .async_error = -1};
}

static void take_rank_pair(struct ncclscope_model *m, const ncclscope_record *rec, int step, nsc_text key,
                           nsc_text value)
{
    struct nsc_ras_state *s = &nsc_stream_of(m)->ras_state;
    if (step == RANK)
        begin_rank(m, rec);
    else if (!s->step || step <= s->step) {
        s->step = 0;
        return;
    }
    s->step = step;
    if (step == 2)
        s->next.host = nsc_keep(m, value);
    take_number(&s->next, key, value);
    take_flag(&s->next, key, value);
    if (s->next.rank >= 0 && step == (s->next.missing ? MISSING_END : COUNTS))
        keep_rank(m);
}

static void take_calls(struct ncclscope_model *m, nsc_text key, nsc_text value)
{
    uint64_t calls;
    if (!m->ras.len || !nsc_to_u64(value, &calls))
        return;
    struct nsc_ras_count *c = nsc_vec_push(&m->ras_counts);
    if (!c) {
        m->no_memory = true;
        return;
    }
    c->collective = nsc_keep(m, key);
    c->calls = calls;
    m->ras.item[m->ras.len - 1].counts++;
}

/* What stands around the ranks: false if the key is none of that. */
static bool take_comm_pair(struct ncclscope_model *m, nsc_text key, nsc_text value)
{
    struct nsc_ras_state *s = &nsc_stream_of(m)->ras_state;
    bool hash = nsc_text_is(key, "hash"), second = nsc_text_is(key, "secondary_hash");
    if (hash || (second && !s->hash)) {
        s->next.group++;
        s->next.comm = hash ? nsc_keep(m, value) : 0;
        s->next.size = -1;
        s->next.missing = false;
    } else if (nsc_text_is(key, "timestamp"))
        s->next.time = nsc_keep(m, value);
    else if (nsc_text_is(key, "size"))
        s->next.size = nsc_to_i64(value, &s->next.size) ? s->next.size : -1;
    else if (nsc_text_is(key, "missing_ranks") || nsc_text_is(key, "ranks"))
        s->next.missing = key.ptr[0] == 'm';
    else if (!second && !nsc_text_is(key, "ranks_count") && !nsc_text_is(key, "missing_ranks_count") &&
             !nsc_text_is(key, "ras"))
        return false;
    s->hash = hash;
    s->step = 0;
    return true;
}

static void take_ras_pair(struct ncclscope_model *m, const ncclscope_record *rec, nsc_text key, nsc_text value)
{
    int step = step_of(key);
    if (take_comm_pair(m, key, value))
        return;
    nsc_stream_of(m)->ras_state.hash = false;
    if (step)
        take_rank_pair(m, rec, step, key, value);
    else if (nsc_stream_of(m)->ras_state.step == COUNTS && !nsc_stream_of(m)->ras_state.next.missing)
        take_calls(m, key, value);
}

void nsc_apply_json(struct ncclscope_model *m, const ncclscope_record *rec)
{
    nsc_text rest = rec->message, key, value;
    while (next_pair(&rest, &key, &value))
        if (rec->kind == NCCLSCOPE_KIND_RAS_JSON)
            take_ras_pair(m, rec, key, value);
        else
            take_test_pair(m, rec, key, value);
}
