/* live.c - facts of this machine, measured if that is asked for, or of a file. */
#include "live.h"

#include "commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
    signal(SIGINT, SIG_DFL); /* the second time it ends at once */
}

/* Not where nobody at a terminal could have meant it: in the background SIGINT is ignored, and stays so. */
static void hear_interrupts(bool on)
{
    static const struct sigaction hear = {.sa_handler = interrupt}, dont = {.sa_handler = SIG_DFL};
    struct sigaction now;
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaction(SIGINT, on ? &hear : &dont, NULL);
}

/* "  ##########..........  120 of 364": on a terminal alone. */
static int show_progress(void *user, int done, int total)
{
    enum { WIDTH = 30 };
    (void)user;
    if (!isatty(STDERR_FILENO) || !total)
        return interrupted;
    char bar[WIDTH + 1];
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)(WIDTH * done / total));
    bar[WIDTH] = 0;
    fprintf(stderr, "\r  %s  %d of %d%s", bar, done, total, interrupted ? ", stopping" : "");
    fflush(stderr);
    return interrupted;
}

/* A number from 1 on; 0 where none is given; -1 for anything else. */
static long number(const char *text)
{
    char *end;
    long v = text ? strtol(text, &end, 10) : 0;
    return !text ? 0 : *end || end == text || v < 1 || v > 1000000 ? -1 : v;
}

static int measure(ncclscope_facts *f, const struct live *w, ncclscope_error *err)
{
    ncclscope_measure_options o = {.size = sizeof o,
                                   .seconds = (uint32_t)number(w->seconds),
                                   .pairs = w->pairs,
                                   .gpu_bytes = (uint64_t)number(w->memory) << 20};
    hear_interrupts(true);
    int rc = ncclscope_measure(f, &o, show_progress, NULL, err);
    hear_interrupts(false);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return rc;
}

/* Both runs; the second only beside variables. */
static int run_nccl(ncclscope_facts *f, const struct live *w, struct live_logs *logs, ncclscope_error *err)
{
    int rc = ncclscope_grammar_new(&logs->grammar, err);
    FILE *log = w->log ? fopen(w->log, "wbe") : NULL;
    if (w->log && !log) {
        tell(w->log, strerror(errno));
        return NCCLSCOPE_EIO;
    }
    hear_interrupts(true);
    for (int i = 0; i < LIVE_RUNS && !rc; i++) {
        ncclscope_nccl_options o = {.size = sizeof o,
                                    .seconds = (uint32_t)number(w->seconds),
                                    .library = w->library,
                                    .variables = i ? w->variables : NULL,
                                    .gpu_bytes = (uint64_t)number(w->memory) << 20,
                                    .keep = log ? write_to_file : NULL,
                                    .keep_user = log};
        if (i && !w->variables)
            break;
        if (interrupted)
            tell(i ? w->variables : "", "stopped: NCCL was not run");
        if (interrupted)
            break;
        rc = ncclscope_nccl(f, &logs->run[i], logs->grammar, &o, show_progress, NULL, err);
    }
    if (log && (ferror(log) | fclose(log)))
        tell(w->log, "could not be written whole");
    hear_interrupts(false);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return rc;
}

void live_logs_free(struct live_logs *logs)
{
    for (int i = 0; i < LIVE_RUNS; i++)
        ncclscope_model_free(logs->run[i]);
    ncclscope_grammar_free(logs->grammar);
}

const char *live_wrong(const struct live *w)
{
    bool works = w->measure || w->nccl;
    return number(w->seconds) < 0 || number(w->memory) < 0      ? "--seconds and --memory take a number from 1 on"
           : works && w->facts                                  ? "--facts asks no machine that could be measured"
           : !works && (w->seconds || w->memory)                ? "--seconds and --memory go with --measure and --nccl"
           : !w->measure && w->pairs                            ? "--pairs goes with --measure"
           : !w->nccl && (w->library || w->variables || w->log) ? "--libnccl, --env and --log go with --nccl"
                                                                : NULL;
}

int live_facts(const struct live *w, ncclscope_facts **out, struct live_logs *logs)
{
    ncclscope_error err = {0};
    ncclscope_nccl_options second = {.size = sizeof second, .variables = w->variables};
    int rc = ncclscope_nccl(NULL, NULL, NULL, &second, NULL, NULL, &err);
    if (rc) {
        tell("", err.text);
        return EXIT_USAGE;
    }
    rc = w->facts ? ncclscope_facts_load(out, w->facts, &err) : ncclscope_probe(out, &err);
    if (w->facts && rc) {
        tell(w->facts, err.text);
        return EXIT_INPUT;
    }
    if (!rc && !ncclscope_facts_gpus(*out)) { /* saved where no GPU could be asked: nothing to call fine */
        tell(w->facts, "these facts name no GPU: what they were saved from could not be asked for one");
        ncclscope_facts_free(*out);
        *out = NULL;
        return EXIT_NO_PROBE;
    }
    if (!rc && w->measure)
        rc = measure(*out, w, &err);
    if (!rc && w->nccl)
        rc = run_nccl(*out, w, logs, &err);
    if (rc && rc != NCCLSCOPE_EIO) /* else it is told */
        tell("", err.text);
    return !rc                            ? EXIT_FINE
           : rc == NCCLSCOPE_EUNSUPPORTED ? EXIT_NO_PROBE
           : rc == NCCLSCOPE_EINVAL       ? EXIT_USAGE
                                          : EXIT_INPUT;
}
