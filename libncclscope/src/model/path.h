/* path.h - what can be known of the path behind a link, and how: P2P alone tells NVLink and PCIe not apart. */
#ifndef NSC_PATH_H
#define NSC_PATH_H

#include "model/version.h"

/* What a network moves data by, from its name: RDMA, TCP, or a way of its own (GPUDirect over TCP). */
enum nsc_network_kind { NSC_NETWORK_RDMA, NSC_NETWORK_TCP, NSC_NETWORK_OWN };
enum nsc_network_kind nsc_network_kind(nsc_text name);
bool nsc_is_soft_rdma(nsc_text device); /* "rxe0": RDMA in software, over an ordinary interface */
void nsc_find_proofs(
    struct ncclscope_model *m); /* once, when the model is finished: what one communicator proves for others */
void nsc_find_paths(
    struct ncclscope_model *m); /* of all links, once all that tells of them is there, and again when more is */
const char *nsc_path_name(enum nsc_path path); /* "nvlink", "pcie-p2p", ... as in the JSON report */

/* Class of the path between two ranks' GPUs, as a line states it ("NVL", "NV18", "PHB"); 0 if none does. `dump` counts GRAPH dumps too:
 * there NCCL leads pairs that may not use P2P through the CPU, whatever joins them. */
nsc_str nsc_told_class(const struct ncclscope_model *m, const struct nsc_link *l, bool dump,
                       const struct nsc_where **because);
/* As facts of the machine have it, where they are of it as the log was written; 0 else. No line says so. */
nsc_str nsc_offered_of_link(const struct ncclscope_model *m, const struct nsc_link *l);
bool nsc_class_is_nvlink(nsc_text type);
/* One NCCL node with the chunk size of PCIe: up to 2.24 no pair of it has NVLink; later at least one pair has none, which with two
 * ranks is this one. The child of a split takes its parent's, and NCCL_BUFFSIZE caps it. The line that says so, or NULL. Where P2P is
 * refused or switched off the chunk is small whatever the machine has. */
const struct nsc_where *nsc_xml_excludes_nvlink(const struct ncclscope_model *m, const struct nsc_link *l);
const struct nsc_where *nsc_chunk_excludes_nvlink(const struct ncclscope_model *m, const struct nsc_rank *r);
/* Does the link read? That is chosen only between NVLink-connected GPUs of compute capability 8.0, unless a variable forces it. */
bool nsc_read_proves(const struct ncclscope_model *m, const struct nsc_link *l);
/* Do lines about the communicator of this link, or another one of its two GPUs, prove NVLink between them, whatever the link itself is? */
bool nsc_nvlink_is_proven(const struct ncclscope_model *m, const struct nsc_link *l, const struct nsc_where **because);
/* printers.c: who prints links of which rank, before any of the below is asked. */
void nsc_find_printers(struct ncclscope_model *m);
/* Of a link whose communicator is not known: the one process of its source that prints links of this rank; NSC_NONE: none, or several. */
uint32_t nsc_printer_of(const struct ncclscope_model *m, const struct nsc_link *l, uint64_t rank);
/* Would a variable that is set be seen? One such line proves it; up to 2.16.2 no filter hides them. */
bool nsc_env_is_visible(const struct ncclscope_model *m, uint32_t proc);
/* The same of one variable: few releases print NCCL_NET, and none NCCL_IB_DISABLE where NET/IB ended before it asks. */
bool nsc_would_be_seen(const struct ncclscope_model *m, uint32_t proc, nsc_text name);
/* Does this process connect while it makes a communicator, so that the lines stand before Init COMPLETE? Up to 2.21.5; later where cuMem
 * is not used, or with NCCL_RUNTIME_CONNECT=0. False where that is not known. */
bool nsc_connects_in_init(const struct ncclscope_model *m, uint32_t proc);
/* Do some of its P2P links read, and others not? Then NCCL chose by itself: /read is NVLink between A100-class GPUs, the rest is none. */
bool nsc_reads_some(const struct ncclscope_model *m, uint32_t proc);
/* Either that, or no variable of its host's processes, some of which are shown, forces P2P to read. */
bool nsc_reads_by_itself(const struct ncclscope_model *m, uint32_t proc);
void nsc_find_readers(struct ncclscope_model *m);     /* readers.c: once links are whole, for these two */
void nsc_find_shared_gpus(struct ncclscope_model *m); /* shared_gpus.c: once links have their communicators */
bool nsc_is_rccl(const struct ncclscope_model *m);    /* AMD's library: no NVLink there */

/* scope.c: are both ends on one node? */
enum nsc_scope nsc_scope_of_link(const struct ncclscope_model *m, const struct nsc_link *l);
bool nsc_is_within_process(const struct ncclscope_model *m,
                           const struct nsc_link *l); /* both ends, by who prints them */

#endif
