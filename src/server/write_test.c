/* Writes and commits that no good client sends, over a socket. */
#include "format/batch/batch.h"
#include "format/row/row.h"
#include "server/server.h"

#include "lib/log_batch.h"
#include "lib/raw_client.h"
#include "lib/server_bed.h"

static struct err err;

#define TABLE_JSON_AS(properties)                                                                \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":["                                     \
    "{\"name\":\"id\",\"data_type\":{\"type\":\"INTEGER\",\"nullable\":false},\"id\":0},"        \
    "{\"name\":\"name\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],\"highest_field_id\":1}," \
    "\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":1,\"properties\":{" properties      \
    "},\"custom_properties\":{}}"
#define TABLE_JSON TABLE_JSON_AS("")

struct write_bed {
    struct server_bed server;
    struct raw raw;
    int64_t table_id;
    char dir[256], dir_option[300];
    const char *options[2];
};

static void write_bed_start_as(struct write_bed *bed, struct slice table_json)
{
    struct wire_create_table_request create = {.table_path = {SLICE("fluss"), SLICE("t")}, .table_json = table_json};
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

static void write_bed_start(struct write_bed *bed)
{
    write_bed_start_as(bed, SLICE(TABLE_JSON));
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
static void row_put_as(struct buf *out, const struct log_batch_options *options, struct slice name, bool none)
{
    struct arena arena = {0};
    struct table_descriptor table;
    struct log_batch_builder builder;
    struct arrow_codec codec = {0};
    struct datum row[2] = {{.is_null = none, .i64 = 7}, {.bytes = name}};
    MUST(table_descriptor_from_json(&arena, SLICE(TABLE_JSON), &table, &err));
    log_batch_builder_init(&builder, options, row_type(&arena, &table.schema));
    MUST(log_batch_builder_append(&builder, CHANGE_APPEND, row, &err));
    log_batch_builder_finish(&builder, &codec, -1, -1, out);
    log_batch_builder_deinit(&builder);
    arrow_codec_deinit(&codec);
    arena_deinit(&arena);
}

static void row_put(struct buf *out, bool none, enum arrow_compression compression)
{
    struct log_batch_options options = {.append_only = true, .schema_id = 1, .arrow = {compression, 3}};
    row_put_as(out, &options, SLICE("a name"), none);
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

static enum err_code produce(struct write_bed *bed, int32_t timeout_ms)
{
    struct buf records = {0};
    row_put(&records, false, ARROW_NONE);
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
        row_put(&good, false, compressions[i]);
        row_put(&bad, true, compressions[i]);
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
    row_put(&records, false, ARROW_NONE);
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

/* What a client sends that does not heed the table's log format, and what is wrong in the rows of one that does. */
static void records_of_another_form_than_the_tables_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum log_format format;
        struct slice json;
        const char *name;
    } tables[] = {{LOG_FORMAT_INDEXED, SLICE(TABLE_JSON_AS("\"table.log.format\":\"INDEXED\"")), "INDEXED"},
                  {LOG_FORMAT_COMPACTED, SLICE(TABLE_JSON_AS("\"table.log.format\":\"COMPACTED\"")), "COMPACTED"},
                  {LOG_FORMAT_ARROW, SLICE(TABLE_JSON), "ARROW"}};
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct write_bed bed;
        write_bed_start_as(&bed, tables[i].json);
        for (size_t k = 0; k < ARRAY_LEN(tables); k++) {
            struct buf records = {0};
            struct log_batch_options options = {.format = tables[k].format, .append_only = true, .schema_id = 1};
            row_put_as(&records, &options, SLICE("a name"), false);
            enum err_code code = produce_records(&bed, buf_view(&records), 10000);
            assert_int_equal(code, i == k ? OK : ERR_UNKNOWN_SERVER_ERROR);
            if (i != k && tables[k].format == LOG_FORMAT_ARROW) {
                assert_non_null(strstr(err.text, "the batch is of the log format ARROW, and the table's is"));
                assert_non_null(strstr(err.text, tables[i].name));
            }
            buf_deinit(&records);
        }
        write_bed_stop(&bed);
    }
}

static void values_that_no_reader_takes_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct log_batch_options options;
        struct slice json;
        bool is_seen;
    } cases[] = {{{.append_only = true, .schema_id = 1}, SLICE(TABLE_JSON), true},
                 {{.append_only = true, .schema_id = 1, .arrow = {ARROW_ZSTD, 3}},
                  SLICE(TABLE_JSON),
                  false}, /* readers repair it */
                 {{.format = LOG_FORMAT_INDEXED, .schema_id = 1},
                  SLICE(TABLE_JSON_AS("\"table.log.format\":\"INDEXED\"")),
                  true},
                 {{.format = LOG_FORMAT_COMPACTED, .schema_id = 1},
                  SLICE(TABLE_JSON_AS("\"table.log.format\":\"COMPACTED\"")),
                  true}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct write_bed bed;
        struct buf none = {0}, text = {0};
        write_bed_start_as(&bed, cases[i].json);
        row_put_as(&none, &cases[i].options, SLICE("a name"), true);
        row_put_as(&text, &cases[i].options, SLICE("no \xff name"), false);
        MUST_FAIL(ERR_UNKNOWN_SERVER_ERROR, produce_records(&bed, buf_view(&none), 10000));
        assert_non_null(strstr(err.text, "a null in the column 'id', which is NOT NULL"));
        enum err_code code = produce_records(&bed, buf_view(&text), 10000);
        assert_int_equal(code, cases[i].is_seen ? ERR_UNKNOWN_SERVER_ERROR : OK);
        if (cases[i].is_seen)
            assert_non_null(strstr(err.text, "a text in the column 'name' is not UTF-8"));
        buf_deinit(&none);
        buf_deinit(&text);
        write_bed_stop(&bed);
    }
}

/* The end of the time and the end of the write come from two threads; whichever is first, there is one answer. */
static void a_write_that_takes_as_long_as_its_time_is_answered_once(void **state)
{
    (void)state;
    struct write_bed bed;
    write_bed_start(&bed);
    for (int i = 0; i < 300; i++) {
        enum err_code code = produce(&bed, i % 2 ? 1 : -1);
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
    MUST(produce(&bed, 10000));
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
    MUST(produce(&bed, 10000));
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
    MUST(produce(&bed, 10000));
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
    MUST(produce(&bed, 10000));
    lake_snapshot_make(&bed);
    MUST(lake_commit(&bed, 1));
    write_bed_stop(&bed);
    log_path(&bed, path);
    MUST(os_write_durable(os_real(), path, (struct slice){0}, &err));
    write_bed_again(&bed);
    MUST_FAIL(ERR_UNKNOWN_SERVER_ERROR, produce(&bed, 10000)); /* offset 0 is in the lake already */
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
    MUST(produce(&bed, 10000));
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
      TEST(records_of_another_form_than_the_tables_are_refused), TEST(values_that_no_reader_takes_are_refused),
      TEST(a_put_to_a_log_table_is_refused), TEST(a_lake_snapshot_that_can_not_be_is_refused),
      TEST(what_is_cut_from_a_log_is_told), TEST(a_log_that_ends_before_its_lake_snapshot_takes_no_rows),
      TEST(tables_without_their_metadata_are_not_begun_anew))
