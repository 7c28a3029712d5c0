/* test_threads.c - one grammar for several threads, one model read by several, a fork beside a thread that reads, and records that a thread
 * reads ahead. */
#include "data.h"
#include "ncclscope/store.h"
#include "read/ahead.h"
#include "scene.h"

#include <ftw.h>
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

/* ---- ahead ---- */

/* All that a record says. */
static void dump(struct data *out, const ncclscope_record *r)
{
    char numbers[400];
    const struct nsc_via none = {0}, *via = r->via ? r->via : &none;
    snprintf(numbers, sizeof numbers, "%d %d %x %llu+%llu x%llu %lld:%lld [%lld] %lld row %zu via %d %lld %lld %lld\n",
             (int)r->kind, r->level, (unsigned)r->flags, (unsigned long long)r->line, (unsigned long long)r->offset,
             (unsigned long long)r->repeated, (long long)r->pid, (long long)r->tid, (long long)r->dev,
             (long long)r->launcher_rank, r->row, via->row, (long long)via->net_dev, (long long)via->proxy_rank,
             (long long)via->nranks);
    data_add(out, nsc_text_of(numbers));
    const nsc_text texts[] = {r->physical,
                              r->message,
                              r->host,
                              r->location,
                              r->pod,
                              r->container,
                              r->time,
                              via->text,
                              via->network,
                              via->comm,
                              ncclscope_record_family(r)};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        data_add(out, texts[i].ptr ? texts[i] : nsc_text_of("-"));
        data_add(out, nsc_text_of("\n"));
    }
    ncclscope_field field;
    ncclscope_text text;
    for (size_t i = 0; ncclscope_record_field(r, i, &field, &text) == NCCLSCOPE_OK; i++) {
        data_add(out, nsc_text_of(ncclscope_record_field_name(r, field, NULL)));
        data_add(out, text);
    }
}

/* The records of a log, `most` of them at most, and what the reader counted then. */
static struct data records(const char *path, bool ahead, size_t most)
{
    struct data out = {0};
    ncclscope_reader *r = NULL;
    ncclscope_error err = {.text = ""};
    const ncclscope_record *rec;
    ncclscope_stats stats = {.size = sizeof stats};
    CHECK_INT(ncclscope_reader_open(&r, grammar, path, NULL), 0);
    struct nsc_ahead *a = ahead ? nsc_ahead_start(r, NULL, NULL) : NULL;
    CHECK(!ahead || a != NULL);
    int rc = NCCLSCOPE_OK;
    for (size_t n = 0; n < most && !(rc = a ? nsc_ahead_next(a, &rec, &err) : ncclscope_reader_next(r, &rec, &err));
         n++)
        dump(&out, rec);
    nsc_ahead_end(a);
    ncclscope_reader_stats(r, &stats);
    if (rc) /* ahead it counts in batches: what it gave of the last is not all that it counts */
        data_add(&out, (nsc_text){(const char *)&stats, sizeof stats});
    data_add(&out, nsc_text_of(err.text));
    ncclscope_reader_free(r);
    return out;
}

static bool is_same_ahead(const char *path, size_t most)
{
    struct data in_turn = records(path, false, most), ahead = records(path, true, most);
    bool same = nsc_text_eq(data_text(&in_turn), data_text(&ahead));
    data_drop(&in_turn);
    data_drop(&ahead);
    return same;
}

static size_t files;

static int compare(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st, (void)walk;
    if (type != FTW_F || !strstr(path, ".log"))
        return 0;
    bool same = is_same_ahead(path, SIZE_MAX) && is_same_ahead(path, 700);
    if (!same)
        fprintf(stderr, "ahead differs: %s\n", path);
    CHECK(same);
    files++;
    return 0;
}

static void test_ahead(void)
{
    CHECK_INT(nftw(getenv("TESTDATA"), compare, 20, FTW_PHYS), 0);
    CHECK(files > 100);
}

static int at_once(void *user)
{
    ++*(int *)user;
    return 1;
}

/* Whoever is asked ends it: what was read until then comes, and then the end. */
static void test_ahead_stopped(void)
{
    char path[600];
    int asked = 0;
    ncclscope_reader *r = NULL;
    const ncclscope_record *rec;
    snprintf(path, sizeof path, "%s/%s", getenv("TESTDATA"), logs[0]);
    CHECK_INT(ncclscope_reader_open(&r, grammar, path, NULL), 0);
    struct nsc_ahead *a = nsc_ahead_start(r, at_once, &asked);
    CHECK(a != NULL);
    while (a && nsc_ahead_next(a, &rec, NULL) == NCCLSCOPE_OK)
        ;
    nsc_ahead_end(a);
    CHECK(asked > 0);
    ncclscope_reader_free(r);
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
CHECKS(TEST(test_grammar), TEST(test_model), TEST(test_ahead), TEST(test_ahead_stopped), TEST(drop_expected))
#else
CHECKS(TEST(test_grammar), TEST(test_model), TEST(test_fork), TEST(test_ahead), TEST(test_ahead_stopped),
       TEST(drop_expected))
#endif
