/* scene.h - small jobs as text, to a finished model: what tests of model, rules and store start from. */
#ifndef SCENE_H
#define SCENE_H

#include "check.h"
#include "data.h"
#include "model/path.h"
#include "ncclscope/model.h"

struct scene {
    ncclscope_grammar *grammar;
    ncclscope_model *model;
};

static inline void scene_add(struct scene *s, const char *name, nsc_text text)
{
    ncclscope_reader *r = NULL;
    const ncclscope_record *rec;
    if (!s->grammar)
        CHECK_INT(ncclscope_grammar_new(&s->grammar, NULL), 0);
    if (!s->model)
        CHECK_INT(ncclscope_model_new(&s->model, NULL), 0);
    CHECK_INT(ncclscope_reader_new(&r, s->grammar, NULL), 0);
    CHECK_INT(ncclscope_model_source(s->model, name), 0);
    CHECK_INT(ncclscope_reader_feed(r, text.ptr, text.len), 0);
    ncclscope_reader_finish(r);
    while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK)
        CHECK_INT(ncclscope_model_add(s->model, rec), 0);
    CHECK_INT(ncclscope_model_source_end(s->model, r, NULL), 0);
    ncclscope_reader_free(r);
}

static inline const struct ncclscope_model *scene_of(struct scene *s, const char *text)
{
    ncclscope_model_free(s->model);
    s->model = NULL;
    scene_add(s, "log", nsc_text_of(text));
    CHECK_INT(ncclscope_model_finish(s->model, NULL), 0);
    return s->model;
}

/* The whole report of a finished model, as JSON. */
static inline struct data scene_report(const ncclscope_model *m)
{
    struct data out = {0};
    ncclscope_findings *f = NULL;
    CHECK_INT(ncclscope_analyse(&f, m, NULL), 0);
    CHECK_INT(ncclscope_report(m, f, "json", 0, 0, data_take, &out), 0);
    ncclscope_findings_free(f);
    return out;
}

static inline void scene_end(struct scene *s)
{
    ncclscope_model_free(s->model);
    ncclscope_grammar_free(s->grammar);
    *s = (struct scene){0};
}

#endif
