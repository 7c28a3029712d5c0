/* reader.c - Reader: a log's records one after the other, or those of one kind as a table. */
#include "columns.h"
#include "core.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 100 };

struct reader {
    PyObject_HEAD ncclscope_reader *r;
    PyObject *grammar, *read; /* read: called for bytes; NULL: of a descriptor */
    int fd;
    bool busy;
};
static PyTypeObject *reader_type;

/* One thread at a time: NULL with an exception while another one reads. */
static struct reader *own(PyObject *o)
{
    struct reader *self = (struct reader *)o;
    if (!self->busy)
        return self;
    PyErr_SetString(PyExc_RuntimeError, "the reader is in use by another thread");
    return NULL;
}

/* ---- where bytes come from: called without the GIL ---- */

static bool is_interrupted(void)
{
    PyGILState_STATE held = PyGILState_Ensure();
    bool interrupted = PyErr_CheckSignals() != 0;
    PyGILState_Release(held);
    return interrupted;
}

static ptrdiff_t read_descriptor(void *user, void *to, size_t size)
{
    struct reader *self = user;
    struct pollfd waits = {self->fd, POLLIN, 0};
    ssize_t n = -1;
    for (bool given = false; !given;) {
        bool ready = poll(&waits, 1, PATIENCE_MS) > 0; /* else it is silent, or a signal came */
        if (is_interrupted())
            return -1;
        n = ready ? read(self->fd, to, size) : -1;
        given = ready && (n >= 0 || errno != EINTR);
    }
    return n;
}

/* What a read(size) of Python gives: bytes; an error of it stays set, and is raised where the record was asked for. */
static ptrdiff_t read_object(void *user, void *to, size_t size)
{
    struct reader *self = user;
    PyGILState_STATE held = PyGILState_Ensure();
    ptrdiff_t n = -1;
    char *bytes;
    Py_ssize_t len;
    PyObject *got = PyErr_CheckSignals() ? NULL : PyObject_CallFunction(self->read, "n", (Py_ssize_t)size);
    if (got && !PyBytes_AsStringAndSize(got, &bytes, &len)) {
        if ((size_t)len <= size) {
            memcpy(to, bytes, (size_t)len);
            n = len;
        } else {
            PyErr_SetString(PyExc_ValueError, "read() gave more than it was asked for");
        }
    }
    Py_XDECREF(got);
    PyGILState_Release(held);
    return n;
}

/* ---- Reader ---- */

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keys[] = {"grammar", "fd", "read", NULL};
    PyObject *grammar, *read = Py_None;
    int fd = -1;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O|iO", keys, &grammar, &fd, &read) || !py_grammar(grammar))
        return NULL;
    struct reader *self = (struct reader *)py_make(type);
    if (!self)
        return NULL;
    ncclscope_error e = {0};
    Py_INCREF(grammar);
    self->grammar = grammar;
    self->read = read == Py_None ? NULL : read;
    Py_XINCREF(self->read);
    self->fd = fd;
    int rc = ncclscope_reader_of(&self->r, py_grammar(grammar), self->read ? read_object : read_descriptor, self, &e);
    if (!rc)
        return (PyObject *)self;
    py_raise(rc, &e, "the reader could not be made");
    Py_DECREF((PyObject *)self);
    return NULL;
}

static void reader_free(PyObject *self)
{
    struct reader *x = (struct reader *)self;
    ncclscope_reader_free(x->r);
    Py_CLEAR(x->read);
    Py_CLEAR(x->grammar);
    py_release(self);
}

/* NCCLSCOPE_OK with the next record, NCCLSCOPE_END, or -1 with an exception. */
static int advance(struct reader *self, const ncclscope_record **rec)
{
    ncclscope_error e = {0};
    int rc;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS
    rc = ncclscope_reader_next(self->r, rec, &e);
    Py_END_ALLOW_THREADS
    self->busy = false;
    if (rc == NCCLSCOPE_OK || rc == NCCLSCOPE_END)
        return rc;
    if (!PyErr_Occurred())
        py_raise(rc, &e, "the log could not be read");
    return -1;
}

static PyObject *reader_next(PyObject *o)
{
    struct reader *self = own(o);
    const ncclscope_record *rec;
    return self && advance(self, &rec) == NCCLSCOPE_OK ? py_record(self->grammar, rec) : NULL;
}

/* All records of a kind that are left; without the GIL. NCCLSCOPE_END, or a code. */
static int collect(struct reader *self, const char *kind, struct columns *c, ncclscope_error *e)
{
    const ncclscope_record *rec;
    int rc;
    while ((rc = ncclscope_reader_next(self->r, &rec, e)) == NCCLSCOPE_OK)
        if (!strcmp(ncclscope_record_kind_name(rec), kind) && !columns_add(c, rec))
            return NCCLSCOPE_ENOMEM;
    columns_done(c);
    return rc;
}

static PyObject *reader_table(PyObject *o, PyObject *args)
{
    struct reader *self = own(o);
    const char *kind;
    ncclscope_error e = {0};
    int rc;
    if (!self || !PyArg_ParseTuple(args, "s", &kind))
        return NULL;
    struct columns *c = columns_new();
    if (!c)
        return PyErr_NoMemory();
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS
    rc = collect(self, kind, c, &e);
    Py_END_ALLOW_THREADS
    self->busy = false;
    if (rc == NCCLSCOPE_END)
        return py_table(c, kind);
    columns_let_go(c);
    return PyErr_Occurred() ? NULL : py_raise(rc, &e, "the log could not be read");
}

static PyObject *reader_stats(PyObject *o, PyObject *unused)
{
    ncclscope_stats s = {.size = sizeof s};
    (void)unused;
    ncclscope_reader_stats(((struct reader *)o)->r, &s);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:O,s:O}", "bytes", s.bytes, "lines", s.lines, "records", s.records,
                         "unknown", s.unknown, "warnings", s.warnings, "torn_lines", s.torn_lines, "gzip",
                         s.format == 1 ? Py_True : Py_False, "truncated", s.truncated ? Py_True : Py_False);
}

static PyMethodDef reader_methods[] = {
    {"table", reader_table, METH_VARARGS, "table(kind): what is left of the log, of one kind, as a RecordTable."},
    {"stats", reader_stats, METH_NOARGS, "stats(): what was read so far, counted."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot reader_slots[] = {
    {Py_tp_doc, "Reader(grammar, fd=-1, read=None): the records of a log."},
    {Py_tp_new, (void *)reader_new},
    {Py_tp_dealloc, (void *)reader_free},
    {Py_tp_iter, (void *)PyObject_SelfIter},
    {Py_tp_iternext, (void *)reader_next},
    {Py_tp_methods, reader_methods},
    {0, NULL},
};
static PyType_Spec reader_spec = {"ncclscope._core.Reader", sizeof(struct reader), 0, Py_TPFLAGS_DEFAULT, reader_slots};

int py_add_reader(PyObject *module)
{
    return py_add_type(module, &reader_spec, &reader_type);
}
