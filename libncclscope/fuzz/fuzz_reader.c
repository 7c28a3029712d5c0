/* fuzz_reader.c - any bytes, cut anywhere, through reader, model, rules and both reports: no crash, no leak, and the same JSON as in
 * one piece. The last byte of the input says how it is cut. */
#include "target.h"

static struct text json_of(const uint8_t *data, size_t size, size_t chunk)
{
    ncclscope_findings *f = NULL;
    struct text out = {0}, page = {0};
    ncclscope_model *m = model_of(data, size, chunk);
    must(ncclscope_analyse(&f, m, NULL) == 0);
    must(ncclscope_report(m, f, "json", 0, 0, take, &out) == 0);
    if (chunk > size) {
        must(ncclscope_report(m, f, "text", 60, 0, take, &page) == 0);
        must_be_harmless(&page);
    }
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t chunk = size ? (size_t)data[size - 1] + 1 : 1;
    struct text whole = json_of(data, size, size + 1), cut = json_of(data, size, chunk);
    must(whole.len == cut.len && (!whole.len || !memcmp(whole.bytes, cut.bytes, whole.len)));
    free(whole.bytes);
    free(cut.bytes);
    return 0;
}
