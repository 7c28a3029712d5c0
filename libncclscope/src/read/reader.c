/* reader.c - bytes to records: source, lines, unwrap, header, prefix, match; torn lines split into what they hold. */
#include "base/sized.h"
#include "read/reader.h"

#include "base/alloc.h"

enum { CHUNK = 64 * 1024 };

int ncclscope_reader_new(ncclscope_reader **out, ncclscope_grammar *g, ncclscope_error *err)
{
    if (out)
        *out = NULL;
    if (!out || !g)
        return nsc_null(err);
    ncclscope_reader *r = nsc_alloc(sizeof *r);
    if (r)
        nsc_source_of_fed(&r->source);
    if (r)
        r->grammar = g;
    if (!r || nsc_via_cache_init(&r->via_cache) || nsc_match_new(&r->match, err) ||
        !(r->words = nsc_grammar_take_words(g))) {
        ncclscope_reader_free(r);
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    atomic_store_explicit(&g->used, true, memory_order_relaxed);
    *out = r;
    return NCCLSCOPE_OK;
}

int nsc_reader_open(ncclscope_reader **out, ncclscope_grammar *g, const char *path, const struct nsc_watch *watch,
                    ncclscope_error *err)
{
    int rc = ncclscope_reader_new(out, g, err);
    if (rc)
        return rc;
    rc = nsc_source_open(&(*out)->source, path, watch, err);
    if (rc) {
        ncclscope_reader_free(*out);
        *out = NULL;
        return rc;
    }
    return NCCLSCOPE_OK;
}

int ncclscope_reader_open(ncclscope_reader **out, ncclscope_grammar *g, const char *path, ncclscope_error *err)
{
    return path ? nsc_reader_open(out, g, path, &(struct nsc_watch){NULL, NULL, 0}, err) : nsc_null(err);
}

void ncclscope_reader_free(ncclscope_reader *r)
{
    if (!r)
        return;
    nsc_source_close(&r->source);
    nsc_lines_free(&r->lines);
    nsc_rewrap_free(&r->rewrap);
    nsc_wrap_free(&r->wrap);
    nsc_entries_free(&r->entries);
    nsc_match_free(&r->match);
    nsc_via_cache_free(&r->via_cache);
    nsc_debts_free(&r->debts);
    nsc_grammar_keep_words(r->grammar, r->words);
    nsc_free(r);
}

int ncclscope_reader_of(ncclscope_reader **out, ncclscope_grammar *g, ncclscope_read_fn *read, void *user,
                        ncclscope_error *err)
{
    if (!read)
        return nsc_null(err);
    int rc = ncclscope_reader_new(out, g, err);
    if (!rc)
        nsc_source_of(&(*out)->source, read, user);
    return rc;
}

int ncclscope_reader_of_fd(ncclscope_reader **out, ncclscope_grammar *g, int fd, ncclscope_error *err)
{
    if (fd < 0)
        return nsc_fail(err, NCCLSCOPE_EINVAL, 0, "a descriptor is 0 or more");
    int rc = ncclscope_reader_new(out, g, err);
    if (!rc)
        nsc_source_of_fd(&(*out)->source, fd);
    return rc;
}

int ncclscope_reader_feed(ncclscope_reader *r, const void *data, size_t size)
{
    if (!r || (!data && size))
        return NCCLSCOPE_EINVAL;
    return r->source.fed.on && !r->source.fed.whole ? nsc_source_feed(&r->source, data, size) : NCCLSCOPE_EINVAL;
}

void ncclscope_reader_finish(ncclscope_reader *r)
{
    if (r)
        r->source.fed.whole = true;
}

void ncclscope_reader_flush(ncclscope_reader *r)
{
    if (r)
        r->rewrap.flush = true;
}

int ncclscope_reader_stats(const ncclscope_reader *r, ncclscope_stats *out)
{
    if (!r || !out)
        return NCCLSCOPE_EINVAL;
    ncclscope_stats s = r->stats;
    s.size = out->size;
    s.bytes = r->source.bytes;
    s.format = nsc_source_format(&r->source);
    s.truncated = r->source.truncated;
    s.binary = r->nul_lines * 4 > s.lines;
    return nsc_give_sized(out, out->size, &s, sizeof s) ? NCCLSCOPE_OK : NCCLSCOPE_EABI;
}

/* ---- records of a line ---- */

/* The same where that host is not known yet: only one place between the two makes the record before it whole, or at least one that NCCL is
 * known to print. */
static size_t host_behind(ncclscope_reader *r, size_t from, const struct nsc_header *h)
{
    size_t place = 0, places = 0;
    enum nsc_worth best = NSC_WORTH_KNOWN;
    nsc_text message = nsc_text_from(r->line, from);
    for (size_t k = 0; k < h->host.len; k++) {
        message.len = (size_t)(h->host.ptr + k - message.ptr);
        enum nsc_worth worth = nsc_worth_of_message(r, message);
        places = worth > best ? 1 : places + (worth == best);
        place = worth >= best ? k : place;
        best = worth > best ? worth : best;
    }
    return places == 1 ? h->host.len - place : h->host.len;
}

static bool find_header(ncclscope_reader *r, size_t from, struct nsc_header *out)
{
    bool found = from ? nsc_chars_have(r->chars, "NCL") && nsc_header_find(r->line, from, out)
                      : r->usual || nsc_header_find_again(&r->headers, r->line, out);
    if (!found)
        return false;
    if (nsc_hosts_mend(&r->hosts, out, from > 0))
        nsc_mark_torn(r);
    bool said = out->host.ptr == r->line.ptr + out->start; /* else it is a name that was seen before, or none at all */
    if (!from || !out->whole || out->start < from || !said)
        return true;
    size_t name = nsc_hosts_at_end(&r->hosts, out->host);
    if (!name)
        name = host_behind(r, from, out);
    if (name == out->host.len)
        return true;
    out->start += out->host.len - name;
    out->host = nsc_text_from(out->host, out->host.len - name);
    nsc_hosts_learn_name(&r->hosts, out->host);
    return true;
}

void nsc_set_who(struct ncclscope_record *rec, const struct nsc_header *h)
{
    rec->host = h->host;
    rec->location = h->location;
    rec->pid = h->pid;
    rec->tid = h->tid;
    rec->dev = h->dev;
    rec->level = h->level;
}

void nsc_new_record(ncclscope_reader *r)
{
    struct ncclscope_record *rec = &r->record;
    nsc_clear(rec, sizeof *rec);
    rec->line = r->physical.number;
    rec->offset = r->physical.offset;
    rec->physical = r->line;
    rec->pod = r->prefix.pod.len ? r->prefix.pod : r->wrap.pod.len ? r->wrap.pod : r->entry.pod;
    rec->container = r->prefix.container.len ? r->prefix.container : r->wrap.container;
    rec->time = r->prefix.time.len ? r->prefix.time : r->wrap.time.len ? r->wrap.time : r->entry.time;
    rec->launcher_rank = r->prefix.rank;
    rec->chars = UINT64_MAX;
    rec->pid = rec->tid = rec->dev = -1;
    rec->grammar = r->grammar;
    rec->row = SIZE_MAX;
}

/* Four records or more on one line. */
static bool holds_many(nsc_text line, size_t from)
{
    size_t n = 0;
    nsc_text rest = nsc_text_from(line, from < line.len ? from : line.len);
    for (ptrdiff_t at; n < 3 && (at = nsc_text_find(rest, " NCCL ")) >= 0; n++)
        rest = nsc_text_from(rest, (size_t)at + 6);
    return n == 3;
}

/* "(Worker_TP0 pid=113060) INFO ...", "(RayWorkerWrapper pid=233, ip=192.0.2.5) ...": how Ray and vLLM begin the lines of a worker. */
static bool begins_worker(nsc_text t)
{
    static const char pid[] = " pid=";
    size_t i = 1;
    while (i < t.len &&
           (nsc_is_digit(t.ptr[i]) || t.ptr[i] == '_' || ((t.ptr[i] | 0x20) >= 'a' && (t.ptr[i] | 0x20) <= 'z')))
        i++;
    if (i == 1 || !nsc_text_starts(nsc_text_from(t, i), pid))
        return false;
    size_t from = i += sizeof pid - 1;
    while (i < t.len && nsc_is_digit(t.ptr[i]))
        i++;
    return i > from && i < t.len && (t.ptr[i] == ')' || t.ptr[i] == ',');
}

static size_t worker_at(nsc_text message)
{
    for (size_t i = 0; i < message.len; i++) {
        const char *open = memchr(message.ptr + i, '(', message.len - i);
        i = open ? (size_t)(open - message.ptr) : message.len;
        if (open && begins_worker(nsc_text_from(message, i)))
            return i;
    }
    return message.len;
}

/* "... NCCL INFO Chan[rank0]:[E ProcessGroupNCCL.cpp:563] ...": where PyTorch, or a worker of vLLM's, broke into a message; its length if
 * none did. */
static size_t broken_at(nsc_text message, nsc_chars chars)
{
    ptrdiff_t at = nsc_chars_have(chars, "[rank") ? nsc_text_find_by(message, "[rank", 4) : -1;
    size_t k = at < 0 ? message.len : (size_t)at + 5;
    while (k < message.len && nsc_is_digit(message.ptr[k]))
        k++;
    bool broken = k > (size_t)at + 5 && nsc_text_starts(nsc_text_from(message, k), "]:[");
    if (at >= 0 && broken)
        return (size_t)at;
    return nsc_chars_have(chars, "(pid=") ? worker_at(message) : message.len;
}

/* "... No such file or directory NCCL version 2.18.1+cuda12.1 vm:12:13 ...": pasted without line ends, the bare version line stands between
 * two records. Its place; the message's length if there is none. */
static size_t version_at(nsc_text message)
{
    ptrdiff_t at = nsc_text_find_by(message, " NCCL version ", 6);
    bool version = at > 0 && nsc_is_version_line(nsc_text_trim_end(nsc_text_from(message, (size_t)at + 1)));
    return version ? (size_t)at : message.len;
}

/* "Key error message `vm:12:13 [0] ... NCCL WARN Net : closed` which seems ...": quoted in prose, up to the closing quote. */
static size_t quote_ends_at(nsc_text line, size_t start, nsc_text message)
{
    const char *end = start && line.ptr[start - 1] == '`' && message.len ? memchr(message.ptr, '`', message.len) : NULL;
    return end ? (size_t)(end - message.ptr) : message.len;
}

/* The record that begins at r->next; the one behind it on the same line, if any, is found on the way. */
static void take_record(ncclscope_reader *r)
{
    struct nsc_header h = r->next;
    size_t end = r->line.len;
    if (!r->usual)
        r->chars = h.message < end ? nsc_chars_of(nsc_text_from(r->line, h.message)) : 0;
    r->usual = false; /* of what follows on the line nothing is known */
    nsc_new_record(r);
    r->has_next = find_header(r, h.message < end ? h.message : end, &r->next);
    if (r->has_next) {
        end = r->next.start;
        if (end > h.message + 2 && !memcmp(r->line.ptr + end - 2, "\\n", 2))
            end -= 2; /* pasted: the line end is spelt out */
        nsc_mark_torn(r);
        r->many = r->many || holds_many(r->line, h.message);
    }
    bool stripped = h.stripped && !r->has_next && !r->prefix.foreign;
    if (!h.whole && !stripped) {
        h.pid = h.dev = -1;
        h.host.len = h.location.len = 0;
    }
    if (h.whole)
        h.host = nsc_hosts_whole(&r->hosts, &h);
    nsc_set_who(&r->record, &h);
    r->record.flags |= h.whole    ? NCCLSCOPE_FLAG_HEADER
                       : stripped ? NCCLSCOPE_FLAG_TORN | NCCLSCOPE_FLAG_STRIPPED
                                  : NCCLSCOPE_FLAG_TORN;
    bool cut = r->physical.cut && !r->has_next;
    r->record.flags |= cut ? NCCLSCOPE_FLAG_CUT : 0;
    if (!h.whole)
        nsc_mark_torn(r);
    r->stats.stripped += stripped;
    r->record.message = (nsc_text){r->line.ptr + h.message, end > h.message ? end - h.message : 0};
    if (r->has_next) {
        r->record.message.len -= nsc_prefix_lead_at_end(r->record.message, (nsc_text){r->line.ptr, r->lead});
        r->record.message.len -= nsc_prefix_stamp_at_end(r->grammar, r->record.message, &r->match);
    }
    r->record.message.len = quote_ends_at(r->line, h.start, r->record.message);
    nsc_text said = r->record.message;
    r->record.message.len = broken_at(said, r->chars);
    if (r->has_next && r->record.message.len == said.len)
        r->record.message.len = version_at(said);
    r->behind = nsc_text_from(said, r->record.message.len);
    bool broken = r->behind.len > 0;
    if (broken)
        nsc_mark_torn(r);
    else if (r->banner.len)
        r->behind = r->banner, r->banner.len = 0;
    r->stats.records++;
    r->stats.warnings += h.level == NCCLSCOPE_LEVEL_WARN;
    r->record.chars = r->chars;
    nsc_understand(r, &h, r->has_next || broken || cut);
}

/* ---- lines that were wrapped at a terminal's width ---- */

/* By the last record of the line. */
static enum nsc_worth worth_of_line(void *user, nsc_text line, bool roughly)
{
    ncclscope_reader *r = user;
    struct nsc_header h, bare, next;
    if (!nsc_header_find_again(&r->headers, line, &h))
        return nsc_header_bare(line, 0, &bare) ? NSC_WORTH_CUT
               : nsc_is_version_line(line)     ? NSC_WORTH_WHOLE
                                               : nsc_worth_of_unmarked(r, line);
    if (roughly)
        return NSC_WORTH_CUT;
    while (h.message <= line.len && nsc_header_find(line, h.message, &next))
        h = next;
    nsc_text message = h.message < line.len ? nsc_text_trim_end(nsc_text_from(line, h.message)) : (nsc_text){NULL, 0};
    return message.len ? nsc_worth_of_message(r, message) : NSC_WORTH_WHOLE;
}

/* ---- the public loop ---- */

/* The first header of the line, and what stands before it; false if there is none. */
static bool look_at_line(ncclscope_reader *r)
{
    r->prefix = (struct nsc_prefix){.rank = -1};
    if (!find_header(r, 0, &r->next))
        return false;
    nsc_prefix_parse(r->grammar, (nsc_text){r->line.ptr, r->next.start}, &r->memo, &r->match, &r->prefix);
    return true;
}

static bool is_clean(const ncclscope_reader *r, bool found)
{
    return found ? r->next.whole && !r->prefix.foreign : nsc_is_version_line(nsc_text_trim(r->line));
}

/* Something may be wrapped around the header that is not looked for in every line. What it helps is taken, else the line stays. */
static bool look_again(ncclscope_reader *r, bool found)
{
    nsc_text before = r->line, time = r->wrap.time, pod = r->wrap.pod, container = r->wrap.container;
    r->usual = false;
    bool unwrapped = before.ptr != r->raw.ptr; /* lies in a buffer that may be written to now */
    bool may_move = unwrapped && nsc_text_find(before, "NCCL") >= 0;
    if (!nsc_unwrap_more(&r->wrap, r->line, &r->line)) {
        if (may_move)
            r->line = nsc_unwrap(&r->wrap, r->raw);
        return may_move ? look_at_line(r) : found;
    }
    bool again = look_at_line(r);
    if (is_clean(r, again))
        return again;
    r->line = unwrapped ? nsc_unwrap(&r->wrap, r->raw) : before;
    r->wrap.time = unwrapped ? r->wrap.time : time;
    r->wrap.pod = unwrapped ? r->wrap.pod : pod;
    r->wrap.container = unwrapped ? r->wrap.container : container;
    return look_at_line(r);
}

/* "vm:2374:23vm:2379:2379 [5]": what another writer left ends in what looks like the beginning of a host's name. One that clean
 * headers showed is taken for it. */
static void strip_glued(ncclscope_reader *r)
{
    nsc_text host = r->next.host, before = {r->line.ptr, r->next.start};
    size_t name = nsc_hosts_at_end(&r->hosts, host), level = 4;
    if (!name && before.len >= 5 &&
        !memcmp(before.ptr + before.len - 5, "NCCL ", 5)) { /* "... NCCL INnode7:12:12 [0]" */
        while (level && (host.len <= level || memcmp(host.ptr, "INFO", level) != 0))
            level--;
        name = host.len - level;
    }
    if (!name || name == host.len)
        return;
    r->next.start += host.len - name;
    r->next.host = nsc_text_from(host, host.len - name);
}

/* Does a launcher that no row knows put this before its lines? Then those that were called torn for it were not. */
static bool is_prefix_by_now(ncclscope_reader *r)
{
    const uint64_t *since;
    nsc_text text = nsc_text_from((nsc_text){r->line.ptr, r->next.start}, r->prefix.known);
    text.len -= nsc_prefix_stamp_at_end(r->grammar, text, &r->match); /* a WARN's own, behind the launcher's */
    bool by_now = nsc_prefix_known_by_now(&r->seen, text, r->torn ? 0 : r->physical.number, &since);
    for (size_t i = 0; by_now && since && i < NSC_PREFIX_AGAIN - 1; i++)
        nsc_unmark_torn(r, since[i]);
    return by_now;
}

/* "NCCL version 2.7.8+cuda10.1node7:12:12 [0]": a version line whose end was lost, and the host's name right behind it. */
static bool split_banner(ncclscope_reader *r)
{
    nsc_text text = {r->line.ptr, r->next.start + r->next.host.len};
    ptrdiff_t cuda = nsc_text_find(text, "+cuda");
    size_t at = cuda < 0 ? 0 : (size_t)cuda + 5, dots = 0;
    if (!at || !nsc_text_starts(text, "NCCL version "))
        return false;
    while (at < text.len && (nsc_is_digit(text.ptr[at]) || (text.ptr[at] == '.' && !dots++)))
        at++;
    nsc_text host = nsc_text_from(text, at), banner = {text.ptr, at};
    bool name = host.len && ((host.ptr[0] | 0x20) >= 'a' && (host.ptr[0] | 0x20) <= 'z');
    if (!dots || !name || !nsc_is_version_line(banner))
        return false;
    r->next.start = at;
    r->next.host = host;
    nsc_hosts_learn_name(&r->hosts, host);
    r->banner = banner;
    return true;
}

/* "Epoch 0:  12%|#2     | 60/500 [00:03<00:21, 20.1it/s, loss=2.1] ": tqdm's bar, which ends without a newline. It is whole, and so is what
 * follows. */
static bool ends_in_bar(nsc_text before)
{
    nsc_text t = nsc_text_trim_end(before);
    const char *open = t.len && t.ptr[t.len - 1] == ']' ? memrchr(t.ptr, '[', t.len) : NULL;
    nsc_text times = open ? nsc_text_from(t, (size_t)(open + 1 - t.ptr)) : (nsc_text){NULL, 0};
    return times.len && nsc_is_digit(times.ptr[0]) && nsc_text_find(times, ":") > 0 &&
           (nsc_text_find(times, "it/s") > 0 || nsc_text_find(times, "s/it") > 0);
}

/* What stands before the header is no prefix: another writer's line, or the program's own row that is not ended yet. */
static void take_glued(ncclscope_reader *r)
{
    if (split_banner(r) || ends_in_bar((nsc_text){r->line.ptr, r->next.start}))
        return;
    if (nsc_text_ends((nsc_text){r->line.ptr, r->next.start}, "**")) /* a text that quotes it, in bold */
        return;
    strip_glued(r);
    nsc_text before = {r->line.ptr, r->next.start}, rest = nsc_text_from(before, r->prefix.known);
    if (nsc_test_row_piece(&r->test_row, before) || nsc_test_row_piece(&r->test_row, rest))
        return;
    nsc_mark_torn(r);
    nsc_debts_extend(&r->debts, rest);
}

/* What another program said of trouble before the warning that is next: a record each. False: that was all. */
static bool take_said(ncclscope_reader *r)
{
    const struct nsc_said_line *x = nsc_said_next(&r->said, r->physical.number);
    if (!x)
        return false;
    nsc_new_record(r);
    r->record.line = x->number;
    r->record.offset = x->offset;
    r->record.physical = r->record.message = nsc_text_trim((nsc_text){x->text, x->len});
    r->record.level = NCCLSCOPE_LEVEL_OTHER;
    r->record.kind = NCCLSCOPE_KIND_SAID_BEFORE;
    return true;
}

/* A line that holds no header. What gives no record is kept for a while: a warning may come. */
static bool read_unmarked(ncclscope_reader *r)
{
    if (nsc_take_unmarked(r))
        return true;
    if (r->record.message.len) /* the line without its prefix, whose "ERROR" is a level */
        nsc_said_keep(&r->said, r->record.message, r->physical.number, r->physical.offset);
    return false;
}

static bool read_line(ncclscope_reader *r)
{
    r->line = r->usual ? r->raw : nsc_unwrap(&r->wrap, r->raw);
    bool found = look_at_line(r);
    if (!is_clean(r, found))
        found = look_again(r, found);
    if (!found)
        return read_unmarked(r);
    r->seen.headers += r->next.whole;
    if (r->prefix.foreign && r->next.whole && !is_prefix_by_now(r))
        take_glued(r);
    else if (r->next.whole) {
        nsc_hosts_learn(&r->hosts, &r->next);
    }
    r->in_line = true;
    r->lead = r->next.start;
    r->line.len = nsc_without_tail(r->line, r->next.start);
    r->many = false;
    r->has_next = r->next.level == NCCLSCOPE_LEVEL_WARN && nsc_said_begin(&r->said, r->physical.number);
    if (r->has_next) /* the warning comes behind them */
        return take_said(r);
    take_record(r);
    return true;
}

/* Once for all pieces of a line. */
static void count_cut(ncclscope_reader *r)
{
    if (!r->physical.cut || r->cut_at == r->physical.number)
        return;
    r->cut_at = r->physical.number;
    r->stats.cut_lines++;
}

/* Is it as nearly all lines of a long log are: a header that came before, behind a prefix as the last one or at the beginning, and behind it
 * nothing that a collector, a terminal or a page would put there? Then it is taken as it is. */
static bool is_usual(ncclscope_reader *r)
{
    size_t lead = nsc_prefix_again(&r->memo, r->raw);
    if (!nsc_header_known(&r->headers, r->raw, lead, &r->next))
        return false;
    r->chars = nsc_chars_of(nsc_text_from(r->raw, r->next.message));
    return !(r->chars & NSC_ODD) && !nsc_chars_have(r->chars, "](http");
}

/* A new line was read: find its first record and what stands before it. True when there is something to give out. */
static bool begin_line(ncclscope_reader *r)
{
    r->stats.lines += r->physical.lines;
    r->debts.line = r->physical.number;
    count_cut(r);
    r->stats.unended = r->physical.unended;
    r->torn = r->in_line = false;
    r->raw = r->physical.text;
    if (r->physical.number == 1 && nsc_text_starts(r->raw, "\xef\xbb\xbf")) /* a byte order mark */
        r->raw = nsc_text_from(r->raw, 3);
    r->entry = (struct nsc_entry){0};
    r->usual = is_usual(r);
    if (r->usual) {
        nsc_unwrap_nothing(&r->wrap);
        return read_line(r);
    }
    r->nul_lines += r->raw.len && memchr(r->raw.ptr, 0, r->raw.len) != NULL;
    if (nsc_entries_begin(&r->entries, r->raw))
        return false;
    return nsc_join_pieces(&r->wrap, &r->raw) && read_line(r);
}

/* The next line of log that the document in hand holds. */
static bool begin_entry(ncclscope_reader *r)
{
    r->torn = r->in_line = false;
    r->raw = r->entry.text;
    r->physical.cut = r->entry.cut;
    count_cut(r);
    return read_line(r);
}

void nsc_reader_digest(ncclscope_reader *r)
{
    r->digests = true;
    nsc_digest_begin(&r->digest);
}

const struct nsc_digest *nsc_reader_digest_of(const ncclscope_reader *r)
{
    return &r->digest;
}

/* More bytes: OK, MORE when a fed reader has none. A failure is kept until the records before it were given out. */
static int fill(ncclscope_reader *r)
{
    size_t got = 0;
    char *to = nsc_lines_room(&r->lines, CHUNK);
    int rc = to ? nsc_source_read(&r->source, to, CHUNK, &got, &r->failure)
                : nsc_fail(&r->failure, NCCLSCOPE_ENOMEM, 0, "out of memory");
    if (to)
        nsc_lines_filled(&r->lines, got);
    if (to && r->digests)
        nsc_digest_add(&r->digest, to, got);
    if (rc == NCCLSCOPE_MORE)
        return rc;
    r->lines.finished = rc != NCCLSCOPE_OK;
    r->failed = rc < 0 ? rc : 0;
    return NCCLSCOPE_OK;
}

static int at_end(ncclscope_reader *r, ncclscope_error *err)
{
    int rc = r->failed;
    if (!rc)
        return NCCLSCOPE_END;
    r->failed = 0;
    if (err)
        *err = r->failure;
    return rc;
}

static int next(ncclscope_reader *r, const ncclscope_record **out, ncclscope_error *err)
{
    for (;;) {
        bool found = r->in_line && (r->behind.len || r->has_next);
        if (r->said.giving && take_said(r))
            found = true;
        else if (r->in_line && r->behind.len)
            found = nsc_take_behind(r);
        else if (found)
            take_record(r);
        else if (nsc_entries_next(&r->entries, &r->entry))
            found = begin_entry(r);
        else if (nsc_rewrap_next(&r->rewrap, &r->lines, worth_of_line, r, &r->physical))
            found = begin_line(r);
        else if (r->lines.finished && nsc_left_pieces(&r->wrap, &r->raw))
            found = read_line(r);
        else if (r->lines.finished) {
            *out = NULL;
            return at_end(r, err);
        } else if (fill(r) == NCCLSCOPE_MORE) {
            *out = NULL;
            return NCCLSCOPE_MORE;
        }
        if (found) {
            *out = &r->record;
            return NCCLSCOPE_OK;
        }
    }
}

int ncclscope_reader_next(ncclscope_reader *r, const ncclscope_record **out, ncclscope_error *err)
{
    if (!r || !out)
        return nsc_null(err);
    unsigned before = nsc_failed_allocations();
    return nsc_settle(next(r, out, err), before, err);
}
