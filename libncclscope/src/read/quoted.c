/* quoted.c - NCCL's words in the message of another program, and the exception that ends a traceback. */
#include "read/foreign.h"
#include "read/reader.h"

static void keep_line(ncclscope_reader *r, nsc_text line)
{
    r->before_len = line.len <= sizeof r->before ? line.len : 0;
    memcpy(r->before, line.ptr, r->before_len);
}

/* Consoles of clouds show the newest line first: "Last error:" stands above "ncclSystemError: ...", and NCCL's text above both. */
static nsc_text text_above(const ncclscope_reader *r)
{
    nsc_text line = {r->before, r->before_len};
    return nsc_text_trim(nsc_text_from(line, r->quote_at < line.len ? r->quote_at : line.len));
}

/* XLA: "... Last NCCL warning(error) log entry (may be unrelated) 'socketTryAccept: Accept failed'." */
static nsc_text quoted_by_xla(nsc_text line)
{
    static const char before[] = "Last NCCL warning(error) log entry";
    ptrdiff_t at = nsc_text_find_by(line, before, 0);
    nsc_text rest = at < 0 ? (nsc_text){NULL, 0} : nsc_text_from(line, (size_t)at);
    const char *open = rest.len ? memchr(rest.ptr, '\'', rest.len) : NULL;
    const char *close = open ? memrchr(open + 1, '\'', (size_t)(rest.ptr + rest.len - open - 1)) : NULL;
    return close ? nsc_text_trim((nsc_text){open + 1, (size_t)(close - open - 1)}) : (nsc_text){NULL, 0};
}

/* "ncclUnhandledCudaError: Call to CUDA function failed.": what a result of NCCL's means, as PyTorch prints it over "Last error:". NCCL's own
 * texts may begin alike: "ncclSocketInit: connecting to ...". */
static bool explains_result(nsc_text text)
{
    static const char *const results[] = {"ncclUnhandledCudaError: ",
                                          "ncclSystemError: ",
                                          "ncclInternalError: ",
                                          "ncclRemoteError: ",
                                          "ncclInvalidUsage: ",
                                          "ncclInvalidArgument: ",
                                          NULL};
    return nsc_text_starts_any(text, results);
}

/* What PyTorch goes on with where NCCL had nothing to say. */
static bool is_of_torch(nsc_text text)
{
    static const char *const words[] = {"Exception raised from ", "frame #", "Traceback ",
                                        "terminate called",       "[rank",   NULL};
    return nsc_text_starts_any(text, words);
}

/* Where such a line was pasted without "Last error:", NCCL's text is the next line, in the same column. */
void nsc_await_quoted(ncclscope_reader *r)
{
    ptrdiff_t at = nsc_text_find_by(r->line, "nccl", 1);
    if (at >= 0 && !r->quotes && explains_result(nsc_text_from(r->line, (size_t)at)) &&
        nsc_text_find(r->line, "Last error:") < 0) {
        r->quotes = true;
        r->quote_at = (size_t)at;
        r->awaited_at = r->physical.number;
    }
}

/* The text behind "Last error:", or behind the slash of "Test NCCL failure common.cu:958 'unhandled cuda error / Failed to bind ...'":
 * what ncclGetLastError returned, the last text that NCCL warned with in that process. */
nsc_text nsc_quoted_text(ncclscope_reader *r)
{
    static const char before[] = "Last error:";
    nsc_text line = nsc_text_trim_end(r->line), none = {NULL, 0};
    nsc_text text = nsc_text_trim(nsc_text_from(line, r->quote_at < line.len ? r->quote_at : line.len));
    ptrdiff_t at = r->hinted ? nsc_text_find_by(line, before, 0) : -1;
    if (r->awaited_at && r->awaited_at + 1 != r->physical.number)
        r->quotes = false;
    r->awaited_at = 0;
    r->of_last_error = false;
    if (r->quotes && at < 0) {
        r->quotes = !text.len;
        if (explains_result(text))
            return text_above(r);
        r->of_last_error =
            r->last_error_at && r->last_error_at + 1 == r->physical.number && !r->quote_at && !is_of_torch(text);
        ptrdiff_t more =
            nsc_text_find(text, ", Traceback (most recent call last)"); /* of a message in one line with what follows */
        text.len = more > 0 ? (size_t)more : text.len;
        return text;
    }
    if (at >= 0) {
        text = nsc_text_from(line, (size_t)at + sizeof before - 1);
        while (text.len && (text.ptr[0] == ' ' || nsc_text_starts(text, "\\n")))
            text = nsc_text_from(text, text.ptr[0] == ' ' ? 1 : 2);
        r->quotes = !text.len;
        r->quote_at = (size_t)at;
        r->last_error_at = text.len ? 0 : r->physical.number;
        return text;
    }
    keep_line(r, line);
    if (!r->hinted)
        return none;
    at = nsc_text_find_by(line, "WARN: Function: ", 0) >= 0 ? nsc_text_find(line, ": NET/OFI ") : -1;
    if (at >=
        0) /* aws-ofi-nccl without a logger of NCCL's: "WARN: Function: find_ofi_provider Line: 543: NET/OFI ..." */
        return nsc_text_from(line, (size_t)at + 2);
    nsc_text xla = quoted_by_xla(line);
    if (xla.len)
        return xla;
    at = nsc_text_find_by(line, "NCCL failure ", 0) >= 0 ? nsc_text_find(line, " / ") : -1;
    text = at < 0 ? none : nsc_text_trim(nsc_text_from(line, (size_t)at + 3));
    text.len -= text.len && text.ptr[text.len - 1] == '\'';
    return nsc_text_trim(text);
}

/* "RuntimeError: no such file", as a traceback ended with it before: of another process, whose frames lie among those of others. */
static bool is_raised_again(const struct nsc_tracebacks *all, nsc_text line, uint64_t number)
{
    enum { NEAR = 100 };
    return all->begun > all->ended && all->raised_len && line.len == all->raised_len &&
           number <= all->raised_at + NEAR && !memcmp(line.ptr, all->raised, line.len);
}

static void note_raised(struct nsc_tracebacks *all, nsc_text text, uint64_t number)
{
    all->raised_at = number;
    all->ended++;
    all->raised_len = text.len <= sizeof all->raised ? text.len : 0;
    memcpy(all->raised, text.ptr, all->raised_len);
}

/* The exception that ends a traceback: that alone is given out. Of a log that holds many tracebacks each is, so that the first is known. */
const struct nsc_row *nsc_exception_row(ncclscope_reader *r, nsc_text *text)
{
    nsc_text line = nsc_text_trim_end(r->line);
    struct nsc_traceback *t = nsc_traceback_at(&r->tracebacks, line, r->physical.number, r->hinted, text);
    if (!t && is_raised_again(&r->tracebacks, line, r->physical.number)) {
        *text = line;
        note_raised(&r->tracebacks, line, r->physical.number);
        nsc_progress_begin(&r->progress, r->physical.number);
        return nsc_foreign_placed(r->grammar, NCCLSCOPE_KIND_PY_RAISED, *text, &r->match);
    }
    if (!t)
        return NULL;
    const struct nsc_row *row = nsc_foreign_placed(r->grammar, NCCLSCOPE_KIND_PY_RAISED, *text, &r->match);
    nsc_traceback_ends(&r->tracebacks, t, row, r->physical.number);
    if (row) {
        note_raised(&r->tracebacks, *text, r->physical.number);
        nsc_progress_begin(&r->progress, r->physical.number);
    }
    return row;
}

/* "thread 'main' panicked at src/core.rs:429:9:" ends with a colon where the reason is the next line. */
const struct nsc_row *nsc_panic_row(ncclscope_reader *r, nsc_text body)
{
    body = nsc_text_trim(body);
    bool behind = r->panic_at && r->physical.number == r->panic_at + 1;
    if (!r->hinted || nsc_text_find_by(body, " panicked at ", 6) < 0)
        return behind && body.len ? nsc_foreign_placed(r->grammar, NCCLSCOPE_KIND_PANIC_REASON, body, &r->match) : NULL;
    r->panic_at = body.ptr[body.len - 1] == ':' ? r->physical.number : 0;
    return NULL;
}
