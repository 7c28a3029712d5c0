/* output.h - the one way out of a command: standard output, or a file that is replaced whole or not at all. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "ncclscope/model.h"

#include <stdbool.h>

struct output {
    const char *name;    /* as given; NULL: standard output */
    char *target, *part; /* the file that is replaced, and the new one beside it; NULL: written to directly */
    int fd;              /* where it is open; 0: nowhere yet */
    int why;             /* errno of the first write that failed; 0 */
};

/* Standard output, for what takes a struct output. Only output_end_standard ends it. */
extern struct output standard_output;
/* Standard output where output_find was given no name, else `o` itself. */
struct output *output_or_standard(struct output *o);

/* Where `name` leads ("-" or NULL: to standard output), before anything is read: what cannot become an output is told, and 0 is not
 * returned. Nothing is made or changed yet. `o` is to be dropped or ended. */
int output_find(struct output *o, const char *name);
/* Is it the same file as this input ("-": standard input)? By device and inode, however either of them is spelled. */
bool output_is(const struct output *o, const char *input);
/* output_is for each of `n` inputs; the first that is, is told. */
bool output_is_one_of(const struct output *o, const char *const *inputs, size_t n);
/* The same of the files that a scan found, those of its directories among them. */
bool output_is_source(const struct output *o, const ncclscope_model *m);

/* "csv" or "json" where it is asked for, or the file is named so; else "text". */
const char *output_format(const char *name, bool csv, bool json);

/* Open what output_find found. Not 0: told. */
int output_open(struct output *o);
/* A write function of the library, for a struct output. */
int output_write(void *output, const char *bytes, size_t size);
/* The end of it. `whole`: all that was to be written was; else the old file stays as it is. Not 0: it could not be written, told.
 * A pipe that nobody reads any more is no failure. */
int output_end(struct output *o, bool whole);
/* When the command is over: was all of it taken? As output_end. */
int output_end_standard(void);
/* Instead of open and end, where nothing came of it. */
void output_drop(struct output *o);

/* Descriptors 0 to 2 that whoever started this has closed lead nowhere, before a file opens in their place and is written over. */
void output_guard_standard(void);

#endif
