/* lines.h - bytes in chunks to whole lines; the result does not depend on the chunks. */
#ifndef NSC_LINES_H
#define NSC_LINES_H

#include "base/text.h"

enum {
    NSC_LINE_LIMIT = 64 * 1024,            /* a longer line is given out in pieces */
    NSC_DOCUMENT_LIMIT = 256 * 1024 * 1024 /* but one that begins as JSON does is kept whole so far */
};

struct nsc_line {
    nsc_text text;                  /* without its newline and one CR before that */
    uint64_t number, offset, lines; /* lines: how many physical ones it stands for; 0: one more piece of the same */
    bool cut;                       /* at the limit, in the middle of what another piece goes on with */
    bool unended;                   /* the input ends here, without a newline */
};

struct nsc_lines {
    char *buf;
    size_t cap, start, end; /* buf[start, end) is not yet given out */
    size_t scanned;         /* buf[start, scanned) holds no newline */
    bool finished;
    bool inside; /* what lies at `start` is the rest of a line of which pieces were given out */
    uint64_t number, offset;
};

/* Room for `size` bytes at the end, to be filled and then told to nsc_lines_filled; NULL when there is no memory. */
char *nsc_lines_room(struct nsc_lines *l, size_t size);
void nsc_lines_filled(struct nsc_lines *l, size_t size);
/* The next whole line, or the rest of the input once it is finished. Borrowed until the next call of any function here. */
bool nsc_lines_next(struct nsc_lines *l, struct nsc_line *out);
/* Of a line that goes on behind NSC_LINE_LIMIT: how long its first piece is. *next: where the rest begins. Behind a carriage return, before
 * the header of a record, or wherever the limit is. */
size_t nsc_piece_of(nsc_text line, size_t *next);
/* Does it begin as a document of JSON does: {" [{ [[" [" and not as a launcher's [1,0]? */
bool nsc_begins_document(nsc_text line);
void nsc_lines_free(struct nsc_lines *l);

#endif
