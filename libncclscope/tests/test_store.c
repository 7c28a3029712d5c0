/* test_store.c - records, model and findings in a SQLite file: what is in it, adding twice, files that are no store. */
#include "base/harmless.h"
#include "data.h"
#include "ncclscope/store.h"
#include "scene.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

static ncclscope_grammar *grammar;
static char folder[64], file[128];

static void name_file(void)
{
    if (!folder[0]) {
        strcpy(folder, "/tmp/ncclscope-test-XXXXXX");
        CHECK(mkdtemp(folder) != NULL);
        CHECK_INT(ncclscope_grammar_new(&grammar, NULL), 0);
    }
    snprintf(file, sizeof file, "%s/store.db", folder);
}

static void drop_file(void)
{
    char beside[140];
    unlink(file);
    snprintf(beside, sizeof beside, "%s-wal", file);
    unlink(beside);
    snprintf(beside, sizeof beside, "%s-shm", file);
    unlink(beside);
}

static void log_path(char out[600], const char *name)
{
    snprintf(out, 600, "%s/logs/%s", getenv("TESTDATA"), name);
}

/* Scan these logs into the store; the code of the first step that fails. */
static int add(size_t n, const char *const *names)
{
    char path[9][600];
    const char *paths[9];
    ncclscope_store *s = NULL;
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    ncclscope_error err = {0};
    for (size_t i = 0; i < n; i++) {
        log_path(path[i], names[i]);
        paths[i] = path[i];
    }
    int rc = ncclscope_store_open(&s, file, &err);
    rc = rc ? rc : ncclscope_store_scan(s, &m, grammar, paths, n, NULL, &err);
    rc = rc ? rc : ncclscope_analyse(&f, m, &err);
    rc = rc ? rc : ncclscope_store_add(s, m, f, &err);
    if (rc)
        printf("%s\n", err.text);
    ncclscope_store_close(s);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    return rc;
}

/* The answer to a query, rows by newline, columns by '|'. */
static struct data ask(const char *sql)
{
    struct data out = {0};
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    data_add(&out, NSC_TEXT(""));
    CHECK_INT(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK)
        printf("%s: %s\n", sql, sqlite3_errmsg(db));
    CHECK(q != NULL);
    while (q && sqlite3_step(q) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(q); i++) {
            data_add(&out, i ? NSC_TEXT("|") : NSC_TEXT(""));
            const char *text = (const char *)sqlite3_column_text(q, i);
            data_add(&out, nsc_text_of(text ? text : "NULL"));
        }
        data_add(&out, NSC_TEXT("\n"));
    }
    sqlite3_finalize(q);
    sqlite3_close(db);
    return out;
}

#define ASKS(sql, should) \
    do { \
        struct data answer_ = ask(sql); \
        CHECK_TEXT(data_text(&answer_), should); \
        data_drop(&answer_); \
    } while (0)

static const char *const shm[] = {"2.28.9/h200x8-p2p-disabled-shm.log"};

static void test_tables(void)
{
    name_file();
    CHECK_INT(add(1, shm), 0);
    ASKS("PRAGMA integrity_check", "ok\n");
    ASKS("SELECT count(*) FROM record WHERE level != 'other'", "309\n");
    ASKS("SELECT lines, nccl_lines, torn_lines, problem FROM scan_source", "310|309|0|NULL\n");
    ASKS("SELECT verdict FROM scan", "findings\n");
    ASKS("SELECT nranks, members, state FROM comm", "8|8|complete\n");
    ASKS("SELECT count(*) FROM rank", "8\n");
    ASKS("SELECT sum(lines), count(*), min(via), min(path) FROM link", "32|8|SHM/direct/direct|shm\n");
    ASKS("SELECT count(*), min(value) FROM process_env WHERE name = 'NCCL_P2P_DISABLE'", "8|1\n");
    ASKS("SELECT count(*) FROM finding WHERE id = 'transport/shm-within-node' AND severity = 'warning'", "1\n");
    ASKS("SELECT count(*) > 0 FROM evidence", "1\n");
    ASKS("SELECT DISTINCT g.bus_id, r.state, c.state FROM rank r JOIN process_gpu g ON g.scan = r.scan AND g.process = "
         "r.process JOIN comm c ON c.scan = r.scan AND c.row = r.comm WHERE r.rank = 1",
         "70|complete|complete\n");
    ASKS("SELECT count(*), sum(parent IS NULL) FROM comm", "1|1\n"); /* what is not said is NULL */
    /* the line number leads back to the record */
    ASKS("SELECT DISTINCT kind FROM record r JOIN link l ON l.line = r.line", "CONNECT\n");
    ASKS("SELECT count(*), min(src), max(dst), min(via) FROM m_connect", "32|0|7|SHM/direct/direct\n");
}

static void test_views(void)
{
    ASKS("SELECT count(*), min(lines), max(lines), min(path) FROM v_pairs", "8|4|4|shm\n");
    ASKS("SELECT rank, host, bus_id FROM v_ranks ORDER BY rank LIMIT 2", "0|vm|60\n1|vm|70\n");
    ASKS("SELECT value, processes, hosts FROM v_env WHERE name = 'NCCL_P2P_DISABLE'", "1|8|vm\n");
    ASKS("SELECT count(*) > 0 FROM v_findings WHERE line > 0 AND file LIKE '%p2p-disabled-shm.log'", "1\n");
}

/* A whole dump of what a query can see. */
static struct data dump(void)
{
    struct data tables = ask("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"), out = {0};
    data_add(&out, NSC_TEXT(""));
    for (char *name = strtok(tables.ptr, "\n"); name; name = strtok(NULL, "\n")) {
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", name);
        struct data rows = ask(sql);
        data_add(&out, nsc_text_of(name));
        data_add(&out, NSC_TEXT("\n"));
        data_add(&out, data_text(&rows));
        data_drop(&rows);
    }
    data_drop(&tables);
    return out;
}

static void test_again(void)
{
    struct data before = dump();
    CHECK(before.len > 10000);
    CHECK_INT(add(1, shm), 0);
    struct data after = dump();
    CHECK(nsc_text_eq(data_text(&before), data_text(&after)));
    data_drop(&before);
    data_drop(&after);
}

static void test_packed_is_the_same(void)
{
    /* the same text, packed and under another name, is the same source */
    struct data log = data_load("logs/2.28.9/h200x8-p2p-disabled-shm.log"), packed = {0};
    char path[64];
    ncclscope_store *s = NULL;
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    data_pack(&packed, data_text(&log));
    data_file(path, data_text(&packed));
    const char *paths[] = {path};
    struct data before = dump();
    CHECK_INT(ncclscope_store_open(&s, file, NULL), 0);
    CHECK_INT(ncclscope_store_scan(s, &m, grammar, paths, 1, NULL, NULL), 0);
    CHECK_INT(ncclscope_analyse(&f, m, NULL), 0);
    CHECK_INT(ncclscope_store_add(s, m, f, NULL), 0);
    ncclscope_store_close(s);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    struct data after = dump();
    CHECK(nsc_text_eq(data_text(&before), data_text(&after)));
    unlink(path);
    data_drop(&before);
    data_drop(&after);
    data_drop(&packed);
    data_drop(&log);
}

static void test_second_scan(void)
{
    static const char *const more[] = {"2.28.9/h200x8-p2p-disabled-shm.log",
                                       "2.28.9/h200x8-pod-per-gpu-split-logs.pod0.log",
                                       "2.28.9/h200x8-pod-per-gpu-split-logs.pod1.log"};
    CHECK_INT(add(3, more), 0);
    ASKS("SELECT count(*) FROM scan", "2\n");
    ASKS("SELECT count(*) FROM source", "3\n"); /* the first is not stored again */
    ASKS("SELECT count(*) FROM record WHERE level != 'other'", "398\n");
    ASKS("SELECT row, nccl_lines FROM scan_source WHERE scan = 2 ORDER BY row", "0|309\n1|45\n2|44\n");
    ASKS("SELECT count(DISTINCT source) FROM scan_content", "3\n");
    ASKS("SELECT sum(lines) FROM link WHERE scan = 1", "32\n");
}

/* A scan that is never added leaves nothing. */
/* What NCCL warned of, as it printed it. */
static void test_warnings(void)
{
    static const char *const failed[] = {"2.28.9/h200x8-ifname-missing.log"};
    CHECK_INT(add(1, failed), 0);
    ASKS("SELECT text, lines, line FROM warning", "Bootstrap : no socket interface found|1|4\n");
}

static void test_dropped(void)
{
    char path[600];
    ncclscope_store *s = NULL;
    ncclscope_model *m = NULL;
    struct data before = dump();
    log_path(path, "2.28.9/h200x8-rank-missing.log");
    const char *paths[] = {path};
    CHECK_INT(ncclscope_store_open(&s, file, NULL), 0);
    CHECK_INT(ncclscope_store_scan(s, &m, grammar, paths, 1, NULL, NULL), 0);
    ncclscope_model_free(m);
    ncclscope_store_close(s);
    struct data after = dump();
    CHECK(nsc_text_eq(data_text(&before), data_text(&after)));
    data_drop(&before);
    data_drop(&after);
    drop_file();
}

/* Every kind of message has its table, whatever a log says. */
static void test_all_kinds(void)
{
    static const char *const all[] = {"2.28.9/h200x8-default-all-subsys.log.gz"};
    CHECK_INT(add(1, all), 0);
    ASKS("SELECT count(*) FROM record WHERE level != 'other'", "37260\n");
    ASKS("PRAGMA integrity_check", "ok\n");
    drop_file();
}

static void test_unreadable_source(void)
{
    static const char *const gone[] = {"no/such.log", "seed/pods-shm-socket.log"};
    CHECK_INT(add(2, gone), 0);
    ASKS("SELECT s.row, c.source IS NULL, problem IS NOT NULL FROM scan_source s LEFT JOIN scan_content c ON c.scan = "
         "s.scan "
         "AND c.row = s.row ORDER BY s.row",
         "0|1|1\n1|0|0\n");
    drop_file();
}

/* ---- texts that are no text ---- */

#define HARM "\x07\x9b\xff\xc2\x9b\xe2\x80\xae\t"
static const char hostile[] = "node1:7:7 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx" HARM "5\n"
                              "node1:7:7 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0"
                              " busId 60 commId 0x5 - Init START\n"
                              "node1:7:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/" HARM "/0\n"
                              "node1:7:7 [0] x.cc:1 NCCL WARN nobody knows " HARM "\n";

/* Does any TEXT of this table hold what may not be shown? */
static bool is_harmless(const char *table)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    char query[200];
    bool harmless = true;
    snprintf(query, sizeof query, "SELECT * FROM \"%s\"", table);
    CHECK_INT(sqlite3_open(file, &db), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, query, -1, &q, NULL), SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(q); i++) {
            bool bytes = sqlite3_column_type(q, i) == SQLITE_BLOB;
            nsc_text t = {(const char *)sqlite3_column_text(q, i), (size_t)sqlite3_column_bytes(q, i)};
            harmless = harmless && (bytes || nsc_is_harmless(t));
        }
    sqlite3_finalize(q);
    sqlite3_close(db);
    return harmless;
}

/* The value of the one variable that a log, or a store, has. */
static void check_value(const char *path, const char *should)
{
    ncclscope_model *m = NULL;
    CHECK_INT(ncclscope_scan(&m, grammar, &path, 1, NULL, NULL), 0);
    CHECK_INT(m->env.len, 1);
    CHECK_INT(m->warnings.len, 1);
    if (m->env.len)
        CHECK_TEXT(nsc_say(m, m->env.item[0].value), should);
    ncclscope_model_free(m);
}

static void add_path(const char *path)
{
    ncclscope_store *s = NULL;
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    CHECK_INT(ncclscope_store_open(&s, file, NULL), 0);
    CHECK_INT(ncclscope_store_scan(s, &m, grammar, &path, 1, NULL, NULL), 0);
    CHECK_INT(ncclscope_analyse(&f, m, NULL), 0);
    CHECK_INT(ncclscope_store_add(s, m, f, NULL), 0);
    ncclscope_store_close(s);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
}

/* Whatever bytes a log has, the columns of a store hold characters; and a store that is read gives the bytes back. */
static void test_hostile_texts(void)
{
    char path[64];
    data_file(path, nsc_text_of(hostile));
    add_path(path);
    struct data tables = ask("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    for (char *name = strtok(tables.ptr, "\n"); name; name = strtok(NULL, "\n"))
        CHECK(is_harmless(name));
    data_drop(&tables);
    ASKS("SELECT value FROM env_value", "mlx\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd 5\n");
    ASKS("SELECT count(*), count(raw_message), count(raw_host) FROM record", "4|3|0\n");
    ASKS("SELECT hex(raw_message) LIKE '%079BFFC29BE280AE%' FROM record WHERE level = 'WARN'", "1\n");
    check_value(path, "mlx" HARM "5");
    check_value(file, "mlx" HARM "5");
    unlink(path);
    drop_file();
}

static void sql(const char *text);

/* A store that a release with version 2 of the schema wrote, of the log in `shm`. */
static void old_store(void)
{
    struct data bytes = data_load("stores/version-2.db.gz");
    nsc_text t = data_text(&bytes);
    name_file();
    FILE *out = fopen(file, "wb");
    CHECK(out && fwrite(t.ptr, 1, t.len, out) == t.len && fclose(out) == 0);
    data_drop(&bytes);
}

static void add_hostile(void)
{
    char log[64];
    data_file(log, nsc_text_of(hostile));
    add_path(log);
    unlink(log);
    ASKS("PRAGMA user_version", "4\n");
    ASKS("SELECT value FROM meta WHERE name = 'schema'", "4\n");
    ASKS("SELECT count(*) FROM scan", "2\n");
}

static ncclscope_model *scan_one(const char *path)
{
    ncclscope_model *m = NULL;
    CHECK_INT(ncclscope_scan(&m, grammar, &path, 1, NULL, NULL), 0);
    return m;
}

/* What an older version wrote is read, and gets what it lacks when something is added. */
static void test_version_1(void)
{
    old_store();
    sql("ALTER TABLE record DROP COLUMN raw_host; ALTER TABLE record DROP COLUMN raw_time;"
        "ALTER TABLE record DROP COLUMN raw_message; ALTER TABLE record DROP COLUMN raw_location;"
        "UPDATE meta SET value = '1' WHERE name = 'schema'; PRAGMA user_version = 1");
    ncclscope_model *m = scan_one(file);
    CHECK_INT(m->comms.len, 1);
    ncclscope_model_free(m);
    add_hostile();
    check_value(file, "mlx" HARM "5"); /* the last scan */
    drop_file();
}

/* Each of these says the same of what version 2 wrote and of the same log in a new store. */
static const char *const both_know[] = {
    "SELECT c.id, src, dst, direction, via, transport, network, gdrdma, path, attribution, l.lines, l.source, l.line "
    "FROM link l "
    "JOIN comm c ON c.scan = l.scan AND c.row = l.comm WHERE l.scan = 1 ORDER BY l.row",
    "SELECT * FROM v_pairs WHERE scan = 1",
    "SELECT * FROM v_ranks WHERE scan = 1 ORDER BY rank",
    "SELECT * FROM v_env WHERE scan = 1",
    "SELECT scan, severity, id, title, line FROM v_findings WHERE scan = 1",
    "SELECT id, members, nranks, nnodes, parent, state FROM comm WHERE scan = 1",
    "SELECT lines, nccl_lines, unknown_lines, torn_lines, problem FROM scan_source WHERE scan = 1",
    "SELECT source, line, text FROM evidence WHERE scan = 1 AND finding = 0",
    "SELECT count(*) FROM record r JOIN scan_content s ON s.source = r.source WHERE s.scan = 1",
};

static void test_version_2(void)
{
    struct data was[sizeof both_know / sizeof both_know[0]];
    old_store();
    add_hostile();
    for (size_t i = 0; i < sizeof both_know / sizeof both_know[0]; i++)
        was[i] = ask(both_know[i]);
    ASKS("SELECT count(*) FROM sqlite_master WHERE name LIKE 'old%'", "0\n");
    ASKS("PRAGMA integrity_check", "ok\n");
    drop_file();
    CHECK_INT(add(1, shm), 0);
    for (size_t i = 0; i < sizeof both_know / sizeof both_know[0]; i++) {
        CHECK(data_text(&was[i]).len > 0);
        ASKS(both_know[i], data_text(&was[i]).ptr);
        data_drop(&was[i]);
    }
    drop_file();
}

/* Version 3 knew no jobs. */
static void test_version_3(void)
{
    CHECK_INT(add(1, shm), 0);
    sql("ALTER TABLE scan DROP COLUMN job; UPDATE meta SET value = '3' WHERE name = 'schema'; PRAGMA user_version = 3");
    ncclscope_model *m = scan_one(file);
    CHECK_INT(m->comms.len, 1);
    ncclscope_model_free(m);
    add_hostile();
    ASKS("SELECT count(*), count(job) FROM scan", "2|0\n");
    drop_file();
}

/* A warning says where in NCCL's source it is from; that stands before its words again when a store is read. */
static void test_warnings_again(void)
{
    static const char *const devshm[] = {"2.28.9/h200x8-small-devshm.log"};
    char path[600];
    log_path(path, devshm[0]);
    CHECK_INT(add(1, devshm), 0);
    ASKS("SELECT count(*) > 0 FROM record WHERE level = 'WARN' AND location IS NOT NULL", "1\n");
    ncclscope_model *log = scan_one(path), *stored = scan_one(file);
    CHECK(log->warnings.len > 0);
    CHECK_INT(stored->warnings.len, log->warnings.len);
    for (size_t i = 0; i < log->warnings.len && i < stored->warnings.len; i++) {
        CHECK_INT(stored->warnings.item[i].lines, log->warnings.item[i].lines);
        CHECK_INT(stored->warnings.item[i].where.line, log->warnings.item[i].where.line);
        CHECK_TEXT(nsc_say(stored, stored->warnings.item[i].message), nsc_say(log, log->warnings.item[i].message).ptr);
    }
    CHECK_INT(stored->sources.item[0].stats.unknown, log->sources.item[0].stats.unknown);
    ncclscope_model_free(log);
    ncclscope_model_free(stored);
    drop_file();
}

/* Only what the store itself has scanned goes in, once. */
static void test_misuse(void)
{
    char path[600];
    const char *paths = path;
    ncclscope_store *s = NULL;
    ncclscope_model *m = NULL, *other = NULL, *none = NULL;
    ncclscope_findings *f = NULL, *of_other = NULL;
    log_path(path, shm[0]);
    CHECK_INT(ncclscope_scan(&other, grammar, &paths, 1, NULL, NULL), 0);
    CHECK_INT(ncclscope_analyse(&of_other, other, NULL), 0);
    CHECK_INT(ncclscope_store_open(&s, file, NULL), 0);
    CHECK_INT(ncclscope_store_add(s, other, of_other, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_store_scan(s, &m, grammar, &paths, 1, NULL, NULL), 0);
    CHECK_INT(ncclscope_store_scan(s, &none, grammar, &paths, 1, NULL, NULL), NCCLSCOPE_EINVAL);
    CHECK(!none);
    CHECK_INT(ncclscope_analyse(&f, m, NULL), 0);
    CHECK_INT(ncclscope_store_add(s, other, of_other, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_store_add(s, m, of_other, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_store_add(s, m, NULL, NULL), NCCLSCOPE_EINVAL);
    CHECK_INT(ncclscope_store_add(s, m, f, NULL), 0);
    CHECK_INT(ncclscope_store_add(s, m, f, NULL), NCCLSCOPE_EINVAL);
    ncclscope_store_close(s);
    ASKS("SELECT count(*) FROM scan", "1\n");
    ncclscope_findings_free(f);
    ncclscope_findings_free(of_other);
    ncclscope_model_free(m);
    ncclscope_model_free(other);
    drop_file();
}

/* Does another process see a lock on the file? */
static bool is_locked(void)
{
    pid_t child = fork();
    if (!child) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(file, O_RDWR);
        _exit(fd < 0 || fcntl(fd, F_GETLK, &lock) != 0 ? 2 : lock.l_type != F_UNLCK);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 1;
}

/* Closing any descriptor of a file drops the locks that a process has on it: a store that is read again while it is open keeps SQLite's. */
static void test_locks(void)
{
    ncclscope_store *s = NULL, *another = NULL; /* which was opened before */
    ncclscope_model *m = NULL;
    const char *path = file;
    char other[140];
    snprintf(other, sizeof other, "%s-2", file);
    CHECK_INT(add(1, shm), 0);
    CHECK_INT(ncclscope_store_open(&another, other, NULL), 0);
    CHECK_INT(ncclscope_store_open(&s, file, NULL), 0);
    CHECK(is_locked());
    CHECK_INT(ncclscope_scan(&m, grammar, &path, 1, NULL, NULL), 0);
    CHECK_INT(m->comms.len, 1);
    CHECK(is_locked());
    ncclscope_model_free(m);
    ncclscope_store_close(s);
    CHECK(!is_locked());
    ncclscope_store_close(another);
    unlink(other);
    drop_file();
}

/* So does one that somebody only reads, while it is named, listed and read again. */
static void test_locks_of_readers(void)
{
    ncclscope_reader *r = NULL;
    const ncclscope_record *rec;
    ncclscope_jobs *jobs = NULL;
    const char *path = file;
    char scan[140];
    snprintf(scan, sizeof scan, "%s:1", file);
    CHECK_INT(add(1, shm), 0);
    CHECK_INT(ncclscope_reader_open(&r, grammar, file, NULL), 0);
    CHECK_INT(ncclscope_reader_next(r, &rec, NULL), 0);
    CHECK(is_locked());
    ncclscope_model_free(scan_one(scan));
    CHECK(is_locked());
    CHECK_INT(ncclscope_jobs_scan(&jobs, grammar, &path, 1, "auto", NULL, NULL), 0);
    CHECK(is_locked());
    ncclscope_jobs_free(jobs);
    ncclscope_reader_free(r);
    CHECK(!is_locked());
    drop_file();
}

enum { WRITERS = 8 };

/* They meet on a file that none of them finds there: one makes the tables, all store their scans. */
static void test_first_writers(void)
{
    static const char *const devshm[] = {"2.28.9/h200x8-small-devshm.log"};
    pid_t child[WRITERS];
    int go[2];
    CHECK_INT(pipe(go), 0);
    for (int i = 0; i < WRITERS; i++) {
        child[i] = fork();
        if (child[i])
            continue;
        char byte;
        close(go[1]);
        ssize_t n = read(go[0], &byte, 1); /* until the last one is there */
        _exit(n != 0 || add(1, i % 2 ? shm : devshm) != 0);
    }
    close(go[0]);
    close(go[1]);
    for (int i = 0, status; i < WRITERS; i++)
        CHECK(waitpid(child[i], &status, 0) == child[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ASKS("SELECT count(*), (SELECT count(*) FROM meta WHERE name = 'schema') FROM scan", "2|1\n");
    drop_file();
}

static int open_only(ncclscope_error *err)
{
    ncclscope_store *s = NULL;
    int rc = ncclscope_store_open(&s, file, err);
    CHECK((rc == 0) == (s != NULL));
    ncclscope_store_close(s);
    return rc;
}

static void sql(const char *text)
{
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(file, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void put(nsc_text bytes)
{
    FILE *f = fopen(file, "wb");
    fwrite(bytes.ptr, 1, bytes.len, f);
    fclose(f);
}

static void test_refused(void)
{
    ncclscope_error err = {0};
    struct data log = data_load("logs/2.28.9/h200x8-p2p-disabled-shm.log");
    put(data_text(&log));
    CHECK_INT(open_only(&err), NCCLSCOPE_EDATA); /* a log is no database */
    CHECK(err.text[0] != 0);
    struct stat st;
    CHECK(stat(file, &st) == 0 && (size_t)st.st_size == log.len); /* and is left as it was */
    data_drop(&log);
    drop_file();
    sql("CREATE TABLE mine(a)");
    CHECK_INT(open_only(&err), NCCLSCOPE_EDATA); /* somebody else's database */
    drop_file();
    CHECK_INT(open_only(&err), 0);
    sql("PRAGMA user_version = 99");
    CHECK_INT(open_only(&err), NCCLSCOPE_EUNSUPPORTED);
    drop_file();
    put(NSC_TEXT(""));
    CHECK_INT(open_only(&err), 0); /* an empty file becomes a store */
    drop_file();
    CHECK_INT(mkdir(file, 0700), 0);
    CHECK_INT(open_only(&err), NCCLSCOPE_EIO);
    rmdir(file);
    snprintf(file, sizeof file, "%s/no/such/store.db", folder);
    CHECK_INT(open_only(&err), NCCLSCOPE_EIO);
    ncclscope_store_close(NULL);
    rmdir(folder);
    ncclscope_grammar_free(grammar);
}

static struct data scanned_json(const char *path)
{
    ncclscope_model *m = NULL;
    CHECK_INT(ncclscope_scan(&m, grammar, &path, 1, NULL, NULL), 0);
    struct data out = scene_report(m);
    ncclscope_model_free(m);
    return out;
}

/* What a store is read to is the scan that was added to it, with its sources and their lines; without the model that it keeps, its records. */
static void test_read_again(void)
{
    char where[600];
    name_file();
    drop_file();
    snprintf(where, sizeof where, "%s/logs/2.30.7", getenv("TESTDATA"));
    add_path(where);
    struct data first = scanned_json(where), again = scanned_json(file), records;
    CHECK(nsc_text_eq(data_text(&first), data_text(&again)));
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(file, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "UPDATE saved_model SET bytes = x'6e6373'", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    records = scanned_json(file);
    CHECK(nsc_text_find(data_text(&records), file) >= 0 && nsc_text_find(data_text(&first), file) < 0);
    data_drop(&records);
    data_drop(&again);
    data_drop(&first);
    drop_file();
}

CHECKS(TEST(test_tables), TEST(test_views), TEST(test_again), TEST(test_packed_is_the_same), TEST(test_second_scan),
       TEST(test_warnings), TEST(test_dropped), TEST(test_all_kinds), TEST(test_unreadable_source),
       TEST(test_hostile_texts), TEST(test_version_1), TEST(test_version_2), TEST(test_version_3),
       TEST(test_warnings_again), TEST(test_read_again), TEST(test_misuse), TEST(test_locks),
       TEST(test_locks_of_readers), TEST(test_first_writers), TEST(test_refused))
