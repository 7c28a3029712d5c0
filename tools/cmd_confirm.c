/* cmd_confirm.c - ncclscope confirm: what logs say of this machine's GPUs, against what it offers. */
#include "commands.h"
#include "interrupt.h"
#include "live.h"
#include "opt.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

struct wanted {
    struct live from;
    const char *patterns, *pod;
    bool json, quiet, verbose;
};

/* Of what is judged against the machine alone: `ncclscope LOG` judges the rest. */
static bool has_finding(const ncclscope_findings *f)
{
    for (size_t i = 0; i < ncclscope_findings_count(f); i++)
        if (ncclscope_finding_severity(f, i) >= NCCLSCOPE_SEVERITY_WARNING &&
            !strncmp(ncclscope_finding_id(f, i), "probe/", 6))
            return true;
    return false;
}

static int exit_code(const ncclscope_findings *f)
{
    size_t untold = ncclscope_confirmed(f, "cannot-tell"),
           good = ncclscope_confirmed(f, "as-good-as-the-hardware-allows");
    if (ncclscope_confirmed(f, "contradiction"))
        return EXIT_CONTRADICTION;
    return has_finding(f) ? EXIT_FINDING : untold || !good ? EXIT_NO_ANSWER : EXIT_FINE;
}

static int write_report(const struct wanted *w, const ncclscope_model *m, const ncclscope_findings *f)
{
    int flags =
        terminal_flags() | (w->verbose ? NCCLSCOPE_REPORT_VERBOSE : 0) | (w->quiet ? NCCLSCOPE_REPORT_VERDICT : 0);
    int rc = ncclscope_confirm_report(m, f, w->json ? "json" : "text", terminal_columns(), flags, output_write,
                                      &standard_output);
    if (!rc || rc == NCCLSCOPE_EIO)
        return EXIT_FINE;
    tell("", "out of memory");
    return EXIT_INPUT;
}

static int confirm(const struct wanted *w, const char *const *paths, size_t n)
{
    ncclscope_error err = {0};
    ncclscope_facts *facts = NULL;
    ncclscope_grammar *g = NULL;
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    struct live_logs logs = {0};
    int code = live_facts(&w->from, &facts, &logs), rc = NCCLSCOPE_OK;
    if (code == EXIT_NO_PROBE && facts &&
        ncclscope_facts_gpus(facts)) /* NCCL did not run, which is told: the rest was asked */
        code = EXIT_FINE;
    if (!code)
        rc = ncclscope_grammar_new(&g, &err);
    if (!code && !rc && w->patterns && add_patterns(g, w->patterns))
        code = EXIT_USAGE;
    interrupt_hear();
    if (!code && !rc)
        rc = unless_stopped(ncclscope_scan(&m, g, paths, n, &reading, &err));
    bool lost = false;
    if (!code && !rc && w->pod && ncclscope_model_pods(m, w->pod, &err)) {
        tell(w->pod, err.text); /* the log is judged all the same */
        lost = true;
    }
    if (!code && !rc)
        ncclscope_model_facts(m, facts);
    if (!code && !rc)
        rc = ncclscope_analyse(&f, m, &err);
    if (f) {
        bool damaged = tell_problems(m) || lost;
        code = write_report(w, m, f);
        code = code ? code : damaged ? EXIT_INPUT : exit_code(f);
    }
    if (rc) {
        tell("", err.text);
        code = EXIT_INPUT;
    }
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    ncclscope_grammar_free(g);
    live_logs_free(&logs);
    ncclscope_facts_free(facts);
    return code;
}

int cmd_confirm(int argc, char **argv)
{
    struct wanted w = {0};
    const struct opt table[] = {
        {"--facts", 0, "FILE",
         "what `ncclscope probe --save` wrote on the machine of the log, instead of asking this one", NULL,
         &w.from.facts},
        LIVE_OPTIONS(w.from),
        {"--pod", 0, "FILE", "what Kubernetes says of the pods (kubectl get pod -o json): which share a node", NULL,
         &w.pod},
        {"--patterns", 0, "FILE", "rows for lines of private plugins: name = template", NULL, &w.patterns},
        {"--json", 0, NULL, "as JSON, schema ncclscope.confirm/1", &w.json, NULL},
        {"--quiet", 'q', NULL, "the answer alone", &w.quiet, NULL},
        {"--verbose", 'v', NULL, "all pairs by name, notes in full", &w.verbose, NULL},
        {0},
    };
    int left, parsed = opt_parse(table, argc, argv, &left);
    if (parsed == OPT_HELP || (parsed == OPT_OK && !left)) {
        fprintf(parsed == OPT_HELP ? stdout : stderr,
                "usage: ncclscope confirm [OPTION...] LOG...\n\nWhat the logs of one job say of this machine's GPUs, "
                "against what "
                "the machine offers: a verdict for each pair.\nExit: 0 as good as the hardware allows, 1 slower than "
                "that, or "
                "the machine or the log is not as it should be, 2 usage,\n3 a file could not be read, 4 cannot tell, 5 "
                "no GPU "
                "can be asked here, 6 log and machine contradict each other.\n\n");
        if (parsed == OPT_HELP)
            opt_help(table);
        return parsed == OPT_HELP ? EXIT_FINE : EXIT_USAGE;
    }
    const char *wrong = live_wrong(&w.from);
    if (parsed == OPT_OK && wrong)
        tell("", wrong);
    return parsed == OPT_OK && !wrong ? confirm(&w, (const char *const *)argv, (size_t)left) : EXIT_USAGE;
}
