/* said.c - the last lines of other programs, and which of them speak of trouble. */
#include "read/said.h"

void nsc_said_keep(struct nsc_said *s, nsc_text line, uint64_t number, uint64_t offset)
{
    if (nsc_text_starts(nsc_text_trim(line), "```")) { /* above it somebody wrote of the log that begins here */
        s->from = s->lines;
        return;
    }
    struct nsc_said_line *x = &s->of[s->lines++ % NSC_SAID_KEPT];
    x->number = number;
    x->offset = offset;
    x->len = line.len < sizeof x->text ? line.len : sizeof x->text;
    memcpy(x->text, line.ptr, x->len);
}

/* "failed", "ERROR", "Invalid ...": in whatever case. One word says nothing ("State=FAILED", a job's in Slurm's table), a frame of a
 * traceback says where, not what, and "Last error:" leaves it to the next line. */
static bool speaks_of_trouble(nsc_text t)
{
    static const char *const words[] = {"error",   "fail",    "invalid",   "unsupported", "not support",   "denied",
                                        "refused", "cannot ", "unable to", "no resource", "not permitted", "no such"};
    nsc_text trimmed = nsc_text_trim(t);
    bool of_somebody = nsc_text_starts(trimmed, "I ") || nsc_text_find(trimmed, " I ") >= 0;
    bool of_nccl = nsc_text_find(trimmed, "NCCL error") >=
                   0; /* what the program was given back, by an earlier run or in a title */
    if (of_somebody || of_nccl || trimmed.len < 8 || !memchr(trimmed.ptr, ' ', trimmed.len) ||
        nsc_text_starts(trimmed, "File \"") || nsc_text_starts(trimmed, "Traceback") ||
        trimmed.ptr[trimmed.len - 1] == ':')
        return false;
    for (size_t i = 0; i < t.len; i++)
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            if (nsc_text_starts_as(nsc_text_from(t, i), words[k]))
                return true;
    return false;
}

const struct nsc_said_line *nsc_said_next(struct nsc_said *s, uint64_t number)
{
    size_t oldest = s->lines > NSC_SAID_KEPT ? s->lines - NSC_SAID_KEPT : 0;
    s->from = s->from < oldest ? oldest : s->from;
    while (s->from < s->lines) {
        const struct nsc_said_line *x = &s->of[s->from++ % NSC_SAID_KEPT];
        if (x->number < number && x->number + NSC_SAID_LINES >= number &&
            speaks_of_trouble((nsc_text){x->text, x->len}))
            return x;
    }
    s->giving = false;
    return NULL;
}

bool nsc_said_begin(struct nsc_said *s, uint64_t number)
{
    size_t from = s->from;
    s->giving = nsc_said_next(s, number) != NULL;
    s->from = s->giving ? from : s->from;
    return s->giving;
}
