/* Numbers and dates as text. */
#include "base/civil.h"
#include "base/number.h"
#include "lib/test.h"

static struct buf out;

static void printed(const char *want)
{
    assert_string_equal(buf_cstr(&out), want);
    buf_reset(&out);
}

static void doubles_are_printed_short_and_read_back(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
        const char *java;
    } cases[] = {
        {0.0, "0.0", "0.0"},
        {-0.0, "-0.0", "-0.0"},
        {1.0, "1.0", "1.0"},
        {0.1, "0.1", "0.1"},
        {-123.456, "-123.456", "-123.456"},
        {1e7, "10000000.0", "1.0E7"},
        {9999999.0, "9999999.0", "9999999.0"},
        {0.001, "0.001", "0.001"},
        {0.0001, "0.0001", "1.0E-4"},
        {0.00001, "1e-05", "1.0E-5"},
        {1e15, "1000000000000000.0", "1.0E15"},
        {1e16, "1e+16", "1.0E16"},
        {1.5e300, "1.5e+300", "1.5E300"},
        {3.141592653589793, "3.141592653589793", "3.141592653589793"},
        {0.30000000000000004, "0.30000000000000004", "0.30000000000000004"},
        {4.9e-324, "5e-324", "4.9E-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308", "2.2250738585072014E-308"},
        {1.7976931348623157e308, "1.7976931348623157e+308", "1.7976931348623157E308"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        double back;
        number_put_double(&out, cases[i].value);
        assert_true(number_to_double(buf_view(&out), &back) && memcmp(&back, &cases[i].value, 8) == 0);
        printed(cases[i].text);
        number_put_java_double(&out, cases[i].value);
        assert_true(number_to_double(buf_view(&out), &back) && memcmp(&back, &cases[i].value, 8) == 0);
        printed(cases[i].java);
    }
    number_put_float(&out, 0.1f);
    printed("0.1");
    number_put_float(&out, 16777216.0f);
    printed("16777216.0");
    number_put_java_float(&out, 1.4e-45f);
    printed("1.4E-45");
    number_put_java_float(&out, 3.4028235e38f);
    printed("3.4028235E38");
    number_put_java_double(&out, -(double)__builtin_inff());
    printed("-Infinity");
    double value;
    static const char *const wrong[] = {"", "x", "0x1p3", "1e999", "1.5 ", "inf", "nan", "--1", "1e"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(number_to_double(slice_str(wrong[i]), &value));
}

static void random_doubles_read_back(void **state)
{
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        double value, back;
        float single, single_back;
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        uint32_t half = (uint32_t)bits;
        memcpy(&value, &bits, 8);
        memcpy(&single, &half, 4);
        if (value - value != 0 || single - single != 0)
            continue;
        number_put_double(&out, value);
        assert_true(number_to_double(buf_view(&out), &back) && memcmp(&back, &value, 8) == 0);
        buf_reset(&out);
        number_put_float(&out, single);
        assert_true(number_to_float(buf_view(&out), &single_back) && memcmp(&single_back, &single, 4) == 0);
        buf_reset(&out);
    }
    buf_deinit(&out);
}

static void decimals_go_both_ways_and_are_never_rounded(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int precision, scale;
        const char *printed; /* NULL: refused */
    } cases[] = {
        {"0", 5, 2, "0.00"},
        {"-0.01", 5, 2, "-0.01"},
        {"123.45", 5, 2, "123.45"},
        {"1000", 5, 2, NULL},
        {"1.005", 5, 2, NULL},
        {"1.0500", 5, 2, "1.05"},
        {"+7", 1, 0, "7"},
        {"1.5e2", 5, 0, "150"},
        {"150e-2", 5, 2, "1.50"},
        {"1e-3", 5, 2, NULL},
        {"0e9999", 5, 2, "0.00"},
        {"1e9999", 5, 2, NULL},
        {"0.00000", 1, 0, "0"},
        {".5", 5, 2, "0.50"},
        {"5.", 5, 2, "5.00"},
        {"", 5, 2, NULL},
        {".", 5, 2, NULL},
        {"1x", 5, 2, NULL},
        {"1e", 5, 2, NULL},
        {"99999999999999999999999999999999999999", 38, 0, "99999999999999999999999999999999999999"},
        {"-9.9999999999999999999999999999999999999", 38, 37, "-9.9999999999999999999999999999999999999"},
        {"100000000000000000000000000000000000000", 38, 0, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        __int128 value = 0;
        bool taken = number_to_decimal(slice_str(cases[i].text), cases[i].precision, cases[i].scale, &value);
        assert_int_equal(taken, cases[i].printed != NULL);
        if (taken) {
            number_put_decimal(&out, value, cases[i].scale);
            printed(cases[i].printed);
        }
    }
    buf_deinit(&out);
}

static void dates_go_both_ways(void **state)
{
    (void)state;
    static const struct {
        int64_t days;
        const char *text;
    } cases[] = {
        {0, "1970-01-01"},
        {-1, "1969-12-31"},
        {19782, "2024-02-29"},
        {-719162, "0001-01-01"},
        {-719528, "0000-01-01"},
        {-719529, "-0001-12-31"},
        {2932896, "9999-12-31"},
        {2932897, "+10000-01-01"},
        {INT32_MAX, "+5881580-07-11"},
        {INT32_MIN, "-5877641-06-23"},
        {11016, "2000-02-29"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t days = 1;
        civil_put_date(&out, cases[i].days);
        assert_true(civil_parse_date(buf_view(&out), &days));
        assert_int_equal(days, cases[i].days);
        printed(cases[i].text);
    }
    for (int64_t days = -1000000; days < 1000000; days += 7)
        assert_int_equal(civil_to_days(civil_of_days(days)), days);
    int64_t days;
    static const char *const wrong[] = {"",           "2024-02-30",  "2023-02-29",  "1900-02-29",
                                        "2024-13-01", "2024-00-01",  "2024-01-00",  "24-01-01",
                                        "2024-1-1",   "2024-01-01 ", "--2024-01-01"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(civil_parse_date(slice_str(wrong[i]), &days));
    buf_deinit(&out);
}

static void times_go_both_ways(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t millis, nanos;
        const char *printed;
    } cases[] = {
        {"00:00", 0, 0, "00:00:00"},
        {"12:34:56", 45296000, 0, "12:34:56"},
        {"12:34:56.7", 45296700, 0, "12:34:56.700"},
        {"23:59:59.000001", 86399000, 1000, "23:59:59.000001"},
        {"23:59:59.999999999", 86399999, 999999, "23:59:59.999999999"},
    };
    int32_t millis, nanos;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(civil_parse_time(slice_str(cases[i].text), &millis, &nanos));
        assert_int_equal(millis, cases[i].millis);
        assert_int_equal(nanos, cases[i].nanos);
        civil_put_time(&out, millis, nanos);
        printed(cases[i].printed);
    }
    static const char *const wrong[] = {
        "", "24:00", "12:60", "12:34:60", "12:34:56.", "12:34:5", "12:34:56.0000000001"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(civil_parse_time(slice_str(wrong[i]), &millis, &nanos));
    assert_int_equal(civil_day_of_millis(-1, &millis), -1);
    assert_int_equal(millis, CIVIL_DAY_MS - 1);
    buf_deinit(&out);
}

static void distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(slice_distance(SLICE(""), SLICE("")), 0);
    assert_int_equal(slice_distance(SLICE("kitten"), SLICE("sitting")), 3);
    assert_int_equal(slice_distance(SLICE("abc"), SLICE("")), 3);
    char longest[SLICE_DISTANCE_MAX + 1] = {0};
    assert_int_equal(slice_distance(slice_of(longest, sizeof longest), SLICE("x")), SLICE_DISTANCE_MAX + 1);
}

/* As java.nio decodes: one U+FFFD for each longest beginning of a sequence. */
static void text_that_is_not_utf8_is_replaced(void **state)
{
    (void)state;
    static const struct {
        struct slice in, want;
        bool good;
    } cases[] = {
        {SLICE(""), SLICE(""), true},
        {SLICE("a text of more than sixteen bytes"), SLICE("a text of more than sixteen bytes"), true},
        {SLICE("eight by\xc3\xa9"), SLICE("eight by\xc3\xa9"), true},
        {SLICE("\xf0\x9f\x98\x80"), SLICE("\xf0\x9f\x98\x80"), true},
        {SLICE("eight by\xff"), SLICE("eight by\xef\xbf\xbd"), false},
        {SLICE("\xc3"), SLICE("\xef\xbf\xbd"), false},
        {SLICE("\xc0\xaf"), SLICE("\xef\xbf\xbd\xef\xbf\xbd"), false},           /* overlong */
        {SLICE("\xed\xa0\x80!"), SLICE("\xef\xbf\xbd!"), false},                 /* a surrogate */
        {SLICE("\xe2\x82z\xf0\x9f"), SLICE("\xef\xbf\xbdz\xef\xbf\xbd"), false}, /* cut off */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf text = {0};
        buf_put_text(&text, cases[i].in);
        assert_slice_equal(buf_view(&text), cases[i].want);
        assert_int_equal(slice_is_utf8(cases[i].in), cases[i].good);
        assert_true(slice_is_utf8(buf_view(&text)));
        assert_int_equal(slice_is_ascii(cases[i].in), i < 2);
        buf_deinit(&text);
    }
}

TESTS("base.text", TEST(text_that_is_not_utf8_is_replaced), TEST(distance_counts_edits),
      TEST(doubles_are_printed_short_and_read_back), TEST(random_doubles_read_back),
      TEST(decimals_go_both_ways_and_are_never_rounded), TEST(dates_go_both_ways), TEST(times_go_both_ways))
