/* cmd_diff.c - ncclscope diff A B: two runs, and what is not the same in them. */
#include "commands.h"
#include "interrupt.h"
#include "opt.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

struct side {
    const char *path;
    ncclscope_model *m;
    ncclscope_findings *f;
};

static int read_side(struct side *s, ncclscope_grammar *g, ncclscope_error *err)
{
    int rc = unless_stopped(ncclscope_scan(&s->m, g, &s->path, 1, &reading, err));
    return rc ? rc : ncclscope_analyse(&s->f, s->m, err);
}

static bool has_no_records(const struct side *s)
{
    bool none = ncclscope_findings_verdict(s->f) == NCCLSCOPE_NO_NCCL_LINES;
    if (none)
        tell(s->path, "no NCCL line, nothing to compare");
    return none;
}

static int diff(struct side side[2], bool json, bool verbose)
{
    ncclscope_grammar *g = NULL;
    ncclscope_error err = {0};
    size_t differences = 0;
    bool damaged = false, empty = false;
    int rc = ncclscope_grammar_new(&g, &err);
    interrupt_hear();
    for (int i = 0; i < 2 && !rc; i++)
        rc = read_side(&side[i], g, &err);
    for (int i = 0; i < 2 && !rc; i++) {
        damaged = tell_problems(side[i].m) || damaged;
        empty = has_no_records(&side[i]) || empty;
    }
    if (!rc && !empty)
        rc = ncclscope_diff(side[0].m, side[0].f, side[1].m, side[1].f, json ? "json" : "text", terminal_columns(),
                            terminal_flags() | (verbose ? NCCLSCOPE_REPORT_VERBOSE : 0), output_write, &standard_output,
                            &differences);
    for (int i = 0; i < 2; i++) {
        ncclscope_findings_free(side[i].f);
        ncclscope_model_free(side[i].m);
    }
    ncclscope_grammar_free(g);
    if (rc && rc != NCCLSCOPE_EIO) {
        tell("", err.text[0] ? err.text : "out of memory");
        return EXIT_INPUT;
    }
    return damaged ? EXIT_INPUT : empty ? EXIT_NO_ANSWER : differences ? EXIT_FINDING : EXIT_FINE;
}

int cmd_diff(int argc, char **argv)
{
    bool json = false, verbose = false;
    const struct opt table[] = {
        {"--json", 0, NULL, "as JSON, schema ncclscope.diff/1", &json, NULL},
        {"--verbose", 'v', NULL, "all differences", &verbose, NULL},
        {0},
    };
    int left, parsed = opt_parse(table, argc, argv, &left);
    if (parsed == OPT_HELP || (parsed == OPT_OK && left != 2)) {
        fprintf(
            parsed == OPT_HELP ? stdout : stderr,
            "usage: ncclscope diff [OPTION...] A B\n\nTwo runs (logs, directories or stores): what changed. Exit: 0 "
            "nothing, 1 something, 2 usage, 3 an input\ncould not be read, 4 one of them has no NCCL line.\n\n");
        if (parsed == OPT_HELP)
            opt_help(table);
        return parsed == OPT_HELP ? EXIT_FINE : EXIT_USAGE;
    }
    if (parsed != OPT_OK)
        return EXIT_USAGE;
    if (output_is_one_of(&standard_output, (const char *const *)argv, 2))
        return EXIT_INPUT;
    struct side side[2] = {{.path = argv[0]}, {.path = argv[1]}};
    return diff(side, json, verbose);
}
