/* digest.h - is this the very text that was read before? Two checksums and the length of what a source gives. */
#ifndef NSC_DIGEST_H
#define NSC_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct nsc_digest {
    unsigned long crc, adler;
    uint64_t bytes;
};

void nsc_digest_begin(struct nsc_digest *d);
void nsc_digest_add(struct nsc_digest *d, const char *bytes, size_t n);
void nsc_digest_print(const struct nsc_digest *d, char *out, size_t size);

#endif
