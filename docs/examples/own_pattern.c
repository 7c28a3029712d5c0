/* own_pattern.c LOG - the lines of a private plugin, by a row of one's own: which lanes it opened.
 *
 *   cc own_pattern.c $(pkg-config --cflags --libs ncclscope) -o own_pattern
 *
 * The row's name becomes a kind of record, its fields can be asked by name. */
#include <ncclscope.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    ncclscope_error err;
    ncclscope_grammar *g;
    ncclscope_reader *r;
    const ncclscope_record *rec;
    ncclscope_field field;
    ncclscope_text text;
    if (argc != 2 || ncclscope_grammar_new(&g, &err) ||
        ncclscope_grammar_add(g, "lanes", "ACME/Fabric: {lanes:u} lanes to {peer:w}", &err) ||
        ncclscope_reader_open(&r, g, argv[1], &err)) {
        fprintf(stderr, "own_pattern: %s\n", argc == 2 ? err.text : "one log is wanted");
        return 1;
    }
    while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK) {
        if (strcmp(ncclscope_record_kind_name(rec), "lanes") != 0)
            continue;
        printf("line %llu:", (unsigned long long)ncclscope_record_line(rec));
        for (size_t i = 0; ncclscope_record_field(rec, i, &field, &text) == NCCLSCOPE_OK; i++)
            printf(" %s=%.*s", ncclscope_record_field_name(rec, field, NULL), (int)text.len, text.ptr);
        printf("\n");
    }
    ncclscope_reader_free(r);
    ncclscope_grammar_free(g);
    return 0;
}
