/* cmd_probe.c - ncclscope probe: what this machine's GPUs, links and container offer. */
#include "commands.h"
#include "live.h"
#include "opt.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

struct wanted {
    struct live from;
    const char *save;
    bool json, quiet, verbose;
};

static int save(const ncclscope_facts *f, struct output *file)
{
    struct output *out = output_or_standard(file);
    if (output_open(out))
        return EXIT_INPUT;
    int rc = ncclscope_facts_save(f, output_write, out);
    if (rc == NCCLSCOPE_ENOMEM)
        tell("", "out of memory");
    int unwritten = output_end(file, rc != NCCLSCOPE_ENOMEM);
    return rc == NCCLSCOPE_ENOMEM ? EXIT_INPUT : unwritten;
}

static bool has_finding(const ncclscope_findings *f)
{
    for (size_t i = 0; f && i < ncclscope_findings_count(f); i++)
        if (ncclscope_finding_severity(f, i) >= NCCLSCOPE_SEVERITY_WARNING)
            return true;
    return false;
}

/* The facts alone, as a model without a log: rules judge them. */
static int report(const ncclscope_facts *facts, const struct wanted *w)
{
    ncclscope_grammar *g = NULL;
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    ncclscope_error err = {0};
    int rc = ncclscope_grammar_new(&g, &err);
    rc = rc ? rc : ncclscope_scan(&m, g, NULL, 0, NULL, &err);
    if (!rc)
        ncclscope_model_facts(m, facts);
    rc = rc ? rc : ncclscope_analyse(&f, m, &err);
    int flags =
        terminal_flags() | (w->verbose ? NCCLSCOPE_REPORT_VERBOSE : 0) | (w->quiet ? NCCLSCOPE_REPORT_VERDICT : 0);
    if (!rc)
        rc = ncclscope_facts_report(m, f, w->json ? "json" : "text", terminal_columns(), flags, output_write,
                                    &standard_output);
    bool bad = has_finding(f), failed = rc && rc != NCCLSCOPE_EIO;
    if (failed)
        tell("", err.text[0] ? err.text : "out of memory");
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    ncclscope_grammar_free(g);
    return failed ? EXIT_INPUT : bad ? EXIT_FINDING : EXIT_FINE;
}

/* What NCCL's own log says of each run. The second is as its variables have it, and no fault. */
static int judge_runs(const struct wanted *w, const struct live_logs *logs)
{
    bool bad = false;
    for (int i = 0; i < LIVE_RUNS; i++) {
        ncclscope_findings *f = NULL;
        ncclscope_error err = {0};
        ncclscope_stats stats = {.size = sizeof stats};
        if (!logs->run[i] || ncclscope_model_stats(logs->run[i], 0, &stats) ||
            !stats.lines) /* it did not come so far */
            continue;
        int rc = ncclscope_analyse(&f, logs->run[i], &err);
        if (!rc && !w->json && !w->quiet) {
            printf("\nNCCL's own log of that run%s%s:\n", i ? " with " : "", i ? w->from.variables : "");
            rc = ncclscope_report(logs->run[i], f, "text", terminal_columns(),
                                  terminal_flags() | NCCLSCOPE_REPORT_VERDICT, output_write, &standard_output);
        }
        bad = bad || (!i && has_finding(f));
        ncclscope_findings_free(f);
        if (rc && rc != NCCLSCOPE_EIO)
            return EXIT_INPUT;
    }
    return bad ? EXIT_FINDING : EXIT_FINE;
}

static int probe(const struct wanted *w, struct output *saved)
{
    ncclscope_facts *f = NULL;
    struct live_logs logs = {0};
    int code = live_facts(&w->from, &f, &logs);
    if (f && w->save) { /* without a GPU too: why, and the container, may be what is asked for */
        int unsaved = save(f, saved);
        code = unsaved ? unsaved : code;
    }
    bool shown =
        f && ncclscope_facts_gpus(f) && (!code || code == EXIT_NO_PROBE) && !(w->save && !strcmp(w->save, "-"));
    if (shown) { /* also where NCCL did not run: the rest was asked, and its log may say why */
        int found = report(f, w), judged = judge_runs(w, &logs);
        code = found || judged ? (found ? found : judged) : code;
    }
    live_logs_free(&logs);
    ncclscope_facts_free(f);
    return code;
}

int cmd_probe(int argc, char **argv)
{
    struct wanted w = {0};
    const struct opt table[] = {
        {"--save", 0, "FILE", "keep the facts as JSON, for --facts here or on another machine (- is standard output)",
         NULL, &w.save},
        {"--facts", 0, "FILE", "show what such a file holds instead of asking this machine", NULL, &w.from.facts},
        LIVE_OPTIONS(w.from),
        {"--json", 0, NULL, "as JSON, schema ncclscope.probe/1", &w.json, NULL},
        {"--quiet", 'q', NULL, "the answer alone", &w.quiet, NULL},
        {"--verbose", 'v', NULL, "notes in full", &w.verbose, NULL},
        {0},
    };
    int left, parsed = opt_parse(table, argc, argv, &left);
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
    const char *wrong = live_wrong(&w.from);
    if (parsed == OPT_OK && wrong)
        tell("", wrong);
    if (parsed != OPT_OK || wrong)
        return EXIT_USAGE;
    struct output saved;
    int code = output_find(&saved, w.save) || (w.save && output_is_one_of(&saved, &w.from.facts, 1))
                   ? EXIT_INPUT
                   : probe(&w, &saved);
    output_drop(&saved);
    return code;
}
