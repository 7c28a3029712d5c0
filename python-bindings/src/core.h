/* core.h - the extension module ncclscope._core: what its files share. Written for the stable ABI of CPython 3.9 and later. */
#ifndef NCCLSCOPE_PY_CORE_H
#define NCCLSCOPE_PY_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ncclscope/probe.h>
#include <ncclscope/rows.h>

#include <stdbool.h>

/* Raises the exception of errors.py for this code, with the sentence of `e`, or `words` where it has none. Always NULL. */
PyObject *py_raise(int code, const ncclscope_error *e, const char *words);

/* A new object of a type, zeroed; and what its own memory goes back by, as the last of its deallocator. */
PyObject *py_make(PyTypeObject *type);
void py_release(PyObject *self);

/* Bytes of a log as text: what is no UTF-8 is kept as Python keeps it in names of files (surrogateescape). None for ptr NULL. */
PyObject *py_text(ncclscope_text t);

/* Collects what the library writes. py_sink_take is called without the GIL. */
struct py_sink {
    char *bytes;
    size_t len, cap;
};
int py_sink_take(void *user, const char *bytes, size_t size);
PyObject *py_sink_text(struct py_sink *s);  /* a str, and the sink is empty; NULL with an exception */
PyObject *py_sink_bytes(struct py_sink *s); /* the same as bytes */

/* The grammar behind a Grammar object, borrowed; NULL with an exception if `o` is none. */
ncclscope_grammar *py_grammar(PyObject *o);

/* The model behind a Model object, borrowed; NULL with an exception: it is none, or a thread works on it without the GIL. Whoever does so
 * says when it begins and when it ends. */
ncclscope_model *py_model(PyObject *o);
void py_model_busy(PyObject *o, bool busy);

/* What is done with a code: None, or NULL with the exception. */
PyObject *py_done(int rc, const ncclscope_error *e, const char *what);

/* rows(table, first, n): a list of tuples; rows(table): how many there are. Of the model, or of the findings where `m` is NULL. */
PyObject *py_rows(const ncclscope_model *m, const ncclscope_findings *f, PyObject *args);
PyObject *py_tables(PyObject *self, PyObject *unused);

/* A Record, with a copy of all that it says; NULL with an exception. */
PyObject *py_record(PyObject *grammar, const ncclscope_record *rec);

/* A RecordTable of columns that are filled, which has them from then on; NULL with an exception. */
struct columns;
PyObject *py_table(struct columns *c, const char *kind);

/* A capsule "arrow_array_stream" of such columns. */
PyObject *py_arrow_columns(struct columns *c);

/* A capsule "arrow_array_stream" of the rows of a table; `owner` lends them. NULL with an exception. */
PyObject *py_arrow_stream(PyObject *owner, const ncclscope_model *m, const ncclscope_findings *f, int table);

/* Make the types of a file and put them into the module: 0, or -1 with an exception. */
int py_add_record(PyObject *module);
int py_add_table(PyObject *module);
int py_add_reader(PyObject *module);
int py_add_model(PyObject *module);
int py_add_findings(PyObject *module);
int py_add_feed(PyObject *module);
int py_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

#endif
