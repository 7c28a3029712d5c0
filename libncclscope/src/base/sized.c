/* sized.c - one rule for all structs with a size. */
#include "base/sized.h"

#include <string.h>

static bool is_tail_zero(const void *given, size_t size, size_t own_size)
{
    const unsigned char *bytes = given;
    for (size_t i = own_size; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

bool nsc_take_sized(void *own, size_t own_size, const void *given, size_t size)
{
    if (!size || !is_tail_zero(given, size, own_size))
        return false;
    memcpy(own, given, size < own_size ? size : own_size);
    return true;
}

bool nsc_give_sized(void *given, size_t size, const void *own, size_t own_size)
{
    if (!size || !is_tail_zero(given, size, own_size))
        return false;
    memcpy(given, own, size < own_size ? size : own_size);
    return true;
}
