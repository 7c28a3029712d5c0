/* rules_log.c - the log itself: what it does not hold, what is torn, what nobody knows. */
#include "read/changes.h"
#include "rules/ask.h"

static uint64_t sum_records(const struct ncclscope_model *m, uint64_t *warnings, uint64_t *unknown, uint64_t *torn)
{
    uint64_t n = 0;
    *warnings = *unknown = *torn = 0;
    for (size_t i = 0; i < m->sources.len; i++) {
        const ncclscope_stats *s = &m->sources.item[i].stats;
        n += s->records;
        *warnings += s->warnings;
        *unknown += s->unknown;
        *torn += s->torn_lines;
    }
    return n;
}

/* Two processes or more, each with a communicator of one rank. */
static bool alone_together(const struct ncclscope_model *m)
{
    uint32_t first = NSC_NONE;
    for (size_t i = 0; i < m->ranks.len; i++) {
        if (m->ranks.item[i].nranks != 1 || m->ranks.item[i].parent_pointer)
            continue;
        if (first != NSC_NONE && m->ranks.item[i].proc != first)
            return true;
        first = m->ranks.item[i].proc;
    }
    return false;
}

/* Do collectives, results of a benchmark or the program's own end stand behind the initialisation? Then connections were made. */
static bool behind_init(const struct ncclscope_model *m)
{
    bool called = m->tests.len || nsc_success_of(m);
    for (size_t i = 0; i < m->ranks.len; i++)
        called = called || m->ranks.item[i].called || m->ranks.item[i].destroyed.line;
    return called;
}

static bool any_complete(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].complete.line)
            return true;
    return false;
}

/* Lines that NCCL prints when it has made a communicator, without one that names it: the end of an initialisation. */
static bool shows_end_of_init(const struct ncclscope_model *m, bool *nvls)
{
    bool end = false;
    *nvls = false;
    for (size_t i = 0; i < m->threads.len; i++) {
        end = end || m->threads.item[i].coll >= 0;
        *nvls = *nvls || m->threads.item[i].nvls > 0;
    }
    return end;
}

/* Does NCCL list the loopback for its sockets, and nothing else? */
static bool has_loopback_alone(const struct ncclscope_model *m)
{
    bool any = false;
    for (size_t i = 0; i < m->devices.len; i++) {
        if (!nsc_text_is(nsc_say(m, m->devices.item[i].net), "Socket"))
            continue;
        if (!nsc_text_is(nsc_say(m, m->devices.item[i].name), "lo"))
            return false;
        any = true;
    }
    return any;
}

/* "Pattern 4, crossNic 0, nChannels 1, bw 4.0/4.0, type SYS/SYS": over what the rings go inside a node, as NCCL searched them. */
static const char *ring_of_graph(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->threads.len; i++) {
        nsc_text type = nsc_say(m, m->threads.item[i].ring_type);
        if (type.len)
            return nsc_words(c, " NCCL's search found rings over %.*s inside a node (line %llu).", (int)type.len,
                             type.ptr, (unsigned long long)m->threads.item[i].ring_type_at.line);
    }
    for (size_t i = 0; i < m->ranks.len; i++) {
        nsc_text type = nsc_say(m, m->ranks.item[i].ring_type);
        if (type.len)
            return nsc_words(c, " NCCL's search found rings over %.*s inside a node (line %llu).", (int)type.len,
                             type.ptr, (unsigned long long)m->ranks.item[i].ring_type_at.line);
    }
    return "";
}

/* "; somebody stopped 2 from the keyboard (line 1376)" */
static const char *stopped_by_hand(struct nsc_case *c)
{
    unsigned long long n = 0, first = 0;
    for (size_t i = 0; i < c->m->happened.len; i++)
        if (c->m->happened.item[i].number == NCCLSCOPE_KIND_ENDED_BY_HAND) {
            first = n++ ? first : (unsigned long long)c->m->happened.item[i].where.line;
        }
    return n ? nsc_words(c, "; somebody stopped %llu from the keyboard (first on line %llu)", n, first) : "";
}

/* What the log does tell: the network that was chosen, and that the program reached its end. */
static const char *what_is_known(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    nsc_str net = 0;
    bool one = true;
    for (size_t i = 0; i < m->procs.len; i++) {
        one = one && (!net || !m->procs.item[i].network || m->procs.item[i].network == net);
        net = net ? net : m->procs.item[i].network;
    }
    const struct nsc_where *end = nsc_success_of(m);
    const char *none = nsc_event_of(m, NSC_NONE, NCCLSCOPE_KIND_IB_NONE) ? ", having found no InfiniBand or RoCE device"
                       : net && nsc_text_is(nsc_say(m, net), "Socket") && has_loopback_alone(m)
                           ? ", over the loopback, which reaches none"
                           : "";
    const char *runs =
        m->tests_begun < 2
            ? ""
            : nsc_words(c, " The input holds %llu runs of nccl-tests, of which %llu reached their end%s.",
                        (unsigned long long)m->tests_begun, (unsigned long long)m->tests_ended, stopped_by_hand(c));
    if (*runs)
        end = NULL;
    return nsc_words(c, "%s%s%s%s%s%s%s", ring_of_graph(c),
                     net && one ? nsc_words(c, " For other nodes NCCL chose the network %s", nsc_say(m, net).ptr) : "",
                     net && one ? none : "", net && one ? "." : "",
                     end ? " The program says that it reached its end" : "",
                     end ? nsc_words(c, " (line %llu).", (unsigned long long)end->line) : "", runs);
}

/* Is there a communicator that no rank is seen to have finished? */
static bool has_unfinished(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].state == NSC_INCOMPLETE && nsc_is_all_begun(m, &m->comms.item[i]))
            return true;
    return false;
}

/* Does the input begin when communicators were at work: one is aborted or destroyed whose beginning is not here? */
static bool begins_late(const struct ncclscope_model *m)
{
    bool late = false;
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (r->start.line || r->complete.line)
            return false;
        late = late || r->aborted.line || r->destroyed.line;
    }
    return late;
}

/* Did no communicator come to be, and one fail while it was made? */
static bool init_failed(const struct ncclscope_model *m)
{
    bool failed = false;
    for (size_t i = 0; i < m->comms.len; i++) {
        failed = failed || m->comms.item[i].state == NSC_FAILED;
        if (m->comms.item[i].state != NSC_FAILED && m->comms.item[i].state != NSC_INCOMPLETE)
            return false;
    }
    return failed;
}

void nsc_rule_no_channels(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    uint64_t warnings, unknown, torn, records = sum_records(m, &warnings, &unknown, &torn);
    if (!records || m->link_order.len || m->nvls_calls) /* collectives by NVLink SHARP make no connection lines */
        return;
    bool alone = true;
    for (size_t i = 0; i < c->f->list.len; i++)
        alone = alone && c->f->list.item[i].severity < NCCLSCOPE_WARNING;
    struct nsc_finding *f = nsc_found(c, alone ? NCCLSCOPE_WARNING : NCCLSCOPE_NOTE, "visibility", "certain");
    bool init = m->comms.len > 0, some_late = false, some_early = false, pairs = false;
    for (size_t i = 0; i < m->procs.len; i++) { /* a job has one release: what one process lets know is true of all */
        some_late = some_late || nsc_version_of(m, (uint32_t)i).low >= NSC_CHANGE_RUNTIME_CONNECT;
        some_early = some_early || nsc_version_of(m, (uint32_t)i).high < NSC_CHANGE_RUNTIME_CONNECT;
    }
    for (size_t i = 0; i < m->sources.len; i++) {
        unsigned version = nsc_version_number(nsc_say(m, m->sources.item[i].bare_version));
        some_late = some_late || version >= NSC_CHANGE_RUNTIME_CONNECT;
        some_early = some_early || (version && version < NSC_CHANGE_RUNTIME_CONNECT);
    }
    bool late = some_late && !some_early, early = some_early && !some_late;
    for (size_t i = 0; i < m->comms.len; i++)
        pairs = pairs || m->comms.item[i].nranks > 1;
    f->count = records;
    f->title = "This log holds no connection lines: which path the GPUs use cannot be told";
    uint64_t banners = 0;
    for (size_t i = 0; i < m->sources.len; i++)
        banners += m->sources.item[i].banners;
    bool starts = false, nvls;
    for (size_t i = 0; i < m->procs.len; i++)
        starts = starts || m->procs.item[i].starts || m->procs.item[i].network;
    const char *why =
        banners == records
            ? "Only version lines were printed: NCCL_DEBUG is VERSION or WARN, and nothing was warned of."
        : warnings + banners == records ? "Only warnings were printed: NCCL_DEBUG is WARN, or somebody picked them out."
        : !init && m->bare_comms
            ? "Lines of communicators have lost their header, and with it whose they are; the lines of their "
              "connections are not in this input."
        : init_failed(m) ? "The initialisation of the communicator failed before connections are made."
        : has_unfinished(m)
            ? "A communicator had begun its initialisation, and no rank had finished it where this input ends: it is "
              "cut there, or the ranks hang there."
        : !init && starts && !m->builds && nsc_any_error(c)
            ? "The log shows how NCCL starts, and a failure before a communicator came to be."
        : !init && starts && !m->builds
            ? nsc_success_of(m)
                  ? "The log shows how NCCL starts and no communicator, though the program reached its end: lines were "
                    "left out."
                  : "The log shows how NCCL starts and no communicator: it ends early, or lines were left out."
        : !init && shows_end_of_init(m, &nvls)
            ? nvls ? "These are lines of the end of an initialisation; its beginning and the connections are not in "
                     "this input. "
                     "Channels for NVLink SHARP say that the GPUs of that node hang on NVSwitches."
                   : "These are lines of the end of an initialisation; its beginning and the connections are not in "
                     "this input."
        : !init && m->builds
            ? "These are lines of a communicator that is made; those that name it, and its connections, are not in "
              "this input."
        : !init ? "No line here says that a communicator is initialised: NCCL_DEBUG_SUBSYS without INIT, or a "
                  "part of a log: one that ends early, or lines that were picked out of it."
        : !pairs && alone_together(m)
            ? "Each process made a communicator of its own rank alone, at the same time: they did not join. The "
              "program was built without MPI (nccl-tests: make MPI=1), or does not take its rank from the launcher."
        : !pairs         ? "Every communicator here has one rank: there is no pair of GPUs to connect."
        : behind_init(m) ? "The lines in which connections are made were left out, or NCCL_DEBUG_SUBSYS hides them: "
                           "the log goes on behind them."
        : begins_late(m)
            ? "Connections are printed when a communicator is made, or first used: this input begins behind that."
        : early && any_complete(m) ? "Up to 2.21.5 connections are made, and printed, before a communicator's Init "
                                     "COMPLETE, which stands here: this "
                                     "input begins behind them, or NCCL_DEBUG_SUBSYS hides the lines."
        : early ? "Up to 2.21.5 connections are made, and printed, while a communicator is initialised; this log "
                  "ends before that, or NCCL_DEBUG_SUBSYS hides the lines."
        : late
            ? "From 2.22.3 on connections are made, and printed, at the first collective; this log ends "
              "before one, begins behind it, or NCCL_DEBUG_SUBSYS hides the lines."
            : "Connections are printed while a communicator is initialised (up to 2.21.5) or at the first collective "
              "(from 2.22.3 on): this input does not hold them, or NCCL_DEBUG_SUBSYS hides the lines.";
    f->cause = nsc_words(c, "%s%s", why, what_is_known(c));
    for (size_t i = 0; i < m->comms.len; i++)
        nsc_show(c, f, &m->comms.item[i].where);
    if (init && !pairs && alone_together(m))
        f->fix = "Build the program with MPI (nccl-tests: make MPI=1 MPI_HOME=...), or start it so that it knows its "
                 "rank and the number of ranks.";
    else if (init && !pairs)
        f->fix = "Nothing to do: give the log of a job with two GPUs or more.";
    else if (init_failed(m) || (!init && starts && !m->builds && nsc_any_error(c)))
        f->fix = "Mend what failed; then the connections show.";
    else if (early)
        f->fix = "Run again with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,NET, and give the whole log.";
    for (size_t i = 0; i < m->sources.len; i++)
        nsc_show(c, f, m->sources.item[i].bare_version ? &m->sources.item[i].bare_version_at : NULL);
}

/* How many lines lack but their header; of few among many whole ones another writer took it. */
static uint64_t count_stripped(const struct ncclscope_model *m)
{
    uint64_t stripped = 0, records = 0;
    for (size_t i = 0; i < m->sources.len; i++) {
        const ncclscope_stats *s = &m->sources.item[i].stats;
        stripped += s->stripped;
        records += s->records;
    }
    return stripped * 2 >= records ? stripped : 0;
}

/* Do several processes speak in one input? */
static bool is_shared(const struct ncclscope_model *m)
{
    for (size_t i = 1; i < m->procs.len; i++)
        if (m->procs.item[i].source == m->procs.item[i - 1].source && !m->procs.item[i].nameless &&
            !m->procs.item[i - 1].nameless)
            return true;
    return false;
}

void nsc_rule_torn(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    uint64_t warnings, unknown, torn;
    sum_records(m, &warnings, &unknown, &torn);
    torn -= count_stripped(m);
    if (!torn)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_NOTE, "visibility", "certain");
    bool shared = is_shared(m);
    f->count = torn;
    f->title = nsc_words(c, "%llu line%s torn: %s", (unsigned long long)torn, torn == 1 ? " is" : "s are",
                         shared ? "another process or other output broke into them, or a part is missing"
                                : "other output stands within them, or a part is missing");
    f->cause =
        shared ? "Processes, and what they print beside NCCL, share one pipe; or the copy lost a part. What could be "
                 "put together again was read; connections that were cut are not counted."
               : "The program's own output shares the line, or the copy lost a part of it. What is left was "
                 "read; connections that were cut are not counted.";
    for (size_t i = 0; i < m->sources.len; i++)
        for (int k = 0; k < 4; k++) {
            struct nsc_where w = {(uint32_t)i, m->sources.item[i].stats.first_torn[k], {"", 0}};
            nsc_show(c, f, &w);
        }
}

void nsc_rule_headers_removed(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    uint64_t warnings, unknown, torn, records = sum_records(m, &warnings, &unknown, &torn), n = count_stripped(m);
    if (!n)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_NOTE, "visibility", "certain");
    f->count = n;
    f->title = nsc_words(c, "%llu of %llu NCCL lines have lost their header (host:pid:tid [device]), or a part of it",
                         (unsigned long long)n, (unsigned long long)records);
    f->cause = "Warnings, connections and versions were judged by their text. Whose they are cannot be told: which "
               "ranks share a host, who failed first, whether processes differ.";
    for (size_t i = 0; i < m->sources.len; i++) {
        struct nsc_where w = {(uint32_t)i, m->sources.item[i].stats.first_torn[0], {"", 0}};
        nsc_show(c, f, &w);
    }
}

void nsc_rule_unknown_lines(struct nsc_case *c)
{
    uint64_t warnings, unknown, torn, records = sum_records(c->m, &warnings, &unknown, &torn);
    if (unknown * 50 <= records)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_NOTE, "visibility", "certain");
    f->count = unknown;
    f->title = nsc_words(c, "%llu of %llu NCCL records are not known to this version of ncclscope",
                         (unsigned long long)unknown, (unsigned long long)records);
    f->cause =
        "Another release of NCCL, a fork, a private plugin, or lines that were cut. What they say was not judged.";
}
