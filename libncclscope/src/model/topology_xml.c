/* topology_xml.c - the machine as NCCL_TOPO_DUMP_FILE writes it, or as somebody pasted it: which GPUs have NVLink to each other, and which hang on
 * NVSwitches. It names no host: it is read as of every host whose ranks sit on GPUs that it lists, where all hosts are of one job.
 *
 *   <pci busid="0000:06:00.0" class="0x030200" vendor="0x10de" ...>
 *     <gpu dev="0" sm="60" rank="0" gdr="0">
 *       <nvlink target="0000:85:00.0" count="2" tclass="0x030200"/> */
#include "model/apply.h"
#include "model/scratch.h"
#include "model/topology.h"

/* "0000:06:00.0" to "6000", as NCCL's lines write it. */
static nsc_str bus_of(struct ncclscope_model *m, nsc_text said)
{
    char digits[24];
    size_t n = 0;
    for (size_t i = 0; i < said.len && n < sizeof digits; i++) {
        char c = said.ptr[i];
        if (c != ':' && c != '.' && (n || c != '0'))
            digits[n++] = (char)(c >= 'A' && c <= 'F' ? c + 32 : c);
    }
    return n ? nsc_keep(m, (nsc_text){digits, n}) : 0;
}

static struct nsc_gpu_node *listed(struct ncclscope_model *m, const ncclscope_record *rec, nsc_str bus)
{
    struct nsc_gpu_node *g = bus ? nsc_add_gpu_node(m, 0, bus) : NULL;
    if (g && !g->where.line)
        g->where = nsc_here(m, rec);
    if (g)
        g->in_tree = true;
    return g;
}

/* <nvlink target="0000:85:00.0" ... tclass="0x030200"/>, below a GPU: to another GPU, or to a switch (0x068000). */
static void take_link(struct ncclscope_model *m, const ncclscope_record *rec, nsc_str gpu, nsc_text target,
                      nsc_text rest, const char *class)
{
    nsc_str other = bus_of(m, target), type = nsc_keep(m, nsc_text_of(class));
    if (nsc_text_find(rest, "tclass=\"0x068000\"") >= 0) {
        struct nsc_gpu_node *g = listed(m, rec, gpu);
        if (g && !g->switched)
            g->where = nsc_here(m, rec);
        if (g)
            g->switched = true;
    } else if (other && nsc_text_find(rest, "tclass=\"0x03") >= 0) {
        nsc_add_tree_link(m, (struct nsc_tree_link){0, gpu, other, type, nsc_here(m, rec)});
        nsc_add_tree_link(m, (struct nsc_tree_link){0, other, gpu, type, nsc_here(m, rec)});
    }
}

void nsc_apply_topo_xml(struct ncclscope_model *m, const ncclscope_record *rec)
{
    nsc_text name = nsc_record_field(rec, NCCLSCOPE_FIELD_NAME), value = nsc_record_field(rec, NCCLSCOPE_FIELD_VALUE),
             rest = nsc_text_trim_end(nsc_record_field(rec, NCCLSCOPE_FIELD_TEXT));
    struct nsc_stream *s = nsc_stream_of(m);
    struct nsc_gpu_node *g = NULL;
    bool begins = nsc_text_is(name, "gpu dev"), goes_on = s->xml_line && s->xml_line + 1 == rec->line;
    s->xml_line = begins || goes_on ? rec->line : 0;
    if (nsc_text_is(name, "pci busid")) {
        s->xml_pci = bus_of(m, value);
        s->xml_gpu = 0;
    } else if (begins) {
        g = listed(m, rec, s->xml_pci);
        s->xml_gpu = g ? s->xml_pci : 0;
        if (g && rest.len > 1 && !memcmp(rest.ptr + rest.len - 2, "/>", 2))
            g->closed = true;
    } else if (nsc_text_is(name, "/gpu")) {
        g = s->xml_gpu ? listed(m, rec, s->xml_gpu) : NULL;
        if (g && goes_on)
            g->closed = true;
        s->xml_gpu = 0;
    } else if (s->xml_gpu) {
        take_link(m, rec, s->xml_gpu, value, rest, nsc_text_is(name, "xgmi target") ? "XGMI" : "NVL");
    }
}

static const struct nsc_gpu_node *node_of(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    struct nsc_key key = {0, r ? r->bus_id : 0, NSC_NONE};
    uint32_t i = key.b ? nsc_map_get(&m->path_by, key) : NSC_NONE;
    return i == NSC_NONE ? NULL : &m->gpu_nodes.item[i];
}

/* Of a GPU whose element was cut before its end, or that hangs on a switch while the other does not, the dump tells not all. */
const struct nsc_where *nsc_xml_of_pair(const struct ncclscope_model *m, const struct nsc_rank *a,
                                        const struct nsc_rank *b, bool *nvlink)
{
    const struct nsc_gpu_node *x = node_of(m, a), *y = node_of(m, b);
    if (!m->hosts_are_joined || !x || !y || a->bus_id == b->bus_id ||
        m->procs.item[a->proc].host != m->procs.item[b->proc].host)
        return NULL;
    uint32_t i = nsc_map_get(&m->tree_link_by, (struct nsc_key){0, a->bus_id, b->bus_id});
    *nvlink = i != NSC_NONE || (x->switched && y->switched);
    if (i != NSC_NONE)
        return &m->tree_links.item[i].where;
    return *nvlink || (x->closed && y->closed && !x->switched && !y->switched) ? &x->where : NULL;
}
