/* other.c - what a job log holds beside NCCL's lines: nccl-tests rows, a topology matrix, version lines without a header. */
#include "model/model.h"
#include "model/version.h"
#include "model/scratch.h"
#include "read/foreign.h"
#include "read/test_row.h"
#include "read/user.h"

#include <stdio.h>

/* A release that a line without NCCL's header names: of this input's processes, where it names no other. */
static void take_version(struct ncclscope_model *m, const ncclscope_record *rec, nsc_str said, bool rccl)
{
    struct nsc_source_info *s = nsc_source_of_stream(m);
    nsc_text before = nsc_say(m, s->bare_version);
    if (s->bare_version && nsc_is_short_version(nsc_say(m, said), before))
        return;
    if (s->bare_version && nsc_is_short_version(before, nsc_say(m, said)))
        s->bare_version = said;
    if (s->bare_version && said != s->bare_version) {
        s->bare_many = s->bare_many || (s->bare_other && s->bare_other != said);
        s->bare_other = said;
        s->bare_doubtful = true;
    }
    if (s->bare_version)
        return;
    s->bare_version = said;
    s->bare_version_at = nsc_here(m, rec);
    s->bare_rccl = rccl;
}

void nsc_bare_version(struct ncclscope_model *m, const ncclscope_record *rec)
{
    nsc_source_of_stream(m)->banners++;
    take_version(m, rec, nsc_keep(m, nsc_record_field(rec, NCCLSCOPE_FIELD_VERSION)),
                 nsc_text_starts(rec->message, "RCCL "));
}

/* "21.1.4", "20.9.6": how a PyTorch that takes numbers apart as those before 2.9 were made (2708 is 2.7.8) spells 2.11.4 and 2.9.6. */
static nsc_text spelled_anew(nsc_text said, char *buf, size_t size)
{
    unsigned major, minor, patch;
    char words[32];
    int end = 0;
    snprintf(words, sizeof words, "%.*s", (int)(said.len < 31 ? said.len : 31), said.ptr);
    if (sscanf(words, "%u.%u.%u%n", &major, &minor, &patch, &end) != 3 || (size_t)end != said.len || major < 20 ||
        major > 29 || minor > 9 || patch > 99)
        return said;
    unsigned code = major * 1000 + minor * 100 + patch;
    struct nsc_version v = {NSC_VERSION_SOURCE, code, code, 0};
    nsc_version_spell(&v, buf, size);
    return nsc_text_of(buf);
}

/* "NCCL error in: ..., unhandled system error, NCCL version 2.27.3": PyTorch says which one it calls. "vLLM is using nccl==2.21.5" */
static void told_version(struct ncclscope_model *m, const ncclscope_record *rec)
{
    static const char before[] = "NCCL version ";
    char release[32];
    struct nsc_source_info *s = nsc_source_of_stream(m);
    ptrdiff_t at = nsc_text_find(rec->message, before);
    nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(rec->message, (size_t)at + sizeof before - 1);
    nsc_text said =
        rec->kind == NCCLSCOPE_KIND_VLLM_NCCL ? nsc_record_field(rec, NCCLSCOPE_FIELD_VERSION) : nsc_next_word(&rest);
    for (size_t i = 0; i < said.len; i++)
        if (said.ptr[i] == '[') /* "2.28.9[rank13": the next line was glued to it */
            said.len = i;
    while (said.len && !nsc_is_digit(said.ptr[said.len - 1]))
        said.len--;
    said = spelled_anew(said, release, sizeof release);
    if (!nsc_version_number(said) || s->bare_version)
        return;
    s->bare_version = nsc_keep(m, said);
    s->bare_version_at = nsc_here(m, rec);
}

/* "# nccl-tests version 2.19.6 nccl-headers=22501 nccl-library=22809": 2.28.9 is loaded. Before 2.9 such numbers are made in another way. */
static void tests_version(struct ncclscope_model *m, const ncclscope_record *rec)
{
    unsigned code = (unsigned)nsc_int(rec, NCCLSCOPE_FIELD_VERSION);
    struct nsc_version v = {NSC_VERSION_SOURCE, code, code, 0};
    char said[32];
    if (code < 20900 || code > 99999)
        return;
    nsc_version_spell(&v, said, sizeof said);
    take_version(m, rec, nsc_keep(m, nsc_text_of(said)),
                 nsc_text_is(nsc_record_field(rec, NCCLSCOPE_FIELD_NAME), "rccl"));
}

/* time algbw busbw [#wrong], out of place and then perhaps in place */
static void take_side(struct nsc_test *t, nsc_text *rest, bool counts)
{
    int i = t->sides;
    if (!nsc_to_f64(nsc_next_word(rest), &t->time_us[i]) || !nsc_to_f64(nsc_next_word(rest), &t->algbw[i]) ||
        !nsc_to_f64(nsc_next_word(rest), &t->busbw[i]))
        return;
    nsc_text last = nsc_next_word(rest); /* "N/A" without a check */
    t->wrong[i] = -1;
    if (nsc_text_is(last, "nan") || nsc_text_is(last, "inf"))
        t->error[i] = 1e300;
    else if (!nsc_to_i64(last, &t->wrong[i]) && nsc_to_f64(last, &t->error[i]) && counts) {
        t->wrong[i] = t->error[i] < 1e18 ? (int64_t)t->error[i] : INT64_MAX; /* "1.57286e+06", rounded as printed */
        t->error[i] = -1;
    }
    t->sides++;
}

static void test_row(struct ncclscope_model *m, const ncclscope_record *rec)
{
    nsc_text rest = rec->message;
    size_t columns = nsc_test_columns(rest);
    struct nsc_test *t = nsc_vec_push(&m->tests);
    if (!t) {
        m->no_memory = true;
        return;
    }
    t->error[0] = t->error[1] = -1;
    t->where = nsc_here(m, rec);
    t->in_pieces = !nsc_text_lies_in(rec->message, rec->physical);
    t->collective = nsc_stream_of(m)->test_name;
    nsc_to_u64(nsc_next_word(&rest), &t->bytes);
    nsc_to_u64(nsc_next_word(&rest), &t->count);
    t->type = nsc_keep(m, nsc_next_word(&rest));
    for (size_t i = 3; i < columns; i++) {
        nsc_text word = nsc_next_word(&rest);
        bool root = nsc_is_digit(word.ptr[0]) || word.ptr[0] == '-';
        *(root ? &t->root : &t->redop) = nsc_keep(m, word);
    }
    take_side(t, &rest, nsc_stream_of(m)->counts_wrong);
    if (t->sides)
        take_side(t, &rest, nsc_stream_of(m)->counts_wrong);
}

/* "# Collective test starting: all_reduce_perf" */
static void test_name(struct ncclscope_model *m, const ncclscope_record *rec)
{
    nsc_text rest = rec->message, word;
    nsc_text name = {NULL, 0};
    while ((word = nsc_next_word(&rest)).len)
        name = word;
    if (name.len > 5 && nsc_text_eq(nsc_text_from(name, name.len - 5), NSC_TEXT("_perf")))
        name.len -= 5;
    nsc_stream_of(m)->test_name = nsc_keep(m, name);
}

static bool is_device(nsc_text word)
{
    return (nsc_text_starts(word, "GPU") || nsc_text_starts(word, "NIC")) && word.len > 3 && nsc_is_digit(word.ptr[3]);
}

static void matrix_head(struct ncclscope_model *m, const ncclscope_record *rec)
{
    nsc_text rest = rec->message, word;
    struct nsc_matrix *x = nsc_vec_push(&m->matrices);
    if (!x) {
        m->no_memory = true;
        return;
    }
    x->where = nsc_here(m, rec);
    x->first = (uint32_t)m->cells.len;
    nsc_stream_of(m)->matrix_open = (uint32_t)(m->matrices.len - 1);
    while (is_device(word = nsc_next_word(&rest)))
        x->gpus += nsc_text_starts(word, "GPU");
}

static void matrix_row(struct ncclscope_model *m, const ncclscope_record *rec)
{
    nsc_text rest = rec->message, name = nsc_next_word(&rest);
    uint32_t *open = &nsc_stream_of(m)->matrix_open;
    if (*open == NSC_NONE || !nsc_text_starts(name, "GPU"))
        return;
    struct nsc_matrix *x = &m->matrices.item[*open];
    if (m->cells.len != x->first + x->cells) { /* another stream's stands between */
        *open = NSC_NONE;
        return;
    }
    for (uint32_t i = 0; i < x->gpus && x->cells < x->gpus * x->gpus; i++) {
        struct nsc_cell *cell = nsc_vec_push(&m->cells);
        if (!cell) {
            m->no_memory = true;
            return;
        }
        cell->text = nsc_keep(m, nsc_next_word(&rest));
        x->cells++;
    }
    if (x->cells == x->gpus * x->gpus)
        *open = NSC_NONE;
}

/* "[rank9]:[E129 16:38:47.7 ...", "(MegatronPolicyWorker[rank=9] pid=3098846) [rank9]:...": PyTorch's own mark; -1: there is none. */
static int64_t torch_rank(nsc_text line)
{
    for (ptrdiff_t at = nsc_text_find(line, "[rank"); at >= 0; at = nsc_text_find(line, "[rank")) {
        line = nsc_text_from(line, (size_t)at + 5);
        const char *end = line.len ? memchr(line.ptr, ']', line.len) : NULL;
        int64_t rank;
        if (end && nsc_to_i64((nsc_text){line.ptr, (size_t)(end - line.ptr)}, &rank))
            return rank;
    }
    return -1;
}

static void keep_record(struct ncclscope_model *m, const ncclscope_record *rec, struct nsc_own_record *r)
{
    *r = (struct nsc_own_record){.where = nsc_here(m, rec),
                                 .kind = nsc_keep(m, nsc_text_of(ncclscope_record_kind_name(rec))),
                                 .number = rec->kind,
                                 .host = nsc_keep(m, rec->host),
                                 .time = nsc_keep(m, rec->time),
                                 .pid = rec->pid,
                                 .launcher_rank = rec->launcher_rank,
                                 .torch_rank = torch_rank(rec->physical),
                                 .first = (uint32_t)m->own_fields.len};
    ncclscope_field field;
    ncclscope_text text;
    for (size_t i = 0; ncclscope_record_field(rec, i, &field, &text) == NCCLSCOPE_OK; i++) {
        struct nsc_own_field *f = nsc_vec_push(&m->own_fields);
        if (!f) {
            m->no_memory = true;
            return;
        }
        f->name = nsc_keep(m, nsc_text_of(ncclscope_record_field_name(rec, field, &f->type)));
        f->text = nsc_keep(m, nsc_text_trim(text));
        r->fields++;
    }
}

void nsc_apply_own(struct ncclscope_model *m, const ncclscope_record *rec)
{
    struct nsc_own_record *r = m->own_records.len < NSC_OWN_RECORDS ? nsc_vec_push(&m->own_records) : NULL;
    if (r)
        keep_record(m, rec, r);
    else if (m->own_records.len < NSC_OWN_RECORDS)
        m->no_memory = true;
    else
        m->own_more++;
}

bool nsc_is_p2p_matrix(const struct ncclscope_model *m, const struct nsc_matrix *x)
{
    static const char *const words[] = {"OK", "CNS", "GNS", "TNS", "NS", "U"};
    for (uint32_t i = 0; i < x->cells; i++)
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            if (nsc_text_is(nsc_say(m, m->cells.item[x->first + i].text), words[k]))
                return true;
    return false;
}

/* ---- what happened: PyTorch, launchers, ncclras ---- */

/* Does a line of this kind tell that something went wrong, or of what did? Not one that tells of a machine, a command, progress or a good end. */
bool nsc_is_trouble(ncclscope_kind kind)
{
    static const ncclscope_kind plain[] = {
        NCCLSCOPE_KIND_TEST_RANK,        NCCLSCOPE_KIND_TEST_BOUNDS,     NCCLSCOPE_KIND_TEST_AVERAGE,
        NCCLSCOPE_KIND_PROGRAM_DONE,     NCCLSCOPE_KIND_COMMAND,         NCCLSCOPE_KIND_GPU_LISTED,
        NCCLSCOPE_KIND_GPU_IN_TABLE,     NCCLSCOPE_KIND_GPU_OF_TF,       NCCLSCOPE_KIND_DEVICE_CAPABILITY,
        NCCLSCOPE_KIND_PEERMEM_LOADED,   NCCLSCOPE_KIND_WORLD_SIZE,      NCCLSCOPE_KIND_SLURM_NODES,
        NCCLSCOPE_KIND_RDMA_NETDEV,      NCCLSCOPE_KIND_TEST_COLUMNS,    NCCLSCOPE_KIND_INSTANCE_TYPE,
        NCCLSCOPE_KIND_JOB_DONE,         NCCLSCOPE_KIND_TORCH_OPTIONS,   NCCLSCOPE_KIND_TORCH_ENV,
        NCCLSCOPE_KIND_TORCH_WORK,       NCCLSCOPE_KIND_TRAINER_DONE,    NCCLSCOPE_KIND_ELASTIC_DONE,
        NCCLSCOPE_KIND_HOROVOD_TOTAL,    NCCLSCOPE_KIND_VLLM_NO_P2P,     NCCLSCOPE_KIND_NO_PCIE_ATOMICS,
        NCCLSCOPE_KIND_LIBFABRIC_NO_GPU, NCCLSCOPE_KIND_RANK_SAID,       NCCLSCOPE_KIND_KEYBOARD_STOP,
        NCCLSCOPE_KIND_LIBFABRIC_EMPTY,  NCCLSCOPE_KIND_TORCH_LEFT_OPEN, NCCLSCOPE_KIND_PY_INTERRUPTED,
        NCCLSCOPE_KIND_TEST_TRACE,       NCCLSCOPE_KIND_SANITIZER,       NCCLSCOPE_KIND_VERBS_TROUBLE,
        NCCLSCOPE_KIND_FABRIC_MANAGER,   NCCLSCOPE_KIND_SETTING_SAID,    NCCLSCOPE_KIND_RAS_GROUP,
        NCCLSCOPE_KIND_RAS_ASKED,        NCCLSCOPE_KIND_SAID_BEFORE,     NCCLSCOPE_KIND_DEBUGGER,
        NCCLSCOPE_KIND_LIBFABRIC_NO_MR,  NCCLSCOPE_KIND_PROGRAM_NVLINK,  NCCLSCOPE_KIND_TORCH_RAISED_AT,
        NCCLSCOPE_KIND_PROGRAM_NO_PEER,  NCCLSCOPE_KIND_TORCH_STACK,     NCCLSCOPE_KIND_TORCH_FRAME,
        NCCLSCOPE_KIND_TORCH_STORE_GONE, NCCLSCOPE_KIND_RUN_ALONE,       NCCLSCOPE_KIND_SPAWN_RAISED,
        NCCLSCOPE_KIND_PY_FRAME,         NCCLSCOPE_KIND_PY_TRACEBACK,    NCCLSCOPE_KIND_PY_THREAD_RAISED,
        NCCLSCOPE_KIND_EXIT_TOLD,        NCCLSCOPE_KIND_POD_ENDED,       NCCLSCOPE_KIND_RUNTIME_DIED,
        NCCLSCOPE_KIND_TOOL_FAILED,      NCCLSCOPE_KIND_SHELL_FAILED,    NCCLSCOPE_KIND_KERNEL_XID,
        NCCLSCOPE_KIND_HUNG_DUMP,        NCCLSCOPE_KIND_PROGRAM_GOES_ON, NCCLSCOPE_KIND_ERROR_ALONE,
        NCCLSCOPE_KIND_ERROR_SAID,       NCCLSCOPE_KIND_LSF_STDERR,      NCCLSCOPE_KIND_VLLM_NCCL,
        NCCLSCOPE_KIND_VLLM_NO_NVLINK,   NCCLSCOPE_KIND_LAST_ERROR,      NCCLSCOPE_KIND_KERNEL_RDMA,
        NCCLSCOPE_KIND_PY_CRASHED,       NCCLSCOPE_KIND_PY_CRASH_FRAME,  NCCLSCOPE_KIND_LIBFABRIC_WARNED,
        NCCLSCOPE_KIND_TORCH_NO_STACK};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (plain[i] == kind)
            return false;
    return true;
}

/* Of which a job of many ranks may print more than all else together. */
bool nsc_comes_in_heaps(ncclscope_kind kind)
{
    return kind == NCCLSCOPE_KIND_TORCH_FRAME || kind == NCCLSCOPE_KIND_PY_FRAME ||
           kind == NCCLSCOPE_KIND_PY_TRACEBACK || kind == NCCLSCOPE_KIND_ERROR_ALONE ||
           kind == NCCLSCOPE_KIND_TORCH_STORE_GONE || kind == NCCLSCOPE_KIND_LIBFABRIC_WARNED;
}

/* What a program reports at the end of the input is looked for alone: one right before another is forgotten. */
static void forget_last_error(struct ncclscope_model *m)
{
    const struct nsc_own_record *last = m->happened.len ? &m->happened.item[m->happened.len - 1] : NULL;
    if (!last || last->number != NCCLSCOPE_KIND_ERROR_SAID || last->where.source != nsc_stream_of(m)->source)
        return;
    if (last->first + last->fields == m->own_fields.len) /* else a row of the user's stands behind it */
        m->own_fields.len = last->first;
    m->happened.len--;
    m->errors_said--;
}

/* Of the stack of a thread that crashed the innermost frame is kept: that right behind the line which names the thread. "<no Python frame>" may
 * stand there instead, and other threads below it. */
static bool is_outer_frame(struct ncclscope_model *m, const ncclscope_record *rec)
{
    const struct nsc_own_record *last = m->happened.len ? &m->happened.item[m->happened.len - 1] : NULL;
    if (rec->kind != NCCLSCOPE_KIND_PY_CRASH_FRAME)
        return false;
    struct nsc_where here = nsc_at(m, rec);
    return !last || last->number != NCCLSCOPE_KIND_PY_CRASHED || last->where.source != here.source ||
           last->where.line + 1 != here.line;
}

static void happened(struct ncclscope_model *m, const ncclscope_record *rec)
{
    if (is_outer_frame(m, rec))
        return;
    m->troubles += nsc_is_trouble(rec->kind);
    if (rec->kind == NCCLSCOPE_KIND_RANK_SAID && m->words_of_ranks++ >= NSC_WORDS_OF_RANKS)
        return;
    if (nsc_comes_in_heaps(rec->kind) && m->heaped++ >= NSC_HEAPED)
        return;
    if (rec->kind == NCCLSCOPE_KIND_ERROR_SAID) {
        forget_last_error(m);
        if (m->errors_said++ >= NSC_ERRORS_SAID)
            return;
    }
    struct nsc_own_record *r = m->happened.len < NSC_OWN_RECORDS ? nsc_vec_push(&m->happened) : NULL;
    if (r)
        keep_record(m, rec, r);
    else if (m->happened.len < NSC_OWN_RECORDS)
        m->no_memory = true;
}

nsc_str nsc_field_of(const struct ncclscope_model *m, const struct nsc_own_record *r, const char *name)
{
    for (uint32_t i = 0; i < r->fields; i++)
        if (nsc_text_is(nsc_say(m, m->own_fields.item[r->first + i].name), name))
            return m->own_fields.item[r->first + i].text;
    return 0;
}

nsc_text nsc_said(const struct ncclscope_model *m, const struct nsc_own_record *r, const char *name)
{
    nsc_str s = nsc_field_of(m, r, name);
    return s ? nsc_say(m, s) : (nsc_text){NULL, 0};
}

bool nsc_number_said(const struct ncclscope_model *m, const struct nsc_own_record *r, const char *name, int64_t *out)
{
    return nsc_to_i64(nsc_said(m, r, name), out);
}

void nsc_apply_other(struct ncclscope_model *m, const ncclscope_record *rec)
{
    switch ((int)rec->kind) {
    case NCCLSCOPE_KIND_TEST_ROW: test_row(m, rec); break;
    case NCCLSCOPE_KIND_TEST_NAME: test_name(m, rec); break;
    case NCCLSCOPE_KIND_MATRIX_HEAD: matrix_head(m, rec); break;
    case NCCLSCOPE_KIND_MATRIX_ROW: matrix_row(m, rec); break;
    case NCCLSCOPE_KIND_TOPO_XML: nsc_apply_topo_xml(m, rec); break;
    case NCCLSCOPE_KIND_TEST_JSON:
    case NCCLSCOPE_KIND_RAS_JSON: nsc_apply_json(m, rec); break;
    case NCCLSCOPE_KIND_TEST_VERSION: tests_version(m, rec); break;
    case NCCLSCOPE_KIND_TEST_BEGIN: m->tests_begun++; break;
    case NCCLSCOPE_KIND_TEST_COLUMNS: /* up to nccl-tests 2.11 the last column is an error, not a count */
        nsc_stream_of(m)->counts_wrong = nsc_text_find(rec->message, "#wrong") >= 0;
        happened(m, rec);
        break;
    default:
        m->tests_ended += rec->kind == NCCLSCOPE_KIND_TEST_BOUNDS;
        told_version(m, rec);
        happened(m, rec);
        break;
    }
}
