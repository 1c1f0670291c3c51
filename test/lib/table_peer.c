#include "lib/table_peer.h"

#include "format/row/row.h"

static enum fault fault_of(struct table_peer *t, int16_t key)
{
    uint32_t n = t->counts[key - 1000]++;
    return t->fault ? t->fault(t->fault_arg, key, n) : FAULT_NONE;
}

void table_peer_append(struct table_peer *t, int32_t bucket, struct slice bytes, int64_t timestamp_ms)
{
    struct log_batch batch;
    enum err_code code = log_batch_check(bytes, &batch, NULL);
    ASSERT(code == OK);
    size_t at = t->buckets[bucket].log.len;
    buf_put_slice(&t->buckets[bucket].log, bytes);
    log_batch_stamp(t->buckets[bucket].log.ptr + at, batch.layout, t->buckets[bucket].end, timestamp_ms, 0);
    t->buckets[bucket].end += batch.last_offset_delta + 1;
}

/* DUPLICATE_SEQUENCE where it is there already, OUT_OF_ORDER where one is missing. */
static enum err_code take_sequence(struct table_peer *t, int32_t bucket, int32_t sequence)
{
    int32_t last = t->buckets[bucket].sequence;
    if (sequence <= last)
        return ERR_DUPLICATE_SEQUENCE_EXCEPTION;
    if (sequence != last + 1)
        return ERR_OUT_OF_ORDER_SEQUENCE_EXCEPTION;
    t->buckets[bucket].sequence = sequence;
    return OK;
}

/* The error that is answered, OK for none. */
static enum err_code told(enum fault fault, enum err_code code)
{
    switch (fault) {
    case FAULT_NOT_LEADER:
        return ERR_NOT_LEADER_OR_FOLLOWER;
    case FAULT_LOST:
        return ERR_REQUEST_TIME_OUT;
    case FAULT_DUPLICATE:
        return ERR_DUPLICATE_SEQUENCE_EXCEPTION;
    case FAULT_FATAL:
        return ERR_INVALID_TABLE_EXCEPTION;
    default:
        return code == ERR_DUPLICATE_SEQUENCE_EXCEPTION ? OK : code;
    }
}

static bool is_done(enum fault fault)
{
    return fault != FAULT_NOT_LEADER && fault != FAULT_FATAL;
}

static void produce(struct table_peer *t, const struct wire_request_header *header, struct slice body, enum fault fault)
{
    struct wire_produce_log_request request;
    peer_decode(&t->peer, header, body, &request);
    struct wire_pb_produce_log_req_for_bucket *b = &request.buckets_req[0];
    struct log_batch batch;
    enum err_code code = log_batch_check(b->records.bytes, &batch, NULL);
    ASSERT(code == OK && batch.writer_id == 42);
    if (is_done(fault)) {
        code = take_sequence(t, b->bucket_id, batch.batch_sequence);
        if (code == OK)
            table_peer_append(t, b->bucket_id, b->records.bytes, 1000);
    }
    struct wire_pb_produce_log_resp_for_bucket answer = {.bucket_id = b->bucket_id};
    struct wire_produce_log_response response = {.buckets_resp = &answer, .buckets_resp_count = 1};
    if (told(fault, code) != OK)
        WIRE_SET(&answer, error_code, err_wire(told(fault, code)));
    else
        WIRE_SET(&answer, base_offset, t->buckets[b->bucket_id].end - batch.record_count);
    peer_reply(&t->peer, header, &response);
}

static void put_record(struct table_peer *t, int16_t schema_id, const struct kv_record *record)
{
    struct buf *value = mem_zalloc(sizeof *value);
    kv_value_put_header(value, schema_id);
    buf_put_slice(value, record->row);
    struct buf *old = record->row.ptr ? map_put(&t->values, record->key, value) : map_remove(&t->values, record->key);
    if (!record->row.ptr) {
        buf_deinit(value);
        mem_free(value);
    }
    if (old) {
        buf_deinit(old);
        mem_free(old);
    }
}

static void put_kv(struct table_peer *t, const struct wire_request_header *header, struct slice body, enum fault fault)
{
    struct wire_put_kv_request request;
    peer_decode(&t->peer, header, body, &request);
    struct wire_pb_put_kv_req_for_bucket *b = &request.buckets_req[0];
    struct kv_batch batch;
    enum err_code code = kv_batch_check(b->records.bytes, &batch, NULL);
    ASSERT(code == OK);
    code = is_done(fault) ? take_sequence(t, b->bucket_id, batch.batch_sequence) : OK;
    struct slice rest = batch.records;
    struct kv_record record;
    while (is_done(fault) && code == OK && kv_batch_next(&rest, &record))
        put_record(t, batch.schema_id, &record);
    struct wire_pb_put_kv_resp_for_bucket answer = {.bucket_id = b->bucket_id};
    struct wire_put_kv_response response = {.buckets_resp = &answer, .buckets_resp_count = 1};
    if (told(fault, code) != OK)
        WIRE_SET(&answer, error_code, err_wire(told(fault, code)));
    else
        WIRE_SET(&answer, log_end_offset, 1);
    peer_reply(&t->peer, header, &response);
}

/* From the batch that holds the offset on, whole batches up to the limit, at least one. */
static struct slice log_from(struct table_peer *t, int32_t bucket, int64_t offset, int32_t bytes_max)
{
    struct slice rest = buf_view(&t->buckets[bucket].log), bytes;
    struct slice out = {0};
    struct log_batch batch;
    while (log_batch_next(&rest, &bytes, NULL) == OK && bytes.len && log_batch_read(bytes, &batch, NULL) == OK) {
        if (log_batch_next_offset(&batch) <= offset)
            continue;
        if (!out.ptr)
            out = slice_of(bytes.ptr, 0);
        if (out.len && out.len + bytes.len > (size_t)bytes_max)
            break;
        out.len += bytes.len;
    }
    return out;
}

static void fetch(struct table_peer *t, const struct wire_request_header *header, struct slice body, enum fault fault)
{
    struct wire_fetch_log_request request;
    peer_decode(&t->peer, header, body, &request);
    size_t count = request.tables_req[0].buckets_req_count;
    struct wire_pb_fetch_log_resp_for_bucket *answers = arena_zalloc(&t->peer.arena, count * sizeof *answers);
    for (size_t i = 0; i < count; i++) {
        struct wire_pb_fetch_log_req_for_bucket *b = &request.tables_req[0].buckets_req[i];
        answers[i].bucket_id = b->bucket_id;
        WIRE_SET(&answers[i], high_watermark, t->buckets[b->bucket_id].end);
        WIRE_SET(&answers[i], records, wire_bytes_of(log_from(t, b->bucket_id, b->fetch_offset, b->max_fetch_bytes)));
        if (fault == FAULT_GARBAGE)
            answers[i].records = wire_bytes_of(SLICE("\x01\0\0\0\0\0\0\0\x01\0\0\0this is no batch of rows"));
        if (b->fetch_offset > t->buckets[b->bucket_id].end)
            WIRE_SET(&answers[i], error_code, err_wire(ERR_LOG_OFFSET_OUT_OF_RANGE_EXCEPTION));
        else if (told(fault, OK) != OK)
            WIRE_SET(&answers[i], error_code, err_wire(told(fault, OK)));
    }
    struct wire_pb_fetch_log_resp_for_table table = {TABLE_PEER_ID, answers, count};
    struct wire_fetch_log_response response = {&table, 1};
    peer_reply(&t->peer, header, &response);
}

static void look_up(struct table_peer *t, const struct wire_request_header *header, struct slice body, enum fault fault)
{
    struct wire_lookup_request request;
    peer_decode(&t->peer, header, body, &request);
    size_t count = request.buckets_req_count;
    struct wire_pb_lookup_resp_for_bucket *answers = arena_zalloc(&t->peer.arena, count * sizeof *answers);
    for (size_t i = 0; i < count; i++) {
        struct wire_pb_lookup_req_for_bucket *b = &request.buckets_req[i];
        answers[i].bucket_id = b->bucket_id;
        answers[i].values = arena_zalloc(&t->peer.arena, b->keys_count * sizeof *answers[i].values);
        answers[i].values_count = b->keys_count;
        if (told(fault, OK) != OK)
            WIRE_SET(&answers[i], error_code, err_wire(told(fault, OK)));
        for (size_t k = 0; k < b->keys_count; k++) {
            const struct buf *value = map_get(&t->values, b->keys[k]);
            if (value)
                WIRE_SET(&answers[i].values[k], values, fault == FAULT_GARBAGE ? SLICE("x") : buf_view(value));
        }
    }
    struct wire_lookup_response response = {answers, count};
    peer_reply(&t->peer, header, &response);
}

static void list_offsets(struct table_peer *t, const struct wire_request_header *header, struct slice body,
                         enum fault fault)
{
    struct wire_list_offsets_request request;
    peer_decode(&t->peer, header, body, &request);
    size_t count = request.bucket_id_count;
    struct wire_pb_list_offsets_resp_for_bucket *answers = arena_zalloc(&t->peer.arena, count * sizeof *answers);
    for (size_t i = 0; i < count; i++) {
        answers[i].bucket_id = request.bucket_id[i];
        if (told(fault, OK) != OK)
            WIRE_SET(&answers[i], error_code, err_wire(told(fault, OK)));
        else
            WIRE_SET(&answers[i], offset, request.offset_type == 0 ? 0 : t->buckets[request.bucket_id[i]].end);
    }
    struct wire_list_offsets_response response = {answers, fault == FAULT_GARBAGE ? count - 1 : count};
    peer_reply(&t->peer, header, &response);
}

static void metadata(struct table_peer *t, const struct wire_request_header *header, struct slice body)
{
    struct wire_metadata_request request;
    peer_decode(&t->peer, header, body, &request);
    struct wire_pb_server_node node = {.node_id = 3, .host = SLICE("nowhere"), .port = 1};
    struct wire_pb_bucket_metadata buckets[TABLE_PEER_BUCKETS_MAX] = {0};
    for (int32_t i = 0; i < t->bucket_count; i++) {
        buckets[i].bucket_id = i;
        WIRE_SET(&buckets[i], leader_id, 3);
    }
    struct wire_pb_table_metadata table = {
        .table_id = TABLE_PEER_ID,
        .bucket_metadata = buckets,
        .bucket_metadata_count = (size_t)t->bucket_count,
    };
    struct wire_metadata_response response = {
        .coordinator_server = &node,
        .tablet_servers = &node,
        .tablet_servers_count = 1,
        .table_metadata = &table,
        .table_metadata_count = request.table_path_count,
    };
    if (request.table_path_count)
        table.table_path = request.table_path[0];
    peer_reply(&t->peer, header, &response);
}

static void handle(struct peer *peer, const struct wire_request_header *header, struct slice body)
{
    struct table_peer *t = peer->arg;
    enum fault fault = fault_of(t, header->key);
    if (fault == FAULT_REFUSED) {
        peer_error(peer, header, ERR_STORAGE_EXCEPTION, "not now");
        return;
    }
    struct wire_get_table_info_response info = {
        .table_id = TABLE_PEER_ID, .schema_id = t->schema_id ? t->schema_id : 1, .table_json = t->table_json};
    struct wire_init_writer_response writer = {42};
    struct wire_get_table_schema_response schema = {1, t->old_schema_json};
    switch (header->key) {
    case WIRE_GET_METADATA:
        metadata(t, header, body);
        return;
    case WIRE_GET_TABLE_INFO:
        peer_reply(peer, header, &info);
        return;
    case WIRE_GET_TABLE_SCHEMA:
        peer_reply(peer, header, &schema);
        return;
    case WIRE_INIT_WRITER:
        peer_reply(peer, header, &writer);
        return;
    case WIRE_PRODUCE_LOG:
        produce(t, header, body, fault);
        return;
    case WIRE_PUT_KV:
        put_kv(t, header, body, fault);
        return;
    case WIRE_FETCH_LOG:
        fetch(t, header, body, fault);
        return;
    case WIRE_LOOKUP:
        look_up(t, header, body, fault);
        return;
    case WIRE_LIST_OFFSETS:
        list_offsets(t, header, body, fault);
        return;
    default:
        peer_error(peer, header, ERR_NOT_SUPPORTED, "not in this test");
    }
}

struct os_socket *table_peer_start(struct table_peer *t)
{
    t->peer.handle = handle;
    t->peer.arg = t;
    for (int32_t i = 0; i < TABLE_PEER_BUCKETS_MAX; i++)
        t->buckets[i].sequence = -1;
    peer_start(&t->peer);
    return t->peer.client;
}

void table_peer_stop(struct table_peer *t)
{
    size_t at = 0;
    struct slice key;
    void *value;
    peer_stop(&t->peer);
    for (int32_t i = 0; i < TABLE_PEER_BUCKETS_MAX; i++)
        buf_deinit(&t->buckets[i].log);
    while (map_next(&t->values, &at, &key, &value)) {
        buf_deinit(value);
        mem_free(value);
    }
    map_deinit(&t->values);
}
