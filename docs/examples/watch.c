/* watch.c - bytes of a log as they come, from a socket or a pipe on standard input; each finding as it arises.
 *
 *   cc watch.c $(pkg-config --cflags --libs ncclscope) -o watch
 *   kubectl logs -f train-0 | ./watch
 *
 * Records are pulled from a reader that is fed; every five seconds without new ones, and at the end, a model of what has come so far is
 * judged. A finding is printed when it is there for the first time. */
#include <ncclscope/rows.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FEEDS = 1 << 16, QUIET_MS = 5000, NUMBERS = 4096 };

static char *text; /* all that has come */
static size_t len, cap;
static char told[NUMBERS]; /* by the number of a finding: it was printed */

static int keep(const char *bytes, size_t n)
{
    if (len + n > cap) {
        char *more = realloc(text, cap = (len + n) * 2);
        if (!more)
            return -1;
        text = more;
    }
    memcpy(text + len, bytes, n);
    len += n;
    return 0;
}

/* Ends a program that cannot go on. */
static void must(int rc, const ncclscope_error *err)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "watch: %s\n", err->text);
    exit(1);
}

static void print_new(const ncclscope_findings *f)
{
    ncclscope_finding x;
    for (size_t i = 0; ncclscope_findings_all(f, i, 1, &x, sizeof x); i++) {
        if (x.severity < NCCLSCOPE_SEVERITY_WARNING || x.number >= NUMBERS || told[x.number])
            continue;
        told[x.number] = 1;
        printf("%s: %.*s\n", ncclscope_word_of("severity", x.severity), (int)x.title.len, x.title.ptr);
        if (x.fix.ptr)
            printf("    %.*s\n", (int)x.fix.len, x.fix.ptr);
        fflush(stdout);
    }
}

static void judge(ncclscope_grammar *g)
{
    ncclscope_error err;
    ncclscope_reader *r;
    ncclscope_model *m;
    ncclscope_findings *f;
    const ncclscope_record *rec;
    must(ncclscope_reader_new(&r, g, &err), &err);
    must(ncclscope_model_new(&m, &err), &err);
    must(ncclscope_model_source(m, "-"), &err);
    must(ncclscope_reader_feed(r, text, len), &err);
    ncclscope_reader_finish(r);
    while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK)
        must(ncclscope_model_add(m, rec), &err);
    must(ncclscope_model_source_end(m, r, NULL), &err);
    must(ncclscope_model_finish(m, &err), &err);
    must(ncclscope_analyse(&f, m, &err), &err);
    print_new(f);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    ncclscope_reader_free(r);
}

int main(void)
{
    static char bytes[FEEDS];
    ncclscope_error err;
    ncclscope_grammar *g;
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    size_t judged = 0;
    ssize_t n = 1;
    must(ncclscope_grammar_new(&g, &err), &err);
    while (n > 0) {
        if (poll(&in, 1, QUIET_MS) > 0) {
            n = read(STDIN_FILENO, bytes, sizeof bytes);
            if (n > 0 && keep(bytes, (size_t)n))
                return 1;
        } else if (judged < len) {
            judge(g);
            judged = len;
        }
    }
    judge(g);
    free(text);
    ncclscope_grammar_free(g);
    return 0;
}
