/* foreign.c - lines of other programs: a pasted topology matrix, the result rows of nccl-tests. */
#include "read/foreign.h"

#include "read/test_row.h"

static bool is_gpu_or_nic(nsc_text word)
{
    return word.len > 3 && (nsc_text_starts(word, "GPU") || nsc_text_starts(word, "NIC")) && nsc_is_digit(word.ptr[3]);
}

/* "GPU0 GPU1 ... CPU Affinity", or "GPU0 X NV18 ..." of `nvidia-smi topo -m`. */
static ncclscope_kind matrix_kind(nsc_text body)
{
    nsc_text first = nsc_next_word(&body), second = nsc_next_word(&body);
    static const char *const cells[] = {"X",  "NV",  "PIX", "PXB", "PHB", "NODE", "SYS",
                                        "OK", "CNS", "GNS", "TNS", "NS",  "U"};
    if (!is_gpu_or_nic(first))
        return NCCLSCOPE_KIND_UNKNOWN;
    if (is_gpu_or_nic(second) || nsc_text_is(second, "CPU"))
        return NCCLSCOPE_KIND_MATRIX_HEAD;
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        if (nsc_text_starts(second, cells[i]))
            return NCCLSCOPE_KIND_MATRIX_ROW;
    return NCCLSCOPE_KIND_UNKNOWN;
}

ncclscope_kind nsc_foreign_kind(nsc_text body)
{
    nsc_text t = nsc_text_trim(body);
    if (!t.len)
        return NCCLSCOPE_KIND_UNKNOWN;
    if (t.ptr[0] == 'G' || (t.ptr[0] == 'N' && t.len > 1 && t.ptr[1] == 'I'))
        return matrix_kind(t);
    if (t.ptr[0] == '#' && nsc_text_starts(t, "# Collective test starting:"))
        return NCCLSCOPE_KIND_TEST_NAME;
    return nsc_is_digit(t.ptr[0]) && nsc_test_columns(t) ? NCCLSCOPE_KIND_TEST_ROW : NCCLSCOPE_KIND_UNKNOWN;
}

/* A pair of what nccl-tests writes with -J: "size": 8, or all of them on one line. */
static bool is_test_json(nsc_text t)
{
    static const char *const keys[] = {
        "\"size\":",     "\"count\":", "\"type\":",   "\"redop\":",  "\"root\":",  "\"out_of_place\":",
        "\"in_place\":", "\"time\":",  "\"alg_bw\":", "\"bus_bw\":", "\"nwrong\":"};
    if (t.ptr[0] == '{')
        return nsc_text_find(t, "\"bus_bw\":") >= 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (nsc_text_starts(t, keys[i]))
            return true;
    return false;
}

static bool has_any(nsc_text t, const char *const *keys)
{
    for (; *keys; keys++)
        if (nsc_text_find(t, *keys) >= 0)
            return true;
    return false;
}

ncclscope_kind nsc_json_kind(nsc_text line, bool *ras)
{
    static const char *const begin[] = {
        "\"cuda_driver_version\":", "\"communicators_count\":", "\"secondary_hash\":", NULL};
    static const char *const end[] = {"\"timeouts_count\":", "\"results\":", "\"bus_bw\":", NULL};
    nsc_text t = nsc_text_trim(line);
    if (!t.len || (t.ptr[0] != '"' && t.ptr[0] != '{'))
        return NCCLSCOPE_KIND_UNKNOWN;
    bool now = *ras || has_any(t, begin);
    *ras = now && !has_any(t, end);
    if (now && nsc_text_find(t, "\"bus_bw\":") < 0)
        return NCCLSCOPE_KIND_RAS_JSON;
    return is_test_json(t) ? NCCLSCOPE_KIND_TEST_JSON : NCCLSCOPE_KIND_UNKNOWN;
}

/* What a line of another program holds for which there may be a row: NCCL, CUDA, a library beside them, an exit code. By a letter of
 * it that few lines hold; `at`: where the letter stands in the words. */
struct hint {
    uint8_t at, len;
    const char *words;
};

#define HINT(at, words) \
    { \
        at, sizeof words - 1, words \
    }
#define HINTS(...) ((const struct hint[]){__VA_ARGS__, {0, 0, NULL}})
static const struct hint *const hints[256] = {
    ['N'] = HINTS(HINT(0, "No space left on device"), HINT(0, "NCCL"), HINT(14, "connected via NVLink")),
    ['U'] = HINTS(HINT(0, "Unhandled exception. "), HINT(1, "CUDA "), HINT(0, "UCX  ERROR ")),
    ['x'] = HINTS(HINT(1, "exit code "), HINT(1, "exit status "), HINT(3, "+ exit "), HINT(1, "exitc"),
                  HINT(1, "exits"), HINT(1, "exite"), HINT(8, "died unexpectedly"),
                  HINT(25, "command terminated with exit code"), HINT(1, "exceeded memory allocation")),
    ['P'] = HINTS(HINT(0, "Permission denied"), HINT(4, "=>> PBS: job killed: "), HINT(0, "PyTorchJob "),
                  HINT(1, "GPU P2P"), HINT(0, "Pid "), HINT(0, "PRTE has lost "), HINT(0, "Pcie atomics"),
                  HINT(0, "Primary job ")),
    ['v'] = HINTS(HINT(15, "commande introuvable"), HINT(8, "unbound variable"), HINT(19, "error: creating server"),
                  HINT(0, "vLLM NCCL "), HINT(1, "nvshmem"), HINT(5, "libibverbs: ")),
    ['k'] = HINTS(HINT(3, "worker_pool.cpp"), HINT(31, "death signal, shutting down work")),
    ['y'] = HINTS(HINT(15, "terminated badly"), HINT(1, "syntax error near"), HINT(9, "capability 12."),
                  HINT(9, "capability 8.9"), HINT(11, "successfully finished"), HINT(19, "did not become ready within"),
                  HINT(9, "nstance_type\""), HINT(11, "output empty list")),
    ['W'] = HINTS(HINT(0, "Watchdog timeout (limit "), HINT(0, "WORLD_SIZE"), HINT(0, "Worker group FAILED")),
    ['/'] = HINTS(HINT(3, "img/sec on "), HINT(12, "total images/sec: ")),
    ['C'] = HINTS(HINT(0, "Caught error: "), HINT(0, "Could not override "), HINT(0, "Cluster "),
                  HINT(0, "CrashLoopBackOff"), HINT(0, "Communicator ranks have "), HINT(8, "Sending Ctrl-C"),
                  HINT(8, " computeCapability: "), HINT(0, "Caught signal "), HINT(0, "ChildFailedError:"),
                  HINT(0, "Check failed: "), HINT(0, "Cuda failure '"), HINT(0, "Command terminated by signal")),
    ['A'] = HINTS(HINT(0, "Abort("), HINT(23, "application called MPI_Abort"), HINT(0, "Aucun espace disponible"),
                  HINT(0, "Auf dem Ger"), HINT(0, "Abnormal termination ("), HINT(0, "AddressSanitizer: "),
                  HINT(0, "Avg bus bandwidth"), HINT(0, "A worker died or was killed"), HINT(0, "Aborted"),
                  HINT(0, "Assertion `"), HINT(0, "Asynchronous error")),
    ['*'] = HINTS(HINT(0, "*** ["), HINT(0, "*** SIG"), HINT(0, "*** stack smashing"), HINT(0, "***** train metrics"),
                  HINT(0, "***** eval metrics"), HINT(0, "***** predict metrics")),
    ['`'] = HINTS(HINT(11, "Trainer.fit` stopped")),
    ['#'] = HINTS(HINT(0, "#0 "), HINT(0, "#1"), HINT(0, "#2"), HINT(0, "#3"), HINT(0, "#4"), HINT(0, "#5"),
                  HINT(0, "#6"), HINT(0, "#7"), HINT(0, "#8"), HINT(0, "#9")),
    ['('] = HINTS(HINT(0, "(src/"), HINT(0, "(sharp_am)"), HINT(0, "(cuda-gdb) "), HINT(0, "(gdb) "),
                  HINT(4, "free(): "), HINT(6, "malloc(): "), HINT(7, "realloc(): "), HINT(12, "munmap_chunk(): "),
                  HINT(26, "double free or corruption (")),
    ['>'] = HINTS(HINT(2, "==> ")),
    ['<'] = HINTS(HINT(0, "<NO_OTHER_FAILURES>"), HINT(0, "<pci busid=\""), HINT(0, "<gpu dev=\""),
                  HINT(0, "<nvlink target=\""), HINT(0, "<xgmi target=\""), HINT(0, "</gpu>")),
    ['z'] = HINTS(HINT(12, "corrupted size vs")),
    ['S'] = HINTS(HINT(0, "ShardCannotStart"), HINT(0, "SLURM_"), HINT(0, "SocketImpl("),
                  HINT(0, "SHArP Job init error"), HINT(7, "signal SIG"), HINT(0, "Segmentation fault"),
                  HINT(0, "Sending process "), HINT(0, "Saved PyTorch Model"), HINT(0, "SignalException: Process ")),
    ['G'] = HINTS(HINT(11, "received SIGINT, "), HINT(5, "SIGINT's "), HINT(1, "nGpus ")),
    ['O'] =
        HINTS(HINT(0, "OOMKilled"), HINT(7, "by the OOM killer"), HINT(0, "Out of bounds values"), HINT(0, "ORTE ")),
    ['I'] = HINTS(HINT(0, "Instance was preempted"), HINT(0, "INTERNAL ASSERT FAILED"), HINT(0, "Illegal instruction"),
                  HINT(0, "Initialization error")),
    ['B'] = HINTS(HINT(0, "Befehl nicht gefunden"), HINT(0, "Back-off restarting failed"), HINT(0, "Bus error"),
                  HINT(0, "Benchmark Result ="), HINT(9, "monitoredBarrier in ")),
    ['M'] = HINTS(HINT(0, "Marking task as SUCCESS"), HINT(0, "MPI_ABORT was invoked on "),
                  HINT(0, "MaxRuntimeExceeded"), HINT(0, "Main process exited, code="), HINT(5, "Open MPI ")),
    [':'] = HINTS(HINT(0, ": attempt to "), HINT(10, "terminated: signal: "), HINT(0, ": runtime error: ")),
    ['E'] = HINTS(HINT(0, "Error: "), HINT(0, "Exception: "), HINT(0, "Error executing job"), HINT(0, "Evicted "),
                  HINT(0, "Execution halted"), HINT(0, "Error using "), HINT(0, "ERROR SUMMARY: "),
                  HINT(0, "Error response from daemon"), HINT(0, "EFA device, "), HINT(0, "Exception raised from "),
                  HINT(0, "Exception in thread ")),
    ['F'] =
        HINTS(HINT(0, "Foam::"), HINT(0, "FATAL: "), HINT(0, "Fortran runtime error"), HINT(8, "entered FATAL state"),
              HINT(0, "File \""), HINT(0, "Floating point exception"), HINT(0, "Final Resource Status")),
    ['K'] = HINTS(HINT(0, "Kill process "), HINT(0, "KILLED BY SIGNAL: "), HINT(0, "Killed"),
                  HINT(0, "Killing subprocess "), HINT(0, "KeyboardInterrupt")),
    ['T'] =
        HINTS(HINT(0, "TERM_"), HINT(0, "ThreadSanitizer: "), HINT(0, "Timeout ("), HINT(0, "Traceback (most"),
              HINT(0, "Terminating remaining workers"), HINT(0, "Terminated"), HINT(0, "Test failure "),
              HINT(0, "There are not enough slots"), HINT(0, "Training Container Exec"), HINT(0, "Training completed"),
              HINT(9, "Failed - Training job failed"), HINT(0, "Training Completed")),
    ['R'] = HINTS(HINT(0, "Reporting training S"), HINT(0, "Reporting training F")),
    ['q'] = HINTS(HINT(0, "qmaster enforced "), HINT(3, "sigquit from a child")),
    ['_'] = HINTS(HINT(4, "exit_status"), HINT(6, "client_loop: "), HINT(0, "_hmem_dl_init"),
                  HINT(6, "'train_runtime'"), HINT(9, "raysubmit_"), HINT(6, "global_world_sizes=[")),
    ['['] = HINTS(HINT(18, "status failed cmd ["), HINT(0, "[LightGBM] [Fatal]"), HINT(0, "[after training is done]")),
    ['l'] = HINTS(HINT(0, "ligne "), HINT(5, "forrtl: severe"), HINT(12, "return code list"),
                  HINT(7, "failed liveness probe"), HINT(3, "nccl")),
    ['w'] = HINTS(HINT(11, "terminated with signal "), HINT(9, "shutdown with signal "),
                  HINT(0, "with the following error:"), HINT(7, "finish within "), HINT(9, "complete within "),
                  HINT(7, "return within "), HINT(0, "was unable to launch the "), HINT(0, "was unable to start the "),
                  HINT(0, "was unable to find the ")),
    ['p'] = HINTS(HINT(0, "panic: "), HINT(3, "no progress "), HINT(0, "peer access Device ")),
    ['d'] = HINTS(HINT(0, "died through signal "), HINT(0, "detected fatal errors"),
                  HINT(0, "detected missing heartbeats"), HINT(0, "died from signal ")),
    ['J'] = HINTS(HINT(0, "JavaScript heap out"), HINT(0, "Job was held."), HINT(0, "Job was active longer"),
                  HINT(0, "Job has gone over")),
    ['Y'] = HINTS(HINT(20, "Container killed by YARN")),
    ['j'] = HINTS(HINT(0, "java.lang.")),
    ['L'] = HINTS(HINT(7, "ERROR: LoadError"), HINT(0, "License checkout failed")),
    ['g'] = HINTS(HINT(17, "fatal error: all goroutines")),
    [','] = HINTS(HINT(7, " failed, ")),
    ['n'] = HINTS(HINT(9, " failed in ")),
    ['f'] = HINTS(HINT(12, "command not found")),
    ['X'] = HINTS(HINT(0, "Xid (PCI:")),
    [0xe8] = HINTS(HINT(0, "行 ")),
    ['Z'] = HINTS(HINT(0, "Zeile ")),
    ['@'] = HINTS(HINT(1, " @INC")),
};
#undef HINTS
#undef HINT

static bool has_hint(nsc_text t, size_t at)
{
    for (const struct hint *h = hints[(unsigned char)t.ptr[at]]; h->words; h++)
        if (at >= h->at && at - h->at + h->len <= t.len && t.ptr[at - h->at] == h->words[0] &&
            !memcmp(t.ptr + at - h->at, h->words, h->len))
            return true;
    return false;
}

/* In one pass: most lines of a job log are another program's, and hold none. */
static bool names_something(nsc_text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (hints[(unsigned char)t.ptr[i]] && has_hint(t, i))
            return true;
    return t.ptr[0] == '[' && nsc_text_find_by(t, "] Signal: ", 2) >= 0;
}

/* Which rows are worth trying: most lines of a job log are of a program that nobody here knows, and there are many of them. */
static bool is_worth_it(const struct nsc_row *row, bool named, bool counts)
{
    if (row->pattern.head.len)
        return true;
    const char *field = row->pattern.template_ + 1; /* "{count:u} ranks ...", "{:u} ..." */
    return (named && field[0] != 'c') || (counts && (field[0] == 'c' || field[1] == 'u'));
}

/* Rows that would take any line: they hold where nsc_exception_row, nsc_panic_row, speaks_as_rank or what follows (said.h) say so. */
static bool is_by_place(const struct nsc_row *row)
{
    return row->kind == NCCLSCOPE_KIND_PY_RAISED || row->kind == NCCLSCOPE_KIND_PROGRAM_GOES_ON ||
           row->kind == NCCLSCOPE_KIND_PANIC_REASON || row->kind == NCCLSCOPE_KIND_RANK_SAID ||
           row->kind == NCCLSCOPE_KIND_SAID_BEFORE;
}

/* "rank 3: ...", "[rank 3] ...", "[rank3]: ...". */
static bool speaks_as_rank(nsc_text t)
{
    size_t at = t.ptr[0] == '[' || t.ptr[0] == '(';
    return t.len > at + 6 && (t.ptr[at] == 'r' || t.ptr[at] == 'R') && !memcmp(t.ptr + at + 1, "ank", 3) &&
           (nsc_is_digit(t.ptr[at + 4]) || nsc_is_digit(t.ptr[at + 5]));
}

/* What the ncclras client counts: "7 ranks have launched ...", and the row of a group of communicators in its table. */
static bool is_of_ras(nsc_text t)
{
    static const char *const words[] = {" ranks have ", " ranks reported ", " job process", " RUNNING ", " INIT ",
                                        " FINALIZE ",   " ABORT ",          " NOCOMM ",     NULL};
    return has_any(t, words);
}

const struct nsc_row *nsc_foreign_row(ncclscope_grammar *g, nsc_text body, struct nsc_match *m)
{
    nsc_text t = nsc_text_trim(body);
    if (t.len < 6 && !nsc_text_starts(t, "^C"))
        return NULL;
    bool named = names_something(t);
    bool counts = nsc_is_digit(t.ptr[0]) && is_of_ras(t);
    bool of_rank = speaks_as_rank(t);
    if (!named && !counts && !of_rank && !strchr("RMPWrsthw#eEFmnpoG:|^", t.ptr[0]))
        return NULL;
    nsc_chars chars = nsc_chars_of(t);
    for (size_t i = 0; i < g->others.rows; i++)
        if (!(g->others.row[i].chars & ~chars) && !is_by_place(&g->others.row[i]) &&
            is_worth_it(&g->others.row[i], named, counts) &&
            nsc_pattern_match(&g->others.row[i].pattern, &g->lock, t, m))
            return &g->others.row[i];
    return of_rank ? nsc_foreign_placed(g, NCCLSCOPE_KIND_RANK_SAID, t, m) : NULL;
}

const struct nsc_row *nsc_foreign_placed(ncclscope_grammar *g, ncclscope_kind kind, nsc_text text, struct nsc_match *m)
{
    for (size_t i = 0; i < g->others.rows; i++)
        if (g->others.row[i].kind == kind && nsc_pattern_match(&g->others.row[i].pattern, &g->lock, text, m))
            return &g->others.row[i];
    return NULL;
}

nsc_text nsc_glog_time(nsc_text line)
{
    for (size_t i = 0; i + 12 < line.len && i < 200; i++) {
        if (!strchr("IWEF", line.ptr[i]) || !line.ptr[i] || !nsc_is_digit(line.ptr[i + 1]) ||
            (i && line.ptr[i - 1] != '['))
            continue;
        nsc_text t = nsc_text_from(line, i + 1);
        nsc_text day = nsc_next_word(&t), clock = nsc_next_word(&t);
        if (day.len >= 3 && day.len <= 4 && clock.len >= 8 && clock.ptr[2] == ':' && clock.ptr[5] == ':')
            return (nsc_text){day.ptr, (size_t)(clock.ptr + clock.len - day.ptr)};
    }
    return (nsc_text){NULL, 0};
}
