/* apply.c - what each kind of record does to the model: a table of small functions. */
#include "model/apply.h"

#include "model/version.h"
#include "model/scratch.h"
#include "read/user.h"

#include <stdio.h>

/* ---- versions, environment ---- */

void nsc_apply_version(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_proc *p = &m->procs.item[proc];
    (void)t;
    p->starts |= NSC_ONCE_VERSION;
    p->rccl = rec->kind == NCCLSCOPE_KIND_RCCL_VERSION;
    if (p->version)
        return;
    p->version = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_VERSION));
    p->version_at = nsc_here(m, rec);
}

void nsc_apply_driver(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_proc *p = &m->procs.item[proc];
    int64_t v = nsc_number(rec, NCCLSCOPE_FIELD_DRIVER);
    (void)t;
    p->starts |= NSC_ONCE_DRIVER;
    if (v > 0)
        p->driver = (uint64_t)v;
}

static void set_env(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, bool by_plugin)
{
    nsc_text value = nsc_record_field(rec, NCCLSCOPE_FIELD_VALUE);
    nsc_str name = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_NAME));
    struct nsc_key key = {proc, name, 0};
    uint32_t i = nsc_map_get(&m->env_by, key);
    if (i != NSC_NONE) {
        m->env.item[i].by_plugin = m->env.item[i].by_plugin || by_plugin;
        return;
    }
    if (value.len && value.ptr[value.len - 1] == '.') /* NCCL ends the line of a number with a full stop */
        value.len--;
    if (!value.len) /* NCCL takes an empty one for none */
        return;
    struct nsc_env *e = nsc_vec_push(&m->env);
    if (!e || nsc_map_put(&m->env_by, key, (uint32_t)(m->env.len - 1))) {
        m->no_memory = true;
        return;
    }
    *e = (struct nsc_env){.proc = proc, .name = name, .value = nsc_keep(m, value), .by_plugin = by_plugin};
    e->where = nsc_here(m, rec);
}

void nsc_apply_env_set(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)t;
    m->procs.item[proc].env_seen = true;
    set_env(m, rec, proc, false);
}

void nsc_apply_env_by_plugin(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                             struct nsc_thread *t)
{
    (void)t;
    set_env(m, rec, proc, true);
}

/* ---- statements that rules look for ---- */

void nsc_apply_event_of(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    static const ncclscope_field texts[] = {NCCLSCOPE_FIELD_NET,    NCCLSCOPE_FIELD_PEER, NCCLSCOPE_FIELD_PROVIDER,
                                            NCCLSCOPE_FIELD_REASON, NCCLSCOPE_FIELD_FILE, NCCLSCOPE_FIELD_SRC_DEV};
    static const ncclscope_field numbers[] = {NCCLSCOPE_FIELD_STATUS, NCCLSCOPE_FIELD_LOCAL_RANK, NCCLSCOPE_FIELD_SIZE,
                                              NCCLSCOPE_FIELD_NICS, NCCLSCOPE_FIELD_RESULT};
    nsc_text text = {NULL, 0};
    int64_t n = -1;
    (void)t;
    for (size_t i = 0; !text.len && i < sizeof texts / sizeof texts[0]; i++)
        text = nsc_record_field(rec, texts[i]);
    for (size_t i = 0; n < 0 && i < sizeof numbers / sizeof numbers[0]; i++)
        n = nsc_number(rec, numbers[i]);
    nsc_event_at(m, rec, proc, n, text);
}

/* "Could not find real path of rxe0 (/sys/class/infiniband/rxe0/device)" */
static void apply_placeless(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)t;
    nsc_event_at(m, rec, proc, -1, nsc_record_field(rec, NCCLSCOPE_FIELD_HCA));
}

/* "symmetricSupport 0, cuMemEnable 0, ...", "Symmetric memory is not supported. cuMemEnable 0, ..." */
static void apply_cumem(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)t;
    m->procs.item[proc].no_cumem |= nsc_text_find(rec->message, "cuMemEnable 0") >= 0;
}

/* "Received and initiated operation=Close res=0" */
static void apply_proxy_operation(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                                  struct nsc_thread *t)
{
    static const char said[] = "Received and initiated operation=C"; /* Connect, Close: by one letter more */
    (void)proc;
    (void)t;
    m->at_work = m->at_work || (rec->message.len > sizeof said && rec->message.ptr[sizeof said - 1] == 'l');
}

/* "[Proxy Progress] Device 0 CPU core 23" */
static void apply_proxy_core(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                             struct nsc_thread *t)
{
    int64_t core = nsc_int(rec, NCCLSCOPE_FIELD_CPUS) + 1;
    struct nsc_proc *p = &m->procs.item[proc];
    (void)t;
    if (p->proxy_core == core && !p->one_core_at.line)
        p->one_core_at = nsc_here(m, rec);
    else if (p->proxy_core != core)
        p->one_core_at = (struct nsc_where){0};
    p->proxy_core = !p->proxy_core || p->proxy_core == core ? core : -1;
}

/* "Using 128 threads, Min Comp Cap 3, Trees disabled": of all GPUs of the communicator the least. */
static void apply_min_cap(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    int64_t least = nsc_int(rec, NCCLSCOPE_FIELD_VALUE);
    (void)t;
    if (least > 0)
        nsc_event_at(m, rec, proc, least, (nsc_text){NULL, 0});
}

static void apply_library_missing(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                                  struct nsc_thread *t)
{
    nsc_apply_event_of(m, rec, proc, t);
    m->procs.item[proc].no_verbs |= nsc_text_find(rec->message, "libibverbs") >= 0;
}

/* What a proxy could not do, by the operation: closing what is closing already is another thing than connecting. */
static void apply_proxy(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text name = nsc_record_field(rec, NCCLSCOPE_FIELD_NAME), reason = nsc_record_field(rec, NCCLSCOPE_FIELD_REASON);
    (void)t;
    name.len -= name.len && name.ptr[name.len - 1] == ',';
    nsc_event_at(m, rec, proc, nsc_number(rec, NCCLSCOPE_FIELD_RESULT),
                 reason.len                                      ? reason
                 : nsc_text_find(rec->message, "operation") >= 0 ? name
                                                                 : nsc_record_field(rec, NCCLSCOPE_FIELD_TEXT));
}

/* "mismatch in info from procs, nranks 4 vs 5": whether the two agree on that number at least. */
static void apply_bootstrap_mismatch(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                                     struct nsc_thread *t)
{
    (void)t;
    nsc_event_at(m, rec, proc, nsc_number(rec, NCCLSCOPE_FIELD_NRANKS) == nsc_number(rec, NCCLSCOPE_FIELD_COUNT),
                 nsc_record_field(rec, NCCLSCOPE_FIELD_TEXT));
}

/* "Setting affinity for GPU 0 to 0-23,48-71": the CPUs of its NUMA node. */
static void apply_affinity(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    struct nsc_proc *p = &m->procs.item[proc];
    nsc_str cpus = nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_CPUS));
    t->cpus = cpus;
    t->cpus_at = nsc_here(m, rec);
    if (nsc_making(m, t))
        nsc_claim(m, t, t->rank);
    p->cpus_differ = p->cpus_differ || (p->cpus && p->cpus != cpus);
    if (!p->cpus)
        p->cpus_at = nsc_here(m, rec);
    p->cpus = cpus;
}

/* "AllReduce: 4194304 Bytes -> Algo NVLS proto SIMPLE ...": by name, or by NCCL's own numbers. */
static void apply_choice(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text algo = nsc_record_field(rec, NCCLSCOPE_FIELD_ALGO);
    m->at_work = true;
    (void)proc;
    (void)t;
    if (!nsc_text_starts(algo, "NVLS") && !nsc_text_is(algo, "4") && !nsc_text_is(algo, "5"))
        return;
    if (!m->nvls_calls++)
        m->nvls_at = nsc_here(m, rec);
}

/* "Missing "iommu=pt" from kernel command line ...": several of a process, each about something else. */
static void apply_rccl_missing(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                               struct nsc_thread *t)
{
    (void)t;
    nsc_event_at(m, rec, proc, -1, nsc_record_field(rec, NCCLSCOPE_FIELD_NAME));
}

/* Two GPUs, as the line names them: "1a000 1b000" or "0 3". */
static void apply_pair(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text a = nsc_record_field(rec, NCCLSCOPE_FIELD_SRC_DEV), b = nsc_record_field(rec, NCCLSCOPE_FIELD_DST_DEV);
    char both[80];
    int n = snprintf(both, sizeof both, "%.*s %.*s", (int)(a.len < 32 ? a.len : 32), a.ptr ? a.ptr : "",
                     (int)(b.len < 32 ? b.len : 32), b.ptr ? b.ptr : "");
    (void)t;
    nsc_event_at(m, rec, proc, -1, (nsc_text){both, n > 0 ? (size_t)n : 0});
}

/* "GPU Direct RDMA (DMABUF) enabled for HCA 1 'mlx5_1'": one event for each device. */
static void apply_hca(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)t;
    nsc_event_at(m, rec, proc, nsc_number(rec, NCCLSCOPE_FIELD_HCA), nsc_record_field(rec, NCCLSCOPE_FIELD_NAME));
}

/* "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'": NCCL puts the network of the communicator that it makes before it. */
static void take_network_of_comm(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_proc *p)
{
    nsc_text net = nsc_record_field(rec, NCCLSCOPE_FIELD_NET);
    m->builds = true;
    if (p->network || !net.len || nsc_text_starts(net, "SHARP")) /* CollNet's own, which may stand before */
        return;
    p->network = nsc_keep(m, net);
    p->network_at = nsc_here(m, rec);
}

/* "GPU Direct RDMA Disabled for ..." of a device that could have it; its number, where the line has one that is decimal for sure. */
static void apply_gdr(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    bool off = nsc_text_is(nsc_record_field(rec, NCCLSCOPE_FIELD_VALUE), "Disabled");
    nsc_text hca = nsc_record_field(rec, NCCLSCOPE_FIELD_HCA);
    nsc_text gpu = nsc_record_field(rec, NCCLSCOPE_FIELD_GPU), rank = nsc_record_field(rec, NCCLSCOPE_FIELD_RANK);
    gpu = rank.len ? rank : gpu;
    int64_t number = hca.len == 1 ? nsc_number(rec, NCCLSCOPE_FIELD_HCA) : -1;
    char words[100];
    int n = 0;
    (void)t;
    if (rec->kind == NCCLSCOPE_KIND_GDR_PAIR) /* "1a000 4 3": the GPU, how far apart, how far they may be */
        n = snprintf(words, sizeof words, "%.*s %lld %lld",
                     (int)(!gpu.len       ? 1
                           : gpu.len < 32 ? gpu.len
                                          : 32),
                     gpu.len ? gpu.ptr : "?", (long long)nsc_number(rec, NCCLSCOPE_FIELD_DISTANCE),
                     (long long)nsc_number(rec, NCCLSCOPE_FIELD_LEVEL));
    nsc_text about = rec->kind == NCCLSCOPE_KIND_GDR_NIC ? nsc_record_field(rec, NCCLSCOPE_FIELD_NAME)
                                                         : (nsc_text){words, (size_t)n};
    if (off && !nsc_text_starts(nsc_record_field(rec, NCCLSCOPE_FIELD_NET), "Socket"))
        nsc_event_at(m, rec, proc, number, about);
    struct nsc_proc *p = &m->procs.item[proc];
    if (rec->kind == NCCLSCOPE_KIND_GDR_NIC && !nsc_record_field(rec, NCCLSCOPE_FIELD_REASON).len)
        take_network_of_comm(m, rec, p);
    if (off || !n)
        return;
    if (!p->gdr_pair_at.line)
        p->gdr_pair_at = nsc_here(m, rec);
    if (!p->gdr_at_limit.line && nsc_number(rec, NCCLSCOPE_FIELD_DISTANCE) == nsc_number(rec, NCCLSCOPE_FIELD_LEVEL))
        p->gdr_at_limit = nsc_here(m, rec);
}

/* "MNNVL busId 0x60 fabric UUID a1.b2 cliqueId 0x7 ...": GPUs of one UUID and clique reach each other by NVLink; zero is none.
 * "... state 3": NVML's nvmlGpuFabricState_t, 3 is completed. On a board with NVSwitches the UUID is 0.0, where
 * the fabric spans nodes it is not. */
static void apply_fabric(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    nsc_text uuid = nsc_record_field(rec, NCCLSCOPE_FIELD_UUID), clique = nsc_record_field(rec, NCCLSCOPE_FIELD_CLIQUE);
    enum { COMPLETED = 3 };
    char text[120];
    (void)t;
    if (nsc_number(rec, NCCLSCOPE_FIELD_STATE) == COMPLETED && !m->procs.item[proc].fabric_at.line)
        m->procs.item[proc].fabric_at = nsc_here(m, rec);
    if (!uuid.len || nsc_text_is(uuid, "0.0"))
        return;
    snprintf(text, sizeof text, "%.*s %.*s", (int)(uuid.len < 80 ? uuid.len : 80), uuid.ptr,
             (int)(clique.len < 20 ? clique.len : 20), clique.len ? clique.ptr : "");
    nsc_event_at(m, rec, proc, -1, nsc_text_of(text));
}

/* "Mismatched NCCL version detected : rank 0 version 22606 rank 3 version 22703" to "rank 0 2.26.6, rank 3 2.27.3". */
static void apply_versions(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    static const ncclscope_field ranks[2] = {NCCLSCOPE_FIELD_PEER, NCCLSCOPE_FIELD_RANK},
                                 versions[2] = {NCCLSCOPE_FIELD_VALUE, NCCLSCOPE_FIELD_VERSION};
    char text[200] = "", release[60];
    size_t n = 0;
    (void)t;
    for (int i = 0; i < 2; i++) {
        int64_t rank, code;
        if (!nsc_to_i64(nsc_record_field(rec, ranks[i]), &rank) ||
            !nsc_to_i64(nsc_record_field(rec, versions[i]), &code) || code <= 0 || code >= NSC_VERSION_OPEN)
            break;
        struct nsc_version v = {NSC_VERSION_SAID, (unsigned)code, (unsigned)code, 0};
        nsc_version_spell(&v, release, sizeof release);
        n += (size_t)snprintf(text + n, sizeof text - n, "%srank %lld %s", i ? ", " : "", (long long)rank, release);
    }
    nsc_event_at(m, rec, proc, -1, nsc_text_of(text));
}

/* "Duplicate GPU detected : rank 7 and rank 0 both on CUDA device f000": each pair for itself. */
static void apply_shared_gpu(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                             struct nsc_thread *t)
{
    (void)t;
    nsc_event_at(m, rec, proc, nsc_number(rec, NCCLSCOPE_FIELD_RANK), nsc_record_field(rec, NCCLSCOPE_FIELD_PEER));
}

void nsc_apply_closing(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, struct nsc_thread *t)
{
    (void)t;
    if (!m->procs.item[proc].closing_at.line)
        m->procs.item[proc].closing_at = nsc_here(m, rec);
}

/* "CUMEM imported shareable host buffer from proxyRank 2", "MMAP imported shareable host buffer /dev/shm/nccl-A1b2C3": which way a process
 * took host memory of another. */
static void apply_host_memory(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc,
                              struct nsc_thread *t)
{
    (void)proc;
    (void)t;
    if (nsc_text_find(rec->message, "imported") >= 0)
        *(rec->kind == NCCLSCOPE_KIND_SHM_CUMEM ? &m->shm_by_cumem : &m->shm_by_file) = true;
}

static nsc_effect *const effects[] = {
    [NCCLSCOPE_KIND_INIT_START] = nsc_apply_init_start,
    [NCCLSCOPE_KIND_INIT_COMPLETE] = nsc_apply_init_complete,
    [NCCLSCOPE_KIND_COMM_SHAPE] = nsc_apply_comm_shape,
    [NCCLSCOPE_KIND_CALL] = nsc_apply_call,
    [NCCLSCOPE_KIND_DESTROYED] = nsc_apply_ended,
    [NCCLSCOPE_KIND_ABORTED] = nsc_apply_ended,
    [NCCLSCOPE_KIND_DESTROY_FAILED] = nsc_apply_destroy_failed,
    [NCCLSCOPE_KIND_BOOTSTRAP_TIMINGS] = nsc_apply_bootstrap_timings,
    [NCCLSCOPE_KIND_INIT_TIMINGS] = nsc_apply_init_timings,
    [NCCLSCOPE_KIND_CHANNEL_COUNTS] = nsc_apply_channel_counts,
    [NCCLSCOPE_KIND_P2P_CHUNKSIZE] = nsc_apply_chunk_size,
    [NCCLSCOPE_KIND_P2P_TYPE] = nsc_apply_p2p_type,
    [NCCLSCOPE_KIND_GRAPH_PATTERN] = nsc_apply_graph_pattern,
    [NCCLSCOPE_KIND_RING] = nsc_apply_ring,
    [NCCLSCOPE_KIND_TREES] = nsc_apply_trees,
    [NCCLSCOPE_KIND_CONNECTED_RINGS] = nsc_apply_connected,
    [NCCLSCOPE_KIND_CONNECTED_TREES] = nsc_apply_connected,
    [NCCLSCOPE_KIND_CONNECTED_BINOMIAL] = nsc_apply_connected,
    [NCCLSCOPE_KIND_NVLS_HEAD] = nsc_apply_nvls_head,
    [NCCLSCOPE_KIND_CONNECTED_NVLS] = nsc_apply_connected,
    [NCCLSCOPE_KIND_CONNECTED_COLLNET] = nsc_apply_connected,
    [NCCLSCOPE_KIND_NCCL_VERSION] = nsc_apply_version,
    [NCCLSCOPE_KIND_RCCL_VERSION] = nsc_apply_version,
    [NCCLSCOPE_KIND_CUDA_DRIVER] = nsc_apply_driver,
    [NCCLSCOPE_KIND_ENV_SET] = nsc_apply_env_set,
    [NCCLSCOPE_KIND_ENV_SET_TO] = nsc_apply_env_set,
    [NCCLSCOPE_KIND_CONFIG_RESET] = nsc_apply_env_set,
    [NCCLSCOPE_KIND_OFI_ENV] = nsc_apply_env_by_plugin,
    [NCCLSCOPE_KIND_NET_USING] = nsc_apply_network,
    [NCCLSCOPE_KIND_IB_USING] = nsc_apply_devices,
    [NCCLSCOPE_KIND_IB_VIRTUAL] = nsc_apply_nic_speed,
    [NCCLSCOPE_KIND_IB_DEVICE] = nsc_apply_nic_speed,
    [NCCLSCOPE_KIND_SOCKET_USING] = nsc_apply_devices,
    [NCCLSCOPE_KIND_CLOUD_NET_USING] = nsc_apply_devices,
    [NCCLSCOPE_KIND_INTERFACE] = nsc_apply_interface,
    [NCCLSCOPE_KIND_RCCL_MISSING] = apply_rccl_missing,
    [NCCLSCOPE_KIND_KERNEL_SKIPPED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_CUMEM_HOST_NO] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_IB_RAIL_MISMATCH] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_IB_MODIFY_RETRY] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_THREADS] = apply_min_cap,
    [NCCLSCOPE_KIND_MIN_COMP_CAP] = apply_min_cap,
    [NCCLSCOPE_KIND_PROXY_CORE] = apply_proxy_core,
    [NCCLSCOPE_KIND_PROXY_OPERATION] = apply_proxy_operation,
    [NCCLSCOPE_KIND_PLUGIN_MISSING] = nsc_apply_plugin_missing,
    [NCCLSCOPE_KIND_OTHER_PLUGIN_MISSING] = nsc_apply_other_plugin_missing,
    [NCCLSCOPE_KIND_PLUGIN_LOADED] = nsc_apply_plugin_loaded,
    [NCCLSCOPE_KIND_PLUGIN_OPENED] = nsc_apply_plugin_opened,
    [NCCLSCOPE_KIND_PLUGIN_PATH] = nsc_apply_plugin_opened,
    [NCCLSCOPE_KIND_PLUGIN_P2P] = nsc_apply_plugin_loaded,
    [NCCLSCOPE_KIND_TUNER_USING] = nsc_apply_tuner,
    [NCCLSCOPE_KIND_OFI_VERSION] = nsc_apply_ofi_version,
    [NCCLSCOPE_KIND_OFI_PLATFORM] = nsc_apply_ofi_platform,
    [NCCLSCOPE_KIND_OFI_TUNER_OFF] = nsc_apply_tuner_off,
    [NCCLSCOPE_KIND_BOOTSTRAP_USING] = nsc_apply_bootstrap,
    [NCCLSCOPE_KIND_TOPO_PATHS] = nsc_apply_topo_paths,
    [NCCLSCOPE_KIND_TOPO_NODE] = nsc_apply_topo_node,
    [NCCLSCOPE_KIND_TOPO_GPU] = nsc_apply_topo_node,
    [NCCLSCOPE_KIND_GDR_NIC] = apply_gdr,
    [NCCLSCOPE_KIND_GDR_PAIR] = apply_gdr,
    [NCCLSCOPE_KIND_IB_GDR] = apply_hca,
    [NCCLSCOPE_KIND_DMABUF] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_RCCL_DMABUF_OFF] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_MSCCL_FILE] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_RCCL_NO_ROCR] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_NIC_NO_PCI] = apply_placeless,
    [NCCLSCOPE_KIND_GIT_VERSION] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_TOPO_DISTANCE] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_OFI_GDR_OFF] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_OFI_NO_GDR] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_COMM_SUPPORT] = apply_cumem,
    [NCCLSCOPE_KIND_SYM_NO] = apply_cumem,
    [NCCLSCOPE_KIND_LIBRARY_MISSING] = apply_library_missing,
    [NCCLSCOPE_KIND_SYSTEM] = nsc_apply_graph_seen,
    [NCCLSCOPE_KIND_FABRIC] = apply_fabric,
    [NCCLSCOPE_KIND_VERSION_MIX] = apply_versions,
    [NCCLSCOPE_KIND_DUPLICATE_GPU] = apply_shared_gpu,
    [NCCLSCOPE_KIND_ENV_CLOSING] = nsc_apply_closing,
    [NCCLSCOPE_KIND_ENV_INVALID] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_ENV_REJECTED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_ENV_UNUSED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_NET_INITIALIZED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_NET_FAILED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_NET_NONE] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_IB_QP] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_NET_NOT_FOUND] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_PLUGIN_NAMED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_PLUGIN_LOAD_ERROR] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_PLUGIN_UNSUPPORTED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_IB_NONE] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_OFI_PROVIDER] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_OFI_NO_PROVIDER] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_OFI_FAILED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_RMA_NO_GDRCOPY] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_DIAG_CHECK] = nsc_apply_diag,
    [NCCLSCOPE_KIND_DIAG_P2P] = nsc_apply_diag_p2p,
    [NCCLSCOPE_KIND_TOPO_FILE_MISSING] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_BOOTSTRAP_MISMATCH] = apply_bootstrap_mismatch,
    [NCCLSCOPE_KIND_NVLS_YES] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_NVLS_NO] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_NVLS_BIND_FAILED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_MNNVL_ON] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_P2P_REFUSED] = apply_pair,
    [NCCLSCOPE_KIND_P2P_QUERY_FAILED] = apply_pair,
    [NCCLSCOPE_KIND_P2P_DRIVER_OFF] = apply_pair,
    [NCCLSCOPE_KIND_P2P_NVLINK_OFF] = apply_pair,
    [NCCLSCOPE_KIND_P2P_NO_ACCESS] = apply_pair,
    [NCCLSCOPE_KIND_LEGACY_IPC_NO] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_SHM_SEGMENT] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_SHM_CUMEM] = apply_host_memory,
    [NCCLSCOPE_KIND_SHM_MMAP] = apply_host_memory,
    [NCCLSCOPE_KIND_SHM_EXTEND] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_PEER_CLOSED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_REMOTE_CLOSED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_SOCKET_FAILED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_CONNECT_FAILED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_CONNECT_RETRY] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_CALL_RETRY] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_NET_ASSIGNED] = nsc_apply_network,
    [NCCLSCOPE_KIND_NO_INTERFACE] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_AFFINITY] = apply_affinity,
    [NCCLSCOPE_KIND_CHOICE] = apply_choice,
    [NCCLSCOPE_KIND_PROXY_FAILED] = apply_proxy,
    [NCCLSCOPE_KIND_COLLNET_FAILED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_SHARP_FAILED] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_IB_NO_DEVICE] = nsc_apply_event_of,
    [NCCLSCOPE_KIND_BACKTRACE] = nsc_apply_event_of,
};

/* A WARN's text with its numbers, addresses and paths made alike. */
static uint32_t warning(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc)
{
    char shape[200];
    size_t n = 0;
    nsc_text t = rec->message;
    for (size_t i = 0; i < t.len && n + 8 < sizeof shape; i++) {
        bool word_begins =
            !i || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", t.ptr[i - 1]);
        if (t.ptr[i] == '/' && (!i || t.ptr[i - 1] == ' ')) {
            memcpy(shape + n, "{path}", 6);
            n += 6;
            while (i + 1 < t.len && t.ptr[i + 1] != ' ' && t.ptr[i + 1] != ',')
                i++;
        } else if (nsc_is_digit(t.ptr[i]) && word_begins) {
            memcpy(shape + n, "{n}", 3);
            n += 3;
            while (i + 1 < t.len && (nsc_is_digit(t.ptr[i + 1]) || (t.ptr[i + 1] && strchr("abcdefx.:", t.ptr[i + 1]))))
                i++;
        } else {
            shape[n++] = t.ptr[i];
        }
    }
    nsc_str s = nsc_keep(m, (nsc_text){shape, n});
    struct nsc_key key = {s, 0, 0};
    uint32_t i = nsc_map_get(&m->scratch->warning_by, key);
    if (i != NSC_NONE) {
        m->warnings.item[i].lines++;
        return i;
    }
    struct nsc_warning *w = nsc_vec_push(&m->warnings);
    if (!w || nsc_map_put(&m->scratch->warning_by, key, (uint32_t)(m->warnings.len - 1))) {
        m->no_memory = true;
        return NSC_NONE;
    }
    *w = (struct nsc_warning){.kind = rec->kind, .shape = s, .lines = 1, .proc = proc};
    w->quoted = rec->flags & NCCLSCOPE_FLAG_QUOTED;
    w->message = nsc_keep(m, rec->message);
    w->where = nsc_here(m, rec);
    return (uint32_t)(m->warnings.len - 1);
}

/* "init.cc:1234 -> 3" right behind a WARN of the thread: what it warned of is what broke. */
static void relate_to_warning(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc, uint32_t warned)
{
    bool returns = rec->kind == NCCLSCOPE_KIND_BACKTRACE, warns = rec->level == NCCLSCOPE_LEVEL_WARN && !returns;
    struct nsc_thread *t = warns || returns ? nsc_thread_of(m, proc, rec->tid) : NULL;
    if (!t)
        return;
    if (warns) {
        t->warned = warned;
        t->warned_of = m->scratch->last_event;
        return;
    }
    t->chose.line = 0; /* what it began has failed */
    m->proxy_failed = m->proxy_failed || nsc_text_find(rec->message, "[Proxy Thread]") >= 0;
    if (t->warned != NSC_NONE)
        m->warnings.item[t->warned].broke = true;
    if (t->warned_of != NSC_NONE)
        m->events.item[t->warned_of].broke = true;
    t->warned = t->warned_of = NSC_NONE;
}

/* Of a record that lost its header: does it mean the same without one? Not where it says something of the thread's own
 * communicator, ring or connection. */
static bool means_the_same(ncclscope_kind kind, nsc_effect *effect)
{
    static nsc_effect *const own[] = {nsc_apply_version,
                                      nsc_apply_driver,
                                      nsc_apply_env_set,
                                      nsc_apply_env_by_plugin,
                                      nsc_apply_network,
                                      nsc_apply_devices,
                                      nsc_apply_interface,
                                      nsc_apply_event_of,
                                      apply_pair,
                                      apply_gdr,
                                      apply_versions,
                                      apply_shared_gpu,
                                      nsc_apply_tuner_off,
                                      nsc_apply_plugin_missing,
                                      nsc_apply_plugin_loaded,
                                      nsc_apply_ofi_version,
                                      nsc_apply_ofi_platform,
                                      nsc_apply_other_plugin_missing,
                                      apply_rccl_missing,
                                      apply_proxy};
    for (size_t i = 0; kind != NCCLSCOPE_KIND_UNKNOWN && i < sizeof own / sizeof own[0]; i++)
        if (effect == own[i])
            return true;
    return effect == nsc_apply_event_of;
}

/* "ncclCommInitRank comm 0x7d10f4020c10 rank 0 nrank": nothing but the rank is whole. */
static bool is_cut_at_rank(nsc_text message)
{
    ptrdiff_t at = nsc_text_find(message, " rank ");
    nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(message, (size_t)at + 6);
    nsc_text rank = nsc_next_word(&rest), cut = nsc_next_word(&rest);
    return rank.len && nsc_is_digit(rank.ptr[0]) && cut.len && cut.len <= 6 && !memcmp("nranks", cut.ptr, cut.len) &&
           !nsc_next_word(&rest).len;
}

/* "ncclCommInitRank comm 0x55d9", up to 2.20.5 "comm 0x55d9607ee240 rank 1 nranks 2 cudaDev 0" without the function, and no more: it began a
 * communicator, whatever the rest said, or, without the function, may have ended one. */
static bool is_cut_init(const ncclscope_record *rec)
{
    bool named = nsc_text_starts(rec->message, "ncclCommInit");
    return rec->kind == NCCLSCOPE_KIND_UNKNOWN && (named || nsc_text_starts(rec->message, "comm 0x")) &&
           ((named && nsc_text_find(rec->message, " comm 0x") > 0) || nsc_text_find(rec->message, " nranks ") > 0 ||
            is_cut_at_rank(rec->message)) &&
           nsc_text_find(rec->message, " - D") < 0 && nsc_text_find(rec->message, " - A") < 0;
}

/* Without its header a line tells of a communicator, but not whose it is. */
static void see_bare_comm(struct ncclscope_model *m, const ncclscope_record *rec)
{
    if (rec->kind != NCCLSCOPE_KIND_INIT_START && rec->kind != NCCLSCOPE_KIND_INIT_COMPLETE &&
        rec->kind != NCCLSCOPE_KIND_COMM_SHAPE)
        return;
    int64_t ranks = nsc_int(rec, NCCLSCOPE_FIELD_NRANKS), nodes = nsc_int(rec, NCCLSCOPE_FIELD_NNODES);
    uint64_t size = ranks > 0 ? (uint64_t)ranks << 32 | (uint32_t)(nodes > 0 ? nodes : 0) : 0;
    m->bare_comms++;
    m->bare_starts += rec->kind == NCCLSCOPE_KIND_INIT_START;
    m->bare_ends += rec->kind == NCCLSCOPE_KIND_INIT_COMPLETE;
    m->bare_size = size > m->bare_size ? size : m->bare_size;
}

/* "NET/XYZ : peer memory module not found, GDR disabled": of a plugin or a release whose words nobody here has read. */
static bool denies_gdr(nsc_text message)
{
    static const char *const about[] = {"GDR",    "GPU Direct", "GPUDirect",   "DMA-BUF", "Dmabuf", "dmabuf",
                                        "DMABUF", "HMEM",       "peer memory", "peermem", NULL},
                             *const denies[] = {"isab",          "not found",   "not support",
                                                "not available", "not enabled", "unsupported",
                                                "cannot",        "ailed",       NULL};
    bool may = nsc_text_starts(message, "NET/") || nsc_text_starts(message, "GPU Direct") ||
               nsc_text_starts(message, "DMA") || nsc_text_starts(message, "Dma");
    return may && nsc_text_has_any(message, about) && nsc_text_has_any(message, denies);
}

void nsc_apply(struct ncclscope_model *m, const ncclscope_record *rec)
{
    struct ncclscope_record said;
    if (rec->level == NCCLSCOPE_LEVEL_OTHER && !(rec->flags & NCCLSCOPE_FLAG_QUOTED)) {
        nsc_apply_other(m, rec);
        return;
    }
    if (rec->flags & NCCLSCOPE_FLAG_QUOTED) { /* NCCL keeps, for programs to quote, the last text that it warned with */
        said = *rec;
        said.level = NCCLSCOPE_LEVEL_WARN;
        rec = &said;
    }
    uint32_t proc = nsc_proc_of(m, rec);
    bool nameless = proc != NSC_NONE && m->procs.item[proc].nameless;
    uint32_t warned = NSC_NONE;
    m->repeated += rec->repeated;
    if (nameless)
        see_bare_comm(m, rec);
    m->scratch->last_event = NSC_NONE;
    bool headless =
        rec->flags & NCCLSCOPE_FLAG_STRIPPED && rec->kind != NCCLSCOPE_KIND_UNKNOWN; /* and whole but for that */
    bool torn = rec->flags & NCCLSCOPE_FLAG_TORN && !headless;
    if (torn)
        nsc_source_of_stream(m)->last_torn = rec->line;
    if (torn && rec->level == NCCLSCOPE_LEVEL_WARN && rec->kind == NCCLSCOPE_KIND_UNKNOWN)
        nsc_source_of_stream(m)->cut_warning = nsc_here(m, rec);
    if ((!torn || rec->flags & NCCLSCOPE_FLAG_STRIPPED) && rec->kind == NCCLSCOPE_KIND_UNKNOWN && rec->message.len &&
        !nsc_source_of_stream(m)->unknown_at.line)
        nsc_source_of_stream(m)->unknown_at = nsc_here(m, rec);
    if (rec->level == NCCLSCOPE_LEVEL_WARN && rec->kind != NCCLSCOPE_KIND_BACKTRACE &&
        (rec->kind != NCCLSCOPE_KIND_UNKNOWN || nameless || !(rec->flags & NCCLSCOPE_FLAG_TORN)))
        warned = warning(m, rec, proc);
    if (proc != NSC_NONE && !nameless) {
        m->procs.item[proc].last_line = rec->line;
        nsc_source_of_stream(m)->last_record = rec->line;
        m->procs.item[proc].records++;
        if (rec->dev >= 0 && rec->dev < 64)
            m->procs.item[proc].devices |= (uint64_t)1 << rec->dev;
        m->procs.item[proc].informs |= rec->level == NCCLSCOPE_LEVEL_INFO;
        nsc_version_see(m, rec, proc);
    }
    if (proc != NSC_NONE && !m->procs.item[proc].rccl && nsc_is_of_rccl(rec))
        m->procs.item[proc].rccl = true;
    if (rec->via) {
        if (proc != NSC_NONE) {
            m->procs.item[proc].last_connect = rec->line;
            m->procs.item[proc].past_connect = false;
        }
        nsc_apply_connect(m, rec, nameless ? NSC_NONE : proc);
        return;
    }
    if (rec->level == NCCLSCOPE_LEVEL_VERSION)
        nsc_bare_version(m, rec);
    if ((int)rec->kind >= NSC_USER_FIRST)
        nsc_apply_own(m, rec);
    size_t k = (size_t)rec->kind;
    if (proc == NSC_NONE)
        return;
    nsc_effect *effect = k < sizeof effects / sizeof effects[0] ? effects[k] : NULL;
    if (!effect && rec->level == NCCLSCOPE_LEVEL_WARN)
        effect = nsc_apply_event_of; /* whatever NCCL warns of may be looked for */
    if (!effect && !torn && rec->level == NCCLSCOPE_LEVEL_INFO && !nsc_source_of_stream(m)->denies_gdr.line &&
        denies_gdr(rec->message))
        nsc_source_of_stream(m)->denies_gdr = nsc_here(m, rec);
    bool builds = effect == nsc_apply_ring || effect == nsc_apply_trees || effect == nsc_apply_connected ||
                  effect == nsc_apply_graph_pattern || effect == nsc_apply_chunk_size || effect == nsc_apply_p2p_type;
    m->procs.item[proc].past_connect |=
        effect == nsc_apply_connected || rec->kind == NCCLSCOPE_KIND_CALL || rec->kind == NCCLSCOPE_KIND_LAUNCH_MODE;
    bool cut = is_cut_init(rec);
    m->builds = m->builds || builds;
    m->cut_inits += cut;
    if (nameless && !means_the_same(rec->kind, effect))
        return;
    bool by_proxy =
        rec->kind == NCCLSCOPE_KIND_PROXY_CORE || /* a thread that makes no rank: a large job has thousands */
        rec->kind == NCCLSCOPE_KIND_PROXY_OPERATION;
    struct nsc_thread *t = (effect || cut) && !by_proxy ? nsc_thread_of(m, proc, rec->tid) : NULL;
    if ((builds || cut) && t)
        t->chose.line = 0;
    if (effect && (t || by_proxy))
        effect(m, rec, proc, t);
    relate_to_warning(m, rec, proc, warned);
}

bool nsc_is_judged(ncclscope_kind kind)
{
    size_t k = (size_t)kind;
    return k < sizeof effects / sizeof effects[0] && effects[k];
}
