/* cmd_merge.c - ncclscope merge STORE... -o STORE: the scans of several stores in one. */
#include "commands.h"
#include "opt.h"
#include "output.h"

#include "ncclscope/store.h"

#include <stdio.h>

static int merge(const char *into, char **stores, int n)
{
    ncclscope_error err = {0};
    ncclscope_store *s = NULL;
    int code = EXIT_FINE;
    if (ncclscope_store_open(&s, into, &err)) {
        tell(into, err.text);
        return EXIT_INPUT;
    }
    for (int i = 0; i < n; i++)
        if (ncclscope_store_merge(s, stores[i], &err)) { /* the others are taken in all the same */
            tell(stores[i], err.text);
            code = EXIT_INPUT;
        }
    ncclscope_store_close(s);
    return code;
}

int cmd_merge(int argc, char **argv)
{
    const char *into = NULL;
    const struct opt table[] = {
        {"--output", 'o', "STORE", "the store that takes them in, made if it is missing", NULL, &into},
        {0},
    };
    int left, parsed = opt_parse(table, argc, argv, &left);
    if (parsed == OPT_HELP) {
        puts("usage: ncclscope merge STORE... -o STORE\n\nPuts the scans of several stores (--db) into one: what one "
             "store "
             "would hold that all of it was scanned into.\n");
        opt_help(table);
        return EXIT_FINE;
    }
    if (parsed != OPT_OK)
        return EXIT_USAGE;
    if (!into || !left) {
        fprintf(stderr, "ncclscope: merge takes the stores to take in, and -o with the one that takes them\n");
        return EXIT_USAGE;
    }
    struct output out;
    int code = output_find(&out, into) || output_is_one_of(&out, (const char *const *)argv, (size_t)left)
                   ? EXIT_INPUT
                   : merge(into, argv, left);
    output_drop(&out);
    return code;
}
