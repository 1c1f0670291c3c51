/* Any bytes as a server's answers. Byte 0 says what the client does; the rest are bodies, each behind its length in two
 * bytes (little-endian), which are put into frames and sent as the answers to the client's requests, one after the
 * other; then the connection is cut. Connection, metadata and the table's info are answered well before. With byte 0
 * above the last operation the rest is sent as it is. Nothing may crash, hang or be read beyond its end. */
#include "base/reader.h"
#include "client/client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TABLE_ID 7
#define COLUMNS                                                       \
    "{\"version\":1,\"schema\":{\"version\":1,\"columns\":["          \
    "{\"name\":\"a\",\"data_type\":{\"type\":\"INTEGER\"},\"id\":0}," \
    "{\"name\":\"b\",\"data_type\":{\"type\":\"STRING\"},\"id\":1}],"
#define REST                                                                             \
    "\"highest_field_id\":1},\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":2," \
    "\"properties\":{\"table.kv.format-version\":\"2\"},\"custom_properties\":{}}"

enum operation {
    SCAN,
    LOOKUP,
    SCAN_KV,
    LIMIT_SCAN,
    LOG_LIMIT_SCAN,
    FOLD,
    OFFSETS,
    LAKE,
    PREPARE,
    PUT,
    OPERATION_COUNT
};

struct stream {
    struct buf bytes;
    int32_t id;
};

static void put_answer(struct stream *s, const struct wire_desc *desc, void *message)
{
    struct wire_out out = {0};
    struct slice slices[8];
    enum err_code code = wire_response_encode(&out, s->id++, desc, message, NULL);
    ASSERT(code == OK);
    size_t count = wire_out_slices(&out, slices, 8);
    for (size_t i = 0; i < count; i++)
        buf_put_slice(&s->bytes, slices[i]);
    wire_out_deinit(&out);
}

static void put_metadata(struct stream *s)
{
    struct wire_pb_server_node node = {.node_id = 1, .host = SLICE("h"), .port = 1};
    struct wire_pb_bucket_metadata buckets[2] = {{.bucket_id = 0}, {.bucket_id = 1}};
    WIRE_SET(&buckets[0], leader_id, 1);
    WIRE_SET(&buckets[1], leader_id, 1);
    struct wire_pb_table_metadata table = {.table_path = {SLICE("d"), SLICE("t")},
                                           .table_id = TABLE_ID,
                                           .bucket_metadata = buckets,
                                           .bucket_metadata_count = 2};
    struct wire_metadata_response response = {.coordinator_server = &node,
                                              .tablet_servers = &node,
                                              .tablet_servers_count = 1,
                                              .table_metadata = &table,
                                              .table_metadata_count = 1};
    put_answer(s, &wire_metadata_response_desc, &response);
}

/* API_VERSIONS, GET_METADATA, GET_TABLE_INFO, and for all but the calls of the coordinator the leaders. */
static void put_good_part(struct stream *s, enum operation operation)
{
    struct wire_pb_api_version all[128];
    for (size_t i = 0; i < wire_api_count; i++)
        all[i] = (struct wire_pb_api_version){wire_apis[i].key, wire_apis[i].version_min, wire_apis[i].version_max};
    struct wire_api_versions_response versions = {.api_versions = all, .api_versions_count = wire_api_count};
    put_answer(s, &wire_api_versions_response_desc, &versions);
    put_metadata(s);
    bool log = operation == SCAN || operation == LOG_LIMIT_SCAN;
    struct wire_get_table_info_response info = {.table_id = TABLE_ID, .schema_id = 1};
    info.table_json = log ? SLICE(COLUMNS REST) : SLICE(COLUMNS "\"primary_key\":[\"a\"]," REST);
    put_answer(s, &wire_get_table_info_response_desc, &info);
    if (operation == PUT) {
        struct wire_init_writer_response writer = {.writer_id = 1};
        put_answer(s, &wire_init_writer_response_desc, &writer);
    }
    if (operation != LAKE && operation != PREPARE)
        put_metadata(s);
}

static void put_fuzzed_part(struct stream *s, enum operation operation, struct slice input)
{
    struct reader r = reader_of(input);
    if (operation == OPERATION_COUNT) {
        buf_put_slice(&s->bytes, input);
        return;
    }
    while (reader_left(&r) > 1) {
        size_t len = MIN(reader_u16(&r), reader_left(&r));
        struct slice body = reader_slice(&r, len);
        buf_put_u32_be(&s->bytes, (uint32_t)(5 + body.len));
        buf_put_u8(&s->bytes, 0);
        buf_put_u32_be(&s->bytes, (uint32_t)s->id++);
        buf_put_slice(&s->bytes, body);
    }
}

static enum err_code take_row(void *arg, int32_t place, const struct datum *row, struct err *err)
{
    (void)place;
    (void)err;
    struct buf *text = arg;
    buf_reset(text);
    for (int i = 0; i < 2; i++)
        datum_to_json(type_simple(i ? TYPE_STRING : TYPE_INTEGER), &row[i], text);
    return OK;
}

static enum err_code scan(struct client_table *table, struct buf *text)
{
    enum err_code code;
    const struct client_scan_bucket buckets[] = {{0, 0, 100}, {1, 2, 3}};
    struct client_scanner *scanner = NULL;
    struct arena arena = {0};
    TRY_OR_FAIL(client_scanner_create(table, buckets, 2, NULL, &scanner, NULL));
    while (!client_scanner_done(scanner)) {
        struct client_batch batch;
        bool have;
        TRY_OR_FAIL(client_scanner_next(scanner, &batch, &have, NULL));
        for (uint32_t i = have ? batch.first : 0; have && i < batch.end; i++) {
            struct datum row[2];
            column_get(&batch.rows.columns[0], i, &arena, &row[0]);
            column_get(&batch.rows.columns[1], i, &arena, &row[1]);
            (void)take_row(text, 0, row, NULL);
            arena_reset(&arena);
        }
    }
fail:
    arena_deinit(&arena);
    client_scanner_destroy(scanner);
    return code;
}

static enum err_code put(struct client_table *table)
{
    struct client_writer *writer;
    struct client_writer_options options = {.retry_ms = 1};
    struct datum row[2] = {{.i64 = 1}, {.is_null = true}};
    TRY(client_writer_create(table, &options, &writer, NULL));
    enum err_code code = client_writer_put(writer, row, NULL);
    if (code == OK)
        code = client_writer_flush(writer, NULL);
    client_writer_destroy(writer);
    return code;
}

static void operate(struct client_table *table, enum operation operation, struct buf *text)
{
    struct arena arena = {0};
    int64_t offsets[2] = {3, 4};
    struct datum key[2] = {{.i64 = 1}, {.is_null = true}};
    const struct datum *keys[] = {key};
    struct datum *rows[1];
    struct client_lake_snapshot snapshot;
    struct slice path;
    enum err_code code = OK;
    switch (operation) {
    case SCAN:
        code = scan(table, text);
        break;
    case LOOKUP:
        code = client_lookup(table, keys, 1, &arena, rows, NULL);
        if (code == OK && rows[0])
            (void)take_row(text, 0, rows[0], NULL);
        break;
    case SCAN_KV:
        code = client_scan_kv(table, take_row, text, offsets, NULL);
        break;
    case LIMIT_SCAN:
    case LOG_LIMIT_SCAN:
        code = client_limit_scan(table, 3, take_row, text, NULL);
        break;
    case FOLD:
        code = client_fold(table, offsets, take_row, text, NULL);
        break;
    case OFFSETS:
        code = client_offsets(table, CLIENT_LATEST, 0, offsets, NULL);
        break;
    case LAKE:
        code = client_lake_snapshot(table, CLIENT_LAKE_LATEST, 0, &arena, &snapshot, NULL);
        break;
    case PREPARE:
        code = client_lake_prepare(table, offsets, &arena, &path, NULL);
        break;
    default:
        code = put(table);
    }
    ASSERT(code < ERR_COUNT);
    arena_deinit(&arena);
}

static void run(struct os_socket *socket, enum operation operation)
{
    struct client *client = NULL;
    struct client_table *table = NULL;
    struct buf text = {0};
    struct client_options options = {.os = os_real(), .socket = socket, .timeout_ms = 20};
    if (client_open(&options, &client, NULL) == OK) {
        (void)client_deadline(client, os_mono_ns(os_real()) + 20000000);
        if (client_table_open(client, client_path(SLICE("d"), SLICE("t")), &table, NULL) == OK)
            operate(table, operation, &text);
    }
    client_table_unref(table);
    client_close(client);
    buf_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct os_socket *pair[2];
    struct stream s = {0};
    if (!size || size > 60000 || os_socket_pair(os_real(), pair, NULL) != OK)
        return 0;
    enum operation operation = (enum operation)MIN(data[0], OPERATION_COUNT);
    put_good_part(&s, operation);
    put_fuzzed_part(&s, operation, slice_of(data + 1, size - 1));
    struct slice all = buf_view(&s.bytes);
    size_t sent = 0;
    enum err_code code = os_send(pair[1], &all, 1, &sent, NULL);
    ASSERT(code == OK && sent == all.len);
    os_socket_close(pair[1]);
    run(pair[0], operation == OPERATION_COUNT ? SCAN : operation);
    buf_deinit(&s.bytes);
    return 0;
}
