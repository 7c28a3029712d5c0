/* version.c - texts come and go with releases: those that a process prints say between which two its NCCL is. */
#include "read/changes.h"
#include "model/path.h"

#include "read/texts.h"

#include <stdio.h>

/* A WARN is printed as INFO on some paths of the program; the other way round it never is. */
static bool fits_level(const struct nsc_known_text *k, int level)
{
    if (level == NCCLSCOPE_LEVEL_ATTN) /* 2.32 prints so what others warned of, or told */
        return true;
    if (level == NCCLSCOPE_LEVEL_INFO)
        return !strcmp(k->level, "INFO") || !strcmp(k->level, "WARN");
    return level == NCCLSCOPE_LEVEL_WARN && !strcmp(k->level, "WARN");
}

/* The releases that print this message; false if that says nothing: no text is known, or a plugin may print it. */
static bool range_of(ncclscope_grammar *g, nsc_text message, int level, struct nsc_match *match, unsigned *low,
                     unsigned *high)
{
    enum { MOST = 32 };
    const struct nsc_known_text *known[MOST];
    if (nsc_text_starts(message, "NET/IB"))
        return false; /* plugins made from NCCL's own InfiniBand code print its texts too, whatever NCCL they are loaded into */
    size_t n = nsc_texts_all(g, message, match, known, MOST);
    bool any = false;
    *low = NSC_VERSION_OPEN;
    *high = 0;
    for (size_t i = 0; i < n; i++) {
        if (!nsc_is_digit(known[i]->first[0]) || n == MOST)
            return false;
        if (!fits_level(known[i], level))
            continue;
        unsigned first = nsc_version_number(nsc_text_of(known[i]->first));
        unsigned last = *known[i]->last ? nsc_version_number(nsc_text_of(known[i]->last)) : NSC_VERSION_OPEN;
        *low = first < *low ? first : *low;
        *high = last > *high ? last : *high;
        any = true;
    }
    return any;
}

/* "[2026-01-02 03:04:05] host:pid:tid ...": is such a time right before the host? */
static bool is_stamped(const ncclscope_record *rec)
{
    static const char like[] = "[dddd-dd-dd dd:dd:dd] ";
    const size_t n = sizeof like - 1;
    const char *host = rec->host.ptr, *line = rec->physical.ptr;
    if (!host || host < line || host > line + rec->physical.len || (size_t)(host - line) < n)
        return false;
    const char *stamp = host - n;
    for (size_t i = 0; i < n; i++)
        if (like[i] == 'd' ? !nsc_is_digit(stamp[i]) : stamp[i] != like[i])
            return false;
    return true;
}

static void see_stamp(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_proc *p)
{
    struct nsc_source_info *s = &m->sources.item[p->source];
    bool stamped = is_stamped(rec);
    p->stamps_warnings = p->stamps_warnings || (stamped && rec->level == NCCLSCOPE_LEVEL_WARN);
    s->stamped_info = s->stamped_info || (stamped && rec->level == NCCLSCOPE_LEVEL_INFO);
    s->plain_info = s->plain_info || (!stamped && rec->level == NCCLSCOPE_LEVEL_INFO);
}

void nsc_version_keep(struct ncclscope_model *m, uint32_t proc, nsc_str text, int level)
{
    struct nsc_printed *t = nsc_vec_push(&m->printed);
    if (!t)
        return;
    *t = (struct nsc_printed){proc, m->procs.item[proc].last_text, text, level};
    m->procs.item[proc].last_text = (uint32_t)(m->printed.len - 1);
}

void nsc_version_see(struct ncclscope_model *m, const ncclscope_record *rec, uint32_t proc)
{
    struct nsc_proc *p = &m->procs.item[proc];
    see_stamp(m, rec, p);
    if (p->records == 1 && !(rec->flags & (NCCLSCOPE_FLAG_TORN | NCCLSCOPE_FLAG_QUOTED)))
        p->unmarked = nsc_text_find(rec->physical, "NCCL ") < 0;
    size_t row = rec->row;
    if (p->version || row >= NSC_ROWS_SEEN || p->rows_seen[row / 64] >> (row % 64) & 1 ||
        rec->flags & NCCLSCOPE_FLAG_TORN)
        return;
    p->rows_seen[row / 64] |= (uint64_t)1 << (row % 64);
    nsc_version_keep(m, proc, nsc_keep(m, rec->message), rec->level);
}

static void narrow(struct ncclscope_model *m, struct nsc_proc *p, ncclscope_grammar *g, struct nsc_match *match)
{
    unsigned low, high;
    const struct nsc_source_info *s = &m->sources.item[p->source];
    if (p->stamps_warnings && s->plain_info && !s->stamped_info) /* else a launcher may have put the times there */
        p->version_low = NSC_CHANGE_WARNINGS_STAMPED;
    for (uint32_t i = p->last_text; i != NSC_NONE; i = m->printed.item[i].before) {
        const struct nsc_printed *t = &m->printed.item[i];
        if (!range_of(g, nsc_say(m, t->text), t->level, match, &low, &high))
            continue;
        p->version_low = low > p->version_low ? low : p->version_low;
        p->version_high = high < p->version_high ? high : p->version_high;
    }
}

bool nsc_is_short_version(nsc_text said, nsc_text whole)
{
    return said.len < whole.len && !memcmp(said.ptr, whole.ptr, said.len) &&
           (whole.ptr[said.len] == '+' || whole.ptr[said.len] == '-');
}

/* What PyTorch calls 2.25.1 is no other release than the 2.25.1+cuda12.9 of a process's own line. */
static void lengthen_bare_versions(struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->sources.len; i++) {
        struct nsc_source_info *s = &m->sources.item[i];
        for (size_t k = 0; s->bare_version && k < m->procs.len; k++)
            if (m->procs.item[k].version &&
                nsc_is_short_version(nsc_say(m, s->bare_version), nsc_say(m, m->procs.item[k].version)))
                s->bare_version = m->procs.item[k].version;
    }
}

/* Is the release another than all from `low` to `high`? 2.8.2 may print what 2.8.3 does and 2.7.8 did not, as texts of it are not known. */
static bool is_out_of(ncclscope_grammar *g, unsigned release, unsigned low, unsigned high)
{
    return low <= high && ((release < low && nsc_texts_know_between(g, release, low)) ||
                           (release > high && nsc_texts_know_between(g, high + 1, release + 1)));
}

/* A version line without a header is of one process. The texts of some of the others are asked whether it can be theirs. */
static void doubt_bare_versions(struct ncclscope_model *m, ncclscope_grammar *g, struct nsc_match *match)
{
    enum { ASKED = 16 };
    for (size_t i = 0; i < m->sources.len; i++) {
        struct nsc_source_info *s = &m->sources.item[i];
        unsigned bare = s->bare_version && !s->bare_rccl ? nsc_version_number(nsc_say(m, s->bare_version)) : 0;
        for (size_t k = 0, asked = 0; bare && !s->bare_doubtful && k < m->proc_order.len && asked < ASKED; k++) {
            struct nsc_proc *p = &m->procs.item[m->proc_order.item[k]];
            if (p->source != i || p->version || p->rccl)
                continue;
            asked++;
            narrow(m, p, g, match);
            s->bare_doubtful = is_out_of(g, bare, p->version_low, p->version_high);
        }
    }
}

struct nsc_version nsc_version_of(const struct ncclscope_model *m, uint32_t proc)
{
    struct nsc_version v = {NSC_VERSION_UNKNOWN, 0, NSC_VERSION_OPEN, 0};
    if (proc == NSC_NONE)
        return v;
    const struct nsc_proc *p = &m->procs.item[proc];
    const struct nsc_source_info *s = &m->sources.item[p->source];
    nsc_str bare = s->bare_doubtful ? 0 : s->bare_version;
    v.how = p->version        ? NSC_VERSION_SAID
            : bare            ? NSC_VERSION_SOURCE
            : p->peer_version ? NSC_VERSION_PEER
                              : NSC_VERSION_UNKNOWN;
    if (v.how != NSC_VERSION_UNKNOWN) {
        v.text = p->version ? p->version : bare ? bare : p->peer_version;
        v.low = v.high = nsc_version_number(nsc_say(m, v.text));
        return v;
    }
    bool narrowed = p->version_low > 0 || p->version_high < NSC_VERSION_OPEN;
    if (p->rccl || !narrowed || p->version_low > p->version_high) /* texts of different releases: nothing follows */
        return v;
    v.how = NSC_VERSION_INFERRED;
    v.low = p->version_low;
    v.high = p->version_high;
    return v;
}

static void share(struct ncclscope_model *m, const struct nsc_rank *r, const nsc_str *said)
{
    struct nsc_proc *p = &m->procs.item[r->proc];
    if (r->comm != NSC_NONE && !p->version)
        p->peer_version = said[r->comm];
}

static void share_all(struct ncclscope_model *m)
{
    nsc_str *said = nsc_alloc((m->comms.len + 1) * sizeof *said);
    if (!said) {
        m->no_memory = true;
        return;
    }
    for (size_t i = 0; i < m->ranks.len; i++) {
        const struct nsc_rank *r = &m->ranks.item[i];
        struct nsc_version v = nsc_version_of(m, r->proc);
        if (r->comm != NSC_NONE && !said[r->comm] && v.how >= NSC_VERSION_SOURCE)
            said[r->comm] = v.text;
    }
    for (size_t i = 0; i < m->ranks.len; i++)
        share(m, &m->ranks.item[i], said);
    nsc_free(said);
}

/* "2.8.4+cuda11.0": NVIDIA's, or built on it, as MSCCL was, whose lines look like AMD's. */
static bool says(const struct ncclscope_model *m, const char *build)
{
    for (size_t i = 0; i < m->procs.len; i++)
        if (nsc_text_find(nsc_say(m, m->procs.item[i].version), build) >= 0)
            return true;
    for (size_t i = 0; i < m->sources.len; i++)
        if (nsc_text_find(nsc_say(m, m->sources.item[i].bare_version), build) >= 0)
            return true;
    return false;
}

static bool names_rccl(const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->procs.len; i++)
        if (m->procs.item[i].rccl)
            return true;
    for (size_t i = 0; i < m->sources.len; i++)
        if (m->sources.item[i].bare_rccl)
            return true;
    return false;
}

/* "what():  HIP error: ...": the program runs on AMD's GPUs. */
static bool fails_in_hip(const struct ncclscope_model *m)
{
    bool hip = false;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if ((r->number == NCCLSCOPE_KIND_CPP_WHAT || r->number == NCCLSCOPE_KIND_PY_RAISED) &&
            nsc_text_starts(nsc_text_trim(nsc_said(m, r, "reason")), "HIP error: "))
            hip = true;
    }
    for (size_t i = 0; i < m->procs.len && hip; i++)
        hip = !m->procs.item[i].driver;
    return hip;
}

/* What lines that look like AMD's made of its processes is taken back where a version line is of CUDA, and none of AMD's. */
static bool is_rccl(struct ncclscope_model *m)
{
    bool hip = says(m, "+hip"), cuda = says(m, "+cuda");
    if (!hip && cuda)
        for (size_t i = 0; i < m->procs.len; i++)
            m->procs.item[i].rccl = false;
    return hip || names_rccl(m) || (!cuda && fails_in_hip(m));
}

/* Where some processes print "INFO" and others "NCCL INFO", the former are of a release before those that mark their lines. */
static void narrow_by_mark(struct ncclscope_model *m)
{
    enum { LAST_UNMARKED = 20213 }; /* logs of 2.2.13 are known with the mark and without: a release before 2.3 */
    bool any = false;
    for (size_t i = 0; i < m->procs.len; i++)
        any = any || m->procs.item[i].unmarked;
    for (size_t i = 0; any && i < m->procs.len; i++) {
        struct nsc_proc *p = &m->procs.item[i];
        if (p->unmarked) { /* its texts are known from 2.3.5 on, and may be older */
            p->version_low = 0;
            p->version_high = LAST_UNMARKED;
        } else if (p->version_low < NSC_CHANGE_LINES_MARKED) {
            p->version_low = NSC_CHANGE_LINES_MARKED;
        }
    }
}

void nsc_version_settle(struct ncclscope_model *m)
{
    ncclscope_grammar *g = m->grammar;
    struct nsc_match match = {0};
    bool rccl = m->whole.rccl = is_rccl(m);
    m->grammar = NULL;
    if (!g || nsc_match_new(&match, NULL)) /* no record; or no memory, which is known */
        return;
    lengthen_bare_versions(m);
    if (!rccl) /* the table has the releases of NCCL */
        doubt_bare_versions(m, g, &match);
    share_all(m);
    for (size_t i = 0; !rccl && i < m->proc_order.len; i++)
        if (nsc_version_of(m, m->proc_order.item[i]).how == NSC_VERSION_UNKNOWN)
            narrow(m, &m->procs.item[m->proc_order.item[i]], g, &match);
    if (!rccl)
        narrow_by_mark(m);
    nsc_match_free(&match);
}

/* "41000" is no index: no machine has so many GPUs. */
static bool is_bus_id(nsc_text dev)
{
    uint64_t value;
    return nsc_to_hex(dev, &value) && value >= 0x1000;
}

/* By release: an NVML index from 2.18.3 on, a bus id from 2.5.6 to 2.18.1 (2.18.1 prints the CUDA index for cuMem), before that an
 * index of NVML for P2P (from 2.4.2) and of CUDA for everything else. */
enum nsc_brackets nsc_brackets_of(const struct ncclscope_model *m, const struct nsc_link *l)
{
    struct nsc_version v = nsc_version_of(m, l->proc);
    if (!l->src_dev)
        return NSC_BRACKETS_UNKNOWN;
    if (is_bus_id(nsc_say(m, l->src_dev))) /* RCCL prints it still */
        return NSC_BRACKETS_BUS_ID;
    if (v.low >= NSC_CHANGE_BRACKETS_NVML)
        return NSC_BRACKETS_NVML;
    if (v.low >= NSC_CHANGE_BRACKETS_BUS_ID && v.high < NSC_CHANGE_BRACKETS_NVML)
        return v.high == NSC_CHANGE_BRACKETS_CUDA_OF_CUMEM && l->row == NSC_VIA_P2P_CUMEM ? NSC_BRACKETS_CUDA
                                                                                          : NSC_BRACKETS_BUS_ID;
    if (v.low >= NSC_CHANGE_BRACKETS_NVML_OF_P2P && v.high < NSC_CHANGE_BRACKETS_BUS_ID)
        return l->family == NSC_P2P ? NSC_BRACKETS_NVML : NSC_BRACKETS_CUDA;
    if (v.high < NSC_CHANGE_BRACKETS_NVML_OF_P2P)
        return NSC_BRACKETS_CUDA;
    return NSC_BRACKETS_UNKNOWN;
}

static const unsigned oldest_known = 20305; /* of texts.def: what was printed before it nobody wrote down */

void nsc_version_spell(const struct nsc_version *v, char *out, size_t size)
{
    unsigned a = v->low, b = v->high;
    int n = snprintf(out, size, "%u.%u.%u", a / 10000, a / 100 % 100, a % 100);
    if (n < 0 || (size_t)n >= size || a == b)
        return;
    if (a <= oldest_known && b != NSC_VERSION_OPEN)
        snprintf(out, size, "up to %u.%u.%u", b / 10000, b / 100 % 100, b % 100);
    else if (b == NSC_VERSION_OPEN)
        snprintf(out + n, size - (size_t)n, " or later");
    else
        snprintf(out + n, size - (size_t)n, " to %u.%u.%u", b / 10000, b / 100 % 100, b % 100);
}

bool nsc_versions_are_apart(const struct ncclscope_model *m, uint32_t *older, uint32_t *newer)
{
    *older = *newer = NSC_NONE;
    unsigned high = NSC_VERSION_OPEN, low = 0;
    for (size_t i = 0; i < m->proc_order.len; i++) {
        uint32_t proc = m->proc_order.item[i];
        struct nsc_version v = nsc_version_of(m, proc);
        if (v.how == NSC_VERSION_UNKNOWN || m->procs.item[proc].nameless)
            continue;
        *older = v.high < high ? proc : *older;
        high = v.high < high ? v.high : high;
        *newer = v.low > low ? proc : *newer;
        low = v.low > low ? v.low : low;
    }
    return *older != NSC_NONE && *newer != NSC_NONE && high < low &&
           m->procs.item[*older].host != m->procs.item[*newer].host;
}

void nsc_spell_versions_apart(const struct ncclscope_model *m, char *out, size_t size)
{
    uint32_t older, newer;
    char a[60], b[60];
    out[0] = 0;
    if (!nsc_versions_are_apart(m, &older, &newer))
        return;
    struct nsc_version v = nsc_version_of(m, older), w = nsc_version_of(m, newer);
    nsc_version_spell(&v, a, sizeof a);
    nsc_version_spell(&w, b, sizeof b);
    snprintf(out, size, "NCCL %s on %.80s, %s on %.80s", a, nsc_say(m, m->procs.item[older].host).ptr, b,
             nsc_say(m, m->procs.item[newer].host).ptr);
}
