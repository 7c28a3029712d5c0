/* fuzz_pods.c - what somebody calls the answer of `kubectl get pod -o json`, beside a small log: it is taken or refused in a sentence, and
 * what is then judged is reported without a raw control character. */
#include "target.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static const char log_lines[] =
    "[pod/train-0/pytorch] train-0:10:10 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
    "[pod/train-0/pytorch] train-0:10:10 [0] NCCL INFO ncclCommInitRank comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
    "busId 60 "
    "commId 0xfeed - Init START\n"
    "[pod/train-1/pytorch] train-1:11:11 [0] NCCL INFO ncclCommInitRank comm 0x11 rank 1 nranks 2 cudaDev 0 nvmlDev 0 "
    "busId 60 "
    "commId 0xfeed - Init START\n"
    "[pod/train-0/pytorch] train-0:10:10 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n"
    "[pod/train-1/pytorch] train-1:11:11 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] via SHM/direct/direct\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[40];
    ncclscope_error err = {0};
    ncclscope_findings *f = NULL;
    struct text page = {0}, json = {0};
    if (fd < 0)
        fd = memfd_create("pods", MFD_CLOEXEC);
    must(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ncclscope_model *m = model_of(log_lines, sizeof log_lines - 1, sizeof log_lines);
    int rc = ncclscope_model_pods(m, path, &err);
    must(rc == NCCLSCOPE_OK || (rc == NCCLSCOPE_EDATA && err.text[0]));
    must(ncclscope_analyse(&f, m, NULL) == 0);
    must(ncclscope_report(m, f, "text", 80, NCCLSCOPE_REPORT_VERBOSE, take, &page) == 0);
    must(ncclscope_report(m, f, "json", 0, 0, take, &json) == 0);
    must_be_harmless(&page);
    must_be_harmless(&json);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    return 0;
}
