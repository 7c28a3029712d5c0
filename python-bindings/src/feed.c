/* feed.c - Feed: a stream of a model that bytes are pushed to, as they come. */
#include "core.h"

struct feed {
    PyObject_HEAD ncclscope_reader *r;
    PyObject *model, *grammar;
    uint32_t id;
    bool open;
};
static PyTypeObject *feed_type;

static PyObject *feed_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keys[] = {"grammar", "model", "name", NULL};
    PyObject *grammar, *model, *name = NULL;
    ncclscope_error e = {0};
    if (!PyArg_ParseTupleAndKeywords(args, names, "OOO&", keys, &grammar, &model, PyUnicode_FSConverter, &name))
        return NULL;
    struct feed *self = py_grammar(grammar) && py_model(model) ? (struct feed *)py_make(type) : NULL;
    if (!self) {
        Py_DECREF(name);
        return NULL;
    }
    Py_INCREF(model);
    self->model = model;
    Py_INCREF(grammar);
    self->grammar = grammar;
    int rc = ncclscope_reader_new(&self->r, py_grammar(grammar), &e);
    rc = rc ? rc : ncclscope_model_stream(py_model(model), PyBytes_AsString(name), &self->id);
    Py_DECREF(name);
    self->open = !rc;
    if (!rc)
        return (PyObject *)self;
    py_raise(rc, &e, "the model takes no more streams");
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void feed_free(PyObject *o)
{
    struct feed *self = (struct feed *)o;
    ncclscope_model *m = self->open ? py_model(self->model) : NULL;
    if (m)
        ncclscope_model_stream_end(m, self->id, self->r, NULL);
    else if (self->open)
        PyErr_WriteUnraisable(o);
    ncclscope_reader_free(self->r);
    Py_CLEAR(self->model);
    Py_CLEAR(self->grammar);
    py_release(o);
}

/* Whatever is whole goes to the model; without the GIL. NCCLSCOPE_OK or a code; EINVAL with an exception where the model is in use. */
static int take(struct feed *self, ncclscope_error *e)
{
    const ncclscope_record *rec;
    ncclscope_model *m = py_model(self->model);
    int rc;
    if (!m)
        return NCCLSCOPE_EINVAL;
    py_model_busy(self->model, true);
    Py_BEGIN_ALLOW_THREADS
    while ((rc = ncclscope_reader_next(self->r, &rec, e)) == NCCLSCOPE_OK &&
           !(rc = ncclscope_model_stream_add(m, self->id, rec)))
        ;
    Py_END_ALLOW_THREADS
    py_model_busy(self->model, false);
    return rc == NCCLSCOPE_MORE || rc == NCCLSCOPE_END ? NCCLSCOPE_OK : rc;
}

static PyObject *feed_feed(PyObject *o, PyObject *args)
{
    struct feed *self = (struct feed *)o;
    const char *bytes;
    Py_ssize_t len;
    ncclscope_error e = {0};
    if (!PyArg_ParseTuple(args, "y#", &bytes, &len))
        return NULL;
    if (!py_model(self->model))
        return NULL;
    int rc = self->open ? ncclscope_reader_feed(self->r, bytes, (size_t)len) : NCCLSCOPE_EINVAL;
    rc = rc ? rc : take(self, &e);
    if (rc)
        return py_raise(rc, &e, "the stream takes no more bytes");
    Py_RETURN_NONE;
}

/* Before a snapshot: what waits for a possible continuation is told, and the counts. */
static PyObject *feed_flush(PyObject *o, PyObject *unused)
{
    struct feed *self = (struct feed *)o;
    ncclscope_error e = {0};
    (void)unused;
    if (!self->open)
        Py_RETURN_NONE;
    if (!py_model(self->model))
        return NULL;
    ncclscope_reader_flush(self->r);
    int rc = take(self, &e);
    rc = rc ? rc : ncclscope_model_stream_counts(py_model(self->model), self->id, self->r);
    if (rc)
        return py_raise(rc, &e, "the stream could not be read");
    Py_RETURN_NONE;
}

/* `problem`: why there was no more to feed, though there should be. */
static PyObject *feed_end(PyObject *o, PyObject *args)
{
    struct feed *self = (struct feed *)o;
    const char *problem = NULL;
    ncclscope_error e = {0};
    if (!PyArg_ParseTuple(args, "|z", &problem))
        return NULL;
    if (!self->open)
        Py_RETURN_NONE;
    if (!py_model(self->model))
        return NULL;
    ncclscope_reader_finish(self->r);
    int rc = take(self, &e);
    self->open = false;
    int ended = ncclscope_model_stream_end(py_model(self->model), self->id, self->r,
                                           problem ? problem
                                           : rc    ? e.text
                                                   : NULL);
    if (rc == NCCLSCOPE_ENOMEM || ended)
        return py_raise(rc ? rc : ended, &e, "the stream could not be ended");
    Py_RETURN_NONE;
}

static PyMethodDef feed_methods[] = {
    {"feed", feed_feed, METH_VARARGS, "feed(data): bytes, cut anywhere."},
    {"flush", feed_flush, METH_NOARGS, "flush(): nothing has come for a while."},
    {"end", feed_end, METH_VARARGS,
     "end(problem=None): no more bytes will come; `problem` says why it could not be read whole."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot feed_slots[] = {{Py_tp_doc, "Feed(grammar, model, name): a stream of a model."},
                                   {Py_tp_new, (void *)feed_new},
                                   {Py_tp_dealloc, (void *)feed_free},
                                   {Py_tp_methods, feed_methods},
                                   {0, NULL}};
static PyType_Spec feed_spec = {"ncclscope._core.Feed", sizeof(struct feed), 0, Py_TPFLAGS_DEFAULT, feed_slots};

int py_add_feed(PyObject *module)
{
    return py_add_type(module, &feed_spec, &feed_type);
}
