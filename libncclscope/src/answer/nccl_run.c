/* nccl_run.c - libnccl run here: its log, read while it comes, to a model, and the path that it shows to the figures. */
#include "base/sized.h"
#include "model/on_machine.h"
#include "model/path.h"
#include "ncclscope/probe.h"
#include "probe/nccl.h"

enum { SECONDS = 90, MIB = 1024 * 1024 };

struct listener {
    ncclscope_model *m;
    ncclscope_reader *r;
    const ncclscope_nccl_options *options;
    ncclscope_progress_fn *progress;
    void *user;
    int rc;
};

static void take_records(struct listener *l)
{
    const ncclscope_record *rec;
    ncclscope_error err;
    int rc = l->rc;
    while (!rc && (rc = ncclscope_reader_next(l->r, &rec, &err)) == NCCLSCOPE_OK)
        rc = ncclscope_model_add(l->m, rec);
    l->rc = rc < 0 ? rc : NCCLSCOPE_OK; /* MORE and END are no failures */
}

static void hear(void *user, const char *bytes, size_t size)
{
    struct listener *l = user;
    if (l->options->keep)
        l->options->keep(l->options->keep_user, bytes, size);
    l->rc = l->rc ? l->rc : ncclscope_reader_feed(l->r, bytes, size);
    take_records(l);
}

static bool stops(void *user, int done, int total)
{
    struct listener *l = user;
    return l->rc || (l->progress && l->progress(l->user, done, total));
}

/* Of all connections that on the worst path; NULL: there are none. */
static const struct nsc_link *worst_link(const struct ncclscope_model *m, struct nsc_known_path *worst)
{
    const struct nsc_link *found = NULL;
    for (size_t i = 0; i < m->link_order.len; i++) {
        const struct nsc_link *l = &m->links.item[m->link_order.item[i]];
        struct nsc_known_path p = l->known;
        if (found && p.path <= worst->path)
            continue;
        *worst = p;
        found = l;
    }
    return found;
}

static void name_path(struct ncclscope_facts *f, const struct ncclscope_model *m, size_t first)
{
    struct nsc_known_path p;
    const struct nsc_link *l = worst_link(m, &p);
    for (size_t i = first; l && i < f->collectives.len; i++) {
        nsc_fact_text(f, &f->collectives.item[i].path, nsc_text_of(nsc_path_name(p.path)));
        nsc_fact_text(f, &f->collectives.item[i].via, nsc_say(m, l->via));
    }
}

static int run(struct ncclscope_facts *f, struct listener *l, const ncclscope_nccl_options *o, ncclscope_error *err)
{
    struct nsc_nccl_run how = {.library = o->library,
                               .variables = o->variables,
                               .seconds = o->seconds ? o->seconds : SECONDS,
                               .gpu_bytes = o->gpu_bytes ? o->gpu_bytes : 512 * (uint64_t)MIB,
                               .log = hear,
                               .stops = stops,
                               .user = l};
    size_t first = f->collectives.len, told = f->skipped.len;
    nsc_run_nccl(f, &how);
    ncclscope_reader_finish(l->r);
    take_records(l);
    int rc = l->rc ? l->rc : ncclscope_model_source_end(l->m, l->r, NULL);
    rc = rc ? rc : ncclscope_model_finish(l->m, err);
    if (rc || f->no_memory)
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    ncclscope_model_facts(l->m, f);
    name_path(f, l->m, first);
    return f->collectives.len > first
               ? NCCLSCOPE_OK
               : nsc_fail(err, NCCLSCOPE_EUNSUPPORTED, 0, "NCCL did not run: %s",
                          f->skipped.len > told ? f->skipped.item[told].reason : "no reason given");
}

int ncclscope_nccl(ncclscope_facts *f, ncclscope_model **log, ncclscope_grammar *g,
                   const ncclscope_nccl_options *options, ncclscope_progress_fn *progress, void *user,
                   ncclscope_error *err)
{
    ncclscope_nccl_options o = {.size = sizeof o};
    struct listener l = {.options = &o, .progress = progress, .user = user};
    if (options && !nsc_take_sized(&o, sizeof o, options, options->size))
        return nsc_fail(err, NCCLSCOPE_EABI, 0, "the options are those of a newer header, or their size is not set");
    if (o.variables && !nsc_are_variables(o.variables))
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0,
                        "variables are NAME=VALUE, with commas between them; these are not: %.80s", o.variables);
    if (!f)
        return NCCLSCOPE_OK;
    if (!log || !g)
        return nsc_null(err);
    *log = NULL;
    int rc = ncclscope_model_new(&l.m, err);
    rc = rc ? rc : ncclscope_reader_new(&l.r, g, err);
    rc = rc ? rc : ncclscope_model_source(l.m, o.variables ? o.variables : "default");
    rc = rc ? rc : run(f, &l, &o, err);
    ncclscope_reader_free(l.r);
    if (rc && rc != NCCLSCOPE_EUNSUPPORTED) {
        ncclscope_model_free(l.m);
        l.m = NULL;
    }
    *log = l.m;
    return rc;
}
