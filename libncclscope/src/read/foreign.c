/* foreign.c - lines of other programs: a pasted topology matrix, the result rows of nccl-tests. */
#include "read/foreign.h"

static bool is_gpu_or_nic(nsc_text word)
{
    return word.len > 3 && (nsc_text_starts(word, "GPU") || nsc_text_starts(word, "NIC")) && nsc_is_digit(word.ptr[3]);
}

/* "GPU0 GPU1 ... CPU Affinity", or "GPU0 X NV18 ..." of `nvidia-smi topo -m`. */
static ncclscope_kind matrix_kind(nsc_text body)
{
    nsc_text first = nsc_next_word(&body), second = nsc_next_word(&body);
    static const char *const cells[] = {"X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS"};
    if (!is_gpu_or_nic(first))
        return NCCLSCOPE_KIND_UNKNOWN;
    if (is_gpu_or_nic(second) || nsc_text_is(second, "CPU"))
        return NCCLSCOPE_KIND_MATRIX_HEAD;
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        if (nsc_text_starts(second, cells[i]))
            return NCCLSCOPE_KIND_MATRIX_ROW;
    return NCCLSCOPE_KIND_UNKNOWN;
}

/* "  1048576  262144  float  sum  -1  20.21  51.88  77.82  0  19.9 ..." of nccl-tests: sizes, a type, an operation, a root, numbers. */
static bool is_test_row(nsc_text body)
{
    uint64_t n;
    int64_t root;
    double f;
    if (!nsc_to_u64(nsc_next_word(&body), &n) || !nsc_to_u64(nsc_next_word(&body), &n))
        return false;
    nsc_text type = nsc_next_word(&body), op = nsc_next_word(&body);
    return type.len && !nsc_is_digit(type.ptr[0]) && op.len && !nsc_is_digit(op.ptr[0]) &&
           nsc_to_i64(nsc_next_word(&body), &root) && nsc_to_f64(nsc_next_word(&body), &f) &&
           nsc_to_f64(nsc_next_word(&body), &f) && nsc_to_f64(nsc_next_word(&body), &f);
}

ncclscope_kind nsc_foreign_kind(nsc_text body)
{
    nsc_text t = nsc_text_trim(body);
    if (!t.len)
        return NCCLSCOPE_KIND_UNKNOWN;
    if (t.ptr[0] == 'G' || (t.ptr[0] == 'N' && t.len > 1 && t.ptr[1] == 'I'))
        return matrix_kind(t);
    if (t.ptr[0] == '#' && nsc_text_starts(t, "# Collective test starting:"))
        return NCCLSCOPE_KIND_TEST_NAME;
    return nsc_is_digit(t.ptr[0]) && is_test_row(t) ? NCCLSCOPE_KIND_TEST_ROW : NCCLSCOPE_KIND_UNKNOWN;
}
