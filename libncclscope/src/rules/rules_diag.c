/* rules_diag.c - what NCCL's own diagnostics say: that something is wrong, or that P2P was verified. */
#include "rules/ask.h"

static const struct {
    const char *words;
    int severity;
} rows[] = {
#define DIAG_SAYS(words, severity) {words, NCCLSCOPE_SEVERITY_##severity},
#include "diagnostics.def"
#undef DIAG_SAYS
};

static int severity_of(const struct ncclscope_model *m, const struct nsc_diag *d)
{
    nsc_text status = nsc_say(m, d->status), text = nsc_say(m, d->text);
    if (nsc_text_is(status, "OK"))
        return NCCLSCOPE_SEVERITY_NOTE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (nsc_text_find(text, rows[i].words) >= 0)
            return rows[i].severity;
    return nsc_text_is(status, "INFO") ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING;
}

static void tell_bad(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    const struct nsc_diag *worst = NULL;
    for (size_t i = 0; i < m->diags.len; i++) {
        const struct nsc_diag *d = &m->diags.item[i];
        int severity = severity_of(m, d);
        if (severity <= NCCLSCOPE_SEVERITY_NOTE)
            continue;
        f = f ? f : nsc_found(c, severity, "fault", "certain");
        worst = !worst || severity > f->severity ? d : worst;
        f->severity = severity > f->severity ? severity : f->severity;
        f->count++;
        nsc_name_host(c, f, m->procs.item[d->proc].host);
        nsc_show(c, f, &d->where);
    }
    if (!f)
        return;
    nsc_text check = nsc_say(m, worst->check), text = nsc_say(m, worst->text);
    f->title = nsc_words(c, "NCCL's own diagnostics say: %.*s: %.*s%s", (int)check.len, check.ptr,
                         (int)(text.len < 200 ? text.len : 200), text.ptr,
                         f->count > 1 ? nsc_words(c, " (first of %llu)", (unsigned long long)f->count) : "");
    nsc_explain_by(c, f, NSC_DIAG_BAD);
}

/* "verified P2P access in both directions between every GPU pair (12 peer accesses)" */
static void tell_verified(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->diags.len; i++) {
        const struct nsc_diag *d = &m->diags.item[i];
        if (!nsc_text_is(nsc_say(m, d->status), "OK") ||
            nsc_text_find(nsc_say(m, d->text), "verified P2P access in both directions") < 0)
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_NOTE, "by-design", "certain");
        f->count = 1;
        f->title = "NCCL verified P2P in both directions between every GPU pair: what was written arrived unchanged";
        nsc_explain_by(c, f, NSC_DIAG_VERIFIED);
        nsc_name_host(c, f, m->procs.item[d->proc].host);
        nsc_show(c, f, &d->where);
        return;
    }
}

void nsc_rule_diagnostics(struct nsc_case *c)
{
    tell_bad(c);
    tell_verified(c);
}
