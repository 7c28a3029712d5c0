/* record.c - getters: fields become numbers only when somebody asks. */
#include "read/record.h"

#include "read/grammar.h"

#include "read/texts.h"
#include "read/user.h"

size_t nsc_record_span(const struct ncclscope_record *rec)
{
    const char *from = rec->host.ptr, *end = rec->message.ptr + rec->message.len;
    bool in_line = nsc_text_lies_in(rec->host, rec->physical) && nsc_text_lies_in(rec->message, rec->physical);
    return in_line && from < end ? (size_t)(end - from) : 0;
}

nsc_text nsc_record_field(const struct ncclscope_record *rec, ncclscope_field f)
{
    return rec->match ? nsc_match_text(rec->match, f) : (nsc_text){NULL, 0};
}

/* Of no record nothing is known: what a program reads that asks for it. */
static const struct ncclscope_record *some(const struct ncclscope_record *rec)
{
    static const struct ncclscope_record none = {.pid = -1, .tid = -1, .dev = -1, .launcher_rank = -1};
    return rec ? rec : &none;
}

int ncclscope_record_text(const ncclscope_record *rec, ncclscope_field f, ncclscope_text *out)
{
    if (!rec || !out)
        return NCCLSCOPE_EINVAL;
    *out = nsc_record_field(rec, f);
    return out->ptr ? NCCLSCOPE_OK : NCCLSCOPE_ENOTFOUND;
}

int ncclscope_record_u64(const ncclscope_record *rec, ncclscope_field f, uint64_t *out)
{
    if (!rec || !out)
        return NCCLSCOPE_EINVAL;
    nsc_text t = nsc_record_field(rec, f);
    *out = 0;
    if (!t.ptr)
        return NCCLSCOPE_ENOTFOUND;
    return nsc_to_u64(t, out) ? NCCLSCOPE_OK : NCCLSCOPE_EINVAL;
}

int ncclscope_record_i64(const ncclscope_record *rec, ncclscope_field f, int64_t *out)
{
    if (!rec || !out)
        return NCCLSCOPE_EINVAL;
    nsc_text t = nsc_record_field(rec, f);
    *out = 0;
    if (!t.ptr)
        return NCCLSCOPE_ENOTFOUND;
    return nsc_to_i64(t, out) ? NCCLSCOPE_OK : NCCLSCOPE_EINVAL;
}

int ncclscope_record_f64(const ncclscope_record *rec, ncclscope_field f, double *out)
{
    if (!rec || !out)
        return NCCLSCOPE_EINVAL;
    nsc_text t = nsc_record_field(rec, f);
    *out = 0;
    if (!t.ptr)
        return NCCLSCOPE_ENOTFOUND;
    return nsc_to_f64(t, out) ? NCCLSCOPE_OK : NCCLSCOPE_EINVAL;
}

int ncclscope_record_field(const ncclscope_record *rec, size_t i, ncclscope_field *field, ncclscope_text *out)
{
    if (!rec || !field || !out)
        return NCCLSCOPE_EINVAL;
    return rec->match && nsc_match_field(rec->match, i, field, out) ? NCCLSCOPE_OK : NCCLSCOPE_ENOTFOUND;
}

ncclscope_kind ncclscope_record_kind(const ncclscope_record *rec)
{
    return some(rec)->kind;
}

const char *ncclscope_record_kind_name(const ncclscope_record *rec)
{
    const char *name = ncclscope_kind_name(some(rec)->kind);
    return name || !rec ? name : nsc_user_kind_name(&rec->grammar->user, rec->kind);
}

const char *ncclscope_record_field_name(const ncclscope_record *rec, ncclscope_field f, char *type)
{
    char letter;
    return !rec ? NULL : nsc_user_field_name(&rec->grammar->user, f, type ? type : &letter);
}

int ncclscope_record_level(const ncclscope_record *rec)
{
    return some(rec)->level;
}

int ncclscope_record_flags(const ncclscope_record *rec)
{
    return some(rec)->flags;
}

uint64_t ncclscope_record_line(const ncclscope_record *rec)
{
    return some(rec)->line;
}

uint64_t ncclscope_record_offset(const ncclscope_record *rec)
{
    return some(rec)->offset;
}

ncclscope_text ncclscope_record_host(const ncclscope_record *rec)
{
    return some(rec)->host;
}

int64_t ncclscope_record_pid(const ncclscope_record *rec)
{
    return some(rec)->pid;
}

int64_t ncclscope_record_tid(const ncclscope_record *rec)
{
    return some(rec)->tid;
}

int64_t ncclscope_record_dev(const ncclscope_record *rec)
{
    return some(rec)->dev;
}

ncclscope_text ncclscope_record_message(const ncclscope_record *rec)
{
    return some(rec)->message;
}

ncclscope_text ncclscope_record_family(const ncclscope_record *rec)
{
    return rec && rec->text ? nsc_text_of(rec->text->family) : (nsc_text){NULL, 0};
}

ncclscope_text ncclscope_record_location(const ncclscope_record *rec)
{
    return some(rec)->location;
}

ncclscope_text ncclscope_record_physical(const ncclscope_record *rec)
{
    return some(rec)->physical;
}

ncclscope_text ncclscope_record_pod(const ncclscope_record *rec)
{
    return some(rec)->pod;
}

ncclscope_text ncclscope_record_container(const ncclscope_record *rec)
{
    return some(rec)->container;
}

int64_t ncclscope_record_launcher_rank(const ncclscope_record *rec)
{
    return some(rec)->launcher_rank;
}

ncclscope_text ncclscope_record_time(const ncclscope_record *rec)
{
    return some(rec)->time;
}

uint64_t ncclscope_record_repeated(const ncclscope_record *rec)
{
    return some(rec)->repeated;
}
