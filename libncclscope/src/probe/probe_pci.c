/* probe_pci.c - network devices, their distance to each GPU, and what stands between PCI devices: by /sys alone. */
#include "probe/probes.h"

#include "base/neutral.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Calls `take` for each name of a folder that begins with no dot, in alphabetical order. */
static void each(struct ncclscope_facts *f, const char *folder,
                 void (*take)(struct ncclscope_facts *f, const char *folder, const char *name))
{
    struct dirent **names = NULL;
    int n = scandir(folder, &names, NULL, nsc_by_name);
    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.')
            take(f, folder, names[i]->d_name);
        free(names[i]); /* scandir's */
    }
    free(names);
}

/* Where a device hangs: "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0". */
static bool place_of(const char *link, char place[PATH_MAX])
{
    return realpath(link, place) != NULL;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int64_t numa_of(const char *place)
{
    char path[PATH_MAX + 20], text[40];
    int64_t v;
    snprintf(path, sizeof path, "%s/numa_node", place);
    return nsc_to_i64(nsc_first_line(path, text, sizeof text), &v) ? v : -1;
}

/* ---- how far apart ---- */

enum nearness { PIX, PXB, PHB, NODE, SYS, NEARNESSES };

/* By the bridges that both hang behind: under one switch, under several, under one root, in one NUMA node. */
static enum nearness nearness_of(const char *a, const char *b)
{
    size_t common = 0;
    int bridges = 0, below_a = 0, below_b = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i;
    for (size_t i = strlen("/sys/devices/pci"); i <= common; i++)
        bridges += a[i] == '/'; /* the first ends the name of the root */
    for (const char *p = a + common + 1; (p = strchr(p, '/')); p++)
        below_a++;
    for (const char *p = b + common + 1; (p = strchr(p, '/')); p++)
        below_b++;
    if (bridges > 1)
        return below_a <= 1 && below_b <= 1 ? PIX : PXB;
    if (bridges == 1)
        return PHB;
    int64_t x = numa_of(a), y = numa_of(b);
    return x >= 0 && x == y ? NODE : SYS;
}

/* "PIX 0 1, SYS 2 3" */
static void set_near(struct ncclscope_facts *f, struct nsc_fact_nic *nic, const struct ncclscope_facts *known,
                     const char *place)
{
    static const char *const words[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
    char text[600], link[100], gpu[PATH_MAX];
    size_t n = 0;
    for (int near = PIX; near < NEARNESSES; near++) {
        bool first = true;
        for (size_t i = 0; i < known->gpus.len && n + 40 < sizeof text; i++) {
            const struct nsc_fact_gpu *g = &known->gpus.item[i];
            snprintf(link, sizeof link, "/sys/bus/pci/devices/%s", g->bus_id ? g->bus_id : "-");
            if (!g->index.known || !place_of(link, gpu) || (int)nearness_of(gpu, place) != near)
                continue;
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %lld", first && n ? ", " : "",
                                  first ? words[near] : "", (long long)g->index.v);
            first = false;
        }
    }
    if (n)
        nsc_fact_text(f, &nic->near, nsc_text_of(text));
}

/* ---- network devices ---- */

static struct nsc_fact_nic *new_nic(struct ncclscope_facts *f, const char *name, const char *place)
{
    struct nsc_fact_nic *nic = nsc_vec_push(&f->nics);
    char link[PATH_MAX + 20], driver[PATH_MAX];
    f->no_memory = f->no_memory || !nic;
    if (!nic)
        return NULL;
    nsc_fact_text(f, &nic->name, nsc_text_of(name));
    nsc_fact_text(f, &nic->bus_id, nsc_text_of(last_part(place)));
    snprintf(link, sizeof link, "%s/driver", place);
    if (realpath(link, driver))
        nsc_fact_text(f, &nic->driver, nsc_text_of(last_part(driver)));
    if (numa_of(place) >= 0)
        nsc_fact_int(&nic->numa_node, numa_of(place));
    return nic;
}

/* "400 Gb/sec (4X NDR)" to MB/s. */
static void set_rate(struct nsc_fact *f, nsc_text rate)
{
    double gb;
    if (nsc_to_f64(nsc_next_word(&rate), &gb) && gb > 0)
        nsc_fact_int(f, (int64_t)(gb * 125));
}

static void take_hca(struct ncclscope_facts *f, const char *folder, const char *name)
{
    char path[PATH_MAX], place[PATH_MAX], text[100];
    snprintf(path, sizeof path, "%s/%s/device", folder, name);
    if (!place_of(path, place))
        return;
    struct nsc_fact_nic *nic = new_nic(f, name, place);
    if (!nic)
        return;
    snprintf(path, sizeof path, "%s/%s/ports/1/link_layer", folder, name);
    nsc_text layer = nsc_first_line(path, text, sizeof text);
    bool efa = nic->driver && !strcmp(nic->driver, "efa");
    nsc_fact_text(f, &nic->kind,
                  efa                              ? NSC_TEXT("EFA")
                  : nsc_text_is(layer, "Ethernet") ? NSC_TEXT("RoCE")
                                                   : NSC_TEXT("IB"));
    snprintf(path, sizeof path, "%s/%s/ports/1/state", folder, name);
    nsc_text state = nsc_first_line(path, text, sizeof text); /* "4: ACTIVE" */
    int64_t colon = nsc_text_find(state, ": ");
    if (state.len)
        nsc_fact_text(f, &nic->state, colon >= 0 ? nsc_text_from(state, (size_t)colon + 2) : state);
    snprintf(path, sizeof path, "%s/%s/ports/1/rate", folder, name);
    set_rate(&nic->mb_s, nsc_first_line(path, text, sizeof text));
}

/* An interface with a device behind it: not of an HCA, which stands there already. */
static void take_interface(struct ncclscope_facts *f, const char *folder, const char *name)
{
    char path[PATH_MAX], place[PATH_MAX], text[100];
    int64_t mbit;
    snprintf(path, sizeof path, "%s/%s/device", folder, name);
    if (!place_of(path, place))
        return;
    for (size_t i = 0; i < f->nics.len; i++)
        if (f->nics.item[i].bus_id && !strcmp(f->nics.item[i].bus_id, last_part(place)))
            return;
    struct nsc_fact_nic *nic = new_nic(f, name, place);
    if (!nic)
        return;
    nsc_fact_text(f, &nic->kind, NSC_TEXT("ethernet"));
    snprintf(path, sizeof path, "%s/%s/operstate", folder, name);
    nsc_text state = nsc_first_line(path, text, sizeof text);
    if (state.len)
        nsc_fact_text(f, &nic->state, state);
    snprintf(path, sizeof path, "%s/%s/speed", folder, name);
    if (nsc_to_i64(nsc_first_line(path, text, sizeof text), &mbit) && mbit > 0)
        nsc_fact_int(&nic->mb_s, mbit / 8);
}

/* ---- between PCI devices ---- */

enum {
    ACS_CAPABILITY = 0x000d,
    ACS_CONTROL = 6,
    ACS_REDIRECT = 0x0c
}; /* request and completion redirect: PCI Express Base Specification */

static void take_bridge(struct ncclscope_facts *f, const char *folder, const char *name)
{
    char path[PATH_MAX], text[20];
    unsigned char config[4096];
    snprintf(path, sizeof path, "%s/%s/class", folder, name);
    if (!nsc_text_starts(nsc_first_line(path, text, sizeof text), "0x0604"))
        return;
    snprintf(path, sizeof path, "%s/%s/config", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, config, sizeof config);
    if (fd >= 0)
        close(fd);
    if (n < (ssize_t)sizeof config) /* the rest is root's alone */
        return;
    if (!f->node.acs_bridges.known)
        nsc_fact_int(&f->node.acs_bridges, 0);
    for (unsigned at = 0x100, hops = 0; at >= 0x100 && at + 8 <= sizeof config && hops < 64; hops++) {
        unsigned head = config[at] | config[at + 1] << 8, next = (config[at + 2] >> 4) | config[at + 3] << 4;
        if (head == ACS_CAPABILITY) {
            f->node.acs_bridges.v += (config[at + ACS_CONTROL] & ACS_REDIRECT) != 0;
            return;
        }
        at = next & ~3u;
    }
}

void nsc_probe_pci(struct ncclscope_facts *f, const struct ncclscope_facts *known)
{
    char link[PATH_MAX], place[PATH_MAX];
    DIR *iommus = opendir("/sys/class/iommu");
    int found = 0;
    for (struct dirent *d; iommus && (d = readdir(iommus));)
        found += d->d_name[0] != '.';
    if (iommus)
        closedir(iommus);
    if (iommus || exists("/sys/kernel/iommu_groups"))
        nsc_fact_int(&f->node.iommu, found > 0);
    if (exists("/sys/module"))
        nsc_fact_int(&f->node.peermem, exists("/sys/module/nvidia_peermem") || exists("/sys/module/nv_peer_mem"));
    each(f, "/sys/bus/pci/devices", take_bridge);
    each(f, "/sys/class/infiniband", take_hca);
    each(f, "/sys/class/net", take_interface);
    for (size_t i = 0; i < f->nics.len; i++) {
        snprintf(link, sizeof link, "/sys/bus/pci/devices/%s", f->nics.item[i].bus_id);
        if (place_of(link, place))
            set_near(f, &f->nics.item[i], known, place);
    }
}
