/* live.c - facts of this machine, measured if that is asked for, or of a file. */
#include "live.h"

#include "commands.h"
#include "interrupt.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "  ##########..........  120 of 364": on a terminal alone. */
static int show_progress(void *user, int done, int total)
{
    enum { WIDTH = 30 };
    (void)user;
    if (!isatty(STDERR_FILENO) || !total)
        return interrupt_came(NULL);
    char bar[WIDTH + 1];
    memset(bar, '.', WIDTH);
    memset(bar, '#', (size_t)(WIDTH * done / total));
    bar[WIDTH] = 0;
    fprintf(stderr, "\r  %s  %d of %d%s", bar, done, total, interrupt_came(NULL) ? ", stopping" : "");
    fflush(stderr);
    return interrupt_came(NULL);
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
    interrupt_hear();
    int rc = ncclscope_measure(f, &o, show_progress, NULL, err);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return rc;
}

/* Both runs; the second only beside variables. */
static int run_nccl(ncclscope_facts *f, const struct live *w, struct live_logs *logs, ncclscope_error *err)
{
    int rc = ncclscope_grammar_new(&logs->grammar, err);
    struct output file = {0};
    if (w->log && (output_find(&file, w->log) || output_open(output_or_standard(&file))))
        return NCCLSCOPE_EIO;
    interrupt_hear();
    for (int i = 0; i < LIVE_RUNS && !rc; i++) {
        ncclscope_nccl_options o = {.size = sizeof o,
                                    .seconds = (uint32_t)number(w->seconds),
                                    .library = w->library,
                                    .variables = i ? w->variables : NULL,
                                    .gpu_bytes = (uint64_t)number(w->memory) << 20,
                                    .keep = w->log ? output_write : NULL,
                                    .keep_user = output_or_standard(&file)};
        if (i && !w->variables)
            break;
        if (interrupt_came(NULL))
            tell(i ? w->variables : "", "stopped: NCCL was not run");
        if (interrupt_came(NULL))
            break;
        rc = ncclscope_nccl(f, &logs->run[i], logs->grammar, &o, show_progress, NULL, err);
    }
    if (output_end(&file, true) && !rc)
        rc = NCCLSCOPE_EIO;
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
