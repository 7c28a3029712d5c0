/* target.h - what the fuzz targets share: models of given bytes, reports to memory, and a check that is never compiled out. */
#ifndef TARGET_H
#define TARGET_H

#include "ncclscope/model.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As assert, but also where asserts are compiled out: a target that checks nothing finds nothing. */
static inline void must(int holds)
{
    if (!holds)
        abort();
}

struct text {
    char *bytes;
    size_t len, cap;
};

/* A write function of the library. */
static inline int take(void *user, const char *bytes, size_t size)
{
    struct text *t = user;
    if (t->len + size > t->cap)
        t->bytes = realloc(t->bytes, t->cap = (t->len + size) * 2);
    must(t->bytes != NULL || !size);
    if (size)
        memcpy(t->bytes + t->len, bytes, size);
    t->len += size;
    return 0;
}

/* One for all runs: making it costs more than most runs. */
static inline ncclscope_grammar *the_grammar(void)
{
    static ncclscope_grammar *g;
    if (!g)
        must(ncclscope_grammar_new(&g, NULL) == 0);
    return g;
}

/* Finished, of these bytes in pieces of `chunk`. */
static inline ncclscope_model *model_of(const void *data, size_t size, size_t chunk)
{
    ncclscope_model *m = NULL;
    ncclscope_reader *r = NULL;
    const ncclscope_record *rec;
    must(ncclscope_reader_new(&r, the_grammar(), NULL) == 0);
    must(ncclscope_model_new(&m, NULL) == 0 && ncclscope_model_source(m, "fuzz") == 0);
    for (size_t at = 0; at <= size; at += chunk) {
        size_t n = size - at < chunk ? size - at : chunk;
        must(ncclscope_reader_feed(r, (const char *)data + at, n) == 0);
        if (n < chunk)
            ncclscope_reader_finish(r);
        while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK)
            must(ncclscope_model_add(m, rec) == 0);
    }
    must(ncclscope_model_source_end(m, r, NULL) == 0 && ncclscope_model_finish(m, NULL) == 0);
    ncclscope_reader_free(r);
    return m;
}

/* Nothing that moves a terminal. Frees it. */
static inline void must_be_harmless(struct text *t)
{
    for (size_t i = 0; i < t->len; i++) {
        unsigned char c = (unsigned char)t->bytes[i], next = i + 1 < t->len ? (unsigned char)t->bytes[i + 1] : 0;
        must((c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t');
        must(c != 0xc2 || next >= 0xa0); /* C1 */
    }
    free(t->bytes);
}

#endif
