/* coverage.c - how much of a log the tables explain: records by kind, by known text, and by shape where nobody knows them. */
#include "model/scan.h"
#include "read/texts.h"
#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { SHAPE = 160, MOST_SHAPES = 20000 };
enum group { UNDERSTOOD, RECOGNISED, UNKNOWN, GROUPS };

struct line_shape {
    enum group group;
    nsc_text name;  /* of the kind, of the family, or nothing */
    nsc_text shape; /* the template, or the message with its numbers made alike */
    uint64_t count, line;
    uint32_t source;
};

struct ncclscope_coverage {
    ncclscope_model *model;
    struct nsc_intern strings;
    struct nsc_map by_shape;
    NSC_VEC(struct line_shape) shapes;
    uint64_t count[GROUPS], torn, empty, further;
    uint32_t source;
    bool no_memory;
};

/* Numbers and addresses made alike: "Foo <n> at <hex>". */
static nsc_text shape_of(nsc_text t, char out[SHAPE])
{
    size_t n = 0;
    for (size_t i = 0; i < t.len && n + 6 < SHAPE; i++) {
        bool hex = t.ptr[i] == '0' && i + 2 < t.len && t.ptr[i + 1] == 'x';
        if (!nsc_is_digit(t.ptr[i])) {
            out[n++] = t.ptr[i];
            continue;
        }
        const char *word = hex ? "<hex>" : "<n>", *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
        memcpy(out + n, word, strlen(word));
        n += strlen(word);
        i += hex ? 1 : 0;
        while (i + 1 < t.len && t.ptr[i + 1] && strchr(digits, t.ptr[i + 1]))
            i++;
    }
    return (nsc_text){out, n};
}

static void count_shape(struct ncclscope_coverage *c, const ncclscope_record *rec, enum group group, nsc_text name,
                        nsc_text shape)
{
    uint32_t n = nsc_intern(&c->strings, name), s = nsc_intern(&c->strings, shape);
    struct nsc_key key = {(uint64_t)group, n, s};
    uint32_t i = nsc_map_get(&c->by_shape, key);
    c->count[group]++;
    if (i != NSC_NONE) {
        c->shapes.item[i].count++;
        return;
    }
    if (c->shapes.len >= MOST_SHAPES) {
        c->further++;
        return;
    }
    struct line_shape *l = nsc_vec_push(&c->shapes);
    if (!l || nsc_map_put(&c->by_shape, key, (uint32_t)(c->shapes.len - 1))) {
        c->no_memory = true;
        return;
    }
    *l =
        (struct line_shape){group, nsc_interned(&c->strings, n), nsc_interned(&c->strings, s), 1, rec->line, c->source};
}

static int take_record(void *user, const ncclscope_record *rec)
{
    struct ncclscope_coverage *c = user;
    char shape[SHAPE];
    if (rec->level == NCCLSCOPE_LEVEL_OTHER || rec->flags & NCCLSCOPE_FLAG_JOINED) /* its first half was counted */
        return NCCLSCOPE_OK;
    if (rec->text)
        count_shape(c, rec, RECOGNISED, nsc_text_of(rec->text->family), nsc_text_of(rec->text->template_));
    else if (rec->kind == NCCLSCOPE_KIND_UNKNOWN && rec->flags & NCCLSCOPE_FLAG_TORN &&
             !(rec->flags & NCCLSCOPE_FLAG_STRIPPED))
        c->torn++;
    else if (!rec->message.len)
        c->empty++;
    else if (rec->kind == NCCLSCOPE_KIND_UNKNOWN)
        count_shape(c, rec, UNKNOWN, (nsc_text){NULL, 0}, shape_of(rec->message, shape));
    else
        count_shape(c, rec, UNDERSTOOD, nsc_text_of(ncclscope_record_kind_name(rec)), (nsc_text){NULL, 0});
    return c->no_memory ? NSC_TAP_FAILED : NCCLSCOPE_OK;
}

static int take_source_end(void *user, const ncclscope_reader *r, const char *name)
{
    (void)r;
    (void)name;
    ((struct ncclscope_coverage *)user)->source++;
    return NCCLSCOPE_OK;
}

int ncclscope_coverage_new(ncclscope_coverage **out, ncclscope_grammar *g, const char *const *paths, size_t n,
                           const ncclscope_scan_options *options, ncclscope_error *err)
{
    if (out)
        *out = NULL;
    if (!out || !g || (!paths && n))
        return nsc_null(err);
    struct ncclscope_coverage *c = *out = nsc_alloc(sizeof *c);
    if (!c)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    const struct nsc_tap tap = {.user = c, .record = take_record, .source_end = take_source_end};
    int rc = nsc_scan(&c->model, g, paths, n, options, &tap, err);
    if (rc == NCCLSCOPE_OK || rc == NCCLSCOPE_ESTOPPED)
        return rc;
    ncclscope_coverage_free(c);
    *out = NULL;
    return rc == NSC_TAP_FAILED ? nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory") : rc;
}

void ncclscope_coverage_free(ncclscope_coverage *c)
{
    if (!c)
        return;
    ncclscope_model_free(c->model);
    nsc_vec_free(&c->shapes);
    nsc_map_free(&c->by_shape);
    nsc_intern_free(&c->strings);
    nsc_free(c);
}

const ncclscope_model *ncclscope_coverage_model(const ncclscope_coverage *c)
{
    return c ? c->model : NULL;
}

static int by_count(const void *a, const void *b)
{
    const struct line_shape *x = *(const struct line_shape *const *)a, *y = *(const struct line_shape *const *)b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->source != y->source ? (x->source < y->source ? -1 : 1) : (x->line > y->line) - (x->line < y->line);
}

/* Groups one behind the other, the most frequent first; the caller frees. */
static const struct line_shape **sorted(const struct ncclscope_coverage *c)
{
    const struct line_shape **list = nsc_alloc((c->shapes.len + 1) * sizeof *list);
    for (size_t i = 0; list && i < c->shapes.len; i++)
        list[i] = &c->shapes.item[i];
    if (list)
        qsort(list, c->shapes.len, sizeof *list, by_count);
    return list;
}

static uint64_t records_of(const struct ncclscope_coverage *c)
{
    return c->count[UNDERSTOOD] + c->count[RECOGNISED] + c->count[UNKNOWN] + c->torn + c->empty;
}

uint64_t ncclscope_coverage_records(const ncclscope_coverage *c)
{
    return c ? records_of(c) : 0;
}

static double percent(const struct ncclscope_coverage *c, uint64_t n)
{
    uint64_t all = records_of(c);
    return all ? 100.0 * (double)n / (double)all : 0;
}

static void spell(const struct line_shape *l, char *out, size_t size)
{
    if (l->group == RECOGNISED)
        nsc_template_spell(l->shape.ptr, out, size);
    else
        snprintf(out, size, "%.*s", (int)l->shape.len, l->shape.len ? l->shape.ptr : "");
}

static const char *const group_names[] = {"understood", "recognised", "unknown"};

static void text_line(const struct nsc_report *r, const struct ncclscope_coverage *c, const struct line_shape *l)
{
    char shape[600];
    spell(l, shape, sizeof shape);
    nsc_printf(r->out, "%9llu  ", (unsigned long long)l->count);
    if (l->group != UNKNOWN)
        nsc_printf(r->out, shape[0] ? "%-20.*s  " : "%.*s", (int)l->name.len, l->name.ptr);
    nsc_safe(r, nsc_text_of(shape));
    if (l->group == UNKNOWN) {
        nsc_puts(r->out, "   (first in ");
        nsc_safe(r, nsc_base_name(nsc_text_of(ncclscope_model_source_name(c->model, l->source))));
        nsc_printf(r->out, ":%llu)", (unsigned long long)l->line);
    }
    nsc_puts(r->out, "\n");
}

static void write_text(const struct nsc_report *r, const struct ncclscope_coverage *c, enum group from)
{
    const struct line_shape **list = sorted(c);
    if (from == UNDERSTOOD) {
        nsc_printf(r->out, "%llu NCCL records:", (unsigned long long)records_of(c));
        for (int g = 0; g < GROUPS; g++)
            nsc_printf(r->out, " %llu %s (%.2f %%),", (unsigned long long)c->count[g], group_names[g],
                       percent(c, c->count[g]));
        nsc_printf(r->out, " %llu torn%s\n", (unsigned long long)c->torn, c->empty ? "," : "");
        if (c->empty)
            nsc_printf(r->out, "%llu without a text\n", (unsigned long long)c->empty);
    } else if (!c->count[UNKNOWN]) {
        nsc_printf(r->out, "0 of %llu NCCL records are unknown\n", (unsigned long long)records_of(c));
    }
    int group = -1;
    for (size_t i = 0; list && i < c->shapes.len; i++) {
        if (list[i]->group < from)
            continue;
        if ((int)list[i]->group != group)
            nsc_printf(r->out, "%s%s\n", group < 0 && from ? "" : "\n", group_names[list[i]->group]);
        group = (int)list[i]->group;
        text_line(r, c, list[i]);
    }
    if (c->further)
        nsc_printf(r->out, "\n%llu records more, of further shapes, are counted above and not listed\n",
                   (unsigned long long)c->further);
    nsc_free(list);
}

static void write_json(const struct nsc_report *r, const struct ncclscope_coverage *c)
{
    struct nsc_json j = {.out = r->out, .first = true};
    const struct line_shape **list = sorted(c);
    char shape[600];
    nsc_json_open(&j, NULL, '{');
    nsc_json_int(&j, "records", (int64_t)records_of(c));
    for (int g = 0; g < GROUPS; g++)
        nsc_json_int(&j, group_names[g], (int64_t)c->count[g]);
    nsc_json_int(&j, "torn", (int64_t)c->torn);
    nsc_json_int(&j, "empty", (int64_t)c->empty);
    nsc_json_open(&j, "shapes", '[');
    for (size_t i = 0; list && i < c->shapes.len; i++) {
        const struct line_shape *l = list[i];
        spell(l, shape, sizeof shape);
        nsc_json_open(&j, NULL, '{');
        nsc_json_string(&j, "group", group_names[l->group]);
        nsc_json_int(&j, "count", (int64_t)l->count);
        nsc_json_text(&j, l->group == RECOGNISED ? "family" : "kind", l->name.len ? l->name : (nsc_text){NULL, 0});
        nsc_json_text(&j, "shape", shape[0] ? nsc_text_of(shape) : (nsc_text){NULL, 0});
        nsc_json_string(&j, "file", ncclscope_model_source_name(c->model, l->source));
        nsc_json_int(&j, "line", (int64_t)l->line);
        nsc_json_close(&j, '}');
    }
    nsc_json_close(&j, ']');
    nsc_json_close(&j, '}');
    nsc_puts(r->out, "\n");
    nsc_free(list);
}

int ncclscope_coverage_report(const ncclscope_coverage *c, const char *format, int columns, int flags,
                              ncclscope_write_fn *write, void *user)
{
    if (!c || !format || !write)
        return NCCLSCOPE_EINVAL;
    bool json = !strcmp(format, "json"), unknown = !strcmp(format, "unknown");
    if (!json && !unknown && strcmp(format, "text") != 0)
        return NCCLSCOPE_ENOTFOUND;
    struct nsc_out *out = nsc_out_new(write, user);
    if (!out)
        return NCCLSCOPE_ENOMEM;
    const struct nsc_report page = {
        .m = c->model, .out = out, .columns = columns > 0 ? columns : 80, .flags = flags, .about = ""};
    if (json)
        write_json(&page, c);
    else
        write_text(&page, c, unknown ? UNKNOWN : UNDERSTOOD);
    return nsc_out_end(out);
}
