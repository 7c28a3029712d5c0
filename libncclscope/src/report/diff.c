/* diff.c - two runs, and what is not the same in them. */
#include "report/text.h"
#include "report/traits.h"

#include <stdio.h>

struct change {
    const struct nsc_trait *a, *b; /* one of them may be NULL */
};
typedef NSC_VEC(struct change) changes;

/* Both lists are sorted by section and key. */
static bool compare(const struct nsc_traits *a, const struct nsc_traits *b, changes *out)
{
    size_t i = 0, k = 0;
    while (i < a->list.len || k < b->list.len) {
        const struct nsc_trait *x = i < a->list.len ? &a->list.item[i] : NULL,
                               *y = k < b->list.len ? &b->list.item[k] : NULL;
        int c = !x ? 1 : !y ? -1 : nsc_compare_traits(x, y);
        i += c <= 0;
        k += c >= 0;
        if (c == 0 && nsc_text_eq(x->value, y->value))
            continue;
        struct change *new_one = nsc_vec_push(out);
        if (!new_one)
            return false;
        *new_one = (struct change){c <= 0 ? x : NULL, c >= 0 ? y : NULL};
    }
    return true;
}

static const struct nsc_trait *either(const struct change *c)
{
    return c->a ? c->a : c->b;
}

static void write_json(struct nsc_out *out, const changes *list)
{
    struct nsc_json json = {out, true}, *j = &json;
    nsc_json_open(j, NULL, '{');
    nsc_json_string(j, "schema", "ncclscope.diff/1");
    nsc_json_bool(j, "same", !list->len);
    nsc_json_open(j, "changes", '[');
    for (size_t i = 0; i < list->len; i++) {
        const struct change *c = &list->item[i];
        nsc_json_open(j, NULL, '{');
        nsc_json_string(j, "section", nsc_section_name(either(c)->section));
        nsc_json_text(j, "key", either(c)->key);
        nsc_json_text(j, "a", c->a ? c->a->value : (nsc_text){NULL, 0});
        nsc_json_text(j, "b", c->b ? c->b->value : (nsc_text){NULL, 0});
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
    nsc_json_close(j, '}');
    nsc_puts(out, "\n");
}

enum { LINES_OF_SECTION = 12 };

/* What takes the place of a value that is not there. */
static nsc_text value_of(const struct nsc_trait *t, enum nsc_section section)
{
    return t                                  ? t->value
           : section == NSC_TRAIT_ENVIRONMENT ? NSC_TEXT("not set")
           : section == NSC_TRAIT_VERSIONS    ? NSC_TEXT("not said")
                                              : NSC_TEXT("none");
}

/* "NCCL_P2P_DISABLE: not set -> 1"; of findings and warnings that came or went their sign and name. */
static void write_change(const struct nsc_report *r, const struct change *c)
{
    enum { LONGEST = 200 };
    const struct nsc_trait *t = either(c);
    nsc_text a = value_of(c->a, t->section), b = value_of(c->b, t->section);
    char line[3 * LONGEST + 200];
    bool whole = t->section == NSC_TRAIT_FINDINGS || t->section == NSC_TRAIT_WARNINGS;
    int key = (int)(t->key.len < LONGEST ? t->key.len : LONGEST);
    size_t same = 0; /* of two long values the part where they differ */
    while (a.len > LONGEST && same + LONGEST / 2 < a.len && same < b.len && a.ptr[same] == b.ptr[same])
        same++;
    same = same > LONGEST / 2 ? same - LONGEST / 2 : 0;
    int x = (int)(a.len - (same < a.len ? same : 0)), y = (int)(b.len - (same < b.len ? same : 0));
    const char *from = same < a.len ? a.ptr + same : a.ptr, *to = same < b.len ? b.ptr + same : b.ptr;
    if (whole && (!c->a || !c->b))
        snprintf(line, sizeof line, t->section == NSC_TRAIT_FINDINGS ? "%s %.*s (%.*s)" : "%s %.*s", c->a ? "-" : "+",
                 key, t->key.ptr, (int)(t->value.len < LONGEST ? t->value.len : LONGEST), t->value.ptr);
    else
        snprintf(line, sizeof line, "%.*s: %s%.*s%s -> %s%.*s%s", key, t->key.ptr, same ? "..." : "",
                 x < LONGEST ? x : LONGEST, from, x > LONGEST ? "..." : "", same ? "..." : "",
                 y < LONGEST ? y : LONGEST, to, y > LONGEST ? "..." : "");
    nsc_indent(r, 3);
    nsc_wrap(r, 5, nsc_text_of(line));
}

static void write_text(const struct nsc_report *r, const changes *list)
{
    char line[200];
    nsc_mark(r, list->len ? NSC_MARK_BAD : NSC_MARK_OK);
    if (list->len)
        snprintf(line, sizeof line, "%zu difference%s between the two.", list->len, list->len == 1 ? "" : "s");
    else
        snprintf(line, sizeof line,
                 "No difference in versions, job, environment, paths, channels, networks, findings and warnings.");
    nsc_wrap(r, 3, nsc_text_of(line));
    for (size_t i = 0; i < list->len;) {
        enum nsc_section section = either(&list->item[i])->section;
        size_t shown = 0, more = 0;
        nsc_puts(r->out, "\n ");
        nsc_bold(r, nsc_text_of(nsc_section_name(section)));
        nsc_puts(r->out, "\n");
        for (; i < list->len && either(&list->item[i])->section == section; i++) {
            bool show = shown < LINES_OF_SECTION || r->flags & NCCLSCOPE_REPORT_VERBOSE;
            if (show)
                write_change(r, &list->item[i]);
            shown += show;
            more += !show;
        }
        if (more)
            nsc_printf(r->out, "   and %zu more (-v lists them)\n", more);
    }
}

int ncclscope_diff(const ncclscope_model *a, const ncclscope_findings *fa, const ncclscope_model *b,
                   const ncclscope_findings *fb, const char *format, int columns, int flags, ncclscope_write_fn *write,
                   void *user, size_t *differences)
{
    if (!a || !fa || !b || !fb || !format || !write || !differences)
        return NCCLSCOPE_EINVAL;
    bool json = !strcmp(format, "json");
    if (!json && strcmp(format, "text") != 0)
        return NCCLSCOPE_ENOTFOUND;
    struct nsc_traits of_a, of_b;
    changes list = {0};
    struct nsc_out *out = nsc_out_new(write, user);
    bool compared = false;
    nsc_find_traits(&of_a, a, fa);
    nsc_find_traits(&of_b, b, fb);
    if (out && !of_a.no_memory && !of_b.no_memory && compare(&of_a, &of_b, &list)) {
        *differences = list.len;
        if (json)
            write_json(out, &list);
        else
            write_text(&(struct nsc_report){.out = out, .columns = columns > 0 ? columns : 80, .flags = flags}, &list);
        compared = true;
    }
    nsc_vec_free(&list);
    nsc_traits_free(&of_a);
    nsc_traits_free(&of_b);
    int rc = nsc_out_end(out);
    return compared ? rc : NCCLSCOPE_ENOMEM;
}
