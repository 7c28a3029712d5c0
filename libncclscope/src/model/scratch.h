/* scratch.h - what a model holds only while it grows: the sources that are being read, and the keys by which their next records find what
 * they go on with. It ends with ncclscope_model_finish. */
#ifndef NSC_SCRATCH_H
#define NSC_SCRATCH_H

#include "model/model.h"

/* A source while it is read: what its next lines may go on with. */
struct nsc_stream {
    uint32_t source;                    /* NSC_NONE: it has ended, and this is free for another */
    uint32_t first_thread, last_thread; /* from which to which nsc_thread.next_in_stream leads; or NSC_NONE */
    uint32_t matrix_open,
        test_open;      /* index of the matrix, and of the row of nccl-tests' JSON, that is being read; or NSC_NONE */
    bool test_in_place; /* which side of it comes */
    nsc_str test_name;
    bool counts_wrong; /* the last column of the table is headed "#wrong" */
    uint64_t
        xml_line; /* of the last row of such a topology; 0: a line between them was none, so not all of the GPU may be here */
    nsc_str xml_pci, xml_gpu; /* of a topology in XML: the device that it is at, and that again where it is a GPU */
    struct nsc_ras_state {    /* of the report that is being read */
        struct nsc_ras_rank next;
        int step;  /* how far that rank is; 0: none is open */
        bool hash; /* the key before was "hash" */
    } ras_state;
    char last_time_text[48]; /* as printed: not worth keeping every line's */
    size_t last_time;
};

enum { NSC_RECENT = 256, NSC_RECENT_HOST = 64 };

struct nsc_scratch {
    NSC_VEC(struct nsc_stream) streams; /* of sources that are being read; those of others wait to be used again */
    uint32_t at, alone;  /* the stream of the record in hand; the one that ncclscope_model_source opened; or NSC_NONE */
    uint32_t last_event; /* that the record in hand made or counted up, or NSC_NONE */
    struct nsc_recent {  /* processes that spoke lately, by pid: nearly every record is of one of them */
        int64_t pid;
        uint32_t proc, source;
        size_t len;
        char host[NSC_RECENT_HOST];
    } recent[NSC_RECENT];
    NSC_VEC(uint32_t) count_at; /* by nsc_str of a via text: one more than its place in connections, 0 for none */
    struct nsc_map proc_by, rank_by, link_by, device_by, plugin_by, event_by, warning_by, ring_by, tree_by;
    struct nsc_map call_by;   /* id of the communicator, number, size */
    struct nsc_map passed_by; /* process and what it connects: the last of its first ranks that need not be asked */
    struct nsc_map plugin_of; /* plugin and process that told of it */
    struct nsc_map use_by,    /* process and pointer: the rank made last with it */
        told_by;              /* process, pointer, id and number among children: the rank that told them last */
    struct nsc_map seat_by;   /* process, id of a communicator that is no child, number: the rank that has it */
};

/* What frees, measures and copies one goes through them. */
/* clang-format off */
#define NSC_SCRATCH_VECTORS(X) X(streams) X(count_at)
#define NSC_SCRATCH_MAPS(X) \
    X(proc_by) X(rank_by) X(link_by) X(device_by) X(plugin_by) X(event_by) X(warning_by) X(ring_by) X(tree_by) \
    X(call_by) X(passed_by) X(plugin_of) X(use_by) X(told_by) X(seat_by)
/* clang-format on */

/* The source of the record in hand. */
static inline struct nsc_stream *nsc_stream_of(struct ncclscope_model *m)
{
    return &m->scratch->streams.item[m->scratch->at];
}
static inline struct nsc_source_info *nsc_source_of_stream(struct ncclscope_model *m)
{
    return &m->sources.item[m->scratch->streams.item[m->scratch->at].source];
}

/* Of the communicator of `r`, the rank `number`, by what the process of `r` says of its own ranks: for seat_by. */
static inline struct nsc_key nsc_seat_key(const struct nsc_rank *r, uint64_t number)
{
    return (struct nsc_key){r->proc, r->comm_id, number};
}

/* Could `l` be a connection of this rank, as far as it tells of itself? */
bool nsc_could_be_of(const struct nsc_rank *r, const struct nsc_link *l);
/* Does the rank sit on another device than the one that the line prints, `dev`? Then it is not the one. False where one of them is not known. */
bool nsc_sits_elsewhere(const struct ncclscope_model *m, const struct nsc_rank *r, nsc_str dev);
/* Is the device that the line prints for its own end that of the rank, as far as both tell? A process may have several GPUs. */
bool nsc_prints_of(const struct ncclscope_model *m, const struct nsc_rank *r, const struct nsc_link *l);

#endif
