/* facts.h - what a machine says of itself, live or recorded: plain data. Every field may be unknown. */
#ifndef NSC_FACTS_H
#define NSC_FACTS_H

#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"
#include "ncclscope/probe.h"

/* A number or a flag. */
struct nsc_fact {
    int64_t v;
    bool known;
};

#define NSC_FIELD_TEXT(name) const char *name; /* NULL: not known */
#define NSC_FIELD_INT(name) struct nsc_fact name;
#define NSC_FIELD_FLAG(name) struct nsc_fact name;

#define NODE(TYPE, name, words) NSC_FIELD_##TYPE(name)
struct nsc_node_facts {
#include "facts.def"
};
#define GPU(TYPE, name, words) NSC_FIELD_##TYPE(name)
struct nsc_gpu_facts {
#include "facts.def"
};
#define PAIR(TYPE, name, words) NSC_FIELD_##TYPE(name)
struct nsc_pair_facts {
#include "facts.def"
};
#define NIC(TYPE, name, words) NSC_FIELD_##TYPE(name)
struct nsc_nic_facts {
#include "facts.def"
};

#define MEASURED(TYPE, name, words) NSC_FIELD_##TYPE(name)
struct nsc_measured {
#include "facts.def"
};

#define COLLECTIVE(TYPE, name, words) NSC_FIELD_##TYPE(name)
struct nsc_collective {
#include "facts.def"
};

struct nsc_named_value {
    const char *name, *value, *from; /* NCCL_*; from: "environment" or the configuration file */
};

struct nsc_unprobed {
    const char *probe, *reason;
};

struct ncclscope_facts {
    struct nsc_arena arena;
    struct nsc_node_facts node;
    NSC_VEC(struct nsc_gpu_facts) gpus;
    NSC_VEC(struct nsc_pair_facts) pairs;
    struct nsc_map pair_by; /* of those that were read: from, to */
    NSC_VEC(struct nsc_nic_facts) nics;
    NSC_VEC(struct nsc_measured) measured;
    NSC_VEC(struct nsc_collective) collectives;
    NSC_VEC(struct nsc_named_value) variables;
    NSC_VEC(struct nsc_unprobed) skipped;
    bool no_memory;
};

/* Set one field; texts are copied. */
void nsc_fact_int(struct nsc_fact *f, int64_t v);
void nsc_fact_text(struct ncclscope_facts *f, const char **field, nsc_text text);
void nsc_fact_printf(struct ncclscope_facts *f, const char **field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Hash of something that names one machine or GPU: 16 hexadecimal digits. Equal for equal things, and no way back. */
void nsc_fact_hash(struct ncclscope_facts *f, const char **field, nsc_text secret);
void nsc_unprobed(struct ncclscope_facts *f, const char *probe, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The one GPU, or pair; NULL if there is none. */
const struct nsc_gpu_facts *nsc_gpu_at(const struct ncclscope_facts *f, int64_t index);
const struct nsc_pair_facts *nsc_pair_at(const struct ncclscope_facts *f, int64_t from, int64_t to);

/* Is this status of P2P a refusal (CNS GNS TNS DR NS)? "U" and words of later drivers are not known. */
bool nsc_is_refusal(const char *status);

struct ncclscope_facts *nsc_facts_new(void);                                 /* NULL when there is no memory */
void nsc_facts_members(const struct ncclscope_facts *f, struct nsc_json *j); /* its keys, into an object that is open */
/* Adds what a document holds; a field that is known already stays. EDATA if it is none of ours. */
int nsc_facts_read(struct ncclscope_facts *f, const char *json, size_t len, ncclscope_error *err);

#endif
