/* probe_nvml.c - what the driver's management library says of GPUs, NVLinks and P2P: nothing is set, and no GPU is opened for work. */
#include "probe/dl.h"
#include "probe/probes.h"

#include <stdio.h>

/* Shapes of NVML's interface: handles are pointers, enumerations int. */
typedef void *nsc_nvml_device;
struct nsc_nvml_pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
};
struct nsc_nvml_memory {
    unsigned long long total, free, used;
};
struct nsc_nvml_field {
    unsigned id, scope;
    long long timestamp, latency;
    int type, result;
    union {
        unsigned u;
        unsigned long long ull;
        double d;
    } value;
};
/* Versions 2 and 3: the latter has one byte more. */
struct nsc_nvml_fabric {
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state, unused[3];
    unsigned health;
    unsigned char summary, unused_too[3];
};
enum { FABRIC_2 = 0x02000024, FABRIC_3 = 0x03000028 };
enum { FINE = 0 };
/* Where the rate of a link stands, newest first: NVML_FI_DEV_NVLINK_GET_SPEED, of the link in `scope`; ..._SPEED_MBPS_COMMON, ..._L0. */
static const unsigned speed_fields[] = {164, 90, 84};
enum { MOST_LINKS = 36, MOST_CPU_WORDS = 64, MOST_NODE_WORDS = 16, MOST_GPUS = 256 };

static struct {
#define SYM(result, name, arguments, newest, older, need) result(*name) arguments;
#include "nvml.def"
#undef SYM
} nvml;

static bool open_library(char *why, size_t size)
{
    enum { OPTIONAL = 0, REQUIRED = 1 };
    const struct nsc_symbol symbols[] = {
#define SYM(result, name, arguments, newest, older, need) {(void **)&nvml.name, newest, older, need},
#include "nvml.def"
#undef SYM
    };
    return nsc_dl_open("NCCLSCOPE_NVML", "libnvidia-ml.so.1", symbols, sizeof symbols / sizeof symbols[0], why, size);
}

static const char *words_of(int result)
{
    return nvml.error_string ? nvml.error_string(result) : "no words for it";
}

/* ---- one GPU ---- */

static void set_uint(struct nsc_fact *f, int (*get)(nsc_nvml_device, unsigned *), nsc_nvml_device d)
{
    unsigned v;
    if (get && get(d, &v) == FINE)
        nsc_fact_int(f, v);
}

/* Bits to "0-63,128". */
static void set_ranges(struct ncclscope_facts *f, const char **field, const unsigned long *words, unsigned count)
{
    enum { BITS = 8 * sizeof(unsigned long) };
    char text[300];
    size_t n = 0;
    text[0] = 0;
    for (unsigned i = 0; i < count * BITS && n + 30 < sizeof text; i++) {
        unsigned first = i;
        while (i < count * BITS && words[i / BITS] >> (i % BITS) & 1)
            i++;
        if (i > first)
            n += (size_t)snprintf(text + n, sizeof text - n, i - first > 1 ? "%s%u-%u" : "%s%u", n ? "," : "", first,
                                  i - 1);
    }
    if (n)
        nsc_fact_text(f, field, nsc_text_of(text));
}

static void look_at_place(struct ncclscope_facts *f, struct nsc_fact_gpu *g, nsc_nvml_device d)
{
    unsigned long cpus[MOST_CPU_WORDS] = {0}, nodes[MOST_NODE_WORDS] = {0};
    unsigned id;
    set_uint(&g->pcie_gen, nvml.pcie_gen, d);
    set_uint(&g->pcie_gen_max, nvml.pcie_gen_max, d);
    set_uint(&g->pcie_width, nvml.pcie_width, d);
    set_uint(&g->pcie_width_max, nvml.pcie_width_max, d);
    if (nvml.cpu_affinity && nvml.cpu_affinity(d, MOST_CPU_WORDS, cpus) == FINE)
        set_ranges(f, &g->cpu_affinity, cpus, MOST_CPU_WORDS);
    if (nvml.memory_affinity && nvml.memory_affinity(d, MOST_NODE_WORDS, nodes, 0) == FINE)
        set_ranges(f, &g->numa_affinity, nodes, MOST_NODE_WORDS);
    if (nvml.numa_id && nvml.numa_id(d, &id) == FINE && (int)id >= 0)
        nsc_fact_int(&g->numa_id, id);
}

static void look_at_modes(struct ncclscope_facts *f, struct nsc_fact_gpu *g, nsc_nvml_device d)
{
    static const char *const virtualization[] = {"none", "passthrough", "vgpu", "host-vgpu", "host-vsga"};
    struct nsc_nvml_memory memory;
    unsigned now, pending;
    int a, b;
    if (nvml.memory && nvml.memory(d, &memory) == FINE) {
        nsc_fact_int(&g->memory_bytes, (int64_t)memory.total);
        nsc_fact_int(&g->memory_used_bytes, (int64_t)memory.used);
    }
    if (nvml.compute_capability && nvml.compute_capability(d, &a, &b) == FINE) {
        nsc_fact_int(&g->cc_major, a);
        nsc_fact_int(&g->cc_minor, b);
    }
    if (nvml.mig_mode && nvml.mig_mode(d, &now, &pending) == FINE)
        nsc_fact_int(&g->mig, now == 1);
    if (nvml.ecc_mode && nvml.ecc_mode(d, &a, &b) == FINE)
        nsc_fact_int(&g->ecc, a == 1);
    if (nvml.virtualization && nvml.virtualization(d, &a) == FINE && a >= 0 && a < 5)
        nsc_fact_text(f, &g->virtualization, nsc_text_of(virtualization[a]));
}

static void look_at_links(struct ncclscope_facts *f, struct nsc_fact_gpu *g, nsc_nvml_device d)
{
    enum { GPU = 0, SWITCH = 2, VERSIONS = 9 };
    static const char *const versions[VERSIONS] = {"", "1.0", "2.0", "2.2", "3.0", "3.1", "4.0", "5.0", "6.0"};
    int up = 0, there = 0, gpus = 0, switches = 0, active, type;
    unsigned version, first = 0;
    for (unsigned i = 0; nvml.nvlink_state && i < MOST_LINKS; i++) {
        if (nvml.nvlink_state(d, i, &active) != FINE)
            continue;
        there++;
        up += active == 1;
        if (active != 1)
            continue;
        first = up == 1 ? i : first;
        if (!g->nvlink_version && nvml.nvlink_version && nvml.nvlink_version(d, i, &version) == FINE &&
            version < VERSIONS)
            nsc_fact_text(f, &g->nvlink_version, nsc_text_of(versions[version]));
        bool known = nvml.nvlink_remote_type && nvml.nvlink_remote_type(d, i, &type) == FINE;
        gpus += known && type == GPU;
        switches += known && type == SWITCH;
    }
    if (!nvml.nvlink_state)
        return;
    nsc_fact_int(&g->nvlinks_up, up);
    nsc_fact_int(&g->nvlinks_max, there);
    if (up)
        nsc_fact_text(f, &g->nvlink_remote,
                      nsc_text_of(gpus == up         ? "gpu"
                                  : switches == up   ? "switch"
                                  : gpus && switches ? "mixed"
                                                     : "other"));
    for (size_t i = 0;
         up && nvml.field_values && !g->nvlink_mb_s.known && i < sizeof speed_fields / sizeof speed_fields[0]; i++) {
        struct nsc_nvml_field speed = {.id = speed_fields[i], .scope = first};
        if (nvml.field_values(d, 1, &speed) == FINE && speed.result == FINE && speed.value.u)
            nsc_fact_int(&g->nvlink_mb_s, speed.value.u);
    }
}

static void look_at_fabric(struct ncclscope_facts *f, struct nsc_fact_gpu *g, nsc_nvml_device d)
{
    static const char *const states[] = {"not-supported", "not-started", "in-progress", "completed"};
    struct nsc_nvml_fabric x = {.version = FABRIC_3};
    int result = nvml.fabric ? nvml.fabric(d, &x) : -1;
    if (nvml.fabric && result != FINE) {
        x = (struct nsc_nvml_fabric){.version = FABRIC_2};
        result = nvml.fabric(d, &x);
    }
    if (result != FINE || x.state > 3)
        return;
    nsc_fact_text(f, &g->fabric_state, nsc_text_of(states[x.state]));
    if (x.state != 3)
        return;
    bool none = true;
    for (int i = 0; i < 16; i++)
        none = none && !x.cluster[i];
    nsc_fact_int(&g->fabric_status, x.status);
    nsc_fact_int(&g->fabric_clique, x.clique);
    nsc_fact_int(&g->fabric_health, x.health);
    if (none)
        nsc_fact_text(f, &g->fabric_cluster, NSC_TEXT("none"));
    else
        nsc_fact_hash(f, &g->fabric_cluster, (nsc_text){(const char *)x.cluster, sizeof x.cluster});
}

static void look_at_gpu(struct ncclscope_facts *f, struct nsc_fact_gpu *g, nsc_nvml_device d, unsigned index)
{
    struct nsc_nvml_pci pci;
    char text[100];
    nsc_fact_int(&g->index, index);
    memset(&pci, 0, sizeof pci);
    if (nvml.pci_info(d, &pci) == FINE)
        nsc_fact_printf(f, &g->bus_id, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
    if (nvml.name && nvml.name(d, text, sizeof text) == FINE)
        nsc_fact_text(f, &g->name, nsc_text_of(text));
    if (nvml.uuid && nvml.uuid(d, text, sizeof text) == FINE)
        nsc_fact_hash(f, &g->uuid_hash, nsc_text_of(text));
    look_at_place(f, g, d);
    look_at_modes(f, g, d);
    look_at_links(f, g, d);
    look_at_fabric(f, g, d);
}

/* ---- two GPUs ---- */

/* NVLinks of `a` that end at the GPU `to`, or, where a switch is at their ends, all of them. */
static int64_t links_between(const struct ncclscope_facts *f, unsigned a, unsigned b, nsc_nvml_device from,
                             nsc_nvml_device to)
{
    const struct nsc_fact_gpu *x = &f->gpus.item[a], *y = &f->gpus.item[b];
    struct nsc_nvml_pci here, there;
    int64_t direct = 0, least = x->nvlinks_up.v < y->nvlinks_up.v ? x->nvlinks_up.v : y->nvlinks_up.v;
    memset(&there, 0, sizeof there);
    if (!x->nvlink_remote || !y->nvlink_remote || nvml.pci_info(to, &there) != FINE)
        return 0;
    for (unsigned i = 0; nvml.nvlink_remote_pci && i < MOST_LINKS; i++) {
        int active = 0;
        memset(&here, 0, sizeof here);
        if (nvml.nvlink_state(from, i, &active) == FINE && active == 1 &&
            nvml.nvlink_remote_pci(from, i, &here) == FINE)
            direct += here.domain == there.domain && here.bus == there.bus && here.device == there.device;
    }
    return direct ? direct : strcmp(x->nvlink_remote, "gpu") != 0 ? least : 0;
}

static void set_status(struct ncclscope_facts *f, const char **field, nsc_nvml_device a, nsc_nvml_device b, int what)
{
    static const char *const words[] = {"OK", "CNS", "GNS", "TNS", "DR", "NS", "U"};
    int status;
    if (nvml.p2p_status && nvml.p2p_status(a, b, what, &status) == FINE)
        nsc_fact_text(f, field, nsc_text_of(status >= 0 && status < 7 ? words[status] : "U"));
}

static void look_at_pair(struct ncclscope_facts *f, struct nsc_fact_pair *p, unsigned from, unsigned to,
                         nsc_nvml_device a, nsc_nvml_device b)
{
    enum { READ, WRITE, NVLINK, ATOMICS, PCI };
    int level;
    nsc_fact_int(&p->from, from);
    nsc_fact_int(&p->to, to);
    set_status(f, &p->p2p_read, a, b, READ);
    set_status(f, &p->p2p_write, a, b, WRITE);
    set_status(f, &p->p2p_nvlink, a, b, NVLINK);
    set_status(f, &p->p2p_atomics, a, b, ATOMICS);
    set_status(f, &p->p2p_pci, a, b, PCI);
    bool no_nvlink = p->p2p_nvlink && strcmp(p->p2p_nvlink, "OK") != 0;
    nsc_fact_int(&p->nvlinks, no_nvlink ? 0 : links_between(f, from, to, a, b));
    if (p->nvlinks.v > 0)
        nsc_fact_printf(f, &p->path, "NV%lld", (long long)p->nvlinks.v);
    else if (nvml.common_ancestor && nvml.common_ancestor(a, b, &level) == FINE)
        nsc_fact_text(f, &p->path,
                      nsc_text_of(level <= 10   ? "PIX"
                                  : level <= 20 ? "PXB"
                                  : level <= 30 ? "PHB"
                                  : level <= 40 ? "NODE"
                                                : "SYS"));
}

void nsc_probe_nvml(struct ncclscope_facts *f, const struct ncclscope_facts *known)
{
    nsc_nvml_device device[MOST_GPUS];
    char text[300];
    unsigned count = 0;
    int version, result;
    (void)known;
    if (!open_library(text, sizeof text)) {
        nsc_unprobed(f, "nvml", "%s", text);
        return;
    }
    result = nvml.init();
    if (result != FINE || (result = nvml.count(&count)) != FINE) {
        nsc_unprobed(f, "nvml", "the driver answers: %s (NVML %d)", words_of(result), result);
        return;
    }
    if (nvml.driver_version && nvml.driver_version(text, sizeof text) == FINE)
        nsc_fact_text(f, &f->node.driver, nsc_text_of(text));
    if (nvml.cuda_version && nvml.cuda_version(&version) == FINE)
        nsc_fact_int(&f->node.cuda_driver, version);
    count = count < MOST_GPUS ? count : MOST_GPUS;
    for (unsigned i = 0; i < count; i++) {
        struct nsc_fact_gpu *g = nsc_vec_push(&f->gpus);
        device[i] = NULL;
        result = nvml.by_index(i, &device[i]);
        if (g && result == FINE)
            look_at_gpu(f, g, device[i], i);
        else if (g) /* fell off the bus, or is not ours: the others count all the same */
            nsc_unprobed(f, "nvml", "GPU %u: %s (NVML %d)", i, words_of(result), result);
        f->no_memory = f->no_memory || !g;
        if (!g)
            return;
    }
    for (unsigned a = 0; a < count; a++)
        for (unsigned b = 0; b < count; b++) {
            struct nsc_fact_pair *p = a != b && device[a] && device[b] ? nsc_vec_push(&f->pairs) : NULL;
            if (p)
                look_at_pair(f, p, a, b, device[a], device[b]);
        }
    if (nvml.shutdown)
        nvml.shutdown();
}
