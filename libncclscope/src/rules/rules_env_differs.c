/* rules_env_differs.c - one job, one variable, several values; and variables that one rank shows and another lacks. */
#include "rules/ask.h"

/* Right to differ from host to host: devices, files and addresses have other names there. */
static bool may_differ(nsc_text name)
{
    static const char *const local[] = {"NCCL_SOCKET_IFNAME",
                                        "NCCL_IB_HCA",
                                        "NCCL_TOPO_FILE",
                                        "NCCL_HOSTID",
                                        "NCCL_COMM_ID",
                                        "NCCL_DEBUG_FILE",
                                        "NCCL_OOB_NET_IFNAME",
                                        "NCCL_GRAPH_DUMP_FILE",
                                        "NCCL_TOPO_DUMP_FILE",
                                        "NCCL_TOPO_DUMP_FILE_RANK",
                                        "NCCL_GRAPH_DUMP_FILE_RANK",
                                        "NCCL_RAS_ADDR"};
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        if (nsc_text_is(name, local[i]))
            return true;
    return false;
}

static void tell_difference(struct nsc_case *c, uint32_t comm, const struct nsc_env *one, const struct nsc_env *other)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_proc *p = &m->procs.item[one->proc], *q = &m->procs.item[other->proc];
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "configuration", "certain");
    f->comm = comm;
    f->count = 2;
    f->title = nsc_words(c, "%s differs between ranks of one job: %s (host %s, pid %lld) and %s (host %s, pid %lld)",
                         nsc_say(m, one->name).ptr, nsc_say(m, one->value).ptr, nsc_say(m, p->host).ptr,
                         (long long)p->pid, nsc_say(m, other->value).ptr, nsc_say(m, q->host).ptr, (long long)q->pid);
    nsc_explain_by(c, f, 0);
    nsc_name_host(c, f, p->host);
    nsc_name_host(c, f, q->host);
    nsc_show(c, f, &one->where);
    nsc_show(c, f, &other->where);
}

enum { VARIABLES = 256 };

/* Once for each variable, whatever number of communicators its ranks share. */
struct seen_variable {
    nsc_str name;
    const struct nsc_env *first; /* in the communicator at hand */
    bool told;
};

struct comparison {
    struct nsc_case *c;
    uint32_t *first,
        *order;      /* the variables of a process: m->env.item[order[first[proc]]] up to that of first[proc + 1] */
    bool *seen_proc; /* of the communicator at hand */
    struct nsc_map members; /* of a host, of a communicator: how many */
    struct nsc_map alike;   /* communicators that NCCL compared itself, by their id */
    struct seen_variable seen[VARIABLES];
};

static const struct nsc_rank *member_of(const struct ncclscope_model *m, const struct nsc_comm *k, uint32_t i)
{
    return &m->ranks.item[m->members.item[k->first + i]];
}

static struct seen_variable *seen_of(struct seen_variable *seen, nsc_str name)
{
    size_t i = 0;
    while (i < VARIABLES && seen[i].name && seen[i].name != name)
        i++;
    if (i == VARIABLES)
        return NULL;
    seen[i].name = name;
    return &seen[i];
}

/* Read by every process when it starts: whoever shows other variables and not this one has it not. Those on P2P only where there are
 * two GPUs to ask for, those on InfiniBand only where that was tried: a plugin that works comes first; those on algorithms when the costs
 * of a communicator of two or more are set, which each rank does (from 2.7.3 on it then prints them). */
enum { NOT_READ, READ_FOR_IB, READ_BESIDE_OTHERS, READ_WHEN_DONE, READ_TO_THE_END };

static int is_read_at_start(nsc_text name)
{
    static const struct {
        const char *name;
        int when;
    } names[] = {{"NCCL_P2P_DISABLE", READ_BESIDE_OTHERS}, {"NCCL_P2P_LEVEL", READ_BESIDE_OTHERS},
                 {"NCCL_IB_DISABLE", READ_FOR_IB},         {"NCCL_ALGO", READ_WHEN_DONE},
                 {"NCCL_PROTO", READ_WHEN_DONE},           {"NCCL_CUMEM_ENABLE", READ_TO_THE_END},
                 {"NCCL_BUFFSIZE", READ_TO_THE_END},       {"NCCL_MIN_NCHANNELS", READ_TO_THE_END},
                 {"NCCL_MAX_NCHANNELS", READ_TO_THE_END}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (nsc_text_is(name, names[i].name))
            return names[i].when;
    return NOT_READ;
}

static struct nsc_key host_key(const struct comparison *d, uint32_t comm, const struct nsc_rank *r)
{
    return (struct nsc_key){comm, d->c->m->procs.item[r->proc].host, 0};
}

/* Another member on the host of this one. */
static bool has_neighbour(const struct comparison *d, uint32_t comm, const struct nsc_rank *r)
{
    return nsc_map_get(&d->members, host_key(d, comm, r)) > 1;
}

static bool tried_ib(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    return nsc_text_is(nsc_say(m, r->network), "IB") || nsc_event_of(m, r->proc, NCCLSCOPE_KIND_IB_NONE);
}

/* Else the line may be among those that a cut input lost. */
static bool shows_reading(const struct ncclscope_model *m, const struct nsc_rank *r, int when)
{
    bool begins = m->procs.item[r->proc].bootstrap_at.line && r->start.line;
    return when == READ_TO_THE_END ? begins && r->complete.line : true;
}

/* A member that shows variables, but not this one, which another member has; NSC_NONE: none. Where other writers tore lines, the lines of
 * some may be among them, of two where one tears the other's; that those of three are, and of more than have it, is not to be thought. */
static uint32_t lacks_it(const struct comparison *d, uint32_t comm, const char *name)
{
    const struct ncclscope_model *m = d->c->m;
    const struct nsc_comm *k = &m->comms.item[comm];
    int when = is_read_at_start(nsc_text_of(name));
    enum { FEW = 3 };
    uint32_t having = 0, lacking = 0, first = NSC_NONE;
    bool torn = false;
    for (uint32_t i = 0; when != NOT_READ && i < k->count; i++) {
        const struct nsc_rank *r = member_of(m, k, i);
        const struct nsc_proc *p = &m->procs.item[r->proc];
        bool read = shows_reading(m, r, when) && (when == READ_FOR_IB ? tried_ib(m, r) : has_neighbour(d, comm, r));
        bool has = nsc_env_of(m, r->proc, name);
        torn = torn || m->sources.item[p->source].stats.torn_lines;
        having += has;
        if (!p->env_seen || has || !read)
            continue;
        first = first == NSC_NONE ? r->proc : first;
        lacking++;
    }
    return torn && (lacking < FEW || lacking <= having) ? NSC_NONE : first;
}

static void tell_lack(struct nsc_case *c, uint32_t comm, const struct nsc_env *one, uint32_t other)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_proc *p = &m->procs.item[one->proc], *q = &m->procs.item[other];
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "configuration", "likely");
    f->comm = comm;
    f->count = 2;
    f->title =
        nsc_words(c, "%s differs between ranks of one job: %s (host %s, pid %lld) and not set (host %s, pid %lld)",
                  nsc_say(m, one->name).ptr, nsc_say(m, one->value).ptr, nsc_say(m, p->host).ptr, (long long)p->pid,
                  nsc_say(m, q->host).ptr, (long long)q->pid);
    nsc_explain_by(c, f, 0);
    nsc_name_host(c, f, p->host);
    nsc_name_host(c, f, q->host);
    nsc_show(c, f, &one->where);
}

/* "[OK]   NCCL environment: NCCL_* env vars consistent across 4 ranks in comm 0xbfdd256f78fb978f": NCCL has compared them itself. */
static void note_compared(struct comparison *d)
{
    const struct ncclscope_model *m = d->c->m;
    for (size_t i = 0; i < m->diags.len; i++) {
        const struct nsc_diag *g = &m->diags.item[i];
        nsc_text text = nsc_say(m, g->text);
        ptrdiff_t at = nsc_text_find(text, " comm ");
        if (at < 0 || !nsc_text_is(nsc_say(m, g->status), "OK") ||
            !nsc_text_is(nsc_say(m, g->check), "NCCL environment"))
            continue;
        text = nsc_text_from(text, (size_t)at + strlen(" comm "));
        nsc_str id = nsc_intern_find(&m->strings, nsc_next_word(&text));
        if (id && nsc_map_put(&d->alike, (struct nsc_key){id, 0, 0}, 1))
            d->c->f->no_memory = true;
    }
}

static void compare_variable(struct comparison *d, uint32_t comm, const struct nsc_env *e)
{
    struct seen_variable *v = e->by_plugin || may_differ(nsc_say(d->c->m, e->name)) ? NULL : seen_of(d->seen, e->name);
    if (!v || v->told)
        return;
    v->told = v->first && v->first->value != e->value &&
              !nsc_may_be_torn(d->c->m, v->first->proc, v->first->value, e->proc, e->value);
    if (v->told)
        tell_difference(d->c, comm, v->first, e);
    v->first = v->first ? v->first : e;
}

static void compare_values(struct comparison *d, uint32_t comm)
{
    const struct ncclscope_model *m = d->c->m;
    const struct nsc_comm *k = &m->comms.item[comm];
    for (uint32_t i = 0; i < k->count; i++) {
        const struct nsc_rank *r = member_of(m, k, i);
        struct nsc_key host = host_key(d, comm, r);
        uint32_t others = nsc_map_get(&d->members, host);
        if (nsc_map_put(&d->members, host, others == NSC_NONE ? 1 : others + 1))
            d->c->f->no_memory = true;
        for (uint32_t n = d->first[r->proc]; !d->seen_proc[r->proc] && n < d->first[r->proc + 1]; n++)
            compare_variable(d, comm, &m->env.item[d->order[n]]);
        d->seen_proc[r->proc] = true;
    }
    for (uint32_t i = 0; i < k->count; i++)
        d->seen_proc[member_of(m, k, i)->proc] = false;
}

static void compare_members(struct comparison *d, uint32_t comm)
{
    const struct ncclscope_model *m = d->c->m;
    for (size_t i = 0; i < VARIABLES; i++)
        d->seen[i].first = NULL;
    compare_values(d, comm);
    bool compared = nsc_map_get(&d->alike, (struct nsc_key){m->comms.item[comm].id, 0, 0}) != NSC_NONE;
    bool complete = !m->repeated && !compared; /* else the line may be among those left out */
    for (size_t i = 0; complete && i < VARIABLES && d->seen[i].name; i++) {
        struct seen_variable *v = &d->seen[i];
        uint32_t other = v->first && !v->told ? lacks_it(d, comm, nsc_say(m, v->name).ptr) : NSC_NONE;
        if (other == NSC_NONE)
            continue;
        v->told = true;
        tell_lack(d->c, comm, v->first, other);
    }
}

/* The variables of a process one behind the other, as they were set. */
static void order_by_process(struct comparison *d)
{
    const struct ncclscope_model *m = d->c->m;
    for (size_t i = 0; i < m->env.len; i++)
        d->first[m->env.item[i].proc + 1]++;
    for (size_t p = 0; p < m->procs.len; p++)
        d->first[p + 1] += d->first[p];
    for (size_t i = m->env.len; i-- > 0;)
        d->order[--d->first[m->env.item[i].proc + 1]] = (uint32_t)i;
    for (size_t p = 0; p < m->procs.len; p++)
        d->first[p] = d->first[p + 1];
    d->first[m->procs.len] = (uint32_t)m->env.len;
}

void nsc_rule_env_differs(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct comparison *d = nsc_alloc(sizeof *d);
    uint32_t *first = nsc_alloc((m->procs.len + 1) * sizeof *first),
             *order = nsc_alloc((m->env.len + 1) * sizeof *order);
    bool *seen_proc = nsc_alloc(m->procs.len + 1);
    if (d && first && order && seen_proc) {
        *d = (struct comparison){.c = c, .first = first, .order = order, .seen_proc = seen_proc};
        order_by_process(d);
        note_compared(d);
        for (size_t i = 0; i < m->comms.len; i++)
            if (m->comms.item[i].parent == NSC_NONE)
                compare_members(d, (uint32_t)i);
        nsc_map_free(&d->members);
        nsc_map_free(&d->alike);
    } else {
        c->f->no_memory = true;
    }
    nsc_free(seen_proc);
    nsc_free(order);
    nsc_free(first);
    nsc_free(d);
}
