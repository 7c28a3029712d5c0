/* rules_failure.c - what went wrong: shared memory too small, connections tried again and again. */
#include "rules/ask.h"

#include <stdio.h>

void nsc_rule_shm_too_small(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    int64_t bytes = -1;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        bool segment = e->kind == NCCLSCOPE_KIND_SHM_SEGMENT && !nsc_text_starts(nsc_say(m, e->text), "No such file") &&
                       nsc_text_find(e->where.text, "attaching to") < 0; /* one that is there */
        if (e->kind != NCCLSCOPE_KIND_SHM_EXTEND && !segment)
            continue;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
        f->part = NSC_ROOT;
        f->began = f->began ? f->began : e;
        f->count += e->count;
        bytes = e->number > bytes ? e->number : bytes;
        nsc_name_host(c, f, e->proc == NSC_NONE ? 0 : m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
    if (!f)
        return;
    struct nsc_ask ask = {.c = c, .m = m, .proc = NSC_NONE, .event = f->began, .distance = ""};
    nsc_explain(c, f, &ask);
    bool full = !strcmp(f->confidence, "certain");
    f->confidence = "certain"; /* that it failed; of the cause the words say how sure it is */
    if (bytes > 0)
        f->title = nsc_words(c, "%s shared memory segment of %lld bytes (%.1f MiB) could not be created",
                             full ? "/dev/shm is too small: a" : "A", (long long)bytes, (double)bytes / 1048576.0);
    else
        f->title =
            nsc_words(c, "%s shared memory segment could not be created", full ? "/dev/shm is too small: a" : "A");
    uint32_t pod = f->began && f->began->proc != NSC_NONE ? m->procs.item[f->began->proc].in_pod : NSC_NONE;
    const char *shm = pod == NSC_NONE ? NULL : nsc_shm_of_pod(c, &m->pods.item[pod]);
    f->cause =
        shm ? nsc_words(c, "%s. Segments left over from crashed jobs (/dev/shm/nccl-*) fill it too.", shm) : f->cause;
}

/* ---- connections that are tried again and again ---- */

enum { TRIES = 3, LINES_BESIDE = 8, LINES_BEHIND = 400 };

bool nsc_ends_in_tries(const struct ncclscope_model *m, const struct nsc_event *e)
{
    if (e->kind != NCCLSCOPE_KIND_CONNECT_RETRY || e->level != NCCLSCOPE_LEVEL_INFO)
        return false;
    const struct nsc_proc *p = &m->procs.item[e->proc];
    bool no_route = nsc_text_find(e->where.text, "No route to host") >= 0; /* which no peer mends by coming later */
    bool last = e->where.line + e->count + LINES_BESIDE >= m->sources.item[e->where.source].stats.lines;
    bool well =
        m->tests.len || nsc_success_of(m) || /* or a program that prints on, and nothing of trouble */
        (!m->troubles && m->sources.item[e->where.source].stats.lines > e->where.line + e->count + LINES_BEHIND);
    bool once = no_route && last && !m->ranks.len;
    return !well && (once || (!p->nameless && e->count >= TRIES)) && p->source == e->where.source &&
           !nsc_lived_on(m, e->proc, &e->where) && p->records <= e->nth + e->count + LINES_BESIDE;
}

/* "(26/34)" and as many lines behind it as lead to 34/34: NCCL gives up next. */
static bool is_last_try(const struct nsc_event *e)
{
    ptrdiff_t at = nsc_text_find(e->where.text, "retrying (");
    nsc_text rest = nsc_text_from(e->where.text, at < 0 ? e->where.text.len : (size_t)at + 10);
    unsigned long long first, all;
    char words[24];
    snprintf(words, sizeof words, "%.*s", (int)(rest.len < 20 ? rest.len : 20), rest.len ? rest.ptr : "");
    return sscanf(words, "%llu/%llu", &first, &all) == 2 && first + e->count - 1 >= all;
}

/* Had every communicator of the process come up before this line? */
static bool was_complete_before(const struct ncclscope_model *m, const struct nsc_event *e)
{
    uint32_t last = m->procs.item[e->proc].last_rank;
    for (uint32_t i = last; i != NSC_NONE; i = m->ranks.item[i].before) {
        const struct nsc_where *done = &m->ranks.item[i].complete;
        if (!done->line || done->source != e->where.source || done->line > e->where.line)
            return false;
    }
    return last != NSC_NONE;
}

/* "connect to 192.0.2.3<52333> returned Connection refused, retrying (21/34)", and no more: NCCL has not given up yet. */
void nsc_rule_connect_retries(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->events.len && !nsc_any_error(c); i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (!nsc_ends_in_tries(m, e))
            continue;
        if (!f) {
            bool refused = nsc_text_find(e->where.text, "refused") >= 0;
            nsc_text peer = nsc_say(m, e->text);
            bool last = is_last_try(e), no_route = nsc_text_find(e->where.text, "No route to host") >= 0;
            peer.len = nsc_text_find(peer, "<") < 0 ? 0 : peer.len; /* else the line holds no address */
            f = nsc_found(c, last ? NCCLSCOPE_SEVERITY_ERROR : NCCLSCOPE_SEVERITY_WARNING, "error", "likely");
            f->title =
                nsc_words(c, "A connection %s, and %s%s%.*s",
                          last                           ? "was tried to the last"
                          : no_route && e->count < TRIES ? "is tried"
                                                         : "is tried again and again",
                          refused    ? "refused"
                          : no_route ? "there is no route to its host"
                                     : "not answered",
                          peer.len ? ": " : "", (int)(peer.len < 120 ? peer.len : 120), peer.len ? peer.ptr : "");
            struct nsc_ask ask = {.c = c, .m = m, .proc = e->proc, .said = &e->where, .distance = ""};
            ask.reason = no_route                    ? NSC_RETRY_NO_ROUTE
                         : !refused                  ? NSC_RETRY_UNANSWERED
                         : was_complete_before(m, e) ? NSC_RETRY_PEER_LEFT
                                                     : NSC_RETRY_REFUSED;
            nsc_explain(c, f, &ask);
        }
        f->count++;
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
    }
}
