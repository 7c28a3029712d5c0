/* save.c - a growing model to bytes (carried.h). */
#include "model/carried.h"

#include "ncclscope/model.h"
#include "read/transport.h"

#include <assert.h>
#include <stdlib.h>

struct packer {
    NSC_VEC(unsigned char) out;
    NSC_VEC(struct nsc_where) lines; /* that rows point to: sorted, each once */
    NSC_VEC(uint64_t) column;        /* all values of one member */
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

static uint64_t place_of(const struct packer *p, const struct nsc_where *w)
{
    const struct nsc_where *x =
        w->line ? bsearch(w, p->lines.item, p->lines.len, sizeof *p->lines.item, by_place) : NULL;
    return x ? (uint64_t)(x - p->lines.item) + 1 : 0;
}

static void add_value(struct packer *p, uint64_t v)
{
    uint64_t *to = nsc_vec_push(&p->column);
    p->failed = p->failed || !to;
    if (to)
        *to = v;
}

static void add_values(struct packer *p, const char *at, const struct nsc_member *x)
{
    if (x->kind == NSC_MEMBER_WHERE)
        add_value(p, place_of(p, (const struct nsc_where *)(const void *)at));
    else if (x->kind == NSC_MEMBER_REAL)
        add_value(p, nsc_turned(nsc_number_at(at, 8)));
    else if (x->kind == NSC_MEMBER_LIST)
        for (size_t i = 0; i < x->size; i += 8)
            add_value(p, nsc_number_at(at + i, 8));
    else
        add_value(p, nsc_number_at(at, x->size));
}

static void gather(struct packer *p, const struct nsc_array *rows, size_t size, const struct nsc_member *x)
{
    p->column.len = 0;
    for (size_t i = 0; i < rows->len && !p->failed; i++)
        add_values(p, rows->item + i * size + x->at, x);
}

/* Whatever is more often what stood before it packs best. */
static enum nsc_lies how(const struct packer *p, size_t rows)
{
    size_t values = 0, steps = 0;
    for (size_t i = 1; i < p->column.len; i++) {
        const uint64_t *v = &p->column.item[i];
        values += v[0] != v[-1];
        steps += i > 1 && v[0] - v[-1] != v[-1] - v[-2];
    }
    if (!values && rows <= NSC_FEW)
        return p->column.len && p->column.item[0] ? NSC_LIES_SAME : NSC_LIES_ZERO;
    return steps < values ? NSC_LIES_STEPS : NSC_LIES_VALUES;
}

static void put_column(struct packer *p, enum nsc_lies as)
{
    size_t n = as == NSC_LIES_ZERO ? 0 : as == NSC_LIES_SAME ? 1 : p->column.len;
    uint64_t before = 0;
    for (size_t i = 0; i < n; i++) {
        put_number(p, p->column.item[i] - before);
        before = as == NSC_LIES_STEPS ? p->column.item[i] : 0;
    }
}

/* How each column lies there, four a byte. */
static void put_methods(struct packer *p, const enum nsc_lies *as, size_t n)
{
    for (size_t k = 0; k < n; k += 4) {
        unsigned char four = 0;
        for (size_t i = k; i < k + 4 && i < n; i++)
            four = (unsigned char)(four | (unsigned)as[i] << (2 * (i - k)));
        put_bytes(p, &four, 1);
    }
}

static void put_rows(struct packer *p, const struct ncclscope_model *m, enum nsc_part_id id)
{
    struct nsc_array rows = nsc_array_of(m, id);
    size_t n;
    const struct nsc_member *member = nsc_members_of(&nsc_parts[id], &n);
    enum nsc_lies as[NSC_MOST_MEMBERS];
    assert(n <= NSC_MOST_MEMBERS);
    put_number(p, rows.len);
    for (size_t k = 0; k < n && rows.len; k++) {
        gather(p, &rows, nsc_parts[id].size, &member[k]);
        as[k] = how(p, rows.len);
    }
    if (rows.len)
        put_methods(p, as, n);
    for (size_t k = 0; k < n && rows.len; k++) {
        gather(p, &rows, nsc_parts[id].size, &member[k]);
        put_column(p, as[k]);
    }
}

static void put_totals(struct packer *p, const struct ncclscope_model *m)
{
    for (size_t i = 0; i < nsc_counted_things; i++) {
        const char *at = (const char *)m + nsc_counted[i].at;
        if (nsc_counted[i].kind == NSC_TOTAL_FIRST)
            put_number(p, place_of(p, (const struct nsc_where *)(const void *)at));
        else
            put_number(p, nsc_number_at(at, nsc_counted[i].kind == NSC_TOTAL_ANY ? sizeof(bool) : 8));
    }
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
    size_t size = nsc_carried_most(all->out.len);
    unsigned char head[NSC_CARRIED_HEAD], *packed = all->failed ? NULL : nsc_alloc(size);
    bool fine = packed && nsc_carried_pack(all->out.item, all->out.len, packed, &size);
    int rc = NCCLSCOPE_ENOMEM;
    if (fine) {
        nsc_carried_head(head, all->out.item, all->out.len);
        rc = write(user, (const char *)head, sizeof head) || write(user, (const char *)packed, size) ? NCCLSCOPE_EIO
                                                                                                     : NCCLSCOPE_OK;
    }
    nsc_free(packed);
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
    nsc_vec_free(&rows.column);
    if (rc == NCCLSCOPE_EIO)
        return nsc_fail(err, rc, 0, "the model could not be written");
    return rc ? nsc_fail(err, rc, 0, "out of memory") : nsc_settle(rc, before, err);
}
