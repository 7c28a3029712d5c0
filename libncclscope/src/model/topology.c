/* topology.c - what the GRAPH dump says of a machine: classes and bandwidths of paths, NICs near a GPU, the CPU between them. */
#include "model/topology.h"

#include "model/apply.h"

#include <stdio.h>
#include <stdlib.h>

/* "GPU/0-1A000" and "GPU/1a000" are one: the id alone, in small letters. */
static nsc_str path_end(struct ncclscope_model *m, const char *kind, nsc_text id)
{
    char low[40];
    const char *dash = id.len ? memchr(id.ptr, '-', id.len) : NULL;
    size_t n = strlen(kind);
    if (dash)
        id = nsc_text_from(id, (size_t)(dash - id.ptr) + 1);
    if (id.len + n >= sizeof low)
        return 0;
    memcpy(low, kind, n);
    for (size_t i = 0; i < id.len; i++)
        low[n + i] = (char)(id.ptr[i] >= 'A' && id.ptr[i] <= 'F' ? id.ptr[i] + 32 : id.ptr[i]);
    return nsc_keep(m, (nsc_text){low, n + id.len});
}

/* Index of the row under this key, made if it is new; NSC_NONE: no memory. */
static uint32_t path_at(struct ncclscope_model *m, nsc_str host, nsc_str a, nsc_str b, bool *is_new)
{
    struct nsc_key key = {host, a, b};
    uint32_t i = nsc_map_get(&m->path_by, key);
    *is_new = i == NSC_NONE;
    if (i != NSC_NONE)
        return i;
    struct nsc_gpu_path *p = nsc_vec_push(&m->gpu_paths);
    if (!p || nsc_map_put(&m->path_by, key, (uint32_t)(m->gpu_paths.len - 1))) {
        m->no_memory = true;
        return NSC_NONE;
    }
    *p = (struct nsc_gpu_path){.host = host, .a = a, .b = b};
    return (uint32_t)(m->gpu_paths.len - 1);
}

void nsc_add_gpu_path(struct ncclscope_model *m, nsc_str host, nsc_str a, nsc_str b, nsc_str type,
                      const struct nsc_where *where)
{
    bool is_new;
    uint32_t i = path_at(m, host, a, b, &is_new);
    if (i == NSC_NONE || !is_new)
        return;
    m->gpu_paths.item[i].type = type;
    m->gpu_paths.item[i].where = *where;
}

struct nsc_gpu_node *nsc_add_gpu_node(struct ncclscope_model *m, nsc_str host, nsc_str bus_id)
{
    struct nsc_key key = {host, bus_id, NSC_NONE};
    uint32_t i = nsc_map_get(&m->path_by, key);
    if (i != NSC_NONE)
        return &m->gpu_nodes.item[i];
    struct nsc_gpu_node *g = nsc_vec_push(&m->gpu_nodes);
    if (!g || nsc_map_put(&m->path_by, key, (uint32_t)(m->gpu_nodes.len - 1))) {
        m->no_memory = true;
        return NULL;
    }
    *g = (struct nsc_gpu_node){.host = host, .bus_id = bus_id};
    return g;
}

static const double most_gb_s = 1e6; /* NCCL has 5000 for what is local: beyond is no bandwidth */

/* "(2/370.8/NVL)" to 370.8 and NVL; "(1/21/1)" of NCCL 2.5 to 21 and NVL: of its numbers that one names one class alone. */
static bool split_path(nsc_text path, double *bw, nsc_text *type)
{
    const char *last = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    const char *first = path.len ? memchr(path.ptr, '/', path.len) : NULL;
    if (!path.ptr || !last || first == last || path.ptr[0] != '(' || path.ptr[path.len - 1] != ')')
        return false;
    *type = (nsc_text){last + 1, (size_t)(path.ptr + path.len - last) - 2};
    if (nsc_text_is(*type, "1"))
        *type = nsc_text_of("NVL");
    return nsc_to_f64((nsc_text){first + 1, (size_t)(last - first) - 1}, bw) && *bw <= most_gb_s;
}

struct far_end {
    nsc_text id, type;
    double bw;
};

/* "CPU/0-0 (2/24.0/PHB)" is over PCIe to the nearest; "CPU/0-0 (1/380.0/C2C)" is the CPU's own link, beside which PCIe counts little. */
static void path_to_cpu(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_gpu_node *g,
                        const struct far_end *to)
{
    enum nsc_level level = nsc_level_of(to->type);
    if (level == NSC_LEVEL_C2C || level == NSC_LEVEL_NVL)
        g->to_cpu = -1;
    if (level != NSC_LEVEL_PHB || g->to_cpu < 0 || to->bw <= g->to_cpu)
        return;
    g->to_cpu = to->bw;
    g->to_cpu_at = nsc_here(m, rec);
}

static void path_of_gpu(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_gpu_node *g,
                        const struct far_end *to)
{
    bool gpu = nsc_text_starts(to->id, "GPU/"), net = nsc_text_starts(to->id, "NET/"), new_path;
    if (nsc_level_of(to->type) == NSC_LEVEL_NVL && to->bw > g->nvlink)
        g->nvlink = to->bw;
    g->switched = g->switched || (nsc_text_starts(to->id, "NVS/") && nsc_level_of(to->type) == NSC_LEVEL_NVL);
    if (net && nsc_level_of(to->type) <= NSC_LEVEL_PXB && to->bw > g->nic)
        g->nic = to->bw;
    if (nsc_text_starts(to->id, "CPU/"))
        path_to_cpu(m, rec, g, to);
    if (!gpu && !net)
        return;
    nsc_str host = g->host, bus_id = g->bus_id;
    uint32_t i = path_at(m, host, bus_id, path_end(m, net ? "NET/" : "", nsc_text_from(to->id, 4)), &new_path);
    if (i == NSC_NONE || !new_path)
        return;
    m->gpu_paths.item[i].type = nsc_keep(m, to->type);
    m->gpu_paths.item[i].bw = to->bw;
    m->gpu_paths.item[i].where = nsc_here(m, rec);
}

/* GPU/0-60 :GPU/0-60 (0/5000.0/LOC) GPU/0-70 (2/370.8/NVL) ... NVS/0-0 (1/370.8/NVL) ... NET/0-0 (3/1.2/PHB) */
void nsc_apply_topo_paths(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text node = nsc_record_field(rec, NCCLSCOPE_FIELD_NODE), rest = nsc_record_field(rec, NCCLSCOPE_FIELD_PATHS);
    (void)t;
    m->procs.item[proc].graph_seen = true;
    nsc_str bus_id = nsc_text_starts(node, "GPU/") ? path_end(m, "", nsc_text_from(node, 4)) : 0;
    struct nsc_gpu_node *g = bus_id ? nsc_add_gpu_node(m, m->procs.item[proc].host, bus_id) : NULL;
    if (g && !g->where.line)
        g->where = nsc_here(m, rec);
    for (struct far_end to; g;) {
        to.id = nsc_next_word(&rest);
        if (!split_path(nsc_next_word(&rest), &to.bw, &to.type))
            return;
        path_of_gpu(m, rec, g, &to);
    }
}

/* "+ PCI[0.2] - PCI/..": what sysfs says of a link whose width it does not know. */
static void see_flat_pci(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_proc *p)
{
    double bw;
    bool gpu =
        rec->kind == NCCLSCOPE_KIND_TOPO_GPU || nsc_text_starts(nsc_record_field(rec, NCCLSCOPE_FIELD_NODE), "PCI/");
    if (gpu && nsc_text_is(nsc_record_field(rec, NCCLSCOPE_FIELD_LINK), "PCI") &&
        nsc_to_f64(nsc_record_field(rec, NCCLSCOPE_FIELD_BW), &bw) && bw < 1.0 && !p->flat_pci) {
        p->flat_pci = true;
        p->flat_at = nsc_here(m, rec);
    }
}

void nsc_add_tree_link(struct ncclscope_model *m, struct nsc_tree_link link)
{
    struct nsc_key key = {link.host, link.a, link.b};
    struct nsc_tree_link *x = nsc_map_get(&m->tree_link_by, key) == NSC_NONE ? nsc_vec_push(&m->tree_links) : NULL;
    if (x)
        *x = link;
    if (x && nsc_map_put(&m->tree_link_by, key, (uint32_t)(m->tree_links.len - 1)))
        m->no_memory = true;
}

static void see_tree_gpu(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_proc *p, nsc_text bus_id,
                         bool deep)
{
    p->tree_gpu = path_end(m, "", bus_id);
    struct nsc_gpu_node *g = nsc_add_gpu_node(m, p->host, p->tree_gpu);
    if (!g)
        return;
    g->in_tree = true;
    g->under = deep ? p->tree_top : 0;
    if (!g->where.line)
        g->where = nsc_here(m, rec);
}

/* The dump of the machine, line by line: CPU/0-0, below it "+ PCI[24.0] - PCI/0-85000", below that, indented, "+ PCI[24.0] - GPU/0-9e000 (0)", and
 * below a GPU "+ NVL[370.8] - NVS/0-0" or the GPU at the other end of its links. RCCL 2.30 has "+ PCI[12.0] - DEV/0-b000 (...)", and below that
 * "+ LOC[5000.0] - GPU/0-b000" and "+ XGMI[24.0] - DEV/0-e000". */
static void see_tree(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_proc *p)
{
    nsc_text node = nsc_record_field(rec, NCCLSCOPE_FIELD_NODE), link = nsc_record_field(rec, NCCLSCOPE_FIELD_LINK);
    bool deep = nsc_text_starts(nsc_record_field(rec, NCCLSCOPE_FIELD_TEXT), " ");
    if (rec->kind == NCCLSCOPE_KIND_TOPO_GPU) {
        see_tree_gpu(m, rec, p, node, deep);
    } else if (nsc_level_of(link) == NSC_LEVEL_LOC && nsc_text_starts(node, "GPU/")) {
        see_tree_gpu(m, rec, p, nsc_text_from(node, 4), deep);
    } else if (nsc_level_of(link) == NSC_LEVEL_NVL && p->tree_gpu) {
        struct nsc_gpu_node *g = nsc_text_starts(node, "NVS") ? nsc_add_gpu_node(m, p->host, p->tree_gpu) : NULL;
        bool gpu = nsc_text_starts(node, "GPU/") || nsc_text_starts(node, "DEV/"); /* as RCCL 2.30 puts it */
        nsc_str other = gpu ? path_end(m, "", nsc_text_from(node, 4)) : 0;
        if (g)
            g->switched = true;
        if (other) {
            nsc_str type = nsc_keep(m, link);
            nsc_add_tree_link(m, (struct nsc_tree_link){p->host, p->tree_gpu, other, type, nsc_here(m, rec)});
            nsc_add_tree_link(m, (struct nsc_tree_link){p->host, other, p->tree_gpu, type, nsc_here(m, rec)});
        }
    } else if (!deep) {
        p->tree_top = nsc_text_is(link, "PCI") ? nsc_keep(m, node) : 0;
        p->tree_gpu = 0;
    }
}

static const struct nsc_tree_link *link_in_tree(const struct ncclscope_model *m, nsc_str host, nsc_str a, nsc_str b)
{
    uint32_t i = a && b ? nsc_map_get(&m->tree_link_by, (struct nsc_key){host, a, b}) : NSC_NONE;
    return i == NSC_NONE ? NULL : &m->tree_links.item[i];
}

const struct nsc_tree_link *nsc_tree_link_of(const struct ncclscope_model *m, const struct nsc_rank *a,
                                             const struct nsc_rank *b)
{
    return link_in_tree(m, m->procs.item[a->proc].host, a->bus_id, b->bus_id);
}

static const struct nsc_gpu_node *node_of(const struct ncclscope_model *m, nsc_str host, nsc_str bus_id)
{
    uint32_t i = bus_id ? nsc_map_get(&m->path_by, (struct nsc_key){host, bus_id, NSC_NONE}) : NSC_NONE;
    return i == NSC_NONE ? NULL : &m->gpu_nodes.item[i];
}

bool nsc_tree_joins(const struct ncclscope_model *m, nsc_str host, nsc_str a, nsc_str b, bool *known)
{
    const struct nsc_gpu_node *x = node_of(m, host, a), *y = node_of(m, host, b);
    *known = x && y && x->in_tree && y->in_tree;
    return *known &&
           (link_in_tree(m, host, a, b) || (x->switched && y->switched) || (x->under && x->under == y->under));
}

/* CPU/0-0 (1/2/-1): architecture, vendor and model, by NCCL's numbers. */
void nsc_apply_topo_node(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text node = nsc_record_field(rec, NCCLSCOPE_FIELD_NODE), value = nsc_record_field(rec, NCCLSCOPE_FIELD_VALUE);
    const char *first = value.len ? memchr(value.ptr, '/', value.len) : NULL;
    const char *last = value.len ? memrchr(value.ptr, '/', value.len) : NULL;
    int64_t arch, vendor;
    (void)t;
    m->procs.item[proc].graph_seen = true;
    see_tree(m, rec, &m->procs.item[proc]);
    see_flat_pci(m, rec, &m->procs.item[proc]);
    if (!nsc_text_starts(node, "CPU/") || !first || first == last ||
        !nsc_to_i64((nsc_text){value.ptr, (size_t)(first - value.ptr)}, &arch) ||
        !nsc_to_i64((nsc_text){first + 1, (size_t)(last - first) - 1}, &vendor))
        return;
    m->procs.item[proc].cpu_arch = arch;
    m->procs.item[proc].cpu_vendor = vendor;
    nsc_to_i64(nsc_text_from(value, (size_t)(last - value.ptr) + 1), &m->procs.item[proc].cpu_model);
}

void nsc_apply_graph_seen(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)rec;
    (void)t;
    m->procs.item[proc].graph_seen = true;
}

enum nsc_level nsc_level_of(nsc_text type)
{
    static const struct {
        const char *word;
        enum nsc_level level;
    } words[] = {
        {"LOC", NSC_LEVEL_LOC}, {"NVL", NSC_LEVEL_NVL}, {"XGMI", NSC_LEVEL_NVL}, /* RCCL's */ {"NVB", NSC_LEVEL_NVB},
        {"C2C", NSC_LEVEL_C2C}, {"PIX", NSC_LEVEL_PIX}, {"PXB", NSC_LEVEL_PXB},  {"P2C", NSC_LEVEL_P2C},
        {"PXN", NSC_LEVEL_PXN}, {"PHB", NSC_LEVEL_PHB}, {"SYS", NSC_LEVEL_SYS},  {"NODE", NSC_LEVEL_PHB},
        {"SOC", NSC_LEVEL_SYS}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (nsc_text_is(type, words[i].word))
            return words[i].level;
    bool bonded = type.len > 2 && nsc_text_starts(type, "NV") && nsc_is_digit(type.ptr[2]); /* "NV18" of a matrix */
    return bonded ? NSC_LEVEL_NVL : NSC_LEVEL_UNKNOWN;
}

const char *nsc_level_name(enum nsc_level level)
{
    static const char *const names[] = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", ""};
    return names[level];
}

static const struct nsc_distances distances[] = {
#define DISTANCES(first, last, names) {first, last, names},
#include "distances.def"
#undef DISTANCES
};

const struct nsc_distances *nsc_distances(size_t *count)
{
    *count = sizeof distances / sizeof distances[0];
    return distances;
}

nsc_text nsc_distance_name(const struct nsc_distances *run, int64_t number)
{
    nsc_text rest = nsc_text_of(run->names), word = nsc_next_word(&rest);
    while (number-- > 0 && word.len)
        word = nsc_next_word(&rest);
    return word;
}

enum nsc_level nsc_level_of_number(const struct nsc_version *v, int64_t number)
{
    enum nsc_level level = NSC_LEVEL_UNKNOWN;
    bool any = false;
    for (size_t i = 0; number >= 0 && i < sizeof distances / sizeof distances[0]; i++) {
        unsigned first = nsc_version_number(nsc_text_of(distances[i].first));
        unsigned last = *distances[i].last ? nsc_version_number(nsc_text_of(distances[i].last)) : NSC_VERSION_OPEN;
        if (v->high < first || v->low > last)
            continue;
        enum nsc_level here = nsc_level_of(nsc_distance_name(&distances[i], number));
        level = any && here != level ? NSC_LEVEL_UNKNOWN : here;
        any = true;
        if (level == NSC_LEVEL_UNKNOWN)
            break;
    }
    return level;
}

const struct nsc_gpu_node *nsc_gpu_node_of(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    return node_of(m, m->procs.item[r->proc].host, r->bus_id);
}

const struct nsc_gpu_path *nsc_gpu_path_of(const struct ncclscope_model *m, const struct nsc_rank *a,
                                           const struct nsc_rank *b)
{
    struct nsc_key key = {m->procs.item[a->proc].host, a->bus_id, b->bus_id}, back = {key.a, key.c, key.b};
    uint32_t i = a->bus_id && b->bus_id ? nsc_map_get(&m->path_by, key) : NSC_NONE;
    if (i == NSC_NONE && a->bus_id &&
        b->bus_id) /* the line of the other GPU is not here: the way back is of the same kind */
        i = nsc_map_get(&m->path_by, back);
    return i == NSC_NONE ? NULL : &m->gpu_paths.item[i];
}

const struct nsc_gpu_path *nsc_nic_path_of(const struct ncclscope_model *m, const struct nsc_rank *r, int64_t dev)
{
    char name[32];
    snprintf(name, sizeof name, "NET/%llx", (unsigned long long)dev);
    nsc_str nic = nsc_intern_find(&m->strings, nsc_text_of(name));
    struct nsc_key key = {m->procs.item[r->proc].host, r->bus_id, nic};
    uint32_t i = r->bus_id && nic ? nsc_map_get(&m->path_by, key) : NSC_NONE;
    return i == NSC_NONE ? NULL : &m->gpu_paths.item[i];
}
