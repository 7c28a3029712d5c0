/* source_archive.c - what libarchive unpacks: a stream (zstd, xz ...) to its bytes, an archive (tar, zip) to its files, one after the other. */
#include "base/alloc.h"
#include "read/source.h"

#include <errno.h>

#if NSC_ARCHIVES
#include <archive.h>
#include <archive_entry.h>

enum { PIECE = 64 * 1024 };

struct nsc_packed {
    struct archive *a;
    struct nsc_source *from;
    nsc_lower_fn *read; /* of `from`, what is packed */
    const char *words;  /* "compressed by zstd" */
    const void *block;  /* unpacked, and not yet taken */
    size_t left;
    bool ended, broken;
    int rc; /* of reading what is packed: OK, or why it stopped */
    ncclscope_error why;
    unsigned char piece[PIECE];
};

/* Others would run a program to unpack, and a log runs nothing: where libarchive cannot do it by itself it says so at once. */
static const struct {
    const char *name;
    int (*support)(struct archive *);
} methods[] = {
    {"zstd", archive_read_support_filter_zstd},  {"xz", archive_read_support_filter_xz},
    {"lzma", archive_read_support_filter_lzma},  {"bzip2", archive_read_support_filter_bzip2},
    {"lz4", archive_read_support_filter_lz4},    {"lzip", archive_read_support_filter_lzip},
    {"tar", archive_read_support_format_tar},    {"zip", archive_read_support_format_zip_streamable},
    {"Z", archive_read_support_filter_compress},
};

static la_ssize_t give(struct archive *a, void *user, const void **bytes)
{
    struct nsc_packed *p = user;
    size_t got = 0;
    (void)a;
    *bytes = p->piece;
    p->rc = p->read(p->from, p->piece, sizeof p->piece, &got, &p->why);
    return got || p->rc == NCCLSCOPE_END ? (la_ssize_t)got : ARCHIVE_FATAL;
}

static bool supports(struct archive *a, const char *method)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (!strcmp(methods[i].name, method))
            return methods[i].support(a) == ARCHIVE_OK;
    return false;
}

/* What happened below, or to what is packed. */
static int failed(const struct nsc_packed *p, ncclscope_error *err)
{
    if (p->from->stopped)
        return NCCLSCOPE_END;
    if (p->rc < 0) {
        if (err)
            *err = p->why;
        return p->rc;
    }
    if (archive_errno(p->a) == ENOMEM)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    return nsc_fail(err, NCCLSCOPE_EDATA, 0, "is %s, and damaged, or ends early", p->words);
}

int nsc_packed_new(struct nsc_packed **out, struct nsc_source *from, nsc_lower_fn *read, const struct nsc_format *f,
                   ncclscope_error *err)
{
    struct nsc_packed *p = *out = nsc_alloc(sizeof *p);
    if (!p || !(p->a = archive_read_new()))
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    p->from = from;
    p->read = read;
    p->words = f->words;
    bool fine = supports(p->a, f->method);
    if (fine && !f->files)
        fine = archive_read_support_format_raw(p->a) == ARCHIVE_OK &&
               archive_read_support_format_empty(p->a) == ARCHIVE_OK;
    if (!fine)
        return NCCLSCOPE_EUNSUPPORTED;
    if (archive_read_open(p->a, p, NULL, give, NULL) != ARCHIVE_OK)
        return failed(p, err);
    struct archive_entry *entry;
    int r = f->files ? ARCHIVE_OK : archive_read_next_header(p->a, &entry);
    p->ended = f->files || r == ARCHIVE_EOF;
    return r == ARCHIVE_OK || r == ARCHIVE_EOF ? NCCLSCOPE_OK : failed(p, err);
}

int nsc_packed_read(struct nsc_packed *p, void *to, size_t size, size_t *got, ncclscope_error *err)
{
    la_int64_t offset;
    *got = 0;
    while (!p->left && !p->ended) {
        int r = archive_read_data_block(p->a, &p->block, &p->left, &offset);
        p->ended = r != ARCHIVE_OK && r != ARCHIVE_WARN;
        p->broken = p->ended && r != ARCHIVE_EOF;
    }
    *got = p->left < size ? p->left : size;
    if (*got)
        memcpy(to, p->block, *got);
    p->block = (const char *)p->block + *got;
    p->left -= *got;
    return *got ? NCCLSCOPE_OK : p->broken ? failed(p, err) : NCCLSCOPE_END;
}

/* Files that a person put there: no folders, no links, none that begins with a dot, as in a directory. */
static bool is_wanted(struct archive_entry *entry, const char *name)
{
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) || !name || !name[0])
        return false;
    for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (at[0] == '.' && at[1] && at[1] != '/' && !(at[1] == '.' && at[2] == '/'))
            return false;
    return true;
}

int nsc_packed_next(struct nsc_packed *p, const char **name, ncclscope_error *err)
{
    struct archive_entry *entry;
    int r = ARCHIVE_OK;
    p->left = 0;
    while (!p->broken && ((r = archive_read_next_header(p->a, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN)) {
        *name = archive_entry_pathname(entry);
        *name = *name ? *name : archive_entry_pathname_utf8(entry);
        if (!is_wanted(entry, *name))
            continue;
        p->ended = false;
        if (archive_entry_is_encrypted(entry))
            return nsc_fail(err, NCCLSCOPE_EUNSUPPORTED, 0, "holds files that are encrypted, which are not read");
        return NCCLSCOPE_OK;
    }
    if (r == ARCHIVE_EOF && !p->from->stopped)
        return p->rc < 0 ? failed(p, err) : NCCLSCOPE_END;
    p->broken = true;
    return failed(p, err);
}

void nsc_packed_free(struct nsc_packed *p)
{
    if (p && p->a)
        archive_read_free(p->a);
    nsc_free(p);
}

const char *nsc_packed_version(void)
{
    return strchr(archive_version_string(), ' ') + 1; /* "libarchive 3.6.2" */
}

#else /* built without libarchive: everything is refused by name */

int nsc_packed_new(struct nsc_packed **out, struct nsc_source *from, nsc_lower_fn *read, const struct nsc_format *f,
                   ncclscope_error *err)
{
    (void)from, (void)read, (void)f, (void)err;
    *out = NULL;
    return NCCLSCOPE_EUNSUPPORTED;
}

int nsc_packed_read(struct nsc_packed *p, void *to, size_t size, size_t *got, ncclscope_error *err)
{
    (void)p, (void)to, (void)size, (void)got, (void)err;
    return NCCLSCOPE_EUNSUPPORTED;
}

int nsc_packed_next(struct nsc_packed *p, const char **name, ncclscope_error *err)
{
    (void)p, (void)name, (void)err;
    return NCCLSCOPE_EUNSUPPORTED;
}

void nsc_packed_free(struct nsc_packed *p)
{
    (void)p;
}

const char *nsc_packed_version(void)
{
    return NULL;
}

#endif
