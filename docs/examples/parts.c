/* parts.c LOG... - each log read by itself, as on a machine of its own, and carried as bytes to where they are put together and judged.
 *
 *   cc parts.c $(pkg-config --cflags --libs ncclscope) -o parts
 *
 * What comes out is what one scan of all logs gives, in their order. */
#include <ncclscope/model.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    char *ptr;
    size_t len;
};

static int keep(void *user, const char *bytes, size_t size)
{
    struct bytes *b = (struct bytes *)user;
    char *grown = (char *)realloc(b->ptr, b->len + size);
    if (!grown)
        return 1;
    memcpy(grown + b->len, bytes, size);
    b->ptr = grown;
    b->len += size;
    return 0;
}

/* On the machine of the log: what it says, as bytes. */
static int read_part(struct bytes *out, ncclscope_grammar *g, const char *path, ncclscope_error *err)
{
    ncclscope_model *m = NULL;
    int rc = ncclscope_model_new(&m, err);
    if (!rc)
        rc = ncclscope_model_read(m, g, &path, 1, NULL, err);
    if (!rc)
        rc = ncclscope_model_save(m, keep, out, err);
    ncclscope_model_free(m);
    return rc;
}

/* Where they come together. */
static int add_part(ncclscope_model *all, ncclscope_grammar *g, const struct bytes *b, ncclscope_error *err)
{
    ncclscope_model *part = NULL;
    int rc = ncclscope_model_load(&part, g, b->ptr, b->len, err);
    if (!rc)
        rc = ncclscope_model_merge(all, part, err);
    ncclscope_model_free(part);
    return rc;
}

int main(int argc, char **argv)
{
    ncclscope_error err;
    ncclscope_grammar *g = NULL;
    ncclscope_model *all = NULL;
    ncclscope_findings *f = NULL;
    int rc = ncclscope_grammar_new(&g, &err);
    if (!rc)
        rc = ncclscope_model_new(&all, &err);
    for (int i = 1; i < argc && !rc; i++) {
        struct bytes b = {NULL, 0};
        rc = read_part(&b, g, argv[i], &err);
        if (!rc)
            rc = add_part(all, g, &b, &err);
        printf("%s: %lu bytes\n", argv[i], (unsigned long)b.len);
        free(b.ptr);
    }
    if (!rc)
        rc = ncclscope_model_finish(all, &err);
    if (!rc)
        rc = ncclscope_analyse(&f, all, &err);
    for (size_t i = 0; !rc && i < ncclscope_findings_count(f); i++)
        printf("%s: %s\n", ncclscope_finding_id(f, i), ncclscope_finding_title(f, i));
    if (rc)
        fprintf(stderr, "parts: %s\n", err.text);
    ncclscope_findings_free(f);
    ncclscope_model_free(all);
    ncclscope_grammar_free(g);
    return rc ? 1 : 0;
}
