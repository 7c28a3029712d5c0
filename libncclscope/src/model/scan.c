/* scan.c - paths to one model: opens, reads, adds; directories are walked in the order of names. */
#include "model/on_machine.h"
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

static int scan_file(const struct scan *s, const char *path)
{
    ncclscope_reader *r = NULL;
    ncclscope_error why = {0};
    if (ncclscope_model_source(s->m, path))
        return NCCLSCOPE_ENOMEM;
    int rc = ncclscope_reader_open(&r, s->g, path, &why);
    if (rc == NCCLSCOPE_OK && s->tap)
        nsc_reader_digest(r);
    if (rc == NCCLSCOPE_OK)
        rc = read_all(s, r, &why);
    if (rc != NCCLSCOPE_ENOMEM && rc != NSC_TAP_FAILED)
        rc = ncclscope_model_source_end(s->m, r, rc < 0 ? why.text : NULL);
    if (rc == NCCLSCOPE_OK && s->tap)
        rc = s->tap->source_end(s->tap->user, r, path);
    ncclscope_reader_free(r);
    return rc;
}

static int scan_path(const struct scan *s, const char *path, int depth);

static int scan_directory(const struct scan *s, const char *path, int depth)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, NULL, nsc_by_name), rc = NCCLSCOPE_OK;
    if (n < 0) {
        if (ncclscope_model_source(s->m, path))
            return NCCLSCOPE_ENOMEM;
        int end = ncclscope_model_source_end(s->m, NULL, "cannot read the directory");
        return end || !s->tap ? end : s->tap->source_end(s->tap->user, NULL, path);
    }
    for (int i = 0; i < n; i++) {
        char *inner = NULL;
        if (rc == NCCLSCOPE_OK && names[i]->d_name[0] != '.') {
            if (asprintf(&inner, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", names[i]->d_name) < 0)
                rc = NCCLSCOPE_ENOMEM;
            else
                rc = scan_path(s, inner, depth + 1);
            free(inner);
        }
        free(names[i]);
    }
    free(names);
    return rc;
}

enum { DEEPEST = 32 };

static int scan_path(const struct scan *s, const char *path, int depth)
{
    struct stat st;
    if (strcmp(path, "-") != 0 && path[0] && stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return depth < DEEPEST ? scan_directory(s, path, depth) : NCCLSCOPE_OK;
        if (depth && !S_ISREG(st.st_mode)) /* a pipe or device that lies in a directory may never end */
            return NCCLSCOPE_OK;
    }
    return scan_file(s, path);
}

int nsc_scan(ncclscope_model **out, ncclscope_grammar *g, const char *const *paths, size_t n, const struct nsc_tap *tap,
             ncclscope_error *err)
{
    int rc = ncclscope_model_new(out, err);
    for (size_t i = 0; i < n && rc == NCCLSCOPE_OK; i++)
        rc = scan_path(&(struct scan){*out, g, tap}, paths[i], 0);
    if (rc == NCCLSCOPE_OK)
        rc = ncclscope_model_finish(*out, err);
    if (rc != NCCLSCOPE_OK) {
        ncclscope_model_free(*out);
        *out = NULL;
        if (rc == NCCLSCOPE_ENOMEM)
            nsc_fail(err, rc, 0, "out of memory");
    }
    return rc;
}

int ncclscope_scan(ncclscope_model **out, ncclscope_grammar *g, const char *const *paths, size_t n,
                   ncclscope_error *err)
{
    return nsc_scan(out, g, paths, n, NULL, err);
}

void ncclscope_model_facts(ncclscope_model *m, const ncclscope_facts *f)
{
    m->facts = f;
    nsc_place_ranks(m);
}

size_t ncclscope_model_sources(const ncclscope_model *m)
{
    return m->sources.len;
}

const char *ncclscope_model_source_name(const ncclscope_model *m, size_t i)
{
    return i < m->sources.len ? nsc_say(m, m->sources.item[i].name).ptr : "";
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
