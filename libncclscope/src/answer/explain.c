/* explain.c - what one line of a log says: its kind, its fields, the versions that print it, what it proves, and its source. */
#include "model/topology.h"
#include "read/reader.h"
#include "read/texts.h"
#include "report/text.h"

#include <stdio.h>

struct meaning {
    const char *source, *means, *proves;
};

/* By kind of line, and by row of links.def. */
static const struct meaning kinds[] = {
#define MEANS(NAME, source, means, proves) [NCCLSCOPE_KIND_##NAME] = {source, means, proves},
#define VIA(NAME, means, proves)
#define PART(text, means)
#define FAMILY(name, source, means)
#include "meanings.def"
#undef MEANS
#undef VIA
};

static const struct meaning vias[NSC_VIA_COUNT] = {
#define MEANS(NAME, source, means, proves)
#define VIA(NAME, means, proves) [NSC_VIA_##NAME] = {NULL, means, proves},
#include "meanings.def"
#undef MEANS
#undef VIA
#undef PART
#undef FAMILY
};

static struct meaning of_kind(ncclscope_kind kind)
{
    return (size_t)kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : (struct meaning){NULL, NULL, NULL};
}

static const struct {
    const char *name, *means;
} parts[] = {
#define MEANS(NAME, source, means, proves)
#define VIA(NAME, means, proves)
#define PART(text, means) {text, means},
#define FAMILY(name, source, means)
#include "meanings.def"
#undef MEANS
#undef VIA
#undef PART
#undef FAMILY
};

static const struct {
    const char *name, *source, *means;
} families[] = {
#define MEANS(NAME, source, means, proves)
#define VIA(NAME, means, proves)
#define PART(text, means)
#define FAMILY(name, source, means) {name, source, means},
#include "meanings.def"
#undef MEANS
#undef VIA
#undef PART
#undef FAMILY
};

static const struct {
    const char *name, *effect;
} variables[] = {
#define VAR(name, effect) {name, effect},
#include "environment.def"
#undef VAR
};

static const struct {
    ncclscope_field field;
    const char *words;
} fields[] = {
#define NCCLSCOPE_FIELD(number, NAME, name, type, unit, words) {NCCLSCOPE_FIELD_##NAME, words},
#include "ncclscope/fields.def"
#undef NCCLSCOPE_FIELD
};

static struct meaning of_family(const char *family)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (!strcmp(families[i].name, family))
            return (struct meaning){families[i].source, families[i].means, ""};
    return (struct meaning){NULL, NULL, ""};
}

static const char *words_of(ncclscope_field field)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].field == field)
            return fields[i].words;
    return NULL;
}

static void explain_who(const struct nsc_report *r, const ncclscope_record *rec)
{
    char who[400];
    int n = snprintf(who, sizeof who, "host %.*s, process %lld, thread %lld",
                     (int)(rec->host.len < 200 ? rec->host.len : 200), rec->host.ptr, (long long)rec->pid,
                     (long long)rec->tid);
    if (rec->dev >= 0)
        n += snprintf(who + n, sizeof who - (size_t)n,
                      ", CUDA device %lld of that thread (neither rank nor NVML index)", (long long)rec->dev);
    if (rec->launcher_rank >= 0)
        snprintf(who + n, sizeof who - (size_t)n, "; the launcher says rank %lld", (long long)rec->launcher_rank);
    nsc_part(r, "from", nsc_text_of(who));
}

static void explain_fields(const struct nsc_report *r, const ncclscope_record *rec)
{
    ncclscope_field field;
    ncclscope_text text;
    for (size_t i = 0; ncclscope_record_field(rec, i, &field, &text) == NCCLSCOPE_OK; i++) {
        const char *words = words_of(field);
        char line[700];
        snprintf(line, sizeof line, "%s %.*s%s%s%s", ncclscope_record_field_name(rec, field, NULL),
                 (int)(text.len < 400 ? text.len : 400), text.len ? text.ptr : "", words ? " (" : "",
                 words ? words : "", words ? ")" : "");
        nsc_part(r, i ? "" : "fields", nsc_text_of(line));
    }
}

/* "INIT|NET", "ALL->ENV@2.16.5" as words: "INIT or NET", "ALL, from 2.16.5 on ENV". */
static void spell_subsystems(const char *s, char *out, size_t size)
{
    size_t n = 0;
    while (*s && n + 40 < size) {
        const char *arrow = strstr(s, "->"), *end = arrow ? arrow : s + strlen(s);
        for (; s < end; s++)
            n += (size_t)snprintf(out + n, size - n, *s == '|' || *s == '+' ? " or " : "%c", *s);
        if (!arrow)
            break;
        s = arrow + 2;
        const char *at = strchr(s, '@');
        size_t name = at ? (size_t)(at - s) : strlen(s), version = at ? strcspn(at + 1, "-") : 0;
        n += (size_t)snprintf(out + n, size - n, ", from %.*s on ", (int)version, at ? at + 1 : "");
        for (size_t i = 0; i < name; i++)
            n += (size_t)snprintf(out + n, size - n, s[i] == '|' || s[i] == '+' ? " or " : "%c", s[i]);
        s += name + (at ? 1 + version : 0);
    }
    out[n < size ? n : size - 1] = 0;
}

/* "NCCL 2.12.7 to 2.18.1, INFO (shown by NCCL_DEBUG_SUBSYS INIT or NET)" */
static void spell_versions(const struct nsc_known_text *k, char *out, size_t size)
{
    char subsystems[120], last[60];
    bool release = nsc_is_digit(k->first[0]), always = !strcmp(k->subsystems, "ALL") || !strcmp(k->subsystems, "*");
    spell_subsystems(k->subsystems, subsystems, sizeof subsystems);
    snprintf(last, sizeof last, "%s%s",
             !strcmp(k->first, k->last) ? " alone"
             : *k->last                 ? " to "
             : release                  ? " on"
                                        : " and later",
             strcmp(k->first, k->last) != 0 ? k->last : "");
    snprintf(out, size, "%s%s%s%s, %s%s%s%s", release && !*k->last ? "from " : "", release ? "NCCL " : "", k->first,
             last, k->level, always ? "" : " (shown by NCCL_DEBUG_SUBSYS ", always ? "" : subsystems,
             always ? "" : ")");
}

/* Which releases print this text, at which level, and which subsystems show it. */
static bool explain_versions(const struct nsc_report *r, ncclscope_grammar *g, nsc_text message, struct nsc_match *m)
{
    const struct nsc_known_text *k = NULL;
    char line[300], before[300] = "";
    bool any = false;
    while ((k = nsc_texts_next(g, k, message, m))) {
        spell_versions(k, line, sizeof line);
        if (strcmp(line, before) != 0)
            nsc_part(r, any ? "" : "versions", nsc_text_of(line));
        memcpy(before, line, sizeof before);
        any = true;
    }
    return any;
}

static void explain_via(const struct nsc_report *r, const ncclscope_record *rec)
{
    nsc_text text = rec->via->text;
    struct meaning m = vias[rec->via->row];
    nsc_part(r, "path", nsc_text_of(m.means));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        bool beside = parts[i].name[0] == '[', proxy = parts[i].name[0] == '(' && !parts[i].name[1];
        bool there = beside  ? rec->match && nsc_record_field(rec, NCCLSCOPE_FIELD_SRC_DEV).ptr
                     : proxy ? rec->via->proxy_rank >= 0
                             : nsc_text_find(text, parts[i].name) >= 0;
        if (there)
            nsc_part(r, beside ? "[dev]" : proxy ? "(rank)" : parts[i].name, nsc_text_of(parts[i].means));
    }
}

static void explain_variable(const struct nsc_report *r, const ncclscope_record *rec)
{
    nsc_text name = nsc_record_field(rec, NCCLSCOPE_FIELD_NAME), value = nsc_record_field(rec, NCCLSCOPE_FIELD_VALUE);
    if (nsc_text_starts(value, "18446744073709551615"))
        nsc_part(r, "value", NSC_TEXT("-1: up to 2.12.7 numbers are printed without their sign."));
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (nsc_text_is(name, variables[i].name))
            nsc_part(r, "variable", nsc_text_of(variables[i].effect));
}

/* Which class of path a number means, by release: "8: NET 2.18.1 to 2.25.1, SYS 2.26.2 to 2.26.6 ...". */
static void explain_distance(const struct nsc_report *r, const ncclscope_record *rec, ncclscope_field f)
{
    size_t count;
    const struct nsc_distances *runs = nsc_distances(&count);
    char line[500];
    int64_t number;
    nsc_text text = nsc_record_field(rec, f);
    if (!nsc_to_i64(text, &number))
        return;
    int said = 0, n = snprintf(line, sizeof line, "%lld is", (long long)number);
    for (size_t i = 0; i < count; i++) {
        nsc_text name = nsc_distance_name(&runs[i], number);
        const char *first = runs[i].first;
        while (i + 1 < count && nsc_text_eq(name, nsc_distance_name(&runs[i + 1], number)))
            i++;
        const char *last = runs[i].last;
        if (name.len)
            n += snprintf(line + n, sizeof line - (size_t)n, "%s %.*s %s%s%s%s", said++ ? "," : "", (int)name.len,
                          name.ptr, *last ? "" : "from ", first, *last ? " to " : " on", last);
    }
    nsc_part(r, ncclscope_field_name(f), nsc_text_of(line));
}

static void explain_record(const struct nsc_report *r, ncclscope_grammar *g, const ncclscope_record *rec,
                           bool has_header, struct nsc_match *match)
{
    struct meaning m = rec->text ? of_family(rec->text->family) : of_kind(rec->kind);
    char source[300];
    nsc_part(r, "line", rec->message);
    nsc_part(r, "kind", nsc_text_of(rec->text ? rec->text->family : ncclscope_record_kind_name(rec)));
    if (has_header && rec->flags & NCCLSCOPE_FLAG_HEADER)
        explain_who(r, rec);
    if (rec->flags & NCCLSCOPE_FLAG_TORN && !(rec->flags & NCCLSCOPE_FLAG_STRIPPED))
        nsc_part(
            r, "torn",
            NSC_TEXT(
                "Another writer cut into this line, or its header is damaged: what is here is not the whole record."));
    nsc_part(r, "means", nsc_text_of(m.means));
    if (rec->text)
        nsc_part(r, "", NSC_TEXT("Its text is known; it has no meaning of its own here."));
    if (rec->via && rec->via->row)
        explain_via(r, rec);
    if (rec->kind == NCCLSCOPE_KIND_ENV_SET || rec->kind == NCCLSCOPE_KIND_ENV_SET_TO ||
        rec->kind == NCCLSCOPE_KIND_ENV_INVALID || rec->kind == NCCLSCOPE_KIND_CONFIG_RESET)
        explain_variable(r, rec);
    explain_fields(r, rec);
    if (rec->kind == NCCLSCOPE_KIND_GDR_PAIR) {
        explain_distance(r, rec, NCCLSCOPE_FIELD_DISTANCE);
        explain_distance(r, rec, NCCLSCOPE_FIELD_LEVEL);
    }
    if (rec->level == NCCLSCOPE_LEVEL_OTHER)
        nsc_part(r, "versions", NSC_TEXT("not NCCL's: another program prints it"));
    else if (!explain_versions(r, g, rec->message, match))
        nsc_part(r, "versions",
                 NSC_TEXT("no release of NCCL from 2.3.5 to 2.32.3 prints exactly this: another program's or fork's "
                          "words, a plugin's, or a damaged line"));
    struct meaning via = rec->via ? vias[rec->via->row] : m;
    nsc_part(r, "proves",
             nsc_text_of(via.proves && *via.proves ? via.proves : "Nothing about the path between two GPUs."));
    if (rec->via && nsc_text_find(rec->via->text, "/read") >= 0)
        nsc_part(r, "", NSC_TEXT("/read proves NVLink, with the reservation above."));
    bool own = m.source && strchr("abcdefghijklmnopqrstuvwxyz*", m.source[0]) &&
               (strstr(m.source, ".c") || strstr(m.source, ".h"));
    snprintf(source, sizeof source, "%s%s", own && !strstr(m.source, "plugin") ? "NVIDIA/nccl, below src/: " : "",
             m.source ? m.source : "");
    nsc_part(r, "source", nsc_text_of(source));
}

static bool is_known(const ncclscope_record *rec)
{
    return rec->kind != NCCLSCOPE_KIND_UNKNOWN;
}

/* Each record of `line`; how many are known. */
static int explain_all(const struct nsc_report *r, ncclscope_grammar *g, nsc_text line, bool has_header,
                       struct nsc_match *match)
{
    ncclscope_reader *reader;
    const ncclscope_record *rec;
    int known = 0;
    if (ncclscope_reader_new(&reader, g, NULL))
        return -1;
    if (ncclscope_reader_feed(reader, line.ptr, line.len)) {
        ncclscope_reader_free(reader);
        return -1;
    }
    ncclscope_reader_finish(reader);
    while (ncclscope_reader_next(reader, &rec, NULL) == NCCLSCOPE_OK) {
        if (!is_known(rec))
            continue;
        if (known++)
            nsc_puts(r->out, "\n");
        explain_record(r, g, rec, has_header, match);
    }
    ncclscope_reader_free(reader);
    return known;
}

/* "NCCL INFO Channel ...": pasted without what stands before it, and not damaged. */
static bool begins_with_marker(const char *line)
{
    struct nsc_header h;
    return nsc_header_find(nsc_text_trim(nsc_text_of(line)), 0, &h) && !h.marker && !h.whole;
}

/* As it is; or, where it holds no header, as the message of one. */
static int explain_text(const struct nsc_report *r, ncclscope_grammar *g, const char *line, struct nsc_match *match)
{
    bool marker = begins_with_marker(line);
    const char *header = marker ? "host:1:1 [0] " : "host:1:1 [0] NCCL INFO ";
    size_t n, head = strlen(header);
    if (marker)
        line += strspn(line, " \t");
    n = strlen(line);
    char *with_header = nsc_alloc(head + n + 2);
    if (!with_header)
        return -1;
    memcpy(with_header, header, head);
    memcpy(with_header + head, line, n);
    with_header[head + n] = '\n';
    int known = marker ? 0 : explain_all(r, g, (nsc_text){with_header + head, n + 1}, true, match);
    if (!known)
        known = explain_all(r, g, (nsc_text){with_header, head + n + 1}, false, match);
    nsc_free(with_header);
    return known;
}

int ncclscope_explain_line(ncclscope_grammar *g, const char *line, int columns, int flags, ncclscope_write_fn *write,
                           void *user)
{
    if (!g || !line || !write)
        return NCCLSCOPE_EINVAL;
    struct nsc_match match;
    struct nsc_out *out = nsc_out_new(write, user);
    if (!out || nsc_match_new(&match, NULL)) {
        nsc_free(out);
        return NCCLSCOPE_ENOMEM;
    }
    const struct nsc_report page = {.out = out, .columns = columns > 0 ? columns : 80, .flags = flags};
    int known = explain_text(&page, g, line, &match);
    nsc_match_free(&match);
    int rc = nsc_out_end(out);
    return known < 0 ? NCCLSCOPE_ENOMEM : rc || known ? rc : NCCLSCOPE_ENOTFOUND;
}
