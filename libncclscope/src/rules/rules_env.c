/* rules_env.c - variables that change the path. */
#include "rules/expect.h"
#include "rules/ask.h"

/* One finding for all processes in which `is` says that the variable matters; NULL if there is none. */
static struct nsc_finding *
env_finding(struct nsc_case *c, bool (*is)(const struct ncclscope_model *m, const struct nsc_env *e), int severity)
{
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < c->m->env.len; i++) {
        const struct nsc_env *e = &c->m->env.item[i];
        if (!is(c->m, e))
            continue;
        f = f ? f : nsc_found(c, severity, "configuration", "certain");
        f->confidence = e->by_pod ? "likely" : f->confidence;
        f->count++;
        nsc_name_host(c, f, c->m->procs.item[e->proc].host);
        if (nsc_rank_of_process(c->m, e->proc) >= 0)
            nsc_name_rank(c, f, (uint64_t)nsc_rank_of_process(c->m, e->proc));
        nsc_show(c, f, &e->where);
    }
    return f;
}

/* "8 processes", "4 of 8 processes: ranks 0-3": who has set it, of those that would show it. */
static const char *set_by(struct nsc_case *c, const struct nsc_finding *f)
{
    const struct ncclscope_model *m = c->m;
    uint64_t all = 0;
    if (!m->proc_order.len)
        return "in lines without their header";
    for (size_t i = 0; i < m->proc_order.len; i++)
        all +=
            nsc_env_is_visible(m, m->proc_order.item[i]) && m->procs.item[m->proc_order.item[i]].last_rank != NSC_NONE;
    if (m->repeated) /* Ray shows one of several equal lines */
        return nsc_words(c, "%llu process%s or more", (unsigned long long)f->count, f->count == 1 ? "" : "es");
    if (f->count >= all || !f->ranks.len)
        return nsc_words(c, "%llu process%s", (unsigned long long)f->count, f->count == 1 ? "" : "es");
    return nsc_words(c, "%llu of %llu processes: %s", (unsigned long long)f->count, (unsigned long long)all,
                     nsc_list_ranks(c, f));
}

static bool is_var(const struct ncclscope_model *m, const struct nsc_env *e, const char *name, const char *value)
{
    return nsc_text_is(nsc_say(m, e->name), name) && (!value || nsc_text_is(nsc_say(m, e->value), value));
}

static bool disables_p2p(const struct ncclscope_model *m, const struct nsc_env *e)
{
    return is_var(m, e, "NCCL_P2P_DISABLE", "1") || is_var(m, e, "NCCL_P2P_LEVEL", "LOC");
}

/* Does the log show that it costs nothing: that no pair of a node would use P2P without it, in the processes that have it? `level` is set to the class of a pair that it costs. */
static bool costs_nothing(const struct nsc_case *c, enum nsc_level *level)
{
    const struct ncclscope_model *m = c->m;
    size_t pairs = 0;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        const struct nsc_judged *x = nsc_judged_of(c->f, l);
        bool has_it = l->proc != NSC_NONE && nsc_p2p_disabled(m, l->proc);
        enum nsc_judgement j = has_it ? x->is : NSC_NOT_JUDGED;
        if (j != NSC_NOT_JUDGED && j != NSC_BY_DESIGN) {
            *level = x->e.level;
            return false;
        }
        pairs += j == NSC_BY_DESIGN;
    }
    bool alone = m->comms.len > 0; /* one rank of each communicator on each host: no pair of a node at all */
    for (size_t i = 0; i < m->ranks.len; i++)
        alone =
            alone &&
            ((m->ranks.item[i].local_ranks == 1 && !nsc_env_is(m, m->ranks.item[i].proc, "NCCL_SHM_DISABLE", "1")) ||
             m->ranks.item[i].nranks == 1 || !nsc_p2p_disabled(m, m->ranks.item[i].proc));
    for (size_t i = 1; i < m->proc_order.len; i++) { /* in the order of hosts */
        uint32_t one = m->proc_order.item[i - 1], other = m->proc_order.item[i];
        bool together = m->procs.item[one].host == m->procs.item[other].host;
        alone = alone && !(together && (nsc_p2p_disabled(m, one) || nsc_p2p_disabled(m, other)));
    }
    return pairs || alone;
}

/* Do all connections within a node of the processes that have it use P2P? Between ranks of one GPU it forbids nothing. */
static bool has_no_effect(const struct ncclscope_model *m)
{
    size_t used = 0;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->proc == NSC_NONE || !nsc_p2p_disabled(m, l->proc))
            continue;
        struct nsc_known_path p = l->known;
        if (l->family != NSC_P2P && p.scope == NSC_SCOPE_NODE)
            return false;
        used += l->family == NSC_P2P;
    }
    return used;
}

/* "$ NCCL_P2P_DISABLE=1 ./all_reduce_perf": up to 2.22.3 NCCL prints it as NCCL_P2P_LEVEL=LOC. */
static const struct nsc_own_record *command_that_disables(const struct ncclscope_model *m)
{
    const struct nsc_own_record *r = nsc_first_heard(m, NCCLSCOPE_KIND_COMMAND);
    for (; r && r < m->happened.item + m->happened.len; r++)
        if (r->number == NCCLSCOPE_KIND_COMMAND && nsc_text_find(r->where.text, "NCCL_P2P_DISABLE=1") >= 0 &&
            nsc_text_find(r->where.text, "NCCL_P2P_LEVEL") < 0)
            return r;
    return NULL;
}

void nsc_rule_env_p2p_disabled(struct nsc_case *c)
{
    enum nsc_level level = NSC_LEVEL_UNKNOWN;
    bool unheard = has_no_effect(c->m), nothing = unheard || costs_nothing(c, &level);
    struct nsc_finding *f =
        env_finding(c, disables_p2p, nothing ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING);
    if (!f)
        return;
    const struct nsc_env *e = nsc_p2p_disabled(c->m, NSC_NONE);
    bool by_level = is_var(c->m, e, "NCCL_P2P_LEVEL", NULL);
    const struct nsc_own_record *command = by_level ? command_that_disables(c->m) : NULL;
    const char *what = nsc_words(c, "%s=%s", nsc_say(c->m, e->name).ptr, nsc_say(c->m, e->value).ptr);
    what = command ? nsc_words(c, "NCCL_P2P_DISABLE=1 (by the command, %s; NCCL prints it as %s)",
                               nsc_line_in(c, &command->where), what)
                   : what;
    f->title = nsc_words(c, "%s is set (%s): %s", what, set_by(c, f),
                         unheard ? "P2P is used anyway" : "no direct GPU to GPU transfer");
    if (command)
        nsc_show_first(c, f, &command->where);
    nsc_explain_by(c, f,
                   unheard         ? NSC_P2P_OFF_UNHEARD
                   : nothing       ? NSC_P2P_OFF_FREE
                   : by_level      ? NSC_P2P_OFF_LOC
                   : e->by_command ? NSC_P2P_OFF_COMMAND
                   : e->by_pod     ? NSC_P2P_OFF_POD
                                   : NSC_P2P_OFF_SET);
    if (!nothing)
        nsc_set_cost_of_level(c, f, NSC_COST_SHM, NSC_COST_P2P, e->proc, level);
}

static bool disables_shm(const struct ncclscope_model *m, const struct nsc_env *e)
{
    return is_var(m, e, "NCCL_SHM_DISABLE", "1");
}

/* Does a pair of a node, of processes that have it, talk over the network? */
static bool shm_is_missed(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p = l->known;
        if (nsc_may_be_within_node(m, l))
            return true;
        if (l->family == NSC_NET && p.scope == NSC_SCOPE_NODE && l->proc != NSC_NONE &&
            nsc_env_is(m, l->proc, "NCCL_SHM_DISABLE", "1"))
            return true;
    }
    return false;
}

void nsc_rule_env_shm_disabled(struct nsc_case *c)
{
    bool costs = shm_is_missed(c->m);
    struct nsc_finding *f = env_finding(c, disables_shm, costs ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_NOTE);
    if (!f)
        return;
    f->title = nsc_words(c, "NCCL_SHM_DISABLE=1 is set (%s): no shared memory between ranks of a node", set_by(c, f));
    nsc_explain_by(c, f, costs ? NSC_SHM_OFF_COSTS : c->m->link_order.len ? NSC_SHM_OFF_FREE : NSC_SHM_OFF_UNSEEN);
    const struct nsc_env *e = nsc_env_is(c->m, NSC_NONE, "NCCL_SHM_DISABLE", "1");
    if (costs && e)
        nsc_set_cost(c, f, NSC_COST_LOOPBACK, NSC_COST_P2P, e->proc);
}

static bool sets_level(const struct ncclscope_model *m, const struct nsc_env *e)
{
    return is_var(m, e, "NCCL_P2P_LEVEL", NULL) && !is_var(m, e, "NCCL_P2P_LEVEL", "LOC");
}

/* What the level does to the pairs of a node: takes P2P from some; or gives it to some that are farther apart than NCCL's own level. */
static void judge_level(const struct nsc_case *c, bool *takes, bool *gives)
{
    const struct ncclscope_model *m = c->m;
    *takes = *gives = false;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        const struct nsc_judged *x = nsc_judged_of(c->f, l);
        if (x->is != NSC_CONFIGURED || x->e.because == NSC_BY_DISABLE)
            continue;
        *gives = *gives || l->family == NSC_P2P;
        *takes = *takes || l->family != NSC_P2P;
    }
}

void nsc_rule_env_p2p_level(struct nsc_case *c)
{
    bool limits = nsc_p2p_limited(c->m, NSC_NONE), takes, gives;
    const struct nsc_env *e = nsc_env_of(c->m, NSC_NONE, "NCCL_P2P_LEVEL");
    if (!e)
        return;
    judge_level(c, &takes, &gives);
    struct nsc_finding *f =
        env_finding(c, sets_level, limits && takes ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_NOTE);
    if (!f)
        return;
    f->title = nsc_words(c, "NCCL_P2P_LEVEL=%s is set (%s)", nsc_say(c->m, e->value).ptr, set_by(c, f));
    nsc_explain_by(c, f,
                   limits && takes ? NSC_LEVEL_TAKES
                   : gives         ? NSC_LEVEL_GIVES
                   : limits        ? NSC_LEVEL_FREE
                                   : NSC_LEVEL_WIDEST);
}

static bool disables_nvls(const struct ncclscope_model *m, const struct nsc_env *e)
{
    return is_var(m, e, "NCCL_NVLS_ENABLE", "0");
}

void nsc_rule_env_nvls_disabled(struct nsc_case *c)
{
    struct nsc_finding *f = env_finding(c, disables_nvls, NCCLSCOPE_SEVERITY_NOTE);
    if (!f)
        return;
    f->title = nsc_words(c, "NCCL_NVLS_ENABLE=0 (%llu process%s): often a deliberate choice",
                         (unsigned long long)f->count, f->count == 1 ? "" : "es");
    nsc_explain_by(c, f, 0);
}
