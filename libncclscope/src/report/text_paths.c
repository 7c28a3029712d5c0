/* text_paths.c - who talks to whom over what: a matrix of ranks while it is small, hosts beyond. */
#include "model/pairs.h"
#include "report/text.h"

#include <stdio.h>

enum { MATRIX_RANKS = 16, HOST_LINES = 16 };

static const char letters[] = "=NPCSGRTX?";
static const char *const words[] = {"one GPU, shared",
                                    "NVLink",
                                    "P2P, NVLink or PCIe",
                                    "P2P over PCIe",
                                    "host memory",
                                    "RDMA with GPUDirect",
                                    "network, no GPUDirect",
                                    "TCP sockets",
                                    "in-network collectives",
                                    "unknown"};

static const char *words_of(const struct nsc_report *r, int path)
{
    bool amd = nsc_is_rccl(r->m);
    return amd && path == NSC_PATH_NVLINK ? "xGMI" : amd && path == NSC_PATH_P2P ? "P2P, xGMI or PCIe" : words[path];
}

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
    uint64_t channels; /* most of any pair */
    nsc_str via;
    bool several;
    enum nsc_proof proof;
    struct nsc_map seen; /* pair to its place in `pairs` */
    NSC_VEC(struct pair_channels {
        uint64_t word[NSC_CHANNEL_WORDS];
        struct nsc_key key;
    })
    pairs;
};

/* The channels of a pair are those of all its links: one text for each NIC. */
static void add_channels(const struct ncclscope_model *m, struct row *x, const struct nsc_link *l)
{
    bool named = nsc_comm_of(m, l) != NSC_NONE; /* else only GPUs tell pairs of the same ranks apart */
    uint64_t a = named ? l->src : nsc_gpu_at_end(m, l, false), b = named ? l->dst : nsc_gpu_at_end(m, l, true);
    uint64_t low = a < b ? a : b, high = a < b ? b : a, n = 0;
    struct nsc_key key = {low, high, 0};
    uint32_t at = nsc_map_get(&x->seen, key);
    if (at == NSC_NONE) {
        at = (uint32_t)x->pairs.len;
        if (!nsc_vec_push(&x->pairs) || nsc_map_put(&x->seen, key, at))
            return;
        x->pairs.item[at].key = key;
    }
    for (size_t w = 0; w < NSC_CHANNEL_WORDS; w++) {
        x->pairs.item[at].word[w] |= l->channels[0][w] | l->channels[1][w];
        n += (uint64_t)__builtin_popcountll(x->pairs.item[at].word[w]);
    }
    x->channels = n > x->channels ? n : x->channels;
}

/* Per kind of path: how many pairs, over how many channels, in whose words. */
static void tally(const struct ncclscope_model *m, uint32_t comm, struct row rows[NSC_PATH_UNKNOWN + 1])
{
    for (size_t i = nsc_links_of(m, comm); i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (nsc_comm_of_link(m, l) != comm)
            return;
        if (m->whole.no_collnet && l->family == NSC_COLLNET)
            continue;
        struct nsc_known_path p = l->known;
        struct row *x = &rows[p.path];
        add_channels(m, x, l);
        x->several = x->several || (x->via && x->via != l->via);
        x->via = x->via ? x->via : l->via;
        x->proof = p.proof;
    }
}

/* Have some pairs fewer channels than the most of any? */
static bool channels_differ(const struct row *x)
{
    for (size_t i = 0; i < x->pairs.len; i++) {
        uint64_t n = 0;
        for (size_t w = 0; w < NSC_CHANNEL_WORDS; w++)
            n += (uint64_t)__builtin_popcountll(x->pairs.item[i].word[w]);
        if (n < x->channels)
            return true;
    }
    return false;
}

static void free_row(struct row *x)
{
    nsc_map_free(&x->seen);
    nsc_vec_free(&x->pairs);
}

/* How many of its pairs have connections of a worse path too, as whose they stand in the matrix. */
static size_t worse_too(const struct row rows[NSC_PATH_UNKNOWN + 1], int path)
{
    size_t n = 0;
    for (size_t i = 0; i < rows[path].pairs.len && path != NSC_PATH_COLLNET; i++) {
        bool worse = false;
        for (int p = path + 1; p < NSC_PATH_COLLNET && !worse; p++)
            worse = nsc_map_get(&rows[p].seen, rows[path].pairs.item[i].key) != NSC_NONE;
        n += worse;
    }
    return n;
}

/* How many of its pairs may be another communicator's: of none of their connections is it known whose it is. */
static size_t count_open(const struct ncclscope_model *m, uint32_t comm)
{
    struct nsc_map known = {0}; /* pair to 1: of one of its connections it is */
    size_t n = 0;
    for (size_t i = nsc_links_of(m, comm); comm != NSC_NONE && i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (nsc_comm_of_link(m, l) != comm)
            break;
        struct nsc_key key = {l->src < l->dst ? l->src : l->dst, l->src < l->dst ? l->dst : l->src, 0};
        uint32_t before = nsc_map_get(&known, key), now = l->attribution != NSC_AMBIGUOUS;
        if ((before == NSC_NONE || before < now) && nsc_map_put(&known, key, now))
            break;
        n += before == NSC_NONE && !now;
        n -= before == 0 && now;
    }
    nsc_map_free(&known);
    return n;
}

static void note_open(const struct nsc_report *r, uint32_t comm)
{
    char line[120];
    size_t n = count_open(r->m, comm);
    if (!n)
        return;
    snprintf(line, sizeof line, "%zu of these pairs may belong to another communicator: no line says which", n);
    nsc_indent(r, 3);
    nsc_wrap(r, 5, nsc_text_of(line));
}

static void legend(const struct nsc_report *r, uint32_t comm)
{
    struct row rows[NSC_PATH_UNKNOWN + 1] = {0};
    tally(r->m, comm, rows);
    for (int p = 0; p <= NSC_PATH_UNKNOWN; p++) {
        if (!rows[p].pairs.len)
            continue;
        nsc_printf(r->out, "   %c  %-22s ", letters[p], words_of(r, p));
        nsc_safe(r, nsc_say(r->m, rows[p].via));
        size_t partly = worse_too(rows, p);
        nsc_printf(r->out, "%s   %llu %s%s", rows[p].several ? " ..." : "", (unsigned long long)rows[p].pairs.len,
                   p == NSC_PATH_COLLNET ? "rank" : "pair", rows[p].pairs.len == 1 ? "" : "s");
        if (partly)
            nsc_printf(r->out, partly == rows[p].pairs.len ? " partly" : " (%zu partly)", partly);
        if (rows[p].channels)
            nsc_printf(r->out, ", %s%llu channel%s", channels_differ(&rows[p]) ? "up to " : "",
                       (unsigned long long)rows[p].channels, rows[p].channels == 1 ? "" : "s");
        nsc_printf(r->out, "%s\n",
                   p == NSC_PATH_NVLINK || p == NSC_PATH_PCIE
                       ? rows[p].proof == NSC_PROOF_STATED ? ", stated" : ", inferred"
                       : "");
    }
    for (int p = 0; p <= NSC_PATH_UNKNOWN; p++)
        free_row(&rows[p]);
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

/* What source and destination the letters of a cell stand for: rows send, columns receive. A rank that no line is about is left out. */
static void rank_matrix(const struct nsc_report *r, uint32_t comm, uint64_t n)
{
    char cell[MATRIX_RANKS][MATRIX_RANKS];
    bool seen[MATRIX_RANKS];
    memset(cell, '.', sizeof cell);
    for (uint64_t k = 0; k < n; k++)
        seen[k] = nsc_member(r->m, comm, (int64_t)k);
    for (size_t i = 0; i < r->m->link_order.len; i++) {
        const struct nsc_link *l = &r->m->links.item[r->m->link_order.item[i]];
        if (nsc_comm_of_link(r->m, l) != comm || l->src >= n || l->dst >= n ||
            (r->m->whole.no_collnet && l->family == NSC_COLLNET))
            continue;
        struct nsc_known_path p = l->known;
        seen[l->src] = seen[l->dst] = true;
        char *c = &cell[l->src][l->dst];
        const char *old = strchr(letters, *c);
        if (*c == '.' || (old && old - letters < (ptrdiff_t)p.path))
            *c = letters[p.path];
    }
    nsc_puts(r->out, "   from  to");
    for (uint64_t k = 0; k < n; k++)
        if (seen[k])
            nsc_printf(r->out, " %2llu", (unsigned long long)k);
    nsc_puts(r->out, "\n");
    for (uint64_t i = 0; i < n; i++) {
        if (!seen[i])
            continue;
        nsc_printf(r->out, "     %2llu    ", (unsigned long long)i);
        for (uint64_t k = 0; k < n; k++)
            if (seen[k])
                nsc_printf(r->out, "  %c", i == k && cell[i][k] == '.' ? '\\' : cell[i][k]);
        host_of(r, comm, (int64_t)i);
        nsc_puts(r->out, "\n");
    }
}

/* Pairs of ranks between two hosts, or inside one, counted by path; the same picture elsewhere is counted, not repeated. */
struct host_pair {
    nsc_str from, to; /* 0: not known */
    uint32_t links[NSC_PATH_UNKNOWN + 1];
    uint32_t alike; /* further pairs with the same numbers */
    bool told;
};

typedef NSC_VEC(struct host_pair) host_pairs;

/* 0: not known. Whose communicator is not known stands at least where the line was printed. */
static nsc_str host_of_end(const struct ncclscope_model *m, uint32_t comm, const struct nsc_link *l, uint64_t rank)
{
    const struct nsc_rank *x = nsc_member(m, comm, (int64_t)rank);
    bool near = l->family == NSC_SHM ||
                (l->family == NSC_P2P && nsc_text_find(nsc_say(m, l->via), "MNNVL") < 0); /* of one machine */
    bool here = l->proc != NSC_NONE && (l->printer == (int64_t)rank || near);
    uint32_t proc = x ? x->proc : here ? l->proc : nsc_printer_of(m, l, rank);
    return proc == NSC_NONE ? 0 : m->procs.item[proc].host;
}

static void count_hosts(const struct ncclscope_model *m, uint32_t comm, host_pairs *pairs)
{
    struct nsc_map by = {0}, seen = {0}; /* a pair has a link for each of its NICs */
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p;
        if (nsc_comm_of_link(m, l) != comm || (m->whole.no_collnet && l->family == NSC_COLLNET))
            continue;
        uint64_t low = l->src < l->dst ? l->src : l->dst, high = l->src < l->dst ? l->dst : l->src;
        nsc_str from = host_of_end(m, comm, l, l->src), to = host_of_end(m, comm, l, l->dst);
        uint32_t k = nsc_map_get(&by, (struct nsc_key){from, to, 0});
        if (k == NSC_NONE) /* the other direction is the same pair */
            k = nsc_map_get(&by, (struct nsc_key){to, from, 0});
        if (k == NSC_NONE) {
            struct host_pair *new = nsc_vec_push(pairs);
            k = (uint32_t)(pairs->len - 1);
            if (!new || nsc_map_put(&by, (struct nsc_key){from, to, 0}, k))
                break;
            new->from = from;
            new->to = to;
        }
        p = l->known;
        struct nsc_key pair = {low, high, (uint64_t)p.path};
        pairs->item[k].links[p.path] += nsc_map_get(&seen, pair) == NSC_NONE;
        nsc_map_put(&seen, pair, 0);
    }
    nsc_map_free(&seen);
    nsc_map_free(&by);
}

static bool is_alike(const struct host_pair *a, const struct host_pair *b)
{
    return (a->from == a->to) == (b->from == b->to) && !memcmp(a->links, b->links, sizeof a->links);
}

static void say_host(const struct nsc_report *r, nsc_str host)
{
    nsc_safe(r, host ? nsc_say(r->m, host) : NSC_TEXT("(not known)"));
}

/* Beyond a few ranks: host against host, how many pairs of which path; what is alike is told once, so that the odd one stands out. */
static void host_table(const struct nsc_report *r, uint32_t comm)
{
    host_pairs pairs = {0};
    size_t shown = 0, most = r->flags & NCCLSCOPE_REPORT_VERBOSE ? SIZE_MAX : HOST_LINES;
    count_hosts(r->m, comm, &pairs);
    for (size_t i = 0; i < pairs.len; i++) {
        struct host_pair *p = &pairs.item[i];
        if (p->told)
            continue;
        for (size_t k = i + 1; k < pairs.len; k++)
            if (is_alike(p, &pairs.item[k]))
                pairs.item[k].told = true, p->alike++;
        if (++shown > most)
            continue;
        nsc_puts(r->out, "   ");
        say_host(r, p->from);
        if (p->from != p->to) {
            nsc_puts(r->out, " <-> ");
            say_host(r, p->to);
        }
        if (p->alike)
            nsc_printf(r->out, " and %u more %s%s", p->alike, p->from == p->to ? "host" : "such pair",
                       p->alike == 1 ? "" : "s");
        nsc_puts(r->out, ":");
        for (int path = 0; path <= NSC_PATH_UNKNOWN; path++)
            if (p->links[path])
                nsc_printf(r->out, "  %c %u", letters[path], p->links[path]);
        nsc_puts(r->out, "\n");
    }
    if (shown > most)
        nsc_printf(r->out, "   and %zu more %s (-v lists them)\n", shown - most,
                   shown - most == 1 ? "kind of host or pair" : "kinds of hosts and pairs");
    nsc_vec_free(&pairs);
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

/* Communicators that look alike, of one size and with the same paths: told once. */
struct alike {
    uint32_t first, count;
    bool more; /* than the one that is drawn, which is of as many ranks */
    size_t pairs[NSC_PATH_UNKNOWN + 1];
};
typedef NSC_VEC(struct alike) alike_list;

static bool are_alike(const struct ncclscope_model *m, const struct alike *a, const struct alike *b)
{
    const struct nsc_comm *c = &m->comms.item[a->first], *d = &m->comms.item[b->first];
    return c->nranks == d->nranks && c->shape == d->shape && c->stride == d->stride && c->state == d->state &&
           !memcmp(a->pairs, b->pairs, sizeof a->pairs);
}

/* In the order of their first; the last ones are the likeliest to be alike. */
static void gather_alike(const struct ncclscope_model *m, uint32_t drawn, alike_list *list)
{
    for (uint32_t i = 0; i < m->comms.len; i++) {
        struct row rows[NSC_PATH_UNKNOWN + 1] = {0};
        struct alike one = {.first = i, .count = 1};
        one.more = drawn < m->comms.len && m->comms.item[drawn].nranks == m->comms.item[i].nranks;
        if (i == drawn)
            continue;
        tally(m, i, rows);
        for (int p = 0; p <= NSC_PATH_UNKNOWN; p++) {
            one.pairs[p] = rows[p].pairs.len;
            free_row(&rows[p]);
        }
        size_t k = list->len;
        while (k && !are_alike(m, &list->item[k - 1], &one))
            k--;
        struct alike *new_one = k ? NULL : nsc_vec_push(list);
        if (new_one)
            *new_one = one;
        else if (k)
            list->item[k - 1].count++;
    }
}

/* ", consecutive (tensor-parallel-like, inferred)" */
static size_t say_shape(const struct ncclscope_model *m, const struct nsc_comm *c, char *buf, size_t size)
{
    static const char *const shapes[] = {"",
                                         ", all of a job",
                                         ", consecutive (tensor-parallel-like, inferred)",
                                         "",
                                         "",
                                         ", without a pattern (inferred)"};
    int n;
    nsc_str made_by = c->count ? m->ranks.item[m->members.item[c->first]].made_by : 0;
    if (made_by && nsc_text_is(nsc_say(m, made_by), "ncclCommShrink"))
        n = snprintf(buf, size, ", what ncclCommShrink left of a larger one");
    else if (c->guessed)
        n = snprintf(buf, size, ", membership inferred (the log prints no id)");
    else if (c->shape == NSC_SHAPE_CONSECUTIVE && !c->tiles)
        n = snprintf(buf, size, ", consecutive (inferred)");
    else if (c->shape == NSC_SHAPE_STRIDED)
        n = snprintf(buf, size, ", each %lld apart (data- or pipeline-parallel-like, inferred)", (long long)c->stride);
    else if (c->shape == NSC_SHAPE_PAIR)
        n = snprintf(buf, size, ", a pair %lld apart (inferred)", (long long)c->stride);
    else
        n = snprintf(buf, size, "%s", shapes[c->shape]);
    return n < 0 ? 0 : (size_t)n;
}

static void one_of_alike(const struct nsc_report *r, const struct alike *a)
{
    const struct nsc_comm *c = &r->m->comms.item[a->first];
    nsc_text id = nsc_say(r->m, c->id);
    char line[700];
    bool any = false, one = true;
    size_t n = (size_t)snprintf(line, sizeof line, "%lld rank%s", (long long)c->nranks, c->nranks == 1 ? "" : "s");
    if (a->count == 1 && c->seen > 0 && c->seen < c->nranks)
        n += (size_t)snprintf(line + n, sizeof line - n, " (%lld in this input)", (long long)c->seen);
    n += say_shape(r->m, c, line + n, sizeof line - n);
    n += (size_t)(a->count > 1
                      ? snprintf(line + n, sizeof line - n, ", %u %scommunicators:", a->count, a->more ? "more " : "")
                      : snprintf(line + n, sizeof line - n, ", %.*s:", (int)(id.len < 300 ? id.len : 300), id.ptr));
    for (int p = 0; p <= NSC_PATH_UNKNOWN; p++) {
        if (a->pairs[p])
            n += (size_t)snprintf(line + n, sizeof line - n, "%s %c %zu", any ? "," : "", letters[p], a->pairs[p]);
        any = any || a->pairs[p];
        one = one && a->pairs[p] <= 1;
    }
    snprintf(line + n, sizeof line - n, "%s%s",
             !any  ? nsc_any_unowned(r->m) ? " no connections known to belong to it" : " no connections seen"
             : one ? " pair"
                   : " pairs",
             any && a->count > 1 ? " each" : "");
    nsc_indent(r, 3);
    nsc_wrap(r, 5, nsc_text_of(line));
}

static void others(const struct nsc_report *r, uint32_t drawn)
{
    enum { SHOWN = 6 };
    alike_list list = {0};
    gather_alike(r->m, drawn, &list);
    for (size_t i = 0; i < list.len && (i < SHOWN || r->flags & NCCLSCOPE_REPORT_VERBOSE); i++)
        one_of_alike(r, &list.item[i]);
    if (list.len > SHOWN && !(r->flags & NCCLSCOPE_REPORT_VERBOSE))
        nsc_printf(r->out, "   and %zu more kinds of communicators (-v lists them)\n", list.len - SHOWN);
    nsc_vec_free(&list);
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
        nsc_puts(r->out, r->m->bare_comms ? "   communicator unknown: lines that name one lack their header\n"
                                          : "   communicator unknown: no line of this log names it\n");
    if (n <= MATRIX_RANKS)
        rank_matrix(r, comm, n);
    else
        host_table(r, comm);
    legend(r, comm);
    note_open(r, comm);
    others(r, comm);
}
