/* model.c - a model from its first record to its end: streams, records, finish. */
#include "model/scratch.h"
#include "model/version.h"

#include "ncclscope/model.h"

#include <assert.h>

int ncclscope_model_new(ncclscope_model **out, ncclscope_error *err)
{
    if (!out)
        return nsc_null(err);
    *out = nsc_alloc(sizeof **out);
    if (!*out)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    (*out)->whole.done = NSC_NONE;
    (*out)->scratch = nsc_alloc(sizeof *(*out)->scratch);
    if (!(*out)->scratch) {
        nsc_free(*out);
        *out = NULL;
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    (*out)->scratch->at = (*out)->scratch->alone = NSC_NONE;
    return NCCLSCOPE_OK;
}

static void free_scratch(struct ncclscope_model *m)
{
    if (!m->scratch)
        return;
#define FREE(name) nsc_vec_free(&m->scratch->name);
    NSC_SCRATCH_VECTORS(FREE)
#undef FREE
#define FREE(name) nsc_map_free(&m->scratch->name);
    NSC_SCRATCH_MAPS(FREE)
#undef FREE
    nsc_free(m->scratch);
    m->scratch = NULL;
}

void ncclscope_model_free(ncclscope_model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->threads.len; i++) {
        nsc_vec_free(&m->threads.item[i].waiting);
        nsc_map_free(&m->threads.item[i].waiting_by);
        nsc_arena_free(&m->threads.item[i].quotes);
    }
#define FREE(name) nsc_vec_free(&m->name);
    NSC_MODEL_VECTORS(FREE)
#undef FREE
#define FREE(name) nsc_map_free(&m->name);
    NSC_MODEL_MAPS(FREE)
#undef FREE
    free_scratch(m);
    nsc_rows_free(&m->rows);
    nsc_intern_free(&m->strings);
    nsc_arena_free(&m->arena);
    nsc_free(m);
}

uint64_t nsc_model_bytes(const struct ncclscope_model *m)
{
    uint64_t n = sizeof *m + sizeof *m->scratch + m->arena.total + m->strings.arena.total +
                 m->strings.slots * sizeof *m->strings.slot + m->strings.text.cap * sizeof *m->strings.text.item;
#define ADD(name) n += m->name.cap * sizeof *m->name.item;
    NSC_MODEL_VECTORS(ADD)
#undef ADD
#define ADD(name) n += m->name.slots * sizeof *m->name.slot;
    NSC_MODEL_MAPS(ADD)
#undef ADD
#define ADD(name) n += m->scratch->name.cap * sizeof *m->scratch->name.item;
    NSC_SCRATCH_VECTORS(ADD)
#undef ADD
#define ADD(name) n += m->scratch->name.slots * sizeof *m->scratch->name.slot;
    NSC_SCRATCH_MAPS(ADD)
#undef ADD
    return n;
}

static nsc_str keep_time(struct ncclscope_model *m, nsc_text t)
{
    char iso[48];
    if (t.len < 8 || t.len >= sizeof iso)
        return nsc_keep(m, t);
    memcpy(iso, t.ptr, t.len);
    if (t.len > 10 && iso[4] == '-' && iso[10] == ' ')
        iso[10] = 'T';
    for (size_t i = 11; i < t.len; i++)
        if (iso[i] == ',')
            iso[i] = '.';
    return nsc_keep(m, (nsc_text){iso, t.len});
}

static int begin_stream(struct ncclscope_model *m, const char *name, uint32_t *id)
{
    struct nsc_source_info *s = nsc_vec_push(&m->sources);
    for (*id = 0; *id < m->scratch->streams.len && m->scratch->streams.item[*id].source != NSC_NONE;)
        ++*id;
    struct nsc_stream *t =
        *id < m->scratch->streams.len ? &m->scratch->streams.item[*id] : nsc_vec_push(&m->scratch->streams);
    if (!s || !t)
        return NCCLSCOPE_ENOMEM;
    *t = (struct nsc_stream){.source = (uint32_t)(m->sources.len - 1)};
    t->first_thread = t->last_thread = t->matrix_open = t->test_open = NSC_NONE;
    s->name = nsc_keep(m, nsc_text_of(name));
    return NCCLSCOPE_OK;
}

static bool is_open(const struct ncclscope_model *m, uint32_t id)
{
    return m && !m->finished && id < m->scratch->streams.len && m->scratch->streams.item[id].source != NSC_NONE;
}

int ncclscope_model_stream(ncclscope_model *m, const char *name, uint32_t *id)
{
    if (!m || !name || !id || m->finished)
        return NCCLSCOPE_EINVAL;
    unsigned before = nsc_failed_allocations();
    int rc = begin_stream(m, name, id);
    m->no_memory = m->no_memory || rc;
    return nsc_settle(rc, before, NULL);
}

int ncclscope_model_stream_counts(ncclscope_model *m, uint32_t id, const ncclscope_reader *reader)
{
    if (!is_open(m, id) || !reader)
        return NCCLSCOPE_EINVAL;
    ncclscope_stats *stats = &m->sources.item[m->scratch->streams.item[id].source].stats;
    stats->size = sizeof *stats;
    return ncclscope_reader_stats(reader, stats);
}

int ncclscope_model_stream_end(ncclscope_model *m, uint32_t id, const ncclscope_reader *reader, const char *problem)
{
    if (!is_open(m, id))
        return NCCLSCOPE_EINVAL;
    unsigned before = nsc_failed_allocations();
    m->scratch->at = id;
    struct nsc_stream *t = nsc_stream_of(m);
    struct nsc_source_info *s = nsc_source_of_stream(m);
    s->stats.size = sizeof s->stats;
    if (reader)
        ncclscope_model_stream_counts(m, id, reader);
    s->problem = nsc_keep(m, nsc_text_of(problem));
    s->last_time = keep_time(m, (nsc_text){t->last_time_text, t->last_time});
    nsc_end_source(m);
    t->source = NSC_NONE;
    return m->no_memory ? NCCLSCOPE_ENOMEM : nsc_settle(NCCLSCOPE_OK, before, NULL);
}

int ncclscope_model_stream_add(ncclscope_model *m, uint32_t id, const ncclscope_record *rec)
{
    if (!is_open(m, id) || !rec)
        return NCCLSCOPE_EINVAL;
    unsigned before = nsc_failed_allocations();
    m->scratch->at = id;
    struct nsc_stream *t = nsc_stream_of(m);
    struct nsc_source_info *s = nsc_source_of_stream(m);
    if (rec->time.len) {
        if (!s->first_time)
            s->first_time = keep_time(m, rec->time);
        t->last_time = rec->time.len < sizeof t->last_time_text ? rec->time.len : 0;
        memcpy(t->last_time_text, rec->time.ptr, t->last_time);
    }
    m->grammar = rec->grammar;
    nsc_apply(m, rec);
    return m->no_memory ? NCCLSCOPE_ENOMEM : nsc_settle(NCCLSCOPE_OK, before, NULL);
}

int ncclscope_model_source(ncclscope_model *m, const char *name)
{
    return m && m->scratch && m->scratch->alone == NSC_NONE ? ncclscope_model_stream(m, name, &m->scratch->alone)
                                                            : NCCLSCOPE_EINVAL;
}

int ncclscope_model_add(ncclscope_model *m, const ncclscope_record *rec)
{
    return m && m->scratch ? ncclscope_model_stream_add(m, m->scratch->alone, rec) : NCCLSCOPE_EINVAL;
}

int ncclscope_model_source_end(ncclscope_model *m, const ncclscope_reader *reader, const char *problem)
{
    int rc = m && m->scratch ? ncclscope_model_stream_end(m, m->scratch->alone, reader, problem) : NCCLSCOPE_EINVAL;
    if (m && m->scratch)
        m->scratch->alone = NSC_NONE;
    return rc;
}

int ncclscope_model_finish(ncclscope_model *m, ncclscope_error *err)
{
    if (!m)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "there is no model");
    unsigned before = nsc_failed_allocations();
    for (uint32_t i = 0; !m->finished && i < m->scratch->streams.len; i++) /* whoever finishes has no more to add */
        if (m->scratch->streams.item[i].source != NSC_NONE)
            ncclscope_model_stream_end(m, i, NULL, NULL);
    if (!m->finished)
        nsc_join(m);
    if (!m->finished && !m->no_memory && nsc_failed_allocations() == before)
        nsc_lay_rows(m);
    m->finished = true;
    free_scratch(m);
    m->no_memory = m->no_memory || nsc_failed_allocations() != before;
    return m->no_memory ? nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory") : NCCLSCOPE_OK;
}
