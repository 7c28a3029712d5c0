/* model.h - what the records of a job add up to. Every fact knows where it was said; "not said" is never 0. */
#ifndef NSC_MODEL_H
#define NSC_MODEL_H

#include "base/intern.h"
#include "base/map.h"
#include "model/rows.h"
#include "read/record.h"
#include "read/transport.h"

typedef uint32_t nsc_str; /* interned in model.strings; 0: not said */

struct nsc_where {
    uint32_t source; /* index into model.sources */
    uint64_t line;   /* 0: nowhere */
    nsc_text text;   /* the physical line, cut at NSC_QUOTE bytes */
};
enum { NSC_QUOTE = 400, NSC_CHANNEL_WORDS = 4 };

struct nsc_source_info {
    nsc_str name, problem; /* problem: why it could not be read to its end */
    ncclscope_stats stats;
    nsc_str first_time, last_time;
    uint64_t last_record;         /* the line of the last that NCCL printed with its whole header */
    uint64_t last_torn;           /* and of the last that is torn */
    struct nsc_where unknown_at;  /* the first record of no kind that is known */
    struct nsc_where cut_warning; /* the last warning of which only a part is there */
    struct nsc_where
        denies_gdr; /* the first line that no rule reads, and that denies something of GPUDirect RDMA or DMA-BUF */
    nsc_str bare_version; /* "NCCL version X" without a header: of one of its processes */
    struct nsc_where bare_version_at;
    uint64_t banners;              /* how many such lines */
    bool bare_rccl;                /* "RCCL version X" */
    nsc_str bare_other;            /* another one: the input holds several jobs */
    bool bare_many;                /* and more */
    bool plain_info, stamped_info; /* records at INFO without, with NCCL's own kind of time before their host */
    bool bare_doubtful; /* whose the version is cannot be told: there are two, or texts of a process speak against it */
};

enum { NSC_ROWS_SEEN = 2048 };

enum nsc_once { NSC_ONCE_VERSION = 1, NSC_ONCE_DRIVER = 2, NSC_ONCE_BOOTSTRAP = 4 };

/* One record of each row that a process printed before it said its version. */
struct nsc_printed {
    uint32_t proc, before; /* before: another of its process, or NSC_NONE */
    nsc_str text;
    int level;
};

struct nsc_proc {
    nsc_str host, pod, container;
    uint32_t source, merged_into; /* NSC_NONE: stands for itself */
    int64_t pid, launcher_rank;
    nsc_str version, network, bootstrap_if, bootstrap_addr, platform;
    nsc_str address, address_if; /* that others reach it at: of its bootstrap, else what NET/IB tells out of band */
    struct nsc_where address_at;
    struct nsc_where network_at, version_at, bootstrap_at, platform_at, closing_at, flat_at, first;
    struct nsc_where fabric_at;    /* where its GPU is said to be up on a fabric of NVSwitches */
    struct nsc_where gdr_pair_at;  /* where the first NIC is said to be near enough to a GPU for GPUDirect RDMA */
    struct nsc_where gdr_at_limit; /* where a NIC has GPUDirect RDMA that is as far from the GPU as it may be */
    uint64_t last_line, driver;
    uint64_t records;      /* that it printed */
    uint64_t devices;      /* bits: CUDA devices in the headers of its records; of those beyond 63 none */
    uint64_t last_connect; /* the line of the last connection that it printed; 0: none */
    bool past_connect;     /* behind that it said that all are connected, or called a collective */
    uint32_t in_pod;       /* index into model.pods, or NSC_NONE */
    uint32_t next_in_pod;  /* another process there, or NSC_NONE */
    uint32_t plugin;       /* the network plugin it loaded last: index into model.plugins, or NSC_NONE */
    uint32_t events;       /* different ones of it in model.events */
    uint32_t last_rank;    /* the one it made last, or NSC_NONE: from there nsc_rank.before leads to the first */
    uint32_t batches;      /* threads of it that hold connections of which it is not yet known whose they are */
    uint32_t threads;      /* that printed what is kept by thread */
    uint32_t last_thread;  /* from there nsc_thread.before leads to the first; or NSC_NONE */
    uint32_t first_rank;   /* from there nsc_rank.after leads to the last */
    int64_t starts;        /* what it printed of what a process prints once, at its start: enum nsc_once */
    bool unmarked;         /* its lines have no "NCCL" before the level */
    bool informs;          /* prints INFO, so that its last line is its last word */
    bool p2p_reads,
        p2p_writes;     /* it, or both of them a process of its host, has P2P links that read; and such that do not */
    bool read_unforced; /* variables of processes of its host are shown, and none forces P2P to read */
    bool nameless; /* stands for whoever printed lines of its source that lost host and pid; in no list of processes */
    bool env_seen, graph_seen, rccl;
    bool stamps_warnings; /* it prints such a time before a WARN */
    bool no_cumem;        /* NCCL does not use the cuMem API in it: its connections are made while a communicator is */
    bool no_verbs;        /* it could not open libibverbs: NET/IB gives up there, before it asks for its variables */
    nsc_str tree_top,
        tree_gpu;  /* while it prints its machine: the PCI device right below the CPU, and the GPU, that it is at */
    bool flat_pci; /* PCI links of almost no bandwidth: a virtual machine hides its tree */
    int64_t cpu_arch, cpu_vendor; /* by NCCL's numbers; 0: not said */
    int64_t cpu_model;
    int64_t nic_mbit; /* of the slowest network device that it lists, in Mbit/s; 0: not said */
    struct nsc_where nic_mbit_at;
    int64_t proxy_core;           /* on which all of its proxy threads run, and one more; 0: not said; -1: on several */
    struct nsc_where one_core_at; /* the second line that says so */
    nsc_str cpus;                 /* that its GPUs are near to, as printed; 0: not said, or its GPUs differ */
    bool cpus_differ;
    struct nsc_where cpus_at;
    struct nsc_where
        nvlink_at;           /* nvlink.c: a line which says that its GPUs have NVLink, where none of their pair does */
    struct nsc_where old_at; /* nvlink.c: a line by which they are older than NVLink */
    nsc_str gpu_name;        /* gpus.c: as another program prints it; 0: none does */
    struct nsc_where gpu_at;
    nsc_str peer_version; /* version.c: said by another rank of one of its communicators */
    unsigned version_low,
        version_high;   /* between which releases its texts put it; 0 and NSC_VERSION_OPEN: not looked at */
    uint32_t last_text; /* from there nsc_printed.before leads to the first; or NSC_NONE */
    uint64_t rows_seen[NSC_ROWS_SEEN / 64];
};

/* One rank of one communicator, as its own process tells it. */
struct nsc_rank {
    uint32_t proc, comm, parent; /* comm: index into model.comms; parent: index into model.ranks or NSC_NONE */
    uint32_t before;             /* the rank that the process made before this one, or NSC_NONE */
    uint32_t after;              /* the one that it made next, or NSC_NONE */
    uint32_t used_before;        /* the one before it with this pointer, or NSC_NONE */
    uint64_t pointer, parent_pointer;
    uint32_t reuse; /* how often the process had used the pointer before */
    uint32_t births,
        parent_births; /* START lines of it; those of its parent when it was born: a log put together twice repeats them */
    uint32_t next_member; /* while ranks are joined: another of its communicator, or NSC_NONE */
    uint32_t on_host;     /* ranks of its communicator on its host */
    uint32_t nth;         /* how many of this size the process and device had made before */
    int64_t tid;
    int64_t rank, nranks, cuda_dev, nvml_dev, split, color,
        key;                      /* -1: not said; color may be any number, has_color tells */
    bool shares_gpu;              /* another rank of its communicator is on the same GPU, or on a slice of it */
    bool bare_start;              /* born by a line that names a rank and no GPU, as up to 2.3.7 */
    bool has_color, has_id, used; /* used: did something that only a complete communicator does */
    uint64_t last_op;             /* of its last call, where has_op */
    bool has_op, sends;           /* sends: it calls Send or Recv too, which count and differ from rank to rank */
    bool met;                     /* its bootstrap came to the end of the ring: all were there */
    bool called, split_off; /* ran a collective; had a child: later life, which outweighs a lost line of its birth */
    unsigned done,
        done_maybe; /* enum nsc_structure, or-ed: what it said to be connected; where whose it was is ambiguous, apart */
    nsc_str bus_id, comm_id, network, ring_type;
    nsc_str made_by; /* "ncclCommSplit": the function that its Init lines name; 0: none */
    nsc_str cpus;    /* that its GPU is near to, as printed; 0: not said */
    struct nsc_where cpus_at;
    int64_t nnodes, local_ranks, local_rank, mnnvl;
    int64_t heads; /* ranks that a line of NVLS heads names for one channel: one a node; 0: not said */
    int64_t coll, collnet, nvls, p2p, per_peer, chunk, direct;
    double ring_gb_s
        [2]; /* that NCCL laid its rings out for, all channels together: within a node, and between; 0: not said */
    double init_seconds, kernel_seconds; /* < 0: not said; the second of the first, to load NCCL's kernels */
    struct nsc_where first, start, complete, destroyed, aborted, chunk_at, ring_type_at, direct_at, shape_at,
        channels_at;
};

/* In the order of report-json's worst_path: the first is the best. */
enum nsc_path {
    NSC_PATH_SAME_GPU, /* both ranks run on one */
    NSC_PATH_NVLINK,
    NSC_PATH_P2P,
    NSC_PATH_PCIE,
    NSC_PATH_SHM,
    NSC_PATH_NET_GDR,
    NSC_PATH_NET,
    NSC_PATH_SOCKET,
    NSC_PATH_COLLNET,
    NSC_PATH_UNKNOWN
};
enum nsc_proof { NSC_PROOF_NONE, NSC_PROOF_INFERRED, NSC_PROOF_STATED };
enum nsc_scope { NSC_SCOPE_UNKNOWN, NSC_SCOPE_NODE, NSC_SCOPE_CLUSTER };

struct nsc_known_path {
    enum nsc_path path;
    enum nsc_proof proof;
    enum nsc_scope scope;
    const struct nsc_where *because; /* the line that proves it, or NULL */
};

struct nsc_link {
    uint32_t proc, rank; /* rank: index into model.ranks or NSC_NONE */
    uint32_t other;      /* another candidate when it is ambiguous, or NSC_NONE */
    uint64_t src, dst;
    nsc_str src_dev, dst_dev;
    bool one_gpu;  /* both ranks are on the same GPU */
    int direction; /* 0 not said, 1 send, 2 receive */
    nsc_str via, network;
    int row, family;
    bool read, copy_engine, gdrdma;
    int64_t net_dev, proxy_rank;
    uint64_t channels[2][NSC_CHANNEL_WORDS]; /* by connection index: collective, point to point */
    uint64_t lines;
    int attribution;      /* enum nsc_attribution */
    int64_t printer, dev; /* rank that printed it; CUDA device of its thread */
    struct nsc_where where;
    struct nsc_known_path known; /* path.c, when the model is finished */
};
/* What a "Connected ..." line says to be connected: once for each communicator. */
enum nsc_structure {
    NSC_NO_STRUCTURE,
    NSC_RINGS = 1,
    NSC_TREES = 2,
    NSC_BINOMIAL = 4,
    NSC_NVLS_TREE = 8,
    NSC_COLLNET_CHAIN = 16
};
enum nsc_attribution { NSC_UNKNOWN_COMM, NSC_AMBIGUOUS, NSC_INFERRED, NSC_STATED };

struct nsc_ring {
    uint32_t rank, thread; /* rank: NSC_NONE while the thread has not yet named its communicator */
    uint64_t channel;
    nsc_str ranks;
    struct nsc_where where;
};

struct nsc_tree {
    uint32_t rank, thread;
    uint64_t channel;
    int64_t up;
    nsc_str down; /* "1/-1/-1" */
};

struct nsc_env {
    uint32_t proc;
    nsc_str name, value;
    bool by_command;        /* of a command that stands in the input; by_pod is set too */
    bool by_plugin, by_pod; /* by_pod: of the pod's spec, no line of the log says it */
    struct nsc_where where;
};

/* What Kubernetes says of a pod (kubectl get pod -o json). */
struct nsc_pod {
    nsc_str name, hostname, node, instance, shm_medium, shm_size_text, file;
    int64_t gpus, efa; /* limits of all its containers; -1: none asked for */
    int64_t shm_size;  /* of the volume at /dev/shm, in bytes; -1: no limit, or no volume */
    bool mig, host_ipc, host_network, share_processes, shm_volume, ipc_lock, privileged, env_from;
    uint32_t processes;                   /* of the log that run in it */
    uint32_t first_process, last_process; /* from which to which nsc_proc.next_in_pod leads, where there are any */
};
struct nsc_pod_env {
    uint32_t pod;
    nsc_str container, name, value; /* value 0: from a field, a secret or the like */
};

struct nsc_net_device {
    nsc_str host, net, name, kind;
    int64_t index, port;
    bool link_local;        /* of a socket's interface: it has an address of its own link alone (fe80::) */
    struct nsc_where where; /* the first line that lists it */
};

struct nsc_plugin {
    nsc_str kind, name, file, version, state;
    nsc_str named; /* the file that the line which named it has; 0: that has none, and another line told it */
    uint32_t procs, last_proc;
    struct nsc_where where;
};

/* A statement that rules look for: counted by kind, process and what it names. */
struct nsc_event {
    ncclscope_kind kind;
    uint32_t proc;
    int64_t number; /* local rank, size ...: by kind */
    nsc_str text;   /* address, network, path ...: by kind */
    nsc_str time;   /* of the first, as printed */
    uint64_t count;
    int level;
    int64_t dev;   /* of the thread that printed the first; -1: not said */
    uint64_t devs; /* CUDA devices of all threads that printed it: bit N, up to 63 */
    uint64_t nth;  /* which record of its process that is */
    bool quoted;   /* a program's error message quotes it: the program failed of it */
    bool broke;    /* calls that returned an error came right behind it on its thread: "init.cc:1234 -> 3" */
    struct nsc_where where;
};

struct nsc_warning {
    ncclscope_kind kind;
    nsc_str shape;
    uint64_t lines;
    uint32_t proc;   /* of the first, or NSC_NONE */
    nsc_str message; /* of the first, as printed */
    bool broke, quoted;
    struct nsc_where where;
};

/* Class of the path between two GPUs of a host, from a GRAPH dump or a pasted topology matrix. */
struct nsc_gpu_path {
    nsc_str host; /* 0: the matrix does not say */
    nsc_str a, b; /* bus ids; b may be "NET/<id>" */
    nsc_str type; /* NVL PIX PXB PHB SYS ... */
    double bw;    /* GB/s that NCCL reckons with */
    struct nsc_where where;
};

/* What a GRAPH dump says of a GPU. */
struct nsc_gpu_node {
    nsc_str host, bus_id;
    double nvlink; /* GB/s to its NVSwitch or the nearest other GPU, as NCCL reckons; 0: no NVLink */
    double to_cpu; /* GB/s over PCIe to its nearest CPU; 0: not said; below 0: it has a link of its own to it */
    double nic;    /* GB/s of the widest network device at PXB or nearer; 0: none so near */
    bool switched; /* NVLink goes to an NVSwitch */
    bool closed;   /* a dump in XML shows all of it */
    bool in_tree;  /* the dump of the machine shows where it hangs: */
    nsc_str under; /* the PCI device right below the CPU; 0: it hangs at the CPU itself */
    struct nsc_where to_cpu_at;
    struct nsc_where where;
};

/* NVLink between two GPUs of a host, as a dump of the machine shows it; once for each direction. */
struct nsc_tree_link {
    nsc_str host, a, b, type; /* bus ids, and "NVL" or "XGMI" */
    struct nsc_where where;
};

struct nsc_test {
    struct nsc_where where;
    nsc_str collective, type, redop, root;
    uint64_t bytes, count;
    double time_us[2], algbw[2], busbw[2]; /* out of place, in place */
    int64_t wrong[2];                      /* -1: not said */
    double error[2]; /* of tables of older releases, with a column "error" in its place: the largest; -1: not said */
    int sides;
    bool in_pieces; /* NCCL's lines stood between: `where` is the last piece */
};

/* A rank as a report of ncclras shows it (-f json). */
struct nsc_ras_rank {
    struct nsc_where where;
    uint32_t group;                              /* of one communicator in one report */
    nsc_str time, comm, host;                    /* comm: its commId */
    int64_t size, rank, pid, cuda_dev, nvml_dev; /* -1: not said */
    int64_t init_state, async_error;             /* ncclResult_t: 0 fine, 7 in progress */
    bool missing, unresponsive, dead, finalized, destroyed, aborted;
    uint32_t first, counts; /* in model.ras_counts: how often each collective was called */
};
struct nsc_ras_count {
    nsc_str collective;
    uint64_t calls;
};

/* A record of a row that the user added: its fields lie in model.own_fields from `first` on. */
struct nsc_own_record {
    struct nsc_where where;
    nsc_str kind, host, time;
    ncclscope_kind number;
    int64_t pid, launcher_rank;
    int64_t torch_rank; /* "[rank5]:", which PyTorch puts in front of its lines: in the whole job; or -1 */
    uint32_t first, fields;
};
struct nsc_own_field {
    nsc_str name, text;
    char type; /* its letter in templates */
};
enum { NSC_OWN_RECORDS = 100000 }; /* so many are kept; of the others their number */
enum {
    NSC_WORDS_OF_RANKS = 20000, /* lines in which a rank tells of itself: a program may warn at every step */
    NSC_HEAPED = 20000,         /* frames of stacks, and words about PyTorch's store */
    NSC_ERRORS_SAID = 20000     /* lines in which a program reports an error by their level alone */
};

/* What the first rank of a communicator called under a number (opCount), and how many call the same. */
struct nsc_call {
    uint64_t op, line; /* line: in the source of that rank's process */
    nsc_str name;
    int64_t count;
    uint32_t rank; /* index into model.ranks */
    uint32_t alike;
};

/* Of all communicators; a log of COLL lines that goes on for days is compared at its beginning. */
enum { NSC_CALLS_COMPARED = 1 << 19, NSC_ODD_CALLS = 4096 };

/* A rank that called something else, or with another count. */
struct nsc_odd_call {
    uint32_t first, rank; /* index into model.calls, model.ranks */
    nsc_str name;
    int64_t count;
    uint32_t
        alike; /* ranks that call the same: more than 1 where they lie in another part of the job's logs, see parts.c */
    struct nsc_where where;
};

/* A check of NCCL's own diagnostics: "[OK]   p2p: verified P2P access in both directions between every GPU pair". */
struct nsc_diag {
    uint32_t proc;
    nsc_str status, check, text;
    struct nsc_where where;
};

/* Between which ranks they tried P2P, and the class of the path between the two GPUs. */
struct nsc_diag_pair {
    uint32_t proc;
    int64_t src, dst;
    nsc_str link;
    struct nsc_where where;
};

struct nsc_cell {
    nsc_str text;
};
struct nsc_matrix {
    struct nsc_where where;
    uint32_t gpus, first, cells; /* names and cells in model.cells from `first` on */
};

struct nsc_comm {
    nsc_str id;
    int64_t nranks, nnodes;
    uint32_t parent;       /* NSC_NONE */
    uint32_t last_member;  /* while ranks are joined */
    uint32_t first, count; /* into model.members */
    int64_t seen;          /* distinct ranks among them: two processes may claim one */
    struct nsc_where where;
    int state;         /* enum nsc_comm_state */
    bool shared_names; /* one of its host names stands for several machines */
    bool guessed;      /* it prints no id, and ranks of another that prints none could stand for its own */
    int shape;         /* enum nsc_shape */
    bool tiles;        /* it is consecutive, and groups like it, one behind the other, make up the job */
    int64_t stride;    /* of NSC_SHAPE_STRIDED and NSC_SHAPE_PAIR: between its ranks in the job */
    int worst_path;    /* enum nsc_path, or -1: no connection of it is known */
    int64_t row;       /* of columns.def; NCCLSCOPE_UNSAID: it has no member */
};
/* What its ranks are in the whole job. Always inferred. */
enum nsc_shape {
    NSC_SHAPE_UNKNOWN,
    NSC_SHAPE_ALL,
    NSC_SHAPE_CONSECUTIVE, /* as tensor parallelism groups them */
    NSC_SHAPE_STRIDED,     /* as data parallelism does */
    NSC_SHAPE_PAIR,        /* as stages of a pipeline meet */
    NSC_SHAPE_OTHER
};

/* A host name, and the machine that it is on as far as the log proves. */
struct nsc_host {
    nsc_str name;
    uint32_t machine;
    uint32_t next; /* the next of its machine, or NSC_NONE */
};
enum nsc_confidence { NSC_POSSIBLE, NSC_LIKELY, NSC_CERTAIN };
struct nsc_machine {
    enum nsc_confidence confidence; /* that its host names are one machine, and no other is */
    const char *why;
    struct nsc_where where;                /* line 0: no line */
    uint32_t hosts, first_host, last_host; /* how many, and from which to which nsc_host.next leads */
    bool several;                          /* one name, several machines */
};
enum nsc_comm_state { NSC_COMPLETE, NSC_PARTIAL, NSC_INCOMPLETE, NSC_FAILED, NSC_ABORTED };

struct nsc_count {
    nsc_str text;
    int family;
    bool gdrdma;
    uint64_t lines, repeated;
};

/* What a thread of a process is doing: which communicator it makes, and what it said before it named one. */
struct nsc_thread {
    uint32_t proc, rank, made; /* rank: the one being made; made: the one made last; or NSC_NONE */
    uint32_t before;           /* another thread of its process, or NSC_NONE */
    uint32_t next_in_stream;   /* another thread of its source, or NSC_NONE */
    int64_t tid;
    nsc_str network;
    NSC_VEC(struct nsc_link) waiting; /* connections printed together, of which it is not yet known whose they are */
    struct nsc_map waiting_by;        /* where there are many: source, destination, path and direction to their index */
    struct nsc_arena quotes;          /* of them, until they are links of the model */
    uint32_t warned, warned_of;       /* its last WARN: index into model.warnings and model.events, or NSC_NONE */
    struct nsc_where
        chose;            /* the network, for a communicator of which it printed nothing since; line 0: there is none */
    bool stands_for_rest; /* for all threads of its process beyond NSC_THREADS */
    bool in_init;         /* it listed rings or trees, and did not say COMPLETE yet */
    size_t hit;           /* of them, the one that the last line belonged to */
    /* said before the communicator was named (up to 2.18.1 only the COMPLETE line names it) */
    int64_t coll, collnet, nvls, p2p, per_peer, chunk, direct;
    nsc_str cpus;
    struct nsc_where cpus_at;
    double ring_gb_s[2];
    nsc_str ring_type;
    struct nsc_where chunk_at, ring_type_at, direct_at, channels_at;
    size_t rings, trees; /* how many of model.rings and model.trees wait for a name */
    int64_t in_tree;     /* the rank in the middle of its trees before any was named; or -1 */
    struct nsc_where in_tree_at;
    int64_t dev; /* of that line */
};

/* What rules ask of a whole input for each thing that they find: looked for once, when all is read. */
struct nsc_whole {
    bool rccl;            /* AMD's library */
    bool unended;         /* a source ends without a newline */
    bool breaks_off;      /* its last line is a piece of one: the input is cut there */
    bool battered;        /* one line in ten is torn, or more: what is not there may have been lost */
    bool no_collnet;      /* its connections were made, and are not used */
    bool stranger_failed; /* a process failed that belongs to no communicator of the input */
    uint32_t done; /* the line that says that the program had done its work: index into model.happened, or NSC_NONE */
    int64_t most_ranks;   /* of a communicator: the job, in which ranks have the numbers that PyTorch marks them with */
    uint64_t listed;      /* ranks that nccl-tests lists */
    uint64_t warned;      /* warnings that may have to do with a failure */
    int64_t unnamed_gpus; /* that speak, and of which no line says what rank they are */
    struct nsc_map heard; /* kind: the first line of other.def that is so, index into model.happened */
    struct nsc_map words; /* rank: the last in which its program tells of it */
    struct nsc_map raised; /* rank: the first exception that PyTorch marks with it, index into model.happened */
    struct nsc_map event;  /* kind: the first event */
    struct nsc_map back;   /* process: the last event by which a port of its NIC is active, index into model.events */
    struct nsc_map
        steps;  /* source and one of nsc_step: the line by which its program counts on, index into model.happened */
    bool broke; /* an event came before a call that returned an error */
    struct nsc_map
        masks; /* host: how many processes or ranks tell near which CPUs they are, and how many different sets */
};

/* Threads of one process of which each is known; programs have some tens. */
enum { NSC_THREADS = 4096 };

struct ncclscope_facts;

struct ncclscope_model {
    const struct ncclscope_facts *facts; /* of the machine, borrowed; NULL: none are given */
    NSC_VEC(uint32_t) gpu_of;            /* by rank: index into facts.gpus, or NSC_NONE */
    NSC_VEC(bool) is_here;               /* by machine: is it the one of the facts? */
    NSC_VEC(nsc_str) offered;            /* of facts: GPUs x GPUs, class of path, or 0 */
    int fit;                             /* enum nsc_fit */
    struct nsc_intern strings;
    struct nsc_arena arena;
    NSC_VEC(struct nsc_source_info) sources;
    NSC_VEC(struct nsc_proc) procs;
    NSC_VEC(struct nsc_rank) ranks;
    NSC_VEC(struct nsc_link) links;
    NSC_VEC(struct nsc_ring) rings;
    NSC_VEC(struct nsc_tree) trees;
    NSC_VEC(struct nsc_env) env;
    NSC_VEC(struct nsc_net_device) devices;
    NSC_VEC(struct nsc_plugin) plugins;
    NSC_VEC(struct nsc_event) events;
    NSC_VEC(struct nsc_warning) warnings;
    NSC_VEC(struct nsc_gpu_path) gpu_paths;
    NSC_VEC(struct nsc_gpu_node) gpu_nodes; /* both by path_by */
    NSC_VEC(struct nsc_tree_link) tree_links;
    NSC_VEC(struct nsc_printed) printed;
    NSC_VEC(struct nsc_test) tests;
    NSC_VEC(struct nsc_own_record) own_records;
    NSC_VEC(struct nsc_own_field) own_fields;
    uint64_t errors_said;                    /* lines of other programs that report an error by their level alone */
    uint64_t words_of_ranks;                 /* lines in which a rank tells of itself */
    uint64_t heaped;                         /* lines of nsc_comes_in_heaps */
    uint64_t troubles;                       /* lines of other.def that tell that something went wrong */
    NSC_VEC(struct nsc_own_record) happened; /* lines of other.def; their fields lie in own_fields too */
    NSC_VEC(struct nsc_ras_rank) ras;        /* groups are in one piece */
    NSC_VEC(struct nsc_ras_count) ras_counts;
    uint64_t own_more; /* records of added rows that were not kept */
    NSC_VEC(struct nsc_call) calls;
    NSC_VEC(struct nsc_odd_call) odd_calls;
    NSC_VEC(struct nsc_diag) diags;
    NSC_VEC(struct nsc_diag_pair) diag_pairs;
    NSC_VEC(struct nsc_matrix) matrices;
    NSC_VEC(struct nsc_cell) cells;
    NSC_VEC(struct nsc_count) connections;
    NSC_VEC(struct nsc_comm) comms;
    NSC_VEC(struct nsc_pod) pods;
    NSC_VEC(struct nsc_pod_env) pod_env;      /* by pod */
    NSC_VEC(struct nsc_host) hosts;           /* by name */
    NSC_VEC(struct nsc_machine) machines;     /* in the order of their first host */
    NSC_VEC(uint32_t) members;                /* indices into ranks, by communicator, in rank order */
    NSC_VEC(uint32_t) link_order, proc_order; /* what of links and procs is reported, in order */
    NSC_VEC(uint32_t) event_order;            /* events by process, as they came */

    /* keys */
    struct nsc_map thread_by, env_by, path_by, tree_link_by;
    struct nsc_map
        nvlink_by, /* pairs of GPUs that some communicator proves to have NVLink, to the rank that shows it */
        legs_by,   /* pairs of which one sends through the other's NIC or memory, to the link that shows it */
        far_by, /* hosts of which all paths between GPUs that a dump shows lead through a CPU, to the nearest of them */
        printed_by, /* process and rank of links without a communicator, to the device they are printed under */
        printed_on, /* source and rank of such links, to the process that prints them; beyond all: several */
        placed_on;  /* communicator and a rank that tells nothing of itself here, to a process of its host */
    NSC_VEC(struct nsc_thread) threads;
    uint64_t repeated;   /* lines that Ray left out, being equal to one that it shows */
    bool proxy_failed;   /* "proxy.cc:452 -> 2 [Proxy Thread]": who moves data failed, so there were connections */
    bool builds;         /* a record tells of rings, trees or channels: of a communicator that is being made */
    uint64_t bare_comms; /* lines of communicators whose header is gone: of no process that is known */
    uint64_t bare_starts, bare_ends; /* of them: Init START, Init COMPLETE */
    uint64_t bare_size;   /* of the largest that such a line tells of: ranks << 32, and nodes, 0 if not said */
    uint64_t cut_inits;   /* lines that name a communicator and break off: whose and which it is cannot be told */
    bool one_host_of_all; /* printers.c: no line names a communicator; one host has as many processes as ranks */
    bool at_work; /* a line of a communicator at work or at its end: a collective's algorithm, a proxy asked to close */
    bool readers_choose;               /* each process that reads from GPUs does so by NCCL's choice: readers.c */
    bool hosts_are_joined;             /* there is one, or a communicator with ranks on all of them: nvlink.c */
    bool gpus_are_shared;              /* ranks of one communicator run on one GPU: shared_gpus.c */
    bool shm_by_cumem, shm_by_file;    /* host memory was taken of another process in this way */
    uint64_t tests_begun, tests_ended; /* runs of nccl-tests */
    uint64_t begun;                    /* "rank 0 nranks 4" of NCCL 2.3, whose communicator is not named yet */
    uint64_t calls_seen;               /* lines of ranks that enter a collective */
    uint64_t nvls_calls;               /* collectives that NCCL ran by NVLink SHARP, which makes no connection lines */
    struct nsc_where nvls_at;
    struct nsc_scratch *scratch; /* scratch.h; NULL once it is finished */
    struct nsc_whole whole;
    struct nsc_rows rows;       /* once it is finished: lay_rows.c */
    ncclscope_grammar *grammar; /* that its records were read with; NULL: there was none, or it is finished */
    bool finished, no_memory;
};

/* All that a model holds in arrays and maps of its own: what frees and copies one goes through them. */
/* clang-format off */
#define NSC_MODEL_VECTORS(X) \
    X(sources) X(procs) X(ranks) X(links) X(rings) X(trees) X(env) X(devices) X(plugins) X(events) X(warnings) \
    X(gpu_paths) X(gpu_nodes) X(event_order) X(hosts) X(pods) X(pod_env) X(machines) X(gpu_of) X(is_here) \
    X(offered) X(tests) X(own_records) X(own_fields) X(happened) X(ras) X(ras_counts) X(calls) X(odd_calls) \
    X(diags) X(diag_pairs) X(matrices) X(cells) X(connections) X(comms) X(members) X(link_order) X(proc_order) \
    X(threads) X(tree_links) X(printed)
#define NSC_MODEL_MAPS(X) \
    X(thread_by) X(env_by) X(path_by) X(tree_link_by) X(nvlink_by) X(legs_by) X(far_by) X(printed_by) X(printed_on) \
    X(placed_on)     X(whole.heard) X(whole.words) X(whole.raised) X(whole.event) \
    X(whole.back) X(whole.steps) X(whole.masks)
/* clang-format on */

/* ---- keys.c ---- */

/* What is one thing in all sources. */
struct nsc_key nsc_plugin_key(const struct nsc_plugin *p);
struct nsc_key nsc_device_key(const struct nsc_net_device *d);
struct nsc_key nsc_call_key(const struct nsc_rank *r, uint64_t op);

/* A number that a field holds, or -1; nsc_int: one that NCCL keeps as an int, else it is not what NCCL printed. */
int64_t nsc_number(const ncclscope_record *rec, ncclscope_field f);
int64_t nsc_int(const ncclscope_record *rec, ncclscope_field f);
void nsc_set_if_said(int64_t *to, int64_t v);
/* The member of the communicator with this rank, as its own process tells it; NULL if its process is not in the input. */
const struct nsc_rank *nsc_member(const struct ncclscope_model *m, uint32_t comm, int64_t rank);
nsc_text nsc_say(const struct ncclscope_model *m, nsc_str s); /* the text of an interned string */
struct nsc_place {
    char words[160];
};
/* "line 6", or of several inputs "line 6 of rank3.log". */
struct nsc_place nsc_place_of(const struct ncclscope_model *m, const struct nsc_where *w);
nsc_str nsc_keep(struct ncclscope_model *m, nsc_text text);
struct nsc_where nsc_at(const struct ncclscope_model *m, const ncclscope_record *rec); /* its text is the record's */
struct nsc_where nsc_here(struct ncclscope_model *m, const ncclscope_record *rec);
uint32_t nsc_proc_of(struct ncclscope_model *m, const ncclscope_record *rec); /* NSC_NONE without a whole header */
struct nsc_thread *nsc_thread_of(struct ncclscope_model *m, uint32_t proc, int64_t tid);
uint32_t nsc_rank_of(struct ncclscope_model *m, uint32_t proc,
                     uint64_t pointer); /* the last with this pointer, or NSC_NONE */
uint32_t nsc_rank_new(struct ncclscope_model *m, uint32_t proc, uint64_t pointer, int64_t tid, struct nsc_where first);
void nsc_chain_rank(struct ncclscope_model *m, uint32_t rank); /* a new one: behind those of its process and pointer */
struct nsc_key nsc_thread_key(const struct nsc_thread *t);
struct nsc_event *nsc_event_at(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, int64_t number,
                               nsc_text text);

void nsc_apply(struct ncclscope_model *m, const ncclscope_record *rec); /* apply.c: one record's effect */
void nsc_bare_version(struct ncclscope_model *m, const ncclscope_record *rec);
void nsc_apply_connect(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc);
void nsc_apply_other(struct ncclscope_model *m, const ncclscope_record *rec); /* other.c: lines that are not NCCL's */
void nsc_apply_topo_xml(struct ncclscope_model *m, const ncclscope_record *rec); /* topology_xml.c */
void nsc_apply_json(struct ncclscope_model *m, const ncclscope_record *rec);     /* json_lines.c: TEST_JSON, RAS_JSON */
void nsc_close_batches(struct ncclscope_model *m, struct nsc_thread *t, uint32_t rank,
                       enum nsc_structure what); /* attribute.c */
/* The count of connections whose path is this text, made if it is new; NULL without memory. */
struct nsc_count *nsc_count_of(struct ncclscope_model *m, nsc_str text, int family, bool gdrdma);
void nsc_end_source(struct ncclscope_model *m);                     /* that of the stream in hand */
void nsc_join(struct ncclscope_model *m);                           /* join.c: ranks to communicators */
void nsc_join_ranks(struct ncclscope_model *m);                     /* members.c */
int nsc_by_host_and_pid(const void *a, const void *b, void *model); /* of indices into model.procs */
void nsc_put_in_order(struct ncclscope_model *m);                   /* order.c */
void nsc_find_machines(struct ncclscope_model *m);                  /* machines.c */
void nsc_find_shapes(struct ncclscope_model *m);                    /* shape.c */
void nsc_look_at_whole(struct ncclscope_model *m);                  /* whole.c */
void nsc_lay_rows(struct ncclscope_model *m);                       /* lay_rows.c: again where what is known grew */
/* Does each of three or more on a host tell of CPUs of its own? Then their launcher gave each its cores, and no two GPUs need be far apart. */
bool nsc_are_bound(const struct ncclscope_model *m, nsc_str host);
/* The line by which the job's own program says that it reached its end; NULL: none does. */
const struct nsc_where *nsc_success_of(const struct ncclscope_model *m);

/* Is its last line a piece of one? */
static inline bool nsc_breaks_off(const struct nsc_source_info *s)
{
    return s->last_torn && s->last_torn == s->stats.lines;
}
/* NCCL went back from SHARP or CollNet to ordinary connections. */
static inline bool nsc_refuses_collnet(const struct nsc_event *e)
{
    return (e->kind == NCCLSCOPE_KIND_COLLNET_FAILED || e->kind == NCCLSCOPE_KIND_SHARP_FAILED) &&
           e->level == NCCLSCOPE_LEVEL_WARN;
}
bool nsc_is_trouble(ncclscope_kind kind);     /* other.c */
bool nsc_comes_in_heaps(ncclscope_kind kind); /* other.c */
/* "[launch.py:351:main] Process 4242 exits successfully." It is one process: the job, where nothing tells of another that did not. whole.c */
bool nsc_exits_well(const struct ncclscope_model *m, const struct nsc_own_record *r);
/* The first line of other.def that is of this kind, or NULL. */
const struct nsc_own_record *nsc_first_heard(const struct ncclscope_model *m, ncclscope_kind kind);
/* The line by which the program counts on behind this one, where nothing behind that tells of a failure; NULL: none. whole.c */
const struct nsc_own_record *nsc_outlives(const struct ncclscope_model *m, const struct nsc_own_record *r);
void nsc_merge_sources(struct ncclscope_model *m); /* merge.c: what two hold of one process */
void nsc_find_owners(struct ncclscope_model *m);
void nsc_adopt(struct ncclscope_model *m);
void nsc_mark_guesses(struct ncclscope_model *m); /* guess.c: once ranks are joined */
void nsc_attribute_rest(struct ncclscope_model *m);

static inline bool nsc_is_earlier(const struct nsc_where *a, const struct nsc_where *b)
{
    return a->source != b->source ? a->source < b->source : a->line < b->line;
}

/* Index into model.comms, or NSC_NONE. */
static inline uint32_t nsc_comm_of(const struct ncclscope_model *m, const struct nsc_link *l)
{
    return l->rank == NSC_NONE ? NSC_NONE : m->ranks.item[l->rank].comm;
}

const char *nsc_state_name(int state); /* "complete" ... of enum nsc_comm_state, as in the JSON report */

uint64_t nsc_model_bytes(const struct ncclscope_model *m); /* that it takes, but for what its threads wait with */

/* Was its initialisation over, as far as this log can tell? A rank of which no START was seen is not one that started and hangs. */
static inline bool nsc_is_done(const struct nsc_rank *r)
{
    return r->complete.line || r->used || r->called || r->split_off || r->destroyed.line || r->init_seconds >= 0 ||
           !r->start.line;
}

/* Is it of `nvidia-smi topo -p2p`: what is supported, and no class of path? */
bool nsc_is_p2p_matrix(const struct ncclscope_model *m, const struct nsc_matrix *x);
nsc_str nsc_field_of(const struct ncclscope_model *m, const struct nsc_own_record *r, const char *name); /* 0: none */
nsc_text nsc_said(const struct ncclscope_model *m, const struct nsc_own_record *r,
                  const char *name); /* a field, or len 0 */
/* The same as a number: false if it is not there, or none. */
bool nsc_number_said(const struct ncclscope_model *m, const struct nsc_own_record *r, const char *name, int64_t *out);
void nsc_apply_own(struct ncclscope_model *m, const ncclscope_record *rec); /* other.c: of a row that the user added */

/* Does a record of this kind change the model, so that rules see it? */
bool nsc_is_judged(ncclscope_kind kind);
void nsc_take_commands(struct ncclscope_model *m); /* pods.c: variables of commands in the input */
/* The variable in this process (NSC_NONE: in any), or NULL. */
const struct nsc_env *nsc_env_of(const struct ncclscope_model *m, uint32_t proc, const char *name);
/* Where in link_order the links of this communicator begin (NSC_NONE: those of none); they are in one piece. */
size_t nsc_links_of(const struct ncclscope_model *m, uint32_t comm);
/* Are there links of which it is not known whose they are? */
bool nsc_any_unowned(const struct ncclscope_model *m);
/* Where in event_order the events of this process begin; they are in one piece. */
size_t nsc_events_of(const struct ncclscope_model *m, uint32_t proc);

#endif
