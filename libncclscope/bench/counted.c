/* counted.c - linked to a program that was compiled with -fsanitize-coverage=trace-pc, counts the blocks of code that it runs and the
 * steps of SQLite's machine, and tells their number when it ends: the same in every run, however busy the machine is. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>

void __sanitizer_cov_trace_pc(void);
int __real_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);

enum { STEPS = 100 };
static atomic_uint_fast64_t blocks;

void __sanitizer_cov_trace_pc(void)
{
    atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
}

static int count_steps(void *nothing)
{
    (void)nothing;
    atomic_fetch_add_explicit(&blocks, STEPS, memory_order_relaxed);
    return 0;
}

int __wrap_sqlite3_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs)
{
    int rc = __real_sqlite3_open_v2(path, db, flags, vfs);
    if (rc == SQLITE_OK)
        sqlite3_progress_handler(*db, STEPS, count_steps, NULL);
    return rc;
}

__attribute__((destructor)) static void tell(void)
{
    fprintf(stderr, "blocks run: %" PRIuFAST64 "\n", atomic_load(&blocks));
}
