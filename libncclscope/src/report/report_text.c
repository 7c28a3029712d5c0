/* report_text.c - the report for a person: the verdict first, then who talks to whom, then what is wrong and how to mend it. */
#include "report/text.h"

#include <stdio.h>

/* ---- the verdict ---- */

/* Ranks that connections name, where nothing else names them. */
static uint64_t count_talkers(const struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    for (size_t i = 0; i < m->links.len; i++) {
        nsc_map_put(&seen, (struct nsc_key){m->links.item[i].src, 0, 0}, 0);
        nsc_map_put(&seen, (struct nsc_key){m->links.item[i].dst, 0, 0}, 0);
    }
    uint64_t n = seen.used;
    nsc_map_free(&seen);
    return n;
}

static uint64_t count_gpus(const struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        const struct nsc_proc *p = &m->procs.item[r->proc];
        if (r->bus_id)
            nsc_map_put(&seen, (struct nsc_key){p->host, r->bus_id, 0}, 0);
        else if (r->cuda_dev >= 0)
            nsc_map_put(&seen, (struct nsc_key){r->proc, (uint64_t)r->cuda_dev, 1}, 0);
    }
    uint64_t n = seen.used;
    nsc_map_free(&seen);
    for (size_t i = 0; i < m->comms.len; i++) /* machines of one name share bus ids; ranks of one communicator no GPU */
        n = (uint64_t)m->comms.item[i].seen > n ? (uint64_t)m->comms.item[i].seen : n;
    return n ? n : count_talkers(m);
}

struct seen_paths {
    uint64_t links[NSC_PATH_UNKNOWN + 1];
    const struct nsc_where *proof; /* of NVLink */
    nsc_str p2p, network;          /* a spelling of each, as printed */
};

static struct seen_paths look(const struct ncclscope_model *m)
{
    struct seen_paths s = {0};
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p;
        nsc_path_of(m, l, &p);
        s.links[p.path]++;
        if (p.path == NSC_PATH_NVLINK && !s.proof)
            s.proof = p.because;
        if (l->family == NSC_P2P && !s.p2p)
            s.p2p = l->via;
        if (l->family == NSC_NET && !s.network)
            s.network = l->network;
    }
    return s;
}

/* "NVLink (P2P/CUMEM) inside nodes, IB with GDRDMA between them" */
static void say_paths(const struct nsc_report *r, const struct seen_paths *s, char *buf, size_t size)
{
    nsc_text p2p = nsc_say(r->m, s->p2p), net = nsc_say(r->m, s->network);
    bool inside =
        s->links[NSC_PATH_NVLINK] || s->links[NSC_PATH_P2P] || s->links[NSC_PATH_PCIE] || s->links[NSC_PATH_SHM];
    size_t n = 0;
    buf[0] = 0;
    const struct {
        enum nsc_path path;
        const char *words;
    } local[] = {{NSC_PATH_NVLINK, "NVLink"},
                 {NSC_PATH_P2P, "P2P"},
                 {NSC_PATH_PCIE, "P2P over PCIe"},
                 {NSC_PATH_SHM, "shared memory"}};
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++) {
        if (!s->links[local[i].path] || n + 64 > size)
            continue;
        n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " and " : "", local[i].words);
        if (local[i].path == NSC_PATH_NVLINK && p2p.len < 40)
            n += (size_t)snprintf(buf + n, size - n, " (%.*s)", (int)p2p.len, p2p.ptr);
    }
    if (!net.len || net.len > 40 || n + 96 > size)
        return;
    snprintf(buf + n, size - n, "%s%.*s%s%s", inside ? " inside nodes, " : "", (int)net.len, net.ptr,
             s->links[NSC_PATH_NET_GDR] ? (s->links[NSC_PATH_NET] ? ", partly with GDRDMA," : " with GDRDMA")
             : s->links[NSC_PATH_NET]   ? " without GPUDirect RDMA"
                                        : "",
             inside ? " between them" : "");
}

/* Could an input not be read to its end? Then what is fine is fine only as far as it was read. */
static bool is_damaged(const struct nsc_report *r)
{
    for (size_t i = 0; i < r->m->sources.len; i++)
        if (r->m->sources.item[i].problem)
            return true;
    return false;
}

/* No rule judges it. */
static bool is_open(const struct nsc_warning *w)
{
    return !nsc_is_judged(w->kind) && !nsc_failure_is_known(w->kind);
}

static bool has_open_warnings(const struct nsc_report *r)
{
    for (size_t i = 0; i < r->m->warnings.len; i++)
        if (is_open(&r->m->warnings.item[i]))
            return true;
    return false;
}

/* What keeps "nothing is wrong" from being the whole answer. */
static const char *reservation(const struct nsc_report *r, const struct seen_paths *s)
{
    if (is_damaged(r))
        return " as far as the input could be read; it was not read whole, so this is no all-clear.";
    if (has_open_warnings(r))
        return "; but NCCL printed warnings that no rule here judges: read them below.";
    if (!s->links[NSC_PATH_P2P] || s->links[NSC_PATH_NVLINK] || s->links[NSC_PATH_PCIE])
        return ", nothing to mend.";
    return nsc_is_rccl(r->m) ? "; xGMI or PCIe cannot be told from this log: `rocm-smi --showtopo` on the node."
                             : "; NVLink or PCIe cannot be told from this log: `nvidia-smi topo -m` on the node, or "
                               "NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH.";
}

static void good_verdict(const struct nsc_report *r)
{
    struct seen_paths s = look(r->m);
    char paths[240], line[500];
    uint64_t gpus = count_gpus(r->m);
    say_paths(r, &s, paths, sizeof paths);
    snprintf(line, sizeof line, "%llu GPU%s on %s%s", (unsigned long long)gpus, gpus == 1 ? "" : "s", paths,
             reservation(r, &s));
    nsc_mark(r, is_damaged(r) || has_open_warnings(r) ? NSC_MARK_UNKNOWN : NSC_MARK_OK);
    nsc_wrap(r, 3, nsc_text_of(line));
    if (s.proof && s.proof->line) {
        snprintf(line, sizeof line, "NVLink by line %llu: ", (unsigned long long)s.proof->line);
        nsc_indent(r, 3);
        nsc_line_of(r, line, s.proof->text);
    }
}

static bool is_env(const struct nsc_finding *f)
{
    return !strncmp(f->rule->id, "env/", 4);
}

/* Is the variable behind another finding, which is told with it? */
static bool is_folded(const struct nsc_report *r, const struct nsc_finding *f)
{
    for (size_t i = 0; is_env(f) && i < r->f->list.len; i++) {
        const struct nsc_finding *x = &r->f->list.item[i];
        if (!is_env(x) && x->severity >= NCCLSCOPE_WARNING && !strcmp(x->cls, "configuration"))
            return true;
    }
    return false;
}

/* The finding that says what is wrong, rather than the variable that is behind it. */
static const struct nsc_finding *headline(const struct nsc_report *r)
{
    size_t i = 0;
    while (i + 1 < r->f->list.len && is_folded(r, &r->f->list.item[i]))
        i++;
    for (size_t k = i + 1; is_env(&r->f->list.item[i]) && k < r->f->list.len; k++)
        if (!is_env(&r->f->list.item[k]) && r->f->list.item[k].severity >= r->f->list.item[i].severity)
            i = k; /* a path says more than a variable that does nothing */
    const struct nsc_finding *f = &r->f->list.item[i];
    for (size_t k = i + 1; !strncmp(f->rule->id, "net/", 4) && k < r->f->list.len; k++) {
        const struct nsc_finding *x = &r->f->list.item[k];
        if (x->caused_by && !strcmp(x->caused_by, f->rule->id) && x->severity > f->severity)
            return x; /* "ranks talk over sockets" says more than "no device was found" */
    }
    return f;
}

/* "NCCL_P2P_DISABLE=1, NCCL_SHM_DISABLE=1": the variables that were folded into a finding. */
static void folded_variables(const struct nsc_report *r, char *buf, size_t size)
{
    size_t n = 0;
    buf[0] = 0;
    for (size_t i = 0; i < r->f->list.len && n + 80 < size; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        const char *end =
            f->title && is_folded(r, f) && f->severity >= NCCLSCOPE_WARNING ? strstr(f->title, " is set") : NULL;
        if (end)
            n += (size_t)snprintf(buf + n, size - n, "%s%.*s", n ? ", " : "",
                                  (int)(end - f->title < 60 ? end - f->title : 60), f->title);
    }
}

static void bad_verdict(const struct nsc_report *r)
{
    const struct nsc_finding *f = headline(r);
    char line[900], variables[300];
    folded_variables(r, variables, sizeof variables);
    bool says = !variables[0] || strstr(f->title ? f->title : "", variables);
    snprintf(line, sizeof line, "%s%s%s.", f->title ? f->title : f->rule->means, says ? "" : ": ",
             says ? "" : variables);
    nsc_mark(r, NSC_MARK_BAD);
    nsc_wrap(r, 3, nsc_text_of(line));
    if (strcmp(f->confidence, "certain") != 0 && f->cause) {
        snprintf(line, sizeof line, "%s: %s", f->confidence, f->cause);
        nsc_indent(r, 3);
        nsc_wrap(r, 3, nsc_text_of(line));
    } else if (f->cost && f->cost != f->cost_note) {
        snprintf(line, sizeof line, "What that costs: %.*s. %s", (int)strcspn(f->cost, ";"), f->cost,
                 f->cost_note ? f->cost_note : "");
        nsc_indent(r, 3);
        nsc_wrap(r, 3, nsc_text_of(line));
    }
}

static void verdict(const struct nsc_report *r, const ncclscope_stats *t)
{
    char line[400];
    switch (r->f->verdict) {
    case NCCLSCOPE_NO_NCCL_LINES:
        nsc_mark(r, NSC_MARK_UNKNOWN);
        if (!r->m->sources.len)
            snprintf(line, sizeof line, "There is no file in what was given: nothing to judge.");
        else if (!t->lines && is_damaged(r))
            snprintf(line, sizeof line, "No input could be read: nothing to judge.");
        else if (!t->lines)
            snprintf(line, sizeof line, "The input is empty: nothing to judge.");
        else if (r->m->sources.len == 1 && r->m->sources.item[0].stats.binary)
            snprintf(line, sizeof line, "This is no log: binary data without an NCCL line. Nothing to judge.");
        else if (r->f->list.len)
            snprintf(
                line, sizeof line,
                "No NCCL line among %llu lines, so nothing can be said of paths; what other programs say of the job "
                "is below.",
                (unsigned long long)t->lines);
        else
            snprintf(line, sizeof line,
                     "No NCCL line among %llu lines: nothing to judge. Run the job with NCCL_DEBUG=INFO and give its "
                     "output.",
                     (unsigned long long)t->lines);
        nsc_wrap(r, 3, nsc_text_of(line));
        break;
    case NCCLSCOPE_NO_EVIDENCE:
        for (size_t i = 0; i < r->f->list.len; i++) {
            const struct nsc_finding *f = &r->f->list.item[i];
            if (strcmp(f->rule->id, "log/no-channels") != 0)
                continue;
            nsc_mark(r, NSC_MARK_UNKNOWN);
            snprintf(line, sizeof line, "%s.", f->title);
            nsc_wrap(r, 3, nsc_text_of(line));
            nsc_indent(r, 3);
            nsc_wrap(r, 3, nsc_text_of(f->cause));
            nsc_indent(r, 3);
            nsc_wrap(r, 3, nsc_text_of(f->fix));
        }
        break;
    case NCCLSCOPE_ALL_OK: good_verdict(r); break;
    default: bad_verdict(r);
    }
}

/* What was expected and is not there, or cannot be told. */
static void expectations(const struct nsc_report *r)
{
    for (size_t i = 0; i < r->f->expected.len; i++) {
        const struct nsc_expectation *e = &r->f->expected.item[i];
        char line[500], where[60] = "";
        if (e->where.line && r->m->sources.len == 1)
            snprintf(where, sizeof where, ", line %llu", (unsigned long long)e->where.line);
        if (e->kept == NCCLSCOPE_KEPT)
            snprintf(line, sizeof line, "expected %s: so it is.", e->words);
        else
            snprintf(line, sizeof line, "expected %s: %s%s%s.", e->words,
                     e->kept == NCCLSCOPE_BROKEN ? "" : "cannot tell, ", e->why, where);
        nsc_mark(r, e->kept == NCCLSCOPE_KEPT     ? NSC_MARK_OK
                    : e->kept == NCCLSCOPE_BROKEN ? NSC_MARK_BAD
                                                  : NSC_MARK_UNKNOWN);
        nsc_wrap(r, 3, nsc_text_of(line));
    }
}

/* ---- what was read ---- */

/* No line says the version: what fits the texts of all processes. */
static void inferred_version(const struct ncclscope_model *m, char *buf, size_t size)
{
    struct nsc_version all = {NSC_VERSION_UNKNOWN, 0, NSC_VERSION_OPEN, 0};
    char range[60];
    for (size_t i = 0; i < m->proc_order.len; i++) {
        struct nsc_version v = nsc_version_of(m, m->proc_order.item[i]);
        all.how = v.how > all.how ? v.how : all.how;
        all.low = v.low > all.low ? v.low : all.low;
        all.high = v.high < all.high ? v.high : all.high;
    }
    nsc_version_spell(&all, range, sizeof range);
    if (all.how == NSC_VERSION_INFERRED && all.low <= all.high)
        snprintf(buf, size, "no version line; NCCL %s by its texts (inferred)", range);
    else
        snprintf(buf, size, "no version line");
}

static void one_version(const struct nsc_report *r, char *buf, size_t size)
{
    nsc_str first = 0;
    bool several = false;
    for (size_t i = 0; i < r->m->procs.len + r->m->sources.len; i++) {
        nsc_str v =
            i < r->m->procs.len ? r->m->procs.item[i].version : r->m->sources.item[i - r->m->procs.len].bare_version;
        several = several || (v && first && v != first) ||
                  (i >= r->m->procs.len && r->m->sources.item[i - r->m->procs.len].bare_other);
        first = first ? first : v;
    }
    nsc_text t = nsc_say(r->m, first);
    if (!first)
        inferred_version(r->m, buf, size);
    else
        snprintf(buf, size, "%s%.*s%s", nsc_is_rccl(r->m) ? "RCCL " : "NCCL ", (int)(t.len < 60 ? t.len : 60), t.ptr,
                 several ? " and others" : "");
}

/* Complete, or it was before it was aborted, as programs end it too. */
static bool was_complete(const struct ncclscope_model *m, const struct nsc_comm *c)
{
    if (c->state != NSC_ABORTED)
        return c->state == NSC_COMPLETE;
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
        nsc_printf(r->out, "and %zu more pods (-v lists them)\n", r->m->pods.len - shown);
}

static void inputs(const struct nsc_report *r, const ncclscope_stats *t)
{
    char line[500], version[120];
    size_t hosts = 0, whole = 0, part = 0;
    for (size_t i = 0; i < r->m->proc_order.len; i++)
        hosts += !i ||
                 r->m->procs.item[r->m->proc_order.item[i]].host != r->m->procs.item[r->m->proc_order.item[i - 1]].host;
    for (size_t i = 0; i < r->m->comms.len; i++)
        whole += was_complete(r->m, &r->m->comms.item[i]), part += r->m->comms.item[i].state == NSC_PARTIAL;
    one_version(r, version, sizeof version);
    nsc_text name =
        r->m->sources.len == 1 ? nsc_base_name(nsc_say(r->m, r->m->sources.item[0].name)) : (nsc_text){NULL, 0};
    if (name.len)
        nsc_safe(r, name);
    else
        nsc_printf(r->out, "%zu inputs", r->m->sources.len);
    snprintf(line, sizeof line, "   %llu lines, %llu NCCL%s%s\n", (unsigned long long)t->lines,
             (unsigned long long)t->records, t->records ? "   " : "", t->records ? version : "");
    nsc_safe_line(r, line);
    if (t->records)
        nsc_printf(r->out, "%zu host%s, %zu process%s, %llu GPU%s, %zu communicator%s", hosts, hosts == 1 ? "" : "s",
                   r->m->proc_order.len, r->m->proc_order.len == 1 ? "" : "es", (unsigned long long)count_gpus(r->m),
                   count_gpus(r->m) == 1 ? "" : "s", r->m->comms.len, r->m->comms.len == 1 ? "" : "s");
    if (r->m->comms.len && whole == r->m->comms.len)
        nsc_puts(r->out, ", complete");
    else if (r->m->comms.len && part == r->m->comms.len)
        nsc_puts(r->out, ", of which only a part is in this input");
    else if (r->m->comms.len)
        nsc_printf(r->out, ", %zu complete", whole);
    nsc_puts(r->out, t->records ? "\n" : "");
    pods(r);
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
        nsc_dim(r, NSC_TEXT("see"), 5);
        if (r->m->sources.len > 1) {
            nsc_safe(r, nsc_base_name(nsc_say(r->m, r->m->sources.item[w->source].name)));
            nsc_puts(r->out, ":");
        }
        snprintf(where, sizeof where, r->m->sources.len > 1 ? "%llu  " : "line %llu  ", (unsigned long long)w->line);
        nsc_line_of(r, where, w->text);
    }
}

static void whole_finding(const struct nsc_report *r, const struct nsc_finding *f)
{
    char head[200];
    nsc_mark(r, NSC_MARK_BAD);
    snprintf(head, sizeof head, "%s   %s, %s", f->rule->id, nsc_severity_name(f->severity), f->confidence);
    nsc_bold(r, nsc_text_of(head));
    nsc_puts(r->out, "\n");
    label(r, "what", f->title);
    label(r, "why", f->cause);
    label(r, "fix", f->fix);
    label(r, "cost", f->cost);
    evidence(r, f);
    for (size_t i = 0; i < r->f->list.len; i++) { /* its wake: told once, here */
        const struct nsc_finding *x = &r->f->list.item[i];
        if (!x->caused_by || strcmp(x->caused_by, f->rule->id) != 0 || x->severity < NCCLSCOPE_WARNING)
            continue;
        snprintf(head, sizeof head, "%s (%s): %.120s", x->rule->id, nsc_severity_name(x->severity),
                 x->title ? x->title : "");
        label(r, "then", head);
    }
}

/* Told elsewhere: a variable with what it does, a symptom with its root, the silence of the log in the verdict. */
static bool is_told(const struct nsc_report *r, const struct nsc_finding *f)
{
    if (!strcmp(f->rule->id, "log/no-channels"))
        return f->severity >= NCCLSCOPE_WARNING || r->f->verdict == NCCLSCOPE_NO_EVIDENCE;
    if (f->severity < NCCLSCOPE_WARNING || r->flags & NCCLSCOPE_REPORT_VERBOSE)
        return false;
    return is_folded(r, f) || (f->caused_by && strncmp(f->caused_by, "env/", 4) != 0);
}

enum { ALIKE_SHOWN = 3 };

/* How many findings before this one have its id and are told as it is; of the last of many, how many were left out is told. */
static bool is_one_of_many(const struct nsc_report *r, size_t i, bool note)
{
    const struct nsc_finding *f = &r->f->list.item[i];
    size_t before = 0, behind = 0;
    for (size_t k = 0; k < r->f->list.len; k++) {
        const struct nsc_finding *x = &r->f->list.item[k];
        if (k != i && !strcmp(x->rule->id, f->rule->id) && (x->severity < NCCLSCOPE_WARNING) == note && !is_told(r, x))
            k < i ? before++ : behind++;
    }
    if (r->flags & NCCLSCOPE_REPORT_VERBOSE || before < ALIKE_SHOWN)
        return false;
    if (!behind)
        nsc_printf(r->out, "   and %zu more %s (-v lists them)\n", before + 1 - ALIKE_SHOWN, f->rule->id);
    return true;
}

static void one_note(const struct nsc_report *r, const struct nsc_finding *f)
{
    char line[700];
    nsc_mark(r, NSC_MARK_NOTE);
    snprintf(line, sizeof line, "%s: %s", f->rule->id, f->title ? f->title : f->rule->means);
    nsc_wrap(r, 5, nsc_text_of(line));
    if (r->flags & NCCLSCOPE_REPORT_VERBOSE) {
        label(r, "why", f->cause);
        label(r, "fix", f->fix);
        evidence(r, f);
    }
}

static void findings(const struct nsc_report *r)
{
    size_t bad = 0, notes = 0;
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        if (f->severity < NCCLSCOPE_WARNING || is_told(r, f) || is_one_of_many(r, i, false))
            continue;
        nsc_puts(r->out, bad++ ? "" : "\n");
        whole_finding(r, f);
    }
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        if (f->severity >= NCCLSCOPE_WARNING || is_told(r, f))
            continue;
        nsc_puts(r->out, notes++ ? "" : "\n");
        if (!is_one_of_many(r, i, true))
            one_note(r, f);
    }
    for (size_t i = 0; r->flags & NCCLSCOPE_REPORT_VERBOSE && i < r->f->skipped.len; i++) {
        char line[300];
        snprintf(line, sizeof line, "not judged: %s, %s", r->f->skipped.item[i].id, r->f->skipped.item[i].reason);
        nsc_indent(r, 3);
        nsc_wrap(r, 5, nsc_text_of(line));
    }
    if (bad + notes)
        nsc_puts(r->out, "\n`ncclscope explain ID` says more of a finding.\n");
}

enum { WARNINGS_SHOWN = 6 };

/* What a warning says, without who said it. */
static nsc_text said(nsc_text line)
{
    ptrdiff_t at = nsc_text_find(line, "NCCL WARN ");
    return at < 0 ? line : nsc_text_from(line, (size_t)at + sizeof "NCCL WARN " - 1);
}

/* Warnings that no rule looked at: what they mean is the reader's to judge, but they are shown. */
static void warnings(const struct nsc_report *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->m->warnings.len; i++) {
        const struct nsc_warning *w = &r->m->warnings.item[i];
        if (!is_open(w) || n++ >= WARNINGS_SHOWN)
            continue;
        if (n == 1)
            nsc_puts(r->out, "\nNCCL's own warnings that no rule has judged:\n");
        nsc_puts(r->out, "   ");
        if (r->m->sources.len > 1) {
            nsc_safe(r, nsc_base_name(nsc_say(r->m, r->m->sources.item[w->where.source].name)));
            nsc_puts(r->out, ":");
        }
        nsc_printf(r->out, w->lines > 1 ? "line %llu, and %llu more such\n" : "line %llu\n",
                   (unsigned long long)w->where.line, (unsigned long long)w->lines - 1);
        nsc_indent(r, 5);
        nsc_wrap(r, 5, said(nsc_text_trim(w->where.text)));
    }
    if (n > WARNINGS_SHOWN)
        nsc_printf(r->out, "   and %zu more kinds of warnings (--json lists them)\n", n - WARNINGS_SHOWN);
}

void nsc_report_text(const struct nsc_report *r)
{
    ncclscope_stats t;
    nsc_totals(r->m, &t);
    verdict(r, &t);
    expectations(r);
    if (r->flags & NCCLSCOPE_REPORT_VERDICT)
        return;
    nsc_puts(r->out, "\n");
    inputs(r, &t);
    nsc_text_paths(r);
    warnings(r);
    findings(r);
}
