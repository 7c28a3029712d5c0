/* text_warnings.c - warnings of NCCL that no finding shows: each is told, for the reader to judge. */
#include "report/text.h"

enum { WARNINGS_SHOWN = 6 };

nsc_text nsc_text_of_warning(const struct nsc_where *w)
{
    nsc_text line = nsc_text_trim(w->text);
    ptrdiff_t at = nsc_text_find(line, "NCCL WARN ");
    return at < 0 ? line : nsc_text_from(line, (size_t)at + sizeof "NCCL WARN " - 1);
}

/* Does a finding show it already: one that takes its cause from the words of the line itself? */
static bool is_explained(const struct nsc_report *r, const struct nsc_warning *w)
{
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        for (size_t k = 0; f->rule->key == NSC_ID_FAILURE_UNJUDGED && !f->open && k < f->evidences; k++)
            if (f->evidence[k].line == w->where.line && f->evidence[k].source == w->where.source)
                return true;
    }
    return false;
}

static void one_warning(const struct nsc_report *r, const struct nsc_warning *w)
{
    nsc_puts(r->out, "   ");
    if (r->m->sources.len > 1) {
        nsc_safe(r, nsc_base_name(nsc_say(r->m, r->m->sources.item[w->where.source].name)));
        nsc_puts(r->out, ":");
    }
    nsc_printf(r->out, w->lines > 1 ? "line %llu, and %llu more such\n" : "line %llu\n",
               (unsigned long long)w->where.line, (unsigned long long)w->lines - 1);
    nsc_indent(r, 5);
    nsc_wrap(r, 5, nsc_text_of_warning(&w->where));
}

static struct nsc_key place_of(const struct nsc_where *w)
{
    return (struct nsc_key){w->source, w->line, 0};
}

/* Does it tell of the input's own state? The lines that it shows then stand for many, and are not judged by it. */
static bool is_of_input(const struct nsc_finding *f)
{
    return !strncmp(f->rule->id, "log/", 4);
}

/* The kinds of warnings of which a finding shows a line. */
static void note_shown(const struct nsc_report *r, struct nsc_map *kinds)
{
    struct nsc_map lines = {0};
    for (size_t i = 0; i < r->f->list.len; i++)
        for (size_t k = 0; k < r->f->list.item[i].evidences && !is_of_input(&r->f->list.item[i]); k++)
            nsc_map_put(&lines, place_of(&r->f->list.item[i].evidence[k]), 1);
    for (size_t i = 0; i < r->m->events.len; i++) {
        const struct nsc_event *e = &r->m->events.item[i];
        if (nsc_map_get(&lines, place_of(&e->where)) != NSC_NONE)
            nsc_map_put(kinds, (struct nsc_key){(uint64_t)e->kind, 0, 0}, 1);
    }
    for (size_t i = 0; i < r->m->warnings.len; i++) {
        const struct nsc_warning *w = &r->m->warnings.item[i];
        if (nsc_map_get(&lines, place_of(&w->where)) != NSC_NONE)
            nsc_map_put(kinds, (struct nsc_key){(uint64_t)w->kind, 0, 0}, 1);
    }
    nsc_map_free(&lines);
}

/* The warnings that no rule judges; those that rules judge, and from which nothing follows in this input. */
static void list(const struct nsc_report *r, const struct nsc_map *shown, bool open, const char *head)
{
    size_t n = 0;
    for (size_t i = 0; i < r->m->warnings.len; i++) {
        const struct nsc_warning *w = &r->m->warnings.item[i];
        bool told =
            open ? is_explained(r, w) : nsc_map_get(shown, (struct nsc_key){(uint64_t)w->kind, 0, 0}) != NSC_NONE;
        if (nsc_is_open(w) != open || told || n++ >= WARNINGS_SHOWN)
            continue;
        if (n == 1)
            nsc_puts(r->out, head);
        one_warning(r, w);
    }
    if (n > WARNINGS_SHOWN)
        nsc_printf(r->out, "   and %zu more kinds of warnings (--json lists them)\n", n - WARNINGS_SHOWN);
}

void nsc_text_open_warnings(const struct nsc_report *r)
{
    list(r, NULL, true, "\nNCCL's own warnings that no rule has judged:\n");
}

void nsc_text_harmless_warnings(const struct nsc_report *r)
{
    struct nsc_map shown = {0};
    note_shown(r, &shown);
    list(r, &shown, false, "\nNCCL's own warnings that point to no failure here:\n");
    nsc_map_free(&shown);
}
