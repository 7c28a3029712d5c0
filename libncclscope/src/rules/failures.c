/* failures.c - NCCL's warnings to findings, by failures.def. */
#include "rules/ask.h"
#include "rules/overcome.h"
#include "rules/own_words.h"
#include "rules/questions.h"
#include "rules/watchdog.h"

enum { NOTE = NCCLSCOPE_SEVERITY_NOTE, WARNING = NCCLSCOPE_SEVERITY_WARNING, ERROR = NCCLSCOPE_SEVERITY_ERROR };
enum { ROOT = NSC_ROOT, WAKE = NSC_WAKE, STATE = NSC_NO_FAILURE, ECHO = NSC_ECHO };

struct failure {
    ncclscope_kind kind;
    int64_t number;
    const char *words;
    enum nsc_id key;
    int severity;
    const char *cls;
    enum nsc_failure_part part;
    const char *title, *cause;
};

static const struct failure failures[] = {
#define FAILURE(KIND, number, words, id, severity, cls, part, title, cause) \
    {NCCLSCOPE_KIND_##KIND, number, words, NSC_ID_##id, severity, cls, (enum nsc_failure_part)part, title, cause},
#include "failures.def"
#undef FAILURE
};
enum { FAILURES = sizeof failures / sizeof failures[0] };

/* NCCL says it as a warning; or goes on and says it at INFO: without NVLink SHARP (2.27.3 to 2.28.9), with kernels that do not fit the GPU
 * (2.25.1). */
static bool is_warning(const struct nsc_event *e)
{
    return e->level == NCCLSCOPE_LEVEL_WARN || e->kind == NCCLSCOPE_KIND_NVLS_BIND_FAILED ||
           e->kind == NCCLSCOPE_KIND_KERNEL_SKIPPED;
}

static const struct failure *failure_of(const struct nsc_event *e)
{
    for (size_t i = 0; is_warning(e) && i < FAILURES; i++) {
        const struct failure *f = &failures[i];
        if (f->kind == e->kind && (f->number < 0 || f->number == e->number) &&
            (!f->words[0] || nsc_text_find(e->where.text, f->words) >= 0))
            return f;
    }
    return NULL;
}

bool nsc_failure_is_known(ncclscope_kind kind)
{
    for (size_t i = 0; i < FAILURES; i++)
        if (failures[i].kind == kind)
            return true;
    return false;
}

bool nsc_is_state_alone(ncclscope_kind kind, nsc_text line)
{
    bool state = false;
    for (size_t i = 0; i < FAILURES; i++) {
        const struct failure *f = &failures[i];
        if (f->kind == kind && (f->part != NSC_NO_FAILURE || nsc_text_find(line, f->words) >= 0))
            return false;
        state = state || f->kind == kind;
    }
    return state;
}

/* Does a line of the input say this address, of a host, beside the connection itself? "192.0.2.4<4411>" */
static bool is_of_input(const struct ncclscope_model *m, nsc_text peer)
{
    ptrdiff_t port = nsc_text_find(peer, "<");
    peer.len = port > 0 ? (size_t)port : peer.len;
    return nsc_intern_find(&m->strings, peer) != 0;
}

/* A connection closed while it was accepted, by an address that is no host's of the input, on a host to whose ports a stranger had come
 * before: the same one. Or one that a process could not accept ("Accept failed Success") to whose port a stranger came. What that warning is;
 * NULL: it is not so. */
const struct nsc_event *nsc_stranger_of(const struct ncclscope_model *m, const struct nsc_event *e)
{
    if (e->kind == NCCLSCOPE_KIND_PROXY_FAILED && nsc_text_find(e->where.text, "Accept failed Success") >= 0)
        return nsc_event_of(m, e->proc, NCCLSCOPE_KIND_SOCKET_STRANGER);
    const struct nsc_event *s =
        e->kind == NCCLSCOPE_KIND_REMOTE_CLOSED ? nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_SOCKET_STRANGER) : NULL;
    bool before = s && s->where.source == e->where.source && s->where.line < e->where.line;
    return before && m->procs.item[s->proc].host == m->procs.item[e->proc].host && !is_of_input(m, nsc_say(m, e->text))
               ? s
               : NULL;
}

/* ---- what came first ---- */

/* Where nothing tells which came first the order of inputs shall not: by host and process. */
static bool is_named_before(const struct ncclscope_model *m, const struct nsc_event *a, const struct nsc_event *b)
{
    const struct nsc_proc *p = &m->procs.item[a->proc], *q = &m->procs.item[b->proc];
    int c = nsc_compare(nsc_say(m, p->host), nsc_say(m, q->host));
    return c ? c < 0 : p->pid < q->pid;
}

/* ", mlx5_1" where the line ends in "hca mlx5_1"; of what happens on a GPU ", CUDA device 3", where no line tells the rank. */
static const char *device_of(struct nsc_case *c, const struct nsc_event *e, int64_t rank)
{
    enum nsc_id id = c->rule->key;
    nsc_text hca = nsc_word_behind(e->where.text, " hca ");
    if (e->kind == NCCLSCOPE_KIND_IB_COMPLETION && hca.len)
        return nsc_words(c, ", %.*s", (int)(hca.len < 64 ? hca.len : 64), hca.ptr);
    bool gpu = id == NSC_ID_FAILURE_CUDA || id == NSC_ID_FAILURE_MEMORY || id == NSC_ID_FAILURE_SYSTEM_NOT_READY;
    gpu = gpu && nsc_text_find(e->where.text, "-capable device is detected") < 0; /* what it names then is no device */
    return gpu && rank < 0 && e->dev >= 0
               ? nsc_words(c, ", %s device %lld", nsc_is_rccl(c->m) ? "HIP" : "CUDA", (long long)e->dev)
               : "";
}

static const char *who(struct nsc_case *c, const struct nsc_event *e)
{
    const struct nsc_proc *p = &c->m->procs.item[e->proc];
    int64_t rank = p->nameless ? -1 : nsc_rank_of_event(c->m, e);
    if (p->nameless)
        return "";
    const char *where =
        nsc_words(c, "host %s, pid %lld%s", nsc_say(c->m, p->host).ptr, (long long)p->pid, device_of(c, e, rank));
    return rank < 0 ? where : nsc_words(c, "rank %lld, %s", (long long)rank, where);
}

/* ---- one finding for each id ---- */

/* Who said what a row of the table is about. */
struct tellers {
    uint64_t processes, same;   /* of them: in the words of the first */
    uint64_t hosts;             /* that they run on */
    uint64_t gpus;              /* that their lines name: a process may have several */
    uint64_t lines;             /* all that say it */
    bool differ;                /* not all lines are in the words of the first */
    struct nsc_finding ranks;   /* theirs, as far as lines tell */
    struct nsc_finding devices; /* of the lines that tell no rank */
    struct nsc_intern peers;    /* "192.0.2.3" of "192.0.2.3<45075>", each once */
};

static nsc_text without_port(nsc_text peer)
{
    ptrdiff_t port = nsc_text_find(peer, "<");
    peer.len = port > 0 ? (size_t)port : peer.len;
    return peer;
}

/* The GPUs whose threads printed the line; where no number tells one, the process has one. */
static void hear_gpus(struct nsc_case *c, const struct nsc_event *e, struct tellers *t, struct nsc_map *heard)
{
    struct nsc_event one = *e;
    for (int k = 0; k < 64; k++) {
        if (e->devs ? !(e->devs >> k & 1) : k > 0)
            continue;
        one.dev = e->devs ? k : e->dev;
        struct nsc_key gpu = {e->proc, (uint64_t)one.dev, 0};
        if (nsc_map_get(heard, gpu) != NSC_NONE)
            continue;
        int64_t rank = c->m->procs.item[e->proc].nameless ? -1 : nsc_rank_of_event(c->m, &one);
        c->f->no_memory |= nsc_map_put(heard, gpu, 0) != 0;
        t->gpus++;
        if (rank >= 0)
            nsc_name_rank(c, &t->ranks, (uint64_t)rank);
        else if (one.dev >= 0)
            nsc_name_rank(c, &t->devices, (uint64_t)one.dev);
    }
}

/* One thing that NCCL says in several ways is one title in several rows: who says it in any of them is counted. */
static bool is_same_news(const struct failure *a, const struct failure *b)
{
    return a == b || (a && a->key == b->key && !strcmp(a->title, b->title));
}

/* Do both say the same: also in their numbers, where the title quotes the message? */
static bool says_the_same(const struct failure *row, const struct nsc_event *e, const struct nsc_event *said)
{
    bool quoted = strstr(row->title, "{said}") || strstr(row->title, "{behind}");
    return e->text == said->text && (!quoted || nsc_text_eq(nsc_message_of(&e->where), nsc_message_of(&said->where)));
}

static void hear_tellers(struct nsc_case *c, const struct failure *row, const struct nsc_event *said, struct tellers *t)
{
    const struct ncclscope_model *m = c->m;
    uint32_t counted = NSC_NONE, alike = NSC_NONE; /* events lie by process in their order */
    struct nsc_map heard = {0};
    for (size_t i = 0; i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (!is_same_news(failure_of(e), row) || (e->quoted && !said->quoted)) /* a program's words of its own NCCL */
            continue;
        bool same = says_the_same(row, e, said);
        t->lines += e->count;
        nsc_intern(&t->peers, without_port(nsc_say(m, e->text)));
        t->differ = t->differ || !same;
        if (m->procs.item[e->proc].nameless) /* whose it is was lost: perhaps one of those that are named */
            continue;
        hear_gpus(c, e, t, &heard);
        if (e->proc == counted && (e->proc == alike || !same))
            continue;
        t->processes += e->proc != counted;
        struct nsc_key host = {m->procs.item[e->proc].host, 0, 1}; /* a GPU's has 0 in the last place */
        if (nsc_map_get(&heard, host) == NSC_NONE)
            t->hosts += !nsc_map_put(&heard, host, 0);
        counted = e->proc;
        t->same += e->proc != alike && same;
        alike = same ? e->proc : alike;
    }
    nsc_map_free(&heard);
}

static void forget_tellers(struct tellers *t)
{
    nsc_vec_free(&t->ranks.ranks);
    nsc_map_free(&t->ranks.named);
    nsc_vec_free(&t->devices.ranks);
    nsc_map_free(&t->devices.named);
    nsc_intern_free(&t->peers);
}

/* "; ranks 0-3 say so": by number where each has told its own, and none stands for two. "; CUDA devices 0, 1 and 3 say so": of one process. */
static const char *others_of(struct nsc_case *c, const struct tellers *t)
{
    bool differ = t->processes <= 1 ? t->differ : t->same < t->processes;
    const char *how = differ ? "much the same" : "so";
    if (t->processes <= 1 && t->devices.ranks.len > 1 && t->devices.ranks.len == t->gpus)
        return nsc_words(c, "; %s device%s say %s", nsc_is_rccl(c->m) ? "HIP" : "CUDA",
                         nsc_list_ranks(c, &t->devices) + sizeof "rank" - 1, how);
    if (t->processes <= 1 && t->ranks.ranks.len != t->gpus) /* of some no line tells the rank */
        return t->gpus > 1 && t->ranks.ranks.len + t->devices.ranks.len == t->gpus
                   ? nsc_words(c, "; %llu GPUs of this process say %s", (unsigned long long)t->gpus, how)
                   : "";
    if (t->gpus <= 1)
        return "";
    return t->ranks.ranks.len == t->gpus
               ? nsc_words(c, "; %s say %s", nsc_list_ranks(c, &t->ranks), how)
               : nsc_words(c, "; %llu processes%s say %s%s", (unsigned long long)t->processes,
                           t->hosts > 1 ? nsc_words(c, " of %llu hosts", (unsigned long long)t->hosts) : "", how,
                           t->hosts == 1 && c->m->hosts.len > 1 ? ", none of another host" : "");
}

/* A program quotes the last warning without its place in the source: NCCL's own line of the same words, where there is one, has it. */
static const struct nsc_event *first_hand(const struct ncclscope_model *m, const struct nsc_event *e)
{
    for (size_t i = 0; e->quoted && i < m->events.len; i++) {
        const struct nsc_event *x = &m->events.item[i];
        if (!x->quoted && x->kind == e->kind && x->text == e->text)
            return x;
    }
    return e;
}

/* Of who says that a peer closed its connection: the other rank, where its communicators have two; NULL: it may be one of several. */
static const struct nsc_rank *only_peer(const struct ncclscope_model *m, const struct nsc_event *e)
{
    const struct nsc_proc *p = &m->procs.item[e->proc];
    const struct nsc_rank *peer = NULL;
    if (e->kind != NCCLSCOPE_KIND_REMOTE_CLOSED || p->nameless)
        return NULL;
    for (uint32_t i = p->last_rank; i != NSC_NONE; i = m->ranks.item[i].before) {
        const struct nsc_rank *own = &m->ranks.item[i];
        const struct nsc_rank *other = own->comm == NSC_NONE || own->nranks != 2 || own->rank < 0 || own->rank > 1
                                           ? NULL
                                           : nsc_member(m, own->comm, 1 - own->rank);
        if (!other || (peer && peer->proc != other->proc))
            return NULL;
        peer = other;
    }
    return peer;
}

static bool has_warned(const struct ncclscope_model *m, uint32_t proc)
{
    for (size_t i = 0; i < m->warnings.len; i++)
        if (m->warnings.item[i].proc == proc)
            return true;
    for (size_t i = nsc_events_of(m, proc); i < m->event_order.len; i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != proc)
            return false;
        if (e->level == NCCLSCOPE_LEVEL_WARN)
            return true;
    }
    return false;
}

/* "init.cu:915 -> 2", "group.cc:72 -> 2": did the error come as far as the call that the program made? On its way there it may be caught. */
static bool reached_program(const struct nsc_event *e)
{
    return nsc_text_find(e->where.text, "init.c") >= 0 || nsc_text_find(e->where.text, "group.c") >= 0;
}

static const struct nsc_warning *first_warning_of(const struct ncclscope_model *m, const struct nsc_event *of)
{
    for (size_t i = 0; i < m->warnings.len; i++)
        if (m->warnings.item[i].proc == of->proc && m->warnings.item[i].where.source == of->where.source)
            return &m->warnings.item[i];
    return NULL;
}

/* "init.cu:915 -> 2" above the failure, and no warning of that process: it had failed already, of what is not here. Of the process of the
 * failure itself where that only tells of something that broke before. */
static const struct nsc_event *failed_above(const struct ncclscope_model *m, const struct nsc_finding *f)
{
    enum { SUCCESS, LAST_ERROR = 6 }; /* 7: in progress */
    const struct nsc_event *began = f->began;
    const struct nsc_warning *warned = first_warning_of(m, began);
    bool follows = f->part == NSC_WAKE || f->rule->key == NSC_ID_FAILURE_ASYNC;
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        bool error = e->kind == NCCLSCOPE_KIND_BACKTRACE && e->number > SUCCESS && e->number <= LAST_ERROR;
        if (!error || !reached_program(e) || m->procs.item[e->proc].nameless || !nsc_is_before(m, e, began) ||
            nsc_lived_on(m, e->proc, &e->where))
            continue;
        bool silent = e->proc == began->proc ? follows && (!warned || e->where.line <= warned->where.line)
                                             : !has_warned(m, e->proc);
        if (silent)
            return e;
    }
    return NULL;
}

static void tell_failed_above(struct nsc_case *c, struct nsc_finding *f)
{
    const struct nsc_event *e = f->severity == NCCLSCOPE_SEVERITY_ERROR ? failed_above(c->m, f) : NULL;
    if (!e)
        return;
    nsc_text call = nsc_message_of(&e->where);
    if (c->m->procs.item[f->began->proc].nameless && c->m->proc_order.len == 1) { /* whose line it is was not said */
        f->cause =
            nsc_words(c, "%s Earlier, NCCL calls return an error in the only process of this input (%s: %.*s, %s).",
                      f->cause, who(c, e), (int)(call.len < 60 ? call.len : 60), call.ptr, nsc_line_in(c, &e->where));
        nsc_show(c, f, &e->where);
        return;
    }
    bool own = e->proc == f->began->proc;
    if (own || f->rule->key == NSC_ID_FAILURE_PEER_CLOSED) /* the second symptom, whatever closed the connection */
        f->title = nsc_words(c, "NCCL had returned an error before (%s: %.*s, %s); then: %s", who(c, e),
                             (int)(call.len < 60 ? call.len : 60), call.ptr, nsc_line_in(c, &e->where), f->title);
    f->cause = nsc_words(c,
                         "%s Earlier, %s had returned an error (%s: %.*s, %s); its warning, which says what failed, is "
                         "not in this input.",
                         f->cause, own ? "a call of this process" : "another process", who(c, e),
                         (int)(call.len < 60 ? call.len : 60), call.ptr, nsc_line_in(c, &e->where));
    nsc_show(c, f, &e->where);
}

/* A connection failed: of which work PyTorch says, behind it, that it gave it up. Of one that timed out of itself ranks/hung tells. */
static void tell_work_of(struct nsc_case *c, struct nsc_finding *f)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_where *at = &f->began->where;
    bool network = f->rule->key == NSC_ID_FAILURE_PEER_CLOSED || f->rule->key == NSC_ID_NET_TIMEOUT;
    const struct nsc_own_record *r = network ? nsc_first_heard(m, NCCLSCOPE_KIND_TORCH_GAVE_UP) : NULL;
    for (; r && r < m->happened.item + m->happened.len; r++) {
        int64_t rank, seq, completed;
        if (!nsc_gave_up(m, r) || r->where.source != at->source || r->where.line < at->line ||
            !nsc_torch_rank_of(m, r, &rank) || !nsc_number_said(m, r, "seq", &seq) ||
            !nsc_number_said(m, r, "completed", &completed))
            continue;
        f->cause =
            nsc_words(c,
                      "%s PyTorch then gives up work %lld on rank %lld (%s); the last work that this rank "
                      "had completed is %lld.",
                      f->cause, (long long)seq, (long long)rank, nsc_line_in(c, &r->where), (long long)completed);
        return;
    }
}

/* "11.1.128.128<52035>", where a host of this input begins with "Bootstrap : Using eth0:11.1.128.128<0>": its name; 0: it is the teller's
 * own, of no host here or of several. */
static nsc_str host_at(const struct ncclscope_model *m, nsc_text text, uint32_t teller)
{
    size_t n = 0;
    nsc_str host = 0;
    while (n < text.len && text.ptr[n] != '<')
        n++;
    for (size_t i = 0; n < text.len && i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        if (!p->bootstrap_addr || !nsc_text_eq(nsc_say(m, p->bootstrap_addr), (nsc_text){text.ptr, n}) ||
            p->host == host)
            continue;
        if (host)
            return 0;
        host = p->host;
    }
    return host == m->procs.item[teller].host ? 0 : host;
}

static void tell(struct nsc_case *c, struct nsc_finding *f, const struct failure *first, bool tied)
{
    struct tellers all = {.ranks = {.rule = c->rule}, .devices = {.rule = c->rule}};
    hear_tellers(c, first, f->began, &all);
    nsc_text text = nsc_say(c->m, f->began->text);
    text.len -= text.len && text.ptr[text.len - 1] == ','; /* a report broke the line behind it */
    int64_t number;
    if (nsc_to_i64(text, &number)) /* a rank or a device: the line itself says whose */
        text.len = 0;
    while (text.len && (text.ptr[0] == ':' || text.ptr[0] == ' ' || text.ptr[0] == ','))
        text = nsc_text_from(text, 1);
    text.len -= text.len && text.ptr[text.len - 1] == '.';
    if (nsc_text_is(text,
                    "<>")) /* an address of no family that NCCL knows: the connection was gone before it was read */
        text.len = 0;
    if (nsc_text_is(text, "Success") || strstr(first->title, "{said}") || strstr(first->title, "{behind}") ||
        nsc_text_find(nsc_text_of(first->title), nsc_words(c, "%.*s", (int)text.len, text.len ? text.ptr : "")) >= 0)
        text.len = 0;
    const char *others = others_of(c, &all);
    f->part = first->part == NSC_ECHO ? NSC_WAKE : first->part;
    const char *whose = who(c, f->began);
    whose = *whose ? whose : who(c, first_hand(c->m, f->began));
    bool peer = f->began->kind == NCCLSCOPE_KIND_IB_COMPLETION && text.len && memchr(text.ptr, '<', text.len);
    f->title = nsc_words(c, "%s%s%s%.*s", nsc_fill_words(c, first->title, f->began), text.len ? ": " : "",
                         !peer                     ? ""
                         : first->part == NSC_ROOT ? "on the connection with " /* not the peer's doing */
                                                   : "peer ",
                         (int)text.len, text.len ? text.ptr : "");
    if (peer && all.peers.text.len > 2) /* [0] is the empty one, and one is named */
        f->title = nsc_words(c, "%s, and %llu other%s", f->title, (unsigned long long)all.peers.text.len - 2,
                             all.peers.text.len > 3 ? "s" : "");
    bool told = text.len && memchr(text.ptr, '<', text.len); /* the address is another's */
    const char *one_of_them = !*others || tied ? "" : told || strncmp(whose, "host", 4) ? "first " : "first: ";
    if (*whose)
        f->title = nsc_words(c, "%s (%s%s%s%s)", f->title, one_of_them, told ? "told by " : "", whose, others);
    else if (all.lines > 1)
        f->title = nsc_words(c, "%s (first of %llu such lines)", f->title, (unsigned long long)all.lines);
    const struct nsc_rank *lost = all.processes == 1 ? only_peer(c->m, f->began) : NULL;
    if (lost)
        f->title = nsc_words(c, "%s; its only peer is rank %lld (host %s, pid %lld)", f->title, (long long)lost->rank,
                             nsc_say(c->m, c->m->procs.item[lost->proc].host).ptr,
                             (long long)c->m->procs.item[lost->proc].pid);
    nsc_str at = lost ? 0 : host_at(c->m, text, f->began->proc);
    if (at)
        f->title = nsc_words(c, "%s; that address is %s's", f->title, nsc_say(c->m, at).ptr);
    f->cause = nsc_fill_words(c, first->cause, f->began);
    struct nsc_ask ask = {
        .c = c, .m = c->m, .proc = f->began->proc, .event = first_hand(c->m, f->began), .distance = ""};
    if (c->m->procs.item[ask.proc].nameless)
        ask.proc = NSC_NONE;
    int severity = f->severity;
    if (nsc_explain(c, f, &ask) &&
        strcmp(f->confidence, "certain") != 0) /* of the cause; that it failed the line says */
        f->cause = nsc_words(c, "%s: %s", !strcmp(f->confidence, "likely") ? "Likely" : "Perhaps", f->cause);
    nsc_add_what_lines_say(c, f);
    char apart[320];
    nsc_spell_versions_apart(c->m, apart, sizeof apart);
    if (f->rule->key == NSC_ID_RANKS_VERSION_MISMATCH && *apart)
        f->cause =
            nsc_words(c, "%s By their message texts, hosts here do run different releases: %s.", f->cause, apart);
    bool unsure = f->began->quoted && nsc_text_find(f->began->where.text, "(may be unrelated)") >= 0; /* XLA says */
    f->confidence = unsure ? "likely" : "certain";
    f->severity = f->severity == NCCLSCOPE_SEVERITY_NOTE ? f->severity : severity;
    nsc_show_first(c, f, &f->began->where);
    forget_tellers(&all);
}

/* A network that was not there, on one host. */
static bool missed_by_nobody(const struct nsc_finding *f)
{
    return !strncmp(f->rule->id, "net/", 4);
}

/* Did the process take a communicator of several ranks down in order behind it? */
static bool destroyed_behind(const struct ncclscope_model *m, const struct nsc_event *e)
{
    bool any = false;
    for (uint32_t i = e->proc == NSC_NONE ? NSC_NONE : m->procs.item[e->proc].last_rank; i != NSC_NONE;
         i = m->ranks.item[i].before) {
        const struct nsc_rank *r = &m->ranks.item[i];
        bool here = r->first.source == e->where.source && r->first.line < e->where.line && r->nranks > 1,
             down = r->destroyed.source == e->where.source && r->destroyed.line > e->where.line;
        if (here && !down && !(r->destroyed.line && r->destroyed.line < e->where.line))
            return false; /* it was up, and was never taken down */
        any = any || (here && down);
    }
    return any;
}

/* Is it the connection of somebody who is no host of the input, to a process to whose port a stranger came? */
static bool is_of_stranger(const struct ncclscope_model *m, const struct nsc_event *e)
{
    return e->kind == NCCLSCOPE_KIND_SOCKET_STRANGER || nsc_stranger_of(m, e) ||
           (nsc_event_of(m, e->proc, NCCLSCOPE_KIND_SOCKET_STRANGER) && !is_of_input(m, nsc_say(m, e->text)));
}

/* All processes that saw a connection close came to the end of their work, and so did the program: no more than a warning. A note where all
 * were of strangers, whose connections NCCL dropped. */
static const struct failure *settle_if_outlived(struct nsc_case *c, struct nsc_finding *f, const struct failure *first,
                                                const struct nsc_event *stranger)
{
    const struct nsc_where *end = nsc_success_of(c->m);
    if (!end || end->source != f->began->where.source || end->line < f->began->where.line)
        return first;
    f->began = stranger ? stranger : f->began;
    f->severity =
        stranger || f->severity < NCCLSCOPE_SEVERITY_WARNING ? NCCLSCOPE_SEVERITY_NOTE : NCCLSCOPE_SEVERITY_WARNING;
    return stranger ? failure_of(stranger) : first;
}

/* What was said under the same id in the words of other rows: the first event of each. */
enum { MOST_BESIDE = 4 };
struct beside {
    size_t n;
    const struct nsc_event *event[MOST_BESIDE];
    const struct failure *row[MOST_BESIDE];
};

static void hear_beside(struct beside *b, const struct failure *row, const struct nsc_event *e)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->row[i] == row)
            return;
    if (b->n < MOST_BESIDE && row->part != NSC_ECHO) {
        b->event[b->n] = e;
        b->row[b->n++] = row;
    }
}

/* The one failure does not hide the other: the port that went down, and the requests that ended for it elsewhere. */
static void tell_beside(struct nsc_case *c, struct nsc_finding *f, const struct failure *first, const struct beside *b)
{
    const char *all = "";
    for (size_t i = 0; i < b->n; i++) {
        const struct failure *row = b->row[i];
        bool alike = row->severity == first->severity || row->kind == first->kind;
        if (row != first && alike && strcmp(row->title, first->title) != 0)
            all = nsc_words(c, "%s%s%s (%s)", all, *all ? "; " : "", nsc_fill_words(c, row->title, b->event[i]),
                            nsc_line_in(c, &b->event[i]->where));
    }
    if (*all && f->severity == NCCLSCOPE_SEVERITY_NOTE)
        f->title = nsc_words(c, "%s; %s", f->title, all);
    else if (*all)
        f->cause = nsc_words(c, "%s This input also has: %s.", f->cause, all);
}

/* Did ranks hang or CUDA fail, as where an IOMMU translates what GPUs send to each other, and do they send to each other at all? */
static bool may_have_harmed(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    bool direct = !m->links.len;
    for (size_t i = 0; i < m->links.len && !direct; i++)
        direct = m->links.item[i].family == NSC_P2P || m->links.item[i].gdrdma;
    return direct && (nsc_raised(c, NSC_ID_RANKS_MISSING) || nsc_raised(c, NSC_ID_RANKS_HUNG) ||
                      nsc_raised(c, NSC_ID_FAILURE_CUDA));
}

/* Most rules have none, and need not look at what happened. */
static bool has_rows(enum nsc_id key)
{
    for (size_t i = 0; i < FAILURES; i++)
        if (failures[i].key == key)
            return true;
    return false;
}

/* What an event is by its row, unless its process did without, or went on. */
static int severity_of(const struct ncclscope_model *m, const struct failure *row, const struct nsc_event *e,
                       bool without)
{
    bool blind = e->kind == NCCLSCOPE_KIND_TOPO_SIMPLE_ORDER &&
                 m->hosts.len > 1; /* NICs are taken without a look at distances */
    const struct nsc_proc *p = &m->procs.item[e->proc];
    bool ends = e->kind == NCCLSCOPE_KIND_CALL_FAILED && row->part == NSC_ROOT && !strcmp(row->words, "Call to bind") &&
                !p->nameless && p->source == e->where.source && p->last_line == e->where.line && !m->tests.len &&
                !nsc_success_of(m); /* it is the last that the process says */
    bool goes_on = row->severity == NCCLSCOPE_SEVERITY_ERROR && nsc_returns_no_error(m, e);
    return nsc_did_without(m, e) || nsc_came_back(m, e)             ? NCCLSCOPE_SEVERITY_NOTE
           : ends                                                   ? NCCLSCOPE_SEVERITY_ERROR
           : blind || nsc_chose_another(m, e) || without || goes_on ? NCCLSCOPE_SEVERITY_WARNING
                                                                    : row->severity;
}

/* What all of its events together, and how the run went on, make of it. */
static void settle_severity(struct nsc_case *c, struct nsc_finding *f, const struct failure *first, bool weathered)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_where *end = nsc_success_of(m);
    if (f->began && f->began->kind == NCCLSCOPE_KIND_DESTROYED_TWICE && end && end->source == f->began->where.source &&
        end->line < f->began->where.line)
        f->severity = NCCLSCOPE_SEVERITY_WARNING; /* as it was taken down */
    if (f->rule->key == NSC_ID_NET_NO_RDMA_DEVICE && f->began && nsc_lists_device(m, f->began->proc))
        f->severity = NCCLSCOPE_SEVERITY_NOTE; /* net/fewer-nics tells of those that were not */
    if (weathered && f->severity == NCCLSCOPE_SEVERITY_ERROR && first->part == NSC_ROOT)
        f->severity = nsc_ask_one_host(&(struct nsc_ask){.m = m}) == NSC_YES && missed_by_nobody(f)
                          ? NCCLSCOPE_SEVERITY_NOTE
                          : NCCLSCOPE_SEVERITY_WARNING;
    else if (f->severity == NCCLSCOPE_SEVERITY_WARNING && m->hosts.len <= 1 && (weathered || nsc_success_of(m)) &&
             (missed_by_nobody(f) || first->part == NSC_NO_FAILURE))
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
    if (f->severity == NCCLSCOPE_SEVERITY_WARNING && f->began->level == NCCLSCOPE_LEVEL_INFO && nsc_success_of(m))
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
    if (f->rule->key == NSC_ID_ENV_MSCCL_OFF && f->began && nsc_is_taken_elsewhere(m, f->began))
        f->severity = NCCLSCOPE_SEVERITY_WARNING;
    if (f->rule->key == NSC_ID_HOST_ACS_IOMMU && f->severity == NCCLSCOPE_SEVERITY_WARNING && !may_have_harmed(c))
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
}

void nsc_tell_failures(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    if (!has_rows(c->rule->key))
        return;
    struct nsc_finding *f = NULL;
    const struct failure *first = NULL;
    struct beside beside = {.n = 0};
    bool tied = false;                                          /* which came first is not known */
    bool weathered = true;                                      /* all processes that said it went on for long */
    bool outlived = c->rule->key == NSC_ID_FAILURE_PEER_CLOSED; /* all of them destroyed a communicator behind it */
    bool strangers = true;                                      /* all were of strangers */
    const struct nsc_event *dropped = NULL;                     /* the first connection of a stranger's */
    bool survives = c->rule->key == NSC_ID_FAILURE_SYSTEM_NOT_READY && nsc_does_without_driver(m);
    for (size_t i = 0; i < m->events.len; i++) {
        const struct nsc_event *e = &m->events.item[i];
        const struct nsc_event *stranger = nsc_stranger_of(m, e);
        const struct failure *row = failure_of(stranger ? stranger : e);
        if (!row || row->key != c->rule->key || nsc_is_first_try(m, e) || nsc_is_of_algorithm(m, e))
            continue;
        if (row->key == NSC_ID_RANKS_TEARDOWN_NOISE && nsc_any_error(c) &&
            nsc_event_of(m, e->proc, NCCLSCOPE_KIND_BACKTRACE))
            continue; /* what the proxies of a process met whose calls failed is of that */
        bool without = survives && e->kind == NCCLSCOPE_KIND_CUDA_LIBRARY;
        int severity = severity_of(m, row, e, without);
        if (f && e->quoted && f->began && f->began->kind == e->kind) { /* the log has it first hand */
            f->severity = row->cls[0] == 'b' ? f->severity : NCCLSCOPE_SEVERITY_ERROR;
            nsc_show(c, f, &e->where);
            continue;
        }
        if (!f)
            f = nsc_found(c, severity, row->cls, "certain");
        if (severity > f->severity) { /* what failed is told, not what was only noise beside it */
            f->severity = severity;
            f->cls = row->cls;
            f->began = NULL;
            f->evidences = 0;
            tied = false;
        }
        hear_beside(&beside, row, e);
        f->count += e->count;
        outlived = outlived && destroyed_behind(m, e);
        strangers = strangers && outlived && is_of_stranger(m, e);
        dropped = dropped || e->kind != NCCLSCOPE_KIND_SOCKET_STRANGER ? dropped : e;
        int64_t rank = nsc_rank_of_event(m, e);
        if (rank >= 0)
            nsc_name_rank(c, f, (uint64_t)rank);
        nsc_name_host(c, f, m->procs.item[e->proc].host);
        nsc_show(c, f, &e->where);
        bool fatal =
            e->quoted || (e->broke && row->part == NSC_ROOT && !without && !nsc_lived_on(m, e->proc, &e->where));
        if (severity < f->severity)
            continue;
        fatal = fatal && severity > NCCLSCOPE_SEVERITY_NOTE;
        f->severity = fatal ? NCCLSCOPE_SEVERITY_ERROR : f->severity;
        weathered = weathered && !fatal && !e->broke && row->part == NSC_ROOT && nsc_went_on(m, e);
        if (f->began && row->part == NSC_ECHO && first->part != NSC_ECHO)
            continue;
        if (f->began && first->part == NSC_ECHO && row->part != NSC_ECHO)
            f->began = NULL;
        bool after = f->began && nsc_is_before(m, f->began, e), before = f->began && nsc_is_before(m, e, f->began);
        tied = before ? false : tied || (f->began && !after && e->proc != f->began->proc);
        if (!f->began || before || (!after && e->proc != f->began->proc && is_named_before(m, e, f->began))) {
            f->began = e;
            first = row;
        }
    }
    if (f && f->began && outlived)
        first = settle_if_outlived(c, f, first, strangers ? dropped : NULL);
    if (f) {
        settle_severity(c, f, first, weathered);
        tell(c, f, first, tied);
        if (survives && f->began->kind == NCCLSCOPE_KIND_CUDA_LIBRARY)
            f->part = NSC_NO_FAILURE;
        if (f->severity == NCCLSCOPE_SEVERITY_WARNING && nsc_returns_no_error(m, f->began))
            f->cause =
                nsc_words(c, "%s The process goes on after it, as far as this input shows.", f->cause ? f->cause : "");
        tell_beside(c, f, first, &beside);
        tell_failed_above(c, f);
        tell_work_of(c, f);
        if (f->rule->key == NSC_ID_FAILURE_PEER_CLOSED && f->cause)
            f->cause = nsc_words(c, "%s%s", f->cause, nsc_silent_behind(c, &f->began->where));
    }
}
