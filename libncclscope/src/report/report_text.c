/* report_text.c - the report for a person: the verdict first, then who talks to whom, then what is wrong and how to mend it. */
#include "read/changes.h"
#include "report/text.h"

#include <stdio.h>

/* ---- what was read ---- */

/* No line says the version: what fits the texts of all processes. */
static void inferred_version(const struct ncclscope_model *m, char *buf, size_t size)
{
    struct nsc_version all = {NSC_VERSION_UNKNOWN, 0, NSC_VERSION_OPEN, 0};
    char range[60];
    uint32_t older, newer;
    for (size_t i = 0; i < m->proc_order.len; i++) {
        struct nsc_version v = nsc_version_of(m, m->proc_order.item[i]);
        all.how = v.how > all.how ? v.how : all.how;
        all.low = v.low > all.low ? v.low : all.low;
        all.high = v.high < all.high ? v.high : all.high;
    }
    nsc_version_spell(&all, range, sizeof range);
    enum {
        FIRST = 20000,
        EARLY = 20500,
        MANY = 20 * 100
    }; /* of some thirty minor releases: such a range says nothing */
    unsigned low = all.low < FIRST ? FIRST : all.low;
    bool wide = all.high == NSC_VERSION_OPEN ? low < EARLY : all.high - low > MANY;
    if (all.how == NSC_VERSION_INFERRED && all.low <= all.high && !wide)
        snprintf(buf, size, "no version line; NCCL %s by message texts (inferred)", range);
    else if (nsc_versions_are_apart(m, &older, &newer))
        snprintf(buf, size, "no version line; hosts run different releases by their texts (inferred)");
    else
        snprintf(buf, size, "no version line");
}

/* "NCCL 2.26.5+cuda12.9 and 2.26.2+cuda12.8", "... and others". */
static void all_versions(const struct nsc_report *r, char *buf, size_t size)
{
    nsc_str first = 0, second = 0;
    bool more = false;
    for (size_t i = 0; i < r->m->procs.len + r->m->sources.len; i++) {
        nsc_str v =
            i < r->m->procs.len ? r->m->procs.item[i].version : r->m->sources.item[i - r->m->procs.len].bare_version;
        const struct nsc_source_info *s = i < r->m->procs.len ? NULL : &r->m->sources.item[i - r->m->procs.len];
        nsc_str other = s ? s->bare_other : 0;
        more = more || (v && second && v != first && v != second) || (s && s->bare_many) ||
               (other && second && other != first && other != second);
        second = second || !first || v == first ? second : v;
        first = first ? first : v;
        second = second || !other || other == first ? second : other;
    }
    nsc_text t = nsc_say(r->m, first), other = nsc_say(r->m, second);
    if (!first)
        inferred_version(r->m, buf, size);
    else
        snprintf(
            buf, size, "%s%.*s%s%.*s%s", nsc_is_rccl(r->m) ? "RCCL " : "NCCL ", (int)(t.len < 60 ? t.len : 60), t.ptr,
            !second ? ""
            : more  ? ", "
                    : " and ",
            second ? (int)(other.len < 60 ? other.len : 60) : 0, second ? other.ptr : "", more ? " and others" : "");
}

/* Complete, or it was before it was aborted, as programs end it too. That it was aborted alone does not show it. */
static bool is_seen_complete(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nsc_rank *r = &m->ranks.item[m->members.item[c->first + i]];
        if (r->complete.line || r->used || r->called || r->split_off || r->destroyed.line)
            return true;
    }
    return false;
}

static bool was_complete(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    if (!is_seen_complete(m, c))
        return false;
    if (c->state != NSC_ABORTED)
        return c->state == NSC_COMPLETE;
    if (c->seen < c->nranks)
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (!nsc_is_done(&m->ranks.item[m->members.item[c->first + i]]))
            return false;
    return true;
}

/* A communicator that was aborted, and none of whose ranks says that it was made: connections alone may be those of its initialisation. */
static bool was_never_made(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    bool made = c->state != NSC_ABORTED;
    for (uint32_t i = 0; i < c->count && !made; i++) {
        const struct nsc_rank *k = &m->ranks.item[m->members.item[c->first + i]];
        made = k->complete.line || k->called || k->split_off || k->destroyed.line;
    }
    return !made;
}

/* Something failed, and a rank says neither that it was made nor anything that one which was made says: older releases print no line when
 * they begin one, so that it counts as made. */
static bool may_lack_one(const struct nsc_report *r)
{
    bool failed = false;
    for (size_t i = 0; i < r->f->list.len; i++)
        failed = failed ||
                 (r->f->list.item[i].severity == NCCLSCOPE_SEVERITY_ERROR && !strcmp(r->f->list.item[i].cls, "error"));
    for (size_t i = 0; i < r->m->ranks.len && failed; i++) {
        const struct nsc_rank *k = &r->m->ranks.item[i];
        if (!k->complete.line && !k->used && !k->called && !k->split_off && !k->destroyed.line)
            return true;
    }
    for (size_t i = 0; i < r->m->comms.len && failed; i++)
        if (was_never_made(r->m, &r->m->comms.item[i]))
            return true;
    return false;
}

/* Do connections alone tell that communicators were made, and may they be of their initialisation? Where the input ends among them none says
 * that it came to its end. */
static bool rests_on_connections(const struct nsc_report *r)
{
    for (size_t i = 0; i < r->m->ranks.len; i++) {
        const struct nsc_rank *k = &r->m->ranks.item[i];
        if (k->complete.line || k->called || k->split_off || k->destroyed.line || k->init_seconds >= 0 || k->done ||
            nsc_version_of(r->m, k->proc).low >= NSC_CHANGE_RUNTIME_CONNECT)
            return false;
    }
    return r->m->ranks.len > 0;
}

/* One rank says that it came to the end of its initialisation: all were there, of which some are not in this input. */
static bool is_part_of_whole(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    for (uint32_t i = 0; i < c->count && c->state == NSC_INCOMPLETE && c->seen < c->nranks; i++)
        if (m->ranks.item[m->members.item[c->first + i]].complete.line)
            return true;
    return false;
}

/* Are ranks of it in logs that are not given, and those that are here were made? */
static bool is_part(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    if (is_part_of_whole(m, c))
        return true;
    if (c->state != NSC_ABORTED || c->seen >= c->nranks)
        return c->state == NSC_PARTIAL;
    for (uint32_t i = 0; i < c->count; i++)
        if (!nsc_is_done(&m->ranks.item[m->members.item[c->first + i]]))
            return false;
    return true;
}

/* "pod node-0 on ip-10-0-5-88, p4d.24xlarge: 4 GPUs, 4 EFA devices, hostIPC, /dev/shm 64Gi" */
static void one_pod(const struct nsc_report *r, const struct nsc_pod *p)
{
    char line[700];
    size_t n = (size_t)snprintf(line, sizeof line, "pod %.100s", nsc_say(r->m, p->name).ptr);
    if (p->node)
        n += (size_t)snprintf(line + n, sizeof line - n, " on %.100s", nsc_say(r->m, p->node).ptr);
    if (p->instance)
        n += (size_t)snprintf(line + n, sizeof line - n, ", %.60s", nsc_say(r->m, p->instance).ptr);
    n += (size_t)snprintf(line + n, sizeof line - n, ": ");
    if (p->gpus >= 0)
        n += (size_t)snprintf(line + n, sizeof line - n, "%lld GPU%s, ", (long long)p->gpus, p->gpus == 1 ? "" : "s");
    if (p->mig)
        n += (size_t)snprintf(line + n, sizeof line - n, "MIG, ");
    if (p->efa >= 0)
        n += (size_t)snprintf(line + n, sizeof line - n, "%lld EFA device%s, ", (long long)p->efa,
                              p->efa == 1 ? "" : "s");
    n += (size_t)snprintf(line + n, sizeof line - n, "%s%s/dev/shm %s", p->host_ipc ? "hostIPC, " : "",
                          p->host_network ? "hostNetwork, " : "",
                          p->shm_size_text ? nsc_say(r->m, p->shm_size_text).ptr
                          : p->shm_volume  ? "a volume"
                          : p->host_ipc    ? "of the node"
                                           : "64 MiB, no volume");
    if (!p->processes && n < sizeof line)
        snprintf(line + n, sizeof line - n, "; no process of this input is in it");
    nsc_wrap(r, 5, nsc_text_of(line));
}

static void pods(const struct nsc_report *r)
{
    enum { SHOWN = 4 };
    size_t shown = r->flags & NCCLSCOPE_REPORT_VERBOSE ? r->m->pods.len : SHOWN;
    for (size_t i = 0; i < r->m->pods.len && i < shown; i++)
        one_pod(r, &r->m->pods.item[i]);
    if (r->m->pods.len > shown)
        nsc_printf(r->out, "and %zu more pod%s (-v lists them)\n", r->m->pods.len - shown,
                   r->m->pods.len - shown == 1 ? "" : "s");
}

/* Does every process name its GPU? Else those of the others would be left out of a count. */
static bool name_their_gpus(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->proc_order.len; i++) {
        uint32_t last = m->procs.item[m->proc_order.item[i]].last_rank;
        bool named = last != NSC_NONE && m->comms.len == 1; /* of one communicator each rank has its own */
        for (uint32_t r = last; r != NSC_NONE && !named; r = m->ranks.item[r].before)
            named = m->ranks.item[r].bus_id || m->ranks.item[r].cuda_dev >= 0;
        if (!named)
            return false;
    }
    return true;
}

/* "(pid: 249)" of one that failed, "Sending process 250 closing signal SIGTERM"; -1: it names none. */
static int64_t pid_of_launcher(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    static const char before[] = "Sending process ";
    nsc_text stop = r->number == NCCLSCOPE_KIND_LAUNCHER_STOPS ? nsc_said(m, r, "reason") : (nsc_text){NULL, 0};
    int64_t pid;
    if (nsc_text_starts(stop, before)) {
        nsc_text rest = nsc_text_from(stop, sizeof before - 1);
        return nsc_to_i64(nsc_next_word(&rest), &pid) ? pid : -1;
    }
    bool failed = r->number == NCCLSCOPE_KIND_RUN_EXIT || r->number == NCCLSCOPE_KIND_ELASTIC_FAILED;
    return failed && nsc_number_said(m, r, "pid", &pid) ? pid : -1;
}

/* Processes that a launcher says failed or were ended, and that have no line of NCCL's. */
static size_t count_silent(const struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    size_t n = 0;
    for (size_t i = 0; i < m->proc_order.len; i++)
        nsc_map_put(&seen, (struct nsc_key){(uint64_t)m->procs.item[m->proc_order.item[i]].pid, 0, 0}, 0);
    for (size_t i = 0; i < m->happened.len; i++) {
        int64_t pid = pid_of_launcher(m, &m->happened.item[i]);
        struct nsc_key key = {(uint64_t)pid, 0, 0};
        if (pid >= 0 && nsc_map_get(&seen, key) == NSC_NONE)
            n += !nsc_map_put(&seen, key, 0);
    }
    nsc_map_free(&seen);
    return n;
}

/* "Destroy COMPLETE" of each rank: the program came to the end of its work with NCCL. */
static bool are_all_destroyed(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        for (uint32_t n = 0; n < m->comms.item[i].count; n++)
            if (!m->ranks.item[m->members.item[m->comms.item[i].first + n]].destroyed.line)
                return false;
    return true;
}

/* "Abort COMPLETE" of ranks, and no Destroy: a program may end well so, or over an error that NCCL prints nothing of. */
static void count_aborted(const struct nsc_report *r)
{
    size_t aborted = 0, all = 0;
    for (size_t i = 0; i < r->m->comms.len; i++)
        for (uint32_t n = 0; n < r->m->comms.item[i].count; n++, all++) {
            const struct nsc_rank *rank = &r->m->ranks.item[r->m->members.item[r->m->comms.item[i].first + n]];
            aborted += rank->aborted.line > 0;
            if (rank->destroyed.line)
                return;
        }
    if (!aborted)
        return;
    nsc_printf(r->out, "Abort COMPLETE of %zu of the %zu ranks seen here, Destroy COMPLETE of none\n", aborted, all);
    if (r->f->verdict == NCCLSCOPE_ALL_OK)
        nsc_puts(r->out, "(usual where a program ends without destroying its communicators)\n");
}

/* "lines of a communicator of 16 ranks on 4 nodes, but not whose they are" */
static void bare_communicator(const struct nsc_report *r)
{
    unsigned long long ranks = r->m->bare_size >> 32, nodes = (uint32_t)r->m->bare_size;
    nsc_printf(r->out, "lines of a communicator of %llu rank%s", ranks, ranks == 1 ? "" : "s");
    if (nodes)
        nsc_printf(r->out, " on %llu node%s", nodes, nodes == 1 ? "" : "s");
    nsc_puts(r->out, ", from unknown processes");
}

static bool shares_names(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->machines.len; i++)
        if (m->machines.item[i].several)
            return true;
    return false;
}

/* "1 host, 8 processes, 8 GPUs, 1 communicator"; what no line names is said so, not counted as none. */
static void count_things(const struct nsc_report *r, size_t hosts)
{
    size_t processes = r->m->proc_order.len, comms = r->m->comms.len;
    unsigned long long gpus = (unsigned long long)nsc_count_named_gpus(r->m);
    char silent[60] = "";
    size_t more = count_silent(r->m);
    if (more && processes)
        snprintf(silent, sizeof silent, " and %zu named by the launcher", more);
    bool unnamed =
        hosts == 1 && nsc_text_is(nsc_say(r->m, r->m->procs.item[r->m->proc_order.item[0]].host), "(unnamed)");
    if (unnamed) /* ":41367:41367 [1] NCCL ..." */
        nsc_puts(r->out, "hosts without names, ");
    else if (hosts && shares_names(r->m))
        nsc_printf(r->out, "%zu host name%s of several machines or containers, ", hosts, hosts == 1 ? "" : "s, one");
    else if (hosts)
        nsc_printf(r->out, "%zu host%s, ", hosts, hosts == 1 ? "" : "s");
    if (hosts)
        nsc_printf(r->out, "%zu process%s%s, ", processes, processes == 1 ? "" : "es", silent);
    if (gpus && name_their_gpus(r->m))
        nsc_printf(r->out, "%s%llu GPU%s, ", r->m->whole.unnamed_gpus && nsc_lacks_ranks(r->m) ? "at least " : "", gpus,
                   gpus == 1 ? "" : "s");
    if (comms)
        nsc_printf(r->out, "%s%zu communicator%s",
                   r->m->repeated || (r->m->whole.battered && comms > 1) ? "at least " : "", comms,
                   comms == 1 ? "" : "s");
    else if (r->m->bare_size)
        bare_communicator(r);
    else
        nsc_puts(r->out, r->m->bare_comms  ? "lines of communicators, from unknown processes"
                         : r->m->cut_inits ? "lines that name a communicator are cut off"
                                           : "no Init line names a communicator");
}

/* Has a process that begins behind that line a rank 0, as one has that began before it? Other ranks may be of the same run, whose standard
 * output came in between. */
static bool another_begins(const struct ncclscope_model *m, const struct nsc_where *end)
{
    bool before = false, behind = false;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->ranks.item[i].proc];
        bool first = m->ranks.item[i].rank == 0 && p->first.source == end->source && p->informs;
        before = before || (first && p->first.line < end->line);
        behind = behind || (first && p->first.line > end->line);
    }
    return before && behind;
}

/* A job that came to its end in spite of what was found: that is another case than one that died of it. Where no path shows, the verdict
 * says it. */
static void say_reached_end(const struct nsc_report *r)
{
    const struct nsc_where *end = nsc_success_of(r->m);
    bool told = r->f->verdict != NCCLSCOPE_FINDINGS && r->f->verdict != NCCLSCOPE_ALL_OK;
    if (!end || told || r->m->tests.len)
        return;
    char line[300];
    snprintf(line, sizeof line, "the program says that it reached its end (%s)%s", nsc_place_of(r->m, end).words,
             another_begins(r->m, end) ? "; the run that begins behind it does not say so" : "");
    nsc_wrap(r, 3, nsc_text_of(line));
}

static void inputs(const struct nsc_report *r, const ncclscope_stats *t)
{
    char line[500], version[120];
    size_t hosts = 0, whole = 0, part = 0;
    for (size_t i = 0; i < r->m->proc_order.len; i++)
        hosts += !i ||
                 r->m->procs.item[r->m->proc_order.item[i]].host != r->m->procs.item[r->m->proc_order.item[i - 1]].host;
    for (size_t i = 0; i < r->m->comms.len; i++)
        whole += was_complete(r->m, &r->m->comms.item[i]), part += is_part(r->m, &r->m->comms.item[i]);
    all_versions(r, version, sizeof version);
    bool versioned = t->records; /* or nccl-tests or PyTorch says which NCCL it calls */
    for (size_t i = 0; i < r->m->sources.len; i++)
        versioned = versioned || r->m->sources.item[i].bare_version;
    nsc_text name =
        r->m->sources.len == 1 ? nsc_base_name(nsc_say(r->m, r->m->sources.item[0].name)) : (nsc_text){NULL, 0};
    if (name.len)
        nsc_safe(r, name);
    else
        nsc_printf(r->out, "%zu inputs", r->m->sources.len);
    snprintf(line, sizeof line, "   %llu lines, %llu NCCL%s%s%s\n", (unsigned long long)t->lines,
             (unsigned long long)t->records, t->records > t->lines ? " (several to a line)" : "",
             versioned ? "   " : "", versioned ? version : "");
    nsc_safe_line(r, line);
    if (t->records)
        count_things(r, hosts);
    if (r->m->comms.len && whole == r->m->comms.len)
        nsc_puts(r->out, may_lack_one(r) || rests_on_connections(r) ? ", all ranks seen"
                         : are_all_destroyed(r->m)                  ? ", complete, destroyed at the end"
                                                                    : ", complete");
    else if (r->m->comms.len && part == r->m->comms.len)
        nsc_puts(r->out, ", only partly in this input");
    else if (part && whole)
        nsc_printf(r->out, ", %zu complete, %zu of them only partly in this input", whole + part, part);
    else if (r->m->comms.len)
        nsc_printf(r->out, ", %zu complete%s", whole + part, part ? " as far as seen here" : "");
    nsc_puts(r->out, t->records ? "\n" : "");
    count_aborted(r);
    pods(r);
    nsc_text_tests(r);
    say_reached_end(r);
    for (size_t i = 0; i < r->m->sources.len; i++) {
        const struct nsc_source_info *s = &r->m->sources.item[i];
        if (!s->problem)
            continue;
        nsc_mark(r, NSC_MARK_BAD);
        nsc_safe(r, nsc_say(r->m, s->name));
        nsc_puts(r->out, ": ");
        nsc_safe(r, nsc_say(r->m, s->problem));
        nsc_puts(r->out, s->stats.records ? "; what came before it was read\n" : "\n");
    }
}

/* ---- findings ---- */

static void label(const struct nsc_report *r, const char *name, const char *text)
{
    if (!text)
        return;
    nsc_dim(r, nsc_text_of(name), 5);
    nsc_wrap(r, 11, nsc_text_of(text));
}

static void evidence(const struct nsc_report *r, const struct nsc_finding *f)
{
    size_t most = r->flags & NCCLSCOPE_REPORT_VERBOSE ? NSC_EVIDENCE : 2;
    for (size_t i = 0; i < f->evidences && i < most; i++) {
        const struct nsc_where *w = &f->evidence[i];
        char where[80];
        int at = 11;
        nsc_dim(r, NSC_TEXT("see"), 5);
        if (r->m->sources.len > 1) {
            nsc_text name = nsc_base_name(nsc_say(r->m, r->m->sources.item[w->source].name));
            nsc_safe(r, name);
            nsc_puts(r->out, ":");
            at += (int)nsc_width(name) + 1;
        }
        at += snprintf(where, sizeof where, r->m->sources.len > 1 ? "%llu  " : "line %llu  ",
                       (unsigned long long)w->line);
        nsc_puts(r->out, where);
        nsc_quote(r, at, w->text);
    }
}

/* Told elsewhere: a variable with what it does, a symptom with its root, the silence of the log in the verdict. */
static bool is_told(const struct nsc_report *r, const struct nsc_finding *f)
{
    if (f->rule->key == NSC_ID_LOG_NO_CHANNELS)
        return f->severity >= NCCLSCOPE_SEVERITY_WARNING || r->f->verdict == NCCLSCOPE_NO_EVIDENCE;
    if (f->severity < NCCLSCOPE_SEVERITY_WARNING || r->flags & NCCLSCOPE_REPORT_VERBOSE)
        return false;
    bool by_setting = r->folds && f->caused_by && !strncmp(nsc_words_of_id(f->caused_by), "env/", 4);
    return nsc_is_folded(r, f) || (f->caused_by && (!by_setting || f->part == NSC_WAKE));
}

static bool is_shown(const struct nsc_report *r, const struct nsc_finding *f, bool note)
{
    return (f->severity < NCCLSCOPE_SEVERITY_WARNING) == note && !is_told(r, f);
}

/* Which finding tells what follows from an id. */
struct tellers {
    const struct nsc_finding *of[NSC_IDS];
};

/* Of an id's findings the first that is shown. None may be: connect failed, so the proxy failed, so the peer closed its
 * end; the second is told under the first, and so is the third. */
static struct tellers find_tellers(const struct nsc_report *r)
{
    struct tellers t = {0};
    const struct nsc_finding *first[NSC_IDS] = {0};
    for (size_t i = r->f->list.len; i-- > 0;) {
        const struct nsc_finding *x = &r->f->list.item[i];
        if (x->severity < NCCLSCOPE_SEVERITY_WARNING)
            continue;
        first[x->rule->key] = x;
        if (is_shown(r, x, false))
            t.of[x->rule->key] = x;
    }
    struct tellers shown = t;
    for (size_t id = 0; id < NSC_IDS; id++) {
        const struct nsc_finding *x = first[id];
        for (size_t steps = 0; !t.of[id] && x && steps < NSC_IDS; steps++) {
            t.of[id] = shown.of[x->caused_by];
            x = first[x->caused_by];
        }
    }
    return t;
}

enum { ALIKE_SHOWN = 3 };

/* What follows from a finding: told once, here; of many of one id the first. */
static void wake_of(const struct nsc_report *r, const struct nsc_finding *f, const struct tellers *tells)
{
    char head[260];
    size_t told[NSC_IDS] = {0};
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *x = &r->f->list.item[i];
        if (x == f || tells->of[x->caused_by] != f || x->severity < NCCLSCOPE_SEVERITY_WARNING ||
            (told[x->rule->key]++ >= ALIKE_SHOWN && !(r->flags & NCCLSCOPE_REPORT_VERBOSE)))
            continue;
        snprintf(head, sizeof head, "%s: %.160s%s", x->rule->id, x->title ? x->title : "",
                 x->title && strlen(x->title) > 160 ? " ..." : "");
        label(r, "then", head);
    }
    for (size_t id = 0; id < NSC_IDS && !(r->flags & NCCLSCOPE_REPORT_VERBOSE); id++) {
        if (told[id] <= ALIKE_SHOWN)
            continue;
        snprintf(head, sizeof head, "and %zu more %s (-v lists them)", told[id] - ALIKE_SHOWN,
                 nsc_words_of_id((enum nsc_id)id));
        label(r, "then", head);
    }
}

static void whole_finding(const struct nsc_report *r, const struct nsc_finding *f, const struct tellers *tells)
{
    char head[260];
    nsc_mark(r, NSC_MARK_BAD);
    snprintf(head, sizeof head, "%s   %s, %s", f->rule->id, nsc_severity_name(f->severity), f->confidence);
    nsc_bold(r, nsc_text_of(head));
    nsc_puts(r->out, "\n");
    if (f != nsc_headline(r)) /* the verdict has said it */
        label(r, "what", f->title);
    label(r, "why", f->cause);
    label(r, "fix", f->fix);
    label(r, "cost", f->cost);
    evidence(r, f);
    wake_of(r, f, tells);
}

/* Of each id: findings that are told as they are, all of them, and those told so far. */
struct alike {
    size_t all[NSC_IDS], told[NSC_IDS];
};

static struct alike count_alike(const struct nsc_report *r, bool note)
{
    struct alike a = {0};
    for (size_t i = 0; i < r->f->list.len; i++)
        a.all[r->f->list.item[i].rule->key] += is_shown(r, &r->f->list.item[i], note);
    return a;
}

/* Were enough of its id told? Of the last of many, how many were left out is said. */
static bool is_one_of_many(const struct nsc_report *r, const struct nsc_finding *f, struct alike *a)
{
    size_t before = a->told[f->rule->key]++;
    if (r->flags & NCCLSCOPE_REPORT_VERBOSE || before < ALIKE_SHOWN)
        return false;
    if (before + 1 == a->all[f->rule->key])
        nsc_printf(r->out, "   and %zu more %s (-v lists them)\n", before + 1 - ALIKE_SHOWN, f->rule->id);
    return true;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Was a note told in just these words, of other pairs? */
static bool is_repeated(const struct nsc_report *r, const struct nsc_finding *f)
{
    for (const struct nsc_finding *x = r->f->list.item; f->all_pairs && x < f; x++)
        if (x->rule == f->rule && x->severity == f->severity && is_same_text(x->title, f->title) &&
            is_same_text(x->cause, f->cause))
            return true;
    return false;
}

static void one_note(const struct nsc_report *r, const struct nsc_finding *f)
{
    char line[900];
    if (!(r->flags & NCCLSCOPE_REPORT_VERBOSE) && is_repeated(r, f)) {
        nsc_mark(r, NSC_MARK_NOTE);
        snprintf(line, sizeof line, "%s: the same of %zu more pair%s", f->rule->id, (size_t)f->all_pairs,
                 f->all_pairs == 1 ? "" : "s");
        nsc_wrap(r, 5, nsc_text_of(line));
        return;
    }
    bool reason = !(r->flags & NCCLSCOPE_REPORT_VERBOSE) && f->cause && (!strcmp(f->cls, "by-design") || f->open);
    nsc_mark(r, NSC_MARK_NOTE);
    snprintf(line, sizeof line, "%s: %s%s%s", f->rule->id, f->title ? f->title : f->rule->means, reason ? ". " : "",
             reason ? f->cause : "");
    nsc_wrap(r, 5, nsc_text_of(line));
    if (r->flags & NCCLSCOPE_REPORT_VERBOSE) {
        label(r, "why", f->cause);
        label(r, "fix", f->fix);
        evidence(r, f);
    }
}

static bool is_wanted(const struct nsc_report *r, const char *id)
{
    return !strncmp(id, r->about, strlen(r->about));
}

void nsc_text_finding(const struct nsc_report *r, const struct nsc_finding *f)
{
    struct tellers tells = find_tellers(r);
    if (f->severity < NCCLSCOPE_SEVERITY_WARNING)
        one_note(r, f);
    else
        whole_finding(r, f, &tells);
}

/* The rules that could not look, a line for each reason. */
static void not_judged(const struct nsc_report *r)
{
    char line[4000];
    for (size_t i = 0; i < r->f->skipped.len; i++) {
        const struct nsc_skip *s = &r->f->skipped.item[i];
        size_t n = (size_t)snprintf(line, sizeof line, "not judged, %s:", s->reason), rules = 0;
        bool told = !is_wanted(r, s->id);
        for (size_t k = 0; !told && k < r->f->skipped.len && n < sizeof line; k++) {
            const struct nsc_skip *o = &r->f->skipped.item[k];
            if (strcmp(o->reason, s->reason) != 0 || !is_wanted(r, o->id))
                continue;
            told = told || k < i;
            rules++;
            n += (size_t)snprintf(line + n, sizeof line - n, " %s", o->id);
        }
        if (told || !rules)
            continue;
        nsc_indent(r, 3);
        nsc_wrap(r, 5, nsc_text_of(line));
    }
}

void nsc_text_findings(const struct nsc_report *r)
{
    size_t bad = 0, notes = 0;
    struct alike wrong = count_alike(r, false), noted = count_alike(r, true);
    struct tellers tells = find_tellers(r);
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        if (!is_shown(r, f, false) || !is_wanted(r, f->rule->id) || is_one_of_many(r, f, &wrong))
            continue;
        nsc_puts(r->out, bad++ ? "" : "\n");
        whole_finding(r, f, &tells);
    }
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        if (!is_shown(r, f, true) || !is_wanted(r, f->rule->id))
            continue;
        nsc_puts(r->out, notes++ ? "" : "\n");
        if (!is_one_of_many(r, f, &noted))
            one_note(r, f);
    }
    nsc_text_harmless_warnings(r);
    if (r->flags & NCCLSCOPE_REPORT_VERBOSE)
        not_judged(r);
    if (bad + notes)
        nsc_puts(r->out, "\n`ncclscope explain ID` says more of a finding.\n");
}

enum { DIAGS_SHOWN = 24 };

/* What NCCL itself found when it was asked to examine the machine: its words. */
static void diagnostics(const struct nsc_report *r)
{
    size_t shown = r->flags & NCCLSCOPE_REPORT_VERBOSE || r->m->diags.len < DIAGS_SHOWN ? r->m->diags.len : DIAGS_SHOWN;
    if (r->m->diags.len)
        nsc_puts(r->out, "\nNCCL's own diagnostics:\n");
    for (size_t i = 0; i < shown; i++) {
        const struct nsc_diag *d = &r->m->diags.item[i];
        nsc_text status = nsc_say(r->m, d->status), check = nsc_say(r->m, d->check), text = nsc_say(r->m, d->text);
        char line[600];
        snprintf(line, sizeof line, "%.*s: %.*s", (int)check.len, check.ptr, (int)(text.len < 400 ? text.len : 400),
                 text.ptr);
        nsc_printf(r->out, "   %-5.*s ", (int)(status.len < 5 ? status.len : 5), status.ptr);
        nsc_wrap(r, 9, nsc_text_of(line));
    }
    if (shown < r->m->diags.len)
        nsc_printf(r->out, "   and %zu more (-v lists them)\n", r->m->diags.len - shown);
}

void nsc_report_text(const struct nsc_report *r)
{
    ncclscope_stats t;
    nsc_totals(r->m, &t);
    nsc_text_verdict(r, &t);
    if (r->flags & NCCLSCOPE_REPORT_VERDICT)
        return;
    nsc_puts(r->out, "\n");
    inputs(r, &t);
    nsc_text_paths(r);
    nsc_text_open_warnings(r);
    diagnostics(r);
    nsc_text_findings(r);
}
