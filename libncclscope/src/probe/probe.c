/* probe.c - all probes in their order. The driver's libraries are asked in a child process each: a crash or a hang there costs no more
 * than what they would have said. */
#include "probe/probes.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 30 }; /* a driver that has to wake up 8 GPUs takes some 2 s */

static const struct {
    const char *name;
    void (*collect)(struct ncclscope_facts *f, const struct ncclscope_facts *known);
    bool apart; /* in a process of its own */
} probes[] = {
    {"node", nsc_probe_node, false},
    {"nvml", nsc_probe_nvml, true},
    {"cuda", nsc_probe_cuda, true},
    {"pci", nsc_probe_pci, false},
};

static int write_to_pipe(void *user, const char *bytes, size_t size)
{
    int fd = *(int *)user;
    while (size) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR)
            return -1;
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* All that comes out of the pipe; false if the patience ends first. */
static bool read_pipe(int fd, char **bytes, size_t *len)
{
    int64_t end = now_ms() + PATIENCE_SECONDS * 1000;
    size_t cap = 0;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = end - now_ms();
        char *more = *len + 65536 > cap ? nsc_grow(*bytes, &cap, *len + 65536, 1) : *bytes;
        if (left <= 0 || !more)
            return false;
        *bytes = more;
        if (poll(&p, 1, (int)left) <= 0)
            continue;
        ssize_t n = read(fd, *bytes + *len, cap - *len);
        if (n == 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
        *len += n > 0 ? (size_t)n : 0;
    }
}

static void ask_in_child(size_t i, const struct ncclscope_facts *known, int fd)
{
    struct ncclscope_facts *own = nsc_facts_new();
    if (own) {
        probes[i].collect(own, known);
        ncclscope_facts_save(own, write_to_pipe, &fd);
    }
    _exit(own && !own->no_memory ? 0 : 1);
}

static void ask_apart(struct ncclscope_facts *f, size_t i)
{
    int ends[2], status = 0;
    char *bytes = NULL;
    size_t len = 0;
    if (pipe(ends) != 0) {
        nsc_unprobed(f, probes[i].name, "no pipe: %s", strerror(errno));
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        ask_in_child(i, f, ends[1]);
    }
    close(ends[1]);
    bool whole = child > 0 && read_pipe(ends[0], &bytes, &len);
    close(ends[0]);
    if (child > 0 && !whole)
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    ncclscope_error err;
    if (child < 0)
        nsc_unprobed(f, probes[i].name, "no process: %s", strerror(errno));
    else if (!whole)
        nsc_unprobed(f, probes[i].name, "the driver did not answer within %d seconds", PATIENCE_SECONDS);
    else if (WIFSIGNALED(status))
        nsc_unprobed(f, probes[i].name, "the driver's library crashed (signal %d)", WTERMSIG(status));
    else if (nsc_facts_read(f, bytes, len, &err) != NCCLSCOPE_OK)
        nsc_unprobed(f, probes[i].name, "the driver's library ended the process that asked it (status %d)",
                     WEXITSTATUS(status));
    nsc_free(bytes);
}

int ncclscope_probe(ncclscope_facts **out, ncclscope_error *err)
{
    struct ncclscope_facts *f = *out = nsc_facts_new();
    if (!f)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++)
        if (probes[i].apart)
            ask_apart(f, i);
        else
            probes[i].collect(f, f);
    if (f->no_memory)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    const char *why = f->skipped.len ? f->skipped.item[0].reason : "the driver knows of none";
    return f->gpus.len ? NCCLSCOPE_OK
                       : nsc_fail(err, NCCLSCOPE_EUNSUPPORTED, 0, "no NVIDIA GPU can be asked here: %s", why);
}
