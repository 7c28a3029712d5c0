/* opt.h - a command's options as a table: parsed, and printed as help, from the same rows. */
#ifndef OPT_H
#define OPT_H

#include <stdbool.h>
#include <stddef.h>

struct opt {
    const char *name;  /* "--json" */
    char letter;       /* 'j', or 0 */
    const char *value; /* name of its value in the help, NULL for a switch */
    const char *words;
    bool *on;          /* a switch sets this */
    const char **text; /* a value goes here; a second one is refused: it would silently undo the first */
};

enum { OPT_OK = 0, OPT_HELP = 1, OPT_WRONG = 2 };

/* Options anywhere; what is left over stays in argv[0 .. *left). A "--" ends the options. OPT_WRONG was told on stderr. */
int opt_parse(const struct opt *table, int argc, char **argv, int *left);
void opt_help(const struct opt *table);

#endif
