/* rules_hang.c - what other programs say of a job that stopped: PyTorch's watchdog, launchers. */
#include "rules/rules.h"

#include <stdlib.h>

/* The earliest work that a watchdog gave up, by its number; NULL if none did. */
static const struct nsc_own_record *first_stuck(const struct ncclscope_model *m, int64_t *seq)
{
    const struct nsc_own_record *first = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t n;
        if (r->number != NCCLSCOPE_KIND_TORCH_TIMEOUT || !nsc_number_said(m, r, "seq", &n) || (first && n >= *seq))
            continue;
        first = r;
        *seq = n;
    }
    return first;
}

/* The last line of a kind that this rank printed. */
static const struct nsc_own_record *last_of_rank(const struct ncclscope_model *m, ncclscope_kind kind, int64_t rank)
{
    const struct nsc_own_record *last = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        int64_t of;
        if (m->happened.item[i].number == kind && nsc_number_said(m, &m->happened.item[i], "rank", &of) && of == rank)
            last = &m->happened.item[i];
    }
    return last;
}

static int64_t size_of_job(const struct ncclscope_model *m)
{
    int64_t most = 0, n;
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_TORCH_OPTIONS &&
            nsc_number_said(m, &m->happened.item[i], "nranks", &n))
            most = n > most ? n : most;
    for (size_t i = 0; i < m->comms.len; i++)
        most = m->comms.item[i].nranks > most ? m->comms.item[i].nranks : most;
    return most;
}

enum { MOST_RANKS = 65536 };

/* Who waits in the stuck work, and who has not even called it. */
static void sort_ranks(struct nsc_case *c, struct nsc_finding *f, int64_t seq, int64_t *waiting, int64_t *highest)
{
    const struct ncclscope_model *m = c->m;
    bool *seen = nsc_alloc(MOST_RANKS);
    *waiting = 0;
    *highest = -1;
    for (size_t i = 0; seen && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        bool timeout = r->number == NCCLSCOPE_KIND_TORCH_TIMEOUT, work = r->number == NCCLSCOPE_KIND_TORCH_WORK;
        int64_t rank, enqueued;
        if ((!timeout && !work) || !nsc_number_said(m, r, "rank", &rank) || rank < 0 || rank >= MOST_RANKS)
            continue;
        *highest = rank > *highest ? rank : *highest;
        if (timeout && !seen[rank]) {
            seen[rank] = true;
            ++*waiting;
            nsc_show(c, f, &r->where);
        }
        if (work && r == last_of_rank(m, NCCLSCOPE_KIND_TORCH_WORK, rank) &&
            nsc_number_said(m, r, "enqueued", &enqueued) && enqueued < seq &&
            !last_of_rank(m, NCCLSCOPE_KIND_TORCH_TIMEOUT, rank)) {
            nsc_name_rank(c, f, (uint64_t)rank);
            nsc_show_first(c, f, &r->where);
        }
    }
    nsc_free(seen);
}

/* Without a line of its own a rank is silent: name those below the job's size. */
static void name_silent(struct nsc_case *c, struct nsc_finding *f, int64_t size)
{
    for (int64_t rank = 0; rank < size && rank < MOST_RANKS; rank++)
        if (!last_of_rank(c->m, NCCLSCOPE_KIND_TORCH_TIMEOUT, rank))
            nsc_name_rank(c, f, (uint64_t)rank);
}

static void tell_watchdog(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    int64_t seq = 0, waiting, highest, ran = 0, size = size_of_job(m);
    const struct nsc_own_record *stuck = first_stuck(m, &seq);
    if (!stuck)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_ERROR, "error", "likely");
    nsc_text op = nsc_said(m, stuck, "collective");
    nsc_number_said(m, stuck, "ran_ms", &ran);
    sort_ranks(c, f, seq, &waiting, &highest);
    f->count = (uint64_t)waiting;
    const char *who = f->ranks.len ? nsc_list_ranks(c, f) : NULL;
    const char *where =
        nsc_words(c, "%lld rank%s waited %lld s in %.*s, work %lld", (long long)waiting, waiting == 1 ? "" : "s",
                  (long long)(ran / 1000), (int)op.len, op.ptr, (long long)seq);
    if (who) {
        f->title = nsc_words(c, "%s; %s had not called it", where, who);
        f->cause = "By PyTorch's own account of what each rank had enqueued: it does something else (data loading, a "
                   "checkpoint, a branch that the others did not take), hangs, or is gone.";
    } else if (size > waiting && highest < size) {
        name_silent(c, f, size);
        f->confidence = "possible";
        f->title = nsc_words(c, "%s; of %s no time-out is in this input", where, nsc_list_ranks(c, f));
        f->cause = "Who does not time out is who the others wait for - or its log is not among the inputs.";
    } else {
        f->title = where;
        f->cause = size && size == waiting
                       ? "All ranks are in the same work: none is behind. The network, a GPU or the "
                         "kernel of the collective hangs, or sizes do not match."
                       : "Which rank they wait for cannot be told: how many ranks the job has is not "
                         "in this input.";
    }
}

void nsc_rule_ranks_hung(struct nsc_case *c)
{
    tell_watchdog(c);
    nsc_tell_ras(c);
}

/* ---- processes that ended ---- */

static const char *meaning_of_exit(int64_t code)
{
    switch (code) {
    case -9: return "SIGKILL: the kernel's OOM killer, or somebody killed it";
    case -6: return "SIGABRT: it gave up itself, as PyTorch does after a time-out";
    case -11: return "SIGSEGV: it crashed";
    case -7: return "SIGBUS: often a /dev/shm that is too small";
    case -15: return "SIGTERM: the launcher or the scheduler ended it";
    case 1: return "an exception of the program: look at its traceback";
    default: return "see its own output";
    }
}

/* A process that aborts itself does so because it waited; one that was killed is what the others wait for. */
static void tell_root_and_wake(struct nsc_case *c, struct nsc_finding *f, int64_t code)
{
    if (code == -6) {
        f->caused_by = nsc_raised(c, "ranks/hung") ? "ranks/hung" : NULL;
        return;
    }
    for (size_t i = 0; i < c->f->list.len; i++)
        if (!strcmp(c->f->list.item[i].rule->id, "ranks/hung"))
            c->f->list.item[i].caused_by = "ranks/exited";
}

/* torchrun's summary: the lines below "Root Cause (first observed failure):". */
static bool tell_root(struct nsc_case *c, size_t at)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *root = &m->happened.item[at];
    int64_t rank = -1, code = 0, pid = -1;
    nsc_text time = {NULL, 0};
    nsc_str host_id = 0;
    for (size_t i = at + 1; i < m->happened.len && m->happened.item[i].where.source == root->where.source &&
                            m->happened.item[i].where.line <= root->where.line + 8;
         i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number == NCCLSCOPE_KIND_RUN_RANK)
            nsc_number_said(m, r, "rank", &rank);
        else if (r->number == NCCLSCOPE_KIND_RUN_EXIT && nsc_number_said(m, r, "code", &code))
            nsc_number_said(m, r, "pid", &pid);
        else if (r->number == NCCLSCOPE_KIND_RUN_HOST)
            host_id = nsc_field_of(m, r, "name");
        else if (r->number == NCCLSCOPE_KIND_RUN_TIME)
            time = nsc_said(m, r, "time");
    }
    if (rank < 0)
        return false;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_ERROR, "error", "likely");
    nsc_name_rank(c, f, (uint64_t)rank);
    nsc_name_host(c, f, host_id);
    nsc_text host = host_id ? nsc_say(m, host_id) : (nsc_text){NULL, 0};
    f->count = 1;
    f->title =
        nsc_words(c, "The launcher saw rank %lld fail first: process %lld%s%.*s, exit code %lld%s%.*s", (long long)rank,
                  (long long)pid, host.len ? " on " : "", (int)host.len, host.len ? host.ptr : "", (long long)code,
                  time.len ? ", " : "", (int)time.len, time.len ? time.ptr : "");
    f->cause = nsc_words(c, "Exit code %lld is %s.", (long long)code, meaning_of_exit(code));
    nsc_show(c, f, &root->where);
    tell_root_and_wake(c, f, code);
    return true;
}

void nsc_rule_ranks_exited(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    bool told = false;
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_RUN_ROOT)
            told = tell_root(c, i) || told;
    for (size_t i = 0; !told && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t code = 0;
        bool ended = r->number == NCCLSCOPE_KIND_ELASTIC_FAILED || r->number == NCCLSCOPE_KIND_LAUNCH_EXIT;
        if (!ended || !nsc_number_said(m, r, "code", &code) || !code)
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_ERROR, "error", "likely");
        nsc_text local = nsc_said(m, r, "local_rank");
        f->count = 1;
        f->title =
            nsc_words(c, "The launcher saw a process%s%.*s end with exit code %lld", local.len ? " of local rank " : "",
                      (int)local.len, local.len ? local.ptr : "", (long long)code);
        f->cause = nsc_words(c, "Exit code %lld is %s.", (long long)code, meaning_of_exit(code));
        nsc_show(c, f, &r->where);
        told = true;
    }
}
