/* cmd_probe.c - ncclscope probe: what this machine's GPUs, links and container offer. */
#include "commands.h"
#include "ncclscope/probe.h"
#include "opt.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wanted {
    const char *save, *facts, *seconds, *pairs, *memory;
    bool measure, json, quiet, verbose;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
    signal(SIGINT, SIG_DFL); /* the second time it ends at once */
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

static int measure(ncclscope_facts *f, const struct wanted *w, ncclscope_error *err)
{
    ncclscope_measure_options o = {.size = sizeof o,
                                   .seconds = (uint32_t)number(w->seconds),
                                   .pairs = w->pairs,
                                   .gpu_bytes = (uint64_t)number(w->memory) << 20};
    signal(SIGINT, interrupt);
    int rc = ncclscope_measure(f, &o, show_progress, NULL, err);
    signal(SIGINT, SIG_DFL);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return rc;
}

/* Written whole or not at all: next to the name, then renamed. */
static int save(const ncclscope_facts *f, const char *path)
{
    char part[4096];
    if (!strcmp(path, "-"))
        return ncclscope_facts_save(f, write_to_file, stdout) || fflush(stdout) ? EXIT_INPUT : EXIT_FINE;
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "wbe");
    bool fine = file && ncclscope_facts_save(f, write_to_file, file) == NCCLSCOPE_OK;
    fine = file && fclose(file) == 0 && fine && rename(part, path) == 0;
    if (fine)
        return EXIT_FINE;
    fprintf(stderr, "ncclscope: cannot write the facts: %s\n", strerror(errno));
    if (file)
        remove(part);
    return EXIT_INPUT;
}

/* The facts alone, as a model without a log: rules judge them. */
static int report(const ncclscope_facts *facts, const struct wanted *w)
{
    ncclscope_grammar *g = NULL;
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    ncclscope_error err = {0};
    bool bad = false;
    int rc = ncclscope_grammar_new(&g, &err);
    rc = rc ? rc : ncclscope_scan(&m, g, NULL, 0, &err);
    if (!rc)
        ncclscope_model_facts(m, facts);
    rc = rc ? rc : ncclscope_analyse(&f, m, &err);
    errno = 0;
    int flags =
        terminal_flags() | (w->verbose ? NCCLSCOPE_REPORT_VERBOSE : 0) | (w->quiet ? NCCLSCOPE_REPORT_VERDICT : 0);
    if (!rc)
        rc = ncclscope_facts_report(m, f, w->json ? "json" : "text", terminal_columns(), flags, write_to_file, stdout);
    for (size_t i = 0; f && i < ncclscope_findings_count(f); i++)
        bad = bad || ncclscope_finding_severity(f, i) >= NCCLSCOPE_WARNING;
    bool unwritten = fflush(stdout) != 0 || rc == NCCLSCOPE_EIO;
    if (unwritten && errno != EPIPE)
        fprintf(stderr, "ncclscope: cannot write the report: %s\n", strerror(errno));
    else if (rc && !unwritten)
        tell("", err.text[0] ? err.text : "out of memory");
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    ncclscope_grammar_free(g);
    return (unwritten && errno != EPIPE) || (rc && !unwritten) ? EXIT_INPUT : bad ? EXIT_FINDING : EXIT_FINE;
}

static int probe(const struct wanted *w)
{
    ncclscope_facts *f = NULL;
    ncclscope_error err = {0};
    int rc = w->facts ? ncclscope_facts_load(&f, w->facts, &err) : ncclscope_probe(&f, &err), code;
    if (w->facts && rc) {
        tell(w->facts, err.text);
        return EXIT_INPUT;
    }
    if (!rc && !ncclscope_facts_gpus(f)) { /* saved where no GPU could be asked: nothing to call fine */
        tell(w->facts, "these facts name no GPU: what they were saved from could not be asked for one");
        ncclscope_facts_free(f);
        return EXIT_NO_PROBE;
    }
    if (!rc && w->measure)
        rc = measure(f, w, &err);
    if (rc)
        tell("", err.text);
    if (rc == NCCLSCOPE_EINVAL) {
        ncclscope_facts_free(f);
        return EXIT_USAGE;
    }
    code = w->save && f ? save(f, w->save)
                        : EXIT_FINE; /* without a GPU too: why, and the container, may be what is asked for */
    if (rc && !code)
        code = rc == NCCLSCOPE_EUNSUPPORTED ? EXIT_NO_PROBE : EXIT_INPUT;
    if (!code && !(w->save && !strcmp(w->save, "-")))
        code = report(f, w);
    ncclscope_facts_free(f);
    return code;
}

int cmd_probe(int argc, char **argv)
{
    struct wanted w = {0};
    const struct opt table[] = {
        {"--save", 0, "FILE", "keep the facts as JSON, for --facts here or on another machine (- is standard output)",
         NULL, &w.save},
        {"--facts", 0, "FILE", "show what such a file holds instead of asking this machine", NULL, &w.facts},
        {"--measure", 0, NULL, "measure pairs of GPUs too: takes some memory on each, verifies the data, frees it",
         &w.measure, NULL},
        {"--seconds", 0, "N", "with --measure: stop after so long (90)", NULL, &w.seconds},
        {"--pairs", 0, "A-B,...", "with --measure: these alone, both ways, GPUs as nvidia-smi counts them", NULL,
         &w.pairs},
        {"--memory", 0, "MIB", "with --measure: at most this much of each GPU (512)", NULL, &w.memory},
        {"--json", 0, NULL, "as JSON, schema ncclscope.probe/1", &w.json, NULL},
        {"--quiet", 'q', NULL, "the answer alone", &w.quiet, NULL},
        {"--verbose", 'v', NULL, "notes in full", &w.verbose, NULL},
        {0},
    };
    int left, parsed = opt_parse(table, argc, argv, &left);
    setlocale(LC_CTYPE, "");
    if (parsed == OPT_HELP || (parsed == OPT_OK && left)) {
        fprintf(parsed == OPT_HELP ? stdout : stderr,
                "usage: ncclscope probe [OPTION...]\n\nWhat this machine's GPUs, "
                "links and container offer. Only the driver is "
                "needed, and nothing is changed.\nExit: 0 nothing is wrong, 1 "
                "something is, 2 usage, 3 a file could not be read or "
                "written, 5 no GPU can be asked here, or the facts name none.\n\n");
        if (parsed == OPT_HELP)
            opt_help(table);
        return parsed == OPT_HELP ? EXIT_FINE : EXIT_USAGE;
    }
    const char *wrong = number(w.seconds) < 0 || number(w.memory) < 0 ? "--seconds and --memory take a number from 1 on"
                        : w.measure && w.facts                        ? "--facts asks no machine that could be measured"
                        : !w.measure && (w.seconds || w.pairs || w.memory)
                            ? "--seconds, --pairs and --memory go with --measure"
                            : NULL;
    if (parsed == OPT_OK && wrong)
        tell("", wrong);
    return parsed == OPT_OK && !wrong ? probe(&w) : EXIT_USAGE;
}
