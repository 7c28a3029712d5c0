/* test_rows.c - rows of columns.def as a caller sees them: counts, strides of other releases, what is not said, and what tables tell of
 * themselves. That the rows hold what the report holds is check-rows.py's to test. */
#include "ncclscope/rows.h"
#include "scene.h"

#include <math.h>

static void test_counts_and_pieces(void)
{
    struct scene scene = {0};
    const ncclscope_model *m =
        scene_of(&scene, "vm:10:10 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
                         "vm:10:10 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
                         "vm:10:10 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via SHM/direct/direct\n");
    ncclscope_link link[3];
    CHECK_INT(ncclscope_model_links(m, 0, 0, NULL, 0), 2);
    CHECK_INT(ncclscope_model_links(m, 0, 3, link, sizeof *link), 2);
    CHECK_INT(link[1].src, 1);
    CHECK_INT(link[1].path, NCCLSCOPE_PATH_SHM);
    CHECK(!memcmp(link[0].via.ptr, "P2P/CUMEM", link[0].via.len));
    CHECK_INT(ncclscope_model_links(m, 1, 3, link, sizeof *link), 1);
    CHECK_INT(link[0].src, 1);
    CHECK_INT(ncclscope_model_links(m, 2, 3, link, sizeof *link), 0);
    CHECK_INT(ncclscope_model_links(m, 99, 3, link, sizeof *link), 0);
    CHECK_INT(ncclscope_model_rows(m, -1, 0, 0, NULL, 0), 0);
    CHECK_INT(ncclscope_model_rows(m, NCCLSCOPE_TABLES, 0, 0, NULL, 0), 0);
    CHECK_INT(ncclscope_model_rows(m, NCCLSCOPE_TABLE_finding, 0, 0, NULL, 0), 0); /* findings lend those */
    scene_end(&scene);
}

/* A program of an older release has the first columns, one of a newer gets zeros behind the last. */
static void test_strides(void)
{
    struct scene scene = {0};
    const ncclscope_model *m = scene_of(&scene, "vm:10:10 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
                                                "vm:10:10 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via P2P/CUMEM\n");
    struct {
        ncclscope_link link;
        int64_t later;
    } newer[2];
    struct {
        int64_t comm, attribution, other_comm, src;
    } older[2];
    memset(newer, 0x55, sizeof newer);
    CHECK_INT(ncclscope_model_rows(m, NCCLSCOPE_TABLE_link, 0, 2, newer, sizeof *newer), 2);
    CHECK_INT(newer[1].link.src, 1);
    CHECK_INT(newer[1].later, 0);
    CHECK_INT(ncclscope_model_rows(m, NCCLSCOPE_TABLE_link, 0, 2, older, sizeof *older), 2);
    CHECK_INT(older[0].src, 0);
    CHECK_INT(older[1].src, 1);
    CHECK(older[0].comm == NCCLSCOPE_UNSAID);
    scene_end(&scene);
}

static void test_not_said(void)
{
    struct scene scene = {0};
    const ncclscope_model *m =
        scene_of(&scene, "vm:10:10 [0] NCCL INFO comm 0x10 rank 0 nranks 2 cudaDev 0 busId 60 - Init COMPLETE\n");
    ncclscope_rank rank;
    ncclscope_comm comm;
    CHECK_INT(ncclscope_model_ranks(m, 0, 1, &rank, sizeof rank), 1);
    CHECK_INT(ncclscope_model_comms(m, 0, 1, &comm, sizeof comm), 1);
    CHECK_INT(rank.cuda_dev, 0);
    CHECK(rank.nvml_dev == NCCLSCOPE_UNSAID);
    CHECK(isnan(rank.init_seconds));
    CHECK(comm.parent.ptr == NULL);
    CHECK_INT(comm.crosses_hosts, -1);
    CHECK(comm.nnodes == NCCLSCOPE_UNSAID);
    scene_end(&scene);
}

static void test_unfinished(void)
{
    ncclscope_model *m = NULL;
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    CHECK_INT(ncclscope_model_source(m, "a"), 0);
    CHECK_INT(ncclscope_model_sources(m, 0, 0, NULL, 0), 0);
    ncclscope_model_free(m);
}

static void test_tables_tell_of_themselves(void)
{
    ncclscope_table_info t = {.size = sizeof t};
    ncclscope_column_info c = {.size = sizeof c}, old = {.size = 2 * sizeof(void *)};
    CHECK_INT(ncclscope_table_get(NCCLSCOPE_TABLE_link, &t), 0);
    CHECK(!strcmp(t.name, "link") && !strcmp(t.rows, "links") && !strcmp(t.owner, "model"));
    CHECK_INT(t.row_size, sizeof(ncclscope_link));
    CHECK_INT(ncclscope_table_get(-1, &t), NCCLSCOPE_ENOTFOUND);
    CHECK_INT(ncclscope_table_get(NCCLSCOPE_TABLES, &t), NCCLSCOPE_ENOTFOUND);
    for (int table = 0; ncclscope_table_get(table, &t) == NCCLSCOPE_OK; table++) {
        size_t end = 0;
        for (int i = 0; i < t.columns; i++) {
            CHECK_INT(ncclscope_column_get(table, i, &c), 0);
            CHECK_INT(c.offset, end);
            end += c.type == NCCLSCOPE_TYPE_TEXT ? sizeof(ncclscope_text) : sizeof(int64_t);
            CHECK(c.words[0] && (c.type != NCCLSCOPE_TYPE_ENUM || ncclscope_word_of(c.unit, 1)));
        }
        CHECK_INT(end, t.row_size);
        CHECK_INT(ncclscope_column_get(table, t.columns, &c), NCCLSCOPE_ENOTFOUND);
        CHECK_INT(ncclscope_column_get(table, -1, &c), NCCLSCOPE_ENOTFOUND);
    }
    old.unit = "untouched";
    CHECK_INT(ncclscope_column_get(0, 0, &old), 0);
    CHECK(!strcmp(old.name, "name") && !strcmp(old.unit, "untouched"));
    CHECK(!strcmp(ncclscope_word_of("path", NCCLSCOPE_PATH_NVLINK), "nvlink"));
    CHECK(!ncclscope_word_of("path", 99) && !ncclscope_word_of("no set", 0) && !ncclscope_word_of(NULL, 0));
}

static void test_findings(void)
{
    struct scene scene = {0};
    const ncclscope_model *m =
        scene_of(&scene, "vm:10:10 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
                         "vm:10:10 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1\n"
                         "vm:10:10 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n");
    ncclscope_findings *f = NULL;
    ncclscope_finding finding;
    ncclscope_evidence evidence;
    CHECK_INT(ncclscope_analyse(&f, m, NULL), 0);
    CHECK_INT(ncclscope_findings_all(f, 0, 0, NULL, 0), ncclscope_findings_count(f));
    CHECK_INT(ncclscope_findings_all(f, 0, 1, &finding, sizeof finding), 1);
    CHECK(!strcmp(finding.id.ptr, ncclscope_finding_id(f, 0)));
    CHECK(finding.number > 0 && finding.severity == ncclscope_finding_severity(f, 0));
    CHECK_INT(ncclscope_findings_evidence(f, 0, 1, &evidence, sizeof evidence), 1);
    CHECK(evidence.finding == 0 && evidence.source == 0 && evidence.line > 0 && evidence.text.len > 0);
    CHECK_INT(ncclscope_findings_rows(f, NCCLSCOPE_TABLE_link, 0, 0, NULL, 0), 0); /* the model lends those */
    ncclscope_findings_free(f);
    scene_end(&scene);
}

CHECKS(TEST(test_counts_and_pieces), TEST(test_strides), TEST(test_not_said), TEST(test_unfinished),
       TEST(test_tables_tell_of_themselves), TEST(test_findings))
