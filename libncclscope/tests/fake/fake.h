/* fake.h - plays recorded facts of a machine as the driver's libraries would tell them: NCCLSCOPE_FAKE names the file.
 *
 * NCCLSCOPE_FAKE_TROUBLE, "FUNCTION=what": that function crashes, hangs, ends the process, or returns this number; "FUNCTION@100=what": so
 * from its hundredth call on. */
#ifndef FAKE_H
#define FAKE_H

#include "probe/facts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAYED __attribute__((visibility("default")))

static struct ncclscope_facts *played;

/* clock.c's: nothing more happens here, and whoever waits sees the time pass. */
void let_time_pass(void);

static inline const struct ncclscope_facts *facts(void)
{
    ncclscope_error err;
    const char *path = getenv("NCCLSCOPE_FAKE");
    if (!played && (!path || ncclscope_facts_load(&played, path, &err)))
        abort();
    return played;
}

/* 0, or what the function shall return instead of playing. */
static inline int trouble(const char *function)
{
    const char *what = getenv("NCCLSCOPE_FAKE_TROUBLE");
    size_t n = strlen(function);
    static int calls;
    if (!what || strncmp(what, function, n) != 0 || (what[n] != '=' && what[n] != '@'))
        return 0;
    if (what[n] == '@' && ++calls < atoi(what + n + 1))
        return 0;
    what = strchr(what, '=') + 1;
    if (!strcmp(what, "crash"))
        raise(SIGSEGV);
    if (!strcmp(what, "hang"))
        for (let_time_pass();;)
            pause();
    if (!strcmp(what, "exit"))
        exit(3);
    return atoi(what);
}

/* A fact that the machine did not give is one that its driver does not support. */
#define GIVE(function, fact, out) \
    do { \
        int t_ = trouble(function); \
        if (t_ || !(fact).known) \
            return t_ ? t_ : NOT_SUPPORTED; \
        *(out) = (fact).v; \
        return 0; \
    } while (0)

static inline int give_text(const char *function, const char *text, char *out, unsigned size, int missing)
{
    int t = trouble(function);
    if (t || !text)
        return t ? t : missing;
    snprintf(out, size, "%s", text);
    return 0;
}

static inline int word_index(const char *word, const char *const *words, int count)
{
    for (int i = 0; word && i < count; i++)
        if (!strcmp(word, words[i]))
            return i;
    return -1;
}

#endif
