/* test_scan.c - the options of a scan: several inputs at a time, progress, an end before the end, limits. */
#include "data.h"
#include "scene.h"

#include <fcntl.h>
#include <sys/stat.h>

static ncclscope_grammar *grammar;

static struct data scanned(const char *const *paths, size_t n, uint32_t jobs)
{
    ncclscope_model *m = NULL;
    ncclscope_scan_options o = {.size = sizeof o, .jobs = jobs};
    CHECK_INT(ncclscope_scan(&m, grammar, paths, n, &o, NULL), 0);
    struct data out = scene_report(m);
    ncclscope_model_free(m);
    return out;
}

/* All of testdata's recorded logs as one job, whatever that is: however many are read at a time, it is the same. */
static void test_jobs(void)
{
    char where[600], missing[] = "/no/such/log";
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), 0);
    snprintf(where, sizeof where, "%s/logs", getenv("TESTDATA"));
    const char *paths[] = {where, missing};
    struct data one = scanned(paths, 2, 1);
    CHECK(nsc_text_find(data_text(&one), "cannot open") >= 0);
    for (uint32_t jobs = 2; jobs < 40; jobs = jobs * 2 + 1) {
        struct data many = scanned(paths, 2, jobs);
        CHECK(nsc_text_eq(data_text(&one), data_text(&many)));
        data_drop(&many);
    }
    data_drop(&one);
}

static ncclscope_model *read_to_model(const char *path, uint32_t jobs)
{
    ncclscope_model *m = NULL;
    ncclscope_scan_options o = {.size = sizeof o, .jobs = jobs};
    CHECK_INT(ncclscope_model_new(&m, NULL), 0);
    CHECK_INT(ncclscope_model_read(m, grammar, &path, 1, &o, NULL), 0);
    return m;
}

/* Two folders and a file that is not there, each read where it lies and carried, are one scan of the three. */
static void test_read(void)
{
    char first[600], second[600];
    snprintf(first, sizeof first, "%s/logs/2.28.9", getenv("TESTDATA"));
    snprintf(second, sizeof second, "%s/logs/2.30.7", getenv("TESTDATA"));
    const char *paths[] = {first, second, "/no/such/log"};
    struct data one = scanned(paths, 3, 1);
    for (uint32_t jobs = 1; jobs < 4; jobs += 2) {
        ncclscope_model *all = read_to_model(paths[0], jobs);
        for (size_t i = 1; i < 3; i++) {
            struct data bytes = {0};
            ncclscope_model *part = read_to_model(paths[i], jobs), *come = NULL;
            CHECK_INT(ncclscope_model_save(part, data_take, &bytes, NULL), 0);
            CHECK_INT(ncclscope_model_load(&come, grammar, bytes.ptr, bytes.len, NULL), 0);
            CHECK_INT(ncclscope_model_merge(all, come, NULL), 0);
            ncclscope_model_free(part);
            ncclscope_model_free(come);
            data_drop(&bytes);
        }
        CHECK_INT(ncclscope_model_finish(all, NULL), 0);
        struct data many = scene_report(all);
        CHECK(nsc_text_eq(data_text(&one), data_text(&many)));
        CHECK_INT(ncclscope_model_read(all, grammar, paths, 1, NULL, NULL), NCCLSCOPE_EINVAL);
        ncclscope_model_free(all);
        data_drop(&many);
    }
    data_drop(&one);
}

struct watched {
    uint64_t calls, bytes, inputs, all;
    bool backwards;
    int stop_after; /* calls; 0: never */
};

static void note(void *user, const ncclscope_scan_progress *p)
{
    struct watched *w = user;
    w->backwards = w->backwards || p->bytes < w->bytes || p->inputs < w->inputs;
    w->calls++;
    w->bytes = p->bytes;
    w->inputs = p->inputs;
    w->all = p->bytes_all;
}

static int stop_soon(void *user)
{
    struct watched *w = user;
    return w->stop_after && --w->stop_after == 0;
}

static void test_progress(void)
{
    char where[600];
    snprintf(where, sizeof where, "%s/logs", getenv("TESTDATA"));
    const char *path = where;
    for (uint32_t jobs = 1; jobs < 4; jobs += 2) {
        ncclscope_model *m = NULL;
        struct watched w = {0};
        ncclscope_scan_options o = {.size = sizeof o, .user = &w, .progress = note, .jobs = jobs};
        CHECK_INT(ncclscope_scan(&m, grammar, &path, 1, &o, NULL), 0);
        CHECK(w.calls > 0 && !w.backwards && w.bytes == w.all && w.inputs > 50);
        ncclscope_model_free(m);
    }
}

/* A pipe that nobody writes to: the scan ends as soon as it is told to, and what was read before is there. */
static void test_stop(void)
{
    struct data log = data_load("logs/2.28.9/h200x8-debug-warn.log");
    char path[64], pipe_path[96];
    data_file(path, data_text(&log));
    snprintf(pipe_path, sizeof pipe_path, "%s.pipe", path);
    CHECK_INT(mkfifo(pipe_path, 0600), 0);
    int keep = open(pipe_path, O_RDWR | O_CLOEXEC); /* else opening it waits for a writer */
    const char *paths[] = {path, pipe_path, path};
    for (uint32_t jobs = 1; jobs < 4; jobs += 2) {
        ncclscope_model *m = NULL, *grows = NULL;
        struct watched w = {.stop_after = 20};
        ncclscope_scan_options o = {.size = sizeof o, .stop = stop_soon, .user = &w, .jobs = jobs};
        CHECK_INT(ncclscope_scan(&m, grammar, paths, 3, &o, NULL), NCCLSCOPE_ESTOPPED);
        w.stop_after = 20;
        CHECK_INT(ncclscope_model_new(&grows, NULL), 0);
        CHECK_INT(ncclscope_model_read(grows, grammar, paths, 3, &o, NULL), NCCLSCOPE_ESTOPPED);
        CHECK_INT(ncclscope_model_read(grows, grammar, paths, 1, NULL, NULL), 0); /* it goes on */
        CHECK(ncclscope_model_source_name(grows, 2) && !ncclscope_model_source_name(grows, 3));
        CHECK_INT(ncclscope_model_source(grows, "open"), 0);
        CHECK_INT(ncclscope_model_read(grows, grammar, paths, 1, NULL, NULL), NCCLSCOPE_EINVAL);
        ncclscope_model_free(grows);
        CHECK(m && ncclscope_model_source_name(m, 0) && !ncclscope_model_source_name(m, 2));
        CHECK_TEXT(nsc_text_of(ncclscope_model_problem(m, 1)), "interrupted: what follows was not read");
        struct data out = scene_report(m);
        CHECK(nsc_text_find(data_text(&out), "interrupted") >= 0);
        data_drop(&out);
        ncclscope_model_free(m);
    }
    close(keep);
    unlink(pipe_path);
    unlink(path);
    data_drop(&log);
}

/* Both threads wait for pipes: what nobody has begun to read is not waited for. */
static void test_stop_before_others(void)
{
    char path[2][64], pipe_path[2][96];
    int keep[2];
    for (int i = 0; i < 2; i++) {
        data_file(path[i], NSC_TEXT("vm:1:1 [0] NCCL INFO cudaDriverVersion 13000\n"));
        snprintf(pipe_path[i], sizeof pipe_path[i], "%s.pipe", path[i]);
        CHECK_INT(mkfifo(pipe_path[i], 0600), 0);
        keep[i] = open(pipe_path[i], O_RDWR | O_CLOEXEC);
    }
    const char *paths[] = {pipe_path[0], pipe_path[1], path[0], path[1]};
    ncclscope_model *m = NULL;
    struct watched w = {.stop_after = 20};
    ncclscope_scan_options o = {.size = sizeof o, .stop = stop_soon, .user = &w, .jobs = 2};
    CHECK_INT(ncclscope_scan(&m, grammar, paths, 4, &o, NULL), NCCLSCOPE_ESTOPPED);
    CHECK(m && ncclscope_model_source_name(m, 1) && !ncclscope_model_source_name(m, 2));
    ncclscope_model_free(m);
    for (int i = 0; i < 2; i++) {
        close(keep[i]);
        unlink(pipe_path[i]);
        unlink(path[i]);
    }
}

static void test_limits(void)
{
    struct data log = data_load("logs/2.28.9/h200x8-torchrun-tee.log.gz"), packed = {0};
    char plain[64], gz[64];
    data_pack(&packed, data_text(&log));
    data_file(plain, data_text(&log));
    data_file(gz, data_text(&packed));
    const char *paths[] = {plain, gz};
    ncclscope_model *m = NULL;
    ncclscope_stats stats = {.size = sizeof stats};
    ncclscope_scan_options o = {.size = sizeof o, .most_unpacked = 100000};
    CHECK_INT(ncclscope_scan(&m, grammar, &paths[1], 1, &o, NULL), 0);
    CHECK_TEXT(nsc_text_of(ncclscope_model_problem(m, 0)),
               "holds more than 100000 bytes when it is unpacked, which is the limit: what follows was not read");
    CHECK_INT(ncclscope_model_stats(m, 0, &stats), 0);
    CHECK(stats.records > 100 && stats.lines < 10000);
    ncclscope_model_free(m);
    CHECK_INT(ncclscope_scan(&m, grammar, &paths[0], 1, &o, NULL), 0); /* what is not packed is as large as it looks */
    CHECK_TEXT(nsc_text_of(ncclscope_model_problem(m, 0)), "");
    ncclscope_model_free(m);
    for (o = (ncclscope_scan_options){.size = sizeof o, .most_memory = 1, .jobs = 1}; o.jobs < 3; o.jobs++) {
        CHECK_INT(ncclscope_scan(&m, grammar, paths, 2, &o, NULL), 0);
        uint64_t records = 0;
        bool told = false;
        for (size_t i = 0; ncclscope_model_source_name(m, i);
             i++) { /* side by side either may be the first to reach it */
            told = told || nsc_text_find(nsc_text_of(ncclscope_model_problem(m, i)), "limit of memory") >= 0;
            CHECK_INT(ncclscope_model_stats(m, i, &stats), 0);
            records += stats.records;
        }
        CHECK(told && records > 100);
        ncclscope_model_free(m);
    }
    unlink(plain);
    unlink(gz);
    data_drop(&packed);
    data_drop(&log);
}

/* Structs of an older and of a newer release. */
static void test_sizes(void)
{
    struct {
        ncclscope_scan_options o;
        uint64_t newer;
    } later = {.o = {.size = sizeof later}};
    struct {
        ncclscope_stats s;
        uint64_t newer;
    } counts = {.s = {.size = sizeof counts}};
    ncclscope_scan_options older = {.size = offsetof(ncclscope_scan_options, progress), .jobs = 1000};
    const char *path = "/no/such/log";
    ncclscope_model *m = NULL;
    CHECK_INT(ncclscope_scan(&m, grammar, &path, 1, &older, NULL), 0);
    ncclscope_model_free(m);
    CHECK_INT(ncclscope_scan(&m, grammar, &path, 1, &later.o, NULL), 0);
    CHECK_INT(ncclscope_model_stats(m, 0, &counts.s), 0);
    CHECK_INT(counts.s.size, sizeof counts);
    counts.newer = 7;
    CHECK_INT(ncclscope_model_stats(m, 0, &counts.s), NCCLSCOPE_EABI);
    CHECK_INT(counts.newer, 7);
    ncclscope_model_free(m);
    later.newer = 1;
    CHECK_INT(ncclscope_scan(&m, grammar, &path, 1, &later.o, NULL), NCCLSCOPE_EABI);
    CHECK(!m);
    ncclscope_grammar_free(grammar);
}

CHECKS(TEST(test_jobs), TEST(test_read), TEST(test_progress), TEST(test_stop), TEST(test_stop_before_others),
       TEST(test_limits), TEST(test_sizes))
