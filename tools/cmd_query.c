/* cmd_query.c - ncclscope query STORE [SQL|NAME]: what a store holds, asked in SQL or by the name of a question. */
#include "commands.h"
#include "opt.h"
#include "output.h"

#include "ncclscope/store.h"

#include <stdio.h>
#include <string.h>

static int list_questions(void)
{
    const char *words, *name;
    for (size_t i = 0; (name = ncclscope_store_question(i, &words)); i++)
        printf("%-20s %s\n", name, words);
    return EXIT_FINE;
}

static int tell_no_question(const char *word)
{
    enum { MOST = 64 };
    const char *names[MOST];
    char words[160];
    size_t n = 0;
    while (n < MOST && (names[n] = ncclscope_store_question(n, NULL)))
        n++;
    const char *meant = closest_word(word, names, n);
    snprintf(words, sizeof words, "no question is called that%s%s%s", meant ? "; is `" : "", meant ? meant : "",
             meant ? "` meant?" : " (`ncclscope query` lists them), and it is no SQL");
    tell(word, words);
    return EXIT_USAGE;
}

static int ask(struct output *file, const char *store, const char *question, const char *format)
{
    ncclscope_error err = {0};
    struct output *out = output_or_standard(file);
    if (output_is_one_of(out, &store, 1) || output_open(out))
        return EXIT_INPUT;
    int rc = ncclscope_store_query(store, question, format, terminal_flags(), output_write, out, &err);
    int unwritten = output_end(file, !rc);
    if (rc == NCCLSCOPE_ENOTFOUND)
        return tell_no_question(question);
    if (rc && !unwritten)
        tell(rc == NCCLSCOPE_EINVAL ? "" : store, err.text);
    return rc == NCCLSCOPE_EINVAL ? EXIT_USAGE : rc ? EXIT_INPUT : unwritten;
}

int cmd_query(int argc, char **argv)
{
    bool csv = false, json = false;
    const char *output = NULL;
    const struct opt table[] = {
        {"--csv", 0, NULL, "rows as CSV, the first line the names of the columns", &csv, NULL},
        {"--json", 0, NULL, "an object a row, a line each", &json, NULL},
        {"--output", 'o', "FILE", "write the answer there; .csv or .json in the name makes it that", NULL, &output},
        {0},
    };
    int left, parsed = opt_parse(table, argc, argv, &left);
    if (parsed == OPT_HELP) {
        puts("usage: ncclscope query [OPTION...] STORE SQL    one SELECT over the tables of docs/schema.md\n"
             "       ncclscope query [OPTION...] STORE NAME   a question that has a name\n");
        opt_help(table);
        puts("\nquestions:");
        return list_questions();
    }
    if (parsed != OPT_OK)
        return EXIT_USAGE;
    if (left < 2)
        return list_questions();
    if (left > 2 || (csv && json)) {
        fprintf(stderr, "ncclscope: %s\n",
                left > 2 ? "query takes a store and one question: quote the SQL" : "--csv and --json are two forms");
        return EXIT_USAGE;
    }
    const char *format = output_format(output, csv, json);
    struct output out;
    int code = output_find(&out, output) ? EXIT_INPUT : ask(&out, argv[0], argv[1], format);
    output_drop(&out);
    return code;
}
