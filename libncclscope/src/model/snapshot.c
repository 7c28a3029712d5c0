/* snapshot.c - a copy of a model that still grows, finished: what is known so far. Texts stay in the memory of the one it was taken of. */
#include "model/scratch.h"

static bool copy_array(void **item, size_t *cap, const void *from, size_t len, size_t size)
{
    *item = NULL;
    *cap = 0;
    if (!len)
        return true;
    *item = nsc_alloc(len * size);
    *cap = *item ? len : 0;
    if (*item)
        memcpy(*item, from, len * size);
    return *item;
}

/* `to` is a copy of a struct with an array in it: now it has an array of its own, or none. */
#define COPY_VECTOR(to, from) \
    do { \
        if (!copy_array((void **)&(to)->item, &(to)->cap, (from)->item, (from)->len, sizeof *(from)->item)) { \
            (to)->len = 0; \
            fine = false; \
        } \
    } while (0)

static bool copy_map(struct nsc_map *to, const struct nsc_map *from)
{
    size_t cap;
    bool fine = copy_array((void **)&to->slot, &cap, from->slot, from->slots, sizeof *from->slot);
    if (!fine)
        *to = (struct nsc_map){0};
    return fine;
}

static bool copy_strings(struct nsc_intern *to, const struct nsc_intern *from)
{
    size_t cap;
    bool fine = copy_array((void **)&to->slot, &cap, from->slot, from->slots, sizeof *from->slot);
    to->slots = fine ? to->slots : 0;
    to->arena = (struct nsc_arena){0};
    COPY_VECTOR(&to->text, &from->text);
    return fine;
}

/* What threads hold themselves. */
static bool copy_inner(struct ncclscope_model *to, const struct ncclscope_model *from)
{
    bool fine = true;
    for (size_t i = 0; i < to->threads.len; i++) {
        struct nsc_thread *t = &to->threads.item[i];
        COPY_VECTOR(&t->waiting, &from->threads.item[i].waiting);
        fine = copy_map(&t->waiting_by, &from->threads.item[i].waiting_by) && fine;
        t->quotes = (struct nsc_arena){0};
    }
    return fine;
}

static bool copy_scratch(struct ncclscope_model *to, const struct ncclscope_model *from)
{
    bool fine = true;
    to->scratch = nsc_alloc(sizeof *to->scratch);
    if (!to->scratch)
        return false;
    *to->scratch = *from->scratch;
#define COPY(name) COPY_VECTOR(&to->scratch->name, &from->scratch->name);
    NSC_SCRATCH_VECTORS(COPY)
#undef COPY
#define COPY(name) fine = copy_map(&to->scratch->name, &from->scratch->name) && fine;
    NSC_SCRATCH_MAPS(COPY)
#undef COPY
    return fine;
}

static bool copy_model(struct ncclscope_model *to, const struct ncclscope_model *from)
{
    bool fine = true;
    *to = *from;
    to->arena = (struct nsc_arena){0};
    to->rows = (struct nsc_rows){0};
#define COPY(name) COPY_VECTOR(&to->name, &from->name);
    NSC_MODEL_VECTORS(COPY)
#undef COPY
#define COPY(name) fine = copy_map(&to->name, &from->name) && fine;
    NSC_MODEL_MAPS(COPY)
#undef COPY
    fine = copy_strings(&to->strings, &from->strings) && fine;
    fine = copy_scratch(to, from) && fine;
    return copy_inner(to, from) && fine;
}

int ncclscope_model_snapshot(ncclscope_model **out, const ncclscope_model *m, ncclscope_error *err)
{
    if (out)
        *out = NULL;
    if (!out || !m || m->finished)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "a snapshot is taken of a model that still grows");
    *out = nsc_alloc(sizeof **out);
    int rc = *out && copy_model(*out, m) ? ncclscope_model_finish(*out, err)
                                         : nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    if (rc) {
        ncclscope_model_free(*out);
        *out = NULL;
    }
    return rc;
}
