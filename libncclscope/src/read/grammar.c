/* grammar.c - messages.def to rows, and a message to its row. */
#include "read/grammar.h"

#include "base/alloc.h"
#include "read/texts.h"

static const struct {
    ncclscope_kind kind;
    const char *template_, *example;
} table[] = {
#define NCCLSCOPE_MSG(number, NAME, template_, example) {NCCLSCOPE_KIND_##NAME, template_, example},
#define NCCLSCOPE_ALSO(NAME, template_, example) {NCCLSCOPE_KIND_##NAME, template_, example},
#include "ncclscope/messages.def"
#undef NCCLSCOPE_MSG
#undef NCCLSCOPE_ALSO
};

static const struct {
    ncclscope_kind kind;
    const char *template_, *example;
} other_table[] = {
#define NCCLSCOPE_OTHER(number, NAME, template_, example) {NCCLSCOPE_KIND_##NAME, template_, example},
#include "ncclscope/other.def"
#undef NCCLSCOPE_OTHER
};

static const char *const prefix_table[] = {
#define PREFIX(NAME, template_, example) template_,
#include "prefixes.def"
#undef PREFIX
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int ncclscope_grammar_new(ncclscope_grammar **out, ncclscope_error *err)
{
    if (!out)
        return nsc_null(err);
    ncclscope_grammar *g = nsc_alloc(sizeof *g);
    *out = NULL;
    if (!g)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    pthread_mutex_init(&g->lock, NULL);
    g->prefixes = COUNT(prefix_table);
    g->prefix = nsc_alloc(g->prefixes * sizeof *g->prefix);
    nsc_hints_prepare(&g->hints);
    bool room = nsc_index_new(&g->messages, COUNT(table)) && nsc_index_new(&g->others, COUNT(other_table)) && g->prefix;
    for (size_t i = 0; room && i < COUNT(other_table); i++)
        nsc_index_set(&g->others, i, other_table[i].kind, other_table[i].template_, other_table[i].example);
    for (size_t i = 0; room && i < COUNT(table); i++)
        nsc_index_set(&g->messages, i, table[i].kind, table[i].template_, table[i].example);
    for (size_t i = 0; room && i < g->prefixes; i++)
        nsc_pattern_init(&g->prefix[i], prefix_table[i], true);
    if (!room || !nsc_index_build(&g->messages) || !nsc_index_build(&g->others)) {
        ncclscope_grammar_free(g);
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    *out = g;
    return NCCLSCOPE_OK;
}

struct nsc_words *nsc_grammar_take_words(ncclscope_grammar *g)
{
    pthread_mutex_lock(&g->lock);
    struct nsc_words *w = g->words;
    g->words = w ? w->next : NULL;
    pthread_mutex_unlock(&g->lock);
    if (!w)
        return nsc_alloc(sizeof *w);
    w->messages.known = w->messages.learned = w->texts.known = w->texts.learned =
        0; /* each input may have words of its own */
    return w;
}

void nsc_grammar_keep_words(ncclscope_grammar *g, struct nsc_words *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&g->lock);
    w->next = g->words;
    g->words = w;
    pthread_mutex_unlock(&g->lock);
}

void ncclscope_grammar_free(ncclscope_grammar *g)
{
    if (!g)
        return;
    for (size_t i = 0; g->prefix && i < g->prefixes; i++)
        nsc_pattern_free(&g->prefix[i]);
    for (struct nsc_words *w = g->words, *next; w; w = next) {
        next = w->next;
        nsc_free(w);
    }
    nsc_texts_free(atomic_load(&g->texts));
    nsc_index_free(&g->messages);
    nsc_index_free(&g->others);
    nsc_user_free(&g->user);
    pthread_mutex_destroy(&g->lock);
    nsc_free(g->prefix);
    nsc_free(g);
}

static bool prepare(ncclscope_grammar *g, struct nsc_index *x)
{
    bool fine = true;
    for (size_t i = 0; i < x->rows && fine; i++)
        fine = nsc_pattern_prepare(&x->row[i].pattern, &g->lock);
    return fine;
}

int ncclscope_grammar_prepare(ncclscope_grammar *g, ncclscope_error *err)
{
    if (!g)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "there is no grammar");
    struct nsc_texts *texts = nsc_texts_of(g);
    bool fine = texts && prepare(g, &g->messages) && prepare(g, &g->others) && prepare(g, &g->user.index) &&
                prepare(g, &texts->index);
    for (size_t i = 0; i < g->prefixes && fine; i++)
        fine = nsc_pattern_prepare(&g->prefix[i], &g->lock);
    return fine ? NCCLSCOPE_OK : nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
}

/* Rows that take what is left of a part of NCCL and say nothing: whoever adds a row knows better. */
static bool is_chatter(ncclscope_kind kind)
{
    return kind == NCCLSCOPE_KIND_IB_CHATTER || kind == NCCLSCOPE_KIND_IB_RESILIENCY ||
           kind == NCCLSCOPE_KIND_NVLS_CHATTER || kind == NCCLSCOPE_KIND_SOCKET_CHATTER;
}

const struct nsc_row *nsc_grammar_match(ncclscope_grammar *g, struct nsc_first_words *w, nsc_text message,
                                        nsc_chars chars, struct nsc_match *m)
{
    const struct nsc_row *row = nsc_index_match(&g->messages, &g->lock, w, message, chars, m);
    if (!g->user.rows.len || (row && !is_chatter(row->kind)))
        return row;
    const struct nsc_row *own = nsc_index_match(&g->user.index, &g->lock, NULL, message, chars, m);
    return own || !row ? own : nsc_index_match(&g->messages, &g->lock, w, message, chars, m);
}

static bool could_be_more(ncclscope_grammar *g, const struct nsc_row *but, nsc_text message, struct nsc_match *m)
{
    for (size_t i = 0; i < g->messages.rows; i++)
        if (&g->messages.row[i] != but && nsc_pattern_is_cut(&g->messages.row[i].pattern, &g->lock, message, m))
            return true;
    return false;
}

bool nsc_grammar_is_cut(ncclscope_grammar *g, nsc_text message, struct nsc_match *m)
{
    return could_be_more(g, NULL, message, m);
}

bool nsc_grammar_goes_on(ncclscope_grammar *g, const struct nsc_row *row, nsc_text message, struct nsc_match *m)
{
    const char *t = row->pattern.template_;
    bool ends_with_field = t[0] && t[strlen(t) - 1] == '}';
    return ends_with_field || could_be_more(g, row, message, m);
}
