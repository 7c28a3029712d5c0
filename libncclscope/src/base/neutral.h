/* neutral.h - what the C library does otherwise in another locale, done as in the C locale: a program that embeds the library may have
 * set any. Nothing else in src/ may call these functions of it; .ci/check-arrows.py looks. */
#ifndef NSC_NEUTRAL_H
#define NSC_NEUTRAL_H

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* snprintf and vsnprintf for what may hold a floating-point number: its point is a point. */
int nsc_format(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int nsc_vformat(char *out, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

/* strtod. */
double nsc_strtod(const char *text, char **end);

/* strerror and dlerror, in English; good until the next call in this thread. */
const char *nsc_strerror(int code);
const char *nsc_dlerror(void);

/* alphasort: names by their bytes. */
int nsc_by_name(const struct dirent **a, const struct dirent **b);

#endif
