/* wrap.h - lines that something wrapped: a collector's JSON, terminal colours, HTML entities, a web page, a runtime's pieces. */
#ifndef NSC_WRAP_H
#define NSC_WRAP_H

#include "base/text.h"

struct nsc_wrap {
    char *buf; /* the line with its wrapping removed */
    size_t cap;
    nsc_text time, pod, container; /* a collector's; borrowed from the line as given */
    char *other;                   /* as buf, for what is mended in a second attempt */
    char *message;                 /* and for a message of that line */
    size_t other_cap, message_cap;
    struct nsc_part { /* pieces of one line that a container runtime cut, of stdout and of stderr */
        char *text;
        size_t len, cap;
    } part[2];
};

/* The text inside: `line` itself where nothing is wrapped. */
nsc_text nsc_unwrap(struct nsc_wrap *w, nsc_text line);
void nsc_unwrap_nothing(struct nsc_wrap *w); /* of a line around which nothing is wrapped */
/* A second look at a line that names NCCL and has no clean header: JSON or CSV behind a prefix or within a list, tabs or
 * unbreakable blanks for blanks, markdown's backslashes, NUL bytes. False if there is nothing to undo. */
bool nsc_unwrap_more(struct nsc_wrap *w, nsc_text line, nsc_text *out);
/* What pages, tables and quotes leave behind a record that begins at `start`: "<br>", a backquote, " |", a colour. Its length without. */
size_t nsc_without_tail(nsc_text line, size_t start);
/* The same for a message that no table knows: NUL bytes behind it, an arrow that an editor drew. */
bool nsc_mend_message(struct nsc_wrap *w, nsc_text message, nsc_text *out);
/* Lines of a container runtime: "TIME stdout P TEXT" is a piece and is kept (then false), "... F TEXT" ends the line: *line is all of
 * it. Other lines stay. */
bool nsc_join_pieces(struct nsc_wrap *w, nsc_text *line);
/* At the end of the input: pieces that nothing ended. False if there are none (left). */
bool nsc_left_pieces(struct nsc_wrap *w, nsc_text *line);
/* "... via NET/Socket/0 [repeated 2x across cluster]": Ray shows one of several equal lines. Cuts that off; how many more there are. */
void nsc_take_repeated(nsc_text *message, uint64_t *more);
void nsc_wrap_free(struct nsc_wrap *w);

/* wrap_json.c, for wrap.c: the text of an object of JSON, `line` itself if it has none; and of a line whose strings hold records,
 * which names NCCL at `nccl` (false: nothing is quoted there). `w->buf` with room for this many bytes; NULL: no memory. */
nsc_text nsc_unwrap_json(struct nsc_wrap *w, nsc_text line);
bool nsc_unquote_line(struct nsc_wrap *w, nsc_text line, size_t nccl, nsc_text *out);
/* One escape of a JSON string, `s` behind the backslash, to `to`; bytes written, and of `s` used. */
size_t nsc_unescape(nsc_text s, size_t *used, char *to);
/* Does it name a level behind NCCL, or begin as a line with its version? */
bool nsc_holds_record(nsc_text s);
char *nsc_wrap_room(struct nsc_wrap *w, size_t need);

#endif
