/* scan.c - paths to one model: opens, reads, adds; directories are walked in the order of names. */
#include "model/on_machine.h"
#include "model/path.h"
#include "base/neutral.h"
#include "model/scan.h"

#include "ncclscope/probe.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct scan {
    struct ncclscope_model *m;
    ncclscope_grammar *g;
    const struct nsc_tap *tap; /* NULL: nobody else listens */
    struct nsc_map seen;       /* device and inode of what was read */
    ncclscope_scan_options options;
    bool stopped;
};

static int read_all(const struct scan *s, ncclscope_reader *r, ncclscope_error *why)
{
    const ncclscope_record *rec;
    int rc;
    while ((rc = ncclscope_reader_next(r, &rec, why)) == NCCLSCOPE_OK)
        if ((rc = ncclscope_model_add(s->m, rec)) != NCCLSCOPE_OK ||
            (s->tap && (rc = s->tap->record(s->tap->user, rec)) != NCCLSCOPE_OK))
            return rc;
    return rc;
}

static int scan_file(struct scan *s, const char *path)
{
    ncclscope_reader *r = NULL;
    ncclscope_error why = {0};
    if (ncclscope_model_source(s->m, path))
        return NCCLSCOPE_ENOMEM;
    int rc = nsc_reader_open(&r, s->g, path, s->options.stop, s->options.user, &why);
    if (rc == NCCLSCOPE_OK && s->tap)
        nsc_reader_digest(r);
    if (rc == NCCLSCOPE_OK)
        rc = read_all(s, r, &why);
    s->stopped = r && r->source.stopped;
    const char *problem = s->stopped ? "interrupted: what follows was not read" : rc < 0 ? why.text : NULL;
    if (rc != NCCLSCOPE_ENOMEM && rc != NSC_TAP_FAILED)
        rc = ncclscope_model_source_end(s->m, r, problem);
    if (rc == NCCLSCOPE_OK && s->tap)
        rc = s->tap->source_end(s->tap->user, r, path);
    ncclscope_reader_free(r);
    return rc;
}

/* An input that is there and is not read: a name, and why. */
static int scan_unread(const struct scan *s, const char *path, const char *why)
{
    if (ncclscope_model_source(s->m, path))
        return NCCLSCOPE_ENOMEM;
    int rc = ncclscope_model_source_end(s->m, NULL, why);
    return rc || !s->tap ? rc : s->tap->source_end(s->tap->user, NULL, path);
}

static int scan_path(struct scan *s, const char *path, bool inside);

static int scan_directory(struct scan *s, const char *path)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, NULL, nsc_by_name), rc = NCCLSCOPE_OK;
    if (n < 0)
        return scan_unread(s, path, "cannot read the directory");
    for (int i = 0; i < n; i++) {
        char *inner = NULL;
        if (rc == NCCLSCOPE_OK && !s->stopped && names[i]->d_name[0] != '.') {
            if (asprintf(&inner, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", names[i]->d_name) < 0)
                rc = NCCLSCOPE_ENOMEM;
            else
                rc = scan_path(s, inner, true);
            free(inner);
        }
        free(names[i]);
    }
    free(names);
    return rc;
}

/* Each file and directory once, by whatever names, links and arguments it is reached. */
static int is_seen(struct scan *s, const struct stat *st, bool *seen)
{
    struct nsc_key key = {st->st_dev, st->st_ino, 1};
    *seen = nsc_map_get(&s->seen, key) != NSC_NONE;
    return *seen ? NCCLSCOPE_OK : nsc_map_put(&s->seen, key, 0);
}

static int scan_path(struct scan *s, const char *path, bool inside)
{
    struct stat st;
    bool seen = false;
    if (strcmp(path, "-") == 0 || !path[0] || stat(path, &st) != 0)
        return scan_file(s, path);
    if (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode))
        if (is_seen(s, &st, &seen))
            return NCCLSCOPE_ENOMEM;
    if (seen)
        return NCCLSCOPE_OK;
    if (S_ISDIR(st.st_mode))
        return scan_directory(s, path);
    if (inside && !S_ISREG(st.st_mode)) /* it may never end */
        return scan_unread(s, path, "is a pipe, a socket or a device, and is not read where it lies in a directory");
    return scan_file(s, path);
}

int nsc_scan(ncclscope_model **out, ncclscope_grammar *g, const char *const *paths, size_t n,
             const ncclscope_scan_options *options, const struct nsc_tap *tap, ncclscope_error *err)
{
    struct scan s = {.g = g, .tap = tap};
    *out = NULL;
    if (options && options->size > sizeof s.options)
        return nsc_fail(err, NCCLSCOPE_EABI, 0, "the options are those of a newer header");
    if (options)
        memcpy(&s.options, options, options->size);
    int rc = ncclscope_model_new(&s.m, err);
    *out = s.m;
    unsigned before = nsc_failed_allocations();
    for (size_t i = 0; i < n && rc == NCCLSCOPE_OK && !s.stopped; i++)
        rc = scan_path(&s, paths[i], false);
    nsc_map_free(&s.seen);
    if (rc == NCCLSCOPE_OK)
        rc = ncclscope_model_finish(*out, err);
    rc = nsc_settle(rc, before, err);
    if (rc != NCCLSCOPE_OK) {
        ncclscope_model_free(*out);
        *out = NULL;
        if (rc == NCCLSCOPE_ENOMEM)
            nsc_fail(err, rc, 0, "out of memory");
    }
    return rc;
}

int ncclscope_scan(ncclscope_model **out, ncclscope_grammar *g, const char *const *paths, size_t n,
                   const ncclscope_scan_options *options, ncclscope_error *err)
{
    return nsc_scan(out, g, paths, n, options, NULL, err);
}

void ncclscope_model_facts(ncclscope_model *m, const ncclscope_facts *f)
{
    unsigned before = nsc_failed_allocations();
    m->facts = f;
    nsc_place_ranks(m);
    nsc_find_paths(m);
    nsc_lay_rows(m);
    m->no_memory = m->no_memory || nsc_failed_allocations() != before; /* which ncclscope_analyse tells */
}

const char *ncclscope_model_source_name(const ncclscope_model *m, size_t i)
{
    return i < m->sources.len ? nsc_say(m, m->sources.item[i].name).ptr : NULL;
}

const char *ncclscope_model_problem(const ncclscope_model *m, size_t i)
{
    return i < m->sources.len ? nsc_say(m, m->sources.item[i].problem).ptr : "";
}

int ncclscope_model_stats(const ncclscope_model *m, size_t i, ncclscope_stats *out)
{
    if (i >= m->sources.len)
        return NCCLSCOPE_ENOTFOUND;
    uint32_t size = out->size;
    if (size > sizeof *out)
        return NCCLSCOPE_EABI;
    memcpy(out, &m->sources.item[i].stats, size);
    out->size = size;
    return NCCLSCOPE_OK;
}
