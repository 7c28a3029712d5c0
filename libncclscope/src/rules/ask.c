/* ask.c - the questions that rules and conditions of causes share: each answers yes, no, or that the log does not say. */
#include "rules/questions.h"

enum nsc_answer nsc_all(size_t n, const enum nsc_answer *of)
{
    enum nsc_answer least = NSC_YES;
    for (size_t i = 0; i < n; i++)
        least = of[i] < least ? of[i] : least;
    return least;
}

enum nsc_answer nsc_any(size_t n, const enum nsc_answer *of)
{
    enum nsc_answer most = NSC_NO;
    for (size_t i = 0; i < n; i++)
        most = of[i] > most ? of[i] : most;
    return most;
}

/* ---- hardware ---- */

enum nsc_answer nsc_ask_amd(struct nsc_ask *q)
{
    return nsc_is_rccl(q->m) ? NSC_YES : NSC_NO;
}

enum nsc_answer nsc_ask_gpu(struct nsc_ask *q, const char *words)
{
    struct nsc_gpu_class k = nsc_gpu_of(q->m, q->proc);
    const struct nsc_where *line = NULL;
    nsc_text name = nsc_gpu_name(q->m, q->proc, &line);
    if (name.len && !nsc_text_starts(name, "capability ")) { /* that is of several models */
        bool is = nsc_text_find(name, words) >= 0;
        q->line = is ? line : q->line;
        return nsc_yes_or(is, NSC_NO);
    }
    bool is = k.gpu && strstr(k.gpu->name, words);
    if (!k.gpu || k.how < NSC_GPU_BY_PLATFORM || (name.len && !is))
        return NSC_UNSAID;
    q->line = is ? k.line : q->line;
    return nsc_yes_or(is, NSC_NO);
}

/* Of a line that no process is named by: any of the job, which has one kind of GPU and one NCCL. */
static uint32_t some_proc(const struct nsc_ask *q, bool (*knows)(const struct ncclscope_model *, uint32_t))
{
    if (q->proc != NSC_NONE)
        return q->proc;
    for (size_t i = 0; i < q->m->proc_order.len; i++)
        if (knows(q->m, q->m->proc_order.item[i]))
            return q->m->proc_order.item[i];
    return NSC_NONE;
}

static bool knows_cc(const struct ncclscope_model *m, uint32_t proc)
{
    return nsc_cc_of(m, proc) > 0;
}

static bool knows_version(const struct ncclscope_model *m, uint32_t proc)
{
    return nsc_version_of(m, proc).text != 0;
}

enum nsc_answer nsc_ask_cuda_before(struct nsc_ask *q, int64_t major, int64_t minor)
{
    int64_t a, b;
    if (!nsc_built_for(q->m, some_proc(q, knows_version), &a, &b))
        return NSC_UNSAID;
    return nsc_yes_or(a < major || (a == major && b < minor), NSC_NO);
}

enum nsc_answer nsc_ask_cc(struct nsc_ask *q, int at_least)
{
    int cc = nsc_cc_of(q->m, some_proc(q, knows_cc));
    return !cc ? NSC_UNSAID : nsc_yes_or(cc >= at_least, NSC_NO);
}

enum nsc_answer nsc_ask_gpu_p2p(struct nsc_ask *q)
{
    struct nsc_gpu_class k = nsc_gpu_of(q->m, q->proc);
    if (!k.gpu)
        return NSC_UNSAID;
    q->line = k.gpu->p2p ? q->line : k.line;
    return nsc_yes_or(k.gpu->p2p, NSC_NO);
}

enum nsc_answer nsc_ask_gpu_bridges(struct nsc_ask *q)
{
    struct nsc_gpu_class k = nsc_gpu_of(q->m, q->proc);
    return !k.gpu ? NSC_UNSAID : nsc_yes_or(k.gpu->nvlink && !k.gpu->links, NSC_NO);
}

enum nsc_answer nsc_ask_bus(struct nsc_ask *q, const char *bus_id)
{
    enum nsc_answer answer = NSC_UNSAID;
    for (uint32_t i = q->proc == NSC_NONE ? NSC_NONE : q->m->procs.item[q->proc].last_rank; i != NSC_NONE;
         i = q->m->ranks.item[i].before) {
        if (nsc_text_is(nsc_say(q->m, q->m->ranks.item[i].bus_id), bus_id))
            return NSC_YES;
        answer = q->m->ranks.item[i].bus_id ? NSC_NO : answer;
    }
    return answer;
}

enum nsc_answer nsc_ask_nvlink(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    for (size_t i = 0; q->proc != NSC_NONE && i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->family != NSC_P2P || l->proc == NSC_NONE || m->procs.item[l->proc].host != m->procs.item[q->proc].host)
            continue;
        struct nsc_known_path p = l->known;
        if (p.path == NSC_PATH_NVLINK)
            return NSC_YES;
    }
    return NSC_UNSAID;
}

enum nsc_answer nsc_ask_shows_p2p(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    nsc_str host = q->link && q->link->proc != NSC_NONE ? m->procs.item[q->link->proc].host : 0;
    for (size_t i = 0; q->link && i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->family == NSC_P2P && (l->proc == NSC_NONE || !host || m->procs.item[l->proc].host == host))
            return NSC_YES;
    }
    return NSC_NO;
}

enum nsc_answer nsc_ask_host_says(struct nsc_ask *q, ncclscope_kind kind, const char *words)
{
    const struct ncclscope_model *m = q->m;
    nsc_str host = q->link && q->link->proc != NSC_NONE ? m->procs.item[q->link->proc].host : 0;
    for (size_t i = 0; host && i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        if (e->kind != kind || m->procs.item[e->proc].host != host || nsc_text_find(e->where.text, words) < 0)
            continue;
        q->line = &e->where;
        return NSC_YES;
    }
    return NSC_NO;
}

enum nsc_answer nsc_ask_anyone_sets(struct nsc_ask *q, const char *name)
{
    for (size_t i = 0; i < q->m->proc_order.len; i++)
        if (nsc_env_of(q->m, q->m->proc_order.item[i], name))
            return NSC_YES;
    return NSC_NO;
}

enum nsc_answer nsc_ask_none_complete(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].state != NSC_INCOMPLETE || m->comms.item[i].seen < m->comms.item[i].nranks)
            return NSC_NO;
    return nsc_yes_or(m->comms.len > 0 && !m->troubles && !m->whole.warned && !nsc_success_of(m), NSC_NO);
}

enum nsc_answer nsc_ask_came_up(struct nsc_ask *q)
{
    for (size_t i = 0; i < q->m->ranks.len; i++)
        if (nsc_is_done(&q->m->ranks.item[i]))
            return NSC_YES;
    return NSC_NO;
}

enum nsc_answer nsc_ask_all_in_one(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    const struct nsc_own_record *first = NULL;
    int64_t pid = -1, other = -1, rank = -1, highest = -1;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_TEST_RANK)
            continue;
        if (!nsc_number_said(m, r, "pid", &other) || !nsc_number_said(m, r, "rank", &rank))
            return NSC_UNSAID;
        if (first && (other != pid || !nsc_text_eq(nsc_said(m, r, "name"), nsc_said(m, first, "name"))))
            return NSC_NO;
        first = first ? first : r;
        pid = other;
        highest = rank > highest ? rank : highest;
    }
    bool its_own =
        !first || q->proc == NSC_NONE || m->procs.item[q->proc].nameless || m->procs.item[q->proc].pid == pid;
    return !first ? NSC_UNSAID : nsc_yes_or(highest > 0 && its_own, NSC_NO);
}

enum nsc_answer nsc_ask_sees_several(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    nsc_str host = q->link && q->link->proc != NSC_NONE ? m->procs.item[q->link->proc].host : 0;
    for (size_t i = 0; i < m->procs.len; i++)
        if ((!host || m->procs.item[i].host == host) && m->procs.item[i].devices > 1)
            return NSC_YES;
    return NSC_NO;
}

/* "vm:100:100 [0]" and "vm:101:101 [0]", where no line of an initialisation tells the GPUs. */
enum nsc_answer nsc_ask_one_device(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    const struct nsc_proc *before = NULL;
    bool same = false;
    for (size_t i = 0; i < m->proc_order.len && !m->ranks.len; i++) { /* by host */
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        if (p->nameless || !p->devices)
            continue;
        bool beside = before && before->host == p->host;
        if (beside && (before->devices != p->devices || (p->devices & (p->devices - 1))))
            return NSC_NO;
        same = same || beside;
        before = p;
    }
    return nsc_yes_or(same, NSC_NO);
}

/* "cudaDev 0 nvmlDev 5" and "cudaDev 0 nvmlDev 2" of one host (0: of any): what is device 0 to each is another GPU. */
static enum nsc_answer hides_gpus_of(const struct ncclscope_model *m, nsc_str host)
{
    int64_t first = -1;
    bool differ = false;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if ((host && m->procs.item[r->proc].host != host) || r->nvml_dev < 0)
            continue;
        if (r->cuda_dev != 0)
            return NSC_NO;
        differ = differ || (first >= 0 && r->nvml_dev != first);
        first = r->nvml_dev;
    }
    return differ ? NSC_YES : NSC_UNSAID;
}

enum nsc_answer nsc_ask_hides_gpus(struct nsc_ask *q)
{
    nsc_str host = q->link && q->link->proc != NSC_NONE ? q->m->procs.item[q->link->proc].host : 0;
    enum nsc_answer here = hides_gpus_of(q->m, host);
    return here == NSC_UNSAID ? hides_gpus_of(q->m, 0) : here; /* the job starts its processes alike on all hosts */
}

/* ---- what was set, what was said ---- */

enum nsc_answer nsc_ask_variable(struct nsc_ask *q, const char *name, const char *value)
{
    const struct nsc_env *e = nsc_env_of(q->m, q->proc, name);
    bool is = e && (!value[0] || nsc_text_is(nsc_say(q->m, e->value), value));
    if (is) {
        q->env = e;
        q->line = &e->where;
        return NSC_YES;
    }
    return e || (q->proc != NSC_NONE && nsc_env_is_visible(q->m, q->proc)) ? NSC_NO : NSC_UNSAID;
}

static bool has_words(const struct nsc_event *e, ncclscope_kind kind, const char *words)
{
    return e->kind == kind && (!words[0] || nsc_text_find(e->where.text, words) >= 0);
}

enum { BY_ANY, BY_NAMELESS };

/* The first event of this kind and with these words, of any process, or of one that no header names: looked for once. Index into
 * model.events, or NSC_NONE. */
static uint32_t first_said(const struct nsc_ask *q, ncclscope_kind kind, const char *words, uint64_t by)
{
    enum { NEVER = NSC_NONE - 1 };
    const struct ncclscope_model *m = q->m;
    struct nsc_key key = {(uint64_t)kind, (uintptr_t)words, by};
    uint32_t known = nsc_map_get(&q->c->f->said_by, key);
    size_t i = 0;
    if (known != NSC_NONE)
        return known == NEVER ? NSC_NONE : known;
    while (i < m->events.len && !(has_words(&m->events.item[i], kind, words) &&
                                  (by == BY_ANY || m->procs.item[m->events.item[i].proc].nameless)))
        i++;
    if (nsc_map_put(&q->c->f->said_by, key, i < m->events.len ? (uint32_t)i : NEVER))
        q->c->f->no_memory = true;
    return i < m->events.len ? (uint32_t)i : NSC_NONE;
}

enum nsc_answer nsc_ask_says(struct nsc_ask *q, ncclscope_kind kind, const char *words)
{
    const struct ncclscope_model *m = q->m;
    uint32_t first = first_said(q, kind, words, q->proc == NSC_NONE ? BY_ANY : BY_NAMELESS);
    for (size_t i = q->proc == NSC_NONE ? m->event_order.len : nsc_events_of(m, q->proc); i < m->event_order.len; i++) {
        uint32_t at = m->event_order.item[i];
        if (m->events.item[at].proc != q->proc || at > first)
            break;
        if (has_words(&m->events.item[at], kind, words))
            first = at;
    }
    q->line = first == NSC_NONE ? q->line : &m->events.item[first].where;
    return nsc_yes_or(first != NSC_NONE, NSC_NO);
}

enum nsc_answer nsc_ask_anyone_says(struct nsc_ask *q, ncclscope_kind kind, const char *words)
{
    struct nsc_ask any = *q;
    any.proc = NSC_NONE;
    enum nsc_answer answer = nsc_ask_says(&any, kind, words);
    q->line = any.line;
    return answer;
}

enum nsc_answer nsc_ask_heard_of(struct nsc_ask *q, ncclscope_kind kind, const char *words)
{
    const struct ncclscope_model *m = q->m;
    for (size_t i = 0; nsc_first_heard(m, kind) && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != kind || nsc_text_find(r->where.text, words) < 0)
            continue;
        q->line = &r->where;
        return NSC_YES;
    }
    return NSC_NO;
}

enum nsc_answer nsc_ask_any_warned(struct nsc_ask *q, const char *words)
{
    for (size_t i = 0; i < q->m->warnings.len; i++) {
        const struct nsc_warning *w = &q->m->warnings.item[i];
        if (nsc_text_find(nsc_say(q->m, w->message), words) < 0)
            continue;
        q->line = &w->where;
        return NSC_YES;
    }
    return NSC_NO;
}

enum nsc_answer nsc_ask_heard(struct nsc_ask *q, ncclscope_kind kind)
{
    const struct nsc_own_record *r = nsc_first_heard(q->m, kind);
    q->line = r ? &r->where : q->line;
    return nsc_yes_or(r != NULL, NSC_NO);
}

enum nsc_answer nsc_ask_warned(struct nsc_ask *q, const char *words)
{
    const struct nsc_where *w = q->event ? &q->event->where : q->said;
    return nsc_yes_or(w && nsc_text_find(w->text, words) >= 0, NSC_NO);
}

enum nsc_answer nsc_ask_informed(struct nsc_ask *q)
{
    uint64_t records = 0, others = 0;
    for (size_t i = 0; i < q->m->sources.len; i++) {
        records += q->m->sources.item[i].stats.records;
        others += q->m->sources.item[i].stats.warnings + q->m->sources.item[i].banners;
    }
    return nsc_yes_or(records > others, NSC_NO);
}

enum nsc_answer nsc_ask_number(struct nsc_ask *q, int64_t number)
{
    return nsc_yes_or(q->event && q->event->number == number, NSC_NO);
}

enum nsc_answer nsc_ask_since(struct nsc_ask *q, unsigned release)
{
    struct nsc_version v = nsc_version_of(q->m, q->proc);
    for (size_t i = 0; q->proc == NSC_NONE && i < q->m->procs.len && v.how == NSC_VERSION_UNKNOWN; i++)
        v = nsc_version_of(q->m, (uint32_t)i);
    if (v.how == NSC_VERSION_UNKNOWN)
        return NSC_UNSAID;
    return v.low >= release ? NSC_YES : v.high < release ? NSC_NO : NSC_UNSAID;
}

enum nsc_answer nsc_ask_raised(struct nsc_ask *q, enum nsc_id key)
{
    return nsc_yes_or(nsc_raised(q->c, key), NSC_NO);
}

/* ---- who ---- */

/* In the largest communicator of the process; dev -1: on any of its GPUs. */
static int64_t rank_on(const struct ncclscope_model *m, uint32_t proc, int64_t dev)
{
    int64_t rank = -1, largest = 0, unsized = -1;
    bool one = true;
    for (uint32_t i = proc == NSC_NONE ? NSC_NONE : m->procs.item[proc].last_rank; i != NSC_NONE;
         i = m->ranks.item[i].before) {
        const struct nsc_rank *r = &m->ranks.item[i];
        bool here = r->rank >= 0 && (dev < 0 || r->cuda_dev == dev);
        if (here && r->nranks < 0) { /* "comm 0x5e6c rank 2 sync hostStream error 1" alone names it */
            one = one && (unsized < 0 || unsized == r->rank);
            unsized = r->rank;
        }
        if (!here || r->nranks < largest || r->nranks <= 0)
            continue;
        largest = r->nranks;
        rank = r->rank;
    }
    return rank < 0 && one ? unsized : rank;
}

int64_t nsc_rank_of_process(const struct ncclscope_model *m, uint32_t proc)
{
    return rank_on(m, proc, -1);
}

/* Ranks of it have several, one call makes all ranks of a communicator, or the headers of its lines show more than a process of one GPU
 * shows: its own, and 0 by threads that have selected none. */
static bool has_several_gpus(const struct ncclscope_model *m, uint32_t proc)
{
    int64_t dev = -1;
    if (__builtin_popcountll(m->procs.item[proc].devices) > 2)
        return true;
    for (uint32_t i = m->procs.item[proc].last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if ((dev >= 0 && r->cuda_dev >= 0 && r->cuda_dev != dev) ||
            nsc_text_starts(nsc_say(m, r->made_by), "ncclCommInitAll"))
            return true;
        dev = r->cuda_dev >= 0 ? r->cuda_dev : dev;
    }
    return false;
}

int64_t nsc_rank_of_event(const struct ncclscope_model *m, const struct nsc_event *e)
{
    bool several = has_several_gpus(m, e->proc);
    return several && e->dev < 0 ? -1 : rank_on(m, e->proc, several ? e->dev : -1);
}

/* ---- how the run ended ---- */

nsc_text nsc_message_of(const struct nsc_where *w)
{
    ptrdiff_t at = nsc_text_find(w->text, "NCCL WARN ");
    at = at < 0 ? nsc_text_find(w->text, "NCCL INFO ") : at;
    return nsc_text_trim(at < 0 ? w->text : nsc_text_from(w->text, (size_t)at + 10));
}

bool nsc_lived_on(const struct ncclscope_model *m, uint32_t proc, const struct nsc_where *line)
{
    const struct nsc_proc *p = &m->procs.item[proc];
    if (p->last_rank != NSC_NONE && p->closing_at.source == line->source && p->closing_at.line > line->line)
        return true; /* who never had a communicator and closes gives up */
    for (uint32_t i = p->last_rank; i != NSC_NONE; i = m->ranks.item[i].before)
        if (m->ranks.item[i].complete.source == line->source && m->ranks.item[i].complete.line > line->line)
            return true;
    return p->source == line->source && p->last_connect > line->line;
}

bool nsc_goes_on_well(const struct ncclscope_model *m)
{
    enum { LINES_BEHIND = 3 };
    bool any = false;
    for (size_t i = 0; i < m->sources.len; i++) {
        const struct nsc_source_info *s = &m->sources.item[i];
        if (s->stats.records && s->stats.lines <= s->last_record + LINES_BEHIND)
            return false;
        any = any || s->stats.records;
    }
    return any && !m->troubles && !m->whole.warned;
}

enum nsc_answer nsc_ask_finished(struct nsc_ask *q)
{
    const struct nsc_where *w = nsc_success_of(q->m);
    q->line = w ? w : q->line;
    return nsc_yes_or(w != NULL, NSC_UNSAID);
}

enum nsc_answer nsc_ask_one_process(struct nsc_ask *q)
{
    return nsc_yes_or(q->proc != NSC_NONE && q->m->proc_order.len == 1, NSC_NO);
}

enum nsc_answer nsc_ask_localhost(struct nsc_ask *q)
{
    for (size_t i = 0; i < q->m->hosts.len; i++)
        if (!nsc_text_starts(nsc_say(q->m, q->m->hosts.item[i].name), "localhost"))
            return NSC_NO;
    return q->m->hosts.len ? NSC_YES : NSC_UNSAID;
}

enum nsc_answer nsc_ask_lines_left_out(struct nsc_ask *q)
{
    return q->m->repeated ? NSC_YES : NSC_UNSAID;
}

enum nsc_answer nsc_ask_one_host(struct nsc_ask *q)
{
    const struct ncclscope_model *m = q->m;
    if (m->hosts.len > 1)
        return NSC_NO;
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].seen < m->comms.item[i].nranks)
            return NSC_UNSAID;
    return m->comms.len && m->hosts.len == 1 ? NSC_YES : NSC_UNSAID;
}
