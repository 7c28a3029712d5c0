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
    NSC_SOCKET_REASONS
};

/* Where ranks are that PyTorch's watchdog gave up on (rules_hang.c). */
enum nsc_hang_reason {
    NSC_HUNG_NOT_CALLED = 1, /* some had not enqueued what the others wait in */
    NSC_HUNG_ELSEWHERE,      /* some are in other work */
    NSC_HUNG_UNGROUPED,      /* the same, and no line names the process group */
    NSC_HUNG_SILENT,         /* of some no time-out is in the input */
    NSC_HUNG_SILENT_HERE,    /* the same, and lines of NCCL of all ranks are in it */
    NSC_HUNG_ROOTED_SILENT,  /* the same, in a collective that some ranks leave before the others */
    NSC_HUNG_ROOTED_APART,   /* in such collectives, and not all in the same */
    NSC_HUNG_ALIKE,          /* all in the same work, of the same size */
    NSC_HUNG_SIZES,          /* the same, and the sizes differ */
    NSC_HUNG_SIZES_UNSAID,   /* the same, and no line says the sizes of all */
    NSC_HUNG_GIVEN_UP,       /* all gave up, of some it is not said where */
    NSC_HUNG_REST,           /* the group has more ranks, by the sizes that it gathers or scatters */
    NSC_HUNG_UNCOUNTED,      /* how many ranks there are is not known */
    NSC_HUNG_NO_RESULT       /* nccl-tests began to measure, and nothing follows */
};

/* How a process ended (rules_ended.c). */
enum nsc_exit_reason {
    NSC_EXIT_KILLED = 1,
    NSC_EXIT_OUT_OF_MEMORY, /* killed, and Slurm says by whom */
    NSC_EXIT_ABORTED,
    NSC_EXIT_SEGV,
    NSC_EXIT_BUS,
    NSC_EXIT_TERMINATED,
    NSC_EXIT_ONE,
    NSC_EXIT_LIMIT,     /* by the scheduler, for a reason that it names */
    NSC_EXIT_CANCELLED, /* by the scheduler, for none */
    NSC_EXIT_STOPPED,   /* by the launcher, which does not say why */
    NSC_EXIT_OTHER
};

/* What is odd of an interface (rules_net.c), and of how long an initialisation took (rules_start.c). */
enum nsc_internal_reason { NSC_INTERNAL_UCX = 1 };
enum nsc_interface_reason {
    NSC_INTERFACE_ALONE = 1,
    NSC_INTERFACE_AMONG,
    NSC_INTERFACE_NAMED,
    NSC_INTERFACE_UNTOLD,
    NSC_INTERFACE_LINK_LOCAL
};
enum nsc_retry_reason { NSC_RETRY_REFUSED = 1, NSC_RETRY_UNANSWERED };
enum nsc_slow_reason { NSC_SLOW_KERNELS = 1, NSC_SLOW_LATE, NSC_SLOW_ITSELF };

/* Is no rank of the communicator seen beyond its initialisation? */
bool nsc_is_all_begun(const struct ncclscope_model *m, const struct nsc_comm *k);

/* How a communicator is not seen to come up (rules_missing.c). */
enum nsc_missing_reason {
    NSC_MISSING_OLD_ID = 1,   /* ranks have different ids, one of an older communicator */
    NSC_MISSING_OTHER_ID,     /* the same, both new */
    NSC_MISSING_PARENT,       /* ranks of the communicator that it was split off are not in the input either */
    NSC_MISSING_MET,          /* all ranks had found each other */
    NSC_MISSING_DEDUPLICATED, /* Ray left lines out */
    NSC_MISSING_FAILED,       /* a process that never named its rank failed */
    NSC_MISSING_UNANSWERED,   /* the others end in connections that time out */
    NSC_MISSING_LISTED,       /* nccl-tests lists all its ranks */
    NSC_MISSING_RANKS,
    NSC_MISSING_UNFINISHED, /* all started; the job failed */
    NSC_MISSING_END,        /* all started; the input may just end */
    NSC_MISSING_UNNAMED,    /* so many speak that say no rank */
    NSC_MISSING_LOST_END,   /* the program went on for long behind it */
    NSC_MISSING_CUT_SHORT,  /* the same, and of some no line is there */
    NSC_MISSING_CUT         /* all are in it where the input ends, and nothing failed */
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
    const struct nsc_where *line;  /* the last line that said yes */
};

/* The best of causes.def for the finding: sets cause, fix, class, severity and confidence by the row, shows its line. Where no row
 * is sure the likeliest that nothing contradicts are listed. False: no row is left, nothing was set. */
bool nsc_explain(struct nsc_case *c, struct nsc_finding *f, struct nsc_ask *ask);
/* By what the rule itself found; how sure that is, the rule has said. */
void nsc_explain_by(struct nsc_case *c, struct nsc_finding *f, int reason);

/* Did the process go on after this line as only one does that did not fail of it: an initialisation that ended, connections, its own
 * end in good order? */
bool nsc_lived_on(const struct ncclscope_model *m, uint32_t proc, const struct nsc_where *line);
/* Is this a connection that is tried again and again, and are the tries the last that its process says, but for a few lines? */
bool nsc_ends_in_tries(const struct ncclscope_model *m, const struct nsc_event *e);
/* The rank that people know a process by: its number in the largest communicator that it is in; -1 if none is known. */
int64_t nsc_rank_of_process(const struct ncclscope_model *m, uint32_t proc);
/* The same of who printed an event: where a process holds several ranks, the one on the thread's device. */
int64_t nsc_rank_of_event(const struct ncclscope_model *m, const struct nsc_event *e);
/* What NCCL says in the line, without header. */
nsc_text nsc_message_of(const struct nsc_where *w);
/* The line by which the job's own program says that it reached its end; NULL: none does. */
const struct nsc_where *nsc_success_of(const struct ncclscope_model *m);

#endif
