/* apart.h - an errand in a process of its own: a crash or a hang there costs no more than what it would have told. */
#ifndef NSC_APART_H
#define NSC_APART_H

#include "probe/facts.h"

struct nsc_errand {
    const char *name;                                                                        /* as `skipped` calls it */
    void (*run)(struct ncclscope_facts *f, const struct ncclscope_facts *known, void *user); /* there */
    void (*waiting)(
        void *
            user); /* here, some ten times a second; NULL: nobody wants to know. With it, SIGINT is not for the child */
    void *user;
    int seconds; /* patience */
};

/* What it found is added to `f`; how it failed, to f->skipped. */
void nsc_ask_apart(struct ncclscope_facts *f, const struct nsc_errand *errand);

int64_t nsc_now_ms(void); /* of a clock that only goes forward */

#endif
