/* store.c DATABASE LOG... - keep the records of logs, what they add up to and what is wrong, and ask SQL of it.
 *
 *   cc store.c $(pkg-config --cflags --libs ncclscope sqlite3) -o store
 *
 * A store is an SQLite file; docs/schema.md has its tables. The same logs twice change nothing. */
#include <ncclscope/store.h>

#include <sqlite3.h>
#include <stdio.h>

static int print_row(void *unused, int n, char **value, char **name)
{
    (void)unused;
    for (int i = 0; i < n; i++)
        printf("%s%s=%s", i ? " " : "", name[i], value[i] ? value[i] : "?");
    printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    ncclscope_error err = {0, 0, 0, "a database and a log are wanted"};
    ncclscope_grammar *g = NULL;
    ncclscope_store *s = NULL;
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    sqlite3 *db = NULL;
    int rc = argc < 3 ? NCCLSCOPE_EINVAL : ncclscope_grammar_new(&g, &err);
    if (!rc)
        rc = ncclscope_store_open(&s, argv[1], &err);
    if (!rc)
        rc = ncclscope_store_scan(s, &m, g, (const char *const *)(argv + 2), (size_t)(argc - 2), NULL, &err);
    if (!rc)
        rc = ncclscope_analyse(&f, m, &err);
    if (!rc)
        rc = ncclscope_store_add(s, m, f, &err);
    if (rc)
        fprintf(stderr, "store: %s\n", err.text);
    ncclscope_store_close(s);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    ncclscope_grammar_free(g);
    if (!rc && sqlite3_open(argv[1], &db) == SQLITE_OK)
        sqlite3_exec(db, "SELECT path, count(*) AS links FROM link GROUP BY path ORDER BY path", print_row, NULL, NULL);
    sqlite3_close(db);
    return rc ? 1 : 0;
}
