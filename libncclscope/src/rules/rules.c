/* rules.c - runs every rule over a model, and puts what they found in order. */
#include "rules/rules.h"

#include "base/neutral.h"
#include "probe/facts.h"
#include "rules/ask.h"
#include "rules/confirm.h"

#include "model/machines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *nsc_words(struct nsc_case *c, const char *format, ...)
{
    char buf[1200];
    va_list args;
    va_start(args, format);
    int n = nsc_vformat(buf, sizeof buf, format, args);
    va_end(args);
    nsc_text copy = nsc_arena_copy(&c->f->arena, (nsc_text){buf, n < 0                    ? 0
                                                                 : (size_t)n < sizeof buf ? (size_t)n
                                                                                          : sizeof buf - 1});
    c->f->no_memory = c->f->no_memory || !copy.ptr;
    return copy.ptr ? copy.ptr : "";
}

void nsc_finding_free(struct nsc_finding *f)
{
    nsc_vec_free(&f->ranks);
    nsc_vec_free(&f->pairs);
    nsc_vec_free(&f->hosts);
    nsc_map_free(&f->named);
    nsc_pairs_free(&f->gpus);
}

struct nsc_finding *nsc_found(struct nsc_case *c, int severity, const char *cls, const char *confidence)
{
    struct nsc_finding *f = nsc_vec_push(&c->f->list);
    if (!f) {
        c->f->no_memory = true;
        nsc_finding_free(&c->spare);
        c->spare = (struct nsc_finding){0};
        f = &c->spare;
    }
    c->f->raised[c->rule->key] += f != &c->spare;
    f->rule = c->rule;
    f->severity = severity;
    f->cls = cls;
    f->confidence = confidence;
    f->comm = NSC_NONE;
    f->fix = c->rule->fix;
    return f;
}

const char *nsc_env_source(const struct nsc_env *e)
{
    return e->by_command ? " So the command in this input has it; no line of NCCL's shows it."
           : e->by_pod   ? " So the pod's spec has it; this log shows no variables."
                         : "";
}

void nsc_show(struct nsc_case *c, struct nsc_finding *f, const struct nsc_where *w)
{
    (void)c;
    if (!w || !w->line || f->evidences == NSC_EVIDENCE)
        return;
    for (size_t i = 0; i < f->evidences; i++)
        if (f->evidence[i].source == w->source && f->evidence[i].line == w->line)
            return;
    f->evidence[f->evidences++] = *w;
}

void nsc_show_first(struct nsc_case *c, struct nsc_finding *f, const struct nsc_where *w)
{
    (void)c;
    if (!w || !w->line)
        return;
    size_t at = 0;
    while (at < f->evidences && (f->evidence[at].source != w->source || f->evidence[at].line != w->line))
        at++;
    f->evidences += at == f->evidences && at < NSC_EVIDENCE;
    at -= at == NSC_EVIDENCE;
    memmove(&f->evidence[1], &f->evidence[0], at * sizeof f->evidence[0]);
    f->evidence[0] = *w;
}

enum { NAMED_RANK, NAMED_PAIR, NAMED_HOST };

/* Is it new to the finding? */
static bool name_once(struct nsc_case *c, struct nsc_finding *f, uint64_t a, uint64_t b, uint64_t what)
{
    struct nsc_key key = {a, b, what};
    if (nsc_map_get(&f->named, key) != NSC_NONE)
        return false;
    bool put = nsc_map_put(&f->named, key, 0) == NCCLSCOPE_OK;
    c->f->no_memory = c->f->no_memory || !put;
    return put;
}

/* Was there no memory for what was to be named? */
static void check_named(struct nsc_case *c, const struct nsc_finding *f)
{
    c->f->no_memory = c->f->no_memory || f->named.used > f->ranks.len + f->pairs.len + f->hosts.len;
}

void nsc_name_rank(struct nsc_case *c, struct nsc_finding *f, uint64_t rank)
{
    uint64_t *r = name_once(c, f, rank, 0, NAMED_RANK) ? nsc_vec_push(&f->ranks) : NULL;
    if (r)
        *r = rank;
    check_named(c, f);
}

void nsc_name_pair(struct nsc_case *c, struct nsc_finding *f, uint64_t a, uint64_t b)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    struct nsc_pair *p = name_once(c, f, low, high, NAMED_PAIR) ? nsc_vec_push(&f->pairs) : NULL;
    if (p)
        *p = (struct nsc_pair){low, high};
    check_named(c, f);
}

void nsc_name_host(struct nsc_case *c, struct nsc_finding *f, nsc_str host)
{
    nsc_str *h = host && name_once(c, f, host, 0, NAMED_HOST) ? nsc_vec_push(&f->hosts) : NULL;
    if (h)
        *h = host;
    check_named(c, f);
}

uint32_t nsc_comm_of_link(const struct ncclscope_model *m, const struct nsc_link *l)
{
    return l->rank == NSC_NONE ? NSC_NONE : m->ranks.item[l->rank].comm;
}

/* Do two communicators share no process, and is neither split off another? */
static bool is_of_other_job(const struct ncclscope_model *m, uint32_t a, uint32_t b)
{
    if (a == NSC_NONE || b == NSC_NONE || m->comms.item[a].parent != NSC_NONE || m->comms.item[b].parent != NSC_NONE)
        return false;
    const struct nsc_comm *x = &m->comms.item[a], *y = &m->comms.item[b];
    uint32_t first = x->count ? m->ranks.item[m->members.item[x->first]].proc : NSC_NONE;
    for (uint32_t i = 0; i < y->count; i++)
        if (m->ranks.item[m->members.item[y->first + i]].proc == first)
            return false;
    return x->nranks == x->count && y->nranks == y->count;
}

const char *nsc_elsewhere(struct nsc_case *c, const struct nsc_finding *f)
{
    return !f->elsewhere ? ""
                         : nsc_words(c, "; so do pairs of %u other communicator%s of other processes", f->elsewhere,
                                     f->elsewhere == 1 ? "" : "s");
}

const char *nsc_count_pairs(struct nsc_case *c, const struct nsc_finding *f, const char *things)
{
    return nsc_words(c, "%s%llu pair%s of %s", f->gpus.at_least ? "at least " : "", (unsigned long long)f->all_pairs,
                     f->all_pairs == 1 ? "" : "s", things);
}

void nsc_add_link(struct nsc_case *c, struct nsc_finding *f, const struct nsc_link *l)
{
    uint32_t comm = nsc_comm_of_link(c->m, l);
    if (!f->count)
        f->comm = comm; /* rank numbers are those of the first communicator; others are counted */
    f->count += l->lines;
    nsc_pairs_add(&f->gpus, c->m, l);
    f->all_pairs = nsc_pairs_total(&f->gpus);
    c->f->no_memory = c->f->no_memory || f->gpus.no_memory;
    if (comm == f->comm) {
        nsc_name_pair(c, f, l->src, l->dst);
        nsc_name_rank(c, f, l->src);
        nsc_name_rank(c, f, l->dst);
    } else if (comm != f->last_comm) { /* links lie by communicator */
        f->elsewhere += is_of_other_job(c->m, comm, f->comm);
        f->last_comm = comm;
    }
    if (l->proc != NSC_NONE)
        nsc_name_host(c, f, c->m->procs.item[l->proc].host);
    nsc_show(c, f, &l->where);
}

struct nsc_finding *nsc_found_about(const struct nsc_case *c, nsc_str variable)
{
    uint32_t i = nsc_map_get(&c->f->about_by, (struct nsc_key){c->rule->key, variable, 0});
    return i == NSC_NONE ? NULL : &c->f->list.item[i];
}

void nsc_set_about(struct nsc_case *c, struct nsc_finding *f, nsc_str variable)
{
    uint32_t i = (uint32_t)(f - c->f->list.item);
    f->about = variable;
    if (f == &c->spare || nsc_map_put(&c->f->about_by, (struct nsc_key){c->rule->key, variable, 0}, i))
        c->f->no_memory = true;
}

bool nsc_raised(const struct nsc_case *c, enum nsc_id key)
{
    return c->f->raised[key] > 0;
}

bool nsc_any_error(const struct nsc_case *c)
{
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].severity == NCCLSCOPE_SEVERITY_ERROR)
            return true;
    return false;
}

const char *nsc_needs_links(const struct ncclscope_model *m)
{
    return m->link_order.len ? NULL : "no connection lines (\"Channel ... via ...\") in this log";
}

const char *nsc_needs_links_or_network(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].network)
            return NULL;
    return nsc_needs_links(m);
}

const char *nsc_needs_links_or_nic(const struct ncclscope_model *m)
{
    return nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_GDR_NIC) ? NULL : nsc_needs_links(m);
}

const char *nsc_needs_facts(const struct ncclscope_model *m)
{
    return m->facts ? NULL : "no facts of the machine are given (ncclscope probe)";
}

const char *nsc_needs_facts_and_links(const struct ncclscope_model *m)
{
    const char *facts = nsc_needs_facts(m);
    return facts ? facts : nsc_needs_links(m);
}

const char *nsc_needs_measured(const struct ncclscope_model *m)
{
    return m->facts && m->facts->measured.len + m->facts->collectives.len
               ? NULL
               : "nothing was measured (ncclscope probe --measure)";
}

const char *nsc_needs_comms(const struct ncclscope_model *m)
{
    return m->comms.len ? NULL : "no line of this log names a communicator (Init START, Init COMPLETE)";
}

const struct nsc_event *nsc_event_of(const struct ncclscope_model *m, uint32_t proc, ncclscope_kind kind)
{
    uint32_t first = proc == NSC_NONE ? nsc_map_get(&m->whole.event, (struct nsc_key){(uint64_t)kind, 0, 0}) : NSC_NONE;
    if (first != NSC_NONE)
        return &m->events.item[first];
    for (size_t i = proc == NSC_NONE ? m->event_order.len : nsc_events_of(m, proc); i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != proc)
            return NULL;
        if (e->kind == kind)
            return e;
    }
    return NULL;
}

const struct nsc_env *nsc_env_is(const struct ncclscope_model *m, uint32_t proc, const char *name, const char *value)
{
    if (proc != NSC_NONE) {
        const struct nsc_env *e = nsc_env_of(m, proc, name);
        return e && nsc_text_is(nsc_say(m, e->value), value) ? e : NULL;
    }
    for (size_t i = 0; i < m->env.len; i++) {
        const struct nsc_env *e = &m->env.item[i];
        if (nsc_text_is(nsc_say(m, e->name), name) && nsc_text_is(nsc_say(m, e->value), value))
            return e;
    }
    return NULL;
}

const struct nsc_env *nsc_p2p_disabled(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_env *e = nsc_env_is(m, proc, "NCCL_P2P_DISABLE", "1");
    return e ? e : nsc_env_is(m, proc, "NCCL_P2P_LEVEL", "LOC");
}

const struct nsc_env *nsc_p2p_limited(const struct ncclscope_model *m, uint32_t proc)
{
    return nsc_env_is(m, proc, "NCCL_P2P_LEVEL", "SYS") || nsc_env_is(m, proc, "NCCL_P2P_LEVEL", "5")
               ? NULL
               : nsc_env_of(m, proc, "NCCL_P2P_LEVEL");
}

bool nsc_may_be_within_node(const struct ncclscope_model *m, const struct nsc_link *l)
{
    if (l->family != NSC_NET || l->proc == NSC_NONE || !nsc_env_is(m, l->proc, "NCCL_SHM_DISABLE", "1"))
        return false;
    struct nsc_known_path p = l->known;
    return p.scope == NSC_SCOPE_UNKNOWN;
}

/* A link of NET to a rank whose own log is not here: NCCL takes the network only to other nodes, or where P2P and SHM are both
 * refused; so another node is likely, not certain. */
bool nsc_crosses_nodes(const struct ncclscope_model *m, const struct nsc_link *l, bool *certain)
{
    if (l->family != NSC_NET)
        return false;
    struct nsc_known_path p = l->known;
    *certain = p.scope == NSC_SCOPE_CLUSTER;
    return p.scope != NSC_SCOPE_NODE && !nsc_may_be_within_node(m, l);
}

static bool all_are_seen(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].seen < m->comms.item[i].nranks)
            return false;
    return m->comms.len > 0;
}

bool nsc_is_within_machine(const struct ncclscope_model *m, const struct nsc_link *l)
{
    struct nsc_known_path p = l->known;
    const struct nsc_rank *a = nsc_member(m, nsc_comm_of_link(m, l), (int64_t)l->src),
                          *b = nsc_member(m, nsc_comm_of_link(m, l), (int64_t)l->dst);
    if (p.scope == NSC_SCOPE_NODE)
        return true;
    if (!a || !b) /* whose it is is not known: but if all that there is is one machine ... */
        return m->machines.len == 1 && m->machines.item[0].confidence == NSC_CERTAIN && !m->machines.item[0].several &&
               all_are_seen(m);
    if (p.scope == NSC_SCOPE_UNKNOWN)
        return false;
    uint32_t x = nsc_machine_of(m, m->procs.item[a->proc].host), y = nsc_machine_of(m, m->procs.item[b->proc].host);
    return x == y && x != NSC_NONE && m->machines.item[x].confidence == NSC_CERTAIN && !m->machines.item[x].several;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int by_pair(const void *a, const void *b)
{
    const struct nsc_pair *p = a, *q = b;
    return p->a != q->a ? (p->a < q->a ? -1 : 1) : p->b < q->b ? -1 : p->b > q->b;
}

const char *nsc_list_ranks(struct nsc_case *c, const struct nsc_finding *f)
{
    char buf[300];
    size_t n = 0;
    if (f->ranks.len)
        qsort(f->ranks.item, f->ranks.len, sizeof *f->ranks.item, by_number);
    n += (size_t)snprintf(buf, sizeof buf, "rank%s ", f->ranks.len == 1 ? "" : "s");
    size_t i = 0;
    for (; i < f->ranks.len && n + 48 < sizeof buf; i++) {
        size_t k = i;
        while (k + 1 < f->ranks.len && f->ranks.item[k + 1] == f->ranks.item[k] + 1)
            k++;
        n += (size_t)snprintf(buf + n, sizeof buf - n, "%s%llu", i ? ", " : "", (unsigned long long)f->ranks.item[i]);
        if (k > i)
            n += (size_t)snprintf(buf + n, sizeof buf - n, "%s%llu", k > i + 1 ? "-" : ", ",
                                  (unsigned long long)f->ranks.item[k]);
        i = k;
    }
    uint64_t more = (uint64_t)(f->ranks.len - i) + (uint64_t)f->ranks_more;
    return more ? nsc_words(c, "%s and %llu more", buf, (unsigned long long)more) : nsc_words(c, "%s", buf);
}

static int verdict_of(const struct ncclscope_findings *f)
{
    uint64_t records = 0;
    bool no_channels = false;
    for (size_t i = 0; i < f->model->sources.len; i++)
        records += f->model->sources.item[i].stats.records;
    if (!records)
        return NCCLSCOPE_NO_NCCL_LINES;
    for (size_t i = 0; i < f->list.len; i++) {
        bool silent = f->list.item[i].rule->key == NSC_ID_LOG_NO_CHANNELS;
        no_channels = no_channels || silent;
        if (f->list.item[i].severity >= NCCLSCOPE_SEVERITY_WARNING && !silent)
            return NCCLSCOPE_FINDINGS;
    }
    return no_channels ? NCCLSCOPE_NO_EVIDENCE : NCCLSCOPE_ALL_OK;
}

/* What failed when the program had done its work: in its shutdown, or in what it did behind that. */
static void say_if_done(struct nsc_case *c, struct nsc_finding *f)
{
    const struct nsc_where *done = nsc_success_of(c->m);
    if (!done || f->severity != NCCLSCOPE_SEVERITY_ERROR || f->caused_by || !f->evidences || !f->cause)
        return;
    for (size_t i = 0; i < f->evidences; i++)
        if (f->evidence[i].source != done->source || f->evidence[i].line < done->line)
            return;
    f->cause = nsc_words(c, "%s The program had said before that it reached its end (line %llu).", f->cause,
                         (unsigned long long)done->line);
}

/* The elastic launcher began anew behind it. */
static void say_if_restarted(struct nsc_case *c, struct nsc_finding *f)
{
    if (f->severity != NCCLSCOPE_SEVERITY_ERROR || f->caused_by || !f->evidences || !f->cause)
        return;
    const struct nsc_own_record *r = nsc_first_heard(c->m, NCCLSCOPE_KIND_ELASTIC_RESTART);
    for (; r && r < c->m->happened.item + c->m->happened.len; r++) {
        if (r->number != NCCLSCOPE_KIND_ELASTIC_RESTART || r->where.source != f->evidence[0].source ||
            r->where.line < f->evidence[0].line)
            continue;
        f->cause = nsc_words(c, "%s The launcher then restarted the workers (line %llu).", f->cause,
                             (unsigned long long)r->where.line);
        return;
    }
}

int ncclscope_analyse(ncclscope_findings **out, const ncclscope_model *m, ncclscope_error *err)
{
    unsigned before = nsc_failed_allocations();
    ncclscope_findings *f = m->no_memory ? NULL : nsc_alloc(sizeof *f);
    *out = NULL;
    if (!f)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    f->model = m;
    struct nsc_case c = {.m = m, .f = f};
    for (const struct nsc_rule *r = nsc_rules; r->id; r++) {
        const char *reason = r->needs(m);
        c.rule = r;
        nsc_tell_failures(&c);
        nsc_tell_settings(&c);
        if (!reason) {
            r->check(&c);
            continue;
        }
        struct nsc_skip *s = nsc_vec_push(&f->skipped);
        if (s)
            *s = (struct nsc_skip){r->id, reason};
        else
            f->no_memory = true;
    }
    nsc_finding_free(&c.spare);
    nsc_settle_failures(f);
    for (size_t i = 0; i < f->list.len; i++) {
        struct nsc_finding *x = &f->list.item[i];
        if (x->ranks.len)
            qsort(x->ranks.item, x->ranks.len, sizeof *x->ranks.item, by_number);
        if (x->pairs.len)
            qsort(x->pairs.item, x->pairs.len, sizeof *x->pairs.item, by_pair);
        if (x->caused_by && !nsc_raised(&c, x->caused_by))
            x->caused_by = NSC_ID_NONE;
        say_if_done(&c, x);
        say_if_restarted(&c, x);
        if (x->severity == NCCLSCOPE_SEVERITY_NOTE && !x->fix && !strcmp(x->cls, "by-design"))
            x->fix = "Nothing to mend.";
    }
    nsc_put_findings_in_order(f);
    f->verdict = verdict_of(f);
    nsc_lay_findings(f);
    if (f->no_memory || nsc_failed_allocations() != before) {
        ncclscope_findings_free(f);
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    *out = f;
    return NCCLSCOPE_OK;
}

void ncclscope_findings_free(ncclscope_findings *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->list.len; i++)
        nsc_finding_free(&f->list.item[i]);
    nsc_vec_free(&f->list);
    nsc_map_free(&f->about_by);
    nsc_map_free(&f->said_by);
    nsc_vec_free(&f->skipped);
    nsc_vec_free(&f->confirmed);
    nsc_rows_free(&f->rows);
    nsc_intern_free(&f->strings);
    nsc_arena_free(&f->arena);
    nsc_free(f);
}

int ncclscope_findings_verdict(const ncclscope_findings *f)
{
    return f->verdict;
}

size_t ncclscope_findings_count(const ncclscope_findings *f)
{
    return f->list.len;
}

const char *ncclscope_finding_id(const ncclscope_findings *f, size_t i)
{
    return i < f->list.len ? f->list.item[i].rule->id : "";
}

int ncclscope_finding_severity(const ncclscope_findings *f, size_t i)
{
    return i < f->list.len ? f->list.item[i].severity : 0;
}

const char *ncclscope_finding_title(const ncclscope_findings *f, size_t i)
{
    return i < f->list.len && f->list.item[i].title ? f->list.item[i].title : "";
}
