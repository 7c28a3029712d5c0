/* interrupt.c - INT, TERM and HUP while something long goes on. */
#include "interrupt.h"

#include "ncclscope.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static volatile sig_atomic_t came;

/* A signal that comes right before a wait for input does not interrupt it: another one follows every second. */
static void remind(int signal_number)
{
    (void)signal_number;
    alarm(1);
}

/* The next of any kind finds the system's own way. */
static void note(int signal_number)
{
    static const struct sigaction again = {.sa_handler = remind};
    came = signal_number;
    for (int i = 0; i < SIGNALS; i++)
        signal(signals[i], SIG_DFL);
    sigaction(SIGALRM, &again, NULL);
    alarm(1);
}

void interrupt_hear(void)
{
    static const struct sigaction hear = {.sa_handler = note}; /* no SA_RESTART: a wait for input must end */
    struct sigaction now;
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(signals[i], &hear, NULL);
}

int interrupt_came(void *unused)
{
    (void)unused;
    return came;
}

int unless_stopped(int rc)
{
    return rc == NCCLSCOPE_ESTOPPED ? NCCLSCOPE_OK : rc;
}
