/* clock.c - preloaded before the tool: a clock that stands still until something hangs, so that a test waits for nothing.
 *
 * The libraries that play the driver's call let_time_pass() where the driver would never answer, or where a rank of NCCL fails and the others
 * wait for it; from then on each look at the clock finds it a second later. What is only slow (a loaded machine, a sanitizer) takes no time
 * at all. It stands again when one that hangs is killed: how long a process takes to go is the machine's. Processes that are forked share it. */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#define PLAYED __attribute__((visibility("default")))

static struct shared {
    atomic_long ms;
    atomic_bool runs;
} * clock_;
static int (*next_poll)(struct pollfd *, nfds_t, int);
static int (*next_kill)(pid_t, int);

__attribute__((constructor)) static void begin(void)
{
    void *at = mmap(NULL, sizeof *clock_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    clock_ = at == MAP_FAILED ? NULL : at;
    next_poll = dlsym(RTLD_NEXT, "poll");
    next_kill = dlsym(RTLD_NEXT, "kill");
}

PLAYED void let_time_pass(void);
PLAYED void let_time_pass(void)
{
    atomic_store(&clock_->runs, true);
}

PLAYED int clock_gettime(clockid_t which, struct timespec *out)
{
    (void)which; /* the monotonic one: the tool asks for no other */
    long ms = atomic_fetch_add(&clock_->ms, atomic_load(&clock_->runs) ? 1000 : 0);
    *out = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    return 0;
}

PLAYED int kill(pid_t whom, int with)
{
    if (with == SIGKILL)
        atomic_store(&clock_->runs, false);
    return next_kill(whom, with);
}

/* Who waits for an answer looks at the clock again soon. */
PLAYED int poll(struct pollfd *fds, nfds_t n, int ms)
{
    enum { SOON_MS = 20 };
    return next_poll(fds, n, ms > SOON_MS ? SOON_MS : ms);
}
