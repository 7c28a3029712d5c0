/* term.c - what the commands share: how wide output is, which inputs could not be read, whose rows are added. */
#include "commands.h"
#include "interrupt.h"
#include "output.h"

#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const ncclscope_scan_options reading = {.size = sizeof reading, .stop = interrupt_came};

int terminal_columns(void)
{
    struct winsize w;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col >= 40)
        return w.ws_col < 120 ? w.ws_col : 120;
    return 80;
}

int terminal_flags(void)
{
    return !strcmp(nl_langinfo(CODESET), "UTF-8") ? 0 : NCCLSCOPE_REPORT_ASCII;
}

/* Names of files and texts of inputs may hold what moves a terminal. */
static void put_harmless(const char *text)
{
    struct output to = {.fd = STDERR_FILENO};
    ncclscope_write_harmless(text, terminal_flags(), output_write, &to);
}

/* Of a line of that file, 0: of the whole. */
static void tell_at(const char *name, uint64_t line, const char *text)
{
    fputs("ncclscope: ", stderr);
    put_harmless(name);
    if (line)
        fprintf(stderr, ":%llu", (unsigned long long)line);
    fputs(*name ? ": " : "", stderr);
    put_harmless(text);
    fputc('\n', stderr);
}

void tell(const char *name, const char *text)
{
    tell_at(name, 0, text);
}

bool tell_problems(const ncclscope_model *m)
{
    bool any = false;
    const char *name;
    for (size_t i = 0; (name = ncclscope_model_source_name(m, i)); i++) {
        if (!*ncclscope_model_problem(m, i))
            continue;
        tell(strcmp(name, "-") ? name : "standard input", ncclscope_model_problem(m, i));
        any = true;
    }
    return any;
}

bool add_patterns(ncclscope_grammar *g, const char *path)
{
    ncclscope_error err = {0};
    if (ncclscope_grammar_add_file(g, path, &err) == NCCLSCOPE_OK)
        return false;
    tell_at(path, err.line, err.text);
    return true;
}

void tell_slow_patterns(const ncclscope_grammar *g)
{
    uint64_t lines;
    const char *name;
    for (size_t i = 0; (name = ncclscope_grammar_slow(g, i, &lines)); i++)
        fprintf(stderr, "ncclscope: the row %s took too long, and was given up, %llu time%s\n", name,
                (unsigned long long)lines, lines == 1 ? "" : "s");
}
