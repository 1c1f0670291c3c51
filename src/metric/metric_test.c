#include "metric/metric.h"

#include "lib/clock.h"
#include "lib/test.h"

static struct err err;

static void assert_printed(struct metrics *metrics, const char *want)
{
    struct buf out = {0};
    metrics_print(metrics, &out);
    assert_slice_equal(buf_view(&out), slice_str(want));
    buf_deinit(&out);
}

static void families_are_printed_once_with_their_series_in_order(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_create(os_real());
    struct metric *b = metrics_take(metrics, METRIC_LAKE_LAG, METRIC_LABELS(SLICE("d"), SLICE("b")));
    struct metric *a = metrics_take(metrics, METRIC_LAKE_LAG, METRIC_LABELS(SLICE("d"), SLICE("a\"\\\n")));
    struct metric *in = metrics_take(metrics, METRIC_BYTES_IN, METRIC_NO_LABELS);
    metric_set(a, -5);
    metric_set(b, 7);
    metric_add(b, -2);
    metric_add(in, INT64_C(1) << 40);
    assert_printed(metrics, "# HELP fluss_coordinator_lakeTiering_table_tierLag milliseconds since the oldest change "
                            "that the lake does not have; 0: it has all\n"
                            "# TYPE fluss_coordinator_lakeTiering_table_tierLag gauge\n"
                            "fluss_coordinator_lakeTiering_table_tierLag{database=\"d\",table=\"a\\\"\\\\\\n\"} -5\n"
                            "fluss_coordinator_lakeTiering_table_tierLag{database=\"d\",table=\"b\"} 5\n"
                            "# HELP weir_network_in_bytes_total bytes received from clients\n"
                            "# TYPE weir_network_in_bytes_total counter\n"
                            "weir_network_in_bytes_total 1099511627776\n");
    metrics_release(metrics, a);
    metrics_release(metrics, b);
    metrics_release(metrics, in);
    assert_printed(metrics, "");
    metrics_destroy(metrics);
}

static void a_series_lives_until_its_last_release(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_create(os_real());
    struct metric *one = metrics_take(metrics, METRIC_TABLES, METRIC_NO_LABELS);
    struct metric *two = metrics_take(metrics, METRIC_TABLES, METRIC_NO_LABELS);
    assert_ptr_equal(one, two);
    metric_set(one, 3);
    metrics_release(metrics, one);
    assert_int_equal(metric_value(two), 3);
    metrics_release(metrics, two);
    two = metrics_take(metrics, METRIC_TABLES, METRIC_NO_LABELS);
    assert_int_equal(metric_value(two), 0);
    metrics_release(metrics, two);
    metrics_destroy(metrics);
}

static void without_a_registry_nothing_is_counted(void **state)
{
    (void)state;
    struct metric *none = metrics_take(NULL, METRIC_TABLES, METRIC_NO_LABELS);
    assert_null(none);
    metric_add(none, 1);
    metric_set(none, 1);
    metric_observe(none, 1);
    assert_int_equal(metric_value(none), 0);
    assert_int_equal(metric_quantile(none, .5), 0);
    metrics_release(NULL, none);
    metrics_destroy(NULL);
}

#define RATE_HEAD                                                             \
    "# HELP fluss_tabletserver_request_requestsPerSecond requests a second\n" \
    "# TYPE fluss_tabletserver_request_requestsPerSecond gauge\n"             \
    "fluss_tabletserver_request_requestsPerSecond{request=\"lookup\"} "

static void a_rate_looks_back_over_a_minute(void **state)
{
    (void)state;
    test_clock_set(1000000000000, 0);
    struct metrics *metrics = metrics_create(test_clock_os());
    struct metric *rate = metrics_take(metrics, METRIC_REQUESTS, METRIC_LABELS(SLICE("lookup")));
    metric_add(rate, 5);
    assert_printed(metrics, RATE_HEAD "5.000\n"); /* the first second counts as whole */
    for (int second = 0; second < 10; second++) {
        test_clock_pass(1000000000);
        metrics_tick(metrics);
    }
    assert_printed(metrics, RATE_HEAD "0.500\n");
    for (int second = 0; second < 120; second++) {
        metric_add(rate, 100);
        test_clock_pass(1000000000);
        metrics_tick(metrics);
    }
    assert_printed(metrics, RATE_HEAD "100.000\n");
    for (int second = 0; second < 120; second++) {
        test_clock_pass(1000000000);
        metrics_tick(metrics);
    }
    assert_printed(metrics, RATE_HEAD "0.000\n");
    metrics_release(metrics, rate);
    metrics_destroy(metrics);
}

static void a_distribution_gives_quantiles_within_an_eighth(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_create(os_real());
    struct metric *time = metrics_take(metrics, METRIC_LOG_FLUSH_TIME, METRIC_NO_LABELS);
    assert_int_equal(metric_quantile(time, .5), 0);
    for (int64_t i = 1; i <= 100000; i++)
        metric_observe(time, i);
    assert_int_equal(metric_observations(time), 100000);
    static const double shares[] = {.0001, .01, .5, .9, .999, 1};
    for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
        double exact = shares[i] * 100000, got = (double)metric_quantile(time, shares[i]);
        assert_true(got >= exact && got <= exact * 1.125 + 1);
    }
    metrics_release(metrics, time);
    metrics_destroy(metrics);
}

static void values_at_the_ends_have_a_slot(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_create(os_real());
    struct metric *time = metrics_take(metrics, METRIC_LOG_FLUSH_TIME, METRIC_NO_LABELS);
    metric_observe(time, -1);
    assert_int_equal(metric_quantile(time, 1), 0);
    for (int64_t v = 0; v < 16; v++)
        metric_observe(time, v);
    assert_int_equal(metric_quantile(time, 1), 15);
    metric_observe(time, INT64_MAX / 2);
    assert_true(metric_quantile(time, 1) == (INT64_C(1) << 36) - 1);
    struct buf out = {0};
    metrics_print(metrics, &out);
    assert_non_null(strstr(buf_cstr(&out), "# TYPE weir_log_flush_microseconds summary\n"));
    assert_non_null(strstr(buf_cstr(&out), "weir_log_flush_microseconds{quantile=\"0.5\"} 7\n"));
    assert_non_null(strstr(buf_cstr(&out), "weir_log_flush_microseconds_count 18\n"));
    buf_deinit(&out);
    metrics_release(metrics, time);
    metrics_destroy(metrics);
}

static void times_are_observed_in_microseconds_and_printed_in_milliseconds(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_create(os_real());
    struct metric *time = metrics_take(metrics, METRIC_REQUEST_TIME, METRIC_LABELS(SLICE("lookup")));
    struct buf out = {0};
    metric_observe(time, 7);
    metric_observe(time, 1493);
    metrics_print(metrics, &out);
    assert_non_null(strstr(buf_cstr(&out), "totalTimeMs{request=\"lookup\",quantile=\"0.5\"} 0.007\n"));
    assert_non_null(strstr(buf_cstr(&out), "totalTimeMs_sum{request=\"lookup\"} 1.500\n"));
    assert_non_null(strstr(buf_cstr(&out), "totalTimeMs_count{request=\"lookup\"} 2\n"));
    buf_deinit(&out);
    metrics_release(metrics, time);
    metrics_destroy(metrics);
}

static void set_one(void *arg)
{
    metric_set(*(struct metric **)arg, 41);
}

static void gauges_are_refreshed_before_printing(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_create(os_real());
    struct metric *gauge = metrics_take(metrics, METRIC_TABLES, METRIC_NO_LABELS);
    metrics_on_print(metrics, set_one, &gauge);
    assert_printed(metrics, "# HELP fluss_coordinator_tableCount tables\n# TYPE fluss_coordinator_tableCount gauge\n"
                            "fluss_coordinator_tableCount 41\n");
    metrics_release(metrics, gauge);
    metrics_destroy(metrics);
}

static void a_series_beyond_the_limit_is_counted_nowhere(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_create(os_real());
    static struct metric *taken[METRIC_SERIES_MAX];
    char name[16];
    for (int i = 0; i < METRIC_SERIES_MAX; i++) {
        snprintf(name, sizeof name, "t%06d", i);
        taken[i] = metrics_take(metrics, METRIC_LAKE_LAG, METRIC_LABELS(SLICE("d"), slice_str(name)));
        assert_non_null(taken[i]);
    }
    assert_null(metrics_take(metrics, METRIC_LAKE_LAG, METRIC_LABELS(SLICE("d"), SLICE("one more"))));
    assert_ptr_equal(metrics_take(metrics, METRIC_LAKE_LAG, METRIC_LABELS(SLICE("d"), SLICE("t000007"))), taken[7]);
    metrics_release(metrics, taken[7]);
    for (int i = METRIC_SERIES_MAX - 1; i >= 0; i--)
        metrics_release(metrics, taken[i]);
    metrics_destroy(metrics);
}

static void add_many(void *arg)
{
    struct metrics *metrics = arg;
    for (int i = 0; i < 1000; i++) {
        struct metric *in = metrics_take(metrics, METRIC_BYTES_IN, METRIC_NO_LABELS);
        metric_add(in, 1);
        metrics_release(metrics, in);
    }
}

static void threads_add_together(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_create(os_real());
    struct metric *in = metrics_take(metrics, METRIC_BYTES_IN, METRIC_NO_LABELS);
    struct os_thread *threads[3];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        MUST(os_thread_start(os_real(), "adder", add_many, metrics, &threads[i], &err));
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        os_thread_join(threads[i]);
    assert_int_equal(metric_value(in), 3000);
    metrics_release(metrics, in);
    metrics_destroy(metrics);
}

TESTS("metric", TEST(families_are_printed_once_with_their_series_in_order), TEST(a_series_lives_until_its_last_release),
      TEST(without_a_registry_nothing_is_counted), TEST(a_rate_looks_back_over_a_minute),
      TEST(a_distribution_gives_quantiles_within_an_eighth), TEST(values_at_the_ends_have_a_slot),
      TEST(times_are_observed_in_microseconds_and_printed_in_milliseconds), TEST(gauges_are_refreshed_before_printing),
      TEST(a_series_beyond_the_limit_is_counted_nowhere), TEST(threads_add_together))
