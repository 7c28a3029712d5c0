/* header.h - where a record begins in a line, and who speaks: host:pid:tid [dev] NCCL INFO msg. */
#ifndef NSC_HEADER_H
#define NSC_HEADER_H

#include "base/text.h"

struct nsc_header {
    size_t start;   /* of the host; of the marker when the header is damaged */
    size_t marker;  /* of "NCCL INFO" */
    size_t message; /* behind it and one blank */
    int level;      /* enum ncclscope_level */
    bool whole;
    bool
        stripped; /* not whole, and what is left is no other writer's: "[1] NCCL WARN ...", "host:pid [0] init.cc:738 NCCL WARN ..." */
    nsc_text host, location;
    int64_t pid, tid, dev; /* -1: not there */
};

/* The next marker at or behind `from`, and the header read backwards from it; what stands left of `from` is not looked at. */
bool nsc_header_find(nsc_text line, size_t from, struct nsc_header *out);

enum { NSC_HEADERS = 256, NSC_HEADER_BYTES = 96 };

/* Headers that came, whole and at INFO: those of a thread are alike byte for byte. */
struct nsc_header_memo {
    struct {
        char text[NSC_HEADER_BYTES];
        size_t len;
        struct nsc_header h;
    } of[NSC_HEADERS]; /* each at a place that its process, thread and device give */
};

/* Does a header stand at `from` that lines had before, where what stands before it makes it no other one? That header. */
bool nsc_header_known(const struct nsc_header_memo *memo, nsc_text line, size_t from, struct nsc_header *out);
/* nsc_header_find from the beginning of the line on, and faster. */
bool nsc_header_find_again(struct nsc_header_memo *memo, nsc_text line, struct nsc_header *out);

/* A header with no marker behind it: host:pid:tid [dev], then nothing, or another writer's text; `marker` is where that begins. */
bool nsc_header_bare(nsc_text line, size_t from, struct nsc_header *out);
/* "NCCL I" of "NCCL IINFO 11-12 ...": how much of its marker a record got out before another writer came. */
nsc_text nsc_marker_begun(nsc_text text);
/* "NCCL version 2.20.5+cuda12.4      [50/1900]" was copied from a screen in tmux's copy mode, which says there where it stands: without that. */
nsc_text nsc_without_screen(nsc_text line);
/* Is the whole line a version line: "NCCL version 2.18.3+cuda12.2"? */
bool nsc_is_version_line(nsc_text line);

#endif
