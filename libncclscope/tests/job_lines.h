/* job_lines.h - the lines of which tests make small jobs, and what is asked of the communicators and connections that come of them. */
#ifndef JOB_LINES_H
#define JOB_LINES_H

#include "scene.h"

#define START(host_pid, ptr, rank, n, id) \
    host_pid " NCCL INFO ncclCommInitRank comm " ptr " rank " rank " nranks " n " cudaDev " rank " nvmlDev " rank \
             " busId 60 commId " id " - Init START\n"
#define COMPLETE(host_pid, ptr, rank, n, id) \
    host_pid " NCCL INFO ncclCommInitRank comm " ptr " rank " rank " nranks " n " cudaDev " rank " nvmlDev " rank \
             " busId 60 commId " id " - Init COMPLETE\n"
#define SPLIT(host_pid, ptr, rank, n, parent, count, color, what) \
    host_pid " NCCL INFO ncclCommSplit comm " ptr " rank " rank " nranks " n " cudaDev " rank " nvmlDev " rank \
             " busId 60 parent " parent " splitCount " count " color " color " key 0" what "\n"
#define BORN "- Init START"
#define DONE " - Init COMPLETE"
#define VIA(host_pid, channel, src, dst, via) \
    host_pid " NCCL INFO Channel " channel "/0 : " src "[" src "] -> " dst "[" dst "] via " via "\n"
#define A "vm:10:10 [0]"
#define B "vm:11:11 [1]"

static inline const struct nsc_comm *comm_of_id(const struct ncclscope_model *m, const char *id)
{
    for (size_t i = 0; i < m->comms.len; i++)
        if (nsc_text_is(nsc_say(m, m->comms.item[i].id), id))
            return &m->comms.item[i];
    CU_FAIL("no communicator of this id");
    static const struct nsc_comm none;
    return &none;
}

static inline const struct nsc_link *link_at(const struct ncclscope_model *m, size_t i)
{
    static const struct nsc_link none;
    CHECK(i < m->link_order.len);
    return i < m->link_order.len ? &m->links.item[m->link_order.item[i]] : &none;
}

static inline nsc_text comm_of_link(const struct ncclscope_model *m, const struct nsc_link *l)
{
    if (l->rank == NSC_NONE || m->ranks.item[l->rank].comm == NSC_NONE)
        return (nsc_text){NULL, 0};
    return nsc_say(m, m->comms.item[m->ranks.item[l->rank].comm].id);
}

#endif
