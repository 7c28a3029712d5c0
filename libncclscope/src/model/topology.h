/* topology.h - classes of path inside a machine, and what a GRAPH dump says of its GPUs. */
#ifndef NSC_TOPOLOGY_H
#define NSC_TOPOLOGY_H

#include "model/version.h"

/* Classes of path from near to far, as NCCL 2.27.5 and later order them; earlier releases lack some. */
enum nsc_level {
    NSC_LEVEL_LOC,
    NSC_LEVEL_NVL,
    NSC_LEVEL_NVB,
    NSC_LEVEL_C2C,
    NSC_LEVEL_PIX,
    NSC_LEVEL_PXB,
    NSC_LEVEL_P2C,
    NSC_LEVEL_PXN,
    NSC_LEVEL_PHB,
    NSC_LEVEL_SYS,
    NSC_LEVEL_UNKNOWN
};
/* Of "NVL", "PHB" ...; a matrix's "NV18" is NVL, its "NODE" is PHB. */
enum nsc_level nsc_level_of(nsc_text type);
const char *nsc_level_name(enum nsc_level level); /* "" of NSC_LEVEL_UNKNOWN */

/* Where lines give classes as numbers: what each number means, by runs of releases (last "": so since). */
struct nsc_distances {
    const char *first, *last, *names;
};
const struct nsc_distances *nsc_distances(size_t *count);
nsc_text nsc_distance_name(const struct nsc_distances *run, int64_t number); /* empty: there is none of that number */
/* The class in these releases; NSC_LEVEL_UNKNOWN if they differ, or none has such a number. */
enum nsc_level nsc_level_of_number(const struct nsc_version *v, int64_t number);

/* What the dump says of a rank's GPU; of the path between two ranks' GPUs; of that from a GPU to a network device. NULL: nothing. */
const struct nsc_gpu_node *nsc_gpu_node_of(const struct ncclscope_model *m, const struct nsc_rank *r);
/* The class of the path between two GPUs of a host, where no dump has said it already. */
void nsc_add_tree_link(struct ncclscope_model *m, struct nsc_tree_link link); /* once */
void nsc_add_gpu_path(struct ncclscope_model *m, nsc_str host, nsc_str a, nsc_str b, nsc_str type,
                      const struct nsc_where *where);
struct nsc_gpu_node *nsc_add_gpu_node(struct ncclscope_model *m, nsc_str host, nsc_str bus_id); /* NULL: no memory */
/* topology_xml.c: the line by which a dump in XML tells of the GPUs of two ranks of a host whether they have NVLink to each other, through
 * switches or straight; NULL: it does not list both. */
const struct nsc_where *nsc_xml_of_pair(const struct ncclscope_model *m, const struct nsc_rank *a,
                                        const struct nsc_rank *b, bool *nvlink);
void nsc_take_diag_pairs(struct ncclscope_model *m); /* diagnostics.c: once ranks have their communicators */
const struct nsc_gpu_path *nsc_gpu_path_of(const struct ncclscope_model *m, const struct nsc_rank *a,
                                           const struct nsc_rank *b);
/* The dump's link from one GPU straight to the other; NULL: it shows none. */
const struct nsc_tree_link *nsc_tree_link_of(const struct ncclscope_model *m, const struct nsc_rank *a,
                                             const struct nsc_rank *b);
/* Does the dump of the machine show something between two GPUs of a host, by their bus ids, that is nearer than the CPU: NVLink, or a PCI
 * switch that both hang below? `known` is false where it does not show both. */
bool nsc_tree_joins(const struct ncclscope_model *m, nsc_str host, nsc_str a, nsc_str b, bool *known);
const struct nsc_gpu_path *nsc_nic_path_of(const struct ncclscope_model *m, const struct nsc_rank *r, int64_t dev);

#endif
