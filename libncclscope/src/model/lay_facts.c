/* lay_facts.c - what the machine of a log says of itself, as rows: of each table of facts in columns.def, name by name. */
#include "model/lay.h"

#include "probe/facts.h"

#define TAKE_TEXT(x) nsc_text_of(x)
#define TAKE_I64(x) ((x).known ? (x).v : NCCLSCOPE_UNSAID)
#define TAKE_BOOL(x) ((x).known ? (x).v != 0 : -1)

#define NCCLSCOPE_FACTS_ALONE
#define NCCLSCOPE_TABLE(table, rows, owner, words) \
    static void lay_##table(struct nsc_rows *to, const struct nsc_##table *x) \
    { \
        ncclscope_##table *r = nsc_row_new(to, table);
#define NCCLSCOPE_COLUMN(table, name, TYPE, unit, words) r->name = TAKE_##TYPE(x->name);
#define NCCLSCOPE_END(table) }
#include "ncclscope/columns.def"

#define LAY_ALL(l, table, list) \
    for (size_t i = 0; i < (list).len; i++) \
    lay_##table((l)->to, &(list).item[i])

void nsc_lay_facts(struct nsc_laying *l)
{
    const struct ncclscope_facts *f = l->m->facts;
    if (!f)
        return;
    lay_fact_node(l->to, &f->node);
    LAY_ALL(l, fact_gpu, f->gpus);
    LAY_ALL(l, fact_pair, f->pairs);
    LAY_ALL(l, fact_nic, f->nics);
    LAY_ALL(l, fact_measured, f->measured);
    LAY_ALL(l, fact_collective, f->collectives);
    LAY_ALL(l, fact_variable, f->variables);
    LAY_ALL(l, fact_skipped, f->skipped);
}
