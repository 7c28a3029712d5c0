/* text_others.c - what other programs tell of the job, below a verdict that NCCL's own lines do not give. */
#include "model/variables.h"
#include "report/text.h"

#include <stdio.h>

/* A matrix of `nvidia-smi topo -p2p` in which no pair is OK. */
static bool forbids_p2p(const struct ncclscope_model *m, const struct nsc_matrix *x)
{
    for (uint32_t i = 0; i < x->cells; i++)
        if (nsc_text_is(nsc_say(m, m->cells.item[x->first + i].text), "OK"))
            return false;
    return x->cells && nsc_is_p2p_matrix(m, x);
}

/* What a line sets of NCCL's, each once, behind what `buf` has: "NCCL_NET='AWS Libfabric' NCCL_CROSS_NIC=1". */
static size_t add_variables(nsc_text line, char *buf, size_t n, size_t size)
{
    char one[200];
    nsc_text name, value;
    while (nsc_next_setting(&line, &name, &value)) {
        const char *quote = value.len && memchr(value.ptr, ' ', value.len) ? "'" : "";
        size_t len = (size_t)snprintf(one, sizeof one, "%.*s=%s%.*s%s", (int)name.len, name.ptr, quote, (int)value.len,
                                      value.ptr, quote);
        if (len < sizeof one && n + len + 2 <= size && nsc_variable_reader(name) && !memmem(buf, n, one, len))
            n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " " : "", one);
    }
    return n;
}

/* "By ncclras (line 16) 1 communicator of 256 ranks on 32 nodes was RUNNING when it was asked: OK." */
void nsc_text_ras(const struct nsc_report *r)
{
    enum { MOST = 3 };
    char line[300];
    for (size_t i = 0, told = 0; i < r->m->happened.len && told < MOST; i++) {
        const struct nsc_own_record *x = &r->m->happened.item[i];
        if (x->number != NCCLSCOPE_KIND_RAS_GROUP)
            continue;
        nsc_text n = nsc_said(r->m, x, "count"), ranks = nsc_said(r->m, x, "nranks"),
                 nodes = nsc_said(r->m, x, "nnodes"), state = nsc_said(r->m, x, "state"),
                 errors = nsc_said(r->m, x, "text");
        snprintf(line, sizeof line,
                 "ncclras (%s) reported at that moment: %.*s communicator%s of %.*s ranks on %.*s node%s, %.*s, "
                 "%.*s.",
                 nsc_place_of(r->m, &x->where).words, (int)n.len, n.ptr, nsc_text_is(n, "1") ? "" : "s", (int)ranks.len,
                 ranks.ptr, (int)nodes.len, nodes.ptr, nsc_text_is(nodes, "1") ? "" : "s", (int)state.len, state.ptr,
                 (int)errors.len, errors.ptr);
        nsc_indent(r, 3);
        nsc_wrap(r, 3, nsc_text_of(line));
        told++;
    }
}

/* Without a line of NCCL's: the variables of commands that stand in the input, what ncclras saw, what a matrix says of P2P. */
void nsc_text_others(const struct nsc_report *r)
{
    char line[600], set[400] = "";
    size_t n = 0;
    nsc_text_ras(r);
    for (size_t i = 0; i < r->m->happened.len; i++)
        if (r->m->happened.item[i].number == NCCLSCOPE_KIND_COMMAND)
            n = add_variables(nsc_words_of_command(r->m, &r->m->happened.item[i]), set, n, sizeof set);
    if (n) {
        snprintf(line, sizeof line, "Commands in it set %s.", set);
        nsc_indent(r, 3);
        nsc_wrap(r, 3, nsc_text_of(line));
    }
    for (size_t i = 0; i < r->m->matrices.len; i++) {
        if (!forbids_p2p(r->m, &r->m->matrices.item[i]))
            continue;
        snprintf(line, sizeof line,
                 "`nvidia-smi topo -p2p` (%s) shows P2P for no pair of these GPUs: they use host memory.",
                 nsc_place_of(r->m, &r->m->matrices.item[i].where).words);
        nsc_indent(r, 3);
        nsc_wrap(r, 3, nsc_text_of(line));
        break;
    }
}
