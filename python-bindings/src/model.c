/* model.c - Model and Facts: what logs add up to, and what a machine offers. */
#include "core.h"

#include <stdbool.h>
#include <stdlib.h>

struct model {
    PyObject_HEAD ncclscope_model *m;
    PyObject *grammar, *facts; /* that it borrows */
    bool busy;                 /* a thread works on it without the GIL */
};
struct facts {
    PyObject_HEAD ncclscope_facts *f;
};
static PyTypeObject *model_type, *facts_type;

ncclscope_model *py_model(PyObject *o)
{
    bool is = PyObject_TypeCheck(o, model_type);
    if (is && !((struct model *)o)->busy)
        return ((struct model *)o)->m;
    PyErr_SetString(is ? PyExc_RuntimeError : PyExc_TypeError,
                    is ? "the model is in use by another thread" : "a Model is wanted");
    return NULL;
}

void py_model_busy(PyObject *o, bool busy)
{
    ((struct model *)o)->busy = busy;
}

/* ---- Facts ---- */

static void facts_free(PyObject *self)
{
    ncclscope_facts_free(((struct facts *)self)->f);
    py_release(self);
}

/* Facts(path=None): of a file that `ncclscope probe --save` wrote, or of this machine. */
static PyObject *facts_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keys[] = {"path", NULL};
    PyObject *path = NULL;
    ncclscope_error e = {0};
    int rc;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O&", keys, PyUnicode_FSConverter, &path))
        return NULL;
    struct facts *self = (struct facts *)py_make(type);
    if (!self)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = path ? ncclscope_facts_load(&self->f, PyBytes_AsString(path), &e) : ncclscope_probe(&self->f, &e);
    Py_END_ALLOW_THREADS
    Py_XDECREF(path);
    if (!rc || (rc == NCCLSCOPE_EUNSUPPORTED && self->f)) /* no GPU: the rest is there */
        return (PyObject *)self;
    py_raise(rc, &e, "there are no facts");
    Py_DECREF((PyObject *)self);
    return NULL;
}

static PyObject *facts_json(PyObject *self, PyObject *unused)
{
    struct py_sink s = {0};
    (void)unused;
    int rc = ncclscope_facts_save(((struct facts *)self)->f, py_sink_take, &s);
    return rc ? py_raise(rc, NULL, "the facts could not be written") : py_sink_text(&s);
}

static PyMethodDef facts_methods[] = {{"json", facts_json, METH_NOARGS, "json(): schema ncclscope.facts/1."},
                                      {NULL, NULL, 0, NULL}};
static PyType_Slot facts_slots[] = {{Py_tp_doc, "Facts(path=None): what a machine's GPUs, links and container offer."},
                                    {Py_tp_new, (void *)facts_new},
                                    {Py_tp_dealloc, (void *)facts_free},
                                    {Py_tp_methods, facts_methods},
                                    {0, NULL}};
static PyType_Spec facts_spec = {"ncclscope._core.Facts", sizeof(struct facts), 0, Py_TPFLAGS_DEFAULT, facts_slots};

/* ---- what the logs say ---- */

struct watched {
    PyObject *progress; /* or NULL */
    bool failed;        /* an exception is set */
};

static int stop(void *user)
{
    struct watched *w = user;
    PyGILState_STATE held = PyGILState_Ensure();
    w->failed = w->failed || PyErr_CheckSignals() != 0;
    PyGILState_Release(held);
    return w->failed;
}

static void tell(void *user, const ncclscope_scan_progress *p)
{
    struct watched *w = user;
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *done =
        w->failed ? NULL : PyObject_CallFunction(w->progress, "KKKK", p->bytes, p->bytes_all, p->inputs, p->inputs_all);
    w->failed = w->failed || !done;
    Py_XDECREF(done);
    PyGILState_Release(held);
}

/* ["a.log", ...] of bytes to C; free() gives it back, the list keeps the texts. NULL with an exception. */
static const char **paths_of(PyObject *list, Py_ssize_t *n)
{
    *n = PyList_Size(list);
    const char **paths = *n < 0 ? NULL : malloc(((size_t)*n + 1) * sizeof *paths);
    for (Py_ssize_t i = 0; paths && i < *n; i++) {
        paths[i] = PyBytes_AsString(PyList_GetItem(list, i));
        if (!paths[i]) {
            free(paths);
            return NULL;
        }
    }
    return paths ? paths : *n < 0 ? NULL : (const char **)PyErr_NoMemory();
}

static PyObject *model_read(PyObject *o, PyObject *args)
{
    PyObject *list, *progress = Py_None;
    ncclscope_model *m = py_model(o);
    ncclscope_grammar *g = m ? py_grammar(((struct model *)o)->grammar) : NULL;
    unsigned jobs = 1;
    unsigned long long memory = 0;
    Py_ssize_t n;
    if (!g || !PyArg_ParseTuple(args, "O|IOK", &list, &jobs, &progress, &memory))
        return NULL;
    const char **paths = paths_of(list, &n);
    if (!paths)
        return NULL;
    struct watched w = {progress == Py_None ? NULL : progress, false};
    ncclscope_scan_options options = {.size = sizeof options,
                                      .stop = stop,
                                      .user = &w,
                                      .progress = w.progress ? tell : NULL,
                                      .jobs = jobs,
                                      .most_memory = memory};
    ncclscope_error e = {0};
    int rc;
    py_model_busy(o, true);
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_model_read(m, g, paths, (size_t)n, &options, &e);
    Py_END_ALLOW_THREADS
    py_model_busy(o, false);
    free(paths);
    return rc && PyErr_Occurred() ? NULL : py_done(rc, &e, "the logs could not be read");
}

/* ---- a model by hand ---- */

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keys[] = {"grammar", "saved", NULL};
    PyObject *grammar;
    const char *bytes = NULL;
    Py_ssize_t len = 0;
    ncclscope_error e = {0};
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|y#", keys, &grammar, &bytes, &len) || !py_grammar(grammar))
        return NULL;
    struct model *self = (struct model *)py_make(type);
    if (!self)
        return NULL;
    Py_INCREF(grammar);
    self->grammar = grammar;
    int rc;
    Py_BEGIN_ALLOW_THREADS
    rc = bytes ? ncclscope_model_load(&self->m, py_grammar(grammar), bytes, (size_t)len, &e)
               : ncclscope_model_new(&self->m, &e);
    Py_END_ALLOW_THREADS
    if (!rc)
        return (PyObject *)self;
    py_raise(rc, &e, "there is no model");
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void model_free(PyObject *self)
{
    struct model *x = (struct model *)self;
    ncclscope_model_free(x->m);
    Py_CLEAR(x->facts);
    Py_CLEAR(x->grammar);
    py_release(self);
}

static PyObject *model_finish(PyObject *self, PyObject *unused)
{
    ncclscope_error e = {0};
    ncclscope_model *m = py_model(self);
    int rc;
    (void)unused;
    if (!m)
        return NULL;
    py_model_busy(self, true);
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_model_finish(m, &e);
    Py_END_ALLOW_THREADS
    py_model_busy(self, false);
    return py_done(rc, &e, "the model could not be finished");
}

static PyObject *model_merge(PyObject *self, PyObject *args)
{
    PyObject *other;
    ncclscope_model *into = py_model(self), *from;
    ncclscope_error e = {0};
    int rc;
    if (!into || !PyArg_ParseTuple(args, "O", &other) || !(from = py_model(other)))
        return NULL;
    py_model_busy(self, true);
    py_model_busy(other, true);
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_model_merge(into, from, &e);
    Py_END_ALLOW_THREADS
    py_model_busy(self, false);
    py_model_busy(other, false);
    return py_done(rc, &e, "the models could not be merged");
}

static PyObject *model_save(PyObject *self, PyObject *unused)
{
    struct py_sink s = {0};
    ncclscope_error e = {0};
    int rc;
    (void)unused;
    ncclscope_model *m = py_model(self);
    if (!m)
        return NULL;
    py_model_busy(self, true);
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_model_save(m, py_sink_take, &s, &e);
    Py_END_ALLOW_THREADS
    py_model_busy(self, false);
    return rc ? py_raise(rc, &e, "the model could not be saved") : py_sink_bytes(&s);
}

static PyObject *model_snapshot(PyObject *self, PyObject *unused)
{
    ncclscope_model *m = py_model(self);
    struct model *copy = m ? (struct model *)py_make(model_type) : NULL;
    ncclscope_error e = {0};
    int rc;
    (void)unused;
    if (!copy)
        return NULL;
    Py_INCREF(self);
    copy->grammar = self; /* it borrows the texts of that model */
    py_model_busy(self, true);
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_model_snapshot(&copy->m, m, &e);
    Py_END_ALLOW_THREADS
    py_model_busy(self, false);
    if (!rc)
        return (PyObject *)copy;
    py_raise(rc, &e, "there is no snapshot");
    Py_DECREF((PyObject *)copy);
    return NULL;
}

static PyObject *model_pods(PyObject *self, PyObject *args)
{
    ncclscope_model *m = py_model(self);
    PyObject *path;
    ncclscope_error e = {0};
    int rc;
    if (!m || !PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    py_model_busy(self, true);
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_model_pods(m, PyBytes_AsString(path), &e);
    Py_END_ALLOW_THREADS
    py_model_busy(self, false);
    Py_DECREF(path);
    return py_done(rc, &e, "the pods could not be read");
}

static PyObject *model_facts(PyObject *self, PyObject *args)
{
    struct model *x = (struct model *)self;
    PyObject *facts;
    if (!py_model(self) || !PyArg_ParseTuple(args, "O!", facts_type, &facts))
        return NULL;
    py_model_busy(self, true);
    Py_BEGIN_ALLOW_THREADS
    ncclscope_model_facts(x->m, ((struct facts *)facts)->f);
    Py_END_ALLOW_THREADS
    py_model_busy(self, false);
    Py_INCREF(facts);
    Py_XDECREF(x->facts);
    x->facts = facts;
    Py_RETURN_NONE;
}

static PyObject *model_rows(PyObject *self, PyObject *args)
{
    ncclscope_model *m = py_model(self);
    return m ? py_rows(m, NULL, args) : NULL;
}

static PyObject *model_arrow(PyObject *self, PyObject *args)
{
    int table;
    return PyArg_ParseTuple(args, "i", &table) ? py_arrow_stream(self, ((struct model *)self)->m, NULL, table) : NULL;
}

static PyMethodDef model_methods[] = {
    {"read", model_read, METH_VARARGS, "read(paths, jobs, progress, most_memory)"},
    {"finish", model_finish, METH_NOARGS, "finish()"},
    {"merge", model_merge, METH_VARARGS, "merge(other)"},
    {"save", model_save, METH_NOARGS, "save(): bytes"},
    {"snapshot", model_snapshot, METH_NOARGS, "snapshot(): a finished model of what is known"},
    {"pods", model_pods, METH_VARARGS, "pods(path)"},
    {"facts", model_facts, METH_VARARGS, "facts(facts)"},
    {"rows", model_rows, METH_VARARGS, "rows(table[, first, n])"},
    {"arrow", model_arrow, METH_VARARGS, "arrow(table): a capsule, arrow_array_stream"},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot model_slots[] = {{Py_tp_doc, "Model(grammar, saved=None): what logs add up to."},
                                    {Py_tp_new, (void *)model_new},
                                    {Py_tp_dealloc, (void *)model_free},
                                    {Py_tp_methods, model_methods},
                                    {0, NULL}};
static PyType_Spec model_spec = {"ncclscope._core.Model", sizeof(struct model), 0, Py_TPFLAGS_DEFAULT, model_slots};

int py_add_model(PyObject *module)
{
    return py_add_type(module, &facts_spec, &facts_type) || py_add_type(module, &model_spec, &model_type) ? -1 : 0;
}
