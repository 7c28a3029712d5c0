/* side_by_side.c - several inputs at a time, each to a model of its own in a thread, put together in the order of the inputs. */
#include "model/scan.h"

#include "base/wait.h"
#include "model/parts.h"

#include <stdatomic.h>

enum { MOST_JOBS = 256 };

struct crew;

/* What a thread reads. */
struct part {
    struct crew *crew;
    const struct nsc_input *input;
    struct nsc_models to; /* one, or with `each` one a source */
    uint64_t memory;      /* of the last, as it was measured last */
    int rc;
    bool done;
};

struct crew {
    struct nsc_scan *scan;
    struct part *part;
    size_t next; /* to be read by whoever is free */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_bool over; /* nobody wants more, or there is no more memory to be had */
    atomic_uint_least64_t bytes, memory;
};

static int is_over(void *user)
{
    const struct part *p = user;
    return atomic_load(&p->crew->over);
}

static void note_memory(struct part *p, uint64_t now)
{
    atomic_fetch_add(&p->crew->memory, now - p->memory);
    p->memory = now;
}

static bool is_full(void *user, uint64_t bytes)
{
    struct part *p = user;
    uint64_t most = p->crew->scan->options.most_memory;
    (void)bytes;
    if (most && p->to.list.len)
        note_memory(p, nsc_model_bytes(p->to.list.item[p->to.list.len - 1]));
    return most && atomic_load(&p->crew->memory) > most;
}

static void read_part(struct part *p)
{
    bool long_ = p->input->size * 2 >= p->crew->scan->progress.bytes_all; /* the others end before it does */
    const struct nsc_reading how = {is_over, is_full, p, long_};
    int rc = nsc_scan_input(p->crew->scan, &p->to, p->input, &how);
    if (!rc && is_full(p, 0))
        atomic_store(&p->crew->over, true);
    atomic_fetch_add(&p->crew->bytes, p->input->size);
    p->rc = rc;
}

static void *work(void *user)
{
    struct crew *c = user;
    pthread_mutex_lock(&c->lock);
    while (c->next < c->scan->inputs.len && !atomic_load(&c->over)) {
        struct part *p = &c->part[c->next++];
        pthread_mutex_unlock(&c->lock);
        read_part(p);
        pthread_mutex_lock(&c->lock);
        p->done = true;
        pthread_cond_signal(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Until the part is read; false: it never will be. Asks meanwhile whether anybody wants more. */
static bool wait_for(struct crew *c, size_t i)
{
    bool done = false;
    pthread_mutex_lock(&c->lock);
    while (!(done = c->part[i].done) && !(atomic_load(&c->over) && c->next <= i)) {
        nsc_wait_a_little(&c->changed, &c->lock);
        pthread_mutex_unlock(&c->lock);
        c->scan->progress.bytes = atomic_load(&c->bytes);
        if (nsc_scan_is_over(c->scan))
            atomic_store(&c->over, true);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    c->scan->progress.bytes = atomic_load(&c->bytes); /* parts that nobody had to wait for are in it too */
    return done;
}

static void forget(struct nsc_models *x)
{
    for (size_t i = 0; i < x->list.len; i++)
        ncclscope_model_free(x->list.item[i]);
    nsc_vec_free(&x->list);
}

/* As they come, in the order of the inputs. */
static int put_parts_together(struct crew *c)
{
    int rc = NCCLSCOPE_OK;
    for (size_t i = 0; i < c->scan->inputs.len && wait_for(c, i); i++) {
        struct part *p = &c->part[i];
        rc = rc ? rc : p->rc;
        if (c->scan->each)
            rc = nsc_models_give(c->scan, &p->to, rc);
        else if (!rc)
            rc = p->to.list.len ? ncclscope_model_merge(c->scan->m, p->to.list.item[0], NULL) : NCCLSCOPE_ENOMEM;
        if (rc)
            atomic_store(&c->over, true);
        forget(&p->to);
        note_memory(p, 0);
        c->scan->progress.inputs++;
    }
    return rc;
}

static int run_crew(struct crew *c)
{
    pthread_t threads[MOST_JOBS];
    size_t want = c->scan->options.jobs < MOST_JOBS ? c->scan->options.jobs : MOST_JOBS, n = 0;
    want = want < c->scan->inputs.len ? want : c->scan->inputs.len;
    while (n < want && pthread_create(&threads[n], NULL, work, c) == 0)
        n++;
    if (!n)
        work(c); /* no thread is to be had: in this one */
    int rc = put_parts_together(c);
    atomic_store(&c->over, true);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return rc;
}

int nsc_scan_side_by_side(struct nsc_scan *s)
{
    struct crew c = {.scan = s, .part = nsc_alloc(s->inputs.len * sizeof *c.part)};
    if (!c.part || ncclscope_grammar_prepare(s->g, NULL)) {
        nsc_free(c.part);
        return NCCLSCOPE_ENOMEM;
    }
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.changed, NULL);
    for (size_t i = 0; i < s->inputs.len; i++) {
        c.part[i].crew = &c;
        c.part[i].input = &s->inputs.item[i];
    }
    int rc = run_crew(&c);
    for (size_t i = 0; i < s->inputs.len; i++)
        forget(&c.part[i].to);
    pthread_cond_destroy(&c.changed);
    pthread_mutex_destroy(&c.lock);
    nsc_free(c.part);
    return rc;
}
