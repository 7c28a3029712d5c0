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
#define RULE(NAME, id, check, needs, means, why, fix, verify, doc) \
    {NSC_ID_##NAME, id, nsc_rule_##check, nsc_needs_##needs, means, why, fix, verify, doc},
#include "rules.def"
#undef RULE
    {0},
};

const char *nsc_words_of_id(enum nsc_id key)
{
    return key ? nsc_rules[key - 1].id : NULL;
}
