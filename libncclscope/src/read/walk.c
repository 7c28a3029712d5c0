/* walk.c - templates without expressions: what each type of field takes, and when that is certain. */
#include "read/walk.h"

#include "base/alloc.h"

/* Addresses are half of what fields take: a table is faster than the comparisons. */
static bool is_hex(char c)
{
    static const bool hex[256] = {
        ['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true, ['4'] = true, ['5'] = true, ['6'] = true, ['7'] = true,
        ['8'] = true, ['9'] = true, ['a'] = true, ['b'] = true, ['c'] = true, ['d'] = true, ['e'] = true, ['f'] = true,
        ['A'] = true, ['B'] = true, ['C'] = true, ['D'] = true, ['E'] = true, ['F'] = true};
    return hex[(unsigned char)c];
}

static bool is_of_address(char c)
{
    return is_hex(c) || c == ':' || c == '.';
}

static size_t run(nsc_text t, size_t at, bool (*is)(char))
{
    size_t n = at;
    while (n < t.len && is(t.ptr[n]))
        n++;
    return n - at;
}

/* How long the word is that begins there: up to a blank, or all. */
static size_t word(nsc_text t, size_t at)
{
    const char *end = at < t.len ? memchr(t.ptr + at, ' ', t.len - at) : NULL;
    return (end ? (size_t)(end - t.ptr) : t.len) - at;
}

/* "0x7f12", "(nil)", "7f12ab": without 0x six digits at least. */
static size_t take_pointer(nsc_text t)
{
    size_t n = nsc_text_starts(t, "0x") ? run(t, 2, is_hex) : 0;
    if (n)
        return n + 2;
    if (nsc_text_starts(t, "(nil)"))
        return 5;
    n = run(t, 0, is_hex);
    return n >= 6 ? n : 0;
}

/* "-12", "1.5", "1e+06", "inf" */
static size_t take_number(nsc_text t)
{
    size_t sign = t.len && t.ptr[0] == '-', n = run(t, sign, nsc_is_digit);
    nsc_text rest = nsc_text_from(t, sign);
    if (!n)
        return nsc_text_starts(rest, "inf") || nsc_text_starts(rest, "nan") ? sign + 3 : 0;
    n += sign;
    if (n < t.len && t.ptr[n] == '.') {
        size_t digits = run(t, n + 1, nsc_is_digit);
        n += digits ? digits + 1 : 0;
    }
    if (n < t.len && (t.ptr[n] | 0x20) == 'e') {
        size_t at = n + 1 + (n + 1 < t.len && (t.ptr[n + 1] == '-' || t.ptr[n + 1] == '+'));
        size_t digits = run(t, at, nsc_is_digit);
        n = digits ? at + digits : n;
    }
    return n;
}

/* "2.18.3+cuda12.2" */
static size_t take_version(nsc_text t)
{
    size_t n = run(t, 0, nsc_is_digit);
    if (!n || n == t.len || t.ptr[n] != '.')
        return 0;
    size_t minor = run(t, n + 1, nsc_is_digit);
    return minor ? n + 1 + minor + word(t, n + 1 + minor) : 0;
}

/* How much of the beginning a field of this type takes; 0: it is none. */
static size_t take(char type, nsc_text t)
{
    size_t n;
    switch (type) {
    case 'u': return run(t, 0, nsc_is_digit);
    case 'i': n = run(t, t.len && t.ptr[0] == '-', nsc_is_digit); return n ? n + (t.ptr[0] == '-') : 0;
    case 'x': return run(t, 0, is_hex);
    case 'p': return take_pointer(t);
    case 'f': return take_number(t);
    case 'b': return run(t, 0, is_of_address);
    case 'v': return take_version(t);
    default: return word(t, 0);
    }
}

/* Does a field of this type end before this character, wherever it stands? */
static bool ends_before(char type, char c)
{
    switch (type) {
    case 'u':
    case 'i': return !nsc_is_digit(c);
    case 'x':
    case 'p': return !is_hex(c) && (c | 0x20) != 'x';
    case 'f': return !nsc_is_digit(c) && !strchr(".eE+-infa", c);
    case 'b': return !is_of_address(c);
    default: return c == ' ';
    }
}

/* Can each field end in one place alone? Text of any kind, at the end of what stands behind it. */
static bool is_certain(const struct nsc_walk *w)
{
    enum { MOST_TEXTS = 2 }; /* that are searched for their end: each for each place of the one before */
    size_t texts = 0;
    for (size_t i = 0; i < w->steps; i++) {
        const struct nsc_step *s = &w->step[i], *next = i + 1 < w->steps ? s + 1 : NULL;
        if (s->text || !next)
            continue;
        texts += s->type == 't';
        if (!next->text && !(next->type == 't' && i + 2 == w->steps && s->type != 't'))
            return false;
        if (next->text && s->type != 't' && !ends_before(s->type, next->text[0]))
            return false;
    }
    return texts <= MOST_TEXTS;
}

/* The next step of a template from *t on; false: there is none that can be walked. */
static bool next_step(const char **t, struct nsc_step *s)
{
    const char *at = *t;
    if (*at == '{' && at[1] != '{') {
        const char *colon = strchr(at, ':');
        if (!colon || !colon[1] || colon[2] != '}' || !strchr("uixpfwtbv", colon[1]))
            return false;
        *s = (struct nsc_step){.type = colon[1], .named = colon > at + 1};
        *t = colon + 3;
        return true;
    }
    size_t n = strcspn(at, "{}");
    bool doubled = !n && at[0] == at[1];
    if (!n && !doubled)
        return false;
    *s = (struct nsc_step){.text = at, .len = n ? n : 1};
    *t = at + (n ? n : 2);
    return true;
}

bool nsc_walk_make(struct nsc_walk *w, const char *template_)
{
    struct nsc_step s;
    size_t n = 0;
    *w = (struct nsc_walk){0};
    for (const char *t = template_; *t; n++)
        if (!next_step(&t, &s))
            return false;
    w->step = nsc_alloc((n + 1) * sizeof *w->step);
    for (const char *t = template_; w->step && *t;)
        next_step(&t, &w->step[w->steps++]);
    if (w->step && is_certain(w))
        return true;
    nsc_walk_free(w);
    return false;
}

void nsc_walk_free(struct nsc_walk *w)
{
    nsc_free(w->step);
    *w = (struct nsc_walk){0};
}

static bool walk_from(const struct nsc_walk *w, size_t i, nsc_text text, size_t at, size_t *span);

/* Text of any kind, up to the first place from which the rest is what follows. */
static bool walk_text(const struct nsc_walk *w, size_t i, nsc_text text, size_t at, size_t *span)
{
    const struct nsc_step *s = &w->step[i], *next = s + 1;
    size_t *behind = span + (s->named ? 2 : 0);
    span[0] = s->named ? at : span[0];
    if (i + 1 == w->steps) {
        span[1] = s->named ? text.len : span[1];
        return true;
    }
    for (size_t end = at; end + next->len <= text.len; end++) {
        const char *found = memmem(text.ptr + end, text.len - end, next->text, next->len);
        if (!found)
            return false;
        end = (size_t)(found - text.ptr);
        span[1] = s->named ? end : span[1];
        if (walk_from(w, i + 2, text, end + next->len, behind))
            return true;
    }
    return false;
}

static bool walk_from(const struct nsc_walk *w, size_t i, nsc_text text, size_t at, size_t *span)
{
    for (; i < w->steps; i++) {
        const struct nsc_step *s = &w->step[i];
        if (s->text) {
            if (text.len - at < s->len || !nsc_same(text.ptr + at, s->text, s->len))
                return false;
            at += s->len;
            continue;
        }
        if (s->type == 't')
            return walk_text(w, i, text, at, span);
        size_t n = take(s->type, nsc_text_from(text, at));
        if (!n)
            return false;
        if (s->named) {
            span[0] = at;
            span[1] = at + n;
            span += 2;
        }
        at += n;
    }
    return at == text.len;
}

bool nsc_walk_match(const struct nsc_walk *w, nsc_text text, size_t head, size_t *span)
{
    return walk_from(w, head > 0, text, head, span);
}
