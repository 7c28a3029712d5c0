/* opt.c - options by table. */
#include "opt.h"
#include "commands.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* "--name", "--name=value", "-n", "-n=value", "-nvalue": the option, and where the value begins that stands in the same word (else NULL). "-output"
 * is no "-o" with a value. */
static const struct opt *find(const struct opt *table, char *arg, char **value)
{
    size_t len = strcspn(arg, "=");
    for (const struct opt *o = table; o->name; o++) {
        bool is_long = strlen(o->name) == len && !strncmp(o->name, arg, len);
        bool one_dash = strlen(o->name) == len + 1 && !strncmp(o->name + 1, arg, len);
        bool is_short = o->letter && arg[1] == o->letter && (len == 2 || (o->text && !one_dash));
        if (!is_long && !is_short)
            continue;
        size_t end = is_long ? len : 2;
        *value = !arg[end] ? NULL : arg + end + (arg[end] == '=');
        return o;
    }
    return NULL;
}

/* How many letters are to be changed, put in or left out to make one of the other; as many as are of use. */
static size_t letters_apart(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t n = strlen(a), m = strlen(b), row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t k = 0; k <= m; k++)
        row[k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= m; k++) {
            size_t changed = diagonal + (a[i - 1] != b[k - 1]), out = row[k] + 1, in = row[k - 1] + 1;
            diagonal = row[k];
            row[k] = changed < out ? changed : out;
            row[k] = in < row[k] ? in : row[k];
        }
    }
    return row[m];
}

const char *closest_word(const char *word, const char *const *words, size_t n)
{
    enum { MOST = 2 };
    const char *best = NULL;
    size_t apart = MOST + 1;
    for (size_t i = 0; i < n; i++) {
        size_t now = letters_apart(word, words[i]);
        if (now < apart && now < strlen(words[i])) {
            best = words[i];
            apart = now;
        }
    }
    return best;
}

static void tell_unknown(const struct opt *table, const char *arg)
{
    enum { MOST = 64 };
    const char *names[MOST];
    char word[MOST], words[120];
    size_t n = 0, len = strcspn(arg, "=");
    for (const struct opt *o = table; o->name && n < MOST; o++)
        names[n++] = o->name;
    snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), arg);
    const char *meant = closest_word(word, names, n);
    snprintf(words, sizeof words, "unknown option%s%s%s", meant ? "; is `" : "", meant ? meant : "",
             meant ? "` meant?" : " (--help lists them)");
    tell(arg, words);
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
        char *value = NULL;
        const struct opt *o = find(table, arg, &value);
        if (!o) {
            tell_unknown(table, arg);
            return OPT_WRONG;
        }
        if ((o->on && value) || (o->text && !value && i + 1 == argc)) {
            tell(arg, o->on ? "takes no value" : "needs a value");
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
            *o->text = value ? value : argv[++i];
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
