/* questions.h - the words that conditions of causes.def are made of. Included where that table becomes code and where the words are answered. */
#ifndef NSC_QUESTIONS_H
#define NSC_QUESTIONS_H

#include "read/changes.h"
#include "rules/ask.h"

static inline enum nsc_answer nsc_yes_or(bool yes, enum nsc_answer other)
{
    return yes ? NSC_YES : other;
}

enum nsc_answer nsc_all(size_t n, const enum nsc_answer *of); /* no if one is no, else yes if all are */
enum nsc_answer nsc_any(size_t n, const enum nsc_answer *of);
#define ALL(...) \
    nsc_all(sizeof((enum nsc_answer[]){__VA_ARGS__}) / sizeof(enum nsc_answer), (enum nsc_answer[]){__VA_ARGS__})
#define ANY(...) \
    nsc_any(sizeof((enum nsc_answer[]){__VA_ARGS__}) / sizeof(enum nsc_answer), (enum nsc_answer[]){__VA_ARGS__})
#define NOT(a) ((enum nsc_answer) - (int)(a))
#define ALWAYS NSC_YES
#define OPEN NSC_UNSAID /* nothing in a log can tell */

/* Does AMD's RCCL print this log? */
enum nsc_answer nsc_ask_amd(struct nsc_ask *q);
#define AMD nsc_ask_amd(q)
/* Is the GPU called so (a part of what gpus.def, nccl-tests or facts call it)? Is it of this compute capability or newer? */
enum nsc_answer nsc_ask_gpu(struct nsc_ask *q, const char *words);
enum nsc_answer nsc_ask_cc(struct nsc_ask *q, int at_least);
enum nsc_answer nsc_ask_gpu_p2p(struct nsc_ask *q);
enum nsc_answer nsc_ask_gpu_bridges(struct nsc_ask *q);
#define GPU(words) nsc_ask_gpu(q, words)
#define CC(at_least) nsc_ask_cc(q, at_least)
#define GPU_P2P nsc_ask_gpu_p2p(q)         /* does its driver allow P2P between two of them over PCIe? */
#define GPU_BRIDGES nsc_ask_gpu_bridges(q) /* does a pair of them have NVLink only where a bridge was plugged in? */
/* Does no line name a machine type? */
#define NO_PLATFORM (nsc_ask_platform(q, "") == NSC_UNSAID ? NSC_YES : NSC_NO)
/* Does the name of the network of the connection begin so; of libfabric's provider; of the machine type; of a NIC of the host? */
enum nsc_answer nsc_ask_network(struct nsc_ask *q, const char *begins);
enum nsc_answer nsc_ask_provider(struct nsc_ask *q, const char *begins);
enum nsc_answer nsc_ask_platform(struct nsc_ask *q, const char *begins);
enum nsc_answer nsc_ask_device(struct nsc_ask *q, const char *begins);
enum nsc_answer nsc_ask_link_layer(struct nsc_ask *q,
                                   const char *name); /* of an RDMA port that a line lists: "IB", "RoCE" */
#define LINK_LAYER(name) nsc_ask_link_layer(q, name)
#define NETWORK(begins) nsc_ask_network(q, begins)
#define PROVIDER(begins) nsc_ask_provider(q, begins)
#define PLATFORM(begins) nsc_ask_platform(q, begins)
#define NIC(begins) nsc_ask_device(q, begins)
/* Did libfabric's plugin find just so many NICs? */
enum nsc_answer nsc_ask_found(struct nsc_ask *q, int64_t nics);
#define FOUND(nics) nsc_ask_found(q, nics)
/* Was this NCCL built with an older CUDA? By "+cuda12.4" of its version. */
enum nsc_answer nsc_ask_cuda_before(struct nsc_ask *q, int64_t major, int64_t minor);
#define CUDA_BEFORE(major, minor) nsc_ask_cuda_before(q, major, minor)
/* Does NCCL list an interface whose name begins so for its sockets? */
enum nsc_answer nsc_ask_interface(struct nsc_ask *q, const char *begins);
#define INTERFACE(begins) nsc_ask_interface(q, begins)
/* "misc/socket.cc:373 -> 2", "transport/net_ib.cc:605 -> 2" of one process, the one right behind the other: did RDMA's connection fail in the
 * TCP sockets by which its ends agree on it? */
enum nsc_answer nsc_ask_handshake(struct nsc_ask *q);
#define IN_HANDSHAKE nsc_ask_handshake(q)
/* Does the process meet the others over an interface whose name begins so? */
enum nsc_answer nsc_ask_meets_over(struct nsc_ask *q, const char *begins);
#define MEETS_OVER(begins) nsc_ask_meets_over(q, begins)
/* Is the address so at which it means to be met? */
enum nsc_answer nsc_ask_meets_at(struct nsc_ask *q, const char *begins);
#define MEETS_AT(begins) nsc_ask_meets_at(q, begins)
/* Is an address that the line of the finding tries ("connect to 192.0.2.3<43893>") of another network than its own? As far as the first of
 * the four numbers tells: where they are alike, nothing is known. */
enum nsc_answer nsc_ask_other_network(struct nsc_ask *q);
#define TRIES_OTHER_NETWORK nsc_ask_other_network(q)
/* Is the variable set to this value ("" to any) in the process? "No" only where it would show. */
enum nsc_answer nsc_ask_variable(struct nsc_ask *q, const char *name, const char *value);
#define SET(name, value) nsc_ask_variable(q, name, value)
/* Does the process (the job, where it is not known whose the finding is) print a line of this kind that holds these words? */
enum nsc_answer nsc_ask_says(struct nsc_ask *q, ncclscope_kind kind, const char *words);
#define SAYS(KIND, words) nsc_ask_says(q, NCCLSCOPE_KIND_##KIND, words)
/* Does another program say this, by a row of other.def, anywhere in the input? */
enum nsc_answer nsc_ask_anyone_says(struct nsc_ask *q, ncclscope_kind kind, const char *words);
#define ANYONE_SAYS(KIND, words) nsc_ask_anyone_says(q, NCCLSCOPE_KIND_##KIND, words) /* in any process */
enum nsc_answer nsc_ask_host_says(struct nsc_ask *q, ncclscope_kind kind, const char *words);
#define HOST_SAYS(KIND, words) \
    nsc_ask_host_says(q, NCCLSCOPE_KIND_##KIND, words) /* a process of the connection's host */
enum nsc_answer nsc_ask_anyone_sets(struct nsc_ask *q, const char *name);
#define ANYONE_SETS(name) nsc_ask_anyone_sets(q, name) /* does any process print that the variable is set? */
enum nsc_answer nsc_ask_heard(struct nsc_ask *q, ncclscope_kind kind);
#define HEARD(KIND) nsc_ask_heard(q, NCCLSCOPE_KIND_##KIND)
enum nsc_answer nsc_ask_heard_of(struct nsc_ask *q, ncclscope_kind kind, const char *words);
#define HEARD_OF(KIND, words) nsc_ask_heard_of(q, NCCLSCOPE_KIND_##KIND, words) /* of these words */
/* Does the input list an RDMA device whose interface is up? Is NCCL_IB_HCA the name of an interface on one, which is no device? */
enum nsc_answer nsc_ask_rdma_up(struct nsc_ask *q);
enum nsc_answer nsc_ask_hca_is_interface(struct nsc_ask *q);
/* Does anything in the input show that an RDMA network is there, or counted on? By signs.def, devices and machine types. */
enum nsc_answer nsc_ask_rdma_sign(struct nsc_ask *q);
#define RDMA_SIGN nsc_ask_rdma_sign(q)
#define RDMA_UP nsc_ask_rdma_up(q)
#define HCA_IS_INTERFACE nsc_ask_hca_is_interface(q)
/* Does the input hold lines of NCCL's at INFO? */
enum nsc_answer nsc_ask_informed(struct nsc_ask *q);
#define INFORMED nsc_ask_informed(q)
/* Do processes share host memory by cuMem and by files, both? */
#define TWO_WAYS_OF_SHM (q->m->shm_by_cumem && q->m->shm_by_file ? NSC_YES : NSC_NO)
/* Is P2P switched off in one process beside the one that warns (its host, its communicator), and not in another? */
enum nsc_answer nsc_ask_one_sided_p2p(struct nsc_ask *q);
#define ONE_SIDED_P2P nsc_ask_one_sided_p2p(q)
/* Is P2P switched off, by what a process prints? */
#define P2P_IS_OFF (nsc_p2p_disabled(q->m, NSC_NONE) ? NSC_YES : NSC_NO)
/* Does the input hold no warning of NCCL's? */
#define NO_WARNINGS (q->m->warnings.len ? NSC_NO : NSC_YES)
/* Does any warning of NCCL's hold these words? Then {line} is that one. */
enum nsc_answer nsc_ask_any_warned(struct nsc_ask *q, const char *words);
#define ANYONE_WARNED(words) nsc_ask_any_warned(q, words)
/* Did a peer close NCCL's connections, as the rule that asks found? Then {what} says where. */
#define CLOSED_BY_PEER (q->what ? NSC_YES : NSC_NO)
/* Does the warning that the finding began with hold these words; is its number this one? */
enum nsc_answer nsc_ask_warned(struct nsc_ask *q, const char *words);
enum nsc_answer nsc_ask_number(struct nsc_ask *q, int64_t number);
#define WARNED(words) nsc_ask_warned(q, words)
/* Does it name two GIDs that hold IPv4 addresses, of different /24? Subnets may be smaller or larger: it is no proof. */
enum nsc_answer nsc_ask_gids_apart(struct nsc_ask *q);
#define GIDS_APART nsc_ask_gids_apart(q)
#define NUMBER(n) nsc_ask_number(q, n)
/* Is the release that of a row of changes.def, or newer? */
enum nsc_answer nsc_ask_since(struct nsc_ask *q, unsigned release);
#define SINCE(NAME) nsc_ask_since(q, NSC_CHANGE_##NAME)
#define SURELY_BEFORE(NAME) (SINCE(NAME) == NSC_NO ? NSC_YES : NSC_NO)
enum nsc_answer nsc_ask_raised(struct nsc_ask *q, enum nsc_id key);
#define RAISED(NAME) nsc_ask_raised(q, NSC_ID_##NAME)
#define NO_DISTANCE \
    (q->distance && q->distance[0] ? NSC_NO : NSC_YES) /* does the log leave open how far apart the two are? */
/* Did the rule that asks find just this? */
#define REASON(what) (q->reason == (int)NSC_##what ? NSC_YES : NSC_NO)
/* Has another NIC of the same ranks GPUDirect? */
enum nsc_answer nsc_ask_others_gdr(struct nsc_ask *q);
#define OTHER_NICS_HAVE_GDR nsc_ask_others_gdr(q)
/* Does NCCL list one NIC alone on this host? */
enum nsc_answer nsc_ask_one_nic(struct nsc_ask *q);
#define ONE_NIC nsc_ask_one_nic(q)
enum nsc_answer nsc_ask_bus(struct nsc_ask *q, const char *bus_id);
#define BUS(bus_id) nsc_ask_bus(q, bus_id) /* is a GPU of the process there? */
enum nsc_answer nsc_ask_one_device(struct nsc_ask *q);
#define ONE_DEVICE nsc_ask_one_device(q) /* do several processes of a host name one device, each no other? */
enum nsc_answer nsc_ask_hides_gpus(struct nsc_ask *q);
#define HIDES_GPUS nsc_ask_hides_gpus(q) /* does each process of the host see one GPU, its own? */
/* Did all ranks of each communicator begin it, is none complete, and does nothing tell of a failure? */
enum nsc_answer nsc_ask_none_complete(struct nsc_ask *q);
#define NONE_COMPLETE nsc_ask_none_complete(q)
/* Did any rank come to the end of its initialisation? */
enum nsc_answer nsc_ask_came_up(struct nsc_ask *q);
#define CAME_UP nsc_ask_came_up(q)
/* Are all ranks that nccl-tests lists of one process? */
enum nsc_answer nsc_ask_all_in_one(struct nsc_ask *q);
#define ALL_IN_ONE nsc_ask_all_in_one(q)
enum nsc_answer nsc_ask_sees_several(struct nsc_ask *q);
#define SEES_SEVERAL \
    nsc_ask_sees_several(q) /* does a process of the host speak of another CUDA device than its first? */
enum nsc_answer nsc_ask_nvlink(struct nsc_ask *q);
#define HAS_NVLINK nsc_ask_nvlink(q) /* does a GPU of the host have NVLink to another, by what the log proves? */
enum nsc_answer nsc_ask_shows_p2p(struct nsc_ask *q);
#define SHOWS_P2P nsc_ask_shows_p2p(q) /* does a process of its host have P2P to another GPU? */
/* Did the process load a network plugin; where it is not known whose the finding is, any? */
enum nsc_answer nsc_ask_has_plugin(struct nsc_ask *q);
#define HAS_PLUGIN nsc_ask_has_plugin(q)
/* Is there host memory only between groups of GPUs that lie apart by bus id and have P2P among their own? */
enum nsc_answer nsc_ask_seams(struct nsc_ask *q);
#define AT_SEAMS nsc_ask_seams(q)
/* Do two GPUs alone talk, and only through host memory, whose bus ids lie as far apart as those of two sockets? Of GPUs not known to have NVLink. */
enum nsc_answer nsc_ask_pair_apart(struct nsc_ask *q);
#define PAIR_APART nsc_ask_pair_apart(q)
/* Did ranks begin to connect to the network's own collectives (CollNet, SHARP)? */
enum nsc_answer nsc_ask_collnet(struct nsc_ask *q);
#define COLLNET_BEGUN nsc_ask_collnet(q)
/* Does the program say that it reached its end? */
enum nsc_answer nsc_ask_finished(struct nsc_ask *q);
#define FINISHED nsc_ask_finished(q)
#define SEEN_TO_FINISH \
    (FINISHED == NSC_YES ? NSC_YES : NSC_NO) /* a row that is nothing to list where no line says so */
#define GOES_ON_WELL (nsc_goes_on_well(q->m) ? NSC_YES : NSC_NO)
enum nsc_answer nsc_ask_one_process(struct nsc_ask *q);
#define ONE_PROCESS nsc_ask_one_process(q) /* does the whole log come from one, with all GPUs? */
/* Do all ranks run on one host? */
enum nsc_answer nsc_ask_one_host(struct nsc_ask *q);
#define ONE_HOST nsc_ask_one_host(q)
/* Do all processes call their host "localhost"? Several machines may do so. */
enum nsc_answer nsc_ask_localhost(struct nsc_ask *q);
#define ON_LOCALHOST nsc_ask_localhost(q)
/* Did a launcher that counts like lines (Ray) leave some out? */
enum nsc_answer nsc_ask_lines_left_out(struct nsc_ask *q);
#define LINES_LEFT_OUT nsc_ask_lines_left_out(q)

#endif
