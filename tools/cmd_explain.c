/* cmd_explain.c - ncclscope explain ID */
#include "commands.h"
#include "opt.h"

#include "ncclscope/model.h"

#include <stdio.h>

int cmd_explain(int argc, char **argv)
{
    const struct opt table[] = {{0}};
    int left, parsed = opt_parse(table, argc, argv, &left);
    if (parsed == OPT_HELP || (parsed == OPT_OK && left != 1)) {
        fprintf(parsed == OPT_HELP ? stdout : stderr,
                "usage: ncclscope explain ID     (as in: ncclscope explain transport/shm-within-node)\n");
        return parsed == OPT_HELP ? EXIT_FINE : EXIT_USAGE;
    }
    if (parsed != OPT_OK)
        return EXIT_USAGE;
    if (ncclscope_explain(argv[0], write_to_file, stdout) != NCCLSCOPE_ENOTFOUND)
        return EXIT_FINE;
    fprintf(stderr, "ncclscope: no finding has the id %s\n", argv[0]);
    return EXIT_USAGE;
}
