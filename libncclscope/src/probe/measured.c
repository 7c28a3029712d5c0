/* measured.c - methods.def and expected.def, and figures found by pair. */
#include "probe/measured.h"

const struct nsc_way_to_measure nsc_ways_to_measure[] = {
#define METHOD(name, words, function, peer, both, loads) {name, words},
#include "methods.def"
#undef METHOD
    {NULL, NULL}};

static const struct nsc_expected_rate expected[] = {
#define EXPECTED(words, path, method, least, most, source) {words, path, method, least, most, source},
#include "expected.def"
#undef EXPECTED
};

const char *nsc_method_words(const char *name)
{
    const struct nsc_way_to_measure *m = nsc_ways_to_measure;
    while (m->name && strcmp(m->name, name) != 0)
        m++;
    return m->words;
}

const struct nsc_fact_measured *nsc_measured_at(const struct ncclscope_facts *f, int64_t from, int64_t to,
                                                const char *method)
{
    for (size_t i = 0; i < f->measured.len; i++) {
        const struct nsc_fact_measured *x = &f->measured.item[i];
        if (x->from.v == from && x->to.v == to && !strcmp(x->method, method))
            return x;
    }
    return NULL;
}

const char *nsc_pair_path(const struct ncclscope_facts *f, int64_t from, int64_t to)
{
    const struct nsc_fact_pair *p = nsc_pair_at(f, from, to);
    return p ? p->path : NULL;
}

static bool is_of(const struct nsc_fact_gpu *g, const char *words)
{
    return g && g->name && strstr(g->name, words);
}

const struct nsc_expected_rate *nsc_expected_rate_of(const struct ncclscope_facts *f, const struct nsc_fact_measured *x)
{
    const char *path = nsc_pair_path(f, x->from.v, x->to.v);
    const struct nsc_fact_gpu *a = nsc_gpu_at(f, x->from.v), *b = nsc_gpu_at(f, x->to.v);
    for (size_t i = 0; path && i < sizeof expected / sizeof expected[0]; i++) {
        const struct nsc_expected_rate *e = &expected[i];
        if (!strcmp(e->method, x->method) && !strcmp(e->path, path) && is_of(a, e->words) && is_of(b, e->words))
            return e;
    }
    return NULL;
}
