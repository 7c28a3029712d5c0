/* document.c - jansson's documents, and what lies where in them. */
#include "base/document.h"

#include "base/alloc.h"

#include <string.h>

/* jansson calls a document whose text it lacked memory for malformed, and gives one up for a number that no integer holds: either is read
 * a second time, the latter with all its numbers as doubles. */
int nsc_document(json_t **out, const char *json, size_t len, json_error_t *why)
{
    *out = json_loadb(json, len, JSON_ALLOW_NUL, why);
    if (!*out)
        *out = json_loadb(
            json, len,
            JSON_ALLOW_NUL | (json_error_code(why) == json_error_numeric_overflow ? JSON_DECODE_INT_AS_REAL : 0), why);
    bool no_memory = !*out && (json_error_code(why) == json_error_out_of_memory || !why->text[0]);
    if (no_memory)
        nsc_note_no_memory();
    return *out ? NCCLSCOPE_OK : no_memory ? NCCLSCOPE_ENOMEM : NCCLSCOPE_EDATA;
}

bool nsc_int_of_json(const json_t *j, int64_t *out)
{
    static const double exact = 9007199254740992.0; /* 2^53: doubles hold each integer below it */
    double v = json_is_real(j) ? json_real_value(j) : 0.5;
    if (json_is_integer(j))
        *out = json_integer_value(j);
    else if (v > -exact && v < exact && v == (double)(int64_t)v)
        *out = (int64_t)v;
    else
        return false;
    return true;
}

const json_t *nsc_member_at(const json_t *j, const char *path)
{
    char key[40];
    while (j && *path) {
        size_t n = strcspn(path, ".");
        if (n >= sizeof key)
            return NULL;
        memcpy(key, path, n);
        key[n] = 0;
        j = json_object_get(j, key);
        path += n + (path[n] == '.');
    }
    return j;
}

nsc_text nsc_text_of_json(const json_t *j)
{
    return json_is_string(j) ? (nsc_text){json_string_value(j), json_string_length(j)} : (nsc_text){NULL, 0};
}
