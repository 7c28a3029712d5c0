/* stacks.c - from where ranks had called what they gave up, by the stack that PyTorch prints of it. */
#include "rules/stacks.h"

#include "base/alloc.h"
#include "rules/watchdog.h"

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
        nsc_text file = nsc_said(m, r, "file");
        if (number > 0 || nsc_text_find(file, "-packages/") < 0) {
            s->place = nsc_base_name(file);
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

/* Of each rank: the line by which it gave up last so far; and whether a stack of its work in hand was read. */
struct giver {
    const struct nsc_own_record *last;
    bool read;
};

/* The stack that follows the line by which the rank gave up this work: a rank of several groups prints one for each. */
static bool is_of_work(const struct ncclscope_model *m, const struct nsc_own_record *r, struct giver *of_rank,
                       const struct nsc_stuck *stuck)
{
    int64_t seq;
    if (r->torch_rank < 0 || r->torch_rank >= NSC_MOST_STUCK)
        return false;
    struct giver *x = &of_rank[r->torch_rank];
    const struct nsc_stuck *s = &stuck[r->torch_rank];
    if (nsc_timed_out(r) || nsc_gave_up(m, r)) {
        x->last = r;
        return false;
    }
    bool own = r->number == NCCLSCOPE_KIND_TORCH_STACK && s->line && !x->read && x->last &&
               x->last->where.source == s->line->where.source && nsc_number_said(m, x->last, "seq", &seq) &&
               seq == s->seq && x->last->where.line >= s->line->where.line;
    x->read = x->read || own;
    return own;
}

const char *nsc_tell_stacks(struct nsc_case *c, const struct nsc_stuck *stuck, bool *differ)
{
    const struct ncclscope_model *m = c->m;
    struct places all = {.n = 0};
    struct giver *of_rank = nsc_alloc(NSC_MOST_STUCK * sizeof *of_rank);
    const char *words = NULL;
    *differ = false;
    c->f->no_memory = c->f->no_memory || !of_rank;
    for (size_t i = 0; of_rank && i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        struct stack s;
        if (is_of_work(m, r, of_rank, stuck) && read_stack(m, r, &s))
            add(c, &all, &s, r->torch_rank);
    }
    nsc_free(of_rank);
    for (size_t i = 0; i < all.n; i++) {
        const struct stack *s = &all.of[i];
        const char *place =
            s->place.len ? nsc_words(c, " (%.*s)", (int)(s->place.len < SHOWN ? s->place.len : SHOWN), s->place.ptr)
                         : "";
        const char *be = words ? "in" : all.ranks[i].ranks.len == 1 ? "is in" : "are in";
        words =
            nsc_words(c, "%s%s%s %s %.*s%s", words ? words : "", words ? ", " : "", nsc_list_ranks(c, &all.ranks[i]),
                      be, (int)(s->call.len < SHOWN ? s->call.len : SHOWN), s->call.ptr, place);
        *differ = *differ || !nsc_text_eq(s->call, all.of[0].call);
        nsc_finding_free(&all.ranks[i]);
    }
    return words && all.more ? nsc_words(c, "%s, others elsewhere", words) : words;
}
