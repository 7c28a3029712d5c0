/* check.h - a test binary in a few words over CUnit: CHECK(condition), CHECK_TEXT(text, "what it is"), a table. */
#ifndef CHECK_H
#define CHECK_H

#include "base/text.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) CU_ASSERT(condition)
#define CHECK_TEXT(is, should) check_text(is, should, __FILE__, __LINE__)
#define CHECK_INT(is, should) check_int((long long)(is), (long long)(should), #is, __FILE__, __LINE__)
#define CHECKS(...) \
    int main(void) \
    { \
        static const CU_TestInfo tests[] = {__VA_ARGS__, CU_TEST_INFO_NULL}; \
        return check_run(tests); \
    }
#define TEST(function) \
    { \
#function, function \
    }

static inline void check_failed(const char *file, int line, const char *words)
{
    CU_assertImplementation(CU_FALSE, (unsigned)line, words, file, "", CU_FALSE);
}

static inline void check_text(nsc_text is, const char *should, const char *file, int line)
{
    char words[600];
    CU_PASS("");
    if (nsc_text_is(is, should))
        return;
    snprintf(words, sizeof words, "text is '%.*s', should be '%s'", (int)(is.len < 250 ? is.len : 250),
             is.len ? is.ptr : "", should);
    check_failed(file, line, words);
}

static inline void check_int(long long is, long long should, const char *what, const char *file, int line)
{
    char words[300];
    CU_PASS("");
    if (is == should)
        return;
    snprintf(words, sizeof words, "%s is %lld, should be %lld", what, is, should);
    check_failed(file, line, words);
}

static inline int check_run(const CU_TestInfo *tests)
{
    unsigned failures = 1;
    CU_pSuite suite = CU_initialize_registry() == CUE_SUCCESS ? CU_add_suite("tests", NULL, NULL) : NULL;
    for (; suite && tests->pName; tests++)
        CU_add_test(suite, tests->pName, tests->pTestFunc);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    if (suite && CU_basic_run_tests() == CUE_SUCCESS)
        failures = CU_get_number_of_failures() + (CU_get_number_of_asserts() == 0);
    CU_cleanup_registry();
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
