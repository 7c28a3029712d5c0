/* ending.c - what one line tells of how one process ended: of a launcher, a shell, a signal handler, a kernel. */
#include "rules/ending.h"

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
    return code > 128 && code < 128 + 32 ? 128 - code : code; /* a shell's way to tell a signal */
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

bool nsc_is_told_late(const struct nsc_own_record *r)
{
    return nsc_is_of_shell(r) || r->number == NCCLSCOPE_KIND_EXIT_TOLD || r->number == NCCLSCOPE_KIND_SIGNAL_TOLD ||
           r->number == NCCLSCOPE_KIND_UNIT_ENDED;
}

/* "trainer-1 exited with code 137", "rank 11 died from signal 6": by the words of who watched it, near the end alone, as what ends in the midst
 * may be another program. *who: these words. */
static int64_t told_end(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    enum { TO_THE_END = 100, SHOWN = 110 };
    int64_t code = 0;
    nsc_text words = nsc_text_trim(nsc_said(c->m, r, "text")), name = nsc_said(c->m, r, "name"),
             reason = nsc_said(c->m, r, "reason");
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
    return code > 128 && code < 128 + 32 ? 128 - code : code; /* a shell's way to tell a signal */
}

/* What a launcher other than torchrun's summary says of one process; 0: nothing, or a good end. */
int64_t nsc_ending(struct nsc_case *c, const struct nsc_own_record *r, const char **who)
{
    const struct ncclscope_model *m = c->m;
    int64_t code = 0;
    if (r->number == NCCLSCOPE_KIND_SRUN_ENDED) {
        nsc_text tasks = nsc_said(m, r, "group"), host = nsc_said(m, r, "name");
        bool several = nsc_text_find(tasks, "-") >= 0 || nsc_text_find(tasks, ",") >= 0;
        *who =
            nsc_words(c, "task%s %.*s on %.*s", several ? "s" : "", (int)tasks.len, tasks.ptr, (int)host.len, host.ptr);
        return nsc_code_of_words(nsc_said(m, r, "reason"));
    }
    nsc_text name = nsc_said(m, r, "name"), reason = nsc_said(m, r, "reason"), pid = nsc_said(m, r, "pid");
    if (r->number == NCCLSCOPE_KIND_KERNEL_KILLED) {
        *who = nsc_words(c, "%s (%.*s)", name_process(c, r, pid), (int)name.len, name.ptr);
        return -9;
    }
    if (r->number == NCCLSCOPE_KIND_EXIT_TOLD || r->number == NCCLSCOPE_KIND_SIGNAL_TOLD ||
        r->number == NCCLSCOPE_KIND_UNIT_ENDED)
        return told_end(c, r, who);
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
    if (r->number == NCCLSCOPE_KIND_SIGNAL_GDB || r->number == NCCLSCOPE_KIND_SIGNAL_ABSL) {
        nsc_text text = r->where.text; /* with what the launcher put before it: "(RayWorkerWrapper pid=233, ip=...)" */
        ptrdiff_t at = r->number == NCCLSCOPE_KIND_SIGNAL_GDB ? -1 : nsc_text_find(text, "Wrapper pid=");
        nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(text, (size_t)at + 12);
        while (pid.len < rest.len && nsc_is_digit(rest.ptr[pid.len]))
            pid.ptr = rest.ptr, pid.len++;
        *who = r->number == NCCLSCOPE_KIND_SIGNAL_GDB ? "the process under the debugger"
               : r->torch_rank >= 0                   ? nsc_words(c, "rank %lld", (long long)r->torch_rank)
               : pid.len                              ? name_process(c, r, pid)
                                                      : "as its own handler says";
        return nsc_text_is(name, "SEGV") ? -11 : nsc_text_is(name, "BUS") ? -7 : nsc_text_is(name, "ABRT") ? -6 : -4;
    }
    if (nsc_is_of_shell(r)) {
        *who = pid.len ? name_process(c, r, pid) : "its shell says so";
        return nsc_code_of_words(reason);
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
