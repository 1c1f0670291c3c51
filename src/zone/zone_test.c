#include "zone/zone_int.h"

#include "base/buf.h"
#include "base/civil.h"
#include "lib/test.h"

static struct err err;

static struct zone *zone(const char *id)
{
    struct zone *zone;
    MUST(zone_open(os_real(), slice_str(id), &zone, &err));
    return zone;
}

/* "2024-03-31 01:30:00" as seconds, whatever clock shows it. */
static int64_t seconds(const char *text)
{
    int64_t days;
    int32_t millis, nanos;
    assert_true(civil_parse_date(slice_of(text, 10), &days));
    assert_true(civil_parse_time(slice_str(text + 11), &millis, &nanos));
    return days * 86400 + millis / 1000;
}

static void a_clock_shows(void **state)
{
    static const struct {
        const char *id, *utc, *local;
    } rows[] = {
        {"UTC", "2024-07-01 12:00:00", "2024-07-01 12:00:00"},
        {"Europe/Berlin", "2024-03-31 00:59:59", "2024-03-31 01:59:59"},
        {"Europe/Berlin", "2024-03-31 01:00:00", "2024-03-31 03:00:00"},
        {"Europe/Berlin", "2024-10-27 00:59:59", "2024-10-27 02:59:59"},
        {"Europe/Berlin", "2024-10-27 01:00:00", "2024-10-27 02:00:00"},
        {"Europe/Berlin", "2090-07-01 12:00:00", "2090-07-01 14:00:00"}, /* behind the last transition */
        {"Europe/Berlin", "2090-12-31 23:30:00", "2091-01-01 00:30:00"},
        {"America/New_York", "2024-03-10 06:59:59", "2024-03-10 01:59:59"},
        {"America/New_York", "2024-03-10 07:00:00", "2024-03-10 03:00:00"},
        {"America/New_York", "2024-01-01 04:59:59", "2023-12-31 23:59:59"},
        {"Australia/Lord_Howe", "2024-04-06 14:59:59", "2024-04-07 01:59:59"}, /* half an hour */
        {"Australia/Lord_Howe", "2024-04-06 15:00:00", "2024-04-07 01:30:00"},
        {"Australia/Sydney", "2095-01-15 12:00:00", "2095-01-15 23:00:00"}, /* summer across the year's end */
        {"Asia/Kolkata", "2024-01-01 00:00:00", "2024-01-01 05:30:00"},
        {"Pacific/Apia", "2011-12-30 09:59:59", "2011-12-29 23:59:59"},
        {"Pacific/Apia", "2011-12-30 10:00:00", "2011-12-31 00:00:00"}, /* a day that never was */
        {"Africa/Casablanca", "2024-03-09 12:00:00", "2024-03-09 13:00:00"},
        {"Africa/Casablanca", "2024-03-12 12:00:00", "2024-03-12 12:00:00"}, /* Ramadan */
        {"America/Sao_Paulo", "1970-01-01 12:00:00", "1970-01-01 09:00:00"},
        {"GMT+8", "2024-01-01 20:00:00", "2024-01-02 04:00:00"},
        {"GMT-0530", "2024-01-01 00:00:00", "2023-12-31 18:30:00"},
        {"GMT+05:45", "2024-01-01 00:00:00", "2024-01-01 05:45:00"},
        {"GMT+530", "2024-01-01 00:00:00", "2024-01-01 05:30:00"},
        {"PST", "2024-07-01 12:00:00", "2024-07-01 05:00:00"},
        {"CTT", "2024-07-01 12:00:00", "2024-07-01 20:00:00"},
        {"Etc/GMT+8", "2024-07-01 12:00:00", "2024-07-01 04:00:00"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct zone *z = zone(rows[i].id);
        if (zone_local_s(z, seconds(rows[i].utc)) != seconds(rows[i].local))
            fail_msg("%s %s: offset %d", rows[i].id, rows[i].utc, zone_offset_s(z, seconds(rows[i].utc)));
        zone_close(z);
    }
}

static void times_that_clocks_skip_move_on(void **state)
{
    static const struct {
        const char *id, *local, *want;
    } rows[] = {
        {"Europe/Berlin", "2024-03-31 01:59:59", "2024-03-31 01:59:59"},
        {"Europe/Berlin", "2024-03-31 02:00:00", "2024-03-31 03:00:00"},
        {"Europe/Berlin", "2024-03-31 02:59:59", "2024-03-31 03:59:59"},
        {"Europe/Berlin", "2024-03-31 03:00:00", "2024-03-31 03:00:00"},
        {"Europe/Berlin", "2024-10-27 02:30:00", "2024-10-27 02:30:00"}, /* twice there */
        {"Pacific/Apia", "2011-12-30 10:00:00", "2011-12-31 10:00:00"},
        {"Pacific/Apia", "2011-12-30 23:59:59", "2011-12-31 23:59:59"},
        {"Pacific/Apia", "2011-12-31 00:00:00", "2011-12-31 00:00:00"},
        {"America/Sao_Paulo", "2018-11-04 00:30:00", "2018-11-04 01:30:00"}, /* no midnight */
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct zone *z = zone(rows[i].id);
        int64_t got = zone_resolve_local_s(z, seconds(rows[i].local));
        if (got != seconds(rows[i].want))
            fail_msg("%s %s: %lld off", rows[i].id, rows[i].local, (long long)(got - seconds(rows[i].want)));
        zone_close(z);
    }
}

static void what_is_no_zone_is_refused(void **state)
{
    static const char *const ids[] = {"",          "Mars/Olympus", "europe/berlin",  "Europe",       "+08:00",
                                      "UTC+8",     "GMT+24",       "GMT+8:60",       "GMT+",         "GMT+1:2",
                                      "GMT+12345", "../zoneinfo",  "/etc/localtime", "Europe//Rome", "right/UTC",
                                      "zone.tab",  "Europe/",      "GMT+:30"};
    struct zone *z;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        if (zone_open(os_real(), slice_str(ids[i]), &z, &err) != ERR_INVALID_ARGUMENT)
            fail_msg("'%s' was taken for a zone", ids[i]);
}

static void files_that_are_cut_off_are_refused(void **state)
{
    struct buf bytes = {0};
    struct zone *z;
    (void)state;
    MUST(os_read_whole(os_real(), ZONE_DIR "/Europe/Berlin", ZONE_BYTES_MAX, &bytes, &err));
    for (size_t len = 0; len < bytes.len; len++)
        MUST_FAIL(ERR_CORRUPT, zone_parse(slice_of(bytes.ptr, len), &z, &err));
    MUST(zone_parse(buf_view(&bytes), &z, &err));
    zone_close(z);
    buf_deinit(&bytes);
}

static void rules_have_one_form(void **state)
{
    static const struct {
        const char *text;
        bool right;
    } rows[] = {
        {"UTC0", true},
        {"<+0330>-3:30", true},
        {"CET-1CEST,M3.5.0,M10.5.0/3", true},
        {"XXX3YYY2,0/0,J365/23", true},
        {"<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", true},
        {"IST-1GMT0,M10.5.0,M3.5.0/1", true}, /* summer as the standard */
        {"CET", false},
        {"CE-1", false},
        {"CET-1CEST", false},
        {"CET-1CEST,M3.5.0", false},
        {"CET-1CEST,M13.5.0,M10.5.0", false},
        {"CET-1CEST,M3.6.0,M10.5.0", false},
        {"CET-1CEST,M3.5.7,M10.5.0", false},
        {"CET-1CEST,J0,J365", false},
        {"CET-1CEST,0,366", false},
        {"CET-1CEST,M3.5.0/168,M10.5.0", false},
        {"CET-1CEST,M3.5.0,M10.5.0 ", false},
        {"<+03-3", false},
    };
    struct zone_rule rule;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (zone_rule_parse(slice_str(rows[i].text), &rule) != rows[i].right)
            fail_msg("%s", rows[i].text);
}

/* The 29th of February does not shift the days of "J". */
static void days_of_a_rule_are_counted(void **state)
{
    struct zone_rule rule;
    (void)state;
    assert_true(zone_rule_parse(SLICE("AAA0BBB,J60/0,60/0"), &rule));
    assert_int_equal(zone_rule_offset_s(&rule, seconds("2024-03-01 00:00:00") - 1), 0);
    assert_int_equal(zone_rule_offset_s(&rule, seconds("2023-03-01 00:00:00")), 3600);
    assert_int_equal(zone_rule_offset_s(&rule, seconds("2023-03-01 22:59:59")), 3600);
    assert_int_equal(zone_rule_offset_s(&rule, seconds("2023-03-01 23:00:00")), 0);
}

TESTS("zone", TEST(a_clock_shows), TEST(times_that_clocks_skip_move_on), TEST(what_is_no_zone_is_refused),
      TEST(files_that_are_cut_off_are_refused), TEST(rules_have_one_form), TEST(days_of_a_rule_are_counted))
