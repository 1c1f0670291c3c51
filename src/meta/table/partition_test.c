#include "lib/test.h"
#include "meta/table/table.h"

static struct arena arena;
static struct err err;
static struct table_descriptor table;

/* A log table with the partition keys given, of the columns s STRING, i INT, d DATE, t TIMESTAMP(6), b BOOLEAN, y
 * BYTES, f DOUBLE. */
static void keys(const char *list)
{
    struct slice json = arena_printf(
        &arena,
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"s\",\"data_type\":{\"type\":\"STRING\"},"
        "\"id\":0},{\"name\":\"i\",\"data_type\":{\"type\":\"INTEGER\"},\"id\":1},{\"name\":\"d\",\"data_type\":{"
        "\"type\":\"DATE\"},\"id\":2},{\"name\":\"t\",\"data_type\":{\"type\":\"TIMESTAMP_WITHOUT_TIME_ZONE\","
        "\"precision\":6},\"id\":3},{\"name\":\"b\",\"data_type\":{\"type\":\"BOOLEAN\"},\"id\":4},{\"name\":\"y\","
        "\"data_type\":{\"type\":\"BYTES\"},\"id\":5},{\"name\":\"f\",\"data_type\":{\"type\":\"DOUBLE\"},\"id\":6}],"
        "\"highest_field_id\":6},\"partition_key\":[%s],\"bucket_key\":[],\"bucket_count\":1,\"properties\":{},"
        "\"custom_properties\":{}}",
        list);
    MUST(table_descriptor_from_json(&arena, json, &table, &err));
    MUST(table_descriptor_normalize(&arena, &table, &err));
}

static struct properties spec(const char *key1, const char *value1, const char *key2, const char *value2)
{
    struct properties out = {.items = ARENA_NEW_ARRAY(&arena, struct key_value, 2)};
    if (key1)
        out.items[out.count++] = (struct key_value){slice_str(key1), slice_str(value1)};
    if (key2)
        out.items[out.count++] = (struct key_value){slice_str(key2), slice_str(value2)};
    return out;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static void tables_with_any_partition_key_that_has_a_text_are_served(void **state)
{
    (void)state;
    static const char *const names[] = {"s", "i", "d", "t", "b", "y", "f"};
    struct table_cluster cluster = table_cluster_default();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        keys(arena_cstr(&arena, arena_printf(&arena, "\"%s\"", names[i])));
        table_defaults_apply(&arena, &cluster, &table);
        MUST(table_validate(&cluster, &table, &err));
    }
}

static void partitioned_tables_may_be_for_the_lake(void **state)
{
    (void)state;
    struct table_cluster cluster = table_cluster_default();
    cluster.lake_format = LAKE_PAIMON;
    cluster.lake_enabled = true;
    keys("\"s\"");
    properties_set(&arena, &table.properties, SLICE("table.datalake.enabled"), SLICE("true"));
    table_defaults_apply(&arena, &cluster, &table);
    MUST(table_validate(&cluster, &table, &err));
}

static void a_name_is_made_of_values_in_key_order(void **state)
{
    (void)state;
    struct properties two = spec("i", "7", "s", "us-east"), back;
    struct slice name;
    keys("\"s\",\"i\"");
    MUST(table_partition_check_new(&table, &two, &arena, &name, &err));
    assert_slice_equal(name, SLICE("us-east$7"));
    MUST(table_partition_values(&table, name, &arena, &back, &err));
    assert_int_equal(back.count, 2);
    assert_slice_equal(back.items[0].key, SLICE("s"));
    assert_slice_equal(back.items[1].value, SLICE("7"));
    MUST_FAIL(ERR_PARTITION_SPEC_INVALID_EXCEPTION,
              table_partition_values(&table, SLICE("alone"), &arena, &back, &err));
}

static void values_that_make_no_name_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
    } rows[] = {{"s", ""},         {"s", "a$b"},        {"s", "a/b"}, {"s", "."},   {"s", ".."},         {"s", "__x"},
                {"s", "\xc3\xa9"}, {"s", "a b"},        {"i", "x"},   {"i", "1.0"}, {"i", "2147483648"}, {"b", "yes"},
                {"y", "0g"},       {"d", "2024-13-01"}, {"t", "now"}, {"f", "a"}};
    struct slice name;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct properties one = spec(rows[i].key, rows[i].value, NULL, NULL);
        keys(arena_cstr(&arena, arena_printf(&arena, "\"%s\"", rows[i].key)));
        enum err_code code = table_partition_check_new(&table, &one, &arena, &name, &err);
        if (code != ERR_PARTITION_SPEC_INVALID_EXCEPTION)
            fail_msg("%s=%s: %s", rows[i].key, rows[i].value, err_name(code));
    }
}

static void specs_must_give_each_key_once(void **state)
{
    (void)state;
    struct properties specs[] = {spec(NULL, NULL, NULL, NULL), spec("s", "a", NULL, NULL), spec("s", "a", "s", "b"),
                                 spec("s", "a", "d", "2024-01-01"), spec("s", "a", "none", "b")};
    struct slice name, *filter;
    keys("\"s\",\"i\"");
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        MUST_FAIL(ERR_PARTITION_SPEC_INVALID_EXCEPTION,
                  table_partition_check_new(&table, &specs[i], &arena, &name, &err));
        MUST_FAIL(ERR_PARTITION_SPEC_INVALID_EXCEPTION, table_partition_name(&table, &specs[i], &arena, &name, &err));
    }
    MUST_FAIL(ERR_PARTITION_SPEC_INVALID_EXCEPTION, table_partition_filter(&table, &specs[4], &arena, &filter, &err));
    keys("");
    MUST_FAIL(ERR_TABLE_NOT_PARTITIONED_EXCEPTION, table_partition_name(&table, &specs[1], &arena, &name, &err));
    MUST_FAIL(ERR_TABLE_NOT_PARTITIONED_EXCEPTION, table_partition_filter(&table, &specs[0], &arena, &filter, &err));
}

static void names_fit_into_a_directory_name(void **state)
{
    (void)state;
    char value[NAME_BYTES_MAX + 1];
    struct slice name;
    memset(value, 'x', sizeof value);
    value[NAME_BYTES_MAX] = 0;
    keys("\"s\",\"i\"");
    struct properties fits = spec("s", value, "i", "1");
    MUST(table_partition_check_new(&table, &fits, &arena, &name, &err));
    assert_int_equal(name.len, NAME_BYTES_MAX + 2);
    keys("\"s\",\"y\"");
    char hex[PARTITION_NAME_BYTES_MAX - NAME_BYTES_MAX + 2];
    memset(hex, 'a', sizeof hex);
    hex[sizeof hex - 2] = 0; /* with the '$' one letter too many, and an even number of them */
    struct properties over = spec("s", value, "y", hex);
    MUST_FAIL(ERR_PARTITION_SPEC_INVALID_EXCEPTION, table_partition_check_new(&table, &over, &arena, &name, &err));
}

static void a_filter_names_some_of_the_keys(void **state)
{
    (void)state;
    struct properties none = spec(NULL, NULL, NULL, NULL), one = spec("i", "7", NULL, NULL), values;
    struct slice *filter;
    keys("\"s\",\"i\"");
    MUST(table_partition_values(&table, SLICE("us$7"), &arena, &values, &err));
    MUST(table_partition_filter(&table, &none, &arena, &filter, &err));
    assert_true(table_partition_matches(filter, &values));
    MUST(table_partition_filter(&table, &one, &arena, &filter, &err));
    assert_true(table_partition_matches(filter, &values));
    MUST(table_partition_values(&table, SLICE("us$8"), &arena, &values, &err));
    assert_false(table_partition_matches(filter, &values));
}

TESTS("meta.table.partition", TEST_TIDY(tables_with_any_partition_key_that_has_a_text_are_served),
      TEST_TIDY(partitioned_tables_may_be_for_the_lake), TEST_TIDY(a_name_is_made_of_values_in_key_order),
      TEST_TIDY(values_that_make_no_name_are_refused), TEST_TIDY(specs_must_give_each_key_once),
      TEST_TIDY(names_fit_into_a_directory_name), TEST_TIDY(a_filter_names_some_of_the_keys))
