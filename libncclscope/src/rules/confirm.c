/* confirm.c - one verdict for each pair of ranks that the log connects inside the machine: state and data decide, bandwidth confirms. */
#include "rules/confirm.h"

#include "probe/measured.h"
#include "rules/expect.h"

#include <stdio.h>

const char *nsc_confirmation_name(enum nsc_confirmation is)
{
    return ncclscope_word_of("confirmation", is);
}

const char *nsc_confirmation_words(enum nsc_confirmation is)
{
    static const char *const words[] = {"log and machine contradict each other",
                                        "confirmed fallback",
                                        "works, slower than the default mode",
                                        "stale log",
                                        "cannot tell",
                                        "as good as the hardware allows"};
    return words[is];
}

static const char not_asked[] = "the driver here was not asked for P2P between these GPUs, or did not say";

static enum nsc_confirmation is(struct nsc_confirmed *x, enum nsc_confirmation verdict, const char *why)
{
    x->why = why;
    return x->is = verdict;
}

/* ---- what the machine offers ---- */

/* Why the NVLink fabric of a GPU carries nothing; NULL: it is ready, has none, or that is not known. */
static const char *fabric_fault(struct nsc_case *c, const struct nsc_fact_gpu *g)
{
    bool done = g->fabric_state && !strcmp(g->fabric_state, "completed");
    if (!g->fabric_state || !strcmp(g->fabric_state, "not-supported") ||
        (done && !(g->fabric_status.known && g->fabric_status.v)))
        return NULL;
    return done ? "the NVLink fabric was set up with an error"
                : nsc_words(c, "the NVLink fabric is not ready (%s)", g->fabric_state);
}

static bool is_ok(const char *status)
{
    return status && !strcmp(status, "OK");
}

/* One direction: NULL if P2P is offered or not known (`known` tells), else who refuses it. */
static const char *refused(struct nsc_case *c, const struct nsc_fact_pair *p, bool *known)
{
    *known = *known && p && is_ok(p->p2p_read) && is_ok(p->p2p_write);
    if (p && nsc_is_refusal(p->p2p_read))
        return nsc_words(c, "the driver refuses P2P here (reading: %s)", p->p2p_read);
    if (p && nsc_is_refusal(p->p2p_write))
        return nsc_words(c, "the driver refuses P2P here (writing: %s)", p->p2p_write);
    return p && p->can_access.known && !p->can_access.v ? "CUDA refuses P2P here" : NULL;
}

static bool offers_nvlink(const struct nsc_confirmed *x)
{
    return x->offered && nsc_class_is_nvlink(nsc_text_of(x->offered));
}

static const char *find_offer(struct nsc_case *c, struct nsc_confirmed *x)
{
    const struct ncclscope_facts *facts = c->m->facts;
    int64_t a = x->gpu[0]->index.v, b = x->gpu[1]->index.v;
    const struct nsc_fact_pair *there = nsc_pair_at(facts, a, b), *back = nsc_pair_at(facts, b, a);
    bool known = true;
    const char *no = refused(c, there, &known), *other = refused(c, back, &known);
    const char *path = there ? there->path : NULL;
    no = no ? no : other;
    x->offered = path && nsc_level_of(nsc_text_of(path)) != NSC_LEVEL_UNKNOWN ? path : NULL;
    for (int i = 0; i < 2 && !no; i++) {
        no = offers_nvlink(x) ? fabric_fault(c, x->gpu[i]) : NULL;
        no = !no && x->gpu[i]->mig.known && x->gpu[i]->mig.v ? "MIG is on here: slices of a GPU have no P2P" : no;
    }
    x->p2p = no ? 0 : known ? 1 : -1;
    return no;
}

/* ---- what was measured ---- */

/* The slower direction; 0: not measured. */
static int64_t slower_way(const struct ncclscope_facts *facts, const struct nsc_confirmed *x, const char *method)
{
    int64_t a = x->gpu[0]->index.v, b = x->gpu[1]->index.v;
    const struct nsc_fact_measured *there = nsc_measured_at(facts, a, b, method),
                                   *back = nsc_measured_at(facts, b, a, method);
    int64_t one = there && there->mb_s.v > 0 ? there->mb_s.v : 0, other = back && back->mb_s.v > 0 ? back->mb_s.v : 0;
    return !one || !other ? one + other : one < other ? one : other;
}

static bool is_data_wrong(const struct ncclscope_facts *facts, const struct nsc_confirmed *x)
{
    int64_t a = x->gpu[0]->index.v, b = x->gpu[1]->index.v;
    for (size_t i = 0; i < facts->measured.len; i++) {
        const struct nsc_fact_measured *o = &facts->measured.item[i];
        bool own = (o->from.v == a && o->to.v == b) || (o->from.v == b && o->to.v == a);
        if (own && o->wrong_words.v > 0 && strcmp(o->method, "shm") != 0)
            return true;
    }
    return false;
}

/* Does a run of NCCL here have the path of the log: the same transport in the same mode? */
static bool is_same_path(const struct nsc_fact_collective *o, const struct nsc_confirmed *x, nsc_text via)
{
    bool p2p = x->link->family == NSC_P2P;
    return o->path && o->via && (p2p ? nsc_text_is(via, o->via) : !strcmp(o->path, nsc_path_name(x->path)));
}

static bool is_sound(const struct nsc_fact_collective *o)
{
    return !strcmp(o->operation, "all-reduce") && o->mb_s.v > 0 && o->bytes.v > 0 && o->wrong_words.v == 0;
}

static const struct nsc_fact_collective *default_run(const struct ncclscope_facts *facts,
                                                     const struct nsc_fact_collective *of)
{
    for (size_t i = 0; i < facts->collectives.len; i++) {
        const struct nsc_fact_collective *o = &facts->collectives.item[i];
        if (is_sound(o) && !strcmp(o->arm, "default") && o->bytes.v == of->bytes.v && o->ranks.v == of->ranks.v)
            return o;
    }
    return NULL;
}

/* Of two sizes that both runs have the one to compare at: that of the recorded costs it stands beside (links.def), else the larger. */
static bool is_better_size(int64_t bytes, int64_t than)
{
    const int64_t recorded = 64LL * 1024 * 1024;
    return bytes == recorded || (than != recorded && bytes > than);
}

/* An all-reduce that both runs have: NCCL by itself, and as the log has it. */
static void find_runs(const struct nsc_case *c, struct nsc_confirmed *x)
{
    const struct ncclscope_facts *facts = c->m->facts;
    for (size_t i = 0; i < facts->collectives.len; i++) {
        const struct nsc_fact_collective *o = &facts->collectives.item[i], *base;
        if (!is_sound(o) || !strcmp(o->arm, "default") || !is_same_path(o, x, nsc_say(c->m, x->link->via)) ||
            (x->run[1] && !is_better_size(o->bytes.v, x->run[1]->bytes.v)) || !(base = default_run(facts, o)))
            continue;
        x->run[0] = base;
        x->run[1] = o;
    }
}

/* ---- what NCCL tried itself ---- */

/* Does the line name this pair, in either direction: "srcRank=0 ... dstRank=1"? */
static bool names_pair(nsc_text line, uint64_t a, uint64_t b)
{
    static const char source[] = "srcRank=", target[] = "dstRank=";
    ptrdiff_t from = nsc_text_find(line, source), to = nsc_text_find(line, target);
    unsigned long long x, y;
    char number[2][24];
    if (from < 0 || to < 0)
        return false;
    nsc_text one = nsc_text_from(line, (size_t)from + sizeof source - 1),
             other = nsc_text_from(line, (size_t)to + sizeof target - 1);
    snprintf(number[0], sizeof number[0], "%.*s", (int)(one.len < 20 ? one.len : 20), one.ptr);
    snprintf(number[1], sizeof number[1], "%.*s", (int)(other.len < 20 ? other.len : 20), other.ptr);
    return sscanf(number[0], "%llu", &x) == 1 && sscanf(number[1], "%llu", &y) == 1 &&
           ((x == a && y == b) || (x == b && y == a));
}

/* "[OK] p2p: verified P2P access in both directions between every GPU pair" and the records of what was tried between these two;
 * "[INFO] p2p: write mismatch srcRank=0 ... dstRank=1 ..." of them alone. */
static void find_diagnosis(const struct nsc_case *c, struct nsc_confirmed *x)
{
    const struct ncclscope_model *m = c->m;
    bool tried = false;
    for (size_t i = 0; i < m->diag_pairs.len && x->comm != NSC_NONE; i++) {
        const struct nsc_diag_pair *d = &m->diag_pairs.item[i];
        bool these = ((uint64_t)d->src == x->a && (uint64_t)d->dst == x->b) ||
                     ((uint64_t)d->src == x->b && (uint64_t)d->dst == x->a);
        const struct nsc_rank *r = these ? nsc_member(m, x->comm, d->src) : NULL;
        if (!r || r->proc != d->proc)
            continue;
        tried = true;
        x->diagnosed_path = d->link;
    }
    for (size_t i = 0; i < m->diags.len && tried; i++) {
        const struct nsc_diag *d = &m->diags.item[i];
        if (!nsc_text_is(nsc_say(m, d->check), "p2p"))
            continue;
        bool verified = nsc_text_is(nsc_say(m, d->status), "OK") && nsc_text_find(nsc_say(m, d->text), "verified") >= 0;
        bool failed = names_pair(d->where.text, x->a, x->b) && (nsc_text_find(nsc_say(m, d->text), "mismatch") >= 0 ||
                                                                nsc_text_find(nsc_say(m, d->text), "failed") >= 0);
        if (!failed && (!verified || x->diagnosed == NSC_DIAGNOSED_BAD))
            continue;
        x->diagnosed = failed ? NSC_DIAGNOSED_BAD : NSC_DIAGNOSED_GOOD;
        x->diagnosed_at = &d->where;
    }
}

/* NCCL's diagnostics against the driver here, whatever the job then used; NULL: they agree, or one of them says nothing. */
static const char *diagnosis_differs(struct nsc_case *c, struct nsc_confirmed *x, const char *no)
{
    const char *words = NULL;
    if (x->diagnosed == NSC_DIAGNOSED_GOOD && no)
        words = nsc_words(c, "NCCL's own diagnostics wrote and read through P2P between these GPUs, and %s", no);
    if (x->diagnosed == NSC_DIAGNOSED_BAD && x->p2p > 0)
        words = "NCCL's own diagnostics found P2P broken between these GPUs, and the driver here offers it";
    x->line = words ? x->diagnosed_at : x->line;
    return words;
}

/* ---- the verdict ---- */

/* The log is of this machine in another state, or of another one. */
static const char *is_stale(struct nsc_case *c, const struct nsc_confirmed *x)
{
    const struct ncclscope_model *m = c->m;
    uint32_t proc = x->link->proc;
    if (m->fit == NSC_FIT_FOREIGN)
        return "none of the log's GPUs (bus ids) is on this machine";
    if (!nsc_has_other_driver(m, proc))
        return NULL;
    uint64_t log = m->procs.item[proc].driver;
    const struct nsc_fact *here = &m->facts->node.cuda_driver;
    return nsc_words(
        c,
        "the log was written under CUDA driver %llu.%llu, and here it is %lld.%lld: another machine, one that "
        "was updated since, or a compatibility library in the job's image",
        (unsigned long long)log / 1000, (unsigned long long)log % 1000 / 10, (long long)here->v / 1000,
        (long long)here->v % 1000 / 10);
}

/* The class that lines of the log give the pair, against the machine's: NVLink on one side alone cannot be. */
static const char *class_differs(struct nsc_case *c, struct nsc_confirmed *x)
{
    const struct nsc_where *line = NULL;
    nsc_str told = nsc_told_class(c->m, x->link, !nsc_is_diverted(c->m, x->link), &line);
    enum nsc_level level = told ? nsc_level_of(nsc_say(c->m, told)) : NSC_LEVEL_UNKNOWN;
    bool pcie = level >= NSC_LEVEL_PIX && level <= NSC_LEVEL_SYS && level != NSC_LEVEL_P2C && level != NSC_LEVEL_PXN;
    bool nvlink = level == NSC_LEVEL_NVL || (!told && nsc_nvlink_is_proven(c->m, x->link, &line));
    x->line = line;
    if (!x->offered || (!nvlink && !pcie) || nvlink == offers_nvlink(x))
        return NULL;
    return nvlink ? nsc_words(c, "the log shows NVLink between these GPUs, the driver here does not (%s)", x->offered)
                  : nsc_words(c, "the log shows PCIe between these GPUs (%s), the driver here shows NVLink (%s)",
                              nsc_say(c->m, told).ptr, x->offered);
}

/* P2P in a mode that NCCL would not take by itself: in words, or NULL. It pulls between GPUs of compute capability 8.0 over NVLink, and
 * pushes everywhere else. */
static const char *odd_mode(struct nsc_case *c, struct nsc_confirmed *x)
{
    const struct nsc_fact_gpu *g = x->gpu[0], *h = x->gpu[1];
    uint32_t proc = x->link->proc;
    bool known = g->cc_major.known && h->cc_major.known;
    bool pulls = known && g->cc_major.v == 8 && g->cc_minor.v == 0 && h->cc_major.v == 8 && h->cc_minor.v == 0 &&
                 offers_nvlink(x);
    const struct nsc_env *set = proc == NSC_NONE ? NULL : nsc_env_of(c->m, proc, "NCCL_P2P_READ_ENABLE");
    x->line = set ? &set->where : NULL;
    if (x->link->copy_engine)
        return "P2P by copy engine (NCCL_P2P_USE_CUDA_MEMCPY=1), which NCCL does not take by itself";
    if (x->link->read && known && !pulls)
        return set ? nsc_words(
                         c,
                         "P2P that pulls (NCCL_P2P_READ_ENABLE=%s), where NCCL by itself pushes: raw copies are as "
                         "fast in either direction, collectives are not",
                         nsc_say(c->m, set->value).ptr)
                   : "P2P that pulls, where NCCL by itself pushes: NCCL_P2P_READ_ENABLE=1, though this log does not "
                     "show it";
    if (!x->link->read && pulls)
        return set ? nsc_words(c, "P2P that pushes (NCCL_P2P_READ_ENABLE=%s), where NCCL by itself pulls",
                               nsc_say(c->m, set->value).ptr)
                   : "P2P that pushes, where NCCL by itself pulls: NCCL_P2P_READ_ENABLE=0, though this log does not "
                     "show it";
    return NULL;
}

static enum nsc_confirmation judge_p2p(struct nsc_case *c, struct nsc_confirmed *x, const char *no)
{
    const char *mode;
    bool indirect = x->link->row == NSC_VIA_P2P_INDIRECT; /* the two need no direct way, each has one to the third */
    if (indirect && (no || !offers_nvlink(x)))
        return is(x, NSC_AS_GOOD, "P2P through a third GPU: the two have no NVLink of their own");
    if (indirect)
        return is(x, NSC_SLOWER, "P2P through a third GPU, though the driver here shows NVLink between the two");
    if (no)
        return is(x, NSC_CONTRADICTED, nsc_words(c, "the log shows P2P, and %s", no));
    if (is_data_wrong(c->m->facts, x))
        return is(x, NSC_CANNOT_TELL, "P2P is used and offered, but data arrived changed when it was measured");
    if (x->p2p < 0 && x->diagnosed != NSC_DIAGNOSED_GOOD)
        return is(x, NSC_CANNOT_TELL, not_asked);
    if ((mode = odd_mode(c, x)))
        return is(x, NSC_SLOWER, mode);
    x->line = NULL;
    bool set = x->link->proc != NSC_NONE && nsc_env_of(c->m, x->link->proc, "NCCL_P2P_READ_ENABLE");
    if ((x->link->read || set) && !(x->gpu[0]->cc_major.known && x->gpu[1]->cc_major.known))
        return is(x, NSC_CANNOT_TELL,
                  "whether P2P pulls or pushes by itself depends on the compute capability, which is not known");
    if (!x->offered)
        return is(x, NSC_CANNOT_TELL, "P2P is used and offered, but the driver here did not say what joins these GPUs");
    return is(x, NSC_AS_GOOD, nsc_words(c, "P2P, over the best that joins them (%s)", x->offered));
}

/* The next best without P2P is host memory. */
static enum nsc_confirmation judge_without_p2p(struct nsc_case *c, struct nsc_confirmed *x, const char *no,
                                               const struct nsc_expected *e)
{
    char words[400];
    const struct nsc_env *shm =
        x->link->proc == NSC_NONE ? NULL : nsc_env_is(c->m, x->link->proc, "NCCL_SHM_DISABLE", "1");
    bool broken = offers_nvlink(x) && (fabric_fault(c, x->gpu[0]) || fabric_fault(c, x->gpu[1]));
    if (x->link->family == NSC_SHM) /* a fabric that is not ready is a fault, and no property of the hardware */
        return is(x, broken ? NSC_FALLBACK : NSC_AS_GOOD, nsc_words(c, "host memory, as %s", no));
    if (e->because == NSC_BY_NIC) {
        nsc_expected_words(c->m, e, words, sizeof words);
        return is(x, NSC_AS_GOOD, nsc_words(c, "%s", words));
    }
    x->configured = shm != NULL;
    x->line = shm ? &shm->where : NULL;
    return is(x, NSC_FALLBACK,
              nsc_words(c, "the network inside the machine: P2P is not available (%s), and host memory %s", no,
                        shm ? "is forbidden by NCCL_SHM_DISABLE=1" : "is not used"));
}

static enum nsc_confirmation judge_other(struct nsc_case *c, struct nsc_confirmed *x, const char *no)
{
    const struct nsc_expected e = nsc_judged_of(c->f, x->link)->e;
    enum nsc_judgement j = nsc_judged_of(c->f, x->link)->is;
    char words[400];
    nsc_expected_words(c->m, &e, words, sizeof words);
    if (j == NSC_NOT_JUDGED && c->m->fit == NSC_FIT_DISTINCT)
        return is(
            x, NSC_CANNOT_TELL,
            "if the hosts of these ranks are containers of this machine, this is a fallback; whether they are, the log "
            "does not tell (--pod with `kubectl get pod -o json` does)");
    if (j == NSC_NOT_JUDGED && x->link->family == NSC_NET) /* whatever P2P is: host memory at least would be taken */
        return is(x, NSC_FALLBACK, "NCCL takes the hosts (containers) of these ranks for different nodes");
    if (no)
        return judge_without_p2p(c, x, no, &e);
    if (x->p2p < 0)
        return is(x, NSC_CANNOT_TELL, not_asked);
    if (j == NSC_REFUSED) {
        x->line = e.line;
        return is(x, NSC_CONTRADICTED, "the log says that the driver or CUDA refused P2P, and it is granted here");
    }
    if (j == NSC_BY_DESIGN)
        return is(x, NSC_AS_GOOD, nsc_words(c, "%s", words));
    x->configured = j == NSC_CONFIGURED;
    x->line = e.env ? &e.env->where : NULL;
    if (x->configured)
        return is(x, NSC_FALLBACK, nsc_words(c, "%s", words));
    if (j == NSC_FAULTY || offers_nvlink(x))
        return is(x, NSC_FALLBACK, "P2P is offered, and nothing in the log says why it was not taken");
    return is(x, NSC_CANNOT_TELL,
              nsc_words(c, "%s; whether NCCL takes P2P there depends on its release and the CPU", words));
}

static enum nsc_confirmation judge(struct nsc_case *c, struct nsc_confirmed *x)
{
    static const char *const confidences[] = {"possible", "certain",  "possible", "likely",
                                              "likely",   "possible", "possible", "likely"};
    const char *why = is_stale(c, x), *no;
    x->p2p = -1;
    x->confidence = why ? "likely" : x->link->attribution <= NSC_AMBIGUOUS ? "possible" : confidences[c->m->fit];
    if (x->comm == NSC_NONE)
        return is(x, NSC_CANNOT_TELL,
                  "no line of the log names the communicator of these connections, so their GPUs are unknown too");
    if (why)
        return is(x, NSC_STALE, why);
    if (!x->gpu[0] || !x->gpu[1])
        return is(x, NSC_CANNOT_TELL,
                  c->m->fit == NSC_FIT_NONE
                      ? nsc_fit_words(NSC_FIT_NONE)
                      : "the GPU of a rank is not among those that the probe saw, or not named in "
                        "the log");
    if (x->gpu[0] == x->gpu[1])
        return is(x, NSC_AS_GOOD, "both ranks are on one GPU");
    no = find_offer(c, x);
    x->mb_s[0] = slower_way(c->m->facts, x, "ce-write");
    x->mb_s[1] = slower_way(c->m->facts, x, "shm");
    find_runs(c, x);
    if ((why = class_differs(c, x)))
        return is(x, NSC_CONTRADICTED, why);
    x->line = NULL;
    if ((why = diagnosis_differs(c, x, no)))
        return is(x, NSC_CONTRADICTED, why);
    return x->link->family == NSC_P2P ? judge_p2p(c, x, no) : judge_other(c, x, no);
}

static void settle(struct nsc_case *c, struct nsc_confirmed *x)
{
    if (judge(c, x) == NSC_CANNOT_TELL)
        x->confidence = NULL;
}

/* ---- all pairs ---- */

static struct nsc_confirmed *pair_of(struct nsc_case *c, struct nsc_map *seen, const struct nsc_link *l, uint32_t comm)
{
    uint64_t a = l->src < l->dst ? l->src : l->dst, b = l->src < l->dst ? l->dst : l->src;
    struct nsc_key key = {comm, a, b};
    uint32_t at = nsc_map_get(seen, key);
    if (at != NSC_NONE)
        return &c->f->confirmed.item[at];
    if (nsc_map_put(seen, key, (uint32_t)c->f->confirmed.len))
        return NULL;
    struct nsc_confirmed *x = nsc_vec_push(&c->f->confirmed);
    if (!x)
        return NULL;
    x->comm = comm;
    x->a = a;
    x->b = b;
    return x;
}

/* Of a pair's connections the worst is told: by path, and of P2P by mode. */
static int badness(const struct nsc_link *l, enum nsc_path path)
{
    return (int)path * 4 + (l->copy_engine ? 3 : l->row == NSC_VIA_P2P_INDIRECT ? 2 : l->read ? 1 : 0);
}

/* No line tells its communicator, so nor whose GPUs they are. Such connections are told, lest what is known of others stand for all. */
static void add_unowned(struct nsc_case *c, struct nsc_map *seen, const struct nsc_link *l)
{
    struct nsc_confirmed *x = l->family == NSC_SHM || l->family == NSC_P2P ? pair_of(c, seen, l, NSC_NONE) : NULL;
    c->f->peers_missing = c->f->peers_missing || l->family == NSC_NET;
    struct nsc_known_path p = l->known;
    if (!x || x->link)
        return;
    x->link = l;
    x->path = p.path;
}

static void add_link(struct nsc_case *c, struct nsc_map *seen, const struct nsc_link *l)
{
    const struct ncclscope_model *m = c->m;
    uint32_t comm = nsc_comm_of(m, l);
    const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst);
    const struct nsc_fact_gpu *ga = a ? nsc_gpu_facts_of(m, a) : NULL, *gb = b ? nsc_gpu_facts_of(m, b) : NULL;
    struct nsc_known_path p = l->known;
    bool inside = p.scope == NSC_SCOPE_NODE || (ga && gb);
    c->f->peers_missing = c->f->peers_missing || (!inside && (!a || !b));
    if (comm == NSC_NONE) {
        add_unowned(c, seen, l);
        return;
    }
    if (l->family == NSC_COLLNET || l->src == l->dst || !inside || (a && nsc_is_elsewhere(m, a)) ||
        (b && nsc_is_elsewhere(m, b)))
        return;
    struct nsc_confirmed *x = pair_of(c, seen, l, comm);
    if (!x || (x->link && badness(x->link, x->path) >= badness(l, p.path)))
        return;
    x->link = l;
    x->path = p.path;
    x->gpu[0] = l->src < l->dst ? ga : gb;
    x->gpu[1] = l->src < l->dst ? gb : ga;
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

bool nsc_is_alike(const struct nsc_confirmed *a, const struct nsc_confirmed *b)
{
    return a->is == b->is && a->path == b->path && a->diagnosed == b->diagnosed && a->p2p == b->p2p &&
           a->run[1] == b->run[1] && !strcmp(a->why, b->why) && is_same(a->offered, b->offered) &&
           is_same(a->confidence, b->confidence);
}

void nsc_confirm(struct nsc_case *c)
{
    struct nsc_map seen = {0};
    if (c->f->has_confirmed)
        return;
    c->f->has_confirmed = true;
    for (size_t i = 0; i < c->m->link_order.len; i++)
        add_link(c, &seen, &c->m->links.item[c->m->link_order.item[i]]);
    for (size_t i = 0; i < c->f->confirmed.len; i++)
        find_diagnosis(c, &c->f->confirmed.item[i]);
    for (size_t i = 0; i < c->f->confirmed.len; i++)
        settle(c, &c->f->confirmed.item[i]);
    nsc_map_free(&seen);
}
