/* fuzz_reader.c - any bytes, cut anywhere, through reader, model, rules and both reports: no crash, no leak, and the same JSON as in
 * one piece. The last byte of the input says how it is cut. */
#include "ncclscope/model.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* As assert, but also where asserts are compiled out: a target that checks nothing finds nothing. */
static void must(int holds)
{
    if (!holds)
        abort();
}

struct bytes {
    char *at;
    size_t len;
};

static int collect(void *user, const char *p, size_t n)
{
    struct bytes *b = user;
    b->at = realloc(b->at, b->len + n + 1);
    memcpy(b->at + b->len, p, n);
    b->len += n;
    return 0;
}

static struct bytes json_of(ncclscope_grammar *g, const uint8_t *data, size_t size, size_t chunk)
{
    ncclscope_reader *r;
    ncclscope_model *m;
    ncclscope_findings *f;
    const ncclscope_record *rec;
    struct bytes out = {NULL, 0}, text = {NULL, 0};
    int rc = ncclscope_reader_new(&r, g, NULL);
    must(rc == 0);
    rc = ncclscope_model_new(&m, NULL);
    must(rc == 0);
    ncclscope_model_source(m, "fuzz");
    for (size_t at = 0; at <= size; at += chunk) {
        size_t n = size - at < chunk ? size - at : chunk;
        ncclscope_reader_feed(r, data + at, n);
        if (n < chunk)
            ncclscope_reader_finish(r);
        while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK)
            ncclscope_model_add(m, rec);
    }
    ncclscope_model_source_end(m, r, NULL);
    rc = ncclscope_model_finish(m, NULL);
    must(rc == 0);
    rc = ncclscope_analyse(&f, m, NULL);
    must(rc == 0);
    ncclscope_report(m, f, "json", 0, 0, collect, &out);
    ncclscope_report(m, f, "text", 60, 0, collect, &text);
    free(text.at);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    ncclscope_reader_free(r);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ncclscope_grammar *g;
    if (!g && ncclscope_grammar_new(&g, NULL))
        return 0;
    size_t chunk = size ? (size_t)data[size - 1] + 1 : 1;
    struct bytes whole = json_of(g, data, size, size + 1), cut = json_of(g, data, size, chunk);
    must(whole.len == cut.len && (!whole.len || !memcmp(whole.at, cut.at, whole.len)));
    free(whole.at);
    free(cut.at);
    return 0;
}
