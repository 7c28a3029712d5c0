/* test_threads.c - one grammar for several threads, one model read by several, and a fork beside a thread that reads. */
#include "data.h"
#include "ncclscope/store.h"
#include "scene.h"

#include <pthread.h>
#include <sys/wait.h>

enum { THREADS = 4, ROUNDS = 3 };

static const char *const logs[] = {"logs/2.28.9/h200x8-two-nodes.log.gz", "logs/2.21.5/h200x4-default.log.gz",
                                   "logs/2.28.9/h200x8-rank-crash.log", "logs/2.30.7/h200x4-two-nodes.log.gz"};
enum { LOGS = sizeof logs / sizeof logs[0] };
static ncclscope_grammar *grammar;
static struct data expected[LOGS];

static int to_data(void *user, const char *bytes, size_t size)
{
    data_add(user, (nsc_text){bytes, size});
    return 0;
}

static bool is_report(const ncclscope_model *m, const ncclscope_findings *f, nsc_text should)
{
    struct data out = {0};
    bool same = ncclscope_report(m, f, "json", 0, 0, to_data, &out) == 0 && nsc_text_eq(data_text(&out), should);
    data_drop(&out);
    return same;
}

static int scan(ncclscope_grammar *g, size_t log, ncclscope_model **m, ncclscope_findings **f)
{
    char path[600];
    const char *paths = path;
    snprintf(path, sizeof path, "%s/%s", getenv("TESTDATA"), logs[log]);
    int rc = ncclscope_scan(m, g, &paths, 1, NULL, NULL);
    return rc ? rc : ncclscope_analyse(f, *m, NULL);
}

/* Is the report of the log, read with this grammar, what it was when nobody else read? */
static bool reads_well(ncclscope_grammar *g, size_t log)
{
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    bool well = scan(g, log, &m, &f) == 0 && is_report(m, f, data_text(&expected[log]));
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    return well;
}

/* Each thread begins with another log. Returns how many reports were not as they should be. */
static void *read_all(void *first)
{
    size_t wrong = 0;
    for (size_t i = 0; i < ROUNDS * LOGS; i++)
        wrong += !reads_well(grammar, ((size_t)(uintptr_t)first + i) % LOGS);
    return (void *)(uintptr_t)wrong;
}

struct shared {
    const ncclscope_model *m;
    const ncclscope_findings *f;
};

static void *report_all(void *user)
{
    const struct shared *s = user;
    size_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++)
        wrong += !is_report(s->m, s->f, data_text(&expected[0]));
    return (void *)(uintptr_t)wrong;
}

/* Runs `work` in all threads; in[i] goes to the i-th. Returns the sum of what they give. */
static size_t run(void *(*work)(void *), void *const in[THREADS])
{
    pthread_t of[THREADS];
    size_t wrong = 0;
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&of[i], NULL, work, in[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        CHECK_INT(pthread_join(of[i], &result), 0);
        wrong += (size_t)(uintptr_t)result;
    }
    return wrong;
}

/* What is expected comes from a grammar of its own: that of the threads is new when they begin. */
static void test_grammar(void)
{
    void *const first[THREADS] = {(void *)0, (void *)1, (void *)2, (void *)3};
    ncclscope_grammar *own = NULL;
    CHECK_INT(ncclscope_grammar_new(&own, NULL), 0);
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), 0);
    for (size_t i = 0; i < LOGS; i++) {
        ncclscope_model *m = NULL;
        ncclscope_findings *f = NULL;
        CHECK_INT(scan(own, i, &m, &f), 0);
        CHECK_INT(ncclscope_report(m, f, "json", 0, 0, to_data, &expected[i]), 0);
        ncclscope_findings_free(f);
        ncclscope_model_free(m);
    }
    ncclscope_grammar_free(own);
    CHECK_INT(run(read_all, first), 0);
}

static void test_model(void)
{
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    CHECK_INT(scan(grammar, 0, &m, &f), 0);
    struct shared s = {m, f};
    void *const in[THREADS] = {&s, &s, &s, &s};
    CHECK_INT(run(report_all, in), 0);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
}

/* A child of fork has the grammar as it was: prepared, no thread holds a lock of it. */
static void __attribute__((unused)) test_fork(void)
{
    ncclscope_grammar *lazy = grammar;
    CHECK_INT(ncclscope_grammar_new(&grammar, NULL), 0);
    CHECK_INT(ncclscope_grammar_prepare(grammar, NULL), 0);
    ncclscope_store *store = NULL; /* while one is open, each file that is read is compared with it */
    char file[] = "/tmp/ncclscope-test-XXXXXX";
    close(mkstemp(file));
    CHECK_INT(ncclscope_store_open(&store, file, NULL), 0);
    pthread_t reader;
    CHECK_INT(pthread_create(&reader, NULL, read_all, NULL), 0);
    int wrong = 0;
    for (size_t i = 0; i < 2 * LOGS; i++) {
        pid_t child = fork();
        if (!child) {
            alarm(60); /* who waits for a lock of its parent's thread waits for ever */
            _exit(!reads_well(grammar, i % LOGS));
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child);
        wrong += status != 0;
    }
    CHECK_INT(wrong, 0);
    void *result;
    CHECK_INT(pthread_join(reader, &result), 0);
    CHECK(!result);
    ncclscope_store_close(store);
    unlink(file);
    ncclscope_grammar_free(grammar);
    grammar = lazy;
}

static void drop_expected(void)
{
    ncclscope_grammar_free(grammar);
    for (size_t i = 0; i < LOGS; i++) {
        CHECK(expected[i].len > 1000);
        data_drop(&expected[i]);
    }
}

/* AddressSanitizer's own allocator does not let a child go on where a thread of its parent was allocating: the test of fork is one for the
 * build with the thread sanitizer, and for those without any. */
#ifdef __SANITIZE_ADDRESS__
CHECKS(TEST(test_grammar), TEST(test_model), TEST(drop_expected))
#else
CHECKS(TEST(test_grammar), TEST(test_model), TEST(test_fork), TEST(drop_expected))
#endif
