/* grammar.c - messages.def to rows, and a message to its row. */
#include "read/grammar.h"

#include "base/alloc.h"

static const struct {
    ncclscope_kind kind;
    const char *template_, *example;
} table[] = {
#define MSG(number, NAME, template_, example) {NCCLSCOPE_KIND_##NAME, template_, example},
#define ALSO(NAME, template_, example) {NCCLSCOPE_KIND_##NAME, template_, example},
#include "ncclscope/messages.def"
#undef MSG
#undef ALSO
};

static const char *const prefix_table[] = {
#define PREFIX(NAME, template_, example) template_,
#include "prefixes.def"
#undef PREFIX
};

static const struct {
    ncclscope_field field;
    const char *name;
} fields[] = {
#define FIELD(number, NAME, name, type, unit, words) {NCCLSCOPE_FIELD_##NAME, name},
#include "ncclscope/fields.def"
#undef FIELD
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
enum { KEY = 8 };

ncclscope_field nsc_field_by_name(nsc_text name)
{
    for (size_t i = 0; i < COUNT(fields); i++)
        if (nsc_text_is(name, fields[i].name))
            return fields[i].field;
    return NCCLSCOPE_FIELD_NONE;
}

const char *ncclscope_field_name(ncclscope_field field)
{
    for (size_t i = 0; i < COUNT(fields); i++)
        if (fields[i].field == field)
            return fields[i].name;
    return NULL;
}

const char *ncclscope_kind_name(ncclscope_kind kind)
{
    switch (kind) {
#define MSG(number, NAME, template_, example) \
    case NCCLSCOPE_KIND_##NAME: \
        return #NAME;
#define ALSO(NAME, template_, example)
#include "ncclscope/messages.def"
#undef MSG
#undef ALSO
    case NCCLSCOPE_KIND_UNKNOWN: return "UNKNOWN";
    case NCCLSCOPE_KIND_TEST_ROW: return "TEST_ROW";
    case NCCLSCOPE_KIND_TEST_NAME: return "TEST_NAME";
    case NCCLSCOPE_KIND_MATRIX_HEAD: return "MATRIX_HEAD";
    case NCCLSCOPE_KIND_MATRIX_ROW: return "MATRIX_ROW";
    }
    return NULL;
}

static uint64_t key_of(const char *p)
{
    uint64_t k;
    memcpy(&k, p, KEY);
    return k;
}

static void set_second_word(struct nsc_row *r)
{
    nsc_text head = r->pattern.head;
    size_t n = head.len <= KEY ? 0 : head.len < 2 * KEY ? head.len - KEY : KEY;
    if (n)
        memcpy(&r->want, head.ptr + KEY, n);
    memset(&r->mask, 0xff, n);
}

static struct nsc_bucket *place_of(const ncclscope_grammar *g, uint64_t key)
{
    size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> 40) & (g->buckets - 1);
    while (g->bucket[i].row && g->bucket[i].key != key)
        i = (i + 1) & (g->buckets - 1);
    return &g->bucket[i];
}

/* Can a message that begins with the eight bytes of `key` (or, key NULL, with the byte `first`) match this row? */
static bool row_fits(const struct nsc_row *r, const uint64_t *key, unsigned char first)
{
    nsc_text head = r->pattern.head;
    if (!key)
        return head.len < KEY && (!head.len || (unsigned char)head.ptr[0] == first);
    return memcmp(key, head.ptr, head.len < KEY ? head.len : KEY) == 0;
}

static uint16_t *fill(ncclscope_grammar *g, struct nsc_bucket *b, const uint64_t *key, unsigned char first,
                      uint16_t *free_)
{
    b->row = free_;
    b->rows = 0;
    for (size_t i = 0; i < g->rows; i++)
        if (row_fits(&g->row[i], key, first))
            b->row[b->rows++] = (uint16_t)i;
    return free_ + b->rows;
}

/* How much room all lists take: one entry for each row and list. */
static size_t count_entries(const ncclscope_grammar *g, size_t keys)
{
    size_t short_heads = 0;
    for (size_t i = 0; i < g->rows; i++)
        short_heads += g->row[i].pattern.head.len < KEY;
    return g->rows + short_heads * (keys + 256) + 1;
}

static bool build_index(ncclscope_grammar *g)
{
    g->buckets = 2048;
    g->bucket = nsc_alloc(g->buckets * sizeof *g->bucket);
    g->lists = nsc_alloc(count_entries(g, g->rows) * sizeof *g->lists);
    if (!g->bucket || !g->lists)
        return false;
    uint16_t *free_ = g->lists;
    for (size_t i = 0; i < g->rows; i++) {
        if (g->row[i].pattern.head.len < KEY)
            continue;
        uint64_t key = key_of(g->row[i].pattern.head.ptr);
        struct nsc_bucket *b = place_of(g, key);
        if (b->row)
            continue;
        b->key = key;
        free_ = fill(g, b, &key, 0, free_);
    }
    for (unsigned c = 0; c < 256; c++)
        free_ = fill(g, &g->by_byte[c], NULL, (unsigned char)c, free_);
    return true;
}

int ncclscope_grammar_new(ncclscope_grammar **out, ncclscope_error *err)
{
    ncclscope_grammar *g = nsc_alloc(sizeof *g);
    *out = NULL;
    if (!g)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    pthread_mutex_init(&g->lock, NULL);
    g->rows = COUNT(table);
    g->prefixes = COUNT(prefix_table);
    g->row = nsc_alloc(g->rows * sizeof *g->row);
    g->prefix = nsc_alloc(g->prefixes * sizeof *g->prefix);
    for (size_t i = 0; g->row && i < g->rows; i++) {
        g->row[i].kind = table[i].kind;
        g->row[i].example = table[i].example;
        nsc_pattern_init(&g->row[i].pattern, table[i].template_, false);
        set_second_word(&g->row[i]);
    }
    for (size_t i = 0; g->prefix && i < g->prefixes; i++)
        nsc_pattern_init(&g->prefix[i], prefix_table[i], true);
    if (!g->row || !g->prefix || !build_index(g)) {
        ncclscope_grammar_free(g);
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    *out = g;
    return NCCLSCOPE_OK;
}

void ncclscope_grammar_free(ncclscope_grammar *g)
{
    if (!g)
        return;
    for (size_t i = 0; g->row && i < g->rows; i++)
        nsc_pattern_free(&g->row[i].pattern);
    for (size_t i = 0; g->prefix && i < g->prefixes; i++)
        nsc_pattern_free(&g->prefix[i]);
    pthread_mutex_destroy(&g->lock);
    nsc_free(g->row);
    nsc_free(g->prefix);
    nsc_free(g->bucket);
    nsc_free(g->lists);
    nsc_free(g);
}

/* The rows that could match, from which the first that does is taken. */
static struct nsc_bucket candidates(const ncclscope_grammar *g, nsc_text message)
{
    const struct nsc_bucket *b = message.len >= KEY ? place_of(g, key_of(message.ptr)) : NULL;
    return b && b->row ? *b : g->by_byte[(unsigned char)message.ptr[0]];
}

/* The first word, the blank behind it and one byte more; len 0 if it is too long, nothing follows it, or it holds a number, as addresses do. */
static nsc_text first_word(nsc_text message)
{
    size_t n = 0, digits = 0, most = message.len < NSC_WORD_BYTES ? message.len : NSC_WORD_BYTES;
    while (n < most && message.ptr[n] != ' ' && digits < 3)
        digits += nsc_is_digit(message.ptr[n++]);
    return (nsc_text){message.ptr, n + 1 < most && digits < 3 ? n + 2 : 0};
}

/* Narrows the candidates to those that the first word allows. */
static struct nsc_bucket narrowed(ncclscope_grammar *g, struct nsc_first_words *w, nsc_text message,
                                  struct nsc_bucket b, struct nsc_match *m)
{
    nsc_text word = first_word(message);
    if (!word.len)
        return b;
    struct nsc_first_word *x = &w->word[nsc_hash(word.ptr, word.len) % NSC_WORDS];
    if (x->len == word.len && !memcmp(x->text, word.ptr, word.len)) {
        w->known++;
        return (struct nsc_bucket){.row = x->row, .rows = x->rows};
    }
    if (w->learned > 2 * NSC_WORDS + w->known / 1000)
        return b;
    w->learned++;
    x->len = x->rows = 0;
    for (size_t i = 0; i < g->rows; i++) {
        if (!nsc_pattern_could_begin(&g->row[i].pattern, &g->lock, word, m))
            continue;
        if (x->rows == NSC_WORD_ROWS)
            return b;
        x->row[x->rows++] = (uint16_t)i;
    }
    x->len = word.len;
    memcpy(x->text, word.ptr, word.len);
    return (struct nsc_bucket){.row = x->row, .rows = x->rows};
}

const struct nsc_row *nsc_grammar_match(ncclscope_grammar *g, struct nsc_first_words *w, nsc_text message,
                                        struct nsc_match *m)
{
    if (!message.len)
        return NULL;
    struct nsc_bucket b = candidates(g, message);
    if (w && b.rows > 4)
        b = narrowed(g, w, message, b, m);
    bool has_second = message.len >= 2 * KEY;
    uint64_t second = has_second ? key_of(message.ptr + KEY) : 0;
    for (size_t i = 0; i < b.rows; i++) {
        struct nsc_row *r = &g->row[b.row[i]];
        if (has_second && (second ^ r->want) & r->mask)
            continue;
        if (nsc_pattern_match(&r->pattern, &g->lock, message, m))
            return r;
    }
    return NULL;
}

bool nsc_grammar_is_cut(ncclscope_grammar *g, nsc_text message, struct nsc_match *m)
{
    for (size_t i = 0; i < g->rows; i++)
        if (nsc_pattern_is_cut(&g->row[i].pattern, &g->lock, message, m))
            return true;
    return false;
}
