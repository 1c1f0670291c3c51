/* SCAN_KV and the limits that options set for it, over a socket. */
#include "format/batch/batch.h"
#include "format/row/row.h"
#include "server/server.h"

#include "lib/raw_client.h"
#include "lib/server_bed.h"

static struct err err;

#define TABLE_JSON                                                                                \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":["                                      \
    "{\"name\":\"id\",\"data_type\":{\"type\":\"INTEGER\",\"nullable\":false},\"id\":0},"         \
    "{\"name\":\"name\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],\"primary_key\":[\"id\"]," \
    "\"highest_field_id\":1},\"partition_key\":[],\"bucket_key\":[\"id\"],\"bucket_count\":1,"    \
    "\"properties\":{},\"custom_properties\":{}}"

#define ROWS 200
#define NAME "a name of some twenty bytes"

static struct wire_bytes records_of(struct arena *arena, const struct table_descriptor *table)
{
    struct kv_batch_builder builder;
    struct buf out = {0}, row = {0};
    kv_batch_builder_init(&builder, 1);
    for (int i = 0; i < ROWS; i++) {
        int id = i + 1;
        uint8_t key[16] = {[8] = (uint8_t)id}; /* as Paimon encodes it, the lake of a server without options */
        struct datum values[2] = {{.i64 = id}, {.bytes = SLICE(NAME)}};
        buf_reset(&row);
        MUST(row_encode(ROW_COMPACTED, row_type(arena, &table->schema), values, &row, &err));
        MUST(kv_batch_builder_put(&builder, slice_of(key, sizeof key), buf_view(&row), &err));
    }
    kv_batch_builder_finish(&builder, -1, -1, &out);
    kv_batch_builder_deinit(&builder);
    struct slice bytes = arena_dup(arena, buf_view(&out));
    buf_deinit(&out);
    buf_deinit(&row);
    return wire_bytes_of(bytes);
}

/* A table with ROWS rows in its only bucket. */
static int64_t table_make(struct raw *raw)
{
    struct arena arena = {0};
    struct table_descriptor table;
    struct wire_create_table_request create = {.table_path = {SLICE("fluss"), SLICE("t")},
                                               .table_json = SLICE(TABLE_JSON)};
    struct wire_create_table_response created;
    struct wire_get_table_info_request get = {.table_path = create.table_path};
    struct wire_get_table_info_response info;
    MUST(table_descriptor_from_json(&arena, create.table_json, &table, &err));
    MUST(raw_call(raw, WIRE_CREATE_TABLE, &create, &created, &err));
    MUST(raw_call(raw, WIRE_GET_TABLE_INFO, &get, &info, &err));
    int64_t table_id = info.table_id;
    struct wire_pb_put_kv_req_for_bucket bucket = {.records = records_of(&arena, &table)};
    struct wire_put_kv_request put = {
        .acks = -1, .table_id = table_id, .timeout_ms = 10000, .buckets_req = &bucket, .buckets_req_count = 1};
    struct wire_put_kv_response answer;
    MUST(raw_call(raw, WIRE_PUT_KV, &put, &answer, &err));
    assert_false(answer.buckets_resp[0].has_error_code);
    arena_deinit(&arena);
    return table_id;
}

/* The bucket's error is given like the call's. */
static enum err_code scan_open(struct raw *raw, int64_t table_id, int32_t bytes, struct wire_scan_kv_response *response)
{
    struct wire_pb_scan_req_for_bucket bucket = {.table_id = table_id};
    struct wire_scan_kv_request request = {
        .bucket_scan_req = &bucket, .has_call_seq_id = true, .batch_size_bytes = bytes, .has_batch_size_bytes = true};
    *response = (struct wire_scan_kv_response){0};
    MUST(raw_call(raw, WIRE_SCAN_KV, &request, response, &err));
    return response->has_error_code ? err_from_wire(response->error_code) : OK;
}

static enum err_code scan_next(struct raw *raw, struct slice id, int32_t call, int32_t bytes,
                               struct wire_scan_kv_response *response)
{
    struct wire_scan_kv_request request = {.scanner_id = id,
                                           .has_scanner_id = true,
                                           .call_seq_id = call,
                                           .has_call_seq_id = true,
                                           .batch_size_bytes = bytes,
                                           .has_batch_size_bytes = true};
    *response = (struct wire_scan_kv_response){0};
    MUST(raw_call(raw, WIRE_SCAN_KV, &request, response, &err));
    return response->has_error_code ? err_from_wire(response->error_code) : OK;
}

struct scan_bed {
    struct server_bed server;
    struct raw raw;
    int64_t table_id;
};

static void scan_bed_start(struct scan_bed *bed, const char *option)
{
    const char *const options[] = {option, NULL};
    server_bed_start(&bed->server, options);
    raw_dial(&bed->raw, server_bed_port(&bed->server, "FLUSS"));
    bed->table_id = table_make(&bed->raw);
}

static void scan_bed_stop(struct scan_bed *bed)
{
    raw_close(&bed->raw);
    server_bed_stop(&bed->server);
}

static void a_scan_goes_on_by_its_id_until_all_rows_came(void **state)
{
    (void)state;
    struct scan_bed bed;
    struct wire_scan_kv_response response;
    char id[64];
    int calls = 1;
    scan_bed_start(&bed, NULL);
    MUST(scan_open(&bed.raw, bed.table_id, 100, &response));
    size_t bytes = response.records.bytes.len;
    assert_true(response.has_more_results);
    while (response.has_more_results) {
        snprintf(id, sizeof id, "%.*s", SLICE_ARGS(response.scanner_id));
        MUST(scan_next(&bed.raw, slice_str(id), calls++, 100, &response));
        bytes += response.has_records ? response.records.bytes.len : 0;
    }
    assert_true(calls > 2 && bytes > ROWS * strlen(NAME));
    MUST_FAIL(ERR_UNKNOWN_SCANNER_ID, scan_next(&bed.raw, slice_str(id), calls, 100, &response));
    scan_bed_stop(&bed);
}

static void a_bucket_has_as_many_scans_as_the_option_says(void **state)
{
    (void)state;
    struct scan_bed bed;
    struct wire_scan_kv_response response;
    scan_bed_start(&bed, "kv.scanner.max-per-bucket=2");
    MUST(scan_open(&bed.raw, bed.table_id, 100, &response));
    MUST(scan_open(&bed.raw, bed.table_id, 100, &response));
    MUST_FAIL(ERR_TOO_MANY_SCANNERS, scan_open(&bed.raw, bed.table_id, 100, &response));
    raw_close(&bed.raw); /* ends its scans */
    raw_dial(&bed.raw, server_bed_port(&bed.server, "FLUSS"));
    enum err_code code = ERR_TOO_MANY_SCANNERS;
    for (int i = 0; i < 1000 && code == ERR_TOO_MANY_SCANNERS; i++) {
        os_sleep_ns(os_real(), 1000000);
        code = scan_open(&bed.raw, bed.table_id, 100, &response);
    }
    MUST(code);
    scan_bed_stop(&bed);
}

static void a_server_has_as_many_scans_as_the_option_says(void **state)
{
    (void)state;
    struct scan_bed bed;
    struct wire_scan_kv_response response;
    scan_bed_start(&bed, "kv.scanner.max-per-server=1");
    MUST(scan_open(&bed.raw, bed.table_id, 100, &response));
    MUST_FAIL(ERR_TOO_MANY_SCANNERS, scan_open(&bed.raw, bed.table_id, 100, &response));
    scan_bed_stop(&bed);
}

static void a_scan_that_nobody_continues_is_ended(void **state)
{
    (void)state;
    struct scan_bed bed;
    struct wire_scan_kv_response response;
    char id[64];
    scan_bed_start(&bed, "kv.scanner.ttl=1 s");
    MUST(scan_open(&bed.raw, bed.table_id, 100, &response));
    snprintf(id, sizeof id, "%.*s", SLICE_ARGS(response.scanner_id));
    os_sleep_ns(os_real(), 1100000000);
    MUST_FAIL(ERR_UNKNOWN_SCANNER_ID, scan_next(&bed.raw, slice_str(id), 1, 100, &response));
    scan_bed_stop(&bed);
}

static void a_step_is_no_longer_than_the_option_says(void **state)
{
    (void)state;
    struct scan_bed bed;
    struct wire_scan_kv_response response;
    scan_bed_start(&bed, "kv.scanner.max-batch-size=4kb");
    MUST(scan_open(&bed.raw, bed.table_id, INT32_MAX, &response));
    assert_true(response.records.bytes.len > 3000 && response.records.bytes.len <= 4096 && response.has_more_results);
    scan_bed_stop(&bed);
}

/* One row of that id, with a name of so many bytes. */
static void put_large(struct scan_bed *bed, int id, uint32_t len)
{
    struct kv_batch_builder builder;
    struct buf out = {0}, row = {0};
    uint8_t key[16] = {[8] = (uint8_t)id};
    uint8_t start[] = {0, (uint8_t)id, (uint8_t)(len | 128), (uint8_t)(len >> 7 | 128), (uint8_t)(len >> 14)};
    buf_put(&row, start, sizeof start);
    memset(buf_extend(&row, len), 'x', len);
    kv_batch_builder_init(&builder, 1);
    MUST(kv_batch_builder_put(&builder, slice_of(key, sizeof key), buf_view(&row), &err));
    kv_batch_builder_finish(&builder, -1, -1, &out);
    kv_batch_builder_deinit(&builder);
    struct wire_pb_put_kv_req_for_bucket bucket = {.records = wire_bytes_of(buf_view(&out))};
    struct wire_put_kv_request put = {
        .acks = -1, .table_id = bed->table_id, .timeout_ms = 10000, .buckets_req = &bucket, .buckets_req_count = 1};
    struct wire_put_kv_response answer;
    MUST(raw_call(&bed->raw, WIRE_PUT_KV, &put, &answer, &err));
    assert_false(answer.buckets_resp[0].has_error_code);
    buf_deinit(&out);
    buf_deinit(&row);
}

static enum err_code limit_scan(struct scan_bed *bed, int32_t limit)
{
    struct wire_limit_scan_request request = {.table_id = bed->table_id, .limit = limit};
    struct wire_limit_scan_response response;
    return raw_call(&bed->raw, WIRE_LIMIT_SCAN, &request, &response, &err);
}

static enum err_code lookup_often(struct scan_bed *bed, size_t times)
{
    static const uint8_t key[16] = {[8] = 1};
    struct slice keys[3];
    for (size_t i = 0; i < times; i++)
        keys[i] = slice_of(key, sizeof key);
    struct wire_pb_lookup_req_for_bucket bucket = {.keys = keys, .keys_count = times};
    struct wire_lookup_request request = {.table_id = bed->table_id, .buckets_req = &bucket, .buckets_req_count = 1};
    struct wire_lookup_response response;
    MUST(raw_call(&bed->raw, WIRE_LOOKUP, &request, &response, &err));
    return response.buckets_resp[0].has_error_code ? err_from_wire(response.buckets_resp[0].error_code) : OK;
}

static void an_answer_is_no_larger_than_a_request_may_be(void **state)
{
    (void)state;
    struct scan_bed bed;
    scan_bed_start(&bed, "netty.server.max-request-size=64kb");
    for (int id = 1; id <= 3; id++)
        put_large(&bed, id, 30000);
    MUST(limit_scan(&bed, 2));
    MUST_FAIL(ERR_RECORD_TOO_LARGE_EXCEPTION, limit_scan(&bed, 3));
    MUST(lookup_often(&bed, 2));
    MUST_FAIL(ERR_RECORD_TOO_LARGE_EXCEPTION, lookup_often(&bed, 3));
    scan_bed_stop(&bed);
}

TESTS("server.scan", TEST(a_scan_goes_on_by_its_id_until_all_rows_came),
      TEST(a_bucket_has_as_many_scans_as_the_option_says), TEST(a_server_has_as_many_scans_as_the_option_says),
      TEST(a_scan_that_nobody_continues_is_ended), TEST(a_step_is_no_longer_than_the_option_says),
      TEST(an_answer_is_no_larger_than_a_request_may_be))
