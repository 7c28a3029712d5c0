/* rows_dump.c LOG... - every row that a model and its findings lend, a line of JSON each: {"table": "link", "src": 0, ...}. Written from the
 * public headers alone, as somebody would who has never seen the library's sources; what is not said is left out. */
#include <ncclscope/probe.h>
#include <ncclscope/rows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_text(ncclscope_text t)
{
    putchar('"');
    for (size_t i = 0; i < t.len; i++) {
        unsigned char c = (unsigned char)t.ptr[i];
        if (c < 0x20 || c == '"' || c == '\\')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_column(const ncclscope_column_info *c, const char *at)
{
    int64_t number = 0;
    double real = 0;
    ncclscope_text text = {NULL, 0};
    memcpy(c->type == NCCLSCOPE_TYPE_TEXT  ? (void *)&text
           : c->type == NCCLSCOPE_TYPE_F64 ? (void *)&real
                                           : (void *)&number,
           at, c->type == NCCLSCOPE_TYPE_TEXT ? sizeof text : sizeof number);
    if (c->type == NCCLSCOPE_TYPE_TEXT  ? !text.ptr
        : c->type == NCCLSCOPE_TYPE_F64 ? real != real
                                        : number == (c->type == NCCLSCOPE_TYPE_BOOL ? -1 : NCCLSCOPE_UNSAID))
        return;
    printf(", \"%s\": ", c->name);
    if (c->type == NCCLSCOPE_TYPE_TEXT)
        print_text(text);
    else if (c->type == NCCLSCOPE_TYPE_F64)
        printf("%.17g", real);
    else if (c->type == NCCLSCOPE_TYPE_ENUM)
        printf("\"%s\"", ncclscope_word_of(c->unit, number));
    else if (c->type == NCCLSCOPE_TYPE_BOOL)
        printf("%s", number ? "true" : "false");
    else
        printf("%lld", (long long)number);
}

static void print_table(const ncclscope_model *m, const ncclscope_findings *f, int table)
{
    ncclscope_table_info t;
    ncclscope_column_info c;
    t.size = sizeof t;
    c.size = sizeof c;
    if (ncclscope_table_get(table, &t) != NCCLSCOPE_OK)
        abort();
    int of_model = !strcmp(t.owner, "model");
    size_t n =
        of_model ? ncclscope_model_rows(m, table, 0, 0, NULL, 0) : ncclscope_findings_rows(f, table, 0, 0, NULL, 0);
    char *rows = malloc((n + 1) * t.row_size);
    size_t got = of_model ? ncclscope_model_rows(m, table, 0, n, rows, t.row_size)
                          : ncclscope_findings_rows(f, table, 0, n, rows, t.row_size);
    if (!rows || got != n)
        abort();
    for (size_t i = 0; i < n; i++) {
        printf("{\"table\": \"%s\"", t.name);
        for (int k = 0; ncclscope_column_get(table, k, &c) == NCCLSCOPE_OK; k++)
            print_column(&c, rows + i * t.row_size + c.offset);
        printf("}\n");
    }
    free(rows);
}

/* The argument behind an option that stands first, and the rest of them. */
static const char *take(int *argc, char ***argv, const char *option)
{
    if (*argc < 3 || strcmp((*argv)[1], option) != 0)
        return NULL;
    *argc -= 2;
    *argv += 2;
    return (*argv)[0];
}

static int give_facts(ncclscope_model *m, ncclscope_facts **f, const char *path, ncclscope_error *err)
{
    int rc = ncclscope_facts_load(f, path, err);
    if (!rc)
        ncclscope_model_facts(m, *f);
    return rc;
}

/* rows_dump [--pod FILE] [--facts FILE] [--expect LIST] LOG... */
int main(int argc, char **argv)
{
    const char *pod = take(&argc, &argv, "--pod"), *facts = take(&argc, &argv, "--facts"),
               *expect = take(&argc, &argv, "--expect");
    ncclscope_error err;
    ncclscope_facts *given = NULL;
    ncclscope_grammar *g;
    ncclscope_model *m;
    ncclscope_findings *f;
    if (ncclscope_grammar_new(&g, &err) ||
        ncclscope_scan(&m, g, (const char *const *)(argv + 1), (size_t)(argc - 1), NULL, &err) ||
        (pod && ncclscope_model_pods(m, pod, &err)) || (facts && give_facts(m, &given, facts, &err)) ||
        ncclscope_analyse(&f, m, &err) || (expect && ncclscope_expect(f, expect, &err))) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int table = 0; table < NCCLSCOPE_TABLES; table++)
        print_table(m, f, table);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    ncclscope_facts_free(given);
    ncclscope_grammar_free(g);
    return 0;
}
