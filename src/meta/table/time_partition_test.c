#include "base/civil.h"
#include "lib/test.h"
#include "meta/table/table.h"

static struct arena arena;
static struct err err;

#define ON "\"table.auto-partition.enabled\":\"true\""
#define SET(key, value) ",\"table.auto-partition." key "\":\"" value "\""

/* A log table of s STRING, i INT, d DATE, t TIMESTAMP(6), b BOOLEAN with these partition keys. */
static struct table_descriptor descriptor(const char *keys, const char *properties)
{
    struct table_descriptor table;
    struct table_cluster cluster = table_cluster_default();
    struct slice json = arena_printf(
        &arena,
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"s\",\"data_type\":{\"type\":\"STRING\"},"
        "\"id\":0},{\"name\":\"i\",\"data_type\":{\"type\":\"INTEGER\"},\"id\":1},{\"name\":\"d\",\"data_type\":{"
        "\"type\":\"DATE\"},\"id\":2},{\"name\":\"t\",\"data_type\":{\"type\":\"TIMESTAMP_WITHOUT_TIME_ZONE\","
        "\"precision\":6},\"id\":3},{\"name\":\"b\",\"data_type\":{\"type\":\"BOOLEAN\"},\"id\":4}],"
        "\"highest_field_id\":4},\"partition_key\":[%s],\"bucket_key\":[],\"bucket_count\":1,\"properties\":{%s},"
        "\"custom_properties\":{}}",
        keys, properties);
    MUST(table_descriptor_from_json(&arena, json, &table, &err));
    MUST(table_descriptor_normalize(&arena, &table, &err));
    table_defaults_apply(&arena, &cluster, &table);
    return table;
}

static int64_t seconds(const char *text)
{
    int64_t days;
    int32_t millis, nanos;
    assert_true(civil_parse_date(slice_of(text, 10), &days));
    assert_true(civil_parse_time(slice_str(text + 11), &millis, &nanos));
    return days * 86400 + millis / 1000;
}

static struct zone *zone(const char *id)
{
    struct zone *zone;
    MUST(zone_open(os_real(), slice_str(id), &zone, &err));
    return zone;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static void names_are_those_of_java(void **state)
{
    static const struct {
        enum time_unit unit;
        const char *format, *zone, *utc;
        int64_t count;
        const char *want;
    } rows[] = {
        {TIME_UNIT_YEAR, NULL, "UTC", "2024-11-11 11:00:00", 0, "2024"},
        {TIME_UNIT_YEAR, NULL, "UTC", "2024-02-29 11:00:00", 1, "2025"},
        {TIME_UNIT_YEAR, NULL, "UTC", "2024-11-11 11:00:00", -3, "2021"},
        {TIME_UNIT_QUARTER, NULL, "UTC", "2024-11-11 11:00:00", 0, "20244"},
        {TIME_UNIT_QUARTER, NULL, "UTC", "2024-11-11 11:00:00", 1, "20251"},
        {TIME_UNIT_QUARTER, NULL, "UTC", "2024-11-30 11:00:00", -3, "20241"}, /* by way of 29 February */
        {TIME_UNIT_QUARTER, NULL, "UTC", "2024-03-31 11:00:00", 0, "20241"},
        {TIME_UNIT_QUARTER, NULL, "UTC", "2024-04-01 11:00:00", 0, "20242"},
        {TIME_UNIT_MONTH, NULL, "UTC", "2024-11-11 11:00:00", 0, "202411"},
        {TIME_UNIT_MONTH, NULL, "UTC", "2024-01-31 11:00:00", 1, "202402"}, /* the 29th, not into March */
        {TIME_UNIT_MONTH, NULL, "UTC", "2024-12-31 11:00:00", 2, "202502"},
        {TIME_UNIT_MONTH, NULL, "UTC", "2024-01-31 11:00:00", -1, "202312"},
        {TIME_UNIT_MONTH, NULL, "UTC", "2024-01-31 11:00:00", -13, "202212"},
        {TIME_UNIT_DAY, NULL, "UTC", "2024-11-11 11:00:00", 0, "20241111"},
        {TIME_UNIT_DAY, NULL, "UTC", "2024-02-28 23:59:59", 1, "20240229"},
        {TIME_UNIT_DAY, NULL, "UTC", "2024-03-01 00:00:00", -7, "20240223"},
        {TIME_UNIT_DAY, NULL, "UTC", "0999-01-01 00:00:00", 0, "09990101"},
        {TIME_UNIT_HOUR, NULL, "UTC", "2024-11-11 23:00:00", 2, "2024111201"},
        {TIME_UNIT_HOUR, NULL, "UTC", "2024-11-11 00:30:00", -1, "2024111023"},
        /* the day is that of the zone */
        {TIME_UNIT_DAY, NULL, "Asia/Shanghai", "2024-11-11 15:59:59", 0, "20241111"},
        {TIME_UNIT_DAY, NULL, "Asia/Shanghai", "2024-11-11 16:00:00", 0, "20241112"},
        {TIME_UNIT_DAY, NULL, "America/New_York", "2024-11-11 04:59:59", 0, "20241110"},
        {TIME_UNIT_YEAR, NULL, "GMT-12:00", "2024-01-01 11:59:59", 0, "2023"},
        /* an hour that clocks skip has no partition, one that they show twice has one */
        {TIME_UNIT_HOUR, NULL, "Europe/Berlin", "2024-03-31 00:30:00", 0, "2024033101"},
        {TIME_UNIT_HOUR, NULL, "Europe/Berlin", "2024-03-31 00:30:00", 1, "2024033103"},
        {TIME_UNIT_HOUR, NULL, "Europe/Berlin", "2024-10-27 00:30:00", 0, "2024102702"},
        {TIME_UNIT_HOUR, NULL, "Europe/Berlin", "2024-10-27 00:30:00", 1, "2024102702"},
        {TIME_UNIT_HOUR, NULL, "Europe/Berlin", "2024-10-27 00:30:00", 2, "2024102703"},
        /* days are counted on the calendar, whatever clocks do in between */
        {TIME_UNIT_DAY, NULL, "Europe/Berlin", "2024-03-30 22:30:00", 1, "20240331"},
        {TIME_UNIT_DAY, NULL, "Europe/Berlin", "2024-03-31 22:30:00", -1, "20240331"},
        {TIME_UNIT_DAY, NULL, "America/Sao_Paulo", "2018-11-03 03:30:00", 1, "20181104"}, /* a day without midnight */
        {TIME_UNIT_DAY, NULL, "Pacific/Apia", "2011-12-29 22:00:00", 1, "20111231"},      /* and no day at all */
        /* formats of the table's own */
        {TIME_UNIT_DAY, "yyyy-MM-dd", "UTC", "2024-01-02 03:04:05", 0, "2024-01-02"},
        {TIME_UNIT_HOUR, "uuuu_LL_dd-HH", "UTC", "2024-01-02 03:04:05", 0, "2024_01_02-03"},
        {TIME_UNIT_QUARTER, "yyyy'Q'q", "UTC", "2024-11-11 11:00:00", 0, "2024Q4"},
        {TIME_UNIT_MONTH, "'m-'yyyyMM'x''y'", "UTC", "2024-11-11 11:00:00", 0, "m-202411x'y"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct time_partitions time = {.unit = rows[i].unit};
        struct slice value;
        struct zone *z = zone(rows[i].zone);
        if (rows[i].format)
            time.format = slice_str(rows[i].format);
        assert_true(time_partition_value(&time, z, seconds(rows[i].utc), rows[i].count, &arena, &value));
        if (!slice_is(value, rows[i].want))
            fail_msg("%s %s %+d: %.*s, not %s", rows[i].zone, rows[i].utc, (int)rows[i].count, SLICE_ARGS(value),
                     rows[i].want);
        assert_true(time_partition_matches(&time, value));
        zone_close(z);
    }
}

static void years_without_four_digits_have_no_name(void **state)
{
    struct time_partitions time = {.unit = TIME_UNIT_YEAR, .retention = 2024};
    struct zone *utc = zone_utc();
    struct slice value;
    (void)state;
    assert_true(time_partition_value(&time, utc, seconds("2024-11-11 11:00:00"), -2023, &arena, &value));
    assert_slice_equal(value, SLICE("0001"));
    assert_false(time_partition_value(&time, utc, seconds("2024-11-11 11:00:00"), -2024, &arena, &value));
    assert_false(time_partition_value(&time, utc, seconds("2024-11-11 11:00:00"), 7976, &arena, &value));
    /* Java would write the year before 1 as "0001" too, and drop whatever sorts before that. */
    assert_false(time_partition_is_past(&time, utc, seconds("2024-11-11 11:00:00"), SLICE("0000"), &arena));
    zone_close(utc);
}

static void what_is_past_the_retention_goes(void **state)
{
    static const struct {
        enum time_unit unit;
        int32_t retention;
        const char *value;
        bool past;
    } rows[] = {
        {TIME_UNIT_DAY, 3, "20241107", true},
        {TIME_UNIT_DAY, 3, "20241108", false},
        {TIME_UNIT_DAY, 3, "20241111", false},
        {TIME_UNIT_DAY, 0, "20241110", true},
        {TIME_UNIT_DAY, 0, "20241111", false},
        {TIME_UNIT_DAY, -1, "19700101", false},
        {TIME_UNIT_DAY, 3, "20991231", false},
        {TIME_UNIT_DAY, 3, "2024110", false},
        {TIME_UNIT_DAY, 3, "20241301", false},
        {TIME_UNIT_DAY, 3, "00-other", false}, /* not by time: stays */
        {TIME_UNIT_HOUR, 1, "2024111109", true},
        {TIME_UNIT_HOUR, 1, "2024111110", false},
        {TIME_UNIT_MONTH, 7, "202403", true},
        {TIME_UNIT_MONTH, 7, "202404", false},
        {TIME_UNIT_QUARTER, 4, "20233", true},
        {TIME_UNIT_QUARTER, 4, "20234", false},
        {TIME_UNIT_YEAR, 1, "2022", true},
        {TIME_UNIT_YEAR, 1, "2023", false},
        {TIME_UNIT_DAY, INT32_MAX, "19700101", false},
    };
    struct zone *utc = zone_utc();
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct time_partitions time = {.unit = rows[i].unit, .retention = rows[i].retention};
        if (time_partition_is_past(&time, utc, seconds("2024-11-11 11:00:00"), slice_str(rows[i].value), &arena) !=
            rows[i].past)
            fail_msg("%s with %d", rows[i].value, rows[i].retention);
    }
    zone_close(utc);
}

static void partitions_by_hand_fit_the_time(void **state)
{
    static const struct {
        struct time_partitions time;
        const char *value;
        bool fits;
    } rows[] = {
        {{.enabled = true, .unit = TIME_UNIT_DAY, .retention = 3}, "20241108", true},
        {{.enabled = true, .unit = TIME_UNIT_DAY, .retention = 3}, "20241107", false},
        {{.enabled = true, .unit = TIME_UNIT_DAY, .retention = 3}, "20300101", true},
        {{.enabled = true, .unit = TIME_UNIT_DAY, .retention = 3}, "2024-11-08", false},
        {{.enabled = true, .unit = TIME_UNIT_DAY, .retention = -1}, "19700101", true},
        {{.unit = TIME_UNIT_DAY, .retention = 3}, "anything", true},
        {{.unit = TIME_UNIT_DAY, .retention = 3, .format = SLICE("yyyy-MM-dd")}, "anything", false},
        {{.unit = TIME_UNIT_DAY, .retention = 3, .format = SLICE("yyyy-MM-dd")}, "1970-01-01", true},
    };
    struct zone *utc = zone_utc();
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum err_code code = time_partition_check_new(&rows[i].time, utc, seconds("2024-11-11 11:00:00"),
                                                      slice_str(rows[i].value), &arena, &err);
        if (code != (rows[i].fits ? OK : ERR_PARTITION_SPEC_INVALID_EXCEPTION))
            fail_msg("row %zu, %s: %s", i, rows[i].value, err_name(code));
    }
    zone_close(utc);
}

static void create_table_takes_what_can_work(void **state)
{
    static const struct {
        const char *keys, *properties;
        enum err_code want;
        const char *text;
    } rows[] = {
        {"\"s\"", ON, OK, NULL},
        {"\"i\"", ON, OK, NULL},
        {"\"i\"", ON SET("time-unit", "hour"), OK, NULL},
        {"\"s\"", ON SET("time-unit", "WEEK"), ERR_INVALID_CONFIG_EXCEPTION, "YEAR|QUARTER"},
        {"\"s\"", ON SET("num-precreate", "many"), ERR_INVALID_CONFIG_EXCEPTION, "whole number"},
        {"\"s\"", ON SET("num-retention", "-1"), OK, NULL},
        {"\"s\"", ON SET("key", "s"), OK, NULL},
        {"\"s\"", ON SET("key", "i"), ERR_INVALID_TABLE_EXCEPTION, "not a partition key"},
        {"", ON, ERR_INVALID_CONFIG_EXCEPTION, "only for partitioned tables"},
        {"", ON SET("key", "s"), ERR_INVALID_CONFIG_EXCEPTION, "only for partitioned tables"},
        {"\"s\",\"i\"", ON, ERR_INVALID_TABLE_EXCEPTION, "must say which"},
        {"\"s\",\"i\"", ON SET("key", "b"), ERR_INVALID_TABLE_EXCEPTION, "not a partition key"},
        {"\"s\",\"i\"", ON SET("key", "i"), OK, NULL},
        {"\"s\",\"i\"", ON SET("key", "i") SET("num-precreate", "1"), ERR_INVALID_TABLE_EXCEPTION, "must be 0"},
        {"\"b\"", ON, ERR_INVALID_TABLE_EXCEPTION, "20241111"},
        {"\"t\"", ON, ERR_INVALID_TABLE_EXCEPTION, "20241111"},
        {"\"d\"", ON, ERR_INVALID_TABLE_EXCEPTION, "20241111"},
        {"\"d\"", ON SET("time-format", "yyyy-MM-dd"), OK, NULL},
        {"\"d\"", ON SET("time-unit", "MONTH") SET("time-format", "yyyy-MM"), ERR_INVALID_TABLE_EXCEPTION, "2024-11"},
        {"\"s\"", ON SET("time-format", "yyyy/MM/dd"), ERR_INVALID_TABLE_EXCEPTION, "2024/11/11"},
        {"\"s\"", ON SET("time-format", "'__'yyyyMMdd"), ERR_INVALID_TABLE_EXCEPTION, "__2024"},
        {"\"s\"", ON SET("time-format", "MM-yyyy"), ERR_INVALID_TABLE_EXCEPTION, "year first"},
        {"\"s\"", ON SET("time-format", "yyyy-MM"), ERR_INVALID_TABLE_EXCEPTION, "all fields"},
        {"\"s\"", ON SET("time-format", "yyyy-M-dd"), ERR_INVALID_TABLE_EXCEPTION, "full width"},
        {"\"s\"", ON SET("time-format", "yyyyyMMdd"), ERR_INVALID_TABLE_EXCEPTION, "full width"},
        {"\"s\"", ON SET("time-format", "yyyyMMddHH"), ERR_INVALID_TABLE_EXCEPTION, "each once"},
        {"\"s\"", ON SET("time-format", "yyyyMMMMdd"), ERR_INVALID_TABLE_EXCEPTION, "full width"},
        {"\"s\"", ON SET("time-format", "yyyyMMdd z"), ERR_INVALID_TABLE_EXCEPTION, "stands for no field"},
        {"\"s\"", ON SET("time-format", "yyyy[MM]dd"), ERR_INVALID_TABLE_EXCEPTION, "no pattern"},
        {"\"s\"", ON SET("time-format", "yyyyMMdd#"), ERR_INVALID_TABLE_EXCEPTION, "no pattern"},
        {"\"s\"", ON SET("time-format", "yyyyMMdd'x"), ERR_INVALID_TABLE_EXCEPTION, "pairs"},
        {"\"s\"", ON SET("time-format", ""), ERR_INVALID_TABLE_EXCEPTION, "all fields"},
        {"\"s\"", "\"table.auto-partition.enabled\":\"false\"" SET("time-format", "MM"), ERR_INVALID_TABLE_EXCEPTION,
         "year first"}, /* also where it only checks what is made by hand */
    };
    struct table_cluster cluster = table_cluster_default();
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct table_descriptor table = descriptor(rows[i].keys, rows[i].properties);
        err = (struct err){0};
        enum err_code code = table_validate(&cluster, &table, &err);
        if (code != rows[i].want || (rows[i].text && !strstr(err.text, rows[i].text)))
            fail_msg("%s %s: %s: %s", rows[i].keys, rows[i].properties, err_name(code), err.text);
    }
}

static void several_keys_make_none_ahead(void **state)
{
    struct table_settings settings;
    struct table_descriptor table = descriptor("\"s\",\"i\"", ON SET("key", "i") SET("time-unit", "month"));
    (void)state;
    MUST(table_settings_read(&table, &settings, &err));
    assert_true(settings.time.enabled);
    assert_int_equal(settings.time.key, 1);
    assert_int_equal(settings.time.unit, TIME_UNIT_MONTH);
    assert_int_equal(settings.time.precreate, 0);
    assert_int_equal(settings.time.retention, 7);
    table = descriptor("\"s\"", ON);
    MUST(table_settings_read(&table, &settings, &err));
    assert_int_equal(settings.time.precreate, 2);
    assert_null(settings.time.zone.ptr);
    assert_null(properties_get(&table.properties, "table.auto-partition.num-precreate"));
}

TESTS("meta.table.time_partition", TEST_TIDY(names_are_those_of_java),
      TEST_TIDY(years_without_four_digits_have_no_name), TEST_TIDY(what_is_past_the_retention_goes),
      TEST_TIDY(partitions_by_hand_fit_the_time), TEST_TIDY(create_table_takes_what_can_work),
      TEST_TIDY(several_keys_make_none_ahead))
