/* record.c - Record: one line of a log. It has all that it says in one piece of memory; Python's values are made when they are asked for. */
#include "core.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { OWN = 1000, LEVELS = 9 };
enum text { HOST, MESSAGE, LOCATION, TIME, POD, CONTAINER, PHYSICAL, FAMILY, TEXTS };

struct field {
    ncclscope_field number;
    char type;        /* 'u', 'i', 'f': a number, which it is; else its text is all */
    const char *name; /* of an added row, as old as the grammar; NULL: ncclscope_field_name */
    union {
        uint64_t u;
        int64_t i;
        double f;
    } value;
    ncclscope_text text;
};

struct record {
    PyObject_VAR_HEAD PyObject *grammar; /* whose names its kind and fields have */
    ncclscope_kind kind;
    const char *kind_name;
    int level, flags;
    int64_t line, offset, repeated, pid, tid, device, launcher_rank;
    ncclscope_text text[TEXTS];
    size_t n;
    struct field field[]; /* and the bytes of all texts */
};

static PyTypeObject *record_type;
static PyObject *kind_names[OWN], *level_names[LEVELS], *field_numbers; /* {"src": 12} */
static char field_types[OWN];                                           /* the letter of each, 0: not asked yet */

static PyObject *again(PyObject *o)
{
    Py_XINCREF(o);
    return o;
}

/* ---- made of the library's ---- */

static char type_of(const ncclscope_record *rec, ncclscope_field f, const char **name)
{
    char type = 't';
    if (f < OWN && field_types[f])
        return field_types[f];
    const char *found = ncclscope_record_field_name(rec, f, &type);
    if (f < OWN)
        field_types[f] = type;
    else
        *name = found;
    return type;
}

/* A number where the field is one and can be: hexadecimal ones, names and texts stay as they stand. */
static void put_field(struct field *x, const ncclscope_record *rec, ncclscope_field f, ncclscope_text text)
{
    *x = (struct field){.number = f, .text = text};
    x->type = type_of(rec, f, &x->name);
    int rc = x->type == 'u'   ? ncclscope_record_u64(rec, f, &x->value.u)
             : x->type == 'i' ? ncclscope_record_i64(rec, f, &x->value.i)
             : x->type == 'f' ? ncclscope_record_f64(rec, f, &x->value.f)
                              : NCCLSCOPE_OK;
    if (rc != NCCLSCOPE_OK)
        x->type = 't';
}

/* Most texts are parts of the line: they are carried as such, the others behind it. Returns where the next one goes. */
static char *carry(ncclscope_text *t, const ncclscope_text *line, char *bytes, char *free)
{
    if (!t->ptr)
        return free;
    if (line->ptr && t->ptr >= line->ptr && t->ptr + t->len <= line->ptr + line->len) {
        t->ptr = bytes + (t->ptr - line->ptr);
        return free;
    }
    memcpy(free, t->ptr, t->len);
    t->ptr = free;
    return free + t->len;
}

static void texts_of(ncclscope_text *text, const ncclscope_record *rec)
{
    text[HOST] = ncclscope_record_host(rec);
    text[MESSAGE] = ncclscope_record_message(rec);
    text[LOCATION] = ncclscope_record_location(rec);
    text[TIME] = ncclscope_record_time(rec);
    text[POD] = ncclscope_record_pod(rec);
    text[CONTAINER] = ncclscope_record_container(rec);
    text[PHYSICAL] = ncclscope_record_physical(rec);
    text[FAMILY] = ncclscope_record_family(rec);
}

/* How many fields, and how many bytes they and the texts take at most. */
static size_t count(const ncclscope_record *rec, const ncclscope_text *text, size_t *bytes)
{
    size_t n = 0;
    ncclscope_field f;
    ncclscope_text t;
    *bytes = 0;
    for (int i = 0; i < TEXTS; i++)
        *bytes += text[i].len;
    for (; ncclscope_record_field(rec, n, &f, &t) == NCCLSCOPE_OK; n++)
        *bytes += sizeof(struct field) + t.len;
    return n;
}

PyObject *py_record(PyObject *grammar, const ncclscope_record *rec)
{
    ncclscope_text text[TEXTS];
    size_t bytes;
    texts_of(text, rec);
    size_t n = count(rec, text, &bytes);
    allocfunc alloc = (allocfunc)PyType_GetSlot(record_type, Py_tp_alloc);
    struct record *x = (struct record *)alloc(record_type, (Py_ssize_t)bytes);
    if (!x)
        return NULL;
    x->grammar = again(grammar);
    x->kind = ncclscope_record_kind(rec);
    x->kind_name = ncclscope_record_kind_name(rec);
    x->level = ncclscope_record_level(rec);
    x->flags = ncclscope_record_flags(rec);
    x->line = (int64_t)ncclscope_record_line(rec);
    x->offset = (int64_t)ncclscope_record_offset(rec);
    x->repeated = (int64_t)ncclscope_record_repeated(rec);
    x->pid = ncclscope_record_pid(rec);
    x->tid = ncclscope_record_tid(rec);
    x->device = ncclscope_record_dev(rec);
    x->launcher_rank = ncclscope_record_launcher_rank(rec);
    x->n = n;
    ncclscope_text line = text[PHYSICAL];
    char *to = (char *)&x->field[n], *end = to + line.len;
    if (line.len)
        memcpy(to, line.ptr, line.len);
    for (int i = 0; i < TEXTS; i++)
        end = carry(&text[i], &line, to, end);
    memcpy(x->text, text, sizeof text);
    for (size_t i = 0; i < n; i++) {
        ncclscope_field f;
        ncclscope_text t;
        ncclscope_record_field(rec, i, &f, &t);
        put_field(&x->field[i], rec, f, t);
        end = carry(&x->field[i].text, &line, to, end);
    }
    return (PyObject *)x;
}

static void record_free(PyObject *self)
{
    Py_CLEAR(((struct record *)self)->grammar);
    py_release(self);
}

/* ---- what stands before the message, and the message ---- */

static PyObject *get_kind(PyObject *self, void *unused)
{
    const struct record *x = (struct record *)self;
    (void)unused;
    if (x->kind < 0 || x->kind >= OWN) /* of a row that was added: one grammar's alone */
        return PyUnicode_FromString(x->kind_name);
    if (!kind_names[x->kind])
        kind_names[x->kind] = PyUnicode_InternFromString(x->kind_name);
    return again(kind_names[x->kind]);
}

static PyObject *get_level(PyObject *self, void *unused)
{
    int level = ((struct record *)self)->level;
    (void)unused;
    return again(level_names[level > 0 && level < LEVELS ? level : 0]);
}

static PyObject *get_torn(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((struct record *)self)->flags & NCCLSCOPE_FLAG_TORN);
}

static PyObject *get_text(PyObject *self, void *what)
{
    return py_text(((struct record *)self)->text[(intptr_t)what]);
}

static PyObject *get_number(PyObject *self, void *offset)
{
    int64_t v;
    memcpy(&v, (char *)self + (intptr_t)offset, sizeof v);
    if (v < 0)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(v);
}

/* ---- fields ---- */

static PyObject *value(const struct field *x)
{
    switch (x->type) {
    case 'u': return PyLong_FromUnsignedLongLong(x->value.u);
    case 'i': return PyLong_FromLongLong(x->value.i);
    case 'f': return PyFloat_FromDouble(x->value.f);
    default: return py_text(x->text);
    }
}

static const char *name_of(const struct field *x)
{
    return x->name ? x->name : ncclscope_field_name(x->number);
}

static PyObject *get_fields(PyObject *self, void *unused)
{
    const struct record *x = (struct record *)self;
    PyObject *all = PyDict_New();
    (void)unused;
    for (size_t i = 0; all && i < x->n; i++) {
        PyObject *v = value(&x->field[i]);
        if (!v || PyDict_SetItemString(all, name_of(&x->field[i]), v))
            Py_CLEAR(all);
        Py_XDECREF(v);
    }
    return all;
}

/* The field of a name; NULL: it has none such, or an exception is set. */
static const struct field *find(const struct record *x, PyObject *key)
{
    PyObject *known = PyDict_GetItemWithError(field_numbers, key);
    ncclscope_field f = known ? (ncclscope_field)PyLong_AsLong(known) : 0;
    bool added = !known && PyUnicode_Check(key);
    for (size_t i = 0; i < x->n; i++)
        if (known ? x->field[i].number == f
                  : added && x->field[i].name && !PyUnicode_CompareWithASCIIString(key, x->field[i].name))
            return &x->field[i];
    return NULL;
}

static PyObject *record_subscript(PyObject *self, PyObject *key)
{
    const struct field *found = find((struct record *)self, key);
    if (found)
        return value(found);
    if (!PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}

static PyObject *record_method_get(PyObject *self, PyObject *args)
{
    PyObject *key, *other = Py_None;
    if (!PyArg_ParseTuple(args, "O|O", &key, &other))
        return NULL;
    const struct field *found = find((struct record *)self, key);
    return found ? value(found) : PyErr_Occurred() ? NULL : again(other);
}

static PyObject *record_repr(PyObject *self)
{
    const struct record *x = (struct record *)self;
    PyObject *message = py_text(x->text[MESSAGE]);
    PyObject *made =
        message ? PyUnicode_FromFormat("<Record %s, line %lld: %R>", x->kind_name, (long long)x->line, message) : NULL;
    Py_XDECREF(message);
    return made;
}

/* clang-format off */
#define TEXT(name, what, words) {name, get_text, NULL, words, (void *)what}
#define NUMBER(name, member, words) {name, get_number, NULL, words, (void *)offsetof(struct record, member)}
static PyGetSetDef record_getters[] = {
    {"kind", get_kind, NULL, "what the line says: \"CONNECT\", \"INIT_START\", ...", NULL},
    NUMBER("line", line, "its line in the text, from 1"),
    {"level", get_level, NULL, "\"INFO\", \"WARN\", \"TRACE\", \"CALL\", \"VERSION\", \"OTHER\", \"ATTN\" or \"DIAG\"", NULL},
    TEXT("host", HOST, "the host, or pod, that printed it; None: not said"),
    NUMBER("pid", pid, "its process; None: not said"),
    NUMBER("tid", tid, "its thread; None: not said"),
    NUMBER("device", device, "the CUDA device of that thread, no rank; None: not said"),
    TEXT("message", MESSAGE, "what stands behind the level"),
    TEXT("location", LOCATION, "of a WARN: the place in NCCL's source, \"init.cc:421\"; else None"),
    TEXT("time", TIME, "as printed; None: not said"),
    TEXT("pod", POD, "from the prefix of a collector; None: not said"),
    TEXT("container", CONTAINER, "the same"),
    NUMBER("launcher_rank", launcher_rank, "the rank as the launcher counts it; None: not said"),
    NUMBER("repeated", repeated, "how many more lines a launcher folded into this one"),
    {"torn", get_torn, NULL, "whether another writer cut into it", NULL},
    TEXT("physical", PHYSICAL, "the whole line with its prefixes"),
    TEXT("family", FAMILY, "of a RECOGNISED record: the part of NCCL that speaks; else None"),
    NUMBER("offset", offset, "the place of its line in the text, bytes"),
    {"fields", get_fields, NULL, "all fields of the record, as a dict", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
/* clang-format on */
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
static PyType_Spec record_spec = {"ncclscope._core.Record", sizeof(struct record), 1, Py_TPFLAGS_DEFAULT, record_slots};

int py_add_record(PyObject *module)
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
    return !field_numbers || py_add_type(module, &record_spec, &record_type) ? -1 : 0;
}
