/* causes.c - of the rows of causes.def that a log does not contradict, the one that explains a finding. */
#include "rules/causes.h"

#include "rules/questions.h"

#include <stdio.h>
#include <stdlib.h>

#define CAUSE(id, NAME, kind, weight, sure, when, why, fix, seen, source) \
    static enum nsc_answer when_##NAME(struct nsc_ask *q) \
    { \
        (void)q; \
        return when; \
    }
#define KNOWN(id, cause, seen)
#include "causes.def"
#undef CAUSE
#undef KNOWN

#define CERTAIN "certain"
#define LIKELY "likely"
#define POSSIBLE "possible"
const struct nsc_cause nsc_causes[] = {
#define CAUSE(id, NAME, kind, weight, sure, when, why, fix, seen, source) \
    {NSC_ID_##id, #NAME, NSC_CAUSE_##kind, weight, sure, when_##NAME, why, fix, seen, source},
#define KNOWN(id, cause, seen) {NSC_ID_##id, NULL, NSC_CAUSE_KNOWN, 0, NULL, NULL, cause, "", seen, NULL},
#include "causes.def"
#undef CAUSE
#undef KNOWN
    {0},
};

/* What a {name} in the words of a row stands for; "" if the log does not say. */
static const char *value_of(const struct nsc_ask *q, nsc_text name)
{
    struct nsc_case *c = (struct nsc_case *)(uintptr_t)q->c;
    if (nsc_text_is(name, "variable") && q->env)
        return nsc_words(c, "%s=%s", nsc_say(q->m, q->env->name).ptr, nsc_say(q->m, q->env->value).ptr);
    if (nsc_text_is(name, "what") || nsc_text_is(name, "other")) {
        const char *words = nsc_text_is(name, "what") ? q->what : q->other;
        return words ? words : "";
    }
    for (size_t i = 0; nsc_text_is(name, "differing") && i < c->f->list.len; i++)
        if (c->f->list.item[i].rule->key == NSC_ID_ENV_DIFFERS)
            return c->f->list.item[i].title;
    if (nsc_text_is(name, "distance"))
        return q->distance ? q->distance : "";
    if (nsc_text_is(name, "gpu"))
        return nsc_gpu_of(q->m, q->proc).gpu ? nsc_gpu_of(q->m, q->proc).gpu->name : "this GPU";
    if (nsc_text_is(name, "network") && q->link)
        return nsc_say(q->m, q->link->network).ptr;
    if (nsc_text_is(name, "platform"))
        for (size_t i = 0; i < q->m->procs.len; i++)
            if (q->m->procs.item[i].platform &&
                (q->proc == NSC_NONE || q->proc == i || !q->m->procs.item[q->proc].platform))
                return nsc_say(q->m, q->m->procs.item[i].platform).ptr;
    if (nsc_text_is(name, "line") && q->line) {
        nsc_text said = nsc_text_upto(nsc_text_trim(nsc_message_of(q->line)), 240);
        said.len -= said.len && said.ptr[said.len - 1] == '.'; /* the sentence has one of its own */
        return nsc_words(c, "%.*s", (int)said.len, said.ptr);
    }
    const struct nsc_event *e = nsc_event_of(q->m, q->proc, NCCLSCOPE_KIND_OFI_PROVIDER);
    return nsc_text_is(name, "provider") && e ? nsc_say(q->m, e->text).ptr : "";
}

static const struct {
    const char *nvidia, *amd;
} amd_words[] = {
#define AMD_WORDS(nvidia, amd, source) {nvidia, amd},
#include "amd.def"
#undef AMD_WORDS
};

/* What AMD calls that which `at` begins with; NULL: the same. */
static const char *in_amds_words(const char *at, size_t *length)
{
    for (size_t i = 0; i < sizeof amd_words / sizeof amd_words[0]; i++) {
        *length = strlen(amd_words[i].nvidia);
        if (!strncmp(at, amd_words[i].nvidia, *length))
            return amd_words[i].amd;
    }
    return NULL;
}

/* The words of a row with what the log says put in. */
static const char *fill(struct nsc_case *c, const struct nsc_ask *q, const char *words)
{
    char buf[1100];
    size_t n = 0, replaced;
    bool amd = nsc_is_rccl(q->m);
    for (const char *p = words; *p && n + 1 < sizeof buf;) {
        size_t len = *p == '{' ? strcspn(p, "}") : 0;
        const char *other = amd ? in_amds_words(p, &replaced) : NULL;
        if (other) {
            int put = snprintf(buf + n, sizeof buf - n, "%s", other);
            n = n + (size_t)put < sizeof buf ? n + (size_t)put : sizeof buf - 1;
            p += replaced;
        } else if (len && p[len]) {
            int put = snprintf(buf + n, sizeof buf - n, "%s", value_of(q, (nsc_text){p + 1, len - 1}));
            n = n + (size_t)put < sizeof buf ? n + (size_t)put : sizeof buf - 1;
            p += len + 1;
        } else {
            buf[n++] = *p++;
        }
    }
    buf[n] = 0;
    return nsc_words(c, "%s", buf);
}

bool nsc_is_explained_by(const struct nsc_finding *f, const char *row)
{
    for (size_t i = 0; i < f->why_rows; i++)
        if (!strcmp(f->why_row[i], row))
            return true;
    return false;
}

const struct nsc_finding *nsc_explained_by(const struct ncclscope_findings *all, const char *row)
{
    for (size_t i = 0; i < all->list.len; i++)
        if (nsc_is_explained_by(&all->list.item[i], row))
            return &all->list.item[i];
    return NULL;
}

static void take(struct nsc_case *c, struct nsc_finding *f, const struct nsc_ask *q, const struct nsc_cause *row)
{
    f->why_row[0] = row->name;
    f->why_rows = 1;
    f->cause = fill(c, q, row->why);
    f->fix = fill(c, q, row->fix[0] ? row->fix : f->rule->fix);
    f->confidence = row->sure;
    if (row->kind == NSC_CAUSE_DESIGN) {
        f->severity = NCCLSCOPE_SEVERITY_NOTE;
        f->cls = "by-design";
    } else if (row->kind == NSC_CAUSE_SETTING) {
        f->cls = "configuration";
    } else if (row->kind == NSC_CAUSE_UNSURE && f->severity == NCCLSCOPE_SEVERITY_ERROR) {
        f->severity = NCCLSCOPE_SEVERITY_WARNING;
    }
    if (q->line)
        nsc_show_first(c, f, q->line);
    else if (q->env)
        nsc_show_first(c, f, &q->env->where);
}

/* The likeliest of those that nothing contradicts, where no row is sure; and how to find out. */
static bool list(struct nsc_case *c, struct nsc_finding *f, const struct nsc_ask *q,
                 const struct nsc_cause *const *open, size_t n)
{
    char why[900] = "", how[900] = "";
    size_t w = 0, h = 0;
    for (size_t i = 0; i < n; i++) {
        const char *words = fill(c, q, open[i]->why);
        w += (size_t)snprintf(why + w, sizeof why - w, "%s%s", i ? " " : "", words);
        h += (size_t)snprintf(how + h, sizeof how - h, "%s%s", i ? "; " : "", fill(c, q, open[i]->seen));
        if (w + 300 > sizeof why || h + 300 > sizeof how)
            break;
    }
    for (f->why_rows = 0; f->why_rows < n; f->why_rows++)
        f->why_row[f->why_rows] = open[f->why_rows]->name;
    f->cause = nsc_words(
        c, n > 1 ? "The log does not say why. Perhaps one of these: %s" : "The log does not say why. Perhaps: %s", why);
    f->fix = nsc_words(c, "Find out which: %s.", how);
    f->open = true;
    return true;
}

bool nsc_explain(struct nsc_case *c, struct nsc_finding *f, struct nsc_ask *ask)
{
    const struct nsc_cause *best = NULL, *open[NSC_CAUSES_LISTED];
    const struct nsc_where *line = NULL;
    const struct nsc_env *given = ask->env, *env = given; /* what a row asked for and is not told says nothing */
    size_t opens = 0;
    for (const struct nsc_cause *row = nsc_causes; row->key; row++) {
        if (!row->when || row->key != f->rule->key)
            continue;
        ask->line = NULL;
        ask->env = given;
        enum nsc_answer answer = row->when(ask);
        if (answer == NSC_YES && (!best || row->weight > best->weight)) {
            best = row;
            line = ask->line;
            env = ask->env;
        }
        if (answer != NSC_UNSAID || strcmp(row->sure, POSSIBLE) != 0)
            continue;
        size_t at = opens;
        while (at && open[at - 1]->weight < row->weight)
            at--;
        for (size_t i = opens < NSC_CAUSES_LISTED ? opens : NSC_CAUSES_LISTED - 1; i > at; i--)
            open[i] = open[i - 1];
        if (at < NSC_CAUSES_LISTED)
            open[at] = row;
        opens += opens < NSC_CAUSES_LISTED;
    }
    ask->line = line;
    ask->env = env;
    if (best)
        take(c, f, ask, best);
    return best ||
           (!ask->event && !ask->said && opens && list(c, f, ask, open, opens)); /* a warning says itself what it is */
}

void nsc_explain_with(struct nsc_case *c, struct nsc_finding *f, int reason, const char *what, const char *other)
{
    struct nsc_ask ask = {
        .c = c, .m = c->m, .proc = NSC_NONE, .reason = reason, .distance = "", .what = what, .other = other};
    const char *sure = f->confidence;
    nsc_explain(c, f, &ask);
    f->confidence = sure;
}

void nsc_explain_by(struct nsc_case *c, struct nsc_finding *f, int reason)
{
    nsc_explain_with(c, f, reason, NULL, NULL);
}
