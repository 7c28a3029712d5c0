/* known_beside.c - what an input tells of paths and networks without its connections: rings, devices, the network, P2P, commands, runs. */
#include "model/variables.h"
#include "rules/known_beside.h"

/* Does NCCL list the loopback for its sockets, and nothing else? */
static bool has_loopback_alone(const struct ncclscope_model *m)
{
    bool any = false;
    for (size_t i = 0; i < m->devices.len; i++) {
        if (!nsc_text_is(nsc_say(m, m->devices.item[i].net), "Socket"))
            continue;
        if (!nsc_text_is(nsc_say(m, m->devices.item[i].name), "lo"))
            return false;
        any = true;
    }
    return any;
}

/* "; somebody stopped 2 from the keyboard (line 1376)" */
static const char *stopped_by_hand(struct nsc_case *c)
{
    unsigned long long n = 0, first = 0;
    for (size_t i = 0; i < c->m->happened.len; i++)
        if (c->m->happened.item[i].number == NCCLSCOPE_KIND_ENDED_BY_HAND) {
            first = n++ ? first : (unsigned long long)c->m->happened.item[i].where.line;
        }
    return n ? nsc_words(c, "; somebody stopped %llu from the keyboard (first on line %llu)", n, first) : "";
}

/* "24 coll channels, 0 collnet channels, 16 nvls channels": NCCL counts such where multicast is available. */
static const char *multicast_channels(struct nsc_case *c)
{
    for (size_t i = 0; i < c->m->ranks.len; i++)
        if (c->m->ranks.item[i].nvls > 0)
            return nsc_words(c, " NCCL has %lld channels for NVLink SHARP: the GPUs are joined by NVSwitches.",
                             (long long)c->m->ranks.item[i].nvls);
    return "";
}

/* "NVLS multicast support is available on dev 2 (NVLS_NCHANNELS 16)", and no GPU that has it not. */
static const char *multicast(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_event *first = NULL;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind == NCCLSCOPE_KIND_NVLS_NO)
            return "";
        first = first || e->kind != NCCLSCOPE_KIND_NVLS_YES ? first : e;
    }
    return first ? nsc_words(c, " NVLS multicast is available (%s): the GPUs are joined by NVSwitches.",
                             nsc_line_in(c, &first->where))
                 : multicast_channels(c);
}

/* "transport/net_socket.cc:474 -> 6", "NET/IB : Got completion ...": what failed went over a network, whatever made the connection. */
const char *nsc_failed_network(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->events.len && nsc_any_error(c); i++) {
        const struct nsc_event *e = &m->events.item[i];
        bool gin = nsc_text_find(e->where.text, "/gin") >= 0 || nsc_text_find(e->where.text, "/gdaki/") >= 0;
        bool back = e->kind == NCCLSCOPE_KIND_BACKTRACE && !gin; /* the GPU's own queue pairs are another thing */
        const char *net =
            back && nsc_is_in_handshake(m, e) ? "the TCP sockets by which RDMA connections (NET/IB) are agreed on"
            : back && nsc_text_find(e->where.text, "transport/net_socket.cc:") >= 0 ? "TCP sockets (NET/Socket)"
            : e->kind == NCCLSCOPE_KIND_IB_COMPLETION || (back && nsc_text_find(e->where.text, "transport/net_ib") >= 0)
                ? "RDMA (NET/IB)"
                : NULL;
        if (net)
            return nsc_words(c, "the failure happened over %s (%s)", net, nsc_line_in(c, &e->where));
    }
    return "";
}

/* "NET/IB : Using [0]rocep1s0f1:1/RoCE [1]roceP2p1s0f1:1/RoCE": the devices of the first host that lists any. */
static const char *devices_at_hand(struct nsc_case *c)
{
    enum { SHOWN = 4 };
    const struct ncclscope_model *m = c->m;
    const struct nsc_net_device *first = NULL;
    const char *names = "";
    bool soft = true;
    size_t n = 0;
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        if (!d->name || !nsc_text_is(nsc_say(m, d->net), "IB") || (first && d->host != first->host))
            continue;
        first = first ? first : d;
        names = n < SHOWN ? nsc_words(c, "%s%s%s", names, n ? ", " : "", nsc_say(m, d->name).ptr) : names;
        soft = soft && nsc_is_soft_rdma(nsc_say(m, d->name));
        n++;
    }
    return n ? nsc_words(c, " NCCL found RDMA devices%s (%s%s); no line says which network it took.",
                         soft ? ", in software alone" : "", names, n > SHOWN ? " ..." : "")
             : "";
}

/* "eth0", "mlx5_0, mlx5_1, mlx5_2 and others": the devices that NCCL lists for a network. */
static const char *names_of(struct nsc_case *c, nsc_str net)
{
    enum { MOST = 3 };
    nsc_str names[MOST];
    size_t n = 0;
    const char *list = "";
    for (size_t i = 0; i < c->m->devices.len; i++) {
        const struct nsc_net_device *d = &c->m->devices.item[i];
        size_t k = 0;
        while (k < n && names[k] != d->name)
            k++;
        if (!d->name || d->net != net || k < n)
            continue;
        if (n == MOST)
            return nsc_words(c, "%s and others", list);
        names[n++] = d->name;
        list = nsc_words(c, "%s%s%s", list, n == 1 ? "" : ", ", nsc_say(c->m, d->name).ptr);
    }
    return list;
}

/* "NET/FastSocket : Using [0]ens8:192.0.2.1<0>", of a plugin that has no RDMA devices: the first network that devices are listed of. */
static const char *interface_at_hand(struct nsc_case *c)
{
    for (size_t i = 0; i < c->m->devices.len; i++) {
        const struct nsc_net_device *d = &c->m->devices.item[i];
        if (d->name && d->net && !nsc_text_is(nsc_say(c->m, d->net), "IB"))
            return nsc_words(c, " NCCL lists %s for the network %s; no line says which network it took.",
                             names_of(c, d->net), nsc_say(c->m, d->net).ptr);
    }
    return "";
}

/* "GPU Direct RDMA Enabled for GPU 4 / HCA 2 (distance 5 <= 5), read 0" */
static const char *pairs_with_gdr(struct nsc_case *c)
{
    uint64_t first = 0;
    for (size_t i = 0; i < c->m->procs.len; i++) {
        uint64_t line = c->m->procs.item[i].gdr_pair_at.line;
        first = line && (!first || line < first) ? line : first;
    }
    return first ? nsc_words(c, " NCCL finds GPUs and NICs near enough for GPUDirect RDMA (first in line %llu).",
                             (unsigned long long)first)
                 : "";
}

/* "NET/IB : GPU Direct RDMA (DMABUF) enabled for HCA 0 'mlx5_0'": of how many NICs of the first process that says it, and by whose words. */
static const char *nics_with_gdr(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_event *first = NULL;
    unsigned n = 0;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != NCCLSCOPE_KIND_IB_GDR || (first && e->proc != first->proc))
            continue;
        first = first ? first : e;
        n++;
    }
    ptrdiff_t at = first ? nsc_text_find(first->where.text, "NET/") : -1;
    nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(first->where.text, (size_t)at),
             net = nsc_next_word(&rest);
    return net.len && net.len < 40
               ? nsc_words(c, " %.*s has GPUDirect RDMA on %u NIC%s of the first process that says so (%s).",
                           (int)net.len, net.ptr, n, n == 1 ? "" : "s", nsc_line_in(c, &first->where))
               : pairs_with_gdr(c);
}

/* "NET/OFI Initializing aws-ofi-nccl 1.13.2-aws", and no line tells what it found. */
static const char *plugin_at_hand(struct nsc_case *c)
{
    for (size_t i = 0; i < c->m->plugins.len; i++) {
        nsc_text version = nsc_say(c->m, c->m->plugins.item[i].version);
        if (nsc_text_starts(version, "aws-ofi-nccl "))
            return nsc_words(c, " The plugin %s started; no line says which network NCCL took.", version.ptr);
    }
    return "";
}

/* Communicators of one rank each have nobody to talk to over a network. */
static bool is_each_alone(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].nranks != 1)
            return false;
    return m->comms.len > 0;
}

/* Where no line says which network was chosen: the provider of libfabric's plugin, with how many NICs it found, or the devices. */
static const char *network_at_hand(struct nsc_case *c)
{
    const struct nsc_event *provider = nsc_event_of(c->m, NSC_NONE, NCCLSCOPE_KIND_OFI_PROVIDER);
    if (!provider || !provider->text) {
        const char *plugin = plugin_at_hand(c), *rdma = *plugin ? plugin : devices_at_hand(c);
        return nsc_words(c, "%s%s", *rdma ? rdma : interface_at_hand(c), nics_with_gdr(c));
    }
    long long nics = (long long)provider->number;
    return nsc_words(c, " For other nodes, if there are any, aws-ofi-nccl selected the provider %s%s (%s).",
                     nsc_say(c->m, provider->text).ptr,
                     nics > 0 ? nsc_words(c, ", on %lld NIC%s", nics, nics == 1 ? "" : "s") : "",
                     nsc_line_in(c, &provider->where));
}

/* "cudaDriverVersion 11000" beside "NCCL version 2.14.3+cuda11.7": CUDA allows that within one major release, and not for all calls; beyond
 * it with libraries of its own (CUDA compatibility). */
static const char *older_driver(struct nsc_case *c)
{
    for (size_t i = 0; i < c->m->procs.len; i++) {
        int64_t major, minor, driver = (int64_t)c->m->procs.item[i].driver; /* 11040: 11.4 */
        if (!driver || !nsc_built_for(c->m, (uint32_t)i, &major, &minor) || driver >= major * 1000 + minor * 10)
            continue;
        return nsc_words(c, " The driver is of CUDA %lld.%lld and NCCL was built with %lld.%lld: %s.",
                         (long long)driver / 1000, (long long)driver % 1000 / 10, (long long)major, (long long)minor,
                         driver / 1000 == major
                             ? "within one major release CUDA allows that, but calls that the driver does not know "
                               "yet fail"
                             : "across major releases CUDA needs its forward compatibility package");
    }
    return "";
}

/* aws-ofi-nccl's own word that it goes without GPUDirect RDMA. */
static const char *plugin_without_gdr(struct nsc_case *c)
{
    const struct nsc_event *e = nsc_event_of(c->m, NSC_NONE, NCCLSCOPE_KIND_OFI_GDR_OFF);
    e = e ? e : nsc_event_of(c->m, NSC_NONE, NCCLSCOPE_KIND_OFI_NO_GDR);
    return e ? nsc_words(c, " aws-ofi-nccl goes without GPUDirect RDMA here (%s).", nsc_line_in(c, &e->where)) : "";
}

/* How many ranks of each communicator a host has, and under no communicator's number how many of its processes have GPUs of their own. */
static bool count_neighbours(const struct ncclscope_model *m, struct nsc_map *counts)
{
    bool fine = true;
    for (size_t i = 0; i < m->ranks.len + m->procs.len; i++) {
        const struct nsc_rank *r = i < m->ranks.len ? &m->ranks.item[i] : NULL;
        const struct nsc_proc *p = &m->procs.item[r ? r->proc : i - m->ranks.len];
        struct nsc_key key = {r ? r->comm : NSC_NONE, p->host, !r};
        uint32_t before = nsc_map_get(counts, key);
        if (!p->nameless && (r || p->devices))
            fine = !nsc_map_put(counts, key, before == NSC_NONE ? 1 : before + 1) && fine;
    }
    return fine;
}

/* "Check P2P Type intraNodeP2pSupport 0" of a communicator with several ranks on a host: one alone has no P2P with any either. Nothing where
 * another one has it. */
static const char *lacks_p2p(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_where *line = NULL;
    nsc_str host = 0;
    bool any = false;
    struct nsc_map counts = {0};
    c->f->no_memory = !count_neighbours(m, &counts) || c->f->no_memory;
    for (size_t i = 0; i < m->ranks.len + m->threads.len; i++) {
        const struct nsc_rank *r = i < m->ranks.len ? &m->ranks.item[i] : NULL;
        const struct nsc_thread *t = r ? NULL : &m->threads.item[i - m->ranks.len];
        const struct nsc_proc *p = &m->procs.item[r ? r->proc : t->proc];
        int64_t direct = r ? r->direct : t->direct;
        any = any || direct > 0;
        if (line || direct != 0 || p->nameless)
            continue;
        uint32_t n = nsc_map_get(&counts, (struct nsc_key){r ? r->comm : NSC_NONE, p->host, !r});
        if ((r && r->local_ranks > 1) || (n != NSC_NONE && n > 1)) {
            line = r ? &r->direct_at : &t->direct_at;
            host = p->host;
        }
    }
    nsc_map_free(&counts);
    return line && line->line && !any ? nsc_words(c, " NCCL does not find direct P2P between all GPUs of %s (%s).",
                                                  nsc_say(m, host).ptr, nsc_line_in(c, line))
                                      : "";
}

/* "NCCL_P2P_DISABLE=1": does such a word of a command forbid a path? */
static bool forbids_path(nsc_text name, nsc_text value)
{
    static const struct {
        const char *name, *value;
    } settings[] = {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SHM_DISABLE", "1"}, {"NCCL_IB_DISABLE", "1"},
                    {"NCCL_P2P_LEVEL", "LOC"}, {"NCCL_NET", "Socket"},    {"NCCL_NET_GDR_LEVEL", "LOC"},
                    {"NCCL_NVLS_ENABLE", "0"}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (nsc_text_is(name, settings[i].name) && nsc_text_is(value, settings[i].value))
            return true;
    return false;
}

/* What the program, or cuMem, says of how GPUs of a node share memory. */
static const char *ways_of_node(struct nsc_case *c)
{
    const struct nsc_own_record *asked = nsc_first_heard(c->m, NCCLSCOPE_KIND_PROGRAM_NO_PEER);
    const struct nsc_event *e = nsc_event_of(c->m, NSC_NONE, NCCLSCOPE_KIND_CUMEM_HOST_NO);
    nsc_text said = asked ? nsc_said(c->m, asked, "reason") : (nsc_text){NULL, 0};
    const char *peers = asked ? nsc_words(c, " The program says: %.*s (%s).", (int)(said.len < 80 ? said.len : 80),
                                          said.ptr, nsc_line_in(c, &asked->where))
                              : "";
    return e ? nsc_words(c, "%s If GPUs share host memory, they do so through /dev/shm: cuMem gives none here (%s).",
                         peers, nsc_line_in(c, &e->where))
             : peers;
}

/* Where no line is a process's own, a command is all that tells of its variables: those of the first that forbid paths. */
static const char *forbidden_by_command(struct nsc_case *c)
{
    const struct nsc_own_record *r = nsc_first_heard(c->m, NCCLSCOPE_KIND_COMMAND);
    const char *set = "";
    for (size_t i = 0; i < c->m->procs.len; i++)
        if (!c->m->procs.item[i].nameless)
            return "";
    nsc_text rest = r ? nsc_words_of_command(c->m, r) : (nsc_text){NULL, 0}, name, value;
    while (nsc_next_setting(&rest, &name, &value))
        if (forbids_path(name, value))
            set = nsc_words(c, "%s%s%.*s=%.*s", set, *set ? ", " : "", (int)name.len, name.ptr, (int)value.len,
                            value.ptr);
    bool inside = strstr(set, "NCCL_P2P_DISABLE=1") && strstr(set, "NCCL_SHM_DISABLE=1");
    return *set ? nsc_words(c, " The command in %s sets %s%s.", nsc_line_in(c, &r->where), set,
                            inside ? ": GPUs of one node then talk over the network" : "")
                : "";
}

/* " on eth0": what NCCL lists for one of its own two networks, where that is the one. */
static const char *interfaces_of(struct nsc_case *c, nsc_str net)
{
    bool own = nsc_text_is(nsc_say(c->m, net), "Socket") || nsc_text_is(nsc_say(c->m, net), "IB");
    const char *names = own ? names_of(c, net) : "";
    return *names ? nsc_words(c, " on %s", names) : "";
}

/* " by libfabric's provider efa, 16 NICs (line 12)": what libfabric's plugin goes over. */
static const char *provider_of(struct nsc_case *c, nsc_str net)
{
    const struct nsc_event *provider = nsc_event_of(c->m, NSC_NONE, NCCLSCOPE_KIND_OFI_PROVIDER);
    if (!provider || !provider->text || nsc_text_find(nsc_say(c->m, net), "ibfabric") < 0)
        return "";
    return nsc_words(c, " by libfabric's provider %s%s (%s)", nsc_say(c->m, provider->text).ptr,
                     provider->number > 0
                         ? nsc_words(c, ", %lld NIC%s", (long long)provider->number, provider->number == 1 ? "" : "s")
                         : "",
                     nsc_line_in(c, &provider->where));
}

/* "#  Rank  0 Pid 4711 on node-a device  0 [0x0a] NVIDIA H100", and no other rank. */
static const char *lists_one_gpu(const struct ncclscope_model *m)
{
    size_t ranks = 0;
    for (size_t i = 0; i < m->happened.len; i++) {
        int64_t rank = 0;
        if (m->happened.item[i].number != NCCLSCOPE_KIND_TEST_RANK)
            continue;
        if (++ranks > 1 || !nsc_number_said(m, &m->happened.item[i], "rank", &rank) || rank)
            return "";
    }
    return ranks && !m->comms.len && m->proc_order.len < 2
               ? " nccl-tests lists one GPU: if that list is complete, there is no pair to connect."
               : "";
}

/* "NET/IB: Dev 0 Port 1 qpn 1193 mtu 5 GID 3 (80FE/6D2A0003BA5CEC08)": RDMA connects, though no line says which ranks. */
static const char *queue_pairs(struct nsc_case *c)
{
    const struct nsc_event *e = nsc_event_of(c->m, NSC_NONE, NCCLSCOPE_KIND_IB_QP);
    if (!e)
        return "";
    ptrdiff_t gid = nsc_text_find(e->where.text, " GID "), lid = nsc_text_find(e->where.text, " LID ");
    nsc_text rest = nsc_text_from(e->where.text, gid < 0 ? e->where.text.len : (size_t)gid + 5);
    nsc_text index = nsc_next_word(&rest);
    index.len = index.len < 4 && index.len && nsc_is_digit(index.ptr[0]) ? index.len : 0;
    return nsc_words(c, " Connections over RDMA (NET/IB) are being set up (%s: a queue pair%s%.*s).",
                     nsc_line_in(c, &e->where),
                     index.len ? ", by GID index "
                     : lid < 0 ? ""
                               : ", by LID, as InfiniBand has it",
                     (int)index.len, index.ptr);
}

/* "Failed to open libibverbs.so[.1]": without it NCCL sees no InfiniBand and no RoCE, whether there are any or not. */
static bool lacks_verbs(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->warnings.len; i++)
        if (m->warnings.item[i].kind == NCCLSCOPE_KIND_LIBRARY_MISSING &&
            nsc_text_find(nsc_say(m, m->warnings.item[i].message), "ibverbs") >= 0)
            return true;
    return false;
}

/* What the log does tell of the network that was chosen, and of runs. */
const char *nsc_known_beside(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    nsc_str net = 0;
    bool one = true;
    for (size_t i = 0; i < m->procs.len; i++) {
        one = one && (!net || !m->procs.item[i].network || m->procs.item[i].network == net);
        net = net ? net : m->procs.item[i].network;
    }
    bool sockets = net && nsc_text_is(nsc_say(m, net), "Socket");
    const char *none = sockets && nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_IB_NONE)
                           ? ", as it found no InfiniBand or RoCE device"
                       : sockets && lacks_verbs(m)        ? ", as it could not open libibverbs"
                       : sockets && has_loopback_alone(m) ? ", over the loopback, which reaches no node"
                                                          : "";
    one = one && !is_each_alone(m);
    const char *runs =
        m->tests_begun < 2
            ? ""
            : nsc_words(c, " The input holds %llu runs of nccl-tests, of which %llu reached their end%s.",
                        (unsigned long long)m->tests_begun, (unsigned long long)m->tests_ended, stopped_by_hand(c));
    return nsc_words(c, "%s%s%s%s%s%s%s%s%s%s%s%s%s%s", lists_one_gpu(m), queue_pairs(c), nsc_picture_of_machine(c),
                     multicast(c), lacks_p2p(c), ways_of_node(c), forbidden_by_command(c),
                     net || is_each_alone(m) ? "" : network_at_hand(c), plugin_without_gdr(c),
                     net && one ? nsc_words(c, " %s NCCL chose the network %s%s%s",
                                            m->hosts.len > 1 ? "Between nodes" : "For other nodes, if there are any,",
                                            nsc_say(m, net).ptr, interfaces_of(c, net), provider_of(c, net))
                                : "",
                     net && one ? none : "", net && one ? "." : "", nsc_success_of(m) ? "" : older_driver(c), runs);
}
