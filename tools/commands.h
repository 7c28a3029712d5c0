/* commands.h - the commands, their exit codes, and what they share. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "ncclscope/rows.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    EXIT_FINE = 0,
    EXIT_FINDING = 1, /* a finding at or above --fail-on */
    EXIT_USAGE = 2,
    EXIT_INPUT = 3,        /* an input could not be read, or is damaged as a file */
    EXIT_NO_ANSWER = 4,    /* no NCCL line, or the log cannot tell */
    EXIT_NO_PROBE = 5,     /* no GPU can be asked here */
    EXIT_CONTRADICTION = 6 /* log and machine contradict each other */
};

int cmd_scan(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_fleet(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_confirm(int argc, char **argv);
int cmd_grammar(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* How commands read: INT, TERM and HUP end it, and what was read is reported. */
extern const ncclscope_scan_options reading;
/* For text: the terminal's width, or 80; ASCII only where the locale is not UTF-8 (call setlocale first). */
int terminal_columns(void);
int terminal_flags(void);
/* `ncclscope grammar --coverage`, and `scan --unknown`: reads, prints, returns the exit code. */
int print_coverage(const char *const *paths, size_t n, const char *format, const char *patterns);
/* Of `n` words, the one that somebody may have meant who wrote `word`: a letter or two apart; NULL: none. */
const char *closest_word(const char *word, const char *const *words, size_t n);
/* Adds the rows of a pattern file; true when something is wrong with it, told on stderr. */
bool add_patterns(ncclscope_grammar *g, const char *path);
/* After reading: which of them were too slow for some lines. */
void tell_slow_patterns(const ncclscope_grammar *g);
/* "ncclscope: name: text" on stderr, harmless to a terminal; name "": without it. */
void tell(const char *name, const char *text);
/* Tells each input that could not be read whole on stderr; was there one? */
bool tell_problems(const ncclscope_model *m);

#endif
