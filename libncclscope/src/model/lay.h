/* lay.h - what the files that lay a finished model out as rows share. */
#ifndef NSC_LAY_H
#define NSC_LAY_H

#include "model/model.h"
#include "model/rows.h"

/* What those who fill the tables look up in each other's rows. */
struct nsc_laying {
    struct ncclscope_model *m;
    struct nsc_rows *to;
    int64_t *process; /* by place in the model: the row, or NCCLSCOPE_UNSAID */
};

static inline nsc_text nsc_lay_text(const struct nsc_laying *l, nsc_str s)
{
    return s ? nsc_say(l->m, s) : (nsc_text){NULL, 0};
}

static inline nsc_text nsc_lay_kept(const struct nsc_laying *l, const char *text)
{
    return nsc_arena_copy(&l->m->arena, nsc_text_of(text));
}

static inline void nsc_lay_where(int64_t *source, int64_t *line, const struct nsc_where *w)
{
    if (!w->line)
        return;
    *source = w->source;
    *line = (int64_t)w->line;
}

/* lay_comms.c: communicators with their ranks, rings and trees, and the connections. */
void nsc_lay_comms(struct nsc_laying *l);
void nsc_lay_rings(struct nsc_laying *l);
void nsc_lay_trees(struct nsc_laying *l);
void nsc_lay_links(struct nsc_laying *l);
/* lay_others.c: what the input holds beside NCCL's lines. */
void nsc_lay_others(struct nsc_laying *l);
/* lay_facts.c: of the facts that the model was given. */
void nsc_lay_facts(struct nsc_laying *l);

#endif
