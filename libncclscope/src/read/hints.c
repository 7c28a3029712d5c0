/* hints.c - which lines of other programs are worth a closer look. */
#include "read/hints.h"

static const struct {
    const char *ptr;
    size_t len;
    enum nsc_hint is;
} words[] = {
#define HINT(words) {words, sizeof words - 1, NSC_HINT_OF_ROW},
#define OF_ERROR(words) {words, sizeof words - 1, NSC_HINT_OF_ERROR},
#include "hints.def"
#undef OF_ERROR
#undef HINT
};

_Static_assert(sizeof words / sizeof words[0] <= NSC_HINTS_MOST, "NSC_HINTS_MOST is too small");

/* How often a letter stands in logs: a rough order, for speed alone. */
static unsigned how_common(unsigned char c)
{
    static const char order[] = " 0123456789eationrslcdpumhgfby.,:=_-/kvwx";
    const char *at = c ? strchr(order, c) : NULL;
    return at ? (unsigned)(sizeof order - (size_t)(at - order)) : 0;
}

static unsigned pair_at(const char *p)
{
    return (unsigned)(unsigned char)p[0] << 8 | (unsigned char)p[1];
}

static unsigned chain_of(unsigned pair)
{
    return (pair ^ pair >> 6) % NSC_HINT_CHAINS;
}

void nsc_hints_prepare(struct nsc_hints *h)
{
    memset(h, 0, sizeof *h);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        unsigned least = UINT32_MAX;
        for (size_t k = 0; k + 1 < words[i].len && k < 256; k++) {
            unsigned common =
                how_common((unsigned char)words[i].ptr[k]) * how_common((unsigned char)words[i].ptr[k + 1]);
            if (common < least)
                h->at[i] = (uint8_t)k;
            least = common < least ? common : least;
        }
        unsigned pair = pair_at(words[i].ptr + h->at[i]), chain = chain_of(pair);
        h->pairs[pair / 64] |= (uint64_t)1 << (pair % 64);
        h->next[i] = h->first[chain];
        h->first[chain] = (uint16_t)(i + 1);
    }
}

/* What a word says that stands here, whose two letters are those at `at`. */
static enum nsc_hint word_at(const struct nsc_hints *h, nsc_text line, size_t at)
{
    enum nsc_hint best = NSC_HINT_NONE;
    for (uint16_t i = h->first[chain_of(pair_at(line.ptr + at))]; i; i = h->next[i - 1]) {
        size_t before = h->at[i - 1], len = words[i - 1].len;
        if (words[i - 1].is > best && at >= before && at - before + len <= line.len &&
            !memcmp(line.ptr + at - before, words[i - 1].ptr, len))
            best = words[i - 1].is;
    }
    return best;
}

enum nsc_hint nsc_hints_find(const struct nsc_hints *h, nsc_text line)
{
    enum nsc_hint best = NSC_HINT_NONE;
    for (size_t i = 0; i + 1 < line.len && best < NSC_HINT_OF_ROW; i++) {
        unsigned pair = pair_at(line.ptr + i);
        enum nsc_hint here = h->pairs[pair / 64] >> (pair % 64) & 1 ? word_at(h, line, i) : NSC_HINT_NONE;
        best = here > best ? here : best;
    }
    return best;
}
