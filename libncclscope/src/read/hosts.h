/* hosts.h - names of hosts that clean headers showed, to mend those of damaged ones. */
#ifndef NSC_HOSTS_H
#define NSC_HOSTS_H

#include "read/header.h"

enum { NSC_HOST_PROCESSES = 256, NSC_HOST_LENGTH = 64, NSC_HOST_NAMES = 64, NSC_HOST_TAIL = 3 };

/* A process seen with a clean header: says where its host name begins when text is glued to it. */
struct nsc_known_host {
    int64_t tid; /* of the last line */
    int64_t pid;
    unsigned seen; /* lines */
    size_t len;
    char host[NSC_HOST_LENGTH];
};

struct nsc_hosts {
    struct nsc_known_host known[NSC_HOST_PROCESSES]; /* by pid */
    struct nsc_known_host name[NSC_HOST_NAMES];      /* whatever their process */
    size_t names;
};

/* "...:78:108 [0] NCCL INFO": whoever posted the lines left the name out. */
bool nsc_is_elided(nsc_text host);
/* The name that this process has on other lines, if it is known; else the host as it stands. */
nsc_text nsc_hosts_whole(struct nsc_hosts *hosts, const struct nsc_header *h);
void nsc_hosts_learn(struct nsc_hosts *hosts, const struct nsc_header *h);
void nsc_hosts_learn_name(struct nsc_hosts *hosts, nsc_text host);
/* "... via P2P/CUMEMvm:831:831 [0]": no line end was between two records. The longest host name that is known and could stand there. */
size_t nsc_hosts_at_end(const struct nsc_hosts *hosts, nsc_text host);
/* "node-3: [2023-09-06 00:17:33] ...": the host that pdsh and the like put before the lines of its processes, if it is known; or len 0. */
nsc_text nsc_hosts_label(const struct nsc_hosts *hosts, nsc_text line);
/* Text of another writer may be glued to the host: "delay 0vm:830:830"; or the beginning of the line is lost: "m:830:830" (then
 * true). The process is known; its host is what it always was. At the beginning of a line one line more must have said so: either
 * may be the damaged one. A process number that no Linux has is mended, too (then true). Of a process that was not seen yet it is a known host behind the beginning of one. `behind` another record of its line both may be: "...RankCoode1:12:12 [0]" of node1. */
bool nsc_hosts_mend(struct nsc_hosts *hosts, struct nsc_header *h, bool behind);

#endif
