/* reader.c - bytes to records: source, lines, unwrap, header, prefix, match; torn lines split into what they hold. */
#include "read/reader.h"

#include "base/alloc.h"
#include "read/foreign.h"
#include "read/texts.h"

#include <stdio.h>
#include <zlib.h>

enum { CHUNK = 64 * 1024, KNOWN = 256, KNOWN_HOST = 64, NAMES = 64 };

/* A process seen with a clean header: says where its host name begins when text is glued to it. */
struct known {
    int64_t pid;
    unsigned seen; /* lines */
    size_t len;
    char host[KNOWN_HOST];
};

struct ncclscope_reader {
    ncclscope_grammar *grammar;
    struct nsc_source source;
    bool reads; /* from a source; else it is fed */
    int failed; /* of the source: told once, behind the last record */
    ncclscope_error failure;
    struct nsc_lines lines;
    struct nsc_rewrap rewrap;
    struct nsc_wrap wrap;
    struct nsc_match match;
    struct nsc_via_cache via_cache;
    struct nsc_first_words words, *text_words; /* of texts.def: NULL until the first is needed */
    struct nsc_prefix_memo memo;
    struct nsc_debts debts;
    struct known known[KNOWN];
    struct known name[NAMES]; /* hosts seen with a clean header, whatever their process */
    size_t names;
    ncclscope_stats stats;
    uint64_t nul_lines;
    bool long_shm; /* this input's NCCL prints SHM/direct/direct, by a record or by its version */
    bool ras_json; /* within a report of ncclras */
    bool digests;  /* for stores: is this the very text that was read before? */
    unsigned long crc, adler;
    uint64_t text_bytes;

    /* the line in hand */
    struct nsc_line physical;
    nsc_text raw, line; /* as it came, its pieces joined; and unwrapped */
    struct nsc_prefix prefix;
    struct nsc_header next; /* the record to give out next */
    bool in_line, has_next, torn;
    struct ncclscope_record record;
};

int ncclscope_reader_new(ncclscope_reader **out, ncclscope_grammar *g, ncclscope_error *err)
{
    ncclscope_reader *r = nsc_alloc(sizeof *r);
    *out = NULL;
    if (r)
        r->source.fd = -1;
    if (!r || nsc_via_cache_init(&r->via_cache) || nsc_match_new(&r->match, err)) {
        ncclscope_reader_free(r);
        return nsc_fail(err, NCCLSCOPE_ENOMEM, 0, "out of memory");
    }
    r->grammar = g;
    *out = r;
    return NCCLSCOPE_OK;
}

int ncclscope_reader_open(ncclscope_reader **out, ncclscope_grammar *g, const char *path, ncclscope_error *err)
{
    int rc = ncclscope_reader_new(out, g, err);
    if (rc)
        return rc;
    rc = nsc_source_open(&(*out)->source, path, err);
    if (rc) {
        ncclscope_reader_free(*out);
        *out = NULL;
        return rc;
    }
    (*out)->reads = true;
    return NCCLSCOPE_OK;
}

void ncclscope_reader_free(ncclscope_reader *r)
{
    if (!r)
        return;
    nsc_source_close(&r->source);
    nsc_lines_free(&r->lines);
    nsc_rewrap_free(&r->rewrap);
    nsc_wrap_free(&r->wrap);
    nsc_match_free(&r->match);
    nsc_via_cache_free(&r->via_cache);
    nsc_debts_free(&r->debts);
    nsc_free(r->text_words);
    nsc_free(r);
}

int ncclscope_reader_feed(ncclscope_reader *r, const void *data, size_t size)
{
    char *to = nsc_lines_room(&r->lines, size);
    if (!to)
        return NCCLSCOPE_ENOMEM;
    if (size)
        memcpy(to, data, size);
    nsc_lines_filled(&r->lines, size);
    r->stats.bytes += size;
    return NCCLSCOPE_OK;
}

void ncclscope_reader_finish(ncclscope_reader *r)
{
    r->lines.finished = true;
}

int ncclscope_reader_stats(const ncclscope_reader *r, ncclscope_stats *out)
{
    uint32_t size = out->size;
    if (size > sizeof *out)
        return NCCLSCOPE_EABI;
    ncclscope_stats s = r->stats;
    s.size = size;
    if (r->reads) {
        s.bytes = r->source.bytes;
        s.gzip = r->source.gz != NULL;
        s.truncated = r->source.truncated;
    }
    s.binary = r->nul_lines * 4 > s.lines;
    memcpy(out, &s, size);
    return NCCLSCOPE_OK;
}

/* ---- records of a line ---- */

static struct known *known_of(ncclscope_reader *r, int64_t pid)
{
    return &r->known[(uint64_t)pid % KNOWN];
}

static void learn_name(ncclscope_reader *r, nsc_text host)
{
    for (size_t i = 0; i < r->names; i++)
        if (nsc_text_eq((nsc_text){r->name[i].host, r->name[i].len}, host))
            return;
    if (r->names == NAMES || host.len > KNOWN_HOST)
        return;
    r->name[r->names].len = host.len;
    memcpy(r->name[r->names++].host, host.ptr, host.len);
}

static void learn(ncclscope_reader *r, const struct nsc_header *h)
{
    struct known *k = known_of(r, h->pid);
    if (h->host.len > KNOWN_HOST)
        return;
    if (k->pid == h->pid && nsc_text_eq((nsc_text){k->host, k->len}, h->host)) {
        k->seen++;
        return;
    }
    *k = (struct known){.pid = h->pid, .seen = 1, .len = h->host.len};
    memcpy(k->host, h->host.ptr, k->len);
    learn_name(r, h->host);
}

/* "... via P2P/CUMEMvm:831:831 [0]": no line end was between two records. The longest host name that is known and could stand there. */
static size_t known_name_at_end(const ncclscope_reader *r, nsc_text host)
{
    size_t best = 0;
    for (size_t i = 0; i < r->names; i++) {
        const struct known *k = &r->name[i];
        if (k->len > best && k->len >= 2 && k->len <= host.len &&
            !memcmp(host.ptr + host.len - k->len, k->host, k->len))
            best = k->len;
    }
    return best;
}

static void mark_torn(ncclscope_reader *r)
{
    if (r->torn)
        return;
    r->torn = true;
    if (r->stats.torn_lines < 4)
        r->stats.first_torn[r->stats.torn_lines] = r->physical.number;
    r->stats.torn_lines++;
}

static bool ends_with(nsc_text text, nsc_text end)
{
    return text.len > end.len && !memcmp(text.ptr + text.len - end.len, end.ptr, end.len);
}

/* Text of another writer may be glued to the host: "delay 0vm:830:830"; or the beginning of the line is lost: "m:830:830". The process
 * is known; its host is what it always was. At the beginning of a line one line more must have said so: either may be the damaged one. */
static void mend_host(ncclscope_reader *r, struct nsc_header *h)
{
    const struct known *k = known_of(r, h->pid);
    nsc_text name = {k->host, k->len};
    if (!h->whole || k->pid != h->pid || !k->len || (!h->start && k->seen < 2))
        return;
    if (ends_with(h->host, name)) {
        h->start += h->host.len - k->len;
        h->host = nsc_text_from(h->host, h->host.len - k->len);
    } else if (!h->start && ends_with(name, h->host)) {
        h->host = name;
        mark_torn(r);
    }
}

static enum nsc_worth worth_of_message(ncclscope_reader *r, nsc_text message)
{
    const struct nsc_row *row = nsc_grammar_match(r->grammar, &r->words, message, &r->match);
    bool strict = row && nsc_pattern_is_strict(&row->pattern);
    if (row && (row->kind == NCCLSCOPE_KIND_CONNECT || row->kind == NCCLSCOPE_KIND_CONNECT_COLLNET)) {
        struct nsc_via via;
        nsc_via_parse_once(&r->via_cache, &r->match, &via);
        return via.row ? NSC_WORTH_WHOLE : NSC_WORTH_CUT;
    }
    if (!row && !nsc_texts_match(r->grammar, NULL, message, &r->match, &strict))
        return NSC_WORTH_CUT;
    return strict ? NSC_WORTH_WHOLE : NSC_WORTH_LOOSE;
}

/* The same where that host is not known yet: only one place between the two makes the record before it whole. */
static size_t host_behind(ncclscope_reader *r, size_t from, const struct nsc_header *h)
{
    size_t place = 0, places = 0;
    nsc_text message = nsc_text_from(r->line, from);
    for (size_t k = 0; k < h->host.len; k++) {
        message.len = (size_t)(h->host.ptr + k - message.ptr);
        if (worth_of_message(r, message) != NSC_WORTH_WHOLE)
            continue;
        place = k;
        places++;
    }
    return places == 1 ? h->host.len - place : h->host.len;
}

static bool find_header(ncclscope_reader *r, size_t from, struct nsc_header *out)
{
    if (!nsc_header_find(r->line, from, out))
        return false;
    mend_host(r, out);
    if (!from || !out->whole || out->start < from)
        return true;
    size_t name = known_name_at_end(r, out->host);
    if (!name)
        name = host_behind(r, from, out);
    if (name == out->host.len)
        return true;
    out->start += out->host.len - name;
    out->host = nsc_text_from(out->host, out->host.len - name);
    learn_name(r, out->host);
    return true;
}

/* "... via NET/Socket/0 [repeated 2x across cluster]": Ray shows one of several equal lines. */
static void take_repeated(struct ncclscope_record *rec)
{
    static const char open[] = " [repeated ", close[] = "x across cluster]";
    nsc_text m = rec->message;
    size_t tail = sizeof close - 1;
    if (m.len < tail || memcmp(m.ptr + m.len - tail, close, tail) != 0)
        return;
    const char *at = memrchr(m.ptr, '[', m.len);
    size_t start = at ? (size_t)(at - m.ptr) : 0;
    if (start < 1 || !nsc_text_starts(nsc_text_from(m, start - 1), open))
        return;
    nsc_text n = {m.ptr + start + sizeof open - 2, m.len - tail - start - sizeof open + 2};
    if (nsc_to_u64(n, &rec->repeated) && rec->repeated)
        rec->repeated--;
    rec->message = nsc_text_trim_end((nsc_text){m.ptr, start});
}

/* Does a message that no row took want to be a connection: "Cha[0] -> 3[3] via P2P/CUMEM/read"? */
static bool wants_connection(nsc_text m)
{
    ptrdiff_t at = nsc_text_find(m, " via ");
    if (at < 0 || nsc_text_find(m, " <- ") >= 0)
        return false;
    nsc_text via = nsc_text_from(m, (size_t)at + 5);
    return nsc_text_starts(via, "P2P") || nsc_text_starts(via, "SHM") || nsc_text_starts(via, "NET") ||
           nsc_text_starts(via, "COLLNET") || nsc_text_starts(via, "direct shared");
}

/* No row gives the message of the record in hand a meaning; is it a text that NCCL is known to print? True if that is certain: no
 * field of it takes just anything, so that nothing of another writer can hide there. */
static bool recognise(ncclscope_reader *r)
{
    struct ncclscope_record *rec = &r->record;
    bool strict = false;
    if (!r->text_words)
        r->text_words = nsc_alloc(sizeof *r->text_words);
    rec->text = nsc_texts_match(r->grammar, r->text_words, rec->message, &r->match, &strict);
    return rec->text && strict;
}

/* A message without a row: is it torn? `cut` says that it is. */
static bool is_torn(ncclscope_reader *r, bool cut)
{
    struct ncclscope_record *rec = &r->record;
    struct nsc_header bare;
    if (!rec->message.len || (!cut && recognise(r)))
        return cut;
    if (wants_connection(rec->message) || (!cut && nsc_header_bare(rec->message, 0, &bare))) {
        rec->text = NULL;
        mark_torn(r);
        return true;
    }
    return cut || (!rec->text && nsc_grammar_is_cut(r->grammar, rec->message, &r->match));
}

/* "SHM/direct" is all that 2.30.7 prints, and half of what releases before it do. */
static bool is_half_shm(ncclscope_reader *r, const struct nsc_via *via)
{
    r->long_shm = r->long_shm || via->row == NSC_VIA_SHM;
    return via->row == NSC_VIA_SHM_NEW && r->long_shm;
}

/* Until 2.30.4 a path through host memory has three words. */
static void note_release(ncclscope_reader *r)
{
    unsigned version = nsc_version_number(nsc_record_field(&r->record, NCCLSCOPE_FIELD_VERSION));
    if (version)
        r->long_shm = version < 23007;
}

static const struct nsc_via cut_short = {.row = NSC_VIA_CUT, .net_dev = -1, .proxy_rank = -1};

/* The message of the record in hand to its row. `cut`: something other than the line's end ended it. */
static void understand(ncclscope_reader *r, const struct nsc_header *h, bool cut)
{
    struct ncclscope_record *rec = &r->record;
    nsc_text from_marker = nsc_text_from(r->line, h->marker);
    from_marker.len = (size_t)(rec->message.ptr + rec->message.len - from_marker.ptr);
    while (rec->message.len && !rec->message.ptr[rec->message.len - 1]) /* an overlong line of 2.13 to 2.19 */
        rec->message.len--;
    rec->message = nsc_text_trim_end(rec->message);
    take_repeated(rec);
    const struct nsc_row *row = nsc_grammar_match(r->grammar, &r->words, rec->message, &r->match);
    if (!row && rec->message.len && nsc_mend_message(&r->wrap, rec->message, &rec->message))
        row = nsc_grammar_match(r->grammar, &r->words, rec->message, &r->match);
    rec->kind = row ? row->kind : NCCLSCOPE_KIND_UNKNOWN;
    rec->row = row && (int)row->kind < NSC_USER_FIRST ? (size_t)(row - r->grammar->messages.row) : SIZE_MAX;
    rec->match = row && !row->pattern.literal ? &r->match : NULL;
    bool torn = !row && is_torn(r, cut || r->physical.unended);
    if (rec->kind == NCCLSCOPE_KIND_CONNECT || rec->kind == NCCLSCOPE_KIND_CONNECT_COLLNET) {
        nsc_text via = nsc_record_field(rec, NCCLSCOPE_FIELD_VIA);
        rec->via = nsc_via_parse(&r->via_cache, via);
        if (is_half_shm(r, rec->via))
            rec->via = &cut_short;
        torn = !rec->via->row;
        if (torn)
            mark_torn(r);
    } else if (rec->text) {
        rec->kind = NCCLSCOPE_KIND_RECOGNISED;
    } else if (rec->kind == NCCLSCOPE_KIND_NCCL_VERSION) {
        note_release(r);
    }
    rec->flags |= torn ? NCCLSCOPE_FLAG_TORN : 0;
    if (torn || cut)
        nsc_debts_add(&r->debts, h, from_marker);
    else if (row && !nsc_pattern_is_strict(&row->pattern) && rec->kind != NCCLSCOPE_KIND_CONNECT)
        nsc_debts_whole(&r->debts, r->grammar, row, rec->message);
    r->stats.recognised += rec->text != NULL;
    r->stats.unknown += !row && !rec->text && !torn && rec->message.len;
}

static void set_who(struct ncclscope_record *rec, const struct nsc_header *h)
{
    rec->host = h->host;
    rec->location = h->location;
    rec->pid = h->pid;
    rec->tid = h->tid;
    rec->dev = h->dev;
    rec->level = h->level;
}

static void new_record(ncclscope_reader *r)
{
    r->record = (struct ncclscope_record){
        .line = r->physical.number,
        .offset = r->physical.offset,
        .physical = r->line,
        .flags = r->physical.cut ? NCCLSCOPE_FLAG_CUT : 0,
        .pod = r->prefix.pod,
        .container = r->prefix.container,
        .launcher_rank = r->prefix.rank,
        .time = r->prefix.time.len ? r->prefix.time : r->wrap.time,
        .pid = -1,
        .tid = -1,
        .dev = -1,
        .user = &r->grammar->user,
        .row = SIZE_MAX,
    };
}

/* The record that begins at r->next; the one behind it on the same line, if any, is found on the way. */
static void take_record(ncclscope_reader *r)
{
    struct nsc_header h = r->next;
    size_t end = r->line.len;
    new_record(r);
    r->has_next = find_header(r, h.message < end ? h.message : end, &r->next);
    if (r->has_next) {
        end = r->next.start;
        if (end > h.message + 2 && !memcmp(r->line.ptr + end - 2, "\\n", 2))
            end -= 2; /* pasted: the line end is spelt out */
        mark_torn(r);
    }
    set_who(&r->record, &h);
    r->record.flags |= h.whole ? NCCLSCOPE_FLAG_HEADER : NCCLSCOPE_FLAG_TORN;
    if (!h.whole)
        mark_torn(r);
    r->record.message = (nsc_text){r->line.ptr + h.message, end > h.message ? end - h.message : 0};
    if (r->has_next)
        r->record.message.len -= nsc_prefix_stamp_at_end(r->grammar, r->record.message, &r->match);
    r->stats.records++;
    r->stats.warnings += h.level == NCCLSCOPE_LEVEL_WARN;
    understand(r, &h, r->has_next || r->physical.cut);
}

/* ---- lines that hold no marker ---- */

/* A record put together from its two halves: what the first half's header said, at the line of the second. */
static bool take_joined(ncclscope_reader *r, nsc_text body)
{
    nsc_text message;
    struct nsc_debt *who;
    const struct nsc_row *row = nsc_debts_pay(&r->debts, r->grammar, &r->via_cache, body, &r->match, &message, &who);
    if (!row)
        return false;
    mark_torn(r);
    struct nsc_header h = {.level = NCCLSCOPE_LEVEL_INFO,
                           .pid = who->pid,
                           .tid = who->tid,
                           .dev = who->dev,
                           .host = {who->host, who->host_len}};
    set_who(&r->record, &h);
    r->record.message = message;
    r->record.kind = row->kind;
    r->record.match = row->pattern.literal ? NULL : &r->match;
    r->record.flags |= NCCLSCOPE_FLAG_JOINED | NCCLSCOPE_FLAG_TORN | (who->host_len ? NCCLSCOPE_FLAG_HEADER : 0);
    return true;
}

/* Prefixes of the kind that this source's records carry, cut off a line that holds none; what they say is taken. */
static nsc_text strip_prefixes(ncclscope_reader *r, nsc_text line)
{
    size_t at = 0;
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

/* "NCCL I" of "NCCL IINFO 11-12 ...": how much of its marker a record got out before another writer came. */
static nsc_text marker_begun(nsc_text text)
{
    static const char marker[] = "NCCL INFO ";
    size_t n = 0;
    while (n < text.len && n < sizeof marker - 1 && text.ptr[n] == marker[n])
        n++;
    return (nsc_text){text.ptr, n};
}

/* "[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607]": level, month, day and time as Google's logger prints them. */
static nsc_text glog_time(nsc_text line)
{
    for (size_t i = 0; i + 12 < line.len && i < 200; i++) {
        if (!strchr("IWEF", line.ptr[i]) || !line.ptr[i] || !nsc_is_digit(line.ptr[i + 1]) ||
            (i && line.ptr[i - 1] != '['))
            continue;
        nsc_text t = nsc_text_from(line, i + 1);
        nsc_text day = nsc_next_word(&t), clock = nsc_next_word(&t);
        if (day.len >= 3 && day.len <= 4 && clock.len >= 8 && clock.ptr[2] == ':' && clock.ptr[5] == ':')
            return (nsc_text){day.ptr, (size_t)(clock.ptr + clock.len - day.ptr)};
    }
    return (nsc_text){NULL, 0};
}

static bool take_other(ncclscope_reader *r)
{
    nsc_text body = strip_prefixes(r, r->line);
    struct nsc_header bare;
    new_record(r);
    r->record.message = nsc_text_trim_end(body);
    if (!body.len)
        return false;
    if (nsc_is_version_line(nsc_text_trim(body))) {
        const struct nsc_row *row = nsc_grammar_match(r->grammar, NULL, nsc_text_trim(body), &r->match);
        r->record.kind = row ? row->kind : NCCLSCOPE_KIND_UNKNOWN;
        r->record.match = row ? &r->match : NULL;
        r->record.level = NCCLSCOPE_LEVEL_VERSION;
        r->stats.records++;
        r->stats.unknown += !row;
        return true;
    }
    if (nsc_header_bare(body, 0, &bare)) {
        mend_host(r, &bare);
        mark_torn(r);
        nsc_debts_add(&r->debts, &bare, marker_begun(nsc_text_from(body, bare.marker)));
        return false;
    }
    r->record.kind = nsc_foreign_kind(body);
    r->record.level = NCCLSCOPE_LEVEL_OTHER;
    if (r->record.kind == NCCLSCOPE_KIND_UNKNOWN)
        r->record.kind = nsc_json_kind(body, &r->ras_json);
    const struct nsc_row *row =
        r->record.kind == NCCLSCOPE_KIND_UNKNOWN ? nsc_foreign_row(r->grammar, r->line, &r->match) : NULL;
    if (row) {
        r->record.kind = row->kind;
        r->record.time = r->record.time.len ? r->record.time : glog_time(r->line);
        r->record.match = row->pattern.literal ? NULL : &r->match;
    }
    if (r->record.kind != NCCLSCOPE_KIND_UNKNOWN || take_joined(r, body))
        return true;
    if (nsc_is_residue(body))
        mark_torn(r);
    return false;
}

/* ---- lines that were wrapped at a terminal's width ---- */

/* By the last record of the line. */
static enum nsc_worth worth_of_line(void *user, nsc_text line)
{
    ncclscope_reader *r = user;
    struct nsc_header h, bare, next;
    if (!nsc_header_find(line, 0, &h))
        return nsc_header_bare(line, 0, &bare) ? NSC_WORTH_CUT
               : nsc_is_version_line(line)     ? NSC_WORTH_WHOLE
                                               : NSC_WORTH_NOTHING;
    while (h.message <= line.len && nsc_header_find(line, h.message, &next))
        h = next;
    nsc_text message = h.message < line.len ? nsc_text_trim_end(nsc_text_from(line, h.message)) : (nsc_text){NULL, 0};
    return message.len ? worth_of_message(r, message) : NSC_WORTH_WHOLE;
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
    return found && r->next.whole && !r->prefix.foreign;
}

/* Something may be wrapped around the header that is not looked for in every line. What it helps is taken, else the line stays. */
static bool look_again(ncclscope_reader *r, bool found)
{
    nsc_text before = r->line, time = r->wrap.time;
    bool unwrapped = before.ptr != r->raw.ptr; /* lies in a buffer that may be written to now */
    if (!nsc_unwrap_more(&r->wrap, r->line, &r->line))
        return found;
    bool again = look_at_line(r);
    if (is_clean(r, again))
        return true;
    r->line = unwrapped ? nsc_unwrap(&r->wrap, r->raw) : before;
    r->wrap.time = unwrapped ? r->wrap.time : time;
    return look_at_line(r);
}

static bool read_line(ncclscope_reader *r)
{
    r->line = nsc_unwrap(&r->wrap, r->raw);
    bool found = look_at_line(r);
    if (!is_clean(r, found))
        found = look_again(r, found);
    if (!found)
        return take_other(r);
    if (r->prefix.foreign && r->next.whole) {
        mark_torn(r);
        nsc_debts_extend(&r->debts, nsc_text_from((nsc_text){r->line.ptr, r->next.start}, r->prefix.known));
    } else if (r->next.whole) {
        learn(r, &r->next);
    }
    r->in_line = true;
    take_record(r);
    return true;
}

/* A new line was read: find its first record and what stands before it. True when there is something to give out. */
static bool begin_line(ncclscope_reader *r)
{
    r->stats.lines += r->physical.lines;
    r->debts.line = r->physical.number;
    r->stats.cut_lines += r->physical.cut;
    r->torn = r->in_line = false;
    r->raw = r->physical.text;
    if (r->physical.number == 1 && nsc_text_starts(r->raw, "\xef\xbb\xbf")) /* a byte order mark */
        r->raw = nsc_text_from(r->raw, 3);
    r->nul_lines += r->raw.len && memchr(r->raw.ptr, 0, r->raw.len) != NULL;
    return nsc_join_pieces(&r->wrap, &r->raw) && read_line(r);
}

void nsc_reader_digest(ncclscope_reader *r)
{
    r->digests = true;
    r->crc = crc32(0, NULL, 0);
    r->adler = adler32(0, NULL, 0);
}

void nsc_reader_digest_text(const ncclscope_reader *r, char *out, size_t size)
{
    snprintf(out, size, "%08lx%08lx-%llu", r->crc, r->adler, (unsigned long long)r->text_bytes);
}

static void take_digest(ncclscope_reader *r, const char *bytes, size_t n)
{
    r->crc = crc32(r->crc, (const unsigned char *)bytes, (unsigned)n);
    r->adler = adler32(r->adler, (const unsigned char *)bytes, (unsigned)n);
    r->text_bytes += n;
}

/* More bytes: OK, MORE when a fed reader has none. A failure is kept until the records before it were given out. */
static int fill(ncclscope_reader *r)
{
    size_t got;
    if (!r->reads)
        return NCCLSCOPE_MORE;
    char *to = nsc_lines_room(&r->lines, CHUNK);
    int rc = to ? nsc_source_read(&r->source, to, CHUNK, &got, &r->failure)
                : nsc_fail(&r->failure, NCCLSCOPE_ENOMEM, 0, "out of memory");
    if (to)
        nsc_lines_filled(&r->lines, got);
    if (to && r->digests)
        take_digest(r, to, got);
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

int ncclscope_reader_next(ncclscope_reader *r, const ncclscope_record **out, ncclscope_error *err)
{
    for (;;) {
        bool found = r->in_line && r->has_next;
        if (found)
            take_record(r);
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
