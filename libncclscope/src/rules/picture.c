/* picture.c - how GPUs of a machine reach each other by what NCCL prints of the machine: paths, links, and the rings that it searched. */
#include "model/topology.h"
#include "rules/known_beside.h"

/* "Pattern 4, crossNic 0, nChannels 1, bw 4.0/4.0, type SYS/SYS": over what the rings go inside a node, as NCCL searched them, unless that
 * is known. */
static const char *ring_of_graph(struct nsc_case *c, nsc_text known)
{
    const struct ncclscope_model *m = c->m;
    nsc_str type = 0;
    const struct nsc_where *at = NULL;
    for (size_t i = 0; i < m->threads.len && !type; i++) {
        type = m->threads.item[i].ring_type;
        at = &m->threads.item[i].ring_type_at;
    }
    for (size_t i = 0; i < m->ranks.len && !type; i++) {
        type = m->ranks.item[i].ring_type;
        at = &m->ranks.item[i].ring_type_at;
    }
    return !type || nsc_text_eq(nsc_say(m, type), known)
               ? ""
               : nsc_words(c, " NCCL's search found rings over %s inside a node (%s).", nsc_say(m, type).ptr,
                           nsc_line_in(c, at));
}

/* How GPUs of a host reach each other by the lines of its paths: a class of path, and the slowest and fastest of it. */
struct reach {
    const struct nsc_gpu_path *first;
    double least, most;
};

/* "PHB (line 26, 24.0 GB/s) and SYS (line 28, 9.0 to 10.0 GB/s)" */
static const char *name_reach(struct nsc_case *c, const struct reach *reach, size_t n)
{
    const char *all = "";
    for (size_t level = 0, told = 0; level < NSC_LEVEL_UNKNOWN; level++) {
        const struct reach *x = &reach[level];
        if (!x->first)
            continue;
        const char *least = x->least < x->most ? nsc_words(c, "%.1f to ", x->least) : "";
        all = nsc_words(c, "%s%s%s (%s, %s%.1f GB/s)", all,
                        !told          ? ""
                        : told + 1 < n ? ", "
                                       : " and ",
                        nsc_say(c->m, x->first->type).ptr, nsc_line_in(c, &x->first->where), least, x->most);
        told++;
    }
    return all;
}

/* "GPU/0-60 :GPU/0-60 (0/5000.0/LOC) GPU/0-70 (2/370.8/NVL)": of the first host that has such lines. */
static const char *paths_of_machine(struct nsc_case *c, nsc_text *only)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_gpu_path *first = NULL;
    struct reach reach[NSC_LEVEL_UNKNOWN] = {{NULL, 0, 0}};
    size_t classes = 0;
    *only = (nsc_text){"", 0};
    for (size_t i = 0; i < m->gpu_paths.len; i++) {
        const struct nsc_gpu_path *p = &m->gpu_paths.item[i];
        enum nsc_level level = nsc_level_of(nsc_say(m, p->type));
        bool gpus = p->host && p->bw > 0 && p->a != p->b && !nsc_text_starts(nsc_say(m, p->b), "NET/");
        if (!gpus || (first && first->host != p->host))
            continue;
        if (level == NSC_LEVEL_UNKNOWN)
            return "";
        first = first ? first : p;
        struct reach *x = &reach[level];
        classes += !x->first;
        *x = x->first ? (struct reach){x->first, p->bw < x->least ? p->bw : x->least, p->bw > x->most ? p->bw : x->most}
                      : (struct reach){p, p->bw, p->bw};
    }
    if (!first)
        return "";
    *only = classes == 1 ? nsc_say(m, first->type) : *only;
    return nsc_words(c, " In NCCL's picture of the machine GPUs reach each other over %s.",
                     name_reach(c, reach, classes));
}

/* "+ XGMI[24.0] - GPU/4C000" below a GPU: of the first host whose tree shows such links. */
static const char *links_of_machine(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_tree_link *first = m->tree_links.len ? m->tree_links.item : NULL;
    size_t ends = 0;
    for (size_t i = 0; i < m->tree_links.len; i++)
        ends += m->tree_links.item[i].host == first->host;
    return first ? nsc_words(c, " In NCCL's picture of the machine (%s) %s joins %zu pair%s of GPUs.",
                             nsc_line_in(c, &first->where), nsc_say(m, first->type).ptr, ends / 2, ends == 2 ? "" : "s")
                 : "";
}

/* What NCCL takes the machine for, and over what its rings go where that does not follow. */
const char *nsc_picture_of_machine(struct nsc_case *c)
{
    nsc_text only; /* class of path between them */
    const char *paths = paths_of_machine(c, &only);
    return nsc_words(c, "%s%s", *paths ? paths : links_of_machine(c), ring_of_graph(c, only));
}
