/* debts.c - puts records together again that another writer tore: a beginning now, its rest lines later. */
#include "read/debts.h"

#include "base/alloc.h"

void nsc_debts_whole(struct nsc_debts *d, const ncclscope_grammar *g, const struct nsc_row *row, nsc_text message)
{
    size_t i = (size_t)(row - g->messages.row);
    if ((int)row->kind >= NSC_USER_FIRST) /* no row of the table */
        return;
    if (!d->last && !(d->last = nsc_realloc(NULL, g->messages.rows * NSC_LAST_BYTES))) /* written before it is read */
        return;
    if (!d->last_len && !(d->last_len = nsc_alloc(g->messages.rows * sizeof *d->last_len)))
        return;
    size_t skip = message.len > NSC_LAST_BYTES ? message.len - NSC_LAST_BYTES : 0;
    d->last_len[i] = (uint16_t)(message.len - skip);
    memcpy(d->last + i * NSC_LAST_BYTES, message.ptr + skip, message.len - skip);
}

void nsc_debts_add(struct nsc_debts *d, const struct nsc_header *h, nsc_text begin)
{
    if (!d->debt && !(d->debt = nsc_alloc(NSC_DEBTS * sizeof *d->debt)))
        return;
    struct nsc_debt *x = &d->debt[d->next++ % NSC_DEBTS];
    if (begin.len > NSC_DEBT_BYTES)
        return;
    x->open = true;
    x->line = d->newest = d->line;
    x->pid = h->pid;
    x->tid = h->tid;
    x->dev = h->dev;
    x->host_len = h->host.len < sizeof x->host ? h->host.len : 0;
    x->begin_len = begin.len;
    if (x->host_len)
        memcpy(x->host, h->host.ptr, x->host_len);
    memcpy(x->begin, begin.ptr, begin.len);
}

void nsc_debts_extend(struct nsc_debts *d, nsc_text piece)
{
    size_t from = d->next > NSC_DEBTS ? d->next - NSC_DEBTS : 0, to = d->next;
    for (size_t i = from; d->debt && i < to; i++) {
        struct nsc_debt x = d->debt[i % NSC_DEBTS];
        if (!x.open || x.line + NSC_DEBT_LINES < d->line || x.begin_len + piece.len > NSC_DEBT_BYTES)
            continue;
        memcpy(x.begin + x.begin_len, piece.ptr, piece.len);
        x.begin_len += piece.len;
        d->debt[d->next++ % NSC_DEBTS] = x;
    }
}

/* Are the last bytes of `whole` those of `end`, any digit being as good as another? */
static bool ends_alike(nsc_text whole, nsc_text end)
{
    if (!end.len || whole.len < end.len)
        return false;
    const char *w = whole.ptr + whole.len - end.len;
    for (size_t i = 0; i < end.len; i++)
        if (w[i] != end.ptr[i] && !(nsc_is_digit(w[i]) && nsc_is_digit(end.ptr[i])))
            return false;
    return true;
}

/* Does the joined message match a row, and could `rest` be the end of such a record? A row whose fields take any text matches
 * anything: there the end must look like that of a whole record. */
static const struct nsc_row *fits(struct nsc_debts *d, ncclscope_grammar *g, struct nsc_via_cache *v, nsc_text message,
                                  nsc_text rest, struct nsc_match *m)
{
    const struct nsc_row *row = nsc_grammar_match(g, NULL, message, 0, m);
    if (!row || nsc_pattern_is_strict(&row->pattern))
        return row;
    if ((int)row->kind >= NSC_USER_FIRST)
        return NULL;
    size_t i = (size_t)(row - g->messages.row);
    if (row->kind == NCCLSCOPE_KIND_CONNECT) {
        struct nsc_via via;
        nsc_via_parse_once(v, m, &via);
        return via.row ? row : NULL;
    }
    if (!d->last || !d->last_len)
        return NULL;
    return ends_alike((nsc_text){d->last + i * NSC_LAST_BYTES, d->last_len[i]}, rest) ? row : NULL;
}

/* The beginning `x` with this rest behind it, and between them so many blanks: the row that takes it, or NULL. */
static const struct nsc_row *paid_with(struct nsc_debts *d, ncclscope_grammar *g, struct nsc_via_cache *v,
                                       const struct nsc_debt *x, size_t blanks, nsc_text rest, struct nsc_match *m,
                                       nsc_text *message)
{
    static const char marker[] = "NCCL INFO ";
    memcpy(d->joined, x->begin, x->begin_len);
    memset(d->joined + x->begin_len, ' ', blanks);
    memcpy(d->joined + x->begin_len + blanks, rest.ptr, rest.len);
    nsc_text all = {d->joined, x->begin_len + blanks + rest.len};
    if (!nsc_text_starts(all, marker))
        return NULL;
    *message = nsc_text_from(all, sizeof marker - 1);
    bool cut_in_marker =
        x->begin_len < sizeof marker - 1; /* then the line itself is the rest of the marker and a message */
    return cut_in_marker ? nsc_grammar_match(g, NULL, *message, 0, m) : fits(d, g, v, *message, rest, m);
}

const struct nsc_row *nsc_debts_pay(struct nsc_debts *d, ncclscope_grammar *g, struct nsc_via_cache *v, nsc_text rest,
                                    struct nsc_match *m, nsc_text *message, struct nsc_debt **who)
{
    rest = nsc_text_trim_end(rest);
    if (!d->debt || !rest.len || rest.len > NSC_DEBT_BYTES)
        return NULL;
    if (d->newest + NSC_DEBT_LINES < d->line)
        return NULL;
    size_t from = d->next > NSC_DEBTS ? d->next - NSC_DEBTS : 0;
    for (int nearest = 1; nearest >= 0;
         nearest--) /* that of the line before, where its rest is this; else the oldest */
        for (size_t i = from; i < d->next; i++) {
            struct nsc_debt *x = &d->debt[i % NSC_DEBTS];
            if (!x->open || x->line + NSC_DEBT_LINES < d->line || (nearest && x->line + 1 != d->line))
                continue;
            const struct nsc_row *row = paid_with(d, g, v, x, 0, rest, m, message);
            if (!row && nearest) /* " to 0.": a blank before a line may be taken for a launcher's */
                row = paid_with(d, g, v, x, 1, rest, m, message);
            if (!row)
                continue;
            x->open = false;
            *who = x;
            return row;
        }
    return NULL;
}

static bool ends_with(nsc_text s, const char *end)
{
    size_t n = strlen(end);
    return s.len >= n && memcmp(s.ptr + s.len - n, end, n) == 0;
}

/* "rest 0.01)" or "delay 0.000001)" */
static bool ends_timings(nsc_text s)
{
    if (!ends_with(s, ")"))
        return false;
    size_t i = s.len - 1;
    while (i && (nsc_is_digit(s.ptr[i - 1]) || s.ptr[i - 1] == '.'))
        i--;
    s.len = i;
    return ends_with(s, "rest ") || ends_with(s, "delay ");
}

/* "9] 3/-1/-1->2->1 [20] 3/-1/-1->2->1" */
static bool holds_tree(nsc_text s)
{
    const char *arrow;
    for (size_t from = 2; from < s.len && (arrow = memchr(s.ptr + from, '>', s.len - from));) { /* few lines hold one */
        size_t i = (size_t)(arrow - s.ptr) - 1;
        from = i + 2;
        if (i + 4 >= s.len || s.ptr[i] != '-' || !nsc_is_digit(s.ptr[i - 1]))
            continue;
        size_t k = i + 2;
        k += s.ptr[k] == '-';
        size_t digits = k;
        while (k < s.len && nsc_is_digit(s.ptr[k]))
            k++;
        size_t j = i;
        while (j && nsc_is_digit(s.ptr[j - 1]))
            j--;
        j -= j && s.ptr[j - 1] == '-';
        if (k > digits && k + 1 < s.len && s.ptr[k] == '-' && s.ptr[k + 1] == '>' && j && s.ptr[j - 1] == '/')
            return true;
    }
    return false;
}

/* "[3] -> 4[4] via P2P/CUMEM": the path is whole when a row of transports.def takes it, which the caller checks by joining;
 * here only its family is looked at. */
static bool ends_via(nsc_text s)
{
    ptrdiff_t at = nsc_text_find_by(s, "via ", 0);
    if (at < 0 || (at > 9 && (s.ptr[at - 1] != ' ' || s.ptr[at - 2] != ']')))
        return false;
    nsc_text via = nsc_text_from(s, (size_t)at + 4);
    static const char *const families[] = {"P2P/", "SHM/", "NET/", "COLLNET/", "direct shared memory", NULL};
    return nsc_text_starts_any(via, families);
}

bool nsc_is_residue(nsc_text line)
{
    line = nsc_text_trim_end(line);
    return ends_with(line, "- Init COMPLETE") || ends_with(line, "- Init START") ||
           ends_with(line, "- Destroy COMPLETE") || ends_with(line, "- Abort COMPLETE") || ends_timings(line) ||
           ends_via(line) || holds_tree(line);
}

void nsc_debts_free(struct nsc_debts *d)
{
    nsc_free(d->debt);
    nsc_free(d->last);
    nsc_free(d->last_len);
}
