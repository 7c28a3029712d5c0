/* variables.c - variables.def: is there such a variable, and is there one that somebody meant. */
#include "model/variables.h"

#include "model/topology.h"

static const struct {
    const char *name, *reader;
} variables[] = {
#define VARIABLE(name, reader) {name, reader},
#include "variables.def"
#undef VARIABLE
};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

const char *nsc_variable_reader(nsc_text name)
{
    for (size_t i = 0; i < VARIABLES; i++)
        if (nsc_text_is(name, variables[i].name))
            return variables[i].reader;
    return NULL;
}

enum { LONGEST = 64, FAR = 3 };

/* Letters to add, to drop or to change to make one of the other (Levenshtein), up to FAR. */
static size_t distance(nsc_text a, nsc_text b)
{
    size_t row[LONGEST + 1];
    if (a.len > LONGEST || b.len > LONGEST || (a.len > b.len ? a.len - b.len : b.len - a.len) >= FAR)
        return FAR;
    for (size_t k = 0; k <= b.len; k++)
        row[k] = k;
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= b.len; k++) {
            size_t above = row[k], best = diagonal + (a.ptr[i - 1] != b.ptr[k - 1]);
            best = above + 1 < best ? above + 1 : best;
            row[k] = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
            diagonal = above;
        }
    }
    return row[b.len];
}

const char *nsc_variable_like(nsc_text name)
{
    size_t nearest = FAR;
    const char *like = NULL;
    for (size_t i = 0; i < VARIABLES; i++) {
        size_t d = distance(name, nsc_text_of(variables[i].name));
        if (d < nearest) {
            nearest = d;
            like = variables[i].name;
        }
    }
    return like;
}

static bool ends_with(nsc_text name, const char *end)
{
    size_t n = strlen(end);
    return name.len >= n && !memcmp(name.ptr + name.len - n, end, n);
}

const char *nsc_value_wanted(nsc_text name, nsc_text value)
{
    int64_t n;
    bool number = nsc_to_i64(value, &n);
    bool level = nsc_text_is(name, "NCCL_P2P_LEVEL") || nsc_text_is(name, "NCCL_NET_GDR_LEVEL");
    if (level && (value.len != 3 || nsc_level_of(value) == NSC_LEVEL_UNKNOWN) && !number)
        return "LOC, NVL, PIX, PXB, PHB or SYS, in capitals";
    if (!level && value.len && !number && (ends_with(name, "_DISABLE") || ends_with(name, "_ENABLE")))
        return "a number, as 0 or 1";
    return NULL;
}
