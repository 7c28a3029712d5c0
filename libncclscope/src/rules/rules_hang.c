/* rules_hang.c - what other programs say of a job that stopped or failed: PyTorch, nccl-tests, launchers. */
#include "rules/ask.h"
#include "rules/own_words.h"
#include "rules/raised.h"
#include "rules/stuck.h"

/* Where nccl-tests printed the columns of its table; NULL: it did not, or a result or an end of it is there. */
static const struct nsc_where *begins_to_measure(const struct ncclscope_model *m)
{
    bool ended = m->tests.len || nsc_success_of(m);
    for (size_t i = 0; i < m->happened.len && !ended; i++)
        if (m->happened.item[i].number == NCCLSCOPE_KIND_TEST_COLUMNS)
            return &m->happened.item[i].where;
    return NULL;
}

/* All ranks came up and print collectives (COLL) behind the head of the table, and no result follows. Without COLL lines the input may be
 * cut while the first of them connects. */
static void tell_no_result(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_where *begun = begins_to_measure(m), *behind = NULL;
    bool up = m->comms.len && !m->troubles;
    for (size_t i = 0; i < m->comms.len && up; i++)
        up = m->comms.item[i].state == NSC_COMPLETE;
    for (size_t i = 0; i < m->warnings.len && up; i++)
        up = !m->warnings.item[i].broke;
    for (size_t i = 0; i < m->ranks.len && up; i++)
        up = m->ranks.item[i].called;
    for (size_t i = 0; begun && i < m->procs.len && !behind; i++)
        if (m->procs.item[i].source == begun->source && m->procs.item[i].last_line > begun->line)
            behind = begun;
    if (!up || !behind)
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_WARNING, "unknown", "possible");
    f->count = 1;
    f->title = "nccl-tests began to measure and no result follows: its first collective hangs, or this input is cut";
    nsc_explain_by(c, f, NSC_HUNG_NO_RESULT);
    nsc_show(c, f, begun);
}

/* The ranks that a line names: two processes may have written into it. */
static void name_ranks_of(struct nsc_case *c, struct nsc_finding *f, nsc_text line)
{
    ptrdiff_t at;
    while ((at = nsc_text_find(line, "ank ")) >= 0) {
        line = nsc_text_from(line, (size_t)at + 4);
        nsc_text word = {line.ptr, 0};
        while (word.len < line.len && nsc_is_digit(word.ptr[word.len]))
            word.len++;
        int64_t rank;
        if (word.len && nsc_to_i64(word, &rank))
            nsc_name_rank(c, f, (uint64_t)rank);
    }
}

/* "pod-3 [rank 1] all-reduce did not finish within 8 s[rank 0] all-reduce ...": of two that wrote into one line the first, without rank
 * and prefix. */
static nsc_text own_words(nsc_text line)
{
    ptrdiff_t at = nsc_text_find(line, "[rank");
    nsc_text rest = nsc_text_from(line, at < 0 ? 0 : (size_t)at);
    const char *end = at < 0 ? NULL : memchr(rest.ptr, ']', rest.len);
    if (!end)
        return line;
    rest = nsc_text_from(rest, (size_t)(end - rest.ptr) + 1);
    ptrdiff_t next = nsc_text_find(rest, "[rank");
    rest.len = next > 0 ? (size_t)next : rest.len;
    return nsc_text_trim(rest);
}

/* Of the ranks that do not wait: what they say themselves, and which of them say nothing. Extends the title. */
static enum nsc_hang_reason tell_others(struct nsc_case *c, struct nsc_finding *f, int64_t size)
{
    struct nsc_finding mute = {.rule = c->rule};
    struct nsc_map waits = {0};
    int64_t told = 0;
    for (size_t i = 0; i < f->ranks.len; i++)
        nsc_map_put(&waits, (struct nsc_key){f->ranks.item[i], 0, 0}, 0);
    for (int64_t rank = 0; rank < size && rank < NSC_MOST_STUCK; rank++) {
        if (nsc_map_get(&waits, (struct nsc_key){(uint64_t)rank, 0, 0}) != NSC_NONE)
            continue;
        const struct nsc_own_record *r = nsc_last_words(c->m, rank);
        if (!r) {
            nsc_name_rank(c, &mute, (uint64_t)rank);
            continue;
        }
        nsc_show_first(c, f, &r->where);
        if (told++ < 2)
            f->title = nsc_words(c, "%s; %s", f->title, nsc_quote_rank(c, r));
    }
    if (mute.ranks.len)
        f->title =
            nsc_words(c, "%s; %s report%s nothing", f->title, nsc_list_ranks(c, &mute), mute.ranks.len == 1 ? "s" : "");
    bool some_mute = mute.ranks.len > 0;
    nsc_finding_free(&mute);
    nsc_map_free(&waits);
    return told && !some_mute ? NSC_HUNG_OTHERS_SPEAK : NSC_HUNG_SOME_SILENT;
}

/* "[rank 1] all-reduce (#2) did not finish within 8 s": the program's own watch, where neither PyTorch's nor NCCL tells of it. */
static void tell_stalled(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    nsc_text first = {NULL, 0};
    int64_t rank;
    for (size_t i = 0; i < m->happened.len && !nsc_success_of(m); i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_PROGRAM_STALLED || !nsc_number_said(m, r, "rank", &rank))
            continue;
        first = f ? first : nsc_text_trim(r->where.text);
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
        f->count++;
        nsc_name_rank(c, f, (uint64_t)rank);
        name_ranks_of(c, f, r->where.text);
        nsc_show(c, f, &r->where);
    }
    if (!f)
        return;
    int64_t size = m->comms.len == 1 ? m->comms.item[0].nranks : 0, silent = size - (int64_t)f->ranks.len;
    f->part = NSC_WAKE;
    first = own_words(first);
    f->title = nsc_words(c, "The program on %s reports that it waited in vain: %.*s", nsc_list_ranks(c, f),
                         (int)(first.len < 120 ? first.len : 120), first.ptr);
    nsc_explain_by(c, f, silent > 0 ? tell_others(c, f, size) : size ? NSC_HUNG_ALL_WAIT : NSC_HUNG_SOME_WAIT);
}

/* Did ranks leave their communicators in good order behind that line? Then the program caught what was raised, and went on. */
static bool ended_well_behind(const struct ncclscope_model *m, const struct nsc_where *line)
{
    for (size_t i = 0; i < m->ranks.len; i++)
        if (m->ranks.item[i].destroyed.source == line->source && m->ranks.item[i].destroyed.line > line->line)
            return true;
    return nsc_success_of(m);
}

/* "[Rank 0]: Ranks 1, 3 failed to pass monitoredBarrier in 15000 ms": the ranks that others wait for, of the first such line. Where PyTorch's
 * mark names the speaker otherwise these are numbers within a group. */
static void tell_barrier(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *r = nsc_first_heard(m, NCCLSCOPE_KIND_BARRIER_MISSED);
    int64_t rank, waited = -1, ms = 0;
    if (!r || !nsc_number_said(m, r, "rank", &waited) || !nsc_number_said(m, r, "timeout_ms", &ms) ||
        ended_well_behind(m, &r->where))
        return;
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
    bool of_group = r->torch_rank >= 0 && r->torch_rank != waited;
    nsc_text group = nsc_said(m, r, "group"), rest = group;
    for (nsc_text word = nsc_next_word(&rest); word.len && !of_group; word = nsc_next_word(&rest)) {
        word.len -= word.ptr[word.len - 1] == ',';
        if (nsc_to_i64(word, &rank))
            nsc_name_rank(c, f, (uint64_t)rank);
    }
    group.len = group.len < 80 ? group.len : 80;
    const char *who = f->ranks.len ? nsc_list_ranks(c, f)
                                   : nsc_words(c, "rank %.*s of a group", (int)group.len, group.len ? group.ptr : "");
    f->count = f->ranks.len ? f->ranks.len : 1;
    f->title = nsc_words(c, "A PyTorch barrier timed out after %.4g s without %s: rank %lld, which waited, reports it",
                         (double)ms / 1000, who, (long long)(of_group ? r->torch_rank : waited));
    nsc_explain_by(c, f, NSC_HUNG_BARRIER);
    f->confidence = "certain"; /* that they did not come; not why */
    nsc_show(c, f, &r->where);
}

/* "Warning: NCCL EP timeout for dispatch receive, rank 2, local_expert_idx 37, src_rank 0" */
static void tell_experts(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    const struct nsc_own_record *first = NULL;
    int64_t rank, waits = -1;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_EXPERTS_WAITED || !nsc_number_said(m, r, "rank", &rank))
            continue;
        waits = first ? waits : rank;
        first = first ? first : r;
        f = f ? f : nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "certain");
        f->count++;
        nsc_name_rank(c, f, (uint64_t)rank);
        nsc_show(c, f, &r->where);
    }
    if (!f)
        return;
    nsc_explain_by(c, f, NSC_HUNG_EXPERTS);
    f->confidence = "certain"; /* that they gave up; not why */
    nsc_text library = nsc_said(m, first, "name"), call = nsc_said(m, first, "collective"),
             peer = nsc_said(m, first, "peer");
    f->title =
        nsc_words(c, "Tokens from other ranks did not arrive (%.*s): %srank %lld waited in vain for rank %.*s, in %.*s",
                  (int)(library.len < 40 ? library.len : 40), library.len ? library.ptr : "",
                  f->ranks.len > 1 ? nsc_words(c, "%s waited; first, ", nsc_list_ranks(c, f)) : "", (long long)waits,
                  (int)(peer.len < 20 ? peer.len : 20), peer.len ? peer.ptr : "", (int)(call.len < 40 ? call.len : 40),
                  call.len ? call.ptr : "");
}

/* "[PG 0 Rank 25] ProcessGroupNCCL's watchdog got stuck for 600 seconds without making progress": where no line names a collective. */
static void tell_still_watchdog(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    struct nsc_finding *f = NULL;
    double s, least = 0, most = 0;
    int64_t rank;
    for (size_t i = 0; i < c->f->list.len; i++)
        if (c->f->list.item[i].rule == c->rule && c->f->list.item[i].severity == NCCLSCOPE_SEVERITY_ERROR)
            return;
    for (size_t i = 0; i < m->happened.len; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number != NCCLSCOPE_KIND_TORCH_STUCK || !nsc_number_said(m, r, "rank", &rank))
            continue;
        int severity = nsc_success_of(m) ? NCCLSCOPE_SEVERITY_WARNING : NCCLSCOPE_SEVERITY_ERROR;
        f = f ? f : nsc_found(c, severity, "error", "likely");
        s = nsc_to_f64(nsc_said(m, r, "total_s"), &s) ? s : 0;
        least = f->count && least < s ? least : s;
        most = most > s ? most : s;
        f->count++;
        nsc_name_rank(c, f, (uint64_t)rank);
        nsc_show(c, f, &r->where);
    }
    if (!f)
        return;
    f->part = NSC_WAKE;
    const char *seconds = least < most ? nsc_words(c, "%g to %g s", least, most) : nsc_words(c, "%g s", most);
    f->title = nsc_words(c, "PyTorch's watchdog of NCCL stood still for %s on %s, so its monitor ends the process",
                         seconds, nsc_list_ranks(c, f));
    nsc_explain_by(c, f, NSC_HUNG_WATCHDOG);
}

/* The first call in which ranks of a communicator differ; NULL: in none. */
static const struct nsc_odd_call *first_difference(const struct ncclscope_model *m)
{
    const struct nsc_odd_call *first = NULL;
    for (size_t i = 0; i < m->odd_calls.len; i++) {
        const struct nsc_odd_call *x = &m->odd_calls.item[i];
        const struct nsc_rank *r = &m->ranks.item[x->rank], *of = &m->ranks.item[m->calls.item[x->first].rank];
        if (r->sends || of->sends || r->rank < 0 || of->rank < 0)
            continue;
        if (!first || m->calls.item[x->first].op < m->calls.item[first->first].op)
            first = x;
    }
    return first;
}

/* "AllReduce: opCount 1 ..." of most ranks and "Broadcast: opCount 1 ..." of one: nobody comes to the end of either. Is it told? */
static bool tell_order(struct nsc_case *c)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_odd_call *odd = nsc_success_of(m) ? NULL : first_difference(m);
    if (!odd)
        return false;
    const struct nsc_call *call = &m->calls.item[odd->first];
    struct nsc_finding *f = nsc_found(c, NCCLSCOPE_SEVERITY_ERROR, "error", "likely");
    for (size_t i = 0; i < m->odd_calls.len; i++) {
        const struct nsc_odd_call *x = &m->odd_calls.item[i];
        if (x->first != odd->first || x->name != odd->name || x->count != odd->count)
            continue;
        nsc_name_rank(c, f, (uint64_t)m->ranks.item[x->rank].rank);
        f->ranks_more += x->alike - 1;
        nsc_show(c, f, &x->where);
    }
    bool other_name = odd->name != call->name;
    const char *one = nsc_say(m, odd->name).ptr, *most = nsc_say(m, call->name).ptr, *who = nsc_list_ranks(c, f);
    f->count = f->ranks.len;
    f->comm = m->ranks.item[odd->rank].comm;
    f->title =
        other_name
            ? nsc_words(
                  c, "Ranks call different collectives: operation %llu is %s on %s, %s on %u other%s (first rank %lld)",
                  (unsigned long long)call->op, one, who, most, call->alike, call->alike == 1 ? "" : "s",
                  (long long)m->ranks.item[call->rank].rank)
            : nsc_words(c,
                        "Ranks call %s with different sizes: operation %llu has %lld elements on %s, %lld on %u "
                        "other%s (first rank %lld)",
                        one, (unsigned long long)call->op, (long long)odd->count, who, (long long)call->count,
                        call->alike, call->alike == 1 ? "" : "s", (long long)m->ranks.item[call->rank].rank);
    nsc_explain_by(c, f, other_name ? NSC_HUNG_ORDER : NSC_HUNG_CALL_SIZES);
    return true;
}

void nsc_rule_ranks_hung(struct nsc_case *c)
{
    if (!tell_order(c))
        tell_stalled(c);
    tell_barrier(c);
    tell_experts(c);
    tell_no_result(c);
    nsc_tell_watchdogs(c);
    nsc_tell_ras(c);
    tell_still_watchdog(c);
}
