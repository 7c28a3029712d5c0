/* job_places.c - which parts are of one job, by what they share and where they lie; and the jobs' names. */
#include "model/job_parts.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t root_of(const struct ncclscope_jobs *j, uint32_t part)
{
    while (j->parts.item[part].parent != part)
        part = j->parts.item[part].parent = j->parts.item[j->parts.item[part].parent].parent;
    return part;
}

void nsc_join_parts(struct ncclscope_jobs *j, uint32_t a, uint32_t b)
{
    a = root_of(j, a);
    b = root_of(j, b);
    j->parts.item[a < b ? b : a].parent = a < b ? a : b; /* the first stands for them */
}

nsc_text nsc_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (nsc_text){path, (size_t)(slash - path)} : NSC_TEXT("");
}

/* How long the folder above it is, of a path that goes on. */
static size_t folder_within(nsc_text path)
{
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    return slash ? (size_t)(slash - path.ptr) : 0;
}

/* ---- folders: which job is the only one in each? ---- */

static const uint32_t several = NSC_NONE - 1;

static uint32_t only(uint32_t before, uint32_t root)
{
    return before == NSC_NONE || before == root ? root : several;
}

static struct nsc_key key_of(nsc_text folder)
{
    return (struct nsc_key){nsc_hash(folder.ptr, folder.len), folder.len, 0};
}

/* Of the parts that speak (of `telling` those that tell something): the folder of each, and with `above` all above it. */
static void find_owners(struct ncclscope_jobs *j, struct nsc_map *folders, bool telling, bool above)
{
    for (uint32_t i = 0; i < j->parts.len; i++) {
        const struct part *p = &j->parts.item[i];
        if (!p->speaks || (telling && !p->tells))
            continue;
        uint32_t root = root_of(j, i);
        for (nsc_text f = nsc_folder_of(p->name); f.len; f.len = above ? folder_within(f) : 0)
            j->no_memory = nsc_map_put(folders, key_of(f), only(nsc_map_get(folders, key_of(f)), root)) || j->no_memory;
    }
}

void nsc_place_the_silent(struct ncclscope_jobs *j)
{
    struct nsc_map folders = {0};
    uint32_t all = NSC_NONE, first = NSC_NONE;
    find_owners(j, &folders, true, false);
    for (uint32_t i = 0; i < j->parts.len; i++)
        if (j->parts.item[i].tells && j->parts.item[i].speaks)
            all = only(all, root_of(j, i));
    for (uint32_t i = 0; i < j->parts.len; i++) {
        const struct part *p = &j->parts.item[i];
        if (p->tells || !p->speaks)
            continue;
        uint32_t there = nsc_map_get(&folders, key_of(nsc_folder_of(p->name)));
        uint32_t with = there < several ? there : all < several ? all : all == NSC_NONE ? first : NSC_NONE;
        first = first == NSC_NONE ? i : first;
        if (with < several)
            nsc_join_parts(j, with, i);
    }
    nsc_map_free(&folders);
}

/* ---- jobs, and their names ---- */

static const char *keep(struct ncclscope_jobs *j, char *text, int len)
{
    nsc_text kept = len < 0 ? (nsc_text){NULL, 0} : nsc_arena_copy(&j->texts, (nsc_text){text, (size_t)len});
    j->no_memory = j->no_memory || !kept.ptr;
    if (len >= 0)
        free(text);
    return kept.ptr;
}

/* What the expression found, the folder, the file; "a.log +3" where files of several jobs lie in one folder. */
static const char *name_of(struct ncclscope_jobs *j, const struct job *job, const struct nsc_map *owners)
{
    nsc_text name = nsc_text_of(j->parts.item[job->first].name), found = {NULL, 0};
    ncclscope_field field;
    uint32_t root = root_of(j, job->first);
    if (j->by == BY_FOLDER)
        found = job->folder.len ? job->folder : NSC_TEXT(".");
    else if (j->by == BY_EXPRESSION && nsc_pattern_match(&j->expression, &j->g->lock, name, &j->match))
        nsc_match_field(&j->match, 0, &field, &found);
    else if (job->files > 1 && job->folder.len && nsc_map_get(owners, key_of(job->folder)) == root)
        found = job->folder;
    char *made = NULL;
    if (!found.len && job->files == 1)
        return name.ptr;
    int len = found.len ? asprintf(&made, "%.*s", (int)found.len, found.ptr)
                        : asprintf(&made, "%s +%zu", name.ptr, job->files - 1);
    return keep(j, made, len);
}

static void add_to_job(struct ncclscope_jobs *j, uint32_t part)
{
    struct part *root = &j->parts.item[root_of(j, part)];
    nsc_text folder = nsc_folder_of(j->parts.item[part].name);
    if (root->job == NSC_NONE) {
        struct job *new = nsc_vec_push(&j->jobs);
        j->no_memory = j->no_memory || !new;
        if (!new)
            return;
        *new = (struct job){.first = part, .folder = folder};
        root->job = (uint32_t)j->jobs.len - 1;
    }
    struct job *job = &j->jobs.item[root->job];
    job->files++;
    while (job->folder.len && (folder.len < job->folder.len || memcmp(folder.ptr, job->folder.ptr, job->folder.len) ||
                               (folder.len > job->folder.len && folder.ptr[job->folder.len] != '/')))
        job->folder.len = folder_within(job->folder);
}

/* Of one job all files are, as without jobs; so are they where none holds a line of NCCL's. */
static void take_all_for_one(struct ncclscope_jobs *j)
{
    uint32_t one = NSC_NONE;
    for (uint32_t i = 0; i < j->parts.len; i++)
        one = j->parts.item[i].speaks ? only(one, root_of(j, i)) : one;
    for (uint32_t i = 0; i < j->parts.len && one != several; i++) {
        j->parts.item[i].speaks = true;
        nsc_join_parts(j, 0, i);
    }
}

/* The parts of each job, one behind the other, as they were read. */
static void order_parts(struct ncclscope_jobs *j)
{
    size_t at = 0;
    if (j->no_memory || !(j->order = nsc_alloc((j->parts.len + 1) * sizeof *j->order))) {
        j->no_memory = true;
        return;
    }
    for (size_t k = 0; k < j->jobs.len; k++) {
        j->jobs.item[k].begin = at;
        at += j->jobs.item[k].files;
        j->jobs.item[k].files = 0;
    }
    for (uint32_t i = 0; i < j->parts.len; i++) {
        if (!j->parts.item[i].speaks)
            continue;
        struct job *job = &j->jobs.item[j->parts.item[root_of(j, i)].job];
        j->order[job->begin + job->files++] = i;
    }
}

void nsc_make_jobs(struct ncclscope_jobs *j)
{
    struct nsc_map owners = {0};
    take_all_for_one(j);
    for (uint32_t i = 0; i < j->parts.len && !j->no_memory; i++)
        if (j->parts.item[i].speaks)
            add_to_job(j, i);
        else
            j->without_nccl++;
    find_owners(j, &owners, false, true);
    for (size_t k = 0; k < j->jobs.len && !j->no_memory; k++)
        j->jobs.item[k].name = name_of(j, &j->jobs.item[k], &owners);
    nsc_map_free(&owners);
    order_parts(j);
}
