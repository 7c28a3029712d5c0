/* ahead.c - batches of kept records, handed from the thread that reads to the one that takes. */
#include "read/ahead.h"

#include "base/alloc.h"
#include "base/wait.h"
#include "read/kept.h"

#include <stdatomic.h>

enum { BATCHES = 3, BATCH_RECORDS = 512, BATCH_BYTES = 1024 * 1024 };

struct batch {
    const ncclscope_record *record[BATCH_RECORDS];
    size_t n;
    struct nsc_arena arena; /* the records */
    int rc;                 /* what came behind the last record; OK: another batch */
    ncclscope_error why;
    ncclscope_stats stats; /* when the batch ended */
    uint64_t bytes;
};

struct nsc_ahead {
    ncclscope_reader *r;
    struct batch batch[BATCHES];
    size_t made, taken;    /* batches so far */
    struct batch *in_hand; /* that is taken from; NULL at first */
    size_t at;             /* in it */
    int (*stop)(void *user);
    void *user;
    struct nsc_watch watch; /* the reader's own */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_bool stopped; /* whoever was asked wants no more */
    bool left;           /* nobody takes any more */
};

/* ---- the thread that reads ---- */

static int is_stopped(void *user)
{
    struct nsc_ahead *a = user;
    return atomic_load(&a->stopped);
}

static void fill(ncclscope_reader *r, struct batch *b)
{
    const ncclscope_record *rec;
    b->n = 0;
    b->rc = NCCLSCOPE_OK;
    while (!b->rc && b->n < BATCH_RECORDS && b->arena.total < BATCH_BYTES) {
        b->rc = ncclscope_reader_next(r, &rec, &b->why);
        rec = b->rc ? NULL : nsc_record_keep(&b->arena, rec);
        if (rec)
            b->record[b->n++] = rec;
        else if (!b->rc)
            b->rc = nsc_fail(&b->why, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    b->stats = r->stats;
    b->bytes = r->source.bytes;
}

/* The next to be filled. NULL: nobody wants it. */
static struct batch *free_batch(struct nsc_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->made - a->taken == BATCHES && !a->left)
        pthread_cond_wait(&a->changed, &a->lock);
    struct batch *b = a->left ? NULL : &a->batch[a->made % BATCHES];
    pthread_mutex_unlock(&a->lock);
    return b;
}

static void *read_ahead(void *user)
{
    struct nsc_ahead *a = user;
    struct batch *b = NULL;
    while ((!b || !b->rc) && (b = free_batch(a))) {
        fill(a->r, b);
        pthread_mutex_lock(&a->lock);
        a->made++;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

/* ---- the thread that takes ---- */

struct nsc_ahead *nsc_ahead_start(ncclscope_reader *r, int (*stop)(void *user), void *user)
{
    struct nsc_ahead *a = nsc_alloc(sizeof *a);
    if (!a)
        return NULL;
    a->r = r;
    a->stop = stop;
    a->user = user;
    a->watch = r->source.watch;
    r->source.watch.stop = is_stopped;
    r->source.watch.user = a;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    if (pthread_create(&a->thread, NULL, read_ahead, a) == 0)
        return a;
    r->source.watch = a->watch;
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    nsc_free(a);
    return NULL;
}

/* Lets the batch go that was taken, and waits for the next. */
static void next_batch(struct nsc_ahead *a)
{
    if (a->in_hand)
        nsc_arena_free(&a->in_hand->arena);
    pthread_mutex_lock(&a->lock);
    a->taken += a->in_hand != NULL;
    pthread_cond_signal(&a->changed);
    do {
        pthread_mutex_unlock(&a->lock);
        if (a->stop && a->stop(a->user))
            atomic_store(&a->stopped, true);
        pthread_mutex_lock(&a->lock);
        if (a->made == a->taken)
            nsc_wait_a_little(&a->changed, &a->lock);
    } while (a->made == a->taken);
    a->in_hand = &a->batch[a->taken % BATCHES];
    pthread_mutex_unlock(&a->lock);
    a->at = 0;
}

int nsc_ahead_next(struct nsc_ahead *a, const ncclscope_record **out, ncclscope_error *err)
{
    *out = NULL;
    while (!a->in_hand || a->at == a->in_hand->n) {
        if (a->in_hand && a->in_hand->rc) {
            if (err && a->in_hand->rc < 0)
                *err = a->in_hand->why;
            return a->in_hand->rc;
        }
        next_batch(a);
    }
    *out = a->in_hand->record[a->at++];
    return NCCLSCOPE_OK;
}

uint64_t nsc_ahead_bytes(const struct nsc_ahead *a)
{
    return a->in_hand ? a->in_hand->bytes : 0;
}

void nsc_ahead_end(struct nsc_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->left = true;
    atomic_store(&a->stopped, true);
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    if (a->in_hand) {
        a->r->stats = a->in_hand->stats;
        a->r->source.bytes = a->in_hand->bytes;
    }
    a->r->source.watch = a->watch;
    for (size_t i = 0; i < BATCHES; i++)
        nsc_arena_free(&a->batch[i].arena);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    nsc_free(a);
}
