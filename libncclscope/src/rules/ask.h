/* ask.h - what rules ask of a log, with three answers: yes, no, and that the log does not say. The conditions of causes.def are made
 * of these questions. */
#ifndef NSC_ASK_H
#define NSC_ASK_H

#include "rules/rules.h"

enum nsc_answer { NSC_NO = -1, NSC_UNSAID = 0, NSC_YES = 1 };

/* Reasons begin at 1: 0 is what a rule asks with that found none. */

/* Why RDMA goes without GPUDirect, as far as NCCL's own lines and distances tell (rules_gdr.c). */
enum nsc_gdr_reason {
    NSC_GDR_BY_VARIABLE = 1,
    NSC_GDR_BY_HIDDEN_LEVEL, /* nearer than NCCL's own limit, and the limit that held is nearer still */
    NSC_GDR_NO_MODULE,
    NSC_GDR_NO_MODULE_OR_GPU, /* "no module or not supported by GPU" */
    NSC_GDR_NOT_BY_GPU,       /* "not supported by GPU" */
    NSC_GDR_NO_LIBFABRIC,
    NSC_GDR_TOO_FAR,
    NSC_GDR_FLAT_PCI,
    NSC_GDR_SEND_ONLY,
    NSC_GDR_SENDS_ALONE,
    NSC_GDR_UNKNOWN,
    NSC_GDR_REASONS
};

/* Why ranks of a node talk through host memory (rules_transport.c). */
enum nsc_shm_reason {
    NSC_SHM_BY_DISABLE = 1,
    NSC_SHM_BY_LEVEL,
    NSC_SHM_NEAR,        /* near enough for P2P, by a line about the pair */
    NSC_SHM_NVLINK,      /* NVLink between them, by a line */
    NSC_SHM_BY_PLATFORM, /* NVLink on this machine type */
    NSC_SHM_SLICES,
    NSC_SHM_FAR,    /* farther apart than NCCL uses P2P */
    NSC_SHM_PARTED, /* the same, by the CPUs they are near to */
    NSC_SHM_REFUSED,
    NSC_SHM_REFUSED_FAR,    /* and the two meet only across the CPUs, with no NVLink */
    NSC_SHM_SILENT,         /* P2P across sockets, where NCCL does not print a refusal */
    NSC_SHM_UNSAID_VISIBLE, /* nothing says why; a variable would show */
    NSC_SHM_UNSAID,
    NSC_SHM_REASONS
};

/* Why ranks of different nodes talk over sockets, in the order of what it proves (rules_socket.c). */
enum nsc_socket_reason {
    NSC_SOCKET_ASKED_IB = 1, /* NCCL_IB_DISABLE=1 */
    NSC_SOCKET_ASKED_NET,    /* NCCL_NET=Socket */
    NSC_SOCKET_EFA,
    NSC_SOCKET_PLUGIN_MISSING,
    NSC_SOCKET_PLUGIN_FAILED,
    NSC_SOCKET_NO_DEVICE,
    NSC_SOCKET_NO_LIBRARY,
    NSC_SOCKET_NOT_USED, /* devices are there */
    NSC_SOCKET_FAILED,
    NSC_SOCKET_UNSAID,
    NSC_SOCKET_PODS,
    NSC_SOCKET_PERHAPS_PODS,
    NSC_SOCKET_REASONS
};

/* Where ranks are that PyTorch's watchdog gave up on (rules_hang.c). */
enum nsc_hang_reason {
    NSC_HUNG_NOT_CALLED = 1,   /* some had not enqueued what the others wait in */
    NSC_HUNG_NOT_CALLED_ALIVE, /* the same, and they answer behind the time-out */
    NSC_HUNG_CAME_AT_LAST,     /* the same, and they ended in good order behind it */
    NSC_HUNG_ELSEWHERE,        /* some are in other work */
    NSC_HUNG_UNGROUPED,        /* the same, and no line names the process group */
    NSC_HUNG_SILENT,           /* of some no time-out is in the input */
    NSC_HUNG_SILENT_HERE,      /* the same, and lines of NCCL of all ranks are in it */
    NSC_HUNG_ROOTED_SILENT,    /* the same, in a collective that some ranks leave before the others */
    NSC_HUNG_ROOTED_APART,     /* in such collectives, and not all in the same */
    NSC_HUNG_ALIKE,            /* all in the same work, of the same size */
    NSC_HUNG_FIRST,            /* so, and it is the first of their group */
    NSC_HUNG_ONE_WAY,          /* all receive and none sends, or the other way round */
    NSC_HUNG_SIZES,            /* the same, and the sizes differ */
    NSC_HUNG_SIZES_OF_SOME,    /* of some ranks of a group that is not whole */
    NSC_HUNG_SIZES_UNSAID,     /* the same, and no line says the sizes of all */
    NSC_HUNG_GIVEN_UP,         /* all gave up, of some it is not said where */
    NSC_HUNG_REST,             /* the group has more ranks, by the sizes that it gathers or scatters */
    NSC_HUNG_UNCOUNTED,        /* how many ranks there are is not known */
    NSC_HUNG_SOME_SILENT,
    NSC_HUNG_ORDER,
    NSC_HUNG_CALL_SIZES,
    NSC_HUNG_LEFT,
    NSC_HUNG_LEFT_LATER, /* behind the time-outs of others */
    NSC_HUNG_LATE,
    NSC_HUNG_OTHERS_SPEAK, /* by the program's own watch, and of some ranks no such line is there */
    NSC_HUNG_ALL_WAIT,     /* the same, and of all */
    NSC_HUNG_EXPERTS,      /* kernels of an expert-parallel exchange gave up */
    NSC_HUNG_SOME_WAIT,    /* the same, and how many ranks there are is not known */
    NSC_HUNG_WATCHDOG,     /* PyTorch's watchdog itself stood still */
    NSC_HUNG_BARRIER,      /* a barrier of PyTorch's names who did not come */
    NSC_HUNG_NO_RESULT     /* nccl-tests began to measure, and nothing follows */
};

/* Does this return code of NET/IB stand right behind one of the sockets by which its connections are agreed on? */
bool nsc_is_in_handshake(const struct ncclscope_model *m, const struct nsc_event *e);

/* How a process ended (rules_ended.c). */
enum nsc_exit_reason {
    NSC_EXIT_KILLED = 1,
    NSC_EXIT_OUT_OF_MEMORY, /* killed, and Slurm says by whom */
    NSC_EXIT_ABORTED,
    NSC_EXIT_UNNAMED,
    NSC_EXIT_SEGV,
    NSC_EXIT_BUS,
    NSC_EXIT_TERMINATED,
    NSC_EXIT_TERMINATED_FIRST, /* before anything else failed */
    NSC_EXIT_ONE,
    NSC_EXIT_NOT_FOUND,
    NSC_EXIT_LIMIT,     /* by the scheduler, for a reason that it names */
    NSC_EXIT_CANCELLED, /* by the scheduler, for none */
    NSC_EXIT_STOPPED,   /* by the launcher, which does not say why */
    NSC_EXIT_BY_HAND,
    NSC_EXIT_BY_HANDLER,     /* by the program's own handler of a signal */
    NSC_EXIT_TOLD,           /* the launcher got SIGTERM */
    NSC_EXIT_HANGUP,         /* or SIGHUP */
    NSC_EXIT_NODE_GONE,      /* with its node */
    NSC_EXIT_REFUSED,        /* it was never started: Slurm refused the step */
    NSC_EXIT_NOT_LAUNCHED,   /* nor by mpirun: no program, or no slots */
    NSC_EXIT_LAUNCH_FAILED,  /* nor by mpirun, for another reason */
    NSC_EXIT_UNREACHED,      /* it was never started: the launcher did not come to its host */
    NSC_EXIT_OWN_WORDS,      /* by its program's word alone */
    NSC_EXIT_SCRIPT,         /* by the trace of its script */
    NSC_EXIT_SCRIPT_STOPPED, /* and a process of that was ended from outside */
    NSC_EXIT_TRACEBACK,      /* by a traceback without its last line */
    NSC_EXIT_OTHER
};

/* What is odd of an interface (rules_net.c), and of how long an initialisation took (rules_start.c). */
enum nsc_internal_reason { NSC_INTERNAL_UCX = 1 };
enum nsc_interface_reason {
    NSC_INTERFACE_ALONE = 1,
    NSC_INTERFACE_AMONG,
    NSC_INTERFACE_LO_AMONG,
    NSC_INTERFACE_LINK_AMONG,
    NSC_INTERFACE_NAMED,
    NSC_INTERFACE_EXCLUDED, /* "^eth0,lo" */
    NSC_INTERFACE_UNTOLD,
    NSC_INTERFACE_NOT_SET, /* variables show, and none on interfaces */
    NSC_INTERFACE_LINK_LOCAL,
    NSC_INTERFACE_DOCKER /* an address of the bridge that Docker makes on each machine */
};
enum nsc_retry_reason { NSC_RETRY_REFUSED = 1, NSC_RETRY_PEER_LEFT, NSC_RETRY_NO_ROUTE, NSC_RETRY_UNANSWERED };
enum nsc_slow_reason { NSC_SLOW_KERNELS = 1, NSC_SLOW_LATE, NSC_SLOW_ITSELF };

/* What is odd of what was measured (rules_measured.c). */
enum nsc_measured_reason {
    NSC_MEASURED_STEP = 1,
    NSC_MEASURED_FALL,
    NSC_RDMA_ONE_CORE,
    NSC_RDMA_SLOW,
    NSC_MEASURED_UNSTEADY,
    NSC_MEASURED_ON_ONE_GPU /* the same, and ranks take turns on a GPU */
};

/* What is odd of P2P, channels and NVLS (rules_p2p.c). */
enum nsc_p2p_reason {
    NSC_P2P_REFUSED = 1,
    NSC_P2P_LEGACY_IPC,
    NSC_P2P_NONE_MAY,
    NSC_P2P_NONE_FOR_GPU,
    NSC_P2P_WEAK_MODEL,
    NSC_P2P_TOLD_AND_USED, /* the driver's no is printed, and P2P used all the same */
    NSC_READ_ASKED,
    NSC_READ_USUAL,
    NSC_READ_UNSEEN, /* no variables of the process are in the input */
    NSC_NO_READ_ASKED,
    NSC_NO_READ_UNSAID,
    NSC_COPY_ASKED,
    NSC_COPY_UNSAID,
    NSC_LINKS_DOWN,
    NSC_LOPSIDED_BY_FILE,
    NSC_LOPSIDED,
    NSC_FEW_BY_VARIABLE,
    NSC_NVLS_REFUSED, /* multicast is not available, by NCCL's line */
    NSC_NVLS_UNSAID
};

/* Why ranks of one machine meet over the network (rules_transport.c). */
enum nsc_inside_reason {
    NSC_INSIDE_HOSTID = 1,
    NSC_INSIDE_NEAR_NIC,
    NSC_INSIDE_HALVES,
    NSC_INSIDE_BOTH_OFF, /* P2P and shared memory */
    NSC_INSIDE_NO_SHM,
    NSC_INSIDE_P2P_OFF,     /* and no line says why shared memory is not used either */
    NSC_INSIDE_ONE_PROCESS, /* GPUs of one process, and a variable would show */
    NSC_INSIDE_PROCESSES,
    NSC_INSIDE_ONE_PROCESS_HIDDEN, /* the same, and it would not */
    NSC_INSIDE_PROCESSES_HIDDEN
};

/* What came of a plugin (rules_net.c). */
enum nsc_plugin_reason {
    NSC_PLUGIN_AND_ITS_NET = 1, /* and the network that it would bring is asked for by name */
    NSC_PLUGIN_ALONE,
    NSC_PLUGIN_BY_PATH,
    NSC_PLUGIN_NONE_TRIED, /* neither InfiniBand nor sockets */
    NSC_PLUGIN_ONLY_IB,    /* nothing but InfiniBand was tried */
    NSC_PLUGIN_UNSUPPORTED,
    NSC_PLUGIN_OWN_WORDS,
    NSC_EFA_SOCKETS,
    NSC_EFA_OTHER_PROVIDER,
    NSC_EFA_POD
};

/* What is odd of devices (rules_devices.c, rules_spec.c), and of networks that differ (rules_net.c). */
enum nsc_device_reason {
    NSC_FEWER_UNEQUAL = 1, /* than another host */
    NSC_FEWER_FOUND,       /* than the machine type has */
    NSC_FEWER_ASKED,       /* by the pod */
    NSC_FEWER_UNOPENED,
    NSC_FEWER_ONE_USED,
    NSC_NETWORKS_BY_VARIABLE,
    NSC_NETWORKS_UNSAID,
    NSC_NETWORKS_OF_HOSTS,
    NSC_DEVICES_LISTED, /* of both kinds */
    NSC_DEVICES_FAILED  /* a connection did that goes through one of the rarer kind */
};

/* What variables of rules of their own do (rules_env.c), and those of pods' specs (rules_spec.c). */
enum nsc_env_reason {
    NSC_P2P_OFF_UNHEARD = 1, /* every pair uses P2P */
    NSC_P2P_OFF_FREE,        /* no pair would use P2P without it */
    NSC_P2P_OFF_LOC,
    NSC_P2P_OFF_COMMAND,
    NSC_P2P_OFF_POD,
    NSC_P2P_OFF_SET,
    NSC_SHM_OFF_COSTS,
    NSC_SHM_OFF_FREE,
    NSC_SHM_OFF_UNSEEN, /* no connection is here */
    NSC_LEVEL_TAKES,    /* P2P from pairs */
    NSC_LEVEL_GIVES,
    NSC_LEVEL_FREE,
    NSC_LEVEL_WIDEST,
    NSC_SPEC_UNREAD, /* by any release */
    NSC_SPEC_MISSPELT,
    NSC_SPEC_STRANGE,
    NSC_SPEC_NO_LEVEL,
    NSC_SPEC_ZERO, /* letters, taken for the number 0 */
    NSC_SPEC_NUMBER,
    NSC_VALUE_REFUSED,
    NSC_VALUE_ENDS_IT,
    NSC_POD_SHM,
    NSC_POD_LOCK
};

/* What says that hosts are pods of one machine (rules_pods.c). */
enum nsc_pods_reason { NSC_PODS_SHARE = 1, NSC_PODS_MAY_SHARE, NSC_PODS_MORE_GPUS };

/* What failed, of which no warning tells why (rules_failure.c, rules_program.c, rules_missing.c, rules_start.c). */
enum nsc_unsaid_reason {
    NSC_RESULT_CUDA = 1, /* the results of NCCL in their order: ncclUnhandledCudaError is 1 */
    NSC_RESULT_SYSTEM,
    NSC_RESULT_INTERNAL,
    NSC_RESULT_ARGUMENT,
    NSC_RESULT_USAGE,
    NSC_RESULT_REMOTE,
    NSC_WARNING_QUOTED,
    NSC_WARNING_BROKE, /* calls returned an error behind it */
    NSC_WARNING_LAST,
    NSC_WARNING_CUT, /* the input ends within it */
    NSC_PROGRAM_CUDA,
    NSC_PROGRAM_MEMORY,
    NSC_PROGRAM_TOO_LARGE, /* more than the GPU has in all */
    NSC_PROGRAM_SHARE,     /* more than the process is allowed to take, with room on the GPU */
    NSC_PROGRAM_NVSHMEM,
    NSC_PROGRAM_ENGINE,
    NSC_PROGRAM_NCCL,
    NSC_PROGRAM_REFUSED,
    NSC_PROGRAM_TEST,
    NSC_TEST_BOUNDS,
    NSC_BUILT_WITHOUT_MPI,
    NSC_ABSENT_OF_PROCESS,   /* one process has all ranks that are here */
    NSC_ABSENT_DEDUPLICATED, /* Ray left lines out */
    NSC_ABSENT_OF_OTHERS,
    NSC_ABSENT_STDERR,
    NSC_SAME_BY_HOSTID,
    NSC_RESULT_OF_ABORT /* 3, of sockets alone */
};

/* What NCCL's own diagnostics say (rules_diag.c). */
enum nsc_diag_reason { NSC_DIAG_BAD = 1, NSC_DIAG_VERIFIED };

/* Why ranks run on one GPU (rules_placement.c). */
enum nsc_shared_reason { NSC_SHARED_ASKED = 1, NSC_SHARED_SLICES };

/* What a list of devices does beside what it says (settings.c). */
enum nsc_setting_reason { NSC_HCA_BY_BEGINNING = 1, NSC_HCA_IN_SOFTWARE };

/* What log/torn says (rules_log.c). */
enum nsc_torn_reason { NSC_TORN_SHARED = 1, NSC_TORN_BY_ITSELF };

/* What the ncclras client saw (rules_ras.c): of ranks/hung too, so they begin behind its reasons above. */
enum nsc_ras_reason {
    NSC_RAS_MOMENT = 100,
    NSC_RAS_NO_ANSWER,
    NSC_RAS_GONE,
    NSC_RAS_ERROR,
    NSC_RAS_LEFT,
    NSC_RAS_STATES,
    NSC_RAS_REPORTED
};

/* Why no connection is seen (rules_unseen.c). */
enum nsc_unseen_reason {
    NSC_UNSEEN_NO_PAIR = 1,
    NSC_UNSEEN_BANNERS,
    NSC_UNSEEN_WARNINGS,
    NSC_UNSEEN_BARE,
    NSC_UNSEEN_FAILED,
    NSC_UNSEEN_UNFINISHED,
    NSC_UNSEEN_FAILED_AT_START,
    NSC_UNSEEN_START_AND_END,
    NSC_UNSEEN_START,
    NSC_UNSEEN_START_ENDS, /* and the input ends with them */
    NSC_UNSEEN_CUT,        /* in the line that begins a communicator */
    NSC_UNSEEN_UNMET,      /* ranks that wait for others */
    NSC_UNSEEN_END_NVLS,   /* of an initialisation */
    NSC_UNSEEN_END,
    NSC_UNSEEN_MADE,
    NSC_UNSEEN_RING_OF_ONE,
    NSC_UNSEEN_NO_INIT,
    NSC_UNSEEN_ALONE,
    NSC_UNSEEN_LEFT_OUT,
    NSC_UNSEEN_BETWEEN,
    NSC_UNSEEN_LATE,
    NSC_UNSEEN_EARLY_COMPLETE, /* by when this release connects */
    NSC_UNSEEN_LATE_OFF,
    NSC_UNSEEN_LATE_OFF_COMPLETE,
    NSC_UNSEEN_EARLY,
    NSC_UNSEEN_AT_FIRST_CALL,
    NSC_UNSEEN_BEGUN,         /* "rank 0 nranks 4", and no more of it */
    NSC_UNSEEN_IN_FIRST_CALL, /* a rank enters a collective */
    NSC_UNSEEN_EITHER
};

/* What facts of the machine show (rules_probe.c). */
enum nsc_probe_reason {
    NSC_PROBE_FEWER_LINKS = 1,
    NSC_PROBE_ALL_FEWER,
    NSC_PROBE_GNS,
    NSC_PROBE_TNS,
    NSC_PROBE_CNS,
    NSC_PROBE_DR,
    NSC_PROBE_CUDA_NO,
    NSC_PROBE_NO_WORD,
    NSC_PROBE_MIG,
    NSC_PROBE_ACS,
    NSC_PROBE_TRANSLATES,
    NSC_PROBE_BUSY,
    NSC_PROBE_SLOW,
    NSC_PROBE_COPY_WRONG,
    NSC_PROBE_COLLECTIVE_WRONG,
    NSC_PROBE_SHM_DEFAULT,
    NSC_PROBE_SHM_FULL
};

/* Does a rank begin a communicator that no line names, where the input ends? */
bool nsc_any_unmet(const struct ncclscope_model *m);
/* The next name of "=mlx5_0:1,^mlx5_2", without sign and port; len 0: there is none. Is a name of the list just this one? */
nsc_text nsc_next_device(nsc_text *list);
bool nsc_lists_name(nsc_text list, nsc_text name);
/* Does the input end with NCCL's lines, or tell of trouble behind them? A program that goes on in good order waits for nobody. */
bool nsc_ends_with_nccl(const struct ncclscope_model *m, uint32_t source);
/* Is no rank of the communicator seen beyond its initialisation? */
bool nsc_is_all_begun(const struct ncclscope_model *m, const struct nsc_comm *k);

/* How a rank was lost (rules_lost.c). */
enum nsc_lost_reason {
    NSC_LOST_BY_ITS_WORD = 1,
    NSC_LOST_AND_NO_FAILURE /* by what its launcher lists */
};

/* How releases show to differ (rules_start.c). */
enum nsc_apart_reason { NSC_APART_BY_IDS = 1 };

/* How a communicator is not seen to come up (rules_missing.c). */
enum nsc_missing_reason {
    NSC_MISSING_OLD_ID = 1,    /* ranks have different ids, one of an older communicator */
    NSC_MISSING_OTHER_RELEASE, /* the same, by processes of two releases */
    NSC_MISSING_OTHER_ID,      /* the same, both new */
    NSC_MISSING_PARENT,        /* ranks of the communicator that it was split off are not in the input either */
    NSC_MISSING_MET,           /* all ranks had found each other */
    NSC_MISSING_MET_FAILED,    /* and it failed then */
    NSC_MISSING_DEDUPLICATED,  /* Ray left lines out */
    NSC_MISSING_FAILED,
    NSC_MISSING_RAISED,     /* an exception ended one of those that are missing */
    NSC_MISSING_SPOKE,      /* a process that never named its rank failed */
    NSC_MISSING_UNANSWERED, /* the others end in connections that time out */
    NSC_MISSING_LISTED,     /* nccl-tests lists all its ranks */
    NSC_MISSING_RANKS,
    NSC_MISSING_UNFINISHED, /* all started; the job failed */
    NSC_MISSING_END,        /* all started; the input may just end */
    NSC_MISSING_UNNAMED,    /* so many speak that say no rank */
    NSC_MISSING_LOST_END,   /* the program went on for long behind it */
    NSC_MISSING_CUT_SHORT,  /* the same, and of some no line is there */
    NSC_MISSING_CUT,        /* all are in it where the input ends, and nothing failed */
    NSC_MISSING_UNMET,      /* no line names the communicator: its ranks have not found each other */
    NSC_MISSING_UNSTARTED   /* the same, of a release that would name it before */
};

/* Of whom it is asked, and what was found on the way. */
struct nsc_ask {
    const struct nsc_case *c;
    const struct ncclscope_model *m;
    uint32_t proc;                 /* NSC_NONE: of the whole job */
    const struct nsc_link *link;   /* the connection that the finding began with, or NULL */
    const struct nsc_event *event; /* the warning that it began with, or NULL */
    const struct nsc_where *said;  /* or the line of another program that it began with */
    int reason;                    /* what the rule that asks found out by itself; its own numbers */
    const char *distance;          /* between GPU and NIC, or two GPUs: PHB, SYS; "" if not known */
    const struct nsc_env *env;     /* the variable that explains it, or NULL */
    const char *what, *other;      /* what {what} and {other} stand for in the words of the row, or NULL */
    const struct nsc_where *line;  /* the last line that said yes */
};

/* The best of causes.def for the finding: sets cause, fix, class, severity and confidence by the row, shows its line. Where no row
 * is sure the likeliest that nothing contradicts are listed. False: no row is left, nothing was set. */
bool nsc_explain(struct nsc_case *c, struct nsc_finding *f, struct nsc_ask *ask);
/* By what the rule itself found; how sure that is, the rule has said. */
void nsc_explain_by(struct nsc_case *c, struct nsc_finding *f, int reason);
/* The same; the row's words hold {what} and {other}. */
void nsc_explain_with(struct nsc_case *c, struct nsc_finding *f, int reason, const char *what, const char *other);

/* Did the process go on after this line as only one does that did not fail of it: an initialisation that ended, connections, its own
 * end in good order? */
bool nsc_lived_on(const struct ncclscope_model *m, uint32_t proc, const struct nsc_where *line);
/* Do lines of other programs stand behind NCCL's last ones in each input, and none that tells of trouble, nor a warning anywhere? */
bool nsc_goes_on_well(const struct ncclscope_model *m);
/* rules_lost.c: does "Connection closed by localRank N" tell that the process that prints it hangs up on itself, as it ends? */
bool nsc_closes_own(const struct ncclscope_model *m, const struct nsc_event *e);
/* Is this a connection that is tried again and again, and are the tries the last that its process says, but for a few lines? */
bool nsc_ends_in_tries(const struct ncclscope_model *m, const struct nsc_event *e);
/* The rank that people know a process by: its number in the largest communicator that it is in; -1 if none is known. */
int64_t nsc_rank_of_process(const struct ncclscope_model *m, uint32_t proc);
/* The same of who printed an event: where a process holds several ranks, the one on the thread's device. */
int64_t nsc_rank_of_event(const struct ncclscope_model *m, const struct nsc_event *e);
/* What NCCL says in the line, without header. */
nsc_text nsc_message_of(const struct nsc_where *w);

#endif
