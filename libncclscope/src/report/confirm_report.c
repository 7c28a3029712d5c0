/* confirm_report.c - the log against its machine, for a person and as JSON: pairs with one verdict for one reason are told together. */
#include "report/json_report.h"
#include "base/neutral.h"
#include "report/text.h"
#include "rules/confirm.h"

#include <stdio.h>

static const char *via_of(const struct nsc_report *r, const struct nsc_confirmed *x)
{
    return nsc_say(r->m, x->link->via).ptr;
}

/* Is it the first of its group? */
static bool leads(const struct nsc_report *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (nsc_is_alike(&r->f->confirmed.item[k], &r->f->confirmed.item[i]))
            return false;
    return true;
}

/* ---- text ---- */

static const struct nsc_finding *worst_finding(const struct nsc_report *r)
{
    for (size_t i = 0; i < r->f->list.len; i++) /* they are in the order of severity */
        if (!strncmp(r->f->list.item[i].rule->id, r->about, strlen(r->about)) &&
            r->f->list.item[i].severity >= NCCLSCOPE_SEVERITY_WARNING)
            return &r->f->list.item[i];
    return NULL;
}

static void answer(const struct nsc_report *r)
{
    static const enum nsc_mark marks[NSC_CONFIRMATIONS] = {NSC_MARK_BAD,     NSC_MARK_BAD,     NSC_MARK_BAD,
                                                           NSC_MARK_UNKNOWN, NSC_MARK_UNKNOWN, NSC_MARK_OK};
    const struct nsc_finding *f = worst_finding(r);
    const struct nsc_confirmed *worst = NULL;
    char line[900];
    size_t n = 0;
    for (size_t i = 0; i < r->f->confirmed.len; i++)
        worst = !worst || r->f->confirmed.item[i].is < worst->is ? &r->f->confirmed.item[i] : worst;
    for (size_t i = 0; i < r->f->confirmed.len; i++)
        n += r->f->confirmed.item[i].is == worst->is;
    if (!worst) {
        nsc_mark(r, NSC_MARK_UNKNOWN);
        nsc_wrap(
            r, 3,
            r->f->peers_missing
                ? NSC_TEXT("The log connects its ranks only with ranks whose own log is not here: give the logs of all "
                           "ranks (pods) at once.")
                : NSC_TEXT("The log shows no connection between two GPUs of this machine: nothing to confirm."));
        return;
    }
    nsc_mark(r, worst->is == NSC_AS_GOOD && f ? NSC_MARK_BAD : marks[worst->is]);
    snprintf(line, sizeof line, "%zu of %zu pair%s: %s: %s%s%s.", n, r->f->confirmed.len,
             r->f->confirmed.len == 1 ? "" : "s", nsc_confirmation_words(worst->is), worst->why,
             worst->is == NSC_AS_GOOD && f ? "; but: " : "", worst->is == NSC_AS_GOOD && f ? f->title : "");
    nsc_wrap(r, 3, nsc_text_of(line));
}

static void place(const struct nsc_report *r)
{
    const struct nsc_fact_node *n = &r->m->facts->node;
    size_t here = 0;
    char line[600];
    for (size_t i = 0; i < r->m->gpu_of.len; i++)
        here += r->m->gpu_of.item[i] != NSC_NONE;
    nsc_text host = r->m->hosts.len ? nsc_say(r->m, r->m->hosts.item[0].name) : NSC_TEXT("no host");
    bool named = r->m->fit == NSC_FIT_NAME || r->m->fit == NSC_FIT_NAMED_PART;
    int n_of = snprintf(line, sizeof line, "%zu of the log's %zu ranks ran on GPUs of %.100s", here, r->m->ranks.len,
                        n->host_name ? n->host_name : "this machine");
    if (!named) /* else the name says all */
        n_of += snprintf(line + n_of, sizeof line - (size_t)n_of, " (the log names %.*s%s)",
                         (int)(host.len < 100 ? host.len : 100), host.ptr, r->m->hosts.len > 1 ? " and others" : "");
    snprintf(line + n_of, sizeof line - (size_t)n_of, ": %s.", nsc_fit_words((enum nsc_fit)r->m->fit));
    nsc_indent(r, 3);
    nsc_wrap(r, 3, nsc_text_of(line));
}

static void label(const struct nsc_report *r, const char *name, const char *text)
{
    nsc_indent(r, 5);
    nsc_printf(r->out, "%-9s", name);
    nsc_wrap(r, 14, nsc_text_of(text));
}

static void say_log(const struct nsc_report *r, const struct nsc_confirmed *x)
{
    const struct nsc_where *w = &x->link->where;
    nsc_text file = nsc_base_name(nsc_say(r->m, r->m->sources.item[w->source].name));
    char line[500];
    snprintf(line, sizeof line, "%.200s (%.*s%sline %llu)", via_of(r, x),
             r->m->sources.len > 1 ? (int)(file.len < 100 ? file.len : 100) : 0, file.ptr,
             r->m->sources.len > 1 ? " " : "", (unsigned long long)w->line);
    label(r, "log", line);
    if (x->line && x->line->line) {
        nsc_indent(r, 14);
        snprintf(line, sizeof line, "%llu  ", (unsigned long long)x->line->line);
        nsc_line_of(r, line, x->line->text);
    }
}

static void say_machine(const struct nsc_report *r, const struct nsc_confirmed *x)
{
    char line[300];
    if (!x->gpu[0] || !x->gpu[1] || x->gpu[0] == x->gpu[1])
        return;
    snprintf(line, sizeof line, "%s, P2P %s", x->offered ? x->offered : "path not known",
             x->p2p > 0 ? "offered"
             : x->p2p   ? "not known"
                        : "refused");
    label(r, "machine", line);
    if (!x->mb_s[0])
        return;
    int n = nsc_format(line, sizeof line, "%.1f GB/s by P2P", (double)x->mb_s[0] / 1000);
    if (x->mb_s[1])
        nsc_format(line + n, sizeof line - (size_t)n, ", %.1f through host memory: %.1fx", (double)x->mb_s[1] / 1000,
                   (double)x->mb_s[0] / (double)x->mb_s[1]);
    label(r, "measured", line);
}

/* Beside what the driver and the probe say: what NCCL found when it tried. */
static void say_diagnosis(const struct nsc_report *r, const struct nsc_confirmed *x)
{
    char line[300];
    if (x->diagnosed == NSC_NOT_DIAGNOSED)
        return;
    nsc_text path = x->diagnosed_path ? nsc_say(r->m, x->diagnosed_path) : (nsc_text){"", 0};
    snprintf(line, sizeof line, "%s%s%.*s (NCCL DIAG, line %llu)",
             x->diagnosed == NSC_DIAGNOSED_GOOD ? "its own diagnostics verified P2P both ways"
                                                : "its own diagnostics found P2P broken",
             path.len ? ", path " : "", (int)(path.len < 40 ? path.len : 40), path.ptr,
             (unsigned long long)x->diagnosed_at->line);
    label(r, "NCCL", line);
}

/* Ranks of the first communicator; of others their number. */
static void say_pairs(const struct nsc_report *r, size_t first)
{
    enum { SHOWN = 12 };
    const struct nsc_confirmed *list = r->f->confirmed.item;
    char line[4000];
    size_t n = 0, told = 0, more = 0, comms = 0;
    uint32_t last = list[first].comm;
    line[0] = 0;
    for (size_t k = first; k < r->f->confirmed.len; k++) { /* pairs lie by communicator */
        const struct nsc_confirmed *x = &list[k];
        if (!nsc_is_alike(x, &list[first]))
            continue;
        comms += x->comm != last;
        last = x->comm;
        if (x->comm != list[first].comm)
            continue;
        if (n + 40 > sizeof line || (!(r->flags & NCCLSCOPE_REPORT_VERBOSE) && told == SHOWN))
            more++;
        else
            n += (size_t)snprintf(line + n, sizeof line - n, "%s%llu-%llu", told++ ? " " : "", (unsigned long long)x->a,
                                  (unsigned long long)x->b);
    }
    if (more)
        n += (size_t)snprintf(line + n, sizeof line - n, " and %zu more", more);
    if (comms)
        snprintf(line + n, sizeof line - n, ", and pairs of %zu other communicator%s", comms, comms == 1 ? "" : "s");
    label(r, "ranks", line);
}

static void group(const struct nsc_report *r, size_t first)
{
    const struct nsc_confirmed *x = &r->f->confirmed.item[first];
    char head[200];
    size_t n = 0;
    for (size_t k = first; k < r->f->confirmed.len; k++)
        n += nsc_is_alike(x, &r->f->confirmed.item[k]);
    snprintf(head, sizeof head, "%zu pair%s: %s%s%s", n, n == 1 ? "" : "s", nsc_confirmation_words(x->is),
             x->confidence ? ", " : "", x->confidence ? x->confidence : "");
    nsc_puts(r->out, "\n");
    nsc_indent(r, 3);
    nsc_bold(r, nsc_text_of(head));
    nsc_puts(r->out, "\n");
    say_log(r, x);
    say_machine(r, x);
    say_diagnosis(r, x);
    label(r, "why", x->why);
    if (x->cost)
        label(r, "cost", x->cost);
    say_pairs(r, first);
}

static bool is_of_pairs(enum nsc_id key)
{
    return key == NSC_ID_PROBE_CONFIRMED || key == NSC_ID_PROBE_CONTRADICTS || key == NSC_ID_PROBE_STALE;
}

/* What `ncclscope LOG` would begin with, where that is not told here. */
static void others_of_log(const struct nsc_report *r)
{
    char line[700];
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        bool told = !strncmp(f->rule->id, r->about, strlen(r->about)) || !strncmp(f->rule->id, "transport/", 10) ||
                    !strncmp(f->rule->id, "env/", 4) || f->caused_by;
        if (told || f->severity < NCCLSCOPE_SEVERITY_WARNING)
            continue;
        nsc_puts(r->out, "\n");
        nsc_mark(r, NSC_MARK_NOTE);
        snprintf(line, sizeof line, "The log itself has findings that are not about these paths: %s: %s", f->rule->id,
                 f->title ? f->title : f->rule->means);
        nsc_wrap(r, 3, nsc_text_of(line));
        return;
    }
}

void nsc_confirm_text(const struct nsc_report *r)
{
    size_t others = 0;
    answer(r);
    if (r->flags & NCCLSCOPE_REPORT_VERDICT)
        return;
    nsc_puts(r->out, "\n");
    place(r);
    for (int is = 0; is < NSC_CONFIRMATIONS; is++)
        for (size_t i = 0; i < r->f->confirmed.len; i++)
            if ((int)r->f->confirmed.item[i].is == is && leads(r, i))
                group(r, i);
    for (size_t i = 0; i < r->f->list.len; i++) {
        const struct nsc_finding *f = &r->f->list.item[i];
        if (strncmp(f->rule->id, r->about, strlen(r->about)) != 0 || is_of_pairs(f->rule->key))
            continue;
        nsc_puts(r->out, others++ ? "" : "\n");
        nsc_text_finding(r, f);
    }
    if (r->f->confirmed.len && r->f->peers_missing) {
        nsc_puts(r->out, "\n");
        nsc_mark(r, NSC_MARK_NOTE);
        nsc_wrap(r, 3, NSC_TEXT("Connections to ranks whose own log is not here were not judged."));
    }
    others_of_log(r);
    nsc_puts(r->out, "\n`ncclscope LOG --facts FILE` says more of the log, `ncclscope probe` of the machine.\n");
}

/* ---- JSON ---- */

static void known_int(struct nsc_json *j, const char *key, int64_t v)
{
    if (v)
        nsc_json_int(j, key, v);
    else
        nsc_json_null(j, key);
}

static void write_pair(const struct nsc_report *r, struct nsc_json *j, const struct nsc_confirmed *x)
{
    nsc_json_open(j, NULL, '{');
    if (x->comm == NSC_NONE)
        nsc_json_null(j, "comm");
    else
        nsc_json_text(j, "comm", nsc_say(r->m, r->m->comms.item[x->comm].id));
    nsc_json_open(j, "ranks", '[');
    nsc_json_int(j, NULL, (int64_t)x->a);
    nsc_json_int(j, NULL, (int64_t)x->b);
    nsc_json_close(j, ']');
    nsc_json_open(j, "gpus", '[');
    for (int i = 0; i < 2; i++)
        if (x->gpu[i])
            nsc_json_int(j, NULL, x->gpu[i]->index.v);
        else
            nsc_json_null(j, NULL);
    nsc_json_close(j, ']');
    nsc_json_string(j, "verdict", nsc_confirmation_name(x->is));
    nsc_json_string(j, "confidence", x->confidence);
    nsc_json_string(j, "why", x->why);
    nsc_json_open(j, "log", '{');
    nsc_json_string(j, "path", nsc_path_name(x->path));
    nsc_json_text(j, "via", nsc_say(r->m, x->link->via));
    nsc_json_where(j, "where", &x->link->where);
    nsc_json_close(j, '}');
    nsc_json_open(j, "machine", '{');
    nsc_json_string(j, "path", x->offered);
    if (x->p2p < 0)
        nsc_json_null(j, "p2p");
    else
        nsc_json_bool(j, "p2p", x->p2p);
    nsc_json_close(j, '}');
    nsc_json_open(j, "diagnostics", '{');
    nsc_json_string(j, "p2p",
                    x->diagnosed == NSC_DIAGNOSED_GOOD  ? "verified"
                    : x->diagnosed == NSC_DIAGNOSED_BAD ? "failed"
                                                        : NULL);
    nsc_json_text(j, "path", x->diagnosed_path ? nsc_say(r->m, x->diagnosed_path) : (nsc_text){NULL, 0});
    if (x->diagnosed_at)
        nsc_json_where(j, "where", x->diagnosed_at);
    else
        nsc_json_null(j, "where");
    nsc_json_close(j, '}');
    nsc_json_open(j, "measured", '{');
    known_int(j, "p2p_mb_s", x->mb_s[0]);
    known_int(j, "shm_mb_s", x->mb_s[1]);
    known_int(j, "default_all_reduce_mb_s", x->run[0] ? x->run[0]->mb_s.v : 0);
    known_int(j, "all_reduce_mb_s", x->run[1] ? x->run[1]->mb_s.v : 0);
    nsc_json_close(j, '}');
    nsc_json_close(j, '}');
}

void nsc_confirm_json(const struct nsc_report *r)
{
    struct nsc_json json = {r->out, true}, *j = &json;
    nsc_json_open(j, NULL, '{');
    nsc_json_string(j, "schema", "ncclscope.confirm/1");
    nsc_json_string(j, "tool", "ncclscope " NSC_VERSION);
    nsc_json_open(j, "machine", '{');
    nsc_json_string(j, "host", r->m->facts->node.host_name);
    nsc_json_string(j, "asked_at", r->m->facts->node.asked_at);
    nsc_json_bool(j, "found", r->m->fit != NSC_FIT_NONE && r->m->fit != NSC_FIT_FOREIGN);
    nsc_json_string(j, "why", nsc_fit_words((enum nsc_fit)r->m->fit));
    nsc_json_close(j, '}');
    nsc_json_bool(j, "peers_missing", r->f->peers_missing);
    nsc_json_open(j, "verdicts", '{');
    for (int is = 0; is < NSC_CONFIRMATIONS; is++)
        nsc_json_int(j, nsc_confirmation_name((enum nsc_confirmation)is),
                     (int64_t)ncclscope_confirmed(r->f, nsc_confirmation_name((enum nsc_confirmation)is)));
    nsc_json_close(j, '}');
    nsc_json_open(j, "pairs", '[');
    for (size_t i = 0; i < r->f->confirmed.len; i++)
        write_pair(r, j, &r->f->confirmed.item[i]);
    nsc_json_close(j, ']');
    nsc_json_findings(r, j);
    nsc_json_close(j, '}');
    nsc_puts(r->out, "\n");
}

size_t ncclscope_confirmed(const ncclscope_findings *f, const char *verdict)
{
    size_t n = 0;
    for (size_t i = 0; f && verdict && i < f->confirmed.len; i++)
        n += !strcmp(nsc_confirmation_name(f->confirmed.item[i].is), verdict);
    return n;
}
