/* paths.c LOG... - which path each pair of GPUs uses, and the lines that every finding rests on.
 *
 *   cc paths.c $(pkg-config --cflags --libs ncclscope) -o paths
 *
 * The model lends its links as rows, some at a time; findings and their evidence are rows too, the evidence in the order of the findings. */
#include <ncclscope/rows.h>

#include <stdio.h>

enum { AT_ONCE = 256 };

static void print_links(const ncclscope_model *m)
{
    ncclscope_link link[AT_ONCE];
    size_t first = 0, n;
    while ((n = ncclscope_model_links(m, first, AT_ONCE, link, sizeof *link)) > 0) {
        for (size_t i = 0; i < n; i++)
            printf("rank %lld to %lld: %s (%s), %.*s\n", (long long)link[i].src, (long long)link[i].dst,
                   ncclscope_word_of("path", link[i].path), ncclscope_word_of("proof", link[i].proof),
                   (int)link[i].via.len, link[i].via.ptr);
        first += n;
    }
}

static void print_findings(const ncclscope_model *m, const ncclscope_findings *f)
{
    ncclscope_finding finding;
    ncclscope_evidence line;
    size_t at = 0;
    for (size_t i = 0; ncclscope_findings_all(f, i, 1, &finding, sizeof finding); i++) {
        printf("%.*s: %.*s\n", (int)finding.id.len, finding.id.ptr, (int)finding.title.len, finding.title.ptr);
        for (; ncclscope_findings_evidence(f, at, 1, &line, sizeof line) && line.finding == (int64_t)i; at++)
            printf("    %s:%lld\n", ncclscope_model_source_name(m, (size_t)line.source), (long long)line.line);
    }
}

int main(int argc, char **argv)
{
    ncclscope_error err;
    ncclscope_grammar *g = NULL;
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    int rc = ncclscope_grammar_new(&g, &err);
    if (!rc)
        rc = ncclscope_scan(&m, g, (const char *const *)(argv + 1), (size_t)(argc - 1), NULL, &err);
    if (!rc)
        rc = ncclscope_analyse(&f, m, &err);
    if (!rc) {
        print_links(m);
        print_findings(m, f);
    } else {
        fprintf(stderr, "paths: %s\n", err.text);
    }
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    ncclscope_grammar_free(g);
    return rc ? 1 : 0;
}
