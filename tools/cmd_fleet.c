/* cmd_fleet.c - ncclscope fleet DIR...: which hosts, GPUs, releases and variables stand in the findings of many jobs. */
#include "commands.h"
#include "interrupt.h"
#include "opt.h"
#include "output.h"
#include "progress.h"

#include "ncclscope/fleet.h"
#include "ncclscope/jobs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int count_jobs(ncclscope_fleet *fleet, const ncclscope_jobs *j, bool *damaged, ncclscope_error *err)
{
    int rc = NCCLSCOPE_OK;
    for (size_t i = 0; !rc && i < ncclscope_jobs_count(j); i++) {
        ncclscope_model *m = NULL;
        ncclscope_findings *f = NULL;
        rc = ncclscope_job_model(&m, j, i, err);
        rc = rc ? rc : ncclscope_analyse(&f, m, err);
        rc = rc ? rc : ncclscope_fleet_add(fleet, ncclscope_job_name(j, i), m, f, err);
        *damaged = (!rc && tell_problems(m)) || *damaged;
        ncclscope_findings_free(f);
        ncclscope_model_free(m);
    }
    return rc;
}

static int report(struct output *file, const ncclscope_fleet *fleet, const char *format)
{
    struct output *out = output_or_standard(file);
    if (output_open(out))
        return EXIT_INPUT;
    int rc = ncclscope_fleet_report(fleet, format, terminal_columns(), terminal_flags(), output_write, out);
    if (rc == NCCLSCOPE_ENOMEM)
        tell("", "out of memory");
    int unwritten = output_end(file, rc != NCCLSCOPE_ENOMEM);
    return rc == NCCLSCOPE_ENOMEM ? EXIT_INPUT : unwritten;
}

static int run(struct output *out, const char *const *paths, size_t n, const char *by, const char *format)
{
    ncclscope_error err = {0};
    ncclscope_grammar *g = NULL;
    ncclscope_jobs *j = NULL;
    ncclscope_fleet *fleet = NULL;
    struct progress progress = {0};
    ncclscope_scan_options how = reading;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    bool damaged = false;
    int code = EXIT_INPUT;
    how.jobs = cores > 1 ? (uint32_t)cores : 1;
    progress_follow(&progress, &how);
    interrupt_hear();
    int rc = ncclscope_grammar_new(&g, &err);
    rc = rc ? rc : unless_stopped(ncclscope_jobs_scan(&j, g, paths, n, by ? by : "auto", &how, &err));
    progress_end(&progress);
    rc = rc ? rc : ncclscope_fleet_new(&fleet, &err);
    rc = rc ? rc : count_jobs(fleet, j, &damaged, &err);
    if (rc)
        tell(rc == NCCLSCOPE_EPATTERN ? "--group-by" : "", err.text);
    else
        code = report(out, fleet, format);
    ncclscope_fleet_free(fleet);
    ncclscope_jobs_free(j);
    ncclscope_grammar_free(g);
    return rc == NCCLSCOPE_EPATTERN ? EXIT_USAGE : code == EXIT_FINE && damaged ? EXIT_INPUT : code;
}

int cmd_fleet(int argc, char **argv)
{
    bool csv = false, json = false;
    const char *output = NULL, *by = NULL;
    const struct opt table[] = {
        {"--group-by", 0, "WHAT", "what one job is: auto (default), file, dir, or what REGEX finds in a path", NULL,
         &by},
        {"--csv", 0, NULL, "as CSV", &csv, NULL},
        {"--json", 0, NULL, "as JSON, schema ncclscope.fleet/1", &json, NULL},
        {"--output", 'o', "FILE", "write it there; .csv or .json in the name makes it that", NULL, &output},
        {0},
    };
    int left, parsed = opt_parse(table, argc, argv, &left);
    if (parsed == OPT_HELP || (parsed == OPT_OK && !left)) {
        fprintf(parsed == OPT_HELP ? stdout : stderr,
                "usage: ncclscope fleet [OPTION...] INPUT...\n\nReads the logs of many jobs (folders, archives), and "
                "says which hosts, GPUs, releases "
                "of NCCL and variables\nstand in findings more often than chance has it.\n\n");
        if (parsed == OPT_HELP)
            opt_help(table);
        return parsed == OPT_HELP ? EXIT_FINE : EXIT_USAGE;
    }
    if (parsed != OPT_OK)
        return EXIT_USAGE;
    if (csv && json) {
        fprintf(stderr, "ncclscope: --csv and --json are two forms\n");
        return EXIT_USAGE;
    }
    const char *format = output_format(output, csv, json);
    struct output out;
    int code = output_find(&out, output) || output_is_one_of(&out, (const char *const *)argv, (size_t)left)
                   ? EXIT_INPUT
                   : run(&out, (const char *const *)argv, (size_t)left, by, format);
    output_drop(&out);
    return code;
}
