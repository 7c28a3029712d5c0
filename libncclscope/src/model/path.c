/* path.c - from the word behind "via" to what can be known of the path. */
#include "read/changes.h"
#include "model/path.h"
#include "model/fast.h"
#include "model/gpus.h"
#include "model/on_machine.h"
#include "model/topology.h"

const char *nsc_path_name(enum nsc_path path)
{
    return ncclscope_word_of("path", path);
}

bool nsc_class_is_nvlink(nsc_text type)
{
    enum nsc_level level = nsc_level_of(type);
    return level == NSC_LEVEL_NVL || level == NSC_LEVEL_NVB;
}

/* NVML's index of an end of a link: of its rank, or as the link's own line says it. */
static int64_t nvml_of_end(const struct ncclscope_model *m, const struct nsc_link *l, const struct nsc_rank *rank,
                           nsc_str dev)
{
    int64_t index;
    if (rank && rank->nvml_dev >= 0)
        return rank->nvml_dev;
    bool said = l->proc != NSC_NONE && nsc_brackets_of(m, l) == NSC_BRACKETS_NVML;
    return said && dev && nsc_to_i64(nsc_say(m, dev), &index) ? index : -1;
}

/* A pasted matrix names no host: it is this one's if the input knows no other. */
static nsc_str class_in_matrix(const struct ncclscope_model *m, int64_t a, int64_t b, const struct nsc_where **because)
{
    if (m->hosts.len > 1)
        return 0;
    for (size_t i = 0; i < m->matrices.len; i++) {
        const struct nsc_matrix *x = &m->matrices.item[i];
        bool whole = x->cells == x->gpus * x->gpus && a >= 0 && b >= 0 && a != b;
        if (!whole || nsc_is_p2p_matrix(m, x) || a >= (int64_t)x->gpus || b >= (int64_t)x->gpus)
            continue;
        *because = &x->where;
        return m->cells.item[x->first + (uint32_t)a * x->gpus + (uint32_t)b].text;
    }
    return 0;
}

/* Where the GPUs of a pair are not known by name: all of its host that a dump shows meet at a CPU, or farther. */
static nsc_str class_of_host(const struct ncclscope_model *m, const struct nsc_link *l,
                             const struct nsc_where **because)
{
    struct nsc_key host = {l->proc == NSC_NONE ? 0 : m->procs.item[l->proc].host, 0, 0};
    uint32_t far = host.a ? nsc_map_get(&m->far_by, host) : NSC_NONE;
    if (far >= m->gpu_paths.len)
        return 0;
    *because = &m->gpu_paths.item[far].where;
    return m->gpu_paths.item[far].type;
}

nsc_str nsc_told_class(const struct ncclscope_model *m, const struct nsc_link *l, bool dump,
                       const struct nsc_where **because)
{
    uint32_t comm = nsc_comm_of(m, l);
    const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst);
    *because = NULL;
    if (a && b && m->procs.item[a->proc].host != m->procs.item[b->proc].host)
        return 0;
    const struct nsc_gpu_path *path = dump && a && b ? nsc_gpu_path_of(m, a, b) : NULL;
    const struct nsc_tree_link *straight = dump && a && b && !path ? nsc_tree_link_of(m, a, b) : NULL;
    *because = path ? &path->where : straight ? &straight->where : NULL;
    bool here = (a && b) || l->family == NSC_P2P || l->family == NSC_SHM;
    if (path || straight)
        return path ? path->type : straight->type;
    nsc_str told =
        here ? class_in_matrix(m, nvml_of_end(m, l, a, l->src_dev), nvml_of_end(m, l, b, l->dst_dev), because) : 0;
    return told || !here || !dump || (a && b) ? told : class_of_host(m, l, because);
}

nsc_str nsc_offered_of_link(const struct ncclscope_model *m, const struct nsc_link *l)
{
    uint32_t comm = nsc_comm_of(m, l);
    const struct nsc_rank *a = nsc_member(m, comm, (int64_t)l->src), *b = nsc_member(m, comm, (int64_t)l->dst);
    return a && b ? nsc_offered_class(m, a, b) : 0;
}

static const struct {
    const char *begins;
    enum nsc_network_kind kind;
} networks[] = {
#define NETWORK(begins, kind) {begins, NSC_NETWORK_##kind},
#define SOFT_RDMA(begins)
#include "networks.def"
#undef NETWORK
#undef SOFT_RDMA
};

static const char *const soft_rdma[] = {
#define NETWORK(begins, kind)
#define SOFT_RDMA(begins) begins,
#include "networks.def"
#undef NETWORK
#undef SOFT_RDMA
};

bool nsc_is_soft_rdma(nsc_text device)
{
    for (size_t i = 0; i < sizeof soft_rdma / sizeof soft_rdma[0]; i++)
        if (nsc_text_starts(device, soft_rdma[i]))
            return true;
    return false;
}

enum nsc_network_kind nsc_network_kind(nsc_text name)
{
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
        if (nsc_text_starts(name, networks[i].begins))
            return networks[i].kind;
    return NSC_NETWORK_RDMA;
}

bool nsc_is_rccl(const struct ncclscope_model *m)
{
    return m->whole.rccl;
}

bool nsc_env_is_visible(const struct ncclscope_model *m, uint32_t proc)
{
    return m->procs.item[proc].env_seen || nsc_version_of(m, proc).high < NSC_CHANGE_VARIABLES_FILTERED;
}

static bool is_set_to(const struct ncclscope_model *m, uint32_t proc, const char *name, const char *value)
{
    const struct nsc_env *e = nsc_env_of(m, proc, name);
    return e && nsc_text_is(nsc_say(m, e->value), value);
}

bool nsc_connects_in_init(const struct ncclscope_model *m, uint32_t proc)
{
    return nsc_version_of(m, proc).high < NSC_CHANGE_RUNTIME_CONNECT || m->procs.item[proc].no_cumem ||
           is_set_to(m, proc, "NCCL_RUNTIME_CONNECT", "0") || is_set_to(m, proc, "NCCL_CUMEM_ENABLE", "0");
}

bool nsc_would_be_seen(const struct ncclscope_model *m, uint32_t proc, nsc_text name)
{
    return nsc_env_is_visible(m, proc) && !nsc_text_is(name, "NCCL_NET") &&
           !(nsc_text_is(name, "NCCL_IB_DISABLE") && m->procs.item[proc].no_verbs);
}

/* Does anything prove that the pair of GPUs of this P2P link has NVLink? */
static bool infer_nvlink(const struct ncclscope_model *m, const struct nsc_link *l, const struct nsc_where **because)
{
    *because = &l->where;
    return l->row == NSC_VIA_P2P_MNNVL || l->row == NSC_VIA_P2P_INDIRECT || nsc_read_proves(m, l) ||
           nsc_nvlink_is_proven(m, l, because);
}

/* Is the GPU of a model that has no NVLink, by a line that names it or tells how old it is? */
static const struct nsc_where *lacks_nvlink(const struct ncclscope_model *m, const struct nsc_link *l)
{
    struct nsc_gpu_class k = nsc_gpu_of(m, l->proc);
    return k.how == NSC_GPU_NAMED && !k.gpu->nvlink                    ? k.line
           : l->proc != NSC_NONE && m->procs.item[l->proc].old_at.line ? &m->procs.item[l->proc].old_at
                                                                       : NULL;
}

/* The line by which its GPU is of a model that is sold on boards alone where each has NVLink to every other: so from Ampere on. */
static const struct nsc_where *is_of_board(const struct ncclscope_model *m, const struct nsc_link *l)
{
    enum { AMPERE = 80, ALL_TO_ALL = 8 };
    const struct nsc_where *line = NULL;
    struct nsc_gpu_class k = nsc_gpu_of(m, l->proc);
    nsc_text name = nsc_gpu_name(m, l->proc, &line);
    bool bridged = nsc_text_find(name, "NVL") >= 0 || nsc_text_find(name, "PCI") >= 0; /* "H200 NVL" */
    bool as_usual = k.gpu && (k.gpu->cc != AMPERE || l->read);                         /* A100 reads over NVLink */
    return k.how == NSC_GPU_NAMED && k.gpu->cc >= AMPERE && k.gpu->links >= ALL_TO_ALL && as_usual && !bridged ? k.line
                                                                                                               : NULL;
}

static enum nsc_path path_of_class(nsc_text class)
{
    if (nsc_text_is(class, "C2C")) /* through the CPU, and neither NVLink nor PCIe */
        return NSC_PATH_P2P;
    return nsc_class_is_nvlink(class) ? NSC_PATH_NVLINK : NSC_PATH_PCIE;
}

/* What every pasted matrix shows between each two of its GPUs where it may be of any host of one job: NVLink, or nothing but PCIe. */
struct alike {
    enum nsc_path path; /* UNKNOWN: it differs, or none is there */
    const struct nsc_where *line;
};

static struct alike pairs_alike(const struct ncclscope_model *m)
{
    struct alike out = {NSC_PATH_UNKNOWN, NULL};
    for (size_t i = 0; m->hosts_are_joined && i < m->matrices.len; i++) {
        const struct nsc_matrix *x = &m->matrices.item[i];
        if (x->cells != x->gpus * x->gpus || nsc_is_p2p_matrix(m, x))
            continue;
        for (uint32_t k = 0; k < x->cells; k++) {
            nsc_text class = nsc_say(m, m->cells.item[x->first + k].text);
            enum nsc_path path = path_of_class(class);
            if (k % x->gpus == k / x->gpus)
                continue;
            if (nsc_level_of(class) == NSC_LEVEL_UNKNOWN || (out.line && path != out.path))
                return (struct alike){NSC_PATH_UNKNOWN, NULL};
            out = (struct alike){path, out.line ? out.line : &x->where};
        }
    }
    return out;
}

/* What is known of all links before each is looked at. */
struct known {
    const struct nsc_where *fast; /* the line that shows more than PCIe carries, or NULL */
    struct alike alike;
    bool one_level; /* of all that the input says of NCCL_P2P_LEVEL, and no pair of it talks through host memory */
};

/* Of lines without headers nobody knows which run they are of. */
static bool has_one_level(const struct ncclscope_model *m)
{
    nsc_str first = 0, name = nsc_intern_find(&m->strings, NSC_TEXT("NCCL_P2P_LEVEL"));
    for (size_t i = 0; name && i < m->env.len; i++) {
        const struct nsc_env *e = &m->env.item[i];
        if (e->name == name && first && e->value != first)
            return false;
        first = e->name == name ? e->value : first;
    }
    for (size_t i = 0; i < m->links.len; i++)
        if (m->links.item[i].family == NSC_SHM)
            return false;
    return true;
}

/* NCCL_P2P_LEVEL=NVL of whoever printed the connection, or, where both lost their headers, of the input: no P2P over anything farther. */
static const struct nsc_where *level_proves(const struct ncclscope_model *m, const struct nsc_link *l, bool one_level)
{
    const struct nsc_env *level = nsc_env_of(m, l->proc, "NCCL_P2P_LEVEL");
    bool own = level && (l->proc != NSC_NONE || (one_level && m->procs.item[level->proc].nameless));
    return own && nsc_text_is(nsc_say(m, level->value), "NVL") ? &level->where : NULL;
}

/* What lines of the log prove comes before what facts of a machine say. */
static void p2p_path(const struct ncclscope_model *m, const struct nsc_link *l, const struct known *known,
                     struct nsc_known_path *out)
{
    const struct nsc_where *because = NULL;
    nsc_str told = nsc_told_class(m, l, true, &because), offered = 0;
    out->path = NSC_PATH_P2P;
    if (told && nsc_level_of(nsc_say(m, told)) == NSC_LEVEL_UNKNOWN) /* "X", or a class that nobody here knows */
        told = 0;
    if (told) {
        out->path = path_of_class(nsc_say(m, told));
        out->proof = NSC_PROOF_STATED;
        out->because = because;
    } else if ((because = level_proves(m, l, known->one_level)) || infer_nvlink(m, l, &because)) {
        out->path = NSC_PATH_NVLINK;
        out->proof = NSC_PROOF_INFERRED;
        out->because = because;
    } else if (l->proc != NSC_NONE && !l->read &&
               nsc_reads_some(m, l->proc)) { /* Ampere, and no NVLink between these two */
        out->path = NSC_PATH_PCIE;
        out->proof = NSC_PROOF_INFERRED;
        out->because = &l->where;
    } else if (l->rank != NSC_NONE && (because = nsc_chunk_excludes_nvlink(m, &m->ranks.item[l->rank]))) {
        out->path = NSC_PATH_PCIE;
        out->proof = NSC_PROOF_INFERRED;
        out->because = because;
    } else if ((because = nsc_xml_excludes_nvlink(m, l)) || (because = lacks_nvlink(m, l))) {
        out->path = NSC_PATH_PCIE;
        out->proof = NSC_PROOF_INFERRED;
        out->because = because;
    } else if ((offered = nsc_offered_of_link(m, l))) {
        out->path = path_of_class(nsc_say(m, offered));
        out->proof = NSC_PROOF_STATED;
    } else if ((because = known->fast ? known->fast : is_of_board(m, l))) {
        out->path = NSC_PATH_NVLINK;
        out->proof = NSC_PROOF_INFERRED;
        out->because = because;
    } else if (known->alike.line) {
        out->path = known->alike.path;
        out->proof = NSC_PROOF_INFERRED;
        out->because = known->alike.line;
    }
}

static void find_path(const struct ncclscope_model *m, const struct nsc_link *l, const struct known *known,
                      struct nsc_known_path *out)
{
    *out = (struct nsc_known_path){.path = NSC_PATH_UNKNOWN, .scope = nsc_scope_of_link(m, l)};
    if (l->family == NSC_P2P && !l->one_gpu) {
        p2p_path(m, l, known, out);
        return;
    }
    out->proof = NSC_PROOF_STATED; /* the word itself says it */
    out->because = &l->where;
    if (l->family == NSC_P2P) {
        out->path = NSC_PATH_SAME_GPU;
        out->proof = NSC_PROOF_INFERRED;
        return;
    }
    if (l->family == NSC_SHM)
        out->path = NSC_PATH_SHM;
    else if (l->family == NSC_COLLNET)
        out->path = NSC_PATH_COLLNET;
    else if (l->gdrdma)
        out->path = NSC_PATH_NET_GDR;
    else
        out->path = nsc_network_kind(nsc_say(m, l->network)) == NSC_NETWORK_TCP ? NSC_PATH_SOCKET : NSC_PATH_NET;
}

void nsc_find_paths(struct ncclscope_model *m)
{
    const struct known known = {nsc_more_than_pcie(m), pairs_alike(m), has_one_level(m)};
    for (size_t i = 0; i < m->links.len; i++)
        find_path(m, &m->links.item[i], &known, &m->links.item[i].known);
}
