/* transport.h - the text behind "via": which transport, and how. */
#ifndef NSC_TRANSPORT_H
#define NSC_TRANSPORT_H

#include "read/pattern.h"

enum nsc_family { NSC_P2P = 1, NSC_SHM, NSC_NET, NSC_COLLNET };
enum nsc_transport_row {
    NSC_VIA_CUT = 0,
#define TRANSPORT(NAME, family, template_, example) NSC_VIA_##NAME,
#include "transports.def"
#undef TRANSPORT
    NSC_VIA_COUNT
};

struct nsc_via {
    int row, family; /* enum nsc_transport_row, enum nsc_family; 0: cut short */
    bool read, copy_engine, gdrdma;
    nsc_text text, network;      /* text: without what RCCL adds behind it */
    int64_t net_dev, proxy_rank; /* -1: not said */
    nsc_text comm;               /* RCCL names the communicator: "0x55..", else len 0 */
    int64_t nranks;              /* and its size; -1: not said */
};

enum { NSC_VIA_CACHE = 64, NSC_VIA_KEPT = 80 };

/* Parsed texts by hash: a log holds millions of connection lines and a dozen spellings. One per reader. */
struct nsc_via_cache {
    struct nsc_pattern pattern[NSC_VIA_COUNT];
    pthread_mutex_t lock;
    struct nsc_match match;
    struct nsc_via_kept {
        uint64_t hash;
        size_t len;
        char text[NSC_VIA_KEPT];
        struct nsc_via via;
    } kept[NSC_VIA_CACHE];
};

int nsc_via_cache_init(struct nsc_via_cache *c);
void nsc_via_cache_free(struct nsc_via_cache *c);
/* Borrowed until the next call. `text` is everything behind "via ". */
const struct nsc_via *nsc_via_parse(struct nsc_via_cache *c, nsc_text text);
/* The same for the `via` field of a match, whose fields stay as they were; not kept. */
void nsc_via_parse_once(struct nsc_via_cache *c, const struct nsc_match *connect, struct nsc_via *out);

#endif
