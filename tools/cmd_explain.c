/* cmd_explain.c - ncclscope explain ID|'LINE' */
#include "commands.h"
#include "opt.h"
#include "output.h"

#include "ncclscope/model.h"

#include <stdio.h>
#include <string.h>

/* transport/shm-within-node: a word, a slash, a word, and nothing that a line of a log would have. */
static bool is_id(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-"),
           m = s[n] == '/' ? strspn(s + n + 1, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
    return n && m && !s[n + 1 + m];
}

static int explain_line(const char *line)
{
    ncclscope_grammar *g = NULL;
    int rc = ncclscope_grammar_new(&g, NULL);
    if (!rc)
        rc = ncclscope_explain_line(g, line, terminal_columns(), terminal_flags(), output_write, &standard_output);
    ncclscope_grammar_free(g);
    if (rc == NCCLSCOPE_ENOMEM)
        fprintf(stderr, "ncclscope: out of memory\n");
    if (rc == NCCLSCOPE_ENOTFOUND)
        puts("No release of NCCL from 2.3.5 to 2.32.3, and no plugin that is known, prints this line. It may be "
             "another program's, a newer NCCL's, "
             "or damaged; nothing follows from it.");
    return rc == NCCLSCOPE_ENOMEM ? EXIT_INPUT : rc == NCCLSCOPE_ENOTFOUND ? EXIT_NO_ANSWER : EXIT_FINE;
}

int cmd_explain(int argc, char **argv)
{
    const struct opt table[] = {{0}};
    int left, parsed = opt_parse(table, argc, argv, &left);
    if (parsed == OPT_HELP || (parsed == OPT_OK && left != 1)) {
        fprintf(parsed == OPT_HELP ? stdout : stderr,
                "usage: ncclscope explain ID         what a finding means, as in: ncclscope explain "
                "transport/shm-within-node\n"
                "       ncclscope explain 'LINE'     what a line of a log says and proves, which versions print it\n");
        return parsed == OPT_HELP ? EXIT_FINE : EXIT_USAGE;
    }
    if (parsed != OPT_OK)
        return EXIT_USAGE;
    if (ncclscope_explain(argv[0], output_write, &standard_output) != NCCLSCOPE_ENOTFOUND)
        return EXIT_FINE;
    if (!is_id(argv[0]))
        return explain_line(argv[0]);
    fprintf(stderr, "ncclscope: no finding has the id %s\n", argv[0]);
    return EXIT_USAGE;
}
