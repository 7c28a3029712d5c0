/* user.c - rows of a pattern file: "name = template" to rows and fields that live beside those of the tables. */
#include "read/user.h"

#include "base/alloc.h"
#include "base/file.h"
#include "read/grammar.h"

#include <stdio.h>
#include <stdlib.h>

/* What a field of fields.def holds, as the letter of the type that fits it best. */
static char letter_of(ncclscope_field field)
{
    enum { U64, I64, HEX, F64, TEXT };
    static const char letters[] = "uixft";
    switch (field) {
#define NCCLSCOPE_FIELD(number, NAME, name, type, unit, words) \
    case NCCLSCOPE_FIELD_##NAME: \
        return letters[type];
#include "ncclscope/fields.def"
#undef NCCLSCOPE_FIELD
    case NCCLSCOPE_FIELD_NONE: break;
    }
    return 't';
}

static bool is_name(nsc_text s)
{
    if (!s.len || s.len > 40 || s.ptr[0] < 'a' || s.ptr[0] > 'z')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!nsc_is_digit(s.ptr[i]) && s.ptr[i] != '_' && (s.ptr[i] < 'a' || s.ptr[i] > 'z'))
            return false;
    return true;
}

/* May a field that holds `is` be read in the form `as`? */
static bool holds(char is, char as)
{
    return is == 't' || is == as || (is == 'i' && as == 'u') || (is == 'x' && as == 'u') ||
           (is == 'f' && (as == 'u' || as == 'i'));
}

ncclscope_field nsc_user_field(struct nsc_user *u, nsc_text name, nsc_text type, const char **wrong)
{
    char letter = type.len == 1 ? type.ptr[0] : 't';
    ncclscope_field known = nsc_field_by_name(name);
    if (known != NCCLSCOPE_FIELD_NONE) {
        *wrong = holds(letter_of(known), letter) ? NULL : "a field of this name is known and holds something else";
        return *wrong ? NCCLSCOPE_FIELD_NONE : known;
    }
    *wrong = !is_name(name)                ? "the name of a field is a-z, 0-9 and _"
             : nsc_text_is(name, "record") ? "record is a column of the store's own"
             : !nsc_is_type(type)          ? "no type of this name"
                                           : NULL;
    for (size_t i = 0; !*wrong && i < u->fields.len; i++) {
        if (!nsc_text_is(name, u->fields.item[i].name))
            continue;
        *wrong = u->fields.item[i].type == letter ? NULL : "a field of this name has another type in a row above";
        return *wrong ? NCCLSCOPE_FIELD_NONE : (ncclscope_field)(NSC_USER_FIRST + i);
    }
    if (*wrong)
        return NCCLSCOPE_FIELD_NONE;
    nsc_text copy = nsc_arena_copy(&u->arena, name);
    struct nsc_user_field *f = copy.ptr ? nsc_vec_push(&u->fields) : NULL;
    *wrong = f ? NULL : "out of memory";
    if (!f)
        return NCCLSCOPE_FIELD_NONE;
    *f = (struct nsc_user_field){copy.ptr, letter};
    return (ncclscope_field)(NSC_USER_FIRST + u->fields.len - 1);
}

static bool rebuild(struct nsc_user *u)
{
    nsc_index_free(&u->index);
    if (!nsc_index_new(&u->index, u->rows.len))
        return false;
    for (size_t i = 0; i < u->rows.len; i++) {
        nsc_index_set(&u->index, i, (ncclscope_kind)(NSC_USER_FIRST + i), u->rows.item[i].template_, NULL);
        u->index.row[i].pattern.user = u;
    }
    return nsc_index_build(&u->index);
}

static const char takes_any[] = "a row without a word of its own would take any line";

/* Does it take what no line looks like? */
static int check_narrow(struct nsc_pattern *p, pthread_mutex_t *lock, ncclscope_error *err)
{
    struct nsc_match m;
    int rc = nsc_match_new(&m, err);
    if (rc == NCCLSCOPE_OK && nsc_pattern_match(p, lock, NSC_TEXT("~\001 zq~ 7\002~ zq"), &m))
        rc = nsc_fail(err, NCCLSCOPE_EPATTERN, 0, takes_any);
    nsc_match_free(&m);
    return rc;
}

const char *ncclscope_grammar_slow(const ncclscope_grammar *g, size_t i, uint64_t *lines)
{
    for (size_t k = 0; g && lines && k < g->user.rows.len; k++) {
        *lines = atomic_load_explicit(&g->user.index.row[k].pattern.gave_up, memory_order_relaxed);
        if (*lines && !i--)
            return g->user.rows.item[k].name;
    }
    return NULL;
}

int nsc_user_add(struct nsc_user *u, pthread_mutex_t *lock, const char *name, const char *template_,
                 ncclscope_error *err)
{
    if (!is_name(nsc_text_of(name)))
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "the name of a row is a-z, 0-9 and _, and begins with a letter");
    for (size_t i = 0; i < u->rows.len; i++)
        if (!strcmp(u->rows.item[i].name, name))
            return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "there is a row %s already", name);
    if (u->rows.len == NSC_USER_MOST)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "more than %d rows", NSC_USER_MOST);
    if (!*template_)
        return nsc_fail(err, NCCLSCOPE_EPATTERN, 0, takes_any);
    struct nsc_user_row row = {nsc_arena_copy(&u->arena, nsc_text_of(name)).ptr,
                               nsc_arena_copy(&u->arena, nsc_text_of(template_)).ptr};
    struct nsc_user_row *place = row.name && row.template_ ? nsc_vec_push(&u->rows) : NULL;
    if (!place)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    *place = row;
    size_t fields = u->fields.len;
    int rc = rebuild(u) ? nsc_pattern_check(&u->index.row[u->rows.len - 1].pattern, lock, err)
                        : nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    if (rc == NCCLSCOPE_OK)
        rc = check_narrow(&u->index.row[u->rows.len - 1].pattern, lock, err);
    if (rc != NCCLSCOPE_OK) {
        u->rows.len--;
        u->fields.len = fields;
        rebuild(u);
    }
    return rc;
}

const char *nsc_user_kind_name(const struct nsc_user *u, ncclscope_kind kind)
{
    size_t i = (size_t)kind - NSC_USER_FIRST;
    return (size_t)kind >= NSC_USER_FIRST && i < u->rows.len ? u->rows.item[i].name : NULL;
}

const char *nsc_user_field_name(const struct nsc_user *u, ncclscope_field field, char *type)
{
    size_t i = (size_t)field - NSC_USER_FIRST;
    bool own = u && (size_t)field >= NSC_USER_FIRST && i < u->fields.len;
    *type = own ? u->fields.item[i].type : letter_of(field);
    return own ? u->fields.item[i].name : ncclscope_field_name(field);
}

void nsc_user_free(struct nsc_user *u)
{
    nsc_index_free(&u->index);
    nsc_vec_free(&u->rows);
    nsc_vec_free(&u->fields);
    nsc_arena_free(&u->arena);
}

/* ---- the file ---- */

int ncclscope_grammar_add(ncclscope_grammar *g, const char *name, const char *template_, ncclscope_error *err)
{
    if (!g || !name || !template_)
        return nsc_null(err);
    if (atomic_load_explicit(&g->used, memory_order_relaxed))
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "rows are added before the first reader is made");
    return nsc_user_add(&g->user, &g->lock, name, template_, err);
}

/* "# example: LINE" below a row: it must be what that row takes. */
static int check_example(ncclscope_grammar *g, nsc_text line, ncclscope_error *err)
{
    struct nsc_match m;
    if (!g->user.rows.len)
        return nsc_fail(err, NCCLSCOPE_EPATTERN, 0, "an example stands below its row, and there is none above");
    int rc = nsc_match_new(&m, err);
    if (rc)
        return rc;
    struct nsc_row *own = &g->user.index.row[g->user.rows.len - 1];
    bool takes = nsc_pattern_match(&own->pattern, &g->lock, line, &m);
    const struct nsc_row *known = takes ? nsc_index_match(&g->messages, &g->lock, NULL, line, 0, &m) : NULL;
    nsc_match_free(&m);
    if (!takes)
        return nsc_fail(err, NCCLSCOPE_EPATTERN, 0, "%s does not take its example",
                        g->user.rows.item[g->user.rows.len - 1].name);
    if (known)
        return nsc_fail(err, NCCLSCOPE_EPATTERN, 0, "the example is a line of NCCL's own (%s), which stays that",
                        ncclscope_kind_name(known->kind));
    return NCCLSCOPE_OK;
}

static int take_line(ncclscope_grammar *g, char *line, ncclscope_error *err)
{
    static const char example[] = "# example:";
    nsc_text text = nsc_text_trim(nsc_text_of(line));
    if (nsc_text_starts(text, example))
        return check_example(g, nsc_text_trim(nsc_text_from(text, sizeof example - 1)), err);
    if (!text.len || text.ptr[0] == '#')
        return NCCLSCOPE_OK;
    char *equals = strchr(line, '=');
    if (!equals)
        return nsc_fail(err, NCCLSCOPE_EPATTERN, 0, "a row is: name = template");
    *equals = 0;
    nsc_text name = nsc_text_trim(nsc_text_of(line)), template_ = nsc_text_trim(nsc_text_of(equals + 1));
    line[name.ptr + name.len - line] = 0;
    ((char *)equals + 1)[template_.ptr + template_.len - (equals + 1)] = 0;
    return ncclscope_grammar_add(g, name.ptr, template_.ptr, err);
}

/* Line by line; each is ended where its newline was. */
static int take_lines(ncclscope_grammar *g, char *text, size_t len, ncclscope_error *err)
{
    size_t number = 0;
    for (char *line = text, *end = text + len; line < end; number++) {
        char *nl = memchr(line, '\n', (size_t)(end - line)), *stop = nl ? nl : end;
        *stop = 0;
        int rc = strlen(line) < (size_t)(stop - line) ? nsc_fail(err, NCCLSCOPE_EPATTERN, 0, "a NUL byte in the line")
                                                      : take_line(g, line, err);
        if (rc != NCCLSCOPE_OK && err)
            err->line = number + 1;
        if (rc != NCCLSCOPE_OK)
            return rc;
        line = stop + 1;
    }
    return NCCLSCOPE_OK;
}

int ncclscope_grammar_add_file(ncclscope_grammar *g, const char *path, ncclscope_error *err)
{
    if (!g || !path)
        return nsc_null(err);
    if (atomic_load_explicit(&g->used, memory_order_relaxed))
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "rows are added before the first reader is made");
    enum { MOST = 1 << 20 };
    char *bytes = NULL;
    size_t len = 0;
    int rc = nsc_read_whole(path, MOST, &bytes, &len, err);
    if (rc == NCCLSCOPE_OK && len) {
        size_t mark = nsc_text_starts((nsc_text){bytes, len}, "\xef\xbb\xbf") ? 3 : 0; /* a byte order mark */
        char *text = nsc_realloc(bytes, len + 1);
        bytes = text ? text : bytes;
        rc = text ? take_lines(g, text + mark, len - mark, err) : nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    nsc_free(bytes);
    return rc;
}
