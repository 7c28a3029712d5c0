/* arrow.c - tables by the Arrow C stream interface (arrow.apache.org/docs/format/CStreamInterface.html), without a dependency: what pyarrow, polars,
 * duckdb and pandas take as it is. Schemas, arrays that own their buffers, and the stream; arrow_rows.c and arrow_columns.c lend by it. */
#include "arrow.h"

#include <stdlib.h>
#include <string.h>

enum { NULLABLE = 2, NO_MEMORY = 12 };

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
    free(s->private_data);
    s->release = NULL;
}

void py_arrow_own_name(struct ArrowSchema *s, char *name)
{
    s->private_data = name;
}

void py_arrow_schema(struct ArrowSchema *s, const char *format, const char *name)
{
    *s = (struct ArrowSchema){.format = format, .name = name, .flags = NULLABLE, .release = free_schema};
}

bool py_arrow_words_schema(struct ArrowSchema *s, const char *name)
{
    py_arrow_schema(s, "i", name);
    s->dictionary = malloc(sizeof *s->dictionary);
    if (s->dictionary)
        py_arrow_schema(s->dictionary, "u", "");
    return s->dictionary != NULL;
}

/* ---- arrays ---- */

void py_arrow_free(struct ArrowArray *a)
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
        if (a->dictionary->release)
            a->dictionary->release(a->dictionary);
        free(a->dictionary);
    }
    a->release = NULL;
}

bool py_arrow_array(struct ArrowArray *a, int64_t length, int64_t buffers)
{
    *a = (struct ArrowArray){.length = length, .release = py_arrow_free};
    a->buffers = calloc(ARROW_BUFFERS, sizeof *a->buffers);
    a->n_buffers = a->buffers ? buffers : 0;
    return a->buffers != NULL;
}

bool py_arrow_buffer(struct ArrowArray *a, int at, size_t size)
{
    a->buffers[at] = calloc(size + 8, 1);
    return a->buffers[at] != NULL;
}

void py_arrow_set_bit(struct ArrowArray *a, int at, size_t i)
{
    uint8_t *bits = (uint8_t *)(uintptr_t)a->buffers[at];
    bits[i / 8] |= (uint8_t)(1u << (i % 8));
}

/* ---- texts ---- */

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

bool py_arrow_is_utf8(ncclscope_text t)
{
    size_t i = 0, l = 1;
    for (; l && i < t.len; i += l)
        l = letter((const unsigned char *)t.ptr + i, t.len - i);
    return l > 0;
}

bool py_arrow_texts(struct ArrowArray *a, const char *texts, size_t n, size_t stride)
{
    size_t size = 0;
    ncclscope_text t;
    for (size_t i = 0; i < n; i++) {
        memcpy(&t, texts + i * stride, sizeof t);
        size += put_text(NULL, t);
    }
    if (size > INT32_MAX || !py_arrow_array(a, (int64_t)n, 3) || !py_arrow_buffer(a, 0, n / 8 + 1) ||
        !py_arrow_buffer(a, 1, (n + 1) * sizeof(int32_t)) || !py_arrow_buffer(a, 2, size))
        return false;
    int32_t *ends = (int32_t *)(uintptr_t)a->buffers[1], at = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(&t, texts + i * stride, sizeof t);
        at += (int32_t)put_text((char *)(uintptr_t)a->buffers[2] + at, t);
        ends[i + 1] = at;
        if (t.ptr)
            py_arrow_set_bit(a, 0, i);
        else
            a->null_count++;
    }
    return true;
}

/* ---- the stream ---- */

static int get_schema(struct ArrowArrayStream *from, struct ArrowSchema *out)
{
    struct py_lent *s = from->private_data;
    py_arrow_schema(out, "+s", "");
    out->flags = 0;
    out->children = calloc((size_t)s->columns + 1, sizeof *out->children);
    bool fine = out->children != NULL;
    for (int i = 0; fine && i < s->columns; i++) {
        struct ArrowSchema *child = calloc(1, sizeof *child);
        fine = child != NULL;
        if (fine)
            out->children[out->n_children++] = child;
        fine = fine && s->schema(s, i, child);
    }
    if (!fine)
        out->release(out);
    return fine ? 0 : NO_MEMORY;
}

static bool fill(struct py_lent *s, struct ArrowArray *out, size_t n)
{
    if (!py_arrow_array(out, (int64_t)n, 1))
        return false;
    out->children = calloc((size_t)s->columns + 1, sizeof *out->children);
    for (int i = 0; out->children && i < s->columns; i++) {
        struct ArrowArray *child = calloc(1, sizeof *child);
        if (!child)
            return false;
        out->children[out->n_children++] = child;
        if (!s->array(s, i, n, child))
            return false;
    }
    return out->children != NULL;
}

static int get_next(struct ArrowArrayStream *from, struct ArrowArray *out)
{
    struct py_lent *s = from->private_data;
    *out = (struct ArrowArray){0};
    ptrdiff_t n = s->next(s);
    bool fine = n == 0 || (n > 0 && fill(s, out, (size_t)n));
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
    struct py_lent *s = from->private_data;
    s->drop(s);
    from->release = NULL;
}

static void free_capsule(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release) /* nobody took it */
        stream->release(stream);
    free(stream);
}

PyObject *py_arrow_capsule(struct py_lent *s)
{
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    if (!stream) {
        s->drop(s);
        return PyErr_NoMemory();
    }
    *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, free_stream, s};
    PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", free_capsule);
    if (!capsule) {
        free_stream(stream);
        free(stream);
    }
    return capsule;
}
