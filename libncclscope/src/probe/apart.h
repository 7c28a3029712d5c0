/* apart.h - an errand in a process of its own: a crash or a hang there costs no more than what it would have told. */
#ifndef NSC_APART_H
#define NSC_APART_H

#include "probe/facts.h"

struct nsc_errand {
    const char *name;                                                                        /* as `skipped` calls it */
    void (*run)(struct ncclscope_facts *f, const struct ncclscope_facts *known, void *user); /* there */
    /* Here, some ten times a second: true when it shall end, for which it has some seconds. NULL: nobody wants to know. With it, SIGINT is
     * not for the child. */
    bool (*waiting)(void *user);
    void *user;
    int seconds; /* patience */
};

/* What it found is added to `f`; how it failed, to f->skipped: then false. */
bool nsc_ask_apart(struct ncclscope_facts *f, const struct nsc_errand *errand);

/* First of all in a forked child: what the parent's streams hold stays the parent's, however the child ends; and it ends with the parent. */
void nsc_begin_child(void);

/* Waits for a child until it is gone, so long at most: false if it is still there, as one is that hangs in a driver even when it is killed.
 * *status is 0 where somebody else took it (SIGCHLD ignored). */
bool nsc_bury(int child, int *status, int ms);

/* What keeps a killed child: "the kernel holds it ..." where its state is that of a wait within a call, as of a driver that hangs; else only
 * that it is still there. */
const char *nsc_held_by(int child);

int64_t nsc_now_ms(void); /* of a clock that only goes forward */

#endif
