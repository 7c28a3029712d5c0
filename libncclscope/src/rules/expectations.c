/* expectations.c - assertions for CI and preflight: parsed by a table, held against the model. */
#include "rules/rules.h"

/* "ranks>=8" to its parts; op "" for a bare word. */
struct asked {
    nsc_text word, value;
    enum { BARE, EQUAL, AT_LEAST, AT_MOST, MORE, LESS } op;
};

struct answer {
    struct nsc_case *c;
    struct nsc_expectation *e;
    const struct asked *asked;
};

static void say_unknown(const struct answer *a, const char *why)
{
    if (a->e->kept == NCCLSCOPE_KEPT) {
        a->e->kept = NCCLSCOPE_CANNOT_TELL;
        a->e->why = why;
    }
}

static void say_broken(const struct answer *a, const struct nsc_where *where, const char *why)
{
    if (a->e->kept == NCCLSCOPE_BROKEN)
        return;
    a->e->kept = NCCLSCOPE_BROKEN;
    a->e->why = why;
    if (where)
        a->e->where = *where;
}

static void break_by_link(const struct answer *a, const struct nsc_link *l)
{
    if (a->e->kept == NCCLSCOPE_BROKEN)
        return;
    a->e->comm = nsc_comm_of_link(a->c->m, l);
    a->e->pair = (struct nsc_pair){l->src, l->dst};
    say_broken(a, &l->where,
               nsc_words(a->c, "rank %llu to rank %llu goes via %s", (unsigned long long)l->src,
                         (unsigned long long)l->dst, nsc_say(a->c->m, l->via).ptr));
}

static bool is_text(nsc_text a, nsc_text b) /* capitals or not */
{
    for (size_t i = 0; i < a.len && i < b.len; i++)
        if (nsc_lower(a.ptr[i]) != nsc_lower(b.ptr[i]))
            return false;
    return a.len == b.len && a.len;
}

static bool compare(const struct asked *q, int64_t is, int64_t wanted)
{
    switch (q->op) {
    case AT_LEAST: return is >= wanted;
    case AT_MOST: return is <= wanted;
    case MORE: return is > wanted;
    case LESS: return is < wanted;
    default: return is == wanted;
    }
}

/* ---- paths ---- */

/* What is asserted of all connections is borne out only by all ranks. */
static void want_all_ranks(const struct answer *a)
{
    const struct ncclscope_model *m = a->c->m;
    for (size_t i = 0; i < m->comms.len; i++)
        if (m->comms.item[i].parent == NSC_NONE && m->comms.item[i].seen < m->comms.item[i].nranks)
            say_unknown(a, nsc_words(a->c, "it holds for what is here, but only %lld of %lld ranks are in this input",
                                     (long long)m->comms.item[i].seen, (long long)m->comms.item[i].nranks));
}

static void every_pair_of_a_node(const struct answer *a, bool nvlink)
{
    const struct ncclscope_model *m = a->c->m;
    const struct nsc_link *open = NULL;
    size_t seen = 0;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p = l->known;
        if (l->family == NSC_COLLNET || l->one_gpu || !nsc_is_within_machine(m, l))
            continue;
        seen++;
        if (l->family != NSC_P2P || (nvlink && p.path == NSC_PATH_PCIE))
            break_by_link(a, l);
        else if (nvlink && p.path != NSC_PATH_NVLINK)
            open = l;
    }
    if (!seen)
        say_unknown(a, "no connection inside a node is in this log");
    else if (open)
        say_unknown(a,
                    nsc_words(a->c, "rank %llu to rank %llu goes via %s: NVLink or PCIe cannot be told from this log",
                              (unsigned long long)open->src, (unsigned long long)open->dst, nsc_say(m, open->via).ptr));
    want_all_ranks(a);
}

static void nvlink(const struct answer *a)
{
    every_pair_of_a_node(a, true);
}

static void p2p(const struct answer *a)
{
    every_pair_of_a_node(a, false);
}

static void without(const struct answer *a, enum nsc_path first, enum nsc_path other)
{
    const struct ncclscope_model *m = a->c->m;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p = l->known;
        if (p.path == first || p.path == other)
            break_by_link(a, l);
    }
    if (!m->link_order.len)
        say_unknown(a, "no connection is in this log");
    want_all_ranks(a);
}

static void no_shm(const struct answer *a)
{
    without(a, NSC_PATH_SHM, NSC_PATH_SHM);
}

static void no_socket(const struct answer *a)
{
    without(a, NSC_PATH_SOCKET, NSC_PATH_SOCKET);
}

/* Plain P2P may be PCIe. */
static void no_pcie(const struct answer *a)
{
    const struct ncclscope_model *m = a->c->m;
    without(a, NSC_PATH_PCIE, NSC_PATH_PCIE);
    for (size_t i = 0; i < m->link_order.len && a->e->kept == NCCLSCOPE_KEPT; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p = l->known;
        if (p.path == NSC_PATH_P2P)
            say_unknown(a, nsc_words(a->c,
                                     "rank %llu to rank %llu goes via %s: NVLink or PCIe cannot be told from this log",
                                     (unsigned long long)l->src, (unsigned long long)l->dst, nsc_say(m, l->via).ptr));
    }
}

static void no_net(const struct answer *a)
{
    without(a, NSC_PATH_NET, NSC_PATH_SOCKET);
    without(a, NSC_PATH_NET_GDR, NSC_PATH_NET_GDR);
}

static void no_staged(const struct answer *a)
{
    without(a, NSC_PATH_NET, NSC_PATH_NET);
}

/* Every connection of the network, in both directions. */
static void gdr(const struct answer *a)
{
    const struct ncclscope_model *m = a->c->m;
    size_t seen = 0;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        if (l->family != NSC_NET)
            continue;
        seen++;
        if (!l->gdrdma)
            break_by_link(a, l);
    }
    if (!seen)
        say_unknown(a, "no connection over a network is in this log");
    want_all_ranks(a);
}

static void net(const struct answer *a)
{
    const struct ncclscope_model *m = a->c->m;
    size_t seen = 0;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        seen += l->family == NSC_NET;
        if (l->family == NSC_NET && !is_text(nsc_say(m, l->network), a->asked->value))
            break_by_link(a, l);
    }
    for (size_t i = 0; i < m->proc_order.len; i++) {
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        seen += p->network != 0;
        if (p->network && !is_text(nsc_say(m, p->network), a->asked->value))
            say_broken(a, NULL,
                       nsc_words(a->c, "pid %lld of %s uses the network %s", (long long)p->pid, nsc_say(m, p->host).ptr,
                                 nsc_say(m, p->network).ptr));
    }
    if (!seen)
        say_unknown(a, "no line of this log names a network");
}

/* ---- numbers ---- */

static void hold(const struct answer *a, int64_t is, const char *what)
{
    int64_t wanted;
    if (!nsc_to_i64(a->asked->value, &wanted))
        return;
    if (is < 0)
        say_unknown(a, nsc_words(a->c, "this log does not say how many %s there are", what));
    else if (!compare(a->asked, is, wanted))
        say_broken(a, NULL, nsc_words(a->c, "%lld %s", (long long)is, what));
}

static void ranks(const struct answer *a)
{
    const struct nsc_comm *largest = NULL;
    const struct ncclscope_model *m = a->c->m;
    for (size_t i = 0; i < m->comms.len; i++)
        if (!largest || m->comms.item[i].nranks > largest->nranks)
            largest = &m->comms.item[i];
    hold(a, largest ? largest->nranks : -1, "ranks in the largest communicator");
}

static void hosts(const struct answer *a)
{
    hold(a, a->c->m->hosts.len ? (int64_t)a->c->m->hosts.len : -1, "hosts");
    if (a->asked->op != AT_LEAST && a->asked->op != MORE)
        want_all_ranks(a);
}

static void machines(const struct answer *a)
{
    const struct ncclscope_model *m = a->c->m;
    bool open = !m->machines.len;
    for (size_t i = 0; i < m->machines.len; i++)
        open = open || m->machines.item[i].several || m->machines.item[i].confidence == NSC_POSSIBLE;
    hold(a, open ? -1 : (int64_t)m->machines.len, "machines");
    if (a->asked->op != AT_LEAST && a->asked->op != MORE)
        want_all_ranks(a);
}

static void channels(const struct answer *a)
{
    const struct ncclscope_model *m = a->c->m;
    int64_t least = -1;
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].coll >= 0 && m->ranks.item[i].nranks > 1 && (least < 0 || m->ranks.item[i].coll < least))
            least = m->ranks.item[i].coll;
    hold(a, least, "collective channels");
}

static void nvls(const struct answer *a)
{
    const struct ncclscope_model *m = a->c->m;
    int64_t most = -1;
    const struct nsc_rank *of = NULL;
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].nvls > most) {
            most = m->ranks.item[i].nvls;
            of = &m->ranks.item[i];
        }
    if (most < 0)
        say_unknown(a, "this log does not count NVLS channels");
    else if (!most)
        say_broken(a, &of->first, "no communicator has NVLS channels");
}

static void complete(const struct answer *a)
{
    const struct ncclscope_model *m = a->c->m;
    if (!m->comms.len)
        say_unknown(a, "no line of this log names a communicator");
    for (size_t i = 0; i < m->comms.len; i++) {
        const struct nsc_comm *k = &m->comms.item[i];
        const char *what = nsc_words(a->c, "communicator %s: %lld of %lld ranks, %s", nsc_say(m, k->id).ptr,
                                     (long long)k->seen, (long long)k->nranks, nsc_state_name(k->state));
        if (k->state == NSC_PARTIAL) /* those that are here are complete; the others' logs are not given */
            say_unknown(a, what);
        else if (k->state != NSC_COMPLETE)
            say_broken(a, &k->where, what);
    }
}

/* "2.27" or "2.27.3" to the first and the last release that it means. */
static bool version_range(nsc_text text, unsigned *low, unsigned *high)
{
    unsigned part[3] = {0};
    int n = 0;
    for (size_t i = 0; i < text.len; n++) {
        size_t from = i;
        while (i < text.len && nsc_is_digit(text.ptr[i]) && i - from < 2)
            part[n] = part[n] * 10 + (unsigned)(text.ptr[i++] - '0');
        if (i == from || n > 2 || (i < text.len && (text.ptr[i] != '.' || n == 2)))
            return false;
        i += i < text.len;
    }
    if (n < 2)
        return false;
    *low = part[0] * 10000 + part[1] * 100 + part[2];
    *high = n == 3 ? *low : part[0] * 10000 + part[1] * 100 + 99;
    return true;
}

static void nccl(const struct answer *a)
{
    const struct ncclscope_model *m = a->c->m;
    unsigned low, high;
    if (!version_range(a->asked->value, &low, &high))
        return;
    for (size_t i = 0; i < m->proc_order.len; i++) {
        struct nsc_version v = nsc_version_of(m, m->proc_order.item[i]);
        const struct nsc_proc *p = &m->procs.item[m->proc_order.item[i]];
        bool may, must; /* hold for some release of the range; for all */
        switch (a->asked->op) {
        case AT_LEAST: may = v.high >= low, must = v.low >= low; break;
        case MORE: may = v.high > high, must = v.low > high; break;
        case AT_MOST: may = v.low <= high, must = v.high <= high; break;
        case LESS: may = v.low < low, must = v.high < low; break;
        default: may = v.low <= high && v.high >= low, must = v.low >= low && v.high <= high;
        }
        char is[60];
        nsc_version_spell(&v, is, sizeof is);
        if (!may)
            say_broken(a, p->version_at.line ? &p->version_at : &p->first,
                       nsc_words(a->c, "pid %lld of %s runs NCCL %s", (long long)p->pid, nsc_say(m, p->host).ptr, is));
        else if (!must)
            say_unknown(a, nsc_words(a->c, "pid %lld of %s does not say its version", (long long)p->pid,
                                     nsc_say(m, p->host).ptr));
    }
    if (!m->proc_order.len)
        say_unknown(a, "no process is in this log");
}

/* ---- the words ---- */

enum needs { NO_VALUE, A_NUMBER, A_NAME, A_VERSION };

static const struct {
    const char *word;
    enum needs needs;
    void (*check)(const struct answer *a);
} words[] = {
    {"nvlink", NO_VALUE, nvlink},
    {"p2p", NO_VALUE, p2p},
    {"gdr", NO_VALUE, gdr},
    {"no-shm", NO_VALUE, no_shm},
    {"no-pcie", NO_VALUE, no_pcie},
    {"no-socket", NO_VALUE, no_socket},
    {"no-net", NO_VALUE, no_net},
    {"no-staged", NO_VALUE, no_staged},
    {"nvls", NO_VALUE, nvls},
    {"complete", NO_VALUE, complete},
    {"net", A_NAME, net},
    {"nccl", A_VERSION, nccl},
    {"ranks", A_NUMBER, ranks},
    {"hosts", A_NUMBER, hosts},
    {"machines", A_NUMBER, machines},
    {"channels", A_NUMBER, channels},
};
enum { WORDS = sizeof words / sizeof words[0] };

static struct asked parse(nsc_text text)
{
    static const char *const ops[] = {"", "=", ">=", "<=", ">", "<"};
    size_t n = 0;
    while (n < text.len && !strchr("<>=", text.ptr[n]))
        n++;
    struct asked q = {.word = {text.ptr, n}, .op = BARE};
    nsc_text rest = nsc_text_from(text, n);
    for (int op = EQUAL; op <= LESS && rest.len; op++)
        if (nsc_text_starts(rest, ops[op]) && (q.op == BARE || strlen(ops[op]) == 2)) {
            q.op = op;
            q.value = nsc_text_from(rest, strlen(ops[op]));
        }
    q.word = nsc_text_trim(q.word);
    q.value = nsc_text_trim(q.value);
    return q;
}

/* Index into words, or -1 with what is wrong in err. */
static int word_of(const struct asked *q, nsc_text text, ncclscope_error *err)
{
    int64_t n;
    unsigned low, high;
    for (int i = 0; i < WORDS; i++) {
        if (!nsc_text_is(q->word, words[i].word))
            continue;
        bool fine = words[i].needs == NO_VALUE   ? q->op == BARE
                    : words[i].needs == A_NUMBER ? q->op != BARE && nsc_to_i64(q->value, &n)
                    : words[i].needs == A_NAME   ? q->op == EQUAL && q->value.len
                                                 : q->op != BARE && version_range(q->value, &low, &high);
        if (!fine)
            nsc_fail(err, NCCLSCOPE_EINVAL, 0, "expectation \"%.*s\": %s", (int)text.len, text.ptr,
                     words[i].needs == NO_VALUE   ? "takes no value"
                     : words[i].needs == A_NUMBER ? "wants a number, as in ranks=8 or ranks>=8"
                     : words[i].needs == A_NAME   ? "wants a name, as in net=IB"
                                                  : "wants a version, as in nccl>=2.27 or nccl=2.28.9");
        return fine ? i : -1;
    }
    nsc_fail(err, NCCLSCOPE_EINVAL, 0,
             "no expectation is called \"%.*s\"; there are nvlink, p2p, gdr, nvls, complete, no-shm, no-pcie, "
             "no-socket, no-net, no-staged, net=, nccl=, ranks=, hosts=, machines=, channels=",
             (int)(q->word.len < 60 ? q->word.len : 60), q->word.ptr);
    return -1;
}

static int expect_one(ncclscope_findings *f, nsc_text text, ncclscope_error *err)
{
    struct asked q = parse(text);
    int i = word_of(&q, text, err);
    if (i < 0 || !f)
        return i < 0 ? NCCLSCOPE_EINVAL : NCCLSCOPE_OK;
    struct nsc_case c = {.m = f->model, .f = f};
    struct nsc_expectation e = {.words = nsc_arena_copy(&f->arena, text).ptr, .comm = NSC_NONE};
    if (!e.words)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    words[i].check(&(struct answer){&c, &e, &q});
    nsc_lay_expectation(f, &e);
    return f->no_memory ? nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory") : NCCLSCOPE_OK;
}

int ncclscope_expect(ncclscope_findings *f, const char *list, ncclscope_error *err)
{
    if (!list)
        return nsc_null(err);
    unsigned before = nsc_failed_allocations();
    int rc = NCCLSCOPE_OK;
    size_t words_seen = 0;
    nsc_text rest = nsc_text_of(list);
    while (rest.len && rc == NCCLSCOPE_OK) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        nsc_text one = {rest.ptr, comma ? (size_t)(comma - rest.ptr) : rest.len};
        rest = nsc_text_from(rest, one.len + (comma ? 1 : 0));
        one = nsc_text_trim(one);
        if (one.len)
            rc = expect_one(f, one, err);
        words_seen += one.len > 0;
    }
    if (!rc && !words_seen)
        rc = nsc_fail(err, NCCLSCOPE_EINVAL, 0, "the list of expectations is empty");
    return nsc_settle(rc, before, err);
}

size_t ncclscope_expectations(const ncclscope_findings *f, int kept)
{
    size_t n = 0;
    for (int64_t i = 0; f && i < nsc_row_next(&f->rows, expectation); i++)
        n += nsc_row_at(&f->rows, expectation, (size_t)i)->state == kept;
    return n;
}
