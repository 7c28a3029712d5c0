/* neutral.c - printf, strtod, messages and order of names as in the C locale, whatever that of the process is. */
#include "base/neutral.h"

#include <dlfcn.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The calling thread alone goes to the C locale and back. glibc and musl hold that locale themselves: to ask for it takes no memory and
 * cannot fail. Where it did fail, 0, the thread stays where it is. */
static locale_t enter(void)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c ? uselocale(c) : (locale_t)0;
}

static void leave(locale_t before)
{
    if (before)
        freelocale(uselocale(before));
}

int nsc_vformat(char *out, size_t size, const char *format, va_list args)
{
    locale_t before = enter();
    int n = vsnprintf(out, size, format, args);
    leave(before);
    return n;
}

int nsc_format(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = nsc_vformat(out, size, format, args);
    va_end(args);
    return n;
}

double nsc_strtod(const char *text, char **end)
{
    locale_t before = enter();
    double v = strtod(text, end);
    leave(before);
    return v;
}

const char *nsc_strerror(int code)
{
    locale_t before = enter();
    const char *words = strerror(code);
    leave(before);
    return words;
}

const char *nsc_dlerror(void)
{
    locale_t before = enter();
    const char *words = dlerror();
    leave(before);
    return words ? words : "";
}

int nsc_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}
