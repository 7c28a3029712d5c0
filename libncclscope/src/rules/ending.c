/* ending.c - what one line tells of how one process ended: of a launcher, a shell, a signal handler, a kernel. */
#include "rules/ending.h"

/* A shell tells a signal by 128 and its number. */
static int64_t code_of_shell(int64_t code)
{
    return code > 128 && code < 128 + 32 ? 128 - code : code;
}

/* "Killed" and the like, as srun prints them, to the code that torchrun would give. */
int64_t nsc_code_of_words(nsc_text words)
{
    static const struct {
        const char *begin;
        int64_t code;
    } known[] = {{"Killed", -9},
                 {"Out Of Memory", -9},
                 {"Segmentation fault", -11},
                 {"Bus error", -7},
                 {"Terminated", -15},
                 {"Aborted", -6},
                 {"Illegal instruction", -4},
                 {"Floating point exception", -8},
                 {"killed", -9},
                 {"aborted", -6},
                 {"segmentation fault", -11},
                 {"terminated", -15},
                 {"Abgebrochen", -6},
                 {"Abandon", -6},
                 {"Processus arrêté", -9},
                 {"Erreur de segmentation", -11},
                 {"Terminado (killed)", -9},
                 {"Violación de segmento", -11},
                 {"已放弃", -6},
                 {"Getötet", -9},
                 {"已杀死", -9},
                 {"段错误", -11},
                 {"Speicherzugriffsfehler", -11}};
    int64_t code;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (nsc_text_starts(words, known[i].begin))
            return known[i].code;
    nsc_text exited = NSC_TEXT("Exited with exit code ");
    if (!nsc_text_starts(words, exited.ptr) || !nsc_to_i64(nsc_text_trim(nsc_text_from(words, exited.len)), &code))
        return 0;
    return code_of_shell(code);
}

/* A shell tells how its program ended, whatever led to it: news only where nothing before says so. */
bool nsc_is_of_shell(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_SHELL_JOB_ENDED || r->number == NCCLSCOPE_KIND_SHELL_ENDED;
}

/* The one process of NCCL's in this input that has this pid; NULL: none has, or several. */
const struct nsc_proc *nsc_process_of_line(const struct ncclscope_model *m, const struct nsc_own_record *r,
                                           nsc_text pid)
{
    const struct nsc_proc *one = NULL;
    int64_t number;
    for (size_t i = 0; nsc_to_i64(pid, &number) && i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        if (p->pid != number || p->source != r->where.source)
            continue;
        if (one)
            return NULL;
        one = p;
    }
    return one;
}

/* "process 233 of node-b, rank 1": what NCCL's lines tell of it. */
static const char *name_process(struct nsc_case *c, const struct nsc_own_record *r, nsc_text pid)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_proc *one = nsc_process_of_line(m, r, pid);
    const char *words = nsc_words(c, "process %.*s", (int)pid.len, pid.ptr);
    if (!one || !one->host)
        return words;
    const struct nsc_rank *rank = one->last_rank == NSC_NONE ? NULL : &m->ranks.item[one->last_rank];
    const char *as = rank && rank->before == NSC_NONE ? nsc_words(c, ", rank %lld", (long long)rank->rank) : "";
    return nsc_words(c, "%s of %s%s", words, nsc_say(m, one->host).ptr, as);
}

bool nsc_is_own_handler(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_SIGNAL_TOLD && nsc_text_starts(nsc_text_trim(r->where.text), "Caught signal ");
}

/* Of one who watched it: another process, systemd. */
static bool is_of_watcher(const struct nsc_own_record *r)
{
    return r->number == NCCLSCOPE_KIND_EXIT_TOLD ||
           (r->number == NCCLSCOPE_KIND_SIGNAL_TOLD && !nsc_is_own_handler(r)) ||
           r->number == NCCLSCOPE_KIND_UNIT_ENDED;
}

bool nsc_is_told_late(const struct nsc_own_record *r)
{
    return nsc_is_of_shell(r) || is_of_watcher(r);
}

/* "trainer-1 exited with code 137", "rank 11 died from signal 6": by the words of who watched it, near the end alone, as what ends in the midst
 * may be another program. *who: these words. */
static int64_t told_end(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    enum { TO_THE_END = 100, SHOWN = 110 };
    int64_t code = 0;
    nsc_text words = nsc_text_trim(nsc_said(c->m, r, "text")), name = nsc_said(c->m, r, "name"),
             reason = nsc_said(c->m, r, "reason");
    if (nsc_is_own_handler(r) && nsc_to_i64(reason, &code)) {
        *who = "its own handler says so";
        return -code;
    }
    if (c->m->sources.item[r->where.source].stats.lines > r->where.line + TO_THE_END)
        return 0;
    if (r->number == NCCLSCOPE_KIND_UNIT_ENDED) {
        *who = nsc_words(c, "the main process of %.*s", (int)name.len, name.ptr);
        nsc_number_said(c->m, r, "code", &code);
        return nsc_text_is(words, "exited") ? code : -code;
    }
    if (r->number == NCCLSCOPE_KIND_SIGNAL_TOLD && !nsc_to_i64(reason, &code))
        code = -nsc_code_of_words(reason);
    else if (r->number == NCCLSCOPE_KIND_EXIT_TOLD)
        nsc_number_said(c->m, r, "code", &code);
    size_t from = words.len > SHOWN ? words.len - SHOWN : 0;
    bool bracket = nsc_text_find(words, "(signal") >= 0 || nsc_text_find(words, " status (") >= 0;
    *who = nsc_words(c, "%s%.*s%s%lld%s", from ? "..." : "", (int)(words.len - from), words.ptr + from,
                     words.len && words.ptr[words.len - 1] == '(' ? "" : " ", (long long)code, bracket ? ")" : "");
    if (r->number == NCCLSCOPE_KIND_SIGNAL_TOLD)
        return -code;
    return code_of_shell(code);
}

/* "srun: error: node-b: tasks 4-7: Killed" */
static int64_t srun_end(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    nsc_text tasks = nsc_said(c->m, r, "group"), host = nsc_said(c->m, r, "name");
    bool several = nsc_text_find(tasks, "-") >= 0 || nsc_text_find(tasks, ",") >= 0;
    *who = nsc_words(c, "task%s %.*s on %.*s", several ? "s" : "", (int)tasks.len, tasks.ptr, (int)host.len, host.ptr);
    return nsc_code_of_words(nsc_said(c->m, r, "reason"));
}

/* mpirun's "Process name: [[12,1],3]" and, in the next line, "Exit code: 1". */
static int64_t mpi_exit(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    int64_t code;
    const struct nsc_own_record *process = r > c->m->happened.item ? r - 1 : r;
    nsc_text rank = process->number == NCCLSCOPE_KIND_MPI_PROCESS ? nsc_said(c->m, process, "rank") : (nsc_text){"", 0};
    if (!nsc_number_said(c->m, r, "code", &code))
        return 0;
    *who = nsc_words(c, "%s%.*s", rank.len ? "rank " : "a process", (int)rank.len, rank.ptr);
    return code_of_shell(code);
}

/* A signal by its number: in mpirun's words, or by what the process itself prints as it goes down. */
static int64_t numbered_signal(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    int64_t code;
    bool of_mpi = r->number == NCCLSCOPE_KIND_MPI_SIGNAL;
    nsc_text name = nsc_said(c->m, r, "name"), which = nsc_said(c->m, r, of_mpi ? "rank" : "pid");
    if (!nsc_number_said(c->m, r, "code", &code))
        return 0;
    *who = nsc_words(c, "%s %.*s on %.*s", of_mpi ? "rank" : "process", (int)which.len, which.ptr, (int)name.len,
                     name.ptr);
    return -code;
}

/* A signal by its name: in the words of a debugger, or of Abseil's handler, behind what the launcher put before the line:
 * "(RayWorkerWrapper pid=233, ip=...) *** SIGSEGV received at ...". */
static int64_t named_signal(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    bool debugger = r->number == NCCLSCOPE_KIND_SIGNAL_GDB;
    nsc_text text = r->where.text, name = nsc_said(c->m, r, "name"), pid = nsc_said(c->m, r, "pid");
    ptrdiff_t at = debugger ? -1 : nsc_text_find(text, "Wrapper pid=");
    nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(text, (size_t)at + 12);
    while (pid.len < rest.len && nsc_is_digit(rest.ptr[pid.len]))
        pid.ptr = rest.ptr, pid.len++;
    *who = debugger             ? "the process under the debugger"
           : r->torch_rank >= 0 ? nsc_words(c, "rank %lld", (long long)r->torch_rank)
           : pid.len            ? name_process(c, r, pid)
                                : "as its own handler says";
    return nsc_text_is(name, "SEGV") ? -11 : nsc_text_is(name, "BUS") ? -7 : nsc_text_is(name, "ABRT") ? -6 : -4;
}

/* What a launcher puts before the words, "(Worker pid=9) " before "Fatal Python error". */
static nsc_text put_before(const struct nsc_own_record *r, const char *words)
{
    ptrdiff_t at = nsc_text_find(r->where.text, words);
    return nsc_text_trim(nsc_text_upto(r->where.text, at < 0 ? 0 : (size_t)at));
}

/* The frame in which the crash caught the process: behind "Current thread 0x... (most recent call first):" of the same writer. NULL: none is here. */
static const struct nsc_own_record *frame_of(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    enum { NEAR = 1000 }; /* lines: other threads' stacks stand between */
    const struct nsc_own_record *end = m->happened.item + m->happened.len;
    nsc_text writer = put_before(r, "Fatal Python error");
    for (const struct nsc_own_record *x = r + 1; x + 1 < end; x++) {
        if (x->where.source != r->where.source || x->where.line > r->where.line + NEAR)
            break;
        bool own = nsc_text_eq(put_before(x, "Current thread"), writer);
        if (x->number == NCCLSCOPE_KIND_SIGNAL_PYTHON && nsc_text_eq(put_before(x, "Fatal Python error"), writer))
            break;
        if (x->number == NCCLSCOPE_KIND_PY_CRASHED && own)
            return x[1].number == NCCLSCOPE_KIND_PY_CRASH_FRAME ? x + 1 : NULL;
    }
    return NULL;
}

/* "Fatal Python error: Segmentation fault", and in its stack "Current thread 0x... (most recent call first):" and a frame. */
static int64_t python_signal(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    const struct nsc_own_record *x = frame_of(c->m, r);
    nsc_text reason = nsc_said(c->m, r, "reason");
    *who = r->torch_rank >= 0 ? nsc_words(c, "rank %lld", (long long)r->torch_rank) : "a Python process";
    if (x) {
        nsc_text file = nsc_base_name(nsc_said(c->m, x, "file")), name = nsc_said(c->m, x, "name"),
                 line = nsc_said(c->m, x, "line");
        *who = nsc_words(c, "%s, in %.*s (%.*s, line %.*s)", *who, (int)name.len, name.ptr, (int)file.len, file.ptr,
                         (int)line.len, line.ptr);
    }
    return nsc_text_starts(reason, "Bus") ? -7 : nsc_text_starts(reason, "Abort") ? -6 : -11;
}

/* What a launcher other than torchrun's summary says of one process; 0: nothing, or a good end. */
int64_t nsc_ending(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    nsc_text name = nsc_said(c->m, r, "name"), reason = nsc_said(c->m, r, "reason"), pid = nsc_said(c->m, r, "pid"),
             local = nsc_said(c->m, r, "local_rank");
    int64_t code = 0;
    switch ((int)r->number) {
    case NCCLSCOPE_KIND_SRUN_ENDED: return srun_end(c, r, who);
    case NCCLSCOPE_KIND_KERNEL_KILLED:
        *who = nsc_words(c, "%s (%.*s)", name_process(c, r, pid), (int)name.len, name.ptr);
        return -9;
    case NCCLSCOPE_KIND_EXIT_TOLD:
    case NCCLSCOPE_KIND_SIGNAL_TOLD:
    case NCCLSCOPE_KIND_UNIT_ENDED: return told_end(c, r, who);
    case NCCLSCOPE_KIND_MPI_EXIT: return mpi_exit(c, r, who);
    case NCCLSCOPE_KIND_MPI_SIGNAL:
    case NCCLSCOPE_KIND_SIGNAL_CAUGHT:
    case NCCLSCOPE_KIND_SIGNAL_OF_MPI: return numbered_signal(c, r, who);
    case NCCLSCOPE_KIND_SIGNAL_GDB:
    case NCCLSCOPE_KIND_SIGNAL_ABSL: return named_signal(c, r, who);
    case NCCLSCOPE_KIND_SHELL_JOB_ENDED:
    case NCCLSCOPE_KIND_SHELL_ENDED:
        *who = pid.len ? name_process(c, r, pid) : "its shell says so";
        return nsc_code_of_words(reason);
    case NCCLSCOPE_KIND_SIGNAL_PYTHON: return python_signal(c, r, who);
    case NCCLSCOPE_KIND_ELASTIC_FAILED:
    case NCCLSCOPE_KIND_LAUNCH_EXIT:
        *who = nsc_words(c, "a process%s%.*s%s%s", local.len ? " of local rank " : "", (int)local.len, local.ptr,
                         r->host ? " on " : "", r->host ? nsc_say(c->m, r->host).ptr : "");
        nsc_number_said(c->m, r, "code", &code);
        return code;
    default: return 0;
    }
}

/* In how many further lines the launcher says the same of other processes. */
uint64_t nsc_others_ended_so(struct nsc_case *c, const struct nsc_own_record *first, int64_t code)
{
    uint64_t n = 0;
    const char *who;
    for (size_t i = 0; first->number == NCCLSCOPE_KIND_SRUN_ENDED && i < c->m->happened.len; i++) {
        const struct nsc_own_record *r = &c->m->happened.item[i];
        n += r > first && r->number == first->number && nsc_ending(c, r, &who) == code;
    }
    return n;
}

/* Further processes that crashed with the same signal, by their own words. */
uint64_t nsc_others_crashed(const struct ncclscope_model *m, const struct nsc_own_record *first)
{
    int64_t code, one = 0;
    uint64_t n = 0;
    struct nsc_map seen = {0};
    nsc_number_said(m, first, "code", &one);
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        int64_t pid;
        if (r->number != first->number || !nsc_number_said(m, r, "code", &code) || code != one ||
            !nsc_number_said(m, r, "pid", &pid))
            continue;
        nsc_map_put(&seen, (struct nsc_key){nsc_field_of(m, r, "name"), (uint64_t)pid, 0}, 0);
    }
    n = seen.used;
    nsc_map_free(&seen);
    return n > 1 ? n - 1 : 0;
}
