/* rules_plugins.c - libraries that bring a network, or tune and watch: not found, or found and not started. */
#include "rules/ask.h"

/* NCCL_NET_PLUGIN=none: no library has that name, up to 2.20 told as "libnccl-net-none.so"; nobody wants it found. */
static bool is_no_plugin(nsc_text name)
{
    return nsc_text_is(name, "none") || nsc_text_find(name, "-none.so") >= 0;
}

/* "TUNER/Plugin: Could not find: libnccl-tuner-acme.so": NCCL always looks for libnccl-tuner.so; another name was given by somebody. */
static void tell_other_plugins(struct nsc_case *c)
{
    static const struct {
        const char *kind, *named, *variable;
    } kinds[] = {{"tuner", "-tuner-", "NCCL_TUNER_PLUGIN"}, {"profiler", "-profiler-", "NCCL_PROFILER_PLUGIN"}};
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->plugins.len; i++) {
        const struct nsc_plugin *p = &m->plugins.item[i];
        nsc_text kind = nsc_say(m, p->kind), file = nsc_say(m, p->file);
        size_t k = nsc_text_is(kind, kinds[0].kind) ? 0 : 1;
        const struct nsc_env *env = nsc_env_of(m, p->last_proc, kinds[k].variable);
        if (!nsc_text_is(kind, kinds[k].kind) || !nsc_text_is(nsc_say(m, p->state), "missing") ||
            (!env && nsc_text_find(file, kinds[k].named) < 0) || (env && is_no_plugin(nsc_say(m, env->value))) ||
            is_no_plugin(file))
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "fault", "certain");
        f->title = nsc_words(c, "The %s plugin that was asked for (%.*s) was not found: NCCL goes on without it",
                             kinds[k].kind, (int)(file.len < 120 ? file.len : 120), file.ptr);
        nsc_explain_by(c, f, NSC_PLUGIN_ALONE);
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
        f->count = p->procs;
        nsc_name_host(c, f, m->procs.item[p->last_proc].host);
        nsc_show(c, f, &p->where);
    }
}

/* "libnccl-net-/opt/x/libnccl-net.so.so": a path was given, tried as it is, and then with NCCL's own beginning and end around it, which is
 * the name that is printed. len 0: it is no path. */
static nsc_text path_within(nsc_text file)
{
    static const char begin[] = "libnccl-net-/", end[] = ".so";
    if (!nsc_text_starts(file, begin) || file.len < sizeof begin + sizeof end ||
        memcmp(file.ptr + file.len - 3, end, 3) != 0)
        return (nsc_text){NULL, 0};
    return (nsc_text){file.ptr + sizeof begin - 2, file.len - (sizeof begin - 2) - 3};
}

/* The plugin was not found. Releases from 2.17 on, but for some, say so in a line of its own; the others have the loader's line alone,
 * which stands there for the usual name too, on every machine without plugins: so it counts for a file that somebody named. */
static bool is_not_found(const struct ncclscope_model *m, const struct nsc_event *e)
{
    if (e->kind != NCCLSCOPE_KIND_PLUGIN_LOAD_ERROR)
        return e->kind == NCCLSCOPE_KIND_PLUGIN_MISSING;
    const struct nsc_event *named = nsc_event_of(m, e->proc, NCCLSCOPE_KIND_PLUGIN_NAMED);
    return named && !nsc_event_of(m, e->proc, NCCLSCOPE_KIND_PLUGIN_MISSING) &&
           nsc_text_find(e->where.text, nsc_say(m, named->text).ptr) >= 0 &&
           nsc_text_find(e->where.text, "cannot open shared object file") >= 0;
}

void nsc_rule_plugin_missing(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (!is_not_found(m, e))
            continue;
        const struct nsc_event *named = nsc_event_of(m, e->proc, NCCLSCOPE_KIND_PLUGIN_NAMED);
        const struct nsc_env *env = nsc_env_of(m, e->proc, "NCCL_NET_PLUGIN");
        /* NCCL always looks for libnccl-net.so, RCCL for its own; another name was given by somebody, also where no line says by whom. */
        nsc_text file = nsc_say(m, e->text);
        bool other_name = nsc_text_find(file, ".so") >= 0 && !nsc_text_is(file, "libnccl-net.so") &&
                          !nsc_text_is(file, "librccl-net.so"); /* without .so the name was cut */
        bool none = (env && is_no_plugin(nsc_say(m, env->value))) || (named && is_no_plugin(nsc_say(m, named->text))) ||
                    is_no_plugin(file);
        if ((!named && !env && !other_name) || none)
            continue;
        if (nsc_event_of(m, e->proc, NCCLSCOPE_KIND_PLUGIN_LOADED)) /* another name of the list was found */
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "certain");
            nsc_text path = named || env ? (nsc_text){NULL, 0} : path_within(file);
            nsc_text asked = named ? nsc_say(m, named->text) : env ? nsc_say(m, env->value) : path.len ? path : file;
            f->title = nsc_words(c, "The network plugin that was asked for (%.*s) could not be loaded", (int)asked.len,
                                 asked.ptr);
            nsc_explain_by(c, f,
                           nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_NET_NOT_FOUND) ? NSC_PLUGIN_AND_ITS_NET
                           : path.len                                              ? NSC_PLUGIN_BY_PATH
                                                                                   : NSC_PLUGIN_ALONE);
            nsc_show(c, f, named ? &named->where : env ? &env->where : NULL);
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    tell_other_plugins(c);
}

/* "Failed to initialize NET plugin IB" (or IBext, which comes with images) is the normal end of the search for devices on a machine
 * that has none; where a network is missed, net/socket and net/no-rdma-device tell. */
static bool is_harmless_failure(const struct ncclscope_model *m, const struct nsc_event *e)
{
    nsc_text net = nsc_say(m, e->text);
    return nsc_text_starts(net, "IB") || nsc_text_is(net, "Socket");
}

/* Its interface is of another age than this NCCL. */
static bool is_unsupported(const struct nsc_event *e)
{
    return e->kind == NCCLSCOPE_KIND_PLUGIN_UNSUPPORTED && nsc_text_find(e->where.text, "network plugin") >= 0;
}

/* The process shows its start, and of InfiniBand it says neither that it found a device nor that it found none: nobody looked. */
static bool is_none_tried(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_proc *p = &m->procs.item[proc];
    if (p->nameless || !p->bootstrap_at.line)
        return false;
    for (size_t i = 0; i < m->devices.len; i++)
        if (m->devices.item[i].host == p->host)
            return false;
    return true;
}

static int failed_how(const struct ncclscope_model *m, const struct nsc_event *e)
{
    if (is_unsupported(e) || e->kind != NCCLSCOPE_KIND_NET_NONE)
        return is_unsupported(e) ? NSC_PLUGIN_UNSUPPORTED : NSC_PLUGIN_OWN_WORDS;
    return nsc_event_of(m, e->proc, NCCLSCOPE_KIND_IB_NONE) ? NSC_PLUGIN_ONLY_IB
           : is_none_tried(m, e->proc)                      ? NSC_PLUGIN_NONE_TRIED
                                                            : NSC_PLUGIN_OWN_WORDS;
}

/* Does its program print lines behind it, none of which tells of trouble, and NCCL no other warning? */
static bool is_printed_behind(const struct ncclscope_model *m, const struct nsc_event *e)
{
    enum { LINES_BEHIND = 50 };
    const struct nsc_source_info *s = &m->sources.item[e->where.source];
    for (size_t i = 0; i < m->warnings.len; i++)
        if (m->warnings.item[i].where.source == e->where.source && m->warnings.item[i].where.line > e->where.line)
            return false;
    return !m->troubles && s->stats.lines > e->where.line + LINES_BEHIND;
}

/* The run went on without the plugin, and nobody misses a network: all ranks are on one host, or it reached its end. */
static bool is_harmless_here(const struct ncclscope_model *m, const struct nsc_event *e)
{
    bool went_on = nsc_lived_on(m, e->proc, &e->where) || nsc_success_of(m) || is_printed_behind(m, e);
    return went_on && e->kind != NCCLSCOPE_KIND_NET_NONE && m->hosts.len <= 1 && !nsc_any_socket(m);
}

/* A warning of the plugin between several hosts, where no line tells what they talk over in its place. */
static bool is_all_that_is_said(const struct nsc_case *c, const struct nsc_event *e)
{
    return e->level == NCCLSCOPE_LEVEL_WARN && c->m->hosts.len > 1 && !c->m->link_order.len && !nsc_success_of(c->m);
}

/* It failed in one process of a host, and others there set it up: then their ranks are on different networks, and do not meet. */
static void tell_others_with_it(struct nsc_case *c, struct nsc_finding *f)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_event *e = f->began;
    const struct nsc_proc *own = &m->procs.item[e->proc], *other = NULL;
    for (size_t i = 0; i < m->proc_order.len && e->kind == NCCLSCOPE_KIND_OFI_FAILED && !other; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        other = p != own && p->host == own->host && !p->nameless && p->platform_at.line && !p->network ? p : NULL;
    }
    if (!other)
        return;
    f->title = nsc_words(c, "%s in process %lld%s of %s", f->title, (long long)own->pid,
                         e->dev < 0 ? "" : nsc_words(c, " [%lld]", (long long)e->dev), nsc_say(m, own->host).ptr);
    f->cause = nsc_words(c,
                         "%s Process %lld there sets it up (%s): if that succeeds, ranks on its network and "
                         "those on sockets cannot connect.",
                         f->cause, (long long)other->pid, nsc_line_in(c, &other->platform_at));
    nsc_show(c, f, &other->platform_at);
}

/* A call of libfabric failed, of which the plugin warned: that it could not start follows from it. */
static bool follows_from_call(const struct nsc_case *c, const struct nsc_finding *f)
{
    for (size_t i = 0; f->began->kind == NCCLSCOPE_KIND_OFI_FAILED && i < c->f->list.len; i++) {
        const struct nsc_event *e = c->f->list.item[i].began;
        if (e && e->kind == NCCLSCOPE_KIND_OFI_CALL_FAILED && e->proc == f->began->proc)
            return true;
    }
    return false;
}

/* The interface for sockets that the process says it found, NULL where it says none. */
static const struct nsc_net_device *socket_of(const struct ncclscope_model *m, const struct nsc_proc *p)
{
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        if (d->host == p->host && d->name && nsc_text_is(nsc_say(m, d->net), "Socket"))
            return d;
    }
    return NULL;
}

/* What it goes on with. */
static void tell_other_network(struct nsc_case *c, struct nsc_finding *f, const struct nsc_event *e)
{
    const struct nsc_proc *p = &c->m->procs.item[e->proc];
    const struct nsc_net_device *d = p->network ? NULL : socket_of(c->m, p);
    bool fails = e->kind == NCCLSCOPE_KIND_NET_NONE || e->kind == NCCLSCOPE_KIND_NET_NOT_FOUND;
    if (p->network && !p->nameless && !fails && nsc_is_earlier(&e->where, &p->network_at))
        f->title = nsc_words(c, "%s; NCCL goes on with the network %s", f->title, nsc_say(c->m, p->network).ptr);
    else if (d && is_unsupported(e))
        f->cause = nsc_words(c, "%s It found sockets over %s.", f->cause, nsc_say(c->m, d->name).ptr);
    else if (d && !fails)
        f->title = nsc_words(c, "%s; NCCL goes on to sockets over %s", f->title, nsc_say(c->m, d->name).ptr);
}

/* " (first of 4 such lines)": where no line says whose it is. */
static const char *how_often(struct nsc_case *c, const struct nsc_event *e)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < c->m->warnings.len && !lines; i++) {
        const struct nsc_warning *w = &c->m->warnings.item[i];
        lines = w->where.source == e->where.source && w->where.line == e->where.line ? w->lines : 0;
    }
    return lines > 1 ? nsc_words(c, " (first of %llu such lines)", (unsigned long long)lines) : "";
}

void nsc_rule_plugin_failed(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        bool failed = (e->kind == NCCLSCOPE_KIND_NET_FAILED && !is_harmless_failure(m, e)) ||
                      e->kind == NCCLSCOPE_KIND_OFI_FAILED || e->kind == NCCLSCOPE_KIND_NET_NONE ||
                      e->kind == NCCLSCOPE_KIND_NET_NOT_FOUND || is_unsupported(e) ||
                      (e->kind == NCCLSCOPE_KIND_OFI_NO_PROVIDER && (e->quoted || is_all_that_is_said(c, e)));
        if (!failed)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
            f->part = NSC_ROOT;
            f->began = e;
            f->title =
                is_unsupported(e)
                    ? nsc_words(c, "The network plugin %s does not fit this NCCL", nsc_say(m, e->text).ptr)
                : e->kind == NCCLSCOPE_KIND_NET_NONE
                    ? nsc_words(c, "No network could be started%s: NCCL's initialisation fails there",
                                m->procs.item[e->proc].nameless
                                    ? how_often(c, e)
                                    : nsc_words(c, " (%s)", nsc_say(m, m->procs.item[e->proc].host).ptr))
                : e->kind == NCCLSCOPE_KIND_NET_NOT_FOUND
                    ? nsc_words(c, "NCCL_NET or the program asks for network %s, which is not available here",
                                nsc_say(m, e->text).ptr)
                : e->kind == NCCLSCOPE_KIND_OFI_FAILED || e->kind == NCCLSCOPE_KIND_OFI_NO_PROVIDER
                    ? "aws-ofi-nccl was found and could not start"
                    : nsc_words(c, "The network plugin %s was found and could not start", nsc_say(m, e->text).ptr);
            if (is_unsupported(e) && !nsc_any_socket(m))
                f->severity = NCCLSCOPE_SEVERITY_WARNING;
            struct nsc_ask ask = {.c = c,
                                  .m = m,
                                  .proc = m->procs.item[e->proc].nameless ? NSC_NONE : e->proc,
                                  .event = e,
                                  .reason = failed_how(m, e),
                                  .distance = ""};
            int severity = f->severity;
            nsc_explain(c, f, &ask);
            bool of_ofi = e->kind == NCCLSCOPE_KIND_OFI_FAILED || e->kind == NCCLSCOPE_KIND_OFI_NO_PROVIDER;
            bool went_on = e->kind != NCCLSCOPE_KIND_NET_NONE &&
                           (m->procs.item[e->proc].network || nsc_lived_on(m, e->proc, &e->where) ||
                            (of_ofi && socket_of(m, &m->procs.item[e->proc])));
            bool by_design = !strcmp(f->cls, "by-design");
            bool needed = e->quoted || m->troubles || m->hosts.len > 1 ||
                          nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_NET_NONE) ||
                          e->kind == NCCLSCOPE_KIND_NET_NOT_FOUND || !nsc_is_explained_by(f, "PLUGIN_OWN_WORDS");
            bool fails = needed && !went_on; /* else NCCL goes on to its own networks, and no line shows more */
            f->severity = by_design || is_harmless_here(m, e)              ? NCCLSCOPE_SEVERITY_NOTE
                          : !fails && severity == NCCLSCOPE_SEVERITY_ERROR ? NCCLSCOPE_SEVERITY_WARNING
                                                                           : severity;
            f->part = went_on ? NSC_NO_FAILURE : f->part;
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    if (f && follows_from_call(c, f))
        f->caused_by = f->rule->key;
    if (!f || f->severity <= NCCLSCOPE_SEVERITY_NOTE)
        return;
    tell_others_with_it(c, f);
    tell_other_network(c, f, f->began);
}
