/* fuzz_words.c - words of the command line: a list of --expect, and what `explain` is asked. What a list is refused for without a log is
 * what it is refused for with one. */
#include "target.h"

static const char log_lines[] = "vm:10:10 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
                                "vm:10:10 [0] NCCL INFO comm 0x10 rank 0 nranks 2 cudaDev 0 busId 60 - Init COMPLETE\n"
                                "vm:10:10 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ncclscope_findings *f = NULL;
    struct text page = {0}, said = {0};
    char *words = calloc(1, size + 1);
    must(words != NULL);
    if (size)
        memcpy(words, data, size);
    ncclscope_error without = {0}, with = {0};
    ncclscope_model *m = model_of(log_lines, sizeof log_lines - 1, sizeof log_lines);
    must(ncclscope_analyse(&f, m, NULL) == 0);
    int alone = ncclscope_expect(NULL, words, &without), rc = ncclscope_expect(f, words, &with);
    must(rc == alone &&
         (rc == NCCLSCOPE_OK || (rc == NCCLSCOPE_EINVAL && with.text[0] && !strcmp(with.text, without.text))));
    must(ncclscope_report(m, f, "text", 80, 0, take, &page) == 0);
    must_be_harmless(&page);
    rc = ncclscope_explain(words, take, &said);
    must(rc == NCCLSCOPE_OK || rc == NCCLSCOPE_ENOTFOUND);
    rc = ncclscope_explain_line(the_grammar(), words, 80, 0, take, &said);
    must(rc == NCCLSCOPE_OK || rc == NCCLSCOPE_ENOTFOUND);
    must_be_harmless(&said);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
    free(words);
    return 0;
}
