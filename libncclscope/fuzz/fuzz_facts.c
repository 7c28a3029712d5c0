/* fuzz_facts.c - facts of anybody's making beside a small log: they are read or refused, judged, and reported without a raw control character;
 * what is saved of them is read again, and is then saved as the same bytes for ever. */
#include "ncclscope/probe.h"
#include "probe/facts.h"
#include "target.h"

static const char log_lines[] = "vm:10:10 [0] NCCL INFO cudaDriverVersion 13000\n"
                                "vm:10:10 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
                                "vm:10:10 [0] NCCL INFO ncclCommInitRank comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
                                "busId 60 commId 0xfeed - Init START\n"
                                "vm:11:11 [1] NCCL INFO ncclCommInitRank comm 0x11 rank 1 nranks 2 cudaDev 1 nvmlDev 1 "
                                "busId 70 commId 0xfeed - Init START\n"
                                "vm:10:10 [0] NCCL INFO ncclCommInitRank comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
                                "busId 60 commId 0xfeed - Init COMPLETE\n"
                                "vm:11:11 [1] NCCL INFO ncclCommInitRank comm 0x11 rank 1 nranks 2 cudaDev 1 nvmlDev 1 "
                                "busId 70 commId 0xfeed - Init COMPLETE\n"
                                "vm:10:10 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
                                "vm:11:11 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via SHM/direct/direct\n";

static void check_report(const ncclscope_model *m, const ncclscope_findings *f, const char *format, int flags)
{
    struct text t = {0};
    must(ncclscope_facts_report(m, f, format, 80, flags, take, &t) == 0);
    must(ncclscope_confirm_report(m, f, format, 80, flags, take, &t) == 0);
    must(ncclscope_report(m, f, format, 80, flags, take, &t) == 0);
    must_be_harmless(&t);
}

/* Saves, and reads that into new facts. */
static struct ncclscope_facts *reread(const struct ncclscope_facts *x, struct text *saved)
{
    struct ncclscope_facts *again = nsc_facts_new();
    must(again && ncclscope_facts_save(x, take, saved) == 0);
    must(nsc_facts_read(again, saved->bytes, saved->len, NULL) == 0);
    return again;
}

static void check_saved(const struct ncclscope_facts *x)
{
    struct text first = {0}, second = {0}, third = {0};
    struct ncclscope_facts *a = reread(x, &first); /* broken UTF-8 is mended here */
    struct ncclscope_facts *b = reread(a, &second);
    must(ncclscope_facts_save(b, take, &third) == 0);
    must(second.len == third.len && !memcmp(second.bytes, third.bytes, third.len));
    ncclscope_facts_free(a);
    ncclscope_facts_free(b);
    free(first.bytes);
    free(second.bytes);
    free(third.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ncclscope_facts *x = nsc_facts_new();
    ncclscope_findings *f = NULL;
    ncclscope_error err = {0};
    must(x != NULL);
    int rc = nsc_facts_read(x, (const char *)data, size, &err);
    must(rc == NCCLSCOPE_OK || (rc == NCCLSCOPE_EDATA && err.text[0]));
    if (rc == NCCLSCOPE_OK) {
        ncclscope_model *m = model_of(log_lines, sizeof log_lines - 1, sizeof log_lines);
        ncclscope_model_facts(m, x);
        must(ncclscope_analyse(&f, m, NULL) == 0);
        check_report(m, f, "text", NCCLSCOPE_REPORT_VERBOSE);
        check_report(m, f, "json", 0);
        check_saved(x);
        ncclscope_findings_free(f);
        ncclscope_model_free(m);
    }
    ncclscope_facts_free(x);
    return 0;
}
