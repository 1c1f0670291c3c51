/* Partitions by time under a clock that the test holds: days pass, the clock jumps, the server restarts. */
#include "lib/held_clock.h"
#include "lib/raw_client.h"
#include "lib/server_bed.h"

static struct err err;

#define DAYS(n) ((n) * (int64_t)86400000)

/* ---- requests, each over a connection of its own: time passes for idle ones too ---- */

#define NOVEMBER_11 1731322800 /* 2024-11-11 11:00 UTC */

static enum err_code call(struct server_bed *bed, int16_t key, void *request, void *response, struct raw *raw)
{
    raw_dial(raw, server_bed_port(bed, "FLUSS"));
    return raw_call(raw, key, request, response, &err);
}

static void create(struct server_bed *bed, const char *name, const char *keys, const char *properties)
{
    struct raw raw;
    struct buf json = {0};
    struct wire_create_table_response created;
    buf_printf(
        &json,
        "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"s\",\"data_type\":{\"type\":\"STRING\"},"
        "\"id\":0},{\"name\":\"day\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],\"highest_field_id\":1},"
        "\"partition_key\":[%s],\"bucket_key\":[],\"bucket_count\":2,\"properties\":{"
        "\"table.auto-partition.enabled\":\"true\",\"table.auto-partition.time-zone\":\"UTC\"%s},"
        "\"custom_properties\":{}}",
        keys, properties);
    struct wire_create_table_request request = {.table_path = {SLICE("fluss"), slice_str(name)},
                                                .table_json = buf_view(&json)};
    MUST(call(bed, WIRE_CREATE_TABLE, &request, &created, &raw));
    raw_close(&raw);
    buf_deinit(&json);
}

static enum err_code create_partition(struct server_bed *bed, const char *table, const char *s, const char *day)
{
    struct raw raw;
    struct wire_pb_key_value values[] = {{SLICE("day"), slice_str(day)}, {SLICE("s"), slice_str(s ? s : "")}};
    struct wire_create_partition_request request = {
        .table_path = {SLICE("fluss"), slice_str(table)},
        .partition_spec = {.partition_key_values = values, .partition_key_values_count = s ? 2 : 1}};
    struct wire_create_partition_response response;
    enum err_code code = call(bed, WIRE_CREATE_PARTITION, &request, &response, &raw);
    raw_close(&raw);
    return code;
}

/* The names, sorted, with spaces between. */
static void list(struct server_bed *bed, const char *table, struct buf *out)
{
    struct raw raw;
    struct wire_list_partition_infos_request request = {.table_path = {SLICE("fluss"), slice_str(table)}};
    struct wire_list_partition_infos_response response = {0};
    char names[64][40];
    MUST(call(bed, WIRE_LIST_PARTITION_INFOS, &request, &response, &raw));
    assert_true(response.partitions_info_count <= ARRAY_LEN(names));
    for (size_t i = 0; i < response.partitions_info_count; i++) {
        const struct wire_pb_partition_spec *spec = &response.partitions_info[i].partition_spec;
        struct slice first = spec->partition_key_values[0].value,
                     second = spec->partition_key_values_count > 1 ? spec->partition_key_values[1].value : SLICE("");
        snprintf(names[i], sizeof names[i], "%.*s%s%.*s", SLICE_ARGS(first), second.len ? "$" : "", SLICE_ARGS(second));
    }
    qsort(names, response.partitions_info_count, sizeof names[0], (int (*)(const void *, const void *))strcmp);
    buf_reset(out);
    for (size_t i = 0; i < response.partitions_info_count; i++)
        buf_printf(out, "%s%s", i ? " " : "", names[i]);
    raw_close(&raw);
}

/* Within 20 s: the check is another thread's. */
static void expect(struct server_bed *bed, const char *table, const char *want)
{
    struct buf got = {0};
    for (int tries = 0; tries < 1000; tries++) {
        list(bed, table, &got);
        if (strcmp(buf_cstr(&got), want) == 0) {
            buf_deinit(&got);
            return;
        }
        os_sleep_ns(os_real(), 20000000);
    }
    fail_msg("%s has '%s', not '%s'", table, buf_cstr(&got), want);
}

static void start(struct server_bed *bed, const char *const *options)
{
    struct err error = {0};
    if (server_bed_try_on(held_clock_os(), bed, options, &error) != OK)
        fail_msg("%s", error.text);
    server_addresses(bed->server, &bed->addresses);
}

static const char *const often[] = {"auto-partition.check.interval=100 ms", NULL};

static void they_come_and_go_with_the_days(void **state)
{
    struct server_bed bed;
    (void)state;
    held_clock_set(NOVEMBER_11);
    start(&bed, often);
    create(&bed, "t", "\"day\"", ",\"table.auto-partition.num-retention\":\"2\"");
    expect(&bed, "t", "20241111 20241112"); /* in the answer already, but for a check in between */
    MUST(create_partition(&bed, "t", NULL, "20241109"));
    MUST(create_partition(&bed, "t", NULL, "20241210"));
    MUST_FAIL(ERR_PARTITION_SPEC_INVALID_EXCEPTION, create_partition(&bed, "t", NULL, "20241108"));
    MUST_FAIL(ERR_PARTITION_SPEC_INVALID_EXCEPTION, create_partition(&bed, "t", NULL, "2024-11-11"));
    held_clock_pass(DAYS(1));
    expect(&bed, "t", "20241111 20241112 20241113 20241210");
    held_clock_pass(DAYS(5)); /* nothing looked in between: the days that were left out are not made up for */
    expect(&bed, "t", "20241117 20241118 20241210");
    server_bed_stop(&bed);
}

static void of_several_keys_the_one_named_counts(void **state)
{
    struct server_bed bed;
    (void)state;
    held_clock_set(NOVEMBER_11);
    start(&bed, often);
    create(&bed, "t", "\"s\",\"day\"",
           ",\"table.auto-partition.key\":\"day\",\"table.auto-partition.num-retention\":\"1\"");
    expect(&bed, "t", "");
    MUST(create_partition(&bed, "t", "eu", "20241110"));
    MUST(create_partition(&bed, "t", "eu", "20241111"));
    MUST(create_partition(&bed, "t", "00", "20241111"));
    MUST_FAIL(ERR_PARTITION_SPEC_INVALID_EXCEPTION, create_partition(&bed, "t", "eu", "20241109"));
    held_clock_pass(DAYS(1));
    expect(&bed, "t", "00$20241111 eu$20241111");
    held_clock_pass(DAYS(1));
    expect(&bed, "t", "");
    server_bed_stop(&bed);
}

static void a_clock_that_jumps_drops_nothing_at_once(void **state)
{
    struct server_bed bed;
    struct buf trace = {0};
    (void)state;
    test_captured_take(&trace); /* of the tests before */
    buf_reset(&trace);
    held_clock_set(NOVEMBER_11);
    start(&bed, often);
    create(&bed, "t", "\"day\"", ",\"table.auto-partition.num-retention\":\"0\"");
    expect(&bed, "t", "20241111 20241112");
    os_sleep_ns(os_real(), 300000000); /* so that there was a check before */
    held_clock_jump(DAYS(30));
    expect(&bed, "t", "20241211 20241212"); /* believed from the second check on */
    held_clock_jump(DAYS(-60));             /* back: partitions of the past come, none goes */
    expect(&bed, "t", "20241012 20241013 20241211 20241212");
    server_bed_stop(&bed);
    test_captured_take(&trace);
    assert_true(test_comes_before(&trace, "clock_jumped", "time_partition_dropped"));
    /* A check that may drop does so before it makes any: the one that saw the jump did not. */
    assert_true(test_comes_before(&trace, "partition=20241212", "time_partition_dropped"));
    buf_deinit(&trace);
}

static void alter(struct server_bed *bed, const char *table)
{
    struct raw raw;
    struct wire_pb_alter_config change = {.config_key = SLICE("note"), .op_type = 0};
    WIRE_SET(&change, config_value, SLICE("x"));
    struct wire_alter_table_request request = {
        .table_path = {SLICE("fluss"), slice_str(table)}, .config_changes = &change, .config_changes_count = 1};
    struct wire_alter_table_response response;
    MUST(call(bed, WIRE_ALTER_TABLE, &request, &response, &raw));
    raw_close(&raw);
}

static void an_alteration_after_a_jump_drops_nothing_either(void **state)
{
    struct server_bed bed;
    (void)state;
    held_clock_set(NOVEMBER_11);
    start(&bed, NULL); /* with the interval of 10 minutes: only the start looks */
    create(&bed, "t", "\"day\"", ",\"table.auto-partition.num-retention\":\"0\"");
    expect(&bed, "t", "20241111 20241112");
    os_sleep_ns(os_real(), 300000000);
    held_clock_jump(DAYS(30));
    alter(&bed, "t");
    expect(&bed, "t", "20241111 20241112 20241211 20241212");
    held_clock_jump(DAYS(-30));
    held_clock_pass(DAYS(1)); /* that which passes is believed */
    alter(&bed, "t");
    expect(&bed, "t", "20241112 20241113 20241211 20241212");
    server_bed_stop(&bed);
}

static void a_restart_finds_them_and_makes_up_for_its_absence(void **state)
{
    struct server_bed bed;
    char dir[300];
    const char *const options[] = {dir, NULL}; /* with the interval of 10 minutes: only the start looks */
    (void)state;
    snprintf(dir, sizeof dir, "data.dir=%s", test_dir());
    held_clock_set(NOVEMBER_11);
    start(&bed, options);
    create(&bed, "t", "\"day\"", ",\"table.auto-partition.num-retention\":\"1\"");
    expect(&bed, "t", "20241111 20241112");
    server_bed_stop(&bed);
    held_clock_pass(DAYS(2));
    start(&bed, options);
    expect(&bed, "t", "20241112 20241113 20241114");
    server_bed_stop(&bed);
}

static void limits_stop_the_making_not_the_table(void **state)
{
    struct server_bed bed;
    struct buf trace = {0};
    const char *const options[] = {"max.partition.num=3", NULL};
    (void)state;
    held_clock_set(NOVEMBER_11);
    start(&bed, options);
    create(&bed, "t", "\"day\"", ",\"table.auto-partition.num-precreate\":\"2000000000\"");
    expect(&bed, "t", "20241111 20241112 20241113");
    MUST_FAIL(ERR_PARTITION_MAX_NUM_EXCEPTION, create_partition(&bed, "t", NULL, "20241210"));
    server_bed_stop(&bed);
    test_captured_take(&trace);
    assert_non_null(strstr(buf_cstr(&trace), "time_partition_not_made"));
    buf_deinit(&trace);
}

TESTS("server.time_partition", TEST(they_come_and_go_with_the_days), TEST(of_several_keys_the_one_named_counts),
      TEST(a_clock_that_jumps_drops_nothing_at_once), TEST(an_alteration_after_a_jump_drops_nothing_either),
      TEST(a_restart_finds_them_and_makes_up_for_its_absence), TEST(limits_stop_the_making_not_the_table))
