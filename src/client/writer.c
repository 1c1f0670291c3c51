/* Rows in: which bucket, which builder; flush. */
#include "client/writer_int.h"

static enum err_code init_writer(struct client_writer *writer, struct err *err)
{
    struct arena arena = {0};
    struct client_table *table = writer->table;
    struct wire_pb_table_path path = {table->path.database, table->path.table};
    struct wire_init_writer_request request = {.table_path = &path, .table_path_count = 1};
    struct wire_init_writer_response response;
    enum err_code code =
        client_call(table->client, CLIENT_TABLET, WIRE_INIT_WRITER, true, &request, &arena, &response, err);
    if (code == OK)
        writer->writer_id = response.writer_id;
    arena_deinit(&arena);
    return code;
}

/* A column that the server numbers is none of those that are written. */
static void targets_set(struct client_writer *writer)
{
    const struct schema *schema = &writer->table->schema.schema;
    if (schema->auto_increment < 0)
        return;
    writer->targets = mem_zalloc(schema->column_count * sizeof *writer->targets);
    for (uint32_t i = 0; i < schema->column_count; i++)
        if ((int32_t)i != schema->auto_increment)
            writer->targets[writer->target_count++] = (int32_t)i;
}

enum err_code client_writer_create(struct client_table *table, const struct client_writer_options *options,
                                   struct client_writer **out, struct err *err)
{
    enum err_code code;
    struct client_writer *writer = mem_zalloc(sizeof *writer);
    writer->table = client_table_ref(table);
    if (options)
        writer->options = *options;
    if (!writer->options.acks)
        writer->options.acks = -1;
    if (!writer->options.batch_bytes)
        writer->options.batch_bytes = WRITER_BATCH_BYTES;
    if (!writer->options.pending_bytes)
        writer->options.pending_bytes = WRITER_PENDING_BYTES;
    if (!writer->options.retry_ms)
        writer->options.retry_ms = WRITER_RETRY_MS;
    uint32_t random;
    os_random(table->client->os, &random, sizeof random);
    writer->sticky = (int32_t)(random % (uint32_t)table->bucket_count);
    targets_set(writer);
    TRY_OR_FAIL(init_writer(writer, err));
    *out = writer;
    return OK;
fail:
    client_writer_destroy(writer);
    return code;
}

void client_writer_destroy(struct client_writer *writer)
{
    if (!writer)
        return;
    for (size_t i = 0; i < writer->lanes.len; i++)
        lane_destroy(writer->lanes.ptr[i]);
    vec_deinit(&writer->lanes);
    arrow_codec_deinit(&writer->codec);
    buf_deinit(&writer->key);
    buf_deinit(&writer->row);
    mem_free(writer->targets);
    client_table_unref(writer->table);
    mem_free(writer);
}

/* ---- one row ---- */

static void lane_open(struct client_writer *writer, struct lane *lane)
{
    const struct client_table *table = writer->table;
    if (lane->open)
        return;
    lane->open = true;
    if (table->has_primary_key) {
        kv_batch_builder_init(&lane->kv, (int16_t)table->schema.id);
        return;
    }
    struct log_batch_options options = {
        .format = table->log_format,
        .layout = table->statistics_count ? LOG_BATCH_V1_STATISTICS : LOG_BATCH_V0,
        .append_only = true,
        .schema_id = (int16_t)table->schema.id,
        .arrow = table->arrow,
        .statistics = table->statistics,
        .statistics_count = table->statistics_count,
    };
    log_batch_builder_init(&lane->log, &options, table->schema.row);
}

static enum err_code check_nulls(const struct client_table *table, const struct datum *row, struct err *err)
{
    const struct schema *schema = &table->schema.schema;
    for (uint32_t i = 0; i < schema->column_count; i++)
        if (row[i].is_null && !schema->columns[i].type->nullable)
            return err_set(err, ERR_INVALID_ARGUMENT, "column %.*s may not be null",
                           SLICE_ARGS(schema->columns[i].name));
    return OK;
}

static enum err_code kv_append(struct client_writer *writer, struct lane *lane, const struct datum *row, bool delete,
                               struct err *err)
{
    const struct client_table *table = writer->table;
    const struct table_keys *keys = &table->keys;
    buf_reset(&writer->key);
    TRY(key_encode(keys->primary_encoder, keys->primary_type, row, keys->primary, &writer->key, err));
    if (delete)
        return kv_batch_builder_delete(&lane->kv, buf_view(&writer->key), err);
    buf_reset(&writer->row);
    TRY(row_encode(table->kv_format, table->schema.row, row, &writer->row, err));
    return kv_batch_builder_put(&lane->kv, buf_view(&writer->key), buf_view(&writer->row), err);
}

static struct lane *lane_at(struct client_writer *writer, int32_t place)
{
    while (writer->lanes.len <= (size_t)place)
        vec_push(&writer->lanes, NULL);
    struct lane **lane = &writer->lanes.ptr[place];
    if (!*lane) {
        *lane = mem_zalloc(sizeof **lane);
        (*lane)->place = place;
        (*lane)->offset = -1;
    }
    return *lane;
}

/* bucket: of the row, -1 where any will do. */
static enum err_code lane_of(struct client_writer *writer, const struct datum *row, int32_t bucket, struct lane **lane,
                             struct err *err)
{
    struct client_table *table = writer->table;
    const struct client_partition *partition;
    TRY(client_partition_of(table, row, !writer->options.no_new_partitions, &partition, err));
    if (table->is_partitioned && !partition)
        return err_set(err, ERR_PARTITION_NOT_EXISTS, "%.*s.%.*s has no partition for the row",
                       SLICE_ARGS(table->path.database), SLICE_ARGS(table->path.table));
    int32_t first = partition ? (int32_t)partition->index * table->bucket_count : 0;
    *lane = lane_at(writer, first + (bucket >= 0 ? bucket : writer->sticky));
    return OK;
}

static void note_open_bytes(struct client_writer *writer, struct lane *lane)
{
    size_t bytes = writer->table->has_primary_key ? lane->kv.buf.len : log_batch_builder_bytes(&lane->log);
    writer->open_bytes += bytes - lane->open_bytes;
    lane->open_bytes = bytes;
    lane->open_rows++;
}

static void seal_all(struct client_writer *writer)
{
    for (size_t i = 0; i < writer->lanes.len; i++)
        if (writer->lanes.ptr[i])
            lane_seal(writer, writer->lanes.ptr[i]);
}

static enum err_code failure(const struct client_writer *writer, struct err *err)
{
    if (writer->failed.code != OK && err)
        *err = writer->failed;
    return writer->failed.code;
}

static enum err_code add_row(struct client_writer *writer, const struct datum *row, bool delete, struct err *err)
{
    int32_t bucket;
    struct lane *lane = NULL;
    TRY(failure(writer, err));
    TRY(client_table_bucket(writer->table, row, &bucket, err));
    TRY(lane_of(writer, row, bucket, &lane, err));
    lane_open(writer, lane);
    if (writer->table->has_primary_key)
        TRY(kv_append(writer, lane, row, delete, err));
    else
        TRY(log_batch_builder_append(&lane->log, CHANGE_APPEND, row, err));
    note_open_bytes(writer, lane);
    if (lane->open_bytes >= writer->options.batch_bytes) {
        lane_seal(writer, lane);
        if (bucket < 0)
            writer->sticky = (writer->sticky + 1) % writer->table->bucket_count;
        lane_drive(writer, lane);
    }
    if (writer->open_bytes + writer->pending_bytes > writer->options.pending_bytes)
        seal_all(writer);
    while (writer->pending_bytes > writer->options.pending_bytes && writer->failed.code == OK)
        writer_wait(writer);
    return failure(writer, err);
}

enum err_code client_writer_put(struct client_writer *writer, const struct datum *row, struct err *err)
{
    const struct schema *schema = &writer->table->schema.schema;
    if (schema->auto_increment >= 0 && !row[schema->auto_increment].is_null)
        return err_set(err, ERR_INVALID_ARGUMENT, "the column '%.*s' is numbered by the server: leave it out",
                       SLICE_ARGS(schema->columns[schema->auto_increment].name));
    TRY(check_nulls(writer->table, row, err));
    return add_row(writer, row, false, err);
}

enum err_code client_writer_delete(struct client_writer *writer, const struct datum *row, struct err *err)
{
    if (!writer->table->has_primary_key)
        return err_set(err, ERR_NON_PRIMARY_KEY_TABLE_EXCEPTION,
                       "%.*s.%.*s has no primary key: nothing can be deleted from a log",
                       SLICE_ARGS(writer->table->path.database), SLICE_ARGS(writer->table->path.table));
    return add_row(writer, row, true, err);
}

enum err_code client_writer_flush(struct client_writer *writer, struct err *err)
{
    seal_all(writer);
    while (writer->pending_bytes && writer->failed.code == OK)
        writer_wait(writer);
    return failure(writer, err);
}

int64_t client_writer_acked(const struct client_writer *writer)
{
    return writer->acked;
}

int64_t client_writer_offset(const struct client_writer *writer, int32_t place)
{
    const struct lane *lane = (size_t)place < writer->lanes.len ? writer->lanes.ptr[place] : NULL;
    return lane ? lane->offset : -1;
}
