/* text_verdict.c - the first lines of the report for a person: the answer, and what was expected and is not so. */
#include "model/machines.h"
#include "model/pairs.h"
#include "read/changes.h"
#include "report/text.h"

#include <stdio.h>

/* Ranks of this input by its connections: who prints them, and who is reached without a network. */
static uint64_t count_talkers(const struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    for (size_t i = 0; i < m->links.len; i++) {
        const struct nsc_link *l = &m->links.item[i];
        uint32_t host = l->proc == NSC_NONE ? 0 : m->procs.item[l->proc].host;
        nsc_map_put(&seen, (struct nsc_key){l->direction == 2 ? l->dst : l->src, host, 0}, 0);
        if (l->family == NSC_P2P || l->family == NSC_SHM)
            nsc_map_put(&seen, (struct nsc_key){l->dst, host, 0}, 0);
    }
    uint64_t n = seen.used;
    nsc_map_free(&seen);
    return n;
}

uint64_t nsc_count_named_gpus(const struct ncclscope_model *m)
{
    struct nsc_map seen = {0};
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->bus_id)
            nsc_map_put(&seen, nsc_gpu_key(m, r), 0);
        else if (r->nvml_dev >= 0)
            nsc_map_put(&seen, (struct nsc_key){m->procs.item[r->proc].host, (uint64_t)r->nvml_dev, 2}, 0);
        else if (r->cuda_dev >= 0)
            nsc_map_put(&seen, (struct nsc_key){r->proc, (uint64_t)r->cuda_dev, 1}, 0);
    }
    uint64_t n = seen.used;
    nsc_map_free(&seen);
    if (nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_DUPLICATE_GPU) || m->gpus_are_shared)
        return n;
    for (size_t i = 0; i < m->comms.len; i++) /* machines of one name share bus ids; ranks of one communicator no GPU */
        n = (uint64_t)m->comms.item[i].seen > n ? (uint64_t)m->comms.item[i].seen : n;
    return n;
}

uint64_t nsc_count_gpus(const struct ncclscope_model *m)
{
    bool whole = m->comms.len == 1 && m->comms.item[0].seen == m->comms.item[0].nranks; /* torn lines make nobody up */
    uint64_t n = nsc_count_named_gpus(m), talkers = m->comms.len <= 1 && !whole ? count_talkers(m) : 0;
    return n > talkers ? n : talkers;
}

struct seen_paths {
    uint64_t links[NSC_PATH_UNKNOWN + 1];
    struct nsc_pairs pairs[NSC_PATH_UNKNOWN + 1];
    const struct nsc_where *proof; /* of NVLink */
    nsc_str p2p, network;          /* a spelling of each, as printed */
    bool leaves;                   /* a connection over the network may leave its node */
};

static struct seen_paths look(const struct ncclscope_model *m)
{
    struct seen_paths s = {0};
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->family == NSC_COLLNET && m->whole.no_collnet)
            continue;
        struct nsc_known_path p = l->known;
        s.links[p.path]++;
        nsc_pairs_add(&s.pairs[l->family == NSC_NET ? NSC_PATH_NET : p.path], m,
                      l); /* it may be so in one direction alone */
        if (p.path == NSC_PATH_NVLINK && !s.proof)
            s.proof = p.because;
        if (l->family == NSC_P2P && !s.p2p)
            s.p2p = l->via;
        if (l->family == NSC_NET && !s.network)
            s.network = l->network;
        s.leaves = s.leaves || (l->family == NSC_NET && p.scope != NSC_SCOPE_NODE);
    }
    for (int path = 0; path <= NSC_PATH_UNKNOWN; path++)
        nsc_pairs_free(&s.pairs[path]);
    return s;
}

/* "8 GPUs on " once; or, where lines were picked out and there may be more GPUs than they join, each path with its pairs: "2 pairs of
 * GPUs on P2P", "1 on IB" behind the first. */
static size_t say_pairs(const struct ncclscope_model *m, char *buf, size_t size, const struct nsc_pairs *pairs,
                        bool named, const char *things)
{
    uint64_t n = nsc_pairs_total(pairs);
    bool lossy = m->repeated || m->whole.battered; /* lines of other pairs were left out, or lost */
    return named ? 0
                 : (size_t)snprintf(buf, size, "%s%llu%s%s on ", pairs->at_least || lossy ? "at least " : "",
                                    (unsigned long long)n,
                                    !things  ? ""
                                    : n == 1 ? " pair of "
                                             : " pairs of ",
                                    things ? things : "");
}

/* NCCL's own transport is named IB, whatever runs below it: are all its devices of this kind? */
static bool all_devices_are(const struct ncclscope_model *m, const char *kind)
{
    bool any = false;
    for (size_t i = 0; i < m->devices.len; i++) {
        const struct nsc_net_device *d = &m->devices.item[i];
        if (!nsc_text_is(nsc_say(m, d->net), "IB"))
            continue;
        if (!nsc_text_is(nsc_say(m, d->kind), kind))
            return false;
        any = true;
    }
    return any;
}

/* "NVLink (P2P/CUMEM) inside nodes, IB with GDRDMA between them" */
static void say_paths(const struct nsc_report *r, const struct seen_paths *s, bool named, char *buf, size_t size)
{
    nsc_text p2p = nsc_say(r->m, s->p2p), net = nsc_say(r->m, s->network);
    net = nsc_text_is(net, "Socket") ? NSC_TEXT("TCP sockets") : net;
    bool inside = s->links[NSC_PATH_NVLINK] || s->links[NSC_PATH_P2P] || s->links[NSC_PATH_PCIE] ||
                  s->links[NSC_PATH_SHM] || s->links[NSC_PATH_SAME_GPU];
    const char *things = s->links[NSC_PATH_SAME_GPU] ? "ranks" : "GPUs";
    size_t n = 0;
    buf[0] = 0;
    const struct {
        enum nsc_path path;
        const char *words;
    } local[] = {{NSC_PATH_SAME_GPU, "the memory of one GPU, which they share"},
                 {NSC_PATH_NVLINK, nsc_is_rccl(r->m) ? "xGMI" : "NVLink"},
                 {NSC_PATH_P2P, "P2P"},
                 {NSC_PATH_PCIE, "P2P over PCIe"},
                 {NSC_PATH_SHM, "shared memory"}};
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++) {
        if (!s->links[local[i].path] || n + 64 > size)
            continue;
        bool begins = !n;
        n += (size_t)snprintf(buf + n, size - n, "%s", n ? " and " : "");
        n += say_pairs(r->m, buf + n, size - n, &s->pairs[local[i].path], named, begins ? things : NULL);
        n += (size_t)snprintf(buf + n, size - n, "%s", local[i].words);
        if (local[i].path == NSC_PATH_NVLINK && p2p.len < 40)
            n += (size_t)snprintf(buf + n, size - n, " (%.*s)", (int)p2p.len, p2p.ptr);
    }
    if (!n && !net.len && r->m->nvls_calls)
        snprintf(buf, size, "NVLink SHARP (NVLS), by %llu lines of collectives; these print no connections",
                 (unsigned long long)r->m->nvls_calls);
    if (!net.len || net.len > 40 || n + 96 > size)
        return;
    bool between = inside && s->leaves;
    n += (size_t)snprintf(buf + n, size - n, "%s", between ? " inside nodes, " : inside ? " and " : "");
    n += say_pairs(r->m, buf + n, size - n, &s->pairs[NSC_PATH_NET], named, inside ? NULL : things);
    snprintf(buf + n, size - n, "%.*s%s%s%s", (int)net.len, net.ptr,
             nsc_text_is(net, "IB") && all_devices_are(r->m, "RoCE") ? " (RoCE)" : "",
             s->links[NSC_PATH_NET_GDR] ? (!s->links[NSC_PATH_NET] ? " with GDRDMA"
                                           : between               ? ", partly with GDRDMA,"
                                                                   : ", partly with GDRDMA")
             : s->links[NSC_PATH_NET]   ? " without GPUDirect RDMA"
                                        : "",
             between  ? " between them"
             : inside ? " inside the node"
                      : "");
}

bool nsc_lacks_ranks(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].seen < m->comms.item[i].nranks)
            return true;
    return false;
}

/* Of a job whose connections between nodes are not in the input: the network that all its processes chose `for_whom`. */
static void chosen_network(const struct nsc_report *r, const char *for_whom)
{
    const struct nsc_proc *first = NULL;
    char line[600];
    for (size_t i = 0; i < r->m->procs.len; i++) {
        const struct nsc_proc *p = &r->m->procs.item[i];
        if (p->network && first && p->network != first->network)
            return;
        first = first || !p->network ? first : p;
    }
    const struct nsc_event *provider = nsc_event_of(r->m, NSC_NONE, NCCLSCOPE_KIND_OFI_PROVIDER);
    bool of_libfabric = first && provider && nsc_text_find(nsc_say(r->m, first->network), "ibfabric") >= 0;
    if (first)
        snprintf(line, sizeof line, "%s NCCL chose the network %.100s (%s)%s%.60s.", for_whom,
                 nsc_say(r->m, first->network).ptr, nsc_place_of(r->m, &first->network_at).words,
                 of_libfabric ? ", by libfabric's provider " : "",
                 of_libfabric ? nsc_say(r->m, provider->text).ptr : "");
    else if (provider)
        snprintf(line, sizeof line, "%s aws-ofi-nccl selected the provider %.60s (%s).", for_whom,
                 nsc_say(r->m, provider->text).ptr, nsc_place_of(r->m, &provider->where).words);
    else if (all_devices_are(r->m, "IB") || all_devices_are(r->m, "RoCE"))
        snprintf(line, sizeof line, "NCCL lists %s devices, which it uses by default where it finds any.",
                 all_devices_are(r->m, "RoCE") ? "RoCE" : "InfiniBand");
    else
        return;
    nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
}

/* Why the job ended, where that is not what its path is like: its scheduler's limit, or somebody's Ctrl-C. Below a sentence, or as the first. */
static bool tell_end(const struct nsc_report *r, const char *row, bool below)
{
    char line[500];
    const struct nsc_finding *f = nsc_explained_by(r->f, row);
    if (!f || !f->title)
        return false;
    snprintf(line, sizeof line, "%.280s%s%s%s.", f->title, f->evidences ? " (" : "",
             f->evidences ? nsc_place_of(r->m, &f->evidence[0]).words : "", f->evidences ? ")" : "");
    if (below)
        nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
    return true;
}

static bool tell_any_end(const struct nsc_report *r, bool below)
{
    static const char *const rows[] = {"EXIT_LIMIT", "EXIT_CANCELLED", "EXIT_BY_HAND", "EXIT_BY_HANDLER"};
    bool told = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        told = tell_end(r, rows[i], below || told) || told;
    return told;
}

/* Several inputs, a success or a result in the one, or a rank that ended. */
static bool shows_an_end(const struct ncclscope_model *m)
{
    bool ended = m->sources.len != 1 || nsc_success_of(m) || m->tests.len;
    for (size_t i = 0; i < m->ranks.len && !ended; i++)
        ended = m->ranks.item[i].destroyed.line || m->ranks.item[i].aborted.line;
    return ended;
}

/* The same, or a rank that came up. */
static bool may_have_ended(const struct ncclscope_model *m)
{
    bool up = false;
    for (size_t i = 0; i < m->ranks.len && !up; i++)
        up = m->ranks.item[i].done || m->ranks.item[i].done_maybe;
    return up || shows_an_end(m);
}

/* All that connected did so at the end of the input, and nobody says that he has done: releases that connect at the first collective say so.
 * Not where sends connected ("Channel 00/1"), which no such word follows. */
static bool ends_connecting(const struct ncclscope_model *m)
{
    enum { NEAR = 12 };
    bool near = false;
    if (may_have_ended(m) || nsc_sends_and_receives(m))
        return false;
    for (size_t i = 0; i < m->procs.len; i++) {
        const struct nsc_proc *p = &m->procs.item[i];
        if (!p->last_connect)
            continue;
        if (p->past_connect || p->nameless || nsc_version_of(m, (uint32_t)i).low < NSC_CHANGE_RUNTIME_CONNECT)
            return false;
        near = near || p->last_connect + NEAR >= m->sources.item[0].stats.lines;
    }
    return near;
}

/* NCCL's lines of a beginning are the last of the input, and none of a connection or of an end is in it. */
static bool ends_before_any_connects(const struct ncclscope_model *m)
{
    if (may_have_ended(m) || m->links.len)
        return false;
    bool begins = false;
    for (size_t i = 0; i < m->procs.len && !begins; i++)
        begins = m->procs.item[i].network_at.line > 0;
    const struct nsc_source_info *s = &m->sources.item[0];
    return begins && s->stats.lines <= s->last_record + 1;
}

/* The last lines of the input are NCCL's: no work of the communicators, and no word of the program, whose others stand in the input too. */
static bool ends_behind_init(const struct ncclscope_model *m)
{
    const struct ncclscope_stats *s = m->sources.len == 1 ? &m->sources.item[0].stats : NULL;
    enum { NEAR = 12 };
    bool up = false; /* and right before the end */
    for (size_t i = 0; s && i < m->ranks.len && !up; i++)
        up = m->ranks.item[i].complete.line && m->ranks.item[i].complete.line + NEAR >= s->lines;
    return up && !shows_an_end(m) && !m->troubles && !m->calls_seen && s->lines > s->records &&
           s->lines <= m->sources.item[0].last_record + 1;
}

/* Beside a path that might be better: where the input ends nothing had come through yet, which may be what its reader wonders at. */
static void tell_open_end(const struct nsc_report *r)
{
    char line[300] = "";
    const struct nsc_finding *f = nsc_explained_by(r->f, "MISSING_CUT");
    f = f ? f : nsc_explained_by(r->f, "MISSING_CUT_SHORT");
    if (f && f->title)
        snprintf(line, sizeof line, "%.220s: it is cut there, or the job hangs.", f->title);
    else if (nsc_lacks_results(r->m) && !nsc_explained_by(r->f, "HUNG_NO_RESULT"))
        snprintf(line, sizeof line, "%s",
                 nsc_tests_failed(r->m)
                     ? "nccl-tests reports a failure instead of results."
                     : "nccl-tests printed no result in this input: the log is cut, or the test hangs.");
    else if (ends_connecting(r->m))
        snprintf(line, sizeof line, "The input ends while ranks connect: it is cut there, or the job hangs.");
    else if (ends_before_any_connects(r->m))
        snprintf(line, sizeof line,
                 "The input ends before a line says that ranks connected: it is cut there, the job hangs, or such "
                 "lines were left out.");
    else if (ends_behind_init(r->m))
        snprintf(line, sizeof line,
                 "The input ends right behind the initialisation: whether the job went on from there cannot be told.");
    if (!line[0])
        return;
    nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
}

static void good_verdict(const struct nsc_report *r)
{
    struct seen_paths s = look(r->m);
    char paths[280], line[600], who[40] = "";
    uint64_t gpus = nsc_count_named_gpus(r->m);
    bool all =
        !r->m->links.len || r->m->comms.len > 1 || count_talkers(r->m) >= gpus; /* else some have no connection here */
    bool shared = s.links[NSC_PATH_SAME_GPU] && r->m->comms.len;
    bool named = all && (((gpus > 1 || shared) && !nsc_lacks_ranks(r->m)) || (!r->m->links.len && gpus));
    say_paths(r, &s, named, paths, sizeof paths);
    gpus = nsc_count_gpus(r->m);
    if (named && s.links[NSC_PATH_SAME_GPU])
        snprintf(who, sizeof who, "%llu GPU%s under %zu ranks: ", (unsigned long long)gpus, gpus == 1 ? "" : "s",
                 (size_t)r->m->comms.item[0].nranks);
    else if (named)
        snprintf(who, sizeof who, "%llu GPU%s on ", (unsigned long long)gpus, gpus == 1 ? "" : "s");
    snprintf(line, sizeof line, "%s%s%s", who, paths, nsc_reservation(r, s.links));
    nsc_mark(r, nsc_is_open_question(r) || nsc_lacks_results(r->m) ? NSC_MARK_UNKNOWN : NSC_MARK_OK);
    nsc_wrap(r, 3, nsc_text_of(line));
    tell_end(r, "EXIT_LIMIT", true);
    tell_end(r, "EXIT_CANCELLED", true);
    if (!strstr(line, "stopped the job by hand"))
        tell_end(r, "EXIT_BY_HAND", true);
    if (nsc_lacks_network(r, s.links))
        chosen_network(r, "For them");
    else if (nsc_is_cut_as_it_connects(r) && !s.links[NSC_PATH_NET] && !s.links[NSC_PATH_NET_GDR] &&
             !s.links[NSC_PATH_SOCKET])
        chosen_network(r, "For other nodes, if there are any,");
    if (s.proof && s.proof->line) {
        const char *what = nsc_is_rccl(r->m) ? "xGMI by " : "NVLink by ";
        bool several = r->m->sources.len > 1;
        nsc_indent(r, 3);
        if (several) {
            nsc_puts(r->out, what);
            nsc_safe(r, nsc_base_name(nsc_say(r->m, r->m->sources.item[s.proof->source].name)));
        }
        snprintf(line, sizeof line, several ? "%s%llu: " : "%sline %llu: ", several ? ":" : what,
                 (unsigned long long)s.proof->line);
        nsc_line_of(r, line, s.proof->text);
    }
}

/* A variable that is set: that it differs between ranks is news of its own. */
static bool is_env(const struct nsc_finding *f)
{
    return !strncmp(f->rule->id, "env/", 4) && f->rule->key != NSC_ID_ENV_DIFFERS;
}

static bool tells_of_setting(const struct nsc_finding *f)
{
    return !is_env(f) && f->severity >= NCCLSCOPE_SEVERITY_WARNING && !strcmp(f->cls, "configuration");
}

bool nsc_folds_variables(const struct ncclscope_findings *f)
{
    for (size_t i = 0; i < f->list.len; i++)
        if (tells_of_setting(&f->list.item[i]))
            return true;
    return false;
}

/* "NCCL_NET" stands in "NCCL_NET=IB", and not in "NCCL_NET_GDR_LEVEL". */
static bool holds_name(const char *text, nsc_text name)
{
    for (const char *at = text; at && (at = memmem(at, strlen(at), name.ptr, name.len)); at += name.len)
        if (at[name.len] != '_' && !(at[name.len] >= 'A' && at[name.len] <= 'Z'))
            return true;
    return false;
}

/* The variable that a finding is about; a title begins with it: "NCCL_P2P_DISABLE=1 is set (4 processes)". */
static nsc_text variable_of(const struct nsc_report *r, const struct nsc_finding *f)
{
    const char *title = f->title ? f->title : "";
    return f->about ? nsc_say(r->m, f->about) : (nsc_text){title, strcspn(title, "= ")};
}

/* Is the variable behind another finding, which is told with it? By the root that it has, or by its words. */
bool nsc_is_folded(const struct nsc_report *r, const struct nsc_finding *f)
{
    if (!r->folds || !is_env(f))
        return false;
    nsc_text name = variable_of(r, f);
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *x = &r->f->list.item[i];
        bool named = name.len && (holds_name(x->title, name) || holds_name(x->cause, name) || holds_name(x->fix, name));
        if (tells_of_setting(x) && (x->caused_by == f->rule->key || named))
            return true;
    }
    return false;
}

/* Other programs quote NCCL, say that they failed of it, or measured that something is wrong. */
static bool has_trouble(const struct nsc_report *r)
{
    for (size_t i = 0; i < r->f->list.len; i++)
        if (r->f->list.item[i].severity >= NCCLSCOPE_SEVERITY_WARNING)
            return true;
    return false;
}

/* The finding that says what is wrong, rather than the variable that is behind it. */
static const struct nsc_finding *headline(const struct nsc_report *r)
{
    size_t i = 0;
    while (i + 1 < r->f->list.len && nsc_is_folded(r, &r->f->list.item[i]))
        i++;
    bool fails = r->f->list.item[i].severity == NCCLSCOPE_SEVERITY_ERROR; /* a variable that NCCL gave up for */
    for (size_t k = i + 1; !fails && is_env(&r->f->list.item[i]) && k < r->f->list.len; k++)
        if (!is_env(&r->f->list.item[k]) && r->f->list.item[k].severity >= r->f->list.item[i].severity)
            i = k; /* a path says more than a variable that does nothing */
    const struct nsc_finding *f = &r->f->list.item[i];
    for (size_t k = i + 1; !strncmp(f->rule->id, "net/", 4) && k < r->f->list.len; k++) {
        const struct nsc_finding *x = &r->f->list.item[k];
        if (x->caused_by == f->rule->key && x->rule->key == NSC_ID_NET_SOCKET)
            return x; /* "ranks talk over sockets" says more than "no device was found" */
    }
    return f;
}

const struct nsc_finding *nsc_headline(const struct nsc_report *r)
{
    bool bad = r->f->verdict == NCCLSCOPE_FINDINGS || (r->f->verdict == NCCLSCOPE_NO_NCCL_LINES && has_trouble(r));
    return bad && r->f->list.len ? headline(r) : NULL;
}

/* "NCCL_P2P_DISABLE=1, NCCL_SHM_DISABLE=1": the variables that were folded into a finding. */
static void folded_variables(const struct nsc_report *r, char *buf, size_t size)
{
    enum { ONE = 64 }; /* bytes that one may need */
    size_t n = 0;
    buf[0] = 0;
    for (size_t i = 0; i < r->f->list.len && n + 80 < size; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        const char *end = f->title && nsc_is_folded(r, f) && f->severity >= NCCLSCOPE_SEVERITY_WARNING
                              ? strstr(f->title, " is set")
                              : NULL;
        if (end && n + ONE < size)
            n += (size_t)snprintf(buf + n, size - n, "%s%.*s", n ? ", " : "",
                                  (int)(end - f->title < 60 ? end - f->title : 60), f->title);
    }
}

/* What the headline follows from, where that is no variable, which is told with it. */
static const struct nsc_finding *root_of(const struct nsc_report *r, const struct nsc_finding *f)
{
    for (size_t i = 0; f->caused_by && i < r->f->list.len; i++)
        if (r->f->list.item[i].rule->key == f->caused_by && !is_env(&r->f->list.item[i]) && r->f->list.item[i].title)
            return &r->f->list.item[i];
    return NULL;
}

/* Its first sentence, and those behind it that have room in three lines. */
static int first_sentences(const char *text)
{
    enum { ROOM = 220 };
    size_t n = 0;
    for (const char *end = text; (end = strstr(end, ". ")); end += 2)
        if (!n || (size_t)(end + 1 - text) <= ROOM)
            n = (size_t)(end + 1 - text);
    size_t all = strlen(text);
    return (int)(!n || all <= ROOM ? all : n);
}

/* Why, of what is not certain: the beginning of it, where all stands below. */
static void say_perhaps(const struct nsc_report *r, const struct nsc_finding *f)
{
    static const char open[] = "The log does not say why.";
    char line[900];
    bool alone = r->flags & NCCLSCOPE_REPORT_VERDICT;
    int n = alone ? (int)strlen(f->cause) : first_sentences(f->cause);
    if (!alone && !strncmp(f->cause, open, sizeof open - 1))
        snprintf(line, sizeof line, "The log does not say why; possible causes stand below.");
    else if (nsc_text_find((nsc_text){f->cause, (size_t)n}, "cannot be told") >= 0) /* that is no guess */
        snprintf(line, sizeof line, "%.*s", n, f->cause);
    else
        snprintf(line, sizeof line, "%s: %.*s", f->confidence, n, f->cause);
    nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
}

/* Its root, or why it is so as far as that is a guess, or what it costs. */
static void say_reason(const struct nsc_report *r, const struct nsc_finding *f)
{
    char line[900];
    const struct nsc_finding *root = root_of(r, f);
    if (root) {
        snprintf(line, sizeof line, "%s%s%s.", strcmp(root->confidence, "certain") ? root->confidence : "",
                 strcmp(root->confidence, "certain") ? ": " : "", root->title);
        nsc_indent(r, 3);
        nsc_wrap(r, 3, nsc_text_of(line));
        return;
    }
    bool repeats = f->cause && f->title && strlen(f->cause) > 1 &&
                   memmem(f->title, strlen(f->title), f->cause, strlen(f->cause) - 1); /* but for its full stop */
    if (strcmp(f->confidence, "certain") != 0 && f->cause && !repeats) {
        say_perhaps(r, f);
    } else if (f->cost) {
        snprintf(line, sizeof line, "What that costs: %.*s.", (int)strcspn(f->cost, ";"), f->cost);
        nsc_indent(r, 3);
        nsc_wrap(r, 3, nsc_text_of(line));
    }
}

static void bad_verdict(const struct nsc_report *r)
{
    const struct nsc_finding *f = headline(r);
    char line[900], variables[300];
    folded_variables(r, variables, sizeof variables);
    bool says = !variables[0] || !f->caused_by || strcmp(f->cls, "configuration") != 0 ||
                strstr(f->title ? f->title : "", variables);
    snprintf(line, sizeof line, "%s%s%s.", f->title ? f->title : f->rule->means, says ? "" : ": ",
             says ? "" : variables);
    size_t n = strlen(line);
    if (n > 4 && !strcmp(line + n - 4, "....")) /* a title that was cut ends in three */
        line[n - 1] = 0;
    nsc_mark(r, NSC_MARK_BAD);
    bool ends = f->severity < NCCLSCOPE_SEVERITY_ERROR && f->rule->key != NSC_ID_RANKS_EXITED; /* else it is the end */
    if (ends && tell_any_end(r, false))
        nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
    if (f->severity < NCCLSCOPE_SEVERITY_ERROR && nsc_lacks_inside(r, look(r->m).links)) {
        nsc_indent(r, 3);
        nsc_wrap(
            r, 3,
            nsc_text_of("No connection within a node is in this input: how the GPUs of a node talk cannot be told."));
    }
    say_reason(r, f);
    if (f->severity < NCCLSCOPE_SEVERITY_ERROR || !strcmp(f->cls, "fault"))
        tell_open_end(r);
}

/* Where no path shows, a warning that no rule knows may be what the log is about: its own words come first. */
static void tell_open_warning(const struct nsc_report *r)
{
    enum { SHOWN = 240 };
    const struct nsc_warning *w = NULL;
    for (size_t i = 0; i < r->m->warnings.len && !w; i++)
        w = nsc_is_open(&r->m->warnings.item[i]) ? &r->m->warnings.item[i] : NULL;
    if (!w)
        return;
    char line[SHOWN + 300];
    nsc_text said = nsc_text_trim_end(nsc_text_of_warning(&w->where)), shown = nsc_text_upto(said, SHOWN);
    snprintf(line, sizeof line, "NCCL warns (%s); this tool has no rule for it: \"%.*s%s\"",
             nsc_place_of(r->m, &w->where).words, (int)shown.len, shown.ptr, shown.len < said.len ? "..." : "");
    nsc_wrap(r, 3, nsc_text_of(line));
    nsc_indent(r, 3);
}

/* A failure without its reason; or, unless the run came to its end, a note that stands on a warning of NCCL's own. */
static bool may_be_the_point(const struct nsc_report *r, const struct nsc_finding *f)
{
    if (f->caused_by || !f->title || f->rule->key == NSC_ID_FAILURE_UNJUDGED)
        return !f->caused_by && f->title;
    return f->evidences && nsc_text_find(f->evidence[0].text, "NCCL WARN ") >= 0 && !nsc_success_of(r->m) &&
           !is_env(f) && strcmp(f->cls, "by-design") != 0 && strcmp(f->cls, "visibility") != 0;
}

/* Where no path shows, calls that returned an error or a warning that cost little may be what the log is about: that comes first. */
static void tell_quiet_trouble(const struct nsc_report *r)
{
    char line[500];
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        if (!may_be_the_point(r, f))
            continue;
        snprintf(line, sizeof line, "%.480s.", f->title);
        nsc_wrap(r, 3, nsc_text_of(line));
        nsc_indent(r, 3);
        return;
    }
}

static void verdict(const struct nsc_report *r, const ncclscope_stats *t)
{
    const struct nsc_where *done = nsc_success_of(r->m);
    char line[400];
    switch (r->f->verdict) {
    case NCCLSCOPE_NO_NCCL_LINES:
        if (has_trouble(r)) {
            bad_verdict(r);
            nsc_text_ras(r);
            break;
        }
        nsc_mark(r, NSC_MARK_UNKNOWN);
        if (!r->m->sources.len)
            snprintf(line, sizeof line, "The given paths hold no file: nothing to judge.");
        else if (!t->lines && nsc_is_damaged(r))
            snprintf(line, sizeof line, "No input could be read: nothing to judge.");
        else if (!t->lines)
            snprintf(line, sizeof line, "The input is empty: nothing to judge.");
        else if (r->m->sources.len == 1 && r->m->sources.item[0].stats.binary)
            snprintf(line, sizeof line, "This is not a log: binary data without an NCCL line. Nothing to judge.");
        else if (r->f->list.len)
            snprintf(
                line, sizeof line,
                "No NCCL line among %llu lines, so nothing can be said of paths; what other programs say of the job "
                "is below.",
                (unsigned long long)t->lines);
        else
            snprintf(line, sizeof line,
                     "No NCCL line among %llu lines: %s. Run the job with NCCL_DEBUG=INFO and give its output.",
                     (unsigned long long)t->lines,
                     r->m->tests.len || nsc_lacks_results(r->m) || nsc_success_of(r->m)
                         ? "they cannot tell which path the GPUs use"
                         : "nothing to judge");
        if (tell_any_end(r, false))
            nsc_indent(r, 3);
        nsc_wrap(r, 3, nsc_text_of(line));
        if (done && r->m->tests_begun <= 1 && !has_trouble(r)) {
            snprintf(line, sizeof line, "The program says that it reached its end (%s).",
                     nsc_place_of(r->m, done).words);
            nsc_indent(r, 3);
            nsc_wrap(r, 3, nsc_text_of(line));
        }
        nsc_text_others(r);
        break;
    case NCCLSCOPE_NO_EVIDENCE:
        for (size_t i = 0; i < r->f->list.len; i++) {
            const struct nsc_finding *f = &r->f->list.item[i];
            if (f->rule->key != NSC_ID_LOG_NO_CHANNELS)
                continue;
            nsc_mark(r, NSC_MARK_UNKNOWN);
            tell_open_warning(r);
            tell_quiet_trouble(r);
            bool without = nsc_lacks_results(r->m) && !nsc_tests_failed(r->m) &&
                           !nsc_explained_by(r->f, "HUNG_NO_RESULT"); /* which is told there */
            snprintf(line, sizeof line, "%s%s.",
                     without ? "nccl-tests printed no result in this input: it is cut there, or the test failed or "
                               "hangs. "
                             : "",
                     f->title);
            nsc_wrap(r, 3, nsc_text_of(line));
            nsc_indent(r, 3);
            nsc_wrap(r, 3, nsc_text_of(f->cause));
            tell_any_end(r, true);
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
    for (int64_t i = 0; i < nsc_row_next(&r->f->rows, expectation); i++) {
        const ncclscope_expectation *e = nsc_row_at(&r->f->rows, expectation, (size_t)i);
        char line[500], where[60] = "";
        if (e->line != NCCLSCOPE_UNSAID && r->m->sources.len == 1)
            snprintf(where, sizeof where, ", line %lld", (long long)e->line);
        if (e->state == NCCLSCOPE_KEPT)
            snprintf(line, sizeof line, "expected %s: it holds.", e->expect.ptr);
        else
            snprintf(line, sizeof line, "expected %s: %s%s%s.", e->expect.ptr,
                     e->state == NCCLSCOPE_BROKEN ? "" : "cannot tell, ", e->why.ptr, where);
        nsc_mark(r, e->state == NCCLSCOPE_KEPT     ? NSC_MARK_OK
                    : e->state == NCCLSCOPE_BROKEN ? NSC_MARK_BAD
                                                   : NSC_MARK_UNKNOWN);
        nsc_wrap(r, 3, nsc_text_of(line));
    }
}

void nsc_text_verdict(const struct nsc_report *r, const ncclscope_stats *totals)
{
    verdict(r, totals);
    expectations(r);
}
