/* facts.c - facts to JSON and back: the tables of facts in columns.def say how, key by key. */
#include "base/document.h"
#include "base/file.h"
#include "base/neutral.h"
#include "probe/facts.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

enum type { TEXT, I64, BOOL };

struct row {
    const char *key;
    enum type type;
    size_t offset;
};

#define NCCLSCOPE_FACTS_ALONE
#define NCCLSCOPE_TABLE(table, rows, owner, words) static const struct row table##_rows[] = {
#define NCCLSCOPE_COLUMN(table, name, TYPE, unit, words) {#name, TYPE, offsetof(struct nsc_##table, name)},
#define NCCLSCOPE_END(table) \
    { \
        NULL, TEXT, 0 \
    } \
    } \
    ;
#include "ncclscope/columns.def"
#undef NCCLSCOPE_FACTS_ALONE

/* ---- one fact ---- */

void nsc_fact_int(struct nsc_fact *f, int64_t v)
{
    *f = (struct nsc_fact){v, true};
}

void nsc_fact_text(struct ncclscope_facts *f, const char **field, nsc_text text)
{
    nsc_text copy = nsc_arena_copy(&f->arena, text);
    f->no_memory = f->no_memory || !copy.ptr;
    *field = copy.ptr;
}

void nsc_fact_printf(struct ncclscope_facts *f, const char **field, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    int n = nsc_vformat(text, sizeof text, format, args);
    va_end(args);
    nsc_fact_text(f, field, (nsc_text){text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1});
}

void nsc_fact_hash(struct ncclscope_facts *f, const char **field, nsc_text secret)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a: there are too many UUIDs to try them all */
    for (size_t i = 0; i < secret.len; i++)
        h = (h ^ (unsigned char)secret.ptr[i]) * 1099511628211u;
    nsc_fact_printf(f, field, "%016llx", (unsigned long long)h);
}

void nsc_unprobed(struct ncclscope_facts *f, const char *probe, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    nsc_vformat(text, sizeof text, format, args);
    va_end(args);
    struct nsc_fact_skipped *u = nsc_vec_push(&f->skipped);
    f->no_memory = f->no_memory || !u;
    if (!u)
        return;
    nsc_fact_text(f, &u->probe, nsc_text_of(probe));
    nsc_fact_text(f, &u->reason, nsc_text_of(text));
}

const struct nsc_fact_gpu *nsc_gpu_at(const struct ncclscope_facts *f, int64_t index)
{
    for (size_t i = 0; i < f->gpus.len; i++)
        if (f->gpus.item[i].index.known && f->gpus.item[i].index.v == index)
            return &f->gpus.item[i];
    return NULL;
}

static struct nsc_key pair_key(int64_t from, int64_t to)
{
    return (struct nsc_key){(uint64_t)from, (uint64_t)to, 0};
}

const struct nsc_fact_pair *nsc_pair_at(const struct ncclscope_facts *f, int64_t from, int64_t to)
{
    uint32_t i = f->pair_by.used ? nsc_map_get(&f->pair_by, pair_key(from, to)) : NSC_NONE;
    return i == NSC_NONE ? NULL : &f->pairs.item[i];
}

bool nsc_is_refusal(const char *status)
{
    static const char *const words[] = {"CNS", "GNS", "TNS", "DR", "NS"};
    for (size_t i = 0; status && i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(status, words[i]))
            return true;
    return false;
}

size_t ncclscope_facts_gpus(const ncclscope_facts *f)
{
    return f ? f->gpus.len : 0;
}

struct ncclscope_facts *nsc_facts_new(void)
{
    return nsc_alloc(sizeof(struct ncclscope_facts));
}

void ncclscope_facts_free(ncclscope_facts *f)
{
    if (!f)
        return;
    nsc_vec_free(&f->gpus);
    nsc_vec_free(&f->pairs);
    nsc_map_free(&f->pair_by);
    nsc_vec_free(&f->nics);
    nsc_vec_free(&f->measured);
    nsc_vec_free(&f->collectives);
    nsc_vec_free(&f->variables);
    nsc_vec_free(&f->skipped);
    nsc_arena_free(&f->arena);
    nsc_free(f);
}

/* ---- to JSON ---- */

static void write_rows(struct nsc_json *j, const struct row *rows, const void *base)
{
    for (; rows->key; rows++) {
        const char *at = (const char *)base + rows->offset;
        const struct nsc_fact *number = (const struct nsc_fact *)(const void *)at;
        if (rows->type == TEXT && *(const char *const *)(const void *)at)
            nsc_json_string(j, rows->key, *(const char *const *)(const void *)at);
        else if (rows->type == I64 && number->known)
            nsc_json_int(j, rows->key, number->v);
        else if (rows->type == BOOL && number->known)
            nsc_json_bool(j, rows->key, number->v);
    }
}

static void write_list(struct nsc_json *j, const char *key, const struct row *rows, const void *item, size_t len,
                       size_t size)
{
    nsc_json_open(j, key, '[');
    for (size_t i = 0; i < len; i++) {
        nsc_json_open(j, NULL, '{');
        write_rows(j, rows, (const char *)item + i * size);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

void nsc_facts_members(const struct ncclscope_facts *f, struct nsc_json *j)
{
    nsc_json_open(j, "node", '{');
    write_rows(j, fact_node_rows, &f->node);
    nsc_json_close(j, '}');
    write_list(j, "gpus", fact_gpu_rows, f->gpus.item, f->gpus.len, sizeof *f->gpus.item);
    write_list(j, "pairs", fact_pair_rows, f->pairs.item, f->pairs.len, sizeof *f->pairs.item);
    write_list(j, "nics", fact_nic_rows, f->nics.item, f->nics.len, sizeof *f->nics.item);
    if (f->measured.len)
        write_list(j, "measured", fact_measured_rows, f->measured.item, f->measured.len, sizeof *f->measured.item);
    if (f->collectives.len)
        write_list(j, "collectives", fact_collective_rows, f->collectives.item, f->collectives.len,
                   sizeof *f->collectives.item);
    nsc_json_open(j, "variables", '[');
    for (size_t i = 0; i < f->variables.len; i++) {
        nsc_json_open(j, NULL, '{');
        nsc_json_string(j, "name", f->variables.item[i].name);
        nsc_json_string(j, "value", f->variables.item[i].value);
        nsc_json_string(j, "from", f->variables.item[i].from);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
    nsc_json_open(j, "skipped", '[');
    for (size_t i = 0; i < f->skipped.len; i++) {
        nsc_json_open(j, NULL, '{');
        nsc_json_string(j, "probe", f->skipped.item[i].probe);
        nsc_json_string(j, "reason", f->skipped.item[i].reason);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

int ncclscope_facts_save(const ncclscope_facts *f, ncclscope_write_fn *write, void *user)
{
    if (!f || !write)
        return NCCLSCOPE_EINVAL;
    struct nsc_out *out = nsc_out_new(write, user);
    if (!out)
        return NCCLSCOPE_ENOMEM;
    struct nsc_json json = {.out = out, .first = true}, *j = &json;
    nsc_json_open(j, NULL, '{');
    nsc_json_string(j, "schema", "ncclscope.facts/1");
    nsc_json_string(j, "tool", "ncclscope " NSC_VERSION);
    nsc_facts_members(f, j);
    nsc_json_close(j, '}');
    nsc_puts(out, "\n");
    return nsc_out_end(out);
}

/* ---- from JSON ---- */

/* A member of an object. Of a later version, or of another type than ours, it says nothing. */
static void set(struct ncclscope_facts *f, const struct row *rows, void *base, const char *key, const json_t *value)
{
    while (rows->key && strcmp(rows->key, key) != 0)
        rows++;
    if (!rows->key)
        return;
    char *at = (char *)base + rows->offset;
    int64_t number;
    if (rows->type == TEXT && json_is_string(value))
        nsc_fact_text(f, (const char **)(void *)at, nsc_text_of_json(value));
    else if (rows->type == I64 && nsc_int_of_json(value, &number))
        nsc_fact_int((struct nsc_fact *)(void *)at, number);
    else if (rows->type == BOOL && json_is_boolean(value))
        nsc_fact_int((struct nsc_fact *)(void *)at, json_is_true(value));
}

/* `from` into `to`, where that knows nothing yet. */
static void fill(struct ncclscope_facts *f, const struct row *rows, void *to, const void *from)
{
    f->no_memory = f->no_memory || !to;
    for (; to && rows->key; rows++) {
        char *a = (char *)to + rows->offset;
        const char *b = (const char *)from + rows->offset;
        if (rows->type == TEXT && !*(char **)(void *)a)
            *(const char **)(void *)a = *(const char *const *)(const void *)b;
        else if (rows->type != TEXT && !((struct nsc_fact *)(void *)a)->known)
            memcpy(a, b, sizeof(struct nsc_fact));
    }
}

enum {
    MOST_GPUS = 256,
    MOST_RUNS = 1024,
    MOST_ITEMS = 65536
}; /* 256 GPUs in pairs: a damaged file shall not fill the memory, nor the time */

/* Two probes tell of one GPU, by its bus id, or of one pair. */
static void take_gpu(struct ncclscope_facts *f, const void *item)
{
    const struct nsc_fact_gpu *g = item;
    for (size_t i = 0; i < f->gpus.len; i++) {
        struct nsc_fact_gpu *x = &f->gpus.item[i];
        if (g->bus_id && x->bus_id && !strcmp(g->bus_id, x->bus_id)) {
            fill(f, fact_gpu_rows, x, g);
            return;
        }
    }
    if (g->index.known && f->gpus.len < MOST_GPUS && !nsc_gpu_at(f, g->index.v))
        fill(f, fact_gpu_rows, nsc_vec_push(&f->gpus), g);
}

static void take_pair(struct ncclscope_facts *f, const void *item)
{
    const struct nsc_fact_pair *p = item;
    struct nsc_key key = pair_key(p->from.v, p->to.v);
    uint32_t i = p->from.known && p->to.known ? nsc_map_get(&f->pair_by, key) : NSC_NONE;
    if (!p->from.known || !p->to.known)
        return;
    if (i == NSC_NONE && nsc_map_put(&f->pair_by, key, (uint32_t)f->pairs.len))
        f->no_memory = true;
    else
        fill(f, fact_pair_rows, i == NSC_NONE ? nsc_vec_push(&f->pairs) : &f->pairs.item[i], p);
}

static void take_nic(struct ncclscope_facts *f, const void *item)
{
    if (((const struct nsc_fact_nic *)item)->name)
        fill(f, fact_nic_rows, nsc_vec_push(&f->nics), item);
}

static void take_measured(struct ncclscope_facts *f, const void *item)
{
    const struct nsc_fact_measured *x = item;
    if (x->method && x->from.known && x->to.known)
        fill(f, fact_measured_rows, nsc_vec_push(&f->measured), x);
}

static void take_collective(struct ncclscope_facts *f, const void *item)
{
    const struct nsc_fact_collective *x = item;
    if (x->arm && x->operation && x->bytes.known && f->collectives.len < MOST_RUNS)
        fill(f, fact_collective_rows, nsc_vec_push(&f->collectives), x);
}

static void take_node(struct ncclscope_facts *f, const void *item)
{
    fill(f, fact_node_rows, &f->node, item);
}

static void take_variable(struct ncclscope_facts *f, const void *item)
{
    const struct nsc_fact_variable *v = item;
    if (v->name && v->value)
        fill(f, fact_variable_rows, nsc_vec_push(&f->variables), v);
}

static void take_unprobed(struct ncclscope_facts *f, const void *item)
{
    const struct nsc_fact_skipped *u = item;
    if (u->probe && u->reason)
        fill(f, fact_skipped_rows, nsc_vec_push(&f->skipped), u);
}

static void read_object(struct ncclscope_facts *f, const json_t *object, const struct row *rows,
                        void (*take)(struct ncclscope_facts *f, const void *item))
{
    union {
        struct nsc_fact_node node;
        struct nsc_fact_gpu gpu;
        struct nsc_fact_pair pair;
        struct nsc_fact_nic nic;
        struct nsc_fact_measured measured;
        struct nsc_fact_collective collective;
        struct nsc_fact_variable variable;
        struct nsc_fact_skipped skipped;
    } one;
    const char *key;
    json_t *value;
    memset(&one, 0, sizeof one);
    json_object_foreach((json_t *)(uintptr_t)object, key, value) set(f, rows, &one, key, value);
    take(f, &one);
}

static void read_list(struct ncclscope_facts *f, const json_t *list, const struct row *rows,
                      void (*take)(struct ncclscope_facts *f, const void *item))
{
    for (size_t i = 0, items = 0; i < json_array_size(list) && items < MOST_ITEMS; i++) {
        const json_t *object = json_array_get(list, i);
        if (!json_is_object(object))
            continue;
        read_object(f, object, rows, take);
        items++;
    }
}

static void read_document(struct ncclscope_facts *f, const json_t *doc)
{
    const json_t *node = json_object_get(doc, "node");
    if (json_is_object(node))
        read_object(f, node, fact_node_rows, take_node);
    read_list(f, json_object_get(doc, "gpus"), fact_gpu_rows, take_gpu);
    read_list(f, json_object_get(doc, "pairs"), fact_pair_rows, take_pair);
    read_list(f, json_object_get(doc, "nics"), fact_nic_rows, take_nic);
    read_list(f, json_object_get(doc, "measured"), fact_measured_rows, take_measured);
    read_list(f, json_object_get(doc, "collectives"), fact_collective_rows, take_collective);
    read_list(f, json_object_get(doc, "variables"), fact_variable_rows, take_variable);
    read_list(f, json_object_get(doc, "skipped"), fact_skipped_rows, take_unprobed);
}

int nsc_facts_read(struct ncclscope_facts *f, const char *json, size_t len, ncclscope_error *err)
{
    json_t *doc = NULL;
    json_error_t why;
    int rc = nsc_document(&doc, json, len, &why);
    bool ours = doc && nsc_text_is(nsc_text_of_json(json_object_get(doc, "schema")), "ncclscope.facts/1");
    if (ours)
        read_document(f, doc);
    json_decref(doc);
    if (rc == NCCLSCOPE_ENOMEM || f->no_memory)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    return ours ? NCCLSCOPE_OK : nsc_fail(err, NCCLSCOPE_EDATA, 0, "holds no facts of `ncclscope probe --save`");
}

int ncclscope_facts_load(ncclscope_facts **out, const char *path, ncclscope_error *err)
{
    if (out)
        *out = NULL;
    if (!out || !path)
        return nsc_null(err);
    enum { LARGEST = 64 * 1024 * 1024 };
    unsigned before = nsc_failed_allocations();
    char *json = NULL;
    size_t len = 0;
    *out = nsc_facts_new();
    int rc =
        *out ? nsc_read_whole(path, LARGEST, &json, &len, err) : nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    rc = rc ? rc : nsc_facts_read(*out, json, len, err);
    rc = nsc_settle(rc, before, err);
    nsc_free(json);
    if (rc) {
        ncclscope_facts_free(*out);
        *out = NULL;
    }
    return rc;
}
