/* wait.c - a wait that ends by itself. */
#include "base/wait.h"

#include <time.h>

void nsc_wait_a_little(pthread_cond_t *changed, pthread_mutex_t *lock)
{
    enum { LONGEST_MS = 50 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LONGEST_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(changed, lock, &until);
}
