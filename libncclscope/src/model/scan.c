/* scan.c - paths to one model: lists what there is, reads, adds; directories are walked in the order of names. */
#include "model/scan.h"

#include "base/neutral.h"
#include "base/sized.h"
#include "model/on_machine.h"
#include "model/path.h"
#include "model/scratch.h"
#include "read/ahead.h"

#include "ncclscope/probe.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* ---- what is to be read ---- */

static void add_input(struct nsc_scan *s, const char *path, const struct stat *st, const char *unread)
{
    struct nsc_input *in = nsc_vec_push(&s->inputs);
    nsc_text kept = in ? nsc_arena_copy(&s->paths, nsc_text_of(path)) : (nsc_text){NULL, 0};
    if (!kept.ptr)
        return; /* no memory, which is known */
    in->path = kept.ptr;
    in->unread = unread;
    in->regular = st && S_ISREG(st->st_mode);
    in->size = in->regular ? (uint64_t)st->st_size : 0;
    in->device = st ? st->st_dev : 0;
    in->inode = st ? st->st_ino : 0;
    in->mtime = st ? (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec : 0;
    s->progress.bytes_all += in->size;
    s->progress.inputs_all++;
}

static void list_path(struct nsc_scan *s, const char *path, bool inside);

static void list_directory(struct nsc_scan *s, const char *path)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, NULL, nsc_by_name);
    if (n < 0)
        add_input(s, path, NULL, "cannot read the directory");
    for (int i = 0; i < n; i++) {
        char *inner = NULL;
        if (!nsc_scan_is_over(s) && names[i]->d_name[0] != '.') {
            if (asprintf(&inner, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", names[i]->d_name) < 0)
                nsc_note_no_memory();
            else
                list_path(s, inner, true);
            free(inner);
        }
        free(names[i]);
    }
    free(names);
}

/* Each file and directory once, by whatever names, links and arguments it is reached. */
static bool is_seen(struct nsc_scan *s, const struct stat *st)
{
    struct nsc_key key = {st->st_dev, st->st_ino, 1};
    if (nsc_map_get(&s->seen, key) != NSC_NONE)
        return true;
    nsc_map_put(&s->seen, key, 0);
    return false;
}

/* Of a store that is named among many jobs, all scans: each is a job, and was read when it was. */
static bool list_scans(struct nsc_scan *s, const char *path, const struct stat *st)
{
    int64_t *scans;
    size_t n = S_ISREG(st->st_mode) ? nsc_stored_scans(path, &scans) : 0;
    for (size_t i = 0; i < n; i++) {
        char *one = NULL;
        if (asprintf(&one, "%s:%lld", path, (long long)scans[i]) < 0)
            nsc_note_no_memory();
        else
            add_input(s, one, st, NULL);
        free(one);
    }
    if (S_ISREG(st->st_mode))
        nsc_free(scans);
    return n > 0;
}

static void list_path(struct nsc_scan *s, const char *path, bool inside)
{
    struct stat st;
    if (strcmp(path, "-") == 0 || !path[0] || stat(path, &st) != 0)
        add_input(s, path, NULL, NULL);
    else if ((S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) && is_seen(s, &st))
        return;
    else if (S_ISDIR(st.st_mode))
        list_directory(s, path);
    else if (s->each && !inside && list_scans(s, path, &st))
        return;
    else if (inside && !S_ISREG(st.st_mode)) /* it may never end */
        add_input(s, path, &st, "is a pipe, a socket or a device, and is not read where it lies in a directory");
    else
        add_input(s, path, &st, NULL);
}

void nsc_scan_list(struct nsc_scan *s, const char *path)
{
    list_path(s, path, false);
}

/* ---- who watches ---- */

enum { TOLD_EACH_MS = 100 };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool nsc_scan_is_over(struct nsc_scan *s)
{
    if (!s->stopped && s->options.stop)
        s->stopped = s->options.stop(s->options.user) != 0;
    int64_t now = s->options.progress ? now_ms() : 0;
    if (s->options.progress && now - s->told >= TOLD_EACH_MS) {
        s->told = now;
        s->options.progress(s->options.user, &s->progress);
    }
    return s->stopped;
}

/* ---- one input ---- */

static const char stopped_words[] = "interrupted: what follows was not read",
                  memory_words[] = "the limit of memory was reached: what follows was not read";

/* Where the next source goes. NULL: no memory. */
static struct ncclscope_model *model_for(const struct nsc_scan *s, struct nsc_models *to)
{
    if (!s->each && to->list.len)
        return to->list.item[to->list.len - 1];
    struct ncclscope_model *m = NULL, **place = NULL;
    if (!ncclscope_model_new(&m, NULL))
        place = nsc_vec_push(&to->list);
    if (place)
        *place = m;
    else
        ncclscope_model_free(m);
    return place ? m : NULL;
}

int nsc_models_give(struct nsc_scan *s, struct nsc_models *from, int rc)
{
    for (size_t i = 0; i < from->list.len; i++)
        if (rc)
            ncclscope_model_free(from->list.item[i]);
        else
            rc = s->each(s->each_user, from->list.item[i]);
    nsc_vec_free(&from->list);
    return rc;
}

/* A store keeps the model of its last scan: that is put in, with its sources, names and lines. False: it keeps none that this release
 * reads, and its records are read instead. */
static bool take_stored(struct nsc_scan *s, struct nsc_models *to, const ncclscope_reader *r, int *rc)
{
    struct nsc_bytes bytes = {NULL, 0};
    struct ncclscope_model *kept = NULL;
    if (s->tap || !r || !r->source.stored || !nsc_stored_model(r->source.stored, &bytes))
        return false;
    bool fine = ncclscope_model_load(&kept, s->g, bytes.item, bytes.len, NULL) == NCCLSCOPE_OK;
    struct ncclscope_model *m = fine ? model_for(s, to) : NULL;
    if (fine)
        *rc = m ? ncclscope_model_merge(m, kept, NULL) : NCCLSCOPE_ENOMEM;
    ncclscope_model_free(kept);
    return fine;
}

/* The records of `r`, up to the last, a failure, or the limit of memory, which makes *full true. */
static int take_records(struct nsc_scan *s, struct ncclscope_model *m, ncclscope_reader *r,
                        const struct nsc_source *outer, const struct nsc_reading *how, bool *full, ncclscope_error *why)
{
    enum { MEASURED_EACH = 512 }; /* records */
    const ncclscope_record *rec;
    bool own = outer == &r->source; /* a file of an archive is none: they are small, and many */
    struct nsc_ahead *ahead = how->ahead && own ? nsc_ahead_start(r, how->stop, how->user) : NULL;
    int rc = NCCLSCOPE_OK;
    for (uint64_t n = 1; !rc && !*full; n++) {
        rc = ahead ? nsc_ahead_next(ahead, &rec, why) : ncclscope_reader_next(r, &rec, why);
        if (!rc)
            rc = ncclscope_model_add(m, rec);
        if (!rc && s->tap)
            rc = s->tap->record(s->tap->user, rec);
        if (n % MEASURED_EACH == 0)
            *full = how->is_full(how->user, ahead ? nsc_ahead_bytes(ahead) : outer->bytes);
    }
    nsc_ahead_end(ahead);
    return rc;
}

/* All records of a source, which is opened (rc OK) or could not be (`why`). `outer` is what is read for it. */
static int scan_source(struct nsc_scan *s, struct nsc_models *to, const char *name, ncclscope_reader *r,
                       const struct nsc_source *outer, int rc, ncclscope_error *why, const struct nsc_reading *how)
{
    bool full = false;
    struct ncclscope_model *m = model_for(s, to);
    if (!m || ncclscope_model_source(m, name))
        return NCCLSCOPE_ENOMEM;
    if (rc == NCCLSCOPE_OK && s->tap)
        nsc_reader_digest(r);
    if (rc == NCCLSCOPE_OK)
        rc = take_records(s, m, r, outer, how, &full, why);
    bool stopped = r && r->source.stopped;
    full = full || (stopped && how->is_full(how->user, outer->bytes)); /* by another input, beside this one */
    const char *problem = full ? memory_words : stopped ? stopped_words : rc < 0 ? why->text : NULL;
    if (rc != NCCLSCOPE_ENOMEM && rc != NSC_TAP_FAILED)
        rc = ncclscope_model_source_end(m, r, problem);
    if (rc == NCCLSCOPE_OK && s->tap)
        rc = s->tap->source_end(s->tap->user, r, name);
    return rc;
}

static int scan_nothing(struct nsc_scan *s, struct nsc_models *to, const char *name, const char *problem)
{
    struct ncclscope_model *m = model_for(s, to);
    int rc = m ? ncclscope_model_source(m, name) : NCCLSCOPE_ENOMEM;
    rc = rc ? rc : ncclscope_model_source_end(m, NULL, problem);
    return rc || !s->tap ? rc : s->tap->source_end(s->tap->user, NULL, name);
}

/* "logs.tar/node-1/rank-0.log": each file of an archive is a source, as it would be of a folder. */
static int scan_member(struct nsc_scan *s, struct nsc_models *to, const char *archive, const char *file,
                       struct nsc_source *outer, const struct nsc_reading *how)
{
    ncclscope_reader *r = NULL;
    ncclscope_error why = {0};
    char *name = NULL;
    int rc = ncclscope_reader_new(&r, s->g, &why);
    if (rc || asprintf(&name, "%s/%s", archive, file) < 0) {
        ncclscope_reader_free(r);
        return NCCLSCOPE_ENOMEM;
    }
    nsc_source_of_member(&r->source, outer);
    rc = scan_source(s, to, name, r, outer, NCCLSCOPE_OK, &why, how);
    free(name);
    ncclscope_reader_free(r);
    return rc;
}

static int scan_members(struct nsc_scan *s, struct nsc_models *to, const char *archive, struct nsc_source *outer,
                        const struct nsc_reading *how)
{
    const char *file;
    ncclscope_error why = {0};
    bool full = false;
    size_t files = 0;
    int rc = NCCLSCOPE_OK, next;
    while (!rc && !full && (next = nsc_source_member(outer, &file, &why)) == NCCLSCOPE_OK) {
        rc = scan_member(s, to, archive, file, outer, how);
        full = how->is_full(how->user, outer->bytes);
        files++;
    }
    if (rc || full)
        return rc;
    return next == NCCLSCOPE_ENOMEM ? next
           : outer->stopped         ? scan_nothing(s, to, archive, stopped_words)
           : next < 0               ? scan_nothing(s, to, archive, why.text)
           : !files                 ? scan_nothing(s, to, archive, "holds no file")
                                    : NCCLSCOPE_OK;
}

int nsc_scan_input(struct nsc_scan *s, struct nsc_models *to, const struct nsc_input *in, const struct nsc_reading *of)
{
    enum { AHEAD_FROM = 1024 * 1024 }; /* bytes: less is read before a thread has begun to help */
    struct nsc_reading in_hand = *of, *how = &in_hand;
    how->ahead = of->ahead && (!in->regular || in->size >= AHEAD_FROM);
    ncclscope_reader *r = NULL;
    ncclscope_error why = {0};
    struct nsc_watch watch = {how->stop, how->user, s->options.most_unpacked};
    if (in->unread)
        return scan_nothing(s, to, in->path, in->unread);
    int rc = nsc_reader_open(&r, s->g, in->path, &watch, &why);
    if (take_stored(s, to, r, &rc))
        ;
    else if (r && r->source.files)
        rc = scan_members(s, to, in->path, &r->source, how);
    else
        rc = scan_source(s, to, in->path, r, r ? &r->source : NULL, rc, &why, how);
    ncclscope_reader_free(r);
    return rc;
}

/* ---- one after the other ---- */

static int is_over(void *user)
{
    return nsc_scan_is_over(user);
}

static bool is_full(void *user, uint64_t bytes)
{
    struct nsc_scan *s = user;
    s->progress.bytes = s->bytes_before + bytes;
    s->full = s->full || (s->m && s->options.most_memory && nsc_model_bytes(s->m) > s->options.most_memory);
    return s->full;
}

static bool is_known(const struct nsc_scan *s, const struct nsc_input *in, struct nsc_shared *shared)
{
    return s->each_known && s->tap && s->tap->known && s->tap->known(s->tap->user, in, shared);
}

static int scan_in_turn(struct nsc_scan *s)
{
    const struct nsc_reading how = {is_over, is_full, s, s->options.jobs > 1};
    int rc = NCCLSCOPE_OK;
    for (size_t i = 0; i < s->inputs.len && rc == NCCLSCOPE_OK && !s->full && !nsc_scan_is_over(s); i++) {
        struct ncclscope_model *one[] = {s->m};
        struct nsc_models to = {0};
        struct nsc_shared shared;
        if (!s->each)
            to.list.item = one, to.list.len = 1;
        if (is_known(s, &s->inputs.item[i], &shared)) {
            rc = s->each_known(s->each_user, s->inputs.item[i].path, &shared);
        } else {
            rc = nsc_scan_input(s, &to, &s->inputs.item[i], &how);
            if (s->each)
                rc = nsc_models_give(s, &to, rc);
        }
        s->bytes_before += s->inputs.item[i].size;
        s->progress.bytes = s->bytes_before;
        s->progress.inputs++;
    }
    return rc;
}

static void tell_end(struct nsc_scan *s)
{
    if (s->options.progress)
        s->options.progress(s->options.user, &s->progress);
}

int nsc_scan_read(struct nsc_scan *s)
{
    int rc = s->options.jobs > 1 && s->inputs.len > 1 && !s->tap ? nsc_scan_side_by_side(s) : scan_in_turn(s);
    tell_end(s);
    return rc;
}

void nsc_scan_free(struct nsc_scan *s)
{
    nsc_map_free(&s->seen);
    nsc_vec_free(&s->inputs);
    nsc_arena_free(&s->paths);
}

/* All that the paths hold, into s->m. */
static int read_paths(struct nsc_scan *s, const char *const *paths, size_t n, const ncclscope_scan_options *options,
                      ncclscope_error *err)
{
    if (options && !nsc_take_sized(&s->options, sizeof s->options, options, options->size))
        return nsc_fail(err, NCCLSCOPE_EABI, 0, "the options are those of a newer header, or their size is not set");
    int rc = NCCLSCOPE_OK;
    unsigned before = nsc_failed_allocations();
    for (size_t i = 0; i < n && rc == NCCLSCOPE_OK && !nsc_scan_is_over(s); i++)
        if (paths[i])
            nsc_scan_list(s, paths[i]);
        else
            rc = nsc_null(err);
    rc = nsc_settle(rc, before, err);
    rc = rc ? rc : nsc_scan_read(s);
    nsc_scan_free(s);
    return nsc_settle(rc, before, err);
}

static int say_stopped(const struct nsc_scan *s, ncclscope_error *err)
{
    return s->stopped ? nsc_fail(err, NCCLSCOPE_ESTOPPED, 0, "the reading was stopped") : NCCLSCOPE_OK;
}

int nsc_scan(ncclscope_model **out, ncclscope_grammar *g, const char *const *paths, size_t n,
             const ncclscope_scan_options *options, const struct nsc_tap *tap, ncclscope_error *err)
{
    struct nsc_scan s = {.g = g, .tap = tap};
    unsigned before = nsc_failed_allocations();
    int rc = ncclscope_model_new(&s.m, err);
    rc = rc ? rc : read_paths(&s, paths, n, options, err);
    if (rc == NCCLSCOPE_OK && tap && tap->whole)
        rc = tap->whole(tap->user, s.m);
    if (rc == NCCLSCOPE_OK)
        rc = ncclscope_model_finish(s.m, err);
    rc = nsc_settle(rc, before, err);
    *out = s.m;
    if (rc == NCCLSCOPE_OK)
        return say_stopped(&s, err);
    ncclscope_model_free(s.m);
    *out = NULL;
    return rc == NCCLSCOPE_ENOMEM ? nsc_fail(err, rc, 0, "out of memory") : rc;
}

int ncclscope_model_read(ncclscope_model *m, ncclscope_grammar *g, const char *const *paths, size_t n,
                         const ncclscope_scan_options *options, ncclscope_error *err)
{
    if (!m || !g || (!paths && n))
        return nsc_null(err);
    if (m->finished || m->scratch->alone != NSC_NONE)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0,
                        "a model reads before it is finished, and when its last source has ended");
    struct nsc_scan s = {.m = m, .g = g};
    int rc = read_paths(&s, paths, n, options, err);
    if (rc == NCCLSCOPE_ENOMEM)
        return nsc_fail(err, rc, 0, "out of memory");
    return rc ? rc : say_stopped(&s, err);
}

int ncclscope_scan(ncclscope_model **out, ncclscope_grammar *g, const char *const *paths, size_t n,
                   const ncclscope_scan_options *options, ncclscope_error *err)
{
    if (out)
        *out = NULL;
    if (!out || !g || (!paths && n))
        return nsc_null(err);
    return nsc_scan(out, g, paths, n, options, NULL, err);
}
void ncclscope_model_facts(ncclscope_model *m, const ncclscope_facts *f)
{
    if (!m)
        return;
    unsigned before = nsc_failed_allocations();
    m->facts = f;
    if (!m->finished) /* which then finds them */
        return;
    nsc_place_ranks(m);
    nsc_find_paths(m);
    nsc_lay_rows(m);
    m->no_memory = m->no_memory || nsc_failed_allocations() != before; /* which ncclscope_analyse tells */
}

const char *ncclscope_model_source_name(const ncclscope_model *m, size_t i)
{
    return m && i < m->sources.len ? nsc_say(m, m->sources.item[i].name).ptr : NULL;
}

const char *ncclscope_model_problem(const ncclscope_model *m, size_t i)
{
    return m && i < m->sources.len ? nsc_say(m, m->sources.item[i].problem).ptr : "";
}

int ncclscope_model_stats(const ncclscope_model *m, size_t i, ncclscope_stats *out)
{
    if (!m || !out)
        return NCCLSCOPE_EINVAL;
    if (i >= m->sources.len)
        return NCCLSCOPE_ENOTFOUND;
    ncclscope_stats s = m->sources.item[i].stats;
    s.size = out->size;
    return nsc_give_sized(out, out->size, &s, sizeof s) ? NCCLSCOPE_OK : NCCLSCOPE_EABI;
}
