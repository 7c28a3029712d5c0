/* json.h - writes JSON through a write function: commas, escapes and nothing else. */
#ifndef NSC_JSON_H
#define NSC_JSON_H

#include "base/text.h"

typedef int nsc_write_fn(void *user, const char *bytes, size_t size);

struct nsc_out {
    nsc_write_fn *write;
    void *user;
    char buf[8192];
    size_t len;
    bool failed;
    unsigned before; /* allocations that had failed when it was made */
};

/* NULL: no memory. nsc_out_end writes what is left of it and frees it: OK, EIO, or ENOMEM where an allocation has failed since it was made,
 * as something may be missing from what was written then; NULL is fine. */
struct nsc_out *nsc_out_new(nsc_write_fn *write, void *user);
int nsc_out_end(struct nsc_out *o);

void nsc_put(struct nsc_out *o, nsc_text text);
void nsc_puts(struct nsc_out *o, const char *s);
void nsc_printf(struct nsc_out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool nsc_flush(struct nsc_out *o); /* false when a write failed */

struct nsc_json {
    struct nsc_out *out;
    bool first; /* of the object or list that is open: no comma yet */
};

/* `key` is NULL inside a list. */
void nsc_json_open(struct nsc_json *j, const char *key, char bracket);
void nsc_json_close(struct nsc_json *j, char bracket);
void nsc_json_key(struct nsc_json *j, const char *key);
void nsc_json_text(struct nsc_json *j, const char *key,
                   nsc_text text); /* null for ptr NULL; invalid UTF-8 becomes U+FFFD */
void nsc_json_string(struct nsc_json *j, const char *key, const char *s);
void nsc_json_int(struct nsc_json *j, const char *key, int64_t v);
void nsc_json_count(struct nsc_json *j, const char *key, uint64_t v);
void nsc_json_said(struct nsc_json *j, const char *key, int64_t v); /* null below 0: not said */
void nsc_json_float(struct nsc_json *j, const char *key,
                    double v); /* as printed in logs: up to 6 decimals, or 1.5e-07 */
void nsc_json_bool(struct nsc_json *j, const char *key, bool v);
void nsc_json_null(struct nsc_json *j, const char *key);

#endif
