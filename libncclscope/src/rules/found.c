/* found.c - a finding while it is made: its words, the lines that it rests on, the ranks, pairs and hosts that it names. */
#include "rules/rules.h"

#include "base/neutral.h"

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

const char *nsc_line_in(struct nsc_case *c, const struct nsc_where *w)
{
    return nsc_words(c, "%s", nsc_place_of(c->m, w).words);
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

bool nsc_names_rank(const struct nsc_finding *f, uint64_t rank)
{
    return nsc_map_get(&f->named, (struct nsc_key){rank, 0, NAMED_RANK}) != NSC_NONE;
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

int64_t nsc_name_absent(struct nsc_case *c, const struct nsc_comm *k, struct nsc_finding *f)
{
    uint32_t at = 0;
    for (int64_t rank = 0; rank < k->nranks && rank < NSC_NAMED_ABSENT; rank++) {
        while (at < k->count && c->m->ranks.item[c->m->members.item[k->first + at]].rank < rank)
            at++;
        if (at < k->count && c->m->ranks.item[c->m->members.item[k->first + at]].rank == rank)
            continue;
        uint64_t *r = nsc_vec_push(&f->ranks);
        if (r)
            *r = (uint64_t)rank;
        else
            c->f->no_memory = true;
    }
    int64_t missing = k->nranks - k->seen;
    f->ranks_more = missing > (int64_t)f->ranks.len ? missing - (int64_t)f->ranks.len : 0;
    return missing;
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

bool nsc_any_failure(const struct nsc_case *c, enum nsc_id but)
{
    for (size_t i = 0; i < c->f->list.len; i++) {
        const struct nsc_finding *f = &c->f->list.item[i];
        if (f->severity == NCCLSCOPE_SEVERITY_ERROR && f->rule->key != but && !strcmp(f->cls, "error"))
            return true;
    }
    return false;
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

void nsc_sort_named(struct nsc_finding *f)
{
    if (f->ranks.len)
        qsort(f->ranks.item, f->ranks.len, sizeof *f->ranks.item, by_number);
    if (f->pairs.len)
        qsort(f->pairs.item, f->pairs.len, sizeof *f->pairs.item, by_pair);
}
