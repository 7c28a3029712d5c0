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
    enum nsc_worth whole = worth(user, (nsc_text){w->held, len});
    bool better = alone <= NSC_WORTH_CUT || whole == NSC_WORTH_WHOLE || (alone == NSC_WORTH_LOOSE && w->joins > 0);
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

/* All pieces as one line, else without the last, which is another line where the one before it ended at the width; or one after the other. */
static void settle(struct nsc_rewrap *w, nsc_worth_fn *worth, void *user)
{
    size_t at = 0;
    for (size_t i = 0; i < w->pieces; i++) {
        w->piece[i].text.ptr = w->held + at;
        at += w->piece[i].text.len;
    }
    if (w->pieces < 2)
        return;
    enum nsc_worth alone = worth(user, w->piece[0].text);
    size_t n = w->pieces, last = w->piece[n - 1].text.len;
    if (!join_first(w, n, w->len, alone, worth, user) && n > 2)
        join_first(w, n - 1, w->len - last, alone, worth, user);
}

static bool give_piece(struct nsc_rewrap *w, struct nsc_line *out)
{
    *out = w->piece[w->given++];
    if (w->given == w->pieces)
        w->pieces = w->given = w->len = 0;
    return true;
}

/* Asked only when a line came that could belong to it. */
static bool begins_record(const struct nsc_rewrap *w, nsc_worth_fn *worth, void *user)
{
    return w->pieces > 1 || worth(user, (nsc_text){w->held, w->piece[0].text.len}) > NSC_WORTH_OTHER;
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

bool nsc_rewrap_next(struct nsc_rewrap *w, struct nsc_lines *lines, nsc_worth_fn *worth, void *user,
                     struct nsc_line *out)
{
    for (;;) {
        if (w->given)
            return give_piece(w, out);
        if (!w->pieces && w->has_next)
            *out = w->next;
        else if (!nsc_lines_next(lines, out)) {
            if (!lines->finished || !w->pieces)
                return false;
            settle(w, worth, user);
            return give_piece(w, out);
        }
        size_t n = out->text.len;
        w->has_next = false;
        if (w->pieces) {
            bool goes_on = n && n <= w->width && !out->cut && worth(user, out->text) == NSC_WORTH_NOTHING &&
                           begins_record(w, worth, user) && hold(w, out);
            w->vain = goes_on ? 0 : w->vain + 1;
            if (goes_on && n == w->width && !out->unended)
                continue;
            if (!goes_on && !keep_next(w, out)) /* no memory: the line is lost, and no more is held */
                w->width = SIZE_MAX;
            settle(w, worth, user);
            return give_piece(w, out);
        }
        if (!is_longest(w, out->text) || n < NSC_WRAP_NARROWEST || out->cut || out->unended)
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
    nsc_free(w->next_text);
    *w = (struct nsc_rewrap){0};
}
