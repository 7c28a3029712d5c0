/* columns.c - records to columns, a row at a time. */
#include "columns.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(int64_t) == sizeof(double) && sizeof(int64_t) == sizeof(uint64_t), "numbers are of one width");

enum { FIRST_ROOM = 1024, FIRST_TEXTS = 64, HEADS = 5 };

/* ---- texts ---- */

static uint64_t hash_of(ncclscope_text t)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ t.len, word;
    for (size_t i = 0; i < t.len; i += sizeof word) {
        word = 0;
        memcpy(&word, t.ptr + i, t.len - i < sizeof word ? t.len - i : sizeof word);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static bool is_text(const struct texts *t, size_t i, ncclscope_text text)
{
    ncclscope_text other = column_text(t, i);
    return other.len == text.len && !memcmp(other.ptr, text.ptr, text.len);
}

/* The slot of a text, or the free one where it belongs. */
static uint32_t *slot_of(struct texts *t, ncclscope_text text)
{
    size_t at = hash_of(text) & (t->slot_count - 1);
    while (t->slots[at] && !is_text(t, t->slots[at] - 1, text))
        at = (at + 1) & (t->slot_count - 1);
    return &t->slots[at];
}

static bool more_texts(struct texts *t)
{
    size_t most = t->most ? t->most * 2 : FIRST_TEXTS;
    int32_t *ends = most < INT32_MAX ? realloc(t->ends, (most + 1) * sizeof *ends) : NULL;
    t->ends = ends ? ends : t->ends;
    uint32_t *slots = ends ? calloc(most * 2, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(t->slots);
    t->slots = slots;
    t->slot_count = most * 2;
    t->most = most;
    t->ends[0] = 0;
    for (size_t i = 0; i < t->n; i++)
        *slot_of(t, column_text(t, i)) = (uint32_t)i + 1;
    return true;
}

static bool more_bytes(struct texts *t, size_t len)
{
    size_t cap = (t->len + len) * 2 + FIRST_TEXTS;
    char *bytes = t->len + len <= INT32_MAX ? realloc(t->bytes, cap) : NULL;
    t->bytes = bytes ? bytes : t->bytes;
    t->cap = bytes ? cap : t->cap;
    return bytes != NULL;
}

/* The number of a text, which is added if it is new; -1: no memory. */
static int32_t number_of(struct texts *t, ncclscope_text text)
{
    if ((t->n >= t->most && !more_texts(t)) || (t->len + text.len >= t->cap && !more_bytes(t, text.len)))
        return -1;
    uint32_t *slot = slot_of(t, text);
    if (!*slot) {
        memcpy(t->bytes + t->len, text.ptr, text.len);
        t->len += text.len;
        t->ends[++t->n] = (int32_t)t->len;
        *slot = (uint32_t)t->n;
    }
    return (int32_t)*slot - 1;
}

/* ---- columns ---- */

static size_t wide(const struct column *c)
{
    return c->type == 't' ? sizeof(int32_t) : sizeof(int64_t);
}

/* Room for rows up to `room`, a multiple of 8, of zeros behind `rows`. */
static bool resize(struct column *c, size_t rows, size_t room)
{
    uint8_t *said = realloc(c->said, room / 8);
    c->said = said ? said : c->said;
    char *values = said ? realloc(c->values, room * wide(c)) : NULL;
    if (!values)
        return false;
    c->values = values;
    size_t full = (rows + 7) / 8;
    memset(said + full, 0, room / 8 - full);
    memset(values + rows * wide(c), 0, (room - rows) * wide(c));
    return true;
}

static bool is_taken(const struct columns *c, const char *name)
{
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->column[i].name, name))
            return true;
    return false;
}

static struct column *add_column(struct columns *c, const char *name, char type, ncclscope_field field)
{
    if (c->n == c->most) {
        struct column *all = realloc(c->column, (size_t)(c->most * 2 + HEADS) * sizeof *all);
        if (!all)
            return NULL;
        c->column = all;
        c->most = c->most * 2 + HEADS;
    }
    struct column *made = &c->column[c->n];
    *made = (struct column){.name = malloc(strlen(name) + 2), .type = type, .field = field};
    if (!made->name)
        return NULL;
    strcat(strcpy(made->name, name), is_taken(c, name) ? "_" : "");
    c->n++;
    return resize(made, 0, c->room) ? made : NULL;
}

struct columns *columns_new(void)
{
    static const struct {
        const char *name;
        char type;
    } heads[HEADS] = {{"line", 'i'}, {"host", 't'}, {"pid", 'i'}, {"tid", 'i'}, {"device", 'i'}};
    struct columns *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->holders = 1;
    c->room = FIRST_ROOM;
    for (int i = 0; i < HEADS; i++)
        if (!add_column(c, heads[i].name, heads[i].type, 0)) {
            columns_let_go(c);
            return NULL;
        }
    return c;
}

void columns_hold(struct columns *c)
{
    atomic_fetch_add(&c->holders, 1);
}

void columns_let_go(struct columns *c)
{
    if (!c || atomic_fetch_sub(&c->holders, 1) > 1)
        return;
    for (int i = 0; i < c->n; i++) {
        struct column *x = &c->column[i];
        free(x->name);
        free(x->said);
        free(x->values);
        free(x->texts.bytes);
        free(x->texts.ends);
        free(x->texts.slots);
    }
    free(c->column);
    free(c);
}

/* ---- a row ---- */

static void put(struct column *c, size_t row, const void *value)
{
    c->said[row / 8] |= (uint8_t)(1u << (row % 8));
    memcpy((char *)c->values + row * wide(c), value, wide(c));
}

static void put_unless_negative(struct column *c, size_t row, int64_t v)
{
    if (v >= 0)
        put(c, row, &v);
}

static bool put_text(struct column *c, size_t row, ncclscope_text text)
{
    const int32_t *values = c->values, last = row ? values[row - 1] : 0;
    if (!text.ptr)
        return true;
    bool same = (size_t)last < c->texts.n && is_text(&c->texts, (size_t)last, text); /* as most are */
    int32_t n = same ? last : number_of(&c->texts, text);
    if (n >= 0)
        put(c, row, &n);
    return n >= 0;
}

static bool put_heads(struct columns *c, size_t row, const ncclscope_record *rec)
{
    put_unless_negative(&c->column[0], row, (int64_t)ncclscope_record_line(rec));
    put_unless_negative(&c->column[2], row, ncclscope_record_pid(rec));
    put_unless_negative(&c->column[3], row, ncclscope_record_tid(rec));
    put_unless_negative(&c->column[4], row, ncclscope_record_dev(rec));
    return put_text(&c->column[1], row, ncclscope_record_host(rec));
}

/* The column of a field: most records have the fields of the one before, in their order. */
static struct column *column_of(struct columns *c, const ncclscope_record *rec, ncclscope_field f, int likely)
{
    char type = 't';
    if (likely < c->n && c->column[likely].field == f)
        return &c->column[likely];
    for (int i = HEADS; i < c->n; i++)
        if (c->column[i].field == f)
            return &c->column[i];
    const char *name = ncclscope_record_field_name(rec, f, &type);
    return name ? add_column(c, name, strchr("uif", type) ? type : 't', f) : NULL;
}

/* As most numbers are, and sooner told than by asking the record for its field. */
static bool is_whole(ncclscope_text t, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < t.len; i++) {
        unsigned digit = (unsigned)(t.ptr[i] - '0');
        if (digit > 9)
            return false;
        v = v * 10 + digit;
    }
    *out = v;
    return t.len > 0 && t.len < 19; /* no overflow */
}

static bool put_field(struct column *c, size_t row, const ncclscope_record *rec, ncclscope_text text)
{
    uint64_t u;
    int64_t i;
    double d;
    switch (c->type) {
    case 'u':
        if (is_whole(text, &u) || ncclscope_record_u64(rec, c->field, &u) == NCCLSCOPE_OK) {
            put(c, row, &u);
            c->beyond = c->beyond || u > INT64_MAX;
        }
        return true;
    case 'i':
        if (ncclscope_record_i64(rec, c->field, &i) == NCCLSCOPE_OK)
            put(c, row, &i);
        return true;
    case 'f':
        if (ncclscope_record_f64(rec, c->field, &d) == NCCLSCOPE_OK)
            put(c, row, &d);
        return true;
    default: return put_text(c, row, text);
    }
}

static bool make_room(struct columns *c)
{
    size_t room = (c->room + c->room / 2) & ~(size_t)7;
    for (int i = 0; i < c->n; i++)
        if (!resize(&c->column[i], c->rows, room))
            return false;
    c->room = room;
    return true;
}

bool columns_add(struct columns *c, const ncclscope_record *rec)
{
    ncclscope_field f;
    ncclscope_text text;
    bool fine = (c->rows < c->room || make_room(c)) && put_heads(c, c->rows, rec);
    for (int i = 0; fine && ncclscope_record_field(rec, (size_t)i, &f, &text) == NCCLSCOPE_OK; i++) {
        struct column *x = column_of(c, rec, f, HEADS + i);
        fine = x && put_field(x, c->rows, rec, text);
    }
    c->rows += fine;
    return fine;
}

void columns_done(struct columns *c)
{
    c->room = (c->rows + 8) & ~(size_t)7;
    for (int i = 0; i < c->n; i++) {
        resize(&c->column[i], c->rows, c->room); /* where it fails, it stays larger */
        free(c->column[i].texts.slots);
        c->column[i].texts.slots = NULL;
    }
}

size_t column_nulls(const struct column *c, size_t rows)
{
    size_t said = 0;
    for (size_t i = 0; i < (rows + 7) / 8; i++)
        said += (size_t)__builtin_popcount(c->said[i]);
    return rows - said;
}
