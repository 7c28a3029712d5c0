/* arrow.c - tables by the Arrow C stream interface (arrow.apache.org/docs/format/CStreamInterface.html), without a dependency: what pyarrow, polars,
 * duckdb and pandas take as it is. A column I64 is int64, F64 double, BOOL bool, TEXT utf8, ENUM a dictionary of its words; what the log does
 * not say is null. */
#include "core.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- the interface, as its specification has it ---- */

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
enum { NULLABLE = 2, NO_MEMORY = 12, BATCH = 65536, COLUMNS = 64, WORDS = 256, BUFFERS = 3 };

/* ---- schemas ---- */

static void free_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++) {
        if (s->children[i]->release)
            s->children[i]->release(s->children[i]);
        free(s->children[i]);
    }
    free(s->children);
    if (s->dictionary) {
        s->dictionary->release(s->dictionary);
        free(s->dictionary);
    }
    s->release = NULL;
}

static void empty_schema(struct ArrowSchema *s, const char *format, const char *name)
{
    *s = (struct ArrowSchema){.format = format, .name = name, .flags = NULLABLE, .release = free_schema};
}

static bool column_schema(struct ArrowSchema *s, const ncclscope_column_info *c)
{
    static const char *const formats[] = {[NCCLSCOPE_TYPE_I64] = "l",
                                          [NCCLSCOPE_TYPE_F64] = "g",
                                          [NCCLSCOPE_TYPE_TEXT] = "u",
                                          [NCCLSCOPE_TYPE_ENUM] = "i",
                                          [NCCLSCOPE_TYPE_BOOL] = "b"};
    empty_schema(s, formats[c->type], c->name);
    if (c->type != NCCLSCOPE_TYPE_ENUM)
        return true;
    s->dictionary = malloc(sizeof *s->dictionary);
    if (s->dictionary)
        empty_schema(s->dictionary, "u", "");
    return s->dictionary != NULL;
}

/* ---- arrays: all that one owns hangs on it, and is given back by its release ---- */

static void free_array(struct ArrowArray *a)
{
    for (int64_t i = 0; i < a->n_buffers; i++)
        free((void *)(uintptr_t)a->buffers[i]);
    free(a->buffers);
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i]->release)
            a->children[i]->release(a->children[i]);
        free(a->children[i]);
    }
    free(a->children);
    if (a->dictionary) {
        a->dictionary->release(a->dictionary);
        free(a->dictionary);
    }
    a->release = NULL;
}

/* Buffer 0 is the bitmap of what is said. */
static bool empty_array(struct ArrowArray *a, int64_t length, int64_t buffers)
{
    *a = (struct ArrowArray){.length = length, .release = free_array};
    a->buffers = calloc(BUFFERS, sizeof *a->buffers);
    a->n_buffers = a->buffers ? buffers : 0;
    return a->buffers != NULL;
}

static bool add_buffer(struct ArrowArray *a, int at, size_t size)
{
    a->buffers[at] = calloc(size + 8, 1);
    return a->buffers[at] != NULL;
}

static void set_bit(struct ArrowArray *a, int at, size_t i)
{
    uint8_t *bits = (uint8_t *)(uintptr_t)a->buffers[at];
    bits[i / 8] |= (uint8_t)(1u << (i % 8));
}

/* How many bytes of one letter of UTF-8 stand here; 0: they are none. */
static size_t letter(const unsigned char *s, size_t len)
{
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;
    if (!n || n > len)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool beyond = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
                  (s[0] == 0xf4 && s[1] > 0x8f);
    return beyond ? 0 : n;
}

/* Bytes that are no UTF-8 become U+FFFD: returns how many there are then; `to` NULL: only counted. */
static size_t put_text(char *to, ncclscope_text t)
{
    size_t n = 0;
    for (size_t i = 0; i < t.len;) {
        size_t l = letter((const unsigned char *)t.ptr + i, t.len - i);
        if (to)
            memcpy(to + n, l ? t.ptr + i : "\xef\xbf\xbd", l ? l : 3);
        n += l ? l : 3;
        i += l ? l : 1;
    }
    return n;
}

static bool texts_array(struct ArrowArray *a, const char *rows, size_t n, size_t stride, size_t offset)
{
    size_t size = 0;
    ncclscope_text t;
    for (size_t i = 0; i < n; i++) {
        memcpy(&t, rows + i * stride + offset, sizeof t);
        size += put_text(NULL, t);
    }
    if (size > INT32_MAX || !empty_array(a, (int64_t)n, 3) || !add_buffer(a, 0, n / 8 + 1) ||
        !add_buffer(a, 1, (n + 1) * sizeof(int32_t)) || !add_buffer(a, 2, size))
        return false;
    int32_t *ends = (int32_t *)(uintptr_t)a->buffers[1], at = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(&t, rows + i * stride + offset, sizeof t);
        at += (int32_t)put_text((char *)(uintptr_t)a->buffers[2] + at, t);
        ends[i + 1] = at;
        if (t.ptr)
            set_bit(a, 0, i);
        else
            a->null_count++;
    }
    return true;
}

static bool words_array(struct ArrowArray *a, const char *set)
{
    ncclscope_text words[WORDS];
    size_t n = 0;
    for (size_t i = 0; i < WORDS; i++) {
        const char *word = ncclscope_word_of(set, (int64_t)i);
        words[i] = (ncclscope_text){word ? word : "", word ? strlen(word) : 0};
        n = word ? i + 1 : n;
    }
    return texts_array(a, (const char *)words, n, sizeof words[0], 0);
}

static bool numbers_array(struct ArrowArray *a, const ncclscope_column_info *c, const char *rows, size_t n,
                          size_t stride)
{
    size_t wide = c->type == NCCLSCOPE_TYPE_ENUM ? sizeof(int32_t) : sizeof(int64_t);
    if (!empty_array(a, (int64_t)n, 2) || !add_buffer(a, 0, n / 8 + 1) || !add_buffer(a, 1, n * wide))
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *at = rows + i * stride + c->offset;
        int64_t v;
        double d;
        memcpy(&v, at, sizeof v);
        memcpy(&d, at, sizeof d);
        bool said = c->type == NCCLSCOPE_TYPE_F64    ? !isnan(d)
                    : c->type == NCCLSCOPE_TYPE_BOOL ? v >= 0
                                                     : v != NCCLSCOPE_UNSAID;
        said = said && (c->type != NCCLSCOPE_TYPE_ENUM || ncclscope_word_of(c->unit, v));
        a->null_count += !said;
        if (!said)
            continue;
        set_bit(a, 0, i);
        if (c->type == NCCLSCOPE_TYPE_BOOL && v)
            set_bit(a, 1, i);
        else if (c->type == NCCLSCOPE_TYPE_ENUM)
            ((int32_t *)(uintptr_t)a->buffers[1])[i] = (int32_t)v;
        else if (c->type != NCCLSCOPE_TYPE_BOOL)
            memcpy((char *)(uintptr_t)a->buffers[1] + i * sizeof v, at, sizeof v);
    }
    if (c->type != NCCLSCOPE_TYPE_ENUM)
        return true;
    a->dictionary = calloc(1, sizeof *a->dictionary);
    bool fine = a->dictionary && words_array(a->dictionary, c->unit);
    if (!fine && a->dictionary && !a->dictionary->release) {
        free(a->dictionary);
        a->dictionary = NULL;
    }
    return fine;
}

/* ---- the stream ---- */

struct stream {
    PyObject *owner; /* of the rows: lives as long as the stream */
    const ncclscope_model *m;
    const ncclscope_findings *f;
    int table, columns;
    size_t row_size, next;
    ncclscope_column_info column[COLUMNS];
};

static int get_schema(struct ArrowArrayStream *from, struct ArrowSchema *out)
{
    struct stream *s = from->private_data;
    empty_schema(out, "+s", "");
    out->flags = 0;
    out->children = calloc((size_t)s->columns, sizeof *out->children);
    for (int i = 0; out->children && i < s->columns; i++) {
        struct ArrowSchema *child = calloc(1, sizeof *child);
        if (!child)
            break;
        out->children[out->n_children++] = child;
        if (!column_schema(child, &s->column[i]))
            break;
        if (i == s->columns - 1)
            return 0;
    }
    out->release(out);
    return NO_MEMORY;
}

static bool fill(struct stream *s, struct ArrowArray *out, const char *rows, size_t n)
{
    if (!empty_array(out, (int64_t)n, 1))
        return false;
    out->children = calloc((size_t)s->columns, sizeof *out->children);
    for (int i = 0; out->children && i < s->columns; i++) {
        const ncclscope_column_info *c = &s->column[i];
        struct ArrowArray *child = calloc(1, sizeof *child);
        if (!child)
            return false;
        out->children[out->n_children++] = child;
        if (c->type == NCCLSCOPE_TYPE_TEXT ? !texts_array(child, rows, n, s->row_size, c->offset)
                                           : !numbers_array(child, c, rows, n, s->row_size))
            return false;
    }
    return out->children != NULL;
}

static int get_next(struct ArrowArrayStream *from, struct ArrowArray *out)
{
    struct stream *s = from->private_data;
    char *rows = malloc(BATCH * s->row_size);
    *out = (struct ArrowArray){0};
    if (!rows)
        return NO_MEMORY;
    size_t n = s->m ? ncclscope_model_rows(s->m, s->table, s->next, BATCH, rows, s->row_size)
                    : ncclscope_findings_rows(s->f, s->table, s->next, BATCH, rows, s->row_size);
    s->next += n;
    bool fine = n == 0 || fill(s, out, rows, n);
    free(rows);
    if (!fine && out->release)
        out->release(out);
    return fine ? 0 : NO_MEMORY;
}

static const char *get_last_error(struct ArrowArrayStream *from)
{
    (void)from;
    return "out of memory";
}

static void free_stream(struct ArrowArrayStream *from)
{
    struct stream *s = from->private_data;
    PyGILState_STATE held = PyGILState_Ensure();
    Py_DECREF(s->owner);
    PyGILState_Release(held);
    free(s);
    from->release = NULL;
}

static void free_capsule(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release) /* nobody took it */
        stream->release(stream);
    free(stream);
}

PyObject *py_arrow_stream(PyObject *owner, const ncclscope_model *m, const ncclscope_findings *f, int table)
{
    ncclscope_table_info t = {.size = sizeof t};
    if (ncclscope_table_get(table, &t) != NCCLSCOPE_OK || t.columns > COLUMNS)
        return PyErr_Format(PyExc_ValueError, "there is no table %d", table);
    struct stream *s = calloc(1, sizeof *s);
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    if (!s || !stream) {
        free(s);
        free(stream);
        return PyErr_NoMemory();
    }
    *s = (struct stream){.owner = owner, .m = m, .f = f, .table = table, .columns = t.columns, .row_size = t.row_size};
    Py_INCREF(owner);
    for (int i = 0; i < t.columns; i++) {
        s->column[i].size = sizeof s->column[i];
        ncclscope_column_get(table, i, &s->column[i]);
    }
    *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, free_stream, s};
    PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", free_capsule);
    if (!capsule) {
        free_stream(stream);
        free(stream);
    }
    return capsule;
}
