/* many_jobs.c - an archive of jobs: a table, worst first, or an object of each. A job is judged, and let go, before the next. */
#include "commands.h"
#include "scan.h"

#include "ncclscope/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the table says of a job. */
struct line {
    const char *name;
    char when[24], nccl[40];
    char *verdict; /* the first line of its report, allocated */
    size_t hosts;
    int64_t ranks; /* of its largest communicator; 0: none is known */
    size_t place;
    int worse; /* the worse the higher */
};

struct text {
    char *bytes;
    size_t len, cap;
};

/* What came of a job, as it is kept with a store: "2 1 0 3 8", when, NCCL and verdict, each on a line, and its counts for the fleet. The
 * first number is of the form of all this. */
enum { NOTE_FORM = 1, VERDICT_MOST = 4000 };

static int take(void *user, const char *bytes, size_t size)
{
    struct text *t = user;
    if (t->len + size + 1 > t->cap) {
        size_t cap = 2 * (t->len + size + 1);
        char *grown = realloc(t->bytes, cap);
        if (!grown)
            return -1;
        t->bytes = grown;
        t->cap = cap;
    }
    memcpy(t->bytes + t->len, bytes, size);
    t->len += size;
    t->bytes[t->len] = 0;
    return 0;
}

/* The earliest time that its inputs print, to the second: forms that begin with the date sort as text. */
static void put_when(struct line *x, const ncclscope_model *m)
{
    enum { DATE_AND_TIME = 19 };
    ncclscope_source s;
    for (size_t i = 0; ncclscope_model_sources(m, i, 1, &s, sizeof s); i++) {
        char when[sizeof x->when];
        snprintf(when, sizeof when, "%.*s", (int)(s.first_time.len < DATE_AND_TIME ? s.first_time.len : DATE_AND_TIME),
                 s.first_time.len ? s.first_time.ptr : "");
        if (when[0] && (!x->when[0] || strcmp(when, x->when) < 0))
            memcpy(x->when, when, sizeof when);
    }
}

/* "2.28.9"; "2.28.9 and others". */
static void put_releases(struct line *x, const ncclscope_model *m)
{
    ncclscope_release r;
    for (size_t i = 0; ncclscope_model_releases(m, i, 1, &r, sizeof r); i++) {
        size_t n = 0;
        while (n < r.name.len && n < 20 && r.name.ptr[n] != '+')
            n++;
        if (r.of != NCCLSCOPE_RELEASE_OF_NCCL || !strncmp(x->nccl, r.name.ptr, n))
            continue;
        if (x->nccl[0]) {
            snprintf(x->nccl + strlen(x->nccl), sizeof x->nccl - strlen(x->nccl), " ...");
            return;
        }
        snprintf(x->nccl, sizeof x->nccl, "%.*s", (int)n, r.name.ptr);
    }
}

static int how_bad(const ncclscope_findings *f)
{
    static const int of_verdict[] = {
        [NCCLSCOPE_ALL_OK] = 0, [NCCLSCOPE_NO_NCCL_LINES] = 1, [NCCLSCOPE_NO_EVIDENCE] = 2, [NCCLSCOPE_FINDINGS] = 3};
    int worst = 0;
    for (size_t i = 0; i < ncclscope_findings_count(f); i++)
        worst = ncclscope_finding_severity(f, i) > worst ? ncclscope_finding_severity(f, i) : worst;
    return of_verdict[ncclscope_findings_verdict(f)] + (worst > NCCLSCOPE_SEVERITY_WARNING ? 1 : 0);
}

/* The first lines of the report, as one. */
static bool put_verdict(const struct scan *s, struct line *x, const ncclscope_model *m, const ncclscope_findings *f)
{
    enum { WIDE = 400 };
    struct text t = {0};
    int flags = (report_flags(s) & NCCLSCOPE_REPORT_ASCII) | NCCLSCOPE_REPORT_VERDICT;
    if (ncclscope_report(m, f, "text", WIDE, flags, take, &t) || !t.bytes) {
        free(t.bytes);
        return false;
    }
    t.bytes[strcspn(t.bytes, "\n")] = 0;
    x->verdict = t.bytes;
    return true;
}

static bool put_line(const struct scan *s, struct line *x, const ncclscope_model *m, const ncclscope_findings *f)
{
    ncclscope_comm comm;
    x->hosts = ncclscope_model_hosts(m, 0, 0, NULL, 0);
    for (size_t i = 0; ncclscope_model_comms(m, i, 1, &comm, sizeof comm); i++)
        x->ranks = comm.nranks > x->ranks ? comm.nranks : x->ranks;
    x->worse = how_bad(f);
    put_when(x, m);
    put_releases(x, m);
    return put_verdict(s, x, m, f);
}

static int worst_first(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->worse != y->worse ? y->worse - x->worse : x->place < y->place ? -1 : 1;
}

static int letters(const char *s)
{
    int n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void put_padded(struct output *out, const char *text, int width)
{
    ncclscope_write_harmless(text, terminal_flags(), output_write, out);
    for (int n = letters(text); n < width + 2; n++)
        output_write(out, " ", 1);
}

/* A line a job; the verdict is the last, and may be long. */
static void put_table(struct output *out, struct line *lines, size_t n)
{
    enum { NAME, WHEN, HOSTS, RANKS, NCCL, COLUMNS };
    static const char *const heads[] = {"job", "when", "hosts", "ranks", "NCCL"};
    int width[COLUMNS];
    char number[2][24];
    for (int k = 0; k < COLUMNS; k++)
        width[k] = letters(heads[k]);
    for (size_t i = 0; i < n; i++) {
        const char *cells[] = {lines[i].name, lines[i].when, "", "", lines[i].nccl};
        for (int k = 0; k < COLUMNS; k++)
            width[k] = letters(cells[k]) > width[k] ? letters(cells[k]) : width[k];
    }
    for (int k = 0; k < COLUMNS; k++)
        put_padded(out, heads[k], width[k]);
    output_write(out, "verdict\n", 8);
    for (size_t i = 0; i < n; i++) {
        snprintf(number[0], sizeof number[0], "%zu", lines[i].hosts);
        snprintf(number[1], sizeof number[1], "%lld", (long long)lines[i].ranks);
        const char *cells[] = {lines[i].name, lines[i].when, number[0], lines[i].ranks ? number[1] : "-",
                               lines[i].nccl};
        for (int k = 0; k < COLUMNS; k++)
            put_padded(out, cells[k], width[k]);
        const char *verdict = lines[i].verdict + strspn(lines[i].verdict, " ");
        ncclscope_write_harmless(verdict, terminal_flags(), output_write, out);
        output_write(out, "\n", 1);
    }
}

/* {"job":NAME, and the members of its report. */
struct ndjson {
    struct output *out;
    const char *name;
    bool begun;
};

static int put_name(struct output *out, const char *name)
{
    static const char digits[] = "0123456789abcdef";
    int rc = output_write(out, "{\"job\":\"", 8);
    for (; *name && !rc; name++) {
        unsigned char c = (unsigned char)*name;
        char escaped[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
        bool plain = c >= ' ' && c != '"' && c != '\\' && c < 127;
        rc = plain ? output_write(out, name, 1) : output_write(out, escaped, sizeof escaped);
    }
    return rc ? rc : output_write(out, "\",", 2);
}

static int put_json(void *user, const char *bytes, size_t size)
{
    struct ndjson *j = user;
    if (j->begun || !size)
        return output_write(j->out, bytes, size);
    j->begun = true;
    int rc = put_name(j->out, j->name);
    return rc ? rc : output_write(j->out, bytes + 1, size - 1);
}

/* One after the other; of all of them what is the exit code? */
struct tally {
    ncclscope_fleet *fleet;
    size_t jobs, unanswered;
    bool damaged, found, no_memory, unkept; /* unkept: the store took no more */
};

static void count_code(struct tally *all, int code)
{
    all->found = all->found || code == EXIT_FINDING;
    all->unanswered += code == EXIT_NO_ANSWER;
    all->jobs++;
}

/* Counts the job by itself, so that its counts can be kept, and with the others. */
static bool count_in_fleet(const struct line *x, const ncclscope_model *m, const ncclscope_findings *f,
                           ncclscope_fleet **own, struct tally *all)
{
    struct text counts = {0};
    bool fine = !ncclscope_fleet_new(own, NULL) && !ncclscope_fleet_add(*own, x->name, m, f, NULL) &&
                !ncclscope_fleet_save(*own, take, &counts) &&
                !ncclscope_fleet_load(all->fleet, counts.bytes, counts.len, NULL);
    free(counts.bytes);
    return fine;
}

/* All that a note rests on beside the logs: of another version, or with other options, it is another. */
static char *about(const struct scan *s, const char *job)
{
    char *text = NULL;
    int n = asprintf(&text, "%s %d %d %s %s %s\n%s", ncclscope_version(), NOTE_FORM,
                     report_flags(s) & NCCLSCOPE_REPORT_ASCII, s->fail_on, s->patterns ? s->patterns : "",
                     s->expect ? s->expect : "", job);
    return n < 0 ? NULL : text;
}

static void keep_note(const struct scan *s, ncclscope_store *db, size_t i, const struct line *x, int code,
                      const ncclscope_fleet *own, struct tally *all)
{
    char head[200], *of = s->patterns ? NULL : about(s, x->name); /* what a file of patterns holds may change */
    struct text note = {0};
    ncclscope_error err = {0};
    int n = snprintf(head, sizeof head, "%d %d %d %zu %lld\n%s\n%s\n", NOTE_FORM, x->worse, code, x->hosts,
                     (long long)x->ranks, x->when, x->nccl);
    bool made = of && strlen(x->verdict) < VERDICT_MOST && !take(&note, head, (size_t)n) &&
                !take(&note, x->verdict, strlen(x->verdict)) && !take(&note, "\n", 1) &&
                ncclscope_fleet_save(own, take, &note) == NCCLSCOPE_OK;
    if (made && ncclscope_store_note(db, i, of, note.bytes, note.len, &err)) {
        tell(s->db, err.text);
        all->unkept = true;
    }
    free(note.bytes);
    free(of);
}

/* The next line of a note into `out`; false: it is too long, or there is none. */
static bool next_line(const char **rest, const char *end, char *out, size_t size)
{
    const char *stop = memchr(*rest, '\n', (size_t)(end - *rest));
    size_t n = stop ? (size_t)(stop - *rest) : size;
    if (n >= size)
        return false;
    memcpy(out, *rest, n);
    out[n] = 0;
    *rest = stop + 1;
    return strlen(out) == n;
}

/* Counts that are damaged would spoil those of the jobs before. */
static bool are_counts(const char *bytes, size_t len)
{
    ncclscope_fleet *alone = NULL;
    bool fine = !ncclscope_fleet_new(&alone, NULL) && !ncclscope_fleet_load(alone, bytes, len, NULL);
    ncclscope_fleet_free(alone);
    return fine;
}

/* Was the job judged before, as it is now? Then *x is filled in, and it is counted; a note that is not as it should be is none. */
static bool is_noted(const struct scan *s, ncclscope_store *db, size_t i, struct line *x, struct tally *all)
{
    static const char counts[] = "ncclscope.fleet-counts/1\n1 "; /* of one job */
    char head[100], verdict[VERDICT_MOST], *of = s->patterns || s->json ? NULL : about(s, x->name);
    const char *at = NULL, *end;
    size_t len = 0;
    int form, code;
    long long ranks;
    bool fine = of && ncclscope_store_noted(db, i, of, &at, &len, NULL) == NCCLSCOPE_OK;
    end = fine ? at + len : NULL;
    fine = fine && next_line(&at, end, head, sizeof head) &&
           sscanf(head, "%d %d %d %zu %lld", &form, &x->worse, &code, &x->hosts, &ranks) == 5 && form == NOTE_FORM &&
           next_line(&at, end, x->when, sizeof x->when) && next_line(&at, end, x->nccl, sizeof x->nccl) &&
           next_line(&at, end, verdict, sizeof verdict) && (size_t)(end - at) > sizeof counts &&
           !memcmp(at, counts, sizeof counts - 1);
    free(of);
    if (!fine || !are_counts(at, (size_t)(end - at)) || !(x->verdict = strdup(verdict)))
        return false;
    x->ranks = ranks;
    count_code(all, code);
    all->no_memory = ncclscope_fleet_load(all->fleet, at, (size_t)(end - at), NULL) != NCCLSCOPE_OK;
    return true;
}

static void look_at(const struct scan *s, struct output *out, const ncclscope_jobs *j, ncclscope_store *db, size_t i,
                    struct line *x, struct tally *all)
{
    ncclscope_model *m = NULL;
    ncclscope_findings *f = NULL;
    ncclscope_fleet *own = NULL;
    ncclscope_error err = {0};
    *x = (struct line){.name = ncclscope_job_name(j, i), .place = i};
    if (db && is_noted(s, db, i, x, all))
        return;
    free(x->verdict);
    *x = (struct line){.name = ncclscope_job_name(j, i), .place = i};
    int rc = db ? ncclscope_store_job(db, &m, i, &err) : ncclscope_job_model(&m, j, i, &err);
    rc = rc ? rc : ncclscope_analyse(&f, m, &err);
    if (!rc && s->expect)
        rc = ncclscope_expect(f, s->expect, &err);
    if (!rc) {
        bool damaged = tell_problems(m);
        int code = exit_code(s, f, false);
        struct ndjson json = {out, x->name, false};
        all->damaged = all->damaged || damaged;
        count_code(all, code);
        if (s->json)
            all->no_memory = ncclscope_report(m, f, "json", 0, 0, put_json, &json) == NCCLSCOPE_ENOMEM;
        else
            all->no_memory = !put_line(s, x, m, f) || !count_in_fleet(x, m, f, &own, all);
        if (db && ncclscope_store_add(db, m, f, &err)) {
            tell(s->db, err.text);
            all->unkept = true;
        } else if (db && !s->json && !damaged && !all->no_memory) {
            keep_note(s, db, i, x, code, own, all);
        }
    } else {
        all->no_memory = true;
    }
    ncclscope_fleet_free(own);
    ncclscope_findings_free(f);
    ncclscope_model_free(m);
}

static void put_rest(struct output *out, const ncclscope_jobs *j)
{
    char line[160];
    size_t n = ncclscope_jobs_without_nccl(j);
    if (n)
        output_write(out, line,
                     (size_t)snprintf(line, sizeof line, "\n%zu more file%s no line of NCCL's.\n", n,
                                      n == 1 ? " holds" : "s hold"));
    static const char more[] = "\n`--job NAME` reports one in full; `--group-by file|dir|REGEX` says what a job is.\n";
    output_write(out, more, sizeof more - 1);
}

int report_jobs(const struct scan *s, struct output *file, const ncclscope_jobs *j, ncclscope_store *db)
{
    size_t n = ncclscope_jobs_count(j);
    struct output *out = output_or_standard(file);
    struct line *lines = calloc(n + 1, sizeof *lines);
    struct tally all = {0};
    all.no_memory = !lines || ncclscope_fleet_new(&all.fleet, NULL);
    if (output_open(out)) {
        ncclscope_fleet_free(all.fleet);
        free(lines);
        return EXIT_INPUT;
    }
    for (size_t i = 0; i < n && !all.no_memory; i++)
        look_at(s, out, j, all.unkept ? NULL : db, i, &lines[i], &all);
    if (!all.no_memory && !s->json) {
        qsort(lines, n, sizeof *lines, worst_first);
        put_table(out, lines, n);
        output_write(out, "\n", 1);
        ncclscope_fleet_report(all.fleet, "text", terminal_columns(), terminal_flags(), output_write, out);
        put_rest(out, j);
    }
    ncclscope_fleet_free(all.fleet);
    for (size_t i = 0; lines && i < n; i++)
        free(lines[i].verdict);
    free(lines);
    if (all.no_memory)
        tell("", "out of memory");
    int unwritten = output_end(file, !all.no_memory);
    return all.no_memory || all.damaged || all.unkept ? EXIT_INPUT
           : unwritten                                ? unwritten
           : all.found                                ? EXIT_FINDING
           : all.unanswered == all.jobs               ? EXIT_NO_ANSWER
                                                      : EXIT_FINE;
}
