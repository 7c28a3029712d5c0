/* progress.c - does a program go on behind an exception? */
#include "read/progress.h"

enum { LINES_BEHIND = 2000 };

void nsc_progress_begin(struct nsc_progress *p, uint64_t number)
{
    *p = (struct nsc_progress){.since = number};
}

void nsc_progress_begin_once(struct nsc_progress *p, uint64_t number)
{
    if (!p->since || number > p->since + LINES_BEHIND)
        nsc_progress_begin(p, number);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "global_step=8810", "step 400", "Iteration: [ 120/500]": the number behind such a word, and where the rest begins; 0: none. */
static size_t number_behind(nsc_text line, const char *word, uint64_t *out)
{
    ptrdiff_t at = nsc_text_find(line, word);
    if (at < 0)
        return 0;
    size_t i = (size_t)at;
    while (i < line.len && is_letter(line.ptr[i])) /* "iter" to the end of "iteration" */
        i++;
    while (i < line.len && memchr(" =:[#\"'\t", line.ptr[i], 9))
        i++;
    size_t begin = i;
    while (i < line.len && i < begin + 18 && nsc_is_digit(line.ptr[i]))
        i++;
    return nsc_to_u64((nsc_text){line.ptr + begin, i - begin}, out) ? i : 0;
}

/* A loss, a rate: what is told with a step. */
static bool has_fraction(nsc_text t)
{
    for (size_t i = 1; i + 1 < t.len; i++)
        if (t.ptr[i] == '.' && nsc_is_digit(t.ptr[i - 1]) && nsc_is_digit(t.ptr[i + 1]))
            return true;
    return false;
}

bool nsc_progress_shows(struct nsc_progress *p, nsc_text line, uint64_t number)
{
    static const char *const words[] = {"step", "Step", "iter", "Iter", "batch", "Batch", "epoch", "Epoch"};
    uint64_t step = 0;
    size_t rest = 0;
    if (!p->since || number > p->since + LINES_BEHIND)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !rest; i++)
        rest = number_behind(line, words[i], &step);
    if (!rest || !has_fraction(nsc_text_from(line, rest)) || (p->counted && step <= p->step))
        return false;
    p->step = step;
    bool shows = ++p->counted == 2;
    p->since = shows ? 0 : p->since;
    return shows;
}
