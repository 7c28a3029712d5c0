/* report.c - the formats, by name. */
#include "rules/causes.h"
#include "ncclscope/probe.h"
#include "report/text.h"

#include <stdio.h>

enum page { LOG, FACTS, CONFIRM, PAGES };

static const struct {
    const char *name;
    void (*write[PAGES])(const struct nsc_report *r);
} formats[] = {
    {"text", {nsc_report_text, nsc_facts_text, nsc_confirm_text}},
    {"json", {nsc_report_json, nsc_facts_json, nsc_confirm_json}},
};

static int report(const ncclscope_model *m, const ncclscope_findings *f, enum page page, const char *format,
                  int columns, int flags, ncclscope_write_fn *write, void *user)
{
    if (!m || !f || f->model != m || !format || !write)
        return NCCLSCOPE_EINVAL;
    struct nsc_out *out = nsc_out_new(write, user);
    if (!out)
        return NCCLSCOPE_ENOMEM;
    bool known = false;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(format, formats[i].name) != 0)
            continue;
        const struct nsc_report r = {.m = m,
                                     .f = f,
                                     .out = out,
                                     .columns = columns > 0 ? columns : 80,
                                     .flags = flags,
                                     .about = page == LOG ? "" : "probe/",
                                     .folds = f && nsc_folds_variables(f)};
        formats[i].write[page](&r);
        known = true;
    }
    int rc = nsc_out_end(out);
    return known ? rc : NCCLSCOPE_ENOTFOUND;
}

int ncclscope_report(const ncclscope_model *m, const ncclscope_findings *f, const char *format, int columns, int flags,
                     ncclscope_write_fn *write, void *user)
{
    return report(m, f, LOG, format, columns, flags, write, user);
}

int ncclscope_facts_report(const ncclscope_model *m, const ncclscope_findings *f, const char *format, int columns,
                           int flags, ncclscope_write_fn *write, void *user)
{
    return !m || m->facts ? report(m, f, FACTS, format, columns, flags, write, user) : NCCLSCOPE_ENOTFOUND;
}

int ncclscope_confirm_report(const ncclscope_model *m, const ncclscope_findings *f, const char *format, int columns,
                             int flags, ncclscope_write_fn *write, void *user)
{
    return !m || m->facts ? report(m, f, CONFIRM, format, columns, flags, write, user) : NCCLSCOPE_ENOTFOUND;
}

/* Each cause, what to do then, and how it is seen. */
static void explain_causes(const struct nsc_report *page, enum nsc_id key)
{
    static const char *const kinds[] = {"", " A setting.", " By design: a note.", " Perhaps nothing to mend.", ""};
    char line[1500];
    int n = 0;
    for (const struct nsc_cause *row = nsc_causes; row->key; row++) {
        if (row->key != key)
            continue;
        snprintf(line, sizeof line, "%d. %s%s%s%s Seen by: %s.%s%s%s", n + 1, row->why, kinds[row->kind],
                 row->fix[0] ? " To do: " : "", row->fix, row->seen, row->source ? " Source: " : "",
                 row->source ? row->source : "", row->source ? "." : "");
        nsc_part(page, n ? "" : "causes", nsc_text_of(line));
        n++;
    }
}

/* What must be in a log for the rule to look at all. */
static const char *evidence_wanted(const struct nsc_rule *r)
{
    if (r->needs == nsc_needs_links)
        return "connection lines (`Channel ... via ...`): NCCL_DEBUG=INFO, and from 2.22 on a log that goes through "
               "the first collective.";
    if (r->needs == nsc_needs_links_or_network)
        return "connection lines (`Channel ... via ...`), or `Using network` of ranks on several nodes: "
               "NCCL_DEBUG=INFO.";
    if (r->needs == nsc_needs_links_or_nic)
        return "connection lines (`Channel ... via ...`), or `GPU Direct RDMA Disabled for HCA`: NCCL_DEBUG=INFO.";
    if (r->needs == nsc_needs_comms)
        return "lines of a communicator's initialisation (Init START, Init COMPLETE): NCCL_DEBUG=INFO with INIT.";
    if (r->needs == nsc_needs_facts)
        return "facts of the machine: `ncclscope probe` there, or --facts with what `probe --save` wrote.";
    if (r->needs == nsc_needs_measured)
        return "figures of the machine: `ncclscope probe --measure` there, or --facts with what --save wrote then.";
    return "the lines named under causes; no others.";
}

int ncclscope_explain(const char *id, ncclscope_write_fn *write, void *user)
{
    if (!id || !write)
        return NCCLSCOPE_EINVAL;
    for (const struct nsc_rule *r = nsc_rules; r->id; r++) {
        if (strcmp(r->id, id) != 0)
            continue;
        struct nsc_out *out = nsc_out_new(write, user);
        if (!out)
            return NCCLSCOPE_ENOMEM;
        struct nsc_report page = {.out = out, .columns = 80};
        nsc_printf(out, "%s\n", r->id);
        nsc_part(&page, "means", nsc_text_of(r->means));
        nsc_part(&page, "why", nsc_text_of(r->why));
        nsc_part(&page, "needs", nsc_text_of(evidence_wanted(r)));
        explain_causes(&page, r->key);
        nsc_part(&page, "fix", nsc_text_of(r->fix));
        nsc_part(&page, "verify", nsc_text_of(r->verify));
        nsc_part(&page, "source", nsc_text_of(r->doc));
        return nsc_out_end(out);
    }
    return NCCLSCOPE_ENOTFOUND;
}
