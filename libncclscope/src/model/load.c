/* load.c - a model from the bytes of carried.h: its rows are put into an empty model as those of another model are (parts.c), when all that
 * they hold is found to be possible. An index beyond its array, a number that is none of an enum, is no saved model. */
#include "model/carried.h"

#include "ncclscope/model.h"

#include <stdlib.h>

struct unpacker {
    const unsigned char *at, *end;
    NSC_VEC(struct nsc_where) lines;
    bool bad, no_memory;
};

static uint64_t take_number(struct unpacker *u)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && u->at < u->end; shift += 7) {
        unsigned char b = *u->at++;
        v |= (uint64_t)(b & 127) << shift;
        if (!(b & 128))
            return v & 1 ? ~(v >> 1) : v >> 1;
    }
    u->bad = true;
    return 0;
}

/* How many things follow; each takes a byte at least. */
static size_t take_count(struct unpacker *u)
{
    uint64_t n = take_number(u);
    u->bad = u->bad || n > (uint64_t)(u->end - u->at);
    return u->bad ? 0 : (size_t)n;
}

static nsc_text take_text(struct unpacker *u)
{
    size_t n = take_count(u);
    nsc_text t = {(const char *)u->at, n};
    u->at += n;
    return t;
}

static void take_line(struct unpacker *u)
{
    const struct nsc_where *before = u->lines.len ? &u->lines.item[u->lines.len - 1] : NULL;
    uint64_t source = take_number(u), line = take_number(u);
    line += before && before->source == source ? before->line : 0;
    nsc_text text = take_text(u);
    u->bad = u->bad || source > UINT32_MAX || !line;
    struct nsc_where *w = u->bad ? NULL : nsc_vec_push(&u->lines);
    u->no_memory = u->no_memory || (!w && !u->bad);
    if (w)
        *w = (struct nsc_where){(uint32_t)source, line, text};
}

static void where_to(struct unpacker *u, struct nsc_where *w, uint64_t place)
{
    u->bad = u->bad || place > u->lines.len;
    if (place && !u->bad)
        *w = u->lines.item[place - 1];
}

static void number_to(struct unpacker *u, char *at, size_t size, uint64_t v)
{
    int64_t i8 = (int64_t)v;
    int8_t i1 = (int8_t)i8;
    int32_t i4 = (int32_t)i8;
    u->bad = u->bad || (size == 1 && i1 != i8) || (size == 4 && i4 != i8);
    memcpy(at, size == 1 ? (void *)&i1 : size == 4 ? (void *)&i4 : (void *)&i8, size < 8 ? size : 8);
}

static void value_to(struct unpacker *u, char *at, const struct nsc_member *x, uint64_t v)
{
    if (x->kind == NSC_MEMBER_WHERE)
        where_to(u, (struct nsc_where *)(void *)at, v);
    else if (x->kind == NSC_MEMBER_FLAG) {
        u->bad = u->bad || v > 1;
        *(bool *)at = v == 1;
    } else
        number_to(u, at, x->kind == NSC_MEMBER_LIST ? 8 : x->size, x->kind == NSC_MEMBER_REAL ? nsc_turned(v) : v);
}

static void take_column(struct unpacker *u, struct nsc_array rows, size_t size, const struct nsc_member *x,
                        enum nsc_lies as)
{
    size_t each = x->kind == NSC_MEMBER_LIST ? x->size / 8 : 1;
    uint64_t v = as == NSC_LIES_SAME ? take_number(u) : 0;
    for (size_t i = 0; i < rows.len * each && !u->bad; i++) {
        if (as == NSC_LIES_VALUES || as == NSC_LIES_STEPS)
            v = take_number(u) + (as == NSC_LIES_STEPS ? v : 0);
        value_to(u, rows.item + i / each * size + x->at + i % each * 8, x, v);
    }
}

static void take_rows(struct unpacker *u, struct ncclscope_model *m, enum nsc_part_id id)
{
    size_t n, size = nsc_parts[id].size;
    const struct nsc_member *member = nsc_members_of(&nsc_parts[id], &n);
    uint64_t rows = take_number(u);
    const unsigned char *methods = u->at;
    u->bad = u->bad || (rows && (size_t)(u->end - u->at) < (n + 3) / 4);
    u->at += rows && !u->bad ? (n + 3) / 4 : 0;
    u->bad =
        u->bad || (rows > NSC_FEW && rows > (size_t)(u->end - u->at) / n); /* of many, a member takes a byte at least */
    for (size_t i = 0; i < rows && !u->bad && !u->no_memory; i++)
        u->no_memory = !nsc_push_row(m, id);
    for (size_t k = 0; k < n && rows && !u->bad && !u->no_memory; k++)
        take_column(u, nsc_array_of(m, id), size, &member[k], (enum nsc_lies)(methods[k / 4] >> (2 * (k % 4)) & 3));
}

static void take_totals(struct unpacker *u, struct ncclscope_model *m)
{
    for (size_t i = 0; i < nsc_counted_things; i++) {
        void *at = (char *)m + nsc_counted[i].at;
        if (nsc_counted[i].kind == NSC_TOTAL_FIRST)
            where_to(u, at, take_number(u));
        else if (nsc_counted[i].kind == NSC_TOTAL_ANY)
            *(bool *)at = take_number(u) == 1;
        else
            number_to(u, at, 8, take_number(u));
    }
}

/* Texts stay in the bytes: whoever puts the rows elsewhere copies them. */
static void take_all(struct unpacker *u, struct ncclscope_model *m)
{
    for (size_t n = take_count(u); n && !u->bad && !u->no_memory; n--) {
        nsc_text *t = nsc_vec_push(&m->strings.text);
        u->no_memory = !t;
        if (t)
            *t = take_text(u);
    }
    for (size_t n = take_count(u); n && !u->bad && !u->no_memory; n--)
        take_line(u);
    take_totals(u, m);
    for (int id = 0; id < NSC_PARTS && !u->bad && !u->no_memory; id++)
        take_rows(u, m, (enum nsc_part_id)id);
    u->bad = u->bad || u->at != u->end;
}

/* ---- is it a model? ---- */

enum { LARGEST_MATRIX = 1024 }; /* GPUs of one machine */

/* How many values there are of what is no plain number; UINT64_MAX: any. */
static uint64_t values_of(const struct ncclscope_model *m, enum nsc_member_kind kind)
{
    enum nsc_part_id target = nsc_target_of(kind);
    uint64_t len = target == NSC_PARTS ? UINT64_MAX : nsc_array_of(m, target).len;
    switch ((int)kind) {
    case NSC_MEMBER_STR: return m->strings.text.len;
    case NSC_MEMBER_FIELD:
    case NSC_MEMBER_COUNT:
    case NSC_MEMBER_CELL: return len + 1;
    case NSC_MEMBER_KIND: return INT32_MAX;
    case NSC_MEMBER_LEVEL: return NCCLSCOPE_LEVEL_DIAG + 1;
    case NSC_MEMBER_DIRECTION: return 3;
    case NSC_MEMBER_TRANSPORT: return NSC_VIA_COUNT;
    case NSC_MEMBER_FAMILY: return NSC_COLLNET + 1;
    case NSC_MEMBER_ATTRIBUTION: return NSC_STATED + 1;
    case NSC_MEMBER_SIDES: return 3;
    default: return len;
    }
}

static bool is_member_sound(const struct ncclscope_model *m, const char *row, const struct nsc_member *x)
{
    const struct nsc_where *w = (const struct nsc_where *)(const void *)(row + x->at);
    if (x->kind == NSC_MEMBER_WHERE)
        return !w->line || w->source < m->sources.len;
    if (x->kind == NSC_MEMBER_REAL || x->kind == NSC_MEMBER_FLAG || x->kind == NSC_MEMBER_INT ||
        x->kind == NSC_MEMBER_LIST)
        return true;
    int64_t v = (int64_t)nsc_number_at(row + x->at, x->size);
    if (x->kind == NSC_MEMBER_INT32)
        return v >= -1 && v <= INT32_MAX;
    bool none = x->kind >= NSC_MEMBER_PLUGIN && x->kind < NSC_MEMBER_INDICES && v == -1;
    return none || (uint64_t)v < values_of(m, x->kind);
}

static bool are_rows_sound(const struct ncclscope_model *m, enum nsc_part_id id)
{
    struct nsc_array rows = nsc_array_of(m, id);
    size_t n;
    const struct nsc_member *member = nsc_members_of(&nsc_parts[id], &n);
    for (size_t i = 0; i < rows.len; i++)
        for (size_t k = 0; k < n; k++)
            if (!is_member_sound(m, rows.item + i * nsc_parts[id].size, &member[k]))
                return false;
    return true;
}

static bool are_fields_there(const struct ncclscope_model *m, const struct nsc_own_record *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (r[i].fields > m->own_fields.len - r[i].first)
            return false;
    return true;
}

/* What lies in one piece, from `first` on, is there. */
static bool are_pieces_sound(const struct ncclscope_model *m)
{
    bool fine = are_fields_there(m, m->own_records.item, m->own_records.len) &&
                are_fields_there(m, m->happened.item, m->happened.len);
    for (size_t i = 0; fine && i < m->ras.len; i++)
        fine = m->ras.item[i].counts <= m->ras_counts.len - m->ras.item[i].first;
    for (size_t i = 0; fine && i < m->matrices.len; i++) {
        const struct nsc_matrix *x = &m->matrices.item[i];
        fine = x->gpus <= LARGEST_MATRIX && x->cells <= x->gpus * x->gpus && x->cells <= m->cells.len - x->first;
    }
    return fine;
}

static bool is_sound(const struct ncclscope_model *m)
{
    bool fine = (!m->strings.text.len || !m->strings.text.item[0].len) && m->nvls_at.source <= m->sources.len &&
                (!m->nvls_at.line || m->nvls_at.source < m->sources.len);
    for (int id = 0; fine && id < NSC_PARTS; id++)
        fine = are_rows_sound(m, (enum nsc_part_id)id);
    return fine && are_pieces_sound(m);
}

static int unpack(struct ncclscope_model *out, const unsigned char *raw, size_t size, ncclscope_error *err)
{
    struct unpacker u = {.at = raw, .end = raw + size};
    struct ncclscope_model *rows = nsc_alloc(sizeof *rows);
    u.no_memory = !rows;
    if (rows)
        take_all(&u, rows);
    bool sound = !u.bad && !u.no_memory && is_sound(rows);
    if (sound)
        nsc_put_together(out, rows);
    ncclscope_model_free(rows);
    nsc_vec_free(&u.lines);
    if (u.no_memory || out->no_memory)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    return sound ? NCCLSCOPE_OK : nsc_fail(err, NCCLSCOPE_EDATA, 0, "the saved model is damaged");
}

int ncclscope_model_load(ncclscope_model **out, ncclscope_grammar *g, const void *bytes, size_t size,
                         ncclscope_error *err)
{
    size_t length = 0;
    if (out)
        *out = NULL;
    if (!out || !g)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "a model is loaded to a place of its own, with a grammar");
    unsigned before = nsc_failed_allocations();
    int rc = nsc_carried_open(bytes, size, &length, err);
    unsigned char *raw = rc ? NULL : nsc_alloc(length + 1);
    if (!rc && !raw)
        rc = nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    int packed = rc ? rc : nsc_carried_unpack(bytes, size, raw, length);
    if (!rc && packed)
        rc = nsc_fail(err, packed, 0, packed == NCCLSCOPE_ENOMEM ? "out of memory" : "the saved model is damaged");
    rc = rc ? rc : ncclscope_model_new(out, err);
    rc = rc ? rc : unpack(*out, raw, length, err);
    nsc_free(raw);
    rc = rc ? rc : nsc_settle(rc, before, err);
    if (rc) {
        ncclscope_model_free(*out);
        *out = NULL;
    } else
        (*out)->grammar = g;
    return rc;
}
