/* arrow_rows.c - tables of a model, or of findings, by Arrow: a column I64 is int64, F64 double, BOOL bool, TEXT utf8, ENUM a dictionary of its
 * words; what the log does not say is null. */
#include "arrow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 65536, COLUMNS = 64, WORDS = 256 };

struct lent_rows {
    struct py_lent lent;
    PyObject *owner; /* of the rows: lives as long as the stream */
    const ncclscope_model *m;
    const ncclscope_findings *f;
    int table;
    size_t row_size, next;
    char *rows; /* the batch in hand */
    ncclscope_column_info column[COLUMNS];
};

static bool schema(struct py_lent *lent, int i, struct ArrowSchema *out)
{
    static const char *const formats[] = {[NCCLSCOPE_TYPE_I64] = "l",
                                          [NCCLSCOPE_TYPE_F64] = "g",
                                          [NCCLSCOPE_TYPE_TEXT] = "u",
                                          [NCCLSCOPE_TYPE_BOOL] = "b"};
    const ncclscope_column_info *c = &((struct lent_rows *)lent)->column[i];
    if (c->type == NCCLSCOPE_TYPE_ENUM)
        return py_arrow_words_schema(out, c->name);
    py_arrow_schema(out, formats[c->type], c->name);
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
    return py_arrow_texts(a, (const char *)words, n, sizeof words[0]);
}

static bool is_said(const ncclscope_column_info *c, int64_t v, double d)
{
    switch (c->type) {
    case NCCLSCOPE_TYPE_F64: return !isnan(d);
    case NCCLSCOPE_TYPE_BOOL: return v >= 0;
    case NCCLSCOPE_TYPE_ENUM: return v != NCCLSCOPE_UNSAID && ncclscope_word_of(c->unit, v);
    default: return v != NCCLSCOPE_UNSAID;
    }
}

static bool numbers_array(struct ArrowArray *a, const ncclscope_column_info *c, const char *rows, size_t n,
                          size_t stride)
{
    size_t wide = c->type == NCCLSCOPE_TYPE_ENUM ? sizeof(int32_t) : sizeof(int64_t);
    if (!py_arrow_array(a, (int64_t)n, 2) || !py_arrow_buffer(a, 0, n / 8 + 1) || !py_arrow_buffer(a, 1, n * wide))
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *at = rows + i * stride + c->offset;
        int64_t v;
        double d;
        memcpy(&v, at, sizeof v);
        memcpy(&d, at, sizeof d);
        if (!is_said(c, v, d)) {
            a->null_count++;
            continue;
        }
        py_arrow_set_bit(a, 0, i);
        if (c->type == NCCLSCOPE_TYPE_BOOL && v)
            py_arrow_set_bit(a, 1, i);
        else if (c->type == NCCLSCOPE_TYPE_ENUM)
            ((int32_t *)(uintptr_t)a->buffers[1])[i] = (int32_t)v;
        else if (c->type != NCCLSCOPE_TYPE_BOOL)
            memcpy((char *)(uintptr_t)a->buffers[1] + i * sizeof v, at, sizeof v);
    }
    if (c->type != NCCLSCOPE_TYPE_ENUM)
        return true;
    a->dictionary = calloc(1, sizeof *a->dictionary);
    return a->dictionary && words_array(a->dictionary, c->unit);
}

static bool array(struct py_lent *lent, int i, size_t n, struct ArrowArray *out)
{
    struct lent_rows *s = (struct lent_rows *)lent;
    const ncclscope_column_info *c = &s->column[i];
    return c->type == NCCLSCOPE_TYPE_TEXT ? py_arrow_texts(out, s->rows + c->offset, n, s->row_size)
                                          : numbers_array(out, c, s->rows, n, s->row_size);
}

static ptrdiff_t next(struct py_lent *lent)
{
    struct lent_rows *s = (struct lent_rows *)lent;
    if (!s->rows && !(s->rows = malloc(BATCH * s->row_size)))
        return -1;
    size_t n = s->m ? ncclscope_model_rows(s->m, s->table, s->next, BATCH, s->rows, s->row_size)
                    : ncclscope_findings_rows(s->f, s->table, s->next, BATCH, s->rows, s->row_size);
    s->next += n;
    return (ptrdiff_t)n;
}

static void drop(struct py_lent *lent)
{
    struct lent_rows *s = (struct lent_rows *)lent;
    PyGILState_STATE held = PyGILState_Ensure();
    Py_DECREF(s->owner);
    PyGILState_Release(held);
    free(s->rows);
    free(s);
}

PyObject *py_arrow_stream(PyObject *owner, const ncclscope_model *m, const ncclscope_findings *f, int table)
{
    ncclscope_table_info t = {.size = sizeof t};
    if (ncclscope_table_get(table, &t) != NCCLSCOPE_OK || t.columns > COLUMNS)
        return PyErr_Format(PyExc_ValueError, "there is no table %d", table);
    struct lent_rows *s = calloc(1, sizeof *s);
    if (!s)
        return PyErr_NoMemory();
    *s = (struct lent_rows){.lent = {t.columns, schema, next, array, drop},
                            .owner = owner,
                            .m = m,
                            .f = f,
                            .table = table,
                            .row_size = t.row_size};
    Py_INCREF(owner);
    for (int i = 0; i < t.columns; i++) {
        s->column[i].size = sizeof s->column[i];
        ncclscope_column_get(table, i, &s->column[i]);
    }
    return py_arrow_capsule(&s->lent);
}
