/* rules_hang.c - what other programs say of a job that stopped or failed: PyTorch, nccl-tests, launchers. */
#include "rules/ask.h"

#include <stdio.h>
#include <stdlib.h>

/* "PG ID 3 PG GUID 14(mesh_tp)"; len 0 where a line names no group, as those of older releases. */
static nsc_text group_of(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    return nsc_text_trim(nsc_said(m, r, "group"));
}

static bool is_of_group(const struct ncclscope_model *m, const struct nsc_own_record *r, nsc_text group)
{
    return !group.len || nsc_text_eq(group_of(m, r), group);
}

/* By its number in the whole job if the line says it; in brackets PyTorch prints the one in the group. */
static bool rank_of(const struct ncclscope_model *m, const struct nsc_own_record *r, int64_t *rank)
{
    *rank = r->torch_rank;
    return *rank >= 0 || nsc_number_said(m, r, "rank", rank);
}

/* A line that says what work the rank had enqueued. */
static bool tells_work(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_TORCH_WORK || r->number == NCCLSCOPE_KIND_TORCH_DUMP;
}

static bool timed_out(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_TORCH_TIMEOUT;
}

/* The last line of this sort that this rank printed of the group. */
static const struct nsc_own_record *
last_of_rank(const struct ncclscope_model *m, bool (*sort)(const struct nsc_own_record *), nsc_text group, int64_t rank)
{
    const struct nsc_own_record *last = NULL;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t of;
        if (sort(r) && is_of_group(m, r, group) && rank_of(m, r, &of) && of == rank)
            last = r;
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
static void sort_ranks(struct nsc_case *c, struct nsc_finding *f, nsc_text group, int64_t seq, int64_t *waiting,
                       int64_t *highest)
{
    const struct ncclscope_model *m = c->m;
    bool *seen = nsc_alloc(MOST_RANKS);
    *waiting = 0;
    *highest = -1;
    for (size_t i = 0; seen && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank, enqueued;
        if ((!timed_out(r) && !tells_work(r)) || !is_of_group(m, r, group) || !rank_of(m, r, &rank) || rank < 0 ||
            rank >= MOST_RANKS)
            continue;
        *highest = rank > *highest ? rank : *highest;
        if (timed_out(r) && !seen[rank]) {
            seen[rank] = true;
            ++*waiting;
            nsc_show(c, f, &r->where);
        }
        if (tells_work(r) && r == last_of_rank(m, tells_work, group, rank) &&
            nsc_number_said(m, r, "enqueued", &enqueued) && enqueued < seq &&
            !last_of_rank(m, timed_out, group, rank)) {
            nsc_name_rank(c, f, (uint64_t)rank);
            nsc_show_first(c, f, &r->where);
        }
    }
    nsc_free(seen);
}

/* Without a line of its own a rank is silent: name those below the job's size. */
static void name_silent(struct nsc_case *c, struct nsc_finding *f, nsc_text group, int64_t size)
{
    for (int64_t rank = 0; rank < size && rank < MOST_RANKS; rank++)
        if (!last_of_rank(c->m, timed_out, group, rank))
            nsc_name_rank(c, f, (uint64_t)rank);
}

/* Does the group have all ranks of the job? Only there can silent ones be named. */
static bool is_whole_job(nsc_text group)
{
    return !group.len || nsc_text_find(group, "default") >= 0;
}

/* The first work that each rank of the group gave up. */
struct stuck {
    const struct nsc_own_record *line; /* NULL: it gave none up */
    int64_t seq;
    nsc_text op;
};

static void find_stuck(const struct ncclscope_model *m, nsc_text group, struct stuck *of_rank)
{
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t rank, seq;
        if (!timed_out(r) || !is_of_group(m, r, group) || !rank_of(m, r, &rank) || rank < 0 || rank >= MOST_RANKS ||
            !nsc_number_said(m, r, "seq", &seq) || (of_rank[rank].line && of_rank[rank].seq <= seq))
            continue;
        of_rank[rank] = (struct stuck){r, seq, nsc_said(m, r, "collective")};
    }
}

static bool is_same_work(const struct stuck *a, const struct stuck *b)
{
    return a->seq == b->seq && nsc_text_eq(a->op, b->op);
}

/* The work that most ranks are in; of two that are as many the later. */
static const struct stuck *most_common(const struct stuck *of_rank, int64_t *count)
{
    enum { TRIED = 256 }; /* damaged numbers must not cost time */
    const struct stuck *best = NULL;
    int tried = 0;
    *count = 0;
    for (int64_t i = 0; i < MOST_RANKS && tried < TRIED; i++) {
        int64_t n = 0;
        if (!of_rank[i].line || (best && is_same_work(best, &of_rank[i])))
            continue;
        tried++;
        for (int64_t k = 0; k < MOST_RANKS; k++)
            n += of_rank[k].line && is_same_work(&of_rank[i], &of_rank[k]);
        if (n > *count || (n == *count && of_rank[i].seq > best->seq))
            best = &of_rank[i], *count = n;
    }
    return best;
}

/* Are all that are elsewhere in the same work? */
static bool all_alike(const struct stuck *of_rank, const struct stuck *most, const struct stuck *odd)
{
    for (int64_t i = 0; i < MOST_RANKS; i++)
        if (of_rank[i].line && !is_same_work(most, &of_rank[i]) && !is_same_work(odd, &of_rank[i]))
            return false;
    return true;
}

enum { EACH_TOLD = 6 };

/* "rank 1 is in BROADCAST, work 7; rank 4 in ALLREDUCE, work 1145; furthest behind is rank 1": each with its own place. */
static const char *tell_each(struct nsc_case *c, const struct stuck *of_rank, const struct stuck *most)
{
    char words[700];
    size_t n = 0, told = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < MOST_RANKS; i++) {
        const struct stuck *s = &of_rank[i];
        if (!s->line)
            continue;
        last = last < 0 || s->seq < of_rank[last].seq ? i : last;
        if (is_same_work(most, s) || told++ >= EACH_TOLD || n + 80 > sizeof words)
            continue;
        n += (size_t)snprintf(words + n, sizeof words - n, "%srank %lld in %.*s, work %lld", n ? ", " : "",
                              (long long)i, (int)(s->op.len < 30 ? s->op.len : 30), s->op.ptr, (long long)s->seq);
    }
    return nsc_words(c, "%s%s; furthest behind is rank %lld (work %lld)", words,
                     told > EACH_TOLD ? " and others elsewhere" : "", (long long)last,
                     last < 0 ? -1LL : (long long)of_rank[last].seq);
}

/* Ranks that are in other work than most: named, the first described; NULL if there is none. */
static const char *tell_odd(struct nsc_case *c, struct nsc_finding *f, const struct stuck *of_rank,
                            const struct stuck *most)
{
    const struct stuck *odd = NULL;
    for (int64_t i = 0; i < MOST_RANKS; i++) {
        if (!of_rank[i].line || is_same_work(most, &of_rank[i]))
            continue;
        odd = odd ? odd : &of_rank[i];
        nsc_name_rank(c, f, (uint64_t)i);
    }
    if (!odd)
        return NULL;
    nsc_show_first(c, f, &odd->line->where);
    const char *who = nsc_list_ranks(c, f), *be = f->ranks.len == 1 ? "is" : "are";
    if (!all_alike(of_rank, most, odd))
        return tell_each(c, of_rank, most);
    if (odd->seq == most->seq)
        return nsc_words(c, "%s called %.*s instead", who, (int)odd->op.len, odd->op.ptr);
    return nsc_words(c, "%s %s %s in %.*s, work %lld", who, be, odd->seq < most->seq ? "still" : "already",
                     (int)odd->op.len, odd->op.ptr, (long long)odd->seq);
}

static void tell_watchdog_of(struct nsc_case *c, nsc_text group, const struct stuck *of_rank)
{
    const struct ncclscope_model *m = c->m;
    int64_t count, waiting, highest, ran = 0, size = is_whole_job(group) ? size_of_job(m) : 0;
    const struct stuck *most = most_common(of_rank, &count);
    if (!most) /* ranks beyond all reason */
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_ERROR, "error", "likely");
    nsc_number_said(m, most->line, "ran_ms", &ran);
    sort_ranks(c, f, group, most->seq, &waiting, &highest);
    f->count = (uint64_t)waiting;
    const char *who = f->ranks.len ? nsc_list_ranks(c, f) : NULL;
    const char *odd = who ? NULL : tell_odd(c, f, of_rank, most);
    const char *where =
        nsc_words(c, "%lld rank%s waited %lld s in %.*s, work %lld%s%.*s", (long long)(who ? waiting : count),
                  (who ? waiting : count) == 1 ? "" : "s", (long long)(ran / 1000), (int)most->op.len, most->op.ptr,
                  (long long)most->seq, group.len ? " of " : "", (int)group.len, group.len ? group.ptr : "");
    if (who) {
        f->title = nsc_words(c, "%s; %s had not called it", where, who);
        f->cause = "By PyTorch's own account of what each rank had enqueued: it does something else (data loading, a "
                   "checkpoint, a branch that the others did not take), hangs, or is gone.";
    } else if (odd) {
        f->title = nsc_words(c, "%s; %s", where, odd);
        f->cause = "Ranks of one group must call the same collectives in the same order: a branch that not all took, "
                   "another number of steps, or work that one rank never finished.";
    } else if (size > waiting && highest < size) {
        name_silent(c, f, group, size);
        f->confidence = "possible";
        f->title = nsc_words(c, "%s; of %s no time-out is in this input", where, nsc_list_ranks(c, f));
        f->cause = "Who does not time out is who the others wait for - or its log is not among the inputs.";
    } else {
        f->title = where;
        f->cause = size && size == waiting
                       ? "All ranks are in the same work: none is behind. The network, a GPU or the "
                         "kernel of the collective hangs, or sizes do not match."
                       : "Which rank they wait for cannot be told: how many ranks the group has is not "
                         "in this input.";
    }
}

static void tell_watchdog(struct nsc_case *c, nsc_text group)
{
    struct stuck *of_rank = nsc_alloc(MOST_RANKS * sizeof *of_rank);
    c->f->no_memory = c->f->no_memory || !of_rank;
    if (of_rank) {
        find_stuck(c->m, group, of_rank);
        tell_watchdog_of(c, group, of_rank);
    }
    nsc_free(of_rank);
}

/* Works are numbered in each process group on its own: each has its finding. */
static void tell_watchdogs(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    enum { GROUPS = 8 };
    nsc_text told[GROUPS];
    size_t n = 0;
    for (size_t i = 0; i < m->happened.len && n < GROUPS; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t seq;
        if (!timed_out(r) || !nsc_number_said(m, r, "seq", &seq))
            continue;
        nsc_text group = group_of(m, r);
        size_t k = 0;
        while (k < n && !nsc_text_eq(told[k], group))
            k++;
        if (k < n)
            continue;
        told[n++] = group;
        tell_watchdog(c, group);
    }
}

void nsc_rule_ranks_hung(struct nsc_case *c)
{
    tell_watchdogs(c);
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
    default: return "one of its own: look at its output";
    }
}

/* A process that aborts itself does so because it waited; one that was killed is what the others wait for. */
static void tell_root_and_wake(struct nsc_case *c, struct nsc_finding *f, int64_t code)
{
    if (code == -6 || code == -15) {
        f->caused_by = nsc_raised(c, NSC_ID_RANKS_HUNG)      ? NSC_ID_RANKS_HUNG
                       : nsc_raised(c, NSC_ID_RANKS_MISSING) ? NSC_ID_RANKS_MISSING
                                                             : NSC_ID_NONE;
        return;
    }
    if (code == -9 || code == -11 || code == -7) /* not an exit that NCCL's own error may have led to */
        f->part = NSC_ROOT;
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].rule->key == NSC_ID_RANKS_HUNG)
            c->f->list.item[i].caused_by = NSC_ID_RANKS_EXITED;
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

/* "Killed" and the like, as srun prints them, to the code that torchrun would give. */
static int64_t code_of_words(nsc_text words)
{
    static const struct {
        const char *begin;
        int64_t code;
    } known[] = {{"Killed", -9},    {"Out Of Memory", -9}, {"Segmentation fault", -11},
                 {"Bus error", -7}, {"Terminated", -15},   {"Aborted", -6}};
    int64_t code;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (nsc_text_starts(words, known[i].begin))
            return known[i].code;
    nsc_text exited = NSC_TEXT("Exited with exit code ");
    if (!nsc_text_starts(words, exited.ptr) || !nsc_to_i64(nsc_text_trim(nsc_text_from(words, exited.len)), &code))
        return 0;
    return code > 128 && code < 128 + 32 ? 128 - code : code; /* a shell's way to tell a signal */
}

/* What a launcher other than torchrun's summary says of one process; 0: nothing, or a good end. */
static int64_t ending(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    const struct ncclscope_model *m = c->m;
    int64_t code = 0;
    if (r->number == NCCLSCOPE_KIND_SRUN_ENDED) {
        nsc_text tasks = nsc_said(m, r, "group"), host = nsc_said(m, r, "name");
        bool several = nsc_text_find(tasks, "-") >= 0 || nsc_text_find(tasks, ",") >= 0;
        *who =
            nsc_words(c, "task%s %.*s on %.*s", several ? "s" : "", (int)tasks.len, tasks.ptr, (int)host.len, host.ptr);
        return code_of_words(nsc_said(m, r, "reason"));
    }
    nsc_text name = nsc_said(m, r, "name"), reason = nsc_said(m, r, "reason"), pid = nsc_said(m, r, "pid");
    if (r->number == NCCLSCOPE_KIND_MPI_EXIT && nsc_number_said(m, r, "code", &code)) {
        const struct nsc_own_record *process = r > m->happened.item ? r - 1 : r;
        nsc_text rank =
            process->number == NCCLSCOPE_KIND_MPI_PROCESS ? nsc_said(m, process, "rank") : (nsc_text){"", 0};
        *who = nsc_words(c, "%s%.*s", rank.len ? "rank " : "a process", (int)rank.len, rank.ptr);
        return code > 128 && code < 128 + 32 ? 128 - code : code;
    }
    if (r->number == NCCLSCOPE_KIND_MPI_SIGNAL && nsc_number_said(m, r, "code", &code)) {
        nsc_text rank = nsc_said(m, r, "rank");
        *who = nsc_words(c, "rank %.*s on %.*s", (int)rank.len, rank.ptr, (int)name.len, name.ptr);
        return -code;
    }
    bool crash = r->number == NCCLSCOPE_KIND_SIGNAL_CAUGHT || r->number == NCCLSCOPE_KIND_SIGNAL_OF_MPI;
    if (crash && nsc_number_said(m, r, "code", &code)) {
        *who = nsc_words(c, "process %.*s on %.*s", (int)pid.len, pid.ptr, (int)name.len, name.ptr);
        return -code;
    }
    if (r->number == NCCLSCOPE_KIND_SIGNAL_PYTHON) {
        *who = r->torch_rank >= 0 ? nsc_words(c, "rank %lld", (long long)r->torch_rank) : "a Python process";
        return nsc_text_starts(reason, "Bus") ? -7 : nsc_text_starts(reason, "Abort") ? -6 : -11;
    }
    if (r->number == NCCLSCOPE_KIND_ELASTIC_FAILED || r->number == NCCLSCOPE_KIND_LAUNCH_EXIT) {
        nsc_text local = nsc_said(m, r, "local_rank");
        *who = nsc_words(c, "a process%s%.*s", local.len ? " of local rank " : "", (int)local.len, local.ptr);
        nsc_number_said(m, r, "code", &code);
    }
    return code;
}

static const struct nsc_own_record *out_of_memory(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_SLURM_OOM)
            return &m->happened.item[i];
    return NULL;
}

static bool is_of_nccl_or_cuda(nsc_text name, nsc_text reason)
{
    if (nsc_text_find(reason, "retrieving ncclUniqueId") >= 0) /* PyTorch's store, before NCCL is called */
        return false;
    return nsc_text_find(name, "DistBackendError") >= 0 || nsc_text_find(name, "ChildFailedError") >= 0 ||
           nsc_text_find(reason, "NCCL") >= 0 || nsc_text_find(reason, "CUDA") >= 0;
}

enum { REASON_SHOWN = 180 };

/* The first exception that is neither NCCL's own nor a launcher's: the program failed by itself, where nothing before it tells of NCCL. */
static void tell_exception(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        nsc_text name = nsc_said(m, r, "name"), reason = nsc_text_trim(nsc_said(m, r, "reason"));
        if (r->number != NCCLSCOPE_KIND_PY_RAISED || is_of_nccl_or_cuda(name, reason))
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_ERROR, "error", "certain");
        f->count = 1;
        reason.len -= reason.len && reason.ptr[reason.len - 1] == '.';
        f->title = nsc_words(c, "The program itself ended with an exception%s: %.*s: %.*s%s",
                             r->torch_rank >= 0 ? nsc_words(c, " (rank %lld)", (long long)r->torch_rank) : "",
                             (int)name.len, name.ptr, (int)(reason.len < REASON_SHOWN ? reason.len : REASON_SHOWN),
                             reason.len ? reason.ptr : "", reason.len > REASON_SHOWN ? " ..." : "");
        f->cause = "No failure of NCCL stands before it in this input; what peers print of closed connections follows "
                   "from it.";
        f->fix = "Read the traceback above the line.";
        struct nsc_ask ask = {.c = c, .m = m, .proc = NSC_NONE, .said = &r->where, .distance = ""};
        nsc_explain(c, f, &ask);
        f->confidence = "certain"; /* that it raised this; of the cause the words say how sure it is */
        nsc_show(c, f, &r->where);
        return;
    }
}

/* Did NCCL warn of something, or PyTorch's watchdog of a wait, anywhere? */
static bool nccl_failed(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->happened.len; i++)
        if (timed_out(&m->happened.item[i]) || m->happened.item[i].number == NCCLSCOPE_KIND_TORCH_OOM ||
            m->happened.item[i].number == NCCLSCOPE_KIND_PROGRAM_NCCL)
            return true;
    for (size_t i = 0; i < m->warnings.len; i++)
        if (m->warnings.item[i].broke)
            return true;
    return false;
}

void nsc_rule_ranks_exited(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    bool told = false;
    for (size_t i = 0; i < m->happened.len; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_RUN_ROOT)
            told = tell_root(c, i) || told;
    if (!nccl_failed(m))
        tell_exception(c);
    for (size_t i = 0; !told && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i], *oom = out_of_memory(m);
        const char *who = "";
        int64_t code = ending(c, r, &who);
        if (!code)
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_ERROR, "error", "likely");
        f->count = 1;
        bool own_words = r->number >= NCCLSCOPE_KIND_SIGNAL_CAUGHT && r->number <= NCCLSCOPE_KIND_SIGNAL_PYTHON;
        f->title = own_words  ? nsc_words(c, "A process crashed with signal %lld: %s", (long long)-code, who)
                   : code < 0 ? nsc_words(c, "The launcher saw %s end by signal %lld", who, (long long)-code)
                              : nsc_words(c, "The launcher saw %s end with exit code %lld", who, (long long)code);
        f->cause = code == -9 && oom ? "Slurm says that the kernel's OOM killer ended processes of this step."
                                     : nsc_words(c, "%s %lld is %s.", code < 0 ? "Signal" : "Exit code",
                                                 (long long)(code < 0 ? -code : code), meaning_of_exit(code));
        nsc_show(c, f, &r->where);
        if (code == -9 && oom)
            nsc_show(c, f, &oom->where);
        tell_root_and_wake(c, f, code);
        told = true;
    }
}

/* ---- programs that gave up ---- */

/* The first line of one of two sorts: a finding of the rule in hand, unless NCCL's own warnings made it already. */
static void tell_program(struct nsc_case *c, int number, int other, const char *title, const char *cause)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    for (size_t i = 0; i < m->happened.len && !nsc_raised(c, c->rule->key); i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if ((int)r->number != number && (int)r->number != other)
            continue;
        nsc_text reason = nsc_text_trim(nsc_said(m, r, "reason"));
        f = nsc_found(c, NCCLSCOPE_ERROR, "error", "certain");
        f->count = 1;
        f->title =
            nsc_words(c, "%s: %.*s", title, (int)(reason.len < 200 ? reason.len : 200), reason.len ? reason.ptr : "");
        f->cause = cause;
        struct nsc_ask ask = {.c = c, .m = m, .proc = NSC_NONE, .said = &r->where, .distance = ""};
        nsc_explain(c, f, &ask);
        f->confidence = "certain";
        nsc_show(c, f, &r->where);
    }
}

void nsc_rule_program_cuda(struct nsc_case *c)
{
    tell_program(
        c, NCCLSCOPE_KIND_PROGRAM_CUDA, NCCLSCOPE_KIND_PROGRAM_CUDA_AT, "The program reports an error of CUDA",
        "CUDA's errors are sticky: a kernel of the program or of NCCL made it before. The first one in time, over all "
        "ranks, is the one to look at.");
}

static bool any_error(const struct nsc_case *c)
{
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].severity == NCCLSCOPE_ERROR)
            return true;
    return false;
}

/* PyTorch's own allocator found no room. */
void nsc_rule_program_memory(struct nsc_case *c)
{
    tell_program(c, NCCLSCOPE_KIND_TORCH_OOM, -1, "The program ran out of GPU memory",
                 "PyTorch's allocator found no room on the GPU: the model and its batch need more, or other processes "
                 "hold memory there.");
}

/* That a call of NCCL failed is news only where nothing here says why; wrong results always are. */
void nsc_rule_program_failed(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    if (!any_error(c))
        tell_program(c, NCCLSCOPE_KIND_PROGRAM_NCCL, NCCLSCOPE_KIND_PROGRAM_NCCL_AT,
                     "The program reports that a call of NCCL failed",
                     "NCCL's own warnings before it would say why; none of them is in this input.");
    if (!any_error(c))
        tell_program(c, NCCLSCOPE_KIND_NCCL_RESULT, -1, "The program reports that a call of NCCL failed",
                     "What NCCL warned of before it is not in this input.");
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t count;
        if (r->number != NCCLSCOPE_KIND_TEST_BOUNDS || !nsc_number_said(m, r, "count", &count) || !count)
            continue;
        struct nsc_finding *f = nsc_found(c, NCCLSCOPE_ERROR, "error", "certain");
        f->count = 1;
        f->title = nsc_words(c, "nccl-tests found wrong results: out of bounds values %lld", (long long)count);
        f->cause =
            "Data did not arrive as it was sent: a GPU, an NVLink or a NIC corrupts it, or P2P goes where IOMMU or ACS "
            "misdirect it.";
        nsc_show(c, f, &r->where);
        return;
    }
}
