/* failure_words.c - what the lines of a failure themselves add to the words of its row: calls, errors, addresses, and what another program said. */
#include "read/said.h"
#include "rules/ask.h"

/* The word behind this one: "localGid fe80::1 remoteGidsfe80::2". */
nsc_text nsc_word_behind(nsc_text line, const char *word)
{
    ptrdiff_t at = nsc_text_find(line, word);
    nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(line, (size_t)at + strlen(word));
    return nsc_next_word(&rest);
}

/* "Error: 4126 (Unresponsive receiver (...) My EFA addr: ...)", "Error: Input/output error. Completed length: 0", "strerror: Unresponsive
 * remote, len: 0": libfabric's words for it. */
static nsc_text error_of_libfabric(nsc_text line)
{
    static const char before[] = "strerror: ", number[] = "Error: ";
    ptrdiff_t at = nsc_text_find(line, before), err = nsc_text_find(line, number);
    if (at >= 0) {
        nsc_text rest = nsc_text_from(line, (size_t)at + sizeof before - 1);
        ptrdiff_t end = nsc_text_find(rest, ",");
        rest.len = end > 0 ? (size_t)end : rest.len;
        return rest;
    }
    nsc_text rest = err < 0 ? (nsc_text){NULL, 0} : nsc_text_from(line, (size_t)err + sizeof number - 1);
    ptrdiff_t open = nsc_text_find(rest, "("), addresses = nsc_text_find(rest, " My EFA addr"),
              end = nsc_text_find(rest, "). Completed");
    end = addresses > 0 ? addresses : end;
    ptrdiff_t stop = nsc_text_find(rest, ". Completed");
    if (end < 0 && stop > 0 && rest.len && !nsc_is_digit(rest.ptr[0]))
        return (nsc_text){rest.ptr, (size_t)stop};
    return open >= 0 && end > open ? (nsc_text){rest.ptr + open + 1, (size_t)(end - open - 1)} : (nsc_text){NULL, 0};
}

/* "Call to bind failed", "ibv_post_recv() failed with error Invalid argument": which call. */
static nsc_text called(nsc_text text)
{
    ptrdiff_t call = nsc_text_find(text, "Call to "), verb = nsc_text_find(text, "ibv_");
    if (call < 0 && verb < 0)
        return NSC_TEXT("a call");
    nsc_text rest = nsc_text_from(text, call < 0 ? (size_t)verb : (size_t)call + 8), name = nsc_next_word(&rest);
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '(')
            name.len = i;
    return name;
}

/* The words of a row, with what the warning says put in: {call}, the function behind "Call to"; {error}, libfabric's; {behind}, what
 * stands behind its first colon; {runtime}, CUDA or HIP; {said}, all. */
const char *nsc_fill_words(struct nsc_case *c, const char *words, const struct nsc_event *e)
{
    const char *brace = strchr(words, '{'), *end = brace ? strchr(brace, '}') : NULL;
    if (!end)
        return words;
    nsc_text put = nsc_message_of(&e->where);
    if (!strncmp(brace, "{call}", 6)) {
        put = called(e->where.text);
    } else if (!strncmp(brace, "{error}", 7)) {
        put = error_of_libfabric(e->where.text);
        put = put.len ? put : NSC_TEXT("an error");
    } else if (!strncmp(brace, "{runtime}", 9)) {
        put = nsc_is_rccl(c->m) ? NSC_TEXT("HIP") : NSC_TEXT("CUDA");
    } else if (!strncmp(brace, "{behind}", 8)) {
        ptrdiff_t colon = nsc_text_find(put, ": ");
        put = colon < 0 ? put : nsc_text_trim(nsc_text_from(put, (size_t)colon + 2));
    }
    put.len = put.len < 200 ? put.len : 200;
    put.len -= put.len && put.ptr[put.len - 1] == '.'; /* the sentence has one of its own */
    return nsc_words(c, "%.*s%.*s%s", (int)(brace - words), words, (int)put.len, put.ptr, end + 1);
}

/* Which two ports did not reach each other, of a completion that tells it. */
static void say_gids(struct nsc_case *c, struct nsc_finding *f)
{
    nsc_text here = nsc_word_behind(f->began->where.text, " localGid"),
             there = nsc_word_behind(f->began->where.text, " remoteGids"),
             device = nsc_word_behind(f->began->where.text, " hca ");
    const char *hca = device.len && device.len < 64 ? nsc_words(c, " (%.*s)", (int)device.len, device.ptr) : "";
    if (f->began->kind == NCCLSCOPE_KIND_IB_COMPLETION && here.len && there.len && here.len < 64 && there.len < 64)
        f->cause = nsc_words(c, "%s The first such line names the ports with GID %.*s here%s and %.*s there.", f->cause,
                             (int)here.len, here.ptr, hca, (int)there.len, there.ptr);
}

/* "Unable to create extended CQ: Cannot allocate memory": what stands behind the last ": ". */
static nsc_text reason_at_end(nsc_text line)
{
    const char *colon = line.len ? memrchr(line.ptr, ':', line.len) : NULL;
    return colon ? nsc_text_trim(nsc_text_from(line, (size_t)(colon + 1 - line.ptr))) : line;
}

/* A line of another program without the columns of an export before it: "  | 2024-11-28T07:42:11.527Z | libfabric:17778:...". */
static const char *quoted_line(struct nsc_case *c, const struct nsc_own_record *r)
{
    enum { BYTES = 160 };
    nsc_text said = nsc_text_trim(r->where.text);
    while (nsc_text_starts(said, "| ")) {
        nsc_text rest = nsc_text_from(said, 2);
        ptrdiff_t bar = nsc_text_find(rest, " | ");
        said = bar < 0 ? rest : nsc_text_from(rest, (size_t)bar + 1);
    }
    return nsc_words(c, "\"%.*s%s\"", (int)(said.len < BYTES ? said.len : BYTES), said.ptr,
                     said.len > BYTES ? "..." : "");
}

/* What a driver or a library said shortly before the warning: the last such line; the one before it, too, where the last repeats the warning's
 * own reason and that one gives another. */
static void quote_said(struct nsc_case *c, struct nsc_finding *f)
{
    const struct ncclscope_model *m = c->m;
    const struct nsc_own_record *last = NULL, *other = NULL;
    const struct nsc_where *at = &f->began->where;
    for (size_t i = 0; i < m->happened.len && f->part == NSC_ROOT; i++) {
        const struct nsc_own_record *r = &m->happened.item[i];
        if (r->number == NCCLSCOPE_KIND_SAID_BEFORE && r->where.source == at->source && r->where.line < at->line &&
            r->where.line + NSC_SAID_LINES >= at->line)
            other = last, last = r;
    }
    if (!last)
        return;
    nsc_text own = reason_at_end(at->text);
    bool both = other && nsc_text_eq(reason_at_end(last->where.text), own) &&
                !nsc_text_eq(reason_at_end(other->where.text), own);
    f->cause = nsc_words(c, "%s Line %llu, shortly before it, says: %s", f->cause,
                         (unsigned long long)(both ? other : last)->where.line, quoted_line(c, both ? other : last));
    if (both)
        f->cause = nsc_words(c, "%s; %s: %s", f->cause, nsc_line_in(c, &last->where), quoted_line(c, last));
    f->cause = nsc_words(c, "%s.", f->cause);
    nsc_show(c, f, &(both ? other : last)->where);
}

/* "bootstrap.cc:100 -> 2" right behind a connection that was not made, of the same thread: which of NCCL's connections that is. */
static void say_bootstrap(struct nsc_case *c, struct nsc_finding *f)
{
    enum { NEAR = 8 };
    const struct ncclscope_model *m = c->m;
    const struct nsc_where *at = &f->began->where;
    for (size_t i = nsc_events_of(m, f->began->proc); f->rule->key == NSC_ID_NET_TIMEOUT && i < m->event_order.len;
         i++) {
        const struct nsc_event *e = &m->events.item[m->event_order.item[i]];
        if (e->proc != f->began->proc)
            return;
        if (e->kind != NCCLSCOPE_KIND_BACKTRACE || e->dev != f->began->dev || e->where.source != at->source ||
            e->where.line <= at->line || e->where.line > at->line + NEAR ||
            nsc_text_find(e->where.text, "socket.") >= 0)
            continue;
        if (nsc_text_find(e->where.text, "bootstrap.c") >= 0)
            f->cause = nsc_words(c,
                                 "%s The connection belongs to the bootstrap, where ranks meet and tell each other "
                                 "what their connections need (%s).",
                                 f->cause, nsc_line_in(c, &e->where));
        return; /* the first call that says what the socket was for */
    }
}

void nsc_add_what_lines_say(struct nsc_case *c, struct nsc_finding *f)
{
    say_bootstrap(c, f);
    say_gids(c, f);
    quote_said(c, f);
}
