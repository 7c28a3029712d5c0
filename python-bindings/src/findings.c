/* findings.c - Findings: what is wrong with a finished model, and reports of both. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

struct findings {
    PyObject_HEAD ncclscope_findings *f;
    PyObject *model;
};
static PyTypeObject *findings_type;

static PyObject *findings_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keys[] = {"model", NULL};
    PyObject *model;
    ncclscope_error e = {0};
    int rc;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O", keys, &model))
        return NULL;
    ncclscope_model *m = py_model(model);
    if (!m)
        return NULL;
    struct findings *self = (struct findings *)py_make(type);
    if (!self)
        return NULL;
    Py_INCREF(model);
    self->model = model;
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_analyse(&self->f, m, &e);
    Py_END_ALLOW_THREADS
    if (!rc)
        return (PyObject *)self;
    py_raise(rc, &e, "the model could not be judged");
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void findings_free(PyObject *self)
{
    struct findings *x = (struct findings *)self;
    ncclscope_findings_free(x->f);
    Py_CLEAR(x->model);
    py_release(self);
}

static PyObject *findings_rows(PyObject *self, PyObject *args)
{
    return py_rows(NULL, ((struct findings *)self)->f, args);
}

static PyObject *findings_expect(PyObject *self, PyObject *args)
{
    const char *list;
    ncclscope_error e = {0};
    int rc;
    if (!PyArg_ParseTuple(args, "s", &list))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_expect(((struct findings *)self)->f, list, &e);
    Py_END_ALLOW_THREADS
    return py_done(rc, &e, "this cannot be expected");
}

/* report(format, columns, flags, page): page "log", "probe" or "confirm". */
static PyObject *findings_report(PyObject *self, PyObject *args)
{
    struct findings *x = (struct findings *)self;
    const ncclscope_model *m = py_model(x->model);
    const char *format, *page = "log";
    int columns = 0, flags = 0, rc;
    struct py_sink s = {0};
    if (!m || !PyArg_ParseTuple(args, "s|iis", &format, &columns, &flags, &page))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = !strcmp(page, "log")     ? ncclscope_report(m, x->f, format, columns, flags, py_sink_take, &s)
         : !strcmp(page, "probe") ? ncclscope_facts_report(m, x->f, format, columns, flags, py_sink_take, &s)
                                  : ncclscope_confirm_report(m, x->f, format, columns, flags, py_sink_take, &s);
    Py_END_ALLOW_THREADS
    if (!rc)
        return py_sink_text(&s);
    free(s.bytes);
    return py_raise(rc, NULL, "there is no such report");
}

/* diff(other, format, columns, flags): (text, how many differences). */
static PyObject *findings_diff(PyObject *self, PyObject *args)
{
    struct findings *a = (struct findings *)self, *b;
    const char *format;
    int columns = 0, flags = 0;
    size_t n = 0;
    struct py_sink s = {0};
    int rc;
    if (!PyArg_ParseTuple(args, "O!s|ii", findings_type, &b, &format, &columns, &flags))
        return NULL;
    const ncclscope_model *m = py_model(a->model), *other = py_model(b->model);
    if (!m || !other)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_diff(m, a->f, other, b->f, format, columns, flags, py_sink_take, &s, &n);
    Py_END_ALLOW_THREADS
    if (rc) {
        free(s.bytes);
        return py_raise(rc, NULL, "the runs could not be compared");
    }
    return Py_BuildValue("(Nn)", py_sink_text(&s), (Py_ssize_t)n);
}

static PyObject *findings_arrow(PyObject *self, PyObject *args)
{
    int table;
    return PyArg_ParseTuple(args, "i", &table) ? py_arrow_stream(self, NULL, ((struct findings *)self)->f, table)
                                               : NULL;
}

static PyMethodDef findings_methods[] = {
    {"rows", findings_rows, METH_VARARGS, "rows(table[, first, n])"},
    {"arrow", findings_arrow, METH_VARARGS, "arrow(table): a capsule, arrow_array_stream"},
    {"expect", findings_expect, METH_VARARGS, "expect(list)"},
    {"report", findings_report, METH_VARARGS, "report(format, columns, flags, page)"},
    {"diff", findings_diff, METH_VARARGS, "diff(other, format, columns, flags)"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot findings_slots[] = {{Py_tp_doc, "Findings(model): every rule over a finished model."},
                                       {Py_tp_new, (void *)findings_new},
                                       {Py_tp_dealloc, (void *)findings_free},
                                       {Py_tp_methods, findings_methods},
                                       {0, NULL}};
static PyType_Spec findings_spec = {"ncclscope._core.Findings", sizeof(struct findings), 0, Py_TPFLAGS_DEFAULT,
                                    findings_slots};

int py_add_findings(PyObject *module)
{
    return py_add_type(module, &findings_spec, &findings_type);
}
