/* nvml.c - a libnvidia-ml.so.1 that plays recorded facts. OLD leaves out what drivers before r525 lack. */
#include "fake.h"

enum { NOT_SUPPORTED = 3, INVALID = 2, VERSION_MISMATCH = 25 };

typedef const struct nsc_fact_gpu *device;
struct pci {
    char legacy[16];
    unsigned domain, bus, dev, id, subsystem;
    char bus_id[32];
};
struct field {
    unsigned id, scope;
    long long timestamp, latency;
    int type, result;
    unsigned long long value;
};

PLAYED int nvmlInit_v2(void);
PLAYED int nvmlInit_v2(void)
{
    return trouble("init");
}

PLAYED int nvmlShutdown(void);
PLAYED int nvmlShutdown(void)
{
    return 0;
}

PLAYED const char *nvmlErrorString(int result);
PLAYED const char *nvmlErrorString(int result)
{
    return result == 9 ? "Driver Not Loaded" : result == 15 ? "GPU is lost" : "Unknown Error";
}

PLAYED int nvmlDeviceGetCount_v2(unsigned *count);
PLAYED int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = (unsigned)facts()->gpus.len;
    return trouble("count");
}

PLAYED int nvmlDeviceGetHandleByIndex_v2(unsigned i, device *out);
PLAYED int nvmlDeviceGetHandleByIndex_v2(unsigned i, device *out)
{
    char name[40];
    snprintf(name, sizeof name, "by_index:%u", i);
    *out = &facts()->gpus.item[i];
    return trouble(name);
}

PLAYED int nvmlSystemGetDriverVersion(char *out, unsigned size);
PLAYED int nvmlSystemGetDriverVersion(char *out, unsigned size)
{
    return give_text("driver_version", facts()->node.driver, out, size, NOT_SUPPORTED);
}

PLAYED int nvmlSystemGetCudaDriverVersion_v2(int *out);
PLAYED int nvmlSystemGetCudaDriverVersion_v2(int *out)
{
    GIVE("cuda_version", facts()->node.cuda_driver, out);
}

PLAYED int nvmlDeviceGetName(device d, char *out, unsigned size);
PLAYED int nvmlDeviceGetName(device d, char *out, unsigned size)
{
    return give_text("name", d->name, out, size, NOT_SUPPORTED);
}

PLAYED int nvmlDeviceGetPciInfo_v3(device d, struct pci *out);
PLAYED int nvmlDeviceGetPciInfo_v3(device d, struct pci *out)
{
    return d->bus_id && sscanf(d->bus_id, "%x:%x:%x", &out->domain, &out->bus, &out->dev) == 3 ? trouble("pci_info")
                                                                                               : NOT_SUPPORTED;
}

PLAYED int nvmlDeviceGetCudaComputeCapability(device d, int *major, int *minor);
PLAYED int nvmlDeviceGetCudaComputeCapability(device d, int *major, int *minor)
{
    *minor = (int)d->cc_minor.v;
    GIVE("compute_capability", d->cc_major, major);
}

PLAYED int nvmlDeviceGetMemoryInfo(device d, unsigned long long out[3]);
PLAYED int nvmlDeviceGetMemoryInfo(device d, unsigned long long out[3])
{
    out[2] = (unsigned long long)d->memory_used_bytes.v;
    GIVE("memory", d->memory_bytes, (long long *)out);
}

PLAYED int nvmlDeviceGetMigMode(device d, unsigned *now, unsigned *pending);
PLAYED int nvmlDeviceGetMigMode(device d, unsigned *now, unsigned *pending)
{
    *pending = 0;
    GIVE("mig_mode", d->mig, now);
}

PLAYED int nvmlDeviceGetEccMode(device d, int *now, int *pending);
PLAYED int nvmlDeviceGetEccMode(device d, int *now, int *pending)
{
    *pending = 0;
    GIVE("ecc_mode", d->ecc, now);
}

PLAYED int nvmlDeviceGetVirtualizationMode(device d, int *out);
PLAYED int nvmlDeviceGetVirtualizationMode(device d, int *out)
{
    static const char *const words[] = {"none", "passthrough", "vgpu", "host-vgpu", "host-vsga"};
    int t = trouble("virtualization");
    *out = word_index(d->virtualization, words, 5);
    return t ? t : *out < 0 ? NOT_SUPPORTED : 0;
}

PLAYED int nvmlDeviceGetCurrPcieLinkGeneration(device d, unsigned *out);
PLAYED int nvmlDeviceGetCurrPcieLinkGeneration(device d, unsigned *out)
{
    GIVE("pcie_gen", d->pcie_gen, out);
}

PLAYED int nvmlDeviceGetMaxPcieLinkGeneration(device d, unsigned *out);
PLAYED int nvmlDeviceGetMaxPcieLinkGeneration(device d, unsigned *out)
{
    GIVE("pcie_gen_max", d->pcie_gen_max, out);
}

PLAYED int nvmlDeviceGetCurrPcieLinkWidth(device d, unsigned *out);
PLAYED int nvmlDeviceGetCurrPcieLinkWidth(device d, unsigned *out)
{
    GIVE("pcie_width", d->pcie_width, out);
}

PLAYED int nvmlDeviceGetMaxPcieLinkWidth(device d, unsigned *out);
PLAYED int nvmlDeviceGetMaxPcieLinkWidth(device d, unsigned *out)
{
    GIVE("pcie_width_max", d->pcie_width_max, out);
}

/* "0-63,128" to bits. */
static int give_bits(const char *ranges, unsigned count, unsigned long *out)
{
    unsigned first, last;
    int n;
    memset(out, 0, count * sizeof *out);
    if (!ranges)
        return NOT_SUPPORTED;
    while (sscanf(ranges, "%u%n", &first, &n) == 1) {
        ranges += n;
        last = first;
        if (sscanf(ranges, "-%u%n", &last, &n) == 1)
            ranges += n;
        for (unsigned i = first; i <= last && i / 64 < count; i++)
            out[i / 64] |= 1ul << (i % 64);
        ranges += *ranges == ',';
    }
    return 0;
}

PLAYED int nvmlDeviceGetCpuAffinity(device d, unsigned count, unsigned long *out);
PLAYED int nvmlDeviceGetCpuAffinity(device d, unsigned count, unsigned long *out)
{
    return give_bits(d->cpu_affinity, count, out);
}

PLAYED int nvmlDeviceGetMemoryAffinity(device d, unsigned count, unsigned long *out, int scope);
PLAYED int nvmlDeviceGetMemoryAffinity(device d, unsigned count, unsigned long *out, int scope)
{
    (void)scope;
    return give_bits(d->numa_affinity, count, out);
}

PLAYED int nvmlDeviceGetNumaNodeId(device d, unsigned *out);
PLAYED int nvmlDeviceGetNumaNodeId(device d, unsigned *out)
{
    GIVE("numa_id", d->numa_id, out);
}

PLAYED int nvmlDeviceGetNvLinkState(device d, unsigned link, int *out);
PLAYED int nvmlDeviceGetNvLinkState(device d, unsigned link, int *out)
{
    int t = trouble("nvlink_state");
    *out = (int64_t)link < d->nvlinks_up.v;
    return t ? t : (int64_t)link < d->nvlinks_max.v ? 0 : INVALID;
}

PLAYED int nvmlDeviceGetNvLinkVersion(device d, unsigned link, unsigned *out);
PLAYED int nvmlDeviceGetNvLinkVersion(device d, unsigned link, unsigned *out)
{
    static const char *const words[] = {"", "1.0", "2.0", "2.2", "3.0", "3.1", "4.0", "5.0", "6.0"};
    int i = word_index(d->nvlink_version, words, 9);
    (void)link;
    *out = (unsigned)i;
    return i < 0 ? NOT_SUPPORTED : 0;
}

PLAYED int nvmlDeviceGetNvLinkRemotePciInfo_v2(device d, unsigned link, struct pci *out);
PLAYED int nvmlDeviceGetNvLinkRemotePciInfo_v2(device d, unsigned link, struct pci *out)
{
    bool direct = d->nvlink_remote && !strcmp(d->nvlink_remote, "gpu");
    out->domain = out->bus = out->dev = 0xffff; /* a switch that a virtual machine does not see */
    for (size_t i = 0, at = 0; direct && i < facts()->pairs.len; i++) {
        const struct nsc_fact_pair *p = &facts()->pairs.item[i];
        const struct nsc_fact_gpu *to = nsc_gpu_at(facts(), p->to.v);
        if (p->from.v != d->index.v || !to)
            continue;
        if (link >= at && link < at + (size_t)p->nvlinks.v)
            return nvmlDeviceGetPciInfo_v3(to, out);
        at += (size_t)p->nvlinks.v;
    }
    return 0;
}

PLAYED int nvmlDeviceGetGpuFabricInfoV(device d, void *out);
#ifndef OLD
PLAYED int nvmlDeviceGetNvLinkRemoteDeviceType(device d, unsigned link, int *out);
PLAYED int nvmlDeviceGetNvLinkRemoteDeviceType(device d, unsigned link, int *out)
{
    (void)link;
    *out = !d->nvlink_remote                     ? 255
           : !strcmp(d->nvlink_remote, "gpu")    ? 0
           : !strcmp(d->nvlink_remote, "switch") ? 2
                                                 : 255;
    return 0;
}

PLAYED int nvmlDeviceGetFieldValues(device d, int count, struct field *f);
PLAYED int nvmlDeviceGetFieldValues(device d, int count, struct field *f)
{
    for (int i = 0; i < count; i++) {
        bool known = f[i].id == 164 && d->nvlink_mb_s.known;
        f[i].result = known ? 0 : NOT_SUPPORTED;
        f[i].value = known ? (unsigned long long)d->nvlink_mb_s.v : 0;
    }
    return 0;
}

/* Version 2 alone, as of r535 to r570. */
struct fabric {
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state, unused[3];
    unsigned health;
};

PLAYED int nvmlDeviceGetGpuFabricInfoV(device d, void *out)
{
    static const char *const states[] = {"not-supported", "not-started", "in-progress", "completed"};
    struct fabric *x = out;
    int t = trouble("fabric"), state = word_index(d->fabric_state, states, 4);
    if (t || x->version != 0x02000024 || state < 0)
        return t ? t : state < 0 ? NOT_SUPPORTED : VERSION_MISMATCH;
    x->state = (unsigned char)state;
    x->status = (int)d->fabric_status.v;
    x->clique = (unsigned)d->fabric_clique.v;
    x->health = (unsigned)d->fabric_health.v;
    return 0;
}
#endif

static const struct nsc_fact_pair *pair(device a, device b)
{
    return nsc_pair_at(facts(), a->index.v, b->index.v);
}

PLAYED int nvmlDeviceGetTopologyCommonAncestor(device a, device b, int *out);
PLAYED int nvmlDeviceGetTopologyCommonAncestor(device a, device b, int *out)
{
    static const char *const words[] = {"", "PIX", "PXB", "PHB", "NODE", "SYS"};
    const struct nsc_fact_pair *p = pair(a, b);
    int i = p ? word_index(p->path, words, 6) : -1;
    *out = 10 * (i < 0 ? 5 : i);
    return trouble("common_ancestor");
}

PLAYED int nvmlDeviceGetP2PStatus(device a, device b, int what, int *out);
PLAYED int nvmlDeviceGetP2PStatus(device a, device b, int what, int *out)
{
    static const char *const words[] = {"OK", "CNS", "GNS", "TNS", "DR", "NS", "U"};
    const struct nsc_fact_pair *p = pair(a, b);
    const char *of[5] = {p ? p->p2p_read : NULL, p ? p->p2p_write : NULL, p ? p->p2p_nvlink : NULL,
                         p ? p->p2p_atomics : NULL, p ? p->p2p_pci : NULL};
    int t = trouble("p2p_status");
    *out = word_index(what >= 0 && what < 5 ? of[what] : NULL, words, 7);
    return t ? t : *out < 0 ? NOT_SUPPORTED : 0;
}
