/* understand.c - the message of a record to its row, its text or nothing; and whether another writer cut it. */
#include "read/changes.h"
#include "base/alloc.h"
#include "read/reader.h"
#include "read/texts.h"

void nsc_mark_torn(ncclscope_reader *r)
{
    if (r->torn)
        return;
    r->torn = true;
    if (r->stats.torn_lines < 4)
        r->stats.first_torn[r->stats.torn_lines] = r->physical.number;
    r->stats.torn_lines++;
}

void nsc_unmark_torn(ncclscope_reader *r, uint64_t line)
{
    uint64_t *first = r->stats.first_torn;
    size_t n = r->stats.torn_lines < 4 ? (size_t)r->stats.torn_lines : 4, i = 0;
    if (!line)
        return;
    while (i < n && first[i] != line)
        i++;
    if (i < n) {
        memmove(first + i, first + i + 1, (3 - i) * sizeof *first);
        first[3] = 0;
    }
    r->stats.torn_lines--;
}

enum nsc_worth nsc_worth_of_message(ncclscope_reader *r, nsc_text message)
{
    const struct nsc_row *row = nsc_grammar_match(r->grammar, &r->words->messages, message, 0, &r->match);
    bool strict = row && nsc_pattern_is_strict(&row->pattern);
    if (row && (row->kind == NCCLSCOPE_KIND_CONNECT || row->kind == NCCLSCOPE_KIND_CONNECT_COLLNET)) {
        struct nsc_via via;
        nsc_via_parse_once(&r->via_cache, &r->match, &via);
        return via.row ? NSC_WORTH_WHOLE : NSC_WORTH_CUT;
    }
    bool known = !strict && nsc_texts_match(r->grammar, NULL, message, 0, &r->match, &strict);
    if (!row && !known)
        return NSC_WORTH_CUT;
    return strict ? NSC_WORTH_WHOLE : known ? NSC_WORTH_KNOWN : NSC_WORTH_LOOSE;
}

/* What stands behind the first " via ". By a letter that few messages hold: faster than memmem. */
static nsc_text behind_via(nsc_text m)
{
    for (const char *p = m.ptr, *end = m.ptr + m.len; p < end && (p = memchr(p, 'v', (size_t)(end - p))); p++)
        if (p > m.ptr && p[-1] == ' ' && end - p > 4 && !memcmp(p, "via ", 4))
            return nsc_text_from(m, (size_t)(p + 4 - m.ptr));
    return (nsc_text){NULL, 0};
}

/* Does a message that no row took want to be a connection: "Cha[0] -> 3[3] via P2P/CUMEM/read"? */
static bool wants_connection(nsc_text m)
{
    nsc_text via = behind_via(m);
    if (!via.len || nsc_text_find(m, " <- ") >= 0)
        return false;
    return nsc_text_starts(via, "P2P") || nsc_text_starts(via, "SHM") || nsc_text_starts(via, "NET") ||
           nsc_text_starts(via, "COLLNET") || nsc_text_starts(via, "direct shared");
}

/* No row gives the message of the record in hand a meaning; is it a text that NCCL is known to print? True if that is certain: no
 * field of it takes just anything, so that nothing of another writer can hide there. */
static bool recognise(ncclscope_reader *r)
{
    struct ncclscope_record *rec = &r->record;
    bool strict = false;
    rec->text = nsc_texts_match(r->grammar, &r->words->texts, rec->message, r->chars, &r->match, &strict);
    return rec->text && strict;
}

/* A message without a row: is it torn? `cut` says that it is. */
static bool is_torn(ncclscope_reader *r, bool cut)
{
    struct ncclscope_record *rec = &r->record;
    struct nsc_header bare;
    if (!rec->message.len || (!cut && recognise(r)))
        return cut;
    if ((nsc_chars_have(r->chars, "via") && wants_connection(rec->message)) ||
        (!cut && nsc_chars_have(r->chars, ":[]") && nsc_header_bare(rec->message, 0, &bare))) {
        rec->text = NULL;
        nsc_mark_torn(r);
        return true;
    }
    return cut || (!rec->text && (nsc_grammar_is_cut(r->grammar, rec->message, &r->match) ||
                                  nsc_texts_is_cut(r->grammar, rec->message)));
}

/* Is it the last of an input that ends without a newline? A document of many lines is whole, or is none. */
static bool is_at_end(const ncclscope_reader *r)
{
    return r->physical.unended && !r->has_next && !r->behind.len && !r->entry.text.len;
}

/* The input ends here, with words that a row took for which anything may stand, and that no release prints: "NVLS Head" of
 * "NVLS Head  0:  0  8". The row is matched again: its fields are read from r->match. */
static bool ends_in_a_piece(ncclscope_reader *r, const struct nsc_row *row)
{
    bool strict = false;
    if (!row || !is_at_end(r) || nsc_pattern_is_strict(&row->pattern))
        return false;
    bool piece = !nsc_texts_match(r->grammar, NULL, r->record.message, 0, &r->match, &strict);
    nsc_grammar_match(r->grammar, &r->words->messages, r->record.message, 0, &r->match);
    return piece;
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
        r->long_shm = version < NSC_CHANGE_SHM_IN_TWO_WORDS;
}

/* "... commId 0xa3824245eee5ce1 - Init STA": only the rest of that word could follow. */
static bool is_cut_in_last_word(nsc_text message)
{
    static const char before[] = " - Init ", *const words[] = {"START", "COMPLETE"};
    ptrdiff_t at = nsc_text_find(message, before);
    nsc_text word = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(message, (size_t)at + sizeof before - 1);
    for (size_t i = 0; word.len && i < sizeof words / sizeof words[0]; i++)
        if (word.len < strlen(words[i]) && !memcmp(word.ptr, words[i], word.len))
            return true;
    return false;
}

/* Where one writer broke into another's line, what stands before is whole only if nothing could follow it: "rank 1 nranks 4" may have
 * been "rank 1 nranks 48 ...". Where line ends are lost by the rule, it is whole. A connection is judged by its via. */
static bool may_be_cut(ncclscope_reader *r, const struct nsc_row *row)
{
    if (is_cut_in_last_word(r->record.message) || r->many || (r->glued >= 3 && r->glued * 4 >= r->alone) ||
        row->kind == NCCLSCOPE_KIND_CONNECT || row->kind == NCCLSCOPE_KIND_CONNECT_COLLNET)
        return false;
    return nsc_grammar_goes_on(r->grammar, row, r->record.message, &r->match);
}

/* "Using network Socket    # nothing else was found", "... via NET/IB/0/GDRDMA [cite: 12]": what somebody wrote behind a line that they
 * posted. */
static nsc_text without_remark(nsc_text message, nsc_chars chars)
{
    ptrdiff_t at = chars & NSC_ODD && memchr(message.ptr, '#', message.len) ? nsc_text_find(message, "  # ") : -1;
    if (at < 0 && message.len && message.ptr[message.len - 1] == ']')
        at = nsc_text_find(message, " [cite: ");
    message.len = at > 0 ? (size_t)at : message.len;
    return nsc_text_trim_end(message);
}

/* "Cuda failure 'out of memory' 6784:[2025-09-02 05:37:31]": the last words belong to the record behind it on the line. */
static const struct nsc_row *without_next_prefix(ncclscope_reader *r)
{
    enum { WORDS = 4 };
    nsc_text *message = &r->record.message, shorter = *message;
    for (int i = 0; i < WORDS; i++) {
        const char *space = shorter.len ? memrchr(shorter.ptr, ' ', shorter.len) : NULL;
        shorter.len = space ? (size_t)(space - shorter.ptr) : 0;
        const struct nsc_row *row =
            shorter.len ? nsc_grammar_match(r->grammar, &r->words->messages, shorter, 0, &r->match) : NULL;
        if (row) {
            *message = shorter;
            return row;
        }
    }
    return NULL;
}

/* "P2P/CUMEM (all 256 lines are like this)", "NET/IB/0 <-- here": the words that somebody put behind a connection. */
static const struct nsc_via *without_words(ncclscope_reader *r, nsc_text via, const struct nsc_via *as_it_is)
{
    ptrdiff_t space = nsc_text_find(via, " ");
    if (space <= 0 || (size_t)space + 1 >= via.len || !strchr("(<", via.ptr[space + 1]))
        return as_it_is;
    const struct nsc_via *v = nsc_via_parse(&r->via_cache, (nsc_text){via.ptr, (size_t)space});
    return v->row ? v : as_it_is;
}

static bool mend(ncclscope_reader *r)
{
    bool may = r->chars & NSC_ODD || nsc_chars_have(r->chars, "[e]");
    bool mended = may && nsc_mend_message(&r->wrap, r->record.message, &r->record.message);
    r->chars = mended ? nsc_chars_of(r->record.message) : r->chars;
    return mended;
}

static const struct nsc_via cut_short = {.row = NSC_VIA_CUT, .net_dev = -1, .proxy_rank = -1};

void nsc_understand(ncclscope_reader *r, const struct nsc_header *h, bool cut)
{
    struct ncclscope_record *rec = &r->record;
    nsc_text from_marker = nsc_text_from(r->line, h->marker);
    from_marker.len = (size_t)(rec->message.ptr + rec->message.len - from_marker.ptr);
    while (rec->message.len && !rec->message.ptr[rec->message.len - 1]) /* an overlong line of 2.13 to 2.19 */
        rec->message.len--;
    rec->message = without_remark(nsc_text_trim_end(rec->message), r->chars);
    nsc_take_repeated(&rec->message, &rec->repeated);
    const struct nsc_row *row = nsc_grammar_match(r->grammar, &r->words->messages, rec->message, r->chars, &r->match);
    size_t span = row && !cut ? 0 : nsc_record_span(rec);
    if (span > NSC_NCCL_LINE &&
        span - NSC_NCCL_LINE < rec->message.len) { /* 2.13.4 to 2.19.4 print garbage behind it */
        nsc_text first = {rec->message.ptr, rec->message.len - (span - NSC_NCCL_LINE)};
        row = nsc_grammar_match(r->grammar, &r->words->messages, first, 0, &r->match);
        rec->message = row ? first : rec->message;
    }
    if (!row && rec->message.len && mend(r))
        row = nsc_grammar_match(r->grammar, &r->words->messages, rec->message, r->chars, &r->match);
    r->glued += cut;
    r->alone += !cut;
    if (!row && h->level == NCCLSCOPE_LEVEL_WARN && r->has_next)
        row = without_next_prefix(r);
    if (row && cut && span < NSC_NCCL_LINE && h->level != NCCLSCOPE_LEVEL_WARN && may_be_cut(r, row))
        row = NULL; /* a warning is told all the same */
    else if (row && cut)
        row = nsc_grammar_match(r->grammar, &r->words->messages, rec->message, 0, &r->match);
    bool piece = ends_in_a_piece(r, row);
    rec->kind = row ? row->kind : NCCLSCOPE_KIND_UNKNOWN;
    rec->row = row && (int)row->kind < NSC_USER_FIRST ? (size_t)(row - r->grammar->messages.row) : SIZE_MAX;
    rec->match = row && !row->pattern.literal ? &r->match : NULL;
    bool torn = !row && is_torn(r, cut || is_at_end(r));
    if (rec->kind == NCCLSCOPE_KIND_CONNECT || rec->kind == NCCLSCOPE_KIND_CONNECT_COLLNET) {
        nsc_text via = nsc_record_field(rec, NCCLSCOPE_FIELD_VIA);
        rec->via = nsc_via_parse(&r->via_cache, via);
        if (!rec->via->row)
            rec->via = without_words(r, via, rec->via);
        if (is_half_shm(r, rec->via))
            rec->via = &cut_short;
        torn = !rec->via->row;
        piece = piece && torn; /* a path that is known is whole */
        if (torn)
            nsc_mark_torn(r);
        r->connected = r->connected || h->whole;
    } else if (rec->text) {
        rec->kind = NCCLSCOPE_KIND_RECOGNISED;
    } else if (rec->kind == NCCLSCOPE_KIND_NCCL_VERSION) {
        note_release(r);
    }
    rec->flags |= torn || piece ? NCCLSCOPE_FLAG_TORN : 0;
    if (torn || (cut && !(row && is_cut_in_last_word(rec->message)))) /* else its rest says nothing more */
        nsc_debts_add(&r->debts, h, from_marker);
    else if (row && !nsc_pattern_is_strict(&row->pattern) && rec->kind != NCCLSCOPE_KIND_CONNECT)
        nsc_debts_whole(&r->debts, r->grammar, row, rec->message);
    r->stats.recognised += rec->text != NULL;
    r->stats.unknown += !row && !rec->text && !torn && rec->message.len;
}
