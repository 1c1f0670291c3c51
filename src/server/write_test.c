/* Writes and commits that no good client sends, over a socket. */
#include "format/batch/batch.h"
#include "format/row/row.h"
#include "server/server.h"

#include "lib/log_batch.h"
#include "lib/raw_client.h"
#include "lib/server_bed.h"

static struct err err;

#define TABLE_JSON                                                                               \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":["                                     \
    "{\"name\":\"id\",\"data_type\":{\"type\":\"INTEGER\",\"nullable\":false},\"id\":0},"        \
    "{\"name\":\"name\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],\"highest_field_id\":1}," \
    "\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":1,\"properties\":{},\"custom_properties\":{}}"

struct write_bed {
    struct server_bed server;
    struct raw raw;
    int64_t table_id;
    char dir[256], dir_option[300];
    const char *options[2];
};

static void write_bed_start(struct write_bed *bed)
{
    struct wire_create_table_request create = {.table_path = {SLICE("fluss"), SLICE("t")},
                                               .table_json = SLICE(TABLE_JSON)};
    struct wire_create_table_response created;
    struct wire_get_table_info_request get = {.table_path = create.table_path};
    struct wire_get_table_info_response info;
    snprintf(bed->dir, sizeof bed->dir, "%s", test_dir());
    snprintf(bed->dir_option, sizeof bed->dir_option, "data.dir=%s", bed->dir);
    bed->options[0] = bed->dir_option;
    bed->options[1] = NULL;
    server_bed_start(&bed->server, bed->options);
    raw_dial(&bed->raw, server_bed_port(&bed->server, "FLUSS"));
    MUST(raw_call(&bed->raw, WIRE_CREATE_TABLE, &create, &created, &err));
    MUST(raw_call(&bed->raw, WIRE_GET_TABLE_INFO, &get, &info, &err));
    bed->table_id = info.table_id;
}

/* A server on what the first one left. */
static void write_bed_again(struct write_bed *bed)
{
    server_bed_start(&bed->server, bed->options);
    raw_dial(&bed->raw, server_bed_port(&bed->server, "FLUSS"));
}

static void write_bed_stop(struct write_bed *bed)
{
    raw_close(&bed->raw);
    server_bed_stop(&bed->server);
}

/* A batch of one row; none: with a null for the id, which is NOT NULL. */
static void row_put(struct buf *out, uint64_t id, bool none, enum arrow_compression compression)
{
    struct arena arena = {0};
    struct table_descriptor table;
    struct log_batch_builder builder;
    struct arrow_codec codec = {0};
    struct log_batch_options options = {.append_only = true, .schema_id = 1, .arrow = {compression, 3}};
    struct datum row[2] = {{.is_null = none, .i64 = (int64_t)id}, {.bytes = SLICE("a name")}};
    MUST(table_descriptor_from_json(&arena, SLICE(TABLE_JSON), &table, &err));
    log_batch_builder_init(&builder, &options, row_type(&arena, &table.schema));
    MUST(log_batch_builder_append(&builder, CHANGE_APPEND, row, &err));
    log_batch_builder_finish(&builder, &codec, -1, -1, out);
    log_batch_builder_deinit(&builder);
    arrow_codec_deinit(&codec);
    arena_deinit(&arena);
}

/* Its bucket's error is given like the call's. */
static enum err_code produce_records(struct write_bed *bed, struct slice records, int32_t timeout_ms)
{
    struct wire_pb_produce_log_req_for_bucket bucket = {.records = wire_bytes_of(records)};
    struct wire_produce_log_request request = {.acks = -1,
                                               .table_id = bed->table_id,
                                               .timeout_ms = timeout_ms,
                                               .buckets_req = &bucket,
                                               .buckets_req_count = 1};
    struct wire_produce_log_response response;
    MUST(raw_call(&bed->raw, WIRE_PRODUCE_LOG, &request, &response, &err));
    const struct wire_pb_produce_log_resp_for_bucket *answer = &response.buckets_resp[0];
    if (!answer->has_error_code)
        return OK;
    return err_set(&err, err_from_wire(answer->error_code), "%.*s", SLICE_ARGS(answer->error_message));
}

static enum err_code produce(struct write_bed *bed, uint64_t id, int32_t timeout_ms)
{
    struct buf records = {0};
    row_put(&records, id, false, ARROW_NONE);
    enum err_code code = produce_records(bed, buf_view(&records), timeout_ms);
    buf_deinit(&records);
    return code;
}

static void a_null_where_none_may_be_is_refused_compressed_or_not(void **state)
{
    (void)state;
    static const enum arrow_compression compressions[] = {ARROW_NONE, ARROW_LZ4_FRAME, ARROW_ZSTD};
    struct write_bed bed;
    write_bed_start(&bed);
    for (size_t i = 0; i < ARRAY_LEN(compressions); i++) {
        struct buf good = {0}, bad = {0};
        row_put(&good, 1, false, compressions[i]);
        row_put(&bad, 1, true, compressions[i]);
        MUST_FAIL(ERR_UNKNOWN_SERVER_ERROR, produce_records(&bed, buf_view(&bad), 10000));
        assert_non_null(strstr(err.text, "a null in the column 'id', which is NOT NULL"));
        MUST(produce_records(&bed, buf_view(&good), 10000));
        buf_deinit(&good);
        buf_deinit(&bad);
    }
    write_bed_stop(&bed);
}

/* Whatever byte of the body is wrong under a right CRC: what is taken can be decoded. */
static void records_that_nobody_can_read_are_refused(void **state)
{
    (void)state;
    struct write_bed bed;
    struct buf records = {0};
    int refused = 0;
    write_bed_start(&bed);
    row_put(&records, 1, false, ARROW_NONE);
    for (size_t at = TEST_BATCH_HEADER_BYTES; at < records.len; at += 3) {
        records.ptr[at] ^= 0x85;
        test_batch_seal(&records);
        refused += produce_records(&bed, buf_view(&records), 10000) != OK;
        records.ptr[at] ^= 0x85;
    }
    assert_true(refused > 30);
    buf_deinit(&records);
    write_bed_stop(&bed);
}

/* The end of the time and the end of the write come from two threads; whichever is first, there is one answer. */
static void a_write_that_takes_as_long_as_its_time_is_answered_once(void **state)
{
    (void)state;
    struct write_bed bed;
    write_bed_start(&bed);
    for (uint64_t i = 0; i < 300; i++) {
        enum err_code code = produce(&bed, i, i % 2 ? 1 : -1);
        assert_true(code == OK || code == ERR_REQUEST_TIME_OUT);
    }
    write_bed_stop(&bed);
}

static void a_put_to_a_log_table_is_refused(void **state)
{
    (void)state;
    struct write_bed bed;
    write_bed_start(&bed);
    struct wire_pb_put_kv_req_for_bucket bucket = {.records = wire_bytes_of(SLICE("x"))};
    struct wire_put_kv_request put = {
        .acks = -1, .table_id = bed.table_id, .timeout_ms = 10000, .buckets_req = &bucket, .buckets_req_count = 1};
    struct wire_put_kv_response answer;
    MUST(raw_call(&bed.raw, WIRE_PUT_KV, &put, &answer, &err));
    assert_int_equal(answer.buckets_resp[0].error_code, err_wire(ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION));
    MUST(produce(&bed, 1, 10000));
    write_bed_stop(&bed);
}

static enum err_code lake_commit(struct write_bed *bed, int64_t end_offset)
{
    struct wire_pb_lake_table_offset_for_bucket bucket = {.log_end_offset = end_offset, .has_log_end_offset = true};
    struct wire_pb_lake_table_snapshot_info info = {.table_id = bed->table_id,
                                                    .has_table_id = true,
                                                    .snapshot_id = 1,
                                                    .buckets_req = &bucket,
                                                    .buckets_req_count = 1};
    struct wire_commit_lake_table_snapshot_request request = {.tables_req = &info, .tables_req_count = 1};
    struct wire_commit_lake_table_snapshot_response response;
    MUST(raw_call(&bed->raw, WIRE_COMMIT_LAKE_TABLE_SNAPSHOT, &request, &response, &err));
    return response.table_resp[0].has_error_code ? err_from_wire(response.table_resp[0].error_code) : OK;
}

/* As far as the server looks: its file is there. */
static void lake_snapshot_make(const struct write_bed *bed)
{
    char path[OS_PATH_MAX];
    snprintf(path, sizeof path, "%s/lake/fluss.db/t/snapshot", bed->dir);
    MUST(os_mkdirs(os_real(), path, &err));
    snprintf(path, sizeof path, "%s/lake/fluss.db/t/snapshot/snapshot-1", bed->dir);
    MUST(os_write_durable(os_real(), path, SLICE("{}"), &err));
}

static void a_lake_snapshot_that_can_not_be_is_refused(void **state)
{
    (void)state;
    struct write_bed bed;
    write_bed_start(&bed);
    MUST(produce(&bed, 1, 10000));
    MUST_FAIL(ERR_LAKE_SNAPSHOT_NOT_EXIST, lake_commit(&bed, 1));
    lake_snapshot_make(&bed);
    MUST_FAIL(ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION, lake_commit(&bed, 2)); /* the log ends at 1 */
    MUST(lake_commit(&bed, 1));
    write_bed_stop(&bed);
}

/* ---- a log that was damaged from outside while no server ran ---- */

static void log_path(const struct write_bed *bed, char path[OS_PATH_MAX])
{
    snprintf(path, OS_PATH_MAX, "%s/fluss/t-%lld/log-0/00000000000000000000.log", bed->dir, (long long)bed->table_id);
}

static void what_is_cut_from_a_log_is_told(void **state)
{
    (void)state;
    struct write_bed bed;
    char path[OS_PATH_MAX];
    struct buf bytes = {0}, traced = {0};
    write_bed_start(&bed);
    MUST(produce(&bed, 1, 10000));
    write_bed_stop(&bed);
    log_path(&bed, path);
    MUST(os_read_whole(os_real(), path, 1 << 24, &bytes, &err));
    MUST(os_write_durable(os_real(), path, slice_of(bytes.ptr, bytes.len - 1), &err));
    test_captured_take(&traced);
    buf_reset(&traced);
    server_bed_start(&bed.server, bed.options);
    test_captured_take(&traced);
    assert_non_null(strstr(buf_cstr(&traced), "log_cut"));
    server_bed_stop(&bed.server);
    buf_deinit(&bytes);
    buf_deinit(&traced);
}

static void a_log_that_ends_before_its_lake_snapshot_takes_no_rows(void **state)
{
    (void)state;
    struct write_bed bed;
    char path[OS_PATH_MAX];
    write_bed_start(&bed);
    MUST(produce(&bed, 1, 10000));
    lake_snapshot_make(&bed);
    MUST(lake_commit(&bed, 1));
    write_bed_stop(&bed);
    log_path(&bed, path);
    MUST(os_write_durable(os_real(), path, (struct slice){0}, &err));
    write_bed_again(&bed);
    MUST_FAIL(ERR_UNKNOWN_SERVER_ERROR, produce(&bed, 1, 10000)); /* offset 0 is in the lake already */
    assert_non_null(strstr(err.text, "ends at 0, and its lake snapshot at 1"));
    write_bed_stop(&bed);
}

static void expect_no_start_without_metadata(struct write_bed *bed)
{
    MUST_FAIL(ERR_META_MISSING, server_bed_try(&bed->server, bed->options, &err));
    server_bed_stop(&bed->server);
}

static void tables_without_their_metadata_are_not_begun_anew(void **state)
{
    (void)state;
    struct write_bed bed;
    char path[OS_PATH_MAX];
    struct buf bytes = {0};
    write_bed_start(&bed);
    MUST(produce(&bed, 1, 10000));
    write_bed_stop(&bed);
    snprintf(path, sizeof path, "%s/meta.db", bed.dir);
    MUST(os_read_whole(os_real(), path, 1 << 24, &bytes, &err));
    MUST(os_unlink(os_real(), path, &err));
    expect_no_start_without_metadata(&bed);
    assert_non_null(strstr(err.text, "meta.db is missing"));
    MUST(os_write_durable(os_real(), path, (struct slice){0}, &err));
    expect_no_start_without_metadata(&bed);
    MUST(os_write_durable(os_real(), path, buf_view(&bytes), &err)); /* as it says: restored from a copy */
    server_bed_start(&bed.server, bed.options);
    server_bed_stop(&bed.server);
    buf_deinit(&bytes);
}

TESTS("server.write", TEST(a_null_where_none_may_be_is_refused_compressed_or_not),
      TEST(records_that_nobody_can_read_are_refused), TEST(a_write_that_takes_as_long_as_its_time_is_answered_once),
      TEST(a_put_to_a_log_table_is_refused), TEST(a_lake_snapshot_that_can_not_be_is_refused),
      TEST(what_is_cut_from_a_log_is_told), TEST(a_log_that_ends_before_its_lake_snapshot_takes_no_rows),
      TEST(tables_without_their_metadata_are_not_begun_anew))
