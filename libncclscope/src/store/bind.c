/* bind.c - texts to columns. */
#include "store/bind.h"

#include "base/alloc.h"
#include "base/harmless.h"

static const nsc_text harmed = {"\xef\xbf\xbd", 3}; /* U+FFFD */

/* A copy that may be shown: it has at most three bytes for each. */
static nsc_text shown(nsc_text t)
{
    char *to = nsc_alloc(t.len * harmed.len + 1);
    nsc_text out = {to, 0};
    while (to && t.len) {
        bool harmless;
        size_t n = nsc_character(t, &harmless);
        nsc_text put = harmless ? (nsc_text){t.ptr, n} : t.ptr[0] == '\t' ? NSC_TEXT(" ") : harmed;
        memcpy(to + out.len, put.ptr, put.len);
        out.len += put.len;
        t = nsc_text_from(t, n);
    }
    return out;
}

static bool bind_other(sqlite3_stmt *q, int i, nsc_text t)
{
    t = shown(t);
    return t.ptr && sqlite3_bind_text(q, i, t.ptr, (int)t.len, nsc_free) == SQLITE_OK;
}

static bool bind_as_it_is(sqlite3_stmt *q, int i, nsc_text t)
{
    return sqlite3_bind_text(q, i, t.ptr, (int)t.len, SQLITE_STATIC) == SQLITE_OK;
}

bool nsc_bind_text(sqlite3_stmt *q, int i, nsc_text t)
{
    return !t.ptr || nsc_is_harmless(t) ? bind_as_it_is(q, i, t) : bind_other(q, i, t);
}

bool nsc_bind_both(sqlite3_stmt *q, int i, int raw, nsc_text t)
{
    if (!t.ptr || nsc_is_harmless(t))
        return bind_as_it_is(q, i, t) && sqlite3_bind_null(q, raw) == SQLITE_OK;
    return bind_other(q, i, t) && sqlite3_bind_blob(q, raw, t.ptr, (int)t.len, SQLITE_STATIC) == SQLITE_OK;
}
