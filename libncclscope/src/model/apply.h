/* apply.h - what the parts of apply share: one function per effect of a kind of record. */
#ifndef NSC_APPLY_H
#define NSC_APPLY_H

#include "model/model.h"

typedef void nsc_effect(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t);

nsc_effect nsc_apply_bootstrap;
nsc_effect nsc_apply_channel_counts;
nsc_effect nsc_apply_call;
nsc_effect nsc_apply_chunk_size;
nsc_effect nsc_apply_closing;
nsc_effect nsc_apply_comm_shape;
nsc_effect nsc_apply_connected;
nsc_effect nsc_apply_destroy_failed;
nsc_effect nsc_apply_devices;
nsc_effect nsc_apply_nic_speed;
nsc_effect nsc_apply_interface;
nsc_effect nsc_apply_driver;
nsc_effect nsc_apply_ended;
nsc_effect nsc_apply_env_by_plugin;
nsc_effect nsc_apply_env_set;
nsc_effect nsc_apply_event_of;
nsc_effect nsc_apply_graph_pattern;
nsc_effect nsc_apply_graph_seen;
nsc_effect nsc_apply_init_complete;
nsc_effect nsc_apply_init_start;
nsc_effect nsc_apply_bootstrap_timings;
nsc_effect nsc_apply_init_timings;
nsc_effect nsc_apply_network;
nsc_effect nsc_apply_nvls_head;
nsc_effect nsc_apply_ofi_platform;
nsc_effect nsc_apply_ofi_version;
nsc_effect nsc_apply_other_plugin_missing;
nsc_effect nsc_apply_p2p_type;
nsc_effect nsc_apply_plugin_loaded;
nsc_effect nsc_apply_plugin_missing;
nsc_effect nsc_apply_plugin_opened;
nsc_effect nsc_apply_ring;
nsc_effect nsc_apply_topo_node;
nsc_effect nsc_apply_topo_paths;
nsc_effect nsc_apply_diag, nsc_apply_diag_p2p; /* diagnostics.c */
nsc_effect nsc_apply_trees;
nsc_effect nsc_apply_tuner;
nsc_effect nsc_apply_tuner_off;
nsc_effect nsc_apply_version;

/* identity.c: the rank that the record is about, made where it is new; `starts`: the line is that of a birth. NSC_NONE: it names none. */
uint32_t nsc_rank_for(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, bool starts);
void nsc_take_identity(struct ncclscope_model *m, struct nsc_rank *r, const ncclscope_record *rec);
/* What the thread said before it named the communicator belongs to the one it names now. */
void nsc_claim(struct ncclscope_model *m, struct nsc_thread *t, uint32_t rank);
/* The rank whose initialisation the thread is in, or NULL: then the thread keeps what it says. */
struct nsc_rank *nsc_making(struct ncclscope_model *m, const struct nsc_thread *t);

/* rccl.c: does AMD's library print this, and NVIDIA's not? */
bool nsc_is_of_rccl(const ncclscope_record *rec);

#endif
