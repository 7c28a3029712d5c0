/* index.c - templates by their first bytes, so that few are tried for a message. */
#include "read/index.h"

#include "base/alloc.h"

enum { KEY = 8 };

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

static struct nsc_bucket *place_of(const struct nsc_index *x, uint64_t key)
{
    size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> 40) & (x->buckets - 1);
    while (x->bucket[i].used && x->bucket[i].key != key)
        i = (i + 1) & (x->buckets - 1);
    return &x->bucket[i];
}

/* Can a message that begins with the eight bytes of this bucket match a row with this head, shorter than that? */
static bool short_head_fits(nsc_text head, const struct nsc_bucket *b)
{
    return memcmp(&b->key, head.ptr, head.len) == 0;
}

/* Each list gets one row more: counted while b->row is NULL, entered afterwards. */
static void enter(struct nsc_bucket *b, size_t row)
{
    if (b->row)
        b->row[b->rows] = (uint16_t)row;
    b->rows++;
}

static void enter_short(struct nsc_index *x, size_t row, struct nsc_bucket **used, size_t n)
{
    nsc_text head = x->row[row].pattern.head;
    for (size_t i = 0; i < n; i++)
        if (short_head_fits(head, used[i]))
            enter(used[i], row);
    for (unsigned c = 0; c < 256; c++)
        if (!head.len || (unsigned char)head.ptr[0] == c)
            enter(&x->by_byte[c], row);
}

static void enter_all(struct nsc_index *x, struct nsc_bucket **used, size_t n)
{
    for (size_t i = 0; i < x->rows; i++) {
        nsc_text head = x->row[i].pattern.head;
        if (head.len < KEY)
            enter_short(x, i, used, n);
        else
            enter(place_of(x, key_of(head.ptr)), i);
    }
}

static uint16_t *give_room(struct nsc_bucket *b, uint16_t *free_)
{
    b->row = free_;
    free_ += b->rows;
    b->rows = 0;
    return free_;
}

bool nsc_index_new(struct nsc_index *x, size_t rows)
{
    *x = (struct nsc_index){.rows = rows, .buckets = 256};
    while (x->buckets < 2 * rows)
        x->buckets *= 2;
    x->row = nsc_alloc((rows + 1) * sizeof *x->row);
    x->bucket = nsc_alloc(x->buckets * sizeof *x->bucket);
    return x->row && x->bucket;
}

void nsc_index_set(struct nsc_index *x, size_t i, ncclscope_kind kind, const char *template_, const char *example)
{
    x->row[i].kind = kind;
    x->row[i].example = example;
    nsc_pattern_init(&x->row[i].pattern, template_, false);
    set_second_word(&x->row[i]);
    char plain[400];
    x->row[i].chars = nsc_chars_of((nsc_text){plain, nsc_template_plain(template_, plain, sizeof plain)});
}

/* A bucket for each beginning; they are listed in `used`, and counted. */
static size_t take_places(struct nsc_index *x, struct nsc_bucket **used)
{
    size_t n = 0;
    for (size_t i = 0; i < x->rows; i++) {
        nsc_text head = x->row[i].pattern.head;
        struct nsc_bucket *b = head.len < KEY ? NULL : place_of(x, key_of(head.ptr));
        if (!b || b->used)
            continue;
        b->used = true;
        b->key = key_of(head.ptr);
        used[n++] = b;
    }
    return n;
}

bool nsc_index_build(struct nsc_index *x)
{
    struct nsc_bucket **used = nsc_alloc((x->rows + 1) * sizeof *used);
    if (!used)
        return false;
    size_t n = take_places(x, used), all = 1;
    enter_all(x, used, n);
    for (size_t i = 0; i < n; i++)
        all += used[i]->rows;
    for (unsigned c = 0; c < 256; c++)
        all += x->by_byte[c].rows;
    uint16_t *free_ = x->lists = nsc_alloc(all * sizeof *x->lists);
    for (size_t i = 0; free_ && i < n; i++)
        free_ = give_room(used[i], free_);
    for (unsigned c = 0; free_ && c < 256; c++)
        free_ = give_room(&x->by_byte[c], free_);
    if (free_)
        enter_all(x, used, n);
    nsc_free(used);
    return free_;
}

void nsc_index_free(struct nsc_index *x)
{
    for (size_t i = 0; x->row && i < x->rows; i++)
        nsc_pattern_free(&x->row[i].pattern);
    nsc_free(x->row);
    nsc_free(x->bucket);
    nsc_free(x->lists);
    *x = (struct nsc_index){0};
}

/* The rows that could match, from which the first that does is taken. */
static struct nsc_bucket candidates(const struct nsc_index *x, nsc_text message)
{
    const struct nsc_bucket *b = message.len >= KEY ? place_of(x, key_of(message.ptr)) : NULL;
    return b && b->used ? *b : x->by_byte[(unsigned char)message.ptr[0]];
}

/* The first word, the blank behind it and one byte more; of a word with a number in it, as addresses are, what stands before its
 * first digit. len 0 if it is too long, nothing follows it, or that is hardly anything. */
static nsc_text first_word(nsc_text message)
{
    size_t n = 0, digits = 0, first_digit = 0, most = message.len < NSC_WORD_BYTES ? message.len : NSC_WORD_BYTES;
    for (; n < most && message.ptr[n] != ' ' && digits < 3; n++) {
        if (nsc_is_digit(message.ptr[n]) && !digits++)
            first_digit = n;
        if (message.ptr[n] == 'x' && digits == 1 && first_digit == n - 1)
            digits = 3; /* "opId=0xdf4b" */
    }
    if (digits >= 3)
        return (nsc_text){message.ptr, first_digit >= 4 ? first_digit : 0};
    return (nsc_text){message.ptr, n + 1 < most ? n + 2 : 0};
}

/* `b` has the candidates of one message with this word: all of them if the word is as long as what a bucket is chosen by. */
static void learn(struct nsc_index *x, pthread_mutex_t *lock, struct nsc_first_word *f, nsc_text word,
                  struct nsc_bucket b, struct nsc_match *m)
{
    bool all = word.len < KEY;
    unsigned before = nsc_failed_allocations();
    f->len = word.len;
    memcpy(f->text, word.ptr, word.len);
    f->rows = 0;
    for (size_t k = 0, n = all ? x->rows : b.rows; k < n && f->rows < NSC_TOO_MANY; k++) {
        size_t i = all ? k : b.row[k];
        nsc_text head = x->row[i].pattern.head;
        if ((head.len && head.ptr[0] != word.ptr[0]) || !nsc_pattern_could_begin(&x->row[i].pattern, lock, word, m))
            continue;
        if (f->rows < NSC_WORD_ROWS)
            f->row[f->rows] = (uint16_t)i;
        f->rows++;
    }
    if (nsc_failed_allocations() != before)
        f->len = 0; /* not learned */
}

static bool is_word(const struct nsc_first_word *f, nsc_text word)
{
    return f->len == word.len && memcmp(f->text, word.ptr, word.len) == 0;
}

/* One of the words that came last, which most messages begin with: those that end with a blank and a byte, and are told by that. */
static struct nsc_first_word **again(struct nsc_first_words *w, nsc_text message)
{
    _Static_assert(NSC_WORDS_AGAIN == 1 << 7, "a place for each 7 bits");
    return &w->again[key_of(message.ptr) * 0x9e3779b97f4a7c15u >> 57];
}

static bool begins_with(nsc_text message, const struct nsc_first_word *f)
{
    return f && f->len > 1 && f->text[f->len - 2] == ' ' && message.len >= f->len &&
           nsc_same(message.ptr, f->text, f->len);
}

/* What is known of a word, learned now if it is new. It has one of two places: the words of a log are few, and two that share a
 * place come in turns. NULL: most words are new. */
static struct nsc_first_word *look_up(struct nsc_index *x, pthread_mutex_t *lock, struct nsc_first_words *w,
                                      nsc_text word, struct nsc_bucket b, struct nsc_match *m)
{
    struct nsc_first_word *pair = &w->word[nsc_hash(word.ptr, word.len) % NSC_WORDS & ~(uint64_t)1];
    for (int i = 0; i < 2; i++)
        if (is_word(&pair[i], word)) {
            w->known++;
            return &pair[i];
        }
    if (w->learned > 2 * NSC_WORDS + w->known / 1000)
        return NULL;
    struct nsc_first_word *f = &pair[pair[0].len ? w->learned & 1 : 0];
    w->learned++;
    learn(x, lock, f, word, b, m);
    return f;
}

/* Narrows the candidates to those that the first word allows. */
static struct nsc_bucket narrowed(struct nsc_index *x, pthread_mutex_t *lock, struct nsc_first_words *w,
                                  nsc_text message, struct nsc_bucket b, struct nsc_match *m)
{
    nsc_text word = first_word(message);
    struct nsc_first_word *f = word.len ? look_up(x, lock, w, word, b, m) : NULL;
    if (!f || f->rows == NSC_TOO_MANY)
        return b;
    if (message.len >= KEY)
        *again(w, message) = f;
    return (struct nsc_bucket){.row = f->row, .rows = f->rows};
}

/* The rows that could match, by the beginning and by the first word. */
static struct nsc_bucket few_candidates(struct nsc_index *x, pthread_mutex_t *lock, struct nsc_first_words *w,
                                        nsc_text message, struct nsc_match *m)
{
    struct nsc_first_word *f = w && message.len >= KEY ? *again(w, message) : NULL;
    if (begins_with(message, f) && f->rows != NSC_TOO_MANY)
        return (struct nsc_bucket){.row = f->row, .rows = f->rows};
    struct nsc_bucket b = candidates(x, message);
    return w && b.rows > 4 ? narrowed(x, lock, w, message, b, m) : b;
}

/* What of a message tells at once that most rows do not match it. */
struct sieve {
    bool has_second;
    uint64_t second; /* its second eight bytes */
    nsc_chars chars;
};

static struct sieve sieve_of(nsc_text message, nsc_chars chars)
{
    bool has_second = message.len >= 2 * KEY;
    return (struct sieve){has_second, has_second ? key_of(message.ptr + KEY) : 0, chars};
}

static bool falls_through(const struct nsc_row *r, const struct sieve *s)
{
    return (s->has_second && (s->second ^ r->want) & r->mask) || r->chars & ~s->chars;
}

const struct nsc_row *nsc_index_match(struct nsc_index *x, pthread_mutex_t *lock, struct nsc_first_words *w,
                                      nsc_text message, nsc_chars chars, struct nsc_match *m)
{
    if (!message.len || !x->rows)
        return NULL;
    struct nsc_bucket b = few_candidates(x, lock, w, message, m);
    if (!chars)
        chars = b.rows > 1 ? nsc_chars_of(message) : UINT64_MAX;
    struct sieve s = sieve_of(message, chars);
    for (size_t i = 0; i < b.rows; i++) {
        struct nsc_row *r = &x->row[b.row[i]];
        if (!falls_through(r, &s) && nsc_pattern_match(&r->pattern, lock, message, m))
            return r;
    }
    return NULL;
}

size_t nsc_index_all(struct nsc_index *x, pthread_mutex_t *lock, nsc_text message, struct nsc_match *m,
                     const struct nsc_row **out, size_t most)
{
    size_t n = 0;
    struct nsc_bucket b = message.len ? candidates(x, message) : (struct nsc_bucket){.rows = 0};
    struct sieve s = sieve_of(message, nsc_chars_of(message));
    for (size_t i = 0; i < b.rows && n < most; i++) {
        struct nsc_row *r = &x->row[b.row[i]];
        if (!falls_through(r, &s) && nsc_pattern_match(&r->pattern, lock, message, m))
            out[n++] = r;
    }
    return n;
}

const struct nsc_row *nsc_index_next(struct nsc_index *x, pthread_mutex_t *lock, const struct nsc_row *after,
                                     nsc_text message, struct nsc_match *m)
{
    for (size_t i = after ? (size_t)(after - x->row) + 1 : 0; i < x->rows; i++)
        if (nsc_pattern_match(&x->row[i].pattern, lock, message, m))
            return &x->row[i];
    return NULL;
}
