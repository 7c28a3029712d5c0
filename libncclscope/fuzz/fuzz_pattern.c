/* fuzz_pattern.c - a template and a message, divided by the first newline: any template compiles or says why not, a match lies within
 * its message, a walk finds what PCRE2 does, and a row added by a user behaves as one of the tables. */
#include "read/grammar.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

static void must(int holds)
{
    if (!holds)
        abort();
}

static void check_match(struct nsc_row *row, pthread_mutex_t *lock, nsc_text message, struct nsc_match *m)
{
    ncclscope_field field;
    nsc_text part;
    nsc_text begin = {message.ptr, message.len ? 1 : 0};
    static struct nsc_match slow;
    if (!slow.data)
        must(nsc_match_new(&slow, NULL) == 0);
    char template_[700]; /* with an expression, which PCRE2 alone matches */
    snprintf(template_, sizeof template_, "%s{:/(?:)/}", row->pattern.template_);
    struct nsc_pattern by_pcre2;
    nsc_pattern_init(&by_pcre2, template_, false);
    by_pcre2.user = row->pattern.user;
    bool matches = nsc_pattern_match(&row->pattern, lock, message, m);
    bool alike = nsc_pattern_match(&by_pcre2, lock, message, &slow) == matches;
    must(alike || by_pcre2.gave_up); /* PCRE2 alone has a limit */
    must(!matches || m->length == message.len);
    for (size_t i = 0; matches && nsc_match_field(m, i, &field, &part); i++) {
        ncclscope_field other;
        nsc_text there;
        must(field != NCCLSCOPE_FIELD_NONE && part.ptr >= message.ptr &&
             part.ptr + part.len <= message.ptr + message.len);
        must(!alike || (nsc_match_field(&slow, i, &other, &there) && other == field && nsc_text_eq(there, part) &&
                        there.ptr == part.ptr));
    }
    nsc_pattern_free(&by_pcre2);
    if (begin.len && matches)
        must(nsc_pattern_could_begin(&row->pattern, lock, begin, m));
    nsc_pattern_is_cut(&row->pattern, lock, message, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = memchr(data, '\n', size);
    size_t n = line ? (size_t)(line - data) : size;
    char template_[600], spelt[100];
    if (n >= sizeof template_ || size > 4000)
        return 0;
    memcpy(template_, data, n);
    template_[n] = 0;
    nsc_text message = {(const char *)data + n + (line != NULL), size - n - (line != NULL)};
    static ncclscope_grammar *g;
    static struct nsc_match m;
    struct nsc_user u = {.rows = {0}};
    ncclscope_error err = {0};
    if (!g)
        must(ncclscope_grammar_new(&g, NULL) == 0 && nsc_match_new(&m, NULL) == 0);
    nsc_template_spell(template_, spelt, sizeof spelt);
    must(strlen(spelt) < sizeof spelt);
    if (nsc_user_add(&u, &g->lock, "row", template_, &err) == NCCLSCOPE_OK) {
        struct nsc_row *row = &u.index.row[0];
        check_match(row, &g->lock, message, &m);
        bool slow = message.len && nsc_pattern_match(&row->pattern, &g->lock, message, &m);
        must((nsc_index_match(&u.index, &g->lock, NULL, message, 0, &m) == row) == slow);
    } else {
        must(err.text[0] && u.rows.len == 0);
    }
    nsc_user_free(&u);
    return 0;
}
