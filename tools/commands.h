/* commands.h - the commands, their exit codes, and what they share. */
#ifndef COMMANDS_H
#define COMMANDS_H

enum {
    EXIT_FINE = 0,
    EXIT_FINDING = 1, /* a finding at or above --fail-on */
    EXIT_USAGE = 2,
    EXIT_INPUT = 3,    /* an input could not be read, or is damaged as a file */
    EXIT_NO_ANSWER = 4 /* no NCCL line, or the log cannot tell */
};

int cmd_scan(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* Writes to a FILE; a write function of the library. */
int write_to_file(void *file, const char *bytes, unsigned long size);

#endif
