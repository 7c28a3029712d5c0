/* text_paths.c - who talks to whom over what: a matrix of ranks while it is small, hosts beyond. */
#include "report/text.h"

#include <stdio.h>

enum { MATRIX_RANKS = 16, MATRIX_HOSTS = 16 };

static const char letters[] = "NPCSGRTX?";
static const char *const words[] = {"NVLink",      "P2P, NVLink or PCIe",    "P2P over PCIe",
                                    "host memory", "RDMA with GPUDirect",    "network, no GPUDirect",
                                    "TCP sockets", "in-network collectives", "unknown"};

/* The communicator whose paths are drawn: the largest with links; NSC_NONE when no line names one. */
static uint32_t drawn_comm(const struct ncclscope_model *m, bool *any)
{
    uint32_t best = NSC_NONE;
    *any = false;
    for (size_t i = 0; i < m->link_order.len; i++) {
        uint32_t c = nsc_comm_of_link(m, &m->links.item[m->link_order.item[i]]);
        *any = true;
        if (c != NSC_NONE && (best == NSC_NONE || m->comms.item[c].nranks > m->comms.item[best].nranks))
            best = c;
    }
    return best;
}

struct row {
    uint64_t pairs, channels;
    nsc_str via;
    bool several;
    enum nsc_proof proof;
    struct nsc_map seen;
};

static unsigned count_channels(const struct nsc_link *l)
{
    unsigned n = 0;
    for (size_t w = 0; w < NSC_CHANNEL_WORDS; w++)
        n += (unsigned)__builtin_popcountll(l->channels[0][w] | l->channels[1][w]);
    return n;
}

/* Per kind of path: how many pairs, over how many channels, in whose words. */
static void tally(const struct ncclscope_model *m, uint32_t comm, struct row rows[NSC_PATH_UNKNOWN + 1])
{
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p;
        if (nsc_comm_of_link(m, l) != comm)
            continue;
        nsc_path_of(m, l, &p);
        struct row *x = &rows[p.path];
        uint64_t low = l->src < l->dst ? l->src : l->dst, high = l->src < l->dst ? l->dst : l->src;
        if (nsc_map_get(&x->seen, (struct nsc_key){low, high, 0}) == NSC_NONE &&
            !nsc_map_put(&x->seen, (struct nsc_key){low, high, 0}, 0))
            x->pairs++;
        x->channels = count_channels(l) > x->channels ? count_channels(l) : x->channels;
        x->several = x->several || (x->via && x->via != l->via);
        x->via = x->via ? x->via : l->via;
        x->proof = p.proof;
    }
}

static void legend(const struct nsc_report *r, uint32_t comm)
{
    struct row rows[NSC_PATH_UNKNOWN + 1] = {0};
    tally(r->m, comm, rows);
    for (int p = 0; p <= NSC_PATH_UNKNOWN; p++) {
        if (!rows[p].pairs)
            continue;
        nsc_printf(r->out, "   %c  %-22s ", letters[p], words[p]);
        nsc_safe(r, nsc_say(r->m, rows[p].via));
        nsc_printf(r->out, "%s   %llu pair%s, %llu channel%s%s\n", rows[p].several ? " ..." : "",
                   (unsigned long long)rows[p].pairs, rows[p].pairs == 1 ? "" : "s",
                   (unsigned long long)rows[p].channels, rows[p].channels == 1 ? "" : "s",
                   p == NSC_PATH_NVLINK || p == NSC_PATH_PCIE
                       ? rows[p].proof == NSC_PROOF_STATED ? ", stated" : ", inferred"
                       : "");
        nsc_map_free(&rows[p].seen);
    }
}

static void host_of(const struct nsc_report *r, uint32_t comm, int64_t rank)
{
    const struct nsc_rank *x = nsc_member(r->m, comm, rank);
    if (!x)
        return;
    const struct nsc_proc *p = &r->m->procs.item[x->proc];
    nsc_puts(r->out, "  ");
    nsc_safe(r, nsc_say(r->m, p->pod ? p->pod : p->host));
    if (x->bus_id) {
        nsc_puts(r->out, " gpu ");
        nsc_safe(r, nsc_say(r->m, x->bus_id));
    }
}

/* What source and destination the letters of a cell stand for: rows send, columns receive. */
static void rank_matrix(const struct nsc_report *r, uint32_t comm, uint64_t n)
{
    char cell[MATRIX_RANKS][MATRIX_RANKS];
    memset(cell, '.', sizeof cell);
    for (size_t i = 0; i < r->m->link_order.len; i++) {
        const struct nsc_link *l = &r->m->links.item[r->m->link_order.item[i]];
        struct nsc_known_path p;
        if (nsc_comm_of_link(r->m, l) != comm || l->src >= n || l->dst >= n)
            continue;
        nsc_path_of(r->m, l, &p);
        char *c = &cell[l->src][l->dst];
        const char *old = strchr(letters, *c);
        if (*c == '.' || (old && old - letters < (ptrdiff_t)p.path))
            *c = letters[p.path];
    }
    nsc_puts(r->out, "   from  to");
    for (uint64_t k = 0; k < n; k++)
        nsc_printf(r->out, " %2llu", (unsigned long long)k);
    nsc_puts(r->out, "\n");
    for (uint64_t i = 0; i < n; i++) {
        nsc_printf(r->out, "     %2llu    ", (unsigned long long)i);
        for (uint64_t k = 0; k < n; k++)
            nsc_printf(r->out, "  %c", i == k && cell[i][k] == '.' ? '\\' : cell[i][k]);
        host_of(r, comm, (int64_t)i);
        nsc_puts(r->out, "\n");
    }
}

static size_t host_index(const struct ncclscope_model *m, nsc_str *hosts, size_t *n, uint32_t comm, int64_t rank)
{
    const struct nsc_rank *x = nsc_member(m, comm, rank);
    nsc_str h = x ? m->procs.item[x->proc].host : 0;
    for (size_t i = 0; i < *n; i++)
        if (hosts[i] == h)
            return i;
    if (*n == MATRIX_HOSTS)
        return MATRIX_HOSTS;
    hosts[*n] = h;
    return (*n)++;
}

/* Beyond a few ranks: host against host, how many links of which path. */
static void host_table(const struct nsc_report *r, uint32_t comm)
{
    nsc_str hosts[MATRIX_HOSTS];
    size_t n = 0, beyond = 0;
    uint32_t counts[MATRIX_HOSTS][MATRIX_HOSTS][NSC_PATH_UNKNOWN + 1] = {0};
    for (size_t i = 0; i < r->m->link_order.len; i++) {
        const struct nsc_link *l = &r->m->links.item[r->m->link_order.item[i]];
        struct nsc_known_path p;
        if (nsc_comm_of_link(r->m, l) != comm)
            continue;
        size_t a = host_index(r->m, hosts, &n, comm, (int64_t)l->src),
               b = host_index(r->m, hosts, &n, comm, (int64_t)l->dst);
        nsc_path_of(r->m, l, &p);
        if (a < MATRIX_HOSTS && b < MATRIX_HOSTS)
            counts[a][b][p.path]++;
        else
            beyond++;
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            bool any = false;
            for (int p = 0; p <= NSC_PATH_UNKNOWN; p++) {
                if (!counts[a][b][p])
                    continue;
                if (!any) {
                    nsc_puts(r->out, "   ");
                    nsc_safe(r, hosts[a] ? nsc_say(r->m, hosts[a]) : NSC_TEXT("(not in the input)"));
                    if (a != b) {
                        nsc_puts(r->out, " -> ");
                        nsc_safe(r, hosts[b] ? nsc_say(r->m, hosts[b]) : NSC_TEXT("(not in the input)"));
                    }
                    nsc_puts(r->out, ":");
                }
                any = true;
                nsc_printf(r->out, "  %c %u", letters[p], counts[a][b][p]);
            }
            nsc_puts(r->out, any ? "\n" : "");
        }
    if (beyond)
        nsc_printf(r->out, "   and %zu links of further hosts\n", beyond);
}

static uint64_t ranks_in(const struct ncclscope_model *m, uint32_t comm)
{
    uint64_t n = comm == NSC_NONE ? 0 : (uint64_t)m->comms.item[comm].nranks;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        uint64_t most = (l->src > l->dst ? l->src : l->dst) + 1;
        if (nsc_comm_of_link(m, l) == comm && most > n)
            n = most;
    }
    return n;
}

/* One line for each further communicator, alike ones together. */
static void others(const struct nsc_report *r, uint32_t drawn)
{
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < r->m->comms.len; i++) {
        struct row rows[NSC_PATH_UNKNOWN + 1] = {0};
        const struct nsc_comm *c = &r->m->comms.item[i];
        if (i == drawn)
            continue;
        if (shown == 6 && !(r->flags & NCCLSCOPE_REPORT_VERBOSE)) {
            more++;
            continue;
        }
        shown++;
        tally(r->m, (uint32_t)i, rows);
        nsc_printf(r->out, "   %lld ranks, ", (long long)c->nranks);
        nsc_safe(r, nsc_say(r->m, c->id));
        nsc_puts(r->out, ":");
        bool any = false;
        for (int p = 0; p <= NSC_PATH_UNKNOWN; p++) {
            if (rows[p].pairs)
                nsc_printf(r->out, "%s %c %llu", any ? "," : "", letters[p], (unsigned long long)rows[p].pairs);
            any = any || rows[p].pairs;
            nsc_map_free(&rows[p].seen);
        }
        nsc_puts(r->out, any ? " pairs\n" : " no connections seen\n");
    }
    if (more)
        nsc_printf(r->out, "   and %zu more communicators (-v lists them)\n", more);
}

void nsc_text_paths(const struct nsc_report *r)
{
    bool any;
    uint32_t comm = drawn_comm(r->m, &any);
    if (!any)
        return;
    uint64_t n = ranks_in(r->m, comm);
    nsc_puts(r->out, "\n");
    if (comm == NSC_NONE)
        nsc_puts(r->out, "   communicator unknown: no line of this log names one\n");
    if (n <= MATRIX_RANKS)
        rank_matrix(r, comm, n);
    else
        host_table(r, comm);
    legend(r, comm);
    others(r, comm);
}
