/* rules_start.c - what shows while ranks start: one that is slow, another release, one GPU for two. */
#include "model/machines.h"
#include "rules/ask.h"
#include "rules/own_words.h"
#include "rules/halves.h"
#include "rules/raised.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- ranks that were slow to start ---- */

enum { SLOW_FACTOR = 3, SLOW_SECONDS = 5 }; /* both: what varies from run to run is less */

static int by_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Half of the ranks took no longer than this; < 0: fewer than three said how long. */
static double median_init(const struct ncclscope_model *m, const struct nsc_comm *k, double *seconds)
{
    size_t n = 0;
    for (uint32_t i = 0; i < k->count; i++)
        if (m->ranks.item[m->members.item[k->first + i]].init_seconds >= 0)
            seconds[n++] = m->ranks.item[m->members.item[k->first + i]].init_seconds;
    if (n < 3)
        return -1;
    qsort(seconds, n, sizeof *seconds, by_seconds);
    return seconds[n / 2];
}

static void tell_slow(struct nsc_case *c, uint32_t comm, const struct nsc_rank *r, double median)
{
    bool late = r->init_seconds < median; /* the others waited for it */
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "unknown", "likely");
    f->comm = comm;
    f->count = 1;
    f->title = nsc_words(c, "Rank %lld (host %s, pid %lld) %s: its initialisation took %.1f s, the others' %.1f s",
                         (long long)r->rank, nsc_say(c->m, c->m->procs.item[r->proc].host).ptr,
                         (long long)c->m->procs.item[r->proc].pid,
                         late ? "came late, and the others waited" : "was slow to initialise", r->init_seconds, median);
    nsc_explain_by(c, f, late ? NSC_SLOW_LATE : NSC_SLOW_ITSELF);
    nsc_name_rank(c, f, (uint64_t)r->rank);
    nsc_name_host(c, f, c->m->procs.item[r->proc].host);
    nsc_show(c, f, &r->complete);
}

enum { KERNELS_SLOW = 20 }; /* seconds; a build that has code for the GPU takes about one */

/* NCCL itself says that loading its kernels took most of a long initialisation, on every rank alike. */
static void tell_slow_kernels(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_rank *slowest = NULL;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->kernel_seconds < KERNELS_SLOW || 2 * r->kernel_seconds < r->init_seconds)
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "visibility", "certain");
        slowest = slowest && slowest->init_seconds >= r->init_seconds ? slowest : r;
        f->count++;
        nsc_name_rank(c, f, (uint64_t)r->rank);
        nsc_show(c, f, r->complete.line ? &r->complete : &r->first);
    }
    if (!f)
        return;
    f->title = nsc_words(c, "Initialisation took %.0f s, of which NCCL spent %.0f s on loading its kernels",
                         slowest->init_seconds, slowest->kernel_seconds);
    nsc_explain_by(c, f, NSC_SLOW_KERNELS);
    f->severity = NCCLSCOPE_SEVERITY_WARNING; /* each start of the job waits so long */
}

void nsc_rule_slow_init(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    tell_slow_kernels(c);
    double *seconds = nsc_alloc((m->ranks.len + 1) * sizeof *seconds);
    c->f->no_memory = c->f->no_memory || !seconds;
    for (size_t i = 0; seconds && i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        double median = k->parent == NSC_NONE ? median_init(m, k, seconds) : -1;
        const struct nsc_rank *odd = NULL;
        uint32_t odds = 0;
        for (uint32_t n = 0; median >= 0 && n < k->count; n++) {
            const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + n]];
            double low = r->init_seconds < median ? r->init_seconds : median,
                   high = r->init_seconds < median ? median : r->init_seconds;
            if (low >= 0 && high > SLOW_FACTOR * low && high - low > SLOW_SECONDS) {
                odd = r;
                odds++;
            }
        }
        if (odds == 1)
            tell_slow(c, (uint32_t)i, odd, median);
    }
    nsc_free(seconds);
}

/* ---- ranks on another version ---- */

/* The release that a member says itself; 0: it says none. */
static unsigned release_of(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    struct nsc_version v = nsc_version_of(m, r->proc);
    return v.how == NSC_VERSION_SAID ? v.low : 0;
}

/* NCCL's own warning names two ranks: they are what it is about, beside who printed it. */
static void name_mixed(struct nsc_case *c, struct nsc_finding *f)
{
    nsc_text rest = nsc_say(c->m, f->began->text);
    for (nsc_text word = nsc_next_word(&rest); word.len; word = nsc_next_word(&rest)) {
        uint64_t rank;
        if (nsc_text_is(word, "rank") && nsc_to_u64(nsc_next_word(&rest), &rank))
            nsc_name_rank(c, f, rank);
    }
}

static struct nsc_finding *tell_hosts_apart(struct nsc_case *c, int severity, const char *title, uint32_t older,
                                            uint32_t newer)
{
    const struct nsc_proc *a = &c->m->procs.item[older], *b = &c->m->procs.item[newer];
    struct nsc_finding *f = nsc_found(c, severity, "error", "likely");
    f->count = 2;
    f->title = title;
    nsc_explain_by(c, f, 0);
    f->confidence = "likely";
    nsc_name_host(c, f, a->host);
    nsc_name_host(c, f, b->host);
    nsc_show(c, f, &a->first);
    nsc_show(c, f, &b->first);
    return f;
}

/* One host's lines say "INFO", another's "NCCL INFO", as the releases before and from 2.2 on print them, and calls returned errors. */
static void tell_unlike_lines(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    uint32_t older, newer;
    if (!nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_BACKTRACE) || !nsc_versions_are_apart(m, &older, &newer) ||
        m->procs.item[older].unmarked == m->procs.item[newer].unmarked || m->sources.len != 1)
        return;
    const char *title = nsc_words(
        c,
        "Hosts run different versions of NCCL: lines of %s say \"INFO\", as the oldest releases do (2.0 to 2.2), "
        "those of %s \"NCCL INFO\"",
        nsc_say(m, m->procs.item[older].host).ptr, nsc_say(m, m->procs.item[newer].host).ptr);
    tell_hosts_apart(c, NCCLSCOPE_SEVERITY_ERROR, title, older, newer)->part = NSC_ROOT;
}

/* Did processes of both hosts try to connect to one address, and give up? Then they are of one job. */
static bool met_in_vain(const struct ncclscope_model *m, nsc_str a, nsc_str b)
{
    nsc_str of_a = 0, of_b = 0;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_CONNECT_GAVE_UP && e->kind != NCCLSCOPE_KIND_CONNECT_FAILED)
            continue;
        nsc_str host = m->procs.item[e->proc].host;
        of_a = host == a && !of_a ? e->text : of_a;
        of_b = host == b && !of_b ? e->text : of_b;
    }
    return of_a && of_a == of_b;
}

/* No communicator joins the two hosts, and their lines, or the words of these, are of different releases. */
static void tell_unlike_words(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    uint32_t older, newer;
    char apart[240];
    if (nsc_raised(c, NSC_ID_RANKS_VERSION_MISMATCH) || !nsc_versions_are_apart(m, &older, &newer) ||
        !met_in_vain(m, m->procs.item[older].host, m->procs.item[newer].host))
        return;
    bool said = nsc_version_of(m, older).how == NSC_VERSION_SAID && nsc_version_of(m, newer).how == NSC_VERSION_SAID;
    nsc_spell_versions_apart(m, apart, sizeof apart);
    tell_hosts_apart(c, NCCLSCOPE_SEVERITY_WARNING,
                     nsc_words(c, "Hosts that try to meet run different versions of NCCL%s: %s",
                               said ? "" : ", by the words of their lines", apart),
                     older, newer);
}

/* Two ranks that were to be in one communicator, and say different releases. */
static void tell_apart(struct nsc_case *c, uint32_t comm, const struct nsc_rank *one, const struct nsc_rank *other,
                       const char *ending)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_proc *p = &m->procs.item[one->proc], *q = &m->procs.item[other->proc];
    const struct nsc_rank *both[2] = {one, other};
    bool works = m->comms.item[comm].state == NSC_COMPLETE;
    struct nsc_finding *f = nsc_found(c, works ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_ERROR, "error",
                                      works ? "likely" : "certain");
    f->comm = comm;
    f->count = 2;
    f->title = nsc_words(
        c, "Ranks of one communicator run different versions of NCCL: rank %lld (host %s) %s, rank %lld (host %s) %s%s",
        (long long)one->rank, nsc_say(m, p->host).ptr, nsc_say(m, p->version).ptr, (long long)other->rank,
        nsc_say(m, q->host).ptr, nsc_say(m, q->version).ptr, ending);
    f->part = works ? f->part : NSC_ROOT; /* what never came up could not */
    nsc_explain_by(c, f, *ending ? NSC_APART_BY_IDS : 0);
    for (int n = 0; n < 2; n++) {
        nsc_name_rank(c, f, (uint64_t)both[n]->rank);
        nsc_name_host(c, f, m->procs.item[both[n]->proc].host);
        nsc_show(c, f, &m->procs.item[both[n]->proc].version_at);
    }
}

/* Two members of one communicator that say different releases; false: there are none. */
static bool tell_apart_in_one(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        const struct nsc_rank *one = NULL;
        for (uint32_t n = 0; k->parent == NSC_NONE && n < k->count; n++) {
            const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + n]];
            unsigned release = release_of(m, r);
            one = one || !release ? one : r;
            if (!one || !release || release == release_of(m, one) ||
                nsc_may_be_torn(m, one->proc, m->procs.item[one->proc].version, r->proc,
                                m->procs.item[r->proc].version))
                continue;
            tell_apart(c, (uint32_t)i, one, r, "");
            return true;
        }
    }
    return false;
}

static bool say_two_releases(const struct ncclscope_model *m)
{
    unsigned one = 0;
    for (size_t i = 0; i < m->ranks.len; i++) {
        unsigned release = release_of(m, &m->ranks.item[i]);
        if (one && release && release != one)
            return true;
        one = release ? release : one;
    }
    return false;
}

/* The ranks have two ids of what was to be one communicator, as each release makes the id in its own way; false: it is not so. */
static bool tell_apart_by_ids(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_halves halves = {0};
    bool told = false, fine = !say_two_releases(m) || nsc_list_halves(m, &halves);
    c->f->no_memory = c->f->no_memory || !fine;
    for (uint32_t i = 0; fine && halves.next && !told && i < m->comms.len; i++) {
        uint32_t other = nsc_other_half(m, &halves, i);
        told = other != NSC_NONE && nsc_halves_are_apart(m, i, other);
        if (told)
            tell_apart(c, i, nsc_that_says_its_release(m, i), nsc_that_says_its_release(m, other),
                       "; their ids of it differ too");
    }
    nsc_free_halves(&halves);
    return told;
}

/* Where NCCL's own warning is not in the log. */
void nsc_rule_version_mismatch(struct nsc_case *c)
{
    if (nsc_raised(c, NSC_ID_RANKS_VERSION_MISMATCH)) {
        name_mixed(c, &c->f->list.item[c->f->list.len - 1]);
        return;
    }
    if (tell_apart_in_one(c) || tell_apart_by_ids(c))
        return;
    tell_unlike_lines(c);
    tell_unlike_words(c);
}

/* ---- two ranks on one GPU ---- */

/* "Multiple Ranks are using the same GPU/Partition" names none: those of the first bus id that several ranks of a host have. */
static void list_by_bus(struct nsc_case *c, struct nsc_finding *f)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map first = {0};
    const struct nsc_rank *on = NULL;
    for (size_t i = 0; i < m->ranks.len && !on; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        struct nsc_key key = {m->procs.item[r->proc].host, r->bus_id, r->comm};
        uint32_t other = r->bus_id && r->comm != NSC_NONE ? nsc_map_get(&first, key) : NSC_NONE;
        if (other != NSC_NONE && m->ranks.item[other].rank != r->rank)
            on = r;
        else if (r->bus_id && r->comm != NSC_NONE)
            nsc_map_put(&first, key, (uint32_t)i);
    }
    nsc_map_free(&first);
    struct nsc_finding some = {.rule = c->rule};
    for (size_t i = 0; on && i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->comm == on->comm && r->bus_id == on->bus_id && r->rank >= 0 &&
            m->procs.item[r->proc].host == m->procs.item[on->proc].host)
            nsc_name_rank(c, &some, (uint64_t)r->rank);
    }
    if (on)
        f->title =
            nsc_words(c, "%zu ranks use the same GPU: %s on %s (host %s)", some.ranks.len, nsc_list_ranks(c, &some),
                      nsc_say(m, on->bus_id).ptr, nsc_say(m, m->procs.item[on->proc].host).ptr);
    nsc_finding_free(&some);
}

/* Ranks that warnings put on one GPU: those of one device that a rank in common joins, as each host has devices of that number. */
struct shared_gpu {
    char device[17];
    struct nsc_finding of; /* its ranks, for nsc_list_ranks */
};

/* "Duplicate GPU detected : rank 6 and rank 4 both on CUDA device 31000" */
static bool pair_of(const struct nsc_event *e, unsigned long long rank[2], char device[17])
{
    char line[120];
    ptrdiff_t at = e->kind == NCCLSCOPE_KIND_DUPLICATE_GPU ? nsc_text_find(e->where.text, " : rank ") : -1;
    if (at < 0)
        return false;
    nsc_text said = nsc_text_from(e->where.text, (size_t)at);
    snprintf(line, sizeof line, "%.*s", (int)(said.len < 119 ? said.len : 119), said.ptr);
    return sscanf(line, " : rank %llu and rank %llu both on CUDA device %16[0-9a-f]", &rank[0], &rank[1], device) == 3;
}

/* "3 ranks use the same GPU: ranks 0, 3, 7 on f000", "2 GPUs are used by several ranks each: ranks 4, 6 on 31000; ranks 5, 7 on 4b000". */
static void list_shared(struct nsc_case *c, struct nsc_finding *f)
{
    enum { MOST = 16 }; /* GPUs that are named */
    const struct ncclscope_model *m = c->m;
    struct shared_gpu gpu[MOST] = {{"", {0}}};
    size_t n = 0;
    const char *words = "";
    for (size_t i = 0; i < m->events.len; i++) {
        unsigned long long rank[2];
        char device[17];
        if (!pair_of(&m->events.item[i], rank, device))
            continue;
        size_t k = 0;
        while (k < n && (strcmp(gpu[k].device, device) != 0 ||
                         !(nsc_names_rank(&gpu[k].of, rank[0]) || nsc_names_rank(&gpu[k].of, rank[1]))))
            k++;
        if (k == MOST)
            continue;
        if (k == n) {
            strcpy(gpu[n].device, device);
            gpu[n++].of.rule = c->rule;
        }
        nsc_name_rank(c, &gpu[k].of, rank[0]);
        nsc_name_rank(c, &gpu[k].of, rank[1]);
    }
    for (size_t k = 0; k < n; k++)
        words = nsc_words(c, "%s%s%s on %s", words, k ? "; " : "", nsc_list_ranks(c, &gpu[k].of), gpu[k].device);
    if (!n)
        list_by_bus(c, f);
    else if (n > 1)
        f->title = nsc_words(c, "%zu%s GPUs are used by several ranks each: %s", n, n == MOST ? " or more" : "", words);
    else if (gpu[0].of.ranks.len > 2)
        f->title = nsc_words(c, "%zu ranks use the same GPU: %s", gpu[0].of.ranks.len, words);
    for (size_t k = 0; k < n; k++)
        nsc_finding_free(&gpu[k].of);
}

static bool have_addresses_apart(const struct ncclscope_model *m, uint32_t a, uint32_t b)
{
    return m->procs.item[a].address && m->procs.item[b].address && !nsc_have_one_address(m, a, b);
}

/* Does a finding of this rule name the GPU already, by NCCL's own word? Machines of one kind have their GPUs at the same ids. */
static bool is_gpu_told(const struct nsc_case *c, nsc_str bus_id, nsc_str host)
{
    for (size_t i = 0; i < c->f->list.len; i++) {
        const struct nsc_finding *f = &c->f->list.item[i];
        bool of_host = !f->hosts.len;
        for (size_t k = 0; k < f->hosts.len && !of_host; k++)
            of_host = f->hosts.item[k] == host;
        if (f->rule == c->rule && of_host && f->title && strstr(f->title, nsc_say(c->m, bus_id).ptr))
            return true;
    }
    return false;
}

/* Two ranks of one communicator that began on one GPU of one machine, where NCCL's word on it is not in the input. */
static bool tell_one_gpu_twice(struct nsc_case *c, uint32_t comm)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_comm *k = &m->comms.item[comm];
    struct nsc_map seen = {0};
    const struct nsc_rank *one = NULL, *other = NULL;
    for (uint32_t i = 0; k->state != NSC_COMPLETE && !k->guessed && i < k->count && !other; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[k->first + i]];
        struct nsc_key key = {m->procs.item[r->proc].host, r->bus_id, 0};
        uint32_t before = r->bus_id && !nsc_is_done(r) ? nsc_map_get(&seen, key) : NSC_NONE;
        one = before == NSC_NONE ? NULL : &m->ranks.item[before];
        if (one && one->rank != r->rank && !have_addresses_apart(m, one->proc, r->proc) &&
            !nsc_may_share_gpu(m, r, one))
            other = r;
        if (r->bus_id && !nsc_is_done(r))
            nsc_map_put(&seen, key, m->members.item[k->first + i]);
    }
    nsc_map_free(&seen);
    if (!other || is_gpu_told(c, other->bus_id, m->procs.item[other->proc].host))
        return false;
    bool sure = nsc_have_one_address(m, one->proc, other->proc); /* else two machines may have this name */
    struct nsc_finding *f =
        nsc_found(c, sure ? NCCLSCOPE_SEVERITY_ERROR : NCCLSCOPE_SEVERITY_NOTE, "error", sure ? "likely" : "possible");
    f->comm = comm;
    f->count = 2;
    f->title = nsc_words(
        c, "Two ranks of one communicator %s one GPU, which NCCL refuses: ranks %lld and %lld on %s (host %s)",
        sure ? "began on" : "may have begun on", (long long)one->rank, (long long)other->rank,
        nsc_say(m, other->bus_id).ptr, nsc_say(m, m->procs.item[other->proc].host).ptr);
    f->part = sure ? NSC_ROOT : f->part;
    nsc_name_rank(c, f, (uint64_t)one->rank);
    nsc_name_rank(c, f, (uint64_t)other->rank);
    nsc_show(c, f, &one->first);
    nsc_show(c, f, &other->first);
    return true;
}

/* The processes that said so made a communicator later that came up: an attempt was given up. */
static void settle_if_lived_on(struct nsc_case *c, struct nsc_finding *f)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_event *last = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_DUPLICATE_GPU)
            continue;
        if (e->proc == NSC_NONE || m->procs.item[e->proc].nameless || !nsc_lived_on(m, e->proc, &e->where))
            return;
        last = e;
    }
    if (!last || f->severity != NCCLSCOPE_SEVERITY_ERROR)
        return;
    f->severity = NCCLSCOPE_SEVERITY_NOTE;
    f->part = NSC_NO_FAILURE;
    f->title = nsc_words(c, "%s, in an abandoned attempt: the same processes made a communicator after it", f->title);
}

/* "Duplicate GPU" between processes of different hosts: NCCL was told that they are one. */
void nsc_rule_same_gpu(struct nsc_case *c)
{
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].rule == c->rule) {
            list_shared(c, &c->f->list.item[i]);
            settle_if_lived_on(c, &c->f->list.item[i]);
        }
    bool told = false;
    for (size_t i = 0; i < c->m->comms.len && !told; i++)
        told = tell_one_gpu_twice(c, (uint32_t)i);
    const struct nsc_env *id = nsc_env_of(c->m, NSC_NONE, "NCCL_HOSTID");
    bool several = false;
    for (size_t i = 1; i < c->m->hosts.len; i++)
        several = several || c->m->hosts.item[i].machine != c->m->hosts.item[0].machine;
    for (size_t i = 0; id && several && i < c->f->list.len; i++) {
        struct nsc_finding *f = &c->f->list.item[i];
        if (f->rule != c->rule)
            continue;
        f->caused_by = NSC_ID_ENV_HOSTID;
        nsc_explain_with(c, f, NSC_SAME_BY_HOSTID, nsc_say(c->m, id->value).ptr, NULL);
        nsc_show_first(c, f, &id->where);
    }
}

/* ---- communicators of the ranks that remain ---- */

/* Ranks of the parent that have no part in what ncclCommShrink made of it: named in the finding. */
static void name_left_out(struct nsc_case *c, struct nsc_finding *f, const struct nsc_comm *k,
                          const struct nsc_comm *of)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map stay = {0};
    for (uint32_t i = 0; i < k->count; i++) {
        uint32_t parent = m->ranks.item[m->members.item[k->first + i]].parent;
        if (parent != NSC_NONE)
            nsc_map_put(&stay, (struct nsc_key){(uint64_t)m->ranks.item[parent].rank, 0, 0}, 0);
    }
    for (int64_t rank = 0; (int64_t)stay.used == k->nranks && rank < of->nranks; rank++)
        if (nsc_map_get(&stay, (struct nsc_key){(uint64_t)rank, 0, 0}) == NSC_NONE)
            nsc_name_rank(c, f, (uint64_t)rank);
    nsc_map_free(&stay);
}

/* "ncclCommShrink comm 0x37ea0db0 rank 2 nranks 3 ... parent 0x2d39e4a0 ... - Init START" */
void nsc_rule_shrunk(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        const struct nsc_rank *one = k->count ? &m->ranks.item[m->members.item[k->first]] : NULL;
        if (!one || !one->made_by || !nsc_text_is(nsc_say(m, one->made_by), "ncclCommShrink"))
            continue;
        const struct nsc_comm *of = one->parent == NSC_NONE || m->ranks.item[one->parent].comm == NSC_NONE
                                        ? NULL
                                        : &m->comms.item[m->ranks.item[one->parent].comm];
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "by-design", "certain");
        f->comm = (uint32_t)i;
        f->count = 1;
        if (of)
            name_left_out(c, f, k, of);
        f->title = of ? nsc_words(c, "The program shrank a communicator from %lld ranks to %lld%s%s",
                                  (long long)of->nranks, (long long)k->nranks, f->ranks.len ? ", without " : "",
                                  f->ranks.len ? nsc_list_ranks(c, f) : "")
                      : nsc_words(c, "The program shrank a communicator to %lld ranks", (long long)k->nranks);
        const struct nsc_own_record *words = f->ranks.len == 1 ? nsc_last_words(m, (int64_t)f->ranks.item[0]) : NULL;
        if (words)
            f->title = nsc_words(c, "%s; %s", f->title, nsc_quote_rank(c, words));
        nsc_explain_by(c, f, 0);
        nsc_show(c, f, one->start.line ? &one->start : &one->first);
        nsc_show(c, f, words ? &words->where : NULL);
    }
}
