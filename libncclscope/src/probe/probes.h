/* probes.h - what can be asked: each fills in what it finds, knows what was found before it, and says why when it cannot look. */
#ifndef NSC_PROBES_H
#define NSC_PROBES_H

#include "probe/facts.h"

void nsc_probe_node(struct ncclscope_facts *f, const struct ncclscope_facts *known);
void nsc_probe_nvml(struct ncclscope_facts *f, const struct ncclscope_facts *known);
void nsc_probe_cuda(struct ncclscope_facts *f, const struct ncclscope_facts *known);
void nsc_probe_pci(struct ncclscope_facts *f, const struct ncclscope_facts *known);

/* The first line of a small file, without its end; empty if it cannot be read. */
nsc_text nsc_first_line(const char *path, char *buf, size_t size);

#endif
