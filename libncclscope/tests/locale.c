/* locale.c - linked into a program, it gives it the locale TEST_LOCALE before main, as a program that embeds the library may have any. A name
 * that the C library does not know would be the C locale without a word: the program ends. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void go(void)
{
    const char *wanted = getenv("TEST_LOCALE");
    if (!wanted || (setlocale(LC_ALL, wanted) && *localeconv()->decimal_point == ','))
        return;
    fprintf(stderr, "the test cannot have the locale %s, or it has no decimal comma\n", wanted);
    abort();
}
