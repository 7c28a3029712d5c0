/* rules_gdr.c - RDMA without GPUDirect, per NIC and direction: data makes a stop in host memory, and why. */
#include "read/changes.h"
#include "model/topology.h"
#include "rules/ask.h"

#include <stdio.h>

static bool is_slow_provider_of(const struct ncclscope_model *m, const struct nsc_link *l)
{
    const struct nsc_event *e = l->proc == NSC_NONE ? NULL : nsc_event_of(m, l->proc, NCCLSCOPE_KIND_OFI_PROVIDER);
    return e && nsc_is_slow_provider(nsc_say(m, e->text));
}

static bool lacks_gdr(const struct ncclscope_model *m, const struct nsc_link *l)
{
    bool certain;
    struct nsc_known_path p = l->known;
    return nsc_crosses_nodes(m, l, &certain) && p.path == NSC_PATH_NET && !is_slow_provider_of(m, l) &&
           nsc_network_kind(nsc_say(m, l->network)) == NSC_NETWORK_RDMA;
}

/* Is a line about the GPU of this rank? NCCL prints it for all GPUs of the node: by bus id, from 2.24.3 by rank. */
static bool is_of_gpu(const struct ncclscope_model *m, const struct nsc_event *e, const struct nsc_rank *own)
{
    nsc_text words = nsc_say(m, e->text), gpu = nsc_next_word(&words);
    int64_t rank;
    unsigned version = own ? nsc_version_of(m, own->proc).low : 0;
    if (!gpu.len || gpu.ptr[0] == '?' || !own ||
        memchr(gpu.ptr, '[', gpu.len)) /* "0[0]", up to 2.5.7: of the process itself */
        return true;                   /* the line names none; or whose it is is not known */
    if (version >= NSC_CHANGE_GDR_LINE_BY_RANK)
        return nsc_to_i64(gpu, &rank) && rank == own->rank;
    return !own->bus_id || nsc_text_eq(gpu, nsc_say(m, own->bus_id));
}

/* "GPU Direct RDMA Disabled" for the device of this link: by its number where the line has one. */
static const struct nsc_event *disabled(const struct ncclscope_model *m, const struct nsc_link *l,
                                        const struct nsc_rank *own, ncclscope_kind kind)
{
    for (size_t i = nsc_events_of(m, l->proc); i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != l->proc)
            break;
        if (e->kind == kind && (e->number < 0 || l->net_dev < 0 || e->number == l->net_dev) && is_of_gpu(m, e, own))
            return e;
    }
    return NULL;
}

/* How far GPU and NIC are apart, and the limit that held. NSC_LEVEL_UNKNOWN: the log does not say. */
struct gdr_distance {
    enum nsc_level apart, limit;
    const struct nsc_where *line;
    nsc_str type; /* as the GRAPH dump calls it */
};

/* By the line that NCCL prints for the two (its numbers are classes), else by the GRAPH dump. */
static struct gdr_distance distance_of(const struct ncclscope_model *m, uint32_t proc, const struct nsc_event *far,
                                       const struct nsc_gpu_path *path)
{
    struct gdr_distance d = {NSC_LEVEL_UNKNOWN, NSC_LEVEL_UNKNOWN, NULL, 0};
    if (path) {
        d.apart = nsc_level_of(nsc_say(m, path->type));
        d.line = &path->where;
        d.type = path->type;
    }
    if (!far)
        return d;
    struct nsc_version v = nsc_version_of(m, proc);
    nsc_text words = nsc_say(m, far->text);
    int64_t apart, limit;
    nsc_next_word(&words);
    if (!nsc_to_i64(nsc_next_word(&words), &apart) || !nsc_to_i64(nsc_next_word(&words), &limit))
        return d;
    limit -= v.high < NSC_CHANGE_DISTANCE_INCLUDED; /* "distance 2 >= 2": what lies below the number is allowed */
    d.apart = d.type ? d.apart : nsc_level_of_number(&v, apart);
    d.limit = limit < 0 && v.high < NSC_CHANGE_DISTANCE_INCLUDED ? NSC_LEVEL_LOC : nsc_level_of_number(&v, limit);
    d.line = &far->where;
    return d;
}

/* As far as NCCL allows it by itself: from 2.27.3 on through the CPU over C2C too (Grace). */
static enum nsc_level own_limit(const struct ncclscope_model *m, uint32_t proc)
{
    return nsc_version_of(m, proc).low >= NSC_CHANGE_GDR_BY_C2C ? NSC_LEVEL_P2C : NSC_LEVEL_PXB;
}

/* Farther than a limit. PXN: over the NIC of another GPU, whose distance is not known here. */
static bool is_beyond(enum nsc_level apart, enum nsc_level limit)
{
    return apart != NSC_LEVEL_UNKNOWN && apart != NSC_LEVEL_PXN && limit != NSC_LEVEL_UNKNOWN && apart > limit;
}

enum { LAST_WITH_IB_GDR_LEVEL = 20307 }; /* NCCL_NET_GDR_LEVEL is its name since 2.4.2 */

/* A variable that forbids it in this direction, or may. */
static const struct nsc_env *forbids(const struct ncclscope_model *m, const struct nsc_link *l,
                                     const struct gdr_distance *d)
{
    const struct nsc_env *read = nsc_env_is(m, l->proc, "NCCL_NET_GDR_READ", "0"),
                         *c2c = nsc_env_is(m, l->proc, "NCCL_NET_GDR_C2C", "0"),
                         *level = nsc_env_of(m, l->proc, "NCCL_NET_GDR_LEVEL");
    if (read && l->direction == 1)
        return read;
    if (!level && nsc_version_of(m, l->proc).high <= LAST_WITH_IB_GDR_LEVEL)
        level = nsc_env_of(m, l->proc, "NCCL_IB_GDR_LEVEL");
    enum nsc_level allowed = level ? nsc_level_of(nsc_say(m, level->value)) : NSC_LEVEL_UNKNOWN;
    bool none = level && nsc_text_is(nsc_say(m, level->value), "0");
    if (!level || (allowed == NSC_LEVEL_UNKNOWN && !none))
        return d->apart == NSC_LEVEL_P2C ? c2c : NULL;
    if (d->apart != NSC_LEVEL_UNKNOWN)
        return none || is_beyond(d->apart, allowed) ? level : NULL;
    return none || allowed < own_limit(m, l->proc) ? level : NULL;
}

struct gdr_reason {
    enum nsc_gdr_reason cause;
    const struct nsc_where *line;
    struct gdr_distance distance;
    const struct nsc_env *env;   /* that forbids it, or may */
    const struct nsc_where *far; /* the line that says they are too far apart as well; or NULL */
};

/* The rank whose GPU the NIC reads: with PXN that of the proxy. */
static const struct nsc_rank *reading_rank(const struct ncclscope_model *m, const struct nsc_link *l)
{
    if (l->proxy_rank >= 0)
        return nsc_member(m, nsc_comm_of_link(m, l), l->proxy_rank);
    return l->rank == NSC_NONE ? NULL : &m->ranks.item[l->rank];
}

/* What is known of the other connections over the network; and the hosts whose GPUs have NVLink to each other. */
struct gdr_others {
    enum { GDR_OTHERS, GDR_RECEIVES_HAVE_IT, GDR_NO_RECEIVES } what;
    struct nsc_map nvlink;
    struct nsc_map no_module; /* host and NIC to the event by which a process says that the NIC cannot do it there */
};

/* A module is loaded on a host or not: what one process prints of a NIC holds for its neighbours, whose line may be cut off. */
static void find_modules(const struct ncclscope_model *m, struct gdr_others *others)
{
    for (size_t i = 0; i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->kind == NCCLSCOPE_KIND_GDR_NIC && e->proc != NSC_NONE && !m->procs.item[e->proc].nameless &&
            e->number >= 0)
            nsc_map_put(&others->no_module, (struct nsc_key){m->procs.item[e->proc].host, (uint64_t)e->number, 0},
                        m->event_order.item[i]);
    }
}

static const struct nsc_event *neighbours_module(const struct ncclscope_model *m, const struct nsc_link *l,
                                                 const struct gdr_others *others)
{
    struct nsc_key key = {m->procs.item[l->proc].host, (uint64_t)l->net_dev, 0};
    uint32_t at = l->net_dev < 0 ? NSC_NONE : nsc_map_get(&others->no_module, key);
    return at == NSC_NONE ? NULL : &m->events.item[at];
}

/* Is it known that this GPU sends with GPUDirect by NCCL's own choice? Ampere and later from 2.19.1 on; NVLink to another GPU. */
static bool sends_by_itself(const struct ncclscope_model *m, const struct nsc_link *l, const struct gdr_others *others)
{
    struct nsc_gpu_class k = nsc_gpu_of(m, l->proc);
    const struct nsc_rank *own = l->rank == NSC_NONE ? NULL : &m->ranks.item[l->rank];
    const struct nsc_gpu_node *g = own ? nsc_gpu_node_of(m, own) : NULL;
    return (k.gpu && k.gpu->cc >= 80 && nsc_version_of(m, l->proc).low >= NSC_CHANGE_GDR_READ_OF_AMPERE) ||
           (g && g->nvlink > 0) ||
           nsc_map_get(&others->nvlink, (struct nsc_key){m->procs.item[l->proc].host, 0, 0}) != NSC_NONE;
}

static enum nsc_gdr_reason reason_of_line(const struct nsc_event *off)
{
    return nsc_text_find(off->where.text, "(not supported by GPU") >= 0  ? NSC_GDR_NOT_BY_GPU
           : nsc_text_find(off->where.text, "not supported by GPU") >= 0 ? NSC_GDR_NO_MODULE_OR_GPU
                                                                         : NSC_GDR_NO_MODULE;
}

static struct gdr_reason reason_of(const struct ncclscope_model *m, const struct nsc_link *l,
                                   const struct gdr_others *others)
{
    struct gdr_reason r = {.cause = NSC_GDR_UNKNOWN};
    if (l->proc == NSC_NONE)
        return r;
    const struct nsc_rank *own = reading_rank(m, l);
    const struct nsc_gpu_path *path = own ? nsc_nic_path_of(m, own, l->net_dev) : NULL;
    const struct nsc_event *module = disabled(m, l, NULL, NCCLSCOPE_KIND_GDR_NIC),
                           *far = disabled(m, l, own, NCCLSCOPE_KIND_GDR_PAIR);
    module = module ? module : neighbours_module(m, l, others);
    bool silent =
        !nsc_event_of(m, l->proc, NCCLSCOPE_KIND_OFI_PROVIDER) && /* what its plugin says is not in the input */
        nsc_text_find(nsc_say(m, l->network), "ibfabric") >= 0;
    const struct nsc_event *ofi = nsc_event_of(m, silent ? NSC_NONE : l->proc, NCCLSCOPE_KIND_OFI_GDR_OFF);
    const struct nsc_env *no_dmabuf = nsc_env_is(m, l->proc, "NCCL_DMABUF_ENABLE", "0");
    struct gdr_distance d = r.distance = distance_of(m, l->proc, far, path);
    const struct nsc_env *env = forbids(m, l, &d);
    bool is_far = is_beyond(d.apart, own_limit(m, l->proc)),
         wider = !env && nsc_env_of(m, l->proc, "NCCL_NET_GDR_LEVEL");
    bool hidden = !env && far && d.apart != NSC_LEVEL_UNKNOWN && !is_far && is_beyond(d.apart, d.limit);
    ofi = ofi ? ofi : nsc_event_of(m, l->proc, NCCLSCOPE_KIND_OFI_NO_GDR);
    r.far = far ? &far->where : NULL;
    if (module) {
        r.cause = no_dmabuf ? NSC_GDR_BY_VARIABLE : reason_of_line(module);
        r.env = no_dmabuf;
        r.line = &module->where;
    } else if (ofi) {
        r.cause = NSC_GDR_NO_LIBFABRIC;
        r.line = &ofi->where;
    } else if (m->procs.item[l->proc].flat_pci && (is_far || !d.line)) {
        r.cause = NSC_GDR_FLAT_PCI;
        r.line = &m->procs.item[l->proc].flat_at;
    } else if (is_far && (!wider || far)) { /* beyond NCCL's own level too, whatever a variable says */
        r.cause = NSC_GDR_TOO_FAR;
        r.line = d.line;
    } else if (env || hidden) {
        r.cause = env ? NSC_GDR_BY_VARIABLE : NSC_GDR_BY_HIDDEN_LEVEL;
        r.env = env;
        r.line = env ? &env->where : d.line;
    } else if (far) {
        r.cause = NSC_GDR_TOO_FAR;
        r.line = &far->where;
    } else if (l->direction == 1 && others->what != GDR_OTHERS && !sends_by_itself(m, l, others) &&
               !nsc_env_is(m, l->proc, "NCCL_NET_GDR_READ", "1")) {
        r.cause = others->what == GDR_NO_RECEIVES ? NSC_GDR_SENDS_ALONE : NSC_GDR_SEND_ONLY;
    }
    return r;
}

const struct nsc_env *nsc_staged_by(const struct ncclscope_model *m, const struct nsc_link *l)
{
    if (!lacks_gdr(m, l))
        return NULL;
    struct gdr_others others = {.what = GDR_OTHERS};
    struct gdr_reason r = reason_of(m, l, &others);
    return r.cause == NSC_GDR_BY_VARIABLE ? r.env : NULL;
}

/* Does the variable exclude it for certain, or only where GPU and NIC are as far apart as they may be? */
static bool is_certain(const struct ncclscope_model *m, const struct gdr_reason *r)
{
    return !r->env->by_pod &&
           (r->distance.apart != NSC_LEVEL_UNKNOWN || nsc_level_of(nsc_say(m, r->env->value)) == NSC_LEVEL_LOC ||
            nsc_text_is(nsc_say(m, r->env->value), "0"));
}

/* Where no rule knows why: the line of the link's input that may say so in words which no rule here reads. */
static void quote_denial(struct nsc_case *c, struct nsc_finding *f, const struct nsc_link *l)
{
    static const char open[] = "The log does not say why.";
    if (l->proc == NSC_NONE || !f->open || strncmp(f->cause, open, sizeof open - 1) != 0)
        return;
    const struct nsc_where *w = &c->m->sources.item[c->m->procs.item[l->proc].source].denies_gdr;
    if (!w->line)
        return;
    nsc_text said = nsc_text_upto(nsc_message_of(w), 160);
    f->cause = nsc_words(c, "No line says why, unless this does (%s): \"%.*s\".%s", nsc_line_in(c, w), (int)said.len,
                         said.ptr, f->cause + sizeof open - 1);
    nsc_show_first(c, f, w);
}

static void explain(struct nsc_case *c, struct nsc_finding *f, const struct gdr_reason *r, const struct nsc_link *l)
{
    const struct ncclscope_model *m = c->m;
    const char *type = r->distance.type ? nsc_say(m, r->distance.type).ptr : nsc_level_name(r->distance.apart);
    struct nsc_ask ask = {
        .c = c, .m = m, .proc = l->proc, .link = l, .reason = (int)r->cause, .distance = type, .env = r->env};
    nsc_show_first(c, f, r->line);
    nsc_explain(c, f, &ask);
    quote_denial(c, f, l);
    bool module =
        r->cause == NSC_GDR_NO_MODULE || r->cause == NSC_GDR_NO_MODULE_OR_GPU || r->cause == NSC_GDR_NOT_BY_GPU;
    bool beyond = is_beyond(r->distance.apart, own_limit(m, l->proc)) && !nsc_env_of(m, l->proc, "NCCL_NET_GDR_LEVEL");
    if (module && (r->far || beyond)) {
        f->cause =
            r->far
                ? nsc_words(c, "%s Besides, it says that GPU and NIC are too far apart for it.", f->cause)
                : nsc_words(c,
                            "%s Besides, in NCCL's topology GPU and NIC are farther apart (%s) than NCCL's own limit.",
                            f->cause, type);
        f->fix =
            nsc_words(c,
                      "%s That alone changes nothing: the GPU must also be nearer to the NIC (another slot or NIC), "
                      "or NCCL_NET_GDR_LEVEL must allow the distance, if measuring both shows that it helps.",
                      f->fix);
        nsc_show(c, f, r->far ? r->far : r->distance.line);
    }
    if (r->cause == NSC_GDR_BY_VARIABLE) {
        f->confidence = is_certain(m, r) ? "certain" : "likely";
        f->caused_by = NSC_ID_ENV_GDR_LIMITED;
        f->cause = r->env->by_pod ? nsc_words(c, "%s%s", f->cause, nsc_env_source(r->env)) : f->cause;
    }
}

enum { NIC_BITS = 64, SENDS = 1 << 1, RECEIVES = 1 << 2 };

/* "NICs 0-7, 9 send and receive" of those of one kind, and how many of them there are. */
static size_t nics_of_kind(const unsigned char seen[NIC_BITS + 1], unsigned char kind, char *buf, size_t size)
{
    char numbers[400];
    size_t n = 0, nics = 0;
    const char *what = kind == (SENDS | RECEIVES) ? " send and receive"
                       : kind == SENDS            ? " send"
                       : kind == RECEIVES         ? " receive"
                                                  : "";
    for (unsigned i = 0, last; i < NIC_BITS && n + 30 < sizeof numbers; i = last + 1) {
        for (last = i; seen[i] == kind && last + 1 < NIC_BITS && seen[last + 1] == kind;)
            last++;
        if (seen[i] != kind)
            continue;
        n += (size_t)snprintf(numbers + n, sizeof numbers - n, last > i ? "%s%u-%u" : "%s%u", n ? ", " : "", i, last);
        nics += last - i + 1;
    }
    int len = snprintf(buf, size, "NIC%s %s%s", nics == 1 ? "" : "s", n ? numbers : "", what);
    return len < 0 || (size_t)len >= size ? 0 : (size_t)len;
}

/* "NICs 0-7 send and receive, NIC 8 send, and others": by bits of what was seen of each; those of a kind are told as one. The last
 * stands for all that have a higher number. */
static const char *nics(struct nsc_case *c, const unsigned char seen[NIC_BITS + 1])
{
    char buf[1400];
    size_t n = 0;
    bool told[(SENDS | RECEIVES) * 2] = {false};
    buf[0] = 0;
    for (unsigned i = 0; i < NIC_BITS; i++) {
        if (!seen[i] || told[seen[i]])
            continue;
        told[seen[i]] = true;
        if (n)
            n += (size_t)snprintf(buf + n, sizeof buf - n, ", ");
        n += nics_of_kind(seen, seen[i], buf + n, sizeof buf - n);
    }
    return n ? nsc_words(c, " (%s%s)", buf, seen[NIC_BITS] ? ", and others" : "") : "";
}

/* Are all ranks of the input's communicators here, each communicator on one host? */
static bool stays_on_hosts(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        for (uint32_t n = 1; n < k->count; n++)
            if (m->procs.item[m->ranks.item[m->members.item[k->first + n]].proc].host !=
                m->procs.item[m->ranks.item[m->members.item[k->first]].proc].host)
                return false;
        if (k->seen < k->nranks)
            return false;
    }
    return m->comms.len;
}

/* " (mlx5_0, mlx5_1 of node1)": the devices that NCCL says it of, where few and all on one host. */
static const char *disabled_of(struct nsc_case *c, const struct nsc_finding *f)
{
    enum { MOST = 4 };
    const struct ncclscope_model *m = c->m;
    nsc_str named[MOST];
    size_t n = 0, len = 0;
    char buf[200] = "";
    for (size_t i = 0; i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        size_t k = 0;
        if (e->kind != NCCLSCOPE_KIND_GDR_NIC || !e->text)
            continue;
        while (k < n && named[k] != e->text)
            k++;
        if (k == MOST)
            return "";
        if (k == n) {
            named[n++] = e->text;
            len += (size_t)snprintf(buf + len, sizeof buf - len, "%s%.40s", len ? ", " : "", nsc_say(m, e->text).ptr);
        }
    }
    if (!n || f->hosts.len != 1)
        return "";
    return nsc_words(c, " (%s of %s)", buf, nsc_say(m, f->hosts.item[0]).ptr);
}

/* "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'", where the lines of connections were left out or came later: how data will go. */
static void tell_disabled(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    const struct nsc_event *first = NULL;
    if (stays_on_hosts(m))
        return;
    for (size_t i = 0; i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->kind != NCCLSCOPE_KIND_GDR_NIC)
            continue;
        first = first ? first : e;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
        f->count++;
        if (e->proc != NSC_NONE)
            nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    if (!f)
        return;
    struct nsc_ask ask = {.c = c, .m = m, .proc = first->proc, .reason = (int)reason_of_line(first), .distance = ""};
    f->title = nsc_words(
        c,
        "NCCL says that GPUDirect RDMA is off for its network devices%s: data to other nodes goes through host memory",
        disabled_of(c, f));
    nsc_explain(c, f, &ask);
}

static const uint32_t several = NSC_NONE - 1;

/* One host, as long as it is the same. */
static uint32_t same_host(uint32_t before, const struct ncclscope_model *m, const struct nsc_link *l)
{
    uint32_t host = l->proc == NSC_NONE ? several : m->procs.item[l->proc].host;
    return before == NSC_NONE || before == host ? host : several;
}

void nsc_rule_gdr_off(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    if (!m->link_order.len) {
        tell_disabled(c);
        return;
    }
    size_t at[NSC_GDR_REASONS];
    bool there[NSC_GDR_REASONS] = {false}, receives_have_it = false, receives_lack_it = false, sends_have_it = false;
    bool receives = false;
    struct gdr_others others = {.what = GDR_OTHERS};
    unsigned char seen[NSC_GDR_REASONS][NIC_BITS + 1] = {{0}};
    struct gdr_reason first[NSC_GDR_REASONS];
    const struct nsc_link *link[NSC_GDR_REASONS];
    uint32_t all = NSC_NONE,
             own[NSC_GDR_REASONS]; /* hosts that print connections over the network, and those of the reason */
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p = l->known;
        if (l->family == NSC_P2P && l->proc != NSC_NONE &&
            (p.path == NSC_PATH_NVLINK || l->read)) /* NCCL reads by itself where Ampere has NVLink */
            nsc_map_put(&others.nvlink, (struct nsc_key){m->procs.item[l->proc].host, 0, 0}, 0);
        receives = receives || (l->family == NSC_NET && l->direction != 1);
        all = l->family == NSC_NET ? same_host(all, m, l) : all;
        receives_have_it = receives_have_it || (l->direction == 2 && l->gdrdma);
        sends_have_it = sends_have_it || (l->direction == 1 && l->gdrdma);
        receives_lack_it = receives_lack_it || (l->direction == 2 && lacks_gdr(m, l));
    }
    others.what = sends_have_it                           ? GDR_OTHERS
                  : receives_have_it && !receives_lack_it ? GDR_RECEIVES_HAVE_IT
                  : receives                              ? GDR_OTHERS
                                                          : GDR_NO_RECEIVES;
    find_modules(m, &others);
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (!lacks_gdr(m, l))
            continue;
        struct gdr_reason r = reason_of(m, l, &others);
        if (!there[r.cause]) {
            nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "fault", "likely");
            if (c->f->no_memory)
                break;
            at[r.cause] = c->f->list.len - 1;
            there[r.cause] = true;
            own[r.cause] = NSC_NONE;
            first[r.cause] = r;
            link[r.cause] = l;
        }
        nsc_add_link(c, &c->f->list.item[at[r.cause]], l);
        own[r.cause] = same_host(own[r.cause], m, l);
        if (l->net_dev >= 0)
            seen[r.cause][l->net_dev < NIC_BITS ? l->net_dev : NIC_BITS] |= (unsigned char)(1u << l->direction);
    }
    nsc_map_free(&others.nvlink);
    nsc_map_free(&others.no_module);
    for (int i = 0; i < NSC_GDR_REASONS; i++) {
        if (!there[i])
            continue;
        struct nsc_finding *f = &c->f->list.item[at[i]];
        bool apart = false; /* the other end has a reason of its own */
        for (int k = 0; k < NSC_GDR_REASONS; k++)
            apart = apart || (there[k] && own[k] != own[i]);
        nsc_text one = all == several && own[i] < several ? nsc_say(m, own[i]) : (nsc_text){NULL, 0};
        f->title = nsc_words(c, "%s use%s RDMA without GPUDirect%s%s%.*s%s: data goes through host memory",
                             nsc_count_pairs(c, f, "ranks on different nodes"), f->all_pairs == 1 ? "s" : "",
                             nics(c, seen[i]), one.len ? ", at the end of " : "", (int)one.len, one.len ? one.ptr : "",
                             !one.len ? ""
                             : apart  ? " (other ends have another reason, listed apart)"
                                      : " alone");
        explain(c, f, &first[i], link[i]);
    }
}
