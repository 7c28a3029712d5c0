/* cmd_grammar.c - ncclscope grammar: the known lines; with --coverage, what part of a log they explain. */
#include "commands.h"
#include "interrupt.h"
#include "opt.h"
#include "output.h"

#include <stdio.h>

static int finish(int rc, const ncclscope_error *err)
{
    if (rc < 0 && rc != NCCLSCOPE_EIO)
        tell("", err->text[0] ? err->text : "out of memory");
    return rc < 0 && rc != NCCLSCOPE_EIO ? EXIT_INPUT : EXIT_FINE;
}

int print_coverage(const char *const *paths, size_t n, const char *format, const char *patterns)
{
    ncclscope_grammar *g = NULL;
    ncclscope_coverage *c = NULL;
    ncclscope_error err = {0};
    bool damaged = false, empty = false;
    int rc = ncclscope_grammar_new(&g, &err);
    if (!rc && patterns && add_patterns(g, patterns)) {
        ncclscope_grammar_free(g);
        return EXIT_USAGE;
    }
    interrupt_hear();
    if (!rc)
        rc = unless_stopped(ncclscope_coverage_new(&c, g, paths, n, &reading, &err));
    if (!rc) {
        rc = ncclscope_coverage_report(c, format, terminal_columns(), terminal_flags(), output_write, &standard_output);
        damaged = tell_problems(ncclscope_coverage_model(c));
        tell_slow_patterns(g);
        empty = !ncclscope_coverage_records(c);
    }
    ncclscope_coverage_free(c);
    ncclscope_grammar_free(g);
    int exit_code = finish(rc, &err);
    return exit_code ? exit_code : damaged ? EXIT_INPUT : empty ? EXIT_NO_ANSWER : EXIT_FINE;
}

static int print_lines(const char *format, bool all)
{
    ncclscope_grammar *g = NULL;
    ncclscope_error err = {0};
    int rc = ncclscope_grammar_new(&g, &err);
    if (!rc)
        rc = ncclscope_grammar_report(g, format, all ? NCCLSCOPE_REPORT_VERBOSE : 0, output_write, &standard_output);
    ncclscope_grammar_free(g);
    return finish(rc, &err);
}

int cmd_grammar(int argc, char **argv)
{
    bool coverage = false, json = false, all = false;
    const char *patterns = NULL;
    static const char *const stdin_only[] = {"-"};
    const struct opt table[] = {
        {"--coverage", 0, NULL, "what part of the NCCL records of LOG... is understood, recognised, unknown", &coverage,
         NULL},
        {"--patterns", 0, "FILE", "with rows for lines of private plugins", NULL, &patterns},
        {"--json", 0, NULL, "as JSON", &json, NULL},
        {"--verbose", 'v', NULL, "also list the texts that are known without a meaning of their own", &all, NULL},
        {0},
    };
    int left, parsed = opt_parse(table, argc, argv, &left);
    if (parsed == OPT_HELP) {
        puts("usage: ncclscope grammar [-v] [--json]\n       ncclscope grammar --coverage [--json] [--patterns FILE] "
             "[LOG...]\n");
        opt_help(table);
        return EXIT_FINE;
    }
    if (parsed == OPT_OK && left && !coverage)
        fprintf(stderr, "ncclscope: grammar takes logs with --coverage only\n");
    if (parsed != OPT_OK || (left && !coverage))
        return EXIT_USAGE;
    if (!coverage)
        return print_lines(json ? "json" : "text", all);
    return print_coverage(left ? (const char *const *)argv : stdin_only, left ? (size_t)left : 1,
                          json ? "json" : "text", patterns);
}
