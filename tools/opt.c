/* opt.c - options by table. */
#include "opt.h"
#include "commands.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct opt *find(const struct opt *table, const char *arg, size_t len)
{
    for (const struct opt *o = table; o->name; o++) {
        bool is_long = strlen(o->name) == len && !strncmp(o->name, arg, len);
        bool is_short = len == 2 && arg[0] == '-' && o->letter && arg[1] == o->letter;
        if (is_long || is_short)
            return o;
    }
    return NULL;
}

int opt_parse(const struct opt *table, int argc, char **argv, int *left)
{
    bool ended = false;
    uint64_t given = 0; /* by place in the table */
    *left = 0;
    for (int i = 0; i < argc; i++) {
        char *arg = argv[i];
        if (ended || arg[0] != '-' || !arg[1]) {
            argv[(*left)++] = arg;
            continue;
        }
        if (!strcmp(arg, "--")) {
            ended = true;
            continue;
        }
        if (!strcmp(arg, "--help") || !strcmp(arg, "-h"))
            return OPT_HELP;
        size_t len = strcspn(arg, "=");
        const struct opt *o = find(table, arg, len);
        if (!o || (o->on && arg[len]) || (o->text && !arg[len] && i + 1 == argc)) {
            tell(arg, !o ? "unknown option (--help lists them)" : o->on ? "takes no value" : "needs a value");
            return OPT_WRONG;
        }
        if (o->text && given >> (o - table) & 1) {
            fprintf(stderr, "ncclscope: %s is given twice\n", o->name);
            return OPT_WRONG;
        }
        given |= (uint64_t)1 << (o - table);
        if (o->on)
            *o->on = true;
        else
            *o->text = arg[len] ? arg + len + 1 : argv[++i];
    }
    return OPT_OK;
}

void opt_help(const struct opt *table)
{
    for (const struct opt *o = table; o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "%c%c%s%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                 o->letter ? ", " : "  ", o->name, o->value ? " " : "", o->value ? o->value : "");
        printf("  %-28s %s\n", left, o->words);
    }
}
