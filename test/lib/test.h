/* What every unit test includes. Tests are named module.noun.behaviour and found by name:
 *
 *   static void rejects_batch_with_wrong_crc(void **state) { ... }
 *   TESTS("log.append", TEST(rejects_batch_with_wrong_crc), ...)
 *
 * WEIR_TEST_FILTER=log.append runs the tests whose full name holds these letters (make test T=log.append). */
#ifndef WEIR_TEST_LIB_TEST_H
#define WEIR_TEST_LIB_TEST_H

#include "base/buf.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define TEST(fn)                  \
    {                             \
#fn, fn, NULL, NULL, NULL \
    }
/* Between the file's set_up and tear_down; and before its tear_down alone. */
#define TEST_BED(fn)                     \
    {                                    \
#fn, fn, set_up, tear_down, NULL \
    }
#define TEST_TIDY(fn)                  \
    {                                  \
#fn, fn, NULL, tear_down, NULL \
    }
#define TESTS(prefix, ...)                                            \
    int main(void)                                                    \
    {                                                                 \
        struct CMUnitTest tests[] = {__VA_ARGS__};                    \
        return test_run(prefix, tests, sizeof tests / sizeof *tests); \
    }

int test_run(const char *prefix, struct CMUnitTest *tests, size_t test_count);

/* The call must succeed; prints the error's text otherwise. Needs `struct err err` in scope. */
#define MUST(call)                                                         \
    do {                                                                   \
        enum err_code must_code_ = (call);                                 \
        if (must_code_ != OK)                                              \
            fail_msg("%s: %s: %s", #call, err_name(must_code_), err.text); \
    } while (0)
/* The call must fail with this code. */
#define MUST_FAIL(want, call)                                                        \
    do {                                                                             \
        enum err_code must_code_ = (call);                                           \
        if (must_code_ != (want))                                                    \
            fail_msg("%s: %s, not %s", #call, err_name(must_code_), err_name(want)); \
    } while (0)

void assert_slice_equal(struct slice got, struct slice want);

/* The golden vectors, one JSON object a line, out of test/golden/NAME.jsonl. line lives for the call. */
typedef void test_line_fn(void *arg, struct slice line);
void test_each_line(const char *name, test_line_fn *fn, void *arg);

/* A new empty directory under the build folder's scratch space, removed at exit. */
const char *test_dir(void);
/* Both are in the text, in this order. */
bool test_comes_before(struct buf *text, const char *first, const char *second);

#endif
