/* data.h - files for tests: the logs of testdata, packed and scratch files, and growing text. */
#ifndef DATA_H
#define DATA_H

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

/* What a test cannot go on without; unlike assert() it is there in every build. */
static inline void data_must(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "the test cannot %s\n", what);
    abort();
}

/* Text that grows; freed with free(ptr). */
struct data {
    char *ptr;
    size_t len, cap;
};

static inline nsc_text data_text(const struct data *d)
{
    return (nsc_text){d->ptr, d->len};
}

static inline void data_add(struct data *d, nsc_text t)
{
    data_must(t.len <= SIZE_MAX / 4, "hold so much text");
    if (d->len + t.len + 1 > d->cap) {
        d->cap = (d->len + t.len + 1) * 2;
        d->ptr = realloc(d->ptr, d->cap);
        data_must(d->ptr, "get memory");
    }
    if (t.len)
        memcpy(d->ptr + d->len, t.ptr, t.len);
    d->len += t.len;
    d->ptr[d->len] = 0;
}

/* A callback that takes bytes, of a report or of a saved model: `user` is the struct data that they go to. */
static inline int data_take(void *user, const char *bytes, size_t size)
{
    data_add(user, (nsc_text){bytes, size});
    return 0;
}

static inline void data_drop(struct data *d)
{
    free(d->ptr);
    *d = (struct data){0};
}

/* A file of testdata, unpacked by zlib where it is packed. */
static inline struct data data_load(const char *name)
{
    struct data d = {0};
    char path[600], buf[65536];
    snprintf(path, sizeof path, "%s/%s", getenv("TESTDATA") ? getenv("TESTDATA") : "testdata", name);
    gzFile f = gzopen(path, "rb");
    if (!f) {
        fprintf(stderr, "cannot open %s: is TESTDATA set?\n", path);
        exit(EXIT_FAILURE);
    }
    for (int n; (n = gzread(f, buf, sizeof buf)) > 0;)
        data_add(&d, (nsc_text){buf, (size_t)n});
    gzclose(f);
    return d;
}

/* One gzip member of `t`. */
static inline void data_pack(struct data *d, nsc_text t)
{
    z_stream z = {0};
    size_t most = t.len + t.len / 100 + 1000;
    char *to = malloc(most);
    data_must(to && deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "begin to pack");
    z.next_in = (unsigned char *)(uintptr_t)t.ptr;
    z.avail_in = (unsigned)t.len;
    z.next_out = (unsigned char *)to;
    z.avail_out = (unsigned)most;
    data_must(deflate(&z, Z_FINISH) == Z_STREAM_END, "pack");
    data_add(d, (nsc_text){to, z.total_out});
    deflateEnd(&z);
    free(to);
}

/* A new file with these bytes; its name goes to `path`. The caller removes it. */
static inline void data_file(char path[64], nsc_text t)
{
    strcpy(path, "/tmp/ncclscope-test-XXXXXX");
    int fd = mkstemp(path);
    data_must(fd >= 0, "make a file");
    for (size_t at = 0; at < t.len;) {
        ssize_t n = write(fd, t.ptr + at, t.len - at);
        data_must(n > 0, "write its file");
        at += (size_t)n;
    }
    close(fd);
}

#endif
