#include "trace/trace.h"

#include "base/buf.h"
#include "lib/clock.h"
#include "lib/test.h"

static void keep(void *arg, struct slice line)
{
    buf_put_slice(arg, line);
}

struct bench {
    struct buf out;
    struct trace trace;
};

static void bench_init(struct bench *b, enum trace_level level)
{
    *b = (struct bench){0};
    test_clock_set(5000000000, 0);
    trace_init(&b->trace, test_clock_os(), level);
    trace_to(&b->trace, keep, &b->out);
}

static void assert_out(struct bench *b, const char *want)
{
    assert_slice_equal(buf_view(&b->out), slice_str(want));
    buf_reset(&b->out);
}

static void a_line_holds_level_module_event_time_and_values(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, TRACE_INFO);
    test_clock_set(0, 1795979507123);
    trace_info(&b.trace, "log", "opened", trace_str("table", "fluss.orders"), trace_i64("offset", -5),
               trace_u64("bytes", UINT64_MAX));
    assert_out(&b, "info log opened at=2026-11-29T19:11:47.123Z table=fluss.orders offset=-5 "
                   "bytes=18446744073709551615\n");
    test_clock_set(0, 951782400000);
    trace_error(&b.trace, "log", "x");
    assert_out(&b, "error log x at=2000-02-29T00:00:00.000Z\n");
    test_clock_set(0, 0);
    trace_error(&b.trace, "log", "x");
    assert_out(&b, "error log x at=1970-01-01T00:00:00.000Z\n");
    buf_deinit(&b.out);
}

#define START "warn a b at=1970-01-01T00:00:00.000Z"

static void values_are_quoted_where_they_must(void **state)
{
    (void)state;
    static const struct {
        struct slice value;
        const char *want;
    } cases[] = {
        {{(const uint8_t *)"plain-1.5:/x", 12}, START " v=plain-1.5:/x\n"},
        {{(const uint8_t *)"", 0}, START " v=\"\"\n"},
        {{(const uint8_t *)"a b", 3}, START " v=\"a b\"\n"},
        {{(const uint8_t *)"a=\"\\", 4}, START " v=\"a=\\\"\\\\\"\n"},
        {{(const uint8_t *)"\n\r\t\0\x7f", 5}, START " v=\"\\n\\r\\t\\x00\\x7f\"\n"},
        {{(const uint8_t *)"\xc3\xa9", 2}, START " v=\"\xc3\xa9\"\n"},
        {{(const uint8_t *)"\xc3", 1}, START " v=\"\\xc3\"\n"},
    };
    struct bench b;
    bench_init(&b, TRACE_INFO);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        trace_warn(&b.trace, "a", "b", trace_slice("v", cases[i].value));
        assert_out(&b, cases[i].want);
    }
    buf_deinit(&b.out);
}

static void long_values_and_lines_are_cut(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, TRACE_INFO);
    static char text[1001];
    for (size_t i = 0; i < 1000; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    text[0] = 'x'; /* so that the cut would fall inside a character */
    text[1] = 'y';
    memmove(text + 1, text, 999);
    trace_warn(&b.trace, "a", "b", trace_str("v", text));
    assert_true(slice_is_utf8(buf_view(&b.out)));
    assert_true(slice_ends_with(buf_view(&b.out), SLICE("...\"\n")));
    assert_true(b.out.len < TRACE_VALUE_MAX + 100);
    buf_reset(&b.out);
    struct trace_field fields[20];
    for (size_t i = 0; i < 19; i++)
        fields[i] = trace_str("v", text);
    fields[18] = trace_str("last", "short");
    fields[19] = (struct trace_field){0};
    trace_emit(&b.trace, TRACE_WARN, false, "a", "b", fields);
    assert_true(b.out.len <= TRACE_LINE_MAX);
    assert_true(slice_ends_with(buf_view(&b.out), SLICE("last=short\n")));
    buf_deinit(&b.out);
}

static void lines_above_the_level_are_not_made(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, TRACE_WARN);
    int evaluated = 0;
    trace_info(&b.trace, "a", "b", trace_i64("v", ++evaluated));
    trace_debug(NULL, "a", "b", trace_i64("v", ++evaluated));
    assert_int_equal(evaluated, 0);
    assert_int_equal(b.out.len, 0);
    trace_warn(&b.trace, "a", "b", trace_i64("v", ++evaluated));
    assert_out(&b, START " v=1\n");
    enum trace_level level;
    assert_true(trace_level_parse(SLICE("DEBUG"), &level) && level == TRACE_DEBUG);
    assert_false(trace_level_parse(SLICE("loud"), &level));
    assert_string_equal(trace_level_name(TRACE_ERROR), "error");
    buf_deinit(&b.out);
}

static void an_error_is_told_with_what_to_do(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, TRACE_DEBUG);
    struct err err = {.code = ERR_LOCKED, .where = "x.c:1", .text = "it is held"}, none = {0};
    trace_warn(&b.trace, "a", "b", trace_err(&err));
    assert_out(&b, START " code=E-LOCKED what=\"it is held\" do=\"stop it, or choose another directory with "
                         "--data-dir\"\n");
    trace_debug(&b.trace, "a", "b", trace_err(&err), trace_err(&none));
    assert_out(&b, "debug a b at=1970-01-01T00:00:00.000Z code=E-LOCKED what=\"it is held\" where=x.c:1\n");
    buf_deinit(&b.out);
}

static void a_limited_event_is_told_once_a_second_with_what_was_left_out(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, TRACE_INFO);
    for (int i = 0; i < 10; i++)
        trace_warn_limited(&b.trace, "a", "b");
    trace_warn_limited(&b.trace, "a", "other");
    assert_out(&b, START "\nwarn a other at=1970-01-01T00:00:00.000Z\n");
    test_clock_pass(999999999);
    trace_warn_limited(&b.trace, "a", "b");
    assert_out(&b, "");
    test_clock_pass(1);
    trace_warn_limited(&b.trace, "a", "b");
    assert_out(&b, START " left_out=10\n");
    test_clock_pass(1000000000);
    trace_warn_limited(&b.trace, "a", "b");
    assert_out(&b, START "\n");
    buf_deinit(&b.out);
}

static void more_limited_events_than_sites_share_a_limit(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, TRACE_INFO);
    static char events[TRACE_SITES_MAX + 10][4];
    const struct trace_field none = {0};
    size_t lines = 0;
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        memcpy(events[i], "b", 2);
        trace_emit(&b.trace, TRACE_WARN, true, "a", events[i], &none);
        lines += b.out.len > 0;
        buf_reset(&b.out);
    }
    assert_int_equal(lines, TRACE_SITES_MAX);
    buf_deinit(&b.out);
}

TESTS("trace", TEST(a_line_holds_level_module_event_time_and_values), TEST(values_are_quoted_where_they_must),
      TEST(long_values_and_lines_are_cut), TEST(lines_above_the_level_are_not_made),
      TEST(an_error_is_told_with_what_to_do), TEST(a_limited_event_is_told_once_a_second_with_what_was_left_out),
      TEST(more_limited_events_than_sites_share_a_limit))
