/* apart.c - fork, ask, and send the facts home through a pipe, as the JSON that they are saved as. */
#include "probe/apart.h"

#include "base/neutral.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

int64_t nsc_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool nsc_bury(int child, int *status, int ms)
{
    int64_t end = nsc_now_ms() + ms;
    *status = 0;
    for (;;) {
        pid_t gone = waitpid(child, status, WNOHANG);
        if (gone == child || (gone < 0 && errno == ECHILD))
            return true;
        if (nsc_now_ms() >= end)
            return false;
        usleep(1000);
    }
}

enum { GRACE_MS = 5000 }; /* for who shall end, or was killed */

/* All that comes out of the pipe; false if the patience ends first. */
static bool read_pipe(int fd, const struct nsc_errand *errand, char **bytes, size_t *len)
{
    int64_t end = nsc_now_ms() + errand->seconds * INT64_C(1000);
    size_t cap = 0;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = end - nsc_now_ms();
        char *more = *len + 65536 > cap ? nsc_grow(*bytes, &cap, *len + 65536, 1) : *bytes;
        if (left <= 0 || !more)
            return false;
        *bytes = more;
        if (errand->waiting && errand->waiting(errand->user) && end > nsc_now_ms() + GRACE_MS)
            end = nsc_now_ms() + GRACE_MS;
        if (poll(&p, 1, errand->waiting && left > 100 ? 100 : (int)left) <= 0)
            continue;
        ssize_t n = read(fd, *bytes + *len, cap - *len);
        if (n == 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
        *len += n > 0 ? (size_t)n : 0;
    }
}

/* A driver's library may end the process itself: what the program's other streams hold is the parent's to write. */
static void leave(int status, void *unused)
{
    (void)unused;
    fflush(stdout); /* NCCL prints there */
    _exit(status);
}

void nsc_begin_child(void)
{
    __fpurge(stdout);
    __fpurge(stderr);
    on_exit(leave, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left to tell */
}

/* "4242 (ncclscope) D 4200 ...": the name may hold anything, its end is the last bracket. */
const char *nsc_held_by(int child)
{
    char path[40], line[512], *end;
    snprintf(path, sizeof path, "/proc/%d/stat", child);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    line[n > 0 ? n : 0] = 0;
    end = strrchr(line, ')');
    return end && end[1] == ' ' && end[2] == 'D'
               ? "the kernel holds it in a call of the driver's, or of another device's (state D)"
               : "it is still there seconds after it was killed";
}

static void run_in_child(const struct nsc_errand *errand, const struct ncclscope_facts *known, int fd)
{
    struct ncclscope_facts *own = nsc_facts_new();
    nsc_begin_child();
    if (errand->waiting)
        signal(SIGINT, SIG_IGN); /* whoever waits hears it, and says when to stop */
    if (own) {
        errand->run(own, known, errand->user);
        ncclscope_facts_save(own, write_to_pipe, &fd);
    }
    _exit(own && !own->no_memory ? 0 : 1);
}

bool nsc_ask_apart(struct ncclscope_facts *f, const struct nsc_errand *errand)
{
    int ends[2], status = 0;
    char *bytes = NULL;
    size_t len = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        nsc_unprobed(f, errand->name, "no pipe: %s", nsc_strerror(errno));
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_in_child(errand, f, ends[1]);
    }
    close(ends[1]);
    bool whole = child > 0 && read_pipe(ends[0], errand, &bytes, &len);
    close(ends[0]);
    bool gone = child < 0 || (whole && nsc_bury(child, &status, GRACE_MS));
    if (!gone)
        kill(child, SIGKILL);
    bool held = !gone && !nsc_bury(child, &status, GRACE_MS);
    ncclscope_error err;
    bool fine = false;
    if (child < 0)
        nsc_unprobed(f, errand->name, "no process: %s", nsc_strerror(errno));
    else if (!whole && errand->waiting)
        nsc_unprobed(f, errand->name, "the driver did not answer, and its process was ended");
    else if (!whole)
        nsc_unprobed(f, errand->name, "the driver did not answer within %d seconds", errand->seconds);
    else if (gone && WIFSIGNALED(status))
        nsc_unprobed(f, errand->name, "the driver's library crashed (signal %d)", WTERMSIG(status));
    else if (!(fine = nsc_facts_read(f, bytes, len, &err) == NCCLSCOPE_OK))
        nsc_unprobed(f, errand->name, "the driver's library ended the process that asked it (status %d)",
                     WEXITSTATUS(status));
    if (held)
        nsc_unprobed(f, errand->name, "process %d cannot be ended: %s", (int)child, nsc_held_by(child));
    nsc_free(bytes);
    return fine;
}
