/* arrow.h - the Arrow C data and stream interfaces, and what whoever lends arrays by them shares. */
#ifndef NCCLSCOPE_PY_ARROW_H
#define NCCLSCOPE_PY_ARROW_H

#include "core.h"

/* ---- the interface, as its specification has it ---- */

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

enum { ARROW_BUFFERS = 3 };

/* A stream of batches with the same columns. Who lends one begins a struct with this, and hands it to py_arrow_capsule. Its functions are
 * called by whoever took the stream, in any thread, without the GIL; one that fails is out of memory. */
struct py_lent {
    int columns;
    bool (*schema)(struct py_lent *s, int column, struct ArrowSchema *out);
    ptrdiff_t (*next)(struct py_lent *s); /* the next batch: how many rows it has; 0: there is none, -1: no memory */
    bool (*array)(struct py_lent *s, int column, size_t rows, struct ArrowArray *out); /* a column of that batch */
    void (*drop)(struct py_lent *s);
};

/* A capsule "arrow_array_stream", which has `s` from then on; NULL with an exception, and `s` is dropped. */
PyObject *py_arrow_capsule(struct py_lent *s);

/* A column that may have nulls; `format` and `name` outlive it. */
void py_arrow_schema(struct ArrowSchema *s, const char *format, const char *name);
/* The same, of texts that repeat: numbers (int32) of words. */
bool py_arrow_words_schema(struct ArrowSchema *s, const char *name);

/* `name`, of malloc, goes with the schema. */
void py_arrow_own_name(struct ArrowSchema *s, char *name);

/* An array that owns what hangs on it: buffers of malloc, children, a dictionary. Buffer 0 is the bitmap of what is said. */
bool py_arrow_array(struct ArrowArray *a, int64_t length, int64_t buffers);
bool py_arrow_buffer(struct ArrowArray *a, int at, size_t size); /* of zeros */
void py_arrow_set_bit(struct ArrowArray *a, int at, size_t i);
void py_arrow_free(struct ArrowArray *a);

/* Texts as utf8, one every `stride` bytes; bytes that are no UTF-8 become U+FFFD, ptr NULL null. Beyond 2 GiB in one array: false. */
bool py_arrow_texts(struct ArrowArray *a, const char *texts, size_t n, size_t stride);
bool py_arrow_is_utf8(ncclscope_text t);

#endif
