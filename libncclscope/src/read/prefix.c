/* prefix.c - launcher prefixes: rows of prefixes.def, one behind the other. */
#include "read/prefix.h"

#include "read/lines.h"

static void take_fields(const struct nsc_match *m, struct nsc_prefix *out)
{
    ncclscope_field field;
    nsc_text text;
    for (size_t i = 0; nsc_match_field(m, i, &field, &text); i++) {
        if (field == NCCLSCOPE_FIELD_POD)
            out->pod = text;
        else if (field == NCCLSCOPE_FIELD_CONTAINER)
            out->container = text;
        else if (field == NCCLSCOPE_FIELD_TIME)
            out->time = text;
        else if (field == NCCLSCOPE_FIELD_RANK)
            nsc_to_i64(text, &out->rank);
    }
}

static bool take_row(ncclscope_grammar *g, size_t row, nsc_text *rest, struct nsc_match *m, struct nsc_prefix *out)
{
    if (!nsc_pattern_match(&g->prefix[row], &g->lock, *rest, m) || !m->length)
        return false;
    take_fields(m, out);
    *rest = nsc_text_from(*rest, m->length);
    return true;
}

/* "    (Worker pid=7) vm:12:12 [0] NCCL INFO ...": a log that was pasted as an indented block. */
static nsc_text without_indent(nsc_text text)
{
    size_t n = 0;
    while (n < text.len && text.ptr[n] == ' ')
        n++;
    return nsc_text_from(text, n);
}

static bool has_shape(const struct nsc_prefix_memo *memo, const char *text)
{
    for (size_t i = 0; i < memo->len; i++)
        if ((nsc_is_digit(text[i]) ? '0' : text[i]) != memo->shape[i])
            return false;
    return true;
}

size_t nsc_prefix_again(const struct nsc_prefix_memo *memo, nsc_text line)
{
    return memo->plain && memo->len < line.len && has_shape(memo, line.ptr) ? memo->len : 0;
}

/* The rows that the memo names take all of `text`, one behind the other. */
static bool take_remembered(ncclscope_grammar *g, nsc_text text, const struct nsc_prefix_memo *memo,
                            struct nsc_match *m, struct nsc_prefix *out)
{
    if (!memo->rows || memo->len != text.len || !has_shape(memo, text.ptr))
        return false;
    text = memo->indented ? without_indent(text) : text;
    for (size_t i = 0; i < memo->rows; i++)
        if (!take_row(g, memo->row[i], &text, m, out))
            return false;
    return !nsc_text_trim(text).len;
}

/* JSON and the pieces of container runtimes are taken apart first; and a name behind other characters may be the end of a longer one. */
static bool is_plain(nsc_text text)
{
    nsc_chars chars = nsc_chars_of(text);
    return !(chars & NSC_ODD) && !nsc_chars_have(chars, "](http") && text.ptr[0] != '{' && !nsc_begins_document(text) &&
           nsc_text_find(text, " stdout ") < 0 && nsc_text_find(text, " stderr ") < 0 &&
           strchr(" ]>):", text.ptr[text.len - 1]);
}

static void remember(struct nsc_prefix_memo *memo, nsc_text text)
{
    memo->len = text.len;
    memo->plain = is_plain(text);
    for (size_t i = 0; i < text.len; i++)
        memo->shape[i] = nsc_is_digit(text.ptr[i]) ? '0' : text.ptr[i];
}

void nsc_prefix_parse(ncclscope_grammar *g, nsc_text text, struct nsc_prefix_memo *memo, struct nsc_match *m,
                      struct nsc_prefix *out)
{
    nsc_text rest = text;
    *out = (struct nsc_prefix){.rank = -1};
    out->known = text.len;
    if (!nsc_text_trim(text).len || take_remembered(g, text, memo, m, out))
        return;
    *out = (struct nsc_prefix){.rank = -1};
    memo->rows = 0;
    memo->indented = false;
    while (rest.len && memo->rows < NSC_PREFIX_STACK) {
        size_t row = 0;
        while (row < g->prefixes && !take_row(g, row, &rest, m, out))
            row++;
        if (row == g->prefixes && !memo->rows && !memo->indented &&
            rest.ptr[0] == ' ') { /* some rows begin with blanks */
            memo->indented = true;
            rest = without_indent(rest);
            continue;
        }
        if (row == g->prefixes)
            break;
        memo->row[memo->rows++] = (uint8_t)row;
    }
    out->known = text.len - rest.len;
    out->foreign = nsc_text_trim(rest).len > 0;
    if (out->foreign || text.len > NSC_PREFIX_SHAPE)
        memo->rows = 0;
    else
        remember(memo, text);
}

/* Runs of digits as one 0; 0: too long. */
static size_t shape_of(nsc_text text, char *shape)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = nsc_is_digit(text.ptr[i]) ? '0' : text.ptr[i];
        if (c == '0' && n && shape[n - 1] == '0')
            continue;
        if (n == NSC_PREFIX_SHAPE)
            return 0;
        shape[n++] = c;
    }
    return n;
}

bool nsc_prefix_known_by_now(struct nsc_prefix_seen *seen, nsc_text text, uint64_t line, const uint64_t **since)
{
    char shape[NSC_PREFIX_SHAPE];
    size_t n = shape_of(text, shape), i = 0;
    *since = NULL;
    if (!n || !strchr(" \t]>):|", text.ptr[text.len - 1]) || nsc_text_find(text, "NCCL") >= 0)
        return false;
    while (i < seen->shapes && (seen->of[i].len != n || memcmp(seen->of[i].shape, shape, n) != 0))
        i++;
    if (i == NSC_PREFIX_SEEN)
        return false;
    if (i == seen->shapes) {
        memcpy(seen->of[i].shape, shape, n);
        seen->of[i].len = n;
        seen->shapes++;
    }
    uint64_t lines = ++seen->of[i].lines;
    if (lines < NSC_PREFIX_AGAIN)
        seen->of[i].charged[lines - 1] = line;
    else if (lines == NSC_PREFIX_AGAIN)
        *since = seen->of[i].charged;
    return lines >= NSC_PREFIX_AGAIN && lines * 4 >= seen->headers;
}

static size_t digits_at_end(nsc_text text)
{
    size_t n = 0;
    while (n < text.len && nsc_is_digit(text.ptr[text.len - 1 - n]))
        n++;
    return n;
}

size_t nsc_prefix_lead_at_end(nsc_text text, nsc_text lead)
{
    enum { SHORTEST = 3 };
    size_t whole = text.len;
    if (lead.len < SHORTEST || nsc_is_digit(lead.ptr[0]))
        return 0;
    while (lead.len && text.len) {
        size_t own = digits_at_end(lead), other = digits_at_end(text);
        if (!own != !other || (!own && lead.ptr[lead.len - 1] != text.ptr[text.len - 1]))
            return 0;
        lead.len -= own ? own : 1;
        text.len -= own ? other : 1;
    }
    return lead.len ? 0 : whole - text.len;
}

size_t nsc_prefix_stamp_at_end(ncclscope_grammar *g, nsc_text text, struct nsc_match *m)
{
    const char *open = text.len ? memrchr(text.ptr, '[', text.len) : NULL;
    if (!open || text.ptr[text.len - 1] != ' ')
        return 0;
    nsc_text stamp = nsc_text_from(text, (size_t)(open - text.ptr));
    struct nsc_prefix p = {.rank = -1};
    for (size_t row = 0; row < g->prefixes; row++) {
        nsc_text rest = stamp;
        if (take_row(g, row, &rest, m, &p) && !rest.len && p.time.len)
            return stamp.len;
    }
    return 0;
}
