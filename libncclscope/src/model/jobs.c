/* jobs.c - the files of an archive to jobs: each is read by itself, its model kept (as bytes where they are many) with what tells whose it is;
 * what is of one job (job_places.c) is put together when its model is asked for. */
#include "ncclscope/jobs.h"

#include "base/sized.h"
#include "model/carried.h"
#include "model/job_parts.h"
#include "model/scan.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what tells whose a file is ---- */

static bool is_key(struct nsc_key a, struct nsc_key b)
{
    return a.a == b.a && a.b == b.b && a.c == b.c;
}

/* The part in hand has a text of this kind, which others may have. */
static void has(struct ncclscope_jobs *j, char kind, nsc_text text)
{
    struct nsc_key key = {nsc_hash(text.ptr, text.len), (uint64_t)(unsigned char)kind, text.len};
    if (j->shared.len && is_key(j->shared.item[j->shared.len - 1], key)) /* each rank of a communicator tells its id */
        return;
    struct nsc_key *new = nsc_vec_push(&j->shared);
    if (new)
        *new = key;
    j->no_memory = j->no_memory || !new;
}

/* Parts that share a key are of one job. */
static void share(struct ncclscope_jobs *j, uint32_t part, const struct nsc_key *key, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t first = nsc_map_get(&j->keys, key[i]);
        j->parts.item[part].tells = true;
        if (first != NSC_NONE)
            nsc_join_parts(j, first, part);
        else
            j->no_memory = nsc_map_put(&j->keys, key[i], part) || j->no_memory;
    }
}

/* "slurm-4711.out", "job_4711/rank0.log", "JobId=4711": the number behind such a word. */
static nsc_text number_in(nsc_text path)
{
    static const char *const words[] = {"slurm", "jobid", "job"};
    enum { SHORTEST = 3 };
    for (size_t at = 0; at < path.len; at++)
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
            size_t n = 0, from = at + strlen(words[k]), to;
            while (words[k][n] && at + n < path.len && nsc_lower(path.ptr[at + n]) == words[k][n])
                n++;
            if (words[k][n])
                continue;
            from += from < path.len && strchr("-_.=", path.ptr[from]);
            for (to = from; to < path.len && nsc_is_digit(path.ptr[to]);)
                to++;
            if (to - from >= SHORTEST)
                return (nsc_text){path.ptr + from, to - from};
        }
    return (nsc_text){NULL, 0};
}

/* "JOB 4711", "STEP 4711.0" of Slurm's lines. */
static void has_slurms_number(struct ncclscope_jobs *j, const struct ncclscope_model *m)
{
    for (size_t i = 0; i < m->happened.len; i++) {
        if (m->happened.item[i].number != NCCLSCOPE_KIND_SLURM_LIMIT)
            continue;
        nsc_text name = nsc_said(m, &m->happened.item[i], "name");
        nsc_next_word(&name);
        name = nsc_text_trim(name);
        size_t n = 0;
        while (n < name.len && nsc_is_digit(name.ptr[n]))
            n++;
        if (n)
            has(j, 'j', (nsc_text){name.ptr, n});
    }
}

/* What the text of a log, and its path, share with others of the job. */
static void list_shared(struct ncclscope_jobs *j, const char *path, const struct ncclscope_model *m)
{
    nsc_text number = number_in(nsc_text_of(path));
    j->shared.len = 0;
    if (number.len)
        has(j, 'j', number);
    has_slurms_number(j, m);
    for (size_t i = 0; i < m->ranks.len; i++) {
        nsc_text id = nsc_say(m, m->ranks.item[i].comm_id);
        if (id.len && !nsc_text_is(id, "0"))
            has(j, 'c', id);
    }
}

/* What the path alone tells, where that was asked for. */
static void list_name(struct ncclscope_jobs *j, const char *of)
{
    nsc_text path = nsc_text_of(of), name = path;
    ncclscope_field field;
    pthread_mutex_t *lock = &j->g->lock;
    if (j->by == BY_FOLDER)
        name = nsc_folder_of(path.ptr);
    else if (j->by == BY_EXPRESSION && !(nsc_pattern_match(&j->expression, lock, path, &j->match) &&
                                         nsc_match_field(&j->match, 0, &field, &name) && name.len))
        name = path;
    j->shared.len = 0;
    has(j, 'n', name);
}

/* ---- reading ---- */

static int keep_bytes(void *user, const char *bytes, size_t size)
{
    struct part *p = user;
    char *grown = nsc_grow(p->bytes, &p->room, p->len + size, 1);
    if (!grown)
        return -1;
    memcpy(grown + p->len, bytes, size);
    p->bytes = grown;
    p->len += size;
    return 0;
}

/* A folder of few files is mostly one job: packing and unpacking each would be as much work as its reading. Frees the model, or keeps it. */
static bool keep_model(struct ncclscope_jobs *j, struct part *p, ncclscope_model *m)
{
    enum { KEPT_AS_MODELS = 64 };
    if (j->parts.len <= KEPT_AS_MODELS) {
        p->model = m;
        return true;
    }
    bool fine = ncclscope_model_save(m, keep_bytes, p, NULL) == NCCLSCOPE_OK;
    ncclscope_model_free(m);
    return fine;
}

static struct part *new_part(struct ncclscope_jobs *j, nsc_text name)
{
    uint32_t at = (uint32_t)j->parts.len;
    nsc_text kept = nsc_arena_copy(&j->texts, name);
    struct part *p = kept.ptr ? nsc_vec_push(&j->parts) : NULL;
    if (p)
        *p = (struct part){.name = kept.ptr, .parent = at, .job = NSC_NONE};
    return p;
}

/* "train.out" beside "train.err", "0/stdout.log" beside "0/stderr.log", "train.o4711" beside "train.e4711" of PBS: the path without what tells
 * them apart. 0: it is none of them. */
static size_t name_of_both(const char *path, char *to, size_t size)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t len = strlen(path);
    const char *at = NULL;
    size_t gone = 0; /* the last that tells them apart: "exp.e1.out" */
    for (const char *p = base; *p; p++) {
        bool word = !strncmp(p, "out", 3) || !strncmp(p, "err", 3);
        bool begins = p == base || strchr("._-", p[-1]) || (p - base >= 3 && !memcmp(p - 3, "std", 3));
        bool pbs = (*p == 'o' || *p == 'e') && p > base && p[-1] == '.' && nsc_is_digit(p[1]);
        size_t n = word && begins && (!p[3] || strchr("._-", p[3])) ? 3 : pbs ? 1 : 0;
        at = n ? p : at;
        gone = n ? n : gone;
    }
    if (!at || len >= size)
        return 0;
    memcpy(to, path, (size_t)(at - path));
    memcpy(to + (at - path), at + gone, len - (size_t)(at - path) - gone);
    return len - gone;
}

/* Where one process writes to two files, they are of one job. That tells nothing of which job that is. */
static void join_other_half(struct ncclscope_jobs *j, uint32_t part)
{
    char both[4096] = "";
    size_t n = name_of_both(j->parts.item[part].name, both, sizeof both);
    struct nsc_key key = {nsc_hash(both, n), 'o', n};
    uint32_t half = n ? nsc_map_get(&j->keys, key) : NSC_NONE;
    if (half != NSC_NONE)
        nsc_join_parts(j, half, part);
    else if (n)
        j->no_memory = nsc_map_put(&j->keys, key, part) || j->no_memory;
}

/* By what its text and path share, or by its path alone. */
static void share_of(struct ncclscope_jobs *j, const struct part *p, const struct nsc_key *key, size_t keys)
{
    uint32_t at = (uint32_t)(p - j->parts.item);
    if (j->by != BY_WHAT_IS_SHARED) {
        list_name(j, p->name);
        key = j->shared.item;
        keys = j->shared.len;
    } else {
        join_other_half(j, at);
    }
    share(j, at, key, keys);
}

static int take(void *user, struct ncclscope_model *m)
{
    struct ncclscope_jobs *j = user;
    struct part *p = new_part(j, m->sources.len ? nsc_say(m, m->sources.item[0].name) : NSC_TEXT(""));
    int rc = p ? NCCLSCOPE_OK : NCCLSCOPE_ENOMEM;
    if (p) {
        const ncclscope_stats *s = &m->sources.item[0].stats;
        p->speaks = m->sources.len > 1 || s->records || m->sources.item[0].problem || m->happened.len || m->tests.len;
        list_shared(j, p->name, m);
        struct nsc_shared shared = {j->shared.item, j->shared.len, p->speaks};
        if (j->tap && j->tap->part)
            rc = j->tap->part(j->tap->user, m, &shared);
        share_of(j, p, j->shared.item, j->shared.len);
    }
    if (rc)
        ncclscope_model_free(m);
    else if (!keep_model(j, p, m))
        rc = NCCLSCOPE_ENOMEM;
    return rc ? rc : j->no_memory ? NCCLSCOPE_ENOMEM : NCCLSCOPE_OK;
}

/* A file of which all that is wanted now is known. */
static int take_known(void *user, const char *path, const struct nsc_shared *shared)
{
    struct ncclscope_jobs *j = user;
    struct part *p = new_part(j, nsc_text_of(path));
    if (!p)
        return NCCLSCOPE_ENOMEM;
    p->unread = true;
    p->speaks = shared->speaks;
    share_of(j, p, shared->key, shared->keys);
    return j->no_memory ? NCCLSCOPE_ENOMEM : NCCLSCOPE_OK;
}

/* ---- for programs ---- */

static int by_what(struct ncclscope_jobs *j, const char *by, ncclscope_error *err)
{
    static const char *const named[] = {"auto", "file", "dir"};
    char *template = NULL;
    size_t n = 0;
    while (n < 3 && strcmp(by, named[n]) != 0)
        n++;
    j->by = n;
    if (n < 3)
        return NCCLSCOPE_OK;
    char *escaped = nsc_alloc(2 * strlen(by) + 1);
    for (size_t i = 0, at = 0; escaped && by[i]; i++) { /* a template ends an expression at a slash */
        if (by[i] == '\\' && by[i + 1])
            escaped[at++] = by[i++];
        else if (by[i] == '/')
            escaped[at++] = '\\';
        escaped[at++] = by[i];
    }
    if (escaped && asprintf(&template, "{:/.*?/}{pod:/%s/}{:/.*/}", escaped) < 0)
        template = NULL;
    nsc_text kept = template ? nsc_arena_copy(&j->texts, nsc_text_of(template)) : (nsc_text){NULL, 0};
    free(template);
    nsc_free(escaped);
    if (!kept.ptr)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    nsc_pattern_init(&j->expression, kept.ptr, false);
    int rc = nsc_match_new(&j->match, err);
    return rc ? rc : nsc_pattern_check(&j->expression, &j->g->lock, err);
}

static int read_all(struct ncclscope_jobs *j, struct nsc_scan *s, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n && !nsc_scan_is_over(s); i++) {
        if (!paths[i])
            return NCCLSCOPE_EINVAL;
        nsc_scan_list(s, paths[i]);
    }
    int rc = nsc_scan_read(s);
    if (!rc && j->by == BY_WHAT_IS_SHARED)
        nsc_place_the_silent(j);
    if (!rc)
        nsc_make_jobs(j);
    return rc ? rc : j->no_memory ? NCCLSCOPE_ENOMEM : NCCLSCOPE_OK;
}

int nsc_jobs_scan(ncclscope_jobs **out, ncclscope_grammar *g, const char *const *paths, size_t n, const char *by,
                  const ncclscope_scan_options *options, const struct nsc_tap *tap, ncclscope_error *err)
{
    if (out)
        *out = NULL;
    if (!out || !g || (!paths && n) || !by)
        return nsc_null(err);
    struct nsc_scan s = {.g = g, .each = take, .each_known = take_known, .tap = tap};
    if (options && !nsc_take_sized(&s.options, sizeof s.options, options, options->size))
        return nsc_fail(err, NCCLSCOPE_EABI, 0, "the options are those of a newer header, or their size is not set");
    unsigned before = nsc_failed_allocations();
    struct ncclscope_jobs *j = s.each_user = nsc_alloc(sizeof *j);
    if (!j)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    j->g = g;
    j->tap = tap;
    int rc = by_what(j, by, err);
    if (!rc) {
        rc = read_all(j, &s, paths, n);
        rc = rc == NCCLSCOPE_EINVAL ? nsc_null(err) : rc == NSC_TAP_FAILED ? rc : nsc_settle(rc, before, err);
        if (rc == NCCLSCOPE_ENOMEM)
            nsc_fail(err, rc, 0, "out of memory");
    }
    nsc_scan_free(&s);
    j->tap = NULL;
    if (rc) {
        ncclscope_jobs_free(j);
        return rc;
    }
    *out = j;
    return s.stopped ? nsc_fail(err, NCCLSCOPE_ESTOPPED, 0, "the reading was stopped") : rc;
}

int ncclscope_jobs_scan(ncclscope_jobs **out, ncclscope_grammar *g, const char *const *paths, size_t n, const char *by,
                        const ncclscope_scan_options *options, ncclscope_error *err)
{
    return nsc_jobs_scan(out, g, paths, n, by, options, NULL, err);
}

void ncclscope_jobs_free(ncclscope_jobs *j)
{
    if (!j)
        return;
    for (size_t i = 0; i < j->parts.len; i++) {
        ncclscope_model_free(j->parts.item[i].model);
        nsc_free(j->parts.item[i].bytes);
    }
    nsc_vec_free(&j->parts);
    nsc_vec_free(&j->jobs);
    nsc_vec_free(&j->shared);
    nsc_map_free(&j->keys);
    nsc_arena_free(&j->texts);
    nsc_pattern_free(&j->expression);
    nsc_match_free(&j->match);
    nsc_free(j->order);
    nsc_free(j);
}

size_t ncclscope_jobs_count(const ncclscope_jobs *j)
{
    return j ? j->jobs.len : 0;
}

size_t ncclscope_jobs_without_nccl(const ncclscope_jobs *j)
{
    return j ? j->without_nccl : 0;
}

const char *ncclscope_job_name(const ncclscope_jobs *j, size_t i)
{
    return j && i < j->jobs.len ? j->jobs.item[i].name : NULL;
}

const char *ncclscope_job_file(const ncclscope_jobs *j, size_t i, size_t k)
{
    return j && i < j->jobs.len && k < j->jobs.item[i].files ? j->parts.item[j->order[j->jobs.item[i].begin + k]].name
                                                             : NULL;
}

const uint32_t *nsc_job_inputs(const ncclscope_jobs *j, size_t i, size_t *n)
{
    *n = j->jobs.item[i].files;
    return j->order + j->jobs.item[i].begin;
}

bool nsc_job_is_unread(const ncclscope_jobs *j, size_t i)
{
    bool unread = true;
    for (size_t k = 0; k < j->jobs.item[i].files; k++)
        unread = unread && j->parts.item[j->order[j->jobs.item[i].begin + k]].unread;
    return unread;
}

static int part_model(ncclscope_model **out, const ncclscope_jobs *j, const struct part *p, ncclscope_error *err)
{
    if (!p->unread)
        return ncclscope_model_load(out, j->g, p->bytes, p->len, err);
    int rc = ncclscope_model_new(out, err);
    return rc ? rc : ncclscope_model_read(*out, j->g, &p->name, 1, NULL, err);
}

int nsc_job_model(ncclscope_model **out, const ncclscope_jobs *j, size_t i, const struct nsc_tap *tap,
                  ncclscope_error *err)
{
    if (out)
        *out = NULL;
    if (!out || !j)
        return nsc_null(err);
    if (i >= j->jobs.len)
        return nsc_fail(err, NCCLSCOPE_ENOTFOUND, 0, "there is no such job");
    ncclscope_model *m = NULL, *part = NULL;
    int rc = ncclscope_model_new(&m, err);
    for (size_t k = 0; !rc && k < j->jobs.item[i].files; k++) {
        const struct part *p = &j->parts.item[j->order[j->jobs.item[i].begin + k]];
        rc = p->model ? NCCLSCOPE_OK : part_model(&part, j, p, err);
        rc = rc ? rc : ncclscope_model_merge(m, p->model ? p->model : part, err);
        ncclscope_model_free(part);
        part = NULL;
    }
    if (!rc && tap)
        rc = tap->whole(tap->user, m);
    if (!rc) {
        m->grammar = j->g;
        rc = ncclscope_model_finish(m, err);
    }
    if (rc) {
        ncclscope_model_free(m);
        return rc;
    }
    *out = m;
    return NCCLSCOPE_OK;
}

int ncclscope_job_model(ncclscope_model **out, const ncclscope_jobs *j, size_t i, ncclscope_error *err)
{
    return nsc_job_model(out, j, i, NULL, err);
}
