/* variables.c - variables.def: is there such a variable, and is there one that somebody meant. */
#include "model/variables.h"

#include "model/topology.h"

#include <stdlib.h>

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

bool nsc_takes_level(nsc_text name, nsc_text value)
{
    int64_t n;
    bool level = nsc_text_is(name, "NCCL_P2P_LEVEL") || nsc_text_is(name, "NCCL_NET_GDR_LEVEL");
    return !level || nsc_to_i64(value, &n) || (value.len == 3 && nsc_level_of(value) != NSC_LEVEL_UNKNOWN);
}

/* Variables that ncclLoadParam reads, by what their names end with. */
static bool is_number(nsc_text name)
{
    static const char *const ends[] = {"_DISABLE", "_ENABLE",   "_BUFFSIZE",          "_CHUNKSIZE", "_NCHANNELS",
                                       "_CTAS",    "_NTHREADS", "_IB_TIMEOUT",        "_RETRY_CNT", "_GID_INDEX",
                                       "_IB_TC",   "_IB_SL",    "_QPS_PER_CONNECTION"};
    for (size_t i = 0; nsc_text_starts(name, "NCCL_") && i < sizeof ends / sizeof ends[0]; i++)
        if (ends_with(name, ends[i]))
            return true;
    return false;
}

bool nsc_is_taken_as(nsc_text name, nsc_text value, int64_t *taken)
{
    char text[64];
    int64_t plain;
    if (!is_number(name) || !value.len || value.len >= sizeof text || nsc_to_i64(value, &plain))
        return false;
    memcpy(text, value.ptr, value.len);
    text[value.len] = 0;
    *taken = strtoll(text, NULL, 0);
    return true;
}

/* A text that this quote opens before it: up to the one that closes it; where none does, len stays. *rest goes on behind it. */
static nsc_text quoted_by(char quote, nsc_text text, nsc_text *rest)
{
    size_t all = (size_t)(rest->ptr + rest->len - text.ptr);
    const char *end = memchr(text.ptr, quote, all);
    if (!end)
        return text;
    text.len = (size_t)(end - text.ptr);
    *rest = (nsc_text){end + 1, all - text.len - 1};
    return text;
}

static bool is_quote(char c)
{
    return c == '\'' || c == '"';
}

/* Behind which one setting stands, and no command. */
static bool takes_one(nsc_text word)
{
    static const char *const words[] = {"-x", "-e", "--env", "export", "-genv"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (nsc_text_is(word, words[i]))
            return true;
    return false;
}

bool nsc_next_setting(nsc_text *rest, nsc_text *name, nsc_text *value)
{
    nsc_text before = {NULL, 0};
    for (nsc_text word = nsc_next_word(rest); word.len; before = word, word = nsc_next_word(rest)) {
        nsc_text bare = is_quote(word.ptr[0]) || word.ptr[0] == '`' ? nsc_text_from(word, 1) : word;
        ptrdiff_t eq = nsc_text_starts(bare, "NCCL_") ? nsc_text_find(bare, "=") : -1;
        if (eq < 0)
            continue;
        bare = is_quote(word.ptr[0]) && takes_one(before) ? quoted_by(word.ptr[0], bare, rest) : bare;
        *name = (nsc_text){bare.ptr, (size_t)eq};
        *value = nsc_text_from(bare, (size_t)eq + 1);
        if (value->len && is_quote(value->ptr[0]))
            *value = quoted_by(value->ptr[0], nsc_text_from(*value, 1), rest);
        while (value->len &&
               strchr(";)'\"`", value->ptr[value->len - 1])) /* the end of a command, or of one within quotes */
            value->len--;
        return true;
    }
    return false;
}

nsc_text nsc_words_of_command(const struct ncclscope_model *m, const struct nsc_own_record *r)
{
    bool whole = r->where.text.len < NSC_QUOTE; /* else its end is in the field alone, from the first variable on */
    return whole ? r->where.text : nsc_said(m, r, "text");
}
