/* rules_devices.c - the network devices of hosts: fewer than others have, of another kind, or there and not to be opened. */
#include "rules/ask.h"

#include <stdio.h>

static int64_t devices_of(const struct ncclscope_model *m, nsc_str host, nsc_str net)
{
    int64_t n = 0;
    for (size_t i = 0; i < m->devices.len; i++)
        n += m->devices.item[i].host == host && m->devices.item[i].net == net;
    return n;
}

/* The hosts of a communicator (NULL: of all processes) with the most and the fewest InfiniBand devices: false if they are alike, or ranks
 * of a host have lists of their own in NCCL_IB_HCA. */
static bool few_of(const struct ncclscope_model *m, const struct nsc_comm *k, const struct nsc_net_device **most,
                   const struct nsc_net_device **few)
{
    if (k && k->parent != NSC_NONE)
        return false;
    struct nsc_map members = {0};
    bool own_lists = false;
    for (uint32_t i = 0, n = k ? k->count : (uint32_t)m->procs.len; i < n; i++) {
        uint32_t proc = k ? m->ranks.item[m->members.item[k->first + i]].proc : i;
        const struct nsc_env *list = nsc_env_of(m, proc, "NCCL_IB_HCA");
        struct nsc_key host = {m->procs.item[proc].host, 0, 0};
        uint32_t value = list ? list->value : 0, before = nsc_map_get(&members, host);
        own_lists = own_lists || (before != NSC_NONE && before != value); /* each rank its own device */
        nsc_map_put(&members, host, value);
    }
    int64_t high = 0, low = 0;
    for (size_t i = 0; i < m->devices.len && !own_lists;) { /* by host and network */
        const struct nsc_net_device *d = &m->devices.item[i];
        int64_t n = 0;
        for (; i < m->devices.len && m->devices.item[i].host == d->host && m->devices.item[i].net == d->net; i++)
            n++;
        if (!nsc_text_is(nsc_say(m, d->net), "IB") ||
            nsc_map_get(&members, (struct nsc_key){d->host, 0, 0}) == NSC_NONE)
            continue;
        if (!*most || n > high)
            *most = d, high = n;
        if (!*few || n < low)
            *few = d, low = n;
    }
    nsc_map_free(&members);
    return high != low;
}

/* aws-ofi-nccl found fewer devices than the part of the machine that these GPUs are has. */
static void tell_few_found(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        nsc_str type = e->kind == NCCLSCOPE_KIND_OFI_PROVIDER ? m->procs.item[e->proc].platform : 0;
        const struct nsc_platform *pf = type ? nsc_platform_of(nsc_say(m, type)) : NULL;
        uint32_t rank = m->procs.item[e->proc].last_rank;
        int64_t gpus = rank == NSC_NONE ? -1 : m->ranks.item[rank].local_ranks;
        int64_t share = pf && gpus > 0 && gpus <= pf->gpus ? (int64_t)pf->nics * gpus / pf->gpus : 0;
        if (!share || e->number <= 0 || e->number >= share || !nsc_text_starts(nsc_say(m, e->text), "efa"))
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
            f->title = nsc_words(c, "aws-ofi-nccl found %lld EFA devices; %lld GPUs of a %s come with %lld",
                                 (long long)e->number, (long long)gpus, pf->name, (long long)share);
            nsc_explain_with(c, f, NSC_FEWER_FOUND, pf->source, NULL);
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
}

/* ": mlx5_7 is not on node-b": those that the one host lists and the other does not, by name. "" where names do not tell. */
static const char *lacking(struct nsc_case *c, const struct nsc_net_device *most, const struct nsc_net_device *few)
{
    enum { NAMED = 4 };
    const struct ncclscope_model *m = c->m;
    char names[200] = "";
    size_t n = 0, lacks = 0, more = 0;
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        bool here = d->host != most->host || d->net != most->net;
        for (size_t k = 0; k < m->devices.len && !here; k++) {
            const struct nsc_net_device *x = &m->devices.item[k];
            here = x->host == few->host && x->net == few->net && x->name == d->name && x->port == d->port;
        }
        if (here) /* or of a third host */
            continue;
        if (++lacks > NAMED)
            more++;
        else if (n < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%.40s", n ? ", " : "", nsc_say(m, d->name).ptr);
    }
    if ((int64_t)lacks != devices_of(m, most->host, most->net) -
                              devices_of(m, few->host, few->net)) /* other names: a host of another make */
        return "";
    return more ? nsc_words(c, "; %s lacks %s and %zu more", nsc_say(m, few->host).ptr, names, more)
                : nsc_words(c, "; %s lacks %s", nsc_say(m, few->host).ptr, names);
}

/* Is there a communicator of which not all ranks are known, or none at all? Then hosts are those of the input. */
static bool is_in_part(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].nranks <= (int64_t)m->comms.item[i].count)
            return false;
    return true;
}

static void tell_unopened(struct nsc_case *c);
static void tell_one_of_several(struct nsc_case *c);

void nsc_rule_fewer_nics(struct nsc_case *c)
{
    tell_unopened(c);
    nsc_tell_few_efa(c);
    tell_few_found(c);
    tell_one_of_several(c);
    const struct ncclscope_model *m = c->m;
    const struct nsc_net_device *most = NULL, *few = NULL;
    for (size_t i = 0; i < m->comms.len && !few_of(m, &m->comms.item[i], &most, &few); i++)
        most = few = NULL;
    if (!most && is_in_part(m) && !few_of(m, NULL, &most, &few))
        most = few = NULL;
    int64_t a = most ? devices_of(m, most->host, most->net) : 0, b = few ? devices_of(m, few->host, few->net) : 0;
    if (a == b)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
    f->count = (uint64_t)(a - b);
    f->title =
        nsc_words(c, "Host %s lists %lld InfiniBand or RoCE device%s, host %s %lld%s", nsc_say(m, few->host).ptr,
                  (long long)b, b == 1 ? "" : "s", nsc_say(m, most->host).ptr, (long long)a, lacking(c, most, few));
    nsc_explain_by(c, f, NSC_FEWER_UNEQUAL);
    nsc_name_host(c, f, few->host);
    nsc_show(c, f, &few->where);
    nsc_show(c, f, &most->where);
}

/* Which devices of which hosts connections use, by their numbers. */
static void find_used(const struct ncclscope_model *m, struct nsc_map *used)
{
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        if (l->family == NSC_NET && l->proc != NSC_NONE && l->net_dev >= 0 &&
            nsc_text_starts(nsc_say(m, l->network), "IB"))
            nsc_map_put(used, (struct nsc_key){m->procs.item[l->proc].host, (uint64_t)l->net_dev, 0}, 0);
    }
}

/* Of the host that the device at *at is of: how many devices connections use, of how many that NCCL lists; `one` is one that is used.
 * *at is then that of the next host. */
static int64_t used_of(const struct ncclscope_model *m, const struct nsc_map *used, size_t *at, int64_t *listed,
                       const struct nsc_net_device **one)
{
    int64_t n = 0, before = -1; /* NICs that are taken for one have one number */
    nsc_str host = m->devices.item[*at].host;
    *listed = 0;
    for (; *at < m->devices.len && m->devices.item[*at].host == host; ++*at) {
        const struct nsc_net_device *d = &m->devices.item[*at];
        if (!nsc_text_is(nsc_say(m, d->net), "IB") || d->index == before)
            continue;
        before = d->index;
        ++*listed;
        if (nsc_map_get(used, (struct nsc_key){host, (uint64_t)d->index, 0}) == NSC_NONE)
            continue;
        *one = d;
        n++;
    }
    return n;
}

/* "16 coll channels, ... 32 p2p channels", and neither all of the ones nor all of the others have a connection over IB here: by which
 * devices the rest goes is not known. */
static bool lacks_channels(const struct ncclscope_model *m)
{
    enum { COLLECTIVE, P2P, SORTS };
    uint64_t seen[SORTS][NSC_CHANNEL_WORDS] = {{0}};
    int64_t most[SORTS] = {-1, -1}, n[SORTS] = {0, 0};
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        for (int w = 0; w < NSC_CHANNEL_WORDS && nsc_text_starts(nsc_say(m, l->network), "IB"); w++) {
            seen[COLLECTIVE][w] |= l->channels[0][w];
            seen[P2P][w] |= l->channels[1][w];
        }
    }
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        most[COLLECTIVE] = r->coll > most[COLLECTIVE] ? r->coll : most[COLLECTIVE];
        most[P2P] = r->p2p > most[P2P] ? r->p2p : most[P2P];
    }
    for (int k = 0; k < SORTS; k++)
        for (int w = 0; w < NSC_CHANNEL_WORDS; w++)
            n[k] += __builtin_popcountll(seen[k][w]);
    return n[COLLECTIVE] < most[COLLECTIVE] && !(n[P2P] && n[P2P] >= most[P2P]);
}

/* "[0]mlx4_0:1/IB [1]mlx4_0:2/IB": two of one card. */
static bool has_other_port(const struct ncclscope_model *m, const struct nsc_net_device *d)
{
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *x = &m->devices.item[i];
        if (x->host == d->host && x->net == d->net && x->name == d->name && x->port != d->port)
            return true;
    }
    return false;
}

/* Each host lists several devices, and all that crosses between them goes over one. */
static void tell_one_of_several(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_map used = {0};
    const struct nsc_net_device *one = NULL;
    int64_t least = INT64_MAX, listed;
    size_t hosts = 0;
    bool each = true, alike = true; /* alike: by its name it is the same on each host */
    find_used(m, &used);
    for (size_t i = 0; i < m->devices.len;) { /* by host and network */
        const struct nsc_net_device *before = one;
        int64_t n = used_of(m, &used, &i, &listed, &one);
        alike = alike && (!before || (before->name == one->name && before->port == one->port));
        hosts += n > 0;
        each = each && (n == 1 || (n == 0 && !listed)) && listed != 1;
        least = n && listed < least ? listed : least;
    }
    nsc_map_free(&used);
    if (!each || hosts < 2 || is_in_part(m) || lacks_channels(m))
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "unknown", "certain");
    f->count = (uint64_t)(least - 1);
    bool ports = has_other_port(m, one);
    const char *name = nsc_say(m, one->name).ptr;
    f->title =
        nsc_words(c, "Each host lists at least %lld InfiniBand or RoCE %s, but its connections use one of them%s",
                  (long long)least, ports ? "ports" : "devices",
                  !alike  ? ""
                  : ports ? nsc_words(c, " (port %lld of %s)", (long long)one->port, name)
                          : nsc_words(c, " (%s)", name));
    nsc_explain_by(c, f, NSC_FEWER_ONE_USED);
}

static const struct nsc_net_device *device_of(const struct ncclscope_model *m, const struct nsc_link *l)
{
    bool is =
        l->family == NSC_NET && l->proc != NSC_NONE && l->net_dev >= 0 && nsc_text_starts(nsc_say(m, l->network), "IB");
    for (size_t i = 0; is && i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        if (d->host == m->procs.item[l->proc].host && d->index == l->net_dev && nsc_text_is(nsc_say(m, d->net), "IB"))
            return d;
    }
    return NULL;
}

/* Of those that its host lists, are most of the other kind? */
static bool is_odd_on_host(const struct ncclscope_model *m, const struct nsc_net_device *d)
{
    size_t alike = 0, others = 0;
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *x = &m->devices.item[i];
        if (x->host != d->host || x->net != d->net || !x->kind)
            continue;
        alike += x->kind == d->kind;
        others += x->kind != d->kind;
    }
    return others > alike;
}

/* The one device that all connections of the process to other nodes go through, where most connections of the job go through
 * such of another kind; NULL else. */
static const struct nsc_net_device *odd_device(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_net_device *own = NULL;
    size_t alike = 0, others = 0;
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_net_device *d = m->links.item[i].proc == proc ? device_of(m, &m->links.item[i]) : NULL;
        if (d && own && d->kind != own->kind)
            return NULL;
        own = own ? own : d;
    }
    for (size_t i = 0; own && own->kind && i < m->links.len; i++) {
        const struct nsc_net_device *d = device_of(m, &m->links.item[i]);
        alike += d && d->kind == own->kind;
        others += d && d->kind && d->kind != own->kind;
    }
    return others > alike || (!others && alike && is_odd_on_host(m, own)) ? own : NULL;
}

/* A request of whose connection came back with an error, by a device of the rarer kind. */
static const struct nsc_event *failed_by_odd(const struct ncclscope_model *m, const struct nsc_net_device **device)
{
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        bool is = (e->kind == NCCLSCOPE_KIND_IB_COMPLETION && e->number == 12) ||
                  e->kind == NCCLSCOPE_KIND_IB_MODIFY_FAILED ||
                  (e->kind == NCCLSCOPE_KIND_CALL_FAILED && nsc_text_find(e->where.text, "ibv_modify_qp") >= 0);
        *device = is && e->level == NCCLSCOPE_LEVEL_WARN ? odd_device(m, e->proc) : NULL;
        if (*device)
            return e;
    }
    return NULL;
}

static void tell_odd_device(struct nsc_case *c, const struct nsc_event *e, const struct nsc_net_device *d)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "configuration", "likely");
    int64_t rank = nsc_rank_of_event(m, e);
    nsc_text kind = nsc_say(m, d->kind);
    f->count = 1;
    f->part = NSC_ROOT;
    f->began = e;
    f->title =
        nsc_words(c, "The connection that failed%s goes through %s (%.*s) of host %s, among %s devices",
                  rank < 0 ? "" : nsc_words(c, ", of rank %lld,", (long long)rank), nsc_say(m, d->name).ptr,
                  (int)kind.len, kind.ptr, nsc_say(m, d->host).ptr, nsc_text_is(kind, "RoCE") ? "InfiniBand" : "RoCE");
    if (rank >= 0)
        nsc_name_rank(c, f, (uint64_t)rank);
    nsc_name_host(c, f, d->host);
    for (size_t i = 0; i < m->links.len; i++)
        if (m->links.item[i].proc == e->proc && device_of(m, &m->links.item[i]) == d) {
            nsc_show(c, f, &m->links.item[i].where);
            break;
        }
    nsc_show(c, f, &e->where);
    nsc_explain_by(c, f, NSC_DEVICES_FAILED);
}

/* A management or storage port among the devices of the fabric: where connections are seen, among those that they use. */
void nsc_rule_mixed_devices(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    struct nsc_map used = {0};
    const struct nsc_net_device *before = NULL, *odd = NULL;
    const struct nsc_event *failed = failed_by_odd(m, &odd);
    if (failed) {
        tell_odd_device(c, failed, odd);
        return;
    }
    find_used(m, &used);
    for (size_t i = 0; i < m->devices.len; i++) { /* by host and network */
        const struct nsc_net_device *d = &m->devices.item[i], *last = before;
        if (!d->kind || (used.used && nsc_map_get(&used, (struct nsc_key){d->host, (uint64_t)d->index, 0}) == NSC_NONE))
            continue;
        before = d;
        if (!last || d->host != last->host || d->net != last->net || d->kind == last->kind)
            continue;
        if (!f) {
            f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "configuration", "possible");
            f->title =
                nsc_words(c, "Host %s lists %s (%s) beside %s (%s)", nsc_say(m, d->host).ptr, nsc_say(m, d->name).ptr,
                          nsc_say(m, d->kind).ptr, nsc_say(m, last->name).ptr, nsc_say(m, last->kind).ptr);
            nsc_explain_by(c, f, NSC_DEVICES_LISTED);
        }
        f->count++;
        nsc_name_host(c, f, d->host);
    }
    nsc_map_free(&used);
}

/* ---- devices that could not be opened ---- */

/* Could this process open fewer devices than not: a pod that was given its own of all that the node shows? */
static bool are_other_pods(const struct ncclscope_model *m, const struct nsc_event *e)
{
    return e->count > nsc_count_devices(m, m->procs.item[e->proc].host);
}

/* Does a process under another host name use a device of this name? Pods of a machine see all its devices and may open their own. */
static bool is_of_another(const struct ncclscope_model *m, const struct nsc_event *e)
{
    static const char before[] = "open device ";
    nsc_text words = nsc_message_of(&e->where);
    ptrdiff_t at = nsc_text_find(words, before);
    words = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(words, (size_t)at + sizeof before - 1);
    nsc_text name = nsc_next_word(&words);
    for (size_t i = 0; name.len && i < m->devices.len; i++)
        if (m->devices.item[i].host != m->procs.item[e->proc].host &&
            nsc_text_eq(nsc_say(m, m->devices.item[i].name), name))
            return true;
    return false;
}

static bool is_unopened(const struct ncclscope_model *m, const struct nsc_event *e)
{
    return e->kind == NCCLSCOPE_KIND_IB_NO_DEVICE && !m->procs.item[e->proc].nameless && nsc_lists_device(m, e->proc);
}

/* Does the job lack a device that could not be opened, as far as the log tells? */
static bool misses_device(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->events.len && !nsc_success_of(m) && m->hosts.len > 1; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (is_unopened(m, e) && !are_other_pods(m, e) && !is_of_another(m, e))
            return true;
    }
    return false;
}

/* `Unable to open device mlx5_3` where its neighbours were opened: the host has one less. Where none could be, net/no-rdma-device tells. */
static void tell_unopened(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (!is_unopened(m, e))
            continue;
        if (!f) {
            f = nsc_found(c, misses_device(m) ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_NOTE, "fault",
                          "certain");
            nsc_text words = nsc_message_of(&e->where);
            f->title = nsc_words(c, "A network device could not be opened, though others on its host were: %.*s",
                                 (int)(words.len < 120 ? words.len : 120), words.ptr);
            nsc_explain_by(c, f, NSC_FEWER_UNOPENED);
        }
        f->count += e->count;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
}

/* ---- networks that reduce ---- */

/* "ignoring NCCL_ALGO=COLLNET", where the line above it sets NCCL_ALGO to a word that NCCL does not know: up to 2.19 it then prints this. */
static bool blames_another_value(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_env *algo = nsc_env_of(m, e->proc, "NCCL_ALGO");
    nsc_text value = algo ? nsc_say(m, algo->value) : (nsc_text){NULL, 0};
    for (size_t i = 0; i < value.len; i++)
        if (nsc_text_starts_as(nsc_text_from(value, i), "collnet")) /* CollNet, CollnetDirect, CollnetChain */
            return false;
    return value.len && nsc_text_find(e->where.text, "ignoring NCCL_ALGO=COLLNET") >= 0;
}

/* SHARP or CollNet was tried, and NCCL went back to ordinary connections. */
void nsc_rule_collnet_refused(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    size_t shown[2] = {0}; /* SHARP's own lines, and NCCL's that it goes on without */
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (!nsc_refuses_collnet(e) || blames_another_value(m, e))
            continue;
        if (!f) {
            const struct nsc_env *asked = nsc_env_is(m, NSC_NONE, "NCCL_COLLNET_ENABLE", "1");
            bool by_name = nsc_text_find(e->where.text, "ignoring NCCL_ALGO=COLLNET") >= 0;
            bool tried = by_name ||
                         nsc_text_find(e->where.text, "SHARP group create") >= 0; /* which NCCL does on request alone */
            bool refused =
                nsc_first_heard(m, NCCLSCOPE_KIND_SHARP_NO_RESOURCE); /* the fabric has it, and gave it to others */
            f = nsc_found(c,
                          ((asked || tried) && !nsc_success_of(m)) || (asked && refused) ? NCCLSCOPE_SEVERITY_WARNING
                                                                                         : NCCLSCOPE_SEVERITY_NOTE,
                          "configuration", "certain");
            f->title =
                asked     ? "CollNet (SHARP) was asked for (NCCL_COLLNET_ENABLE=1) and could not be set up: NCCL "
                            "uses the point-to-point network"
                : by_name ? nsc_words(c, "NCCL_ALGO%s: CollNet (SHARP) is not supported here, or could not be set up",
                                      nsc_env_of(m, e->proc, "NCCL_ALGO")
                                          ? "=COLLNET is set and ignored"
                                          : " leaves neither Ring nor Tree, but NCCL uses them anyway")
                : refused ? "CollNet (SHARP) could not be set up, as the fabric's aggregation manager gave it no "
                            "resource: NCCL uses the point-to-point network"
                          : "CollNet (SHARP) could not be set up: NCCL uses the point-to-point network";
            nsc_text words = nsc_message_of(&e->where);
            if (nsc_text_find(words, "SHARP coll init error") >= 0)
                f->title = nsc_words(c, "%s (%.*s)", f->title, (int)(words.len < 120 ? words.len : 120), words.ptr);
            nsc_show(c, f, asked ? &asked->where : NULL);
            struct nsc_ask ask = {.c = c, .m = m, .proc = e->proc, .event = e, .distance = ""};
            nsc_explain(c, f, &ask);
            if (nsc_is_explained_by(f, "SHARP_NO_AM"))
                f->title = nsc_words(c, "%s; SHARP found no Aggregation Manager (sharp_am)", f->title);
        }
        f->count += e->count;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        if (shown[e->kind == NCCLSCOPE_KIND_COLLNET_FAILED]++ < 2)
            nsc_show(c, f, &e->where);
    }
}
