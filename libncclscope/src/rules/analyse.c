/* analyse.c - every rule in its turn, then what follows from what, the order, and the verdict. */
#include "rules/ask.h"
#include "rules/reruns.h"
#include "rules/confirm.h"
#include "rules/expect.h"

static int verdict_of(const struct ncclscope_findings *f)
{
    uint64_t records = 0;
    bool no_channels = false;
    for (size_t i = 0; i < f->model->sources.len; i++)
        records += f->model->sources.item[i].stats.records;
    if (!records)
        return NCCLSCOPE_NO_NCCL_LINES;
    for (size_t i = 0; i < f->list.len; i++) {
        bool silent = f->list.item[i].rule->key == NSC_ID_LOG_NO_CHANNELS;
        no_channels = no_channels || silent;
        if (f->list.item[i].severity >= NCCLSCOPE_SEVERITY_WARNING && !silent)
            return NCCLSCOPE_FINDINGS;
    }
    return no_channels ? NCCLSCOPE_NO_EVIDENCE : NCCLSCOPE_ALL_OK;
}

/* Does a process of NCCL's print its first line behind that one of its input? Then there is another run. */
static bool begins_behind(const struct ncclscope_model *m, const struct nsc_where *done)
{
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].first.source == done->source && m->procs.item[i].first.line > done->line &&
            m->procs.item[i].informs)
            return true;
    return false;
}

/* Does the launcher see as many processes exit successfully between the two as ranks fail? Then these are of a later run. */
static bool is_of_later_run(const struct ncclscope_model *m, const struct nsc_finding *f, const struct nsc_where *done)
{
    uint64_t exits = 0, ranks = f->rule->key == NSC_ID_RANKS_HUNG ? f->count : 0;
    for (size_t i = 0; i < f->ranks.len; i++) /* others of this run may well have exited */
        ranks = f->ranks.item[i] >= ranks ? f->ranks.item[i] + 1 : ranks;
    const struct nsc_own_record *first = nsc_first_heard(m, NCCLSCOPE_KIND_JOB_DONE);
    for (const struct nsc_own_record *r = first; ranks && r && r < m->happened.item + m->happened.len; r++)
        exits += r->where.source == done->source && r->where.line > done->line && r->where.line < f->evidence[0].line &&
                 nsc_exits_well(m, r);
    return ranks && exits >= ranks;
}

/* What failed when the program had done its work, in its shutdown or behind that: said so, and where processes merely end at different
 * moments no more than a note. */
static void settle_if_done(struct nsc_case *c, struct nsc_finding *f)
{
    const struct nsc_where *done = nsc_success_of(c->m);
    if (!done || f->severity != NCCLSCOPE_SEVERITY_ERROR || f->caused_by || !f->evidences || !f->cause ||
        is_of_later_run(c->m, f, done))
        return;
    for (size_t i = 0; i < f->evidences; i++)
        if (f->evidence[i].source != done->source || f->evidence[i].line < done->line)
            return;
    f->cause = nsc_words(c, "%s Before that, the program had said that it reached its end (%s).", f->cause,
                         nsc_line_in(c, done));
    bool goes = f->rule->key == NSC_ID_FAILURE_PEER_CLOSED || f->rule->key == NSC_ID_FAILURE_ASYNC;
    if (goes && f->part == NSC_WAKE)
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
    if (f->rule->key == NSC_ID_RANKS_EXITED && !begins_behind(c->m, done)) { /* its work was done */
        f->severity = NCCLSCOPE_SEVERITY_WARNING;
        bool article = !strncmp(f->title, "The ", 4) || !strncmp(f->title, "A ", 2) || !strncmp(f->title, "An ", 3);
        f->title =
            nsc_words(c, "After the program's own end: %c%s", article ? f->title[0] | 0x20 : f->title[0], f->title + 1);
    }
}

/* "[launch.py:347:main] Process 4242 exits successfully.": others of the job did, so that it did not fail as a whole. */
static void say_who_ended_well(struct nsc_case *c, struct nsc_finding *f)
{
    const struct nsc_own_record *first = nsc_first_heard(c->m, NCCLSCOPE_KIND_JOB_DONE);
    unsigned long long well = 0;
    if (f->rule->key != NSC_ID_RANKS_EXITED || f->severity != NCCLSCOPE_SEVERITY_ERROR || f->caused_by || !f->cause)
        return;
    for (const struct nsc_own_record *r = first; r && r < c->m->happened.item + c->m->happened.len; r++)
        well += nsc_exits_well(c->m, r);
    if (well)
        f->cause = nsc_words(c, "%s The launcher says of %llu other process%s that %s exit%s successfully.", f->cause,
                             well, well == 1 ? "" : "es", well == 1 ? "it" : "they", well == 1 ? "s" : "");
}

/* Where the elastic launcher began anew behind it. */
static const struct nsc_own_record *restart_behind(const struct ncclscope_model *m, const struct nsc_finding *f)
{
    if (f->severity != NCCLSCOPE_SEVERITY_ERROR || f->caused_by || !f->evidences || !f->cause)
        return NULL;
    const struct nsc_own_record *r = nsc_first_heard(m, NCCLSCOPE_KIND_ELASTIC_RESTART);
    for (; r && r < m->happened.item + m->happened.len; r++)
        if (r->number == NCCLSCOPE_KIND_ELASTIC_RESTART && r->where.source == f->evidence[0].source &&
            r->where.line >= f->evidence[0].line)
            return r;
    return NULL;
}

static void say_if_restarted(struct nsc_case *c, struct nsc_finding *f)
{
    const struct nsc_own_record *r = restart_behind(c->m, f);
    if (r)
        f->cause =
            nsc_words(c, "%s The launcher then restarted the workers (%s).", f->cause, nsc_line_in(c, &r->where));
}

/* Is the input free of anything that might tell of a failure behind this line? Whoever speaks without a header is counted once for all. */
static bool is_quiet_behind(const struct ncclscope_model *m, uint64_t line)
{
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].nameless && m->procs.item[i].records)
            return false;
    for (size_t i = 0; i < m->events.len; i++)
        if (m->events.item[i].where.line > line &&
            (m->events.item[i].level == NCCLSCOPE_LEVEL_WARN || m->events.item[i].kind == NCCLSCOPE_KIND_BACKTRACE))
            return false;
    for (size_t i = 0; i < m->warnings.len; i++)
        if (m->warnings.item[i].where.line > line)
            return false;
    return m->happened.len && m->happened.item[m->happened.len - 1].where.line <= line;
}

/* Did that help, for what the input tells? Of what stands at the top, where there is one input and its last word of trouble is the restart. */
static void say_if_it_helped(struct nsc_case *c, struct nsc_finding *f)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *r =
        m->sources.len == 1 && m->happened.len < NSC_OWN_RECORDS ? restart_behind(m, f) : NULL;
    if (r && m->sources.item[0].stats.lines > r->where.line && is_quiet_behind(m, r->where.line))
        f->cause = nsc_words(c, "%s No failure follows, up to the end of this input (line %llu).", f->cause,
                             (unsigned long long)m->sources.item[0].stats.lines);
}

/* Does a line of another program's behind that one tell of a failure: an exception, or a launcher that saw one? */
static bool any_failed_behind(const struct ncclscope_model *m, uint64_t line)
{
    static const ncclscope_kind kinds[] = {
        NCCLSCOPE_KIND_PY_RAISED,       NCCLSCOPE_KIND_TORCH_OOM,     NCCLSCOPE_KIND_PROGRAM_CUDA,
        NCCLSCOPE_KIND_PROGRAM_NCCL,    NCCLSCOPE_KIND_TORCH_TIMEOUT, NCCLSCOPE_KIND_ELASTIC_FAILED,
        NCCLSCOPE_KIND_CHILD_FAILED,    NCCLSCOPE_KIND_RUN_ROOT,      NCCLSCOPE_KIND_SRUN_ENDED,
        NCCLSCOPE_KIND_MPI_EXIT,        NCCLSCOPE_KIND_LAUNCH_EXIT,   NCCLSCOPE_KIND_LAUNCHER_STOPS,
        NCCLSCOPE_KIND_SHELL_JOB_ENDED, NCCLSCOPE_KIND_CPP_TERMINATE, NCCLSCOPE_KIND_TORCH_ASSERT};
    for (size_t i = m->happened.len; i-- && m->happened.item[i].where.line >= line;)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (m->happened.item[i].number == kinds[k])
                return true;
    return false;
}

/* Did every rank of the run that began with that line destroy its communicator, and does nothing tell of a failure behind it? Asked where all is
 * in one input: what other files hold may be of either run. */
static bool ended_well(struct nsc_case *c, const struct nsc_finding *f, uint64_t anew)
{
    const struct ncclscope_model *m = c->m;
    bool any = m->sources.len == 1 && !any_failed_behind(m, anew);
    size_t ended = 0;
    for (size_t i = 0; any && i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        if (m->procs.item[r->proc].first.line < anew)
            continue;
        any = r->destroyed.line && !r->aborted.line;
        ended++;
    }
    for (size_t i = 0; any && i < c->f->list.len; i++) {
        const struct nsc_finding *x = &c->f->list.item[i];
        any = x == f || x->severity < NCCLSCOPE_SEVERITY_WARNING || x->caused_by;
    }
    return any && ended;
}

/* Somebody did, by hand: of what stands at the top. */
static void say_if_started_anew(struct nsc_case *c, struct nsc_finding *f)
{
    if (f->severity != NCCLSCOPE_SEVERITY_ERROR || f->later_run || !f->evidences || !f->cause)
        return;
    uint64_t anew = nsc_started_anew(c->m, &f->evidence[0]);
    if (anew == UINT64_MAX)
        return;
    bool well = ended_well(c, f, anew);
    f->severity = well ? NCCLSCOPE_SEVERITY_WARNING : f->severity;
    f->cause = nsc_words(c, "%s The job was started again after it (line %llu)%s.", f->cause, (unsigned long long)anew,
                         well ? ", and that run ended normally" : "");
}

/* Sockets for want of a network that is only likely to be there, or that somebody switched off, are no graver than that. */
static void temper(const struct ncclscope_findings *f, struct nsc_finding *x)
{
    bool sockets = x->rule->key == NSC_ID_NET_SOCKET && x->caused_by == NSC_ID_NET_NO_RDMA_DEVICE;
    for (size_t i = 0; sockets && i < f->list.len; i++) {
        const struct nsc_finding *root = &f->list.item[i];
        bool milder = strcmp(root->confidence, "certain") != 0 || !strcmp(root->cls, "configuration");
        if (root->rule->key == x->caused_by && root->severity < x->severity && milder)
            x->severity = root->severity;
    }
}

/* That no device is there is right where sockets are what the machine type offers. */
static void temper_missing_device(const struct ncclscope_findings *f, struct nsc_finding *x)
{
    bool missing = x->rule->key == NSC_ID_NET_NO_RDMA_DEVICE && x->severity == NCCLSCOPE_SEVERITY_WARNING;
    for (size_t i = 0; missing && i < f->list.len; i++) {
        const struct nsc_finding *s = &f->list.item[i];
        if (s->rule->key == NSC_ID_NET_SOCKET && s->severity == NCCLSCOPE_SEVERITY_NOTE && !strcmp(s->cls, "by-design"))
            x->severity = NCCLSCOPE_SEVERITY_NOTE;
    }
}

/* What follows from host names that share one machine is of names, and not of nodes. */
static void call_by_host_names(struct nsc_case *c, struct nsc_finding *x)
{
    static const struct {
        const char *node, *name;
    } words[] = {{"on different nodes", "under different host names"},
                 {"the job runs on more than one node", "the job has more than one host name"}};
    for (size_t i = 0; x->caused_by == NSC_ID_TRANSPORT_POD_PER_GPU && i < sizeof words / sizeof words[0]; i++) {
        const char *at = x->title ? strstr(x->title, words[i].node) : NULL;
        if (at)
            x->title =
                nsc_words(c, "%.*s%s%s", (int)(at - x->title), x->title, words[i].name, at + strlen(words[i].node));
    }
}

int ncclscope_analyse(ncclscope_findings **out, const ncclscope_model *m, ncclscope_error *err)
{
    if (out)
        *out = NULL;
    if (!out || !m)
        return nsc_null(err);
    if (!m->finished)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "a model is judged when it is finished");
    unsigned before = nsc_failed_allocations();
    ncclscope_findings *f = m->no_memory ? NULL : nsc_alloc(sizeof *f);
    *out = NULL;
    if (!f)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    f->model = m;
    f->no_memory = !nsc_judge_all(f);
    struct nsc_case c = {.m = m, .f = f};
    for (const struct nsc_rule *r = nsc_rules; r->id && f->judged; r++) {
        const char *reason = r->needs(m);
        c.rule = r;
        nsc_tell_failures(&c);
        nsc_tell_settings(&c);
        if (!reason) {
            r->check(&c);
            continue;
        }
        struct nsc_skip *s = nsc_vec_push(&f->skipped);
        if (s)
            *s = (struct nsc_skip){r->id, reason};
        else
            f->no_memory = true;
    }
    nsc_finding_free(&c.spare);
    nsc_settle_failures(f);
    for (size_t i = 0; i < f->list.len; i++) {
        struct nsc_finding *x = &f->list.item[i];
        nsc_sort_named(x);
        if (x->caused_by && !nsc_raised(&c, x->caused_by))
            x->caused_by = NSC_ID_NONE;
        temper(f, x);
        temper_missing_device(f, x);
        call_by_host_names(&c, x);
        settle_if_done(&c, x);
        say_who_ended_well(&c, x);
        say_if_restarted(&c, x);
        if (x->severity == NCCLSCOPE_SEVERITY_NOTE && !x->fix && !strcmp(x->cls, "by-design"))
            x->fix = "Nothing to mend.";
    }
    nsc_put_findings_in_order(f);
    if (f->list.len) {
        say_if_it_helped(&c, &f->list.item[0]);
        say_if_started_anew(&c, &f->list.item[0]);
    }
    f->verdict = verdict_of(f);
    if (f->judged)
        nsc_lay_findings(f);
    if (f->no_memory || nsc_failed_allocations() != before) {
        ncclscope_findings_free(f);
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    *out = f;
    return NCCLSCOPE_OK;
}

void ncclscope_findings_free(ncclscope_findings *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->list.len; i++)
        nsc_finding_free(&f->list.item[i]);
    nsc_free(f->judged);
    nsc_vec_free(&f->list);
    nsc_map_free(&f->about_by);
    nsc_map_free(&f->said_by);
    nsc_vec_free(&f->skipped);
    nsc_vec_free(&f->confirmed);
    nsc_rows_free(&f->rows);
    nsc_intern_free(&f->strings);
    nsc_arena_free(&f->arena);
    nsc_free(f);
}

int ncclscope_findings_verdict(const ncclscope_findings *f)
{
    return f ? f->verdict : NCCLSCOPE_NO_NCCL_LINES;
}

size_t ncclscope_findings_count(const ncclscope_findings *f)
{
    return f ? f->list.len : 0;
}

const char *ncclscope_finding_id(const ncclscope_findings *f, size_t i)
{
    return f && i < f->list.len ? f->list.item[i].rule->id : "";
}

int ncclscope_finding_severity(const ncclscope_findings *f, size_t i)
{
    return f && i < f->list.len ? f->list.item[i].severity : 0;
}

const char *ncclscope_finding_title(const ncclscope_findings *f, size_t i)
{
    return f && i < f->list.len && f->list.item[i].title ? f->list.item[i].title : "";
}
