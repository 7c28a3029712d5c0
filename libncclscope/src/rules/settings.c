/* settings.c - variables that somebody set, by settings.def, and values that NCCL ignores. */
#include "read/changes.h"
#include "rules/ask.h"

enum costs { ALWAYS, NEVER, SOCKETS, STAGED, BINDS, PARTS, WIDENS };

struct setting {
    const char *name, *value;
    enum nsc_id key;
    enum costs costs;
    const char *cause;
};

static const struct setting settings[] = {
#define SETTING(name, value, id, costs, cause) {name, value, NSC_ID_##id, costs, cause},
#include "settings.def"
#undef SETTING
};

static bool fits(const struct setting *s, nsc_text value)
{
    bool but = s->value[0] == '!';
    if (!value.len) /* set to nothing: not set */
        return false;
    if (!strcmp(s->value, "+"))
        return value.ptr[0] != '^';
    return !s->value[0] || nsc_text_is(value, s->value + but) != but;
}

/* The row that this variable is judged by, under the id of the rule in hand. A plugin that sets one for itself knows why. */
static const struct setting *setting_of(const struct nsc_case *c, const struct nsc_env *e)
{
    for (size_t i = 0; !e->by_plugin && i < sizeof settings / sizeof settings[0]; i++)
        if (nsc_text_is(nsc_say(c->m, e->name), settings[i].name) && fits(&settings[i], nsc_say(c->m, e->value)))
            return settings[i].key == c->rule->key ? &settings[i] : NULL;
    return NULL;
}

/* What the links of each process show: a variable of one job costs nothing in another. */
enum { SEND, RECEIVE, DIRECTIONS };

struct shown {
    bool socket;                              /* to another node */
    const struct nsc_env *staged[DIRECTIONS]; /* keeps RDMA from GPUDirect */
};

static struct shown *look_at_links(const struct ncclscope_model *m)
{
    struct shown *by_proc = nsc_alloc((m->procs.len + 1) * sizeof *by_proc);
    for (size_t i = 0; by_proc && i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->proc == NSC_NONE)
            continue;
        struct shown *s = &by_proc[l->proc];
        const struct nsc_env **staged = &s->staged[l->direction == 2 ? RECEIVE : SEND];
        bool certain;
        s->socket = s->socket || nsc_is_socket(m, l, &certain);
        *staged = *staged ? *staged : nsc_staged_by(m, l);
    }
    return by_proc;
}

/* Has the host of this rank RDMA in software alone, and it is the only one there? Channels are not what limits it then. */
static bool is_bound_by_network(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    bool soft = false;
    for (size_t i = 0; r->local_ranks == 1 && i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        if (d->host != m->procs.item[r->proc].host || !nsc_text_is(nsc_say(m, d->net), "IB"))
            continue;
        soft = nsc_is_soft_rdma(nsc_say(m, d->name));
        if (!soft)
            return false;
    }
    return soft;
}

/* No release of NCCL that the process may be of has more channels; RCCL counts otherwise. */
static bool is_most_of_release(const struct ncclscope_model *m, uint32_t proc, int64_t most)
{
    struct nsc_version v = nsc_version_of(m, proc);
    return !nsc_is_rccl(m) && most >= (v.high < NSC_CHANGE_CHANNELS_32   ? 16
                                       : v.high < NSC_CHANGE_CHANNELS_64 ? 32
                                                                         : 64);
}

/* NCCL_MIN_NCHANNELS of the same process asks for as many: how many NCCL would take by itself does not show. Not of so few that they limit. */
static const struct nsc_env *asked_for(const struct ncclscope_model *m, const struct nsc_env *e, int64_t most)
{
    enum { FEW = 8 };
    static const char *const names[] = {"NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS"};
    for (size_t i = 0; most >= FEW && i < sizeof names / sizeof names[0]; i++) {
        const struct nsc_env *x = nsc_env_of(m, e->proc, names[i]);
        int64_t least;
        if (x && nsc_to_i64(nsc_say(m, x->value), &least) && least >= most)
            return x;
    }
    return NULL;
}

/* Does it keep a communicator of several ranks from more? One rank alone moves nothing to others. */
static bool binds(const struct ncclscope_model *m, const struct nsc_env *e)
{
    int64_t most;
    if (!nsc_to_i64(nsc_say(m, e->value), &most) || is_most_of_release(m, e->proc, most) || asked_for(m, e, most))
        return false;
    for (uint32_t i = m->procs.item[e->proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before)
        if (m->ranks.item[i].coll == most && m->ranks.item[i].nranks != 1 && !is_bound_by_network(m, &m->ranks.item[i]))
            return true;
    return false;
}

/* Does the process share an NVLink fabric with one of another host, by UUID and clique? */
static bool shares_fabric(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_event *own = nsc_event_of(m, proc, NCCLSCOPE_KIND_FABRIC);
    for (size_t i = 0; own && i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind == own->kind && e->text == own->text && m->procs.item[e->proc].host != m->procs.item[proc].host)
            return true;
    }
    return false;
}

/* What of this log shows that it costs; NULL: nothing. */
static const char *shown_cost(const struct nsc_case *c, const struct setting *s, const struct nsc_env *e,
                              const struct shown *here)
{
    bool stages = here->staged[SEND] == e || here->staged[RECEIVE] == e;
    switch (s->costs) {
    case ALWAYS: return "";
    case SOCKETS: /* a plugin looked all the same and found no EFA, no RDMA device: the variable keeps NCCL from nothing */
        return here->socket && !nsc_event_of(c->m, e->proc, NCCLSCOPE_KIND_OFI_NO_PROVIDER) &&
                       !nsc_event_of(c->m, e->proc, NCCLSCOPE_KIND_IB_NONE)
                   ? " Ranks on different nodes talk over sockets here."
                   : NULL;
    case STAGED: return stages ? " Ranks on different nodes use RDMA without GPUDirect here." : NULL;
    case BINDS: return binds(c->m, e) ? " Communicators have just as many channels here." : NULL;
    case PARTS:
        return shares_fabric(c->m, e->proc) ? " Hosts here share one NVLink fabric, but talk over the network." : NULL;
    default: return NULL;
    }
}

/* What the log says against the words of the row; NULL: nothing. */
static const char *unheard(struct nsc_case *c, const struct nsc_env *e)
{
    const struct ncclscope_model *m = c->m;
    nsc_text name = nsc_say(m, e->name);
    int64_t most;
    if (nsc_text_is(name, "NCCL_TOPO_FILE") && nsc_event_of(m, e->proc, NCCLSCOPE_KIND_TOPO_FILE_MISSING))
        return "NCCL could not open the file, and went on without it.";
    if ((!nsc_text_is(name, "NCCL_MAX_NCHANNELS") && !nsc_text_is(name, "NCCL_MAX_CTAS")) ||
        !nsc_to_i64(nsc_say(m, e->value), &most))
        return NULL;
    for (uint32_t i = m->procs.item[e->proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before)
        if (m->ranks.item[i].coll > most)
            return nsc_words(c,
                             "NCCL made %lld channels all the same: another variable (NCCL_MIN_NCHANNELS, "
                             "NCCL_MIN_CTAS) or the program's configuration asks for more.",
                             (long long)m->ranks.item[i].coll);
    if (is_most_of_release(m, e->proc, most))
        return "It limits nothing: this release of NCCL has no more channels.";
    const struct nsc_env *least = asked_for(m, e, most);
    return least
               ? nsc_words(c, "%s=%s asks for as many: how many channels NCCL would make by itself does not show here.",
                           nsc_say(m, least->name).ptr, nsc_say(m, least->value).ptr)
               : NULL;
}

static bool has_device(const struct ncclscope_model *m, nsc_str host, nsc_text name)
{
    for (size_t i = 0; i < m->devices.len; i++)
        if (m->devices.item[i].host == host && nsc_text_is(nsc_say(m, m->devices.item[i].net), "IB") &&
            nsc_text_eq(nsc_say(m, m->devices.item[i].name), name))
            return true;
    return false;
}

/* NCCL_IB_HCA=mlx5_0,mlx5_1 where NCCL lists mlx5_10 too: it takes whatever begins so. NULL: there is no such device on the host. */
static const struct nsc_net_device *taken_along(const struct ncclscope_model *m, const struct nsc_env *e, nsc_text *by)
{
    nsc_text value = nsc_say(m, e->value);
    nsc_str host = m->procs.item[e->proc].host;
    if (!nsc_text_is(nsc_say(m, e->name), "NCCL_IB_HCA") || !value.len || value.ptr[0] == '=' || value.ptr[0] == '^')
        return NULL;
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        nsc_text name = nsc_say(m, d->name), list = value;
        if (d->host != host || !nsc_text_is(nsc_say(m, d->net), "IB") || nsc_lists_name(value, name))
            continue;
        while (list.len) {
            *by = nsc_next_device(&list);
            if (by->len && by->len < name.len && !memcmp(name.ptr, by->ptr, by->len) && has_device(m, host, *by))
                return d;
        }
    }
    return NULL;
}

/* Is another device of that host in use, as far as the input shows? */
static bool others_are_used(const struct ncclscope_model *m, const struct nsc_net_device *d)
{
    for (size_t i = 0; i < m->devices.len; i++)
        if (m->devices.item[i].host == d->host && nsc_link_over(m, &m->devices.item[i]))
            return true;
    return false;
}

/* Does a connection go over a device of that name, on whichever host, or over one that NCCL joined from several? */
static bool is_used_anywhere(const struct ncclscope_model *m, const struct nsc_net_device *d)
{
    int64_t listed = 0;
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *x = &m->devices.item[i];
        listed = x->net == d->net && x->index > listed ? x->index : listed;
        if (x->name == d->name && nsc_link_over(m, x))
            return true;
    }
    for (size_t i = 0; i < m->links.len; i++)
        if (m->links.item[i].family == NSC_NET && m->links.item[i].net_dev > listed)
            return true;
    return false;
}

static void tell_taken_along(struct nsc_case *c, struct nsc_finding *f, const struct nsc_env *e)
{
    nsc_text by;
    const struct nsc_net_device *d = f->cause ? NULL : taken_along(c->m, e, &by);
    if (!d)
        return;
    const char *name = nsc_say(c->m, d->name).ptr;
    bool idle = others_are_used(c->m, d) && !is_used_anywhere(c->m, d);
    f->title = nsc_words(c, "%s, and its %.*s also selects %s%s", f->title, (int)by.len, by.ptr, name,
                         idle ? ", which no connection here uses" : "");
    nsc_explain_with(c, f, NSC_HCA_BY_BEGINNING, nsc_words(c, "%.*s", (int)by.len, by.ptr), name);
    f->severity = idle ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING;
}

/* NCCL_IB_HCA=rxe0 */
static void tell_in_software(struct nsc_case *c, struct nsc_finding *f, const struct nsc_env *e)
{
    nsc_text list = nsc_say(c->m, e->value), one = {NULL, 0};
    bool soft = nsc_text_is(nsc_say(c->m, e->name), "NCCL_IB_HCA") && list.len && list.ptr[0] != '^' && !f->cause;
    while (list.len && list.ptr[0] == '=')
        list = nsc_text_from(list, 1);
    while (soft && list.len) {
        one = nsc_next_device(&list);
        soft = nsc_is_soft_rdma(one);
    }
    if (!soft || !one.len)
        return;
    const char *name = nsc_words(c, "%.*s", (int)one.len, one.ptr);
    f->title = nsc_words(c, "%s, which is RDMA in software", f->title);
    nsc_explain_with(c, f, NSC_HCA_IN_SOFTWARE, "", name);
}

/* NCCL_IB_HCA=mlx5 beside "NET/IB : No device found.": nobody should read of the one alone. */
static const char *found_none(const struct ncclscope_model *m, const struct nsc_env *e)
{
    return nsc_text_is(nsc_say(m, e->name), "NCCL_IB_HCA") && nsc_event_of(m, e->proc, NCCLSCOPE_KIND_IB_NONE)
               ? ", and NCCL found no InfiniBand or RoCE device"
               : "";
}

/* "NET/OFI Running on p4d.24xlarge platform, Setting NCCL_TOPO_FILE environment variable to /opt/...": nobody else set it. */
static bool is_of_plugin(const struct ncclscope_model *m, const struct nsc_env *e)
{
    return nsc_text_is(nsc_say(m, e->name), "NCCL_TOPO_FILE") &&
           nsc_text_find(m->procs.item[e->proc].platform_at.text, "Setting NCCL_TOPO_FILE") >= 0;
}

/* Most rules have none. */
static bool has_rows(enum nsc_id key)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (settings[i].key == key)
            return true;
    return false;
}

/* Of a limit for GPUDirect RDMA that is not below NCCL's own: does a NIC have it at just that distance, "distance 7 <= 7"? */
static const char *what_it_widens(struct nsc_case *c, const struct nsc_env *e)
{
    static const char *const wider[] = {"SYS", "PHB", "5", "4"};
    const struct nsc_where *w = &c->m->procs.item[e->proc].gdr_at_limit;
    for (size_t i = 0; w->line && i < sizeof wider / sizeof wider[0]; i++)
        if (nsc_text_is(nsc_say(c->m, e->value), wider[i]))
            return nsc_words(c, ": a NIC at exactly that distance from its GPU has GPUDirect RDMA (%s)",
                             nsc_line_in(c, w));
    return ", no narrower than NCCL's own limit";
}

void nsc_tell_settings(struct nsc_case *c)
{
    if (!has_rows(c->rule->key))
        return;
    struct shown *shown = NULL; /* few rules have a setting in the input that they ask the links for */
    for (size_t i = 0; !c->f->no_memory && i < c->m->env.len; i++) {
        const struct nsc_env *e = &c->m->env.item[i];
        const struct setting *s = setting_of(c, e);
        if (!s)
            continue;
        shown = shown ? shown : look_at_links(c->m);
        c->f->no_memory = !shown;
        if (!shown)
            break;
        const char *cost = shown_cost(c, s, e, &shown[e->proc]);
        struct nsc_finding *f = nsc_found_about(c, e->name);
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "configuration", e->by_pod ? "likely" : "certain");
            nsc_set_about(c, f, e->name);
            f->value = e->value;
            f->fix = s->costs == WIDENS ? "Leave it where this machine needs it; measure with and without it." : f->fix;
            f->title = nsc_words(c, "%s=%s is set%s", nsc_say(c->m, e->name).ptr, nsc_say(c->m, e->value).ptr,
                                 is_of_plugin(c->m, e) ? " by aws-ofi-nccl itself, for this machine type"
                                 : s->costs == WIDENS  ? what_it_widens(c, e)
                                                       : found_none(c->m, e));
        }
        f->other_values += e->value != f->value;
        tell_taken_along(c, f, e);
        tell_in_software(c, f, e);
        const char *against = unheard(c, e);
        if (!f->cause || (cost && f->severity == NCCLSCOPE_SEVERITY_NOTE))
            f->cause = nsc_words(c, "%s%s%s", against ? against : s->cause, cost ? cost : "", nsc_env_source(e));
        f->severity = cost ? NCCLSCOPE_SEVERITY_WARNING : f->severity;
        f->count++;
        nsc_name_host(c, f, c->m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    nsc_free(shown);
    for (size_t i = c->f->list.len; i > 0 && c->f->list.item[i - 1].rule == c->rule; i--) {
        struct nsc_finding *f = &c->f->list.item[i - 1];
        unsigned long long with = f->count - f->other_values, others = f->other_values;
        if (f->about)
            f->title = nsc_words(
                c, "%s (%llu process%s%s%s)", f->title, with, with == 1 ? "" : "es", c->m->repeated ? " or more" : "",
                others ? nsc_words(c, ", %llu more with %s", others, others == 1 ? "another value" : "other values")
                       : "");
    }
}

/* ---- values that NCCL does not take ---- */

/* From 2.24.3 on a list of algorithms or protocols that NCCL cannot read fails the initialisation. */
static bool ends_in_it(const struct ncclscope_model *m, uint32_t proc)
{
    for (uint32_t i = m->procs.item[proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before)
        if (m->ranks.item[i].start.line && !nsc_is_done(&m->ranks.item[i]))
            return nsc_version_of(m, proc).high >= NSC_CHANGE_BAD_ALGO_FAILS;
    return false;
}

/* 'Unrecognized element token "LL129" when parsing "LL129"' names no variable: the one of the process that has this value; NULL: none. */
static const struct nsc_env *meant(const struct ncclscope_model *m, const struct nsc_event *e)
{
    static const char words[] = "when parsing \"";
    ptrdiff_t at = nsc_text_find(e->where.text, words);
    nsc_text value =
        nsc_text_trim(nsc_text_from(e->where.text, at < 0 ? e->where.text.len : (size_t)at + sizeof words - 1));
    value.len -= value.len > 0;
    for (size_t i = 0; value.len && i < m->env.len; i++)
        if (m->env.item[i].proc == e->proc && nsc_text_eq(nsc_say(m, m->env.item[i].value), value))
            return &m->env.item[i];
    return NULL;
}

void nsc_rule_env_unknown(struct nsc_case *c)
{
    nsc_tell_spec_variables(c);
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < c->m->events.len; i++) {
        const struct nsc_event *e = &c->m->events.item[i];
        bool unused = e->kind == NCCLSCOPE_KIND_ENV_UNUSED && nsc_text_starts(nsc_say(c->m, e->text), "unused");
        if (e->kind != NCCLSCOPE_KIND_ENV_INVALID && e->kind != NCCLSCOPE_KIND_ENV_REJECTED && !unused)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "configuration", "certain");
            nsc_text said = nsc_message_of(&e->where);
            const struct nsc_env *set = meant(c->m, e);
            const char *what = set ? nsc_words(c, "%s=%s", nsc_say(c->m, set->name).ptr, nsc_say(c->m, set->value).ptr)
                                   : "a variable, or its value";
            f->title =
                nsc_words(c, "NCCL does not accept %s: %.*s", what, (int)(said.len < 120 ? said.len : 120), said.ptr);
            nsc_explain_by(c, f, NSC_VALUE_REFUSED);
        }
        f->count += e->count;
        nsc_name_host(c, f, c->m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
        if (!f->began && e->level == NCCLSCOPE_LEVEL_WARN && ends_in_it(c->m, e->proc)) {
            f->severity = NCCLSCOPE_SEVERITY_ERROR;
            f->part = NSC_ROOT;
            f->began = e;
            nsc_explain_by(c, f, NSC_VALUE_ENDS_IT);
        }
    }
}

void nsc_rule_env_obsolete(struct nsc_case *c)
{
    nsc_tell_obsolete_in_specs(c);
}
