#include "lib/test.h"
#include "meta/table/table.h"

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static struct table_cluster paimon_cluster(void)
{
    struct table_cluster cluster = table_cluster_default();
    cluster.lake_format = LAKE_PAIMON;
    cluster.lake_enabled = true;
    return cluster;
}

#define COLUMNS                                                                                       \
    "\"columns\":[{\"name\":\"id\",\"data_type\":{\"type\":\"BIGINT\",\"nullable\":false},\"id\":0}," \
    "{\"name\":\"dt\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],\"highest_field_id\":1"
#define LOG_SCHEMA "{\"version\":1," COLUMNS "}"
#define KEY_SCHEMA "{\"version\":1," COLUMNS ",\"primary_key\":[\"id\"]}"

static void parse(struct table_descriptor *table, const char *schema, const char *rest, const char *properties)
{
    struct err err = {0};
    struct slice json = arena_printf(&arena,
                                     "{\"version\":1,\"schema\":%s,\"partition_key\":[]%s,\"properties\":{%s},"
                                     "\"custom_properties\":{}}",
                                     schema, rest, properties);
    MUST(table_descriptor_from_json(&arena, json, table, &err));
    MUST(table_descriptor_normalize(&arena, table, &err));
}

static const char *property(const struct table_descriptor *table, const char *key)
{
    const struct slice *value = properties_get(&table->properties, key);
    return value ? arena_cstr(&arena, *value) : NULL;
}

static void defaults_fill_what_is_missing(void **state)
{
    (void)state;
    struct table_cluster cluster = paimon_cluster();
    cluster.bucket_count_default = 5;
    struct table_descriptor table;
    parse(&table, KEY_SCHEMA, "", "");
    table_defaults_apply(&arena, &cluster, &table);
    assert_int_equal(table.bucket_count, 5);
    assert_string_equal(property(&table, "table.replication.factor"), "1");
    assert_string_equal(property(&table, "table.datalake.format"), "paimon");
    assert_string_equal(property(&table, "table.kv.format-version"), "2");
    assert_int_equal(table.properties.count, 3);
}

static void defaults_of_a_log_table_have_no_key_format(void **state)
{
    (void)state;
    struct table_cluster cluster = table_cluster_default();
    struct table_descriptor table;
    parse(&table, LOG_SCHEMA, "", "");
    table_defaults_apply(&arena, &cluster, &table);
    assert_int_equal(table.bucket_count, 1);
    assert_string_equal(property(&table, "table.replication.factor"), "1");
    assert_int_equal(table.properties.count, 1);
}

static void defaults_leave_what_is_set(void **state)
{
    (void)state;
    struct table_cluster cluster = paimon_cluster();
    struct table_descriptor table;
    parse(&table, KEY_SCHEMA, ",\"bucket_key\":[\"id\"],\"bucket_count\":7",
          "\"table.replication.factor\":\"3\",\"table.datalake.format\":\"iceberg\",\"table.kv.format-version\":\"1\","
          "\"table.merge-engine\":\"first_row\"");
    table_defaults_apply(&arena, &cluster, &table);
    assert_int_equal(table.bucket_count, 7);
    assert_string_equal(property(&table, "table.replication.factor"), "3");
    assert_string_equal(property(&table, "table.datalake.format"), "iceberg");
    assert_string_equal(property(&table, "table.kv.format-version"), "1");
    assert_string_equal(property(&table, "table.delete.behavior"), "IGNORE");
}

struct refusal {
    const char *schema;
    const char *rest;
    const char *properties;
    enum err_code want; /* OK: taken */
    const char *text;   /* that the error must hold */
};

#define BUCKETS(n) ",\"bucket_key\":[],\"bucket_count\":" n
#define SET(key, value) "\"" key "\":\"" value "\""
#define CONFIG ERR_INVALID_CONFIG_EXCEPTION
#define TABLE ERR_INVALID_TABLE_EXCEPTION

static const struct refusal refusals[] = {
    {LOG_SCHEMA, "", "", OK, NULL},
    {KEY_SCHEMA, "", "", OK, NULL},
    {LOG_SCHEMA, BUCKETS("4096"), "", OK, NULL},
    {LOG_SCHEMA, BUCKETS("4097"), "", ERR_BUCKET_MAX_NUM_EXCEPTION, "4096"},
    {LOG_SCHEMA, "", SET("table.nonsense", "1"), CONFIG, "table.nonsense"},
    {LOG_SCHEMA, "", SET("table.datalake.freshnes", "1 s"), CONFIG, "did you mean 'table.datalake.freshness'?"},
    {LOG_SCHEMA, "", SET("paimon.file.format", "orc"), CONFIG, "custom property"},
    {LOG_SCHEMA, "", SET("table.replication.factor", "1"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.replication.factor", "2"), ERR_INVALID_REPLICATION_FACTOR, "2"},
    {LOG_SCHEMA, "", SET("table.replication.factor", "0"), CONFIG, "greater than 0"},
    {LOG_SCHEMA, "", SET("table.replication.factor", "one"), CONFIG, "whole number"},
    {LOG_SCHEMA, "", SET("table.log.format", "arrow"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.log.format", "INDEXED"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.log.format", "avro"), CONFIG, "ARROW|INDEXED|COMPACTED"},
    {LOG_SCHEMA, "", SET("table.log.arrow.compression.type", "lz4_frame"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.log.arrow.compression.zstd.level", "22"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.log.arrow.compression.zstd.level", "23"), CONFIG, "22"},
    {LOG_SCHEMA, "", SET("table.log.arrow.compression.zstd.level", "0"), CONFIG, "22"},
    {KEY_SCHEMA, "", SET("table.kv.format", "compacted"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.kv.format", "INDEXED"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.log.format", "INDEXED"), CONFIG, "not INDEXED"},
    {KEY_SCHEMA, "", SET("table.log.format", "INDEXED") "," SET("table.kv.format", "INDEXED"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.kv.format-version", "1"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.kv.format-version", "3"), CONFIG, "3"},
    {KEY_SCHEMA, "", SET("table.kv.format-version", "0"), CONFIG, "0"},
    {KEY_SCHEMA, "", SET("table.kv.standby-replica.enabled", "true"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.merge-engine", "first_row"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.merge-engine", "aggregation"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.merge-engine", "aggregation") "," SET("table.delete.behavior", "ALLOW"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.merge-engine", "aggregation"), CONFIG, "only for primary-key tables"},
    {KEY_SCHEMA, "", SET("table.merge-engine", "first_row") "," SET("table.delete.behavior", "ALLOW"), CONFIG,
     "IGNORE or"},
    {KEY_SCHEMA, "", SET("table.merge-engine", "versioned"), CONFIG, "needs"},
    {KEY_SCHEMA, "", SET("table.merge-engine", "versioned") "," SET("table.merge-engine.versioned.ver-column", "none"),
     CONFIG, "needs"},
    {LOG_SCHEMA, "", SET("table.merge-engine", "first_row"), CONFIG, "only for primary-key tables"},
    {KEY_SCHEMA, "", SET("table.merge-engine", "newest"), CONFIG, "FIRST_ROW|VERSIONED|AGGREGATION"},
    {KEY_SCHEMA, "", SET("table.delete.behavior", "Allow"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.delete.behavior", "IGNORE"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.delete.behavior", "ALLOW"), CONFIG, "only for primary-key tables"},
    {KEY_SCHEMA, "", SET("table.changelog.image", "FULL"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.changelog.image", "wal"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.changelog.image", "none"), CONFIG, "FULL|WAL"},
    {KEY_SCHEMA, "", SET("table.changelog.image", "wal") "," SET("table.merge-engine", "aggregation"), CONFIG, "FULL"},
    {KEY_SCHEMA, "", SET("table.changelog.image", "wal") "," SET("table.merge-engine", "first_row"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.auto-increment.cache-size", "10"), OK, NULL},
    {KEY_SCHEMA, "", SET("table.auto-increment.cache-size", "0"), CONFIG, "cache-size"},
    {LOG_SCHEMA, "", SET("table.statistics.columns", "*"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.statistics.columns", "dt, id"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.statistics.columns", "id,nobody"), CONFIG, "'nobody' of"},
    {LOG_SCHEMA, "", SET("table.statistics.columns", " ,"), CONFIG, "names no column"},
    {LOG_SCHEMA, "", SET("table.statistics.columns", ""), CONFIG, "names no column"},
    {KEY_SCHEMA, "", SET("table.statistics.columns", "*"), CONFIG, "only for log tables"},
    {LOG_SCHEMA, "", SET("table.auto-partition.enabled", "false"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.auto-partition.enabled", "true"), CONFIG, "only for partitioned tables"},
    {LOG_SCHEMA, "", SET("table.log.ttl", "-1"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.log.ttl", "7 fortnights"), CONFIG, "duration"},
    {LOG_SCHEMA, "", SET("table.log.tiered.local-segments", "0"), CONFIG, "greater than 0"},
    {LOG_SCHEMA, "", SET("table.datalake.enabled", "TRUE"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.datalake.enabled", "yes"), CONFIG, "true or false"},
    {LOG_SCHEMA, "", SET("table.datalake.freshness", "1s"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.datalake.freshness", "-1"), CONFIG, "negative"},
    {LOG_SCHEMA, "", SET("table.datalake.format", "Paimon"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.datalake.format", "iceberg"), OK, NULL},
    {LOG_SCHEMA, "", SET("table.datalake.format", "iceberg") "," SET("table.datalake.enabled", "true"), CONFIG,
     "must match"},
    {LOG_SCHEMA, "", SET("table.datalake.format", "lance"), CONFIG, "served: PAIMON|ICEBERG"},
    {LOG_SCHEMA, "", SET("table.datalake.historical-partition.enabled", "true"), CONFIG, "does not serve"},
};

static void what_is_not_served_is_refused_with_its_name(void **state)
{
    (void)state;
    struct table_cluster cluster = paimon_cluster();
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        const struct refusal *r = &refusals[i];
        struct err err = {0};
        struct table_descriptor table;
        parse(&table, r->schema, r->rest, r->properties);
        table_defaults_apply(&arena, &cluster, &table);
        enum err_code code = table_validate(&cluster, &table, &err);
        if (code != r->want || (r->text && !strstr(err.text, r->text)))
            fail_msg("%s %s: %s: %s", r->rest, r->properties, err_name(code), err.text);
    }
}

static void aggregation_functions_need_their_engine(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *properties, *function;
        uint32_t column;
        enum err_code want;
        const char *text;
    } cases[] = {
        {KEY_SCHEMA, "", "sum", 1, CONFIG, "'dt'"},
        {LOG_SCHEMA, "", "max", 1, CONFIG, "AGGREGATION"},
        {KEY_SCHEMA, SET("table.merge-engine", "first_row"), "max", 1, CONFIG, "AGGREGATION"},
        {KEY_SCHEMA, SET("table.merge-engine", "Aggregation"), "max", 1, OK, ""},
        {KEY_SCHEMA, SET("table.merge-engine", "aggregation"), "sum", 1, CONFIG, "does not take STRING"},
        {KEY_SCHEMA, SET("table.merge-engine", "aggregation"), "bool_or", 0, OK, ""}, /* of the key: not looked at */
    };
    struct err err = {0};
    struct table_cluster cluster = table_cluster_default();
    struct table_descriptor table;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        parse(&table, cases[i].schema, "", cases[i].properties);
        table_defaults_apply(&arena, &cluster, &table);
        table.schema.columns[cases[i].column].agg_function = slice_str(cases[i].function);
        enum err_code code = table_validate(&cluster, &table, &err);
        if (code != cases[i].want || (code != OK && !strstr(err.text, cases[i].text)))
            fail_msg("case %zu: %s: %s", i, err_name(code), err.text);
    }
}

static void what_the_server_forbids_is_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct table_cluster cluster = table_cluster_default();
    struct table_descriptor table;
    parse(&table, LOG_SCHEMA, "", SET("table.datalake.enabled", "true"));
    table_defaults_apply(&arena, &cluster, &table);
    MUST_FAIL(TABLE, table_validate(&cluster, &table, &err)); /* no lake here */
    assert_non_null(strstr(err.text, "datalake.format"));
    table.bucket_count = 0;
    MUST_FAIL(TABLE, table_validate(&cluster, &table, &err));
    table.bucket_count = 1;
    cluster.log_tables_allowed = cluster.kv_tables_allowed = false;
    MUST_FAIL(TABLE, table_validate(&cluster, &table, &err));
    assert_non_null(strstr(err.text, "allow.create.log.tables"));
    parse(&table, KEY_SCHEMA, "", "");
    table_defaults_apply(&arena, &cluster, &table);
    MUST_FAIL(TABLE, table_validate(&cluster, &table, &err));
    assert_non_null(strstr(err.text, "allow.create.kv.tables"));
}

static void settings_are_the_options_values(void **state)
{
    (void)state;
    struct err err = {0};
    struct table_descriptor table;
    struct table_settings settings;
    parse(&table, KEY_SCHEMA, "", "");
    MUST(table_settings_read(&table, &settings, &err));
    assert_int_equal(settings.log_compression, COMPRESSION_ZSTD);
    assert_int_equal(settings.zstd_level, 3);
    assert_int_equal(settings.log_ttl_ms, 7 * 86400000);
    assert_int_equal(settings.kv_format_version, 1);
    assert_int_equal(settings.delete_behavior, DELETE_ALLOW);
    assert_false(settings.lake_enabled);
    assert_int_equal(settings.lake_format, LAKE_NONE);
    assert_int_equal(settings.lake_freshness_ms, -1);
    assert_int_equal(settings.lake_auto_expire, CHOICE_UNSET);
    parse(&table, KEY_SCHEMA, "",
          SET("table.log.arrow.compression.type", "none") "," SET("table.datalake.enabled", "true") "," SET(
              "table.datalake.format", "PAIMON") "," SET("table.datalake.freshness",
                                                         "500 ms") "," SET("table.datalake.auto-expire-snapshot",
                                                                           "false") "," SET("table.log.ttl", "-1"));
    MUST(table_settings_read(&table, &settings, &err));
    assert_int_equal(settings.log_compression, COMPRESSION_NONE);
    assert_true(settings.lake_enabled);
    assert_int_equal(settings.lake_format, LAKE_PAIMON);
    assert_int_equal(settings.lake_freshness_ms, 500);
    assert_int_equal(settings.lake_auto_expire, CHOICE_OFF);
    assert_int_equal(settings.log_ttl_ms, -1);
}

static void durations_may_come_without_a_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms; /* -2: refused */
    } cases[] = {
        {"10 min", 600000},
        {"30s", 30000},
        {"7 d", 604800000},
        {"500 ms", 500},
        {"1500", 1500},
        {"-1", -1},
        {" 1 Hours ", 3600000},
        {"2 DAYS", 172800000},
        {"0", 0},
        {"9223372036854775807 ms", INT64_MAX},
        {"9223372036854775807 s", -2},
        {"9223372036854775808", -2},
        {"", -2},
        {"s", -2},
        {"-5 s", -2},
        {"1.5 s", -2},
        {"5 x", -2},
        {"5 |s", -2},
        {"5 s|ms", -2},
        {"5 secondsecondsecond", -2},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t ms = -2;
        bool ok = duration_from_text(slice_str(cases[i].text), &ms);
        if (ok != (cases[i].ms != -2) || ms != cases[i].ms)
            fail_msg("'%s' gives %d, %lld", cases[i].text, ok, (long long)ms);
    }
}

static void the_list_of_options_is_sound(void **state)
{
    (void)state;
    for (int i = 0; i < TABLE_OPTION_COUNT; i++) {
        const struct table_option_info *info = table_option_info((enum table_option)i);
        enum table_option found;
        assert_true(table_option_find(slice_str(info->key), &found));
        assert_int_equal(found, i); /* no key twice */
        assert_true(slice_starts_with(slice_str(info->key), SLICE("table.")));
        assert_true((info->type == OPTION_ENUM) == (info->values != NULL));
        assert_true(strlen(info->text) > 10);
    }
}

TESTS("meta.table", TEST_TIDY(defaults_fill_what_is_missing), TEST_TIDY(defaults_of_a_log_table_have_no_key_format),
      TEST_TIDY(defaults_leave_what_is_set), TEST_TIDY(what_is_not_served_is_refused_with_its_name),
      TEST_TIDY(aggregation_functions_need_their_engine), TEST_TIDY(what_the_server_forbids_is_refused),
      TEST_TIDY(settings_are_the_options_values), TEST_TIDY(durations_may_come_without_a_unit),
      TEST_TIDY(the_list_of_options_is_sound))
