/* known.c - the known lines, listed: kinds with their templates, and the texts without a meaning of their own. */
#include "read/texts.h"
#include "report/report.h"

enum { SPELT = 600 };

static void text_rows(struct nsc_out *out, const ncclscope_grammar *g)
{
    char line[SPELT];
    for (size_t i = 0; i < g->messages.rows; i++) {
        const struct nsc_row *r = &g->messages.row[i];
        nsc_template_spell(r->pattern.template_, line, sizeof line);
        nsc_printf(out, "%-22s %s\n", ncclscope_kind_name(r->kind), line);
    }
}

static void text_known(struct nsc_out *out, const struct nsc_texts *t)
{
    char line[SPELT];
    for (size_t i = 0; i < t->index.rows; i++) {
        const struct nsc_known_text *k = &t->known[i];
        nsc_template_spell(k->template_, line, sizeof line);
        nsc_printf(out, "%-16s %-5s %s-%s [%s] %s\n", k->family, k->level, k->first, k->last, k->subsystems, line);
    }
}

static void json_rows(struct nsc_json *j, const ncclscope_grammar *g)
{
    char line[SPELT];
    nsc_json_open(j, "rows", '[');
    for (size_t i = 0; i < g->messages.rows; i++) {
        const struct nsc_row *r = &g->messages.row[i];
        nsc_template_spell(r->pattern.template_, line, sizeof line);
        nsc_json_open(j, NULL, '{');
        nsc_json_int(j, "number", (int64_t)r->kind);
        nsc_json_string(j, "kind", ncclscope_kind_name(r->kind));
        nsc_json_string(j, "template", line);
        nsc_json_string(j, "example", r->example);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

static void json_known(struct nsc_json *j, const struct nsc_texts *t)
{
    char line[SPELT];
    nsc_json_open(j, "texts", '[');
    for (size_t i = 0; i < t->index.rows; i++) {
        const struct nsc_known_text *k = &t->known[i];
        nsc_template_spell(k->template_, line, sizeof line);
        nsc_json_open(j, NULL, '{');
        nsc_json_string(j, "family", k->family);
        nsc_json_string(j, "level", k->level);
        nsc_json_string(j, "subsystems", k->subsystems);
        nsc_json_string(j, "first", k->first);
        nsc_json_text(j, "last", *k->last ? nsc_text_of(k->last) : (nsc_text){NULL, 0});
        nsc_json_string(j, "template", line);
        nsc_json_close(j, '}');
    }
    nsc_json_close(j, ']');
}

int ncclscope_grammar_report(ncclscope_grammar *g, const char *format, int flags, ncclscope_write_fn *write, void *user)
{
    if (!g || !format || !write)
        return NCCLSCOPE_EINVAL;
    bool json = !strcmp(format, "json"), all = flags & NCCLSCOPE_REPORT_VERBOSE;
    if (!json && strcmp(format, "text") != 0)
        return NCCLSCOPE_ENOTFOUND;
    struct nsc_out *out = nsc_out_new(write, user);
    const struct nsc_texts *t = all && out ? nsc_texts_of(g) : NULL;
    if (!out || (all && !t)) {
        nsc_free(out);
        return NCCLSCOPE_ENOMEM;
    }
    if (json) {
        struct nsc_json j = {.out = out, .first = true};
        nsc_json_open(&j, NULL, '{');
        json_rows(&j, g);
        if (t)
            json_known(&j, t);
        nsc_json_close(&j, '}');
        nsc_puts(out, "\n");
    } else {
        text_rows(out, g);
        if (t)
            text_known(out, t);
    }
    return nsc_out_end(out);
}
