/* probe.c - all probes in their order. The driver's libraries are asked in a process each. */
#include "probe/apart.h"
#include "probe/probes.h"

enum { PATIENCE_SECONDS = 30 }; /* a driver that has to wake up 8 GPUs takes some 2 s */

struct probe {
    const char *name;
    void (*collect)(struct ncclscope_facts *f, const struct ncclscope_facts *known);
    bool apart; /* in a process of its own */
};

static const struct probe probes[] = {
    {"node", nsc_probe_node, false},
    {"nvml", nsc_probe_nvml, true},
    {"cuda", nsc_probe_cuda, true},
    {"pci", nsc_probe_pci, false},
};

static void collect(struct ncclscope_facts *f, const struct ncclscope_facts *known, void *probe)
{
    ((struct probe *)probe)->collect(f, known);
}

int ncclscope_probe(ncclscope_facts **out, ncclscope_error *err)
{
    if (!out)
        return nsc_null(err);
    struct ncclscope_facts *f = *out = nsc_facts_new();
    if (!f)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        struct probe p = probes[i];
        struct nsc_errand errand = {.name = p.name, .run = collect, .user = &p, .seconds = PATIENCE_SECONDS};
        if (p.apart)
            nsc_ask_apart(f, &errand);
        else
            p.collect(f, f);
    }
    if (f->no_memory)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    const char *why = f->skipped.len ? f->skipped.item[0].reason : "the driver knows of none";
    return f->gpus.len ? NCCLSCOPE_OK
                       : nsc_fail(err, NCCLSCOPE_EUNSUPPORTED, 0, "no NVIDIA GPU can be asked here: %s", why);
}
