/* fuzz_json.c - lines of a log, each as an object of its own (docker's json-file), and all as one list: the same records. And the bytes themselves in place of a value: they are read to their end, whatever they break. */
#include "target.h"

#include <stdio.h>

enum { DOCKER, LIST };

static void put(struct text *t, const char *bytes, size_t n)
{
    take(t, bytes, n);
}

#define PUT(t, literal) put(t, literal, sizeof literal - 1)

static void put_quoted(struct text *t, const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char escaped[8];
        unsigned char c = (unsigned char)line[i];
        if (c == '"' || c == '\\' || c < 0x20)
            put(t, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", c));
        else
            put(t, line + i, 1);
    }
}

static struct text wrapped(const char *data, size_t size, int how)
{
    struct text t = {0};
    if (how == LIST)
        PUT(&t, "[");
    for (size_t at = 0, n; at < size; at += n + 1) {
        const char *end = memchr(data + at, '\n', size - at);
        n = end ? (size_t)(end - data) - at : size - at;
        if (how == LIST && at)
            PUT(&t, ",");
        PUT(&t, "{\"log\":\"");
        put_quoted(&t, data + at, n);
        if (how == DOCKER)
            PUT(&t, "\\n\",\"stream\":\"stdout\"}\n");
        else
            PUT(&t, "\"}");
    }
    if (how == LIST)
        PUT(&t, "]\n");
    return t;
}

/* Kind and message of each record, a line each. */
static struct text records_of(const char *data, size_t size)
{
    ncclscope_reader *r = NULL;
    const ncclscope_record *rec;
    struct text out = {0};
    char kind[16];
    must(ncclscope_reader_new(&r, the_grammar(), NULL) == 0 && ncclscope_reader_feed(r, data, size) == 0);
    ncclscope_reader_finish(r);
    while (ncclscope_reader_next(r, &rec, NULL) == NCCLSCOPE_OK) {
        ncclscope_text message = ncclscope_record_message(rec);
        put(&out, kind, (size_t)snprintf(kind, sizeof kind, "%d ", (int)ncclscope_record_kind(rec)));
        put(&out, message.ptr, message.len);
        PUT(&out, "\n");
    }
    ncclscope_reader_free(r);
    return out;
}

/* Plain lines of a log: what is JSON itself, or no text, means something else in quotes. */
static int is_plain(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((data[i] < 0x20 && data[i] != '\n') || data[i] > 0x7e || data[i] == '{' || data[i] == '"')
            return 0;
    return size > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text document = {0};
    PUT(&document, "{\"data\":{\"result\":[{\"stream\":{\"pod\":\"a\"},\"values\":[[\"1\",");
    put(&document, (const char *)data, size);
    PUT(&document, "]]}]}}\n");
    struct text all = records_of(document.bytes, document.len);
    free(document.bytes);
    free(all.bytes);
    if (!is_plain(data, size))
        return 0;
    struct text in[2], out[2];
    for (int how = DOCKER; how <= LIST; how++) {
        in[how] = wrapped((const char *)data, size, how);
        out[how] = records_of(in[how].bytes, in[how].len);
    }
    must(out[0].len == out[1].len && (!out[0].len || !memcmp(out[0].bytes, out[1].bytes, out[0].len)));
    for (int how = DOCKER; how <= LIST; how++) {
        free(in[how].bytes);
        free(out[how].bytes);
    }
    return 0;
}
