/* traceback.c - which Python traceback a line goes on with, and where its exception stands. */
#include "read/traceback.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* "03:04:05.678", "2026-01-02T03:04:05Z": of each line another, and of nobody. */
static bool is_clock(nsc_text word)
{
    for (size_t i = 1; i + 1 < word.len; i++)
        if (word.ptr[i] == ':' && nsc_is_digit(word.ptr[i - 1]) && nsc_is_digit(word.ptr[i + 1]))
            return true;
    return false;
}

/* The word in front of the column, and the blanks behind it. */
static nsc_text writer_of(nsc_text line, size_t column, size_t *gap)
{
    nsc_text none = {NULL, 0};
    size_t end = column;
    while (end && is_blank(line.ptr[end - 1]))
        end--;
    size_t from = end;
    while (from && !is_blank(line.ptr[from - 1]))
        from--;
    nsc_text word = {line.ptr + from, end - from};
    *gap = column - end;
    return is_clock(word) || word.len > NSC_TRACEBACK_WRITER ? none : word;
}

/* Where the traceback's column is in this line; past its end: another writer's line. Times in front may be longer or shorter. */
static size_t column_in(const struct nsc_traceback *t, nsc_text line)
{
    enum { SHIFT = 10 };
    if (!t->writer_len)
        return t->column < line.len ? t->column : line.len;
    size_t usual = t->column - t->gap - t->writer_len;
    for (size_t i = 0; i <= 2 * SHIFT; i++) {
        size_t by = (i + 1) / 2, at = i % 2 ? usual - by : usual + by; /* 0, -1, +1, -2 ... */
        if ((i % 2 && by > usual) || at + t->writer_len > line.len || (at && !is_blank(line.ptr[at - 1])))
            continue;
        if (!memcmp(line.ptr + at, t->writer, t->writer_len)) {
            size_t column = at + t->writer_len + t->gap;
            return column < line.len ? column : line.len;
        }
    }
    return line.len + 1;
}

/* Whose the line is: that of a writer who is known by his word, before one by nothing. */
static struct nsc_traceback *owner_of(struct nsc_tracebacks *all, nsc_text line, uint64_t number, size_t *column)
{
    struct nsc_traceback *nobodys = NULL;
    for (size_t i = 0; all->open && i < NSC_TRACEBACKS; i++) {
        struct nsc_traceback *t = &all->of[i];
        if (t->open && number - t->line > NSC_TRACEBACK_LINES) {
            t->open = false;
            all->open--;
        }
        if (!t->open)
            continue;
        if (!t->writer_len)
            nobodys = t;
        else if ((*column = column_in(t, line)) <= line.len)
            return t;
    }
    *column = nobodys ? column_in(nobodys, line) : 0;
    return nobodys;
}

/* A place for one: a free one, else that which was silent longest. */
static struct nsc_traceback *place_for(struct nsc_tracebacks *all)
{
    struct nsc_traceback *oldest = &all->of[0];
    for (size_t i = 0; i < NSC_TRACEBACKS; i++) {
        if (!all->of[i].open)
            return &all->of[i];
        oldest = all->of[i].line < oldest->line ? &all->of[i] : oldest;
    }
    all->open--;
    return oldest;
}

static void set_column(struct nsc_traceback *t, nsc_text line, size_t column)
{
    nsc_text writer = writer_of(line, column, &t->gap);
    t->column = column;
    t->writer_len = writer.len;
    memcpy(t->writer, writer.len ? writer.ptr : "", writer.len);
}

/* "+--- Traceback (most recent call last) ---", with the lines of a box: rich draws one around the frames, and the exception stands below
 * it, in its column. */
static const char corner[] = "\xe2\x95\xad", side[] = "\xe2\x94\x82", foot[] = "\xe2\x95\xb0", edge[] = "\xe2\x94\x80";

static size_t box_before(nsc_text line, size_t column)
{
    nsc_text before = nsc_text_trim_end((nsc_text){line.ptr, column});
    while (before.len >= 3 && !memcmp(before.ptr + before.len - 3, edge, 3))
        before.len -= 3;
    return before.len >= 3 && !memcmp(before.ptr + before.len - 3, corner, 3) ? before.len - 3 : column;
}

static bool is_of_box(nsc_text text)
{
    return nsc_text_starts(text, side) || nsc_text_starts(text, foot) || nsc_text_starts(text, corner);
}

/* It begins here: in the place of an older one of this writer. */
static struct nsc_traceback *begin(struct nsc_tracebacks *all, nsc_text line, size_t column, uint64_t number)
{
    size_t gap;
    nsc_text writer = writer_of(line, column, &gap);
    struct nsc_traceback *t = NULL;
    for (size_t i = 0; i < NSC_TRACEBACKS && !t; i++) {
        struct nsc_traceback *x = &all->of[i];
        t = x->open && nsc_text_eq((nsc_text){x->writer, x->writer_len}, writer) ? x : NULL;
    }
    if (!t) {
        t = place_for(all);
        all->open++;
    }
    *t = (struct nsc_traceback){.open = true, .line = number};
    set_column(t, line, column);
    return t;
}

/* One that began on the line before and has no frame yet: a logger may put its words in front of the first line alone. */
static struct nsc_traceback *just_begun(struct nsc_tracebacks *all, uint64_t number)
{
    for (size_t i = 0; all->open && i < NSC_TRACEBACKS; i++)
        if (all->of[i].open && !all->of[i].framed && all->of[i].line + 1 == number)
            return &all->of[i];
    return NULL;
}

/* "File "/x.py", line 67, in forward": a frame whose indentation a collector took away; its code is the next line. */
static bool is_flat_frame(nsc_text text)
{
    return nsc_text_starts(text, "File \"") && nsc_text_find(text, "\", line ") > 0;
}

/* "RuntimeError: mat1 and mat2 must have the same dtype" */
static bool names_error(nsc_text line)
{
    nsc_text name = nsc_next_word(&line);
    return name.len > 6 && nsc_text_ends(name, "Error:") && name.ptr[name.len - 7] >= 'a' &&
           name.ptr[name.len - 7] <= 'z' && !memchr(name.ptr, '/', name.len);
}

/* "[rank3]: ": so PyTorch begins each line of an exception that nothing caught; 0: it is none. */
static size_t mark_of_torch(nsc_text line)
{
    size_t n = 5;
    if (!nsc_text_starts(line, "[rank"))
        return 0;
    while (n < line.len && nsc_is_digit(line.ptr[n]))
        n++;
    return n > 5 && nsc_text_starts(nsc_text_from(line, n), "]: ") ? n + 3 : 0;
}

/* A frame in its column; where none is open, the first line of one was cut off. */
static void take_frame(struct nsc_tracebacks *all, nsc_text line, size_t column, uint64_t number)
{
    size_t at;
    struct nsc_traceback *t = owner_of(all, line, number, &at);
    t = t ? t : just_begun(all, number);
    if (t)
        set_column(t, line, column);
    else if (nsc_text_find(line, ", line ") > (ptrdiff_t)column)
        t = begin(all, line, column, number);
    if (t) {
        t->framed = true;
        t->line = number;
    }
}

/* By Python in a destructor or as it exits, by its logging, by asyncio of a task that nobody waits for: it ended nothing. Where the words
 * for that stand; -1: nowhere. */
static ptrdiff_t ignored_in(nsc_text line)
{
    static const struct {
        const char *words;
        size_t rare; /* the place of a letter that few lines hold */
    } known[] = {{"Exception ignored in: ", 0},
                 {"--- Logging error ---", 4},
                 {"Error in atexit._run_exitfuncs:", 0},
                 {"Task exception was never retrieved", 0}};
    ptrdiff_t at = -1;
    for (size_t i = 0; at < 0 && i < sizeof known / sizeof known[0]; i++)
        at = nsc_text_find_by(line, known[i].words, known[i].rare);
    return at;
}

/* "File "/usr/lib/python3.10/multiprocessing/util.py", line 300, in _run_finalizers": Python's own, of a process that exits already; it
 * prints what a finalizer raises, and goes on. */
static bool is_finalizer(nsc_text line)
{
    return nsc_text_find_by(line, "multiprocessing/util.py\", line ", 0) >= 0 &&
           nsc_text_ends(line, "in _run_finalizers");
}

bool nsc_traceback_is_ignored(const struct nsc_tracebacks *all, uint64_t number)
{
    enum { BETWEEN = 2 }; /* "future: <Task finished ...>" may stand between */
    return all->ignored_at && number - all->ignored_at <= BETWEEN;
}

bool nsc_is_in_ignored(const struct nsc_tracebacks *all, uint64_t number)
{
    return all->ignored_at && number - all->ignored_at < NSC_IGNORED_LINES;
}

struct nsc_traceback *nsc_traceback_at(struct nsc_tracebacks *all, nsc_text line, uint64_t number, bool hinted,
                                       nsc_text *text)
{
    *text = (nsc_text){NULL, 0};
    ptrdiff_t at = hinted ? nsc_text_find_by(line, "Traceback (most recent call last)", 0) : -1;
    if (at >= 0) {
        enum { SHIFT = 12 }; /* a time in front may be longer or shorter */
        if (all->ignored_at && (size_t)at > all->ignored_column + SHIFT)
            all->ignored_at = 0; /* of another writer: what Python ignores stands below its words */
        if (!nsc_traceback_is_ignored(all, number)) {
            all->begun++;
            begin(all, line, box_before(line, (size_t)at), number);
        }
        return NULL;
    }
    ptrdiff_t ignored = hinted ? ignored_in(line) : -1;
    if (ignored >= 0) {
        all->ignored_at = number;
        all->ignored_column = (size_t)ignored;
    }
    ptrdiff_t frame = hinted ? nsc_text_find_by(line, "  File \"", 2) : -1;
    if (frame >= 0) {
        struct nsc_traceback *begun = is_finalizer(line) ? just_begun(all, number) : NULL;
        if (begun) {
            all->ignored_at = number;
            begun->open = false;
            all->open--;
        }
        if (!nsc_is_in_ignored(all, number))
            take_frame(all, line, (size_t)frame, number);
        return NULL;
    }
    size_t column;
    struct nsc_traceback *t = owner_of(all, line, number, &column);
    size_t mark = t ? 0 : mark_of_torch(line);
    if (mark && names_error(nsc_text_from(line, mark))) /* its traceback was left out */
        t = begin(all, line, column = mark, number);
    if (!t &&
        (is_flat_frame(line) || (number == 1 && names_error(line)))) /* an excerpt that begins with its last line */
        t = begin(all, line, column = 0, number);
    if (!t)
        return NULL;
    t->line = number;
    *text = nsc_text_from(line, column);
    if (is_flat_frame(*text)) {
        t->flat_at = number;
        t->framed = true;
        return NULL;
    }
    return text->len && !is_blank(text->ptr[0]) && !is_of_box(*text) ? t : NULL;
}

void nsc_traceback_ends(struct nsc_tracebacks *all, struct nsc_traceback *t, bool raised, uint64_t number)
{
    if (!raised && t->flat_at && number == t->flat_at + 1) /* the code of that frame */
        return;
    t->open = false;
    all->open--;
}
