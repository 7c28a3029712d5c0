/* carry.c - a growing model as bytes, and back.
 *
 *   "ncscope\1"   then, of eight bytes each, lowest first: which members rows have (a hash of parts.def, and of the dictionary), and how
 *                 many bytes come out of the rest, which zlib packed with what NCCL prints as its dictionary:
 *   texts         how many, then length and bytes of each; the first is the empty one
 *   lines         of logs, that rows point to, in their order: how many; of each its source, how far it is behind the one before of that
 *                 source, and its text
 *   totals        in the order of parts.def
 *   arrays        in that order: how many rows, then all their values of one member, of the next ... A number takes seven bits a byte, lowest first, the sign below them; a
 *                 double eight bytes; a line its place among the lines, from 1
 *
 * Loaded rows are put into an empty model as those of another model are (parts.c). What they hold is checked first: an index beyond its
 * array, a number that is none of an enum, is no saved model. */
#include "model/parts.h"

#include "ncclscope/model.h"
#include "read/transport.h"

#include <stdlib.h>
#include <zlib.h>

static const char magic[8] = "ncscope\1";
enum {
    HEAD = 24,
    MOST_PACKED = 400,    /* zlib packs rows 60 times, and a bomb a thousand times */
    LARGEST_MATRIX = 1024 /* GPUs of one machine */
};

/* A log is mostly made of these: what is saved of a small one would else be larger than the log, packed. */
#define NCCLSCOPE_MSG(number, NAME, template_, example) example "\n"
#define NCCLSCOPE_ALSO(NAME, template_, example)
static const unsigned char dictionary[] =
#include "ncclscope/messages.def"
    " NCCL INFO NCCL WARN NET/IB/0/GDRDMA P2P/CUMEM ";
#undef NCCLSCOPE_MSG
#undef NCCLSCOPE_ALSO

/* Of another release whose rows hold other members. */
static uint64_t layout(void)
{
    uint64_t h = nsc_hash(dictionary, sizeof dictionary);
    for (const struct nsc_member *x = nsc_members; x->type; x++) {
        uint64_t part[4] = {h, nsc_hash(x->type, strlen(x->type)), nsc_hash(x->name, strlen(x->name)), x->kind};
        h = nsc_hash(part, sizeof part);
    }
    return h;
}

/* ---- to bytes ---- */

struct packer {
    NSC_VEC(unsigned char) out;
    NSC_VEC(struct nsc_where) lines; /* that rows point to: sorted, each once */
    bool failed;
};

static void put_bytes(struct packer *p, const void *bytes, size_t n)
{
    if (p->failed || !n)
        return;
    p->failed = !nsc_vec_reserve_((void **)&p->out.item, &p->out.cap, p->out.len + n, 1);
    if (p->failed)
        return;
    memcpy(p->out.item + p->out.len, bytes, n);
    p->out.len += n;
}

static void put_number(struct packer *p, uint64_t v)
{
    unsigned char b[10];
    size_t n = 0;
    v = v >> 63 ? ~(v << 1) : v << 1;
    for (; v >= 128; v >>= 7)
        b[n++] = (unsigned char)(v | 128);
    b[n++] = (unsigned char)v;
    put_bytes(p, b, n);
}

static void put_eight(struct packer *p, uint64_t v)
{
    unsigned char b[8];
    for (int i = 0; i < 8; i++)
        b[i] = (unsigned char)(v >> (8 * i));
    put_bytes(p, b, 8);
}

static void put_text(struct packer *p, nsc_text t)
{
    put_number(p, t.len);
    put_bytes(p, t.ptr, t.len);
}

static int by_place(const void *a, const void *b)
{
    const struct nsc_where *x = a, *y = b;
    if (x->source != y->source || x->line != y->line)
        return nsc_is_earlier(x, y) ? -1 : 1;
    return nsc_compare(x->text, y->text); /* of several records on one line */
}

static void add_line(struct packer *p, const struct nsc_where *w)
{
    struct nsc_where *x = w->line ? nsc_vec_push(&p->lines) : NULL;
    p->failed = p->failed || (w->line && !x);
    if (x)
        *x = *w;
}

static void find_lines(struct packer *p, const struct ncclscope_model *m)
{
    for (size_t i = 0; i < nsc_counted_things; i++)
        if (nsc_counted[i].kind == NSC_TOTAL_FIRST)
            add_line(p, (const struct nsc_where *)(const void *)((const char *)m + nsc_counted[i].at));
    for (int id = 0; id < NSC_PARTS; id++) {
        struct nsc_array rows = nsc_array_of(m, (enum nsc_part_id)id);
        size_t n;
        const struct nsc_member *member = nsc_members_of(&nsc_parts[id], &n);
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; member[k].kind == NSC_MEMBER_WHERE && i < rows.len; i++)
                add_line(p,
                         (const struct nsc_where *)(const void *)(rows.item + i * nsc_parts[id].size + member[k].at));
    }
    if (p->lines.len)
        qsort(p->lines.item, p->lines.len, sizeof *p->lines.item, by_place);
    size_t kept = 0;
    for (size_t i = 0; i < p->lines.len; i++)
        if (!i || by_place(&p->lines.item[kept - 1], &p->lines.item[i]))
            p->lines.item[kept++] = p->lines.item[i];
    p->lines.len = kept;
}

static void put_lines(struct packer *p, const struct packer *of)
{
    const struct nsc_where *before = NULL;
    put_number(p, of->lines.len);
    for (size_t i = 0; i < of->lines.len; i++) {
        const struct nsc_where *w = &of->lines.item[i];
        put_number(p, w->source);
        put_number(p, w->line - (before && before->source == w->source ? before->line : 0));
        put_text(p, w->text);
        before = w;
    }
}

static void put_where(struct packer *p, const struct nsc_where *w)
{
    const struct nsc_where *x =
        w->line ? bsearch(w, p->lines.item, p->lines.len, sizeof *p->lines.item, by_place) : NULL;
    put_number(p, x ? (uint64_t)(x - p->lines.item) + 1 : 0);
}

/* A number of `size` bytes, its sign kept. */
static uint64_t number_at(const char *at, size_t size)
{
    int8_t i1;
    int32_t i4;
    int64_t i8;
    if (size == sizeof i1)
        return memcpy(&i1, at, size), (uint64_t)(int64_t)i1;
    if (size == sizeof i4)
        return memcpy(&i4, at, size), (uint64_t)(int64_t)i4;
    return memcpy(&i8, at, sizeof i8), (uint64_t)i8;
}

static void put_member(struct packer *p, const char *row, const struct nsc_member *x)
{
    const char *at = row + x->at;
    if (x->kind == NSC_MEMBER_WHERE)
        put_where(p, (const struct nsc_where *)(const void *)at);
    else if (x->kind == NSC_MEMBER_REAL)
        put_eight(p, number_at(at, 8));
    else if (x->kind == NSC_MEMBER_LIST)
        for (size_t i = 0; i < x->size; i += 8)
            put_number(p, number_at(at + i, 8));
    else
        put_number(p, number_at(at, x->size));
}

static void put_rows(struct packer *p, const struct ncclscope_model *m, enum nsc_part_id id)
{
    struct nsc_array rows = nsc_array_of(m, id);
    size_t n;
    const struct nsc_member *member = nsc_members_of(&nsc_parts[id], &n);
    put_number(p, rows.len);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < rows.len; i++)
            put_member(p, rows.item + i * nsc_parts[id].size, &member[k]);
}

static void put_totals(struct packer *p, const struct ncclscope_model *m)
{
    for (size_t i = 0; i < nsc_counted_things; i++) {
        const char *at = (const char *)m + nsc_counted[i].at;
        if (nsc_counted[i].kind == NSC_TOTAL_FIRST)
            put_where(p, (const struct nsc_where *)(const void *)at);
        else
            put_number(p, number_at(at, nsc_counted[i].kind == NSC_TOTAL_ANY ? sizeof(bool) : 8));
    }
}

static bool deflate_all(const unsigned char *from, size_t len, unsigned char *to, size_t *size)
{
    z_stream z = {0};
    if (deflateInit(&z, 9) != Z_OK)
        return false;
    z.next_in = (unsigned char *)(uintptr_t)from;
    z.avail_in = (uInt)len;
    z.next_out = to;
    z.avail_out = (uInt)*size;
    bool fine = len < UINT32_MAX && *size < UINT32_MAX &&
                deflateSetDictionary(&z, dictionary, sizeof dictionary) == Z_OK &&
                deflate(&z, Z_FINISH) == Z_STREAM_END;
    *size = z.total_out;
    deflateEnd(&z);
    return fine;
}

/* To just `size` bytes; Z_OK, Z_DATA_ERROR or Z_MEM_ERROR. */
static int inflate_all(const unsigned char *from, size_t len, unsigned char *to, size_t size)
{
    z_stream z = {0};
    if (len >= UINT32_MAX || size >= UINT32_MAX)
        return Z_DATA_ERROR;
    if (inflateInit(&z) != Z_OK)
        return Z_MEM_ERROR;
    z.next_in = (unsigned char *)(uintptr_t)from;
    z.avail_in = (uInt)len;
    z.next_out = to;
    z.avail_out = (uInt)size;
    int rc = inflate(&z, Z_FINISH);
    if (rc == Z_NEED_DICT && inflateSetDictionary(&z, dictionary, sizeof dictionary) == Z_OK)
        rc = inflate(&z, Z_FINISH);
    bool whole = rc == Z_STREAM_END && z.total_out == size;
    inflateEnd(&z);
    return whole ? Z_OK : rc == Z_MEM_ERROR ? Z_MEM_ERROR : Z_DATA_ERROR;
}

/* Texts, lines, and what was put into `rows`: as zlib packs them, behind the head. */
static int pack(struct packer *all, struct packer *rows, const struct ncclscope_model *m, ncclscope_write_fn *write,
                void *user)
{
    put_number(all, m->strings.text.len);
    for (size_t i = 0; i < m->strings.text.len; i++)
        put_text(all, m->strings.text.item[i]);
    put_lines(all, rows);
    put_bytes(all, rows->out.item, rows->out.len);
    size_t size = compressBound((uLong)all->out.len) + 64; /* and what names the dictionary */
    unsigned char *packed = all->failed ? NULL : nsc_alloc(size);
    struct packer head = {0};
    put_bytes(&head, magic, sizeof magic);
    put_eight(&head, layout());
    put_eight(&head, all->out.len);
    bool fine = packed && !head.failed && deflate_all(all->out.item, all->out.len, packed, &size);
    int rc = !fine ? NCCLSCOPE_ENOMEM
             : write(user, (const char *)head.out.item, head.out.len) || write(user, (const char *)packed, size)
                 ? NCCLSCOPE_EIO
                 : NCCLSCOPE_OK;
    nsc_free(packed);
    nsc_vec_free(&head.out);
    return rc;
}

int ncclscope_model_save(const ncclscope_model *m, ncclscope_write_fn *write, void *user, ncclscope_error *err)
{
    if (!m || !write || m->finished || nsc_is_being_read(m))
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0,
                        "a model is saved before it is finished, and when its sources have ended");
    unsigned before = nsc_failed_allocations();
    struct packer all = {0}, rows = {0};
    find_lines(&rows, m);
    put_totals(&rows, m);
    for (int id = 0; id < NSC_PARTS; id++)
        put_rows(&rows, m, (enum nsc_part_id)id);
    all.failed = rows.failed;
    int rc = pack(&all, &rows, m, write, user);
    nsc_vec_free(&all.out);
    nsc_vec_free(&rows.out);
    nsc_vec_free(&rows.lines);
    if (rc == NCCLSCOPE_EIO)
        return nsc_fail(err, rc, 0, "the model could not be written");
    return rc ? nsc_fail(err, rc, 0, "out of memory") : nsc_settle(rc, before, err);
}

/* ---- from bytes ---- */

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

static uint64_t take_eight(struct unpacker *u)
{
    uint64_t v = 0;
    u->bad = u->bad || u->end - u->at < 8;
    for (int i = 0; i < 8 && !u->bad; i++)
        v |= (uint64_t)*u->at++ << (8 * i);
    return v;
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

static void take_where(struct unpacker *u, struct nsc_where *w)
{
    uint64_t place = take_number(u);
    u->bad = u->bad || place > u->lines.len;
    if (place && !u->bad)
        *w = u->lines.item[place - 1];
}

static void number_to(struct unpacker *u, char *at, size_t size)
{
    uint64_t v = take_number(u);
    int64_t i8 = (int64_t)v;
    int8_t i1 = (int8_t)i8;
    int32_t i4 = (int32_t)i8;
    u->bad = u->bad || (size == 1 && i1 != i8) || (size == 4 && i4 != i8);
    memcpy(at, size == 1 ? (void *)&i1 : size == 4 ? (void *)&i4 : (void *)&i8, size < 8 ? size : 8);
}

static void take_member(struct unpacker *u, char *row, const struct nsc_member *x)
{
    char *at = row + x->at;
    if (x->kind == NSC_MEMBER_WHERE)
        take_where(u, (struct nsc_where *)(void *)at);
    else if (x->kind == NSC_MEMBER_REAL) {
        uint64_t v = take_eight(u);
        memcpy(at, &v, 8);
    } else if (x->kind == NSC_MEMBER_LIST)
        for (size_t i = 0; i < x->size; i += 8)
            number_to(u, at + i, 8);
    else if (x->kind == NSC_MEMBER_FLAG) {
        uint64_t v = take_number(u);
        u->bad = u->bad || v > 1;
        *(bool *)at = v == 1;
    } else
        number_to(u, at, x->size);
}

static void take_rows(struct unpacker *u, struct ncclscope_model *m, enum nsc_part_id id)
{
    size_t rows = take_count(u), n;
    const struct nsc_member *member = nsc_members_of(&nsc_parts[id], &n);
    u->bad = u->bad || rows > (size_t)(u->end - u->at) / n; /* a member takes a byte at least */
    for (size_t i = 0; i < rows && !u->bad && !u->no_memory; i++)
        u->no_memory = !nsc_push_row(m, id);
    char *item = nsc_array_of(m, id).item;
    for (size_t k = 0; k < n && !u->no_memory; k++)
        for (size_t i = 0; i < rows && !u->bad; i++)
            take_member(u, item + i * nsc_parts[id].size, &member[k]);
}

static void take_totals(struct unpacker *u, struct ncclscope_model *m)
{
    for (size_t i = 0; i < nsc_counted_things; i++) {
        void *at = (char *)m + nsc_counted[i].at;
        if (nsc_counted[i].kind == NSC_TOTAL_FIRST)
            take_where(u, at);
        else if (nsc_counted[i].kind == NSC_TOTAL_SUM)
            number_to(u, at, 8);
        else
            *(bool *)at = take_number(u) == 1;
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
    int64_t v = (int64_t)number_at(row + x->at, x->size);
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
    bool fine = m->strings.text.len > 0 && !m->strings.text.item[0].len && m->nvls_at.source <= m->sources.len &&
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

static int open_head(const unsigned char *bytes, size_t size, uint64_t *length, ncclscope_error *err)
{
    if (!bytes || size < HEAD || memcmp(bytes, magic, sizeof magic) != 0)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "this is no saved model");
    struct unpacker u = {.at = bytes + sizeof magic, .end = bytes + HEAD};
    bool same = take_eight(&u) == layout();
    *length = take_eight(&u);
    if (!same)
        return nsc_fail(err, NCCLSCOPE_EABI, 0, "the model was saved by another release");
    if (*length > (uint64_t)(size - HEAD) * MOST_PACKED)
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "the saved model is damaged");
    return NCCLSCOPE_OK;
}

int ncclscope_model_load(ncclscope_model **out, ncclscope_grammar *g, const void *bytes, size_t size,
                         ncclscope_error *err)
{
    uint64_t length = 0;
    if (out)
        *out = NULL;
    if (!out || !g)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "a model is loaded to a place of its own, with a grammar");
    unsigned before = nsc_failed_allocations();
    int rc = open_head(bytes, size, &length, err);
    unsigned char *raw = rc ? NULL : nsc_alloc(length + 1);
    if (!rc && !raw)
        rc = nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    int packed = rc ? Z_OK : inflate_all((const unsigned char *)bytes + HEAD, size - HEAD, raw, length);
    if (packed == Z_MEM_ERROR)
        rc = nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    else if (packed != Z_OK)
        rc = nsc_fail(err, NCCLSCOPE_EDATA, 0, "the saved model is damaged");
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
