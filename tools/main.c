/* main.c - ncclscope COMMAND: a table; without a command name it scans. */
#include "commands.h"
#include "interrupt.h"
#include "output.h"

#include "ncclscope.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *words;
} commands[] = {
    {"scan", cmd_scan, "read logs, print the report (the default command)"},
    {"explain", cmd_explain, "what a finding, or a line of a log, means, with its source"},
    {"probe", cmd_probe, "what this machine's GPUs, links and container offer (driver only, changes nothing)"},
    {"confirm", cmd_confirm, "what logs say of this machine's GPUs, against what it offers: a verdict for each pair"},
    {"fleet", cmd_fleet, "the logs of many jobs: which hosts, GPUs, releases and variables stand in findings"},
    {"query", cmd_query, "a question to a store, in SQL or by name: findings, bad-hosts, links ..."},
    {"merge", cmd_merge, "the scans of several stores in one: merge A.db B.db -o C.db"},
    {"diff", cmd_diff, "two runs (logs or stores): what changed in versions, environment, paths, findings"},
    {"grammar", cmd_grammar, "the known lines; --coverage LOG...: what part of a log they explain"},
    {"version", cmd_version, "with the versions of PCRE2, SQLite and zlib"},
};

int cmd_version(int argc, char **argv)
{
    char details[400];
    (void)argc;
    (void)argv;
    puts(ncclscope_version_details(details, sizeof details));
    return EXIT_FINE;
}

static void help(void)
{
    puts("ncclscope [scan] [INPUT...]   which path does each pair of GPUs use, is it the right one, and if not, why");
    puts("\ncommands (`ncclscope COMMAND --help` lists options):");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].words);
    puts("\nINPUT: log files, packed or plain, directories, archives, - for standard input (also without INPUT); a "
         "store\n       (its last scan), or one of its scans: runs.db:3.");
    puts("exit: 0 fine, 1 findings, 2 usage, 3 an input could not be read, 4 the log cannot tell, 5 no GPU here,\n     "
         " 6 log and machine contradict each other");
}

/* "dif", "qurey": a first word that names no file, and would be none. */
static bool is_slip(const char *word)
{
    const char *names[sizeof commands / sizeof commands[0]];
    if (word[0] == '-' || strpbrk(word, "./") || access(word, F_OK) == 0)
        return false;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        names[i] = commands[i].name;
    const char *meant = closest_word(word, names, sizeof names / sizeof names[0]);
    char words[120];
    snprintf(words, sizeof words, "is no command, and no file of that name is here%s%s%s", meant ? "; is `" : "",
             meant ? meant : "", meant ? "` meant?" : " (--help lists the commands)");
    tell(word, words);
    return true;
}

static int run(int argc, char **argv)
{
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))) {
        help();
        return EXIT_FINE;
    }
    if (argc > 1 && !strcmp(argv[1], "--version"))
        return cmd_version(argc, argv);
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 2, argv + 2);
    if (argc > 1 && is_slip(argv[1]))
        return EXIT_USAGE;
    return cmd_scan(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    output_guard_standard();
    signal(SIGCHLD, SIG_DFL); /* whoever started this may ignore it, and then no child could be asked how it ended */
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of writing, and ends quietly */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that grows over a limit of the shell */
    errno = 0;
    bool no_memory =
        !setlocale(LC_CTYPE, "") && errno == ENOMEM; /* a locale that is not there is no failure: ASCII then */
    if (no_memory)
        tell("", "out of memory");
    int code = no_memory ? EXIT_INPUT : run(argc, argv);
    if (output_end_standard())
        code = EXIT_INPUT;
    return interrupt_came(NULL) ? 128 + interrupt_came(NULL) : code;
}
