/* confirm.c - one verdict for each pair of ranks that the log connects inside the machine: state and data decide, bandwidth confirms. */
#include "rules/confirm.h"

#include "probe/measured.h"
#include "rules/expect.h"

#include <stdio.h>

const char *nsc_confirmation_name(enum nsc_confirmation is)
{
    static const char *const names[] = {"contradiction", "confirmed-fallback", "slower-mode",
                                        "stale-log",     "cannot-tell",        "as-good-as-the-hardware-allows"};
    return names[is];
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

static enum nsc_confirmation is(struct nsc_confirmed *x, enum nsc_confirmation verdict, const char *why)
{
    x->why = why;
    return x->is = verdict;
}

/* ---- what the machine offers ---- */

/* Why the NVLink fabric of a GPU carries nothing; NULL: it is ready, has none, or that is not known. */
static const char *fabric_fault(struct nsc_case *c, const struct nsc_gpu_facts *g)
{
    bool done = g->fabric_state && !strcmp(g->fabric_state, "completed");
    if (!g->fabric_state || !strcmp(g->fabric_state, "not-supported") ||
        (done && !(g->fabric_status.known && g->fabric_status.v)))
        return NULL;
    return done ? "the NVLink fabric was set up with an error"
                : nsc_words(c, "the NVLink fabric is not ready (%s)", g->fabric_state);
}

/* One direction: NULL if P2P is offered or not known (`known` tells), else who refuses it. */
static const char *refused(struct nsc_case *c, const struct nsc_pair_facts *p, bool *known)
{
    *known = *known && p && p->p2p_read && p->p2p_write;
    if (p && p->p2p_read && strcmp(p->p2p_read, "OK") != 0)
        return nsc_words(c, "the driver refuses P2P here (reading: %s)", p->p2p_read);
    if (p && p->p2p_write && strcmp(p->p2p_write, "OK") != 0)
        return nsc_words(c, "the driver refuses P2P here (writing: %s)", p->p2p_write);
    return p && p->can_access.known && !p->can_access.v ? "CUDA refuses P2P here" : NULL;
}

static const char *find_offer(struct nsc_case *c, struct nsc_confirmed *x)
{
    const struct ncclscope_facts *facts = c->m->facts;
    int64_t a = x->gpu[0]->index.v, b = x->gpu[1]->index.v;
    const struct nsc_pair_facts *there = nsc_pair_at(facts, a, b), *back = nsc_pair_at(facts, b, a);
    bool known = true;
    const char *no = refused(c, there, &known), *other = refused(c, back, &known);
    no = no ? no : other;
    x->offered = there ? there->path : NULL;
    for (int i = 0; i < 2 && !no && there && there->nvlinks.v > 0; i++)
        no = fabric_fault(c, x->gpu[i]);
    x->p2p = no ? 0 : known ? 1 : -1;
    return no;
}

static bool offers_nvlink(const struct nsc_confirmed *x)
{
    return x->offered && nsc_class_is_nvlink(nsc_text_of(x->offered));
}

/* ---- what was measured ---- */

static int64_t slower_way(const struct ncclscope_facts *facts, const struct nsc_confirmed *x, const char *method)
{
    int64_t a = x->gpu[0]->index.v, b = x->gpu[1]->index.v;
    const struct nsc_measured *there = nsc_measured_at(facts, a, b, method),
                              *back = nsc_measured_at(facts, b, a, method);
    if (!there || !back)
        return there ? there->mb_s.v : back ? back->mb_s.v : 0;
    return there->mb_s.v < back->mb_s.v ? there->mb_s.v : back->mb_s.v;
}

static bool is_data_wrong(const struct ncclscope_facts *facts, const struct nsc_confirmed *x)
{
    int64_t a = x->gpu[0]->index.v, b = x->gpu[1]->index.v;
    for (size_t i = 0; i < facts->measured.len; i++) {
        const struct nsc_measured *o = &facts->measured.item[i];
        bool own = (o->from.v == a && o->to.v == b) || (o->from.v == b && o->to.v == a);
        if (own && o->wrong_words.v > 0 && strcmp(o->method, "shm") != 0)
            return true;
    }
    return false;
}

/* Does a run of NCCL here have the path of the log: the same transport in the same mode? */
static bool is_same_path(const struct nsc_collective *o, const struct nsc_confirmed *x, nsc_text via)
{
    bool p2p = x->link->family == NSC_P2P;
    return o->path && o->via && (p2p ? nsc_text_is(via, o->via) : !strcmp(o->path, nsc_path_name(x->path)));
}

/* The largest all-reduce that both runs have: NCCL by itself, and as the log has it. */
static void find_runs(const struct nsc_case *c, struct nsc_confirmed *x)
{
    const struct ncclscope_facts *facts = c->m->facts;
    int64_t most = 0;
    for (size_t i = 0; i < facts->collectives.len; i++)
        for (size_t k = 0; k < facts->collectives.len; k++) {
            const struct nsc_collective *a = &facts->collectives.item[i], *b = &facts->collectives.item[k];
            if (strcmp(a->arm, "default") != 0 || !strcmp(b->arm, "default") ||
                strcmp(a->operation, "all-reduce") != 0 || strcmp(b->operation, "all-reduce") != 0 ||
                a->bytes.v != b->bytes.v || a->bytes.v <= most || a->mb_s.v <= 0 || b->mb_s.v <= 0 ||
                !is_same_path(b, x, nsc_say(c->m, x->link->via)))
                continue;
            most = a->bytes.v;
            x->run[0] = a;
            x->run[1] = b;
        }
}

/* ---- the verdict ---- */

/* The log is of this machine in another state, or of another one. */
static const char *is_stale(struct nsc_case *c, const struct nsc_confirmed *x)
{
    const struct ncclscope_model *m = c->m;
    uint64_t log = x->link->proc == NSC_NONE ? 0 : m->procs.item[x->link->proc].driver;
    const struct nsc_fact *here = &m->facts->node.cuda_driver;
    if (m->fit == NSC_FIT_FOREIGN)
        return "none of the log's GPUs (bus ids) is on this machine";
    if (!log || !here->known || (uint64_t)here->v == log)
        return NULL;
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
    return nvlink
               ? nsc_words(c, "the log has these GPUs joined by NVLink, and the driver here does not (%s)", x->offered)
               : nsc_words(c, "the log has these GPUs joined by PCIe (%s), and the driver here by NVLink (%s)",
                           nsc_say(c->m, told).ptr, x->offered);
}

/* P2P in a mode that NCCL would not take by itself: in words, or NULL. */
static const char *odd_mode(struct nsc_case *c, struct nsc_confirmed *x)
{
    const struct nsc_gpu_facts *g = x->gpu[0];
    uint32_t proc = x->link->proc;
    bool ampere = g->cc_major.known && g->cc_major.v == 8 && g->cc_minor.v == 0;
    const struct nsc_env *set = proc == NSC_NONE ? NULL : nsc_env_of(c->m, proc, "NCCL_P2P_READ_ENABLE");
    x->line = set ? &set->where : NULL;
    if (x->link->copy_engine)
        return "P2P by copy engine (NCCL_P2P_USE_CUDA_MEMCPY=1), which NCCL does not take by itself";
    if (x->link->read && g->cc_major.known && !ampere)
        return set ? "P2P that pulls (NCCL_P2P_READ_ENABLE=1), where NCCL by itself pushes: raw copies are as fast in "
                     "either direction, collectives are not"
                   : "P2P that pulls, where NCCL by itself pushes: NCCL_P2P_READ_ENABLE=1, though this log does not "
                     "show it";
    return NULL;
}

static enum nsc_confirmation judge_p2p(struct nsc_case *c, struct nsc_confirmed *x, const char *no)
{
    const char *mode;
    if (no)
        return is(x, NSC_CONTRADICTED, nsc_words(c, "the log shows P2P, and %s", no));
    if (is_data_wrong(c->m->facts, x))
        return is(x, NSC_CANNOT_TELL, "P2P is used and offered, but data arrived changed when it was measured");
    if (x->p2p < 0)
        return is(x, NSC_CANNOT_TELL, "the driver here was not asked for P2P between these GPUs, or did not say");
    if ((mode = odd_mode(c, x)))
        return is(x, NSC_SLOWER, mode);
    x->line = NULL;
    if (x->link->row == NSC_VIA_P2P_INDIRECT)
        return is(x, offers_nvlink(x) ? NSC_SLOWER : NSC_AS_GOOD,
                  offers_nvlink(x) ? "P2P through a third GPU, though the driver here shows NVLink between the two"
                                   : "P2P through a third GPU: the two have no NVLink of their own");
    return is(x, NSC_AS_GOOD,
              nsc_words(c, "P2P, over the best that joins them (%s)", x->offered ? x->offered : "not known"));
}

/* The next best without P2P is host memory. */
static enum nsc_confirmation judge_without_p2p(struct nsc_case *c, struct nsc_confirmed *x, const char *no,
                                               const struct nsc_expected *e)
{
    char words[400];
    if (x->link->family == NSC_SHM)
        return is(x, NSC_AS_GOOD, nsc_words(c, "host memory, as %s", no));
    if (e->because == NSC_BY_NIC) {
        nsc_expected_words(c->m, e, words, sizeof words);
        return is(x, NSC_AS_GOOD, nsc_words(c, "%s", words));
    }
    return is(x, NSC_FALLBACK,
              nsc_words(c, "the network inside the machine: P2P is not to be had (%s), but host memory is", no));
}

static enum nsc_confirmation judge_other(struct nsc_case *c, struct nsc_confirmed *x, const char *no)
{
    struct nsc_expected e;
    enum nsc_judgement j = nsc_judge(c->m, x->link, &e);
    char words[400];
    nsc_expected_words(c->m, &e, words, sizeof words);
    if (no)
        return judge_without_p2p(c, x, no, &e);
    if (x->p2p < 0)
        return is(x, NSC_CANNOT_TELL, "the driver here was not asked for P2P between these GPUs, or did not say");
    if (j == NSC_REFUSED) {
        x->line = e.line;
        return is(x, NSC_CONTRADICTED, "the log says that the driver or CUDA refused P2P, and it is granted here");
    }
    if (j == NSC_BY_DESIGN)
        return is(x, NSC_AS_GOOD, nsc_words(c, "%s", words));
    enum nsc_level level = x->offered ? nsc_level_of(nsc_text_of(x->offered)) : NSC_LEVEL_UNKNOWN;
    x->configured = j == NSC_CONFIGURED;
    x->line = e.env ? &e.env->where : NULL;
    if (j == NSC_NOT_JUDGED && level <= NSC_LEVEL_PXB)
        return is(x, NSC_FALLBACK, "NCCL takes the hosts (containers) of these ranks for different nodes");
    if (j == NSC_CONFIGURED || j == NSC_FAULTY || level <= NSC_LEVEL_NVB)
        return is(x, NSC_FALLBACK,
                  j == NSC_CONFIGURED ? nsc_words(c, "%s", words)
                                      : "P2P is offered, and nothing in the log says why it was not taken");
    return is(x, NSC_CANNOT_TELL,
              nsc_words(c,
                        "whether NCCL takes P2P between GPUs that are %s apart depends on its release and the CPU: %s",
                        x->offered ? x->offered : "an unknown way", words));
}

static enum nsc_confirmation judge(struct nsc_case *c, struct nsc_confirmed *x)
{
    static const char *const confidences[] = {"possible", "certain",  "certain", "likely",
                                              "likely",   "possible", "likely"};
    const char *why = is_stale(c, x), *no;
    x->p2p = -1;
    x->confidence = why ? "likely" : x->link->attribution <= NSC_AMBIGUOUS ? "possible" : confidences[c->m->fit];
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
    struct nsc_confirmed *x = nsc_vec_push(&c->f->confirmed);
    if (!x || nsc_map_put(seen, key, (uint32_t)c->f->confirmed.len - 1)) {
        c->f->no_memory = true;
        return NULL;
    }
    x->comm = comm;
    x->a = a;
    x->b = b;
    return x;
}

static void add_link(struct nsc_case *c, struct nsc_map *seen, const struct nsc_link *l)
{
    const struct ncclscope_model *m = c->m;
    uint32_t comm = nsc_comm_of(m, l);
    const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst);
    const struct nsc_gpu_facts *ga = a ? nsc_gpu_facts_of(m, a) : NULL, *gb = b ? nsc_gpu_facts_of(m, b) : NULL;
    struct nsc_known_path p;
    nsc_path_of(m, l, &p);
    bool inside = p.scope == NSC_SCOPE_NODE || (ga && gb);
    c->f->peers_missing = c->f->peers_missing || (!inside && (!a || !b));
    if (comm == NSC_NONE || l->family == NSC_COLLNET || l->src == l->dst || !inside || (a && nsc_is_elsewhere(m, a)) ||
        (b && nsc_is_elsewhere(m, b)))
        return;
    struct nsc_confirmed *x = pair_of(c, seen, l, comm);
    if (!x || (x->link && x->path >= p.path))
        return;
    x->link = l;
    x->path = p.path;
    x->gpu[0] = l->src < l->dst ? ga : gb;
    x->gpu[1] = l->src < l->dst ? gb : ga;
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
        settle(c, &c->f->confirmed.item[i]);
    nsc_map_free(&seen);
}
