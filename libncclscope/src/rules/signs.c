/* signs.c - whether anything in the input shows that the machines have, or should have, an RDMA network. */
#include "rules/questions.h"

enum sign { SIGN_VARIABLE, SIGN_INTERFACE };
static const struct {
    enum sign what;
    const char *begins;
} signs[] = {
#define SIGN(what, begins, source) {SIGN_##what, begins},
#include "signs.def"
#undef SIGN
};

static bool is_sign(enum sign what, nsc_text name)
{
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (signs[i].what == what && nsc_text_starts(name, signs[i].begins))
            return true;
    return false;
}

static bool counts_on_rdma(const struct ncclscope_model *m, const struct nsc_env *e)
{
    bool no = nsc_text_is(nsc_say(m, e->name), "NCCL_IB_DISABLE") && !nsc_text_is(nsc_say(m, e->value), "0");
    return !e->by_plugin && !no && is_sign(SIGN_VARIABLE, nsc_say(m, e->name));
}

static bool shows_device(const struct ncclscope_model *m, const struct nsc_net_device *d)
{
    return nsc_network_kind(nsc_say(m, d->net)) != NSC_NETWORK_TCP || is_sign(SIGN_INTERFACE, nsc_say(m, d->name));
}

/* Of a machine type with NICs for it, with NVLink SHARP (NVSwitch machines are sold with NICs), a device that could
 * not be opened, or so by an interface's name. */
static bool machine_has_it(const struct ncclscope_model *m, uint32_t proc)
{
    const struct nsc_proc *p = &m->procs.item[proc];
    const struct nsc_platform *known = p->platform ? nsc_platform_of(nsc_say(m, p->platform)) : NULL;
    const struct nsc_event *call = nsc_event_of(m, proc, NCCLSCOPE_KIND_CALL_FAILED);
    return (known && known->nics) || nsc_event_of(m, proc, NCCLSCOPE_KIND_NVLS_YES) ||
           nsc_event_of(m, proc, NCCLSCOPE_KIND_IB_NO_DEVICE) ||
           (call && nsc_text_find(call->where.text, "ibv_") >= 0) ||
           (p->bootstrap_if && is_sign(SIGN_INTERFACE, nsc_say(m, p->bootstrap_if)));
}

enum nsc_answer nsc_ask_rdma_sign(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    bool any = nsc_ask_rdma_up(q) == NSC_YES ||
               nsc_first_heard(m, NCCLSCOPE_KIND_VERBS_TROUBLE) || /* a provider is set up, and does not load */
               nsc_first_heard(m, NCCLSCOPE_KIND_LIBFABRIC_NO_MR);
    for (size_t i = 0; !any && i < m->env.len; i++)
        any = counts_on_rdma(m, &m->env.item[i]);
    for (size_t i = 0; !any && i < m->devices.len; i++)
        any = shows_device(m, &m->devices.item[i]);
    for (size_t i = 0; !any && i < m->procs.len; i++)
        any = machine_has_it(m, (uint32_t)i);
    return any ? NSC_YES : NSC_NO;
}
