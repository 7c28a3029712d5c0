/* said.h - lines that no row takes and that stand right before a warning of NCCL's: what a driver or a library said of the same trouble.
 *
 *   [B200] Invalid receive WR: only a single SGE is supported
 *   vm:12:13 [0] transport/net_ib.cc:1077 NCCL WARN NET/IB : ibv_post_recv() failed with error Invalid argument */
#ifndef NSC_SAID_H
#define NSC_SAID_H

#include "base/text.h"

enum { NSC_SAID_KEPT = 6, NSC_SAID_BYTES = 200, NSC_SAID_LINES = 8 };

struct nsc_said_line {
    uint64_t number, offset;
    size_t len;
    char text[NSC_SAID_BYTES];
};

/* The last lines, and which of them are to be given out. */
struct nsc_said {
    struct nsc_said_line of[NSC_SAID_KEPT];
    size_t lines; /* kept so far; the newest overwrites the oldest */
    size_t from;  /* those before it were given out, or passed over */
    bool giving;
};

void nsc_said_keep(struct nsc_said *s, nsc_text line, uint64_t number, uint64_t offset);
/* A warning stands on this line: is there a line of trouble shortly before it that was not given out yet? */
bool nsc_said_begin(struct nsc_said *s, uint64_t number);
/* The next of them; NULL: that was all. */
const struct nsc_said_line *nsc_said_next(struct nsc_said *s, uint64_t number);

#endif
