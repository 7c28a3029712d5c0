/* totals.c - what was read, all sources together, and the words of verdicts. */
#include "report/report.h"

const char *nsc_verdict_name(int verdict)
{
    return ncclscope_word_of("verdict", verdict);
}

const char *nsc_severity_name(int severity)
{
    return ncclscope_word_of("severity", severity);
}

void nsc_totals(const struct ncclscope_model *m, ncclscope_stats *out)
{
    *out = (ncclscope_stats){.size = sizeof *out};
    for (size_t i = 0; i < m->sources.len; i++) {
        const ncclscope_stats *s = &m->sources.item[i].stats;
        out->bytes += s->bytes;
        out->lines += s->lines;
        out->records += s->records;
        out->unknown += s->unknown;
        out->warnings += s->warnings;
        out->torn_lines += s->torn_lines;
        out->cut_lines += s->cut_lines;
    }
}
