/* fuzz_source.c - any bytes as a file, plain or gzip: it is read to its end or said to be damaged, twice the same; and plain text is
 * the same records whether it is opened or fed. */
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
    must(ncclscope_reader_open(&r, g, path, NULL) == NCCLSCOPE_OK);
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
    ncclscope_stats once, again, fed;
    int rc = read_file(g, path, &once);
    must(read_file(g, path, &again) == rc && !memcmp(&once, &again, sizeof once));
    must(rc == NCCLSCOPE_END ? !once.truncated : once.truncated);
    int utf16 =
        size > 1 && (!memcmp(data, "\xff\xfe", 2) || !memcmp(data, "\xfe\xff", 2)); /* a fed reader takes UTF-8 */
    if (once.gzip || utf16)
        return 0;
    ncclscope_reader *r;
    must(ncclscope_reader_new(&r, g, NULL) == NCCLSCOPE_OK);
    ncclscope_reader_feed(r, data, size);
    ncclscope_reader_finish(r);
    must(read_all(r, &fed) == NCCLSCOPE_END);
    must(!memcmp(&once, &fed, sizeof fed));
    ncclscope_reader_free(r);
    return 0;
}
