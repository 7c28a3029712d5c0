/* texts.c - texts.def to an index, on first use. The table is one run of characters without pointers, so that a process that
 * never asks pays for no relocation of it. */
#include "read/texts.h"

#include "base/alloc.h"

#include <stdlib.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ROW(family, level, subsystems, first, last, template_) \
    family "\0" #level "\0" subsystems "\0" first "\0" last "\0" template_

static const struct {
#define TEXT(...) char JOIN(at, __LINE__)[sizeof ROW(__VA_ARGS__)];
#include "texts.def"
#undef TEXT
} table = {
#define TEXT(...) ROW(__VA_ARGS__),
#include "texts.def"
#undef TEXT
};

enum {
    ROWS = 0
#define TEXT(...) +1
#include "texts.def"
#undef TEXT
};

static const char *next_string(const char **at)
{
    const char *s = *at;
    *at += strlen(s) + 1;
    return s;
}

static struct nsc_known_text read_row(const char **at)
{
    struct nsc_known_text k;
    k.family = next_string(at);
    k.level = next_string(at);
    k.subsystems = next_string(at);
    k.first = next_string(at);
    k.last = next_string(at);
    k.template_ = next_string(at);
    return k;
}

/* Texts that begin with plain words come first: the others match more than they should, and are slower to refuse. */
static void fill_rows(struct nsc_texts *t)
{
    size_t row = 0;
    for (int with_head = 1; with_head >= 0; with_head--) {
        const char *at = (const char *)&table;
        for (size_t i = 0; i < ROWS; i++) {
            struct nsc_known_text k = read_row(&at);
            if ((k.template_[0] != '{') != with_head)
                continue;
            t->known[row] = k;
            nsc_index_set(&t->index, row++, NCCLSCOPE_KIND_RECOGNISED, k.template_, NULL);
        }
    }
}

static int by_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool sort_rows(struct nsc_texts *t)
{
    t->sorted = nsc_alloc(ROWS * sizeof *t->sorted);
    for (size_t i = 0; t->sorted && i < ROWS; i++)
        t->sorted[i] = t->known[i].template_;
    if (t->sorted)
        qsort(t->sorted, ROWS, sizeof *t->sorted, by_words);
    return t->sorted;
}

static struct nsc_texts *read_table(void)
{
    struct nsc_texts *t = nsc_alloc(sizeof *t);
    if (t && nsc_index_new(&t->index, ROWS) && (t->known = nsc_alloc(ROWS * sizeof *t->known))) {
        fill_rows(t);
        if (sort_rows(t) && nsc_index_build(&t->index))
            return t;
    }
    nsc_texts_free(t);
    return NULL;
}

struct nsc_texts *nsc_texts_of(ncclscope_grammar *g)
{
    struct nsc_texts *t = atomic_load_explicit(&g->texts, memory_order_acquire);
    if (t)
        return t;
    pthread_mutex_lock(&g->lock);
    t = atomic_load_explicit(&g->texts, memory_order_relaxed);
    if (!t) {
        t = read_table();
        atomic_store_explicit(&g->texts, t, memory_order_release);
    }
    pthread_mutex_unlock(&g->lock);
    return t;
}

static const struct nsc_known_text *of_row(const struct nsc_texts *t, const struct nsc_row *row)
{
    return row ? &t->known[row - t->index.row] : NULL;
}

const struct nsc_known_text *nsc_texts_match(ncclscope_grammar *g, struct nsc_first_words *w, nsc_text message,
                                             nsc_chars chars, struct nsc_match *m, bool *strict)
{
    struct nsc_texts *t = nsc_texts_of(g);
    const struct nsc_row *row = t ? nsc_index_match(&t->index, &g->lock, w, message, chars, m) : NULL;
    *strict = row && nsc_pattern_is_strict(&row->pattern);
    return of_row(t, row);
}

size_t nsc_texts_all(ncclscope_grammar *g, nsc_text message, struct nsc_match *m, const struct nsc_known_text **out,
                     size_t most)
{
    const struct nsc_row *row[64];
    struct nsc_texts *t = nsc_texts_of(g);
    size_t n = t ? nsc_index_all(&t->index, &g->lock, message, m, row, most < 64 ? most : 64) : 0;
    for (size_t i = 0; i < n; i++)
        out[i] = of_row(t, row[i]);
    return n;
}

const struct nsc_known_text *nsc_texts_next(ncclscope_grammar *g, const struct nsc_known_text *after, nsc_text message,
                                            struct nsc_match *m)
{
    struct nsc_texts *t = nsc_texts_of(g);
    if (!t)
        return NULL;
    const struct nsc_row *row = after ? &t->index.row[after - t->known] : NULL;
    return of_row(t, nsc_index_next(&t->index, &g->lock, row, message, m));
}

bool nsc_texts_is_cut(ncclscope_grammar *g, nsc_text message)
{
    enum { SHORTEST = 20 };
    const struct nsc_texts *t = message.len < SHORTEST ? NULL : nsc_texts_of(g);
    size_t low = 0, high = t ? ROWS : 0;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        bool before = strncmp(t->sorted[mid], message.ptr, message.len) < 0;
        low = before ? mid + 1 : low;
        high = before ? high : mid;
    }
    for (; t && low < ROWS && !strncmp(t->sorted[low], message.ptr, message.len); low++)
        if (strcspn(t->sorted[low], "{") > message.len)
            return true;
    return false;
}

bool nsc_texts_know_between(ncclscope_grammar *g, unsigned from, unsigned below)
{
    const struct nsc_texts *t = nsc_texts_of(g);
    for (size_t i = 0; t && i < ROWS; i++) {
        unsigned first = nsc_version_number(nsc_text_of(t->known[i].first)),
                 last = nsc_version_number(nsc_text_of(t->known[i].last));
        if ((first >= from && first < below) || (last >= from && last < below))
            return true;
    }
    return false;
}

void nsc_texts_free(struct nsc_texts *t)
{
    if (!t)
        return;
    nsc_index_free(&t->index);
    nsc_free(t->known);
    nsc_free(t->sorted);
    nsc_free(t);
}
