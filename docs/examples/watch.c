/* watch.c - a log as it comes, from a pipe or a socket on standard input, and each finding as it arises.
 *
 *   cc watch.c $(pkg-config --cflags --libs ncclscope) -o watch
 *   kubectl logs -f train-0 | ./watch
 *
 * Bytes are pushed into a reader and records pulled out of it. When nothing has come for a while, and at the end, a snapshot of the model is
 * judged: it costs what the model is large, not what the log is long. A finding is printed when it is there for the first time. */
#include <ncclscope/rows.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 1 << 16, QUIET_MS = 2000, NUMBERS = 4096 };

/* Ends a program that cannot go on; positive codes are outcomes. */
static void must(int rc, const ncclscope_error *err)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "watch: %s\n", err->text);
    exit(1);
}

static void take_records(ncclscope_reader *r, ncclscope_model *m, uint32_t id)
{
    ncclscope_error err = {0, 0, 0, ""};
    const ncclscope_record *rec;
    int rc;
    while ((rc = ncclscope_reader_next(r, &rec, &err)) == NCCLSCOPE_OK)
        must(ncclscope_model_stream_add(m, id, rec), &err);
    must(rc, &err);
}

static void print_new(const ncclscope_model *m)
{
    static char told[NUMBERS]; /* by the number of a finding: it was printed */
    ncclscope_error err;
    ncclscope_findings *f;
    ncclscope_finding x;
    must(ncclscope_analyse(&f, m, &err), &err);
    for (size_t i = 0; ncclscope_findings_all(f, i, 1, &x, sizeof x); i++) {
        if (x.severity < NCCLSCOPE_SEVERITY_WARNING || x.number >= NUMBERS || told[x.number])
            continue;
        told[x.number] = 1;
        printf("%s: %.*s\n", ncclscope_word_of("severity", x.severity), (int)x.title.len, x.title.ptr);
        if (x.fix.ptr)
            printf("    %.*s\n", (int)x.fix.len, x.fix.ptr);
        fflush(stdout);
    }
    ncclscope_findings_free(f);
}

static void judge(ncclscope_reader *r, ncclscope_model *m, uint32_t id)
{
    ncclscope_error err;
    ncclscope_model *now;
    ncclscope_reader_flush(r); /* in a hang the line that waits for its rest may be the one that matters */
    take_records(r, m, id);
    must(ncclscope_model_stream_counts(m, id, r), &err);
    must(ncclscope_model_snapshot(&now, m, &err), &err);
    print_new(now);
    ncclscope_model_free(now);
}

int main(void)
{
    static char bytes[BYTES];
    ncclscope_error err;
    ncclscope_grammar *g;
    ncclscope_reader *r;
    ncclscope_model *m;
    uint32_t id;
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    int news = 0;
    ssize_t n = 1;
    must(ncclscope_grammar_new(&g, &err), &err);
    must(ncclscope_reader_new(&r, g, &err), &err);
    must(ncclscope_model_new(&m, &err), &err);
    must(ncclscope_model_stream(m, "standard input", &id), &err);
    while (n > 0) {
        if (poll(&in, 1, QUIET_MS) > 0) {
            n = read(STDIN_FILENO, bytes, sizeof bytes);
            if (n > 0)
                must(ncclscope_reader_feed(r, bytes, (size_t)n), &err);
            take_records(r, m, id);
            news = 1;
        } else if (news) {
            judge(r, m, id);
            news = 0;
        }
    }
    ncclscope_reader_finish(r);
    judge(r, m, id);
    ncclscope_model_free(m);
    ncclscope_reader_free(r);
    ncclscope_grammar_free(g);
    return 0;
}
