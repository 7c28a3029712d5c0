/* hosts.c - names of hosts that clean headers showed, to mend those of damaged ones. */
#include "read/hosts.h"

#include <stdio.h>

static struct nsc_known_host *known_of(struct nsc_hosts *hosts, int64_t pid)
{
    return &hosts->known[(uint64_t)pid % NSC_HOST_PROCESSES];
}

bool nsc_is_elided(nsc_text host)
{
    size_t dots = 0;
    while (dots < host.len && host.ptr[dots] == '.')
        dots++;
    return (dots > 1 && dots == host.len) || nsc_text_is(host, "\xe2\x80\xa6");
}

nsc_text nsc_hosts_whole(struct nsc_hosts *hosts, const struct nsc_header *h)
{
    const struct nsc_known_host *k = known_of(hosts, h->pid);
    return nsc_is_elided(h->host) && k->pid == h->pid && k->len ? (nsc_text){k->host, k->len} : h->host;
}

/* Did a clean header show this name? Then "worker-0" is no "r-0" behind another's text: that one lost its beginning. */
static bool is_known(const struct nsc_hosts *hosts, nsc_text host)
{
    for (size_t i = 0; i < hosts->names; i++)
        if (nsc_text_eq((nsc_text){hosts->name[i].host, hosts->name[i].len}, host))
            return true;
    return false;
}

void nsc_hosts_learn_name(struct nsc_hosts *hosts, nsc_text host)
{
    if (is_known(hosts, host) || hosts->names == NSC_HOST_NAMES || host.len > NSC_HOST_LENGTH)
        return;
    hosts->name[hosts->names].len = host.len;
    memcpy(hosts->name[hosts->names++].host, host.ptr, host.len);
}

void nsc_hosts_learn(struct nsc_hosts *hosts, const struct nsc_header *h)
{
    struct nsc_known_host *k = known_of(hosts, h->pid);
    if (h->host.len > NSC_HOST_LENGTH || nsc_is_elided(h->host))
        return;
    if (k->pid == h->pid && nsc_text_eq((nsc_text){k->host, k->len}, h->host)) {
        k->tid = h->tid;
        k->seen++;
        return;
    }
    *k = (struct nsc_known_host){.pid = h->pid, .tid = h->tid, .seen = 1, .len = h->host.len};
    memcpy(k->host, h->host.ptr, k->len);
    nsc_hosts_learn_name(hosts, h->host);
}

size_t nsc_hosts_at_end(const struct nsc_hosts *hosts, nsc_text host)
{
    size_t best = 0;
    for (size_t i = 0; i < hosts->names; i++) {
        const struct nsc_known_host *k = &hosts->name[i];
        if (k->len > best && k->len >= 2 && k->len <= host.len &&
            !memcmp(host.ptr + host.len - k->len, k->host, k->len))
            best = k->len;
    }
    return best;
}

nsc_text nsc_hosts_label(const struct nsc_hosts *hosts, nsc_text line)
{
    const char *colon = line.len ? memchr(line.ptr, ':', line.len) : NULL;
    nsc_text name = {line.ptr, colon ? (size_t)(colon - line.ptr) : 0};
    bool label = name.len && name.len + 1 < line.len && line.ptr[name.len + 1] == ' ';
    return label && nsc_hosts_at_end(hosts, name) == name.len ? name : (nsc_text){NULL, 0};
}

static bool ends_with(nsc_text text, nsc_text end)
{
    return text.len > end.len && !memcmp(text.ptr + text.len - end.len, end.ptr, end.len);
}

static size_t common_end(nsc_text a, nsc_text b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.ptr[a.len - 1 - n] == b.ptr[b.len - 1 - n])
        n++;
    return n;
}

/* "[0] NCC00c0s13b1n0:1875533:1875743 [1]" of x3200c0s13b1n0: another's header broke off within NCCL's name. */
static bool is_behind_marker(nsc_text host, size_t end)
{
    static const char marker[] = "NCCL";
    size_t before = host.len - end;
    return before > 1 && before < sizeof marker && !memcmp(host.ptr, marker, before);
}

/* "x3006c0sn0" of x3006c0s25b0n0: its beginning and its end, and nothing else. worker-0 is no part of worker-10. */
static bool lacks_middle(nsc_text host, nsc_text name, size_t end)
{
    enum { LOST = 3 };
    size_t begin = 0;
    while (begin < host.len && begin < name.len && host.ptr[begin] == name.ptr[begin])
        begin++;
    return host.len + LOST <= name.len && begin && end && begin + end >= host.len;
}

/* "gcn1gcn146", where gcn146 and gcn148 speak: another's header broke off, and this one's began. How much is before it; 0: nothing. Both
 * begin alike; "node-1" is not "no" before "de-1", a name whose beginning is lost. */
static size_t broken_off(const struct nsc_hosts *hosts, nsc_text host)
{
    enum { SHORTEST = 4 };
    size_t own = nsc_hosts_at_end(hosts, host), before = host.len - own;
    if (own < SHORTEST || !before || host.ptr[0] != host.ptr[before] ||
        (before > 1 && host.ptr[1] != host.ptr[before + 1]))
        return 0;
    for (size_t i = 0; i < hosts->names; i++)
        if (before < hosts->name[i].len && !memcmp(host.ptr, hosts->name[i].host, before))
            return before;
    return 0;
}

/* "g32753896:754215 [3]" of g32n03:753896:754215 [3]: what was lost lies between host and process, and what is left looks like a host
 * and its process; or the colon alone. The thread is known, and its process stands before it. */
static bool mend_hole(struct nsc_hosts *hosts, struct nsc_header *h)
{
    if (h->whole || h->pid < 0 || is_known(hosts, h->host))
        return false;
    for (size_t before = h->host.len; before-- > 0 && nsc_is_digit(h->host.ptr[before]);) {
        int64_t pid;
        const struct nsc_known_host *k = nsc_to_i64(nsc_text_from(h->host, before), &pid) ? known_of(hosts, pid) : NULL;
        if (!k || k->pid != pid || k->tid != h->pid || before > k->len || memcmp(h->host.ptr, k->host, before) != 0)
            continue;
        h->host = (nsc_text){k->host, k->len};
        h->tid = h->pid;
        h->pid = pid;
        h->whole = true;
        return true;
    }
    return false;
}

/* "vm:162268686:1622707" of vm:1622686: no Linux has such a process. Another writer's digits came between; the thread, or all digits of the
 * process at one end, say whose it is. */
static bool mend_process(struct nsc_hosts *hosts, struct nsc_header *h)
{
    enum { MOST = 4194304 }; /* PID_MAX_LIMIT of the kernel */
    char said[24], known[24];
    size_t n = h->pid > MOST ? (size_t)snprintf(said, sizeof said, "%lld", (long long)h->pid) : 0;
    for (size_t i = 0; n && i < NSC_HOST_PROCESSES; i++) {
        const struct nsc_known_host *k = &hosts->known[i];
        if (!k->seen || k->pid > MOST || !nsc_text_eq((nsc_text){k->host, k->len}, h->host))
            continue;
        size_t own = (size_t)snprintf(known, sizeof known, "%lld", (long long)k->pid);
        bool whole = own > 3 && own < n && (!memcmp(said, known, own) || !memcmp(said + n - own, known, own));
        if (k->tid == h->tid || whole) {
            h->pid = k->pid;
            return true;
        }
    }
    return false;
}

/* What is left of the name at its end is short, but the process is one of few: only those of containers have small numbers, which several
 * hosts share. Not where all of another name that is known stands there. */
static bool is_of_one_host(const struct nsc_hosts *hosts, const struct nsc_known_host *k, nsc_text host, size_t left)
{
    enum { OF_CONTAINERS = 10000, SHORTEST = 2 };
    return left >= SHORTEST && k->pid > OF_CONTAINERS && k->seen > 1 && !nsc_hosts_at_end(hosts, host);
}

bool nsc_hosts_mend(struct nsc_hosts *hosts, struct nsc_header *h, bool behind)
{
    if (mend_hole(hosts, h) || mend_process(hosts, h))
        return true;
    const struct nsc_known_host *k = known_of(hosts, h->pid);
    nsc_text name = {k->host, k->len};
    size_t before = h->whole && k->pid != h->pid ? broken_off(hosts, h->host) : 0;
    if (before) {
        h->start += before;
        h->host = nsc_text_from(h->host, before);
        return false;
    }
    size_t left = common_end(h->host, name);
    bool marked = h->start > 0 && is_behind_marker(h->host, left) && !is_known(hosts, h->host);
    if (!h->whole || k->pid != h->pid || !k->len || (k->len == h->host.len && !marked) || (!h->start && k->seen < 2))
        return false;
    if (ends_with(h->host, name) && !is_known(hosts, h->host)) {
        h->start += h->host.len - k->len;
        h->host = nsc_text_from(h->host, h->host.len - k->len);
        return false;
    }
    bool begins = !h->start && left == h->host.len;
    bool of_thread = k->tid == h->tid && h->tid != h->pid; /* pods number their processes alike, threads less so */
    if (!h->start && !begins && of_thread && lacks_middle(h->host, name, left)) {
        h->host = name;
        return true;
    }
    bool tail = left >= NSC_HOST_TAIL || is_of_one_host(hosts, k, h->host, left);
    if (!begins && !((behind || marked) && tail))
        return false;
    h->start += h->host.len - left; /* "... NCCL INFO ncclCommInitRankCoode1:12:12 [0]", of node1 */
    h->host = name;
    return true;
}
