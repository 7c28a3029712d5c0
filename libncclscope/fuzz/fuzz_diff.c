/* fuzz_diff.c - two logs with a NUL byte between them: a log does not differ from itself, and differs from the other as often as the other
 * from it. */
#include "target.h"

static size_t differences(const ncclscope_model *a, const ncclscope_findings *fa, const ncclscope_model *b,
                          const ncclscope_findings *fb, const char *format)
{
    struct text t = {0};
    size_t n = 0;
    must(ncclscope_diff(a, fa, b, fb, format, 80, NCCLSCOPE_REPORT_VERBOSE, take, &t, &n) == 0);
    must_be_harmless(&t);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    size_t first = nul ? (size_t)(nul - data) : size, skip = nul != NULL;
    ncclscope_model *m[2] = {model_of(data, first, first + 1),
                             model_of(data + first + skip, size - first - skip, size + 1)};
    ncclscope_findings *f[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        must(ncclscope_analyse(&f[i], m[i], NULL) == 0);
    must(differences(m[0], f[0], m[0], f[0], "text") == 0);
    must(differences(m[0], f[0], m[1], f[1], "json") == differences(m[1], f[1], m[0], f[0], "text"));
    for (int i = 0; i < 2; i++) {
        ncclscope_findings_free(f[i]);
        ncclscope_model_free(m[i]);
    }
    return 0;
}
