/* foreign.c - lines of other programs: a pasted topology matrix, the result rows of nccl-tests. */
#include "read/foreign.h"

#include "read/test_row.h"

/* Not "2025-01-02 03:04:05", with which many programs begin each line. */
static bool begins_with_count(nsc_text t)
{
    size_t i = 0;
    while (i < t.len && nsc_is_digit(t.ptr[i]))
        i++;
    return i && i < t.len && t.ptr[i] == ' ';
}

static bool is_gpu_or_nic(nsc_text word)
{
    return word.len > 3 && (nsc_text_starts(word, "GPU") || nsc_text_starts(word, "NIC")) && nsc_is_digit(word.ptr[3]);
}

/* "GPU0 GPU1 ... CPU Affinity", or "GPU0 X NV18 ..." of `nvidia-smi topo -m`. */
static ncclscope_kind matrix_kind(nsc_text body)
{
    nsc_text first = nsc_next_word(&body), second = nsc_next_word(&body);
    static const char *const cells[] = {"X",  "NV",  "PIX", "PXB", "PHB", "NODE", "SYS",
                                        "OK", "CNS", "GNS", "TNS", "NS",  "U"};
    if (!is_gpu_or_nic(first))
        return NCCLSCOPE_KIND_UNKNOWN;
    if (is_gpu_or_nic(second) || nsc_text_is(second, "CPU"))
        return NCCLSCOPE_KIND_MATRIX_HEAD;
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        if (nsc_text_starts(second, cells[i]))
            return NCCLSCOPE_KIND_MATRIX_ROW;
    return NCCLSCOPE_KIND_UNKNOWN;
}

ncclscope_kind nsc_foreign_kind(nsc_text body)
{
    nsc_text t = nsc_text_trim(body);
    if (!t.len)
        return NCCLSCOPE_KIND_UNKNOWN;
    if (t.ptr[0] == 'G' || (t.ptr[0] == 'N' && t.len > 1 && t.ptr[1] == 'I'))
        return matrix_kind(t);
    if (t.ptr[0] == '#' && nsc_text_starts(t, "# Collective test starting:"))
        return NCCLSCOPE_KIND_TEST_NAME;
    return begins_with_count(t) && nsc_test_columns(t) ? NCCLSCOPE_KIND_TEST_ROW : NCCLSCOPE_KIND_UNKNOWN;
}

/* A pair of what nccl-tests writes with -J: "size": 8, or all of them on one line. */
static bool is_test_json(nsc_text t)
{
    static const char *const keys[] = {
        "\"size\":",     "\"count\":", "\"type\":",   "\"redop\":",  "\"root\":",   "\"out_of_place\":",
        "\"in_place\":", "\"time\":",  "\"alg_bw\":", "\"bus_bw\":", "\"nwrong\":", NULL};
    if (t.ptr[0] == '{')
        return nsc_text_find(t, "\"bus_bw\":") >= 0;
    return nsc_text_starts_any(t, keys);
}

ncclscope_kind nsc_json_kind(nsc_text line, bool *ras)
{
    static const char *const begin[] = {
        "\"cuda_driver_version\":", "\"communicators_count\":", "\"secondary_hash\":", NULL};
    static const char *const end[] = {"\"timeouts_count\":", "\"results\":", "\"bus_bw\":", NULL};
    nsc_text t = nsc_text_trim(line);
    if (!t.len || (t.ptr[0] != '"' && t.ptr[0] != '{'))
        return NCCLSCOPE_KIND_UNKNOWN;
    bool now = *ras || nsc_text_has_any(t, begin);
    *ras = now && !nsc_text_has_any(t, end);
    if (now && nsc_text_find(t, "\"bus_bw\":") < 0)
        return NCCLSCOPE_KIND_RAS_JSON;
    return is_test_json(t) ? NCCLSCOPE_KIND_TEST_JSON : NCCLSCOPE_KIND_UNKNOWN;
}

/* Which rows are worth trying: most lines of a job log are of a program that nobody here knows, and there are many of them. */
static bool is_worth_it(const struct nsc_row *row, bool named, bool counts)
{
    if (row->pattern.head.len)
        return true;
    const char *field = row->pattern.template_ + 1; /* "{count:u} ranks ...", "{:u} ..." */
    return (named && field[0] != 'c') || (counts && (field[0] == 'c' || field[1] == 'u'));
}

/* Rows that would take any line: they hold where nsc_exception_row, nsc_panic_row, speaks_as_rank or what follows (said.h) say so. */
static bool is_by_place(const struct nsc_row *row)
{
    return row->kind == NCCLSCOPE_KIND_PY_RAISED || row->kind == NCCLSCOPE_KIND_PROGRAM_GOES_ON ||
           row->kind == NCCLSCOPE_KIND_PANIC_REASON || row->kind == NCCLSCOPE_KIND_RANK_SAID ||
           row->kind == NCCLSCOPE_KIND_SAID_BEFORE || row->kind == NCCLSCOPE_KIND_LAST_ERROR;
}

/* "rank 3: ...", "[rank 3] ...", "[rank3]: ...". */
static bool speaks_as_rank(nsc_text t)
{
    size_t at = t.ptr[0] == '[' || t.ptr[0] == '(';
    return t.len > at + 6 && (t.ptr[at] == 'r' || t.ptr[at] == 'R') && !memcmp(t.ptr + at + 1, "ank", 3) &&
           (nsc_is_digit(t.ptr[at + 4]) || nsc_is_digit(t.ptr[at + 5]));
}

/* What the ncclras client counts: "7 ranks have launched ...", and the row of a group of communicators in its table. */
static bool is_of_ras(nsc_text t)
{
    static const char *const words[] = {" ranks have ", " ranks reported ", " job process", " RUNNING ", " INIT ",
                                        " FINALIZE ",   " ABORT ",          " NOCOMM ",     NULL};
    return nsc_text_has_any(t, words);
}

const struct nsc_row *nsc_foreign_row(ncclscope_grammar *g, nsc_text body, bool hinted, struct nsc_match *m)
{
    nsc_text t = nsc_text_trim(body);
    if (t.len < 6 && !nsc_text_starts(t, "^C"))
        return NULL;
    bool named = hinted && nsc_hints_find(&g->hints, t) == NSC_HINT_OF_ROW;
    bool counts = begins_with_count(t) && is_of_ras(t);
    bool of_rank = speaks_as_rank(t);
    if (!named && !counts && !of_rank && !strchr("RMPWrsthw#eEFmnpoG:|^", t.ptr[0]))
        return NULL;
    nsc_chars chars = nsc_chars_of(t);
    for (size_t i = 0; i < g->others.rows; i++)
        if (!(g->others.row[i].chars & ~chars) && !is_by_place(&g->others.row[i]) &&
            is_worth_it(&g->others.row[i], named, counts) &&
            nsc_pattern_match(&g->others.row[i].pattern, &g->lock, t, m))
            return &g->others.row[i];
    return of_rank ? nsc_foreign_placed(g, NCCLSCOPE_KIND_RANK_SAID, t, m) : NULL;
}

const struct nsc_row *nsc_foreign_placed(ncclscope_grammar *g, ncclscope_kind kind, nsc_text text, struct nsc_match *m)
{
    for (size_t i = 0; i < g->others.rows; i++)
        if (g->others.row[i].kind == kind && nsc_pattern_match(&g->others.row[i].pattern, &g->lock, text, m))
            return &g->others.row[i];
    return NULL;
}

nsc_text nsc_glog_time(nsc_text line)
{
    for (size_t i = 0; i + 12 < line.len && i < 200; i++) {
        if (!strchr("IWEF", line.ptr[i]) || !line.ptr[i] || !nsc_is_digit(line.ptr[i + 1]) ||
            (i && line.ptr[i - 1] != '['))
            continue;
        nsc_text t = nsc_text_from(line, i + 1);
        nsc_text day = nsc_next_word(&t), clock = nsc_next_word(&t);
        if (day.len >= 3 && day.len <= 4 && clock.len >= 8 && clock.ptr[2] == ':' && clock.ptr[5] == ':')
            return (nsc_text){day.ptr, (size_t)(clock.ptr + clock.len - day.ptr)};
    }
    return (nsc_text){NULL, 0};
}
