/* bench_read.c - how fast a log is read, stage by stage, in one run on one core: MB/s and ns per line of splitting lines, of reading
 * records, and of reading them into a model. Ratios within the run are what counts: machines differ.
 *
 *   bench_read FILE...      reads them into memory, repeats them to about 500 MB, and feeds that in pieces of 64 KiB */
#include "ncclscope/model.h"
#include "read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { PIECE = 64 * 1024 };
static const size_t target = 500u * 1000 * 1000;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *load(int argc, char **argv, size_t *size)
{
    char *all = NULL;
    for (int i = 1; i < argc; i++) {
        struct nsc_source s;
        size_t got;
        if (nsc_source_open(&s, argv[i], &(struct nsc_watch){NULL, NULL, 0}, NULL))
            continue;
        do {
            all = realloc(all, *size + PIECE);
            got = 0;
            nsc_source_read(&s, all + *size, PIECE, &got, NULL);
            *size += got;
        } while (got);
        nsc_source_close(&s);
    }
    return all;
}

static uint64_t split(const char *data, size_t size, size_t times)
{
    struct nsc_lines l = {0};
    struct nsc_line line;
    uint64_t n = 0;
    for (size_t t = 0; t < times; t++)
        for (size_t at = 0; at < size; at += PIECE) {
            size_t len = size - at < PIECE ? size - at : PIECE;
            memcpy(nsc_lines_room(&l, len), data + at, len);
            nsc_lines_filled(&l, len);
            while (nsc_lines_next(&l, &line))
                n++;
        }
    nsc_lines_free(&l);
    return n;
}

static uint64_t read_records(ncclscope_grammar *g, const char *data, size_t size, size_t times, bool model)
{
    ncclscope_reader *r = NULL;
    ncclscope_model *m = NULL;
    const ncclscope_record *rec;
    uint64_t n = 0;
    if (ncclscope_reader_new(&r, g, NULL) || ncclscope_model_new(&m, NULL) || ncclscope_model_source(m, "bench"))
        exit(1);
    for (size_t t = 0; t < times; t++)
        for (size_t at = 0; at < size; at += PIECE) {
            ncclscope_reader_feed(r, data + at, size - at < PIECE ? size - at : PIECE);
            for (; ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK; n++)
                if (model)
                    ncclscope_model_add(m, rec);
        }
    ncclscope_model_source_end(m, r, NULL);
    ncclscope_model_finish(m, NULL);
    ncclscope_model_free(m);
    ncclscope_reader_free(r);
    return n;
}

static long peak_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static double report(const char *stage, double begin, double bytes, double lines)
{
    double s = seconds() - begin;
    printf("%-22s %8.0f MB/s %8.1f ns a line\n", stage, bytes / s / 1e6, s / lines * 1e9);
    return bytes / s;
}

int main(int argc, char **argv)
{
    size_t size = 0;
    char *data = load(argc, argv, &size);
    ncclscope_grammar *g;
    if (!size || ncclscope_grammar_new(&g, NULL))
        return 1;
    size_t times = target / size + 1;
    double bytes = (double)size * (double)times, begin = seconds();
    uint64_t lines = split(data, size, times);
    double fastest = report("split lines", begin, bytes, (double)lines);
    begin = seconds();
    read_records(g, data, size, times, false);
    double records = report("read records", begin, bytes, (double)lines);
    long before = peak_kib();
    read_records(g, data, size, 1, true); /* what one pass needs, the next need not need again */
    long once = peak_kib();
    begin = seconds();
    read_records(g, data, size, times, true);
    double model = report("read into a model", begin, bytes, (double)lines);
    printf("records %.2f, model %.2f of the speed of splitting; %zu passes over %.1f MB\n", records / fastest,
           model / fastest, times, (double)size / 1e6);
    printf("peak memory: %ld KiB before the model, %ld after one pass, %ld after all\n", before, once, peak_kib());
    ncclscope_grammar_free(g);
    free(data);
    return 0;
}
