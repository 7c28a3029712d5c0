/* progress.c - how far a long reading is: "  1.2 of 4.0 GB   820 MB/s   4 s left   12 of 40 inputs". */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What regular files hold is known; a pipe is told by what came of it so far. */
static void show(void *user, const ncclscope_scan_progress *how)
{
    static const double shown_from = 0.5, mb = 1e6;
    struct progress *p = user;
    double seconds = now() - p->began, read = (double)how->bytes, all = (double)how->bytes_all;
    if (seconds < shown_from)
        return;
    fprintf(stderr, "\r%.0f", read / mb);
    if (all > 0)
        fprintf(stderr, " of %.0f", all / mb);
    fprintf(stderr, " MB   %.0f MB/s", read / mb / seconds);
    if (all > read && read > 0)
        fprintf(stderr, "   %.0f s left", (all - read) / read * seconds);
    if (how->inputs_all > 1)
        fprintf(stderr, "   %llu of %llu inputs", (unsigned long long)how->inputs, (unsigned long long)how->inputs_all);
    fputs("\033[K", stderr);
    fflush(stderr);
    p->shown = true;
}

void progress_follow(struct progress *p, ncclscope_scan_options *o)
{
    *p = (struct progress){.began = now()};
    if (!isatty(STDERR_FILENO))
        return;
    o->progress = show;
    o->user = p; /* which interrupt_came does not look at */
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
