/* root_and_wake.c - of everything that failed: what broke by itself, and what follows from it. */
#include "rules/ask.h"
#include "rules/raised.h"
#include "rules/reruns.h"

/* Two times as printed: comparable if they differ in digits alone. */
static int compare_times(nsc_text a, nsc_text b, bool *comparable)
{
    size_t n = a.len < b.len ? a.len : b.len;
    for (size_t i = 0; i < n && *comparable; i++)
        *comparable = a.ptr[i] == b.ptr[i] || (nsc_is_digit(a.ptr[i]) && nsc_is_digit(b.ptr[i]));
    *comparable = *comparable && n >= 8;
    return *comparable ? memcmp(a.ptr, b.ptr, n) : 0;
}

/* Is it known that `a` was printed before `b`? By the clocks of their hosts, or by their place in one file. */
bool nsc_is_before(const struct ncclscope_model *m, const struct nsc_event *a, const struct nsc_event *b)
{
    bool comparable = a->time && b->time;
    int c = comparable ? compare_times(nsc_say(m, a->time), nsc_say(m, b->time), &comparable) : 0;
    if (comparable && c)
        return c < 0;
    return a->where.source == b->where.source && a->where.line < b->where.line;
}

/* Did the process that the finding begins in belong to the communicator that another finding is about? */
static bool is_member(const struct ncclscope_model *m, uint32_t proc, uint32_t comm)
{
    const struct nsc_comm *k = &m->comms.item[comm];
    for (uint32_t i = 0; i < k->count; i++)
        if (m->ranks.item[m->members.item[k->first + i]].proc == proc)
            return true;
    return false;
}

/* Two processes write into one file through buffers of their own: without clocks their order there, some lines apart, tells nothing. */
static bool is_order_unknown(const struct ncclscope_model *m, const struct nsc_event *a, const struct nsc_event *b)
{
    bool timed = a->time && b->time;
    uint64_t x = a->where.line, y = b->where.line;
    if (timed)
        compare_times(nsc_say(m, a->time), nsc_say(m, b->time), &timed);
    return !timed && a->proc != b->proc && a->where.source == b->where.source &&
           (x > y ? x - y : y - x) < NSC_LINES_BUFFERED;
}

static bool is_of_proxy(const struct nsc_finding *f)
{
    return f->rule->key == NSC_ID_FAILURE_ASYNC;
}

/* May something follow from it at all? Those that begin with a line of NCCL's are few: one for each sort of failure. */
static bool is_root(const struct nsc_finding *f)
{
    return f->began && f->severity >= NCCLSCOPE_SEVERITY_WARNING && f->part != NSC_NO_FAILURE;
}

/* Is the peer, "node01.example.org<45074>", on this host? */
static bool is_on_host(nsc_text peer, nsc_text host)
{
    return host.len && peer.len > host.len && !memcmp(peer.ptr, host.ptr, host.len) &&
           (peer.ptr[host.len] == '<' || peer.ptr[host.len] == '.');
}

/* "Connection closed by remote peer node01<57521>" on node01: a process speaks to its own proxy by a socket too, and sees it close when
 * the proxy failed. */
static bool closed_by_own_proxy(const struct ncclscope_model *m, const struct nsc_event *proxy,
                                const struct nsc_event *closed)
{
    nsc_text host = nsc_say(m, m->procs.item[closed->proc].host);
    ptrdiff_t space = -1;
    for (size_t i = 0; i < closed->where.text.len; i++)
        space = closed->where.text.ptr[i] == ' ' ? (ptrdiff_t)i : space;
    nsc_text peer = nsc_text_from(closed->where.text, (size_t)(space + 1));
    return proxy->proc == closed->proc && nsc_is_before(m, proxy, closed) && is_on_host(peer, host);
}

static bool could_cause(const struct ncclscope_model *m, const struct nsc_finding *root, const struct nsc_finding *f)
{
    if (root == f || root->rule == f->rule || root->caused_by)
        return false;
    if (f->began && root->began->proc == f->began->proc && root->part == NSC_WAKE && f->part == NSC_WAKE &&
        (is_of_proxy(root) || is_of_proxy(f)) && root->rule != f->rule) {
        const struct nsc_finding *proxy = is_of_proxy(f) ? f : root, *other = is_of_proxy(f) ? root : f;
        if (closed_by_own_proxy(m, proxy->began, other->began))
            return proxy == root;
        return is_of_proxy(f); /* a proxy tells of what it was told, by a socket that broke */
    }
    if (f->began == root->began) /* one line, of which a device says why */
        return root->rule->key == NSC_ID_NET_MIXED_DEVICES;
    if (f->began && is_order_unknown(m, root->began, f->began) && root->part != f->part)
        return root->part == NSC_ROOT; /* what breaks by itself is not what others see when something broke */
    if (f->began)
        return nsc_is_before(m, root->began, f->began) ||
               (root->part == NSC_ROOT && f->part == NSC_WAKE && !nsc_is_before(m, f->began, root->began));
    bool waits = f->rule->key == NSC_ID_RANKS_MISSING;                      /* for one that failed */
    bool stranger = m->procs.item[root->began->proc].last_rank == NSC_NONE; /* it may be the one that is missing */
    return f->part == NSC_WAKE &&
           (!waits || f->comm == NSC_NONE || stranger || is_member(m, root->began->proc, f->comm));
}

/* Peers of a process that vanished see closed connections, and what follows from them. */
static enum nsc_id vanished(const struct ncclscope_findings *all, const struct nsc_finding *f)
{
    size_t others = all->raised[NSC_ID_RANKS_LOST] - (f->rule->key == NSC_ID_RANKS_LOST);
    return f->began && others ? NSC_ID_RANKS_LOST : NSC_ID_NONE;
}

/* The launcher saw a process killed from outside or crash: what its peers see follows from that, whatever they printed first. */
static enum nsc_id killed(const struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++)
        if (all->list.item[i].rule->key == NSC_ID_RANKS_EXITED && all->list.item[i].part == NSC_ROOT)
            return NSC_ID_RANKS_EXITED;
    return NSC_ID_NONE;
}

/* A process that its program ended for want of memory, or over an error of CUDA's: peers see its connections close, and print it at once,
 * while a traceback may come some lines later. */
static enum nsc_id died(const struct ncclscope_findings *all, const struct nsc_finding *f)
{
    for (size_t i = 0; f->began && i < all->list.len; i++) {
        const struct nsc_finding *x = &all->list.item[i];
        bool program = x->rule->key == NSC_ID_FAILURE_MEMORY || x->rule->key == NSC_ID_FAILURE_CUDA;
        if (program && x != f && x->part == NSC_ROOT && !x->began && x->evidences &&
            (x->evidence[0].source != f->began->where.source ||
             x->evidence[0].line < f->began->where.line + NSC_LINES_ASTRAY))
            return x->rule->key;
    }
    return NSC_ID_NONE;
}

/* Is the process that tells of its own crash on this line, "[worker-0:5665 :0:5665] Caught signal 11", the one of the event? */
static bool is_of_crashed(const struct ncclscope_model *m, const struct nsc_where *line, const struct nsc_event *e)
{
    const struct nsc_proc *p = &m->procs.item[e->proc];
    nsc_text host = nsc_say(m, p->host);
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        nsc_text name = nsc_said(m, r, "name");
        int64_t pid;
        if (r->where.source == line->source && r->where.line == line->line && nsc_number_said(m, r, "pid", &pid) &&
            pid == p->pid && (nsc_text_eq(name, host) || is_on_host(name, host)))
            return true;
    }
    return false;
}

/* A process that NCCL failed in before it crashed fell over what it got back: the crash is how it ended, and no root. */
static void excuse_crashes(struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        bool crashed = f->rule->key == NSC_ID_RANKS_EXITED && f->part == NSC_ROOT && f->evidences;
        for (size_t k = 0; crashed && k < all->list.len; k++) {
            const struct nsc_finding *x = &all->list.item[k];
            if (x->began && x->severity == NCCLSCOPE_SEVERITY_ERROR && x->part != NSC_NO_FAILURE &&
                x->began->where.source == f->evidence[0].source && x->began->where.line < f->evidence[0].line &&
                is_of_crashed(all->model, &f->evidence[0], x->began))
                f->part = NSC_NO_FAILURE;
        }
    }
}

/* A process crashed, and behind its words another could not open the memory of a peer ("transport/p2p.cc:159 NCCL WARN Cuda failure 'invalid
 * resource handle'"): it is gone with the peer. */
static void blame_crash(struct ncclscope_findings *all)
{
    struct nsc_finding *gone = NULL;
    for (size_t i = 0; i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        bool crashed = f->rule->key == NSC_ID_RANKS_EXITED && f->part == NSC_ROOT && f->evidences;
        gone = crashed && !gone ? f : gone;
    }
    for (size_t i = 0; gone && i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        bool memory_of_peer = f->rule->key == NSC_ID_FAILURE_CUDA && f->began && !f->began->quoted &&
                              nsc_text_find(f->began->where.text, "transport/p2p.cc:") >= 0;
        if (memory_of_peer && !f->caused_by && f->began->where.source == gone->evidence[0].source &&
            f->began->where.line > gone->evidence[0].line && !is_of_crashed(all->model, &gone->evidence[0], f->began))
            f->caused_by = gone->rule->key;
    }
}

/* Findings that something may follow from. */
struct roots {
    size_t *at, n; /* at: NULL when there is no memory */
};

static struct roots list_roots(const struct ncclscope_findings *all)
{
    struct roots r = {nsc_alloc(all->list.len * sizeof *r.at), 0};
    for (size_t i = 0; r.at && i < all->list.len; i++)
        if (is_root(&all->list.item[i]))
            r.at[r.n++] = i;
    return r;
}

/* Of those that could have caused it the first in time, what breaks by itself before what only follows; where time is not known,
 * the first in the order of the rules. That a process vanished follows from no peer's closed connection. */
static const struct nsc_finding *cause_of(const struct ncclscope_findings *all, const struct roots *roots,
                                          const struct nsc_finding *f)
{
    const struct nsc_finding *best = NULL;
    bool lost = f->rule->key == NSC_ID_RANKS_LOST;
    for (size_t i = 0; i < roots->n; i++) {
        const struct nsc_finding *x = &all->list.item[roots->at[i]];
        if (!could_cause(all->model, x, f) || (best && best->part == NSC_ROOT && x->part == NSC_WAKE) ||
            (lost && x->part == NSC_WAKE))
            continue;
        if (!best || best->part != x->part || nsc_is_before(all->model, x->began, best->began))
            best = x;
    }
    return best;
}

/* Does it follow from a communicator that could not work from the start? */
static bool follows_from(const struct ncclscope_model *m, const struct nsc_finding *f, uint32_t comm)
{
    if (!f->began)
        return f->rule->key == NSC_ID_RANKS_MISSING && f->comm == comm;
    bool broken_talk = f->part == NSC_WAKE || f->began->kind == NCCLSCOPE_KIND_MESSAGE_TRUNCATED;
    return broken_talk && is_member(m, f->began->proc, comm);
}

/* Roots that no line tells: how the ranks of a communicator were put together. */
static void blame_communicators(struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++) {
        const struct nsc_finding *root = &all->list.item[i];
        bool is = root->part == NSC_ROOT && !root->began && root->comm != NSC_NONE;
        for (size_t k = 0; is && k < all->list.len; k++) {
            struct nsc_finding *f = &all->list.item[k];
            if (!f->caused_by && f->rule != root->rule && follows_from(all->model, f, root->comm))
                f->caused_by = root->rule->key;
        }
    }
}

/* The first time-out that PyTorch's watchdog tells, in this source; 0: none. */
static uint64_t first_timeout(const struct ncclscope_model *m, uint32_t source)
{
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_TORCH_TIMEOUT && m->happened.item[i].where.source == source)
            return m->happened.item[i].where.line;
    return 0;
}

/* Had the rank of this process lost its patience before? What CUDA reports behind that comes of how its communicator is taken down. */
static bool had_timed_out(const struct ncclscope_model *m, const struct nsc_event *e)
{
    uint32_t last = m->procs.item[e->proc].last_rank;
    for (size_t i = 0; last != NSC_NONE && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number == NCCLSCOPE_KIND_TORCH_TIMEOUT && r->torch_rank >= 0 &&
            r->torch_rank == m->ranks.item[last].rank && r->where.source == e->where.source)
            return r->where.line < e->where.line;
    }
    return false;
}

/* What failed before a watchdog lost its patience is why ranks waited; what fails behind it is how the job was torn down. */
static void relate_to_watchdog(struct ncclscope_findings *all)
{
    struct nsc_finding *hung = NULL;
    for (size_t i = 0; i < all->list.len && !hung; i++)
        hung = all->list.item[i].rule->key == NSC_ID_RANKS_HUNG ? &all->list.item[i] : NULL;
    for (size_t i = 0; hung && i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        uint64_t line = f->began && f->part != NSC_NO_FAILURE ? first_timeout(all->model, f->began->where.source) : 0;
        if (!line || f->caused_by)
            continue;
        if (f->began->where.line < line && !hung->caused_by && f->severity == NCCLSCOPE_SEVERITY_ERROR)
            hung->caused_by = f->rule->key;
        else if (f->began->where.line > line &&
                 (f->part == NSC_WAKE || (f->rule->key == NSC_ID_FAILURE_CUDA && had_timed_out(all->model, f->began))))
            f->caused_by = NSC_ID_RANKS_HUNG;
    }
}

/* The kernels of NCCL EP and DeepEP end themselves when they have waited in vain, and CUDA then reports a launch that failed. */
static void blame_experts(struct ncclscope_findings *all)
{
    const struct ncclscope_model *m = all->model;
    for (size_t i = 0; i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        bool trapped = f->rule->key == NSC_ID_FAILURE_CUDA && f->began && !f->caused_by &&
                       nsc_text_find(f->began->where.text, "unspecified launch failure") >= 0;
        for (size_t k = 0; trapped && k < m->happened.len; k++) {
            const struct nsc_own_record *r = &m->happened.item[k];
            if (r->number == NCCLSCOPE_KIND_EXPERTS_WAITED && r->where.source == f->began->where.source &&
                r->where.line < f->began->where.line)
                f->caused_by = NSC_ID_RANKS_HUNG;
        }
    }
}

/* "captures_underway == 0 INTERNAL ASSERT FAILED", and what NCCL gets from CUDA while the process goes down. */
static void blame_assertion(struct ncclscope_findings *all)
{
    const struct nsc_finding *root = nsc_explained_by(all, "EXIT_ASSERTION");
    for (size_t i = 0; root && root->severity == NCCLSCOPE_SEVERITY_ERROR && root->evidences && i < all->list.len;
         i++) {
        struct nsc_finding *f = &all->list.item[i];
        const struct nsc_where *said = &root->evidence[0], *began = f->began ? &f->began->where : NULL;
        if (f->rule->key == NSC_ID_FAILURE_CUDA && began && !f->caused_by && began->source == said->source &&
            began->line > said->line && began->line < said->line + NSC_NEAR_ASSERT)
            f->caused_by = root->rule->key;
    }
}

/* Ranks that were to meet over such an interface wait for each other. */
static void blame_for_missing(struct ncclscope_findings *all, const struct nsc_finding *root)
{
    for (size_t i = 0; root->severity == NCCLSCOPE_SEVERITY_ERROR && i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        if (f->rule->key == NSC_ID_RANKS_MISSING && f->severity == NCCLSCOPE_SEVERITY_ERROR && !f->caused_by)
            f->caused_by = root->rule->key;
    }
}

/* A connection that could not be made, from a host that meets the others over an interface that seldom reaches any. */
static void blame_interface(struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++) {
        struct nsc_finding *root = &all->list.item[i];
        for (size_t k = 0; root->rule->key == NSC_ID_NET_INTERFACE_SUSPECT && k < all->list.len; k++) {
            struct nsc_finding *f = &all->list.item[k];
            nsc_str host = f->began ? all->model->procs.item[f->began->proc].host : 0;
            bool shares = false;
            for (size_t h = 0; h < root->hosts.len; h++)
                shares = shares || root->hosts.item[h] == host;
            bool by_hand = root->evidences && root->severity >= NCCLSCOPE_SEVERITY_WARNING && f->why_rows &&
                           !strcmp(f->why_row[0], "EXIT_BY_HAND"); /* data was to go there, and nothing came up */
            if (f->caused_by || !(by_hand || (shares && f->rule->key == NSC_ID_NET_TIMEOUT)))
                continue;
            f->caused_by = root->rule->key;
            if (f->rule->key == NSC_ID_NET_TIMEOUT && f->severity > root->severity)
                root->severity = f->severity; /* it is what broke the job */
        }
        if (root->rule->key == NSC_ID_NET_INTERFACE_SUSPECT)
            blame_for_missing(all, root);
    }
}

/* Kernels that a GPU cannot run are a warning, as NCCL goes on without them; what broke by that makes them the failure. */
static void worsen_roots(struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++) {
        const struct nsc_finding *f = &all->list.item[i];
        bool broke = f->severity == NCCLSCOPE_SEVERITY_ERROR && f->caused_by == NSC_ID_FAILURE_SYSTEM_NOT_READY;
        for (size_t k = 0; broke && k < all->list.len; k++) {
            struct nsc_finding *root = &all->list.item[k];
            if (root->rule->key == f->caused_by && root->severity == NCCLSCOPE_SEVERITY_WARNING)
                root->severity = NCCLSCOPE_SEVERITY_ERROR;
        }
    }
}

/* The line that a failure began with, of NCCL's or of a program; NULL: it is none. */
static const struct nsc_where *beginning(const struct nsc_finding *f)
{
    if (f->severity != NCCLSCOPE_SEVERITY_ERROR)
        return NULL;
    if (f->began)
        return &f->began->where;
    bool is = !strncmp(f->rule->id, "failure/", 8) || f->part == NSC_ROOT;
    return is && f->evidences ? &f->evidence[0] : NULL;
}

/* Does the finding of that id follow from nothing itself? Only such a one may be passed on as a cause: a chain must not lead back. */
static bool is_first_cause(const struct ncclscope_findings *all, enum nsc_id key)
{
    bool any = false;
    for (size_t i = 0; i < all->list.len; i++) {
        if (all->list.item[i].rule->key == key && all->list.item[i].caused_by)
            return false;
        any = any || all->list.item[i].rule->key == key;
    }
    return any;
}

/* Lines of several streams are out of order. What breaks by itself, or was never reached, may stand behind the crash that follows from it;
 * a connection that closes there follows from the crash. */
static bool may_stand_behind(const struct nsc_finding *x)
{
    return x->part == NSC_ROOT || x->rule->key == NSC_ID_NET_TIMEOUT;
}

/* A program's exception, shortly before peers saw a rank's connections close. */
static bool raised_shortly_before(const struct nsc_finding *x, const struct nsc_finding *lost)
{
    enum { NEAR = 100 };
    const struct nsc_where *end = &lost->began->where;
    return x->rule->key == NSC_ID_RANKS_EXITED && x->severity == NCCLSCOPE_SEVERITY_ERROR && x->evidences &&
           x->evidence[0].source == end->source && x->evidence[0].line < end->line &&
           x->evidence[0].line + NEAR > end->line;
}

/* The launcher tells the end of a process in one line, behind what made it end: the first failure before that line. Of a rank that its
 * peers miss, what a program said before they missed it. */
static void explain_exit(struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        bool lost = f->rule->key == NSC_ID_RANKS_LOST && f->began;
        bool exited = f->rule->key == NSC_ID_RANKS_EXITED && f->part == NSC_NO_FAILURE && f->evidences;
        if (f->caused_by || !(lost || exited))
            continue;
        const struct nsc_where *end = lost ? &f->began->where : &f->evidence[0];
        const struct nsc_finding *root = NULL;
        bool follows = exited && nsc_call_failed_before(all->model, end);
        for (size_t k = 0; k < all->list.len; k++) {
            const struct nsc_finding *x = &all->list.item[k];
            bool open = !x->caused_by || (follows && x->caused_by != f->rule->key && is_first_cause(all, x->caused_by));
            const struct nsc_where *began = !open || x->rule == f->rule ? NULL : beginning(x);
            bool late = follows && may_stand_behind(x);
            bool before =
                began && began->source == end->source && (began->line < end->line || late) && !(lost && x->began);
            if (before && (!root || began->line < beginning(root)->line))
                root = x;
        }
        for (size_t k = 0; lost && !root && k < all->list.len; k++)
            if (!all->list.item[k].caused_by && raised_shortly_before(&all->list.item[k], f))
                f->caused_by = all->list.item[k].rule->key;
        if (f->caused_by)
            continue;
        if (root && (f->later_run || end->line > nsc_started_anew(all->model, beginning(root))))
            root = NULL;
        f->caused_by = !root ? NSC_ID_NONE : root->caused_by ? root->caused_by : root->rule->key;
    }
}

/* Where a job failed, a path that is slower than it might be, for reasons that no line tells, is not what its owner looks for; nor what the
 * connections that an RDMA device refused would have lacked. */
static void lower_open_paths(struct ncclscope_findings *all)
{
    bool failed = false, refused = false;
    for (size_t i = 0; i < all->list.len; i++) {
        const struct nsc_finding *f = &all->list.item[i];
        bool error = f->severity == NCCLSCOPE_SEVERITY_ERROR && (!strcmp(f->cls, "error") || f->began);
        failed = failed || error;
        refused = refused || (error && f->rule->key == NSC_ID_NET_IB_ERROR && f->part == NSC_ROOT);
    }
    for (size_t i = 0; failed && i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        bool lacks = refused && f->rule->key == NSC_ID_NET_GDR_OFF;
        if ((f->open || lacks) && f->severity == NCCLSCOPE_SEVERITY_WARNING)
            f->severity = NCCLSCOPE_SEVERITY_NOTE;
    }
}

/* Where libfabric's plugin was meant to bring the network and could not, that there is no InfiniBand device besides is no news. */
static void blame_plugin(struct ncclscope_findings *all)
{
    const struct nsc_event *e = nsc_event_of(all->model, NSC_NONE, NCCLSCOPE_KIND_OFI_NO_PROVIDER);
    bool plugin = false;
    for (size_t i = 0; e && i < all->list.len; i++)
        plugin = plugin || (all->list.item[i].rule->key == NSC_ID_NET_PLUGIN_FAILED &&
                            all->list.item[i].severity > NCCLSCOPE_SEVERITY_NOTE);
    for (size_t i = 0; plugin && i < all->list.len; i++)
        if (all->list.item[i].rule->key == NSC_ID_NET_NO_RDMA_DEVICE)
            all->list.item[i].caused_by = NSC_ID_NET_PLUGIN_FAILED;
    struct nsc_finding *missing =
        NULL; /* "Could not find: libnccl-net-ofi.so" before "network AWS Libfabric not found" */
    for (size_t i = 0; i < all->list.len && !missing; i++)
        if (all->list.item[i].rule->key == NSC_ID_NET_PLUGIN_MISSING &&
            all->list.item[i].severity > NCCLSCOPE_SEVERITY_NOTE)
            missing = &all->list.item[i];
    for (size_t i = 0; missing && i < all->list.len; i++)
        if (all->list.item[i].rule->key == NSC_ID_NET_PLUGIN_FAILED && all->list.item[i].began &&
            all->list.item[i].began->kind == NCCLSCOPE_KIND_NET_NOT_FOUND) {
            all->list.item[i].caused_by = NSC_ID_NET_PLUGIN_MISSING;
            missing->severity = all->list.item[i].severity; /* without the network that it brings nothing goes on */
        }
}

static struct nsc_finding *found_error(struct ncclscope_findings *all, enum nsc_id key)
{
    for (size_t i = 0; i < all->list.len; i++)
        if (all->list.item[i].rule->key == key && all->list.item[i].severity == NCCLSCOPE_SEVERITY_ERROR)
            return &all->list.item[i];
    return NULL;
}

/* "[rank 0] init did not complete within 6 s, aborting", and the error, or the closed connection, that the abort leaves behind it: the
 * program lost its patience, with a rank that never came where one is missing. */
static void blame_what_was_awaited(struct ncclscope_findings *all)
{
    struct nsc_finding *hung = found_error(all, NSC_ID_RANKS_HUNG), *missing = found_error(all, NSC_ID_RANKS_MISSING);
    const struct nsc_where *lost = hung && hung->part == NSC_WAKE && hung->evidences ? &hung->evidence[0] : NULL;
    bool behind = false;
    for (size_t i = 0; lost && i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        bool left = f->rule->key == NSC_ID_FAILURE_ASYNC || f->rule->key == NSC_ID_FAILURE_PEER_CLOSED;
        if (!left || f->caused_by || !f->began || f->began->where.source != lost->source ||
            f->began->where.line < lost->line)
            continue;
        f->caused_by = missing ? NSC_ID_RANKS_MISSING : NSC_ID_RANKS_HUNG;
        behind = true;
    }
    if (behind && missing && !hung->caused_by)
        hung->caused_by = NSC_ID_RANKS_MISSING;
}

/* Ranks of two releases do not agree on what they exchange: "Message truncated" comes of it, whatever is printed first. */
static void blame_releases(struct ncclscope_findings *all)
{
    struct nsc_finding *mixed = found_error(all, NSC_ID_RANKS_VERSION_MISMATCH);
    bool blamed = false;
    for (size_t i = 0; mixed && i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        if (f == mixed || f->caused_by || !f->began || f->began->kind != NCCLSCOPE_KIND_MESSAGE_TRUNCATED)
            continue;
        f->caused_by = mixed->rule->key;
        blamed = true;
    }
    if (blamed)
        mixed->part = NSC_ROOT;
}

/* A connection that is tried in vain behind a failure: the process that would answer is among what failed. */
static void blame_for_retries(struct ncclscope_findings *all)
{
    for (size_t i = 0; i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        bool tried = f->rule->key == NSC_ID_NET_TIMEOUT && f->severity == NCCLSCOPE_SEVERITY_WARNING && !f->began &&
                     f->evidences;
        for (size_t k = 0; tried && !f->caused_by && k < all->list.len; k++) {
            const struct nsc_finding *x = &all->list.item[k];
            if (x->severity == NCCLSCOPE_SEVERITY_ERROR && x->part != NSC_NO_FAILURE && x->began && !x->caused_by &&
                x->began->where.source == f->evidence[0].source && x->began->where.line < f->evidence[0].line)
                f->caused_by = x->rule->key;
        }
    }
}

/* The launcher saw a task end on a host of which the input holds nothing, and a rank elsewhere a peer on that host close its connection:
 * what ended it stands in its own output. */
static void blame_unseen_peer(struct ncclscope_findings *all)
{
    const struct ncclscope_model *m = all->model;
    struct nsc_finding *closed = found_error(all, NSC_ID_FAILURE_PEER_CLOSED),
                       *ended = found_error(all, NSC_ID_RANKS_EXITED);
    bool may = closed && ended && closed->began && closed->part == NSC_WAKE && !closed->caused_by && !ended->caused_by;
    for (size_t i = 0; may && i < ended->hosts.len; i++) {
        bool seen = false;
        for (size_t k = 0; k < m->procs.len; k++)
            seen = seen || m->procs.item[k].host == ended->hosts.item[i];
        if (!seen && is_on_host(nsc_say(m, closed->began->text), nsc_say(m, ended->hosts.item[i])))
            closed->caused_by = ended->rule->key;
    }
}

/* "[Proxy Service 14] Failed to execute operation Connect from rank 14, retcode 2", and behind it the process sees a connection close: that
 * to its own proxy, which had failed by itself (6 is the other side's failure). */
static void blame_own_proxy(struct ncclscope_findings *all)
{
    struct nsc_finding *closed = found_error(all, NSC_ID_FAILURE_PEER_CLOSED),
                       *proxy = found_error(all, NSC_ID_FAILURE_ASYNC);
    const struct nsc_event *a = proxy ? proxy->began : NULL, *b = closed ? closed->began : NULL;
    if (!a || !b || closed->caused_by || proxy->caused_by || a->kind != NCCLSCOPE_KIND_PROXY_FAILED ||
        b->kind != NCCLSCOPE_KIND_REMOTE_CLOSED || a->proc != b->proc || a->where.source != b->where.source ||
        a->where.line > b->where.line)
        return;
    nsc_text words = a->where.text;
    bool connect =
             nsc_text_find(words, "operation Connect from") >= 0 || nsc_text_find(words, "operation=Connect") >= 0,
         by_other = nsc_text_find(words, "retcode 6") >= 0 || nsc_text_find(words, "res=6") >= 0;
    if (connect && !by_other)
        closed->caused_by = proxy->rule->key;
}

/* A node that is gone: what processes say of failures is how they noticed it. */
static void blame_node(struct ncclscope_findings *all)
{
    bool gone = nsc_explained_by(all, "EXIT_NODE_GONE") != NULL;
    for (size_t i = 0; gone && i < all->list.len; i++) {
        struct nsc_finding *f = &all->list.item[i];
        bool failed = f->severity == NCCLSCOPE_SEVERITY_ERROR && !strcmp(f->cls, "error");
        if (failed && !f->caused_by && f->rule->key != NSC_ID_RANKS_EXITED)
            f->caused_by = NSC_ID_RANKS_EXITED;
    }
}

void nsc_settle_failures(struct ncclscope_findings *all)
{
    blame_plugin(all);
    lower_open_paths(all);
    blame_interface(all);
    blame_communicators(all);
    blame_what_was_awaited(all);
    blame_releases(all);
    blame_unseen_peer(all);
    blame_own_proxy(all);
    excuse_crashes(all);
    blame_crash(all);
    blame_assertion(all);
    struct roots roots = list_roots(all);
    enum nsc_id killed_one = killed(all);
    all->no_memory = all->no_memory || !roots.at;
    for (int wake = 0; wake < 2; wake++) /* roots among themselves before what they leave behind them */
        for (size_t i = 0; i < all->list.len; i++) {
            struct nsc_finding *f = &all->list.item[i];
            if (f->caused_by || f->part == NSC_NO_FAILURE || (f->part == NSC_WAKE) != wake)
                continue;
            const struct nsc_finding *root = cause_of(all, &roots, f);
            bool by_itself = !wake || (root && root->part == NSC_ROOT);
            enum nsc_id gone = by_itself ? NSC_ID_NONE : vanished(all, f), end = by_itself ? NSC_ID_NONE : killed_one,
                        program = by_itself ? NSC_ID_NONE : died(all, f);
            f->caused_by = end ? end : program ? program : gone ? gone : root ? root->rule->key : NSC_ID_NONE;
        }
    nsc_free(roots.at);
    worsen_roots(all);
    blame_for_retries(all);
    blame_experts(all);
    relate_to_watchdog(all);
    explain_exit(all);
    blame_node(all);
}
