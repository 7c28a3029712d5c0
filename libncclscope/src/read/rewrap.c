/* rewrap.c - "... NCCL INFO comm 0x7f rank 0 nra" and "nks 8 ..." to one line, where that makes a record whole. */
#include "read/rewrap.h"

#include "base/alloc.h"

/* A copy of the line behind the pieces in hand; false if that is too much. */
static bool hold(struct nsc_rewrap *w, const struct nsc_line *line)
{
    size_t n = line->text.len;
    char *p =
        w->pieces == NSC_PIECES || w->len + n > NSC_LINE_LIMIT ? NULL : nsc_grow(w->held, &w->cap, w->len + n + 1, 1);
    if (!p)
        return false;
    w->held = p;
    if (n)
        memcpy(p + w->len, line->text.ptr, n);
    w->piece[w->pieces++] = *line;
    w->len += n;
    return true;
}

static bool keep_next(struct nsc_rewrap *w, const struct nsc_line *line)
{
    char *p = nsc_grow(w->next_text, &w->next_cap, line->text.len + 1, 1);
    if (!p)
        return false;
    w->next_text = p;
    if (line->text.len)
        memcpy(p, line->text.ptr, line->text.len);
    w->next = *line;
    w->next.text.ptr = p;
    w->has_next = true;
    return true;
}

/* The first `n` pieces as one line, if that makes a record whole. What no field can hold but the text itself is one record; what fields of any
 * text may have swallowed must be usual here. */
static bool join_first(struct nsc_rewrap *w, size_t n, size_t len, enum nsc_worth alone, nsc_worth_fn *worth,
                       void *user)
{
    enum nsc_worth whole = worth(user, (nsc_text){w->held, len}, false);
    bool better = alone <= NSC_WORTH_CUT || whole == NSC_WORTH_WHOLE || (alone < NSC_WORTH_WHOLE && w->joins > 0) ||
                  (alone == NSC_WORTH_LOOSE && whole == NSC_WORTH_KNOWN);
    if (whole < NSC_WORTH_LOOSE || !better)
        return false;
    w->joins++;
    w->piece[0].text.len = len;
    w->piece[0].unended = w->piece[n - 1].unended;
    w->piece[0].lines = n;
    memmove(w->piece + 1, w->piece + n, (w->pieces - n) * sizeof *w->piece);
    w->pieces -= n - 1;
    return true;
}

static nsc_text without_blanks(nsc_text t)
{
    while (t.len && t.ptr[t.len - 1] == ' ')
        t.len--;
    return t;
}

static size_t indent_of(nsc_text t)
{
    size_t n = 0;
    while (n < t.len && t.ptr[n] == ' ')
        n++;
    return n;
}

/* The first `n` pieces of a column as one line, in `flat`; its length, or 0 without memory. */
static size_t flatten(struct nsc_rewrap *w, size_t n)
{
    size_t len = 0;
    char *p = nsc_grow(w->flat, &w->flat_cap, w->len + n, 1);
    if (!p)
        return 0;
    w->flat = p;
    for (size_t i = 0; i < n; i++) {
        nsc_text t = without_blanks(w->piece[i].text);
        size_t skip = i ? w->indent : 0;
        if (t.len <= skip)
            continue;
        if (i)
            p[len++] = ' ';
        memcpy(p + len, t.ptr + skip, t.len - skip);
        len += t.len - skip;
    }
    return len;
}

/* "vm:95:124 [0] init.cc:1 NCCL WARN" */
static bool ends_with_marker(nsc_text t)
{
    return t.len > 9 && (!memcmp(t.ptr + t.len - 9, "NCCL WARN", 9) || !memcmp(t.ptr + t.len - 9, "NCCL INFO", 9));
}

/* As many pieces of a column as make a record. Where lines were put together before, what no table takes is too. */
static void settle_column(struct nsc_rewrap *w, nsc_worth_fn *worth, void *user)
{
    nsc_text first = without_blanks(w->piece[0].text);
    enum nsc_worth alone = w->pieces < 2             ? NSC_WORTH_WHOLE
                           : ends_with_marker(first) ? NSC_WORTH_CUT
                                                     : worth(user, first, false);
    for (size_t n = w->pieces; n > 1; n--) {
        size_t len = flatten(w, n);
        enum nsc_worth whole = worth(user, (nsc_text){w->flat, len}, false);
        bool better = whole >= NSC_WORTH_LOOSE && (alone <= NSC_WORTH_CUT || whole == NSC_WORTH_WHOLE || w->hung);
        if (!len || !(better || (n == w->pieces && alone == NSC_WORTH_CUT && whole == NSC_WORTH_CUT && w->hung)))
            continue;
        w->hung++;
        w->piece[0].text = (nsc_text){w->flat, len};
        w->piece[0].unended = w->piece[n - 1].unended;
        w->piece[0].lines = n;
        memmove(w->piece + 1, w->piece + n, (w->pieces - n) * sizeof *w->piece);
        w->pieces -= n - 1;
        return;
    }
}

/* Two pieces between which a blank was put: broken within a word after all, at the width of a terminal whose lines came one by one. */
static void join_within_word(struct nsc_rewrap *w, enum nsc_worth alone, nsc_worth_fn *worth, void *user)
{
    size_t first = w->piece[0].text.len - 1, second = w->piece[1].text.len;
    char *p = nsc_grow(w->flat, &w->flat_cap, first + second + 1, 1);
    if (!p)
        return;
    w->flat = p;
    memcpy(p, w->piece[0].text.ptr, first);
    memcpy(p + first, w->piece[1].text.ptr, second);
    if (alone > NSC_WORTH_CUT || worth(user, (nsc_text){p, first + second}, false) < NSC_WORTH_LOOSE)
        return;
    w->piece[0].text = (nsc_text){p, first + second};
    w->piece[0].unended = w->piece[1].unended;
    w->piece[0].lines = 2;
    w->pieces = 1;
}

/* All pieces as one line, else without the last, which is another line where the one before it ended at the width; or one after the other. */
static void settle(struct nsc_rewrap *w, nsc_worth_fn *worth, void *user)
{
    size_t at = 0;
    for (size_t i = 0; i < w->pieces; i++) {
        w->piece[i].text.ptr = w->held + at;
        at += w->piece[i].text.len;
    }
    if (w->indent) {
        settle_column(w, worth, user);
        return;
    }
    if (w->pieces < 2)
        return;
    enum nsc_worth alone = worth(user, w->piece[0].text, false);
    size_t n = w->pieces, last = w->piece[n - 1].text.len;
    if (join_first(w, n, w->len, alone, worth, user))
        return;
    if (n > 2)
        join_first(w, n - 1, w->len - last, alone, worth, user);
    else if (w->spaced)
        join_within_word(w, alone, worth, user);
}

static bool give_piece(struct nsc_rewrap *w, struct nsc_line *out)
{
    *out = w->piece[w->given++];
    if (w->given == w->pieces) {
        w->pieces = w->given = w->len = w->indent = 0;
        w->hangs = w->spaced = false;
    }
    return true;
}

/* Asked only when a line came that could belong to it. */
static bool begins_record(const struct nsc_rewrap *w, nsc_worth_fn *worth, void *user)
{
    return w->pieces > 1 || worth(user, (nsc_text){w->held, w->piece[0].text.len}, true) > NSC_WORTH_OTHER;
}

/* Is no line that came lately longer? */
static bool is_longest(struct nsc_rewrap *w, nsc_text line)
{
    size_t most = w->before > w->longest ? w->before : w->longest;
    if (++w->lot > NSC_LOT) {
        w->before = w->longest;
        w->longest = w->lot = 0;
    }
    w->longest = line.len > w->longest ? line.len : w->longest;
    return line.len >= most;
}

/* "                             vm:95:124 [0] NCCL INFO NET/OFI Using Libfabric" */
static bool begins_column(const struct nsc_line *line)
{
    return !line->cut && !line->unended && indent_of(line->text) >= NSC_HANG &&
           nsc_text_find_by(line->text, "NCCL", 3) >= 0;
}

/* "vm:95:124 [0] ofi_process_cq:196 NCCL WARN", and on the lines below, indented, what it warns of. */
static bool begins_hanging(const struct nsc_line *line)
{
    return !line->cut && !line->unended && ends_with_marker(without_blanks(line->text));
}

/* "... ProcessGroupNCCL.cpp:607] [Rank 14] Watchdog caught collective operation timeout: ": such lines are long, and pages and people break
 * them between words, wherever it suits. "... net_ib.cc:2470 NCCL WARN NET/IB:" says that more comes. */
static bool begins_broken(const struct nsc_line *line, bool longest, nsc_worth_fn *worth, void *user)
{
    nsc_text t = without_blanks(line->text);
    bool open = t.len && (t.ptr[t.len - 1] == ':' || t.ptr[t.len - 1] == ',');
    if (line->cut || line->unended || (longest && !open))
        return false;
    bool warns = open && nsc_text_find_by(t, " NCCL WARN ", 6) >= 0;
    return (warns || (!longest && nsc_text_find_by(t, "ProcessGroupNCCL.cpp", 7) >= 0)) &&
           worth(user, line->text, false) == NSC_WORTH_CUT;
}

/* A copy that ends with a blank: the break took it away. */
static bool hold_words(struct nsc_rewrap *w, const struct nsc_line *line)
{
    if (!hold(w, line))
        return false;
    if (w->held[w->len - 1] != ' ') { /* hold has room for it */
        w->spaced = true;
        w->held[w->len++] = ' ';
        w->piece[w->pieces - 1].text.len++;
    }
    w->width = SIZE_MAX;
    return true;
}

static bool is_in_column(const struct nsc_rewrap *w, nsc_text line)
{
    return indent_of(line) == w->indent && line.len > w->indent;
}

bool nsc_rewrap_next(struct nsc_rewrap *w, struct nsc_lines *lines, nsc_worth_fn *worth, void *user,
                     struct nsc_line *out)
{
    for (;;) {
        if (w->given)
            return give_piece(w, out);
        if (!w->pieces && w->has_next)
            *out = w->next;
        else if (!nsc_lines_next(lines, out)) {
            if (!w->pieces || !(lines->finished || w->flush)) {
                w->flush = false;
                return false;
            }
            settle(w, worth, user);
            return give_piece(w, out);
        }
        size_t n = out->text.len;
        w->has_next = false;
        if (w->hangs) {
            w->indent = indent_of(out->text);
            w->hangs = false;
        }
        if (w->indent) {
            if (is_in_column(w, out->text) && !out->cut && worth(user, out->text, true) == NSC_WORTH_NOTHING &&
                begins_record(w, worth, user) && hold(w, out))
                continue;
            if (!keep_next(w, out))
                w->width = SIZE_MAX;
            settle(w, worth, user);
            return give_piece(w, out);
        }
        if (w->pieces) {
            bool goes_on = n && n <= w->width && !out->cut && worth(user, out->text, true) == NSC_WORTH_NOTHING &&
                           begins_record(w, worth, user) && hold(w, out);
            w->vain = goes_on ? 0 : w->vain + 1;
            if (goes_on && n == w->width && !out->unended)
                continue;
            if (!goes_on && !keep_next(w, out)) /* no memory: the line is lost, and no more is held */
                w->width = SIZE_MAX;
            settle(w, worth, user);
            return give_piece(w, out);
        }
        if (begins_hanging(out) && hold(w, out)) {
            w->hangs = true;
            continue;
        }
        if (begins_column(out) && hold(w, out)) {
            w->indent = indent_of(out->text);
            continue;
        }
        bool longest = is_longest(w, out->text);
        if (begins_broken(out, longest, worth, user) && hold_words(w, out))
            continue;
        if (!longest || n < NSC_WRAP_NARROWEST || out->cut || out->unended)
            return true;
        w->joins = n != w->width ? 0 : w->joins;
        w->vain = n != w->width ? 0 : w->vain;
        w->width = n;
        if (w->vain > NSC_VAIN && w->vain++ % 64) /* many lines are alike in length where nothing is wrapped */
            return true;
        if (!hold(w, out))
            return true;
    }
}

void nsc_rewrap_free(struct nsc_rewrap *w)
{
    nsc_free(w->held);
    nsc_free(w->flat);
    nsc_free(w->next_text);
    *w = (struct nsc_rewrap){0};
}
