/* table.c - every rule with its words. */
#include "rules/rules.h"

static const char *nsc_needs_none(const struct ncclscope_model *m)
{
    (void)m;
    return NULL;
}

/* Its warnings, by failures.def, are all that there is to see. */
void nsc_rule_none(struct nsc_case *c)
{
    (void)c;
}

const struct nsc_rule nsc_rules[] = {
#define RULE(id, check, needs, means, why, fix, verify, doc) \
    {id, nsc_rule_##check, nsc_needs_##needs, means, why, fix, verify, doc},
#include "rules.def"
#undef RULE
    {0},
};
