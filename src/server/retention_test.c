/* Old segments under a clock that the test holds. */
#include "format/batch/batch.h"
#include "format/row/row.h"

#include "lib/held_clock.h"
#include "lib/raw_client.h"
#include "lib/server_bed.h"

static struct err err;

enum { ROWS = 5 };
#define DAYS(n) ((n) * (int64_t)86400000)
#define NOVEMBER_11 1731322800 /* 2024-11-11 11:00 UTC */
#define TABLE_JSON                                                                                    \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"id\",\"data_type\":{\"type\":" \
    "\"INTEGER\"},\"id\":0}],\"highest_field_id\":0},\"partition_key\":[],\"bucket_key\":[],"         \
    "\"bucket_count\":1,\"properties\":{\"table.log.ttl\":\"1 d\"},\"custom_properties\":{}}"

static enum err_code call(struct server_bed *bed, int16_t key, void *request, void *response, struct raw *raw)
{
    raw_dial(raw, server_bed_port(bed, "FLUSS")); /* each a connection of its own: time passes for idle ones too */
    return raw_call(raw, key, request, response, &err);
}

static int64_t create(struct server_bed *bed)
{
    struct raw raw;
    struct wire_create_table_request create = {.table_path = {SLICE("fluss"), SLICE("t")},
                                               .table_json = SLICE(TABLE_JSON)};
    struct wire_create_table_response created;
    struct wire_get_table_info_request get = {.table_path = create.table_path};
    struct wire_get_table_info_response info;
    MUST(call(bed, WIRE_CREATE_TABLE, &create, &created, &raw));
    raw_close(&raw);
    MUST(call(bed, WIRE_GET_TABLE_INFO, &get, &info, &raw));
    int64_t table_id = info.table_id;
    raw_close(&raw);
    return table_id;
}

/* A batch of one row, in a segment of its own. */
static void append(struct server_bed *bed, int64_t table_id)
{
    struct raw raw;
    struct arena arena = {0};
    struct table_descriptor table;
    struct log_batch_builder builder;
    struct arrow_codec codec = {0};
    struct buf records = {0};
    struct log_batch_options options = {.append_only = true, .schema_id = 1};
    struct datum row = {.i64 = 7};
    MUST(table_descriptor_from_json(&arena, SLICE(TABLE_JSON), &table, &err));
    log_batch_builder_init(&builder, &options, row_type(&arena, &table.schema));
    MUST(log_batch_builder_append(&builder, CHANGE_APPEND, &row, &err));
    log_batch_builder_finish(&builder, &codec, -1, -1, &records);
    struct wire_pb_produce_log_req_for_bucket bucket = {.records = wire_bytes_of(buf_view(&records))};
    struct wire_produce_log_request request = {
        .acks = -1, .table_id = table_id, .timeout_ms = 20000, .buckets_req = &bucket, .buckets_req_count = 1};
    struct wire_produce_log_response response;
    MUST(call(bed, WIRE_PRODUCE_LOG, &request, &response, &raw));
    assert_false(response.buckets_resp[0].has_error_code);
    raw_close(&raw);
    log_batch_builder_deinit(&builder);
    arrow_codec_deinit(&codec);
    arena_deinit(&arena);
    buf_deinit(&records);
}

static int64_t earliest(struct server_bed *bed, int64_t table_id)
{
    struct raw raw;
    int32_t bucket = 0;
    struct wire_list_offsets_request request = {
        .follower_server_id = -1, .offset_type = 0, .table_id = table_id, .bucket_id = &bucket, .bucket_id_count = 1};
    struct wire_list_offsets_response response;
    MUST(call(bed, WIRE_LIST_OFFSETS, &request, &response, &raw));
    int64_t offset = response.buckets_resp[0].offset;
    raw_close(&raw);
    return offset;
}

/* Within 20 s: the check is another thread's. */
static void expect_trim(struct server_bed *bed, int64_t table_id)
{
    for (int tries = 0; tries < 1000; tries++) {
        if (earliest(bed, table_id) > 0)
            return;
        os_sleep_ns(os_real(), 20000000);
    }
    fail_msg("no segment has gone");
}

/* A server with segments of a batch each and rows in them; gives the table's id. */
static int64_t start(struct server_bed *bed, const char *check_interval)
{
    const char *const options[] = {check_interval, "log.segment.file-size=120b", NULL};
    struct err error = {0};
    held_clock_set(NOVEMBER_11);
    if (server_bed_try_on(held_clock_os(), bed, options, &error) != OK)
        fail_msg("%s", error.text);
    server_addresses(bed->server, &bed->addresses);
    int64_t table_id = create(bed);
    for (int i = 0; i < ROWS; i++)
        append(bed, table_id);
    return table_id;
}

static void a_clock_that_jumps_trims_nothing_at_once(void **state)
{
    (void)state;
    struct server_bed bed;
    struct buf trace = {0};
    test_captured_take(&trace); /* of tests before */
    buf_reset(&trace);
    int64_t table_id = start(&bed, "log.retention.check-interval=300 ms");
    os_sleep_ns(os_real(), 600000000); /* so that there was a check before */
    held_clock_jump(DAYS(30));
    expect_trim(&bed, table_id); /* believed from the next one on */
    server_bed_stop(&bed);
    test_captured_take(&trace);
    assert_true(test_comes_before(&trace, "clock_jumped", "log_trimmed"));
    buf_deinit(&trace);
}

static void time_that_passes_is_believed(void **state)
{
    (void)state;
    struct server_bed bed;
    int64_t table_id = start(&bed, "log.retention.check-interval=100 ms");
    assert_int_equal(earliest(&bed, table_id), 0);
    held_clock_pass(DAYS(2));
    expect_trim(&bed, table_id);
    server_bed_stop(&bed);
}

TESTS("server.retention", TEST(time_that_passes_is_believed), TEST(a_clock_that_jumps_trims_nothing_at_once))
