/* text_reservation.c - what keeps "nothing is wrong" from being the whole answer of the first lines. */
#include "model/machines.h"
#include "model/version.h"
#include "read/changes.h"
#include "report/text.h"

/* Could an input not be read to its end? Then what is fine is fine only as far as it was read. */
bool nsc_is_damaged(const struct nsc_report *r)
{
    for (size_t i = 0; i < r->m->sources.len; i++)
        if (r->m->sources.item[i].problem)
            return true;
    return false;
}

/* No rule judges it. */
bool nsc_is_open(const struct nsc_warning *w)
{
    return !nsc_is_judged(w->kind) && !nsc_failure_is_known(w->kind);
}

static size_t open_warnings(const struct nsc_report *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->m->warnings.len; i++)
        n += nsc_is_open(&r->m->warnings.item[i]);
    return n;
}

/* No line names a communicator: do ranks of several machines print connections, and none of them on two? Then it is one job's. */
static bool spans_machines(const struct ncclscope_model *m)
{
    struct nsc_map machine_of = {0};
    uint32_t first = NSC_NONE;
    bool several = false, one = !m->comms.len;
    for (size_t i = 0; one && i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        if (l->printer < 0 || l->proc == NSC_NONE)
            continue;
        struct nsc_key rank = {(uint64_t)l->printer, 0, 0};
        uint32_t machine = nsc_machine_of(m, m->procs.item[l->proc].host), known = nsc_map_get(&machine_of, rank);
        one = known == NSC_NONE ? !nsc_map_put(&machine_of, rank, machine) : known == machine;
        first = first == NSC_NONE ? machine : first;
        several = several || machine != first;
    }
    nsc_map_free(&machine_of);
    return one && several;
}

/* Ranks of several nodes in one communicator, and not one connection of the input leaves a node: lines were left out. */
bool nsc_lacks_network(const struct nsc_report *r, const uint64_t *links)
{
    bool network = false;
    for (int path = 0; path <= NSC_PATH_UNKNOWN; path++)
        network = network || (links[path] && path != NSC_PATH_P2P && path != NSC_PATH_NVLINK && path != NSC_PATH_PCIE &&
                              path != NSC_PATH_SHM);
    for (size_t i = 0; !network && i < r->m->comms.len; i++) {
        const struct nsc_comm *k = &r->m->comms.item[i];
        uint32_t first = NSC_NONE;
        for (uint32_t n = 0; n < k->count; n++) {
            const struct nsc_rank *rank = &r->m->ranks.item[r->m->members.item[k->first + n]];
            uint32_t machine = nsc_machine_of(r->m, r->m->procs.item[rank->proc].host);
            if (rank->mnnvl > 0)
                break;
            if (rank->nnodes > 1 || (first != NSC_NONE && machine != first))
                return true;
            first = machine;
        }
    }
    return !network && ((uint32_t)r->m->bare_size > 1 || spans_machines(r->m));
}

/* Nodes of several ranks, or nodes of which nothing is known, and every connection of the input leaves its node. */
bool nsc_lacks_inside(const struct nsc_report *r, const uint64_t *links)
{
    bool several = !r->m->comms.len && !nsc_lists_one_gpu_a_host(r->m);
    if (links[NSC_PATH_P2P] || links[NSC_PATH_NVLINK] || links[NSC_PATH_PCIE] || links[NSC_PATH_SHM] ||
        !(links[NSC_PATH_NET] || links[NSC_PATH_NET_GDR] || links[NSC_PATH_SOCKET]))
        return false;
    for (size_t i = 0; i < r->m->links.len; i++) /* over the network, between GPUs of a node */
        if (r->m->links.item[i].known.scope == NSC_SCOPE_NODE)
            return false;
    for (size_t i = 0; i < r->m->ranks.len; i++)
        several = several || r->m->ranks.item[i].local_ranks > 1;
    return several;
}

/* "GPU/0-68000 (8)" and "+ NVL[370.8] - NVS/0" below it. */
static bool shows_nvlink(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->gpu_nodes.len; i++)
        if (m->gpu_nodes.item[i].nvlink > 0 || m->gpu_nodes.item[i].switched)
            return true;
    return m->tree_links.len > 0;
}

/* Is a finding explained by this row of causes.def? */
static bool is_told(const struct nsc_report *r, const char *row)
{
    return nsc_explained_by(r->f, row) != NULL;
}

/* Sends alone are in the input, and lack GPUDirect, which by itself says nothing. */
static bool wonders_at_sends(const struct nsc_report *r)
{
    return is_told(r, "GDR_SENDS_ALONE");
}

static bool any_complete(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].state == NSC_COMPLETE)
            return true;
    return false;
}

/* The input ends while ranks make one more communicator: it is cut there, or they wait for ever. */
static bool ends_in_init(const struct nsc_report *r)
{
    return is_told(r, "MISSING_UNMET") || is_told(r, "MISSING_UNSTARTED") || is_told(r, "MISSING_CUT") ||
           is_told(r, "MISSING_IOMMU") || is_told(r, "MISSING_CUT_SHORT") ||
           ((r->m->whole.unended || !any_complete(r->m)) &&
            (is_told(r, "MISSING_MET") || is_told(r, "MISSING_PARENT")));
}

/* Is host memory between GPUs of a node told of, as a question (of which no line says whether P2P could be), or as an answer? */
static bool tells_of_shm(const struct nsc_report *r, bool open)
{
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        if (f->rule->key == NSC_ID_TRANSPORT_SHM_WITHIN_NODE && !strcmp(f->cls, "unknown") == open)
            return true;
    }
    return false;
}

static const char *about_host_memory(const struct nsc_report *r)
{
    bool refused = is_told(r, "P2P_NONE_FOR_GPU") || is_told(r, "P2P_NONE_MAY");
    if (refused && tells_of_shm(r, false)) /* others have it for a reason that is known */
        return "; CUDA offers some of them no P2P, and whether it should cannot be told from this log: `nvidia-smi "
               "topo -m` and `nvidia-smi topo -p2p r` on the node.";
    if (refused)
        return "; CUDA offers them no P2P, and whether it should cannot be told from this log: `nvidia-smi topo -m` "
               "and `nvidia-smi topo -p2p r` on the node.";
    if (is_told(r, "SHM_PROGRAM_ASKED"))
        return "; CUDA offers the program no peer access between GPUs, and whether it should cannot be told from this "
               "log: `nvidia-smi topo -p2p r` on the node.";
    if (nsc_is_rccl(r->m))
        return "; whether GPUs that share host memory could do better cannot be told from this log: `rocm-smi "
               "--showtopo` on the node.";
    return "; whether GPUs that share host memory could do better cannot be told from this log: `nvidia-smi topo -m` "
           "and `nvidia-smi topo -p2p r` on the node, or NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH.";
}

/* Sockets between nodes, and no line says whether these have a faster network. */
static bool wonders_at_sockets(const struct nsc_report *r)
{
    return is_told(r, "SOCKET_IS_ENOUGH") || is_told(r, "SOCKET_SERVES") || is_told(r, "SOCKET_WITHOUT_VERBS") ||
           is_told(r, "SOCKET_ENOUGH_WITHOUT_VERBS");
}

/* Is a connection of this process among the last lines of the input? */
static bool ends_near(const struct nsc_proc *p, const struct nsc_source_info *s)
{
    enum { NEAR = 12 };
    return p->last_connect && !(p->nameless && p->past_connect) && p->last_connect + NEAR >= s->stats.lines;
}

/* Does a line of an initialisation name one, its beginning or its end? Rings and connections alone make others. */
static bool names_communicator(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].start.line || m->ranks.item[i].complete.line)
            return true;
    return false;
}

/* "Channel 00/1 : 0[60] -> 1[70]": for sends and receives, which a program calls when its communicator is made. */
bool nsc_sends_and_receives(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->links.len; i++)
        for (size_t w = 0; w < NSC_CHANNEL_WORDS; w++)
            if (m->links.item[i].channels[1][w])
                return true;
    return false;
}

/* NCCL's start is here, no line that names a communicator, and the input ends with NCCL's lines, shortly behind a connection: of how many? */
static bool ends_as_it_connects(const struct nsc_report *r)
{
    const struct ncclscope_model *m = r->m;
    if (names_communicator(m) || m->bare_comms || m->bare_size || m->sources.len != 1 || m->tests.len ||
        nsc_success_of(m))
        return false;
    const struct nsc_source_info *s = &m->sources.item[0];
    bool starts = s->bare_version, near = false, past = nsc_sends_and_receives(m);
    uint64_t last = s->last_record; /* of NCCL's lines */
    for (size_t i = 0; i < m->procs.len; i++) {
        const struct nsc_proc *p = &m->procs.item[i];
        starts = starts || p->version || p->bootstrap_at.line;
        near = near || ends_near(p, s);
        past = past || p->past_connect;
        last = p->last_connect > last ? p->last_connect : last;
    }
    return starts && near && !past && s->stats.lines <= last + 1;
}

/* The last line of all is a piece of one, without its end, and shortly before it ranks connected. */
static bool breaks_off_as_it_connects(const struct nsc_report *r)
{
    const struct ncclscope_model *m = r->m;
    const struct nsc_source_info *s = m->sources.len == 1 ? &m->sources.item[0] : NULL;
    if (!s || !nsc_breaks_off(s) || nsc_success_of(m))
        return false;
    for (size_t i = 0; i < m->procs.len; i++)
        if (ends_near(&m->procs.item[i], s) && !m->procs.item[i].past_connect)
            return true;
    return false;
}

bool nsc_is_cut_as_it_connects(const struct nsc_report *r)
{
    return ends_as_it_connects(r) || breaks_off_as_it_connects(r);
}

/* Somebody stopped the job, who may have waited for it in vain. */
static bool wonders_at_stop(const struct nsc_report *r)
{
    return is_told(r, "EXIT_BY_HAND") && !nsc_success_of(r->m) && !r->m->tests.len;
}

/* The program, or the shell that ran it, tells of an end that NCCL prints nothing of. */
static bool wonders_at_own_words(const struct nsc_report *r)
{
    return is_told(r, "EXIT_OWN_WORDS") || is_told(r, "EXIT_SCRIPT_STOPPED") || is_told(r, "EXIT_BY_HANDLER");
}

static const double part_expected =
    0.6; /* less is told: PCIe between two CPUs was seen to reach that much, NVLink and RDMA more */

static bool is_found(const struct nsc_report *r, enum nsc_id id)
{
    for (size_t i = 0; i < r->f->list.len; i++)
        if (r->f->list.item[i].rule->key == id)
            return true;
    return false;
}

/* What a note tells that those who look for nothing but paths should know: NULL, nothing. */
static const char *beside_paths(const struct nsc_report *r, const uint64_t *links)
{
    if (is_found(r, NSC_ID_NET_COLLNET_REFUSED))
        return nsc_env_is(r->m, NSC_NONE, "NCCL_COLLNET_ENABLE", "1")
                   ? "; CollNet (SHARP), which NCCL_COLLNET_ENABLE=1 asks for, was refused: see below."
                   : "; CollNet (SHARP) could not be set up: see below.";
    if (is_told(r, "GDR_OMNIPATH"))
        return "; see below what may enable GPUDirect on Omni-Path.";
    bool pcie = links[NSC_PATH_PCIE] || links[NSC_PATH_P2P] || links[NSC_PATH_SHM];
    if (pcie && is_found(r, NSC_ID_HOST_PCIE_LINK))
        return "; GPUs of one host have PCIe links of different bandwidth: see below.";
    return NULL;
}

/* Several machines have one host name, and connections within a host, by a release that tells machines apart by that name. */
static bool may_join_machines(const struct nsc_report *r)
{
    bool shared = false, old = r->m->proc_order.len > 0;
    for (size_t i = 0; i < r->m->machines.len; i++)
        shared = shared || r->m->machines.item[i].several;
    for (size_t i = 0; shared && old && i < r->m->proc_order.len; i++)
        old = nsc_version_of(r->m, r->m->proc_order.item[i]).high < NSC_CHANGE_HOST_BY_BOOT_ID;
    for (size_t i = 0; shared && old && i < r->m->link_order.len; i++) {
        int path = r->m->links.item[r->m->link_order.item[i]].known.path;
        if (path == NSC_PATH_P2P || path == NSC_PATH_NVLINK || path == NSC_PATH_PCIE || path == NSC_PATH_SHM)
            return true;
    }
    return false;
}

/* What keeps "nothing is wrong" from being the whole answer. */
const char *nsc_reservation(const struct nsc_report *r, const uint64_t *links)
{
    if (nsc_is_damaged(r))
        return " as far as the input could be read; part of it could not, so this is no all-clear.";
    if (may_join_machines(r))
        return "; but processes under one host name have different addresses. If these are several machines, this "
               "release takes them for one (it knows them by that name), and what it connects so fails: give each a "
               "host name of its own.";
    if (open_warnings(r) == 1)
        return "; but NCCL printed a warning that this tool cannot judge: read it below.";
    if (open_warnings(r))
        return "; but NCCL printed warnings that this tool cannot judge: read them below.";
    if (nsc_lacks_network(r, links))
        return " within nodes; this input shows no connection between nodes: how nodes talk cannot be told.";
    double part = nsc_part_of_layout(r->m);
    if (part >= 0 && part < part_expected)
        return "; but nccl-tests reach much less than NCCL planned its rings for: see below.";
    if (wonders_at_sends(r))
        return "; only sends are in this input: whether receives have GPUDirect cannot be told.";
    if (nsc_lacks_inside(r, links) && shows_nvlink(r->m))
        return " between nodes; no connection within a node is in this input, where NCCL's topology has NVLink between "
               "the GPUs.";
    if (nsc_lacks_inside(r, links))
        return " between nodes; no connection within a node is in this input: how the GPUs of a node talk cannot be "
               "told.";
    if (ends_as_it_connects(r))
        return ", as far as this input goes: it ends while ranks connect. It is cut there, or the job hangs.";
    if (ends_in_init(r))
        return ", as far as this input goes: it ends while a communicator is being made. It is cut there, or "
               "ranks wait for others.";
    if (tells_of_shm(r, true))
        return about_host_memory(r);
    if (wonders_at_sockets(r))
        return "; whether these nodes have an RDMA network cannot be told from this log.";
    if (breaks_off_as_it_connects(r))
        return ", as far as this input goes: it breaks off within a line while ranks connect. It was cut there, or the "
               "processes were stopped.";
    if (wonders_at_stop(r))
        return ", as far as this input goes; somebody stopped the job by hand: NCCL's lines do not tell whether it "
               "hung before that.";
    if (wonders_at_own_words(r))
        return ", as far as NCCL's lines go; see below what the job itself says about its end.";
    bool unproven = is_found(r, NSC_ID_TRANSPORT_P2P_LINK_UNPROVEN); /* else the model of the GPU has no NVLink */
    if (nsc_lacks_results(r->m) && (!unproven || links[NSC_PATH_NVLINK] || links[NSC_PATH_PCIE]))
        return ", as far as this input goes: nccl-tests printed no result in it.";
    if (is_told(r, "FEWER_ONE_USED") && (!unproven || links[NSC_PATH_NVLINK] || links[NSC_PATH_PCIE]))
        return "; see below whether they should use more than one network device.";
    if (!unproven || links[NSC_PATH_NVLINK] || links[NSC_PATH_PCIE])
        return beside_paths(r, links) ? beside_paths(r, links) : ", nothing to mend.";
    if (r->m->hosts.len <= 1 && nsc_first_heard(r->m, NCCLSCOPE_KIND_PROGRAM_NVLINK)) /* it looked at one node */
        return "; the program itself reports NVLink: see below.";
    return nsc_is_rccl(r->m) ? "; xGMI or PCIe cannot be told from this log: `rocm-smi --showtopo` on the node."
                             : "; NVLink or PCIe cannot be told from this log: `nvidia-smi topo -m` on the node, or "
                               "NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH.";
}

bool nsc_is_open_question(const struct nsc_report *r)
{
    return nsc_is_damaged(r) || may_join_machines(r) || open_warnings(r) || tells_of_shm(r, true) ||
           wonders_at_sends(r) || wonders_at_sockets(r) || ends_in_init(r) || wonders_at_stop(r) ||
           wonders_at_own_words(r) || nsc_is_cut_as_it_connects(r);
}
