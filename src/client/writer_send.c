/* Batches out, answers in, and again where it may help. */
#include "client/writer_int.h"

static void batch_destroy(struct client_writer *writer, struct batch *batch)
{
    if (writer)
        writer->pending_bytes -= batch->bytes.len;
    call_deinit(&batch->call);
    buf_deinit(&batch->bytes);
    mem_free(batch);
}

void lane_destroy(struct lane *lane)
{
    if (!lane)
        return;
    for (size_t i = 0; i < lane->queue.len; i++)
        batch_destroy(NULL, lane->queue.ptr[i]);
    vec_deinit(&lane->queue);
    if (lane->open) {
        log_batch_builder_deinit(&lane->log);
        kv_batch_builder_deinit(&lane->kv);
    }
    mem_free(lane);
}

void lane_seal(struct client_writer *writer, struct lane *lane)
{
    if (!lane->open_rows)
        return;
    struct batch *batch = mem_zalloc(sizeof *batch);
    batch->sequence = lane->next_sequence;
    lane->next_sequence = lane->next_sequence == INT32_MAX ? 0 : lane->next_sequence + 1;
    if (writer->table->has_primary_key)
        kv_batch_builder_finish(&lane->kv, writer->writer_id, batch->sequence, &batch->bytes);
    else
        log_batch_builder_finish(&lane->log, &writer->codec, writer->writer_id, batch->sequence, &batch->bytes);
    batch->row_count = lane->open_rows;
    writer->open_bytes -= lane->open_bytes;
    writer->pending_bytes += batch->bytes.len;
    lane->open_rows = 0;
    lane->open_bytes = 0;
    vec_push(&lane->queue, batch);
}

/* ---- out ---- */

static enum err_code start_produce(struct client_writer *writer, struct lane *lane, struct batch *batch,
                                   struct conn *conn, struct err *err)
{
    struct wire_pb_produce_log_req_for_bucket bucket = {
        .bucket_id = client_place_bucket(writer->table, lane->place),
        .records = wire_bytes_of(buf_view(&batch->bytes)),
    };
    TABLE_SET_PARTITION(&bucket, writer->table, lane->place);
    struct wire_produce_log_request request = {
        .acks = writer->options.acks,
        .table_id = writer->table->id,
        .timeout_ms = (int32_t)MIN(writer->table->client->timeout_ns / 1000000, INT32_MAX),
        .buckets_req = &bucket,
        .buckets_req_count = 1,
    };
    return call_start(&batch->call, conn, WIRE_PRODUCE_LOG, &request, err);
}

static enum err_code start_put(struct client_writer *writer, struct lane *lane, struct batch *batch, struct conn *conn,
                               struct err *err)
{
    struct wire_pb_put_kv_req_for_bucket bucket = {
        .bucket_id = client_place_bucket(writer->table, lane->place),
        .records = wire_bytes_of(buf_view(&batch->bytes)),
    };
    TABLE_SET_PARTITION(&bucket, writer->table, lane->place);
    struct wire_put_kv_request request = {
        .acks = writer->options.acks,
        .table_id = writer->table->id,
        .timeout_ms = (int32_t)MIN(writer->table->client->timeout_ns / 1000000, INT32_MAX),
        .buckets_req = &bucket,
        .buckets_req_count = 1,
        .target_columns = writer->targets,
        .target_columns_count = writer->target_count,
    };
    return call_start(&batch->call, conn, WIRE_PUT_KV, &request, err);
}

static enum err_code batch_send(struct client_writer *writer, struct lane *lane, struct batch *batch, struct err *err)
{
    struct conn *conn;
    struct os *os = writer->table->client->os;
    batch->sent_ns = os_mono_ns(os);
    if (!batch->until_ns)
        batch->until_ns = batch->sent_ns + writer->options.retry_ms * 1000000;
    TRY(table_leader(writer->table, lane->place, &conn, err));
    return writer->table->has_primary_key ? start_put(writer, lane, batch, conn, err)
                                          : start_produce(writer, lane, batch, conn, err);
}

/* ---- in ---- */

/* The answer about a bucket is about this lane's. */
static enum err_code check_place(const struct client_table *table, const struct lane *lane, bool has_partition,
                                 int64_t partition_id, int32_t bucket, struct err *err)
{
    int32_t place;
    TRY(table_place(table, has_partition, partition_id, bucket, &place, err));
    if (place != lane->place)
        return err_set(err, ERR_CORRUPT_MESSAGE, "an answer for bucket %d, not %d", bucket,
                       client_place_bucket(table, lane->place));
    return OK;
}

static enum err_code read_produce(const struct client_table *table, struct lane *lane, struct batch *batch,
                                  struct arena *arena, struct err *err)
{
    struct wire_produce_log_response response;
    TRY(call_decode(&batch->call, arena, &response, err));
    if (response.buckets_resp_count != 1)
        return err_set(err, ERR_CORRUPT_MESSAGE, "%zu answers for one bucket", response.buckets_resp_count);
    const struct wire_pb_produce_log_resp_for_bucket *b = &response.buckets_resp[0];
    TRY(check_place(table, lane, b->has_partition_id, b->partition_id, b->bucket_id, err));
    if (b->has_error_code)
        return client_entry_error(b->error_code, b->has_error_message, b->error_message, err);
    if (b->has_base_offset)
        lane->offset = b->base_offset;
    return OK;
}

static enum err_code read_put(const struct client_table *table, struct lane *lane, struct batch *batch,
                              struct arena *arena, struct err *err)
{
    struct wire_put_kv_response response;
    TRY(call_decode(&batch->call, arena, &response, err));
    if (response.buckets_resp_count != 1)
        return err_set(err, ERR_CORRUPT_MESSAGE, "%zu answers for one bucket", response.buckets_resp_count);
    const struct wire_pb_put_kv_resp_for_bucket *b = &response.buckets_resp[0];
    TRY(check_place(table, lane, b->has_partition_id, b->partition_id, b->bucket_id, err));
    if (b->has_error_code)
        return client_entry_error(b->error_code, b->has_error_message, b->error_message, err);
    if (b->has_log_end_offset)
        lane->offset = b->log_end_offset;
    return OK;
}

static enum err_code batch_answer(struct client_writer *writer, struct lane *lane, struct batch *batch, struct err *err)
{
    struct arena arena = {0};
    enum err_code code = batch->call.err.code;
    if (code != OK)
        *err = batch->call.err;
    else
        code = writer->table->has_primary_key ? read_put(writer->table, lane, batch, &arena, err)
                                              : read_produce(writer->table, lane, batch, &arena, err);
    arena_deinit(&arena);
    return code;
}

/* The front failed: final, or to be tried again after a moment. */
static void front_failed(struct client_writer *writer, struct lane *lane, const struct err *err)
{
    struct client *client = writer->table->client;
    int64_t now = os_mono_ns(client->os);
    struct batch *front = lane->queue.ptr[0];
    lane->backoff_ns = lane->backoff_ns ? MIN(lane->backoff_ns * 2, CLIENT_BACKOFF_NS_MAX) : CLIENT_BACKOFF_NS;
    lane->again_ns = now + lane->backoff_ns;
    lane->stalled = true;
    table_forget_leaders(writer->table);
    if (!table_may_retry(writer->table, err->code) || lane->again_ns >= MIN(front->until_ns, client->deadline_ns))
        writer->failed = *err;
}

static void take_answers(struct client_writer *writer, struct lane *lane)
{
    while (lane->sent && !lane->stalled && lane->queue.ptr[0]->call.done) {
        struct err err = {0};
        struct batch *batch = lane->queue.ptr[0];
        enum err_code code = batch_answer(writer, lane, batch, &err);
        /* The server has it, and forgot where. */
        if (code == ERR_DUPLICATE_SEQUENCE_EXCEPTION)
            code = OK;
        if (code != OK) {
            front_failed(writer, lane, &err);
            return;
        }
        writer->acked += batch->row_count;
        batch_destroy(writer, batch);
        vec_remove(&lane->queue, 0);
        lane->sent--;
        lane->backoff_ns = 0;
    }
}

/* A node that says nothing for so long is taken for dead: its connection is closed and all its calls fail. */
static void give_up_silent(struct client_writer *writer, struct lane *lane, int64_t now)
{
    for (size_t i = 0; i < lane->sent; i++) {
        struct batch *batch = lane->queue.ptr[i];
        struct err err;
        if (!batch->call.conn || now < batch->sent_ns + writer->table->client->timeout_ns)
            continue;
        err_set(&err, ERR_CLOSED, "%s did not answer %s", batch->call.conn->name,
                wire_api_name((int16_t)batch->call.key));
        conn_close(batch->call.conn, &err);
    }
}

static void resume(struct lane *lane)
{
    for (size_t i = 0; i < lane->sent; i++)
        if (!lane->queue.ptr[i]->call.done)
            return;
    for (size_t i = 0; i < lane->sent; i++)
        call_deinit(&lane->queue.ptr[i]->call);
    lane->sent = 0;
    lane->stalled = false;
}

void lane_drive(struct client_writer *writer, struct lane *lane)
{
    int64_t now = os_mono_ns(writer->table->client->os);
    give_up_silent(writer, lane, now);
    take_answers(writer, lane);
    if (lane->stalled)
        resume(lane);
    while (writer->failed.code == OK && !lane->stalled && now >= lane->again_ns && lane->sent < lane->queue.len &&
           lane->sent < CLIENT_WRITER_BATCHES_MAX) {
        struct err err = {0};
        if (batch_send(writer, lane, lane->queue.ptr[lane->sent], &err) == OK) {
            lane->sent++;
            continue;
        }
        if (lane->sent == 0) /* else the front's answer comes first */
            front_failed(writer, lane, &err);
        return;
    }
}

static int64_t lane_due_ns(const struct client_writer *writer, const struct lane *lane)
{
    int64_t due = lane->queue.len > lane->sent && !lane->sent ? lane->again_ns : INT64_MAX;
    for (size_t i = 0; i < lane->sent; i++)
        if (!lane->queue.ptr[i]->call.done)
            due = MIN(due, lane->queue.ptr[i]->sent_ns + writer->table->client->timeout_ns);
    return due;
}

void writer_wait(struct client_writer *writer)
{
    struct client *client = writer->table->client;
    uint64_t before = writer->pending_bytes;
    int64_t due = client->deadline_ns;
    for (size_t i = 0; i < writer->lanes.len; i++) {
        struct lane *lane = writer->lanes.ptr[i];
        if (!lane)
            continue;
        lane_drive(writer, lane);
        due = MIN(due, lane_due_ns(writer, lane));
    }
    if (writer->failed.code != OK || writer->pending_bytes < before)
        return;
    if (client_check_cancelled(client, &writer->failed) != OK)
        return;
    if (client_expired(client)) {
        err_set(&writer->failed, ERR_DEADLINE, "%llu bytes were not acknowledged in time",
                (unsigned long long)writer->pending_bytes);
        return;
    }
    client_pump(client, due);
}
