/* rows.c - rows of a table as tuples of Python's values, and which tables there are. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static PyObject *words(const ncclscope_column_info *c, int64_t v)
{
    const char *word = ncclscope_word_of(c->unit, v);
    return word ? PyUnicode_InternFromString(word) : PyLong_FromLongLong(v);
}

static PyObject *cell(const ncclscope_column_info *c, const char *at)
{
    int64_t i = 0;
    double d = 0;
    ncclscope_text t = {NULL, 0};
    if (c->type == NCCLSCOPE_TYPE_TEXT) {
        memcpy(&t, at, sizeof t);
        return py_text(t);
    }
    if (c->type == NCCLSCOPE_TYPE_F64) {
        memcpy(&d, at, sizeof d);
        if (isnan(d))
            Py_RETURN_NONE;
        return PyFloat_FromDouble(d);
    }
    memcpy(&i, at, sizeof i);
    if (i == NCCLSCOPE_UNSAID || (c->type == NCCLSCOPE_TYPE_BOOL && i < 0))
        Py_RETURN_NONE;
    return c->type == NCCLSCOPE_TYPE_ENUM   ? words(c, i)
           : c->type == NCCLSCOPE_TYPE_BOOL ? PyBool_FromLong(i != 0)
                                            : PyLong_FromLongLong(i);
}

static PyObject *row(const ncclscope_column_info *columns, int n, const char *at)
{
    PyObject *made = PyTuple_New(n);
    for (int i = 0; made && i < n; i++) {
        PyObject *v = cell(&columns[i], at + columns[i].offset);
        if (!v)
            Py_CLEAR(made);
        else
            PyTuple_SetItem(made, i, v);
    }
    return made;
}

/* rows(table, first, n): a list of tuples; rows(table): how many there are. */
PyObject *py_rows(const ncclscope_model *m, const ncclscope_findings *f, PyObject *args)
{
    enum { MOST = 64 };
    ncclscope_table_info t = {.size = sizeof t};
    ncclscope_column_info columns[MOST];
    int table;
    Py_ssize_t first = -1, n = 0;
    if (!PyArg_ParseTuple(args, "i|nn", &table, &first, &n))
        return NULL;
    if (ncclscope_table_get(table, &t) != NCCLSCOPE_OK || t.columns > MOST || n < 0)
        return PyErr_Format(PyExc_ValueError, "there is no table %d", table);
    if (first < 0)
        return PyLong_FromSize_t(m ? ncclscope_model_rows(m, table, 0, 0, NULL, 0)
                                   : ncclscope_findings_rows(f, table, 0, 0, NULL, 0));
    for (int i = 0; i < t.columns; i++) {
        columns[i] = (ncclscope_column_info){.size = sizeof columns[i]};
        ncclscope_column_get(table, i, &columns[i]);
    }
    char *bytes = malloc((size_t)n * t.row_size + 1);
    if (!bytes)
        return PyErr_NoMemory();
    size_t got = m ? ncclscope_model_rows(m, table, (size_t)first, (size_t)n, bytes, t.row_size)
                   : ncclscope_findings_rows(f, table, (size_t)first, (size_t)n, bytes, t.row_size);
    PyObject *list = PyList_New((Py_ssize_t)got);
    for (size_t i = 0; list && i < got; i++) {
        PyObject *r = row(columns, t.columns, bytes + i * t.row_size);
        if (!r)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, r);
    }
    free(bytes);
    return list;
}

/* tables(): [(name, rows, owner, words, [(column, type, unit, words), ...]), ...] in the order of their numbers. */
PyObject *py_tables(PyObject *self, PyObject *unused)
{
    PyObject *all = PyList_New(0);
    ncclscope_table_info t = {.size = sizeof t};
    (void)self;
    (void)unused;
    for (int i = 0; all && ncclscope_table_get(i, &t) == NCCLSCOPE_OK; i++) {
        PyObject *columns = PyList_New(0);
        for (int k = 0; columns && k < t.columns; k++) {
            ncclscope_column_info c = {.size = sizeof c};
            ncclscope_column_get(i, k, &c);
            PyObject *one = Py_BuildValue("(siss)", c.name, (int)c.type, c.unit, c.words);
            if (!one || PyList_Append(columns, one))
                Py_CLEAR(columns);
            Py_XDECREF(one);
        }
        PyObject *table = columns ? Py_BuildValue("(ssssN)", t.name, t.rows, t.owner, t.words, columns) : NULL;
        if (!table || PyList_Append(all, table))
            Py_CLEAR(all);
        Py_XDECREF(table);
        t = (ncclscope_table_info){.size = sizeof t};
    }
    return all;
}
