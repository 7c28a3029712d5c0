/* entries.h - a document of JSON on one line to the lines of log that it holds: what Loki, Elasticsearch and `jq -c` answer with.
 *
 *   {"result":[{"stream":{"pod":"w-0"},"values":[["17...","vm:1:1 [0] NCCL INFO ..."],...]},...]}
 *   {"hits":[{"_source":{"message":"...","kubernetes":{"pod":{"name":"w-0"}}}},...]}
 *   [{"log":"..."},...]   ["...","..."]
 *   {"level":"ERROR","message":"unhandled","exc_info":"Traceback (most recent call last):\n  File ..."} */
#ifndef NSC_ENTRIES_H
#define NSC_ENTRIES_H

#include "base/text.h"

enum { NSC_LEVELS = 24 }; /* of nesting; what lies deeper is read, and has the pod of the level above it */

struct nsc_entry {
    nsc_text text, pod,
        time; /* pod and time of the object around it; len 0: it has none. Borrowed until the next call */
    bool cut; /* a piece of what turned out to be no JSON */
};

struct nsc_entries {
    nsc_text doc; /* len 0: none is being read */
    size_t at, depth;
    bool broken; /* no JSON from `at` on */
    struct nsc_container {
        size_t start;  /* of its bracket */
        size_t values; /* that went before, in a list */
        bool list, stamped, known;
        nsc_text key, pod, time; /* the key whose value comes; what the object says, once it was looked for */
    } level[NSC_LEVELS];
    char *buf;              /* the string in hand, its escapes undone */
    size_t cap, len, given; /* lines of it that were given out */
    size_t unit;            /* the list's element that the string in hand is of: a collector may say it twice in one */
    uint64_t said;
};

/* Is this line such a document, with more than one entry, or with a traceback? From then on nsc_entries_next gives them. */
bool nsc_entries_begin(struct nsc_entries *e, nsc_text line);
/* The next line of an entry; false behind the last. */
bool nsc_entries_next(struct nsc_entries *e, struct nsc_entry *out);
void nsc_entries_free(struct nsc_entries *e);

#endif
