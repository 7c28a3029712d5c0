/* arrow_columns.c - the records of a kind by Arrow: one batch, whose arrays are the columns as they lie. Numbers are int64 (uint64 where one
 * is not below 2^63) or double, texts dictionaries; nothing is copied but a dictionary that holds bytes that are no UTF-8. */
#include "arrow.h"
#include "columns.h"

#include <stdlib.h>
#include <string.h>

struct lent_columns {
    struct py_lent lent;
    struct columns *c;
    bool given;
};

static bool schema(struct py_lent *lent, int i, struct ArrowSchema *out)
{
    const struct column *c = &((struct lent_columns *)lent)->c->column[i];
    char *name = strdup(c->name); /* the schema may outlive the columns */
    if (!name)
        return false;
    bool fine = c->type != 't' || py_arrow_words_schema(out, name);
    if (c->type != 't')
        py_arrow_schema(out, c->type == 'f' ? "g" : c->beyond ? "L" : "l", name);
    py_arrow_own_name(out, name);
    return fine;
}

/* Buffers of the columns: they go when the last who has them does. */
static void let_go(struct ArrowArray *a)
{
    columns_let_go(a->private_data);
    a->n_buffers = 0; /* none is its own */
    py_arrow_free(a);
}

static bool borrow(struct ArrowArray *a, struct columns *c, size_t length, const void *said, const void *values)
{
    if (!py_arrow_array(a, (int64_t)length, 2))
        return false;
    a->buffers[0] = said;
    a->buffers[1] = values;
    a->private_data = c;
    a->release = let_go;
    columns_hold(c);
    return true;
}

static bool is_utf8(const struct texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (!py_arrow_is_utf8(column_text(t, i)))
            return false;
    return true;
}

/* The same texts with U+FFFD where there is no UTF-8. */
static bool mended(struct ArrowArray *a, const struct texts *t)
{
    ncclscope_text *all = calloc(t->n, sizeof *all);
    for (size_t i = 0; all && i < t->n; i++)
        all[i] = column_text(t, i);
    bool fine = all && py_arrow_texts(a, (const char *)all, t->n, sizeof *all);
    free(all);
    return fine;
}

static bool dictionary(struct ArrowArray *a, struct columns *c, const struct texts *t)
{
    if (!t->n)
        return py_arrow_texts(a, "", 0, 0);
    if (!is_utf8(t))
        return mended(a, t);
    if (!borrow(a, c, t->n, NULL, t->ends))
        return false;
    a->buffers[2] = t->bytes;
    a->n_buffers = 3;
    return true;
}

static bool array(struct py_lent *lent, int i, size_t n, struct ArrowArray *out)
{
    struct columns *c = ((struct lent_columns *)lent)->c;
    const struct column *x = &c->column[i];
    if (!borrow(out, c, n, x->said, x->values))
        return false;
    out->null_count = (int64_t)column_nulls(x, n);
    out->dictionary = x->type == 't' ? calloc(1, sizeof *out->dictionary) : NULL;
    return x->type != 't' || (out->dictionary && dictionary(out->dictionary, c, &x->texts));
}

static ptrdiff_t next(struct py_lent *lent)
{
    struct lent_columns *s = (struct lent_columns *)lent;
    bool first = !s->given;
    s->given = true;
    return first ? (ptrdiff_t)s->c->rows : 0;
}

static void drop(struct py_lent *lent)
{
    columns_let_go(((struct lent_columns *)lent)->c);
    free(lent);
}

PyObject *py_arrow_columns(struct columns *c)
{
    struct lent_columns *s = malloc(sizeof *s);
    if (!s)
        return PyErr_NoMemory();
    *s = (struct lent_columns){.lent = {c->n, schema, next, array, drop}, .c = c};
    columns_hold(c);
    return py_arrow_capsule(&s->lent);
}
