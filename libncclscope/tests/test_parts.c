/* test_parts.c - models of parts of a job, carried as bytes and put together in any grouping, are the model of one scan of all parts. */
#include "data.h"
#include "scene.h"

#include "model/parts.h"
#include "read/transport.h"

#include <ftw.h>

enum { MOST_PARTS = 7, MOST_LOGS = 400 };

static ncclscope_grammar *grammar;
static char *logs[MOST_LOGS];
static size_t log_count;

static void add_part(ncclscope_model *m, size_t number, nsc_text text)
{
    ncclscope_reader *r = NULL;
    const ncclscope_record *rec;
    char name[32];
    snprintf(name, sizeof name, "part%zu", number);
    CHECK_INT(ncclscope_reader_new(&r, grammar, NULL), 0);
    CHECK_INT(ncclscope_model_source(m, name), 0);
    CHECK_INT(ncclscope_reader_feed(r, text.ptr, text.len), 0);
    ncclscope_reader_finish(r);
    while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK)
        CHECK_INT(ncclscope_model_add(m, rec), 0);
    CHECK_INT(ncclscope_model_source_end(m, r, number % 3 == 2 ? "cut here" : NULL), 0);
    ncclscope_reader_free(r);
}

static ncclscope_model *carried(ncclscope_model *m, size_t *size)
{
    struct data bytes = {0};
    ncclscope_model *out = NULL;
    CHECK_INT(ncclscope_model_save(m, data_take, &bytes, NULL), 0);
    CHECK_INT(ncclscope_model_load(&out, grammar, bytes.ptr, bytes.len, NULL), 0);
    *size += bytes.len;
    data_drop(&bytes);
    ncclscope_model_free(m);
    return out;
}

static ncclscope_model *part_of(size_t number, nsc_text text, size_t *size)
{
    ncclscope_model *m = NULL;
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    add_part(m, number, text);
    return carried(m, size);
}

static struct data report_of(ncclscope_model *m)
{
    CHECK_INT(ncclscope_model_finish(m, NULL), 0);
    struct data out = scene_report(m);
    ncclscope_model_free(m);
    return out;
}

static struct data in_one_scan(const nsc_text *part, size_t n)
{
    ncclscope_model *m = NULL;
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    for (size_t i = 0; i < n; i++)
        add_part(m, i, part[i]);
    return report_of(m);
}

static void merge(ncclscope_model *into, ncclscope_model *from)
{
    CHECK_INT(ncclscope_model_merge(into, from, NULL), 0);
    ncclscope_model_free(from);
}

/* Each part to those before it; with `inwards` each to those behind it, and what came of that is carried once more. */
static struct data put_together(const nsc_text *part, size_t n, bool inwards, size_t *size)
{
    ncclscope_model *m[MOST_PARTS] = {NULL};
    *size = 0;
    for (size_t i = 0; i < n; i++)
        m[i] = part_of(i, part[i], size);
    if (!inwards)
        for (size_t i = 1; i < n; i++)
            merge(m[0], m[i]);
    else
        for (size_t i = n - 1; i > 0; i--)
            merge(m[i - 1], m[i]);
    size_t again = 0;
    return report_of(inwards ? carried(m[0], &again) : m[0]);
}

/* Pieces that end with lines, of about equal length. */
static size_t cut(nsc_text text, size_t n, nsc_text *part)
{
    size_t begin = 0, parts = 0;
    for (size_t i = 1; i <= n && begin < text.len; i++) {
        size_t end = text.len * i / n;
        const char *line = i < n && end > begin ? memchr(text.ptr + end, '\n', text.len - end) : NULL;
        end = line ? (size_t)(line - text.ptr) + 1 : i < n ? begin : text.len;
        if (end > begin)
            part[parts++] = (nsc_text){text.ptr + begin, end - begin};
        begin = end;
    }
    return parts;
}

static int note_log(const char *path, const struct stat *st, int type)
{
    bool is_log = type == FTW_F && strstr(path, ".log") && st->st_size < 400 * 1024;
    if (is_log && log_count < MOST_LOGS)
        logs[log_count++] = strdup(path + strlen(getenv("TESTDATA")) + 1);
    return 0;
}

static void check_cuts(const char *name, size_t n)
{
    struct data log = data_load(name), whole, outwards, inwards;
    nsc_text part[MOST_PARTS];
    size_t size, parts = cut(data_text(&log), n, part);
    whole = in_one_scan(part, parts);
    outwards = put_together(part, parts, false, &size);
    inwards = put_together(part, parts, true, &size);
    bool same = nsc_text_eq(data_text(&whole), data_text(&outwards)),
         again = nsc_text_eq(data_text(&whole), data_text(&inwards));
    if (!same || !again)
        printf("%s in %zu parts: %s\n", name, parts,
               same ? "put together inwards it differs" : "put together it differs");
    CHECK(same && again);
    data_drop(&log);
    data_drop(&whole);
    data_drop(&outwards);
    data_drop(&inwards);
}

static void test_every_log(void)
{
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), 0);
    CHECK_INT(ftw(getenv("TESTDATA"), note_log, 16), 0);
    CHECK(log_count > 100);
    for (size_t i = 0; i < log_count; i++) {
        check_cuts(logs[i], 2 + i % 3);
        check_cuts(logs[i], MOST_PARTS);
    }
}

/* What travels is smaller than the packed log that it came from. */
static void test_size(void)
{
    size_t logs_size = 0, size = 0;
    for (size_t i = 0; i < log_count; i++) {
        struct data log = data_load(logs[i]), packed = {0};
        if (strstr(logs[i], "logs/2.")) {
            data_pack(&packed, data_text(&log));
            ncclscope_model_free(part_of(0, data_text(&log), &size));
            logs_size += packed.len;
        }
        data_drop(&packed);
        data_drop(&log);
    }
    printf("saved: %zu bytes, logs packed by gzip: %zu\n", size, logs_size);
    CHECK(size && size < logs_size);
}

static void test_misuse(void)
{
    ncclscope_model *m = NULL, *other = NULL;
    struct data bytes = {0};
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    CHECK_INT(ncclscope_model_new(&other, NULL), 0);
    CHECK_INT(ncclscope_model_merge(m, m, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_merge(m, NULL, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_source(other, "open"), 0);
    CHECK_INT(ncclscope_model_merge(m, other, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_merge(other, m, NULL), 0);
    CHECK_INT(ncclscope_model_save(other, data_take, &bytes, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_source_end(other, NULL, NULL), 0);
    CHECK_INT(ncclscope_model_save(other, data_take, &bytes, NULL), 0);
    CHECK_INT(ncclscope_model_finish(m, NULL), 0);
    CHECK_INT(ncclscope_model_merge(other, m, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_merge(m, other, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_save(m, data_take, &bytes, NULL), NCCLSCOPE_EINVAL);
    ncclscope_model_free(m);
    ncclscope_model_free(other);
    data_drop(&bytes);
}

static int load_of(const ncclscope_model *m)
{
    struct data bytes = {0};
    ncclscope_model *out = NULL;
    CHECK_INT(ncclscope_model_save(m, data_take, &bytes, NULL), 0);
    int rc = ncclscope_model_load(&out, grammar, bytes.ptr, bytes.len, NULL);
    CHECK((rc == NCCLSCOPE_OK) == (out != NULL));
    ncclscope_model_free(out);
    data_drop(&bytes);
    return rc;
}

static int load_with(const ncclscope_model *m, char *at, size_t size, int64_t value)
{
    char kept[8];
    memcpy(kept, at, size);
    memcpy(at, &value, size); /* the low bytes come first */
    int rc = load_of(m);
    memcpy(at, kept, size);
    return rc;
}

/* How many values a member of this kind may have from 0 on; 0: any. */
static int64_t values_of(const ncclscope_model *m, enum nsc_member_kind kind)
{
    enum nsc_part_id target = nsc_target_of(kind);
    bool piece = kind == NSC_MEMBER_FIELD || kind == NSC_MEMBER_COUNT || kind == NSC_MEMBER_CELL;
    switch ((int)kind) {
    case NSC_MEMBER_STR: return (int64_t)m->strings.text.len;
    case NSC_MEMBER_FLAG: return 2;
    case NSC_MEMBER_INT32: return (int64_t)INT32_MAX + 1;
    case NSC_MEMBER_LEVEL: return NCCLSCOPE_LEVEL_DIAG + 1;
    case NSC_MEMBER_DIRECTION:
    case NSC_MEMBER_SIDES: return 3;
    case NSC_MEMBER_TRANSPORT: return NSC_VIA_COUNT;
    case NSC_MEMBER_FAMILY: return NSC_COLLNET + 1;
    case NSC_MEMBER_ATTRIBUTION: return NSC_STATED + 1;
    default: return target == NSC_PARTS ? 0 : (int64_t)nsc_array_of(m, target).len + piece;
    }
}

/* Members that hold what none may: an index beyond its array, a number that is none of an enum. */
static void test_unsound(void)
{
    static const char *const files[] = {"logs/2.28.9/h200x8-tuning-coll.log.gz", "topo/h200x8-topo-m.txt",
                                        "cases/other-ncclras-json-compact/job.log", "logs/2.28.9/h200x8-debug-warn.log",
                                        "cases/other-torch-watchdog/train.log"};
    ncclscope_model *m = NULL;
    size_t tried = 0, parts = 0;
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct data log = data_load(files[i]);
        add_part(m, i, data_text(&log));
        data_drop(&log);
    }
    CHECK_INT(load_of(m), 0);
    for (int id = 0; id < NSC_PARTS; id++) {
        struct nsc_array rows = nsc_array_of(m, (enum nsc_part_id)id);
        size_t n;
        const struct nsc_member *member = nsc_members_of(&nsc_parts[id], &n);
        parts += rows.len > 0;
        for (size_t k = 0; rows.len && k < n; k++) {
            int64_t values = values_of(m, member[k].kind);
            char *at = rows.item + (rows.len - 1) * nsc_parts[id].size + member[k].at;
            if (!values)
                continue;
            CHECK_INT(load_with(m, at, member[k].size, values), NCCLSCOPE_EDATA);
            if (member[k].kind != NSC_MEMBER_FLAG)
                CHECK_INT(load_with(m, at, member[k].size, -2), NCCLSCOPE_EDATA);
            tried++;
        }
    }
    CHECK(tried > 100 && parts > 15);
    struct nsc_matrix *x = &m->matrices.item[0];
    struct nsc_own_record *r = &m->happened.item[m->happened.len - 1];
    CHECK_INT(load_with(m, (char *)&x->cells, sizeof x->cells, x->cells + 1), NCCLSCOPE_EDATA);
    CHECK_INT(load_with(m, (char *)&x->gpus, sizeof x->gpus, 65536), NCCLSCOPE_EDATA);
    CHECK_INT(load_with(m, (char *)&r->fields, sizeof r->fields, (int64_t)m->own_fields.len + 1), NCCLSCOPE_EDATA);
    CHECK_INT(load_with(m, (char *)&m->ras.item[0].counts, sizeof(uint32_t), (int64_t)m->ras_counts.len + 1),
              NCCLSCOPE_EDATA);
    CHECK_INT(load_with(m, (char *)&m->procs.item[0].first.source, sizeof(uint32_t), (int64_t)m->sources.len),
              NCCLSCOPE_EDATA);
    ncclscope_model_free(m);
}

/* Cut anywhere, with any byte changed: a sentence, and no model. */
static void test_damage(void)
{
    struct data log = data_load("logs/2.28.9/h200x8-debug-warn.log"), bytes = {0};
    ncclscope_model *m = NULL, *out = NULL;
    ncclscope_error why;
    size_t padding = 0;
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    add_part(m, 0, data_text(&log));
    CHECK_INT(ncclscope_model_save(m, data_take, &bytes, NULL), 0);
    for (size_t i = 0; i < bytes.len; i++) {
        CHECK_INT(ncclscope_model_load(&out, grammar, bytes.ptr, i, &why), NCCLSCOPE_EDATA);
        CHECK(!out && why.text[0]);
        bytes.ptr[i] ^= 4;
        int rc = ncclscope_model_load(&out, grammar, bytes.ptr, bytes.len, &why);
        CHECK(rc == NCCLSCOPE_OK || rc == (i >= 8 && i < 12 ? NCCLSCOPE_EABI : NCCLSCOPE_EDATA));
        padding += rc == NCCLSCOPE_OK;
        ncclscope_model_free(out);
        bytes.ptr[i] ^= 4;
    }
    CHECK(padding <= 1); /* bits behind the end of what zlib packed, in its last byte */
    CHECK_INT(ncclscope_model_load(NULL, grammar, bytes.ptr, bytes.len, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_load(&out, NULL, bytes.ptr, bytes.len, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_model_load(&out, grammar, NULL, 0, NULL), NCCLSCOPE_EDATA);
    ncclscope_model_free(m);
    data_drop(&log);
    data_drop(&bytes);
    ncclscope_grammar_free(grammar);
    for (size_t i = 0; i < log_count; i++)
        free(logs[i]);
}

/* A worker that had no log has a part, too. */
static void test_empty(void)
{
    size_t size = 0;
    ncclscope_model *m = NULL;
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    ncclscope_model *again = carried(m, &size);
    CHECK(size > 0);
    ncclscope_model_free(again);
}

CHECKS(TEST(test_every_log), TEST(test_empty), TEST(test_size), TEST(test_misuse), TEST(test_unsound),
       TEST(test_damage))
