/* source_gzip.c - gzip to text: members one after the other; a cut or damaged stream gives what came before it. */
#include "base/alloc.h"
#include "read/source.h"

#include <zlib.h>

enum { RAW = 64 * 1024 };

struct nsc_gunzip {
    z_stream z;
    bool in_member, ended;
    unsigned char raw[RAW];
};

int nsc_gunzip_new(struct nsc_gunzip **out, ncclscope_error *err)
{
    struct nsc_gunzip *gz = nsc_alloc(sizeof *gz);
    *out = NULL;
    if (!gz || inflateInit2(&gz->z, 15 + 16) != Z_OK) {
        nsc_free(gz);
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    gz->in_member = true;
    *out = gz;
    return NCCLSCOPE_OK;
}

void nsc_gunzip_free(struct nsc_gunzip *gz)
{
    if (gz)
        inflateEnd(&gz->z);
    nsc_free(gz);
}

/* More raw bytes, if none are left. OK, END, MORE, EIO. */
static int refill(struct nsc_source *s, ncclscope_error *err)
{
    struct nsc_gunzip *gz = s->gz;
    size_t got;
    if (gz->z.avail_in)
        return NCCLSCOPE_OK;
    int rc = nsc_source_raw(s, gz->raw, sizeof gz->raw, &got, err);
    gz->z.next_in = gz->raw;
    gz->z.avail_in = (uInt)got;
    return rc;
}

/* Behind a member: another one, zero padding (tapes, blocks) to be skipped, or the end. OK when a member begins. */
static int next_member(struct nsc_source *s, ncclscope_error *err)
{
    struct nsc_gunzip *gz = s->gz;
    for (;;) {
        int rc = refill(s, err);
        if (rc != NCCLSCOPE_OK)
            return rc;
        if (*gz->z.next_in)
            break;
        gz->z.next_in++;
        gz->z.avail_in--;
    }
    if (*gz->z.next_in != 0x1f)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "other bytes follow the gzip data");
    gz->in_member = true;
    return inflateReset(&gz->z) == Z_OK ? NCCLSCOPE_OK : NCCLSCOPE_EDATA;
}

int nsc_gunzip_read(struct nsc_source *s, void *to, size_t size, size_t *got, ncclscope_error *err)
{
    struct nsc_gunzip *gz = s->gz;
    *got = 0;
    if (gz->ended)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "gzip data is damaged");
    gz->z.next_out = to;
    gz->z.avail_out = (uInt)size;
    while (gz->z.avail_out == size) {
        int rc = gz->in_member ? refill(s, err) : next_member(s, err);
        if (rc == NCCLSCOPE_END && gz->in_member)
            return nsc_fail(err, NCCLSCOPE_EDATA, 0, "gzip data ends early");
        if (rc != NCCLSCOPE_OK)
            return rc;
        int z = inflate(&gz->z, Z_NO_FLUSH);
        if (z == Z_STREAM_END)
            gz->in_member = false;
        else if (z != Z_OK && z != Z_BUF_ERROR) {
            gz->ended = true; /* what was unpacked before the damage still counts */
            break;
        }
    }
    *got = size - gz->z.avail_out;
    return *got ? NCCLSCOPE_OK : nsc_fail(err, NCCLSCOPE_EDATA, 0, "gzip data is damaged");
}
