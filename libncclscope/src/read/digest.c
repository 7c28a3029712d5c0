/* digest.c - two checksums and the length of a text. */
#include "read/digest.h"

#include <stdio.h>
#include <zlib.h>

void nsc_digest_begin(struct nsc_digest *d)
{
    *d = (struct nsc_digest){.crc = crc32(0, NULL, 0), .adler = adler32(0, NULL, 0)};
}

void nsc_digest_add(struct nsc_digest *d, const char *bytes, size_t n)
{
    d->crc = crc32(d->crc, (const unsigned char *)bytes, (unsigned)n);
    d->adler = adler32(d->adler, (const unsigned char *)bytes, (unsigned)n);
    d->bytes += n;
}

void nsc_digest_print(const struct nsc_digest *d, char *out, size_t size)
{
    snprintf(out, size, "%08lx%08lx-%llu", d->crc, d->adler, (unsigned long long)d->bytes);
}
