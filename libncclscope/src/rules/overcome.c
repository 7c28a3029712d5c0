/* overcome.c - of what failed, what the log shows to have been got over. */
#include "rules/overcome.h"

enum { WENT_ON = 20 };

bool nsc_went_on(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_proc *p = &m->procs.item[e->proc];
    for (size_t i = nsc_events_of(m, e->proc); i < m->event_order.len; i++)
        if (m->events.item[m->event_order.item[i]].proc == e->proc &&
            m->events.item[m->event_order.item[i]].kind == NCCLSCOPE_KIND_BACKTRACE)
            return false;
    bool lives = p->source == e->where.source && p->informs && p->last_line > e->where.line + WENT_ON;
    return !p->nameless && nsc_lived_on(m, e->proc, &e->where) && lives && (!m->troubles || nsc_success_of(m));
}

bool nsc_did_without(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_proc *p = &m->procs.item[e->proc];
    bool library = e->kind == NCCLSCOPE_KIND_CUDA_LIBRARY || e->kind == NCCLSCOPE_KIND_LIBRARY_MISSING;
    bool later = p->source == e->where.source &&
                 (p->last_connect >= e->where.line || (p->network && p->network_at.line >= e->where.line));
    return library && !p->nameless && later;
}

bool nsc_chose_another(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_proc *p = &m->procs.item[e->proc];
    return e->kind == NCCLSCOPE_KIND_OFI_CALL_FAILED && !p->nameless && p->network &&
           p->network_at.source == e->where.source && p->network_at.line > e->where.line &&
           nsc_text_find(nsc_say(m, p->network), "Libfabric") < 0;
}

bool nsc_is_first_try(const struct ncclscope_model *m, const struct nsc_event *e)
{
    if (e->kind != NCCLSCOPE_KIND_OFI_CALL_FAILED || nsc_text_find(e->where.text, "fi_getinfo() call failed") < 0)
        return false;
    const struct nsc_event *selected = nsc_event_of(m, e->proc, NCCLSCOPE_KIND_OFI_PROVIDER);
    return selected && selected->where.source == e->where.source && selected->where.line > e->where.line;
}

bool nsc_is_of_algorithm(const struct ncclscope_model *m, const struct nsc_event *e)
{
    bool parses = false;
    if (e->kind != NCCLSCOPE_KIND_TOPO_XML_BAD)
        return false;
    for (size_t i = nsc_events_of(m, e->proc); i < m->event_order.len; i++) {
        const struct nsc_event *x = &m->events.item[m->event_order.item[i]];
        if (x == e || x->proc != e->proc)
            break;
        parses = x->kind == NCCLSCOPE_KIND_MSCCL_FILE ? nsc_text_find(x->where.text, "Parsing algorithm") >= 0 : parses;
    }
    return parses;
}

bool nsc_does_without_driver(const struct ncclscope_model *m)
{
    bool goes_on = false, begins = false;
    for (size_t i = 0; i < m->events.len && !begins; i++) {
        const struct nsc_event *e = &m->events.item[i];
        const struct nsc_proc *p = &m->procs.item[e->proc];
        bool library = e->kind == NCCLSCOPE_KIND_CUDA_LIBRARY && !p->nameless && p->source == e->where.source;
        goes_on = goes_on || (library && p->last_line > e->where.line);
        begins = library && p->bootstrap_at.source == e->where.source && p->bootstrap_at.line > e->where.line;
    }
    return begins || (goes_on && !m->troubles && !nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_BACKTRACE));
}

bool nsc_returns_no_error(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_proc *p = &m->procs.item[e->proc];
    return e->kind == NCCLSCOPE_KIND_NVML_FAILED && !e->broke && !e->quoted && !p->nameless && p->informs &&
           p->source == e->where.source && p->last_line > e->where.line && !m->troubles;
}

bool nsc_came_back(const struct ncclscope_model *m, const struct nsc_event *e)
{
    bool down = e->kind == NCCLSCOPE_KIND_IB_EVENT && nsc_text_find(e->where.text, "port error") >= 0;
    uint32_t back = down && !m->whole.broke ? nsc_map_get(&m->whole.back, (struct nsc_key){e->proc, 0, 0}) : NSC_NONE;
    return back != NSC_NONE && m->events.item[back].where.line > e->where.line;
}

bool nsc_is_taken_elsewhere(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_event *large = nsc_event_of(m, e->proc, NCCLSCOPE_KIND_TOPO_XML_BAD);
    for (size_t i = 0; large && nsc_is_of_algorithm(m, large) && i < m->events.len; i++) {
        const struct nsc_event *x = &m->events.item[i];
        if (x->kind == NCCLSCOPE_KIND_MSCCL_FILE && nsc_text_find(x->where.text, "Parsed ") >= 0 &&
            !nsc_event_of(m, x->proc, NCCLSCOPE_KIND_TOPO_XML_BAD))
            return true;
    }
    return false;
}
