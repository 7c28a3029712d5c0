/* stacks.c - from where ranks had called what they gave up, by the stack that PyTorch prints of it. */
#include "rules/stacks.h"

#include "rules/ask.h"

/* "[rank1]:[E...] Stack trace of the failed collective:", "#0 barrier from .../torch/distributed/distributed_c10d.py:5030", "#2 main from
 * /job/train.py:61": the call, and the place in the program nearest to it. */
struct stack {
    nsc_text call, place; /* of place the last part of its path; len 0: no frame of the program's own is there */
};

/* The frames that belong to it stand right below it, their numbers ascending; where two ranks write at once they do not. */
static bool read_stack(const struct ncclscope_model *m, const struct nsc_own_record *head, struct stack *s)
{
    enum { DEEPEST = 60 };
    const struct nsc_own_record *end = m->happened.item + m->happened.len;
    int64_t last = -1, number;
    *s = (struct stack){{NULL, 0}, {NULL, 0}};
    for (const struct nsc_own_record *r = head + 1; r < end && r->where.source == head->where.source; r++) {
        if (r->number != NCCLSCOPE_KIND_TORCH_FRAME || r->where.line > head->where.line + DEEPEST ||
            !nsc_number_said(m, r, "count", &number) || number <= last)
            break;
        if (last < 0 && (number || r->where.line != head->where.line + 1))
            return false;
        last = number;
        s->call = number ? s->call : nsc_said(m, r, "name");
        nsc_text place = nsc_said(m, r, "file");
        for (size_t i = place.len; i--;)
            if (place.ptr[i] == '/') {
                place = nsc_text_from(place, i + 1);
                break;
            }
        bool own = number > 0 || nsc_text_find(nsc_said(m, r, "file"), "-packages/") < 0;
        if (own) {
            s->place = place;
            return true;
        }
    }
    return s->call.len > 0;
}

static bool is_alike(const struct stack *a, const struct stack *b)
{
    return nsc_text_eq(a->call, b->call) && nsc_text_eq(a->place, b->place);
}

enum { PLACES = 3, SHOWN = 60 };

struct places {
    struct stack of[PLACES];
    struct nsc_finding ranks[PLACES]; /* the ranks in each */
    size_t n;
    bool more;
};

static void add(struct nsc_case *c, struct places *all, const struct stack *s, int64_t rank)
{
    size_t i = 0;
    while (i < all->n && !is_alike(&all->of[i], s))
        i++;
    all->more = all->more || i == PLACES;
    if (i == PLACES)
        return;
    if (i == all->n) {
        all->of[all->n++] = *s;
        all->ranks[i] = (struct nsc_finding){.rule = c->rule};
    }
    nsc_name_rank(c, &all->ranks[i], (uint64_t)rank);
}

const char *nsc_tell_stacks(struct nsc_case *c, const struct nsc_stuck *of_rank, bool *differ)
{
    const struct ncclscope_model *m = c->m;
    struct places all = {.n = 0};
    const char *words = NULL;
    *differ = false;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        struct stack s;
        bool gave_up = r->number == NCCLSCOPE_KIND_TORCH_STACK && r->torch_rank >= 0 &&
                       r->torch_rank < NSC_MOST_STUCK && of_rank[r->torch_rank].line;
        if (gave_up && read_stack(m, r, &s))
            add(c, &all, &s, r->torch_rank);
    }
    for (size_t i = 0; i < all.n; i++) {
        const struct stack *s = &all.of[i];
        const char *place =
            s->place.len ? nsc_words(c, " (%.*s)", (int)(s->place.len < SHOWN ? s->place.len : SHOWN), s->place.ptr)
                         : "";
        words =
            nsc_words(c, "%s%s%s %s %.*s%s", words ? words : "", words ? ", " : "", nsc_list_ranks(c, &all.ranks[i]),
                      words                         ? "in"
                      : all.ranks[i].ranks.len == 1 ? "is in"
                                                    : "are in",
                      (int)(s->call.len < SHOWN ? s->call.len : SHOWN), s->call.ptr, place);
        *differ = *differ || !nsc_text_eq(s->call, all.of[0].call);
        nsc_finding_free(&all.ranks[i]);
    }
    return words && all.more ? nsc_words(c, "%s, others elsewhere", words) : words;
}
