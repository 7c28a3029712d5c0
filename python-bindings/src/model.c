/* model.c - Model, Findings and Facts: what the log adds up to, as rows and as reports. */
#include "core.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct model {
    PyObject_HEAD ncclscope_model *m;
    PyObject *grammar, *facts; /* that it borrows */
};
struct findings {
    PyObject_HEAD ncclscope_findings *f;
    PyObject *model;
};
struct facts {
    PyObject_HEAD ncclscope_facts *f;
};
static PyTypeObject *model_type, *findings_type, *facts_type;

ncclscope_model *py_model(PyObject *o)
{
    if (PyObject_TypeCheck(o, model_type))
        return ((struct model *)o)->m;
    PyErr_SetString(PyExc_TypeError, "a Model is wanted");
    return NULL;
}

/* ---- rows ---- */

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
static PyObject *rows(const ncclscope_model *m, const ncclscope_findings *f, PyObject *args)
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
    Py_BEGIN_ALLOW_THREADS rc =
        path ? ncclscope_facts_load(&self->f, PyBytes_AsString(path), &e) : ncclscope_probe(&self->f, &e);
    Py_END_ALLOW_THREADS Py_XDECREF(path);
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

/* ---- scan ---- */

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

static PyObject *model_scan(PyObject *type, PyObject *args)
{
    PyObject *grammar, *list, *progress = Py_None;
    unsigned jobs = 1;
    unsigned long long memory = 0;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "OO|IOK", &grammar, &list, &jobs, &progress, &memory) || !py_grammar(grammar))
        return NULL;
    const char **paths = paths_of(list, &n);
    struct model *self = paths ? (struct model *)py_make((PyTypeObject *)type) : NULL;
    struct watched w = {progress == Py_None ? NULL : progress, false};
    ncclscope_scan_options o = {.size = sizeof o,
                                .stop = stop,
                                .user = &w,
                                .progress = w.progress ? tell : NULL,
                                .jobs = jobs,
                                .most_memory = memory};
    ncclscope_error e = {0};
    int rc = NCCLSCOPE_ENOMEM;
    if (self) {
        Py_INCREF(grammar);
        self->grammar = grammar;
        Py_BEGIN_ALLOW_THREADS rc =
            ncclscope_scan(&self->m, ((ncclscope_grammar *)py_grammar(grammar)), paths, (size_t)n, &o, &e);
        Py_END_ALLOW_THREADS
    }
    free(paths);
    if (self && !rc)
        return (PyObject *)self;
    if (self && !PyErr_Occurred())
        py_raise(rc, &e, "the logs could not be read");
    Py_XDECREF((PyObject *)self);
    return NULL;
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
    int rc = bytes ? ncclscope_model_load(&self->m, py_grammar(grammar), bytes, (size_t)len, &e)
                   : ncclscope_model_new(&self->m, &e);
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

static PyObject *done(int rc, const ncclscope_error *e, const char *what)
{
    if (rc)
        return py_raise(rc, e, what);
    Py_RETURN_NONE;
}

static PyObject *model_finish(PyObject *self, PyObject *unused)
{
    ncclscope_error e = {0};
    int rc;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS rc = ncclscope_model_finish(((struct model *)self)->m, &e);
    Py_END_ALLOW_THREADS return done(rc, &e, "the model could not be finished");
}

static PyObject *model_merge(PyObject *self, PyObject *args)
{
    PyObject *other;
    ncclscope_error e = {0};
    if (!PyArg_ParseTuple(args, "O!", model_type, &other))
        return NULL;
    return done(ncclscope_model_merge(((struct model *)self)->m, ((struct model *)other)->m, &e), &e,
                "the models could not be merged");
}

static PyObject *model_save(PyObject *self, PyObject *unused)
{
    struct py_sink s = {0};
    ncclscope_error e = {0};
    (void)unused;
    int rc = ncclscope_model_save(((struct model *)self)->m, py_sink_take, &s, &e);
    return rc ? py_raise(rc, &e, "the model could not be saved") : py_sink_bytes(&s);
}

static PyObject *model_snapshot(PyObject *self, PyObject *unused)
{
    struct model *x = (struct model *)self, *copy = (struct model *)py_make(model_type);
    ncclscope_error e = {0};
    (void)unused;
    if (!copy)
        return NULL;
    Py_INCREF(self);
    copy->grammar = self; /* it borrows the texts of that model */
    int rc = ncclscope_model_snapshot(&copy->m, x->m, &e);
    if (!rc)
        return (PyObject *)copy;
    py_raise(rc, &e, "there is no snapshot");
    Py_DECREF((PyObject *)copy);
    return NULL;
}

static PyObject *model_pods(PyObject *self, PyObject *args)
{
    PyObject *path;
    ncclscope_error e = {0};
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    int rc = ncclscope_model_pods(((struct model *)self)->m, PyBytes_AsString(path), &e);
    Py_DECREF(path);
    return done(rc, &e, "the pods could not be read");
}

static PyObject *model_facts(PyObject *self, PyObject *args)
{
    struct model *x = (struct model *)self;
    PyObject *facts;
    if (!PyArg_ParseTuple(args, "O!", facts_type, &facts))
        return NULL;
    ncclscope_model_facts(x->m, ((struct facts *)facts)->f);
    Py_INCREF(facts);
    Py_XDECREF(x->facts);
    x->facts = facts;
    Py_RETURN_NONE;
}

static PyObject *model_rows(PyObject *self, PyObject *args)
{
    return rows(((struct model *)self)->m, NULL, args);
}

static PyObject *model_arrow(PyObject *self, PyObject *args)
{
    int table;
    return PyArg_ParseTuple(args, "i", &table) ? py_arrow_stream(self, ((struct model *)self)->m, NULL, table) : NULL;
}

static PyMethodDef model_methods[] = {
    {"scan", model_scan, METH_VARARGS | METH_CLASS, "scan(grammar, paths, jobs, progress, most_memory)"},
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

/* ---- Findings ---- */

static PyObject *findings_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keys[] = {"model", NULL};
    PyObject *model;
    ncclscope_error e = {0};
    int rc;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O!", keys, model_type, &model))
        return NULL;
    struct findings *self = (struct findings *)py_make(type);
    if (!self)
        return NULL;
    Py_INCREF(model);
    self->model = model;
    Py_BEGIN_ALLOW_THREADS rc = ncclscope_analyse(&self->f, ((struct model *)model)->m, &e);
    Py_END_ALLOW_THREADS if (!rc) return (PyObject *)self;
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
    return rows(NULL, ((struct findings *)self)->f, args);
}

static PyObject *findings_expect(PyObject *self, PyObject *args)
{
    const char *list;
    ncclscope_error e = {0};
    if (!PyArg_ParseTuple(args, "s", &list))
        return NULL;
    return done(ncclscope_expect(((struct findings *)self)->f, list, &e), &e, "this cannot be expected");
}

/* report(format, columns, flags, page): page "log", "probe" or "confirm". */
static PyObject *findings_report(PyObject *self, PyObject *args)
{
    struct findings *x = (struct findings *)self;
    const ncclscope_model *m = ((struct model *)x->model)->m;
    const char *format, *page = "log";
    int columns = 0, flags = 0, rc;
    struct py_sink s = {0};
    if (!PyArg_ParseTuple(args, "s|iis", &format, &columns, &flags, &page))
        return NULL;
    Py_BEGIN_ALLOW_THREADS rc =
        !strcmp(page, "log")     ? ncclscope_report(m, x->f, format, columns, flags, py_sink_take, &s)
        : !strcmp(page, "probe") ? ncclscope_facts_report(m, x->f, format, columns, flags, py_sink_take, &s)
                                 : ncclscope_confirm_report(m, x->f, format, columns, flags, py_sink_take, &s);
    Py_END_ALLOW_THREADS if (!rc) return py_sink_text(&s);
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
    if (!PyArg_ParseTuple(args, "O!s|ii", findings_type, &b, &format, &columns, &flags))
        return NULL;
    int rc = ncclscope_diff(((struct model *)a->model)->m, a->f, ((struct model *)b->model)->m, b->f, format, columns,
                            flags, py_sink_take, &s, &n);
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

/* ---- functions of the module ---- */

/* tables(): [(name, rows, owner, words, [(column, type, unit, words), ...]), ...] in the order of their numbers. */
static PyObject *tables(PyObject *self, PyObject *unused)
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

static PyObject *explain(PyObject *self, PyObject *args)
{
    const char *text;
    PyObject *grammar;
    struct py_sink s = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "Os", &grammar, &text) || !py_grammar(grammar))
        return NULL;
    int rc = ncclscope_explain(text, py_sink_take, &s);
    if (rc == NCCLSCOPE_ENOTFOUND)
        rc = ncclscope_explain_line(py_grammar(grammar), text, 0, 0, py_sink_take, &s);
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

PyMethodDef py_answers[] = {
    {"tables", tables, METH_NOARGS, "tables(): every table with its columns"},
    {"explain", explain, METH_VARARGS, "explain(grammar, id_or_line)"},
    {"version", version, METH_NOARGS, "version(): of the library"},
    {NULL, NULL, 0, NULL},
};

int py_add_model(PyObject *module)
{
    return py_add_type(module, &facts_spec, &facts_type) || py_add_type(module, &model_spec, &model_type) ||
                   py_add_type(module, &findings_spec, &findings_type)
               ? -1
               : 0;
}
