/* parts.c - models of parts of one job to one, as if their sources had been read one behind the other.
 *
 * A row is copied, and what it points to is found in the model that it comes to: texts by their words, rows behind those that were there.
 * What several sources tell of one thing (a plugin, a device, a shape of warning, a path of the machine) falls together as it does
 * while a job is read. */
#include "model/parts.h"

#include "model/scratch.h"
#include "model/topology.h"
#include "ncclscope/model.h"

#include <stddef.h>

/* ---- what there is ---- */

#define FOUND(type, name)
#define ROW(array, type)
#define TOTAL(kind, name)
#define MEMBER(type, kind, name) \
    {#type, #name, NSC_MEMBER_##kind, offsetof(struct nsc_##type, name), sizeof((struct nsc_##type *)0)->name},
const struct nsc_member nsc_members[] = {
#include "model/parts.def"
    {NULL, NULL, NSC_MEMBER_INT, 0, 0}};
#undef ROW
#undef MEMBER

#define MEMBER(type, kind, name)
#define ROW(array, type) {#type, offsetof(struct ncclscope_model, array), sizeof(struct nsc_##type)},
const struct nsc_part_array nsc_parts[NSC_PARTS] = {
#include "model/parts.def"
};
#undef ROW
#undef TOTAL

#define ROW(array, type)
#define TOTAL(kind, name) {NSC_TOTAL_##kind, offsetof(struct ncclscope_model, name)},
const struct nsc_total nsc_counted[] = {
#include "model/parts.def"
};
#undef ROW
#undef TOTAL
#undef MEMBER
#undef FOUND
const size_t nsc_counted_things = sizeof nsc_counted / sizeof nsc_counted[0];

uint64_t nsc_number_at(const char *at, size_t size)
{
    int8_t i1;
    int32_t i4;
    int64_t i8;
    if (size == sizeof i1)
        return memcpy(&i1, at, size), (uint64_t)(int64_t)i1;
    if (size == sizeof i4)
        return memcpy(&i4, at, size), (uint64_t)(int64_t)i4;
    return memcpy(&i8, at, sizeof i8), (uint64_t)i8;
}

const struct nsc_member *nsc_members_of(const struct nsc_part_array *p, size_t *n)
{
    const struct nsc_member *first = nsc_members;
    while (strcmp(first->type, p->type) != 0)
        first++;
    for (*n = 0; first[*n].type && !strcmp(first[*n].type, p->type);)
        ++*n;
    return first;
}

enum nsc_part_id nsc_target_of(enum nsc_member_kind kind)
{
    switch ((int)kind) {
    case NSC_MEMBER_SOURCE: return NSC_PART_sources;
    case NSC_MEMBER_PLUGIN: return NSC_PART_plugins;
    case NSC_MEMBER_WARNING: return NSC_PART_warnings;
    case NSC_MEMBER_ANY_PROC:
    case NSC_MEMBER_PROC: return NSC_PART_procs;
    case NSC_MEMBER_EVENT: return NSC_PART_events;
    case NSC_MEMBER_ANY_RANK:
    case NSC_MEMBER_RANK: return NSC_PART_ranks;
    case NSC_MEMBER_THREAD: return NSC_PART_threads;
    case NSC_MEMBER_FIELD: return NSC_PART_own_fields;
    case NSC_MEMBER_COUNT: return NSC_PART_ras_counts;
    case NSC_MEMBER_CALL: return NSC_PART_calls;
    case NSC_MEMBER_CELL: return NSC_PART_cells;
    default: return NSC_PARTS;
    }
}

struct nsc_array nsc_array_of(const struct ncclscope_model *m, enum nsc_part_id id)
{
    struct nsc_array a;
    memcpy(&a, (const char *)m + nsc_parts[id].at, sizeof a); /* as NSC_VEC begins, whatever its type */
    return a;
}

bool nsc_is_being_read(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->scratch->streams.len; i++)
        if (m->scratch->streams.item[i].source != NSC_NONE)
            return true;
    return false;
}

/* ---- one row ---- */

struct joiner {
    struct ncclscope_model *into;
    const struct ncclscope_model *from;
    nsc_str *word;                     /* of each text of `from` */
    size_t base[NSC_MEMBER_INDICES];   /* where the rows that an index of this kind leads to begin */
    uint32_t *now[NSC_MEMBER_INDICES]; /* NULL: in their order from there on; else where each is */
    uint64_t spoken;                   /* lines in which ranks tell of themselves, put so far */
    uint64_t errors_said;              /* lines that report an error by their level alone, put so far */
    uint64_t heaped;                   /* lines of nsc_comes_in_heaps, put so far */
};

/* What becomes of a row, if it is not put behind the others. */
enum { AS_NEW = NSC_NONE, LEFT_OUT = NSC_NONE - 1 };

static nsc_str word_of(struct joiner *j, nsc_str s)
{
    if (s && !j->word[s])
        j->word[s] = nsc_keep(j->into, nsc_say(j->from, s));
    return j->word[s];
}

static uint32_t index_of(const struct joiner *j, enum nsc_member_kind kind, uint32_t i)
{
    if (i == NSC_NONE)
        return i;
    return j->now[kind] ? j->now[kind][i] : (uint32_t)(j->base[kind] + i);
}

/* The row of `from` as one of `into`. */
static void translate(struct joiner *j, char *row, const struct nsc_member *member, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct nsc_member *x = &member[i];
        uint32_t *number = (uint32_t *)(void *)(row + x->at);
        struct nsc_where *w = (struct nsc_where *)(void *)(row + x->at);
        if (x->kind == NSC_MEMBER_STR)
            *number = word_of(j, *number);
        else if (x->kind > NSC_MEMBER_LIST && x->kind < NSC_MEMBER_INDICES)
            *number = index_of(j, x->kind, *number);
        else if (x->kind == NSC_MEMBER_WHERE && w->line) {
            w->source += (uint32_t)j->base[NSC_MEMBER_SOURCE];
            w->text = nsc_arena_copy(&j->into->arena, w->text);
        }
    }
}

static void put(struct joiner *j, struct nsc_map *map, struct nsc_key key, size_t value)
{
    if (nsc_map_put(map, key, (uint32_t)value))
        j->into->no_memory = true;
}

/* ---- what is one thing in all sources ---- */

static uint32_t meet_plugin(struct joiner *j, const void *row)
{
    const struct nsc_plugin *x = row;
    uint32_t i = nsc_map_get(&j->into->scratch->plugin_by, nsc_plugin_key(x));
    if (i == NSC_NONE) {
        put(j, &j->into->scratch->plugin_by, nsc_plugin_key(x), j->into->plugins.len);
        return AS_NEW;
    }
    struct nsc_plugin *p = &j->into->plugins.item[i];
    p->procs += x->procs;
    p->last_proc = x->last_proc;
    p->file = p->file ? p->file : x->file;
    p->version = x->version ? x->version : p->version;
    return i;
}

static uint32_t meet_warning(struct joiner *j, const void *row)
{
    const struct nsc_warning *x = row;
    struct nsc_key key = {x->shape, 0, 0};
    uint32_t i = nsc_map_get(&j->into->scratch->warning_by, key);
    if (i == NSC_NONE) {
        put(j, &j->into->scratch->warning_by, key, j->into->warnings.len);
        return AS_NEW;
    }
    j->into->warnings.item[i].lines += x->lines;
    j->into->warnings.item[i].broke |= x->broke;
    return i;
}

static uint32_t meet_device(struct joiner *j, const void *row)
{
    const struct nsc_net_device *x = row;
    if (nsc_map_get(&j->into->scratch->device_by, nsc_device_key(x)) != NSC_NONE)
        return LEFT_OUT;
    put(j, &j->into->scratch->device_by, nsc_device_key(x), 0);
    return AS_NEW;
}

static uint32_t meet_path(struct joiner *j, const void *row)
{
    const struct nsc_gpu_path *x = row;
    struct nsc_key key = {x->host, x->a, x->b};
    if (nsc_map_get(&j->into->path_by, key) != NSC_NONE)
        return LEFT_OUT;
    put(j, &j->into->path_by, key, j->into->gpu_paths.len);
    return AS_NEW;
}

static uint32_t meet_node(struct joiner *j, const void *row)
{
    const struct nsc_gpu_node *x = row;
    struct nsc_key key = {x->host, x->bus_id, NSC_NONE};
    uint32_t i = nsc_map_get(&j->into->path_by, key);
    if (i == NSC_NONE) {
        put(j, &j->into->path_by, key, j->into->gpu_nodes.len);
        return AS_NEW;
    }
    struct nsc_gpu_node *g = &j->into->gpu_nodes.item[i];
    g->nvlink = x->nvlink > g->nvlink ? x->nvlink : g->nvlink;
    g->nic = x->nic > g->nic ? x->nic : g->nic;
    g->switched = g->switched || x->switched;
    g->closed = g->closed || x->closed;
    g->under = x->in_tree ? x->under : g->under;
    g->in_tree = g->in_tree || x->in_tree;
    g->where = g->where.line ? g->where : x->where;
    return LEFT_OUT;
}

static uint32_t meet_tree_link(struct joiner *j, const void *row)
{
    nsc_add_tree_link(j->into, *(const struct nsc_tree_link *)row);
    return LEFT_OUT;
}

static uint32_t meet_connection(struct joiner *j, const void *row)
{
    const struct nsc_count *x = row;
    struct nsc_count *c = nsc_count_of(j->into, x->text, x->family, x->gdrdma);
    if (c) {
        c->lines += x->lines;
        c->repeated += x->repeated;
    }
    return LEFT_OUT;
}

static void differ(struct joiner *j, const struct nsc_odd_call *odd)
{
    struct nsc_odd_call *new = j->into->odd_calls.len < NSC_ODD_CALLS ? nsc_vec_push(&j->into->odd_calls) : NULL;
    if (new)
        *new = *odd;
}

/* The rank that its part saw first to call this. The others of that part, of which it is only known that they called the same, go
 * with it where another part's ranks called something else. */
static uint32_t meet_call(struct joiner *j, const void *row)
{
    const struct nsc_call *x = row;
    struct ncclscope_model *m = j->into;
    const struct nsc_rank *r = &m->ranks.item[x->rank];
    uint32_t i = nsc_map_get(&m->scratch->call_by, nsc_call_key(r, x->op));
    if (i == NSC_NONE && m->calls.len >= NSC_CALLS_COMPARED)
        return LEFT_OUT;
    if (i == NSC_NONE) {
        put(j, &m->scratch->call_by, nsc_call_key(r, x->op), m->calls.len);
        return AS_NEW;
    }
    struct nsc_call *first = &m->calls.item[i];
    struct nsc_where where = {m->procs.item[r->proc].source, x->line, {NULL, 0}};
    if (first->name == x->name && first->count == x->count)
        first->alike += x->alike;
    else
        differ(j, &(struct nsc_odd_call){i, x->rank, x->name, x->count, x->alike, where});
    return i;
}

static uint32_t meet_odd_call(struct joiner *j, const void *row)
{
    const struct nsc_odd_call *x = row;
    if (x->first == LEFT_OUT)
        return LEFT_OUT;
    struct nsc_call *first = &j->into->calls.item[x->first];
    if (first->name == x->name && first->count == x->count)
        first->alike += x->alike;
    else
        differ(j, x);
    return LEFT_OUT;
}

static uint32_t meet_own(struct joiner *j, const void *row)
{
    (void)row;
    j->into->own_more += j->into->own_records.len >= NSC_OWN_RECORDS;
    return j->into->own_records.len < NSC_OWN_RECORDS ? AS_NEW : LEFT_OUT;
}

static uint32_t meet_happened(struct joiner *j, const void *row)
{
    const struct nsc_own_record *x = row;
    bool many = x->number == NCCLSCOPE_KIND_RANK_SAID && j->into->words_of_ranks + j->spoken++ >= NSC_WORDS_OF_RANKS,
         errors = x->number == NCCLSCOPE_KIND_ERROR_SAID && j->into->errors_said + j->errors_said++ >= NSC_ERRORS_SAID,
         heap = nsc_comes_in_heaps(x->number) && j->into->heaped + j->heaped++ >= NSC_HEAPED;
    return many || errors || heap || j->into->happened.len >= NSC_OWN_RECORDS ? LEFT_OUT : AS_NEW;
}

/* ---- what finds a row that has been put behind the others ---- */

static void settle_proc(struct joiner *j, uint32_t i)
{
    struct nsc_proc *p = &j->into->procs.item[i];
    p->merged_into = p->last_thread = p->last_rank = p->first_rank = p->in_pod = p->last_text = NSC_NONE;
}

static void settle_printed(struct joiner *j, uint32_t i)
{
    struct nsc_printed *t = &j->into->printed.item[i];
    t->before = j->into->procs.item[t->proc].last_text;
    j->into->procs.item[t->proc].last_text = i;
}

static void settle_rank(struct joiner *j, uint32_t i)
{
    struct nsc_rank *r = &j->into->ranks.item[i];
    r->comm = NSC_NONE;
    nsc_chain_rank(j->into, i);
}

static void settle_thread(struct joiner *j, uint32_t i)
{
    struct nsc_thread *t = &j->into->threads.item[i];
    struct nsc_proc *p = &j->into->procs.item[t->proc];
    t->before = p->last_thread;
    p->last_thread = i;
    t->next_in_stream = NSC_NONE;
    memset(&t->waiting, 0, sizeof t->waiting);
    memset(&t->waiting_by, 0, sizeof t->waiting_by);
    memset(&t->quotes, 0, sizeof t->quotes);
    put(j, &j->into->thread_by, nsc_thread_key(t), i);
}

static void settle_env(struct joiner *j, uint32_t i)
{
    const struct nsc_env *e = &j->into->env.item[i];
    put(j, &j->into->env_by, (struct nsc_key){e->proc, e->name, 0}, i);
}

/* ---- all rows ---- */

static const struct {
    uint32_t (*meet)(struct joiner *j,
                     const void *row);            /* where it falls together with one that is there; NULL: nowhere */
    void (*settle)(struct joiner *j, uint32_t i); /* NULL: nothing leads to it */
} ways[NSC_PARTS] = {
    [NSC_PART_plugins] = {meet_plugin, NULL},         [NSC_PART_warnings] = {meet_warning, NULL},
    [NSC_PART_devices] = {meet_device, NULL},         [NSC_PART_gpu_paths] = {meet_path, NULL},
    [NSC_PART_gpu_nodes] = {meet_node, NULL},         [NSC_PART_tree_links] = {meet_tree_link, NULL},
    [NSC_PART_connections] = {meet_connection, NULL}, [NSC_PART_calls] = {meet_call, NULL},
    [NSC_PART_odd_calls] = {meet_odd_call, NULL},     [NSC_PART_own_records] = {meet_own, NULL},
    [NSC_PART_happened] = {meet_happened, NULL},      [NSC_PART_procs] = {NULL, settle_proc},
    [NSC_PART_printed] = {NULL, settle_printed},      [NSC_PART_ranks] = {NULL, settle_rank},
    [NSC_PART_threads] = {NULL, settle_thread},       [NSC_PART_env] = {NULL, settle_env},
};

char *nsc_push_row(struct ncclscope_model *m, enum nsc_part_id id)
{
    const struct nsc_part_array *p = &nsc_parts[id];
    struct {
        void *item;
        size_t len, cap;
    } v;
    memcpy(&v, (char *)m + p->at, sizeof v);
    void *grown = nsc_grow(v.item, &v.cap, v.len + 1, p->size);
    if (!grown)
        return NULL;
    v.item = grown;
    v.len++;
    memcpy((char *)m + p->at, &v, sizeof v);
    return memset((char *)grown + (v.len - 1) * p->size, 0, p->size);
}

static void put_rows(struct joiner *j, enum nsc_part_id id, uint32_t *now)
{
    const struct nsc_part_array *p = &nsc_parts[id];
    struct nsc_array rows = nsc_array_of(j->from, id);
    size_t n;
    const struct nsc_member *member = nsc_members_of(p, &n);
    _Alignas(max_align_t) char row[2048];
    for (size_t i = 0; i < rows.len && !j->into->no_memory; i++) {
        memcpy(row, rows.item + i * p->size, p->size);
        translate(j, row, member, n);
        uint32_t at = ways[id].meet ? ways[id].meet(j, row) : AS_NEW;
        char *new = at == AS_NEW ? nsc_push_row(j->into, id) : NULL;
        if (at == AS_NEW)
            at = (uint32_t)(nsc_array_of(j->into, id).len - 1);
        if (new)
            memcpy(new, row, p->size);
        if (new &&ways[id].settle)
            ways[id].settle(j, at);
        if (now)
            now[i] = at;
    }
}

static void put_totals(struct joiner *j)
{
    for (size_t i = 0; i < nsc_counted_things; i++) {
        const struct nsc_total *t = &nsc_counted[i];
        void *to = (char *)j->into + t->at;
        const void *add = (const char *)j->from + t->at;
        if (t->kind == NSC_TOTAL_SUM)
            *(uint64_t *)to += *(const uint64_t *)add;
        else if (t->kind == NSC_TOTAL_MOST)
            *(uint64_t *)to = *(uint64_t *)to > *(const uint64_t *)add ? *(uint64_t *)to : *(const uint64_t *)add;
        else if (t->kind == NSC_TOTAL_ANY)
            *(bool *)to = *(bool *)to || *(const bool *)add;
        else if (!((struct nsc_where *)to)->line && ((const struct nsc_where *)add)->line) {
            struct nsc_where *w = to;
            *w = *(const struct nsc_where *)add;
            w->source += (uint32_t)j->base[NSC_MEMBER_SOURCE];
            w->text = nsc_arena_copy(&j->into->arena, w->text);
        }
    }
}

void nsc_put_together(struct ncclscope_model *into, const struct ncclscope_model *from)
{
    struct joiner j = {.into = into, .from = from};
    bool fine = (j.word = nsc_alloc((from->strings.text.len + 1) * sizeof *j.word)) != NULL;
    for (int k = NSC_MEMBER_LIST + 1; k < NSC_MEMBER_INDICES; k++) {
        enum nsc_part_id id = nsc_target_of((enum nsc_member_kind)k);
        j.base[k] = nsc_array_of(into, id).len;
        if (ways[id].meet)
            fine = (j.now[k] = nsc_alloc((nsc_array_of(from, id).len + 1) * sizeof **j.now)) != NULL && fine;
    }
    into->no_memory = into->no_memory || !fine;
    uint32_t *now[NSC_PARTS] = {NULL};
    for (int k = NSC_MEMBER_LIST + 1; k < NSC_MEMBER_INDICES; k++)
        now[nsc_target_of((enum nsc_member_kind)k)] = j.now[k];
    for (int id = 0; fine && id < NSC_PARTS; id++)
        put_rows(&j, (enum nsc_part_id)id, now[id]);
    if (fine)
        put_totals(&j);
    for (int k = 0; k < NSC_MEMBER_INDICES; k++)
        nsc_free(j.now[k]);
    nsc_free(j.word);
}

int ncclscope_model_merge(ncclscope_model *into, const ncclscope_model *from, ncclscope_error *err)
{
    if (!into || !from || into == from || into->finished || from->finished || nsc_is_being_read(from))
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0,
                        "models are merged before they are finished, and when the sources of the second have ended");
    unsigned before = nsc_failed_allocations();
    nsc_put_together(into, from);
    if (!into->grammar)
        into->grammar = from->grammar;
    return into->no_memory || nsc_failed_allocations() != before ? nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory")
                                                                 : NCCLSCOPE_OK;
}
