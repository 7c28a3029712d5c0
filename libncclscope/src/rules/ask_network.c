/* ask_network.c - the questions about the network: which it is, its devices and interfaces, and how processes meet over it. */
#include "rules/questions.h"

enum nsc_answer nsc_ask_network(struct nsc_ask *q, const char *begins)
{
    nsc_str net = q->link ? q->link->network : q->proc != NSC_NONE ? q->m->procs.item[q->proc].network : 0;
    return !net ? NSC_UNSAID : nsc_yes_or(nsc_text_starts(nsc_say(q->m, net), begins), NSC_NO);
}

/* Which provider the process has; of one whose line is not in the input another's, as a job has one fabric. */
static const struct nsc_event *provider_of(const struct nsc_ask *q)
{
    const struct nsc_event *own = nsc_event_of(q->m, q->proc, NCCLSCOPE_KIND_OFI_PROVIDER);
    return own ? own : nsc_event_of(q->m, NSC_NONE, NCCLSCOPE_KIND_OFI_PROVIDER);
}

enum nsc_answer nsc_ask_provider(struct nsc_ask *q, const char *begins)
{
    const struct nsc_event *e = provider_of(q);
    nsc_text net = q->link ? nsc_say(q->m, q->link->network) : (nsc_text){NULL, 0};
    if (net.len && nsc_text_find(net, "ibfabric") < 0 && nsc_text_find(net, "OFI") < 0)
        return NSC_NO; /* another network */
    if (!e)
        return NSC_UNSAID;
    bool is = nsc_text_starts(nsc_say(q->m, e->text), begins);
    q->line = is ? &e->where : q->line;
    return nsc_yes_or(is, NSC_NO);
}

enum nsc_answer nsc_ask_found(struct nsc_ask *q, int64_t nics)
{
    const struct nsc_event *e = provider_of(q);
    return !e || e->number < 0 ? NSC_UNSAID : nsc_yes_or(e->number == nics, NSC_NO);
}

/* Plugins say it in one process of a node, or of a job: its own line, else the first of all, where none says another type. */
static const struct nsc_proc *who_says_platform(const struct nsc_ask *q)
{
    const struct nsc_proc *own = q->proc == NSC_NONE ? NULL : &q->m->procs.item[q->proc], *one = NULL;
    if (own && own->platform)
        return own;
    for (size_t i = 0; i < q->m->procs.len; i++) {
        const struct nsc_proc *p = &q->m->procs.item[i];
        if (p->platform && one && p->platform != one->platform)
            return NULL;
        one = p->platform && !one ? p : one;
    }
    return one;
}

enum nsc_answer nsc_ask_platform(struct nsc_ask *q, const char *begins)
{
    const struct nsc_proc *p = who_says_platform(q);
    if (!p)
        return NSC_UNSAID;
    bool is = nsc_text_starts(nsc_say(q->m, p->platform), begins);
    q->line = is ? &p->platform_at : q->line;
    return nsc_yes_or(is, NSC_NO);
}

static enum nsc_answer ask_devices(struct nsc_ask *q,
                                   bool (*is)(const struct ncclscope_model *m, const struct nsc_net_device *d,
                                              const char *words),
                                   const char *words)
{
    enum nsc_answer answer = NSC_UNSAID;
    for (size_t i = 0; i < q->m->devices.len; i++) {
        const struct nsc_net_device *d = &q->m->devices.item[i];
        if (nsc_network_kind(nsc_say(q->m, d->net)) != NSC_NETWORK_RDMA ||
            (q->proc != NSC_NONE && d->host != q->m->procs.item[q->proc].host))
            continue;
        answer = answer == NSC_YES || is(q->m, d, words) ? NSC_YES : NSC_NO;
    }
    return answer;
}

static bool is_called(const struct ncclscope_model *m, const struct nsc_net_device *d, const char *begins)
{
    return nsc_text_starts(nsc_say(m, d->name), begins);
}

static bool has_layer(const struct ncclscope_model *m, const struct nsc_net_device *d, const char *name)
{
    return nsc_text_is(nsc_say(m, d->kind), name);
}

enum nsc_answer nsc_ask_device(struct nsc_ask *q, const char *begins)
{
    return ask_devices(q, is_called, begins);
}

enum nsc_answer nsc_ask_link_layer(struct nsc_ask *q, const char *name)
{
    return ask_devices(q, has_layer, name);
}

enum nsc_answer nsc_ask_one_nic(struct nsc_ask *q)
{
    uint64_t n = q->proc == NSC_NONE ? 0 : nsc_count_devices(q->m, q->m->procs.item[q->proc].host);
    return !n ? NSC_UNSAID : nsc_yes_or(n == 1, NSC_NO);
}

enum nsc_answer nsc_ask_interface(struct nsc_ask *q, const char *begins)
{
    enum nsc_answer answer = NSC_UNSAID;
    for (size_t i = 0; i < q->m->devices.len; i++) {
        const struct nsc_net_device *d = &q->m->devices.item[i];
        if (nsc_text_is(nsc_say(q->m, d->net), "Socket"))
            answer = nsc_text_starts(nsc_say(q->m, d->name), begins) ? NSC_YES : answer == NSC_YES ? NSC_YES : NSC_NO;
    }
    for (size_t i = 0; answer != NSC_YES && i < q->m->procs.len; i++)
        if (q->m->procs.item[i].bootstrap_if)
            answer = nsc_text_starts(nsc_say(q->m, q->m->procs.item[i].bootstrap_if), begins) ? NSC_YES : NSC_NO;
    return answer;
}

enum nsc_answer nsc_ask_meets_over(struct nsc_ask *q, const char *begins)
{
    nsc_str via = q->proc == NSC_NONE ? 0 : q->m->procs.item[q->proc].bootstrap_if;
    return !via ? NSC_UNSAID : nsc_yes_or(nsc_text_starts(nsc_say(q->m, via), begins), NSC_NO);
}

bool nsc_is_in_handshake(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_event *before = e > m->events.item ? e - 1 : NULL;
    return before && e->kind == NCCLSCOPE_KIND_BACKTRACE && before->kind == NCCLSCOPE_KIND_BACKTRACE &&
           before->proc == e->proc && before->where.line + 1 == e->where.line &&
           nsc_text_find(e->where.text, "transport/net_ib") >= 0 &&
           nsc_text_find(before->where.text, "misc/socket.cc") >= 0;
}

enum nsc_answer nsc_ask_handshake(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    for (size_t i = 0; i < m->events.len; i++)
        if ((q->proc == NSC_NONE || m->events.item[i].proc == q->proc) && nsc_is_in_handshake(m, &m->events.item[i])) {
            q->line = &m->events.item[i - 1].where;
            return NSC_YES;
        }
    return NSC_NO;
}

enum nsc_answer nsc_ask_meets_at(struct nsc_ask *q, const char *begins)
{
    nsc_str at = q->proc == NSC_NONE ? 0 : q->m->procs.item[q->proc].address;
    return !at ? NSC_UNSAID : nsc_yes_or(nsc_text_starts(nsc_say(q->m, at), begins), NSC_NO);
}

/* The first number of "192.0.2.3<43893>"; -1: it is no IPv4 address. */
static int64_t first_number(nsc_text address)
{
    const char *dot = address.len ? memchr(address.ptr, '.', address.len) : NULL;
    int64_t n;
    return dot && nsc_to_i64((nsc_text){address.ptr, (size_t)(dot - address.ptr)}, &n) && n > 0 && n < 256 ? n : -1;
}

enum nsc_answer nsc_ask_other_network(struct nsc_ask *q)
{
    const struct nsc_proc *p = q->proc == NSC_NONE ? NULL : &q->m->procs.item[q->proc];
    ptrdiff_t at = q->said ? nsc_text_find(q->said->text, "onnect to ") : -1;
    int64_t tried = at < 0 ? -1 : first_number(nsc_text_from(q->said->text, (size_t)at + sizeof "onnect to " - 1)),
            own = p && p->address ? first_number(nsc_say(q->m, p->address)) : -1;
    if (tried < 0 || own < 0 || tried == own || p->last_connect || p->last_rank != NSC_NONE ||
        nsc_env_of(q->m, NSC_NONE, "NCCL_COMM_ID")) /* who met before, or was told where to meet */
        return NSC_UNSAID;
    q->line = &p->address_at;
    return NSC_YES;
}

enum nsc_answer nsc_ask_others_gdr(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->family != NSC_NET || !l->gdrdma || (q->link && l->direction != q->link->direction) ||
            (q->proc != NSC_NONE && l->proc != q->proc))
            continue;
        q->line = &l->where;
        return NSC_YES;
    }
    return NSC_NO;
}

enum nsc_answer nsc_ask_has_plugin(struct nsc_ask *q)
{
    uint32_t proc = q->proc != NSC_NONE ? q->proc : q->link ? q->link->proc : NSC_NONE;
    uint32_t plugin = proc == NSC_NONE ? NSC_NONE : q->m->procs.item[proc].plugin;
    bool loaded = false;
    for (uint32_t i = 0; i < q->m->plugins.len && !loaded; i++) {
        const struct nsc_plugin *p = &q->m->plugins.item[i];
        bool asked = proc == NSC_NONE ? nsc_text_is(nsc_say(q->m, p->kind), "net") : i == plugin;
        loaded = asked && nsc_text_is(nsc_say(q->m, p->state), "loaded");
    }
    return nsc_yes_or(loaded, NSC_NO);
}

enum nsc_answer nsc_ask_collnet(struct nsc_ask *q)
{
    for (size_t i = 0; i < q->m->links.len; i++)
        if (q->m->links.item[i].family == NSC_COLLNET) {
            q->line = &q->m->links.item[i].where;
            return NSC_YES;
        }
    return NSC_NO;
}

/* "mlx5_1 port 1 ==> ib0 (Up)" */
enum nsc_answer nsc_ask_rdma_up(struct nsc_ask *q)
{
    for (size_t i = 0; i < q->m->happened.len; i++) {
        const struct nsc_own_record *r = &q->m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_RDMA_NETDEV || !nsc_text_is(nsc_said(q->m, r, "value"), "Up"))
            continue;
        q->line = &r->where;
        return NSC_YES;
    }
    return NSC_UNSAID;
}

nsc_text nsc_next_device(nsc_text *list)
{
    const char *comma = list->len ? memchr(list->ptr, ',', list->len) : NULL;
    nsc_text one = {list->ptr, comma ? (size_t)(comma - list->ptr) : list->len};
    *list = nsc_text_from(*list, one.len + (comma != NULL));
    while (one.len && (one.ptr[0] == '=' || one.ptr[0] == '^'))
        one = nsc_text_from(one, 1);
    const char *port = one.len ? memchr(one.ptr, ':', one.len) : NULL;
    one.len = port ? (size_t)(port - one.ptr) : one.len;
    return one;
}

bool nsc_lists_name(nsc_text list, nsc_text name)
{
    while (list.len)
        if (nsc_text_eq(nsc_next_device(&list), name))
            return true;
    return false;
}

enum nsc_answer nsc_ask_hca_is_interface(struct nsc_ask *q)
{
    for (size_t i = 0; i < q->m->happened.len; i++) {
        const struct nsc_own_record *r = &q->m->happened.item[i];
        const struct nsc_env *e =
            r->number == NCCLSCOPE_KIND_RDMA_NETDEV ? nsc_env_of(q->m, q->proc, "NCCL_IB_HCA") : NULL;
        if (!e || !nsc_lists_name(nsc_say(q->m, e->value), nsc_said(q->m, r, "name")))
            continue;
        q->line = &r->where;
        return NSC_YES;
    }
    return NSC_UNSAID;
}

/* "localGid ::ffff:192.0.2.7 remoteGids::ffff:192.0.2.9": the "192.0.2." of what stands behind `words`; len 0: no such. */
static nsc_text subnet_behind(nsc_text line, const char *words)
{
    static const char ipv4[] = "::ffff:";
    ptrdiff_t at = nsc_text_find(line, words);
    nsc_text gid = nsc_text_from(line, at < 0 ? line.len : (size_t)at + strlen(words));
    size_t n = 0, dots = 0;
    while (gid.len && gid.ptr[0] == ' ')
        gid = nsc_text_from(gid, 1);
    if (!nsc_text_starts(gid, ipv4))
        return (nsc_text){NULL, 0};
    gid = nsc_text_from(gid, sizeof ipv4 - 1);
    while (n < gid.len && dots < 3 && (nsc_is_digit(gid.ptr[n]) || gid.ptr[n] == '.'))
        dots += gid.ptr[n++] == '.';
    return (nsc_text){gid.ptr, dots == 3 ? n : 0};
}

enum nsc_answer nsc_ask_gids_apart(struct nsc_ask *q)
{
    const struct nsc_where *w = q->event ? &q->event->where : q->said;
    nsc_text line = w ? w->text : (nsc_text){NULL, 0};
    nsc_text here = subnet_behind(line, "localGid"), there = subnet_behind(line, "remoteGids");
    return nsc_yes_or(here.len && there.len && !nsc_text_eq(here, there), NSC_NO);
}
