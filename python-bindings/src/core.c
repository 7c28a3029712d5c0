/* core.c - the module itself: its errors, texts, and the grammar. */
#include "core.h"

#include <structmember.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct grammar {
    PyObject_HEAD ncclscope_grammar *g;
    PyObject *weak; /* references to it */
};
static PyTypeObject *grammar_type;

PyObject *py_raise(int code, const ncclscope_error *e, const char *words)
{
    PyObject *errors = PyErr_Occurred() ? NULL : PyImport_ImportModule("ncclscope.errors");
    PyObject *made =
        !errors ? NULL
                : PyObject_CallMethod(errors, "of", "isi", code, e && e->text[0] ? e->text : words, e ? e->system : 0);
    if (made)
        PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_XDECREF(made);
    Py_XDECREF(errors);
    return NULL;
}

PyObject *py_done(int rc, const ncclscope_error *e, const char *what)
{
    if (rc)
        return py_raise(rc, e, what);
    Py_RETURN_NONE;
}

PyObject *py_make(PyTypeObject *type)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return alloc(type, 0);
}

void py_release(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc give_back = (freefunc)PyType_GetSlot(type, Py_tp_free);
    give_back(self);
    Py_DECREF((PyObject *)type);
}

PyObject *py_text(ncclscope_text t)
{
    if (!t.ptr)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(t.ptr, (Py_ssize_t)t.len, "surrogateescape");
}

int py_sink_take(void *user, const char *bytes, size_t size)
{
    struct py_sink *s = user;
    if (s->len + size > s->cap) {
        size_t cap = (s->len + size) * 2;
        char *more = realloc(s->bytes, cap);
        if (!more)
            return -1;
        s->bytes = more;
        s->cap = cap;
    }
    memcpy(s->bytes + s->len, bytes, size);
    s->len += size;
    return 0;
}

static void drop(struct py_sink *s)
{
    free(s->bytes);
    *s = (struct py_sink){0};
}

PyObject *py_sink_text(struct py_sink *s)
{
    PyObject *made = PyUnicode_DecodeUTF8(s->bytes ? s->bytes : "", (Py_ssize_t)s->len, "surrogateescape");
    drop(s);
    return made;
}

PyObject *py_sink_bytes(struct py_sink *s)
{
    PyObject *made = PyBytes_FromStringAndSize(s->bytes ? s->bytes : "", (Py_ssize_t)s->len);
    drop(s);
    return made;
}

/* ---- Grammar ---- */

static PyObject *grammar_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keys[] = {"patterns", NULL};
    PyObject *path = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O&", keys, PyUnicode_FSConverter, &path))
        return NULL;
    struct grammar *self = (struct grammar *)py_make(type);
    ncclscope_error e = {0};
    int rc = self ? ncclscope_grammar_new(&self->g, &e) : NCCLSCOPE_ENOMEM;
    Py_BEGIN_ALLOW_THREADS
    if (!rc && path)
        rc = ncclscope_grammar_add_file(self->g, PyBytes_AsString(path), &e);
    Py_END_ALLOW_THREADS
    Py_XDECREF(path);
    if (!rc)
        return (PyObject *)self;
    if (self)
        py_raise(rc, &e, "the grammar could not be made");
    Py_XDECREF((PyObject *)self);
    return NULL;
}

static void grammar_free(PyObject *self)
{
    if (((struct grammar *)self)->weak)
        PyObject_ClearWeakRefs(self);
    ncclscope_grammar_free(((struct grammar *)self)->g);
    py_release(self);
}

static PyObject *grammar_prepare(PyObject *self, PyObject *unused)
{
    ncclscope_error e = {0};
    int rc;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_grammar_prepare(((struct grammar *)self)->g, &e);
    Py_END_ALLOW_THREADS
    return py_done(rc, &e, "the rows could not be compiled");
}

ncclscope_grammar *py_grammar(PyObject *o)
{
    if (PyObject_TypeCheck(o, grammar_type))
        return ((struct grammar *)o)->g;
    PyErr_SetString(PyExc_TypeError, "a Grammar is wanted");
    return NULL;
}

static PyMethodDef grammar_methods[] = {
    {"prepare", grammar_prepare, METH_NOARGS, "prepare(): compile all rows now; it takes no lock from then on."},
    {NULL, NULL, 0, NULL},
};
static PyMemberDef grammar_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct grammar, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot grammar_slots[] = {
    {Py_tp_doc, "Grammar(patterns=None): the known lines, and those of a file of your own."},
    {Py_tp_new, (void *)grammar_new},
    {Py_tp_dealloc, (void *)grammar_free},
    {Py_tp_methods, grammar_methods},
    {Py_tp_members, grammar_members},
    {0, NULL},
};
static PyType_Spec grammar_spec = {"ncclscope._core.Grammar", sizeof(struct grammar), 0, Py_TPFLAGS_DEFAULT,
                                   grammar_slots};

/* ---- functions of the module ---- */

static PyObject *explain(PyObject *self, PyObject *args)
{
    const char *text;
    PyObject *grammar;
    struct py_sink s = {0};
    int rc;
    (void)self;
    if (!PyArg_ParseTuple(args, "Os", &grammar, &text))
        return NULL;
    ncclscope_grammar *g = py_grammar(grammar);
    if (!g)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_explain(text, py_sink_take, &s);
    if (rc == NCCLSCOPE_ENOTFOUND)
        rc = ncclscope_explain_line(g, text, 0, 0, py_sink_take, &s);
    Py_END_ALLOW_THREADS
    if (!rc)
        return py_sink_text(&s);
    free(s.bytes);
    return py_raise(rc, NULL, "no rule has this id, and no release of NCCL prints this line");
}

static PyObject *version(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyUnicode_FromString(ncclscope_version());
}

static PyMethodDef answers[] = {
    {"tables", py_tables, METH_NOARGS, "tables(): every table with its columns"},
    {"explain", explain, METH_VARARGS, "explain(grammar, id_or_line)"},
    {"version", version, METH_NOARGS, "version(): of the library"},
    {NULL, NULL, 0, NULL},
};

/* ---- the module ---- */

int py_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromSpec(spec);
    const char *name = strrchr(spec->name, '.') + 1;
    if (!*type)
        return -1;
    Py_INCREF((PyObject *)*type); /* one for the module, one that stays here */
    return PyModule_AddObject(module, name, (PyObject *)*type);
}

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "ncclscope._core",
                                        "libncclscope, as the package's own modules use it.",
                                        -1,
                                        answers,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    bool fine = module && !py_add_type(module, &grammar_spec, &grammar_type) && !py_add_record(module) &&
                !py_add_table(module) && !py_add_reader(module) && !py_add_model(module) && !py_add_findings(module) &&
                !py_add_feed(module);
    if (fine)
        return module;
    Py_XDECREF(module);
    return NULL;
}
