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

/* struct nsc_fact_node, nsc_fact_gpu ... : a field for each column; of a text NULL where it is not known. */
#define NSC_FIELD_TEXT(name) const char *name;
#define NSC_FIELD_I64(name) struct nsc_fact name;
#define NSC_FIELD_BOOL(name) struct nsc_fact name;
#define NCCLSCOPE_FACTS_ALONE
#define NCCLSCOPE_TABLE(table, rows, owner, words) struct nsc_##table {
#define NCCLSCOPE_COLUMN(table, name, TYPE, unit, words) NSC_FIELD_##TYPE(name)
#define NCCLSCOPE_END(table) \
    } \
    ;
#include "ncclscope/columns.def"
#undef NCCLSCOPE_FACTS_ALONE

struct ncclscope_facts {
    struct nsc_arena arena;
    struct nsc_fact_node node;
    NSC_VEC(struct nsc_fact_gpu) gpus;
    NSC_VEC(struct nsc_fact_pair) pairs;
    struct nsc_map pair_by; /* of those that were read: from, to */
    NSC_VEC(struct nsc_fact_nic) nics;
    NSC_VEC(struct nsc_fact_measured) measured;
    NSC_VEC(struct nsc_fact_collective) collectives;
    NSC_VEC(struct nsc_fact_variable) variables;
    NSC_VEC(struct nsc_fact_skipped) skipped;
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
const struct nsc_fact_gpu *nsc_gpu_at(const struct ncclscope_facts *f, int64_t index);
const struct nsc_fact_pair *nsc_pair_at(const struct ncclscope_facts *f, int64_t from, int64_t to);

/* Is this status of P2P a refusal (CNS GNS TNS DR NS)? "U" and words of later drivers are not known. */
bool nsc_is_refusal(const char *status);

struct ncclscope_facts *nsc_facts_new(void);                                 /* NULL when there is no memory */
void nsc_facts_members(const struct ncclscope_facts *f, struct nsc_json *j); /* its keys, into an object that is open */
/* Adds what a document holds; a field that is known already stays. EDATA if it is none of ours. */
int nsc_facts_read(struct ncclscope_facts *f, const char *json, size_t len, ncclscope_error *err);

#endif
