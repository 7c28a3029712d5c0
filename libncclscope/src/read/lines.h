/* lines.h - bytes in chunks to whole lines; the result does not depend on the chunks. */
#ifndef NSC_LINES_H
#define NSC_LINES_H

#include "base/text.h"

enum { NSC_LINE_LIMIT = 64 * 1024 };

struct nsc_line {
    nsc_text text;                  /* without its newline and one CR before that */
    uint64_t number, offset, lines; /* lines: how many physical ones it stands for */
    bool cut;                       /* longer than NSC_LINE_LIMIT: the rest was dropped */
    bool unended;                   /* the input ends here, without a newline */
};

struct nsc_lines {
    char *buf;
    size_t cap, start, end; /* buf[start, end) is not yet given out */
    size_t scanned;         /* buf[start, scanned) holds no newline */
    bool finished;
    bool dropping; /* the line at `start` is over the limit; what comes is counted and dropped */
    uint64_t dropped, number, offset;
};

/* Room for `size` bytes at the end, to be filled and then told to nsc_lines_filled; NULL when there is no memory. */
char *nsc_lines_room(struct nsc_lines *l, size_t size);
void nsc_lines_filled(struct nsc_lines *l, size_t size);
/* The next whole line, or the rest of the input once it is finished. Borrowed until the next call of any function here. */
bool nsc_lines_next(struct nsc_lines *l, struct nsc_line *out);
void nsc_lines_free(struct nsc_lines *l);

#endif
