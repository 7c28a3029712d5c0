/* reader.c - Reader and Record: a log's records one after the other, or those of one kind as columns. */
#include "core.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 100, OWN = 1000, LEVELS = 9 };

struct record;
struct reader {
    PyObject_HEAD ncclscope_reader *r;
    PyObject *grammar, *read; /* read: called for bytes; NULL: of a descriptor */
    struct record *current;   /* lent out last: it owns what it says as soon as the reader goes on without it */
    int fd;
    bool busy;
};

/* What a record says beside its fields; the order of `getters`. */
enum said {
    KIND,
    LINE,
    LEVEL,
    HOST,
    PID,
    TID,
    DEVICE,
    MESSAGE,
    LOCATION,
    TIME,
    POD,
    CONTAINER,
    LAUNCHER_RANK,
    REPEATED,
    TORN,
    PHYSICAL,
    FAMILY,
    OFFSET,
    SAID
};

struct record {
    PyObject_HEAD const ncclscope_record *rec; /* NULL: `kept` and `fields` have it all */
    PyObject *grammar;                         /* whose names its fields have */
    PyObject *kept[SAID], *fields;
};

static PyTypeObject *reader_type, *record_type;
static PyObject *kind_names[OWN], *level_names[LEVELS], *field_numbers; /* {"src": 12} */
static char field_types[OWN];                                           /* the letter of each, 0: not asked yet */

/* ---- Record ---- */

static PyObject *number(int64_t v)
{
    if (v < 0)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(v);
}

static PyObject *again(PyObject *o)
{
    Py_XINCREF(o);
    return o;
}

static PyObject *kind_of(const ncclscope_record *rec)
{
    ncclscope_kind kind = ncclscope_record_kind(rec);
    if (kind < 0 || kind >= OWN) /* of a row that was added: one grammar's alone */
        return PyUnicode_FromString(ncclscope_record_kind_name(rec));
    if (!kind_names[kind])
        kind_names[kind] = PyUnicode_InternFromString(ncclscope_record_kind_name(rec));
    return again(kind_names[kind]);
}

static int level_of(const ncclscope_record *rec)
{
    int level = ncclscope_record_level(rec);
    return level > 0 && level < LEVELS ? level : 0;
}

static PyObject *say(const ncclscope_record *rec, int what)
{
    switch (what) {
    case KIND: return kind_of(rec);
    case LINE: return PyLong_FromUnsignedLongLong(ncclscope_record_line(rec));
    case LEVEL: return again(level_names[level_of(rec)]);
    case HOST: return py_text(ncclscope_record_host(rec));
    case PID: return number(ncclscope_record_pid(rec));
    case TID: return number(ncclscope_record_tid(rec));
    case DEVICE: return number(ncclscope_record_dev(rec));
    case MESSAGE: return py_text(ncclscope_record_message(rec));
    case LOCATION: return py_text(ncclscope_record_location(rec));
    case TIME: return py_text(ncclscope_record_time(rec));
    case POD: return py_text(ncclscope_record_pod(rec));
    case CONTAINER: return py_text(ncclscope_record_container(rec));
    case LAUNCHER_RANK: return number(ncclscope_record_launcher_rank(rec));
    case REPEATED: return PyLong_FromUnsignedLongLong(ncclscope_record_repeated(rec));
    case TORN: return PyBool_FromLong(ncclscope_record_flags(rec) & NCCLSCOPE_FLAG_TORN);
    case PHYSICAL: return py_text(ncclscope_record_physical(rec));
    case FAMILY: return py_text(ncclscope_record_family(rec));
    default: return PyLong_FromUnsignedLongLong(ncclscope_record_offset(rec));
    }
}

static char type_of(const ncclscope_record *rec, ncclscope_field f)
{
    bool ours = f > 0 && f < OWN;
    char type = ours ? field_types[f] : 0;
    if (!type && ncclscope_record_field_name(rec, f, &type) && ours)
        field_types[f] = type;
    return type;
}

/* A number where the field is one and can be: hexadecimal ones, names and texts stay as they stand. */
static PyObject *value(const ncclscope_record *rec, ncclscope_field f, ncclscope_text text)
{
    uint64_t u;
    int64_t i;
    double d;
    switch (type_of(rec, f)) {
    case 'u':
        if (ncclscope_record_u64(rec, f, &u) == NCCLSCOPE_OK)
            return PyLong_FromUnsignedLongLong(u);
        break;
    case 'i':
        if (ncclscope_record_i64(rec, f, &i) == NCCLSCOPE_OK)
            return PyLong_FromLongLong(i);
        break;
    case 'f':
        if (ncclscope_record_f64(rec, f, &d) == NCCLSCOPE_OK)
            return PyFloat_FromDouble(d);
        break;
    default: break;
    }
    return py_text(text);
}

static PyObject *fields_of(const ncclscope_record *rec)
{
    PyObject *all = PyDict_New();
    ncclscope_field f;
    ncclscope_text text;
    for (size_t i = 0; all && ncclscope_record_field(rec, i, &f, &text) == NCCLSCOPE_OK; i++) {
        PyObject *v = value(rec, f, text);
        const char *name = ncclscope_record_field_name(rec, f, NULL);
        if (!v || !name || PyDict_SetItemString(all, name, v))
            Py_CLEAR(all);
        Py_XDECREF(v);
    }
    return all;
}

static PyObject *record_get(PyObject *self, void *what)
{
    struct record *x = (struct record *)self;
    return x->rec ? say(x->rec, (int)(intptr_t)what) : again(x->kept[(intptr_t)what]);
}

static PyObject *record_fields(PyObject *self, void *unused)
{
    struct record *x = (struct record *)self;
    (void)unused;
    return x->rec ? fields_of(x->rec) : PyDict_Copy(x->fields);
}

static PyObject *record_subscript(PyObject *self, PyObject *key)
{
    struct record *x = (struct record *)self;
    PyObject *found = NULL;
    if (!x->rec) {
        found = again(PyDict_GetItemWithError(x->fields, key));
    } else {
        PyObject *known = PyDict_GetItemWithError(field_numbers, key);
        ncclscope_field f = known ? (ncclscope_field)PyLong_AsLong(known) : 0;
        ncclscope_text text;
        if (f && ncclscope_record_text(x->rec, f, &text) == NCCLSCOPE_OK)
            return value(x->rec, f, text);
        PyObject *all = known || PyErr_Occurred() ? NULL : fields_of(x->rec); /* of a row that was added */
        found = all ? again(PyDict_GetItemWithError(all, key)) : NULL;
        Py_XDECREF(all);
    }
    if (!found && !PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, key);
    return found;
}

static PyObject *record_method_get(PyObject *self, PyObject *args)
{
    PyObject *key, *other = Py_None;
    if (!PyArg_ParseTuple(args, "O|O", &key, &other))
        return NULL;
    PyObject *found = record_subscript(self, key);
    if (found || !PyErr_ExceptionMatches(PyExc_KeyError))
        return found;
    PyErr_Clear();
    return again(other);
}

static PyObject *record_repr(PyObject *self)
{
    PyObject *kind = record_get(self, (void *)KIND), *line = record_get(self, (void *)LINE),
             *message = record_get(self, (void *)MESSAGE), *made = NULL;
    if (kind && line && message)
        made = PyUnicode_FromFormat("<Record %U, line %S: %R>", kind, line, message);
    Py_XDECREF(kind);
    Py_XDECREF(line);
    Py_XDECREF(message);
    return made;
}

static void record_free(PyObject *self)
{
    struct record *x = (struct record *)self;
    for (int i = 0; i < SAID; i++)
        Py_CLEAR(x->kept[i]);
    Py_CLEAR(x->fields);
    Py_CLEAR(x->grammar);
    py_release(self);
}

/* The reader goes on: the record keeps what it says. */
static int detach(struct record *x)
{
    int rc = 0;
    for (int i = 0; i < SAID; i++) {
        x->kept[i] = say(x->rec, i);
        rc = x->kept[i] ? rc : -1;
        x->kept[i] = x->kept[i] ? x->kept[i] : again(Py_None);
    }
    x->fields = fields_of(x->rec);
    x->rec = NULL;
    return x->fields ? rc : -1;
}

/* Who holds the record that was lent out last keeps it; the reader may go on, or end. 0, or -1 with an exception: another thread reads. */
static int let_go(struct reader *self)
{
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the reader is in use by another thread");
        return -1;
    }
    bool held = self->current && Py_REFCNT((PyObject *)self->current) > 1 && self->current->rec;
    int rc = held ? detach(self->current) : 0;
    if (held)
        Py_CLEAR(self->current);
    return rc;
}

#define GETTER(name, what, words) \
    { \
        name, record_get, NULL, words, (void *)what \
    }
static PyGetSetDef record_getters[] = {
    GETTER("kind", KIND, "what the line says: \"CONNECT\", \"INIT_START\", ..."),
    GETTER("line", LINE, "its line in the text, from 1"),
    GETTER("level", LEVEL, "\"INFO\", \"WARN\", \"TRACE\", \"CALL\", \"VERSION\", \"OTHER\", \"ATTN\" or \"DIAG\""),
    GETTER("host", HOST, "the host, or pod, that printed it; None: not said"),
    GETTER("pid", PID, "its process; None: not said"),
    GETTER("tid", TID, "its thread; None: not said"),
    GETTER("device", DEVICE, "the CUDA device of that thread, no rank; None: not said"),
    GETTER("message", MESSAGE, "what stands behind the level"),
    GETTER("location", LOCATION, "of a WARN: the place in NCCL's source, \"init.cc:421\"; else None"),
    GETTER("time", TIME, "as printed; None: not said"),
    GETTER("pod", POD, "from the prefix of a collector; None: not said"),
    GETTER("container", CONTAINER, "the same"),
    GETTER("launcher_rank", LAUNCHER_RANK, "the rank as the launcher counts it; None: not said"),
    GETTER("repeated", REPEATED, "how many more lines a launcher folded into this one"),
    GETTER("torn", TORN, "whether another writer cut into it"),
    GETTER("physical", PHYSICAL, "the whole line with its prefixes"),
    GETTER("family", FAMILY, "of a RECOGNISED record: the part of NCCL that speaks; else None"),
    GETTER("offset", OFFSET, "the place of its line in the text, bytes"),
    {"fields", record_fields, NULL, "all fields of the record, as a dict", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef record_methods[] = {
    {"get", record_method_get, METH_VARARGS,
     "get(name, default=None): a field, or `default` where the record has none such."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot record_slots[] = {
    {Py_tp_doc, "A record of a log: its fields by name, rec[\"src\"], and what stands before the message."},
    {Py_tp_getset, record_getters},
    {Py_tp_methods, record_methods},
    {Py_mp_subscript, (void *)record_subscript},
    {Py_tp_repr, (void *)record_repr},
    {Py_tp_dealloc, (void *)record_free},
    {0, NULL},
};
static PyType_Spec record_spec = {"ncclscope._core.Record", sizeof(struct record), 0, Py_TPFLAGS_DEFAULT, record_slots};

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
    for (;;) {
        struct pollfd waits = {self->fd, POLLIN, 0};
        int ready = poll(&waits, 1, PATIENCE_MS);
        if (ready <= 0) { /* silent, or a signal came */
            if (is_interrupted())
                return -1;
            continue;
        }
        ssize_t n = read(self->fd, to, size);
        if (n >= 0 || errno != EINTR)
            return n;
    }
}

/* What a read(size) of Python gives: bytes; an error of it stays set, and is raised where the record was asked for. */
static ptrdiff_t read_object(void *user, void *to, size_t size)
{
    struct reader *self = user;
    PyGILState_STATE held = PyGILState_Ensure();
    ptrdiff_t n = -1;
    char *bytes;
    Py_ssize_t len;
    PyObject *got = PyObject_CallFunction(self->read, "n", (Py_ssize_t)size);
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
    self->grammar = again(grammar);
    self->read = read == Py_None ? NULL : again(read);
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
    if (let_go(x))
        PyErr_WriteUnraisable(self);
    Py_CLEAR(x->current);
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
    struct reader *self = (struct reader *)o;
    const ncclscope_record *rec;
    if (let_go(self))
        return NULL;
    if (advance(self, &rec) != NCCLSCOPE_OK) {
        Py_CLEAR(self->current);
        return NULL;
    }
    if (!self->current) {
        self->current = (struct record *)py_make(record_type);
        if (!self->current)
            return NULL;
        self->current->grammar = again(self->grammar);
    }
    self->current->rec = rec;
    return again((PyObject *)self->current);
}

/* ---- columns ---- */

/* {"src": [...]}: a list for each name, as long as there are rows. */
static int put(PyObject *columns, const char *name, Py_ssize_t row, PyObject *v)
{
    PyObject *key = PyUnicode_InternFromString(name), *list = key ? PyDict_GetItemWithError(columns, key) : NULL;
    int rc = v && key && !PyErr_Occurred() ? 0 : -1;
    if (!rc && !list) {
        list = PyList_New(0);
        rc = list ? PyDict_SetItem(columns, key, list) : -1;
        Py_XDECREF(list); /* the dict has it */
    }
    while (!rc && PyList_Size(list) < row)
        rc = PyList_Append(list, Py_None);
    if (!rc)
        rc = PyList_Append(list, v);
    Py_XDECREF(key);
    Py_XDECREF(v);
    return rc;
}

static int put_record(PyObject *columns, const ncclscope_record *rec, Py_ssize_t row)
{
    static const struct {
        const char *name;
        int what;
    } heads[] = {{"line", LINE}, {"host", HOST}, {"pid", PID}, {"tid", TID}, {"device", DEVICE}};
    ncclscope_field f;
    ncclscope_text text;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        if (put(columns, heads[i].name, row, say(rec, heads[i].what)))
            return -1;
    for (size_t i = 0; ncclscope_record_field(rec, i, &f, &text) == NCCLSCOPE_OK; i++)
        if (put(columns, ncclscope_record_field_name(rec, f, NULL), row, value(rec, f, text)))
            return -1;
    return 0;
}

static PyObject *reader_table(PyObject *o, PyObject *args)
{
    struct reader *self = (struct reader *)o;
    const char *kind;
    const ncclscope_record *rec;
    Py_ssize_t rows = 0;
    int rc = 0;
    if (!PyArg_ParseTuple(args, "s", &kind))
        return NULL;
    if (let_go(self))
        return NULL;
    Py_CLEAR(self->current);
    PyObject *columns = PyDict_New();
    while (columns && (rc = advance(self, &rec)) == NCCLSCOPE_OK)
        if (!strcmp(ncclscope_record_kind_name(rec), kind) && (rc = put_record(columns, rec, rows++)))
            break;
    PyObject *key, *list;
    Py_ssize_t at = 0;
    while (rc >= 0 && columns && PyDict_Next(columns, &at, &key, &list))
        while (rc >= 0 && PyList_Size(list) < rows)
            rc = PyList_Append(list, Py_None);
    if (rc < 0)
        Py_CLEAR(columns);
    return columns;
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
    {"table", reader_table, METH_VARARGS, "table(kind): what is left of the log, of one kind: {field: [value ...]}."},
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
    static const char *const levels[] = {"", "INFO", "WARN", "TRACE", "CALL", "VERSION", "OTHER", "ATTN", "DIAG"};
    field_numbers = PyDict_New();
    for (int i = 0; i < LEVELS; i++)
        level_names[i] = PyUnicode_InternFromString(levels[i]);
    for (ncclscope_field f = 1; field_numbers && f < OWN; f++) {
        const char *name = ncclscope_field_name(f);
        PyObject *n = name ? PyLong_FromLong(f) : NULL;
        if (name && (!n || PyDict_SetItemString(field_numbers, name, n)))
            return -1;
        Py_XDECREF(n);
    }
    return !field_numbers || py_add_type(module, &record_spec, &record_type) ||
                   py_add_type(module, &reader_spec, &reader_type)
               ? -1
               : 0;
}
