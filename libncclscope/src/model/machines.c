/* machines.c - host names to machines, by what the log proves. */
#include "model/machines.h"

#include "model/gpus.h"
#include "model/path.h"

#include <stdlib.h>
#include <string.h>

bool nsc_shares_by_request(const struct ncclscope_model *m, const struct nsc_rank *r)
{
    const struct nsc_env *allowed = nsc_env_of(m, r->proc, "NCCL_MULTI_RANK_GPU_ENABLE");
    return allowed && nsc_text_is(nsc_say(m, allowed->value), "1");
}

static uint32_t host_at(const struct ncclscope_model *m, nsc_str name)
{
    size_t low = 0, high = m->hosts.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = nsc_compare(nsc_say(m, m->hosts.item[mid].name), nsc_say(m, name));
        if (!c)
            return (uint32_t)mid;
        low = c < 0 ? mid + 1 : low;
        high = c < 0 ? high : mid;
    }
    return NSC_NONE;
}

uint32_t nsc_machine_of(const struct ncclscope_model *m, nsc_str host)
{
    uint32_t i = host_at(m, host);
    return i == NSC_NONE ? NSC_NONE : m->hosts.item[i].machine;
}

/* While they are found: hosts point to one of their machine, the first of them to itself; what joined them. */
struct joined {
    uint32_t *to;
    const char **why;
    struct nsc_where *where;
    /* of communicators, listed when the first connection between two hosts asks: */
    bool listed;
    uint32_t *next;       /* by rank: another of its host, or NSC_NONE */
    struct nsc_map first; /* communicator and host: one of their ranks, from which next leads on */
    struct nsc_map seats; /* communicator, host and bus id: taken */
};

static uint32_t root(const struct joined *j, uint32_t host)
{
    while (j->to[host] != host)
        host = j->to[host] = j->to[j->to[host]]; /* the way is half as long for the next who asks */
    return host;
}

static void join(const struct joined *j, uint32_t a, uint32_t b, const char *why, const struct nsc_where *where)
{
    a = root(j, a);
    b = root(j, b);
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (a == b)
        return;
    j->to[high] = low;
    if (!j->why[low]) {
        j->why[low] = why;
        j->where[low] = *where;
    }
}

static const char by_address[] = "processes under these names bootstrap from one address";
static const char by_node[] = "their pods run on one node (nodeName)";

bool nsc_is_one_address(const struct ncclscope_model *m, const struct nsc_proc *p)
{
    nsc_text address = p->address ? nsc_say(m, p->address) : (nsc_text){NULL, 0};
    for (size_t i = 0; i < address.len; i++)
        if (strchr("xX*<>", address.ptr[i]))
            return false;
    return address.len && (!nsc_text_starts(address, "127.") || nsc_text_is(nsc_say(m, p->address_if), "lo"));
}

bool nsc_have_one_address(const struct ncclscope_model *m, uint32_t a, uint32_t b)
{
    const struct nsc_proc *p = &m->procs.item[a], *q = &m->procs.item[b];
    return p->address == q->address && nsc_is_one_address(m, p);
}

/* Members of one communicator that came to be reach each other at these addresses: one address is one machine. */
static void join_by_address(const struct ncclscope_model *m, const struct nsc_comm *c, const struct joined *j)
{
    struct nsc_map seen = {0};
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        const struct nsc_proc *p = &m->procs.item[r->proc];
        struct nsc_key key = {p->address, 0, 0};
        if (!nsc_is_done(r) || !nsc_is_one_address(m, p))
            continue;
        uint32_t host = host_at(m, p->host), other = nsc_map_get(&seen, key);
        if (other != NSC_NONE)
            join(j, host, other, by_address, &p->address_at);
        else
            nsc_map_put(&seen, key, host);
    }
    nsc_map_free(&seen);
}

/* NCCL counted one node, without NVLink between nodes, and nobody told it so (NCCL_HOSTID). */
static void join_by_count(const struct ncclscope_model *m, const struct nsc_comm *c, const struct joined *j)
{
    const struct nsc_rank *one = c->count ? &m->ranks.item[m->members.item[c->first]] : NULL;
    for (uint32_t i = 1; one && !c->guessed && c->nnodes == 1 && i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        bool told = nsc_env_of(m, r->proc, "NCCL_HOSTID") || nsc_env_of(m, one->proc, "NCCL_HOSTID");
        if (r->mnnvl <= 0 && r->nnodes == 1 && nsc_is_done(r) && nsc_is_done(one) && !told)
            join(j, host_at(m, m->procs.item[one->proc].host), host_at(m, m->procs.item[r->proc].host),
                 "NCCL counts their ranks as one node", &r->shape_at);
    }
}

static void list_seats(struct ncclscope_model *m, struct joined *j)
{
    j->listed = true;
    j->next = nsc_alloc((m->ranks.len + 1) * sizeof *j->next);
    m->no_memory = m->no_memory || !j->next;
    for (uint32_t i = 0; j->next && i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (!r->bus_id || r->comm == NSC_NONE || nsc_shares_by_request(m, r))
            continue;
        struct nsc_key host = {r->comm, m->procs.item[r->proc].host, 0}, seat = {r->comm, host.b, r->bus_id};
        j->next[i] = nsc_map_get(&j->first, host);
        m->no_memory = nsc_map_put(&j->first, host, i) || nsc_map_put(&j->seats, seat, i) || m->no_memory;
    }
}

/* One bus id under both names in one communicator: two machines, and the connection is another's, or a torn line's. */
static bool are_apart(struct ncclscope_model *m, struct joined *j, uint32_t comm, nsc_str a, nsc_str b)
{
    bool apart = false;
    if (!j->listed)
        list_seats(m, j);
    for (uint32_t i = nsc_map_get(&j->first, (struct nsc_key){comm, a, 0}); j->next && i != NSC_NONE && !apart;
         i = j->next[i])
        apart = nsc_map_get(&j->seats, (struct nsc_key){comm, b, m->ranks.item[i].bus_id}) != NSC_NONE;
    return apart;
}

/* P2P and shared memory do not leave a machine, but for NVLink between nodes. */
static void join_by_link(struct ncclscope_model *m, const struct nsc_link *l, struct joined *j)
{
    uint32_t comm = nsc_comm_of(m, l);
    bool inside = l->attribution >= NSC_INFERRED &&
                  (l->family == NSC_SHM || (l->family == NSC_P2P && l->row != NSC_VIA_P2P_MNNVL)) && comm != NSC_NONE &&
                  !m->comms.item[comm].guessed; /* whose ranks may be another's */
    const struct nsc_rank *a = inside ? nsc_member(m, comm, (int64_t)l->src) : NULL,
                          *b = a ? nsc_member(m, comm, (int64_t)l->dst) : NULL;
    if (a && b && m->procs.item[a->proc].host != m->procs.item[b->proc].host &&
        !are_apart(m, j, comm, m->procs.item[a->proc].host, m->procs.item[b->proc].host))
        join(j, host_at(m, m->procs.item[a->proc].host), host_at(m, m->procs.item[b->proc].host),
             "their ranks are joined by P2P or shared memory", &l->where);
}

/* Names whose pods Kubernetes put on one node. */
static void join_by_node(const struct ncclscope_model *m, const struct joined *j)
{
    struct nsc_map seen = {0};
    for (size_t i = 0; m->pods.len && i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        nsc_str node = p->in_pod == NSC_NONE ? 0 : m->pods.item[p->in_pod].node;
        uint32_t host = host_at(m, p->host), other = node ? nsc_map_get(&seen, (struct nsc_key){node, 0, 0}) : host;
        if (other == NSC_NONE)
            nsc_map_put(&seen, (struct nsc_key){node, 0, 0}, host);
        else
            join(j, host, other, by_node, &p->first);
    }
    nsc_map_free(&seen);
}

/* A machine whose node is known is one, and no other is. */
static void name_nodes(struct ncclscope_model *m)
{
    for (size_t i = 0; m->pods.len && i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        struct nsc_machine *x = &m->machines.item[nsc_machine_of(m, p->host)];
        if (p->in_pod == NSC_NONE || !m->pods.item[p->in_pod].node || x->several || x->confidence == NSC_CERTAIN)
            continue;
        x->confidence = NSC_CERTAIN;
        x->why = "the pod's nodeName";
        x->where = p->first;
    }
}

static void list_hosts(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->proc_order.len; i++) { /* in the order of their names */
        nsc_str name = m->procs.item[m->proc_order.item[i]].host;
        if (m->hosts.len && m->hosts.item[m->hosts.len - 1].name == name)
            continue;
        struct nsc_host *h = nsc_vec_push(&m->hosts);
        if (h)
            *h = (struct nsc_host){name, NSC_NONE, NSC_NONE};
        else
            m->no_memory = true;
    }
}

static void make_machines(struct ncclscope_model *m, const struct joined *j)
{
    for (uint32_t i = 0; i < m->hosts.len; i++) {
        if (root(j, i) == i) {
            struct nsc_machine *new_one = nsc_vec_push(&m->machines);
            if (!new_one) {
                m->no_memory = true;
                return;
            }
            *new_one = (struct nsc_machine){.confidence = j->why[i] ? NSC_CERTAIN : NSC_POSSIBLE,
                                            .why = j->why[i] ? j->why[i] : "nothing joins this name to another",
                                            .where = j->where[i],
                                            .first_host = i};
            m->hosts.item[i].machine = (uint32_t)(m->machines.len - 1);
        } else {
            m->hosts.item[i].machine = m->hosts.item[root(j, i)].machine;
        }
        struct nsc_machine *x = &m->machines.item[m->hosts.item[i].machine];
        if (x->hosts++)
            m->hosts.item[x->last_host].next = i;
        x->last_host = i;
    }
    if (m->machines.len == 1 && m->hosts.len == 1) {
        m->machines.item[0].confidence = NSC_LIKELY;
        m->machines.item[0].why = "one host name";
    }
}

/* Ranks of one communicator on one bus id under two names sit on two GPUs, and so on two machines; two pods on one GPU are the
 * exception. */
static void tell_apart(struct ncclscope_model *m, const struct nsc_comm *c)
{
    struct nsc_map seen = {0};
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        struct nsc_key key = {r->bus_id, 0, 0};
        bool alone = r->bus_id && !nsc_shares_by_request(m, r);
        uint32_t host = host_at(m, m->procs.item[r->proc].host), other = alone ? nsc_map_get(&seen, key) : host;
        if (other == NSC_NONE && nsc_map_put(&seen, key, host))
            m->no_memory = true;
        uint32_t a = m->hosts.item[host].machine, b = other == NSC_NONE ? a : m->hosts.item[other].machine;
        bool other_name = other != NSC_NONE && other != host;
        if (a == b && other_name && m->machines.item[a].confidence == NSC_CERTAIN) {
            struct nsc_machine *x = &m->machines.item[a]; /* one GPU in two pods, or two machines after all */
            bool one_place = x->why == by_address || x->why == by_node;
            x->confidence = one_place ? NSC_LIKELY : NSC_POSSIBLE;
            x->why = one_place ? "one address or node, but one bus id under two of its names"
                               : "their ranks seem joined within a node, but one bus id stands under two of its names";
        }
        for (int k = 0; k < 2 && a != b; k++) {
            struct nsc_machine *x = &m->machines.item[k ? a : b];
            if (x->confidence != NSC_POSSIBLE)
                continue;
            x->confidence = NSC_LIKELY;
            x->why = "another host name has a GPU of the same bus id in one communicator";
            x->where = r->first;
        }
    }
    nsc_map_free(&seen);
}

static void mark_shared_names(struct ncclscope_model *m, const struct nsc_comm *c)
{
    struct nsc_map seen = {0};
    for (uint32_t i = 0; c->shared_names && i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        uint32_t host = host_at(m, m->procs.item[r->proc].host);
        struct nsc_key key = {host, r->bus_id, 0};
        if (r->bus_id && nsc_map_get(&seen, key) != NSC_NONE) {
            struct nsc_machine *x = &m->machines.item[m->hosts.item[host].machine];
            x->several = true;
            x->confidence = NSC_LIKELY;
            x->why = "one communicator has two GPUs of one bus id under this name: several machines share it";
            x->where = r->first;
        }
        if (nsc_map_put(&seen, key, 0))
            m->no_memory = true;
    }
    nsc_map_free(&seen);
}

/* "ens4:192.0.2.1<0>" and "ens4:192.0.2.2<0>" of processes under one name, in one input. Of IPv6 an interface has several addresses. */
static void mark_addresses_apart(struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        struct nsc_key key = {p->host, p->address_if, p->source};
        if (!p->host || p->nameless || !nsc_is_one_address(m, p) || nsc_text_find(nsc_say(m, p->address), ":") >= 0)
            continue;
        uint32_t first = nsc_map_get(&seen, key);
        uint32_t host = first == NSC_NONE ? NSC_NONE : host_at(m, p->host);
        if (first == NSC_NONE)
            nsc_map_put(&seen, key, m->proc_order.item[i]);
        if (host == NSC_NONE || m->procs.item[first].address == p->address ||
            m->machines.item[m->hosts.item[host].machine].several)
            continue;
        struct nsc_machine *x = &m->machines.item[m->hosts.item[host].machine];
        x->several = true;
        x->confidence = NSC_LIKELY;
        x->why = "processes under this name have different addresses on one interface: several machines, or "
                 "containers, share it";
        x->where = p->address_at;
    }
    nsc_map_free(&seen);
}

void nsc_find_machines(struct ncclscope_model *m)
{
    m->hosts.len = m->machines.len = 0;
    list_hosts(m);
    size_t n = m->hosts.len + 1;
    struct joined j = {.to = nsc_alloc(n * sizeof *j.to),
                       .why = nsc_alloc(n * sizeof *j.why),
                       .where = nsc_alloc(n * sizeof *j.where)};
    bool fine = j.to && j.why && j.where;
    m->no_memory = m->no_memory || !fine;
    for (uint32_t i = 0; fine && i < m->hosts.len; i++)
        j.to[i] = i;
    for (size_t i = 0; fine && i < m->comms.len; i++) {
        join_by_address(m, &m->comms.item[i], &j);
        join_by_count(m, &m->comms.item[i], &j);
    }
    for (size_t i = 0; fine && i < m->link_order.len; i++)
        join_by_link(m, &m->links.item[m->link_order.item[i]], &j);
    if (fine) {
        join_by_node(m, &j);
        make_machines(m, &j);
    }
    for (size_t i = 0; fine && !m->no_memory && i < m->comms.len; i++) {
        tell_apart(m, &m->comms.item[i]);
        mark_shared_names(m, &m->comms.item[i]);
    }
    if (fine && !m->no_memory) {
        mark_addresses_apart(m);
        name_nodes(m);
    }
    nsc_free(j.to);
    nsc_free(j.why);
    nsc_free(j.where);
    nsc_free(j.next);
    nsc_map_free(&j.first);
    nsc_map_free(&j.seats);
}
