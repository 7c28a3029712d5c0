/* rules.h - rules, and what they find. */
#ifndef NSC_RULES_H
#define NSC_RULES_H

#include "model/gpus.h"
#include "model/pairs.h"
#include "model/path.h"
#include "model/topology.h"
#include "ncclscope/model.h"

enum { NSC_EVIDENCE = 8, NSC_CAUSES_LISTED = 3 };

struct nsc_case;

/* What can be found: NSC_ID_NET_SOCKET is "net/socket". A name that rules.def lacks does not compile. */
enum nsc_id {
    NSC_ID_NONE,
#define RULE(NAME, ...) NSC_ID_##NAME,
#include "rules.def"
#undef RULE
    NSC_IDS
};

/* One id: the function that looks, and the words that explain. */
struct nsc_rule {
    enum nsc_id key;
    const char *id;
    void (*check)(struct nsc_case *c);
    const char *(*needs)(const struct ncclscope_model *m); /* why it cannot look, or NULL */
    const char *means;                                     /* what is seen when it is raised */
    const char *why;                                       /* why that matters */
    const char *fix;
    const char *verify; /* how to see that it helped */
    const char *doc;    /* where the knowledge is from */
};

/* Of what failed: broke by itself, or saw that something else had. */
enum nsc_failure_part { NSC_NO_FAILURE, NSC_ROOT, NSC_WAKE, NSC_ECHO };

/* Processes write into one file through buffers of their own: without clocks, the order of lines so near each other tells nothing. */
enum { NSC_LINES_BUFFERED = 500 };
/* A program prints why it ends before its peers can see that; of several streams these lines may stand so far behind theirs all the same. */
enum { NSC_LINES_ASTRAY = 50 };

struct nsc_pair {
    uint64_t a, b;
};

struct nsc_finding {
    const struct nsc_rule *rule;
    int severity;                           /* NCCLSCOPE_SEVERITY_... */
    const char *cls, *confidence;           /* as in the JSON report */
    enum nsc_id caused_by;                  /* its root, or NSC_ID_NONE */
    const char *title, *cause, *fix, *cost; /* NULL: nothing to say */
    const char *why_row[NSC_CAUSES_LISTED]; /* rows of causes.def that gave the cause */
    size_t why_rows;
    bool open;               /* the log does not say why: the rows are what it may be */
    nsc_str about, value;    /* the variable that it is about, and the first value that it has; or 0 */
    bool later_run;          /* of a run that began behind what failed in the input before */
    uint64_t other_values;   /* processes with another */
    uint32_t comm;           /* index into model.comms, or NSC_NONE */
    NSC_VEC(uint64_t) ranks; /* sorted, each once, when finished */
    int64_t ranks_more;      /* that are not named: there are too many */
    NSC_VEC(struct nsc_pair) pairs;
    uint32_t last_comm, elsewhere; /* of links of other jobs: communicators that share no process with `comm` */
    uint64_t all_pairs;            /* of GPUs, over all communicators; `pairs` are the ranks of `comm` alone */
    struct nsc_pairs gpus;
    NSC_VEC(nsc_str) hosts;
    struct nsc_map named; /* of ranks, pairs, hosts: which it names already */
    uint64_t count;       /* lines, processes or things: what the title counts */
    int urgency;          /* the worst severity among it and what it causes */
    size_t found;         /* its place before findings were put in order */
    int sure;             /* by its confidence; of hangs that of the surest */
    double waited;        /* of hangs: when the first gave up, to order them */
    uint64_t shown_first; /* the first line that it shows */
    enum nsc_failure_part part;
    const struct nsc_event *began; /* of a failure: the first event; NULL if none dates it */
    struct nsc_where evidence[NSC_EVIDENCE];
    size_t evidences;
};

struct nsc_skip {
    const char *id, *reason;
};

/* What somebody asserts of a job ("nvlink", "ranks=16"), and whether the log bears it out. */
/* While it is judged; then it is a row. */
struct nsc_expectation {
    const char *words;      /* as given */
    int kept;               /* enum ncclscope_kept */
    const char *why;        /* in words: what breaks it, or what is missing to tell; NULL when it is kept */
    uint32_t comm;          /* of the pair, or NSC_NONE */
    struct nsc_pair pair;   /* that breaks it, when a connection does */
    struct nsc_where where; /* line 0: none */
};

struct nsc_confirmed;

struct ncclscope_findings {
    const struct ncclscope_model *model;
    struct nsc_judged *judged; /* by place of the link in the model */
    struct nsc_arena arena;
    NSC_VEC(struct nsc_finding) list;
    size_t raised[NSC_IDS];  /* how many of each id */
    struct nsc_map said_by;  /* kind and words of causes.def: the first event that has them, or NSC_NONE - 1 */
    struct nsc_map about_by; /* id and variable: the finding of it */
    NSC_VEC(struct nsc_skip) skipped;
    NSC_VEC(struct nsc_confirmed) confirmed; /* confirm.c: pairs against facts */
    bool has_confirmed, peers_missing;       /* peers_missing: connections to ranks whose own log is not in the input */
    int verdict;
    struct nsc_rows rows;      /* lay_findings.c */
    struct nsc_intern strings; /* of rows: many links are judged in the same words */
    bool no_memory;
};

struct nsc_case {
    const struct ncclscope_model *m;
    struct ncclscope_findings *f;
    const struct nsc_rule *rule;
    struct nsc_finding spare; /* where a finding goes that there was no memory for */
};

extern const struct nsc_rule nsc_rules[];     /* all, in the order in which they run; ends with id NULL */
const char *nsc_words_of_id(enum nsc_id key); /* "net/socket"; NULL of NSC_ID_NONE */

struct nsc_finding *nsc_found(struct nsc_case *c, int severity, const char *cls, const char *confidence);
void nsc_finding_free(struct nsc_finding *f); /* what it holds */
/* Does this row of causes.def give its cause? The first of all findings of which it does; or NULL. */
bool nsc_is_explained_by(const struct nsc_finding *f, const char *row);
const struct nsc_finding *nsc_explained_by(const struct ncclscope_findings *all, const char *row);
enum { NSC_NAMED_ABSENT = 65536 };
/* Names the ranks of the communicator that no process of the input has, the first 65,536 of them; how many there are. */
int64_t nsc_name_absent(struct nsc_case *c, const struct nsc_comm *k, struct nsc_finding *f);
void nsc_sort_named(struct nsc_finding *f); /* its ranks and pairs, by number */
const char *nsc_words(struct nsc_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *nsc_line_in(struct nsc_case *c, const struct nsc_where *w); /* "line 6", "line 6 of rank3.log" */
const char *
nsc_env_source(const struct nsc_env
                   *e); /* what follows a cause where no line of NCCL says it: the pod's spec, a command; "" else */
void nsc_show(struct nsc_case *c, struct nsc_finding *f,
              const struct nsc_where *w); /* evidence; the first 8 are kept */
void nsc_show_first(struct nsc_case *c, struct nsc_finding *f,
                    const struct nsc_where *w); /* the line that explains it */
void nsc_name_rank(struct nsc_case *c, struct nsc_finding *f, uint64_t rank);
bool nsc_names_rank(const struct nsc_finding *f, uint64_t rank);
void nsc_name_pair(struct nsc_case *c, struct nsc_finding *f, uint64_t a, uint64_t b);
void nsc_name_host(struct nsc_case *c, struct nsc_finding *f, nsc_str host);
void nsc_add_link(struct nsc_case *c, struct nsc_finding *f,
                  const struct nsc_link *l); /* its pair, ranks, host, lines, evidence */
const char *nsc_elsewhere(struct nsc_case *c,
                          const struct nsc_finding *f); /* what follows a title that counts pairs: other jobs */
/* "128 pairs of GPUs": over all communicators. */
const char *nsc_count_pairs(struct nsc_case *c, const struct nsc_finding *f, const char *things);
void nsc_lay_findings(struct ncclscope_findings *f); /* lay_findings.c */
void nsc_lay_expectation(struct ncclscope_findings *f, const struct nsc_expectation *e);
bool nsc_raised(const struct nsc_case *c, enum nsc_id key);
/* Are both ranks on one machine for certain? Also where it has several host names. */
bool nsc_is_within_machine(const struct ncclscope_model *m, const struct nsc_link *l);
struct nsc_finding *nsc_found_about(const struct nsc_case *c, nsc_str variable); /* of the rule in hand, or NULL */
void nsc_set_about(struct nsc_case *c, struct nsc_finding *f, nsc_str variable); /* the finding just made is about it */
bool nsc_is_pods_doing(const struct nsc_case *c);  /* is it more than a note that pods may share one? */
bool nsc_is_one_machine(const struct nsc_case *c); /* pods that are certain to share one were found */
const char *nsc_list_ranks(struct nsc_case *c, const struct nsc_finding *f); /* "rank 3", "ranks 0-6, 9 and 20 more" */

/* The variable that keeps this link, RDMA between nodes, from GPUDirect; NULL: none does. */
const struct nsc_env *nsc_staged_by(const struct ncclscope_model *m, const struct nsc_link *l);
bool nsc_is_socket(const struct ncclscope_model *m, const struct nsc_link *l, bool *certain); /* TCP between nodes */
bool nsc_any_socket(const struct ncclscope_model *m); /* do ranks of different nodes talk over sockets? */
/* The line by which libibverbs could not be opened in this process; NULL: none. */
const struct nsc_event *nsc_missing_verbs(const struct ncclscope_model *m, uint32_t proc);
bool nsc_is_slow_provider(nsc_text p); /* of libfabric: tcp, sockets ... */

/* failures.c: what failures.def says of events under the id of the rule in hand; then which finding is the root of which. */
void nsc_tell_failures(struct nsc_case *c);
void nsc_settle_failures(struct ncclscope_findings *all); /* root_and_wake.c */
/* Is it known that `a` was printed before `b`? */
bool nsc_is_before(const struct ncclscope_model *m, const struct nsc_event *a, const struct nsc_event *b);
void nsc_put_findings_in_order(struct ncclscope_findings *f); /* ranking.c */
bool nsc_failure_is_known(ncclscope_kind kind);
/* Are other warnings of the kind no failures by failures.def, and fits none of its rows this one? */
bool nsc_is_state_alone(ncclscope_kind kind, nsc_text line);
/* The warning of a stranger who came to NCCL's ports, by whom this connection was closed too; NULL: it was not. */
const struct nsc_event *nsc_stranger_of(const struct ncclscope_model *m, const struct nsc_event *e);

/* rules_spec.c: what pods' specs say, for the rules on variables, shared memory and network devices. */
void nsc_tell_spec_variables(struct nsc_case *c);
void nsc_tell_obsolete_in_specs(struct nsc_case *c);
const char *nsc_shm_of_pod(struct nsc_case *c, const struct nsc_pod *p); /* what is wrong with its /dev/shm, or NULL */
void nsc_tell_few_efa(struct nsc_case *c);

/* settings.c: what settings.def says of variables under the id of the rule in hand. */
void nsc_tell_settings(struct nsc_case *c);

/* What several rules ask of a model. */
/* Two texts of two processes, "AWS Libfabric" and "AWS L": is one the beginning of the other, in an input with torn lines? */
bool nsc_may_be_torn(const struct ncclscope_model *m, uint32_t proc, nsc_str text, uint32_t other_proc, nsc_str other);
const char *nsc_needs_links(const struct ncclscope_model *m);
const char *nsc_needs_links_or_network(const struct ncclscope_model *m);
const char *nsc_needs_links_or_nic(const struct ncclscope_model *m);
const char *nsc_needs_comms(const struct ncclscope_model *m);
const char *nsc_needs_facts(const struct ncclscope_model *m);
const char *nsc_needs_facts_and_links(const struct ncclscope_model *m);
const char *nsc_needs_measured(const struct ncclscope_model *m);
const struct nsc_event *nsc_event_of(const struct ncclscope_model *m, uint32_t proc,
                                     ncclscope_kind kind); /* proc NSC_NONE: any */
/* Does the variable hold this value in the process (NSC_NONE: in any)? The line that says so, or NULL. */
const struct nsc_env *nsc_env_is(const struct ncclscope_model *m, uint32_t proc, const char *name, const char *value);
bool nsc_any_error(const struct nsc_case *c); /* is one told already? */
/* And one that says that something failed, not that a path is slower than it might be; of any rule but that one. */
bool nsc_any_failure(const struct nsc_case *c, enum nsc_id but);
/* InfiniBand and RoCE devices that NET/IB lists on a host; and whether it lists any on that of a process. */
uint64_t nsc_count_devices(const struct ncclscope_model *m, nsc_str host);
bool nsc_lists_device(const struct ncclscope_model *m, uint32_t proc);
/* "2.14.3+cuda11.7": 11 and 7; false: no line says which CUDA the process's NCCL was built with. */
bool nsc_built_for(const struct ncclscope_model *m, uint32_t proc, int64_t *major, int64_t *minor);
bool nsc_timed_out(const struct nsc_own_record *r); /* did PyTorch's watchdog give up a collective? */
/* failure_words.c: the word behind `word` in a line; the words of a row of failures.def with what the warning says put in; and what its lines and
 * those before them say, added to the cause. */
nsc_text nsc_word_behind(nsc_text line, const char *word);
const char *nsc_fill_words(struct nsc_case *c, const char *words, const struct nsc_event *e);
void nsc_add_what_lines_say(struct nsc_case *c, struct nsc_finding *f);
void nsc_tell_ras(struct nsc_case *c);      /* rules_ras.c: the part of ranks/hung that rests on ncclras */
void nsc_tell_ras_text(struct nsc_case *c); /* rules_ras_text.c: what of it is text */
uint32_t nsc_comm_of_link(const struct ncclscope_model *m, const struct nsc_link *l);
/* NCCL_P2P_DISABLE=1, or what it is logged as up to 2.22.3: NCCL_P2P_LEVEL LOC. */
const struct nsc_env *nsc_p2p_disabled(const struct ncclscope_model *m, uint32_t proc);
/* NCCL_P2P_LEVEL below SYS, the widest level, beyond which nothing is. */
const struct nsc_env *nsc_p2p_limited(const struct ncclscope_model *m, uint32_t proc);
/* A connection over this device, by its host's lines; NULL: none is in the input. */
const struct nsc_link *nsc_link_over(const struct ncclscope_model *m, const struct nsc_net_device *d);
/* Shared memory is switched off, and where the peer runs no line says: it may be on this very machine. */
bool nsc_may_be_within_node(const struct ncclscope_model *m, const struct nsc_link *l);
bool nsc_crosses_nodes(const struct ncclscope_model *m, const struct nsc_link *l, bool *certain);

enum nsc_path_cost {
    NSC_COST_P2P,
    NSC_COST_READ,
    NSC_COST_COPY_ENGINE,
    NSC_COST_SHM,
    NSC_COST_LOOPBACK,
    NSC_COST_SOCKET
};
/* What the slow path costs against the fast one on the GPUs of this process:
 * sets cost, where there is something to say. */
void nsc_set_cost(struct nsc_case *c, struct nsc_finding *f, enum nsc_path_cost slow, enum nsc_path_cost fast,
                  uint32_t proc);

/* The same between GPUs of one node, by the class of path between them: without NVLink other figures hold. */
void nsc_set_cost_of_level(struct nsc_case *c, struct nsc_finding *f, enum nsc_path_cost slow, enum nsc_path_cost fast,
                           uint32_t proc, enum nsc_level level);

#define RULE(NAME, id, check, ...) void nsc_rule_##check(struct nsc_case *c);
#include "rules.def"
#undef RULE

#endif
