/* expect.h - the transport that NCCL would have chosen between two GPUs of one node, by its own rules, and what decides it. */
#ifndef NSC_EXPECT_H
#define NSC_EXPECT_H

#include "model/path.h"
#include "model/topology.h"

/* What decides. In the order in which NCCL asks. */
enum nsc_because {
    NSC_BY_NOTHING_KNOWN, /* the log does not say enough */
    NSC_BY_DISABLE,       /* NCCL_P2P_DISABLE=1, NCCL_P2P_LEVEL=LOC */
    NSC_BY_LEVEL,         /* NCCL_P2P_LEVEL is nearer than they are */
    NSC_BY_DISTANCE,      /* farther apart than this release's own level */
    NSC_BY_DRIVER,        /* the driver or CUDA refuses P2P */
    NSC_BY_MIG,           /* slices of a GPU, or before 2.30.3 several ranks on one, have no P2P */
    NSC_BY_NIC,           /* both reach a NIC faster than each other */
    NSC_BY_WIDENING,      /* NCCL_P2P_LEVEL is wider than NCCL's own level, and P2P is used there */
    NSC_BY_NOTHING_SEEN,  /* P2P is used where NCCL by itself would not, and the log shows no reason */
    NSC_BY_SILENCE,       /* near enough, across sockets: that the driver refuses P2P there NCCL does not print */
    NSC_BY_CHOICE,        /* P2P is what NCCL asks for first, and it took it */
    NSC_BY_NEARNESS       /* near enough, and nothing speaks against P2P */
};

struct nsc_expected {
    int family; /* NSC_P2P, NSC_SHM, NSC_NET; 0: not knowable */
    enum nsc_because because;
    nsc_str type;                 /* class of the path between the GPUs; 0: not known */
    enum nsc_level level;         /* the same class, by whatever tells it */
    bool likely;                  /* decided by what most machines of this release do; the log leaves it open */
    bool by_proof;                /* NVLink: what the communicator's lines prove of all its pairs */
    bool by_cpus;                 /* across sockets: the CPUs that the two GPUs are near to have none in common */
    bool by_platform;             /* the class is that of the machine type, not of a line about this pair */
    const struct nsc_where *line; /* that decides; NULL: none */
    const struct nsc_env *env;    /* the variable that decides */
};

/* How what the log shows of a pair of one node fits what was to be expected. */
enum nsc_judgement {
    NSC_NOT_JUDGED,  /* between nodes, or not known whether */
    NSC_AS_EXPECTED, /* the best that NCCL would do here */
    NSC_CONFIGURED,  /* as a variable makes it; without it another path would be taken, or may be */
    NSC_BY_DESIGN,   /* slower than P2P, and right on this hardware */
    NSC_FAULTY,      /* a faster path was to be expected, and nothing in the log says why it is not there */
    NSC_REFUSED,     /* the driver refuses the faster path */
    NSC_NOT_KNOWABLE /* a slower path, and the log does not say why */
};

/* `free` leaves out what variables say: the choice of the hardware and this release alone. */
struct nsc_expected nsc_expect(const struct ncclscope_model *m, const struct nsc_link *l, bool free);

/* A link, judged: once for each, before the rules run. */
struct nsc_judged {
    enum nsc_judgement is;
    struct nsc_expected e;
};
struct ncclscope_findings;
bool nsc_judge_all(struct ncclscope_findings *f); /* false: no memory */
const struct nsc_judged *nsc_judged_of(const struct ncclscope_findings *f, const struct nsc_link *l);
/* The reason in words, into buf: "NCCL_P2P_DISABLE=1 forbids P2P". */
void nsc_expected_words(const struct ncclscope_model *m, const struct nsc_expected *e, char *buf, size_t size);

/* Does a GRAPH dump lead this pair through the CPU because P2P is forbidden, rather than because the machine does (ncclTopoComputePaths
 * does so before the dump)? */
bool nsc_is_diverted(const struct ncclscope_model *m, const struct nsc_link *l);

/* The line by which the driver or CUDA refuses P2P between the two GPUs of the link; NULL: none. */
const struct nsc_event *nsc_refusal_of(const struct ncclscope_model *m, const struct nsc_link *l);

#endif
