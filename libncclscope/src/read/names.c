/* names.c - fields and kinds by their names, as fields.def, messages.def and other.def have them. */
#include "read/grammar.h"

static const struct {
    ncclscope_field field;
    const char *name;
} fields[] = {
#define NCCLSCOPE_FIELD(number, NAME, name, type, unit, words) {NCCLSCOPE_FIELD_##NAME, name},
#include "ncclscope/fields.def"
#undef NCCLSCOPE_FIELD
};

ncclscope_field nsc_field_by_name(nsc_text name)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (nsc_text_is(name, fields[i].name))
            return fields[i].field;
    return NCCLSCOPE_FIELD_NONE;
}

const char *ncclscope_field_name(ncclscope_field field)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].field == field)
            return fields[i].name;
    return NULL;
}

const char *ncclscope_kind_name(ncclscope_kind kind)
{
    switch (kind) {
#define NCCLSCOPE_MSG(number, NAME, template_, example) \
    case NCCLSCOPE_KIND_##NAME: \
        return #NAME;
#define NCCLSCOPE_ALSO(NAME, template_, example)
#include "ncclscope/messages.def"
#undef NCCLSCOPE_MSG
#undef NCCLSCOPE_ALSO
    case NCCLSCOPE_KIND_UNKNOWN: return "UNKNOWN";
    case NCCLSCOPE_KIND_TEST_ROW: return "TEST_ROW";
    case NCCLSCOPE_KIND_TEST_NAME: return "TEST_NAME";
    case NCCLSCOPE_KIND_MATRIX_HEAD: return "MATRIX_HEAD";
    case NCCLSCOPE_KIND_MATRIX_ROW: return "MATRIX_ROW";
    case NCCLSCOPE_KIND_RECOGNISED: return "RECOGNISED";
    case NCCLSCOPE_KIND_TEST_JSON: return "TEST_JSON";
    case NCCLSCOPE_KIND_RAS_JSON: return "RAS_JSON";
#define NCCLSCOPE_OTHER(number, NAME, template_, example) \
    case NCCLSCOPE_KIND_##NAME: \
        return #NAME;
#include "ncclscope/other.def"
#undef NCCLSCOPE_OTHER
    }
    return NULL;
}
