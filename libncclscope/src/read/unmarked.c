/* unmarked.c - lines that hold no header of NCCL's: a version line, NCCL's words in another program's message, rows of other programs, and
 * what is left of torn records. */
#include "read/foreign.h"
#include "read/reader.h"
#include "read/texts.h"

/* A record put together from its two halves: what the first half's header said, at the line of the second. */
static bool take_joined(ncclscope_reader *r, nsc_text body)
{
    nsc_text message;
    struct nsc_debt *who;
    const struct nsc_row *row = nsc_debts_pay(&r->debts, r->grammar, &r->via_cache, body, &r->match, &message, &who);
    if (!row)
        return false;
    nsc_mark_torn(r);
    struct nsc_header h = {.level = NCCLSCOPE_LEVEL_INFO,
                           .pid = who->pid,
                           .tid = who->tid,
                           .dev = who->dev,
                           .host = {who->host, who->host_len}};
    nsc_set_who(&r->record, &h);
    r->record.message = message;
    r->record.kind = row->kind;
    r->record.match = row->pattern.literal ? NULL : &r->match;
    r->record.flags |= NCCLSCOPE_FLAG_JOINED | NCCLSCOPE_FLAG_TORN | (who->host_len ? NCCLSCOPE_FLAG_HEADER : 0);
    return true;
}

/* "[1,0]<stdout>:", " 0: ": what mpirun and srun put in front, at a glance. */
static bool is_numbered(nsc_text line)
{
    size_t i = 0;
    while (i < line.len && i < 4 && line.ptr[i] == ' ')
        i++;
    size_t from = i;
    while (i < line.len && nsc_is_digit(line.ptr[i]))
        i++;
    return (i > from && i - from < 6 && nsc_text_starts(nsc_text_from(line, i), ": ")) ||
           (line.ptr[0] == '[' && nsc_text_find_by(line, "<std", 0) >= 0);
}

/* "trainer-1  | # nThread 1 nGpus 2 ...": the first line of nccl-tests shows what stands before all of them. */
static void learn_before_tests(ncclscope_reader *r, nsc_text line)
{
    ptrdiff_t at = nsc_text_find_by(line, "# nThread ", 3);
    struct nsc_prefix_memo memo = {.rows = 0};
    struct nsc_prefix prefix = {.rank = -1};
    if (at <= 0)
        return;
    nsc_prefix_parse(r->grammar, (nsc_text){line.ptr, (size_t)at}, &memo, &r->match, &prefix);
    if (!prefix.foreign)
        r->memo = memo;
}

/* "[1,0]<stdout>:     1048576   262144  float ...": a launcher's prefix, where no record of NCCL's has shown it yet. */
static void learn_prefix(ncclscope_reader *r, nsc_text line)
{
    if (!r->memo.rows)
        learn_before_tests(r, line);
    if (r->memo.rows || line.len < 12 || !is_numbered(line))
        return;
    for (size_t i = 0; i < r->grammar->prefixes; i++)
        if (nsc_pattern_match(&r->grammar->prefix[i], &r->grammar->lock, line, &r->match)) {
            r->memo.row[0] = (unsigned char)i;
            r->memo.rows = 1;
            return;
        }
}

/* Prefixes of the kind that this source's records carry, cut off a line that holds none; what they say is taken. */
static nsc_text strip_prefixes(ncclscope_reader *r, nsc_text line)
{
    size_t at = 0;
    learn_prefix(r, line);
    for (size_t i = 0; i < r->memo.rows; i++) {
        struct nsc_pattern *p = &r->grammar->prefix[r->memo.row[i]];
        if (!nsc_pattern_match(p, &r->grammar->lock, nsc_text_from(line, at), &r->match))
            break;
        at += r->match.length;
    }
    struct nsc_prefix_memo memo = r->memo;
    if (at)
        nsc_prefix_parse(r->grammar, (nsc_text){line.ptr, at}, &memo, &r->match, &r->prefix);
    return nsc_text_from(line, at);
}

/* The line from `start` on, without what quotes, tables and pages put around it. */
static nsc_text bare_text(nsc_text line, size_t start)
{
    while (start < line.len && strchr(" \t'\"`|>", line.ptr[start]))
        start++;
    bool bytes = nsc_text_starts(nsc_text_from(line, start), "b'");
    start += bytes ? 2 : 0;
    line.len = start < line.len ? nsc_without_tail(line, start) : start;
    return nsc_text_trim(nsc_text_from(line, start));
}

/* "<<worker 12>> ", "[anything]: ": does it end as what launchers put before a line does, and is it short? */
static bool ends_as_prefix(nsc_text before)
{
    enum { MOST = 80 };
    before = nsc_text_trim_end(before);
    return before.len && before.len < MOST && strchr("]:>)|", before.ptr[before.len - 1]);
}

/* "  2: NCCL version 2.22.3+cuda12.6": a launcher's prefix that no record of this source has shown yet. */
static nsc_text behind_prefix(ncclscope_reader *r)
{
    ptrdiff_t at = nsc_text_find_by(r->line, "CCL version ", 0);
    struct nsc_prefix_memo memo = {.rows = 0};
    struct nsc_prefix prefix;
    if (at < 2 || (r->line.ptr[at - 1] != 'N' && r->line.ptr[at - 1] != 'R'))
        return (nsc_text){NULL, 0};
    nsc_text before = {r->line.ptr, (size_t)at - 1};
    nsc_prefix_parse(r->grammar, before, &memo, &r->match, &prefix);
    if (prefix.foreign && !ends_as_prefix(before))
        return (nsc_text){NULL, 0};
    r->prefix = prefix;
    return bare_text(r->line, before.len);
}

/* ---- NCCL's words in the message of another program ---- */

/* aws-ofi-nccl's own words, pasted without all that stood before; what it does not warn of is left, as nobody quotes it for a failure. */
static nsc_text bare_warning(ncclscope_reader *r, nsc_text body)
{
    bool strict;
    nsc_text text = nsc_text_trim_end(body);
    const struct nsc_known_text *known =
        nsc_text_starts(text, "NET/OFI ") ? nsc_texts_match(r->grammar, NULL, text, 0, &r->match, &strict) : NULL;
    return known && !strcmp(known->level, "WARN") ? text : (nsc_text){NULL, 0};
}

/* Words behind "Last error:" that are none of NCCL's own, and that no row reads: a plugin may warn through NCCL's logger, as with the frames
 * of its own stack. What else stands there may be the program's next line. */
static bool take_last_error(ncclscope_reader *r, nsc_text text)
{
    static const char *const like[] = {"0x", "fail", "rror", NULL};
    if (!r->of_last_error || !nsc_text_has_any(text, like))
        return false;
    const struct nsc_row *row = nsc_foreign_placed(r->grammar, NCCLSCOPE_KIND_LAST_ERROR, text, &r->match);
    if (!row)
        return false;
    r->record.message = text;
    r->record.level = NCCLSCOPE_LEVEL_OTHER;
    r->record.kind = row->kind;
    r->record.match = &r->match;
    return true;
}

static bool take_quoted(ncclscope_reader *r, nsc_text body)
{
    nsc_text text = nsc_quoted_text(r);
    bool strict;
    text = text.len ? text : bare_warning(r, body);
    const struct nsc_row *row =
        text.len ? nsc_grammar_match(r->grammar, &r->words->messages, text, 0, &r->match) : NULL;
    if (!row && (!text.len || !nsc_texts_match(r->grammar, NULL, text, 0, &r->match, &strict)))
        return false;
    nsc_new_record(r);
    r->record.message = text;
    r->record.level = NCCLSCOPE_LEVEL_OTHER;
    r->record.flags |= NCCLSCOPE_FLAG_QUOTED;
    r->record.kind = row ? row->kind : NCCLSCOPE_KIND_UNKNOWN;
    r->record.match = row && !row->pattern.literal ? &r->match : NULL;
    return true;
}

/* A version line of NCCL's without a header: the record in hand, if a release is known to print it so. */
static void take_version(ncclscope_reader *r, nsc_text text)
{
    const struct nsc_row *row = nsc_grammar_match(r->grammar, NULL, nsc_without_screen(text), 0, &r->match);
    r->record.kind = row ? row->kind : NCCLSCOPE_KIND_UNKNOWN;
    r->record.match = row ? &r->match : NULL;
    r->record.level = NCCLSCOPE_LEVEL_VERSION;
    r->stats.records++;
    r->stats.unknown += !row;
}

/* An error that another row, or an exception, tells better; and which a program may survive. */
static bool is_error_alone(const struct nsc_row *row)
{
    return row && (row->kind == NCCLSCOPE_KIND_ERROR_ALONE || row->kind == NCCLSCOPE_KIND_ERROR_SAID);
}

/* What another program printed: the record in hand, if there is a row for it. */
static bool take_foreign(ncclscope_reader *r, nsc_text body)
{
    struct ncclscope_record *rec = &r->record;
    const struct nsc_row *row = NULL;
    nsc_text raised = {NULL, 0};
    rec->level = NCCLSCOPE_LEVEL_OTHER;
    rec->kind = nsc_foreign_kind(body);
    if (rec->kind == NCCLSCOPE_KIND_UNKNOWN)
        rec->kind = nsc_json_kind(body, &r->ras_json);
    if (rec->kind != NCCLSCOPE_KIND_UNKNOWN)
        return true;
    const struct nsc_row *exception = nsc_exception_row(r, &raised);
    row = nsc_panic_row(r, body);
    row = row ? row : nsc_foreign_row(r->grammar, body, r->hinted, &r->match);
    if (!row && r->of_error)
        row = nsc_foreign_placed(r->grammar, NCCLSCOPE_KIND_ERROR_SAID, nsc_text_trim(body), &r->match);
    bool vague = !row || row->kind == NCCLSCOPE_KIND_RANK_SAID || is_error_alone(row);
    if (vague && exception) { /* again: the match is of another row by now */
        row = nsc_foreign_placed(r->grammar, NCCLSCOPE_KIND_PY_RAISED, raised, &r->match);
        rec->message = raised;
    }
    if (!row && nsc_progress_shows(&r->progress, body, r->physical.number))
        row = nsc_foreign_placed(r->grammar, NCCLSCOPE_KIND_PROGRAM_GOES_ON, nsc_text_trim(body), &r->match);
    if (!row ||
        (row->kind == NCCLSCOPE_KIND_PY_TRACEBACK && nsc_traceback_is_ignored(&r->tracebacks, r->physical.number)) ||
        (is_error_alone(row) && nsc_is_in_ignored(&r->tracebacks, r->physical.number)))
        return false;
    rec->kind = row->kind;
    if (rec->kind == NCCLSCOPE_KIND_SHELL_ENDED ||
        rec->kind == NCCLSCOPE_KIND_ERROR_ALONE) /* or the words of something else: does the program go on? */
        nsc_progress_begin(&r->progress, r->physical.number);
    if (rec->kind == NCCLSCOPE_KIND_ERROR_SAID)
        nsc_progress_begin_once(&r->progress, r->physical.number);
    if (rec->kind == NCCLSCOPE_KIND_NCCL_RESULT)
        nsc_await_quoted(r);
    rec->time = rec->time.len ? rec->time : nsc_glog_time(r->line);
    rec->host = rec->host.len ? rec->host : nsc_hosts_label(&r->hosts, r->line);
    rec->match = row->pattern.literal ? NULL : &r->match;
    return true;
}

/* "node1:24012:24113 [0] NC[rank0]:[E ...": a header, and another program that broke in before NCCL's name was whole. */
static bool take_broken_in(ncclscope_reader *r, nsc_text body, struct nsc_header *bare)
{
    nsc_text begun = nsc_marker_begun(nsc_text_from(body, bare->marker));
    nsc_hosts_mend(&r->hosts, bare, false);
    nsc_mark_torn(r);
    nsc_debts_add(&r->debts, bare, begun);
    body = nsc_text_from(body, bare->marker + begun.len);
    r->record.message = body;
    return body.len && take_foreign(r, body);
}

/* The last piece of a row of nccl-tests, whose first ones stood before records. */
static bool take_test_row(ncclscope_reader *r, nsc_text body)
{
    nsc_text row = {NULL, 0};
    if (r->test_row.len)
        row = nsc_test_row_whole(&r->test_row, r->line);
    if (r->test_row.len && !row.len) /* not there, or what a launcher put before it is no number */
        row = nsc_test_row_whole(&r->test_row, body);
    if (!row.len)
        return false;
    r->record.message = row;
    r->record.level = NCCLSCOPE_LEVEL_OTHER;
    r->record.kind = NCCLSCOPE_KIND_TEST_ROW;
    return true;
}

/* "ncclCommInitRankConfig comm 0x596c4b4edb80 rank 0 nranks 8 cudaDev 0 ... - Init START", "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM" */
static bool tells_of_communicator(nsc_text body)
{
    return (nsc_text_starts(body, "ncclComm") && nsc_text_find(body, " comm 0x") > 0 &&
            nsc_text_find(body, " nranks ") > 0) ||
           (nsc_text_starts(body, "Channel ") && nsc_text_find(body, "] -> ") > 0 && nsc_text_find(body, " via ") > 0);
}

/* "NET/IB : No device found.", "Using network Socket": what is left where somebody took "NCCL INFO" away from all lines. */
static bool tells_of_start(nsc_text body)
{
    static const char *const begins[] = {"NET/Plugin: Could not find",
                                         "NET/Plugin: No plugin found",
                                         "NET/Plugin : No plugin found",
                                         "NET/IB : No device found",
                                         "NET/IB : Using [",
                                         "NET/Socket : Using [",
                                         "NET/Socket: Using ["};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (body.ptr[0] == 'N' && nsc_text_starts(body, begins[i]))
            return true;
    nsc_text name = nsc_text_starts(body, "Using network ") ? nsc_text_trim_end(nsc_text_from(body, 14)) : NSC_TEXT("");
    return nsc_text_is(name, "Socket") || nsc_text_is(name, "IB") || nsc_text_starts(name, "IBext") ||
           nsc_text_is(name, "AWS Libfabric") ||
           tells_of_communicator(body); /* another name may be another program's */
}

/* "Channel 00/0 : 0[6000] -> 1[d000] via P2P/IPC": a whole message of NCCL's and no header: somebody took even "NCCL INFO" away. Where connections
 * have their headers it is the rest of a torn one, which would stand beside them as one of nobody's. */
static bool take_bare_message(ncclscope_reader *r, nsc_text body)
{
    nsc_text message = nsc_text_trim_end(body);
    bool stripped = !r->seen.headers, connects = nsc_text_find(message, " via ") >= 0;
    if (r->connected || !(stripped || connects))
        return false;
    enum nsc_worth worth = nsc_worth_of_message(r, message);
    if (worth != NSC_WORTH_WHOLE && (worth == NSC_WORTH_CUT || !tells_of_start(message)))
        return false;
    struct nsc_header h = {.level = NCCLSCOPE_LEVEL_INFO, .pid = -1, .tid = -1, .dev = -1, .stripped = stripped};
    nsc_new_record(r);
    nsc_set_who(&r->record, &h);
    r->record.flags = stripped ? NCCLSCOPE_FLAG_TORN | NCCLSCOPE_FLAG_STRIPPED : NCCLSCOPE_FLAG_TORN;
    r->record.message = message;
    r->chars = nsc_chars_of(message);
    nsc_mark_torn(r);
    r->stats.stripped += stripped;
    r->stats.records++;
    nsc_understand(r, &h, false);
    return true;
}

bool nsc_take_unmarked(ncclscope_reader *r)
{
    nsc_text body = strip_prefixes(r, r->line), text = bare_text(r->line, (size_t)(body.ptr - r->line.ptr));
    if (!nsc_is_version_line(text) && (text = behind_prefix(r)).len && !nsc_is_version_line(text))
        text.len = 0;
    struct nsc_header bare;
    enum nsc_hint hint = nsc_hints_find(&r->grammar->hints, r->line);
    r->hinted = hint == NSC_HINT_OF_ROW;
    r->of_error = hint == NSC_HINT_OF_ERROR;
    if (take_quoted(r, body))
        return true;
    nsc_new_record(r);
    r->record.message = nsc_text_trim_end(body);
    if (!body.len)
        return false;
    if (nsc_is_version_line(text)) {
        take_version(r, text);
        return true;
    }
    bool headed = nsc_header_bare(body, 0, &bare);
    bool of_nvshmem = headed && nsc_text_starts(nsc_text_trim(nsc_text_from(body, bare.marker)), "NVSHMEM ");
    if (headed && !of_nvshmem) /* which heads its lines as NCCL does */
        return take_broken_in(r, body, &bare);
    if (take_test_row(r, body) || take_foreign(r, body) || take_joined(r, body) || take_last_error(r, body))
        return true;
    if (!r->seen.headers) /* indented, as posts have their code */
        body = nsc_text_trim(body);
    bool residue = nsc_is_residue(body);
    if (!residue && (r->seen.headers || !tells_of_start(body)))
        return false;
    if (take_bare_message(r, body))
        return true;
    if (residue)
        nsc_mark_torn(r);
    return false;
}

/* "[rank13]: Call to ibv_create_cq failed", "[164.09] [vm:100:0] rocm_ipc_md.c:72 UCX  ERROR ...". */
enum nsc_worth nsc_worth_of_unmarked(ncclscope_reader *r, nsc_text line)
{
    bool known = nsc_foreign_row(r->grammar, line, true, &r->match);
    if (nsc_text_find_by(line, "ProcessGroupNCCL.cpp", 0) >= 0)
        return known ? NSC_WORTH_WHOLE : NSC_WORTH_CUT;
    return known || nsc_text_starts(line, "[rank") ? NSC_WORTH_OTHER : NSC_WORTH_NOTHING;
}

bool nsc_take_behind(ncclscope_reader *r)
{
    nsc_text body = r->behind;
    r->behind.len = 0;
    nsc_new_record(r);
    r->record.message = body = nsc_text_trim(body);
    r->hinted = true;
    r->of_error = false;
    if (!nsc_is_version_line(body))
        return take_foreign(r, body);
    take_version(r, body);
    return true;
}
