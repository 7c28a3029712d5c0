/* fleet.c - findings of many jobs to what recurs: hosts, GPUs, releases and variables that come with a finding more often than chance has it. */
#include "ncclscope/fleet.h"

#include "report/text.h"
#include "rules/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What jobs have in common, and may be told apart by. */
enum kind { HOST, GPU, RELEASE, VARIABLE, KINDS };
static const char *const kind_words[KINDS] = {"host", "gpu", "nccl", "variable"};

struct thing {
    enum kind kind;
    nsc_str name;
    uint32_t jobs;
    uint32_t last; /* job that counted it last, from 1 */
};

struct finding {
    nsc_str id;
    uint32_t jobs, last;
};

/* A thing and a finding that came together. */
struct both {
    uint32_t thing, finding, jobs, last;
    nsc_str since, example; /* the earliest time that such a job prints; 0: none does. The last such job */
};

struct ncclscope_fleet {
    struct nsc_intern strings;
    NSC_VEC(struct thing) things;
    NSC_VEC(struct finding) findings;
    NSC_VEC(struct both) pairs;
    struct nsc_map thing_of, finding_of, pair_of;
    uint32_t jobs, with_findings, hosts;
    bool no_memory;
};

int ncclscope_fleet_new(ncclscope_fleet **out, ncclscope_error *err)
{
    if (!out)
        return nsc_null(err);
    *out = nsc_alloc(sizeof **out);
    return *out ? NCCLSCOPE_OK : nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
}

void ncclscope_fleet_free(ncclscope_fleet *x)
{
    if (!x)
        return;
    nsc_intern_free(&x->strings);
    nsc_vec_free(&x->things);
    nsc_vec_free(&x->findings);
    nsc_vec_free(&x->pairs);
    nsc_map_free(&x->thing_of);
    nsc_map_free(&x->finding_of);
    nsc_map_free(&x->pair_of);
    nsc_free(x);
}

/* ---- counting a job ---- */

/* The place under this key in a vector of `len`, which is its end where it is new. */
static uint32_t place(struct ncclscope_fleet *x, struct nsc_map *of, struct nsc_key key, size_t len)
{
    uint32_t at = nsc_map_get(of, key);
    if (at == NSC_NONE) {
        at = (uint32_t)len;
        x->no_memory = nsc_map_put(of, key, at) || x->no_memory;
    }
    return at;
}

/* The number of a thing, counted once a job. NSC_NONE: no memory. */
static uint32_t count_thing(struct ncclscope_fleet *x, enum kind kind, nsc_text name)
{
    nsc_str interned = nsc_intern(&x->strings, name);
    uint32_t at = place(x, &x->thing_of, (struct nsc_key){interned, kind, 0}, x->things.len);
    if (at == x->things.len) {
        struct thing *new = nsc_vec_push(&x->things);
        if (!new) {
            x->no_memory = true;
            return NSC_NONE;
        }
        *new = (struct thing){.kind = kind, .name = interned};
        x->hosts += kind == HOST;
    }
    struct thing *t = &x->things.item[at];
    t->jobs += t->last != x->jobs;
    t->last = x->jobs;
    return at;
}

static uint32_t count_finding(struct ncclscope_fleet *x, nsc_text id)
{
    nsc_str interned = nsc_intern(&x->strings, id);
    uint32_t at = place(x, &x->finding_of, (struct nsc_key){interned, 0, 0}, x->findings.len);
    if (at == x->findings.len) {
        struct finding *new = nsc_vec_push(&x->findings);
        if (!new) {
            x->no_memory = true;
            return NSC_NONE;
        }
        *new = (struct finding){.id = interned};
    }
    struct finding *f = &x->findings.item[at];
    f->jobs += f->last != x->jobs;
    f->last = x->jobs;
    return at;
}

/* The job in hand. */
struct job {
    const ncclscope_model *m;
    const ncclscope_findings *f;
    nsc_str name, when;
};

static void count_both(struct ncclscope_fleet *x, const struct job *job, uint32_t thing, uint32_t finding)
{
    if (thing == NSC_NONE || finding == NSC_NONE)
        return;
    uint32_t at = place(x, &x->pair_of, (struct nsc_key){thing, finding, 0}, x->pairs.len);
    if (at == x->pairs.len) {
        struct both *new = nsc_vec_push(&x->pairs);
        if (!new) {
            x->no_memory = true;
            return;
        }
        *new = (struct both){.thing = thing, .finding = finding};
    }
    struct both *b = &x->pairs.item[at];
    if (b->last == x->jobs)
        return;
    b->jobs++;
    b->last = x->jobs;
    b->example = job->name;
    if (job->when &&
        (!b->since || nsc_compare(nsc_interned(&x->strings, job->when), nsc_interned(&x->strings, b->since)) < 0))
        b->since = job->when;
}

static nsc_text gpu_name(const ncclscope_rank *r, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%.*s %.*s", (int)r->host.len, r->host.ptr ? r->host.ptr : "", (int)r->bus_id.len,
                     r->bus_id.ptr ? r->bus_id.ptr : "");
    bool whole = r->host.len && r->bus_id.len && n > 0 && (size_t)n < size;
    return whole ? (nsc_text){buf, (size_t)n} : (nsc_text){NULL, 0};
}

enum { NAME = 400 };

/* All that the job has, each once; with a finding: together with it. Of hosts and GPUs only where `everywhere`: the finding names none. */
static void count_all(struct ncclscope_fleet *x, const struct job *job, uint32_t finding, bool hosts, bool gpus)
{
    const struct nsc_rows *rows = &job->m->rows;
    char buf[NAME];
    for (int64_t i = 0; hosts && i < nsc_row_next(rows, host); i++)
        count_both(x, job, count_thing(x, HOST, nsc_row_at(rows, host, (size_t)i)->name), finding);
    for (int64_t i = 0; gpus && i < nsc_row_next(rows, rank); i++) {
        nsc_text name = gpu_name(nsc_row_at(rows, rank, (size_t)i), buf, sizeof buf);
        if (name.len)
            count_both(x, job, count_thing(x, GPU, name), finding);
    }
    for (int64_t i = 0; i < nsc_row_next(rows, release); i++) {
        const ncclscope_release *r = nsc_row_at(rows, release, (size_t)i);
        if (r->of == NCCLSCOPE_RELEASE_OF_NCCL)
            count_both(x, job, count_thing(x, RELEASE, r->name), finding);
    }
    for (int64_t i = 0; i < nsc_row_next(rows, env_value); i++) {
        const ncclscope_env_value *v = nsc_row_at(rows, env_value, (size_t)i);
        const ncclscope_env *e = nsc_row_at(rows, env, (size_t)v->env);
        int n = snprintf(buf, sizeof buf, "%.*s=%.*s", (int)e->name.len, e->name.ptr, (int)v->value.len,
                         v->value.len ? v->value.ptr : "");
        if (n > 0 && (size_t)n < sizeof buf)
            count_both(x, job, count_thing(x, VARIABLE, (nsc_text){buf, (size_t)n}), finding);
    }
}

/* Hosts that a finding names, and the GPUs of its ranks; where it names neither it is about all of the job. */
static void count_named(struct ncclscope_fleet *x, const struct job *job, int64_t row, uint32_t finding)
{
    const struct nsc_rows *rows = &job->f->rows;
    const ncclscope_finding *f = nsc_row_at(rows, finding, (size_t)row);
    const struct nsc_finding *of = &job->f->list.item[row];
    char buf[NAME];
    for (size_t i = 0; i < of->hosts.len; i++)
        count_both(x, job, count_thing(x, HOST, nsc_say(job->m, of->hosts.item[i])), finding);
    for (int64_t i = 0; of->ranks.len && i < nsc_row_next(&job->m->rows, rank); i++) {
        const ncclscope_rank *r = nsc_row_at(&job->m->rows, rank, (size_t)i);
        bool named = false;
        for (size_t k = 0; r->comm == f->comm && k < of->ranks.len && !named; k++)
            named = (int64_t)of->ranks.item[k] == r->rank;
        nsc_text name = named ? gpu_name(r, buf, sizeof buf) : (nsc_text){NULL, 0};
        if (name.len)
            count_both(x, job, count_thing(x, GPU, name), finding);
        if (name.len && !of->hosts.len)
            count_both(x, job, count_thing(x, HOST, r->host), finding);
    }
    bool none = !of->hosts.len && !of->ranks.len;
    count_all(x, job, finding, none, none);
}

static nsc_str earliest(struct ncclscope_fleet *x, const ncclscope_model *m)
{
    nsc_text best = {NULL, 0};
    for (int64_t i = 0; i < nsc_row_next(&m->rows, source); i++) {
        nsc_text t = nsc_row_at(&m->rows, source, (size_t)i)->first_time;
        if (t.len && (!best.len || nsc_compare(t, best) < 0))
            best = t;
    }
    return best.len ? nsc_intern(&x->strings, best) : 0;
}

int ncclscope_fleet_add(ncclscope_fleet *x, const char *name, const ncclscope_model *m, const ncclscope_findings *f,
                        ncclscope_error *err)
{
    if (!x || !name || !m || !f || f->model != m)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "a fleet counts a model with its own findings, under a name");
    unsigned before = nsc_failed_allocations();
    struct job job = {m, f, nsc_intern(&x->strings, nsc_text_of(name)), earliest(x, m)};
    bool found = false;
    x->jobs++;
    count_all(x, &job, NSC_NONE, true, true);
    for (int64_t i = 0; i < nsc_row_next(&f->rows, finding); i++) {
        const ncclscope_finding *row = nsc_row_at(&f->rows, finding, (size_t)i);
        if (row->severity < NCCLSCOPE_SEVERITY_WARNING || row->caused_by.len)
            continue;
        found = true;
        count_named(x, &job, i, count_finding(x, row->id));
    }
    x->with_findings += found;
    return nsc_settle(x->no_memory ? NCCLSCOPE_ENOMEM : NCCLSCOPE_OK, before, err);
}

/* ---- what was counted, as bytes ---- */

static const char saved_mark[] = "ncclscope.fleet-counts/1\n";

static void save_text(struct nsc_out *out, nsc_text t)
{
    nsc_printf(out, "%zu:", t.len);
    nsc_put(out, t);
}

static void save_interned(const struct ncclscope_fleet *x, struct nsc_out *out, nsc_str s)
{
    save_text(out, s ? nsc_interned(&x->strings, s) : (nsc_text){NULL, 0});
}

int ncclscope_fleet_save(const ncclscope_fleet *x, ncclscope_write_fn *write, void *user)
{
    struct nsc_out *out = x && write ? nsc_out_new(write, user) : NULL;
    if (!x || !write)
        return NCCLSCOPE_EINVAL;
    if (!out)
        return NCCLSCOPE_ENOMEM;
    nsc_puts(out, saved_mark);
    nsc_printf(out, "%u %u %zu %zu %zu ", x->jobs, x->with_findings, x->things.len, x->findings.len, x->pairs.len);
    for (size_t i = 0; i < x->things.len; i++) {
        nsc_printf(out, "%d %u ", (int)x->things.item[i].kind, x->things.item[i].jobs);
        save_interned(x, out, x->things.item[i].name);
    }
    for (size_t i = 0; i < x->findings.len; i++) {
        nsc_printf(out, "%u ", x->findings.item[i].jobs);
        save_interned(x, out, x->findings.item[i].id);
    }
    for (size_t i = 0; i < x->pairs.len; i++) {
        const struct both *b = &x->pairs.item[i];
        nsc_printf(out, "%u %u %u ", b->thing, b->finding, b->jobs);
        save_interned(x, out, b->since);
        save_interned(x, out, b->example);
    }
    return nsc_out_end(out);
}

/* "12 " of saved counts; `fine` turns false where that is not there. */
static uint32_t load_number(nsc_text *rest, bool *fine)
{
    uint64_t v = 0;
    size_t n = 0;
    while (n < rest->len && n < 10 && nsc_is_digit(rest->ptr[n]))
        v = v * 10 + (uint64_t)(rest->ptr[n++] - '0');
    *fine = *fine && n && n < rest->len && (rest->ptr[n] == ' ' || rest->ptr[n] == ':') && v <= UINT32_MAX;
    *rest = *fine ? nsc_text_from(*rest, n + 1) : (nsc_text){NULL, 0};
    return *fine ? (uint32_t)v : 0;
}

static nsc_text load_text(nsc_text *rest, bool *fine)
{
    uint32_t n = load_number(rest, fine);
    *fine = *fine && n <= rest->len;
    nsc_text t = *fine ? (nsc_text){rest->ptr, n} : (nsc_text){NULL, 0};
    *rest = *fine ? nsc_text_from(*rest, n) : (nsc_text){NULL, 0};
    return t;
}

static void load_pair(struct ncclscope_fleet *x, nsc_text *rest, const uint32_t *thing, uint32_t things,
                      const uint32_t *finding, uint32_t findings, bool *fine)
{
    uint32_t t = load_number(rest, fine), f = load_number(rest, fine), jobs = load_number(rest, fine);
    nsc_text since = load_text(rest, fine), example = load_text(rest, fine);
    *fine = *fine && t < things && f < findings;
    if (!*fine)
        return;
    uint32_t at = place(x, &x->pair_of, (struct nsc_key){thing[t], finding[f], 0}, x->pairs.len);
    struct both *new = at == x->pairs.len ? nsc_vec_push(&x->pairs) : NULL;
    if (new)
        *new = (struct both){.thing = thing[t], .finding = finding[f]};
    if (at >= x->pairs.len) {
        x->no_memory = true;
        return;
    }
    struct both *b = &x->pairs.item[at];
    b->jobs += jobs;
    b->example = nsc_intern(&x->strings, example);
    if (since.len && (!b->since || nsc_compare(since, nsc_interned(&x->strings, b->since)) < 0))
        b->since = nsc_intern(&x->strings, since);
}

/* Counts are added to those of jobs that are counted already. */
static bool load_counts(struct ncclscope_fleet *x, nsc_text rest)
{
    bool fine = true;
    uint32_t jobs = load_number(&rest, &fine), with = load_number(&rest, &fine), things = load_number(&rest, &fine),
             findings = load_number(&rest, &fine), pairs = load_number(&rest, &fine);
    fine = fine && things <= rest.len && findings <= rest.len && pairs <= rest.len; /* each takes some bytes */
    uint32_t *at = fine ? nsc_alloc(((size_t)things + findings + 1) * sizeof *at) : NULL;
    x->no_memory = x->no_memory || (fine && !at);
    for (uint32_t i = 0; fine && at && i < things; i++) {
        uint32_t kind = load_number(&rest, &fine), of = load_number(&rest, &fine);
        nsc_text name = load_text(&rest, &fine);
        fine = fine && kind < KINDS && of >= 1 && of <= jobs;
        at[i] = fine ? count_thing(x, (enum kind)kind, name) : NSC_NONE;
        if (at[i] != NSC_NONE)
            x->things.item[at[i]].jobs += of - 1; /* one of them was counted here */
    }
    for (uint32_t i = 0; fine && at && i < findings; i++) {
        uint32_t of = load_number(&rest, &fine);
        nsc_text id = load_text(&rest, &fine);
        fine = fine && of >= 1 && of <= jobs;
        at[things + i] = fine ? count_finding(x, id) : NSC_NONE;
        if (at[things + i] != NSC_NONE)
            x->findings.item[at[things + i]].jobs += of - 1;
    }
    for (uint32_t i = 0; fine && at && !x->no_memory && i < pairs; i++)
        load_pair(x, &rest, at, things, at + things, findings, &fine);
    x->jobs += jobs - 1;
    x->with_findings += with;
    nsc_free(at);
    return fine;
}

int ncclscope_fleet_load(ncclscope_fleet *x, const char *bytes, size_t len, ncclscope_error *err)
{
    if (!x || !bytes)
        return nsc_null(err);
    unsigned before = nsc_failed_allocations();
    nsc_text all = {bytes, len};
    if (!nsc_text_starts(all, saved_mark))
        return nsc_fail(err, NCCLSCOPE_EDATA, 0, "these are no counts of a fleet");
    x->jobs++;
    bool fine = load_counts(x, nsc_text_from(all, sizeof saved_mark - 1));
    int rc = nsc_settle(x->no_memory ? NCCLSCOPE_ENOMEM : NCCLSCOPE_OK, before, err);
    return rc || fine ? rc : nsc_fail(err, NCCLSCOPE_EDATA, 0, "the counts of a fleet are damaged");
}

/* ---- more often than chance has it ---- */

static double log_choose(double n, double k)
{
    int sign;
    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

/* Fisher's exact test: of `all` jobs `with` have the thing and `found` the finding; how likely are `both` or more with both, if neither
 * has to do with the other? */
static double chance(double both, double with, double found, double all)
{
    double p = 0, most = with < found ? with : found;
    for (double k = both; k <= most; k++)
        p += exp(log_choose(with, k) + log_choose(all - with, found - k) - log_choose(all, found));
    return p;
}

enum { LEAST = 3 };              /* jobs: fewer are no pattern */
static const double rare = 0.01; /* for all pairs of a report together */

struct recurring {
    const struct both *both;
    const struct thing *thing;
    const struct finding *finding;
    double p;
};
typedef NSC_VEC(struct recurring) recurrences;

static int by_chance(const void *a, const void *b)
{
    const struct recurring *x = a, *y = b;
    return x->p < y->p ? -1 : x->p > y->p ? 1 : x->both < y->both ? -1 : 1;
}

/* A GPU recurs with its host, and a host with its GPUs: the one that has fewer jobs without the finding is told, else the host. */
static bool is_told_by_host(const struct ncclscope_fleet *x, const recurrences *all, const struct recurring *gpu)
{
    nsc_text name = nsc_interned(&x->strings, gpu->thing->name);
    for (size_t i = 0; i < all->len; i++) {
        const struct recurring *r = &all->item[i];
        nsc_text host = nsc_interned(&x->strings, r->thing->name);
        if (r->thing->kind == HOST && r->both->finding == gpu->both->finding && host.len < name.len &&
            name.ptr[host.len] == ' ' && !memcmp(name.ptr, host.ptr, host.len))
            return r->thing->jobs - r->both->jobs <= gpu->thing->jobs - gpu->both->jobs;
    }
    return false;
}

static bool find_recurring(const struct ncclscope_fleet *x, recurrences *out)
{
    double looked_at = 0;
    bool fine = true;
    for (size_t i = 0; i < x->pairs.len; i++)
        looked_at += x->pairs.item[i].jobs >= LEAST;
    for (size_t i = 0; i < x->pairs.len && fine; i++) {
        const struct both *b = &x->pairs.item[i];
        const struct thing *t = &x->things.item[b->thing];
        const struct finding *f = &x->findings.item[b->finding];
        if (b->jobs < LEAST || t->jobs == x->jobs) /* what all jobs have tells none apart */
            continue;
        double p = chance(b->jobs, t->jobs, f->jobs, x->jobs);
        if (p * looked_at >= rare)
            continue;
        struct recurring *new = nsc_vec_push(out);
        fine = new;
        if (new)
            *new = (struct recurring){b, t, f, p};
    }
    size_t kept = 0;
    if (fine && out->len)
        qsort(out->item, out->len, sizeof *out->item, by_chance);
    for (size_t i = 0; fine && i < out->len; i++)
        if (out->item[i].thing->kind != GPU || !is_told_by_host(x, out, &out->item[i]))
            out->item[kept++] = out->item[i];
    out->len = kept;
    return fine;
}

/* ---- telling it ---- */

static void put_json(const struct ncclscope_fleet *x, struct nsc_out *out, const recurrences *all)
{
    struct nsc_json j = {out, true};
    nsc_json_open(&j, NULL, '{');
    nsc_json_string(&j, "schema", "ncclscope.fleet/1");
    nsc_json_count(&j, "jobs", x->jobs);
    nsc_json_count(&j, "jobs_with_findings", x->with_findings);
    nsc_json_count(&j, "hosts", x->hosts);
    nsc_json_open(&j, "recurring", '[');
    for (size_t i = 0; i < all->len; i++) {
        const struct recurring *r = &all->item[i];
        nsc_json_open(&j, NULL, '{');
        nsc_json_string(&j, "kind", kind_words[r->thing->kind]);
        nsc_json_text(&j, "name", nsc_interned(&x->strings, r->thing->name));
        nsc_json_text(&j, "finding", nsc_interned(&x->strings, r->finding->id));
        nsc_json_count(&j, "jobs", r->both->jobs);
        nsc_json_count(&j, "jobs_with_it", r->thing->jobs);
        nsc_json_count(&j, "jobs_with_finding", r->finding->jobs);
        nsc_json_text(&j, "since", r->both->since ? nsc_interned(&x->strings, r->both->since) : (nsc_text){NULL, 0});
        nsc_json_text(&j, "example", nsc_interned(&x->strings, r->both->example));
        nsc_json_close(&j, '}');
    }
    nsc_json_close(&j, ']');
    nsc_json_close(&j, '}');
    nsc_puts(out, "\n");
}

static void put_csv(const struct ncclscope_fleet *x, const struct nsc_report *r, const recurrences *all)
{
    nsc_puts(r->out, "kind,name,finding,jobs,jobs_with_it,jobs_with_finding,all_jobs,since,example\n");
    for (size_t i = 0; i < all->len; i++) {
        const struct recurring *one = &all->item[i];
        nsc_printf(r->out, "%s,", kind_words[one->thing->kind]);
        nsc_csv_text(r, nsc_interned(&x->strings, one->thing->name));
        nsc_puts(r->out, ",");
        nsc_csv_text(r, nsc_interned(&x->strings, one->finding->id));
        nsc_printf(r->out, ",%u,%u,%u,%u,", one->both->jobs, one->thing->jobs, one->finding->jobs, x->jobs);
        nsc_csv_text(r, one->both->since ? nsc_interned(&x->strings, one->both->since) : NSC_TEXT(""));
        nsc_puts(r->out, ",");
        nsc_csv_text(r, nsc_interned(&x->strings, one->both->example));
        nsc_puts(r->out, "\n");
    }
}

static void put_one(const struct ncclscope_fleet *x, const struct nsc_report *r, const struct recurring *one)
{
    char line[1200];
    nsc_text name = nsc_interned(&x->strings, one->thing->name), id = nsc_interned(&x->strings, one->finding->id),
             since = one->both->since ? nsc_interned(&x->strings, one->both->since) : NSC_TEXT(""),
             example = nsc_interned(&x->strings, one->both->example);
    size_t n = nsc_append(line, sizeof line, 0, "%s %.*s: %.*s in %u of its %u jobs, in %u of the %u others",
                          one->thing->kind == RELEASE ? "NCCL" : kind_words[one->thing->kind], (int)name.len, name.ptr,
                          (int)id.len, id.ptr, one->both->jobs, one->thing->jobs, one->finding->jobs - one->both->jobs,
                          x->jobs - one->thing->jobs);
    if (since.len)
        n = nsc_append(line, sizeof line, n, ", since %.*s", (int)(since.len < 19 ? since.len : 19), since.ptr);
    nsc_append(line, sizeof line, n, "; %.*s is one.", (int)(example.len < 200 ? example.len : 200), example.ptr);
    nsc_mark(r, NSC_MARK_BAD);
    nsc_wrap(r, 3, nsc_text_of(line));
}

static void put_text(const struct ncclscope_fleet *x, const struct nsc_report *r, const recurrences *all)
{
    nsc_printf(r->out, "%u job%s on %u host%s, %u of them with findings of warning or error\n", x->jobs,
               x->jobs == 1 ? "" : "s", x->hosts, x->hosts == 1 ? "" : "s", x->with_findings);
    for (size_t i = 0; i < all->len; i++)
        put_one(x, r, &all->item[i]);
    if (!all->len)
        nsc_puts(r->out, "No host, GPU, release or variable stands in findings more often than chance has it.\n");
}

int ncclscope_fleet_report(const ncclscope_fleet *x, const char *format, int columns, int flags,
                           ncclscope_write_fn *write, void *user)
{
    if (!x || !format || !write)
        return NCCLSCOPE_EINVAL;
    bool json = !strcmp(format, "json"), csv = !strcmp(format, "csv");
    if (!json && !csv && strcmp(format, "text") != 0)
        return NCCLSCOPE_ENOTFOUND;
    recurrences all = {0};
    struct nsc_report r = {.out = nsc_out_new(write, user), .columns = columns ? columns : 80, .flags = flags};
    bool fine = r.out && find_recurring(x, &all);
    if (fine && json)
        put_json(x, r.out, &all);
    else if (fine && csv)
        put_csv(x, &r, &all);
    else if (fine)
        put_text(x, &r, &all);
    nsc_vec_free(&all);
    int rc = r.out ? nsc_out_end(r.out) : NCCLSCOPE_ENOMEM;
    return fine ? rc : NCCLSCOPE_ENOMEM;
}
