/* table.c - RecordTable: the records of one kind as columns, which become lists of Python when they are asked for. */
#include "columns.h"
#include "core.h"

#include <stdlib.h>
#include <string.h>

struct table {
    PyObject_HEAD struct columns *c;
    PyObject *kind, *names; /* "CONNECT"; of its columns, a tuple */
};
static PyTypeObject *table_type;

static PyObject *names_of(const struct columns *c)
{
    PyObject *names = PyTuple_New(c->n);
    for (int i = 0; names && i < c->n; i++) {
        PyObject *name = PyUnicode_InternFromString(c->column[i].name);
        if (!name || PyTuple_SetItem(names, i, name))
            Py_CLEAR(names);
    }
    return names;
}

PyObject *py_table(struct columns *c, const char *kind)
{
    struct table *t = (struct table *)py_make(table_type);
    if (!t) {
        columns_let_go(c);
        return NULL;
    }
    t->c = c;
    t->kind = PyUnicode_FromString(kind);
    t->names = names_of(c);
    if (t->kind && t->names)
        return (PyObject *)t;
    Py_DECREF((PyObject *)t);
    return NULL;
}

static void table_free(PyObject *self)
{
    struct table *t = (struct table *)self;
    columns_let_go(t->c);
    Py_CLEAR(t->kind);
    Py_CLEAR(t->names);
    py_release(self);
}

/* ---- a column as a list ---- */

/* Every text of a column once, as a list. */
static PyObject *words_of(const struct texts *t)
{
    PyObject *words = PyList_New((Py_ssize_t)t->n);
    for (size_t i = 0; words && i < t->n; i++) {
        PyObject *word = py_text(column_text(t, i));
        if (!word || PyList_SetItem(words, (Py_ssize_t)i, word))
            Py_CLEAR(words);
    }
    return words;
}

static PyObject *cell(const struct column *c, size_t row, PyObject *words)
{
    if (!column_says(c, row))
        Py_RETURN_NONE;
    if (c->type == 'f')
        return PyFloat_FromDouble(((const double *)c->values)[row]);
    if (c->type == 'u')
        return PyLong_FromUnsignedLongLong(((const uint64_t *)c->values)[row]);
    if (c->type == 'i')
        return PyLong_FromLongLong(((const int64_t *)c->values)[row]);
    PyObject *word = PyList_GetItem(words, ((const int32_t *)c->values)[row]);
    Py_XINCREF(word);
    return word;
}

static PyObject *list_of(const struct column *c, size_t rows)
{
    PyObject *words = c->type == 't' ? words_of(&c->texts) : NULL;
    PyObject *list = words || c->type != 't' ? PyList_New((Py_ssize_t)rows) : NULL;
    for (size_t i = 0; list && i < rows; i++) {
        PyObject *v = cell(c, i, words);
        if (!v || PyList_SetItem(list, (Py_ssize_t)i, v))
            Py_CLEAR(list);
    }
    Py_XDECREF(words);
    return list;
}

/* ---- a mapping of columns ---- */

static PyObject *table_subscript(PyObject *self, PyObject *key)
{
    struct table *t = (struct table *)self;
    Py_ssize_t n = PyTuple_Size(t->names);
    for (Py_ssize_t i = 0; i < n; i++) {
        int same = PyObject_RichCompareBool(PyTuple_GetItem(t->names, i), key, Py_EQ);
        if (same)
            return same > 0 ? list_of(&t->c->column[i], t->c->rows) : NULL;
    }
    PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}

static Py_ssize_t table_len(PyObject *self)
{
    return (Py_ssize_t)((struct table *)self)->c->rows;
}

static int table_contains(PyObject *self, PyObject *key)
{
    return PySequence_Contains(((struct table *)self)->names, key);
}

static PyObject *table_iter(PyObject *self)
{
    return PyObject_GetIter(((struct table *)self)->names);
}

static PyObject *table_keys(PyObject *self, PyObject *unused)
{
    PyObject *names = ((struct table *)self)->names;
    (void)unused;
    Py_INCREF(names);
    return names;
}

static PyObject *table_columns(PyObject *self, PyObject *unused)
{
    struct table *t = (struct table *)self;
    Py_ssize_t n = PyTuple_Size(t->names);
    PyObject *all = PyDict_New();
    (void)unused;
    for (Py_ssize_t i = 0; all && i < n; i++) {
        PyObject *list = list_of(&t->c->column[i], t->c->rows);
        if (!list || PyDict_SetItem(all, PyTuple_GetItem(t->names, i), list))
            Py_CLEAR(all);
        Py_XDECREF(list);
    }
    return all;
}

static PyObject *table_arrow(PyObject *self, PyObject *args, PyObject *names)
{
    static char *keys[] = {"requested_schema", NULL}; /* a wish, which the protocol lets us pass over */
    PyObject *requested = NULL;
    return PyArg_ParseTupleAndKeywords(args, names, "|O", keys, &requested)
               ? py_arrow_columns(((struct table *)self)->c)
               : NULL;
}

static PyObject *table_repr(PyObject *self)
{
    struct table *t = (struct table *)self;
    return PyUnicode_FromFormat("<RecordTable of %zu %U: %R>", t->c->rows, t->kind, t->names);
}

static PyObject *table_kind(PyObject *self, void *unused)
{
    PyObject *kind = ((struct table *)self)->kind;
    (void)unused;
    Py_INCREF(kind);
    return kind;
}

static PyGetSetDef table_getters[] = {
    {"kind", table_kind, NULL, "what its records say: \"CONNECT\"", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef table_methods[] = {
    {"keys", table_keys, METH_NOARGS, "keys(): the names of its columns, a tuple."},
    {"columns", table_columns, METH_NOARGS,
     "columns(): all of it as {name: [value, ...]}, None where a record does not say."},
    {"__arrow_c_stream__", (PyCFunction)(void (*)(void))table_arrow, METH_VARARGS | METH_KEYWORDS,
     "The columns for pyarrow.table(), polars.from_arrow(), duckdb and others, as they lie: int64, double, and "
     "dictionaries of texts."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot table_slots[] = {
    {Py_tp_doc,
     "The records of one kind: columns by name, table[\"src\"], each a list as long as len(table); None where a "
     "record does not say. Lists are made when they are asked for."},
    {Py_tp_getset, table_getters},
    {Py_tp_methods, table_methods},
    {Py_mp_subscript, (void *)table_subscript},
    {Py_mp_length, (void *)table_len},
    {Py_sq_contains, (void *)table_contains},
    {Py_tp_iter, (void *)table_iter},
    {Py_tp_repr, (void *)table_repr},
    {Py_tp_dealloc, (void *)table_free},
    {0, NULL},
};
static PyType_Spec table_spec = {"ncclscope._core.RecordTable", sizeof(struct table), 0, Py_TPFLAGS_DEFAULT,
                                 table_slots};

int py_add_table(PyObject *module)
{
    return py_add_type(module, &table_spec, &table_type);
}
