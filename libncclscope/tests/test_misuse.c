/* test_misuse.c - NULL where something is wanted, and things in the wrong order: EINVAL and nothing done, for every function of the headers. */
#include "data.h"
#include "ncclscope/fleet.h"
#include "ncclscope/jobs.h"
#include "ncclscope/probe.h"
#include "ncclscope/store.h"
#include "scene.h"

#define REFUSES(call) CHECK_INT(call, NCCLSCOPE_EINVAL)
#define REFUSES_SAYING(call) \
    do { \
        err = (ncclscope_error){0}; \
        REFUSES(call); \
        CHECK(err.code == NCCLSCOPE_EINVAL && err.text[0]); \
    } while (0)

static ncclscope_error err;
static ncclscope_grammar *g;
static ncclscope_reader *r, *none;

static void test_reading(void)
{
    const ncclscope_record *rec;
    ncclscope_stats stats = {.size = sizeof stats};
    CHECK_INT(ncclscope_grammar_new(&g, NULL), 0);
    CHECK_INT(ncclscope_reader_new(&r, g, NULL), 0);
    REFUSES_SAYING(ncclscope_grammar_new(NULL, &err));
    REFUSES_SAYING(ncclscope_grammar_add(NULL, "a", "b", &err));
    REFUSES_SAYING(ncclscope_grammar_add(g, NULL, "b", &err));
    REFUSES_SAYING(ncclscope_grammar_add(g, "a", NULL, &err));
    REFUSES_SAYING(ncclscope_grammar_add_file(NULL, "a", &err));
    REFUSES_SAYING(ncclscope_grammar_add_file(g, NULL, &err));
    REFUSES_SAYING(ncclscope_grammar_add(g, "mine", "MINE {lanes:u}", &err)); /* a reader was made */
    REFUSES_SAYING(ncclscope_grammar_add_file(g, "/dev/null", &err));
    REFUSES_SAYING(ncclscope_grammar_prepare(NULL, &err));
    CHECK(!ncclscope_grammar_slow(NULL, 0, &stats.lines) && !ncclscope_grammar_slow(g, 0, NULL));
    REFUSES_SAYING(ncclscope_reader_open(NULL, g, "/dev/null", &err));
    REFUSES_SAYING(ncclscope_reader_open(&none, NULL, "/dev/null", &err));
    REFUSES_SAYING(ncclscope_reader_open(&none, g, NULL, &err));
    REFUSES_SAYING(ncclscope_reader_of(&none, g, NULL, NULL, &err));
    REFUSES_SAYING(ncclscope_reader_of_fd(&none, g, -1, &err));
    REFUSES_SAYING(ncclscope_reader_of_fd(&none, NULL, 0, &err));
    REFUSES_SAYING(ncclscope_reader_new(NULL, g, &err));
    REFUSES_SAYING(ncclscope_reader_new(&none, NULL, &err));
    CHECK(!none);
    REFUSES(ncclscope_reader_feed(NULL, "x", 1));
    REFUSES(ncclscope_reader_feed(r, NULL, 1));
    CHECK_INT(ncclscope_reader_feed(r, NULL, 0), 0);
    ncclscope_reader_finish(NULL);
    ncclscope_reader_flush(NULL);
    REFUSES_SAYING(ncclscope_reader_next(NULL, &rec, &err));
    REFUSES_SAYING(ncclscope_reader_next(r, NULL, &err));
    REFUSES(ncclscope_reader_stats(NULL, &stats));
    REFUSES(ncclscope_reader_stats(r, NULL));
    stats.size = 0;
    CHECK_INT(ncclscope_reader_stats(r, &stats), NCCLSCOPE_EABI);
}

static void test_records(void)
{
    uint64_t u;
    int64_t i;
    double f;
    ncclscope_text t;
    ncclscope_field field;
    CHECK(ncclscope_record_kind(NULL) == NCCLSCOPE_KIND_UNKNOWN && ncclscope_record_kind_name(NULL));
    CHECK(!ncclscope_record_level(NULL) && !ncclscope_record_flags(NULL) && !ncclscope_record_line(NULL));
    CHECK(!ncclscope_record_offset(NULL) && !ncclscope_record_repeated(NULL));
    CHECK(ncclscope_record_pid(NULL) == -1 && ncclscope_record_tid(NULL) == -1 && ncclscope_record_dev(NULL) == -1);
    CHECK(ncclscope_record_launcher_rank(NULL) == -1);
    CHECK(!ncclscope_record_host(NULL).ptr && !ncclscope_record_message(NULL).ptr && !ncclscope_record_time(NULL).ptr);
    CHECK(!ncclscope_record_family(NULL).ptr && !ncclscope_record_location(NULL).ptr &&
          !ncclscope_record_pod(NULL).ptr);
    CHECK(!ncclscope_record_physical(NULL).ptr && !ncclscope_record_container(NULL).ptr);
    REFUSES(ncclscope_record_u64(NULL, NCCLSCOPE_FIELD_SRC, &u));
    REFUSES(ncclscope_record_i64(NULL, NCCLSCOPE_FIELD_SRC, &i));
    REFUSES(ncclscope_record_f64(NULL, NCCLSCOPE_FIELD_SRC, &f));
    REFUSES(ncclscope_record_text(NULL, NCCLSCOPE_FIELD_SRC, &t));
    REFUSES(ncclscope_record_field(NULL, 0, &field, &t));
    CHECK(!ncclscope_record_field_name(NULL, NCCLSCOPE_FIELD_SRC, NULL));
}

static void test_models(void)
{
    const char *const null_path[] = {NULL};
    ncclscope_model *m = NULL, *other = NULL;
    ncclscope_findings *f = NULL;
    ncclscope_stats stats = {.size = sizeof stats};
    uint32_t id;
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    REFUSES_SAYING(ncclscope_model_new(NULL, &err));
    REFUSES(ncclscope_model_stream(NULL, "a", &id));
    REFUSES(ncclscope_model_stream(m, "a", NULL));
    REFUSES(ncclscope_model_stream_add(m, 0, NULL));
    REFUSES(ncclscope_model_stream_end(NULL, 0, NULL, NULL));
    REFUSES(ncclscope_model_stream_counts(NULL, 0, r));
    REFUSES(ncclscope_model_source(NULL, "a"));
    REFUSES(ncclscope_model_add(m, NULL));
    REFUSES(ncclscope_model_source_end(NULL, NULL, NULL));
    REFUSES_SAYING(ncclscope_model_finish(NULL, &err));
    REFUSES_SAYING(ncclscope_model_snapshot(NULL, m, &err));
    REFUSES_SAYING(ncclscope_model_snapshot(&other, NULL, &err));
    REFUSES_SAYING(ncclscope_model_merge(NULL, m, &err));
    REFUSES_SAYING(ncclscope_model_merge(m, NULL, &err));
    REFUSES_SAYING(ncclscope_model_merge(m, m, &err));
    REFUSES_SAYING(ncclscope_model_save(NULL, data_take, NULL, &err));
    REFUSES_SAYING(ncclscope_model_save(m, NULL, NULL, &err));
    REFUSES_SAYING(ncclscope_model_load(NULL, g, "x", 1, &err));
    REFUSES_SAYING(ncclscope_model_load(&other, NULL, "x", 1, &err));
    REFUSES_SAYING(ncclscope_model_read(NULL, g, NULL, 0, NULL, &err));
    REFUSES_SAYING(ncclscope_model_read(m, NULL, NULL, 0, NULL, &err));
    REFUSES_SAYING(ncclscope_model_read(m, g, NULL, 1, NULL, &err));
    REFUSES_SAYING(ncclscope_model_read(m, g, null_path, 1, NULL, &err));
    REFUSES_SAYING(ncclscope_scan(NULL, g, NULL, 0, NULL, &err));
    REFUSES_SAYING(ncclscope_scan(&other, NULL, NULL, 0, NULL, &err));
    REFUSES_SAYING(ncclscope_scan(&other, g, NULL, 1, NULL, &err));
    REFUSES_SAYING(ncclscope_scan(&other, g, null_path, 1, NULL, &err));
    REFUSES_SAYING(ncclscope_model_pods(NULL, "a", &err));
    REFUSES_SAYING(ncclscope_model_pods(m, NULL, &err));
    REFUSES_SAYING(ncclscope_model_pods(m, "/dev/null", &err)); /* it still grows */
    CHECK(!ncclscope_model_source_name(NULL, 0));
    CHECK_TEXT(nsc_text_of(ncclscope_model_problem(NULL, 0)), "");
    REFUSES(ncclscope_model_stats(NULL, 0, &stats));
    REFUSES_SAYING(ncclscope_analyse(NULL, m, &err));
    REFUSES_SAYING(ncclscope_analyse(&f, NULL, &err));
    REFUSES_SAYING(ncclscope_analyse(&f, m, &err)); /* it still grows */
    CHECK(!other && !f);
    CHECK_INT(ncclscope_model_rows(NULL, NCCLSCOPE_TABLE_link, 0, 0, NULL, 0), 0);
    CHECK_INT(ncclscope_model_rows(m, NCCLSCOPE_TABLE_link, 0, 0, NULL, 0), 0);
    CHECK_INT(ncclscope_findings_rows(NULL, NCCLSCOPE_TABLE_finding, 0, 0, NULL, 0), 0);
    REFUSES(ncclscope_table_get(0, NULL));
    REFUSES(ncclscope_column_get(0, 0, NULL));
    CHECK(!ncclscope_word_of(NULL, 0));
    ncclscope_model_free(m);
}

static void test_answers(void)
{
    ncclscope_model *m = NULL, *other = NULL;
    ncclscope_findings *f = NULL;
    ncclscope_coverage *c = NULL;
    size_t n;
    CHECK_INT(ncclscope_scan(&m, g, NULL, 0, NULL, NULL), 0);
    CHECK_INT(ncclscope_scan(&other, g, NULL, 0, NULL, NULL), 0);
    CHECK_INT(ncclscope_analyse(&f, m, NULL), 0);
    CHECK(!ncclscope_findings_verdict(NULL) && !ncclscope_findings_count(NULL) && !ncclscope_finding_severity(NULL, 0));
    CHECK(!ncclscope_finding_id(NULL, 0)[0] && !ncclscope_finding_title(NULL, 0)[0]);
    REFUSES_SAYING(ncclscope_expect(f, NULL, &err));
    CHECK_INT(ncclscope_expectations(NULL, NCCLSCOPE_KEPT), 0);
    REFUSES(ncclscope_report(NULL, f, "text", 0, 0, data_take, NULL));
    REFUSES(ncclscope_report(m, NULL, "text", 0, 0, data_take, NULL));
    REFUSES(ncclscope_report(m, f, NULL, 0, 0, data_take, NULL));
    REFUSES(ncclscope_report(m, f, "text", 0, 0, NULL, NULL));
    REFUSES(ncclscope_report(other, f, "text", 0, 0, data_take, NULL));
    REFUSES(ncclscope_write_harmless(NULL, 0, data_take, NULL));
    REFUSES(ncclscope_write_harmless("a", 0, NULL, NULL));
    REFUSES(ncclscope_diff(NULL, f, m, f, "text", 0, 0, data_take, NULL, &n));
    REFUSES(ncclscope_diff(m, f, m, f, "text", 0, 0, data_take, NULL, NULL));
    REFUSES_SAYING(ncclscope_coverage_new(NULL, g, NULL, 0, NULL, &err));
    REFUSES_SAYING(ncclscope_coverage_new(&c, NULL, NULL, 0, NULL, &err));
    CHECK(!c && !ncclscope_coverage_model(NULL) && !ncclscope_coverage_records(NULL));
    REFUSES(ncclscope_coverage_report(NULL, "text", 0, 0, data_take, NULL));
    REFUSES(ncclscope_grammar_report(NULL, "text", 0, data_take, NULL));
    REFUSES(ncclscope_explain(NULL, data_take, NULL));
    REFUSES(ncclscope_explain("log/torn", NULL, NULL));
    REFUSES(ncclscope_explain_line(g, NULL, 0, 0, data_take, NULL));
    ncclscope_findings_free(f);
    ncclscope_model_free(other);
    ncclscope_model_free(m);
}

static void test_machines_and_stores(void)
{
    ncclscope_facts *facts = NULL;
    ncclscope_store *s = NULL;
    ncclscope_model *m = NULL;
    REFUSES_SAYING(ncclscope_probe(NULL, &err));
    REFUSES_SAYING(ncclscope_measure(NULL, NULL, NULL, NULL, &err));
    REFUSES_SAYING(ncclscope_facts_load(NULL, "a", &err));
    REFUSES_SAYING(ncclscope_facts_load(&facts, NULL, &err));
    REFUSES(ncclscope_facts_save(NULL, data_take, NULL));
    CHECK_INT(ncclscope_facts_gpus(NULL), 0);
    ncclscope_model_facts(NULL, NULL);
    REFUSES(ncclscope_facts_report(NULL, NULL, "text", 0, 0, data_take, NULL));
    REFUSES(ncclscope_confirm_report(NULL, NULL, "text", 0, 0, data_take, NULL));
    CHECK_INT(ncclscope_confirmed(NULL, "stale-log"), 0);
    REFUSES_SAYING(ncclscope_store_open(NULL, "a", &err));
    REFUSES_SAYING(ncclscope_store_open(&s, NULL, &err));
    REFUSES_SAYING(ncclscope_store_scan(NULL, &m, g, NULL, 0, NULL, &err));
    REFUSES_SAYING(ncclscope_store_add(NULL, NULL, NULL, &err));
    REFUSES_SAYING(ncclscope_store_job(NULL, &m, 0, &err));
    CHECK(!facts && !s && !m);
    ncclscope_reader_free(r);
    ncclscope_grammar_free(g);
}

static int ignore(void *user, const char *bytes, size_t size)
{
    (void)user, (void)bytes, (void)size;
    return 0;
}

/* Jobs of an archive, and questions to a store. */
static void test_archives(void)
{
    ncclscope_grammar *grammar = NULL;
    ncclscope_jobs *j = NULL;
    ncclscope_model *m = NULL;
    const char *const nothing[] = {NULL}, *const path[] = {"/dev/null"};
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), 0);
    REFUSES_SAYING(ncclscope_jobs_scan(NULL, grammar, path, 1, "auto", NULL, &err));
    REFUSES_SAYING(ncclscope_jobs_scan(&j, NULL, path, 1, "auto", NULL, &err));
    REFUSES_SAYING(ncclscope_jobs_scan(&j, grammar, NULL, 1, "auto", NULL, &err));
    REFUSES_SAYING(ncclscope_jobs_scan(&j, grammar, path, 1, NULL, NULL, &err));
    REFUSES_SAYING(ncclscope_jobs_scan(&j, grammar, nothing, 1, "auto", NULL, &err));
    CHECK_INT(ncclscope_jobs_scan(&j, grammar, path, 1, "(", NULL, &err), NCCLSCOPE_EPATTERN);
    CHECK_INT(ncclscope_jobs_scan(&j, grammar, path, 1, "auto", &(ncclscope_scan_options){0}, &err), NCCLSCOPE_EABI);
    CHECK(!j && !ncclscope_jobs_count(NULL) && !ncclscope_jobs_without_nccl(NULL));
    CHECK_INT(ncclscope_jobs_scan(&j, grammar, path, 1, "auto", NULL, &err), 0);
    CHECK(ncclscope_jobs_count(j) == 1 && !ncclscope_job_name(j, 1) && !ncclscope_job_name(NULL, 0));
    CHECK(ncclscope_job_file(j, 0, 0) && !ncclscope_job_file(j, 0, 1) && !ncclscope_job_file(j, 1, 0));
    REFUSES_SAYING(ncclscope_job_model(NULL, j, 0, &err));
    REFUSES_SAYING(ncclscope_job_model(&m, NULL, 0, &err));
    CHECK_INT(ncclscope_job_model(&m, j, 1, &err), NCCLSCOPE_ENOTFOUND);
    CHECK(!m);
    ncclscope_jobs_free(j);
    ncclscope_jobs_free(NULL);
    ncclscope_grammar_free(grammar);
    ncclscope_fleet *fleet = NULL;
    REFUSES_SAYING(ncclscope_fleet_new(NULL, &err));
    CHECK_INT(ncclscope_fleet_new(&fleet, &err), 0);
    REFUSES_SAYING(ncclscope_fleet_add(fleet, "a", NULL, NULL, &err));
    REFUSES_SAYING(ncclscope_fleet_add(NULL, "a", NULL, NULL, &err));
    REFUSES(ncclscope_fleet_report(NULL, "text", 0, 0, ignore, NULL));
    REFUSES(ncclscope_fleet_report(fleet, "text", 0, 0, NULL, NULL));
    CHECK_INT(ncclscope_fleet_report(fleet, "xml", 0, 0, ignore, NULL), NCCLSCOPE_ENOTFOUND);
    CHECK_INT(ncclscope_fleet_report(fleet, "text", 0, 0, ignore, NULL), 0);
    ncclscope_fleet_free(fleet);
    ncclscope_fleet_free(NULL);
    REFUSES_SAYING(ncclscope_store_query(NULL, "jobs", "csv", 0, ignore, NULL, &err));
    REFUSES_SAYING(ncclscope_store_query("a", NULL, "csv", 0, ignore, NULL, &err));
    REFUSES_SAYING(ncclscope_store_query("a", "jobs", NULL, 0, ignore, NULL, &err));
    REFUSES_SAYING(ncclscope_store_query("a", "jobs", "csv", 0, NULL, NULL, &err));
    CHECK_INT(ncclscope_store_query("a", "jobs", "xml", 0, ignore, NULL, &err), NCCLSCOPE_ENOTFOUND);
    CHECK_INT(ncclscope_store_query("a", "nothing", "csv", 0, ignore, NULL, &err), NCCLSCOPE_ENOTFOUND);
    CHECK_INT(ncclscope_store_query("/dev/null", "jobs", "csv", 0, ignore, NULL, &err), NCCLSCOPE_EIO);
    CHECK(ncclscope_store_question(0, NULL) && !ncclscope_store_question(1000, NULL));
}

CHECKS(TEST(test_archives), TEST(test_reading), TEST(test_records), TEST(test_models), TEST(test_answers),
       TEST(test_machines_and_stores))
