/* fuzz_source.c - any bytes as a file: it is read to its end, said to be damaged, or to be packed in a way that is not read; and the same when
 * they are fed, in pieces. */
#include "ncclscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void must(int holds)
{
    if (!holds)
        abort();
}

static int read_all(ncclscope_reader *r, ncclscope_stats *stats)
{
    const ncclscope_record *rec;
    int rc;
    while ((rc = ncclscope_reader_next(r, &rec, NULL)) == NCCLSCOPE_OK)
        must(ncclscope_record_physical(rec).len >= ncclscope_record_message(rec).len || ncclscope_record_flags(rec));
    *stats = (ncclscope_stats){.size = sizeof *stats};
    must(ncclscope_reader_stats(r, stats) == NCCLSCOPE_OK);
    return rc;
}

static int read_file(ncclscope_grammar *g, const char *path, ncclscope_stats *stats)
{
    ncclscope_reader *r;
    int opened = ncclscope_reader_open(&r, g, path, NULL);
    *stats = (ncclscope_stats){.size = sizeof *stats};
    if (opened)
        return opened;
    int rc = read_all(r, stats);
    must(rc == NCCLSCOPE_END || rc == NCCLSCOPE_EDATA);
    const ncclscope_record *rec;
    must(rc == NCCLSCOPE_END || ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_END);
    ncclscope_reader_free(r);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ncclscope_grammar *g;
    static int fd = -1;
    static char path[64];
    if (!g && ncclscope_grammar_new(&g, NULL))
        return 0;
    if (fd < 0) {
        fd = memfd_create("input", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    must(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    ncclscope_stats once, fed = {.size = sizeof fed};
    if (size >= 16 && !memcmp(data, "SQLite format 3", 16)) /* a store is a file with others beside it */
        return 0;
    int rc = read_file(g, path, &once), fed_rc = NCCLSCOPE_MORE;
    must(rc == NCCLSCOPE_END || rc == NCCLSCOPE_EUNSUPPORTED ? !once.truncated : once.truncated);
    size_t piece = size ? data[size - 1] + 1u : 1;
    const ncclscope_record *rec;
    ncclscope_reader *r;
    must(ncclscope_reader_new(&r, g, NULL) == NCCLSCOPE_OK);
    for (size_t at = 0; fed_rc == NCCLSCOPE_MORE; at += piece) {
        if (at < size)
            must(ncclscope_reader_feed(r, data + at, size - at < piece ? size - at : piece) == NCCLSCOPE_OK);
        else
            ncclscope_reader_finish(r);
        while ((fed_rc = ncclscope_reader_next(r, &rec, NULL)) == NCCLSCOPE_OK)
            ;
    }
    must(fed_rc == rc);
    must(ncclscope_reader_stats(r, &fed) == NCCLSCOPE_OK);
    once.bytes = fed.bytes; /* what lies behind the place where it ended was given too */
    must(rc == NCCLSCOPE_EUNSUPPORTED || !memcmp(&once, &fed, sizeof fed));
    ncclscope_reader_free(r);
    return 0;
}
