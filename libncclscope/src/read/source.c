/* source.c - a path to bytes: opens, looks at the first bytes, chooses the wrapper. */
#include "read/source.h"

#include "base/alloc.h"
#include "base/neutral.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEEK = 4096, MAGIC = 10 /* bytes of the longest in formats.def, but tar's */ };

static const struct nsc_format formats[] = {
#define FORMAT(words, at, magic, command, method, number, files) \
    {words, magic, command, method, at, sizeof magic - 1, number, files},
#include "formats.def"
#undef FORMAT
};

static const struct nsc_format *format_of(const unsigned char *head, size_t len)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (len >= formats[i].at + formats[i].len && !memcmp(head + formats[i].at, formats[i].magic, formats[i].len))
            return &formats[i];
    return NULL;
}

/* What is not read here is told with what unpacks it. */
static int refuse_packed(const struct nsc_format *f, ncclscope_error *err)
{
    return nsc_fail(err, NCCLSCOPE_EUNSUPPORTED, 0, "is %s, which is not read%s: unpack it first (%s FILE | ncclscope)",
                    f->words, f->files ? " here" : "", f->command);
}

enum { ASKED_EACH_MS = 100 };

static bool is_stopped(struct nsc_source *s)
{
    s->stopped = s->stopped || (s->watch.stop && s->watch.stop(s->watch.user));
    return s->stopped;
}

/* A pipe that says nothing: until it does, or nobody wants it any more. */
static void wait_for_bytes(struct nsc_source *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    while (s->waits && s->watch.stop && poll(&p, 1, ASKED_EACH_MS) <= 0)
        if (is_stopped(s))
            return;
}

static int read_fd(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err)
{
    ssize_t n = -1;
    wait_for_bytes(s);
    while (!s->stopped && (n = read(s->fd, to, size)) < 0 && errno == EINTR)
        is_stopped(s);
    *got = n > 0 ? (size_t)n : 0;
    s->bytes += *got;
    if (s->stopped)
        return NCCLSCOPE_END;
    if (n < 0)
        return nsc_fail(err, NCCLSCOPE_EIO, errno, "cannot read: %s", nsc_strerror(errno));
    return n ? NCCLSCOPE_OK : NCCLSCOPE_END;
}

static int take_fed(struct nsc_source *s, void *to, size_t size, size_t *got)
{
    struct nsc_fed *f = &s->fed;
    *got = f->len - f->at < size ? f->len - f->at : size;
    if (*got)
        memcpy(to, f->bytes + f->at, *got);
    f->at += *got;
    if (f->at == f->len)
        f->at = f->len = 0;
    return *got ? NCCLSCOPE_OK : f->whole ? NCCLSCOPE_END : NCCLSCOPE_MORE;
}

static int take(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err)
{
    if (s->fed.on)
        return take_fed(s, to, size, got);
    if (s->outer) {
        int rc = nsc_packed_read(s->outer->files, to, size, got, err);
        s->stopped = s->stopped || s->outer->stopped;
        s->bytes += *got;
        return rc;
    }
    if (!s->pull)
        return read_fd(s, to, size, got, err);
    ptrdiff_t n = s->pull(s->pull_user, to, size);
    bool fine = n >= 0 && (size_t)n <= size;
    *got = fine ? (size_t)n : 0;
    s->bytes += *got;
    if (!fine)
        return nsc_fail(err, NCCLSCOPE_EIO, 0, "cannot read: the function that reads for it failed");
    return n ? NCCLSCOPE_OK : NCCLSCOPE_END;
}

int nsc_source_raw(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err)
{
    size_t left = s->peek_len - s->peek_at;
    if (!left)
        return take(s, to, size, got, err);
    *got = left < size ? left : size;
    memcpy(to, s->peeked + s->peek_at, *got);
    s->peek_at += *got;
    return NCCLSCOPE_OK;
}

/* As what lies in the outermost layer: text, or an archive. */
static int unpack(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err)
{
    struct nsc_head *h = s->head;
    if (!h || h->at == h->len)
        return s->gz       ? nsc_gunzip_read(s, to, size, got, err)
               : s->stream ? nsc_packed_read(s->stream, to, size, got, err)
                           : nsc_source_raw(s, to, size, got, err);
    *got = h->len - h->at < size ? h->len - h->at : size;
    memcpy(to, h->bytes + h->at, *got);
    h->at += *got;
    return NCCLSCOPE_OK;
}

/* A tar file begins with a name of up to 100 bytes, filled with zeros: no line of a log. Nobody waits for more of one. */
static bool may_be_tar(const unsigned char *head, size_t len)
{
    enum { NAME = 101 };
    return len < 512 && !memchr(head, '\n', len < NAME ? len : NAME) && (len < NAME || memchr(head, 0, NAME));
}

/* Is an archive in what is packed, or is it one? */
static int look_inside(struct nsc_source *s, ncclscope_error *err)
{
    bool packed = s->gz || s->stream;
    int rc = NCCLSCOPE_OK;
    size_t got;
    if (s->fed.on)
        return rc;
    if (packed && !(s->head = nsc_alloc(sizeof *s->head)))
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    unsigned char *bytes = packed ? s->head->bytes : s->peeked;
    size_t *len = packed ? &s->head->len : &s->peek_len;
    while (may_be_tar(bytes, *len) && rc == NCCLSCOPE_OK) {
        rc = packed ? s->gz ? nsc_gunzip_read(s, bytes + *len, 512 - *len, &got, err)
                            : nsc_packed_read(s->stream, bytes + *len, 512 - *len, &got, err)
                    : take(s, bytes + *len, PEEK - *len, &got, err);
        *len += got;
    }
    const struct nsc_format *f = format_of(bytes, *len);
    if (rc == NCCLSCOPE_ENOMEM || rc == NCCLSCOPE_EIO || !f || !f->files)
        return rc == NCCLSCOPE_ENOMEM || rc == NCCLSCOPE_EIO ? rc : NCCLSCOPE_OK;
    s->inside = f;
    rc = s->outer ? NCCLSCOPE_EUNSUPPORTED : nsc_packed_new(&s->files, s, unpack, f, err);
    return rc == NCCLSCOPE_EUNSUPPORTED ? refuse_packed(f, err) : rc;
}

/* The magic may arrive in pieces when the input is a pipe: read until the longest could be there. OK, or MORE where it is fed. */
static int find_format(struct nsc_source *s, const char *path, ncclscope_error *err)
{
    int rc = NCCLSCOPE_OK;
    s->peeked = s->peeked ? s->peeked : nsc_alloc(PEEK);
    if (!s->peeked)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    while (s->peek_len < MAGIC && rc == NCCLSCOPE_OK) {
        size_t got;
        rc = take(s, s->peeked + s->peek_len, PEEK - s->peek_len, &got, err);
        s->peek_len += got;
    }
    if (rc < 0 || rc == NCCLSCOPE_MORE)
        return rc;
    s->known = true;
    const struct nsc_format *f = format_of(s->peeked, s->peek_len);
    if (s->peek_len >= 2 && s->peeked[0] == 0x1f && s->peeked[1] == 0x8b)
        rc = nsc_gunzip_new(&s->gz, err);
    else if (s->own_fd && nsc_is_store(s->peeked, s->peek_len)) {
        nsc_let_go(s->fd);
        s->fd = -1;
        return nsc_stored_new(&s->stored, path, s->scan, err);
    } else if (f && !f->files) {
        s->format = f;
        rc = s->fed.on ? NCCLSCOPE_EUNSUPPORTED : nsc_packed_new(&s->stream, s, nsc_source_raw, f, err);
        if (rc == NCCLSCOPE_EUNSUPPORTED)
            return refuse_packed(f, err);
    } else
        rc = NCCLSCOPE_OK;
    s->utf16.big_endian = s->peek_len >= 2 && s->peeked[0] == 0xfe && s->peeked[1] == 0xff;
    s->utf16.on = s->utf16.big_endian || (s->peek_len >= 2 && s->peeked[0] == 0xff && s->peeked[1] == 0xfe);
    return rc ? rc : look_inside(s, err);
}

static int open_source(struct nsc_source *s, const char *path, ncclscope_error *err)
{
    struct stat st;
    if (strcmp(path, "-") != 0 && nsc_is_open_store(path)) {
        s->fd = -1;
        s->known = true;
        return nsc_stored_new(&s->stored, path, s->scan, err);
    }
    if (strcmp(path, "-") != 0) {
        s->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (s->fd < 0)
            return nsc_fail(err, NCCLSCOPE_EIO, errno, "cannot open: %s", nsc_strerror(errno));
        s->own_fd = true;
        if (fstat(s->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
            nsc_source_close(s);
            return nsc_fail(err, NCCLSCOPE_EIO, EISDIR, "cannot open: %s", nsc_strerror(EISDIR));
        }
    }
    s->waits = fstat(s->fd, &st) != 0 || !S_ISREG(st.st_mode);
    int rc = find_format(s, path, err);
    if (rc < 0)
        nsc_source_close(s);
    return rc;
}

int nsc_source_open(struct nsc_source *s, const char *path, const struct nsc_watch *watch, ncclscope_error *err)
{
    char *store = NULL;
    *s = (struct nsc_source){.fd = STDIN_FILENO, .watch = *watch};
    bool one_scan = nsc_names_stored_scan(path, &store, &s->scan);
    int rc = open_source(s, one_scan ? store : path, err);
    free(store);
    return rc;
}

void nsc_source_of(struct nsc_source *s, ncclscope_read_fn *pull, void *user)
{
    *s = (struct nsc_source){.fd = -1, .pull = pull, .pull_user = user};
}

void nsc_source_of_member(struct nsc_source *s, struct nsc_source *outer)
{
    *s = (struct nsc_source){.fd = -1, .outer = outer, .watch = outer->watch};
}

int nsc_source_member(struct nsc_source *s, const char **name, ncclscope_error *err)
{
    return nsc_packed_next(s->files, name, err);
}

void nsc_source_of_fd(struct nsc_source *s, int fd)
{
    *s = (struct nsc_source){.fd = fd};
}

void nsc_source_of_fed(struct nsc_source *s)
{
    *s = (struct nsc_source){.fd = -1, .fed = {.on = true}};
}

int nsc_source_feed(struct nsc_source *s, const void *data, size_t size)
{
    struct nsc_fed *f = &s->fed;
    if (f->at > f->len / 2) { /* who feeds without taking all records in between shall not fill the memory */
        memmove(f->bytes, f->bytes + f->at, f->len - f->at);
        f->len -= f->at;
        f->at = 0;
    }
    char *grown = nsc_grow(f->bytes, &f->cap, f->len + size + 1, 1);
    if (!grown)
        return NCCLSCOPE_ENOMEM;
    f->bytes = grown;
    if (size)
        memcpy(grown + f->len, data, size);
    f->len += size;
    s->bytes += size;
    return NCCLSCOPE_OK;
}

int nsc_source_read(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err)
{
    *got = 0;
    if (s->at_end || is_stopped(s))
        return NCCLSCOPE_END;
    if (s->watch.most && (s->gz || s->stream || s->outer) && s->given >= s->watch.most) {
        s->at_end = true;
        return nsc_fail(err, NCCLSCOPE_EDATA, 0,
                        "holds more than %llu bytes when it is unpacked, which is the limit: what follows was not read",
                        (unsigned long long)s->watch.most);
    }
    int rc = s->known ? NCCLSCOPE_OK : find_format(s, NULL, err);
    if (rc == NCCLSCOPE_OK)
        rc = s->stored     ? nsc_stored_read(s->stored, to, size, got, err)
             : s->files    ? refuse_packed(s->inside, err)
             : s->utf16.on ? nsc_utf16_read(s, to, size, got, err)
                           : unpack(s, to, size, got, err);
    s->at_end = rc != NCCLSCOPE_OK && rc != NCCLSCOPE_MORE;
    s->truncated = rc == NCCLSCOPE_EDATA;
    s->given += *got;
    return rc;
}

unsigned nsc_source_format(const struct nsc_source *s)
{
    return s->gz ? 1 : s->stream ? s->format->number : 0;
}

void nsc_source_close(struct nsc_source *s)
{
    if (s->own_fd && s->fd >= 0)
        close(s->fd);
    nsc_gunzip_free(s->gz);
    nsc_packed_free(s->files);
    nsc_packed_free(s->stream);
    nsc_free(s->head);
    nsc_stored_free(s->stored);
    nsc_free(s->peeked);
    nsc_free(s->fed.bytes);
    *s = (struct nsc_source){.fd = -1};
}
