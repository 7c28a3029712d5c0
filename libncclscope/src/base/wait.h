/* wait.h - waits of a thread that must ask, meanwhile, whether anybody wants more. */
#ifndef NSC_WAIT_H
#define NSC_WAIT_H

#include <pthread.h>

/* As pthread_cond_wait, for a twentieth of a second at most. Whoever waits looks again at what it waits for. */
void nsc_wait_a_little(pthread_cond_t *changed, pthread_mutex_t *lock);

#endif
